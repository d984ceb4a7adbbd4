## The glm shape where a device multiplies small matrices of float64 at once: of a tile of rows, the linear predictors for many sets
## are one product of matrices, and the derivative in the coefficients is another; X is read once for all of them.
##
## A product's numbers lie in the registers of a warp: of 16 x 8, thread l has those of line l / 4 + {0, 8} and columns 2 (l % 4) + {0, 1}.
## Rows of X, coefficients and linear predictors are padded so that what a warp reads of them at once lies in different banks.
<%namespace name="parts" file="/glm/glm_parts.mako"/>
<%! from gpustats.kernels.layout import power_of_two %>\
<%
    threads, tile, sets, stages, lanes = layout.threads, layout.tile, layout.sets, layout.stages, layout.lanes
    padded, padded_coefficients, down = layout.padded, layout.padded_coefficients, layout.down
    columns, here = glm.columns, threads // tile
    turns, warps = sets // here, threads // 32
    together = 1 if glm.rows else min(layout.unroll, turns)  # what is written for each row is written once
    eights, set_eights, column_tiles = -(-columns // 8), sets // 8, -(-columns // 16)
    # The warps of the first product share rows, columns and sets; those of the second columns and sets.
    by_rows, per_lane = tile // 16, -(-eights // lanes)
    by_sets = min(max(warps // (by_rows * lanes), 1), set_eights)
    eta_eights, eta_units = set_eights // by_sets, by_rows * lanes * by_sets
    by_columns = min(1 << (column_tiles - 1).bit_length(), warps)
    gradient_by_sets = min(warps // by_columns, set_eights)
    gradient_eights, gradient_tiles = set_eights // gradient_by_sets, -(-column_tiles // by_columns)
    gradient_warps = by_columns * gradient_by_sets
    load, vector = layout.load, "double" if dtype == "float64" else "float"
    wide_load = vector + (str(load) if load > 1 else "")
    across = min(power_of_two(-(-columns // load)), threads)  # threads that copy a row
    copied = threads // across  # rows that are copied at once
%>\
<%def name="each_copy()">\
UNROLL for (int r = 0; r < ${tile}; r += ${copied}) UNROLL for (int c = 0; c < COLUMNS; c += ${across * load}) if (${
    " && ".join(["column + c < COLUMNS"] * bool(columns % (across * load)) + [f"row + r < {tile}"] * (copied > tile)) or "true"}) {\
</%def>\
#define COLUMNS ${columns}
#define PADDED ${padded}  // numbers of a row of X in shared memory
#define PADDED_COEFFICIENTS ${padded_coefficients}
#define DOWN ${down}  // numbers of a set's linear predictors there
<%include file="/kernels/copies.mako" args="dialect=dialect"/>\

// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *X, index_t first, index_t n_rows)
{
    const int row = (int)THREAD / ${across}, column = (int)THREAD % ${across} * ${load};
    X += (first + row) * COLUMNS + column;
    tile += row * PADDED + column;
    if (first + ${tile} <= n_rows) {
        ${each_copy()}
            COPY_TO_SHARED(${wide_load}, tile + r * PADDED + c, X + r * COLUMNS + c);
        }
    } else {
        ${each_copy()}
            if (first + row + r < n_rows)
                COPY_TO_SHARED(${wide_load}, tile + r * PADDED + c, X + r * COLUMNS + c);
            else
                UNROLL for (int i = 0; i < ${load}; i++)
                    tile[r * PADDED + c + i] = 0;
        }
    }
}
% if dialect == "cuda":
<%include file="/kernels/matrix_product.mako"/>\
% endif

// What columns 8 begin .. 8 end - 1 add to the linear predictors of 16 rows and ${eta_eights} times eight sets.
DEVICE void add_predictors(double *sum, SHARED const real *rows, SHARED const double *coefficients, int begin, int end, int lane)
{
% if dialect == "cuda":
    rows += lane / 4 * PADDED + lane % 4;
    coefficients += lane / 4 * PADDED_COEFFICIENTS + lane % 4;
    UNROLL for (int e = 0; e < ${per_lane}; e++) {
        const int c = (begin + e) * 8;
        if (${"begin + e < end" if eights % lanes else "true"}) {
            const real a0 = rows[c], a1 = rows[8 * PADDED + c], a2 = rows[c + 4], a3 = rows[8 * PADDED + c + 4];
            UNROLL for (int m = 0; m < ${eta_eights}; m++) {
                SHARED const double *const b = coefficients + m * 8 * PADDED_COEFFICIENTS + c;
                multiply(sum + m * 4, a0, a1, a2, a3, b[0], b[4]);
            }
        }
    }
% else:
    for (int i = 0; i < ${4 * eta_eights}; i++) {
        SHARED const real *const row = rows + (lane / 4 + i % 4 / 2 * 8) * PADDED;
        SHARED const double *const own = coefficients + (i / 4 * 8 + lane % 4 * 2 + i % 2) * PADDED_COEFFICIENTS;
        for (int c = begin * 8; c < end * 8; c++)
            sum[i] += row[c] * own[c];
    }
% endif
}
% if glm.gradient:

// What the rows of a tile add to the derivatives in ${gradient_tiles} times 16 columns for ${gradient_eights} times eight sets.
DEVICE void add_gradient(double *sum, SHARED const real *rows, SHARED const double *slopes, int first_column, int lane)
{
% if dialect == "cuda":
    rows += lane % 4 * PADDED + first_column + lane / 4 * 2;
    slopes += lane / 4 * DOWN + lane % 4;
    UNROLL for (int r = 0; r < ${tile}; r += 8) {
        double b[${2 * gradient_eights}];
        UNROLL for (int m = 0; m < ${gradient_eights}; m++) {
            b[2 * m] = slopes[m * 8 * DOWN + r];
            b[2 * m + 1] = slopes[m * 8 * DOWN + r + 4];
        }
        UNROLL for (int j = 0; j < ${gradient_tiles}; j++)
            if (${f"first_column + j * {16 * by_columns} < COLUMNS" if column_tiles % by_columns else "true"}) {
                const ${vector}2 u = *(SHARED const ${vector}2 *)(rows + r * PADDED + j * ${16 * by_columns});
                const ${vector}2 v = *(SHARED const ${vector}2 *)(rows + (r + 4) * PADDED + j * ${16 * by_columns});
                UNROLL for (int m = 0; m < ${gradient_eights}; m++)
                    multiply(sum + (j * ${gradient_eights} + m) * 4, u.x, u.y, v.x, v.y, b[2 * m], b[2 * m + 1]);
            }
    }
% else:
    for (int i = 0; i < ${4 * gradient_tiles * gradient_eights}; i++) {
        const int c = first_column + i / ${4 * gradient_eights} * ${16 * by_columns} + lane / 4 * 2 + i % 4 / 2;
        SHARED const double *const own = slopes + (i / 4 % ${gradient_eights} * 8 + lane % 4 * 2 + i % 2) * DOWN;
        if (c < COLUMNS)
            for (int r = 0; r < ${tile}; r++)
                sum[i] += rows[r * PADDED + c] * own[r];
    }
% endif
}
% endif

KERNEL(${threads}${f", {layout.resident // threads}" if dialect == "cuda" else ""}) ${name}(${parts.parameters(codes[0])})
{
    ${parts.start(codes[0])}
    // Tiles of X; the coefficients of all sets; their linear predictors, which the derivatives in them replace.
    DYNAMIC_SHARED_ARRAY(double, shared, ${shared});
    SHARED real *const tiles = (SHARED real *)shared;
    SHARED double *const coefficients = shared + ${layout.tile_doubles};
    SHARED double *const dots = coefficients + ${sets} * PADDED_COEFFICIENTS;
    for (int e = (int)THREAD; e < ${sets} * PADDED_COEFFICIENTS; e += ${threads}) {
        const int s = e / PADDED_COEFFICIENTS, c = e % PADDED_COEFFICIENTS;
        coefficients[e] = s < sets_here && c < COLUMNS ? beta[s * COLUMNS + c] : 0;
    }
    for (int e = (int)THREAD; e < ${stages * tile} * PADDED; e += ${threads})
        if (e % PADDED >= COLUMNS)
            tiles[e] = 0;
% if glm.alpha.value == "set":
    SHARED_ARRAY(real, intercepts, ${sets});
    for (int s = (int)THREAD; s < sets_here; s += ${threads})
        intercepts[s] = alpha[s * alpha_stride];
% endif
    ${parts.prepare_sets(codes)}
    double total[${max(turns * glm.n_sums, 1)}];
    UNROLL for (int s = 0; s < ${turns * glm.n_sums}; s++)
        total[s] = 0;
    const int warp = (int)THREAD / 32, lane = (int)THREAD % 32, row_here = (int)THREAD % ${tile};
% if glm.gradient:
    const int first_column = warp % ${by_columns} * 16, first_eight = warp / ${by_columns} * ${gradient_eights};
    double gradient[${4 * gradient_tiles * gradient_eights}];
    UNROLL for (int i = 0; i < ${4 * gradient_tiles * gradient_eights}; i++)
        gradient[i] = 0;
% endif
    int stage = 0;
% for s in range(stages - 1):
    if ((BLOCK_Y + ${s} * BLOCKS_Y) * ${tile} < n_rows)
        start_tile(tiles + ${s * tile} * PADDED, X, (BLOCK_Y + ${s} * BLOCKS_Y) * ${tile}, n_rows);
    COPIES_STARTED();
% endfor
    for (index_t first = BLOCK_Y * ${tile}; first < n_rows; first += BLOCKS_Y * ${tile}) {
        const index_t n = first + row_here;
        const int inside = n < n_rows;
        ${parts.load_row(codes[0], "inside ? n : 0")}
        WAIT_FOR_COPIES(${stages - 2});
        BARRIER();
        {
            const int next = stage == 0 ? ${stages - 1} : stage - 1;
            const index_t ahead = first + ${stages - 1} * BLOCKS_Y * ${tile};
            if (ahead < n_rows)
                start_tile(tiles + next * ${tile} * PADDED, X, ahead, n_rows);
            COPIES_STARTED();
        }
        SHARED const real *const rows = tiles + stage * ${tile} * PADDED;
        stage = stage == ${stages - 1} ? 0 : stage + 1;

        for (int unit = warp; unit < ${eta_units}; unit += ${warps}) {
            const int r = unit % ${by_rows} * 16, part = unit / ${by_rows} % ${lanes}, s = unit / ${by_rows * lanes} * ${8 * eta_eights};
            double sum[${4 * eta_eights}];
            UNROLL for (int i = 0; i < ${4 * eta_eights}; i++)
                sum[i] = 0;
            add_predictors(sum, rows + r * PADDED, coefficients + s * PADDED_COEFFICIENTS, part * ${per_lane},
                MIN((part + 1) * ${per_lane}, ${eights}), lane);
            SHARED double *const to = dots + (part * ${sets} + s) * DOWN + r + lane / 4;
            UNROLL for (int i = 0; i < ${4 * eta_eights}; i++)
                to[(i / 4 * 8 + lane % 4 * 2 + i % 2) * DOWN + i % 4 / 2 * 8] = sum[i];
        }
        BARRIER();
        UNROLL for (int turns = 0; turns < ${turns}; turns += ${together}) {
            if ((int)THREAD / ${tile} + turns * ${here} < sets_here)
                UNROLL for (int turn = turns; turn < turns + ${together}; turn++) {
                    // Behind the last set stand others without coefficients, whose sums nobody reads.
                    const int place = (int)THREAD / ${tile} + turn * ${here}, s = MIN(place, sets_here - 1);
                    double dot = dots[place * DOWN + row_here];
% for p in range(1, lanes):
                    dot += dots[(${p * sets} + place) * DOWN + row_here];
% endfor
                    real eta[1] = {(real)dot};
${parts.evaluate(codes, "total + turn * %d" % glm.n_sums, "dots[place * DOWN + row_here]", "intercepts")}\
                }
        }
% if glm.gradient:
        BARRIER();
        if (warp < ${gradient_warps})
            add_gradient(gradient, rows, dots + first_eight * 8 * DOWN, first_column, lane);
% endif
    }

    // What the threads of the block have, in their order; then the blocks' sums are added by glm_total.
    partial += BLOCK_Y * n_sets * ${glm.slots} + first_set * ${glm.slots};
% if glm.n_sums:
    BARRIER();
    UNROLL for (int q = 0; q < ${turns * glm.n_sums}; q++)
        shared[q * ${threads} + THREAD] = total[q];
    for (int span = ${tile // 2}; span > 0; span /= 2) {
        BARRIER();
        if (row_here < span)
            UNROLL for (int q = 0; q < ${turns * glm.n_sums}; q++)
                shared[q * ${threads} + THREAD] += shared[q * ${threads} + THREAD + span];
    }
    if (row_here == 0)
        UNROLL for (int q = 0; q < ${turns * glm.n_sums}; q++) {
            const int s = (int)THREAD / ${tile} + q / ${glm.n_sums} * ${here};
            if (s < sets_here)
                partial[s * ${glm.slots} + q % ${glm.n_sums}] = shared[q * ${threads} + THREAD];
        }
% endif
% if glm.gradient:
    if (warp < ${gradient_warps})
        UNROLL for (int i = 0; i < ${4 * gradient_tiles * gradient_eights}; i++) {
            const int c = first_column + i / ${4 * gradient_eights} * ${16 * by_columns} + lane / 4 * 2 + i % 4 / 2;
            const int s = (first_eight + i / 4 % ${gradient_eights}) * 8 + lane % 4 * 2 + i % 2;
            if (c < COLUMNS && s < sets_here)
                partial[s * ${glm.slots} + ${glm.n_sums} + c] = gradient[i];
        }
% endif
}
