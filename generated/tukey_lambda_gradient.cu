// The gradient kernel of tukey_lambda, made by `gpustats generate`. Do not edit.
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

typedef struct {
    real value;
    real d_a;
    real d_x;
} special_expm1_quotient_grad_a_x_results;

DEVICE special_expm1_quotient_grad_a_x_results make_special_expm1_quotient_grad_a_x_results(real value, real d_a, real d_x)
{
    special_expm1_quotient_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_s;
} special_atanh_remainder_grad_s_results;

DEVICE special_atanh_remainder_grad_s_results make_special_atanh_remainder_grad_s_results(real value, real d_s)
{
    special_atanh_remainder_grad_s_results results;
    results.value = value;
    results.d_s = d_s;
    return results;
}


typedef struct {
    real value;
    real d_z;
    real d_lam;
} tukey_lambda_start_grad_z_lam_results;

DEVICE tukey_lambda_start_grad_z_lam_results make_tukey_lambda_start_grad_z_lam_results(real value, real d_z, real d_lam)
{
    tukey_lambda_start_grad_z_lam_results results;
    results.value = value;
    results.d_z = d_z;
    results.d_lam = d_lam;
    return results;
}


typedef struct {
    real value;
    real d_log_p;
    real d_log_q;
    real d_lam;
} tukey_lambda_quantile_grad_log_p_log_q_lam_results;

DEVICE tukey_lambda_quantile_grad_log_p_log_q_lam_results make_tukey_lambda_quantile_grad_log_p_log_q_lam_results(real value, real d_log_p, real d_log_q, real d_lam)
{
    tukey_lambda_quantile_grad_log_p_log_q_lam_results results;
    results.value = value;
    results.d_log_p = d_log_p;
    results.d_log_q = d_log_q;
    results.d_lam = d_lam;
    return results;
}


typedef struct {
    real value;
    real d_d;
    real d_xi;
} special_log1p_over_grad_d_xi_results;

DEVICE special_log1p_over_grad_d_xi_results make_special_log1p_over_grad_d_xi_results(real value, real d_d, real d_xi)
{
    special_log1p_over_grad_d_xi_results results;
    results.value = value;
    results.d_d = d_d;
    results.d_xi = d_xi;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_x;
} special_log1p_quotient_grad_a_x_results;

DEVICE special_log1p_quotient_grad_a_x_results make_special_log1p_quotient_grad_a_x_results(real value, real d_a, real d_x)
{
    special_log1p_quotient_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_log_p;
    real d_z;
    real d_lam;
} tukey_lambda_step_grad_log_p_z_lam_results;

DEVICE tukey_lambda_step_grad_log_p_z_lam_results make_tukey_lambda_step_grad_log_p_z_lam_results(real value, real d_log_p, real d_z, real d_lam)
{
    tukey_lambda_step_grad_log_p_z_lam_results results;
    results.value = value;
    results.d_log_p = d_log_p;
    results.d_z = d_z;
    results.d_lam = d_lam;
    return results;
}


typedef struct {
    real value;
    real d_z;
    real d_lam;
} tukey_lambda_log_tail_grad_z_lam_results;

DEVICE tukey_lambda_log_tail_grad_z_lam_results make_tukey_lambda_log_tail_grad_z_lam_results(real value, real d_z, real d_lam)
{
    tukey_lambda_log_tail_grad_z_lam_results results;
    results.value = value;
    results.d_z = d_z;
    results.d_lam = d_lam;
    return results;
}


typedef struct {
    real value;
    real d_lam;
    real d_mu;
    real d_sigma;
} tukey_lambda_logpdf_grad_lam_mu_sigma_results;

DEVICE tukey_lambda_logpdf_grad_lam_mu_sigma_results make_tukey_lambda_logpdf_grad_lam_mu_sigma_results(real value, real d_lam, real d_mu, real d_sigma)
{
    tukey_lambda_logpdf_grad_lam_mu_sigma_results results;
    results.value = value;
    results.d_lam = d_lam;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_lam;
    real d_mu;
    real d_sigma;
} tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results;

