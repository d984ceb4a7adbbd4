// The gradient kernel of noncentral_t, made by `gpustats generate`. Do not edit.
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
    real d_n;
    real d_b;
} noncentral_t_peak_grad_n_b_results;

DEVICE noncentral_t_peak_grad_n_b_results make_noncentral_t_peak_grad_n_b_results(real value, real d_n, real d_b)
{
    noncentral_t_peak_grad_n_b_results results;
    results.value = value;
    results.d_n = d_n;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_s;
    real d_nu;
} noncentral_t_log_chi_grad_s_nu_results;

DEVICE noncentral_t_log_chi_grad_s_nu_results make_noncentral_t_log_chi_grad_s_nu_results(real value, real d_s, real d_nu)
{
    noncentral_t_log_chi_grad_s_nu_results results;
    results.value = value;
    results.d_s = d_s;
    results.d_nu = d_nu;
    return results;
}


typedef struct {
    real value;
    real d_nu;
    real d_delta;
    real d_mu;
    real d_sigma;
} noncentral_t_logpdf_grad_nu_delta_mu_sigma_results;

DEVICE noncentral_t_logpdf_grad_nu_delta_mu_sigma_results make_noncentral_t_logpdf_grad_nu_delta_mu_sigma_results(real value, real d_nu, real d_delta, real d_mu, real d_sigma)
{
    noncentral_t_logpdf_grad_nu_delta_mu_sigma_results results;
    results.value = value;
    results.d_nu = d_nu;
    results.d_delta = d_delta;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_nu;
    real d_delta;
    real d_mu;
    real d_sigma;
} noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results;

DEVICE noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results make_noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results(real value, real d_nu, real d_delta, real d_mu, real d_sigma)
{
    noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results results;
    results.value = value;
    results.d_nu = d_nu;
    results.d_delta = d_delta;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
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

// noncentral_t_peak_grad_n_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
} noncentral_t_peak_grad_n_b_sm_set;

DEVICE noncentral_t_peak_grad_n_b_sm_set noncentral_t_peak_grad_n_b_sm_prepare_set(real n)
{
    noncentral_t_peak_grad_n_b_sm_set set;
    set.c0 = 4 * n;
    set.c1 = 2 * n;
    return set;
}

// noncentral_t_peak_grad_n_b: what depends on both, from what was computed ahead.
DEVICE noncentral_t_peak_grad_n_b_results noncentral_t_peak_grad_n_b_sm_evaluate(noncentral_t_peak_grad_n_b_sm_set set, real b)
{
    real t = sqrt(b * b + set.c0);
    real t2 = 0.5 / t;
    real d_n_root = t2 * 4;
    real d_b_root = t2 * (2 * b);
    real root = t;
    real t3 = set.c1 / (root - b);
    real t4 = 1 / (root - b);
    return make_noncentral_t_peak_grad_n_b_results(b < 0 ? t3 : 0.5 * (b + root), b < 0 ? (2 - t3 * d_n_root) * t4 : 0.5 * d_n_root, b < 0 ? -(t3 * (d_b_root - 1) * t4) : 0.5 * (1 + d_b_root));
}

// noncentral_t_log_chi_grad_s_nu: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real nu;
    real c1;
} noncentral_t_log_chi_grad_s_nu_ms_set;

DEVICE noncentral_t_log_chi_grad_s_nu_ms_set noncentral_t_log_chi_grad_s_nu_ms_prepare_set(real nu)
{
    noncentral_t_log_chi_grad_s_nu_ms_set set;
    set.c0 = LOG_2 - HALF_LOG_2PI + 0.5 * log(0.5 * nu) - special_stirling_error(0.5 * nu);
    set.nu = nu;
    set.c1 = 0.5 * (special_log_slope(0.5 * nu) * 0.5) - special_stirling_error_derivative(0.5 * nu) * 0.5;
    return set;
}

