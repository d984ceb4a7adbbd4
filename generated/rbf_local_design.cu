// The local_design kernel of rbf, made by `gpustats generate`. Do not edit.
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
DEVICE real rbf_cov(real sqdist, real amplitude, real lengthscale)
{
    return amplitude * amplitude * exp(sqdist * (-0.5 / (lengthscale * lengthscale)));
}

typedef struct {
    real value;
    real d_sqdist;
} rbf_cov_grad_sqdist_results;

DEVICE rbf_cov_grad_sqdist_results make_rbf_cov_grad_sqdist_results(real value, real d_sqdist)
{
    rbf_cov_grad_sqdist_results results;
    results.value = value;
    results.d_sqdist = d_sqdist;
    return results;
}


DEVICE rbf_cov_grad_sqdist_results rbf_cov_grad_sqdist(real sqdist, real amplitude, real lengthscale)
{
    real t = -0.5 / (lengthscale * lengthscale);
    real t2 = exp(sqdist * t);
    return make_rbf_cov_grad_sqdist_results(amplitude * amplitude * t2, amplitude * amplitude * (t2 * t));
}

typedef struct {
    real value;
    real d_r2;
} correlation_grad_r2_results;

DEVICE correlation_grad_r2_results make_correlation_grad_r2_results(real value, real d_r2)
{
    correlation_grad_r2_results results;
    results.value = value;
    results.d_r2 = d_r2;
    return results;
}


DEVICE correlation_grad_r2_results correlation_grad_r2(real r2)
{
    rbf_cov_grad_sqdist_results call = rbf_cov_grad_sqdist(2 * r2, 1.0, 1.0);
    return make_correlation_grad_r2_results(call.value, call.d_sqdist * 2);
}

DEVICE real correlation(real r2)
{
    return rbf_cov(2 * r2, 1.0, 1.0);
}

DEVICE real correlation_slope(real r2)
{
    correlation_grad_r2_results results = correlation_grad_r2(r2);
    return results.d_r2;
}

#define DIM 8
// Of the candidates' rows of the Cholesky factor the first numbers, which are the large ones, are in double precision. The others are rounded to
// floats, which are half the bytes, and so are coordinates; all is computed in double precision.
typedef float row_t;
#define WIDE 4
// A variance below this is rounding: what it stands for is determined by the design already.
#define FLOOR 1e-13
#define WIDE_FACTOR(i, z) wide_rows[(i) * width + (z)]
#define NEAR 4  // rows of numbers of the candidates that lie in shared memory; the others in the block's scratch
// Row r of the candidates' numbers: their coordinates, then their rows of the Cholesky factor, entry by entry.
#define NEAR_ROW(r) (near_rows + (r) * width)
#define FAR_ROW(r) (far_rows + ((r) - NEAR) * width)
#define AT_ROW(r, z) ((r) < NEAR ? NEAR_ROW(r)[z] : FAR_ROW(r)[z])
#define AT_FACTOR(i, z) ((i) < WIDE ? WIDE_FACTOR(i, z) : AT_ROW(DIM + (i) - WIDE, z))
#define NEAR_FACTOR(i, z) NEAR_ROW(DIM + (i) - WIDE)[z]
#define FAR_FACTOR(i, z) FAR_ROW(DIM + (i) - WIDE)[z]

// The candidate that is better: of the larger value, of the lower row of X where values are equal. nan is never better.
#define IS_BETTER(value, row, than, than_row) ((value) > (than) || ((value) == (than) && (row) < (than_row)))
#define WORST -INFINITY

// By how much the variance at the location becomes smaller.
DEVICE real value_of(real covariance, real variance)
{
    return variance <= FLOOR ? 0 * covariance : covariance * covariance / variance;
}

