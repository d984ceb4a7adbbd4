// von_mises: the von Mises distribution of an angle, in radians; periodic in x
// x: real    mu: real, mean direction    kappa: nonnegative, concentration
// source: Mardia & Jupp (2000), Directional Statistics, ch. 3
__device__ real von_mises_logpdf(real x, real mu, real kappa)
{
    // cos(x - mu) - 1 = -2 sin((x - mu) / 2)^2. The addition theorem needs no sine of each pair of x and mu, but is too
    // coarse for a sharp peak.
    real s = kappa > 200 ? sin(0.5 * (x - mu)) : sin(0.5 * x) * cos(0.5 * mu) - cos(0.5 * x) * sin(0.5 * mu);
    return isinf(x) ? -INFINITY : -(LOG_2PI + log_i0e(kappa)) - 2 * kappa * s * s;
}
