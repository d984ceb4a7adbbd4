// The local_ray kernel of rbf, made by `gpustats generate`. Do not edit.
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
#define FACTOR(i, t) factor[(i) * ((i) + 1) / 2 + (t)]  // the Cholesky factor of the design's matrix, t <= i
#define TRIAL(t, q) rows[(t) * 64 + (q)]  // entry t of the factor's row of trial q
#define COORDINATE(e, z) coordinates[(e) * width + (z)]  // of candidates; nan in the first row: chosen already
#define REACH 10  // a ray leads so many times as far from the location as where it begins
#define PASSES 3  // line searches along gradients
// A variance below this is rounding: what it stands for is determined by the design already.
#define FLOOR 1e-13

// The values of all trials, and the best of them, which is taken if it is better than what is known.
KERNEL(64) local_ray(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT X, index_t X_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT all_candidates,
    index_t candidates_offset, GLOBAL const real *RESTRICT d, index_t d_offset, GLOBAL const real *RESTRICT g, index_t g_offset,
    GLOBAL const real *RESTRICT box, index_t box_offset, GLOBAL real *RESTRICT scratch, index_t scratch_reals,
    index_t n_locations, int n_candidates, int n_ordered, int width, int start, int end)
{
    DYNAMIC_SHARED_ARRAY(real, shared, 7362);
    SHARED real *const points = shared, *const scales = points + 512;  // of the design; 1 / FACTOR(i, i)
    SHARED real *const weights = scales + 64;                             // the factor's row of the location
    SHARED real *const own = weights + 64;                                // what becomes the factor's next row
    SHARED real *const here = own + 130, *const best_at = here + DIM, *const gradient = best_at + DIM;
    SHARED real *const origins = gradient + DIM, *const directions = origins + 8 * DIM;  // of rays
    SHARED real *const reaches = directions + 8 * DIM, *const parameters = reaches + 8;
    SHARED real *const values = parameters + 64;  // of trials, then of threads
    SHARED int *const lines = (SHARED int *)(values + 64), *const places = lines + 64;
    GLOBAL real *const far = scratch + BLOCK_X * scratch_reals;
    SHARED real *const factor = shared + 1186, *const rows = factor + 2080;
    GLOBAL float *const coordinates = (GLOBAL float *)(far + 0);
    for (index_t m = BLOCK_X; m < n_locations; m += BLOCKS_X) {
        GLOBAL const int *const candidates = all_candidates + candidates_offset + m * n_candidates;
        GLOBAL const real *const location = locations + locations_offset + m * DIM;
        GLOBAL const real *const origin = X + X_offset + (candidates[0] < 0 ? 0 : candidates[0]) * (index_t)DIM;
        GLOBAL int *const design = out + out_offset + m * end;
        for (int z = (int)THREAD; z < n_candidates; z += 64) {
            const int row = candidates[z];
            for (int e = 0; e < DIM; e++)
                COORDINATE(e, z) = row < 0 ? NAN : (X[X_offset + row * (index_t)DIM + e] - origin[e]) / sqrt(d[d_offset + m]);
        }
        for (int e = (int)THREAD; e < DIM; e += 64)
            here[e] = (location[e] - origin[e]) / sqrt(d[d_offset + m]);
        BARRIER_GLOBAL();
        int j = 0;
        for (; j < end; j++) {
            int chosen = j;
            if (j >= start) {
                // Rays from the next neighbours that are not in the design, away from the location: those that searches begin with
                // are the first ones in turn, of which there are more the larger the design is.
                for (int ray = (int)THREAD; ray < 8; ray += 64) {
                    const int several = (int)sqrt((real)(j - start + 1));
                    int left = (j - start) % several + ray, place = -1;
                    for (int z = 0; z < n_ordered && left >= 0; z++)
                        if (COORDINATE(0, z) == COORDINATE(0, z)) {
                            place = z;
                            left--;
                        }
                    real reach = REACH;
                    for (int e = 0; e < DIM; e++) {
                        const real unit = sqrt(d[d_offset + m]);
                        const real at = place < 0 ? NAN : (X[X_offset + candidates[place] * (index_t)DIM + e] - origin[e]) / unit;
                        const real along = at - here[e], end_of_box = (box[box_offset + (along > 0 ? DIM : 0) + e] - origin[e]) / unit;
                        origins[ray * DIM + e] = at;
                        directions[ray * DIM + e] = along;
                        const real room = (end_of_box - here[e]) / along;
                        reach = along != 0 && room < reach ? fmax(room, (real)1) : reach;
                    }
                    reaches[ray] = reach - 1;
                }
                BARRIER();
                for (int q = (int)THREAD; q < 64; q += 64) {
                    lines[q] = q / 8;
                    parameters[q] = reaches[lines[q]] * (q % 8) / 7;
                }
                BARRIER();
                real best = -1;
                int found;
                for (int q = (int)THREAD; q < 64; q += 64) {
                    real at[DIM], r2 = 0;
                    UNROLL for (int e = 0; e < DIM; e++) {
                        at[e] = origins[lines[q] * DIM + e] + parameters[q] * directions[lines[q] * DIM + e];
                        const real from = at[e] - here[e];
                        r2 = fma(from, from, r2);
                    }
                    real c = correlation(r2), v = 1 + g[g_offset + m];
                    for (int i = 0; i < j; i++) {
                        real square = 0;
                        UNROLL for (int e = 0; e < DIM; e++) {
                            const real from = at[e] - points[e * 64 + i];
                            square = fma(from, from, square);
                        }
                        real w = correlation(square);
                        for (int t = 0; t < i; t++)
                            w = fma(-FACTOR(i, t), TRIAL(t, q), w);
                        w *= scales[i];
                        TRIAL(i, q) = w;
                        c = fma(-w, weights[i], c);
                        v = fma(-w, w, v);
                    }
                    values[q] = v <= FLOOR ? 0 * c : c * c / v;
                }
                BARRIER();
                found = -1;
                for (int q = 0; q < 64; q++)
                    if (values[q] > best) {
                        best = values[q];
                        found = q;
                    }
                if (found >= 0)
                    for (int e = (int)THREAD; e < DIM; e += 64)
                        best_at[e] = origins[lines[found] * DIM + e] + parameters[found] * directions[lines[found] * DIM + e];
                BARRIER();
                // More finely around the best of them.
                const int line = found < 0 ? 0 : found / 8, step = found < 0 ? 0 : found % 8;
                const int low = step > 0 ? step - 1 : 0, high = step < 7 ? step + 1 : step;
                for (int q = (int)THREAD; q < 64; q += 64) {
                    lines[q] = line;
                    parameters[q] = reaches[line] * (low + (high - low) * (q + 1) / REAL(65.0)) / 7;
                }
                BARRIER();
                for (int q = (int)THREAD; q < 64; q += 64) {
                    real at[DIM], r2 = 0;
                    UNROLL for (int e = 0; e < DIM; e++) {
                        at[e] = origins[lines[q] * DIM + e] + parameters[q] * directions[lines[q] * DIM + e];
                        const real from = at[e] - here[e];
                        r2 = fma(from, from, r2);
                    }
                    real c = correlation(r2), v = 1 + g[g_offset + m];
                    for (int i = 0; i < j; i++) {
                        real square = 0;
                        UNROLL for (int e = 0; e < DIM; e++) {
                            const real from = at[e] - points[e * 64 + i];
                            square = fma(from, from, square);
                        }
                        real w = correlation(square);
                        for (int t = 0; t < i; t++)
                            w = fma(-FACTOR(i, t), TRIAL(t, q), w);
                        w *= scales[i];
                        TRIAL(i, q) = w;
                        c = fma(-w, weights[i], c);
                        v = fma(-w, w, v);
                    }
                    values[q] = v <= FLOOR ? 0 * c : c * c / v;
                }
                BARRIER();
                found = -1;
                for (int q = 0; q < 64; q++)
                    if (values[q] > best) {
                        best = values[q];
                        found = q;
                    }
                if (found >= 0)
                    for (int e = (int)THREAD; e < DIM; e += 64)
                        best_at[e] = origins[lines[found] * DIM + e] + parameters[found] * directions[lines[found] * DIM + e];
                BARRIER();
                // The nearest candidate that is not in the design, the first row of X where distances are equal.
                real nearest = INFINITY;
                int at_place = -1;
                for (int z = (int)THREAD; z < n_candidates; z += 64) {
                    real square = 0;
                    UNROLL for (int e = 0; e < DIM; e++) {
                        const real from = COORDINATE(e, z) - best_at[e];
                        square = fma(from, from, square);
                    }
                    if (square < nearest || (square == nearest && (at_place < 0 || candidates[z] < candidates[at_place]))) {
                        nearest = square;
                        at_place = z;
                    }
                }
                BARRIER();
                values[THREAD] = nearest;
                places[THREAD] = at_place;
                BARRIER();
                chosen = -1;
                for (int i = 0; i < 64; i++)
                    if (places[i] >= 0 && (chosen < 0 || values[i] < nearest
                                           || (values[i] == nearest && candidates[places[i]] < candidates[chosen]))) {
                        nearest = values[i];
                        chosen = places[i];
                    }
            }
            const int row = chosen < 0 ? -1 : candidates[chosen];
            if (row < 0 || !(here[0] - here[0] == 0))
                break;
            // The factor's next row, entry by entry; behind it its diagonal, and what is left of the covariance with the location.
            BARRIER_GLOBAL();
            if (THREAD == 0) {
                design[j] = row;
                COORDINATE(0, chosen) = NAN;
            }
            if (j + 1 == end)
                continue;
            for (int e = (int)THREAD; e < DIM; e += 64)
                points[e * 64 + j] = (X[X_offset + row * (index_t)DIM + e] - origin[e]) / sqrt(d[d_offset + m]);
            BARRIER_GLOBAL();
            for (int i = (int)THREAD; i <= j + 1; i += 64) {
                real square = 0;
                for (int e = 0; e < DIM; e++) {
                    const real from = (i <= j ? points[e * 64 + i] : here[e]) - points[e * 64 + j];
                    square = fma(from, from, square);
                }
                own[i] = i == j ? 1 + g[g_offset + m] : correlation(square);
            }
            BARRIER();
            for (int t = 0; t <= j; t++) {
                const real l = t < j ? own[t] * scales[t] : own[j] > FLOOR ? 1 / sqrt(own[j]) : 0, last = own[j + 1];
                BARRIER();
                if (t < j) {
                    for (int i = t + 1 + (int)THREAD; i <= j + 1; i += 64)
                        own[i] = fma(-l, i < j ? FACTOR(i, t) : i == j ? l : weights[t], own[i]);
                    if (THREAD == 0)
                        FACTOR(j, t) = l;
                } else if (THREAD == 0) {
                    scales[j] = l;
                    weights[j] = last * l;
                }
                BARRIER();
            }
        }
        if (j < end)  // nan, or nothing left to choose from
            for (int i = (int)THREAD; i < end; i += 64)
                design[i] = -1;
        BARRIER_GLOBAL();
    }
}
