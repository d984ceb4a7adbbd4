<%namespace name="reduce" file="/kernels/reduce.mako"/>
<%namespace name="logsumexp" file="/kernels/logsumexp.mako"/>
<%
    from dataclasses import replace
    dim, width, factor_size = packing.dim, packing.width, packing.size
    slots = layout.sets * code.n_sums
    mixture = shape == "mixture"
    whole = layout.group == layout.sets  # what is in shared memory of the block's sets is there at once
    kept = layout.group if mixture else layout.sets
%>\
% if shape == "loglik":
${reduce.functions(layout, dialect, code.n_sums, slots)}
% elif mixture:
${reduce.functions(layout, dialect, 1, 1)}
${logsumexp.functions(outputs)}
% endif
// The table, loglik and mixture shapes for elliptical densities, which see an observation through its squared Mahalanobis distance
// |W (x - mu)|^2, W lower triangular. This is where the arithmetic is: dim^2/2 multiplications for every entry.
//
// A block keeps a tile of rows (transposed, so that its threads read consecutive addresses) and the W of its sets in shared
// memory. A thread multiplies ${layout.unroll} of the rows by ${width} rows of W at a time, in registers: each number that it
// reads is used ${layout.unroll} or ${width} times. W comes packed in the order of use: for each ${width} rows of it, column
// by column, without the zeros above the diagonal but for the blocks that it crosses.
% if packing.products:
//
// Here warps multiply matrices: 16 rows at a time by 8 rows and 8 columns of W.
% endif
% if code.sums:
//
// The function has several results: ${", ".join(code.sums)} are summed, out[set, result]\
% if code.rows:
; ${", ".join(code.rows)} is written for each set and row\
% endif
.
% endif
#define DIM ${dim}
#define PADDED_TILE ${padded_tile}
% if packing.products:
<%include file="/kernels/matrix_product.mako"/>\

