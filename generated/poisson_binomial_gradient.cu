// The gradient kernel of poisson_binomial, made by `gpustats generate`. Do not edit.
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
    real d_p;
} poisson_binomial_log_sum_grad_p__results;

DEVICE poisson_binomial_log_sum_grad_p__results make_poisson_binomial_log_sum_grad_p__results(real value, real d_p)
{
    poisson_binomial_log_sum_grad_p__results results;
    results.value = value;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_p;
} poisson_binomial_logpmf_grad_p_results;

DEVICE poisson_binomial_logpmf_grad_p_results make_poisson_binomial_logpmf_grad_p_results(real value, real d_p)
{
    poisson_binomial_logpmf_grad_p_results results;
    results.value = value;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_p;
} poisson_binomial_logpmf_checked_grad_p_results;

DEVICE poisson_binomial_logpmf_checked_grad_p_results make_poisson_binomial_logpmf_checked_grad_p_results(real value, real d_p)
{
    poisson_binomial_logpmf_checked_grad_p_results results;
    results.value = value;
    results.d_p = d_p;
    return results;
}


DEVICE real special_logit(real p)
{
    real odds = p / (1 - p);
    return p < 0.25 ? log(odds) : log1p((2 * p - 1) / (1 - p));
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

DEVICE real poisson_binomial_lower(GLOBAL const real *p, int dim)
{
    real certain = 0;
    for (int j = 0; j < dim; j++) {
        certain += p[j] == 1 ? 1 : 0;
    }
    return certain;
}

DEVICE real poisson_binomial_upper(GLOBAL const real *p, int dim)
{
    real possible = 0;
    for (int j = 0; j < dim; j++) {
        possible += p[j] > 0 ? 1 : 0;
    }
    return possible;
}

// poisson_binomial_tilt_to: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lower;
    real upper;
} poisson_binomial_tilt_to_set;

DEVICE poisson_binomial_tilt_to_set poisson_binomial_tilt_to_prepare_set(GLOBAL const real *p, int dim)
{
    poisson_binomial_tilt_to_set set;
    real lower = poisson_binomial_lower(p, dim);
    real upper = poisson_binomial_upper(p, dim);
    set.lower = lower;
    set.upper = upper;
    return set;
}

// poisson_binomial_tilt_to: what depends on the observation alone, computed once for each.
typedef struct {
    real y;
} poisson_binomial_tilt_to_row;

DEVICE poisson_binomial_tilt_to_row poisson_binomial_tilt_to_prepare_row(real y)
{
    poisson_binomial_tilt_to_row row;
    row.y = y;
    return row;
}

// poisson_binomial_tilt_to: what depends on both, from what was computed ahead.
DEVICE real poisson_binomial_tilt_to_evaluate(poisson_binomial_tilt_to_set set, poisson_binomial_tilt_to_row row, GLOBAL const real *p, int dim)
{
    real target = log((row.y - set.lower) / (set.upper - row.y));
    real low = INFINITY;
    real high = -INFINITY;
    real tilt = 0;
    real step = INFINITY;
    for (int j = 0; j < dim; j++) {
        if (p[j] > 0 && p[j] < 1) {
            low = fmin(low, -special_logit(p[j]));
            high = fmax(high, -special_logit(p[j]));
        }
    }
    low -= log((real)dim) + 1;
    high += log((real)dim) + 1;
    for (int i = 0; i < 100 && fabs(step) > 1e-3 && THREAD < 65536; i++) {
        real above = 0;
        real below = 0;
        real var = 0;
        for (int j_2 = 0; j_2 < dim; j_2++) {
            if (p[j_2] > 0 && p[j_2] < 1) {
                real success = special_expit(special_logit(p[j_2]) + tilt);
                real failure = special_expit(-special_logit(p[j_2]) - tilt);
                above += success;
                below += failure;
                var += success * failure;
            }
        }
        real error = log(above / below) - target;
        real newton = tilt - error / (var * (1 / above + 1 / below));
        low = error < 0 ? tilt : low;
        high = error < 0 ? high : tilt;
        real next = newton > low && newton < high ? newton : 0.5 * (low + high);
        step = (next - tilt) * fmax(sqrt(var), (real)1);
        tilt = next;
    }
    return tilt;
}

