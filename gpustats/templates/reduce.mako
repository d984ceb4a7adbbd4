## Deterministic sums over threads and blocks, for every shape that sums.
<%def name="functions(layout, dialect)">\
// Adds sums[k * threads + 0 .. threads - 1] into its first place, for every k, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = ${layout.threads // 2}; width > 0; width /= 2) {
        BARRIER();
        for (index_t e = THREAD; e < width * ${layout.sets}; e += ${layout.threads})
            sums[e / width * ${layout.threads} + e % width] += sums[e / width * ${layout.threads} + e % width + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int k = 0; k < ${layout.sets}; k++) {
        double total = 0;
        if (k < sets_here)
            for (index_t b = THREAD; b < blocks; b += ${layout.threads})
                total += partial[(first_set + k) * blocks + b];
        sums[k * ${layout.threads} + THREAD] = total;
    }
    add_threads(sums);
    for (index_t k = THREAD; k < sets_here; k += ${layout.threads})
        out[first_set + k] = sums[k * ${layout.threads}];
}

% if dialect == "opencl":
// OpenCL 1.2 orders no memory between work-groups of one launch: the blocks' sums are added by a launch of their own.
KERNEL(${layout.threads}) add_partial_sums(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial, index_t n_sets, index_t blocks)
{
    SHARED_ARRAY(double, sums, ${layout.sets * layout.threads});
    const index_t first_set = BLOCK_X * ${layout.sets};
    add_blocks(out + out_offset, partial, first_set, (int)MIN(n_sets - first_set, (index_t)${layout.sets}), blocks, sums);
}

% endif
</%def>
<%def name="finish(layout, dialect)">\
add_threads(sums);
    if (BLOCKS_Y == 1) {
        for (index_t k = THREAD; k < sets_here; k += ${layout.threads})
            out[out_offset + first_set + k] = sums[k * ${layout.threads}];
        return;
    }
    for (index_t k = THREAD; k < sets_here; k += ${layout.threads})
        partial[(first_set + k) * BLOCKS_Y + BLOCK_Y] = sums[k * ${layout.threads}];
% if dialect == "cuda":
    __shared__ int last;  // does this block finish last of those that share its sets? Then it adds them all
    __threadfence();
    __syncthreads();
    if (THREAD == 0) {
        last = atomicAdd(&counters[BLOCK_X], 1) == BLOCKS_Y - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        add_blocks(out + out_offset, partial, first_set, sets_here, BLOCKS_Y, sums);
        if (THREAD == 0)
            counters[BLOCK_X] = 0;
    }
% endif
</%def>
