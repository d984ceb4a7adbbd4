// The gradient kernel of stable, made by `gpustats generate`. Do not edit.
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

typedef struct {
    real value;
    real d_s;
} special_lift_grad_s_results;

DEVICE special_lift_grad_s_results make_special_lift_grad_s_results(real value, real d_s)
{
    special_lift_grad_s_results results;
    results.value = value;
    results.d_s = d_s;
    return results;
}


typedef struct {
    real value;
    real d_factor;
} special_log_lift_grad_factor_results;

DEVICE special_log_lift_grad_factor_results make_special_log_lift_grad_factor_results(real value, real d_factor)
{
    special_log_lift_grad_factor_results results;
    results.value = value;
    results.d_factor = d_factor;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_log_arc_grad_x_results;

DEVICE special_log_arc_grad_x_results make_special_log_arc_grad_x_results(real value, real d_x)
{
    special_log_arc_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
    real d_whole;
    real d_kappa;
    real d_delta;
} stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results;

DEVICE stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results make_stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results(real value, real d_shift, real d_alpha, real d_beta, real d_whole, real d_kappa, real d_delta)
{
    stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_whole = d_whole;
    results.d_kappa = d_kappa;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
    real d_whole;
    real d_kappa;
    real d_delta;
} stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results;

DEVICE stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results make_stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results(real value, real d_shift, real d_alpha, real d_beta, real d_whole, real d_kappa, real d_delta)
{
    stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_whole = d_whole;
    results.d_kappa = d_kappa;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
    real d_whole;
    real d_kappa;
    real d_delta;
} stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results;

DEVICE stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results make_stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results(real value, real d_shift, real d_alpha, real d_beta, real d_whole, real d_kappa, real d_delta)
{
    stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_whole = d_whole;
    results.d_kappa = d_kappa;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_y;
    real d_shift;
    real d_alpha;
    real d_beta;
    real d_whole;
    real d_kappa;
    real d_delta;
} stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results;

DEVICE stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results make_stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results(real value, real d_y, real d_shift, real d_alpha, real d_beta, real d_whole, real d_kappa, real d_delta)
{
    stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results results;
    results.value = value;
    results.d_y = d_y;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_whole = d_whole;
    results.d_kappa = d_kappa;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_y;
    real d_shift;
    real d_alpha;
    real d_beta;
    real d_whole;
    real d_kappa;
    real d_delta;
} stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results;

DEVICE stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results make_stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results(real value, real d_y, real d_shift, real d_alpha, real d_beta, real d_whole, real d_kappa, real d_delta)
{
    stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results results;
    results.value = value;
    results.d_y = d_y;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_whole = d_whole;
    results.d_kappa = d_kappa;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
    real d_whole;
    real d_kappa;
    real d_delta;
} stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results;

DEVICE stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results make_stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results(real value, real d_shift, real d_alpha, real d_beta, real d_whole, real d_kappa, real d_delta)
{
    stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_whole = d_whole;
    results.d_kappa = d_kappa;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
} special_stable_tangent_grad_alpha_results;

DEVICE special_stable_tangent_grad_alpha_results make_special_stable_tangent_grad_alpha_results(real value, real d_alpha)
{
    special_stable_tangent_grad_alpha_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
} stable_exponent_grad_shift_alpha_beta_results;

DEVICE stable_exponent_grad_shift_alpha_beta_results make_stable_exponent_grad_shift_alpha_beta_results(real value, real d_shift, real d_alpha, real d_beta)
{
    stable_exponent_grad_shift_alpha_beta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
} stable_log_integrand_grad_shift_alpha_beta_results;

DEVICE stable_log_integrand_grad_shift_alpha_beta_results make_stable_log_integrand_grad_shift_alpha_beta_results(real value, real d_shift, real d_alpha, real d_beta)
{
    stable_log_integrand_grad_shift_alpha_beta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
} stable_center_of_grad_shift_alpha_beta_results;

DEVICE stable_center_of_grad_shift_alpha_beta_results make_stable_center_of_grad_shift_alpha_beta_results(real value, real d_shift, real d_alpha, real d_beta)
{
    stable_center_of_grad_shift_alpha_beta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_y;
    real d_shift;
    real d_alpha;
    real d_beta;
} stable_exponent_grad_y_shift_alpha_beta_results;

DEVICE stable_exponent_grad_y_shift_alpha_beta_results make_stable_exponent_grad_y_shift_alpha_beta_results(real value, real d_y, real d_shift, real d_alpha, real d_beta)
{
    stable_exponent_grad_y_shift_alpha_beta_results results;
    results.value = value;
    results.d_y = d_y;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_y;
    real d_shift;
    real d_alpha;
    real d_beta;
} stable_log_integrand_grad_y_shift_alpha_beta_results;

DEVICE stable_log_integrand_grad_y_shift_alpha_beta_results make_stable_log_integrand_grad_y_shift_alpha_beta_results(real value, real d_y, real d_shift, real d_alpha, real d_beta)
{
    stable_log_integrand_grad_y_shift_alpha_beta_results results;
    results.value = value;
    results.d_y = d_y;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_shift;
    real d_alpha;
    real d_beta;
} stable_log_integral_grad_shift_alpha_beta_results;

DEVICE stable_log_integral_grad_shift_alpha_beta_results make_stable_log_integral_grad_shift_alpha_beta_results(real value, real d_shift, real d_alpha, real d_beta)
{
    stable_log_integral_grad_shift_alpha_beta_results results;
    results.value = value;
    results.d_shift = d_shift;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_d;
    real d_alpha;
    real d_beta;
} stable_log_above_zeta_grad_d_alpha_beta_results;

DEVICE stable_log_above_zeta_grad_d_alpha_beta_results make_stable_log_above_zeta_grad_d_alpha_beta_results(real value, real d_d, real d_alpha, real d_beta)
{
    stable_log_above_zeta_grad_d_alpha_beta_results results;
    results.value = value;
    results.d_d = d_d;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_x;
} cauchy_logpdf_grad_x_results;

DEVICE cauchy_logpdf_grad_x_results make_cauchy_logpdf_grad_x_results(real value, real d_x)
{
    cauchy_logpdf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} cauchy_logcdf_grad_x_results;

DEVICE cauchy_logcdf_grad_x_results make_cauchy_logcdf_grad_x_results(real value, real d_x)
{
    cauchy_logcdf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
} cauchy_logsf_grad_x_results;

DEVICE cauchy_logsf_grad_x_results make_cauchy_logsf_grad_x_results(real value, real d_x)
{
    cauchy_logsf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_z;
    real d_alpha;
    real d_beta;
} stable_standard_grad_z_alpha_beta_results;

DEVICE stable_standard_grad_z_alpha_beta_results make_stable_standard_grad_z_alpha_beta_results(real value, real d_z, real d_alpha, real d_beta)
{
    stable_standard_grad_z_alpha_beta_results results;
    results.value = value;
    results.d_z = d_z;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_mu;
    real d_sigma;
} stable_logpdf_grad_alpha_beta_mu_sigma_results;

DEVICE stable_logpdf_grad_alpha_beta_mu_sigma_results make_stable_logpdf_grad_alpha_beta_mu_sigma_results(real value, real d_alpha, real d_beta, real d_mu, real d_sigma)
{
    stable_logpdf_grad_alpha_beta_mu_sigma_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_mu;
    real d_sigma;
} stable_logpdf_checked_grad_alpha_beta_mu_sigma_results;

DEVICE stable_logpdf_checked_grad_alpha_beta_mu_sigma_results make_stable_logpdf_checked_grad_alpha_beta_mu_sigma_results(real value, real d_alpha, real d_beta, real d_mu, real d_sigma)
{
    stable_logpdf_checked_grad_alpha_beta_mu_sigma_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


DEVICE real special_log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

DEVICE special_lift_grad_s_results special_lift_grad_s(real x, real s)
{
    real e = 1 / EPSILON;
    real e3 = e * e * e;
    real e4 = e * e3;
    real e8 = e4 * e4;
    real far = EPSILON < 1e-10 ? e8 * e8 : e4;
    real up = EPSILON < 1e-10 ? e8 : e3;
    return make_special_lift_grad_s_results(x < s * (1 / far) ? up : 1, 0);
}

DEVICE special_log_lift_grad_factor_results special_log_lift_grad_factor(real factor)
{
    return make_special_log_lift_grad_factor_results(factor == 1 ? 0 : (EPSILON < 1e-10 ? 8 * 52 : 3 * 23) * LOG_2, 0);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE special_log_arc_grad_x_results special_log_arc_grad_x(real x, real s)
{
    special_lift_grad_s_results call = special_lift_grad_s(s, x);
    real d_x_factor = call.d_s;
    real factor = call.value;
    special_log_lift_grad_factor_results call2 = special_log_lift_grad_factor(factor);
    real t = atan2(s * factor, x);
    real t2 = hypot(s * factor, x);
    return make_special_log_arc_grad_x_results(log(t) - call2.value, special_log_slope(t) * ((x / t2 * (s * d_x_factor) - s * factor / t2) / t2) - call2.d_factor * d_x_factor);
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

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE real special_logaddexp(real a, real b)
{
    return a == b ? a + LOG_2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

DEVICE stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results stable_exponent_grad_shift_alpha_beta_whole_kappa_delta(real y, int slope, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    int left = y < 0;
    real t = special_expit(y);
    real psi = whole * t;
    real t2 = special_expit(-y);
    real phi = whole * t2;
    real t3 = special_expit(-y);
    real d_whole_speed = t3 * t;
    real speed = psi * t3;
    if (alpha == 1) {
        real t4 = left ? psi : phi;
        real d_whole_sine = cos(t4) * (left ? t : t2);
        real sine = sin(t4);
        real t5 = (left ? cos(psi) : -cos(phi)) / sine;
        real d_whole_cot = ((left ? -(sin(psi) * t) : sin(phi) * t2) - t5 * d_whole_sine) * (1 / sine);
        real cot = t5;
        real d_beta_rest = left ? psi - 0.5 * PI : 0.5 * PI - phi;
        real d_whole_rest = left ? beta * t : -(beta * t2);
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (slope) {
            real t6 = beta / rest;
            real t7 = rest / (beta * sine * sine);
            real t8 = t6 - 2 * cot + t7;
            real t9 = 1 / rest;
            real t10 = 1 / (beta * sine * sine);
            return make_stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results(speed * t8, 0, 0, speed * ((1 - t6 * d_beta_rest) * t9 + (d_beta_rest - t7 * (sine * sine)) * t10), t8 * d_whole_speed + speed * (-(t6 * d_whole_rest * t9) - 2 * d_whole_cot + (d_whole_rest - t7 * (2 * beta * sine * d_whole_sine)) * t10), 0, 0);
        }
        real t11 = rest / sine;
        real t12 = rest / beta;
        real t13 = special_log_slope(t11);
        real t14 = 1 / sine;
        real t15 = 1 / beta;
        return make_stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results(shift + log(t11) - t12 * cot, 1, 0, t13 * (d_beta_rest * t14) - cot * ((d_beta_rest - t12) * t15), t13 * ((d_whole_rest - t11 * d_whole_sine) * t14) - (cot * (d_whole_rest * t15) + t12 * d_whole_cot), 0, 0);
    }
    real d_alpha_a = left ? psi : phi;
    real d_whole_a = left ? alpha * t : alpha * t2;
    real d_kappa_a = left ? 0 : 1;
    real a = left ? alpha * psi : kappa + alpha * phi;
    real d_whole_f = left ? t : t2;
    real d_delta_f = left ? 1 : 0;
    real f = left ? delta + psi : phi;
    real d_alpha_c = left ? -psi : phi;
    real d_whole_c = left ? (1 - alpha) * t : (alpha - 1) * t2;
    real d_kappa_c = left ? 0 : 1;
    real d_delta_c = left ? 1 : 0;
    real c = left ? delta + (1 - alpha) * psi : kappa + (alpha - 1) * phi;
    real sign = left ? 1 : -1;
    if (slope) {
        real t16 = cos(f);
        real t17 = sin(f);
        real t18 = t16 / t17;
        real t19 = cos(a);
        real t20 = sin(a);
        real t21 = t19 / t20;
        real t22 = sign * (t18 - alpha * alpha * t21) / (alpha - 1);
        real t23 = cos(c);
        real t24 = sin(c);
        real t25 = t23 / t24;
        real t26 = t22 + (1 - alpha) * t25;
        real t27 = 1 / t20;
        real t28 = 1 / (alpha - 1);
        real t29 = 1 / t24;
        real t30 = 1 / t17;
        return make_stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results(speed * t26, 0, speed * ((-((2 * alpha * t21 + alpha * alpha * ((-(t20 * d_alpha_a) - t21 * (t19 * d_alpha_a)) * t27)) * sign) - t22) * t28 + ((1 - alpha) * ((-(t24 * d_alpha_c) - t25 * (t23 * d_alpha_c)) * t29) - t25)), 0, t26 * d_whole_speed + speed * (sign * ((-(t17 * d_whole_f) - t18 * (t16 * d_whole_f)) * t30 - alpha * alpha * ((-(t20 * d_whole_a) - t21 * (t19 * d_whole_a)) * t27)) * t28 + (1 - alpha) * ((-(t24 * d_whole_c) - t25 * (t23 * d_whole_c)) * t29)), speed * ((1 - alpha) * ((-(t24 * d_kappa_c) - t25 * (t23 * d_kappa_c)) * t29) - alpha * alpha * ((-(t20 * d_kappa_a) - t21 * (t19 * d_kappa_a)) * t27) * sign * t28), speed * (sign * ((-(t17 * d_delta_f) - t18 * (t16 * d_delta_f)) * t30) * t28 + (1 - alpha) * ((-(t24 * d_delta_c) - t25 * (t23 * d_delta_c)) * t29)));
    }
    real t31 = alpha / (alpha - 1);
    real t32 = sin(f);
    real t33 = sin(a);
    real t34 = t32 / t33;
    real t35 = log(t34);
    real t36 = sin(c) / t32;
    real t37 = cos(a);
    real t38 = 1 / t33;
    real t39 = special_log_slope(t34);
    real t40 = special_log_slope(t36);
    real t41 = cos(c);
    real t42 = 1 / t32;
    real t43 = cos(f);
    real t44 = t43 * d_whole_f;
    real t45 = t43 * d_delta_f;
    return make_stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results(shift + t31 * t35 + log(t36), 1, t35 * ((1 - t31) * (1 / (alpha - 1))) - t34 * (t37 * d_alpha_a) * t38 * t39 * t31 + t40 * (t41 * d_alpha_c * t42), 0, t31 * (t39 * ((t44 - t34 * (t37 * d_whole_a)) * t38)) + t40 * ((t41 * d_whole_c - t36 * t44) * t42), t40 * (t41 * d_kappa_c * t42) - t34 * (t37 * d_kappa_a) * t38 * t39 * t31, t31 * (t39 * (t45 * t38)) + t40 * ((t41 * d_delta_c - t36 * t45) * t42));
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

DEVICE stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta(real y, int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results call = stable_exponent_grad_shift_alpha_beta_whole_kappa_delta(y, 0, shift, alpha, beta, whole, kappa, delta);
    real d_shift_v = call.d_shift;
    real d_alpha_v = call.d_alpha;
    real d_beta_v = call.d_beta;
    real d_whole_v = call.d_whole;
    real d_kappa_v = call.d_kappa;
    real d_delta_v = call.d_delta;
    real v = call.value;
    real d_shift_weight = 0;
    real d_alpha_weight = 0;
    real d_beta_weight = 0;
    real d_whole_weight = 0;
    real d_kappa_weight = 0;
    real d_delta_weight = 0;
    real weight = special_log_expit(what == 1 ? -y : y);
    if (what == 0) {
        weight += special_log_expit(-y);
    } else {
        stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results call2 = stable_exponent_grad_shift_alpha_beta_whole_kappa_delta(y, 1, shift, alpha, beta, whole, kappa, delta);
        real t = fabs(call2.value);
        real t2 = special_log_slope(t);
        d_shift_weight += t2 * (call2.value > 0 ? call2.d_shift : call2.value < 0 ? -call2.d_shift : 0);
        d_alpha_weight += t2 * (call2.value > 0 ? call2.d_alpha : call2.value < 0 ? -call2.d_alpha : 0);
        d_beta_weight += t2 * (call2.value > 0 ? call2.d_beta : call2.value < 0 ? -call2.d_beta : 0);
        d_whole_weight += t2 * (call2.value > 0 ? call2.d_whole : call2.value < 0 ? -call2.d_whole : 0);
        d_kappa_weight += t2 * (call2.value > 0 ? call2.d_kappa : call2.value < 0 ? -call2.d_kappa : 0);
        d_delta_weight += t2 * (call2.value > 0 ? call2.d_delta : call2.value < 0 ? -call2.d_delta : 0);
        weight += log(t);
    }
    real t3 = exp(v);
    return make_stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results(v - t3 + weight, d_shift_v - t3 * d_shift_v + d_shift_weight, d_alpha_v - t3 * d_alpha_v + d_alpha_weight, d_beta_v - t3 * d_beta_v + d_beta_weight, d_whole_v - t3 * d_whole_v + d_whole_weight, d_kappa_v - t3 * d_kappa_v + d_kappa_weight, d_delta_v - t3 * d_delta_v + d_delta_weight);
}

DEVICE stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results stable_center_of_grad_shift_alpha_beta_whole_kappa_delta(real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real reach = EPSILON < 1e-10 ? 600 : 70;
    real best = 0;
    real d_shift_value = 0;
    real d_alpha_value = 0;
    real d_beta_value = 0;
    real d_whole_value = 0;
    real d_kappa_value = 0;
    real d_delta_value = 0;
    real value = -INFINITY;
    for (int which = 0; which < 2; which++) {
        real low = -reach;
        real high = reach;
        for (int i = 0; i < 22; i++) {
            real y = 0.5 * (low + high);
            stable_exponent_grad_shift_alpha_beta_whole_kappa_delta_results call = stable_exponent_grad_shift_alpha_beta_whole_kappa_delta(y, 0, shift, alpha, beta, whole, kappa, delta);
            real d_shift_v = call.d_shift;
            real d_alpha_v = call.d_alpha;
            real d_beta_v = call.d_beta;
            real d_whole_v = call.d_whole;
            real d_kappa_v = call.d_kappa;
            real d_delta_v = call.d_delta;
            real v = call.value;
            int rises = v > 0 == alpha > 1;
            if (which == 1 && v < 40) {
                rises = stable_log_integrand(y + 0.01, 0, shift, alpha, beta, whole, kappa, delta) > stable_log_integrand(y - 0.01, 0, shift, alpha, beta, whole, kappa, delta);
            }
            low = rises ? y : low;
            high = rises ? high : y;
        }
        real y_2 = 0.5 * (low + high);
        stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta_results call2 = stable_log_integrand_grad_shift_alpha_beta_whole_kappa_delta(y_2, 0, shift, alpha, beta, whole, kappa, delta);
        real d_shift_at_y = call2.d_shift;
        real d_alpha_at_y = call2.d_alpha;
        real d_beta_at_y = call2.d_beta;
        real d_whole_at_y = call2.d_whole;
        real d_kappa_at_y = call2.d_kappa;
        real d_delta_at_y = call2.d_delta;
        real at_y = call2.value;
        if (which == 0 || at_y > value) {
            best = y_2;
            d_shift_value = d_shift_at_y;
            d_alpha_value = d_alpha_at_y;
            d_beta_value = d_beta_at_y;
            d_whole_value = d_whole_at_y;
            d_kappa_value = d_kappa_at_y;
            d_delta_value = d_delta_at_y;
            value = at_y;
        }
    }
    return make_stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results(best, 0, 0, 0, 0, 0, 0);
}

DEVICE stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta(real y, int slope, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    int left = y < 0;
    real t = special_expit(y);
    real d_y_psi = whole * (isinf(y) ? 0 : t * special_expit(-y));
    real psi = whole * t;
    real t2 = special_expit(-y);
    real d_y_phi = whole * (isinf(-y) ? 0 : -(t2 * special_expit(y)));
    real phi = whole * t2;
    real t3 = special_expit(-y);
    real d_y_speed = t3 * d_y_psi + psi * (isinf(-y) ? 0 : -(t3 * special_expit(y)));
    real d_whole_speed = t3 * t;
    real speed = psi * t3;
    if (alpha == 1) {
        real t4 = left ? psi : phi;
        real t5 = cos(t4);
        real d_y_sine = t5 * (left ? d_y_psi : d_y_phi);
        real d_whole_sine = t5 * (left ? t : t2);
        real sine = sin(t4);
        real t6 = sin(psi);
        real t7 = sin(phi);
        real t8 = (left ? cos(psi) : -cos(phi)) / sine;
        real t9 = 1 / sine;
        real d_y_cot = ((left ? -(t6 * d_y_psi) : t7 * d_y_phi) - t8 * d_y_sine) * t9;
        real d_whole_cot = ((left ? -(t6 * t) : t7 * t2) - t8 * d_whole_sine) * t9;
        real cot = t8;
        real d_y_rest = left ? beta * d_y_psi : -(beta * d_y_phi);
        real d_beta_rest = left ? psi - 0.5 * PI : 0.5 * PI - phi;
        real d_whole_rest = left ? beta * t : -(beta * t2);
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (slope) {
            real t10 = beta / rest;
            real t11 = rest / (beta * sine * sine);
            real t12 = t10 - 2 * cot + t11;
            real t13 = 1 / rest;
            real t14 = 1 / (beta * sine * sine);
            return make_stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results(speed * t12, t12 * d_y_speed + speed * (-(t10 * d_y_rest * t13) - 2 * d_y_cot + (d_y_rest - t11 * (2 * beta * sine * d_y_sine)) * t14), 0, 0, speed * ((1 - t10 * d_beta_rest) * t13 + (d_beta_rest - t11 * (sine * sine)) * t14), t12 * d_whole_speed + speed * (-(t10 * d_whole_rest * t13) - 2 * d_whole_cot + (d_whole_rest - t11 * (2 * beta * sine * d_whole_sine)) * t14), 0, 0);
        }
        real t15 = rest / sine;
        real t16 = rest / beta;
        real t17 = special_log_slope(t15);
        real t18 = 1 / sine;
        real t19 = 1 / beta;
        return make_stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results(shift + log(t15) - t16 * cot, t17 * ((d_y_rest - t15 * d_y_sine) * t18) - (cot * (d_y_rest * t19) + t16 * d_y_cot), 1, 0, t17 * (d_beta_rest * t18) - cot * ((d_beta_rest - t16) * t19), t17 * ((d_whole_rest - t15 * d_whole_sine) * t18) - (cot * (d_whole_rest * t19) + t16 * d_whole_cot), 0, 0);
    }
    real d_y_a = left ? alpha * d_y_psi : alpha * d_y_phi;
    real d_alpha_a = left ? psi : phi;
    real d_whole_a = left ? alpha * t : alpha * t2;
    real d_kappa_a = left ? 0 : 1;
    real a = left ? alpha * psi : kappa + alpha * phi;
    real d_y_f = left ? d_y_psi : d_y_phi;
    real d_whole_f = left ? t : t2;
    real d_delta_f = left ? 1 : 0;
    real f = left ? delta + psi : phi;
    real d_y_c = left ? (1 - alpha) * d_y_psi : (alpha - 1) * d_y_phi;
    real d_alpha_c = left ? -psi : phi;
    real d_whole_c = left ? (1 - alpha) * t : (alpha - 1) * t2;
    real d_kappa_c = left ? 0 : 1;
    real d_delta_c = left ? 1 : 0;
    real c = left ? delta + (1 - alpha) * psi : kappa + (alpha - 1) * phi;
    real sign = left ? 1 : -1;
    if (slope) {
        real t20 = cos(f);
        real t21 = sin(f);
        real t22 = t20 / t21;
        real t23 = cos(a);
        real t24 = sin(a);
        real t25 = t23 / t24;
        real t26 = sign * (t22 - alpha * alpha * t25) / (alpha - 1);
        real t27 = cos(c);
        real t28 = sin(c);
        real t29 = t27 / t28;
        real t30 = t26 + (1 - alpha) * t29;
        real t31 = 1 / t21;
        real t32 = 1 / t24;
        real t33 = 1 / (alpha - 1);
        real t34 = 1 / t28;
        return make_stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results(speed * t30, t30 * d_y_speed + speed * (sign * ((-(t21 * d_y_f) - t22 * (t20 * d_y_f)) * t31 - alpha * alpha * ((-(t24 * d_y_a) - t25 * (t23 * d_y_a)) * t32)) * t33 + (1 - alpha) * ((-(t28 * d_y_c) - t29 * (t27 * d_y_c)) * t34)), 0, speed * ((-((2 * alpha * t25 + alpha * alpha * ((-(t24 * d_alpha_a) - t25 * (t23 * d_alpha_a)) * t32)) * sign) - t26) * t33 + ((1 - alpha) * ((-(t28 * d_alpha_c) - t29 * (t27 * d_alpha_c)) * t34) - t29)), 0, t30 * d_whole_speed + speed * (sign * ((-(t21 * d_whole_f) - t22 * (t20 * d_whole_f)) * t31 - alpha * alpha * ((-(t24 * d_whole_a) - t25 * (t23 * d_whole_a)) * t32)) * t33 + (1 - alpha) * ((-(t28 * d_whole_c) - t29 * (t27 * d_whole_c)) * t34)), speed * ((1 - alpha) * ((-(t28 * d_kappa_c) - t29 * (t27 * d_kappa_c)) * t34) - alpha * alpha * ((-(t24 * d_kappa_a) - t25 * (t23 * d_kappa_a)) * t32) * sign * t33), speed * (sign * ((-(t21 * d_delta_f) - t22 * (t20 * d_delta_f)) * t31) * t33 + (1 - alpha) * ((-(t28 * d_delta_c) - t29 * (t27 * d_delta_c)) * t34)));
    }
    real t35 = alpha / (alpha - 1);
    real t36 = sin(f);
    real t37 = sin(a);
    real t38 = t36 / t37;
    real t39 = log(t38);
    real t40 = sin(c) / t36;
    real t41 = special_log_slope(t38);
    real t42 = cos(f);
    real t43 = t42 * d_y_f;
    real t44 = cos(a);
    real t45 = 1 / t37;
    real t46 = special_log_slope(t40);
    real t47 = cos(c);
    real t48 = 1 / t36;
    real t49 = t42 * d_whole_f;
    real t50 = t42 * d_delta_f;
    return make_stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results(shift + t35 * t39 + log(t40), t35 * (t41 * ((t43 - t38 * (t44 * d_y_a)) * t45)) + t46 * ((t47 * d_y_c - t40 * t43) * t48), 1, t39 * ((1 - t35) * (1 / (alpha - 1))) - t38 * (t44 * d_alpha_a) * t45 * t41 * t35 + t46 * (t47 * d_alpha_c * t48), 0, t35 * (t41 * ((t49 - t38 * (t44 * d_whole_a)) * t45)) + t46 * ((t47 * d_whole_c - t40 * t49) * t48), t46 * (t47 * d_kappa_c * t48) - t38 * (t44 * d_kappa_a) * t45 * t41 * t35, t35 * (t41 * (t50 * t45)) + t46 * ((t47 * d_delta_c - t40 * t50) * t48));
}

DEVICE stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta(real y, int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results call = stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta(y, 0, shift, alpha, beta, whole, kappa, delta);
    real d_y_v = call.d_y;
    real d_shift_v = call.d_shift;
    real d_alpha_v = call.d_alpha;
    real d_beta_v = call.d_beta;
    real d_whole_v = call.d_whole;
    real d_kappa_v = call.d_kappa;
    real d_delta_v = call.d_delta;
    real v = call.value;
    real t = what == 1 ? -y : y;
    real d_y_weight = t == INFINITY ? 0 : special_expit(-t) * (what == 1 ? -1 : 1);
    real d_shift_weight = 0;
    real d_alpha_weight = 0;
    real d_beta_weight = 0;
    real d_whole_weight = 0;
    real d_kappa_weight = 0;
    real d_delta_weight = 0;
    real weight = special_log_expit(t);
    if (what == 0) {
        d_y_weight += -y == INFINITY ? 0 : -special_expit(y);
        weight += special_log_expit(-y);
    } else {
        stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results call2 = stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta(y, 1, shift, alpha, beta, whole, kappa, delta);
        real t2 = fabs(call2.value);
        real t3 = special_log_slope(t2);
        d_y_weight += t3 * (call2.value > 0 ? call2.d_y : call2.value < 0 ? -call2.d_y : 0);
        d_shift_weight += t3 * (call2.value > 0 ? call2.d_shift : call2.value < 0 ? -call2.d_shift : 0);
        d_alpha_weight += t3 * (call2.value > 0 ? call2.d_alpha : call2.value < 0 ? -call2.d_alpha : 0);
        d_beta_weight += t3 * (call2.value > 0 ? call2.d_beta : call2.value < 0 ? -call2.d_beta : 0);
        d_whole_weight += t3 * (call2.value > 0 ? call2.d_whole : call2.value < 0 ? -call2.d_whole : 0);
        d_kappa_weight += t3 * (call2.value > 0 ? call2.d_kappa : call2.value < 0 ? -call2.d_kappa : 0);
        d_delta_weight += t3 * (call2.value > 0 ? call2.d_delta : call2.value < 0 ? -call2.d_delta : 0);
        weight += log(t2);
    }
    real t4 = exp(v);
    return make_stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results(v - t4 + weight, d_y_v - t4 * d_y_v + d_y_weight, d_shift_v - t4 * d_shift_v + d_shift_weight, d_alpha_v - t4 * d_alpha_v + d_alpha_weight, d_beta_v - t4 * d_beta_v + d_beta_weight, d_whole_v - t4 * d_whole_v + d_whole_weight, d_kappa_v - t4 * d_kappa_v + d_kappa_weight, d_delta_v - t4 * d_delta_v + d_delta_weight);
}

LARGE stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta(int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    stable_center_of_grad_shift_alpha_beta_whole_kappa_delta_results call = stable_center_of_grad_shift_alpha_beta_whole_kappa_delta(shift, alpha, beta, whole, kappa, delta);
    real d_shift_center = call.d_shift;
    real d_alpha_center = call.d_alpha;
    real d_beta_center = call.d_beta;
    real d_whole_center = call.d_whole;
    real d_kappa_center = call.d_kappa;
    real d_delta_center = call.d_delta;
    real center = call.value;
    stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results call2 = stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta(center, what, shift, alpha, beta, whole, kappa, delta);
    real d_shift_at_center = call2.d_y * d_shift_center + call2.d_shift;
    real d_alpha_at_center = call2.d_y * d_alpha_center + call2.d_alpha;
    real d_beta_at_center = call2.d_y * d_beta_center + call2.d_beta;
    real d_whole_at_center = call2.d_y * d_whole_center + call2.d_whole;
    real d_kappa_at_center = call2.d_y * d_kappa_center + call2.d_kappa;
    real d_delta_at_center = call2.d_y * d_delta_center + call2.d_delta;
    real at_center = call2.value;
    real d_shift_sum = 0;
    real d_alpha_sum = 0;
    real d_beta_sum = 0;
    real d_whole_sum = 0;
    real d_kappa_sum = 0;
    real d_delta_sum = 0;
    real sum = 1;
    real either;
    real d_shift_either;
    real d_alpha_either;
    real d_beta_either;
    real d_whole_either;
    real d_kappa_either;
    real d_delta_either;
    if (alpha == 1) {
        stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta_results call3 = stable_exponent_grad_y_shift_alpha_beta_whole_kappa_delta(center, 1, shift, alpha, beta, whole, kappa, delta);
        either = fabs(call3.value);
        d_shift_either = call3.value > 0 ? call3.d_y * d_shift_center + call3.d_shift : call3.value < 0 ? -(call3.d_y * d_shift_center + call3.d_shift) : 0;
        d_alpha_either = call3.value > 0 ? call3.d_y * d_alpha_center + call3.d_alpha : call3.value < 0 ? -(call3.d_y * d_alpha_center + call3.d_alpha) : 0;
        d_beta_either = call3.value > 0 ? call3.d_y * d_beta_center + call3.d_beta : call3.value < 0 ? -(call3.d_y * d_beta_center + call3.d_beta) : 0;
        d_whole_either = call3.value > 0 ? call3.d_y * d_whole_center + call3.d_whole : call3.value < 0 ? -(call3.d_y * d_whole_center + call3.d_whole) : 0;
        d_kappa_either = call3.value > 0 ? call3.d_y * d_kappa_center + call3.d_kappa : call3.value < 0 ? -(call3.d_y * d_kappa_center + call3.d_kappa) : 0;
        d_delta_either = call3.value > 0 ? call3.d_y * d_delta_center + call3.d_delta : call3.value < 0 ? -(call3.d_y * d_delta_center + call3.d_delta) : 0;
    } else {
        real t = fabs(alpha - 1);
        real t2 = fmax(alpha, (real)1) / t;
        either = t2;
        d_shift_either = 0;
        d_alpha_either = ((alpha > (real)1 || (real)1 != (real)1 ? 1 : 0) - t2 * (alpha - 1 > 0 ? 1 : alpha - 1 < 0 ? -1 : 0)) * (1 / t);
        d_beta_either = 0;
        d_whole_either = 0;
        d_kappa_either = 0;
        d_delta_either = 0;
    }
    real d_shift_steepest = d_shift_either;
    real d_alpha_steepest = d_alpha_either;
    real d_beta_steepest = d_beta_either;
    real d_whole_steepest = d_whole_either;
    real d_kappa_steepest = d_kappa_either;
    real d_delta_steepest = d_delta_either;
    real steepest = either;
    real step = special_panel_width((alpha == 1 ? 20 : 12) * fmax(steepest, (real)2), 1);
    int falls = alpha > 1 ? 1 : -1;
    int endless = alpha > 1 ? kappa > 0 : alpha < 1 ? delta > 0 : beta < 1;
    for (int side = -1; side < 2; side += 2) {
        real d_shift_term = 0;
        real d_alpha_term = 0;
        real d_beta_term = 0;
        real d_whole_term = 0;
        real d_kappa_term = 0;
        real d_delta_term = 0;
        real term = 1;
        int ahead = 1;
        for (int i = 1; i < 40000 && (term > 0.01 * EPSILON * sum || ahead) && THREAD < 65536; i++) {
            real y = center + int_product(side, i) * step;
            stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta_results call4 = stable_log_integrand_grad_y_shift_alpha_beta_whole_kappa_delta(y, what, shift, alpha, beta, whole, kappa, delta);
            real t3 = exp(call4.value - at_center);
            d_shift_term = t3 * (call4.d_y * d_shift_center + call4.d_shift - d_shift_at_center);
            d_alpha_term = t3 * (call4.d_y * d_alpha_center + call4.d_alpha - d_alpha_at_center);
            d_beta_term = t3 * (call4.d_y * d_beta_center + call4.d_beta - d_beta_at_center);
            d_whole_term = t3 * (call4.d_y * d_whole_center + call4.d_whole - d_whole_at_center);
            d_kappa_term = t3 * (call4.d_y * d_kappa_center + call4.d_kappa - d_kappa_at_center);
            d_delta_term = t3 * (call4.d_y * d_delta_center + call4.d_delta - d_delta_at_center);
            term = t3;
            d_shift_sum += term > 0 ? d_shift_term : 0;
            d_alpha_sum += term > 0 ? d_alpha_term : 0;
            d_beta_sum += term > 0 ? d_beta_term : 0;
            d_whole_sum += term > 0 ? d_whole_term : 0;
            d_kappa_sum += term > 0 ? d_kappa_term : 0;
            d_delta_sum += term > 0 ? d_delta_term : 0;
            sum += term > 0 ? term : 0;
            ahead = side == falls && endless && stable_exponent(y, 0, shift, alpha, beta, whole, kappa, delta) > 0;
        }
    }
    real t4 = special_log_slope(step * sum);
    real d_shift_value = d_shift_at_center + t4 * (step * d_shift_sum);
    real d_alpha_value = d_alpha_at_center + t4 * (step * d_alpha_sum);
    real d_beta_value = d_beta_at_center + t4 * (step * d_beta_sum);
    real d_whole_value = d_whole_at_center + t4 * (step * d_whole_sum) + special_log_slope(whole);
    real d_kappa_value = d_kappa_at_center + t4 * (step * d_kappa_sum);
    real d_delta_value = d_delta_at_center + t4 * (step * d_delta_sum);
    real value = at_center + log(step * sum) + log(whole);
    if (what != 1 || endless || alpha > 1) {
        return make_stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results(value, d_shift_value, d_alpha_value, d_beta_value, d_whole_value, d_kappa_value, d_delta_value);
    }
    real t5 = log(alpha);
    real t6 = alpha / (1 - alpha);
    real t7 = 1 / (1 - alpha);
    real d_alpha_least = alpha == 1 ? 0 : t5 * ((1 + t6) * t7) + t6 * special_log_slope(alpha) - t7;
    real least = shift + (alpha == 1 ? -1 : t6 * t5 + log1p(-alpha));
    real t8 = exp(least);
    real t9 = -t8;
    real t10 = log(whole) + special_log1mexp(t9);
    real t11 = special_expit(value - t10);
    real t12 = t9 < -50 ? -exp(t9) : -(1 / expm1(t8));
    real t13 = special_expit(t10 - value);
    return make_stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results(special_logaddexp(value, t10), (value == -INFINITY ? 0 : t11 * d_shift_value) + (t10 == -INFINITY ? 0 : -(t8 * t12 * t13)), (value == -INFINITY ? 0 : t11 * d_alpha_value) + (t10 == -INFINITY ? 0 : -(t8 * d_alpha_least * t12 * t13)), value == -INFINITY ? 0 : t11 * d_beta_value, (value == -INFINITY ? 0 : t11 * d_whole_value) + (t10 == -INFINITY ? 0 : t13 * special_log_slope(whole)), value == -INFINITY ? 0 : t11 * d_kappa_value, value == -INFINITY ? 0 : t11 * d_delta_value);
}

DEVICE special_stable_tangent_grad_alpha_results special_stable_tangent_grad_alpha(real alpha)
{
    real t = tan(PI * (1 - 0.5 * alpha));
    real t2 = tan(0.5 * PI * alpha);
    return make_special_stable_tangent_grad_alpha_results(alpha > 1 ? -t : t2, alpha > 1 ? 0.5 * PI * (1 + t * t) : (1 + t2 * t2) * (0.5 * PI));
}

DEVICE real special_stirling_series_derivative(real x)
{
    real v = 1 / x;
    real s = v * v;
    return -s * (0.08333333333333287574 + s * (-0.008333333332332800767 + s * (0.003968253600942064197 + s * (-0.004166613154056894626 + s * (0.007571670662698111168 + s * (-0.02090499271669974631 + s * (0.07768996902561712723 + s * (-0.3252522243739799449 + s * (1.221386329628660646 + s * (-3.22008126684131239 + s * 4.154095689406029601))))))))));
}

DEVICE real special_digamma(real x)
{
    real y = x < 3 ? x + 3 : x;
    real sum = x < 3 ? (2 + x * (6 + 3 * x)) / (x * (1 + x) * (2 + x)) : 0;
    return log(y) - (0.5 / y + sum) + special_stirling_series_derivative(y);
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

DEVICE stable_exponent_grad_shift_alpha_beta_results stable_exponent_grad_shift_alpha_beta(real y, int slope, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    int left = y < 0;
    real psi = whole * special_expit(y);
    real phi = whole * special_expit(-y);
    real speed = psi * special_expit(-y);
    if (alpha == 1) {
        real sine = sin(left ? psi : phi);
        real cot = (left ? cos(psi) : -cos(phi)) / sine;
        real d_beta_rest = left ? psi - 0.5 * PI : 0.5 * PI - phi;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (slope) {
            real t = beta / rest;
            real t2 = rest / (beta * sine * sine);
            return make_stable_exponent_grad_shift_alpha_beta_results(speed * (t - 2 * cot + t2), 0, 0, speed * ((1 - t * d_beta_rest) * (1 / rest) + (d_beta_rest - t2 * (sine * sine)) * (1 / (beta * sine * sine))));
        }
        real t3 = rest / sine;
        real t4 = rest / beta;
        return make_stable_exponent_grad_shift_alpha_beta_results(shift + log(t3) - t4 * cot, 1, 0, special_log_slope(t3) * (d_beta_rest * (1 / sine)) - cot * ((d_beta_rest - t4) * (1 / beta)));
    }
    real d_alpha_a = left ? psi : phi;
    real a = left ? alpha * psi : kappa + alpha * phi;
    real f = left ? delta + psi : phi;
    real d_alpha_c = left ? -psi : phi;
    real c = left ? delta + (1 - alpha) * psi : kappa + (alpha - 1) * phi;
    real sign = left ? 1 : -1;
    if (slope) {
        real t5 = cos(a);
        real t6 = sin(a);
        real t7 = t5 / t6;
        real t8 = sign * (cos(f) / sin(f) - alpha * alpha * t7) / (alpha - 1);
        real t9 = cos(c);
        real t10 = sin(c);
        real t11 = t9 / t10;
        return make_stable_exponent_grad_shift_alpha_beta_results(speed * (t8 + (1 - alpha) * t11), 0, speed * ((-((2 * alpha * t7 + alpha * alpha * ((-(t6 * d_alpha_a) - t7 * (t5 * d_alpha_a)) * (1 / t6))) * sign) - t8) * (1 / (alpha - 1)) + ((1 - alpha) * ((-(t10 * d_alpha_c) - t11 * (t9 * d_alpha_c)) * (1 / t10)) - t11)), 0);
    }
    real t12 = alpha / (alpha - 1);
    real t13 = sin(f);
    real t14 = sin(a);
    real t15 = t13 / t14;
    real t16 = log(t15);
    real t17 = sin(c) / t13;
    return make_stable_exponent_grad_shift_alpha_beta_results(shift + t12 * t16 + log(t17), 1, t16 * ((1 - t12) * (1 / (alpha - 1))) - t15 * (cos(a) * d_alpha_a) * (1 / t14) * special_log_slope(t15) * t12 + special_log_slope(t17) * (cos(c) * d_alpha_c * (1 / t13)), 0);
}

DEVICE stable_log_integrand_grad_shift_alpha_beta_results stable_log_integrand_grad_shift_alpha_beta(real y, int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    stable_exponent_grad_shift_alpha_beta_results call = stable_exponent_grad_shift_alpha_beta(y, 0, shift, alpha, beta, whole, kappa, delta);
    real d_shift_v = call.d_shift;
    real d_alpha_v = call.d_alpha;
    real d_beta_v = call.d_beta;
    real v = call.value;
    real d_shift_weight = 0;
    real d_alpha_weight = 0;
    real d_beta_weight = 0;
    real weight = special_log_expit(what == 1 ? -y : y);
    if (what == 0) {
        weight += special_log_expit(-y);
    } else {
        stable_exponent_grad_shift_alpha_beta_results call2 = stable_exponent_grad_shift_alpha_beta(y, 1, shift, alpha, beta, whole, kappa, delta);
        real t = fabs(call2.value);
        real t2 = special_log_slope(t);
        d_shift_weight += t2 * (call2.value > 0 ? call2.d_shift : call2.value < 0 ? -call2.d_shift : 0);
        d_alpha_weight += t2 * (call2.value > 0 ? call2.d_alpha : call2.value < 0 ? -call2.d_alpha : 0);
        d_beta_weight += t2 * (call2.value > 0 ? call2.d_beta : call2.value < 0 ? -call2.d_beta : 0);
        weight += log(t);
    }
    real t3 = exp(v);
    return make_stable_log_integrand_grad_shift_alpha_beta_results(v - t3 + weight, d_shift_v - t3 * d_shift_v + d_shift_weight, d_alpha_v - t3 * d_alpha_v + d_alpha_weight, d_beta_v - t3 * d_beta_v + d_beta_weight);
}

DEVICE stable_center_of_grad_shift_alpha_beta_results stable_center_of_grad_shift_alpha_beta(real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    real reach = EPSILON < 1e-10 ? 600 : 70;
    real best = 0;
    real d_shift_value = 0;
    real d_alpha_value = 0;
    real d_beta_value = 0;
    real value = -INFINITY;
    for (int which = 0; which < 2; which++) {
        real low = -reach;
        real high = reach;
        for (int i = 0; i < 22; i++) {
            real y = 0.5 * (low + high);
            stable_exponent_grad_shift_alpha_beta_results call = stable_exponent_grad_shift_alpha_beta(y, 0, shift, alpha, beta, whole, kappa, delta);
            real d_shift_v = call.d_shift;
            real d_alpha_v = call.d_alpha;
            real d_beta_v = call.d_beta;
            real v = call.value;
            int rises = v > 0 == alpha > 1;
            if (which == 1 && v < 40) {
                rises = stable_log_integrand(y + 0.01, 0, shift, alpha, beta, whole, kappa, delta) > stable_log_integrand(y - 0.01, 0, shift, alpha, beta, whole, kappa, delta);
            }
            low = rises ? y : low;
            high = rises ? high : y;
        }
        real y_2 = 0.5 * (low + high);
        stable_log_integrand_grad_shift_alpha_beta_results call2 = stable_log_integrand_grad_shift_alpha_beta(y_2, 0, shift, alpha, beta, whole, kappa, delta);
        real d_shift_at_y = call2.d_shift;
        real d_alpha_at_y = call2.d_alpha;
        real d_beta_at_y = call2.d_beta;
        real at_y = call2.value;
        if (which == 0 || at_y > value) {
            best = y_2;
            d_shift_value = d_shift_at_y;
            d_alpha_value = d_alpha_at_y;
            d_beta_value = d_beta_at_y;
            value = at_y;
        }
    }
    return make_stable_center_of_grad_shift_alpha_beta_results(best, 0, 0, 0);
}

DEVICE stable_exponent_grad_y_shift_alpha_beta_results stable_exponent_grad_y_shift_alpha_beta(real y, int slope, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    int left = y < 0;
    real t = special_expit(y);
    real d_y_psi = whole * (isinf(y) ? 0 : t * special_expit(-y));
    real psi = whole * t;
    real t2 = special_expit(-y);
    real d_y_phi = whole * (isinf(-y) ? 0 : -(t2 * special_expit(y)));
    real phi = whole * t2;
    real t3 = special_expit(-y);
    real d_y_speed = t3 * d_y_psi + psi * (isinf(-y) ? 0 : -(t3 * special_expit(y)));
    real speed = psi * t3;
    if (alpha == 1) {
        real t4 = left ? psi : phi;
        real d_y_sine = cos(t4) * (left ? d_y_psi : d_y_phi);
        real sine = sin(t4);
        real t5 = (left ? cos(psi) : -cos(phi)) / sine;
        real d_y_cot = ((left ? -(sin(psi) * d_y_psi) : sin(phi) * d_y_phi) - t5 * d_y_sine) * (1 / sine);
        real cot = t5;
        real d_y_rest = left ? beta * d_y_psi : -(beta * d_y_phi);
        real d_beta_rest = left ? psi - 0.5 * PI : 0.5 * PI - phi;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (slope) {
            real t6 = beta / rest;
            real t7 = rest / (beta * sine * sine);
            real t8 = t6 - 2 * cot + t7;
            real t9 = 1 / rest;
            real t10 = 1 / (beta * sine * sine);
            return make_stable_exponent_grad_y_shift_alpha_beta_results(speed * t8, t8 * d_y_speed + speed * (-(t6 * d_y_rest * t9) - 2 * d_y_cot + (d_y_rest - t7 * (2 * beta * sine * d_y_sine)) * t10), 0, 0, speed * ((1 - t6 * d_beta_rest) * t9 + (d_beta_rest - t7 * (sine * sine)) * t10));
        }
        real t11 = rest / sine;
        real t12 = rest / beta;
        real t13 = special_log_slope(t11);
        real t14 = 1 / sine;
        real t15 = 1 / beta;
        return make_stable_exponent_grad_y_shift_alpha_beta_results(shift + log(t11) - t12 * cot, t13 * ((d_y_rest - t11 * d_y_sine) * t14) - (cot * (d_y_rest * t15) + t12 * d_y_cot), 1, 0, t13 * (d_beta_rest * t14) - cot * ((d_beta_rest - t12) * t15));
    }
    real d_y_a = left ? alpha * d_y_psi : alpha * d_y_phi;
    real d_alpha_a = left ? psi : phi;
    real a = left ? alpha * psi : kappa + alpha * phi;
    real d_y_f = left ? d_y_psi : d_y_phi;
    real f = left ? delta + psi : phi;
    real d_y_c = left ? (1 - alpha) * d_y_psi : (alpha - 1) * d_y_phi;
    real d_alpha_c = left ? -psi : phi;
    real c = left ? delta + (1 - alpha) * psi : kappa + (alpha - 1) * phi;
    real sign = left ? 1 : -1;
    if (slope) {
        real t16 = cos(f);
        real t17 = sin(f);
        real t18 = t16 / t17;
        real t19 = cos(a);
        real t20 = sin(a);
        real t21 = t19 / t20;
        real t22 = sign * (t18 - alpha * alpha * t21) / (alpha - 1);
        real t23 = cos(c);
        real t24 = sin(c);
        real t25 = t23 / t24;
        real t26 = t22 + (1 - alpha) * t25;
        real t27 = 1 / t20;
        real t28 = 1 / (alpha - 1);
        real t29 = 1 / t24;
        return make_stable_exponent_grad_y_shift_alpha_beta_results(speed * t26, t26 * d_y_speed + speed * (sign * ((-(t17 * d_y_f) - t18 * (t16 * d_y_f)) * (1 / t17) - alpha * alpha * ((-(t20 * d_y_a) - t21 * (t19 * d_y_a)) * t27)) * t28 + (1 - alpha) * ((-(t24 * d_y_c) - t25 * (t23 * d_y_c)) * t29)), 0, speed * ((-((2 * alpha * t21 + alpha * alpha * ((-(t20 * d_alpha_a) - t21 * (t19 * d_alpha_a)) * t27)) * sign) - t22) * t28 + ((1 - alpha) * ((-(t24 * d_alpha_c) - t25 * (t23 * d_alpha_c)) * t29) - t25)), 0);
    }
    real t30 = alpha / (alpha - 1);
    real t31 = sin(f);
    real t32 = sin(a);
    real t33 = t31 / t32;
    real t34 = log(t33);
    real t35 = sin(c) / t31;
    real t36 = special_log_slope(t33);
    real t37 = cos(f) * d_y_f;
    real t38 = cos(a);
    real t39 = 1 / t32;
    real t40 = special_log_slope(t35);
    real t41 = cos(c);
    real t42 = 1 / t31;
    return make_stable_exponent_grad_y_shift_alpha_beta_results(shift + t30 * t34 + log(t35), t30 * (t36 * ((t37 - t33 * (t38 * d_y_a)) * t39)) + t40 * ((t41 * d_y_c - t35 * t37) * t42), 1, t34 * ((1 - t30) * (1 / (alpha - 1))) - t33 * (t38 * d_alpha_a) * t39 * t36 * t30 + t40 * (t41 * d_alpha_c * t42), 0);
}

DEVICE stable_log_integrand_grad_y_shift_alpha_beta_results stable_log_integrand_grad_y_shift_alpha_beta(real y, int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    stable_exponent_grad_y_shift_alpha_beta_results call = stable_exponent_grad_y_shift_alpha_beta(y, 0, shift, alpha, beta, whole, kappa, delta);
    real d_y_v = call.d_y;
    real d_shift_v = call.d_shift;
    real d_alpha_v = call.d_alpha;
    real d_beta_v = call.d_beta;
    real v = call.value;
    real t = what == 1 ? -y : y;
    real d_y_weight = t == INFINITY ? 0 : special_expit(-t) * (what == 1 ? -1 : 1);
    real d_shift_weight = 0;
    real d_alpha_weight = 0;
    real d_beta_weight = 0;
    real weight = special_log_expit(t);
    if (what == 0) {
        d_y_weight += -y == INFINITY ? 0 : -special_expit(y);
        weight += special_log_expit(-y);
    } else {
        stable_exponent_grad_y_shift_alpha_beta_results call2 = stable_exponent_grad_y_shift_alpha_beta(y, 1, shift, alpha, beta, whole, kappa, delta);
        real t2 = fabs(call2.value);
        real t3 = special_log_slope(t2);
        d_y_weight += t3 * (call2.value > 0 ? call2.d_y : call2.value < 0 ? -call2.d_y : 0);
        d_shift_weight += t3 * (call2.value > 0 ? call2.d_shift : call2.value < 0 ? -call2.d_shift : 0);
        d_alpha_weight += t3 * (call2.value > 0 ? call2.d_alpha : call2.value < 0 ? -call2.d_alpha : 0);
        d_beta_weight += t3 * (call2.value > 0 ? call2.d_beta : call2.value < 0 ? -call2.d_beta : 0);
        weight += log(t2);
    }
    real t4 = exp(v);
    return make_stable_log_integrand_grad_y_shift_alpha_beta_results(v - t4 + weight, d_y_v - t4 * d_y_v + d_y_weight, d_shift_v - t4 * d_shift_v + d_shift_weight, d_alpha_v - t4 * d_alpha_v + d_alpha_weight, d_beta_v - t4 * d_beta_v + d_beta_weight);
}

LARGE stable_log_integral_grad_shift_alpha_beta_results stable_log_integral_grad_shift_alpha_beta(int what, real shift, real alpha, real beta, real whole, real kappa, real delta)
{
    stable_center_of_grad_shift_alpha_beta_results call = stable_center_of_grad_shift_alpha_beta(shift, alpha, beta, whole, kappa, delta);
    real d_shift_center = call.d_shift;
    real d_alpha_center = call.d_alpha;
    real d_beta_center = call.d_beta;
    real center = call.value;
    stable_log_integrand_grad_y_shift_alpha_beta_results call2 = stable_log_integrand_grad_y_shift_alpha_beta(center, what, shift, alpha, beta, whole, kappa, delta);
    real d_shift_at_center = call2.d_y * d_shift_center + call2.d_shift;
    real d_alpha_at_center = call2.d_y * d_alpha_center + call2.d_alpha;
    real d_beta_at_center = call2.d_y * d_beta_center + call2.d_beta;
    real at_center = call2.value;
    real d_shift_sum = 0;
    real d_alpha_sum = 0;
    real d_beta_sum = 0;
    real sum = 1;
    real either;
    real d_shift_either;
    real d_alpha_either;
    real d_beta_either;
    if (alpha == 1) {
        stable_exponent_grad_y_shift_alpha_beta_results call3 = stable_exponent_grad_y_shift_alpha_beta(center, 1, shift, alpha, beta, whole, kappa, delta);
        either = fabs(call3.value);
        d_shift_either = call3.value > 0 ? call3.d_y * d_shift_center + call3.d_shift : call3.value < 0 ? -(call3.d_y * d_shift_center + call3.d_shift) : 0;
        d_alpha_either = call3.value > 0 ? call3.d_y * d_alpha_center + call3.d_alpha : call3.value < 0 ? -(call3.d_y * d_alpha_center + call3.d_alpha) : 0;
        d_beta_either = call3.value > 0 ? call3.d_y * d_beta_center + call3.d_beta : call3.value < 0 ? -(call3.d_y * d_beta_center + call3.d_beta) : 0;
    } else {
        real t = fabs(alpha - 1);
        real t2 = fmax(alpha, (real)1) / t;
        either = t2;
        d_shift_either = 0;
        d_alpha_either = ((alpha > (real)1 || (real)1 != (real)1 ? 1 : 0) - t2 * (alpha - 1 > 0 ? 1 : alpha - 1 < 0 ? -1 : 0)) * (1 / t);
        d_beta_either = 0;
    }
    real d_shift_steepest = d_shift_either;
    real d_alpha_steepest = d_alpha_either;
    real d_beta_steepest = d_beta_either;
    real steepest = either;
    real step = special_panel_width((alpha == 1 ? 20 : 12) * fmax(steepest, (real)2), 1);
    int falls = alpha > 1 ? 1 : -1;
    int endless = alpha > 1 ? kappa > 0 : alpha < 1 ? delta > 0 : beta < 1;
    for (int side = -1; side < 2; side += 2) {
        real d_shift_term = 0;
        real d_alpha_term = 0;
        real d_beta_term = 0;
        real term = 1;
        int ahead = 1;
        for (int i = 1; i < 40000 && (term > 0.01 * EPSILON * sum || ahead) && THREAD < 65536; i++) {
            real y = center + int_product(side, i) * step;
            stable_log_integrand_grad_y_shift_alpha_beta_results call4 = stable_log_integrand_grad_y_shift_alpha_beta(y, what, shift, alpha, beta, whole, kappa, delta);
            real t3 = exp(call4.value - at_center);
            d_shift_term = t3 * (call4.d_y * d_shift_center + call4.d_shift - d_shift_at_center);
            d_alpha_term = t3 * (call4.d_y * d_alpha_center + call4.d_alpha - d_alpha_at_center);
            d_beta_term = t3 * (call4.d_y * d_beta_center + call4.d_beta - d_beta_at_center);
            term = t3;
            d_shift_sum += term > 0 ? d_shift_term : 0;
            d_alpha_sum += term > 0 ? d_alpha_term : 0;
            d_beta_sum += term > 0 ? d_beta_term : 0;
            sum += term > 0 ? term : 0;
            ahead = side == falls && endless && stable_exponent(y, 0, shift, alpha, beta, whole, kappa, delta) > 0;
        }
    }
    real t4 = special_log_slope(step * sum);
    real d_shift_value = d_shift_at_center + t4 * (step * d_shift_sum);
    real d_alpha_value = d_alpha_at_center + t4 * (step * d_alpha_sum);
    real d_beta_value = d_beta_at_center + t4 * (step * d_beta_sum);
    real value = at_center + log(step * sum) + log(whole);
    if (what != 1 || endless || alpha > 1) {
        return make_stable_log_integral_grad_shift_alpha_beta_results(value, d_shift_value, d_alpha_value, d_beta_value);
    }
    real t5 = log(alpha);
    real t6 = alpha / (1 - alpha);
    real t7 = 1 / (1 - alpha);
    real d_alpha_least = alpha == 1 ? 0 : t5 * ((1 + t6) * t7) + t6 * special_log_slope(alpha) - t7;
    real least = shift + (alpha == 1 ? -1 : t6 * t5 + log1p(-alpha));
    real t8 = exp(least);
    real t9 = -t8;
    real t10 = log(whole) + special_log1mexp(t9);
    real t11 = special_expit(value - t10);
    real t12 = t9 < -50 ? -exp(t9) : -(1 / expm1(t8));
    real t13 = special_expit(t10 - value);
    return make_stable_log_integral_grad_shift_alpha_beta_results(special_logaddexp(value, t10), (value == -INFINITY ? 0 : t11 * d_shift_value) + (t10 == -INFINITY ? 0 : -(t8 * t12 * t13)), (value == -INFINITY ? 0 : t11 * d_alpha_value) + (t10 == -INFINITY ? 0 : -(t8 * d_alpha_least * t12 * t13)), value == -INFINITY ? 0 : t11 * d_beta_value);
}

DEVICE stable_log_above_zeta_grad_d_alpha_beta_results stable_log_above_zeta_grad_d_alpha_beta(int what, real d, real alpha, real beta)
{
    real d_alpha_w = alpha > 1 ? -(0.5 * PI) : 0.5 * PI;
    real w = alpha > 1 ? PI * (1 - 0.5 * alpha) : 0.5 * PI * alpha;
    real d_alpha_c = -(sin(w) * d_alpha_w);
    real c = cos(w);
    real d_alpha_s = cos(w) * d_alpha_w;
    real s = sin(w);
    real t = c * c - beta * s * s;
    real t2 = (1 + beta) * s * c;
    real t3 = hypot(t2, t);
    real t4 = t / t3;
    real t5 = t2 / t3;
    real d_alpha_kappa = (t4 * ((1 + beta) * c * d_alpha_s + (1 + beta) * s * d_alpha_c) - t5 * (2 * c * d_alpha_c - 2 * beta * s * d_alpha_s)) / t3;
    real d_beta_kappa = (t4 * (s * c) + s * s * t5) / t3;
    real kappa = atan2(t2, t);
    special_stable_tangent_grad_alpha_results call = special_stable_tangent_grad_alpha(alpha);
    real d_alpha_zeta = beta * call.d_alpha;
    real d_beta_zeta = call.value;
    real zeta = beta * call.value;
    real t6 = c * c + beta * s * s;
    real t7 = (1 - beta) * s * c;
    real t8 = hypot(t7, t6);
    real t9 = t6 / t8;
    real t10 = t7 / t8;
    real t11 = atan2(t7, t6) / alpha;
    real t12 = 1 / alpha;
    real d_alpha_delta = alpha < 1 ? ((t9 * ((1 - beta) * c * d_alpha_s + (1 - beta) * s * d_alpha_c) - t10 * (2 * c * d_alpha_c + 2 * beta * s * d_alpha_s)) / t8 - t11) * t12 : 0;
    real d_beta_delta = alpha < 1 ? (-(s * c * t9) - t10 * (s * s)) / t8 * t12 : 0;
    real delta = alpha < 1 ? t11 : 0;
    real d_alpha_whole = -d_alpha_delta;
    real d_beta_whole = -d_beta_delta;
    real whole = PI - delta;
    if (alpha < 1) {
        real t13 = kappa / alpha;
        real t14 = 1 / alpha;
        d_alpha_whole = (d_alpha_kappa - t13) * t14;
        d_beta_whole = d_beta_kappa * t14;
        whole = t13;
        d_alpha_kappa = -(whole + alpha * d_alpha_whole);
        d_beta_kappa = -(alpha * d_beta_whole);
        kappa = PI - alpha * whole;
    } else {
        real t15 = (PI - kappa) / alpha;
        real t16 = 1 / alpha;
        d_alpha_whole = (-d_alpha_kappa - t15) * t16;
        d_beta_whole = -(d_beta_kappa * t16);
        whole = t15;
        d_alpha_delta = -d_alpha_whole;
        d_beta_delta = -d_beta_whole;
        delta = PI - whole;
    }
    if (beta > -1 && alpha < 2 && d > 0 && alpha * log(d) > -2 * log(EPSILON)) {
        real t17 = s * (1 + beta) / PI;
        real t18 = special_log_slope(t17);
        real t19 = 1 / PI;
        real t20 = log(d);
        real d_d_value = -(alpha * special_log_slope(d));
        real d_alpha_value = special_digamma(alpha) + t18 * ((1 + beta) * d_alpha_s * t19) - t20;
        real d_beta_value = t18 * (s * t19);
        real value = special_log_gamma(alpha) + log(t17) - alpha * t20;
        real t21 = value < -50 ? -exp(value) : -(1 / expm1(-value));
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(what == 0 ? value + log(alpha) - log(d) : what == 1 ? value : special_log1mexp(value), what == 0 ? d_d_value - special_log_slope(d) : what == 1 ? d_d_value : t21 * d_d_value, what == 0 ? d_alpha_value + special_log_slope(alpha) : what == 1 ? d_alpha_value : t21 * d_alpha_value, what == 0 ? d_beta_value : what == 1 ? d_beta_value : t21 * d_beta_value);
    }
    if (alpha == 1) {
        real t22 = 0.5 * PI * d / beta;
        real t23 = 1 / beta;
        real d_d_shift = -(0.5 * PI * t23);
        real d_beta_shift = t22 * t23;
        stable_log_integral_grad_shift_alpha_beta_results call2 = stable_log_integral_grad_shift_alpha_beta(what, log(2 / PI) - t22, alpha, beta, PI, 0, 0);
        real d_d_value_2 = call2.d_shift * d_d_shift;
        real d_alpha_value_2 = call2.d_alpha;
        real d_beta_value_2 = call2.d_shift * d_beta_shift + call2.d_beta;
        real value_2 = call2.value;
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(what == 0 ? value_2 - log(2 * beta) : value_2 - LOG_PI, d_d_value_2, d_alpha_value_2, what == 0 ? d_beta_value_2 - special_log_slope(2 * beta) * 2 : d_beta_value_2);
    }
    if (!(whole > 0)) {
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(what == 2 ? 0 : -INFINITY, 0, 0, 0);
    }
    if (d == 0) {
        real t24 = 1 / alpha;
        real t25 = 1 + t24;
        real t26 = sin(whole) / PI;
        real t27 = special_log1p_square(zeta) / (2 * alpha);
        real t28 = whole / PI;
        real t29 = delta / PI;
        real t30 = special_log_slope(t26);
        real t31 = cos(whole);
        real t32 = 1 / PI;
        real t33 = (fabs(zeta) > 1 / EPSILON ? 2 : 2 * zeta) / (fabs(zeta) > 1 / EPSILON ? zeta : 1 + zeta * zeta);
        real t34 = 1 / (2 * alpha);
        real t35 = special_log_slope(t28);
        real t36 = special_log_slope(t29);
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(what == 0 ? special_log_gamma(t25) + log(t26) - t27 : what == 1 ? log(t28) : log(t29), 0, what == 0 ? t30 * (t31 * d_alpha_whole * t32) - t24 * t24 * special_digamma(t25) - (t33 * d_alpha_zeta - t27 * 2) * t34 : what == 1 ? t35 * (d_alpha_whole * t32) : t36 * (d_alpha_delta * t32), what == 0 ? t30 * (t31 * d_beta_whole * t32) - t33 * d_beta_zeta * t34 : what == 1 ? t35 * (d_beta_whole * t32) : t36 * (d_beta_delta * t32));
    }
    real t37 = alpha / (alpha - 1);
    real t38 = special_log1p_square(zeta) / (2 * alpha);
    real t39 = log(d) - t38;
    real t40 = (fabs(zeta) > 1 / EPSILON ? 2 : 2 * zeta) / (fabs(zeta) > 1 / EPSILON ? zeta : 1 + zeta * zeta);
    real t41 = 1 / (2 * alpha);
    real d_d_shift2 = t37 * special_log_slope(d);
    real d_alpha_shift = t39 * ((1 - t37) * (1 / (alpha - 1))) - (t40 * d_alpha_zeta - t38 * 2) * t41 * t37;
    real d_beta_shift2 = -(t40 * d_beta_zeta * t41 * t37);
    real shift = t37 * t39;
    real d_alpha_whole2 = d_alpha_whole;
    real d_beta_whole2 = d_beta_whole;
    real d_alpha_kappa2 = d_alpha_kappa;
    real d_beta_kappa2 = d_beta_kappa;
    real d_alpha_delta2 = d_alpha_delta;
    real d_beta_delta2 = d_beta_delta;
    stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results call3 = stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta(what, shift, alpha, beta, whole, kappa, delta);
    real d_d_value_3 = call3.d_shift * d_d_shift2;
    real d_alpha_value_3 = call3.d_shift * d_alpha_shift + call3.d_alpha + call3.d_whole * d_alpha_whole2 + call3.d_kappa * d_alpha_kappa2 + call3.d_delta * d_alpha_delta2;
    real d_beta_value_3 = call3.d_shift * d_beta_shift2 + call3.d_beta + call3.d_whole * d_beta_whole2 + call3.d_kappa * d_beta_kappa2 + call3.d_delta * d_beta_delta2;
    real value_3 = call3.value - LOG_PI;
    if (what == 0) {
        real t42 = fabs(alpha - 1);
        real t43 = alpha / t42;
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(value_3 + log(t43) - log(d), d_d_value_3 - special_log_slope(d), d_alpha_value_3 + special_log_slope(t43) * ((1 - t43 * (alpha - 1 > 0 ? 1 : alpha - 1 < 0 ? -1 : 0)) * (1 / t42)), d_beta_value_3);
    }
    real t44 = exp(value_3);
    real t45 = delta / PI + t44;
    real t46 = special_log_slope(t45);
    real t47 = 1 / PI;
    return make_stable_log_above_zeta_grad_d_alpha_beta_results(what == 1 ? value_3 : log(t45), what == 1 ? d_d_value_3 : t46 * (t44 * d_d_value_3), what == 1 ? d_alpha_value_3 : t46 * (d_alpha_delta * t47 + t44 * d_alpha_value_3), what == 1 ? d_beta_value_3 : t46 * (d_beta_delta * t47 + t44 * d_beta_value_3));
}

DEVICE int stable_valid(real alpha, real beta)
{
    return alpha <= 2 && fabs(beta) <= 1;
}

// cauchy_logpdf_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real alpha;
    real t;
    real c0;
} cauchy_logpdf_grad_x_mss_set;

DEVICE cauchy_logpdf_grad_x_mss_set cauchy_logpdf_grad_x_mss_prepare_set(real alpha, real beta)
{
    cauchy_logpdf_grad_x_mss_set set;
    real t = 1 / beta;
    set.alpha = alpha;
    set.t = t;
    set.c0 = -(LOG_PI + log(beta));
    return set;
}

// cauchy_logpdf_grad_x: what depends on both, from what was computed ahead.
DEVICE cauchy_logpdf_grad_x_results cauchy_logpdf_grad_x_mss_evaluate(cauchy_logpdf_grad_x_mss_set set, real x)
{
    real t2 = (x - set.alpha) * set.t;
    return make_cauchy_logpdf_grad_x_results(set.c0 - special_log1p_square(t2), -((fabs(t2) > 1 / EPSILON ? 2 : 2 * t2) / (fabs(t2) > 1 / EPSILON ? t2 : 1 + t2 * t2) * set.t));
}

// cauchy_logcdf_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real alpha;
    real t;
    real beta;
} cauchy_logcdf_grad_x_mss_set;

DEVICE cauchy_logcdf_grad_x_mss_set cauchy_logcdf_grad_x_mss_prepare_set(real alpha, real beta)
{
    cauchy_logcdf_grad_x_mss_set set;
    real t = 1 / beta;
    set.alpha = alpha;
    set.t = t;
    set.beta = beta;
    return set;
}

// cauchy_logcdf_grad_x: what depends on both, from what was computed ahead.
DEVICE cauchy_logcdf_grad_x_results cauchy_logcdf_grad_x_mss_evaluate(cauchy_logcdf_grad_x_mss_set set, real x)
{
    real z = (x - set.alpha) * set.t;
    real either;
    real d_x_either;
    if (z < 0) {
        special_log_arc_grad_x_results call = special_log_arc_grad_x(set.alpha - x, set.beta);
        either = call.value - LOG_PI;
        d_x_either = -call.d_x;
    } else {
        real t2 = -atan2((real)(1), z) / PI;
        real t3 = hypot((real)(1), z);
        either = log1p(t2);
        d_x_either = 1 / (1 + t2) * (1 / t3 * set.t / t3 * (1 / PI));
    }
    return make_cauchy_logcdf_grad_x_results(either, isinf(x) ? 0 : d_x_either);
}

// cauchy_logsf_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    cauchy_logcdf_grad_x_mss_set cauchy_0;
} cauchy_logsf_grad_x_mss_set;

DEVICE cauchy_logsf_grad_x_mss_set cauchy_logsf_grad_x_mss_prepare_set(real alpha, real beta)
{
    cauchy_logsf_grad_x_mss_set set;
    set.cauchy_0 = cauchy_logcdf_grad_x_mss_prepare_set(-alpha, beta);
    return set;
}

// cauchy_logsf_grad_x: what depends on both, from what was computed ahead.
DEVICE cauchy_logsf_grad_x_results cauchy_logsf_grad_x_mss_evaluate(cauchy_logsf_grad_x_mss_set set, real x)
{
    cauchy_logcdf_grad_x_results call = cauchy_logcdf_grad_x_mss_evaluate(set.cauchy_0, -x);
    return make_cauchy_logsf_grad_x_results(call.value, isinf(x) ? 0 : -call.d_x);
}

// stable_exponent_grad_shift_alpha_beta: what depends on the parameters alone, computed once for each set of them.
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
    real c5;
    real t12;
    real c6;
} stable_exponent_grad_shift_alpha_beta_msmsmsss_set;

DEVICE stable_exponent_grad_shift_alpha_beta_msmsmsss_set stable_exponent_grad_shift_alpha_beta_msmsmsss_prepare_set(int slope, real alpha, real whole, real kappa, real delta)
{
    stable_exponent_grad_shift_alpha_beta_msmsmsss_set set;
    real t12 = alpha / (alpha - 1);
    set.whole = whole;
    set.slope = slope;
    set.c0 = alpha == 1;
    set.alpha = alpha;
    set.kappa = kappa;
    set.delta = delta;
    set.c1 = 1 - alpha;
    set.c2 = alpha - 1;
    set.c3 = alpha * alpha;
    set.c4 = 2 * alpha;
    set.c5 = 1 / (alpha - 1);
    set.t12 = t12;
    set.c6 = (1 - t12) * (1 / (alpha - 1));
    return set;
}

// stable_exponent_grad_shift_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_exponent_grad_shift_alpha_beta_results stable_exponent_grad_shift_alpha_beta_msmsmsss_evaluate(stable_exponent_grad_shift_alpha_beta_msmsmsss_set set, real y, real shift, real beta)
{
    int left = y < 0;
    real psi = set.whole * special_expit(y);
    real phi = set.whole * special_expit(-y);
    real speed = psi * special_expit(-y);
    if (set.c0) {
        real sine = sin(left ? psi : phi);
        real cot = (left ? cos(psi) : -cos(phi)) / sine;
        real d_beta_rest = left ? psi - 0.5 * PI : 0.5 * PI - phi;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (set.slope) {
            real t = beta / rest;
            real t2 = rest / (beta * sine * sine);
            return make_stable_exponent_grad_shift_alpha_beta_results(speed * (t - 2 * cot + t2), 0, 0, speed * ((1 - t * d_beta_rest) * (1 / rest) + (d_beta_rest - t2 * (sine * sine)) * (1 / (beta * sine * sine))));
        }
        real t3 = rest / sine;
        real t4 = rest / beta;
        return make_stable_exponent_grad_shift_alpha_beta_results(shift + log(t3) - t4 * cot, 1, 0, special_log_slope(t3) * (d_beta_rest * (1 / sine)) - cot * ((d_beta_rest - t4) * (1 / beta)));
    }
    real d_alpha_a = left ? psi : phi;
    real a = left ? set.alpha * psi : set.kappa + set.alpha * phi;
    real f = left ? set.delta + psi : phi;
    real d_alpha_c = left ? -psi : phi;
    real c = left ? set.delta + set.c1 * psi : set.kappa + set.c2 * phi;
    real sign = left ? 1 : -1;
    if (set.slope) {
        real t5 = cos(a);
        real t6 = sin(a);
        real t7 = t5 / t6;
        real t8 = sign * (cos(f) / sin(f) - set.c3 * t7) / set.c2;
        real t9 = cos(c);
        real t10 = sin(c);
        real t11 = t9 / t10;
        return make_stable_exponent_grad_shift_alpha_beta_results(speed * (t8 + set.c1 * t11), 0, speed * ((-((set.c4 * t7 + set.c3 * ((-(t6 * d_alpha_a) - t7 * (t5 * d_alpha_a)) * (1 / t6))) * sign) - t8) * set.c5 + (set.c1 * ((-(t10 * d_alpha_c) - t11 * (t9 * d_alpha_c)) * (1 / t10)) - t11)), 0);
    }
    real t13 = sin(f);
    real t14 = sin(a);
    real t15 = t13 / t14;
    real t16 = log(t15);
    real t17 = sin(c) / t13;
    return make_stable_exponent_grad_shift_alpha_beta_results(shift + set.t12 * t16 + log(t17), 1, t16 * set.c6 - t15 * (cos(a) * d_alpha_a) * (1 / t14) * special_log_slope(t15) * set.t12 + special_log_slope(t17) * (cos(c) * d_alpha_c * (1 / t13)), 0);
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

// stable_log_integrand_grad_shift_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    stable_exponent_grad_shift_alpha_beta_msmsmsss_set stable_exponent_grad_shift_alpha_beta_0;
    int c0;
    stable_exponent_grad_shift_alpha_beta_msmsmsss_set stable_exponent_grad_shift_alpha_beta_1;
    int c1;
} stable_log_integrand_grad_shift_alpha_beta_msmsmsss_set;

DEVICE stable_log_integrand_grad_shift_alpha_beta_msmsmsss_set stable_log_integrand_grad_shift_alpha_beta_msmsmsss_prepare_set(int what, real alpha, real whole, real kappa, real delta)
{
    stable_log_integrand_grad_shift_alpha_beta_msmsmsss_set set;
    set.stable_exponent_grad_shift_alpha_beta_0 = stable_exponent_grad_shift_alpha_beta_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c0 = what == 1;
    set.stable_exponent_grad_shift_alpha_beta_1 = stable_exponent_grad_shift_alpha_beta_msmsmsss_prepare_set(1, alpha, whole, kappa, delta);
    set.c1 = what == 0;
    return set;
}

// stable_log_integrand_grad_shift_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_log_integrand_grad_shift_alpha_beta_results stable_log_integrand_grad_shift_alpha_beta_msmsmsss_evaluate(stable_log_integrand_grad_shift_alpha_beta_msmsmsss_set set, real y, real shift, real beta)
{
    stable_exponent_grad_shift_alpha_beta_results call = stable_exponent_grad_shift_alpha_beta_msmsmsss_evaluate(set.stable_exponent_grad_shift_alpha_beta_0, y, shift, beta);
    real d_shift_v = call.d_shift;
    real d_alpha_v = call.d_alpha;
    real d_beta_v = call.d_beta;
    real v = call.value;
    real d_shift_weight = 0;
    real d_alpha_weight = 0;
    real d_beta_weight = 0;
    real weight = special_log_expit(set.c0 ? -y : y);
    if (set.c1) {
        weight += special_log_expit(-y);
    } else {
        stable_exponent_grad_shift_alpha_beta_results call2 = stable_exponent_grad_shift_alpha_beta_msmsmsss_evaluate(set.stable_exponent_grad_shift_alpha_beta_1, y, shift, beta);
        real t = fabs(call2.value);
        real t2 = special_log_slope(t);
        d_shift_weight += t2 * (call2.value > 0 ? call2.d_shift : call2.value < 0 ? -call2.d_shift : 0);
        d_alpha_weight += t2 * (call2.value > 0 ? call2.d_alpha : call2.value < 0 ? -call2.d_alpha : 0);
        d_beta_weight += t2 * (call2.value > 0 ? call2.d_beta : call2.value < 0 ? -call2.d_beta : 0);
        weight += log(t);
    }
    real t3 = exp(v);
    return make_stable_log_integrand_grad_shift_alpha_beta_results(v - t3 + weight, d_shift_v - t3 * d_shift_v + d_shift_weight, d_alpha_v - t3 * d_alpha_v + d_alpha_weight, d_beta_v - t3 * d_beta_v + d_beta_weight);
}

// stable_center_of_grad_shift_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real reach;
    stable_exponent_grad_shift_alpha_beta_msmsmsss_set stable_exponent_grad_shift_alpha_beta_0;
    int c0;
    stable_log_integrand_msmsmsss_set stable_0;
    stable_log_integrand_msmsmsss_set stable_1;
    stable_log_integrand_grad_shift_alpha_beta_msmsmsss_set stable_2;
} stable_center_of_grad_shift_alpha_beta_msmsss_set;

DEVICE stable_center_of_grad_shift_alpha_beta_msmsss_set stable_center_of_grad_shift_alpha_beta_msmsss_prepare_set(real alpha, real whole, real kappa, real delta)
{
    stable_center_of_grad_shift_alpha_beta_msmsss_set set;
    real reach = EPSILON < 1e-10 ? 600 : 70;
    set.reach = reach;
    set.stable_exponent_grad_shift_alpha_beta_0 = stable_exponent_grad_shift_alpha_beta_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c0 = alpha > 1;
    set.stable_0 = stable_log_integrand_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.stable_1 = stable_log_integrand_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.stable_2 = stable_log_integrand_grad_shift_alpha_beta_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    return set;
}

// stable_center_of_grad_shift_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_center_of_grad_shift_alpha_beta_results stable_center_of_grad_shift_alpha_beta_msmsss_evaluate(stable_center_of_grad_shift_alpha_beta_msmsss_set set, real shift, real beta)
{
    real best = 0;
    real d_shift_value = 0;
    real d_alpha_value = 0;
    real d_beta_value = 0;
    real value = -INFINITY;
    for (int which = 0; which < 2; which++) {
        real low = -set.reach;
        real high = set.reach;
        for (int i = 0; i < 22; i++) {
            real y = 0.5 * (low + high);
            stable_exponent_grad_shift_alpha_beta_results call = stable_exponent_grad_shift_alpha_beta_msmsmsss_evaluate(set.stable_exponent_grad_shift_alpha_beta_0, y, shift, beta);
            real d_shift_v = call.d_shift;
            real d_alpha_v = call.d_alpha;
            real d_beta_v = call.d_beta;
            real v = call.value;
            int rises = v > 0 == set.c0;
            if (which == 1 && v < 40) {
                rises = stable_log_integrand_msmsmsss_evaluate(set.stable_0, y + 0.01, shift, beta) > stable_log_integrand_msmsmsss_evaluate(set.stable_1, y - 0.01, shift, beta);
            }
            low = rises ? y : low;
            high = rises ? high : y;
        }
        real y_2 = 0.5 * (low + high);
        stable_log_integrand_grad_shift_alpha_beta_results call2 = stable_log_integrand_grad_shift_alpha_beta_msmsmsss_evaluate(set.stable_2, y_2, shift, beta);
        real d_shift_at_y = call2.d_shift;
        real d_alpha_at_y = call2.d_alpha;
        real d_beta_at_y = call2.d_beta;
        real at_y = call2.value;
        if (which == 0 || at_y > value) {
            best = y_2;
            d_shift_value = d_shift_at_y;
            d_alpha_value = d_alpha_at_y;
            d_beta_value = d_beta_at_y;
            value = at_y;
        }
    }
    return make_stable_center_of_grad_shift_alpha_beta_results(best, 0, 0, 0);
}

// stable_exponent_grad_y_shift_alpha_beta: what depends on the parameters alone, computed once for each set of them.
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
    real t28;
    real c4;
    real t30;
    real c5;
} stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set;

DEVICE stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set stable_exponent_grad_y_shift_alpha_beta_msmsmsss_prepare_set(int slope, real alpha, real whole, real kappa, real delta)
{
    stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set set;
    real t30 = alpha / (alpha - 1);
    set.whole = whole;
    set.slope = slope;
    set.c0 = alpha == 1;
    set.alpha = alpha;
    set.kappa = kappa;
    set.delta = delta;
    set.c1 = 1 - alpha;
    set.c2 = alpha - 1;
    set.c3 = alpha * alpha;
    real t28 = 1 / (alpha - 1);
    set.t28 = t28;
    set.c4 = 2 * alpha;
    set.t30 = t30;
    set.c5 = (1 - t30) * (1 / (alpha - 1));
    return set;
}

// stable_exponent_grad_y_shift_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_exponent_grad_y_shift_alpha_beta_results stable_exponent_grad_y_shift_alpha_beta_msmsmsss_evaluate(stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set set, real y, real shift, real beta)
{
    int left = y < 0;
    real t = special_expit(y);
    real d_y_psi = set.whole * (isinf(y) ? 0 : t * special_expit(-y));
    real psi = set.whole * t;
    real t2 = special_expit(-y);
    real d_y_phi = set.whole * (isinf(-y) ? 0 : -(t2 * special_expit(y)));
    real phi = set.whole * t2;
    real t3 = special_expit(-y);
    real d_y_speed = t3 * d_y_psi + psi * (isinf(-y) ? 0 : -(t3 * special_expit(y)));
    real speed = psi * t3;
    if (set.c0) {
        real t4 = left ? psi : phi;
        real d_y_sine = cos(t4) * (left ? d_y_psi : d_y_phi);
        real sine = sin(t4);
        real t5 = (left ? cos(psi) : -cos(phi)) / sine;
        real d_y_cot = ((left ? -(sin(psi) * d_y_psi) : sin(phi) * d_y_phi) - t5 * d_y_sine) * (1 / sine);
        real cot = t5;
        real d_y_rest = left ? beta * d_y_psi : -(beta * d_y_phi);
        real d_beta_rest = left ? psi - 0.5 * PI : 0.5 * PI - phi;
        real rest = left ? 0.5 * PI * (1 - beta) + beta * psi : 0.5 * PI * (1 + beta) - beta * phi;
        if (set.slope) {
            real t6 = beta / rest;
            real t7 = rest / (beta * sine * sine);
            real t8 = t6 - 2 * cot + t7;
            real t9 = 1 / rest;
            real t10 = 1 / (beta * sine * sine);
            return make_stable_exponent_grad_y_shift_alpha_beta_results(speed * t8, t8 * d_y_speed + speed * (-(t6 * d_y_rest * t9) - 2 * d_y_cot + (d_y_rest - t7 * (2 * beta * sine * d_y_sine)) * t10), 0, 0, speed * ((1 - t6 * d_beta_rest) * t9 + (d_beta_rest - t7 * (sine * sine)) * t10));
        }
        real t11 = rest / sine;
        real t12 = rest / beta;
        real t13 = special_log_slope(t11);
        real t14 = 1 / sine;
        real t15 = 1 / beta;
        return make_stable_exponent_grad_y_shift_alpha_beta_results(shift + log(t11) - t12 * cot, t13 * ((d_y_rest - t11 * d_y_sine) * t14) - (cot * (d_y_rest * t15) + t12 * d_y_cot), 1, 0, t13 * (d_beta_rest * t14) - cot * ((d_beta_rest - t12) * t15));
    }
    real d_y_a = left ? set.alpha * d_y_psi : set.alpha * d_y_phi;
    real d_alpha_a = left ? psi : phi;
    real a = left ? set.alpha * psi : set.kappa + set.alpha * phi;
    real d_y_f = left ? d_y_psi : d_y_phi;
    real f = left ? set.delta + psi : phi;
    real d_y_c = left ? set.c1 * d_y_psi : set.c2 * d_y_phi;
    real d_alpha_c = left ? -psi : phi;
    real c = left ? set.delta + set.c1 * psi : set.kappa + set.c2 * phi;
    real sign = left ? 1 : -1;
    if (set.slope) {
        real t16 = cos(f);
        real t17 = sin(f);
        real t18 = t16 / t17;
        real t19 = cos(a);
        real t20 = sin(a);
        real t21 = t19 / t20;
        real t22 = sign * (t18 - set.c3 * t21) / set.c2;
        real t23 = cos(c);
        real t24 = sin(c);
        real t25 = t23 / t24;
        real t26 = t22 + set.c1 * t25;
        real t27 = 1 / t20;
        real t29 = 1 / t24;
        return make_stable_exponent_grad_y_shift_alpha_beta_results(speed * t26, t26 * d_y_speed + speed * (sign * ((-(t17 * d_y_f) - t18 * (t16 * d_y_f)) * (1 / t17) - set.c3 * ((-(t20 * d_y_a) - t21 * (t19 * d_y_a)) * t27)) * set.t28 + set.c1 * ((-(t24 * d_y_c) - t25 * (t23 * d_y_c)) * t29)), 0, speed * ((-((set.c4 * t21 + set.c3 * ((-(t20 * d_alpha_a) - t21 * (t19 * d_alpha_a)) * t27)) * sign) - t22) * set.t28 + (set.c1 * ((-(t24 * d_alpha_c) - t25 * (t23 * d_alpha_c)) * t29) - t25)), 0);
    }
    real t31 = sin(f);
    real t32 = sin(a);
    real t33 = t31 / t32;
    real t34 = log(t33);
    real t35 = sin(c) / t31;
    real t36 = special_log_slope(t33);
    real t37 = cos(f) * d_y_f;
    real t38 = cos(a);
    real t39 = 1 / t32;
    real t40 = special_log_slope(t35);
    real t41 = cos(c);
    real t42 = 1 / t31;
    return make_stable_exponent_grad_y_shift_alpha_beta_results(shift + set.t30 * t34 + log(t35), set.t30 * (t36 * ((t37 - t33 * (t38 * d_y_a)) * t39)) + t40 * ((t41 * d_y_c - t35 * t37) * t42), 1, t34 * set.c5 - t33 * (t38 * d_alpha_a) * t39 * t36 * set.t30 + t40 * (t41 * d_alpha_c * t42), 0);
}

// stable_log_integrand_grad_y_shift_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set stable_exponent_grad_y_shift_alpha_beta_0;
    int c0;
    int c1;
    stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set stable_exponent_grad_y_shift_alpha_beta_1;
    int c2;
} stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_set;

