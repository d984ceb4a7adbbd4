// The covariance kernel of rbf, made by `gpustats generate`. Do not edit.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef long index_t;
// The hint keeps Intel's compiler from vectors wider than a small block, which it would run one thread at a time.
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1), intel_vec_len_hint(MIN(threads, 8)))) void
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
#define MIN(a, b) ((a) < (b) ? (a) : (b))

// rbf_cov: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
} rbf_cov_mss_set;

DEVICE rbf_cov_mss_set rbf_cov_mss_prepare_set(real amplitude, real lengthscale)
{
    rbf_cov_mss_set set;
    set.c0 = amplitude * amplitude;
    set.c1 = -0.5 / (lengthscale * lengthscale);
    return set;
}

// rbf_cov: what depends on both, from what was computed ahead.
DEVICE real rbf_cov_mss_evaluate(rbf_cov_mss_set set, real sqdist)
{
    return set.c0 * exp(sqdist * set.c1);
}













// out[i * stride + j] = k(x_i, y_j), where i = j times lift, plus noise.
KERNEL(256) covariance(
    GLOBAL real *RESTRICT out, index_t out_start, index_t stride,
    GLOBAL const real *RESTRICT x, index_t x_start, index_t n, GLOBAL const real *RESTRICT y, index_t y_start, index_t m,
    GLOBAL const real *RESTRICT scales, index_t scales_start,
    real lift, real noise,
    real amplitude_value, real lengthscale_value)
{
    SHARED_ARRAY(real, xs[8], 33);
    SHARED_ARRAY(real, ys[8], 33);

    const index_t i0 = BLOCK_Y * 32, j0 = BLOCK_X * 32;
    const int column = (int)(THREAD % 32), row = (int)(THREAD / 32);
    x += x_start;
    y += y_start;
    scales += scales_start;
    const rbf_cov_mss_set set = rbf_cov_mss_prepare_set(amplitude_value, lengthscale_value);

    out += out_start;
    {
        real seen_0[4];
        for (int q = 0; q < 4; q++) {
            seen_0[q] = 0;
        }
        for (int c0 = 0; c0 < 8; c0 += 8) {
            for (int t = (int)THREAD; t < 256; t += 256) {
                const index_t at = t / 8;
                const int c = t % 8;
                const bool inside = c0 + c < 8;
                xs[c][at] = inside && i0 + at < n ? x[(i0 + at) * 8 + c0 + c] : 0;
                ys[c][at] = inside && j0 + at < m ? y[(j0 + at) * 8 + c0 + c] : 0;
            }
            BARRIER();
            const int here = MIN(8, 8 - c0);
            for (int c = 0; c < here; c++) {
                const real b = ys[c][column];
                UNROLL
                for (int q = 0; q < 4; q++) {
                    const real a = xs[c][row + q * 8];
                    seen_0[q] += ((a - b)) * ((a - b));
                }
            }
            BARRIER();
        }

        for (int q = 0; q < 4; q++) {
            const index_t i = i0 + row + q * 8, j = j0 + column;
            const real seen0 = seen_0[q];

            const real value = rbf_cov_mss_evaluate(set, seen0);
            if (i < n && j < m)
                out[i * stride + j] = i == j ? value * lift + noise : value;
        }
    }
}