DEVICE tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results make_tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results(real value, real d_lam, real d_mu, real d_sigma)
{
    tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results results;
    results.value = value;
    results.d_lam = d_lam;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


DEVICE real special_atanh_remainder(real s)
{
    return 0.3333333333333332928 + s * (0.2000000000000729134 + s * (0.1428571428355437858 + s * (0.1111111135871393149 + s * (0.09090894718066429085 + s * (0.07692785032479311552 + s * (0.06657072104827468075 + s * (0.06000536404795356268 + s * (0.04400369243072336941 + s * 0.0808202280597176611))))))));
}

DEVICE real special_expm1_quotient(real a, real x)
{
    real u = a * x;
    real series = 1;
    if (!(fabs(u) < 0.5)) {
        return expm1(u) / a;
    }
    for (int k = 16; k > 1; k--) {
        series = 1 + u / k * series;
    }
    return x * series;
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE special_expm1_quotient_grad_a_x_results special_expm1_quotient_grad_a_x(real a, real x)
{
    real u = a * x;
    real d_a_series = 0;
    real d_x_series = 0;
    real series = 1;
    if (!(fabs(u) < 0.5)) {
        real t = expm1(u) / a;
        real t2 = exp(u);
        real t3 = 1 / a;
        return make_special_expm1_quotient_grad_a_x_results(t, (t2 * x - t) * t3, t2 * a * t3);
    }
    for (int k = 16; k > 1; k--) {
        real t4 = 1.0 / k;
        real t5 = u / k;
        d_a_series = series * (x * t4) + t5 * d_a_series;
        d_x_series = series * (a * t4) + t5 * d_x_series;
        series = 1 + t5 * series;
    }
    return make_special_expm1_quotient_grad_a_x_results(x * series, x * d_a_series, series + x * d_x_series);
}

DEVICE special_atanh_remainder_grad_s_results special_atanh_remainder_grad_s(real s)
{
    real t = 0.06000536404795356268 + s * (0.04400369243072336941 + s * 0.0808202280597176611);
    real t2 = 0.06657072104827468075 + s * t;
    real t3 = 0.07692785032479311552 + s * t2;
    real t4 = 0.09090894718066429085 + s * t3;
    real t5 = 0.1111111135871393149 + s * t4;
    real t6 = 0.1428571428355437858 + s * t5;
    real t7 = 0.2000000000000729134 + s * t6;
    return make_special_atanh_remainder_grad_s_results(0.3333333333333332928 + s * t7, t7 + s * (t6 + s * (t5 + s * (t4 + s * (t3 + s * (t2 + s * (t + s * (0.04400369243072336941 + s * 0.0808202280597176611 + s * 0.08082022805971766))))))));
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real special_weighted(real weight, real log_density)
{
    return weight == 0 && isinf(log_density) ? 0 : weight * log_density;
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

DEVICE real special_logaddexp(real a, real b)
{
    return a == b ? a + LOG_2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

// special_log1p_over: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real scale;
    real xi;
    int c0;
    real c1;
    real c2;
} special_log1p_over_mss_set;

DEVICE special_log1p_over_mss_set special_log1p_over_mss_prepare_set(real scale, real xi)
{
    special_log1p_over_mss_set set;
    set.scale = scale;
    set.xi = xi;
    set.c0 = xi == 0;
    set.c1 = log(fabs(xi));
    set.c2 = log(scale);
    return set;
}

// special_log1p_over: what depends on both, from what was computed ahead.
DEVICE real special_log1p_over_mss_evaluate(special_log1p_over_mss_set set, real d)
{
    real z = d / set.scale;
    real u = set.xi * z;
    real r = u / (2 + u);
    real s = r * r;
    if (s < 0.1111) {
        return z / (1 + 0.5 * u) * (1 + s * special_atanh_remainder(s));
    }
    if (!(fabs(u) < INFINITY)) {
        return set.c0 ? z : (set.c1 + log(fabs(d)) - set.c2) / set.xi;
    }
    return (u < 0 ? log(fma(set.xi, d, set.scale) / set.scale) : log1p(u)) / set.xi;
}

// special_log1p_quotient: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log1p_over_mss_set special_0;
} special_log1p_quotient_sm_set;

DEVICE special_log1p_quotient_sm_set special_log1p_quotient_sm_prepare_set(real a)
{
    special_log1p_quotient_sm_set set;
    set.special_0 = special_log1p_over_mss_prepare_set(1, a);
    return set;
}

// special_log1p_quotient: what depends on both, from what was computed ahead.
DEVICE real special_log1p_quotient_sm_evaluate(special_log1p_quotient_sm_set set, real x)
{
    return special_log1p_over_mss_evaluate(set.special_0, x);
}

// tukey_lambda_quantile: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lam;
} tukey_lambda_quantile_mms_set;

DEVICE tukey_lambda_quantile_mms_set tukey_lambda_quantile_mms_prepare_set(real lam)
{
    tukey_lambda_quantile_mms_set set;
    set.lam = lam;
    return set;
}

// tukey_lambda_quantile: what depends on both, from what was computed ahead.
DEVICE real tukey_lambda_quantile_mms_evaluate(tukey_lambda_quantile_mms_set set, real log_p, real log_q)
{
    return special_expm1_quotient(set.lam, log_p) - special_expm1_quotient(set.lam, log_q);
}

// special_log1p_over: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real scale;
    real c0;
} special_log1p_over_msm_set;

DEVICE special_log1p_over_msm_set special_log1p_over_msm_prepare_set(real scale)
{
    special_log1p_over_msm_set set;
    set.scale = scale;
    set.c0 = log(scale);
    return set;
}

// special_log1p_over: what depends on both, from what was computed ahead.
DEVICE real special_log1p_over_msm_evaluate(special_log1p_over_msm_set set, real d, real xi)
{
    real z = d / set.scale;
    real u = xi * z;
    real r = u / (2 + u);
    real s = r * r;
    if (s < 0.1111) {
        return z / (1 + 0.5 * u) * (1 + s * special_atanh_remainder(s));
    }
    if (!(fabs(u) < INFINITY)) {
        return xi == 0 ? z : (log(fabs(xi)) + log(fabs(d)) - set.c0) / xi;
    }
    return (u < 0 ? log(fma(xi, d, set.scale) / set.scale) : log1p(u)) / xi;
}

// special_log1p_quotient: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log1p_over_msm_set special_0;
} special_log1p_quotient_mm_set;

