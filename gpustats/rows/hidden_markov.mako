## Forward algorithm of a hidden Markov model, with the probabilities of the states scaled at each step; behind it the most likely path
## and the smoothed probabilities, which go back through the steps.
<%
    each = range(k)
    outputs = ["real *path", *(f"real *{what}_{i}" for what in ("filtered", "smoothed") for i in each), "rng_t *rng"]
    outputs += ["real *drawn_state", *(["real *simulated"] if samples else [])]
%>\
// ${name}: ${k} hidden states of a Markov chain, each with numbers of its own from ${density}
% for parameter, domain in domains.items():
// ${parameter}: ${domain}
% endfor
// path: vector, states of the most likely path, from 0
% for i in each:
// filtered_${i}: vector, probability of state ${i} given the numbers so far    smoothed_${i}: vector, the same given all numbers
% endfor
// drawn_state: vector, draw of the states given all numbers${"    simulated: vector, draw of the numbers from the model" if samples else ""}
// source: Rabiner (1989), A tutorial on hidden Markov models, with the scaling of sec. V.A
__device__ real ${name}(
    const real *y, int n, ${", ".join(f"real {p}" for p in parameters)}, ${", ".join(outputs)})
{
    real state[${k}], density[${k}], move[${k}][${k}], odds[${k}], total = 0, loglik = 0;
    real log_move[${k}][${k}], score[${k}], reached[${k}] = {0};  // of the most likely paths to the states
% for i in each:
    // from state ${i}: odds of each state to that of staying
% for j in each:
    odds[${j}] = ${"1" if i == j else f"exp(log_odds_{i}_{j})"};
% endfor
    total = 0;
    for (int j = 0; j < ${k}; j++)
        total += odds[j];
    for (int j = 0; j < ${k}; j++) {
        move[${i}][j] = odds[j] / total;
        log_move[${i}][j] = log(move[${i}][j]);
    }
% endfor
    for (int i = 0; i < ${k}; i++) {
        state[i] = ${repr(1 / k)};
        score[i] = 0;
    }
    for (int t = 0; t < n; t++) {
        if (t > 0) {
            for (int j = 0; j < ${k}; j++) {
                reached[j] = -INFINITY;
                for (int i = 0; i < ${k}; i++)
                    reached[j] = fmax(reached[j], score[i] + log_move[i][j]);
            }
            for (int j = 0; j < ${k}; j++)
                score[j] = reached[j];
        }
        if (!isnan(y[t])) {
            int inside = ${inside};
% for i in each:
            density[${i}] = inside ? ${density}_${ending}(y[t]${"".join(f", {p}" for p in of_state[i])}) : -INFINITY;
% endfor
            real top = -1e30;
            for (int i = 0; i < ${k}; i++)
                top = fmax(top, stop_gradient(density[i]));
            real sum = 0;
            for (int i = 0; i < ${k}; i++) {
                state[i] *= exp(density[i] - top);
                sum += state[i];
            }
            real scale = sum > 0 ? 1 / sum : 0;
            for (int i = 0; i < ${k}; i++)
                state[i] *= scale;
            loglik += log(sum) + top;
            for (int i = 0; i < ${k}; i++)
                score[i] += density[i] - top;
        }
% for i in each:
        filtered_${i}[t] = state[${i}];
        smoothed_${i}[t] = score[${i}];  // kept for the way back
% endfor
        for (int j = 0; j < ${k}; j++) {
            density[j] = 0;
            for (int i = 0; i < ${k}; i++)
                density[j] += state[i] * move[i][j];
        }
        for (int j = 0; j < ${k}; j++)
            state[j] = density[j];
    }
    int now = 0;
    real after[${k}] = {0};  // smoothed probabilities of the step behind
    for (int t = n - 1; t >= 0; t--) {
% for i in each:
        score[${i}] = smoothed_${i}[t];
% endfor
        int best = 0;
        real most = -INFINITY;
        for (int i = 0; i < ${k}; i++) {
            real way = 0, s = 0;
            for (int j = 0; j < ${k}; j++)
                way = j == now ? log_move[i][j] : way;
            s = score[i] + (t < n - 1 ? way : 0);
            best = s > most ? i : best;
            most = fmax(s, most);
        }
        now = best;
        path[t] = now;
% for i in each:
        state[${i}] = filtered_${i}[t];
% endfor
        if (t < n - 1) {
            for (int j = 0; j < ${k}; j++) {
                real next = 0;
                for (int i = 0; i < ${k}; i++)
                    next += state[i] * move[i][j];
                odds[j] = next > 0 ? after[j] / next : 0;
            }
            for (int i = 0; i < ${k}; i++) {
                real behind = 0;
                for (int j = 0; j < ${k}; j++)
                    behind += move[i][j] * odds[j];
                state[i] *= behind;
            }
        }
        for (int i = 0; i < ${k}; i++)
            after[i] = state[i];
% for i in each:
        smoothed_${i}[t] = state[${i}];
% endfor
    }
    int drawn = 0;
    real ways[${k}];
    for (int t = n - 1; t >= 0; t--) {
% for i in each:
        state[${i}] = filtered_${i}[t];
% endfor
        real whole = 0, below = 0, u = uniform(rng);
        for (int i = 0; i < ${k}; i++) {
            real way = 0;
            for (int j = 0; j < ${k}; j++)
                way = j == drawn ? move[i][j] : way;
            ways[i] = state[i] * (t < n - 1 ? way : 1);
            whole += ways[i];
        }
        drawn = 0;
        for (int i = 0; i < ${k - 1}; i++) {
            below += ways[i];
            drawn += u * whole > below;
        }
        drawn_state[t] = drawn;
    }
% if samples:
    int here = (int)(${k} * uniform(rng));
    for (int t = 0; t < n; t++) {
        real below = 0, x = 0, u = uniform(rng);
% for i in each:
        ${"else " if i else ""}if (${f"here == {i}" if i < k - 1 else "1"}) x = ${density}_sample(rng${"".join(f", {p}" for p in of_state[i])});
% endfor
        simulated[t] = x;
        int next = 0;
        for (int j = 0; j < ${k - 1}; j++) {
            real way = 0;
            for (int i = 0; i < ${k}; i++)
                way = i == here ? move[i][j] : way;
            below += way;
            next += u > below;
        }
        here = next;
    }
% endif
    return loglik;
}
