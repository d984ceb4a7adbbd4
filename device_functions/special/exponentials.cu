// Logarithms and exponentials

// log(1 - exp(x)), x <= 0. Error 1. Source: Mächler (2012), Accurately computing log(1 - exp(-|a|)).
// derivative: (x < -50 ? -exp(x) : -1 / expm1(-x)) * dx
// reference: log1mexp(x) = log(-expm1(x)), x in (-5, -0.05)
__device__ real log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

// log(1 + e), 0 <= e <= 1, by log(1 + e) = 2 atanh(s), s = e / (2 + e) <= 1/3. Error 2.
// derivative: quotient(1, 1 + e) * de
// reference: log1p_unit(e) = log1p(e), e in (0.05, 0.95)
__device__ real log1p_unit(real e)
{
    real s = quotient(e, 2 + e), z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (
                  0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (
                  0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

// log(1 + exp(x)), the softplus function, any x. Error 2.
// derivative: x == -INFINITY ? 0 : expit(x) * dx
// reference: log1pexp(x) = log1p(exp(x)), x in (-5, 5.5)
__device__ real log1pexp(real x)
{
    return fmax(x, (real)0) + log1p_unit(exp(-fabs(x)));
}

// log(2 cosh(x)), any x. Error 1.
// derivative: log_2cosh_slope(x) * dx
// reference: log_2cosh(x) = log(2 * cosh(x)), x in (-4, 4.5)
__device__ real log_2cosh(real x)
{
    return fabs(x) + log1p_unit(exp(-2 * fabs(x)));
}

// Its derivative tanh(x), with the same exponential. Error 20.
// derivative: 4 * expit(2 * x) * expit(-2 * x) * dx
// reference: log_2cosh_slope(x) = tanh(x), x in (-4, 4.5)
__device__ real log_2cosh_slope(real x)
{
    real e = exp(-2 * fabs(x)), s = x * x;
    real series = 1 - s * (0.3333333333333333 - s * (0.13333333333333333 - s * 0.05396825396825397));
    return fabs(x) < 0.03 ? x * series : copysign(quotient(1 - e, 1 + e), x);
}

// log(exp(a) + exp(b)), any a and b, -INFINITY included. Scaled error 1.
// derivative: (a == -INFINITY ? 0 : expit(a - b) * da) + (b == -INFINITY ? 0 : expit(b - a) * db)
// reference: logaddexp(a, b) = log(exp(a) + exp(b)), a in (-5, 5.5), b in (-5, 5.5)
__device__ real logaddexp(real a, real b)
{
    return a == b ? a + LOG_2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

// log(exp(a) - exp(b)), a >= b. Scaled error 2.
// derivative: b == -INFINITY ? da : da - 1 / expm1(a - b) * (db - da)
// reference: logsubexp(a, b) = log(exp(a) - exp(b)), a in (1, 4), b in (-2, 0.8)
__device__ real logsubexp(real a, real b)
{
    return b == -INFINITY ? a : a + log1mexp(b - a);
}

// log P(a < X <= b), a <= b, from the logarithms of P(X <= a), P(X > a), P(X <= b) and P(X > b): as a difference in that
// tail in which less cancels. Scaled error 3.
// reference: log_cdf_difference(log_ndtr(a), log_ndtr(-a), log_ndtr(b), log_ndtr(-b)) = log(normal_mass(a, b)), a in (-4, 1), b
//     in (1.1, 4)
__device__ real log_cdf_difference(real cdf_a, real sf_a, real cdf_b, real sf_b)
{
    return cdf_b < sf_a ? logsubexp(cdf_b, cdf_a) : logsubexp(sf_a, sf_b);
}

// weight log_density, and 0 where the weight is 0, also where the density is 0 or infinite. Error 1.
// derivative: weight == 0 && isinf(log_density) ? 0 : weight * dlog_density + log_density * dweight
// reference: weighted(weight, log_density) = weight * log_density, weight in (0.1, 3), log_density in (-3, 3.5)
__device__ real weighted(real weight, real log_density)
{
    return weight == 0 && isinf(log_density) ? 0 : weight * log_density;
}

// x log(y), and 0 where x = 0, whatever y is. Error 1.
// derivative: log(y) * dx + (x == 0 ? 0 : x / y * dy)
// reference: xlogy(x, y) = x * log(y), x in (-3, 3.5), y in (0.2, 6)
__device__ real xlogy(real x, real y)
{
    return x == 0 ? 0 : x * log(y);
}

// x log(1 + y), and 0 where x = 0, whatever y is. Error 1.
// derivative: log1p(y) * dx + (x == 0 ? 0 : x / (1 + y) * dy)
// reference: xlog1py(x, y) = x * log1p(y), x in (-3, 3.5), y in (-0.9, 4)
__device__ real xlog1py(real x, real y)
{
    return x == 0 ? 0 : x * log1p(y);
}

// The limit of power log(y) + value as y goes to 0: at the end of a support. It jumps where the power is 0, so that its derivative
// in the power is -INFINITY there.
// derivative: power == 0 ? dvalue - INFINITY * dpower : 0
// reference: tests/rewriting/test_derivative_rules.py
__device__ real log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

// log(1 + y^2), any y; the square may overflow. Error 1.
// derivative: (fabs(y) > 1 / EPSILON ? 2 : 2 * y) / (fabs(y) > 1 / EPSILON ? y : 1 + y * y) * dy
// reference: log1p_square(y) = log1p(y * y), y in (-3, 3.5)
__device__ real log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

// y >= 0, or the nearest number of those whose squares neither over- nor underflow, even times large ones
// derivative: y == within_range(y) ? dy : 0
// reference: within_range(y) = y, y in (0.1, 5)
__device__ real within_range(real y)
{
    real e = 1 / EPSILON, e3 = e * e * e, most = EPSILON < 1e-10 ? e3 * e3 * e3 : e3;
    return fmin(fmax(y, 1 / most), most);
}

// What x is taken times before it is divided by s, so that the quotient does not underflow: nearly always 1. x >= 0, s > 0
// reference: lift(x, s) = 1, x in (0.1, 5), s in (0.2, 4)
__device__ real lift(real x, real s)
{
    real e = 1 / EPSILON, e3 = e * e * e, e4 = e * e3, e8 = e4 * e4;
    real far = EPSILON < 1e-10 ? e8 * e8 : e4, up = EPSILON < 1e-10 ? e8 : e3;
    return x < s * (1 / far) ? up : 1;
}

// Its logarithm
// reference: log_lift(factor) = 0, factor in (1, 1)
__device__ real log_lift(real factor)
{
    return factor == 1 ? 0 : (EPSILON < 1e-10 ? 8 * 52 : 3 * 23) * LOG_2;
}

// log(x / s), x >= 0, s > 0, where the quotient may over- or underflow. Error 2.
// derivative: log_slope(x) * dx - log_slope(s) * ds
// reference: log_quotient(x, s) = log(x / s), x in (0.1, 5), s in (0.2, 4)
__device__ real log_quotient(real x, real s)
{
    real value = log(x / s);
    return fabs(value) < (EPSILON < 1e-10 ? 600 : 60) ? value : log(x) - log(s);
}

// (x / s)^power, likewise
// reference: power_of_quotient(x, s, power) = (x / s) ** power, x in (0.1, 5), s in (0.2, 4), power in (-2, 2)
__device__ real power_of_quotient(real x, real s, real power)
{
    real z = x / s;
    return z == within_range(z) || x == 0 ? pow(z, power) : exp(power * log_quotient(x, s));
}

// reference: tests/rewriting/test_derivative_rules.py
__device__ real power_of_quotient_grad_s(real x, real s, real power, real value) { return -power * (value / s); }

// scale exp(u), scale > 0, where the exponential may over- or underflow. Error 4.
// reference: scaled_exp(scale, u) = scale * exp(u), scale in (0.2, 4), u in (-5, 5)
__device__ real scaled_exp(real scale, real u)
{
    real root = exp(0.5 * u);
    return scale * root * root;
}

// scale (exp(u) - 1), likewise
// reference: scaled_expm1(scale, u) = scale * expm1(u), scale in (0.2, 4), u in (-3, 3.5)
__device__ real scaled_expm1(real scale, real u)
{
    return u > 1 ? scaled_exp(scale, u) - scale : scale * expm1(u);
}

// scale sinh(u), likewise
// reference: scaled_sinh(scale, u) = scale * sinh(u), scale in (0.2, 4), u in (-3, 3.5)
__device__ real scaled_sinh(real scale, real u)
{
    return 2 * (scale * sinh(0.5 * u)) * cosh(0.5 * u);
}

// log(atan(s / x)), x >= 0, s > 0, where the quotient may underflow. Error 3.
// reference: log_arc(x, s) = log(atan2(s, x)), x in (0.1, 5), s in (0.2, 4)
__device__ real log_arc(real x, real s)
{
    real factor = lift(s, x);
    return log(atan2(s * factor, x)) - log_lift(factor);
}

// 1 / y, y >= 0, finite but for y = 0: the derivative of a logarithm, whose factors may be 0 or as large as it. Error 1.
// reference: log_slope(y) = 1 / y, y in (0.1, 5)
__device__ real log_slope(real y)
{
    real e = EPSILON, e5 = e * e * e * e * e, e10 = e5 * e5;
    real least = EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048;  // normal number, 2^-1022 or 2^-126
    return 1 / (y > 0 && y < least ? least : y);
}

// (atanh(r) / r - 1) / s where s = r^2 <= 1/9. Error 1.
// reference: atanh_remainder(s) = (atanh(sqrt(s)) / sqrt(s) - 1) / s, s in (0.001, 0.11)
__device__ real atanh_remainder(real s)
{
    return 0.3333333333333332928 + s * (0.2000000000000729134 + s * (0.1428571428355437858 + s * (
           0.1111111135871393149 + s * (0.09090894718066429085 + s * (0.07692785032479311552 + s * (
           0.06657072104827468075 + s * (0.06000536404795356268 + s * (0.04400369243072336941 + s * (
           0.0808202280597176611)))))))));
}

// log_ratio - u where log_ratio = log(1 + u), without cancellation near 0: the core of every saddle-point formula. The
// caller passes both, so that neither has lost digits by computing it from the other.
// For log(1 + u) = 2 atanh(u / (2 + u)) see Abramowitz & Stegun (1964), 4.1.27.
// derivative: fabs(u) < 0.5 ? -u / (1 + u) * du : dlog_ratio - du
// reference: log_excess(log1p(a), a) = log1p(a) - a, a in (-0.8, 5)
__device__ real log_excess(real log_ratio, real u)
{
    real r = u / (2 + u), s = r * r;
    return s < 0.1111 ? r * (2 * s * atanh_remainder(s) - u) : fmin(log_ratio, 1 / EPSILON) - u;
}

// The same with ratio = 1 + u >= 0 itself
// derivative: fabs(u) < 0.5 ? -u / ratio * du : dratio / ratio - du
// reference: log_ratio_excess(1 + a, a) = log1p(a) - a, a in (-0.8, 5)
__device__ real log_ratio_excess(real ratio, real u)
{
    return log_excess(log(ratio), u);
}

// The same with 1 + u = x y, x > 0, y > 0, where the product may underflow because x is tiny
// derivative: fabs(u) < 0.5 ? -u / (1 + u) * du : dx / x + dy / y - du
// reference: log_product_excess(1 + a, 1, a) = log1p(a) - a, a in (-0.8, 5)
__device__ real log_product_excess(real x, real y, real u)
{
    int tiny = u < -0.9 && x < EPSILON * EPSILON;  // where log_ratio_excess does take the logarithm
    real scale = 1 / (EPSILON * EPSILON * (EPSILON * EPSILON));
    return log_ratio_excess(x * (tiny ? scale : 1) * y, u) - (tiny ? log(scale) : 0);
}

// log(1 + u) - u, u >= -1. Error 2.
// derivative: -u / (1 + u) * du
// reference: log1pmx(u) = log1p(u) - u, u in (-0.8, 5)
__device__ real log1pmx(real u)
{
    return log_ratio_excess(1 + u, u);
}

// 1 / (1 + exp(-x)), any x. Error 1.
// derivative: isinf(x) ? 0 : expit(x) * expit(-x) * dx
// reference: expit(x) = 1 / (1 + exp(-x)), x in (-5, 5.5)
__device__ real expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

// expit(a) - expit(b), any a and b, where nothing cancels. Error 4.
// derivative: expit(a) * expit(-a) * da - expit(b) * expit(-b) * db
// reference: expit_difference(a, b) = 1 / (1 + exp(-a)) - 1 / (1 + exp(-b)), a in (-5, 5.5), b in (-4, 6)
__device__ real expit_difference(real a, real b)
{
    real low = a < b ? a : b, high = a < b ? b : a;
    real size = expit(high) * expit(-low) * -expm1(low - high);
    return a == b ? 0 : a < b ? -size : size;
}

// log(expit(x)), any x. Error 2.
// derivative: x == INFINITY ? 0 : expit(-x) * dx
// reference: log_expit(x) = -log1p(exp(-x)), x in (-5, 5.5)
__device__ real log_expit(real x)
{
    return fmin(x, (real)0) - log1p_unit(exp(-fabs(x)));
}

// log(p / (1 - p)), 0 <= p <= 1. Error 2.
// derivative: 1 / (p * (1 - p)) * dp
// reference: logit(p) = log(p / (1 - p)), p in (0.05, 0.95)
__device__ real logit(real p)
{
    real odds = p / (1 - p);
    return p < 0.25 ? log(odds) : log1p((2 * p - 1) / (1 - p));
}