DEVICE special_log1p_quotient_mm_set special_log1p_quotient_mm_prepare_set()
{
    special_log1p_quotient_mm_set set;
    set.special_0 = special_log1p_over_msm_prepare_set(1);
    return set;
}

// special_log1p_quotient: what depends on both, from what was computed ahead.
DEVICE real special_log1p_quotient_mm_evaluate(special_log1p_quotient_mm_set set, real a, real x)
{
    return special_log1p_over_msm_evaluate(set.special_0, x, a);
}

// tukey_lambda_step: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lam;
    tukey_lambda_quantile_mms_set tukey_lambda_quantile_0;
    special_log1p_quotient_mm_set special_0;
    real c0;
} tukey_lambda_step_mms_set;

DEVICE tukey_lambda_step_mms_set tukey_lambda_step_mms_prepare_set(real lam)
{
    tukey_lambda_step_mms_set set;
    set.lam = lam;
    set.tukey_lambda_quantile_0 = tukey_lambda_quantile_mms_prepare_set(lam);
    set.special_0 = special_log1p_quotient_mm_prepare_set();
    set.c0 = lam - 1;
    return set;
}

// tukey_lambda_step: what depends on both, from what was computed ahead.
DEVICE real tukey_lambda_step_mms_evaluate(tukey_lambda_step_mms_set set, real log_p, real z)
{
    real log_q = special_log1mexp(log_p);
    real power = exp(set.lam * log_p);
    real rest = -expm1(set.lam * log_q);
    real now = tukey_lambda_quantile_mms_evaluate(set.tukey_lambda_quantile_0, log_p, log_q);
    real level = power + rest;
    real gap = z - now;
    real change = fabs(set.lam * gap) < 0.1 * level ? special_log1p_quotient_mm_evaluate(set.special_0, set.lam / level, gap) : level * log((1 + set.lam * z) / level) / set.lam;
    return log_p + change / (power + exp(log_p + set.c0 * log_q));
}

// tukey_lambda_start: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real lam;
    special_log1p_quotient_sm_set special_0;
    real c1;
    int c2;
    tukey_lambda_step_mms_set tukey_lambda_step_0;
} tukey_lambda_start_ms_set;

DEVICE tukey_lambda_start_ms_set tukey_lambda_start_ms_prepare_set(real lam)
{
    tukey_lambda_start_ms_set set;
    set.c0 = lam > 1;
    set.lam = lam;
    set.special_0 = special_log1p_quotient_sm_prepare_set(lam);
    set.c1 = exp2(lam - 1);
    set.c2 = lam < 0;
    set.tukey_lambda_step_0 = tukey_lambda_step_mms_prepare_set(lam);
    return set;
}

