// conway_maxwell_poisson: Poisson probabilities to the power of nu; overdispersed where nu < 1, underdispersed where nu > 1
// used for: counts that vary less, or more, than Poisson's law allows
// x: nonnegative integer    lam: positive, rate, P(X = 1) / P(X = 0)    nu: positive, dispersion
// mass: lam**x / factorial(x)**nu / Sum(lam**j / factorial(j)**nu, j, 0, inf)
// source: Shmueli, Minka, Kadane, Borle & Boatwright (2005), A useful distribution for fitting discrete data
//
// With mu = lam^(1 / nu), a probability is exp(height(x)) over the sum of that, height being nu times the logarithm of a
// Poisson probability of mean mu, but for nu mu where mu is small: there nu may be large.

// For any number x >= 3, and for whole ones
__device__ real height(real x, real mu, real log_mu, real nu)
{
    if (large_shape(mu))
        return x == 0 ? -nu * mu : nu * (x * log_excess(log_mu - log(x), (mu - x) / x) - factorial_remainder(x));
    return nu * ((x == 0 ? 0 : x * log_mu) - log_factorial(x));
}

// exp(height(x) - top) (x - center)^power
__device__ real weight(real x, real top, int power, real center, real mu, real log_mu, real nu)
{
    real value = exp(height(x, mu, log_mu, nu) - top), d = x - center;
    for (int i = 0; i < 4; i++)
        value *= i < power ? d : 1;
    return value;
}

__device__ real correction(real a, real top, int power, real center, real mu, real log_mu, real nu)
{
    real f_3 = 0, f_2 = 0, f_1 = 0, f0 = 0, f1 = 0, f2 = 0;
    for (int i = -3; i < 3; i++) {
        f_3 = f_2;
        f_2 = f_1;
        f_1 = f0;
        f0 = f1;
        f1 = f2;
        f2 = weight(a + i, top, power, center, mu, log_mu, nu);
    }
    return midpoint_correction(f_3, f_2, f_1, f0, f1, f2);
}

// The whole number in [a, b] whose probability is largest
__device__ real highest(real a, real b, real mu) { return fmin(fmax(floor(mu), a), b); }

// The sum of weights for x from a to b, relative to the largest probability: behind the first thousand, an integral
__device__ real sum_between(real a, real b, int power, real center, real mu, real log_mu, real nu)
{
    real mode = highest(a, b, mu), top = height(mode, mu, log_mu, nu), sum = 0, mass = 0, last = 1, at = a;
    real small = (power == 0 ? 0.01 : 1e-9) * EPSILON;
    int done = 0;
    for (int i = 0; i < 1000 && !done && at <= b; i++) {
        real term = weight(at, top, 0, 0, mu, log_mu, nu);
        mass += term;
        sum += weight(at, top, power, center, mu, log_mu, nu);
        done = at > mode && term * term < small * (last - term) * mass;
        last = term;
        at++;
    }
    if (!done && at <= b) {
        sum += correction(at, top, power, center, mu, log_mu, nu);
        if (b < INFINITY) sum -= correction(b + 1, top, power, center, mu, log_mu, nu);
        at -= 0.5;
        last = 1;
        for (int panel = 0; panel < 500 && at < b && (at <= mode || last > small * mass); panel++) {
            real slope = height(at + 0.5, mu, log_mu, nu) - height(at - 0.5, mu, log_mu, nu);
            real width = fmin(fmin(panel_width(slope, sqrt(at / nu)), 0.4 * at), b + 0.5 - at);
            last = 0;
            for (int k = 0; k < 8; k++) {
                real x = at + 0.5 * width * (1 + legendre_node(k)), share = 0.5 * width * legendre_weight(k);
                last += share * weight(x, top, 0, 0, mu, log_mu, nu);
                sum += share * weight(x, top, power, center, mu, log_mu, nu);
            }
            mass += last;
            at += width;
        }
    }
    return sum;
}

// The number below which probabilities are too small to count beside that of x, x not above the mode
__device__ real lowest(real x, real nu) { return fmax(floor(x - 9.7 * sqrt(x / nu)), (real)0); }

