// local_linear_trend: a level whose slope is a random walk, and noise around it
// used for: series whose level and growth both drift
// y: vector, series; nan is missing    sigma: nonnegative, standard deviation of the noise
// sigma_level: nonnegative, standard deviation of the level's steps    sigma_slope: nonnegative, that of the slope's
// level: real, expectation of the first level    level_sd: nonnegative, its standard deviation; infinite: it may be anywhere
// slope: real, expectation of the first slope    slope_sd: nonnegative, its standard deviation; infinite: it may be anything
// forecast: vector, expectation of y[t] given the numbers before    forecast_sd: vector, its standard deviation then
// filtered_level: vector, expectation of l[t] given the numbers up to y[t]    filtered_level_sd: vector, its standard deviation then
// filtered_slope: vector, expectation of b[t] given the numbers up to y[t]    filtered_slope_sd: vector, its standard deviation then
// smoothed_level: vector, expectation of l[t] given all numbers    smoothed_level_sd: vector, its standard deviation then
// smoothed_slope: vector, expectation of b[t] given all numbers    smoothed_slope_sd: vector, its standard deviation then
// drawn_level: vector, draw of l[t] given all numbers    drawn_slope: vector, draw of b[t] with it
// simulated: vector, draw of y[t] from the model
// model: y[t] ~ Normal(l[t], sigma)    l[t] ~ Normal(l[t - 1] + b[t - 1], sigma_level)    b[t] ~ Normal(b[t - 1], sigma_slope)
// l[0] ~ Normal(level, level_sd)    b[0] ~ Normal(slope, slope_sd)
// source: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, sec. 3.2.1, and sec. 5.2 and 7.2.2 of diffuse states
//
// An infinite standard deviation is a diffuse prior: the first numbers tell the level and the slope. l and b are their
// expectations, v_ll, v_lb and v_bb their variances, and u_ll, u_lb and u_bb the part of these that is infinite.
__device__ real local_linear_trend_loglik(
    const real *y, int n, real sigma, real sigma_level, real sigma_slope, real level, real level_sd, real slope, real slope_sd,
    real *forecast, real *forecast_sd, real *filtered_level, real *filtered_level_sd, real *filtered_slope, real *filtered_slope_sd,
    real *smoothed_level, real *smoothed_level_sd, real *smoothed_slope, real *smoothed_slope_sd,
    rng_t *rng, real *drawn_level, real *drawn_slope, real *simulated)
{
    real l = level, b = slope, v_ll = 0, v_lb = 0, v_bb = 0, sum = 0, seen = 0;
    real u_ll = isinf(level_sd) ? 1 : 0, u_lb = 0, u_bb = isinf(slope_sd) ? 1 : 0;
    int unknown = isinf(level_sd) + isinf(slope_sd), first = n;  // first: place of the first number that is not missing
    if (!isinf(level_sd)) v_ll = level_sd * level_sd;
    if (!isinf(slope_sd)) v_bb = slope_sd * slope_sd;
    for (int t = 0; t < n; t++) {
        forecast[t] = unknown > 0 && u_ll > 0 ? NAN : l;
        forecast_sd[t] = unknown > 0 && u_ll > 0 ? INFINITY : sqrt(v_ll + sigma * sigma);
        if (!isnan(y[t])) {
            if (first == n) first = t;
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
        filtered_level[t] = l;
        filtered_level_sd[t] = sqrt(v_ll);
        filtered_slope[t] = b;
        filtered_slope_sd[t] = sqrt(v_bb);
        smoothed_level[t] = v_lb;  // kept for the way back, as is what is infinite
        smoothed_level_sd[t] = unknown > 0 ? u_ll : 0;
        smoothed_slope[t] = unknown > 0 ? u_lb : 0;
        smoothed_slope_sd[t] = unknown > 0 ? u_bb : 0;
        l += b;
        v_ll += 2 * v_lb + v_bb + sigma_level * sigma_level;
        v_lb += v_bb;
        v_bb += sigma_slope * sigma_slope;
        u_ll += 2 * u_lb + u_bb;
        u_lb += u_bb;
    }
    // Backwards: the level and the slope given the next slope, which is b + an error, and then the next level, l + b + an error
    real x_l = 0, x_b = 0;  // draws
    real s_l = 0, s_b = 0, s_ll = 0, s_lb = 0, s_bb = 0, q_l = sigma_level * sigma_level, q_b = sigma_slope * sigma_slope;
    for (int t = n - 1; t >= 0; t--) {
        real a_l = filtered_level[t], p_ll = filtered_level_sd[t] * filtered_level_sd[t], p_lb = smoothed_level[t];
        real a_b = filtered_slope[t], p_bb = filtered_slope_sd[t] * filtered_slope_sd[t];
        real w_ll = smoothed_level_sd[t], w_lb = smoothed_slope[t], w_bb = smoothed_slope_sd[t];
        if (w_ll > 0) {
            filtered_level[t] = NAN;
            filtered_level_sd[t] = INFINITY;
        }
        if (w_bb > 0) {
            filtered_slope[t] = NAN;
            filtered_slope_sd[t] = INFINITY;
        }
        if (t == n - 1) {
            s_l = filtered_level[t];
            s_b = filtered_slope[t];
            s_ll = w_ll > 0 ? INFINITY : p_ll;
            s_lb = p_lb;
            s_bb = w_bb > 0 ? INFINITY : p_bb;
            x_l = s_l;
            x_b = s_b;
        } else if (unknown > 0) {
            s_l = NAN;
            s_b = NAN;
            s_ll = INFINITY;
            s_bb = INFINITY;
            x_l = NAN;
            x_b = NAN;
        } else {
            real f = p_bb + q_b, g_l = f > 0 ? p_lb / f : 0, g_b = f > 0 ? p_bb / f : 0;  // gains of the next slope
            if (w_bb > 0) {
                g_l = w_lb / w_bb;
                g_b = 1;
                p_ll += g_l * (g_l * f - 2 * p_lb);
                p_lb = g_l * q_b;
                p_bb = q_b;
                w_ll = t < first && isinf(level_sd) ? 1 / w_bb : 0;
            } else if (f > 0) {
                p_ll -= g_l * p_lb;
                p_lb *= q_b / f;
                p_bb *= q_b / f;
            }
            real c_l = p_ll + p_lb, c_b = p_lb + p_bb, h = c_l + c_b + q_l;
            real h_l = h > 0 ? c_l / h : 0, h_b = h > 0 ? c_b / h : 0;  // gains of the next level
            if (w_ll > 0) {
                h_l = 1;
                h_b = 0;
                p_ll = p_bb + q_l;
                p_lb = -p_bb;
            } else {
                p_ll -= h_l * c_l;
                p_lb -= h_l * c_b;
                p_bb -= h_b * c_b;
            }
            real j_l = g_l - h_l * (g_l + g_b), j_b = g_b - h_b * (g_l + g_b);  // of the next slope, with the next level
            real d = s_l - a_l - a_b - (g_l + g_b) * (s_b - a_b), d_x = x_l - a_l - a_b - (g_l + g_b) * (x_b - a_b);
            x_l = a_l + g_l * (x_b - a_b) + h_l * d_x;
            x_b = a_b + g_b * (x_b - a_b) + h_b * d_x;
            s_l = a_l + g_l * (s_b - a_b) + h_l * d;
            s_b = a_b + g_b * (s_b - a_b) + h_b * d;
            real r_ll = s_ll, r_lb = s_lb, r_bb = s_bb;
            s_ll = p_ll + h_l * (h_l * r_ll + 2 * j_l * r_lb) + j_l * j_l * r_bb;
            s_lb = p_lb + h_l * h_b * r_ll + (h_l * j_b + h_b * j_l) * r_lb + j_l * j_b * r_bb;
            s_bb = p_bb + h_b * (h_b * r_ll + 2 * j_b * r_lb) + j_b * j_b * r_bb;
        }
        real root = sqrt(fmax(p_ll, 0)), across = root > 0 ? p_lb / root : 0, z = normal(rng);
        x_l += root * z;
        x_b += across * z + sqrt(fmax(p_bb - across * across, 0)) * normal(rng);
        drawn_level[t] = x_l;
        drawn_slope[t] = x_b;
        smoothed_level[t] = s_l;
        smoothed_level_sd[t] = sqrt(s_ll);
        smoothed_slope[t] = s_b;
        smoothed_slope_sd[t] = sqrt(s_bb);
    }
    l = level + level_sd * normal(rng);
    b = slope + slope_sd * normal(rng);
    for (int t = 0; t < n; t++) {
        real e = sigma * normal(rng);
        simulated[t] = isinf(level_sd) || isinf(slope_sd) ? NAN : l + e;
        l += b + sigma_level * normal(rng);
        b += sigma_slope * normal(rng);
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