// poisson_binomial_log_factor: what depends on both, from what was computed ahead.
DEVICE real poisson_binomial_log_factor_mm_evaluate(real p, real tilt)
{
    real u = p * expm1(tilt);
    if (p == 0 || p == 1) {
        return p * tilt;
    }
    return tilt > 30 ? tilt + log(p + (1 - p) * exp(-tilt)) : u < -0.5 ? log(1 - p + p * exp(tilt)) : log1p(u);
}

// poisson_binomial_around: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real length;
    real own;
    real c0;
    int component;
    real r;
    int c1;
    int c2;
} poisson_binomial_around_rsssmss_set;

DEVICE poisson_binomial_around_rsssmss_set poisson_binomial_around_rsssmss_prepare_set(GLOBAL const real *p, int dim, real length, int up, int what, int component)
{
    poisson_binomial_around_rsssmss_set set;
    real own = p[min(max(component, 0), max(dim - 1, 0))];
    set.length = length;
    set.own = own;
    set.c0 = 1 - own;
    set.component = component;
    real r = up ? -1 : 1;
    set.r = r;
    set.c1 = length > 1;
    set.c2 = what == 0;
    return set;
}

// poisson_binomial_around: what depends on the observation alone, computed once for each.
typedef struct {
    real y;
} poisson_binomial_around_rsssmss_row;

DEVICE poisson_binomial_around_rsssmss_row poisson_binomial_around_rsssmss_prepare_row(real y)
{
    poisson_binomial_around_rsssmss_row row;
    row.y = y;
    return row;
}

// poisson_binomial_around: what depends on both, from what was computed ahead.
DEVICE real poisson_binomial_around_rsssmss_evaluate(poisson_binomial_around_rsssmss_set set, poisson_binomial_around_rsssmss_row row, GLOBAL const real *p, int dim, real tilt)
{
    real e = exp(-fabs(tilt));
    real damp = exp(-fabs(tilt) * set.length);
    real sum = 0;
    real slope = 0;
    real size = 1;
    real scale = tilt > 0 ? set.own + set.c0 * e : set.c0 + set.own * e;
    for (int l = 0; l <= dim && int_product(2, l) <= int_sum(dim, 1) && size > 0.01 * EPSILON && THREAD < 65536; l++) {
        real unit = 2 * PI / int_sum(dim, 1);
        real t = unit * l;
        real s = sin(t);
        real half_ = sin(0.5 * t);
        real versed = 2 * half_ * half_;
        real turn = unit * fmod(row.y * l, (real)int_sum(dim, 1));
        real re = cos(turn);
        real im = -sin(turn);
        real fr = 1;
        real fi = 0;
        for (int j = 0; j < dim; j++) {
            real q = tilt > 0 ? p[j] / (p[j] + (1 - p[j]) * e) : p[j] * e / (1 - p[j] + p[j] * e);
            real a = 1 - q * versed;
            real b = q * s;
            real next = re * a - im * b;
            im = re * b + im * a;
            re = next;
            fr = j == set.component ? a : fr;
            fi = j == set.component ? b : fi;
        }
        size = hypot(re, im);
        if (set.c1) {
            real w = unit * fmod(set.length * l, (real)int_sum(dim, 1));
            real h = sin(0.5 * w);
            real nr = -expm1(-fabs(tilt) * set.length) + 2 * damp * h * h;
            real ni = -set.r * damp * sin(w);
            real dr = -expm1(-fabs(tilt)) + e * versed;
            real di = -set.r * e * s;
            real norm = dr * dr + di * di;
            real gr = norm == 0 ? set.length : (nr * dr + ni * di) / norm;
            real gi = norm == 0 ? 0 : (ni * dr - nr * di) / norm;
            real next_2 = re * gr - im * gi;
            im = re * gi + im * gr;
            re = next_2;
        }
        real weight = l == 0 || int_product(2, l) == int_sum(dim, 1) ? 1 : 2;
        real zr = tilt > 0 ? -expm1(-tilt) - versed : expm1(tilt) - e * versed;
        real zi = tilt > 0 ? s : e * s;
        real tr = re * zr - im * zi;
        real ti = re * zi + im * zr;
        sum += weight * re;
        slope += weight * (tr * fr + ti * fi) / (fr * fr + fi * fi);
    }
    return set.c2 ? log(sum / int_sum(dim, 1)) : slope / (scale * sum);
}

