// The gradient kernel of noncentral_f, made by `gpustats generate`. Do not edit.
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
    real d_x;
    real d_n;
} special_log_rising_grad_x_n_results;

DEVICE special_log_rising_grad_x_n_results make_special_log_rising_grad_x_n_results(real value, real d_x, real d_n)
{
    special_log_rising_grad_x_n_results results;
    results.value = value;
    results.d_x = d_x;
    results.d_n = d_n;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_beta_gap_grad_a_b_results;

DEVICE special_beta_gap_grad_a_b_results make_special_beta_gap_grad_a_b_results(real value, real d_a, real d_b)
{
    special_beta_gap_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_beta_series_grad_a_b_results;

DEVICE special_beta_series_grad_a_b_results make_special_beta_series_grad_a_b_results(real value, real d_a, real d_b)
{
    special_beta_series_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_beta_integral_grad_a_b_results;

DEVICE special_beta_integral_grad_a_b_results make_special_beta_integral_grad_a_b_results(real value, real d_a, real d_b)
{
    special_beta_integral_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_beta_fraction_grad_a_b_results;

DEVICE special_beta_fraction_grad_a_b_results make_special_beta_fraction_grad_a_b_results(real value, real d_a, real d_b)
{
    special_beta_fraction_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_x;
    real d_y;
    real d_value;
} special_within_beta_grad_a_b_x_y_value_results;

DEVICE special_within_beta_grad_a_b_x_y_value_results make_special_within_beta_grad_a_b_x_y_value_results(real value, real d_a, real d_b, real d_x, real d_y, real d_value)
{
    special_within_beta_grad_a_b_x_y_value_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_x = d_x;
    results.d_y = d_y;
    results.d_value = d_value;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_x;
    real d_y;
} special_beta_gap_grad_a_b_x_y_results;

DEVICE special_beta_gap_grad_a_b_x_y_results make_special_beta_gap_grad_a_b_x_y_results(real value, real d_a, real d_b, real d_x, real d_y)
{
    special_beta_gap_grad_a_b_x_y_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_x = d_x;
    results.d_y = d_y;
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
} special_log_gamma_power_grad_a_x_results;

DEVICE special_log_gamma_power_grad_a_x_results make_special_log_gamma_power_grad_a_x_results(real value, real d_a, real d_x)
{
    special_log_gamma_power_grad_a_x_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_j;
    real d_m;
} special_log_poisson_grad_j_m_results;

DEVICE special_log_poisson_grad_j_m_results make_special_log_poisson_grad_j_m_results(real value, real d_j, real d_m)
{
    special_log_poisson_grad_j_m_results results;
    results.value = value;
    results.d_j = d_j;
    results.d_m = d_m;
    return results;
}


typedef struct {
    real value;
    real d_m;
    real d_a;
    real d_y;
    real d_s;
    real d_first;
} special_log_mixture_density_grad_m_a_y_s_first_results;

DEVICE special_log_mixture_density_grad_m_a_y_s_first_results make_special_log_mixture_density_grad_m_a_y_s_first_results(real value, real d_m, real d_a, real d_y, real d_s, real d_first)
{
    special_log_mixture_density_grad_m_a_y_s_first_results results;
    results.value = value;
    results.d_m = d_m;
    results.d_a = d_a;
    results.d_y = d_y;
    results.d_s = d_s;
    results.d_first = d_first;
    return results;
}


typedef struct {
    real value;
    real d_d1;
    real d_d2;
} noncentral_f_log_beyond_grad_d1_d2_results;

DEVICE noncentral_f_log_beyond_grad_d1_d2_results make_noncentral_f_log_beyond_grad_d1_d2_results(real value, real d_d1, real d_d2)
{
    noncentral_f_log_beyond_grad_d1_d2_results results;
    results.value = value;
    results.d_d1 = d_d1;
    results.d_d2 = d_d2;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_log_beta_scale_grad_a_b_results;

DEVICE special_log_beta_scale_grad_a_b_results make_special_log_beta_scale_grad_a_b_results(real value, real d_a, real d_b)
{
    special_log_beta_scale_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_log_beta_power_grad_a_b_results;

DEVICE special_log_beta_power_grad_a_b_results make_special_log_beta_power_grad_a_b_results(real value, real d_a, real d_b)
{
    special_log_beta_power_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
} special_log_beta_tail_grad_a_b_results;

DEVICE special_log_beta_tail_grad_a_b_results make_special_log_beta_tail_grad_a_b_results(real value, real d_a, real d_b)
{
    special_log_beta_tail_grad_a_b_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_x;
    real d_y;
} special_log_beta_tail_grad_a_b_x_y_results;

DEVICE special_log_beta_tail_grad_a_b_x_y_results make_special_log_beta_tail_grad_a_b_x_y_results(real value, real d_a, real d_b, real d_x, real d_y)
{
    special_log_beta_tail_grad_a_b_x_y_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_x = d_x;
    results.d_y = d_y;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_x;
    real d_y;
} special_log_beta_p_grad_a_b_x_y_results;

DEVICE special_log_beta_p_grad_a_b_x_y_results make_special_log_beta_p_grad_a_b_x_y_results(real value, real d_a, real d_b, real d_x, real d_y)
{
    special_log_beta_p_grad_a_b_x_y_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_x = d_x;
    results.d_y = d_y;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_x;
    real d_y;
} special_log_beta_power_grad_a_b_x_y_results;

DEVICE special_log_beta_power_grad_a_b_x_y_results make_special_log_beta_power_grad_a_b_x_y_results(real value, real d_a, real d_b, real d_x, real d_y)
{
    special_log_beta_power_grad_a_b_x_y_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_x = d_x;
    results.d_y = d_y;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_p;
    real d_q;
} special_mixture_component_grad_a_b_p_q_results;

DEVICE special_mixture_component_grad_a_b_p_q_results make_special_mixture_component_grad_a_b_p_q_results(real value, real d_a, real d_b, real d_p, real d_q)
{
    special_mixture_component_grad_a_b_p_q_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_p = d_p;
    results.d_q = d_q;
    return results;
}


typedef struct {
    real value;
    real d_m;
    real d_a;
    real d_b;
    real d_p;
    real d_q;
} special_log_mixture_grad_m_a_b_p_q_results;

DEVICE special_log_mixture_grad_m_a_b_p_q_results make_special_log_mixture_grad_m_a_b_p_q_results(real value, real d_m, real d_a, real d_b, real d_p, real d_q)
{
    special_log_mixture_grad_m_a_b_p_q_results results;
    results.value = value;
    results.d_m = d_m;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_p = d_p;
    results.d_q = d_q;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_sigma;
} beta_prime_logpdf_grad_alpha_beta_sigma_results;

DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_results make_beta_prime_logpdf_grad_alpha_beta_sigma_results(real value, real d_alpha, real d_beta, real d_sigma)
{
    beta_prime_logpdf_grad_alpha_beta_sigma_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_d1;
    real d_d2;
    real d_lam;
} noncentral_f_logpdf_grad_d1_d2_lam_results;

DEVICE noncentral_f_logpdf_grad_d1_d2_lam_results make_noncentral_f_logpdf_grad_d1_d2_lam_results(real value, real d_d1, real d_d2, real d_lam)
{
    noncentral_f_logpdf_grad_d1_d2_lam_results results;
    results.value = value;
    results.d_d1 = d_d1;
    results.d_d2 = d_d2;
    results.d_lam = d_lam;
    return results;
}


typedef struct {
    real value;
    real d_d1;
    real d_d2;
    real d_lam;
} noncentral_f_logpdf_checked_grad_d1_d2_lam_results;

DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_results make_noncentral_f_logpdf_checked_grad_d1_d2_lam_results(real value, real d_d1, real d_d2, real d_lam)
{
    noncentral_f_logpdf_checked_grad_d1_d2_lam_results results;
    results.value = value;
    results.d_d1 = d_d1;
    results.d_d2 = d_d2;
    results.d_lam = d_lam;
    return results;
}


DEVICE real special_within_range(real y)
{
    real e = 1 / EPSILON;
    real e3 = e * e * e;
    real most = EPSILON < 1e-10 ? e3 * e3 * e3 : e3;
    return fmin(fmax(y, 1 / most), most);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
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

DEVICE real special_legendre_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.36268378337836198297 : i == 1 ? 0.31370664587788728734 : i == 2 ? 0.22238103445337447054 : 0.10122853629037625915;
}

DEVICE real special_legendre_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.18343464249564980494 : i == 1 ? 0.52553240991632898582 : i == 2 ? 0.79666647741362673959 : 0.96028985649753623168;
    return k == int_product(2, i) ? node : -node;
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

DEVICE real special_log_gamma_1p(real x)
{
    return x <= 1 ? special_log_gamma_near_two(x) - log1p(x) : special_log_gamma(1 + x);
}

DEVICE special_log_rising_grad_x_n_results special_log_rising_grad_x_n(real x, real n)
{
    if (n > 0.5 * (1 + x)) {
        real t = special_digamma(x + n);
        return make_special_log_rising_grad_x_n_results(special_log_gamma(x + n) - special_log_gamma(x), t - special_digamma(x), t);
    }
    real d_x_sum = 0;
    real d_n_sum = 0;
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real t2 = special_legendre_weight(k);
        real t3 = 1 + special_legendre_node(k);
        real t4 = 1 + x + 0.5 * n * t3;
        real t5 = special_trigamma(t4);
        d_x_sum += t2 * t5;
        d_n_sum += t2 * (t5 * (0.5 * t3));
        sum += t2 * special_digamma(t4);
    }
    real t6 = n / x;
    real t7 = 1 / x;
    real t8 = 1 / (1 + t6);
    return make_special_log_rising_grad_x_n_results(0.5 * n * sum - log1p(t6), 0.5 * n * d_x_sum + t6 * t7 * t8, 0.5 * sum + 0.5 * n * d_n_sum - t8 * t7);
}

DEVICE special_beta_gap_grad_a_b_results special_beta_gap_grad_a_b(real a, real b, real x, real y)
{
    real n = a + b;
    real d_a_rest = int_difference(a <= b || b != b ? 1 : 0, 1 - (a > b || b != b ? 1 : 0));
    real d_b_rest = int_difference(a <= b || b != b ? 0 : 1, 1 - (a > b || b != b ? 0 : 1));
    real rest = fmin(a, b) - (n - fmax(a, b));
    return make_special_beta_gap_grad_a_b_results(x < y ? fma(-x, n, a) - x * rest : fma(y, n, -b) + y * rest, x < y ? 1 - x - x * d_a_rest : y + y * d_a_rest, x < y ? -x - x * d_b_rest : y - 1 + y * d_b_rest);
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

DEVICE real special_stirling_error_derivative(real x)
{
    return x < 3 ? special_digamma(x) - log(x) + 0.5 / x : special_stirling_series_derivative(x);
}

DEVICE real special_stirling_error(real x)
{
    if (x >= 3) {
        return special_stirling_series(x);
    }
    real shift = x < 1.5 ? 1 : 0;
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

DEVICE int special_beta_needs_series(real a, real b)
{
    real smaller = fmin(a, b);
    return smaller < 0.5 || smaller < 1.5 && fmax(a, b) > 5;
}

DEVICE int special_beta_from_below(real a, real b, real x, real y)
{
    int series = special_beta_needs_series(a, b);
    int below = series && x <= 0.5 && b * x < 1.5;
    int above = series && y <= 0.5 && a * y < 1.5;
    return below || !above && b * x <= a * y;
}

DEVICE special_beta_series_grad_a_b_results special_beta_series_grad_a_b(real a, real b, real x)
{
    real d_b_power = 0;
    real power = 1;
    real d_a_sum = 0;
    real d_b_sum = 0;
    real sum = 0;
    real rate = -log(x);
    real d_b_shape = b <= (real)3 || (real)3 != (real)3 ? 1 : 0;
    real shape = fmin(b, (real)3);
    int turns = to_int(EPSILON < 1e-10 ? 8 + 6 * shape + 40 / rate : 6 + 3 * shape + 18 / rate);
    for (int k = 1; k < (turns < 100 ? turns : 100); k = int_sum(k, 1)) {  // until the condition fails
        real t = (real)1 / k;
        real t2 = (k - b) * x * t;
        d_b_power = t2 * d_b_power - power * x * t;
        power *= t2;
        real t3 = power / (a + k);
        real t4 = 1 / (a + k);
        d_a_sum -= t3 * t4;
        d_b_sum += d_b_power * t4;
        sum += t3;
    }
    return make_special_beta_series_grad_a_b_results(a * sum, sum + a * d_a_sum, a * d_b_sum);
}

DEVICE real special_beta_gap(real a, real b, real x, real y)
{
    real n = a + b;
    real rest = fmin(a, b) - (n - fmax(a, b));
    return x < y ? fma(-x, n, a) - x * rest : fma(y, n, -b) + y * rest;
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
}

DEVICE special_beta_integral_grad_a_b_results special_beta_integral_grad_a_b(real a, real b, real x, real y)
{
    special_beta_gap_grad_a_b_results call = special_beta_gap_grad_a_b(a, b, x, y);
    real t = 1 / (x * y);
    real d_a_slope = call.d_a * t;
    real d_b_slope = call.d_b * t;
    real slope = call.value / (x * y);
    real width = special_panel_width(slope, sqrt(x * y / (a + b)));
    real d_a_sum = 0;
    real d_b_sum = 0;
    real sum = 0;
    real d_a_last = 0;
    real d_b_last = 0;
    real last = 1;
    for (int panel = 0; panel < 16 && last > 0.01 * EPSILON && THREAD < 65536; panel++) {
        for (int k = 0; k < 8; k++) {
            real d = width * (panel + 0.5 * (1 + special_legendre_node(k)));
            real t2 = special_log_excess(0, -d / x);
            real t3 = special_log_excess(0, d / y);
            real t4 = exp(a * t2 + b * t3 - slope * d);
            real t5 = (x - d) * (y + d);
            real t6 = 1 / t5;
            real d_a_density = t4 * (t2 - d * d_a_slope) * t6;
            real d_b_density = t4 * (t3 - d * d_b_slope) * t6;
            real density = t4 / t5;
            real t7 = special_legendre_weight(k);
            d_a_sum += t7 * d_a_density;
            d_b_sum += t7 * d_b_density;
            sum += t7 * density;
            d_a_last = x * y * d_a_density;
            d_b_last = x * y * d_b_density;
            last = density * (x * y);
        }
    }
    return make_special_beta_integral_grad_a_b_results(0.5 * width * sum, 0.5 * width * d_a_sum, 0.5 * width * d_b_sum);
}

DEVICE special_beta_fraction_grad_a_b_results special_beta_fraction_grad_a_b(real a, real b, real x, real y, int turns)
{
    special_beta_gap_grad_a_b_results call = special_beta_gap_grad_a_b(a, b, x, y);
    real d_a_gap = call.d_a;
    real d_b_gap = call.d_b;
    real gap = call.value;
    real t = 1 / (1 + gap + turns);
    real d_a_scale = -(t * d_a_gap * t);
    real d_b_scale = -(t * d_b_gap * t);
    real scale = t;
    real t2 = 1 / (a + 1);
    real d_a_inverse = -(t2 * t2);
    real inverse = t2;
    real d_a_above_before = 0;
    real d_b_above_before = 0;
    real above_before = 0;
    real d_a_above = 0;
    real d_b_above = 0;
    real above = 1;
    real d_a_below_before = 0;
    real d_b_below_before = 0;
    real below_before = 1;
    real t3 = a * (gap + 1) * inverse;
    real d_a_below = (gap + 1) * inverse * scale + a * inverse * scale * d_a_gap + a * (gap + 1) * scale * d_a_inverse + t3 * d_a_scale;
    real d_b_below = a * inverse * scale * d_b_gap + t3 * d_b_scale;
    real below = t3 * scale;
    for (int k = 1; k < (turns < 180 ? turns : 180); k = int_sum(k, 1)) {  // until the condition fails
        real t4 = k * (b - k) * x;
        real d_a_share = t4 * d_a_inverse;
        real d_b_share = k * x * inverse;
        real share = t4 * inverse;
        real t5 = a + b + k - 1;
        real t6 = (a + k - 1) * inverse;
        real t7 = t6 * x * share * scale * scale;
        real t8 = t6 * t5 * x * scale * scale;
        real t9 = 2 * (a + k - 1) * inverse * t5 * x * share * scale;
        real d_a_weight = inverse * t5 * x * share * scale * scale + (a + k - 1) * t5 * x * share * scale * scale * d_a_inverse + t7 + t8 * d_a_share + t9 * d_a_scale;
        real d_b_weight = t7 + t8 * d_b_share + t9 * d_b_scale;
        real weight = t6 * (t5 * x * share) * (scale * scale);
        real t10 = 1 / (a + int_product(2, k) + 1);
        d_a_inverse = -(t10 * t10);
        inverse = t10;
        real t11 = gap + 1 + k * (1 + y);
        real t12 = (a + k) * t11;
        real t13 = k + share + t12 * inverse;
        real d_a_factor = scale * (d_a_share + (t11 * inverse + (a + k) * inverse * d_a_gap + t12 * d_a_inverse)) + t13 * d_a_scale;
        real d_b_factor = scale * (d_b_share + (a + k) * inverse * d_b_gap) + t13 * d_b_scale;
        real factor = t13 * scale;
        real d_a_next_above = above * d_a_factor + factor * d_a_above + (above_before * d_a_weight + weight * d_a_above_before);
        real d_b_next_above = above * d_b_factor + factor * d_b_above + (above_before * d_b_weight + weight * d_b_above_before);
        real next_above = factor * above + weight * above_before;
        real d_a_next_below = below * d_a_factor + factor * d_a_below + (below_before * d_a_weight + weight * d_a_below_before);
        real d_b_next_below = below * d_b_factor + factor * d_b_below + (below_before * d_b_weight + weight * d_b_below_before);
        real next_below = factor * below + weight * below_before;
        d_a_above_before = d_a_above;
        d_b_above_before = d_b_above;
        above_before = above;
        d_a_below_before = d_a_below;
        d_b_below_before = d_b_below;
        below_before = below;
        d_a_above = d_a_next_above;
        d_b_above = d_b_next_above;
        above = next_above;
        d_a_below = d_a_next_below;
        d_b_below = d_b_next_below;
        below = next_below;
    }
    real t14 = above / below;
    real t15 = 1 / below;
    return make_special_beta_fraction_grad_a_b_results(scale * t14, t14 * d_a_scale + scale * ((d_a_above - t14 * d_a_below) * t15), t14 * d_b_scale + scale * ((d_b_above - t14 * d_b_below) * t15));
}

DEVICE int special_beta_fraction_turns(real a, real b)
{
    real smaller = fmin(a, b);
    real x = fmax(a, b) / (a + b);
    real root = 1 + sqrt(smaller / (a + b));
    real rate = 2 * log(root * root / x);
    real size = sqrt(fmin(smaller, (real)1000));
    real most = 10 + fmin((real)65, 90 / smaller) + (EPSILON < 1e-10 ? 3.1 : 1.8) * size;
    return to_int(fmin(EPSILON < 1e-10 ? 3 + 38 / rate + 1.6 * size : 3 + 18 / rate + 1.2 * size, most));
}

DEVICE real special_log_beta_tail_grad_y(real a, real b, real x, real y, real value)
{
    return 0;
}

DEVICE special_within_beta_grad_a_b_x_y_value_results special_within_beta_grad_a_b_x_y_value(real a, real b, real x, real y, real value, real at_zero, real at_one)
{
    real t = !(a >= 0 && b >= 0 && x >= 0 && y >= 0) ? NAN : 0;
    return make_special_within_beta_grad_a_b_x_y_value_results(!(a >= 0 && b >= 0 && x >= 0 && y >= 0) ? NAN : y == 0 || a == 0 || isinf(b) ? at_one : x == 0 || b == 0 || isinf(a) ? at_zero : value, t, t, t, t, !(a >= 0 && b >= 0 && x >= 0 && y >= 0) ? NAN : y == 0 || a == 0 || isinf(b) ? 0 : x == 0 || b == 0 || isinf(a) ? 0 : 1);
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE special_beta_gap_grad_a_b_x_y_results special_beta_gap_grad_a_b_x_y(real a, real b, real x, real y)
{
    real n = a + b;
    real d_a_rest = int_difference(a <= b || b != b ? 1 : 0, 1 - (a > b || b != b ? 1 : 0));
    real d_b_rest = int_difference(a <= b || b != b ? 0 : 1, 1 - (a > b || b != b ? 0 : 1));
    real rest = fmin(a, b) - (n - fmax(a, b));
    return make_special_beta_gap_grad_a_b_x_y_results(x < y ? fma(-x, n, a) - x * rest : fma(y, n, -b) + y * rest, x < y ? 1 - x - x * d_a_rest : y + y * d_a_rest, x < y ? -x - x * d_b_rest : y - 1 + y * d_b_rest, x < y ? -n - rest : 0, x < y ? 0 : n + rest);
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

DEVICE real special_scaled_erfc(real x)
{
    real t = 1 - 7.5 / (x + 3.75);
    real series = 1.237512630837827582 + t * (-0.1402405985855452088 + t * (0.003585415485466306909 + t * (0.08227673848999158997 + t * (-0.108803930141939147 + t * (0.09230432116435615983 + t * (-0.05869339858449184774 + t * (0.02836227737137004573 + t * (-0.009746579620815090139 + t * (0.001755626169227672094 + t * (0.0002937140877722768239 + t * (-0.0002901553656394712841 + t * (5.164737123871837686e-5 + t * (2.238759272534768919e-5 + t * (-1.143961526007594973e-5 + t * (-9.792975290998229177e-7 + t * (1.743857741135918114e-6 + t * (-5.081691181169818825e-8 + t * (-2.499653803740524239e-7 + t * (1.87785011564687965e-8 + t * (3.256499083798512925e-8 + t * (-1.952790162974836892e-9 + t * -2.729394133253385506e-9)))))))))))))))))))));
    return series / (1 + 2 * x);
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

DEVICE real special_gamma_middle(real a)
{
    return a < 1 ? 1.5 : a > 20 ? a : a + sqrt(a);
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

DEVICE special_within_gamma_grad_a_x_value_results special_within_gamma_grad_a_x_value(real a, real x, real value, real at_zero, real at_infinity)
{
    real t = !(a >= 0 && x >= 0) ? NAN : 0;
    return make_special_within_gamma_grad_a_x_value_results(!(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value, t, t, !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? 0 : x == 0 || isinf(a) ? 0 : 1);
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

DEVICE special_log_gamma_power_grad_a_x_results special_log_gamma_power_grad_a_x(real a, real x)
{
    real t = x / a;
    real t2 = (x - a) / a;
    real t3 = special_log_ratio_excess(t, t2);
    real t4 = t2 / t;
    real t5 = 1 / a;
    real t6 = (-1 - t2) * t5;
    return make_special_log_gamma_power_grad_a_x_results(a * t3 - (0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a)), t3 + a * (fabs(t2) < 0.5 ? -(t4 * t6) : -(t * t5 / t) - t6) - (0.5 * special_log_slope(a) + special_stirling_error_derivative(a)), a * (fabs(t2) < 0.5 ? -(t4 * t5) : t5 / t - t5));
}

DEVICE special_log_poisson_grad_j_m_results special_log_poisson_grad_j_m(real j, real m)
{
    real either;
    real d_j_either;
    real d_m_either;
    if (j == 0) {
        either = -m;
        d_j_either = 0;
        d_m_either = -1;
    } else {
        special_log_gamma_power_grad_a_x_results call = special_log_gamma_power_grad_a_x(j, m);
        either = call.value;
        d_j_either = call.d_a;
        d_m_either = call.d_x;
    }
    return make_special_log_poisson_grad_j_m_results(either, d_j_either, d_m_either);
}

DEVICE int special_large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

DEVICE real special_lbeta_derivative(real a, real b)
{
    real sum = a + b;
    return special_stirling_error_derivative(a) - special_stirling_error_derivative(sum) - 0.5 * b / (a * sum) - log1p(b / a);
}

DEVICE real special_lbeta(real a, real b)
{
    real p = fmin(a, b);
    real q = fmax(a, b);
    return special_stirling_error(p) + (special_stirling_error(q) - special_stirling_error(p + q)) + HALF_LOG_2PI - 0.5 * log(q) - (p - 0.5) * log1p(q / p) - q * log1p(p / q);
}

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

DEVICE special_log_mixture_density_grad_m_a_y_s_first_results special_log_mixture_density_grad_m_a_y_s_first(real m, real a, real y, real s, real first)
{
    real d_m_sum = 0;
    real d_a_sum = 0;
    real d_y_sum = 0;
    real d_s_sum = 0;
    real d_first_sum = 0;
    real sum = 1;
    real d_m_term = 0;
    real d_a_term = 0;
    real d_y_term = 0;
    real d_s_term = 0;
    real d_first_term = 0;
    real term = 1;
    for (int i = 0; i < 30000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
        real j = first + i;
        real t = m / (j + 1);
        real t2 = (y + s * j) / (a + j);
        real t3 = t * t2;
        real t4 = term * t2;
        real t5 = 1 / (j + 1);
        real t6 = 1 / (a + j);
        real t7 = term * t;
        d_m_term = t3 * d_m_term + t4 * t5;
        d_a_term = t3 * d_a_term - t2 * t6 * t7;
        d_y_term = t3 * d_y_term + t7 * t6;
        d_s_term = t3 * d_s_term + t7 * (j * t6);
        d_first_term = t3 * d_first_term - t * t5 * t4 + t7 * ((s - t2) * t6);
        term *= t3;
        d_m_sum += d_m_term;
        d_a_sum += d_a_term;
        d_y_sum += d_y_term;
        d_s_sum += d_s_term;
        d_first_sum += d_first_term;
        sum += term;
    }
    d_m_term = 0;
    d_a_term = 0;
    d_y_term = 0;
    d_s_term = 0;
    d_first_term = 0;
    term = 1;
    for (int i_2 = 0; i_2 < 30000 && i_2 < first && term > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
        real j_2 = first - i_2;
        real t8 = j_2 / m;
        real t9 = y + s * (j_2 - 1);
        real t10 = (a + j_2 - 1) / t9;
        real t11 = t8 * t10;
        real t12 = 1 / m;
        real t13 = term * t10;
        real t14 = term * t8;
        real t15 = 1 / t9;
        d_m_term = t11 * d_m_term - t8 * t12 * t13;
        d_a_term = t11 * d_a_term + t14 * t15;
        d_y_term = t11 * d_y_term - t10 * t15 * t14;
        d_s_term = t11 * d_s_term - t10 * (j_2 - 1) * t15 * t14;
        d_first_term = t11 * d_first_term + t13 * t12 + t14 * ((1 - t10 * s) * t15);
        term *= t11;
        d_m_sum += d_m_term;
        d_a_sum += d_a_term;
        d_y_sum += d_y_term;
        d_s_sum += d_s_term;
        d_first_sum += d_first_term;
        sum += term;
    }
    real t16 = special_log_slope(sum);
    return make_special_log_mixture_density_grad_m_a_y_s_first_results(log(sum), t16 * d_m_sum, t16 * d_a_sum, t16 * d_y_sum, t16 * d_s_sum, t16 * d_first_sum);
}

DEVICE int special_mixture_has_stride(real m)
{
    return m > 2000;
}

DEVICE int special_mixture_is_vague(real m)
{
    return sqrt(m) * EPSILON > 0.01;
}

// special_mixture_peak: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real m;
    real a;
    real c1;
} special_mixture_peak_ssmm_set;

DEVICE special_mixture_peak_ssmm_set special_mixture_peak_ssmm_prepare_set(real m, real a)
{
    special_mixture_peak_ssmm_set set;
    set.c0 = a + 1;
    set.m = m;
    set.a = a;
    set.c1 = sqrt(m);
    return set;
}

// special_mixture_peak: what depends on both, from what was computed ahead.
DEVICE real special_mixture_peak_ssmm_evaluate(special_mixture_peak_ssmm_set set, real y, real s)
{
    real b = set.c0 - set.m * s;
    real c = set.m * y - set.a;
    real root = sqrt(fmax(b * b + 4 * c, (real)0));
    if (y > special_within_range(y)) {
        real h = 0.5 * b;
        real g = set.c1 * sqrt(y);
        return floor(g * (g / (h + hypot(h, g))));
    }
    return floor(fmax(b > 0 ? 2 * c / (b + root) : 0.5 * (root - b), (real)0));
}

// special_log_quotient: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real s;
    real c0;
} special_log_quotient_set;

DEVICE special_log_quotient_set special_log_quotient_prepare_set(real s)
{
    special_log_quotient_set set;
    set.s = s;
    set.c0 = log(s);
    return set;
}

// special_log_quotient: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
} special_log_quotient_row;

DEVICE special_log_quotient_row special_log_quotient_prepare_row(real x)
{
    special_log_quotient_row row;
    row.x = x;
    row.c0 = log(x);
    return row;
}

// special_log_quotient: what depends on both, from what was computed ahead.
DEVICE real special_log_quotient_evaluate(special_log_quotient_set set, special_log_quotient_row row)
{
    real value = log(row.x / set.s);
    return fabs(value) < (EPSILON < 1e-10 ? 600 : 60) ? value : row.c0 - set.c0;
}

// noncentral_f_log_beyond_grad_d1_d2: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real t;
    real c0;
    real t4;
    real t2;
    special_log_quotient_set special_0;
    real c1;
    real c2;
} noncentral_f_log_beyond_grad_d1_d2_set;

DEVICE noncentral_f_log_beyond_grad_d1_d2_set noncentral_f_log_beyond_grad_d1_d2_prepare_set(real d1, real d2)
{
    noncentral_f_log_beyond_grad_d1_d2_set set;
    real t = d2 / d1;
    real t2 = 1 / d1;
    real t4 = 1 / t;
    real t6 = d2 / d1;
    real t7 = 1 / d1;
    real t8 = special_log_slope(t6);
    set.t = t;
    set.c0 = t * t2;
    set.t4 = t4;
    set.t2 = t2;
    set.special_0 = special_log_quotient_prepare_set(t6);
    set.c1 = t6 * t7 * t8;
    set.c2 = -(t8 * t7);
    return set;
}

// noncentral_f_log_beyond_grad_d1_d2: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    special_log_quotient_row special_0;
} noncentral_f_log_beyond_grad_d1_d2_row;

DEVICE noncentral_f_log_beyond_grad_d1_d2_row noncentral_f_log_beyond_grad_d1_d2_prepare_row(real x)
{
    noncentral_f_log_beyond_grad_d1_d2_row row;
    row.x = x;
    row.special_0 = special_log_quotient_prepare_row(x);
    return row;
}

// noncentral_f_log_beyond_grad_d1_d2: what depends on both, from what was computed ahead.
DEVICE noncentral_f_log_beyond_grad_d1_d2_results noncentral_f_log_beyond_grad_d1_d2_evaluate(noncentral_f_log_beyond_grad_d1_d2_set set, noncentral_f_log_beyond_grad_d1_d2_row row)
{
    real t3 = row.x / set.t;
    real d_d1_z = set.c0 * t3 * set.t4;
    real d_d2_z = -(t3 * set.t2 * set.t4);
    real z = t3;
    real t5 = special_within_range(z);
    real d_d1_within = z == t5 ? d_d1_z : 0;
    real d_d2_within = z == t5 ? d_d2_z : 0;
    real within = t5;
    real t9 = special_log_slope(within);
    return make_noncentral_f_log_beyond_grad_d1_d2_results(z == within ? 0 : special_log_quotient_evaluate(set.special_0, row.special_0) - log(within), z == within ? 0 : set.c1 - t9 * d_d1_within, z == within ? 0 : set.c2 - t9 * d_d2_within);
}

// special_log_rising_grad_x_n: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real x;
    real c0;
    real c1;
    real c2;
    real c3;
    real t7;
} special_log_rising_grad_x_n_sm_set;

DEVICE special_log_rising_grad_x_n_sm_set special_log_rising_grad_x_n_sm_prepare_set(real x)
{
    special_log_rising_grad_x_n_sm_set set;
    real t7 = 1 / x;
    set.x = x;
    set.c0 = special_log_gamma(x);
    set.c1 = special_digamma(x);
    set.c2 = 0.5 * (1 + x);
    set.c3 = 1 + x;
    set.t7 = t7;
    return set;
}

// special_log_rising_grad_x_n: what depends on both, from what was computed ahead.
DEVICE special_log_rising_grad_x_n_results special_log_rising_grad_x_n_sm_evaluate(special_log_rising_grad_x_n_sm_set set, real n)
{
    if (n > set.c2) {
        real t = special_digamma(set.x + n);
        return make_special_log_rising_grad_x_n_results(special_log_gamma(set.x + n) - set.c0, t - set.c1, t);
    }
    real d_x_sum = 0;
    real d_n_sum = 0;
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real t2 = special_legendre_weight(k);
        real t3 = 1 + special_legendre_node(k);
        real t4 = set.c3 + 0.5 * n * t3;
        real t5 = special_trigamma(t4);
        d_x_sum += t2 * t5;
        d_n_sum += t2 * (t5 * (0.5 * t3));
        sum += t2 * special_digamma(t4);
    }
    real t6 = n / set.x;
    real t8 = 1 / (1 + t6);
    return make_special_log_rising_grad_x_n_results(0.5 * n * sum - log1p(t6), 0.5 * n * d_x_sum + t6 * set.t7 * t8, 0.5 * sum + 0.5 * n * d_n_sum - t8 * set.t7);
}

// special_log_beta_scale_grad_a_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_rising_grad_x_n_sm_set special_0;
} special_log_beta_scale_grad_a_b_ms_set;

DEVICE special_log_beta_scale_grad_a_b_ms_set special_log_beta_scale_grad_a_b_ms_prepare_set(real b)
{
    special_log_beta_scale_grad_a_b_ms_set set;
    set.special_0 = special_log_rising_grad_x_n_sm_prepare_set(b);
    return set;
}

// special_log_beta_scale_grad_a_b: what depends on both, from what was computed ahead.
DEVICE special_log_beta_scale_grad_a_b_results special_log_beta_scale_grad_a_b_ms_evaluate(special_log_beta_scale_grad_a_b_ms_set set, real a)
{
    special_log_rising_grad_x_n_results call = special_log_rising_grad_x_n_sm_evaluate(set.special_0, a);
    return make_special_log_beta_scale_grad_a_b_results(special_log_gamma_1p(a) - call.value, special_digamma(1 + a) - call.d_n, -call.d_x);
}

// special_log_beta_scale_grad_a_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
    real c1;
} special_log_beta_scale_grad_a_b_sm_set;

DEVICE special_log_beta_scale_grad_a_b_sm_set special_log_beta_scale_grad_a_b_sm_prepare_set(real a)
{
    special_log_beta_scale_grad_a_b_sm_set set;
    set.a = a;
    set.c0 = special_log_gamma_1p(a);
    set.c1 = special_digamma(1 + a);
    return set;
}

// special_log_beta_scale_grad_a_b: what depends on both, from what was computed ahead.
DEVICE special_log_beta_scale_grad_a_b_results special_log_beta_scale_grad_a_b_sm_evaluate(special_log_beta_scale_grad_a_b_sm_set set, real b)
{
    special_log_rising_grad_x_n_results call = special_log_rising_grad_x_n(b, set.a);
    return make_special_log_beta_scale_grad_a_b_results(set.c0 - call.value, set.c1 - call.d_n, -call.d_x);
}

// special_log_beta_power_grad_a_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    real t14;
    real c0;
    real c1;
} special_log_beta_power_grad_a_b_msmm_set;

DEVICE special_log_beta_power_grad_a_b_msmm_set special_log_beta_power_grad_a_b_msmm_prepare_set(real b)
{
    special_log_beta_power_grad_a_b_msmm_set set;
    real t14 = 1 / b;
    set.b = b;
    set.t14 = t14;
    set.c0 = special_stirling_error(b);
    set.c1 = special_stirling_error_derivative(b);
    return set;
}

// special_log_beta_power_grad_a_b: what depends on both, from what was computed ahead.
DEVICE special_log_beta_power_grad_a_b_results special_log_beta_power_grad_a_b_msmm_evaluate(special_log_beta_power_grad_a_b_msmm_set set, real a, real x, real y)
{
    real n = a + set.b;
    special_beta_gap_grad_a_b_results call = special_beta_gap_grad_a_b(a, set.b, x, y);
    real d_a_gap = call.d_a;
    real d_b_gap = call.d_b;
    real gap = call.value;
    real t = n / a;
    real t2 = x * t;
    real t3 = -gap / a;
    real t4 = special_log_ratio_excess(t2, t3);
    real t5 = n / set.b;
    real t6 = y * t5;
    real t7 = gap / set.b;
    real t8 = special_log_ratio_excess(t6, t7);
    real t9 = set.b / n;
    real t10 = t3 / t2;
    real t11 = 1 / a;
    real t12 = (gap / a - d_a_gap) * t11;
    real t13 = t7 / t6;
    real t15 = d_a_gap * set.t14;
    real t16 = 1 / n;
    real t17 = special_log_slope(t9);
    real t18 = special_stirling_error_derivative(n);
    real t19 = d_b_gap * t11;
    real t20 = (d_b_gap - t7) * set.t14;
    return make_special_log_beta_power_grad_a_b_results(a * t4 + set.b * t8 + (0.5 * (log(a) + log(t9)) - HALF_LOG_2PI - (special_stirling_error(a) + (set.c0 - special_stirling_error(n)))), t4 + a * (fabs(t3) < 0.5 ? -(t10 * t12) : x * ((1 - t) * t11) / t2 - t12) + set.b * (fabs(t7) < 0.5 ? -(t13 * t15) : y * set.t14 / t6 - t15) + (0.5 * (special_log_slope(a) - t9 * t16 * t17) - (special_stirling_error_derivative(a) - t18)), a * (fabs(t3) < 0.5 ? t19 * t10 : x * t11 / t2 + t19) + (t8 + set.b * (fabs(t7) < 0.5 ? -(t13 * t20) : y * ((1 - t5) * set.t14) / t6 - t20)) + (0.5 * (t17 * ((1 - t9) * t16)) - (set.c1 - t18)));
}

// special_log_beta_tail_grad_a_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    special_log_beta_scale_grad_a_b_ms_set special_0;
    special_log_beta_scale_grad_a_b_sm_set special_1;
    int c0;
    special_log_beta_power_grad_a_b_msmm_set special_2;
} special_log_beta_tail_grad_a_b_msmm_set;

DEVICE special_log_beta_tail_grad_a_b_msmm_set special_log_beta_tail_grad_a_b_msmm_prepare_set(real b)
{
    special_log_beta_tail_grad_a_b_msmm_set set;
    set.b = b;
    set.special_0 = special_log_beta_scale_grad_a_b_ms_prepare_set(b);
    set.special_1 = special_log_beta_scale_grad_a_b_sm_prepare_set(b);
    set.c0 = b > 1000;
    set.special_2 = special_log_beta_power_grad_a_b_msmm_prepare_set(b);
    return set;
}

// special_log_beta_tail_grad_a_b: what depends on both, from what was computed ahead.
DEVICE special_log_beta_tail_grad_a_b_results special_log_beta_tail_grad_a_b_msmm_evaluate(special_log_beta_tail_grad_a_b_msmm_set set, real a, real x, real y)
{
    int below = special_beta_from_below(a, set.b, x, y);
    real d_a_s = below ? 1 : 0;
    real d_b_s = below ? 0 : 1;
    real s = below ? a : set.b;
    real d_a_t = below ? 0 : 1;
    real d_b_t = below ? 1 : 0;
    real t = below ? set.b : a;
    real u = below ? x : y;
    real v = below ? y : x;
    if (special_beta_needs_series(a, set.b) && THREAD < 65536) {
        if (u <= 0.5 && t * u < 1.5 && THREAD < 65536) {
            real either;
            real d_a_either;
            real d_b_either;
            if (below) {
                special_log_beta_scale_grad_a_b_results call = special_log_beta_scale_grad_a_b_ms_evaluate(set.special_0, a);
                either = call.value;
                d_a_either = call.d_a;
                d_b_either = call.d_b;
            } else {
                special_log_beta_scale_grad_a_b_results call2 = special_log_beta_scale_grad_a_b_sm_evaluate(set.special_1, a);
                either = call2.value;
                d_a_either = call2.d_b;
                d_b_either = call2.d_a;
            }
            special_beta_series_grad_a_b_results call3 = special_beta_series_grad_a_b(s, t, u);
            real t2 = log(u);
            real t3 = 1 / (1 + call3.value);
            return make_special_log_beta_tail_grad_a_b_results(s * t2 - either + log1p(call3.value), t2 * d_a_s - d_a_either + t3 * (call3.d_a * d_a_s + call3.d_b * d_a_t), t2 * d_b_s - d_b_either + t3 * (call3.d_a * d_b_s + call3.d_b * d_b_t));
        }
    }
    int central = a > 1000 && set.c0 && special_beta_gap(s, t, u, v) < 3 * sqrt(x * y * (a + set.b));
    special_log_beta_power_grad_a_b_results call4 = special_log_beta_power_grad_a_b_msmm_evaluate(set.special_2, a, x, y);
    real either2;
    real d_a_either2;
    real d_b_either2;
    if (central && THREAD < 65536) {
        special_beta_integral_grad_a_b_results call5 = special_beta_integral_grad_a_b(s, t, u, v);
        either2 = call5.value;
        d_a_either2 = call5.d_a * d_a_s + call5.d_b * d_a_t;
        d_b_either2 = call5.d_a * d_b_s + call5.d_b * d_b_t;
    } else {
        special_beta_fraction_grad_a_b_results call6 = special_beta_fraction_grad_a_b(s, t, u, v, special_beta_fraction_turns(a, set.b));
        either2 = call6.value;
        d_a_either2 = call6.d_a * d_a_s + call6.d_b * d_a_t;
        d_b_either2 = call6.d_a * d_b_s + call6.d_b * d_b_t;
    }
    real t4 = special_log_slope(either2);
    return make_special_log_beta_tail_grad_a_b_results(call4.value + log(either2), call4.d_a + t4 * d_a_either2, call4.d_b + t4 * d_b_either2);
}

// special_log_beta_power: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    real c0;
} special_log_beta_power_msmm_set;

