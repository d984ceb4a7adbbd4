// wiener: response time of a drift diffusion between two boundaries, negative where it reaches the lower one first
// used for: choices and response times together, in drift diffusion models
// x: real, response time with the sign of the boundary    alpha: positive, separation of the boundaries
// tau: nonnegative, non-decision time    beta: unit, relative starting point, neither 0 nor 1    delta: real, drift
// density: (pi / alpha**2 * exp(-v * alpha * w - v**2 * t / 2) *
// Sum(k * sin(k * pi * w) * exp(-k**2 * pi**2 * t / (2 * alpha**2)), k, 1, inf) if t > 0 else 0)    t = abs(x) - tau
// w = beta if x < 0 else 1 - beta    v = delta if x < 0 else -delta
// source: Navarro & Fuss (2009), Fast and accurate calculations for first-passage times in Wiener diffusion models
//
// For x > 0 it is the density that Stan and RWiener have of the upper boundary, for x < 0 that of the lower one; P(X > 0) is the
// probability that the upper one is reached first. All is computed of the lower boundary: with u = (|x| - tau) / alpha^2, the
// starting point w above it and s = 1 - w below the upper one, and nu = alpha delta.

// The u up to which the sum over paths that are reflected at the boundaries converges more quickly than the Fourier series
__device__ real early() { return 0.4; }

// The logarithm of the Fourier series with the weights k / (nu^2 + pi^2 k^2) if `integrated`, else k; but for its factor
// exp(-(nu^2 + pi^2) u / 2)
__device__ real log_fourier(real u, real w, real s, real nu, int integrated)
{
    real sum = 0, r = fmin(w, s);
    for (int k = 6; k > 0; k--) {
        real size = k * sin(k * PI * r) * exp(-0.5 * PI * PI * u * (k * k - 1));
        real weight = integrated ? 1 / (nu * nu + PI * PI * k * k) : 1;
        sum += (w > s && k % 2 == 0 ? -weight : weight) * size;
    }
    return log(sum);
}

// The logarithm of the sum over reflected paths, relative to exp(-w^2 / (2 u)); they are taken in pairs, of which nearly all
// cancels where w or s is small.
__device__ real log_reflected(real u, real w, real s)
{
    real sum = 1, near_upper = 0;
    for (int k = 1; k < 4; k++) {
        real e = exp(-4 * k * w / u);
        sum += exp(-2 * k * (k - w) / u) * ((1 + e) - 2 * k / w * -expm1(-4 * k * w / u));
        real m = 2 * k - 1, f = exp(-2 * m * s / u);
        near_upper += exp(-2 * (k - 1) * (k - s) / u) * ((m - s) * -expm1(-2 * m * s / u) - 2 * s * f);
    }
    return w < s ? log(w) + log(sum) : log(near_upper);
}

// The logarithm of the density of u, of paths that reach the lower boundary first
__device__ real log_passage(real u, real w, real s, real nu)
{
    if (u < early())
        return log_reflected(u, w, s) - 0.5 * (w + nu * u) * ((w + nu * u) / u) - 1.5 * log(u) - HALF_LOG_2PI;
    return LOG_PI - nu * w - 0.5 * (nu * nu + PI * PI) * u + log_fourier(u, w, s, nu, 0);
}

// The logarithm of the probability that the lower boundary is reached first
__device__ real log_chance(real w, real s, real nu)
{
    real size = fabs(nu);
    return log(s) + log(relative_expm1(-2 * size * s)) - log(relative_expm1(-2 * size)) - (nu + size) * w;
}

// Whether the probability of a later passage, not that of an earlier one, is what is computed: the smaller one, roughly
__device__ int is_late(real u, real w, real nu) { return u * hypot(nu, PI) > w; }

