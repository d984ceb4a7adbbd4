// The gradient kernel of normal_inverse_gaussian, made by `gpustats generate`. Do not edit.
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
    real d_delta;
    real d_gamma;
} special_gig_peak_grad_delta_gamma_results;

DEVICE special_gig_peak_grad_delta_gamma_results make_special_gig_peak_grad_delta_gamma_results(real value, real d_delta, real d_gamma)
{
    special_gig_peak_grad_delta_gamma_results results;
    results.value = value;
    results.d_delta = d_delta;
    results.d_gamma = d_gamma;
    return results;
}


typedef struct {
    real value;
    real d_b;
} special_gig_log_integral_grad_b_results;

DEVICE special_gig_log_integral_grad_b_results make_special_gig_log_integral_grad_b_results(real value, real d_b)
{
    special_gig_log_integral_grad_b_results results;
    results.value = value;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
} special_gig_mixture_gamma_grad_alpha_beta_results;

DEVICE special_gig_mixture_gamma_grad_alpha_beta_results make_special_gig_mixture_gamma_grad_alpha_beta_results(real value, real d_alpha, real d_beta)
{
    special_gig_mixture_gamma_grad_alpha_beta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    return results;
}


typedef struct {
    real value;
    real d_r;
    real d_d;
    real d_b;
} special_gig_height_grad_r_d_b_results;

DEVICE special_gig_height_grad_r_d_b_results make_special_gig_height_grad_r_d_b_results(real value, real d_r, real d_d, real d_b)
{
    special_gig_height_grad_r_d_b_results results;
    results.value = value;
    results.d_r = d_r;
    results.d_d = d_d;
    results.d_b = d_b;
    return results;
}


typedef struct {
    real value;
    real d_w;
    real d_delta;
    real d_gamma;
} special_gig_height_at_grad_w_delta_gamma_results;

DEVICE special_gig_height_at_grad_w_delta_gamma_results make_special_gig_height_at_grad_w_delta_gamma_results(real value, real d_w, real d_delta, real d_gamma)
{
    special_gig_height_at_grad_w_delta_gamma_results results;
    results.value = value;
    results.d_w = d_w;
    results.d_delta = d_delta;
    results.d_gamma = d_gamma;
    return results;
}


typedef struct {
    real value;
    real d_x;
    real d_beta;
    real d_gamma;
    real d_delta;
} special_log_gig_mixture_density_grad_x_beta_gamma_delta_results;

DEVICE special_log_gig_mixture_density_grad_x_beta_gamma_delta_results make_special_log_gig_mixture_density_grad_x_beta_gamma_delta_results(real value, real d_x, real d_beta, real d_gamma, real d_delta)
{
    special_log_gig_mixture_density_grad_x_beta_gamma_delta_results results;
    results.value = value;
    results.d_x = d_x;
    results.d_beta = d_beta;
    results.d_gamma = d_gamma;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_mu;
    real d_delta;
} normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results;

DEVICE normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results make_normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results(real value, real d_alpha, real d_beta, real d_mu, real d_delta)
{
    normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_mu = d_mu;
    results.d_delta = d_delta;
    return results;
}


typedef struct {
    real value;
    real d_alpha;
    real d_beta;
    real d_mu;
    real d_delta;
} normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results;

