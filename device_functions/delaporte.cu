// delaporte: sum of a negative binomial and a Poisson variable; Poisson whose mean is a gamma variable and a constant
// used for: claims of insurance, of which a part comes at a constant rate and a part varies from person to person
// x: nonnegative integer    alpha: positive, shape of the gamma distribution    beta: positive, its scale
// lam: positive, the constant
// mass: Sum(binomial(alpha + i - 1, i) * beta**i / (1 + beta)**(alpha + i) * lam**(x - i) * exp(-lam) /
// factorial(x - i), i, 0, x)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 5
//
// Sums are over the part j of x that is Poisson, or i = x - j that is negative binomial.

// P(i + 1 is negative binomial) / P(i is)
__device__ real growth(real i, real alpha, real beta) { return (alpha + i) / (i + 1) * (beta / (1 + beta)); }

__device__ real delaporte_logpmf(real x, real alpha, real beta, real lam)
{
    if (isinf(alpha) || isinf(beta) || isinf(lam)) return NAN;
    real q = beta / (1 + beta), b = q * (x - alpha) - lam, square = b * b + 4 * q * (q * alpha * x - lam), sum = 1, term = 1;
    real peak = square > 0 ? fmin(fmax(floor(0.5 * (b + sqrt(square)) / q) + 1, (real)0), x) : 0, mean = alpha * beta;
    for (int i = 0; i < 30000 && peak + i < x && term > 0.01 * EPSILON * sum; i++) {
        real n = peak + i;
        term *= growth(n, alpha, beta) * ((x - n) / lam);
        sum += term;
    }
    real first = peak;
    term = 1;
    for (int i = 0; i < 30000 && first > 0 && term > 0.01 * EPSILON * sum; i++) {
        first--;
        term /= growth(first, alpha, beta) * ((x - first) / lam);
        sum += term;
    }
    real top = negative_binomial_logpmf(peak, mean, alpha) + log_poisson(x - peak, lam);
    if (alpha >= 1 || first == 0) return top + log(sum);
    // there may be another peak, at 0
    real start = negative_binomial_logpmf(0, mean, alpha) + log_poisson(x, lam), more = 1;
    int falling = 1;
    term = 1;
    for (int i = 0; i < 30000 && i + 1 < first && falling && term > 0.01 * EPSILON * more; i++) {
        real ratio = growth(i, alpha, beta) * ((x - i) / lam);
        falling = ratio < 1;
        term *= falling ? ratio : 0;
        more += term;
    }
    return logaddexp(top + log(sum), start + log(more));
}

// Where probabilities of j are largest, roughly
__device__ real poisson_part(real x, real alpha, real beta, real lam)
{
    real q = beta / (1 + beta), b = q * (alpha + x - 2) + lam, c = lam * x - q * (alpha + x - 1);
    return fmin(fmax(floor(2 * c / (b + sqrt(fmax(b * b - 4 * q * c, (real)0)))), (real)0), x);
}

// log P(X <= x), as the sum over j of Poisson probabilities times P(N <= x - j): downwards these grow by P(N = x - j).
__device__ real log_below(real x, real alpha, real beta, real lam)
{
    real top = fmin(fmin(floor(lam), poisson_part(x, alpha, beta, lam)), x), term = 1, mean = alpha * beta;
    for (int i = 0; i < 30000 && top < x && term > 0.01 * EPSILON; i++) {
        term *= lam / (top + 1) * (alpha < 1 ? 1 : fmin(1 / growth(x - top - 1, alpha, beta), (real)1));
        top++;
    }
    real log_p = negative_binomial_logcdf(x - top, mean, alpha), sum = 1;
    real power = exp(negative_binomial_logpmf(x - top, mean, alpha) - log_p);
    term = 1;
    for (int i = 0; i < 60000 && i < top && (term > 0.01 * EPSILON * sum || top - i > lam); i++) {
        real j = top - i;
        power *= j / lam * growth(x - j, alpha, beta);
        term = j / lam * term + power;
        sum += term;
    }
    return log_poisson(top, lam) + log_p + log(sum);
}

// log P(X > x), x not below the mean, likewise: upwards P(N > x - j) grows by P(N = x - j).
__device__ real log_above(real x, real alpha, real beta, real lam)
{
    real bottom = fmin(fmax(floor(lam), poisson_part(x, alpha, beta, lam)), x), term = 1, mean = alpha * beta;
    real least = beta / (1 + beta);
    for (int i = 0; i < 30000 && bottom > 0 && term > 0.01 * EPSILON; i++) {
        term *= bottom / lam * (alpha < 1 ? least : fmin(growth(x - bottom + 1, alpha, beta), (real)1));
        bottom--;
    }
    real log_q = negative_binomial_logsf(x - bottom, mean, alpha), sum = 1;
    real power = exp(negative_binomial_logpmf(x - bottom, mean, alpha) - log_q);
    term = 1;
    for (int i = 0; i < 60000 && (term > 0.01 * EPSILON * sum || bottom + i < lam); i++) {
        real j = bottom + i, weight = lam / (j + 1);
        term = weight * (term + power);
        power = j < x ? power * weight / growth(x - j - 1, alpha, beta) : 0;
        sum += term;
    }
    return log_poisson(bottom, lam) + log_q + log(sum);
}

__device__ real delaporte_logcdf(real x, real alpha, real beta, real lam)
{
    return x < alpha * beta + lam ? log_below(x, alpha, beta, lam) : log1mexp(log_above(x, alpha, beta, lam));
}

__device__ real delaporte_logsf(real x, real alpha, real beta, real lam)
{
    return x < alpha * beta + lam ? log1mexp(log_below(x, alpha, beta, lam)) : log_above(x, alpha, beta, lam);
}

__device__ real delaporte_sample(rng_t *rng, real alpha, real beta, real lam)
{
    real mean = gamma_sample(rng, alpha, 1);
    return poisson_sample(rng, beta * mean + lam);
}

__device__ real delaporte_mean(real alpha, real beta, real lam) { return alpha * beta + lam; }
__device__ real delaporte_var(real alpha, real beta, real lam) { return alpha * beta * (1 + beta) + lam; }

__device__ real delaporte_skewness(real alpha, real beta, real lam)
{
    real var = delaporte_var(alpha, beta, lam);
    return (alpha * beta * (1 + beta) * (1 + 2 * beta) + lam) / (var * sqrt(var));
}

__device__ real delaporte_kurtosis(real alpha, real beta, real lam)
{
    real var = delaporte_var(alpha, beta, lam);
    return (alpha * beta * (1 + beta) * (1 + 6 * beta * (1 + beta)) + lam) / (var * var);
}
