## QR factors of a small matrix by Householder's reflections, which need no pivots: Golub and Van Loan (2013), section 5.2.
## Rows are divided by their largest elements first, so that each has errors of its own size. Where elements are variables, a pivot
## in a row that only the numbers tell would be a choice among all rows, for each of them.
<%
def at(i, k):
    return f"a[{n * i + k}]"

def largest(i):
    found = f"fabs({at(i, 0)})"
    for k in range(1, n):
        found = f"fmax({found}, fabs({at(i, k)}))"
    return found

def product(k, other):
    return " + ".join(f"{at(i, k)} * {other(i)}" for i in range(k, n))
%>\
// ${name}_factor: reflections in the lower triangle of a matrix, R above it, and what multiplies: reflections, solutions, rows.
__device__ void ${name}_factor(real *a, real *scales)
{
    real size = 0, along = 0;
% for i in range(n):
    size = ${largest(i)};
    scales[${2 * n + i}] = 1 / size;
% for k in range(n):
    ${at(i, k)} *= scales[${2 * n + i}];
% endfor
% endfor
% for k in range(n - 1):
    size = sqrt(${product(k, lambda i: at(i, k))});
    size = ${at(k, k)} < 0 ? -size : size;
    ${at(k, k)} += size;
    scales[${k}] = 1 / (size * ${at(k, k)});
    scales[${n + k}] = -1 / size;
% for j in range(k + 1, n):
    along = scales[${k}] * (${product(k, lambda i: at(i, j))});
% for i in range(k, n):
    ${at(i, j)} -= along * ${at(i, k)};
% endfor
% endfor
% endfor
    scales[${2 * n - 1}] = 1 / ${at(n - 1, n - 1)};
}
// ${name}_solve: x of a x = b, with the factors of a.
__device__ void ${name}_solve(const real *a, const real *scales, const real *b, real *x)
{
    real along = 0;
    for (int i = 0; i < ${n}; i++)
        x[i] = b[i] * scales[${2 * n} + i];
% for k in range(n - 1):
    along = scales[${k}] * (${product(k, lambda i: f"x[{i}]")});
% for i in range(k, n):
    x[${i}] -= along * ${at(i, k)};
% endfor
% endfor
% for k in reversed(range(n)):
% for j in range(k + 1, n):
    x[${k}] -= ${at(k, j)} * x[${j}];
% endfor
    x[${k}] *= scales[${n + k}];
% endfor
}
