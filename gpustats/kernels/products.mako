## What kernels have in common that take many sets of coefficients where a device multiplies small matrices of float64 at once: of a
## tile of rows, the linear predictors of all sets are one product of matrices, and the derivative in the coefficients is another; the
## rows are read once for all of them.
##
## A product's numbers lie in the registers of a warp: of 16 x 8, thread l has those of line l / 4 + {0, 8} and columns 2 (l % 4) + {0, 1}.
## Rows, coefficients and linear predictors are padded so that what a warp reads of them at once lies in different banks.
<%def name="functions(layout, dtype, dialect)">\
<%
    vector, padded = "double" if dtype == "float64" else "float", layout.padded_coefficients
    with_gradient = {p.matrix for p in layout.predictors if p.gradient}
%>\
#define PADDED ${layout.padded}  // numbers of a row in shared memory
#define STAGE ${layout.stage}  // of a tile, with what the products of the last columns read behind its last row
#define DOWN ${layout.down}  // numbers of a set's linear predictors there
<%include file="/kernels/copies.mako" args="dialect=dialect"/>\
% if dialect == "cuda":
<%include file="/kernels/matrix_product.mako"/>\
% endif
% for matrix, columns in enumerate(layout.matrices):
<% shares, of = layout.shares(matrix), suffix(matrix, layout.matrices) %>\

// What columns 8 begin .. 8 end - 1 add to the linear predictors of 16 rows and ${shares.sets_of_unit} times eight sets.
DEVICE void add_predictors${of}(double *sum, SHARED const real *rows, SHARED const double *coefficients, int begin, int end, int lane)
{
% if dialect == "cuda":
    rows += lane / 4 * PADDED + lane % 4;
    coefficients += lane / 4 * ${padded(matrix)} + lane % 4;
    UNROLL for (int e = 0; e < ${shares.per_lane}; e++) {
        const int c = (begin + e) * 8;
        if (${"begin + e < end" if shares.eights % layout.lanes else "true"}) {
            const real a0 = rows[c], a1 = rows[8 * PADDED + c], a2 = rows[c + 4], a3 = rows[8 * PADDED + c + 4];
            UNROLL for (int m = 0; m < ${shares.sets_of_unit}; m++) {
                SHARED const double *const b = coefficients + m * ${8 * padded(matrix)} + c;
                multiply(sum + m * 4, a0, a1, a2, a3, b[0], b[4]);
            }
        }
    }
% else:
    for (int i = 0; i < ${4 * shares.sets_of_unit}; i++) {
        SHARED const real *const row = rows + (lane / 4 + i % 4 / 2 * 8) * PADDED;
        SHARED const double *const own = coefficients + (i / 4 * 8 + lane % 4 * 2 + i % 2) * ${padded(matrix)};
        for (int c = begin * 8; c < end * 8; c++)
            sum[i] += row[c] * own[c];
    }
% endif
}
% if matrix in with_gradient:
<% tiles, sets, stride = shares.tiles, shares.sets_of_warp, 16 * shares.by_columns %>\

