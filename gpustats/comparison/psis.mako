## The psis shape: for each row, the expected log density without the row, by Pareto-smoothed importance sampling.
<%namespace name="over_threads" file="over_threads.mako"/>
<%
    wait = "BARRIER();" if in_shared else "BARRIER_GLOBAL();"
    space = "SHARED" if in_shared else "GLOBAL"
    each = lambda i, n: f"for (int {i} = (int)THREAD; {i} < {n}; {i} += {threads})"
    each_draw = f"for (index_t s = THREAD; s < n_draws; s += {threads})"
%>\
${over_threads.functions(threads)}\
// A block takes a row of log-likelihoods v of n_draws draws. With y = v - min(v), the ratio of a draw's weight and the largest
// is exp(-y). The n_tail + 1 smallest y are told from the others by a threshold, found by bisection, below which are more than
// n_tail and at most ${capacity}; they are sorted, and a generalised Pareto distribution is fitted to exp(-y) - exp(-cut),
// where cut is the last of them (Zhang & Stephens 2009). Its quantiles take their places (Vehtari et al. 2024). All draws that
// are not in the tail have the same product of weight and likelihood.
// out[row]: log density without the row, Pareto k, log density with it, first draw whose v is not finite, else n_draws.
KERNEL(${threads}) psis(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT terms, index_t terms_offset,
    index_t n_rows, index_t n_draws, int n_tail${"" if in_shared else ", GLOBAL double *tails"}
)
{
    SHARED_ARRAY(double, parts, ${threads});
    SHARED_ARRAY(double, scores, ${scores});
% if in_shared:
    DYNAMIC_SHARED_ARRAY(double, tail, ${2 * capacity});
% else:
    GLOBAL double *const tail = tails + BLOCK_X * ${2 * capacity};
% endif
    ${space} double *const excess = tail + ${capacity};
    for (index_t row = BLOCK_X; row < n_rows; row += BLOCKS_X) {
        GLOBAL const real *const v = terms + terms_offset + row * n_draws;
        GLOBAL double *const found = out + out_offset + 4 * row;

        double low = INFINITY, high = -INFINITY, strange = n_draws;
        ${each_draw} {
            const double value = v[s];
            low = fmin(low, value);
            high = fmax(high, value);
            strange = fabs(value) < INFINITY ? strange : fmin(strange, (double)s);
        }
        strange = least(parts, strange);
        if (strange < n_draws) {
            if (THREAD == 0) {
                found[0] = found[1] = found[2] = NAN;
                found[3] = strange;
            }
            continue;
        }
        low = least(parts, low);
        high = greatest(parts, high);

        // As many y are below `at` as there is room for. If none has that many below it, many are equal: `at` is one of them.
        const double span = high - low;
        double from = 0, to = span, at = n_draws <= ${capacity} ? INFINITY : span, below = 0, own = 0;
        int equal = 0;
        for (int step = 0; !equal; step++) {
            own = 0;
            ${each_draw}
                own += v[s] - low < at ? 1 : 0;
            below = total(parts, own);
            if (below > n_tail && below <= ${capacity})
                break;
            if (below <= n_tail)
                from = at;
            else
                to = at;
            double middle = from + (to - from) / 2;
            if (step > 16 && step % 2) {  // they are of very different size
                const double between = sqrt(fmax(from, ${tiny})) * sqrt(to);
                middle = between > from && between < to ? between : middle;
            }
            equal = !(middle > from && middle < to);
            at = equal ? from : middle;
        }
        if (equal) {
            own = 0;
            ${each_draw}
                own += v[s] - low < at ? 1 : 0;
            below = total(parts, own);
        }

        parts[THREAD] = own;
        BARRIER();
        int place = 0;
        for (int t = 0; t < THREAD; t++)
            place += (int)parts[t];
        ${each_draw} {
            const double y = v[s] - low;
            if (y < at)
                tail[place++] = y;
        }
        for (int i = (int)below + (int)THREAD; i < ${capacity}; i += ${threads})
            tail[i] = equal ? at : INFINITY;
        ${wait}
        for (int size = 2; size <= ${capacity}; size *= 2)
            for (int stride = size / 2; stride > 0; stride /= 2) {
                ${each("i", capacity // 2)} {
                    const int first = 2 * i - (i & (stride - 1));
                    const double a = tail[first], b = tail[first + stride];
                    const int upwards = (first & size) == 0;
                    tail[first] = upwards ? fmin(a, b) : fmax(a, b);
                    tail[first + stride] = upwards ? fmax(a, b) : fmin(a, b);
                }
                ${wait}
            }

% if strict:
        const double cut = fmin(tail[n_tail], ${-log_tiny});
% else:
        const double cut = tail[n_tail];
% endif
        const double least_weight = exp(-cut);
        own = 0;
        ${each("i", "n_tail")}
            own += tail[i] < cut ? 1 : 0;
        below = total(parts, own);
        const int length = ${"(int)below" if strict else "n_tail"};
        ${each("i", "length")}
            excess[length - 1 - i] = exp(-tail[i]) - least_weight;
        ${wait}

        double k = INFINITY, sigma = 0;
        if (length > 4) {
            const int candidates = 30 + (int)sqrt((double)length);
            const double quartile = 3 * excess[(int)(length / 4.0 + 0.5) - 1], largest = excess[length - 1];
% if not strict:
            const int equal_quarter = quartile <= 3 * excess[0];
% endif
            ${each("i", "candidates")} {
                const double b = (1 - sqrt(candidates / (i + 0.5))) / quartile + 1 / largest;
                double mean = 0;
                int j = 0;
                if (largest < 1e70 * quartile)  // products of four are finite; their logarithm takes as long as that of one
                    for (; j + 4 <= length; j += 4)
                        mean += log((1 - b * excess[j]) * (1 - b * excess[j + 1])
                                    * ((1 - b * excess[j + 2]) * (1 - b * excess[j + 3])));
                for (; j < length; j++)
                    mean += log1p(-b * excess[j]);
                mean /= length;
                scores[i] = length * (log(-b / mean) - mean - 1);
            }
            BARRIER();
            double best = -INFINITY, sum = 0, b = 0, weights = 0;
            ${each("i", "candidates")}
                best = fmax(best, scores[i]);
            best = greatest(parts, best);
            ${each("i", "candidates")}
                sum += exp(scores[i] - best);
            sum = total(parts, sum);
            ${each("i", "candidates")} {
                const double weight = exp(scores[i] - best) / sum;
                if (weight >= ${least_share}) {
                    weights += weight;
                    b += weight * ((1 - sqrt(candidates / (i + 0.5))) / quartile + 1 / largest);
                }
            }
            weights = total(parts, weights);
            b = total(parts, b) / weights;
            double mean = 0;
            ${each("i", "length")}
                mean += log1p(-b * excess[i]);
            mean = total(parts, mean) / length;
            sigma = -mean / b;
            k = (length * mean + 5) / (length + 10);
            if (!(sigma > 0 && fabs(k) < INFINITY)) {  // the tail is all but constant
                k = INFINITY;
                sigma = 0;
            }
% if not strict:
            if (equal_quarter) {
                k = NAN;
                sigma = 0;
            }
% endif
        }

% if not in_shared:
        ${wait}  // `excess` has been read
% endif
        double top = 0, weights = 0, products = 0, body = 0, density = 0;
        ${each("i", "length")} {
            const double p = (i + 0.5) / length, y = tail[length - 1 - i];
            double weight = exp(-y), product = 0;
            if (sigma > 0) {
                const double quantile = fabs(k) < ${epsilon} ? -log1p(-p) : expm1(-k * log1p(-p)) / k;
                weight = fmin(sigma * quantile + least_weight, 1.0);
                product = log(weight) + y;
            }
            weights += weight;
            excess[i] = product;
            top = fmax(top, product);
        }
        top = greatest(parts, top);
        ${each("i", "length")}
            products += exp(excess[i] - top);
        if (span < ${most_span}) {  // one exponential of a draw tells its density and its weight
            const double lowest = exp(-span);
            ${each_draw} {
                const double likelihood = exp(v[s] - high);
                body += v[s] - low < cut ? 0 : lowest / likelihood;
                density += likelihood;
            }
        } else
            ${each_draw} {
                const double y = v[s] - low;
                body += y < cut ? 0 : exp(-y);
                density += exp(v[s] - high);
            }
        products = total(parts, products) + (n_draws - length) * exp(-top);
        weights = total(parts, weights) + (total(parts, body) - (length - below) * least_weight);
        density = total(parts, density);
        if (THREAD == 0) {
            found[0] = low + top + log(products) - log(weights);
            found[1] = k;
            found[2] = high + log(density / n_draws);
            found[3] = n_draws;
        }
        ${wait}  // before the next row's tail
    }
}
