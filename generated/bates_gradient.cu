// The gradient kernel of bates, made by `gpustats generate`. Do not edit.
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
    real d_lower;
    real d_upper;
} bates_near_grad_lower_upper_results;

DEVICE bates_near_grad_lower_upper_results make_bates_near_grad_lower_upper_results(real value, real d_lower, real d_upper)
{
    bates_near_grad_lower_upper_results results;
    results.value = value;
    results.d_lower = d_lower;
    results.d_upper = d_upper;
    return results;
}


typedef struct {
    real value;
    real d_x;
} irwin_hall_log_pieces_grad_x_results;

DEVICE irwin_hall_log_pieces_grad_x_results make_irwin_hall_log_pieces_grad_x_results(real value, real d_x)
{
    irwin_hall_log_pieces_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_s;
} irwin_hall_tilted_variance_grad_s_results;

DEVICE irwin_hall_tilted_variance_grad_s_results make_irwin_hall_tilted_variance_grad_s_results(real value, real d_s)
{
    irwin_hall_tilted_variance_grad_s_results results;
    results.value = value;
    results.d_s = d_s;
    return results;
}


typedef struct {
    real value;
    real d_x;
} irwin_hall_saddle_grad_x_results;

DEVICE irwin_hall_saddle_grad_x_results make_irwin_hall_saddle_grad_x_results(real value, real d_x)
{
    irwin_hall_saddle_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} irwin_hall_along_line_grad_x_results;

DEVICE irwin_hall_along_line_grad_x_results make_irwin_hall_along_line_grad_x_results(real value, real d_x)
{
    irwin_hall_along_line_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} irwin_hall_log_density_grad_x_results;

DEVICE irwin_hall_log_density_grad_x_results make_irwin_hall_log_density_grad_x_results(real value, real d_x)
{
    irwin_hall_log_density_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} irwin_hall_logpdf_grad_x_results;

DEVICE irwin_hall_logpdf_grad_x_results make_irwin_hall_logpdf_grad_x_results(real value, real d_x)
{
    irwin_hall_logpdf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_lower;
    real d_upper;
} bates_logpdf_grad_lower_upper_results;

DEVICE bates_logpdf_grad_lower_upper_results make_bates_logpdf_grad_lower_upper_results(real value, real d_lower, real d_upper)
{
    bates_logpdf_grad_lower_upper_results results;
    results.value = value;
    results.d_lower = d_lower;
    results.d_upper = d_upper;
    return results;
}


typedef struct {
    real value;
    real d_lower;
    real d_upper;
} bates_logpdf_checked_grad_lower_upper_results;

DEVICE bates_logpdf_checked_grad_lower_upper_results make_bates_logpdf_checked_grad_lower_upper_results(real value, real d_lower, real d_upper)
{
    bates_logpdf_checked_grad_lower_upper_results results;
    results.value = value;
    results.d_lower = d_lower;
    results.d_upper = d_upper;
    return results;
}


