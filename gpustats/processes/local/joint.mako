## The local_joint shape: for each set of references their joint distribution, given a design. A block has a set at a time.
##
## The Cholesky factor L of the design's matrix K is continued to the responses and to the references:
##       K    y    k                  L                   mean        = w' u
##                         into       u' = (L^-1 y)'      y' K^-1 y   = u' u
##                                    w' = (L^-1 k)'      covariances = those of the process - w' w
<%
    threads = layout.threads
    memory, barrier = ("SHARED", "BARRIER();") if layout.in_shared else ("GLOBAL", "BARRIER_GLOBAL();")
%>\
#define N ${n}
#define DIM ${dim}
#define FACTOR(i, t) factor[(t) * ${n + 1} + (i)]  // row i, the last of which are the responses, in column t
#define LENGTHSCALE(e) d[d_offset + ${"set * DIM + (e)" if separable else "set"}]
${correlation}
KERNEL(${threads}) local_joint(
    GLOBAL real *RESTRICT means, index_t means_offset, GLOBAL real *RESTRICT covariances, index_t covariances_offset,
    GLOBAL const real *RESTRICT X, index_t X_offset, GLOBAL const real *RESTRICT y, index_t y_offset,
    GLOBAL const real *RESTRICT references, index_t references_offset, GLOBAL const int *RESTRICT designs, index_t designs_offset,
    GLOBAL const real *RESTRICT d, index_t d_offset, GLOBAL const real *RESTRICT g, index_t g_offset,
    GLOBAL real *scratch, index_t scratch_reals, index_t n_sets, int n_references, real noise)
{
    DYNAMIC_SHARED_ARRAY(real, shared, ${layout.shared});
    SHARED real *const points = shared;  // coordinate e of point i at [e][i]
    GLOBAL real *const rows = scratch + BLOCK_X * scratch_reals;  // w, entry t of reference r at [t][r]
    ${memory} real *const factor = ${f"points + {n * dim}" if layout.in_shared else "rows + (index_t)N * n_references"};
    index_t set = BLOCK_X;
    do {
        BARRIER_GLOBAL();
        GLOBAL const int *const design = designs + designs_offset + set * N;
        GLOBAL const real *const here = references + references_offset + set * n_references * DIM;
        for (int i = (int)THREAD; i < N; i += ${threads}) {
            const index_t point = design[i];
            for (int e = 0; e < DIM; e++)
                points[e * N + i] = point < 0 ? NAN : X[X_offset + point * DIM + e];
        }
        ${barrier}
        for (int k = 0; k < N; k++) {
            // All threads need the pivot: each computes it from the entries before it.
            real pivot = 1 + g[g_offset + set];
            for (int t = 0; t < k; t++)
                pivot = fma(-FACTOR(k, t), FACTOR(k, t), pivot);
            const real scale = 1 / sqrt(pivot);  // nan where the matrix is not positive definite
            for (int i = k + (int)THREAD; i <= N; i += ${threads}) {
                real entry = pivot;
                if (i > k) {
                    if (i < N) {
                        real r2 = 0;
                        for (int e = 0; e < DIM; e++) {
                            const real from = points[e * N + i] - points[e * N + k];
                            r2 += from * from / LENGTHSCALE(e);
                        }
                        entry = correlation(r2);
                    } else
                        entry = design[k] < 0 ? NAN : y[y_offset + design[k]];
                    for (int t = 0; t < k; t++)
                        entry = fma(-FACTOR(i, t), FACTOR(k, t), entry);
                }
                FACTOR(i, k) = entry * scale;
            }
            ${barrier}
        }
        real psi = 0;
        for (int t = 0; t < N; t++)
            psi = fma(FACTOR(N, t), FACTOR(N, t), psi);
        for (int r = (int)THREAD; r < n_references; r += ${threads}) {
            real mean = 0;
            for (int k = 0; k < N; k++) {
                real r2 = 0;
                for (int e = 0; e < DIM; e++) {
                    const real from = here[r * (index_t)DIM + e] - points[e * N + k];
                    r2 += from * from / LENGTHSCALE(e);
                }
                real entry = correlation(r2);
                for (int t = 0; t < k; t++)
                    entry = fma(-FACTOR(k, t), rows[(index_t)t * n_references + r], entry);
                entry /= FACTOR(k, k);
                rows[(index_t)k * n_references + r] = entry;
                mean = fma(entry, FACTOR(N, k), mean);
            }
            means[means_offset + set * n_references + r] = mean;
        }
        BARRIER_GLOBAL();
        for (index_t r = 0; r < n_references; r++)
            for (index_t q = THREAD; q < n_references; q += ${threads}) {
                real r2 = 0;
                for (int e = 0; e < DIM; e++) {
                    const real from = here[r * DIM + e] - here[q * DIM + e];
                    r2 += from * from / LENGTHSCALE(e);
                }
                real covariance = correlation(r2) + (r == q ? noise * g[g_offset + set] : 0);
                for (index_t t = 0; t < N; t++)
                    covariance = fma(-rows[t * n_references + r], rows[t * n_references + q], covariance);
                if (r == q)
                    covariance = covariance < 0 ? 0 : covariance;  // by rounding
                covariances[covariances_offset + (set * n_references + r) * n_references + q] = covariance * psi / N;
            }
    } while ((set += BLOCKS_X) < n_sets);
}
