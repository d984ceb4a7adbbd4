## The gemm shape: c = alpha a b + beta c for a batch of matrices, in tiles of c; where `lower`, the tiles and numbers of c's lower
## triangle only. `a_triangle` and `b_triangle` ("", "lower", "upper") say where an operand is known to be zero: there it is not read.
<%!
    INSIDE = {"": "", "lower": " && column <= row", "upper": " && column >= row"}
%>\
<%
    rows, columns, across, vector = layout.rows, layout.columns, layout.across, layout.vector
    a_each, b_each = layout.tile_rows * layout.depth // layout.threads, layout.tile_columns * layout.depth // layout.threads
%>\
## A thread's share of a tile of an operand: the `line` (row or column of c) and the k of each number, so that neighbouring threads
## read neighbouring numbers.
<%def name="share(extent, by_lines)">\
UNROLL for (int e = 0; e < ${extent * layout.depth // layout.threads}; e++) {
            const int place = (int)THREAD + e * ${layout.threads};
            const int line = ${f"place % {extent}" if by_lines else "place / DEPTH"}, k = ${f"place / {extent}" if by_lines else "place % DEPTH"};\
</%def>\
<%def name="load(inner)">\
${share(layout.tile_rows, a_transposed)}
            const index_t row = first_row + line, column = ${inner} + k;
            const bool inside = row < n_rows && column < end${INSIDE[a_triangle]};
            next_a[e] = inside ? a[${"column * a_stride + row" if a_transposed else "row * a_stride + column"}] : 0;
        }
        ${share(layout.tile_columns, not b_transposed)}
            const index_t row = ${inner} + k, column = first_column + line;
            const bool inside = row < end && column < n_columns${INSIDE[b_triangle]};
            next_b[e] = inside ? b[${"column * b_stride + row" if b_transposed else "row * b_stride + column"}] : 0;
        }\
</%def>\
<%def name="stage(buffer)">\
${share(layout.tile_rows, a_transposed)}
            tiles_a[(${buffer} * DEPTH + k) * PADDED_ROWS + line] = next_a[e];
        }
        ${share(layout.tile_columns, not b_transposed)}
            tiles_b[(${buffer} * DEPTH + k) * PADDED_COLUMNS + line] = next_b[e];
        }\
</%def>\
% if which == "":
#define DEPTH ${layout.depth}
#define TILE_ROWS ${layout.tile_rows}
#define TILE_COLUMNS ${layout.tile_columns}
#define PADDED_ROWS (TILE_ROWS + ${vector})
#define PADDED_COLUMNS (TILE_COLUMNS + ${vector})

