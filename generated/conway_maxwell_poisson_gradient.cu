// The gradient kernel of conway_maxwell_poisson, made by `gpustats generate`. Do not edit.
typedef double real;
typedef long long index_t;
#define KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)  // threads a block, blocks a multiprocessor
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define SHARED
#define RESTRICT __restrict__
#define SHARED_ARRAY(type, name, count) __shared__ type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) extern __shared__ __align__(16) type name[]
#define BARRIER() __syncthreads()
#define BARRIER_GLOBAL() __syncthreads()
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4 _Pragma("unroll 4")
#define STORE_STREAMING(to, value) __stcs(to, value)  // not to be read again soon
#define THREAD ((int)threadIdx.x)
#define BLOCK_X ((index_t)blockIdx.x)
#define BLOCK_Y ((index_t)blockIdx.y)
#define BLOCKS_Y ((index_t)gridDim.y)
#define BLOCKS_X ((index_t)gridDim.x)
#undef INFINITY
#undef NAN
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
typedef unsigned long long bits_t;

// log(w + c), c being what rounding has taken from w. NVIDIA's own log and log1p branch, which keeps the compiler from working
// on several numbers at once. log(2^k (1 + f)) = k log(2) + f - (h - s (h + R)), s = f / (2 + f), h = f^2 / 2; the polynomial R
// interpolates 2 atanh(s) / s - 2 in Chebyshev points, with an error below 1e-17. Error of the whole below 1 ulp.
DEVICE double log_of_sum(double w, double c)
{
    const bool tiny = __double2hiint(w) < 0x00100000;  // subnormal, or not positive
    const double scaled = tiny ? w * 18014398509481984.0 : w;
    const int high = __double2hiint(scaled), k = (high - 0x3fe6a09e) >> 20;
    const double m = __hiloint2double(high - (k << 20), __double2loint(scaled));  // between sqrt(1/2) and sqrt(2)
    const double f = fma(c, __hiloint2double((0x3ff - k) << 20, 0), m - 1), g = f + 2;
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(g));
    const double e = fma(-g, r, 1.0);
    const double s = f * fma(r, fma(e, e, e), r), z = s * s, h = 0.5 * f * f;
    const double R = z * (0.66666666666666696969 + z * (0.39999999999899197894 + z * (0.28571428626114518292 + z * (
                          0.22222211112104947364 + z * (0.18182890778026130313 + z * (0.15331666676597174341 + z * (
                          0.14617128399807299883)))))));
    const double n = k - (tiny ? 54 : 0);
    const double value = fma(n, 0.69314718036912381649, f - (h - fma(s, h + R, n * 1.9082149292705877e-10)));
    const index_t bits = __double_as_longlong(w);
    const double special = (bits_t)bits << 1 == 0 ? -INFINITY : bits == 0x7ff0000000000000 ? w : NAN;
    return (bits_t)(bits - 1) < 0x7fefffffffffffff ? value : special;  // is w positive and finite?
}

DEVICE double branchless_log(double x)
{
    return log_of_sum(x, 0);
}

DEVICE double branchless_log1p(double x)
{
    const double w = 1 + x;
    return log_of_sum(w, x - (w - 1));
}

// exp(k log(2) + r) = 2^k (1 + r + r^2 q(r)). NVIDIA's own branches as well, so that compilers compute it twice where it stands twice.
// q interpolates in Chebyshev points, with an error of the whole below 2e-17. 2^k comes in two halves, for numbers below the normal
// ones. Error below 1 ulp.
DEVICE double branchless_exp(double x)
{
    const double shifted = fma(x, 1.4426950408889634, 6755399441055744.0), n = shifted - 6755399441055744.0;
    const double r = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, x));
    const double q = 0.5000000000000001 + r * (0.16666666666666669 + r * (0.04166666666662413 + r * (0.008333333333330062 + r * (
                     0.0013888888917213717 + r * (0.00019841269863053618 + r * (2.4801521295954376e-05 + r * (
                     2.7557268459997064e-06 + r * (2.7620088445409746e-07 + r * 2.510038549551032e-08))))))));
    const double p = 1 + r * (1 + r * q);
    const int k = __double2loint(shifted), half_k = k >> 1;
    const double root = __hiloint2double(__double2hiint(p) + (half_k << 20), __double2loint(p));
    const double value = root * __hiloint2double((0x3ff + k - half_k) << 20, 0);
    const int upper = __double2hiint(x), above = upper & 0x7fffffff;  // of nan it is above that of infinity
    const int special = above > 0x7ff00000 ? upper : upper < 0 ? 0 : 0x7ff00000;
    return above < 0x40875000 ? value : __hiloint2double(special, 0);  // is |x| below 746?
}

// a / b for normal numbers; the compiler's own division branches for others.
DEVICE double ordinary_quotient(double a, double b)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    const double e = fma(-b, r, 1.0), reciprocal = fma(r, fma(e, e, e), r), q = a * reciprocal;
    return fma(reciprocal, fma(-b, q, a), q);
}
#define quotient ordinary_quotient
#define exp branchless_exp
#define log branchless_log
#define log1p branchless_log1p
#define REAL(literal) literal
#define EPSILON REAL(2.220446049250313e-16)
#define PI REAL(3.14159265358979323846)
#define LOG_2PI REAL(1.83787706640934548356)
#define HALF_LOG_2PI REAL(0.91893853320467274178)
#define LOG_2 REAL(0.69314718055994530942)
#define LOG_PI REAL(1.14472988584940017414)
#define SQRT_2 REAL(1.41421356237309504880)
#define SQRT_PI REAL(1.77245385090551602730)
#define SQRT_2_OVER_PI REAL(0.79788456080286535588)
#define EULER_GAMMA REAL(0.57721566490153286061)
#ifndef quotient
#define quotient(a, b) ((a) / (b))
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

// Whole numbers where C leaves open what happens, or the processor stops: the same on every device.
// nan becomes 0, and what lies beyond the ends of int becomes the nearer one.
DEVICE int to_int(real x)
{
    return x == x ? __double2int_rz(x) : 0;
}

// What is divided by 0 gives 0 and leaves itself as the remainder; -2^31 / -1 wraps around. The divisors 0 and -1 are looked for
// together: nvcc does not end where both int_quotient and int_remainder compare with -1.
DEVICE int int_quotient(int a, int b)
{
    return (unsigned)b + 1u < 2u ? (int)((unsigned)a * (unsigned)b) : a / b;
}

DEVICE int int_remainder(int a, int b)
{
    return (unsigned)b + 1u < 2u ? (b == 0 ? a : 0) : a % b;
}

// Beyond the ends of int they wrap around. Where C leaves that open, compilers drop what keeps an index within its vector.
DEVICE int int_sum(int a, int b)
{
    return (int)((unsigned)a + (unsigned)b);
}

