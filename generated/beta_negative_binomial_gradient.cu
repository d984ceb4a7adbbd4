// The gradient kernel of beta_negative_binomial, made by `gpustats generate`. Do not edit.
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
    real d_alpha;
    real d_beta;
    real d_n;
} beta_negative_binomial_logpmf_grad_alpha_beta_n_results;

DEVICE beta_negative_binomial_logpmf_grad_alpha_beta_n_results make_beta_negative_binomial_logpmf_grad_alpha_beta_n_results(real value, real d_alpha, real d_beta, real d_n)
{
    beta_negative_binomial_logpmf_grad_alpha_beta_n_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_n = d_n;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_n;
} beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results;

DEVICE beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results make_beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results(real value, real d_alpha, real d_beta, real d_n)
{
    beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_n = d_n;
    return results;
}


DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
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

DEVICE real special_factorial_remainder(real x)
{
    if (x < 3) {
        return x == 2 ? 2 - LOG_2 : x;
    }
    return 0.5 * log(x) + (HALF_LOG_2PI + special_stirling_series(x));
}

// beta_negative_binomial_logpmf_grad_alpha_beta_n: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real sum;
    real c0;
    real c1;
    real beta;
    real alpha;
    real product;
    real c2;
    real c3;
    real c4;
    real t12;
    real t8;
    real t18;
    real c5;
    real t21;
    real t10;
    real c6;
    real c7;
    real c8;
    real c9;
    real c10;
    real c11;
    real c12;
    real c13;
    real c14;
    real t29;
    real c15;
    real c16;
    real t41;
    real c17;
    real t46;
} beta_negative_binomial_logpmf_grad_alpha_beta_n_set;

DEVICE beta_negative_binomial_logpmf_grad_alpha_beta_n_set beta_negative_binomial_logpmf_grad_alpha_beta_n_prepare_set(real alpha, real beta, real n)
{
    beta_negative_binomial_logpmf_grad_alpha_beta_n_set set;
    real sum = alpha + beta;
    real product = n * beta;
    real t8 = log(n);
    real t9 = beta / sum;
    real t10 = log(t9);
    real t12 = 1 / n;
    real t17 = alpha / sum;
    real t18 = 1 / alpha;
    real t21 = 1 / beta;
    real t26 = special_stirling_error_derivative(sum);
    real t27 = 1 / sum;
    real t28 = special_log_slope(t9);
    real t29 = t9 * t27 * t28;
    real t38 = special_log_slope(t17);
    real t41 = t28 * ((1 - t9) * t27);
    real t46 = special_log_slope(n);
    set.n = n;
    set.sum = sum;
    set.c0 = special_log_slope(alpha + n);
    set.c1 = log(alpha + n);
    set.beta = beta;
    set.alpha = alpha;
    set.product = product;
    set.c2 = fma(-n, beta, product);
    set.c3 = n - n - n;
    set.c4 = beta - beta - beta;
    set.t12 = t12;
    set.t8 = t8;
    set.t18 = t18;
    set.c5 = log(t17);
    set.t21 = t21;
    set.t10 = t10;
    set.c6 = special_stirling_error_derivative(alpha + n);
    set.c7 = t18 * t18;
    set.c8 = t21 * t21;
    set.c9 = t12 * t12;
    set.c10 = special_stirling_error(n) - 0.5 * t8;
    set.c11 = special_stirling_error(alpha + n);
    set.c12 = special_stirling_error(alpha) + special_stirling_error(beta) - special_stirling_error(sum) - 0.5 * (log(alpha) + t10);
    set.c13 = special_stirling_error_derivative(alpha) - t26 - 0.5 * (special_log_slope(alpha) - t29);
    set.c14 = t38 * ((1 - t17) * t27);
    set.t29 = t29;
    set.c15 = special_stirling_error_derivative(beta) - t26 - 0.5 * t41;
    set.c16 = t17 * t27 * t38;
    set.t41 = t41;
    set.c17 = special_stirling_error_derivative(n) - 0.5 * t46;
    set.t46 = t46;
    return set;
}

// beta_negative_binomial_logpmf_grad_alpha_beta_n: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real t15;
    real c0;
    int c1;
    real c2;
} beta_negative_binomial_logpmf_grad_alpha_beta_n_row;

