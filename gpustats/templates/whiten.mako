## The whiten shape: for each covariance matrix the lower-triangular W with |W y|² = y' cov⁻¹ y, packed as the elliptical shape
## uses it, and log det cov; nan for a matrix that is none. One block a matrix, in float64, in global memory of its own.
##
## kind: cov (W = inverse of the Cholesky factor), scale_tril (inverse of the matrix), precision (W = the transposed Cholesky
## factor of the matrix with its axes turned round, turned round again).
KERNEL(${threads}) whiten(
    GLOBAL real *factors, index_t factors_offset, GLOBAL real *logdets, index_t logdets_offset,
    GLOBAL double *RESTRICT work, GLOBAL const ${matrix_type} *RESTRICT matrices, index_t matrices_offset, int dim, int factor_size)
{
    const index_t k = BLOCK_X;
    const int me = (int)THREAD;
    GLOBAL const ${matrix_type} *matrix = matrices + matrices_offset + k * dim * dim;
    GLOBAL double *lower = work + k * 2 * dim * dim, *inverse = lower + dim * dim;
    SHARED_ARRAY(double, pivot, 1);
    SHARED_ARRAY(int, wrong, ${threads});

    wrong[me] = 0;
    for (int e = me; e < dim * dim; e += ${threads}) {
        const int i = e / dim, j = e % dim;
        const double a = ${"matrix[dim * dim - 1 - e]" if kind == "precision" else "matrix[e]"};
        lower[e] = a;
        inverse[e] = 0;
% if kind == "scale_tril":
        if (j > i ? a != 0 : j == i ? !(a > 0) : a != a)
            wrong[me] = 1;
% else:
        const double across = ${"matrix[dim * dim - 1 - (j * dim + i)]" if kind == "precision" else "matrix[j * dim + i]"};
        const int turned_i = ${"dim - 1 - i" if kind == "precision" else "i"}, turned_j = ${"dim - 1 - j" if kind == "precision" else "j"};
        const double scale = sqrt(fabs((double)matrix[turned_i * (dim + 1)] * (double)matrix[turned_j * (dim + 1)]));
        if (!(fabs(a - across) <= 1e-6 * scale))
            wrong[me] = 1;  // not symmetric, to what float32 can tell
% endif
    }
    BARRIER_GLOBAL();

% if kind != "scale_tril":
    for (int j = 0; j < dim; j++) {  // Cholesky, a column at a time
        for (int i = j + me; i < dim; i += ${threads}) {
            double sum = lower[i * dim + j];
            for (int m = 0; m < j; m++)
                sum -= lower[i * dim + m] * lower[j * dim + m];
            lower[i * dim + j] = sum;
            if (i == j)
                pivot[0] = sum;
        }
        BARRIER_GLOBAL();
        const double root = sqrt(pivot[0]);
        if (me == 0 && !(pivot[0] > 0))
            wrong[0] = 1;
        for (int i = j + me; i < dim; i += ${threads})
            lower[i * dim + j] = i == j ? root : lower[i * dim + j] / root;
        BARRIER_GLOBAL();
    }

% endif
% if kind == "precision":
    for (int e = me; e < dim * dim; e += ${threads}) {
        const int i = e / dim, j = e % dim;
        if (j <= i)
            inverse[e] = lower[(dim - 1 - j) * dim + dim - 1 - i];
    }
% else:
    for (int c = me; c < dim; c += ${threads})  // inverse: each thread solves for columns of its own
        for (int i = c; i < dim; i++) {
            double sum = i == c;
            for (int m = c; m < i; m++)
                sum -= lower[i * dim + m] * inverse[m * dim + c];
            inverse[i * dim + c] = sum / lower[i * dim + i];
        }
% endif
    BARRIER_GLOBAL();

    int bad = 0;
    for (int t = 0; t < ${threads}; t++)
        bad |= wrong[t];
    for (int i = 0, place = 0; i < dim; i += ${width}) {
        const int columns = MIN(i + ${width}, dim);
        for (int e = me; e < columns * ${width}; e += ${threads}) {
            const int j = e / ${width}, row = i + e % ${width};
            factors[factors_offset + k * factor_size + place + e] = row < dim && j <= row ? (real)inverse[row * dim + j] : 0;
        }
        place += columns * ${width};
    }
    if (me == 0) {
        double sum = bad ? NAN : 0;
        for (int i = 0; i < dim; i++)
            sum -= 2 * log(inverse[i * (dim + 1)]);
        logdets[logdets_offset + k] = (real)sum;
    }
}
