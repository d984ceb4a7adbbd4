// The table kernel of gamma, made by `gpustats generate`. Do not edit.
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

// gamma_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    gamma_logpdf_set gamma_0;
    real c0;
} gamma_logpdf_checked_set;

DEVICE gamma_logpdf_checked_set gamma_logpdf_checked_prepare_set(real alpha, real beta)
{
    gamma_logpdf_checked_set set;
    real bad_alpha = EITHER(alpha > 0, 0, NAN);
    real bad_beta = EITHER(beta > 0, 0, NAN);
    set.gamma_0 = gamma_logpdf_prepare_set(alpha, beta);
    set.c0 = bad_alpha + bad_beta;
    return set;
}

// gamma_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    gamma_logpdf_row gamma_0;
    int inside;
    real outside;
} gamma_logpdf_checked_row;

DEVICE gamma_logpdf_checked_row gamma_logpdf_checked_prepare_row(real x)
{
    gamma_logpdf_checked_row row;
    real outside = EITHER(x == x, -INFINITY, NAN);
    int inside = x >= 0;
    row.gamma_0 = gamma_logpdf_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// gamma_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real gamma_logpdf_checked_evaluate(gamma_logpdf_checked_set set, gamma_logpdf_checked_row row)
{
    real value = gamma_logpdf_evaluate(set.gamma_0, row.gamma_0);
    return (row.inside ? value : row.outside) + set.c0;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) gamma_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    beta_per_set += beta_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(gamma_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = gamma_logpdf_checked_prepare_set(alpha_per_set[(first_set + k) * alpha_stride], beta_per_set[(first_set + k) * beta_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    gamma_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(gamma_logpdf_checked_row, rows, 512);

    for (index_t first = BLOCK_Y * 512; first < n_rows; first += BLOCKS_Y * 512) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)512);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = gamma_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].gamma_0.c4)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const gamma_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, gamma_logpdf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const gamma_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, gamma_logpdf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