DEVICE real special_xlogy(real x, real y)
{
    return x == 0 ? 0 : x * log(y);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_log_factorial(real x)
{
    if (x < 3) {
        return x == 2 ? LOG_2 : 0;
    }
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE real irwin_hall_few()
{
    return EPSILON < 1e-10 ? 12 : 6;
}

DEVICE int bates_is_proper(real lower, real upper)
{
    return lower < upper && upper - lower < INFINITY;
}

// bates_near_grad_lower_upper: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lower;
    real upper;
    real c0;
    real n;
    real t2;
} bates_near_grad_lower_upper_set;

DEVICE bates_near_grad_lower_upper_set bates_near_grad_lower_upper_prepare_set(real n, real lower, real upper)
{
    bates_near_grad_lower_upper_set set;
    real t2 = 1 / (upper - lower);
    set.lower = lower;
    set.upper = upper;
    set.c0 = upper - lower;
    set.n = n;
    set.t2 = t2;
    return set;
}

// bates_near_grad_lower_upper: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} bates_near_grad_lower_upper_row;

DEVICE bates_near_grad_lower_upper_row bates_near_grad_lower_upper_prepare_row(real x)
{
    bates_near_grad_lower_upper_row row;
    row.x = x;
    return row;
}

// bates_near_grad_lower_upper: what depends on both, from what was computed ahead.
DEVICE bates_near_grad_lower_upper_results bates_near_grad_lower_upper_evaluate(bates_near_grad_lower_upper_set set, bates_near_grad_lower_upper_row row)
{
    real t = fmin(row.x - set.lower, set.upper - row.x) / set.c0;
    return make_bates_near_grad_lower_upper_results(set.n * t, set.n * (((row.x - set.lower <= set.upper - row.x || set.upper - row.x != set.upper - row.x ? -1 : 0) + t) * set.t2), set.n * (((row.x - set.lower <= set.upper - row.x || set.upper - row.x != set.upper - row.x ? 0 : 1) - t) * set.t2));
}

// irwin_hall_log_pieces_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real power;
    real c0;
    int c1;
    real c2;
    real n;
} irwin_hall_log_pieces_grad_x_mss_set;

DEVICE irwin_hall_log_pieces_grad_x_mss_set irwin_hall_log_pieces_grad_x_mss_prepare_set(real n, real power)
{
    irwin_hall_log_pieces_grad_x_mss_set set;
    set.power = power;
    set.c0 = special_log_factorial(power);
    set.c1 = power == 0;
    set.c2 = power - 1;
    set.n = n;
    return set;
}

// irwin_hall_log_pieces_grad_x: what depends on both, from what was computed ahead.
DEVICE irwin_hall_log_pieces_grad_x_results irwin_hall_log_pieces_grad_x_mss_evaluate(irwin_hall_log_pieces_grad_x_mss_set set, real x)
{
    real d_x_sum = 0;
    real sum = 0;
    real binomial = 1;
    if (x <= 1) {
        return make_irwin_hall_log_pieces_grad_x_results(special_xlogy(set.power, x) - set.c0, set.c1 ? 0 : set.power / x);
    }
    for (int k = 0; k < 7 && k < x && THREAD < 65536; k++) {
        d_x_sum += binomial * (set.c1 ? 0 : set.power * pow(x - k, set.c2));
        sum += binomial * pow(x - k, set.power);
        binomial *= -(set.n - k) / int_sum(k, 1);
    }
    return make_irwin_hall_log_pieces_grad_x_results(log(sum) - set.c0, special_log_slope(sum) * d_x_sum);
}

// irwin_hall_tilted_variance_grad_s: what depends on both, from what was computed ahead.
DEVICE irwin_hall_tilted_variance_grad_s_results irwin_hall_tilted_variance_grad_s_m_evaluate(real s)
{
    real d_s_half_ = cosh(0.5 * s) * 0.5;
    real half_ = sinh(0.5 * s);
    real t = 1 / (s * s);
    real t2 = 0.25 / (half_ * half_);
    return make_irwin_hall_tilted_variance_grad_s_results(s < 0.05 ? 1.0 / 12 : t - t2, s < 0.05 ? 0 : t2 * (2 * half_ * d_s_half_) * (1 / (half_ * half_)) - t * (2 * s) * t);
}

// irwin_hall_saddle_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real d_x_rest;
    real c0;
} irwin_hall_saddle_grad_x_ms_set;

DEVICE irwin_hall_saddle_grad_x_ms_set irwin_hall_saddle_grad_x_ms_prepare_set(real n)
{
    irwin_hall_saddle_grad_x_ms_set set;
    real d_x_rest = 2 * (1 / n);
    set.n = n;
    set.d_x_rest = d_x_rest;
    set.c0 = 1 / n;
    return set;
}

