## The glm shape on a CPU: the lanes of a vector register take a row each, whose numbers lie side by side: X as
## [rows / lanes][columns][lanes], so that nothing is added up across lanes before the end. What a set adds up, and in which
## order, depends on the rows alone: its sums are the same bits whatever other sets there are.
<%namespace name="parts" file="/glm/glm_parts.mako"/>
<%
    lanes, groups, sets = layout.threads, layout.unroll, layout.sets
    columns, outcomes = glm.columns, glm.outcomes
    width = sets * outcomes
    slots = glm.slots
    tile = layout.tile // lanes  # groups of rows that a work-group takes at once
%>\
#define COLUMNS ${columns}

// A work-group takes ${groups} of the ${tile} groups of ${lanes} rows of its tile at once, which stay in its cache between eta and
// the gradient.
KERNEL(${lanes}) ${name}(${parts.parameters(codes[0])})
{
    ${parts.start(codes[0])}
    ${parts.prepare_sets(codes)}
    const index_t lane = THREAD, row_groups = (n_rows + ${lanes - 1}) / ${lanes};
    double total[${sets * max(glm.n_sums, 1)}];
    for (int s = 0; s < ${sets * max(glm.n_sums, 1)}; s++)
        total[s] = 0;
    partial += (BLOCK_Y * n_sets + first_set) * ${slots * lanes};
% if glm.gradient:
    for (index_t s = 0; s < sets_here; s++)
        for (index_t e = 0; e < ${outcomes} * COLUMNS; e++)
            partial[(s * ${slots} + ${glm.n_sums} + e) * ${lanes} + lane] = 0;
% endif
    for (index_t first = BLOCK_Y * ${tile}; first < row_groups; first += BLOCKS_Y * ${tile})
    for (index_t begin = first; begin < MIN(first + ${tile}, row_groups); begin += ${groups}) {
        GLOBAL const real *const rows = X + begin * COLUMNS * ${lanes};
% for m in range(width):
        real ${", ".join(f"dot{m}_{u} = 0" for u in range(groups))};
% endfor
        for (index_t c = 0; c < COLUMNS; c++) {
% for u in range(groups):
            const real x${u} = rows[(${u} * COLUMNS + c) * ${lanes} + lane];
% endfor
% for m in range(width):
            {
                const real b = beta[${f"MIN({m}, sets_here * {outcomes} - 1)" if sets > 1 else m} * COLUMNS + c];
% for u in range(groups):
                dot${m}_${u} += x${u} * b;
% endfor
            }
% endfor
        }
        real slopes[${groups * width}];
% for u in range(groups):
        {
            const index_t n = (begin + ${u}) * ${lanes} + lane;
            const int inside = n < n_rows;
            ${parts.load_row(codes[0], "inside ? n : 0")}
% for s in range(sets):
${"            if (%d < sets_here)" % s if sets > 1 else ""}
            {
                const int s = ${s};
                real eta[${outcomes}];
% for c in range(outcomes):
                eta[${c}] = dot${s * outcomes + c}_${u};
% endfor
${parts.evaluate(codes, "total + %d" % (s * glm.n_sums), "slopes[%d + c]" % (u * width + s * outcomes))}\
            }
% endfor
        }
% endfor
% if glm.gradient:
% for m in range(width):
% for u in range(groups):
        const real slope${m}_${u} = slopes[${u * width + m}];
% endfor
% endfor
        for (index_t c = 0; c < COLUMNS; c++) {
% for u in range(groups):
            const real x${u} = rows[(${u} * COLUMNS + c) * ${lanes} + lane];
% endfor
% for m in range(width):
${"            if (%d < sets_here)" % (m // outcomes) if sets > 1 else ""}
            {
                GLOBAL double *const sum = partial + (${m // outcomes * slots + glm.n_sums + m % outcomes * columns} + c) * ${lanes} + lane;
                double here = *sum;
% for u in range(groups):
                here += x${u} * slope${m}_${u};
% endfor
                *sum = here;
            }
% endfor
        }
% endif
    }
    for (int s = 0; s < sets_here; s++)
        for (int q = 0; q < ${glm.n_sums}; q++)
            partial[(s * ${slots} + q) * ${lanes} + lane] = total[s * ${max(glm.n_sums, 1)} + q];
}
