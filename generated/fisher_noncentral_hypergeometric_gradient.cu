// The gradient kernel of fisher_noncentral_hypergeometric, made by `gpustats generate`. Do not edit.
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

typedef struct {
    real value;
    real d_omega;
} fisher_noncentral_hypergeometric_mode_grad_omega_results;

DEVICE fisher_noncentral_hypergeometric_mode_grad_omega_results make_fisher_noncentral_hypergeometric_mode_grad_omega_results(real value, real d_omega)
{
    fisher_noncentral_hypergeometric_mode_grad_omega_results results;
    results.value = value;
    results.d_omega = d_omega;
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
    real d_deviation;
} binomial_kernel_grad_x_deviation_results;

DEVICE binomial_kernel_grad_x_deviation_results make_binomial_kernel_grad_x_deviation_results(real value, real d_x, real d_deviation)
{
    binomial_kernel_grad_x_deviation_results results;
    results.value = value;
    results.d_x = d_x;
    results.d_deviation = d_deviation;
    return results;
}


typedef struct {
    real value;
    real d_x;
} binomial_logpmf_grad_x_results;

DEVICE binomial_logpmf_grad_x_results make_binomial_logpmf_grad_x_results(real value, real d_x)
{
    binomial_logpmf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} hypergeometric_logpmf_grad_x_results;

DEVICE hypergeometric_logpmf_grad_x_results make_hypergeometric_logpmf_grad_x_results(real value, real d_x)
{
    hypergeometric_logpmf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_j;
    real d_omega;
} fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results;

DEVICE fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results make_fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results(real value, real d_j, real d_omega)
{
    fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results results;
    results.value = value;
    results.d_j = d_j;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_start;
    real d_omega;
} fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results;

DEVICE fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results make_fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results(real value, real d_start, real d_omega)
{
    fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results results;
    results.value = value;
    results.d_start = d_start;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_omega;
} fisher_noncentral_hypergeometric_logpmf_grad_omega_results;

DEVICE fisher_noncentral_hypergeometric_logpmf_grad_omega_results make_fisher_noncentral_hypergeometric_logpmf_grad_omega_results(real value, real d_omega)
{
    fisher_noncentral_hypergeometric_logpmf_grad_omega_results results;
    results.value = value;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_omega;
} fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results;

