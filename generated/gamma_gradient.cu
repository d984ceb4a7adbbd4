// The gradient kernel of gamma, made by `gpustats generate`. Do not edit.
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
    const double f = fma(c, __hiloint2double((0x3ff - min(k, 0x3ff)) << 20, 0), m - 1), g = f + 2;  // c is 0 there
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
#define stop_gradient(x) (x)
#ifndef quotient
#define quotient(a, b) ((a) / (b))
#endif
#ifndef LOOP  // what a compiler has to be told in other words
#define LOOP(start, condition, step) for (start; condition; step)
#define CHOICE(condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define EITHER CHOICE
#define EITHER_INT CHOICE
#define VARYING(value) (value)
#define VARYING_INT VARYING
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct {
    real value;
    real d_alpha;
    real d_beta;
} gamma_logpdf_grad_alpha_beta_results;

DEVICE gamma_logpdf_grad_alpha_beta_results make_gamma_logpdf_grad_alpha_beta_results(real value, real d_alpha, real d_beta)
{
    gamma_logpdf_grad_alpha_beta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
} gamma_logpdf_checked_grad_alpha_beta_results;

DEVICE gamma_logpdf_checked_grad_alpha_beta_results make_gamma_logpdf_checked_grad_alpha_beta_results(real value, real d_alpha, real d_beta)
{
    gamma_logpdf_checked_grad_alpha_beta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
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

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : EITHER(power > 0, -INFINITY, value);
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
    real shift = EITHER_INT(x < 1.5, 1, 0);
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

DEVICE real special_log_gamma(real x)
{
    real log_x = log(x);
    if (x < 3) {
        return special_log_gamma_near_two(x < 1.5 ? x - 1 : x - 2) - EITHER(x < 1.5, log_x, 0);
    }
    return (x - 0.5) * (log_x - 1) + (HALF_LOG_2PI - 0.5 + special_stirling_series(x));
}

DEVICE int special_large_shape(real shape)
{
    return shape > EITHER_INT(EPSILON < 1e-10, 100, 10);
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

// special_log_product_excess: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real scale;
    real y;
    real c0;
} special_log_product_excess_rsm_set;

DEVICE special_log_product_excess_rsm_set special_log_product_excess_rsm_prepare_set(real y)
{
    special_log_product_excess_rsm_set set;
    real scale = 1 / (EPSILON * EPSILON * (EPSILON * EPSILON));
    set.scale = scale;
    set.y = y;
    set.c0 = log(scale);
    return set;
}

// special_log_product_excess: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} special_log_product_excess_rsm_row;

DEVICE special_log_product_excess_rsm_row special_log_product_excess_rsm_prepare_row(real x)
{
    special_log_product_excess_rsm_row row;
    row.c0 = x < EPSILON * EPSILON;
    row.x = x;
    return row;
}

// special_log_product_excess: what depends on both, from what was computed ahead.
DEVICE real special_log_product_excess_rsm_evaluate(special_log_product_excess_rsm_set set, special_log_product_excess_rsm_row row, real u)
{
    int tiny = u < -0.9 && row.c0;
    return special_log_ratio_excess(row.x * (tiny ? set.scale : 1) * set.y, u) - (tiny ? set.c0 : 0);
}

// gamma_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real beta;
    real alpha;
    real c0;
    real c1;
    special_log_product_excess_rsm_set special_0;
    real c2;
    real c3;
    int c4;
    real c5;
} gamma_logpdf_set;

DEVICE gamma_logpdf_set gamma_logpdf_prepare_set(real alpha, real beta)
{
    gamma_logpdf_set set;
    set.beta = beta;
    set.alpha = alpha;
    set.c0 = 1 / alpha;
    set.c1 = 0.5 * log(alpha) - HALF_LOG_2PI - special_stirling_error(alpha);
    set.special_0 = special_log_product_excess_rsm_prepare_set(beta / alpha);
    set.c2 = alpha * log(beta) - special_log_gamma(alpha);
    set.c3 = alpha - 1;
    set.c4 = special_large_shape(alpha);
    set.c5 = log(beta);
    return set;
}

