// kolmogorov_smirnov: the largest distance between the empirical distribution function of n observations and the true one
// used for: exact p-values of Kolmogorov's and Smirnov's test
// x: unit    n: positive integer, number of observations
// density: n * factorial(n) / n**n * slope[n]    d = n * x    a[j] = (j - d)**j / factorial(j) if j < d else 0
// b[j] = (j - 2 * d)**j / factorial(j) if j < 2 * d else 0
// alpha[j] = -(j - d)**(j - 1) / factorial(j - 1) if 0 < j < d else 0
// beta[j] = -2 * (j - 2 * d)**(j - 1) / factorial(j - 1) if 0 < j < 2 * d else 0
// value[m] = Sum(a[j] * a[m - j], j, 0, m) - Sum(b[j] * value[m - j], j, 1, m)
// slope[m] = 2 * Sum(alpha[j] * a[m - j], j, 0, m) - Sum(beta[j] * value[m - j] + b[j] * slope[m - j], j, 1, m)
// source: Kemperman (1961), The Passage Problem for a Stationary Markov Chain; Durbin (1973), Distribution Theory for Tests Based on
// the Sample Distribution Function
//
// The sum over n of n^n / n! P(D <= d / n) w^n is A(d)^2 / A(2 d), A(x) being the sum of (-w (x - j))^j / j! over all j < x. Where 2 d
// is small, the coefficients follow from one another; further on they are sums over the roots of A(2 d), all of which are real, of
// which few count. A cancels where x is large, but is also the sum of s exp(-T x), s = 1 / (1 - T), over all complex T with
// T exp(-T) = w, which come in pairs. The first one, a + b i with a = b cot(b), tells w where w > 1 / e.
//
// In the upper tail, and from 1/2 on, P(D > x) is that of either side, twice: see kolmogorov_smirnov_one_sided.

// The 2 d up to which A has all digits as a polynomial
__device__ real few() { return 5.5; }

// 1 - b cot(b), 0 < b < pi. By the continued fraction of the tangent where it would cancel.
__device__ real real_gap(real b)
{
    real s = b * b, fraction = 25;
    if (b > 1.5) return 1 - b * cos(b) / sin(b);
    for (int k = 23; k > 1; k -= 2)
        fraction = k - s / fraction;
    return s / fraction;
}

// 1 + log(w) of b
__device__ real log_root(real b) { return real_gap(b) - log1p(-minus_sine(b) / b); }

// What A(x) exp(a x), or a derivative of A, is of, from one pair: the real part of a polynomial of s and T, times exp((a - T) x).
// what: 0: A, 1: w dA/dw, 2: w d(w dA/dw)/dw, 3: dA/dx, 4: w d(dA/dx)/dw. T = 1 - gap + b i.
__device__ real pair(int what, real x, real gap, real b, real log_size)
{
    real square = gap * gap + b * b, s = gap / square, t = b / square;  // s + t i
    real size = 2 * exp(log_size), angle = b * x, u = cos(angle), v = -sin(angle), re = s * u - t * v, im = s * v + t * u;
    if (what == 0) return size * re;
    // T and s T = s - 1, as many as there are
    real a = 1 - gap, p = s - 1, q = t;
    if (what == 3) return -size * (a * re - b * im);
    real y = s - x, c = p * y - q * t, d = p * t + q * y;  // w dA/dw: s T (s - x)
    if (what == 1) return size * (c * re - d * im);
    if (what == 2) {
        // s T s times (s - x) (1 + 2 T s - x T) + T s^2, which is s T ((s - x) (s + 2 s T s - x s T) + s T s^2)
        real g = s + 2 * (p * s - q * t) - x * p, h = t + 2 * (p * t + q * s) - x * q;
        real ss = s * s - t * t, st = 2 * s * t;
        real k = y * g - t * h + p * ss - q * st, l = y * h + t * g + p * st + q * ss;
        real m = p * k - q * l, o = p * l + q * k;
        return size * (m * re - o * im);
    }
    // -(s T + T s T (s - x))
    real e = p + a * c - b * d, f = q + a * d + b * c;
    return -size * (e * re - f * im);
}

// exp(a x) times what of A(x), at the root of which b tells
__device__ real sum_of(int what, real x, real b)
{
    real gap = real_gap(b), log_w = log_root(b) - 1;
    if (x < few()) {
        real sum = 0;
        for (int j = 0; j < 6 && j < x; j++) {
            real term = 1;
            for (int i = 1; i < 6 && i <= j; i++)
                term *= -exp(log_w) * (x - j) / i;
            sum += what == 0 ? term : what == 1 ? j * term : what == 2 ? j * j * term : (what == 3 ? j : j * j) / (x - j) * term;
        }
        return exp((1 - gap) * x) * sum;
    }
    real sum = pair(what, x, gap, b, 0), size = 1;
    for (int k = 1; k < 300 && size > 0.01 * EPSILON; k++) {
        // T = log(T) - log(w) + 2 k pi i, by Newton's method
        real re = log(2 * PI * k) - log_w, im = 2 * PI * k + 0.5 * PI;
        for (int i = 0; i < 5; i++) {
            real f = re - 0.5 * log(re * re + im * im) + log_w, g = im - atan2(im, re) - 2 * PI * k;
            real square = (re - 1) * (re - 1) + im * im, p = 1 + (re - 1) / square, q = -im / square;  // T / (T - 1)
            re -= f * p - g * q;
            im -= f * q + g * p;
        }
        real log_size = (1 - gap - re) * x;
        size = exp(log_size);
        sum += pair(what, x, 1 - re, im, log_size);
    }
    return sum;
}