// The logarithm of the sum of exp(height) from a to b
__device__ real log_between(real a, real b, real mu, real log_mu, real nu)
{
    return height(highest(a, b, mu), mu, log_mu, nu) + log(sum_between(a, b, 0, 0, mu, log_mu, nu));
}

__device__ real log_whole(real mu, real log_mu, real nu)
{
    return log_between(lowest(floor(mu), nu), INFINITY, mu, log_mu, nu);
}

__device__ real conway_maxwell_poisson_logpmf(real x, real lam, real nu)
{
    real log_mu = log(lam) / nu, mu = exp(log_mu);
    if (isinf(nu) || isinf(mu)) return NAN;
    return height(x, mu, log_mu, nu) - log_whole(mu, log_mu, nu);
}

// log P(X <= x) below the mode, else log P(X > x)
__device__ real log_tail(real x, real lam, real nu)
{
    real log_mu = log(lam) / nu, mu = exp(log_mu), below = x + 1 < mu;
    return log_between(below ? lowest(x, nu) : x + 1, below ? x : INFINITY, mu, log_mu, nu) - log_whole(mu, log_mu, nu);
}

__device__ real conway_maxwell_poisson_logcdf(real x, real lam, real nu)
{
    real tail = log_tail(x, lam, nu);
    return x + 1 < exp(log(lam) / nu) ? tail : log1mexp(tail);
}

__device__ real conway_maxwell_poisson_logsf(real x, real lam, real nu)
{
    real tail = log_tail(x, lam, nu);
    return x + 1 < exp(log(lam) / nu) ? log1mexp(tail) : tail;
}

// Rejection from a bound on all log-concave distributions of whole numbers.
// Source: Devroye (1987), A simple generator for discrete log-concave distributions.
__device__ real conway_maxwell_poisson_sample(rng_t *rng, real lam, real nu)
{
    real log_mu = log(lam) / nu, mu = exp(log_mu), mode = floor(mu), top = height(mode, mu, log_mu, nu);
    real peak = exp(top - log_whole(mu, log_mu, nu)), width = 1 + 0.5 * peak, value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real u = uniform(rng), v = uniform(rng), w = uniform(rng), e = exponential(rng), side = uniform(rng);
        int flat = u < width / (1 + width);
        real y = floor((flat ? v * width : width + e) / peak + 0.5), at = mode + (side < 0.5 ? -y : y);
        real log_ratio = at < 0 ? -INFINITY : height(at, mu, log_mu, nu) - top;
        if (log(w) + (flat ? 0 : -e) <= log_ratio) value = at;
    }
    return value;
}

__device__ real conway_maxwell_poisson_mode(real lam, real nu) { return floor(exp(log(lam) / nu)); }

// The mean of (X - center)^power
__device__ real moment(int power, real center, real lam, real nu)
{
    real log_mu = log(lam) / nu, mu = exp(log_mu), from = lowest(floor(mu), nu);
    return sum_between(from, INFINITY, power, center, mu, log_mu, nu) / sum_between(from, INFINITY, 0, 0, mu, log_mu, nu);
}

__device__ real conway_maxwell_poisson_mean(real lam, real nu)
{
    real mode = conway_maxwell_poisson_mode(lam, nu);
    return mode == 0 ? moment(1, 0, lam, nu) : mode + moment(1, mode, lam, nu);
}

__device__ real conway_maxwell_poisson_var(real lam, real nu)
{
    return moment(2, conway_maxwell_poisson_mean(lam, nu), lam, nu);
}

__device__ real conway_maxwell_poisson_skewness(real lam, real nu)
{
    real mean = conway_maxwell_poisson_mean(lam, nu), var = moment(2, mean, lam, nu);
    return moment(3, mean, lam, nu) / (var * sqrt(var));
}

__device__ real conway_maxwell_poisson_kurtosis(real lam, real nu)
{
    real mean = conway_maxwell_poisson_mean(lam, nu), var = moment(2, mean, lam, nu);
    return moment(4, mean, lam, nu) / (var * var) - 3;
}
