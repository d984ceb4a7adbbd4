// The gradient kernel of mvnormal, made by `gpustats generate`. Do not edit.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef long index_t;
#ifndef __has_attribute
#define __has_attribute(name) 0
#endif
#if __has_attribute(intel_vec_len_hint)  // keeps Intel's compiler from wide vectors, whose blocks it would run one thread at a time
#define VECTORS_OF(n) , intel_vec_len_hint(n)
#else
#define VECTORS_OF(n)
#endif
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1) VECTORS_OF(MIN(threads, 8)))) void
#define DEVICE static inline __attribute__((always_inline))  // Intel's compiler vectorises no calls
#define GLOBAL __global
#define SHARED __local
#define RESTRICT restrict
#define SHARED_ARRAY(type, name, count) __local type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) __local type name[count] __attribute__((aligned(16)))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4  // compilers for CPUs know better
#define STORE_STREAMING(to, value) (*(to) = (value))
#define THREAD ((index_t)get_local_id(0))  // as wide as an address: vectorisers of CPUs then see consecutive accesses
#define BLOCK_X ((index_t)get_group_id(0))
#define BLOCK_Y ((index_t)get_group_id(1))
#define BLOCKS_Y ((index_t)get_num_groups(1))
#define BLOCKS_X ((index_t)get_num_groups(0))
#define STORE_2(v, to) vstore2((double2)(v##0, v##1), 0, to)
#define STORE_4(v, to) vstore4((double4)(v##0, v##1, v##2, v##3), 0, to)
#define STORE_8(v, to) vstore8((double8)(v##0, v##1, v##2, v##3, v##4, v##5, v##6, v##7), 0, to)
#ifdef NVIDIA  // the compute capability of a GPU of NVIDIA's, by an option of the compiler
#define __double2hiint(number) as_int2(number).y
#define __double2loint(number) as_int2(number).x
#define __hiloint2double(upper, lower) as_double((int2)(lower, upper))
#define __double_as_longlong(number) as_long(number)
typedef unsigned long bits_t;

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
#endif
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
    real d_sqdist;
    real d_logdet;
} mvnormal_logpdf_grad_sqdist_logdet_results;

DEVICE mvnormal_logpdf_grad_sqdist_logdet_results make_mvnormal_logpdf_grad_sqdist_logdet_results(real value, real d_sqdist, real d_logdet)
{
    mvnormal_logpdf_grad_sqdist_logdet_results results;
    results.value = value;
    results.d_sqdist = d_sqdist;
    results.d_logdet = d_logdet;
    return results;
}


typedef struct {
    real value;
    real d_sqdist;
    real d_logdet;
} mvnormal_logpdf_checked_grad_sqdist_logdet_results;

DEVICE mvnormal_logpdf_checked_grad_sqdist_logdet_results make_mvnormal_logpdf_checked_grad_sqdist_logdet_results(real value, real d_sqdist, real d_logdet)
{
    mvnormal_logpdf_checked_grad_sqdist_logdet_results results;
    results.value = value;
    results.d_sqdist = d_sqdist;
    results.d_logdet = d_logdet;
    return results;
}


// mvnormal_logpdf_grad_sqdist_logdet: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
} mvnormal_logpdf_grad_sqdist_logdet_ms_set;

DEVICE mvnormal_logpdf_grad_sqdist_logdet_ms_set mvnormal_logpdf_grad_sqdist_logdet_ms_prepare_set(real logdet, int dim)
{
    mvnormal_logpdf_grad_sqdist_logdet_ms_set set;
    set.c0 = -0.5 * (dim * LOG_2PI + logdet);
    return set;
}

// mvnormal_logpdf_grad_sqdist_logdet: what depends on both, from what was computed ahead.
DEVICE mvnormal_logpdf_grad_sqdist_logdet_results mvnormal_logpdf_grad_sqdist_logdet_ms_evaluate(mvnormal_logpdf_grad_sqdist_logdet_ms_set set, real sqdist)
{
    return make_mvnormal_logpdf_grad_sqdist_logdet_results(set.c0 - 0.5 * sqdist, -0.5, -0.5);
}

// mvnormal_logpdf_checked_grad_sqdist_logdet: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    mvnormal_logpdf_grad_sqdist_logdet_ms_set mvnormal_0;
    real bad_logdet;
} mvnormal_logpdf_checked_grad_sqdist_logdet_ms_set;

DEVICE mvnormal_logpdf_checked_grad_sqdist_logdet_ms_set mvnormal_logpdf_checked_grad_sqdist_logdet_ms_prepare_set(real logdet, int dim)
{
    mvnormal_logpdf_checked_grad_sqdist_logdet_ms_set set;
    real bad_logdet = logdet == logdet ? 0 : NAN;
    set.mvnormal_0 = mvnormal_logpdf_grad_sqdist_logdet_ms_prepare_set(logdet, dim);
    set.bad_logdet = bad_logdet;
    return set;
}

