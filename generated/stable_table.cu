// The table kernel of stable, made by `gpustats generate`. Do not edit.
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
// Too large to be inlined: compiling would take too long.
#define LARGE static __device__ __noinline__

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

DEVICE real special_log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

DEVICE real special_lift(real x, real s)
{
    real e = 1 / EPSILON;
    real e3 = e * e * e;
    real e4 = e * e3;
    real e8 = e4 * e4;
    real far = EPSILON < 1e-10 ? e8 * e8 : e4;
    real up = EPSILON < 1e-10 ? e8 : e3;
    return x < s * (1 / far) ? up : 1;
}

DEVICE real special_log_lift(real factor)
{
    return factor == 1 ? 0 : (EPSILON < 1e-10 ? 8 * 52 : 3 * 23) * LOG_2;
}

DEVICE real special_log_arc(real x, real s)
{
    real factor = special_lift(s, x);
    return log(atan2(s * factor, x)) - special_log_lift(factor);
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

DEVICE real special_log1p_unit(real e)
{
    real s = quotient(e, 2 + e);
    real z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

DEVICE real special_log_expit(real x)
{
    return fmin(x, (real)0) - special_log1p_unit(exp(-fabs(x)));
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
}

DEVICE real special_logaddexp(real a, real b)
{
    return a == b ? a + LOG_2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE real stable_exponent(real y, int slope, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    int left = y < 0;
    real psi = whole * special_expit(y);
    real phi = whole * special_expit(-y);
    real speed = psi * special_expit(-y);
    if (alpha == 1) {
        real sine = sin(left ? psi : phi);
        real cot = (left ? cos(psi) : -cos(phi)) / sine;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (slope) {
            return speed * (beta / rest - 2 * cot + rest / (beta * sine * sine));
        }
        return shift + log(rest / sine) - rest / beta * cot;
    }
    real a = left ? alpha * psi : kappa + alpha * phi;
    real f = left ? delta + psi : phi;
    real c = left ? delta + (1 - alpha) * psi : kappa + (alpha - 1) * phi;
    real sign = left ? 1 : -1;
    if (slope) {
        return speed * (sign * (cos(f) / sin(f) - alpha * alpha * (cos(a) / sin(a))) / (alpha - 1) + (1 - alpha) * (cos(c) / sin(c)));
    }
    return shift + alpha / (alpha - 1) * log(sin(f) / sin(a)) + log(sin(c) / sin(f));
}

DEVICE real stable_log_integrand(real y, int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real v = stable_exponent(y, 0, shift, alpha, beta, whole, kappa, delta);
    real weight = special_log_expit(what == 1 ? -y : y);
    if (what == 0) {
        weight += special_log_expit(-y);
    } else {
        weight += log(fabs(stable_exponent(y, 1, shift, alpha, beta, whole, kappa, delta)));
    }
    return v - exp(v) + weight;
}

DEVICE real stable_center_of(real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real reach = EPSILON < 1e-10 ? 600 : 70;
    real best = 0;
    real value = -INFINITY;
    for (int which = 0; which < 2; which++) {
        real low = -reach;
        real high = reach;
        for (int i = 0; i < 22; i++) {
            real y = 0.5 * (low + high);
            real v = stable_exponent(y, 0, shift, alpha, beta, whole, kappa, delta);
            int rises = v > 0 == alpha > 1;
            if (which == 1 && v < 40) {
                rises = stable_log_integrand(y + 0.01, 0, shift, alpha, beta, whole, kappa, delta) > stable_log_integrand(y - 0.01, 0, shift, alpha, beta, whole, kappa, delta);
            }
            low = rises ? y : low;
            high = rises ? high : y;
        }
        real y_2 = 0.5 * (low + high);
        real at_y = stable_log_integrand(y_2, 0, shift, alpha, beta, whole, kappa, delta);
        if (which == 0 || at_y > value) {
            best = y_2;
            value = at_y;
        }
    }
    return best;
}

DEVICE real stable_log_integral(int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real center = stable_center_of(shift, alpha, beta, whole, kappa, delta);
    real at_center = stable_log_integrand(center, what, shift, alpha, beta, whole, kappa, delta);
    real sum = 1;
    real steepest = alpha == 1 ? fabs(stable_exponent(center, 1, shift, alpha, beta, whole, kappa, delta)) : fmax(alpha, (real)1) / fabs(alpha - 1);
    real step = special_panel_width((alpha == 1 ? 20 : 12) * fmax(steepest, (real)2), 1);
    int falls = alpha > 1 ? 1 : -1;
    int endless = alpha > 1 ? kappa > 0 : alpha < 1 ? delta > 0 : beta < 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        int ahead = 1;
        for (int i = 1; i < 40000 && (term > 0.01 * EPSILON * sum || ahead) && THREAD < 65536; i++) {
            real y = center + int_product(side, i) * step;
            term = exp(stable_log_integrand(y, what, shift, alpha, beta, whole, kappa, delta) - at_center);
            sum += term > 0 ? term : 0;
            ahead = side == falls && endless && stable_exponent(y, 0, shift, alpha, beta, whole, kappa, delta) > 0;
        }
    }
    real value = at_center + log(step * sum) + log(whole);
    if (what != 1 || endless || alpha > 1) {
        return value;
    }
    real least = shift + (alpha == 1 ? -1 : alpha / (1 - alpha) * log(alpha) + log1p(-alpha));
    return special_logaddexp(value, log(whole) + special_log1mexp(-exp(least)));
}

DEVICE real special_stable_tangent(real alpha)
{
    return alpha > 1 ? -tan(PI * (1 - 0.5 * alpha)) : tan(0.5 * PI * alpha);
}

DEVICE real special_log_gamma_near_two(real z)
{
    real numerator = 0.4227843350984671393 + z * (0.7446983132107947606 + z * (0.5193055283793975869 + z * (0.1815238264834719641 + z * (0.0330824603310423564 + z * (0.002935427941079408713 + z * (9.982884455195008484e-5 + z * (3.896344535820739269e-7 + z * -2.74724591681427145e-9)))))));
    real denominator = 1.0 + z * (1.998691873690975826 + z * (1.624572734572609033 + z * (0.6882797416261857106 + z * (0.1616150908767978973 + z * (0.02056718584681987448 + z * (0.001269421114541973567 + z * 2.769495701127702445e-5))))));
    return z * (z + 1) * (numerator / denominator);
}

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_log_gamma(real x)
{
    real log_x = log(x);
    if (x < 3) {
        return special_log_gamma_near_two(x < 1.5 ? x - 1 : x - 2) - (x < 1.5 ? log_x : 0);
    }
    return (x - 0.5) * (log_x - 1) + (HALF_LOG_2PI - 0.5 + special_stirling_series(x));
}

LARGE real stable_log_above_zeta(int what, real d, real alpha, real beta)
{
    real w = alpha > 1 ? PI * (1 - 0.5 * alpha) : 0.5 * PI * alpha;
    real c = cos(w);
    real s = sin(w);
    real kappa = atan2((1 + beta) * s * c, c * c - beta * s * s);
    real zeta = beta * special_stable_tangent(alpha);
    real delta = alpha < 1 ? atan2((1 - beta) * s * c, c * c + beta * s * s) / alpha : 0;
    real whole = PI - delta;
    if (alpha < 1) {
        whole = kappa / alpha;
        kappa = PI - alpha * whole;
    } else {
        whole = (PI - kappa) / alpha;
        delta = PI - whole;
    }
    if (beta > -1 && alpha < 2 && d > 0 && alpha * log(d) > -2 * log(EPSILON)) {
        real value = special_log_gamma(alpha) + log(s * (1 + beta) / PI) - alpha * log(d);
        return what == 0 ? value + log(alpha) - log(d) : what == 1 ? value : special_log1mexp(value);
    }
    if (alpha == 1) {
        real value_2 = stable_log_integral(what, log(2 / PI) - 0.5 * PI * d / beta, alpha, beta, PI, 0, 0);
        return what == 0 ? value_2 - log(2 * beta) : value_2 - LOG_PI;
    }
    if (!(whole > 0)) {
        return what == 2 ? 0 : -INFINITY;
    }
    if (d == 0) {
        return what == 0 ? special_log_gamma(1 + 1 / alpha) + log(sin(whole) / PI) - special_log1p_square(zeta) / (2 * alpha) : what == 1 ? log(whole / PI) : log(delta / PI);
    }
    real shift = alpha / (alpha - 1) * (log(d) - special_log1p_square(zeta) / (2 * alpha));
    real value_3 = stable_log_integral(what, shift, alpha, beta, whole, kappa, delta) - LOG_PI;
    if (what == 0) {
        return value_3 + log(alpha / fabs(alpha - 1)) - log(d);
    }
    return what == 1 ? value_3 : log(delta / PI + exp(value_3));
}

DEVICE int stable_valid(real alpha, real beta)
{
    return alpha <= 2 && fabs(beta) <= 1;
}

// cauchy_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real alpha;
    real c1;
} cauchy_logpdf_mss_set;

DEVICE cauchy_logpdf_mss_set cauchy_logpdf_mss_prepare_set(real alpha, real beta)
{
    cauchy_logpdf_mss_set set;
    set.c0 = -(LOG_PI + log(beta));
    set.alpha = alpha;
    set.c1 = 1 / beta;
    return set;
}

// cauchy_logpdf: what depends on both, from what was computed ahead.
DEVICE real cauchy_logpdf_mss_evaluate(cauchy_logpdf_mss_set set, real x)
{
    return set.c0 - special_log1p_square((x - set.alpha) * set.c1);
}

// cauchy_logcdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real alpha;
    real c0;
    real beta;
} cauchy_logcdf_mss_set;

