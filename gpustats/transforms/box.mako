<%namespace name="confined" file="/transforms/confined.mako"/>\
// A multivariate normal distribution confined to a box: one element after another from a normal distribution, shifted and confined to
// what the elements before it leave of the box. The logarithm of a draw's weight is how much likelier it is than it is drawn, up to the
// largest such value; it is not positive.
//
// A thread has a draw, whose standardised elements stay with it; all threads read the same numbers at a time.
#define DIM ${dim}
${confined.function(codes)}
KERNEL(${layout.threads}) ${name}(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_draws, index_t key, index_t stream, index_t first_draw,
    GLOBAL const real *RESTRICT numbers, index_t numbers_offset, real largest)
{
    numbers += numbers_offset;
    GLOBAL const real *const factor = numbers, *const low = factor + DIM * DIM, *const high = low + DIM, *const tilt = high + DIM;
    GLOBAL const real *const mean = tilt + DIM, *const scale = mean + DIM, *const bounds = scale + DIM, *const places = bounds + 2 * DIM;
    out += out_offset;
    for (index_t i = BLOCK_Y * ${layout.threads} + THREAD; i < n_draws; i += BLOCKS_Y * ${layout.threads}) {
        real z[DIM], weight = 0;
        rng_t rng = rng_of(key, stream, first_draw + i);
        int accepted = 0;
        for (int attempt = 0; attempt < ${attempts} && !accepted; attempt++) {
            weight = 0;
            for (int k = 0; k < DIM; k++) {
                real before = 0;
                for (int j = 0; j < k; j++)
                    before += factor[k * DIM + j] * z[j];
                const real a = low[k] - before - tilt[k], b = high[k] - before - tilt[k];
                real log_mass;
                z[k] = tilt[k] + confined(rng_uniform(&rng), a, b, &log_mass);
                weight += log_mass + tilt[k] * (REAL(0.5) * tilt[k] - z[k]);
            }
            accepted = -exponential_of(rng_uniform(&rng)) <= weight - largest;
        }
        for (int k = 0; k < DIM; k++) {
            real sum = z[k];
            for (int j = 0; j < k; j++)
                sum += factor[k * DIM + j] * z[j];
            const real x = fmin(fmax(mean[k] + scale[k] * sum, bounds[2 * k]), bounds[2 * k + 1]);
            out[i * DIM + (index_t)places[k]] = accepted ? x : NAN;
        }
    }
}