DEVICE special_log_beta_power_msmm_set special_log_beta_power_msmm_prepare_set(real b)
{
    special_log_beta_power_msmm_set set;
    set.b = b;
    set.c0 = special_stirling_error(b);
    return set;
}

// special_log_beta_power: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_power_msmm_evaluate(special_log_beta_power_msmm_set set, real a, real x, real y)
{
    real n = a + set.b;
    real gap = special_beta_gap(a, set.b, x, y);
    return a * special_log_ratio_excess(x * (n / a), -gap / a) + set.b * special_log_ratio_excess(y * (n / set.b), gap / set.b) + (0.5 * (log(a) + log(set.b / n)) - HALF_LOG_2PI - (special_stirling_error(a) + (set.c0 - special_stirling_error(n))));
}

// special_log_beta_tail_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    special_log_beta_power_msmm_set special_0;
} special_log_beta_tail_grad_x_msmmm_set;

DEVICE special_log_beta_tail_grad_x_msmmm_set special_log_beta_tail_grad_x_msmmm_prepare_set(real b)
{
    special_log_beta_tail_grad_x_msmmm_set set;
    set.b = b;
    set.special_0 = special_log_beta_power_msmm_prepare_set(b);
    return set;
}

// special_log_beta_tail_grad_x: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_tail_grad_x_msmmm_evaluate(special_log_beta_tail_grad_x_msmmm_set set, real a, real x, real y, real value)
{
    return (special_beta_from_below(a, set.b, x, y) ? 1 : -1) * exp(special_log_beta_power_msmm_evaluate(set.special_0, a, x, y) - value) / (x * y);
}

