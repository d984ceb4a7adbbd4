// The gradient kernel of poisson_inverse_gaussian, made by `gpustats generate`. Do not edit.
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
    real d_x;
} special_expm1_excess_grad_x_results;

DEVICE special_expm1_excess_grad_x_results make_special_expm1_excess_grad_x_results(real value, real d_x)
{
    special_expm1_excess_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_log_gamma_power_grad_x_results;

DEVICE special_log_gamma_power_grad_x_results make_special_log_gamma_power_grad_x_results(real value, real d_x)
{
    special_log_gamma_power_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_m;
} special_log_poisson_grad_m_results;

DEVICE special_log_poisson_grad_m_results make_special_log_poisson_grad_m_results(real value, real d_m)
{
    special_log_poisson_grad_m_results results;
    results.value = value;
    results.d_m = d_m;
    return results;
}


typedef struct {
    real value;
    real d_b;
} special_gig_log_integral_grad_b_results;

DEVICE special_gig_log_integral_grad_b_results make_special_gig_log_integral_grad_b_results(real value, real d_b)
{
    special_gig_log_integral_grad_b_results results;
    results.value = value;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
} poisson_inverse_gaussian_logpmf_grad_mu_sigma_results;

DEVICE poisson_inverse_gaussian_logpmf_grad_mu_sigma_results make_poisson_inverse_gaussian_logpmf_grad_mu_sigma_results(real value, real d_mu, real d_sigma)
{
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
} poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results;

DEVICE poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results make_poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results(real value, real d_mu, real d_sigma)
{
    poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
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

DEVICE real special_log_ratio_excess(real ratio, real u)
{
    return special_log_excess(log(ratio), u);
}

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_log_gamma_near_two(real z)
{
    real numerator = 0.4227843350984671393 + z * (0.7446983132107947606 + z * (0.5193055283793975869 + z * (0.1815238264834719641 + z * (0.0330824603310423564 + z * (0.002935427941079408713 + z * (9.982884455195008484e-5 + z * (3.896344535820739269e-7 + z * -2.74724591681427145e-9)))))));
    real denominator = 1.0 + z * (1.998691873690975826 + z * (1.624572734572609033 + z * (0.6882797416261857106 + z * (0.1616150908767978973 + z * (0.02056718584681987448 + z * (0.001269421114541973567 + z * 2.769495701127702445e-5))))));
    return z * (z + 1) * (numerator / denominator);
}

DEVICE real special_stirling_error(real x)
{
    if (x >= 3) {
        return special_stirling_series(x);
    }
    real shift = x < 1.5 ? 1 : 0;
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

DEVICE real special_log1pmx(real u)
{
    return special_log_ratio_excess(1 + u, u);
}

DEVICE special_expm1_excess_grad_x_results special_expm1_excess_grad_x(real x)
{
    real t = expm1(-x);
    real t2 = exp(-x);
    return make_special_expm1_excess_grad_x_results(fabs(x) < 0.5 ? -special_log1pmx(t) : x + t, fabs(x) < 0.5 ? -(t2 * (t / (1 + t))) : 1 - t2);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

// special_log_gamma_power_grad_x: what depends on the observation alone, computed once for each.
typedef struct {
    real a;
    real c0;
    real t3;
} special_log_gamma_power_grad_x_rm_row;

DEVICE special_log_gamma_power_grad_x_rm_row special_log_gamma_power_grad_x_rm_prepare_row(real a)
{
    special_log_gamma_power_grad_x_rm_row row;
    real t3 = 1 / a;
    row.a = a;
    row.c0 = 0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a);
    row.t3 = t3;
    return row;
}

// special_log_gamma_power_grad_x: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_power_grad_x_results special_log_gamma_power_grad_x_rm_evaluate(special_log_gamma_power_grad_x_rm_row row, real x)
{
    real t = x / row.a;
    real t2 = (x - row.a) / row.a;
    return make_special_log_gamma_power_grad_x_results(row.a * special_log_ratio_excess(t, t2) - row.c0, row.a * (fabs(t2) < 0.5 ? -(t2 / t * row.t3) : row.t3 / t - row.t3));
}

// special_log_poisson_grad_m: what depends on the observation alone, computed once for each.
typedef struct {
    special_log_gamma_power_grad_x_rm_row special_0;
    int c0;
} special_log_poisson_grad_m_rm_row;

DEVICE special_log_poisson_grad_m_rm_row special_log_poisson_grad_m_rm_prepare_row(real j)
{
    special_log_poisson_grad_m_rm_row row;
    row.special_0 = special_log_gamma_power_grad_x_rm_prepare_row(j);
    row.c0 = j == 0;
    return row;
}

// special_log_poisson_grad_m: what depends on both, from what was computed ahead.
DEVICE special_log_poisson_grad_m_results special_log_poisson_grad_m_rm_evaluate(special_log_poisson_grad_m_rm_row row, real m)
{
    real either;
    real d_m_either;
    if (row.c0) {
        either = -m;
        d_m_either = -1;
    } else {
        special_log_gamma_power_grad_x_results call = special_log_gamma_power_grad_x_rm_evaluate(row.special_0, m);
        either = call.value;
        d_m_either = call.d_x;
    }
    return make_special_log_poisson_grad_m_results(either, d_m_either);
}

// special_gig_log_integral_grad_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real b;
    int c1;
    real order;
} special_gig_log_integral_grad_b_srs_set;

DEVICE special_gig_log_integral_grad_b_srs_set special_gig_log_integral_grad_b_srs_prepare_set(real order, real b)
{
    special_gig_log_integral_grad_b_srs_set set;
    set.c0 = b == 0 && order == 0;
    set.b = b;
    set.c1 = b == 0;
    set.order = order;
    return set;
}

// special_gig_log_integral_grad_b: what depends on the observation alone, computed once for each.
typedef struct {
    special_gig_log_integral_grad_b_results c0;
    real p;
    int c1;
} special_gig_log_integral_grad_b_srs_row;

DEVICE special_gig_log_integral_grad_b_srs_row special_gig_log_integral_grad_b_srs_prepare_row(real p)
{
    special_gig_log_integral_grad_b_srs_row row;
    row.c0 = make_special_gig_log_integral_grad_b_results(HALF_LOG_2PI - 0.5 * log(p) + special_stirling_error(p), 0);
    row.p = p;
    row.c1 = p == 0;
    return row;
}

// special_gig_log_integral_grad_b: what depends on both, from what was computed ahead.
DEVICE special_gig_log_integral_grad_b_results special_gig_log_integral_grad_b_srs_evaluate(special_gig_log_integral_grad_b_srs_set set, special_gig_log_integral_grad_b_srs_row row)
{
    if (set.c0) {
        return row.c0;
    }
    real t = hypot(row.p, set.b);
    real d_b_w = row.c1 && set.c1 ? 0 : set.b / t;
    real w = t;
    real t2 = set.b / (row.p + w);
    real d_b_rest = t2 + set.b * ((1 - t2 * d_b_w) * (1 / (row.p + w)));
    real rest = set.b * t2;
    real t3 = sqrt(w + 7);
    real t4 = 0.6 / t3;
    real d_b_step = -(t4 * (0.5 / t3 * d_b_w) * (1 / t3));
    real step = t4;
    real d_b_sum = 0;
    real sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real d_b_term = 0;
        real term = 1;
        for (int i = 1; i < 6000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real d_b_v = int_product(side, i) * d_b_step;
            real v = int_product(side, i) * step;
            real d_b_s = rest > 0 ? cosh(0.5 * v) * (0.5 * d_b_v) : 0;
            real s = rest > 0 ? sinh(0.5 * v) : 0;
            special_expm1_excess_grad_x_results call = special_expm1_excess_grad_x(-v);
            real t5 = exp(set.order * v - row.p * call.value - 2 * rest * s * s);
            d_b_term = t5 * (set.order * d_b_v + d_b_v * call.d_x * row.p - (2 * s * s * d_b_rest + 4 * rest * s * d_b_s));
            term = t5;
            d_b_sum += d_b_term;
            sum += term;
        }
    }
    return make_special_gig_log_integral_grad_b_results(log(step) + log(sum), special_log_slope(step) * d_b_step + special_log_slope(sum) * d_b_sum);
}

// poisson_inverse_gaussian_logpmf_grad_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    int c0;
    real d_mu_b;
    real d_sigma_b;
    int c1;
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_results c2;
    real lam;
    real t;
    real d_sigma_lam;
    real mu;
    real c3;
    real sigma;
    int c4;
    real c5;
    real t20;
    special_gig_log_integral_grad_b_srs_set special_gig_0;
    real c6;
    real t24;
    real c7;
    real c8;
} poisson_inverse_gaussian_logpmf_grad_mu_sigma_set;

