// The gradient kernel of skellam, made by `gpustats generate`. Do not edit.
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
    const double f = fma(c, __hiloint2double((0x3ff - k) << 20, 0), m - 1), g = f + 2;
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
#ifndef quotient
#define quotient(a, b) ((a) / (b))
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

// Whole numbers where C leaves open what happens, or the processor stops: the same on every device.
// nan becomes 0, and what lies beyond the ends of int becomes the nearer one.
DEVICE int to_int(real x)
{
    return x == x ? __double2int_rz(x) : 0;
}

// What is divided by 0 gives 0 and leaves itself as the remainder; -2^31 / -1 wraps around. The divisors 0 and -1 are looked for
// together: nvcc does not end where both int_quotient and int_remainder compare with -1.
DEVICE int int_quotient(int a, int b)
{
    return (unsigned)b + 1u < 2u ? (int)((unsigned)a * (unsigned)b) : a / b;
}

DEVICE int int_remainder(int a, int b)
{
    return (unsigned)b + 1u < 2u ? (b == 0 ? a : 0) : a % b;
}

// Beyond the ends of int they wrap around. Where C leaves that open, compilers drop what keeps an index within its vector.
DEVICE int int_sum(int a, int b)
{
    return (int)((unsigned)a + (unsigned)b);
}

DEVICE int int_difference(int a, int b)
{
    return (int)((unsigned)a - (unsigned)b);
}

DEVICE int int_product(int a, int b)
{
    return (int)((unsigned)a * (unsigned)b);
}

// OpenCL's own abs gives an unsigned number: abs(1) - 2 would be 2^32 - 1.
DEVICE int int_abs(int a)
{
    return a < 0 ? (int)(0u - (unsigned)a) : a;
}

#ifdef __OPENCL_VERSION__
// Sines of sines are kept apart: Intel's compiler fails where it joins sin(t) and cos(t), and t is such a sine or cosine.
DEVICE real sin_apart(real x)
{
    return sin(x + 0 * x);
}

DEVICE real cos_apart(real x)
{
    return cos(x + 0 * x);
}
#undef sin
#undef cos
#define sin(x) sin_apart(x)
#define cos(x) cos_apart(x)
#endif

typedef struct {
    real value;
    real d_mu1;
    real d_mu2;
} skellam_spread_of_grad_mu1_mu2_results;

DEVICE skellam_spread_of_grad_mu1_mu2_results make_skellam_spread_of_grad_mu1_mu2_results(real value, real d_mu1, real d_mu2)
{
    skellam_spread_of_grad_mu1_mu2_results results;
    results.value = value;
    results.d_mu1 = d_mu1;
    results.d_mu2 = d_mu2;
    return results;
}


typedef struct {
    real value;
    real d_mu1;
    real d_mu2;
    real d_spread;
} skellam_tilted_grad_mu1_mu2_spread_results;

DEVICE skellam_tilted_grad_mu1_mu2_spread_results make_skellam_tilted_grad_mu1_mu2_spread_results(real value, real d_mu1, real d_mu2, real d_spread)
{
    skellam_tilted_grad_mu1_mu2_spread_results results;
    results.value = value;
    results.d_mu1 = d_mu1;
    results.d_mu2 = d_mu2;
    results.d_spread = d_spread;
    return results;
}


typedef struct {
    real value;
    real d_mu1;
    real d_mu2;
    real d_spread;
} skellam_shift_of_grad_mu1_mu2_spread_results;

DEVICE skellam_shift_of_grad_mu1_mu2_spread_results make_skellam_shift_of_grad_mu1_mu2_spread_results(real value, real d_mu1, real d_mu2, real d_spread)
{
    skellam_shift_of_grad_mu1_mu2_spread_results results;
    results.value = value;
    results.d_mu1 = d_mu1;
    results.d_mu2 = d_mu2;
    results.d_spread = d_spread;
    return results;
}


typedef struct {
    real value;
    real d_mu1;
    real d_mu2;
    real d_spread;
} skellam_saddle_exponent_grad_mu1_mu2_spread_results;

DEVICE skellam_saddle_exponent_grad_mu1_mu2_spread_results make_skellam_saddle_exponent_grad_mu1_mu2_spread_results(real value, real d_mu1, real d_mu2, real d_spread)
{
    skellam_saddle_exponent_grad_mu1_mu2_spread_results results;
    results.value = value;
    results.d_mu1 = d_mu1;
    results.d_mu2 = d_mu2;
    results.d_spread = d_spread;
    return results;
}


