// The gradient kernel of polya_aeppli, made by `gpustats generate`. Do not edit.
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
    real d_log_p;
    real d_log_q;
    real d_deviation;
} binomial_kernel_grad_log_p_log_q_deviation_results;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_results make_binomial_kernel_grad_log_p_log_q_deviation_results(real value, real d_log_p, real d_log_q, real d_deviation)
{
    binomial_kernel_grad_log_p_log_q_deviation_results results;
    results.value = value;
    results.d_log_p = d_log_p;
    results.d_log_q = d_log_q;
    results.d_deviation = d_deviation;
    return results;
}


typedef struct {
    real value;
    real d_p;
} binomial_logpmf_grad_p_results;

DEVICE binomial_logpmf_grad_p_results make_binomial_logpmf_grad_p_results(real value, real d_p)
{
    binomial_logpmf_grad_p_results results;
    results.value = value;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_lam;
    real d_theta;
} polya_aeppli_logpmf_grad_lam_theta_results;

DEVICE polya_aeppli_logpmf_grad_lam_theta_results make_polya_aeppli_logpmf_grad_lam_theta_results(real value, real d_lam, real d_theta)
{
    polya_aeppli_logpmf_grad_lam_theta_results results;
    results.value = value;
    results.d_lam = d_lam;
    results.d_theta = d_theta;
    return results;
}


typedef struct {
    real value;
    real d_lam;
    real d_theta;
} polya_aeppli_logpmf_checked_grad_lam_theta_results;

