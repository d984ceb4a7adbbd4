<%namespace name="reduce" file="reduce.mako"/>
${reduce.functions(layout, dialect)}
// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
//
// A thread walks over rows and keeps a float64 sum for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(${layout.threads}) ${name}(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, ${code.parameters})
{
    const index_t first_set = BLOCK_X * ${layout.sets};
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)${layout.sets});
    ${code.apply_offsets()}
    SHARED_ARRAY(double, sums, ${layout.sets * layout.threads});

% if code.set_type:
    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(${code.set_type}, sets, ${layout.sets});
    for (index_t k = THREAD; k < ${layout.sets}; k += ${layout.threads})
        sets[k] = ${code.prepare_set("first_set + MIN(k, sets_here - 1)")};
    BARRIER();
% if layout.sets == 1:
    const ${code.set_type} set = sets[0];
% endif

% endif
% if layout.stage_vectors:
    SHARED_ARRAY(real, vectors, ${layout.stage_vectors});  // rows of x, padded to an odd length against bank conflicts
    const int padded = dim | 1;
% endif
    double total[${layout.sets}];
    UNROLL for (int k = 0; k < ${layout.sets}; k++)
        total[k] = 0;
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
% if layout.stage_vectors:
        const int rows_here = (int)MIN(n_rows - first, (index_t)${layout.tile});
        for (index_t e = THREAD; e < rows_here * dim; e += ${layout.threads})
            vectors[e / dim * padded + e % dim] = ${code.observation}_per_row[first * dim + e];
        BARRIER();
% endif
        if (first + ${layout.tile} <= n_rows) {  // a whole tile: all its loads first, and no thread idle
% if layout.vector > 1:
% for operand in code.row_operands:
            ${vector_type} ${operand.name}_tile[${layout.unroll}];
            UNROLL for (int u = 0; u < ${layout.unroll}; u++)
                ${operand.name}_tile[u] = *(GLOBAL const ${vector_type} *)(${operand.name}_per_row + first + (u * ${layout.threads} + THREAD) * ${layout.vector});
% endfor
            UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
% for operand in code.row_operands:
                const ${vector_type} ${operand.name}_wide = ${operand.name}_tile[u];
% endfor
% for component in "xyzw"[: layout.vector]:
                {
${add("0", component)}\
                }
% endfor
            }
% else:
            UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
                const index_t r = u * ${layout.threads} + THREAD, n = first + r;
${add("n", None)}\
            }
% endif
        } else
            for (int u = 0; u < ${layout.unroll * layout.vector}; u++) {
                const index_t r = u * ${layout.threads} + THREAD, n = first + r;
                if (n < n_rows) {
${add("n", None)}\
                }
            }
% if layout.stage_vectors:
        BARRIER();
% endif
    }
    UNROLL for (int k = 0; k < ${layout.sets}; k++)
        sums[k * ${layout.threads} + THREAD] = total[k];
    ${reduce.finish(layout, dialect)}
}
<%def name="add(n, component)">\
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row(n, component, "r")};
% endif
% if layout.sets == 1:
                    total[0] += ${code.evaluate("row", "set", n, "first_set", "r")};
% else:
                    UNROLL for (int k = 0; k < ${layout.sets}; k++)
                        total[k] += ${code.evaluate("row", "sets[k]", n, "first_set + MIN(k, sets_here - 1)", "r")};
% endif
</%def>
