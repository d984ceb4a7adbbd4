// renewal_equation_negative_binomial: infections that follow from earlier ones, with negative binomial counts, from the second one on
// used for: reproduction numbers of epidemics from daily counts that vary more than Poisson's law allows
// y: nonnegative integer vector, new infections by day, the first not all 0    reproduction: nonnegative, reproduction number
// mean: positive, of the generation interval in days, a gamma variable rounded up    sd: positive, its standard deviation
// alpha: positive, dispersion: the variance of a count of mean m is m + m^2 / alpha
// expected: vector, expectation of y[t] given the numbers before
// simulated: vector, draw of y[t] from the model, after y[0]
// model: y[t] ~ NegativeBinomial(reproduction * Sum(w[s] * y[t - s], s, 1, min(t, 30)), alpha)    w[s] = (F(s) - F(s - 1)) / F(30)
// source: Cori, Ferguson, Fraser & Cauchemez (2013), A new framework to estimate time-varying reproduction numbers
//
// F is the distribution function of the gamma distribution of this mean and standard deviation.
__device__ real renewal_equation_negative_binomial_loglik(
    const real *y, int n, real reproduction, real mean, real sd, real alpha, real *expected,
    rng_t *rng, real *simulated)
{
    real weights[30] = {0}, shape = mean / sd * (mean / sd), rate = shape / mean, before = 0, sum = 0;
    int place = 0;  // no function of s: then this loop stays one, and compilers see one call
    for (int s = 1; s <= 30; s++) {
        real now = gamma_cdf(s, shape, rate);
        weights[place] = now - before;
        before = now;
        place += 1;
    }
    for (int t = 1; t < n; t++) {
        real force = 0;
        for (int s = 0; s < 30; s++)
            if (s < t) force += weights[s] * y[t - 1 - s];
        expected[t] = reproduction * force / before;
        sum += negative_binomial_logpmf(y[t], reproduction * force / before, alpha);
    }
    simulated[0] = y[0];
    for (int t = 1; t < n; t++) {
        real force = 0;
        for (int s = 0; s < 30; s++)
            if (s < t) force += weights[s] * simulated[t - 1 - s];
        simulated[t] = negative_binomial_sample(rng, reproduction * force / before, alpha);
    }
    return sum;
}
