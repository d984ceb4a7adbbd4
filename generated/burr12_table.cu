// The table kernel of burr12, made by `gpustats generate`. Do not edit.
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

DEVICE real special_log1p_unit(real e)
{
    real s = quotient(e, 2 + e);
    real z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

// special_log_quotient: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real s;
    real c0;
} special_log_quotient_set;

DEVICE special_log_quotient_set special_log_quotient_prepare_set(real s)
{
    special_log_quotient_set set;
    set.s = s;
    set.c0 = log(s);
    return set;
}

// special_log_quotient: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
} special_log_quotient_row;

DEVICE special_log_quotient_row special_log_quotient_prepare_row(real x)
{
    special_log_quotient_row row;
    row.x = x;
    row.c0 = log(x);
    return row;
}

// special_log_quotient: what depends on both, from what was computed ahead.
DEVICE real special_log_quotient_evaluate(special_log_quotient_set set, special_log_quotient_row row)
{
    real value = log(row.x / set.s);
    return fabs(value) < (EPSILON < 1e-10 ? 600 : 60) ? value : row.c0 - set.c0;
}

// burr12_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real sigma;
    special_log_quotient_set special_0;
    real c;
    real c0;
    real c1;
    real c2;
    real c3;
    real c4;
} burr12_logpdf_set;

DEVICE burr12_logpdf_set burr12_logpdf_prepare_set(real c, real k, real sigma)
{
    burr12_logpdf_set set;
    set.sigma = sigma;
    set.special_0 = special_log_quotient_prepare_set(sigma);
    set.c = c;
    set.c0 = log(c * k / sigma);
    set.c1 = -c * k - 1;
    set.c2 = c - 1;
    set.c3 = k + 1;
    set.c4 = log(k / sigma);
    return set;
}

// burr12_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    special_log_quotient_row special_0;
    int c0;
    int c1;
} burr12_logpdf_row;

DEVICE burr12_logpdf_row burr12_logpdf_prepare_row(real x)
{
    burr12_logpdf_row row;
    row.x = x;
    row.special_0 = special_log_quotient_prepare_row(x);
    row.c0 = x == 0;
    row.c1 = isinf(x);
    return row;
}

// burr12_logpdf: what depends on both, from what was computed ahead.
DEVICE real burr12_logpdf_evaluate(burr12_logpdf_set set, burr12_logpdf_row row)
{
    real z = row.x / set.sigma;
    real log_z = special_log_quotient_evaluate(set.special_0, row.special_0);
    real y = log_z > 0 ? -set.c * log_z : set.c * log_z;
    real value = set.c0 + (log_z > 0 ? set.c1 : set.c2) * log_z - set.c3 * special_log1p_unit(exp(y));
    real at_zero = special_log_power_at_zero(set.c2, set.c4 - set.c3 * z);
    return row.c0 ? at_zero : row.c1 ? -INFINITY : value;
}

// burr12_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    burr12_logpdf_set burr12_0;
    real c0;
} burr12_logpdf_checked_set;

DEVICE burr12_logpdf_checked_set burr12_logpdf_checked_prepare_set(real c, real k, real sigma)
{
    burr12_logpdf_checked_set set;
    real bad_c = c > 0 ? 0 : NAN;
    real bad_k = k > 0 ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.burr12_0 = burr12_logpdf_prepare_set(c, k, sigma);
    set.c0 = bad_c + bad_k + bad_sigma;
    return set;
}

// burr12_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    burr12_logpdf_row burr12_0;
    int inside;
    real outside;
} burr12_logpdf_checked_row;

DEVICE burr12_logpdf_checked_row burr12_logpdf_checked_prepare_row(real x)
{
    burr12_logpdf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.burr12_0 = burr12_logpdf_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// burr12_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real burr12_logpdf_checked_evaluate(burr12_logpdf_checked_set set, burr12_logpdf_checked_row row)
{
    real value = burr12_logpdf_evaluate(set.burr12_0, row.burr12_0);
    return (row.inside ? value : row.outside) + set.c0;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) burr12_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT c_per_set, index_t c_offset, index_t c_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    c_per_set += c_offset;
    k_per_set += k_offset;
    sigma_per_set += sigma_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(burr12_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = burr12_logpdf_checked_prepare_set(c_per_set[(first_set + k) * c_stride], k_per_set[(first_set + k) * k_stride], sigma_per_set[(first_set + k) * sigma_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    burr12_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(burr12_logpdf_checked_row, rows, 512);

    for (index_t first = BLOCK_Y * 512; first < n_rows; first += BLOCKS_Y * 512) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)512);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = burr12_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const burr12_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, burr12_logpdf_checked_evaluate(set[0], row));
        }
        BARRIER();
    }
}


