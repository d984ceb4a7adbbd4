// hawkes_exponential: events each of which makes others likelier for a while, observed from 0 to some end
// times: ordered nonnegative vector, of the events    end: nonnegative, of the observation, not before the last event
// mu: nonnegative, rate of events without a cause    alpha: nonnegative, expected number of events that one of them causes
// beta: positive, decay of their rate
// model: rate[i] = mu + alpha * beta * Sum(exp(-beta * (times[i] - times[j])), j, 1, i - 1)
// loglik = Sum(log(rate[i]), i) - mu * end - alpha * Sum(1 - exp(-beta * (end - times[i])), i)
// source: Ozaki (1979), Maximum likelihood estimation of Hawkes' self-exciting point processes
__device__ real hawkes_exponential_loglik(const real *times, int n, real end, real mu, real alpha, real beta)
{
    if (!(end >= times[n - 1])) return NAN;
    real before = 0, sum = 0;  // before: sum of exp(-beta (times[i] - times[j])) over earlier events
    for (int i = 0; i < n; i++) {
        if (i > 0) before = (before + 1) * exp(-beta * (times[i] - times[i - 1]));
        sum += log(mu + alpha * beta * before) + alpha * expm1(-beta * (end - times[i]));
    }
    return sum - mu * end;
}
