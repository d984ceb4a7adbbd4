// The gradient kernel of tweedie, made by `gpustats generate`. Do not edit.
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
    real d_phi;
    real d_p;
} tweedie_rate_grad_phi_p_results;

DEVICE tweedie_rate_grad_phi_p_results make_tweedie_rate_grad_phi_p_results(real value, real d_phi, real d_p)
{
    tweedie_rate_grad_phi_p_results results;
    results.value = value;
    results.d_phi = d_phi;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_p;
} tweedie_shape_grad_p_results;

DEVICE tweedie_shape_grad_p_results make_tweedie_shape_grad_p_results(real value, real d_p)
{
    tweedie_shape_grad_p_results results;
    results.value = value;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_phi;
    real d_p;
} tweedie_rate_grad_mu_phi_p_results;

DEVICE tweedie_rate_grad_mu_phi_p_results make_tweedie_rate_grad_mu_phi_p_results(real value, real d_mu, real d_phi, real d_p)
{
    tweedie_rate_grad_mu_phi_p_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_phi = d_phi;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_lambda;
    real d_a;
} tweedie_scaled_grad_lambda_a_results;

DEVICE tweedie_scaled_grad_lambda_a_results make_tweedie_scaled_grad_lambda_a_results(real value, real d_lambda, real d_a)
{
    tweedie_scaled_grad_lambda_a_results results;
    results.value = value;
    results.d_lambda = d_lambda;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_p;
    real d_lambda;
} tweedie_peak_grad_p_lambda_results;

DEVICE tweedie_peak_grad_p_lambda_results make_tweedie_peak_grad_p_lambda_results(real value, real d_p, real d_lambda)
{
    tweedie_peak_grad_p_lambda_results results;
    results.value = value;
    results.d_p = d_p;
    results.d_lambda = d_lambda;
    return results;
}


typedef struct {
    real value;
    real d_top;
    real d_p;
} tweedie_stride_grad_top_p_results;

DEVICE tweedie_stride_grad_top_p_results make_tweedie_stride_grad_top_p_results(real value, real d_top, real d_p)
{
    tweedie_stride_grad_top_p_results results;
    results.value = value;
    results.d_top = d_top;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_n;
    real d_y;
    real d_lambda;
    real d_a;
} tweedie_log_term_grad_n_y_lambda_a_results;

DEVICE tweedie_log_term_grad_n_y_lambda_a_results make_tweedie_log_term_grad_n_y_lambda_a_results(real value, real d_n, real d_y, real d_lambda, real d_a)
{
    tweedie_log_term_grad_n_y_lambda_a_results results;
    results.value = value;
    results.d_n = d_n;
    results.d_y = d_y;
    results.d_lambda = d_lambda;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_phi;
    real d_p;
} tweedie_log_density_grad_phi_p_results;

DEVICE tweedie_log_density_grad_phi_p_results make_tweedie_log_density_grad_phi_p_results(real value, real d_phi, real d_p)
{
    tweedie_log_density_grad_phi_p_results results;
    results.value = value;
    results.d_phi = d_phi;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_phi;
    real d_p;
} tweedie_log_density_grad_mu_phi_p_results;

DEVICE tweedie_log_density_grad_mu_phi_p_results make_tweedie_log_density_grad_mu_phi_p_results(real value, real d_mu, real d_phi, real d_p)
{
    tweedie_log_density_grad_mu_phi_p_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_phi = d_phi;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_phi;
    real d_p;
} tweedie_logpdf_grad_mu_phi_p_results;

DEVICE tweedie_logpdf_grad_mu_phi_p_results make_tweedie_logpdf_grad_mu_phi_p_results(real value, real d_mu, real d_phi, real d_p)
{
    tweedie_logpdf_grad_mu_phi_p_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_phi = d_phi;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_phi;
    real d_p;
} tweedie_logpdf_checked_grad_mu_phi_p_results;