DEVICE polya_aeppli_logpmf_checked_grad_lam_theta_results make_polya_aeppli_logpmf_checked_grad_lam_theta_results(real value, real d_lam, real d_theta)
{
    polya_aeppli_logpmf_checked_grad_lam_theta_results results;
    results.value = value;
    results.d_lam = d_lam;
    results.d_theta = d_theta;
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

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real special_log_ratio_excess(real ratio, real u)
{
    return special_log_excess(log(ratio), u);
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

DEVICE special_log_gamma_power_grad_x_results special_log_gamma_power_grad_x(real a, real x)
{
    real t = x / a;
    real t2 = (x - a) / a;
    real t3 = 1 / a;
    return make_special_log_gamma_power_grad_x_results(a * special_log_ratio_excess(t, t2) - (0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a)), a * (fabs(t2) < 0.5 ? -(t2 / t * t3) : t3 / t - t3));
}

DEVICE special_log_poisson_grad_m_results special_log_poisson_grad_m(real j, real m)
{
    real either;
    real d_m_either;
    if (j == 0) {
        either = -m;
        d_m_either = -1;
    } else {
        special_log_gamma_power_grad_x_results call = special_log_gamma_power_grad_x(j, m);
        either = call.value;
        d_m_either = call.d_x;
    }
    return make_special_log_poisson_grad_m_results(either, d_m_either);
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real log_p;
    real log_q;
} binomial_kernel_grad_log_p_log_q_deviation_mrssm_set;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_mrssm_set binomial_kernel_grad_log_p_log_q_deviation_mrssm_prepare_set(real log_p, real log_q)
{
    binomial_kernel_grad_log_p_log_q_deviation_mrssm_set set;
    set.log_p = log_p;
    set.log_q = log_q;
    return set;
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on the observation alone, computed once for each.
typedef struct {
    real n;
    real c0;
    real t5;
    real c1;
    int c2;
} binomial_kernel_grad_log_p_log_q_deviation_mrssm_row;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_mrssm_row binomial_kernel_grad_log_p_log_q_deviation_mrssm_prepare_row(real n)
{
    binomial_kernel_grad_log_p_log_q_deviation_mrssm_row row;
    row.n = n;
    real t5 = log(n);
    row.c0 = special_factorial_remainder(n);
    row.t5 = t5;
    row.c1 = special_log_factorial(n);
    row.c2 = special_large_shape(n);
    return row;
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on both, from what was computed ahead.
DEVICE binomial_kernel_grad_log_p_log_q_deviation_results binomial_kernel_grad_log_p_log_q_deviation_mrssm_evaluate(binomial_kernel_grad_log_p_log_q_deviation_mrssm_set set, binomial_kernel_grad_log_p_log_q_deviation_mrssm_row row, real x, real deviation)
{
    real y = row.n - x;
    real value;
    real d_log_p_value;
    real d_log_q_value;
    real d_deviation_value;
    if (row.c2) {
        real t = 1 / x;
        real t2 = deviation * t;
        real t3 = 1 / y;
        real t4 = -deviation * t3;
        d_log_p_value = x == 0 ? 0 : fabs(t2) < 0.5 ? 0 : x;
        d_log_q_value = y == 0 ? 0 : fabs(t4) < 0.5 ? 0 : y;
        d_deviation_value = (x == 0 ? -1 : x * (fabs(t2) < 0.5 ? -(t2 / (1 + t2) * t) : -t)) + (y == 0 ? 1 : y * (fabs(t4) < 0.5 ? t3 * (t4 / (1 + t4)) : t3));
        value = row.c0 - special_factorial_remainder(x) - special_factorial_remainder(y) + (x == 0 ? -deviation : x * special_log_excess(row.t5 - log(x) + set.log_p, t2)) + (y == 0 ? deviation : y * special_log_excess(row.t5 - log(y) + set.log_q, t4));
    } else {
        d_log_p_value = x == 0 ? 0 : x;
        d_log_q_value = y == 0 ? 0 : y;
        d_deviation_value = 0;
        value = row.c1 - special_log_factorial(x) - special_log_factorial(y) + (x == 0 ? 0 : x * set.log_p) + (y == 0 ? 0 : y * set.log_q);
    }
    return make_binomial_kernel_grad_log_p_log_q_deviation_results(x > row.n ? -INFINITY : value, x > row.n ? 0 : d_log_p_value, x > row.n ? 0 : d_log_q_value, x > row.n ? 0 : d_deviation_value);
}

// binomial_logpmf_grad_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_kernel_grad_log_p_log_q_deviation_mrssm_set binomial_kernel_grad_0;
    real p;
    real d_p_log_p;
    real d_p_log_q;
} binomial_logpmf_grad_p_mrs_set;

DEVICE binomial_logpmf_grad_p_mrs_set binomial_logpmf_grad_p_mrs_prepare_set(real p)
{
    binomial_logpmf_grad_p_mrs_set set;
    real d_p_log_p = special_log_slope(p);
    real d_p_log_q = -(1 / (1 - p));
    set.binomial_kernel_grad_0 = binomial_kernel_grad_log_p_log_q_deviation_mrssm_prepare_set(log(p), log1p(-p));
    set.p = p;
    set.d_p_log_p = d_p_log_p;
    set.d_p_log_q = d_p_log_q;
    return set;
}

// binomial_logpmf_grad_p: what depends on the observation alone, computed once for each.
typedef struct {
    binomial_kernel_grad_log_p_log_q_deviation_mrssm_row binomial_kernel_grad_0;
    real n;
} binomial_logpmf_grad_p_mrs_row;

DEVICE binomial_logpmf_grad_p_mrs_row binomial_logpmf_grad_p_mrs_prepare_row(real n)
{
    binomial_logpmf_grad_p_mrs_row row;
    row.binomial_kernel_grad_0 = binomial_kernel_grad_log_p_log_q_deviation_mrssm_prepare_row(n);
    row.n = n;
    return row;
}

// binomial_logpmf_grad_p: what depends on both, from what was computed ahead.
DEVICE binomial_logpmf_grad_p_results binomial_logpmf_grad_p_mrs_evaluate(binomial_logpmf_grad_p_mrs_set set, binomial_logpmf_grad_p_mrs_row row, real x)
{
    binomial_kernel_grad_log_p_log_q_deviation_results call = binomial_kernel_grad_log_p_log_q_deviation_mrssm_evaluate(set.binomial_kernel_grad_0, row.binomial_kernel_grad_0, x, fma(row.n, set.p, -x));
    return make_binomial_logpmf_grad_p_results(call.value, call.d_log_p * set.d_p_log_p + call.d_log_q * set.d_p_log_q + call.d_deviation * row.n);
}

// polya_aeppli_logpmf_grad_lam_theta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    polya_aeppli_logpmf_grad_lam_theta_results c1;
    real b;
    real c2;
    real rest;
    real lam;
    real odds;
    real t6;
    real d_theta_odds;
    real c3;
    binomial_logpmf_grad_p_mrs_set binomial_0;
    real c4;
    real c5;
} polya_aeppli_logpmf_grad_lam_theta_set;

DEVICE polya_aeppli_logpmf_grad_lam_theta_set polya_aeppli_logpmf_grad_lam_theta_prepare_set(real lam, real theta)
{
    polya_aeppli_logpmf_grad_lam_theta_set set;
    real t = theta / (1 - theta);
    real d_theta_odds = (1 + t) * (1 / (1 - theta));
    real odds = t;
    real t2 = odds / lam;
    real t3 = 1 / lam;
    real d_lam_rest = -(t2 * t3);
    real d_theta_rest = d_theta_odds * t3;
    real rest = t2;
    real b = 1 + rest;
    set.c0 = theta == 1 || isinf(lam);
    set.c1 = make_polya_aeppli_logpmf_grad_lam_theta_results(-lam, -1, 0);
    set.b = b;
    set.c2 = b * b;
    set.rest = rest;
    set.lam = lam;
    set.odds = odds;
    real t6 = 1 / odds;
    set.t6 = t6;
    set.d_theta_odds = d_theta_odds;
    set.c3 = 1 / lam;
    set.binomial_0 = binomial_logpmf_grad_p_mrs_prepare_set(theta);
    set.c4 = log1p(-theta);
    set.c5 = 1 / (1 - theta);
    return set;
}

// polya_aeppli_logpmf_grad_lam_theta: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real c1;
    real c2;
    real x;
    binomial_logpmf_grad_p_mrs_row binomial_0;
} polya_aeppli_logpmf_grad_lam_theta_row;