DEVICE stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_set stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_prepare_set(int what, real alpha, real whole, real kappa, real delta)
{
    stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_set set;
    set.stable_exponent_grad_y_shift_alpha_beta_0 = stable_exponent_grad_y_shift_alpha_beta_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c0 = what == 1;
    set.c1 = what == 1 ? -1 : 1;
    set.stable_exponent_grad_y_shift_alpha_beta_1 = stable_exponent_grad_y_shift_alpha_beta_msmsmsss_prepare_set(1, alpha, whole, kappa, delta);
    set.c2 = what == 0;
    return set;
}

// stable_log_integrand_grad_y_shift_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_log_integrand_grad_y_shift_alpha_beta_results stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_evaluate(stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_set set, real y, real shift, real beta)
{
    stable_exponent_grad_y_shift_alpha_beta_results call = stable_exponent_grad_y_shift_alpha_beta_msmsmsss_evaluate(set.stable_exponent_grad_y_shift_alpha_beta_0, y, shift, beta);
    real d_y_v = call.d_y;
    real d_shift_v = call.d_shift;
    real d_alpha_v = call.d_alpha;
    real d_beta_v = call.d_beta;
    real v = call.value;
    real t = set.c0 ? -y : y;
    real d_y_weight = t == INFINITY ? 0 : special_expit(-t) * set.c1;
    real d_shift_weight = 0;
    real d_alpha_weight = 0;
    real d_beta_weight = 0;
    real weight = special_log_expit(t);
    if (set.c2) {
        d_y_weight += -y == INFINITY ? 0 : -special_expit(y);
        weight += special_log_expit(-y);
    } else {
        stable_exponent_grad_y_shift_alpha_beta_results call2 = stable_exponent_grad_y_shift_alpha_beta_msmsmsss_evaluate(set.stable_exponent_grad_y_shift_alpha_beta_1, y, shift, beta);
        real t2 = fabs(call2.value);
        real t3 = special_log_slope(t2);
        d_y_weight += t3 * (call2.value > 0 ? call2.d_y : call2.value < 0 ? -call2.d_y : 0);
        d_shift_weight += t3 * (call2.value > 0 ? call2.d_shift : call2.value < 0 ? -call2.d_shift : 0);
        d_alpha_weight += t3 * (call2.value > 0 ? call2.d_alpha : call2.value < 0 ? -call2.d_alpha : 0);
        d_beta_weight += t3 * (call2.value > 0 ? call2.d_beta : call2.value < 0 ? -call2.d_beta : 0);
        weight += log(t2);
    }
    real t4 = exp(v);
    return make_stable_log_integrand_grad_y_shift_alpha_beta_results(v - t4 + weight, d_y_v - t4 * d_y_v + d_y_weight, d_shift_v - t4 * d_shift_v + d_shift_weight, d_alpha_v - t4 * d_alpha_v + d_alpha_weight, d_beta_v - t4 * d_beta_v + d_beta_weight);
}

