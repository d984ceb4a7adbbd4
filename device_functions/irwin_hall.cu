// irwin_hall: the sum of n variables that are uniform between 0 and 1
// used for: sums of rounding errors
// x: nonnegative    n: positive integer, number of variables
// density: Sum((-1)**k * binomial(n, k) * (x - k)**(n - 1), k, 0, floor(x)) / factorial(n - 1) if x <= n else 0
// source: Johnson, Kotz & Balakrishnan (1995), ch. 26.9
//
// By symmetry x lies in the lower half. Of few variables the polynomial pieces are summed, in which up to two digits cancel. Else the
// inverse Laplace transform is a sum along a vertical line through about the saddle point s: since the support is bounded, the
// trapezoidal rule has no error but for what lies beyond `length`, the period of the sum.

__device__ real few() { return EPSILON < 1e-10 ? 12 : 6; }

// log of the sum of (-1)^k C(n, k) (x - k)^power / power!: the density where power is n - 1, P(X <= x) where it is n
__device__ real log_pieces(real x, real n, real power)
{
    real sum = 0, binomial = 1;
    if (x <= 1) return xlogy(power, x) - log_factorial(power);
    for (int k = 0; k < 7 && k < x; k++) {
        sum += binomial * pow(x - k, power);
        binomial *= -(n - k) / (k + 1);
    }
    return log(sum) - log_factorial(power);
}

// The variance of one of the variables of density proportional to exp(-s u)
__device__ real tilted_variance(real s)
{
    real half = sinh(0.5 * s);
    return s < 0.05 ? 1.0 / 12 : 1 / (s * s) - 0.25 / (half * half);
}

// Where that variable has mean x / n, to some digits. Start: Cohen (1991), A Padé approximant to the inverse Langevin function.
__device__ real saddle(real x, real n)
{
    real rest = 2 * x / n, r = 1 - rest, s = 2 * r * (3 - r * r) / (rest * (1 + r));
    for (int i = 0; i < 3; i++) {
        real mean = s < 0.05 ? 0.5 - s / 12 : 1 / s - 1 / expm1(s);
        s = fmax(s + (mean - x / n) / tilted_variance(s), 0.5 * s);
    }
    return s;
}

// x <= n / 2; what: 0: the logarithm of the density, 1: of P(X <= x), 2: the derivative of the density's logarithm
__device__ real along_line(real x, real n, int what)
{
    int tail = what == 1;
    real s = saddle(x, n), spread = sqrt(n * tilted_variance(s)), least = 1 / spread, d = 0.5 * n - x;
    s = tail ? 0.5 * s + sqrt(0.25 * s * s + least * least) : fmax(s, 0.1 * least);
    real length = fmin(n, 11 * spread + 30 * spread * (spread / x)), within = x + length > 0.5 * n;
    if (tail && within > 0) length = fmin(n, fmax(length, d + 3 * sqrt(n)));
    real half = sinh(0.5 * s), coth = 1 / tanh(0.5 * s), slope = 2 * PI / length, sum = 0, moment = 0, size = INFINITY;
    for (int i = 0; i < 4000 && size > 0.01 * EPSILON * fabs(sum); i++) {
        real y = i * slope, ratio = y / s, sine = sin(0.5 * y), rise = sine / half;
        real height = 0.5 * n * (log1p(rise * rise) - log1p(ratio * ratio));
        real angle = atan2(coth * sine, cos(0.5 * y));  // of one factor
        real phase = n * (angle + 2 * PI * rint((0.5 * y - angle) / (2 * PI)) - atan(ratio)) - y * d;
        real weight = i == 0 ? 0.5 : 1, a = weight * exp(height) * cos(phase), b = weight * exp(height) * sin(phase);
        sum += tail ? (a + ratio * b) / (1 + ratio * ratio) : a;
        moment += y * b;
        size = i == 0 ? INFINITY : exp(n * log(fmin(coth * s / hypot(s, y), (real)1)));
    }
    if (what == 2) return s - moment / sum;
    real scale = n * (0.5 * s - log(s) + log1mexp(-s)) - s * d;
    if (s < 1) scale = n * log(half / (0.5 * s)) - s * d;
    if (!tail) return scale + log(2 * sum / length);
    real once = within > 0 ? exp(-s * length - scale) / -expm1(-s * length) : 0;  // the sum's other periods, where P is 1
    return scale + log(2 * sum / (s * length) - once);
}

__device__ real log_density(real x, real n) { return along_line(x, n, 0); }
__device__ real log_density_grad_x(real x, real n) { return along_line(x, n, 2); }

__device__ real irwin_hall_logpdf(real x, real n)
{
    real near = fmin(x, n - x);
    if (x > n || isinf(x)) return -INFINITY;
    if (near == 0) return n == 1 ? 0 : -INFINITY;
    return n <= few() || near <= 1 ? log_pieces(near, n, n - 1) : log_density(near, n);
}

__device__ real log_below(real x, real n)
{
    return x <= 0 ? -INFINITY : n <= few() || x <= 1 ? log_pieces(x, n, n) : along_line(x, n, 1);
}

__device__ real log_below_grad_x(real x, real n, real value) { return exp(irwin_hall_logpdf(x, n) - value); }

__device__ real irwin_hall_logcdf(real x, real n)
{
    return x < 0.5 * n ? log_below(x, n) : log1mexp(log_below(n - x, n));
}

__device__ real irwin_hall_logsf(real x, real n)
{
    return x < 0.5 * n ? log1mexp(log_below(x, n)) : log_below(n - x, n);
}

__device__ real irwin_hall_sample(rng_t *rng, real n)
{
    real sum = 0;
    for (int i = 0; i < n; i++)
        sum += uniform(rng);
    return sum;
}

__device__ real irwin_hall_mean(real n) { return 0.5 * n; }
__device__ real irwin_hall_var(real n) { return n / 12; }
__device__ real irwin_hall_skewness(real n) { return 0; }
__device__ real irwin_hall_kurtosis(real n) { return -1.2 / n; }
__device__ real irwin_hall_median(real n) { return 0.5 * n; }
__device__ real irwin_hall_mode(real n) { return 0.5 * n; }
__device__ real irwin_hall_upper(real n) { return n; }