// irwin_hall_saddle_grad_x: what depends on both, from what was computed ahead.
DEVICE irwin_hall_saddle_grad_x_results irwin_hall_saddle_grad_x_ms_evaluate(irwin_hall_saddle_grad_x_ms_set set, real x)
{
    real rest = 2 * x / set.n;
    real r = 1 - rest;
    real t = 2 * r * (3 - r * r) / (rest * (1 + r));
    real d_x_s = (2 * r * (set.d_x_rest * (2 * r)) - set.d_x_rest * (2 * (3 - r * r)) - t * ((1 + r) * set.d_x_rest - set.d_x_rest * rest)) * (1 / (rest * (1 + r)));
    real s = t;
    for (int i = 0; i < 3; i++) {
        real t2 = 1 / expm1(s);
        real t3 = 1 / s;
        real d_x_mean = s < 0.05 ? -(d_x_s * (1.0 / 12)) : t2 * (exp(s) * d_x_s) * t2 - t3 * d_x_s * t3;
        real mean = s < 0.05 ? 0.5 - s / 12 : t3 - t2;
        real d_x_s2 = d_x_s;
        irwin_hall_tilted_variance_grad_s_results call = irwin_hall_tilted_variance_grad_s_m_evaluate(s);
        real t4 = (mean - x / set.n) / call.value;
        real t5 = s + t4;
        d_x_s = t5 > 0.5 * s || 0.5 * s != 0.5 * s ? d_x_s + (d_x_mean - set.c0 - t4 * (call.d_s * d_x_s2)) * (1 / call.value) : 0.5 * d_x_s;
        s = fmax(t5, 0.5 * s);
    }
    return make_irwin_hall_saddle_grad_x_results(s, d_x_s);
}

// irwin_hall_along_line_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    irwin_hall_saddle_grad_x_ms_set irwin_hall_saddle_grad_x_0;
    real n;
    real c0;
    int tail;
    real c1;
    int c2;
} irwin_hall_along_line_grad_x_mss_set;

DEVICE irwin_hall_along_line_grad_x_mss_set irwin_hall_along_line_grad_x_mss_prepare_set(real n, int what)
{
    irwin_hall_along_line_grad_x_mss_set set;
    int tail = what == 1;
    set.irwin_hall_saddle_grad_x_0 = irwin_hall_saddle_grad_x_ms_prepare_set(n);
    set.n = n;
    set.c0 = 0.5 * n;
    set.tail = tail;
    set.c1 = 3 * sqrt(n);
    set.c2 = what == 2;
    return set;
}

