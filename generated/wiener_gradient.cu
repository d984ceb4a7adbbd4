// The gradient kernel of wiener, made by `gpustats generate`. Do not edit.
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

typedef struct {
    real value;
    real d_u;
    real d_w;
    real d_s;
} wiener_log_reflected_grad_u_w_s_results;

DEVICE wiener_log_reflected_grad_u_w_s_results make_wiener_log_reflected_grad_u_w_s_results(real value, real d_u, real d_w, real d_s)
{
    wiener_log_reflected_grad_u_w_s_results results;
    results.value = value;
    results.d_u = d_u;
    results.d_w = d_w;
    results.d_s = d_s;
    return results;
}


typedef struct {
    real value;
    real d_u;
    real d_w;
    real d_s;
    real d_nu;
} wiener_log_fourier_grad_u_w_s_nu_results;

DEVICE wiener_log_fourier_grad_u_w_s_nu_results make_wiener_log_fourier_grad_u_w_s_nu_results(real value, real d_u, real d_w, real d_s, real d_nu)
{
    wiener_log_fourier_grad_u_w_s_nu_results results;
    results.value = value;
    results.d_u = d_u;
    results.d_w = d_w;
    results.d_s = d_s;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_u;
    real d_w;
    real d_s;
    real d_nu;
} wiener_log_passage_grad_u_w_s_nu_results;

DEVICE wiener_log_passage_grad_u_w_s_nu_results make_wiener_log_passage_grad_u_w_s_nu_results(real value, real d_u, real d_w, real d_s, real d_nu)
{
    wiener_log_passage_grad_u_w_s_nu_results results;
    results.value = value;
    results.d_u = d_u;
    results.d_w = d_w;
    results.d_s = d_s;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_tau;
    real d_beta;
    real d_delta;
} wiener_logpdf_grad_alpha_tau_beta_delta_results;

DEVICE wiener_logpdf_grad_alpha_tau_beta_delta_results make_wiener_logpdf_grad_alpha_tau_beta_delta_results(real value, real d_alpha, real d_tau, real d_beta, real d_delta)
{
    wiener_logpdf_grad_alpha_tau_beta_delta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_tau = d_tau;
    results.d_beta = d_beta;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_tau;
    real d_beta;
    real d_delta;
} wiener_logpdf_checked_grad_alpha_tau_beta_delta_results;

DEVICE wiener_logpdf_checked_grad_alpha_tau_beta_delta_results make_wiener_logpdf_checked_grad_alpha_tau_beta_delta_results(real value, real d_alpha, real d_tau, real d_beta, real d_delta)
{
    wiener_logpdf_checked_grad_alpha_tau_beta_delta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_tau = d_tau;
    results.d_beta = d_beta;
    results.d_delta = d_delta;
    return results;
}


DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real wiener_early()
{
    return 0.4;
}