// special_log_beta_tail_grad_a_b_x_y: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_beta_tail_grad_a_b_msmm_set special_0;
    special_log_beta_tail_grad_x_msmmm_set special_1;
    real b;
} special_log_beta_tail_grad_a_b_x_y_msmm_set;

DEVICE special_log_beta_tail_grad_a_b_x_y_msmm_set special_log_beta_tail_grad_a_b_x_y_msmm_prepare_set(real b)
{
    special_log_beta_tail_grad_a_b_x_y_msmm_set set;
    set.special_0 = special_log_beta_tail_grad_a_b_msmm_prepare_set(b);
    set.special_1 = special_log_beta_tail_grad_x_msmmm_prepare_set(b);
    set.b = b;
    return set;
}

// special_log_beta_tail_grad_a_b_x_y: what depends on both, from what was computed ahead.
DEVICE special_log_beta_tail_grad_a_b_x_y_results special_log_beta_tail_grad_a_b_x_y_msmm_evaluate(special_log_beta_tail_grad_a_b_x_y_msmm_set set, real a, real x, real y)
{
    special_log_beta_tail_grad_a_b_results derived = special_log_beta_tail_grad_a_b_msmm_evaluate(set.special_0, a, x, y);
    return make_special_log_beta_tail_grad_a_b_x_y_results(derived.value, derived.d_a, derived.d_b, special_log_beta_tail_grad_x_msmmm_evaluate(set.special_1, a, x, y, derived.value), special_log_beta_tail_grad_y(a, set.b, x, y, derived.value));
}