DEVICE cauchy_logcdf_mss_set cauchy_logcdf_mss_prepare_set(real alpha, real beta)
{
    cauchy_logcdf_mss_set set;
    set.alpha = alpha;
    set.c0 = 1 / beta;
    set.beta = beta;
    return set;
}

// cauchy_logcdf: what depends on both, from what was computed ahead.
DEVICE real cauchy_logcdf_mss_evaluate(cauchy_logcdf_mss_set set, real x)
{
    real z = (x - set.alpha) * set.c0;
    return z < 0 ? special_log_arc(set.alpha - x, set.beta) - LOG_PI : log1p(-atan2((real)(1), z) / PI);
}

// cauchy_logsf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    cauchy_logcdf_mss_set cauchy_0;
} cauchy_logsf_mss_set;

DEVICE cauchy_logsf_mss_set cauchy_logsf_mss_prepare_set(real alpha, real beta)
{
    cauchy_logsf_mss_set set;
    set.cauchy_0 = cauchy_logcdf_mss_prepare_set(-alpha, beta);
    return set;
}

// cauchy_logsf: what depends on both, from what was computed ahead.
DEVICE real cauchy_logsf_mss_evaluate(cauchy_logsf_mss_set set, real x)
{
    return cauchy_logcdf_mss_evaluate(set.cauchy_0, -x);
}

