## Passes over a matrix or a batch: copies, transposes, triangles, and what is wrong with one. A matrix is given as its array,
## the offset of its first number, the numbers from one matrix of the batch to the next, and those from row to row.
<% threads, tile = layout.threads, layout.tile %>\
#define TILE ${tile}
#define PADDED ${tile + 1}
#define ROWS_AT_ONCE ${threads // tile}

// Number (i, j) of a source\
% if transposed:
, which is stored as its transpose
#define AT(i, j) ((j) * source_stride + (i))
% else:

#define AT(i, j) ((i) * source_stride + (j))
% endif

// Loads the numbers that the matrix has of a tile, so that neighbouring threads read neighbouring addresses.
DEVICE void load_tile(
    SHARED real *tile, GLOBAL const real *source, index_t source_stride, index_t first_row, index_t first_column, index_t rows,
    index_t columns)
{
    const index_t lane = THREAD % TILE;
    for (index_t r = THREAD / TILE; r < TILE; r += ROWS_AT_ONCE) {
% if transposed:
        const index_t i = first_row + lane, j = first_column + r;
        if (i < rows && j < columns)
            tile[lane * PADDED + r] = source[AT(i, j)];
% else:
        const index_t i = first_row + r, j = first_column + lane;
        if (i < rows && j < columns)
            tile[r * PADDED + lane] = source[AT(i, j)];
% endif
    }
}

// The tile on or below the diagonal that is the p-th of (0, 0), (1, 0), (1, 1), (2, 0), ...
DEVICE index_t tile_row(index_t p)
{
    index_t row = (index_t)sqrt(2 * (float)p);
    while (row * (row + 1) / 2 > p)
        row--;
    while ((row + 1) * (row + 2) / 2 <= p)
        row++;
    return row;
}

