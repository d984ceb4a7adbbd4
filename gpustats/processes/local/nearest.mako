## The local_nearest shape: for each location the nearest of many points, by distances to all of them. A block has several
## locations, so that what it reads of a point serves them all. A location may consist of several references; how far a point is
## from it, is how far the point is from the nearest of these. Where `parts`, these are some of the points, behind `rows_before`,
## and what was found among those before stands in `out`, with its distances in `best`: both are replaced.
<%
    threads, locations, unroll, p = layout.threads, layout.locations, layout.unroll, dim
    copies = layout.copies
    memory = "GLOBAL" if several else "SHARED"
    parts_arguments = ", GLOBAL bits_t *RESTRICT best, index_t best_offset, int rows_before" if parts else ""
%>\
% if dialect == "cuda":
typedef unsigned long long bits_t;
#define BITS(distance) ((bits_t)__double_as_longlong(distance))
#define TAKE(counter) atomicAdd(counter, 1)
#define PLUS_SQUARE(sum, x) __dadd_rn(sum, __dmul_rn(x, x))
% else:
typedef ulong bits_t;
#define BITS(distance) as_ulong(distance)
#define TAKE(counter) atomic_inc(counter)
#pragma OPENCL FP_CONTRACT OFF
#define PLUS_SQUARE(sum, x) ((sum) + (x) * (x))
% endif
typedef unsigned int row_t;
#define DIM ${p}
% if several:
#define LOCATION(q) (all_locations + locations_offset + (first + (q)) * n_references * DIM)
% else:
#define LOCATION(q) (here + (q) * DIM)
% endif
% if parts:
#define ROW(i) ((row_t)rows_before + (row_t)(i))
% else:
#define ROW(i) ((row_t)(i))
% endif
#define LAST_BITS (~(bits_t)0)
#define LAST_ROW (~(row_t)0)
// Points are in the order of their squared distances, whose bits, as those of all numbers that are not negative, are in the order
// of the numbers (nan behind all of them), and of their rows where distances are equal. So no two points are equal.
#define IS_WITHIN(bits, row, last_bits, last_row) ((bits) < (last_bits) || ((bits) == (last_bits) && (row) <= (last_row)))

// The squared distance of point i, of which there are n: a sum in the order of the columns, without the fused operations by which
// compilers would round some of them in another way than others, and than NumPy.
DEVICE bits_t bits_of(${memory} const real *location, int n_references, GLOBAL const real *points, index_t n, index_t i)
{
    real least = NAN;
    for (int r = 0; r < n_references; r++) {
        real distance = 0;
        UNROLL for (int e = 0; e < DIM; e++) {
            const real from = points[e * n + i] - location[r * DIM + e];
            distance = PLUS_SQUARE(distance, from);
        }
        least = distance >= least ? least : distance;
    }
    return BITS(least);
}

DEVICE int is_finite(${memory} const real *location, int n_references)
{
    real zero = 0;
    for (int e = 0; e < n_references * DIM; e++)
        zero += location[e] - location[e];
    return zero == 0;
}

// Which point is number `rank`, from 1, of `count`: those that a block has collected, or all that there are, where `all` is
// not 0. Digit by digit, from the first of the distance to the last of the row, as far as is needed: it returns a limit within
// which there are exactly `rank` points.
DEVICE void find_limit(bits_t *limit, row_t *limit_row, int rank, int count, GLOBAL const bits_t *collected,
                       GLOBAL const row_t *collected_rows, int all, ${memory} const real *location, int n_references,
                       GLOBAL const real *points, SHARED int *histogram)
{
    SHARED int *const sums = histogram + ${256 * copies}, *const sixteens = sums + ${256 if copies > 1 else 0};
    bits_t prefix = 0;
    row_t prefix_row = 0;
    *limit = LAST_BITS;
    *limit_row = LAST_ROW;
    if (rank >= count)
        return;
    for (int digit = 0; digit < 12; digit++) {
        const int in_row = digit >= 8, shift = in_row ? 88 - 8 * digit : 56 - 8 * digit;
        for (int e = (int)THREAD; e < ${256 * copies}; e += ${threads})
            histogram[e] = 0;
        BARRIER();
        for (int i = (int)THREAD; i < count; i += ${threads}) {
            const bits_t bits = all ? bits_of(location, n_references, points, count, i) : collected[i];
            const row_t row = all ? (row_t)i : collected_rows[i];
            // Shifts by all bits are not defined: by one digit less, and then by that.
            const int same = in_row ? bits == prefix && row >> shift >> 8 == prefix_row : bits >> shift >> 8 == prefix;
            const int value = (int)((in_row ? (bits_t)(row >> shift) : bits >> shift) & 255);
            if (same)
% if copies > 1:
                histogram[value * ${copies} + THREAD]++;
% else:
                TAKE(&histogram[value]);
% endif
        }
        BARRIER();
% if copies > 1:
        for (int value = (int)THREAD; value < 256; value += ${threads}) {
            int sum = 0;
            UNROLL for (int c = 0; c < ${copies}; c++)
                sum += histogram[value * ${copies} + c];
            sums[value] = sum;
        }
        BARRIER();
% endif
        for (int s = (int)THREAD; s < 16; s += ${threads}) {
            int sum = 0;
            UNROLL for (int v = 0; v < 16; v++)
                sum += ${"sums" if copies > 1 else "histogram"}[16 * s + v];
            sixteens[s] = sum;
        }
        BARRIER();
        int value = 0;
        while (rank > sixteens[value])
            rank -= sixteens[value++];
        value *= 16;
        while (rank > ${"sums" if copies > 1 else "histogram"}[value])
            rank -= ${"sums" if copies > 1 else "histogram"}[value++];
        const int last = rank == ${"sums" if copies > 1 else "histogram"}[value];  // all that begin like this are within
        if (in_row)
            prefix_row = prefix_row << 8 | value;
        else
            prefix = prefix << 8 | value;
        BARRIER();
        if (last || digit == 11) {
            *limit = in_row ? prefix : (prefix << shift) | (((bits_t)1 << shift) - 1);
            *limit_row = in_row ? (prefix_row << shift) | (((row_t)1 << shift) - 1) : LAST_ROW;
            return;
        }
    }
}

