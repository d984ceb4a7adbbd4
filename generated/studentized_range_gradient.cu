// The gradient kernel of studentized_range, made by `gpustats generate`. Do not edit.
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

typedef struct {
    real value;
    real d_a;
    real d_b;
} special_normal_integral_grad_a_b_results;

DEVICE special_normal_integral_grad_a_b_results make_special_normal_integral_grad_a_b_results(real value, real d_a, real d_b)
{
    special_normal_integral_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_k;
} studentized_range_rate_of_largest_grad_k_results;

DEVICE studentized_range_rate_of_largest_grad_k_results make_studentized_range_rate_of_largest_grad_k_results(real value, real d_k)
{
    studentized_range_rate_of_largest_grad_k_results results;
    results.value = value;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_width;
} special_normal_integral_grad_a_b_width_results;

DEVICE special_normal_integral_grad_a_b_width_results make_special_normal_integral_grad_a_b_width_results(real value, real d_a, real d_b, real d_width)
{
    special_normal_integral_grad_a_b_width_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_width = d_width;
    return results;
}


typedef struct {
    real value;
    real d_s;
} special_atanh_remainder_grad_s_results;

DEVICE special_atanh_remainder_grad_s_results make_special_atanh_remainder_grad_s_results(real value, real d_s)
{
    special_atanh_remainder_grad_s_results results;
    results.value = value;
    results.d_s = d_s;
    return results;
}


typedef struct {
    real value;
    real d_u;
} special_gamma_eta_grad_u_results;

DEVICE special_gamma_eta_grad_u_results make_special_gamma_eta_grad_u_results(real value, real d_u)
{
    special_gamma_eta_grad_u_results results;
    results.value = value;
    results.d_u = d_u;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_x;
    real d_value;
} special_within_gamma_grad_a_x_value_results;

DEVICE special_within_gamma_grad_a_x_value_results make_special_within_gamma_grad_a_x_value_results(real value, real d_a, real d_x, real d_value)
{
    special_within_gamma_grad_a_x_value_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    results.d_value = d_value;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_expm1_excess_grad_x_results;

DEVICE special_expm1_excess_grad_x_results make_special_expm1_excess_grad_x_results(real value, real d_x)
{
    special_expm1_excess_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_r;
} studentized_range_central_slope_grad_r_results;

DEVICE studentized_range_central_slope_grad_r_results make_studentized_range_central_slope_grad_r_results(real value, real d_r)
{
    studentized_range_central_slope_grad_r_results results;
    results.value = value;
    results.d_r = d_r;
    return results;
}


typedef struct {
    real value;
    real d_r;
} studentized_range_log_between_grad_r_results;

DEVICE studentized_range_log_between_grad_r_results make_studentized_range_log_between_grad_r_results(real value, real d_r)
{
    studentized_range_log_between_grad_r_results results;
    results.value = value;
    results.d_r = d_r;
    return results;
}


typedef struct {
    real value;
    real d_u;
    real d_r;
} studentized_range_log_between_grad_u_r_results;

DEVICE studentized_range_log_between_grad_u_r_results make_studentized_range_log_between_grad_u_r_results(real value, real d_u, real d_r)
{
    studentized_range_log_between_grad_u_r_results results;
    results.value = value;
    results.d_u = d_u;
    results.d_r = d_r;
    return results;
}


typedef struct {
    real value;
    real d_r;
    real d_k;
} studentized_range_log_above_grad_r_k_results;

DEVICE studentized_range_log_above_grad_r_k_results make_studentized_range_log_above_grad_r_k_results(real value, real d_r, real d_k)
{
    studentized_range_log_above_grad_r_k_results results;
    results.value = value;
    results.d_r = d_r;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_u;
    real d_r;
    real d_k;
} studentized_range_log_above_grad_u_r_k_results;

DEVICE studentized_range_log_above_grad_u_r_k_results make_studentized_range_log_above_grad_u_r_k_results(real value, real d_u, real d_r, real d_k)
{
    studentized_range_log_above_grad_u_r_k_results results;
    results.value = value;
    results.d_u = d_u;
    results.d_r = d_r;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_r;
    real d_k;
} studentized_range_log_range_grad_r_k_results;

DEVICE studentized_range_log_range_grad_r_k_results make_studentized_range_log_range_grad_r_k_results(real value, real d_r, real d_k)
{
    studentized_range_log_range_grad_r_k_results results;
    results.value = value;
    results.d_r = d_r;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_a;
} special_log_gamma_p_near_zero_grad_a_results;

DEVICE special_log_gamma_p_near_zero_grad_a_results make_special_log_gamma_p_near_zero_grad_a_results(real value, real d_a)
{
    special_log_gamma_p_near_zero_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_u;
} special_log_gamma_tail_near_grad_a_u_results;

DEVICE special_log_gamma_tail_near_grad_a_u_results make_special_log_gamma_tail_near_grad_a_u_results(real value, real d_a, real d_u)
{
    special_log_gamma_tail_near_grad_a_u_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_u = d_u;
    return results;
}


typedef struct {
    real value;
    real d_a;
} special_log_gamma_tail_uniform_grad_a_results;

DEVICE special_log_gamma_tail_uniform_grad_a_results make_special_log_gamma_tail_uniform_grad_a_results(real value, real d_a)
{
    special_log_gamma_tail_uniform_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_a;
} special_log_gamma_power_grad_a_results;

DEVICE special_log_gamma_power_grad_a_results make_special_log_gamma_power_grad_a_results(real value, real d_a)
{
    special_log_gamma_power_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_a;
} special_gamma_series_grad_a_results;

DEVICE special_gamma_series_grad_a_results make_special_gamma_series_grad_a_results(real value, real d_a)
{
    special_gamma_series_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_a;
} special_gamma_fraction_grad_a_results;

DEVICE special_gamma_fraction_grad_a_results make_special_gamma_fraction_grad_a_results(real value, real d_a)
{
    special_gamma_fraction_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_a;
} special_log_gamma_tail_grad_a_results;

DEVICE special_log_gamma_tail_grad_a_results make_special_log_gamma_tail_grad_a_results(real value, real d_a)
{
    special_log_gamma_tail_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_x;
} special_log_gamma_tail_grad_a_x_results;

DEVICE special_log_gamma_tail_grad_a_x_results make_special_log_gamma_tail_grad_a_x_results(real value, real d_a, real d_x)
{
    special_log_gamma_tail_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_x;
} special_log_gamma_q_grad_a_x_results;

DEVICE special_log_gamma_q_grad_a_x_results make_special_log_gamma_q_grad_a_x_results(real value, real d_a, real d_x)
{
    special_log_gamma_q_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_x;
} special_log_gamma_p_grad_a_x_results;

DEVICE special_log_gamma_p_grad_a_x_results make_special_log_gamma_p_grad_a_x_results(real value, real d_a, real d_x)
{
    special_log_gamma_p_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_y;
    real d_log_y;
} special_log_gamma_p_of_power_grad_a_y_log_y_results;

DEVICE special_log_gamma_p_of_power_grad_a_y_log_y_results make_special_log_gamma_p_of_power_grad_a_y_log_y_results(real value, real d_a, real d_y, real d_log_y)
{
    special_log_gamma_p_of_power_grad_a_y_log_y_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_y = d_y;
    results.d_log_y = d_log_y;
    return results;
}


typedef struct {
    real value;
    real d_v;
    real d_k;
    real d_nu;
} studentized_range_log_term_grad_v_k_nu_results;

DEVICE studentized_range_log_term_grad_v_k_nu_results make_studentized_range_log_term_grad_v_k_nu_results(real value, real d_v, real d_k, real d_nu)
{
    studentized_range_log_term_grad_v_k_nu_results results;
    results.value = value;
    results.d_v = d_v;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_curvature;
    real d_k;
} studentized_range_step_of_grad_curvature_k_results;

DEVICE studentized_range_step_of_grad_curvature_k_results make_studentized_range_step_of_grad_curvature_k_results(real value, real d_curvature, real d_k)
{
    studentized_range_step_of_grad_curvature_k_results results;
    results.value = value;
    results.d_curvature = d_curvature;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_log_mean_grad_k_nu_results;

DEVICE studentized_range_log_mean_grad_k_nu_results make_studentized_range_log_mean_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_log_mean_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_peak_grad_k_nu_results;

DEVICE studentized_range_peak_grad_k_nu_results make_studentized_range_peak_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_peak_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_log_sum_grad_k_nu_results;

DEVICE studentized_range_log_sum_grad_k_nu_results make_studentized_range_log_sum_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_log_sum_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_nu;
} studentized_range_log_scale_grad_nu_results;

DEVICE studentized_range_log_scale_grad_nu_results make_studentized_range_log_scale_grad_nu_results(real value, real d_nu)
{
    studentized_range_log_scale_grad_nu_results results;
    results.value = value;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_log_rising_grad_x_results;

DEVICE special_log_rising_grad_x_results make_special_log_rising_grad_x_results(real value, real d_x)
{
    special_log_rising_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_u;
} studentized_range_log_between_grad_u_results;

DEVICE studentized_range_log_between_grad_u_results make_studentized_range_log_between_grad_u_results(real value, real d_u)
{
    studentized_range_log_between_grad_u_results results;
    results.value = value;
    results.d_u = d_u;
    return results;
}


typedef struct {
    real value;
    real d_k;
} studentized_range_log_above_grad_k_results;

DEVICE studentized_range_log_above_grad_k_results make_studentized_range_log_above_grad_k_results(real value, real d_k)
{
    studentized_range_log_above_grad_k_results results;
    results.value = value;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_u;
    real d_k;
} studentized_range_log_above_grad_u_k_results;

DEVICE studentized_range_log_above_grad_u_k_results make_studentized_range_log_above_grad_u_k_results(real value, real d_u, real d_k)
{
    studentized_range_log_above_grad_u_k_results results;
    results.value = value;
    results.d_u = d_u;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_k;
} studentized_range_log_range_grad_k_results;

DEVICE studentized_range_log_range_grad_k_results make_studentized_range_log_range_grad_k_results(real value, real d_k)
{
    studentized_range_log_range_grad_k_results results;
    results.value = value;
    results.d_k = d_k;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_studentized_at_grad_k_nu_results;

DEVICE studentized_range_studentized_at_grad_k_nu_results make_studentized_range_studentized_at_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_studentized_at_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_studentized_grad_k_nu_results;

DEVICE studentized_range_studentized_grad_k_nu_results make_studentized_range_studentized_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_studentized_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_logpdf_grad_k_nu_results;

DEVICE studentized_range_logpdf_grad_k_nu_results make_studentized_range_logpdf_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_logpdf_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_k;
    real d_nu;
} studentized_range_logpdf_checked_grad_k_nu_results;

DEVICE studentized_range_logpdf_checked_grad_k_nu_results make_studentized_range_logpdf_checked_grad_k_nu_results(real value, real d_k, real d_nu)
{
    studentized_range_logpdf_checked_grad_k_nu_results results;
    results.value = value;
    results.d_k = d_k;
    results.d_nu = d_nu;
    return results;
}


DEVICE real special_scaled_erfc(real x)
{
    real t = 1 - 7.5 / (x + 3.75);
    real series = 1.237512630837827582 + t * (-0.1402405985855452088 + t * (0.003585415485466306909 + t * (0.08227673848999158997 + t * (-0.108803930141939147 + t * (0.09230432116435615983 + t * (-0.05869339858449184774 + t * (0.02836227737137004573 + t * (-0.009746579620815090139 + t * (0.001755626169227672094 + t * (0.0002937140877722768239 + t * (-0.0002901553656394712841 + t * (5.164737123871837686e-5 + t * (2.238759272534768919e-5 + t * (-1.143961526007594973e-5 + t * (-9.792975290998229177e-7 + t * (1.743857741135918114e-6 + t * (-5.081691181169818825e-8 + t * (-2.499653803740524239e-7 + t * (1.87785011564687965e-8 + t * (3.256499083798512925e-8 + t * (-1.952790162974836892e-9 + t * -2.729394133253385506e-9)))))))))))))))))))));
    return series / (1 + 2 * x);
}

DEVICE real special_legendre_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.18343464249564980494 : i == 1 ? 0.52553240991632898582 : i == 2 ? 0.79666647741362673959 : 0.96028985649753623168;
    return k == int_product(2, i) ? node : -node;
}

DEVICE real special_legendre_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.36268378337836198297 : i == 1 ? 0.31370664587788728734 : i == 2 ? 0.22238103445337447054 : 0.10122853629037625915;
}

DEVICE real special_normal_integral(real a, real b, real width)
{
    if (a <= 0 && b >= 0) {
        return SQRT_PI / SQRT_2 * ((b < INFINITY ? erf(b / SQRT_2) : 1) - (a > -INFINITY ? erf(a / SQRT_2) : -1));
    }
    real near = a > 0 ? a : -b;
    real far = a > 0 ? b : -a;
    if (width * (1 + far) > 2) {
        return SQRT_PI / SQRT_2 * (special_scaled_erfc(near / SQRT_2) - (far < INFINITY ? exp(-0.5 * width * (near + far)) * special_scaled_erfc(far / SQRT_2) : 0));
    }
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real step = 0.5 * width * (1 + special_legendre_node(k));
        sum += special_legendre_weight(k) * exp(-step * (near + 0.5 * step));
    }
    return 0.5 * width * sum;
}

DEVICE real special_scaled_erfc_any(real x)
{
    return x < 0 ? 2 * exp(x * x) - special_scaled_erfc(-x) : special_scaled_erfc(x);
}

DEVICE real special_scaled_erfc_slope(real x)
{
    real s = 0.5 / (x * x);
    real series = 1;
    for (int k = 12; k > 0; k--) {
        series = 1 - int_sum(int_product(2, k), 1) * s * series;
    }
    return 2 / SQRT_PI * (x > (EPSILON < 1e-10 ? 10 : 6) ? s * series : 1 - SQRT_PI * x * special_scaled_erfc_any(x));
}