// wiener_log_reflected_grad_u_w_s: what depends on both, from what was computed ahead.
DEVICE wiener_log_reflected_grad_u_w_s_results wiener_log_reflected_grad_u_w_s_mmm_evaluate(real u, real w, real s)
{
    real d_u_sum = 0;
    real d_w_sum = 0;
    real sum = 1;
    real d_u_near_upper = 0;
    real d_s_near_upper = 0;
    real near_upper = 0;
    for (int k = 1; k < 4; k++) {
        real t = int_product(-4, k) * w / u;
        real t2 = 1 / u;
        real t3 = exp(t);
        real d_u_e = -(t * t2 * t3);
        real d_w_e = -(int_product(4, k) * t2 * t3);
        real e = t3;
        real t4 = int_product(-2, k) * (k - w) / u;
        real t5 = exp(t4);
        real t6 = int_product(2, k) / w;
        real t7 = int_product(-4, k) * w / u;
        real t8 = 1 / u;
        real t9 = exp(t7);
        real t10 = expm1(t7);
        real t11 = 1 + e - t6 * -t10;
        d_u_sum += t5 * (d_u_e - t6 * (t7 * t8 * t9)) - t4 * t8 * t5 * t11;
        d_w_sum += t11 * (t5 * (int_product(2, k) * t8)) + t5 * (d_w_e - (t6 * (1 / w) * t10 + t6 * (int_product(4, k) * t8 * t9)));
        sum += t5 * t11;
        real m = int_difference(int_product(2, k), 1);
        real t12 = -2 * m * s / u;
        real t13 = 1 / u;
        real t14 = exp(t12);
        real d_u_f = -(t12 * t13 * t14);
        real d_s_f = -(2 * m * t13 * t14);
        real f = t14;
        real t15 = int_product(-2, int_difference(k, 1)) * (k - s) / u;
        real t16 = exp(t15);
        real t17 = -2 * m * s / u;
        real t18 = 1 / u;
        real t19 = exp(t17);
        real t20 = expm1(t17);
        real t21 = (m - s) * -t20 - 2 * s * f;
        d_u_near_upper += t16 * ((m - s) * (t17 * t18 * t19) - 2 * s * d_u_f) - t15 * t18 * t16 * t21;
        d_s_near_upper += t21 * (t16 * (int_product(2, int_difference(k, 1)) * t18)) + t16 * (t20 + (m - s) * (2 * m * t18 * t19) - (2 * f + 2 * s * d_s_f));
        near_upper += t16 * t21;
    }
    real t22 = special_log_slope(sum);
    real t23 = special_log_slope(near_upper);
    return make_wiener_log_reflected_grad_u_w_s_results(w < s ? log(w) + log(sum) : log(near_upper), w < s ? t22 * d_u_sum : t23 * d_u_near_upper, w < s ? special_log_slope(w) + t22 * d_w_sum : 0, w < s ? 0 : t23 * d_s_near_upper);
}

// wiener_log_fourier_grad_u_w_s_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int integrated;
} wiener_log_fourier_grad_u_w_s_nu_mmmms_set;

DEVICE wiener_log_fourier_grad_u_w_s_nu_mmmms_set wiener_log_fourier_grad_u_w_s_nu_mmmms_prepare_set(int integrated)
{
    wiener_log_fourier_grad_u_w_s_nu_mmmms_set set;
    set.integrated = integrated;
    return set;
}

// wiener_log_fourier_grad_u_w_s_nu: what depends on both, from what was computed ahead.
DEVICE wiener_log_fourier_grad_u_w_s_nu_results wiener_log_fourier_grad_u_w_s_nu_mmmms_evaluate(wiener_log_fourier_grad_u_w_s_nu_mmmms_set set, real u, real w, real s, real nu)
{
    real d_u_sum = 0;
    real d_w_sum = 0;
    real d_s_sum = 0;
    real d_nu_sum = 0;
    real sum = 0;
    real d_w_r = w <= s || s != s ? 1 : 0;
    real d_s_r = w <= s || s != s ? 0 : 1;
    real r = fmin(w, s);
    for (int k = 6; k > 0; k--) {
        real t = exp(-0.5 * PI * PI * u * int_difference(int_product(k, k), 1));
        real t2 = k * sin(k * PI * r);
        real t3 = k * t;
        real t4 = cos(k * PI * r);
        real d_u_size = -(0.5 * PI * PI * int_difference(int_product(k, k), 1) * t * t2);
        real d_w_size = t3 * (t4 * (k * PI * d_w_r));
        real d_s_size = t3 * (t4 * (k * PI * d_s_r));
        real size = t2 * t;
        real t5 = 1 / (nu * nu + PI * PI * k * k);
        real d_nu_weight = set.integrated ? -(t5 * (2 * nu) * t5) : 0;
        real weight = set.integrated ? t5 : 1;
        real t6 = w > s && k % 2 == 0 ? -weight : weight;
        d_u_sum += t6 * d_u_size;
        d_w_sum += t6 * d_w_size;
        d_s_sum += t6 * d_s_size;
        d_nu_sum += size * (w > s && k % 2 == 0 ? -d_nu_weight : d_nu_weight);
        sum += t6 * size;
    }
    real t7 = special_log_slope(sum);
    return make_wiener_log_fourier_grad_u_w_s_nu_results(log(sum), t7 * d_u_sum, t7 * d_w_sum, t7 * d_s_sum, t7 * d_nu_sum);
}

