// The standard normal number between a and b below which a part u of the probability there lies, and the logarithm of that probability.
// In the upper tail all is turned round.
<%def name="function(codes)">\
DEVICE real confined(const real u, const real a, const real b, real *const log_mass)
{
    const int turned = a + b > 0;
    const real low = turned ? -b : a, high = turned ? -a : b, c = -high, width = high - low, part = turned ? 1 - u : u;
    real z;
    if (c < 5) {
        const real below = REAL(0.5) * erfc(-low / SQRT_2), mass = REAL(0.5) * erfc(c / SQRT_2) - below;
        const real p = below + part * mass;
        z = ${codes[0].evaluate("", "", "", "")};
        *log_mass = mass > REAL(0.1) * (below + mass) ? log(mass) : ${codes[1].evaluate("", "", "", "")};  // unless much cancels
    } else {
        z = high - ${codes[2].evaluate("", "", "", "")};
        *log_mass = ${codes[1].evaluate("", "", "", "")};
    }
    z = fmin(fmax(z, low), high);
    return turned ? -z : z;
}
</%def>\
