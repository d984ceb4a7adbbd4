## A step of a Rosenbrock method. The stages are turns of a loop, which knows the latest of the earlier ones by the highest number.
<%
last = stages - 1  # number of the earlier stages that a stage may have

def combined(letter):
    return " + ".join(f"{letter}{i} * u{i}[j]" for i in range(1, stages))

def weights(letter, row):
    return [f"{letter}{i} = {w!r};" for i, w in enumerate(row, stages - len(row)) if w]
%>\
<%def name="left()">\
% for j in range(n):
            rate[${j}] -= solved[${j}] - part * (${" + ".join(f"jacobian[{n * j + k}] * solved[{k}]" for k in range(n))});
% endfor
            ${name}_solve(factors, scales, rate, solved);
</%def>\
        real jacobian[${n * n}], slope[${n}], factors[${n * n}], scales[${3 * n}], rate[${n}], solved[${n}];
        real ${", ".join(f"u{i}[{n}]" for i in range(1, stages))}, part = ${repr(method.gamma)} * h;
        derivative(${name}(t, y, jacobian${given}), y);
        derivative(${name}(t, y, slope${given}), t);
        for (int j = 0; j < ${n}; j++)
            for (int k = 0; k < ${n}; k++)
                factors[${n} * j + k] = stop_gradient((j == k ? 1.0 : 0.0) - part * jacobian[${n} * j + k]);
        ${name}_factor(factors, scales);
        for (int j = 0; j < ${n}; j++) {
% for i in range(1, stages):
            u${i}[j] = 0;
% endfor
        }
        for (int stage = 0; stage < ${stages}; stage++) {
            real at = 0, along = 0, ${", ".join(f"{letter}{i} = 0" for letter in "ac" for i in range(1, stages))};
% for i in range(stages):
            ${"} else " if i else ""}if (stage == ${i}) {
                at = ${repr(method.alpha[i])};
                along = ${repr(method.gammas[i])};
% for line in weights("a", method.a[i]) + weights("c", method.c[i]):
                ${line}
% endfor
% endfor
            }
            for (int j = 0; j < ${n}; j++)
                next[j] = y[j] + ${combined("a")};
            ${name}(t + at * h, next, rate${given});
            for (int j = 0; j < ${n}; j++) {
                rate[j] = part * (rate[j] + along * h * slope[j]) + ${repr(method.gamma)} * (${combined("c")});
% for i in range(1, last):
                u${i}[j] = u${i + 1}[j];
% endfor
            }
            ${name}_solve(factors, scales, rate, solved);
            for (int j = 0; j < ${n}; j++) {
                solved[j] = stop_gradient(solved[j]);
                u${last}[j] = solved[j];
            }
            // The factors have no derivatives: what is left of the equations has the first ones, and what is left then the second.
${left()}\
            for (int j = 0; j < ${n}; j++)
                u${last}[j] += solved[j];
${left()}\
            for (int j = 0; j < ${n}; j++)
                u${last}[j] += zero_with_curvature(solved[j]);
        }
        for (int j = 0; j < ${n}; j++) {
            next[j] += u${last}[j];
            wrong[j] = stop_gradient(u${last}[j]);
        }
