// The marginal kernel of rbf, made by `gpustats generate`. Do not edit.
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
    real d_amplitude;
    real d_lengthscale;
} rbf_cov_grad_amplitude_lengthscale_results;

DEVICE rbf_cov_grad_amplitude_lengthscale_results make_rbf_cov_grad_amplitude_lengthscale_results(real value, real d_amplitude, real d_lengthscale)
{
    rbf_cov_grad_amplitude_lengthscale_results results;
    results.value = value;
    results.d_amplitude = d_amplitude;
    results.d_lengthscale = d_lengthscale;
    return results;
}


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


// rbf_cov_grad_amplitude_lengthscale: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real c2;
    real c3;
} rbf_cov_grad_amplitude_lengthscale_mss_set;

DEVICE rbf_cov_grad_amplitude_lengthscale_mss_set rbf_cov_grad_amplitude_lengthscale_mss_prepare_set(real amplitude, real lengthscale)
{
    rbf_cov_grad_amplitude_lengthscale_mss_set set;
    set.c0 = -0.5 / (lengthscale * lengthscale);
    set.c1 = amplitude * amplitude;
    set.c2 = 2 * amplitude;
    set.c3 = 0.5 / (lengthscale * lengthscale) * (2 * lengthscale) * (1 / (lengthscale * lengthscale));
    return set;
}

// rbf_cov_grad_amplitude_lengthscale: what depends on both, from what was computed ahead.
DEVICE rbf_cov_grad_amplitude_lengthscale_results rbf_cov_grad_amplitude_lengthscale_mss_evaluate(rbf_cov_grad_amplitude_lengthscale_mss_set set, real sqdist)
{
    real t = exp(sqdist * set.c0);
    return make_rbf_cov_grad_amplitude_lengthscale_results(set.c1 * t, set.c2 * t, set.c1 * (t * (sqdist * set.c3)));
}







#define LANE (THREAD % 16)
#define ROW (THREAD / 16)