// The largest of what the threads of a block have found.
DEVICE void note(GLOBAL int *found, SHARED int *codes, int code)
{
    codes[THREAD] = code;
    BARRIER();
    for (int width = ${threads // 2}; width > 0; width /= 2) {
        if (THREAD < width && codes[THREAD + width] > codes[THREAD])
            codes[THREAD] = codes[THREAD + width];
        BARRIER();
    }
    if (THREAD == 0)
        *found = codes[0];
}

KERNEL(${threads}) copy(
    GLOBAL const real *RESTRICT source, index_t source_offset, index_t source_batch_stride, index_t source_stride,
    GLOBAL real *RESTRICT target, index_t target_offset, index_t target_batch_stride, index_t target_stride,
    index_t rows, index_t columns)
{
    SHARED_ARRAY(real, tile, TILE * PADDED);
    const index_t across = (columns + TILE - 1) / TILE, tiles = (rows + TILE - 1) / TILE * across;
    const index_t matrix = BLOCK_X / tiles, first_row = BLOCK_X % tiles / across * TILE;
    const index_t first_column = BLOCK_X % tiles % across * TILE, j = first_column + THREAD % TILE;
    source += source_offset + matrix * source_batch_stride;
    target += target_offset + matrix * target_batch_stride;
    load_tile(tile, source, source_stride, first_row, first_column, rows, columns);
    BARRIER();
    for (index_t r = THREAD / TILE; r < TILE && first_row + r < rows; r += ROWS_AT_ONCE)
        if (j < columns)
            target[(first_row + r) * target_stride + j] = tile[r * PADDED + THREAD % TILE];
}

// A block has a tile on or below the diagonal and its mirror image.
KERNEL(${threads}) lower(
    GLOBAL const real *source, index_t source_offset, index_t source_batch_stride, index_t source_stride,
    GLOBAL real *target, index_t target_offset, index_t target_batch_stride, index_t target_stride,
    index_t n, GLOBAL int *RESTRICT found, index_t found_offset)
{
    SHARED_ARRAY(real, tile, TILE * PADDED);
    const index_t tiles = (n + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
    const index_t matrix = BLOCK_X / pairs, down = tile_row(BLOCK_X % pairs);
    const index_t first_row = down * TILE, first_column = (BLOCK_X % pairs - down * (down + 1) / 2) * TILE;
    const index_t lane = THREAD % TILE;
    source += source_offset + matrix * source_batch_stride;
    target += target_offset + matrix * target_batch_stride;
    load_tile(tile, source, source_stride, first_row, first_column, n, n);
% if check or upper == "mean":
    SHARED_ARRAY(real, above, TILE * PADDED);
    load_tile(above, source, source_stride, first_column, first_row, n, n);
% endif
    BARRIER();
% if check:
    SHARED_ARRAY(int, codes, ${threads});
    int code = 0;
    for (index_t r = THREAD / TILE; r < TILE; r += ROWS_AT_ONCE) {
        const index_t i = first_row + r, j = first_column + lane;
        if (i < n && j < n) {
            const real a = tile[r * PADDED + lane], b = above[lane * PADDED + r];
            if (!(a - a == 0 && b - b == 0))
                code = ${infinite};
            else if (a != b && code == 0) {
                const real scale = fabs(a) + sqrt(fabs(source[AT(i, i)])) * sqrt(fabs(source[AT(j, j)]));
                if (fabs(a - b) > REAL(${tolerance}) * scale)
                    code = ${asymmetric};
            }
        }
    }
    note(found + found_offset + 1 + BLOCK_X, codes, code);
% endif
<%
    mean = "(tile[{0}] + above[{1}]) / 2"
    below = mean.format("r * PADDED + lane", "lane * PADDED + r") if upper == "mean" else "tile[r * PADDED + lane]"
    other = {"zero": "0", "mean": mean.format("lane * PADDED + r", "r * PADDED + lane")}.get(upper, "tile[lane * PADDED + r]")
%>\
    for (index_t r = THREAD / TILE; r < TILE; r += ROWS_AT_ONCE) {
        const index_t i = first_row + r, j = first_column + lane;
        if (i < n && j <= i)
            target[i * target_stride + j] = ${below};
% if upper != "keep":
        const index_t row = first_column + r, column = first_row + lane;
        if (column < n && column > row)
            target[row * target_stride + column] = ${other};
% endif
    }
}

KERNEL(${threads}) examine(
    GLOBAL const real *RESTRICT source, index_t source_offset, index_t source_batch_stride, index_t source_stride, index_t n,
    GLOBAL int *RESTRICT found, index_t found_offset)
{
    SHARED_ARRAY(real, tile, TILE * PADDED);
    SHARED_ARRAY(int, codes, ${threads});
    const index_t tiles = (n + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
    const index_t matrix = BLOCK_X / pairs, down = tile_row(BLOCK_X % pairs);
    const index_t first_row = down * TILE, first_column = (BLOCK_X % pairs - down * (down + 1) / 2) * TILE;
    const index_t j = first_column + THREAD % TILE;
    source += source_offset + matrix * source_batch_stride;
    load_tile(tile, source, source_stride, first_row, first_column, n, n);
    BARRIER();
    int code = 0;
    for (index_t r = THREAD / TILE; r < TILE; r += ROWS_AT_ONCE) {
        const index_t i = first_row + r;
        if (i < n && j <= i) {
            const real a = tile[r * PADDED + THREAD % TILE];
            if (!(a - a == 0))
                code = ${infinite};
            else if (i == j && a == 0 && code == 0)
                code = ${zero_on_diagonal};
        }
    }
    note(found + found_offset + 1 + BLOCK_X, codes, code);
}

// The largest of n numbers, into the place before them.
KERNEL(${threads}) worst(GLOBAL int *found, index_t found_offset, index_t n)
{
    SHARED_ARRAY(int, codes, ${threads});
    found += found_offset;
    int code = 0;
    for (index_t i = THREAD; i < n; i += ${threads})
        if (found[1 + i] > code)
            code = found[1 + i];
    note(found, codes, code);
}

KERNEL(${threads}) identity(
    GLOBAL real *RESTRICT target, index_t target_offset, index_t target_batch_stride, index_t target_stride, index_t n,
    index_t blocks)
{
    const index_t place = BLOCK_X % blocks * ${threads} + THREAD, i = place / n, j = place % n;
    if (place < n * n)
        target[target_offset + BLOCK_X / blocks * target_batch_stride + i * target_stride + j] = i == j;
}

KERNEL(${threads}) log_determinant(
    GLOBAL const real *RESTRICT source, index_t source_offset, index_t source_batch_stride, index_t source_stride, index_t n,
    GLOBAL double *RESTRICT out, index_t out_offset)
{
    SHARED_ARRAY(double, sums, ${threads});
    source += source_offset + BLOCK_X * source_batch_stride;
    double sum = 0;
    for (index_t i = THREAD; i < n; i += ${threads})
        sum += log((double)source[i * (source_stride + 1)]);
    sums[THREAD] = sum;
    BARRIER();
    for (int width = ${threads // 2}; width > 0; width /= 2) {
        if (THREAD < width)
            sums[THREAD] += sums[THREAD + width];
        BARRIER();
    }
    if (THREAD == 0)
        out[out_offset + BLOCK_X] = 2 * sums[0];
}
