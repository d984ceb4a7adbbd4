// skellam: difference of two Poisson variables
// used for: differences of two counts: goals of two teams, photons of two images
// x: integer    mu1: positive, mean of the first    mu2: positive, mean of the second
// mass: exp(-mu1 - mu2) * (mu1 / mu2)**(x / 2) * I(abs(x), 2 * sqrt(mu1 * mu2))
// source: Skellam (1946), The frequency distribution of the difference between two Poisson variates; contour integrals as in
// Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule
//
// The probability is an integral of the generating function around a circle; on that through the saddle point the
// integrand is nearly a normal density, so that the trapezoidal rule converges quickly. The value at the saddle point is
// that of two Poisson deviances, of the means a and b, a - b = x, a b = mu1 mu2, by which the two are tilted to the mean x.

// sin(t) - t
__device__ real sine_excess(real t)
{
    real s = t * t;
    if (t > 0.7) return sin(t) - t;
    return t * s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800 + s * (
           1.0 / 6227020800.0 + s * (-1.0 / 1307674368000.0)))))));
}

// The mean a to which the first is tilted, and by how much it is larger than mu1, without cancellation; mu1 mu2 / a is b.
__device__ real tilted(real x, real mu1, real mu2, real spread)
{
    return x < 0 ? mu1 / (0.5 * (spread - x)) * mu2 : 0.5 * (spread + x);
}

__device__ real shift_of(real x, real mu1, real mu2, real spread)
{
    real gap = 2 * mu1 - x;
    return gap > 0 ? 2 * mu1 * ((x - mu1) + mu2) / (gap + spread) : 0.5 * (x + spread) - mu1;
}

// a + b
__device__ real spread_of(real x, real mu1, real mu2)
{
    return hypot(x, 2 * sqrt(mu1) * sqrt(mu2));
}

// The exponent at the saddle point, from the side of the larger one of a and b: the other may underflow
__device__ real saddle_exponent(real x, real mu1, real mu2, real spread)
{
    real size = fabs(x), first = x < 0 ? mu2 : mu1, second = x < 0 ? mu1 : mu2;
    real a = tilted(size, first, second, spread), b = first / a * second, shift = shift_of(size, first, second, spread);
    return a * log_ratio_excess(first / a, -shift / a) + b * log_ratio_excess(a / first, shift / first);
}

// log(a / mu1), from the same side
__device__ real saddle_point(real x, real mu1, real mu2, real spread)
{
    real size = fabs(x), first = x < 0 ? mu2 : mu1, second = x < 0 ? mu1 : mu2;
    real shift = shift_of(size, first, second, spread);
    real size_of = fabs(shift) < 0.5 * first ? log1p(shift / first) : log(tilted(size, first, second, spread) / first);
    return x < 0 ? -size_of : size_of;
}

__device__ real skellam_logpmf(real x, real mu1, real mu2)
{
    real spread = spread_of(x, mu1, mu2);
    real points = ceil(8.6 * sqrt(spread) + 20), h = 2 * PI / points, sum = 0.5, last = 1;
    for (int j = 1; j < 60 && 2 * j <= points && last > 0.01 * EPSILON; j++) {
        real t = j * h, s = sin(0.5 * t);
        last = exp(-2 * spread * s * s);
        sum += (2 * j == points ? 0.5 : 1) * last * cos(x * sine_excess(t));
    }
    return saddle_exponent(x, mu1, mu2, spread) + log(2 * sum / points);
}

// log P(X >= x), x being above the mean or little below it: the generating function of a tail has a pole, from which the
// circle keeps a distance.
__device__ real log_above(real x, real mu1, real mu2)
{
    real spread = spread_of(x, mu1, mu2), a = tilted(x, mu1, mu2, spread), b = tilted(-x, mu2, mu1, spread);
    real exponent = saddle_exponent(x, mu1, mu2, spread), saddle = saddle_point(x, mu1, mu2, spread);
    real c = 0.5 * (saddle + sqrt(saddle * saddle + 4 / fmax(spread, (real)1))), d = c - saddle, w = exp(-c), gap = -expm1(-c);
    real up = a * exp(d), down = b * exp(-d), slope = a * expm1(d) - b * expm1(-d), wide = up + down;
    real points = ceil(fmax(8.6 * sqrt(wide) + 20, exponent > -40 ? (40 - exponent) / c : 0)), h = 2 * PI / points;
    real sum = 0.5 / gap, last = 1;
    for (int j = 1; j < 400 && 2 * j <= points && last > 0.01 * EPSILON; j++) {
        real t = j * h, s = sin(0.5 * t), sine = sin(t), phase = slope * sine + x * sine_excess(t), rise = 2 * w * s * s;
        last = exp(-2 * wide * s * s);
        sum += (2 * j == points ? 0.5 : 1) * last * (cos(phase) * (gap + rise) + sin(phase) * w * sine)
             / (gap * gap + 2 * rise);
    }
    return exponent + d * d * (up * relative_expm1_slope(-d) + down * relative_expm1_slope(d)) + log(2 * sum / points);
}

__device__ real skellam_logcdf(real x, real mu1, real mu2)
{
    return x + 0.5 < mu1 - mu2 ? log_above(-x, mu2, mu1) : log1mexp(log_above(x + 1, mu1, mu2));
}

__device__ real skellam_logsf(real x, real mu1, real mu2)
{
    return x + 0.5 < mu1 - mu2 ? log1mexp(log_above(-x, mu2, mu1)) : log_above(x + 1, mu1, mu2);
}

__device__ real skellam_sample(rng_t *rng, real mu1, real mu2)
{
    real first = poisson_sample(rng, mu1), second = poisson_sample(rng, mu2);
    return first - second;
}

__device__ real skellam_mean(real mu1, real mu2) { return mu1 - mu2; }
__device__ real skellam_var(real mu1, real mu2) { return mu1 + mu2; }

__device__ real skellam_skewness(real mu1, real mu2)
{
    return (mu1 - mu2) / (mu1 + mu2) / sqrt(mu1 + mu2);
}

__device__ real skellam_kurtosis(real mu1, real mu2) { return 1 / (mu1 + mu2); }
