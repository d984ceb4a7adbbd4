## Linear compartments in closed form: exponentials of a symmetric matrix in its eigenvectors, and its derivatives by the series of
## a perturbation (Daleckii and Krein), in which the eigenvectors stay: the eigenvalues, whose derivatives have no bounds where two
## meet, need none.
<%
first = int(absorption)  # place of the central compartment
%>\
// Divided differences of the exponential function in two to four points, which may be equal.
__device__ real ${name}_exp2(real a, real b)
{
    real high = fmax(a, b), gap = fmin(a, b) - high;
    return exp(high) * (gap == 0 ? 1 : expm1(gap) / gap);
}
__device__ real ${name}_exp3(real a, real b, real c)
{
    real low = fmin(a, fmin(b, c)), high = fmax(a, fmax(b, c)), mid = fmax(fmin(a, b), fmin(fmax(a, b), c));
    if (high - low > 1)
        return (${name}_exp2(mid, high) - ${name}_exp2(low, mid)) / (high - low);
    real power = 1, sum = 1, factor = 0.5, total = 0.5;
    for (int k = 1; k < 18; k++) {  // complete symmetric polynomials of the distances from one point
        power *= low - mid;
        sum = sum * (high - mid) + power;
        factor /= k + 2;
        total += factor * sum;
    }
    return exp(mid) * total;
}
__device__ real ${name}_exp4(real a, real b, real c, real d)
{
    real low = fmin(fmin(a, b), fmin(c, d)), high = fmax(fmax(a, b), fmax(c, d));
    real one = fmax(fmin(a, b), fmin(c, d)), other = fmin(fmax(a, b), fmax(c, d));
    if (high - low > 1)
        return (${name}_exp3(one, other, high) - ${name}_exp3(low, one, other)) / (high - low);
    real power = 1, sum = 1, next = 1, factor = 1.0 / 6, total = factor;
    for (int k = 1; k < 18; k++) {
        power *= low - one;
        sum = sum * (high - one) + power;
        next = next * (other - one) + sum;
        factor /= k + 3;
        total += factor * next;
    }
    return exp(one) * total;
}
// ${name}_advance: amounts y at `end`, from those at `start`: ${", ".join(["depot"] * absorption + ["central", "first peripheral", "second peripheral"][:n])}.
// source: Gibaldi and Perrier (1982), Pharmacokinetics; Higham (2008), Functions of Matrices, sec. 3.2 and 10.1
__device__ void ${name}_advance(real start, real end, real *y, ${", ".join(f"real {p}" for p in parameters)})
{
    real time = end - start, root[${n}], flow[${n}], h[${n * n}], u[${n * n}], p[${n * n}], rate[${n}], own[${n}], moved[${n * n}], after[${n}];
    int inside = ${" && ".join([*(f"{v} > 0" for v in volumes), *(f"{q} >= 0" for q in flows), *["ka >= 0"] * absorption])};
% for i in range(n):
    root[${i}] = sqrt(${volumes[i]});
    flow[${i}] = time * ${flows[i]};
% endfor
    // Minus the sum of flow p p', each flow by what drives it, a concentration or the difference of two; its eigenvectors, by
    // Jacobi's rotations, are the columns of u.
    for (int i = 0; i < ${n}; i++)
        for (int j = 0; j < ${n}; j++) {
            h[${n} * i + j] = 0;
            u[${n} * i + j] = i == j;
        }
    h[0] = stop_gradient(-(${" + ".join(f"flow[{i}]" for i in range(n))}) / V);
% for i in range(1, n):
    h[${i}] = stop_gradient(flow[${i}] / (root[0] * root[${i}]));
    h[${(n + 1) * i}] = stop_gradient(-flow[${i}] / ${volumes[i]});
% endfor
% if n > 1:
    real gap = 0, twice = 0, far = 0, turn = 0, c = 0, s = 0, one = 0;
% for i, j in turned:
    gap = h[${(n + 1) * j}] - h[${(n + 1) * i}];
    twice = 2 * h[${n * i + j}];
    far = fabs(gap) + hypot(gap, twice);
    turn = far > 0 ? (gap < 0 ? -twice : twice) / far : 0;
    c = 1 / sqrt(1 + turn * turn);
    s = turn * c;
    h[${(n + 1) * i}] -= turn * 0.5 * twice;
    h[${(n + 1) * j}] += turn * 0.5 * twice;
    h[${n * i + j}] = 0;
% for k in range(n):
% if k not in (i, j):
<% a, b = (f"h[{n * min(k, m) + max(k, m)}]" for m in (i, j)) %>\
    one = ${a};
    ${a} = c * one - s * ${b};
    ${b} = s * one + c * ${b};
% endif
    one = u[${n * k + i}];
    u[${n * k + i}] = c * one - s * u[${n * k + j}];
    u[${n * k + j}] = s * one + c * u[${n * k + j}];
% endfor
% endfor
% endif
    for (int i = 0; i < ${n}; i++) {
        rate[i] = 0;
        own[i] = 0;
        for (int k = 0; k < ${n}; k++) {
            p[${n} * k + i] = u[i] / root[0] - (k > 0 ? u[${n} * k + i] / root[k] : 0);
            rate[i] -= stop_gradient(flow[k] * p[${n} * k + i] * p[${n} * k + i]);
            own[i] += u[${n} * k + i] / root[k] * y[k + ${first}];
        }
% if n > 1:
        // where a flow is fast, a difference of concentrations is what the slower eigenvalues leave of it
        for (int k = 1; k < ${n}; k++) {
            real slow = rate[i] * root[k] * root[k], direct = p[${n} * k + i];
            direct = fabs(slow) < 0.1 * fabs(flow[k]) ? slow * u[${n} * k + i] / (flow[k] * root[k]) : direct;
            p[${n} * k + i] = stop_gradient(direct) + zero_with_slope(p[${n} * k + i]);
        }
% endif
    }
    for (int i = 0; i < ${n}; i++)  // the matrix in its eigenvectors, less the eigenvalues: 0, unlike its derivatives
        for (int j = 0; j < ${n}; j++) {
            moved[${n} * i + j] = i == j ? -rate[i] : 0;
            for (int k = 0; k < ${n}; k++)
                moved[${n} * i + j] -= flow[k] * p[${n} * k + i] * p[${n} * k + j];
        }
% if infusion:
    real infused = infusion * time / root[0];
% endif
% if absorption:
    real absorbed = ka * time * y[0] / root[0], gone = stop_gradient(-ka * time), later = -ka * time - gone;
% endif
% for array, values in tables.items():
    real ${array}[${len(values)}] = {${", ".join(values)}};
% endfor
% for i, (value, slope, curvature) in enumerate(along):
    after[${i}] = ${value}
        + zero_with_slope(${slope})
        + zero_with_curvature(${curvature});
% endfor
% if absorption:
    y[0] = inside ? y[0] * exp(-ka * time) : NAN;
% endif
    for (int k = 0; k < ${n}; k++) {
        y[k + ${first}] = 0;
        for (int i = 0; i < ${n}; i++)
            y[k + ${first}] += u[${n} * k + i] * after[i];
        y[k + ${first}] = inside ? y[k + ${first}] * root[k] : NAN;
    }
}
