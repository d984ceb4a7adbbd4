<%namespace name="logsumexp" file="/kernels/logsumexp.mako"/>
${logsumexp.functions(())}
// Each row of a table becomes exp(row) / sum(exp(row)), in place: ${layout.lanes} threads a row. A row of -inf alone becomes nan.
KERNEL(${layout.threads}) softmax(GLOBAL real *table, index_t offset, index_t n_rows, index_t n_columns)
{
    SHARED_ARRAY(mixture_t, parts, ${layout.threads});
    const int lane = (int)(THREAD % ${layout.lanes});
    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_rows; first += BLOCKS_Y * ${layout.tile}) {
        const index_t n = first + THREAD / ${layout.lanes};
        const index_t columns_here = n < n_rows ? n_columns : 0;
        GLOBAL real *const row = table + offset + n * n_columns;
        mixture_t mixture = mixture_of_none();
        for (index_t k = lane; k < columns_here; k += ${layout.lanes})
            mixture_add(&mixture, row[k]);
        parts[THREAD] = mixture;
        for (int width = ${layout.lanes // 2}; width > 0; width /= 2) {
            BARRIER();
            if (lane < width) {
                const mixture_t other = parts[THREAD + width];
                const int larger = other.high > mixture.high;
                const real apart = exp(other.high == mixture.high ? 0 : -fabs(other.high - mixture.high));
                mixture.sum = larger ? mixture.sum * apart + other.sum : mixture.sum + other.sum * apart;
                mixture.high = larger ? other.high : mixture.high;
                parts[THREAD] = mixture;
            }
        }
        BARRIER();
        mixture = parts[THREAD - lane];
        const real scale = mixture.high > -INFINITY ? 1 / mixture.sum : NAN;
        for (index_t k = lane; k < columns_here; k += ${layout.lanes})
            row[k] = exp(row[k] == mixture.high ? 0 : row[k] - mixture.high) * scale;
        BARRIER();  // before the next rows' parts
    }
}