// wiener_log_passage_grad_u_w_s_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    wiener_log_fourier_grad_u_w_s_nu_mmmms_set wiener_0;
} wiener_log_passage_grad_u_w_s_nu_mmmm_set;

DEVICE wiener_log_passage_grad_u_w_s_nu_mmmm_set wiener_log_passage_grad_u_w_s_nu_mmmm_prepare_set()
{
    wiener_log_passage_grad_u_w_s_nu_mmmm_set set;
    set.wiener_0 = wiener_log_fourier_grad_u_w_s_nu_mmmms_prepare_set(0);
    return set;
}

// wiener_log_passage_grad_u_w_s_nu: what depends on both, from what was computed ahead.
DEVICE wiener_log_passage_grad_u_w_s_nu_results wiener_log_passage_grad_u_w_s_nu_mmmm_evaluate(wiener_log_passage_grad_u_w_s_nu_mmmm_set set, real u, real w, real s, real nu)
{
    if (u < wiener_early()) {
        wiener_log_reflected_grad_u_w_s_results call = wiener_log_reflected_grad_u_w_s_mmm_evaluate(u, w, s);
        real t = 0.5 * (w + nu * u);
        real t2 = (w + nu * u) / u;
        real t3 = 0.5 * t2;
        real t4 = 1 / u;
        return make_wiener_log_passage_grad_u_w_s_nu_results(call.value - t * t2 - 1.5 * log(u) - HALF_LOG_2PI, call.d_u - (t3 * nu + t * ((nu - t2) * t4)) - 1.5 * special_log_slope(u), call.d_w - (t3 + t * t4), call.d_s, -(t3 * u + t * (u * t4)));
    }
    wiener_log_fourier_grad_u_w_s_nu_results call2 = wiener_log_fourier_grad_u_w_s_nu_mmmms_evaluate(set.wiener_0, u, w, s, nu);
    real t5 = 0.5 * (nu * nu + PI * PI);
    return make_wiener_log_passage_grad_u_w_s_nu_results(LOG_PI - nu * w - t5 * u + call2.value, call2.d_u - t5, call2.d_w - nu, call2.d_s, -w - 0.5 * u * (2 * nu) + call2.d_nu);
}

// wiener_logpdf_grad_alpha_tau_beta_delta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real tau;
    real alpha;
    real t3;
    real beta;
    real c1;
    real delta;
    wiener_log_passage_grad_u_w_s_nu_mmmm_set wiener_0;
    real c2;
    real c3;
    real c4;
    real c5;
    real d_tau_u;
} wiener_logpdf_grad_alpha_tau_beta_delta_set;

DEVICE wiener_logpdf_grad_alpha_tau_beta_delta_set wiener_logpdf_grad_alpha_tau_beta_delta_prepare_set(real alpha, real tau, real beta, real delta)
{
    wiener_logpdf_grad_alpha_tau_beta_delta_set set;
    real t3 = 1 / alpha;
    real d_tau_u = -(t3 * t3);
    set.c0 = beta == 0 || beta == 1 || isinf(delta) || isinf(tau);
    set.tau = tau;
    set.alpha = alpha;
    set.t3 = t3;
    set.beta = beta;
    set.c1 = 1 - beta;
    set.delta = delta;
    set.wiener_0 = wiener_log_passage_grad_u_w_s_nu_mmmm_prepare_set();
    set.c2 = alpha * delta;
    set.c3 = -alpha * delta;
    set.c4 = 2 * log(alpha);
    set.c5 = 2 * special_log_slope(alpha);
    set.d_tau_u = d_tau_u;
    return set;
}

// wiener_logpdf_grad_alpha_tau_beta_delta: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
    int c1;
    real d_beta_w;
    real d_beta_s;
} wiener_logpdf_grad_alpha_tau_beta_delta_row;

