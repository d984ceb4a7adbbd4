// The gradient kernel of noncentral_f, made by `gpustats generate`. Do not edit.
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
} special_log_gamma_power_grad_a_x_results;

DEVICE special_log_gamma_power_grad_a_x_results make_special_log_gamma_power_grad_a_x_results(real value, real d_a, real d_x)
{
    special_log_gamma_power_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_j;
    real d_m;
} special_log_poisson_grad_j_m_results;

DEVICE special_log_poisson_grad_j_m_results make_special_log_poisson_grad_j_m_results(real value, real d_j, real d_m)
{
    special_log_poisson_grad_j_m_results results;
    results.value = value;
    results.d_j = d_j;
    results.d_m = d_m;
    return results;
}


typedef struct {
    real value;
    real d_m;
    real d_a;
    real d_y;
    real d_s;
    real d_first;
} special_log_mixture_density_grad_m_a_y_s_first_results;

DEVICE special_log_mixture_density_grad_m_a_y_s_first_results make_special_log_mixture_density_grad_m_a_y_s_first_results(real value, real d_m, real d_a, real d_y, real d_s, real d_first)
{
    special_log_mixture_density_grad_m_a_y_s_first_results results;
    results.value = value;
    results.d_m = d_m;
    results.d_a = d_a;
    results.d_y = d_y;
    results.d_s = d_s;
    results.d_first = d_first;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_sigma;
} beta_prime_logpdf_grad_alpha_beta_sigma_results;

DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_results make_beta_prime_logpdf_grad_alpha_beta_sigma_results(real value, real d_alpha, real d_beta, real d_sigma)
{
    beta_prime_logpdf_grad_alpha_beta_sigma_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_d1;
    real d_d2;
    real d_lam;
} noncentral_f_logpdf_grad_d1_d2_lam_results;

DEVICE noncentral_f_logpdf_grad_d1_d2_lam_results make_noncentral_f_logpdf_grad_d1_d2_lam_results(real value, real d_d1, real d_d2, real d_lam)
{
    noncentral_f_logpdf_grad_d1_d2_lam_results results;
    results.value = value;
    results.d_d1 = d_d1;
    results.d_d2 = d_d2;
    results.d_lam = d_lam;
    return results;
}


typedef struct {
    real value;
    real d_d1;
    real d_d2;
    real d_lam;
} noncentral_f_logpdf_checked_grad_d1_d2_lam_results;

DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_results make_noncentral_f_logpdf_checked_grad_d1_d2_lam_results(real value, real d_d1, real d_d2, real d_lam)
{
    noncentral_f_logpdf_checked_grad_d1_d2_lam_results results;
    results.value = value;
    results.d_d1 = d_d1;
    results.d_d2 = d_d2;
    results.d_lam = d_lam;
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

DEVICE real special_stirling_series_derivative(real x)
{
    real v = 1 / x;
    real s = v * v;
    return -s * (0.08333333333333287574 + s * (-0.008333333332332800767 + s * (0.003968253600942064197 + s * (-0.004166613154056894626 + s * (0.007571670662698111168 + s * (-0.02090499271669974631 + s * (0.07768996902561712723 + s * (-0.3252522243739799449 + s * (1.221386329628660646 + s * (-3.22008126684131239 + s * 4.154095689406029601))))))))));
}

DEVICE real special_digamma(real x)
{
    real y = x < 3 ? x + 3 : x;
    real sum = x < 3 ? (2 + x * (6 + 3 * x)) / (x * (1 + x) * (2 + x)) : 0;
    return log(y) - (0.5 / y + sum) + special_stirling_series_derivative(y);
}

DEVICE real special_stirling_error_derivative(real x)
{
    return x < 3 ? special_digamma(x) - log(x) + 0.5 / x : special_stirling_series_derivative(x);
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

DEVICE real special_lbeta_derivative(real a, real b)
{
    real sum = a + b;
    return special_stirling_error_derivative(a) - special_stirling_error_derivative(sum) - 0.5 * b / (a * sum) - log1p(b / a);
}

DEVICE real special_lbeta(real a, real b)
{
    real p = fmin(a, b);
    real q = fmax(a, b);
    return special_stirling_error(p) + (special_stirling_error(q) - special_stirling_error(p + q)) + HALF_LOG_2PI - 0.5 * log(q) - (p - 0.5) * log1p(q / p) - q * log1p(p / q);
}

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

DEVICE real special_mixture_peak(real m, real a, real y, real s)
{
    real b = a + 1 - m * s;
    real c = m * y - a;
    real root = sqrt(fmax(b * b + 4 * c, (real)0));
    return floor(fmax(b > 0 ? 2 * c / (b + root) : 0.5 * (root - b), (real)0));
}

DEVICE special_log_gamma_power_grad_a_x_results special_log_gamma_power_grad_a_x(real a, real x)
{
    real t = x / a;
    real t2 = (x - a) / a;
    real t3 = special_log_ratio_excess(t, t2);
    real t4 = t2 / t;
    real t5 = 1 / a;
    real t6 = (-1 - t2) * t5;
    return make_special_log_gamma_power_grad_a_x_results(a * t3 - (0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a)), t3 + a * (fabs(t2) < 0.5 ? -(t4 * t6) : -(t * t5 / t) - t6) - (0.5 * t5 + special_stirling_error_derivative(a)), a * (fabs(t2) < 0.5 ? -(t4 * t5) : t5 / t - t5));
}

DEVICE special_log_poisson_grad_j_m_results special_log_poisson_grad_j_m(real j, real m)
{
    real either;
    real d_j_either;
    real d_m_either;
    if (j == 0) {
        either = -m;
        d_j_either = 0;
        d_m_either = -1;
    } else {
        special_log_gamma_power_grad_a_x_results call = special_log_gamma_power_grad_a_x(j, m);
        either = call.value;
        d_j_either = call.d_a;
        d_m_either = call.d_x;
    }
    return make_special_log_poisson_grad_j_m_results(either, d_j_either, d_m_either);
}

DEVICE special_log_mixture_density_grad_m_a_y_s_first_results special_log_mixture_density_grad_m_a_y_s_first(real m, real a, real y, real s, real first)
{
    real d_m_sum = 0;
    real d_a_sum = 0;
    real d_y_sum = 0;
    real d_s_sum = 0;
    real d_first_sum = 0;
    real sum = 1;
    real d_m_term = 0;
    real d_a_term = 0;
    real d_y_term = 0;
    real d_s_term = 0;
    real d_first_term = 0;
    real term = 1;
    for (int i = 0; i < 30000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
        real j = first + i;
        real t = m / (j + 1);
        real t2 = (y + s * j) / (a + j);
        real t3 = t * t2;
        real t4 = term * t2;
        real t5 = 1 / (j + 1);
        real t6 = 1 / (a + j);
        real t7 = term * t;
        d_m_term = t3 * d_m_term + t4 * t5;
        d_a_term = t3 * d_a_term - t2 * t6 * t7;
        d_y_term = t3 * d_y_term + t7 * t6;
        d_s_term = t3 * d_s_term + t7 * (j * t6);
        d_first_term = t3 * d_first_term - t * t5 * t4 + t7 * ((s - t2) * t6);
        term *= t3;
        d_m_sum += d_m_term;
        d_a_sum += d_a_term;
        d_y_sum += d_y_term;
        d_s_sum += d_s_term;
        d_first_sum += d_first_term;
        sum += term;
    }
    d_m_term = 0;
    d_a_term = 0;
    d_y_term = 0;
    d_s_term = 0;
    d_first_term = 0;
    term = 1;
    for (int i_2 = 0; i_2 < 30000 && i_2 < first && term > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
        real j_2 = first - i_2;
        real t8 = j_2 / m;
        real t9 = y + s * (j_2 - 1);
        real t10 = (a + j_2 - 1) / t9;
        real t11 = t8 * t10;
        real t12 = 1 / m;
        real t13 = term * t10;
        real t14 = term * t8;
        real t15 = 1 / t9;
        d_m_term = t11 * d_m_term - t8 * t12 * t13;
        d_a_term = t11 * d_a_term + t14 * t15;
        d_y_term = t11 * d_y_term - t10 * t15 * t14;
        d_s_term = t11 * d_s_term - t10 * (j_2 - 1) * t15 * t14;
        d_first_term = t11 * d_first_term + t13 * t12 + t14 * ((1 - t10 * s) * t15);
        term *= t11;
        d_m_sum += d_m_term;
        d_a_sum += d_a_term;
        d_y_sum += d_y_term;
        d_s_sum += d_s_term;
        d_first_sum += d_first_term;
        sum += term;
    }
    real t16 = 1 / sum;
    return make_special_log_mixture_density_grad_m_a_y_s_first_results(log(sum), t16 * d_m_sum, t16 * d_a_sum, t16 * d_y_sum, t16 * d_s_sum, t16 * d_first_sum);
}

// special_log_product_excess: what depends on the observation alone, computed once for each.
typedef struct {
    real scale;
    real c0;
} special_log_product_excess_mmm_row;

DEVICE special_log_product_excess_mmm_row special_log_product_excess_mmm_prepare_row()
{
    special_log_product_excess_mmm_row row;
    real scale = 1 / (EPSILON * EPSILON * (EPSILON * EPSILON));
    row.scale = scale;
    row.c0 = log(scale);
    return row;
}

// special_log_product_excess: what depends on both, from what was computed ahead.
DEVICE real special_log_product_excess_mmm_evaluate(special_log_product_excess_mmm_row row, real x, real y, real u)
{
    int tiny = u < -0.9 && x < EPSILON * EPSILON;
    return special_log_ratio_excess(x * (tiny ? row.scale : 1) * y, u) - (tiny ? row.c0 : 0);
}

// special_lbeta_derivative: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
} special_lbeta_derivative_sm_set;