// irwin_hall_along_line_grad_x: what depends on both, from what was computed ahead.
DEVICE irwin_hall_along_line_grad_x_results irwin_hall_along_line_grad_x_mss_evaluate(irwin_hall_along_line_grad_x_mss_set set, real x)
{
    irwin_hall_saddle_grad_x_results call = irwin_hall_saddle_grad_x_ms_evaluate(set.irwin_hall_saddle_grad_x_0, x);
    real d_x_s = call.d_x;
    real s = call.value;
    real d_x_s2 = d_x_s;
    irwin_hall_tilted_variance_grad_s_results call2 = irwin_hall_tilted_variance_grad_s_m_evaluate(s);
    real t = sqrt(set.n * call2.value);
    real d_x_spread = 0.5 / t * (set.n * (call2.d_s * d_x_s2));
    real spread = t;
    real t2 = 1 / spread;
    real d_x_least = -(t2 * d_x_spread * t2);
    real least = t2;
    real d = set.c0 - x;
    real t3 = sqrt(0.25 * s * s + least * least);
    d_x_s = set.tail ? 0.5 * d_x_s + 0.5 / t3 * (0.5 * s * d_x_s + 2 * least * d_x_least) : s > 0.1 * least || 0.1 * least != 0.1 * least ? d_x_s : 0.1 * d_x_least;
    s = set.tail ? 0.5 * s + t3 : fmax(s, 0.1 * least);
    real t4 = spread / x;
    real t5 = 11 * spread + 30 * spread * t4;
    real d_x_length = set.n <= t5 || t5 != t5 ? 0 : 11 * d_x_spread + (30 * t4 * d_x_spread + 30 * spread * ((d_x_spread - t4) * (1 / x)));
    real length = fmin(set.n, t5);
    real within = x + length > set.c0;
    if (set.tail && within > 0) {
        real t6 = d + set.c1;
        real t7 = fmax(length, t6);
        d_x_length = set.n <= t7 || t7 != t7 ? 0 : length > t6 || t6 != t6 ? d_x_length : -1;
        length = fmin(set.n, t7);
    }
    real d_x_half_ = cosh(0.5 * s) * (0.5 * d_x_s);
    real half_ = sinh(0.5 * s);
    real t8 = 1 / tanh(0.5 * s);
    real d_x_coth = -(t8 * (isinf(0.5 * s) ? 0 : 4 * special_expit(2 * (0.5 * s)) * special_expit(-(2 * (0.5 * s))) * (0.5 * d_x_s)) * t8);
    real coth = t8;
    real t9 = 2 * PI / length;
    real d_x_slope = -(t9 * d_x_length * (1 / length));
    real slope = t9;
    real d_x_sum = 0;
    real sum = 0;
    real d_x_moment = 0;
    real moment = 0;
    real d_x_size = 0;
    real size = INFINITY;
    for (int i = 0; i < 4000 && size > 0.01 * EPSILON * fabs(sum) && THREAD < 65536; i++) {
        real d_x_y = i * d_x_slope;
        real y = i * slope;
        real t10 = y / s;
        real d_x_ratio = (d_x_y - t10 * d_x_s) * (1 / s);
        real ratio = t10;
        real d_x_sine = cos(0.5 * y) * (0.5 * d_x_y);
        real sine = sin(0.5 * y);
        real t11 = sine / half_;
        real d_x_rise = (d_x_sine - t11 * d_x_half_) * (1 / half_);
        real rise = t11;
        real d_x_height = set.c0 * (1 / (1 + rise * rise) * (2 * rise * d_x_rise) - 1 / (1 + ratio * ratio) * (2 * ratio * d_x_ratio));
        real height = set.c0 * (log1p(rise * rise) - log1p(ratio * ratio));
        real t12 = cos(0.5 * y);
        real t13 = hypot(coth * sine, t12);
        real d_x_angle = (t12 / t13 * (sine * d_x_coth + coth * d_x_sine) + sin(0.5 * y) * (0.5 * d_x_y) * (coth * sine / t13)) / t13;
        real angle = atan2(coth * sine, t12);
        real d_x_phase = set.n * (d_x_angle - (isinf(ratio) ? 0 : 1 / (1 + ratio * ratio) * d_x_ratio)) - (d * d_x_y - y);
        real phase = set.n * (angle + 2 * PI * rint((0.5 * y - angle) / (2 * PI)) - atan(ratio)) - y * d;
        real weight = i == 0 ? 0.5 : 1;
        real t14 = cos(phase);
        real t15 = exp(height);
        real t16 = weight * t15;
        real d_x_a = weight * t14 * (t15 * d_x_height) - sin(phase) * d_x_phase * t16;
        real a = t16 * t14;
        real t17 = sin(phase);
        real t18 = exp(height);
        real t19 = weight * t18;
        real d_x_b = weight * t17 * (t18 * d_x_height) + t19 * (cos(phase) * d_x_phase);
        real b = t19 * t17;
        real t20 = (a + ratio * b) / (1 + ratio * ratio);
        d_x_sum += set.tail ? (d_x_a + (b * d_x_ratio + ratio * d_x_b) - t20 * (2 * ratio * d_x_ratio)) * (1 / (1 + ratio * ratio)) : d_x_a;
        sum += set.tail ? t20 : a;
        d_x_moment += b * d_x_y + y * d_x_b;
        moment += y * b;
        real t21 = hypot(s, y);
        real t22 = coth * s / t21;
        real t23 = fmin(t22, (real)1);
        real t24 = exp(set.n * log(t23));
        d_x_size = i == 0 ? 0 : t24 * (set.n * (special_log_slope(t23) * (t22 <= (real)1 || (real)1 != (real)1 ? (s * d_x_coth + coth * d_x_s - t22 * (s == 0 && y == 0 ? 0 : s / t21 * d_x_s + y / t21 * d_x_y)) * (1 / t21) : 0)));
        size = i == 0 ? INFINITY : t24;
    }
    if (set.c2) {
        real t25 = moment / sum;
        return make_irwin_hall_along_line_grad_x_results(s - t25, d_x_s - (d_x_moment - t25 * d_x_sum) * (1 / sum));
    }
    real d_x_scale = set.n * (0.5 * d_x_s - special_log_slope(s) * d_x_s - d_x_s * (-s < -50 ? -exp(-s) : -(1 / expm1(s)))) - (d * d_x_s - s);
    real scale = set.n * (0.5 * s - log(s) + special_log1mexp(-s)) - s * d;
    if (s < 1) {
        real t26 = half_ / (0.5 * s);
        d_x_scale = set.n * (special_log_slope(t26) * ((d_x_half_ - t26 * (0.5 * d_x_s)) * (1 / (0.5 * s)))) - (d * d_x_s - s);
        scale = set.n * log(t26) - s * d;
    }
    if (!set.tail) {
        real t27 = 2 * sum / length;
        return make_irwin_hall_along_line_grad_x_results(scale + log(t27), d_x_scale + special_log_slope(t27) * ((2 * d_x_sum - t27 * d_x_length) * (1 / length)));
    }
    real t28 = exp(-s * length - scale);
    real t29 = -(d_x_s * length) - s * d_x_length;
    real t30 = -expm1(-s * length);
    real t31 = t28 / t30;
    real d_x_once_ = within > 0 ? (t28 * (t29 - d_x_scale) + exp(-s * length) * t29 * t31) * (1 / t30) : 0;
    real once_ = within > 0 ? t31 : 0;
    real t32 = 2 * sum / (s * length);
    real t33 = t32 - once_;
    return make_irwin_hall_along_line_grad_x_results(scale + log(t33), d_x_scale + special_log_slope(t33) * ((2 * d_x_sum - t32 * (length * d_x_s + s * d_x_length)) * (1 / (s * length)) - d_x_once_));
}