DEVICE tweedie_logpdf_checked_grad_mu_phi_p_results make_tweedie_logpdf_checked_grad_mu_phi_p_results(real value, real d_mu, real d_phi, real d_p)
{
    tweedie_logpdf_checked_grad_mu_phi_p_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_phi = d_phi;
    results.d_p = d_p;
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

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_log_gamma_near_two(real z)
{
    real numerator = 0.4227843350984671393 + z * (0.7446983132107947606 + z * (0.5193055283793975869 + z * (0.1815238264834719641 + z * (0.0330824603310423564 + z * (0.002935427941079408713 + z * (9.982884455195008484e-5 + z * (3.896344535820739269e-7 + z * -2.74724591681427145e-9)))))));
    real denominator = 1.0 + z * (1.998691873690975826 + z * (1.624572734572609033 + z * (0.6882797416261857106 + z * (0.1616150908767978973 + z * (0.02056718584681987448 + z * (0.001269421114541973567 + z * 2.769495701127702445e-5))))));
    return z * (z + 1) * (numerator / denominator);
}

DEVICE real special_stirling_error(real x)
{
    if (x >= 3) {
        return special_stirling_series(x);
    }
    real shift = x < 1.5 ? 1 : 0;
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
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

DEVICE real special_stirling_error_derivative(real x)
{
    return x < 3 ? special_digamma(x) - log(x) + 0.5 / x : special_stirling_series_derivative(x);
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

DEVICE tweedie_rate_grad_phi_p_results tweedie_rate_grad_phi_p(real mu, real phi, real p)
{
    real t = log(mu);
    real t2 = exp((2 - p) * t);
    real t3 = t2 / (phi * (2 - p));
    real t4 = 1 / (phi * (2 - p));
    return make_tweedie_rate_grad_phi_p_results(t3, -(t3 * (2 - p) * t4), (phi * t3 - t * t2) * t4);
}

DEVICE tweedie_shape_grad_p_results tweedie_shape_grad_p(real p)
{
    real t = (2 - p) / (p - 1);
    return make_tweedie_shape_grad_p_results(t, (-1 - t) * (1 / (p - 1)));
}

DEVICE tweedie_rate_grad_mu_phi_p_results tweedie_rate_grad_mu_phi_p(real mu, real phi, real p)
{
    real t = log(mu);
    real t2 = exp((2 - p) * t);
    real t3 = t2 / (phi * (2 - p));
    real t4 = 1 / (phi * (2 - p));
    return make_tweedie_rate_grad_mu_phi_p_results(t3, t2 * ((2 - p) * special_log_slope(mu)) * t4, -(t3 * (2 - p) * t4), (phi * t3 - t * t2) * t4);
}

// tweedie_scaled_grad_lambda_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu;
    real c0;
    real a;
    real lambda;
} tweedie_scaled_grad_lambda_a_set;

DEVICE tweedie_scaled_grad_lambda_a_set tweedie_scaled_grad_lambda_a_prepare_set(real mu, real lambda, real a)
{
    tweedie_scaled_grad_lambda_a_set set;
    set.mu = mu;
    set.c0 = lambda * a;
    set.a = a;
    set.lambda = lambda;
    return set;
}

// tweedie_scaled_grad_lambda_a: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} tweedie_scaled_grad_lambda_a_row;

DEVICE tweedie_scaled_grad_lambda_a_row tweedie_scaled_grad_lambda_a_prepare_row(real x)
{
    tweedie_scaled_grad_lambda_a_row row;
    row.x = x;
    return row;
}

// tweedie_scaled_grad_lambda_a: what depends on both, from what was computed ahead.
DEVICE tweedie_scaled_grad_lambda_a_results tweedie_scaled_grad_lambda_a_evaluate(tweedie_scaled_grad_lambda_a_set set, tweedie_scaled_grad_lambda_a_row row)
{
    real t = row.x / set.mu;
    return make_tweedie_scaled_grad_lambda_a_results(set.c0 * t, set.a * t, set.lambda * t);
}

// tweedie_peak_grad_p_lambda: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lambda;
    real c0;
    real mu;
} tweedie_peak_grad_p_lambda_set;

DEVICE tweedie_peak_grad_p_lambda_set tweedie_peak_grad_p_lambda_prepare_set(real mu, real p, real lambda)
{
    tweedie_peak_grad_p_lambda_set set;
    set.lambda = lambda;
    set.c0 = 2 - p;
    set.mu = mu;
    return set;
}

// tweedie_peak_grad_p_lambda: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} tweedie_peak_grad_p_lambda_row;

DEVICE tweedie_peak_grad_p_lambda_row tweedie_peak_grad_p_lambda_prepare_row(real x)
{
    tweedie_peak_grad_p_lambda_row row;
    row.x = x;
    return row;
}

// tweedie_peak_grad_p_lambda: what depends on both, from what was computed ahead.
DEVICE tweedie_peak_grad_p_lambda_results tweedie_peak_grad_p_lambda_evaluate(tweedie_peak_grad_p_lambda_set set, tweedie_peak_grad_p_lambda_row row)
{
    return make_tweedie_peak_grad_p_lambda_results(fmin(fmax(rint(set.lambda * exp(set.c0 * log(row.x / set.mu))), (real)1), 1 / EPSILON), 0, 0);
}

// tweedie_stride_grad_top_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
} tweedie_stride_grad_top_p_ms_set;

