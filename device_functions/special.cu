// Special functions that device functions may call, all accurate in float32 as in float64.
//
// "Error n": the largest error that tests/language/test_special.py has found, on a CPU, in either type, is n EPSILON, relative
// to the value, or to max(1, |value|) where it says "scaled". Polynomials whose source is not named interpolate the
// function in Chebyshev points; their own error is below 2e-16.


// ---- logarithms and exponentials ------------------------------------------------------------------------------------

// log(1 - exp(x)), x <= 0. Error 1. Source: Mächler (2012), Accurately computing log(1 - exp(-|a|)).
__device__ real log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

// log(1 + e), 0 <= e <= 1, by log(1 + e) = 2 atanh(s), s = e / (2 + e) <= 1/3. Error 2.
__device__ real log1p_unit(real e)
{
    real s = quotient(e, 2 + e), z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (
                  0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (
                  0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

// log(1 + exp(x)), the softplus function, any x. Error 2.
__device__ real log1pexp(real x)
{
    return fmax(x, (real)0) + log1p_unit(exp(-fabs(x)));
}

// log(2 cosh(x)), any x. Error 1.
__device__ real log_2cosh(real x)
{
    return fabs(x) + log1p_unit(exp(-2 * fabs(x)));
}

// Its derivative tanh(x), with the same exponential. Error 20.
__device__ real log_2cosh_slope(real x)
{
    real e = exp(-2 * fabs(x)), s = x * x;
    real series = 1 - s * (0.3333333333333333 - s * (0.13333333333333333 - s * 0.05396825396825397));
    return fabs(x) < 0.03 ? x * series : copysign(quotient(1 - e, 1 + e), x);
}

// log(exp(a) + exp(b)), any a and b, -INFINITY included. Scaled error 1.
__device__ real logaddexp(real a, real b)
{
    return a == b ? a + LOG_2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

// log(exp(a) - exp(b)), a >= b. Scaled error 2.
__device__ real logsubexp(real a, real b)
{
    return b == -INFINITY ? a : a + log1mexp(b - a);
}

// log P(a < X <= b), a <= b, from the logarithms of P(X <= a), P(X > a), P(X <= b) and P(X > b): as a difference in that
// tail in which less cancels. Scaled error 3.
__device__ real log_cdf_difference(real cdf_a, real sf_a, real cdf_b, real sf_b)
{
    return cdf_b < sf_a ? logsubexp(cdf_b, cdf_a) : logsubexp(sf_a, sf_b);
}

// weight log_density, and 0 where the weight is 0, also where the density is 0 or infinite. Error 1.
__device__ real weighted(real weight, real log_density)
{
    return weight == 0 && isinf(log_density) ? 0 : weight * log_density;
}

// x log(y), and 0 where x = 0, whatever y is. Error 1.
__device__ real xlogy(real x, real y)
{
    return x == 0 ? 0 : x * log(y);
}

// x log(1 + y), and 0 where x = 0, whatever y is. Error 1.
__device__ real xlog1py(real x, real y)
{
    return x == 0 ? 0 : x * log1p(y);
}

// The limit of power log(y) + value as y goes to 0: at the end of a support. It jumps where the power is 0, so that its derivative
// in the power is -INFINITY there.
__device__ real log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

// log(1 + y^2), any y; the square may overflow. Error 1.
__device__ real log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

// y >= 0, or the nearest number of those whose squares neither over- nor underflow, even times large ones
__device__ real within_range(real y)
{
    real e = 1 / EPSILON, e3 = e * e * e, most = EPSILON < 1e-10 ? e3 * e3 * e3 : e3;
    return fmin(fmax(y, 1 / most), most);
}

// What x is taken times before it is divided by s, so that the quotient does not underflow: nearly always 1. x >= 0, s > 0
__device__ real lift(real x, real s)
{
    real e = 1 / EPSILON, e3 = e * e * e, e4 = e * e3, e8 = e4 * e4;
    real far = EPSILON < 1e-10 ? e8 * e8 : e4, up = EPSILON < 1e-10 ? e8 : e3;
    return x < s * (1 / far) ? up : 1;
}

// Its logarithm
__device__ real log_lift(real factor)
{
    return factor == 1 ? 0 : (EPSILON < 1e-10 ? 8 * 52 : 3 * 23) * LOG_2;
}

// log(x / s), x >= 0, s > 0, where the quotient may over- or underflow. Error 2.
__device__ real log_quotient(real x, real s)
{
    real value = log(x / s);
    return fabs(value) < (EPSILON < 1e-10 ? 600 : 60) ? value : log(x) - log(s);
}

// (x / s)^power, likewise
__device__ real power_of_quotient(real x, real s, real power)
{
    real z = x / s;
    return z == within_range(z) || x == 0 ? pow(z, power) : exp(power * log_quotient(x, s));
}

__device__ real power_of_quotient_grad_s(real x, real s, real power, real value) { return -power * (value / s); }

// scale exp(u), scale > 0, where the exponential may over- or underflow. Error 4.
__device__ real scaled_exp(real scale, real u)
{
    real root = exp(0.5 * u);
    return scale * root * root;
}

// scale (exp(u) - 1), likewise
__device__ real scaled_expm1(real scale, real u)
{
    return u > 1 ? scaled_exp(scale, u) - scale : scale * expm1(u);
}

// scale sinh(u), likewise
__device__ real scaled_sinh(real scale, real u)
{
    return 2 * (scale * sinh(0.5 * u)) * cosh(0.5 * u);
}

// log(atan(s / x)), x >= 0, s > 0, where the quotient may underflow. Error 3.
__device__ real log_arc(real x, real s)
{
    real factor = lift(s, x);
    return log(atan2(s * factor, x)) - log_lift(factor);
}

// 1 / y, y >= 0, finite but for y = 0: the derivative of a logarithm, whose factors may be 0 or as large as it. Error 1.
__device__ real log_slope(real y)
{
    real e = EPSILON, e5 = e * e * e * e * e, e10 = e5 * e5;
    real least = EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048;  // normal number, 2^-1022 or 2^-126
    return y > 0 && y < least ? 1 / least : 1 / y;
}

// (atanh(r) / r - 1) / s where s = r^2 <= 1/9. Error 1.
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
__device__ real log_excess(real log_ratio, real u)
{
    real r = u / (2 + u), s = r * r;
    return s < 0.1111 ? r * (2 * s * atanh_remainder(s) - u) : fmin(log_ratio, 1 / EPSILON) - u;
}

// The same with ratio = 1 + u >= 0 itself
__device__ real log_ratio_excess(real ratio, real u)
{
    return log_excess(log(ratio), u);
}

// The same with 1 + u = x y, x > 0, y > 0, where the product may underflow because x is tiny
__device__ real log_product_excess(real x, real y, real u)
{
    int tiny = u < -0.9 && x < EPSILON * EPSILON;  // where log_ratio_excess does take the logarithm
    real scale = 1 / (EPSILON * EPSILON * (EPSILON * EPSILON));
    return log_ratio_excess(x * (tiny ? scale : 1) * y, u) - (tiny ? log(scale) : 0);
}

// log(1 + u) - u, u >= -1. Error 2.
__device__ real log1pmx(real u)
{
    return log_ratio_excess(1 + u, u);
}

// 1 / (1 + exp(-x)), any x. Error 1.
__device__ real expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

// expit(a) - expit(b), any a and b, where nothing cancels. Error 4.
__device__ real expit_difference(real a, real b)
{
    real low = a < b ? a : b, high = a < b ? b : a;
    real size = expit(high) * expit(-low) * -expm1(low - high);
    return a == b ? 0 : a < b ? -size : size;
}

// log(expit(x)), any x. Error 2.
__device__ real log_expit(real x)
{
    return fmin(x, (real)0) - log1p_unit(exp(-fabs(x)));
}

// log(p / (1 - p)), 0 <= p <= 1. Error 2.
__device__ real logit(real p)
{
    real odds = p / (1 - p);
    return p < 0.25 ? log(odds) : log1p((2 * p - 1) / (1 - p));
}


// ---- the gamma function and its kin ---------------------------------------------------------------------------------

// log Gamma(2 + z), |z| <= 1
__device__ real log_gamma_near_two(real z)
{
    real numerator = 0.4227843350984671393 + z * (0.7446983132107947606 + z * (0.5193055283793975869 + z * (
                     0.1815238264834719641 + z * (0.0330824603310423564 + z * (0.002935427941079408713 + z * (
                     9.982884455195008484e-5 + z * (3.896344535820739269e-7 + z * (
                     -2.74724591681427145e-9))))))));
    real denominator = 1.0 + z * (1.998691873690975826 + z * (1.624572734572609033 + z * (
                       0.6882797416261857106 + z * (0.1616150908767978973 + z * (0.02056718584681987448 + z * (
                       0.001269421114541973567 + z * (2.769495701127702445e-5)))))));
    return z * (z + 1) * (numerator / denominator);
}

// The remainder of Stirling's formula, x >= 3; see stirling_error.
__device__ real stirling_series(real x)
{
    real v = 1 / x, s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (
                -0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (
                -0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (
                0.04649879924372260093 + s * (-0.06067253307630472635))))))))));
}

// log Gamma(x), x >= 0, accurate near its zeros 1 and 2 as well: OpenCL promises nothing of its lgamma. Error 3.
__device__ real log_gamma(real x)
{
    real log_x = log(x);
    if (x < 3) return log_gamma_near_two(x < 1.5 ? x - 1 : x - 2) - (x < 1.5 ? log_x : 0);
    return (x - 0.5) * (log_x - 1) + ((HALF_LOG_2PI - 0.5) + stirling_series(x));
}

