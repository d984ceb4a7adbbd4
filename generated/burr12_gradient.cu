// The gradient kernel of burr12, made by `gpustats generate`. Do not edit.
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
    real d_c;
    real d_k;
    real d_sigma;
} burr12_logpdf_grad_c_k_sigma_results;

DEVICE burr12_logpdf_grad_c_k_sigma_results make_burr12_logpdf_grad_c_k_sigma_results(real value, real d_c, real d_k, real d_sigma)
{
    burr12_logpdf_grad_c_k_sigma_results results;
    results.value = value;
    results.d_c = d_c;
    results.d_k = d_k;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_c;
    real d_k;
    real d_sigma;
} burr12_logpdf_checked_grad_c_k_sigma_results;

DEVICE burr12_logpdf_checked_grad_c_k_sigma_results make_burr12_logpdf_checked_grad_c_k_sigma_results(real value, real d_c, real d_k, real d_sigma)
{
    burr12_logpdf_checked_grad_c_k_sigma_results results;
    results.value = value;
    results.d_c = d_c;
    results.d_k = d_k;
    results.d_sigma = d_sigma;
    return results;
}


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

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
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

// burr12_logpdf_grad_c_k_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real sigma;
    real c0;
    special_log_quotient_set special_0;
    real c1;
    real c2;
    real c;
    real c3;
    real c4;
    real c5;
    real k;
    real c6;
    real c7;
    real d_sigma_log_z;
    real c8;
    real c9;
    int c10;
    real c11;
    real c12;
    real c13;
    real d_c_at_zero;
} burr12_logpdf_grad_c_k_sigma_set;

DEVICE burr12_logpdf_grad_c_k_sigma_set burr12_logpdf_grad_c_k_sigma_prepare_set(real c, real k, real sigma)
{
    burr12_logpdf_grad_c_k_sigma_set set;
    real d_sigma_log_z = -special_log_slope(sigma);
    real t2 = c * k / sigma;
    real t3 = special_log_slope(t2);
    real t4 = 1 / sigma;
    real t9 = k / sigma;
    real t10 = special_log_slope(t9);
    real t11 = 1 / sigma;
    real d_c_at_zero = c - 1 == 0 ? -INFINITY : 0;
    set.sigma = sigma;
    set.c0 = 1 / sigma;
    set.special_0 = special_log_quotient_prepare_set(sigma);
    set.c1 = -(c * d_sigma_log_z);
    set.c2 = c * d_sigma_log_z;
    set.c = c;
    set.c3 = -c * k - 1;
    set.c4 = c - 1;
    set.c5 = t3 * (k * t4);
    set.k = k;
    set.c6 = k + 1;
    set.c7 = t3 * (c * t4);
    set.d_sigma_log_z = d_sigma_log_z;
    set.c8 = t2 * t4 * t3;
    set.c9 = log(t2);
    set.c10 = c - 1 == 0;
    set.c11 = t10 * t11;
    set.c12 = -(t9 * t11 * t10);
    set.c13 = log(t9);
    set.d_c_at_zero = d_c_at_zero;
    return set;
}

// burr12_logpdf_grad_c_k_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    special_log_quotient_row special_0;
    int c0;
    int c1;
} burr12_logpdf_grad_c_k_sigma_row;

DEVICE burr12_logpdf_grad_c_k_sigma_row burr12_logpdf_grad_c_k_sigma_prepare_row(real x)
{
    burr12_logpdf_grad_c_k_sigma_row row;
    row.x = x;
    row.special_0 = special_log_quotient_prepare_row(x);
    row.c0 = x == 0;
    row.c1 = isinf(x);
    return row;
}

// burr12_logpdf_grad_c_k_sigma: what depends on both, from what was computed ahead.
DEVICE burr12_logpdf_grad_c_k_sigma_results burr12_logpdf_grad_c_k_sigma_evaluate(burr12_logpdf_grad_c_k_sigma_set set, burr12_logpdf_grad_c_k_sigma_row row)
{
    real t = row.x / set.sigma;
    real d_sigma_z = -(t * set.c0);
    real z = t;
    real log_z = special_log_quotient_evaluate(set.special_0, row.special_0);
    real d_c_y = log_z > 0 ? -log_z : log_z;
    real d_sigma_y = log_z > 0 ? set.c1 : set.c2;
    real y = log_z > 0 ? -set.c * log_z : set.c * log_z;
    real t5 = exp(y);
    real t6 = quotient((real)(1), 1 + t5);
    real t7 = special_log1p_unit(t5);
    real t8 = log_z > 0 ? set.c3 : set.c4;
    real d_c_value = set.c5 + log_z * (log_z > 0 ? -set.k : 1) - set.c6 * (t6 * (t5 * d_c_y));
    real d_k_value = set.c7 + log_z * (log_z > 0 ? -set.c : 0) - t7;
    real d_sigma_value = t8 * set.d_sigma_log_z - set.c8 - set.c6 * (t6 * (t5 * d_sigma_y));
    real value = set.c9 + t8 * log_z - set.c6 * t7;
    real d_k_at_zero = set.c10 ? set.c11 - z : 0;
    real d_sigma_at_zero = set.c10 ? set.c12 - set.c6 * d_sigma_z : 0;
    real at_zero = special_log_power_at_zero(set.c4, set.c13 - set.c6 * z);
    return make_burr12_logpdf_grad_c_k_sigma_results(row.c0 ? at_zero : row.c1 ? -INFINITY : value, row.c0 ? set.d_c_at_zero : row.c1 ? 0 : d_c_value, row.c0 ? d_k_at_zero : row.c1 ? 0 : d_k_value, row.c0 ? d_sigma_at_zero : row.c1 ? 0 : d_sigma_value);
}

