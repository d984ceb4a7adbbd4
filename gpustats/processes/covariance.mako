## Kernels over pairs of points: the matrix of their covariances, and what the derivatives of a marginal likelihood need.
## A block takes a tile of `tile` x `tile` pairs; a thread has the pairs of one column and of every `step`-th row. Where there are
## `several` sets of hyperparameters, all have the same points, and a block has a tile of one set, number `at_set`: its matrix,
## scales and noise lie a batch's stride behind those of the set before it.
<%def name="head(*more)">\
    GLOBAL const real *RESTRICT x, index_t x_start, index_t n, GLOBAL const real *RESTRICT y, index_t y_start, index_t m,
    GLOBAL const real *RESTRICT scales, index_t scales_start${", index_t scales_batch" if several else ""}\
% for text in more:
,
    ${text}\
% endfor
${"," if code.parameters else ""}
    ${code.parameters})\
</%def>

## Distances and scalar products of the pairs of the tile at (i0, j0): seen_M[q], for the pairs q of the thread.
<%def name="look()">\
% for k, measure in enumerate(measures):
        real seen_${k}[${layout.pairs}];
% endfor
        for (int q = 0; q < ${layout.pairs}; q++) {
% for k, measure in enumerate(measures):
            seen_${k}[q] = 0;
% endfor
        }
        for (int c0 = 0; c0 < ${columns}; c0 += ${layout.chunk}) {
            ${load("c0")}
            const int here = MIN(${layout.chunk}, ${columns} - c0);
            for (int c = 0; c < here; c++) {
                const real b = ys[c][column];
% for k, measure in enumerate(measures):
% if measure.scaled:
                const real scale_${k} = scales[${k * columns} + c0 + c];
% endif
% endfor
                UNROLL
                for (int q = 0; q < ${layout.pairs}; q++) {
                    const real a = xs[c][row + q * ${layout.step}];
% for k, measure in enumerate(measures):
<% text = measure.term("a", "b", f"scale_{k}") %>\
% if measure.columns is None:
                    seen_${k}[q] += ${text};
% else:
                    if (${measure.counts("c0 + c")})
                        seen_${k}[q] += ${text};
% endif
% endfor
                }
            }
            BARRIER();
        }
</%def>

## Columns c0 .. of the tile's points, into shared memory, by columns.
<%def name="load(c0)">\
for (int t = (int)THREAD; t < ${layout.tile * layout.chunk}; t += ${layout.threads}) {
                const index_t at = t / ${layout.chunk};
                const int c = t % ${layout.chunk};
                const bool inside = ${c0} + c < ${columns};
                xs[c][at] = inside && i0 + at < n ? x[(i0 + at) * ${columns} + ${c0} + c] : 0;
                ys[c][at] = inside && j0 + at < m ? y[(j0 + at) * ${columns} + ${c0} + c] : 0;
            }
            BARRIER();\
</%def>

<%def name="seen()">\
% for k, i in enumerate(inputs):
            const real seen${k} = seen_${i}[q];
% endfor
</%def>

<%def name="start()">\
    const int column = (int)(THREAD % ${layout.tile}), row = (int)(THREAD / ${layout.tile});
    x += x_start;
    y += y_start;
    scales += scales_start${" + at_set * scales_batch" if several else ""};
    ${code.apply_offsets()}
% if code.set_type:
    const ${code.set_type} set = ${code.prepare_set(at_set)};
% endif
</%def>

<%def name="shared()">\
    SHARED_ARRAY(real, xs[${layout.chunk}], ${layout.tile + 1});
    SHARED_ARRAY(real, ys[${layout.chunk}], ${layout.tile + 1});
</%def>

