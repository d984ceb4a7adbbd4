// The gradient kernel of kappa4, made by `gpustats generate`. Do not edit.
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
    real d_h;
    real d_k;
    real d_mu;
    real d_sigma;
} kappa4_lower_grad_h_k_mu_sigma_results;

DEVICE kappa4_lower_grad_h_k_mu_sigma_results make_kappa4_lower_grad_h_k_mu_sigma_results(real value, real d_h, real d_k, real d_mu, real d_sigma)
{
    kappa4_lower_grad_h_k_mu_sigma_results results;
    results.value = value;
    results.d_h = d_h;
    results.d_k = d_k;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
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
    real d_z;
    real d_k;
} kappa4_exponent_grad_z_k_results;

DEVICE kappa4_exponent_grad_z_k_results make_kappa4_exponent_grad_z_k_results(real value, real d_z, real d_k)
{
    kappa4_exponent_grad_z_k_results results;
    results.value = value;
    results.d_z = d_z;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_w;
    real d_h;
} kappa4_minus_log_cdf_grad_w_h_results;

DEVICE kappa4_minus_log_cdf_grad_w_h_results make_kappa4_minus_log_cdf_grad_w_h_results(real value, real d_w, real d_h)
{
    kappa4_minus_log_cdf_grad_w_h_results results;
    results.value = value;
    results.d_w = d_w;
    results.d_h = d_h;
    return results;
}


typedef struct {
    real value;
    real d_w;
    real d_h;
    real d_k;
    real d_mu;
    real d_sigma;
} kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results;

DEVICE kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results make_kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results(real value, real d_w, real d_h, real d_k, real d_mu, real d_sigma)
{
    kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results results;
    results.value = value;
    results.d_w = d_w;
    results.d_h = d_h;
    results.d_k = d_k;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_h;
    real d_k;
    real d_mu;
    real d_sigma;
} kappa4_logpdf_grad_h_k_mu_sigma_results;

DEVICE kappa4_logpdf_grad_h_k_mu_sigma_results make_kappa4_logpdf_grad_h_k_mu_sigma_results(real value, real d_h, real d_k, real d_mu, real d_sigma)
{
    kappa4_logpdf_grad_h_k_mu_sigma_results results;
    results.value = value;
    results.d_h = d_h;
    results.d_k = d_k;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_h;
    real d_k;
    real d_mu;
    real d_sigma;
} kappa4_logpdf_checked_grad_h_k_mu_sigma_results;

