// The covariance kernel of rbf, made by `gpustats generate`. Do not edit.
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













// out[i * stride + j] = k(x_i, y_j), where i = j times lift, plus noise.
KERNEL(256) covariance(
    GLOBAL real *RESTRICT out, index_t out_start, index_t stride,
    GLOBAL const real *RESTRICT x, index_t x_start, index_t n, GLOBAL const real *RESTRICT y, index_t y_start, index_t m,
    GLOBAL const real *RESTRICT scales, index_t scales_start,
    real lift, real noise,
    real amplitude_value, real lengthscale_value)
{
    SHARED_ARRAY(real, xs[8], 33);
    SHARED_ARRAY(real, ys[8], 33);

    const index_t i0 = BLOCK_Y * 32, j0 = BLOCK_X * 32;
    const int column = (int)(THREAD % 32), row = (int)(THREAD / 32);
    x += x_start;
    y += y_start;
    scales += scales_start;
    
    const rbf_cov_mss_set set = rbf_cov_mss_prepare_set(amplitude_value, lengthscale_value);

    out += out_start;
    {
        real seen_0[4];
        for (int q = 0; q < 4; q++) {
            seen_0[q] = 0;
        }
        for (int c0 = 0; c0 < 8; c0 += 8) {
            for (int t = (int)THREAD; t < 256; t += 256) {
                const index_t at = t / 8;
                const int c = t % 8;
                const bool inside = c0 + c < 8;
                xs[c][at] = inside && i0 + at < n ? x[(i0 + at) * 8 + c0 + c] : 0;
                ys[c][at] = inside && j0 + at < m ? y[(j0 + at) * 8 + c0 + c] : 0;
            }
            BARRIER();
            const int here = MIN(8, 8 - c0);
            for (int c = 0; c < here; c++) {
                const real b = ys[c][column];
                UNROLL
                for (int q = 0; q < 4; q++) {
                    const real a = xs[c][row + q * 8];
                    seen_0[q] += ((a - b)) * ((a - b));
                }
            }
            BARRIER();
        }

        for (int q = 0; q < 4; q++) {
            const index_t i = i0 + row + q * 8, j = j0 + column;
            const real seen0 = seen_0[q];

            const real value = rbf_cov_mss_evaluate(set, seen0);
            if (i < n && j < m)
                out[i * stride + j] = i == j ? value * lift + noise : value;
        }
    }
}