// burr12_logpdf_checked_grad_c_k_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    burr12_logpdf_grad_c_k_sigma_set burr12_0;
    real c0;
} burr12_logpdf_checked_grad_c_k_sigma_set;

DEVICE burr12_logpdf_checked_grad_c_k_sigma_set burr12_logpdf_checked_grad_c_k_sigma_prepare_set(real c, real k, real sigma)
{
    burr12_logpdf_checked_grad_c_k_sigma_set set;
    real bad_c = c > 0 ? 0 : NAN;
    real bad_k = k > 0 ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.burr12_0 = burr12_logpdf_grad_c_k_sigma_prepare_set(c, k, sigma);
    set.c0 = bad_c + bad_k + bad_sigma;
    return set;
}

// burr12_logpdf_checked_grad_c_k_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    burr12_logpdf_grad_c_k_sigma_row burr12_0;
    int inside;
    real outside;
    real t;
} burr12_logpdf_checked_grad_c_k_sigma_row;

DEVICE burr12_logpdf_checked_grad_c_k_sigma_row burr12_logpdf_checked_grad_c_k_sigma_prepare_row(real x)
{
    burr12_logpdf_checked_grad_c_k_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.burr12_0 = burr12_logpdf_grad_c_k_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// burr12_logpdf_checked_grad_c_k_sigma: what depends on both, from what was computed ahead.
DEVICE burr12_logpdf_checked_grad_c_k_sigma_results burr12_logpdf_checked_grad_c_k_sigma_evaluate(burr12_logpdf_checked_grad_c_k_sigma_set set, burr12_logpdf_checked_grad_c_k_sigma_row row)
{
    burr12_logpdf_grad_c_k_sigma_results call = burr12_logpdf_grad_c_k_sigma_evaluate(set.burr12_0, row.burr12_0);
    real d_c_value = call.d_c;
    real d_k_value = call.d_k;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_burr12_logpdf_checked_grad_c_k_sigma_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_c_value : row.t) + set.c0, (row.inside ? d_k_value : row.t) + set.c0, (row.inside ? d_sigma_value : row.t) + set.c0);
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
// Here f has several results: value, d_c, d_k, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) burr12_logpdf_checked_grad_c_k_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT c_per_set, index_t c_offset, index_t c_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    c_per_set += c_offset;
    k_per_set += k_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(burr12_logpdf_checked_grad_c_k_sigma_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = burr12_logpdf_checked_grad_c_k_sigma_prepare_set(c_per_set[(first_set + MIN(k, sets_here - 1)) * c_stride], k_per_set[(first_set + MIN(k, sets_here - 1)) * k_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const burr12_logpdf_checked_grad_c_k_sigma_row row = burr12_logpdf_checked_grad_c_k_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const burr12_logpdf_checked_grad_c_k_sigma_results result = burr12_logpdf_checked_grad_c_k_sigma_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_c;
                        total[k * 4 + 2] += result.d_k;
                        total[k * 4 + 3] += result.d_sigma;
                    }
                }
                {
                    const burr12_logpdf_checked_grad_c_k_sigma_row row = burr12_logpdf_checked_grad_c_k_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const burr12_logpdf_checked_grad_c_k_sigma_results result = burr12_logpdf_checked_grad_c_k_sigma_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_c;
                        total[k * 4 + 2] += result.d_k;
                        total[k * 4 + 3] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const burr12_logpdf_checked_grad_c_k_sigma_row row = burr12_logpdf_checked_grad_c_k_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const burr12_logpdf_checked_grad_c_k_sigma_results result = burr12_logpdf_checked_grad_c_k_sigma_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_c;
                        total[k * 4 + 2] += result.d_k;
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