// tukey_lambda_start: what depends on both, from what was computed ahead.
DEVICE real tukey_lambda_start_ms_evaluate(tukey_lambda_start_ms_set set, real z)
{
    real bound = set.c0 ? special_log1mexp(log(-set.lam * z) / set.lam) : special_log1p_quotient_sm_evaluate(set.special_0, z);
    real log_p = fmin(bound, -LOG_2);
    real before = INFINITY;
    if (set.c2) {
        log_p = fmax(log_p - 0.8, z * set.c1 - LOG_2);
    }
    for (int i = 0; i < 100 && fabs(log_p - before) > (EPSILON < 1e-10 ? 1e-5 : 1e-2) * (1 + fabs(log_p)) && THREAD < 65536; i++) {
        before = log_p;
        log_p = fmin(tukey_lambda_step_mms_evaluate(set.tukey_lambda_step_0, log_p, z), -LOG_2);
    }
    return log_p;
}

// tukey_lambda_start_grad_z: what depends on both, from what was computed ahead.
DEVICE real tukey_lambda_start_grad_z_ms_evaluate()
{
    return 0;
}

// tukey_lambda_start_grad_lam: what depends on both, from what was computed ahead.
DEVICE real tukey_lambda_start_grad_lam_ms_evaluate()
{
    return 0;
}

// tukey_lambda_start_grad_z_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    tukey_lambda_start_ms_set tukey_lambda_start_0;
} tukey_lambda_start_grad_z_lam_ms_set;

DEVICE tukey_lambda_start_grad_z_lam_ms_set tukey_lambda_start_grad_z_lam_ms_prepare_set(real lam)
{
    tukey_lambda_start_grad_z_lam_ms_set set;
    set.tukey_lambda_start_0 = tukey_lambda_start_ms_prepare_set(lam);
    return set;
}

// tukey_lambda_start_grad_z_lam: what depends on both, from what was computed ahead.
DEVICE tukey_lambda_start_grad_z_lam_results tukey_lambda_start_grad_z_lam_ms_evaluate(tukey_lambda_start_grad_z_lam_ms_set set, real z)
{
    return make_tukey_lambda_start_grad_z_lam_results(tukey_lambda_start_ms_evaluate(set.tukey_lambda_start_0, z), tukey_lambda_start_grad_z_ms_evaluate(), tukey_lambda_start_grad_lam_ms_evaluate());
}

// tukey_lambda_quantile_grad_log_p_log_q_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lam;
} tukey_lambda_quantile_grad_log_p_log_q_lam_mms_set;

DEVICE tukey_lambda_quantile_grad_log_p_log_q_lam_mms_set tukey_lambda_quantile_grad_log_p_log_q_lam_mms_prepare_set(real lam)
{
    tukey_lambda_quantile_grad_log_p_log_q_lam_mms_set set;
    set.lam = lam;
    return set;
}

// tukey_lambda_quantile_grad_log_p_log_q_lam: what depends on both, from what was computed ahead.
DEVICE tukey_lambda_quantile_grad_log_p_log_q_lam_results tukey_lambda_quantile_grad_log_p_log_q_lam_mms_evaluate(tukey_lambda_quantile_grad_log_p_log_q_lam_mms_set set, real log_p, real log_q)
{
    special_expm1_quotient_grad_a_x_results call = special_expm1_quotient_grad_a_x(set.lam, log_p);
    special_expm1_quotient_grad_a_x_results call2 = special_expm1_quotient_grad_a_x(set.lam, log_q);
    return make_tukey_lambda_quantile_grad_log_p_log_q_lam_results(call.value - call2.value, call.d_x, -call2.d_x, call.d_a - call2.d_a);
}

// special_log1p_over_grad_d_xi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real scale;
    real d_d_z;
    real c0;
    real t12;
} special_log1p_over_grad_d_xi_msm_set;

DEVICE special_log1p_over_grad_d_xi_msm_set special_log1p_over_grad_d_xi_msm_prepare_set(real scale)
{
    special_log1p_over_grad_d_xi_msm_set set;
    real d_d_z = 1 / scale;
    real t12 = 1 / scale;
    set.scale = scale;
    set.d_d_z = d_d_z;
    set.c0 = log(scale);
    set.t12 = t12;
    return set;
}