typedef struct {
    real value;
    real d_mu1;
    real d_mu2;
} skellam_logpmf_grad_mu1_mu2_results;

DEVICE skellam_logpmf_grad_mu1_mu2_results make_skellam_logpmf_grad_mu1_mu2_results(real value, real d_mu1, real d_mu2)
{
    skellam_logpmf_grad_mu1_mu2_results results;
    results.value = value;
    results.d_mu1 = d_mu1;
    results.d_mu2 = d_mu2;
    return results;
}


typedef struct {
    real value;
    real d_mu1;
    real d_mu2;
} skellam_logpmf_checked_grad_mu1_mu2_results;

DEVICE skellam_logpmf_checked_grad_mu1_mu2_results make_skellam_logpmf_checked_grad_mu1_mu2_results(real value, real d_mu1, real d_mu2)
{
    skellam_logpmf_checked_grad_mu1_mu2_results results;
    results.value = value;
    results.d_mu1 = d_mu1;
    results.d_mu2 = d_mu2;
    return results;
}


DEVICE real special_atanh_remainder(real s)
{
    return 0.3333333333333332928 + s * (0.2000000000000729134 + s * (0.1428571428355437858 + s * (0.1111111135871393149 + s * (0.09090894718066429085 + s * (0.07692785032479311552 + s * (0.06657072104827468075 + s * (0.06000536404795356268 + s * (0.04400369243072336941 + s * 0.0808202280597176611))))))));
}

DEVICE real special_log_excess(real log_ratio, real u)
{
    real r = u / (2 + u);
    real s = r * r;
    return s < 0.1111 ? r * (2 * s * special_atanh_remainder(s) - u) : fmin(log_ratio, 1 / EPSILON) - u;
}

DEVICE real special_log_ratio_excess(real ratio, real u)
{
    return special_log_excess(log(ratio), u);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

// skellam_spread_of_grad_mu1_mu2: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real t4;
    int c0;
    real c1;
    real c2;
} skellam_spread_of_grad_mu1_mu2_set;

DEVICE skellam_spread_of_grad_mu1_mu2_set skellam_spread_of_grad_mu1_mu2_prepare_set(real mu1, real mu2)
{
    skellam_spread_of_grad_mu1_mu2_set set;
    real t = sqrt(mu1);
    real t2 = 2 * t;
    real t3 = sqrt(mu2);
    real t4 = t2 * t3;
    set.t4 = t4;
    set.c0 = t4 == 0;
    set.c1 = 2 * t3 * (0.5 / t);
    set.c2 = t2 * (0.5 / t3);
    return set;
}

// skellam_spread_of_grad_mu1_mu2: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    int c0;
} skellam_spread_of_grad_mu1_mu2_row;

DEVICE skellam_spread_of_grad_mu1_mu2_row skellam_spread_of_grad_mu1_mu2_prepare_row(real x)
{
    skellam_spread_of_grad_mu1_mu2_row row;
    row.x = x;
    row.c0 = x == 0;
    return row;
}

// skellam_spread_of_grad_mu1_mu2: what depends on both, from what was computed ahead.
DEVICE skellam_spread_of_grad_mu1_mu2_results skellam_spread_of_grad_mu1_mu2_evaluate(skellam_spread_of_grad_mu1_mu2_set set, skellam_spread_of_grad_mu1_mu2_row row)
{
    real t5 = hypot(row.x, set.t4);
    real t6 = set.t4 / t5;
    return make_skellam_spread_of_grad_mu1_mu2_results(t5, row.c0 && set.c0 ? 0 : t6 * set.c1, row.c0 && set.c0 ? 0 : t6 * set.c2);
}

// skellam_sine_excess: what depends on both, from what was computed ahead.
DEVICE real skellam_sine_excess_m_evaluate(real t)
{
    real s = t * t;
    if (t > 0.7) {
        return sin(t) - t;
    }
    return t * s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800 + s * (1.0 / 6227020800.0 + s * (-1.0 / 1307674368000.0)))))));
}

// skellam_tilted_grad_mu1_mu2_spread: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    int c0;
} skellam_tilted_grad_mu1_mu2_spread_rmmm_row;

