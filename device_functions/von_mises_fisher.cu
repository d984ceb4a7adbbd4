// von_mises_fisher: directions in dim dimensions, around a mean direction
// used for: directions in space, and texts or images as vectors of length 1
// x: vector, of length 1    mu: vector, of length 1, mean direction    kappa: nonnegative, concentration
// density: kappa**(dim / 2 - 1) / ((2 * pi)**(dim / 2) * I(dim / 2 - 1, kappa)) * exp(kappa * (mu @ x))
// source: Mardia & Jupp (2000), Directional Statistics, ch. 9; quadrature as in Trefethen & Weideman (2014), The exponentially
// convergent trapezoidal rule

// Whether the square of a length is 1, but for rounding
__device__ int is_one(real square)
{
    return fabs(square - 1) <= (EPSILON < 1e-10 ? 1e-5 : 3.5e-4);
}

// (1 / c) times the integral of exp(kappa t) (1 - t^2)^((dim - 3) / 2) for t from -1 to 1, c being the largest value of
// exp(kappa t) (1 - t^2)^((dim - 1) / 2), at t = top: by the trapezoidal rule in atanh(t), outwards from the top.
__device__ real around_top(real top, int dim)
{
    real m = dim - 1, h = fmin((real)0.11, 0.4 / sqrt(m)), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real last = 1;
        for (int j = 1; j < 1000 && last > 0.001 * EPSILON; j++) {
            real v = side * j * h, t = tanh(v), e = exp(-2 * j * h);
            real log_growth = j * h + log(0.5 * ((1 + side * top) + (1 - side * top) * e));  // cosh(v) + top sinh(v)
            last = exp(m * (top * t / (1 + top * t) - log_growth));
            sum += last;
        }
    }
    return h * sum;
}

__device__ real von_mises_fisher_logpdf(const real *x, const real *mu, real kappa, int dim)
{
    real of_x = 0, of_mu = 0, apart = 0, m = dim - 1;
    for (int i = 0; i < dim; i++) {
        of_x += x[i] * x[i];
        of_mu += mu[i] * mu[i];
        apart += (x[i] - mu[i]) * (x[i] - mu[i]);
    }
    if (dim < 2 || !is_one(of_mu) || isinf(kappa)) return NAN;
    if (!is_one(of_x)) return -INFINITY;
    real share = 2 / (m + hypot(m, 2 * kappa)), top = kappa * share;  // m share is 1 - top^2
    real log_area = LOG_2 + 0.5 * m * LOG_PI - log_gamma(0.5 * m);
    return (m * (top / (1 + top)) - 0.5 * m * log(m * share) - log(around_top(top, dim)) - log_area) - 0.5 * kappa * apart;
}

// Source: Wood (1994), Simulation of the von Mises Fisher distribution
__device__ void von_mises_fisher_sample(rng_t *rng, const real *mu, real kappa, real *x, int dim)
{
    real m = dim - 1, b = m / (2 * kappa + hypot(2 * kappa, m)), w = NAN, along = 0, square = 0, of_mu = 0;
    real middle = (1 - b) / (1 + b), c = kappa * middle + m * (log(4 * b) - 2 * log1p(b));
    for (int i = 0; i < 1000 && isnan(w); i++) {
        real z = beta_sample(rng, 0.5 * m, 0.5 * m), u = uniform(rng), at = (1 - (1 + b) * z) / (1 - (1 - b) * z);
        if (kappa * at + m * log(1 - middle * at) - c >= log(u)) w = at;
    }
    for (int i = 0; i < dim; i++) {
        x[i] = normal(rng);
        along += x[i] * mu[i];
        of_mu += mu[i] * mu[i];
    }
    for (int i = 0; i < dim; i++) {
        x[i] -= along / of_mu * mu[i];
        square += x[i] * x[i];
    }
    real length = 0;
    for (int i = 0; i < dim; i++) {
        x[i] = w * mu[i] / sqrt(of_mu) + sqrt((1 - w) * (1 + w) / square) * x[i];
        length += x[i] * x[i];
    }
    for (int i = 0; i < dim; i++)  // what is across may have been rounded, where it was little
        x[i] /= sqrt(length);
}