DEVICE normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results make_normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results(real value, real d_alpha, real d_beta, real d_mu, real d_delta)
{
    normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results results;
    results.value = value;
    results.d_alpha = d_alpha;
    results.d_beta = d_beta;
    results.d_mu = d_mu;
    results.d_delta = d_delta;
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

DEVICE special_gig_peak_grad_delta_gamma_results special_gig_peak_grad_delta_gamma(real p, real delta, real gamma)
{
    real t = hypot(p, delta * gamma);
    real t2 = delta * gamma / t;
    real d_delta_size = p == 0 && delta * gamma == 0 ? 0 : t2 * gamma;
    real d_gamma_size = p == 0 && delta * gamma == 0 ? 0 : t2 * delta;
    real size = fabs(p) + t;
    real t3 = delta / size;
    real t4 = size / gamma;
    real t5 = t4 / gamma;
    real t6 = 1 / size;
    real t7 = 1 / gamma;
    return make_special_gig_peak_grad_delta_gamma_results(p < 0 ? delta * t3 : t5, p < 0 ? t3 + delta * ((1 - t3 * d_delta_size) * t6) : d_delta_size * t7 * t7, p < 0 ? -(t3 * d_gamma_size * t6 * delta) : ((d_gamma_size - t4) * t7 - t5) * t7);
}

DEVICE special_gig_log_integral_grad_b_results special_gig_log_integral_grad_b(real order, real p, real b)
{
    if (b == 0 && order == 0) {
        return make_special_gig_log_integral_grad_b_results(HALF_LOG_2PI - 0.5 * log(p) + special_stirling_error(p), 0);
    }
    real t = hypot(p, b);
    real d_b_w = p == 0 && b == 0 ? 0 : b / t;
    real w = t;
    real t2 = b / (p + w);
    real d_b_rest = t2 + b * ((1 - t2 * d_b_w) * (1 / (p + w)));
    real rest = b * t2;
    real t3 = sqrt(w + 7);
    real t4 = 0.6 / t3;
    real d_b_step = -(t4 * (0.5 / t3 * d_b_w) * (1 / t3));
    real step = t4;
    real d_b_sum = 0;
    real sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real d_b_term = 0;
        real term = 1;
        for (int i = 1; i < 6000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real d_b_v = int_product(side, i) * d_b_step;
            real v = int_product(side, i) * step;
            real d_b_s = rest > 0 ? cosh(0.5 * v) * (0.5 * d_b_v) : 0;
            real s = rest > 0 ? sinh(0.5 * v) : 0;
            special_expm1_excess_grad_x_results call = special_expm1_excess_grad_x(-v);
            real t5 = exp(order * v - p * call.value - 2 * rest * s * s);
            d_b_term = t5 * (order * d_b_v + d_b_v * call.d_x * p - (2 * s * s * d_b_rest + 4 * rest * s * d_b_s));
            term = t5;
            d_b_sum += d_b_term;
            sum += term;
        }
    }
    return make_special_gig_log_integral_grad_b_results(log(step) + log(sum), special_log_slope(step) * d_b_step + special_log_slope(sum) * d_b_sum);
}

DEVICE special_gig_mixture_gamma_grad_alpha_beta_results special_gig_mixture_gamma_grad_alpha_beta(real alpha, real beta)
{
    real t = sqrt((alpha - beta) * (alpha + beta));
    real t2 = 0.5 / t;
    return make_special_gig_mixture_gamma_grad_alpha_beta_results(t, t2 * (alpha + beta + (alpha - beta)), t2 * (alpha - beta - (alpha + beta)));
}

// special_gig_log_integral_grad_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_gig_log_integral_grad_b_results c0;
    int c1;
    real p;
    int c2;
    real order;
} special_gig_log_integral_grad_b_ssm_set;

DEVICE special_gig_log_integral_grad_b_ssm_set special_gig_log_integral_grad_b_ssm_prepare_set(real order, real p)
{
    special_gig_log_integral_grad_b_ssm_set set;
    set.c0 = make_special_gig_log_integral_grad_b_results(HALF_LOG_2PI - 0.5 * log(p) + special_stirling_error(p), 0);
    set.c1 = order == 0;
    set.p = p;
    set.c2 = p == 0;
    set.order = order;
    return set;
}

// special_gig_log_integral_grad_b: what depends on both, from what was computed ahead.
DEVICE special_gig_log_integral_grad_b_results special_gig_log_integral_grad_b_ssm_evaluate(special_gig_log_integral_grad_b_ssm_set set, real b)
{
    if (b == 0 && set.c1) {
        return set.c0;
    }
    real t = hypot(set.p, b);
    real d_b_w = set.c2 && b == 0 ? 0 : b / t;
    real w = t;
    real t2 = b / (set.p + w);
    real d_b_rest = t2 + b * ((1 - t2 * d_b_w) * (1 / (set.p + w)));
    real rest = b * t2;
    real t3 = sqrt(w + 7);
    real t4 = 0.6 / t3;
    real d_b_step = -(t4 * (0.5 / t3 * d_b_w) * (1 / t3));
    real step = t4;
    real d_b_sum = 0;
    real sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real d_b_term = 0;
        real term = 1;
        for (int i = 1; i < 6000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real d_b_v = int_product(side, i) * d_b_step;
            real v = int_product(side, i) * step;
            real d_b_s = rest > 0 ? cosh(0.5 * v) * (0.5 * d_b_v) : 0;
            real s = rest > 0 ? sinh(0.5 * v) : 0;
            special_expm1_excess_grad_x_results call = special_expm1_excess_grad_x(-v);
            real t5 = exp(set.order * v - set.p * call.value - 2 * rest * s * s);
            d_b_term = t5 * (set.order * d_b_v + d_b_v * call.d_x * set.p - (2 * s * s * d_b_rest + 4 * rest * s * d_b_s));
            term = t5;
            d_b_sum += d_b_term;
            sum += term;
        }
    }
    return make_special_gig_log_integral_grad_b_results(log(step) + log(sum), special_log_slope(step) * d_b_step + special_log_slope(sum) * d_b_sum);
}

