## Derivatives in numbers of the rows of which neighbouring rows share some.
// out[set][m]: the sum over arrays i of derivatives[i][set][m - shift i], where row m - shift i is one.
KERNEL(${threads}) add_shifted(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t length, index_t n_rows\
% for i in range(count):
,
    GLOBAL const real *RESTRICT derivatives${i}, index_t shift${i}\
% endfor
)
{
    const index_t m = BLOCK_X * ${threads} + THREAD, k = BLOCK_Y;
    if (m < length) {
        real total = 0;
% for i in range(count):
        if (m >= shift${i} && m - shift${i} < n_rows)
            total += derivatives${i}[k * n_rows + m - shift${i}];
% endfor
        out[out_offset + k * length + m] = total;
    }
}
