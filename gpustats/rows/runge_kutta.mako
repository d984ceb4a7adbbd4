## A step of an explicit Runge-Kutta pair.
<%
def combined(weights):
    return " + ".join(f"{w!r} * {stage}[j]" for w, stage in zip(weights, k) if w)
%>\
% for i, weights in enumerate(method.a[1:], 1):
        for (int j = 0; j < ${n}; j++)
            next[j] = y[j] + h * (${combined(weights)});
        ${name}(t + ${repr(method.c[i])} * h, next, ${k[i]}${given});
% endfor
        for (int j = 0; j < ${n}; j++)
            wrong[j] = stop_gradient(h * (${combined(method.error)}));