// stable_log_integral_grad_shift_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    stable_center_of_grad_shift_alpha_beta_msmsss_set stable_center_of_grad_shift_alpha_beta_0;
    stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_set stable_0;
    stable_exponent_grad_y_shift_alpha_beta_msmsmsss_set stable_exponent_grad_y_shift_alpha_beta_0;
    real t2;
    real c0;
    int c1;
    int c2;
    int c3;
    int c4;
    int c5;
    int c6;
    stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_set stable_1;
    int falls;
    stable_exponent_msmsmsss_set stable_exponent_0;
    real c7;
    int c8;
    real c9;
    real d_alpha_least;
} stable_log_integral_grad_shift_alpha_beta_smsmsss_set;

DEVICE stable_log_integral_grad_shift_alpha_beta_smsmsss_set stable_log_integral_grad_shift_alpha_beta_smsmsss_prepare_set(int what, real alpha, real whole, real kappa, real delta)
{
    stable_log_integral_grad_shift_alpha_beta_smsmsss_set set;
    int falls = alpha > 1 ? 1 : -1;
    real t5 = log(alpha);
    real t6 = alpha / (1 - alpha);
    real t7 = 1 / (1 - alpha);
    real d_alpha_least = alpha == 1 ? 0 : t5 * ((1 + t6) * t7) + t6 * special_log_slope(alpha) - t7;
    set.stable_center_of_grad_shift_alpha_beta_0 = stable_center_of_grad_shift_alpha_beta_msmsss_prepare_set(alpha, whole, kappa, delta);
    set.stable_0 = stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_prepare_set(what, alpha, whole, kappa, delta);
    set.stable_exponent_grad_y_shift_alpha_beta_0 = stable_exponent_grad_y_shift_alpha_beta_msmsmsss_prepare_set(1, alpha, whole, kappa, delta);
    real t = fabs(alpha - 1);
    real t2 = fmax(alpha, (real)1) / t;
    set.t2 = t2;
    set.c0 = ((alpha > (real)1 || (real)1 != (real)1 ? 1 : 0) - t2 * (alpha - 1 > 0 ? 1 : alpha - 1 < 0 ? -1 : 0)) * (1 / t);
    set.c1 = alpha == 1;
    set.c2 = alpha == 1 ? 20 : 12;
    set.c3 = alpha > 1;
    set.c4 = kappa > 0;
    set.c5 = alpha < 1;
    set.c6 = delta > 0;
    set.stable_1 = stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_prepare_set(what, alpha, whole, kappa, delta);
    set.falls = falls;
    set.stable_exponent_0 = stable_exponent_msmsmsss_prepare_set(0, alpha, whole, kappa, delta);
    set.c7 = log(whole);
    set.c8 = what != 1;
    set.c9 = alpha == 1 ? -1 : t6 * t5 + log1p(-alpha);
    set.d_alpha_least = d_alpha_least;
    return set;
}

