## The label_statistics shape: for each label, sums over its rows. Rendered for sums of [x; 1], and once more for sums of the
## products of y = x - mean.
<%
    threads, tile, labels = layout.threads, layout.tile, layout.labels
    columns, slices, each, groups, width = layout.columns, layout.slices, layout.each, layout.groups, layout.width
    lanes = columns * slices
    parts = layout.shift_parts
    n_sums = lanes * each  # of a label, in a block
%>\
% if products:
// With the columns in a circle, the products of each with itself and with the next ${dim // 2} are those of all pairs. A thread
// has a column j and a few shifts s, and adds y[j] y[j + s]\
% else:
// A thread has a column, and adds its numbers (those of the last column are ones)\
% endif
 to sums of its own, one for each label, in shared memory: there is nothing to
// wait for, and the order is always the same. A block has ${labels} labels; ${groups} groups of threads share its rows.
KERNEL(${threads}) label_sums(
    GLOBAL double *RESTRICT partial, GLOBAL const real *RESTRICT x, index_t x_offset,
    GLOBAL const ${label_type} *RESTRICT all_labels, index_t labels_offset, index_t n_rows, index_t n_labels${"," if products else ")"}
% if products:
    GLOBAL const double *RESTRICT means, index_t means_offset)
% endif
{
    const index_t first_label = BLOCK_X / ${parts} * ${labels};
    const int labels_here = (int)MIN(n_labels - first_label, (index_t)${labels});
% if products:
    const int first_shift = (int)(BLOCK_X % ${parts}) * ${slices * each};
% endif
    x += x_offset;
    all_labels += labels_offset;
% if products:
    means += means_offset;
% endif
    DYNAMIC_SHARED_ARRAY(double, sums, ${layout.shared});  // [label][sum of a thread][thread]
    SHARED double *const rows = sums + ${labels * each * threads};
    SHARED_ARRAY(int, row_labels, ${tile});
    const index_t column = ${"THREAD" if threads == columns else f"THREAD % {columns}"};
    const index_t source = ${"column" if columns == dim else f"column < {dim} ? column : 0"};
% if groups > 1:
    const int group = (int)THREAD / ${lanes};
% endif
% if products:
    const index_t other = column + first_shift${f" + THREAD % {lanes} / {columns} * {each}" if slices > 1 else ""};
% endif
    for (int e = 0; e < labels_here * ${each}; e++)
        sums[e * ${threads} + THREAD] = 0;
    for (index_t first = BLOCK_Y * ${tile}; first < n_rows; first += BLOCKS_Y * ${tile}) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)${tile});
        BARRIER();  // the last tile has been used
        for (int r = (int)THREAD; r < rows_here; r += ${threads}) {
            const index_t label = all_labels[first + r] - first_label;
            row_labels[r] = label >= 0 && label < labels_here ? (int)label : -1;
        }
        BARRIER();
        for (int r = ${f"(int)THREAD / {columns}" if threads > columns else 0}; r < rows_here; r += ${threads // columns}) {
            const int label = row_labels[r];
            if (label < 0)
                continue;
            const double value = x[(first + r) * ${dim} + source];
% if products:
            const double centred = value - means[(first_label + label) * ${dim + 1} + source];
% for place in range(0, width, dim):  # around the circle
            ${"" if place + columns <= width and columns == dim else f"if (column < {min(dim, width - place)}) "}rows[r * ${width} + ${place} + column] = centred;
% endfor
% else:
            rows[r * ${width} + column] = column < ${dim} ? value : 1;
% endif
        }
        BARRIER();
        for (int r = ${"group" if groups > 1 else 0}; r < rows_here; r += ${groups}) {
            const int label = row_labels[r];
            if (label < 0)
                continue;
            SHARED double *const own = sums + label * ${each * threads} + THREAD;
            SHARED const double *const y = rows + r * ${width};
            const double value = y[column];
% if products:
            UNROLL for (int s = 0; s < ${each}; s++)
                own[s * ${threads}] += value * y[other + s];
% else:
            *own += value;
% endif
        }
    }
% if groups > 1:
    BARRIER();
    if (group > 0)
        return;
    for (int e = 0; e < labels_here * ${each}; e++)
        for (int g = 1; g < ${groups}; g++)
            sums[e * ${threads} + THREAD] += sums[e * ${threads} + g * ${lanes} + THREAD];
% endif
    // [block][label][part of the shifts][sum of a thread][thread]
    partial += ((BLOCK_Y * n_labels + first_label) * ${parts} + BLOCK_X % ${parts}) * ${n_sums};
    for (int label = 0; label < labels_here; label++)
        for (int s = 0; s < ${each}; s++)
            partial[label * (index_t)${parts * n_sums} + s * ${lanes} + THREAD] = sums[(label * ${each} + s) * ${threads} + THREAD];
}

DEVICE double total_of(GLOBAL const double *RESTRICT partial, index_t blocks, index_t stride)
{
    double total = 0;
    UNROLL_BY_4
    for (index_t b = 0; b < blocks; b++)
        total += partial[b * stride];
    return total;
}

// Adds what the blocks have, in their order.
KERNEL(${layout.adders}) label_totals(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const double *RESTRICT partial, index_t blocks, index_t n_labels)
{
    const index_t stride = n_labels * ${parts * n_sums}, e = BLOCK_X * ${layout.adders} + THREAD;
% if products:
    if (e >= n_labels * ${dim * dim})
        return;
    const index_t label = e / ${dim * dim};
    const int a = (int)(e % ${dim * dim}) / ${dim}, b = (int)(e % ${dim});
    const int forward = (b + ${dim} - a) % ${dim};
    const int column = 2 * forward <= ${dim} ? a : b, shift = 2 * forward <= ${dim} ? forward : ${dim} - forward;
    // A pair half a circle apart has two sums, of the same products.
    const int part = shift / ${slices * each}, in_part = shift % ${slices * each};
    const int place = (part * ${each} + in_part % ${each}) * ${lanes} + in_part / ${each} * ${columns} + column;
    out[out_offset + e] = total_of(partial + label * ${parts * n_sums} + place, blocks, stride);
% else:
    if (e >= n_labels * ${dim + 1})
        return;
    const index_t label = e / ${dim + 1};
    const int column = (int)(e % ${dim + 1});
    partial += label * ${n_sums};
    const double count = total_of(partial + ${dim}, blocks, stride);
    out[out_offset + e] = column == ${dim} ? count : count > 0 ? total_of(partial + column, blocks, stride) / count : 0;
% endif
}