// special_log1p_over_grad_d_xi: what depends on both, from what was computed ahead.
DEVICE special_log1p_over_grad_d_xi_results special_log1p_over_grad_d_xi_msm_evaluate(special_log1p_over_grad_d_xi_msm_set set, real d, real xi)
{
    real z = d / set.scale;
    real d_d_u = xi * set.d_d_z;
    real u = xi * z;
    real t = u / (2 + u);
    real t2 = 1 / (2 + u);
    real d_d_r = (d_d_u - t * d_d_u) * t2;
    real d_xi_r = (z - t * z) * t2;
    real r = t;
    real d_d_s = 2 * r * d_d_r;
    real d_xi_s = 2 * r * d_xi_r;
    real s = r * r;
    if (s < 0.1111) {
        special_atanh_remainder_grad_s_results call = special_atanh_remainder_grad_s(s);
        real t3 = z / (1 + 0.5 * u);
        real t4 = 1 / (1 + 0.5 * u);
        return make_special_log1p_over_grad_d_xi_results(t3 * (1 + s * call.value), (1 + s * call.value) * ((set.d_d_z - t3 * (0.5 * d_d_u)) * t4) + t3 * (call.value * d_d_s + s * (call.d_s * d_d_s)), t3 * (call.value * d_xi_s + s * (call.d_s * d_xi_s)) - t3 * (0.5 * z) * t4 * (1 + s * call.value));
    }
    if (!(fabs(u) < INFINITY)) {
        real t5 = fabs(xi);
        real t6 = fabs(d);
        real t7 = (log(t5) + log(t6) - set.c0) / xi;
        real t8 = 1 / xi;
        return make_special_log1p_over_grad_d_xi_results(xi == 0 ? z : t7, xi == 0 ? set.d_d_z : special_log_slope(t6) * (d > 0 ? 1 : d < 0 ? -1 : 0) * t8, xi == 0 ? 0 : (special_log_slope(t5) * (xi > 0 ? 1 : xi < 0 ? -1 : 0) - t7) * t8);
    }
    real t9 = fma(xi, d, set.scale) / set.scale;
    real t10 = (u < 0 ? log(t9) : log1p(u)) / xi;
    real t11 = special_log_slope(t9);
    real t13 = 1 / (1 + u);
    real t14 = 1 / xi;
    return make_special_log1p_over_grad_d_xi_results(t10, (u < 0 ? t11 * (xi * set.t12) : t13 * d_d_u) * t14, ((u < 0 ? t11 * (d * set.t12) : t13 * z) - t10) * t14);
}

// special_log1p_quotient_grad_a_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log1p_over_grad_d_xi_msm_set special_0;
} special_log1p_quotient_grad_a_x_mm_set;

DEVICE special_log1p_quotient_grad_a_x_mm_set special_log1p_quotient_grad_a_x_mm_prepare_set()
{
    special_log1p_quotient_grad_a_x_mm_set set;
    set.special_0 = special_log1p_over_grad_d_xi_msm_prepare_set(1);
    return set;
}

// special_log1p_quotient_grad_a_x: what depends on both, from what was computed ahead.
DEVICE special_log1p_quotient_grad_a_x_results special_log1p_quotient_grad_a_x_mm_evaluate(special_log1p_quotient_grad_a_x_mm_set set, real a, real x)
{
    special_log1p_over_grad_d_xi_results call = special_log1p_over_grad_d_xi_msm_evaluate(set.special_0, x, a);
    return make_special_log1p_quotient_grad_a_x_results(call.value, call.d_xi, call.d_d);
}

// tukey_lambda_step_grad_log_p_z_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lam;
    tukey_lambda_quantile_grad_log_p_log_q_lam_mms_set tukey_lambda_quantile_grad_0;
    special_log1p_quotient_grad_a_x_mm_set special_0;
    real t10;
    real c0;
} tukey_lambda_step_grad_log_p_z_lam_mms_set;

DEVICE tukey_lambda_step_grad_log_p_z_lam_mms_set tukey_lambda_step_grad_log_p_z_lam_mms_prepare_set(real lam)
{
    tukey_lambda_step_grad_log_p_z_lam_mms_set set;
    set.lam = lam;
    set.tukey_lambda_quantile_grad_0 = tukey_lambda_quantile_grad_log_p_log_q_lam_mms_prepare_set(lam);
    set.special_0 = special_log1p_quotient_grad_a_x_mm_prepare_set();
    real t10 = 1 / lam;
    set.t10 = t10;
    set.c0 = lam - 1;
    return set;
}