// special_log_beta_p_grad_a_b_x_y: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_beta_tail_grad_a_b_x_y_msmm_set special_0;
    real b;
} special_log_beta_p_grad_a_b_x_y_msmm_set;

DEVICE special_log_beta_p_grad_a_b_x_y_msmm_set special_log_beta_p_grad_a_b_x_y_msmm_prepare_set(real b)
{
    special_log_beta_p_grad_a_b_x_y_msmm_set set;
    set.special_0 = special_log_beta_tail_grad_a_b_x_y_msmm_prepare_set(b);
    set.b = b;
    return set;
}

// special_log_beta_p_grad_a_b_x_y: what depends on both, from what was computed ahead.
DEVICE special_log_beta_p_grad_a_b_x_y_results special_log_beta_p_grad_a_b_x_y_msmm_evaluate(special_log_beta_p_grad_a_b_x_y_msmm_set set, real a, real x, real y)
{
    special_log_beta_tail_grad_a_b_x_y_results call = special_log_beta_tail_grad_a_b_x_y_msmm_evaluate(set.special_0, a, x, y);
    real d_a_tail = call.d_a;
    real d_b_tail = call.d_b;
    real d_x_tail = call.d_x;
    real d_y_tail = call.d_y;
    real tail = call.value;
    real t = tail < -50 ? -exp(tail) : -(1 / expm1(-tail));
    real d_a_value = special_beta_from_below(a, set.b, x, y) ? d_a_tail : t * d_a_tail;
    real d_b_value = special_beta_from_below(a, set.b, x, y) ? d_b_tail : t * d_b_tail;
    real d_x_value = special_beta_from_below(a, set.b, x, y) ? d_x_tail : t * d_x_tail;
    real d_y_value = special_beta_from_below(a, set.b, x, y) ? d_y_tail : t * d_y_tail;
    special_within_beta_grad_a_b_x_y_value_results call2 = special_within_beta_grad_a_b_x_y_value(a, set.b, x, y, special_beta_from_below(a, set.b, x, y) ? tail : special_log1mexp(tail), -INFINITY, 0);
    return make_special_log_beta_p_grad_a_b_x_y_results(call2.value, call2.d_a + call2.d_value * d_a_value, call2.d_b + call2.d_value * d_b_value, call2.d_x + call2.d_value * d_x_value, call2.d_y + call2.d_value * d_y_value);
}

// special_log_beta_power_grad_a_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real t11;
    real c0;
    real c1;
    real c2;
    real c3;
} special_log_beta_power_grad_a_b_smmm_set;

DEVICE special_log_beta_power_grad_a_b_smmm_set special_log_beta_power_grad_a_b_smmm_prepare_set(real a)
{
    special_log_beta_power_grad_a_b_smmm_set set;
    real t11 = 1 / a;
    set.a = a;
    set.t11 = t11;
    set.c0 = log(a);
    set.c1 = special_stirling_error(a);
    set.c2 = special_log_slope(a);
    set.c3 = special_stirling_error_derivative(a);
    return set;
}

