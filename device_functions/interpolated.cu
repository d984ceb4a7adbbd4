// interpolated: a density that is linear between points, up to a factor given at these
// used for: a prior that is known at points: an earlier posterior, a histogram, an expert's opinion
// x: real    x_points: ordered, points    pdf_points: nonnegative vector, the density there up to a factor
// density: (pdf_points[i] * (1 - w) + pdf_points[i + 1] * w) / C if x_points[0] <= x <= x_points[dim - 1] else 0
// i = Sum(1 if x_points[j] <= x else 0, j, 1, dim - 2)    w = (x - x_points[i]) / (x_points[i + 1] - x_points[i])
// C = Sum((pdf_points[j] + pdf_points[j + 1]) / 2 * (x_points[j + 1] - x_points[j]), j, 0, dim - 2)
// source: Devroye (1986), Non-Uniform Random Variate Generation, ch. I.3
__device__ real area(const real *x_points, const real *pdf_points, int dim)
{
    real sum = 0;
    for (int i = 1; i < dim; i++) sum += 0.5 * (pdf_points[i - 1] + pdf_points[i]) * (x_points[i] - x_points[i - 1]);
    return sum > 0 && sum < INFINITY ? sum : NAN;
}

// The number of the interval in which x lies, that of the point before it.
__device__ int interval(real x, const real *x_points, int dim)
{
    int low = 0, high = dim - 1;
    for (int step = 0; step < 32 && high - low > 1; step++) {
        int middle = low + (high - low) / 2;
        if (x_points[middle] <= x) low = middle;
        else high = middle;
    }
    return low;
}

__device__ real interpolated_logpdf(real x, const real *x_points, const real *pdf_points, int dim)
{
    real total = area(x_points, pdf_points, dim);
    int i = interval(x, x_points, dim);
    real share = (x - x_points[i]) / (x_points[i + 1] - x_points[i]);
    real value = log(pdf_points[i] * (1 - share) + pdf_points[i + 1] * share) - log(total);
    return isnan(total) ? NAN : x < x_points[0] || x > x_points[dim - 1] ? -INFINITY : value;
}

// The area from a point on, where the density goes from `here` to `there` within a distance, over a part of that distance.
__device__ real part(real here, real there, real distance, real along)
{
    real share = along / distance;
    return along * (here * (1 - 0.5 * share) + there * (0.5 * share));
}

__device__ real interpolated_logcdf(real x, const real *x_points, const real *pdf_points, int dim)
{
    real sum = 0;
    for (int i = 1; i < dim; i++)
        if (x > x_points[i - 1])
            sum += part(pdf_points[i - 1], pdf_points[i], x_points[i] - x_points[i - 1],
                        fmin(x, x_points[i]) - x_points[i - 1]);
    return log(sum / area(x_points, pdf_points, dim));
}

__device__ real interpolated_logsf(real x, const real *x_points, const real *pdf_points, int dim)
{
    real sum = 0;
    for (int i = 1; i < dim; i++)
        if (x < x_points[i])
            sum += part(pdf_points[i], pdf_points[i - 1], x_points[i] - x_points[i - 1],
                        x_points[i] - fmax(x, x_points[i - 1]));
    return log(sum / area(x_points, pdf_points, dim));
}

// How far from a point an area is reached, where the density goes from `here` to `there` within a distance.
__device__ real reach(real here, real there, real distance, real wanted)
{
    real slope = (there - here) / distance;
    real root = sqrt(fmax(here * here + 2 * slope * wanted, (real)0));
    return wanted > 0 ? fmin(2 * wanted / (here + root), distance) : 0;
}

__device__ real interpolated_ppf(real q, const real *x_points, const real *pdf_points, int dim)
{
    real left = q * area(x_points, pdf_points, dim), value = NAN;
    for (int i = 1; i < dim; i++) {
        real distance = x_points[i] - x_points[i - 1], here = pdf_points[i - 1], there = pdf_points[i];
        real within = 0.5 * (here + there) * distance;
        if (isnan(value) && within > 0 && (left <= within || i == dim - 1))
            value = x_points[i - 1] + reach(here, there, distance, fmin(left, within));
        left -= within;
    }
    return isnan(value) ? x_points[dim - 1] : value;
}

__device__ real interpolated_isf(real q, const real *x_points, const real *pdf_points, int dim)
{
    real left = q * area(x_points, pdf_points, dim), value = NAN;
    for (int i = dim - 1; i > 0; i--) {
        real distance = x_points[i] - x_points[i - 1], here = pdf_points[i], there = pdf_points[i - 1];
        real within = 0.5 * (here + there) * distance;
        if (isnan(value) && within > 0 && (left <= within || i == 1))
            value = x_points[i] - reach(here, there, distance, fmin(left, within));
        left -= within;
    }
    return isnan(value) ? x_points[0] : value;
}

__device__ real interpolated_sample(rng_t *rng, const real *x_points, const real *pdf_points, int dim)
{
    return interpolated_ppf(uniform(rng), x_points, pdf_points, dim);
}

__device__ real interpolated_mean(const real *x_points, const real *pdf_points, int dim)
{
    real sum = 0;
    for (int i = 1; i < dim; i++) {
        real distance = x_points[i] - x_points[i - 1], here = pdf_points[i - 1], there = pdf_points[i];
        sum += distance * (0.5 * (here + there) * x_points[i - 1] + distance * (here + 2 * there) / 6);
    }
    return sum / area(x_points, pdf_points, dim);
}

__device__ real interpolated_var(const real *x_points, const real *pdf_points, int dim)
{
    real mean = interpolated_mean(x_points, pdf_points, dim), sum = 0;
    for (int i = 1; i < dim; i++) {
        real a = x_points[i - 1] - mean, b = x_points[i] - mean, here = pdf_points[i - 1], there = pdf_points[i];
        sum += (b - a) / 12 * (here * (3 * a * a + 2 * a * b + b * b) + there * (a * a + 2 * a * b + 3 * b * b));
    }
    return sum / area(x_points, pdf_points, dim);
}

__device__ real interpolated_mode(const real *x_points, const real *pdf_points, int dim)
{
    real most = 0, at = x_points[0];
    for (int i = 0; i < dim; i++)
        if (pdf_points[i] > most) {
            most = pdf_points[i];
            at = x_points[i];
        }
    return isnan(area(x_points, pdf_points, dim)) ? NAN : at;
}

__device__ real interpolated_lower(const real *x_points, const real *pdf_points, int dim) { return x_points[0]; }
__device__ real interpolated_upper(const real *x_points, const real *pdf_points, int dim) { return x_points[dim - 1]; }