DEVICE kappa4_logpdf_checked_grad_h_k_mu_sigma_results make_kappa4_logpdf_checked_grad_h_k_mu_sigma_results(real value, real d_h, real d_k, real d_mu, real d_sigma)
{
    kappa4_logpdf_checked_grad_h_k_mu_sigma_results results;
    results.value = value;
    results.d_h = d_h;
    results.d_k = d_k;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
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

DEVICE real special_log1p_unit(real e)
{
    real s = quotient(e, 2 + e);
    real z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

DEVICE real special_log1pexp(real x)
{
    return fmax(x, (real)0) + special_log1p_unit(exp(-fabs(x)));
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
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

DEVICE kappa4_lower_grad_h_k_mu_sigma_results kappa4_lower_grad_h_k_mu_sigma(real h, real k, real mu, real sigma)
{
    real either;
    real d_h_either;
    real d_k_either;
    real d_mu_either;
    real d_sigma_either;
    if (h > 0) {
        real d_h_x = special_log_slope(h);
        special_expm1_quotient_grad_a_x_results call = special_expm1_quotient_grad_a_x(-k, log(h));
        either = mu + sigma * call.value;
        d_h_either = sigma * (call.d_x * d_h_x);
        d_k_either = -(call.d_a * sigma);
        d_mu_either = 1;
        d_sigma_either = call.value;
    } else {
        real t = sigma / k;
        real t2 = 1 / k;
        either = k < 0 ? mu + t : -INFINITY;
        d_h_either = 0;
        d_k_either = k < 0 ? -(t * t2) : 0;
        d_mu_either = k < 0 ? 1 : 0;
        d_sigma_either = k < 0 ? t2 : 0;
    }
    return make_kappa4_lower_grad_h_k_mu_sigma_results(either, d_h_either, d_k_either, d_mu_either, d_sigma_either);
}

DEVICE real special_weighted(real weight, real log_density)
{
    return weight == 0 && isinf(log_density) ? 0 : weight * log_density;
}

// special_log1p_over_grad_d_xi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real scale;
    real xi;
    real d_d_u;
    real d_d_z;
    real c0;
    real c1;
    real c2;
    int c3;
    real t8;
    real c4;
    real c5;
    real t14;
    real t12;
} special_log1p_over_grad_d_xi_mss_set;

DEVICE special_log1p_over_grad_d_xi_mss_set special_log1p_over_grad_d_xi_mss_prepare_set(real scale, real xi)
{
    special_log1p_over_grad_d_xi_mss_set set;
    real d_d_z = 1 / scale;
    real d_d_u = xi * d_d_z;
    real t12 = 1 / scale;
    real t14 = 1 / xi;
    set.scale = scale;
    set.xi = xi;
    set.d_d_u = d_d_u;
    set.d_d_z = d_d_z;
    set.c0 = 0.5 * d_d_u;
    real t5 = fabs(xi);
    set.c1 = log(t5);
    set.c2 = log(scale);
    real t8 = 1 / xi;
    set.c3 = xi == 0;
    set.t8 = t8;
    set.c4 = special_log_slope(t5) * (xi > 0 ? 1 : xi < 0 ? -1 : 0);
    set.c5 = xi * t12;
    set.t14 = t14;
    set.t12 = t12;
    return set;
}

// special_log1p_over_grad_d_xi: what depends on both, from what was computed ahead.
DEVICE special_log1p_over_grad_d_xi_results special_log1p_over_grad_d_xi_mss_evaluate(special_log1p_over_grad_d_xi_mss_set set, real d)
{
    real z = d / set.scale;
    real u = set.xi * z;
    real t = u / (2 + u);
    real t2 = 1 / (2 + u);
    real d_d_r = (set.d_d_u - t * set.d_d_u) * t2;
    real d_xi_r = (z - t * z) * t2;
    real r = t;
    real d_d_s = 2 * r * d_d_r;
    real d_xi_s = 2 * r * d_xi_r;
    real s = r * r;
    if (s < 0.1111) {
        special_atanh_remainder_grad_s_results call = special_atanh_remainder_grad_s(s);
        real t3 = z / (1 + 0.5 * u);
        real t4 = 1 / (1 + 0.5 * u);
        return make_special_log1p_over_grad_d_xi_results(t3 * (1 + s * call.value), (1 + s * call.value) * ((set.d_d_z - t3 * set.c0) * t4) + t3 * (call.value * d_d_s + s * (call.d_s * d_d_s)), t3 * (call.value * d_xi_s + s * (call.d_s * d_xi_s)) - t3 * (0.5 * z) * t4 * (1 + s * call.value));
    }
    if (!(fabs(u) < INFINITY)) {
        real t6 = fabs(d);
        real t7 = (set.c1 + log(t6) - set.c2) / set.xi;
        return make_special_log1p_over_grad_d_xi_results(set.c3 ? z : t7, set.c3 ? set.d_d_z : special_log_slope(t6) * (d > 0 ? 1 : d < 0 ? -1 : 0) * set.t8, set.c3 ? 0 : (set.c4 - t7) * set.t8);
    }
    real t9 = fma(set.xi, d, set.scale) / set.scale;
    real t10 = (u < 0 ? log(t9) : log1p(u)) / set.xi;
    real t11 = special_log_slope(t9);
    real t13 = 1 / (1 + u);
    return make_special_log1p_over_grad_d_xi_results(t10, (u < 0 ? t11 * set.c5 : t13 * set.d_d_u) * set.t14, ((u < 0 ? t11 * (d * set.t12) : t13 * z) - t10) * set.t14);
}

// special_log1p_quotient_grad_a_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log1p_over_grad_d_xi_mss_set special_0;
} special_log1p_quotient_grad_a_x_sm_set;

DEVICE special_log1p_quotient_grad_a_x_sm_set special_log1p_quotient_grad_a_x_sm_prepare_set(real a)
{
    special_log1p_quotient_grad_a_x_sm_set set;
    set.special_0 = special_log1p_over_grad_d_xi_mss_prepare_set(1, a);
    return set;
}

// special_log1p_quotient_grad_a_x: what depends on both, from what was computed ahead.
DEVICE special_log1p_quotient_grad_a_x_results special_log1p_quotient_grad_a_x_sm_evaluate(special_log1p_quotient_grad_a_x_sm_set set, real x)
{
    special_log1p_over_grad_d_xi_results call = special_log1p_over_grad_d_xi_mss_evaluate(set.special_0, x);
    return make_special_log1p_quotient_grad_a_x_results(call.value, call.d_xi, call.d_d);
}

// kappa4_exponent_grad_z_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    special_log1p_quotient_grad_a_x_sm_set special_0;
    int c1;
    real k;
} kappa4_exponent_grad_z_k_ms_set;

