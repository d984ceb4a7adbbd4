// drift_diffusion_learning: choices between two arms of a bandit and their response times, with the values that are learned of both
// used for: experiments on learning that record response times as well as choices
// choice: unit integer vector, arm 0 or 1, the lower and the upper boundary    time: positive vector, of the response
// reward: vector, of the arm chosen; nan is missing, and teaches nothing    rate: unit, learning rate
// drift: real, drift for each unit by which the values differ    alpha: positive, separation of the boundaries
// tau: nonnegative, non-decision time    beta: unit, relative starting point
// value_0: vector, q0[t]    value_1: vector, q1[t]    prediction_error: vector, reward[t] less the value of the arm chosen
// simulated_choice: vector, draw of choice[t] given the trials before    simulated_time: vector, of time[t] with it
// model: choice[t], time[t] ~ Wiener(alpha, tau, beta, drift * (q1[t] - q0[t]))    q0[0] = 0    q1[0] = 0
// q1[t] = q1[t - 1] + rate * (reward[t - 1] - q1[t - 1]) if choice[t - 1] == 1 else q1[t - 1]
// q0[t] = q0[t - 1] + rate * (reward[t - 1] - q0[t - 1]) if choice[t - 1] == 0 else q0[t - 1]
// source: Pedersen, Frank & Biele (2017), The drift diffusion model as the choice rule in reinforcement learning
__device__ real drift_diffusion_learning_loglik(
    const real *choice, const real *time, const real *reward, int n, real rate, real drift, real alpha, real tau, real beta,
    real *value_0, real *value_1, real *prediction_error, rng_t *rng, real *simulated_choice,
    real *simulated_time)
{
    real q0 = 0, q1 = 0, sum = 0;
    for (int t = 0; t < n; t++) {
        value_0[t] = q0;
        value_1[t] = q1;
        real draw = wiener_sample(rng, alpha, tau, beta, drift * (q1 - q0));
        simulated_choice[t] = draw > 0;
        simulated_time[t] = fabs(draw);
        prediction_error[t] = isnan(choice[t]) ? NAN : reward[t] - (choice[t] == 0 ? q0 : q1);
        if (!isnan(choice[t])) {
            sum += wiener_logpdf(choice[t] == 0 ? -time[t] : time[t], alpha, tau, beta, drift * (q1 - q0));
            if (!isnan(reward[t])) {
                if (choice[t] == 0)
                    q0 += rate * (reward[t] - q0);
                else
                    q1 += rate * (reward[t] - q1);
            }
        }
    }
    return sum;
}
