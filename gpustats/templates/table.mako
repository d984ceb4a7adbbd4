## The table shape: out[row, set] = f(observation, parameter set), every entry written once.
##
## by_rows: the sets lie far apart in `out` (or there is one only), so neighbouring threads take neighbouring rows and a
## block one set. Otherwise neighbouring threads take neighbouring sets of the same row, hold their sets in registers, and
## whatever depends on the row alone is prepared once in shared memory. Either way a warp writes consecutive addresses.
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
    for (int k = THREAD; k < sets_here; k += ${layout.threads})
        sets[k] = ${code.prepare_set("first_set + k")};
    BARRIER();

% endif
% if layout.by_rows:
% if code.set_type:
    const ${code.set_type} set = sets[0];
% endif
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
        UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
            const index_t n = first + (u * ${layout.threads} + THREAD) * ${layout.vector};
% if layout.vector > 1:
            if (n + ${layout.vector} <= n_rows) {  // ${layout.vector} rows in one wide load and store
% for operand in code.row_operands:
                const ${vector_type} ${operand.name}_wide = *(GLOBAL const ${vector_type} *)(${operand.name}_rows + n);
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
% endif
            for (index_t m = n; m < MIN(n + ${layout.vector}, n_rows); m++) {
% if code.row_type:
                const ${code.row_type} row = ${code.prepare_row("m")};
% endif
                out[m * row_stride] = ${code.evaluate("row", "set", "m", "first_set")};
            }
        }
    }
% else:
    const int columns = (sets_here + ${layout.vector - 1}) / ${layout.vector}, rows_at_once = ${layout.threads} / columns;
    const int column = THREAD % columns * ${layout.vector}, my_row = THREAD / columns;
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
        for (int e = THREAD; e < rows_here * dim; e += ${layout.threads})
            vectors[e / dim * padded + e % dim] = ${code.observation}_rows[first * dim + e];
        BARRIER();
% endif
% if layout.stage_rows:
        // Whatever depends on the observation alone: once per row.
        for (int r = THREAD; r < rows_here; r += ${layout.threads})
            rows[r] = ${code.prepare_row("first + r", tile_row="r")};
        BARRIER();
% endif
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
% if layout.stage_rows:
            const ${code.row_type} row = rows[r];
% elif code.row_type:
            const ${code.row_type} row = ${code.prepare_row("first + r", tile_row="r")};
% endif
            GLOBAL real *cell = out + (first + r) * row_stride + column * set_stride;
% if layout.vector > 1:
            ${vector_type} result;
% for v, component in enumerate("xyzw"[: layout.vector]):
            result.${component} = ${code.evaluate("row", f"set[{v}]", "first + r", f"first_set + column + {v}", "r")};
% endfor
            *(GLOBAL ${vector_type} *)cell = result;
% else:
            *cell = ${code.evaluate("row", "set[0]", "first + r", "first_set + column", "r")};
% endif
        }
% if layout.stage_rows or layout.stage_vectors:
        BARRIER();
% endif
    }
% endif
}
