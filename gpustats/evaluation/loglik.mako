<%namespace name="reduce" file="/kernels/reduce.mako"/>
<%
    slots = layout.sets * code.n_sums
    together = -(-slots // -(-slots // 16))  # sums that a block adds at a time: at most 16, for want of shared memory
%>\
${reduce.functions(layout, dialect, code.n_sums, together)}
// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
% if code.sums:
// Here f has several results: ${", ".join(code.sums)} are summed, out[set, result].
% endif
% if code.rows:
// The sum over the sets of a block is written for each row: ${", ".join(code.rows)}.
% endif
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by ${"the last block to finish" if dialect == "cuda" else "add_partial_sums"}: the order never changes, so neither do the bits.
KERNEL(${layout.threads}) ${name}(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, ${code.parameters})
{
    const index_t first_set = BLOCK_X * ${layout.sets};
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)${layout.sets});
    ${code.apply_offsets()}
    SHARED_ARRAY(double, sums, ${together * layout.threads});

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
    double total[${slots}];
    UNROLL for (int s = 0; s < ${slots}; s++)
        total[s] = 0;
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
% for i, component in enumerate("xyzw"[: layout.vector]):
                {
${add(f"first + (u * {layout.threads} + THREAD) * {layout.vector} + {i}", component)}\
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
    ${reduce.finish(layout, dialect, code.n_sums, together, "total")}
}
<%def name="add(n, component)">\
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row(n, component, "r")};
% endif
% for name in code.rows:
                    real ${name}_here = 0;
% endfor
% if layout.sets == 1:
${accumulate("0", code.evaluate("row", "set", n, "first_set", "r"))}\
% else:
                    UNROLL for (int k = 0; k < ${layout.sets}; k++) {
${accumulate("k", code.evaluate("row", "sets[k]", n, "first_set + MIN(k, sets_here - 1)", "r"), "    ")}\
                    }
% endif
% for name in code.rows:
                    ${name}_rows[${name}_first + BLOCK_X * n_rows + ${n}] = ${name}_here;
% endfor
</%def>
<%def name="accumulate(k, value, indent='')">\
% if code.function.results:
                    ${indent}const ${code.function.type} result = ${value};
% for i, name in enumerate(code.sums):
                    ${indent}total[${i if k == "0" else f"{k} * {code.n_sums} + {i}"}] += result.${name};
% endfor
% for name in code.rows:
                    ${indent}${name}_here += ${f"result.{name}" if k == "0" else f"{k} < sets_here ? result.{name} : 0"};
% endfor
% else:
                    ${indent}total[${k}] += ${value};
% endif
</%def>
