## The Vecchia approximation of a Gaussian process: for each point the normal distribution given its neighbours, which takes the
## factorisation of a small matrix. A block has `abreast` points at a time, and `rows` threads for each of them, so that on a CPU
## the lanes of a vector register have a point each, and on a GPU a warp has one.
##
## The lower triangle of the matrix is kept, a row for each neighbour, then one for the point and one for what is observed less the
## mean: factorising K turns
##       K                                    l
##       k'     k(x, x)           into         k' l'^-1    k(x, x)
##       y'     y                              z'          y
## and columns are taken `width` at a time, so that threads wait for one another three times for each of these.
<%
    value = codes[0]
    slope = codes[-1]
    G, P, W, m, p = layout.rows, layout.abreast, layout.width, neighbours, columns
    rest = m % W
    predicts = which == "predictions"
    scaled = [k for k, measure in enumerate(measures) if measure.scaled]
    given = {n: f"given[{n}_first + set * {n}_step" for n in inside}  # the C is to be ended by a bracket
    first = "first == 0 && " if chunks > 1 else ""
    slots = ["loglik", *(f"sum_of_{n}" for n in sums), *(["trace"] if "sigma" in numbers else [])]
    slots += ["slope_of_mean"] if "mean" in numbers else []
    moments = [f"moment_{k}_{c}" for k in wanted for c in range(layout.columns)]
%>\
#define LANE ${"0" if P == 1 else "THREAD" if G == 1 else f"(THREAD % {P})"}
#define ROW ${"0" if G == 1 else f"(THREAD / {P})" if P > 1 else "THREAD"}
#define AT(i, j) (((i) * ((i) + 1) / 2 + (j)) * (index_t)${P} + LANE)
#define OF(i) ((i) * (index_t)${P} + LANE)
#define TOGETHER() ${"" if G == 1 else "BARRIER()" if layout.in_shared else "BARRIER_GLOBAL()"}
## All pairs j <= i of neighbours and point, of which each thread of the point takes its share.
<%def name="pairs()">\
<% G, m = layout.rows, neighbours %>\
% if G == 1:
        for (int i = 0; i <= ${m}; i++)
            for (int j = 0; j <= i; j++) {
${caller.body()}\
            }
% else:
        for (int i = 0, j = (int)ROW;; j += ${G}) {
            while (j > i)
                j -= ++i;
            if (i > ${m})
                break;
${caller.body()}\
        }
% endif
</%def>
## Distances and scalar products of points i and j: seen0, seen1, ...
<%def name="see()">\
<% m, p = neighbours, columns %>\
% for k in range(len(measures)):
                real seen_${k} = 0;
% endfor
                for (int c = 0; c < ${p}; c++) {
                    const real x_i = xs[OF(c * ${m + 1} + i)], x_j = xs[OF(c * ${m + 1} + j)];
% for k, measure in enumerate(measures):
% if measure.columns is not None:
                    if (${measure.counts("c")})
% endif
                    seen_${k} += ${measure.term("x_i", "x_j", f"scales[{k * p} + c]")};
% endfor
                }
% for k, i in enumerate(inputs):
                const real seen${k} = seen_${i};
% endfor
</%def>
## Columns j0 .. j0 + width - 1 of the factor, with the reciprocals of what is on its diagonal.
<%def name="eliminate(width)">\
<% across, G, m = range(width), layout.rows, neighbours %>\
            for (int i = j0 + (int)ROW; i <= ${m + 1}; i += ${G}) {
% for c in across:
                real s_${c} = ${"" if c == 0 else f"j0 + {c} > i ? 0 : "}a[AT(i, j0 + ${c})];
% endfor
                for (int k = 0; k < j0; k++) {
                    const real l = a[AT(i, k)];
% for c in across:
                    s_${c} -= l * a[AT(j0 + ${c}, k)];
% endfor
                }
% for c in across:
                ${"" if c == 0 else f"if (j0 + {c} <= i) "}a[AT(i, j0 + ${c})] = s_${c};
% endfor
            }
            TOGETHER();
% for c in across:
% for e in range(c + 1):
            real d_${c}_${e} = a[AT(j0 + ${c}, j0 + ${e})];
