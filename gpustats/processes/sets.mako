## Marginal likelihoods of a Gaussian process of few observations: a block of threads has one set of hyperparameters at a time.
## The matrix lies in tiles. Those above the diagonal come to hold the transposed Cholesky factor l', those on and below it the
## inverse l^-1, so that all work is products of tiles whose factors are read along rows. A thread has the numbers in every
## `lanes`-th column and every `beside`-th row of a tile.
##
## For all rows a and columns b of a tile that the thread has: `store`, with the sum over m, from `first` to below `last`, of p at
## (m, a) times q at (m, b). `shared`: p and q lie in shared memory; else many threads read the same numbers, through a part of it.
<%def name="product(p, q, first, last, store, shared=False)">\
<% high, wide = range(layout.high), range(layout.tile // layout.lanes) %>\
for (int a0 = ROW; a0 < ${layout.tile}; a0 += ${layout.beside * layout.high}) {
                real ${", ".join(f"sum_{c}_{r} = 0" for c in high for r in wide)};
% if layout.stage and not shared:
                for (int m0 = ${first}; m0 < ${last}; m0 += ${layout.stage}) {
                    for (int t = (int)THREAD; t < ${layout.stage * layout.tile}; t += ${layout.threads}) {
                        const int m = m0 + t / ${layout.tile};
                        ps[t / ${layout.tile}][t % ${layout.tile}] = ${p.format(f"t % {layout.tile}")};
                        qs[t / ${layout.tile}][t % ${layout.tile}] = ${q.format(f"t % {layout.tile}")};
                    }
                    BARRIER();
                    UNROLL for (int m = 0; m < ${layout.stage}; m++) {
${multiply("ps[m][{}]", "qs[m][{}]")}\
                    }
                    BARRIER();
                }
% else:
                for (int m = ${first}; m < ${last}; m++) {
${multiply(p, q)}\
                }
% endif
% for c in high:
% for r in wide:
                {
                    const int a = a0 + ${c * layout.beside};
                    const ${lane_type()} b = LANE + ${r * layout.lanes};
                    const real sum = sum_${c}_${r};
                    ${store};
                }
% endfor
% endfor
            }\
</%def>
## Vectorisers of CPUs see that accesses are consecutive where indices are as wide as addresses.
<%def name="lane_type()">${"int" if layout.beside > 1 else "index_t"}</%def>
<%def name="multiply(p, q)">\
<% high, wide = range(layout.high), range(layout.tile // layout.lanes) %>\
% for c in high:
                        const real p_${c} = ${p.format(f"a0 + {c * layout.beside}")};
% endfor
% for r in wide:
                        const real q_${r} = ${q.format(f"LANE + {r * layout.lanes}")};
% endfor
% for c in high:
% for r in wide:
                        sum_${c}_${r} += p_${c} * q_${r};
% endfor
% endfor
</%def>
## All numbers of a tile that the thread has, in rows a and columns b; `where`: in rows for which this holds.
<%def name="each(where=None)">\
for (int a = ROW; a < ${layout.tile}; a += ${layout.beside})
                    ${f"if ({where})" if where else ""} UNROLL for (${lane_type()} b = LANE; b < ${layout.tile}; b += ${layout.lanes})\
</%def>
## Distances and scalar products of points i and j: seen0, seen1, ...
<%def name="see()">\
% for k in range(len(measures)):
                        real seen_${k} = 0;
% endfor
                        for (int c = 0; c < ${columns}; c++) {
                            const real x_i = x[c * size + i], x_j = x[c * size + j];
% for k, measure in enumerate(measures):
% if measure.columns is not None:
                            if (${measure.counts("c")})
% endif
                            seen_${k} += ${measure.term("x_i", "x_j", f"scales[{k * columns} + c]")};
% endfor
                        }
% for k, i in enumerate(inputs):
                        const real seen${k} = seen_${i};
% endfor
</%def>
## Each thread gets the sum of all threads' numbers, added in a fixed order.
<%def name="total(names)">\
% for name in names:
        totals[THREAD] = ${name};
        for (int span = ${layout.threads // 2}; span > 0; span /= 2) {
            BARRIER();
            if (THREAD < span)
                totals[THREAD] += totals[THREAD + span];
        }
        BARRIER();
        ${name} = totals[0];
        BARRIER();
% endfor
</%def>
<%
    value, slope = codes
    given = {n: f"given[{n}_first + set * {n}_step" for n in inside}  # the C is to be ended by a bracket
    scaled = [k for k, m in enumerate(measures) if m.scaled]
    slots = [f"sum_of_{n}" for n in sums] + ["trace"]
    T = layout.tile
%>\
#define LANE ${f"(THREAD % {layout.lanes})" if layout.beside > 1 else "THREAD"}
#define ROW ${f"(THREAD / {layout.lanes})" if layout.beside > 1 else "0"}

// found[set][0]: the log marginal likelihood, nan where there is none; behind it the derivatives in ${", ".join(wrt) or "nothing"}.
KERNEL(${layout.threads}) marginal_sets(
    GLOBAL double *RESTRICT found, index_t found_start, index_t n_sets, int n, GLOBAL real *RESTRICT scratch,
    GLOBAL const real *RESTRICT x, index_t x_start, double lift, double addend, GLOBAL const double *RESTRICT given,
    ${", ".join(f"index_t {n}_first, index_t {n}_step" for n in inside)})
{
    SHARED_ARRAY(real, tile[${T}], ${T + 1});
    SHARED_ARRAY(real, corner[${T}], ${T + 1});  // of l^-1, on the diagonal
% if layout.stage:
    SHARED_ARRAY(real, ps[${layout.stage}], ${T});
    SHARED_ARRAY(real, qs[${layout.stage}], ${T});
% endif
    SHARED_ARRAY(double, rest, ${layout.most});  // y - mean, then alpha
    SHARED_ARRAY(double, z, ${layout.most});  // l^-1 (y - mean)
    SHARED_ARRAY(double, totals, ${layout.threads});
    const int size = (n + ${T - 1}) / ${T} * ${T}, stride = size + ${layout.gap};
    GLOBAL real *const matrix = scratch + BLOCK_X * (size * stride + ${len(measures) * columns});
% if scaled:
    GLOBAL real *const scales = matrix + size * stride;
% endif
    x += x_start;
    for (index_t set = BLOCK_X; set < n_sets; set += BLOCKS_X) {
        GLOBAL double *const its = found + found_start + set * (${n_numbers} + ${len(by_row)} * n);
        bool valid = true;
% for name, condition in inside.items():
% if name in hyperparameters:
% if name in vectors:
        for (int c = 0; c < ${columns}; c++) {
            const double element = ${given[name]} + c];
            valid = valid && ${condition.format("element")};
        }
        const real ${hyperparameters[name]}_value = 1;
% else:
        const double ${name}_given = ${given[name]}];
        valid = valid && ${condition.format(f"{name}_given")};
        const real ${hyperparameters[name]}_value = ${condition.format(f"{name}_given")} ? ${name}_given : 1;
% endif
% endif
% endfor
% for k in scaled:
        for (int c = (int)THREAD; c < ${columns}; c += ${layout.threads})
            scales[${k * columns} + c] = 1 / ${given[measures[k].scaled]} + c];
% endfor
        for (int i = (int)THREAD; i < size; i += ${layout.threads})
            rest[i] = i < n ? ${given["y"]} + i] - ${given["mean"]}${" + i" if "mean" in vectors else ""}] : 0;
