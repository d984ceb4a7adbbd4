// The gamma function and its kin

// log Gamma(2 + z), |z| <= 1
// reference: log_gamma_near_two(z) = loggamma(2 + z), z in (-0.9, 0.95)
__device__ real log_gamma_near_two(real z)
{
    real numerator = 0.4227843350984671393 + z * (0.7446983132107947606 + z * (0.5193055283793975869 + z * (
                     0.1815238264834719641 + z * (0.0330824603310423564 + z * (0.002935427941079408713 + z * (
                     9.982884455195008484e-5 + z * (3.896344535820739269e-7 + z * (
                     -2.74724591681427145e-9))))))));
    real denominator = 1.0 + z * (1.998691873690975826 + z * (1.624572734572609033 + z * (
                       0.6882797416261857106 + z * (0.1616150908767978973 + z * (0.02056718584681987448 + z * (
                       0.001269421114541973567 + z * (2.769495701127702445e-5)))))));
    return z * (z + 1) * (numerator / denominator);
}

// The remainder of Stirling's formula, x >= 3; see stirling_error.
// derivative: stirling_series_derivative(x) * dx
// reference: stirling_series(x) = stirling_error(x), x in (3, 30)
__device__ real stirling_series(real x)
{
    real v = 1 / x, s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (
                -0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (
                -0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (
                0.04649879924372260093 + s * (-0.06067253307630472635))))))))));
}

// log Gamma(x), x >= 0, accurate near its zeros 1 and 2 as well: OpenCL promises nothing of its lgamma. Error 3.
// derivative: digamma(x) * dx
// reference: log_gamma(x) = loggamma(x), x in (0.2, 9)
__device__ real log_gamma(real x)
{
    real log_x = log(x);
    if (x < 3) return log_gamma_near_two(x < 1.5 ? x - 1 : x - 2) - (x < 1.5 ? log_x : 0);
    return (x - 0.5) * (log_x - 1) + ((HALF_LOG_2PI - 0.5) + stirling_series(x));
}

// log Gamma(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2), x >= 0: the error of Stirling's formula. Scaled error 3.
// Source: Loader (2000), Fast and accurate computation of binomial probabilities.
// derivative: stirling_error_derivative(x) * dx
// reference: stirling_error(x) = stirling_error(x), x in (0.3, 9)
__device__ real stirling_error(real x)
{
    if (x >= 3) return stirling_series(x);
    real shift = x < 1.5 ? 1 : 0;
    return log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

// x log(x / m) + m - x, the deviance of a Poisson count x with mean m, x >= 0, m > 0, without cancellation near x = m.
// Error 3. Source: Loader (2000).
// reference: bd0(x, m) = x * log(x / m) + m - x, x in (0.3, 5), m in (0.4, 5.5)
__device__ real bd0(real x, real m)
{
    return x == 0 ? m : -x * log_ratio_excess(m / x, (m - x) / x);
}

// Whether log Gamma(shape) is so large that subtracting it would cost digits, so that a saddle-point formula, slower
// than the textbook's, is worth its price.
// reference: tests/rewriting/test_derivative_rules.py
__device__ int large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

// log B(a, b), the beta function, a >= 0, b >= 0, not both 0. From Stirling's formula with its remainder, as in
// DiDonato & Morris (1992), Algorithm 708. Scaled error 3.
// derivative: lbeta_derivative(a, b) * da + lbeta_derivative(b, a) * db
// reference: lbeta(a, b) = loggamma(a) + loggamma(b) - loggamma(a + b), a in (0.2, 6), b in (0.3, 7)
__device__ real lbeta(real a, real b)
{
    real p = fmin(a, b), q = fmax(a, b);
    return (stirling_error(p) + (stirling_error(q) - stirling_error(p + q)) + HALF_LOG_2PI - 0.5 * log(q))
         - (p - 0.5) * log1p(q / p) - q * log1p(p / q);
}

// The derivative of stirling_series, x >= 3. Error 2.
// reference: tests/rewriting/test_derivative_rules.py
__device__ real stirling_series_derivative(real x)
{
    real v = 1 / x, s = v * v;
    return -s * (0.08333333333333287574 + s * (-0.008333333332332800767 + s * (0.003968253600942064197 + s * (
                 -0.004166613154056894626 + s * (0.007571670662698111168 + s * (-0.02090499271669974631 + s * (
                 0.07768996902561712723 + s * (-0.3252522243739799449 + s * (1.221386329628660646 + s * (
                 -3.22008126684131239 + s * (4.154095689406029601)))))))))));
}

// The derivative of log Gamma(x), x > 0. Scaled error 3. Recurrence: Abramowitz & Stegun (1964), 6.3.6.
// derivative: trigamma(x) * dx
// reference: digamma(x) = digamma(x), x in (0.2, 15)
// reference: digamma(a) = digamma(a), a in (50, 10000.0)
__device__ real digamma(real x)
{
    real y = x < 3 ? x + 3 : x, sum = x < 3 ? (2 + x * (6 + 3 * x)) / (x * (1 + x) * (2 + x)) : 0;
    return log(y) - (0.5 / y + sum) + stirling_series_derivative(y);
}

// The second derivative of log Gamma(x), x > 0. Error 3. Recurrence: Abramowitz & Stegun (1964), 6.4.6.
// reference: trigamma(x) = psi(1, x), x in (0.3, 15)
__device__ real trigamma(real x)
{
    real y = x < 3 ? x + 3 : x, v = 1 / y, s = v * v;
    real r = 1 / (x * (1 + x) * (2 + x)), p = (1 + x) * (2 + x) * r, q = x * (2 + x) * r, t = x * (1 + x) * r;
    return (x < 3 ? p * p + q * q + t * t : 0) + v * (1 + 0.5 * v
         + s * (0.1666666666666652747 + s * (-0.03333333332971114831 + s * (0.02380952222484256939 + s * (
              -0.0333330571350264598 + s * (0.07573217651759593543 + s * (-0.2516954519098532171 + s * (
              1.114307552804741357 + s * (-5.731076524516213901 + s * (28.51955071846083844 + s * (
              -113.8134442916632983 + s * (299.6406313334971875 + s * (-374.8953647533587819)))))))))))));
}

// The derivative of stirling_error, x > 0: digamma(x) - log(x) + 1 / (2 x).
// reference: tests/rewriting/test_derivative_rules.py
__device__ real stirling_error_derivative(real x)
{
    return x < 3 ? digamma(x) - log(x) + 0.5 / x : stirling_series_derivative(x);
}

// log(x) - digamma(x), x > 0, without cancellation where x is large.
// reference: log_minus_digamma(x) = log(x) - digamma(x), x in (0.2, 15)
__device__ real log_minus_digamma(real x)
{
    return 0.5 / x - stirling_error_derivative(x);
}

// The derivative of lbeta in a, digamma(a) - digamma(a + b), a > 0, b > 0, without cancellation where a is large.
// reference: tests/language/test_incomplete_functions.py
__device__ real lbeta_derivative(real a, real b)
{
    real sum = a + b;
    return (stirling_error_derivative(a) - stirling_error_derivative(sum)) - 0.5 * b / (a * sum) - log1p(b / a);
}