DEVICE poisson_inverse_gaussian_logpmf_grad_mu_sigma_set poisson_inverse_gaussian_logpmf_grad_mu_sigma_prepare_set(real mu, real sigma)
{
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_set set;
    real t = 1 / sigma;
    real t2 = mu / sigma;
    real d_sigma_lam = -(t2 * t);
    real lam = t2;
    real t3 = sqrt(1 + 2 * sigma * mu);
    real t4 = 0.5 / t3;
    real d_mu_root = t4 * (2 * sigma);
    real d_sigma_root = t4 * (2 * mu);
    real root = t3;
    real t5 = 1 / sigma;
    real t6 = root / sigma;
    real d_mu_b = d_mu_root * t5;
    real d_sigma_b = (d_sigma_root - t6) * t5;
    real b = t6;
    real t20 = 1 / mu;
    real t24 = 1 / sigma;
    real t26 = special_log_slope(lam);
    set.b = b;
    set.c0 = b == 0;
    set.d_mu_b = d_mu_b;
    set.d_sigma_b = d_sigma_b;
    set.c1 = isinf(mu) || isinf(sigma);
    real t9 = -2 * mu / (1 + root);
    real t10 = 1 / (1 + root);
    set.c2 = make_poisson_inverse_gaussian_logpmf_grad_mu_sigma_results(t9, (-2 - t9 * d_mu_root) * t10, -(t9 * d_sigma_root * t10));
    set.lam = lam;
    set.t = t;
    set.d_sigma_lam = d_sigma_lam;
    set.mu = mu;
    set.c3 = 2 * mu * sigma;
    set.sigma = sigma;
    set.c4 = sigma * mu < 1;
    set.c5 = mu * sigma;
    set.t20 = t20;
    set.special_gig_0 = special_gig_log_integral_grad_b_srs_prepare_set(0, b);
    set.c6 = log(lam);
    set.t24 = t24;
    set.c7 = t26 * t;
    set.c8 = t26 * d_sigma_lam;
    return set;
}

