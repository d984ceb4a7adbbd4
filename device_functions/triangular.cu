// triangular: density that rises linearly from lower to c and falls linearly from c to upper
// x: real    lower: real, lower bound    c: real, mode    upper: real, upper bound
// source: Kotz & van Dorp (2004), Beyond Beta, ch. 1
__device__ real triangular_logpdf(real x, real lower, real c, real upper)
{
    if (!(lower <= c && c <= upper && lower < upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    real height = x < c || c == upper ? (x - lower) * (1 / (c - lower)) : (upper - x) * (1 / (upper - c));
    return log(2 / (upper - lower)) + log(height);
}