// tukey_lambda_step_grad_log_p_z_lam: what depends on both, from what was computed ahead.
DEVICE tukey_lambda_step_grad_log_p_z_lam_results tukey_lambda_step_grad_log_p_z_lam_mms_evaluate(tukey_lambda_step_grad_log_p_z_lam_mms_set set, real log_p, real z)
{
    real d_log_p_log_q = log_p < -50 ? -exp(log_p) : -(1 / expm1(-log_p));
    real log_q = special_log1mexp(log_p);
    real t = exp(set.lam * log_p);
    real d_log_p_power = t * set.lam;
    real d_lam_power = t * log_p;
    real power = t;
    real t2 = exp(set.lam * log_q);
    real d_log_p_rest = -(t2 * (set.lam * d_log_p_log_q));
    real d_lam_rest = -(t2 * log_q);
    real rest = -expm1(set.lam * log_q);
    tukey_lambda_quantile_grad_log_p_log_q_lam_results call = tukey_lambda_quantile_grad_log_p_log_q_lam_mms_evaluate(set.tukey_lambda_quantile_grad_0, log_p, log_q);
    real d_log_p_now = call.d_log_p + call.d_log_q * d_log_p_log_q;
    real d_lam_now = call.d_lam;
    real now = call.value;
    real d_log_p_level = d_log_p_power + d_log_p_rest;
    real d_lam_level = d_lam_power + d_lam_rest;
    real level = power + rest;
    real gap = z - now;
    real either;
    real d_log_p_either;
    real d_z_either;
    real d_lam_either;
    if (fabs(set.lam * gap) < 0.1 * level) {
        real t3 = set.lam / level;
        real t4 = 1 / level;
        real d_log_p_a = -(t3 * d_log_p_level * t4);
        real d_lam_a = (1 - t3 * d_lam_level) * t4;
        special_log1p_quotient_grad_a_x_results call2 = special_log1p_quotient_grad_a_x_mm_evaluate(set.special_0, t3, gap);
        either = call2.value;
        d_log_p_either = call2.d_a * d_log_p_a - d_log_p_now * call2.d_x;
        d_z_either = call2.d_x;
        d_lam_either = call2.d_a * d_lam_a - d_lam_now * call2.d_x;
    } else {
        real t5 = (1 + set.lam * z) / level;
        real t6 = log(t5);
        real t7 = level * t6 / set.lam;
        real t8 = 1 / level;
        real t9 = special_log_slope(t5);
        either = t7;
        d_log_p_either = (t6 * d_log_p_level - t5 * d_log_p_level * t8 * t9 * level) * set.t10;
        d_z_either = level * (t9 * (set.lam * t8)) * set.t10;
        d_lam_either = (t6 * d_lam_level + level * (t9 * ((z - t5 * d_lam_level) * t8)) - t7) * set.t10;
    }
    real d_log_p_change = d_log_p_either;
    real d_z_change = d_z_either;
    real d_lam_change = d_lam_either;
    real change = either;
    real t11 = exp(log_p + set.c0 * log_q);
    real t12 = power + t11;
    real t13 = change / t12;
    real t14 = 1 / t12;
    return make_tukey_lambda_step_grad_log_p_z_lam_results(log_p + t13, 1 + (d_log_p_change - t13 * (d_log_p_power + t11 * (1 + set.c0 * d_log_p_log_q))) * t14, d_z_change * t14, (d_lam_change - t13 * (d_lam_power + t11 * log_q)) * t14);
}

// tukey_lambda_log_tail_grad_z_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lam;
    tukey_lambda_start_grad_z_lam_ms_set tukey_lambda_start_grad_z_lam_0;
    tukey_lambda_step_grad_log_p_z_lam_mms_set tukey_lambda_step_grad_0;
} tukey_lambda_log_tail_grad_z_lam_ms_set;

DEVICE tukey_lambda_log_tail_grad_z_lam_ms_set tukey_lambda_log_tail_grad_z_lam_ms_prepare_set(real lam)
{
    tukey_lambda_log_tail_grad_z_lam_ms_set set;
    set.lam = lam;
    set.tukey_lambda_start_grad_z_lam_0 = tukey_lambda_start_grad_z_lam_ms_prepare_set(lam);
    set.tukey_lambda_step_grad_0 = tukey_lambda_step_grad_log_p_z_lam_mms_prepare_set(lam);
    return set;
}

