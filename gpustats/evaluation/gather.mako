## The gather shape: a copy in C order of an array with any strides, converted to another type.
KERNEL(${threads}) gather(
    GLOBAL ${result_type} *RESTRICT out, index_t out_offset, GLOBAL const ${source_type} *RESTRICT source, index_t offset, index_t n${"".join(f", index_t size{i}, index_t stride{i}" for i in range(ndim))})
{
    for (index_t e = BLOCK_X * ${threads} + THREAD; e < n; e += BLOCKS_X * ${threads}) {
        index_t rest = e, place = offset;
% for i in reversed(range(ndim)):
        place += rest % size${i} * stride${i};
        rest /= size${i};
% endfor
        out[out_offset + e] = (${result_type})source[place];
    }
}