// The logarithm of the probability that the lower boundary is reached first, and later than u if is_late(u, w, nu), else earlier:
// by quadrature in log(u) up to early(), from where on the Fourier series is integrated
__device__ real log_tail(real u, real w, real s, real nu)
{
    real rate = 0.5 * (nu * nu + PI * PI), from = fmax(u, early()), last = 1;
    real after = LOG_2PI - nu * w - rate * from + log_fourier(from, w, s, nu, 1);
    int late = is_late(u, w, nu);
    if (u >= early()) return after;
    real width = panel_width(0.5 * w * (w / u) - rate * u, 1 / sqrt(1 + w * hypot(nu, PI)));
    real length = late ? log(early()) - log(u) : INFINITY, at = log_passage(u, w, s, nu) + log(u), sum = 0;
    for (int panel = 0; panel < 2000 && panel * width < length && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, length - left);
        last = 0;
        for (int k = 0; k < 8; k++) {
            real d = left + half * (1 + legendre_node(k)), away = late ? d : -d;
            last += half * legendre_weight(k) * exp(log_passage(u * exp(away), w, s, nu) + log(u) + away - at);
        }
        sum += last;
        last /= sum;
    }
    real between = log(sum) + at;
    return late ? logaddexp(between, after) : between;
}

__device__ real log_tail_grad_u(real u, real w, real s, real nu, real value)
{
    return (is_late(u, w, nu) ? -1 : 1) * exp(log_passage(u, w, s, nu) - value);
}

__device__ real wiener_logpdf(real x, real alpha, real tau, real beta, real delta)
{
    if (beta == 0 || beta == 1 || isinf(delta) || isinf(tau)) return NAN;
    real t = fabs(x) - tau, u = t / alpha / alpha, w = x < 0 ? beta : 1 - beta, s = x < 0 ? 1 - beta : beta;
    if (!(t > 0) || isinf(t)) return -INFINITY;
    return log_passage(u, w, s, x < 0 ? alpha * delta : -alpha * delta) - 2 * log(alpha);
}

// log P(X <= x), of which P(X > x) is the reflection
__device__ real log_below(real x, real alpha, real tau, real w, real s, real nu)
{
    real t = fabs(x) - tau, u = t / alpha / alpha;
    if (!(t > 0)) return log_chance(w, s, nu);
    real tail = log_tail(u, x < 0 ? w : s, x < 0 ? s : w, x < 0 ? nu : -nu);
    if (is_late(u, x < 0 ? w : s, nu)) return x < 0 ? tail : log1mexp(tail);
    real chance = log_chance(w, s, nu);
    return x < 0 ? logsubexp(chance, tail) : logaddexp(chance, tail);
}

__device__ real wiener_logcdf(real x, real alpha, real tau, real beta, real delta)
{
    if (beta == 0 || beta == 1 || isinf(delta) || isinf(tau)) return NAN;
    if (isinf(x)) return x > 0 ? 0 : -INFINITY;
    return log_below(x, alpha, tau, beta, 1 - beta, alpha * delta);
}

__device__ real wiener_logsf(real x, real alpha, real tau, real beta, real delta)
{
    if (beta == 0 || beta == 1 || isinf(delta) || isinf(tau)) return NAN;
    if (isinf(x)) return x > 0 ? -INFINITY : 0;
    return log_below(-x, alpha, tau, 1 - beta, beta, -alpha * delta);
}

// From one interval around the path's place to the next, each as wide as the boundaries allow: it leaves one on either side after
// times that have a Polya-Gamma distribution.
// Source: Devroye (2009), On exact simulation algorithms for some distributions related to Jacobi theta functions
__device__ real wiener_sample(rng_t *rng, real alpha, real tau, real beta, real delta)
{
    if (beta == 0 || beta == 1) return NAN;
    real w = beta, u = 0, nu = alpha * delta, sign = 0;
    for (int i = 0; i < 1000 && sign == 0; i++) {
        real d = fmin(w, 1 - w), part = polya_gamma_sample(rng, 1, 2 * nu * d), upwards = uniform(rng);
        int up = upwards < expit(2 * nu * d);
        u += 4 * d * d * part;
        sign = up && w >= 0.5 ? 1 : !up && w <= 0.5 ? -1 : 0;
        w = up ? w + d : w - d;
    }
    return sign * (tau + alpha * alpha * u);
}