// mvnormal_logpdf_checked_grad_sqdist_logdet: what depends on both, from what was computed ahead.
DEVICE mvnormal_logpdf_checked_grad_sqdist_logdet_results mvnormal_logpdf_checked_grad_sqdist_logdet_ms_evaluate(mvnormal_logpdf_checked_grad_sqdist_logdet_ms_set set, real sqdist)
{
    real t = sqdist == sqdist ? 0 : NAN;
    real outside = sqdist == sqdist ? -INFINITY : NAN;
    int inside = sqdist == sqdist;
    mvnormal_logpdf_grad_sqdist_logdet_results call = mvnormal_logpdf_grad_sqdist_logdet_ms_evaluate(set.mvnormal_0, sqdist);
    real d_sqdist_value = call.d_sqdist;
    real d_logdet_value = call.d_logdet;
    real value = call.value;
    return make_mvnormal_logpdf_checked_grad_sqdist_logdet_results((inside ? value : outside) + set.bad_logdet, (inside ? d_sqdist_value : t) + set.bad_logdet, (inside ? d_logdet_value : t) + set.bad_logdet);
}



// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 8; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}


// The table, loglik and mixture shapes for elliptical densities, which see an observation through its squared Mahalanobis distance
// |W (x - mu)|^2, W lower triangular. This is where the arithmetic is: dim^2/2 multiplications for every entry.
//
// A block keeps a tile of rows (transposed, so that its threads read consecutive addresses) and the W of its sets in shared
// memory. A thread multiplies 2 of the rows by 16 rows of W at a time, in registers: each number that it
// reads is used 2 or 16 times. W comes packed in the order of use: for each 16 rows of it, column
// by column, without the zeros above the diagonal but for the blocks that it crosses.
//
// The function has several results: value, d_logdet are summed, out[set, result].
#define DIM 16
#define PADDED_TILE 257
#if NVIDIA >= 80  // the compute capability, by an option of the compiler
#define SHARED_ADDRESS(p) ((unsigned)(size_t)(p))
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
KERNEL(128) mvnormal_logpdf_checked_grad_sqdist_logdet_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets,
    GLOBAL const real *RESTRICT x_rows, index_t x_offset, index_t x_stride,
    GLOBAL const real *RESTRICT factors, index_t factors_offset, index_t factors_stride,
    GLOBAL const real *RESTRICT means, index_t means_offset, index_t means_stride,
    GLOBAL const real *RESTRICT logdet_per_set, index_t logdet_offset, index_t logdet_stride, int dim)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_rows += x_offset + first_set * x_stride;
    factors += factors_offset + first_set * factors_stride;
    means += means_offset + first_set * means_stride;
    logdet_per_set += logdet_offset;

    DYNAMIC_SHARED_ARRAY(real, shared_reals, 5200);
    SHARED real *const tile = shared_reals;
    SHARED real *const shared_factors = shared_reals + 4112;
    SHARED real *const shared_means = shared_factors + 1024;
    UNROLL_BY_4 for (int e = (int)THREAD; e < MIN(4, sets_here - 0) * 256; e += 128)
        shared_factors[e] = factors[(0 + e / 256) * factors_stride + e % 256];
    for (int e = (int)THREAD; e < MIN(4, sets_here - 0) * DIM; e += 128)
        shared_means[e] = means[(0 + e / DIM) * means_stride + e % DIM];
    SHARED_ARRAY(mvnormal_logpdf_checked_grad_sqdist_logdet_ms_set, sets, 4);
    for (index_t e = THREAD; e < MIN(4, sets_here - 0); e += 128)
        sets[e] = mvnormal_logpdf_checked_grad_sqdist_logdet_ms_prepare_set(logdet_per_set[(first_set + 0 + e) * logdet_stride], dim);
    SHARED_ARRAY(double, sums, 1024);
    for (int s = 0; s < 8; s++)
        sums[s * 128 + THREAD] = 0;

    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        BARRIER();  // the last tile has been used
        start_tile(tile, x_rows, first, n_rows);
        WAIT_FOR_COPIES(0);
        BARRIER();
        for (int k = 0; k < sets_here; k++) {
            SHARED const real *factor = shared_factors + k % 4 * 256;
            SHARED const real *mean = shared_means + k % 4 * DIM;
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
                if (n < n_rows) {
                    const mvnormal_logpdf_checked_grad_sqdist_logdet_results result = mvnormal_logpdf_checked_grad_sqdist_logdet_ms_evaluate(sets[k], sqdist[r]);
                    sums[(k * 2 + 0) * 128 + THREAD] += result.value;
                    sums[(k * 2 + 1) * 128 + THREAD] += result.d_logdet;
                }
            }
        }
    }
    BARRIER();
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 2 : partial + first_set * 2 * BLOCKS_Y + BLOCK_Y;
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 2 - 0, 8); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];

}