// log Gamma(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2), x >= 0: the error of Stirling's formula. Scaled error 3.
// Source: Loader (2000), Fast and accurate computation of binomial probabilities.
__device__ real stirling_error(real x)
{
    if (x >= 3) return stirling_series(x);
    real shift = x < 1.5 ? 1 : 0;
    return log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

// x log(x / m) + m - x, the deviance of a Poisson count x with mean m, x >= 0, m > 0, without cancellation near x = m.
// Error 3. Source: Loader (2000).
__device__ real bd0(real x, real m)
{
    return x == 0 ? m : -x * log_ratio_excess(m / x, (m - x) / x);
}

// Whether log Gamma(shape) is so large that subtracting it would cost digits, so that a saddle-point formula, slower
// than the textbook's, is worth its price.
__device__ int large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

// log B(a, b), the beta function, a >= 0, b >= 0, not both 0. From Stirling's formula with its remainder, as in
// DiDonato & Morris (1992), Algorithm 708. Scaled error 3.
__device__ real lbeta(real a, real b)
{
    real p = fmin(a, b), q = fmax(a, b);
    return (stirling_error(p) + (stirling_error(q) - stirling_error(p + q)) + HALF_LOG_2PI - 0.5 * log(q))
         - (p - 0.5) * log1p(q / p) - q * log1p(p / q);
}

// The derivative of stirling_series, x >= 3. Error 2.
__device__ real stirling_series_derivative(real x)
{
    real v = 1 / x, s = v * v;
    return -s * (0.08333333333333287574 + s * (-0.008333333332332800767 + s * (0.003968253600942064197 + s * (
                 -0.004166613154056894626 + s * (0.007571670662698111168 + s * (-0.02090499271669974631 + s * (
                 0.07768996902561712723 + s * (-0.3252522243739799449 + s * (1.221386329628660646 + s * (
                 -3.22008126684131239 + s * (4.154095689406029601)))))))))));
}

// The derivative of log Gamma(x), x > 0. Scaled error 3. Recurrence: Abramowitz & Stegun (1964), 6.3.6.
__device__ real digamma(real x)
{
    real y = x < 3 ? x + 3 : x, sum = x < 3 ? (2 + x * (6 + 3 * x)) / (x * (1 + x) * (2 + x)) : 0;
    return log(y) - (0.5 / y + sum) + stirling_series_derivative(y);
}

// The second derivative of log Gamma(x), x > 0. Error 3. Recurrence: Abramowitz & Stegun (1964), 6.4.6.
__device__ real trigamma(real x)
{
    real y = x < 3 ? x + 3 : x, v = 1 / y, s = v * v;
    real r = 1 / (x * (1 + x) * (2 + x)), p = (1 + x) * (2 + x) * r, q = x * (2 + x) * r, t = x * (1 + x) * r;
    return (x < 3 ? p * p + q * q + t * t : 0) + v * (1 + 0.5 * v
         + s * (0.1666666666666652747 + s * (-0.03333333332971114831 + s * (0.02380952222484256939 + s * (
              -0.0333330571350264598 + s * (0.07573217651759593543 + s * (-0.2516954519098532171 + s * (
              1.114307552804741357 + s * (-5.731076524516213901 + s * (28.51955071846083844 + s * (
              -113.8134442916632983 + s * (299.6406313334971875 + s * (-374.8953647533587819)))))))))))));
}

// The derivative of stirling_error, x > 0: digamma(x) - log(x) + 1 / (2 x).
__device__ real stirling_error_derivative(real x)
{
    return x < 3 ? digamma(x) - log(x) + 0.5 / x : stirling_series_derivative(x);
}

// log(x) - digamma(x), x > 0, without cancellation where x is large.
__device__ real log_minus_digamma(real x)
{
    return 0.5 / x - stirling_error_derivative(x);
}

// The derivative of lbeta in a, digamma(a) - digamma(a + b), a > 0, b > 0, without cancellation where a is large.
__device__ real lbeta_derivative(real a, real b)
{
    real sum = a + b;
    return (stirling_error_derivative(a) - stirling_error_derivative(sum)) - 0.5 * b / (a * sum) - log1p(b / a);
}


// ---- the normal distribution function -------------------------------------------------------------------------------

// exp(x^2) erfc(x), x >= 0; elsewhere called erfcx, a name that CUDA has taken. Error 3. The variable t is that of
// Shepherd & Laframboise (1981), Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < infinity.
__device__ real scaled_erfc(real x)
{
    real t = 1 - 7.5 / (x + 3.75);
    real series = 1.237512630837827582 + t * (-0.1402405985855452088 + t * (0.003585415485466306909 + t * (
                  0.08227673848999158997 + t * (-0.108803930141939147 + t * (0.09230432116435615983 + t * (
                  -0.05869339858449184774 + t * (0.02836227737137004573 + t * (-0.009746579620815090139 + t * (
                  0.001755626169227672094 + t * (0.0002937140877722768239 + t * (
                  -0.0002901553656394712841 + t * (5.164737123871837686e-5 + t * (
                  2.238759272534768919e-5 + t * (-1.143961526007594973e-5 + t * (
                  -9.792975290998229177e-7 + t * (1.743857741135918114e-6 + t * (
                  -5.081691181169818825e-8 + t * (-2.499653803740524239e-7 + t * (1.87785011564687965e-8 + t * (
                  3.256499083798512925e-8 + t * (-1.952790162974836892e-9 + t * (
                  -2.729394133253385506e-9))))))))))))))))))))));
    return series / (1 + 2 * x);
}

// Node k = 0, …, 7 of Gauss-Legendre quadrature in 8 points on [-1, 1], and its weight.
// Source: Abramowitz & Stegun (1964), 25.4.30.
__device__ real legendre_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.18343464249564980494 : i == 1 ? 0.52553240991632898582
              : i == 2 ? 0.79666647741362673959 : 0.96028985649753623168;
    return k == 2 * i ? node : -node;
}

__device__ real legendre_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.36268378337836198297 : i == 1 ? 0.31370664587788728734
         : i == 2 ? 0.22238103445337447054 : 0.10122853629037625915;
}

// Node k = 0, …, 7 of Gauss-Lobatto quadrature in 8 points on [-1, 1], of which the last two are its ends, beside which a kink or
// a jump is seen; and its weight. Source: Abramowitz & Stegun (1964), 25.4.32.
__device__ real lobatto_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.20929921790247886877 : i == 1 ? 0.59170018143314230214 : i == 2 ? 0.87174014850960661534 : 1;
    return k == 2 * i ? node : -node;
}

__device__ real lobatto_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.41245879465870388157 : i == 1 ? 0.34112269248350436476
         : i == 2 ? 0.21070422714350603938 : 0.035714285714285714286;
}

// What tells how smooth a function is: the weight of node k in a sum that is 0 for polynomials of degree 5 at most, and 0 for no
// function with a jump between two nodes. Of even functions it is a divided difference of order 6, of odd ones one of order 7.
__device__ real lobatto_roughness(int k)
{
    int i = k / 2;
    real even = i == 0 ? -0.10077561843054427 : i == 1 ? 0.25909235006173348 : i == 2 ? -0.3 : 0.14168326836881079;
    real odd = i == 0 ? -0.99 : i == 1 ? 0.90032687865712578 : i == 2 ? -0.70758975247880567 : 0.2913170441826479;
    return k == 2 * i ? even + odd : even - odd;
}

// By how much the next panel is longer that those 8 points integrate to all digits, after one whose roughness is 1 / `spare` of what
// may be: roughness grows like the power 7 of the length.
__device__ real panel_growth(real spare)
{
    return fmin(fmax(0.9 * pow(spare, (real)1 / 7), (real)0.1), (real)4);
}

// log(Gamma(x + 2 h) Gamma(x) / Gamma(x + h)^2), x > 0, x + 2 h > 0: log E Y^2 / (E Y)^2 of the power h of a gamma variable. Where
// h is small, the integral of trigamma under a triangle from x to x + 2 h. Error 200.
__device__ real log_gamma_bend(real x, real h)
{
    if (fabs(h) > 0.25 * x) return log_gamma(x + 2 * h) - 2 * log_gamma(x + h) + log_gamma(x);
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real u = 0.5 * (1 + legendre_node(k));
        sum += legendre_weight(k) * (1 - u) * (trigamma(x + h * (1 + u)) + trigamma(x + h * (1 - u)));
    }
    return 0.5 * h * h * sum;
}

// The width of panels that the 8 points integrate to all digits, of a density whose logarithm falls at the rate `slope`
// where they begin, and like that of a normal variable of standard deviation `spread` further on.
__device__ real panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);  // 3 / -0 is negative
}

// scaled_erfc for any x. Error 3.
__device__ real scaled_erfc_any(real x)
{
    return x < 0 ? 2 * exp(x * x) - scaled_erfc(-x) : scaled_erfc(x);
}

// -d/dx of scaled_erfc_any(x), x >= -1: 2 / sqrt(pi) - 2 x exp(x^2) erfc(x). Error 100, where x is near 10.
// Asymptotic series: Abramowitz & Stegun (1964), 7.1.23.
__device__ real scaled_erfc_slope(real x)
{
    real s = 0.5 / (x * x), series = 1;
    for (int k = 12; k > 0; k--)
        series = 1 - (2 * k + 1) * s * series;
    return 2 / SQRT_PI * (x > (EPSILON < 1e-10 ? 10 : 6) ? s * series : 1 - SQRT_PI * x * scaled_erfc_any(x));
}

// (scaled_erfc_any(a) - scaled_erfc_any(b)) / width where b = a + width, a >= -1, width > 0. By quadrature of the slope
// where the two are close. Error 100.
__device__ real scaled_erfc_mean_slope(real a, real width)
{
    if (width > 0.4 * (1 + fabs(a))) return (scaled_erfc_any(a) - scaled_erfc_any(a + width)) / width;
    real sum = 0;
    for (int k = 0; k < 8; k++)
        sum += legendre_weight(k) * scaled_erfc_slope(a + 0.5 * width * (1 + legendre_node(k)));
    return 0.5 * sum;
}

// log Phi(x), any x. Scaled error 3.
__device__ real log_ndtr(real x)
{
    real tail = 0.5 * scaled_erfc(fabs(x) / SQRT_2), square = 0.5 * x * x;
    return x < 0 ? log(tail) - square : log1p(-tail * exp(-square));
}

// The integral of exp((m^2 - t^2) / 2) for t from a to b, a < b, either possibly infinite, where m is the point of
// [a, b] that is nearest to 0. So it neither underflows nor cancels. `width` is b - a, which the caller may know better
// than by subtraction. Where the integrand varies little, by quadrature. Error 2.
__device__ real normal_integral(real a, real b, real width)
{
    // Infinite bounds stand apart, because a derivative would meet 0 times infinity there.
    if (a <= 0 && b >= 0)
        return SQRT_PI / SQRT_2 * ((b < INFINITY ? erf(b / SQRT_2) : 1) - (a > -INFINITY ? erf(a / SQRT_2) : -1));
    real near = a > 0 ? a : -b, far = a > 0 ? b : -a;
    if (width * (1 + far) > 2)
        return SQRT_PI / SQRT_2
             * (scaled_erfc(near / SQRT_2)
                - (far < INFINITY ? exp(-0.5 * width * (near + far)) * scaled_erfc(far / SQRT_2) : 0));
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real step = 0.5 * width * (1 + legendre_node(k));
        sum += legendre_weight(k) * exp(-step * (near + 0.5 * step));
    }
    return 0.5 * width * sum;
}

// phi(x) / Phi(x), the derivative of log_ndtr, any x: the inverse Mills ratio of -x.
__device__ real inverse_mills(real x)
{
    real tail = scaled_erfc(fabs(x) / SQRT_2);
    return SQRT_2_OVER_PI * (x < 0 ? 1 / tail : 1 / (2 * exp(0.5 * x * x) - tail));
}

// log(Phi(b) - Phi(a)), a < b. Scaled error 2.
__device__ real log_ndtr_difference(real a, real b)
{
    real mode = fmin(fmax(a, (real)0), b);
    return log(normal_integral(a, b, b - a)) - (0.5 * mode * mode + HALF_LOG_2PI);
}

// The normal quantile function: x with Phi(x) = p. Error 3. Source: Wichura (1988), Algorithm AS 241.
__device__ real ndtri(real p)
{
    real d = p - 0.5, tail = d < 0 ? p : 1 - p, numerator, denominator;
    if (fabs(d) <= 0.425) {
        real r = 0.180625 - d * d;
        numerator = 3.3871328727963666080 + r * (133.14166789178437745 + r * (1971.5909503065514427 + r * (
                    13731.693765509461125 + r * (45921.953931549871457 + r * (67265.770927008700853 + r * (
                    33430.575583588128105 + r * 2509.0809287301226727))))));
        denominator = 1 + r * (42.313330701600911252 + r * (687.18700749205790830 + r * (
                      5394.1960214247511077 + r * (21213.794301586595867 + r * (39307.895800092710610 + r * (
                      28729.085735721942674 + r * 5226.4952788528545610))))));
        return d * (numerator / denominator);
    }
    if (!(tail > 0)) return tail == 0 ? (d < 0 ? -INFINITY : INFINITY) : NAN;
    real r = sqrt(-log(tail));
    if (r <= 5) {
        r -= 1.6;
        numerator = 1.42343711074968357734 + r * (4.63033784615654529590 + r * (5.76949722146069140550 + r * (
                    3.64784832476320460504 + r * (1.27045825245236838258 + r * (0.241780725177450611770 + r * (
                    0.0227238449892691845833 + r * 7.74545014278341407640e-4))))));
        denominator = 1 + r * (2.05319162663775882187 + r * (1.67638483018380384940 + r * (
                      0.689767334985100004550 + r * (0.148103976427480074590 + r * (0.0151986665636164571966 + r * (
                      5.47593808499534494600e-4 + r * 1.05075007164441684324e-9))))));
    } else {
        r -= 5;
        numerator = 6.65790464350110377720 + r * (5.46378491116411436990 + r * (1.78482653991729133580 + r * (
                    0.296560571828504891230 + r * (0.0265321895265761230930 + r * (0.00124266094738807843860 + r * (
                    2.71155556874348757815e-5 + r * 2.01033439929228813265e-7))))));
        denominator = 1 + r * (0.599832206555887937690 + r * (0.136929880922735805310 + r * (
                      0.0148753612908506148525 + r * (7.86869131145613259100e-4 + r * (1.84631831751005468180e-5 + r * (
                      1.42151175831644588870e-7 + r * 2.04426310338993978564e-15))))));
    }
    return (d < 0 ? -1 : 1) * (numerator / denominator);
}