DEVICE special_normal_integral_grad_a_b_results special_normal_integral_grad_a_b(real a, real b, real width)
{
    if (a <= 0 && b >= 0) {
        real t = SQRT_PI / SQRT_2;
        real t2 = b / SQRT_2;
        real t3 = a / SQRT_2;
        real t4 = 2 / SQRT_PI;
        real t5 = 1 / SQRT_2;
        return make_special_normal_integral_grad_a_b_results(t * ((b < INFINITY ? erf(t2) : 1) - (a > -INFINITY ? erf(t3) : -1)), -((a > -INFINITY ? (isinf(t3) ? 0 : t4 * exp(-(t3 * t3)) * t5) : 0) * t), t * (b < INFINITY ? (isinf(t2) ? 0 : t4 * exp(-(t2 * t2)) * t5) : 0));
    }
    real d_a_near = a > 0 ? 1 : 0;
    real d_b_near = a > 0 ? 0 : -1;
    real near = a > 0 ? a : -b;
    real d_a_far = a > 0 ? 0 : -1;
    real d_b_far = a > 0 ? 1 : 0;
    real far = a > 0 ? b : -a;
    if (width * (1 + far) > 2) {
        real t6 = SQRT_PI / SQRT_2;
        real t7 = near / SQRT_2;
        real t8 = exp(-0.5 * width * (near + far));
        real t9 = far / SQRT_2;
        real t10 = special_scaled_erfc(t9);
        real t11 = special_scaled_erfc_slope(t7);
        real t12 = 1 / SQRT_2;
        real t13 = special_scaled_erfc_slope(t9);
        return make_special_normal_integral_grad_a_b_results(t6 * (special_scaled_erfc(t7) - (far < INFINITY ? t8 * t10 : 0)), t6 * (-(t11 * (d_a_near * t12)) - (far < INFINITY ? -(0.5 * width * (d_a_near + d_a_far) * t8 * t10) - t13 * (d_a_far * t12) * t8 : 0)), t6 * (-(t11 * (d_b_near * t12)) - (far < INFINITY ? -(0.5 * width * (d_b_near + d_b_far) * t8 * t10) - t13 * (d_b_far * t12) * t8 : 0)));
    }
    real d_a_sum = 0;
    real d_b_sum = 0;
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real step = 0.5 * width * (1 + special_legendre_node(k));
        real t14 = exp(-step * (near + 0.5 * step));
        real t15 = special_legendre_weight(k);
        d_a_sum -= step * d_a_near * t14 * t15;
        d_b_sum -= step * d_b_near * t14 * t15;
        sum += t15 * t14;
    }
    return make_special_normal_integral_grad_a_b_results(0.5 * width * sum, 0.5 * width * d_a_sum, 0.5 * width * d_b_sum);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real special_log_ndtr(real x)
{
    real tail = 0.5 * special_scaled_erfc(fabs(x) / SQRT_2);
    real square = 0.5 * x * x;
    return x < 0 ? log(tail) - square : log1p(-tail * exp(-square));
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE real special_inverse_mills(real x)
{
    real tail = special_scaled_erfc(fabs(x) / SQRT_2);
    return SQRT_2_OVER_PI * (x < 0 ? 1 / tail : 1 / (2 * exp(0.5 * x * x) - tail));
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
}

DEVICE studentized_range_rate_of_largest_grad_k_results studentized_range_rate_of_largest_grad_k(real k)
{
    real t = sqrt(2 * log(k));
    real t2 = 4.3 * (t - 1.1);
    return make_studentized_range_rate_of_largest_grad_k_results(fmax((real)2.9, t2), (real)2.9 > t2 || t2 != t2 ? 0 : 4.3 * (0.5 / t * (2 * special_log_slope(k))));
}

DEVICE real special_log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

DEVICE special_normal_integral_grad_a_b_width_results special_normal_integral_grad_a_b_width(real a, real b, real width)
{
    if (a <= 0 && b >= 0) {
        real t = SQRT_PI / SQRT_2;
        real t2 = b / SQRT_2;
        real t3 = a / SQRT_2;
        real t4 = 2 / SQRT_PI;
        real t5 = 1 / SQRT_2;
        return make_special_normal_integral_grad_a_b_width_results(t * ((b < INFINITY ? erf(t2) : 1) - (a > -INFINITY ? erf(t3) : -1)), -((a > -INFINITY ? (isinf(t3) ? 0 : t4 * exp(-(t3 * t3)) * t5) : 0) * t), t * (b < INFINITY ? (isinf(t2) ? 0 : t4 * exp(-(t2 * t2)) * t5) : 0), 0);
    }
    real d_a_near = a > 0 ? 1 : 0;
    real d_b_near = a > 0 ? 0 : -1;
    real near = a > 0 ? a : -b;
    real d_a_far = a > 0 ? 0 : -1;
    real d_b_far = a > 0 ? 1 : 0;
    real far = a > 0 ? b : -a;
    if (width * (1 + far) > 2) {
        real t6 = SQRT_PI / SQRT_2;
        real t7 = near / SQRT_2;
        real t8 = exp(-0.5 * width * (near + far));
        real t9 = far / SQRT_2;
        real t10 = special_scaled_erfc(t9);
        real t11 = special_scaled_erfc_slope(t7);
        real t12 = 1 / SQRT_2;
        real t13 = special_scaled_erfc_slope(t9);
        return make_special_normal_integral_grad_a_b_width_results(t6 * (special_scaled_erfc(t7) - (far < INFINITY ? t8 * t10 : 0)), t6 * (-(t11 * (d_a_near * t12)) - (far < INFINITY ? -(0.5 * width * (d_a_near + d_a_far) * t8 * t10) - t13 * (d_a_far * t12) * t8 : 0)), t6 * (-(t11 * (d_b_near * t12)) - (far < INFINITY ? -(0.5 * width * (d_b_near + d_b_far) * t8 * t10) - t13 * (d_b_far * t12) * t8 : 0)), -((far < INFINITY ? -(0.5 * (near + far) * t8 * t10) : 0) * t6));
    }
    real d_a_sum = 0;
    real d_b_sum = 0;
    real d_width_sum = 0;
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real t14 = 1 + special_legendre_node(k);
        real d_width_step = 0.5 * t14;
        real step = 0.5 * width * t14;
        real t15 = exp(-step * (near + 0.5 * step));
        real t16 = special_legendre_weight(k);
        d_a_sum -= step * d_a_near * t15 * t16;
        d_b_sum -= step * d_b_near * t15 * t16;
        d_width_sum += t16 * (t15 * (-(d_width_step * (near + 0.5 * step)) - step * (0.5 * d_width_step)));
        sum += t16 * t15;
    }
    return make_special_normal_integral_grad_a_b_width_results(0.5 * width * sum, 0.5 * width * d_a_sum, 0.5 * width * d_b_sum, 0.5 * sum + 0.5 * width * d_width_sum);
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

DEVICE real special_log_gamma_1p(real x)
{
    return x <= 1 ? special_log_gamma_near_two(x) - log1p(x) : special_log_gamma(1 + x);
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

DEVICE special_atanh_remainder_grad_s_results special_atanh_remainder_grad_s(real s)
{
    real t = 0.06000536404795356268 + s * (0.04400369243072336941 + s * 0.0808202280597176611);
    real t2 = 0.06657072104827468075 + s * t;
    real t3 = 0.07692785032479311552 + s * t2;
    real t4 = 0.09090894718066429085 + s * t3;
    real t5 = 0.1111111135871393149 + s * t4;
    real t6 = 0.1428571428355437858 + s * t5;
    real t7 = 0.2000000000000729134 + s * t6;
    return make_special_atanh_remainder_grad_s_results(0.3333333333333332928 + s * t7, t7 + s * (t6 + s * (t5 + s * (t4 + s * (t3 + s * (t2 + s * (t + s * (0.04400369243072336941 + s * 0.0808202280597176611 + s * 0.08082022805971766))))))));
}

DEVICE special_gamma_eta_grad_u_results special_gamma_eta_grad_u(real u)
{
    real t = u / (2 + u);
    real d_u_r = (1 - t) * (1 / (2 + u));
    real r = t;
    real d_u_s = 2 * r * d_u_r;
    special_atanh_remainder_grad_s_results call = special_atanh_remainder_grad_s(r * r);
    real t2 = sqrt(2 * (2 + u - 2 * r * call.value));
    return make_special_gamma_eta_grad_u_results(r * t2, t2 * d_u_r + r * (0.5 / t2 * (2 * (1 - (2 * call.value * d_u_r + 2 * r * (call.d_s * d_u_s))))));
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

DEVICE real special_stirling_error(real x)
{
    if (x >= 3) {
        return special_stirling_series(x);
    }
    real shift = x < 1.5 ? 1 : 0;
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

DEVICE real special_stirling_error_derivative(real x)
{
    return x < 3 ? special_digamma(x) - log(x) + 0.5 / x : special_stirling_series_derivative(x);
}

DEVICE real special_gamma_middle(real a)
{
    return a < 1 ? 1.5 : a > 20 ? a : a + sqrt(a);
}

DEVICE special_within_gamma_grad_a_x_value_results special_within_gamma_grad_a_x_value(real a, real x, real value, real at_zero, real at_infinity)
{
    real t = !(a >= 0 && x >= 0) ? NAN : 0;
    return make_special_within_gamma_grad_a_x_value_results(!(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value, t, t, !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? 0 : x == 0 || isinf(a) ? 0 : 1);
}

DEVICE real special_log1pmx(real u)
{
    return special_log_ratio_excess(1 + u, u);
}

DEVICE special_expm1_excess_grad_x_results special_expm1_excess_grad_x(real x)
{
    real t = expm1(-x);
    real t2 = exp(-x);
    return make_special_expm1_excess_grad_x_results(fabs(x) < 0.5 ? -special_log1pmx(t) : x + t, fabs(x) < 0.5 ? -(t2 * (t / (1 + t))) : 1 - t2);
}

DEVICE studentized_range_central_slope_grad_r_results studentized_range_central_slope_grad_r(real r)
{
    real t = exp(-0.125 * r * r);
    real t2 = r / (2 * SQRT_2);
    real t3 = SQRT_2 * SQRT_PI * erf(t2);
    real t4 = r * t / t3;
    return make_studentized_range_central_slope_grad_r_results(r > 0 ? t4 : 1, r > 0 ? (t - 0.125 * 2 * r * t * r - t4 * (SQRT_2 * SQRT_PI * (isinf(t2) ? 0 : 2 / SQRT_PI * exp(-(t2 * t2)) * (1 / (2 * SQRT_2))))) * (1 / t3) : 0);
}

DEVICE studentized_range_log_between_grad_r_results studentized_range_log_between_grad_r(real u, real r)
{
    real half_ = 0.5 * r;
    real t = (half_ - u) / SQRT_2;
    real t2 = 2 / SQRT_PI;
    real t3 = 0.5 * (1 / SQRT_2);
    real t4 = (half_ + u) / SQRT_2;
    real d_r_beyond = 0.5 * ((isinf(t) ? 0 : -(t2 * exp(-(t * t)) * t3)) + (isinf(t4) ? 0 : -(t2 * exp(-(t4 * t4)) * t3)));
    real beyond = 0.5 * (erfc(t) + erfc(t4));
    real d_r_near = u - half_ > (real)0 || (real)0 != (real)0 ? -0.5 : 0;
    real near = fmax(u - half_, (real)0);
    real either;
    real d_r_either;
    if (beyond < 0.5) {
        either = log1p(-beyond);
        d_r_either = -(d_r_beyond * (1 / (1 - beyond)));
    } else {
        special_normal_integral_grad_a_b_width_results call = special_normal_integral_grad_a_b_width(u - half_, u + half_, r);
        either = log(call.value) - (0.5 * near * near + HALF_LOG_2PI);
        d_r_either = special_log_slope(call.value) * (call.d_b * 0.5 - 0.5 * call.d_a + call.d_width) - near * d_r_near;
    }
    return make_studentized_range_log_between_grad_r_results(either, d_r_either);
}

DEVICE studentized_range_log_between_grad_u_r_results studentized_range_log_between_grad_u_r(real u, real r)
{
    real half_ = 0.5 * r;
    real t = (half_ - u) / SQRT_2;
    real t2 = 1 / SQRT_2;
    real t3 = 2 / SQRT_PI;
    real t4 = t3 * exp(-(t * t));
    real t5 = (half_ + u) / SQRT_2;
    real t6 = t3 * exp(-(t5 * t5));
    real t7 = 0.5 * t2;
    real d_u_beyond = 0.5 * ((isinf(t) ? 0 : t2 * t4) + (isinf(t5) ? 0 : -(t6 * t2)));
    real d_r_beyond = 0.5 * ((isinf(t) ? 0 : -(t4 * t7)) + (isinf(t5) ? 0 : -(t6 * t7)));
    real beyond = 0.5 * (erfc(t) + erfc(t5));
    real d_u_near = u - half_ > (real)0 || (real)0 != (real)0 ? 1 : 0;
    real d_r_near = u - half_ > (real)0 || (real)0 != (real)0 ? -0.5 : 0;
    real near = fmax(u - half_, (real)0);
    real either;
    real d_u_either;
    real d_r_either;
    if (beyond < 0.5) {
        real t8 = 1 / (1 - beyond);
        either = log1p(-beyond);
        d_u_either = -(d_u_beyond * t8);
        d_r_either = -(d_r_beyond * t8);
    } else {
        special_normal_integral_grad_a_b_width_results call = special_normal_integral_grad_a_b_width(u - half_, u + half_, r);
        real t9 = special_log_slope(call.value);
        either = log(call.value) - (0.5 * near * near + HALF_LOG_2PI);
        d_u_either = t9 * (call.d_a + call.d_b) - near * d_u_near;
        d_r_either = t9 * (call.d_b * 0.5 - 0.5 * call.d_a + call.d_width) - near * d_r_near;
    }
    return make_studentized_range_log_between_grad_u_r_results(either, d_u_either, d_r_either);
}

DEVICE real studentized_range_central_slope(real r)
{
    return r > 0 ? r * exp(-0.125 * r * r) / (SQRT_2 * SQRT_PI * erf(r / (2 * SQRT_2))) : 1;
}

DEVICE real studentized_range_log_between(real u, real r)
{
    real half_ = 0.5 * r;
    real beyond = 0.5 * (erfc((half_ - u) / SQRT_2) + erfc((half_ + u) / SQRT_2));
    real near = fmax(u - half_, (real)0);
    return beyond < 0.5 ? log1p(-beyond) : log(special_normal_integral(u - half_, u + half_, r)) - (0.5 * near * near + HALF_LOG_2PI);
}

DEVICE int studentized_range_is_low(real r, real k)
{
    real variance = 1 + (k - 1) * studentized_range_central_slope(r) - 0.25 * r * r;
    return variance > 0 && log(k) + (k - 1) * studentized_range_log_between(0, r) - 0.125 * r * r - 0.5 * log(variance) < -LOG_2;
}

DEVICE studentized_range_log_above_grad_r_k_results studentized_range_log_above_grad_r_k(real u, real r, real k)
{
    real d_r_below = 0.5 * r - u == INFINITY ? 0 : special_inverse_mills(0.5 * r - u) * 0.5;
    real below = special_log_ndtr(0.5 * r - u);
    real t = special_log_ndtr(-0.5 * r - u) - below;
    real d_r_log_share = t <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - u == INFINITY ? 0 : -(0.5 * special_inverse_mills(-0.5 * r - u))) - d_r_below : 0;
    real log_share = fmin(t, (real)0);
    real d = u - 0.5 * r;
    real value;
    real d_r_value;
    real d_k_value;
    if (log_share + log(k) < 2 * log(EPSILON)) {
        d_r_value = d_r_log_share;
        d_k_value = special_log_slope(k - 1);
        value = log_share + log(k - 1);
    } else {
        real either;
        real d_r_either;
        if (log_share < -LOG_2) {
            real t2 = exp(log_share);
            either = log1p(-t2);
            d_r_either = -(t2 * d_r_log_share * (1 / (1 - t2)));
        } else {
            studentized_range_log_between_grad_r_results call = studentized_range_log_between_grad_r(fabs(u), r);
            either = call.value - below;
            d_r_either = call.d_r - d_r_below;
        }
        real t3 = (k - 1) * either < -50 ? -exp((k - 1) * either) : -(1 / expm1(-((k - 1) * either)));
        d_r_value = t3 * ((k - 1) * d_r_either);
        d_k_value = t3 * either;
        value = special_log1mexp((k - 1) * either);
    }
    return make_studentized_range_log_above_grad_r_k_results((k - 1) * below + value - 0.5 * d * d, (k - 1) * d_r_below + d_r_value + 0.5 * d, below + d_k_value);
}

DEVICE studentized_range_log_above_grad_u_r_k_results studentized_range_log_above_grad_u_r_k(real u, real r, real k)
{
    real t = special_inverse_mills(0.5 * r - u);
    real d_u_below = 0.5 * r - u == INFINITY ? 0 : -t;
    real d_r_below = 0.5 * r - u == INFINITY ? 0 : t * 0.5;
    real below = special_log_ndtr(0.5 * r - u);
    real t2 = special_log_ndtr(-0.5 * r - u) - below;
    real t3 = special_inverse_mills(-0.5 * r - u);
    real d_u_log_share = t2 <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - u == INFINITY ? 0 : -t3) - d_u_below : 0;
    real d_r_log_share = t2 <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - u == INFINITY ? 0 : -(0.5 * t3)) - d_r_below : 0;
    real log_share = fmin(t2, (real)0);
    real d = u - 0.5 * r;
    real value;
    real d_u_value;
    real d_r_value;
    real d_k_value;
    if (log_share + log(k) < 2 * log(EPSILON)) {
        d_u_value = d_u_log_share;
        d_r_value = d_r_log_share;
        d_k_value = special_log_slope(k - 1);
        value = log_share + log(k - 1);
    } else {
        real either;
        real d_u_either;
        real d_r_either;
        if (log_share < -LOG_2) {
            real t4 = exp(log_share);
            real t5 = 1 / (1 - t4);
            either = log1p(-t4);
            d_u_either = -(t4 * d_u_log_share * t5);
            d_r_either = -(t4 * d_r_log_share * t5);
        } else {
            real d_u_u = u > 0 ? 1 : u < 0 ? -1 : 0;
            studentized_range_log_between_grad_u_r_results call = studentized_range_log_between_grad_u_r(fabs(u), r);
            either = call.value - below;
            d_u_either = call.d_u * d_u_u - d_u_below;
            d_r_either = call.d_r - d_r_below;
        }
        real t6 = (k - 1) * either < -50 ? -exp((k - 1) * either) : -(1 / expm1(-((k - 1) * either)));
        d_u_value = t6 * ((k - 1) * d_u_either);
        d_r_value = t6 * ((k - 1) * d_r_either);
        d_k_value = t6 * either;
        value = special_log1mexp((k - 1) * either);
    }
    return make_studentized_range_log_above_grad_u_r_k_results((k - 1) * below + value - 0.5 * d * d, (k - 1) * d_u_below + d_u_value - d, (k - 1) * d_r_below + d_r_value + 0.5 * d, below + d_k_value);
}

LARGE studentized_range_log_range_grad_r_k_results studentized_range_log_range_grad_r_k(int what, real r, real k)
{
    if (r < ldexp((real)1, EPSILON < 1e-10 ? -1015 : -120)) {
        return make_studentized_range_log_range_grad_r_k_results(what == 2 ? 0 : -INFINITY, 0, 0);
    }
    studentized_range_central_slope_grad_r_results call = studentized_range_central_slope_grad_r(r);
    real t = fabs(k - 2);
    real t2 = sqrt(2 + t * call.value);
    real t3 = (EPSILON < 1e-10 ? 0.6 : 0.8) / t2;
    real t4 = 0.5 / t2;
    real t5 = 1 / t2;
    real d_r_spread = -(t3 * (t4 * (t * call.d_r)) * t5);
    real d_k_spread = -(t3 * (t4 * (call.value * (k - 2 > 0 ? 1 : k - 2 < 0 ? -1 : 0))) * t5);
    real spread = t3;
    studentized_range_rate_of_largest_grad_k_results call2 = studentized_range_rate_of_largest_grad_k(k);
    real step = special_panel_width(3 * fmax(1 / spread, (EPSILON < 1e-10 ? 1 : 0.75) * call2.value), 1);
    real d_r_sum = 0;
    real d_k_sum = 0;
    real sum = 1;
    if (what == 0) {
        studentized_range_log_between_grad_r_results call3 = studentized_range_log_between_grad_r(0, r);
        real d_r_center = call3.d_r;
        real center = call3.value;
        real d_r_term = 0;
        real d_k_term = 0;
        real term = 1;
        for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real u = i * step;
            studentized_range_log_between_grad_u_r_results call4 = studentized_range_log_between_grad_u_r(u, r);
            real t6 = exp((k - 2) * (call4.value - center) - u * u);
            d_r_term = 2 * (t6 * ((k - 2) * (call4.d_r - d_r_center)));
            d_k_term = 2 * (t6 * (call4.value - center));
            term = 2 * t6;
            d_r_sum += d_r_term;
            d_k_sum += d_k_term;
            sum += term;
        }
        real t7 = special_log_slope(step * sum);
        return make_studentized_range_log_range_grad_r_k_results(log(k) + log(k - 1) - LOG_2PI + (k - 2) * center - 0.25 * r * r + log(step * sum), (k - 2) * d_r_center - 0.5 * r + t7 * (step * d_r_sum), special_log_slope(k) + special_log_slope(k - 1) + center + t7 * (step * d_k_sum));
    }
    real center_2;
    real d_r_center_2;
    real d_k_center_2;
    real term_2;
    real d_r_term_2;
    real d_k_term_2;
    if (studentized_range_is_low(r, k)) {
        studentized_range_log_between_grad_r_results call5 = studentized_range_log_between_grad_r(0, r);
        d_r_center_2 = (k - 1) * call5.d_r - 0.25 * r;
        d_k_center_2 = call5.value;
        center_2 = (k - 1) * call5.value - 0.125 * r * r;
        d_r_term_2 = 0;
        d_k_term_2 = 0;
        term_2 = 1;
        for (int i_3 = 1; i_3 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_3++) {
            real u_2 = i_3 * step;
            real d = u_2 - 0.5 * r;
            studentized_range_log_between_grad_u_r_results call6 = studentized_range_log_between_grad_u_r(u_2, r);
            real t8 = exp(-u_2 * r);
            real t9 = 1 + t8;
            real t10 = exp((k - 1) * call6.value - 0.5 * d * d - center_2);
            d_r_term_2 = t9 * (t10 * ((k - 1) * call6.d_r + 0.5 * d - d_r_center_2)) - u_2 * t8 * t10;
            d_k_term_2 = t9 * (t10 * (call6.value - d_k_center_2));
            term_2 = t9 * t10;
            d_r_sum += d_r_term_2;
            d_k_sum += d_k_term_2;
            sum += term_2;
        }
    } else {
        studentized_range_log_above_grad_r_k_results call7 = studentized_range_log_above_grad_r_k(0, r, k);
        d_r_center_2 = call7.d_r;
        d_k_center_2 = call7.d_k;
        center_2 = call7.value;
        for (int side = -1; side < 2; side += 2) {
            d_r_term_2 = 0;
            d_k_term_2 = 0;
            term_2 = 1;
            for (int i_2 = 1; i_2 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
                studentized_range_log_above_grad_u_r_k_results call8 = studentized_range_log_above_grad_u_r_k(int_product(side, i_2) * step, r, k);
                real t11 = exp(call8.value - center_2);
                d_r_term_2 = t11 * (call8.d_r - d_r_center_2);
                d_k_term_2 = t11 * (call8.d_k - d_k_center_2);
                term_2 = t11;
                d_r_sum += d_r_term_2;
                d_k_sum += d_k_term_2;
                sum += term_2;
            }
        }
    }
    real t12 = special_log_slope(step * sum);
    real d_r_value = d_r_center_2 + t12 * (step * d_r_sum);
    real d_k_value = special_log_slope(k) + d_k_center_2 + t12 * (step * d_k_sum);
    real value = log(k) - HALF_LOG_2PI + center_2 + log(step * sum);
    real t13 = value < -50 ? -exp(value) : -(1 / expm1(-value));
    return make_studentized_range_log_range_grad_r_k_results(studentized_range_is_low(r, k) == (what == 1) ? value : special_log1mexp(value), studentized_range_is_low(r, k) == (what == 1) ? d_r_value : t13 * d_r_value, studentized_range_is_low(r, k) == (what == 1) ? d_k_value : t13 * d_k_value);
}

DEVICE special_log_gamma_p_near_zero_grad_a_results special_log_gamma_p_near_zero_grad_a(real a, real x)
{
    real power = -x;
    real d_a_sum = 0;
    real sum = 0;
    int turns = EPSILON < 1e-10 ? 24 : 14;
    for (int k = 1; k < (turns < 24 ? turns : 24); k = int_sum(k, 1)) {  // until the condition fails
        real t = power / (a + k);
        d_a_sum -= t * (1 / (a + k));
        sum += t;
        power *= -x / int_sum(k, 1);
    }
    real t2 = log(x);
    return make_special_log_gamma_p_near_zero_grad_a_results(a * t2 - special_log_gamma_1p(a) + log1p(a * sum), t2 - special_digamma(1 + a) + 1 / (1 + a * sum) * (sum + a * d_a_sum));
}

DEVICE special_log_gamma_tail_near_grad_a_u_results special_log_gamma_tail_near_grad_a_u(real a, real u)
{
    special_gamma_eta_grad_u_results call = special_gamma_eta_grad_u(u);
    real d_u_eta = call.d_u;
    real eta = call.value;
    real d_u_s = 2 * eta * d_u_eta;
    real s = eta * eta;
    real t = 1 / a;
    real d_a_v = -(t * t);
    real v = t;
    real d_a_odd = 0;
    real odd = -1.392388722418162066e-13;
    real d_a_even = 0;
    real even = 3.371763262400985379e-13;
    real d_a_sum_odd = d_a_odd;
    real d_u_sum_odd = 0;
    real sum_odd = odd;
    real d_a_sum_even = d_a_even;
    real d_u_sum_even = 0;
    real sum_even = even;
    d_a_odd = 21 * odd * d_a_v + 21 * v * d_a_odd;
    odd = 1.100439203195613477e-13 + 21 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 20 * even * d_a_v + 20 * v * d_a_even;
    even = -5.027669280114175589e-12 + 20 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 19 * odd * d_a_v + 19 * v * d_a_odd;
    odd = 2.436194802066741624e-11 + 19 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 18 * even * d_a_v + 18 * v * d_a_even;
    even = -5.830772132550425067e-11 + 18 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 17 * odd * d_a_v + 17 * v * d_a_odd;
    odd = -2.551419399494624977e-11 + 17 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 16 * even * d_a_v + 16 * v * d_a_even;
    even = 9.147699582236790234e-10 + 16 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 15 * odd * d_a_v + 15 * v * d_a_odd;
    odd = -4.382036018453353187e-9 + 15 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 14 * even * d_a_v + 14 * v * d_a_even;
    even = 1.026180978424030804e-8 + 14 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 13 * odd * d_a_v + 13 * v * d_a_odd;
    odd = 6.70785354340149858e-9 + 13 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 12 * even * d_a_v + 12 * v * d_a_even;
    even = -1.76659527368260793e-7 + 12 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 11 * odd * d_a_v + 11 * v * d_a_odd;
    odd = 8.296711340953086005e-7 + 11 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 10 * even * d_a_v + 10 * v * d_a_even;
    even = -0.000001854062210715159961 + 10 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 9 * odd * d_a_v + 9 * v * d_a_odd;
    odd = -0.000002185448510679992161 + 9 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 8 * even * d_a_v + 8 * v * d_a_even;
    even = 0.00003919263178522437782 + 8 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 7 * odd * d_a_v + 7 * v * d_a_odd;
    odd = -0.0001787551440329218107 + 7 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 6 * even * d_a_v + 6 * v * d_a_even;
    even = 0.0003527336860670194004 + 6 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 5 * odd * d_a_v + 5 * v * d_a_odd;
    odd = 0.001157407407407407407 + 5 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 4 * even * d_a_v + 4 * v * d_a_even;
    even = -0.01481481481481481481 + 4 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 3 * odd * d_a_v + 3 * v * d_a_odd;
    odd = 0.08333333333333333333 + 3 * v * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 2 * even * d_a_v + 2 * v * d_a_even;
    even = -0.3333333333333333333 + 2 * v * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    real t2 = sqrt(2 * PI * a);
    real t3 = (1 + v * odd) * t2;
    real t4 = (sum_even + eta * sum_odd) / t3;
    real t5 = 1 / t3;
    real d_a_series = (d_a_sum_even + eta * d_a_sum_odd - t4 * (t2 * (odd * d_a_v + v * d_a_odd) + (1 + v * odd) * (0.5 / t2 * (2 * PI)))) * t5;
    real d_u_series = (d_u_sum_even + (sum_odd * d_u_eta + eta * d_u_sum_odd)) * t5;
    real series = t4;
    real sign = u < 0 ? -1 : 1;
    real t6 = sqrt(0.5 * a);
    real t7 = sign * eta * t6;
    real t8 = 0.5 * special_scaled_erfc(t7) + sign * series;
    real t9 = special_log_slope(t8);
    real t10 = special_scaled_erfc_slope(t7);
    return make_special_log_gamma_tail_near_grad_a_u_results(log(t8) - 0.5 * a * s, t9 * (sign * d_a_series - t10 * (sign * eta * (0.5 / t6 * 0.5)) * 0.5) - 0.5 * s, t9 * (sign * d_u_series - t10 * (sign * t6 * d_u_eta) * 0.5) - 0.5 * a * d_u_s);
}

DEVICE special_log_gamma_tail_uniform_grad_a_results special_log_gamma_tail_uniform_grad_a(real a, real x)
{
    real t = (x - a) / a;
    real d_a_u = (-1 - t) * (1 / a);
    special_log_gamma_tail_near_grad_a_u_results call = special_log_gamma_tail_near_grad_a_u(a, t);
    return make_special_log_gamma_tail_uniform_grad_a_results(call.value, call.d_a + call.d_u * d_a_u);
}

DEVICE special_log_gamma_power_grad_a_results special_log_gamma_power_grad_a(real a, real x)
{
    real t = x / a;
    real t2 = (x - a) / a;
    real t3 = special_log_ratio_excess(t, t2);
    real t4 = 1 / a;
    real t5 = (-1 - t2) * t4;
    return make_special_log_gamma_power_grad_a_results(a * t3 - (0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a)), t3 + a * (fabs(t2) < 0.5 ? -(t2 / t * t5) : -(t * t4 / t) - t5) - (0.5 * special_log_slope(a) + special_stirling_error_derivative(a)));
}