// poisson_binomial_log_sum: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lower;
    real upper;
    poisson_binomial_tilt_to_set poisson_binomial_tilt_to_0;
    poisson_binomial_around_rsssmss_set poisson_binomial_around_0;
} poisson_binomial_log_sum_set;

DEVICE poisson_binomial_log_sum_set poisson_binomial_log_sum_prepare_set(GLOBAL const real *p, int dim, real length, int up)
{
    poisson_binomial_log_sum_set set;
    real lower = poisson_binomial_lower(p, dim);
    real upper = poisson_binomial_upper(p, dim);
    set.lower = lower;
    set.upper = upper;
    set.poisson_binomial_tilt_to_0 = poisson_binomial_tilt_to_prepare_set(p, dim);
    set.poisson_binomial_around_0 = poisson_binomial_around_rsssmss_prepare_set(p, dim, length, up, 0, 0);
    return set;
}

// poisson_binomial_log_sum: what depends on the observation alone, computed once for each.
typedef struct {
    real y;
    poisson_binomial_tilt_to_row poisson_binomial_tilt_to_0;
    poisson_binomial_around_rsssmss_row poisson_binomial_around_0;
} poisson_binomial_log_sum_row;

DEVICE poisson_binomial_log_sum_row poisson_binomial_log_sum_prepare_row(real y)
{
    poisson_binomial_log_sum_row row;
    row.y = y;
    row.poisson_binomial_tilt_to_0 = poisson_binomial_tilt_to_prepare_row(y);
    row.poisson_binomial_around_0 = poisson_binomial_around_rsssmss_prepare_row(y);
    return row;
}

// poisson_binomial_log_sum: what depends on both, from what was computed ahead.
DEVICE real poisson_binomial_log_sum_evaluate(poisson_binomial_log_sum_set set, poisson_binomial_log_sum_row row, GLOBAL const real *p, int dim)
{
    real value = 0;
    if (row.y <= set.lower || row.y >= set.upper) {
        for (int j = 0; j < dim; j++) {
            value += row.y <= set.lower ? (p[j] < 1 ? log1p(-p[j]) : 0) : p[j] > 0 ? log(p[j]) : 0;
        }
        return value;
    }
    real tilt = poisson_binomial_tilt_to_evaluate(set.poisson_binomial_tilt_to_0, row.poisson_binomial_tilt_to_0, p, dim);
    for (int j_2 = 0; j_2 < dim; j_2++) {
        value += poisson_binomial_log_factor_mm_evaluate(p[j_2], tilt);
    }
    return value - tilt * row.y + poisson_binomial_around_rsssmss_evaluate(set.poisson_binomial_around_0, row.poisson_binomial_around_0, p, dim, tilt);
}

// poisson_binomial_log_sum_grad_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    real lower;
    int c2;
    real c3;
    real upper;
    poisson_binomial_around_rsssmss_set poisson_binomial_around_0;
    poisson_binomial_tilt_to_set poisson_binomial_tilt_to_0;
} poisson_binomial_log_sum_grad_p_set;

DEVICE poisson_binomial_log_sum_grad_p_set poisson_binomial_log_sum_grad_p_prepare_set(GLOBAL const real *p, int dim, real length, int up, int component)
{
    poisson_binomial_log_sum_grad_p_set set;
    real lower = poisson_binomial_lower(p, dim);
    real upper = poisson_binomial_upper(p, dim);
    real own = p[min(max(component, 0), max(dim - 1, 0))];
    set.c0 = own < 1;
    set.c1 = -1 / (1 - own);
    set.lower = lower;
    set.c2 = own > 0;
    set.c3 = 1 / own;
    set.upper = upper;
    set.poisson_binomial_around_0 = poisson_binomial_around_rsssmss_prepare_set(p, dim, length, up, 1, component);
    set.poisson_binomial_tilt_to_0 = poisson_binomial_tilt_to_prepare_set(p, dim);
    return set;
}