// ---- Bessel functions -----------------------------------------------------------------------------------------------

// log(exp(-x) I0(x)), x >= 0, I0 being the modified Bessel function. Scaled error 2.
// Approximated in x^2 / 4 up to x = 10, and from there as exp(-x) I0(x) sqrt(x) in 1 / x.
__device__ real log_i0e(real x)
{
    real s = 0.25 * x * x, v = 1 / x;
    real small = 1 + s * (0.9999999999999999999 + s * (0.2500000000000000013 + s * (
                          0.02777777777777777219 + s * (0.001736111111111120641 + s * (
                          6.944444444443587785e-5 + s * (1.929012345683695075e-6 + s * (
                          3.936759888971503086e-8 + s * (6.151187331057918216e-10 + s * (
                          7.594058350023633202e-12 + s * (7.59405948516373036e-14 + s * (
                          6.276070591825722735e-16 + s * (4.358472637504152774e-18 + s * (
                          2.57844626834708432e-20 + s * (1.317890783571837945e-22 + s * (
                          5.77993308677819623e-25 + s * (2.439972912314401543e-27 + s * (
                          5.532599962083509477e-30 + s * (4.530538579538888947e-32))))))))))))))))));
    real large = 0.3989422804014327336 + v * (0.04986778504981878746 + v * (0.02805062947624493959 + v * (
                 0.0292192426797380241 + v * (0.04477818598600680342 + v * (0.08579281840086861734 + v * (
                 0.6510036453190089292 + v * (-25.02144341286389067 + v * (1122.979062439468337 + v * (
                 -35726.96193320773503 + v * (843568.7638892325177 + v * (-1.477550287186147686e7 + v * (
                 1.908826967787999843e8 + v * (-1.788145754096638148e9 + v * (1.176507970160360616e10 + v * (
                 -5.133554994284065768e10 + v * (1.329111122925200917e11 + v * (
                 -1.541869293960297045e11)))))))))))))))));
    return log(x < 10 ? small : large * sqrt(v)) - (x < 10 ? x : 0);
}

// log I0(x), x >= 0. Scaled error 2.
__device__ real log_i0(real x)
{
    return x + log_i0e(x);
}

// I1(x) / I0(x), x >= 0, the derivative of log_i0. Error 5. Sources: Abramowitz & Stegun (1964), 9.6.10 and 9.7.1.
__device__ real bessel_ratio(real x)
{
    real s = x < 20 ? 0.25 * x * x : 1, i0 = 1, i1 = 1, one = 1, other = 1;
    if (x < 20) {
        for (int k = 1; k < 60 && one > 0.1 * EPSILON * i0; k++) {
            one *= s / ((real)k * k);
            i0 += one;
            i1 += one / (k + 1);
        }
        return 0.5 * x * (i1 / i0);
    }
    real v = 0.125 / x;
    for (int k = 1; k < 30 && one > 0.1 * EPSILON; k++) {
        real odd = 2 * k - 1;
        one *= odd * odd * v / k;
        other *= (odd * odd - 4) * v / k;
        i0 += one;
        i1 += other;
    }
    return i1 / i0;
}


// ---- for the discrete densities -------------------------------------------------------------------------------------

// log(x!), x a whole number >= 0: Stirling's formula without the branches of log_gamma
__device__ real log_factorial(real x)
{
    if (x < 3) return x == 2 ? LOG_2 : 0;
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + stirling_series(x));
}

// log(x!) - (x log(x) - x), x a whole number >= 0
__device__ real factorial_remainder(real x)
{
    if (x < 3) return x == 2 ? 2 - LOG_2 : x;
    return 0.5 * log(x) + (HALF_LOG_2PI + stirling_series(x));
}

// The sum of f(k) for k = a, a + 1, … less the integral of f from a - 1/2 on, f being smooth, from its values at a - 3, …, a + 2: the
// formula of Euler and Maclaurin for midpoints, in central differences, Abramowitz & Stegun (1964), 23.1.30.
__device__ real midpoint_correction(real f_3, real f_2, real f_1, real f0, real f1, real f2)
{
    real first = f0 - f_1, third = (f1 - f_2) - 3 * first, fifth = (f2 - f_3) - 5 * (f1 - f_2) + 10 * first;
    return 0.041666666666666667 * first - 0.0029513888888888889 * third + 0.00037925760582010582 * fifth;
}


// ---- the incomplete gamma function ----------------------------------------------------------------------------------
//
// P(a, x) = 1 - Q(a, x) is the distribution function of a gamma variable of shape a, Q(a, x) is that of a Poisson variable of
// mean x at a - 1. Computed is the logarithm of one of the two, from which the other follows without loss of digits.

// log Gamma(1 + x), x >= 0, also relative to x where x is small. Error 4.
__device__ real log_gamma_1p(real x)
{
    return x <= 1 ? log_gamma_near_two(x) - log1p(x) : log_gamma(1 + x);
}

// log(x^a exp(-x) / Gamma(1 + a)), a > 0, x > 0
__device__ real log_gamma_power(real a, real x)
{
    if (a < 1) return a * log(x) - x - log_gamma_1p(a);  // x / a may overflow
    return a * log_ratio_excess(x / a, (x - a) / a) - (0.5 * log(a) + HALF_LOG_2PI + stirling_error(a));
}

// sqrt(2 (u - log(1 + u))) with the sign of u, |u / (2 + u)| <= 1/3
__device__ real gamma_eta(real u)
{
    real r = u / (2 + u);
    return r * sqrt(2 * (2 + u - 2 * r * atanh_remainder(r * r)));
}

// Below it P is computed, from it on Q, which is not so small there that the difference would lose digits.
__device__ real gamma_middle(real a)
{
    return a < 1 ? 1.5 : a > 20 ? a : a + sqrt(a);
}

// The logarithm of P(a, a (1 + u)) where u < 0, else of Q, where a >= 20 and |u| < 0.33 (2 + u).
// Source: Temme (1979), The asymptotic expansion of the incomplete gamma functions; with the recurrence for the coefficients of
// Gil, Segura & Temme (2012), Efficient and accurate algorithms for the computation and inversion of the incomplete gamma
// function ratios, eq. 2.21. In it, eta / (lambda - 1) is expanded in powers of eta.
__device__ real log_gamma_tail_near(real a, real u)
{
    real eta = gamma_eta(u), s = eta * eta, v = 1 / a;
    real odd = -1.392388722418162066e-13, even = 3.371763262400985379e-13;
    real sum_odd = odd, sum_even = even;
    odd = 1.100439203195613477e-13 + 21 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -5.027669280114175589e-12 + 20 * v * even;  sum_even = even + s * sum_even;
    odd = 2.436194802066741624e-11 + 19 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -5.830772132550425067e-11 + 18 * v * even;  sum_even = even + s * sum_even;
    odd = -2.551419399494624977e-11 + 17 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 9.147699582236790234e-10 + 16 * v * even;  sum_even = even + s * sum_even;
    odd = -4.382036018453353187e-9 + 15 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 1.026180978424030804e-8 + 14 * v * even;  sum_even = even + s * sum_even;
    odd = 6.70785354340149858e-9 + 13 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -1.76659527368260793e-7 + 12 * v * even;  sum_even = even + s * sum_even;
    odd = 8.296711340953086005e-7 + 11 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -0.000001854062210715159961 + 10 * v * even;  sum_even = even + s * sum_even;
    odd = -0.000002185448510679992161 + 9 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 0.00003919263178522437782 + 8 * v * even;  sum_even = even + s * sum_even;
    odd = -0.0001787551440329218107 + 7 * v * odd;  sum_odd = odd + s * sum_odd;
    even = 0.0003527336860670194004 + 6 * v * even;  sum_even = even + s * sum_even;
    odd = 0.001157407407407407407 + 5 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -0.01481481481481481481 + 4 * v * even;  sum_even = even + s * sum_even;
    odd = 0.08333333333333333333 + 3 * v * odd;  sum_odd = odd + s * sum_odd;
    even = -0.3333333333333333333 + 2 * v * even;  sum_even = even + s * sum_even;
    real series = (sum_even + eta * sum_odd) / ((1 + v * odd) * sqrt(2 * PI * a));
    real sign = u < 0 ? -1 : 1;
    return log(0.5 * scaled_erfc(sign * eta * sqrt(0.5 * a)) + sign * series) - 0.5 * a * s;
}

// The logarithm of the smaller one of P and Q where a >= 20 and x lies near a
__device__ real log_gamma_tail_uniform(real a, real x)
{
    return log_gamma_tail_near(a, (x - a) / a);
}

// log P(a, x) by the power series in -x, x < 1.5, also relative to itself where P is near 1: Abramowitz & Stegun (1964),
// 6.5.29.
__device__ real log_gamma_p_near_zero(real a, real x)
{
    real power = -x, sum = 0;
    int turns = EPSILON < 1e-10 ? 24 : 14;
    for (int k = 1; k < (turns < 24 ? turns : 24); k++) {
        sum += power / (a + k);
        power *= -x / (k + 1);
    }
    return a * log(x) - log_gamma_1p(a) + log1p(a * sum);
}

// P(a, x) / (x^a exp(-x) / Gamma(1 + a)) by the series of positive terms, x < gamma_middle(a), and x < a / 2 where a > 20:
// Abramowitz & Stegun (1964), 6.5.29. As a ratio, so that no term waits for a division; the number of terms is known from a.
__device__ real gamma_series(real a, real x)
{
    real v = 1 / (a + 1), share = x * v, power = 1, sum = 1, scale = 1;
    int turns = (int)(EPSILON < 1e-10 ? 15 + 10 * sqrt(a) : 9 + 6.6 * sqrt(a));
    for (int k = 0; k < (turns < 60 ? turns : 60); k++) {
        real growth = 1 + k * v;
        power *= share;
        sum = sum * growth + power;
        scale *= growth;
    }
    return sum / scale;
}

// Q(a, x) / (x^a exp(-x) / Gamma(1 + a)) by a continued fraction, x >= gamma_middle(a), and x > 2 a where a > 20: Abramowitz
// & Stegun (1964), 6.5.31, in its even part. It is evaluated from its beginning, by the recurrence of numerators and
// denominators, ibid. 3.10.1; how far is known from a.
__device__ real gamma_fraction(real a, real x)
{
    real v = 1 / x, b = (x - a + 1) * v, above_before = 0, above = 1, below_before = 1, below = b;
    real shape = fmin(a, (real)20), inverse = 1 / (a < 1 ? 1.5 : a + sqrt(a));
    int turns = (int)(EPSILON < 1e-10 ? 5 + 105 * inverse + 0.6 * shape : 4 + 28 * inverse + 0.4 * shape);
    for (int k = 1; k < (turns < 80 ? turns : 80); k++) {
        real weight = k * (a - k) * (v * v), factor = b + 2 * k * v;
        real next_above = factor * above + weight * above_before, next_below = factor * below + weight * below_before;
        above_before = above;
        below_before = below;
        above = next_above;
        below = next_below;
    }
    return a * v * (above / below);
}

