## The local_ray shape: designs whose points are searched in continuous space, along a few rays, and then taken from the nearest
## candidates. A block has a location at a time: its threads are trial points, and candidates where it looks for the nearest.
##
## All coordinates are in lengthscales, from the candidate on that is nearest to the location.
<%
    threads, trials, p, E = layout.threads, layout.trials, dim, layout.end
    memory = "SHARED" if layout.in_shared else "GLOBAL"
    barrier = "BARRIER();" if layout.in_shared else "BARRIER_GLOBAL();"
    steps = trials // rays
    length = "d[d_offset + m * DIM + e]" if separable else "d[d_offset + m]"
%>\
${correlation}
#define DIM ${p}
#define FACTOR(i, t) factor[(i) * ((i) + 1) / 2 + (t)]  // the Cholesky factor of the design's matrix, t <= i
#define TRIAL(t, q) rows[(t) * ${trials} + (q)]  // entry t of the factor's row of trial q
#define COORDINATE(e, z) coordinates[(e) * width + (z)]  // of candidates; nan in the first row: chosen already
#define REACH 10  // a ray leads so many times as far from the location as where it begins
#define PASSES 3  // line searches along gradients
// A variance below this is rounding: what it stands for is determined by the design already.
#define FLOOR 1e-13

// The values of all trials, and the best of them, which is taken if it is better than what is known.
<%def name="evaluate()">\
                for (int q = (int)THREAD; q < ${trials}; q += ${threads}) {
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
                            const real from = at[e] - points[e * ${E} + i];
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
                ${barrier}
                found = -1;
                for (int q = 0; q < ${trials}; q++)
                    if (values[q] > best) {
                        best = values[q];
                        found = q;
                    }
                if (found >= 0)
                    for (int e = (int)THREAD; e < DIM; e += ${threads})
                        best_at[e] = origins[lines[found] * DIM + e] + parameters[found] * directions[lines[found] * DIM + e];
                BARRIER();
</%def>\
KERNEL(${threads}) local_ray(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT X, index_t X_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT all_candidates,
    index_t candidates_offset, GLOBAL const real *RESTRICT d, index_t d_offset, GLOBAL const real *RESTRICT g, index_t g_offset,
    GLOBAL const real *RESTRICT box, index_t box_offset, GLOBAL real *RESTRICT scratch, index_t scratch_reals,
    index_t n_locations, int n_candidates, int n_ordered, int width, int start, int end)
{
    DYNAMIC_SHARED_ARRAY(real, shared, ${layout.shared});
    SHARED real *const points = shared, *const scales = points + ${p * E};  // of the design; 1 / FACTOR(i, i)
    SHARED real *const weights = scales + ${E};                             // the factor's row of the location
    SHARED real *const own = weights + ${E};                                // what becomes the factor's next row
    SHARED real *const here = own + ${2 * E + 2}, *const best_at = here + DIM, *const gradient = best_at + DIM;
    SHARED real *const origins = gradient + DIM, *const directions = origins + ${rays} * DIM;  // of rays
    SHARED real *const reaches = directions + ${rays} * DIM, *const parameters = reaches + ${rays};
    SHARED real *const values = parameters + ${trials};  // of trials, then of threads
    SHARED int *const lines = (SHARED int *)(values + ${max(trials, threads)}), *const places = lines + ${trials};
    GLOBAL real *const far = scratch + BLOCK_X * scratch_reals;
    ${memory} real *const factor = ${f"shared + {layout.beside}" if layout.in_shared else "far"}, *const rows = factor + ${E * (E + 1) // 2};
    GLOBAL float *const coordinates = (GLOBAL float *)(far + ${0 if layout.in_shared else layout.matrices});
    for (index_t m = BLOCK_X; m < n_locations; m += BLOCKS_X) {
        GLOBAL const int *const candidates = all_candidates + candidates_offset + m * n_candidates;
        GLOBAL const real *const location = locations + locations_offset + m * DIM;
        GLOBAL const real *const origin = X + X_offset + (candidates[0] < 0 ? 0 : candidates[0]) * (index_t)DIM;
        GLOBAL int *const design = out + out_offset + m * end;
        for (int z = (int)THREAD; z < n_candidates; z += ${threads}) {
            const int row = candidates[z];
            for (int e = 0; e < DIM; e++)
                COORDINATE(e, z) = row < 0 ? NAN : (X[X_offset + row * (index_t)DIM + e] - origin[e]) / sqrt(${length});
        }
        for (int e = (int)THREAD; e < DIM; e += ${threads})
            here[e] = (location[e] - origin[e]) / sqrt(${length});
        BARRIER_GLOBAL();
        int j = 0;
        for (; j < end; j++) {
            int chosen = j;
            if (j >= start) {
                // Rays from the next neighbours that are not in the design, away from the location: those that searches begin with
                // are the first ones in turn, of which there are more the larger the design is.
                for (int ray = (int)THREAD; ray < ${rays}; ray += ${threads}) {
                    const int several = (int)sqrt((real)(j - start + 1));
                    int left = (j - start) % several + ray, place = -1;
                    for (int z = 0; z < n_ordered && left >= 0; z++)
                        if (COORDINATE(0, z) == COORDINATE(0, z)) {
                            place = z;
                            left--;
                        }
                    real reach = REACH;
                    for (int e = 0; e < DIM; e++) {
                        const real unit = sqrt(${length});
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
                for (int q = (int)THREAD; q < ${trials}; q += ${threads}) {
                    lines[q] = q / ${steps};
                    parameters[q] = reaches[lines[q]] * (q % ${steps}) / ${steps - 1};
                }
                BARRIER();
                real best = -1;
                int found;
${evaluate()}\
% if opt:
                // Line searches along gradients, as long as they lead on.
                for (int pass = 0; pass < PASSES; pass++) {
                    // The factor's transpose is solved for the rows of the best trial and of the location.
                    for (int i = (int)THREAD; i < j; i += ${threads}) {
                        own[i] = found < 0 ? 0 : TRIAL(i, found);
                        own[${E} + 1 + i] = weights[i];
                    }
                    ${barrier}
                    for (int i = j - 1; i >= 0; i--) {
                        const real b = own[i] * scales[i], a = own[${E} + 1 + i] * scales[i];
                        BARRIER();
                        for (int t = (int)THREAD; t <= i; t += ${threads}) {
                            own[t] = t == i ? b : fma(-FACTOR(i, t), b, own[t]);
                            own[${E} + 1 + t] = t == i ? a : fma(-FACTOR(i, t), a, own[${E} + 1 + t]);
                        }
                        BARRIER();
                    }
                    // The value is c^2 / v; its derivative 2 c / v (dc - c / (2 v) dv), only counts by its direction.
                    for (int e = (int)THREAD; e < DIM; e += ${threads}) {
                        real c = 0, v = 1 + g[g_offset + m], dc = 0, dv = 0;
                        for (int i = -1; i < j; i++) {
                            real square = 0;
                            for (int f = 0; f < DIM; f++) {
                                const real from = best_at[f] - (i < 0 ? here[f] : points[f * ${E} + i]);
                                square = fma(from, from, square);
                            }
                            const real along = best_at[e] - (i < 0 ? here[e] : points[e * ${E} + i]);
                            const real slope = square > 0 ? 2 * correlation_slope(square) * along : 0, k = correlation(square);
                            c += i < 0 ? k : -own[${E} + 1 + i] * k;
                            dc += i < 0 ? slope : -own[${E} + 1 + i] * slope;
                            v -= i < 0 ? 0 : own[i] * k;
                            dv -= i < 0 ? 0 : 2 * own[i] * slope;
                        }
                        gradient[e] = c * (dc - c / (2 * v) * dv);
                    }
                    BARRIER();
                    real length2 = 0, far2 = 0;
                    for (int e = 0; e < DIM; e++) {
                        length2 = fma(gradient[e], gradient[e], length2);
                        far2 = fma(best_at[e] - here[e], best_at[e] - here[e], far2);
                    }
                    for (int e = (int)THREAD; e < DIM; e += ${threads}) {
                        origins[e] = best_at[e];
                        directions[e] = length2 > 0 ? gradient[e] * sqrt(far2 / length2) : 0;
                    }
                    for (int q = (int)THREAD; q < ${trials}; q += ${threads}) {
                        lines[q] = 0;
                        parameters[q] = 2 * exp2(REAL(${-12 / trials}) * q);
                    }
                    BARRIER();
${evaluate()}\
                    if (found < 0)
                        break;
                }
% else:
                // More finely around the best of them.
                const int line = found < 0 ? 0 : found / ${steps}, step = found < 0 ? 0 : found % ${steps};
                const int low = step > 0 ? step - 1 : 0, high = step < ${steps - 1} ? step + 1 : step;
                for (int q = (int)THREAD; q < ${trials}; q += ${threads}) {
                    lines[q] = line;
                    parameters[q] = reaches[line] * (low + (high - low) * (q + 1) / REAL(${trials + 1}.0)) / ${steps - 1};
                }
                BARRIER();
${evaluate()}\
% endif
                // The nearest candidate that is not in the design, the first row of X where distances are equal.
                real nearest = INFINITY;
                int at_place = -1;
                for (int z = (int)THREAD; z < n_candidates; z += ${threads}) {
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
                for (int i = 0; i < ${threads}; i++)
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
            for (int e = (int)THREAD; e < DIM; e += ${threads})
                points[e * ${E} + j] = (X[X_offset + row * (index_t)DIM + e] - origin[e]) / sqrt(${length});
            BARRIER_GLOBAL();
            for (int i = (int)THREAD; i <= j + 1; i += ${threads}) {
                real square = 0;
                for (int e = 0; e < DIM; e++) {
                    const real from = (i <= j ? points[e * ${E} + i] : here[e]) - points[e * ${E} + j];
                    square = fma(from, from, square);
                }
                own[i] = i == j ? 1 + g[g_offset + m] : correlation(square);
            }
            BARRIER();
            for (int t = 0; t <= j; t++) {
                const real l = t < j ? own[t] * scales[t] : own[j] > FLOOR ? 1 / sqrt(own[j]) : 0, last = own[j + 1];
                BARRIER();
                if (t < j) {
                    for (int i = t + 1 + (int)THREAD; i <= j + 1; i += ${threads})
                        own[i] = fma(-l, i < j ? FACTOR(i, t) : i == j ? l : weights[t], own[i]);
                    if (THREAD == 0)
                        FACTOR(j, t) = l;
                } else if (THREAD == 0) {
                    scales[j] = l;
                    weights[j] = last * l;
                }
                ${barrier}
            }
        }
        if (j < end)  // nan, or nothing left to choose from
            for (int i = (int)THREAD; i < end; i += ${threads})
                design[i] = -1;
        BARRIER_GLOBAL();
    }
}
