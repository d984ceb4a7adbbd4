## Numbers and rows from a factorised covariance matrix K = l l'. A block adds in float64, in a fixed order.
<%def name="add(names)">\
% for name in names:
    totals[THREAD] = ${name};
    for (int span = ${threads // 2}; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    BARRIER();
    ${name} = totals[0];
    BARRIER();
% endfor
</%def>
// out: the order of the first leading minor that is not positive definite, or 0; log |K|; z'z; what alpha alpha' counts in the
// derivative in K: n / z'z where a scale is integrated out, else 1. A block for each matrix of a batch.
KERNEL(${threads}) marginal_summary(
    GLOBAL double *RESTRICT out, index_t out_start, GLOBAL const int *RESTRICT info, index_t info_start,
    GLOBAL const real *RESTRICT factor, index_t factor_start, index_t factor_batch, index_t stride,
    GLOBAL const real *RESTRICT z, index_t z_start, index_t z_batch, index_t n, int scaled)
{
    SHARED_ARRAY(double, totals, ${threads});
    out += BLOCK_X * 4;
    info += BLOCK_X;
    factor += BLOCK_X * factor_batch;
    z += BLOCK_X * z_batch;
    double logarithms = 0, squares = 0;
    for (index_t i = THREAD; i < n; i += ${threads}) {
        const double a = z[z_start + i];
        logarithms += log((double)factor[factor_start + i * (stride + 1)]);
        squares += a * a;
    }
${add(["logarithms", "squares"])}
    if (THREAD == 0) {
        out[out_start] = info[info_start];
        out[out_start + 1] = 2 * logarithms;
        out[out_start + 2] = squares;
        out[out_start + 3] = scaled ? n / squares : 1;
    }
}

// A block has a point: row v of k(xs, x) l'^-1. The mean gets v'z added; the squared scale is factor (prior - v'v + noise).
KERNEL(${threads}) marginal_prediction(
    GLOBAL real *RESTRICT mean, index_t mean_start, GLOBAL real *RESTRICT scale, index_t scale_start,
    GLOBAL const real *RESTRICT prior, index_t prior_start, GLOBAL const real *RESTRICT noise, index_t noise_start,
    GLOBAL const real *RESTRICT rows, index_t rows_start, index_t stride, GLOBAL const real *RESTRICT z, index_t z_start,
    index_t n, double factor)
{
    SHARED_ARRAY(double, totals, ${threads});
    double product = 0, squares = 0;
    for (index_t i = THREAD; i < n; i += ${threads}) {
        const double a = rows[rows_start + BLOCK_X * stride + i];
        product += a * z[z_start + i];
        squares += a * a;
    }
${add(["product", "squares"])}
    if (THREAD == 0) {
        const double left = prior[prior_start + BLOCK_X] - squares;  // below 0 by rounding alone
        mean[mean_start + BLOCK_X] += product;
        scale[scale_start + BLOCK_X] = sqrt(factor * ((left < 0 ? 0 : left) + noise[noise_start + BLOCK_X]));
    }
}

// A block has row i of rows, n numbers, which becomes times[i] of it and more[i] of z.
KERNEL(${threads}) marginal_weights(
    GLOBAL real *RESTRICT rows, index_t rows_start, index_t stride, GLOBAL const real *RESTRICT z, index_t z_start,
    GLOBAL const real *RESTRICT times, index_t times_start, GLOBAL const real *RESTRICT more, index_t more_start, index_t n)
{
    const real a = times[times_start + BLOCK_X], b = more[more_start + BLOCK_X];
    rows += rows_start + BLOCK_X * stride;
    for (index_t i = THREAD; i < n; i += ${threads})
        rows[i] = a * rows[i] + b * z[z_start + i];
}

// A block has row i of two matrices: out[i] is their scalar product.
KERNEL(${threads}) marginal_products(
    GLOBAL double *RESTRICT out, index_t out_start, GLOBAL const real *RESTRICT rows, index_t rows_start, index_t stride,
    GLOBAL const real *RESTRICT others, index_t others_start, index_t others_stride, index_t n)
{
    SHARED_ARRAY(double, totals, ${threads});
    double product = 0;
    for (index_t i = THREAD; i < n; i += ${threads}) {
        const double a = rows[rows_start + BLOCK_X * stride + i];
        product += a * others[others_start + BLOCK_X * others_stride + i];
    }
${add(["product"])}
    if (THREAD == 0)
        out[out_start + BLOCK_X] = product;
}