// special_log_beta_power_grad_a_b: what depends on both, from what was computed ahead.
DEVICE special_log_beta_power_grad_a_b_results special_log_beta_power_grad_a_b_smmm_evaluate(special_log_beta_power_grad_a_b_smmm_set set, real b, real x, real y)
{
    real n = set.a + b;
    special_beta_gap_grad_a_b_results call = special_beta_gap_grad_a_b(set.a, b, x, y);
    real d_a_gap = call.d_a;
    real d_b_gap = call.d_b;
    real gap = call.value;
    real t = n / set.a;
    real t2 = x * t;
    real t3 = -gap / set.a;
    real t4 = special_log_ratio_excess(t2, t3);
    real t5 = n / b;
    real t6 = y * t5;
    real t7 = gap / b;
    real t8 = special_log_ratio_excess(t6, t7);
    real t9 = b / n;
    real t10 = t3 / t2;
    real t12 = (gap / set.a - d_a_gap) * set.t11;
    real t13 = t7 / t6;
    real t14 = 1 / b;
    real t15 = d_a_gap * t14;
    real t16 = 1 / n;
    real t17 = special_log_slope(t9);
    real t18 = special_stirling_error_derivative(n);
    real t19 = d_b_gap * set.t11;
    real t20 = (d_b_gap - t7) * t14;
    return make_special_log_beta_power_grad_a_b_results(set.a * t4 + b * t8 + (0.5 * (set.c0 + log(t9)) - HALF_LOG_2PI - (set.c1 + (special_stirling_error(b) - special_stirling_error(n)))), t4 + set.a * (fabs(t3) < 0.5 ? -(t10 * t12) : x * ((1 - t) * set.t11) / t2 - t12) + b * (fabs(t7) < 0.5 ? -(t13 * t15) : y * t14 / t6 - t15) + (0.5 * (set.c2 - t9 * t16 * t17) - (set.c3 - t18)), set.a * (fabs(t3) < 0.5 ? t19 * t10 : x * set.t11 / t2 + t19) + (t8 + b * (fabs(t7) < 0.5 ? -(t13 * t20) : y * ((1 - t5) * t14) / t6 - t20)) + (0.5 * (t17 * ((1 - t9) * t16)) - (special_stirling_error_derivative(b) - t18)));
}

// special_log_beta_tail_grad_a_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    special_log_beta_scale_grad_a_b_sm_set special_0;
    special_log_beta_scale_grad_a_b_ms_set special_1;
    int c0;
    special_log_beta_power_grad_a_b_smmm_set special_2;
} special_log_beta_tail_grad_a_b_smmm_set;

DEVICE special_log_beta_tail_grad_a_b_smmm_set special_log_beta_tail_grad_a_b_smmm_prepare_set(real a)
{
    special_log_beta_tail_grad_a_b_smmm_set set;
    set.a = a;
    set.special_0 = special_log_beta_scale_grad_a_b_sm_prepare_set(a);
    set.special_1 = special_log_beta_scale_grad_a_b_ms_prepare_set(a);
    set.c0 = a > 1000;
    set.special_2 = special_log_beta_power_grad_a_b_smmm_prepare_set(a);
    return set;
}

// special_log_beta_tail_grad_a_b: what depends on both, from what was computed ahead.
DEVICE special_log_beta_tail_grad_a_b_results special_log_beta_tail_grad_a_b_smmm_evaluate(special_log_beta_tail_grad_a_b_smmm_set set, real b, real x, real y)
{
    int below = special_beta_from_below(set.a, b, x, y);
    real d_a_s = below ? 1 : 0;
    real d_b_s = below ? 0 : 1;
    real s = below ? set.a : b;
    real d_a_t = below ? 0 : 1;
    real d_b_t = below ? 1 : 0;
    real t = below ? b : set.a;
    real u = below ? x : y;
    real v = below ? y : x;
    if (special_beta_needs_series(set.a, b) && THREAD < 65536) {
        if (u <= 0.5 && t * u < 1.5 && THREAD < 65536) {
            real either;
            real d_a_either;
            real d_b_either;
            if (below) {
                special_log_beta_scale_grad_a_b_results call = special_log_beta_scale_grad_a_b_sm_evaluate(set.special_0, b);
                either = call.value;
                d_a_either = call.d_a;
                d_b_either = call.d_b;
            } else {
                special_log_beta_scale_grad_a_b_results call2 = special_log_beta_scale_grad_a_b_ms_evaluate(set.special_1, b);
                either = call2.value;
                d_a_either = call2.d_b;
                d_b_either = call2.d_a;
            }
            special_beta_series_grad_a_b_results call3 = special_beta_series_grad_a_b(s, t, u);
            real t2 = log(u);
            real t3 = 1 / (1 + call3.value);
            return make_special_log_beta_tail_grad_a_b_results(s * t2 - either + log1p(call3.value), t2 * d_a_s - d_a_either + t3 * (call3.d_a * d_a_s + call3.d_b * d_a_t), t2 * d_b_s - d_b_either + t3 * (call3.d_a * d_b_s + call3.d_b * d_b_t));
        }
    }
    int central = set.c0 && b > 1000 && special_beta_gap(s, t, u, v) < 3 * sqrt(x * y * (set.a + b));
    special_log_beta_power_grad_a_b_results call4 = special_log_beta_power_grad_a_b_smmm_evaluate(set.special_2, b, x, y);
    real either2;
    real d_a_either2;
    real d_b_either2;
    if (central && THREAD < 65536) {
        special_beta_integral_grad_a_b_results call5 = special_beta_integral_grad_a_b(s, t, u, v);
        either2 = call5.value;
        d_a_either2 = call5.d_a * d_a_s + call5.d_b * d_a_t;
        d_b_either2 = call5.d_a * d_b_s + call5.d_b * d_b_t;
    } else {
        special_beta_fraction_grad_a_b_results call6 = special_beta_fraction_grad_a_b(s, t, u, v, special_beta_fraction_turns(set.a, b));
        either2 = call6.value;
        d_a_either2 = call6.d_a * d_a_s + call6.d_b * d_a_t;
        d_b_either2 = call6.d_a * d_b_s + call6.d_b * d_b_t;
    }
    real t4 = special_log_slope(either2);
    return make_special_log_beta_tail_grad_a_b_results(call4.value + log(either2), call4.d_a + t4 * d_a_either2, call4.d_b + t4 * d_b_either2);
}

// special_log_beta_power: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
    real c1;
} special_log_beta_power_smmm_set;

DEVICE special_log_beta_power_smmm_set special_log_beta_power_smmm_prepare_set(real a)
{
    special_log_beta_power_smmm_set set;
    set.a = a;
    set.c0 = log(a);
    set.c1 = special_stirling_error(a);
    return set;
}

// special_log_beta_power: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_power_smmm_evaluate(special_log_beta_power_smmm_set set, real b, real x, real y)
{
    real n = set.a + b;
    real gap = special_beta_gap(set.a, b, x, y);
    return set.a * special_log_ratio_excess(x * (n / set.a), -gap / set.a) + b * special_log_ratio_excess(y * (n / b), gap / b) + (0.5 * (set.c0 + log(b / n)) - HALF_LOG_2PI - (set.c1 + (special_stirling_error(b) - special_stirling_error(n))));
}

// special_log_beta_tail_grad_x: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    special_log_beta_power_smmm_set special_0;
} special_log_beta_tail_grad_x_smmmm_set;

DEVICE special_log_beta_tail_grad_x_smmmm_set special_log_beta_tail_grad_x_smmmm_prepare_set(real a)
{
    special_log_beta_tail_grad_x_smmmm_set set;
    set.a = a;
    set.special_0 = special_log_beta_power_smmm_prepare_set(a);
    return set;
}

// special_log_beta_tail_grad_x: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_tail_grad_x_smmmm_evaluate(special_log_beta_tail_grad_x_smmmm_set set, real b, real x, real y, real value)
{
    return (special_beta_from_below(set.a, b, x, y) ? 1 : -1) * exp(special_log_beta_power_smmm_evaluate(set.special_0, b, x, y) - value) / (x * y);
}

// special_log_beta_tail_grad_a_b_x_y: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_beta_tail_grad_a_b_smmm_set special_0;
    special_log_beta_tail_grad_x_smmmm_set special_1;
    real a;
} special_log_beta_tail_grad_a_b_x_y_smmm_set;

DEVICE special_log_beta_tail_grad_a_b_x_y_smmm_set special_log_beta_tail_grad_a_b_x_y_smmm_prepare_set(real a)
{
    special_log_beta_tail_grad_a_b_x_y_smmm_set set;
    set.special_0 = special_log_beta_tail_grad_a_b_smmm_prepare_set(a);
    set.special_1 = special_log_beta_tail_grad_x_smmmm_prepare_set(a);
    set.a = a;
    return set;
}

// special_log_beta_tail_grad_a_b_x_y: what depends on both, from what was computed ahead.
DEVICE special_log_beta_tail_grad_a_b_x_y_results special_log_beta_tail_grad_a_b_x_y_smmm_evaluate(special_log_beta_tail_grad_a_b_x_y_smmm_set set, real b, real x, real y)
{
    special_log_beta_tail_grad_a_b_results derived = special_log_beta_tail_grad_a_b_smmm_evaluate(set.special_0, b, x, y);
    return make_special_log_beta_tail_grad_a_b_x_y_results(derived.value, derived.d_a, derived.d_b, special_log_beta_tail_grad_x_smmmm_evaluate(set.special_1, b, x, y, derived.value), special_log_beta_tail_grad_y(set.a, b, x, y, derived.value));
}

// special_log_beta_p_grad_a_b_x_y: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_beta_tail_grad_a_b_x_y_smmm_set special_0;
    real a;
} special_log_beta_p_grad_a_b_x_y_smmm_set;

DEVICE special_log_beta_p_grad_a_b_x_y_smmm_set special_log_beta_p_grad_a_b_x_y_smmm_prepare_set(real a)
{
    special_log_beta_p_grad_a_b_x_y_smmm_set set;
    set.special_0 = special_log_beta_tail_grad_a_b_x_y_smmm_prepare_set(a);
    set.a = a;
    return set;
}

// special_log_beta_p_grad_a_b_x_y: what depends on both, from what was computed ahead.
DEVICE special_log_beta_p_grad_a_b_x_y_results special_log_beta_p_grad_a_b_x_y_smmm_evaluate(special_log_beta_p_grad_a_b_x_y_smmm_set set, real b, real x, real y)
{
    special_log_beta_tail_grad_a_b_x_y_results call = special_log_beta_tail_grad_a_b_x_y_smmm_evaluate(set.special_0, b, x, y);
    real d_a_tail = call.d_a;
    real d_b_tail = call.d_b;
    real d_x_tail = call.d_x;
    real d_y_tail = call.d_y;
    real tail = call.value;
    real t = tail < -50 ? -exp(tail) : -(1 / expm1(-tail));
    real d_a_value = special_beta_from_below(set.a, b, x, y) ? d_a_tail : t * d_a_tail;
    real d_b_value = special_beta_from_below(set.a, b, x, y) ? d_b_tail : t * d_b_tail;
    real d_x_value = special_beta_from_below(set.a, b, x, y) ? d_x_tail : t * d_x_tail;
    real d_y_value = special_beta_from_below(set.a, b, x, y) ? d_y_tail : t * d_y_tail;
    special_within_beta_grad_a_b_x_y_value_results call2 = special_within_beta_grad_a_b_x_y_value(set.a, b, x, y, special_beta_from_below(set.a, b, x, y) ? tail : special_log1mexp(tail), -INFINITY, 0);
    return make_special_log_beta_p_grad_a_b_x_y_results(call2.value, call2.d_a + call2.d_value * d_a_value, call2.d_b + call2.d_value * d_b_value, call2.d_x + call2.d_value * d_x_value, call2.d_y + call2.d_value * d_y_value);
}

// special_log_beta_power_grad_a_b_x_y: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    real t14;
    real c0;
    real c1;
} special_log_beta_power_grad_a_b_x_y_msmm_set;

DEVICE special_log_beta_power_grad_a_b_x_y_msmm_set special_log_beta_power_grad_a_b_x_y_msmm_prepare_set(real b)
{
    special_log_beta_power_grad_a_b_x_y_msmm_set set;
    real t14 = 1 / b;
    set.b = b;
    set.t14 = t14;
    set.c0 = special_stirling_error(b);
    set.c1 = special_stirling_error_derivative(b);
    return set;
}