DEVICE polya_aeppli_logpmf_grad_lam_theta_row polya_aeppli_logpmf_grad_lam_theta_prepare_row(real x)
{
    polya_aeppli_logpmf_grad_lam_theta_row row;
    row.c0 = x == 0;
    row.c1 = 2 * x;
    row.c2 = 4 * x;
    row.x = x;
    row.binomial_0 = binomial_logpmf_grad_p_mrs_prepare_row(x - 1);
    return row;
}

// polya_aeppli_logpmf_grad_lam_theta: what depends on both, from what was computed ahead.
DEVICE polya_aeppli_logpmf_grad_lam_theta_results polya_aeppli_logpmf_grad_lam_theta_evaluate(polya_aeppli_logpmf_grad_lam_theta_set set, polya_aeppli_logpmf_grad_lam_theta_row row)
{
    if (set.c0) {
        return make_polya_aeppli_logpmf_grad_lam_theta_results(NAN, NAN, NAN);
    }
    if (row.c0) {
        return set.c1;
    }
    real peak = fmin(fmax(floor(row.c1 / (set.b + sqrt(set.c2 + row.c2 * set.rest))), (real)1), row.x);
    real d_lam_sum = 0;
    real d_theta_sum = 0;
    real sum = 1;
    real d_lam_term = 0;
    real d_theta_term = 0;
    real term = 1;
    for (int i = 0; i < 30000 && peak + i < row.x && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
        real j = peak + i;
        real t4 = (row.x - j) / j;
        real t5 = set.lam / (j + 1) * t4 / set.odds;
        d_lam_term = t5 * d_lam_term + term * (t4 * (1 / (j + 1)) * set.t6);
        d_theta_term = t5 * d_theta_term - t5 * set.d_theta_odds * set.t6 * term;
        term *= t5;
        d_lam_sum += d_lam_term;
        d_theta_sum += d_theta_term;
        sum += term;
    }
    d_lam_term = 0;
    d_theta_term = 0;
    term = 1;
    for (int i_2 = 0; i_2 < 30000 && peak - i_2 > 1 && term > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
        real j_2 = peak - i_2;
        real t7 = j_2 / set.lam;
        real t8 = (j_2 - 1) / (row.x - j_2 + 1);
        real t9 = t7 * t8 * set.odds;
        d_lam_term = t9 * d_lam_term - t7 * set.c3 * (term * t8 * set.odds);
        d_theta_term = t9 * d_theta_term + term * t7 * t8 * set.d_theta_odds;
        term *= t9;
        d_lam_sum += d_lam_term;
        d_theta_sum += d_theta_term;
        sum += term;
    }
    special_log_poisson_grad_m_results call = special_log_poisson_grad_m(peak, set.lam);
    binomial_logpmf_grad_p_results call2 = binomial_logpmf_grad_p_mrs_evaluate(set.binomial_0, row.binomial_0, row.x - peak);
    real t10 = special_log_slope(sum);
    return make_polya_aeppli_logpmf_grad_lam_theta_results(call.value + set.c4 + call2.value + log(sum), call.d_m + t10 * d_lam_sum, call2.d_p - set.c5 + t10 * d_theta_sum);
}

