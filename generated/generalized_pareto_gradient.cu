// The gradient kernel of generalized_pareto, made by `gpustats generate`. Do not edit.
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
    real d_d;
    real d_scale;
    real d_xi;
} special_log1p_over_grad_d_scale_xi_results;

DEVICE special_log1p_over_grad_d_scale_xi_results make_special_log1p_over_grad_d_scale_xi_results(real value, real d_d, real d_scale, real d_xi)
{
    special_log1p_over_grad_d_scale_xi_results results;
    results.value = value;
    results.d_d = d_d;
    results.d_scale = d_scale;
    results.d_xi = d_xi;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
    real d_xi;
} generalized_pareto_hazard_grad_mu_sigma_xi_results;

DEVICE generalized_pareto_hazard_grad_mu_sigma_xi_results make_generalized_pareto_hazard_grad_mu_sigma_xi_results(real value, real d_mu, real d_sigma, real d_xi)
{
    generalized_pareto_hazard_grad_mu_sigma_xi_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    results.d_xi = d_xi;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
    real d_xi;
} generalized_pareto_logpdf_grad_mu_sigma_xi_results;

DEVICE generalized_pareto_logpdf_grad_mu_sigma_xi_results make_generalized_pareto_logpdf_grad_mu_sigma_xi_results(real value, real d_mu, real d_sigma, real d_xi)
{
    generalized_pareto_logpdf_grad_mu_sigma_xi_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    results.d_xi = d_xi;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
    real d_xi;
} generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results;

DEVICE generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results make_generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results(real value, real d_mu, real d_sigma, real d_xi)
{
    generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    results.d_xi = d_xi;
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

DEVICE real special_weighted(real weight, real log_density)
{
    return weight == 0 && isinf(log_density) ? 0 : weight * log_density;
}

// special_log1p_over_grad_d_scale_xi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real scale;
    real t;
    real xi;
    real d_d_u;
    real c0;
    real c1;
    real c2;
    int c3;
    real t10;
    real c4;
    real c5;
    real c6;
    real t16;
    real t14;
} special_log1p_over_grad_d_scale_xi_mss_set;

DEVICE special_log1p_over_grad_d_scale_xi_mss_set special_log1p_over_grad_d_scale_xi_mss_prepare_set(real scale, real xi)
{
    special_log1p_over_grad_d_scale_xi_mss_set set;
    real t = 1 / scale;
    real d_d_u = xi * t;
    real t14 = 1 / scale;
    real t16 = 1 / xi;
    set.scale = scale;
    set.t = t;
    set.xi = xi;
    set.d_d_u = d_d_u;
    set.c0 = 0.5 * d_d_u;
    real t7 = fabs(xi);
    set.c1 = log(t7);
    set.c2 = log(scale);
    real t10 = 1 / xi;
    set.c3 = xi == 0;
    set.t10 = t10;
    set.c4 = -(special_log_slope(scale) * t10);
    set.c5 = special_log_slope(t7) * (xi > 0 ? 1 : xi < 0 ? -1 : 0);
    set.c6 = xi * t14;
    set.t16 = t16;
    set.t14 = t14;
    return set;
}

// special_log1p_over_grad_d_scale_xi: what depends on both, from what was computed ahead.
DEVICE special_log1p_over_grad_d_scale_xi_results special_log1p_over_grad_d_scale_xi_mss_evaluate(special_log1p_over_grad_d_scale_xi_mss_set set, real d)
{
    real t2 = d / set.scale;
    real d_scale_z = -(t2 * set.t);
    real z = t2;
    real d_scale_u = set.xi * d_scale_z;
    real u = set.xi * z;
    real t3 = u / (2 + u);
    real t4 = 1 / (2 + u);
    real d_d_r = (set.d_d_u - t3 * set.d_d_u) * t4;
    real d_scale_r = (d_scale_u - t3 * d_scale_u) * t4;
    real d_xi_r = (z - t3 * z) * t4;
    real r = t3;
    real d_d_s = 2 * r * d_d_r;
    real d_scale_s = 2 * r * d_scale_r;
    real d_xi_s = 2 * r * d_xi_r;
    real s = r * r;
    if (s < 0.1111) {
        special_atanh_remainder_grad_s_results call = special_atanh_remainder_grad_s(s);
        real t5 = z / (1 + 0.5 * u);
        real t6 = 1 / (1 + 0.5 * u);
        return make_special_log1p_over_grad_d_scale_xi_results(t5 * (1 + s * call.value), (1 + s * call.value) * ((set.t - t5 * set.c0) * t6) + t5 * (call.value * d_d_s + s * (call.d_s * d_d_s)), (1 + s * call.value) * ((d_scale_z - t5 * (0.5 * d_scale_u)) * t6) + t5 * (call.value * d_scale_s + s * (call.d_s * d_scale_s)), t5 * (call.value * d_xi_s + s * (call.d_s * d_xi_s)) - t5 * (0.5 * z) * t6 * (1 + s * call.value));
    }
    if (!(fabs(u) < INFINITY)) {
        real t8 = fabs(d);
        real t9 = (set.c1 + log(t8) - set.c2) / set.xi;
        return make_special_log1p_over_grad_d_scale_xi_results(set.c3 ? z : t9, set.c3 ? set.t : special_log_slope(t8) * (d > 0 ? 1 : d < 0 ? -1 : 0) * set.t10, set.c3 ? d_scale_z : set.c4, set.c3 ? 0 : (set.c5 - t9) * set.t10);
    }
    real t11 = fma(set.xi, d, set.scale) / set.scale;
    real t12 = (u < 0 ? log(t11) : log1p(u)) / set.xi;
    real t13 = special_log_slope(t11);
    real t15 = 1 / (1 + u);
    return make_special_log1p_over_grad_d_scale_xi_results(t12, (u < 0 ? t13 * set.c6 : t15 * set.d_d_u) * set.t16, (u < 0 ? t13 * ((1 - t11) * set.t14) : t15 * d_scale_u) * set.t16, ((u < 0 ? t13 * (d * set.t14) : t15 * z) - t12) * set.t16);
}