DEVICE skellam_tilted_grad_mu1_mu2_spread_rmmm_row skellam_tilted_grad_mu1_mu2_spread_rmmm_prepare_row(real x)
{
    skellam_tilted_grad_mu1_mu2_spread_rmmm_row row;
    row.x = x;
    row.c0 = x < 0;
    return row;
}

// skellam_tilted_grad_mu1_mu2_spread: what depends on both, from what was computed ahead.
DEVICE skellam_tilted_grad_mu1_mu2_spread_results skellam_tilted_grad_mu1_mu2_spread_rmmm_evaluate(skellam_tilted_grad_mu1_mu2_spread_rmmm_row row, real mu1, real mu2, real spread)
{
    real t = mu1 / (0.5 * (spread - row.x));
    real t2 = 1 / (0.5 * (spread - row.x));
    return make_skellam_tilted_grad_mu1_mu2_spread_results(row.c0 ? t * mu2 : 0.5 * (spread + row.x), row.c0 ? mu2 * t2 : 0, row.c0 ? t : 0, row.c0 ? -(t * 0.5 * t2 * mu2) : 0.5);
}

// skellam_shift_of_grad_mu1_mu2_spread: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} skellam_shift_of_grad_mu1_mu2_spread_rmmm_row;

DEVICE skellam_shift_of_grad_mu1_mu2_spread_rmmm_row skellam_shift_of_grad_mu1_mu2_spread_rmmm_prepare_row(real x)
{
    skellam_shift_of_grad_mu1_mu2_spread_rmmm_row row;
    row.x = x;
    return row;
}

// skellam_shift_of_grad_mu1_mu2_spread: what depends on both, from what was computed ahead.
DEVICE skellam_shift_of_grad_mu1_mu2_spread_results skellam_shift_of_grad_mu1_mu2_spread_rmmm_evaluate(skellam_shift_of_grad_mu1_mu2_spread_rmmm_row row, real mu1, real mu2, real spread)
{
    real gap = 2 * mu1 - row.x;
    real t = 2 * mu1 * (row.x - mu1 + mu2) / (gap + spread);
    real t2 = 1 / (gap + spread);
    return make_skellam_shift_of_grad_mu1_mu2_spread_results(gap > 0 ? t : 0.5 * (row.x + spread) - mu1, gap > 0 ? (2 * (row.x - mu1 + mu2) - 2 * mu1 - t * 2) * t2 : -1, gap > 0 ? 2 * mu1 * t2 : 0, gap > 0 ? -(t * t2) : 0.5);
}

// skellam_saddle_exponent_grad_mu1_mu2_spread: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu2;
    real mu1;
} skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_set;

DEVICE skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_set skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_prepare_set(real mu1, real mu2)
{
    skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_set set;
    set.mu2 = mu2;
    set.mu1 = mu1;
    return set;
}

// skellam_saddle_exponent_grad_mu1_mu2_spread: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    skellam_tilted_grad_mu1_mu2_spread_rmmm_row skellam_tilted_grad_mu1_mu2_spread_0;
    real d_mu1_first;
    real d_mu1_second;
    real d_mu2_first;
    real d_mu2_second;
    skellam_shift_of_grad_mu1_mu2_spread_rmmm_row skellam_shift_of_grad_mu1_mu2_spread_0;
} skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_row;

DEVICE skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_row skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_prepare_row(real x)
{
    skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_row row;
    real size = fabs(x);
    real d_mu1_first = x < 0 ? 0 : 1;
    real d_mu2_first = x < 0 ? 1 : 0;
    real d_mu1_second = x < 0 ? 1 : 0;
    real d_mu2_second = x < 0 ? 0 : 1;
    row.c0 = x < 0;
    row.skellam_tilted_grad_mu1_mu2_spread_0 = skellam_tilted_grad_mu1_mu2_spread_rmmm_prepare_row(size);
    row.d_mu1_first = d_mu1_first;
    row.d_mu1_second = d_mu1_second;
    row.d_mu2_first = d_mu2_first;
    row.d_mu2_second = d_mu2_second;
    row.skellam_shift_of_grad_mu1_mu2_spread_0 = skellam_shift_of_grad_mu1_mu2_spread_rmmm_prepare_row(size);
    return row;
}

