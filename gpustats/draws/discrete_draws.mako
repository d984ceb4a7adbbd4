## The discrete_draws shape: category numbers, drawn from rows of weights or of log-weights.
<%namespace name="random" file="/draws/generator.mako"/>\
<%
    threads, width, padded = layout.threads, layout.width, layout.threads | 1
    groups = max(width // 8, 1)
    tops = groups // 8
    in_registers = single and layout.in_registers  # a thread has the only draw of its row
%>\
${random.functions(dtype, dialect)}\
// Every row is cut into chunks of 512 entries, each of 8 groups of 8 groups of 8: so all sums have an order that does not
// depend on the layout. A draw keeps a candidate. A chunk replaces it with probability (sum of the chunk) / (sum so far), and
// the uniform number that decides this goes on to say which of the chunk's groups, which of that's, and which entry.

DEVICE real uniform_of_draw(index_t key, index_t stream, index_t draw, word_t chunk)
{
    const words_t words = words_of(key, stream, draw, chunk);
    return uniform_of(words.a${", words.b" if dtype == "float64" else ""});
}

// In which of the weights the target falls; what is left of it there. Never one of weight 0, even where the target lies
// behind all of them by rounding.
DEVICE int pick_of(const real *weights, int count, real *target)
{
    int picked = 0;
    real left = *target;
    UNROLL for (int i = 0; i < count; i++)
        if (weights[i] > 0 && left >= 0) {
            picked = i;
            *target = left;
            left -= weights[i];
        }
    return picked;
}

DEVICE int pick(SHARED const real *weights, int stride, int count, real *target)
{
    real here[8];
    UNROLL for (int i = 0; i < count; i++)
        here[i] = weights[i * stride];
    return pick_of(here, count, target);
}

// nan for what no weight may be; sums carry it to the row's end.
DEVICE real weight_of(real value, real highest)
{
% if log:
    return exp(value - highest);  // infinity - infinity = nan
% else:
    return value >= 0 ? value : NAN;
% endif
}

#define NOTHING ${"-INFINITY" if log else "0"}  // the value of an entry that is not there
#define IS_SUM(total) ((total) > 0 && (total) < INFINITY)
% if width:
#define PADDED ${padded}

// Rows of up to ${width} entries: a thread prepares a row in shared memory (transposed, so that neighbours have
// consecutive addresses), and then each thread draws.
KERNEL(${threads}) discrete_draws(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT rows, index_t rows_offset,
    index_t n_rows, index_t n_entries, index_t n_draws, index_t part, index_t key, index_t stream, index_t first_draw)
{
    const index_t first_row = BLOCK_X * ${threads};
    const int rows_here = (int)MIN(n_rows - first_row, (index_t)${threads}), n = (int)n_entries;
    SHARED_ARRAY(real, tile, ${width} * PADDED);
% if not in_registers:
    SHARED_ARRAY(real, sums, ${groups} * PADDED);
% endif
% if tops:
    SHARED_ARRAY(real, top, ${tops} * PADDED);
% endif
    rows += rows_offset + first_row * n;
% if layout.vector > 1:
    const int whole_tile = rows_here == ${threads};
    if (whole_tile)
        UNROLL for (int step = 0; step < ${width // layout.vector}; step++) {
            const int e = (step * ${threads} + (int)THREAD) * ${layout.vector}, row = e / ${width}, column = e % ${width};
            const ${vector_type} together = *(GLOBAL const ${vector_type} *)(rows + e);
% for v in range(layout.vector):
            tile[(column + ${v}) * PADDED + row] = together.${"xyzw"[v]};
% endfor
        }
    else {
% endif
    int row = (int)THREAD / n, column = (int)THREAD % n;
    const int row_step = ${threads} / n, column_step = ${threads} % n;
    UNROLL_BY_4
    for (int e = (int)THREAD; e < rows_here * n; e += ${threads}) {  // neighbouring threads read consecutive addresses
        tile[column * PADDED + row] = rows[e];
        row += row_step;
        column += column_step;
        if (column >= n) {
            column -= n;
            row++;
        }
    }
% if layout.vector > 1:
    }
% endif
    BARRIER();

% if in_registers:
    if ((int)THREAD >= rows_here)
        return;
    real entries[${width}], sums[${groups}], highest = ${"-INFINITY" if log else "0"}, total = 0;
    UNROLL for (int c = 0; c < ${width}; c++) {
        entries[c] = ${"" if layout.full else "c >= n ? NOTHING : "}tile[c * PADDED + THREAD];
% if log:
        highest = fmax(highest, entries[c]);
% endif
    }
% if log:
    highest = highest == -INFINITY ? 0 : highest;
% endif
    UNROLL for (int g = 0; g < ${groups}; g++) {
        sums[g] = 0;
        UNROLL for (int c = 8 * g; c < ${"8 * g + 8" if width > 8 else width}; c++) {
            entries[c] = weight_of(entries[c], highest);
            sums[g] += entries[c];
        }
        total += sums[g];
    }
    const index_t position = first_row + THREAD;
    real target = uniform_of_draw(key, stream, first_draw + position, 0) * total, here[${min(width, 8)}];
    const int group = pick_of(sums, ${groups}, &target);
    UNROLL for (int i = 0; i < ${min(width, 8)}; i++) {
        here[i] = entries[i];
        UNROLL for (int g = 1; g < ${groups}; g++)
            here[i] = g == group ? entries[8 * g + i] : here[i];
    }
    const int label = 8 * group + pick_of(here, ${min(width, 8)}, &target);
    out[out_offset + position] = IS_SUM(total) ? label : -1;
% else:
    // Threads without a row prepare what happens to be there: vectors of threads do best where all do the same.
    SHARED real *const entries = tile + THREAD;
    real highest = 0;
% if log:
    highest = -INFINITY;
    for (int c = 0; c < n; c++)
        highest = fmax(highest, entries[c * PADDED]);
    highest = highest == -INFINITY ? 0 : highest;
% endif
    for (int g = 0; g < ${groups}; g++) {
        real sum = 0;
        UNROLL for (int c = 8 * g; c < ${"8 * g + 8" if width > 8 else width}; c++) {
            const real weight = c < n ? weight_of(entries[c * PADDED], highest) : 0;
            entries[c * PADDED] = weight;
            sum += weight;
        }
        sums[g * PADDED + THREAD] = sum;
    }
% if tops:
    for (int t = 0; t < ${tops}; t++) {
        real sum = 0;
        UNROLL for (int g = 8 * t; g < 8 * t + 8; g++)
            sum += sums[g * PADDED + THREAD];
        top[t * PADDED + THREAD] = sum;
    }
% endif
% if single:
    const index_t d = THREAD;
    if (d < rows_here) {
        const index_t row = d, position = first_row + d;
% else:
    BARRIER();
    const index_t first = BLOCK_Y * part, here = MIN(n_draws - first, part);
    for (index_t d = THREAD; d < rows_here * here; d += ${threads}) {
        const index_t row = d / here, position = (first_row + row) * n_draws + first + d % here;
% endif
        real total = 0;
        UNROLL for (int g = 0; g < ${tops or groups}; g++)
            total += ${"top" if tops else "sums"}[g * PADDED + row];
        real target = uniform_of_draw(key, stream, first_draw + position, 0) * total;
        int label = ${"8 * pick(top + row, PADDED, %d, &target)" % tops if tops else 0};
        label = 8 * (label + pick(sums + label * PADDED + row, PADDED, ${min(groups, 8)}, &target));
        label += pick(tile + label * PADDED + row, PADDED, ${min(width, 8)}, &target);
        out[out_offset + position] = IS_SUM(total) ? label : -1;
    }
% endif
}
% else:

// Where eighth number e of a chunk, or of its groups, is: groups of 8 lie 9 apart, to be in different banks.
#define PLACE(e) ((e) + (e) / 8)

DEVICE real sum_of_8(SHARED const real *values)
{
    real sum = 0;
    UNROLL for (int i = 0; i < 8; i++)
        sum += values[i];
    return sum;
}

DEVICE real highest_of_8(SHARED const real *values)
{
    real highest = -INFINITY;
    UNROLL for (int i = 0; i < 8; i++)
        highest = fmax(highest, values[i]);
    return highest;
}

// Long rows: a block has a row, and goes through its chunks for up to ${layout.draws} draws at a time.
KERNEL(${threads}) discrete_draws(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT rows, index_t rows_offset,
    index_t n_rows, index_t n_entries, index_t n_draws, index_t part, index_t key, index_t stream, index_t first_draw)
{
    SHARED_ARRAY(real, entries, 576);
    SHARED_ARRAY(real, groups, 72);
    SHARED_ARRAY(real, top, 8);
    SHARED_ARRAY(int, labels, ${layout.draws});  // each of them one thread's own
    rows += rows_offset + BLOCK_X * n_entries;
    for (index_t first = BLOCK_Y * part; first < n_draws; first += BLOCKS_Y * part) {
        const int draws = (int)MIN(n_draws - first, part);
        const index_t position = BLOCK_X * n_draws + first;
        for (int d = (int)THREAD; d < draws; d += ${threads})
            labels[d] = -1;
        real total = 0, highest = ${"-INFINITY" if log else "0"};
        for (index_t start = 0; start < n_entries; start += 512) {
            BARRIER();  // the last chunk has been used
            UNROLL for (int e = (int)THREAD; e < 512; e += ${threads})
                entries[PLACE(e)] = start + e < n_entries ? rows[start + e] : NOTHING;
            BARRIER();
% if log:
            for (int g = (int)THREAD; g < 64; g += ${threads})
                groups[PLACE(g)] = highest_of_8(entries + 9 * g);
            BARRIER();
            if (THREAD < 8)
                top[THREAD] = highest_of_8(groups + 9 * THREAD);
            BARRIER();
            const real before = highest;
            highest = fmax(before, highest_of_8(top));
            const real subtracted = highest == -INFINITY ? 0 : highest;
            total *= exp(before - subtracted);
% else:
            const real subtracted = 0;
% endif
            for (int g = (int)THREAD; g < 64; g += ${threads}) {
                for (int i = 0; i < 8; i++)
                    entries[9 * g + i] = weight_of(entries[9 * g + i], subtracted);
                groups[PLACE(g)] = sum_of_8(entries + 9 * g);
            }
            BARRIER();
            if (THREAD < 8)
                top[THREAD] = sum_of_8(groups + 9 * THREAD);
            BARRIER();
            const real sum = sum_of_8(top);
            total += sum;
            for (int d = (int)THREAD; d < draws; d += ${threads}) {
                real target = uniform_of_draw(key, stream, first_draw + position + d, (word_t)(start / 512)) * total;
                if (sum > 0 && (target < sum || labels[d] < 0)) {
                    int group = pick(top, 1, 8, &target);
                    group = 8 * group + pick(groups + 9 * group, 1, 8, &target);
                    labels[d] = (int)start + 8 * group + pick(entries + 9 * group, 1, 8, &target);
                }
            }
        }
        for (int d = (int)THREAD; d < draws; d += ${threads})
            out[out_offset + position + d] = IS_SUM(total) ? labels[d] : -1;
    }
}
% endif