// irwin_hall_log_density_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    irwin_hall_along_line_grad_x_mss_set irwin_hall_along_line_grad_x_0;
} irwin_hall_log_density_grad_x_ms_set;

DEVICE irwin_hall_log_density_grad_x_ms_set irwin_hall_log_density_grad_x_ms_prepare_set(real n)
{
    irwin_hall_log_density_grad_x_ms_set set;
    set.irwin_hall_along_line_grad_x_0 = irwin_hall_along_line_grad_x_mss_prepare_set(n, 0);
    return set;
}

// irwin_hall_log_density_grad_x: what depends on both, from what was computed ahead.
DEVICE irwin_hall_log_density_grad_x_results irwin_hall_log_density_grad_x_ms_evaluate(irwin_hall_log_density_grad_x_ms_set set, real x)
{
    irwin_hall_along_line_grad_x_results call = irwin_hall_along_line_grad_x_mss_evaluate(set.irwin_hall_along_line_grad_x_0, x);
    return make_irwin_hall_log_density_grad_x_results(call.value, call.d_x);
}

// irwin_hall_logpdf_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    irwin_hall_logpdf_grad_x_results c0;
    irwin_hall_log_pieces_grad_x_mss_set irwin_hall_0;
    irwin_hall_log_density_grad_x_ms_set irwin_hall_1;
    int c1;
} irwin_hall_logpdf_grad_x_ms_set;

DEVICE irwin_hall_logpdf_grad_x_ms_set irwin_hall_logpdf_grad_x_ms_prepare_set(real n)
{
    irwin_hall_logpdf_grad_x_ms_set set;
    set.n = n;
    set.c0 = make_irwin_hall_logpdf_grad_x_results(n == 1 ? 0 : -INFINITY, 0);
    set.irwin_hall_0 = irwin_hall_log_pieces_grad_x_mss_prepare_set(n, n - 1);
    set.irwin_hall_1 = irwin_hall_log_density_grad_x_ms_prepare_set(n);
    set.c1 = n <= irwin_hall_few();
    return set;
}