// skellam_saddle_exponent_grad_mu1_mu2_spread: what depends on both, from what was computed ahead.
DEVICE skellam_saddle_exponent_grad_mu1_mu2_spread_results skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_evaluate(skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_set set, skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_row row, real spread)
{
    real first = row.c0 ? set.mu2 : set.mu1;
    real second = row.c0 ? set.mu1 : set.mu2;
    skellam_tilted_grad_mu1_mu2_spread_results call = skellam_tilted_grad_mu1_mu2_spread_rmmm_evaluate(row.skellam_tilted_grad_mu1_mu2_spread_0, first, second, spread);
    real d_mu1_a = call.d_mu1 * row.d_mu1_first + call.d_mu2 * row.d_mu1_second;
    real d_mu2_a = call.d_mu1 * row.d_mu2_first + call.d_mu2 * row.d_mu2_second;
    real d_spread_a = call.d_spread;
    real a = call.value;
    real t = first / a;
    real t2 = 1 / a;
    real d_mu1_b = second * ((row.d_mu1_first - t * d_mu1_a) * t2) + t * row.d_mu1_second;
    real d_mu2_b = second * ((row.d_mu2_first - t * d_mu2_a) * t2) + t * row.d_mu2_second;
    real d_spread_b = -(t * d_spread_a * t2 * second);
    real b = t * second;
    skellam_shift_of_grad_mu1_mu2_spread_results call2 = skellam_shift_of_grad_mu1_mu2_spread_rmmm_evaluate(row.skellam_shift_of_grad_mu1_mu2_spread_0, first, second, spread);
    real d_mu1_shift = call2.d_mu1 * row.d_mu1_first + call2.d_mu2 * row.d_mu1_second;
    real d_mu2_shift = call2.d_mu1 * row.d_mu2_first + call2.d_mu2 * row.d_mu2_second;
    real d_spread_shift = call2.d_spread;
    real shift = call2.value;
    real t3 = first / a;
    real t4 = -shift / a;
    real t5 = special_log_ratio_excess(t3, t4);
    real t6 = a / first;
    real t7 = shift / first;
    real t8 = special_log_ratio_excess(t6, t7);
    real t9 = t4 / t3;
    real t10 = shift / a;
    real t11 = 1 / a;
    real t12 = (t10 * d_mu1_a - d_mu1_shift) * t11;
    real t13 = t7 / t6;
    real t14 = 1 / first;
    real t15 = (d_mu1_shift - t7 * row.d_mu1_first) * t14;
    real t16 = (t10 * d_mu2_a - d_mu2_shift) * t11;
    real t17 = (d_mu2_shift - t7 * row.d_mu2_first) * t14;
    real t18 = (t10 * d_spread_a - d_spread_shift) * t11;
    real t19 = d_spread_shift * t14;
    return make_skellam_saddle_exponent_grad_mu1_mu2_spread_results(a * t5 + b * t8, t5 * d_mu1_a + a * (fabs(t4) < 0.5 ? -(t9 * t12) : (row.d_mu1_first - t3 * d_mu1_a) * t11 / t3 - t12) + (t8 * d_mu1_b + b * (fabs(t7) < 0.5 ? -(t13 * t15) : (d_mu1_a - t6 * row.d_mu1_first) * t14 / t6 - t15)), t5 * d_mu2_a + a * (fabs(t4) < 0.5 ? -(t9 * t16) : (row.d_mu2_first - t3 * d_mu2_a) * t11 / t3 - t16) + (t8 * d_mu2_b + b * (fabs(t7) < 0.5 ? -(t13 * t17) : (d_mu2_a - t6 * row.d_mu2_first) * t14 / t6 - t17)), t5 * d_spread_a + a * (fabs(t4) < 0.5 ? -(t9 * t18) : -(t3 * d_spread_a * t11 / t3) - t18) + (t8 * d_spread_b + b * (fabs(t7) < 0.5 ? -(t13 * t19) : d_spread_a * t14 / t6 - t19)));
}

// skellam_logpmf_grad_mu1_mu2: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    skellam_spread_of_grad_mu1_mu2_set skellam_spread_of_grad_mu1_mu2_0;
    skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_set skellam_saddle_exponent_grad_mu1_mu2_spread_0;
} skellam_logpmf_grad_mu1_mu2_set;

DEVICE skellam_logpmf_grad_mu1_mu2_set skellam_logpmf_grad_mu1_mu2_prepare_set(real mu1, real mu2)
{
    skellam_logpmf_grad_mu1_mu2_set set;
    set.skellam_spread_of_grad_mu1_mu2_0 = skellam_spread_of_grad_mu1_mu2_prepare_set(mu1, mu2);
    set.skellam_saddle_exponent_grad_mu1_mu2_spread_0 = skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_prepare_set(mu1, mu2);
    return set;
}