% endfor
% endfor
% for e in across:
            const real r_${e} = d_${e}_${e} > 0 ? 1 / sqrt(d_${e}_${e}) : NAN;
% for c in range(e + 1, width):
            d_${c}_${e} *= r_${e};
% endfor
% for c in range(e + 1, width):
% for f in range(e + 1, c + 1):
            d_${c}_${f} -= d_${c}_${e} * d_${f}_${e};
% endfor
% endfor
% endfor
            TOGETHER();
            for (int i = j0 + (int)ROW; i <= ${m + 1}; i += ${G}) {
% for c in across:
                const real t_${c} = ((${"" if c == 0 else f"j0 + {c} > i ? 0 : "}a[AT(i, j0 + ${c})])${"".join(f" - t_{e} * d_{c}_{e}" for e in range(c))}) * r_${c};
% endfor
% for c in across:
                ${"" if c == 0 else f"if (j0 + {c} <= i) "}a[AT(i, j0 + ${c})] = i == j0 + ${c} ? r_${c} : t_${c};
% endfor
            }
            TOGETHER();
</%def>
## The same columns of K^-1 k, and of alpha = K^-1 y.
<%def name="substitute(width)">\
<% across, G, m = range(width), layout.rows, neighbours %>\
% for c in across:
            real w_${c} = a[AT(${m}, j0 + ${c})], q_${c} = a[AT(${m + 1}, j0 + ${c})];
% endfor
% for c in reversed(across):
            const real r_${c} = a[AT(j0 + ${c}, j0 + ${c})];
% for x in ("w", "q"):
            ${x}_${c} = (${x}_${c}${"".join(f" - a[AT(j0 + {e}, j0 + {c})] * {x}_{e}" for e in range(c + 1, width))}) * r_${c};
% endfor
% endfor
            for (int k = (int)ROW; k < j0; k += ${G}) {
                real w = a[AT(${m}, k)], q = a[AT(${m + 1}, k)];
% for c in across:
                const real l_${c} = a[AT(j0 + ${c}, k)];
                w -= l_${c} * w_${c};
                q -= l_${c} * q_${c};
% endfor
                a[AT(${m}, k)] = w;
                a[AT(${m + 1}, k)] = q;
            }
            if (ROW == 0) {
% for c in across:
                u[OF(j0 + ${c})] = -w_${c} * reciprocal;
                v[OF(j0 + ${c})] = z * q_${c} - excess * w_${c} * reciprocal;
% endfor
            }
            TOGETHER();
</%def>

% if predicts:
// mean[i] becomes the mean of the new point i, given its neighbours, and scale[i] the root of its variance plus noise[i].
% else:
// Of the n points behind `before` others, found[set][block]: the sum of log-densities but for a constant, ${", ".join(wrt) or "and nothing else"}. nan where there is none.
% endif
KERNEL(${layout.threads}) vecchia_${which}(
% if predicts:
    GLOBAL real *RESTRICT mean, index_t mean_start, GLOBAL real *RESTRICT scale, index_t scale_start,
    GLOBAL const real *RESTRICT noise, index_t noise_start, GLOBAL const real *RESTRICT new_x, index_t new_x_start,
% else:
    GLOBAL double *RESTRICT found,
% for name in by_row:
    GLOBAL real *RESTRICT ${name}_terms,
% endfor
% endif
    index_t n, ${"" if predicts else "index_t before, "}GLOBAL const int *RESTRICT nearest, index_t nearest_start, GLOBAL const real *RESTRICT x, index_t x_start,
    GLOBAL const real *RESTRICT y, index_t y_start, GLOBAL real *RESTRICT scratch, double lift,
    GLOBAL const double *RESTRICT given, ${", ".join(f"index_t {n}_first, index_t {n}_step" for n in inside)})
{
    SHARED_ARRAY(int, members, ${(m + 1) * P});
% if layout.in_shared:
    DYNAMIC_SHARED_ARRAY(real, shared, ${layout.numbers});
    SHARED real *const a = shared;
    SHARED real *const xs = a + ${(m + 2) * (m + 3) // 2 * P};
    SHARED real *const u = xs + ${(m + 1) * p * P};
    SHARED real *const v = u + ${(m + 1) * P};
% else:
    GLOBAL real *const a = scratch + (BLOCK_Y * BLOCKS_X + BLOCK_X) * ${layout.numbers};
    GLOBAL real *const xs = a + ${(m + 2) * (m + 3) // 2 * P};
    GLOBAL real *const u = xs + ${(m + 1) * p * P};
    GLOBAL real *const v = u + ${(m + 1) * P};
% endif
% if scaled:
    SHARED_ARRAY(real, scales, ${len(measures) * p});
% endif
    const index_t set = BLOCK_Y;
% if not predicts:
    SHARED_ARRAY(double, totals, ${layout.threads});
    bool valid = true;
% endif
% for name, condition in inside.items():
% if name in hyperparameters and name in vectors:
    const real ${hyperparameters[name]}_value = 1;
% if not predicts:
    for (int c = 0; c < ${p}; c++) {
        const double element = ${given[name]} + c];
        valid = valid && ${condition.format("element")};
    }
% endif
% elif name in hyperparameters:
    const double ${name}_given = ${given[name]}];
    const real ${hyperparameters[name]}_value = ${condition.format(f"{name}_given")} ? ${name}_given : 1;
% if not predicts:
    valid = valid && ${condition.format(f"{name}_given")};
% endif
% endif
% endfor
% for k in scaled:
    for (int c = (int)THREAD; c < ${p}; c += ${layout.threads})
        scales[${k * p} + c] = 1 / ${given[measures[k].scaled]} + c];
