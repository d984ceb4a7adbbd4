<%namespace name="packing" file="/elliptical/packing.mako"/>\
## The whiten shape: for each covariance matrix the lower-triangular W with |W y|^2 = y' cov^-1 y, packed as the elliptical shape
## uses it, and log det cov; nan for a matrix that is none. One block a matrix, in float64, in shared memory while it fits.
##
## kind: cov (W = inverse of the Cholesky factor), scale_tril (inverse of the matrix), precision (W = the transposed Cholesky
## factor of the matrix with its axes turned round, turned round again). The factor is kept without its square roots, as
## lower = factor  *  diag(factor), so that a step of the elimination needs one barrier only.
KERNEL(${threads}) whiten(
    GLOBAL real *factors, index_t factors_offset, GLOBAL real *logdets, index_t logdets_offset, GLOBAL double *work,
    GLOBAL const ${matrix_type} *RESTRICT matrices, index_t matrices_offset, int dim, int factor_size)
{
    const index_t k = BLOCK_X;
    const int pad = dim | 1;  // so that the threads of a column do not meet in a bank
    const int me = (int)THREAD, my_row = me / ${lanes}, my_column = me % ${lanes};
    GLOBAL const ${matrix_type} *matrix = matrices + matrices_offset + k * dim * dim;
% if shared:
    DYNAMIC_SHARED_ARRAY(double, shared_work, ${shared});
    SHARED double *const lower = shared_work, *const inverse = shared_work + dim * pad;
% else:
    GLOBAL double *const lower = work + k * 2 * dim * pad, *const inverse = lower + dim * pad;
% endif
    SHARED_ARRAY(int, wrong, ${threads});
    SHARED_ARRAY(double, sums, ${threads});

    SHARED_ARRAY(double, scales, 2);  // the inverse of a step's pivot, and that of the next one's

    wrong[me] = 0;
    for (int e = me; e < dim * dim; e += ${threads}) {
        const int i = e / dim, j = e % dim;
% if kind == "precision":
        const double a = matrix[dim * dim - 1 - e], across = matrix[dim * dim - 1 - (j * dim + i)];
        const double scale = matrix[(dim - 1 - i) * (dim + 1)] * (double)matrix[(dim - 1 - j) * (dim + 1)];
% else:
        const double a = matrix[e], across = matrix[j * dim + i];
        const double scale = matrix[i * (dim + 1)] * (double)matrix[j * (dim + 1)];
% endif
        lower[i * pad + j] = a;
        inverse[i * pad + j] = i == j;
% if kind == "scale_tril":
        if (j > i ? a != 0 : !(fabs(a) < INFINITY))
            wrong[me] = 1;
% else:
        if (!(fabs(a - across) <= 1e-6 * sqrt(fabs(scale))))  // not symmetric, to what float32 can tell
            wrong[me] = 1;
% endif
    }

    BARRIER_GLOBAL();
    if (me == 0) {
        scales[0] = 1 / lower[0];
        wrong[0] = wrong[0] || !(lower[0] > 0);
    }
    for (int j = 0; j < dim; j++) {
        BARRIER_GLOBAL();
        const double scale = scales[j % 2];
% if single:
        // Cholesky: what column j takes from those behind it; inverse: what row j takes from those below it
        const int behind = my_column > j, mine = ${{"cov": "my_column < dim", "scale_tril": "!behind", "precision": "behind && my_column < dim"}[kind]};
        ${"SHARED" if shared else "GLOBAL"} double *const to = (behind ? lower : inverse) + my_column;
        const double taken = mine ? (behind ? lower[my_column * pad + j] : inverse[j * pad + my_column]) : 0;
        UNROLL_BY_4 for (int i = j + 1 + my_row; i < dim; i += ${threads // lanes})
            if (mine && my_column <= i)
                to[i * pad] -= lower[i * pad + j] * scale * taken;
% else:
        UNROLL_BY_4 for (int i = j + 1 + my_row; i < dim; i += ${threads // lanes}) {
            const double ratio = lower[i * pad + j] * scale;
% if kind != "scale_tril":
            // Cholesky: what column j takes from those behind it
            for (int m = j + 1 + my_column; m <= i; m += ${lanes})
                lower[i * pad + m] -= ratio * lower[m * pad + j];
% endif
% if kind != "precision":
            // inverse: what row j takes from those below it
            for (int c = my_column; c <= j; c += ${lanes})
                inverse[i * pad + c] -= ratio * inverse[j * pad + c];
% endif
        }
% endif
        if (j + 1 < dim && my_row == 0 && my_column == ${"j + 1" if single else "0"}) {  // the thread that has the next pivot
            const double pivot = lower[(j + 1) * (pad + 1)];
            scales[(j + 1) % 2] = 1 / pivot;
            if (!(pivot > 0))
                wrong[me] = 1;
        }
    }
    BARRIER_GLOBAL();

    for (int i = 0, place = 0; i < dim; i += ${width}) {
        const int columns = ${packing.columns(width, products)};
        for (int e = me; e < columns * ${width}; e += ${threads}) {
            ${packing.place(width, products)}
            double value = 0;
            if (row < dim && j <= row)
% if kind == "precision":
                value = lower[(dim - 1 - j) * pad + dim - 1 - row] / sqrt(lower[(dim - 1 - row) * (pad + 1)]);
% else:
                value = inverse[row * pad + j] / ${"lower[row * (pad + 1)]" if kind == "scale_tril" else "sqrt(lower[row * (pad + 1)])"};
% endif
            factors[factors_offset + k * factor_size + place + e] = (real)value;
        }
        place += columns * ${width};
    }
    double sum = wrong[me] ? NAN : 0;
    for (int i = me; i < dim; i += ${threads})
        sum += ${"2 * " if kind == "scale_tril" else ""}log(lower[i * (pad + 1)]);
    sums[me] = sum;
    for (int width = ${threads // 2}; width > 0; width /= 2) {
        BARRIER();
        if (me < width)
            sums[me] += sums[me + width];
    }
    if (me == 0)
        logdets[logdets_offset + k] = (real)${"-sums[0]" if kind == "precision" else "sums[0]"};
}