DEVICE beta_negative_binomial_logpmf_grad_alpha_beta_n_row beta_negative_binomial_logpmf_grad_alpha_beta_n_prepare_row(real x)
{
    beta_negative_binomial_logpmf_grad_alpha_beta_n_row row;
    real t15 = 1 / x;
    row.x = x;
    row.t15 = t15;
    row.c0 = special_factorial_remainder(x);
    row.c1 = x == 0;
    row.c2 = log(x);
    return row;
}

// beta_negative_binomial_logpmf_grad_alpha_beta_n: what depends on both, from what was computed ahead.
DEVICE beta_negative_binomial_logpmf_grad_alpha_beta_n_results beta_negative_binomial_logpmf_grad_alpha_beta_n_evaluate(beta_negative_binomial_logpmf_grad_alpha_beta_n_set set, beta_negative_binomial_logpmf_grad_alpha_beta_n_row row)
{
    real trials = set.n + row.x;
    real total = trials + set.sum;
    real t = special_log_slope(total);
    real t2 = set.c0 - t;
    real log_p = set.c1 - log(total);
    real t3 = special_log_slope(total);
    real t4 = -t3;
    real d_beta_log_q = special_log_slope(set.beta + row.x) - t3;
    real log_q = log(set.beta + row.x) - log(total);
    real t5 = 1 / total;
    real t6 = fma(row.x, set.alpha, -set.product) + set.c2;
    real t7 = t5 * t5 * t6;
    real d_alpha_deviation = t5 * row.x - t7;
    real d_beta_deviation = t5 * set.c3 - t7;
    real d_n_deviation = t5 * set.c4 - t7;
    real deviation = t6 * t5;
    real t11 = log(trials);
    real t13 = deviation * set.t12;
    real t14 = special_log_excess(log_p + t11 - set.t8, t13);
    real t16 = -deviation * row.t15;
    real t19 = -deviation * set.t18;
    real t20 = special_log_excess(log_p - set.c5, t19);
    real t22 = deviation * set.t21;
    real t23 = special_log_excess(log_q - set.t10, t22);
    real t24 = special_stirling_error_derivative(total);
    real t25 = set.c6 - t24;
    real t30 = special_log_slope(total);
    real t31 = t2 + t4 + t30;
    real t32 = t13 / (1 + t13);
    real t33 = set.t12 * d_alpha_deviation;
    real t34 = d_alpha_deviation * row.t15;
    real t35 = t16 / (1 + t16);
    real t36 = t19 / (1 + t19);
    real t37 = set.c7 * deviation - d_alpha_deviation * set.t18;
    real t39 = t22 / (1 + t22);
    real t40 = set.t21 * d_alpha_deviation;
    real t42 = set.t12 * d_beta_deviation;
    real t43 = d_beta_deviation * row.t15;
    real t44 = d_beta_deviation * set.t18;
    real t45 = set.t21 * d_beta_deviation - set.c8 * deviation;
    real t47 = special_log_slope(trials);
    real t48 = set.t12 * d_n_deviation - set.c9 * deviation;
    real t49 = d_n_deviation * row.t15;
    real t50 = d_n_deviation * set.t18;
    real t51 = set.t21 * d_n_deviation;
    return make_beta_negative_binomial_logpmf_grad_alpha_beta_n_results(special_stirling_error(trials) - set.c10 - row.c0 + (set.c11 + special_stirling_error(set.beta + row.x) - special_stirling_error(total)) - set.c12 - 0.5 * (log_p + log_q + log(total) + t11) + set.n * t14 + (row.c1 ? deviation : row.x * special_log_excess(log_q + t11 - row.c2, t16)) + set.alpha * t20 + set.beta * t23, t25 - set.c13 - 0.5 * t31 + set.n * (fabs(t13) < 0.5 ? -(t32 * t33) : t2 - t33) + (row.c1 ? d_alpha_deviation : row.x * (fabs(t16) < 0.5 ? t34 * t35 : t4 + t34)) + (t20 + set.alpha * (fabs(t19) < 0.5 ? -(t36 * t37) : t2 - set.c14 - t37)) + set.beta * (fabs(t22) < 0.5 ? -(t39 * t40) : t4 + set.t29 - t40), special_stirling_error_derivative(set.beta + row.x) - t24 - set.c15 - 0.5 * (d_beta_log_q - t + t30) + set.n * (fabs(t13) < 0.5 ? -(t32 * t42) : -t - t42) + (row.c1 ? d_beta_deviation : row.x * (fabs(t16) < 0.5 ? t43 * t35 : d_beta_log_q + t43)) + set.alpha * (fabs(t19) < 0.5 ? t44 * t36 : set.c16 - t + t44) + (t23 + set.beta * (fabs(t22) < 0.5 ? -(t39 * t45) : d_beta_log_q - set.t41 - t45)), special_stirling_error_derivative(trials) - set.c17 + t25 - 0.5 * (t31 + t47) + (t14 + set.n * (fabs(t13) < 0.5 ? -(t32 * t48) : t2 + t47 - set.t46 - t48)) + (row.c1 ? d_n_deviation : row.x * (fabs(t16) < 0.5 ? t49 * t35 : t4 + t47 + t49)) + set.alpha * (fabs(t19) < 0.5 ? t50 * t36 : t2 + t50) + set.beta * (fabs(t22) < 0.5 ? -(t39 * t51) : t4 - t51));
}