// What the rows of a tile add to the derivatives in ${tiles} times 16 columns for ${sets} times eight sets.
DEVICE void add_gradient${of}(double *sum, SHARED const real *rows, SHARED const double *slopes, int first_column, int lane)
{
% if dialect == "cuda":
    rows += lane % 4 * PADDED + first_column + lane / 4 * 2;
    slopes += lane / 4 * DOWN + lane % 4;
    UNROLL for (int r = 0; r < ${layout.tile}; r += 8) {
        double b[${2 * sets}];
        UNROLL for (int m = 0; m < ${sets}; m++) {
            b[2 * m] = slopes[m * 8 * DOWN + r];
            b[2 * m + 1] = slopes[m * 8 * DOWN + r + 4];
        }
        UNROLL for (int j = 0; j < ${tiles}; j++)
            if (${f"first_column + j * {stride} < {columns}" if -(-columns // 16) % shares.by_columns else "true"}) {
                const ${vector}2 u = *(SHARED const ${vector}2 *)(rows + r * PADDED + j * ${stride});
                const ${vector}2 v = *(SHARED const ${vector}2 *)(rows + (r + 4) * PADDED + j * ${stride});
                UNROLL for (int m = 0; m < ${sets}; m++)
                    multiply(sum + (j * ${sets} + m) * 4, u.x, u.y, v.x, v.y, b[2 * m], b[2 * m + 1]);
            }
    }
% else:
    for (int i = 0; i < ${4 * tiles * sets}; i++) {
        const int c = first_column + i / ${4 * sets} * ${stride} + lane / 4 * 2 + i % 4 / 2;
        SHARED const double *const own = slopes + (i / 4 % ${sets} * 8 + lane % 4 * 2 + i % 2) * DOWN;
        if (c < ${columns})
            for (int r = 0; r < ${layout.tile}; r++)
                sum[i] += rows[r * PADDED + c] * own[r];
    }
% endif
}
% endif
% endfor
</%def>
<%!
    def suffix(i, among):
        """What ends the names of one of several things."""
        return i if len(among) > 1 else ""
%>\
## A kernel from first_set and sets_here on. `matrices`: what start_tile(tile, matrices, first, n_rows) of the caller reads; `slots`:
## the sums of a set; `places`: where among them each predictor's gradient begins; `together`: sets that a thread evaluates at once.
## The caller's blocks: coefficient(i), C for that of predictor i in column c for set s; prepare(); load_row(), what is read of row `own`
## before anything waits; evaluate(), for row `own`, `place` in the block and set s; after_tile(), once all rows are evaluated.
<%def name="body(layout, matrices, slots, places, together)">\
<%
    threads, tile, sets, stages, lanes, here = layout.threads, layout.tile, layout.sets, layout.stages, layout.lanes, layout.here
    turns, warps, n_sums = layout.turns, threads // 32, layout.n_sums
    used = [f"c >= {i} && c < {i + n}" if i else f"c < {n}" for i, n in zip(layout.firsts, layout.matrices)]
    shares = [layout.shares(p.matrix) for p in layout.predictors]
    ends = [suffix(i, layout.predictors) for i in range(len(shares))]
    gradients = [i for i, p in enumerate(layout.predictors) if p.gradient]
    # Warps begin with the units that earlier predictors have left to them.
    def shifted(before):
        return f"(warp + {-sum(before) % warps}) % {warps}" if sum(before) % warps else "warp"
    unit_of = [shifted([s.units for s in shares[:i]]) for i in range(len(shares))]
    warp_of = {i: shifted([shares[j].warps for j in gradients if j < i]) for i in gradients}
    warp_named = {i: "warp" if warp == "warp" else f"warp{ends[i]}" for i, warp in warp_of.items()}
%>\
// Tiles of rows; the coefficients of all sets; their linear predictors, which the derivatives in them replace.
    DYNAMIC_SHARED_ARRAY(double, shared, ${layout.shared_doubles});
    SHARED real *const tiles = (SHARED real *)shared;
% for i, (start, values) in enumerate(layout.starts):
    SHARED double *const coefficients${ends[i]} = shared + ${start}, *const dots${ends[i]} = shared + ${values};
% endfor
% for i, predictor in enumerate(layout.predictors):
<% padded = layout.padded_coefficients(predictor.matrix) %>\
    for (int e = (int)THREAD; e < ${sets * padded}; e += ${threads}) {
        const int s = e / ${padded}, c = e % ${padded};
        coefficients${ends[i]}[e] = s < sets_here && c < ${layout.matrices[predictor.matrix]} ? ${caller.coefficient(i)} : 0;
    }
% endfor
    for (int e = (int)THREAD; e < ${stages} * STAGE; e += ${threads}) {
        const int c = e % STAGE % PADDED;
        if (!(${" || ".join(used)}))
            tiles[e] = 0;
    }
    ${caller.prepare()}
    double total[${max(turns * n_sums, 1)}];
    UNROLL for (int s = 0; s < ${turns * n_sums}; s++)
        total[s] = 0;
    const int warp = (int)THREAD / 32, lane = (int)THREAD % 32, row_here = (int)THREAD % ${tile};
% for i in gradients:
<% of, end, its = shares[i], ends[i], warp_named[i] %>\
% if its != "warp":
    const int ${its} = ${warp_of[i]};
% endif
    const int first_column${end} = ${its} % ${of.by_columns} * 16, first_eight${end} = ${its} / ${of.by_columns} * ${of.sets_of_warp};
    double gradient${end}[${4 * of.tiles * of.sets_of_warp}];
    UNROLL for (int i = 0; i < ${4 * of.tiles * of.sets_of_warp}; i++)
        gradient${end}[i] = 0;
% endfor
    int stage = 0;
% for s in range(stages - 1):
    if ((BLOCK_Y + ${s} * BLOCKS_Y) * ${tile} < n_rows)
        start_tile(tiles + ${s} * STAGE, ${matrices}, (BLOCK_Y + ${s} * BLOCKS_Y) * ${tile}, n_rows);
    COPIES_STARTED();
% endfor
    for (index_t first = BLOCK_Y * ${tile}; first < n_rows; first += BLOCKS_Y * ${tile}) {
        const index_t n = first + row_here;
        const int inside = n < n_rows;
        ${caller.load_row()}
        WAIT_FOR_COPIES(${stages - 2});
        BARRIER();
        {
            const int next = stage == 0 ? ${stages - 1} : stage - 1;
            const index_t ahead = first + ${stages - 1} * BLOCKS_Y * ${tile};
            if (ahead < n_rows)
                start_tile(tiles + next * STAGE, ${matrices}, ahead, n_rows);
            COPIES_STARTED();
        }
        SHARED const real *const rows = tiles + stage * STAGE;
        stage = stage == ${stages - 1} ? 0 : stage + 1;

% for i, predictor in enumerate(layout.predictors):
<%
    of, end, matrix = shares[i], ends[i], predictor.matrix
    padded, begin = layout.padded_coefficients(matrix), layout.firsts[matrix]
%>\
        for (int unit = ${unit_of[i]}; unit < ${of.units}; unit += ${warps}) {
            const int r = unit % ${of.by_rows} * 16, part = unit / ${of.by_rows} % ${lanes}, s = unit / ${of.by_rows * lanes} * ${8 * of.sets_of_unit};
            double sum[${4 * of.sets_of_unit}];
            UNROLL for (int i = 0; i < ${4 * of.sets_of_unit}; i++)
                sum[i] = 0;
            add_predictors${suffix(matrix, layout.matrices)}(sum, rows + r * PADDED${f" + {begin}" if begin else ""}, coefficients${end} + s * ${padded},
                part * ${of.per_lane}, MIN((part + 1) * ${of.per_lane}, ${of.eights}), lane);
            SHARED double *const to = dots${end} + (part * ${sets} + s) * DOWN + r + lane / 4;
            UNROLL for (int i = 0; i < ${4 * of.sets_of_unit}; i++)
                to[(i / 4 * 8 + lane % 4 * 2 + i % 2) * DOWN + i % 4 / 2 * 8] = sum[i];
        }
% endfor
        BARRIER();
        UNROLL for (int turns = 0; turns < ${turns}; turns += ${together}) {
            if ((int)THREAD / ${tile} + turns * ${here} < sets_here)
                UNROLL for (int turn = turns; turn < turns + ${together}; turn++) {
                    // Behind the last set stand others without coefficients, whose sums nobody reads.
                    const int place = (int)THREAD / ${tile} + turn * ${here}, s = MIN(place, sets_here - 1);
% for end in ends:
                    double dot${end} = dots${end}[place * DOWN + row_here];
% for p in range(1, lanes):
                    dot${end} += dots${end}[(${p * sets} + place) * DOWN + row_here];
% endfor
% endfor
                    ${caller.evaluate()}\
                }
        }
% if gradients or layout.n_kept:
        BARRIER();
% endif
        ${caller.after_tile()}\
% for i in gradients:
<% of, end, matrix = shares[i], ends[i], layout.predictors[i].matrix %>\
        if (${warp_named[i]} < ${of.warps})
            add_gradient${suffix(matrix, layout.matrices)}(gradient${end}, rows${f" + {layout.firsts[matrix]}" if layout.firsts[matrix] else ""}, dots${end} + first_eight${end} * 8 * DOWN,
                first_column${end}, lane);
% endfor
    }

    // What the threads of the block have, in their order; another kernel adds the blocks' sums.
    partial += BLOCK_Y * n_sets * ${slots} + first_set * ${slots};
% if n_sums:
    BARRIER();
    UNROLL for (int q = 0; q < ${turns * n_sums}; q++)
        shared[q * ${threads} + THREAD] = total[q];
    for (int span = ${tile // 2}; span > 0; span /= 2) {
        BARRIER();
        if (row_here < span)
            UNROLL for (int q = 0; q < ${turns * n_sums}; q++)
                shared[q * ${threads} + THREAD] += shared[q * ${threads} + THREAD + span];
    }
    if (row_here == 0)
        UNROLL for (int q = 0; q < ${turns * n_sums}; q++) {
            const int s = (int)THREAD / ${tile} + q / ${n_sums} * ${here};
            if (s < sets_here)
                partial[s * ${slots} + q % ${n_sums}] = shared[q * ${threads} + THREAD];
        }
% endif
% for i in gradients:
<% of, end, columns = shares[i], ends[i], layout.matrices[layout.predictors[i].matrix] %>\
    if (${warp_named[i]} < ${of.warps})
        UNROLL for (int i = 0; i < ${4 * of.tiles * of.sets_of_warp}; i++) {
            const int c = first_column${end} + i / ${4 * of.sets_of_warp} * ${16 * of.by_columns} + lane / 4 * 2 + i % 4 / 2;
            const int s = (first_eight${end} + i / 4 % ${of.sets_of_warp}) * 8 + lane % 4 * 2 + i % 2;
            if (c < ${columns} && s < sets_here)
                partial[s * ${slots} + ${places[i]} + c] = gradient${end}[i];
        }
% endfor
</%def>
