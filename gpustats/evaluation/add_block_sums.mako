// Adds the blocks' sums up, in the order of the blocks, each of which has left all of its n sums side by side.
KERNEL(${adders}) add_block_sums(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial, index_t n, index_t blocks)
{
    // ${side} neighbouring sums, each by ${adders // side} threads.
    SHARED_ARRAY(double, sums, ${adders});
    const index_t i = BLOCK_X * ${side} + THREAD % ${side};
% if spread > 1:
    double lanes[${spread}];  // of which the upper half is added to the lower one, again and again
    for (int l = 0; l < ${spread}; l++)
        lanes[l] = 0;
    if (i < n)
        for (index_t b = THREAD / ${side}; b < blocks; b += ${adders // side})
            for (int l = 0; l < ${spread}; l++)
                lanes[l] += partial[(b * n + i) * ${spread} + l];
    for (int upper = ${spread // 2}; upper > 0; upper /= 2)
        for (int l = 0; l < upper; l++)
            lanes[l] += lanes[l + upper];
    const double total = lanes[0];
% else:
    double total = 0;
    if (i < n)
        for (index_t b = THREAD / ${side}; b < blocks; b += ${adders // side})
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