DEVICE fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results make_fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results(real value, real d_omega)
{
    fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results results;
    results.value = value;
    results.d_omega = d_omega;
    return results;
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

DEVICE real special_log_factorial(real x)
{
    if (x < 3) {
        return x == 2 ? LOG_2 : 0;
    }
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE int special_large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

DEVICE real binomial_kernel(real x, real n, real log_p, real log_q, real deviation)
{
    real y = n - x;
    real value;
    if (special_large_shape(n)) {
        value = special_factorial_remainder(n) - special_factorial_remainder(x) - special_factorial_remainder(y) + (x == 0 ? -deviation : x * special_log_excess(log(n) - log(x) + log_p, deviation * (1 / x))) + (y == 0 ? deviation : y * special_log_excess(log(n) - log(y) + log_q, -deviation * (1 / y)));
    } else {
        value = special_log_factorial(n) - special_log_factorial(x) - special_log_factorial(y) + (x == 0 ? 0 : x * log_p) + (y == 0 ? 0 : y * log_q);
    }
    return x > n ? -INFINITY : value;
}

DEVICE real binomial_logpmf(real x, real n, real p)
{
    return binomial_kernel(x, n, log(p), log1p(-p), fma(n, p, -x));
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE fisher_noncentral_hypergeometric_mode_grad_omega_results fisher_noncentral_hypergeometric_mode_grad_omega(real N, real k, real n, real omega)
{
    real rest = N - k - n;
    real d_omega_b = k + n + 2;
    real b = (k + n + 2) * omega + rest;
    real t = (k + 1) * (n + 1);
    real c = t * omega;
    real t2 = b * b - 4 * (omega - 1) * c;
    real t3 = sqrt(fmax(t2, (real)0));
    real d_omega_root = 0.5 / t3 * (t2 > (real)0 || (real)0 != (real)0 ? 2 * b * d_omega_b - (4 * c + 4 * (omega - 1) * t) : 0);
    real root = t3;
    return make_fisher_noncentral_hypergeometric_mode_grad_omega_results(fmin(fmax(floor(2 * c / (b + root)), fmax(-rest, (real)0)), fmin(k, n)), 0);
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

DEVICE binomial_kernel_grad_x_deviation_results binomial_kernel_grad_x_deviation(real x, real n, real log_p, real log_q, real deviation)
{
    real y = n - x;
    real value;
    real d_x_value;
    real d_deviation_value;
    if (special_large_shape(n)) {
        special_factorial_remainder_grad_x_results call = special_factorial_remainder_grad_x(x);
        special_factorial_remainder_grad_x_results call2 = special_factorial_remainder_grad_x(y);
        real t = log(n);
        real t2 = 1 / x;
        real t3 = deviation * t2;
        real t4 = special_log_excess(t - log(x) + log_p, t3);
        real t5 = t2 * t2 * deviation;
        real t6 = t3 / (1 + t3);
        real t7 = 1 / y;
        real t8 = -deviation * t7;
        real t9 = deviation * (t7 * t7);
        real t10 = t8 / (1 + t8);
        real t11 = special_log_excess(t - log(y) + log_q, t8);
        d_x_value = call2.d_x - call.d_x + (x == 0 ? 0 : t4 + x * (fabs(t3) < 0.5 ? t5 * t6 : t5 - special_log_slope(x))) + (y == 0 ? 0 : y * (fabs(t8) < 0.5 ? t9 * t10 : special_log_slope(y) + t9) - t11);
        d_deviation_value = (x == 0 ? -1 : x * (fabs(t3) < 0.5 ? -(t6 * t2) : -t2)) + (y == 0 ? 1 : y * (fabs(t8) < 0.5 ? t7 * t10 : t7));
        value = special_factorial_remainder(n) - call.value - call2.value + (x == 0 ? -deviation : x * t4) + (y == 0 ? deviation : y * t11);
    } else {
        special_log_factorial_grad_x_results call3 = special_log_factorial_grad_x(x);
        special_log_factorial_grad_x_results call4 = special_log_factorial_grad_x(y);
        d_x_value = call4.d_x - call3.d_x + (x == 0 ? 0 : log_p) + (y == 0 ? 0 : -log_q);
        d_deviation_value = 0;
        value = special_log_factorial(n) - call3.value - call4.value + (x == 0 ? 0 : x * log_p) + (y == 0 ? 0 : y * log_q);
    }
    return make_binomial_kernel_grad_x_deviation_results(x > n ? -INFINITY : value, x > n ? 0 : d_x_value, x > n ? 0 : d_deviation_value);
}

DEVICE binomial_logpmf_grad_x_results binomial_logpmf_grad_x(real x, real n, real p)
{
    binomial_kernel_grad_x_deviation_results call = binomial_kernel_grad_x_deviation(x, n, log(p), log1p(-p), fma(n, p, -x));
    return make_binomial_logpmf_grad_x_results(call.value, call.d_x - call.d_deviation);
}

DEVICE hypergeometric_logpmf_grad_x_results hypergeometric_logpmf_grad_x(real x, real N, real k, real n)
{
    if (k > N || n > N) {
        return make_hypergeometric_logpmf_grad_x_results(NAN, NAN);
    }
    if (x > k || x > n || n - x > N - k) {
        return make_hypergeometric_logpmf_grad_x_results(-INFINITY, 0);
    }
    if (n == 0 || n == N) {
        return make_hypergeometric_logpmf_grad_x_results(0, 0);
    }
    real p = n / N;
    binomial_logpmf_grad_x_results call = binomial_logpmf_grad_x(x, k, p);
    binomial_logpmf_grad_x_results call2 = binomial_logpmf_grad_x(n - x, N - k, p);
    return make_hypergeometric_logpmf_grad_x_results(call.value + call2.value - binomial_logpmf(n, N, p), call.d_x - call2.d_x);
}

// fisher_noncentral_hypergeometric_ratio_at_grad_j_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real k;
    real c0;
    real n;
    real omega;
} fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_set;

DEVICE fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_set fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_prepare_set(real N, real k, real n, real omega)
{
    fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_set set;
    set.k = k;
    set.c0 = N - k - n;
    set.n = n;
    set.omega = omega;
    return set;
}

// fisher_noncentral_hypergeometric_ratio_at_grad_j_omega: what depends on both, from what was computed ahead.
DEVICE fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_evaluate(fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_set set, real j)
{
    real t = (set.k - j) / (j + 1);
    real t2 = set.c0 + j + 1;
    real t3 = (set.n - j) / t2;
    real t4 = t * t3;
    return make_fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results(t4 * set.omega, t3 * set.omega * ((-1 - t) * (1 / (j + 1))) + t * set.omega * ((-1 - t3) * (1 / t2)), t4);
}

// fisher_noncentral_hypergeometric_sum_from_grad_start_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real start;
    real step;
    fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_set fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_0;
    fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_set fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_1;
    int c1;
    int c2;
    int steps;
} fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_set;

DEVICE fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_set fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_prepare_set(real start, real step, int power, real N, real k, real n, real omega)
{
    fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_set set;
    real end = step > 0 ? fmin(k, n) : fmax(n - (N - k), (real)0);
    int steps = to_int(fabs(end - start));
    set.c0 = power == 0 ? 1 : 0;
    set.start = start;
    set.step = step;
    set.fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_0 = fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_prepare_set(N, k, n, omega);
    set.fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_1 = fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_prepare_set(N, k, n, omega);
    set.c1 = step > 0;
    set.c2 = power == 0;
    set.steps = steps;
    return set;
}

// fisher_noncentral_hypergeometric_sum_from_grad_start_omega: what depends on both, from what was computed ahead.
DEVICE fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_evaluate(fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_set set)
{
    real d_start_sum = 0;
    real d_omega_sum = 0;
    real sum = set.c0;
    real d_start_term = 0;
    real d_omega_term = 0;
    real term = 1;
    int done = 0;
    for (int i = 0; i < set.steps && !done && THREAD < 65536; i = int_sum(i, 1)) {  // until the condition fails
        real j = set.start + set.step * i;
        real either;
        real d_start_either;
        real d_omega_either;
        if (set.c1) {
            fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results call = fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_evaluate(set.fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_0, j);
            either = call.value;
            d_start_either = call.d_j;
            d_omega_either = call.d_omega;
        } else {
            fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_results call2 = fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_mssss_evaluate(set.fisher_noncentral_hypergeometric_ratio_at_grad_j_omega_1, j - 1);
            real t = 1 / call2.value;
            either = t;
            d_start_either = -(t * call2.d_j * t);
            d_omega_either = -(t * call2.d_omega * t);
        }
        real d_start_ratio = d_start_either;
        real d_omega_ratio = d_omega_either;
        real ratio = either;
        done = ratio < 1 && term * ratio < 0.01 * EPSILON * (1 - ratio) * sum;
        d_start_term = ratio * d_start_term + term * d_start_ratio;
        d_omega_term = ratio * d_omega_term + term * d_omega_ratio;
        term *= ratio;
        d_start_sum += set.c2 ? d_start_term : set.step * int_sum(i, 1) * d_start_term;
        d_omega_sum += set.c2 ? d_omega_term : set.step * int_sum(i, 1) * d_omega_term;
        sum += set.c2 ? term : set.step * int_sum(i, 1) * term;
    }
    return make_fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results(sum, d_start_sum, d_omega_sum);
}

// binomial_kernel: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real c0;
    real c1;
    real log_p;
    real log_q;
    real c2;
    int c3;
} binomial_kernel_rsssm_set;

DEVICE binomial_kernel_rsssm_set binomial_kernel_rsssm_prepare_set(real n, real log_p, real log_q)
{
    binomial_kernel_rsssm_set set;
    set.n = n;
    set.c0 = special_factorial_remainder(n);
    set.c1 = log(n);
    set.log_p = log_p;
    set.log_q = log_q;
    set.c2 = special_log_factorial(n);
    set.c3 = special_large_shape(n);
    return set;
}

// binomial_kernel: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
    int c1;
    real c2;
    real c3;
    real c4;
} binomial_kernel_rsssm_row;

