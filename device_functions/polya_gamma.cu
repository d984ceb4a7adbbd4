// polya_gamma: the Polya-Gamma distribution, an infinite sum of weighted gamma variables
// used for: Gibbs sampling of logistic and negative binomial regressions
// x: nonnegative    h: positive, shape    z: real, tilt
// density: (2**(h - 1) * cosh(z / 2)**h / Gamma(h) * exp(-z**2 * x / 2) *
// Sum((-1)**n * Gamma(n + h) / factorial(n) * (2 * n + h) / sqrt(2 * pi * x**3) * exp(-(2 * n + h)**2 / (8 * x)), n, 0,
// inf))
// source: Polson, Scott & Windle (2013), Bayesian inference for logistic models using Polya-Gamma latent variables
__device__ real log_cosh(real w)
{
    real s = sinh(0.5 * fmin(fabs(w), (real)1));
    return fabs(w) < 1 ? log1p(2 * s * s) : fabs(w) + log1p(exp(-2 * fabs(w))) - LOG_2;
}

// Functions of w^2, also where that is negative, are given w^2 + pi^2 / 4, `room`: how far it is from the nearest pole of tanh(w).
__device__ real square_of(real room) { return room - 0.25 * PI * PI; }
__device__ real gap(real room) { return room / (0.5 * PI + sqrt(fabs(square_of(room)))); }  // pi / 2 - |w|, of imaginary w

__device__ real tangent(real w, real gap) { return w < gap ? tan(w) : cos(gap) / sin(gap); }
__device__ real log_cosine(real w, real gap) { return w < gap ? log1p(-2 * sin(0.5 * w) * sin(0.5 * w)) : log(sin(gap)); }

// tanh(w) / w
__device__ real mean_of(real room)
{
    real square = square_of(room), w = sqrt(fabs(square));
    return square == 0 ? 1 : (square > 0 ? tanh(w) : tangent(w, gap(room))) / w;
}

// (tanh(w) / w - sech(w)^2) / (16 w^2)
__device__ real curvature(real room)
{
    real square = square_of(room), t = tanh(sqrt(fabs(square))), s = sin(gap(room));
    real second = square > 0 ? (1 - t) * (1 + t) : 1 / (s * s);
    real series = 2.0 / 3 + square * (-8.0 / 15 + square * (34.0 / 105 + square * (-496.0 / 2835 + square * (2764.0 / 31185
                  + square * (-87376.0 / 2027025)))));
    return (fabs(square) < 0.01 ? series : (mean_of(room) - second) / square) / 16;
}

// The room where tanh(w) / w = ratio: of the tilt with which the mean of a variable of shape h is h ratio / 4. By Newton's method
// for w / tanh(w), from a start that is right within 12 % of the room.
__device__ real room_of_mean(real ratio)
{
    real k = PI * PI / 12, room = 3 * k * (k / (ratio - 1 + k));
    if (ratio < 1) room = 3 * k + (1 - ratio) / ratio * (2 + 1 / ratio);
    for (int i = 0; i < 5; i++) {
        real mean = mean_of(room);
        room -= (1 / mean - 1 / ratio) * mean * mean / (8 * curvature(room));
    }
    return room;
}

__device__ real room_of_mean_grad_ratio(real ratio) { return 0; }  // no integral depends on the path

// Whether P(X <= x), and not P(X > x), is what is computed.
__device__ int is_below(real x, real h, real z) { return 4 * x / h < mean_of(0.25 * (z * z + PI * PI)); }