// irwin_hall_logpdf_grad_x: what depends on both, from what was computed ahead.
DEVICE irwin_hall_logpdf_grad_x_results irwin_hall_logpdf_grad_x_ms_evaluate(irwin_hall_logpdf_grad_x_ms_set set, real x)
{
    real d_x_near = x <= set.n - x || set.n - x != set.n - x ? 1 : -1;
    real near = fmin(x, set.n - x);
    if (x > set.n || isinf(x)) {
        return make_irwin_hall_logpdf_grad_x_results(-INFINITY, 0);
    }
    if (near == 0) {
        return set.c0;
    }
    real either;
    real d_x_either;
    if (set.c1 || near <= 1) {
        irwin_hall_log_pieces_grad_x_results call = irwin_hall_log_pieces_grad_x_mss_evaluate(set.irwin_hall_0, near);
        either = call.value;
        d_x_either = call.d_x * d_x_near;
    } else {
        irwin_hall_log_density_grad_x_results call2 = irwin_hall_log_density_grad_x_ms_evaluate(set.irwin_hall_1, near);
        either = call2.value;
        d_x_either = call2.d_x * d_x_near;
    }
    return make_irwin_hall_logpdf_grad_x_results(either, d_x_either);
}

// bates_logpdf_grad_lower_upper: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real lower;
    real upper;
    bates_near_grad_lower_upper_set bates_near_grad_lower_upper_0;
    irwin_hall_logpdf_grad_x_ms_set irwin_hall_0;
    real c1;
    real t;
} bates_logpdf_grad_lower_upper_set;

DEVICE bates_logpdf_grad_lower_upper_set bates_logpdf_grad_lower_upper_prepare_set(real n, real lower, real upper)
{
    bates_logpdf_grad_lower_upper_set set;
    real t = special_log_slope(upper - lower);
    set.c0 = !bates_is_proper(lower, upper);
    set.lower = lower;
    set.upper = upper;
    set.bates_near_grad_lower_upper_0 = bates_near_grad_lower_upper_prepare_set(n, lower, upper);
    set.irwin_hall_0 = irwin_hall_logpdf_grad_x_ms_prepare_set(n);
    set.c1 = log(n) - log(upper - lower);
    set.t = t;
    return set;
}

// bates_logpdf_grad_lower_upper: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    bates_near_grad_lower_upper_row bates_near_grad_lower_upper_0;
} bates_logpdf_grad_lower_upper_row;

DEVICE bates_logpdf_grad_lower_upper_row bates_logpdf_grad_lower_upper_prepare_row(real x)
{
    bates_logpdf_grad_lower_upper_row row;
    row.x = x;
    row.bates_near_grad_lower_upper_0 = bates_near_grad_lower_upper_prepare_row(x);
    return row;
}

// bates_logpdf_grad_lower_upper: what depends on both, from what was computed ahead.
DEVICE bates_logpdf_grad_lower_upper_results bates_logpdf_grad_lower_upper_evaluate(bates_logpdf_grad_lower_upper_set set, bates_logpdf_grad_lower_upper_row row)
{
    if (set.c0) {
        return make_bates_logpdf_grad_lower_upper_results(NAN, NAN, NAN);
    }
    if (row.x < set.lower || row.x > set.upper) {
        return make_bates_logpdf_grad_lower_upper_results(-INFINITY, 0, 0);
    }
    bates_near_grad_lower_upper_results call2 = bates_near_grad_lower_upper_evaluate(set.bates_near_grad_lower_upper_0, row.bates_near_grad_lower_upper_0);
    real d_lower_x = call2.d_lower;
    real d_upper_x = call2.d_upper;
    irwin_hall_logpdf_grad_x_results call = irwin_hall_logpdf_grad_x_ms_evaluate(set.irwin_hall_0, call2.value);
    return make_bates_logpdf_grad_lower_upper_results(set.c1 + call.value, set.t + call.d_x * d_lower_x, call.d_x * d_upper_x - set.t);
}