DEVICE tweedie_stride_grad_top_p_ms_set tweedie_stride_grad_top_p_ms_prepare_set(real p)
{
    tweedie_stride_grad_top_p_ms_set set;
    set.c0 = p - 1;
    return set;
}

// tweedie_stride_grad_top_p: what depends on both, from what was computed ahead.
DEVICE tweedie_stride_grad_top_p_results tweedie_stride_grad_top_p_ms_evaluate(tweedie_stride_grad_top_p_ms_set set, real top)
{
    return make_tweedie_stride_grad_top_p_results(top > 100 ? fmax(floor(0.65 * sqrt(top * set.c0)), (real)1) : 1, 0, 0);
}

// tweedie_log_term_grad_n_y_lambda_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real lambda;
    real a;
} tweedie_log_term_grad_n_y_lambda_a_mmss_set;

DEVICE tweedie_log_term_grad_n_y_lambda_a_mmss_set tweedie_log_term_grad_n_y_lambda_a_mmss_prepare_set(real lambda, real a)
{
    tweedie_log_term_grad_n_y_lambda_a_mmss_set set;
    set.lambda = lambda;
    set.a = a;
    return set;
}

// tweedie_log_term_grad_n_y_lambda_a: what depends on both, from what was computed ahead.
DEVICE tweedie_log_term_grad_n_y_lambda_a_results tweedie_log_term_grad_n_y_lambda_a_mmss_evaluate(tweedie_log_term_grad_n_y_lambda_a_mmss_set set, real n, real y)
{
    special_log_gamma_power_grad_a_x_results call = special_log_gamma_power_grad_a_x(n, set.lambda);
    special_log_gamma_power_grad_a_x_results call2 = special_log_gamma_power_grad_a_x(n * set.a, y);
    real t = special_log_slope(n * set.a);
    return make_tweedie_log_term_grad_n_y_lambda_a_results(call.value + call2.value + log(n * set.a), call.d_a + call2.d_a * set.a + t * set.a, call2.d_x, call.d_x, call2.d_a * n + t * n);
}

// tweedie_log_density_grad_phi_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    tweedie_scaled_grad_lambda_a_set tweedie_scaled_grad_lambda_a_0;
    real d_phi_lambda;
    real d_p_lambda;
    real d_p_a;
    tweedie_peak_grad_p_lambda_set tweedie_peak_grad_p_lambda_0;
    tweedie_stride_grad_top_p_ms_set tweedie_stride_grad_top_p_0;
    tweedie_log_term_grad_n_y_lambda_a_mmss_set tweedie_0;
    tweedie_log_term_grad_n_y_lambda_a_mmss_set tweedie_1;
} tweedie_log_density_grad_phi_p_set;