// The density of z = 0 is the inverse of the Laplace transform cosh(sqrt(t / 2))^-h. Its path is a parabola through the
// saddle point of exp(t x) cosh(sqrt(t / 2))^-h, t = start - 2 y^2 + 4 i focus y, along which the trapezoidal rule converges
// geometrically: Weideman & Trefethen (2007), Parabolic and hyperbolic contours for computing the Bromwich integral. With a
// tilt, the distribution function is the same integral, divided by t - z^2 / 2, along a path that passes this pole on the
// right, and minus the survival function that along one on the left.
//
// tail: 0: the density    1: P(X <= x)    -1: P(X > x)
// what: 0: the logarithm of the integral, tilted    1, 2, 3: the mean along the path of the tilted log(cosh), t - z^2 / 2 and
// 1 / (t - z^2 / 2)
//
// The saddle point is where nothing cancels, however large h is. What is left is the error of x / h: values are those of an x that
// differs by a few EPSILON, so that near the mean logarithms have an error of about 2 EPSILON sqrt(h (1 + |z| / 2)).
__device__ real along_path(real x, real h, real z, int tail, int what)
{
    real room = room_of_mean(4 * x / h), square = square_of(room), half = sqrt(fabs(square)), tilt = 0.5 * fabs(z);
    real above = square > 0 ? 2 * (half - tilt) * (half + tilt) : 2 * square - 2 * tilt * tilt;  // start - z^2 / 2
    real bend = h * curvature(room), away = INFINITY;
    if (tail != 0) {
        real root = hypot(0.5 * above, 1 / sqrt(bend)), shift = tail > 0 ? root - 0.5 * above : -fmin(root + 0.5 * above, room);
        above += shift;
        room += 0.5 * shift;
        square += 0.5 * shift;
        half = sqrt(fabs(square));
        away = 0.5 * above;
    }
    real start = 2 * square, focus = sqrt(room), d_tilt = 0.5 * above / (half + tilt), q = sinh(0.5 * d_tilt);
    real at_start = start > 0 ? log_cosh(half) : log_cosine(half, gap(room));
    // The step of log(cosh) from the tilt: nothing cancels, as d_tilt is half - tilt.
    real by_tilt = start <= 0 ? at_start - log_cosh(tilt)
                 : fabs(d_tilt) < 1 ? log1p(2 * q * q + tanh(tilt) * sinh(d_tilt))
                 : d_tilt + log1p(exp(-2 * half)) - log1p(exp(-2 * tilt));
    real nearest = tail != 0 ? fmin(focus, fabs(away) / (focus + sqrt(focus * focus - away))) : focus;  // pole or branch point
    real digits = 1.4 * (4 - log(EPSILON)), reach = 0.5 * sqrt(2 * digits / bend);
    real right = reach / (focus + sqrt(focus * focus + reach));  // where it grows too far
    real step = 2 * PI / (2 * digits / right + (digits + 2) / nearest);
    real slope = start > 0 ? tanh(half) : tangent(half, gap(room)), sum = 0, moment = 0, size = INFINITY;
    for (int i = 0; i < 5000 && size > 0.01 * EPSILON * fabs(sum); i++) {
        real y = i * step, t = start - 2 * y * y, ti = 4 * focus * y, r = 0.5 * hypot(t, ti);
        real big = sqrt(0.5 * (r + 0.5 * fabs(t))), small = big > 0 ? 0.25 * ti / big : 0;
        real w = t > 0 ? big : small, wi = t > 0 ? small : big, e = exp(-2 * w), c = cos(wi);
        // With d, the step of w = sqrt(t / 2) from the start, the step of log(cosh(w)) is log1p(cosh(d) - 1 + slope sinh(d)).
        real v = start > 0 ? w + half : w, vi = start > 0 ? wi : wi + half, over = 0.5 / (v * v + vi * vi);
        real d = i == 0 ? 0 : (ti * vi - 2 * y * y * v) * over, di = i == 0 ? 0 : (ti * v + 2 * y * y * vi) * over;
        real s = sinh(0.5 * d), si = sin(0.5 * di), sh = sinh(d) * cos(di), shi = cosh(d) * sin(di);
        real g = 2 * s * s * cos(di) - 2 * si * si + (start > 0 ? slope * sh : -slope * shi);
        real gi = sinh(d) * sin(di) + (start > 0 ? slope * shi : slope * sh);
        real l = 0.5 * log1p(2 * g + (g * g + gi * gi)), li = atan2(gi, 1 + g);
        li += 2 * PI * rint((wi + atan2(-2 * e * sin(wi) * c, -expm1(-2 * w) + 2 * e * c * c) - li) / (2 * PI));
        real height = exp(-2 * y * y * x - h * l), angle = ti * x - h * li;
        real p = focus, pi = y, u = above - 2 * y * y, norm = u * u + ti * ti;
        if (tail != 0) {
            p = (focus * u + y * ti) / norm;
            pi = (y * u - focus * ti) / norm;
        }
        size = height * hypot(p, pi);
        real weight = i == 0 ? 0.5 : 1, a = weight * height * (p * cos(angle) - pi * sin(angle));
        real b = weight * height * (p * sin(angle) + pi * cos(angle));
        sum += a;
        moment += what == 1 ? (by_tilt + l) * a - li * b : what == 2 ? u * a - ti * b : (u * a + ti * b) / norm;
    }
    return what > 0 ? moment / sum : log(4 / PI * step * fabs(sum)) + above * x - h * by_tilt;
}