DEVICE binomial_kernel_rsssm_row binomial_kernel_rsssm_prepare_row(real x)
{
    binomial_kernel_rsssm_row row;
    row.x = x;
    row.c0 = special_factorial_remainder(x);
    row.c1 = x == 0;
    row.c2 = log(x);
    row.c3 = 1 / x;
    row.c4 = special_log_factorial(x);
    return row;
}

// binomial_kernel: what depends on both, from what was computed ahead.
DEVICE real binomial_kernel_rsssm_evaluate(binomial_kernel_rsssm_set set, binomial_kernel_rsssm_row row, real deviation)
{
    real y = set.n - row.x;
    real value;
    if (set.c3) {
        value = set.c0 - row.c0 - special_factorial_remainder(y) + (row.c1 ? -deviation : row.x * special_log_excess(set.c1 - row.c2 + set.log_p, deviation * row.c3)) + (y == 0 ? deviation : y * special_log_excess(set.c1 - log(y) + set.log_q, -deviation * (1 / y)));
    } else {
        value = set.c2 - row.c4 - special_log_factorial(y) + (row.c1 ? 0 : row.x * set.log_p) + (y == 0 ? 0 : y * set.log_q);
    }
    return row.x > set.n ? -INFINITY : value;
}

// binomial_logpmf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_kernel_rsssm_set binomial_kernel_0;
    real n;
    real p;
} binomial_logpmf_set;