// stable_log_integral_grad_shift_alpha_beta: what depends on both, from what was computed ahead.
LARGE stable_log_integral_grad_shift_alpha_beta_results stable_log_integral_grad_shift_alpha_beta_smsmsss_evaluate(stable_log_integral_grad_shift_alpha_beta_smsmsss_set set, real shift, real beta)
{
    stable_center_of_grad_shift_alpha_beta_results call = stable_center_of_grad_shift_alpha_beta_msmsss_evaluate(set.stable_center_of_grad_shift_alpha_beta_0, shift, beta);
    real d_shift_center = call.d_shift;
    real d_alpha_center = call.d_alpha;
    real d_beta_center = call.d_beta;
    real center = call.value;
    stable_log_integrand_grad_y_shift_alpha_beta_results call2 = stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_evaluate(set.stable_0, center, shift, beta);
    real d_shift_at_center = call2.d_y * d_shift_center + call2.d_shift;
    real d_alpha_at_center = call2.d_y * d_alpha_center + call2.d_alpha;
    real d_beta_at_center = call2.d_y * d_beta_center + call2.d_beta;
    real at_center = call2.value;
    real d_shift_sum = 0;
    real d_alpha_sum = 0;
    real d_beta_sum = 0;
    real sum = 1;
    real either;
    real d_shift_either;
    real d_alpha_either;
    real d_beta_either;
    if (set.c1) {
        stable_exponent_grad_y_shift_alpha_beta_results call3 = stable_exponent_grad_y_shift_alpha_beta_msmsmsss_evaluate(set.stable_exponent_grad_y_shift_alpha_beta_0, center, shift, beta);
        either = fabs(call3.value);
        d_shift_either = call3.value > 0 ? call3.d_y * d_shift_center + call3.d_shift : call3.value < 0 ? -(call3.d_y * d_shift_center + call3.d_shift) : 0;
        d_alpha_either = call3.value > 0 ? call3.d_y * d_alpha_center + call3.d_alpha : call3.value < 0 ? -(call3.d_y * d_alpha_center + call3.d_alpha) : 0;
        d_beta_either = call3.value > 0 ? call3.d_y * d_beta_center + call3.d_beta : call3.value < 0 ? -(call3.d_y * d_beta_center + call3.d_beta) : 0;
    } else {
        either = set.t2;
        d_shift_either = 0;
        d_alpha_either = set.c0;
        d_beta_either = 0;
    }
    real d_shift_steepest = d_shift_either;
    real d_alpha_steepest = d_alpha_either;
    real d_beta_steepest = d_beta_either;
    real steepest = either;
    real step = special_panel_width(set.c2 * fmax(steepest, (real)2), 1);
    int endless = set.c3 ? set.c4 : set.c5 ? set.c6 : beta < 1;
    for (int side = -1; side < 2; side += 2) {
        real d_shift_term = 0;
        real d_alpha_term = 0;
        real d_beta_term = 0;
        real term = 1;
        int ahead = 1;
        for (int i = 1; i < 40000 && (term > 0.01 * EPSILON * sum || ahead) && THREAD < 65536; i++) {
            real y = center + int_product(side, i) * step;
            stable_log_integrand_grad_y_shift_alpha_beta_results call4 = stable_log_integrand_grad_y_shift_alpha_beta_msmsmsss_evaluate(set.stable_1, y, shift, beta);
            real t3 = exp(call4.value - at_center);
            d_shift_term = t3 * (call4.d_y * d_shift_center + call4.d_shift - d_shift_at_center);
            d_alpha_term = t3 * (call4.d_y * d_alpha_center + call4.d_alpha - d_alpha_at_center);
            d_beta_term = t3 * (call4.d_y * d_beta_center + call4.d_beta - d_beta_at_center);
            term = t3;
            d_shift_sum += term > 0 ? d_shift_term : 0;
            d_alpha_sum += term > 0 ? d_alpha_term : 0;
            d_beta_sum += term > 0 ? d_beta_term : 0;
            sum += term > 0 ? term : 0;
            ahead = side == set.falls && endless && stable_exponent_msmsmsss_evaluate(set.stable_exponent_0, y, shift, beta) > 0;
        }
    }
    real t4 = special_log_slope(step * sum);
    real d_shift_value = d_shift_at_center + t4 * (step * d_shift_sum);
    real d_alpha_value = d_alpha_at_center + t4 * (step * d_alpha_sum);
    real d_beta_value = d_beta_at_center + t4 * (step * d_beta_sum);
    real value = at_center + log(step * sum) + set.c7;
    if (set.c8 || endless || set.c3) {
        return make_stable_log_integral_grad_shift_alpha_beta_results(value, d_shift_value, d_alpha_value, d_beta_value);
    }
    real least = shift + set.c9;
    real t8 = exp(least);
    real t9 = -t8;
    real t10 = set.c7 + special_log1mexp(t9);
    real t11 = special_expit(value - t10);
    real t12 = t9 < -50 ? -exp(t9) : -(1 / expm1(t8));
    real t13 = special_expit(t10 - value);
    return make_stable_log_integral_grad_shift_alpha_beta_results(special_logaddexp(value, t10), (value == -INFINITY ? 0 : t11 * d_shift_value) + (t10 == -INFINITY ? 0 : -(t8 * t12 * t13)), (value == -INFINITY ? 0 : t11 * d_alpha_value) + (t10 == -INFINITY ? 0 : -(t8 * set.d_alpha_least * t12 * t13)), value == -INFINITY ? 0 : t11 * d_beta_value);
}