DEVICE wiener_logpdf_grad_alpha_tau_beta_delta_row wiener_logpdf_grad_alpha_tau_beta_delta_prepare_row(real x)
{
    wiener_logpdf_grad_alpha_tau_beta_delta_row row;
    real d_beta_w = x < 0 ? 1 : -1;
    real d_beta_s = x < 0 ? -1 : 1;
    row.c0 = fabs(x);
    row.c1 = x < 0;
    row.d_beta_w = d_beta_w;
    row.d_beta_s = d_beta_s;
    return row;
}

// wiener_logpdf_grad_alpha_tau_beta_delta: what depends on both, from what was computed ahead.
DEVICE wiener_logpdf_grad_alpha_tau_beta_delta_results wiener_logpdf_grad_alpha_tau_beta_delta_evaluate(wiener_logpdf_grad_alpha_tau_beta_delta_set set, wiener_logpdf_grad_alpha_tau_beta_delta_row row)
{
    if (set.c0) {
        return make_wiener_logpdf_grad_alpha_tau_beta_delta_results(NAN, NAN, NAN, NAN, NAN);
    }
    real t = row.c0 - set.tau;
    real t2 = t / set.alpha;
    real t4 = t2 / set.alpha;
    real d_alpha_u = (-(t2 * set.t3) - t4) * set.t3;
    real u = t4;
    real w = row.c1 ? set.beta : set.c1;
    real s = row.c1 ? set.c1 : set.beta;
    if (!(t > 0) || isinf(t)) {
        return make_wiener_logpdf_grad_alpha_tau_beta_delta_results(-INFINITY, 0, 0, 0, 0);
    }
    real d_alpha_nu = row.c1 ? set.delta : -set.delta;
    real d_delta_nu = row.c1 ? set.alpha : -set.alpha;
    wiener_log_passage_grad_u_w_s_nu_results call = wiener_log_passage_grad_u_w_s_nu_mmmm_evaluate(set.wiener_0, u, w, s, row.c1 ? set.c2 : set.c3);
    return make_wiener_logpdf_grad_alpha_tau_beta_delta_results(call.value - set.c4, call.d_u * d_alpha_u + call.d_nu * d_alpha_nu - set.c5, call.d_u * set.d_tau_u, call.d_w * row.d_beta_w + call.d_s * row.d_beta_s, call.d_nu * d_delta_nu);
}

// wiener_logpdf_checked_grad_alpha_tau_beta_delta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    wiener_logpdf_grad_alpha_tau_beta_delta_set wiener_0;
    real t2;
} wiener_logpdf_checked_grad_alpha_tau_beta_delta_set;

DEVICE wiener_logpdf_checked_grad_alpha_tau_beta_delta_set wiener_logpdf_checked_grad_alpha_tau_beta_delta_prepare_set(real alpha, real tau, real beta, real delta)
{
    wiener_logpdf_checked_grad_alpha_tau_beta_delta_set set;
    real bad_alpha = alpha > 0 ? 0 : NAN;
    real bad_tau = tau >= 0 ? 0 : NAN;
    real bad_beta = beta >= 0 && beta <= 1 ? 0 : NAN;
    real bad_delta = delta == delta ? 0 : NAN;
    real t2 = bad_alpha + bad_tau + bad_beta + bad_delta;
    set.wiener_0 = wiener_logpdf_grad_alpha_tau_beta_delta_prepare_set(alpha, tau, beta, delta);
    set.t2 = t2;
    return set;
}

// wiener_logpdf_checked_grad_alpha_tau_beta_delta: what depends on the observation alone, computed once for each.
typedef struct {
    wiener_logpdf_grad_alpha_tau_beta_delta_row wiener_0;
    int inside;
    real outside;
    real t;
} wiener_logpdf_checked_grad_alpha_tau_beta_delta_row;

