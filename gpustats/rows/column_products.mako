## Products of the columns of X, (N, k), with one another and weights, and with a vector: a GPU's kernels.
<%
    def place(row, column):
        return f"({column}) * n_rows + {row}" if by_columns else f"({row}) * {columns} + {column}"

    across = columns // 4 + 1
    padded = 4 * across
    tiles = across * (across + 1) // 2
    squares = [(i, j) for i in range(4) for j in range(4)]
    parts = max(threads // (columns + 1), 1)
%>\
// out[block][tile][4][4]: [X 1]' diag(weights) [X 1] over the block's rows, of which a thread has a tile on or below the diagonal.
KERNEL(${threads}) gram(
    GLOBAL double *RESTRICT out, GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT weights,
    index_t weights_start, index_t n_rows)
{
    SHARED_ARRAY(real, rows, ${rows * padded});
    SHARED_ARRAY(real, own, ${rows});
    X += X_start;
    weights += weights_start;
    const int tile = (int)BLOCK_X * ${threads} + THREAD;
    int down = 0;
    while ((down + 1) * (down + 2) / 2 <= tile)
        down++;
    const int left = 4 * down, right = 4 * (tile - down * (down + 1) / 2);
% for i, j in squares:
    double total${i}${j} = 0;
% endfor
    for (index_t first = BLOCK_Y * ${rows}; first < n_rows; first += BLOCKS_Y * ${rows}) {
        BARRIER();
        for (int e = THREAD; e < ${rows * padded}; e += ${threads}) {
            const int ${f"c = e / {rows}, r = e % {rows}" if by_columns else f"r = e / {padded}, c = e % {padded}"};
            rows[r * ${padded} + c] = c < ${columns} && first + r < n_rows ? X[${place("first + r", "c")}] : c == ${columns};
        }
        for (int r = THREAD; r < ${rows}; r += ${threads})
            own[r] = first + r < n_rows ? weights[first + r] : 0;
        BARRIER();
        if (tile < ${tiles}) {
% for i, j in squares:
            real sum${i}${j} = 0;
% endfor
            for (int r = 0; r < ${rows}; r++) {
% for i in range(4):
                const real a${i} = rows[r * ${padded} + left + ${i}] * own[r], b${i} = rows[r * ${padded} + right + ${i}];
% endfor
% for i, j in squares:
                sum${i}${j} += a${i} * b${j};
% endfor
            }
% for i, j in squares:
            total${i}${j} += sum${i}${j};
% endfor
        }
    }
    if (tile < ${tiles}) {
        out += (BLOCK_Y * ${tiles} + tile) * 16;
% for e, (i, j) in enumerate(squares):
        out[${e}] = total${i}${j};
% endfor
    }
}

// out[block][column]: X' weights over the block's rows, then the sum of the weights; ${parts} threads share a column.
KERNEL(${threads}) times(
    GLOBAL double *RESTRICT out, GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT weights,
    index_t weights_start, index_t n_rows)
{
    SHARED_ARRAY(double, sums, ${threads});
    X += X_start;
    weights += weights_start;
    out += BLOCK_Y * ${columns + 1};
    for (int begin = 0; begin <= ${columns}; begin += ${threads // parts}) {
        const int c = begin + THREAD % ${threads // parts}, part = THREAD / ${threads // parts};
        double total = 0;
        if (part < ${parts} && c <= ${columns})
            for (index_t r = BLOCK_Y * ${parts} + part; r < n_rows; r += BLOCKS_Y * ${parts})
                total += (double)weights[r] * (c < ${columns} ? X[${place('r', 'c')}] : 1);
        sums[THREAD] = total;
        BARRIER();
        if (part == 0 && c <= ${columns}) {
            for (int p = 1; p < ${parts}; p++)
                total += sums[THREAD + p * ${threads // parts}];
            out[c] = total;
        }
        BARRIER();
    }
}
