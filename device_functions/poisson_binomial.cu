// poisson_binomial: number of successes in dim independent trials, each of which has a probability of its own
// used for: the number of successes when chances differ: defaults of loans, wins of a team
// x: nonnegative integer    p: unit vector, probability of success in each trial
// mass: Sum(u[-k * x] * Product(1 - p[l] + p[l] * u[k], l), k, 0, dim) / (dim + 1) if x <= dim else 0
// u[k] = exp(2j * pi * k / (dim + 1))
// source: Hong (2013), On computing the distribution function for the Poisson binomial distribution
//
// A probability, or the sum of several, is a mean of the generating function, the product of 1 - p_j + p_j z, over dim + 1
// points of a circle: Fourier's sum. On the circle through the saddle point all is relative to a product of positive
// numbers, and the first point has the largest term, so that no digits are lost in either tail. What is computed does not
// depend on the circle, but for rounding: it has no part in derivatives.

__device__ real poisson_binomial_lower(const real *p, int dim)
{
    real certain = 0;
    for (int j = 0; j < dim; j++)
        certain += p[j] == 1 ? 1 : 0;
    return certain;
}

__device__ real poisson_binomial_upper(const real *p, int dim)
{
    real possible = 0;
    for (int j = 0; j < dim; j++)
        possible += p[j] > 0 ? 1 : 0;
    return possible;
}

// log(z) of the saddle point: with odds multiplied by z the mean is y, between the ends of the support. Near it is enough.
__device__ real tilt_to(real y, const real *p, int dim)
{
    real lower = poisson_binomial_lower(p, dim), upper = poisson_binomial_upper(p, dim);
    real target = log((y - lower) / (upper - y)), low = INFINITY, high = -INFINITY, tilt = 0, step = INFINITY;
    for (int j = 0; j < dim; j++) {
        if (p[j] > 0 && p[j] < 1) {
            low = fmin(low, -logit(p[j]));
            high = fmax(high, -logit(p[j]));
        }
    }
    low -= log((real)dim) + 1;
    high += log((real)dim) + 1;
    for (int i = 0; i < 100 && fabs(step) > 1e-3; i++) {
        real above = 0, below = 0, var = 0;
        for (int j = 0; j < dim; j++) {
            if (p[j] > 0 && p[j] < 1) {
                real success = expit(logit(p[j]) + tilt), failure = expit(-logit(p[j]) - tilt);
                above += success;
                below += failure;
                var += success * failure;
            }
        }
        real error = log(above / below) - target, newton = tilt - error / (var * (1 / above + 1 / below));
        low = error < 0 ? tilt : low;
        high = error < 0 ? high : tilt;
        real next = newton > low && newton < high ? newton : 0.5 * (low + high);
        step = (next - tilt) * fmax(sqrt(var), (real)1);
        tilt = next;
    }
    return tilt;
}

// 1 - p + p z, z = exp(tilt), as its logarithm
__device__ real log_factor(real p, real tilt)
{
    real u = p * expm1(tilt);
    if (p == 0 || p == 1) return p * tilt;
    return tilt > 30 ? tilt + log(p + (1 - p) * exp(-tilt)) : u < -0.5 ? log(1 - p + p * exp(tilt)) : log1p(u);
}

// The mean over the circle |z| = exp(tilt) of z^-y (1 + w + … + w^(length - 1)) times the generating function, w being 1 / z
// if `up`, else z, relative to exp(-tilt y) times that function at exp(tilt): its logarithm, or, if `what` is 1, the derivative
// of that in p[component].
__device__ real around(real y, const real *p, int dim, real length, int up, real tilt, int what, int component)
{
    real e = exp(-fabs(tilt)), damp = exp(-fabs(tilt) * length), sum = 0, slope = 0, size = 1;
    real own = p[component], scale = tilt > 0 ? own + (1 - own) * e : 1 - own + own * e;
    for (int l = 0; l <= dim && 2 * l <= dim + 1 && size > 0.01 * EPSILON; l++) {
        real unit = 2 * PI / (dim + 1), t = unit * l, s = sin(t), half = sin(0.5 * t), versed = 2 * half * half;
        real turn = unit * fmod(y * l, (real)(dim + 1)), re = cos(turn), im = -sin(turn), fr = 1, fi = 0;
        for (int j = 0; j < dim; j++) {
            real q = tilt > 0 ? p[j] / (p[j] + (1 - p[j]) * e) : p[j] * e / (1 - p[j] + p[j] * e);
            real a = 1 - q * versed, b = q * s, next = re * a - im * b;
            im = re * b + im * a;
            re = next;
            fr = j == component ? a : fr;
            fi = j == component ? b : fi;
        }
        size = hypot(re, im);
        if (length > 1) {
            real w = unit * fmod(length * l, (real)(dim + 1)), h = sin(0.5 * w), r = up ? -1 : 1;
            real nr = -expm1(-fabs(tilt) * length) + 2 * damp * h * h, ni = -r * damp * sin(w);
            real dr = -expm1(-fabs(tilt)) + e * versed, di = -r * e * s, norm = dr * dr + di * di;
            real gr = norm == 0 ? length : (nr * dr + ni * di) / norm, gi = norm == 0 ? 0 : (ni * dr - nr * di) / norm;
            real next = re * gr - im * gi;
            im = re * gi + im * gr;
            re = next;
        }
        real weight = l == 0 || 2 * l == dim + 1 ? 1 : 2;
        real zr = tilt > 0 ? -expm1(-tilt) - versed : expm1(tilt) - e * versed, zi = tilt > 0 ? s : e * s;
        real tr = re * zr - im * zi, ti = re * zi + im * zr;
        sum += weight * re;
        slope += weight * (tr * fr + ti * fi) / (fr * fr + fi * fi);
    }
    return what == 0 ? log(sum / (dim + 1)) : slope / (scale * sum);
}