// stable_log_above_zeta_grad_d_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real s;
    real c;
    real d_alpha_s;
    real d_alpha_c;
    real c1;
    real c2;
    real c3;
    real c4;
    real c5;
    real alpha;
    int c6;
    real t12;
    real t14;
    real t16;
    real c7;
    real c8;
    int c9;
    real c10;
    int c11;
    real c12;
    int c13;
    stable_log_integral_grad_shift_alpha_beta_smsmsss_set stable_0;
    int c14;
    stable_log_above_zeta_grad_d_alpha_beta_results c15;
    real c16;
    real c17;
    real c18;
    real t34;
    real d_beta_zeta;
    real t37;
    real c19;
    real t41;
    int what;
    real c20;
    real c21;
    real t47;
} stable_log_above_zeta_grad_d_alpha_beta_smsm_set;

DEVICE stable_log_above_zeta_grad_d_alpha_beta_smsm_set stable_log_above_zeta_grad_d_alpha_beta_smsm_prepare_set(int what, real alpha)
{
    stable_log_above_zeta_grad_d_alpha_beta_smsm_set set;
    real d_alpha_w = alpha > 1 ? -(0.5 * PI) : 0.5 * PI;
    real w = alpha > 1 ? PI * (1 - 0.5 * alpha) : 0.5 * PI * alpha;
    real d_alpha_c = -(sin(w) * d_alpha_w);
    real c = cos(w);
    real d_alpha_s = cos(w) * d_alpha_w;
    real s = sin(w);
    special_stable_tangent_grad_alpha_results call = special_stable_tangent_grad_alpha(alpha);
    real d_beta_zeta = call.value;
    real t12 = 1 / alpha;
    real t37 = alpha / (alpha - 1);
    real t41 = 1 / (2 * alpha);
    real t47 = 1 / PI;
    set.c0 = c * c;
    set.s = s;
    set.c = c;
    set.d_alpha_s = d_alpha_s;
    set.d_alpha_c = d_alpha_c;
    set.c1 = 2 * c * d_alpha_c;
    set.c2 = s * c;
    set.c3 = s * s;
    set.c4 = call.d_alpha;
    set.c5 = call.value;
    set.alpha = alpha;
    set.c6 = alpha < 1;
    set.t12 = t12;
    real t14 = 1 / alpha;
    set.t14 = t14;
    real t16 = 1 / alpha;
    set.t16 = t16;
    set.c7 = special_digamma(alpha);
    set.c8 = special_log_gamma(alpha);
    set.c9 = what == 0;
    set.c10 = log(alpha);
    set.c11 = what == 1;
    set.c12 = special_log_slope(alpha);
    set.c13 = alpha < 2;
    set.stable_0 = stable_log_integral_grad_shift_alpha_beta_smsmsss_prepare_set(what, alpha, PI, 0, 0);
    set.c14 = alpha == 1;
    set.c15 = make_stable_log_above_zeta_grad_d_alpha_beta_results(what == 2 ? 0 : -INFINITY, 0, 0, 0);
    real t24 = 1 / alpha;
    real t25 = 1 + t24;
    set.c16 = 2 * alpha;
    real t34 = 1 / (2 * alpha);
    set.c17 = special_log_gamma(t25);
    set.c18 = t24 * t24 * special_digamma(t25);
    set.t34 = t34;
    set.d_beta_zeta = d_beta_zeta;
    set.t37 = t37;
    set.c19 = (1 - t37) * (1 / (alpha - 1));
    set.t41 = t41;
    set.what = what;
    real t42 = fabs(alpha - 1);
    real t43 = alpha / t42;
    set.c20 = log(t43);
    set.c21 = special_log_slope(t43) * ((1 - t43 * (alpha - 1 > 0 ? 1 : alpha - 1 < 0 ? -1 : 0)) * (1 / t42));
    set.t47 = t47;
    return set;
}