DEVICE special_gamma_series_grad_a_results special_gamma_series_grad_a(real a, real x)
{
    real t = 1 / (a + 1);
    real d_a_v = -(t * t);
    real v = t;
    real d_a_share = x * d_a_v;
    real share = x * v;
    real d_a_power = 0;
    real power = 1;
    real d_a_sum = 0;
    real sum = 1;
    real d_a_scale = 0;
    real scale = 1;
    int turns = to_int(EPSILON < 1e-10 ? 15 + 10 * sqrt(a) : 9 + 6.6 * sqrt(a));
    for (int k = 0; k < (turns < 60 ? turns : 60); k = int_sum(k, 1)) {  // until the condition fails
        real d_a_growth = k * d_a_v;
        real growth = 1 + k * v;
        d_a_power = share * d_a_power + power * d_a_share;
        power *= share;
        d_a_sum = growth * d_a_sum + sum * d_a_growth + d_a_power;
        sum = sum * growth + power;
        d_a_scale = growth * d_a_scale + scale * d_a_growth;
        scale *= growth;
    }
    real t2 = sum / scale;
    return make_special_gamma_series_grad_a_results(t2, (d_a_sum - t2 * d_a_scale) * (1 / scale));
}

DEVICE special_gamma_fraction_grad_a_results special_gamma_fraction_grad_a(real a, real x)
{
    real v = 1 / x;
    real b = (x - a + 1) * v;
    real d_a_above_before = 0;
    real above_before = 0;
    real d_a_above = 0;
    real above = 1;
    real d_a_below_before = 0;
    real below_before = 1;
    real d_a_below = -v;
    real below = b;
    real d_a_shape = a <= (real)20 || (real)20 != (real)20 ? 1 : 0;
    real shape = fmin(a, (real)20);
    real t = sqrt(a);
    real t2 = 1 / (a < 1 ? 1.5 : a + t);
    real d_a_inverse = -(t2 * (a < 1 ? 0 : 1 + 0.5 / t) * t2);
    real inverse = t2;
    int turns = to_int(EPSILON < 1e-10 ? 5 + 105 * inverse + 0.6 * shape : 4 + 28 * inverse + 0.4 * shape);
    for (int k = 1; k < (turns < 80 ? turns : 80); k = int_sum(k, 1)) {  // until the condition fails
        real d_a_weight = k * v * v;
        real weight = k * (a - k) * (v * v);
        real factor = b + int_product(2, k) * v;
        real d_a_next_above = factor * d_a_above - v * above + (above_before * d_a_weight + weight * d_a_above_before);
        real next_above = factor * above + weight * above_before;
        real d_a_next_below = factor * d_a_below - v * below + (below_before * d_a_weight + weight * d_a_below_before);
        real next_below = factor * below + weight * below_before;
        d_a_above_before = d_a_above;
        above_before = above;
        d_a_below_before = d_a_below;
        below_before = below;
        d_a_above = d_a_next_above;
        above = next_above;
        d_a_below = d_a_next_below;
        below = next_below;
    }
    real t3 = above / below;
    return make_special_gamma_fraction_grad_a_results(a * v * t3, v * t3 + a * v * ((d_a_above - t3 * d_a_below) * (1 / below)));
}

DEVICE special_log_gamma_tail_grad_a_results special_log_gamma_tail_grad_a(real a, real x)
{
    if ((a < 1 || a > 20) && THREAD < 65536) {
        if (a < 1 && x < 1.5 && THREAD < 65536) {
            special_log_gamma_p_near_zero_grad_a_results call = special_log_gamma_p_near_zero_grad_a(a, x);
            return make_special_log_gamma_tail_grad_a_results(call.value, call.d_a);
        }
        if (a > 20 && fabs(x - a) < 0.33 * (x + a)) {
            special_log_gamma_tail_uniform_grad_a_results call2 = special_log_gamma_tail_uniform_grad_a(a, x);
            return make_special_log_gamma_tail_grad_a_results(call2.value, call2.d_a);
        }
    }
    special_log_gamma_power_grad_a_results call3 = special_log_gamma_power_grad_a(a, x);
    real either;
    real d_a_either;
    if (x < special_gamma_middle(a) && THREAD < 65536) {
        special_gamma_series_grad_a_results call4 = special_gamma_series_grad_a(a, x);
        either = call4.value;
        d_a_either = call4.d_a;
    } else {
        special_gamma_fraction_grad_a_results call5 = special_gamma_fraction_grad_a(a, x);
        either = call5.value;
        d_a_either = call5.d_a;
    }
    return make_special_log_gamma_tail_grad_a_results(call3.value + log(either), call3.d_a + special_log_slope(either) * d_a_either);
}

DEVICE real special_log_gamma_power(real a, real x)
{
    return a * special_log_ratio_excess(x / a, (x - a) / a) - (0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a));
}

DEVICE real special_log_gamma_tail_grad_x(real a, real x, real value)
{
    real slope = a / x * exp(special_log_gamma_power(a, x) - value);
    return x < special_gamma_middle(a) ? slope : -slope;
}

DEVICE special_log_gamma_tail_grad_a_x_results special_log_gamma_tail_grad_a_x(real a, real x)
{
    special_log_gamma_tail_grad_a_results derived = special_log_gamma_tail_grad_a(a, x);
    return make_special_log_gamma_tail_grad_a_x_results(derived.value, derived.d_a, special_log_gamma_tail_grad_x(a, x, derived.value));
}

DEVICE special_log_gamma_q_grad_a_x_results special_log_gamma_q_grad_a_x(real a, real x)
{
    special_log_gamma_tail_grad_a_x_results call = special_log_gamma_tail_grad_a_x(a, x);
    real d_a_tail = call.d_a;
    real d_x_tail = call.d_x;
    real tail = call.value;
    real t = tail < -50 ? -exp(tail) : -(1 / expm1(-tail));
    real d_a_value = x < special_gamma_middle(a) ? t * d_a_tail : d_a_tail;
    real d_x_value = x < special_gamma_middle(a) ? t * d_x_tail : d_x_tail;
    special_within_gamma_grad_a_x_value_results call2 = special_within_gamma_grad_a_x_value(a, x, x < special_gamma_middle(a) ? special_log1mexp(tail) : tail, 0, -INFINITY);
    return make_special_log_gamma_q_grad_a_x_results(call2.value, call2.d_a + call2.d_value * d_a_value, call2.d_x + call2.d_value * d_x_value);
}

DEVICE special_log_gamma_p_grad_a_x_results special_log_gamma_p_grad_a_x(real a, real x)
{
    special_log_gamma_tail_grad_a_x_results call = special_log_gamma_tail_grad_a_x(a, x);
    real d_a_tail = call.d_a;
    real d_x_tail = call.d_x;
    real tail = call.value;
    real t = tail < -50 ? -exp(tail) : -(1 / expm1(-tail));
    real d_a_value = x < special_gamma_middle(a) ? d_a_tail : t * d_a_tail;
    real d_x_value = x < special_gamma_middle(a) ? d_x_tail : t * d_x_tail;
    special_within_gamma_grad_a_x_value_results call2 = special_within_gamma_grad_a_x_value(a, x, x < special_gamma_middle(a) ? tail : special_log1mexp(tail), -INFINITY, 0);
    return make_special_log_gamma_p_grad_a_x_results(call2.value, call2.d_a + call2.d_value * d_a_value, call2.d_x + call2.d_value * d_x_value);
}

DEVICE special_log_gamma_p_of_power_grad_a_y_log_y_results special_log_gamma_p_of_power_grad_a_y_log_y(real a, real y, real log_y)
{
    real either;
    real d_a_either;
    real d_y_either;
    real d_log_y_either;
    if (y < EPSILON && THREAD < 65536) {
        either = a * log_y - special_log_gamma_1p(a);
        d_a_either = log_y - special_digamma(1 + a);
        d_y_either = 0;
        d_log_y_either = a;
    } else {
        special_log_gamma_p_grad_a_x_results call = special_log_gamma_p_grad_a_x(a, y);
        either = call.value;
        d_a_either = call.d_a;
        d_y_either = call.d_x;
        d_log_y_either = 0;
    }
    return make_special_log_gamma_p_of_power_grad_a_y_log_y_results(either, d_a_either, d_y_either, d_log_y_either);
}

LARGE studentized_range_log_term_grad_v_k_nu_results studentized_range_log_term_grad_v_k_nu(int what, real v, real q, real k, real nu)
{
    real a = 0.5 * nu;
    real t = q * exp(v);
    studentized_range_log_range_grad_r_k_results call = studentized_range_log_range_grad_r_k(0, t, k);
    real d_v_value = call.d_r * t + 1;
    real d_k_value = call.d_k;
    real value = call.value + v;
    if (what == 0) {
        special_expm1_excess_grad_x_results call2 = special_expm1_excess_grad_x(-2 * v);
        return make_studentized_range_log_term_grad_v_k_nu_results(value - a * call2.value, d_v_value + 2 * call2.d_x * a, d_k_value, -(call2.value * 0.5));
    }
    real either;
    real d_v_either;
    real d_nu_either;
    if (what == 1 && THREAD < 65536) {
        real t2 = exp(2 * v);
        real d_v_x = a * (t2 * 2);
        real d_nu_x = t2 * 0.5;
        special_log_gamma_q_grad_a_x_results call3 = special_log_gamma_q_grad_a_x(a, a * t2);
        either = call3.value;
        d_v_either = call3.d_x * d_v_x;
        d_nu_either = call3.d_a * 0.5 + call3.d_x * d_nu_x;
    } else {
        real t3 = exp(2 * v);
        real d_v_y = a * (t3 * 2);
        real d_nu_y = t3 * 0.5;
        real d_nu_log_y = special_log_slope(a) * 0.5;
        special_log_gamma_p_of_power_grad_a_y_log_y_results call4 = special_log_gamma_p_of_power_grad_a_y_log_y(a, a * t3, log(a) + 2 * v);
        either = call4.value;
        d_v_either = call4.d_y * d_v_y + call4.d_log_y * 2;
        d_nu_either = call4.d_a * 0.5 + call4.d_y * d_nu_y + call4.d_log_y * d_nu_log_y;
    }
    return make_studentized_range_log_term_grad_v_k_nu_results(value + either, d_v_value + d_v_either, d_k_value, d_nu_either);
}

DEVICE studentized_range_step_of_grad_curvature_k_results studentized_range_step_of_grad_curvature_k(real curvature, real k)
{
    studentized_range_rate_of_largest_grad_k_results call = studentized_range_rate_of_largest_grad_k(k);
    real t = sqrt(curvature + 24);
    real t2 = 2 * t;
    real t3 = sqrt(2 * log(k));
    real t4 = t3 * call.value;
    real d_curvature_rate = t2 > t4 || t4 != t4 ? 2 * (0.5 / t) : 0;
    real d_k_rate = t2 > t4 || t4 != t4 ? 0 : call.value * (0.5 / t3 * (2 * special_log_slope(k))) + t3 * call.d_k;
    real rate = fmax(t2, t4);
    return make_studentized_range_step_of_grad_curvature_k_results(special_panel_width(3 * (EPSILON < 1e-10 ? 1 : 0.75) * rate, 1), 0, 0);
}

DEVICE studentized_range_log_mean_grad_k_nu_results studentized_range_log_mean_grad_k_nu(real what, real q, real k, real nu)
{
    int what_2 = to_int(what);
    real t = sqrt(2 * nu);
    real t2 = q / t;
    real d_k_at = 0;
    real d_nu_at = t2 * (0.5 / t * 2) * (1 / t) * ((fabs(t2) > 1 / EPSILON ? 2 : 2 * t2) / (fabs(t2) > 1 / EPSILON ? t2 : 1 + t2 * t2)) * 0.5;
    real at = -0.5 * special_log1p_square(t2);
    real d_k_sum = 0;
    real d_nu_sum = 0;
    real sum = 0;
    if (what_2 == 1) {
        real d_k_low = 0;
        real d_nu_low = 0;
        real low = 0;
        real t3 = k / nu;
        real t4 = 1 / (1 + t3);
        real t5 = 1 / nu;
        real d_k_high = 0.5 * (t4 * t5);
        real d_nu_high = -(t3 * t5 * t4 * 0.5);
        real high = 0.5 * log1p(t3);
        for (int i = 0; i < 30; i++) {
            d_k_at = 0.5 * (d_k_low + d_k_high);
            d_nu_at = 0.5 * (d_nu_low + d_nu_high);
            at = 0.5 * (low + high);
            int rises = (k - 1) * studentized_range_central_slope(q * exp(at)) > nu * expm1(2 * at);
            d_k_low = rises ? d_k_at : d_k_low;
            d_nu_low = rises ? d_nu_at : d_nu_low;
            low = rises ? at : low;
            d_k_high = rises ? d_k_high : d_k_at;
            d_nu_high = rises ? d_nu_high : d_nu_at;
            high = rises ? high : at;
        }
    }
    real t6 = exp(at);
    real d_k_r = q * (t6 * d_k_at);
    real d_nu_r = q * (t6 * d_nu_at);
    real r = q * t6;
    studentized_range_log_range_grad_r_k_results call = studentized_range_log_range_grad_r_k(what_2, r, k);
    real d_k_x = -(2 * d_k_at);
    real d_nu_x = -(2 * d_nu_at);
    special_expm1_excess_grad_x_results call2 = special_expm1_excess_grad_x(-2 * at);
    real d_k_center = call.d_r * d_k_r + call.d_k - 0.5 * nu * (call2.d_x * d_k_x);
    real d_nu_center = call.d_r * d_nu_r - (0.5 * call2.value + 0.5 * nu * (call2.d_x * d_nu_x));
    real center = call.value - 0.5 * nu * call2.value;
    real either;
    real d_k_either;
    real d_nu_either;
    if (what_2 == 1) {
        studentized_range_central_slope_grad_r_results call4 = studentized_range_central_slope_grad_r(r);
        real t7 = 1 + 0.25 * r * r;
        real t8 = (k - 1) * t7;
        either = (k - 1) * call4.value * t7;
        d_k_either = call4.value * t7 + t8 * (call4.d_r * d_k_r) + (k - 1) * call4.value * (0.5 * r * d_k_r);
        d_nu_either = t8 * (call4.d_r * d_nu_r) + (k - 1) * call4.value * (0.5 * r * d_nu_r);
    } else {
        either = r * r;
        d_k_either = 2 * r * d_k_r;
        d_nu_either = 2 * r * d_nu_r;
    }
    real t9 = exp(2 * at);
    real d_k_curvature = 2 * nu * (t9 * (2 * d_k_at)) + d_k_either;
    real d_nu_curvature = 2 * t9 + 2 * nu * (t9 * (2 * d_nu_at)) + d_nu_either;
    studentized_range_step_of_grad_curvature_k_results call3 = studentized_range_step_of_grad_curvature_k(2 * nu * t9 + either, k);
    real d_k_step = call3.d_curvature * d_k_curvature + call3.d_k;
    real d_nu_step = call3.d_curvature * d_nu_curvature;
    real step = call3.value;
    for (int side = -1; side < 2; side += 2) {
        real d_k_term = 0;
        real d_nu_term = 0;
        real term = 1;
        for (int i_2 = 0; i_2 < 2000 && (term > 0.01 * EPSILON * sum || i_2 < 2) && THREAD < 65536; i_2++) {
            real d_k_v = d_k_at + (side < 0 ? int_difference(0, i_2) : int_sum(i_2, 1)) * d_k_step;
            real d_nu_v = d_nu_at + (side < 0 ? int_difference(0, i_2) : int_sum(i_2, 1)) * d_nu_step;
            real v = at + (side < 0 ? int_difference(0, i_2) : int_sum(i_2, 1)) * step;
            real t10 = exp(v);
            real d_k_r2 = q * (t10 * d_k_v);
            real d_nu_r2 = q * (t10 * d_nu_v);
            studentized_range_log_range_grad_r_k_results call5 = studentized_range_log_range_grad_r_k(what_2, q * t10, k);
            real d_k_x2 = -(2 * d_k_v);
            real d_nu_x2 = -(2 * d_nu_v);
            special_expm1_excess_grad_x_results call6 = special_expm1_excess_grad_x(-2 * v);
            real t11 = exp(call5.value - 0.5 * nu * call6.value - center);
            d_k_term = t11 * (call5.d_r * d_k_r2 + call5.d_k - 0.5 * nu * (call6.d_x * d_k_x2) - d_k_center);
            d_nu_term = t11 * (call5.d_r * d_nu_r2 - (0.5 * call6.value + 0.5 * nu * (call6.d_x * d_nu_x2)) - d_nu_center);
            term = t11;
            d_k_sum += d_k_term;
            d_nu_sum += d_nu_term;
            sum += term;
        }
    }
    real t12 = special_log_slope(step * sum);
    return make_studentized_range_log_mean_grad_k_nu_results(center + log(step * sum), d_k_center + t12 * (sum * d_k_step + step * d_k_sum), d_nu_center + t12 * (sum * d_nu_step + step * d_nu_sum));
}

