## The mixture's log-likelihood and its derivatives in one reading of the data: all components of a row are at hand at once.
<%namespace name="reduce" file="/kernels/reduce.mako"/>
<%
    threads, lanes, per, unroll, K = layout.threads, layout.lanes, layout.per, layout.unroll, layout.components
    teams = threads // lanes
    n_own = 1 + per * (1 + len(slopes))  # sums of a thread
    n_sums = 1 + K * (1 + len(slopes))
    together = min(n_own, 4)
    barrier = "__syncwarp();" if dialect == "cuda" and lanes <= 32 else "BARRIER();"  # of the threads that share a row
    padded = lanes * per > K

    def nth(s):
        """The component of a thread's sum, or of its s-th term."""
        return f"(lane + {s % per * lanes})" if lanes > 1 else str(s % per)

    def here(j):
        return f"MIN({nth(j)}, {K - 1})" if padded else nth(j)
%>\
${reduce.functions(layout, dialect, n_sums, together)}
// out: the sum over the rows of log sum over components of exp f(x, component); then for each component the sum of its shares
// in the rows${"".join(f", and of share times {slope}" for slope in slopes)}.
% if lanes > 1:
// ${lanes} threads share a row, each with ${per} components.
% endif
KERNEL(${threads}) ${name}(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets,
    ${code.parameters})
{
    const index_t first_set = BLOCK_X, first_component = first_set * ${K};
    const int sets_here = 1;
    ${code.apply_offsets()}
    SHARED_ARRAY(double, sums, ${threads * together});
% if lanes > 1:
    SHARED_ARRAY(real, of_team, ${2 * threads});
    const index_t lane = THREAD % ${lanes}, team = THREAD / ${lanes};
% else:
    const index_t team = THREAD;
% endif
% if code.set_type:
    SHARED_ARRAY(${code.set_type}, sets, ${K});
    for (index_t e = THREAD; e < ${K}; e += ${threads})
        sets[e] = ${code.prepare_set("first_component + e")};
    BARRIER();
% endif
    double total[${n_own}];
    UNROLL for (int s = 0; s < ${n_own}; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * ${teams * unroll}; first < n_rows; first += BLOCKS_Y * ${teams * unroll}) {
        real product = 1;  // of the rows' sums, each of which is between 1 and the number of components: one logarithm for all
        for (int r = 0; r < ${unroll}; r++) {
            const index_t n = first + r * ${teams} + team, row_here = MIN(n, n_rows - 1);
% if code.row_type:
            const ${code.row_type} row = ${code.prepare_row("row_here")};
% endif
            real high = -INFINITY, sum = 0;
% for j in range(per):
            ${"const " if not padded else ""}${code.function.type} term_${j} = ${code.evaluate("row", f"sets[{here(j)}]", "row_here", "first_component + " + here(j))};
% if padded:
            term_${j}.value = ${nth(j)} < ${K} ? term_${j}.value : -INFINITY;
% endif
            high = term_${j}.value > high ? term_${j}.value : high;
% endfor
% if lanes > 1:
${of_team("high", 0, "high = other > high ? other : high;")}\
% endif
            const real shift = fabs(high) < INFINITY ? high : 0;
% for j in range(per):
            const real apart_${j} = exp(term_${j}.value - shift);
            sum += apart_${j};
% endfor
% if lanes > 1:
            const real own = sum;
            sum = 0;
${of_team("own", threads, "sum += other;")}\
% endif
            if (n < n_rows) {
                total[0] += ${"lane != 0 ? 0 : " if lanes > 1 else ""}high;
                product *= sum;
                const real inverse = 1 / sum;
                // Where a share is 0, so are its derivatives, even if those of the term are not finite.
% for j in range(per):
                const real share_${j} = apart_${j} * inverse;
                total[${1 + j}] += apart_${j} == 0 ? 0 : share_${j};
% for p, slope in enumerate(slopes):
                total[${1 + (p + 1) * per + j}] += apart_${j} == 0 ? 0 : share_${j} * term_${j}.${slope};
% endfor
% endfor
            }
        }
        total[0] += ${"lane != 0 ? 0 : " if lanes > 1 else ""}log(product);
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * ${n_sums} : partial + first_set * ${n_sums} * BLOCKS_Y + BLOCK_Y;
    const index_t place = ${f"lane * {teams} + team" if lanes > 1 else "team"};
% for first in range(0, n_own, together):
    UNROLL for (int s = 0; s < ${min(together, n_own - first)}; s++)
        sums[s * ${threads} + place] = total[${first} + s];
    for (int width = ${teams // 2}; width > 0; width /= 2) {
        BARRIER();
        if (team < width)
            UNROLL for (int s = 0; s < ${min(together, n_own - first)}; s++)
                sums[s * ${threads} + place] += sums[s * ${threads} + place + width];
    }
    if (team == 0) {
% for s in range(first, min(first + together, n_own)):
<%
    own = f"sums[{(s - first) * threads} + place]"
    condition = ("" if lanes == 1 else "if (lane == 0) ") if s == 0 else (f"if ({nth(s - 1)} < {K}) " if padded else "")
    result = "0" if s == 0 else f"({1 + (s - 1) // per * K} + {nth(s - 1)})"
%>\
        ${condition}block_sums[${result} * BLOCKS_Y] = ${own};
% endfor
    }
    BARRIER();
% endfor
${reduce.across(dialect)}\
}
## What all threads that share a row have.
<%def name="of_team(value, start, take)">\
            of_team[${start} + THREAD] = ${value};
            ${barrier}
            UNROLL for (int i = 0; i < ${lanes}; i++) {
                const real other = of_team[${start} + team * ${lanes} + i];
                ${take}
            }
</%def>
