// The normal distribution function

// exp(x^2) erfc(x), x >= 0; elsewhere called erfcx, a name that CUDA has taken. Error 3. The variable t is that of
// Shepherd & Laframboise (1981), Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < infinity.
// derivative: -scaled_erfc_slope(x) * dx
// reference: scaled_erfc(x) = exp(x * x) * erfc(x), x in (0.05, 6)
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
// reference: tests/language/test_integrals.py
__device__ real legendre_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.18343464249564980494 : i == 1 ? 0.52553240991632898582
              : i == 2 ? 0.79666647741362673959 : 0.96028985649753623168;
    return k == 2 * i ? node : -node;
}

// reference: tests/language/test_integrals.py
__device__ real legendre_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.36268378337836198297 : i == 1 ? 0.31370664587788728734
         : i == 2 ? 0.22238103445337447054 : 0.10122853629037625915;
}

// Node k = 0, …, 7 of Gauss-Lobatto quadrature in 8 points on [-1, 1], of which the last two are its ends, beside which a kink or
// a jump is seen; and its weight. Source: Abramowitz & Stegun (1964), 25.4.32.
// reference: tests/language/test_integrals.py
__device__ real lobatto_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.20929921790247886877 : i == 1 ? 0.59170018143314230214 : i == 2 ? 0.87174014850960661534 : 1;
    return k == 2 * i ? node : -node;
}

// reference: tests/language/test_integrals.py
__device__ real lobatto_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.41245879465870388157 : i == 1 ? 0.34112269248350436476
         : i == 2 ? 0.21070422714350603938 : 0.035714285714285714286;
}

// What tells how smooth a function is: the weight of node k in a sum that is 0 for polynomials of degree 5 at most, and 0 for no
// function with a jump between two nodes. Of even functions it is a divided difference of order 6, of odd ones one of order 7.
// reference: tests/language/test_integrals.py
__device__ real lobatto_roughness(int k)
{
    int i = k / 2;
    real even = i == 0 ? -0.10077561843054427 : i == 1 ? 0.25909235006173348 : i == 2 ? -0.3 : 0.14168326836881079;
    real odd = i == 0 ? -0.99 : i == 1 ? 0.90032687865712578 : i == 2 ? -0.70758975247880567 : 0.2913170441826479;
    return k == 2 * i ? even + odd : even - odd;
}

// By how much the next panel is longer that those 8 points integrate to all digits, after one whose roughness is 1 / `spare` of what
// may be: roughness grows like the power 7 of the length.
// derivative: 0
// reference: tests/language/test_integrals.py
__device__ real panel_growth(real spare)
{
    return fmin(fmax(0.9 * pow(spare, (real)1 / 7), (real)0.1), (real)4);
}

// log(Gamma(x + 2 h) Gamma(x) / Gamma(x + h)^2), x > 0, x + 2 h > 0: log E Y^2 / (E Y)^2 of the power h of a gamma variable. Where
// h is small, the integral of trigamma under a triangle from x to x + 2 h. Error 200.
// reference: tests/language/test_special.py
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
// derivative: 0
// reference: tests/language/test_integrals.py
__device__ real panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);  // 3 / -0 is negative
}

// scaled_erfc for any x. Error 3.
// reference: scaled_erfc_any(x) = exp(x * x) * erfc(x), x in (-2, 6)
__device__ real scaled_erfc_any(real x)
{
    return x < 0 ? 2 * exp(x * x) - scaled_erfc(-x) : scaled_erfc(x);
}

// -d/dx of scaled_erfc_any(x), x >= -1: 2 / sqrt(pi) - 2 x exp(x^2) erfc(x). Error 100, where x is near 10.
// Asymptotic series: Abramowitz & Stegun (1964), 7.1.23.
// reference: tests/language/test_special.py
__device__ real scaled_erfc_slope(real x)
{
    real s = 0.5 / (x * x), series = 1;
    for (int k = 12; k > 0; k--)
        series = 1 - (2 * k + 1) * s * series;
    return 2 / SQRT_PI * (x > (EPSILON < 1e-10 ? 10 : 6) ? s * series : 1 - SQRT_PI * x * scaled_erfc_any(x));
}

// (scaled_erfc_any(a) - scaled_erfc_any(b)) / width where b = a + width, a >= -1, width > 0. By quadrature of the slope
// where the two are close. Error 100.
// reference: tests/language/test_special.py
__device__ real scaled_erfc_mean_slope(real a, real width)
{
    if (width > 0.4 * (1 + fabs(a))) return (scaled_erfc_any(a) - scaled_erfc_any(a + width)) / width;
    real sum = 0;
    for (int k = 0; k < 8; k++)
        sum += legendre_weight(k) * scaled_erfc_slope(a + 0.5 * width * (1 + legendre_node(k)));
    return 0.5 * sum;
}

// log Phi(x), any x. Scaled error 3.
// derivative: x == INFINITY ? 0 : inverse_mills(x) * dx
// reference: log_ndtr(x) = log(erfc(-x / sqrt(2)) / 2), x in (-9, 5)
__device__ real log_ndtr(real x)
{
    real tail = 0.5 * scaled_erfc(fabs(x) / SQRT_2), square = 0.5 * x * x;
    return x < 0 ? log(tail) - square : log1p(-tail * exp(-square));
}

// The integral of exp((m^2 - t^2) / 2) for t from a to b, a < b, either possibly infinite, where m is the point of
// [a, b] that is nearest to 0. So it neither underflows nor cancels. `width` is b - a, which the caller may know better
// than by subtraction. Where the integrand varies little, by quadrature. Error 2.
// reference: normal_integral(a, b, b - a) = normal_integral(a, b), a in (-4, 1), b in (1.1, 4)
// reference: normal_integral(a, b, b - a) = normal_integral(a, b), a in (1, 4), b in (4.1, 9)
// reference: normal_integral(a, b, b - a) = normal_integral(a, b), a in (1, 1.1), b in (1.12, 1.2)
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
// derivative: -inverse_mills(x) * (x + inverse_mills(x)) * dx
// reference: tests/rewriting/test_derivative_rules.py
__device__ real inverse_mills(real x)
{
    real tail = scaled_erfc(fabs(x) / SQRT_2);
    return SQRT_2_OVER_PI * (x < 0 ? 1 / tail : 1 / (2 * exp(0.5 * x * x) - tail));
}

// log(Phi(b) - Phi(a)), a < b. Scaled error 2.
// reference: log_ndtr_difference(a, b) = log(normal_mass(a, b)), a in (-4, 1), b in (1.1, 4)
// reference: log_ndtr_difference(a, b) = log(normal_mass(a, b)), a in (-5, -3), b in (-2.9, -1)
__device__ real log_ndtr_difference(real a, real b)
{
    real mode = fmin(fmax(a, (real)0), b);
    return log(normal_integral(a, b, b - a)) - (0.5 * mode * mode + HALF_LOG_2PI);
}

// The normal quantile function: x with Phi(x) = p. Error 3. Source: Wichura (1988), Algorithm AS 241.
// derivative: SQRT_2 * SQRT_PI * exp(0.5 * ndtri(p) * ndtri(p)) * dp
// reference: ndtri(p) = sqrt(2) * erfinv(2 * p - 1), p in (0.02, 0.98)
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
