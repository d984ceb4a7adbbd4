// Adds the blocks' sums up, in the order of the blocks, each of which has left all of its n sums side by side.
KERNEL(${adders}) add_block_sums(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial, index_t n, index_t blocks)
{
    // ${side} neighbouring sums, each by ${adders // side} threads.
    SHARED_ARRAY(double, sums, ${adders});
    const index_t i = BLOCK_X * ${side} + THREAD % ${side};
    double total = 0;
    if (i < n)
        for (index_t b = THREAD / ${side}; b < blocks; b += ${adders // side})
% if spread > 1:
            for (int l = 0; l < ${spread}; l++)
                total += partial[(b * n + i) * ${spread} + l];
% else:
            total += partial[b * n + i];
% endif
    sums[THREAD] = total;
    for (int span = ${adders // 2}; span >= ${side}; span /= 2) {
        BARRIER();
        if (THREAD < span)
            sums[THREAD] += sums[THREAD + span];
    }
    if (THREAD < ${side} && i < n)
        out[out_offset + i] = sums[THREAD];
}
