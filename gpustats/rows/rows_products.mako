## The rows shape for many sets of parameters, where a device multiplies small matrices of float64 at once: matrices are read once for
## all sets. Between the two products of a tile each thread evaluates the function for its row and some sets.
<%namespace name="products" file="/kernels/products.mako"/>
<%
    threads, tile, sets, turns, here = layout.threads, layout.tile, layout.sets, layout.turns, layout.here
    dots = [leaf for leaf in sheet.leaves if leaf.columns]
    data = [leaf for leaf in sheet.leaves if not leaf.by_set]
    elements = [leaf for leaf in sheet.leaves if leaf.by_set and not leaf.columns]
    ahead = len(elements) * turns <= 16  # all loads first, as far as there are registers
    matrices = list(dict.fromkeys(leaf.matrix for leaf in dots))
    slope_of = {leaf.name: result for leaf, result, _ in slopes}
    place_of = {leaf.name: place for leaf, _, place in slopes}
    results = [(i, column, width) for i, width in enumerate(columns) for column in range(width)]  # of `tables`
    ends = [i if len(dots) > 1 else "" for i in range(len(dots))]
    together = 1 if code.rows else min(layout.unroll, turns)  # what is written for each row is written once
%>\
${products.functions(layout, dtype, dialect)}
// Starts to copy the rows of a tile, of which neighbouring threads take four of eight columns: whole sectors of memory, and different
// banks. Zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, ${", ".join(f"GLOBAL const real *{m}" for m in matrices)}, index_t first, index_t n_rows)
{
    const int row = (int)THREAD % 4 + (int)THREAD / 32 * 4, column = (int)THREAD / 4 % 8;
    const int rows_here = (int)MIN(n_rows - first, (index_t)${tile});
    tile += row * PADDED + column;
% for matrix, columns_of, begin in zip(matrices, layout.matrices, layout.firsts):
    ${matrix} += column * n_rows + first + row;
    UNROLL for (int c = 0; c < ${columns_of}; c += 8)
        ${f"if (column + c < {columns_of}) " if columns_of % 8 else ""}{
            if (rows_here == ${tile}) {
                UNROLL for (int r = 0; r < ${tile}; r += ${threads // 8})
                    COPY_TO_SHARED(real, tile + r * PADDED + ${begin} + c, ${matrix} + c * n_rows + r);
            } else {
                UNROLL for (int r = 0; r < ${tile}; r += ${threads // 8})
                    if (row + r < rows_here)
                        COPY_TO_SHARED(real, tile + r * PADDED + ${begin} + c, ${matrix} + c * n_rows + r);
                    else
                        tile[r * PADDED + ${begin} + c] = 0;
            }
        }
% endfor
}

// A block takes tiles of ${tile} rows for ${sets} sets. Of f's results
// ${", ".join([*code.sums, *(f"{result} times the columns of {leaf.name}" for leaf, result, _ in slopes)]) or "none"} are summed: partial[block, set, result];
% if tables:
// ${", ".join(result for result, _ in tables)} over the rows of each segment: segment_sums[set, segment, result]; no segment lies in two tiles;
% endif
% if code.rows:
// ${", ".join(code.rows)} written for each row.
% endif
// The order of all sums is fixed, so their bits are the same each time, whatever other sets there are.
KERNEL(${threads}${f", {layout.resident // threads}" if dialect == "cuda" else ""}) ${name}(
    GLOBAL double *RESTRICT partial, index_t n_rows, index_t n_sets,
% if tables:
    GLOBAL const int *RESTRICT starts, index_t starts_offset, GLOBAL const int *RESTRICT tile_starts, index_t tile_starts_offset,
% for i in range(len(columns)):
    GLOBAL double *RESTRICT segment_sums${i}, index_t segment_sums${i}_offset,
% endfor
    index_t n_segments,
% endif
    GLOBAL const real *RESTRICT numbers, index_t numbers_offset, index_t numbers_stride\
% for parameter in sheet.declared:
,
    ${parameter}\
% endfor
% for result in code.rows:
,
    GLOBAL real *RESTRICT ${result}_rows, index_t ${result}_first\
% endfor
)
{
    const index_t first_set = BLOCK_X * ${sets}, k = first_set;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)${sets});
    numbers += numbers_offset + k * numbers_stride;
% if tables:
    starts += starts_offset;
    tile_starts += tile_starts_offset;
% endif
% for statement in sheet.begun:
    ${statement}
% endfor
    <%products:body layout="${layout}" matrices="${', '.join(matrices)}" slots="${code.n_sums}" places="${[place_of.get(leaf.name) for leaf in dots]}" together="${together}">
<%def name="coefficient(i)">${dots[i].of_set(dots[i].place("c"))}</%def>
<%def name="prepare()">\
% if code.set_type:
// Whatever depends on numbers alone: once per block and set.
    SHARED_ARRAY(${code.set_type}, sets, ${sets});
    for (int i = (int)THREAD; i < ${sets}; i += ${threads}) {
        const int s = MIN(i, sets_here - 1);
        sets[i] = ${code.prepare_set("s")};
    }
    BARRIER();
% endif
% if tables:
    SHARED double *const kept = shared + ${layout.kept};  // ${", ".join(result for result, _ in tables)} of each row
% endif
</%def>
<%def name="load_row()">\
const index_t own = inside ? n : 0;
% for leaf in data:
        const ${leaf.c_type} ${leaf.here} = ${leaf.value("own")};
% endfor
% for leaf in elements:
        const index_t ${leaf.name}_place = ${leaf.place("own")};
% if ahead:
        ${leaf.c_type} ${leaf.name}_ahead[${turns}];
        UNROLL for (int turn = 0; turn < ${turns}; turn++) {
            const int s = MIN((int)THREAD / ${tile} + turn * ${here}, sets_here - 1);
            ${leaf.name}_ahead[turn] = ${leaf.of_set(f"{leaf.name}_place")};
        }
% endif
% endfor
% if tables:
        const index_t begin = tile_starts[first / ${tile}], end = tile_starts[first / ${tile} + 1];
% endif
% if code.row_type:
        const ${code.row_type} row = ${code.prepare_row("own")};
% endif
</%def>
<%def name="evaluate()">\
% for leaf, end in zip(dots, ends):
                    const real ${leaf.here} = (real)dot${end};
% endfor
% for leaf in elements:
                    const ${leaf.c_type} ${leaf.here} = ${f"{leaf.name}_ahead[turn]" if ahead else leaf.of_set(f"{leaf.name}_place")};
% endfor
                    const ${code.function.type} result = ${code.evaluate("row", "sets[s]", "own", "s")};
% for i, s in enumerate(code.sums):
                    total[turn * ${layout.n_sums} + ${i}] += inside ? result.${s} : 0;
% endfor
% for leaf, end in zip(dots, ends):
% if leaf.name in slope_of:
                    dots${end}[place * DOWN + row_here] = inside ? result.${slope_of[leaf.name]} : 0;
% endif
% endfor
% for i, (s, _) in enumerate(tables):
                    kept[${f"{i * tile * (sets + 1)} + " if i else ""}row_here * ${sets + 1} + place] = result.${s};
% endfor
% for s in code.rows:
                    if (inside)
                        ${s}_rows[${s}_first + (k + s) * n_rows + n] = result.${s};
% endfor
</%def>
<%def name="after_tile()">\
% if tables:
        for (int e = (int)THREAD; e < (int)(end - begin) * ${sets}; e += ${threads}) {
            const index_t segment = begin + e / ${sets};
            const int s = e % ${sets}, last = (int)(starts[segment + 1] - first);
            double sum[${len(tables)}];
            UNROLL for (int i = 0; i < ${len(tables)}; i++)
                sum[i] = 0;
            for (int r = (int)(starts[segment] - first); r < last; r++)
                UNROLL for (int i = 0; i < ${len(tables)}; i++)
                    sum[i] += kept[(i * ${tile} + r) * ${sets + 1} + s];
            if (s < sets_here) {
% for t, (i, column, width) in enumerate(results):
                segment_sums${i}[segment_sums${i}_offset + ((k + s) * n_segments + segment) * ${width} + ${column}] = sum[${t}];
% endfor
            }
        }
% endif
</%def>
    </%products:body>
}
