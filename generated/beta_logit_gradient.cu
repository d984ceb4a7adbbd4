// The gradient kernel of beta_logit, made by `gpustats generate`. Do not edit.
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

typedef struct {
    real value;
    real d_z;
    real d_log_z;
} beta_logit_log_power_over_gamma_grad_z_log_z_results;

DEVICE beta_logit_log_power_over_gamma_grad_z_log_z_results make_beta_logit_log_power_over_gamma_grad_z_log_z_results(real value, real d_z, real d_log_z)
{
    beta_logit_log_power_over_gamma_grad_z_log_z_results results;
    results.value = value;
    results.d_z = d_z;
    results.d_log_z = d_log_z;
    return results;
}


typedef struct {
    real value;
    real d_eta;
} beta_logit_divergence_grad_eta__results;

DEVICE beta_logit_divergence_grad_eta__results make_beta_logit_divergence_grad_eta__results(real value, real d_eta)
{
    beta_logit_divergence_grad_eta__results results;
    results.value = value;
    results.d_eta = d_eta;
    return results;
}


typedef struct {
    real value;
    real d_eta;
    real d_phi;
} beta_logit_logpdf_grad_eta_phi_results;

DEVICE beta_logit_logpdf_grad_eta_phi_results make_beta_logit_logpdf_grad_eta_phi_results(real value, real d_eta, real d_phi)
{
    beta_logit_logpdf_grad_eta_phi_results results;
    results.value = value;
    results.d_eta = d_eta;
    results.d_phi = d_phi;
    return results;
}


typedef struct {
    real value;
    real d_eta;
    real d_phi;
} beta_logit_logpdf_checked_grad_eta_phi_results;

DEVICE beta_logit_logpdf_checked_grad_eta_phi_results make_beta_logit_logpdf_checked_grad_eta_phi_results(real value, real d_eta, real d_phi)
{
    beta_logit_logpdf_checked_grad_eta_phi_results results;
    results.value = value;
    results.d_eta = d_eta;
    results.d_phi = d_phi;
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

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
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

DEVICE beta_logit_log_power_over_gamma_grad_z_log_z_results beta_logit_log_power_over_gamma_grad_z_log_z(real z, real log_z)
{
    return make_beta_logit_log_power_over_gamma_grad_z_log_z_results(z < 1e-30 ? log_z : 0.5 * log_z - HALF_LOG_2PI - special_stirling_error(z), z < 1e-30 ? 0 : -special_stirling_error_derivative(z), z < 1e-30 ? 1 : 0.5);
}

// beta_logit_divergence: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real mu;
    real nu;
    int c1;
    real c2;
    int c3;
    real c4;
} beta_logit_divergence_set;

DEVICE beta_logit_divergence_set beta_logit_divergence_prepare_set(real eta)
{
    beta_logit_divergence_set set;
    real mu = special_expit(eta);
    real nu = special_expit(-eta);
    set.c0 = eta < 0;
    set.mu = mu;
    set.nu = nu;
    set.c1 = mu == 0;
    set.c2 = special_log_expit(eta);
    set.c3 = nu == 0;
    set.c4 = special_log_expit(-eta);
    return set;
}

// beta_logit_divergence: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
    real c1;
    real c2;
    real c3;
} beta_logit_divergence_row;

DEVICE beta_logit_divergence_row beta_logit_divergence_prepare_row(real x)
{
    beta_logit_divergence_row row;
    row.x = x;
    row.c0 = 1 - x;
    row.c1 = log(x);
    row.c2 = x - 1;
    row.c3 = log1p(-x);
    return row;
}

// beta_logit_divergence: what depends on both, from what was computed ahead.
DEVICE real beta_logit_divergence_evaluate(beta_logit_divergence_set set, beta_logit_divergence_row row)
{
    real deviation = set.c0 ? row.x - set.mu : set.nu - row.c0;
    return (set.c1 ? -row.x : set.mu * special_log_excess(row.c1 - set.c2, deviation / set.mu)) + (set.c3 ? row.c2 : set.nu * special_log_excess(row.c3 - set.c4, -deviation / set.nu));
}

// beta_logit_divergence_grad_eta: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real c2;
} beta_logit_divergence_grad_eta_set;

