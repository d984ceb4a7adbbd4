## Products of the columns of X with one another and weights, and with a vector: a CPU's kernels. X is [rows / lanes][k][lanes], or
## [k][rows].
<%
    apart = "n_rows" if by_columns else threads  # how far a column lies from the one before
    row = "X + MIN(n, n_rows - 1)" if by_columns else f"X + g * {columns * threads} + lane"
    last = columns // 4 * 4  # the first of the last four columns, of which one is of ones
    across = columns // 4 + 1
    tiles = across * (across + 1) // 2

    def of(first):
        """Four numbers of a row, from a column on."""
        if first != last:
            return [f"row[({first} + {n}) * {apart}]" for n in range(4)]
        return [f"row[{last + n} * {apart}]" if last + n < columns else str(int(last + n == columns)) for n in range(4)]
    squares = [(i, j) for i in range(4) for j in range(4)]
%>\
<%def name="tile(left, right)">
% for a, b in squares:
                real sum${a}${b} = 0;
% endfor
                for (index_t g = first; g < end; g++) {
                    const index_t n = g * ${threads} + lane;
                    const real own = n < n_rows ? weights[n] : 0;
                    GLOBAL const real *const row = ${row};
% for n in range(4):
                    const real a${n} = ${of(left)[n]} * own, b${n} = ${of(right)[n]};
% endfor
% for a, b in squares:
                    sum${a}${b} += a${a} * b${b};
% endfor
                }
% for e, (a, b) in enumerate(squares):
                tile[${e * threads}] += sum${a}${b};
% endfor
                tile += ${16 * threads};
</%def>\
// out[block][tile][4][4][lane]: [X 1]' diag(weights) [X 1] over the block's rows, by tiles on or below the diagonal.
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
        for (int i = 0; i < ${last}; i += 4)
            for (int j = 0; j <= i; j += 4) {
${tile("i", "j")}\
            }
        for (int j = 0; j < ${last}; j += 4) {
${tile(last, "j")}\
        }
        {
${tile(last, last)}\
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