// noncentral_t_log_chi_grad_s_nu: what depends on both, from what was computed ahead.
DEVICE noncentral_t_log_chi_grad_s_nu_results noncentral_t_log_chi_grad_s_nu_ms_evaluate(noncentral_t_log_chi_grad_s_nu_ms_set set, real s)
{
    real d = s - 1;
    real t = special_log_ratio_excess(s, d) - 0.5 * d * d;
    return make_noncentral_t_log_chi_grad_s_nu_results(set.c0 + set.nu * t, set.nu * ((fabs(d) < 0.5 ? -(d / s) : 1 / s - 1) - d), set.c1 + t);
}

// noncentral_t_logpdf_grad_nu_delta_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    real mu;
    real t2;
    real t3;
    int c2;
    real c3;
    real delta;
    noncentral_t_peak_grad_n_b_sm_set noncentral_t_peak_grad_n_b_0;
    real n;
    noncentral_t_log_chi_grad_s_nu_ms_set noncentral_t_0;
    real c4;
    real c5;
} noncentral_t_logpdf_grad_nu_delta_mu_sigma_set;

DEVICE noncentral_t_logpdf_grad_nu_delta_mu_sigma_set noncentral_t_logpdf_grad_nu_delta_mu_sigma_prepare_set(real nu, real delta, real mu, real sigma)
{
    noncentral_t_logpdf_grad_nu_delta_mu_sigma_set set;
    real t2 = 1 / sigma;
    real n = nu + 1;
    real t3 = sqrt(nu);
    set.c0 = isinf(nu) || isinf(delta);
    set.c1 = t2 * t2;
    set.mu = mu;
    set.t2 = t2;
    set.t3 = t3;
    set.c2 = t3 == 0;
    set.c3 = 0.5 / t3;
    set.delta = delta;
    set.noncentral_t_peak_grad_n_b_0 = noncentral_t_peak_grad_n_b_sm_prepare_set(n);
    set.n = n;
    set.noncentral_t_0 = noncentral_t_log_chi_grad_s_nu_ms_prepare_set(nu);
    set.c4 = log(sigma);
    set.c5 = special_log_slope(sigma);
    return set;
}

// noncentral_t_logpdf_grad_nu_delta_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} noncentral_t_logpdf_grad_nu_delta_mu_sigma_row;

DEVICE noncentral_t_logpdf_grad_nu_delta_mu_sigma_row noncentral_t_logpdf_grad_nu_delta_mu_sigma_prepare_row(real x)
{
    noncentral_t_logpdf_grad_nu_delta_mu_sigma_row row;
    row.c0 = isinf(x);
    row.x = x;
    return row;
}