% if which == "matrix":
// out[i * stride + j] = k(x_i, y_j)${", where i = j times lift, plus noise" if noise else ""}.${" Only in tiles on and below the diagonal." if lower else ""}
KERNEL(${layout.threads}) covariance(
    GLOBAL real *RESTRICT out, index_t out_start, index_t stride,${" index_t out_batch," if several else ""}
<%
    array = "real lift, GLOBAL const real *RESTRICT noise, index_t noise_start"
    kinds = {"": [], "value": ["real lift, real noise"], "row": [array]}
    if several:
        kinds = dict.fromkeys(kinds, [array + ", index_t noise_batch"])
    added = {"value": "noise[noise_start]" if several else "noise", "row": "noise[noise_start + i]"}.get(noise)
%>\
${head(*kinds[noise])}
{
${shared()}
% if several:
    const index_t down = (n + ${layout.tile - 1}) / ${layout.tile}, at_set = BLOCK_Y / down;
    const index_t i0 = BLOCK_Y % down * ${layout.tile}, j0 = BLOCK_X * ${layout.tile};
% else:
    const index_t i0 = BLOCK_Y * ${layout.tile}, j0 = BLOCK_X * ${layout.tile};
% endif
% if lower:
    if (j0 > i0)
        return;
% endif
${start()}
    out += out_start${" + at_set * out_batch" if several else ""};
% if several:
    noise_start += at_set * noise_batch;
% endif
    {
${look()}
        for (int q = 0; q < ${layout.pairs}; q++) {
            const index_t i = i0 + row + q * ${layout.step}, j = j0 + column;
${seen()}
            const real value = ${code.evaluate("row_", "set", "0", at_set)};
            if (i < n && j < m)
                out[i * stride + j] = ${f"i == j ? value * lift + {added} : value" if noise else "value"};
        }
    }
}
% elif which == "diagonal":
// out[i] = k(x_i, x_i)
KERNEL(${layout.threads}) covariance_diagonal(
    GLOBAL real *RESTRICT out, index_t out_start,
${head()}
{
    const index_t i = BLOCK_X * ${layout.threads} + THREAD;
    x += x_start;
    scales += scales_start;
% if code.set_type:
    const ${code.set_type} set = ${code.prepare_set("0")};
% endif
    if (i >= n)
        return;
% for k, measure in enumerate(measures):
    real seen_${k} = 0;
% if measure.kind == "dot":
    for (int c = 0; c < ${columns}; c++) {
        const real a = x[i * ${columns} + c]${f" * scales[{k * columns} + c]" if measure.scaled else ""};
        if (${measure.counts("c") or "true"})
            seen_${k} += a * a;
    }
% endif
% endfor
% for k, i in enumerate(inputs):
    const real seen${k} = seen_${i};
% endfor
    out[out_start + i] = ${code.evaluate("row_", "set", "0", "0")};
}
% elif which == "sums":
## Sums over all pairs of W_ij = (weight alpha_i alpha_j - inverse_ij) / 2 times derivatives, from the lower triangle; those on
## the diagonal count `lift` times. Of a `strip`, the rows of the triangle from `above` to n, and the inverse has no others.
// partial${"[set]" if several else ""}[block][slot]: ${", ".join([*sums, "trace of W"])}${"".join(f", by column of measure {k} from first on" for k in wanted)}
KERNEL(${layout.threads}) covariance_sums(
    GLOBAL double *RESTRICT partial, index_t partial_start, GLOBAL real *RESTRICT diagonal, index_t diagonal_start,
    GLOBAL const real *RESTRICT inverse, index_t inverse_start, index_t stride,${" index_t inverse_batch," if several else ""}
    GLOBAL const real *RESTRICT alpha, index_t alpha_start, GLOBAL const double *RESTRICT weights,
    index_t weights_start,${" index_t weights_batch," if several else ""} double lift, index_t tiles, index_t first,${" index_t above," if strip else ""}
${head()}
{
${shared()}
    SHARED_ARRAY(double, totals, ${layout.threads});
% if several:
    const index_t at_set = BLOCK_Y;
    inverse += at_set * inverse_batch;
    alpha += at_set * n;
    diagonal += at_set * n;
    weights += at_set * weights_batch;
% endif
${start()}
    inverse += inverse_start;
    alpha += alpha_start;
    const real weight = weights[weights_start];
    double sums[${max(len(sums), 1)}], trace = 0;
    for (int s = 0; s < ${max(len(sums), 1)}; s++)
        sums[s] = 0;
% for k, measure in enumerate(measures):
% if k in wanted:
    double sums_${k}[${layout.chunk}];
    for (int c = 0; c < ${layout.chunk}; c++)
        sums_${k}[c] = 0;
% endif
% endfor
% if strip:
    for (index_t t = BLOCK_X; t < (n - above + ${layout.tile - 1}) / ${layout.tile} * tiles; t += BLOCKS_X) {
        const index_t i0 = above + t / tiles * ${layout.tile}, j0 = t % tiles * ${layout.tile};
        if (j0 >= i0 + ${layout.tile})
            continue;
% else:
    index_t i_tile = 0, passed = 0;  // tiles in the rows above
    for (index_t t = BLOCK_X; t < tiles * (tiles + 1) / 2; t += BLOCKS_X) {
        while (passed + i_tile + 1 <= t) {
            i_tile++;
            passed += i_tile;
        }
        const index_t i0 = i_tile * ${layout.tile}, j0 = (t - passed) * ${layout.tile};
% endif
${look()}
% for k, measure in enumerate(measures):
% if k in wanted:
        real slope_${k}[${layout.pairs}];
% endif
% endfor
        for (int q = 0; q < ${layout.pairs}; q++) {
            const index_t i = i0 + row + q * ${layout.step}, j = j0 + column;
            const bool inside = i < n && j <= i;
            real w = 0;
            if (inside)
                w = (real)0.5 * (weight * alpha[i] * alpha[j] - inverse[${"(i - above)" if strip else "i"} * stride + j]);
            if (inside && i == j && first == 0) {
                trace += w;
                diagonal[diagonal_start + i] = w;
            }
            w *= i == j ? (real)lift : 2;
${seen()}
% if code.function.results:
            const ${code.function.type} result = ${code.evaluate("row_", "set", "0", at_set)};
% for s, name in enumerate(sums):
            sums[${s}] += inside ? w * result.${name} : 0;
% endfor
% for k, measure in enumerate(measures):
% if k in wanted:
            slope_${k}[q] = inside ? w * (${" + ".join(f"result.{slopes[i]}" for i in range(len(inputs)) if inputs[i] == k)}) : 0;
% endif
% endfor
% endif
        }
% if wanted:
        ${load("(int)first")}
        for (int c = 0; c < ${layout.chunk}; c++) {
            const real b = ys[c][column];
            for (int q = 0; q < ${layout.pairs}; q++) {
                const real a = xs[c][row + q * ${layout.step}];
% for k, measure in enumerate(measures):
% if k in wanted:
                sums_${k}[c] += slope_${k}[q] * ${"(a - b) * (a - b)" if measure.kind == "sqdist" else "a * b"};
% endif
% endfor
            }
        }
        BARRIER();
% endif
    }
<% slots = [f"sums[{s}]" for s in range(len(sums))] + ["trace"] + [f"sums_{k}[{c}]" for k in wanted for c in range(layout.chunk)] %>\
% for s, slot in enumerate(slots):
    totals[THREAD] = ${slot};
    for (int span = ${layout.threads // 2}; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    if (THREAD == 0)
        partial[partial_start + ${"(BLOCK_Y * BLOCKS_X + BLOCK_X)" if several else "BLOCK_X"} * ${len(slots)} + ${s}] = totals[0];
    BARRIER();
% endfor
}
% elif which == "points":
## The derivative in the points y: out[j][c] = sum_i 2 W_ij d k(x_i, y_j) / d y_j[c], for `chunk` columns from `first` on; W as for
## the sums, with what is on its diagonal `lift` times.
// inverse, (n, m), is symmetric where the x are the y: both triangles are read.
KERNEL(${layout.threads}) covariance_points(
    GLOBAL real *RESTRICT out, index_t out_start, GLOBAL const real *RESTRICT inverse, index_t inverse_start, index_t stride,
    GLOBAL const real *RESTRICT alpha, index_t alpha_start, GLOBAL const double *RESTRICT weights,
    index_t weights_start, double lift, index_t first,
${head()}
{
${shared()}
    SHARED_ARRAY(double, totals, ${layout.threads});
${start()}
    inverse += inverse_start;
    alpha += alpha_start;
    const real weight = weights[weights_start];
    const index_t j0 = BLOCK_X * ${layout.tile}, j = j0 + column;  // the tile's columns are the points whose derivatives these are
    double sums[${layout.chunk}];
    for (int c = 0; c < ${layout.chunk}; c++)
        sums[c] = 0;
    for (index_t i0 = 0; i0 < n; i0 += ${layout.tile}) {
${look()}
% for k in range(len(measures)):
        real slope_${k}[${layout.pairs}];
% endfor
        for (int q = 0; q < ${layout.pairs}; q++) {
            const index_t i = i0 + row + q * ${layout.step};
            const bool inside = i < n && j < m;
            real w = 0;
            if (inside)
                w = (weight * alpha[i] * alpha[j] - inverse[i * stride + j]) * (i == j ? (real)lift : 1);
${seen()}
            const ${code.function.type} result = ${code.evaluate("row_", "set", "0", "0")};
% for k in range(len(measures)):
            slope_${k}[q] = inside ? w * (${" + ".join(f"result.{slopes[i]}" for i in range(len(inputs)) if inputs[i] == k)}) : 0;
% endfor
        }
        ${load("(int)first")}
        for (int c = 0; c < ${layout.chunk}; c++) {
            const real b = ys[c][column];
% for k, measure in enumerate(measures):
% if measure.scaled:
            const real scale_${k} = first + c < ${columns} ? scales[${k * columns} + first + c] : 0;
% endif
% endfor
            for (int q = 0; q < ${layout.pairs}; q++) {
                const real a = xs[c][row + q * ${layout.step}];
% for k, measure in enumerate(measures):
<% text = ("2 * (b - a)" if measure.kind == "sqdist" else "a") + (f" * scale_{k} * scale_{k}" if measure.scaled else "") %>\
% if measure.columns is None:
                sums[c] += slope_${k}[q] * ${text};
% else:
                if (${measure.counts("first + c")})
                    sums[c] += slope_${k}[q] * ${text};
% endif
% endfor
            }
        }
        BARRIER();
    }
    for (int c = 0; c < ${layout.chunk}; c++) {
        totals[THREAD] = sums[c];
        BARRIER();
        if (row == 0 && j < m && first + c < ${columns}) {
            double total = 0;
            for (int r = 0; r < ${layout.step}; r++)
                total += totals[r * ${layout.tile} + column];
            out[out_start + j * ${columns} + first + c] = total;
        }
        BARRIER();
    }
}
% endif
