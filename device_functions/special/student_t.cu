// Student's t distribution function

//
// T / sqrt(2 a) = +-sqrt(y / x) where T has 2 a degrees of freedom, x is a beta variable of shapes a and 1/2, and y = 1 - x.

// log(density of |T| / sqrt(2 a) at t)
// reference: tests/language/test_incomplete_functions.py
__device__ real log_student_density(real a, real t)
{
    return LOG_2 - lbeta(a, (real)0.5) - (a + 0.5) * log1p_square(t);
}

// log P(|T| > t sqrt(2 a)), a >= 0, t >= 0
// reference: log_student_q(a, t) = log_student(a, t, False), a in (0.3, 20), t in (0.1, 3)
__device__ real log_student_q(real a, real t)
{
    int far = t * EPSILON > 1;  // t^2 may overflow
    real s = far ? 1 : t * t, value = log_beta_p(a, (real)0.5, 1 / (1 + s), s / (1 + s));
    real tail = unlikely(far) ? -2 * a * log(t) - log_beta_scale(a, (real)0.5) : value;
    return a == 0 ? 0 : tail;
}

// P(|T| > t sqrt(2 a))
// reference: student_q(a, t) = exp(log_student(a, t, False)), a in (0.3, 20), t in (0.1, 3)
__device__ real student_q(real a, real t)
{
    int far = t * EPSILON > 1;
    real s = far ? 1 : t * t, value = beta_p(a, (real)0.5, 1 / (1 + s), s / (1 + s));
    real tail = unlikely(far) ? exp(-2 * a * log(t) - log_beta_scale(a, (real)0.5)) : value;
    return a == 0 ? 1 : tail;
}

// reference: tests/language/test_incomplete_functions.py
__device__ real student_q_grad_t(real a, real t, real value)
{
    return -exp(log_student_density(a, t));
}

// By the density, which is finite at 0, where the derivative in x is not
// reference: tests/language/test_incomplete_functions.py
__device__ real log_student_q_grad_t(real a, real t, real value)
{
    return -exp(log_student_density(a, t) - value);
}

// log P(T > t sqrt(2 a)), a >= 0, any t
// reference: log_student_above(a, t) = log_student(a, t, False) - log(2), a in (0.3, 20), t in (0.1, 3)
__device__ real log_student_above(real a, real t)
{
    real tail = log_student_q(a, fabs(t)) - LOG_2;
    return t < 0 ? log1mexp(tail) : tail;
}

// log P(|T| <= t sqrt(2 a)), a >= 0, t >= 0
// reference: log_student_p(a, t) = log_student(a, t, True), a in (0.3, 20), t in (0.1, 3)
__device__ real log_student_p(real a, real t)
{
    if (t * EPSILON > 1) return log1mexp(log_student_q(a, t));
    if (t < EPSILON) return log(t) + LOG_2 - lbeta(a, (real)0.5);  // t^2 may underflow
    real s = t * t;
    return log_beta_p((real)0.5, a, s / (1 + s), 1 / (1 + s));
}

// reference: tests/language/test_incomplete_functions.py
__device__ real log_student_p_grad_t(real a, real t, real value)
{
    return exp(log_student_density(a, t) - value);
}

// Where student_quantile starts, t^2, a >= 0.75: off by less than 0.06 t^2, from a = 1.3 on by less than 0.0001 t^2. Source: Hill (1970), Algorithm 396: Student's
// t-quantiles.
// reference: tests/language/test_incomplete_functions.py
__device__ real student_quantile_start(real a, real q)
{
    real n = 2 * a, m = n - 0.5, r = 1 / m, b = 48 * m * m, v = 0.020833333333333333 * r * r;  // v = 1 / b
    real c = ((20700 * r * v - 98) * r - 16) * r + 96.36;
    real d = ((94.5 / (b + c) - 3) * v + 1) * sqrt(0.5 * PI * r) * n, y = exp(log(d * q) / a);
    if (y <= 0.05 + r)
        return ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (3 * (n + 2))) + 0.5 / (n + 4)) * y - 1) * ((n + 1) / (n + 2)) + 1 / y;
    real z = ndtri(0.5 * q), s = z * z, more = n < 5 ? 0.3 * (n - 4.5) * (z + 0.6) : 0;
    real below = (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b + (c + more);
    real g = (((((0.4 * s + 6.3) * s + 36) * s + 94.5) / below - s - 3) * v + 1) * z;
    return expm1(r * g * g);
}

// student_quantile as the logit of the beta variable, without derivatives: see beta_quantile_search
// derivative: 0
// reference: tests/language/test_incomplete_functions.py
__device__ real student_quantile_search(real a, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p);
    real logit = unlikely(a < 0.75) ? beta_quantile_start(a, (real)0.5, q, p) : -log(student_quantile_start(a, q));
    logit = beta_quantile_step(a, (real)0.5, log_q, log_p, logit);
    return likely(a >= 1.3) ? logit : beta_quantile_steps(a, (real)0.5, log_q, log_p, logit, a < 0.4 ? 7 : 1);
}

// scale t, t >= 0 being where P(|T| > t sqrt(2 a)) = q = 1 - p
// reference: tests/language/test_incomplete_functions.py
__device__ real student_quantile(real a, real p, real q, real scale)
{
    real logit = student_quantile_search(a, p, q);
    real value = logit + only_derivative(beta_quantile_step(a, (real)0.5, log_probability(q, p), log_probability(p, q), logit));
    return !(a > 0 && p >= 0 && q >= 0) ? NAN : q == 0 ? INFINITY : p == 0 ? 0 : scaled_exp(scale, -0.5 * value);
}