DEVICE kappa4_exponent_grad_z_k_ms_set kappa4_exponent_grad_z_k_ms_prepare_set(real k)
{
    kappa4_exponent_grad_z_k_ms_set set;
    set.c0 = k > 0 ? INFINITY : -INFINITY;
    set.special_0 = special_log1p_quotient_grad_a_x_sm_prepare_set(-k);
    set.c1 = k == 0;
    set.k = k;
    return set;
}

// kappa4_exponent_grad_z_k: what depends on both, from what was computed ahead.
DEVICE kappa4_exponent_grad_z_k_results kappa4_exponent_grad_z_k_ms_evaluate(kappa4_exponent_grad_z_k_ms_set set, real z)
{
    real either2;
    real d_z_either2;
    real d_k_either2;
    if (set.k * z >= 1) {
        either2 = set.c0;
        d_z_either2 = 0;
        d_k_either2 = 0;
    } else {
        real either;
        real d_z_either;
        real d_k_either;
        if (set.c1 && isinf(z)) {
            either = z;
            d_z_either = 1;
            d_k_either = 0;
        } else {
            special_log1p_quotient_grad_a_x_results call = special_log1p_quotient_grad_a_x_sm_evaluate(set.special_0, z);
            either = call.value;
            d_z_either = call.d_x;
            d_k_either = -call.d_a;
        }
        either2 = either;
        d_z_either2 = d_z_either;
        d_k_either2 = d_k_either;
    }
    return make_kappa4_exponent_grad_z_k_results(either2, d_z_either2, d_k_either2);
}

// kappa4_minus_log_cdf_grad_w_h: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real h;
    real t5;
    real c1;
    int c2;
    special_log1p_quotient_grad_a_x_sm_set special_0;
} kappa4_minus_log_cdf_grad_w_h_ms_set;

DEVICE kappa4_minus_log_cdf_grad_w_h_ms_set kappa4_minus_log_cdf_grad_w_h_ms_prepare_set(real h)
{
    kappa4_minus_log_cdf_grad_w_h_ms_set set;
    set.c0 = log(-h);
    set.h = h;
    real t5 = 1 / -h;
    set.t5 = t5;
    set.c1 = special_log_slope(-h);
    set.c2 = h < 0;
    set.special_0 = special_log1p_quotient_grad_a_x_sm_prepare_set(-h);
    return set;
}

// kappa4_minus_log_cdf_grad_w_h: what depends on both, from what was computed ahead.
DEVICE kappa4_minus_log_cdf_grad_w_h_results kappa4_minus_log_cdf_grad_w_h_ms_evaluate(kappa4_minus_log_cdf_grad_w_h_ms_set set, real w)
{
    if (set.c2 && w < 0) {
        real t2 = set.c0 - w;
        real t3 = special_log1pexp(t2) / -set.h;
        real t4 = special_expit(t2);
        return make_kappa4_minus_log_cdf_grad_w_h_results(t3, isinf(w) ? 0 : (t2 == -INFINITY ? 0 : -t4) * set.t5, isinf(w) ? 0 : ((t2 == -INFINITY ? 0 : -(set.c1 * t4)) + t3) * set.t5);
    }
    real t6 = exp(-w);
    real t = t6;
    real either;
    real d_w_either;
    real d_h_either;
    if (set.h * t >= 1) {
        either = INFINITY;
        d_w_either = 0;
        d_h_either = 0;
    } else {
        special_log1p_quotient_grad_a_x_results call = special_log1p_quotient_grad_a_x_sm_evaluate(set.special_0, t);
        either = call.value;
        d_w_either = -(t6 * call.d_x);
        d_h_either = -call.d_a;
    }
    return make_kappa4_minus_log_cdf_grad_w_h_results(either, isinf(w) ? 0 : d_w_either, isinf(w) ? 0 : d_h_either);
}

// kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real d_h_stretch;
    real c1;
    real d_k_stretch;
    real c2;
    real d_sigma_stretch;
    real c3;
    kappa4_exponent_grad_z_k_ms_set kappa4_exponent_grad_z_k_0;
    real stretch;
    real h;
    real t7;
    real d_mu_z;
    int c4;
    int c5;
    kappa4_minus_log_cdf_grad_w_h_ms_set kappa4_minus_0;
} kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_set;

DEVICE kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_set kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_prepare_set(real h, real k, real mu, real sigma)
{
    kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_set set;
    kappa4_lower_grad_h_k_mu_sigma_results call = kappa4_lower_grad_h_k_mu_sigma(h, k, mu, sigma);
    real d_h_distance = -call.d_h;
    real d_k_distance = -call.d_k;
    real d_mu_distance = -call.d_mu;
    real d_sigma_distance = -call.d_sigma;
    real t = log(h);
    real t2 = exp(k * t);
    real t3 = 1 / sigma;
    real t4 = t2 / sigma;
    real d_h_stretch = t2 * (k * special_log_slope(h)) * t3;
    real d_k_stretch = t2 * t * t3;
    real d_sigma_stretch = -(t4 * t3);
    real stretch = t4;
    set.c0 = call.value;
    set.d_h_stretch = d_h_stretch;
    set.c1 = stretch * d_h_distance;
    set.d_k_stretch = d_k_stretch;
    set.c2 = stretch * d_k_distance;
    real d_mu_z = stretch * d_mu_distance;
    set.d_sigma_stretch = d_sigma_stretch;
    set.c3 = stretch * d_sigma_distance;
    set.kappa4_exponent_grad_z_k_0 = kappa4_exponent_grad_z_k_ms_prepare_set(k);
    set.stretch = stretch;
    set.h = h;
    real t7 = 1 / -h;
    set.t7 = t7;
    set.d_mu_z = d_mu_z;
    set.c4 = h > 0;
    set.c5 = stretch < INFINITY;
    set.kappa4_minus_0 = kappa4_minus_log_cdf_grad_w_h_ms_prepare_set(h);
    return set;
}

// kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_row;

DEVICE kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_row kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_prepare_row(real x)
{
    kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_row row;
    row.x = x;
    return row;
}

// kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma: what depends on both, from what was computed ahead.
DEVICE kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_evaluate(kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_set set, kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_row row, real w)
{
    real distance = row.x - set.c0;
    if (set.c4 && set.h * exp(-w) > 0.5 && distance > 0 && set.c5) {
        real d_h_z = distance * set.d_h_stretch + set.c1;
        real d_k_z = distance * set.d_k_stretch + set.c2;
        real d_sigma_z = distance * set.d_sigma_stretch + set.c3;
        kappa4_exponent_grad_z_k_results call2 = kappa4_exponent_grad_z_k_ms_evaluate(set.kappa4_exponent_grad_z_k_0, set.stretch * distance);
        real t5 = special_log1mexp(-call2.value) / -set.h;
        real t6 = -call2.value < -50 ? -exp(-call2.value) : -(1 / expm1(call2.value));
        return make_kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results(t5, 0, (t5 - call2.d_z * d_h_z * t6) * set.t7, -((call2.d_z * d_k_z + call2.d_k) * t6 * set.t7), -(call2.d_z * set.d_mu_z * t6 * set.t7), -(call2.d_z * d_sigma_z * t6 * set.t7));
    }
    kappa4_minus_log_cdf_grad_w_h_results call3 = kappa4_minus_log_cdf_grad_w_h_ms_evaluate(set.kappa4_minus_0, w);
    return make_kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results(call3.value, call3.d_w, call3.d_h, 0, 0, 0);
}

// kappa4_logpdf_grad_h_k_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real mu;
    real t;
    kappa4_exponent_grad_z_k_ms_set kappa4_exponent_grad_z_k_0;
    kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_set kappa4_minus_0;
    real k;
    real h;
    kappa4_logpdf_grad_h_k_mu_sigma_results c1;
    real c2;
    real c3;
    real c4;
    int c5;
    int c6;
    real c7;
} kappa4_logpdf_grad_h_k_mu_sigma_set;