DEVICE wiener_logpdf_checked_grad_alpha_tau_beta_delta_row wiener_logpdf_checked_grad_alpha_tau_beta_delta_prepare_row(real x)
{
    wiener_logpdf_checked_grad_alpha_tau_beta_delta_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.wiener_0 = wiener_logpdf_grad_alpha_tau_beta_delta_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// wiener_logpdf_checked_grad_alpha_tau_beta_delta: what depends on both, from what was computed ahead.
DEVICE wiener_logpdf_checked_grad_alpha_tau_beta_delta_results wiener_logpdf_checked_grad_alpha_tau_beta_delta_evaluate(wiener_logpdf_checked_grad_alpha_tau_beta_delta_set set, wiener_logpdf_checked_grad_alpha_tau_beta_delta_row row)
{
    wiener_logpdf_grad_alpha_tau_beta_delta_results call = wiener_logpdf_grad_alpha_tau_beta_delta_evaluate(set.wiener_0, row.wiener_0);
    real d_alpha_value = call.d_alpha;
    real d_tau_value = call.d_tau;
    real d_beta_value = call.d_beta;
    real d_delta_value = call.d_delta;
    real value = call.value;
    return make_wiener_logpdf_checked_grad_alpha_tau_beta_delta_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_alpha_value : row.t) + set.t2, (row.inside ? d_tau_value : row.t) + set.t2, (row.inside ? d_beta_value : row.t) + set.t2, (row.inside ? d_delta_value : row.t) + set.t2);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 10; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 5; first += 10) {
        const int sums_here = (int)MIN(sets_here * 5 - first, 10);
        for (int s = 0; s < 10; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 5 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 5 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_alpha, d_tau, d_beta, d_delta are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) wiener_logpdf_checked_grad_alpha_tau_beta_delta_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT tau_per_set, index_t tau_offset, index_t tau_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride, GLOBAL const real *RESTRICT delta_per_set, index_t delta_offset, index_t delta_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    tau_per_set += tau_offset;
    beta_per_set += beta_offset;
    delta_per_set += delta_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(wiener_logpdf_checked_grad_alpha_tau_beta_delta_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = wiener_logpdf_checked_grad_alpha_tau_beta_delta_prepare_set(alpha_per_set[(first_set + MIN(k, sets_here - 1)) * alpha_stride], tau_per_set[(first_set + MIN(k, sets_here - 1)) * tau_stride], beta_per_set[(first_set + MIN(k, sets_here - 1)) * beta_stride], delta_per_set[(first_set + MIN(k, sets_here - 1)) * delta_stride]);
    BARRIER();

    double total[20];
    UNROLL for (int s = 0; s < 20; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const wiener_logpdf_checked_grad_alpha_tau_beta_delta_row row = wiener_logpdf_checked_grad_alpha_tau_beta_delta_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const wiener_logpdf_checked_grad_alpha_tau_beta_delta_results result = wiener_logpdf_checked_grad_alpha_tau_beta_delta_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_tau;
                        total[k * 5 + 3] += result.d_beta;
                        total[k * 5 + 4] += result.d_delta;
                    }
                }
                {
                    const wiener_logpdf_checked_grad_alpha_tau_beta_delta_row row = wiener_logpdf_checked_grad_alpha_tau_beta_delta_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const wiener_logpdf_checked_grad_alpha_tau_beta_delta_results result = wiener_logpdf_checked_grad_alpha_tau_beta_delta_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_tau;
                        total[k * 5 + 3] += result.d_beta;
                        total[k * 5 + 4] += result.d_delta;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const wiener_logpdf_checked_grad_alpha_tau_beta_delta_row row = wiener_logpdf_checked_grad_alpha_tau_beta_delta_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const wiener_logpdf_checked_grad_alpha_tau_beta_delta_results result = wiener_logpdf_checked_grad_alpha_tau_beta_delta_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_tau;
                        total[k * 5 + 3] += result.d_beta;
                        total[k * 5 + 4] += result.d_delta;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 5 : partial + first_set * 5 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 10; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 5 - 0, 10); s += 128)
        block_sums[s * BLOCKS_Y] = sums[s * 128];
    BARRIER();
    UNROLL for (int s = 0; s < 10; s++)
        sums[s * 128 + THREAD] = total[10 + s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 5 - 10, 10); s += 128)
        block_sums[(10 + s) * BLOCKS_Y] = sums[s * 128];
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