// The logarithm of the density.
__device__ real by_path(real x, real h, real z) { return along_path(x, h, z, 0, 0); }
__device__ real by_path_grad_x(real x, real h, real z) { return along_path(x, h, z, 0, 2); }
__device__ real by_path_grad_h(real x, real h, real z) { return -along_path(x, h, z, 0, 1); }
__device__ real by_path_grad_z(real x, real h, real z) { return 0.5 * h * tanh(0.5 * z) - z * x; }

// The logarithm of the series that the density of z = 0 is in exp(-1 / x), but for its first term.
__device__ real log_series(real x, real h)
{
    real sum = 0, factor = 1, term = 1;
    for (int n = 1; n < 100 && fabs(term) > 0.1 * EPSILON; n++) {
        factor *= -(h + n - 1) / n;
        term = factor * ((2 * n + h) / h) * exp(-n * (n + h) / (2 * x));
        sum += term;
    }
    return log1p(sum);
}

__device__ real polya_gamma_logpdf(real x, real h, real z)
{
    if (x == 0 || isinf(x)) return -INFINITY;
    if ((2 + h) * exp(-(1 + h) / (2 * x)) < 0.1) {
        real d = fma(-2 * x, fabs(z), h);
        return h * log1p(exp(-fabs(z))) + log(h) - LOG_2 - HALF_LOG_2PI - 1.5 * log(x) - 0.125 * d * (d / x)
             + log_series(x, h);
    }
    return by_path(x, h, z);
}

__device__ real log_tail(real x, real h, real z) { return along_path(x, h, z, is_below(x, h, z) ? 1 : -1, 0); }

__device__ real log_tail_grad_x(real x, real h, real z)
{
    real slope = exp(polya_gamma_logpdf(x, h, z) - log_tail(x, h, z));
    return is_below(x, h, z) ? slope : -slope;
}

__device__ real log_tail_grad_h(real x, real h, real z) { return -along_path(x, h, z, is_below(x, h, z) ? 1 : -1, 1); }

__device__ real log_tail_grad_z(real x, real h, real z)
{
    return 0.5 * h * tanh(0.5 * z) - z * x + z * along_path(x, h, z, is_below(x, h, z) ? 1 : -1, 3);
}

// Whether x is so far below the mean that all that counts is in the exponent
__device__ int far_below(real x, real h, real z) { return 8 * x < h * EPSILON * h && (400 + 200 * fabs(z)) * x < h; }

__device__ real polya_gamma_logcdf(real x, real h, real z)
{
    if (x == 0 || isinf(x)) return x == 0 ? -INFINITY : 0;
    if (far_below(x, h, z)) return polya_gamma_logpdf(x, h, z);
    return is_below(x, h, z) ? log_tail(x, h, z) : log1mexp(log_tail(x, h, z));
}

__device__ real polya_gamma_logsf(real x, real h, real z)
{
    if (x == 0 || far_below(x, h, z)) return 0;
    return is_below(x, h, z) ? log1mexp(log_tail(x, h, z)) : log_tail(x, h, z);
}

