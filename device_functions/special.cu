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

// log(1 + y^2), any y; the square may overflow. Error 1.
__device__ real log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

// log_ratio - u where log_ratio = log(1 + u), without cancellation near 0: the core of every saddle-point formula. The
// caller passes both, so that neither has lost digits by computing it from the other.
// For log(1 + u) = 2 atanh(u / (2 + u)) see Abramowitz & Stegun (1964), 4.1.27.
__device__ real log_excess(real log_ratio, real u)
{
    real r = u / (2 + u), s = r * r;
    real series = 0.3333333333333332928 + s * (0.2000000000000729134 + s * (0.1428571428355437858 + s * (
                  0.1111111135871393149 + s * (0.09090894718066429085 + s * (0.07692785032479311552 + s * (
                  0.06657072104827468075 + s * (0.06000536404795356268 + s * (0.04400369243072336941 + s * (
                  0.0808202280597176611)))))))));
    return s < 0.1111 ? r * (2 * s * series - u) : fmin(log_ratio, 1 / EPSILON) - u;
}

// The same with ratio = 1 + u >= 0 itself
__device__ real log_ratio_excess(real ratio, real u)
{
    return log_excess(log(ratio), u);
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
