// Mixtures by a Poisson variable: noncentral distributions

//
// Sums over j of Poisson probabilities of mean m times incomplete gamma functions P(a + j, y), or incomplete beta functions
// I_p(a + j, b). The distribution functions F_j themselves follow from F_j - F_{j + 1} = f_j, where f_j is a power whose ratios
// f_{j + 1} / f_j are (y + s j) / (a + j + 1): s = 0 of the gamma function, y = p (a + b) and s = p of the beta function. Downwards
// that adds to F_j, upwards to 1 - F_j, so that nothing cancels in either tail.

// The logarithm of a Poisson probability of mean m > 0
// reference: tests/test_densities.py
__device__ real log_poisson(real j, real m)
{
    return j == 0 ? -m : log_gamma_power(j, m);
}

// Where j (a + j - 1) = m (y + s (j - 1)), roughly, but at least 0
// derivative: 0
// reference: tests/test_densities.py
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
// reference: tests/test_densities.py
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
// derivative: 0
// reference: tests/test_densities.py
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
// derivative: 0
// reference: tests/test_densities.py
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
// reference: tests/test_densities.py
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
// reference: tests/test_densities.py
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
// reference: tests/test_densities.py
__device__ int mixture_has_stride(real m) { return m > 2000; }

// Whether m is so large that it is not known well enough to tell how far x is from the mean, in standard deviations
// reference: tests/test_densities.py
__device__ int mixture_is_vague(real m) { return sqrt(m) * EPSILON > 0.01; }

// The logarithm of P(a, p) or I_p(a, b) if what < 0, of 1 minus that if what > 0, else of its derivative in log(p) or logit(p). The
// function is the gamma function's where b is infinite.
// reference: tests/test_densities.py
__device__ real mixture_component(int what, real a, real b, real p, real q)
{
    if (isinf(b)) return what < 0 ? log_gamma_p(a, p) : what > 0 ? log_gamma_q(a, p) : log_gamma_power(a, p) + log(a);
    return what < 0 ? log_beta_p(a, b, p, q) : what > 0 ? log_beta_p(b, a, q, p) : log_beta_power(a, b, p, q);
}

// The logarithm of the sum of the Poisson probabilities times mixture_component(what, a + j, b, p, q)
// reference: tests/test_densities.py
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