DEVICE beta_logit_divergence_grad_eta_set beta_logit_divergence_grad_eta_prepare_set(real eta)
{
    beta_logit_divergence_grad_eta_set set;
    set.c0 = special_expit(eta) * special_expit(-eta);
    set.c1 = special_log_expit(eta);
    set.c2 = special_log_expit(-eta);
    return set;
}

// beta_logit_divergence_grad_eta: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
    real c1;
} beta_logit_divergence_grad_eta_row;

DEVICE beta_logit_divergence_grad_eta_row beta_logit_divergence_grad_eta_prepare_row(real x)
{
    beta_logit_divergence_grad_eta_row row;
    row.c0 = log(x);
    row.c1 = log1p(-x);
    return row;
}

// beta_logit_divergence_grad_eta: what depends on both, from what was computed ahead.
DEVICE real beta_logit_divergence_grad_eta_evaluate(beta_logit_divergence_grad_eta_set set, beta_logit_divergence_grad_eta_row row)
{
    return set.c0 * (row.c0 - set.c1 - (row.c1 - set.c2));
}

// beta_logit_divergence_grad_eta_: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    beta_logit_divergence_set beta_0;
    beta_logit_divergence_grad_eta_set beta_1;
} beta_logit_divergence_grad_eta__set;

DEVICE beta_logit_divergence_grad_eta__set beta_logit_divergence_grad_eta__prepare_set(real eta)
{
    beta_logit_divergence_grad_eta__set set;
    set.beta_0 = beta_logit_divergence_prepare_set(eta);
    set.beta_1 = beta_logit_divergence_grad_eta_prepare_set(eta);
    return set;
}

// beta_logit_divergence_grad_eta_: what depends on the observation alone, computed once for each.
typedef struct {
    beta_logit_divergence_row beta_0;
    beta_logit_divergence_grad_eta_row beta_1;
} beta_logit_divergence_grad_eta__row;

DEVICE beta_logit_divergence_grad_eta__row beta_logit_divergence_grad_eta__prepare_row(real x)
{
    beta_logit_divergence_grad_eta__row row;
    row.beta_0 = beta_logit_divergence_prepare_row(x);
    row.beta_1 = beta_logit_divergence_grad_eta_prepare_row(x);
    return row;
}

// beta_logit_divergence_grad_eta_: what depends on both, from what was computed ahead.
DEVICE beta_logit_divergence_grad_eta__results beta_logit_divergence_grad_eta__evaluate(beta_logit_divergence_grad_eta__set set, beta_logit_divergence_grad_eta__row row)
{
    return make_beta_logit_divergence_grad_eta__results(beta_logit_divergence_evaluate(set.beta_0, row.beta_0), beta_logit_divergence_grad_eta_evaluate(set.beta_1, row.beta_1));
}

// beta_logit_logpdf_grad_eta_phi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    beta_logit_divergence_grad_eta__set beta_0;
    real d_eta_log_normalization;
    real phi;
    real d_phi_log_normalization;
    real log_normalization;
    int c0;
    real c1;
    real d_eta_beta;
    real c2;
    real c3;
    real t2;
    real c4;
    real c5;
    real c6;
    real c7;
    int c8;
    real c9;
    real d_eta_alpha;
    real c10;
    real c11;
    real t;
    real c12;
    real c13;
} beta_logit_logpdf_grad_eta_phi_set;