// log P(a, x) where x < gamma_middle(a), else log Q(a, x), a > 0, x > 0
__device__ real log_gamma_tail(real a, real x)
{
    if (a < 1 || a > 20) {  // one branch on a alone
        if (a < 1 && x < 1.5) return log_gamma_p_near_zero(a, x);
        if (a > 20 && fabs(x - a) < 0.33 * (x + a)) return log_gamma_tail_uniform(a, x);
    }
    return log_gamma_power(a, x) + log(x < gamma_middle(a) ? gamma_series(a, x) : gamma_fraction(a, x));
}

__device__ real log_gamma_tail_grad_x(real a, real x, real value)
{
    // Of a constant a, Intel's compiler would take the wrong one of a and -a where neighbours in a vector need the other.
    real slope = a / x * exp(log_gamma_power(a, x) - value);
    return x < gamma_middle(a) ? slope : -slope;
}

// P(a, x), log P(a, x), Q(a, x) or log Q(a, x), which is `value` where the arguments are neither at an end nor beyond it. A
// choice at the end: behind an early return, the compilers of CPUs let each thread of a vector take its own way.
__device__ real within_gamma(real a, real x, real value, real at_zero, real at_infinity)
{
    return !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value;
}

// log P(a, x), P(a, x) being the regularised incomplete gamma function, a >= 0, x >= 0
__device__ real log_gamma_p(real a, real x)
{
    real tail = log_gamma_tail(a, x);
    return within_gamma(a, x, x < gamma_middle(a) ? tail : log1mexp(tail), -INFINITY, 0);
}

// log Q(a, x), Q(a, x) = 1 - P(a, x)
__device__ real log_gamma_q(real a, real x)
{
    real tail = log_gamma_tail(a, x);
    return within_gamma(a, x, x < gamma_middle(a) ? log1mexp(tail) : tail, 0, -INFINITY);
}

// log_gamma_tail(a, y), y > 0, log_y being log(y): y may underflow. Near 0 P(a, y) is y^a / Gamma(1 + a).
__device__ real log_gamma_tail_of_power(real a, real y, real log_y)
{
    real correction = y < EPSILON ? a * (log_y + (EPSILON < 1e-10 ? 52 : 23) * LOG_2) : 0;
    return log_gamma_tail(a, y < EPSILON ? EPSILON : y) + correction;
}

// log P(a, y), likewise, y >= 0
__device__ real log_gamma_p_of_power(real a, real y, real log_y)
{
    real tail = log_gamma_tail_of_power(a, y, log_y);
    return within_gamma(a, y < EPSILON ? EPSILON : y, y < gamma_middle(a) ? tail : log1mexp(tail), -INFINITY, 0);
}

// log Q(a, y), likewise
__device__ real log_gamma_q_of_power(real a, real y, real log_y)
{
    real tail = log_gamma_tail_of_power(a, y, log_y);
    return within_gamma(a, y < EPSILON ? EPSILON : y, y < gamma_middle(a) ? log1mexp(tail) : tail, 0, -INFINITY);
}

// P(a, x)
__device__ real gamma_p(real a, real x)
{
    real tail = exp(log_gamma_tail(a, x));
    return within_gamma(a, x, x < gamma_middle(a) ? tail : 1 - tail, 0, 1);
}

// Q(a, x)
__device__ real gamma_q(real a, real x)
{
    real tail = log_gamma_tail(a, x);
    return within_gamma(a, x, x < gamma_middle(a) ? -expm1(tail) : exp(tail), 1, 0);
}

// The y at which F(t - y) is 0, from `newton`, F / F', and from F'' / F' and its derivative, all of them at t: three terms of
// the reversed Taylor series, Abramowitz & Stegun (1964), 3.6.25, or Newton's step where that is far away.
__device__ real inversion_step(real newton, real curvature, real curvature_slope)
{
    real second = 0.5 * curvature, third = 0.16666666666666667 * (curvature * curvature + curvature_slope);
    int far = fabs(newton) * (1 + fabs(curvature)) > 0.7;
    return newton * (1 + (far ? 0 : newton * (second + newton * (2 * second * second - third))));
}

// 0, which has the derivative of x. A search for a root is not differentiated; one step from the root has the first three
// derivatives of the root itself, and nobody computes it where no derivative is wanted.
__device__ real only_derivative(real x)
{
    return 0;
}

// A step towards the quantile of a gamma variable of shape a, from the logarithms of its probabilities p and q = 1 - p. Solved
// is log P = log p or log Q = log q, whichever is computed at x, as a function of log x, in which it is concave.
__device__ real gamma_quantile_step(real a, real log_p, real log_q, real x)
{
    int below = x < gamma_middle(a);
    real tail = log_gamma_tail(a, x), sign = below ? 1 : -1, slope = sign * a * exp(log_gamma_power(a, x) - tail);
    real curvature = a - x - slope;
    real step = inversion_step((tail - (below ? log_p : log_q)) / slope, curvature, -x - slope * curvature);
    return x > 0 && x < INFINITY ? x * exp(-fmin(fmax(step, (real)-2), (real)2)) : x;
}

// log(p), where q = 1 - p is known, too, and may be the more accurate one
__device__ real log_probability(real p, real q)
{
    return p < q ? log(p) : log1p(-q);
}

// Where gamma_quantile starts. Sources: DiDonato & Morris (1986), Computation of the incomplete gamma function ratios and their
// inverse, for both tails; Wilson & Hilferty (1931), The distribution of chi-square, between them.
__device__ real gamma_quantile_start(real a, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p);
    real low = exp((log_p + log_gamma_1p(a)) / a), high = -log_q - log_gamma(a), rough = high + (a - 1) * log(high);
    real x = low * (1 + low / (a + 1) * (1 + (3 * a + 5) * low / (2 * (a + 1) * (a + 2))));
    if (a < 0.3) {
        if (low > 0.2) x = p > q && high > 2 ? rough : low;
    } else {
        real w = 1 - 1 / (9 * a) + (p < q ? 1 : -1) * ndtri(fmin(p, q)) / (3 * sqrt(a));
        if (low > 0.2 * (1 + a)) x = a * w * w * w;
    }
    return high > 6 + 2 * a && rough > 2 ? high + (a - 1) * log(rough) + log1p((a - 1) / rough) : x;
}

// gamma_quantile, without derivatives. From a = 0.3 on two steps lead to all digits; that their number does not depend on p lets
// neighbouring threads take them together.
__device__ real gamma_quantile_search(real a, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p), x = gamma_quantile_start(a, p, q);
    int turns = a < 0.3 ? 12 : 2;
    for (int k = 0; k < (turns < 12 ? turns : 12); k++)
        x = gamma_quantile_step(a, log_p, log_q, x);
    return x;
}

// The x at which P(a, x) = p and Q(a, x) = q, a > 0, p in [0, 1], q = 1 - p
__device__ real gamma_quantile(real a, real p, real q)
{
    real x = gamma_quantile_search(a, p, q);
    real value = x + only_derivative(gamma_quantile_step(a, log_probability(p, q), log_probability(q, p), x));
    return !(a > 0 && p >= 0 && q >= 0) ? NAN : p == 0 ? 0 : q == 0 ? INFINITY : value;
}

// scale x^power, x being gamma_quantile(a, p, q), also where x underflows: P(a, x) is x^a / Gamma(1 + a) near 0.
__device__ real gamma_quantile_power(real a, real p, real q, real power, real scale)
{
    real x = gamma_quantile(a, p, q);
    if (a < 1 && x < EPSILON)  // log_gamma_1p(a), spelled out: it costs less where it is computed in vain
        return scaled_exp(scale, (log_probability(p, q) + (log_gamma_near_two(a) - log1p(a))) * (power / a));
    return power == 1 ? scale * x : power == -1 ? scale / x : power == 0.5 ? scale * sqrt(x) : scaled_exp(scale, power * log(x));
}


// ---- the incomplete beta function -----------------------------------------------------------------------------------
//
// I_x(a, b) is the distribution function of a beta variable, and 1 - I_x(a, b) = I_y(b, a) where y = 1 - x: the caller passes
// both x and y, as near 0 neither is known from the other. Computed is the logarithm of one of the two.

// log(Gamma(x + n) / Gamma(x)), x > 0, n >= 0, also relative to n where n is small: as the integral of digamma.
__device__ real log_rising(real x, real n)
{
    if (n > 0.5 * (1 + x)) return log_gamma(x + n) - log_gamma(x);
    real sum = 0;
    for (int k = 0; k < 8; k++)
        sum += legendre_weight(k) * digamma(1 + x + 0.5 * n * (1 + legendre_node(k)));
    return 0.5 * n * sum - log1p(n / x);
}

// a y - b x, from the smaller one of x and y, the other being rounded to 1 - x, and without the rounding error of a + b
__device__ real beta_gap(real a, real b, real x, real y)
{
    real n = a + b, rest = fmin(a, b) - (n - fmax(a, b));
    return x < y ? fma(-x, n, a) - x * rest : fma(y, n, -b) + y * rest;
}

// log(x^a y^b / B(a, b)), y = 1 - x, from the deviances of x and y: see bd0.
__device__ real log_beta_power(real a, real b, real x, real y)
{
    real n = a + b, gap = beta_gap(a, b, x, y);
    return a * log_ratio_excess(x * (n / a), -gap / a) + b * log_ratio_excess(y * (n / b), gap / b)
         + (0.5 * (log(a) + log(b / n)) - HALF_LOG_2PI - (stirling_error(a) + (stirling_error(b) - stirling_error(n))));
}

// Whether there are x at which the continued fraction converges slowly, or gives a probability near 1.
__device__ int beta_needs_series(real a, real b)
{
    real smaller = fmin(a, b);
    return smaller < 0.5 || (smaller < 1.5 && fmax(a, b) > 5);
}

// Whether I_x(a, b), and not I_y(b, a), is what is computed: the one whose power series converges quickly, or the smaller one.
__device__ int beta_from_below(real a, real b, real x, real y)
{
    int series = beta_needs_series(a, b), below = series && x <= 0.5 && b * x < 1.5, above = series && y <= 0.5 && a * y < 1.5;
    return below || (!above && b * x <= a * y);
}

// log(a B(a, b)), to which log I_x(a, b) is a log(x) in the limit at 0; also relative to a where a is small
__device__ real log_beta_scale(real a, real b)
{
    return log_gamma_1p(a) - log_rising(b, a);
}

// I_x(a, b) / (x^a / (a B(a, b))) - 1 by the power series in x, x <= 1/2, b x < 1.5. Source: DiDonato & Morris (1992),
// Algorithm 708, eq. 7.
__device__ real beta_series(real a, real b, real x)
{
    real power = 1, sum = 0, rate = -log(x), shape = fmin(b, (real)3);
    int turns = (int)(EPSILON < 1e-10 ? 8 + 6 * shape + 40 / rate : 6 + 3 * shape + 18 / rate);
    for (int k = 1; k < (turns < 100 ? turns : 100); k++) {
        power *= (k - b) * x * ((real)1 / k);
        sum += power / (a + k);
    }
    return a * sum;
}

// I_x(a, b) / (x^a y^b / B(a, b)) by quadrature, b x <= a y, for large a and b and x within a few standard deviations of a / (a + b), where the
// continued fraction converges slowly.
__device__ real beta_integral(real a, real b, real x, real y)
{
    real slope = beta_gap(a, b, x, y) / (x * y), width = panel_width(slope, sqrt(x * y / (a + b))), sum = 0, last = 1;
    for (int panel = 0; panel < 16 && last > 0.01 * EPSILON; panel++) {
        for (int k = 0; k < 8; k++) {
            real d = width * (panel + 0.5 * (1 + legendre_node(k)));
            // log_excess needs no logarithm where its second argument is small.
            real density = exp(a * log_excess(0, -d / x) + b * log_excess(0, d / y) - slope * d) / ((x - d) * (y + d));
            sum += legendre_weight(k) * density;
            last = density * (x * y);
        }
    }
    return 0.5 * width * sum;
}