// The logarithm of the sum of `length` probabilities from that of y on, upwards if `up`, else downwards. At an end of the
// support there is only one.
__device__ real log_sum(real y, const real *p, int dim, real length, int up)
{
    real lower = poisson_binomial_lower(p, dim), upper = poisson_binomial_upper(p, dim), value = 0;
    if (y <= lower || y >= upper) {
        for (int j = 0; j < dim; j++)
            value += y <= lower ? (p[j] < 1 ? log1p(-p[j]) : 0) : p[j] > 0 ? log(p[j]) : 0;
        return value;
    }
    real tilt = tilt_to(y, p, dim);
    for (int j = 0; j < dim; j++)
        value += log_factor(p[j], tilt);
    return value - tilt * y + around(y, p, dim, length, up, tilt, 0, 0);
}

__device__ real log_sum_grad_p(real y, const real *p, int dim, real length, int up, int component)
{
    real lower = poisson_binomial_lower(p, dim), upper = poisson_binomial_upper(p, dim), own = p[component], rest = 0;
    if (y <= lower) {
        for (int j = 0; j < dim; j++)
            rest += p[j] < 1 ? p[j] / (1 - p[j]) : 0;
        return own < 1 ? -1 / (1 - own) : 1 - rest;
    }
    if (y >= upper) {
        for (int j = 0; j < dim; j++)
            rest += p[j] > 0 ? (1 - p[j]) / p[j] : 0;
        return own > 0 ? 1 / own : rest - 1;
    }
    return around(y, p, dim, length, up, tilt_to(y, p, dim), 1, component);
}

__device__ real poisson_binomial_logpmf(real x, const real *p, int dim)
{
    if (x < poisson_binomial_lower(p, dim) || x > poisson_binomial_upper(p, dim)) return -INFINITY;
    return log_sum(x, p, dim, 1, 0);
}

__device__ real poisson_binomial_mean(const real *p, int dim)
{
    real sum = 0;
    for (int j = 0; j < dim; j++)
        sum += p[j];
    return sum;
}

__device__ real poisson_binomial_logcdf(real x, const real *p, int dim)
{
    if (x < poisson_binomial_lower(p, dim)) return -INFINITY;
    if (x >= poisson_binomial_upper(p, dim)) return 0;
    return x < poisson_binomial_mean(p, dim) ? log_sum(x, p, dim, x + 1, 0) : log1mexp(log_sum(x + 1, p, dim, dim - x, 1));
}

__device__ real poisson_binomial_logsf(real x, const real *p, int dim)
{
    if (x < poisson_binomial_lower(p, dim)) return 0;
    if (x >= poisson_binomial_upper(p, dim)) return -INFINITY;
    return x < poisson_binomial_mean(p, dim) ? log1mexp(log_sum(x, p, dim, x + 1, 0)) : log_sum(x + 1, p, dim, dim - x, 1);
}

__device__ real poisson_binomial_sample(rng_t *rng, const real *p, int dim)
{
    real sum = 0;
    for (int j = 0; j < dim; j++) {
        real u = uniform(rng);
        sum += u < p[j] ? 1 : 0;
    }
    return sum;
}

__device__ real poisson_binomial_var(const real *p, int dim)
{
    real sum = 0;
    for (int j = 0; j < dim; j++)
        sum += p[j] * (1 - p[j]);
    return sum;
}

__device__ real poisson_binomial_skewness(const real *p, int dim)
{
    real sum = 0, var = poisson_binomial_var(p, dim);
    for (int j = 0; j < dim; j++)
        sum += p[j] * (1 - p[j]) * (1 - 2 * p[j]);
    return sum / (var * sqrt(var));
}

__device__ real poisson_binomial_kurtosis(const real *p, int dim)
{
    real sum = 0, var = poisson_binomial_var(p, dim);
    for (int j = 0; j < dim; j++)
        sum += p[j] * (1 - p[j]) * (1 - 6 * p[j] * (1 - p[j]));
    return sum / (var * var);
}
