## Runs of numbers from arrays to others, one for each of ${count} pieces and each set.
KERNEL(${threads}) copy_pieces(
    index_t n_sets\
% for i in range(count):
,
    GLOBAL const real *source${i}, index_t source${i}_start, index_t source${i}_step,
    GLOBAL real *target${i}, index_t target${i}_start, index_t target${i}_step, index_t size${i}\
% endfor
)
{
    const index_t m = BLOCK_X * ${threads} + THREAD;
    for (index_t k = BLOCK_Y; k < n_sets; k += BLOCKS_Y) {
% for i in range(count):
        if (m < size${i})
            target${i}[target${i}_start + k * target${i}_step + m] = source${i}[source${i}_start + k * source${i}_step + m];
% endfor
    }
}