DEVICE kappa4_logpdf_grad_h_k_mu_sigma_set kappa4_logpdf_grad_h_k_mu_sigma_prepare_set(real h, real k, real mu, real sigma)
{
    kappa4_logpdf_grad_h_k_mu_sigma_set set;
    real t = 1 / sigma;
    set.c0 = t * t;
    set.mu = mu;
    set.t = t;
    set.kappa4_exponent_grad_z_k_0 = kappa4_exponent_grad_z_k_ms_prepare_set(k);
    set.kappa4_minus_0 = kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_prepare_set(h, k, mu, sigma);
    set.k = k;
    set.h = h;
    set.c1 = make_kappa4_logpdf_grad_h_k_mu_sigma_results(h * k > 1 ? INFINITY : -INFINITY, 0, 0, 0, 0);
    set.c2 = 1 - k;
    set.c3 = 1 - h;
    set.c4 = log(sigma);
    set.c5 = 1 - h == 0;
    set.c6 = 1 - k == 0;
    set.c7 = special_log_slope(sigma);
    return set;
}

// kappa4_logpdf_grad_h_k_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_row kappa4_minus_0;
} kappa4_logpdf_grad_h_k_mu_sigma_row;

DEVICE kappa4_logpdf_grad_h_k_mu_sigma_row kappa4_logpdf_grad_h_k_mu_sigma_prepare_row(real x)
{
    kappa4_logpdf_grad_h_k_mu_sigma_row row;
    row.x = x;
    row.kappa4_minus_0 = kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_prepare_row(x);
    return row;
}

// kappa4_logpdf_grad_h_k_mu_sigma: what depends on both, from what was computed ahead.
DEVICE kappa4_logpdf_grad_h_k_mu_sigma_results kappa4_logpdf_grad_h_k_mu_sigma_evaluate(kappa4_logpdf_grad_h_k_mu_sigma_set set, kappa4_logpdf_grad_h_k_mu_sigma_row row)
{
    real d_sigma_z = -(set.c0 * (row.x - set.mu));
    real z = (row.x - set.mu) * set.t;
    kappa4_exponent_grad_z_k_results call = kappa4_exponent_grad_z_k_ms_evaluate(set.kappa4_exponent_grad_z_k_0, z);
    real d_k_w = call.d_k;
    real d_mu_w = -(set.t * call.d_z);
    real d_sigma_w = call.d_z * d_sigma_z;
    real w = call.value;
    kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_results call2 = kappa4_minus_log_cdf_at_grad_w_h_k_mu_sigma_rmssss_evaluate(set.kappa4_minus_0, row.kappa4_minus_0, w);
    real d_h_y = call2.d_h;
    real d_k_y = call2.d_w * d_k_w + call2.d_k;
    real d_mu_y = call2.d_w * d_mu_w + call2.d_mu;
    real d_sigma_y = call2.d_w * d_sigma_w + call2.d_sigma;
    real y = call2.value;
    if (isinf(z) || set.k * z > 1 || set.h * exp(-w) > 1) {
        return make_kappa4_logpdf_grad_h_k_mu_sigma_results(-INFINITY, 0, 0, 0, 0);
    }
    if (w == -INFINITY) {
        return set.c1;
    }
    return make_kappa4_logpdf_grad_h_k_mu_sigma_results(-special_weighted(set.c2, w) - special_weighted(set.c3, y) - set.c4, -(set.c5 && isinf(y) ? 0 : set.c3 * d_h_y - y), -(set.c6 && isinf(w) ? 0 : set.c2 * d_k_w - w) - (set.c5 && isinf(y) ? 0 : set.c3 * d_k_y), -(set.c6 && isinf(w) ? 0 : set.c2 * d_mu_w) - (set.c5 && isinf(y) ? 0 : set.c3 * d_mu_y), -(set.c6 && isinf(w) ? 0 : set.c2 * d_sigma_w) - (set.c5 && isinf(y) ? 0 : set.c3 * d_sigma_y) - set.c7);
}

// kappa4_logpdf_checked_grad_h_k_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    kappa4_logpdf_grad_h_k_mu_sigma_set kappa4_0;
    real t2;
} kappa4_logpdf_checked_grad_h_k_mu_sigma_set;

