// hawkes_exponential: events each of which makes others likelier for a while, observed from 0 to some end
// used for: earthquakes and their aftershocks, trades, posts and crimes that incite others
// times: ordered nonnegative vector, of the events    end: nonnegative, of the observation, not before the last event
// mu: nonnegative, rate of events without a cause    alpha: nonnegative, expected number of events that one of them causes
// beta: positive, decay of their rate
// intensity: vector, rate[i]    compensator: vector, integral of the rate since the event before
// model: rate[i] = mu + alpha * beta * Sum(exp(-beta * (times[i] - times[j])), j, 0, i - 1)
// loglik = Sum(log(rate[i]), i) - mu * end - alpha * Sum(1 - exp(-beta * (end - times[i])), i)
// source: Ozaki (1979), Maximum likelihood estimation of Hawkes' self-exciting point processes
__device__ real hawkes_exponential_loglik(
    const real *times, int n, real end, real mu, real alpha, real beta, real *intensity, real *compensator)
{
    real before = 0, last = 0, sum = 0;  // before: sum of exp(-beta (times[i] - times[j])) over earlier events
    for (int i = 0; i < n; i++) {
        compensator[i] = mu * (times[i] - last) - (i > 0 ? alpha * (before + 1) * expm1(-beta * (times[i] - last)) : 0);
        if (i > 0) before = (before + 1) * exp(-beta * (times[i] - last));
        last = times[i];
        intensity[i] = mu + alpha * beta * before;
        sum += log(mu + alpha * beta * before) + alpha * expm1(-beta * (end - last));
    }
    return end >= last ? sum - mu * end : NAN;
}