DEVICE studentized_range_peak_grad_k_nu_results studentized_range_peak_grad_k_nu(int what, real q, real k, real nu)
{
    real t = sqrt(2 * nu);
    real t2 = q / t;
    real d_k_low = 0;
    real d_nu_low = t2 * (0.5 / t * 2) * (1 / t) * ((fabs(t2) > 1 / EPSILON ? 2 : 2 * t2) / (fabs(t2) > 1 / EPSILON ? t2 : 1 + t2 * t2)) * 0.5;
    real low = -0.5 * special_log1p_square(t2);
    real t3 = k / nu;
    real t4 = 1 / (1 + t3);
    real t5 = 1 / nu;
    real d_k_high = 0.5 * (t4 * t5);
    real d_nu_high = -(t3 * t5 * t4 * 0.5);
    real high = 0.5 * log1p(t3);
    if (what == 1) {
        real t6 = 2 * fmin(k - 1, (real)1);
        real t7 = 0.5 * log(t6) - log(q);
        d_k_low = (real)0 <= t7 || t7 != t7 ? 0 : 0.5 * (k - 1 <= (real)1 || (real)1 != (real)1 ? 2 * special_log_slope(t6) : 0);
        d_nu_low = 0;
        low = fmin((real)0, t7);
    }
    if (what == 2) {
        real t8 = 0.5 * log(2 * k) - log(q);
        d_k_high = (real)0 > t8 || t8 != t8 ? 0 : 0.5 * (special_log_slope(2 * k) * 2);
        d_nu_high = 0;
        high = fmax((real)0, t8);
    }
    for (int i = 0; i < 30; i++) {
        real d_k_v = 0.5 * (d_k_low + d_k_high);
        real d_nu_v = 0.5 * (d_nu_low + d_nu_high);
        real v = 0.5 * (low + high);
        real t9 = exp(v);
        real d_k_r = q * (t9 * d_k_v);
        real d_nu_r = q * (t9 * d_nu_v);
        real r = q * t9;
        real t10 = exp(2 * v);
        real t11 = expm1(2 * v);
        real d_k_slope = -(nu * (t10 * (2 * d_k_v)));
        real d_nu_slope = -t11 - nu * (t10 * (2 * d_nu_v));
        real slope = -nu * t11;
        d_k_slope = what == 1 ? (slope <= (real)0 || (real)0 != (real)0 ? d_k_slope : 0) : what == 2 ? (slope > (real)0 || (real)0 != (real)0 ? d_k_slope : 0) : d_k_slope;
        d_nu_slope = what == 1 ? (slope <= (real)0 || (real)0 != (real)0 ? d_nu_slope : 0) : what == 2 ? (slope > (real)0 || (real)0 != (real)0 ? d_nu_slope : 0) : d_nu_slope;
        slope = what == 1 ? fmin(slope, (real)0) : what == 2 ? fmax(slope, (real)0) : slope;
        int rises = slope + 1 + (k - 2) * studentized_range_central_slope(r) - 0.5 * r * r > 0;
        d_k_low = rises ? d_k_v : d_k_low;
        d_nu_low = rises ? d_nu_v : d_nu_low;
        low = rises ? v : low;
        d_k_high = rises ? d_k_high : d_k_v;
        d_nu_high = rises ? d_nu_high : d_nu_v;
        high = rises ? high : v;
    }
    return make_studentized_range_peak_grad_k_nu_results(0.5 * (low + high), 0.5 * (d_k_low + d_k_high), 0.5 * (d_nu_low + d_nu_high));
}

DEVICE studentized_range_log_sum_grad_k_nu_results studentized_range_log_sum_grad_k_nu(int what, real q, real k, real nu)
{
    studentized_range_peak_grad_k_nu_results call = studentized_range_peak_grad_k_nu(what, q, k, nu);
    real d_k_at = call.d_k;
    real d_nu_at = call.d_nu;
    real at = call.value;
    real t = exp(at);
    real d_k_r = q * (t * d_k_at);
    real d_nu_r = q * (t * d_nu_at);
    real r = q * t;
    real t2 = exp(2 * at);
    real d_k_square = t2 * (2 * d_k_at);
    real d_nu_square = t2 * (2 * d_nu_at);
    real square = t2;
    studentized_range_log_term_grad_v_k_nu_results call2 = studentized_range_log_term_grad_v_k_nu(what, at, q, k, nu);
    real d_k_center = call2.d_v * d_k_at + call2.d_k;
    real d_nu_center = call2.d_v * d_nu_at + call2.d_nu;
    real center = call2.value;
    real d_k_sum = 0;
    real d_nu_sum = 0;
    real sum = 0;
    real t3 = 0.1 / (1 + 2 * r);
    real t4 = 1 / (1 + 2 * r);
    real d_k_wide = -(t3 * (2 * d_k_r) * t4);
    real d_nu_wide = -(t3 * (2 * d_nu_r) * t4);
    real wide = t3;
    studentized_range_central_slope_grad_r_results call4 = studentized_range_central_slope_grad_r(r);
    real t5 = what == 2 ? fmin(square, (real)1) : square;
    real t6 = fabs(k - 2);
    real t7 = t6 * call4.value;
    real t8 = 1 + 0.25 * r * r;
    real t9 = t6 * t8;
    real d_k_curvature = 2 * nu * (what == 2 ? (square <= (real)1 || (real)1 != (real)1 ? d_k_square : 0) : d_k_square) + 2 * r * d_k_r + (call4.value * t8 * (k - 2 > 0 ? 1 : k - 2 < 0 ? -1 : 0) + t9 * (call4.d_r * d_k_r) + t7 * (0.5 * r * d_k_r));
    real d_nu_curvature = 2 * t5 + 2 * nu * (what == 2 ? (square <= (real)1 || (real)1 != (real)1 ? d_nu_square : 0) : d_nu_square) + 2 * r * d_nu_r + (t9 * (call4.d_r * d_nu_r) + t7 * (0.5 * r * d_nu_r));
    studentized_range_step_of_grad_curvature_k_results call3 = studentized_range_step_of_grad_curvature_k(2 * nu * t5 + r * r + t7 * t8, k);
    real d_k_step = call3.d_curvature * d_k_curvature + call3.d_k;
    real d_nu_step = call3.d_curvature * d_nu_curvature;
    real step = call3.value;
    for (int side = -1; side < 2; side += 2) {
        real d_k_term = 0;
        real d_nu_term = 0;
        real term = 1;
        for (int i = 0; i < 2000 && (term > 0.01 * EPSILON * sum || i < 2) && THREAD < 65536; i++) {
            real d_k_y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * d_k_step;
            real d_nu_y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * d_nu_step;
            real y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * step;
            real t10 = expm1(-y);
            real t11 = exp(-y);
            real d_k_v = d_k_at + (d_k_y - (t10 * d_k_wide - d_k_y * t11 * wide));
            real d_nu_v = d_nu_at + (d_nu_y - (t10 * d_nu_wide - d_nu_y * t11 * wide));
            studentized_range_log_term_grad_v_k_nu_results call5 = studentized_range_log_term_grad_v_k_nu(what, at + (y - wide * t10), q, k, nu);
            real t12 = exp(call5.value - center);
            real t13 = exp(-y);
            real t14 = 1 + wide * t13;
            d_k_term = t12 * (t13 * d_k_wide - d_k_y * t13 * wide) + t14 * (t12 * (call5.d_v * d_k_v + call5.d_k - d_k_center));
            d_nu_term = t12 * (t13 * d_nu_wide - d_nu_y * t13 * wide) + t14 * (t12 * (call5.d_v * d_nu_v + call5.d_nu - d_nu_center));
            term = t14 * t12;
            d_k_sum += d_k_term;
            d_nu_sum += d_nu_term;
            sum += term;
        }
    }
    real t15 = special_log_slope(step * sum);
    return make_studentized_range_log_sum_grad_k_nu_results(center + log(step * sum), d_k_center + t15 * (sum * d_k_step + step * d_k_sum), d_nu_center + t15 * (sum * d_nu_step + step * d_nu_sum));
}

DEVICE studentized_range_log_scale_grad_nu_results studentized_range_log_scale_grad_nu(real nu)
{
    return make_studentized_range_log_scale_grad_nu_results(LOG_2 - HALF_LOG_2PI + 0.5 * log(0.5 * nu) - special_stirling_error(0.5 * nu), 0.5 * (special_log_slope(0.5 * nu) * 0.5) - special_stirling_error_derivative(0.5 * nu) * 0.5);
}

DEVICE real special_trigamma(real x)
{
    real y = x < 3 ? x + 3 : x;
    real v = 1 / y;
    real s = v * v;
    real r = 1 / (x * (1 + x) * (2 + x));
    real p = (1 + x) * (2 + x) * r;
    real q = x * (2 + x) * r;
    real t = x * (1 + x) * r;
    return (x < 3 ? p * p + q * q + t * t : 0) + v * (1 + 0.5 * v + s * (0.1666666666666652747 + s * (-0.03333333332971114831 + s * (0.02380952222484256939 + s * (-0.0333330571350264598 + s * (0.07573217651759593543 + s * (-0.2516954519098532171 + s * (1.114307552804741357 + s * (-5.731076524516213901 + s * (28.51955071846083844 + s * (-113.8134442916632983 + s * (299.6406313334971875 + s * -374.8953647533587819))))))))))));
}

DEVICE special_log_rising_grad_x_results special_log_rising_grad_x(real x, real n)
{
    if (n > 0.5 * (1 + x)) {
        return make_special_log_rising_grad_x_results(special_log_gamma(x + n) - special_log_gamma(x), special_digamma(x + n) - special_digamma(x));
    }
    real d_x_sum = 0;
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real t = special_legendre_weight(k);
        real t2 = 1 + x + 0.5 * n * (1 + special_legendre_node(k));
        d_x_sum += t * special_trigamma(t2);
        sum += t * special_digamma(t2);
    }
    real t3 = n / x;
    return make_special_log_rising_grad_x_results(0.5 * n * sum - log1p(t3), 0.5 * n * d_x_sum + t3 * (1 / x) * (1 / (1 + t3)));
}

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

// studentized_range_central_slope: what depends on both, from what was computed ahead.
DEVICE real studentized_range_central_slope_m_evaluate(real r)
{
    return r > 0 ? r * exp(-0.125 * r * r) / (SQRT_2 * SQRT_PI * erf(r / (2 * SQRT_2))) : 1;
}

// studentized_range_log_between: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real u;
} studentized_range_log_between_sm_set;

DEVICE studentized_range_log_between_sm_set studentized_range_log_between_sm_prepare_set(real u)
{
    studentized_range_log_between_sm_set set;
    set.u = u;
    return set;
}

// studentized_range_log_between: what depends on both, from what was computed ahead.
DEVICE real studentized_range_log_between_sm_evaluate(studentized_range_log_between_sm_set set, real r)
{
    real half_ = 0.5 * r;
    real beyond = 0.5 * (erfc((half_ - set.u) / SQRT_2) + erfc((half_ + set.u) / SQRT_2));
    real near = fmax(set.u - half_, (real)0);
    return beyond < 0.5 ? log1p(-beyond) : log(special_normal_integral(set.u - half_, set.u + half_, r)) - (0.5 * near * near + HALF_LOG_2PI);
}

// studentized_range_log_between_grad_u: what depends on the observation alone, computed once for each.
typedef struct {
    real t2;
    real t3;
} studentized_range_log_between_grad_u_mm_row;

DEVICE studentized_range_log_between_grad_u_mm_row studentized_range_log_between_grad_u_mm_prepare_row()
{
    studentized_range_log_between_grad_u_mm_row row;
    real t2 = 1 / SQRT_2;
    real t3 = 2 / SQRT_PI;
    row.t2 = t2;
    row.t3 = t3;
    return row;
}

// studentized_range_log_between_grad_u: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_between_grad_u_results studentized_range_log_between_grad_u_mm_evaluate(studentized_range_log_between_grad_u_mm_row row, real u, real r)
{
    real half_ = 0.5 * r;
    real t = (half_ - u) / SQRT_2;
    real t4 = (half_ + u) / SQRT_2;
    real d_u_beyond = 0.5 * ((isinf(t) ? 0 : row.t2 * (row.t3 * exp(-(t * t)))) + (isinf(t4) ? 0 : -(row.t3 * exp(-(t4 * t4)) * row.t2)));
    real beyond = 0.5 * (erfc(t) + erfc(t4));
    real d_u_near = u - half_ > (real)0 || (real)0 != (real)0 ? 1 : 0;
    real near = fmax(u - half_, (real)0);
    real either;
    real d_u_either;
    if (beyond < 0.5) {
        either = log1p(-beyond);
        d_u_either = -(d_u_beyond * (1 / (1 - beyond)));
    } else {
        special_normal_integral_grad_a_b_results call = special_normal_integral_grad_a_b(u - half_, u + half_, r);
        either = log(call.value) - (0.5 * near * near + HALF_LOG_2PI);
        d_u_either = special_log_slope(call.value) * (call.d_a + call.d_b) - near * d_u_near;
    }
    return make_studentized_range_log_between_grad_u_results(either, d_u_either);
}

// studentized_range_log_above_grad_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real u;
    real c0;
    real c1;
    studentized_range_log_between_sm_set studentized_range_0;
    real c2;
    real c3;
} studentized_range_log_above_grad_k_sms_set;

DEVICE studentized_range_log_above_grad_k_sms_set studentized_range_log_above_grad_k_sms_prepare_set(real u, real k)
{
    studentized_range_log_above_grad_k_sms_set set;
    set.u = u;
    set.c0 = special_log_slope(k - 1);
    set.c1 = log(k - 1);
    set.studentized_range_0 = studentized_range_log_between_sm_prepare_set(fabs(u));
    set.c2 = k - 1;
    set.c3 = log(k);
    return set;
}

// studentized_range_log_above_grad_k: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_above_grad_k_results studentized_range_log_above_grad_k_sms_evaluate(studentized_range_log_above_grad_k_sms_set set, real r)
{
    real below = special_log_ndtr(0.5 * r - set.u);
    real log_share = fmin(special_log_ndtr(-0.5 * r - set.u) - below, (real)0);
    real d = set.u - 0.5 * r;
    real value;
    real d_k_value;
    if (log_share + set.c3 < 2 * log(EPSILON)) {
        d_k_value = set.c0;
        value = log_share + set.c1;
    } else {
        real t = log_share < -LOG_2 ? log1p(-exp(log_share)) : studentized_range_log_between_sm_evaluate(set.studentized_range_0, r) - below;
        real t2 = set.c2 * t;
        d_k_value = (t2 < -50 ? -exp(t2) : -(1 / expm1(-t2))) * t;
        value = special_log1mexp(t2);
    }
    return make_studentized_range_log_above_grad_k_results(set.c2 * below + value - 0.5 * d * d, below + d_k_value);
}

// studentized_range_log_above_grad_u_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real c2;
    real c3;
} studentized_range_log_above_grad_u_k_mms_set;

DEVICE studentized_range_log_above_grad_u_k_mms_set studentized_range_log_above_grad_u_k_mms_prepare_set(real k)
{
    studentized_range_log_above_grad_u_k_mms_set set;
    set.c0 = special_log_slope(k - 1);
    set.c1 = log(k - 1);
    set.c2 = k - 1;
    set.c3 = log(k);
    return set;
}

// studentized_range_log_above_grad_u_k: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_between_grad_u_mm_row studentized_range_0;
} studentized_range_log_above_grad_u_k_mms_row;

DEVICE studentized_range_log_above_grad_u_k_mms_row studentized_range_log_above_grad_u_k_mms_prepare_row()
{
    studentized_range_log_above_grad_u_k_mms_row row;
    row.studentized_range_0 = studentized_range_log_between_grad_u_mm_prepare_row();
    return row;
}

// studentized_range_log_above_grad_u_k: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_above_grad_u_k_results studentized_range_log_above_grad_u_k_mms_evaluate(studentized_range_log_above_grad_u_k_mms_set set, studentized_range_log_above_grad_u_k_mms_row row, real u, real r)
{
    real d_u_below = 0.5 * r - u == INFINITY ? 0 : -special_inverse_mills(0.5 * r - u);
    real below = special_log_ndtr(0.5 * r - u);
    real t = special_log_ndtr(-0.5 * r - u) - below;
    real d_u_log_share = t <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - u == INFINITY ? 0 : -special_inverse_mills(-0.5 * r - u)) - d_u_below : 0;
    real log_share = fmin(t, (real)0);
    real d = u - 0.5 * r;
    real value;
    real d_u_value;
    real d_k_value;
    if (log_share + set.c3 < 2 * log(EPSILON)) {
        d_u_value = d_u_log_share;
        d_k_value = set.c0;
        value = log_share + set.c1;
    } else {
        real either;
        real d_u_either;
        if (log_share < -LOG_2) {
            real t2 = exp(log_share);
            either = log1p(-t2);
            d_u_either = -(t2 * d_u_log_share * (1 / (1 - t2)));
        } else {
            real d_u_u = u > 0 ? 1 : u < 0 ? -1 : 0;
            studentized_range_log_between_grad_u_results call = studentized_range_log_between_grad_u_mm_evaluate(row.studentized_range_0, fabs(u), r);
            either = call.value - below;
            d_u_either = call.d_u * d_u_u - d_u_below;
        }
        real t3 = set.c2 * either < -50 ? -exp(set.c2 * either) : -(1 / expm1(-(set.c2 * either)));
        d_u_value = t3 * (set.c2 * d_u_either);
        d_k_value = t3 * either;
        value = special_log1mexp(set.c2 * either);
    }
    return make_studentized_range_log_above_grad_u_k_results(set.c2 * below + value - 0.5 * d * d, set.c2 * d_u_below + d_u_value - d, below + d_k_value);
}

// studentized_range_is_low: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    studentized_range_log_between_sm_set studentized_range_0;
} studentized_range_is_low_ms_set;

DEVICE studentized_range_is_low_ms_set studentized_range_is_low_ms_prepare_set(real k)
{
    studentized_range_is_low_ms_set set;
    set.c0 = k - 1;
    set.c1 = log(k);
    set.studentized_range_0 = studentized_range_log_between_sm_prepare_set(0);
    return set;
}

// studentized_range_is_low: what depends on both, from what was computed ahead.
DEVICE int studentized_range_is_low_ms_evaluate(studentized_range_is_low_ms_set set, real r)
{
    real variance = 1 + set.c0 * studentized_range_central_slope_m_evaluate(r) - 0.25 * r * r;
    return variance > 0 && set.c1 + set.c0 * studentized_range_log_between_sm_evaluate(set.studentized_range_0, r) - 0.125 * r * r - 0.5 * log(variance) < -LOG_2;
}

// studentized_range_log_range_grad_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    studentized_range_log_range_grad_k_results c0;
    real c1;
    int c2;
    real c3;
    studentized_range_log_between_sm_set studentized_range_0;
    real c4;
    real c5;
    real c6;
    int c7;
    real c8;
    studentized_range_log_above_grad_k_sms_set studentized_range_1;
    studentized_range_log_above_grad_u_k_mms_set studentized_range_2;
    studentized_range_is_low_ms_set studentized_range_is_low_0;
    real c9;
    real c10;
    int c11;
} studentized_range_log_range_grad_k_sms_set;

DEVICE studentized_range_log_range_grad_k_sms_set studentized_range_log_range_grad_k_sms_prepare_set(int what, real k)
{
    studentized_range_log_range_grad_k_sms_set set;
    studentized_range_rate_of_largest_grad_k_results call = studentized_range_rate_of_largest_grad_k(k);
    set.c0 = make_studentized_range_log_range_grad_k_results(what == 2 ? 0 : -INFINITY, 0);
    set.c1 = fabs(k - 2);
    set.c2 = k - 2 > 0 ? 1 : k - 2 < 0 ? -1 : 0;
    set.c3 = (EPSILON < 1e-10 ? 1 : 0.75) * call.value;
    set.studentized_range_0 = studentized_range_log_between_sm_prepare_set(0);
    set.c4 = k - 2;
    set.c5 = log(k) + log(k - 1) - LOG_2PI;
    set.c6 = special_log_slope(k) + special_log_slope(k - 1);
    set.c7 = what == 0;
    set.c8 = k - 1;
    set.studentized_range_1 = studentized_range_log_above_grad_k_sms_prepare_set(0, k);
    set.studentized_range_2 = studentized_range_log_above_grad_u_k_mms_prepare_set(k);
    set.studentized_range_is_low_0 = studentized_range_is_low_ms_prepare_set(k);
    set.c9 = special_log_slope(k);
    set.c10 = log(k) - HALF_LOG_2PI;
    set.c11 = what == 1;
    return set;
}