// poisson_binomial_log_sum_grad_p: what depends on the observation alone, computed once for each.
typedef struct {
    real y;
    poisson_binomial_around_rsssmss_row poisson_binomial_around_0;
    poisson_binomial_tilt_to_row poisson_binomial_tilt_to_0;
} poisson_binomial_log_sum_grad_p_row;

DEVICE poisson_binomial_log_sum_grad_p_row poisson_binomial_log_sum_grad_p_prepare_row(real y)
{
    poisson_binomial_log_sum_grad_p_row row;
    row.y = y;
    row.poisson_binomial_around_0 = poisson_binomial_around_rsssmss_prepare_row(y);
    row.poisson_binomial_tilt_to_0 = poisson_binomial_tilt_to_prepare_row(y);
    return row;
}

// poisson_binomial_log_sum_grad_p: what depends on both, from what was computed ahead.
DEVICE real poisson_binomial_log_sum_grad_p_evaluate(poisson_binomial_log_sum_grad_p_set set, poisson_binomial_log_sum_grad_p_row row, GLOBAL const real *p, int dim)
{
    real rest = 0;
    if (row.y <= set.lower) {
        for (int j = 0; j < dim; j++) {
            rest += p[j] < 1 ? p[j] / (1 - p[j]) : 0;
        }
        return set.c0 ? set.c1 : 1 - rest;
    }
    if (row.y >= set.upper) {
        for (int j_2 = 0; j_2 < dim; j_2++) {
            rest += p[j_2] > 0 ? (1 - p[j_2]) / p[j_2] : 0;
        }
        return set.c2 ? set.c3 : rest - 1;
    }
    return poisson_binomial_around_rsssmss_evaluate(set.poisson_binomial_around_0, row.poisson_binomial_around_0, p, dim, poisson_binomial_tilt_to_evaluate(set.poisson_binomial_tilt_to_0, row.poisson_binomial_tilt_to_0, p, dim));
}

// poisson_binomial_log_sum_grad_p_: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    poisson_binomial_log_sum_set poisson_binomial_0;
    poisson_binomial_log_sum_grad_p_set poisson_binomial_1;
} poisson_binomial_log_sum_grad_p__set;

DEVICE poisson_binomial_log_sum_grad_p__set poisson_binomial_log_sum_grad_p__prepare_set(GLOBAL const real *p, int dim, real length, int up, int component)
{
    poisson_binomial_log_sum_grad_p__set set;
    set.poisson_binomial_0 = poisson_binomial_log_sum_prepare_set(p, dim, length, up);
    set.poisson_binomial_1 = poisson_binomial_log_sum_grad_p_prepare_set(p, dim, length, up, component);
    return set;
}

// poisson_binomial_log_sum_grad_p_: what depends on the observation alone, computed once for each.
typedef struct {
    poisson_binomial_log_sum_row poisson_binomial_0;
    poisson_binomial_log_sum_grad_p_row poisson_binomial_1;
} poisson_binomial_log_sum_grad_p__row;

DEVICE poisson_binomial_log_sum_grad_p__row poisson_binomial_log_sum_grad_p__prepare_row(real y)
{
    poisson_binomial_log_sum_grad_p__row row;
    row.poisson_binomial_0 = poisson_binomial_log_sum_prepare_row(y);
    row.poisson_binomial_1 = poisson_binomial_log_sum_grad_p_prepare_row(y);
    return row;
}

// poisson_binomial_log_sum_grad_p_: what depends on both, from what was computed ahead.
DEVICE poisson_binomial_log_sum_grad_p__results poisson_binomial_log_sum_grad_p__evaluate(poisson_binomial_log_sum_grad_p__set set, poisson_binomial_log_sum_grad_p__row row, GLOBAL const real *p, int dim)
{
    return make_poisson_binomial_log_sum_grad_p__results(poisson_binomial_log_sum_evaluate(set.poisson_binomial_0, row.poisson_binomial_0, p, dim), poisson_binomial_log_sum_grad_p_evaluate(set.poisson_binomial_1, row.poisson_binomial_1, p, dim));
}