// gamma_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
    special_log_product_excess_rsm_row special_0;
    int c1;
    int c2;
} gamma_logpdf_row;

DEVICE gamma_logpdf_row gamma_logpdf_prepare_row(real x)
{
    gamma_logpdf_row row;
    row.x = x;
    row.c0 = log(x);
    row.special_0 = special_log_product_excess_rsm_prepare_row(x);
    row.c1 = x == 0;
    row.c2 = isinf(x);
    return row;
}

// gamma_logpdf: what depends on both, from what was computed ahead.
DEVICE real gamma_logpdf_evaluate(gamma_logpdf_set set, gamma_logpdf_row row)
{
    real value;
    if (set.c4) {
        real u = fma(set.beta, row.x, -set.alpha) * set.c0;
        value = set.c1 - row.c0 + set.alpha * special_log_product_excess_rsm_evaluate(set.special_0, row.special_0, u);
    } else {
        value = set.c2 + set.c3 * row.c0 - set.beta * row.x;
    }
    real at_zero = special_log_power_at_zero(set.c3, set.c5 - set.beta * row.x);
    return row.c1 ? at_zero : EITHER(row.c2, -INFINITY, value);
}

// gamma_logpdf_grad_alpha: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
} gamma_logpdf_grad_alpha_set;

DEVICE gamma_logpdf_grad_alpha_set gamma_logpdf_grad_alpha_prepare_set(real alpha, real beta)
{
    gamma_logpdf_grad_alpha_set set;
    set.c0 = log(beta) - special_digamma(alpha);
    return set;
}

// gamma_logpdf_grad_alpha: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real c1;
} gamma_logpdf_grad_alpha_row;

DEVICE gamma_logpdf_grad_alpha_row gamma_logpdf_grad_alpha_prepare_row(real x)
{
    gamma_logpdf_grad_alpha_row row;
    row.c0 = isinf(x);
    row.c1 = log(x);
    return row;
}

// gamma_logpdf_grad_alpha: what depends on both, from what was computed ahead.
DEVICE real gamma_logpdf_grad_alpha_evaluate(gamma_logpdf_grad_alpha_set set, gamma_logpdf_grad_alpha_row row)
{
    return row.c0 ? 0 : row.c1 + set.c0;
}

// gamma_logpdf_grad_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real beta;
    real alpha;
    real c0;
} gamma_logpdf_grad_beta_set;

DEVICE gamma_logpdf_grad_beta_set gamma_logpdf_grad_beta_prepare_set(real alpha, real beta)
{
    gamma_logpdf_grad_beta_set set;
    set.beta = beta;
    set.alpha = alpha;
    set.c0 = 1 / beta;
    return set;
}

// gamma_logpdf_grad_beta: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} gamma_logpdf_grad_beta_row;

DEVICE gamma_logpdf_grad_beta_row gamma_logpdf_grad_beta_prepare_row(real x)
{
    gamma_logpdf_grad_beta_row row;
    row.c0 = isinf(x);
    row.x = x;
    return row;
}

// gamma_logpdf_grad_beta: what depends on both, from what was computed ahead.
DEVICE real gamma_logpdf_grad_beta_evaluate(gamma_logpdf_grad_beta_set set, gamma_logpdf_grad_beta_row row)
{
    return row.c0 ? 0 : -fma(set.beta, row.x, -set.alpha) * set.c0;
}

// gamma_logpdf_grad_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    gamma_logpdf_set gamma_0;
    gamma_logpdf_grad_alpha_set gamma_1;
    gamma_logpdf_grad_beta_set gamma_2;
} gamma_logpdf_grad_alpha_beta_set;

DEVICE gamma_logpdf_grad_alpha_beta_set gamma_logpdf_grad_alpha_beta_prepare_set(real alpha, real beta)
{
    gamma_logpdf_grad_alpha_beta_set set;
    set.gamma_0 = gamma_logpdf_prepare_set(alpha, beta);
    set.gamma_1 = gamma_logpdf_grad_alpha_prepare_set(alpha, beta);
    set.gamma_2 = gamma_logpdf_grad_beta_prepare_set(alpha, beta);
    return set;
}

