## Triangles of up to ${size} rows, one block each, in shared memory: the Cholesky factor of a matrix, and solutions with a triangle.
<%
    threads, lanes, size = layout.threads, layout.lanes, layout.size
    columns, width, together = layout.columns, layout.width, layout.threads // layout.columns
    padded, padded_columns = size + 1, columns + 1
%>\
#define SIZE ${size}
#define PADDED ${padded}
#define PADDED_COLUMNS ${padded_columns}
% if kind == "potrf":

// The lower triangle of a matrix of n rows becomes its Cholesky factor. info: 0, or the first leading minor, counted from `first` + 1,
// that is not positive definite. The factor is kept without its square roots, as lower = factor * diag(factor), so that a
// step of the elimination needs one barrier only.
KERNEL(${threads}) linalg_potrf(
    GLOBAL real *RESTRICT a, index_t a_offset, index_t a_batch, index_t a_row, index_t a_column,
    GLOBAL int *RESTRICT info, int n, int first)
{
    const int me = (int)THREAD, my_row = me / ${lanes}, my_column = me % ${lanes};
    a += a_offset + BLOCK_X * a_batch;
    DYNAMIC_SHARED_ARRAY(real, lower, SIZE * PADDED);
    for (int place = me; place < n * n; place += ${threads}) {
        const int i = place / n, j = place % n;
        if (j <= i)
            lower[i * PADDED + j] = a[i * a_row + j * a_column];
    }
    int minor = 0;
    for (int j = 0; j < n; j++) {
        BARRIER();
        const real pivot = lower[j * (PADDED + 1)], scale = 1 / pivot;
        if (minor == 0 && !(pivot > 0))
            minor = first + j + 1;
        for (int i = j + 1 + my_row; i < n; i += ${threads // lanes}) {
            const real ratio = lower[i * PADDED + j] * scale;
            for (int m = j + 1 + my_column; m <= i; m += ${lanes})
                lower[i * PADDED + m] -= ratio * lower[m * PADDED + j];
        }
    }
    BARRIER();
    for (int place = me; place < n * n; place += ${threads}) {
        const int i = place / n, j = place % n;
        if (j <= i)
            a[i * a_row + j * a_column] = lower[i * PADDED + j] / sqrt(lower[j * (PADDED + 1)]);
    }
    if (me == 0 && (first == 0 || (minor && info[BLOCK_X] == 0)))
        info[BLOCK_X] = minor;
}
% else:

// ${"b = l^-1 b for lower triangles l." if kind == "trsm" else "The inverses of the triangles on the diagonal of b, in their place."}
// Rows go by ${width}s: threads solve for a column's ${width} numbers in registers, then take them from the rows below.
KERNEL(${threads}) linalg_${kind}(
    GLOBAL real *RESTRICT b, index_t b_offset, index_t b_batch, index_t b_row, index_t b_column,
% if kind == "trsm":
    GLOBAL const real *RESTRICT l, index_t l_offset, index_t l_batch, index_t l_row, index_t l_column, int n, index_t n_columns,
% else:
    index_t n_rows,
% endif
    index_t blocks)
{
    const int me = (int)THREAD, my_column = me % ${columns}, group = me / ${columns};
    const index_t matrix = BLOCK_X / blocks, block = BLOCK_X % blocks;
    b += b_offset + matrix * b_batch;
% if kind == "trsm":
    l += l_offset + matrix * l_batch;
% else:
    b += block * SIZE * (b_row + b_column);
    const int n = (int)MIN(n_rows - block * SIZE, (index_t)SIZE), n_columns = n;
% endif
    // Neighbouring threads access what lies side by side in memory, whichever way round a matrix is.
    const bool b_by_rows = b_column == 1 || b_column == -1;
    const bool l_by_rows = ${"l_column == 1 || l_column == -1" if kind == "trsm" else "b_by_rows"};
    DYNAMIC_SHARED_ARRAY(real, shared, SIZE * (PADDED + PADDED_COLUMNS));
    SHARED real *const triangle = shared, *const x = shared + SIZE * PADDED;
    for (int place = me; place < SIZE * SIZE; place += ${threads}) {
        const int i = l_by_rows ? place / SIZE : place % SIZE, j = l_by_rows ? place % SIZE : place / SIZE;
        real value = i == j;  // beyond the triangle, too
        if (j <= i && i < n)
            value = ${"l[i * l_row + j * l_column]" if kind == "trsm" else "b[i * b_row + j * b_column]"};
        triangle[i * PADDED + j] = value;
    }
% if kind == "trsm":
    for (index_t first = block * ${columns}; first < n_columns; first += blocks * ${columns}) {
% else:
    for (index_t first = 0; first < n_columns; first += ${columns}) {
% endif
        ${"BARRIER_GLOBAL" if kind == "trtri" else "BARRIER"}();  // the triangle has been read, and what was solved before, written
        for (int place = me; place < SIZE * ${columns}; place += ${threads}) {
            const int i = b_by_rows ? place / ${columns} : place % SIZE, j = b_by_rows ? place % ${columns} : place / SIZE;
% if kind == "trsm":
            x[i * PADDED_COLUMNS + j] = i < n && first + j < n_columns ? b[i * b_row + (first + j) * b_column] : 0;
% else:
            x[i * PADDED_COLUMNS + j] = i == first + j;
% endif
        }
        for (int row = 0; row < n; row += ${width}) {
            BARRIER();
            real v[${width}];
            SHARED const real *corner = triangle + row * (PADDED + 1);
            UNROLL for (int i = 0; i < ${width}; i++)
                v[i] = x[(row + i) * PADDED_COLUMNS + my_column];
            UNROLL for (int j = 0; j < ${width}; j++) {
                v[j] /= corner[j * (PADDED + 1)];
                UNROLL for (int i = j + 1; i < ${width}; i++)
                    v[i] -= corner[i * PADDED + j] * v[j];
            }
            BARRIER();  // all groups of threads have read the column, and solved it alike
            if (group == 0)
                UNROLL for (int i = 0; i < ${width}; i++)
                    x[(row + i) * PADDED_COLUMNS + my_column] = v[i];
            for (int i = row + ${width} + group; i < n; i += ${together}) {
                real sum = x[i * PADDED_COLUMNS + my_column];
                UNROLL for (int j = 0; j < ${width}; j++)
                    sum -= triangle[i * PADDED + row + j] * v[j];
                x[i * PADDED_COLUMNS + my_column] = sum;
            }
        }
        BARRIER();
        for (int place = me; place < SIZE * ${columns}; place += ${threads}) {
            const int i = b_by_rows ? place / ${columns} : place % SIZE, j = b_by_rows ? place % ${columns} : place / SIZE;
            if (i < n && first + j < ${"n_columns" if kind == "trsm" else "i + 1"})
                b[i * b_row + (first + j) * b_column] = x[i * PADDED_COLUMNS + j];
        }
    }
}
% endif
