## Elements of a table for all steps of sequences, as these lie in memory.
KERNEL(${threads}) gather_steps(
    GLOBAL real *RESTRICT out, index_t size, GLOBAL const real *RESTRICT table, index_t table_offset, index_t table_stride\
% for axis in range(axes):
,
    GLOBAL const int *RESTRICT index${axis}, index_t index${axis}_offset, int extent${axis}\
% endfor
)
{
    const index_t i = BLOCK_X * ${threads} + THREAD;
    if (i < size) {
        index_t place = 0;
% for axis in range(axes):
        place = place * extent${axis} + index${axis}[index${axis}_offset + i];
% endfor
        out[BLOCK_Y * size + i] = table[table_offset + BLOCK_Y * table_stride + place];
    }
}
