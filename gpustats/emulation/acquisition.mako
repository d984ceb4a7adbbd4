## Sums over r references of the changes that an observation at each of m candidates would make.
<%namespace name="totals" file="/processes/factor.mako"/>
// out[i]: the sum over references j of weight_j f(c_ij² / v_i), where c_ij is the covariance of candidate i and reference j
// given the data, and v_i the variance of an observation at the candidate, lift * prior_i + noise_i less the squares of its row.
% if code.function.results:
// In the place of c_ij comes -2 weight_j f' c_ij / v_i, and curve[i] is the sum over j of weight_j f' c_ij² / v_i².
% endif
KERNEL(${threads}) acquisition(
    GLOBAL real *RESTRICT out, index_t out_start, GLOBAL real *RESTRICT curve, index_t curve_start,
    GLOBAL real *RESTRICT cross, index_t cross_start, index_t cross_stride,
    GLOBAL const real *RESTRICT rows, index_t rows_start, index_t rows_stride,
    GLOBAL const real *RESTRICT prior, index_t prior_start, GLOBAL const real *RESTRICT noise, index_t noise_start,
    GLOBAL const real *RESTRICT weights, index_t weights_start, GLOBAL const real *RESTRICT gains, index_t gains_start,
    GLOBAL const real *RESTRICT spreads, index_t spreads_start, index_t n, index_t r, double lift, double scale2,
    ${code.parameters})
{
    SHARED_ARRAY(double, totals, ${threads});
    double squares = 0, sum = 0, bend = 0;
    for (index_t l = THREAD; l < n; l += ${threads}) {
        const double a = rows[rows_start + BLOCK_X * rows_stride + l];
        squares += a * a;
    }
${totals.add(["squares"])}
    const double variance = lift * prior[prior_start + BLOCK_X] + noise[noise_start + BLOCK_X] - squares;
    const double precision = variance > 0 ? 1 / variance : 0;  // what is known is not learned
% if code.set_type:
    const ${code.set_type} set = ${code.prepare_set("0")};
% endif
    cross += cross_start + BLOCK_X * cross_stride;
    for (index_t j = THREAD; j < r; j += ${threads}) {
        const double c = cross[j], weight = weights[weights_start + j];
        const real seen0 = scale2 * c * c * precision, seen1 = gains[gains_start + j], seen2 = spreads[spreads_start + j];
% if code.function.results:
        const ${code.function.type} result = ${code.evaluate("row_", "set", "0", "0")};
        const double slope = weight * scale2 * result.${slope} * c * precision;
        sum += weight * result.value;
        bend += slope * c * precision;
        cross[j] = -2 * slope;
% else:
        sum += weight * ${code.evaluate("row_", "set", "0", "0")};
% endif
    }
${totals.add(["sum", "bend"])}
    if (THREAD == 0) {
        out[out_start + BLOCK_X] = sum;
        curve[curve_start + BLOCK_X] = bend;
    }
}
