## Products of the columns of X with one another and weights, and with a vector: a CPU's kernels. X is [rows / lanes][k][lanes], or
## [k][rows].
<%
    apart = "n_rows" if by_columns else threads  # how far a column lies from the one before
    row = "X + MIN(n, n_rows - 1)" if by_columns else f"X + g * {columns * threads} + lane"
    across = -(-columns // 4)
    tiles = across * (across + 1) // 2
    squares = [(i, j) for i in range(4) for j in range(4)]
%>\
// out[block][tile][4][4][lane]: X' diag(weights) X over the block's rows, by tiles on or below the diagonal.
KERNEL(${threads}) gram(
    GLOBAL double *RESTRICT out, GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT weights,
    index_t weights_start, index_t n_rows)
{
    const index_t lane = THREAD, groups = (n_rows + ${threads - 1}) / ${threads};
    X += X_start;
    weights += weights_start;
    out += BLOCK_Y * ${tiles * 16 * threads} + lane;
    for (int e = 0; e < ${tiles * 16}; e++)
        out[e * ${threads}] = 0;
    for (index_t first = BLOCK_Y * ${rows}; first < groups; first += BLOCKS_Y * ${rows}) {
        const index_t end = MIN(first + ${rows}, groups);
        GLOBAL double *tile = out;
        for (int i = 0; i < ${columns}; i += 4)
            for (int j = 0; j <= i; j += 4) {
% for n in range(4):
                const index_t left${n} = MIN(i + ${n}, ${columns - 1}) * ${apart}, right${n} = MIN(j + ${n}, ${columns - 1}) * ${apart};
% endfor
% for a, b in squares:
                real sum${a}${b} = 0;
% endfor
                for (index_t g = first; g < end; g++) {
                    const index_t n = g * ${threads} + lane;
                    const real own = n < n_rows ? weights[n] : 0;
                    GLOBAL const real *const row = ${row};
% for n in range(4):
                    const real a${n} = row[left${n}] * own, b${n} = row[right${n}];
% endfor
% for a, b in squares:
                    sum${a}${b} += a${a} * b${b};
% endfor
                }
% for e, (a, b) in enumerate(squares):
                tile[${e * threads}] += sum${a}${b};
% endfor
                tile += ${16 * threads};
            }
    }
}

// out[block][column][lane]: X' weights over the block's rows, then the sum of the weights.
KERNEL(${threads}) times(
    GLOBAL double *RESTRICT out, GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT weights,
    index_t weights_start, index_t n_rows)
{
    const index_t lane = THREAD, groups = (n_rows + ${threads - 1}) / ${threads};
    X += X_start;
    weights += weights_start;
    out += BLOCK_Y * ${(columns + 1) * threads} + lane;
    for (int c = 0; c <= ${columns}; c++)
        out[c * ${threads}] = 0;
    for (index_t g = BLOCK_Y; g < groups; g += BLOCKS_Y) {
        const index_t n = g * ${threads} + lane;
        const real own = n < n_rows ? weights[n] : 0;
        GLOBAL const real *const row = ${row};
        for (int c = 0; c < ${columns}; c++)
            out[c * ${threads}] += own * row[c * ${apart}];
        out[${columns * threads}] += own;
    }
}
