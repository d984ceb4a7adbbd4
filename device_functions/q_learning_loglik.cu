// q_learning: choices between two arms of a bandit, with the values that are learned of both
// used for: choices of people and animals who learn from rewards
// choice: unit integer vector, arm 0 or 1; nan is missing    reward: vector, of the arm chosen; nan is missing, and teaches nothing
// alpha: unit, learning rate    beta: real, inverse temperature
// value_0: vector, q0[t]    value_1: vector, q1[t]    prediction_error: vector, reward[t] less the value of the arm chosen
// simulated_choice: vector, draw of choice[t] given the choices and rewards before
// model: choice[t] ~ Bernoulli(1 / (1 + exp(-beta * (q1[t] - q0[t]))))    q0[0] = 0    q1[0] = 0
// q1[t] = q1[t - 1] + alpha * (reward[t - 1] - q1[t - 1]) if choice[t - 1] == 1 else q1[t - 1]
// q0[t] = q0[t - 1] + alpha * (reward[t - 1] - q0[t - 1]) if choice[t - 1] == 0 else q0[t - 1]
// source: Sutton & Barto (2018), Reinforcement Learning, ch. 2; Daw (2011), Trial-by-trial data analysis
__device__ real q_learning_loglik(
    const real *choice, const real *reward, int n, real alpha, real beta, real *value_0, real *value_1,
    real *prediction_error, rng_t *rng, real *simulated_choice)
{
    real q0 = 0, q1 = 0, sum = 0;
    for (int t = 0; t < n; t++) {
        value_0[t] = q0;
        value_1[t] = q1;
        simulated_choice[t] = bernoulli_logit_sample(rng, beta * (q1 - q0));
        prediction_error[t] = isnan(choice[t]) ? NAN : reward[t] - (choice[t] == 0 ? q0 : q1);
        if (!isnan(choice[t])) {
            real d = beta * (q1 - q0);
            sum += log_expit(choice[t] == 0 ? -d : d);
            if (!isnan(reward[t])) {
                if (choice[t] == 0)
                    q0 += alpha * (reward[t] - q0);
                else
                    q1 += alpha * (reward[t] - q1);
            }
        }
    }
    return sum;
}
