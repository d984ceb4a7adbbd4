// ar1: autoregression of order 1, Gaussian, stationary from its first number on
// y: vector, series; nan is missing    mu: real, mean    phi: real, autocorrelation, between -1 and 1
// sigma: positive, standard deviation of the errors
// model: y[t] ~ Normal(mu + phi * (y[t - 1] - mu), sigma)    y[0] ~ Normal(mu, sigma / sqrt(1 - phi**2))
// source: Hamilton (1994), Time Series Analysis, sec. 5.2; missing numbers: Jones (1980)
__device__ real ar1_loglik(const real *y, int n, real mu, real phi, real sigma)
{
    if (!(fabs(phi) < 1)) return NAN;
    // Of what is expected of y[t], less mu, and of its variance, relative to sigma^2 and less 1
    real mean = 0, more = phi * phi / ((1 - phi) * (1 + phi)), sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        if (isnan(y[t])) {
            mean = phi * mean;
            more = phi * phi * (more + 1);
        } else {
            real z = (y[t] - mu - mean) * (1 / sigma);
            sum += z * z / (1 + more) + (t == 0 || isnan(y[t - 1]) ? log1p(more) : 0);
            mean = phi * (y[t] - mu);
            more = 0;
            seen += 1;
        }
    }
    return -0.5 * sum - seen * (log(sigma) + HALF_LOG_2PI);
}