// special_log_beta_power_grad_a_b_x_y: what depends on both, from what was computed ahead.
DEVICE special_log_beta_power_grad_a_b_x_y_results special_log_beta_power_grad_a_b_x_y_msmm_evaluate(special_log_beta_power_grad_a_b_x_y_msmm_set set, real a, real x, real y)
{
    real n = a + set.b;
    special_beta_gap_grad_a_b_x_y_results call = special_beta_gap_grad_a_b_x_y(a, set.b, x, y);
    real d_a_gap = call.d_a;
    real d_b_gap = call.d_b;
    real d_x_gap = call.d_x;
    real d_y_gap = call.d_y;
    real gap = call.value;
    real t = n / a;
    real t2 = x * t;
    real t3 = -gap / a;
    real t4 = special_log_ratio_excess(t2, t3);
    real t5 = n / set.b;
    real t6 = y * t5;
    real t7 = gap / set.b;
    real t8 = special_log_ratio_excess(t6, t7);
    real t9 = set.b / n;
    real t10 = t3 / t2;
    real t11 = 1 / a;
    real t12 = (gap / a - d_a_gap) * t11;
    real t13 = t7 / t6;
    real t15 = d_a_gap * set.t14;
    real t16 = 1 / n;
    real t17 = special_log_slope(t9);
    real t18 = special_stirling_error_derivative(n);
    real t19 = d_b_gap * t11;
    real t20 = (d_b_gap - t7) * set.t14;
    real t21 = d_x_gap * t11;
    real t22 = d_x_gap * set.t14;
    real t23 = d_y_gap * t11;
    real t24 = d_y_gap * set.t14;
    return make_special_log_beta_power_grad_a_b_x_y_results(a * t4 + set.b * t8 + (0.5 * (log(a) + log(t9)) - HALF_LOG_2PI - (special_stirling_error(a) + (set.c0 - special_stirling_error(n)))), t4 + a * (fabs(t3) < 0.5 ? -(t10 * t12) : x * ((1 - t) * t11) / t2 - t12) + set.b * (fabs(t7) < 0.5 ? -(t13 * t15) : y * set.t14 / t6 - t15) + (0.5 * (special_log_slope(a) - t9 * t16 * t17) - (special_stirling_error_derivative(a) - t18)), a * (fabs(t3) < 0.5 ? t19 * t10 : x * t11 / t2 + t19) + (t8 + set.b * (fabs(t7) < 0.5 ? -(t13 * t20) : y * ((1 - t5) * set.t14) / t6 - t20)) + (0.5 * (t17 * ((1 - t9) * t16)) - (set.c1 - t18)), a * (fabs(t3) < 0.5 ? t21 * t10 : t / t2 + t21) + set.b * (fabs(t7) < 0.5 ? -(t13 * t22) : -t22), a * (fabs(t3) < 0.5 ? t23 * t10 : t23) + set.b * (fabs(t7) < 0.5 ? -(t13 * t24) : t5 / t6 - t24));
}

// special_mixture_component_grad_a_b_p_q: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    int c1;
    int c2;
    special_log_beta_p_grad_a_b_x_y_msmm_set special_0;
    special_log_beta_p_grad_a_b_x_y_smmm_set special_1;
    special_log_beta_power_grad_a_b_x_y_msmm_set special_2;
} special_mixture_component_grad_a_b_p_q_smsmm_set;

DEVICE special_mixture_component_grad_a_b_p_q_smsmm_set special_mixture_component_grad_a_b_p_q_smsmm_prepare_set(int what, real b)
{
    special_mixture_component_grad_a_b_p_q_smsmm_set set;
    set.c0 = what > 0;
    set.c1 = what < 0;
    set.c2 = isinf(b);
    set.special_0 = special_log_beta_p_grad_a_b_x_y_msmm_prepare_set(b);
    set.special_1 = special_log_beta_p_grad_a_b_x_y_smmm_prepare_set(b);
    set.special_2 = special_log_beta_power_grad_a_b_x_y_msmm_prepare_set(b);
    return set;
}

// special_mixture_component_grad_a_b_p_q: what depends on both, from what was computed ahead.
LARGE special_mixture_component_grad_a_b_p_q_results special_mixture_component_grad_a_b_p_q_smsmm_evaluate(special_mixture_component_grad_a_b_p_q_smsmm_set set, real a, real p, real q)
{
    if (set.c2 && THREAD < 65536) {
        real either2;
        real d_a_either2;
        real d_p_either2;
        if (set.c1 && THREAD < 65536) {
            special_log_gamma_p_grad_a_x_results call = special_log_gamma_p_grad_a_x(a, p);
            either2 = call.value;
            d_a_either2 = call.d_a;
            d_p_either2 = call.d_x;
        } else {
            real either;
            real d_a_either;
            real d_p_either;
            if (set.c0 && THREAD < 65536) {
                special_log_gamma_q_grad_a_x_results call2 = special_log_gamma_q_grad_a_x(a, p);
                either = call2.value;
                d_a_either = call2.d_a;
                d_p_either = call2.d_x;
            } else {
                special_log_gamma_power_grad_a_x_results call3 = special_log_gamma_power_grad_a_x(a, p);
                either = call3.value + log(a);
                d_a_either = call3.d_a + special_log_slope(a);
                d_p_either = call3.d_x;
            }
            either2 = either;
            d_a_either2 = d_a_either;
            d_p_either2 = d_p_either;
        }
        return make_special_mixture_component_grad_a_b_p_q_results(either2, d_a_either2, 0, d_p_either2, 0);
    }
    real either4;
    real d_a_either4;
    real d_b_either4;
    real d_p_either4;
    real d_q_either4;
    if (set.c1 && THREAD < 65536) {
        special_log_beta_p_grad_a_b_x_y_results call4 = special_log_beta_p_grad_a_b_x_y_msmm_evaluate(set.special_0, a, p, q);
        either4 = call4.value;
        d_a_either4 = call4.d_a;
        d_b_either4 = call4.d_b;
        d_p_either4 = call4.d_x;
        d_q_either4 = call4.d_y;
    } else {
        real either3;
        real d_a_either3;
        real d_b_either3;
        real d_p_either3;
        real d_q_either3;
        if (set.c0 && THREAD < 65536) {
            special_log_beta_p_grad_a_b_x_y_results call5 = special_log_beta_p_grad_a_b_x_y_smmm_evaluate(set.special_1, a, q, p);
            either3 = call5.value;
            d_a_either3 = call5.d_b;
            d_b_either3 = call5.d_a;
            d_p_either3 = call5.d_y;
            d_q_either3 = call5.d_x;
        } else {
            special_log_beta_power_grad_a_b_x_y_results call6 = special_log_beta_power_grad_a_b_x_y_msmm_evaluate(set.special_2, a, p, q);
            either3 = call6.value;
            d_a_either3 = call6.d_a;
            d_b_either3 = call6.d_b;
            d_p_either3 = call6.d_x;
            d_q_either3 = call6.d_y;
        }
        either4 = either3;
        d_a_either4 = d_a_either3;
        d_b_either4 = d_b_either3;
        d_p_either4 = d_p_either3;
        d_q_either4 = d_q_either3;
    }
    return make_special_mixture_component_grad_a_b_p_q_results(either4, d_a_either4, d_b_either4, d_p_either4, d_q_either4);
}

// special_log_mixture_grad_m_a_b_p_q: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    special_mixture_peak_ssmm_set special_mixture_peak_0;
    int c2;
    real m;
    int c3;
    int c4;
    real a;
    real c5;
    real d_p_y;
    real d_p_s;
    special_mixture_component_grad_a_b_p_q_smsmm_set special_mixture_component_grad_a_b_p_q_0;
    special_mixture_component_grad_a_b_p_q_smsmm_set special_mixture_component_grad_a_b_p_q_1;
} special_log_mixture_grad_m_a_b_p_q_ssssmm_set;

DEVICE special_log_mixture_grad_m_a_b_p_q_ssssmm_set special_log_mixture_grad_m_a_b_p_q_ssssmm_prepare_set(int what, real m, real a, real b)
{
    special_log_mixture_grad_m_a_b_p_q_ssssmm_set set;
    real d_p_y = isinf(b) ? 1 : a + b;
    real d_p_s = isinf(b) ? 0 : 1;
    set.c0 = isinf(b);
    set.c1 = a + b;
    set.special_mixture_peak_0 = special_mixture_peak_ssmm_prepare_set(m, a);
    set.c2 = what < 0;
    set.m = m;
    set.c3 = m != m;
    set.c4 = what > 0;
    set.a = a;
    set.c5 = d_p_y - a * d_p_s;
    set.d_p_y = d_p_y;
    set.d_p_s = d_p_s;
    set.special_mixture_component_grad_a_b_p_q_0 = special_mixture_component_grad_a_b_p_q_smsmm_prepare_set(what, b);
    set.special_mixture_component_grad_a_b_p_q_1 = special_mixture_component_grad_a_b_p_q_smsmm_prepare_set(what, b);
    return set;
}

