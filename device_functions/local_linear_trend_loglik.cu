// local_linear_trend: a level whose slope is a random walk, and noise around it
// y: vector, series; nan is missing    sigma: nonnegative, standard deviation of the noise
// sigma_level: nonnegative, standard deviation of the level's steps    sigma_slope: nonnegative, that of the slope's
// level: real, expectation of the first level    level_sd: nonnegative, its standard deviation; infinite: it may be anywhere
// slope: real, expectation of the first slope    slope_sd: nonnegative, its standard deviation; infinite: it may be anything
// model: y[t] ~ Normal(l[t], sigma)    l[t] ~ Normal(l[t - 1] + b[t - 1], sigma_level)    b[t] ~ Normal(b[t - 1], sigma_slope)
// l[0] ~ Normal(level, level_sd)    b[0] ~ Normal(slope, slope_sd)
// source: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, sec. 3.2.1, and sec. 5.2 and 7.2.2 of diffuse states
//
// An infinite standard deviation is a diffuse prior: the first numbers tell the level and the slope. l and b are their
// expectations, v_ll, v_lb and v_bb their variances, and u_ll, u_lb and u_bb the part of these that is infinite.
__device__ real local_linear_trend_loglik(
    const real *y, int n, real sigma, real sigma_level, real sigma_slope, real level, real level_sd, real slope, real slope_sd)
{
    real l = level, b = slope, v_ll = 0, v_lb = 0, v_bb = 0, sum = 0, seen = 0;
    real u_ll = isinf(level_sd) ? 1 : 0, u_lb = 0, u_bb = isinf(slope_sd) ? 1 : 0;
    int unknown = isinf(level_sd) + isinf(slope_sd);
    if (!isinf(level_sd)) v_ll = level_sd * level_sd;
    if (!isinf(slope_sd)) v_bb = slope_sd * slope_sd;
    for (int t = 0; t < n; t++) {
        if (!isnan(y[t])) {
            real d = y[t] - l, f = v_ll + sigma * sigma;
            seen += 1;
            if (unknown > 0 && u_ll > 0) {
                real k = u_lb / u_ll;  // the gain of the slope; that of the level is 1
                sum += log(u_ll);
                l += d;
                b += k * d;
                v_bb += k * (k * f - 2 * v_lb);
                v_lb = k * sigma * sigma;
                v_ll = sigma * sigma;
                u_bb -= k * u_lb;
                u_ll = 0;
                u_lb = 0;
                unknown -= 1;
            } else {
                real k_l = v_ll / f, k_b = v_lb / f;
                sum += log(f) + d * d / f;
                l += k_l * d;
                b += k_b * d;
                v_bb -= k_b * v_lb;
                v_lb *= sigma * sigma / f;
                v_ll *= sigma * sigma / f;
            }
        }
        l += b;
        v_ll += 2 * v_lb + v_bb + sigma_level * sigma_level;
        v_lb += v_bb;
        v_bb += sigma_slope * sigma_slope;
        u_ll += 2 * u_lb + u_bb;
        u_lb += u_bb;
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
