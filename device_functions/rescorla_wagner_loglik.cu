// rescorla_wagner: choices between something that brings rewards and nothing, with the value that is learned of it
// used for: conditioning, in which a single cue is learned
// choice: unit integer vector, 1 for it; nan is missing    reward: vector, that is seen; nan is missing, and teaches nothing
// alpha: unit, learning rate    beta: real, inverse temperature
// value: vector, v[t]    prediction_error: vector, reward[t] - v[t]
// simulated_choice: vector, draw of choice[t] given the rewards before
// model: choice[t] ~ Bernoulli(1 / (1 + exp(-beta * v[t])))    v[0] = 0    v[t] = v[t - 1] + alpha * (reward[t - 1] - v[t - 1])
// source: Rescorla & Wagner (1972), A theory of Pavlovian conditioning
__device__ real rescorla_wagner_loglik(
    const real *choice, const real *reward, int n, real alpha, real beta, real *value,
    real *prediction_error, rng_t *rng, real *simulated_choice)
{
    real v = 0, sum = 0;
    for (int t = 0; t < n; t++) {
        value[t] = v;
        prediction_error[t] = reward[t] - v;
        simulated_choice[t] = bernoulli_logit_sample(rng, beta * v);
        if (!isnan(choice[t])) sum += log_expit(choice[t] == 0 ? -beta * v : beta * v);
        if (!isnan(reward[t])) v += alpha * (reward[t] - v);
    }
    return sum;
}
