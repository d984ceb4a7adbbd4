## The local_design shape: greedy designs for locations, one block a location, from the first choice to the last. A location may
## consist of several references: then the candidates have a covariance with each, and what counts is the sum of the criterion.
<%namespace name="information" file="/processes/local/mspe.mako"/>\
<%namespace name="candidates" file="/processes/local/candidates.mako"/>\
<%
    threads, unroll, near, p = layout.threads, layout.unroll, layout.near, dim
    groups = min(threads, 32)
    each = 2 if mspe else 1  # rows of the factor for a point of the design: with its derivative
    states = "(1 + n_references)" if several else 6 if mspe else 2
    state = "SHARED" if layout.near_state else "GLOBAL"
    wide, wide_memory = layout.wide, "SHARED" if layout.near_wide else "GLOBAL"
    length = "d[d_offset + m * DIM + e]" if separable else "d[d_offset + m]"
    beyond = f"(j - {wide})" if wide else "j"  # number of the new point's row among the narrow ones of the factor
%>\
${correlation}
#define DIM ${p}
${candidates.types(wide, "the candidates' rows")}\
% if wide:
#define WIDE_FACTOR(i, z) wide_rows[(i) * width + (z)]
% endif
#define NEAR ${near}  // rows of numbers of the candidates that lie in shared memory; the others in the block's scratch
// Row r of the candidates' numbers: their coordinates, then their rows of the Cholesky factor, entry by entry${", each with its derivative" if mspe else ""}.
#define NEAR_ROW(r) (near_rows + (r) * width)
#define FAR_ROW(r) (far_rows + ((r) - NEAR) * width)
#define AT_ROW(r, z) (${"(r) < NEAR ? NEAR_ROW(r)[z] : FAR_ROW(r)[z]" if near else "FAR_ROW(r)[z]"})
#define AT_FACTOR(i, z) (${"(i) < WIDE ? WIDE_FACTOR(i, z) : AT_ROW(DIM + (i) - WIDE, z)" if wide else "AT_ROW(DIM + (i), z)"})
#define NEAR_FACTOR(i, z) NEAR_ROW(DIM + (i) - WIDE)[z]
#define FAR_FACTOR(i, z) FAR_ROW(DIM + (i) - WIDE)[z]

// The candidate that is better: of the larger value, of the lower row of X where values are equal. nan is never better.
#define IS_BETTER(value, row, than, than_row) ((value) > (than) || ((value) == (than) && (row) < (than_row)))
#define WORST -INFINITY

% if mspe:
${information.functions()}\
% else:
// By how much the variance at the location becomes smaller.
DEVICE real value_of(real covariance, real variance)
{
    return variance <= FLOOR ? 0 * covariance : covariance * covariance / variance;
}
% endif

<%def name="subtract(memory, count)">\
                const real l = own[DIM + i]${", l_slope = own[DIM + i + 1]" if mspe else ""};
                UNROLL for (int c = 0; c < ${count}; c++) {
                    const real other = ${memory}_FACTOR(i, z + c * ${threads});
                    acc[c] = fma(-l, other, acc[c]);
% if mspe:
                    slopes[c] = fma(-l, ${memory}_FACTOR(i + 1, z + c * ${threads}), fma(-l_slope, other, slopes[c]));
% endif
                }
</%def>\
// Adds the design's new point to the conditional covariances of ${unroll} or one candidate a thread, and looks for the next.
<%def name="add_point(count)">\
            real acc[${count}]${f", slopes[{count}]" if mspe else ""};
            UNROLL for (int c = 0; c < ${count}; c++)
                acc[c] = 0;
            UNROLL for (int e = 0; e < DIM; e++) {
                UNROLL for (int c = 0; c < ${count}; c++) {
                    const real from = AT_ROW(e, z + c * ${threads}) - own[e];
                    acc[c] = fma(from, from, acc[c]);
                }
            }
            UNROLL for (int c = 0; c < ${count}; c++) {
% if mspe:
                slopes[c] = slope_of(acc[c], theta);
% endif
                acc[c] = correlation(acc[c]);
            }
% if wide:
            for (int i = 0; i < MIN(j, WIDE); i++) {
${subtract("WIDE", count)}\
            }
% endif
% if near > p:
            for (int i = ${wide}; i < MIN(${f"{each} * " if each > 1 else ""}j, ${f"{wide} + " if wide else ""}NEAR - DIM); i += ${each}) {
${subtract("NEAR", count)}\
            }