// How far beta_fraction goes in either direction, known from the shapes: by the rate at which it converges in the end, Lorentzen &
// Waadeland (1992), Continued Fractions with Applications, ch. VI, at the largest x, but large shapes keep it from that for a
// while, and where x is near 1, the smaller one leads to the end. In float32 its terms overflow after about 95 turns of large shapes.
__device__ int beta_fraction_turns(real a, real b)
{
    real smaller = fmin(a, b), x = fmax(a, b) / (a + b), root = 1 + sqrt(smaller / (a + b)), rate = 2 * log(root * root / x);
    real size = sqrt(fmin(smaller, (real)1000)), most = 10 + fmin((real)65, 90 / smaller) + (EPSILON < 1e-10 ? 3.1 : 1.8) * size;
    return (int)fmin(EPSILON < 1e-10 ? 3 + 38 / rate + 1.6 * size : 3 + 18 / rate + 1.2 * size, most);
}

// I_x(a, b) / (x^a y^b / B(a, b)) by a continued fraction, b x <= a y. Source: DiDonato & Morris (1992), eq. 9; evaluated as in
// gamma_fraction.
__device__ real beta_fraction(real a, real b, real x, real y, int turns)
{
    real gap = beta_gap(a, b, x, y), scale = 1 / (1 + gap + turns);  // so that nothing overflows
    real inverse = 1 / (a + 1), above_before = 0, above = 1, below_before = 1, below = a * (gap + 1) * inverse * scale;
    for (int k = 1; k < (turns < 180 ? turns : 180); k++) {
        real share = k * (b - k) * x * inverse, weight = (a + k - 1) * inverse * ((a + b + k - 1) * x * share) * (scale * scale);
        inverse = 1 / (a + 2 * k + 1);
        real factor = (k + share + (a + k) * (gap + 1 + k * (1 + y)) * inverse) * scale;
        real next_above = factor * above + weight * above_before, next_below = factor * below + weight * below_before;
        above_before = above;
        below_before = below;
        above = next_above;
        below = next_below;
    }
    return scale * (above / below);
}

// log I_x(a, b) where beta_from_below(a, b, x, y), else log I_y(b, a), a > 0, b > 0, 0 < x < 1
__device__ real log_beta_tail(real a, real b, real x, real y)
{
    int below = beta_from_below(a, b, x, y);
    real s = below ? a : b, t = below ? b : a, u = below ? x : y, v = below ? y : x;
    if (beta_needs_series(a, b)) {
        if (u <= 0.5 && t * u < 1.5)
            return s * log(u) - (below ? log_beta_scale(a, b) : log_beta_scale(b, a)) + log1p(beta_series(s, t, u));
    }
    int central = a > 1000 && b > 1000 && beta_gap(s, t, u, v) < 3 * sqrt(x * y * (a + b));
    return log_beta_power(a, b, x, y) + log(central ? beta_integral(s, t, u, v) : beta_fraction(s, t, u, v, beta_fraction_turns(a, b)));
}

// The derivative in x where y = 1 - x, which takes that in y with it.
__device__ real log_beta_tail_grad_x(real a, real b, real x, real y, real value)
{
    return (beta_from_below(a, b, x, y) ? 1 : -1) * exp(log_beta_power(a, b, x, y) - value) / (x * y);
}

__device__ real log_beta_tail_grad_y(real a, real b, real x, real y, real value)
{
    return 0;
}

// I_x(a, b) or its logarithm, which is `value` where the arguments are neither at an end nor beyond it: see within_gamma.
__device__ real within_beta(real a, real b, real x, real y, real value, real at_zero, real at_one)
{
    return !(a >= 0 && b >= 0 && x >= 0 && y >= 0) ? NAN
         : y == 0 || a == 0 || isinf(b) ? at_one : x == 0 || b == 0 || isinf(a) ? at_zero : value;
}

// log I_x(a, b), I_x(a, b) being the regularised incomplete beta function, a >= 0, b >= 0, x in [0, 1], y = 1 - x. The
// logarithm of 1 - I_x(a, b) is log_beta_p(b, a, y, x).
__device__ real log_beta_p(real a, real b, real x, real y)
{
    real tail = log_beta_tail(a, b, x, y);
    return within_beta(a, b, x, y, beta_from_below(a, b, x, y) ? tail : log1mexp(tail), -INFINITY, 0);
}

// I_x(a, b)
__device__ real beta_p(real a, real b, real x, real y)
{
    real tail = log_beta_tail(a, b, x, y);
    return within_beta(a, b, x, y, beta_from_below(a, b, x, y) ? exp(tail) : -expm1(tail), 0, 1);
}

// log I_x(a, b) by the logit of x, a > 0, b > 0: x or y may underflow, but I_x or I_y follows a power law there.
__device__ real log_beta_p_logit(real a, real b, real logit)
{
    if (logit < -80) return a * logit - log_beta_scale(a, b);
    if (logit > 80) return log1mexp(-b * logit - log_beta_scale(b, a));
    return log_beta_p(a, b, expit(logit), expit(-logit));
}

// A step towards the logit of the quantile of a beta variable, from the logarithms of its probabilities p and q = 1 - p. The
// logarithm of either tail is a concave function of the logit.
__device__ real beta_quantile_step(real a, real b, real log_p, real log_q, real logit)
{
    real x = expit(logit), y = expit(-logit);
    int below = beta_from_below(a, b, x, y);
    real tail = log_beta_tail(a, b, x, y);
    real slope = (below ? 1 : -1) * exp(log_beta_power(a, b, x, y) - tail), curvature = a * y - b * x - slope;
    real newton = (tail - (below ? log_p : log_q)) / slope;
    real step = inversion_step(newton, curvature, -(a + b) * (x * y) - slope * curvature);
    real edge = logit < 0 ? (log_p + log_beta_scale(a, b)) / a : -(log_q + log_beta_scale(b, a)) / b;
    int far = fabs(logit) > (EPSILON < 1e-10 ? 700 : 80);  // x or y may underflow, but follows a power law
    return far ? edge : logit - fmin(fmax(step, (real)-8), (real)8);
}

// Where beta_quantile_logit starts. Sources: the power laws at 0 and 1, to first order, where they hold; else Abramowitz & Stegun
// (1964), 26.5.22; Wise (1950), The incomplete beta function as a contour integral and a quickly converging series for its
// inverse, where one shape is much larger than the other; or where one is below 1, both power laws as if they met.
__device__ real beta_quantile_start(real a, real b, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p), n = a + b, smaller = fmin(a, b), larger = fmax(a, b);
    real low = (log_p + log_beta_scale(a, b)) / a, high = (log_q + log_beta_scale(b, a)) / b, x = exp(low), y = exp(high), logit;
    if (larger > 1 && larger > 2.5 * smaller && smaller < 1000) {
        int low_share = a < b;
        real share = gamma_quantile_start(smaller, low_share ? p : q, low_share ? q : p) / (larger + 0.5 * (smaller - 1));
        logit = (low_share ? 1 : -1) * log(expm1(share));
    } else if (smaller > 1) {
        real z = (p < q ? 1 : -1) * ndtri(fmin(p, q)), s = 1 / (2 * a - 1), t = 1 / (2 * b - 1);
        real l = (z * z - 3) / 6, h = 2 / (s + t);
        logit = log(a / b) + 2 * (z * sqrt(l + h) / h + (t - s) * (l + 0.83333333333333333 - 2 / (3 * h)));
    } else {
        real at_zero = exp(a * log(a / n)) / a, at_one = exp(b * log(b / n)) / b, sum = at_zero + at_one;
        real log_share = p * sum < at_zero ? (log(a * sum) + log_p) / a : (log(b * sum) + log_q) / b;
        logit = (p * sum < at_zero ? 1 : -1) * (log_share - log1mexp(log_share));
    }
    if (x * (fabs(b - 1) + 1) < 0.1 * (a + 1) && x < y) logit = low + x * ((b - 1) / (a + 1) + 1);
    if (y * (fabs(a - 1) + 1) < 0.1 * (b + 1) && y < x) logit = -(high + y * ((a - 1) / (b + 1) + 1));
    return logit;
}

// beta_quantile_logit, without derivatives. How many steps lead to all digits is known from the shapes: see gamma_quantile_search.
__device__ real beta_quantile_search(real a, real b, real p, real q)
{
    real log_p = log_probability(p, q), log_q = log_probability(q, p), logit = beta_quantile_start(a, b, p, q);
    int turns = fmin(a, b) < 0.4 ? 8 : 2;
    for (int k = 0; k < (turns < 8 ? turns : 8); k++)
        logit = beta_quantile_step(a, b, log_p, log_q, logit);
    return logit;
}

// The logit of the x at which I_x(a, b) = p, a > 0, b > 0, p in [0, 1], q = 1 - p: log(x / (1 - x)) keeps the digits of x
// near 0 and near 1.
__device__ real beta_quantile_logit(real a, real b, real p, real q)
{
    real logit = beta_quantile_search(a, b, p, q);
    real value = logit + only_derivative(beta_quantile_step(a, b, log_probability(p, q), log_probability(q, p), logit));
    return !(a > 0 && b > 0 && p >= 0 && q >= 0) ? NAN : p == 0 ? -INFINITY : q == 0 ? INFINITY : value;
}


// ---- Student's t distribution function ------------------------------------------------------------------------------
//
// T / sqrt(2 a) = +-sqrt(y / x) where T has 2 a degrees of freedom, x is a beta variable of shapes a and 1/2, and y = 1 - x.

// log(density of |T| / sqrt(2 a) at t)
__device__ real log_student_density(real a, real t)
{
    return LOG_2 - lbeta(a, (real)0.5) - (a + 0.5) * log1p_square(t);
}

// log P(|T| > t sqrt(2 a)), a >= 0, t >= 0
__device__ real log_student_q(real a, real t)
{
    int far = t * EPSILON > 1;  // t^2 may overflow
    real s = far ? 1 : t * t, value = log_beta_p(a, (real)0.5, 1 / (1 + s), s / (1 + s));
    return a == 0 ? 0 : far ? -2 * a * log(t) - log_beta_scale(a, (real)0.5) : value;
}

// P(|T| > t sqrt(2 a))
__device__ real student_q(real a, real t)
{
    int far = t * EPSILON > 1;
    real s = far ? 1 : t * t, value = beta_p(a, (real)0.5, 1 / (1 + s), s / (1 + s));
    return a == 0 ? 1 : far ? exp(-2 * a * log(t) - log_beta_scale(a, (real)0.5)) : value;
}

__device__ real student_q_grad_t(real a, real t, real value)
{
    return -exp(log_student_density(a, t));
}

// By the density, which is finite at 0, where the derivative in x is not
__device__ real log_student_q_grad_t(real a, real t, real value)
{
    return -exp(log_student_density(a, t) - value);
}

// log P(T > t sqrt(2 a)), a >= 0, any t
__device__ real log_student_above(real a, real t)
{
    real tail = log_student_q(a, fabs(t)) - LOG_2;
    return t < 0 ? log1mexp(tail) : tail;
}

// log P(|T| <= t sqrt(2 a)), a >= 0, t >= 0
__device__ real log_student_p(real a, real t)
{
    if (t * EPSILON > 1) return log1mexp(log_student_q(a, t));
    if (t < EPSILON) return log(t) + LOG_2 - lbeta(a, (real)0.5);  // t^2 may underflow
    real s = t * t;
    return log_beta_p((real)0.5, a, s / (1 + s), 1 / (1 + s));
}