// gamma_logpdf_grad_alpha_beta: what depends on the observation alone, computed once for each.
typedef struct {
    gamma_logpdf_row gamma_0;
    gamma_logpdf_grad_alpha_row gamma_1;
    gamma_logpdf_grad_beta_row gamma_2;
} gamma_logpdf_grad_alpha_beta_row;

DEVICE gamma_logpdf_grad_alpha_beta_row gamma_logpdf_grad_alpha_beta_prepare_row(real x)
{
    gamma_logpdf_grad_alpha_beta_row row;
    row.gamma_0 = gamma_logpdf_prepare_row(x);
    row.gamma_1 = gamma_logpdf_grad_alpha_prepare_row(x);
    row.gamma_2 = gamma_logpdf_grad_beta_prepare_row(x);
    return row;
}

// gamma_logpdf_grad_alpha_beta: what depends on both, from what was computed ahead.
DEVICE gamma_logpdf_grad_alpha_beta_results gamma_logpdf_grad_alpha_beta_evaluate(gamma_logpdf_grad_alpha_beta_set set, gamma_logpdf_grad_alpha_beta_row row)
{
    return make_gamma_logpdf_grad_alpha_beta_results(gamma_logpdf_evaluate(set.gamma_0, row.gamma_0), gamma_logpdf_grad_alpha_evaluate(set.gamma_1, row.gamma_1), gamma_logpdf_grad_beta_evaluate(set.gamma_2, row.gamma_2));
}

// gamma_logpdf_checked_grad_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    gamma_logpdf_grad_alpha_beta_set gamma_0;
    real c0;
} gamma_logpdf_checked_grad_alpha_beta_set;

DEVICE gamma_logpdf_checked_grad_alpha_beta_set gamma_logpdf_checked_grad_alpha_beta_prepare_set(real alpha, real beta)
{
    gamma_logpdf_checked_grad_alpha_beta_set set;
    real bad_alpha = EITHER(alpha > 0, 0, NAN);
    real bad_beta = EITHER(beta > 0, 0, NAN);
    set.gamma_0 = gamma_logpdf_grad_alpha_beta_prepare_set(alpha, beta);
    set.c0 = bad_alpha + bad_beta;
    return set;
}

// gamma_logpdf_checked_grad_alpha_beta: what depends on the observation alone, computed once for each.
typedef struct {
    gamma_logpdf_grad_alpha_beta_row gamma_0;
    int inside;
    real outside;
    real t;
} gamma_logpdf_checked_grad_alpha_beta_row;

DEVICE gamma_logpdf_checked_grad_alpha_beta_row gamma_logpdf_checked_grad_alpha_beta_prepare_row(real x)
{
    gamma_logpdf_checked_grad_alpha_beta_row row;
    real t = EITHER(x == x, 0, NAN);
    real outside = EITHER(x == x, -INFINITY, NAN);
    int inside = x >= 0;
    row.gamma_0 = gamma_logpdf_grad_alpha_beta_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// gamma_logpdf_checked_grad_alpha_beta: what depends on both, from what was computed ahead.
DEVICE gamma_logpdf_checked_grad_alpha_beta_results gamma_logpdf_checked_grad_alpha_beta_evaluate(gamma_logpdf_checked_grad_alpha_beta_set set, gamma_logpdf_checked_grad_alpha_beta_row row)
{
    gamma_logpdf_grad_alpha_beta_results call = gamma_logpdf_grad_alpha_beta_evaluate(set.gamma_0, row.gamma_0);
    real d_alpha_value = call.d_alpha;
    real d_beta_value = call.d_beta;
    real value = call.value;
    return make_gamma_logpdf_checked_grad_alpha_beta_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_alpha_value : row.t) + set.c0, (row.inside ? d_beta_value : row.t) + set.c0);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s: the lanes of each warp as a tree, then the warps