DEVICE binomial_logpmf_set binomial_logpmf_prepare_set(real n, real p)
{
    binomial_logpmf_set set;
    set.binomial_kernel_0 = binomial_kernel_rsssm_prepare_set(n, log(p), log1p(-p));
    set.n = n;
    set.p = p;
    return set;
}

// binomial_logpmf: what depends on the observation alone, computed once for each.
typedef struct {
    binomial_kernel_rsssm_row binomial_kernel_0;
    real x;
} binomial_logpmf_row;

DEVICE binomial_logpmf_row binomial_logpmf_prepare_row(real x)
{
    binomial_logpmf_row row;
    row.binomial_kernel_0 = binomial_kernel_rsssm_prepare_row(x);
    row.x = x;
    return row;
}

// binomial_logpmf: what depends on both, from what was computed ahead.
DEVICE real binomial_logpmf_evaluate(binomial_logpmf_set set, binomial_logpmf_row row)
{
    return binomial_kernel_rsssm_evaluate(set.binomial_kernel_0, row.binomial_kernel_0, fma(set.n, set.p, -row.x));
}

// binomial_kernel: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real c0;
    real c1;
    real log_p;
    real log_q;
    real c2;
    int c3;
} binomial_kernel_msssm_set;

DEVICE binomial_kernel_msssm_set binomial_kernel_msssm_prepare_set(real n, real log_p, real log_q)
{
    binomial_kernel_msssm_set set;
    set.n = n;
    set.c0 = special_factorial_remainder(n);
    set.c1 = log(n);
    set.log_p = log_p;
    set.log_q = log_q;
    set.c2 = special_log_factorial(n);
    set.c3 = special_large_shape(n);
    return set;
}