DEVICE special_lbeta_derivative_sm_set special_lbeta_derivative_sm_prepare_set(real a)
{
    special_lbeta_derivative_sm_set set;
    set.a = a;
    set.c0 = special_stirling_error_derivative(a);
    return set;
}

// special_lbeta_derivative: what depends on both, from what was computed ahead.
DEVICE real special_lbeta_derivative_sm_evaluate(special_lbeta_derivative_sm_set set, real b)
{
    real sum = set.a + b;
    return set.c0 - special_stirling_error_derivative(sum) - 0.5 * b / (set.a * sum) - log1p(b / set.a);
}

// beta_prime_logpdf_grad_alpha_beta_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real sigma;
    real c0;
    real beta;
    real t19;
    real c1;
    real c2;
    special_lbeta_derivative_sm_set special_lbeta_derivative_0;
    real c3;
    real c4;
    real c5;
    real c6;
    real c7;
} beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set;

DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_set(real beta, real sigma)
{
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set set;
    real t28 = beta / sigma;
    real t29 = 1 / t28;
    real t30 = 1 / sigma;
    set.sigma = sigma;
    set.c0 = 1 / sigma;
    set.beta = beta;
    real t19 = 1 / beta;
    set.t19 = t19;
    set.c1 = special_stirling_error_derivative(beta);
    set.c2 = special_stirling_error(beta);
    set.special_lbeta_derivative_0 = special_lbeta_derivative_sm_prepare_set(beta);
    set.c3 = log(sigma);
    set.c4 = t29 * t30;
    set.c5 = -(t28 * t30 * t29);
    set.c6 = beta + 1;
    set.c7 = log(t28);
    return set;
}

// beta_prime_logpdf_grad_alpha_beta_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    special_log_product_excess_mmm_row special_0;
    real c0;
} beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row;

DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_row(real x)
{
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row row;
    row.x = x;
    row.special_0 = special_log_product_excess_mmm_prepare_row();
    row.c0 = log(x);
    return row;
}

