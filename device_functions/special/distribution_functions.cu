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

// x - 1 + exp(-x), any x, without cancellation near 0. Error 6.
// reference: expm1_excess(x) = x + expm1(-x), x in (0.01, 3)
__device__ real expm1_excess(real x)
{
    return fabs(x) < 0.5 ? -log1pmx(expm1(-x)) : x + expm1(-x);
}