% endif
            UNROLL_BY_4
            for (int i = ${wide + max(near - p, 0)}; i < ${f"{each} * " if each > 1 else ""}j; i += ${each}) {
${subtract("FAR", count)}\
            }
            UNROLL for (int c = 0; c < ${count}; c++) {
                const int place = z + c * ${threads};
                const real w = acc[c] * scale, v = fma(-w, w, variance[place]);
% if several:
                real sum = 0;
                for (int r = 0; r < n_references; r++) {
                    const real k = place == chosen ? NAN : fma(-w, w_references[r], covariance[r * width + place]);
                    covariance[r * width + place] = k;
                    sum += value_of(k, v);
                }
% else:
                const real k = place == chosen ? NAN : fma(-w, w_location, covariance[place]);  // what is chosen leaves
% endif
                variance[place] = v;
% if not several:
                covariance[place] = k;
% endif
% if mspe:
                const real w_slope = fma(-w, root_slope, slopes[c]) * scale;
                const real v_slope = fma(-2 * w, w_slope, variance_slope[place]);
                const real mean_slope_here = fma(w, u_slope, fma(w_slope, u, mean_slope[place]));
                variance_slope[place] = v_slope;
                covariance_slope[place] = fma(-w, w_location_slope, fma(-w_slope, w_location, covariance_slope[place]));
                mean[place] = fma(w, u, mean[place]);
                mean_slope[place] = mean_slope_here;
% endif
% if wide:
                if (j < WIDE)
                    WIDE_FACTOR(j, place) = w;
                else
% endif
% if near > p:
                if (DIM + ${each} * ${beyond} < NEAR) {
                    NEAR_ROW(DIM + ${each} * ${beyond})[place] = w;
% if mspe:
                    NEAR_ROW(DIM + 2 * j + 1)[place] = w_slope;
% endif
                } else {
% else:
                {
% endif
                    FAR_ROW(DIM + ${each} * ${beyond})[place] = w;
% if mspe:
                    FAR_ROW(DIM + 2 * j + 1)[place] = w_slope;
% endif
                }
                const real value = ${"value_of(k, v, v_slope, mean_slope_here, &known)" if mspe else "sum" if several else "value_of(k, v)"};
                if (value >= best) {  // never where it is nan
                    const int row = candidates[place];
                    if (IS_BETTER(value, row, best, best_row)) {
                        best = value;
                        best_row = row;
                        best_place = place;
                    }
                }
            }
</%def>\
KERNEL(${threads}) local_design(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT X, index_t X_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT all_candidates,
    index_t candidates_offset, GLOBAL const real *RESTRICT d, index_t d_offset, GLOBAL const real *RESTRICT g, index_t g_offset,
${"    GLOBAL const real *RESTRICT y, index_t y_offset, " if mspe else "    "}GLOBAL real *RESTRICT scratch, index_t scratch_reals, index_t n_locations, int n_candidates, int width, int start, int end${", int n_references" if several else ""})
{
    DYNAMIC_SHARED_ARRAY(real, shared, ${layout.shared});
    SHARED real *const own = shared;  // the new point's coordinates, then its row of the factor
    SHARED real *const best_values = own + ${layout.own};
    SHARED int *const best_rows = (SHARED int *)(best_values + ${threads + groups}), *const best_places = best_rows + ${threads + groups};
    // States, wide rows and the others, in shared memory as far as there is room, the rest behind one another in global memory.
    SHARED real *const near = best_values + ${2 * (threads + groups)};
    GLOBAL real *const far = scratch + BLOCK_X * scratch_reals;
% if wide:
    ${wide_memory} real *const wide_rows = ${"near" if layout.near_wide else "far"}${f" + {states} * width" if layout.near_wide == layout.near_state else ""};
% endif
<%
    shared_before = " + ".join(filter(None, [f"{states} * width" if layout.near_state else "", f"{wide} * width" if layout.near_wide else ""]))
    global_before = " + ".join(filter(None, ["" if layout.near_state else f"{states} * width", f"{wide} * width" if wide and not layout.near_wide else ""]))
%>\
% if near:
    SHARED row_t *const near_rows = (SHARED row_t *)(near${f" + {shared_before}" if shared_before else ""});
% endif
    GLOBAL row_t *const far_rows = (GLOBAL row_t *)(far${f" + {global_before}" if global_before else ""});
% if several:
    GLOBAL real *const w_references = far + scratch_reals - n_references;
% endif
    ${state} real *const variance = ${"near" if layout.near_state else "far"}, *const covariance = variance + width;
% if mspe:
    ${state} real *const variance_slope = variance + 2 * width, *const covariance_slope = variance + 3 * width;
    ${state} real *const mean = variance + 4 * width, *const mean_slope = variance + 5 * width;
${information.arrays(layout)}\
% endif
    for (index_t m = BLOCK_X; m < n_locations; m += BLOCKS_X) {
        GLOBAL const int *const candidates = all_candidates + candidates_offset + m * n_candidates;
        GLOBAL const real *const location = locations + locations_offset + m * ${"n_references * " if several else ""}DIM;
        GLOBAL int *const design = out + out_offset + m * end;
${candidates.origin(wide, "candidates[0]")}\
        for (int z = (int)THREAD; z < width; z += ${threads}) {
            const int row = z < n_candidates ? candidates[z] : -1;
            real r2 = 0;
            UNROLL for (int e = 0; e < DIM; e++) {
${candidates.coordinate(wide, "row", length)}\
% if near >= p:
                NEAR_ROW(e)[z] = kept;
% elif near:
                if (e < NEAR)
                    NEAR_ROW(e)[z] = kept;
                else
                    FAR_ROW(e)[z] = kept;
% else:
                FAR_ROW(e)[z] = kept;
% endif
            }
            const real v = 1 + g[g_offset + m];
            variance[z] = v;
            covariance[z] = r2 == r2 && v == v ? correlation(r2) : NAN;
% if several:
            for (int r = 1; r < n_references; r++) {
                real squares = 0;
                UNROLL for (int e = 0; e < DIM; e++) {
                    const real u = AT_ROW(e, z) - (location[r * DIM + e] - origin[e]) / sqrt(${length});
                    squares = fma(u, u, squares);
                }
                covariance[r * width + z] = squares == squares ? correlation(squares) : NAN;
            }
% endif
% if mspe:
            variance_slope[z] = mean[z] = mean_slope[z] = 0;
            covariance_slope[z] = slope_of(r2, d[d_offset + m]);
% endif
        }
% if mspe:
        const real theta = d[d_offset + m];
        known_t known = nothing_known(1 + g[g_offset + m]);
% endif
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
            const real v = variance[chosen], scale = v > FLOOR ? 1 / sqrt(v) : 0${"" if several else ", w_location = c * scale"};
% if mspe:
            const real v_slope = variance_slope[chosen], c_slope = covariance_slope[chosen];
            const real error = y[y_offset + candidates[chosen]] - mean[chosen], error_slope = -mean_slope[chosen];
% endif
            for (int e = (int)THREAD; e < DIM + ${f"{each} * " if each > 1 else ""}j; e += ${threads})
                own[e] = e < DIM ? AT_ROW(e, chosen) : AT_FACTOR(e - DIM, chosen);
% if several:
            for (int r = (int)THREAD; r < n_references; r += ${threads})
                w_references[r] = covariance[r * width + chosen] * scale;
% endif
            BARRIER_GLOBAL();  // what was chosen has been read
% if mspe:
${information.add_point(threads)}\
% endif
            real best = WORST;
            int best_row = -1, best_place = -1, z = (int)THREAD;
% if unroll > 1:
            for (; z + ${(unroll - 1) * threads} < width; z += ${unroll * threads}) {
${add_point(unroll)}\
            }
% endif
            for (; z < width; z += ${threads}) {
${add_point(1)}\
            }
            best_values[THREAD] = best;
            best_rows[THREAD] = best_row;
            best_places[THREAD] = best_place;
            BARRIER_GLOBAL();  // rows of the factor, too
<%def name="better_of(place)">\
                    if (IS_BETTER(best_values[${place}], best_rows[${place}], best, best_row)) {
                        best = best_values[${place}];
                        best_row = best_rows[${place}];
                        best_place = best_places[${place}];
                    }
</%def>\
            if (j + 1 < start)
                continue;
% if groups < threads:
            if (THREAD < ${groups}) {
                for (int i = (int)THREAD + ${groups}; i < ${threads}; i += ${groups}) {
${better_of("i")}\
                }
                best_values[${threads} + THREAD] = best;
                best_rows[${threads} + THREAD] = best_row;
                best_places[${threads} + THREAD] = best_place;
            }
            BARRIER();
% endif
            best = WORST;
            best_row = best_place = -1;
            for (int i = ${threads if groups < threads else 0}; i < ${threads + groups if groups < threads else threads}; i++) {
${better_of("i")}\
            }
            chosen = best_place;
        }
        if (j < end)  // nan, or nothing left to choose from
            for (int i = (int)THREAD; i < end; i += ${threads})
                design[i] = -1;
        BARRIER_GLOBAL();
    }
}