% if value.set_type:
        const ${value.set_type} at_set = ${value.prepare_set("0")};
% endif
        BARRIER_GLOBAL();

        double logarithms = 0, squares = 0;
        for (int j0 = 0; j0 < size; j0 += ${T}) {
            for (int i0 = j0; i0 < size; i0 += ${T}) {
                ${each()} {
                        const int j = j0 + a;
                        const ${lane_type()} i = i0 + b;
${see()}\
                        real covariance = ${value.evaluate("row_", "at_set", "0", "0")};
                        if (i == j && i < n) {
                            const double sigma = ${given["sigma"]}${" + i" if "sigma" in vectors else ""}];
                            covariance = covariance * (real)lift + (real)(${inside["sigma"].format("sigma")} ? sigma * sigma : NAN);
                        }
                        tile[a][b] = i < n && j < n ? covariance : i == j;
                    }
                ${product("matrix[m * stride + j0 + {}]", "matrix[m * stride + i0 + {}]", "0", "j0", "tile[a][b] -= sum")}
                BARRIER();
                if (i0 > j0) {
                    ${product("corner[{}][m]", "tile[m][{}]", "0", T, "matrix[(j0 + a) * stride + i0 + b] = sum", True)}
                    BARRIER_GLOBAL();
                    continue;
                }
                // The tile on the diagonal is eliminated row by row, beside what becomes the inverse of its factor.
                ${each()}
                        corner[a][b] = a == b;
                BARRIER();
                for (int k = 0; k < ${T - 1}; k++) {
                    const real inverse = tile[k][k] > 0 ? 1 / tile[k][k] : NAN;
                    ${each("a > k")} {
                            const real factor = tile[k][a] * inverse;
                            tile[a][b] -= factor * tile[k][b];
                            corner[a][b] -= factor * corner[k][b];
                        }
                    BARRIER();
                }
                ${each()} {
                        const real scaled = corner[a][b] * (tile[a][a] > 0 ? 1 / sqrt(tile[a][a]) : NAN);
                        corner[a][b] = scaled;
                        matrix[(j0 + a) * stride + j0 + b] = scaled;
                    }
                BARRIER_GLOBAL();
                for (int a = (int)THREAD; a < ${T}; a += ${layout.threads}) {
                    double sum = 0;
                    for (int m = 0; m <= a; m++)
                        sum += corner[a][m] * rest[j0 + m];
                    z[j0 + a] = sum;
                    squares += sum * sum;
                    logarithms -= log((double)corner[a][a]);
                }
                BARRIER();
            }
            for (int i = j0 + ${T} + (int)THREAD; i < size; i += ${layout.threads}) {
                double sum = 0;
                for (int a = 0; a < ${T}; a++)
                    sum += matrix[(j0 + a) * stride + i] * z[j0 + a];
                rest[i] -= sum;
            }
            BARRIER();
        }