// binomial_kernel: what depends on both, from what was computed ahead.
DEVICE real binomial_kernel_msssm_evaluate(binomial_kernel_msssm_set set, real x, real deviation)
{
    real y = set.n - x;
    real value;
    if (set.c3) {
        value = set.c0 - special_factorial_remainder(x) - special_factorial_remainder(y) + (x == 0 ? -deviation : x * special_log_excess(set.c1 - log(x) + set.log_p, deviation * (1 / x))) + (y == 0 ? deviation : y * special_log_excess(set.c1 - log(y) + set.log_q, -deviation * (1 / y)));
    } else {
        value = set.c2 - special_log_factorial(x) - special_log_factorial(y) + (x == 0 ? 0 : x * set.log_p) + (y == 0 ? 0 : y * set.log_q);
    }
    return x > set.n ? -INFINITY : value;
}

// binomial_logpmf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_kernel_msssm_set binomial_kernel_0;
    real n;
    real p;
} binomial_logpmf_mss_set;

DEVICE binomial_logpmf_mss_set binomial_logpmf_mss_prepare_set(real n, real p)
{
    binomial_logpmf_mss_set set;
    set.binomial_kernel_0 = binomial_kernel_msssm_prepare_set(n, log(p), log1p(-p));
    set.n = n;
    set.p = p;
    return set;
}

// binomial_logpmf: what depends on both, from what was computed ahead.
DEVICE real binomial_logpmf_mss_evaluate(binomial_logpmf_mss_set set, real x)
{
    return binomial_kernel_msssm_evaluate(set.binomial_kernel_0, x, fma(set.n, set.p, -x));
}

// hypergeometric_logpmf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real k;
    real n;
    real c1;
    int c2;
    binomial_logpmf_set binomial_0;
    binomial_logpmf_mss_set binomial_1;
    real c3;
} hypergeometric_logpmf_set;

DEVICE hypergeometric_logpmf_set hypergeometric_logpmf_prepare_set(real N, real k, real n)
{
    hypergeometric_logpmf_set set;
    real p = n / N;
    set.c0 = k > N || n > N;
    set.k = k;
    set.n = n;
    set.c1 = N - k;
    set.c2 = n == 0 || n == N;
    set.binomial_0 = binomial_logpmf_prepare_set(k, p);
    set.binomial_1 = binomial_logpmf_mss_prepare_set(N - k, p);
    set.c3 = binomial_logpmf(n, N, p);
    return set;
}

// hypergeometric_logpmf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    binomial_logpmf_row binomial_0;
} hypergeometric_logpmf_row;

DEVICE hypergeometric_logpmf_row hypergeometric_logpmf_prepare_row(real x)
{
    hypergeometric_logpmf_row row;
    row.x = x;
    row.binomial_0 = binomial_logpmf_prepare_row(x);
    return row;
}

// hypergeometric_logpmf: what depends on both, from what was computed ahead.
DEVICE real hypergeometric_logpmf_evaluate(hypergeometric_logpmf_set set, hypergeometric_logpmf_row row)
{
    if (set.c0) {
        return NAN;
    }
    if (row.x > set.k || row.x > set.n || set.n - row.x > set.c1) {
        return -INFINITY;
    }
    if (set.c2) {
        return 0;
    }
    return binomial_logpmf_evaluate(set.binomial_0, row.binomial_0) + binomial_logpmf_mss_evaluate(set.binomial_1, set.n - row.x) - set.c3;
}

// fisher_noncentral_hypergeometric_logpmf_grad_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real k;
    real n;
    real c1;
    fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_set fisher_noncentral_hypergeometric_sum_from_grad_start_omega_0;
    fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_set fisher_noncentral_hypergeometric_sum_from_grad_start_omega_1;
    real d_omega_mode;
    hypergeometric_logpmf_set hypergeometric_0;
    real c2;
    real mode;
    real t;
    real c3;
    real c4;
    real c5;
} fisher_noncentral_hypergeometric_logpmf_grad_omega_set;