// special_gig_height_grad_r_d_b: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real p;
    real d_b_rest;
} special_gig_height_grad_r_d_b_mmss_set;

DEVICE special_gig_height_grad_r_d_b_mmss_set special_gig_height_grad_r_d_b_mmss_prepare_set(real p, real b)
{
    special_gig_height_grad_r_d_b_mmss_set set;
    real t = hypot(p, b);
    real t2 = p + t;
    real t3 = b / t2;
    real d_b_rest = t3 + b * ((1 - t3 * (p == 0 && b == 0 ? 0 : b / t)) * (1 / t2));
    real rest = b * t3;
    set.c0 = 0.5 * rest;
    set.p = p;
    set.d_b_rest = d_b_rest;
    return set;
}

// special_gig_height_grad_r_d_b: what depends on both, from what was computed ahead.
DEVICE special_gig_height_grad_r_d_b_results special_gig_height_grad_r_d_b_mmss_evaluate(special_gig_height_grad_r_d_b_mmss_set set, real r, real d)
{
    real t4 = d / r;
    real t5 = 1 / r;
    return make_special_gig_height_grad_r_d_b_results(set.c0 * d * t4 - set.p * special_log_ratio_excess(r, d), -(t4 * t5 * (set.c0 * d)) - set.p * (fabs(d) < 0.5 ? 0 : t5), set.c0 * t4 + set.c0 * d * t5 - set.p * (fabs(d) < 0.5 ? -t4 : -1), 0.5 * d * t4 * set.d_b_rest);
}

// special_gig_height_at_grad_w_delta_gamma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real delta;
    real size;
    int c0;
    real t5;
    real c1;
    real c2;
    real d_delta_size;
    real t6;
    real c3;
    real c4;
    real gamma;
    real d_gamma_size;
    special_gig_height_grad_r_d_b_mmss_set special_gig_height_grad_r_d_b_0;
} special_gig_height_at_grad_w_delta_gamma_msss_set;

DEVICE special_gig_height_at_grad_w_delta_gamma_msss_set special_gig_height_at_grad_w_delta_gamma_msss_prepare_set(real p, real delta, real gamma)
{
    special_gig_height_at_grad_w_delta_gamma_msss_set set;
    real b = delta * gamma;
    real t = hypot(p, b);
    real t2 = b / t;
    real d_delta_size = p == 0 && b == 0 ? 0 : t2 * gamma;
    real d_gamma_size = p == 0 && b == 0 ? 0 : t2 * delta;
    real size = fabs(p) + t;
    real t5 = delta / size;
    real t6 = 1 / size;
    set.delta = delta;
    set.size = size;
    set.c0 = p < 0;
    set.t5 = t5;
    set.c1 = gamma * gamma * t6;
    set.c2 = (1 - t5 * d_delta_size) * t6;
    set.d_delta_size = d_delta_size;
    set.t6 = t6;
    set.c3 = gamma * gamma;
    set.c4 = t5 * d_gamma_size * t6;
    set.gamma = gamma;
    set.d_gamma_size = d_gamma_size;
    set.special_gig_height_grad_r_d_b_0 = special_gig_height_grad_r_d_b_mmss_prepare_set(fabs(p), b);
    return set;
}

// special_gig_height_at_grad_w_delta_gamma: what depends on both, from what was computed ahead.
DEVICE special_gig_height_at_grad_w_delta_gamma_results special_gig_height_at_grad_w_delta_gamma_msss_evaluate(special_gig_height_at_grad_w_delta_gamma_msss_set set, real w)
{
    real t3 = set.delta / w;
    real t4 = 1 / w;
    real t7 = w / set.size;
    real d_w_r = set.c0 ? -(t3 * t4 * set.t5) : set.c1;
    real d_delta_r = set.c0 ? t3 * set.c2 + set.t5 * t4 : -(t7 * set.d_delta_size * set.t6 * set.c3);
    real d_gamma_r = set.c0 ? -(set.c4 * t3) : 2 * t7 * set.gamma - t7 * set.d_gamma_size * set.t6 * set.c3;
    real r = set.c0 ? set.t5 * t3 : t7 * set.gamma * set.gamma;
    special_gig_height_grad_r_d_b_results call = special_gig_height_grad_r_d_b_mmss_evaluate(set.special_gig_height_grad_r_d_b_0, r, r - 1);
    return make_special_gig_height_at_grad_w_delta_gamma_results(call.value, call.d_r * d_w_r + call.d_d * d_w_r, call.d_r * d_delta_r + call.d_d * d_delta_r + call.d_b * set.gamma, call.d_r * d_gamma_r + call.d_d * d_gamma_r + call.d_b * set.delta);
}

