// stable: the stable distributions, in Nolan's parametrisation 0, which is continuous in all parameters
// used for: sums of heavy-tailed shocks: returns, noise, jumps without a variance
// x: real    alpha: positive, index, <= 2    beta: real, skewness, -1 <= beta <= 1    mu: real, location    sigma: positive, scale
// density: Integral(exp(-t**alpha) * cos(z * t + h[t]), t, 0, inf) / (pi * sigma)    z = (x - mu) / sigma
// h[t] = 2 / pi * beta * t * log(t) if alpha == 1 else beta * tan(pi * alpha / 2) * (t - t**alpha)
// source: Nolan (1997), Numerical calculation of stable densities and distribution functions
//
// At a distance d from zeta = -beta tan(pi alpha / 2), density and probabilities of a standard variable are integrals of
// exp(v - exp(v)) times a weight along the path of steepest descent, v being a monotone function of an angle psi between 0 and `whole`,
// of which 0 and pi are `delta` and, alpha times, `kappa` away. In y, the logit of psi / whole, the trapezoidal rule has all the digits
// that v has: Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule. The rounding error of v is about
// EPSILON / |alpha - 1|: as many digits are lost as alpha is near 1 but not 1. At alpha = 1 steps are as short as z is large.

// v(y), or its derivative if `slope`; where alpha = 1, beta > 0. Angles are taken from the nearer end.
__device__ real exponent(real y, int slope, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    int left = y < 0;
    real psi = whole * expit(y), phi = whole * expit(-y), speed = psi * expit(-y);
    if (alpha == 1) {
        real sine = sin(left ? psi : phi), cot = (left ? cos(psi) : -cos(phi)) / sine;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (slope) return speed * (beta / rest - 2 * cot + rest / (beta * sine * sine));
        return shift + log(rest / sine) - rest / beta * cot;
    }
    real a = left ? alpha * psi : kappa + alpha * phi, f = left ? delta + psi : phi;
    real c = left ? delta + (1 - alpha) * psi : kappa + (alpha - 1) * phi, sign = left ? 1 : -1;
    if (slope)
        return speed * (sign * (cos(f) / sin(f) - alpha * alpha * (cos(a) / sin(a))) / (alpha - 1)
                        + (1 - alpha) * (cos(c) / sin(c)));
    return shift + alpha / (alpha - 1) * log(sin(f) / sin(a)) + log(sin(c) / sin(f));
}

// The logarithm of the integrand; what: 0: of the density, 1: of P(Z > z), 2: of P(Z <= z), alpha <= 1
__device__ real log_integrand(real y, int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real v = exponent(y, 0, shift, alpha, beta, whole, kappa, delta), weight = log_expit(what == 1 ? -y : y);
    if (what == 0)
        weight += log_expit(-y);
    else
        weight += log(fabs(exponent(y, 1, shift, alpha, beta, whole, kappa, delta)));
    return v - exp(v) + weight;
}

// About where the integrand of the density is largest: of where v is 0 and where exp(v) is least, the one with the larger value
__device__ real center_of(real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real reach = EPSILON < 1e-10 ? 600 : 70, best = 0, value = -INFINITY;
    for (int which = 0; which < 2; which++) {
        real low = -reach, high = reach;
        for (int i = 0; i < 22; i++) {
            real y = 0.5 * (low + high), v = exponent(y, 0, shift, alpha, beta, whole, kappa, delta);
            int rises = (v > 0) == (alpha > 1);
            if (which == 1 && v < 40)
                rises = log_integrand(y + 0.01, 0, shift, alpha, beta, whole, kappa, delta)
                      > log_integrand(y - 0.01, 0, shift, alpha, beta, whole, kappa, delta);
            low = rises ? y : low;
            high = rises ? high : y;
        }
        real y = 0.5 * (low + high), at_y = log_integrand(y, 0, shift, alpha, beta, whole, kappa, delta);
        if (which == 0 || at_y > value) {
            best = y;
            value = at_y;
        }
    }
    return best;
}