DEVICE kappa4_logpdf_checked_grad_h_k_mu_sigma_set kappa4_logpdf_checked_grad_h_k_mu_sigma_prepare_set(real h, real k, real mu, real sigma)
{
    kappa4_logpdf_checked_grad_h_k_mu_sigma_set set;
    real bad_h = h == h ? 0 : NAN;
    real bad_k = k == k ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    real t2 = bad_h + bad_k + bad_mu + bad_sigma;
    set.kappa4_0 = kappa4_logpdf_grad_h_k_mu_sigma_prepare_set(h, k, mu, sigma);
    set.t2 = t2;
    return set;
}

// kappa4_logpdf_checked_grad_h_k_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    kappa4_logpdf_grad_h_k_mu_sigma_row kappa4_0;
    int inside;
    real outside;
    real t;
} kappa4_logpdf_checked_grad_h_k_mu_sigma_row;

DEVICE kappa4_logpdf_checked_grad_h_k_mu_sigma_row kappa4_logpdf_checked_grad_h_k_mu_sigma_prepare_row(real x)
{
    kappa4_logpdf_checked_grad_h_k_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.kappa4_0 = kappa4_logpdf_grad_h_k_mu_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// kappa4_logpdf_checked_grad_h_k_mu_sigma: what depends on both, from what was computed ahead.
DEVICE kappa4_logpdf_checked_grad_h_k_mu_sigma_results kappa4_logpdf_checked_grad_h_k_mu_sigma_evaluate(kappa4_logpdf_checked_grad_h_k_mu_sigma_set set, kappa4_logpdf_checked_grad_h_k_mu_sigma_row row)
{
    kappa4_logpdf_grad_h_k_mu_sigma_results call = kappa4_logpdf_grad_h_k_mu_sigma_evaluate(set.kappa4_0, row.kappa4_0);
    real d_h_value = call.d_h;
    real d_k_value = call.d_k;
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_kappa4_logpdf_checked_grad_h_k_mu_sigma_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_h_value : row.t) + set.t2, (row.inside ? d_k_value : row.t) + set.t2, (row.inside ? d_mu_value : row.t) + set.t2, (row.inside ? d_sigma_value : row.t) + set.t2);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 10; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 5; first += 10) {
        const int sums_here = (int)MIN(sets_here * 5 - first, 10);
        for (int s = 0; s < 10; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 5 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 5 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_h, d_k, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) kappa4_logpdf_checked_grad_h_k_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT h_per_set, index_t h_offset, index_t h_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    h_per_set += h_offset;
    k_per_set += k_offset;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(kappa4_logpdf_checked_grad_h_k_mu_sigma_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = kappa4_logpdf_checked_grad_h_k_mu_sigma_prepare_set(h_per_set[(first_set + MIN(k, sets_here - 1)) * h_stride], k_per_set[(first_set + MIN(k, sets_here - 1)) * k_stride], mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
    BARRIER();

    double total[20];
    UNROLL for (int s = 0; s < 20; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const kappa4_logpdf_checked_grad_h_k_mu_sigma_row row = kappa4_logpdf_checked_grad_h_k_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const kappa4_logpdf_checked_grad_h_k_mu_sigma_results result = kappa4_logpdf_checked_grad_h_k_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_h;
                        total[k * 5 + 2] += result.d_k;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
                {
                    const kappa4_logpdf_checked_grad_h_k_mu_sigma_row row = kappa4_logpdf_checked_grad_h_k_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const kappa4_logpdf_checked_grad_h_k_mu_sigma_results result = kappa4_logpdf_checked_grad_h_k_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_h;
                        total[k * 5 + 2] += result.d_k;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const kappa4_logpdf_checked_grad_h_k_mu_sigma_row row = kappa4_logpdf_checked_grad_h_k_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const kappa4_logpdf_checked_grad_h_k_mu_sigma_results result = kappa4_logpdf_checked_grad_h_k_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_h;
                        total[k * 5 + 2] += result.d_k;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 5 : partial + first_set * 5 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 10; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 5 - 0, 10); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];
    BARRIER();
    UNROLL for (int s = 0; s < 10; s++)
        sums[s * 128 + THREAD] = total[10 + s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 5 - 10, 10); s += 128)
        block_sums[(10 + s) * BLOCKS_Y] = sums[s * 128];
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