DEVICE tweedie_log_density_grad_phi_p_set tweedie_log_density_grad_phi_p_prepare_set(real mu, real phi, real p)
{
    tweedie_log_density_grad_phi_p_set set;
    tweedie_rate_grad_phi_p_results call = tweedie_rate_grad_phi_p(mu, phi, p);
    real d_phi_lambda = call.d_phi;
    real d_p_lambda = call.d_p;
    real lambda = call.value;
    tweedie_shape_grad_p_results call2 = tweedie_shape_grad_p(p);
    real d_p_a = call2.d_p;
    real a = call2.value;
    set.tweedie_scaled_grad_lambda_a_0 = tweedie_scaled_grad_lambda_a_prepare_set(mu, lambda, a);
    set.d_phi_lambda = d_phi_lambda;
    set.d_p_lambda = d_p_lambda;
    set.d_p_a = d_p_a;
    set.tweedie_peak_grad_p_lambda_0 = tweedie_peak_grad_p_lambda_prepare_set(mu, p, lambda);
    set.tweedie_stride_grad_top_p_0 = tweedie_stride_grad_top_p_ms_prepare_set(p);
    set.tweedie_0 = tweedie_log_term_grad_n_y_lambda_a_mmss_prepare_set(lambda, a);
    set.tweedie_1 = tweedie_log_term_grad_n_y_lambda_a_mmss_prepare_set(lambda, a);
    return set;
}

// tweedie_log_density_grad_phi_p: what depends on the observation alone, computed once for each.
typedef struct {
    tweedie_scaled_grad_lambda_a_row tweedie_scaled_grad_lambda_a_0;
    tweedie_peak_grad_p_lambda_row tweedie_peak_grad_p_lambda_0;
    real c0;
} tweedie_log_density_grad_phi_p_row;

DEVICE tweedie_log_density_grad_phi_p_row tweedie_log_density_grad_phi_p_prepare_row(real x)
{
    tweedie_log_density_grad_phi_p_row row;
    row.tweedie_scaled_grad_lambda_a_0 = tweedie_scaled_grad_lambda_a_prepare_row(x);
    row.tweedie_peak_grad_p_lambda_0 = tweedie_peak_grad_p_lambda_prepare_row(x);
    row.c0 = log(x);
    return row;
}

// tweedie_log_density_grad_phi_p: what depends on both, from what was computed ahead.
DEVICE tweedie_log_density_grad_phi_p_results tweedie_log_density_grad_phi_p_evaluate(tweedie_log_density_grad_phi_p_set set, tweedie_log_density_grad_phi_p_row row)
{
    tweedie_scaled_grad_lambda_a_results call3 = tweedie_scaled_grad_lambda_a_evaluate(set.tweedie_scaled_grad_lambda_a_0, row.tweedie_scaled_grad_lambda_a_0);
    real d_phi_y = call3.d_lambda * set.d_phi_lambda;
    real d_p_y = call3.d_lambda * set.d_p_lambda + call3.d_a * set.d_p_a;
    real y = call3.value;
    tweedie_peak_grad_p_lambda_results call4 = tweedie_peak_grad_p_lambda_evaluate(set.tweedie_peak_grad_p_lambda_0, row.tweedie_peak_grad_p_lambda_0);
    real d_phi_top = call4.d_lambda * set.d_phi_lambda;
    real d_p_top = call4.d_p + call4.d_lambda * set.d_p_lambda;
    real top = call4.value;
    tweedie_stride_grad_top_p_results call5 = tweedie_stride_grad_top_p_ms_evaluate(set.tweedie_stride_grad_top_p_0, top);
    real d_phi_step = call5.d_top * d_phi_top;
    real d_p_step = call5.d_top * d_p_top + call5.d_p;
    real step = call5.value;
    tweedie_log_term_grad_n_y_lambda_a_results call6 = tweedie_log_term_grad_n_y_lambda_a_mmss_evaluate(set.tweedie_0, top, y);
    real d_phi_at_top = call6.d_n * d_phi_top + call6.d_y * d_phi_y + call6.d_lambda * set.d_phi_lambda;
    real d_p_at_top = call6.d_n * d_p_top + call6.d_y * d_p_y + call6.d_lambda * set.d_p_lambda + call6.d_a * set.d_p_a;
    real at_top = call6.value;
    real d_phi_sum = 0;
    real d_p_sum = 0;
    real sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real d_phi_term = 0;
        real d_p_term = 0;
        real term = 1;
        for (int i = 1; i < 400 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real d_phi_n = d_phi_top + int_product(side, i) * d_phi_step;
            real d_p_n = d_p_top + int_product(side, i) * d_p_step;
            real n = top + int_product(side, i) * step;
            real either;
            real d_phi_either;
            real d_p_either;
            if (n > 0) {
                tweedie_log_term_grad_n_y_lambda_a_results call7 = tweedie_log_term_grad_n_y_lambda_a_mmss_evaluate(set.tweedie_1, n, y);
                real t = exp(call7.value - at_top);
                either = t;
                d_phi_either = t * (call7.d_n * d_phi_n + call7.d_y * d_phi_y + call7.d_lambda * set.d_phi_lambda - d_phi_at_top);
                d_p_either = t * (call7.d_n * d_p_n + call7.d_y * d_p_y + call7.d_lambda * set.d_p_lambda + call7.d_a * set.d_p_a - d_p_at_top);
            } else {
                either = 0;
                d_phi_either = 0;
                d_p_either = 0;
            }
            d_phi_term = d_phi_either;
            d_p_term = d_p_either;
            term = either;
            d_phi_sum += d_phi_term;
            d_p_sum += d_p_term;
            sum += term;
        }
    }
    real t2 = special_log_slope(step * sum);
    return make_tweedie_log_density_grad_phi_p_results(at_top + log(step * sum) - row.c0, d_phi_at_top + t2 * (sum * d_phi_step + step * d_phi_sum), d_p_at_top + t2 * (sum * d_p_step + step * d_p_sum));
}

