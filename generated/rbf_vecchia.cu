// The vecchia kernel of rbf, made by `gpustats generate`. Do not edit.
typedef double real;
typedef long long index_t;
#define KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)  // threads a block, blocks a multiprocessor
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define SHARED
#define RESTRICT __restrict__
#define SHARED_ARRAY(type, name, count) __shared__ type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) extern __shared__ __align__(16) type name[]
#define BARRIER() __syncthreads()
#define BARRIER_GLOBAL() __syncthreads()
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4 _Pragma("unroll 4")
#define STORE_STREAMING(to, value) __stcs(to, value)  // not to be read again soon
#define THREAD ((int)threadIdx.x)
#define BLOCK_X ((index_t)blockIdx.x)
#define BLOCK_Y ((index_t)blockIdx.y)
#define BLOCKS_Y ((index_t)gridDim.y)
#define BLOCKS_X ((index_t)gridDim.x)
#undef INFINITY
#undef NAN
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
typedef unsigned long long bits_t;

// log(w + c), c being what rounding has taken from w. NVIDIA's own log and log1p branch, which keeps the compiler from working
// on several numbers at once. log(2^k (1 + f)) = k log(2) + f - (h - s (h + R)), s = f / (2 + f), h = f^2 / 2; the polynomial R
// interpolates 2 atanh(s) / s - 2 in Chebyshev points, with an error below 1e-17. Error of the whole below 1 ulp.
DEVICE double log_of_sum(double w, double c)
{
    const bool tiny = __double2hiint(w) < 0x00100000;  // subnormal, or not positive
    const double scaled = tiny ? w * 18014398509481984.0 : w;
    const int high = __double2hiint(scaled), k = (high - 0x3fe6a09e) >> 20;
    const double m = __hiloint2double(high - (k << 20), __double2loint(scaled));  // between sqrt(1/2) and sqrt(2)
    const double f = fma(c, __hiloint2double((0x3ff - min(k, 0x3ff)) << 20, 0), m - 1), g = f + 2;  // c is 0 there
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(g));
    const double e = fma(-g, r, 1.0);
    const double s = f * fma(r, fma(e, e, e), r), z = s * s, h = 0.5 * f * f;
    const double R = z * (0.66666666666666696969 + z * (0.39999999999899197894 + z * (0.28571428626114518292 + z * (
                          0.22222211112104947364 + z * (0.18182890778026130313 + z * (0.15331666676597174341 + z * (
                          0.14617128399807299883)))))));
    const double n = k - (tiny ? 54 : 0);
    const double value = fma(n, 0.69314718036912381649, f - (h - fma(s, h + R, n * 1.9082149292705877e-10)));
    const index_t bits = __double_as_longlong(w);
    const double special = (bits_t)bits << 1 == 0 ? -INFINITY : bits == 0x7ff0000000000000 ? w : NAN;
    return (bits_t)(bits - 1) < 0x7fefffffffffffff ? value : special;  // is w positive and finite?
}

DEVICE double branchless_log(double x)
{
    return log_of_sum(x, 0);
}

DEVICE double branchless_log1p(double x)
{
    const double w = 1 + x;
    return log_of_sum(w, x - (w - 1));
}

// exp(k log(2) + r) = 2^k (1 + r + r^2 q(r)). NVIDIA's own branches as well, so that compilers compute it twice where it stands twice.
// q interpolates in Chebyshev points, with an error of the whole below 2e-17. 2^k comes in two halves, for numbers below the normal
// ones. Error below 1 ulp.
DEVICE double branchless_exp(double x)
{
    const double shifted = fma(x, 1.4426950408889634, 6755399441055744.0), n = shifted - 6755399441055744.0;
    const double r = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, x));
    const double q = 0.5000000000000001 + r * (0.16666666666666669 + r * (0.04166666666662413 + r * (0.008333333333330062 + r * (
                     0.0013888888917213717 + r * (0.00019841269863053618 + r * (2.4801521295954376e-05 + r * (
                     2.7557268459997064e-06 + r * (2.7620088445409746e-07 + r * 2.510038549551032e-08))))))));
    const double p = 1 + r * (1 + r * q);
    const int k = __double2loint(shifted), half_k = k >> 1;
    const double root = __hiloint2double(__double2hiint(p) + (half_k << 20), __double2loint(p));
    const double value = root * __hiloint2double((0x3ff + k - half_k) << 20, 0);
    const int upper = __double2hiint(x), above = upper & 0x7fffffff;  // of nan it is above that of infinity
    const int special = above > 0x7ff00000 ? upper : upper < 0 ? 0 : 0x7ff00000;
    return above < 0x40875000 ? value : __hiloint2double(special, 0);  // is |x| below 746?
}