// beta_negative_binomial_logpmf_checked_grad_alpha_beta_n: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    beta_negative_binomial_logpmf_grad_alpha_beta_n_set beta_negative_binomial_0;
    real c0;
} beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_set;

DEVICE beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_set beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_prepare_set(real alpha, real beta, real n)
{
    beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_set set;
    real bad_alpha = alpha > 0 ? 0 : NAN;
    real bad_beta = beta > 0 ? 0 : NAN;
    real bad_n = n > 0 ? 0 : NAN;
    set.beta_negative_binomial_0 = beta_negative_binomial_logpmf_grad_alpha_beta_n_prepare_set(alpha, beta, n);
    set.c0 = bad_alpha + bad_beta + bad_n;
    return set;
}

// beta_negative_binomial_logpmf_checked_grad_alpha_beta_n: what depends on the observation alone, computed once for each.
typedef struct {
    beta_negative_binomial_logpmf_grad_alpha_beta_n_row beta_negative_binomial_0;
    int inside;
    real outside;
    real t;
} beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row;

DEVICE beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_prepare_row(real x)
{
    beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.beta_negative_binomial_0 = beta_negative_binomial_logpmf_grad_alpha_beta_n_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// beta_negative_binomial_logpmf_checked_grad_alpha_beta_n: what depends on both, from what was computed ahead.
DEVICE beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_evaluate(beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_set set, beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row row)
{
    beta_negative_binomial_logpmf_grad_alpha_beta_n_results call = beta_negative_binomial_logpmf_grad_alpha_beta_n_evaluate(set.beta_negative_binomial_0, row.beta_negative_binomial_0);
    real d_alpha_value = call.d_alpha;
    real d_beta_value = call.d_beta;
    real d_n_value = call.d_n;
    real value = call.value;
    return make_beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_alpha_value : row.t) + set.c0, (row.inside ? d_beta_value : row.t) + set.c0, (row.inside ? d_n_value : row.t) + set.c0);
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
// Here f has several results: value, d_alpha, d_beta, d_n are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride, GLOBAL const real *RESTRICT n_per_set, index_t n_offset, index_t n_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    beta_per_set += beta_offset;
    n_per_set += n_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_prepare_set(alpha_per_set[(first_set + MIN(k, sets_here - 1)) * alpha_stride], beta_per_set[(first_set + MIN(k, sets_here - 1)) * beta_stride], n_per_set[(first_set + MIN(k, sets_here - 1)) * n_stride]);
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
                    const beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row row = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results result = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_alpha;
                        total[k * 4 + 2] += result.d_beta;
                        total[k * 4 + 3] += result.d_n;
                    }
                }
                {
                    const beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row row = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results result = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_alpha;
                        total[k * 4 + 2] += result.d_beta;
                        total[k * 4 + 3] += result.d_n;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_row row = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_results result = beta_negative_binomial_logpmf_checked_grad_alpha_beta_n_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_alpha;
                        total[k * 4 + 2] += result.d_beta;
                        total[k * 4 + 3] += result.d_n;
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