${total(["logarithms", "squares"])}\
        if (THREAD == 0)
            its[0] = valid ? addend - ${"0.5 * n * log(0.5 * squares)" if student_t else "0.5 * squares"} - logarithms : NAN;
        const double weight = ${"n / squares" if student_t else "1"};
% if wrt:

        for (int i0 = ${T}; i0 < size; i0 += ${T}) {
            ${each()}
                        corner[a][b] = matrix[(i0 + a) * stride + i0 + b];
            for (int j0 = 0; j0 < i0; j0 += ${T}) {
                ${product("matrix[m * stride + i0 + {}]", "matrix[m * stride + j0 + {}]", "j0", "i0", "tile[a][b] = sum")}
                BARRIER();
                ${product("corner[{}][m]", "tile[m][{}]", "0", T, "matrix[(i0 + a) * stride + j0 + b] = -sum", True)}
                BARRIER_GLOBAL();
            }
        }
        for (int i = (int)THREAD; i < n; i += ${layout.threads}) {
            double sum = 0;
            for (int m = i - i % ${T}; m < size; m++)
                sum += matrix[m * stride + i] * z[m];
            rest[i] = sum;
        }
        BARRIER();
% for n, name in enumerate(by_row):
% if name in ("y", "mean"):
        for (int i = (int)THREAD; i < n; i += ${layout.threads})
            its[${n_numbers} + ${n} * n + i] = ${"-" if name == "y" else ""}weight * rest[i];