// poisson_inverse_gaussian_logpmf_grad_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real p;
    int c0;
    int c1;
    special_log_poisson_grad_m_rm_row special_0;
    special_gig_log_integral_grad_b_srs_row special_gig_0;
} poisson_inverse_gaussian_logpmf_grad_mu_sigma_row;

DEVICE poisson_inverse_gaussian_logpmf_grad_mu_sigma_row poisson_inverse_gaussian_logpmf_grad_mu_sigma_prepare_row(real x)
{
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_row row;
    real p = x - 0.5;
    row.p = p;
    row.c0 = p == 0;
    row.c1 = x == 0;
    row.special_0 = special_log_poisson_grad_m_rm_prepare_row(x);
    row.special_gig_0 = special_gig_log_integral_grad_b_srs_prepare_row(p);
    return row;
}

// poisson_inverse_gaussian_logpmf_grad_mu_sigma: what depends on both, from what was computed ahead.
DEVICE poisson_inverse_gaussian_logpmf_grad_mu_sigma_results poisson_inverse_gaussian_logpmf_grad_mu_sigma_evaluate(poisson_inverse_gaussian_logpmf_grad_mu_sigma_set set, poisson_inverse_gaussian_logpmf_grad_mu_sigma_row row)
{
    real t7 = hypot(row.p, set.b);
    real t8 = set.b / t7;
    real d_mu_w = row.c0 && set.c0 ? 0 : t8 * set.d_mu_b;
    real d_sigma_w = row.c0 && set.c0 ? 0 : t8 * set.d_sigma_b;
    real w = t7;
    if (set.c1) {
        return make_poisson_inverse_gaussian_logpmf_grad_mu_sigma_results(NAN, NAN, NAN);
    }
    if (row.c1) {
        return set.c2;
    }
    real t11 = set.b / (row.p + w);
    real t12 = 1 / (row.p + w);
    real d_mu_rest = t11 * set.d_mu_b + set.b * ((set.d_mu_b - t11 * d_mu_w) * t12);
    real d_sigma_rest = t11 * set.d_sigma_b + set.b * ((set.d_sigma_b - t11 * d_sigma_w) * t12);
    real rest = set.b * t11;
    real t13 = set.lam / rest;
    real t14 = 1 / rest;
    real d_mu_peak = (set.t - t13 * d_mu_rest) * t14;
    real d_sigma_peak = (set.d_sigma_lam - t13 * d_sigma_rest) * t14;
    real peak = t13;
    real t15 = (row.p - peak) / (peak + set.mu);
    real t16 = set.c3 * t15;
    real t17 = 2 * peak * set.mu * set.sigma;
    real t18 = 1 / (peak + set.mu);
    real d_mu_away = set.c4 ? t16 * d_mu_peak + 2 * peak * set.sigma * t15 + t17 * ((-d_mu_peak - t15 * (d_mu_peak + 1)) * t18) : d_mu_peak - 1;
    real d_sigma_away = set.c4 ? t16 * d_sigma_peak + 2 * peak * set.mu * t15 + t17 * ((-d_sigma_peak - t15 * d_sigma_peak) * t18) : d_sigma_peak;
    real away = set.c4 ? 2 * peak * set.c5 * t15 : peak - set.mu;
    real t19 = away / set.mu;
    real d_mu_share = (d_mu_away - t19) * set.t20;
    real d_sigma_share = d_sigma_away * set.t20;
    real share = t19;
    special_log_poisson_grad_m_results call = special_log_poisson_grad_m_rm_evaluate(row.special_0, peak);
    special_gig_log_integral_grad_b_results call2 = special_gig_log_integral_grad_b_srs_evaluate(set.special_gig_0, row.special_gig_0);
    real t21 = away / set.sigma;
    real t22 = t21 / peak;
    real t23 = 0.5 * t22;
    real t25 = 1 / peak;
    real t27 = special_log_slope(peak);
    return make_poisson_inverse_gaussian_logpmf_grad_mu_sigma_results(call.value - 0.5 * share * t22 + 0.5 * (set.c6 - log(peak)) - HALF_LOG_2PI + call2.value, call.d_m * d_mu_peak - (t23 * d_mu_share + 0.5 * share * ((d_mu_away * set.t24 - t22 * d_mu_peak) * t25)) + 0.5 * (set.c7 - t27 * d_mu_peak) + call2.d_b * set.d_mu_b, call.d_m * d_sigma_peak - (t23 * d_sigma_share + 0.5 * share * (((d_sigma_away - t21) * set.t24 - t22 * d_sigma_peak) * t25)) + 0.5 * (set.c8 - t27 * d_sigma_peak) + call2.d_b * set.d_sigma_b);
}

// poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_set poisson_inverse_gaussian_0;
    real c0;
} poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_set;

DEVICE poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_set poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_prepare_set(real mu, real sigma)
{
    poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_set set;
    real bad_mu = mu > 0 ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.poisson_inverse_gaussian_0 = poisson_inverse_gaussian_logpmf_grad_mu_sigma_prepare_set(mu, sigma);
    set.c0 = bad_mu + bad_sigma;
    return set;
}

// poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_row poisson_inverse_gaussian_0;
    int inside;
    real outside;
    real t;
} poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row;

DEVICE poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_prepare_row(real x)
{
    poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.poisson_inverse_gaussian_0 = poisson_inverse_gaussian_logpmf_grad_mu_sigma_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma: what depends on both, from what was computed ahead.
DEVICE poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_evaluate(poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_set set, poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row row)
{
    poisson_inverse_gaussian_logpmf_grad_mu_sigma_results call = poisson_inverse_gaussian_logpmf_grad_mu_sigma_evaluate(set.poisson_inverse_gaussian_0, row.poisson_inverse_gaussian_0);
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results((row.inside || value != value ? value : row.outside) + set.c0, (row.inside || value != value ? d_mu_value : row.t) + set.c0, (row.inside || value != value ? d_sigma_value : row.t) + set.c0);
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
// Here f has several results: value, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_prepare_set(mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row row = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results result = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu;
                        total[k * 3 + 2] += result.d_sigma;
                    }
                }
                {
                    const poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row row = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results result = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu;
                        total[k * 3 + 2] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_row row = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_results result = poisson_inverse_gaussian_logpmf_checked_grad_mu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu;
                        total[k * 3 + 2] += result.d_sigma;
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