// a / b for normal numbers; the compiler's own division branches for others.
DEVICE double ordinary_quotient(double a, double b)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    const double e = fma(-b, r, 1.0), reciprocal = fma(r, fma(e, e, e), r), q = a * reciprocal;
    return fma(reciprocal, fma(-b, q, a), q);
}
#define quotient ordinary_quotient
#define exp branchless_exp
#define log branchless_log
#define log1p branchless_log1p
#define REAL(literal) literal
#define EPSILON REAL(2.220446049250313e-16)
#define PI REAL(3.14159265358979323846)
#define LOG_2PI REAL(1.83787706640934548356)
#define HALF_LOG_2PI REAL(0.91893853320467274178)
#define LOG_2 REAL(0.69314718055994530942)
#define LOG_PI REAL(1.14472988584940017414)
#define SQRT_2 REAL(1.41421356237309504880)
#define SQRT_PI REAL(1.77245385090551602730)
#define SQRT_2_OVER_PI REAL(0.79788456080286535588)
#define EULER_GAMMA REAL(0.57721566490153286061)
#define stop_gradient(x) (x)
#ifndef quotient
#define quotient(a, b) ((a) / (b))
#endif
#ifndef LOOP  // what a compiler has to be told in other words
#define LOOP(start, condition, step) for (start; condition; step)
#define CHOICE(condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define EITHER CHOICE
#define EITHER_INT CHOICE
#define VARYING(value) (value)
#define VARYING_INT VARYING
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct {
    real value;
    real d_amplitude;
    real d_lengthscale;
} rbf_cov_grad_amplitude_lengthscale_results;

DEVICE rbf_cov_grad_amplitude_lengthscale_results make_rbf_cov_grad_amplitude_lengthscale_results(real value, real d_amplitude, real d_lengthscale)
{
    rbf_cov_grad_amplitude_lengthscale_results results;
    results.value = value;
    results.d_amplitude = d_amplitude;
    results.d_lengthscale = d_lengthscale;
    return results;
}


// rbf_cov: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
} rbf_cov_mss_set;

DEVICE rbf_cov_mss_set rbf_cov_mss_prepare_set(real amplitude, real lengthscale)
{
    rbf_cov_mss_set set;
    set.c0 = amplitude * amplitude;
    set.c1 = -0.5 / (lengthscale * lengthscale);
    return set;
}

// rbf_cov: what depends on both, from what was computed ahead.
DEVICE real rbf_cov_mss_evaluate(rbf_cov_mss_set set, real sqdist)
{
    return set.c0 * exp(sqdist * set.c1);
}


// rbf_cov_grad_amplitude_lengthscale: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real c2;
    real c3;
} rbf_cov_grad_amplitude_lengthscale_mss_set;

DEVICE rbf_cov_grad_amplitude_lengthscale_mss_set rbf_cov_grad_amplitude_lengthscale_mss_prepare_set(real amplitude, real lengthscale)
{
    rbf_cov_grad_amplitude_lengthscale_mss_set set;
    set.c0 = -0.5 / (lengthscale * lengthscale);
    set.c1 = amplitude * amplitude;
    set.c2 = 2 * amplitude;
    set.c3 = 0.5 / (lengthscale * lengthscale) * (2 * lengthscale) * (1 / (lengthscale * lengthscale));
    return set;
}

// rbf_cov_grad_amplitude_lengthscale: what depends on both, from what was computed ahead.
DEVICE rbf_cov_grad_amplitude_lengthscale_results rbf_cov_grad_amplitude_lengthscale_mss_evaluate(rbf_cov_grad_amplitude_lengthscale_mss_set set, real sqdist)
{
    real t = exp(sqdist * set.c0);
    return make_rbf_cov_grad_amplitude_lengthscale_results(set.c1 * t, set.c2 * t, set.c1 * (t * (sqdist * set.c3)));
}

#define LANE 0
#define ROW THREAD
#define AT(i, j) (((i) * ((i) + 1) / 2 + (j)) * (index_t)1 + LANE)
#define OF(i) ((i) * (index_t)1 + LANE)
#define TOGETHER() BARRIER()