// beta_prime_logpdf_grad_alpha_beta_sigma: what depends on both, from what was computed ahead.
DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_results beta_prime_logpdf_grad_alpha_beta_sigma_rmss_evaluate(beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set set, beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row row, real alpha)
{
    real t = row.x / set.sigma;
    real d_sigma_z = -(t * set.c0);
    real z = t;
    real n = alpha + set.beta;
    real value;
    real d_alpha_value;
    real d_beta_value;
    real d_sigma_value;
    if (special_large_shape(n)) {
        real t2 = 1 / (1 + z);
        real d_sigma_y = -(t2 * d_sigma_z * t2);
        real y = t2;
        real t3 = fma(-set.beta, z, alpha);
        real d_beta_gap = -(z * y);
        real d_sigma_gap = t3 * d_sigma_y - set.beta * d_sigma_z * y;
        real gap = t3 * y;
        real t4 = 1 / alpha;
        real t5 = set.beta / n;
        real t6 = 1 / n;
        real t7 = 1 / t5;
        real t8 = special_stirling_error_derivative(n);
        real t9 = n / alpha;
        real t10 = y * t9;
        real t11 = -gap / alpha;
        real t12 = special_log_product_excess_mmm_evaluate(row.special_0, z, t10, t11);
        real t13 = t11 / (1 + t11);
        real t14 = (gap / alpha - y) * t4;
        real t15 = gap / set.beta;
        real t16 = n / set.beta;
        real t17 = y * t16;
        real t18 = t15 / t17;
        real t20 = y * set.t19;
        real t21 = d_beta_gap * t4;
        real t22 = special_log_ratio_excess(t17, t15);
        real t23 = (d_beta_gap - t15) * set.t19;
        real t24 = d_sigma_gap * t4;
        real t25 = d_sigma_gap * set.t19;
        d_alpha_value = 0.5 * (t4 - t5 * t6 * t7) - (special_stirling_error_derivative(alpha) - t8) + (t12 + alpha * (fabs(t11) < 0.5 ? -(t13 * t14) : y * ((1 - t9) * t4) / t10 - t14)) + set.beta * (fabs(t15) < 0.5 ? -(t18 * t20) : t20 / t17 - t20);
        d_beta_value = 0.5 * (t7 * ((1 - t5) * t6)) - (set.c1 - t8) + alpha * (fabs(t11) < 0.5 ? t21 * t13 : y * t4 / t10 + t21) + (t22 + set.beta * (fabs(t15) < 0.5 ? -(t18 * t23) : y * ((1 - t16) * set.t19) / t17 - t23));
        d_sigma_value = alpha * (fabs(t11) < 0.5 ? t24 * t13 : d_sigma_z / z + t9 * d_sigma_y / t10 + t24) + set.beta * (fabs(t15) < 0.5 ? -(t18 * t25) : t16 * d_sigma_y / t17 - t25);
        value = 0.5 * (log(alpha) + log(t5)) - HALF_LOG_2PI - (special_stirling_error(alpha) + (set.c2 - special_stirling_error(n))) - row.c0 + alpha * t12 + set.beta * t22;
    } else {
        real t26 = log(z);
        real t27 = log1p(z);
        d_alpha_value = t26 - t27 - special_lbeta_derivative(alpha, set.beta);
        d_beta_value = -t27 - special_lbeta_derivative_sm_evaluate(set.special_lbeta_derivative_0, alpha);
        d_sigma_value = (alpha - 1) * (1 / z * d_sigma_z) - n * (1 / (1 + z) * d_sigma_z) - set.c0;
        value = (alpha - 1) * t26 - n * t27 - (special_lbeta(alpha, set.beta) + set.c3);
    }
    real d_alpha_at_zero = alpha - 1 == 0 ? -INFINITY : 0;
    real d_beta_at_zero = alpha - 1 == 0 ? set.c4 - z : 0;
    real d_sigma_at_zero = alpha - 1 == 0 ? set.c5 - set.c6 * d_sigma_z : 0;
    real at_zero = special_log_power_at_zero(alpha - 1, set.c7 - set.c6 * z);
    return make_beta_prime_logpdf_grad_alpha_beta_sigma_results(z == 0 ? at_zero : isinf(z) ? -INFINITY : value, z == 0 ? d_alpha_at_zero : isinf(z) ? 0 : d_alpha_value, z == 0 ? d_beta_at_zero : isinf(z) ? 0 : d_beta_value, z == 0 ? d_sigma_at_zero : isinf(z) ? 0 : d_sigma_value);
}

// noncentral_f_logpdf_grad_d1_d2_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real d1;
    real d2;
    real t;
    real c0;
    real m;
    real a;
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set beta_prime_0;
    real d_d1_sigma;
    real t6;
    int c1;
    real t7;
    real c2;
    real c3;
    real c4;
    int c5;
} noncentral_f_logpdf_grad_d1_d2_lam_set;