DEVICE int int_difference(int a, int b)
{
    return (int)((unsigned)a - (unsigned)b);
}

DEVICE int int_product(int a, int b)
{
    return (int)((unsigned)a * (unsigned)b);
}

// OpenCL's own abs gives an unsigned number: abs(1) - 2 would be 2^32 - 1.
DEVICE int int_abs(int a)
{
    return a < 0 ? (int)(0u - (unsigned)a) : a;
}
// Too large to be inlined: compiling would take too long.
#define LARGE static __device__ __noinline__

typedef struct {
    real value;
    real d_nu;
} conway_maxwell_poisson_lowest_grad_nu_results;

DEVICE conway_maxwell_poisson_lowest_grad_nu_results make_conway_maxwell_poisson_lowest_grad_nu_results(real value, real d_nu)
{
    conway_maxwell_poisson_lowest_grad_nu_results results;
    results.value = value;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_mu;
} conway_maxwell_poisson_highest_grad_a_mu_results;

DEVICE conway_maxwell_poisson_highest_grad_a_mu_results make_conway_maxwell_poisson_highest_grad_a_mu_results(real value, real d_a, real d_mu)
{
    conway_maxwell_poisson_highest_grad_a_mu_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_mu = d_mu;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_factorial_remainder_grad_x_results;

DEVICE special_factorial_remainder_grad_x_results make_special_factorial_remainder_grad_x_results(real value, real d_x)
{
    special_factorial_remainder_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_log_factorial_grad_x_results;

DEVICE special_log_factorial_grad_x_results make_special_log_factorial_grad_x_results(real value, real d_x)
{
    special_log_factorial_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results make_conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results(real value, real d_x, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results results;
    results.value = value;
    results.d_x = d_x;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_x;
    real d_top;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results make_conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results(real value, real d_x, real d_top, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results results;
    results.value = value;
    results.d_x = d_x;
    results.d_top = d_top;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_f_3;
    real d_f_2;
    real d_f_1;
    real d_f0;
    real d_f1;
    real d_f2;
} special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results;

DEVICE special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results make_special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results(real value, real d_f_3, real d_f_2, real d_f_1, real d_f0, real d_f1, real d_f2)
{
    special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results results;
    results.value = value;
    results.d_f_3 = d_f_3;
    results.d_f_2 = d_f_2;
    results.d_f_1 = d_f_1;
    results.d_f0 = d_f0;
    results.d_f1 = d_f1;
    results.d_f2 = d_f2;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_top;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results make_conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results(real value, real d_a, real d_top, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_top = d_top;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_height_grad_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_height_grad_mu_log_mu_nu_results make_conway_maxwell_poisson_height_grad_mu_log_mu_nu_results(real value, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_top;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results make_conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results(real value, real d_top, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results results;
    results.value = value;
    results.d_top = d_top;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_top;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results make_conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results(real value, real d_top, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results results;
    results.value = value;
    results.d_top = d_top;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results make_conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results(real value, real d_a, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results make_conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results(real value, real d_a, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_log_mu;
    real d_nu;
} conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results;

DEVICE conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results make_conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results(real value, real d_mu, real d_log_mu, real d_nu)
{
    conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_log_mu = d_log_mu;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_lam;
    real d_nu;
} conway_maxwell_poisson_logpmf_grad_lam_nu_results;

DEVICE conway_maxwell_poisson_logpmf_grad_lam_nu_results make_conway_maxwell_poisson_logpmf_grad_lam_nu_results(real value, real d_lam, real d_nu)
{
    conway_maxwell_poisson_logpmf_grad_lam_nu_results results;
    results.value = value;
    results.d_lam = d_lam;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_lam;
    real d_nu;
} conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results;

DEVICE conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results make_conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results(real value, real d_lam, real d_nu)
{
    conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results results;
    results.value = value;
    results.d_lam = d_lam;
    results.d_nu = d_nu;
    return results;
}


DEVICE real special_atanh_remainder(real s)
{
    return 0.3333333333333332928 + s * (0.2000000000000729134 + s * (0.1428571428355437858 + s * (0.1111111135871393149 + s * (0.09090894718066429085 + s * (0.07692785032479311552 + s * (0.06657072104827468075 + s * (0.06000536404795356268 + s * (0.04400369243072336941 + s * 0.0808202280597176611))))))));
}

DEVICE real special_log_excess(real log_ratio, real u)
{
    real r = u / (2 + u);
    real s = r * r;
    return s < 0.1111 ? r * (2 * s * special_atanh_remainder(s) - u) : fmin(log_ratio, 1 / EPSILON) - u;
}

DEVICE int special_large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_factorial_remainder(real x)
{
    if (x < 3) {
        return x == 2 ? 2 - LOG_2 : x;
    }
    return 0.5 * log(x) + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE real special_log_factorial(real x)
{
    if (x < 3) {
        return x == 2 ? LOG_2 : 0;
    }
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE conway_maxwell_poisson_lowest_grad_nu_results conway_maxwell_poisson_lowest_grad_nu(real x, real nu)
{
    return make_conway_maxwell_poisson_lowest_grad_nu_results(fmax(floor(x - 9.7 * sqrt(x / nu)), (real)0), 0);
}

DEVICE conway_maxwell_poisson_highest_grad_a_mu_results conway_maxwell_poisson_highest_grad_a_mu(real a, real b, real mu)
{
    real t = floor(mu);
    real t2 = fmax(t, a);
    return make_conway_maxwell_poisson_highest_grad_a_mu_results(fmin(t2, b), t2 <= b || b != b ? (t > a || a != a ? 0 : 1) : 0, 0);
}

DEVICE real special_stirling_series_derivative(real x)
{
    real v = 1 / x;
    real s = v * v;
    return -s * (0.08333333333333287574 + s * (-0.008333333332332800767 + s * (0.003968253600942064197 + s * (-0.004166613154056894626 + s * (0.007571670662698111168 + s * (-0.02090499271669974631 + s * (0.07768996902561712723 + s * (-0.3252522243739799449 + s * (1.221386329628660646 + s * (-3.22008126684131239 + s * 4.154095689406029601))))))))));
}

DEVICE special_factorial_remainder_grad_x_results special_factorial_remainder_grad_x(real x)
{
    if (x < 3) {
        return make_special_factorial_remainder_grad_x_results(x == 2 ? 2 - LOG_2 : x, x == 2 ? 0 : 1);
    }
    return make_special_factorial_remainder_grad_x_results(0.5 * log(x) + (HALF_LOG_2PI + special_stirling_series(x)), 0.5 * special_log_slope(x) + special_stirling_series_derivative(x));
}

DEVICE special_log_factorial_grad_x_results special_log_factorial_grad_x(real x)
{
    if (x < 3) {
        return make_special_log_factorial_grad_x_results(x == 2 ? LOG_2 : 0, 0);
    }
    real t = log(x);
    return make_special_log_factorial_grad_x_results((x + 0.5) * t - x + (HALF_LOG_2PI + special_stirling_series(x)), t + (x + 0.5) * special_log_slope(x) - 1 + special_stirling_series_derivative(x));
}

DEVICE conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results conway_maxwell_poisson_height_grad_x_mu_log_mu_nu(real x, real mu, real log_mu, real nu)
{
    if (special_large_shape(mu)) {
        real either;
        real d_x_either;
        real d_mu_either;
        real d_log_mu_either;
        real d_nu_either;
        if (x == 0) {
            either = -nu * mu;
            d_x_either = 0;
            d_mu_either = -nu;
            d_log_mu_either = 0;
            d_nu_either = -mu;
        } else {
            special_factorial_remainder_grad_x_results call = special_factorial_remainder_grad_x(x);
            real t = (mu - x) / x;
            real t2 = special_log_excess(log_mu - log(x), t);
            real t3 = x * t2 - call.value;
            real t4 = t / (1 + t);
            real t5 = 1 / x;
            real t6 = (-1 - t) * t5;
            either = nu * t3;
            d_x_either = nu * (t2 + x * (fabs(t) < 0.5 ? -(t4 * t6) : -special_log_slope(x) - t6) - call.d_x);
            d_mu_either = nu * (x * (fabs(t) < 0.5 ? -(t4 * t5) : -t5));
            d_log_mu_either = nu * (fabs(t) < 0.5 ? 0 : x);
            d_nu_either = t3;
        }
        return make_conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results(either, d_x_either, d_mu_either, d_log_mu_either, d_nu_either);
    }
    special_log_factorial_grad_x_results call2 = special_log_factorial_grad_x(x);
    real t7 = (x == 0 ? 0 : x * log_mu) - call2.value;
    return make_conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results(nu * t7, nu * ((x == 0 ? 0 : log_mu) - call2.d_x), 0, nu * (x == 0 ? 0 : x), t7);
}

DEVICE conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu(real x, real top, int power, real center, real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results call = conway_maxwell_poisson_height_grad_x_mu_log_mu_nu(x, mu, log_mu, nu);
    real t = exp(call.value - top);
    real d_x_value = t * call.d_x;
    real d_top_value = -t;
    real d_mu_value = t * call.d_mu;
    real d_log_mu_value = t * call.d_log_mu;
    real d_nu_value = t * call.d_nu;
    real value = t;
    real d = x - center;
    for (int i = 0; i < 4; i++) {
        real t2 = i < power ? d : 1;
        d_x_value = t2 * d_x_value + (i < power ? value : 0);
        d_top_value = t2 * d_top_value;
        d_mu_value = t2 * d_mu_value;
        d_log_mu_value = t2 * d_log_mu_value;
        d_nu_value = t2 * d_nu_value;
        value *= t2;
    }
    return make_conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results(value, d_x_value, d_top_value, d_mu_value, d_log_mu_value, d_nu_value);
}

DEVICE special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2(real f_3, real f_2, real f_1, real f0, real f1, real f2)
{
    real first = f0 - f_1;
    real third = f1 - f_2 - 3 * first;
    real fifth = f2 - f_3 - 5 * (f1 - f_2) + 10 * first;
    return make_special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results(0.041666666666666667 * first - 0.0029513888888888889 * third + 0.00037925760582010582 * fifth, -0.0003792576058201058, 0.002951388888888889 + 0.0003792576058201058 * 5, -0.041666666666666664 - 0.002951388888888889 * 3 - 10 * 0.0003792576058201058, 0.041666666666666664 + 3 * 0.002951388888888889 + 0.0003792576058201058 * 10, -0.002951388888888889 - 5 * 0.0003792576058201058, 0.0003792576058201058);
}

DEVICE conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu(real a, real top, int power, real center, real mu, real log_mu, real nu)
{
    real d_a_f_3 = 0;
    real d_top_f_3 = 0;
    real d_mu_f_3 = 0;
    real d_log_mu_f_3 = 0;
    real d_nu_f_3 = 0;
    real f_3 = 0;
    real d_a_f_2 = 0;
    real d_top_f_2 = 0;
    real d_mu_f_2 = 0;
    real d_log_mu_f_2 = 0;
    real d_nu_f_2 = 0;
    real f_2 = 0;
    real d_a_f_1 = 0;
    real d_top_f_1 = 0;
    real d_mu_f_1 = 0;
    real d_log_mu_f_1 = 0;
    real d_nu_f_1 = 0;
    real f_1 = 0;
    real d_a_f0 = 0;
    real d_top_f0 = 0;
    real d_mu_f0 = 0;
    real d_log_mu_f0 = 0;
    real d_nu_f0 = 0;
    real f0 = 0;
    real d_a_f1 = 0;
    real d_top_f1 = 0;
    real d_mu_f1 = 0;
    real d_log_mu_f1 = 0;
    real d_nu_f1 = 0;
    real f1 = 0;
    real d_a_f2 = 0;
    real d_top_f2 = 0;
    real d_mu_f2 = 0;
    real d_log_mu_f2 = 0;
    real d_nu_f2 = 0;
    real f2 = 0;
    for (int i = -3; i < 3; i++) {
        d_a_f_3 = d_a_f_2;
        d_top_f_3 = d_top_f_2;
        d_mu_f_3 = d_mu_f_2;
        d_log_mu_f_3 = d_log_mu_f_2;
        d_nu_f_3 = d_nu_f_2;
        f_3 = f_2;
        d_a_f_2 = d_a_f_1;
        d_top_f_2 = d_top_f_1;
        d_mu_f_2 = d_mu_f_1;
        d_log_mu_f_2 = d_log_mu_f_1;
        d_nu_f_2 = d_nu_f_1;
        f_2 = f_1;
        d_a_f_1 = d_a_f0;
        d_top_f_1 = d_top_f0;
        d_mu_f_1 = d_mu_f0;
        d_log_mu_f_1 = d_log_mu_f0;
        d_nu_f_1 = d_nu_f0;
        f_1 = f0;
        d_a_f0 = d_a_f1;
        d_top_f0 = d_top_f1;
        d_mu_f0 = d_mu_f1;
        d_log_mu_f0 = d_log_mu_f1;
        d_nu_f0 = d_nu_f1;
        f0 = f1;
        d_a_f1 = d_a_f2;
        d_top_f1 = d_top_f2;
        d_mu_f1 = d_mu_f2;
        d_log_mu_f1 = d_log_mu_f2;
        d_nu_f1 = d_nu_f2;
        f1 = f2;
        conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results call = conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu(a + i, top, power, center, mu, log_mu, nu);
        d_a_f2 = call.d_x;
        d_top_f2 = call.d_top;
        d_mu_f2 = call.d_mu;
        d_log_mu_f2 = call.d_log_mu;
        d_nu_f2 = call.d_nu;
        f2 = call.value;
    }
    real d_a_f_32 = d_a_f_3;
    real d_top_f_32 = d_top_f_3;
    real d_mu_f_32 = d_mu_f_3;
    real d_log_mu_f_32 = d_log_mu_f_3;
    real d_nu_f_32 = d_nu_f_3;
    real d_a_f_22 = d_a_f_2;
    real d_top_f_22 = d_top_f_2;
    real d_mu_f_22 = d_mu_f_2;
    real d_log_mu_f_22 = d_log_mu_f_2;
    real d_nu_f_22 = d_nu_f_2;
    real d_a_f_12 = d_a_f_1;
    real d_top_f_12 = d_top_f_1;
    real d_mu_f_12 = d_mu_f_1;
    real d_log_mu_f_12 = d_log_mu_f_1;
    real d_nu_f_12 = d_nu_f_1;
    real d_a_f02 = d_a_f0;
    real d_top_f02 = d_top_f0;
    real d_mu_f02 = d_mu_f0;
    real d_log_mu_f02 = d_log_mu_f0;
    real d_nu_f02 = d_nu_f0;
    real d_a_f12 = d_a_f1;
    real d_top_f12 = d_top_f1;
    real d_mu_f12 = d_mu_f1;
    real d_log_mu_f12 = d_log_mu_f1;
    real d_nu_f12 = d_nu_f1;
    real d_a_f22 = d_a_f2;
    real d_top_f22 = d_top_f2;
    real d_mu_f22 = d_mu_f2;
    real d_log_mu_f22 = d_log_mu_f2;
    real d_nu_f22 = d_nu_f2;
    special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results call2 = special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2(f_3, f_2, f_1, f0, f1, f2);
    return make_conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results(call2.value, call2.d_f_3 * d_a_f_32 + call2.d_f_2 * d_a_f_22 + call2.d_f_1 * d_a_f_12 + call2.d_f0 * d_a_f02 + call2.d_f1 * d_a_f12 + call2.d_f2 * d_a_f22, call2.d_f_3 * d_top_f_32 + call2.d_f_2 * d_top_f_22 + call2.d_f_1 * d_top_f_12 + call2.d_f0 * d_top_f02 + call2.d_f1 * d_top_f12 + call2.d_f2 * d_top_f22, call2.d_f_3 * d_mu_f_32 + call2.d_f_2 * d_mu_f_22 + call2.d_f_1 * d_mu_f_12 + call2.d_f0 * d_mu_f02 + call2.d_f1 * d_mu_f12 + call2.d_f2 * d_mu_f22, call2.d_f_3 * d_log_mu_f_32 + call2.d_f_2 * d_log_mu_f_22 + call2.d_f_1 * d_log_mu_f_12 + call2.d_f0 * d_log_mu_f02 + call2.d_f1 * d_log_mu_f12 + call2.d_f2 * d_log_mu_f22, call2.d_f_3 * d_nu_f_32 + call2.d_f_2 * d_nu_f_22 + call2.d_f_1 * d_nu_f_12 + call2.d_f0 * d_nu_f02 + call2.d_f1 * d_nu_f12 + call2.d_f2 * d_nu_f22);
}

DEVICE conway_maxwell_poisson_height_grad_mu_log_mu_nu_results conway_maxwell_poisson_height_grad_mu_log_mu_nu(real x, real mu, real log_mu, real nu)
{
    if (special_large_shape(mu)) {
        real t = (mu - x) / x;
        real t2 = x * special_log_excess(log_mu - log(x), t) - special_factorial_remainder(x);
        real t3 = 1 / x;
        return make_conway_maxwell_poisson_height_grad_mu_log_mu_nu_results(x == 0 ? -nu * mu : nu * t2, x == 0 ? -nu : nu * (x * (fabs(t) < 0.5 ? -(t / (1 + t) * t3) : -t3)), x == 0 ? 0 : nu * (fabs(t) < 0.5 ? 0 : x), x == 0 ? -mu : t2);
    }
    real t4 = (x == 0 ? 0 : x * log_mu) - special_log_factorial(x);
    return make_conway_maxwell_poisson_height_grad_mu_log_mu_nu_results(nu * t4, 0, nu * (x == 0 ? 0 : x), t4);
}

DEVICE conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu(real x, real top, int power, real center, real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_results call = conway_maxwell_poisson_height_grad_mu_log_mu_nu(x, mu, log_mu, nu);
    real t = exp(call.value - top);
    real d_top_value = -t;
    real d_mu_value = t * call.d_mu;
    real d_log_mu_value = t * call.d_log_mu;
    real d_nu_value = t * call.d_nu;
    real value = t;
    real d = x - center;
    for (int i = 0; i < 4; i++) {
        real t2 = i < power ? d : 1;
        d_top_value = t2 * d_top_value;
        d_mu_value = t2 * d_mu_value;
        d_log_mu_value = t2 * d_log_mu_value;
        d_nu_value = t2 * d_nu_value;
        value *= t2;
    }
    return make_conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results(value, d_top_value, d_mu_value, d_log_mu_value, d_nu_value);
}

DEVICE conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu(real a, real top, int power, real center, real mu, real log_mu, real nu)
{
    real d_top_f_3 = 0;
    real d_mu_f_3 = 0;
    real d_log_mu_f_3 = 0;
    real d_nu_f_3 = 0;
    real f_3 = 0;
    real d_top_f_2 = 0;
    real d_mu_f_2 = 0;
    real d_log_mu_f_2 = 0;
    real d_nu_f_2 = 0;
    real f_2 = 0;
    real d_top_f_1 = 0;
    real d_mu_f_1 = 0;
    real d_log_mu_f_1 = 0;
    real d_nu_f_1 = 0;
    real f_1 = 0;
    real d_top_f0 = 0;
    real d_mu_f0 = 0;
    real d_log_mu_f0 = 0;
    real d_nu_f0 = 0;
    real f0 = 0;
    real d_top_f1 = 0;
    real d_mu_f1 = 0;
    real d_log_mu_f1 = 0;
    real d_nu_f1 = 0;
    real f1 = 0;
    real d_top_f2 = 0;
    real d_mu_f2 = 0;
    real d_log_mu_f2 = 0;
    real d_nu_f2 = 0;
    real f2 = 0;
    for (int i = -3; i < 3; i++) {
        d_top_f_3 = d_top_f_2;
        d_mu_f_3 = d_mu_f_2;
        d_log_mu_f_3 = d_log_mu_f_2;
        d_nu_f_3 = d_nu_f_2;
        f_3 = f_2;
        d_top_f_2 = d_top_f_1;
        d_mu_f_2 = d_mu_f_1;
        d_log_mu_f_2 = d_log_mu_f_1;
        d_nu_f_2 = d_nu_f_1;
        f_2 = f_1;
        d_top_f_1 = d_top_f0;
        d_mu_f_1 = d_mu_f0;
        d_log_mu_f_1 = d_log_mu_f0;
        d_nu_f_1 = d_nu_f0;
        f_1 = f0;
        d_top_f0 = d_top_f1;
        d_mu_f0 = d_mu_f1;
        d_log_mu_f0 = d_log_mu_f1;
        d_nu_f0 = d_nu_f1;
        f0 = f1;
        d_top_f1 = d_top_f2;
        d_mu_f1 = d_mu_f2;
        d_log_mu_f1 = d_log_mu_f2;
        d_nu_f1 = d_nu_f2;
        f1 = f2;
        conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu_results call = conway_maxwell_poisson_weight_grad_top_mu_log_mu_nu(a + i, top, power, center, mu, log_mu, nu);
        d_top_f2 = call.d_top;
        d_mu_f2 = call.d_mu;
        d_log_mu_f2 = call.d_log_mu;
        d_nu_f2 = call.d_nu;
        f2 = call.value;
    }
    real d_top_f_32 = d_top_f_3;
    real d_mu_f_32 = d_mu_f_3;
    real d_log_mu_f_32 = d_log_mu_f_3;
    real d_nu_f_32 = d_nu_f_3;
    real d_top_f_22 = d_top_f_2;
    real d_mu_f_22 = d_mu_f_2;
    real d_log_mu_f_22 = d_log_mu_f_2;
    real d_nu_f_22 = d_nu_f_2;
    real d_top_f_12 = d_top_f_1;
    real d_mu_f_12 = d_mu_f_1;
    real d_log_mu_f_12 = d_log_mu_f_1;
    real d_nu_f_12 = d_nu_f_1;
    real d_top_f02 = d_top_f0;
    real d_mu_f02 = d_mu_f0;
    real d_log_mu_f02 = d_log_mu_f0;
    real d_nu_f02 = d_nu_f0;
    real d_top_f12 = d_top_f1;
    real d_mu_f12 = d_mu_f1;
    real d_log_mu_f12 = d_log_mu_f1;
    real d_nu_f12 = d_nu_f1;
    real d_top_f22 = d_top_f2;
    real d_mu_f22 = d_mu_f2;
    real d_log_mu_f22 = d_log_mu_f2;
    real d_nu_f22 = d_nu_f2;
    special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2_results call2 = special_midpoint_correction_grad_f_3_f_2_f_1_f0_f1_f2(f_3, f_2, f_1, f0, f1, f2);
    return make_conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results(call2.value, call2.d_f_3 * d_top_f_32 + call2.d_f_2 * d_top_f_22 + call2.d_f_1 * d_top_f_12 + call2.d_f0 * d_top_f02 + call2.d_f1 * d_top_f12 + call2.d_f2 * d_top_f22, call2.d_f_3 * d_mu_f_32 + call2.d_f_2 * d_mu_f_22 + call2.d_f_1 * d_mu_f_12 + call2.d_f0 * d_mu_f02 + call2.d_f1 * d_mu_f12 + call2.d_f2 * d_mu_f22, call2.d_f_3 * d_log_mu_f_32 + call2.d_f_2 * d_log_mu_f_22 + call2.d_f_1 * d_log_mu_f_12 + call2.d_f0 * d_log_mu_f02 + call2.d_f1 * d_log_mu_f12 + call2.d_f2 * d_log_mu_f22, call2.d_f_3 * d_nu_f_32 + call2.d_f_2 * d_nu_f_22 + call2.d_f_1 * d_nu_f_12 + call2.d_f0 * d_nu_f02 + call2.d_f1 * d_nu_f12 + call2.d_f2 * d_nu_f22);
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
}

DEVICE real special_legendre_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.18343464249564980494 : i == 1 ? 0.52553240991632898582 : i == 2 ? 0.79666647741362673959 : 0.96028985649753623168;
    return k == int_product(2, i) ? node : -node;
}

DEVICE real special_legendre_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.36268378337836198297 : i == 1 ? 0.31370664587788728734 : i == 2 ? 0.22238103445337447054 : 0.10122853629037625915;
}

LARGE conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu(real a, real b, int power, real center, real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_highest_grad_a_mu_results call = conway_maxwell_poisson_highest_grad_a_mu(a, b, mu);
    real d_a_mode = call.d_a;
    real d_mu_mode = call.d_mu;
    real mode = call.value;
    conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results call2 = conway_maxwell_poisson_height_grad_x_mu_log_mu_nu(mode, mu, log_mu, nu);
    real d_a_top = call2.d_x * d_a_mode;
    real d_mu_top = call2.d_x * d_mu_mode + call2.d_mu;
    real d_log_mu_top = call2.d_log_mu;
    real d_nu_top = call2.d_nu;
    real top = call2.value;
    real d_a_sum = 0;
    real d_mu_sum = 0;
    real d_log_mu_sum = 0;
    real d_nu_sum = 0;
    real sum = 0;
    real d_a_mass = 0;
    real d_mu_mass = 0;
    real d_log_mu_mass = 0;
    real d_nu_mass = 0;
    real mass = 0;
    real d_a_last = 0;
    real d_mu_last = 0;
    real d_log_mu_last = 0;
    real d_nu_last = 0;
    real last = 1;
    real d_a_at = 1;
    real d_mu_at = 0;
    real d_log_mu_at = 0;
    real d_nu_at = 0;
    real at = a;
    real small = (power == 0 ? 0.01 : 1e-9) * EPSILON;
    int done = 0;
    for (int i = 0; i < 1000 && !done && at <= b && THREAD < 65536; i++) {
        real d_a_x = d_a_at;
        real d_mu_x = d_mu_at;
        real d_log_mu_x = d_log_mu_at;
        real d_nu_x = d_nu_at;
        conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results call3 = conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu(at, top, 0, 0, mu, log_mu, nu);
        real d_a_term = call3.d_x * d_a_x + call3.d_top * d_a_top;
        real d_mu_term = call3.d_x * d_mu_x + call3.d_top * d_mu_top + call3.d_mu;
        real d_log_mu_term = call3.d_x * d_log_mu_x + call3.d_top * d_log_mu_top + call3.d_log_mu;
        real d_nu_term = call3.d_x * d_nu_x + call3.d_top * d_nu_top + call3.d_nu;
        real term = call3.value;
        d_a_mass += d_a_term;
        d_mu_mass += d_mu_term;
        d_log_mu_mass += d_log_mu_term;
        d_nu_mass += d_nu_term;
        mass += term;
        real d_a_x2 = d_a_at;
        real d_mu_x2 = d_mu_at;
        real d_log_mu_x2 = d_log_mu_at;
        real d_nu_x2 = d_nu_at;
        conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results call4 = conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu(at, top, power, center, mu, log_mu, nu);
        d_a_sum += call4.d_x * d_a_x2 + call4.d_top * d_a_top;
        d_mu_sum += call4.d_x * d_mu_x2 + call4.d_top * d_mu_top + call4.d_mu;
        d_log_mu_sum += call4.d_x * d_log_mu_x2 + call4.d_top * d_log_mu_top + call4.d_log_mu;
        d_nu_sum += call4.d_x * d_nu_x2 + call4.d_top * d_nu_top + call4.d_nu;
        sum += call4.value;
        done = at > mode && term * term < small * (last - term) * mass;
        d_a_last = d_a_term;
        d_mu_last = d_mu_term;
        d_log_mu_last = d_log_mu_term;
        d_nu_last = d_nu_term;
        last = term;
        at++;
    }
    if (!done && at <= b) {
        real d_a_a = d_a_at;
        real d_mu_a = d_mu_at;
        real d_log_mu_a = d_log_mu_at;
        real d_nu_a = d_nu_at;
        conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu_results call5 = conway_maxwell_poisson_correction_grad_a_top_mu_log_mu_nu(at, top, power, center, mu, log_mu, nu);
        d_a_sum += call5.d_a * d_a_a + call5.d_top * d_a_top;
        d_mu_sum += call5.d_a * d_mu_a + call5.d_top * d_mu_top + call5.d_mu;
        d_log_mu_sum += call5.d_a * d_log_mu_a + call5.d_top * d_log_mu_top + call5.d_log_mu;
        d_nu_sum += call5.d_a * d_nu_a + call5.d_top * d_nu_top + call5.d_nu;
        sum += call5.value;
        if (b < INFINITY) {
            conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu_results call6 = conway_maxwell_poisson_correction_grad_top_mu_log_mu_nu(b + 1, top, power, center, mu, log_mu, nu);
            d_a_sum -= call6.d_top * d_a_top;
            d_mu_sum -= call6.d_top * d_mu_top + call6.d_mu;
            d_log_mu_sum -= call6.d_top * d_log_mu_top + call6.d_log_mu;
            d_nu_sum -= call6.d_top * d_nu_top + call6.d_nu;
            sum -= call6.value;
        }
        at -= 0.5;
        d_a_last = 0;
        d_mu_last = 0;
        d_log_mu_last = 0;
        d_nu_last = 0;
        last = 1;
        for (int panel = 0; panel < 500 && at < b && (at <= mode || last > small * mass) && THREAD < 65536; panel++) {
            real d_a_x3 = d_a_at;
            real d_mu_x3 = d_mu_at;
            real d_log_mu_x3 = d_log_mu_at;
            real d_nu_x3 = d_nu_at;
            conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results call7 = conway_maxwell_poisson_height_grad_x_mu_log_mu_nu(at + 0.5, mu, log_mu, nu);
            real d_a_x4 = d_a_at;
            real d_mu_x4 = d_mu_at;
            real d_log_mu_x4 = d_log_mu_at;
            real d_nu_x4 = d_nu_at;
            conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results call8 = conway_maxwell_poisson_height_grad_x_mu_log_mu_nu(at - 0.5, mu, log_mu, nu);
            real d_a_slope = call7.d_x * d_a_x3 - call8.d_x * d_a_x4;
            real d_mu_slope = call7.d_x * d_mu_x3 + call7.d_mu - (call8.d_x * d_mu_x4 + call8.d_mu);
            real d_log_mu_slope = call7.d_x * d_log_mu_x3 + call7.d_log_mu - (call8.d_x * d_log_mu_x4 + call8.d_log_mu);
            real d_nu_slope = call7.d_x * d_nu_x3 + call7.d_nu - (call8.d_x * d_nu_x4 + call8.d_nu);
            real slope = call7.value - call8.value;
            real t = special_panel_width(slope, sqrt(at / nu));
            real t2 = fmin(t, 0.4 * at);
            real d_a_width = t2 <= b + 0.5 - at || b + 0.5 - at != b + 0.5 - at ? (t <= 0.4 * at || 0.4 * at != 0.4 * at ? 0 : 0.4 * d_a_at) : -d_a_at;
            real d_mu_width = t2 <= b + 0.5 - at || b + 0.5 - at != b + 0.5 - at ? (t <= 0.4 * at || 0.4 * at != 0.4 * at ? 0 : 0.4 * d_mu_at) : -d_mu_at;
            real d_log_mu_width = t2 <= b + 0.5 - at || b + 0.5 - at != b + 0.5 - at ? (t <= 0.4 * at || 0.4 * at != 0.4 * at ? 0 : 0.4 * d_log_mu_at) : -d_log_mu_at;
            real d_nu_width = t2 <= b + 0.5 - at || b + 0.5 - at != b + 0.5 - at ? (t <= 0.4 * at || 0.4 * at != 0.4 * at ? 0 : 0.4 * d_nu_at) : -d_nu_at;
            real width = fmin(t2, b + 0.5 - at);
            d_a_last = 0;
            d_mu_last = 0;
            d_log_mu_last = 0;
            d_nu_last = 0;
            last = 0;
            for (int k = 0; k < 8; k++) {
                real t3 = 1 + special_legendre_node(k);
                real t4 = 0.5 * t3;
                real d_a_x5 = d_a_at + t4 * d_a_width;
                real d_mu_x5 = d_mu_at + t4 * d_mu_width;
                real d_log_mu_x5 = d_log_mu_at + t4 * d_log_mu_width;
                real d_nu_x5 = d_nu_at + t4 * d_nu_width;
                real x = at + 0.5 * width * t3;
                real t5 = special_legendre_weight(k);
                real t6 = 0.5 * t5;
                real d_a_share = t6 * d_a_width;
                real d_mu_share = t6 * d_mu_width;
                real d_log_mu_share = t6 * d_log_mu_width;
                real d_nu_share = t6 * d_nu_width;
                real share = 0.5 * width * t5;
                conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results call9 = conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu(x, top, 0, 0, mu, log_mu, nu);
                d_a_last += call9.value * d_a_share + share * (call9.d_x * d_a_x5 + call9.d_top * d_a_top);
                d_mu_last += call9.value * d_mu_share + share * (call9.d_x * d_mu_x5 + call9.d_top * d_mu_top + call9.d_mu);
                d_log_mu_last += call9.value * d_log_mu_share + share * (call9.d_x * d_log_mu_x5 + call9.d_top * d_log_mu_top + call9.d_log_mu);
                d_nu_last += call9.value * d_nu_share + share * (call9.d_x * d_nu_x5 + call9.d_top * d_nu_top + call9.d_nu);
                last += share * call9.value;
                conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu_results call10 = conway_maxwell_poisson_weight_grad_x_top_mu_log_mu_nu(x, top, power, center, mu, log_mu, nu);
                d_a_sum += call10.value * d_a_share + share * (call10.d_x * d_a_x5 + call10.d_top * d_a_top);
                d_mu_sum += call10.value * d_mu_share + share * (call10.d_x * d_mu_x5 + call10.d_top * d_mu_top + call10.d_mu);
                d_log_mu_sum += call10.value * d_log_mu_share + share * (call10.d_x * d_log_mu_x5 + call10.d_top * d_log_mu_top + call10.d_log_mu);
                d_nu_sum += call10.value * d_nu_share + share * (call10.d_x * d_nu_x5 + call10.d_top * d_nu_top + call10.d_nu);
                sum += share * call10.value;
            }
            d_a_mass += d_a_last;
            d_mu_mass += d_mu_last;
            d_log_mu_mass += d_log_mu_last;
            d_nu_mass += d_nu_last;
            mass += last;
            d_a_at += d_a_width;
            d_mu_at += d_mu_width;
            d_log_mu_at += d_log_mu_width;
            d_nu_at += d_nu_width;
            at += width;
        }
    }
    return make_conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results(sum, d_a_sum, d_mu_sum, d_log_mu_sum, d_nu_sum);
}

DEVICE conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu(real a, real b, real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_highest_grad_a_mu_results call2 = conway_maxwell_poisson_highest_grad_a_mu(a, b, mu);
    real d_a_x = call2.d_a;
    real d_mu_x = call2.d_mu;
    conway_maxwell_poisson_height_grad_x_mu_log_mu_nu_results call = conway_maxwell_poisson_height_grad_x_mu_log_mu_nu(call2.value, mu, log_mu, nu);
    conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu_results call3 = conway_maxwell_poisson_sum_between_grad_a_mu_log_mu_nu(a, b, 0, 0, mu, log_mu, nu);
    real t = special_log_slope(call3.value);
    return make_conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results(call.value + log(call3.value), call.d_x * d_a_x + t * call3.d_a, call.d_x * d_mu_x + call.d_mu + t * call3.d_mu, call.d_log_mu + t * call3.d_log_mu, call.d_nu + t * call3.d_nu);
}

DEVICE conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu(real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_lowest_grad_nu_results call2 = conway_maxwell_poisson_lowest_grad_nu(floor(mu), nu);
    real d_nu_a = call2.d_nu;
    conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu_results call = conway_maxwell_poisson_log_between_grad_a_mu_log_mu_nu(call2.value, INFINITY, mu, log_mu, nu);
    return make_conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results(call.value, call.d_mu, call.d_log_mu, call.d_a * d_nu_a + call.d_nu);
}

// conway_maxwell_poisson_height_grad_mu_log_mu_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu;
    real log_mu;
    real c0;
    real nu;
    int c1;
} conway_maxwell_poisson_height_grad_mu_log_mu_nu_set;

DEVICE conway_maxwell_poisson_height_grad_mu_log_mu_nu_set conway_maxwell_poisson_height_grad_mu_log_mu_nu_prepare_set(real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_set set;
    set.mu = mu;
    set.log_mu = log_mu;
    set.c0 = -nu * mu;
    set.nu = nu;
    set.c1 = special_large_shape(mu);
    return set;
}

// conway_maxwell_poisson_height_grad_mu_log_mu_nu: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
    real c1;
    int c2;
    real t3;
    real c3;
    real c4;
} conway_maxwell_poisson_height_grad_mu_log_mu_nu_row;

DEVICE conway_maxwell_poisson_height_grad_mu_log_mu_nu_row conway_maxwell_poisson_height_grad_mu_log_mu_nu_prepare_row(real x)
{
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_row row;
    row.x = x;
    row.c0 = log(x);
    row.c1 = special_factorial_remainder(x);
    real t3 = 1 / x;
    row.c2 = x == 0;
    row.t3 = t3;
    row.c3 = special_log_factorial(x);
    row.c4 = x == 0 ? 0 : x;
    return row;
}

// conway_maxwell_poisson_height_grad_mu_log_mu_nu: what depends on both, from what was computed ahead.
DEVICE conway_maxwell_poisson_height_grad_mu_log_mu_nu_results conway_maxwell_poisson_height_grad_mu_log_mu_nu_evaluate(conway_maxwell_poisson_height_grad_mu_log_mu_nu_set set, conway_maxwell_poisson_height_grad_mu_log_mu_nu_row row)
{
    if (set.c1) {
        real t = (set.mu - row.x) / row.x;
        real t2 = row.x * special_log_excess(set.log_mu - row.c0, t) - row.c1;
        return make_conway_maxwell_poisson_height_grad_mu_log_mu_nu_results(row.c2 ? set.c0 : set.nu * t2, row.c2 ? -set.nu : set.nu * (row.x * (fabs(t) < 0.5 ? -(t / (1 + t) * row.t3) : -row.t3)), row.c2 ? 0 : set.nu * (fabs(t) < 0.5 ? 0 : row.x), row.c2 ? -set.mu : t2);
    }
    real t4 = (row.c2 ? 0 : row.x * set.log_mu) - row.c3;
    return make_conway_maxwell_poisson_height_grad_mu_log_mu_nu_results(set.nu * t4, 0, set.nu * row.c4, t4);
}

// conway_maxwell_poisson_logpmf_grad_lam_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_set conway_maxwell_poisson_height_grad_mu_0;
    real c1;
    real d_lam_mu;
    real d_lam_log_mu;
    real c2;
    real d_nu_mu;
    real d_nu_log_mu;
    real c3;
} conway_maxwell_poisson_logpmf_grad_lam_nu_set;

DEVICE conway_maxwell_poisson_logpmf_grad_lam_nu_set conway_maxwell_poisson_logpmf_grad_lam_nu_prepare_set(real lam, real nu)
{
    conway_maxwell_poisson_logpmf_grad_lam_nu_set set;
    real t = 1 / nu;
    real t2 = log(lam) / nu;
    real d_lam_log_mu = special_log_slope(lam) * t;
    real d_nu_log_mu = -(t2 * t);
    real log_mu = t2;
    real t3 = exp(log_mu);
    real d_lam_mu = t3 * d_lam_log_mu;
    real d_nu_mu = t3 * d_nu_log_mu;
    real mu = t3;
    conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu_results call2 = conway_maxwell_poisson_log_whole_grad_mu_log_mu_nu(mu, log_mu, nu);
    set.c0 = isinf(nu) || isinf(mu);
    set.conway_maxwell_poisson_height_grad_mu_0 = conway_maxwell_poisson_height_grad_mu_log_mu_nu_prepare_set(mu, log_mu, nu);
    set.c1 = call2.value;
    set.d_lam_mu = d_lam_mu;
    set.d_lam_log_mu = d_lam_log_mu;
    set.c2 = call2.d_mu * d_lam_mu + call2.d_log_mu * d_lam_log_mu;
    set.d_nu_mu = d_nu_mu;
    set.d_nu_log_mu = d_nu_log_mu;
    set.c3 = call2.d_mu * d_nu_mu + call2.d_log_mu * d_nu_log_mu + call2.d_nu;
    return set;
}

// conway_maxwell_poisson_logpmf_grad_lam_nu: what depends on the observation alone, computed once for each.
typedef struct {
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_row conway_maxwell_poisson_height_grad_mu_0;
} conway_maxwell_poisson_logpmf_grad_lam_nu_row;

DEVICE conway_maxwell_poisson_logpmf_grad_lam_nu_row conway_maxwell_poisson_logpmf_grad_lam_nu_prepare_row(real x)
{
    conway_maxwell_poisson_logpmf_grad_lam_nu_row row;
    row.conway_maxwell_poisson_height_grad_mu_0 = conway_maxwell_poisson_height_grad_mu_log_mu_nu_prepare_row(x);
    return row;
}

// conway_maxwell_poisson_logpmf_grad_lam_nu: what depends on both, from what was computed ahead.
DEVICE conway_maxwell_poisson_logpmf_grad_lam_nu_results conway_maxwell_poisson_logpmf_grad_lam_nu_evaluate(conway_maxwell_poisson_logpmf_grad_lam_nu_set set, conway_maxwell_poisson_logpmf_grad_lam_nu_row row)
{
    if (set.c0) {
        return make_conway_maxwell_poisson_logpmf_grad_lam_nu_results(NAN, NAN, NAN);
    }
    conway_maxwell_poisson_height_grad_mu_log_mu_nu_results call = conway_maxwell_poisson_height_grad_mu_log_mu_nu_evaluate(set.conway_maxwell_poisson_height_grad_mu_0, row.conway_maxwell_poisson_height_grad_mu_0);
    return make_conway_maxwell_poisson_logpmf_grad_lam_nu_results(call.value - set.c1, call.d_mu * set.d_lam_mu + call.d_log_mu * set.d_lam_log_mu - set.c2, call.d_mu * set.d_nu_mu + call.d_log_mu * set.d_nu_log_mu + call.d_nu - set.c3);
}

// conway_maxwell_poisson_logpmf_checked_grad_lam_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    conway_maxwell_poisson_logpmf_grad_lam_nu_set conway_maxwell_poisson_0;
    real c0;
} conway_maxwell_poisson_logpmf_checked_grad_lam_nu_set;

DEVICE conway_maxwell_poisson_logpmf_checked_grad_lam_nu_set conway_maxwell_poisson_logpmf_checked_grad_lam_nu_prepare_set(real lam, real nu)
{
    conway_maxwell_poisson_logpmf_checked_grad_lam_nu_set set;
    real bad_lam = lam > 0 ? 0 : NAN;
    real bad_nu = nu > 0 ? 0 : NAN;
    set.conway_maxwell_poisson_0 = conway_maxwell_poisson_logpmf_grad_lam_nu_prepare_set(lam, nu);
    set.c0 = bad_lam + bad_nu;
    return set;
}

// conway_maxwell_poisson_logpmf_checked_grad_lam_nu: what depends on the observation alone, computed once for each.
typedef struct {
    conway_maxwell_poisson_logpmf_grad_lam_nu_row conway_maxwell_poisson_0;
    int inside;
    real outside;
    real t;
} conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row;

DEVICE conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row conway_maxwell_poisson_logpmf_checked_grad_lam_nu_prepare_row(real x)
{
    conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.conway_maxwell_poisson_0 = conway_maxwell_poisson_logpmf_grad_lam_nu_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// conway_maxwell_poisson_logpmf_checked_grad_lam_nu: what depends on both, from what was computed ahead.
DEVICE conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results conway_maxwell_poisson_logpmf_checked_grad_lam_nu_evaluate(conway_maxwell_poisson_logpmf_checked_grad_lam_nu_set set, conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row row)
{
    conway_maxwell_poisson_logpmf_grad_lam_nu_results call = conway_maxwell_poisson_logpmf_grad_lam_nu_evaluate(set.conway_maxwell_poisson_0, row.conway_maxwell_poisson_0);
    real d_lam_value = call.d_lam;
    real d_nu_value = call.d_nu;
    real value = call.value;
    return make_conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results((row.inside || value != value ? value : row.outside) + set.c0, (row.inside || value != value ? d_lam_value : row.t) + set.c0, (row.inside || value != value ? d_nu_value : row.t) + set.c0);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 12; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 3; first += 12) {
        const int sums_here = (int)MIN(sets_here * 3 - first, 12);
        for (int s = 0; s < 12; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 3 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 3 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_lam, d_nu are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) conway_maxwell_poisson_logpmf_checked_grad_lam_nu_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride, GLOBAL const real *RESTRICT nu_per_set, index_t nu_offset, index_t nu_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    lam_per_set += lam_offset;
    nu_per_set += nu_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(conway_maxwell_poisson_logpmf_checked_grad_lam_nu_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_prepare_set(lam_per_set[(first_set + MIN(k, sets_here - 1)) * lam_stride], nu_per_set[(first_set + MIN(k, sets_here - 1)) * nu_stride]);
    BARRIER();

    double total[24];
    UNROLL for (int s = 0; s < 24; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row row = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results result = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lam;
                        total[k * 3 + 2] += result.d_nu;
                    }
                }
                {
                    const conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row row = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results result = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lam;
                        total[k * 3 + 2] += result.d_nu;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const conway_maxwell_poisson_logpmf_checked_grad_lam_nu_row row = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const conway_maxwell_poisson_logpmf_checked_grad_lam_nu_results result = conway_maxwell_poisson_logpmf_checked_grad_lam_nu_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lam;
                        total[k * 3 + 2] += result.d_nu;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 3 : partial + first_set * 3 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 12; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 3 - 0, 12); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];
    BARRIER();
    UNROLL for (int s = 0; s < 12; s++)
        sums[s * 128 + THREAD] = total[12 + s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 3 - 12, 12); s += 128)
        block_sums[(12 + s) * BLOCKS_Y] = sums[s * 128];
    if (BLOCKS_Y == 1)
        return;
    __shared__ int last;  // does this block finish last of those that share its sets? Then it adds them all
    __threadfence();
    __syncthreads();
    if (THREAD == 0) {
        last = atomicAdd(&counters[BLOCK_X], 1) == BLOCKS_Y - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        add_blocks(out + out_offset, partial, first_set, sets_here, BLOCKS_Y, sums);
        if (THREAD == 0)
            counters[BLOCK_X] = 0;
    }

}