// studentized_range_log_range_grad_k: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_between_grad_u_mm_row studentized_range_0;
    studentized_range_log_between_grad_u_mm_row studentized_range_1;
    studentized_range_log_above_grad_u_k_mms_row studentized_range_2;
} studentized_range_log_range_grad_k_sms_row;

DEVICE studentized_range_log_range_grad_k_sms_row studentized_range_log_range_grad_k_sms_prepare_row()
{
    studentized_range_log_range_grad_k_sms_row row;
    row.studentized_range_0 = studentized_range_log_between_grad_u_mm_prepare_row();
    row.studentized_range_1 = studentized_range_log_between_grad_u_mm_prepare_row();
    row.studentized_range_2 = studentized_range_log_above_grad_u_k_mms_prepare_row();
    return row;
}

// studentized_range_log_range_grad_k: what depends on both, from what was computed ahead.
LARGE studentized_range_log_range_grad_k_results studentized_range_log_range_grad_k_sms_evaluate(studentized_range_log_range_grad_k_sms_set set, studentized_range_log_range_grad_k_sms_row row, real r)
{
    if (r < ldexp((real)1, EPSILON < 1e-10 ? -1015 : -120)) {
        return set.c0;
    }
    real t = studentized_range_central_slope_m_evaluate(r);
    real t2 = sqrt(2 + set.c1 * t);
    real t3 = (EPSILON < 1e-10 ? 0.6 : 0.8) / t2;
    real d_k_spread = -(t3 * (0.5 / t2 * (t * set.c2)) * (1 / t2));
    real spread = t3;
    real step = special_panel_width(3 * fmax(1 / spread, set.c3), 1);
    real d_k_sum = 0;
    real sum = 1;
    if (set.c7) {
        real center = studentized_range_log_between_sm_evaluate(set.studentized_range_0, r);
        real d_k_term = 0;
        real term = 1;
        for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real u = i * step;
            studentized_range_log_between_grad_u_results call2 = studentized_range_log_between_grad_u_mm_evaluate(row.studentized_range_0, u, r);
            real t4 = exp(set.c4 * (call2.value - center) - u * u);
            d_k_term = 2 * (t4 * (call2.value - center));
            term = 2 * t4;
            d_k_sum += d_k_term;
            sum += term;
        }
        return make_studentized_range_log_range_grad_k_results(set.c5 + set.c4 * center - 0.25 * r * r + log(step * sum), set.c6 + center + special_log_slope(step * sum) * (step * d_k_sum));
    }
    real center_2;
    real d_k_center_2;
    real term_2;
    real d_k_term_2;
    if (studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r)) {
        real t5 = studentized_range_log_between_sm_evaluate(set.studentized_range_0, r);
        d_k_center_2 = t5;
        center_2 = set.c8 * t5 - 0.125 * r * r;
        d_k_term_2 = 0;
        term_2 = 1;
        for (int i_3 = 1; i_3 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_3++) {
            real u_2 = i_3 * step;
            real d = u_2 - 0.5 * r;
            studentized_range_log_between_grad_u_results call3 = studentized_range_log_between_grad_u_mm_evaluate(row.studentized_range_1, u_2, r);
            real t6 = 1 + exp(-u_2 * r);
            real t7 = exp(set.c8 * call3.value - 0.5 * d * d - center_2);
            d_k_term_2 = t6 * (t7 * (call3.value - d_k_center_2));
            term_2 = t6 * t7;
            d_k_sum += d_k_term_2;
            sum += term_2;
        }
    } else {
        studentized_range_log_above_grad_k_results call4 = studentized_range_log_above_grad_k_sms_evaluate(set.studentized_range_1, r);
        d_k_center_2 = call4.d_k;
        center_2 = call4.value;
        for (int side = -1; side < 2; side += 2) {
            d_k_term_2 = 0;
            term_2 = 1;
            for (int i_2 = 1; i_2 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
                studentized_range_log_above_grad_u_k_results call5 = studentized_range_log_above_grad_u_k_mms_evaluate(set.studentized_range_2, row.studentized_range_2, int_product(side, i_2) * step, r);
                real t8 = exp(call5.value - center_2);
                d_k_term_2 = t8 * (call5.d_k - d_k_center_2);
                term_2 = t8;
                d_k_sum += d_k_term_2;
                sum += term_2;
            }
        }
    }
    real d_k_value = set.c9 + d_k_center_2 + special_log_slope(step * sum) * (step * d_k_sum);
    real value = set.c10 + center_2 + log(step * sum);
    return make_studentized_range_log_range_grad_k_results(studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r) == set.c11 ? value : special_log1mexp(value), studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r) == set.c11 ? d_k_value : (value < -50 ? -exp(value) : -(1 / expm1(-value))) * d_k_value);
}

// studentized_range_peak_grad_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real t;
    real c0;
    real c1;
    real c2;
    real c3;
    real c4;
    real c5;
    real c6;
    int c7;
    real c8;
    real c9;
    int c10;
    real nu;
    real c11;
} studentized_range_peak_grad_k_nu_smss_set;

DEVICE studentized_range_peak_grad_k_nu_smss_set studentized_range_peak_grad_k_nu_smss_prepare_set(int what, real k, real nu)
{
    studentized_range_peak_grad_k_nu_smss_set set;
    real t = sqrt(2 * nu);
    real t3 = k / nu;
    real t4 = 1 / (1 + t3);
    real t5 = 1 / nu;
    set.t = t;
    set.c0 = 0.5 / t * 2;
    set.c1 = 1 / t;
    set.c2 = 0.5 * (t4 * t5);
    set.c3 = -(t3 * t5 * t4 * 0.5);
    set.c4 = 0.5 * log1p(t3);
    real t6 = 2 * fmin(k - 1, (real)1);
    set.c5 = 0.5 * log(t6);
    set.c6 = 0.5 * (k - 1 <= (real)1 || (real)1 != (real)1 ? 2 * special_log_slope(t6) : 0);
    set.c7 = what == 1;
    set.c8 = 0.5 * log(2 * k);
    set.c9 = 0.5 * (special_log_slope(2 * k) * 2);
    set.c10 = what == 2;
    set.nu = nu;
    set.c11 = k - 2;
    return set;
}

// studentized_range_peak_grad_k_nu: what depends on both, from what was computed ahead.
DEVICE studentized_range_peak_grad_k_nu_results studentized_range_peak_grad_k_nu_smss_evaluate(studentized_range_peak_grad_k_nu_smss_set set, real q)
{
    real t2 = q / set.t;
    real d_k_low = 0;
    real d_nu_low = t2 * set.c0 * set.c1 * ((fabs(t2) > 1 / EPSILON ? 2 : 2 * t2) / (fabs(t2) > 1 / EPSILON ? t2 : 1 + t2 * t2)) * 0.5;
    real low = -0.5 * special_log1p_square(t2);
    real d_k_high = set.c2;
    real d_nu_high = set.c3;
    real high = set.c4;
    if (set.c7) {
        real t7 = set.c5 - log(q);
        d_k_low = (real)0 <= t7 || t7 != t7 ? 0 : set.c6;
        d_nu_low = 0;
        low = fmin((real)0, t7);
    }
    if (set.c10) {
        real t8 = set.c8 - log(q);
        d_k_high = (real)0 > t8 || t8 != t8 ? 0 : set.c9;
        d_nu_high = 0;
        high = fmax((real)0, t8);
    }
    for (int i = 0; i < 30; i++) {
        real d_k_v = 0.5 * (d_k_low + d_k_high);
        real d_nu_v = 0.5 * (d_nu_low + d_nu_high);
        real v = 0.5 * (low + high);
        real t9 = exp(v);
        real d_k_r = q * (t9 * d_k_v);
        real d_nu_r = q * (t9 * d_nu_v);
        real r = q * t9;
        real t10 = exp(2 * v);
        real t11 = expm1(2 * v);
        real d_k_slope = -(set.nu * (t10 * (2 * d_k_v)));
        real d_nu_slope = -t11 - set.nu * (t10 * (2 * d_nu_v));
        real slope = -set.nu * t11;
        d_k_slope = set.c7 ? (slope <= (real)0 || (real)0 != (real)0 ? d_k_slope : 0) : set.c10 ? (slope > (real)0 || (real)0 != (real)0 ? d_k_slope : 0) : d_k_slope;
        d_nu_slope = set.c7 ? (slope <= (real)0 || (real)0 != (real)0 ? d_nu_slope : 0) : set.c10 ? (slope > (real)0 || (real)0 != (real)0 ? d_nu_slope : 0) : d_nu_slope;
        slope = set.c7 ? fmin(slope, (real)0) : set.c10 ? fmax(slope, (real)0) : slope;
        int rises = slope + 1 + set.c11 * studentized_range_central_slope_m_evaluate(r) - 0.5 * r * r > 0;
        d_k_low = rises ? d_k_v : d_k_low;
        d_nu_low = rises ? d_nu_v : d_nu_low;
        low = rises ? v : low;
        d_k_high = rises ? d_k_high : d_k_v;
        d_nu_high = rises ? d_nu_high : d_nu_v;
        high = rises ? high : v;
    }
    return make_studentized_range_peak_grad_k_nu_results(0.5 * (low + high), 0.5 * (d_k_low + d_k_high), 0.5 * (d_nu_low + d_nu_high));
}

// studentized_range_central_slope_grad_r: what depends on both, from what was computed ahead.
DEVICE studentized_range_central_slope_grad_r_results studentized_range_central_slope_grad_r_m_evaluate(real r)
{
    real t = exp(-0.125 * r * r);
    real t2 = r / (2 * SQRT_2);
    real t3 = SQRT_2 * SQRT_PI * erf(t2);
    real t4 = r * t / t3;
    return make_studentized_range_central_slope_grad_r_results(r > 0 ? t4 : 1, r > 0 ? (t - 0.125 * 2 * r * t * r - t4 * (SQRT_2 * SQRT_PI * (isinf(t2) ? 0 : 2 / SQRT_PI * exp(-(t2 * t2)) * (1 / (2 * SQRT_2))))) * (1 / t3) : 0);
}

// studentized_range_log_between_grad_r: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real u;
    real t2;
    real t3;
} studentized_range_log_between_grad_r_sm_set;

DEVICE studentized_range_log_between_grad_r_sm_set studentized_range_log_between_grad_r_sm_prepare_set(real u)
{
    studentized_range_log_between_grad_r_sm_set set;
    real t2 = 2 / SQRT_PI;
    real t3 = 0.5 * (1 / SQRT_2);
    set.u = u;
    set.t2 = t2;
    set.t3 = t3;
    return set;
}

// studentized_range_log_between_grad_r: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_between_grad_r_results studentized_range_log_between_grad_r_sm_evaluate(studentized_range_log_between_grad_r_sm_set set, real r)
{
    real half_ = 0.5 * r;
    real t = (half_ - set.u) / SQRT_2;
    real t4 = (half_ + set.u) / SQRT_2;
    real d_r_beyond = 0.5 * ((isinf(t) ? 0 : -(set.t2 * exp(-(t * t)) * set.t3)) + (isinf(t4) ? 0 : -(set.t2 * exp(-(t4 * t4)) * set.t3)));
    real beyond = 0.5 * (erfc(t) + erfc(t4));
    real d_r_near = set.u - half_ > (real)0 || (real)0 != (real)0 ? -0.5 : 0;
    real near = fmax(set.u - half_, (real)0);
    real either;
    real d_r_either;
    if (beyond < 0.5) {
        either = log1p(-beyond);
        d_r_either = -(d_r_beyond * (1 / (1 - beyond)));
    } else {
        special_normal_integral_grad_a_b_width_results call = special_normal_integral_grad_a_b_width(set.u - half_, set.u + half_, r);
        either = log(call.value) - (0.5 * near * near + HALF_LOG_2PI);
        d_r_either = special_log_slope(call.value) * (call.d_b * 0.5 - 0.5 * call.d_a + call.d_width) - near * d_r_near;
    }
    return make_studentized_range_log_between_grad_r_results(either, d_r_either);
}

// studentized_range_log_between_grad_u_r: what depends on the observation alone, computed once for each.
typedef struct {
    real t3;
    real t2;
    real t7;
} studentized_range_log_between_grad_u_r_mm_row;

DEVICE studentized_range_log_between_grad_u_r_mm_row studentized_range_log_between_grad_u_r_mm_prepare_row()
{
    studentized_range_log_between_grad_u_r_mm_row row;
    real t2 = 1 / SQRT_2;
    real t3 = 2 / SQRT_PI;
    real t7 = 0.5 * t2;
    row.t3 = t3;
    row.t2 = t2;
    row.t7 = t7;
    return row;
}

// studentized_range_log_between_grad_u_r: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_between_grad_u_r_results studentized_range_log_between_grad_u_r_mm_evaluate(studentized_range_log_between_grad_u_r_mm_row row, real u, real r)
{
    real half_ = 0.5 * r;
    real t = (half_ - u) / SQRT_2;
    real t4 = row.t3 * exp(-(t * t));
    real t5 = (half_ + u) / SQRT_2;
    real t6 = row.t3 * exp(-(t5 * t5));
    real d_u_beyond = 0.5 * ((isinf(t) ? 0 : row.t2 * t4) + (isinf(t5) ? 0 : -(t6 * row.t2)));
    real d_r_beyond = 0.5 * ((isinf(t) ? 0 : -(t4 * row.t7)) + (isinf(t5) ? 0 : -(t6 * row.t7)));
    real beyond = 0.5 * (erfc(t) + erfc(t5));
    real d_u_near = u - half_ > (real)0 || (real)0 != (real)0 ? 1 : 0;
    real d_r_near = u - half_ > (real)0 || (real)0 != (real)0 ? -0.5 : 0;
    real near = fmax(u - half_, (real)0);
    real either;
    real d_u_either;
    real d_r_either;
    if (beyond < 0.5) {
        real t8 = 1 / (1 - beyond);
        either = log1p(-beyond);
        d_u_either = -(d_u_beyond * t8);
        d_r_either = -(d_r_beyond * t8);
    } else {
        special_normal_integral_grad_a_b_width_results call = special_normal_integral_grad_a_b_width(u - half_, u + half_, r);
        real t9 = special_log_slope(call.value);
        either = log(call.value) - (0.5 * near * near + HALF_LOG_2PI);
        d_u_either = t9 * (call.d_a + call.d_b) - near * d_u_near;
        d_r_either = t9 * (call.d_b * 0.5 - 0.5 * call.d_a + call.d_width) - near * d_r_near;
    }
    return make_studentized_range_log_between_grad_u_r_results(either, d_u_either, d_r_either);
}

// studentized_range_log_above_grad_r_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real u;
    real c0;
    real c1;
    studentized_range_log_between_grad_r_sm_set studentized_range_0;
    real c2;
    real c3;
} studentized_range_log_above_grad_r_k_sms_set;

DEVICE studentized_range_log_above_grad_r_k_sms_set studentized_range_log_above_grad_r_k_sms_prepare_set(real u, real k)
{
    studentized_range_log_above_grad_r_k_sms_set set;
    set.u = u;
    set.c0 = special_log_slope(k - 1);
    set.c1 = log(k - 1);
    set.studentized_range_0 = studentized_range_log_between_grad_r_sm_prepare_set(fabs(u));
    set.c2 = k - 1;
    set.c3 = log(k);
    return set;
}

// studentized_range_log_above_grad_r_k: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_above_grad_r_k_results studentized_range_log_above_grad_r_k_sms_evaluate(studentized_range_log_above_grad_r_k_sms_set set, real r)
{
    real d_r_below = 0.5 * r - set.u == INFINITY ? 0 : special_inverse_mills(0.5 * r - set.u) * 0.5;
    real below = special_log_ndtr(0.5 * r - set.u);
    real t = special_log_ndtr(-0.5 * r - set.u) - below;
    real d_r_log_share = t <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - set.u == INFINITY ? 0 : -(0.5 * special_inverse_mills(-0.5 * r - set.u))) - d_r_below : 0;
    real log_share = fmin(t, (real)0);
    real d = set.u - 0.5 * r;
    real value;
    real d_r_value;
    real d_k_value;
    if (log_share + set.c3 < 2 * log(EPSILON)) {
        d_r_value = d_r_log_share;
        d_k_value = set.c0;
        value = log_share + set.c1;
    } else {
        real either;
        real d_r_either;
        if (log_share < -LOG_2) {
            real t2 = exp(log_share);
            either = log1p(-t2);
            d_r_either = -(t2 * d_r_log_share * (1 / (1 - t2)));
        } else {
            studentized_range_log_between_grad_r_results call = studentized_range_log_between_grad_r_sm_evaluate(set.studentized_range_0, r);
            either = call.value - below;
            d_r_either = call.d_r - d_r_below;
        }
        real t3 = set.c2 * either < -50 ? -exp(set.c2 * either) : -(1 / expm1(-(set.c2 * either)));
        d_r_value = t3 * (set.c2 * d_r_either);
        d_k_value = t3 * either;
        value = special_log1mexp(set.c2 * either);
    }
    return make_studentized_range_log_above_grad_r_k_results(set.c2 * below + value - 0.5 * d * d, set.c2 * d_r_below + d_r_value + 0.5 * d, below + d_k_value);
}

// studentized_range_log_above_grad_u_r_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real c2;
    real c3;
} studentized_range_log_above_grad_u_r_k_mms_set;

DEVICE studentized_range_log_above_grad_u_r_k_mms_set studentized_range_log_above_grad_u_r_k_mms_prepare_set(real k)
{
    studentized_range_log_above_grad_u_r_k_mms_set set;
    set.c0 = special_log_slope(k - 1);
    set.c1 = log(k - 1);
    set.c2 = k - 1;
    set.c3 = log(k);
    return set;
}

// studentized_range_log_above_grad_u_r_k: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_between_grad_u_r_mm_row studentized_range_0;
} studentized_range_log_above_grad_u_r_k_mms_row;

DEVICE studentized_range_log_above_grad_u_r_k_mms_row studentized_range_log_above_grad_u_r_k_mms_prepare_row()
{
    studentized_range_log_above_grad_u_r_k_mms_row row;
    row.studentized_range_0 = studentized_range_log_between_grad_u_r_mm_prepare_row();
    return row;
}

// studentized_range_log_above_grad_u_r_k: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_above_grad_u_r_k_results studentized_range_log_above_grad_u_r_k_mms_evaluate(studentized_range_log_above_grad_u_r_k_mms_set set, studentized_range_log_above_grad_u_r_k_mms_row row, real u, real r)
{
    real t = special_inverse_mills(0.5 * r - u);
    real d_u_below = 0.5 * r - u == INFINITY ? 0 : -t;
    real d_r_below = 0.5 * r - u == INFINITY ? 0 : t * 0.5;
    real below = special_log_ndtr(0.5 * r - u);
    real t2 = special_log_ndtr(-0.5 * r - u) - below;
    real t3 = special_inverse_mills(-0.5 * r - u);
    real d_u_log_share = t2 <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - u == INFINITY ? 0 : -t3) - d_u_below : 0;
    real d_r_log_share = t2 <= (real)0 || (real)0 != (real)0 ? (-0.5 * r - u == INFINITY ? 0 : -(0.5 * t3)) - d_r_below : 0;
    real log_share = fmin(t2, (real)0);
    real d = u - 0.5 * r;
    real value;
    real d_u_value;
    real d_r_value;
    real d_k_value;
    if (log_share + set.c3 < 2 * log(EPSILON)) {
        d_u_value = d_u_log_share;
        d_r_value = d_r_log_share;
        d_k_value = set.c0;
        value = log_share + set.c1;
    } else {
        real either;
        real d_u_either;
        real d_r_either;
        if (log_share < -LOG_2) {
            real t4 = exp(log_share);
            real t5 = 1 / (1 - t4);
            either = log1p(-t4);
            d_u_either = -(t4 * d_u_log_share * t5);
            d_r_either = -(t4 * d_r_log_share * t5);
        } else {
            real d_u_u = u > 0 ? 1 : u < 0 ? -1 : 0;
            studentized_range_log_between_grad_u_r_results call = studentized_range_log_between_grad_u_r_mm_evaluate(row.studentized_range_0, fabs(u), r);
            either = call.value - below;
            d_u_either = call.d_u * d_u_u - d_u_below;
            d_r_either = call.d_r - d_r_below;
        }
        real t6 = set.c2 * either < -50 ? -exp(set.c2 * either) : -(1 / expm1(-(set.c2 * either)));
        d_u_value = t6 * (set.c2 * d_u_either);
        d_r_value = t6 * (set.c2 * d_r_either);
        d_k_value = t6 * either;
        value = special_log1mexp(set.c2 * either);
    }
    return make_studentized_range_log_above_grad_u_r_k_results(set.c2 * below + value - 0.5 * d * d, set.c2 * d_u_below + d_u_value - d, set.c2 * d_r_below + d_r_value + 0.5 * d, below + d_k_value);
}

