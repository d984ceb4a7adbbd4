// Bessel functions

// log(exp(-x) I0(x)), x >= 0, I0 being the modified Bessel function. Scaled error 2.
// Approximated in x^2 / 4 up to x = 10, and from there as exp(-x) I0(x) sqrt(x) in 1 / x.
// reference: log_i0e(x) = log(besseli(0, x)) - x, x in (0.1, 25)
__device__ real log_i0e(real x)
{
    real s = 0.25 * x * x, v = 1 / x;
    real small = 1 + s * (0.9999999999999999999 + s * (0.2500000000000000013 + s * (
                          0.02777777777777777219 + s * (0.001736111111111120641 + s * (
                          6.944444444443587785e-5 + s * (1.929012345683695075e-6 + s * (
                          3.936759888971503086e-8 + s * (6.151187331057918216e-10 + s * (
                          7.594058350023633202e-12 + s * (7.59405948516373036e-14 + s * (
                          6.276070591825722735e-16 + s * (4.358472637504152774e-18 + s * (
                          2.57844626834708432e-20 + s * (1.317890783571837945e-22 + s * (
                          5.77993308677819623e-25 + s * (2.439972912314401543e-27 + s * (
                          5.532599962083509477e-30 + s * (4.530538579538888947e-32))))))))))))))))));
    real large = 0.3989422804014327336 + v * (0.04986778504981878746 + v * (0.02805062947624493959 + v * (
                 0.0292192426797380241 + v * (0.04477818598600680342 + v * (0.08579281840086861734 + v * (
                 0.6510036453190089292 + v * (-25.02144341286389067 + v * (1122.979062439468337 + v * (
                 -35726.96193320773503 + v * (843568.7638892325177 + v * (-1.477550287186147686e7 + v * (
                 1.908826967787999843e8 + v * (-1.788145754096638148e9 + v * (1.176507970160360616e10 + v * (
                 -5.133554994284065768e10 + v * (1.329111122925200917e11 + v * (
                 -1.541869293960297045e11)))))))))))))))));
    return log(x < 10 ? small : large * sqrt(v)) - (x < 10 ? x : 0);
}

// log I0(x), x >= 0. Scaled error 2.
// reference: log_i0(x) = log(besseli(0, x)), x in (0.1, 25)
__device__ real log_i0(real x)
{
    return x + log_i0e(x);
}

// I1(x) / I0(x), x >= 0, the derivative of log_i0. Error 5. Sources: Abramowitz & Stegun (1964), 9.6.10 and 9.7.1.
// reference: bessel_ratio(x) = besseli(1, x) / besseli(0, x), x in (0.1, 30)
__device__ real bessel_ratio(real x)
{
    real s = x < 20 ? 0.25 * x * x : 1, i0 = 1, i1 = 1, one = 1, other = 1;
    if (x < 20) {
        for (int k = 1; k < 60 && one > 0.1 * EPSILON * i0; k++) {
            one *= s / ((real)k * k);
            i0 += one;
            i1 += one / (k + 1);
        }
        return 0.5 * x * (i1 / i0);
    }
    real v = 0.125 / x;
    for (int k = 1; k < 30 && one > 0.1 * EPSILON; k++) {
        real odd = 2 * k - 1;
        one *= odd * odd * v / k;
        other *= (odd * odd - 4) * v / k;
        i0 += one;
        i1 += other;
    }
    return i1 / i0;
}