// skellam_logpmf_grad_mu1_mu2: what depends on the observation alone, computed once for each.
typedef struct {
    skellam_spread_of_grad_mu1_mu2_row skellam_spread_of_grad_mu1_mu2_0;
    real x;
    skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_row skellam_saddle_exponent_grad_mu1_mu2_spread_0;
} skellam_logpmf_grad_mu1_mu2_row;

DEVICE skellam_logpmf_grad_mu1_mu2_row skellam_logpmf_grad_mu1_mu2_prepare_row(real x)
{
    skellam_logpmf_grad_mu1_mu2_row row;
    row.skellam_spread_of_grad_mu1_mu2_0 = skellam_spread_of_grad_mu1_mu2_prepare_row(x);
    row.x = x;
    row.skellam_saddle_exponent_grad_mu1_mu2_spread_0 = skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_prepare_row(x);
    return row;
}

// skellam_logpmf_grad_mu1_mu2: what depends on both, from what was computed ahead.
DEVICE skellam_logpmf_grad_mu1_mu2_results skellam_logpmf_grad_mu1_mu2_evaluate(skellam_logpmf_grad_mu1_mu2_set set, skellam_logpmf_grad_mu1_mu2_row row)
{
    skellam_spread_of_grad_mu1_mu2_results call = skellam_spread_of_grad_mu1_mu2_evaluate(set.skellam_spread_of_grad_mu1_mu2_0, row.skellam_spread_of_grad_mu1_mu2_0);
    real d_mu1_spread = call.d_mu1;
    real d_mu2_spread = call.d_mu2;
    real spread = call.value;
    real points = ceil(8.6 * sqrt(spread) + 20);
    real h = 2 * PI / points;
    real d_mu1_sum = 0;
    real d_mu2_sum = 0;
    real sum = 0.5;
    real d_mu1_last = 0;
    real d_mu2_last = 0;
    real last = 1;
    for (int j = 1; j < 60 && int_product(2, j) <= points && last > 0.01 * EPSILON && THREAD < 65536; j++) {
        real t = j * h;
        real s = sin(0.5 * t);
        real t2 = exp(-2 * spread * s * s);
        d_mu1_last = -(2 * s * s * d_mu1_spread * t2);
        d_mu2_last = -(2 * s * s * d_mu2_spread * t2);
        last = t2;
        real t3 = cos(row.x * skellam_sine_excess_m_evaluate(t));
        real t4 = int_product(2, j) == points ? 0.5 * t3 : t3;
        d_mu1_sum += t4 * d_mu1_last;
        d_mu2_sum += t4 * d_mu2_last;
        sum += (int_product(2, j) == points ? 0.5 : 1) * last * t3;
    }
    skellam_saddle_exponent_grad_mu1_mu2_spread_results call2 = skellam_saddle_exponent_grad_mu1_mu2_spread_rssm_evaluate(set.skellam_saddle_exponent_grad_mu1_mu2_spread_0, row.skellam_saddle_exponent_grad_mu1_mu2_spread_0, spread);
    real t5 = 2 * sum / points;
    real t6 = special_log_slope(t5);
    real t7 = 1 / points;
    return make_skellam_logpmf_grad_mu1_mu2_results(call2.value + log(t5), call2.d_mu1 + call2.d_spread * d_mu1_spread + t6 * (2 * d_mu1_sum * t7), call2.d_mu2 + call2.d_spread * d_mu2_spread + t6 * (2 * d_mu2_sum * t7));
}

// skellam_logpmf_checked_grad_mu1_mu2: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    skellam_logpmf_grad_mu1_mu2_set skellam_0;
    real c0;
} skellam_logpmf_checked_grad_mu1_mu2_set;

DEVICE skellam_logpmf_checked_grad_mu1_mu2_set skellam_logpmf_checked_grad_mu1_mu2_prepare_set(real mu1, real mu2)
{
    skellam_logpmf_checked_grad_mu1_mu2_set set;
    real bad_mu1 = mu1 > 0 ? 0 : NAN;
    real bad_mu2 = mu2 > 0 ? 0 : NAN;
    set.skellam_0 = skellam_logpmf_grad_mu1_mu2_prepare_set(mu1, mu2);
    set.c0 = bad_mu1 + bad_mu2;
    return set;
}

