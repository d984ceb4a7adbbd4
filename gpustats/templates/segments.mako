## Sums of the rows of a matrix by group: the rows of each group are listed, in segments of some length.
// partial[set][segment][column]: a block adds the rows of a segment, in an order that is always the same.
KERNEL(${threads}) add_segments(
    GLOBAL double *RESTRICT partial, GLOBAL const real *RESTRICT rows, index_t rows_offset, index_t n_rows,
    GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT starts, index_t n_segments, int columns)
{
    SHARED_ARRAY(double, sums, ${threads});
    rows += rows_offset + BLOCK_Y * n_rows * columns;
    const int begin = starts[BLOCK_X], end = starts[BLOCK_X + 1];
    for (int c = 0; c < columns; c++) {
        double total = 0;
        for (index_t i = begin + THREAD; i < end; i += ${threads})
            total += rows[(index_t)order[i] * columns + c];
        sums[THREAD] = total;
        for (int span = ${threads // 2}; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                sums[THREAD] += sums[THREAD + span];
        }
        if (THREAD == 0)
            partial[(BLOCK_Y * n_segments + BLOCK_X) * columns + c] = sums[0];
        BARRIER();
    }
}

// out[set][group][column]: the segments of a group.
KERNEL(${threads}) add_groups(
    GLOBAL double *RESTRICT out, GLOBAL const double *RESTRICT partial, GLOBAL const int *RESTRICT first_segments,
    index_t n_segments, index_t n_groups, int columns)
{
    const index_t i = BLOCK_X * ${threads} + THREAD, group = i / columns, c = i % columns;
    if (group >= n_groups)
        return;
    double total = 0;
    for (index_t s = first_segments[group]; s < first_segments[group + 1]; s++)
        total += partial[(BLOCK_Y * n_segments + s) * columns + c];
    out[(BLOCK_Y * n_groups + group) * columns + c] = total;
}