// special_log_gig_mixture_density_grad_x_beta_gamma_delta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real delta;
    int c0;
    real c1;
    real alpha;
    real d_beta_alpha;
    real d_gamma_alpha;
    real beta;
    special_gig_log_integral_grad_b_ssm_set special_gig_0;
    special_gig_height_at_grad_w_delta_gamma_msss_set special_gig_height_at_grad_w_delta_gamma_0;
    real c2;
    real c3;
    real c4;
} special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_set;

DEVICE special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_set special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_prepare_set(real p, real beta, real gamma, real delta)
{
    special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_set set;
    real t2 = hypot(beta, gamma);
    real d_beta_alpha = beta == 0 && gamma == 0 ? 0 : beta / t2;
    real d_gamma_alpha = beta == 0 && gamma == 0 ? 0 : gamma / t2;
    real alpha = t2;
    special_gig_log_integral_grad_b_results call3 = special_gig_log_integral_grad_b(0, fabs(p), delta * gamma);
    set.delta = delta;
    set.c0 = delta == 0;
    set.c1 = p - 0.5;
    set.alpha = alpha;
    set.d_beta_alpha = d_beta_alpha;
    set.d_gamma_alpha = d_gamma_alpha;
    set.beta = beta;
    set.special_gig_0 = special_gig_log_integral_grad_b_ssm_prepare_set(0, fabs(p - 0.5));
    set.special_gig_height_at_grad_w_delta_gamma_0 = special_gig_height_at_grad_w_delta_gamma_msss_prepare_set(p, delta, gamma);
    set.c2 = call3.value + HALF_LOG_2PI;
    set.c3 = call3.d_b * delta;
    set.c4 = call3.d_b * gamma;
    return set;
}

// special_log_gig_mixture_density_grad_x_beta_gamma_delta: what depends on both, from what was computed ahead.
DEVICE special_log_gig_mixture_density_grad_x_beta_gamma_delta_results special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_evaluate(special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_set set, real x)
{
    real t = hypot(x, set.delta);
    real d_x_q = x == 0 && set.c0 ? 0 : x / t;
    real d_delta_q = x == 0 && set.c0 ? 0 : set.delta / t;
    real q = t;
    special_gig_peak_grad_delta_gamma_results call = special_gig_peak_grad_delta_gamma(set.c1, q, set.alpha);
    real d_x_w = call.d_delta * d_x_q;
    real d_beta_w = call.d_gamma * set.d_beta_alpha;
    real d_gamma_w = call.d_gamma * set.d_gamma_alpha;
    real d_delta_w = call.d_delta * d_delta_q;
    real w = call.value;
    real t3 = sqrt(w);
    real t4 = (x - set.beta * w) / t3;
    real t5 = 0.5 / t3;
    real t6 = 1 / t3;
    real d_x_z = (1 - set.beta * d_x_w - t4 * (t5 * d_x_w)) * t6;
    real d_beta_z = (-(w + set.beta * d_beta_w) - t4 * (t5 * d_beta_w)) * t6;
    real d_gamma_z = (-(set.beta * d_gamma_w) - t4 * (t5 * d_gamma_w)) * t6;
    real d_delta_z = (-(set.beta * d_delta_w) - t4 * (t5 * d_delta_w)) * t6;
    real z = t4;
    real d_x_b = set.alpha * d_x_q;
    real d_beta_b = q * set.d_beta_alpha;
    real d_gamma_b = q * set.d_gamma_alpha;
    real d_delta_b = set.alpha * d_delta_q;
    special_gig_log_integral_grad_b_results call2 = special_gig_log_integral_grad_b_ssm_evaluate(set.special_gig_0, set.alpha * q);
    special_gig_height_at_grad_w_delta_gamma_results call4 = special_gig_height_at_grad_w_delta_gamma_msss_evaluate(set.special_gig_height_at_grad_w_delta_gamma_0, w);
    real t7 = special_log_slope(w);
    return make_special_log_gig_mixture_density_grad_x_beta_gamma_delta_results(call2.value - set.c2 - call4.value - 0.5 * z * z - 0.5 * log(w), call2.d_b * d_x_b - call4.d_w * d_x_w - z * d_x_z - 0.5 * (t7 * d_x_w), call2.d_b * d_beta_b - call4.d_w * d_beta_w - z * d_beta_z - 0.5 * (t7 * d_beta_w), call2.d_b * d_gamma_b - set.c3 - (call4.d_w * d_gamma_w + call4.d_gamma) - z * d_gamma_z - 0.5 * (t7 * d_gamma_w), call2.d_b * d_delta_b - set.c4 - (call4.d_w * d_delta_w + call4.d_delta) - z * d_delta_z - 0.5 * (t7 * d_delta_w));
}

// normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_set special_0;
    real mu;
    real d_alpha_gamma;
    real d_beta_gamma;
} normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_set;

DEVICE normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_set normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_prepare_set(real alpha, real beta, real mu, real delta)
{
    normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_set set;
    special_gig_mixture_gamma_grad_alpha_beta_results call2 = special_gig_mixture_gamma_grad_alpha_beta(alpha, beta);
    real d_alpha_gamma = call2.d_alpha;
    real d_beta_gamma = call2.d_beta;
    set.c0 = !(fabs(beta) < alpha && alpha < INFINITY);
    set.special_0 = special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_prepare_set(-0.5, beta, call2.value, delta);
    set.mu = mu;
    set.d_alpha_gamma = d_alpha_gamma;
    set.d_beta_gamma = d_beta_gamma;
    return set;
}

// normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_row;

DEVICE normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_row normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_prepare_row(real x)
{
    normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_row row;
    row.c0 = isinf(x);
    row.x = x;
    return row;
}

// normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta: what depends on both, from what was computed ahead.
DEVICE normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_evaluate(normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_set set, normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_row row)
{
    if (set.c0) {
        return make_normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results(NAN, NAN, NAN, NAN, NAN);
    }
    if (row.c0) {
        return make_normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results(-INFINITY, 0, 0, 0, 0);
    }
    special_log_gig_mixture_density_grad_x_beta_gamma_delta_results call = special_log_gig_mixture_density_grad_x_beta_gamma_delta_mssss_evaluate(set.special_0, row.x - set.mu);
    return make_normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results(call.value, call.d_gamma * set.d_alpha_gamma, call.d_beta + call.d_gamma * set.d_beta_gamma, -call.d_x, call.d_delta);
}

// normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_set normal_inverse_gaussian_0;
    real t2;
} normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_set;

DEVICE normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_set normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_prepare_set(real alpha, real beta, real mu, real delta)
{
    normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_set set;
    real bad_alpha = alpha > 0 ? 0 : NAN;
    real bad_beta = beta == beta ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_delta = delta > 0 ? 0 : NAN;
    real t2 = bad_alpha + bad_beta + bad_mu + bad_delta;
    set.normal_inverse_gaussian_0 = normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_prepare_set(alpha, beta, mu, delta);
    set.t2 = t2;
    return set;
}

// normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta: what depends on the observation alone, computed once for each.
typedef struct {
    normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_row normal_inverse_gaussian_0;
    int inside;
    real outside;
    real t;
} normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row;

DEVICE normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_prepare_row(real x)
{
    normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.normal_inverse_gaussian_0 = normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta: what depends on both, from what was computed ahead.
DEVICE normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_evaluate(normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_set set, normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row row)
{
    normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_results call = normal_inverse_gaussian_logpdf_grad_alpha_beta_mu_delta_evaluate(set.normal_inverse_gaussian_0, row.normal_inverse_gaussian_0);
    real d_alpha_value = call.d_alpha;
    real d_beta_value = call.d_beta;
    real d_mu_value = call.d_mu;
    real d_delta_value = call.d_delta;
    real value = call.value;
    return make_normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_alpha_value : row.t) + set.t2, (row.inside ? d_beta_value : row.t) + set.t2, (row.inside ? d_mu_value : row.t) + set.t2, (row.inside ? d_delta_value : row.t) + set.t2);
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
// Here f has several results: value, d_alpha, d_beta, d_mu, d_delta are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT alpha_per_set, index_t alpha_offset, index_t alpha_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT delta_per_set, index_t delta_offset, index_t delta_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    alpha_per_set += alpha_offset;
    beta_per_set += beta_offset;
    mu_per_set += mu_offset;
    delta_per_set += delta_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_prepare_set(alpha_per_set[(first_set + MIN(k, sets_here - 1)) * alpha_stride], beta_per_set[(first_set + MIN(k, sets_here - 1)) * beta_stride], mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], delta_per_set[(first_set + MIN(k, sets_here - 1)) * delta_stride]);
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
                    const normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row row = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results result = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_beta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_delta;
                    }
                }
                {
                    const normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row row = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results result = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_beta;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_delta;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_row row = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_results result = normal_inverse_gaussian_logpdf_checked_grad_alpha_beta_mu_delta_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_alpha;
                        total[k * 5 + 2] += result.d_beta;
                        total[k * 5 + 3] += result.d_mu;
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