// tukey_lambda_log_tail_grad_z_lam: what depends on both, from what was computed ahead.
DEVICE tukey_lambda_log_tail_grad_z_lam_results tukey_lambda_log_tail_grad_z_lam_ms_evaluate(tukey_lambda_log_tail_grad_z_lam_ms_set set, real z)
{
    if (set.lam * z <= -1) {
        return make_tukey_lambda_log_tail_grad_z_lam_results(-INFINITY, 0, 0);
    }
    tukey_lambda_start_grad_z_lam_results call = tukey_lambda_start_grad_z_lam_ms_evaluate(set.tukey_lambda_start_grad_z_lam_0, z);
    real d_z_log_p = call.d_z;
    real d_lam_log_p = call.d_lam;
    real log_p = call.value;
    for (int i = 0; i < 2; i++) {
        real d_z_log_p2 = d_z_log_p;
        real d_lam_log_p2 = d_lam_log_p;
        tukey_lambda_step_grad_log_p_z_lam_results call2 = tukey_lambda_step_grad_log_p_z_lam_mms_evaluate(set.tukey_lambda_step_grad_0, log_p, z);
        d_z_log_p = call2.d_log_p * d_z_log_p2 + call2.d_z;
        d_lam_log_p = call2.d_log_p * d_lam_log_p2 + call2.d_lam;
        log_p = call2.value;
    }
    return make_tukey_lambda_log_tail_grad_z_lam_results(fmin(log_p, -LOG_2), log_p <= -LOG_2 || -LOG_2 != -LOG_2 ? d_z_log_p : 0, log_p <= -LOG_2 || -LOG_2 != -LOG_2 ? d_lam_log_p : 0);
}

// tukey_lambda_logpdf_grad_lam_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu;
    real t;
    real c0;
    tukey_lambda_log_tail_grad_z_lam_ms_set tukey_lambda_0;
    real lam;
    real c1;
    real c2;
    int c3;
    real c4;
} tukey_lambda_logpdf_grad_lam_mu_sigma_set;

DEVICE tukey_lambda_logpdf_grad_lam_mu_sigma_set tukey_lambda_logpdf_grad_lam_mu_sigma_prepare_set(real lam, real mu, real sigma)
{
    tukey_lambda_logpdf_grad_lam_mu_sigma_set set;
    real t = 1 / sigma;
    set.mu = mu;
    set.t = t;
    set.c0 = t * t;
    set.tukey_lambda_0 = tukey_lambda_log_tail_grad_z_lam_ms_prepare_set(lam);
    set.lam = lam;
    set.c1 = lam - 1;
    set.c2 = -log(sigma);
    set.c3 = lam - 1 == 0;
    set.c4 = -special_log_slope(sigma);
    return set;
}

// tukey_lambda_logpdf_grad_lam_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} tukey_lambda_logpdf_grad_lam_mu_sigma_row;

DEVICE tukey_lambda_logpdf_grad_lam_mu_sigma_row tukey_lambda_logpdf_grad_lam_mu_sigma_prepare_row(real x)
{
    tukey_lambda_logpdf_grad_lam_mu_sigma_row row;
    row.x = x;
    return row;
}

// tukey_lambda_logpdf_grad_lam_mu_sigma: what depends on both, from what was computed ahead.
DEVICE tukey_lambda_logpdf_grad_lam_mu_sigma_results tukey_lambda_logpdf_grad_lam_mu_sigma_evaluate(tukey_lambda_logpdf_grad_lam_mu_sigma_set set, tukey_lambda_logpdf_grad_lam_mu_sigma_row row)
{
    real t2 = fabs(row.x - set.mu);
    real d_mu_distance = set.t * (row.x - set.mu > 0 ? -1 : row.x - set.mu < 0 ? 1 : 0);
    real d_sigma_distance = -(set.c0 * t2);
    real distance = t2 * set.t;
    tukey_lambda_log_tail_grad_z_lam_results call = tukey_lambda_log_tail_grad_z_lam_ms_evaluate(set.tukey_lambda_0, -distance);
    real d_lam_log_p = call.d_lam;
    real d_mu_log_p = -(d_mu_distance * call.d_z);
    real d_sigma_log_p = -(d_sigma_distance * call.d_z);
    real log_p = call.value;
    if (isinf(distance) || set.lam * distance > 1) {
        return make_tukey_lambda_logpdf_grad_lam_mu_sigma_results(-INFINITY, 0, 0, 0);
    }
    real t3 = special_weighted(set.c1, log_p);
    real t4 = special_log1mexp(log_p);
    real t5 = set.c1 * t4;
    real t6 = special_expit(t3 - t5);
    real t7 = special_expit(t5 - t3);
    real t8 = log_p < -50 ? -exp(log_p) : -(1 / expm1(-log_p));
    return make_tukey_lambda_logpdf_grad_lam_mu_sigma_results(set.c2 - special_logaddexp(t3, t5), -((t3 == -INFINITY ? 0 : t6 * (set.c3 && isinf(log_p) ? 0 : set.c1 * d_lam_log_p + log_p)) + (t5 == -INFINITY ? 0 : t7 * (t4 + set.c1 * (t8 * d_lam_log_p)))), -((t3 == -INFINITY ? 0 : t6 * (set.c3 && isinf(log_p) ? 0 : set.c1 * d_mu_log_p)) + (t5 == -INFINITY ? 0 : t7 * (set.c1 * (t8 * d_mu_log_p)))), set.c4 - ((t3 == -INFINITY ? 0 : t6 * (set.c3 && isinf(log_p) ? 0 : set.c1 * d_sigma_log_p)) + (t5 == -INFINITY ? 0 : t7 * (set.c1 * (t8 * d_sigma_log_p)))));
}