// in their order.
DEVICE void add_threads(SHARED double *sums)
{
    BARRIER();
    {
        double own[16];
        UNROLL for (int s = 0; s < 16; s++)
            own[s] = s < 12 ? sums[(0 + s) * 128 + THREAD] : 0;
        UNROLL for (int s = 0; s < 8; s++) {
            const double given = THREAD & 16 ? own[s] : own[s + 8], kept = THREAD & 16 ? own[s + 8] : own[s];
            own[s] = kept + __shfl_xor_sync(0xFFFFFFFF, given, 16);
        }
        UNROLL for (int s = 0; s < 4; s++) {
            const double given = THREAD & 8 ? own[s] : own[s + 4], kept = THREAD & 8 ? own[s + 4] : own[s];
            own[s] = kept + __shfl_xor_sync(0xFFFFFFFF, given, 8);
        }
        UNROLL for (int s = 0; s < 2; s++) {
            const double given = THREAD & 4 ? own[s] : own[s + 2], kept = THREAD & 4 ? own[s + 2] : own[s];
            own[s] = kept + __shfl_xor_sync(0xFFFFFFFF, given, 4);
        }
        UNROLL for (int s = 0; s < 1; s++) {
            const double given = THREAD & 2 ? own[s] : own[s + 1], kept = THREAD & 2 ? own[s + 1] : own[s];
            own[s] = kept + __shfl_xor_sync(0xFFFFFFFF, given, 2);
        }
        own[0] += __shfl_xor_sync(0xFFFFFFFF, own[0], 1);
        const int s = THREAD % 32 / 2;
        if (THREAD % 2 == 0 && s < 12)
            sums[(0 + s) * 128 + THREAD / 32 * 32] = own[0];
    }
    BARRIER();
    for (int s = THREAD; s < 12; s += 128)
        UNROLL for (int first = 32; first < 128; first += 32)
            sums[s * 128] += sums[s * 128 + first];
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 3; first += 12) {
        const int sums_here = (int)MIN(sets_here * 3 - first, 12);
        double total[12];
        UNROLL for (int s = 0; s < 12; s++)
            total[s] = 0;
        for (index_t b = THREAD; b < blocks; b += 128)  // all loads of a turn at once
            UNROLL for (int s = 0; s < 12; s++)
                if (s < sums_here)
                    total[s] += partial[(first_set * 3 + first + s) * blocks + b];
        UNROLL for (int s = 0; s < 12; s++)
            sums[s * 128 + THREAD] = total[s];
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 3 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_alpha, d_beta are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) gamma_logpdf_checked_grad_alpha_beta_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    beta_per_set += beta_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(gamma_logpdf_checked_grad_alpha_beta_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = gamma_logpdf_checked_grad_alpha_beta_prepare_set(alpha_per_set[(first_set + MIN(k, sets_here - 1)) * alpha_stride], beta_per_set[(first_set + MIN(k, sets_here - 1)) * beta_stride]);
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
                    const gamma_logpdf_checked_grad_alpha_beta_row row = gamma_logpdf_checked_grad_alpha_beta_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const gamma_logpdf_checked_grad_alpha_beta_results result = gamma_logpdf_checked_grad_alpha_beta_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_alpha;
                        total[k * 3 + 2] += result.d_beta;
                    }
                }
                {
                    const gamma_logpdf_checked_grad_alpha_beta_row row = gamma_logpdf_checked_grad_alpha_beta_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const gamma_logpdf_checked_grad_alpha_beta_results result = gamma_logpdf_checked_grad_alpha_beta_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_alpha;
                        total[k * 3 + 2] += result.d_beta;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const gamma_logpdf_checked_grad_alpha_beta_row row = gamma_logpdf_checked_grad_alpha_beta_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const gamma_logpdf_checked_grad_alpha_beta_results result = gamma_logpdf_checked_grad_alpha_beta_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_alpha;
                        total[k * 3 + 2] += result.d_beta;
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