// generalized_pareto_hazard_grad_mu_sigma_xi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu;
    special_log1p_over_grad_d_scale_xi_mss_set special_0;
    real xi;
    real sigma;
} generalized_pareto_hazard_grad_mu_sigma_xi_set;

DEVICE generalized_pareto_hazard_grad_mu_sigma_xi_set generalized_pareto_hazard_grad_mu_sigma_xi_prepare_set(real mu, real sigma, real xi)
{
    generalized_pareto_hazard_grad_mu_sigma_xi_set set;
    set.mu = mu;
    set.special_0 = special_log1p_over_grad_d_scale_xi_mss_prepare_set(sigma, xi);
    set.xi = xi;
    set.sigma = sigma;
    return set;
}

// generalized_pareto_hazard_grad_mu_sigma_xi: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} generalized_pareto_hazard_grad_mu_sigma_xi_row;

DEVICE generalized_pareto_hazard_grad_mu_sigma_xi_row generalized_pareto_hazard_grad_mu_sigma_xi_prepare_row(real x)
{
    generalized_pareto_hazard_grad_mu_sigma_xi_row row;
    row.x = x;
    return row;
}

// generalized_pareto_hazard_grad_mu_sigma_xi: what depends on both, from what was computed ahead.
DEVICE generalized_pareto_hazard_grad_mu_sigma_xi_results generalized_pareto_hazard_grad_mu_sigma_xi_evaluate(generalized_pareto_hazard_grad_mu_sigma_xi_set set, generalized_pareto_hazard_grad_mu_sigma_xi_row row)
{
    real d = row.x - set.mu;
    real either;
    real d_mu_either;
    real d_sigma_either;
    real d_xi_either;
    if (fma(set.xi, d, set.sigma) > 0) {
        special_log1p_over_grad_d_scale_xi_results call = special_log1p_over_grad_d_scale_xi_mss_evaluate(set.special_0, d);
        either = call.value;
        d_mu_either = -call.d_d;
        d_sigma_either = call.d_scale;
        d_xi_either = call.d_xi;
    } else {
        either = INFINITY;
        d_mu_either = 0;
        d_sigma_either = 0;
        d_xi_either = 0;
    }
    return make_generalized_pareto_hazard_grad_mu_sigma_xi_results(either, d_mu_either, d_sigma_either, d_xi_either);
}

// generalized_pareto_logpdf_grad_mu_sigma_xi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real mu;
    real xi;
    real sigma;
    generalized_pareto_hazard_grad_mu_sigma_xi_set generalized_pareto_hazard_grad_mu_sigma_xi_0;
    real c1;
    real c2;
    int c3;
    real c4;
} generalized_pareto_logpdf_grad_mu_sigma_xi_set;

DEVICE generalized_pareto_logpdf_grad_mu_sigma_xi_set generalized_pareto_logpdf_grad_mu_sigma_xi_prepare_set(real mu, real sigma, real xi)
{
    generalized_pareto_logpdf_grad_mu_sigma_xi_set set;
    set.c0 = isinf(xi);
    set.mu = mu;
    set.xi = xi;
    set.sigma = sigma;
    set.generalized_pareto_hazard_grad_mu_sigma_xi_0 = generalized_pareto_hazard_grad_mu_sigma_xi_prepare_set(mu, sigma, xi);
    set.c1 = -log(sigma);
    set.c2 = 1 + xi;
    set.c3 = 1 + xi == 0;
    set.c4 = -special_log_slope(sigma);
    return set;
}

// generalized_pareto_logpdf_grad_mu_sigma_xi: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    generalized_pareto_hazard_grad_mu_sigma_xi_row generalized_pareto_hazard_grad_mu_sigma_xi_0;
} generalized_pareto_logpdf_grad_mu_sigma_xi_row;

DEVICE generalized_pareto_logpdf_grad_mu_sigma_xi_row generalized_pareto_logpdf_grad_mu_sigma_xi_prepare_row(real x)
{
    generalized_pareto_logpdf_grad_mu_sigma_xi_row row;
    row.x = x;
    row.generalized_pareto_hazard_grad_mu_sigma_xi_0 = generalized_pareto_hazard_grad_mu_sigma_xi_prepare_row(x);
    return row;
}