// studentized_range_log_range_grad_r_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    studentized_range_log_range_grad_r_k_results c0;
    real t;
    int c1;
    real c2;
    studentized_range_log_between_grad_r_sm_set studentized_range_0;
    real c3;
    real c4;
    real c5;
    int c6;
    real c7;
    studentized_range_log_above_grad_r_k_sms_set studentized_range_1;
    studentized_range_log_above_grad_u_r_k_mms_set studentized_range_2;
    studentized_range_is_low_ms_set studentized_range_is_low_0;
    real c8;
    real c9;
    int c10;
} studentized_range_log_range_grad_r_k_sms_set;

DEVICE studentized_range_log_range_grad_r_k_sms_set studentized_range_log_range_grad_r_k_sms_prepare_set(int what, real k)
{
    studentized_range_log_range_grad_r_k_sms_set set;
    real t = fabs(k - 2);
    studentized_range_rate_of_largest_grad_k_results call2 = studentized_range_rate_of_largest_grad_k(k);
    set.c0 = make_studentized_range_log_range_grad_r_k_results(what == 2 ? 0 : -INFINITY, 0, 0);
    set.t = t;
    set.c1 = k - 2 > 0 ? 1 : k - 2 < 0 ? -1 : 0;
    set.c2 = (EPSILON < 1e-10 ? 1 : 0.75) * call2.value;
    set.studentized_range_0 = studentized_range_log_between_grad_r_sm_prepare_set(0);
    set.c3 = k - 2;
    set.c4 = log(k) + log(k - 1) - LOG_2PI;
    set.c5 = special_log_slope(k) + special_log_slope(k - 1);
    set.c6 = what == 0;
    set.c7 = k - 1;
    set.studentized_range_1 = studentized_range_log_above_grad_r_k_sms_prepare_set(0, k);
    set.studentized_range_2 = studentized_range_log_above_grad_u_r_k_mms_prepare_set(k);
    set.studentized_range_is_low_0 = studentized_range_is_low_ms_prepare_set(k);
    set.c8 = special_log_slope(k);
    set.c9 = log(k) - HALF_LOG_2PI;
    set.c10 = what == 1;
    return set;
}

// studentized_range_log_range_grad_r_k: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_between_grad_u_r_mm_row studentized_range_0;
    studentized_range_log_between_grad_u_r_mm_row studentized_range_1;
    studentized_range_log_above_grad_u_r_k_mms_row studentized_range_2;
} studentized_range_log_range_grad_r_k_sms_row;

DEVICE studentized_range_log_range_grad_r_k_sms_row studentized_range_log_range_grad_r_k_sms_prepare_row()
{
    studentized_range_log_range_grad_r_k_sms_row row;
    row.studentized_range_0 = studentized_range_log_between_grad_u_r_mm_prepare_row();
    row.studentized_range_1 = studentized_range_log_between_grad_u_r_mm_prepare_row();
    row.studentized_range_2 = studentized_range_log_above_grad_u_r_k_mms_prepare_row();
    return row;
}

// studentized_range_log_range_grad_r_k: what depends on both, from what was computed ahead.
LARGE studentized_range_log_range_grad_r_k_results studentized_range_log_range_grad_r_k_sms_evaluate(studentized_range_log_range_grad_r_k_sms_set set, studentized_range_log_range_grad_r_k_sms_row row, real r)
{
    if (r < ldexp((real)1, EPSILON < 1e-10 ? -1015 : -120)) {
        return set.c0;
    }
    studentized_range_central_slope_grad_r_results call = studentized_range_central_slope_grad_r_m_evaluate(r);
    real t2 = sqrt(2 + set.t * call.value);
    real t3 = (EPSILON < 1e-10 ? 0.6 : 0.8) / t2;
    real t4 = 0.5 / t2;
    real t5 = 1 / t2;
    real d_r_spread = -(t3 * (t4 * (set.t * call.d_r)) * t5);
    real d_k_spread = -(t3 * (t4 * (call.value * set.c1)) * t5);
    real spread = t3;
    real step = special_panel_width(3 * fmax(1 / spread, set.c2), 1);
    real d_r_sum = 0;
    real d_k_sum = 0;
    real sum = 1;
    if (set.c6) {
        studentized_range_log_between_grad_r_results call3 = studentized_range_log_between_grad_r_sm_evaluate(set.studentized_range_0, r);
        real d_r_center = call3.d_r;
        real center = call3.value;
        real d_r_term = 0;
        real d_k_term = 0;
        real term = 1;
        for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real u = i * step;
            studentized_range_log_between_grad_u_r_results call4 = studentized_range_log_between_grad_u_r_mm_evaluate(row.studentized_range_0, u, r);
            real t6 = exp(set.c3 * (call4.value - center) - u * u);
            d_r_term = 2 * (t6 * (set.c3 * (call4.d_r - d_r_center)));
            d_k_term = 2 * (t6 * (call4.value - center));
            term = 2 * t6;
            d_r_sum += d_r_term;
            d_k_sum += d_k_term;
            sum += term;
        }
        real t7 = special_log_slope(step * sum);
        return make_studentized_range_log_range_grad_r_k_results(set.c4 + set.c3 * center - 0.25 * r * r + log(step * sum), set.c3 * d_r_center - 0.5 * r + t7 * (step * d_r_sum), set.c5 + center + t7 * (step * d_k_sum));
    }
    real center_2;
    real d_r_center_2;
    real d_k_center_2;
    real term_2;
    real d_r_term_2;
    real d_k_term_2;
    if (studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r)) {
        studentized_range_log_between_grad_r_results call5 = studentized_range_log_between_grad_r_sm_evaluate(set.studentized_range_0, r);
        d_r_center_2 = set.c7 * call5.d_r - 0.25 * r;
        d_k_center_2 = call5.value;
        center_2 = set.c7 * call5.value - 0.125 * r * r;
        d_r_term_2 = 0;
        d_k_term_2 = 0;
        term_2 = 1;
        for (int i_3 = 1; i_3 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_3++) {
            real u_2 = i_3 * step;
            real d = u_2 - 0.5 * r;
            studentized_range_log_between_grad_u_r_results call6 = studentized_range_log_between_grad_u_r_mm_evaluate(row.studentized_range_1, u_2, r);
            real t8 = exp(-u_2 * r);
            real t9 = 1 + t8;
            real t10 = exp(set.c7 * call6.value - 0.5 * d * d - center_2);
            d_r_term_2 = t9 * (t10 * (set.c7 * call6.d_r + 0.5 * d - d_r_center_2)) - u_2 * t8 * t10;
            d_k_term_2 = t9 * (t10 * (call6.value - d_k_center_2));
            term_2 = t9 * t10;
            d_r_sum += d_r_term_2;
            d_k_sum += d_k_term_2;
            sum += term_2;
        }
    } else {
        studentized_range_log_above_grad_r_k_results call7 = studentized_range_log_above_grad_r_k_sms_evaluate(set.studentized_range_1, r);
        d_r_center_2 = call7.d_r;
        d_k_center_2 = call7.d_k;
        center_2 = call7.value;
        for (int side = -1; side < 2; side += 2) {
            d_r_term_2 = 0;
            d_k_term_2 = 0;
            term_2 = 1;
            for (int i_2 = 1; i_2 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
                studentized_range_log_above_grad_u_r_k_results call8 = studentized_range_log_above_grad_u_r_k_mms_evaluate(set.studentized_range_2, row.studentized_range_2, int_product(side, i_2) * step, r);
                real t11 = exp(call8.value - center_2);
                d_r_term_2 = t11 * (call8.d_r - d_r_center_2);
                d_k_term_2 = t11 * (call8.d_k - d_k_center_2);
                term_2 = t11;
                d_r_sum += d_r_term_2;
                d_k_sum += d_k_term_2;
                sum += term_2;
            }
        }
    }
    real t12 = special_log_slope(step * sum);
    real d_r_value = d_r_center_2 + t12 * (step * d_r_sum);
    real d_k_value = set.c8 + d_k_center_2 + t12 * (step * d_k_sum);
    real value = set.c9 + center_2 + log(step * sum);
    real t13 = value < -50 ? -exp(value) : -(1 / expm1(-value));
    return make_studentized_range_log_range_grad_r_k_results(studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r) == set.c10 ? value : special_log1mexp(value), studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r) == set.c10 ? d_r_value : t13 * d_r_value, studentized_range_is_low_ms_evaluate(set.studentized_range_is_low_0, r) == set.c10 ? d_k_value : t13 * d_k_value);
}

// special_log_gamma_p_near_zero_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    int c0;
    real c1;
    real c2;
} special_log_gamma_p_near_zero_grad_a_sm_set;

DEVICE special_log_gamma_p_near_zero_grad_a_sm_set special_log_gamma_p_near_zero_grad_a_sm_prepare_set(real a)
{
    special_log_gamma_p_near_zero_grad_a_sm_set set;
    int turns = EPSILON < 1e-10 ? 24 : 14;
    set.a = a;
    set.c0 = turns < 24 ? turns : 24;
    set.c1 = special_log_gamma_1p(a);
    set.c2 = special_digamma(1 + a);
    return set;
}

// special_log_gamma_p_near_zero_grad_a: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_p_near_zero_grad_a_results special_log_gamma_p_near_zero_grad_a_sm_evaluate(special_log_gamma_p_near_zero_grad_a_sm_set set, real x)
{
    real power = -x;
    real d_a_sum = 0;
    real sum = 0;
    for (int k = 1; k < set.c0; k = int_sum(k, 1)) {  // until the condition fails
        real t = power / (set.a + k);
        d_a_sum -= t * (1 / (set.a + k));
        sum += t;
        power *= -x / int_sum(k, 1);
    }
    real t2 = log(x);
    return make_special_log_gamma_p_near_zero_grad_a_results(set.a * t2 - set.c1 + log1p(set.a * sum), t2 - set.c2 + 1 / (1 + set.a * sum) * (sum + set.a * d_a_sum));
}

// special_log_gamma_tail_near_grad_a_u: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real d_a_v;
    real c0;
    real c1;
    real c2;
    real c3;
    real c4;
    real c5;
    real c6;
    real c7;
    real c8;
    real c9;
    real c10;
    real c11;
    real c12;
    real c13;
    real c14;
    real c15;
    real c16;
    real c17;
    real c18;
    real c19;
    real v;
    real t2;
    real c20;
    real t6;
    real c21;
    real c22;
} special_log_gamma_tail_near_grad_a_u_sm_set;

DEVICE special_log_gamma_tail_near_grad_a_u_sm_set special_log_gamma_tail_near_grad_a_u_sm_prepare_set(real a)
{
    special_log_gamma_tail_near_grad_a_u_sm_set set;
    real t = 1 / a;
    real d_a_v = -(t * t);
    real v = t;
    real t2 = sqrt(2 * PI * a);
    real t6 = sqrt(0.5 * a);
    set.d_a_v = d_a_v;
    set.c0 = 21 * v;
    set.c1 = 20 * v;
    set.c2 = 19 * v;
    set.c3 = 18 * v;
    set.c4 = 17 * v;
    set.c5 = 16 * v;
    set.c6 = 15 * v;
    set.c7 = 14 * v;
    set.c8 = 13 * v;
    set.c9 = 12 * v;
    set.c10 = 11 * v;
    set.c11 = 10 * v;
    set.c12 = 9 * v;
    set.c13 = 8 * v;
    set.c14 = 7 * v;
    set.c15 = 6 * v;
    set.c16 = 5 * v;
    set.c17 = 4 * v;
    set.c18 = 3 * v;
    set.c19 = 2 * v;
    set.v = v;
    set.t2 = t2;
    set.c20 = 0.5 / t2 * (2 * PI);
    set.t6 = t6;
    set.c21 = 0.5 * a;
    set.c22 = 0.5 / t6 * 0.5;
    return set;
}

// special_log_gamma_tail_near_grad_a_u: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_tail_near_grad_a_u_results special_log_gamma_tail_near_grad_a_u_sm_evaluate(special_log_gamma_tail_near_grad_a_u_sm_set set, real u)
{
    special_gamma_eta_grad_u_results call = special_gamma_eta_grad_u(u);
    real d_u_eta = call.d_u;
    real eta = call.value;
    real d_u_s = 2 * eta * d_u_eta;
    real s = eta * eta;
    real d_a_odd = 0;
    real odd = -1.392388722418162066e-13;
    real d_a_even = 0;
    real even = 3.371763262400985379e-13;
    real d_a_sum_odd = d_a_odd;
    real d_u_sum_odd = 0;
    real sum_odd = odd;
    real d_a_sum_even = d_a_even;
    real d_u_sum_even = 0;
    real sum_even = even;
    d_a_odd = 21 * odd * set.d_a_v + set.c0 * d_a_odd;
    odd = 1.100439203195613477e-13 + set.c0 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 20 * even * set.d_a_v + set.c1 * d_a_even;
    even = -5.027669280114175589e-12 + set.c1 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 19 * odd * set.d_a_v + set.c2 * d_a_odd;
    odd = 2.436194802066741624e-11 + set.c2 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 18 * even * set.d_a_v + set.c3 * d_a_even;
    even = -5.830772132550425067e-11 + set.c3 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 17 * odd * set.d_a_v + set.c4 * d_a_odd;
    odd = -2.551419399494624977e-11 + set.c4 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 16 * even * set.d_a_v + set.c5 * d_a_even;
    even = 9.147699582236790234e-10 + set.c5 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 15 * odd * set.d_a_v + set.c6 * d_a_odd;
    odd = -4.382036018453353187e-9 + set.c6 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 14 * even * set.d_a_v + set.c7 * d_a_even;
    even = 1.026180978424030804e-8 + set.c7 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 13 * odd * set.d_a_v + set.c8 * d_a_odd;
    odd = 6.70785354340149858e-9 + set.c8 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 12 * even * set.d_a_v + set.c9 * d_a_even;
    even = -1.76659527368260793e-7 + set.c9 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 11 * odd * set.d_a_v + set.c10 * d_a_odd;
    odd = 8.296711340953086005e-7 + set.c10 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 10 * even * set.d_a_v + set.c11 * d_a_even;
    even = -0.000001854062210715159961 + set.c11 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 9 * odd * set.d_a_v + set.c12 * d_a_odd;
    odd = -0.000002185448510679992161 + set.c12 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 8 * even * set.d_a_v + set.c13 * d_a_even;
    even = 0.00003919263178522437782 + set.c13 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 7 * odd * set.d_a_v + set.c14 * d_a_odd;
    odd = -0.0001787551440329218107 + set.c14 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 6 * even * set.d_a_v + set.c15 * d_a_even;
    even = 0.0003527336860670194004 + set.c15 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 5 * odd * set.d_a_v + set.c16 * d_a_odd;
    odd = 0.001157407407407407407 + set.c16 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 4 * even * set.d_a_v + set.c17 * d_a_even;
    even = -0.01481481481481481481 + set.c17 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    d_a_odd = 3 * odd * set.d_a_v + set.c18 * d_a_odd;
    odd = 0.08333333333333333333 + set.c18 * odd;
    d_a_sum_odd = d_a_odd + s * d_a_sum_odd;
    d_u_sum_odd = sum_odd * d_u_s + s * d_u_sum_odd;
    sum_odd = odd + s * sum_odd;
    d_a_even = 2 * even * set.d_a_v + set.c19 * d_a_even;
    even = -0.3333333333333333333 + set.c19 * even;
    d_a_sum_even = d_a_even + s * d_a_sum_even;
    d_u_sum_even = sum_even * d_u_s + s * d_u_sum_even;
    sum_even = even + s * sum_even;
    real t3 = (1 + set.v * odd) * set.t2;
    real t4 = (sum_even + eta * sum_odd) / t3;
    real t5 = 1 / t3;
    real d_a_series = (d_a_sum_even + eta * d_a_sum_odd - t4 * (set.t2 * (odd * set.d_a_v + set.v * d_a_odd) + (1 + set.v * odd) * set.c20)) * t5;
    real d_u_series = (d_u_sum_even + (sum_odd * d_u_eta + eta * d_u_sum_odd)) * t5;
    real series = t4;
    real sign = u < 0 ? -1 : 1;
    real t7 = sign * eta * set.t6;
    real t8 = 0.5 * special_scaled_erfc(t7) + sign * series;
    real t9 = special_log_slope(t8);
    real t10 = special_scaled_erfc_slope(t7);
    return make_special_log_gamma_tail_near_grad_a_u_results(log(t8) - set.c21 * s, t9 * (sign * d_a_series - t10 * (sign * eta * set.c22) * 0.5) - 0.5 * s, t9 * (sign * d_u_series - t10 * (sign * set.t6 * d_u_eta) * 0.5) - set.c21 * d_u_s);
}

// special_log_gamma_tail_uniform_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
    special_log_gamma_tail_near_grad_a_u_sm_set special_0;
} special_log_gamma_tail_uniform_grad_a_sm_set;

DEVICE special_log_gamma_tail_uniform_grad_a_sm_set special_log_gamma_tail_uniform_grad_a_sm_prepare_set(real a)
{
    special_log_gamma_tail_uniform_grad_a_sm_set set;
    set.a = a;
    set.c0 = 1 / a;
    set.special_0 = special_log_gamma_tail_near_grad_a_u_sm_prepare_set(a);
    return set;
}

// special_log_gamma_tail_uniform_grad_a: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_tail_uniform_grad_a_results special_log_gamma_tail_uniform_grad_a_sm_evaluate(special_log_gamma_tail_uniform_grad_a_sm_set set, real x)
{
    real t = (x - set.a) / set.a;
    real d_a_u = (-1 - t) * set.c0;
    special_log_gamma_tail_near_grad_a_u_results call = special_log_gamma_tail_near_grad_a_u_sm_evaluate(set.special_0, t);
    return make_special_log_gamma_tail_uniform_grad_a_results(call.value, call.d_a + call.d_u * d_a_u);
}

// special_log_gamma_power_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real t4;
    real c0;
    real c1;
} special_log_gamma_power_grad_a_sm_set;

DEVICE special_log_gamma_power_grad_a_sm_set special_log_gamma_power_grad_a_sm_prepare_set(real a)
{
    special_log_gamma_power_grad_a_sm_set set;
    real t4 = 1 / a;
    set.a = a;
    set.t4 = t4;
    set.c0 = 0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a);
    set.c1 = 0.5 * special_log_slope(a) + special_stirling_error_derivative(a);
    return set;
}

// special_log_gamma_power_grad_a: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_power_grad_a_results special_log_gamma_power_grad_a_sm_evaluate(special_log_gamma_power_grad_a_sm_set set, real x)
{
    real t = x / set.a;
    real t2 = (x - set.a) / set.a;
    real t3 = special_log_ratio_excess(t, t2);
    real t5 = (-1 - t2) * set.t4;
    return make_special_log_gamma_power_grad_a_results(set.a * t3 - set.c0, t3 + set.a * (fabs(t2) < 0.5 ? -(t2 / t * t5) : -(t * set.t4 / t) - t5) - set.c1);
}

// special_gamma_series_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real d_a_v;
    real v;
    int c0;
} special_gamma_series_grad_a_sm_set;

DEVICE special_gamma_series_grad_a_sm_set special_gamma_series_grad_a_sm_prepare_set(real a)
{
    special_gamma_series_grad_a_sm_set set;
    real t = 1 / (a + 1);
    real d_a_v = -(t * t);
    real v = t;
    int turns = to_int(EPSILON < 1e-10 ? 15 + 10 * sqrt(a) : 9 + 6.6 * sqrt(a));
    set.d_a_v = d_a_v;
    set.v = v;
    set.c0 = turns < 60 ? turns : 60;
    return set;
}