// stable_exponent: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real whole;
    int slope;
    int c0;
    real alpha;
    real kappa;
    real delta;
    real c1;
    real c2;
    real c3;
    real c4;
} stable_exponent_msmsmsss_set;

DEVICE stable_exponent_msmsmsss_set stable_exponent_msmsmsss_prepare_set(int slope, real alpha, real whole, real kappa, real delta)
{
    stable_exponent_msmsmsss_set set;
    set.whole = whole;
    set.slope = slope;
    set.c0 = alpha == 1;
    set.alpha = alpha;
    set.kappa = kappa;
    set.delta = delta;
    set.c1 = 1 - alpha;
    set.c2 = alpha - 1;
    set.c3 = alpha * alpha;
    set.c4 = alpha / (alpha - 1);
    return set;
}

// stable_exponent: what depends on both, from what was computed ahead.
DEVICE real stable_exponent_msmsmsss_evaluate(stable_exponent_msmsmsss_set set, real y, real shift, real beta)
{
    int left = y < 0;
    real psi = set.whole * special_expit(y);
    real phi = set.whole * special_expit(-y);
    real speed = psi * special_expit(-y);
    if (set.c0) {
        real sine = sin(left ? psi : phi);
        real cot = (left ? cos(psi) : -cos(phi)) / sine;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (set.slope) {
            return speed * (beta / rest - 2 * cot + rest / (beta * sine * sine));
        }
        return shift + log(rest / sine) - rest / beta * cot;
    }
    real a = left ? set.alpha * psi : set.kappa + set.alpha * phi;
    real f = left ? set.delta + psi : phi;
    real c = left ? set.delta + set.c1 * psi : set.kappa + set.c2 * phi;
    real sign = left ? 1 : -1;
    if (set.slope) {
        return speed * (sign * (cos(f) / sin(f) - set.c3 * (cos(a) / sin(a))) / set.c2 + set.c1 * (cos(c) / sin(c)));
    }
    return shift + set.c4 * log(sin(f) / sin(a)) + log(sin(c) / sin(f));
}

