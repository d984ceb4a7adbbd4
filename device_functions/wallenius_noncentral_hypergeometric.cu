// wallenius_noncentral_hypergeometric: successes among n objects drawn one by one, by the weights of those that are left
// used for: draws one by one in which some objects are preferred, such as prey, or genes in gene sets
// x: nonnegative integer    N: nonnegative integer, objects in all    k: nonnegative integer, successes among them
// n: nonnegative integer, objects drawn    omega: positive, weight of a success over that of a failure
// mass: (0 if x < max(0, n - N + k) or x > min(n, k) else 1 if n == N else binomial(k, x) * binomial(N - k, n - x) *
// Integral((1 - t**(omega / d))**x * (1 - t**(1 / d))**(n - x), t, 0, 1))    d = omega * (k - x) + N - k - n + x
// source: Fog (2008), Calculation methods for Wallenius' noncentral hypergeometric distribution
//
// As if each object had an exponential time of its own, and the n shortest were drawn: x successes and y failures before
// the time u, at which the last of them is followed by another one. In v = log(u) the integrand is log-concave, and all digits
// of the trapezoidal rule are right: Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule.

// log((1 - exp(-omega u))^x (1 - exp(-u))^y u exp(-rate u)) without its constants
__device__ real exponent(real v, real x, real y, real rate, real omega)
{
    real u = exp(v);
    return (x == 0 ? 0 : x * log1mexp(-omega * u)) + (y == 0 ? 0 : y * log1mexp(-u)) + v - rate * u;
}

// a / (exp(a) - 1), the derivative of log(1 - exp(-a)) in log(a)
__device__ real share(real a) { return a > 0 ? a / expm1(a) : 1; }

// Where the integrand is largest: its derivative falls. A point near by is enough.
__device__ real peak(real x, real y, real rate, real omega)
{
    real low = -log((x + y + 1) * (1 + omega) + rate) - 2, high = log((x + y + 1) / rate) + 1;
    real v = 0.5 * (low + high), step = 1;
    for (int i = 0; i < 60 && step > 1e-3; i++) {
        real u = exp(v), first = share(omega * u), second = share(u), slope = x * first + y * second + 1 - rate * u;
        real bend = x * first * (omega * u + first - 1) + y * second * (u + second - 1) + rate * u;
        low = slope > 0 ? v : low;
        high = slope > 0 ? high : v;
        real next = v + slope / bend;
        next = next > low && next < high ? next : 0.5 * (low + high);
        step = fabs(next - v) * sqrt(bend + 1);
        v = next;
    }
    return v;
}

__device__ real peak_grad_omega(real x, real y, real rate, real omega)
{
    return 0;  // the integral does not depend on where it begins
}

__device__ real peak_grad_rate(real x, real y, real rate, real omega) { return 0; }

// The logarithm of the probability that x of k objects are drawn before a time, a = weight * time
__device__ real log_drawn(real x, real k, real a)
{
    return a < LOG_2 ? binomial_logpmf(x, k, -expm1(-a)) : binomial_logpmf(k - x, k, exp(-a));
}

// The logarithm of the integral, relative to its integrand at v
__device__ real log_integral(real v, real x, real y, real rate, real omega)
{
    real top = exponent(v, x, y, rate, omega), sum = 1, step = 0.5 / sqrt(x + y + 7);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 3000 && term > 0.01 * EPSILON * sum; i++) {
            term = exp(exponent(v + side * i * step, x, y, rate, omega) - top);
            sum += term;
        }
    }
    return log(step) + log(sum);
}

__device__ real wallenius_noncentral_hypergeometric_logpmf(real x, real N, real k, real n, real omega)
{
    if (k > N || n > N || isinf(omega)) return NAN;
    if (x > k || x > n || n - x > N - k) return -INFINITY;
    real y = n - x, rate = omega * (k - x) + (N - k - y);
    if (rate == 0 || n == 0) return 0;
    real v = peak(x, y, rate, omega), u = exp(v);
    return log_drawn(x, k, omega * u) + log_drawn(y, N - k, u) + log(rate) + v + log_integral(v, x, y, rate, omega);
}

// log P(X <= x) if step = -1, or log P(X >= x), of 1, outwards from x
__device__ real log_sum(real x, real step, real N, real k, real n, real omega)
{
    real top = wallenius_noncentral_hypergeometric_logpmf(x, N, k, n, omega), sum = 1, last = 1;
    real end = step > 0 ? fmin(k, n) : fmax(n - (N - k), (real)0);
    int steps = (int)fabs(end - x), done = 0;
    for (int i = 1; i <= steps && !done; i++) {
        real term = exp(wallenius_noncentral_hypergeometric_logpmf(x + step * i, N, k, n, omega) - top);
        done = term * term < 0.01 * EPSILON * (last - term) * sum;
        sum += term;
        last = term;
    }
    return top + log(sum);
}

// The mean, roughly: the root of (1 - x / k)^(1 / omega) = 1 - (n - x) / (N - k)
__device__ real middle(real N, real k, real n, real omega)
{
    real low = fmax(n - (N - k), (real)0), high = fmin(k, n);
    for (int i = 0; i < 40 && high - low > 0.01; i++) {
        real x = 0.5 * (low + high);
        int below = log1p(-x / k) > omega * log1p(-(n - x) / (N - k));
        low = below ? x : low;
        high = below ? high : x;
    }
    return 0.5 * (low + high);
}

__device__ real wallenius_noncentral_hypergeometric_logcdf(real x, real N, real k, real n, real omega)
{
    if (x >= fmin(k, n)) return 0;
    if (n - x > N - k) return -INFINITY;
    return x + 0.5 < middle(N, k, n, omega) ? log_sum(x, -1, N, k, n, omega)
         : log1mexp(log_sum(x + 1, 1, N, k, n, omega));
}

__device__ real wallenius_noncentral_hypergeometric_logsf(real x, real N, real k, real n, real omega)
{
    if (x >= fmin(k, n)) return -INFINITY;
    if (n - x > N - k) return 0;
    return x + 0.5 < middle(N, k, n, omega) ? log1mexp(log_sum(x, -1, N, k, n, omega))
         : log_sum(x + 1, 1, N, k, n, omega);
}

// One object after another
__device__ real wallenius_noncentral_hypergeometric_sample(rng_t *rng, real N, real k, real n, real omega)
{
    real x = 0;
    if (k > N || n > N) return NAN;
    for (int i = 0; i < n; i++) {
        real u = uniform(rng), successes = omega * (k - x), failures = N - k - (i - x);
        x += u * (successes + failures) < successes ? 1 : 0;
    }
    return x;
}

__device__ real wallenius_noncentral_hypergeometric_lower(real N, real k, real n, real omega)
{
    return fmax(n - (N - k), (real)0);
}

__device__ real wallenius_noncentral_hypergeometric_upper(real N, real k, real n, real omega) { return fmin(k, n); }