// A thread has ${rows} x ${columns} sums in registers. While a block multiplies one pair of tiles in shared memory, it reads the next.
// Where the inner dimension is cut into parts, part BLOCK_Y begins at BLOCK_Y * part and goes to a place of its own.
KERNEL(${layout.threads}) linalg_gemm(
    GLOBAL real *RESTRICT c, index_t c_offset, index_t c_batch, index_t c_row, index_t c_column, index_t c_part,
    GLOBAL const real *RESTRICT a, index_t a_offset, index_t a_batch, index_t a_stride,
    GLOBAL const real *RESTRICT b, index_t b_offset, index_t b_batch, index_t b_stride,
    index_t n_rows, index_t n_columns, index_t inner, index_t part, real alpha, real beta)
{
    const index_t column_tiles = (n_columns + TILE_COLUMNS - 1) / TILE_COLUMNS, row_tiles = (n_rows + TILE_ROWS - 1) / TILE_ROWS;
    const index_t matrix = BLOCK_X / (row_tiles * column_tiles), tile = BLOCK_X % (row_tiles * column_tiles);
    const index_t first_row = tile / column_tiles * TILE_ROWS, first_column = tile % column_tiles * TILE_COLUMNS;
% if lower:
    if (first_column >= first_row + TILE_ROWS)
        return;  // a tile above the diagonal
% endif
    a += a_offset + matrix * a_batch;
    b += b_offset + matrix * b_batch;
    c += c_offset + matrix * c_batch + BLOCK_Y * c_part;
    const int my_column = (int)THREAD % ${across} * ${vector}, my_row = (int)THREAD / ${across} * ${rows};
    index_t begin = BLOCK_Y * part, end = MIN(begin + part, inner);
% if a_triangle == "lower":
    end = MIN(end, first_row + TILE_ROWS);
% elif a_triangle == "upper":
    begin = begin < first_row ? first_row : begin;
% endif
% if b_triangle == "upper":
    end = MIN(end, first_column + TILE_COLUMNS);
% elif b_triangle == "lower":
    begin = begin < first_column ? first_column : begin;
% endif

    DYNAMIC_SHARED_ARRAY(real, tiles_a, 2 * DEPTH * (PADDED_ROWS + PADDED_COLUMNS));  // aligned, for wide loads
    SHARED real *const tiles_b = tiles_a + 2 * DEPTH * PADDED_ROWS;
    real next_a[${a_each}], next_b[${b_each}], total[${rows}][${columns}];
    UNROLL for (int i = 0; i < ${rows}; i++)
        UNROLL for (int j = 0; j < ${columns}; j++)
            total[i][j] = 0;
    {
        ${load("begin")}
        ${stage("0")}
    }
    BARRIER();
    int buffer = 0;
    for (index_t inner_k = begin; inner_k < end; inner_k += DEPTH) {
        ${load('inner_k + DEPTH')}
        SHARED const real *const tile_a = tiles_a + buffer * DEPTH * PADDED_ROWS + my_row;
        SHARED const real *const tile_b = tiles_b + buffer * DEPTH * PADDED_COLUMNS + my_column;
        UNROLL for (int d = 0; d < DEPTH; d++) {
            real u[${rows}], v[${columns}];
            UNROLL for (int i = 0; i < ${rows}; i++)
                u[i] = tile_a[d * PADDED_ROWS + i];
            UNROLL for (int j = 0; j < ${columns}; j++)
                v[j] = tile_b[d * PADDED_COLUMNS + j / ${vector} * ${across * vector} + j % ${vector}];
            UNROLL for (int i = 0; i < ${rows}; i++)
                UNROLL for (int j = 0; j < ${columns}; j++)
                    total[i][j] = fma(u[i], v[j], total[i][j]);
        }
        buffer = 1 - buffer;
        ${stage('buffer')}
        BARRIER();
    }
    UNROLL for (int i = 0; i < ${rows}; i++)
        UNROLL for (int j = 0; j < ${columns}; j++) {
            const index_t row = first_row + my_row + i;
            const index_t column = first_column + my_column + j / ${vector} * ${across * vector} + j % ${vector};
            if (row < n_rows && column < n_columns${" && column <= row" if lower else ""}) {
                const index_t place = row * c_row + column * c_column;
                c[place] = beta == 0 ? alpha * total[i][j] : alpha * total[i][j] + beta * c[place];
            }
        }
}
% elif which == "total":

// Adds what the parts of the inner dimension have given, in their order. One thread a number of c.
KERNEL(${layout.adders}) linalg_gemm_total(
    GLOBAL real *RESTRICT c, index_t c_offset, index_t c_batch, index_t c_row, index_t c_column,
    GLOBAL const real *RESTRICT partial, index_t parts, index_t n_rows, index_t n_columns, index_t batch, real alpha, real beta)
{
    const index_t number = BLOCK_X * ${layout.adders} + THREAD, count = batch * n_rows * n_columns;
    const index_t matrix = number / (n_rows * n_columns), row = number / n_columns % n_rows, column = number % n_columns;
    if (number >= count${" || column > row" if lower else ""})
        return;
    double total = 0;
    for (index_t p = 0; p < parts; p++)
        total += partial[p * count + number];
    c += c_offset + matrix * c_batch + row * c_row + column * c_column;
    *c = beta == 0 ? alpha * (real)total : alpha * (real)total + beta * *c;
}
% else:

// c = alpha a b + beta c for matrices much smaller than a tile. One thread a number of c.
KERNEL(${layout.adders}) linalg_gemm_small(
    GLOBAL real *RESTRICT c, index_t c_offset, index_t c_batch, index_t c_row, index_t c_column,
    GLOBAL const real *RESTRICT a, index_t a_offset, index_t a_batch, index_t a_stride,
    GLOBAL const real *RESTRICT b, index_t b_offset, index_t b_batch, index_t b_stride,
    int n_rows, int n_columns, int inner, index_t batch, real alpha, real beta)
{
    const index_t number = BLOCK_X * ${layout.adders} + THREAD, matrix = number / (n_rows * n_columns);
    if (matrix >= batch)
        return;
    const int within = (int)(number % (n_rows * n_columns)), row = within / n_columns, column = within % n_columns;
    a += a_offset + matrix * a_batch;
    b += b_offset + matrix * b_batch;
    c += c_offset + matrix * c_batch + row * c_row + column * c_column;
    real total = 0;
    for (int k = 0; k < inner; k++)
        total = fma(a[${"k * a_stride + row" if a_transposed else "row * a_stride + k"}], b[${"column * b_stride + k" if b_transposed else "k * b_stride + column"}], total);
    *c = beta == 0 ? alpha * total : alpha * total + beta * *c;
}
% endif