// A variable of h = 1, times 4, by Devroye's method for alternating series, in the form of Polson, Scott & Windle (2013).
// Below `cut` it is proposed from an inverse Gaussian distribution, above from an exponential one.
__device__ real devroye(rng_t *rng, real c)
{
    real cut = 0.64, rate = 0.125 * PI * PI + 0.5 * c * c, root = sqrt(cut), value = NAN;
    real a = (cut * c - 1) / root, b = (cut * c + 1) / root;
    real right = PI / (2 * rate) * exp(c - rate * cut);
    real left = erfc(-a / SQRT_2) + scaled_erfc(b / SQRT_2) * exp(-0.5 * a * a);
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real x = NAN, u = uniform(rng);
        if (u * (left + right) < right) {
            real e = exponential(rng);
            x = cut + e / rate;
        } else if (c * cut < 1) {
            for (int j = 0; j < 1000 && isnan(x); j++) {
                real e = exponential(rng), f = exponential(rng), v = uniform(rng);
                real y = cut / ((1 + cut * e) * (1 + cut * e));
                if (e * e * cut <= 2 * f && v <= exp(-0.5 * c * c * y)) x = y;
            }
        } else {
            for (int j = 0; j < 1000 && isnan(x); j++) {
                real y = wald_sample(rng, 1 / c, 1);
                if (y < cut) x = y;
            }
        }
        real v = uniform(rng), sum = 1;
        int known = 0;
        for (int n = 1; n < 100 && !known; n++) {
            real m = n + 0.5, exponent = x > cut ? 0.5 * n * (n + 1) * PI * PI * x : 2 * n * (n + 1) / x;
            sum += (n % 2 == 0 ? 1 : -1) * (2 * m) * exp(-exponent);
            known = n % 2 == 1 ? v < sum : v > sum;
            if (known && n % 2 == 1) value = x;
        }
    }
    return value;
}

// The sum of the definition: 40 of its gamma variables, and one with the mean and the variance of all others, which are sums of
// f(k + 0.5) and its square, f(t) = 1 / (2 (pi^2 t^2 + c^2)): by the midpoint rule with its first correction, f'(40) / 24, they
// are right within 1e-10 h, and the third cumulant within 1e-12 h. Of few whole numbers h, as many variables of h = 1 are exact.
__device__ real polya_gamma_sample(rng_t *rng, real h, real z)
{
    real c = 0.5 * fabs(z), sum = 0;
    if (h == floor(h) && h <= 20) {
        for (int i = 0; i < (int)h; i++) {
            real one = devroye(rng, c);
            sum += 0.25 * one;
        }
        return sum;
    }
    int terms = 40;
    for (int k = 0; k < terms; k++) {
        real share = 1 / (2 * PI * PI * (k + 0.5) * (k + 0.5) + 2 * c * c), g = gamma_sample(rng, h, 1);
        sum += share * g;
    }
    real edge = PI * terms, u = c / edge, square = u * u, f = 0.5 / (edge * edge * (1 + square));
    real first = u > 0 ? atan(u) / u : 1, series = 2.0 / 3 + square * (-4.0 / 5 + square * (6.0 / 7 - 8.0 / 9 * square));
    real ratio = square < 0.01 ? series / first : (1 - 1 / (first * (1 + square))) / square, term = PI * edge * f;
    real kept = 1 - term * term / (3 * first), mean = kept * first / (2 * PI * edge);
    real scale = (ratio / (4 * edge * edge) - 2 * term * term * f / (3 * first)) / kept;
    if (!(scale > 0)) return h * mean;  // z is so large that its square overflows, and that nothing varies
    real rest = gamma_sample(rng, h * (mean / scale), 1);
    return sum + scale * rest;
}

__device__ real polya_gamma_mean(real h, real z)
{
    real c = 0.5 * fabs(z);
    return c < 1e-4 ? h * (0.25 - c * c / 12) : h * (tanh(c) / (4 * c));
}

__device__ real polya_gamma_var(real h, real z) { return h * curvature(0.25 * (z * z + PI * PI)); }
