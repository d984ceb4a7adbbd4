// hidden_markov: two hidden states of a Markov chain, each with normal numbers of its own
// used for: series that switch between two regimes, such as booms and recessions
// y: vector, series; nan is missing    initial: unit, probability that the first state is 1
// p_01: unit, probability to go from state 0 to state 1    p_10: unit, probability to go from state 1 to state 0
// mu_0: real, mean in state 0    mu_1: real, mean in state 1    sigma_0: positive, standard deviation in state 0
// sigma_1: positive, standard deviation in state 1
// filtered: vector, probability of state 1 at y[t], given the numbers up to y[t]
// smoothed: vector, the same given all numbers    path: vector, states of the most likely path
// drawn_state: vector, draw of s[t] given all numbers    simulated: vector, draw of y[t] from the model
// model: y[t] ~ Normal(mu_1 if s[t] == 1 else mu_0, sigma_1 if s[t] == 1 else sigma_0)    s[0] ~ Bernoulli(initial)
// s[t] ~ Bernoulli(1 - p_10 if s[t - 1] == 1 else p_01)
// source: Rabiner (1989), A tutorial on hidden Markov models, with the scaling of sec. V.A
__device__ real hidden_markov_loglik(
    const real *y, int n, real initial, real p_01, real p_10, real mu_0, real mu_1, real sigma_0, real sigma_1,
    real *filtered, real *smoothed, real *path,
    rng_t *rng, real *drawn_state, real *simulated)
{
    real w_0 = 1 - initial, w_1 = initial, sum = 0, seen = 0;  // probabilities of the states, given all earlier numbers
    real log_0 = log(sigma_0), log_1 = log(sigma_1);
    real best_0 = log1p(-initial), best_1 = log(initial);  // of the most likely paths to the states
    for (int t = 0; t < n; t++) {
        if (t > 0) {
            real from_0 = best_0 + log1p(-p_01), from_1 = best_1 + log(p_10), to_0 = fmax(from_0, from_1);
            path[t - 1] = from_1 > from_0;  // the state before state 0, and 2 times that before state 1
            from_0 = best_0 + log(p_01);
            from_1 = best_1 + log1p(-p_10);
            path[t - 1] += from_1 > from_0 ? 2 : 0;
            best_0 = to_0;
            best_1 = fmax(from_0, from_1);
        }
        if (!isnan(y[t])) {
            real z_0 = (y[t] - mu_0) * (1 / sigma_0), z_1 = (y[t] - mu_1) * (1 / sigma_1);
            real d_0 = -0.5 * z_0 * z_0 - log_0, d_1 = -0.5 * z_1 * z_1 - log_1;
            // Relative to the larger density among those of states that may be, so that not both are 0
            real top = w_0 > 0 && (d_0 > d_1 || !(w_1 > 0)) ? d_0 : d_1;
            w_0 *= exp(fmin(d_0 - top, 80));
            w_1 *= exp(fmin(d_1 - top, 80));
            real total = w_0 + w_1;
            sum += top + log(total);
            w_0 /= total;
            w_1 /= total;
            seen += 1;
            best_0 += d_0 - top;
            best_1 += d_1 - top;
        }
        filtered[t] = w_1;
        real stay_0 = w_0 * (1 - p_01) + w_1 * p_10;
        w_1 = w_0 * p_01 + w_1 * (1 - p_10);
        w_0 = stay_0;
    }
    int state = best_1 > best_0;
    real after = filtered[n - 1];
    for (int t = n - 1; t >= 0; t--) {
        if (t < n - 1) {
            int before = (int)path[t];
            state = state == 1 ? before / 2 : before % 2;
            real f_1 = filtered[t], f_0 = 1 - f_1;
            real next_0 = f_0 * (1 - p_01) + f_1 * p_10, next_1 = f_0 * p_01 + f_1 * (1 - p_10);
            after = f_1 * ((next_0 > 0 ? (1 - after) / next_0 : 0) * p_10 + (next_1 > 0 ? after / next_1 : 0) * (1 - p_10));
        }
        path[t] = state;
        smoothed[t] = after;
    }
    int drawn = 0, now = uniform(rng) < initial;
    for (int t = n - 1; t >= 0; t--) {
        real to_0 = 1, to_1 = 1;  // probabilities to go from the states to that drawn before
        if (t < n - 1) {
            to_0 = drawn == 1 ? p_01 : 1 - p_01;
            to_1 = drawn == 1 ? 1 - p_10 : p_10;
        }
        real u = uniform(rng);
        drawn = u * (filtered[t] * to_1 + (1 - filtered[t]) * to_0) < filtered[t] * to_1;
        drawn_state[t] = drawn;
    }
    for (int t = 0; t < n; t++) {
        real z = normal(rng), u = uniform(rng);
        simulated[t] = now == 1 ? mu_1 + sigma_1 * z : mu_0 + sigma_0 * z;
        now = now == 1 ? u >= p_10 : u < p_01;
    }
    return sum - seen * HALF_LOG_2PI;
}