// tweedie_log_density_grad_mu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu;
    real phi;
    real c0;
} tweedie_log_density_grad_mu_set;

DEVICE tweedie_log_density_grad_mu_set tweedie_log_density_grad_mu_prepare_set(real mu, real phi, real p)
{
    tweedie_log_density_grad_mu_set set;
    set.mu = mu;
    set.phi = phi;
    set.c0 = exp(-p * log(mu));
    return set;
}

// tweedie_log_density_grad_mu: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} tweedie_log_density_grad_mu_row;

DEVICE tweedie_log_density_grad_mu_row tweedie_log_density_grad_mu_prepare_row(real x)
{
    tweedie_log_density_grad_mu_row row;
    row.x = x;
    return row;
}

// tweedie_log_density_grad_mu: what depends on both, from what was computed ahead.
DEVICE real tweedie_log_density_grad_mu_evaluate(tweedie_log_density_grad_mu_set set, tweedie_log_density_grad_mu_row row)
{
    return (row.x - set.mu) / set.phi * set.c0;
}

// tweedie_log_density_grad_mu_phi_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    tweedie_log_density_grad_phi_p_set tweedie_0;
    tweedie_log_density_grad_mu_set tweedie_1;
} tweedie_log_density_grad_mu_phi_p_set;

DEVICE tweedie_log_density_grad_mu_phi_p_set tweedie_log_density_grad_mu_phi_p_prepare_set(real mu, real phi, real p)
{
    tweedie_log_density_grad_mu_phi_p_set set;
    set.tweedie_0 = tweedie_log_density_grad_phi_p_prepare_set(mu, phi, p);
    set.tweedie_1 = tweedie_log_density_grad_mu_prepare_set(mu, phi, p);
    return set;
}

// tweedie_log_density_grad_mu_phi_p: what depends on the observation alone, computed once for each.
typedef struct {
    tweedie_log_density_grad_phi_p_row tweedie_0;
    tweedie_log_density_grad_mu_row tweedie_1;
} tweedie_log_density_grad_mu_phi_p_row;

DEVICE tweedie_log_density_grad_mu_phi_p_row tweedie_log_density_grad_mu_phi_p_prepare_row(real x)
{
    tweedie_log_density_grad_mu_phi_p_row row;
    row.tweedie_0 = tweedie_log_density_grad_phi_p_prepare_row(x);
    row.tweedie_1 = tweedie_log_density_grad_mu_prepare_row(x);
    return row;
}

