// kumaraswamy: a distribution like the beta distribution whose distribution function is 1 - (1 - x^a)^b
// x: unit    a: positive, shape at 0    b: positive, shape at 1
// source: Kumaraswamy (1980)
__device__ real kumaraswamy_logpdf(real x, real a, real b)
{
    return (log(a) + log(b)) + (a == 1 ? 0 : (a - 1) * log(x)) + (b == 1 ? 0 : (b - 1) * log1mexp(a * log(x)));
}