// poisson_binomial_logpmf_grad_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    poisson_binomial_log_sum_grad_p__set poisson_binomial_0;
} poisson_binomial_logpmf_grad_p_set;

DEVICE poisson_binomial_logpmf_grad_p_set poisson_binomial_logpmf_grad_p_prepare_set(GLOBAL const real *p, int dim, int component)
{
    poisson_binomial_logpmf_grad_p_set set;
    set.c0 = poisson_binomial_lower(p, dim);
    set.c1 = poisson_binomial_upper(p, dim);
    set.poisson_binomial_0 = poisson_binomial_log_sum_grad_p__prepare_set(p, dim, 1, 0, component);
    return set;
}

// poisson_binomial_logpmf_grad_p: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    poisson_binomial_log_sum_grad_p__row poisson_binomial_0;
} poisson_binomial_logpmf_grad_p_row;

DEVICE poisson_binomial_logpmf_grad_p_row poisson_binomial_logpmf_grad_p_prepare_row(real x)
{
    poisson_binomial_logpmf_grad_p_row row;
    row.x = x;
    row.poisson_binomial_0 = poisson_binomial_log_sum_grad_p__prepare_row(x);
    return row;
}

// poisson_binomial_logpmf_grad_p: what depends on both, from what was computed ahead.
DEVICE poisson_binomial_logpmf_grad_p_results poisson_binomial_logpmf_grad_p_evaluate(poisson_binomial_logpmf_grad_p_set set, poisson_binomial_logpmf_grad_p_row row, GLOBAL const real *p, int dim)
{
    if (row.x < set.c0 || row.x > set.c1) {
        return make_poisson_binomial_logpmf_grad_p_results(-INFINITY, 0);
    }
    poisson_binomial_log_sum_grad_p__results call = poisson_binomial_log_sum_grad_p__evaluate(set.poisson_binomial_0, row.poisson_binomial_0, p, dim);
    return make_poisson_binomial_logpmf_grad_p_results(call.value, call.d_p);
}

// poisson_binomial_logpmf_checked_grad_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    poisson_binomial_logpmf_grad_p_set poisson_binomial_0;
    real bad_p;
} poisson_binomial_logpmf_checked_grad_p_set;

DEVICE poisson_binomial_logpmf_checked_grad_p_set poisson_binomial_logpmf_checked_grad_p_prepare_set(GLOBAL const real *p, int dim, int component)
{
    poisson_binomial_logpmf_checked_grad_p_set set;
    real bad_p = 0;
    for (int i = 0; i < dim; i++) {
        if (!(p[i] >= 0 && p[i] <= 1)) {
            bad_p = NAN;
        }
    }
    set.poisson_binomial_0 = poisson_binomial_logpmf_grad_p_prepare_set(p, dim, component);
    set.bad_p = bad_p;
    return set;
}

// poisson_binomial_logpmf_checked_grad_p: what depends on the observation alone, computed once for each.
typedef struct {
    poisson_binomial_logpmf_grad_p_row poisson_binomial_0;
    real outside;
    real d_p_outside;
    int inside;
} poisson_binomial_logpmf_checked_grad_p_row;

DEVICE poisson_binomial_logpmf_checked_grad_p_row poisson_binomial_logpmf_checked_grad_p_prepare_row(real x)
{
    poisson_binomial_logpmf_checked_grad_p_row row;
    real d_p_outside = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.poisson_binomial_0 = poisson_binomial_logpmf_grad_p_prepare_row(x);
    row.outside = outside;
    row.d_p_outside = d_p_outside;
    row.inside = inside;
    return row;
}