__device__ real log_student_p_grad_t(real a, real t, real value)
{
    return exp(log_student_density(a, t) - value);
}

// Where student_quantile starts, t^2, a >= 1.5: off by less than 0.00003 t^2. Source: Hill (1970), Algorithm 396: Student's
// t-quantiles.
__device__ real student_quantile_start(real a, real q)
{
    real n = 2 * a, r = 1 / (n - 0.5), b = 48 / (r * r), c = ((20700 * r / b - 98) * r - 16) * r + 96.36;
    real d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(0.5 * PI * r) * n, y = exp(log(d * q) / a);
    if (y <= 0.05 + r)
        return ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (3 * (n + 2))) + 0.5 / (n + 4)) * y - 1) * ((n + 1) / (n + 2)) + 1 / y;
    real z = ndtri(0.5 * q), s = z * z, more = n < 5 ? 0.3 * (n - 4.5) * (z + 0.6) : 0;
    real below = (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b + (c + more);
    real g = (((((0.4 * s + 6.3) * s + 36) * s + 94.5) / below - s - 3) / b + 1) * z;
    return expm1(r * g * g);
}

// student_quantile as the logit of the beta variable, without derivatives: see beta_quantile_search
__device__ real student_quantile_search(real a, real p, real q)
{
    if (a < 1.5) return beta_quantile_search(a, (real)0.5, q, p);
    return beta_quantile_step(a, (real)0.5, log_probability(q, p), log_probability(p, q), -log(student_quantile_start(a, q)));
}

// scale t, t >= 0 being where P(|T| > t sqrt(2 a)) = q = 1 - p
__device__ real student_quantile(real a, real p, real q, real scale)
{
    real logit = student_quantile_search(a, p, q);
    real value = logit + only_derivative(beta_quantile_step(a, (real)0.5, log_probability(q, p), log_probability(p, q), logit));
    return !(a > 0 && p >= 0 && q >= 0) ? NAN : q == 0 ? INFINITY : p == 0 ? 0 : scaled_exp(scale, -0.5 * value);
}


// ---- angles, and the von Mises distribution function ----------------------------------------------------------------

// What PI is too small by
__device__ real rest_of_pi()
{
    return EPSILON < 1e-12 ? 1.2246467991473532e-16 : -8.742278e-8;
}

// x - (mu - pi), how far x lies above the cut of a circle opposite to mu, without the rounding errors of the difference and of PI.
// Error 2. Source: Knuth (1998), The Art of Computer Programming, vol. 2, 4.2.2.
__device__ real above_cut(real x, real mu)
{
    real z = x - mu, shift = z - x, rest = (x - (z - shift)) - (mu + shift);
    return (PI + z) + (rest + rest_of_pi());
}

// The logarithm of the density of a von Mises variable around 0, x in [-pi, pi], kappa >= 0
__device__ real log_von_mises_density(real x, real kappa)
{
    real s = sin(0.5 * x);
    return -2 * kappa * s * s - log_i0e(kappa) - LOG_2PI;
}

// log P(X <= x + rest), x <= 0, rest being lost in x, by quadrature
__device__ real log_von_mises_tail(real x, real rest, real kappa)
{
    real length = (PI + x) + (rest + rest_of_pi());
    real width = panel_width(-kappa * sin(x), 1 / sqrt(fmax(kappa, (real)1))), sum = 0, last = 1;
    for (int panel = 0; panel < 30 && panel * width < length && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, length - left);
        for (int k = 0; k < 8; k++) {
            real d = left + half * (1 + legendre_node(k)), density = exp(2 * kappa * sin(x - 0.5 * d) * sin(0.5 * d));
            sum += half * legendre_weight(k) * density;
            last = density;
        }
    }
    return log_von_mises_density(x, kappa) + log(sum);
}

__device__ real log_von_mises_tail_grad_x(real x, real rest, real kappa, real value)
{
    return exp(log_von_mises_density(x, kappa) - value);
}

__device__ real log_von_mises_tail_grad_rest(real x, real rest, real kappa, real value)
{
    return 0;  // it does not change with what it is the rest of
}

// log P(X <= x), X being a von Mises variable around mu, x - mu in [-pi, pi], kappa >= 0; log P(X > x) is
// log_von_mises(mu, x, kappa).
__device__ real log_von_mises(real x, real mu, real kappa)
{
    real z = x - mu, shift = z - x;
    if (isnan(z) || !(kappa >= 0)) return NAN;
    if (fabs(z) >= PI || isinf(kappa)) return z < 0 ? -INFINITY : 0;
    real rest = (x - (z - shift)) - (mu + shift);  // Knuth (1998), The Art of Computer Programming, vol. 2, 4.2.2
    real tail = log_von_mises_tail(-fabs(z), z < 0 ? rest : -rest, kappa);
    return z <= 0 ? tail : log1mexp(tail);
}


// ---- the Rice distribution function ---------------------------------------------------------------------------------

// The logarithm of the density of a Rice variable of scale 1, x > 0, nu >= 0
__device__ real log_rice_density(real x, real nu)
{
    return log(x) - 0.5 * (x - nu) * (x - nu) + log_i0e(nu * x);
}

// Whether P(X <= x), and not P(X > x), is what is computed.
__device__ int rice_from_below(real x, real nu)
{
    return x < nu || x * x < nu * nu + 1;
}

// log P(X <= x) where rice_from_below(x, nu), else log P(X > x), by quadrature
__device__ real log_rice_tail(real x, real nu)
{
    real away = rice_from_below(x, nu) ? -1 : 1, gap = away * (x - nu), length = away < 0 ? x : INFINITY;
    real width = fmin(panel_width(fmax(gap, (real)0), 1), length), sum = 0, last = 1;
    for (int panel = 0; panel < 30 && panel * width < length && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, length - left);
        for (int k = 0; k < 8; k++) {
            real d = left + half * (1 + legendre_node(k)), at = x + away * d;
            real density = (at / x) * exp(log_i0e(nu * at) - d * (gap + 0.5 * d));
            sum += (half / width) * legendre_weight(k) * density;
            last = density / sum;
        }
    }
    return log(x) + log(width) + log(sum) - 0.5 * gap * gap;  // x width may underflow
}

__device__ real log_rice_tail_grad_x(real x, real nu, real value)
{
    return (rice_from_below(x, nu) ? 1 : -1) * exp(log_rice_density(x, nu) - value);
}

__device__ real log_rice_tail_grad_nu(real x, real nu, real value)
{
    return (rice_from_below(x, nu) ? -1 : 1) * bessel_ratio(nu * x) * exp(log_rice_density(x, nu) - value);
}

// log P(X <= x), X being a Rice variable of scale 1, x >= 0, nu >= 0: log(1 - Q1(nu, x)) with Marcum's Q function
__device__ real log_rice_p(real x, real nu)
{
    if (!(x >= 0 && nu >= 0)) return NAN;
    if (isinf(x)) return 0;
    if (x == 0 || isinf(nu)) return -INFINITY;
    real tail = log_rice_tail(x, nu);
    return rice_from_below(x, nu) ? tail : log1mexp(tail);
}

// log P(X > x), log Q1(nu, x)
__device__ real log_rice_q(real x, real nu)
{
    if (!(x >= 0 && nu >= 0)) return NAN;
    if (isinf(x)) return -INFINITY;
    if (x == 0 || isinf(nu)) return 0;
    real tail = log_rice_tail(x, nu);
    return rice_from_below(x, nu) ? log1mexp(tail) : tail;
}


// ---- Owen's T function and the skew normal distribution function ----------------------------------------------------

// exp(h^2 / 2) T(h, a), 0 <= a <= 1, T(h, a) being the integral of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) / (2 pi) for x from
// 0 to a
__device__ real scaled_owens_t(real h, real a)
{
    real width = fmin(panel_width(0, 1 / fabs(h)), (real)0.4), sum = 0, last = 1;
    for (int panel = 0; panel < 30 && panel * width < a && last > 0.01 * EPSILON; panel++) {
        real left = panel * width, half = 0.5 * fmin(width, a - left);
        for (int k = 0; k < 8; k++) {
            real x = left + half * (1 + legendre_node(k)), density = exp(-0.5 * h * h * x * x) / (1 + x * x);
            sum += half * legendre_weight(k) * density;
            last = density;
        }
    }
    return sum / (2 * PI);
}

// log(exp(h^2 / 2) (T(h, infinity) - T(h, a))), h >= 0, a >= 0
__device__ real log_scaled_owens_rest(real h, real a)
{
    real g = a * h, radius = hypot(g, h), left = 0, sum = 0, last = 1;
    if (radius < 1) {
        if (a < 1) return log(0.25 * scaled_erfc(h / SQRT_2) - scaled_owens_t(h, a));
        real below = 0.25 * scaled_erfc(g / SQRT_2) * erf(h / SQRT_2);
        return log(exp(0.5 * (h - g) * (h + g)) * (scaled_owens_t(g, 1 / a) - below));
    }
    // the integrand has poles at -g + i h and -g - i h
    for (int panel = 0; panel < 40 && last > 0.01 * EPSILON; panel++) {
        real half = 0.5 * fmin(panel_width(g + left, 1), 0.4 * hypot(g + left, h));
        for (int k = 0; k < 8; k++) {
            real w = left + half * (1 + legendre_node(k)), slope = a + w / h;
            real density = exp(-w * (g + 0.5 * w)) / (1 + slope * slope);
            sum += half * legendre_weight(k) * density;
            last = density / sum;
        }
        left += 2 * half;
    }
    return log(sum / (2 * PI * h)) - 0.5 * g * g;
}

// What stands for infinity, so that it may be multiplied by 0 and squared: 8e93 in float64, 7e13 in float32.
__device__ real largest_slope()
{
    real root = 1 / EPSILON;
    return EPSILON < 1e-10 ? root * root * (root * root) * (root * root) : root * root;
}

// Owen's T function, any h and a: Owen (1956), Tables for computing bivariate normal probabilities.
__device__ real owens_t(real h, real a)
{
    real size = fmin(fabs(h), (real)100), slope = fmin(fabs(a), largest_slope()), scale = exp(-0.5 * h * h);
    if (isnan(h) || isnan(a)) return NAN;
    real value = slope <= 1 ? scaled_owens_t(size, slope)
               : 0.25 * scaled_erfc(size / SQRT_2) - exp(log_scaled_owens_rest(size, slope));
    return (a < 0 ? -scale : scale) * value;
}

// log P(X <= x), X being a skew normal variable of location 0 and scale 1, any x and alpha; log P(X > x) is
// log_skew_ndtr(-x, -alpha). Source: Azzalini (1985), A class of distributions which includes the normal ones.
__device__ real log_skew_ndtr(real x, real alpha)
{
    if (isnan(x) || isnan(alpha)) return NAN;
    real h = fabs(x), a = fmin(fabs(alpha), largest_slope()), square = 0.5 * x * x;
    if (isinf(square)) return x < 0 ? -INFINITY : 0;
    // P(X <= x) where alpha >= 0; by symmetry P(X > x) where alpha < 0
    int falls = alpha < 0 ? x > 0 : x < 0;
    if (falls || a > 1) {
        real rest = log_scaled_owens_rest(h, a), tail = rest + LOG_2 - square;
        if (falls) return alpha < 0 ? log1mexp(tail) : tail;
        real above = exp(-square) * (scaled_erfc(h / SQRT_2) - 2 * exp(rest));
        if (alpha < 0) return log(scaled_erfc(h / SQRT_2) - 2 * exp(rest)) - square;
        if (above < 0.5) return log1p(-above);
        real g = a * h, scale = exp(-0.5 * g * g);
        return log((1 - 0.5 * scale * scaled_erfc(g / SQRT_2)) * erf(h / SQRT_2) + 2 * scale * scaled_owens_t(g, 1 / a));
    }
    real scaled = 0.5 * scaled_erfc(h / SQRT_2) + 2 * scaled_owens_t(h, a);
    return alpha < 0 ? log(scaled) - square : log1p(-scaled * exp(-square));
}

