## Terms of rows, turned to lie by row, and summed over the rows of groups.
<%
    lanes = min(threads, side)  # threads that share a line of the tile
    lane, of_line = ("THREAD", "0") if lanes == threads else (f"THREAD % {lanes}", f"(int)THREAD / {lanes}")
%>\
// Terms of (n_draws, n_rows) to (n_rows, n_draws): a block has ${side} of each.
KERNEL(${threads}) by_row(
    GLOBAL real *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT terms, index_t terms_offset,
    index_t n_rows, index_t n_draws
)
{
    SHARED_ARRAY(real, tile, ${side * (side + 1)});
    const index_t row = BLOCK_X * ${side};
    for (index_t draw = BLOCK_Y * ${side}; draw < n_draws; draw += BLOCKS_Y * ${side}) {
        const int rows_here = (int)MIN(n_rows - row, (index_t)${side}), draws_here = (int)MIN(n_draws - draw, (index_t)${side});
        for (int i = ${of_line}; i < draws_here; i += ${threads // lanes})
            for (index_t column = ${lane}; column < rows_here; column += ${lanes})
                tile[i * ${side + 1} + column] = terms[terms_offset + (draw + i) * n_rows + row + column];
        BARRIER();
        for (int i = ${of_line}; i < rows_here; i += ${threads // lanes})
            for (index_t column = ${lane}; column < draws_here; column += ${lanes})
                out[out_offset + (row + i) * n_draws + draw + column] = tile[column * ${side + 1} + i];
        BARRIER();
    }
}

// Adds the terms, (n_rows, n_draws), of each group's rows: sums[group][draw]. Their places are order[starts[group]] and those
// behind it, up to the next start. The first group goes on with the sums `begun`, if it is `continued`.
KERNEL(${threads}) add_groups(
    GLOBAL double *RESTRICT sums, index_t sums_offset, GLOBAL const double *begun, index_t begun_offset, int continued,
    GLOBAL const real *RESTRICT terms, index_t terms_offset, index_t n_draws, GLOBAL const int *RESTRICT starts,
    index_t starts_offset, GLOBAL const int *RESTRICT order, index_t order_offset
)
{
    const int first = starts[starts_offset + BLOCK_X], end = starts[starts_offset + BLOCK_X + 1];
    for (index_t draw = BLOCK_Y * ${threads} + THREAD; draw < n_draws; draw += BLOCKS_Y * ${threads}) {
        double sum = continued && BLOCK_X == 0 ? begun[begun_offset + draw] : 0;
        for (int i = first; i < end; i++)
            sum += terms[terms_offset + order[order_offset + i] * n_draws + draw];
        sums[sums_offset + BLOCK_X * n_draws + draw] = sum;
    }
}
