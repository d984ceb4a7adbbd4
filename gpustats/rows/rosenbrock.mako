## A step of a Rosenbrock method. Of few states the stages are written out. Of more they are turns of a loop, so that the text stays
## short: it knows the latest of the earlier ones by the highest number.
<%
last = stages - 1  # number of the earlier stages that a stage may have

def combined(weights):
    return "".join(f" + {w} * {stage}[j]" for w, stage in weights)

def of_stage(row, factor=1):
    return [(repr(w * factor), f"u{i}") for i, w in enumerate(row) if w]

def of_turn(letter):
    return [(f"{letter}{i}", f"u{i - 1}") for i in range(1, stages)]

def assigned(letter, row, factor=1):
    return [f"{letter}{i} = {w * factor!r};" for i, w in enumerate(row, stages - len(row)) if w]
%>\
<%def name="left(found)">\
% for j in range(n):
            rate[${j}] -= solved[${j}] - part * (${" + ".join(f"jacobian[{n * j + k}] * solved[{k}]" for k in range(n))});
% endfor
            ${name}_solve(factors, scales, rate, solved);
</%def>\
<%def name="stage(at, along, a, c, found, moves)">\
            for (int j = 0; j < ${n}; j++)
                next[j] = y[j]${combined(a)};
            ${name}(t + ${at} * h, next, rate${given});
            for (int j = 0; j < ${n}; j++) {
                rate[j] = part * (rate[j]${"" if along == "0.0" else f" + {along} * h * slope[j]"})${combined(c)};
% for i in moves:
                u${i}[j] = u${i + 1}[j];
% endfor
            }
            ${name}_solve(factors, scales, rate, solved);
            for (int j = 0; j < ${n}; j++) {
                solved[j] = stop_gradient(solved[j]);
                ${found}[j] = solved[j];
            }
            // The factors have no derivatives: what is left of the equations has the first ones, and what is left then the second.
${left(found)}\
            for (int j = 0; j < ${n}; j++)
                ${found}[j] += solved[j];
${left(found)}\
            for (int j = 0; j < ${n}; j++)
                ${found}[j] += zero_with_curvature(solved[j]);
</%def>\
        real jacobian[${n * n}], slope[${n}], factors[${n * n}], scales[${3 * n}], rate[${n}], solved[${n}];
        real ${", ".join(f"u{i}[{n}]" for i in range(stages if written_out else last))}, part = ${repr(method.gamma)} * h;
        derivative(${name}(t, y, jacobian${given}), y);
        derivative(${name}(t, y, slope${given}), t);
        for (int j = 0; j < ${n}; j++)
            for (int k = 0; k < ${n}; k++)
                factors[${n} * j + k] = stop_gradient((j == k ? 1.0 : 0.0) - part * jacobian[${n} * j + k]);
        ${name}_factor(factors, scales);
% if written_out:
% for i in range(stages):
        {
${stage(repr(method.alpha[i]), repr(method.gammas[i]), of_stage(method.a[i]), of_stage(method.c[i], method.gamma), f"u{i}", ())}\
        }
% endfor
% else:
        for (int j = 0; j < ${n}; j++) {
% for i in range(last):
            u${i}[j] = 0;
% endfor
        }
        for (int stage = 0; stage < ${stages}; stage++) {
            real at = 0, along = 0, ${", ".join(f"{letter}{i} = 0" for letter in "ac" for i in range(1, stages))};
% for i in range(stages):
            ${"} else " if i else ""}if (stage == ${i}) {
                at = ${repr(method.alpha[i])};
                along = ${repr(method.gammas[i])};
% for line in assigned("a", method.a[i]) + assigned("c", method.c[i], method.gamma):
                ${line}
% endfor
% endfor
            }
${stage("at", "along", of_turn("a"), of_turn("c"), f"u{last - 1}", range(last - 1))}\
        }
% endif
        for (int j = 0; j < ${n}; j++) {
            next[j] += u${last if written_out else last - 1}[j];
            wrong[j] = stop_gradient(u${last if written_out else last - 1}[j]);
        }
