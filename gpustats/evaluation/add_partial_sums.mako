<%namespace name="reduce" file="/kernels/reduce.mako"/>
${reduce.functions(layout, dialect, 1, together)}\
${reduce.add_blocks(layout, 1, together)}\
// OpenCL 1.2 orders no memory between work-groups of one launch: the blocks' sums are added by a launch of their own. A block
// adds ${together} of the n sums, whichever set and result they belong to.
KERNEL(${layout.threads}) add_partial_sums(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial, index_t n, index_t blocks)
{
    SHARED_ARRAY(double, sums, ${together * layout.threads});
    const index_t first = BLOCK_X * ${together};
    add_blocks(out + out_offset, partial, first, (int)MIN(n - first, (index_t)${together}), blocks, sums);
}
