<%namespace name="reduce" file="/kernels/reduce.mako"/>
<%
    slots = layout.sets * code.n_sums
    rows, v = layout.unroll * layout.vector, layout.vector  # rows of a thread's tile, the same whether it takes them at once or not
    place = f"(u / {v} * {layout.threads} + THREAD) * {v} + u % {v}" if v > 1 else f"u * {layout.threads} + THREAD"
    checked = code.logarithm or (layout.apart and code.usual_row)
    # In float64 whatever the data's type, so that it does not matter which rows share one.
    one_logarithm = f"{code.logarithm}(result.argument)"
    if dtype == "float32":
        one_logarithm = "log((double)result.argument)" if code.logarithm == "log" else "log1p((double)result.argument * result.argument)"
    bound = 960 // rows  # the product of factors between 2 ** -bound and 2 ** bound is a normal number
    smallest, largest = "0", "INFINITY"
    if dtype == "float64" or bound < 128:  # else all numbers are such factors
        smallest, largest = f"REAL({2.0**-bound:.0e})", f"REAL({2.0**bound:.0e})"
    together = -(-slots // -(-slots // 16))  # sums that a block adds at a time: at most 16, for want of shared memory
%>\
${reduce.functions(layout, dialect, code.n_sums, together)}
% if code.logarithm:
${multiple()}\
% endif
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
% if code.logarithm:
//
// Of a logarithm each row has a multiple, by weights that are the same for all rows: a thread takes the logarithm of the product of
// its rows, unless that might overflow or some rows have no such multiple.
% endif
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
% if code.logarithm and not layout.apart:
    int failed = 0;  // was the logarithm of a product not that of all its factors?
% endif
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
% endif
% if checked:
            int usual = 1;  // what rarely holds does so for none of the rows
% if code.logarithm:
            double product = ${1 if code.logarithm == "log" else 0};
            real ${", ".join(f"{weight} = 0" for weight in code.weights.values())};
% endif
${tile_rows(check)}\
% if code.logarithm == "special_log1p_square":
            usual = usual && product < INFINITY;
% endif
% endif
% if checked and layout.apart:
            if (usual) {
${tile()}\
                continue;
            }
        }
${one_by_one()}\
% else:
${tile()}\
% if code.logarithm:
            failed = failed || !usual;
% endif
        } else
${one_by_one("    ")}\
% endif
% if layout.stage_vectors:
        BARRIER();
% endif
    }
% if code.logarithm and not layout.apart:
    SHARED_ARRAY(int, block_failed, 1);
    if (THREAD == 0)
        block_failed[0] = 0;
    BARRIER();
    if (failed)
        block_failed[0] = 1;
    BARRIER();
    if (block_failed[0]) {  // once more, each row by itself: threads that are lanes would do so for each tile
        UNROLL for (int s = 0; s < ${slots}; s++)
            total[s] = 0;
        for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile})
${one_by_one("    ")}\
    }
% endif
    ${reduce.finish(layout, dialect, code.n_sums, together, "total")}
}
## The rows of a whole tile, apart for what holds of the parameters.
<%def name="tile()">\
% if code.logarithm:
            double part[${code.n_sums}];  // what is the same in all rows would be rounded alike each time in a long sum
            UNROLL for (int s = 0; s < ${code.n_sums}; s++)
                part[s] = 0;
% endif
<% usually, rarely = (add_part, add_part_rarely) if code.logarithm else (add, add_rarely) %>\
% if layout.apart and code.branches("set"):
            if (${code.branches("set")}) {
${tile_rows(usually)}\
            } else {
${tile_rows(rarely)}\
            }
% else:
${tile_rows(usually)}\
% endif
% if code.logarithm:
            const double logarithm = ${"log" if code.logarithm == "log" else "log1p"}(product);
% for i, name in enumerate(code.sums):
            total[${i}] += ${f"part[{i}] + multiple({code.weights[name]}, logarithm)" if name in code.weights else f"part[{i}]"};
% endfor
% endif
</%def>
<%def name="add_part(n, component)">\
${add(n, component, "part")}\
</%def>
## What few rows go through leaves the registers to the others.
<%def name="add_rarely(n, component)">\
${add(n, component, set="sets[0]")}\
</%def>
<%def name="add_part_rarely(n, component)">\
${add(n, component, "part", "sets[0]")}\
</%def>
<%def name="tile_rows(what)">\
            UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
% if layout.vector > 1:
% for operand in code.row_operands:
                const ${vector_type} ${operand.name}_wide = ${operand.name}_tile[u];
% endfor
% for i, component in enumerate("xyzw"[: layout.vector]):
                {
${what(f"first + (u * {layout.threads} + THREAD) * {layout.vector} + {i}", component)}\
                }
% endfor
% else:
                const index_t r = u * ${layout.threads} + THREAD, n = first + r;
${what("n", None)}\
% endif
            }
</%def>
<%def name="check(n, component)">\
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row(n, component, "r")};
% if layout.apart and code.usual_row:
                    usual = usual && ${code.usual_row};
% endif
% endif
% if code.logarithm:
                    const ${code.function.type} result = ${code.evaluate("row", "set", n, "first_set", "r")};
% if code.logarithm == "log":
                    // The product of ${rows} such factors neither overflows nor underflows.
                    usual = usual && result.usual != 0 && result.argument > ${smallest} && result.argument < ${largest};
                    product *= result.argument;
% else:
                    // The product of factors 1 + a^2, less 1.
                    const double square = (double)result.argument * result.argument;
                    usual = usual && result.usual != 0;
                    product = fma(product, square, product + square);
% endif
% for weight in code.weights.values():
                    ${weight} = result.${weight};
% endfor
% endif
</%def>
<%def name="one_by_one(indent='')">\
        ${indent}for (int u = 0; u < ${rows}; u++) {
        ${indent}    const index_t r = ${place}, n = first + r;
        ${indent}    if (n < n_rows) {
${add_rarely("n", None)}\
% if code.logarithm:
                    const double logarithm = ${one_logarithm};
% for i, name in enumerate(code.sums):
% if name in code.weights:
                    total[${i}] += multiple(result.${code.weights[name]}, logarithm);
% endif
% endfor
% endif
        ${indent}    }
        ${indent}}
</%def>
<%def name="multiple()">\
DEVICE double multiple(double weight, double logarithm)
{
    return weight == 0 ? 0 : weight * logarithm;
}

</%def>
<%def name="add(n, component, to='total', set='set')">\
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row(n, component, "r")};
% endif
% for name in code.rows:
                    real ${name}_here = 0;
% endfor
% if layout.sets == 1:
${accumulate("0", code.evaluate("row", set, n, "first_set", "r"), to=to)}\
% else:
                    UNROLL for (int k = 0; k < ${layout.sets}; k++) {
${accumulate("k", code.evaluate("row", "sets[k]", n, "first_set + MIN(k, sets_here - 1)", "r"), "    ")}\
                    }
% endif
% for name in code.rows:
                    ${name}_rows[${name}_first + BLOCK_X * n_rows + ${n}] = ${name}_here;
% endfor
</%def>
<%def name="accumulate(k, value, indent='', to='total')">\
% if code.function.results:
                    ${indent}const ${code.function.type} result = ${value};
% for i, name in enumerate(code.sums):
                    ${indent}${to}[${i if k == "0" else f"{k} * {code.n_sums} + {i}"}] += result.${name};
% endfor
% for name in code.rows:
                    ${indent}${name}_here += ${f"result.{name}" if k == "0" else f"{k} < sets_here ? result.{name} : 0"};
% endfor
% else:
                    ${indent}${to}[${k}] += ${value};
% endif
</%def>
