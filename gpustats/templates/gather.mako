## The gather shape: a copy in C order of an array with any strides, converted to `real`.
KERNEL(${threads}) gather(
    GLOBAL real *RESTRICT out, GLOBAL const ${source_type} *RESTRICT source, index_t offset, index_t n${"".join(f", index_t size{i}, index_t stride{i}" for i in range(ndim))})
{
    for (index_t e = BLOCK_X * ${threads} + THREAD; e < n; e += BLOCKS_X * ${threads}) {
        index_t rest = e, place = offset;
% for i in reversed(range(ndim)):
        place += rest % size${i} * stride${i};
        rest /= size${i};
% endfor
        out[e] = (real)source[place];
    }
}
