## Numbers of each step, as sequences lie side by side, into the order in which they came.
// out[set][m]: the number of the set at places[m].
KERNEL(${threads}) in_order(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t length, index_t n_sets,
    GLOBAL const real *RESTRICT steps, index_t steps_offset, index_t steps_stride,
    GLOBAL const int *RESTRICT places, index_t places_offset
)
{
    const index_t m = BLOCK_X * ${threads} + THREAD;
    if (m < length) {
        const index_t place = steps_offset + places[places_offset + m];
        for (index_t k = BLOCK_Y; k < n_sets; k += BLOCKS_Y)
            out[out_offset + k * length + m] = steps[k * steps_stride + place];
    }
}