DEVICE noncentral_f_logpdf_grad_d1_d2_lam_set noncentral_f_logpdf_grad_d1_d2_lam_prepare_set(real d1, real d2, real lam)
{
    noncentral_f_logpdf_grad_d1_d2_lam_set set;
    real a = 0.5 * d1;
    real b = 0.5 * d2;
    real m = 0.5 * lam;
    real t = 1 / d2;
    real t5 = d2 / d1;
    real t6 = 1 / d1;
    real d_d1_sigma = -(t5 * t6);
    real t7 = (b + 1) * m - b - 1;
    set.d1 = d1;
    set.d2 = d2;
    set.t = t;
    set.c0 = a + b;
    set.m = m;
    set.a = a;
    set.beta_prime_0 = beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_set(b, t5);
    set.d_d1_sigma = d_d1_sigma;
    set.t6 = t6;
    set.c1 = d1 - 2 == 0;
    set.t7 = t7;
    set.c2 = m * 0.5 - 0.5;
    set.c3 = (b + 1) * 0.5;
    set.c4 = d1 - 2;
    set.c5 = lam > 2e7 || isinf(d1 + d2);
    return set;
}

// noncentral_f_logpdf_grad_d1_d2_lam: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row beta_prime_0;
    int c0;
    int c1;
} noncentral_f_logpdf_grad_d1_d2_lam_row;

DEVICE noncentral_f_logpdf_grad_d1_d2_lam_row noncentral_f_logpdf_grad_d1_d2_lam_prepare_row(real x)
{
    noncentral_f_logpdf_grad_d1_d2_lam_row row;
    row.x = x;
    row.beta_prime_0 = beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_row(x);
    row.c0 = x == 0;
    row.c1 = isinf(x);
    return row;
}

// noncentral_f_logpdf_grad_d1_d2_lam: what depends on both, from what was computed ahead.
DEVICE noncentral_f_logpdf_grad_d1_d2_lam_results noncentral_f_logpdf_grad_d1_d2_lam_evaluate(noncentral_f_logpdf_grad_d1_d2_lam_set set, noncentral_f_logpdf_grad_d1_d2_lam_row row)
{
    real t2 = set.d1 * row.x / set.d2;
    real d_d1_z = row.x * set.t;
    real d_d2_z = -(t2 * set.t);
    real z = t2;
    real t3 = z / (1 + z);
    real t4 = 1 / (1 + z);
    real d_d1_p = (d_d1_z - t3 * d_d1_z) * t4;
    real d_d2_p = (d_d2_z - t3 * d_d2_z) * t4;
    real p = t3;
    real d_d1_y = set.c0 * d_d1_p + p * 0.5;
    real d_d2_y = set.c0 * d_d2_p + p * 0.5;
    real y = p * set.c0;
    real first = special_mixture_peak(set.m, set.a, y, p);
    special_log_poisson_grad_j_m_results call = special_log_poisson_grad_j_m(first, set.m);
    beta_prime_logpdf_grad_alpha_beta_sigma_results call2 = beta_prime_logpdf_grad_alpha_beta_sigma_rmss_evaluate(set.beta_prime_0, row.beta_prime_0, set.a + first);
    special_log_mixture_density_grad_m_a_y_s_first_results call3 = special_log_mixture_density_grad_m_a_y_s_first(set.m, set.a, y, p, first);
    real d_d1_value = call2.d_alpha * 0.5 + call2.d_sigma * set.d_d1_sigma + (call3.d_a * 0.5 + call3.d_y * d_d1_y + call3.d_s * d_d1_p);
    real d_d2_value = call2.d_beta * 0.5 + call2.d_sigma * set.t6 + (call3.d_y * d_d2_y + call3.d_s * d_d2_p);
    real d_lam_value = call.d_m * 0.5 + call3.d_m * 0.5;
    real value = call.value + call2.value + call3.value;
    real d_d1_at_zero = set.c1 ? set.t7 * d_d1_z - INFINITY : 0;
    real d_d2_at_zero = set.c1 ? z * set.c2 + set.t7 * d_d2_z : 0;
    real d_lam_at_zero = set.c1 ? z * set.c3 - 0.5 : 0;
    real at_zero = special_log_power_at_zero(set.c4, -set.m + set.t7 * z);
    return make_noncentral_f_logpdf_grad_d1_d2_lam_results(set.c5 ? NAN : row.c0 ? at_zero : row.c1 ? -INFINITY : value, set.c5 ? NAN : row.c0 ? d_d1_at_zero : row.c1 ? 0 : d_d1_value, set.c5 ? NAN : row.c0 ? d_d2_at_zero : row.c1 ? 0 : d_d2_value, set.c5 ? NAN : row.c0 ? d_lam_at_zero : row.c1 ? 0 : d_lam_value);
}

