## The waic shape: for each row, the log of the mean density, and the variance of the log density, over all draws.
<%namespace name="over_threads" file="over_threads.mako"/>
<% each_draw = f"for (index_t s = THREAD; s < n_draws; s += {threads})" %>\
${over_threads.functions(threads)}\
// A block takes a row of log-likelihoods v of n_draws draws.
// out[row]: log density, variance, first draw whose v is not finite (n_draws: there is none).
KERNEL(${threads}) waic(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT terms, index_t terms_offset,
    index_t n_rows, index_t n_draws
)
{
    SHARED_ARRAY(double, parts, ${threads});
    for (index_t row = BLOCK_X; row < n_rows; row += BLOCKS_X) {
        GLOBAL const real *const v = terms + terms_offset + row * n_draws;
        double high = -INFINITY, strange = n_draws, mean = 0, variance = 0, density = 0;
        ${each_draw} {
            const double value = v[s];
            high = fmax(high, value);
            strange = fabs(value) < INFINITY ? strange : fmin(strange, (double)s);
        }
        high = greatest(parts, high);
        strange = least(parts, strange);
        ${each_draw}
            mean += v[s] - high;
        mean = total(parts, mean) / n_draws;
        ${each_draw} {
            const double apart = v[s] - high;
            density += exp(apart);
            variance += (apart - mean) * (apart - mean);
        }
        density = total(parts, density);
        variance = total(parts, variance);
        if (THREAD == 0) {
            GLOBAL double *const found = out + out_offset + 3 * row;
            found[0] = strange < n_draws ? NAN : high + log(density / n_draws);
            found[1] = strange < n_draws ? NAN : variance / n_draws;
            found[2] = strange;
        }
    }
}
