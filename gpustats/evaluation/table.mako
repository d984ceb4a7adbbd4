// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(${layout.threads}) ${name}(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    ${code.parameters})
{
    const index_t first_set = BLOCK_X * ${layout.sets};
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)${layout.sets});
    ${code.apply_offsets()}
    out += out_offset + first_set * set_stride;

% if code.set_type:
    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(${code.set_type}, sets, ${layout.sets});
    for (index_t k = THREAD; k < sets_here; k += ${layout.threads})
        sets[k] = ${code.prepare_set("first_set + k")};
    BARRIER();

% endif
% if layout.by_rows:
% if code.set_type and layout.sets == 1:
    const ${code.set_type} set = sets[0];
% endif
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
% if layout.vector > 1:
        UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
            const index_t n = first + (u * ${layout.threads} + THREAD) * ${layout.vector};
            if (n + ${layout.vector} <= n_rows) {  // ${layout.vector} rows in one wide load and store
% for operand in code.row_operands:
                const ${vector_type} ${operand.name}_wide = *(GLOBAL const ${vector_type} *)(${operand.name}_per_row + n);
% endfor
                ${vector_type} result;
% for component in "xyzw"[: layout.vector]:
                {
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row("n", component)};
% endif
                    result.${component} = ${code.evaluate("row", "set", "n", "first_set")};
                }
% endfor
                *(GLOBAL ${vector_type} *)(out + n * row_stride) = result;
                continue;
            }
            for (index_t m = n; m < MIN(n + ${layout.vector}, n_rows); m++) {
${entries("m")}\
            }
        }
% else:
        if (first + ${layout.tile} <= n_rows) {  // a whole tile: with no thread idle, branches on parameters stay branches
            for (int u = 0; u < ${layout.unroll}; u++) {
                const index_t n = first + u * ${layout.threads} + THREAD;
${entries("n")}\
            }
            continue;
        }
        for (int u = 0; u < ${layout.unroll}; u++) {
            const index_t n = first + u * ${layout.threads} + THREAD;
            if (n < n_rows) {
${entries("n")}\
            }
        }
% endif
    }
% else:
% if layout.threads * layout.vector == layout.sets:
    const int rows_at_once = 1, my_row = 0;  // no set is missing
    const index_t column = THREAD${f" * {layout.vector}" if layout.vector > 1 else ""};
% else:
    const int columns = (sets_here + ${layout.vector - 1}) / ${layout.vector}, rows_at_once = ${layout.threads} / columns;
    const int column = THREAD % columns * ${layout.vector}, my_row = THREAD / columns;
% endif
% if code.set_type:
    ${code.set_type} set[${layout.vector}];
    UNROLL for (int v = 0; v < ${layout.vector}; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
% endif
% if layout.stage_rows:
    SHARED_ARRAY(${code.row_type}, rows, ${layout.tile});
% endif
% if layout.stage_vectors:
    SHARED_ARRAY(real, vectors, ${layout.stage_vectors});  // rows of x, padded to an odd length against bank conflicts
    const int padded = dim | 1;
% endif

    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)${layout.tile});
% if layout.stage_vectors:
        for (index_t e = THREAD; e < rows_here * dim; e += ${layout.threads})
            vectors[e / dim * padded + e % dim] = ${code.observation}_per_row[first * dim + e];
        BARRIER();
% endif
% if layout.stage_rows:
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += ${layout.threads})
            rows[r] = ${code.prepare_row("first + r", tile_row="r")};
        BARRIER();
% endif
<% branches = code.branches(*(f"set[{v}]" for v in range(layout.vector))) %>\
% if branches:
        if (${branches}) {  // apart, so that no row waits for a decision
${cells()}\
        } else {
${cells(rarely=True)}\
        }
% else:
${cells()}\
% endif
% if layout.stage_rows or layout.stage_vectors:
        BARRIER();
% endif
    }
% endif
}
<%def name="entries(n)">\
% if code.row_type:
                const ${code.row_type} row = ${code.prepare_row(n)};
% endif
% if layout.chunk > 1:
                for (int k = 0; k < sets_here; k += ${layout.chunk}) {  // ${layout.chunk} sets in one wide store
% for c in range(layout.chunk):
                    const real value${c} = ${code.evaluate("row", f"sets[k + {c}]", n, f"first_set + k + {c}")};
% endfor
                    STORE_${layout.chunk}(value, out + ${n} * row_stride + k);
                }
% elif layout.sets > 1:
                for (int k = 0; k < sets_here; k++)
                    out[${n} * row_stride + k * set_stride] = ${code.evaluate("row", "sets[k]", n, "first_set + k")};
% else:
                out[${n} * row_stride] = ${code.evaluate("row", "set", n, "first_set")};
% endif
</%def>
<%def name="cells(rarely=False)">\
<% set_of = lambda v: f"sets[MIN(column + {v}, sets_here - 1)]" if rarely else f"set[{v}]" %>\
        ${"" if rarely else "UNROLL_BY_4 "}for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
% if layout.stage_rows:
            const ${code.row_type} row = rows[r];
% elif code.row_type:
            const ${code.row_type} row = ${code.prepare_row("first + r", tile_row="r")};
% endif
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
% if layout.vector > 1:
            ${vector_type} result;
% for v, component in enumerate("xyzw"[: layout.vector]):
            result.${component} = ${code.evaluate("row", set_of(v), "first + r", f"first_set + column + {v}", "r")};
% endfor
            STORE_STREAMING((GLOBAL ${vector_type} *)cell, result);
% else:
            STORE_STREAMING(cell, ${code.evaluate("row", set_of(0), "first + r", "first_set + column", "r")});
% endif
        }
</%def>