// stable_log_above_zeta_grad_d_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_log_above_zeta_grad_d_alpha_beta_results stable_log_above_zeta_grad_d_alpha_beta_smsm_evaluate(stable_log_above_zeta_grad_d_alpha_beta_smsm_set set, real d, real beta)
{
    real t = set.c0 - beta * set.s * set.s;
    real t2 = (1 + beta) * set.s * set.c;
    real t3 = hypot(t2, t);
    real t4 = t / t3;
    real t5 = t2 / t3;
    real d_alpha_kappa = (t4 * ((1 + beta) * set.c * set.d_alpha_s + (1 + beta) * set.s * set.d_alpha_c) - t5 * (set.c1 - 2 * beta * set.s * set.d_alpha_s)) / t3;
    real d_beta_kappa = (t4 * set.c2 + set.c3 * t5) / t3;
    real kappa = atan2(t2, t);
    real d_alpha_zeta = beta * set.c4;
    real zeta = beta * set.c5;
    real t6 = set.c0 + beta * set.s * set.s;
    real t7 = (1 - beta) * set.s * set.c;
    real t8 = hypot(t7, t6);
    real t9 = t6 / t8;
    real t10 = t7 / t8;
    real t11 = atan2(t7, t6) / set.alpha;
    real d_alpha_delta = set.c6 ? ((t9 * ((1 - beta) * set.c * set.d_alpha_s + (1 - beta) * set.s * set.d_alpha_c) - t10 * (set.c1 + 2 * beta * set.s * set.d_alpha_s)) / t8 - t11) * set.t12 : 0;
    real d_beta_delta = set.c6 ? (-(set.c2 * t9) - t10 * set.c3) / t8 * set.t12 : 0;
    real delta = set.c6 ? t11 : 0;
    real d_alpha_whole = -d_alpha_delta;
    real d_beta_whole = -d_beta_delta;
    real whole = PI - delta;
    if (set.c6) {
        real t13 = kappa / set.alpha;
        d_alpha_whole = (d_alpha_kappa - t13) * set.t14;
        d_beta_whole = d_beta_kappa * set.t14;
        whole = t13;
        d_alpha_kappa = -(whole + set.alpha * d_alpha_whole);
        d_beta_kappa = -(set.alpha * d_beta_whole);
        kappa = PI - set.alpha * whole;
    } else {
        real t15 = (PI - kappa) / set.alpha;
        d_alpha_whole = (-d_alpha_kappa - t15) * set.t16;
        d_beta_whole = -(d_beta_kappa * set.t16);
        whole = t15;
        d_alpha_delta = -d_alpha_whole;
        d_beta_delta = -d_beta_whole;
        delta = PI - whole;
    }
    if (beta > -1 && set.c13 && d > 0 && set.alpha * log(d) > -2 * log(EPSILON)) {
        real t17 = set.s * (1 + beta) / PI;
        real t18 = special_log_slope(t17);
        real t19 = 1 / PI;
        real t20 = log(d);
        real d_d_value = -(set.alpha * special_log_slope(d));
        real d_alpha_value = set.c7 + t18 * ((1 + beta) * set.d_alpha_s * t19) - t20;
        real d_beta_value = t18 * (set.s * t19);
        real value = set.c8 + log(t17) - set.alpha * t20;
        real t21 = value < -50 ? -exp(value) : -(1 / expm1(-value));
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(set.c9 ? value + set.c10 - log(d) : set.c11 ? value : special_log1mexp(value), set.c9 ? d_d_value - special_log_slope(d) : set.c11 ? d_d_value : t21 * d_d_value, set.c9 ? d_alpha_value + set.c12 : set.c11 ? d_alpha_value : t21 * d_alpha_value, set.c9 ? d_beta_value : set.c11 ? d_beta_value : t21 * d_beta_value);
    }
    if (set.c14) {
        real t22 = 0.5 * PI * d / beta;
        real t23 = 1 / beta;
        real d_d_shift = -(0.5 * PI * t23);
        real d_beta_shift = t22 * t23;
        stable_log_integral_grad_shift_alpha_beta_results call2 = stable_log_integral_grad_shift_alpha_beta_smsmsss_evaluate(set.stable_0, log(2 / PI) - t22, beta);
        real d_d_value_2 = call2.d_shift * d_d_shift;
        real d_alpha_value_2 = call2.d_alpha;
        real d_beta_value_2 = call2.d_shift * d_beta_shift + call2.d_beta;
        real value_2 = call2.value;
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(set.c9 ? value_2 - log(2 * beta) : value_2 - LOG_PI, d_d_value_2, d_alpha_value_2, set.c9 ? d_beta_value_2 - special_log_slope(2 * beta) * 2 : d_beta_value_2);
    }
    if (!(whole > 0)) {
        return set.c15;
    }
    if (d == 0) {
        real t26 = sin(whole) / PI;
        real t27 = special_log1p_square(zeta) / set.c16;
        real t28 = whole / PI;
        real t29 = delta / PI;
        real t30 = special_log_slope(t26);
        real t31 = cos(whole);
        real t32 = 1 / PI;
        real t33 = (fabs(zeta) > 1 / EPSILON ? 2 : 2 * zeta) / (fabs(zeta) > 1 / EPSILON ? zeta : 1 + zeta * zeta);
        real t35 = special_log_slope(t28);
        real t36 = special_log_slope(t29);
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(set.c9 ? set.c17 + log(t26) - t27 : set.c11 ? log(t28) : log(t29), 0, set.c9 ? t30 * (t31 * d_alpha_whole * t32) - set.c18 - (t33 * d_alpha_zeta - t27 * 2) * set.t34 : set.c11 ? t35 * (d_alpha_whole * t32) : t36 * (d_alpha_delta * t32), set.c9 ? t30 * (t31 * d_beta_whole * t32) - t33 * set.d_beta_zeta * set.t34 : set.c11 ? t35 * (d_beta_whole * t32) : t36 * (d_beta_delta * t32));
    }
    real t38 = special_log1p_square(zeta) / set.c16;
    real t39 = log(d) - t38;
    real t40 = (fabs(zeta) > 1 / EPSILON ? 2 : 2 * zeta) / (fabs(zeta) > 1 / EPSILON ? zeta : 1 + zeta * zeta);
    real d_d_shift2 = set.t37 * special_log_slope(d);
    real d_alpha_shift = t39 * set.c19 - (t40 * d_alpha_zeta - t38 * 2) * set.t41 * set.t37;
    real d_beta_shift2 = -(t40 * set.d_beta_zeta * set.t41 * set.t37);
    real shift = set.t37 * t39;
    real d_alpha_whole2 = d_alpha_whole;
    real d_beta_whole2 = d_beta_whole;
    real d_alpha_kappa2 = d_alpha_kappa;
    real d_beta_kappa2 = d_beta_kappa;
    real d_alpha_delta2 = d_alpha_delta;
    real d_beta_delta2 = d_beta_delta;
    stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta_results call3 = stable_log_integral_grad_shift_alpha_beta_whole_kappa_delta(set.what, shift, set.alpha, beta, whole, kappa, delta);
    real d_d_value_3 = call3.d_shift * d_d_shift2;
    real d_alpha_value_3 = call3.d_shift * d_alpha_shift + call3.d_alpha + call3.d_whole * d_alpha_whole2 + call3.d_kappa * d_alpha_kappa2 + call3.d_delta * d_alpha_delta2;
    real d_beta_value_3 = call3.d_shift * d_beta_shift2 + call3.d_beta + call3.d_whole * d_beta_whole2 + call3.d_kappa * d_beta_kappa2 + call3.d_delta * d_beta_delta2;
    real value_3 = call3.value - LOG_PI;
    if (set.c9) {
        return make_stable_log_above_zeta_grad_d_alpha_beta_results(value_3 + set.c20 - log(d), d_d_value_3 - special_log_slope(d), d_alpha_value_3 + set.c21, d_beta_value_3);
    }
    real t44 = exp(value_3);
    real t45 = delta / PI + t44;
    real t46 = special_log_slope(t45);
    return make_stable_log_above_zeta_grad_d_alpha_beta_results(set.c11 ? value_3 : log(t45), set.c11 ? d_d_value_3 : t46 * (t44 * d_d_value_3), set.c11 ? d_alpha_value_3 : t46 * (d_alpha_delta * set.t47 + t44 * d_alpha_value_3), set.c11 ? d_beta_value_3 : t46 * (d_beta_delta * set.t47 + t44 * d_beta_value_3));
}