// special_log_mixture_grad_m_a_b_p_q: what depends on both, from what was computed ahead.
DEVICE special_log_mixture_grad_m_a_b_p_q_results special_log_mixture_grad_m_a_b_p_q_ssssmm_evaluate(special_log_mixture_grad_m_a_b_p_q_ssssmm_set set, real p, real q)
{
    real t = set.c0 ? 0 : p;
    real y = set.c0 ? p : p * set.c1;
    real s = set.c0 ? 0 : p;
    real peak = special_mixture_peak_ssmm_evaluate(set.special_mixture_peak_0, y, s);
    real d_m_sum = 0;
    real d_a_sum = 0;
    real d_b_sum = 0;
    real d_p_sum = 0;
    real d_q_sum = 0;
    real sum = 1;
    real d_m_first = set.c2 ? (peak <= set.m || set.c3 ? 0 : 1) : set.c4 ? (peak > set.m || set.c3 ? 0 : 1) : 0;
    real d_a_first = 0;
    real d_b_first = 0;
    real d_p_first = 0;
    real first = set.c2 ? fmin(peak, set.m) : set.c4 ? fmax(peak, set.m) : peak;
    real stride = 1;
    real t2 = 1 / first;
    real t3 = (y + s * first) * (set.a + first);
    real t4 = (y - s * set.a) / t3;
    real t5 = sqrt(t2 + t4);
    real t6 = 1 / t5;
    real t7 = 0.5 / t5;
    real t8 = 1 / t3;
    real d_m_spread = -(t6 * (t7 * (-(t2 * d_m_first * t2) - t4 * ((set.a + first) * (s * d_m_first) + (y + s * first) * d_m_first) * t8)) * t6);
    real d_a_spread = -(t6 * (t7 * ((t - s - t4 * ((set.a + first) * (t + s * d_a_first) + (y + s * first) * (1 + d_a_first))) * t8 - t2 * d_a_first * t2)) * t6);
    real d_b_spread = -(t6 * (t7 * ((t - t4 * ((set.a + first) * (t + s * d_b_first) + (y + s * first) * d_b_first)) * t8 - t2 * d_b_first * t2)) * t6);
    real d_p_spread = -(t6 * (t7 * ((set.c5 - t4 * ((set.a + first) * (set.d_p_y + (first * set.d_p_s + s * d_p_first)) + (y + s * first) * d_p_first)) * t8 - t2 * d_p_first * t2)) * t6);
    real spread = t6;
    if (first > 200) {
        stride = exp2(floor(log2(0.6 * spread)));
    }
    d_m_first = 0;
    d_a_first = 0;
    d_b_first = 0;
    d_p_first = 0;
    first = stride * floor(first / stride);
    real d_m_j = d_m_first;
    real d_a_j = d_a_first;
    real d_b_j = d_b_first;
    real d_p_j = d_p_first;
    special_log_poisson_grad_j_m_results call = special_log_poisson_grad_j_m(first, set.m);
    real d_m_a = d_m_first;
    real d_a_a = 1 + d_a_first;
    real d_b_a = d_b_first;
    real d_p_a = d_p_first;
    special_mixture_component_grad_a_b_p_q_results call2 = special_mixture_component_grad_a_b_p_q_smsmm_evaluate(set.special_mixture_component_grad_a_b_p_q_0, set.a + first, p, q);
    real d_m_at_first = call.d_j * d_m_j + call.d_m + call2.d_a * d_m_a;
    real d_a_at_first = call.d_j * d_a_j + call2.d_a * d_a_a;
    real d_b_at_first = call.d_j * d_b_j + (call2.d_a * d_b_a + call2.d_b);
    real d_p_at_first = call.d_j * d_p_j + (call2.d_a * d_p_a + call2.d_p);
    real d_q_at_first = call2.d_q;
    real at_first = call.value + call2.value;
    for (int side = -1; side < 2; side += 2) {
        real d_m_term = 0;
        real d_a_term = 0;
        real d_b_term = 0;
        real d_p_term = 0;
        real d_q_term = 0;
        real term = 1;
        for (int i = 1; i < 1000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real d_m_j2 = d_m_first;
            real d_a_j2 = d_a_first;
            real d_b_j2 = d_b_first;
            real d_p_j2 = d_p_first;
            real j = first + int_product(side, i) * stride;
            real either;
            real d_m_either;
            real d_a_either;
            real d_b_either;
            real d_p_either;
            real d_q_either;
            if (j < 0 && THREAD < 65536) {
                either = 0;
                d_m_either = 0;
                d_a_either = 0;
                d_b_either = 0;
                d_p_either = 0;
                d_q_either = 0;
            } else {
                special_log_poisson_grad_j_m_results call3 = special_log_poisson_grad_j_m(j, set.m);
                real d_a_a2 = 1 + d_a_j2;
                special_mixture_component_grad_a_b_p_q_results call4 = special_mixture_component_grad_a_b_p_q_smsmm_evaluate(set.special_mixture_component_grad_a_b_p_q_1, set.a + j, p, q);
                real t9 = exp(call3.value + call4.value - at_first);
                either = t9;
                d_m_either = t9 * (call3.d_j * d_m_j2 + call3.d_m + call4.d_a * d_m_j2 - d_m_at_first);
                d_a_either = t9 * (call3.d_j * d_a_j2 + call4.d_a * d_a_a2 - d_a_at_first);
                d_b_either = t9 * (call3.d_j * d_b_j2 + (call4.d_a * d_b_j2 + call4.d_b) - d_b_at_first);
                d_p_either = t9 * (call3.d_j * d_p_j2 + (call4.d_a * d_p_j2 + call4.d_p) - d_p_at_first);
                d_q_either = t9 * (call4.d_q - d_q_at_first);
            }
            d_m_term = d_m_either;
            d_a_term = d_a_either;
            d_b_term = d_b_either;
            d_p_term = d_p_either;
            d_q_term = d_q_either;
            term = either;
            d_m_sum += d_m_term;
            d_a_sum += d_a_term;
            d_b_sum += d_b_term;
            d_p_sum += d_p_term;
            d_q_sum += d_q_term;
            sum += term;
        }
    }
    real t10 = special_log_slope(sum);
    return make_special_log_mixture_grad_m_a_b_p_q_results(at_first + log(stride) + log(sum), d_m_at_first + t10 * d_m_sum, d_a_at_first + t10 * d_a_sum, d_b_at_first + t10 * d_b_sum, d_p_at_first + t10 * d_p_sum, d_q_at_first + t10 * d_q_sum);
}

// special_log_product_excess: what depends on the observation alone, computed once for each.
typedef struct {
    real scale;
    real c0;
} special_log_product_excess_mmm_row;

DEVICE special_log_product_excess_mmm_row special_log_product_excess_mmm_prepare_row()
{
    special_log_product_excess_mmm_row row;
    real scale = 1 / (EPSILON * EPSILON * (EPSILON * EPSILON));
    row.scale = scale;
    row.c0 = log(scale);
    return row;
}

// special_log_product_excess: what depends on both, from what was computed ahead.
DEVICE real special_log_product_excess_mmm_evaluate(special_log_product_excess_mmm_row row, real x, real y, real u)
{
    int tiny = u < -0.9 && x < EPSILON * EPSILON;
    return special_log_ratio_excess(x * (tiny ? row.scale : 1) * y, u) - (tiny ? row.c0 : 0);
}

// special_lbeta_derivative: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
} special_lbeta_derivative_sm_set;

DEVICE special_lbeta_derivative_sm_set special_lbeta_derivative_sm_prepare_set(real a)
{
    special_lbeta_derivative_sm_set set;
    set.a = a;
    set.c0 = special_stirling_error_derivative(a);
    return set;
}

// special_lbeta_derivative: what depends on both, from what was computed ahead.
DEVICE real special_lbeta_derivative_sm_evaluate(special_lbeta_derivative_sm_set set, real b)
{
    real sum = set.a + b;
    return set.c0 - special_stirling_error_derivative(sum) - 0.5 * b / (set.a * sum) - log1p(b / set.a);
}

// beta_prime_logpdf_grad_alpha_beta_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real sigma;
    real c0;
    real beta;
    real t19;
    real c1;
    real c2;
    special_lbeta_derivative_sm_set special_lbeta_derivative_0;
    real c3;
    real c4;
    special_log_quotient_set special_0;
    real c5;
    real t29;
    real c6;
    real c7;
    real c8;
    real c9;
} beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set;

DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_set(real beta, real sigma)
{
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set set;
    real t31 = beta / sigma;
    real t32 = special_log_slope(t31);
    real t33 = 1 / sigma;
    set.sigma = sigma;
    set.c0 = 1 / sigma;
    set.beta = beta;
    real t19 = 1 / beta;
    set.t19 = t19;
    set.c1 = special_stirling_error_derivative(beta);
    set.c2 = special_stirling_error(beta);
    set.special_lbeta_derivative_0 = special_lbeta_derivative_sm_prepare_set(beta);
    set.c3 = special_log_slope(sigma);
    set.c4 = log(sigma);
    set.special_0 = special_log_quotient_prepare_set(sigma);
    real t29 = special_log_slope(sigma);
    set.c5 = -beta - 1;
    set.t29 = t29;
    set.c6 = t32 * t33;
    set.c7 = -(t31 * t33 * t32);
    set.c8 = beta + 1;
    set.c9 = log(t31);
    return set;
}

// beta_prime_logpdf_grad_alpha_beta_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    special_log_product_excess_mmm_row special_0;
    real c0;
    special_log_quotient_row special_1;
    int c1;
    int c2;
} beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row;

DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_row(real x)
{
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row row;
    row.x = x;
    row.special_0 = special_log_product_excess_mmm_prepare_row();
    row.c0 = log(x);
    row.special_1 = special_log_quotient_prepare_row(x);
    row.c1 = x == 0;
    row.c2 = isinf(x);
    return row;
}

// beta_prime_logpdf_grad_alpha_beta_sigma: what depends on both, from what was computed ahead.
DEVICE beta_prime_logpdf_grad_alpha_beta_sigma_results beta_prime_logpdf_grad_alpha_beta_sigma_rmss_evaluate(beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set set, beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row row, real alpha)
{
    real t = row.x / set.sigma;
    real d_sigma_z = -(t * set.c0);
    real z = t;
    real n = alpha + set.beta;
    real value;
    real d_alpha_value;
    real d_beta_value;
    real d_sigma_value;
    if (special_large_shape(n)) {
        real t2 = 1 / (1 + z);
        real d_sigma_y = -(t2 * d_sigma_z * t2);
        real y = t2;
        real t3 = fma(-set.beta, z, alpha);
        real d_beta_gap = -(z * y);
        real d_sigma_gap = t3 * d_sigma_y - set.beta * d_sigma_z * y;
        real gap = t3 * y;
        real t4 = set.beta / n;
        real t5 = 1 / n;
        real t6 = special_log_slope(t4);
        real t7 = special_stirling_error_derivative(n);
        real t8 = n / alpha;
        real t9 = y * t8;
        real t10 = -gap / alpha;
        real t11 = special_log_product_excess_mmm_evaluate(row.special_0, z, t9, t10);
        real t12 = t10 / (1 + t10);
        real t13 = 1 / alpha;
        real t14 = (gap / alpha - y) * t13;
        real t15 = gap / set.beta;
        real t16 = n / set.beta;
        real t17 = y * t16;
        real t18 = t15 / t17;
        real t20 = y * set.t19;
        real t21 = d_beta_gap * t13;
        real t22 = special_log_ratio_excess(t17, t15);
        real t23 = (d_beta_gap - t15) * set.t19;
        real t24 = d_sigma_gap * t13;
        real t25 = d_sigma_gap * set.t19;
        d_alpha_value = 0.5 * (special_log_slope(alpha) - t4 * t5 * t6) - (special_stirling_error_derivative(alpha) - t7) + (t11 + alpha * (fabs(t10) < 0.5 ? -(t12 * t14) : y * ((1 - t8) * t13) / t9 - t14)) + set.beta * (fabs(t15) < 0.5 ? -(t18 * t20) : t20 / t17 - t20);
        d_beta_value = 0.5 * (t6 * ((1 - t4) * t5)) - (set.c1 - t7) + alpha * (fabs(t10) < 0.5 ? t21 * t12 : y * t13 / t9 + t21) + (t22 + set.beta * (fabs(t15) < 0.5 ? -(t18 * t23) : y * ((1 - t16) * set.t19) / t17 - t23));
        d_sigma_value = alpha * (fabs(t10) < 0.5 ? t24 * t12 : d_sigma_z / z + t8 * d_sigma_y / t9 + t24) + set.beta * (fabs(t15) < 0.5 ? -(t18 * t25) : t16 * d_sigma_y / t17 - t25);
        value = 0.5 * (log(alpha) + log(t4)) - HALF_LOG_2PI - (special_stirling_error(alpha) + (set.c2 - special_stirling_error(n))) - row.c0 + alpha * t11 + set.beta * t22;
    } else {
        real t26 = log(z);
        real t27 = log1p(z);
        d_alpha_value = t26 - t27 - special_lbeta_derivative(alpha, set.beta);
        d_beta_value = -t27 - special_lbeta_derivative_sm_evaluate(set.special_lbeta_derivative_0, alpha);
        d_sigma_value = (alpha - 1) * (special_log_slope(z) * d_sigma_z) - n * (1 / (1 + z) * d_sigma_z) - set.c3;
        value = (alpha - 1) * t26 - n * t27 - (special_lbeta(alpha, set.beta) + set.c4);
    }
    if (z != special_within_range(z)) {
        real t28 = special_log_quotient_evaluate(set.special_0, row.special_1);
        real t30 = z < 1 ? alpha - 1 : set.c5;
        d_alpha_value = (z < 1 ? t28 : 0) - special_lbeta_derivative(alpha, set.beta);
        d_beta_value = t28 * (z < 1 ? 0 : -1) - special_lbeta_derivative_sm_evaluate(set.special_lbeta_derivative_0, alpha);
        d_sigma_value = -(set.t29 * t30) - set.t29;
        value = t30 * t28 - (special_lbeta(alpha, set.beta) + set.c4);
    }
    real d_alpha_at_zero = alpha - 1 == 0 ? -INFINITY : 0;
    real d_beta_at_zero = alpha - 1 == 0 ? set.c6 - z : 0;
    real d_sigma_at_zero = alpha - 1 == 0 ? set.c7 - set.c8 * d_sigma_z : 0;
    real at_zero = special_log_power_at_zero(alpha - 1, set.c9 - set.c8 * z);
    return make_beta_prime_logpdf_grad_alpha_beta_sigma_results(row.c1 ? at_zero : row.c2 ? -INFINITY : value, row.c1 ? d_alpha_at_zero : row.c2 ? 0 : d_alpha_value, row.c1 ? d_beta_at_zero : row.c2 ? 0 : d_beta_value, row.c1 ? d_sigma_at_zero : row.c2 ? 0 : d_sigma_value);
}

// noncentral_f_logpdf_grad_d1_d2_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real t;
    real c0;
    real t5;
    real t4;
    real c1;
    special_mixture_peak_ssmm_set special_mixture_peak_0;
    noncentral_f_log_beyond_grad_d1_d2_set noncentral_f_0;
    special_log_mixture_grad_m_a_b_p_q_ssssmm_set special_0;
    real a;
    real b;
    real m;
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_set beta_prime_0;
    real d_d1_sigma;
    real t11;
    int c2;
    real d1;
    real d2;
    int c3;
    real t12;
    real t13;
    real c4;
    real c5;
    real c6;
    int c7;
} noncentral_f_logpdf_grad_d1_d2_lam_set;