// The b of root number m of A(x), or nan: where x has just grown beyond m, w is so large that the root does not count
__device__ real root(int m, real x)
{
    real b = m * PI / (x + 0.33333333333333333), low = b - PI / (x + 0.33333333333333333), step = 0;
    for (int i = 0; i < 8; i++) {
        real gap = real_gap(b);
        step = sum_of(0, x, b) / sum_of(1, x, b) * b / (gap * gap + b * b);
        b -= step;
    }
    return b > low && b < PI && fabs(step) < 1e-4 ? b : NAN;
}

// log P(D <= d / n), or of its derivative in d if `slope`, as a sum over roots
__device__ real log_of_roots(int slope, real d, real n)
{
    real first = 0, sum = 0, share = 1;
    for (int m = 1; m < 16 && m < 2 * d && share > 0.01 * EPSILON; m++) {
        real b = root(m, 2 * d), level = log_root(b);
        first = m == 1 ? level : first;
        share = isnan(b) ? 0 : exp(-n * (level - first));
        real below = sum_of(0, d, b), change = sum_of(1, 2 * d, b), term = -share * below * below / change;
        if (slope) {
            real moved = -2 * sum_of(3, 2 * d, b) / change;  // of log(w)
            term *= 2 * (sum_of(3, d, b) + moved * sum_of(1, d, b)) / below
                  - (2 * sum_of(4, 2 * d, b) + moved * sum_of(2, 2 * d, b)) / change - n * moved;
        }
        sum += share > 0 ? term : 0;
    }
    return 0.5 * log(n) + HALF_LOG_2PI + stirling_error(n) - n * first + log(sum);
}

// The same for 2 d <= 3, where A(2 d) has two roots at most, which may be infinite: r and s are their inverses. rest = 2 d - 1.
__device__ real log_of_two(int slope, real rest, real d, real n)
{
    real g = fmax(rest - 1, (real)0), e = fmax(d - 1, (real)0), whole = sqrt(rest * rest - 2 * g * g), r = 0.5 * (rest + whole);
    real s = 0.5 * g * g / r, power = n > 2 ? pow(s / r, n - 2) / r : 0;  // over r^(n - 1), without one s
    real size = (r - e) * (r - e) - power * s * (s - e) * (s - e), gap = r - s, value = size / gap;
    if (slope) {
        real dr = 1 + (rest - 2 * g) / whole, ds = (2 * g - s * dr) / r, de = d > 1 ? 1 : 0;
        real change = (r - e) * ((n - 1) * dr * (r - e) / r + 2 * (dr - de))
                    - power * (s - e) * ((n - 1) * ds * (s - e) + 2 * s * (ds - de));
        value = (change - value * (dr - ds)) / gap;
    }
    return 0.5 * log(n) + HALF_LOG_2PI + stirling_error(n) - n + (n - 1) * log(r) + log(value);
}

// Whether all of P(D > x) that counts is that of either side
__device__ int one_sided(real x, real n) { return (x >= 0.5 && n > 1) || n * x * x > 4.6; }

// log P(D <= x), or of the density, below that
__device__ real log_inside(int slope, real x, real n)
{
    real d = n * x, rest = 2 * fma(n, x, (real)-0.5);
    return rest <= 0 ? -INFINITY : d <= 1.5 ? log_of_two(slope, rest, d, n) : log_of_roots(slope, d, n);
}

__device__ real kolmogorov_smirnov_logpdf(real x, real n)
{
    return one_sided(x, n) ? LOG_2 + kolmogorov_smirnov_one_sided_logpdf(x, n) : log(n) + log_inside(1, x, n);
}

__device__ real kolmogorov_smirnov_logcdf(real x, real n)
{
    return one_sided(x, n) ? log1mexp(fmin(LOG_2 + kolmogorov_smirnov_one_sided_logsf(x, n), (real)0)) : log_inside(0, x, n);
}

__device__ real kolmogorov_smirnov_logsf(real x, real n)
{
    return one_sided(x, n) ? fmin(LOG_2 + kolmogorov_smirnov_one_sided_logsf(x, n), (real)0) : log1mexp(log_inside(0, x, n));
}

// Sorted uniform variables, from the largest one down
__device__ real kolmogorov_smirnov_sample(rng_t *rng, real n)
{
    real u = 1, largest = 0;
    for (int i = (int)n; i > 0; i--) {
        u *= exp(-exponential(rng) / i);
        largest = fmax(largest, fmax(i / n - u, u - (i - 1) / n));
    }
    return largest;
}

__device__ real kolmogorov_smirnov_lower(real n) { return 0.5 / n; }
__device__ real kolmogorov_smirnov_upper(real n) { return 1; }