__device__ real log_skew_ndtr_grad_x(real x, real alpha, real value)
{
    return isinf(0.5 * x * x) ? 0 : exp((LOG_2 - HALF_LOG_2PI) - 0.5 * x * x + log_ndtr(alpha * x) - value);
}

__device__ real log_skew_ndtr_grad_alpha(real x, real alpha, real value)
{
    return isinf(0.5 * x * x) ? 0 : -exp(-0.5 * x * x * (1 + alpha * alpha) - value) / (PI * (1 + alpha * alpha));
}


// ---- logarithms of distribution functions in closed form ------------------------------------------------------------

// log(log(1 + exp(x))), any x. Scaled error 2.
__device__ real log_log1pexp(real x)
{
    return x < log(EPSILON) ? x : log(log1pexp(x));
}

// log(-log(1 - exp(x))), x <= 0. Scaled error 2.
__device__ real log_minus_log1mexp(real x)
{
    return x < log(EPSILON) ? x : log(-log1mexp(x));
}

// log(exp(x) - 1), x >= 0. Scaled error 2.
__device__ real log_expm1(real x)
{
    return x + log1mexp(-x);
}

// exp(-z) - 1, also relative to z where that is small, with the same exponential as the next one. Error 40.
__device__ real log_gumbel_density_slope(real z)
{
    real e = exp(-z), series = 1 - z * (0.5 - z * (0.16666666666666667 - z * (0.041666666666666667 - z * (
                               0.0083333333333333333 - z * 0.0013888888888888889))));
    return fabs(z) < 0.02 ? -z * series : e - 1;
}

// -z - exp(-z), the logarithm of the density of the standard Gumbel distribution, whose slope has all digits near the mode, too.
// Scaled error 2.
__device__ real log_gumbel_density(real z)
{
    return -z - exp(-z);
}

// x - 1 + exp(-x), any x, without cancellation near 0. Error 6.
__device__ real expm1_excess(real x)
{
    return fabs(x) < 0.5 ? -log1pmx(expm1(-x)) : x + expm1(-x);
}


// ---- for families with a power ---------------------------------------------------------------------------------------

// log(1 + xi d / scale) / xi, and d / scale where xi = 0, scale > 0, scale + xi d >= 0: the inverse of the Box-Cox
// transformation is its exponential. Error 5. By log(1 + u) = 2 atanh(u / (2 + u)), in which nothing cancels where xi is small:
// Abramowitz & Stegun (1964), 4.1.27.
__device__ real log1p_over(real d, real scale, real xi)
{
    real z = d / scale, u = xi * z, r = u / (2 + u), s = r * r;
    if (s < 0.1111) return z / (1 + 0.5 * u) * (1 + s * atanh_remainder(s));
    real e = EPSILON, e2 = e * e, e4 = e2 * e2, tiny = EPSILON < 1e-10 ? e4 * e4 : e2 * e;  // for what overflows
    int far = !(fabs(u) < INFINITY);
    real ratio = (far ? fabs(d) * tiny * (fabs(xi) * tiny) : fma(xi, d, scale)) / scale;  // near -1 the sum is rounded once
    real value = far ? log(ratio) + (EPSILON < 1e-10 ? 16 * 52 : 6 * 23) * LOG_2 : u < 0 ? log(ratio) : log1p(u);
    return xi == 0 ? z : value / xi;
}

__device__ real log1p_over_grad_d(real d, real scale, real xi) { return 1 / fma(xi, d, scale); }

__device__ real log1p_over_grad_scale(real d, real scale, real xi)
{
    return isinf(d) ? 0 : -(d / scale / fma(xi, d, scale));
}

// The same with scale = 1
__device__ real log1p_quotient(real a, real x)
{
    return log1p_over(x, 1, a);
}

// (exp(a x) - 1) / a, and x where a = 0: the Box-Cox transformation of exp(x). Error 3 + |a x|.
__device__ real expm1_quotient(real a, real x)
{
    real u = a * x, series = 1;
    if (!(fabs(u) < 0.5)) return expm1(u) / a;
    for (int k = 16; k > 1; k--)
        series = 1 + u / k * series;
    return x * series;
}

// log((exp(a x) - 1) / a), x > 0, where the exponential may overflow, or be small beside 1 while a is -1. Error 4 + |a x|.
__device__ real log_expm1_quotient(real a, real x)
{
    real u = a * x;
    return u > 50 ? u - log(a) : u < -1 ? log1mexp(u) - log(-a) : log(expm1_quotient(a, x));
}

// scale (exp(a x) - 1) / a, and scale x where a = 0, scale > 0, where the exponential may overflow: the inverse of log1p_over.
// Error 3 + |a x|.
__device__ real expm1_over(real x, real scale, real a)
{
    real u = a * x;
    if (u > 50) return (a < 0 ? -1 : 1) * exp(u + (log(scale) - log(fabs(a))));
    return scale * expm1_quotient(a, x);
}

// x - sin(x), x >= 0, without cancellation where x is small. Error 5.
__device__ real minus_sine(real x)
{
    real s = x * x, series = 1;
    if (!(x < 2)) return x - sin(x);
    for (int k = 14; k > 1; k--)
        series = 1 - s / (2 * k * (2 * k + 1)) * series;
    return x * s / 6 * series;
}

// The x at which log Phi(x) = log_p, log_p <= 0, also where exp(log_p) underflows. Scaled error 4.
__device__ real ndtri_exp(real log_p)
{
    if (log_p > -LOG_2) return -ndtri(-expm1(log_p));
    if (log_p > (EPSILON < 1e-10 ? -700 : -80)) return ndtri(exp(log_p));
    real s = -2 * log_p - LOG_2PI, x = -sqrt(s - log(s));
    for (int k = 0; k < 4; k++)
        x -= (log_ndtr(x) - log_p) / inverse_mills(x);
    return x;
}


// ---- mixtures by a Poisson variable: noncentral distributions -------------------------------------------------------
//
// Sums over j of Poisson probabilities of mean m times incomplete gamma functions P(a + j, y), or incomplete beta functions
// I_p(a + j, b). The distribution functions F_j themselves follow from F_j - F_{j + 1} = f_j, where f_j is a power whose ratios
// f_{j + 1} / f_j are (y + s j) / (a + j + 1): s = 0 of the gamma function, y = p (a + b) and s = p of the beta function. Downwards
// that adds to F_j, upwards to 1 - F_j, so that nothing cancels in either tail.

// The logarithm of a Poisson probability of mean m > 0
__device__ real log_poisson(real j, real m)
{
    return j == 0 ? -m : log_gamma_power(j, m);
}

// Where j (a + j - 1) = m (y + s (j - 1)), roughly, but at least 0
__device__ real mixture_peak(real m, real a, real y, real s)
{
    real b = a + 1 - m * s, c = m * y - a, root = sqrt(fmax(b * b + 4 * c, (real)0));
    if (y > within_range(y)) {  // whose product with m may overflow
        real h = 0.5 * b, g = sqrt(m) * sqrt(y);
        return floor(g * (g / (h + hypot(h, g))));
    }
    return floor(fmax(b > 0 ? 2 * c / (b + root) : 0.5 * (root - b), (real)0));
}

// log(sum of t_j) - log(t_first), t_{j + 1} / t_j = m (y + s j) / ((j + 1) (a + j)): of densities, first being near the peak
__device__ real log_mixture_density(real m, real a, real y, real s, real first)
{
    real sum = 1, term = 1;
    for (int i = 0; i < 30000 && term > 0.01 * EPSILON * sum; i++) {
        real j = first + i;
        term *= m / (j + 1) * ((y + s * j) / (a + j));
        sum += term;
    }
    term = 1;
    for (int i = 0; i < 30000 && i < first && term > 0.01 * EPSILON * sum; i++) {
        real j = first - i;
        term *= j / m * ((a + j - 1) / (y + s * (j - 1)));
        sum += term;
    }
    return log(sum);
}

// The j beyond which all terms with F_j are too small to count
__device__ real mixture_top(real m, real a, real y, real s)
{
    real j = fmin(floor(m), mixture_peak(m, a, y, s)), term = 1;
    for (int i = 0; i < 30000 && m > 0 && term > 0.01 * EPSILON; i++) {
        term *= m / (j + 1) * fmin((y + s * j) / (a + j), (real)1);
        j += term > 0.01 * EPSILON ? 1 : 0;  // one more, where y is tiny, would overflow on the way back
    }
    return j;
}

// The j down to which all terms with 1 - F_j are too small to count
__device__ real mixture_bottom(real m, real a, real y, real s)
{
    real j = fmax(floor(m), mixture_peak(m, a, y, s)), term = 1;
    for (int i = 0; i < 30000 && j > 0 && term > 0.01 * EPSILON; i++) {
        term *= j / m * fmin((a + j - 1) / (y + s * (j - 1)), (real)1);
        j--;
    }
    return j;
}

// log(sum of the terms with F_j) - log(the one of `top`), where ratio = f_top / F_top
__device__ real log_mixture_below(real m, real a, real y, real s, real top, real ratio)
{
    real term = 1, power = ratio, sum = 1;
    for (int i = 0; i < 60000 && i < top && (term > 0.01 * EPSILON * sum || top - i > m); i++) {
        real j = top - i;
        power *= j / m * ((a + j) / (y + s * (j - 1)));
        term = j / m * term + power;
        sum += term;
    }
    return log(sum);
}

// log(sum of the terms with 1 - F_j) - log(the one of `bottom`), where ratio = f_bottom / (1 - F_bottom)
__device__ real log_mixture_above(real m, real a, real y, real s, real bottom, real ratio)
{
    real term = 1, power = ratio, sum = 1;
    for (int i = 0; i < 60000 && (term > 0.01 * EPSILON * sum || bottom + i < m); i++) {
        real j = bottom + i, weight = m / (j + 1);
        term = weight * (term + power);
        power *= weight * ((y + s * j) / (a + j + 1));
        sum += term;
    }
    return log(sum);
}


// Of large m, sums with a stride are as accurate: the trapezoidal rule converges geometrically for terms as smooth as these, see
// gig_log_integral. Each term is computed by itself, a and y being large, too, so that their number does not grow with m.
__device__ int mixture_has_stride(real m) { return m > 2000; }

// Whether m is so large that it is not known well enough to tell how far x is from the mean, in standard deviations
__device__ int mixture_is_vague(real m) { return sqrt(m) * EPSILON > 0.01; }

// The logarithm of P(a, p) or I_p(a, b) if what < 0, of 1 minus that if what > 0, else of its derivative in log(p) or logit(p). The
// function is the gamma function's where b is infinite.
__device__ real mixture_component(int what, real a, real b, real p, real q)
{
    if (isinf(b)) return what < 0 ? log_gamma_p(a, p) : what > 0 ? log_gamma_q(a, p) : log_gamma_power(a, p) + log(a);
    return what < 0 ? log_beta_p(a, b, p, q) : what > 0 ? log_beta_p(b, a, q, p) : log_beta_power(a, b, p, q);
}

