## Sums of products by group. The entries of a group lie one after another, in pieces of limited length; a block takes a tile: some
## pieces with about as many entries in all. So neither long nor short groups leave threads idle.
<%
    of_many = sets > 1
%>\
% if of_many:
// Numbers of ${sets} sets side by side: out[group of sets][place][set], for gathers of whole lines.
KERNEL(${threads}) interleave(
    GLOBAL ${source} *RESTRICT out, index_t n_places, index_t n_sets,
    GLOBAL const ${source} *RESTRICT numbers, index_t numbers_offset, index_t numbers_stride, index_t first, index_t each)
{
    const index_t place = BLOCK_X * ${threads} + THREAD, n_groups = (n_sets + ${sets - 1}) / ${sets};
    if (place < n_places)
        for (index_t group = BLOCK_Y; group < n_groups; group += BLOCKS_Y)
            UNROLL for (int s = 0; s < ${sets}; s++) {
                const index_t set = group * ${sets} + s;
                out[(group * n_places + place) * ${sets} + s] =
                    set < n_sets ? numbers[numbers_offset + set * numbers_stride + first + place * each] : 0;
            }
}

% endif
// out[set][slot of a piece]: the sum of ${"values times " if values else ""}numbers over the entries of the piece. The threads of a block first have the products of a tile,
// whatever pieces they are of, then a few of them add those of each piece; the order of sums is always the same.
KERNEL(${threads}) add_tiles(
    GLOBAL ${result} *RESTRICT out, index_t out_offset, index_t out_stride, index_t n_sets,
    GLOBAL const ${source} *RESTRICT numbers, index_t numbers_offset, index_t numbers_stride, index_t first, index_t each,
% if indices:
    GLOBAL const int *RESTRICT indices, index_t indices_offset,
% endif
% if values:
    GLOBAL const real *RESTRICT values, index_t values_offset,
% endif
% if slots:
    GLOBAL const int *RESTRICT slots, index_t slots_offset,
% endif
    GLOBAL const int *RESTRICT begins, index_t begins_offset, GLOBAL const int *RESTRICT tiles, index_t tiles_offset)
{
    SHARED_ARRAY(double, products, ${2 * tile * sets});
% if most_lanes > 1:
    SHARED_ARRAY(double, sums, ${threads});
% endif
    begins += begins_offset;
    tiles += tiles_offset;
    const index_t piece = tiles[BLOCK_X];
    const int n_pieces = (int)(tiles[BLOCK_X + 1] - piece), n_items = n_pieces * ${sets};
    const index_t begin = begins[piece];
    const int n_products = (int)(begins[piece + n_pieces] - begin) * ${sets};
% if most_lanes > 1:
    int lanes = 1;  // threads that share a piece, whatever the sets
    while (lanes < ${most_lanes} && 2 * lanes * n_pieces <= ${threads})
        lanes *= 2;
    const int lane = THREAD % lanes;
% else:
    const int lanes = 1, lane = 0;
% endif
    for (index_t group = BLOCK_Y; group * ${sets} < n_sets; group += BLOCKS_Y) {
        GLOBAL const ${source} *own = numbers + numbers_offset + first + group * numbers_stride;
        UNROLL_BY_4 for (int i = (int)THREAD; i < n_products; i += ${threads}) {
            const index_t entry = begin + i${f" / {sets}" if of_many else ""};
            const index_t place = ${"indices[indices_offset + entry]" if indices else "entry"};
            products[i] = ${"(double)values[values_offset + entry] * " if values else ""}own[${f"place * {sets} + i % {sets}" if of_many else "place * each"}];
        }
        BARRIER();
        for (int base = 0; base < n_items; base += ${threads} / lanes) {
            const int item = base + (int)THREAD / lanes, at = ${f"item / {sets}" if of_many else "item"};
            double total = 0;
            if (item < n_items) {
                const int last = (int)(begins[piece + at + 1] - begin);
                for (int e = (int)(begins[piece + at] - begin) + lane; e < last; e += lanes)
                    total += products[${f"e * {sets} + item % {sets}" if of_many else "e"}];
            }
% if most_lanes > 1:
            if (lanes > 1) {
                sums[THREAD] = total;
                for (int span = lanes / 2; span > 0; span /= 2) {
                    BARRIER();
                    if (lane < span)
                        sums[THREAD] += sums[THREAD + span];
                }
                total = sums[THREAD];
                BARRIER();
            }
% endif
            const index_t set = group${f" * {sets} + item % {sets}" if of_many else ""};
            if (lane == 0 && item < n_items${" && set < n_sets" if of_many else ""})
                out[out_offset + set * out_stride + ${"slots[slots_offset + piece + at]" if slots else "piece + at"}] = total;
        }
        BARRIER();
    }
}
