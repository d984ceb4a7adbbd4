## The scatter shape: for each set, the sum over rows n of w_n [1; y_n] [1; y_n]', where y_n = x_n - mean: its entries are the
## sums of w, of w y and of w y y'.
<%
    width, lanes, threads = layout.width, layout.lanes, layout.threads
    tiles, several = layout.columns // width, layout.panels > 1
    groups = threads // lanes
    each = layout.pairs // groups  # pairs of tiles that a thread has
    squared = width * width
    staged = layout.columns * (2 if several else 1)
    panel_pairs = layout.panels * (layout.panels + 1) // 2
    together, places = layout.together, layout.places
%>\
<%def name="find_tiles(pair, indent)">\
% if several:
${indent}const int left_tile = ${pair} / ${tiles}, right_tile = ${tiles} + ${pair} % ${tiles};
% else:
${indent}int left_tile = 0, right_tile = ${pair};
${indent}while (right_tile > left_tile)
${indent}    right_tile -= ++left_tile;
% endif
</%def>\
<%def name="each_sum(statement, indent)">\
${indent}UNROLL for (int a = 0; a < ${width}; a++)
${indent}    UNROLL for (int b = 0; b < ${width}; b++)
${indent}        ${statement};
</%def>\
#define DIM ${dim}
#define PADDED_TILE ${layout.tile + 1}