% endif
% endfor
% if "mean" in numbers:
        double slope_of_mean = 0;
        for (int i = (int)THREAD; i < n; i += ${layout.threads})
            slope_of_mean += weight * rest[i];
${total(["slope_of_mean"])}\
        if (THREAD == 0)
            its[${numbers["mean"]}] = slope_of_mean;
% endif
% if slope.set_type:
        const ${slope.set_type} slope_set = ${slope.prepare_set("0")};
% endif
        // Sums over all pairs of (weight alpha_i alpha_j - inverse_ij) / 2 times derivatives, from the lower triangle.
        for (int first = 0; first < ${columns if wanted else 1}; first += ${layout.columns}) {
            double ${", ".join(f"{s} = 0" for s in slots)};
% for k in wanted:
            double ${", ".join(f"moment_{k}_{c} = 0" for c in range(layout.columns))};
% endfor
            for (int i0 = 0; i0 < size; i0 += ${T})
                for (int j0 = 0; j0 <= i0; j0 += ${T}) {
                ${product("matrix[m * stride + i0 + {}]", "matrix[m * stride + j0 + {}]", "i0", "size", "tile[a][b] = sum")}
                ${each()} {
                        const int i = i0 + a;
                        const ${lane_type()} j = j0 + b;
                        const bool counts = i < n && j <= i;
                        real w = counts ? 0.5 * (weight * rest[i] * rest[j] - tile[a][b]) : 0;
                        if (counts && i == j) {
                            trace += w;
% if "sigma" in by_row:
                            its[${n_numbers} + ${by_row.index("sigma")} * n + i] = 2 * w * ${given["sigma"]} + i];
% endif
                        }
                        w *= i == j ? (real)lift : 2;
% if slope.function.results:
${see()}\
                        const ${slope.function.type} result = ${slope.evaluate("row_", "slope_set", "0", "0")};
% for name, its in sums.items():
                        sum_of_${name} += counts ? w * result.${its} : 0;
% endfor
% if wanted:
% for k in wanted:
                        const real slope_${k} = counts ? w * (${" + ".join(f"result.{s}" for s, i in zip(slopes, inputs) if i == k)}) : 0;
% endfor
% for c in range(layout.columns):
                        if (first + ${c} < ${columns}) {
                            const real x_i = x[(first + ${c}) * size + i], x_j = x[(first + ${c}) * size + j];
% for k in wanted:
                            moment_${k}_${c} += slope_${k} * ${"(x_i - x_j) * (x_i - x_j)" if measures[k].kind == "sqdist" else "x_i * x_j"};
% endfor
                        }
% endfor
% endif
% endif
                    }
                }
${total(slots)}\
            if (THREAD == 0 && first == 0) {
% for name in sums:
                its[${numbers[name]}] = sum_of_${name};
% endfor
% if "sigma" in numbers:
                its[${numbers["sigma"]}] = 2 * trace * ${given["sigma"]}];
% endif
            }
% if wanted:
${total([f"moment_{k}_{c}" for k in wanted for c in range(layout.columns)])}\
% for name in dict.fromkeys(measures[k].scaled for k in wanted):
% for c in range(layout.columns):
            if (THREAD == 0 && first + ${c} < ${columns}) {
                const double scale = ${given[name]} + first + ${c}];
                double sum = 0;
% for k in wanted:
% if measures[k].scaled == name:
                sum += ${f"({measures[k].counts(f'first + {c}')}) ? moment_{k}_{c} : 0" if measures[k].columns else f"moment_{k}_{c}"};
% endif
% endfor
                its[${numbers[name]} + first + ${c}] = -2 * sum / (scale * scale * scale);
            }
% endfor
% endfor
% endif
        }
% endif
        BARRIER_GLOBAL();  // the next set's numbers take the places of this one's
    }
}