<%def name="squares(count, distances, coordinate)">\
                UNROLL for (int c = 0; c < ${count}; c++)
                    ${distances}[c] = 0;
                UNROLL for (int e = 0; e < DIM; e++) {
                    UNROLL for (int c = 0; c < ${count}; c++) {
                        const real from = coordinates[e * ${count} + c] - ${coordinate};
                        ${distances}[c] = PLUS_SQUARE(${distances}[c], from);
                    }
                }
</%def>\
// Appends what lies within a location's limit to what has been collected for it.
<%def name="collect(count)">\
            real coordinates[${count * p}];
            UNROLL for (int e = 0; e < DIM; e++) {
                UNROLL for (int c = 0; c < ${count}; c++)
                    coordinates[e * ${count} + c] = points[e * (index_t)n + i + c * ${threads}];
            }
            for (int q = 0; q < ${locations}; q++) {
                real distances[${count}];
% if several:
                UNROLL for (int c = 0; c < ${count}; c++)
                    distances[c] = NAN;
                for (int r = 0; r < n_references && first + q < n_locations; r++) {
                    real of_one[${count}];
${squares(count, "of_one", "LOCATION(q)[r * DIM + e]")}\
                    UNROLL for (int c = 0; c < ${count}; c++)
                        distances[c] = of_one[c] >= distances[c] ? distances[c] : of_one[c];
                }
% else:
${squares(count, "distances", "here[q * DIM + e]")}\
% endif
                int within = 0;
                UNROLL for (int c = 0; c < ${count}; c++)
                    within |= (BITS(distances[c]) <= limits[q]) << c;
                for (index_t at = i; within; within >>= 1, at += ${threads}) {  // nearly never: a loop, which vectors of threads skip
                    if (within & 1) {
                        const int place = TAKE(&counts[q]);
                        if (place < capacity) {
                            all_bits[q * capacity + place] = bits_of(LOCATION(q), n_references, points, n, at);
                            all_rows[q * capacity + place] = ROW(at);
                        }
                    }
                }
            }