// Adds what the lanes of each group have in sums[s * threads ..] into the first lane's place, as a tree.
DEVICE void add_lanes(SHARED double *sums, int lane, int n_sums)
{
    for (int width = ${lanes // 2}; width > 0; width /= 2) {
        BARRIER();
        if (lane < width)
            for (int s = 0; s < n_sums; s++)
                sums[s * ${threads} + THREAD] += sums[s * ${threads} + THREAD + width];
    }
    BARRIER();
}

// The columns of [1; y] are cut into tiles of ${width}. A group of ${lanes} threads multiplies pairs of tiles, in registers: a
// thread takes every ${lanes}th row of those that the block has in shared memory (transposed, so that neighbours read
// consecutive addresses)\
% if several:
. A block has the pairs of two panels of ${tiles} tiles\
% endif
. What the threads have is added as a tree, and then over the blocks in their order, so that the bits are always the same.
KERNEL(${threads}) scatter(
    GLOBAL double *RESTRICT partial, index_t n_rows,
    GLOBAL const real *RESTRICT x_rows, index_t x_offset, index_t x_stride,
    GLOBAL const real *RESTRICT means, index_t means_offset, index_t means_stride${"," if weighted else ")"}
% if weighted:
    GLOBAL const real *RESTRICT weights, index_t weights_offset, index_t weights_stride)
% endif
{
    const index_t set = BLOCK_X / ${panel_pairs};
    x_rows += x_offset + set * x_stride;
    means += means_offset + set * means_stride;
% if weighted:
    weights += weights_offset + set * weights_stride;
% endif
    const int lane = (int)THREAD % ${lanes}, group = (int)THREAD / ${lanes};
% if several:
    int panel = 0, other = (int)(BLOCK_X % ${panel_pairs});  // the pairs in the order (0, 0), (1, 0), (1, 1), (2, 0), ...
    while (other > panel)
        other -= ++panel;
% endif
    SHARED_ARRAY(double, shared, ${max(staged * (layout.tile + 1) + layout.tile * weighted, together * threads * (each == 1))});
    SHARED double *const tile = shared;
% if weighted:
    SHARED double *const tile_weights = shared + ${staged} * PADDED_TILE;
% endif

% if each > 1:
    SHARED_ARRAY(double, totals, ${each * squared * threads});  // more than a thread has registers for
    for (int s = 0; s < ${each * squared}; s++)
        totals[s * ${threads} + THREAD] = 0;
% else:
${find_tiles("group", "    ")}\
    double total[${width}][${width}];
${each_sum("total[a][b] = 0", "    ")}\
% endif
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)${layout.tile});
        BARRIER();  // the last tile has been used
        for (int place = (int)THREAD % ${places}; place < ${staged}; place += ${places}) {
% if several:
            const int column = (place < ${layout.columns} ? panel : other - 1) * ${layout.columns} + place;
% else:
            const int column = place;
% endif
            const double mean = column > 0 && column <= DIM ? means[column - 1] : 0;
            for (int row = (int)THREAD / ${places}; row < ${layout.tile}; row += ${threads // places}) {
                double value = 0;
                if (row < rows_here && column <= DIM)
                    value = column == 0 ? 1 : x_rows[(first + row) * DIM + column - 1] - mean;
                tile[place * PADDED_TILE + row] = value;
            }
        }
% if weighted:
        for (int row = (int)THREAD; row < ${layout.tile}; row += ${threads})
            tile_weights[row] = row < rows_here ? weights[first + row] : 0;
% endif
        BARRIER();
% if each > 1:
        for (int p = 0; p < ${each}; p++) {
            const int pair = group * ${each} + p;
${find_tiles("pair", " " * 12)}\
            SHARED double *const of_pair = totals + p * ${squared * threads} + THREAD;
            double total[${width}][${width}];
${each_sum(f"total[a][b] = of_pair[(a * {width} + b) * {threads}]", " " * 12)}\
% else:
        {
% endif
            SHARED const double *const left = tile + left_tile * ${width} * PADDED_TILE;
            SHARED const double *const right = tile + right_tile * ${width} * PADDED_TILE;
            for (int r = lane; r < ${layout.tile}; r += ${lanes}) {
                double u[${width}], v[${width}];
                UNROLL for (int a = 0; a < ${width}; a++) {
                    u[a] = left[a * PADDED_TILE + r]${" * tile_weights[r]" if weighted else ""};
                    v[a] = right[a * PADDED_TILE + r];
                }
${each_sum("total[a][b] += u[a] * v[b]", " " * 16)}\
            }
% if each > 1:
${each_sum(f"of_pair[(a * {width} + b) * {threads}] = total[a][b]", " " * 12)}\
% endif
        }
    }

    GLOBAL double *const block_sums = partial + BLOCK_X * ${layout.pairs * squared} * BLOCKS_Y + BLOCK_Y;
% if each > 1:
    add_lanes(totals, lane, ${each * squared});
    for (int s = lane; s < ${each * squared}; s += ${lanes})
        block_sums[(group * ${each * squared} + s) * BLOCKS_Y] = totals[s * ${threads} + group * ${lanes}];
% else:
    BARRIER();
% for first in range(0, squared, together):
% for s in range(first, first + together):
    shared[${(s - first) * threads} + THREAD] = total[${s // width}][${s % width}];
% endfor
    add_lanes(shared, lane, ${together});
    for (int s = lane; s < ${together}; s += ${lanes})
        block_sums[(group * ${squared} + ${first} + s) * BLOCKS_Y] = shared[s * ${threads} + group * ${lanes}];
    BARRIER();
% endfor
% endif
}

// Adds the blocks' sums of one entry of a set's matrix and of its mirror image.
KERNEL(${lanes}) scatter_total(GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial, index_t blocks)
{
    const index_t set = BLOCK_X / ${(dim + 1) * (dim + 2) // 2};
    int i = 0, j = (int)(BLOCK_X % ${(dim + 1) * (dim + 2) // 2});
    while (j > i)
        j -= ++i;
% if several:
    const int panel = i / ${layout.columns}, other = j / ${layout.columns};
    const int place = (panel * (panel + 1) / 2 + other) * ${layout.pairs} + i % ${layout.columns} / ${width} * ${tiles} + j % ${layout.columns} / ${width};
% else:
    const int left = i / ${width}, right = j / ${width}, place = left * (left + 1) / 2 + right;
% endif
    partial += ((set * ${panel_pairs * layout.pairs} + place) * ${squared} + i % ${width} * ${width} + j % ${width}) * blocks;
    SHARED_ARRAY(double, sums, ${lanes});
    double total = 0;
    for (index_t b = THREAD; b < blocks; b += ${lanes})
        total += partial[b];
    sums[THREAD] = total;
    for (int width = ${lanes // 2}; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            sums[THREAD] += sums[THREAD + width];
    }
    if (THREAD == 0) {
        out += out_offset + set * ${(dim + 1) ** 2};
        out[i * (DIM + 1) + j] = sums[0];
        out[j * (DIM + 1) + i] = sums[0];
    }
}
