// out[i]: the sum of the terms that are point i's, in the order of the points among whose members it is.
KERNEL(${threads}) vecchia_by_row(
    GLOBAL real *RESTRICT out, index_t out_start, GLOBAL const real *RESTRICT terms, GLOBAL const index_t *RESTRICT places,
    index_t places_start, GLOBAL const index_t *RESTRICT ends, index_t ends_start, index_t n)
{
    const index_t i = BLOCK_X * ${threads} + THREAD;
    if (i >= n)
        return;
    double sum = 0;
    for (index_t t = i ? ends[ends_start + i - 1] : 0; t < ends[ends_start + i]; t++)
        sum += terms[places[places_start + t]];
    out[out_start + i] = sum;
}