</%def>\
KERNEL(${threads}) local_nearest(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT points, GLOBAL const real *RESTRICT sample,
    GLOBAL const real *RESTRICT all_locations, index_t locations_offset, GLOBAL bits_t *scratch, index_t scratch_words,
    index_t n_locations, int n, int n_sample, int sample_rank, int k, int start, index_t capacity${", int n_references" if several else ""}${parts_arguments})
{
% if not several:
    const int n_references = 1;
    SHARED_ARRAY(real, here, ${locations * p});
% endif
    SHARED_ARRAY(bits_t, limits, ${locations});
    SHARED_ARRAY(int, counts, ${locations});
    SHARED_ARRAY(int, histogram, ${256 * copies + (256 if copies > 1 else 0) + 16});
    SHARED_ARRAY(int, written, 2);
    GLOBAL bits_t *const all_bits = scratch + BLOCK_X * scratch_words, *const first_bits = all_bits + ${locations} * capacity;
    GLOBAL row_t *const all_rows = (GLOBAL row_t *)(first_bits + start), *const first_rows = all_rows + ${locations} * capacity;
% if parts:
    const int wanted_here = MIN(k, n), before = MIN(k, rows_before), wanted = MIN(k, rows_before + n);
    const index_t most = capacity - before;
% else:
    const int wanted = MIN(k, n), wanted_here = wanted;
    const index_t most = capacity;
% endif
    const int wanted_first = MIN(start, wanted);
    for (index_t first = BLOCK_X * ${locations}; first < n_locations; first += BLOCKS_X * ${locations}) {
        const int n_here = (int)MIN(n_locations - first, (index_t)${locations});
% if not several:
        for (int e = (int)THREAD; e < ${locations * p}; e += ${threads})
            here[e] = e < n_here * DIM ? all_locations[locations_offset + first * DIM + e] : NAN;
% endif
        for (int q = (int)THREAD; q < ${locations}; q += ${threads})
            counts[q] = 0;
        BARRIER();
        for (int q = 0; q < ${locations}; q++) {
            bits_t limit = 0;
            row_t limit_row = 0;
            if (${"q < n_here && " if several else ""}is_finite(LOCATION(q), n_references)) {
                for (int i = (int)THREAD; i < n_sample; i += ${threads}) {
                    all_bits[q * capacity + i] = bits_of(LOCATION(q), n_references, sample, n_sample, i);
                    all_rows[q * capacity + i] = (row_t)i;
                }
                BARRIER_GLOBAL();
                find_limit(&limit, &limit_row, sample_rank, n_sample, all_bits + q * capacity, all_rows + q * capacity, 0,
                           LOCATION(q), n_references, sample, histogram);
            }
            if (THREAD == 0)
                limits[q] = limit;
        }
        BARRIER_GLOBAL();
        int i = (int)THREAD;
% if unroll > 1:
        for (; i + ${(unroll - 1) * threads} < n; i += ${unroll * threads}) {
${collect(unroll)}\
        }
% endif
        for (; i < n; i += ${threads}) {
${collect(1)}\
        }
        BARRIER_GLOBAL();
        for (int q = 0; q < n_here; q++) {
            GLOBAL int *const nearest = out + out_offset + (first + q) * k;
            GLOBAL bits_t *const collected = all_bits + q * capacity;
            GLOBAL row_t *const collected_rows = all_rows + q * capacity;
            ${memory} const real *const location = LOCATION(q);
            const int none = !is_finite(location, n_references);
            for (int e = none ? (int)THREAD : wanted + (int)THREAD; e < k; e += ${threads})
                nearest[e] = -1;
            if (none)
                continue;
            bits_t limit, first_limit;
            row_t limit_row, first_row;
            int count = counts[q];
            if (count < wanted_here || count > most) {  // the sample has misled: go through all points
                find_limit(&limit, &limit_row, wanted_here, n, collected, collected_rows, 1, location, n_references, points, histogram);
                if (THREAD == 0)
                    written[0] = 0;
                BARRIER();
                for (int i = (int)THREAD; i < n; i += ${threads}) {
                    const bits_t bits = bits_of(location, n_references, points, n, i);
                    if (IS_WITHIN(bits, (row_t)i, limit, limit_row)) {
                        const int place = TAKE(&written[0]);
                        collected[place] = bits;
                        collected_rows[place] = ROW(i);
                    }
                }
                BARRIER_GLOBAL();
                count = wanted_here;
            }
% if parts:
            GLOBAL bits_t *const nearest_bits = best + best_offset + (first + q) * k;
            for (int e = (int)THREAD; e < before; e += ${threads}) {
                collected[count + e] = nearest_bits[e];
                collected_rows[count + e] = (row_t)nearest[e];
            }
            count += before;
            BARRIER_GLOBAL();
% endif
            find_limit(&limit, &limit_row, wanted, count, collected, collected_rows, 0, location, n_references, points, histogram);
            find_limit(&first_limit, &first_row, wanted_first, count, collected, collected_rows, 0, location, n_references, points, histogram);
            if (THREAD < 2)
                written[THREAD] = 0;
            BARRIER();
            for (int i = (int)THREAD; i < count; i += ${threads}) {
                const bits_t bits = collected[i];
                const row_t row = collected_rows[i];
                if (IS_WITHIN(bits, row, first_limit, first_row)) {
                    const int place = TAKE(&written[0]);
                    first_bits[place] = bits;
                    first_rows[place] = row;
                } else if (IS_WITHIN(bits, row, limit, limit_row)) {
                    const int place = wanted_first + TAKE(&written[1]);
                    nearest[place] = (int)row;
% if parts:
                    nearest_bits[place] = bits;
% endif
                }
            }
            BARRIER_GLOBAL();
            for (int e = (int)THREAD; e < wanted_first; e += ${threads}) {
                int place = -1;  // it is within itself
                for (int f = 0; f < wanted_first; f++)
                    place += IS_WITHIN(first_bits[f], first_rows[f], first_bits[e], first_rows[e]);
                nearest[place] = (int)first_rows[e];
% if parts:
                nearest_bits[place] = first_bits[e];
% endif
            }
            BARRIER_GLOBAL();
        }
    }
}