// tweedie_log_density_grad_mu_phi_p: what depends on both, from what was computed ahead.
DEVICE tweedie_log_density_grad_mu_phi_p_results tweedie_log_density_grad_mu_phi_p_evaluate(tweedie_log_density_grad_mu_phi_p_set set, tweedie_log_density_grad_mu_phi_p_row row)
{
    tweedie_log_density_grad_phi_p_results derived = tweedie_log_density_grad_phi_p_evaluate(set.tweedie_0, row.tweedie_0);
    return make_tweedie_log_density_grad_mu_phi_p_results(derived.value, tweedie_log_density_grad_mu_evaluate(set.tweedie_1, row.tweedie_1), derived.d_phi, derived.d_p);
}

// tweedie_logpdf_grad_mu_phi_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    real c2;
    real c3;
    real c4;
    tweedie_log_density_grad_mu_phi_p_set tweedie_0;
} tweedie_logpdf_grad_mu_phi_p_set;

DEVICE tweedie_logpdf_grad_mu_phi_p_set tweedie_logpdf_grad_mu_phi_p_prepare_set(real mu, real phi, real p)
{
    tweedie_logpdf_grad_mu_phi_p_set set;
    set.c0 = !(p > 1 && p < 2);
    tweedie_rate_grad_mu_phi_p_results call = tweedie_rate_grad_mu_phi_p(mu, phi, p);
    set.c1 = -call.value;
    set.c2 = -call.d_mu;
    set.c3 = -call.d_phi;
    set.c4 = -call.d_p;
    set.tweedie_0 = tweedie_log_density_grad_mu_phi_p_prepare_set(mu, phi, p);
    return set;
}

// tweedie_logpdf_grad_mu_phi_p: what depends on the observation alone, computed once for each.
typedef struct {
    tweedie_log_density_grad_mu_phi_p_row tweedie_0;
    int c0;
    int c1;
} tweedie_logpdf_grad_mu_phi_p_row;

DEVICE tweedie_logpdf_grad_mu_phi_p_row tweedie_logpdf_grad_mu_phi_p_prepare_row(real x)
{
    tweedie_logpdf_grad_mu_phi_p_row row;
    row.tweedie_0 = tweedie_log_density_grad_mu_phi_p_prepare_row(x);
    row.c0 = isinf(x);
    row.c1 = x == 0;
    return row;
}

// tweedie_logpdf_grad_mu_phi_p: what depends on both, from what was computed ahead.
DEVICE tweedie_logpdf_grad_mu_phi_p_results tweedie_logpdf_grad_mu_phi_p_evaluate(tweedie_logpdf_grad_mu_phi_p_set set, tweedie_logpdf_grad_mu_phi_p_row row)
{
    if (set.c0) {
        return make_tweedie_logpdf_grad_mu_phi_p_results(NAN, NAN, NAN, NAN);
    }
    real either2;
    real d_mu_either2;
    real d_phi_either2;
    real d_p_either2;
    if (row.c1) {
        either2 = set.c1;
        d_mu_either2 = set.c2;
        d_phi_either2 = set.c3;
        d_p_either2 = set.c4;
    } else {
        real either;
        real d_mu_either;
        real d_phi_either;
        real d_p_either;
        if (row.c0) {
            either = -INFINITY;
            d_mu_either = 0;
            d_phi_either = 0;
            d_p_either = 0;
        } else {
            tweedie_log_density_grad_mu_phi_p_results call2 = tweedie_log_density_grad_mu_phi_p_evaluate(set.tweedie_0, row.tweedie_0);
            either = call2.value;
            d_mu_either = call2.d_mu;
            d_phi_either = call2.d_phi;
            d_p_either = call2.d_p;
        }
        either2 = either;
        d_mu_either2 = d_mu_either;
        d_phi_either2 = d_phi_either;
        d_p_either2 = d_p_either;
    }
    return make_tweedie_logpdf_grad_mu_phi_p_results(either2, d_mu_either2, d_phi_either2, d_p_either2);
}

// tweedie_logpdf_checked_grad_mu_phi_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    tweedie_logpdf_grad_mu_phi_p_set tweedie_0;
    real c0;
} tweedie_logpdf_checked_grad_mu_phi_p_set;