// polya_aeppli_logpmf_checked_grad_lam_theta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    polya_aeppli_logpmf_grad_lam_theta_set polya_aeppli_0;
    real c0;
} polya_aeppli_logpmf_checked_grad_lam_theta_set;

DEVICE polya_aeppli_logpmf_checked_grad_lam_theta_set polya_aeppli_logpmf_checked_grad_lam_theta_prepare_set(real lam, real theta)
{
    polya_aeppli_logpmf_checked_grad_lam_theta_set set;
    real bad_lam = lam > 0 ? 0 : NAN;
    real bad_theta = theta >= 0 && theta <= 1 ? 0 : NAN;
    set.polya_aeppli_0 = polya_aeppli_logpmf_grad_lam_theta_prepare_set(lam, theta);
    set.c0 = bad_lam + bad_theta;
    return set;
}

// polya_aeppli_logpmf_checked_grad_lam_theta: what depends on the observation alone, computed once for each.
typedef struct {
    polya_aeppli_logpmf_grad_lam_theta_row polya_aeppli_0;
    int inside;
    real outside;
    real t;
} polya_aeppli_logpmf_checked_grad_lam_theta_row;

DEVICE polya_aeppli_logpmf_checked_grad_lam_theta_row polya_aeppli_logpmf_checked_grad_lam_theta_prepare_row(real x)
{
    polya_aeppli_logpmf_checked_grad_lam_theta_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.polya_aeppli_0 = polya_aeppli_logpmf_grad_lam_theta_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// polya_aeppli_logpmf_checked_grad_lam_theta: what depends on both, from what was computed ahead.
DEVICE polya_aeppli_logpmf_checked_grad_lam_theta_results polya_aeppli_logpmf_checked_grad_lam_theta_evaluate(polya_aeppli_logpmf_checked_grad_lam_theta_set set, polya_aeppli_logpmf_checked_grad_lam_theta_row row)
{
    polya_aeppli_logpmf_grad_lam_theta_results call = polya_aeppli_logpmf_grad_lam_theta_evaluate(set.polya_aeppli_0, row.polya_aeppli_0);
    real d_lam_value = call.d_lam;
    real d_theta_value = call.d_theta;
    real value = call.value;
    return make_polya_aeppli_logpmf_checked_grad_lam_theta_results((row.inside || value != value ? value : row.outside) + set.c0, (row.inside || value != value ? d_lam_value : row.t) + set.c0, (row.inside || value != value ? d_theta_value : row.t) + set.c0);
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
// Here f has several results: value, d_lam, d_theta are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) polya_aeppli_logpmf_checked_grad_lam_theta_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride, GLOBAL const real *RESTRICT theta_per_set, index_t theta_offset, index_t theta_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    lam_per_set += lam_offset;
    theta_per_set += theta_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(polya_aeppli_logpmf_checked_grad_lam_theta_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = polya_aeppli_logpmf_checked_grad_lam_theta_prepare_set(lam_per_set[(first_set + MIN(k, sets_here - 1)) * lam_stride], theta_per_set[(first_set + MIN(k, sets_here - 1)) * theta_stride]);
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
                    const polya_aeppli_logpmf_checked_grad_lam_theta_row row = polya_aeppli_logpmf_checked_grad_lam_theta_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const polya_aeppli_logpmf_checked_grad_lam_theta_results result = polya_aeppli_logpmf_checked_grad_lam_theta_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lam;
                        total[k * 3 + 2] += result.d_theta;
                    }
                }
                {
                    const polya_aeppli_logpmf_checked_grad_lam_theta_row row = polya_aeppli_logpmf_checked_grad_lam_theta_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const polya_aeppli_logpmf_checked_grad_lam_theta_results result = polya_aeppli_logpmf_checked_grad_lam_theta_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lam;
                        total[k * 3 + 2] += result.d_theta;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const polya_aeppli_logpmf_checked_grad_lam_theta_row row = polya_aeppli_logpmf_checked_grad_lam_theta_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const polya_aeppli_logpmf_checked_grad_lam_theta_results result = polya_aeppli_logpmf_checked_grad_lam_theta_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lam;
                        total[k * 3 + 2] += result.d_theta;
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