// stable_log_integrand: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    stable_exponent_msmsmsss_set stable_exponent_0;
    int c0;
    stable_exponent_msmsmsss_set stable_exponent_1;
    int c1;
} stable_log_integrand_msmsmsss_set;

DEVICE stable_log_integrand_msmsmsss_set stable_log_integrand_msmsmsss_prepare_set(int what, real alpha, real whole, real kappa, real delta)
{
    stable_log_integrand_msmsmsss_set set;
    set.stable_exponent_0 = stable_exponent_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c0 = what == 1;
    set.stable_exponent_1 = stable_exponent_msmsmsss_prepare_set(1, alpha, whole, kappa, delta);
    set.c1 = what == 0;
    return set;
}

// stable_log_integrand: what depends on both, from what was computed ahead.
DEVICE real stable_log_integrand_msmsmsss_evaluate(stable_log_integrand_msmsmsss_set set, real y, real shift, real beta)
{
    real v = stable_exponent_msmsmsss_evaluate(set.stable_exponent_0, y, shift, beta);
    real weight = special_log_expit(set.c0 ? -y : y);
    if (set.c1) {
        weight += special_log_expit(-y);
    } else {
        weight += log(fabs(stable_exponent_msmsmsss_evaluate(set.stable_exponent_1, y, shift, beta)));
    }
    return v - exp(v) + weight;
}

// stable_center_of: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real reach;
    stable_exponent_msmsmsss_set stable_exponent_0;
    int c0;
    stable_log_integrand_msmsmsss_set stable_0;
    stable_log_integrand_msmsmsss_set stable_1;
    stable_log_integrand_msmsmsss_set stable_2;
} stable_center_of_msmsss_set;

DEVICE stable_center_of_msmsss_set stable_center_of_msmsss_prepare_set(real alpha, real whole, real kappa, real delta)
{
    stable_center_of_msmsss_set set;
    real reach = EPSILON < 1e-10 ? 600 : 70;
    set.reach = reach;
    set.stable_exponent_0 = stable_exponent_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c0 = alpha > 1;
    set.stable_0 = stable_log_integrand_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.stable_1 = stable_log_integrand_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.stable_2 = stable_log_integrand_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    return set;
}

// stable_center_of: what depends on both, from what was computed ahead.
DEVICE real stable_center_of_msmsss_evaluate(stable_center_of_msmsss_set set, real shift, real beta)
{
    real best = 0;
    real value = -INFINITY;
    for (int which = 0; which < 2; which++) {
        real low = -set.reach;
        real high = set.reach;
        for (int i = 0; i < 22; i++) {
            real y = 0.5 * (low + high);
            real v = stable_exponent_msmsmsss_evaluate(set.stable_exponent_0, y, shift, beta);
            int rises = v > 0 == set.c0;
            if (which == 1 && v < 40) {
                rises = stable_log_integrand_msmsmsss_evaluate(set.stable_0, y + 0.01, shift, beta) > stable_log_integrand_msmsmsss_evaluate(set.stable_1, y - 0.01, shift, beta);
            }
            low = rises ? y : low;
            high = rises ? high : y;
        }
        real y_2 = 0.5 * (low + high);
        real at_y = stable_log_integrand_msmsmsss_evaluate(set.stable_2, y_2, shift, beta);
        if (which == 0 || at_y > value) {
            best = y_2;
            value = at_y;
        }
    }
    return best;
}

// stable_log_integral: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    stable_center_of_msmsss_set stable_center_of_0;
    stable_log_integrand_msmsmsss_set stable_0;
    int c0;
    stable_exponent_msmsmsss_set stable_exponent_0;
    real c1;
    int c2;
    int c3;
    int c4;
    int c5;
    int c6;
    stable_log_integrand_msmsmsss_set stable_1;
    int falls;
    stable_exponent_msmsmsss_set stable_exponent_1;
    real c7;
    int c8;
    real c9;
} stable_log_integral_smsmsss_set;

