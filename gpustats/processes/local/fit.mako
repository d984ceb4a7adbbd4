## The local_fit shape: for each location the prediction from its design, at the lengthscales and the nugget that maximise the
## penalised likelihood. A block has one location at a time, with all about it in shared memory.
##
## The matrix has a row for each point of the design, then one for the location and one for the responses; its lower triangle is
## kept, in rows of whole chunks of columns. Sweeping the rows of K (symmetric Gauss-Jordan steps, whose pivots are those of
## Cholesky's factorisation) turns
##       K                                    -K^-1
##       k'     1 + g             into         k' K^-1    1 + g - k' K^-1 k           (1 instead of 1 + g without noise)
##       y'     0         0                    y' K^-1        - y' K^-1 k       - y' K^-1 y
## so that the value, its gradient and the prediction come from one pass.
<%
    n, p, threads, lanes = problem.n, problem.p, layout.threads, layout.lanes
    Q, n_d, rows = problem.estimated, problem.lengthscales, problem.n + 2
    abreast, padded = threads // lanes, -(-rows // lanes) * lanes
    barrier = "BARRIER();" if layout.in_shared else "BARRIER_GLOBAL();"
    # Where a row has all threads, which are those of a vector register, the compiler is to see that they do the same.
    whole = abreast == 1
    place = "index_t" if whole else "int"
    first = 0 if problem.estimate_d else n_d  # of the lengthscales and the nugget, what is estimated first
    several = problem.estimate_d  # searches, of which the best one counts
    # What is only looked at, and predictions alone, need no inverse: the rows and columns that a pivot has passed.
    from_row = "(looking ? k + 1 : 0) + " if several else "" if Q else "k + 1 + "
    from_chunk = f"looking ? k / {lanes} : 0" if several else 0 if Q else f"k / {lanes}"
%>\
#define ROW(i) (${lanes} * ((i) / ${lanes} + 1) * (${lanes} * ((i) / ${lanes}) / 2 + (i) % ${lanes}))  // where it begins
% if Q:
// Of what is estimated, its logarithm's bounds, and u and v of the prior's log-density u log(t) - v t.
#define LOW(k) limits[k]
#define HIGH(k) limits[${Q} + (k)]
#define POWER(k) limits[${2 * Q} + (k)]
#define RATE(k) limits[${3 * Q} + (k)]
% if several:
#define STEP 1.3862943611198906  // log 4, between the lengthscales at which the likelihood is looked at
#define UNCORRELATED -0.1        // log-determinant of a matrix that shorter lengthscales would hardly change
#define NEAR 0.1                 // a search that comes so near to what is known leads there
% endif
#define AT_BOUND(k) (gradient[k] > 0 ? best[k] <= LOW(k) : best[k] >= HIGH(k))
% endif

${correlation}
## The terms of r2 between the points i and j.
<%def name="distance(p, padded)">\
% if problem.separable:
% for k in range(p):
                    const real difference_${k} = x[${k * padded} + i] - x[${k * padded} + j];
                    const real term_${k} = difference_${k} * difference_${k} * rates[${k}];
% endfor
                    const real r2 = ${" + ".join(f"term_{k}" for k in range(p))};
% else:
                    real squares = 0;
                    for (int k = 0; k < ${p}; k++) {
                        const real difference = x[k * ${padded} + i] - x[k * ${padded} + j];
                        squares += difference * difference;
                    }
                    const real r2 = squares * rates[0];
