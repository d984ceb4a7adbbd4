// Stable distributions

// tan(pi alpha / 2), 0 < alpha <= 2, alpha not 1
// reference: tests/test_densities.py
__device__ real stable_tangent(real alpha) { return alpha > 1 ? -tan(PI * (1 - 0.5 * alpha)) : tan(0.5 * PI * alpha); }

// The location in Nolan's parametrisation 0 of a variable of scale sigma whose location is 0 in his parametrisation 1
// reference: tests/test_densities.py
__device__ real stable_shift(real alpha, real beta, real sigma)
{
    return sigma * (beta * (alpha == 1 ? 2 / PI * log(sigma) : stable_tangent(alpha)));
}