DEVICE stable_log_integral_smsmsss_set stable_log_integral_smsmsss_prepare_set(int what, real alpha, real whole, real kappa, real delta)
{
    stable_log_integral_smsmsss_set set;
    int falls = alpha > 1 ? 1 : -1;
    set.stable_center_of_0 = stable_center_of_msmsss_prepare_set(alpha, whole, kappa, delta);
    set.stable_0 = stable_log_integrand_msmsmsss_prepare_set(what, alpha, whole, kappa, delta);
    set.c0 = alpha == 1;
    set.stable_exponent_0 = stable_exponent_msmsmsss_prepare_set(1, alpha, whole, kappa, delta);
    set.c1 = fmax(alpha, (real)1) / fabs(alpha - 1);
    set.c2 = alpha == 1 ? 20 : 12;
    set.c3 = alpha > 1;
    set.c4 = kappa > 0;
    set.c5 = alpha < 1;
    set.c6 = delta > 0;
    set.stable_1 = stable_log_integrand_msmsmsss_prepare_set(what, alpha, whole, kappa, delta);
    set.falls = falls;
    set.stable_exponent_1 = stable_exponent_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c7 = log(whole);
    set.c8 = what != 1;
    set.c9 = alpha == 1 ? -1 : alpha / (1 - alpha) * log(alpha) + log1p(-alpha);
    return set;
}

// stable_log_integral: what depends on both, from what was computed ahead.
DEVICE real stable_log_integral_smsmsss_evaluate(stable_log_integral_smsmsss_set set, real shift, real beta)
{
    real center = stable_center_of_msmsss_evaluate(set.stable_center_of_0, shift, beta);
    real at_center = stable_log_integrand_msmsmsss_evaluate(set.stable_0, center, shift, beta);
    real sum = 1;
    real steepest = set.c0 ? fabs(stable_exponent_msmsmsss_evaluate(set.stable_exponent_0, center, shift, beta)) : set.c1;
    real step = special_panel_width(set.c2 * fmax(steepest, (real)2), 1);
    int endless = set.c3 ? set.c4 : set.c5 ? set.c6 : beta < 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        int ahead = 1;
        for (int i = 1; i < 40000 && (term > 0.01 * EPSILON * sum || ahead) && THREAD < 65536; i++) {
            real y = center + int_product(side, i) * step;
            term = exp(stable_log_integrand_msmsmsss_evaluate(set.stable_1, y, shift, beta) - at_center);
            sum += term > 0 ? term : 0;
            ahead = side == set.falls && endless && stable_exponent_msmsmsss_evaluate(set.stable_exponent_1, y, shift, beta) > 0;
        }
    }
    real value = at_center + log(step * sum) + set.c7;
    if (set.c8 || endless || set.c3) {
        return value;
    }
    real least = shift + set.c9;
    return special_logaddexp(value, set.c7 + special_log1mexp(-exp(least)));
}

// stable_log_above_zeta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real s;
    real c;
    real c0;
    real c1;
    int c2;
    real alpha;
    real c3;
    int c4;
    real c5;
    int c6;
    int c7;
    stable_log_integral_smsmsss_set stable_0;
    int c8;
    real c9;
    real c10;
    real c11;
    real c12;
    int what;
    real c13;
} stable_log_above_zeta_smsm_set;

DEVICE stable_log_above_zeta_smsm_set stable_log_above_zeta_smsm_prepare_set(int what, real alpha)
{
    stable_log_above_zeta_smsm_set set;
    real w = alpha > 1 ? PI * (1 - 0.5 * alpha) : 0.5 * PI * alpha;
    real c = cos(w);
    real s = sin(w);
    set.s = s;
    set.c = c;
    set.c0 = c * c;
    set.c1 = special_stable_tangent(alpha);
    set.c2 = alpha < 1;
    set.alpha = alpha;
    set.c3 = special_log_gamma(alpha);
    set.c4 = what == 0;
    set.c5 = log(alpha);
    set.c6 = what == 1;
    set.c7 = alpha < 2;
    set.stable_0 = stable_log_integral_smsmsss_prepare_set(what, alpha, PI, 0, 0);
    set.c8 = alpha == 1;
    set.c9 = what == 2 ? 0 : -INFINITY;
    set.c10 = special_log_gamma(1 + 1 / alpha);
    set.c11 = 2 * alpha;
    set.c12 = alpha / (alpha - 1);
    set.what = what;
    set.c13 = log(alpha / fabs(alpha - 1));
    return set;
}