// stable_standard_grad_z_alpha_beta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    cauchy_logpdf_grad_x_mss_set cauchy_0;
    cauchy_logsf_grad_x_mss_set cauchy_1;
    cauchy_logcdf_grad_x_mss_set cauchy_2;
    int c0;
    int c1;
    int c2;
    real c3;
    real c4;
    real c5;
    int c6;
    int c7;
    int what;
    int c8;
    stable_log_above_zeta_grad_d_alpha_beta_smsm_set stable_0;
    real beta;
    int c9;
    real alpha;
} stable_standard_grad_z_alpha_beta_smss_set;

DEVICE stable_standard_grad_z_alpha_beta_smss_set stable_standard_grad_z_alpha_beta_smss_prepare_set(int what, real alpha, real beta)
{
    stable_standard_grad_z_alpha_beta_smss_set set;
    set.cauchy_0 = cauchy_logpdf_grad_x_mss_prepare_set(0, 1);
    set.cauchy_1 = cauchy_logsf_grad_x_mss_prepare_set(0, 1);
    set.cauchy_2 = cauchy_logcdf_grad_x_mss_prepare_set(0, 1);
    set.c0 = what == 1;
    set.c1 = what == 0;
    set.c2 = alpha == 1 && beta == 0;
    special_stable_tangent_grad_alpha_results call4 = special_stable_tangent_grad_alpha(alpha);
    set.c3 = beta * call4.value;
    set.c4 = beta * call4.d_alpha;
    set.c5 = call4.value;
    set.c6 = alpha == 1;
    set.c7 = beta < 0;
    set.what = what;
    set.c8 = int_difference(3, what);
    set.stable_0 = stable_log_above_zeta_grad_d_alpha_beta_smsm_prepare_set(1, alpha);
    set.beta = beta;
    set.c9 = alpha > 1;
    set.alpha = alpha;
    return set;
}

