// For the discrete densities

// log(x!), x a whole number >= 0: Stirling's formula without the branches of log_gamma
// reference: tests/rewriting/test_derivative_rules.py
__device__ real log_factorial(real x)
{
    if (x < 3) return x == 2 ? LOG_2 : 0;
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + stirling_series(x));
}

// log(x!) - (x log(x) - x), x a whole number >= 0
// reference: tests/rewriting/test_derivative_rules.py
__device__ real factorial_remainder(real x)
{
    if (x < 3) return x == 2 ? 2 - LOG_2 : x;
    return 0.5 * log(x) + (HALF_LOG_2PI + stirling_series(x));
}

// The sum of f(k) for k = a, a + 1, … less the integral of f from a - 1/2 on, f being smooth, from its values at a - 3, …, a + 2: the
// formula of Euler and Maclaurin for midpoints, in central differences, Abramowitz & Stegun (1964), 23.1.30.
// reference: tests/test_densities.py
__device__ real midpoint_correction(real f_3, real f_2, real f_1, real f0, real f1, real f2)
{
    real first = f0 - f_1, third = (f1 - f_2) - 3 * first, fifth = (f2 - f_3) - 5 * (f1 - f_2) + 10 * first;
    return 0.041666666666666667 * first - 0.0029513888888888889 * third + 0.00037925760582010582 * fifth;
}