// stable_log_above_zeta: what depends on both, from what was computed ahead.
LARGE real stable_log_above_zeta_smsm_evaluate(stable_log_above_zeta_smsm_set set, real d, real beta)
{
    real kappa = atan2((1 + beta) * set.s * set.c, set.c0 - beta * set.s * set.s);
    real zeta = beta * set.c1;
    real delta = set.c2 ? atan2((1 - beta) * set.s * set.c, set.c0 + beta * set.s * set.s) / set.alpha : 0;
    real whole = PI - delta;
    if (set.c2) {
        whole = kappa / set.alpha;
        kappa = PI - set.alpha * whole;
    } else {
        whole = (PI - kappa) / set.alpha;
        delta = PI - whole;
    }
    if (beta > -1 && set.c7 && d > 0 && set.alpha * log(d) > -2 * log(EPSILON)) {
        real value = set.c3 + log(set.s * (1 + beta) / PI) - set.alpha * log(d);
        return set.c4 ? value + set.c5 - log(d) : set.c6 ? value : special_log1mexp(value);
    }
    if (set.c8) {
        real value_2 = stable_log_integral_smsmsss_evaluate(set.stable_0, log(2 / PI) - 0.5 * PI * d / beta, beta);
        return set.c4 ? value_2 - log(2 * beta) : value_2 - LOG_PI;
    }
    if (!(whole > 0)) {
        return set.c9;
    }
    if (d == 0) {
        return set.c4 ? set.c10 + log(sin(whole) / PI) - special_log1p_square(zeta) / set.c11 : set.c6 ? log(whole / PI) : log(delta / PI);
    }
    real shift = set.c12 * (log(d) - special_log1p_square(zeta) / set.c11);
    real value_3 = stable_log_integral(set.what, shift, set.alpha, beta, whole, kappa, delta) - LOG_PI;
    if (set.c4) {
        return value_3 + set.c13 - log(d);
    }
    return set.c6 ? value_3 : log(delta / PI + exp(value_3));
}

// stable_standard: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    cauchy_logpdf_mss_set cauchy_0;
    int c1;
    cauchy_logsf_mss_set cauchy_1;
    cauchy_logcdf_mss_set cauchy_2;
    int c2;
    int c3;
    real c4;
    int c5;
    int what;
    int c6;
    stable_log_above_zeta_smsm_set stable_0;
    real beta;
    int c7;
    real alpha;
} stable_standard_smss_set;

DEVICE stable_standard_smss_set stable_standard_smss_prepare_set(int what, real alpha, real beta)
{
    stable_standard_smss_set set;
    set.c0 = what == 0;
    set.cauchy_0 = cauchy_logpdf_mss_prepare_set(0, 1);
    set.c1 = what == 1;
    set.cauchy_1 = cauchy_logsf_mss_prepare_set(0, 1);
    set.cauchy_2 = cauchy_logcdf_mss_prepare_set(0, 1);
    set.c2 = alpha == 1 && beta == 0;
    set.c3 = alpha == 1;
    set.c4 = beta * special_stable_tangent(alpha);
    set.c5 = beta < 0;
    set.what = what;
    set.c6 = int_difference(3, what);
    set.stable_0 = stable_log_above_zeta_smsm_prepare_set(1, alpha);
    set.beta = beta;
    set.c7 = alpha > 1;
    set.alpha = alpha;
    return set;
}

// stable_standard: what depends on both, from what was computed ahead.
DEVICE real stable_standard_smss_evaluate(stable_standard_smss_set set, real z)
{
    if (set.c2) {
        return set.c0 ? cauchy_logpdf_mss_evaluate(set.cauchy_0, z) : set.c1 ? cauchy_logsf_mss_evaluate(set.cauchy_1, z) : cauchy_logcdf_mss_evaluate(set.cauchy_2, z);
    }
    real d = set.c3 ? z : z + set.c4;
    int mirrored = set.c3 ? set.c5 : d < 0;
    int asked = set.c0 || !mirrored ? set.what : set.c6;
    if (asked == 2 && set.c7) {
        return special_log1mexp(stable_log_above_zeta_smsm_evaluate(set.stable_0, fabs(d), mirrored ? -set.beta : set.beta));
    }
    return stable_log_above_zeta(asked, mirrored ? -d : d, set.alpha, mirrored ? -set.beta : set.beta);
}