// stable_standard_grad_z_alpha_beta: what depends on both, from what was computed ahead.
DEVICE stable_standard_grad_z_alpha_beta_results stable_standard_grad_z_alpha_beta_smss_evaluate(stable_standard_grad_z_alpha_beta_smss_set set, real z)
{
    if (set.c2) {
        real either2;
        real d_z_either2;
        if (set.c1) {
            cauchy_logpdf_grad_x_results call = cauchy_logpdf_grad_x_mss_evaluate(set.cauchy_0, z);
            either2 = call.value;
            d_z_either2 = call.d_x;
        } else {
            real either;
            real d_z_either;
            if (set.c0) {
                cauchy_logsf_grad_x_results call2 = cauchy_logsf_grad_x_mss_evaluate(set.cauchy_1, z);
                either = call2.value;
                d_z_either = call2.d_x;
            } else {
                cauchy_logcdf_grad_x_results call3 = cauchy_logcdf_grad_x_mss_evaluate(set.cauchy_2, z);
                either = call3.value;
                d_z_either = call3.d_x;
            }
            either2 = either;
            d_z_either2 = d_z_either;
        }
        return make_stable_standard_grad_z_alpha_beta_results(either2, d_z_either2, 0, 0);
    }
    real either3;
    real d_z_either3;
    real d_alpha_either3;
    real d_beta_either3;
    if (set.c6) {
        either3 = z;
        d_z_either3 = 1;
        d_alpha_either3 = 0;
        d_beta_either3 = 0;
    } else {
        either3 = z + set.c3;
        d_z_either3 = 1;
        d_alpha_either3 = set.c4;
        d_beta_either3 = set.c5;
    }
    real d_z_d = d_z_either3;
    real d_alpha_d = d_alpha_either3;
    real d_beta_d = d_beta_either3;
    real d = either3;
    int mirrored = set.c6 ? set.c7 : d < 0;
    int asked = set.c1 || !mirrored ? set.what : set.c8;
    if (asked == 2 && set.c9) {
        real d_z_d2 = d > 0 ? d_z_d : d < 0 ? -d_z_d : 0;
        real d_alpha_d2 = d > 0 ? d_alpha_d : d < 0 ? -d_alpha_d : 0;
        real d_beta_d2 = d > 0 ? d_beta_d : d < 0 ? -d_beta_d : 0;
        real d_beta_beta = mirrored ? -1 : 1;
        stable_log_above_zeta_grad_d_alpha_beta_results call5 = stable_log_above_zeta_grad_d_alpha_beta_smsm_evaluate(set.stable_0, fabs(d), mirrored ? -set.beta : set.beta);
        real t = call5.value < -50 ? -exp(call5.value) : -(1 / expm1(-call5.value));
        return make_stable_standard_grad_z_alpha_beta_results(special_log1mexp(call5.value), t * (call5.d_d * d_z_d2), t * (call5.d_d * d_alpha_d2 + call5.d_alpha), t * (call5.d_d * d_beta_d2 + call5.d_beta * d_beta_beta));
    }
    real d_z_d3 = mirrored ? -d_z_d : d_z_d;
    real d_alpha_d3 = mirrored ? -d_alpha_d : d_alpha_d;
    real d_beta_d3 = mirrored ? -d_beta_d : d_beta_d;
    real d_beta_beta2 = mirrored ? -1 : 1;
    stable_log_above_zeta_grad_d_alpha_beta_results call6 = stable_log_above_zeta_grad_d_alpha_beta(asked, mirrored ? -d : d, set.alpha, mirrored ? -set.beta : set.beta);
    return make_stable_standard_grad_z_alpha_beta_results(call6.value, call6.d_d * d_z_d3, call6.d_d * d_alpha_d3 + call6.d_alpha, call6.d_d * d_beta_d3 + call6.d_beta * d_beta_beta2);
}

// stable_logpdf_grad_alpha_beta_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real mu;
    real sigma;
    real t2;
    stable_standard_grad_z_alpha_beta_smss_set stable_standard_grad_z_alpha_beta_0;
    real c1;
    real c2;
} stable_logpdf_grad_alpha_beta_mu_sigma_set;

DEVICE stable_logpdf_grad_alpha_beta_mu_sigma_set stable_logpdf_grad_alpha_beta_mu_sigma_prepare_set(real alpha, real beta, real mu, real sigma)
{
    stable_logpdf_grad_alpha_beta_mu_sigma_set set;
    set.c0 = !stable_valid(alpha, beta);
    set.mu = mu;
    set.sigma = sigma;
    real t2 = 1 / sigma;
    set.t2 = t2;
    set.stable_standard_grad_z_alpha_beta_0 = stable_standard_grad_z_alpha_beta_smss_prepare_set(0, alpha, beta);
    set.c1 = log(sigma);
    set.c2 = special_log_slope(sigma);
    return set;
}

// stable_logpdf_grad_alpha_beta_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    int c0;
} stable_logpdf_grad_alpha_beta_mu_sigma_row;

DEVICE stable_logpdf_grad_alpha_beta_mu_sigma_row stable_logpdf_grad_alpha_beta_mu_sigma_prepare_row(real x)
{
    stable_logpdf_grad_alpha_beta_mu_sigma_row row;
    row.x = x;
    row.c0 = isinf(x);
    return row;
}

// stable_logpdf_grad_alpha_beta_mu_sigma: what depends on both, from what was computed ahead.
DEVICE stable_logpdf_grad_alpha_beta_mu_sigma_results stable_logpdf_grad_alpha_beta_mu_sigma_evaluate(stable_logpdf_grad_alpha_beta_mu_sigma_set set, stable_logpdf_grad_alpha_beta_mu_sigma_row row)
{
    if (set.c0) {
        return make_stable_logpdf_grad_alpha_beta_mu_sigma_results(NAN, NAN, NAN, NAN, NAN);
    }
    real either;
    real d_alpha_either;
    real d_beta_either;
    real d_mu_either;
    real d_sigma_either;
    if (row.c0) {
        either = -INFINITY;
        d_alpha_either = 0;
        d_beta_either = 0;
        d_mu_either = 0;
        d_sigma_either = 0;
    } else {
        real t = (row.x - set.mu) / set.sigma;
        real d_sigma_z = -(t * set.t2);
        stable_standard_grad_z_alpha_beta_results call = stable_standard_grad_z_alpha_beta_smss_evaluate(set.stable_standard_grad_z_alpha_beta_0, t);
        either = call.value - set.c1;
        d_alpha_either = call.d_alpha;
        d_beta_either = call.d_beta;
        d_mu_either = -(set.t2 * call.d_z);
        d_sigma_either = call.d_z * d_sigma_z - set.c2;
    }
    return make_stable_logpdf_grad_alpha_beta_mu_sigma_results(either, d_alpha_either, d_beta_either, d_mu_either, d_sigma_either);
}

// stable_logpdf_checked_grad_alpha_beta_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    stable_logpdf_grad_alpha_beta_mu_sigma_set stable_0;
    real t2;
} stable_logpdf_checked_grad_alpha_beta_mu_sigma_set;

DEVICE stable_logpdf_checked_grad_alpha_beta_mu_sigma_set stable_logpdf_checked_grad_alpha_beta_mu_sigma_prepare_set(real alpha, real beta, real mu, real sigma)
{
    stable_logpdf_checked_grad_alpha_beta_mu_sigma_set set;
    real bad_alpha = alpha > 0 ? 0 : NAN;
    real bad_beta = beta == beta ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    real t2 = bad_alpha + bad_beta + bad_mu + bad_sigma;
    set.c0 = !(bad_alpha == 0 && bad_beta == 0 && bad_mu == 0 && bad_sigma == 0);
    set.stable_0 = stable_logpdf_grad_alpha_beta_mu_sigma_prepare_set(alpha, beta, mu, sigma);
    set.t2 = t2;
    return set;
}

// stable_logpdf_checked_grad_alpha_beta_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    stable_logpdf_grad_alpha_beta_mu_sigma_row stable_0;
    int inside;
    real outside;
    real t;
} stable_logpdf_checked_grad_alpha_beta_mu_sigma_row;

DEVICE stable_logpdf_checked_grad_alpha_beta_mu_sigma_row stable_logpdf_checked_grad_alpha_beta_mu_sigma_prepare_row(real x)
{
    stable_logpdf_checked_grad_alpha_beta_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.stable_0 = stable_logpdf_grad_alpha_beta_mu_sigma_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// stable_logpdf_checked_grad_alpha_beta_mu_sigma: what depends on both, from what was computed ahead.
DEVICE stable_logpdf_checked_grad_alpha_beta_mu_sigma_results stable_logpdf_checked_grad_alpha_beta_mu_sigma_evaluate(stable_logpdf_checked_grad_alpha_beta_mu_sigma_set set, stable_logpdf_checked_grad_alpha_beta_mu_sigma_row row)
{
    if (set.c0) {
        return make_stable_logpdf_checked_grad_alpha_beta_mu_sigma_results(NAN, NAN, NAN, NAN, NAN);
    }
    stable_logpdf_grad_alpha_beta_mu_sigma_results call = stable_logpdf_grad_alpha_beta_mu_sigma_evaluate(set.stable_0, row.stable_0);
    real d_alpha_value = call.d_alpha;
    real d_beta_value = call.d_beta;
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_stable_logpdf_checked_grad_alpha_beta_mu_sigma_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_alpha_value : row.t) + set.t2, (row.inside ? d_beta_value : row.t) + set.t2, (row.inside ? d_mu_value : row.t) + set.t2, (row.inside ? d_sigma_value : row.t) + set.t2);
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
// Here f has several results: value, d_alpha, d_beta, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) stable_logpdf_checked_grad_alpha_beta_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    beta_per_set += beta_offset;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(stable_logpdf_checked_grad_alpha_beta_mu_sigma_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = stable_logpdf_checked_grad_alpha_beta_mu_sigma_prepare_set(alpha_per_set[(first_set + MIN(k, sets_here - 1)) * alpha_stride], beta_per_set[(first_set + MIN(k, sets_here - 1)) * beta_stride], mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const stable_logpdf_checked_grad_alpha_beta_mu_sigma_row row = stable_logpdf_checked_grad_alpha_beta_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const stable_logpdf_checked_grad_alpha_beta_mu_sigma_results result = stable_logpdf_checked_grad_alpha_beta_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_beta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
                {
                    const stable_logpdf_checked_grad_alpha_beta_mu_sigma_row row = stable_logpdf_checked_grad_alpha_beta_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const stable_logpdf_checked_grad_alpha_beta_mu_sigma_results result = stable_logpdf_checked_grad_alpha_beta_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_beta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const stable_logpdf_checked_grad_alpha_beta_mu_sigma_row row = stable_logpdf_checked_grad_alpha_beta_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const stable_logpdf_checked_grad_alpha_beta_mu_sigma_results result = stable_logpdf_checked_grad_alpha_beta_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_beta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
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