% endfor
% if value.set_type:
    const ${value.set_type} at_set = ${value.prepare_set("0")};
% endif
% if not predicts and slope is not value and slope.set_type:
    const ${slope.set_type} slope_set = ${slope.prepare_set("0")};
% endif
% if scaled:
    BARRIER();
% endif
% if not predicts:
    found += (set * BLOCKS_X + BLOCK_X) * ${len(slots) + len(wanted) * layout.columns * chunks};
    double ${", ".join(f"{s} = 0" for s in slots)};
% if chunks > 1:
    for (int first = 0; first < ${p}; first += ${layout.columns}) {
% endif
% if wanted:
    double ${", ".join(f"{s} = 0" for s in moments)};
% endif
% endif
    for (index_t start = BLOCK_X * ${P}; start < n; start += BLOCKS_X * ${P}) {
        const index_t point = start + LANE;
        const bool counts = point < n;
        TOGETHER();  // the last points' numbers have been read
        for (int i = (int)ROW; i <= ${m}; i += ${G}) {
            const int member = !counts ? -1 : i < ${m} ? nearest[nearest_start + point * ${m} + i] : ${"0" if predicts else "(int)(before + point)"};
            members[OF(i)] = member;
            for (int c = 0; c < ${p}; c++)
                xs[OF(c * ${m + 1} + i)] = member < 0 ? 0
                    : ${f"i == {m} ? new_x[new_x_start + point * {p} + c] : " if predicts else ""}x[x_start + (index_t)member * ${p} + c];
        }
        TOGETHER();
<%self:pairs>\
                const int one = members[OF(i)], other = members[OF(j)];
${see()}\
                real covariance = ${value.evaluate("row_", "at_set", "0", "0")};
                if (i == j && one >= 0${f" && i < {m}" if predicts else ""}) {
                    const double sigma = ${given["sigma"]}${" + one" if "sigma" in vectors else ""}];
                    covariance = covariance * (real)lift + (real)(${inside["sigma"].format("sigma")} ? sigma * sigma : NAN);
                }
                a[AT(i, j)] = one >= 0 && other >= 0 ? covariance : i == j;
</%self:pairs>\
        for (int i = (int)ROW; i <= ${m}; i += ${G}) {
            const int member = members[OF(i)];
            a[AT(${m + 1}, i)] = member < 0${f" || i == {m}" if predicts else ""} ? 0 : y[y_start + member] - ${given["mean"]}${" + member" if "mean" in vectors else ""}];
        }
        TOGETHER();
% if m >= W:
        for (int j0 = 0; j0 < ${m - rest}; j0 += ${W}) {
${eliminate(W)}\
        }