DEVICE fisher_noncentral_hypergeometric_logpmf_grad_omega_set fisher_noncentral_hypergeometric_logpmf_grad_omega_prepare_set(real N, real k, real n, real omega)
{
    fisher_noncentral_hypergeometric_logpmf_grad_omega_set set;
    fisher_noncentral_hypergeometric_mode_grad_omega_results call = fisher_noncentral_hypergeometric_mode_grad_omega(N, k, n, omega);
    real d_omega_mode = call.d_omega;
    real mode = call.value;
    hypergeometric_logpmf_grad_x_results call4 = hypergeometric_logpmf_grad_x(mode, N, k, n);
    real t = log(omega);
    set.c0 = k > N || n > N || isinf(omega);
    set.k = k;
    set.n = n;
    set.c1 = N - k;
    set.fisher_noncentral_hypergeometric_sum_from_grad_start_omega_0 = fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_prepare_set(mode, 1, 0, N, k, n, omega);
    set.fisher_noncentral_hypergeometric_sum_from_grad_start_omega_1 = fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_prepare_set(mode, -1, 0, N, k, n, omega);
    set.d_omega_mode = d_omega_mode;
    set.hypergeometric_0 = hypergeometric_logpmf_prepare_set(N, k, n);
    set.c2 = call4.value;
    set.mode = mode;
    set.t = t;
    set.c3 = special_log_slope(omega);
    set.c4 = d_omega_mode * t;
    set.c5 = call4.d_x * d_omega_mode;
    return set;
}

// fisher_noncentral_hypergeometric_logpmf_grad_omega: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    hypergeometric_logpmf_row hypergeometric_0;
} fisher_noncentral_hypergeometric_logpmf_grad_omega_row;

DEVICE fisher_noncentral_hypergeometric_logpmf_grad_omega_row fisher_noncentral_hypergeometric_logpmf_grad_omega_prepare_row(real x)
{
    fisher_noncentral_hypergeometric_logpmf_grad_omega_row row;
    row.x = x;
    row.hypergeometric_0 = hypergeometric_logpmf_prepare_row(x);
    return row;
}

// fisher_noncentral_hypergeometric_logpmf_grad_omega: what depends on both, from what was computed ahead.
DEVICE fisher_noncentral_hypergeometric_logpmf_grad_omega_results fisher_noncentral_hypergeometric_logpmf_grad_omega_evaluate(fisher_noncentral_hypergeometric_logpmf_grad_omega_set set, fisher_noncentral_hypergeometric_logpmf_grad_omega_row row)
{
    if (set.c0) {
        return make_fisher_noncentral_hypergeometric_logpmf_grad_omega_results(NAN, NAN);
    }
    if (row.x > set.k || row.x > set.n || set.n - row.x > set.c1) {
        return make_fisher_noncentral_hypergeometric_logpmf_grad_omega_results(-INFINITY, 0);
    }
    fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results call2 = fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_evaluate(set.fisher_noncentral_hypergeometric_sum_from_grad_start_omega_0);
    fisher_noncentral_hypergeometric_sum_from_grad_start_omega_results call3 = fisher_noncentral_hypergeometric_sum_from_grad_start_omega_sssssss_set_whole_evaluate(set.fisher_noncentral_hypergeometric_sum_from_grad_start_omega_1);
    real d_omega_sum = call2.d_start * set.d_omega_mode + call2.d_omega + (call3.d_start * set.d_omega_mode + call3.d_omega);
    real sum = call2.value + (call3.value - 1);
    return make_fisher_noncentral_hypergeometric_logpmf_grad_omega_results(hypergeometric_logpmf_evaluate(set.hypergeometric_0, row.hypergeometric_0) - set.c2 + (row.x - set.mode) * set.t - log(sum), (row.x - set.mode) * set.c3 - set.c4 - set.c5 - special_log_slope(sum) * d_omega_sum);
}