// The logarithm of the integral over psi. Where a light tail is followed by a heavy one, the integrand may have two peaks: on the side
// to which v falls without end, the sum goes on as long as v is positive.
__device__ real log_integral(int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real center = center_of(shift, alpha, beta, whole, kappa, delta);
    real at_center = log_integrand(center, what, shift, alpha, beta, whole, kappa, delta), sum = 1;
    real steepest = alpha == 1 ? fabs(exponent(center, 1, shift, alpha, beta, whole, kappa, delta)) : fmax(alpha, (real)1) / fabs(alpha - 1);
    real step = panel_width((alpha == 1 ? 20 : 12) * fmax(steepest, (real)2), 1);  // which has no derivative
    int falls = alpha > 1 ? 1 : -1, endless = alpha > 1 ? kappa > 0 : alpha < 1 ? delta > 0 : beta < 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        int ahead = 1;
        for (int i = 1; i < 40000 && (term > 0.01 * EPSILON * sum || ahead); i++) {
            real y = center + side * i * step;
            term = exp(log_integrand(y, what, shift, alpha, beta, whole, kappa, delta) - at_center);
            sum += term > 0 ? term : 0;
            ahead = side == falls && endless && exponent(y, 0, shift, alpha, beta, whole, kappa, delta) > 0;
        }
    }
    real value = at_center + log(step * sum) + log(whole);
    if (what != 1 || endless || alpha > 1) return value;
    // exp(v) does not begin at 0
    real least = shift + (alpha == 1 ? -1 : alpha / (1 - alpha) * log(alpha) + log1p(-alpha));
    return logaddexp(value, log(whole) + log1mexp(-exp(least)));
}

// Near zeta the integral has the value, but its slope cancels. There a power series has both, d being in units in which zeta does not
// count: it converges where alpha > 1; else its terms grow in the end, and the smallest one must be small enough.
__device__ int has_series(real d, real alpha, real angle)
{
    real least = (1 - 1 / alpha) * exp(alpha / (1 - alpha) * (log(alpha) / alpha - log(d)));
    return d < 0.25 && (alpha > 1 || (cos(angle) > 0.01 && least < log(1e-4 * EPSILON)));
}

// PI times the density. Source: Feller (1971), An Introduction to Probability Theory and Its Applications, vol. 2, ch. XVII.6.
__device__ real power_series(real d, real alpha, real angle)
{
    real sum = 0, size = 1, power = 1;
    for (int n = 1; n < 60 && (n < 4 || size > 0.01 * EPSILON * sum); n++) {
        size = exp(log_gamma_1p(n / alpha) - log_gamma_1p(n)) * power;
        sum += ((n - 1) % 4 < 2 ? size : -size) * (n % 2 == 1 ? cos(n * angle) : sin(n * angle));
        power *= d;
    }
    return sum;
}

// A standard variable at a distance d > 0 above zeta, or at z = d where alpha = 1, beta > 0
__device__ real log_above_zeta(int what, real d, real alpha, real beta)
{
    real w = alpha > 1 ? PI * (1 - 0.5 * alpha) : 0.5 * PI * alpha, c = cos(w), s = sin(w);
    real kappa = atan2((1 + beta) * s * c, c * c - beta * s * s), zeta = beta * stable_tangent(alpha);
    real delta = alpha < 1 ? atan2((1 - beta) * s * c, c * c + beta * s * s) / alpha : 0, whole = PI - delta;
    if (alpha < 1) {
        whole = kappa / alpha;
        kappa = PI - alpha * whole;
    } else {
        whole = (PI - kappa) / alpha;
        delta = PI - whole;
    }
    if (beta > -1 && alpha < 2 && d > 0 && alpha * log(d) > -2 * log(EPSILON)) {  // where only the power of the tail counts
        real value = log_gamma(alpha) + log(s * (1 + beta) / PI) - alpha * log(d);
        return what == 0 ? value + log(alpha) - log(d) : what == 1 ? value : log1mexp(value);
    }
    if (alpha == 1) {
        real value = log_integral(what, log(2 / PI) - 0.5 * PI * d / beta, alpha, beta, PI, 0, 0);
        return what == 0 ? value - log(2 * beta) : value - LOG_PI;
    }
    if (!(whole > 0)) return what == 2 ? 0 : -INFINITY;
    real unit = log1p_square(zeta) / (2 * alpha);
    real angle = atan(zeta) / alpha, size = d * exp(-unit);
    if (what == 0 && has_series(size, alpha, angle)) return log(power_series(size, alpha, angle)) - LOG_PI - unit;
    if (d == 0)
        return what == 0 ? log_gamma(1 + 1 / alpha) + log(sin(whole) / PI) - unit
             : what == 1 ? log(whole / PI) : log(delta / PI);
    real shift = alpha / (alpha - 1) * (log(d) - unit);
    real value = log_integral(what, shift, alpha, beta, whole, kappa, delta) - LOG_PI;
    if (what == 0) return value + log(alpha / fabs(alpha - 1)) - log(d);
    return what == 1 ? value : log(delta / PI + exp(value));
}

