<%namespace name="packing" file="/elliptical/packing.mako"/>\
## What the whiten shape does for large matrices, where a provider of linear algebra factors and inverts: a kernel before that,
## and one after it.
##
## kind: as for the whiten shape.
## mirror: whether the whole matrix is wanted, else zeros above the diagonal.

// What is to be factored, for scale_tril to be inverted: the matrix in float64, for precision with its axes turned round; nan
// where it is no such matrix.
KERNEL(${threads}) whiten_take(
    GLOBAL double *taken, index_t taken_offset, GLOBAL const ${matrix_type} *RESTRICT matrices, index_t matrices_offset, int dim)
{
    const index_t size = (index_t)dim * dim;
    taken += taken_offset + BLOCK_X * size;
    matrices += matrices_offset + BLOCK_X * size;
    for (index_t e = BLOCK_Y * ${threads} + THREAD; e < size; e += BLOCKS_Y * ${threads}) {
        const index_t i = e / dim, j = e % dim;
% if kind == "precision":
        const double a = matrices[size - 1 - e], across = matrices[size - 1 - (j * dim + i)];
        const double scale = matrices[(dim - 1 - i) * (dim + 1)] * (double)matrices[(dim - 1 - j) * (dim + 1)];
% elif kind == "cov":
        const double a = matrices[e], across = matrices[j * dim + i];
        const double scale = matrices[i * (dim + 1)] * (double)matrices[j * (dim + 1)];
% else:
        const double a = matrices[e], across = matrices[j * dim + i];
% endif
% if kind == "scale_tril":
        const int sound = j > i || (fabs(a) < INFINITY && (j < i ? across == 0 : a > 0));
% else:
        const int sound = fabs(a - across) <= 1e-6 * sqrt(fabs(scale));  // symmetric, to what float32 can tell
% endif
        taken[e] = ${"" if mirror else "j > i ? 0 : "}sound ? a : NAN;
    }
}

// The packed W and log det cov, from the inverse of the factor, for precision from the factor. One block a matrix.
KERNEL(${threads}) whiten_pack(
    GLOBAL real *factors, index_t factors_offset, GLOBAL real *logdets, index_t logdets_offset,
    GLOBAL const double *RESTRICT made, index_t made_offset, GLOBAL const int *RESTRICT failed, index_t failed_offset,
    int dim, int factor_size)
{
    const index_t k = BLOCK_X;
    const int me = (int)THREAD;
    SHARED_ARRAY(double, sums, ${threads});
    made += made_offset + k * dim * dim;
    factors += factors_offset + k * factor_size;

    double sum = failed[failed_offset + k] ? NAN : 0;
    for (int i = 0, place = 0; i < dim; i += ${width}) {
        const int columns = ${packing.columns(width, products)};
        for (int e = me; e < columns * ${width}; e += ${threads}) {
            ${packing.place(width, products)}
            double value = 0;
            if (row < dim && j <= row) {
                value = made[${"(dim - 1 - j) * (index_t)dim + dim - 1 - row" if kind == "precision" else "row * (index_t)dim + j"}];
                if (row == j)
                    sum += value > 0 ? -2 * log(value) : NAN;
                else if (isnan(value))
                    sum = NAN;
            }
            factors[place + e] = (real)value;
        }
        place += columns * ${width};
    }
    sums[me] = sum;
    for (int width = ${threads // 2}; width > 0; width /= 2) {
        BARRIER();
        if (me < width)
            sums[me] += sums[me + width];
    }
    if (me == 0)
        logdets[logdets_offset + k] = (real)sums[0];
}
