## Deterministic sums over threads and blocks, for every shape that sums: `n_sums` sums for each set, of which a block adds
## `together` at a time.
<%def name="functions(layout, dialect, n_sums, together)">\
% if dialect == "cuda" and layout.threads % 32 == 0:
${add_in_warps(layout, together)}\
% else:
// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = ${layout.threads // 2}; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < ${together}; s++)
                sums[s * ${layout.threads} + THREAD] += sums[s * ${layout.threads} + THREAD + width];
    }
    BARRIER();
}
% endif

% if dialect == "cuda":
${add_blocks(layout, n_sums, together)}\
% endif
</%def>
## Of each sum, lanes that differ in a bit add each other's numbers, so that all have the tree's. As long as a lane has several
## sums, it keeps half of them and gives the other half away: 16 sums take 16 exchanges and not 80.
<%def name="add_in_warps(layout, together)">\
// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s: the lanes of each warp as a tree, then the warps
// in their order.
DEVICE void add_threads(SHARED double *sums)
{
    BARRIER();
% for first in range(0, together, 16):
<% here = min(together - first, 16); held = 1 << (here - 1).bit_length() %>\
    {
        double own[${held}];
        UNROLL for (int s = 0; s < ${held}; s++)
            own[s] = s < ${here} ? sums[(${first} + s) * ${layout.threads} + THREAD] : 0;
% for bit in (16, 8, 4, 2, 1):
<% half = held * bit // 32 %>\
% if half:
        UNROLL for (int s = 0; s < ${half}; s++) {
            const double given = THREAD & ${bit} ? own[s] : own[s + ${half}], kept = THREAD & ${bit} ? own[s + ${half}] : own[s];
            own[s] = kept + __shfl_xor_sync(0xFFFFFFFF, given, ${bit});
        }
% else:
        own[0] += __shfl_xor_sync(0xFFFFFFFF, own[0], ${bit});
% endif
% endfor
        const int s = THREAD % 32 / ${32 // held};
        if (THREAD % ${32 // held} == 0 && s < ${here})
            sums[(${first} + s) * ${layout.threads} + THREAD / 32 * 32] = own[0];
    }
% endfor
    BARRIER();
% if layout.threads > 32:
    for (int s = THREAD; s < ${together}; s += ${layout.threads})
        UNROLL for (int first = 32; first < ${layout.threads}; first += 32)
            sums[s * ${layout.threads}] += sums[s * ${layout.threads} + first];
    BARRIER();
% endif
}
</%def>
## The sums of all blocks, where one block adds them; it needs `add_threads` for as many sums `together`.
<%def name="add_blocks(layout, n_sums, together)">\
// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * ${n_sums}; first += ${together}) {
        const int sums_here = (int)MIN(sets_here * ${n_sums} - first, ${together});
        double total[${together}];
        UNROLL for (int s = 0; s < ${together}; s++)
            total[s] = 0;
        for (index_t b = THREAD; b < blocks; b += ${layout.threads})  // all loads of a turn at once
            UNROLL for (int s = 0; s < ${together}; s++)
                if (s < sums_here)
                    total[s] += partial[(first_set * ${n_sums} + first + s) * blocks + b];
        UNROLL for (int s = 0; s < ${together}; s++)
            sums[s * ${layout.threads} + THREAD] = total[s];
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += ${layout.threads})
            out[first_set * ${n_sums} + first + s] = sums[s * ${layout.threads}];
        BARRIER();
    }
}

</%def>
## `total`: each thread's sums where they are in registers; else they are in shared memory, all of them together.
<%def name="finish(layout, dialect, n_sums, together, total=None)">\
GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * ${n_sums} : partial + first_set * ${n_sums} * BLOCKS_Y + BLOCK_Y;
% for first in range(0, layout.sets * n_sums, together):
% if total:
    UNROLL for (int s = 0; s < ${min(together, layout.sets * n_sums - first)}; s++)
        sums[s * ${layout.threads} + THREAD] = ${total}[${f"{first} + " if first else ""}s];
% endif
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * ${n_sums} - ${first}, ${together}); s += ${layout.threads})
        block_sums[${f"({first} + s)" if first else "s"} * BLOCKS_Y] = sums[s * ${layout.threads}];
% if first + together < layout.sets * n_sums:
    BARRIER();
% endif
% endfor
${across(dialect)}\
</%def>
## What follows where each block has left its sums: the last of those that share sets adds them all.
<%def name="across(dialect)">\
% if dialect == "cuda":
    if (BLOCKS_Y == 1)
        return;
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