// what: 0: the logarithm of the density, 1: of P(Z > z), 2: of P(Z <= z)
__device__ real standard(int what, real z, real alpha, real beta)
{
    if (alpha == 1 && beta == 0) return what == 0 ? cauchy_logpdf(z, 0, 1) : what == 1 ? cauchy_logsf(z, 0, 1) : cauchy_logcdf(z, 0, 1);
    real d = alpha == 1 ? z : z + beta * stable_tangent(alpha);
    int mirrored = alpha == 1 ? beta < 0 : d < 0, asked = what == 0 || !mirrored ? what : 3 - what;
    if (asked == 2 && alpha > 1) return log1mexp(log_above_zeta(1, fabs(d), alpha, mirrored ? -beta : beta));
    return log_above_zeta(asked, mirrored ? -d : d, alpha, mirrored ? -beta : beta);
}

__device__ int valid(real alpha, real beta) { return alpha <= 2 && fabs(beta) <= 1; }

__device__ real stable_logpdf(real x, real alpha, real beta, real mu, real sigma)
{
    if (!valid(alpha, beta)) return NAN;
    return isinf(x) ? -INFINITY : standard(0, (x - mu) / sigma, alpha, beta) - log(sigma);
}

__device__ real stable_logcdf(real x, real alpha, real beta, real mu, real sigma)
{
    return isinf(x) ? (x < 0 ? -INFINITY : 0) : standard(2, (x - mu) / sigma, alpha, beta);
}

__device__ real stable_logsf(real x, real alpha, real beta, real mu, real sigma)
{
    return isinf(x) ? (x < 0 ? 0 : -INFINITY) : standard(1, (x - mu) / sigma, alpha, beta);
}

// Source: Chambers, Mallows & Stuck (1976), A method for simulating stable random variables.
__device__ real stable_sample(rng_t *rng, real alpha, real beta, real mu, real sigma)
{
    real u = PI * (uniform(rng) - 0.5), w = exponential(rng), z;
    if (alpha == 1) {
        real b = 0.5 * PI + beta * u;
        z = 2 / PI * (b * tan(u) - beta * log(0.5 * PI * w * cos(u) / b));
    } else {
        real zeta = -beta * stable_tangent(alpha), lift = atan(-zeta) / alpha, root = exp(log1p_square(zeta) / (2 * alpha));
        z = zeta + root * sin(alpha * (u + lift)) / pow(cos(u), 1 / alpha) * pow(cos(u - alpha * (u + lift)) / w, (1 - alpha) / alpha);
    }
    return mu + sigma * z;
}

__device__ real stable_mean(real alpha, real beta, real mu, real sigma)
{
    return valid(alpha, beta) && alpha > 1 ? mu - sigma * (beta * stable_tangent(alpha)) : NAN;
}

__device__ real stable_var(real alpha, real beta, real mu, real sigma)
{
    return valid(alpha, beta) ? (alpha == 2 ? 2 * (sigma * sigma) : INFINITY) : NAN;
}

__device__ real stable_skewness(real alpha, real beta, real mu, real sigma) { return alpha == 2 && fabs(beta) <= 1 ? 0 : NAN; }
__device__ real stable_kurtosis(real alpha, real beta, real mu, real sigma) { return alpha == 2 && fabs(beta) <= 1 ? 0 : NAN; }

__device__ real stable_lower(real alpha, real beta, real mu, real sigma)
{
    return alpha < 1 && beta == 1 ? mu - sigma * stable_tangent(alpha) : -INFINITY;
}

__device__ real stable_upper(real alpha, real beta, real mu, real sigma)
{
    return alpha < 1 && beta == -1 ? mu + sigma * stable_tangent(alpha) : INFINITY;
}