DEVICE tweedie_logpdf_checked_grad_mu_phi_p_set tweedie_logpdf_checked_grad_mu_phi_p_prepare_set(real mu, real phi, real p)
{
    tweedie_logpdf_checked_grad_mu_phi_p_set set;
    real bad_mu = mu > 0 ? 0 : NAN;
    real bad_phi = phi > 0 ? 0 : NAN;
    real bad_p = p == p ? 0 : NAN;
    set.tweedie_0 = tweedie_logpdf_grad_mu_phi_p_prepare_set(mu, phi, p);
    set.c0 = bad_mu + bad_phi + bad_p;
    return set;
}

// tweedie_logpdf_checked_grad_mu_phi_p: what depends on the observation alone, computed once for each.
typedef struct {
    tweedie_logpdf_grad_mu_phi_p_row tweedie_0;
    int inside;
    real outside;
    real t;
} tweedie_logpdf_checked_grad_mu_phi_p_row;

DEVICE tweedie_logpdf_checked_grad_mu_phi_p_row tweedie_logpdf_checked_grad_mu_phi_p_prepare_row(real x)
{
    tweedie_logpdf_checked_grad_mu_phi_p_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.tweedie_0 = tweedie_logpdf_grad_mu_phi_p_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// tweedie_logpdf_checked_grad_mu_phi_p: what depends on both, from what was computed ahead.
DEVICE tweedie_logpdf_checked_grad_mu_phi_p_results tweedie_logpdf_checked_grad_mu_phi_p_evaluate(tweedie_logpdf_checked_grad_mu_phi_p_set set, tweedie_logpdf_checked_grad_mu_phi_p_row row)
{
    tweedie_logpdf_grad_mu_phi_p_results call = tweedie_logpdf_grad_mu_phi_p_evaluate(set.tweedie_0, row.tweedie_0);
    real d_mu_value = call.d_mu;
    real d_phi_value = call.d_phi;
    real d_p_value = call.d_p;
    real value = call.value;
    return make_tweedie_logpdf_checked_grad_mu_phi_p_results((row.inside || value != value ? value : row.outside) + set.c0, (row.inside || value != value ? d_mu_value : row.t) + set.c0, (row.inside || value != value ? d_phi_value : row.t) + set.c0, (row.inside || value != value ? d_p_value : row.t) + set.c0);
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
// Here f has several results: value, d_mu, d_phi, d_p are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) tweedie_logpdf_checked_grad_mu_phi_p_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT phi_per_set, index_t phi_offset, index_t phi_stride, GLOBAL const real *RESTRICT p_per_set, index_t p_offset, index_t p_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    mu_per_set += mu_offset;
    phi_per_set += phi_offset;
    p_per_set += p_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(tweedie_logpdf_checked_grad_mu_phi_p_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = tweedie_logpdf_checked_grad_mu_phi_p_prepare_set(mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], phi_per_set[(first_set + MIN(k, sets_here - 1)) * phi_stride], p_per_set[(first_set + MIN(k, sets_here - 1)) * p_stride]);
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
                    const tweedie_logpdf_checked_grad_mu_phi_p_row row = tweedie_logpdf_checked_grad_mu_phi_p_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const tweedie_logpdf_checked_grad_mu_phi_p_results result = tweedie_logpdf_checked_grad_mu_phi_p_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_mu;
                        total[k * 4 + 2] += result.d_phi;
                        total[k * 4 + 3] += result.d_p;
                    }
                }
                {
                    const tweedie_logpdf_checked_grad_mu_phi_p_row row = tweedie_logpdf_checked_grad_mu_phi_p_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const tweedie_logpdf_checked_grad_mu_phi_p_results result = tweedie_logpdf_checked_grad_mu_phi_p_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_mu;
                        total[k * 4 + 2] += result.d_phi;
                        total[k * 4 + 3] += result.d_p;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const tweedie_logpdf_checked_grad_mu_phi_p_row row = tweedie_logpdf_checked_grad_mu_phi_p_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const tweedie_logpdf_checked_grad_mu_phi_p_results result = tweedie_logpdf_checked_grad_mu_phi_p_evaluate(sets[k], row);
                        total[k * 4 + 0] += result.value;
                        total[k * 4 + 1] += result.d_mu;
                        total[k * 4 + 2] += result.d_phi;
                        total[k * 4 + 3] += result.d_p;
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