// special_gamma_series_grad_a: what depends on both, from what was computed ahead.
DEVICE special_gamma_series_grad_a_results special_gamma_series_grad_a_sm_evaluate(special_gamma_series_grad_a_sm_set set, real x)
{
    real d_a_share = x * set.d_a_v;
    real share = x * set.v;
    real d_a_power = 0;
    real power = 1;
    real d_a_sum = 0;
    real sum = 1;
    real d_a_scale = 0;
    real scale = 1;
    for (int k = 0; k < set.c0; k = int_sum(k, 1)) {  // until the condition fails
        real d_a_growth = k * set.d_a_v;
        real growth = 1 + k * set.v;
        d_a_power = share * d_a_power + power * d_a_share;
        power *= share;
        d_a_sum = growth * d_a_sum + sum * d_a_growth + d_a_power;
        sum = sum * growth + power;
        d_a_scale = growth * d_a_scale + scale * d_a_growth;
        scale *= growth;
    }
    real t2 = sum / scale;
    return make_special_gamma_series_grad_a_results(t2, (d_a_sum - t2 * d_a_scale) * (1 / scale));
}

// special_gamma_fraction_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    int c0;
} special_gamma_fraction_grad_a_sm_set;

DEVICE special_gamma_fraction_grad_a_sm_set special_gamma_fraction_grad_a_sm_prepare_set(real a)
{
    special_gamma_fraction_grad_a_sm_set set;
    real d_a_shape = a <= (real)20 || (real)20 != (real)20 ? 1 : 0;
    real shape = fmin(a, (real)20);
    real t = sqrt(a);
    real t2 = 1 / (a < 1 ? 1.5 : a + t);
    real d_a_inverse = -(t2 * (a < 1 ? 0 : 1 + 0.5 / t) * t2);
    real inverse = t2;
    int turns = to_int(EPSILON < 1e-10 ? 5 + 105 * inverse + 0.6 * shape : 4 + 28 * inverse + 0.4 * shape);
    set.a = a;
    set.c0 = turns < 80 ? turns : 80;
    return set;
}

// special_gamma_fraction_grad_a: what depends on both, from what was computed ahead.
DEVICE special_gamma_fraction_grad_a_results special_gamma_fraction_grad_a_sm_evaluate(special_gamma_fraction_grad_a_sm_set set, real x)
{
    real v = 1 / x;
    real b = (x - set.a + 1) * v;
    real d_a_above_before = 0;
    real above_before = 0;
    real d_a_above = 0;
    real above = 1;
    real d_a_below_before = 0;
    real below_before = 1;
    real d_a_below = -v;
    real below = b;
    for (int k = 1; k < set.c0; k = int_sum(k, 1)) {  // until the condition fails
        real d_a_weight = k * v * v;
        real weight = k * (set.a - k) * (v * v);
        real factor = b + int_product(2, k) * v;
        real d_a_next_above = factor * d_a_above - v * above + (above_before * d_a_weight + weight * d_a_above_before);
        real next_above = factor * above + weight * above_before;
        real d_a_next_below = factor * d_a_below - v * below + (below_before * d_a_weight + weight * d_a_below_before);
        real next_below = factor * below + weight * below_before;
        d_a_above_before = d_a_above;
        above_before = above;
        d_a_below_before = d_a_below;
        below_before = below;
        d_a_above = d_a_next_above;
        above = next_above;
        d_a_below = d_a_next_below;
        below = next_below;
    }
    real t3 = above / below;
    return make_special_gamma_fraction_grad_a_results(set.a * v * t3, v * t3 + set.a * v * ((d_a_above - t3 * d_a_below) * (1 / below)));
}

// special_log_gamma_tail_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_gamma_p_near_zero_grad_a_sm_set special_0;
    int c0;
    special_log_gamma_tail_uniform_grad_a_sm_set special_1;
    int c1;
    real a;
    int c2;
    special_log_gamma_power_grad_a_sm_set special_2;
    special_gamma_series_grad_a_sm_set special_gamma_series_grad_a_0;
    special_gamma_fraction_grad_a_sm_set special_gamma_fraction_grad_a_0;
    real c3;
} special_log_gamma_tail_grad_a_sm_set;

DEVICE special_log_gamma_tail_grad_a_sm_set special_log_gamma_tail_grad_a_sm_prepare_set(real a)
{
    special_log_gamma_tail_grad_a_sm_set set;
    set.special_0 = special_log_gamma_p_near_zero_grad_a_sm_prepare_set(a);
    set.c0 = a < 1;
    set.special_1 = special_log_gamma_tail_uniform_grad_a_sm_prepare_set(a);
    set.c1 = a > 20;
    set.a = a;
    set.c2 = a < 1 || a > 20;
    set.special_2 = special_log_gamma_power_grad_a_sm_prepare_set(a);
    set.special_gamma_series_grad_a_0 = special_gamma_series_grad_a_sm_prepare_set(a);
    set.special_gamma_fraction_grad_a_0 = special_gamma_fraction_grad_a_sm_prepare_set(a);
    set.c3 = special_gamma_middle(a);
    return set;
}

// special_log_gamma_tail_grad_a: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_tail_grad_a_results special_log_gamma_tail_grad_a_sm_evaluate(special_log_gamma_tail_grad_a_sm_set set, real x)
{
    if (set.c2 && THREAD < 65536) {
        if (set.c0 && x < 1.5 && THREAD < 65536) {
            special_log_gamma_p_near_zero_grad_a_results call = special_log_gamma_p_near_zero_grad_a_sm_evaluate(set.special_0, x);
            return make_special_log_gamma_tail_grad_a_results(call.value, call.d_a);
        }
        if (set.c1 && fabs(x - set.a) < 0.33 * (x + set.a)) {
            special_log_gamma_tail_uniform_grad_a_results call2 = special_log_gamma_tail_uniform_grad_a_sm_evaluate(set.special_1, x);
            return make_special_log_gamma_tail_grad_a_results(call2.value, call2.d_a);
        }
    }
    special_log_gamma_power_grad_a_results call3 = special_log_gamma_power_grad_a_sm_evaluate(set.special_2, x);
    real either;
    real d_a_either;
    if (x < set.c3 && THREAD < 65536) {
        special_gamma_series_grad_a_results call4 = special_gamma_series_grad_a_sm_evaluate(set.special_gamma_series_grad_a_0, x);
        either = call4.value;
        d_a_either = call4.d_a;
    } else {
        special_gamma_fraction_grad_a_results call5 = special_gamma_fraction_grad_a_sm_evaluate(set.special_gamma_fraction_grad_a_0, x);
        either = call5.value;
        d_a_either = call5.d_a;
    }
    return make_special_log_gamma_tail_grad_a_results(call3.value + log(either), call3.d_a + special_log_slope(either) * d_a_either);
}

// special_log_gamma_power: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
} special_log_gamma_power_sm_set;

DEVICE special_log_gamma_power_sm_set special_log_gamma_power_sm_prepare_set(real a)
{
    special_log_gamma_power_sm_set set;
    set.a = a;
    set.c0 = 0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a);
    return set;
}

// special_log_gamma_power: what depends on both, from what was computed ahead.
DEVICE real special_log_gamma_power_sm_evaluate(special_log_gamma_power_sm_set set, real x)
{
    return set.a * special_log_ratio_excess(x / set.a, (x - set.a) / set.a) - set.c0;
}

// special_log_gamma_tail_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    special_log_gamma_power_sm_set special_0;
    real c0;
} special_log_gamma_tail_grad_x_smm_set;

DEVICE special_log_gamma_tail_grad_x_smm_set special_log_gamma_tail_grad_x_smm_prepare_set(real a)
{
    special_log_gamma_tail_grad_x_smm_set set;
    set.a = a;
    set.special_0 = special_log_gamma_power_sm_prepare_set(a);
    set.c0 = special_gamma_middle(a);
    return set;
}

// special_log_gamma_tail_grad_x: what depends on both, from what was computed ahead.
DEVICE real special_log_gamma_tail_grad_x_smm_evaluate(special_log_gamma_tail_grad_x_smm_set set, real x, real value)
{
    real slope = set.a / x * exp(special_log_gamma_power_sm_evaluate(set.special_0, x) - value);
    return x < set.c0 ? slope : -slope;
}

// special_log_gamma_tail_grad_a_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_gamma_tail_grad_a_sm_set special_0;
    special_log_gamma_tail_grad_x_smm_set special_1;
} special_log_gamma_tail_grad_a_x_sm_set;

DEVICE special_log_gamma_tail_grad_a_x_sm_set special_log_gamma_tail_grad_a_x_sm_prepare_set(real a)
{
    special_log_gamma_tail_grad_a_x_sm_set set;
    set.special_0 = special_log_gamma_tail_grad_a_sm_prepare_set(a);
    set.special_1 = special_log_gamma_tail_grad_x_smm_prepare_set(a);
    return set;
}

// special_log_gamma_tail_grad_a_x: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_tail_grad_a_x_results special_log_gamma_tail_grad_a_x_sm_evaluate(special_log_gamma_tail_grad_a_x_sm_set set, real x)
{
    special_log_gamma_tail_grad_a_results derived = special_log_gamma_tail_grad_a_sm_evaluate(set.special_0, x);
    return make_special_log_gamma_tail_grad_a_x_results(derived.value, derived.d_a, special_log_gamma_tail_grad_x_smm_evaluate(set.special_1, x, derived.value));
}

// special_log_gamma_q_grad_a_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_gamma_tail_grad_a_x_sm_set special_0;
    real c0;
    real a;
} special_log_gamma_q_grad_a_x_sm_set;

DEVICE special_log_gamma_q_grad_a_x_sm_set special_log_gamma_q_grad_a_x_sm_prepare_set(real a)
{
    special_log_gamma_q_grad_a_x_sm_set set;
    set.special_0 = special_log_gamma_tail_grad_a_x_sm_prepare_set(a);
    set.c0 = special_gamma_middle(a);
    set.a = a;
    return set;
}

// special_log_gamma_q_grad_a_x: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_q_grad_a_x_results special_log_gamma_q_grad_a_x_sm_evaluate(special_log_gamma_q_grad_a_x_sm_set set, real x)
{
    special_log_gamma_tail_grad_a_x_results call = special_log_gamma_tail_grad_a_x_sm_evaluate(set.special_0, x);
    real d_a_tail = call.d_a;
    real d_x_tail = call.d_x;
    real tail = call.value;
    real t = tail < -50 ? -exp(tail) : -(1 / expm1(-tail));
    real d_a_value = x < set.c0 ? t * d_a_tail : d_a_tail;
    real d_x_value = x < set.c0 ? t * d_x_tail : d_x_tail;
    special_within_gamma_grad_a_x_value_results call2 = special_within_gamma_grad_a_x_value(set.a, x, x < set.c0 ? special_log1mexp(tail) : tail, 0, -INFINITY);
    return make_special_log_gamma_q_grad_a_x_results(call2.value, call2.d_a + call2.d_value * d_a_value, call2.d_x + call2.d_value * d_x_value);
}

// special_log_gamma_p_grad_a_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_gamma_tail_grad_a_x_sm_set special_0;
    real c0;
    real a;
} special_log_gamma_p_grad_a_x_sm_set;

DEVICE special_log_gamma_p_grad_a_x_sm_set special_log_gamma_p_grad_a_x_sm_prepare_set(real a)
{
    special_log_gamma_p_grad_a_x_sm_set set;
    set.special_0 = special_log_gamma_tail_grad_a_x_sm_prepare_set(a);
    set.c0 = special_gamma_middle(a);
    set.a = a;
    return set;
}

// special_log_gamma_p_grad_a_x: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_p_grad_a_x_results special_log_gamma_p_grad_a_x_sm_evaluate(special_log_gamma_p_grad_a_x_sm_set set, real x)
{
    special_log_gamma_tail_grad_a_x_results call = special_log_gamma_tail_grad_a_x_sm_evaluate(set.special_0, x);
    real d_a_tail = call.d_a;
    real d_x_tail = call.d_x;
    real tail = call.value;
    real t = tail < -50 ? -exp(tail) : -(1 / expm1(-tail));
    real d_a_value = x < set.c0 ? d_a_tail : t * d_a_tail;
    real d_x_value = x < set.c0 ? d_x_tail : t * d_x_tail;
    special_within_gamma_grad_a_x_value_results call2 = special_within_gamma_grad_a_x_value(set.a, x, x < set.c0 ? tail : special_log1mexp(tail), -INFINITY, 0);
    return make_special_log_gamma_p_grad_a_x_results(call2.value, call2.d_a + call2.d_value * d_a_value, call2.d_x + call2.d_value * d_x_value);
}

// special_log_gamma_p_of_power_grad_a_y_log_y: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
    real c1;
    special_log_gamma_p_grad_a_x_sm_set special_0;
} special_log_gamma_p_of_power_grad_a_y_log_y_smm_set;

DEVICE special_log_gamma_p_of_power_grad_a_y_log_y_smm_set special_log_gamma_p_of_power_grad_a_y_log_y_smm_prepare_set(real a)
{
    special_log_gamma_p_of_power_grad_a_y_log_y_smm_set set;
    set.a = a;
    set.c0 = special_log_gamma_1p(a);
    set.c1 = special_digamma(1 + a);
    set.special_0 = special_log_gamma_p_grad_a_x_sm_prepare_set(a);
    return set;
}

// special_log_gamma_p_of_power_grad_a_y_log_y: what depends on both, from what was computed ahead.
DEVICE special_log_gamma_p_of_power_grad_a_y_log_y_results special_log_gamma_p_of_power_grad_a_y_log_y_smm_evaluate(special_log_gamma_p_of_power_grad_a_y_log_y_smm_set set, real y, real log_y)
{
    real either;
    real d_a_either;
    real d_y_either;
    real d_log_y_either;
    if (y < EPSILON && THREAD < 65536) {
        either = set.a * log_y - set.c0;
        d_a_either = log_y - set.c1;
        d_y_either = 0;
        d_log_y_either = set.a;
    } else {
        special_log_gamma_p_grad_a_x_results call = special_log_gamma_p_grad_a_x_sm_evaluate(set.special_0, y);
        either = call.value;
        d_a_either = call.d_a;
        d_y_either = call.d_x;
        d_log_y_either = 0;
    }
    return make_special_log_gamma_p_of_power_grad_a_y_log_y_results(either, d_a_either, d_y_either, d_log_y_either);
}

// studentized_range_log_term_grad_v_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    studentized_range_log_range_grad_r_k_sms_set studentized_range_0;
    real a;
    int c0;
    special_log_gamma_q_grad_a_x_sm_set special_0;
    special_log_gamma_p_of_power_grad_a_y_log_y_smm_set special_1;
    real c1;
    real d_nu_log_y;
    int c2;
} studentized_range_log_term_grad_v_k_nu_smmss_set;

DEVICE studentized_range_log_term_grad_v_k_nu_smmss_set studentized_range_log_term_grad_v_k_nu_smmss_prepare_set(int what, real k, real nu)
{
    studentized_range_log_term_grad_v_k_nu_smmss_set set;
    real a = 0.5 * nu;
    set.studentized_range_0 = studentized_range_log_range_grad_r_k_sms_prepare_set(0, k);
    set.a = a;
    set.c0 = what == 0;
    set.special_0 = special_log_gamma_q_grad_a_x_sm_prepare_set(a);
    real d_nu_log_y = special_log_slope(a) * 0.5;
    set.special_1 = special_log_gamma_p_of_power_grad_a_y_log_y_smm_prepare_set(a);
    set.c1 = log(a);
    set.d_nu_log_y = d_nu_log_y;
    set.c2 = what == 1;
    return set;
}

// studentized_range_log_term_grad_v_k_nu: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_range_grad_r_k_sms_row studentized_range_0;
} studentized_range_log_term_grad_v_k_nu_smmss_row;

DEVICE studentized_range_log_term_grad_v_k_nu_smmss_row studentized_range_log_term_grad_v_k_nu_smmss_prepare_row()
{
    studentized_range_log_term_grad_v_k_nu_smmss_row row;
    row.studentized_range_0 = studentized_range_log_range_grad_r_k_sms_prepare_row();
    return row;
}

// studentized_range_log_term_grad_v_k_nu: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_term_grad_v_k_nu_results studentized_range_log_term_grad_v_k_nu_smmss_evaluate(studentized_range_log_term_grad_v_k_nu_smmss_set set, studentized_range_log_term_grad_v_k_nu_smmss_row row, real v, real q)
{
    real t = q * exp(v);
    studentized_range_log_range_grad_r_k_results call = studentized_range_log_range_grad_r_k_sms_evaluate(set.studentized_range_0, row.studentized_range_0, t);
    real d_v_value = call.d_r * t + 1;
    real d_k_value = call.d_k;
    real value = call.value + v;
    if (set.c0) {
        special_expm1_excess_grad_x_results call2 = special_expm1_excess_grad_x(-2 * v);
        return make_studentized_range_log_term_grad_v_k_nu_results(value - set.a * call2.value, d_v_value + 2 * call2.d_x * set.a, d_k_value, -(call2.value * 0.5));
    }
    real either;
    real d_v_either;
    real d_nu_either;
    if (set.c2 && THREAD < 65536) {
        real t2 = exp(2 * v);
        real d_v_x = set.a * (t2 * 2);
        real d_nu_x = t2 * 0.5;
        special_log_gamma_q_grad_a_x_results call3 = special_log_gamma_q_grad_a_x_sm_evaluate(set.special_0, set.a * t2);
        either = call3.value;
        d_v_either = call3.d_x * d_v_x;
        d_nu_either = call3.d_a * 0.5 + call3.d_x * d_nu_x;
    } else {
        real t3 = exp(2 * v);
        real d_v_y = set.a * (t3 * 2);
        real d_nu_y = t3 * 0.5;
        special_log_gamma_p_of_power_grad_a_y_log_y_results call4 = special_log_gamma_p_of_power_grad_a_y_log_y_smm_evaluate(set.special_1, set.a * t3, set.c1 + 2 * v);
        either = call4.value;
        d_v_either = call4.d_y * d_v_y + call4.d_log_y * 2;
        d_nu_either = call4.d_a * 0.5 + call4.d_y * d_nu_y + call4.d_log_y * set.d_nu_log_y;
    }
    return make_studentized_range_log_term_grad_v_k_nu_results(value + either, d_v_value + d_v_either, d_k_value, d_nu_either);
}

// studentized_range_step_of_grad_curvature_k: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real t4;
    int c0;
    real c1;
} studentized_range_step_of_grad_curvature_k_ms_set;

DEVICE studentized_range_step_of_grad_curvature_k_ms_set studentized_range_step_of_grad_curvature_k_ms_prepare_set(real k)
{
    studentized_range_step_of_grad_curvature_k_ms_set set;
    studentized_range_rate_of_largest_grad_k_results call = studentized_range_rate_of_largest_grad_k(k);
    real t3 = sqrt(2 * log(k));
    real t4 = t3 * call.value;
    set.t4 = t4;
    set.c0 = t4 != t4;
    set.c1 = call.value * (0.5 / t3 * (2 * special_log_slope(k))) + t3 * call.d_k;
    return set;
}

// studentized_range_step_of_grad_curvature_k: what depends on both, from what was computed ahead.
DEVICE studentized_range_step_of_grad_curvature_k_results studentized_range_step_of_grad_curvature_k_ms_evaluate(studentized_range_step_of_grad_curvature_k_ms_set set, real curvature)
{
    real t = sqrt(curvature + 24);
    real t2 = 2 * t;
    real d_curvature_rate = t2 > set.t4 || set.c0 ? 2 * (0.5 / t) : 0;
    real d_k_rate = t2 > set.t4 || set.c0 ? 0 : set.c1;
    real rate = fmax(t2, set.t4);
    return make_studentized_range_step_of_grad_curvature_k_results(special_panel_width(3 * (EPSILON < 1e-10 ? 1 : 0.75) * rate, 1), 0, 0);
}

// studentized_range_log_sum_grad_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    studentized_range_peak_grad_k_nu_smss_set studentized_range_peak_grad_k_nu_0;
    studentized_range_log_term_grad_v_k_nu_smmss_set studentized_range_0;
    int c0;
    real t6;
    real c1;
    int c2;
    studentized_range_step_of_grad_curvature_k_ms_set studentized_range_step_of_grad_curvature_k_0;
    int what;
    real k;
    real nu;
} studentized_range_log_sum_grad_k_nu_smss_set;

