## Sums of products by group, for entries of blocks of groups and of blocks of numbers. Pieces, the entries of a group in a tile, lie
## side by side in slices of ${lanes} lanes, the longest first, so that neighbouring threads read neighbouring entries.
<%
    of_sets, of_all = range(sets), f" * {sets}" if sets > 1 else ""
    together_cuda = f", {together}" if dialect == "cuda" else ""

    def at(place, s):
        """Place of a number of a set among those of all sets, which lie side by side."""
        return f"{place} * {sets} + {s}" if sets > 1 else place

    def is_set(s):
        """Whether there is a set."""
        return f"set + {s} < n_sets"
%>\
// out[set][slot]: the sum of ${"values times " if values else ""}numbers over the entries of the slot. A block has all its sums, and the numbers of a tile, in
// shared memory; a thread adds up a piece, of a sum that no other thread has in this tile. The order of sums is always the same.
KERNEL(${threads}${together_cuda}) add_blocks(
    GLOBAL ${result} *RESTRICT out, index_t out_offset, index_t out_stride, index_t n_sets,
    GLOBAL const real *RESTRICT numbers, index_t numbers_offset, index_t numbers_stride, index_t first, index_t each,
    index_t n_numbers, GLOBAL const unsigned short *RESTRICT indices, index_t indices_offset,
% if values:
    GLOBAL const real *RESTRICT values, index_t values_offset,
% endif
    GLOBAL const unsigned short *RESTRICT lanes, index_t lanes_offset,
    GLOBAL const int *RESTRICT slices, index_t slices_offset, GLOBAL const int *RESTRICT tiles, index_t tiles_offset,
    GLOBAL const int *RESTRICT begins, index_t begins_offset, GLOBAL const int *RESTRICT blocks, index_t blocks_offset,
    GLOBAL const int *RESTRICT firsts, index_t firsts_offset${", GLOBAL const int *RESTRICT slots, index_t slots_offset" if slots else ""})
{
    DYNAMIC_SHARED_ARRAY(double, sums, ${shared // 8});
    SHARED real *here = (SHARED real *)(sums + ${sums * sets});  // numbers of a tile, then a zero, for entries that fill slices up
    indices += indices_offset;
% if values:
    values += values_offset;
% endif
    lanes += lanes_offset;
    slices += slices_offset;
    tiles += tiles_offset;
    begins += begins_offset;
    blocks += blocks_offset;
    firsts += firsts_offset;
    const index_t slot = firsts[BLOCK_X];
    const int n_slots = (int)(firsts[BLOCK_X + 1] - slot), first_tile = blocks[BLOCK_X], last_tile = blocks[BLOCK_X + 1];
    const int lane = THREAD % ${lanes};
    for (index_t group = BLOCK_Y; group${of_all} < n_sets; group += BLOCKS_Y) {
        const index_t set = group${of_all};
        GLOBAL const real *own = numbers + numbers_offset + set * numbers_stride + first;
        for (int i = THREAD; i < n_slots${of_all}; i += ${threads})
            sums[i] = 0;
        for (int tile = first_tile; tile < last_tile; tile++) {
            const index_t begin = begins[tile];
            const int n_here = (int)(n_numbers - begin < ${numbers} ? n_numbers - begin : ${numbers});
            BARRIER();
            UNROLL_BY_4 for (int i = THREAD; i < n_here; i += ${threads}) {
                here[${at("i", 0)}] = own[(begin + i) * each];
% for s in of_sets[1:]:
                here[${at("i", s)}] = ${is_set(s)} ? own[${s} * numbers_stride + (begin + i) * each] : 0;
% endfor
            }
            if (THREAD < ${sets})
                here[${numbers * sets} + THREAD] = 0;
            BARRIER();
            const int end = tiles[tile + 1];
            int slice = tiles[tile] + THREAD / ${lanes};
            int from = slice < end ? slices[slice] : 0, to = slice < end ? slices[slice + 1] : 0;
            while (slice < end) {
                const int next = slice + ${threads // lanes};  // whose place is read while this one is added up
                const int next_from = next < end ? slices[next] : 0, next_to = next < end ? slices[next + 1] : 0;
                const int place = lanes[(index_t)slice * ${lanes} + lane];
                const index_t last = (index_t)to * ${lanes};
                double ${", ".join(f"total{s} = 0" for s in of_sets)};
                UNROLL_BY_4 for (index_t e = (index_t)from * ${lanes} + lane; e < last; e += ${lanes}) {
                    const int i = indices[e];
% if values:
                    const double value = values[e];
% endif
% for s in of_sets:
                    total${s} += ${"value * " if values else ""}here[${at("i", s)}];
% endfor
                }
                if (place != ${none}) {
% for s in of_sets:
                    sums[${at("place", s)}] += total${s};
% endfor
                }
                slice = next;
                from = next_from;
                to = next_to;
            }
        }
        BARRIER();
        for (int i = THREAD; i < n_slots; i += ${threads}) {
            const index_t to = ${"slots[slots_offset + slot + i]" if slots else "slot + i"};
            out[out_offset + set * out_stride + to] = sums[${at("i", 0)}];
% for s in of_sets[1:]:
            if (${is_set(s)})
                out[out_offset + (set + ${s}) * out_stride + to] = sums[${at("i", s)}];
% endfor
        }
        BARRIER();
    }
}
