// The local_fit kernel of rbf, made by `gpustats generate`. Do not edit.
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
#define ROW(i) (16 * ((i) / 16 + 1) * (16 * ((i) / 16) / 2 + (i) % 16))  // where it begins
// Of what is estimated, its logarithm's bounds, and u and v of the prior's log-density u log(t) - v t.
#define LOW(k) limits[k]
#define HIGH(k) limits[1 + (k)]
#define POWER(k) limits[2 + (k)]
#define RATE(k) limits[3 + (k)]
#define STEP 1.3862943611198906  // log 4, between the lengthscales at which the likelihood is looked at
#define UNCORRELATED -0.1        // log-determinant of a matrix that shorter lengthscales would hardly change
#define NEAR 0.1                 // a search that comes so near to what is known leads there
#define AT_BOUND(k) (gradient[k] > 0 ? best[k] <= LOW(k) : best[k] >= HIGH(k))

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

KERNEL(64) local_fit(
    GLOBAL real *RESTRICT means, index_t means_offset, GLOBAL real *RESTRICT scales, index_t scales_offset,
    GLOBAL real *RESTRICT logliks, index_t logliks_offset, GLOBAL real *RESTRICT d_fitted, index_t d_fitted_offset,
    GLOBAL real *RESTRICT g_fitted, index_t g_fitted_offset, GLOBAL int *RESTRICT statuses, index_t statuses_offset,
    GLOBAL const real *RESTRICT X, index_t X_offset, GLOBAL const real *RESTRICT y, index_t y_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT designs, index_t designs_offset,
    GLOBAL const real *RESTRICT d_start, index_t d_start_offset, GLOBAL const real *RESTRICT g_start, index_t g_start_offset,
    GLOBAL real *work, index_t count, real offset, real noise, GLOBAL const real *RESTRICT limits)
{
    const int me = THREAD, lane = me % 16, row = (unsigned)me / 16;
    DYNAMIC_SHARED_ARRAY(real, shared, 2636);
    SHARED real *const matrix = shared, *const column = shared + 1792;
    SHARED real *const responses = column + 64, *const pivots = responses + 64, *const x = pivots + 64;
    SHARED real *const partial = x + 512, *const theta = partial + 128;  // lengthscales, nugget
    SHARED real *const rates = theta + 2;  // 1 / lengthscales
    // Of the logarithms of what is estimated: the best so far, what is tried next, and what leads there.
    SHARED real *const best = rates + 1, *const trial = best + 1, *const gradient = trial + 1;
    SHARED real *const change = gradient + 1, *const gradient_change = change + 1, *const direction = gradient_change + 1;
    SHARED real *const inverse_hessian = direction + 1;
    SHARED real *const origin = inverse_hessian + 1, *const winner = origin + 1;  // the start, and the best of all

    // Every block has a location, and takes at least one turn: of a loop with barriers that may take none, PoCL (3.1) makes code
    // that sends all threads where one of them goes.
    index_t location = BLOCK_X;
    do {
        BARRIER();
        for (int i = me; i < 64; i += 64) {
            const index_t point = i < 50 ? designs[designs_offset + location * 50 + i] : -1;
            responses[i] = point < 0 ? 0 : y[y_offset + point];
            for (int k = 0; k < 8; k++)
                x[k * 64 + i] = i == 50 ? locations[locations_offset + location * 8 + k]
                    : point >= 0 ? X[X_offset + point * 8 + k] : i < 50 ? (real)NAN : 0;
        }
        for (int k = me; k <= 1; k += 64)
            theta[k] = k < 1 ? d_start[d_start_offset + location * 1 + k] : g_start[g_start_offset + location];
        BARRIER();
        for (int k = me; k < 1; k += 64) {
            origin[k] = winner[k] = best[k] = trial[k] = log(theta[0 + k]);
            direction[k] = 0;
        }
        real objective = 0, step = 1;
        int updates = 0, searches = 0;  // that are finished
        real least = INFINITY;          // objective of all searches
        int stage = 0, looking = 0, look = 0, begin = 0;  // what comes after the first search; steps along a line: see `search_on`
        real center = 0, last = 0, lowest = 0;  // objectives at the start, of the last look, and of the best one
        BARRIER();  // for PoCL, which reads `trial` as it was for the last location without a barrier ahead of the loop
        real mean = NAN, variance = NAN, loglik = NAN;
        int found = 0, cut = 0, evaluations = 0, earlier = 0, finished = 0;  // evaluations: of a search, and of earlier ones
        while (!finished) {
            BARRIER();
            for (int k = me; k < 1; k += 64)
                theta[0 + k] = exp(trial[k]);
            BARRIER();
            for (int k = me; k < 1; k += 64)
                rates[k] = 1 / theta[k];
            BARRIER();
            const real g = theta[1];
            for (int i = row; i < 52; i += 4)
                for (int chunk = 0; chunk <= i / 16; chunk++) {
                    const int j = chunk * 16 + lane;
                    real squares = 0;
                    for (int k = 0; k < 8; k++) {
                        const real difference = x[k * 64 + i] - x[k * 64 + j];
                        squares += difference * difference;
                    }
                    const real r2 = squares * rates[0];
                    matrix[ROW(i) + j] = i > 50 ? responses[j] : i == j ? 1 + (i < 50 ? g : noise * g) : correlation(r2);
                }
            BARRIER();

            int definite = 1;
            real least_pivot = INFINITY;
            for (int k = 0; k < 50 && definite; k++) {
                for (int i = me; i < 64; i += 64) {
                    const int entry_place = i < k ? ROW(k) + i : ROW(i) + k;
                    real entry = 0;
                    if (i < 52) {
                        entry = matrix[entry_place];
                        matrix[entry_place] = 0;
                    }
                    if (i == k)
                        pivots[k] = entry;
                    column[i] = i == k ? -1 : entry;  // beside the zeros: so the same formula serves all entries
                }
                BARRIER();
                const real reciprocal = 1 / pivots[k];
                definite = !(pivots[k] <= 0);
                least_pivot = fmin(least_pivot, pivots[k]);
                for (int i = (looking ? k + 1 : 0) + row; i < 52; i += 4) {
                    const real factor = column[i] * reciprocal;
                    for (int chunk = looking ? k / 16 : 0; chunk <= i / 16; chunk++)
                        matrix[ROW(i) + chunk * 16 + lane] -= factor * column[chunk * 16 + lane];
                }
                BARRIER();
            }
            evaluations++;
            const real psi = -matrix[ROW(51) + 51];
            real log_determinant = 0;
            for (int k = me; k < 50; k += 64)
                log_determinant += log(pivots[k]);
            partial[64 + me] = log_determinant;
            // The gradient is tr(W dK) / 2 with W = n / psi alpha alpha' - K^-1, where alpha = K^-1 y.
            const real ratio = 50 / psi;
            real slope_0 = 0;
            for (int i = row; i < (looking ? 0 : 50); i += 4) {
                const real factor = ratio * matrix[ROW(51) + i];
                for (int chunk = 0; chunk <= i / 16; chunk++) {
                    const int j = chunk * 16 + lane;
                    real squares = 0;
                    for (int k = 0; k < 8; k++) {
                        const real difference = x[k * 64 + i] - x[k * 64 + j];
                        squares += difference * difference;
                    }
                    const real r2 = squares * rates[0];
                    const real weight = factor * matrix[ROW(51) + j] + matrix[ROW(i) + j];
                    const int counts = j < i && r2 != 0;  // equal points have no say, though the slope may be infinite there
                    const real slope = counts ? -weight * correlation_slope(r2) : 0;
                    slope_0 += counts ? slope * r2 : 0;
                }
            }
            partial[0 + me] = slope_0;
            for (int width = 32; width > 0; width /= 2) {
                BARRIER();
                for (int e = (int)me; e < 2 * width; e += 64) {
                    const int place = e / width * 64 + e % width;
                    partial[place] += partial[place + width];
                }
            }
            BARRIER();
            const real likelihood = offset - 25.0 * log(psi / 2) - partial[64] / 2;
            // Minimised: minus the log-likelihood, minus the logarithm of the prior density.
            real value = -likelihood, descent = 0;
            for (int k = 0; k < 1; k++) {
                value -= POWER(k) * trial[k] - RATE(k) * exp(trial[k]);
                descent += evaluations > 1 ? gradient[k] * (trial[k] - best[k]) : 0;
            }
            // What rounding may change, which grows with the condition of the matrix.
            const real rounding = (1e-11 + 1.0000000000000001e-16 / least_pivot) * (1 + fabs(objective)), lowered = objective - value;
            const int accepted = !looking && definite && (evaluations == 1 || lowered >= -1e-4 * descent - rounding);
            const int is_best = accepted && (searches == 0 || value < least - rounding);
            if (is_best) {
                mean = -matrix[ROW(51) + 50];
                variance = psi * matrix[ROW(50) + 50] / 50;
                loglik = likelihood;
                found = 1;
                least = value;
                for (int k = me; k < 1; k += 64)
                    winner[k] = trial[k];
            }
            if (!looking) {
            BARRIER();
            if (accepted) {
                for (int k = me; k < 1; k += 64) {
                    const real now = RATE(k) * exp(trial[k]) - POWER(k) - partial[k * 64];
                    change[k] = evaluations > 1 ? trial[k] - best[k] : 0;
                    gradient_change[k] = change[k] == 0 ? 0 : now - gradient[k];  // what stays at its bound tells nothing of others
                    best[k] = trial[k];
                    gradient[k] = now;
                }
                BARRIER();
                objective = value;
                real along = 0, square = 0, length = 0, far = 0;
                for (int k = 0; k < 1; k++) {
                    along += change[k] * gradient_change[k];
                    square += gradient_change[k] * gradient_change[k];
                    length += gradient[k] * gradient[k];
                    const real room = gradient[k] > 0 ? best[k] - LOW(k) : HIGH(k) - best[k];
                    far = fmax(far, fmin(fabs(gradient[k]), room));
                }
                finished = !(far > 1e-06) || !isfinite(value) || (evaluations > 1 && lowered <= rounding);
                if (evaluations == 1 || (along > 0 && updates == 0)) {
                    const real size = evaluations == 1 ? fmin((real)1, 1 / sqrt(length)) : along / square;
                    for (int e = (int)me; e < 1; e += 64)
                        inverse_hessian[e] = e % 2 == 0 ? size : 0;
                    BARRIER();
                }
                if (along > 0) {
                    updates++;
                    for (int k = me; k < 1; k += 64) {
                        direction[k] = 0;
                        for (int l = 0; l < 1; l++)
                            direction[k] += inverse_hessian[k * 1 + l] * gradient_change[l];
                    }
                    BARRIER();
                    real curvature = along;
                    for (int k = 0; k < 1; k++)
                        curvature += direction[k] * gradient_change[k];
                    for (int e = (int)me; e < 1; e += 64) {
                        const int k = e / 1, l = e % 1;
                        const real across = direction[k] * change[l] + change[k] * direction[l];
                        inverse_hessian[e] += (curvature / along * change[k] * change[l] - across) / along;
                    }
                } else if (evaluations > 1) {  // the slope grows: further away
                    for (int e = (int)me; e < 1; e += 64)
                        inverse_hessian[e] *= 4;
                }
                BARRIER();
                for (int k = me; k < 1; k += 64) {
                    real sum = 0;
                    for (int l = 0; l < 1; l++)
                        sum -= AT_BOUND(l) ? 0 : inverse_hessian[k * 1 + l] * gradient[l];
                    direction[k] = AT_BOUND(k) ? 0 : sum;
                }
                BARRIER();
                real longest = 0;
                for (int k = 0; k < 1; k++)
                    longest = fmax(longest, fabs(direction[k]));
                step = fmin((real)1, 2 / longest);
            } else {
                // The minimum of the parabola through both values and the slope, if there is one in reach.
                const real excess = -lowered - descent, shorter = -descent / (2 * excess);
                step *= definite && shorter > 0.1 ? fmin(shorter, (real)0.5) : 0.1;
                finished = evaluations == 1 || -descent <= rounding;
            }
            if (evaluations == 100 && !finished) {
                finished = 1;
                cut |= objective <= least + rounding;
            }
            for (int k = me; k < 1; k += 64)
                trial[k] = fmin(fmax(best[k] + step * direction[k], LOW(k)), HIGH(k));
            }
            BARRIER();
            center = evaluations == 1 && searches == 0 ? value : center;
            if (!looking && searches > 0 && accepted) {
                real apart = 0;
                for (int k = 0; k < 1; k++)
                    apart = fmax(apart, fabs(best[k] - winner[k]));
                finished = finished || (apart < NEAR && objective > least);
            }
            if (looking || (finished && isfinite(least))) {
                int begins = 0, advances = !looking;
                if (looking) {
                    const real seen = definite && value < INFINITY ? value : INFINITY;
                    if (seen < last && (begin == 0 || seen < lowest)) {
                        begin = look;
                        lowest = seen;
                    }
                    last = seen;
                    int ends = 1;
                    real apart = 0;
                    for (int k = 0; k < 1; k++) {
                        ends = ends && (look < 0 ? trial[k] <= LOW(k) : trial[k] >= HIGH(k));
                        apart = fmax(apart, fabs(fmin(fmax(origin[k] + begin * STEP, LOW(k)), HIGH(k)) - winner[k]));
                    }
                    looking = !ends && (look > 0 || partial[64] < UNCORRELATED);
                    look += look < 0 ? -1 : 1;
                    begins = !looking && begin != 0 && apart > STEP;
                    advances = !looking && !begins;
                }
                if (advances) {
                    stage++;
                    looking = stage <= 2;
                    look = stage == 1 ? -1 : 1;
                    begin = 0;
                    last = center;
                    begins = stage > 2 && stage <= 2;
                }
                finished = !looking && !begins;
                BARRIER();
                for (int k = me; k < 1; k += 64) {
                    const int steps = k >= 1 ? 0 : looking ? look : stage <= 2 ? begin : k == stage - 3 ? -3 : 1;
                    trial[k] = fmin(fmax(origin[k] + steps * STEP, LOW(k)), HIGH(k));
                }
                if (begins) {
                    searches++;
                    earlier += evaluations;
                    evaluations = updates = 0;
                    step = 1;
                }
            }
        }
        if (me == 0) {
            means[means_offset + location] = mean;
            scales[scales_offset + location] = sqrt(variance < 0 ? 0 : variance);  // which rounding may make negative
            logliks[logliks_offset + location] = loglik;
            statuses[statuses_offset + location] = found ? (cut ? -1 : 1) * (earlier + evaluations) : 0;
        }
        BARRIER();
        for (int k = me; k <= 1; k += 64) {
            const real fitted = k >= 0 && k < 1 ? exp(winner[k - 0]) : theta[k];
            if (k < 1)
                d_fitted[d_fitted_offset + location * 1 + k] = fitted;
            else
                g_fitted[g_fitted_offset + location] = fitted;
        }
    } while ((location += BLOCKS_X) < count);
}
