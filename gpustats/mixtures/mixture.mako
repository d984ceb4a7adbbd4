<%namespace name="reduce" file="/kernels/reduce.mako"/>
<%namespace name="logsumexp" file="/kernels/logsumexp.mako"/>
<%
    from dataclasses import replace
    whole = layout.group == layout.sets  # all sets are in shared memory at once
    here = f"MIN(r * {layout.threads} + THREAD, rows_here - 1)"
    set = "sets[k]" if whole else f"sets[k % {layout.group}]"
%>\
${reduce.functions(layout, dialect, 1, 1)}
${logsumexp.functions(outputs)}
// The mixture shape: out[0] = sum over rows of log sum over sets of exp f(observation, parameter set). The terms are never
// written.
//
// A thread takes ${layout.unroll} of a tile's rows through all parameter sets, which are prepared in shared memory, a group of them at a
// time. Rows behind the last one are computed like it, and left out of what is written.
KERNEL(${layout.threads}) ${name}(
    ${logsumexp.parameters(outputs)}\
    ${code.parameters})
{
    const index_t first_set = 0;
    const int sets_here = 1;  // sums of the block
    ${code.apply_offsets()}
    SHARED_ARRAY(double, sums, ${layout.threads});
% if code.set_type:
    SHARED_ARRAY(${code.set_type}, sets, ${layout.group});
% if whole:
${prepare("0")}\
    BARRIER();
% endif
% endif
% if layout.stage_vectors:
    SHARED_ARRAY(real, vectors, ${layout.stage_vectors});  // rows of x, padded to an odd length against bank conflicts
    const int padded = dim | 1;
% endif

    double total[1];
    total[0] = 0;
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)${layout.tile});
% if layout.stage_vectors:
        BARRIER();  // the last tile has been used
        for (index_t e = THREAD; e < rows_here * dim; e += ${layout.threads})
            vectors[e / dim * padded + e % dim] = ${code.observation}_per_row[first * dim + e];
        BARRIER();
% endif
% if code.row_type:
        ${code.row_type} row[${layout.unroll}];
        UNROLL for (int r = 0; r < ${layout.unroll}; r++)
            row[r] = ${code.prepare_row(f"first + {here}", tile_row=here)};
% endif
        ${logsumexp.start(layout, outputs)}\
        for (index_t k = 0; k < n_sets; k++) {
% if code.set_type and not whole:
            if (k % ${layout.group} == 0) {
                BARRIER();  // the last group has been used
${prepare("k")}\
                BARRIER();
            }
% endif
${logsumexp.draw_words(layout, outputs)}\
            UNROLL for (int r = 0; r < ${layout.unroll}; r++)
                ${logsumexp.add(code.evaluate("row[r]", set, f"first + {here}", "k", here), outputs)}\
        }
        ${logsumexp.finish(layout, outputs)}\
    }
    ${reduce.finish(replace(layout, sets=1), dialect, 1, 1, "total")}
}
<%def name="prepare(first)">\
                for (index_t e = THREAD; e < MIN(${layout.group}, n_sets - ${first}); e += ${layout.threads})
                    sets[e] = ${code.prepare_set(f"{first} + e")};
</%def>
