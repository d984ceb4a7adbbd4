// Logarithms of distribution functions in closed form

// log(log(1 + exp(x))), any x. Scaled error 2.
// reference: log_log1pexp(x) = log(log1p(exp(x))), x in (-5, 5.5)
__device__ real log_log1pexp(real x)
{
    return x < log(EPSILON) ? x : log(log1pexp(x));
}

// log(-log(1 - exp(x))), x <= 0. Scaled error 2.
// reference: log_minus_log1mexp(x) = log(-log(-expm1(x))), x in (-5, -0.05)
__device__ real log_minus_log1mexp(real x)
{
    return x < log(EPSILON) ? x : log(-log1mexp(x));
}

// log(exp(x) - 1), x >= 0. Scaled error 2.
// reference: log_expm1(x) = log(expm1(x)), x in (0.1, 5)
__device__ real log_expm1(real x)
{
    return x + log1mexp(-x);
}

// exp(-z) - 1, also relative to z where that is small, with the same exponential as the next one. Error 40.
// derivative: -exp(-z) * dz
// reference: log_gumbel_density_slope(z) = expm1(-z), z in (-3, 4.5)
__device__ real log_gumbel_density_slope(real z)
{
    real e = exp(-z), series = 1 - z * (0.5 - z * (0.16666666666666667 - z * (0.041666666666666667 - z * (
                               0.0083333333333333333 - z * 0.0013888888888888889))));
    return fabs(z) < 0.02 ? -z * series : e - 1;
}

// -z - exp(-z), the logarithm of the density of the standard Gumbel distribution, whose slope has all digits near the mode, too.
// Scaled error 2.
// derivative: log_gumbel_density_slope(z) * dz
// reference: log_gumbel_density(z) = -z - exp(-z), z in (-3, 4.5)
__device__ real log_gumbel_density(real z)
{
    return -z - exp(-z);
}

// x - 1 + exp(-x), any x, without cancellation near 0. Error 6.
// reference: expm1_excess(x) = x + expm1(-x), x in (0.01, 3)
__device__ real expm1_excess(real x)
{
    return fabs(x) < 0.5 ? -log1pmx(expm1(-x)) : x + expm1(-x);
}