DEVICE beta_logit_logpdf_grad_eta_phi_set beta_logit_logpdf_grad_eta_phi_prepare_set(real eta, real phi)
{
    beta_logit_logpdf_grad_eta_phi_set set;
    real d_phi_log_phi = special_log_slope(phi);
    real log_phi = log(phi);
    real t = special_expit(eta);
    real d_eta_alpha = phi * (isinf(eta) ? 0 : t * special_expit(-eta));
    real alpha = phi * t;
    real t2 = special_expit(-eta);
    real d_eta_beta = phi * (isinf(-eta) ? 0 : -(t2 * special_expit(eta)));
    real beta = phi * t2;
    real d_eta_log_z = eta == INFINITY ? 0 : special_expit(-eta);
    beta_logit_log_power_over_gamma_grad_z_log_z_results call = beta_logit_log_power_over_gamma_grad_z_log_z(alpha, log_phi + special_log_expit(eta));
    real d_eta_log_z2 = -eta == INFINITY ? 0 : -special_expit(eta);
    beta_logit_log_power_over_gamma_grad_z_log_z_results call2 = beta_logit_log_power_over_gamma_grad_z_log_z(beta, log_phi + special_log_expit(-eta));
    beta_logit_log_power_over_gamma_grad_z_log_z_results call3 = beta_logit_log_power_over_gamma_grad_z_log_z(phi, log_phi);
    real d_eta_log_normalization = call.d_z * d_eta_alpha + call.d_log_z * d_eta_log_z + (call2.d_z * d_eta_beta + call2.d_log_z * d_eta_log_z2);
    real d_phi_log_normalization = call.d_z * t + call.d_log_z * d_phi_log_phi + (call2.d_z * t2 + call2.d_log_z * d_phi_log_phi) - (call3.d_z + call3.d_log_z * d_phi_log_phi);
    real log_normalization = call.value + call2.value - call3.value;
    real t3 = special_log_slope(beta);
    real t4 = special_log_slope(alpha);
    set.beta_0 = beta_logit_divergence_grad_eta__prepare_set(eta);
    set.d_eta_log_normalization = d_eta_log_normalization;
    set.phi = phi;
    set.d_phi_log_normalization = d_phi_log_normalization;
    set.log_normalization = log_normalization;
    set.c0 = alpha - 1 == 0;
    set.c1 = t3 * d_eta_beta;
    set.d_eta_beta = d_eta_beta;
    set.c2 = INFINITY * d_eta_alpha;
    set.c3 = t3 * t2;
    set.t2 = t2;
    set.c4 = INFINITY * t;
    set.c5 = alpha - 1;
    set.c6 = log(beta);
    set.c7 = beta - 1;
    set.c8 = beta - 1 == 0;
    set.c9 = t4 * d_eta_alpha;
    set.d_eta_alpha = d_eta_alpha;
    set.c10 = INFINITY * d_eta_beta;
    set.c11 = t4 * t;
    set.t = t;
    set.c12 = INFINITY * t2;
    set.c13 = log(alpha);
    return set;
}

// beta_logit_logpdf_grad_eta_phi: what depends on the observation alone, computed once for each.
typedef struct {
    beta_logit_divergence_grad_eta__row beta_0;
    real c0;
    real x;
    real c1;
    int c2;
    int c3;
} beta_logit_logpdf_grad_eta_phi_row;

DEVICE beta_logit_logpdf_grad_eta_phi_row beta_logit_logpdf_grad_eta_phi_prepare_row(real x)
{
    beta_logit_logpdf_grad_eta_phi_row row;
    row.beta_0 = beta_logit_divergence_grad_eta__prepare_row(x);
    row.c0 = log(x) + log1p(-x);
    row.x = x;
    row.c1 = x - 1;
    row.c2 = x == 0;
    row.c3 = x == 1;
    return row;
}

// beta_logit_logpdf_grad_eta_phi: what depends on both, from what was computed ahead.
DEVICE beta_logit_logpdf_grad_eta_phi_results beta_logit_logpdf_grad_eta_phi_evaluate(beta_logit_logpdf_grad_eta_phi_set set, beta_logit_logpdf_grad_eta_phi_row row)
{
    beta_logit_divergence_grad_eta__results call4 = beta_logit_divergence_grad_eta__evaluate(set.beta_0, row.beta_0);
    real d_eta_value = set.d_eta_log_normalization + set.phi * call4.d_eta;
    real d_phi_value = set.d_phi_log_normalization + call4.value;
    real value = set.log_normalization - row.c0 + set.phi * call4.value;
    real d_eta_at_zero = set.c0 ? set.c1 - row.x * set.d_eta_beta - set.c2 : 0;
    real d_phi_at_zero = set.c0 ? set.c3 - row.x * set.t2 - set.c4 : 0;
    real at_zero = special_log_power_at_zero(set.c5, set.c6 - set.c7 * row.x);
    real d_eta_at_one = set.c8 ? set.c9 + row.c1 * set.d_eta_alpha - set.c10 : 0;
    real d_phi_at_one = set.c8 ? set.c11 + row.c1 * set.t - set.c12 : 0;
    real at_one = special_log_power_at_zero(set.c7, set.c13 + set.c5 * row.c1);
    return make_beta_logit_logpdf_grad_eta_phi_results(row.c2 ? at_zero : row.c3 ? at_one : value, row.c2 ? d_eta_at_zero : row.c3 ? d_eta_at_one : d_eta_value, row.c2 ? d_phi_at_zero : row.c3 ? d_phi_at_one : d_phi_value);
}