DEVICE noncentral_f_logpdf_grad_d1_d2_lam_set noncentral_f_logpdf_grad_d1_d2_lam_prepare_set(real d1, real d2, real lam)
{
    noncentral_f_logpdf_grad_d1_d2_lam_set set;
    real a = 0.5 * d1;
    real b = 0.5 * d2;
    real m = 0.5 * lam;
    real t = d2 / d1;
    real t4 = 1 / d1;
    real t5 = 1 / t;
    real t12 = (b + 1) * m - b - 1;
    real t13 = 1 / d2;
    set.t = t;
    set.c0 = t * t4;
    set.t5 = t5;
    set.t4 = t4;
    set.c1 = a + b;
    set.special_mixture_peak_0 = special_mixture_peak_ssmm_prepare_set(m, a);
    set.noncentral_f_0 = noncentral_f_log_beyond_grad_d1_d2_prepare_set(d1, d2);
    set.special_0 = special_log_mixture_grad_m_a_b_p_q_ssssmm_prepare_set(0, m, a, b);
    set.a = a;
    set.b = b;
    set.m = m;
    real t10 = d2 / d1;
    real t11 = 1 / d1;
    real d_d1_sigma = -(t10 * t11);
    set.beta_prime_0 = beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_set(b, t10);
    set.d_d1_sigma = d_d1_sigma;
    set.t11 = t11;
    set.c2 = special_mixture_has_stride(m);
    set.d1 = d1;
    set.d2 = d2;
    set.c3 = d1 - 2 == 0;
    set.t12 = t12;
    set.t13 = t13;
    set.c4 = m * 0.5 - 0.5;
    set.c5 = (b + 1) * 0.5;
    set.c6 = d1 - 2;
    set.c7 = special_mixture_is_vague(m) || isinf(d1 + d2);
    return set;
}

// noncentral_f_logpdf_grad_d1_d2_lam: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    noncentral_f_log_beyond_grad_d1_d2_row noncentral_f_0;
    real c0;
    beta_prime_logpdf_grad_alpha_beta_sigma_rmss_row beta_prime_0;
    int c1;
    int c2;
} noncentral_f_logpdf_grad_d1_d2_lam_row;

DEVICE noncentral_f_logpdf_grad_d1_d2_lam_row noncentral_f_logpdf_grad_d1_d2_lam_prepare_row(real x)
{
    noncentral_f_logpdf_grad_d1_d2_lam_row row;
    row.x = x;
    row.noncentral_f_0 = noncentral_f_log_beyond_grad_d1_d2_prepare_row(x);
    row.c0 = log(x);
    row.beta_prime_0 = beta_prime_logpdf_grad_alpha_beta_sigma_rmss_prepare_row(x);
    row.c1 = x == 0;
    row.c2 = isinf(x);
    return row;
}

// noncentral_f_logpdf_grad_d1_d2_lam: what depends on both, from what was computed ahead.
DEVICE noncentral_f_logpdf_grad_d1_d2_lam_results noncentral_f_logpdf_grad_d1_d2_lam_evaluate(noncentral_f_logpdf_grad_d1_d2_lam_set set, noncentral_f_logpdf_grad_d1_d2_lam_row row)
{
    real t2 = row.x / set.t;
    real t3 = special_within_range(t2);
    real d_d1_z = t2 == t3 ? set.c0 * t2 * set.t5 : 0;
    real d_d2_z = t2 == t3 ? -(t2 * set.t4 * set.t5) : 0;
    real z = t3;
    real t6 = z / (1 + z);
    real t7 = 1 / (1 + z);
    real d_d1_p = (d_d1_z - t6 * d_d1_z) * t7;
    real d_d2_p = (d_d2_z - t6 * d_d2_z) * t7;
    real p = t6;
    real d_d1_y = set.c1 * d_d1_p + p * 0.5;
    real d_d2_y = set.c1 * d_d2_p + p * 0.5;
    real y = p * set.c1;
    real first = special_mixture_peak_ssmm_evaluate(set.special_mixture_peak_0, y, p);
    noncentral_f_log_beyond_grad_d1_d2_results call = noncentral_f_log_beyond_grad_d1_d2_evaluate(set.noncentral_f_0, row.noncentral_f_0);
    real d_d1_beyond = call.d_d1;
    real d_d2_beyond = call.d_d2;
    real beyond = call.value;
    real value;
    real d_d1_value;
    real d_d2_value;
    real d_lam_value;
    if (set.c2 && THREAD < 65536) {
        real t8 = 1 / (1 + z);
        real d_d1_q = -(t8 * d_d1_z * t8);
        real d_d2_q = -(t8 * d_d2_z * t8);
        special_log_mixture_grad_m_a_b_p_q_results call2 = special_log_mixture_grad_m_a_b_p_q_ssssmm_evaluate(set.special_0, p, t8);
        real t9 = beyond < 0 ? set.a : -set.b;
        d_d1_value = call2.d_a * 0.5 + call2.d_p * d_d1_p + call2.d_q * d_d1_q + ((beyond < 0 ? 0.5 * beyond : 0) + t9 * d_d1_beyond);
        d_d2_value = call2.d_b * 0.5 + call2.d_p * d_d2_p + call2.d_q * d_d2_q + (beyond * (beyond < 0 ? 0 : -0.5) + t9 * d_d2_beyond);
        d_lam_value = call2.d_m * 0.5;
        value = call2.value - row.c0 + t9 * beyond;
    } else {
        special_log_poisson_grad_j_m_results call3 = special_log_poisson_grad_j_m(first, set.m);
        beta_prime_logpdf_grad_alpha_beta_sigma_results call4 = beta_prime_logpdf_grad_alpha_beta_sigma_rmss_evaluate(set.beta_prime_0, row.beta_prime_0, set.a + first);
        special_log_mixture_density_grad_m_a_y_s_first_results call5 = special_log_mixture_density_grad_m_a_y_s_first(set.m, set.a, y, p, first);
        d_d1_value = call4.d_alpha * 0.5 + call4.d_sigma * set.d_d1_sigma + (call5.d_a * 0.5 + call5.d_y * d_d1_y + call5.d_s * d_d1_p);
        d_d2_value = call4.d_beta * 0.5 + call4.d_sigma * set.t11 + (call5.d_y * d_d2_y + call5.d_s * d_d2_p);
        d_lam_value = call3.d_m * 0.5 + call5.d_m * 0.5;
        value = call3.value + call4.value + call5.value;
    }
    real t14 = row.x * set.d1 / set.d2;
    real d_d1_at_zero = set.c3 ? set.t12 * (row.x * set.t13) - INFINITY : 0;
    real d_d2_at_zero = set.c3 ? t14 * set.c4 - t14 * set.t13 * set.t12 : 0;
    real d_lam_at_zero = set.c3 ? t14 * set.c5 - 0.5 : 0;
    real at_zero = special_log_power_at_zero(set.c6, -set.m + set.t12 * t14);
    return make_noncentral_f_logpdf_grad_d1_d2_lam_results(set.c7 ? NAN : row.c1 ? at_zero : row.c2 ? -INFINITY : value, set.c7 ? NAN : row.c1 ? d_d1_at_zero : row.c2 ? 0 : d_d1_value, set.c7 ? NAN : row.c1 ? d_d2_at_zero : row.c2 ? 0 : d_d2_value, set.c7 ? NAN : row.c1 ? d_lam_at_zero : row.c2 ? 0 : d_lam_value);
}

// noncentral_f_logpdf_checked_grad_d1_d2_lam: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    noncentral_f_logpdf_grad_d1_d2_lam_set noncentral_f_0;
    real c1;
} noncentral_f_logpdf_checked_grad_d1_d2_lam_set;

DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_set noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_set(real d1, real d2, real lam)
{
    noncentral_f_logpdf_checked_grad_d1_d2_lam_set set;
    real bad_d1 = d1 > 0 ? 0 : NAN;
    real bad_d2 = d2 > 0 ? 0 : NAN;
    real bad_lam = lam >= 0 ? 0 : NAN;
    set.c0 = !(bad_d1 == 0 && bad_d2 == 0 && bad_lam == 0);
    set.noncentral_f_0 = noncentral_f_logpdf_grad_d1_d2_lam_prepare_set(d1, d2, lam);
    set.c1 = bad_d1 + bad_d2 + bad_lam;
    return set;
}

// noncentral_f_logpdf_checked_grad_d1_d2_lam: what depends on the observation alone, computed once for each.
typedef struct {
    noncentral_f_logpdf_grad_d1_d2_lam_row noncentral_f_0;
    int inside;
    real outside;
    real t;
} noncentral_f_logpdf_checked_grad_d1_d2_lam_row;

DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_row noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(real x)
{
    noncentral_f_logpdf_checked_grad_d1_d2_lam_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.noncentral_f_0 = noncentral_f_logpdf_grad_d1_d2_lam_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// noncentral_f_logpdf_checked_grad_d1_d2_lam: what depends on both, from what was computed ahead.
DEVICE noncentral_f_logpdf_checked_grad_d1_d2_lam_results noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(noncentral_f_logpdf_checked_grad_d1_d2_lam_set set, noncentral_f_logpdf_checked_grad_d1_d2_lam_row row)
{
    if (set.c0) {
        return make_noncentral_f_logpdf_checked_grad_d1_d2_lam_results(NAN, NAN, NAN, NAN);
    }
    noncentral_f_logpdf_grad_d1_d2_lam_results call = noncentral_f_logpdf_grad_d1_d2_lam_evaluate(set.noncentral_f_0, row.noncentral_f_0);
    real d_d1_value = call.d_d1;
    real d_d2_value = call.d_d2;
    real d_lam_value = call.d_lam;
    real value = call.value;
    return make_noncentral_f_logpdf_checked_grad_d1_d2_lam_results((row.inside || value != value ? value : row.outside) + set.c1, (row.inside || value != value ? d_d1_value : row.t) + set.c1, (row.inside || value != value ? d_d2_value : row.t) + set.c1, (row.inside || value != value ? d_lam_value : row.t) + set.c1);
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 16; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 4; first += 16) {
        const int sums_here = (int)MIN(sets_here * 4 - first, 16);
        for (int s = 0; s < 16; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 4 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 4 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_d1, d_d2, d_lam are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) noncentral_f_logpdf_checked_grad_d1_d2_lam_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT d1_per_set, index_t d1_offset, index_t d1_stride, GLOBAL const real *RESTRICT d2_per_set, index_t d2_offset, index_t d2_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    d1_per_set += d1_offset;
    d2_per_set += d2_offset;
    lam_per_set += lam_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(noncentral_f_logpdf_checked_grad_d1_d2_lam_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_set(d1_per_set[(first_set + MIN(k, sets_here - 1)) * d1_stride], d2_per_set[(first_set + MIN(k, sets_here - 1)) * d2_stride], lam_per_set[(first_set + MIN(k, sets_here - 1)) * lam_stride]);
    BARRIER();

    double total[16];
    UNROLL for (int s = 0; s < 16; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const noncentral_f_logpdf_checked_grad_d1_d2_lam_row row = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_f_logpdf_checked_grad_d1_d2_lam_results result = noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_d1;
                        total[k * 4 + 2] += result.d_d2;
                        total[k * 4 + 3] += result.d_lam;
                    }
                }
                {
                    const noncentral_f_logpdf_checked_grad_d1_d2_lam_row row = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_f_logpdf_checked_grad_d1_d2_lam_results result = noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_d1;
                        total[k * 4 + 2] += result.d_d2;
                        total[k * 4 + 3] += result.d_lam;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const noncentral_f_logpdf_checked_grad_d1_d2_lam_row row = noncentral_f_logpdf_checked_grad_d1_d2_lam_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_f_logpdf_checked_grad_d1_d2_lam_results result = noncentral_f_logpdf_checked_grad_d1_d2_lam_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_d1;
                        total[k * 4 + 2] += result.d_d2;
                        total[k * 4 + 3] += result.d_lam;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 4 : partial + first_set * 4 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 16; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 4 - 0, 16); s += 128)
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










