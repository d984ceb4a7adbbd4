// The table kernel of mvnormal, made by `gpustats generate`. Do not edit.
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

// mvnormal_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
} mvnormal_logpdf_ms_set;

DEVICE mvnormal_logpdf_ms_set mvnormal_logpdf_ms_prepare_set(real logdet, int dim)
{
    mvnormal_logpdf_ms_set set;
    set.c0 = -0.5 * (dim * LOG_2PI + logdet);
    return set;
}

// mvnormal_logpdf: what depends on both, from what was computed ahead.
DEVICE real mvnormal_logpdf_ms_evaluate(mvnormal_logpdf_ms_set set, real sqdist)
{
    return set.c0 - 0.5 * sqdist;
}

// mvnormal_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    mvnormal_logpdf_ms_set mvnormal_0;
    real bad_logdet;
} mvnormal_logpdf_checked_ms_set;

DEVICE mvnormal_logpdf_checked_ms_set mvnormal_logpdf_checked_ms_prepare_set(real logdet, int dim)
{
    mvnormal_logpdf_checked_ms_set set;
    real bad_logdet = logdet == logdet ? 0 : NAN;
    set.mvnormal_0 = mvnormal_logpdf_ms_prepare_set(logdet, dim);
    set.bad_logdet = bad_logdet;
    return set;
}

// mvnormal_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real mvnormal_logpdf_checked_ms_evaluate(mvnormal_logpdf_checked_ms_set set, real sqdist)
{
    real outside = sqdist == sqdist ? -INFINITY : NAN;
    int inside = sqdist == sqdist;
    real value = mvnormal_logpdf_ms_evaluate(set.mvnormal_0, sqdist);
    return (inside ? value : outside) + set.bad_logdet;
}



// The table, loglik and mixture shapes for elliptical densities, which see an observation through its squared Mahalanobis distance
// |W (x - mu)|^2, W lower triangular. This is where the arithmetic is: dim^2/2 multiplications for every entry.
//
// A block keeps a tile of rows (transposed, so that its threads read consecutive addresses) and the W of its sets in shared
// memory. A thread multiplies 2 of the rows by 16 rows of W at a time, in registers: each number that it
// reads is used 2 or 16 times. W comes packed in the order of use: for each 16 rows of it, column
// by column, without the zeros above the diagonal but for the blocks that it crosses.
#define DIM 16
#define PADDED_TILE 257
#if __CUDA_ARCH__ >= 800
#define SHARED_ADDRESS(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY_TO_SHARED(type, to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" \
    :: "r"(SHARED_ADDRESS(to)), "l"(from), "n"(sizeof(type)))
#define COPIES_STARTED() asm volatile("cp.async.commit_group;")
#define WAIT_FOR_COPIES(later) asm volatile("cp.async.wait_group %0;" :: "n"(later))
#endif
#ifndef COPY_TO_SHARED  // no copies in the background: they are done at once
#define COPY_TO_SHARED(type, to, from) (*(SHARED type *)(to) = *(GLOBAL const type *)(from))
#define COPIES_STARTED()
#define WAIT_FOR_COPIES(later)
#endif

// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *x_rows, index_t first, index_t n_rows)
{
    const int numbers = (int)MIN(n_rows - first, (index_t)256) * DIM;
    SHARED real *to = tile + (int)THREAD % DIM * PADDED_TILE + (int)THREAD / DIM;
    int column = (int)THREAD % DIM;
    x_rows += first * DIM;
    UNROLL_BY_4 for (int e = (int)THREAD; e < 256 * DIM; e += 128) {
        if (e < numbers)
            COPY_TO_SHARED(real, to, x_rows + e);
        else
            *to = 0;
        column += 0;
        to += 0 * PADDED_TILE + 8;
        if (column >= DIM) {
            column -= DIM;
            to += 1 - DIM * PADDED_TILE;
        }
    }
    COPIES_STARTED();
}
KERNEL(128) mvnormal_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_rows, index_t x_offset, index_t x_stride,
    GLOBAL const real *RESTRICT factors, index_t factors_offset, index_t factors_stride,
    GLOBAL const real *RESTRICT means, index_t means_offset, index_t means_stride,
    GLOBAL const real *RESTRICT logdet_per_set, index_t logdet_offset, index_t logdet_stride, int dim)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_rows += x_offset + first_set * x_stride;
    factors += factors_offset + first_set * factors_stride;
    means += means_offset + first_set * means_stride;
    logdet_per_set += logdet_offset;

    DYNAMIC_SHARED_ARRAY(real, shared_reals, 6288);
    SHARED real *const tile = shared_reals;
    SHARED real *const shared_factors = shared_reals + 4112;
    SHARED real *const shared_means = shared_factors + 2048;
    UNROLL_BY_4 for (int e = (int)THREAD; e < MIN(8, sets_here - 0) * 256; e += 128)
        shared_factors[e] = factors[(0 + e / 256) * factors_stride + e % 256];
    for (int e = (int)THREAD; e < MIN(8, sets_here - 0) * DIM; e += 128)
        shared_means[e] = means[(0 + e / DIM) * means_stride + e % DIM];
    SHARED_ARRAY(mvnormal_logpdf_checked_ms_set, sets, 8);
    for (index_t e = THREAD; e < MIN(8, sets_here - 0); e += 128)
        sets[e] = mvnormal_logpdf_checked_ms_prepare_set(logdet_per_set[(first_set + 0 + e) * logdet_stride], dim);

    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        BARRIER();  // the last tile has been used
        start_tile(tile, x_rows, first, n_rows);
        WAIT_FOR_COPIES(0);
        BARRIER();
        real kept[2][2];  // values of the last sets, for one wide store
        UNROLL for (int r = 0; r < 2; r++)
            UNROLL for (int v = 0; v < 2; v++)
                kept[r][v] = 0;
        for (int k = 0; k < sets_here; k++) {
            SHARED const real *factor = shared_factors + k % 8 * 256;
            SHARED const real *mean = shared_means + k % 8 * DIM;
            real sqdist[2];
            UNROLL for (int r = 0; r < 2; r++)
                sqdist[r] = 0;
            UNROLL for (int i = 0; i < DIM; i += 16) {  // rows i .. i + 15 of W
                real z[2][16];
                UNROLL for (int r = 0; r < 2; r++)
                    UNROLL for (int b = 0; b < 16; b++)
                        z[r][b] = 0;
                UNROLL_BY_4 for (int j = 0; j < i; j++, factor += 16)
                    UNROLL for (int r = 0; r < 2; r++) {
                        const real y = tile[j * PADDED_TILE + r * 128 + THREAD] - mean[j];
                        UNROLL for (int b = 0; b < 16; b++)
                            z[r][b] += factor[b] * y;
                    }
                UNROLL for (int c = 0; c < 16; c++)  // the triangle on the diagonal
                    {
                        UNROLL for (int r = 0; r < 2; r++) {
                            const real y = tile[(i + c) * PADDED_TILE + r * 128 + THREAD] - mean[i + c];
                            UNROLL for (int b = c; b < 16; b++)
                                z[r][b] += factor[b] * y;
                        }
                        factor += 16;
                    }
                UNROLL for (int r = 0; r < 2; r++)
                    UNROLL for (int b = 0; b < 16; b++)
                        sqdist[r] += z[r][b] * z[r][b];
            }
            UNROLL for (int r = 0; r < 2; r++) {
                const index_t n = first + r * 128 + THREAD;
                UNROLL for (int v = 0; v < 1; v++)
                    kept[r][v] = kept[r][v + 1];
                kept[r][1] = mvnormal_logpdf_checked_ms_evaluate(sets[k], sqdist[r]);
                if (k % 2 == 1 && n < n_rows) {
                    double2 together;
                    together.x = kept[r][0];
                    together.y = kept[r][1];
                    *(GLOBAL double2 *)(out + out_offset + n * row_stride + first_set + k - 1) = together;
                }
            }
        }
    }
}