// skellam_logpmf_checked_grad_mu1_mu2: what depends on the observation alone, computed once for each.
typedef struct {
    skellam_logpmf_grad_mu1_mu2_row skellam_0;
    int inside;
    real outside;
    real t;
} skellam_logpmf_checked_grad_mu1_mu2_row;

DEVICE skellam_logpmf_checked_grad_mu1_mu2_row skellam_logpmf_checked_grad_mu1_mu2_prepare_row(real x)
{
    skellam_logpmf_checked_grad_mu1_mu2_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == floor(x) && fabs(x) < INFINITY;
    row.skellam_0 = skellam_logpmf_grad_mu1_mu2_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// skellam_logpmf_checked_grad_mu1_mu2: what depends on both, from what was computed ahead.
DEVICE skellam_logpmf_checked_grad_mu1_mu2_results skellam_logpmf_checked_grad_mu1_mu2_evaluate(skellam_logpmf_checked_grad_mu1_mu2_set set, skellam_logpmf_checked_grad_mu1_mu2_row row)
{
    skellam_logpmf_grad_mu1_mu2_results call = skellam_logpmf_grad_mu1_mu2_evaluate(set.skellam_0, row.skellam_0);
    real d_mu1_value = call.d_mu1;
    real d_mu2_value = call.d_mu2;
    real value = call.value;
    return make_skellam_logpmf_checked_grad_mu1_mu2_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_mu1_value : row.t) + set.c0, (row.inside ? d_mu2_value : row.t) + set.c0);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 12; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 3; first += 12) {
        const int sums_here = (int)MIN(sets_here * 3 - first, 12);
        for (int s = 0; s < 12; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 3 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 3 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_mu1, d_mu2 are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) skellam_logpmf_checked_grad_mu1_mu2_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT mu1_per_set, index_t mu1_offset, index_t mu1_stride, GLOBAL const real *RESTRICT mu2_per_set, index_t mu2_offset, index_t mu2_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    mu1_per_set += mu1_offset;
    mu2_per_set += mu2_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(skellam_logpmf_checked_grad_mu1_mu2_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = skellam_logpmf_checked_grad_mu1_mu2_prepare_set(mu1_per_set[(first_set + MIN(k, sets_here - 1)) * mu1_stride], mu2_per_set[(first_set + MIN(k, sets_here - 1)) * mu2_stride]);
    BARRIER();

    double total[24];
    UNROLL for (int s = 0; s < 24; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const skellam_logpmf_checked_grad_mu1_mu2_row row = skellam_logpmf_checked_grad_mu1_mu2_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const skellam_logpmf_checked_grad_mu1_mu2_results result = skellam_logpmf_checked_grad_mu1_mu2_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu1;
                        total[k * 3 + 2] += result.d_mu2;
                    }
                }
                {
                    const skellam_logpmf_checked_grad_mu1_mu2_row row = skellam_logpmf_checked_grad_mu1_mu2_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const skellam_logpmf_checked_grad_mu1_mu2_results result = skellam_logpmf_checked_grad_mu1_mu2_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu1;
                        total[k * 3 + 2] += result.d_mu2;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const skellam_logpmf_checked_grad_mu1_mu2_row row = skellam_logpmf_checked_grad_mu1_mu2_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const skellam_logpmf_checked_grad_mu1_mu2_results result = skellam_logpmf_checked_grad_mu1_mu2_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu1;
                        total[k * 3 + 2] += result.d_mu2;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 3 : partial + first_set * 3 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 12; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 3 - 0, 12); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];
    BARRIER();
    UNROLL for (int s = 0; s < 12; s++)
        sums[s * 128 + THREAD] = total[12 + s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 3 - 12, 12); s += 128)
        block_sums[(12 + s) * BLOCKS_Y] = sums[s * 128];
    if (BLOCKS_Y == 1)
        return;
    __shared__ int last;  // does this block finish last of those that share its sets? Then it adds them all
    __threadfence();
    __syncthreads();
    if (THREAD == 0) {
        last = atomicAdd(&counters[BLOCK_X], 1) == BLOCKS_Y - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        add_blocks(out + out_offset, partial, first_set, sets_here, BLOCKS_Y, sums);
        if (THREAD == 0)
            counters[BLOCK_X] = 0;
    }

}










