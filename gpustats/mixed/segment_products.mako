## Products of columns, added up over the rows of segments: the rows of each group are listed, in segments of some length.
<%
    squares = [(i, j) for i in range(4) for j in range(4)]
    pointer = "source0 + source0_offset"
    for s in range(1, sources):
        pointer = f"of[0] == {s} ? source{s} + source{s}_offset : {pointer}"
%>\
<%def name="column(name, place)">\
    const index_t place_of_${name} = ${place};
    of = columns + 3 * place_of_${name};
    GLOBAL const real *const ${name} = (${pointer}) + of[1];
    const index_t ${name}_stride = of[2];
    const double ${name}_shift = shifts[place_of_${name}];
</%def>\
// out[segment][left][right]: a block has a tile of 4 x 4 products; ${lanes} thread${"s add" if lanes > 1 else " adds"} the rows of a segment.
// A column, left or right, is a source, the place of its first number there, and the distance of the others.
KERNEL(${threads}) segment_products(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const int *RESTRICT order, index_t order_offset,
    GLOBAL const int *RESTRICT starts, index_t starts_offset, index_t n_segments, GLOBAL const int *RESTRICT tiles,
    index_t tiles_offset, GLOBAL const int *RESTRICT columns, index_t columns_offset, GLOBAL const double *RESTRICT shifts,
    index_t shifts_offset, int n_left, int n_right, GLOBAL const real *RESTRICT weights, index_t weights_offset,
    int weights_stride, ${", ".join(f"GLOBAL const real *RESTRICT source{s}, index_t source{s}_offset" for s in range(sources))})
{
    order += order_offset;
    starts += starts_offset;
    columns += columns_offset;
    shifts += shifts_offset;
    weights += weights_offset;
    const index_t segment = BLOCK_X * ${threads // lanes} + THREAD / ${lanes}, lane = THREAD % ${lanes};
    const index_t begin = segment < n_segments ? starts[segment] : 0, end = segment < n_segments ? starts[segment + 1] : 0;
    const int first_left = tiles[tiles_offset + 2 * BLOCK_Y], first_right = tiles[tiles_offset + 2 * BLOCK_Y + 1];
    GLOBAL const int *of;
% for i in range(4):
${column(f"left{i}", f"MIN(first_left + {i}, n_left - 1)")}\
${column(f"right{i}", f"n_left + MIN(first_right + {i}, n_right - 1)")}\
% endfor
% for i, j in squares:
    double sum${i}${j} = 0;
% endfor
    for (index_t i = begin + lane; i < end; i += ${lanes}) {
        const index_t row = order[i];
        const double weight = weights[row * weights_stride];
% for i in range(4):
        const double a${i} = (left${i}[row * left${i}_stride] - left${i}_shift) * weight;
        const double b${i} = right${i}[row * right${i}_stride] - right${i}_shift;
% endfor
% for i, j in squares:
        sum${i}${j} += a${i} * b${j};
% endfor
    }
    out += out_offset + segment * n_left * n_right;
% if lanes > 1:
    SHARED_ARRAY(double, sums, ${threads});
% endif
% for i, j in squares:
% if lanes > 1:
    sums[THREAD] = sum${i}${j};
    for (int span = ${lanes // 2}; span > 0; span /= 2) {
        BARRIER();
        if (lane < span)
            sums[THREAD] += sums[THREAD + span];
    }
    if (lane == 0 && segment < n_segments && first_left + ${i} < n_left && first_right + ${j} < n_right)
        out[(first_left + ${i}) * n_right + first_right + ${j}] = sums[THREAD];
    BARRIER();
% else:
    if (segment < n_segments && first_left + ${i} < n_left && first_right + ${j} < n_right)
        out[(first_left + ${i}) * n_right + first_right + ${j}] = sum${i}${j};
% endif
% endfor
}