// tukey_lambda_logpdf_checked_grad_lam_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    tukey_lambda_logpdf_grad_lam_mu_sigma_set tukey_lambda_0;
    real c0;
} tukey_lambda_logpdf_checked_grad_lam_mu_sigma_set;

DEVICE tukey_lambda_logpdf_checked_grad_lam_mu_sigma_set tukey_lambda_logpdf_checked_grad_lam_mu_sigma_prepare_set(real lam, real mu, real sigma)
{
    tukey_lambda_logpdf_checked_grad_lam_mu_sigma_set set;
    real bad_lam = lam == lam ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.tukey_lambda_0 = tukey_lambda_logpdf_grad_lam_mu_sigma_prepare_set(lam, mu, sigma);
    set.c0 = bad_lam + bad_mu + bad_sigma;
    return set;
}

// tukey_lambda_logpdf_checked_grad_lam_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    tukey_lambda_logpdf_grad_lam_mu_sigma_row tukey_lambda_0;
    int inside;
    real outside;
    real t;
} tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row;

DEVICE tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row tukey_lambda_logpdf_checked_grad_lam_mu_sigma_prepare_row(real x)
{
    tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.tukey_lambda_0 = tukey_lambda_logpdf_grad_lam_mu_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// tukey_lambda_logpdf_checked_grad_lam_mu_sigma: what depends on both, from what was computed ahead.
DEVICE tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results tukey_lambda_logpdf_checked_grad_lam_mu_sigma_evaluate(tukey_lambda_logpdf_checked_grad_lam_mu_sigma_set set, tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row row)
{
    tukey_lambda_logpdf_grad_lam_mu_sigma_results call = tukey_lambda_logpdf_grad_lam_mu_sigma_evaluate(set.tukey_lambda_0, row.tukey_lambda_0);
    real d_lam_value = call.d_lam;
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_lam_value : row.t) + set.c0, (row.inside ? d_mu_value : row.t) + set.c0, (row.inside ? d_sigma_value : row.t) + set.c0);
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
    for (int first = 0; first < sets_here * 4; first += 16) {
        const int sums_here = (int)MIN(sets_here * 4 - first, 16);
        for (int s = 0; s < 16; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 4 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 4 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_lam, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) tukey_lambda_logpdf_checked_grad_lam_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    lam_per_set += lam_offset;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(tukey_lambda_logpdf_checked_grad_lam_mu_sigma_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_prepare_set(lam_per_set[(first_set + MIN(k, sets_here - 1)) * lam_stride], mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row row = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results result = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_lam;
                        total[k * 4 + 2] += result.d_mu;
                        total[k * 4 + 3] += result.d_sigma;
                    }
                }
                {
                    const tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row row = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results result = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_lam;
                        total[k * 4 + 2] += result.d_mu;
                        total[k * 4 + 3] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const tukey_lambda_logpdf_checked_grad_lam_mu_sigma_row row = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const tukey_lambda_logpdf_checked_grad_lam_mu_sigma_results result = tukey_lambda_logpdf_checked_grad_lam_mu_sigma_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_lam;
                        total[k * 4 + 2] += result.d_mu;
                        total[k * 4 + 3] += result.d_sigma;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 4 : partial + first_set * 4 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 16; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 4 - 0, 16); s += 128)
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