// poisson_binomial_logpmf_checked_grad_p: what depends on both, from what was computed ahead.
DEVICE poisson_binomial_logpmf_checked_grad_p_results poisson_binomial_logpmf_checked_grad_p_evaluate(poisson_binomial_logpmf_checked_grad_p_set set, poisson_binomial_logpmf_checked_grad_p_row row, GLOBAL const real *p, int dim)
{
    real either;
    real d_p_either;
    if (row.inside) {
        poisson_binomial_logpmf_grad_p_results call = poisson_binomial_logpmf_grad_p_evaluate(set.poisson_binomial_0, row.poisson_binomial_0, p, dim);
        either = call.value;
        d_p_either = call.d_p;
    } else {
        either = row.outside;
        d_p_either = row.d_p_outside;
    }
    return make_poisson_binomial_logpmf_checked_grad_p_results(either + set.bad_p, d_p_either + set.bad_p);
}

// poisson_binomial_logpmf_checked_d_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    poisson_binomial_logpmf_checked_grad_p_set poisson_binomial_0;
} poisson_binomial_logpmf_checked_d_p_set;

DEVICE poisson_binomial_logpmf_checked_d_p_set poisson_binomial_logpmf_checked_d_p_prepare_set(GLOBAL const real *p, int dim, int component)
{
    poisson_binomial_logpmf_checked_d_p_set set;
    set.poisson_binomial_0 = poisson_binomial_logpmf_checked_grad_p_prepare_set(p, dim, component);
    return set;
}

// poisson_binomial_logpmf_checked_d_p: what depends on the observation alone, computed once for each.
typedef struct {
    poisson_binomial_logpmf_checked_grad_p_row poisson_binomial_0;
} poisson_binomial_logpmf_checked_d_p_row;

DEVICE poisson_binomial_logpmf_checked_d_p_row poisson_binomial_logpmf_checked_d_p_prepare_row(real x)
{
    poisson_binomial_logpmf_checked_d_p_row row;
    row.poisson_binomial_0 = poisson_binomial_logpmf_checked_grad_p_prepare_row(x);
    return row;
}

// poisson_binomial_logpmf_checked_d_p: what depends on both, from what was computed ahead.
DEVICE real poisson_binomial_logpmf_checked_d_p_evaluate(poisson_binomial_logpmf_checked_d_p_set set, poisson_binomial_logpmf_checked_d_p_row row, GLOBAL const real *p, int dim)
{
    poisson_binomial_logpmf_checked_grad_p_results results = poisson_binomial_logpmf_checked_grad_p_evaluate(set.poisson_binomial_0, row.poisson_binomial_0, p, dim);
    return results.d_p;
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 8; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 1; first += 8) {
        const int sums_here = (int)MIN(sets_here * 1 - first, 8);
        for (int s = 0; s < 8; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 1 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 1 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) poisson_binomial_logpmf_checked_d_p_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT p_per_set, index_t p_offset, index_t p_stride, GLOBAL const real *RESTRICT component_per_set, index_t component_offset, index_t component_stride, int dim)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    p_per_set += p_offset;
    component_per_set += component_offset;
    SHARED_ARRAY(double, sums, 1024);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(poisson_binomial_logpmf_checked_d_p_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = poisson_binomial_logpmf_checked_d_p_prepare_set(p_per_set + (first_set + MIN(k, sets_here - 1)) * p_stride, dim, component_per_set[(first_set + MIN(k, sets_here - 1)) * component_stride]);
    BARRIER();

    double total[8];
    UNROLL for (int s = 0; s < 8; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const poisson_binomial_logpmf_checked_d_p_row row = poisson_binomial_logpmf_checked_d_p_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        total[k] += poisson_binomial_logpmf_checked_d_p_evaluate(sets[k], row, p_per_set + (first_set + MIN(k, sets_here - 1)) * p_stride, dim);
                    }
                }
                {
                    const poisson_binomial_logpmf_checked_d_p_row row = poisson_binomial_logpmf_checked_d_p_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        total[k] += poisson_binomial_logpmf_checked_d_p_evaluate(sets[k], row, p_per_set + (first_set + MIN(k, sets_here - 1)) * p_stride, dim);
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const poisson_binomial_logpmf_checked_d_p_row row = poisson_binomial_logpmf_checked_d_p_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        total[k] += poisson_binomial_logpmf_checked_d_p_evaluate(sets[k], row, p_per_set + (first_set + MIN(k, sets_here - 1)) * p_stride, dim);
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 1 : partial + first_set * 1 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 8; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 1 - 0, 8); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];
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