// The logarithm of the sum of the Poisson probabilities times mixture_component(what, a + j, b, p, q)
__device__ real log_mixture(int what, real m, real a, real b, real p, real q)
{
    real y = isinf(b) ? p : p * (a + b), s = isinf(b) ? 0 : p, peak = mixture_peak(m, a, y, s), sum = 1;
    real first = what < 0 ? fmin(peak, m) : what > 0 ? fmax(peak, m) : peak, stride = 1;
    real spread = 1 / sqrt(1 / first + (y - s * a) / ((y + s * first) * (a + first)));
    if (first > 200) stride = exp2(floor(log2(0.6 * spread)));  // a power of 2: multiples of it are exact
    first = stride * floor(first / stride);
    real at_first = log_poisson(first, m) + mixture_component(what, a + first, b, p, q);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 1000 && term > 0.01 * EPSILON * sum; i++) {
            real j = first + side * i * stride;
            term = j < 0 ? 0 : exp(log_poisson(j, m) + mixture_component(what, a + j, b, p, q) - at_first);
            sum += term;
        }
    }
    return at_first + log(stride) + log(sum);
}


// ---- the generalised inverse Gaussian distribution, and normal mixtures by it ----------------------------------------
//
// W has a density proportional to w^(p - 1) exp(-(delta^2 / w + gamma^2 w) / 2), and X is normal with mean beta W and variance W:
// a generalised hyperbolic variable. Let p >= 0; with -p, 1 / W is distributed like that. The density of log(W) is proportional to
// exp(-h), h being a convex function whose smallest value is 0; and the integral of exp(-h) is exp(w) (b / (p + w))^p 2 K_p(b),
// b = delta gamma, w = sqrt(p^2 + b^2), which is finite where b = 0 and p > 0, too: 1 / W or W is a gamma variable then.

// h(v) as a function of exp(v) = r and r - 1 = d, in which nothing cancels, r being W relative to where h is 0
__device__ real gig_height(real r, real d, real p, real b)
{
    real rest = b * (b / (p + hypot(p, b)));  // w - p
    return 0.5 * d * (rest * d / r) - p * log_ratio_excess(r, d);  // 1 / r^2 would overflow in its derivative
}

// The logarithm of the integral of exp(order v - h(v)), by the trapezoidal rule, all of whose digits are right for such functions:
// Trefethen & Weideman (2014), The exponentially convergent trapezoidal rule. Scaled error 20.
__device__ real gig_log_integral(real order, real p, real b)
{
    if (b == 0 && order == 0) return HALF_LOG_2PI - 0.5 * log(p) + stirling_error(p);  // of small p it would have no end
    real w = hypot(p, b), rest = b * (b / (p + w)), step = 0.6 / sqrt(w + 7), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 6000 && term > 0.01 * EPSILON * sum; i++) {
            real v = side * i * step, s = rest > 0 ? sinh(0.5 * v) : 0;  // whose square may overflow
            term = exp(order * v - p * expm1_excess(-v) - 2 * rest * s * s);
            sum += term;
        }
    }
    return log(step) + log(sum);
}

// The w at which h is 0, for p of either sign
__device__ real gig_peak(real p, real delta, real gamma)
{
    real size = fabs(p) + hypot(p, delta * gamma);
    return p < 0 ? delta * (delta / size) : size / gamma / gamma;
}

// h at log(w), for p of either sign
__device__ real gig_height_at(real w, real p, real delta, real gamma)
{
    real b = delta * gamma, size = fabs(p) + hypot(p, b);
    real r = p < 0 ? delta / size * (delta / w) : w / size * gamma * gamma;
    return gig_height(r, r - 1, fabs(p), b);
}

// sqrt(alpha^2 - beta^2), for those who have alpha
__device__ real gig_mixture_gamma(real alpha, real beta) { return sqrt((alpha - beta) * (alpha + beta)); }

// The logarithm of the density of X. With the normal density, too, the integrand is one of log(w), of p - 1/2, and with x and beta.
__device__ real log_gig_mixture_at(real x, real p, real beta, real gamma, real delta)
{
    real q = hypot(x, delta), alpha = hypot(beta, gamma), w = gig_peak(p - 0.5, q, alpha), z = (x - beta * w) / sqrt(w);
    return gig_log_integral(0, fabs(p - 0.5), alpha * q) - (gig_log_integral(0, fabs(p), delta * gamma) + HALF_LOG_2PI)
         - gig_height_at(w, p, delta, gamma) - 0.5 * z * z - 0.5 * log(w);
}

// The same where alpha q is small. The derivative of q^v K_v(alpha q) in q is -alpha q^v K_(v - 1)(alpha q), so that nothing cancels.
__device__ real log_gig_mixture_near(real x, real p, real beta, real gamma, real delta)
{
    return log_gig_mixture_at(x, p, beta, gamma, delta);
}

__device__ real log_gig_mixture_near_grad_x(real x, real p, real beta, real gamma, real delta)
{
    real q = hypot(x, delta), alpha = hypot(beta, gamma), v = p - 0.5, b = alpha * q, size = fabs(v) + hypot(v, b);
    real ratio = exp(gig_log_integral(v < 0 ? 1 : -1, fabs(v), b) - gig_log_integral(0, fabs(v), b));
    return q == 0 ? beta : beta - x / q * (v < 0 ? size / q : alpha * (b / size)) * ratio;
}

__device__ real log_gig_mixture_density(real x, real p, real beta, real gamma, real delta)
{
    if (hypot(x, delta) * hypot(beta, gamma) < (EPSILON < 1e-10 ? 0.01 : 0.1)) return log_gig_mixture_near(x, p, beta, gamma, delta);
    return log_gig_mixture_at(x, p, beta, gamma, delta);
}

// log P(X <= x), the mean of Phi((x - beta W) / sqrt(W)), by the trapezoidal rule in log(w), from about the peak outwards. Where
// delta is 0, terms of small w are powers of w, and where gamma is 0, those of large w: these are summed at once, as there are
// very many for p near 0. What has more terms yet is nan.
__device__ real log_gig_mixture_below(real x, real p, real beta, real gamma, real delta)
{
    real q = hypot(x, delta), alpha = hypot(beta, gamma), center = gig_peak(p, q, alpha);
    real at_center = log_ndtr((x - beta * center) / sqrt(center)) - gig_height_at(center, p, delta, gamma);
    real step = 0.6 / sqrt(hypot(p, alpha * q) + 7), sum = 1, tiny = exp(EPSILON < 1e-10 ? -667.0 : -80.0);
    real powers = fmax(fmin(x * x / 324, fmin(0.5 * x / fabs(beta), 0.02 * EPSILON / gamma / gamma)), tiny);
    real far = fmax(fmax(1600 / (beta * beta), 4 * fabs(x / beta)), 50 / EPSILON * delta * delta);
    int more = 0;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 400000 && term > 0.01 * EPSILON * sum; i++) {
            real w = center * exp(side * i * step);
            if ((delta == 0 && w < powers) || (gamma == 0 && beta < 0 && w > far)) {
                sum += term / expm1(fabs(p) * step);
                term = 0;
            } else {
                term = exp(log_ndtr((x - beta * w) / sqrt(w)) - gig_height_at(w, p, delta, gamma) - at_center);
                sum += term;
            }
        }
        more = more || term > 0.01 * EPSILON * sum;
    }
    return more ? NAN : at_center + log(step) + log(sum) - gig_log_integral(0, fabs(p), delta * gamma);
}

// log P(X <= x), or log P(X > x) if `above`, from the tail that is small
__device__ real log_gig_mixture(real x, int above, real p, real beta, real gamma, real delta)
{
    if (isinf(x)) return (x > 0) == above ? -INFINITY : 0;
    int from_above = x > beta * gig_peak(p, delta, gamma);
    real sign = from_above ? -1 : 1, tail = log_gig_mixture_below(sign * x, p, sign * beta, gamma, delta);
    return from_above == above ? tail : log1mexp(tail);
}

// The mean of (W / peak - about)^order, for p of either sign, where it is finite
__device__ real gig_moment(int order, real about, real p, real b)
{
    real size = fabs(p), w = hypot(p, b), rest = b * (b / (size + w)), step = 0.6 / sqrt(w + 7);
    real mass = 1, sum = pow(1 - about, (real)order);  // of the peak
    for (int side = -1; side < 2; side += 2) {
        real term = 1, part = 1;
        for (int i = 1; i < 6000 && (term > 0.01 * EPSILON * mass || fabs(part) > 0.01 * EPSILON * fabs(sum)); i++) {
            real v = side * i * step, s = rest > 0 ? sinh(0.5 * v) : 0, distance = exp(p < 0 ? -v : v) - about;
            term = exp(-size * expm1_excess(-v) - 2 * rest * s * s);
            part = term * pow(distance, (real)order);
            mass += term;
            sum += part;
        }
    }
    return sum / mass;
}


// ---- stable distributions ---------------------------------------------------------------------------------------------

// tan(pi alpha / 2), 0 < alpha <= 2, alpha not 1
__device__ real stable_tangent(real alpha) { return alpha > 1 ? -tan(PI * (1 - 0.5 * alpha)) : tan(0.5 * PI * alpha); }

// The location in Nolan's parametrisation 0 of a variable of scale sigma whose location is 0 in his parametrisation 1
__device__ real stable_shift(real alpha, real beta, real sigma)
{
    return sigma * (beta * (alpha == 1 ? 2 / PI * log(sigma) : stable_tangent(alpha)));
}


// ---- sums of powers and the zeta function ---------------------------------------------------------------------------

// The derivative of relative_expm1. Error 10.
__device__ real relative_expm1_slope(real x)
{
    real term = 0.5, sum = 0.5;
    if (fabs(x) > 2) return ((x - 1) * exp(x) + 1) / (x * x);
    for (int k = 1; k < 30; k++) {
        term *= x * (k + 1) / ((real)k * (k + 2));
        sum += term;
    }
    return sum;
}

// (exp(x) - 1) / x, any x. Error 2.
__device__ real relative_expm1(real x)
{
    return x == 0 ? 1 : expm1(x) / x;
}

// The sum of (m / k)^a for k = m + 1, …, n, a >= 0, m >= 1, n >= m whole numbers, n possibly infinite where a > 1. Error 20.
// Euler's and Maclaurin's formula, behind a few terms where it would not be accurate: Abramowitz & Stegun (1964), 23.1.30.
__device__ real power_sum(real a, real m, real n)
{
    real sum = 0, k = m + 1, start = fmax((real)12, a);
    for (int i = 0; i < 70 && k <= n && k < start; i++) {
        sum += exp(-a * log1p((k - m) / m));
        k++;
    }
    if (k > n || k < start) return sum;  // behind 70 terms, others do not count
    real first = exp(-a * log1p((k - m) / m)), last = isinf(n) ? 0 : exp(-a * log1p((n - m) / m)), length = log1p((n - k) / k);
    real integral = isinf(n) ? 1 / (a - 1) : length * relative_expm1((1 - a) * length);
    real left = a / k, right = isinf(n) ? 0 : a / n, s = 1 / (k * k), t = isinf(n) ? 0 : 1 / (n * n), ends = 0;
    for (int j = 1; j < 10; j++) {
        real number = j == 1 ? 1.0 / 12 : j == 2 ? -1.0 / 720 : j == 3 ? 1.0 / 30240 : j == 4 ? -1.0 / 1209600
                    : j == 5 ? 1.0 / 47900160 : j == 6 ? -691.0 / 1307674368000.0 : j == 7 ? 1.0 / 74724249600.0
                    : j == 8 ? -3617.0 / 10670622842880000.0 : 43867.0 / 5109094217170944000.0;
        ends += number * (left * first - right * last);
        left *= (a + 2 * j - 1) * (a + 2 * j) * s;
        right *= (a + 2 * j - 1) * (a + 2 * j) * t;
    }
    return sum + (first * (k * integral) + 0.5 * (first + last) + ends);
}

// log of the sum of k^-a for k = m, …, n
__device__ real log_power_sum(real a, real m, real n)
{
    return log1p(power_sum(a, m, n)) - a * log(m);
}

// log zeta(a), a > 1, also relative to itself where a is large. Error 20.
__device__ real log_zeta(real a)
{
    return log1p(power_sum(a, (real)1, INFINITY));
}
