// polya_aeppli: sum of a Poisson number of geometric variables; geometric Poisson
// used for: events that come in clusters, such as claims by accident or plants by patch
// x: nonnegative integer    lam: positive, mean number of terms    theta: unit, below 1, P(G > 1) of a term G
// mass: (exp(-lam) * Sum(binomial(x - 1, j - 1) * theta**(x - j) * (lam * (1 - theta))**j / factorial(j), j, 1, x)
// if x > 0 else exp(-lam))
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 9
//
// Of j terms, the sum is larger than x where fewer than j of x trials of probability 1 - theta succeed.

__device__ real polya_aeppli_logpmf(real x, real lam, real theta)
{
    if (theta == 1 || isinf(lam)) return NAN;
    if (x == 0) return -lam;
    real odds = theta / (1 - theta), rest = odds / lam, b = 1 + rest;
    real peak = fmin(fmax(floor(2 * x / (b + sqrt(b * b + 4 * x * rest))), (real)1), x), sum = 1, term = 1;
    for (int i = 0; i < 30000 && peak + i < x && term > 0.01 * EPSILON * sum; i++) {
        real j = peak + i;
        term *= lam / (j + 1) * ((x - j) / j) / odds;
        sum += term;
    }
    term = 1;
    for (int i = 0; i < 30000 && peak - i > 1 && term > 0.01 * EPSILON * sum; i++) {
        real j = peak - i;
        term *= j / lam * ((j - 1) / (x - j + 1)) * odds;
        sum += term;
    }
    return log_poisson(peak, lam) + log1p(-theta) + binomial_logpmf(x - peak, x - 1, theta) + log(sum);
}

// P(j + 1 of x trials succeed) / P(j succeed)
__device__ real growth(real j, real x, real odds) { return (x - j) / (j + 1) * odds; }

// log P(X <= x), x below the mean, as the sum over j of Poisson probabilities times P(S >= j), S being the number of successes:
// downwards these grow by P(S = j).
__device__ real log_below(real x, real lam, real theta)
{
    real failure = theta + EPSILON * EPSILON, odds = (1 - theta) / failure, rest = 1 / (odds * lam), b = 1 + rest;
    real top = fmin(floor(lam), fmin(floor(2 * x / (b + sqrt(b * b + 4 * x * rest))), x)), term = 1, sum = 1;
    for (int i = 0; i < 30000 && top < x && term > 0.01 * EPSILON; i++) {
        term *= lam / (top + 1) * fmin(growth(top, x, odds), (real)1);
        top++;
    }
    real log_p = top == 0 ? 0 : log_beta_p(top, x - top + 1, 1 - theta, failure);
    real power = exp(binomial_logpmf(x - top, x, failure) - log_p);
    term = 1;
    for (int i = 0; i < 60000 && i < top && (term > 0.01 * EPSILON * sum || top - i > lam); i++) {
        real j = top - i, weight = j / lam;
        power *= weight / growth(j - 1, x, odds);
        term = weight * term + power;
        sum += term;
    }
    return log_poisson(top, lam) + log_p + log(sum);
}

// log P(X > x), x not below the mean, likewise: upwards P(S < j) grows by P(S = j).
__device__ real log_above(real x, real lam, real theta)
{
    real failure = theta + EPSILON * EPSILON, odds = (1 - theta) / failure, rest = 1 / (odds * lam), b = 1 + rest;
    real bottom = fmin(fmax(floor(lam), floor(2 * x / (b + sqrt(b * b + 4 * x * rest)))) + 1, x + 1), term = 1, sum = 1;
    for (int i = 0; i < 30000 && bottom > 1 && term > 0.01 * EPSILON; i++) {
        bottom--;
        term *= (bottom + 1) / lam * fmin(bottom < 1 ? 0 : 1 / growth(bottom - 1, x, odds), (real)1);
    }
    real log_q = log_beta_p(x - bottom + 1, bottom, failure, 1 - theta);
    real power = exp(binomial_logpmf(x - bottom, x, failure) - log_q);
    term = 1;
    for (int i = 0; i < 60000 && (term > 0.01 * EPSILON * sum || bottom + i < lam); i++) {
        real j = bottom + i, weight = lam / (j + 1);
        term = weight * (term + power);
        power *= j < x ? weight * growth(j, x, odds) : 0;
        sum += term;
    }
    return log_poisson(bottom, lam) + log_q + log(sum);
}

__device__ real polya_aeppli_logcdf(real x, real lam, real theta)
{
    if (x == 0) return -lam;
    return x * (1 - theta) < lam ? log_below(x, lam, theta) : log1mexp(log_above(x, lam, theta));
}

__device__ real polya_aeppli_logsf(real x, real lam, real theta)
{
    if (x == 0) return log1mexp(-lam);
    return x * (1 - theta) < lam ? log1mexp(log_below(x, lam, theta)) : log_above(x, lam, theta);
}

__device__ real polya_aeppli_sample(rng_t *rng, real lam, real theta)
{
    real terms = poisson_sample(rng, lam);
    if (terms == 0 || theta == 0) return terms;
    real more = negative_binomial_sample(rng, terms * (theta / (1 - theta)), terms);
    return terms + more;
}

__device__ real polya_aeppli_mean(real lam, real theta) { return lam / (1 - theta); }
__device__ real polya_aeppli_var(real lam, real theta) { return lam / (1 - theta) * ((1 + theta) / (1 - theta)); }

__device__ real polya_aeppli_skewness(real lam, real theta)
{
    return (1 + theta * (4 + theta)) / ((1 + theta) * sqrt((1 + theta) * lam));
}

__device__ real polya_aeppli_kurtosis(real lam, real theta)
{
    return (1 + theta * (11 + theta * (11 + theta))) / ((1 + theta) * (1 + theta) * lam);
}