// beta_logit_logpdf_checked_grad_eta_phi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    beta_logit_logpdf_grad_eta_phi_set beta_0;
    real c0;
} beta_logit_logpdf_checked_grad_eta_phi_set;

DEVICE beta_logit_logpdf_checked_grad_eta_phi_set beta_logit_logpdf_checked_grad_eta_phi_prepare_set(real eta, real phi)
{
    beta_logit_logpdf_checked_grad_eta_phi_set set;
    real bad_eta = eta == eta ? 0 : NAN;
    real bad_phi = phi > 0 ? 0 : NAN;
    set.beta_0 = beta_logit_logpdf_grad_eta_phi_prepare_set(eta, phi);
    set.c0 = bad_eta + bad_phi;
    return set;
}

// beta_logit_logpdf_checked_grad_eta_phi: what depends on the observation alone, computed once for each.
typedef struct {
    beta_logit_logpdf_grad_eta_phi_row beta_0;
    int inside;
    real outside;
    real t;
} beta_logit_logpdf_checked_grad_eta_phi_row;

DEVICE beta_logit_logpdf_checked_grad_eta_phi_row beta_logit_logpdf_checked_grad_eta_phi_prepare_row(real x)
{
    beta_logit_logpdf_checked_grad_eta_phi_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x <= 1;
    row.beta_0 = beta_logit_logpdf_grad_eta_phi_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// beta_logit_logpdf_checked_grad_eta_phi: what depends on both, from what was computed ahead.
DEVICE beta_logit_logpdf_checked_grad_eta_phi_results beta_logit_logpdf_checked_grad_eta_phi_evaluate(beta_logit_logpdf_checked_grad_eta_phi_set set, beta_logit_logpdf_checked_grad_eta_phi_row row)
{
    beta_logit_logpdf_grad_eta_phi_results call = beta_logit_logpdf_grad_eta_phi_evaluate(set.beta_0, row.beta_0);
    real d_eta_value = call.d_eta;
    real d_phi_value = call.d_phi;
    real value = call.value;
    return make_beta_logit_logpdf_checked_grad_eta_phi_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_eta_value : row.t) + set.c0, (row.inside ? d_phi_value : row.t) + set.c0);
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
// Here f has several results: value, d_eta, d_phi are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) beta_logit_logpdf_checked_grad_eta_phi_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT eta_per_set, index_t eta_offset, index_t eta_stride, GLOBAL const real *RESTRICT phi_per_set, index_t phi_offset, index_t phi_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    eta_per_set += eta_offset;
    phi_per_set += phi_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(beta_logit_logpdf_checked_grad_eta_phi_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = beta_logit_logpdf_checked_grad_eta_phi_prepare_set(eta_per_set[(first_set + MIN(k, sets_here - 1)) * eta_stride], phi_per_set[(first_set + MIN(k, sets_here - 1)) * phi_stride]);
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
                    const beta_logit_logpdf_checked_grad_eta_phi_row row = beta_logit_logpdf_checked_grad_eta_phi_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const beta_logit_logpdf_checked_grad_eta_phi_results result = beta_logit_logpdf_checked_grad_eta_phi_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_eta;
                        total[k * 3 + 2] += result.d_phi;
                    }
                }
                {
                    const beta_logit_logpdf_checked_grad_eta_phi_row row = beta_logit_logpdf_checked_grad_eta_phi_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const beta_logit_logpdf_checked_grad_eta_phi_results result = beta_logit_logpdf_checked_grad_eta_phi_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_eta;
                        total[k * 3 + 2] += result.d_phi;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const beta_logit_logpdf_checked_grad_eta_phi_row row = beta_logit_logpdf_checked_grad_eta_phi_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const beta_logit_logpdf_checked_grad_eta_phi_results result = beta_logit_logpdf_checked_grad_eta_phi_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_eta;
                        total[k * 3 + 2] += result.d_phi;
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