% endif
</%def>\
KERNEL(${threads}) local_fit(
    GLOBAL real *RESTRICT means, index_t means_offset, GLOBAL real *RESTRICT scales, index_t scales_offset,
    GLOBAL real *RESTRICT logliks, index_t logliks_offset, GLOBAL real *RESTRICT d_fitted, index_t d_fitted_offset,
    GLOBAL real *RESTRICT g_fitted, index_t g_fitted_offset, GLOBAL int *RESTRICT statuses, index_t statuses_offset,
    GLOBAL const real *RESTRICT X, index_t X_offset, GLOBAL const real *RESTRICT y, index_t y_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT designs, index_t designs_offset,
    GLOBAL const real *RESTRICT d_start, index_t d_start_offset, GLOBAL const real *RESTRICT g_start, index_t g_start_offset,
    GLOBAL real *work, index_t count, real offset, real noise${", GLOBAL const real *RESTRICT limits" if Q else ""})
{
    const ${place} me = THREAD, lane = ${"me" if whole else f"me % {lanes}"}, row = ${0 if whole else f"(unsigned)me / {lanes}"};
    DYNAMIC_SHARED_ARRAY(real, shared, ${layout.shared});
% if layout.in_shared:
    SHARED real *const matrix = shared, *const column = shared + ${layout.matrix};
% else:
    GLOBAL real *const matrix = work + BLOCK_X * ${layout.matrix};
    SHARED real *const column = shared;
% endif
    SHARED real *const responses = column + ${padded}, *const pivots = responses + ${padded}, *const x = pivots + ${padded};
    SHARED real *const partial = x + ${p * padded}, *const theta = partial + ${(Q + 1) * threads};  // lengthscales, nugget
    SHARED real *const rates = theta + ${n_d + 1};  // 1 / lengthscales
% if Q:
    // Of the logarithms of what is estimated: the best so far, what is tried next, and what leads there.
    SHARED real *const best = rates + ${n_d}, *const trial = best + ${Q}, *const gradient = trial + ${Q};
    SHARED real *const change = gradient + ${Q}, *const gradient_change = change + ${Q}, *const direction = gradient_change + ${Q};
    SHARED real *const inverse_hessian = direction + ${Q};
    SHARED real *const origin = inverse_hessian + ${Q * Q}, *const winner = origin + ${Q};  // the start, and the best of all
% endif

    // Every block has a location, and takes at least one turn: of a loop with barriers that may take none, PoCL (3.1) makes code
    // that sends all threads where one of them goes.
    index_t location = BLOCK_X;
    do {
        BARRIER();
        for (${place} i = me; i < ${padded}; i += ${threads}) {
            const index_t point = i < ${n} ? designs[designs_offset + location * ${n} + i] : -1;
            responses[i] = point < 0 ? 0 : y[y_offset + point];
            for (int k = 0; k < ${p}; k++)
                x[k * ${padded} + i] = i == ${n} ? locations[locations_offset + location * ${p} + k]
                    : point >= 0 ? X[X_offset + point * ${p} + k] : i < ${n} ? (real)NAN : 0;
        }
        for (${place} k = me; k <= ${n_d}; k += ${threads})
            theta[k] = k < ${n_d} ? d_start[d_start_offset + location * ${n_d} + k] : g_start[g_start_offset + location];
% if Q:
        BARRIER();
        for (${place} k = me; k < ${Q}; k += ${threads}) {
            origin[k] = winner[k] = best[k] = trial[k] = log(theta[${first} + k]);
            direction[k] = 0;
        }
        real objective = 0, step = 1;
        int updates = 0, searches = 0;  // that are finished
        real least = INFINITY;          // objective of all searches
% if several:
        int stage = 0, looking = 0, look = 0, begin = 0;  // what comes after the first search; steps along a line: see `search_on`
        real center = 0, last = 0, lowest = 0;  // objectives at the start, of the last look, and of the best one
% endif
        BARRIER();  // for PoCL, which reads `trial` as it was for the last location without a barrier ahead of the loop
% endif
        real mean = NAN, variance = NAN, loglik = NAN;
        int found = 0, cut = 0, evaluations = 0, earlier = 0, finished = 0;  // evaluations: of a search, and of earlier ones
        while (!finished) {
            ${barrier}
% if Q:
            for (${place} k = me; k < ${Q}; k += ${threads})
                theta[${first} + k] = exp(trial[k]);
            BARRIER();
% endif
            for (${place} k = me; k < ${n_d}; k += ${threads})
                rates[k] = 1 / theta[k];
            BARRIER();
            const real g = theta[${n_d}];
            for (${place} i = row; i < ${rows}; i += ${abreast})
                for (${place} chunk = 0; chunk <= i / ${lanes}; chunk++) {
                    const ${place} j = chunk * ${lanes} + lane;
${distance(p, padded)}\
                    matrix[ROW(i) + j] = i > ${n} ? responses[j] : i == j ? 1 + (i < ${n} ? g : noise * g) : correlation(r2);
                }
            ${barrier}

            int definite = 1;
% if Q:
            real least_pivot = INFINITY;
% endif
            for (int k = 0; k < ${n} && definite; k++) {
                for (${place} i = me; i < ${padded}; i += ${threads}) {
                    const ${place} entry_place = i < k ? ROW(k) + i : ROW(i) + k;
                    real entry = 0;
                    if (i < ${rows}) {
                        entry = matrix[entry_place];
                        matrix[entry_place] = 0;
                    }
                    if (i == k)
                        pivots[k] = entry;
                    column[i] = i == k ? -1 : entry;  // beside the zeros: so the same formula serves all entries
                }
                ${barrier}
                const real reciprocal = 1 / pivots[k];
                definite = !(pivots[k] <= 0);
% if Q:
                least_pivot = fmin(least_pivot, pivots[k]);
% endif
                for (${place} i = ${from_row}row; i < ${rows}; i += ${abreast}) {
                    const real factor = column[i] * reciprocal;
                    for (${place} chunk = ${from_chunk}; chunk <= i / ${lanes}; chunk++)
                        matrix[ROW(i) + chunk * ${lanes} + lane] -= factor * column[chunk * ${lanes} + lane];
                }
                ${barrier}
            }
            evaluations++;
            const real psi = -matrix[ROW(${n + 1}) + ${n + 1}];
            real log_determinant = 0;
            for (${place} k = me; k < ${n}; k += ${threads})
                log_determinant += log(pivots[k]);
            partial[${Q * threads} + me] = log_determinant;
% if Q:
            // The gradient is tr(W dK) / 2 with W = n / psi alpha alpha' - K^-1, where alpha = K^-1 y.
            const real ratio = ${n} / psi;
            real ${", ".join(f"slope_{k} = 0" for k in range(Q))};
% if problem.estimate_d:
            for (${place} i = row; i < ${f"(looking ? 0 : {n})" if several else n}; i += ${abreast}) {
                const real factor = ratio * matrix[ROW(${n + 1}) + i];
                for (${place} chunk = 0; chunk <= i / ${lanes}; chunk++) {
                    const ${place} j = chunk * ${lanes} + lane;
${distance(p, padded)}\
                    const real weight = factor * matrix[ROW(${n + 1}) + j] + matrix[ROW(i) + j];
                    const int counts = j < i && r2 != 0;  // equal points have no say, though the slope may be infinite there
                    const real slope = counts ? -weight * correlation_slope(r2) : 0;
% for k in range(n_d):
                    slope_${k} += counts ? slope * ${f"term_{k}" if problem.separable else "r2"} : 0;
% endfor
                }
            }
% endif
% if problem.estimate_g:
            for (${place} i = me; i < ${n}; i += ${threads}) {
                const real alpha = matrix[ROW(${n + 1}) + i];
                slope_${Q - 1} += (ratio * alpha * alpha + matrix[ROW(i) + i]) * g / 2;
            }
% endif
% for k in range(Q):
            partial[${k * threads} + me] = slope_${k};
% endfor
% endif
            for (int width = ${threads // 2}; width > 0; width /= 2) {
                BARRIER();
                for (int e = (int)me; e < ${Q + 1} * width; e += ${threads}) {
                    const int place = e / width * ${threads} + e % width;
                    partial[place] += partial[place + width];
                }
            }
            BARRIER();
            const real likelihood = offset - ${n / 2} * log(psi / 2) - partial[${Q * threads}] / 2;
% if Q:
            // Minimised: minus the log-likelihood, minus the logarithm of the prior density.
            real value = -likelihood, descent = 0;
            for (int k = 0; k < ${Q}; k++) {
                value -= POWER(k) * trial[k] - RATE(k) * exp(trial[k]);
                descent += evaluations > 1 ? gradient[k] * (trial[k] - best[k]) : 0;
            }
            // What rounding may change, which grows with the condition of the matrix.
            const real rounding = (1e-11 + ${2e-18 * n} / least_pivot) * (1 + fabs(objective)), lowered = objective - value;
            const int accepted = ${"!looking && " if several else ""}definite && (evaluations == 1 || lowered >= -1e-4 * descent - rounding);
            const int is_best = accepted && (searches == 0 || value < least - rounding);
% else:
            const int is_best = definite;
% endif
            if (is_best) {
                mean = -matrix[ROW(${n + 1}) + ${n}];
                variance = psi * matrix[ROW(${n}) + ${n}] / ${n};
                loglik = likelihood;
                found = 1;
% if Q:
                least = value;
                for (${place} k = me; k < ${Q}; k += ${threads})
                    winner[k] = trial[k];
% endif
            }
% if several:
            if (!looking) {
% endif
% if Q:
${maximise(Q, threads, place)}\
% else:
            finished = 1;
% endif
% if several:
            }
${search_on(Q, n_d, threads, place)}\
% endif
        }
        if (me == 0) {
            means[means_offset + location] = mean;
            scales[scales_offset + location] = sqrt(variance < 0 ? 0 : variance);  // which rounding may make negative
            logliks[logliks_offset + location] = loglik;
            statuses[statuses_offset + location] = found ? (cut ? -1 : 1) * (earlier + evaluations) : 0;
        }
        BARRIER();
        for (${place} k = me; k <= ${n_d}; k += ${threads}) {
            const real fitted = ${f"k >= {first} && k < {first + Q} ? exp(winner[k - {first}]) : theta[k]" if Q else "theta[k]"};
            if (k < ${n_d})
                d_fitted[d_fitted_offset + location * ${n_d} + k] = fitted;
            else
                g_fitted[g_fitted_offset + location] = fitted;
        }
    } while ((location += BLOCKS_X) < count);
}
## Projected quasi-Newton (BFGS) steps in the logarithms: where to try next, or whether to finish.
<%def name="maximise(Q, threads, place)">\
            BARRIER();
            if (accepted) {
                for (${place} k = me; k < ${Q}; k += ${threads}) {
                    const real now = RATE(k) * exp(trial[k]) - POWER(k) - partial[k * ${threads}];
                    change[k] = evaluations > 1 ? trial[k] - best[k] : 0;
                    gradient_change[k] = change[k] == 0 ? 0 : now - gradient[k];  // what stays at its bound tells nothing of others
                    best[k] = trial[k];
                    gradient[k] = now;
                }
                BARRIER();
                objective = value;
                real along = 0, square = 0, length = 0, far = 0;
                for (int k = 0; k < ${Q}; k++) {
                    along += change[k] * gradient_change[k];
                    square += gradient_change[k] * gradient_change[k];
                    length += gradient[k] * gradient[k];
                    const real room = gradient[k] > 0 ? best[k] - LOW(k) : HIGH(k) - best[k];
                    far = fmax(far, fmin(fabs(gradient[k]), room));
                }
                finished = !(far > ${problem.TOLERANCE}) || !isfinite(value) || (evaluations > 1 && lowered <= rounding);
                if (evaluations == 1 || (along > 0 && updates == 0)) {
                    const real size = evaluations == 1 ? fmin((real)1, 1 / sqrt(length)) : along / square;
                    for (int e = (int)me; e < ${Q * Q}; e += ${threads})
                        inverse_hessian[e] = e % ${Q + 1} == 0 ? size : 0;
                    BARRIER();
                }
                if (along > 0) {
                    updates++;
                    for (${place} k = me; k < ${Q}; k += ${threads}) {
                        direction[k] = 0;
                        for (int l = 0; l < ${Q}; l++)
                            direction[k] += inverse_hessian[k * ${Q} + l] * gradient_change[l];
                    }
                    BARRIER();
                    real curvature = along;
                    for (int k = 0; k < ${Q}; k++)
                        curvature += direction[k] * gradient_change[k];
                    for (int e = (int)me; e < ${Q * Q}; e += ${threads}) {
                        const int k = e / ${Q}, l = e % ${Q};
                        const real across = direction[k] * change[l] + change[k] * direction[l];
                        inverse_hessian[e] += (curvature / along * change[k] * change[l] - across) / along;
                    }
                } else if (evaluations > 1) {  // the slope grows: further away
                    for (int e = (int)me; e < ${Q * Q}; e += ${threads})
                        inverse_hessian[e] *= 4;
                }
                BARRIER();
                for (${place} k = me; k < ${Q}; k += ${threads}) {
                    real sum = 0;
                    for (int l = 0; l < ${Q}; l++)
                        sum -= AT_BOUND(l) ? 0 : inverse_hessian[k * ${Q} + l] * gradient[l];
                    direction[k] = AT_BOUND(k) ? 0 : sum;
                }
                BARRIER();
                real longest = 0;
                for (int k = 0; k < ${Q}; k++)
                    longest = fmax(longest, fabs(direction[k]));
                step = fmin((real)1, 2 / longest);
            } else {
                // The minimum of the parabola through both values and the slope, if there is one in reach.
                const real excess = -lowered - descent, shorter = -descent / (2 * excess);
                step *= definite && shorter > 0.1 ? fmin(shorter, (real)0.5) : 0.1;
                finished = evaluations == 1 || -descent <= rounding;
            }
            if (evaluations == ${problem.MOST_EVALUATIONS} && !finished) {
                finished = 1;
                cut |= objective <= least + rounding;
            }
            for (${place} k = me; k < ${Q}; k += ${threads})
                trial[k] = fmin(fmax(best[k] + step * direction[k], LOW(k)), HIGH(k));
</%def>\
## Further searches, of which the best one counts. Some begin where all lengthscales are 4^k times as long as at the start: there the
## likelihood is looked at, first for k < 0, until the responses are uncorrelated, then for k > 0, up to the bounds, and a search
## begins at the best look of each side that is better than the one before. Others begin where one of several lengthscales is 1/64
## as long, and the others are 4 times as long.
<%def name="search_on(Q, n_d, threads, place)">\
            BARRIER();
            center = evaluations == 1 && searches == 0 ? value : center;
            if (!looking && searches > 0 && accepted) {
                real apart = 0;
                for (int k = 0; k < ${Q}; k++)
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
                    for (int k = 0; k < ${n_d}; k++) {
                        ends = ends && (look < 0 ? trial[k] <= LOW(k) : trial[k] >= HIGH(k));
                        apart = fmax(apart, fabs(fmin(fmax(origin[k] + begin * STEP, LOW(k)), HIGH(k)) - winner[k]));
                    }
                    looking = !ends && (look > 0 || partial[${Q * threads}] < UNCORRELATED);
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
                    begins = stage > 2 && stage <= ${2 + n_d * (n_d > 1)};
                }
                finished = !looking && !begins;
                BARRIER();
                for (${place} k = me; k < ${Q}; k += ${threads}) {
                    const int steps = k >= ${n_d} ? 0 : looking ? look : stage <= 2 ? begin : k == stage - 3 ? -3 : 1;
                    trial[k] = fmin(fmax(origin[k] + steps * STEP, LOW(k)), HIGH(k));
                }
                if (begins) {
                    searches++;
                    earlier += evaluations;
                    evaluations = updates = 0;
                    step = 1;
                }
            }
</%def>\