// Adds the design's new point to the conditional covariances of 4 or one candidate a thread, and looks for the next.
KERNEL(256) local_design(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT X, index_t X_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT all_candidates,
    index_t candidates_offset, GLOBAL const real *RESTRICT d, index_t d_offset, GLOBAL const real *RESTRICT g, index_t g_offset,
    GLOBAL real *RESTRICT scratch, index_t scratch_reals, index_t n_locations, int n_candidates, int width, int start, int end)
{
    DYNAMIC_SHARED_ARRAY(real, shared, 8840);
    SHARED real *const own = shared;  // the new point's coordinates, then its row of the factor
    SHARED real *const best_values = own + 72;
    SHARED int *const best_rows = (SHARED int *)(best_values + 288), *const best_places = best_rows + 288;
    // States, wide rows and the others, in shared memory as far as there is room, the rest behind one another in global memory.
    SHARED real *const near = best_values + 576;
    GLOBAL real *const far = scratch + BLOCK_X * scratch_reals;
    SHARED real *const wide_rows = near + 2 * width;
    SHARED row_t *const near_rows = (SHARED row_t *)(near + 2 * width + 4 * width);
    GLOBAL row_t *const far_rows = (GLOBAL row_t *)(far);
    SHARED real *const variance = near, *const covariance = variance + width;
    for (index_t m = BLOCK_X; m < n_locations; m += BLOCKS_X) {
        GLOBAL const int *const candidates = all_candidates + candidates_offset + m * n_candidates;
        GLOBAL const real *const location = locations + locations_offset + m * DIM;
        GLOBAL int *const design = out + out_offset + m * end;
        // Floats have digits for what lies together, wherever that is: coordinates count from the nearest point on. Covariances with
        // the location are those of the rounded points, too, as if these were the data.
        GLOBAL const real *const origin = X + X_offset + (candidates[0] < 0 ? 0 : candidates[0]) * (index_t)DIM;
        for (int z = (int)THREAD; z < width; z += 256) {
            const int row = z < n_candidates ? candidates[z] : -1;
            real r2 = 0;
            UNROLL for (int e = 0; e < DIM; e++) {
                const real unit = sqrt(d[d_offset + m]);
                const row_t kept = row < 0 ? NAN : (X[X_offset + row * (index_t)DIM + e] - origin[e]) / unit;
                const real u = kept - (location[e] - origin[e]) / unit;
                r2 = fma(u, u, r2);
                if (e < NEAR)
                    NEAR_ROW(e)[z] = kept;
                else
                    FAR_ROW(e)[z] = kept;
            }
            const real v = 1 + g[g_offset + m];
            variance[z] = v;
            covariance[z] = r2 == r2 && v == v ? correlation(r2) : NAN;
        }
        BARRIER_GLOBAL();
        int j = 0;
        for (int chosen = 0; j < end; j++) {
            if (j < start)
                chosen = j;
            const real c = chosen < 0 ? NAN : covariance[chosen];
            if (c != c)
                break;
            if (THREAD == 0)
                design[j] = candidates[chosen];
            if (j + 1 == end)
                continue;
            const real v = variance[chosen], scale = v > FLOOR ? 1 / sqrt(v) : 0, w_location = c * scale;
            for (int e = (int)THREAD; e < DIM + j; e += 256)
                own[e] = e < DIM ? AT_ROW(e, chosen) : AT_FACTOR(e - DIM, chosen);
            BARRIER_GLOBAL();  // what was chosen has been read
            real best = WORST;
            int best_row = -1, best_place = -1, z = (int)THREAD;
            for (; z + 768 < width; z += 1024) {
            real acc[4];
            UNROLL for (int c = 0; c < 4; c++)
                acc[c] = 0;
            UNROLL for (int e = 0; e < DIM; e++) {
                UNROLL for (int c = 0; c < 4; c++) {
                    const real from = AT_ROW(e, z + c * 256) - own[e];
                    acc[c] = fma(from, from, acc[c]);
                }
            }
            UNROLL for (int c = 0; c < 4; c++) {
                acc[c] = correlation(acc[c]);
            }
            for (int i = 0; i < MIN(j, WIDE); i++) {
                const real l = own[DIM + i];
                UNROLL for (int c = 0; c < 4; c++) {
                    const real other = WIDE_FACTOR(i, z + c * 256);
                    acc[c] = fma(-l, other, acc[c]);
                }
            }
            UNROLL_BY_4
            for (int i = 4; i < j; i += 1) {
                const real l = own[DIM + i];
                UNROLL for (int c = 0; c < 4; c++) {
                    const real other = FAR_FACTOR(i, z + c * 256);
                    acc[c] = fma(-l, other, acc[c]);
                }
            }
            UNROLL for (int c = 0; c < 4; c++) {
                const int place = z + c * 256;
                const real w = acc[c] * scale, v = fma(-w, w, variance[place]);
                const real k = place == chosen ? NAN : fma(-w, w_location, covariance[place]);  // what is chosen leaves
                variance[place] = v;
                covariance[place] = k;
                if (j < WIDE)
                    WIDE_FACTOR(j, place) = w;
                else
                {
                    FAR_ROW(DIM + 1 * (j - 4))[place] = w;
                }
                const real value = value_of(k, v);
                if (value >= best) {  // never where it is nan
                    const int row = candidates[place];
                    if (IS_BETTER(value, row, best, best_row)) {
                        best = value;
                        best_row = row;
                        best_place = place;
                    }
                }
            }
            }
            for (; z < width; z += 256) {
            real acc[1];
            UNROLL for (int c = 0; c < 1; c++)
                acc[c] = 0;
            UNROLL for (int e = 0; e < DIM; e++) {
                UNROLL for (int c = 0; c < 1; c++) {
                    const real from = AT_ROW(e, z + c * 256) - own[e];
                    acc[c] = fma(from, from, acc[c]);
                }
            }
            UNROLL for (int c = 0; c < 1; c++) {
                acc[c] = correlation(acc[c]);
            }
            for (int i = 0; i < MIN(j, WIDE); i++) {
                const real l = own[DIM + i];
                UNROLL for (int c = 0; c < 1; c++) {
                    const real other = WIDE_FACTOR(i, z + c * 256);
                    acc[c] = fma(-l, other, acc[c]);
                }
            }
            UNROLL_BY_4
            for (int i = 4; i < j; i += 1) {
                const real l = own[DIM + i];
                UNROLL for (int c = 0; c < 1; c++) {
                    const real other = FAR_FACTOR(i, z + c * 256);
                    acc[c] = fma(-l, other, acc[c]);
                }
            }
            UNROLL for (int c = 0; c < 1; c++) {
                const int place = z + c * 256;
                const real w = acc[c] * scale, v = fma(-w, w, variance[place]);
                const real k = place == chosen ? NAN : fma(-w, w_location, covariance[place]);  // what is chosen leaves
                variance[place] = v;
                covariance[place] = k;
                if (j < WIDE)
                    WIDE_FACTOR(j, place) = w;
                else
                {
                    FAR_ROW(DIM + 1 * (j - 4))[place] = w;
                }
                const real value = value_of(k, v);
                if (value >= best) {  // never where it is nan
                    const int row = candidates[place];
                    if (IS_BETTER(value, row, best, best_row)) {
                        best = value;
                        best_row = row;
                        best_place = place;
                    }
                }
            }
            }
            best_values[THREAD] = best;
            best_rows[THREAD] = best_row;
            best_places[THREAD] = best_place;
            BARRIER_GLOBAL();  // rows of the factor, too
            if (j + 1 < start)
                continue;
            if (THREAD < 32) {
                for (int i = (int)THREAD + 32; i < 256; i += 32) {
                    if (IS_BETTER(best_values[i], best_rows[i], best, best_row)) {
                        best = best_values[i];
                        best_row = best_rows[i];
                        best_place = best_places[i];
                    }
                }
                best_values[256 + THREAD] = best;
                best_rows[256 + THREAD] = best_row;
                best_places[256 + THREAD] = best_place;
            }
            BARRIER();
            best = WORST;
            best_row = best_place = -1;
            for (int i = 256; i < 288; i++) {
                    if (IS_BETTER(best_values[i], best_rows[i], best, best_row)) {
                        best = best_values[i];
                        best_row = best_rows[i];
                        best_place = best_places[i];
                    }
            }
            chosen = best_place;
        }
        if (j < end)  // nan, or nothing left to choose from
            for (int i = (int)THREAD; i < end; i += 256)
                design[i] = -1;
        BARRIER_GLOBAL();
    }
}
