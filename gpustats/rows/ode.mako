## Steps of an ordinary differential equation, with a step size that the error decides.
${functions}\
// ${name}_advance: y at `end`, from y at `start`, by ${method.title}; nan where the error asks for more than ${max_steps} steps.
// ${name}: the rates of change, ${name}(t, y, rates, …).
__device__ void ${name}_advance(real start, real end, real *y${"".join(f", real {p}" for p in parameters)})
{
    real t = start, span = end - start, first[${n}], next[${n}], wrong[${n}]${"".join(f", {k}[{n}]" for k in method.kept)};
    real step = 0, low = 0, high = 0;
    int taken = 0;
    ${name}(t, y, first${given});
    for (int i = 0; i < ${n}; i++) {  // a first step by which y changes by a hundredth, where it is large: Hairer et al., II.4
        real scale = ${atol} + ${rtol} * fabs(stop_gradient(y[i]));
        low += stop_gradient(y[i] / scale) * stop_gradient(y[i] / scale);
        high += stop_gradient(first[i] / scale) * stop_gradient(first[i] / scale);
    }
    if (isnan(low + high))
        taken = -1;
    step = low > 1e-10 && high > 1e-10 ? 0.01 * sqrt(low / high) : 1e-6;
    for (int i = 0; i < ${max_steps} && (t != end || i == 0) && taken >= 0; i++) {  // one even of no length, which has a derivative in the end
        real h = end - t, error = 0;
        if (fabs(h) > step + 1e-13 * fabs(span))
            h = h < 0 ? -stop_gradient(step) : stop_gradient(step);
${method.step(name, n, given)}\
        for (int j = 0; j < ${n}; j++) {
            real scale = ${atol} + ${rtol} * fmax(fabs(stop_gradient(y[j])), fabs(stop_gradient(next[j])));
            error += (wrong[j] / scale) * (wrong[j] / scale);
        }
        error = isnan(error) ? INFINITY : sqrt(error / ${n});
        if (error <= 1) {
            t = h == end - t ? end : t + h;
            for (int j = 0; j < ${n}; j++) {
                y[j] = next[j];
% if method.kept:
                first[j] = ${method.kept[-1]}[j];
% endif
            }
        }
        step = fabs(h) * fmin(${repr(method.most)}, fmax(0.2, 0.9 * pow(fmax(error, 1e-10), -1.0 / ${method.order})));
        if (step <= fabs(h) && t + step == t)
            taken = -1;
    }
    if (t != end)
        for (int j = 0; j < ${n}; j++)
            y[j] = NAN;
}