// noncentral_f_logpdf_checked_grad_d1_d2_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    noncentral_f_logpdf_grad_d1_d2_lam_set noncentral_f_0;
    real c0;
} noncentral_f_logpdf_checked_grad_d1_d2_lam_set;

DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_set noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_set(real d1, real d2, real lam)
{
    noncentral_f_logpdf_checked_grad_d1_d2_lam_set set;
    real bad_d1 = d1 > 0 ? 0 : NAN;
    real bad_d2 = d2 > 0 ? 0 : NAN;
    real bad_lam = lam >= 0 ? 0 : NAN;
    set.noncentral_f_0 = noncentral_f_logpdf_grad_d1_d2_lam_prepare_set(d1, d2, lam);
    set.c0 = bad_d1 + bad_d2 + bad_lam;
    return set;
}

// noncentral_f_logpdf_checked_grad_d1_d2_lam: what depends on the observation alone, computed once for each.
typedef struct {
    noncentral_f_logpdf_grad_d1_d2_lam_row noncentral_f_0;
    int inside;
    real outside;
    real t;
} noncentral_f_logpdf_checked_grad_d1_d2_lam_row;

DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_row noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(real x)
{
    noncentral_f_logpdf_checked_grad_d1_d2_lam_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.noncentral_f_0 = noncentral_f_logpdf_grad_d1_d2_lam_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// noncentral_f_logpdf_checked_grad_d1_d2_lam: what depends on both, from what was computed ahead.
DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_results noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(noncentral_f_logpdf_checked_grad_d1_d2_lam_set set, noncentral_f_logpdf_checked_grad_d1_d2_lam_row row)
{
    noncentral_f_logpdf_grad_d1_d2_lam_results call = noncentral_f_logpdf_grad_d1_d2_lam_evaluate(set.noncentral_f_0, row.noncentral_f_0);
    real d_d1_value = call.d_d1;
    real d_d2_value = call.d_d2;
    real d_lam_value = call.d_lam;
    real value = call.value;
    return make_noncentral_f_logpdf_checked_grad_d1_d2_lam_results((row.inside || value != value ? value : row.outside) + set.c0, (row.inside || value != value ? d_d1_value : row.t) + set.c0, (row.inside || value != value ? d_d2_value : row.t) + set.c0, (row.inside || value != value ? d_lam_value : row.t) + set.c0);
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
// Here f has several results: value, d_d1, d_d2, d_lam are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) noncentral_f_logpdf_checked_grad_d1_d2_lam_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT d1_per_set, index_t d1_offset, index_t d1_stride, GLOBAL const real *RESTRICT d2_per_set, index_t d2_offset, index_t d2_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    d1_per_set += d1_offset;
    d2_per_set += d2_offset;
    lam_per_set += lam_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(noncentral_f_logpdf_checked_grad_d1_d2_lam_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_set(d1_per_set[(first_set + MIN(k, sets_here - 1)) * d1_stride], d2_per_set[(first_set + MIN(k, sets_here - 1)) * d2_stride], lam_per_set[(first_set + MIN(k, sets_here - 1)) * lam_stride]);
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
                    const noncentral_f_logpdf_checked_grad_d1_d2_lam_row row = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_f_logpdf_checked_grad_d1_d2_lam_results result = noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_d1;
                        total[k * 4 + 2] += result.d_d2;
                        total[k * 4 + 3] += result.d_lam;
                    }
                }
                {
                    const noncentral_f_logpdf_checked_grad_d1_d2_lam_row row = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_f_logpdf_checked_grad_d1_d2_lam_results result = noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_d1;
                        total[k * 4 + 2] += result.d_d2;
                        total[k * 4 + 3] += result.d_lam;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const noncentral_f_logpdf_checked_grad_d1_d2_lam_row row = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_f_logpdf_checked_grad_d1_d2_lam_results result = noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_d1;
                        total[k * 4 + 2] += result.d_d2;
                        total[k * 4 + 3] += result.d_lam;
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