// |W (x - mu)|^2 of the thread's row, of the 32 rows that its warp has.
DEVICE double product_sqdist(SHARED const double *tile, SHARED const double *mean, SHARED const double *factor)
{
    const int lane = THREAD % 32, t = lane % 4;
    SHARED const double *const x = tile + THREAD - lane + lane / 4 + t * PADDED_TILE;
    SHARED const double2 *W = (SHARED const double2 *)factor + lane;
    double sums[2][2] = {{0, 0}, {0, 0}};  // of squares, for rows 16 m + 8 h + lane / 4
    ${'UNROLL ' if dim <= 64 else ''}for (int i = 0; i < DIM; i += ${width}) {  // rows i .. i + ${width - 1} of W
        double z[2][${width // 8}][4];
        UNROLL for (int e = 0; e < ${8 * (width // 8)}; e++)
            z[e / ${width // 2}][e / 4 % ${width // 8}][e % 4] = 0;
        ${'UNROLL' if dim <= 64 else 'UNROLL_BY_4'} for (int j = 0; j < i; j += 8, W += ${4 * width}) {
${multiply_by("j", 0)}\
        }
% for b in range(width // 8):  # the triangle on the diagonal
        ${f"if (i + {8 * b} < DIM) " if dim % width else ""}{
${multiply_by(f"(i + {8 * b})", b)}\
            W += ${4 * width};
        }
% endfor
        UNROLL for (int m = 0; m < 2; m++)
            UNROLL for (int b = 0; b < ${width // 8}; b++) {
                sums[m][0] += z[m][b][0] * z[m][b][0] + z[m][b][1] * z[m][b][1];
                sums[m][1] += z[m][b][2] * z[m][b][2] + z[m][b][3] * z[m][b][3];
            }
    }
    // Four lanes have parts of the sums of four rows: they add up one each, of which the thread takes its own.
    double half[2];
    UNROLL for (int m = 0; m < 2; m++)
        half[m] = (t % 2 ? sums[m][1] : sums[m][0]) + __shfl_xor_sync(0xFFFFFFFF, t % 2 ? sums[m][0] : sums[m][1], 1);
    const double sum = (t / 2 ? half[1] : half[0]) + __shfl_xor_sync(0xFFFFFFFF, t / 2 ? half[0] : half[1], 2);
    return __shfl_sync(0xFFFFFFFF, sum, lane % 8 * 4 + lane / 8);
}
% endif
% if layout.copies:
<%include file="/kernels/copies.mako" args="dialect=dialect"/>\

// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *x_rows, index_t first, index_t n_rows)
{
    const int numbers = (int)MIN(n_rows - first, (index_t)${layout.tile}) * DIM;
    SHARED real *to = tile + (int)THREAD % DIM * PADDED_TILE + (int)THREAD / DIM;
    int column = (int)THREAD % DIM;
    x_rows += first * DIM;
    UNROLL_BY_4 for (int e = (int)THREAD; e < ${layout.tile} * DIM; e += ${layout.threads}) {
        if (e < numbers)
            COPY_TO_SHARED(real, to, x_rows + e);
        else
            *to = 0;
        column += ${layout.threads % dim};
        to += ${layout.threads % dim} * PADDED_TILE + ${layout.threads // dim};
        if (column >= DIM) {
            column -= DIM;
            to += 1 - DIM * PADDED_TILE;
        }
    }
    COPIES_STARTED();
}
% endif
KERNEL(${layout.threads}) ${name}(
% if shape == "table":
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
% elif mixture:
    ${logsumexp.parameters(outputs)}\
% else:
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets,
% endif
    GLOBAL const real *RESTRICT x_rows, index_t x_offset, index_t x_stride,
    GLOBAL const real *RESTRICT factors, index_t factors_offset, index_t factors_stride,
    GLOBAL const real *RESTRICT means, index_t means_offset, index_t means_stride,
    ${code.parameters})
{
    const index_t first_set = ${"0" if mixture else f"BLOCK_X * {layout.sets}"};
    const int sets_here = (int)${"n_sets" if mixture else f"MIN(n_sets - first_set, (index_t){layout.sets})"};
    x_rows += x_offset + first_set * x_stride;
    factors += factors_offset + first_set * factors_stride;
    means += means_offset + first_set * means_stride;
    ${code.apply_offsets()}

    DYNAMIC_SHARED_ARRAY(real, shared_reals, ${shared_reals});
    SHARED real *const tile = shared_reals;
% if layout.stage_factors:
    SHARED real *const shared_factors = shared_reals + ${shared_reals - layout.group * (factor_size + dim)};
    SHARED real *const shared_means = shared_factors + ${layout.group * factor_size};
% if whole:
${load_group("0")}\
% endif
% endif
    SHARED_ARRAY(${code.set_type}, sets, ${kept});
% if whole or not mixture:
${prepare_sets("0")}\
% endif
% if mixture:
    SHARED_ARRAY(double, sums, ${layout.threads});
    double total[1];
    total[0] = 0;
% elif shape == "loglik":
    SHARED_ARRAY(double, sums, ${slots * layout.threads});
    for (int s = 0; s < ${slots}; s++)
        sums[s * ${layout.threads} + THREAD] = 0;
% endif

% if packing.columns > dim:
    for (int e = (int)THREAD; e < ${packing.columns - dim} * PADDED_TILE; e += ${layout.threads})
        tile[DIM * PADDED_TILE + e] = 0;
% endif
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
% if layout.copies:
        BARRIER();  // the last tile has been used
        start_tile(tile, x_rows, first, n_rows);
        WAIT_FOR_COPIES(0);
        BARRIER();
% else:
        const int rows_here = (int)MIN(n_rows - first, (index_t)${layout.tile});
        BARRIER();  // the last tile has been used
        for (int e = (int)THREAD; e < ${layout.tile} * DIM; e += ${layout.threads})
            tile[e % DIM * PADDED_TILE + e / DIM] = e < rows_here * DIM ? x_rows[first * DIM + e] : 0;
        BARRIER();
% endif
% if layout.vector > 1 and shape == "table":
        real kept[${layout.unroll}][${layout.vector}];  // values of the last sets, for one wide store
        UNROLL for (int r = 0; r < ${layout.unroll}; r++)
            UNROLL for (int v = 0; v < ${layout.vector}; v++)
                kept[r][v] = 0;
% endif
% if mixture:
        ${logsumexp.start(layout, outputs)}\
% endif
        for (int k = 0; k < sets_here; k++) {
% if not whole and (layout.stage_factors or mixture):
            if (k % ${layout.group} == 0) {
                BARRIER();  // the last group has been used
% if layout.stage_factors:
${load_group("k")}\
% endif
% if mixture:
${prepare_sets("k")}\
% endif
                BARRIER();
            }
% endif
${logsumexp.draw_words(layout, outputs) if mixture else ""}\
% if layout.stage_factors:
            SHARED const real *factor = shared_factors + k % ${layout.group} * ${factor_size};
            SHARED const real *mean = shared_means + k % ${layout.group} * DIM;
% else:
            GLOBAL const real *factor = factors + k * factors_stride;
            GLOBAL const real *mean = means + k * means_stride;
% endif
% if packing.products:
            const real sqdist[1] = { product_sqdist(tile, mean, factor) };
% else:
            real sqdist[${layout.unroll}];
            UNROLL for (int r = 0; r < ${layout.unroll}; r++)
                sqdist[r] = 0;
            ${'UNROLL ' if dim <= 32 else ''}for (int i = 0; i < DIM; i += ${width}) {  // rows i .. i + ${width - 1} of W
                real z[${layout.unroll}][${width}];
                UNROLL for (int r = 0; r < ${layout.unroll}; r++)
                    UNROLL for (int b = 0; b < ${width}; b++)
                        z[r][b] = 0;
                UNROLL_BY_4 for (int j = 0; j < i; j++, factor += ${width})
                    UNROLL for (int r = 0; r < ${layout.unroll}; r++) {
                        const real y = tile[j * PADDED_TILE + r * ${layout.threads} + THREAD] - mean[j];
                        UNROLL for (int b = 0; b < ${width}; b++)
                            z[r][b] += factor[b] * y;
                    }
                UNROLL for (int c = 0; c < ${width}; c++)  // the triangle on the diagonal
                    ${'if (i + c < DIM) ' if dim % width else ''}{
                        UNROLL for (int r = 0; r < ${layout.unroll}; r++) {
                            const real y = tile[(i + c) * PADDED_TILE + r * ${layout.threads} + THREAD] - mean[i + c];
                            UNROLL for (int b = c; b < ${width}; b++)
                                z[r][b] += factor[b] * y;
                        }
                        factor += ${width};
                    }
                UNROLL for (int r = 0; r < ${layout.unroll}; r++)
                    UNROLL for (int b = 0; b < ${width}; b++)
                        sqdist[r] += z[r][b] * z[r][b];
            }
% endif
% if mixture:
            UNROLL for (int r = 0; r < ${layout.unroll}; r++)
                ${logsumexp.add(evaluate, outputs)}\
        }
        ${logsumexp.finish(layout, outputs)}\
% else:
            UNROLL for (int r = 0; r < ${layout.unroll}; r++) {
                const index_t n = first + r * ${layout.threads} + THREAD;
% if shape == "loglik" and code.function.results:
                if (n < n_rows) {
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row("n")};
% endif
                    const ${code.function.type} result = ${evaluate};
% for i, member in enumerate(code.sums):
                    sums[(k * ${code.n_sums} + ${i}) * ${layout.threads} + THREAD] += result.${member};
% endfor
% for member in code.rows:
                    ${member}_rows[${member}_first + (first_set + k) * n_rows + n] = result.${member};
% endfor
                }
% elif shape == "loglik":
                if (n < n_rows)
                    sums[k * ${layout.threads} + THREAD] += ${evaluate};
% elif layout.vector > 1:
                UNROLL for (int v = 0; v < ${layout.vector - 1}; v++)
                    kept[r][v] = kept[r][v + 1];
                kept[r][${layout.vector - 1}] = ${evaluate};
                if (k % ${layout.vector} == ${layout.vector - 1} && n < n_rows) {
                    ${vector_type} together;
% for v, component in enumerate("xyzw"[: layout.vector]):
                    together.${component} = kept[r][${v}];
% endfor
                    *(GLOBAL ${vector_type} *)(out + out_offset + n * row_stride + first_set + k - ${layout.vector - 1}) = together;
                }
% else:
                if (n < n_rows)
                    out[out_offset + n * row_stride + (first_set + k) * set_stride] = ${evaluate};
% endif
            }
        }
% endif
    }
% if shape == "loglik":
    BARRIER();
    ${reduce.finish(layout, dialect, code.n_sums, slots)}
% elif mixture:
    {
        const int sets_here = 1;  // sums of the block
        ${reduce.finish(replace(layout, sets=1), dialect, 1, 1, "total")}
    }
% endif
}
<%def name="load_group(k)">\
    UNROLL_BY_4 for (int e = (int)THREAD; e < MIN(${layout.group}, sets_here - ${k}) * ${factor_size}; e += ${layout.threads})
        shared_factors[e] = factors[(${k} + e / ${factor_size}) * factors_stride + e % ${factor_size}];
    for (int e = (int)THREAD; e < MIN(${layout.group}, sets_here - ${k}) * DIM; e += ${layout.threads})
        shared_means[e] = means[(${k} + e / DIM) * means_stride + e % DIM];
</%def>
<%def name="prepare_sets(k)">\
    for (index_t e = THREAD; e < MIN(${layout.group if shape == "mixture" else layout.sets}, sets_here - ${k}); e += ${layout.threads})
        sets[e] = ${code.prepare_set(f"first_set + {k} + e")};
</%def>
## What columns j .. j + 7 add to the products with blocks of 8 rows of W, from number `first` on.
<%def name="multiply_by(j, first)">\
<% padded, width = packing.dim % 8, packing.width %>\
            double a[2][4];
            UNROLL for (int e = 0; e < 2; e++) {
                const int c = ${j} + 4 * e + t;
                const double center = ${"c < DIM ? mean[c] : 0" if padded else "mean[c]"};
                UNROLL for (int m = 0; m < 2; m++) {
                    a[m][2 * e] = x[(${j} + 4 * e) * PADDED_TILE + 16 * m] - center;
                    a[m][2 * e + 1] = x[(${j} + 4 * e) * PADDED_TILE + 16 * m + 8] - center;
                }
            }
            UNROLL for (int b = ${first}; b < ${width // 8}; b++)
                ${f"if (i + 8 * b < DIM) " if packing.columns % width else ""}{
                    const double2 w = W[32 * b];
                    UNROLL for (int m = 0; m < 2; m++)
                        multiply(z[m][b], a[m][0], a[m][1], a[m][2], a[m][3], w.x, w.y);
                }
</%def>