// fisher_noncentral_hypergeometric_logpmf_checked_grad_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    fisher_noncentral_hypergeometric_logpmf_grad_omega_set fisher_noncentral_hypergeometric_0;
    real t;
} fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_set;

DEVICE fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_set fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_set(real N, real k, real n, real omega)
{
    fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_set set;
    real bad_N = N >= 0 && N == floor(N) && fabs(N) < INFINITY ? 0 : NAN;
    real bad_k = k >= 0 && k == floor(k) && fabs(k) < INFINITY ? 0 : NAN;
    real bad_n = n >= 0 && n == floor(n) && fabs(n) < INFINITY ? 0 : NAN;
    real bad_omega = omega > 0 ? 0 : NAN;
    real t = bad_N + bad_k + bad_n + bad_omega;
    set.c0 = !(bad_N == 0 && bad_k == 0 && bad_n == 0 && bad_omega == 0);
    set.fisher_noncentral_hypergeometric_0 = fisher_noncentral_hypergeometric_logpmf_grad_omega_prepare_set(N, k, n, omega);
    set.t = t;
    return set;
}

// fisher_noncentral_hypergeometric_logpmf_checked_grad_omega: what depends on the observation alone, computed once for each.
typedef struct {
    fisher_noncentral_hypergeometric_logpmf_grad_omega_row fisher_noncentral_hypergeometric_0;
    int inside;
    real outside;
    real d_omega_outside;
} fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row;

DEVICE fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(real x)
{
    fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row row;
    real d_omega_outside = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.fisher_noncentral_hypergeometric_0 = fisher_noncentral_hypergeometric_logpmf_grad_omega_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.d_omega_outside = d_omega_outside;
    return row;
}

// fisher_noncentral_hypergeometric_logpmf_checked_grad_omega: what depends on both, from what was computed ahead.
DEVICE fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_set set, fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row row)
{
    if (set.c0) {
        return make_fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results(NAN, NAN);
    }
    fisher_noncentral_hypergeometric_logpmf_grad_omega_results call = fisher_noncentral_hypergeometric_logpmf_grad_omega_evaluate(set.fisher_noncentral_hypergeometric_0, row.fisher_noncentral_hypergeometric_0);
    real d_omega_value = call.d_omega;
    real value = call.value;
    return make_fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results((row.inside || value != value ? value : row.outside) + set.t, (row.inside || value != value ? d_omega_value : row.d_omega_outside) + set.t);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 16; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 2; first += 16) {
        const int sums_here = (int)MIN(sets_here * 2 - first, 16);
        for (int s = 0; s < 16; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 2 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 2 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_omega are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT N_per_set, index_t N_offset, index_t N_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT n_per_set, index_t n_offset, index_t n_stride, GLOBAL const real *RESTRICT omega_per_set, index_t omega_offset, index_t omega_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    N_per_set += N_offset;
    k_per_set += k_offset;
    n_per_set += n_offset;
    omega_per_set += omega_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_set(N_per_set[(first_set + MIN(k, sets_here - 1)) * N_stride], k_per_set[(first_set + MIN(k, sets_here - 1)) * k_stride], n_per_set[(first_set + MIN(k, sets_here - 1)) * n_stride], omega_per_set[(first_set + MIN(k, sets_here - 1)) * omega_stride]);
    BARRIER();

    double total[16];
    UNROLL for (int s = 0; s < 16; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row row = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results result = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_omega;
                    }
                }
                {
                    const fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row row = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results result = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_omega;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_row row = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_results result = fisher_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_omega;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 2 : partial + first_set * 2 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 16; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 2 - 0, 16); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];
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










