## Sums of the rows of a matrix by group: the rows of each group are listed, in segments of some length.
// out[set][segment][column]: ${lanes} thread${"s add" if lanes > 1 else " adds"} the rows of a segment, in an order that is always the same.
KERNEL(${threads}) add_segments(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT rows, index_t rows_offset, index_t n_rows,
    GLOBAL const int *RESTRICT order, index_t order_offset, GLOBAL const int *RESTRICT starts, index_t starts_offset,
    index_t n_segments, int columns)
{
    order += order_offset;
    starts += starts_offset;
    const index_t segment = BLOCK_X * ${threads // lanes} + THREAD / ${lanes}, lane = THREAD % ${lanes};
    const index_t begin = segment < n_segments ? starts[segment] : 0, end = segment < n_segments ? starts[segment + 1] : 0;
    rows += rows_offset + BLOCK_Y * n_rows * columns;
    out += out_offset + (BLOCK_Y * n_segments + segment) * columns;
% if lanes > 1:
    SHARED_ARRAY(double, sums, ${threads});
% endif
    for (int c = 0; c < columns; c++) {
        double total = 0;
        for (index_t i = begin + lane; i < end; i += ${lanes})
            total += rows[(index_t)order[i] * columns + c];
% if lanes > 1:
        sums[THREAD] = total;
        for (int span = ${lanes // 2}; span > 0; span /= 2) {
            BARRIER();
            if (lane < span)
                sums[THREAD] += sums[THREAD + span];
        }
        if (lane == 0 && segment < n_segments)
            out[c] = sums[THREAD];
        BARRIER();
% else:
        if (segment < n_segments)
            out[c] = total;
% endif
    }
}

// out[set][group][column]: ${lanes_of_groups} thread${"s add" if lanes_of_groups > 1 else " adds"} the segments of a group.
KERNEL(${threads}) add_groups(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial,
    GLOBAL const int *RESTRICT first_segments, index_t first_offset, index_t n_segments, index_t n_groups, int columns)
{
    first_segments += first_offset;
    const index_t i = BLOCK_X * ${threads // lanes_of_groups} + THREAD / ${lanes_of_groups}, lane = THREAD % ${lanes_of_groups};
    const index_t group = i / columns, c = i % columns, here = group < n_groups;
    const index_t begin = here ? first_segments[group] : 0, end = here ? first_segments[group + 1] : 0;
    double total = 0;
    for (index_t s = begin + lane; s < end; s += ${lanes_of_groups})
        total += partial[(BLOCK_Y * n_segments + s) * columns + c];
% if lanes_of_groups > 1:
    SHARED_ARRAY(double, sums, ${threads});
    sums[THREAD] = total;
    for (int span = ${lanes_of_groups // 2}; span > 0; span /= 2) {
        BARRIER();
        if (lane < span)
            sums[THREAD] += sums[THREAD + span];
    }
    total = sums[THREAD];
% endif
    if (here && lane == 0)
        out[out_offset + (BLOCK_Y * n_groups + group) * columns + c] = total;
}