// bates_logpdf_checked_grad_lower_upper: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    bates_logpdf_grad_lower_upper_set bates_0;
    real c0;
} bates_logpdf_checked_grad_lower_upper_set;

DEVICE bates_logpdf_checked_grad_lower_upper_set bates_logpdf_checked_grad_lower_upper_prepare_set(real n, real lower, real upper)
{
    bates_logpdf_checked_grad_lower_upper_set set;
    real bad_n = n > 0 && n == floor(n) && fabs(n) < INFINITY ? 0 : NAN;
    real bad_lower = lower == lower ? 0 : NAN;
    real bad_upper = upper == upper ? 0 : NAN;
    set.bates_0 = bates_logpdf_grad_lower_upper_prepare_set(n, lower, upper);
    set.c0 = bad_n + bad_lower + bad_upper;
    return set;
}

// bates_logpdf_checked_grad_lower_upper: what depends on the observation alone, computed once for each.
typedef struct {
    bates_logpdf_grad_lower_upper_row bates_0;
    int inside;
    real outside;
    real t;
} bates_logpdf_checked_grad_lower_upper_row;

DEVICE bates_logpdf_checked_grad_lower_upper_row bates_logpdf_checked_grad_lower_upper_prepare_row(real x)
{
    bates_logpdf_checked_grad_lower_upper_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.bates_0 = bates_logpdf_grad_lower_upper_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// bates_logpdf_checked_grad_lower_upper: what depends on both, from what was computed ahead.
DEVICE bates_logpdf_checked_grad_lower_upper_results bates_logpdf_checked_grad_lower_upper_evaluate(bates_logpdf_checked_grad_lower_upper_set set, bates_logpdf_checked_grad_lower_upper_row row)
{
    bates_logpdf_grad_lower_upper_results call = bates_logpdf_grad_lower_upper_evaluate(set.bates_0, row.bates_0);
    real d_lower_value = call.d_lower;
    real d_upper_value = call.d_upper;
    real value = call.value;
    return make_bates_logpdf_checked_grad_lower_upper_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_lower_value : row.t) + set.c0, (row.inside ? d_upper_value : row.t) + set.c0);
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
// Here f has several results: value, d_lower, d_upper are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) bates_logpdf_checked_grad_lower_upper_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT n_per_set, index_t n_offset, index_t n_stride, GLOBAL const real *RESTRICT lower_per_set, index_t lower_offset, index_t lower_stride, GLOBAL const real *RESTRICT upper_per_set, index_t upper_offset, index_t upper_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    n_per_set += n_offset;
    lower_per_set += lower_offset;
    upper_per_set += upper_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(bates_logpdf_checked_grad_lower_upper_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = bates_logpdf_checked_grad_lower_upper_prepare_set(n_per_set[(first_set + MIN(k, sets_here - 1)) * n_stride], lower_per_set[(first_set + MIN(k, sets_here - 1)) * lower_stride], upper_per_set[(first_set + MIN(k, sets_here - 1)) * upper_stride]);
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
                    const bates_logpdf_checked_grad_lower_upper_row row = bates_logpdf_checked_grad_lower_upper_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const bates_logpdf_checked_grad_lower_upper_results result = bates_logpdf_checked_grad_lower_upper_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lower;
                        total[k * 3 + 2] += result.d_upper;
                    }
                }
                {
                    const bates_logpdf_checked_grad_lower_upper_row row = bates_logpdf_checked_grad_lower_upper_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const bates_logpdf_checked_grad_lower_upper_results result = bates_logpdf_checked_grad_lower_upper_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lower;
                        total[k * 3 + 2] += result.d_upper;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const bates_logpdf_checked_grad_lower_upper_row row = bates_logpdf_checked_grad_lower_upper_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const bates_logpdf_checked_grad_lower_upper_results result = bates_logpdf_checked_grad_lower_upper_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_lower;
                        total[k * 3 + 2] += result.d_upper;
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