DEVICE studentized_range_log_sum_grad_k_nu_smss_set studentized_range_log_sum_grad_k_nu_smss_prepare_set(int what, real k, real nu)
{
    studentized_range_log_sum_grad_k_nu_smss_set set;
    real t6 = fabs(k - 2);
    set.studentized_range_peak_grad_k_nu_0 = studentized_range_peak_grad_k_nu_smss_prepare_set(what, k, nu);
    set.studentized_range_0 = studentized_range_log_term_grad_v_k_nu_smmss_prepare_set(what, k, nu);
    set.c0 = what == 2;
    set.t6 = t6;
    set.c1 = 2 * nu;
    set.c2 = k - 2 > 0 ? 1 : k - 2 < 0 ? -1 : 0;
    set.studentized_range_step_of_grad_curvature_k_0 = studentized_range_step_of_grad_curvature_k_ms_prepare_set(k);
    set.what = what;
    set.k = k;
    set.nu = nu;
    return set;
}

// studentized_range_log_sum_grad_k_nu: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_term_grad_v_k_nu_smmss_row studentized_range_0;
} studentized_range_log_sum_grad_k_nu_smss_row;

DEVICE studentized_range_log_sum_grad_k_nu_smss_row studentized_range_log_sum_grad_k_nu_smss_prepare_row()
{
    studentized_range_log_sum_grad_k_nu_smss_row row;
    row.studentized_range_0 = studentized_range_log_term_grad_v_k_nu_smmss_prepare_row();
    return row;
}

// studentized_range_log_sum_grad_k_nu: what depends on both, from what was computed ahead.
DEVICE studentized_range_log_sum_grad_k_nu_results studentized_range_log_sum_grad_k_nu_smss_evaluate(studentized_range_log_sum_grad_k_nu_smss_set set, studentized_range_log_sum_grad_k_nu_smss_row row, real q)
{
    studentized_range_peak_grad_k_nu_results call = studentized_range_peak_grad_k_nu_smss_evaluate(set.studentized_range_peak_grad_k_nu_0, q);
    real d_k_at = call.d_k;
    real d_nu_at = call.d_nu;
    real at = call.value;
    real t = exp(at);
    real d_k_r = q * (t * d_k_at);
    real d_nu_r = q * (t * d_nu_at);
    real r = q * t;
    real t2 = exp(2 * at);
    real d_k_square = t2 * (2 * d_k_at);
    real d_nu_square = t2 * (2 * d_nu_at);
    real square = t2;
    studentized_range_log_term_grad_v_k_nu_results call2 = studentized_range_log_term_grad_v_k_nu_smmss_evaluate(set.studentized_range_0, row.studentized_range_0, at, q);
    real d_k_center = call2.d_v * d_k_at + call2.d_k;
    real d_nu_center = call2.d_v * d_nu_at + call2.d_nu;
    real center = call2.value;
    real d_k_sum = 0;
    real d_nu_sum = 0;
    real sum = 0;
    real t3 = 0.1 / (1 + 2 * r);
    real t4 = 1 / (1 + 2 * r);
    real d_k_wide = -(t3 * (2 * d_k_r) * t4);
    real d_nu_wide = -(t3 * (2 * d_nu_r) * t4);
    real wide = t3;
    studentized_range_central_slope_grad_r_results call4 = studentized_range_central_slope_grad_r_m_evaluate(r);
    real t5 = set.c0 ? fmin(square, (real)1) : square;
    real t7 = set.t6 * call4.value;
    real t8 = 1 + 0.25 * r * r;
    real t9 = set.t6 * t8;
    real d_k_curvature = set.c1 * (set.c0 ? (square <= (real)1 || (real)1 != (real)1 ? d_k_square : 0) : d_k_square) + 2 * r * d_k_r + (call4.value * t8 * set.c2 + t9 * (call4.d_r * d_k_r) + t7 * (0.5 * r * d_k_r));
    real d_nu_curvature = 2 * t5 + set.c1 * (set.c0 ? (square <= (real)1 || (real)1 != (real)1 ? d_nu_square : 0) : d_nu_square) + 2 * r * d_nu_r + (t9 * (call4.d_r * d_nu_r) + t7 * (0.5 * r * d_nu_r));
    studentized_range_step_of_grad_curvature_k_results call3 = studentized_range_step_of_grad_curvature_k_ms_evaluate(set.studentized_range_step_of_grad_curvature_k_0, set.c1 * t5 + r * r + t7 * t8);
    real d_k_step = call3.d_curvature * d_k_curvature + call3.d_k;
    real d_nu_step = call3.d_curvature * d_nu_curvature;
    real step = call3.value;
    for (int side = -1; side < 2; side += 2) {
        real d_k_term = 0;
        real d_nu_term = 0;
        real term = 1;
        for (int i = 0; i < 2000 && (term > 0.01 * EPSILON * sum || i < 2) && THREAD < 65536; i++) {
            real d_k_y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * d_k_step;
            real d_nu_y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * d_nu_step;
            real y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * step;
            real t10 = expm1(-y);
            real t11 = exp(-y);
            real d_k_v = d_k_at + (d_k_y - (t10 * d_k_wide - d_k_y * t11 * wide));
            real d_nu_v = d_nu_at + (d_nu_y - (t10 * d_nu_wide - d_nu_y * t11 * wide));
            studentized_range_log_term_grad_v_k_nu_results call5 = studentized_range_log_term_grad_v_k_nu(set.what, at + (y - wide * t10), q, set.k, set.nu);
            real t12 = exp(call5.value - center);
            real t13 = exp(-y);
            real t14 = 1 + wide * t13;
            d_k_term = t12 * (t13 * d_k_wide - d_k_y * t13 * wide) + t14 * (t12 * (call5.d_v * d_k_v + call5.d_k - d_k_center));
            d_nu_term = t12 * (t13 * d_nu_wide - d_nu_y * t13 * wide) + t14 * (t12 * (call5.d_v * d_nu_v + call5.d_nu - d_nu_center));
            term = t14 * t12;
            d_k_sum += d_k_term;
            d_nu_sum += d_nu_term;
            sum += term;
        }
    }
    real t15 = special_log_slope(step * sum);
    return make_studentized_range_log_sum_grad_k_nu_results(center + log(step * sum), d_k_center + t15 * (sum * d_k_step + step * d_k_sum), d_nu_center + t15 * (sum * d_nu_step + step * d_nu_sum));
}

// studentized_range_studentized_at_grad_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    studentized_range_log_range_grad_k_sms_set studentized_range_0;
    int c0;
    studentized_range_log_sum_grad_k_nu_smss_set studentized_range_1;
    real c1;
    real c2;
    int c3;
    int what;
    real k;
    real nu;
    real c4;
    real c5;
    int c6;
} studentized_range_studentized_at_grad_k_nu_smss_set;

DEVICE studentized_range_studentized_at_grad_k_nu_smss_set studentized_range_studentized_at_grad_k_nu_smss_prepare_set(int what, real k, real nu)
{
    studentized_range_studentized_at_grad_k_nu_smss_set set;
    set.studentized_range_0 = studentized_range_log_range_grad_k_sms_prepare_set(what, k);
    set.c0 = nu > 1 / (EPSILON * EPSILON);
    set.studentized_range_1 = studentized_range_log_sum_grad_k_nu_smss_prepare_set(0, k, nu);
    studentized_range_log_scale_grad_nu_results call3 = studentized_range_log_scale_grad_nu(nu);
    set.c1 = call3.value;
    set.c2 = call3.d_nu;
    set.c3 = what == 0;
    set.what = what;
    set.k = k;
    set.nu = nu;
    studentized_range_log_scale_grad_nu_results call5 = studentized_range_log_scale_grad_nu(nu);
    set.c4 = call5.value;
    set.c5 = call5.d_nu;
    set.c6 = nu > 100;
    return set;
}

// studentized_range_studentized_at_grad_k_nu: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_log_range_grad_k_sms_row studentized_range_0;
    studentized_range_log_sum_grad_k_nu_smss_row studentized_range_1;
} studentized_range_studentized_at_grad_k_nu_smss_row;

DEVICE studentized_range_studentized_at_grad_k_nu_smss_row studentized_range_studentized_at_grad_k_nu_smss_prepare_row()
{
    studentized_range_studentized_at_grad_k_nu_smss_row row;
    row.studentized_range_0 = studentized_range_log_range_grad_k_sms_prepare_row();
    row.studentized_range_1 = studentized_range_log_sum_grad_k_nu_smss_prepare_row();
    return row;
}

// studentized_range_studentized_at_grad_k_nu: what depends on both, from what was computed ahead.
LARGE studentized_range_studentized_at_grad_k_nu_results studentized_range_studentized_at_grad_k_nu_smss_evaluate(studentized_range_studentized_at_grad_k_nu_smss_set set, studentized_range_studentized_at_grad_k_nu_smss_row row, real q)
{
    if (set.c0) {
        studentized_range_log_range_grad_k_results call = studentized_range_log_range_grad_k_sms_evaluate(set.studentized_range_0, row.studentized_range_0, q);
        return make_studentized_range_studentized_at_grad_k_nu_results(call.value, call.d_k, 0);
    }
    if (set.c3 && THREAD < 65536) {
        studentized_range_log_sum_grad_k_nu_results call2 = studentized_range_log_sum_grad_k_nu_smss_evaluate(set.studentized_range_1, row.studentized_range_1, q);
        return make_studentized_range_studentized_at_grad_k_nu_results(call2.value + set.c1, call2.d_k, call2.d_nu + set.c2);
    }
    real either;
    real d_k_either;
    real d_nu_either;
    if (set.c6 && THREAD < 65536) {
        studentized_range_log_mean_grad_k_nu_results call4 = studentized_range_log_mean_grad_k_nu(set.what, q, set.k, set.nu);
        either = call4.value + set.c4;
        d_k_either = call4.d_k;
        d_nu_either = call4.d_nu + set.c5;
    } else {
        studentized_range_log_sum_grad_k_nu_results call6 = studentized_range_log_sum_grad_k_nu(set.what, q, set.k, set.nu);
        either = call6.value + log(q);
        d_k_either = call6.d_k;
        d_nu_either = call6.d_nu;
    }
    return make_studentized_range_studentized_at_grad_k_nu_results(either, d_k_either, d_nu_either);
}

// studentized_range_studentized_grad_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    studentized_range_studentized_grad_k_nu_results c1;
    studentized_range_studentized_at_grad_k_nu_smss_set studentized_range_studentized_at_grad_k_nu_0;
    real edge;
    real c2;
    int c3;
    real c4;
} studentized_range_studentized_grad_k_nu_srss_set;

DEVICE studentized_range_studentized_grad_k_nu_srss_set studentized_range_studentized_grad_k_nu_srss_prepare_set(int what, real k, real nu)
{
    studentized_range_studentized_grad_k_nu_srss_set set;
    real edge = ldexp((real)1, EPSILON < 1e-10 ? -400 : -50);
    set.c0 = !(k > 1) || isinf(k);
    set.c1 = make_studentized_range_studentized_grad_k_nu_results(what == 2 ? 0 : -INFINITY, 0, 0);
    set.studentized_range_studentized_at_grad_k_nu_0 = studentized_range_studentized_at_grad_k_nu_smss_prepare_set(what, k, nu);
    set.edge = edge;
    set.c2 = log(edge);
    set.c3 = what == 2;
    set.c4 = k - (what == 0 ? 2 : 1);
    return set;
}

// studentized_range_studentized_grad_k_nu: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    studentized_range_studentized_at_grad_k_nu_smss_row studentized_range_studentized_at_grad_k_nu_0;
    real q;
    real c1;
} studentized_range_studentized_grad_k_nu_srss_row;

DEVICE studentized_range_studentized_grad_k_nu_srss_row studentized_range_studentized_grad_k_nu_srss_prepare_row(real q)
{
    studentized_range_studentized_grad_k_nu_srss_row row;
    row.c0 = q == 0;
    row.studentized_range_studentized_at_grad_k_nu_0 = studentized_range_studentized_at_grad_k_nu_smss_prepare_row();
    row.q = q;
    row.c1 = log(q);
    return row;
}

// studentized_range_studentized_grad_k_nu: what depends on both, from what was computed ahead.
DEVICE studentized_range_studentized_grad_k_nu_results studentized_range_studentized_grad_k_nu_srss_evaluate(studentized_range_studentized_grad_k_nu_srss_set set, studentized_range_studentized_grad_k_nu_srss_row row)
{
    if (set.c0) {
        return make_studentized_range_studentized_grad_k_nu_results(NAN, NAN, NAN);
    }
    if (row.c0) {
        return set.c1;
    }
    studentized_range_studentized_at_grad_k_nu_results call = studentized_range_studentized_at_grad_k_nu_smss_evaluate(set.studentized_range_studentized_at_grad_k_nu_0, row.studentized_range_studentized_at_grad_k_nu_0, fmax(row.q, set.edge));
    real d_k_value = call.d_k;
    real d_nu_value = call.d_nu;
    real value = call.value;
    if (row.q >= set.edge) {
        return make_studentized_range_studentized_grad_k_nu_results(value, d_k_value, d_nu_value);
    }
    real t = value < -50 ? -exp(value) : -(1 / expm1(-value));
    real t2 = row.c1 - set.c2;
    real d_k_power = (set.c3 ? t * d_k_value : d_k_value) + t2;
    real d_nu_power = set.c3 ? t * d_nu_value : d_nu_value;
    real power = (set.c3 ? special_log1mexp(value) : value) + set.c4 * t2;
    real t3 = power < -50 ? -exp(power) : -(1 / expm1(-power));
    return make_studentized_range_studentized_grad_k_nu_results(set.c3 ? special_log1mexp(power) : power, set.c3 ? t3 * d_k_power : d_k_power, set.c3 ? t3 * d_nu_power : d_nu_power);
}

// studentized_range_logpdf_grad_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    studentized_range_logpdf_grad_k_nu_results c1;
    int c2;
    studentized_range_studentized_grad_k_nu_srss_set studentized_range_studentized_grad_k_nu_0;
} studentized_range_logpdf_grad_k_nu_set;

DEVICE studentized_range_logpdf_grad_k_nu_set studentized_range_logpdf_grad_k_nu_prepare_set(real k, real nu)
{
    studentized_range_logpdf_grad_k_nu_set set;
    real either;
    real d_nu_either;
    if (isinf(nu)) {
        either = 0;
        d_nu_either = 0;
    } else {
        special_log_rising_grad_x_results call = special_log_rising_grad_x(0.5 * nu, (real)0.5);
        either = call.value - 0.5 * log(0.5 * nu);
        d_nu_either = call.d_x * 0.5 - 0.5 * (special_log_slope(0.5 * nu) * 0.5);
    }
    real d_nu_at_zero = d_nu_either;
    real at_zero = either - 0.5 * LOG_PI;
    set.c0 = k > 1;
    set.c1 = make_studentized_range_logpdf_grad_k_nu_results(special_log_power_at_zero(k - 2, at_zero), k - 2 == 0 ? -INFINITY : 0, k - 2 == 0 ? d_nu_at_zero : 0);
    set.c2 = k < INFINITY;
    set.studentized_range_studentized_grad_k_nu_0 = studentized_range_studentized_grad_k_nu_srss_prepare_set(0, k, nu);
    return set;
}

// studentized_range_logpdf_grad_k_nu: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    int c1;
    studentized_range_studentized_grad_k_nu_srss_row studentized_range_studentized_grad_k_nu_0;
} studentized_range_logpdf_grad_k_nu_row;

DEVICE studentized_range_logpdf_grad_k_nu_row studentized_range_logpdf_grad_k_nu_prepare_row(real x)
{
    studentized_range_logpdf_grad_k_nu_row row;
    row.c0 = isinf(x);
    row.c1 = x == 0;
    row.studentized_range_studentized_grad_k_nu_0 = studentized_range_studentized_grad_k_nu_srss_prepare_row(x);
    return row;
}

// studentized_range_logpdf_grad_k_nu: what depends on both, from what was computed ahead.
DEVICE studentized_range_logpdf_grad_k_nu_results studentized_range_logpdf_grad_k_nu_evaluate(studentized_range_logpdf_grad_k_nu_set set, studentized_range_logpdf_grad_k_nu_row row)
{
    if (row.c0 && set.c0) {
        return make_studentized_range_logpdf_grad_k_nu_results(-INFINITY, 0, 0);
    }
    if (row.c1 && set.c0 && set.c2) {
        return set.c1;
    }
    studentized_range_studentized_grad_k_nu_results call2 = studentized_range_studentized_grad_k_nu_srss_evaluate(set.studentized_range_studentized_grad_k_nu_0, row.studentized_range_studentized_grad_k_nu_0);
    return make_studentized_range_logpdf_grad_k_nu_results(call2.value, call2.d_k, call2.d_nu);
}

// studentized_range_logpdf_checked_grad_k_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    studentized_range_logpdf_grad_k_nu_set studentized_range_0;
    real c1;
} studentized_range_logpdf_checked_grad_k_nu_set;

DEVICE studentized_range_logpdf_checked_grad_k_nu_set studentized_range_logpdf_checked_grad_k_nu_prepare_set(real k, real nu)
{
    studentized_range_logpdf_checked_grad_k_nu_set set;
    real bad_k = k > 0 ? 0 : NAN;
    real bad_nu = nu > 0 ? 0 : NAN;
    set.c0 = !(bad_k == 0 && bad_nu == 0);
    set.studentized_range_0 = studentized_range_logpdf_grad_k_nu_prepare_set(k, nu);
    set.c1 = bad_k + bad_nu;
    return set;
}

// studentized_range_logpdf_checked_grad_k_nu: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_logpdf_grad_k_nu_row studentized_range_0;
    int inside;
    real outside;
    real t;
} studentized_range_logpdf_checked_grad_k_nu_row;

DEVICE studentized_range_logpdf_checked_grad_k_nu_row studentized_range_logpdf_checked_grad_k_nu_prepare_row(real x)
{
    studentized_range_logpdf_checked_grad_k_nu_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.studentized_range_0 = studentized_range_logpdf_grad_k_nu_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// studentized_range_logpdf_checked_grad_k_nu: what depends on both, from what was computed ahead.
DEVICE studentized_range_logpdf_checked_grad_k_nu_results studentized_range_logpdf_checked_grad_k_nu_evaluate(studentized_range_logpdf_checked_grad_k_nu_set set, studentized_range_logpdf_checked_grad_k_nu_row row)
{
    if (set.c0) {
        return make_studentized_range_logpdf_checked_grad_k_nu_results(NAN, NAN, NAN);
    }
    studentized_range_logpdf_grad_k_nu_results call = studentized_range_logpdf_grad_k_nu_evaluate(set.studentized_range_0, row.studentized_range_0);
    real d_k_value = call.d_k;
    real d_nu_value = call.d_nu;
    real value = call.value;
    return make_studentized_range_logpdf_checked_grad_k_nu_results((row.inside || value != value ? value : row.outside) + set.c1, (row.inside || value != value ? d_k_value : row.t) + set.c1, (row.inside || value != value ? d_nu_value : row.t) + set.c1);
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
// Here f has several results: value, d_k, d_nu are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) studentized_range_logpdf_checked_grad_k_nu_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT nu_per_set, index_t nu_offset, index_t nu_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    k_per_set += k_offset;
    nu_per_set += nu_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(studentized_range_logpdf_checked_grad_k_nu_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = studentized_range_logpdf_checked_grad_k_nu_prepare_set(k_per_set[(first_set + MIN(k, sets_here - 1)) * k_stride], nu_per_set[(first_set + MIN(k, sets_here - 1)) * nu_stride]);
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
                    const studentized_range_logpdf_checked_grad_k_nu_row row = studentized_range_logpdf_checked_grad_k_nu_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const studentized_range_logpdf_checked_grad_k_nu_results result = studentized_range_logpdf_checked_grad_k_nu_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_k;
                        total[k * 3 + 2] += result.d_nu;
                    }
                }
                {
                    const studentized_range_logpdf_checked_grad_k_nu_row row = studentized_range_logpdf_checked_grad_k_nu_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const studentized_range_logpdf_checked_grad_k_nu_results result = studentized_range_logpdf_checked_grad_k_nu_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_k;
                        total[k * 3 + 2] += result.d_nu;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const studentized_range_logpdf_checked_grad_k_nu_row row = studentized_range_logpdf_checked_grad_k_nu_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const studentized_range_logpdf_checked_grad_k_nu_results result = studentized_range_logpdf_checked_grad_k_nu_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_k;
                        total[k * 3 + 2] += result.d_nu;
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