// Of the n points behind `before` others, found[set][block]: the sum of log-densities but for a constant, amplitude, lengthscale, sigma. nan where there is none.
KERNEL(32) vecchia_likelihood(
    GLOBAL double *RESTRICT found,
    index_t n, index_t before, GLOBAL const int *RESTRICT nearest, index_t nearest_start, GLOBAL const real *RESTRICT x, index_t x_start,
    GLOBAL const real *RESTRICT y, index_t y_start, GLOBAL real *RESTRICT scratch, double lift,
    GLOBAL const double *RESTRICT given, index_t sigma_first, index_t sigma_step, index_t mean_first, index_t mean_step, index_t amplitude_first, index_t amplitude_step, index_t lengthscale_first, index_t lengthscale_step)
{
    SHARED_ARRAY(int, members, 31);
    DYNAMIC_SHARED_ARRAY(real, shared, 838);
    SHARED real *const a = shared;
    SHARED real *const xs = a + 528;
    SHARED real *const u = xs + 248;
    SHARED real *const v = u + 31;
    const index_t set = BLOCK_Y;
    SHARED_ARRAY(double, totals, 32);
    bool valid = true;
    const double amplitude_given = given[amplitude_first + set * amplitude_step];
    const real amplitude_value = (amplitude_given > 0 && fabs(amplitude_given) < INFINITY) ? amplitude_given : 1;
    valid = valid && (amplitude_given > 0 && fabs(amplitude_given) < INFINITY);
    const double lengthscale_given = given[lengthscale_first + set * lengthscale_step];
    const real lengthscale_value = (lengthscale_given > 0 && fabs(lengthscale_given) < INFINITY) ? lengthscale_given : 1;
    valid = valid && (lengthscale_given > 0 && fabs(lengthscale_given) < INFINITY);
    const rbf_cov_mss_set at_set = rbf_cov_mss_prepare_set(amplitude_value, lengthscale_value);
    const rbf_cov_grad_amplitude_lengthscale_mss_set slope_set = rbf_cov_grad_amplitude_lengthscale_mss_prepare_set(amplitude_value, lengthscale_value);
    found += (set * BLOCKS_X + BLOCK_X) * 4;
    double loglik = 0, sum_of_amplitude = 0, sum_of_lengthscale = 0, trace = 0;
    for (index_t start = BLOCK_X * 1; start < n; start += BLOCKS_X * 1) {
        const index_t point = start + LANE;
        const bool counts = point < n;
        TOGETHER();  // the last points' numbers have been read
        for (int i = (int)ROW; i <= 30; i += 32) {
            const int member = !counts ? -1 : i < 30 ? nearest[nearest_start + point * 30 + i] : (int)(before + point);
            members[OF(i)] = member;
            for (int c = 0; c < 8; c++)
                xs[OF(c * 31 + i)] = member < 0 ? 0
                    : x[x_start + (index_t)member * 8 + c];
        }
        TOGETHER();
        for (int i = 0, j = (int)ROW;; j += 32) {
            while (j > i)
                j -= ++i;
            if (i > 30)
                break;
                const int one = members[OF(i)], other = members[OF(j)];
                real seen_0 = 0;
                for (int c = 0; c < 8; c++) {
                    const real x_i = xs[OF(c * 31 + i)], x_j = xs[OF(c * 31 + j)];
                    seen_0 += ((x_i - x_j)) * ((x_i - x_j));
                }
                const real seen0 = seen_0;
                real covariance = rbf_cov_mss_evaluate(at_set, seen0);
                if (i == j && one >= 0) {
                    const double sigma = given[sigma_first + set * sigma_step];
                    covariance = covariance * (real)lift + (real)((sigma >= 0 && fabs(sigma) < INFINITY) ? sigma * sigma : NAN);
                }
                a[AT(i, j)] = one >= 0 && other >= 0 ? covariance : i == j;
        }
        for (int i = (int)ROW; i <= 30; i += 32) {
            const int member = members[OF(i)];
            a[AT(31, i)] = member < 0 ? 0 : y[y_start + member] - given[mean_first + set * mean_step];
        }
        TOGETHER();
        for (int j0 = 0; j0 < 28; j0 += 4) {
            for (int i = j0 + (int)ROW; i <= 31; i += 32) {
                real s_0 = a[AT(i, j0 + 0)];
                real s_1 = j0 + 1 > i ? 0 : a[AT(i, j0 + 1)];
                real s_2 = j0 + 2 > i ? 0 : a[AT(i, j0 + 2)];
                real s_3 = j0 + 3 > i ? 0 : a[AT(i, j0 + 3)];
                for (int k = 0; k < j0; k++) {
                    const real l = a[AT(i, k)];
                    s_0 -= l * a[AT(j0 + 0, k)];
                    s_1 -= l * a[AT(j0 + 1, k)];
                    s_2 -= l * a[AT(j0 + 2, k)];
                    s_3 -= l * a[AT(j0 + 3, k)];
                }
                a[AT(i, j0 + 0)] = s_0;
                if (j0 + 1 <= i) a[AT(i, j0 + 1)] = s_1;
                if (j0 + 2 <= i) a[AT(i, j0 + 2)] = s_2;
                if (j0 + 3 <= i) a[AT(i, j0 + 3)] = s_3;
            }
            TOGETHER();
            real d_0_0 = a[AT(j0 + 0, j0 + 0)];
            real d_1_0 = a[AT(j0 + 1, j0 + 0)];
            real d_1_1 = a[AT(j0 + 1, j0 + 1)];
            real d_2_0 = a[AT(j0 + 2, j0 + 0)];
            real d_2_1 = a[AT(j0 + 2, j0 + 1)];
            real d_2_2 = a[AT(j0 + 2, j0 + 2)];
            real d_3_0 = a[AT(j0 + 3, j0 + 0)];
            real d_3_1 = a[AT(j0 + 3, j0 + 1)];
            real d_3_2 = a[AT(j0 + 3, j0 + 2)];
            real d_3_3 = a[AT(j0 + 3, j0 + 3)];
            const real r_0 = d_0_0 > 0 ? 1 / sqrt(d_0_0) : NAN;
            d_1_0 *= r_0;
            d_2_0 *= r_0;
            d_3_0 *= r_0;
            d_1_1 -= d_1_0 * d_1_0;
            d_2_1 -= d_2_0 * d_1_0;
            d_2_2 -= d_2_0 * d_2_0;
            d_3_1 -= d_3_0 * d_1_0;
            d_3_2 -= d_3_0 * d_2_0;
            d_3_3 -= d_3_0 * d_3_0;
            const real r_1 = d_1_1 > 0 ? 1 / sqrt(d_1_1) : NAN;
            d_2_1 *= r_1;
            d_3_1 *= r_1;
            d_2_2 -= d_2_1 * d_2_1;
            d_3_2 -= d_3_1 * d_2_1;
            d_3_3 -= d_3_1 * d_3_1;
            const real r_2 = d_2_2 > 0 ? 1 / sqrt(d_2_2) : NAN;
            d_3_2 *= r_2;
            d_3_3 -= d_3_2 * d_3_2;
            const real r_3 = d_3_3 > 0 ? 1 / sqrt(d_3_3) : NAN;
            TOGETHER();
            for (int i = j0 + (int)ROW; i <= 31; i += 32) {
                const real t_0 = ((a[AT(i, j0 + 0)])) * r_0;
                const real t_1 = ((j0 + 1 > i ? 0 : a[AT(i, j0 + 1)]) - t_0 * d_1_0) * r_1;
                const real t_2 = ((j0 + 2 > i ? 0 : a[AT(i, j0 + 2)]) - t_0 * d_2_0 - t_1 * d_2_1) * r_2;
                const real t_3 = ((j0 + 3 > i ? 0 : a[AT(i, j0 + 3)]) - t_0 * d_3_0 - t_1 * d_3_1 - t_2 * d_3_2) * r_3;
                a[AT(i, j0 + 0)] = i == j0 + 0 ? r_0 : t_0;
                if (j0 + 1 <= i) a[AT(i, j0 + 1)] = i == j0 + 1 ? r_1 : t_1;
                if (j0 + 2 <= i) a[AT(i, j0 + 2)] = i == j0 + 2 ? r_2 : t_2;
                if (j0 + 3 <= i) a[AT(i, j0 + 3)] = i == j0 + 3 ? r_3 : t_3;
            }
            TOGETHER();
        }
        {
            const int j0 = 28;
            for (int i = j0 + (int)ROW; i <= 31; i += 32) {
                real s_0 = a[AT(i, j0 + 0)];
                real s_1 = j0 + 1 > i ? 0 : a[AT(i, j0 + 1)];
                for (int k = 0; k < j0; k++) {
                    const real l = a[AT(i, k)];
                    s_0 -= l * a[AT(j0 + 0, k)];
                    s_1 -= l * a[AT(j0 + 1, k)];
                }
                a[AT(i, j0 + 0)] = s_0;
                if (j0 + 1 <= i) a[AT(i, j0 + 1)] = s_1;
            }
            TOGETHER();
            real d_0_0 = a[AT(j0 + 0, j0 + 0)];
            real d_1_0 = a[AT(j0 + 1, j0 + 0)];
            real d_1_1 = a[AT(j0 + 1, j0 + 1)];
            const real r_0 = d_0_0 > 0 ? 1 / sqrt(d_0_0) : NAN;
            d_1_0 *= r_0;
            d_1_1 -= d_1_0 * d_1_0;
            const real r_1 = d_1_1 > 0 ? 1 / sqrt(d_1_1) : NAN;
            TOGETHER();
            for (int i = j0 + (int)ROW; i <= 31; i += 32) {
                const real t_0 = ((a[AT(i, j0 + 0)])) * r_0;
                const real t_1 = ((j0 + 1 > i ? 0 : a[AT(i, j0 + 1)]) - t_0 * d_1_0) * r_1;
                a[AT(i, j0 + 0)] = i == j0 + 0 ? r_0 : t_0;
                if (j0 + 1 <= i) a[AT(i, j0 + 1)] = i == j0 + 1 ? r_1 : t_1;
            }
            TOGETHER();
        }
        real square = 0, product = 0;
        for (int k = 0; k < 30; k++) {
            const real l = a[AT(30, k)];
            square += l * l;
            product += l * a[AT(31, k)];
        }
        const real left = a[AT(30, 30)] - square;
        const real reciprocal = left > 0 ? 1 / sqrt(left) : NAN, z = (a[AT(31, 30)] - product) * reciprocal;
        if (ROW == 0 && counts)
            loglik += log((double)reciprocal) - 0.5 * (double)z * (double)z;
        // The derivative of the log-density in K is (u v' + v u') / 2, where u'y is z: u = l'^-1 e for the point's unit vector e.
        const real excess = (real)0.5 * (z * z - 1);
        TOGETHER();
        {
            const int j0 = 28;
            real w_0 = a[AT(30, j0 + 0)], q_0 = a[AT(31, j0 + 0)];
            real w_1 = a[AT(30, j0 + 1)], q_1 = a[AT(31, j0 + 1)];
            const real r_1 = a[AT(j0 + 1, j0 + 1)];
            w_1 = (w_1) * r_1;
            q_1 = (q_1) * r_1;
            const real r_0 = a[AT(j0 + 0, j0 + 0)];
            w_0 = (w_0 - a[AT(j0 + 1, j0 + 0)] * w_1) * r_0;
            q_0 = (q_0 - a[AT(j0 + 1, j0 + 0)] * q_1) * r_0;
            for (int k = (int)ROW; k < j0; k += 32) {
                real w = a[AT(30, k)], q = a[AT(31, k)];
                const real l_0 = a[AT(j0 + 0, k)];
                w -= l_0 * w_0;
                q -= l_0 * q_0;
                const real l_1 = a[AT(j0 + 1, k)];
                w -= l_1 * w_1;
                q -= l_1 * q_1;
                a[AT(30, k)] = w;
                a[AT(31, k)] = q;
            }
            if (ROW == 0) {
                u[OF(j0 + 0)] = -w_0 * reciprocal;
                v[OF(j0 + 0)] = z * q_0 - excess * w_0 * reciprocal;
                u[OF(j0 + 1)] = -w_1 * reciprocal;
                v[OF(j0 + 1)] = z * q_1 - excess * w_1 * reciprocal;
            }
            TOGETHER();
        }
        for (int j0 = 24; j0 >= 0; j0 -= 4) {
            real w_0 = a[AT(30, j0 + 0)], q_0 = a[AT(31, j0 + 0)];
            real w_1 = a[AT(30, j0 + 1)], q_1 = a[AT(31, j0 + 1)];
            real w_2 = a[AT(30, j0 + 2)], q_2 = a[AT(31, j0 + 2)];
            real w_3 = a[AT(30, j0 + 3)], q_3 = a[AT(31, j0 + 3)];
            const real r_3 = a[AT(j0 + 3, j0 + 3)];
            w_3 = (w_3) * r_3;
            q_3 = (q_3) * r_3;
            const real r_2 = a[AT(j0 + 2, j0 + 2)];
            w_2 = (w_2 - a[AT(j0 + 3, j0 + 2)] * w_3) * r_2;
            q_2 = (q_2 - a[AT(j0 + 3, j0 + 2)] * q_3) * r_2;
            const real r_1 = a[AT(j0 + 1, j0 + 1)];
            w_1 = (w_1 - a[AT(j0 + 2, j0 + 1)] * w_2 - a[AT(j0 + 3, j0 + 1)] * w_3) * r_1;
            q_1 = (q_1 - a[AT(j0 + 2, j0 + 1)] * q_2 - a[AT(j0 + 3, j0 + 1)] * q_3) * r_1;
            const real r_0 = a[AT(j0 + 0, j0 + 0)];
            w_0 = (w_0 - a[AT(j0 + 1, j0 + 0)] * w_1 - a[AT(j0 + 2, j0 + 0)] * w_2 - a[AT(j0 + 3, j0 + 0)] * w_3) * r_0;
            q_0 = (q_0 - a[AT(j0 + 1, j0 + 0)] * q_1 - a[AT(j0 + 2, j0 + 0)] * q_2 - a[AT(j0 + 3, j0 + 0)] * q_3) * r_0;
            for (int k = (int)ROW; k < j0; k += 32) {
                real w = a[AT(30, k)], q = a[AT(31, k)];
                const real l_0 = a[AT(j0 + 0, k)];
                w -= l_0 * w_0;
                q -= l_0 * q_0;
                const real l_1 = a[AT(j0 + 1, k)];
                w -= l_1 * w_1;
                q -= l_1 * q_1;
                const real l_2 = a[AT(j0 + 2, k)];
                w -= l_2 * w_2;
                q -= l_2 * q_2;
                const real l_3 = a[AT(j0 + 3, k)];
                w -= l_3 * w_3;
                q -= l_3 * q_3;
                a[AT(30, k)] = w;
                a[AT(31, k)] = q;
            }
            if (ROW == 0) {
                u[OF(j0 + 0)] = -w_0 * reciprocal;
                v[OF(j0 + 0)] = z * q_0 - excess * w_0 * reciprocal;
                u[OF(j0 + 1)] = -w_1 * reciprocal;
                v[OF(j0 + 1)] = z * q_1 - excess * w_1 * reciprocal;
                u[OF(j0 + 2)] = -w_2 * reciprocal;
                v[OF(j0 + 2)] = z * q_2 - excess * w_2 * reciprocal;
                u[OF(j0 + 3)] = -w_3 * reciprocal;
                v[OF(j0 + 3)] = z * q_3 - excess * w_3 * reciprocal;
            }
            TOGETHER();
        }
        if (ROW == 0) {
            u[OF(30)] = reciprocal;
            v[OF(30)] = excess * reciprocal;
        }
        TOGETHER();
        for (int i = (int)ROW; i <= 30; i += 32)
            if (counts && members[OF(i)] >= 0) {
                trace += u[OF(i)] * v[OF(i)];
            }
        for (int i = 0, j = (int)ROW;; j += 32) {
            while (j > i)
                j -= ++i;
            if (i > 30)
                break;
                const bool both = counts && members[OF(i)] >= 0 && members[OF(j)] >= 0;
                const real weight = i == j ? (real)lift * u[OF(i)] * v[OF(i)] : u[OF(i)] * v[OF(j)] + v[OF(i)] * u[OF(j)];
                real seen_0 = 0;
                for (int c = 0; c < 8; c++) {
                    const real x_i = xs[OF(c * 31 + i)], x_j = xs[OF(c * 31 + j)];
                    seen_0 += ((x_i - x_j)) * ((x_i - x_j));
                }
                const real seen0 = seen_0;
                const rbf_cov_grad_amplitude_lengthscale_results result = rbf_cov_grad_amplitude_lengthscale_mss_evaluate(slope_set, seen0);
                sum_of_amplitude += both ? weight * result.d_amplitude : 0;
                sum_of_lengthscale += both ? weight * result.d_lengthscale : 0;
        }
    }
    loglik = valid ? loglik : NAN;
    totals[THREAD] = loglik;
    for (int span = 16; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    if (THREAD == 0)
        found[0 + 0] = totals[0];
    BARRIER();
    totals[THREAD] = sum_of_amplitude;
    for (int span = 16; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    if (THREAD == 0)
        found[0 + 1] = totals[0];
    BARRIER();
    totals[THREAD] = sum_of_lengthscale;
    for (int span = 16; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    if (THREAD == 0)
        found[0 + 2] = totals[0];
    BARRIER();
    totals[THREAD] = trace;
    for (int span = 16; span > 0; span /= 2) {
        BARRIER();
        if (THREAD < span)
            totals[THREAD] += totals[THREAD + span];
    }
    if (THREAD == 0)
        found[0 + 3] = totals[0];
    BARRIER();
}