// generalized_pareto_logpdf_grad_mu_sigma_xi: what depends on both, from what was computed ahead.
DEVICE generalized_pareto_logpdf_grad_mu_sigma_xi_results generalized_pareto_logpdf_grad_mu_sigma_xi_evaluate(generalized_pareto_logpdf_grad_mu_sigma_xi_set set, generalized_pareto_logpdf_grad_mu_sigma_xi_row row)
{
    if (set.c0) {
        return make_generalized_pareto_logpdf_grad_mu_sigma_xi_results(NAN, NAN, NAN, NAN);
    }
    if (row.x < set.mu || fma(set.xi, row.x - set.mu, set.sigma) < 0) {
        return make_generalized_pareto_logpdf_grad_mu_sigma_xi_results(-INFINITY, 0, 0, 0);
    }
    generalized_pareto_hazard_grad_mu_sigma_xi_results call = generalized_pareto_hazard_grad_mu_sigma_xi_evaluate(set.generalized_pareto_hazard_grad_mu_sigma_xi_0, row.generalized_pareto_hazard_grad_mu_sigma_xi_0);
    return make_generalized_pareto_logpdf_grad_mu_sigma_xi_results(set.c1 - special_weighted(set.c2, call.value), -(set.c3 && isinf(call.value) ? 0 : set.c2 * call.d_mu), set.c4 - (set.c3 && isinf(call.value) ? 0 : set.c2 * call.d_sigma), -(set.c3 && isinf(call.value) ? 0 : set.c2 * call.d_xi + call.value));
}

// generalized_pareto_logpdf_checked_grad_mu_sigma_xi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    generalized_pareto_logpdf_grad_mu_sigma_xi_set generalized_pareto_0;
    real c0;
} generalized_pareto_logpdf_checked_grad_mu_sigma_xi_set;

DEVICE generalized_pareto_logpdf_checked_grad_mu_sigma_xi_set generalized_pareto_logpdf_checked_grad_mu_sigma_xi_prepare_set(real mu, real sigma, real xi)
{
    generalized_pareto_logpdf_checked_grad_mu_sigma_xi_set set;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    real bad_xi = xi == xi ? 0 : NAN;
    set.generalized_pareto_0 = generalized_pareto_logpdf_grad_mu_sigma_xi_prepare_set(mu, sigma, xi);
    set.c0 = bad_mu + bad_sigma + bad_xi;
    return set;
}

// generalized_pareto_logpdf_checked_grad_mu_sigma_xi: what depends on the observation alone, computed once for each.
typedef struct {
    generalized_pareto_logpdf_grad_mu_sigma_xi_row generalized_pareto_0;
    int inside;
    real outside;
    real t;
} generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row;

DEVICE generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row generalized_pareto_logpdf_checked_grad_mu_sigma_xi_prepare_row(real x)
{
    generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.generalized_pareto_0 = generalized_pareto_logpdf_grad_mu_sigma_xi_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// generalized_pareto_logpdf_checked_grad_mu_sigma_xi: what depends on both, from what was computed ahead.
DEVICE generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results generalized_pareto_logpdf_checked_grad_mu_sigma_xi_evaluate(generalized_pareto_logpdf_checked_grad_mu_sigma_xi_set set, generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row row)
{
    generalized_pareto_logpdf_grad_mu_sigma_xi_results call = generalized_pareto_logpdf_grad_mu_sigma_xi_evaluate(set.generalized_pareto_0, row.generalized_pareto_0);
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real d_xi_value = call.d_xi;
    real value = call.value;
    return make_generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_mu_value : row.t) + set.c0, (row.inside ? d_sigma_value : row.t) + set.c0, (row.inside ? d_xi_value : row.t) + set.c0);
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
// Here f has several results: value, d_mu, d_sigma, d_xi are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) generalized_pareto_logpdf_checked_grad_mu_sigma_xi_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride, GLOBAL const real *RESTRICT xi_per_set, index_t xi_offset, index_t xi_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    xi_per_set += xi_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(generalized_pareto_logpdf_checked_grad_mu_sigma_xi_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_prepare_set(mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride], xi_per_set[(first_set + MIN(k, sets_here - 1)) * xi_stride]);
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
                    const generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row row = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results result = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_mu;
                        total[k * 4 + 2] += result.d_sigma;
                        total[k * 4 + 3] += result.d_xi;
                    }
                }
                {
                    const generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row row = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results result = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_mu;
                        total[k * 4 + 2] += result.d_sigma;
                        total[k * 4 + 3] += result.d_xi;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const generalized_pareto_logpdf_checked_grad_mu_sigma_xi_row row = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const generalized_pareto_logpdf_checked_grad_mu_sigma_xi_results result = generalized_pareto_logpdf_checked_grad_mu_sigma_xi_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_mu;
                        total[k * 4 + 2] += result.d_sigma;
                        total[k * 4 + 3] += result.d_xi;
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