% endif
% if rest:
        {
            const int j0 = ${m - rest};
${eliminate(rest)}\
        }
% endif
        real square = 0, product = 0;
        for (int k = 0; k < ${m}; k++) {
            const real l = a[AT(${m}, k)];
            square += l * l;
            product += l * a[AT(${m + 1}, k)];
        }
        const real left = a[AT(${m}, ${m})] - square;
% if predicts:
        if (ROW == 0 && counts) {
            mean[mean_start + point] += left == left ? product : NAN;
            scale[scale_start + point] = sqrt((left < 0 ? 0 : left) + noise[noise_start + point]);  // below 0 by rounding alone
        }
% else:
        const real reciprocal = left > 0 ? 1 / sqrt(left) : NAN, z = (a[AT(${m + 1}, ${m})] - product) * reciprocal;
        if (${first}ROW == 0 && counts)
            loglik += log((double)reciprocal) - 0.5 * (double)z * (double)z;
% if wrt:
        // The derivative of the log-density in K is (u v' + v u') / 2, where u'y is z: u = l'^-1 e for the point's unit vector e.
        const real excess = (real)0.5 * (z * z - 1);
        TOGETHER();
% if rest:
        {
            const int j0 = ${m - rest};
${substitute(rest)}\
        }
% endif
% if m >= W:
        for (int j0 = ${m - rest - W}; j0 >= 0; j0 -= ${W}) {
${substitute(W)}\
        }
% endif
        if (ROW == 0) {
            u[OF(${m})] = reciprocal;
            v[OF(${m})] = excess * reciprocal;
        }
        TOGETHER();
        for (int i = (int)ROW; i <= ${m}; i += ${G})
            if (${first}counts && members[OF(i)] >= 0) {
% if "mean" in numbers:
                slope_of_mean += z * u[OF(i)];
% endif
% if "sigma" in numbers:
                trace += u[OF(i)] * v[OF(i)];
% endif
% for name in by_row:
                ${name}_terms[point * ${m + 1} + i] = ${{"mean": "z * u[OF(i)]", "y": "-z * u[OF(i)]", "sigma": "u[OF(i)] * v[OF(i)]"}[name]};
% endfor
            }
% if slope.function.results:
<%self:pairs>\
                const bool both = counts && members[OF(i)] >= 0 && members[OF(j)] >= 0;
                const real weight = i == j ? (real)lift * u[OF(i)] * v[OF(i)] : u[OF(i)] * v[OF(j)] + v[OF(i)] * u[OF(j)];
${see()}\
                const ${slope.function.type} result = ${slope.evaluate("row_", "slope_set", "0", "0")};
% for name, its in sums.items():
                sum_of_${name} += ${first}both ? weight * result.${its} : 0;
% endfor
% for k in wanted:
                const real slope_${k} = both ? weight * (${" + ".join(f"result.{s}" for s, i in zip(slopes, inputs) if i == k)}) : 0;
% endfor
% for c in range(layout.columns if wanted else 0):
                {
% if chunks > 1:
                    const int c = MIN(first + ${c}, ${p - 1});
% else:
                    const int c = ${c};
% endif
                    const real x_i = xs[OF(c * ${m + 1} + i)], x_j = xs[OF(c * ${m + 1} + j)];
% for k in wanted:
                    moment_${k}_${c} += slope_${k} * ${"((x_i - x_j) * (x_i - x_j))" if measures[k].kind == "sqdist" else "(x_i * x_j)"};
% endfor
                }
% endfor
</%self:pairs>\
% endif
% endif
% endif
    }
% if not predicts:
% if wanted:
${total(moments, f"{len(slots)}" + (f" + first * {len(wanted)}" if chunks > 1 else ""))}\
% endif
% if chunks > 1:
    }
% endif
    loglik = valid ? loglik : NAN;
${total(slots, "0")}\
% endif
}
## The sums of all threads' numbers, added in a fixed order.
<%def name="total(names, place)">\
% for s, name in enumerate(names):
    totals[THREAD] = ${name};
    for (int span = ${layout.threads // 2}; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    if (THREAD == 0)
        found[${place} + ${s}] = totals[0];
    BARRIER();
% endfor
</%def>
