## Parts of the local_design shape for the mean-squared prediction error, beside those for the variance: derivatives in
## the lengthscale, theta, called slopes, and second derivatives, called curvatures, of what concerns the design alone.
<%def name="functions()">\
// What is known of a location from its design so far.
typedef struct {
    real variance, mean_slope;                    // at the location
    real psi, psi_slope, psi_curvature;           // y' K^-1 y
    real logdet_curvature;                        // of log |K|
    real scale, square, ratio, information, per;  // what the value of all candidates has in common
} known_t;

DEVICE known_t nothing_known(real variance)
{
    known_t known;
    known.variance = variance;
    known.mean_slope = known.psi = known.psi_slope = known.psi_curvature = known.logdet_curvature = 0;
    known.scale = known.square = known.ratio = known.information = known.per = 0;
    return known;
}

// The derivatives of the correlation in theta, where r2 is a squared distance divided by theta.
DEVICE real slope_of(real r2, real theta)
{
    return r2 > 0 ? -correlation_slope(r2) * r2 / theta : 0;
}

DEVICE real curvature_of(real r2, real theta)
{
    return r2 > 0 ? (correlation_curvature(r2) * r2 + 2 * correlation_slope(r2)) * r2 / (theta * theta) : 0;
}

// Prepares equations 4 and 5 for a design of n points.
DEVICE void summarise(known_t *known, int n)
{
    const real psi = known->psi, ratio = known->psi_slope / psi;
    known->scale = (n + 1) * psi / (n * (n - (real)1));
    known->square = known->mean_slope * known->mean_slope;
    known->ratio = ratio;
    // Minus the second derivative of the log-likelihood. Where that is not concave there is no information in it.
    known->information = fmax(REAL(0.5) * (known->logdet_curvature + n * (known->psi_curvature / psi - ratio * ratio)), REAL(0.0));
    known->per = (n - 2) / psi;
}

// Minus the mean-squared prediction error; responses that are all 0 leave the variance alone to be reduced.
DEVICE real value_of(real covariance, real variance, real variance_slope, real mean_slope, const known_t *known)
{
    if (variance <= FLOOR)
        return 0 * covariance - REAL(1e300);
    const real left = known->variance - covariance * covariance / variance;
    if (known->psi == 0)
        return -left;
    const real ratio = known->ratio + variance_slope / variance;
    const real information = known->information + REAL(0.5) * ratio * ratio + mean_slope * mean_slope * known->per / variance;
    const real error = known->scale * left + (known->square == 0 ? 0 : known->square / information);
    return error > REAL(1e300) ? -REAL(1e300) : -error;
}
</%def>\
<%def name="arrays(layout)">\
    // Of the design's points: 1 / L[i, i] and the derivatives of L[i, i], and u = L^-1 y with its derivatives; then, of the new
    // point, the curvatures of its row of L, and what they are computed from.
    SHARED real *const scales = own + ${layout.own - 8 * layout.end}, *const root_slopes = scales + ${layout.end};
    SHARED real *const root_curvatures = scales + ${2 * layout.end}, *const us = scales + ${3 * layout.end};
    SHARED real *const u_slopes = scales + ${4 * layout.end}, *const u_curvatures = scales + ${5 * layout.end};
    SHARED real *const own_curvatures = scales + ${6 * layout.end}, *const left = scales + ${7 * layout.end};
    // Of the design's points i, entry t of their rows of L, with derivatives, at [t][i]; and their coordinates.
    GLOBAL real *const factor = scratch + BLOCK_X * scratch_reals + scratch_reals - (3 * end + DIM) * end;
    GLOBAL real *const factor_slopes = factor + end * end, *const factor_curvatures = factor + 2 * end * end;
    GLOBAL real *const points = factor + 3 * end * end;
</%def>\
<%def name="add_point(threads)">\
            // The curvatures of the new row of L, by the second derivative of the substitution that gives the row.
            for (int i = (int)THREAD; i < j; i += ${threads}) {
                real r2 = 0;
                UNROLL for (int e = 0; e < DIM; e++) {
                    const real from = points[e * end + i] - own[e];
                    r2 += from * from;
                }
                real rest = curvature_of(r2, theta);
                for (int t = 0; t < i; t++)
                    rest -= factor_curvatures[t * end + i] * own[DIM + 2 * t] + 2 * factor_slopes[t * end + i] * own[DIM + 2 * t + 1];
                left[i] = rest;
            }
            for (int t = 0; t < j; t++) {
                BARRIER();
                const real l = own[DIM + 2 * t], l_slope = own[DIM + 2 * t + 1];
                const real curvature = (left[t] - 2 * l_slope * root_slopes[t] - l * root_curvatures[t]) * scales[t];
                if (THREAD == 0)
                    own_curvatures[t] = curvature;
                for (int i = t + 1 + (int)THREAD; i < j; i += ${threads})
                    left[i] -= factor[t * end + i] * curvature;
            }
            BARRIER();
            real v_curvature = 0, mean_curvature = 0;
            for (int t = 0; t < j; t++) {
                const real l = own[DIM + 2 * t], l_slope = own[DIM + 2 * t + 1], l_curvature = own_curvatures[t];
                v_curvature -= 2 * (l_slope * l_slope + l * l_curvature);
                mean_curvature += l_curvature * us[t] + 2 * l_slope * u_slopes[t] + l * u_curvatures[t];
            }
            const real root_slope = v_slope * scale / 2, root_curvature = (v_curvature / 2 - root_slope * root_slope) * scale;
            const real u = error * scale, u_slope = (error_slope - u * root_slope) * scale;
            const real u_curvature = (-mean_curvature - 2 * u_slope * root_slope - u * root_curvature) * scale;
            for (int t = (int)THREAD; t < j; t += ${threads}) {
                factor[t * end + j] = own[DIM + 2 * t];
                factor_slopes[t * end + j] = own[DIM + 2 * t + 1];
                factor_curvatures[t * end + j] = own_curvatures[t];
            }
            for (int e = (int)THREAD; e < DIM; e += ${threads})
                points[e * end + j] = own[e];
            BARRIER();  // compilers read ahead, to entry j
            if (THREAD == 0) {
                scales[j] = scale;
                root_slopes[j] = root_slope;
                root_curvatures[j] = root_curvature;
                us[j] = u;
                u_slopes[j] = u_slope;
                u_curvatures[j] = u_curvature;
            }
            const real w_location_slope = (c_slope - w_location * root_slope) * scale;
            known.variance -= w_location * w_location;
            known.mean_slope += w_location_slope * u + w_location * u_slope;
            known.psi += u * u;
            known.psi_slope += 2 * u * u_slope;
            known.psi_curvature += 2 * (u_slope * u_slope + u * u_curvature);
            known.logdet_curvature += scale > 0 ? v_curvature / v - v_slope / v * (v_slope / v) : 0;
            summarise(&known, j + 1);
</%def>\