// noncentral_t_logpdf_grad_nu_delta_mu_sigma: what depends on both, from what was computed ahead.
DEVICE noncentral_t_logpdf_grad_nu_delta_mu_sigma_results noncentral_t_logpdf_grad_nu_delta_mu_sigma_evaluate(noncentral_t_logpdf_grad_nu_delta_mu_sigma_set set, noncentral_t_logpdf_grad_nu_delta_mu_sigma_row row)
{
    if (set.c0) {
        return make_noncentral_t_logpdf_grad_nu_delta_mu_sigma_results(NAN, NAN, NAN, NAN, NAN);
    }
    if (row.c0) {
        return make_noncentral_t_logpdf_grad_nu_delta_mu_sigma_results(-INFINITY, 0, 0, 0, 0);
    }
    real d_sigma_t = -(set.c1 * (row.x - set.mu));
    real t = (row.x - set.mu) * set.t2;
    real t4 = hypot(t, set.t3);
    real t5 = t / t4;
    real d_nu_r = t == 0 && set.c2 ? 0 : set.t3 / t4 * set.c3;
    real d_mu_r = t == 0 && set.c2 ? 0 : -(set.t2 * t5);
    real d_sigma_r = t == 0 && set.c2 ? 0 : t5 * d_sigma_t;
    real r = t4;
    real t6 = t / r;
    real t7 = 1 / r;
    real d_nu_share = -(t6 * d_nu_r * t7);
    real d_mu_share = (-set.t2 - t6 * d_mu_r) * t7;
    real d_sigma_share = (d_sigma_t - t6 * d_sigma_r) * t7;
    real share = t6;
    real d_nu_b = set.delta * d_nu_share;
    real d_mu_b = set.delta * d_mu_share;
    real d_sigma_b = set.delta * d_sigma_share;
    noncentral_t_peak_grad_n_b_results call = noncentral_t_peak_grad_n_b_sm_evaluate(set.noncentral_t_peak_grad_n_b_0, share * set.delta);
    real d_nu_w = call.d_n + call.d_b * d_nu_b;
    real d_delta_w = call.d_b * share;
    real d_mu_w = call.d_b * d_mu_b;
    real d_sigma_w = call.d_b * d_sigma_b;
    real w = call.value;
    real t8 = w / r;
    real t9 = 1 / r;
    real d_nu_s = (d_nu_w - t8 * d_nu_r) * t9;
    real d_delta_s = d_delta_w * t9;
    real d_mu_s = (d_mu_w - t8 * d_mu_r) * t9;
    real d_sigma_s = (d_sigma_w - t8 * d_sigma_r) * t9;
    real s = t8;
    real d_nu_a = 2 * w * d_nu_w;
    real d_delta_a = 2 * w * d_delta_w;
    real d_mu_a = 2 * w * d_mu_w;
    real d_sigma_a = 2 * w * d_sigma_w;
    real a = w * w;
    real d_nu_z = w * d_nu_share + share * d_nu_w;
    real d_delta_z = share * d_delta_w - 1;
    real d_mu_z = w * d_mu_share + share * d_mu_w;
    real d_sigma_z = w * d_sigma_share + share * d_sigma_w;
    real z = share * w - set.delta;
    real t10 = sqrt(a + set.n + 24);
    real t11 = 0.55 / t10;
    real t12 = 0.5 / t10;
    real t13 = 1 / t10;
    real d_nu_step = -(t11 * (t12 * (d_nu_a + 1)) * t13);
    real d_delta_step = -(t11 * (t12 * d_delta_a) * t13);
    real d_mu_step = -(t11 * (t12 * d_mu_a) * t13);
    real d_sigma_step = -(t11 * (t12 * d_sigma_a) * t13);
    real step = t11;
    real d_nu_sum = 0;
    real d_delta_sum = 0;
    real d_mu_sum = 0;
    real d_sigma_sum = 0;
    real sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real d_nu_term = 0;
        real d_delta_term = 0;
        real d_mu_term = 0;
        real d_sigma_term = 0;
        real term = 1;
        for (int i = 1; i < 4000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real d_nu_v = int_product(side, i) * d_nu_step;
            real d_delta_v = int_product(side, i) * d_delta_step;
            real d_mu_v = int_product(side, i) * d_mu_step;
            real d_sigma_v = int_product(side, i) * d_sigma_step;
            real v = int_product(side, i) * step;
            real t14 = exp(v);
            real d_nu_d = t14 * d_nu_v;
            real d_delta_d = t14 * d_delta_v;
            real d_mu_d = t14 * d_mu_v;
            real d_sigma_d = t14 * d_sigma_v;
            real d = expm1(v);
            special_expm1_excess_grad_x_results call2 = special_expm1_excess_grad_x(-v);
            real t15 = exp(-0.5 * a * d * d - set.n * call2.value);
            real t16 = 0.5 * 2 * a * d;
            d_nu_term = t15 * (-(0.5 * d * d * d_nu_a) - t16 * d_nu_d - (call2.value - d_nu_v * call2.d_x * set.n));
            d_delta_term = t15 * (-(0.5 * d * d * d_delta_a) - t16 * d_delta_d + d_delta_v * call2.d_x * set.n);
            d_mu_term = t15 * (-(0.5 * d * d * d_mu_a) - t16 * d_mu_d + d_mu_v * call2.d_x * set.n);
            d_sigma_term = t15 * (-(0.5 * d * d * d_sigma_a) - t16 * d_sigma_d + d_sigma_v * call2.d_x * set.n);
            term = t15;
            d_nu_sum += d_nu_term;
            d_delta_sum += d_delta_term;
            d_mu_sum += d_mu_term;
            d_sigma_sum += d_sigma_term;
            sum += term;
        }
    }
    noncentral_t_log_chi_grad_s_nu_results call3 = noncentral_t_log_chi_grad_s_nu_ms_evaluate(set.noncentral_t_0, s);
    real t17 = special_log_slope(s);
    real t18 = special_log_slope(step);
    real t19 = special_log_slope(sum);
    return make_noncentral_t_logpdf_grad_nu_delta_mu_sigma_results(call3.value + log(s) - 0.5 * z * z - HALF_LOG_2PI + log(step) + log(sum) - set.c4, call3.d_s * d_nu_s + call3.d_nu + t17 * d_nu_s - z * d_nu_z + t18 * d_nu_step + t19 * d_nu_sum, call3.d_s * d_delta_s + t17 * d_delta_s - z * d_delta_z + t18 * d_delta_step + t19 * d_delta_sum, call3.d_s * d_mu_s + t17 * d_mu_s - z * d_mu_z + t18 * d_mu_step + t19 * d_mu_sum, call3.d_s * d_sigma_s + t17 * d_sigma_s - z * d_sigma_z + t18 * d_sigma_step + t19 * d_sigma_sum - set.c5);
}

// noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    noncentral_t_logpdf_grad_nu_delta_mu_sigma_set noncentral_t_0;
    real t2;
} noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_set;

DEVICE noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_set noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_prepare_set(real nu, real delta, real mu, real sigma)
{
    noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_set set;
    real bad_nu = nu > 0 ? 0 : NAN;
    real bad_delta = delta == delta ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    real t2 = bad_nu + bad_delta + bad_mu + bad_sigma;
    set.noncentral_t_0 = noncentral_t_logpdf_grad_nu_delta_mu_sigma_prepare_set(nu, delta, mu, sigma);
    set.t2 = t2;
    return set;
}

// noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    noncentral_t_logpdf_grad_nu_delta_mu_sigma_row noncentral_t_0;
    int inside;
    real outside;
    real t;
} noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row;

DEVICE noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_prepare_row(real x)
{
    noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.noncentral_t_0 = noncentral_t_logpdf_grad_nu_delta_mu_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma: what depends on both, from what was computed ahead.
DEVICE noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_evaluate(noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_set set, noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row row)
{
    noncentral_t_logpdf_grad_nu_delta_mu_sigma_results call = noncentral_t_logpdf_grad_nu_delta_mu_sigma_evaluate(set.noncentral_t_0, row.noncentral_t_0);
    real d_nu_value = call.d_nu;
    real d_delta_value = call.d_delta;
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_nu_value : row.t) + set.t2, (row.inside ? d_delta_value : row.t) + set.t2, (row.inside ? d_mu_value : row.t) + set.t2, (row.inside ? d_sigma_value : row.t) + set.t2);
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
// Here f has several results: value, d_nu, d_delta, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT nu_per_set, index_t nu_offset, index_t nu_stride, GLOBAL const real *RESTRICT delta_per_set, index_t delta_offset, index_t delta_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    nu_per_set += nu_offset;
    delta_per_set += delta_offset;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_prepare_set(nu_per_set[(first_set + MIN(k, sets_here - 1)) * nu_stride], delta_per_set[(first_set + MIN(k, sets_here - 1)) * delta_stride], mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row row = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results result = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_nu;
                        total[k * 5 + 2] += result.d_delta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
                {
                    const noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row row = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results result = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_nu;
                        total[k * 5 + 2] += result.d_delta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_row row = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_results result = noncentral_t_logpdf_checked_grad_nu_delta_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_nu;
                        total[k * 5 + 2] += result.d_delta;
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