// found[set][0]: the log marginal likelihood, nan where there is none; behind it the derivatives in amplitude, lengthscale, sigma.
KERNEL(256) marginal_sets(
    GLOBAL double *RESTRICT found, index_t found_start, index_t n_sets, int n, GLOBAL real *RESTRICT scratch,
    GLOBAL const real *RESTRICT x, index_t x_start, double lift, double addend, GLOBAL const double *RESTRICT given,
    index_t y_first, index_t y_step, index_t sigma_first, index_t sigma_step, index_t mean_first, index_t mean_step, index_t amplitude_first, index_t amplitude_step, index_t lengthscale_first, index_t lengthscale_step)
{
    SHARED_ARRAY(real, tile[32], 33);
    SHARED_ARRAY(real, corner[32], 33);  // of l^-1, on the diagonal
    SHARED_ARRAY(real, ps[16], 32);
    SHARED_ARRAY(real, qs[16], 32);
    SHARED_ARRAY(double, rest, 512);  // y - mean, then alpha
    SHARED_ARRAY(double, z, 512);  // l^-1 (y - mean)
    SHARED_ARRAY(double, totals, 256);
    const int size = (n + 31) / 32 * 32, stride = size + 8;
    GLOBAL real *const matrix = scratch + BLOCK_X * (size * stride + 8);
    x += x_start;
    for (index_t set = BLOCK_X; set < n_sets; set += BLOCKS_X) {
        GLOBAL double *const its = found + found_start + set * (4 + 0 * n);
        bool valid = true;
        const double amplitude_given = given[amplitude_first + set * amplitude_step];
        valid = valid && (amplitude_given > 0 && fabs(amplitude_given) < INFINITY);
        const real amplitude_value = (amplitude_given > 0 && fabs(amplitude_given) < INFINITY) ? amplitude_given : 1;
        const double lengthscale_given = given[lengthscale_first + set * lengthscale_step];
        valid = valid && (lengthscale_given > 0 && fabs(lengthscale_given) < INFINITY);
        const real lengthscale_value = (lengthscale_given > 0 && fabs(lengthscale_given) < INFINITY) ? lengthscale_given : 1;
        for (int i = (int)THREAD; i < size; i += 256)
            rest[i] = i < n ? given[y_first + set * y_step + i] - given[mean_first + set * mean_step] : 0;
        const rbf_cov_mss_set at_set = rbf_cov_mss_prepare_set(amplitude_value, lengthscale_value);
        BARRIER_GLOBAL();

        double logarithms = 0, squares = 0;
        for (int j0 = 0; j0 < size; j0 += 32) {
            for (int i0 = j0; i0 < size; i0 += 32) {
                for (int a = ROW; a < 32; a += 16)
                     UNROLL for (int b = LANE; b < 32; b += 16) {
                        const int j = j0 + a;
                        const int i = i0 + b;
                        real seen_0 = 0;
                        for (int c = 0; c < 8; c++) {
                            const real x_i = x[c * size + i], x_j = x[c * size + j];
                            seen_0 += ((x_i - x_j)) * ((x_i - x_j));
                        }
                        const real seen0 = seen_0;
                        real covariance = rbf_cov_mss_evaluate(at_set, seen0);
                        if (i == j && i < n) {
                            const double sigma = given[sigma_first + set * sigma_step];
                            covariance = covariance * (real)lift + (real)((sigma >= 0 && fabs(sigma) < INFINITY) ? sigma * sigma : NAN);
                        }
                        tile[a][b] = i < n && j < n ? covariance : i == j;
                    }
                for (int a0 = ROW; a0 < 32; a0 += 32) {
                real sum_0_0 = 0, sum_0_1 = 0, sum_1_0 = 0, sum_1_1 = 0;
                for (int m0 = 0; m0 < j0; m0 += 16) {
                    for (int t = (int)THREAD; t < 512; t += 256) {
                        const int m = m0 + t / 32;
                        ps[t / 32][t % 32] = matrix[m * stride + j0 + t % 32];
                        qs[t / 32][t % 32] = matrix[m * stride + i0 + t % 32];
                    }
                    BARRIER();
                    UNROLL for (int m = 0; m < 16; m++) {
                        const real p_0 = ps[m][a0 + 0];
                        const real p_1 = ps[m][a0 + 16];
                        const real q_0 = qs[m][LANE + 0];
                        const real q_1 = qs[m][LANE + 16];
                        sum_0_0 += p_0 * q_0;
                        sum_0_1 += p_0 * q_1;
                        sum_1_0 += p_1 * q_0;
                        sum_1_1 += p_1 * q_1;
                    }
                    BARRIER();
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 0;
                    const real sum = sum_0_0;
                    tile[a][b] -= sum;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 16;
                    const real sum = sum_0_1;
                    tile[a][b] -= sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 0;
                    const real sum = sum_1_0;
                    tile[a][b] -= sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 16;
                    const real sum = sum_1_1;
                    tile[a][b] -= sum;
                }
            }
                BARRIER();
                if (i0 > j0) {
                    for (int a0 = ROW; a0 < 32; a0 += 32) {
                real sum_0_0 = 0, sum_0_1 = 0, sum_1_0 = 0, sum_1_1 = 0;
                for (int m = 0; m < 32; m++) {
                        const real p_0 = corner[a0 + 0][m];
                        const real p_1 = corner[a0 + 16][m];
                        const real q_0 = tile[m][LANE + 0];
                        const real q_1 = tile[m][LANE + 16];
                        sum_0_0 += p_0 * q_0;
                        sum_0_1 += p_0 * q_1;
                        sum_1_0 += p_1 * q_0;
                        sum_1_1 += p_1 * q_1;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 0;
                    const real sum = sum_0_0;
                    matrix[(j0 + a) * stride + i0 + b] = sum;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 16;
                    const real sum = sum_0_1;
                    matrix[(j0 + a) * stride + i0 + b] = sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 0;
                    const real sum = sum_1_0;
                    matrix[(j0 + a) * stride + i0 + b] = sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 16;
                    const real sum = sum_1_1;
                    matrix[(j0 + a) * stride + i0 + b] = sum;
                }
            }
                    BARRIER_GLOBAL();
                    continue;
                }
                // The tile on the diagonal is eliminated row by row, beside what becomes the inverse of its factor.
                for (int a = ROW; a < 32; a += 16)
                     UNROLL for (int b = LANE; b < 32; b += 16)
                        corner[a][b] = a == b;
                BARRIER();
                for (int k = 0; k < 31; k++) {
                    const real inverse = tile[k][k] > 0 ? 1 / tile[k][k] : NAN;
                    for (int a = ROW; a < 32; a += 16)
                    if (a > k) UNROLL for (int b = LANE; b < 32; b += 16) {
                            const real factor = tile[k][a] * inverse;
                            tile[a][b] -= factor * tile[k][b];
                            corner[a][b] -= factor * corner[k][b];
                        }
                    BARRIER();
                }
                for (int a = ROW; a < 32; a += 16)
                     UNROLL for (int b = LANE; b < 32; b += 16) {
                        const real scaled = corner[a][b] * (tile[a][a] > 0 ? 1 / sqrt(tile[a][a]) : NAN);
                        corner[a][b] = scaled;
                        matrix[(j0 + a) * stride + j0 + b] = scaled;
                    }
                BARRIER_GLOBAL();
                for (int a = (int)THREAD; a < 32; a += 256) {
                    double sum = 0;
                    for (int m = 0; m <= a; m++)
                        sum += corner[a][m] * rest[j0 + m];
                    z[j0 + a] = sum;
                    squares += sum * sum;
                    logarithms -= log((double)corner[a][a]);
                }
                BARRIER();
            }
            for (int i = j0 + 32 + (int)THREAD; i < size; i += 256) {
                double sum = 0;
                for (int a = 0; a < 32; a++)
                    sum += matrix[(j0 + a) * stride + i] * z[j0 + a];
                rest[i] -= sum;
            }
            BARRIER();
        }
        totals[THREAD] = logarithms;
        for (int span = 128; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                totals[THREAD] += totals[THREAD + span];
        }
        BARRIER();
        logarithms = totals[0];
        BARRIER();
        totals[THREAD] = squares;
        for (int span = 128; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                totals[THREAD] += totals[THREAD + span];
        }
        BARRIER();
        squares = totals[0];
        BARRIER();
        if (THREAD == 0)
            its[0] = valid ? addend - 0.5 * squares - logarithms : NAN;
        const double weight = 1;

        for (int i0 = 32; i0 < size; i0 += 32) {
            for (int a = ROW; a < 32; a += 16)
                     UNROLL for (int b = LANE; b < 32; b += 16)
                        corner[a][b] = matrix[(i0 + a) * stride + i0 + b];
            for (int j0 = 0; j0 < i0; j0 += 32) {
                for (int a0 = ROW; a0 < 32; a0 += 32) {
                real sum_0_0 = 0, sum_0_1 = 0, sum_1_0 = 0, sum_1_1 = 0;
                for (int m0 = j0; m0 < i0; m0 += 16) {
                    for (int t = (int)THREAD; t < 512; t += 256) {
                        const int m = m0 + t / 32;
                        ps[t / 32][t % 32] = matrix[m * stride + i0 + t % 32];
                        qs[t / 32][t % 32] = matrix[m * stride + j0 + t % 32];
                    }
                    BARRIER();
                    UNROLL for (int m = 0; m < 16; m++) {
                        const real p_0 = ps[m][a0 + 0];
                        const real p_1 = ps[m][a0 + 16];
                        const real q_0 = qs[m][LANE + 0];
                        const real q_1 = qs[m][LANE + 16];
                        sum_0_0 += p_0 * q_0;
                        sum_0_1 += p_0 * q_1;
                        sum_1_0 += p_1 * q_0;
                        sum_1_1 += p_1 * q_1;
                    }
                    BARRIER();
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 0;
                    const real sum = sum_0_0;
                    tile[a][b] = sum;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 16;
                    const real sum = sum_0_1;
                    tile[a][b] = sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 0;
                    const real sum = sum_1_0;
                    tile[a][b] = sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 16;
                    const real sum = sum_1_1;
                    tile[a][b] = sum;
                }
            }
                BARRIER();
                for (int a0 = ROW; a0 < 32; a0 += 32) {
                real sum_0_0 = 0, sum_0_1 = 0, sum_1_0 = 0, sum_1_1 = 0;
                for (int m = 0; m < 32; m++) {
                        const real p_0 = corner[a0 + 0][m];
                        const real p_1 = corner[a0 + 16][m];
                        const real q_0 = tile[m][LANE + 0];
                        const real q_1 = tile[m][LANE + 16];
                        sum_0_0 += p_0 * q_0;
                        sum_0_1 += p_0 * q_1;
                        sum_1_0 += p_1 * q_0;
                        sum_1_1 += p_1 * q_1;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 0;
                    const real sum = sum_0_0;
                    matrix[(i0 + a) * stride + j0 + b] = -sum;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 16;
                    const real sum = sum_0_1;
                    matrix[(i0 + a) * stride + j0 + b] = -sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 0;
                    const real sum = sum_1_0;
                    matrix[(i0 + a) * stride + j0 + b] = -sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 16;
                    const real sum = sum_1_1;
                    matrix[(i0 + a) * stride + j0 + b] = -sum;
                }
            }
                BARRIER_GLOBAL();
            }
        }
        for (int i = (int)THREAD; i < n; i += 256) {
            double sum = 0;
            for (int m = i - i % 32; m < size; m++)
                sum += matrix[m * stride + i] * z[m];
            rest[i] = sum;
        }
        BARRIER();
        const rbf_cov_grad_amplitude_lengthscale_mss_set slope_set = rbf_cov_grad_amplitude_lengthscale_mss_prepare_set(amplitude_value, lengthscale_value);
        // Sums over all pairs of (weight alpha_i alpha_j - inverse_ij) / 2 times derivatives, from the lower triangle.
        for (int first = 0; first < 1; first += 8) {
            double sum_of_amplitude = 0, sum_of_lengthscale = 0, trace = 0;
            for (int i0 = 0; i0 < size; i0 += 32)
                for (int j0 = 0; j0 <= i0; j0 += 32) {
                for (int a0 = ROW; a0 < 32; a0 += 32) {
                real sum_0_0 = 0, sum_0_1 = 0, sum_1_0 = 0, sum_1_1 = 0;
                for (int m0 = i0; m0 < size; m0 += 16) {
                    for (int t = (int)THREAD; t < 512; t += 256) {
                        const int m = m0 + t / 32;
                        ps[t / 32][t % 32] = matrix[m * stride + i0 + t % 32];
                        qs[t / 32][t % 32] = matrix[m * stride + j0 + t % 32];
                    }
                    BARRIER();
                    UNROLL for (int m = 0; m < 16; m++) {
                        const real p_0 = ps[m][a0 + 0];
                        const real p_1 = ps[m][a0 + 16];
                        const real q_0 = qs[m][LANE + 0];
                        const real q_1 = qs[m][LANE + 16];
                        sum_0_0 += p_0 * q_0;
                        sum_0_1 += p_0 * q_1;
                        sum_1_0 += p_1 * q_0;
                        sum_1_1 += p_1 * q_1;
                    }
                    BARRIER();
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 0;
                    const real sum = sum_0_0;
                    tile[a][b] = sum;
                }
                {
                    const int a = a0 + 0;
                    const int b = LANE + 16;
                    const real sum = sum_0_1;
                    tile[a][b] = sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 0;
                    const real sum = sum_1_0;
                    tile[a][b] = sum;
                }
                {
                    const int a = a0 + 16;
                    const int b = LANE + 16;
                    const real sum = sum_1_1;
                    tile[a][b] = sum;
                }
            }
                for (int a = ROW; a < 32; a += 16)
                     UNROLL for (int b = LANE; b < 32; b += 16) {
                        const int i = i0 + a;
                        const int j = j0 + b;
                        const bool counts = i < n && j <= i;
                        real w = counts ? 0.5 * (weight * rest[i] * rest[j] - tile[a][b]) : 0;
                        if (counts && i == j) {
                            trace += w;
                        }
                        w *= i == j ? (real)lift : 2;
                        real seen_0 = 0;
                        for (int c = 0; c < 8; c++) {
                            const real x_i = x[c * size + i], x_j = x[c * size + j];
                            seen_0 += ((x_i - x_j)) * ((x_i - x_j));
                        }
                        const real seen0 = seen_0;
                        const rbf_cov_grad_amplitude_lengthscale_results result = rbf_cov_grad_amplitude_lengthscale_mss_evaluate(slope_set, seen0);
                        sum_of_amplitude += counts ? w * result.d_amplitude : 0;
                        sum_of_lengthscale += counts ? w * result.d_lengthscale : 0;
                    }
                }
        totals[THREAD] = sum_of_amplitude;
        for (int span = 128; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                totals[THREAD] += totals[THREAD + span];
        }
        BARRIER();
        sum_of_amplitude = totals[0];
        BARRIER();
        totals[THREAD] = sum_of_lengthscale;
        for (int span = 128; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                totals[THREAD] += totals[THREAD + span];
        }
        BARRIER();
        sum_of_lengthscale = totals[0];
        BARRIER();
        totals[THREAD] = trace;
        for (int span = 128; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                totals[THREAD] += totals[THREAD + span];
        }
        BARRIER();
        trace = totals[0];
        BARRIER();
            if (THREAD == 0 && first == 0) {
                its[1] = sum_of_amplitude;
                its[2] = sum_of_lengthscale;
                its[3] = 2 * trace * given[sigma_first + set * sigma_step];
            }
        }
        BARRIER_GLOBAL();  // the next set's numbers take the places of this one's
    }
}