// stable_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    stable_standard_smss_set stable_standard_0;
    real mu;
    real sigma;
    real c1;
} stable_logpdf_set;

DEVICE stable_logpdf_set stable_logpdf_prepare_set(real alpha, real beta, real mu, real sigma)
{
    stable_logpdf_set set;
    set.c0 = !stable_valid(alpha, beta);
    set.stable_standard_0 = stable_standard_smss_prepare_set(0, alpha, beta);
    set.mu = mu;
    set.sigma = sigma;
    set.c1 = log(sigma);
    return set;
}

// stable_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} stable_logpdf_row;

DEVICE stable_logpdf_row stable_logpdf_prepare_row(real x)
{
    stable_logpdf_row row;
    row.c0 = isinf(x);
    row.x = x;
    return row;
}

// stable_logpdf: what depends on both, from what was computed ahead.
DEVICE real stable_logpdf_evaluate(stable_logpdf_set set, stable_logpdf_row row)
{
    if (set.c0) {
        return NAN;
    }
    return row.c0 ? -INFINITY : stable_standard_smss_evaluate(set.stable_standard_0, (row.x - set.mu) / set.sigma) - set.c1;
}

// stable_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    stable_logpdf_set stable_0;
    real c1;
} stable_logpdf_checked_set;

DEVICE stable_logpdf_checked_set stable_logpdf_checked_prepare_set(real alpha, real beta, real mu, real sigma)
{
    stable_logpdf_checked_set set;
    real bad_alpha = alpha > 0 ? 0 : NAN;
    real bad_beta = beta == beta ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.c0 = !(bad_alpha == 0 && bad_beta == 0 && bad_mu == 0 && bad_sigma == 0);
    set.stable_0 = stable_logpdf_prepare_set(alpha, beta, mu, sigma);
    set.c1 = bad_alpha + bad_beta + bad_mu + bad_sigma;
    return set;
}

// stable_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    stable_logpdf_row stable_0;
    int inside;
    real outside;
} stable_logpdf_checked_row;

DEVICE stable_logpdf_checked_row stable_logpdf_checked_prepare_row(real x)
{
    stable_logpdf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.stable_0 = stable_logpdf_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// stable_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real stable_logpdf_checked_evaluate(stable_logpdf_checked_set set, stable_logpdf_checked_row row)
{
    if (set.c0) {
        return NAN;
    }
    real value = stable_logpdf_evaluate(set.stable_0, row.stable_0);
    return (row.inside ? value : row.outside) + set.c1;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) stable_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    beta_per_set += beta_offset;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(stable_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = stable_logpdf_checked_prepare_set(alpha_per_set[(first_set + k) * alpha_stride], beta_per_set[(first_set + k) * beta_stride], mu_per_set[(first_set + k) * mu_stride], sigma_per_set[(first_set + k) * sigma_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    stable_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(stable_logpdf_checked_row, rows, 256);

    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)256);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = stable_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].c0 || set[0].stable_0.c0 || set[0].stable_0.stable_standard_0.c2 || set[0].stable_0.stable_standard_0.stable_0.c2 || set[0].stable_0.stable_standard_0.stable_0.c8 || set[0].stable_0.stable_standard_0.stable_0.c4 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_0.c1 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_0.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_0.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_0.stable_exponent_1.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_0.stable_exponent_1.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_1.c1 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_1.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_1.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_1.stable_exponent_1.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_1.stable_exponent_1.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_2.c1 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_2.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_2.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_2.stable_exponent_1.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_center_of_0.stable_2.stable_exponent_1.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_0.c1 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_0.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_0.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_0.stable_exponent_1.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_0.stable_exponent_1.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_1.c1 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_1.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_1.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_1.stable_exponent_1.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_1.stable_exponent_1.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_exponent_0.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_exponent_0.slope || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_exponent_1.c0 || set[0].stable_0.stable_standard_0.stable_0.stable_0.stable_exponent_1.slope)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const stable_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, stable_logpdf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const stable_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, stable_logpdf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


