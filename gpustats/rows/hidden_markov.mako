## Forward algorithm of a hidden Markov model, with the probabilities of the states scaled at each step.
// ${name}: ${k} hidden states of a Markov chain, each with numbers of its own from ${density}
% for parameter, domain in domains.items():
// ${parameter}: ${domain}
% endfor
// source: Rabiner (1989), A tutorial on hidden Markov models, with the scaling of sec. V.A
__device__ real ${name}(const real *y, int n, ${", ".join(f"real {p}" for p in parameters)})
{
    real state[${k}], density[${k}], move[${k}][${k}], odds[${k}], total = 0, loglik = 0;
% for i in range(k):
    // from state ${i}: odds of each state to that of staying
% for j in range(k):
    odds[${j}] = ${"1" if i == j else f"exp(log_odds_{i}_{j})"};
% endfor
    total = 0;
    for (int j = 0; j < ${k}; j++)
        total += odds[j];
    for (int j = 0; j < ${k}; j++)
        move[${i}][j] = odds[j] / total;
% endfor
    for (int i = 0; i < ${k}; i++)
        state[i] = ${repr(1 / k)};
    for (int t = 0; t < n; t++) {
        if (!isnan(y[t])) {
            int inside = ${inside};
% for i in range(k):
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
        }
        for (int j = 0; j < ${k}; j++) {
            density[j] = 0;
            for (int i = 0; i < ${k}; i++)
                density[j] += state[i] * move[i][j];
        }
        for (int j = 0; j < ${k}; j++)
            state[j] = density[j];
    }
    return loglik;
}
