// Sums of powers and the zeta function

// The derivative of relative_expm1. Error 10.
// reference: relative_expm1_slope(x) = ((x - 1) * exp(x) + 1) / x ** 2, x in (-3, 3.5)
__device__ real relative_expm1_slope(real x)
{
    real term = 0.5, sum = 0.5;
    if (fabs(x) > 2) return ((x - 1) * exp(x) + 1) / (x * x);
    for (int k = 1; k < 30; k++) {
        term *= x * (k + 1) / ((real)k * (k + 2));
        sum += term;
    }
    return sum;
}

// (exp(x) - 1) / x, any x. Error 2.
// derivative: relative_expm1_slope(x) * dx
// reference: relative_expm1(x) = expm1(x) / x, x in (-3, 3.5)
__device__ real relative_expm1(real x)
{
    return x == 0 ? 1 : expm1(x) / x;
}

// The sum of (m / k)^a for k = m + 1, …, n, a >= 0, m >= 1, n >= m whole numbers, n possibly infinite where a > 1. Error 20.
// Euler's and Maclaurin's formula, behind a few terms where it would not be accurate: Abramowitz & Stegun (1964), 23.1.30.
// reference: power_sum(a, 2, 40) = sum(((mpf(2) / k) ** a for k in range(3, 41))), a in (0.2, 5)
__device__ real power_sum(real a, real m, real n)
{
    real sum = 0, k = m + 1, start = fmax((real)12, a);
    for (int i = 0; i < 70 && k <= n && k < start; i++) {
        sum += exp(-a * log1p((k - m) / m));
        k++;
    }
    if (k > n || k < start) return sum;  // behind 70 terms, others do not count
    real first = exp(-a * log1p((k - m) / m)), last = isinf(n) ? 0 : exp(-a * log1p((n - m) / m)), length = log1p((n - k) / k);
    real integral = isinf(n) ? 1 / (a - 1) : length * relative_expm1((1 - a) * length);
    real left = a / k, right = isinf(n) ? 0 : a / n, s = 1 / (k * k), t = isinf(n) ? 0 : 1 / (n * n), ends = 0;
    for (int j = 1; j < 10; j++) {
        real number = j == 1 ? 1.0 / 12 : j == 2 ? -1.0 / 720 : j == 3 ? 1.0 / 30240 : j == 4 ? -1.0 / 1209600
                    : j == 5 ? 1.0 / 47900160 : j == 6 ? -691.0 / 1307674368000.0 : j == 7 ? 1.0 / 74724249600.0
                    : j == 8 ? -3617.0 / 10670622842880000.0 : 43867.0 / 5109094217170944000.0;
        ends += number * (left * first - right * last);
        left *= (a + 2 * j - 1) * (a + 2 * j) * s;
        right *= (a + 2 * j - 1) * (a + 2 * j) * t;
    }
    return sum + (first * (k * integral) + 0.5 * (first + last) + ends);
}

// log of the sum of k^-a for k = m, …, n
// reference: log_power_sum(a, 2, 40) = log(sum((mpf(k) ** (-a) for k in range(2, 41)))), a in (0.2, 5)
__device__ real log_power_sum(real a, real m, real n)
{
    return log1p(power_sum(a, m, n)) - a * log(m);
}

// log zeta(a), a > 1, also relative to itself where a is large. Error 20.
// reference: log_zeta(a) = log(zeta(a)), a in (1.1, 20)
__device__ real log_zeta(real a)
{
    return log1p(power_sum(a, (real)1, INFINITY));
}
