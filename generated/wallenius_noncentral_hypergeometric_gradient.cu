// The gradient kernel of wallenius_noncentral_hypergeometric, made by `gpustats generate`. Do not edit.
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
    real d_rate;
    real d_omega;
} wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results;

DEVICE wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results make_wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results(real value, real d_rate, real d_omega)
{
    wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results results;
    results.value = value;
    results.d_rate = d_rate;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_log_p;
    real d_log_q;
    real d_deviation;
} binomial_kernel_grad_log_p_log_q_deviation_results;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_results make_binomial_kernel_grad_log_p_log_q_deviation_results(real value, real d_log_p, real d_log_q, real d_deviation)
{
    binomial_kernel_grad_log_p_log_q_deviation_results results;
    results.value = value;
    results.d_log_p = d_log_p;
    results.d_log_q = d_log_q;
    results.d_deviation = d_deviation;
    return results;
}


typedef struct {
    real value;
    real d_p;
} binomial_logpmf_grad_p_results;

DEVICE binomial_logpmf_grad_p_results make_binomial_logpmf_grad_p_results(real value, real d_p)
{
    binomial_logpmf_grad_p_results results;
    results.value = value;
    results.d_p = d_p;
    return results;
}


typedef struct {
    real value;
    real d_a;
} wallenius_noncentral_hypergeometric_log_drawn_grad_a_results;

DEVICE wallenius_noncentral_hypergeometric_log_drawn_grad_a_results make_wallenius_noncentral_hypergeometric_log_drawn_grad_a_results(real value, real d_a)
{
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_results results;
    results.value = value;
    results.d_a = d_a;
    return results;
}


typedef struct {
    real value;
    real d_v;
    real d_rate;
    real d_omega;
} wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results;

DEVICE wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results make_wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results(real value, real d_v, real d_rate, real d_omega)
{
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results results;
    results.value = value;
    results.d_v = d_v;
    results.d_rate = d_rate;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_v;
    real d_rate;
    real d_omega;
} wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results;

DEVICE wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results make_wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results(real value, real d_v, real d_rate, real d_omega)
{
    wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results results;
    results.value = value;
    results.d_v = d_v;
    results.d_rate = d_rate;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_omega;
} wallenius_noncentral_hypergeometric_logpmf_grad_omega_results;

DEVICE wallenius_noncentral_hypergeometric_logpmf_grad_omega_results make_wallenius_noncentral_hypergeometric_logpmf_grad_omega_results(real value, real d_omega)
{
    wallenius_noncentral_hypergeometric_logpmf_grad_omega_results results;
    results.value = value;
    results.d_omega = d_omega;
    return results;
}


typedef struct {
    real value;
    real d_omega;
} wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results;

DEVICE wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results make_wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results(real value, real d_omega)
{
    wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results results;
    results.value = value;
    results.d_omega = d_omega;
    return results;
}


DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_factorial_remainder(real x)
{
    if (x < 3) {
        return x == 2 ? 2 - LOG_2 : x;
    }
    return 0.5 * log(x) + (HALF_LOG_2PI + special_stirling_series(x));
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

DEVICE real special_log_factorial(real x)
{
    if (x < 3) {
        return x == 2 ? LOG_2 : 0;
    }
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE int special_large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

// wallenius_noncentral_hypergeometric_share: what depends on both, from what was computed ahead.
DEVICE real wallenius_noncentral_hypergeometric_share_m_evaluate(real a)
{
    return a > 0 ? a / expm1(a) : 1;
}

// wallenius_noncentral_hypergeometric_peak: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real omega;
} wallenius_noncentral_hypergeometric_peak_rmms_set;

DEVICE wallenius_noncentral_hypergeometric_peak_rmms_set wallenius_noncentral_hypergeometric_peak_rmms_prepare_set(real omega)
{
    wallenius_noncentral_hypergeometric_peak_rmms_set set;
    set.c0 = 1 + omega;
    set.omega = omega;
    return set;
}

// wallenius_noncentral_hypergeometric_peak: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} wallenius_noncentral_hypergeometric_peak_rmms_row;

DEVICE wallenius_noncentral_hypergeometric_peak_rmms_row wallenius_noncentral_hypergeometric_peak_rmms_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_peak_rmms_row row;
    row.x = x;
    return row;
}

// wallenius_noncentral_hypergeometric_peak: what depends on both, from what was computed ahead.
DEVICE real wallenius_noncentral_hypergeometric_peak_rmms_evaluate(wallenius_noncentral_hypergeometric_peak_rmms_set set, wallenius_noncentral_hypergeometric_peak_rmms_row row, real y, real rate)
{
    real low = -log((row.x + y + 1) * set.c0 + rate) - 2;
    real high = log((row.x + y + 1) / rate) + 1;
    real v = 0.5 * (low + high);
    real step = 1;
    for (int i = 0; i < 60 && step > 1e-3 && THREAD < 65536; i++) {
        real u = exp(v);
        real first = wallenius_noncentral_hypergeometric_share_m_evaluate(set.omega * u);
        real second = wallenius_noncentral_hypergeometric_share_m_evaluate(u);
        real slope = row.x * first + y * second + 1 - rate * u;
        real bend = row.x * first * (set.omega * u + first - 1) + y * second * (u + second - 1) + rate * u;
        low = slope > 0 ? v : low;
        high = slope > 0 ? high : v;
        real next = v + slope / bend;
        next = next > low && next < high ? next : 0.5 * (low + high);
        step = fabs(next - v) * sqrt(bend + 1);
        v = next;
    }
    return v;
}

// wallenius_noncentral_hypergeometric_peak_grad_rate: what depends on both, from what was computed ahead.
DEVICE real wallenius_noncentral_hypergeometric_peak_grad_rate_rmms_evaluate()
{
    return 0;
}

// wallenius_noncentral_hypergeometric_peak_grad_omega: what depends on both, from what was computed ahead.
DEVICE real wallenius_noncentral_hypergeometric_peak_grad_omega_rmms_evaluate()
{
    return 0;
}

// wallenius_noncentral_hypergeometric_peak_grad_rate_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    wallenius_noncentral_hypergeometric_peak_rmms_set wallenius_noncentral_hypergeometric_peak_0;
} wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_set;

DEVICE wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_set wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_prepare_set(real omega)
{
    wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_set set;
    set.wallenius_noncentral_hypergeometric_peak_0 = wallenius_noncentral_hypergeometric_peak_rmms_prepare_set(omega);
    return set;
}

// wallenius_noncentral_hypergeometric_peak_grad_rate_omega: what depends on the observation alone, computed once for each.
typedef struct {
    wallenius_noncentral_hypergeometric_peak_rmms_row wallenius_noncentral_hypergeometric_peak_0;
} wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_row;

DEVICE wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_row wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_row row;
    row.wallenius_noncentral_hypergeometric_peak_0 = wallenius_noncentral_hypergeometric_peak_rmms_prepare_row(x);
    return row;
}

// wallenius_noncentral_hypergeometric_peak_grad_rate_omega: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_evaluate(wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_set set, wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_row row, real y, real rate)
{
    return make_wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results(wallenius_noncentral_hypergeometric_peak_rmms_evaluate(set.wallenius_noncentral_hypergeometric_peak_0, row.wallenius_noncentral_hypergeometric_peak_0, y, rate), wallenius_noncentral_hypergeometric_peak_grad_rate_rmms_evaluate(), wallenius_noncentral_hypergeometric_peak_grad_omega_rmms_evaluate());
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real c0;
    real t5;
    real c1;
    int c2;
} binomial_kernel_grad_log_p_log_q_deviation_rsmmm_set;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_rsmmm_set binomial_kernel_grad_log_p_log_q_deviation_rsmmm_prepare_set(real n)
{
    binomial_kernel_grad_log_p_log_q_deviation_rsmmm_set set;
    set.n = n;
    real t5 = log(n);
    set.c0 = special_factorial_remainder(n);
    set.t5 = t5;
    set.c1 = special_log_factorial(n);
    set.c2 = special_large_shape(n);
    return set;
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real t;
    int c0;
    real c1;
    real c2;
    real c3;
    real c4;
} binomial_kernel_grad_log_p_log_q_deviation_rsmmm_row;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_rsmmm_row binomial_kernel_grad_log_p_log_q_deviation_rsmmm_prepare_row(real x)
{
    binomial_kernel_grad_log_p_log_q_deviation_rsmmm_row row;
    row.x = x;
    real t = 1 / x;
    row.t = t;
    row.c0 = x == 0;
    row.c1 = special_factorial_remainder(x);
    row.c2 = log(x);
    row.c3 = x == 0 ? 0 : x;
    row.c4 = special_log_factorial(x);
    return row;
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on both, from what was computed ahead.
DEVICE binomial_kernel_grad_log_p_log_q_deviation_results binomial_kernel_grad_log_p_log_q_deviation_rsmmm_evaluate(binomial_kernel_grad_log_p_log_q_deviation_rsmmm_set set, binomial_kernel_grad_log_p_log_q_deviation_rsmmm_row row, real log_p, real log_q, real deviation)
{
    real y = set.n - row.x;
    real value;
    real d_log_p_value;
    real d_log_q_value;
    real d_deviation_value;
    if (set.c2) {
        real t2 = deviation * row.t;
        real t3 = 1 / y;
        real t4 = -deviation * t3;
        d_log_p_value = row.c0 ? 0 : fabs(t2) < 0.5 ? 0 : row.x;
        d_log_q_value = y == 0 ? 0 : fabs(t4) < 0.5 ? 0 : y;
        d_deviation_value = (row.c0 ? -1 : row.x * (fabs(t2) < 0.5 ? -(t2 / (1 + t2) * row.t) : -row.t)) + (y == 0 ? 1 : y * (fabs(t4) < 0.5 ? t3 * (t4 / (1 + t4)) : t3));
        value = set.c0 - row.c1 - special_factorial_remainder(y) + (row.c0 ? -deviation : row.x * special_log_excess(set.t5 - row.c2 + log_p, t2)) + (y == 0 ? deviation : y * special_log_excess(set.t5 - log(y) + log_q, t4));
    } else {
        d_log_p_value = row.c3;
        d_log_q_value = y == 0 ? 0 : y;
        d_deviation_value = 0;
        value = set.c1 - row.c4 - special_log_factorial(y) + (row.c0 ? 0 : row.x * log_p) + (y == 0 ? 0 : y * log_q);
    }
    return make_binomial_kernel_grad_log_p_log_q_deviation_results(row.x > set.n ? -INFINITY : value, row.x > set.n ? 0 : d_log_p_value, row.x > set.n ? 0 : d_log_q_value, row.x > set.n ? 0 : d_deviation_value);
}

// binomial_logpmf_grad_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_kernel_grad_log_p_log_q_deviation_rsmmm_set binomial_kernel_grad_0;
    real n;
} binomial_logpmf_grad_p_rsm_set;

DEVICE binomial_logpmf_grad_p_rsm_set binomial_logpmf_grad_p_rsm_prepare_set(real n)
{
    binomial_logpmf_grad_p_rsm_set set;
    set.binomial_kernel_grad_0 = binomial_kernel_grad_log_p_log_q_deviation_rsmmm_prepare_set(n);
    set.n = n;
    return set;
}

// binomial_logpmf_grad_p: what depends on the observation alone, computed once for each.
typedef struct {
    binomial_kernel_grad_log_p_log_q_deviation_rsmmm_row binomial_kernel_grad_0;
    real x;
} binomial_logpmf_grad_p_rsm_row;

DEVICE binomial_logpmf_grad_p_rsm_row binomial_logpmf_grad_p_rsm_prepare_row(real x)
{
    binomial_logpmf_grad_p_rsm_row row;
    row.binomial_kernel_grad_0 = binomial_kernel_grad_log_p_log_q_deviation_rsmmm_prepare_row(x);
    row.x = x;
    return row;
}

// binomial_logpmf_grad_p: what depends on both, from what was computed ahead.
DEVICE binomial_logpmf_grad_p_results binomial_logpmf_grad_p_rsm_evaluate(binomial_logpmf_grad_p_rsm_set set, binomial_logpmf_grad_p_rsm_row row, real p)
{
    real d_p_log_p = special_log_slope(p);
    real d_p_log_q = -(1 / (1 - p));
    binomial_kernel_grad_log_p_log_q_deviation_results call = binomial_kernel_grad_log_p_log_q_deviation_rsmmm_evaluate(set.binomial_kernel_grad_0, row.binomial_kernel_grad_0, log(p), log1p(-p), fma(set.n, p, -row.x));
    return make_binomial_logpmf_grad_p_results(call.value, call.d_log_p * d_p_log_p + call.d_log_q * d_p_log_q + call.d_deviation * set.n);
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real c0;
    real t5;
    real c1;
    int c2;
} binomial_kernel_grad_log_p_log_q_deviation_msmmm_set;

DEVICE binomial_kernel_grad_log_p_log_q_deviation_msmmm_set binomial_kernel_grad_log_p_log_q_deviation_msmmm_prepare_set(real n)
{
    binomial_kernel_grad_log_p_log_q_deviation_msmmm_set set;
    set.n = n;
    real t5 = log(n);
    set.c0 = special_factorial_remainder(n);
    set.t5 = t5;
    set.c1 = special_log_factorial(n);
    set.c2 = special_large_shape(n);
    return set;
}

// binomial_kernel_grad_log_p_log_q_deviation: what depends on both, from what was computed ahead.
DEVICE binomial_kernel_grad_log_p_log_q_deviation_results binomial_kernel_grad_log_p_log_q_deviation_msmmm_evaluate(binomial_kernel_grad_log_p_log_q_deviation_msmmm_set set, real x, real log_p, real log_q, real deviation)
{
    real y = set.n - x;
    real value;
    real d_log_p_value;
    real d_log_q_value;
    real d_deviation_value;
    if (set.c2) {
        real t = 1 / x;
        real t2 = deviation * t;
        real t3 = 1 / y;
        real t4 = -deviation * t3;
        d_log_p_value = x == 0 ? 0 : fabs(t2) < 0.5 ? 0 : x;
        d_log_q_value = y == 0 ? 0 : fabs(t4) < 0.5 ? 0 : y;
        d_deviation_value = (x == 0 ? -1 : x * (fabs(t2) < 0.5 ? -(t2 / (1 + t2) * t) : -t)) + (y == 0 ? 1 : y * (fabs(t4) < 0.5 ? t3 * (t4 / (1 + t4)) : t3));
        value = set.c0 - special_factorial_remainder(x) - special_factorial_remainder(y) + (x == 0 ? -deviation : x * special_log_excess(set.t5 - log(x) + log_p, t2)) + (y == 0 ? deviation : y * special_log_excess(set.t5 - log(y) + log_q, t4));
    } else {
        d_log_p_value = x == 0 ? 0 : x;
        d_log_q_value = y == 0 ? 0 : y;
        d_deviation_value = 0;
        value = set.c1 - special_log_factorial(x) - special_log_factorial(y) + (x == 0 ? 0 : x * log_p) + (y == 0 ? 0 : y * log_q);
    }
    return make_binomial_kernel_grad_log_p_log_q_deviation_results(x > set.n ? -INFINITY : value, x > set.n ? 0 : d_log_p_value, x > set.n ? 0 : d_log_q_value, x > set.n ? 0 : d_deviation_value);
}

// binomial_logpmf_grad_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_kernel_grad_log_p_log_q_deviation_msmmm_set binomial_kernel_grad_0;
    real n;
} binomial_logpmf_grad_p_msm_set;

DEVICE binomial_logpmf_grad_p_msm_set binomial_logpmf_grad_p_msm_prepare_set(real n)
{
    binomial_logpmf_grad_p_msm_set set;
    set.binomial_kernel_grad_0 = binomial_kernel_grad_log_p_log_q_deviation_msmmm_prepare_set(n);
    set.n = n;
    return set;
}

// binomial_logpmf_grad_p: what depends on both, from what was computed ahead.
DEVICE binomial_logpmf_grad_p_results binomial_logpmf_grad_p_msm_evaluate(binomial_logpmf_grad_p_msm_set set, real x, real p)
{
    real d_p_log_p = special_log_slope(p);
    real d_p_log_q = -(1 / (1 - p));
    binomial_kernel_grad_log_p_log_q_deviation_results call = binomial_kernel_grad_log_p_log_q_deviation_msmmm_evaluate(set.binomial_kernel_grad_0, x, log(p), log1p(-p), fma(set.n, p, -x));
    return make_binomial_logpmf_grad_p_results(call.value, call.d_log_p * d_p_log_p + call.d_log_q * d_p_log_q + call.d_deviation * set.n);
}

// wallenius_noncentral_hypergeometric_log_drawn_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_logpmf_grad_p_rsm_set binomial_0;
    binomial_logpmf_grad_p_msm_set binomial_1;
    real k;
} wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_set;

DEVICE wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_set wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_prepare_set(real k)
{
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_set set;
    set.binomial_0 = binomial_logpmf_grad_p_rsm_prepare_set(k);
    set.binomial_1 = binomial_logpmf_grad_p_msm_prepare_set(k);
    set.k = k;
    return set;
}

// wallenius_noncentral_hypergeometric_log_drawn_grad_a: what depends on the observation alone, computed once for each.
typedef struct {
    binomial_logpmf_grad_p_rsm_row binomial_0;
    real x;
} wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_row;

DEVICE wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_row wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_row row;
    row.binomial_0 = binomial_logpmf_grad_p_rsm_prepare_row(x);
    row.x = x;
    return row;
}

// wallenius_noncentral_hypergeometric_log_drawn_grad_a: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_log_drawn_grad_a_results wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_evaluate(wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_set set, wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_row row, real a)
{
    real either;
    real d_a_either;
    if (a < LOG_2) {
        real d_a_p = exp(-a);
        binomial_logpmf_grad_p_results call = binomial_logpmf_grad_p_rsm_evaluate(set.binomial_0, row.binomial_0, -expm1(-a));
        either = call.value;
        d_a_either = call.d_p * d_a_p;
    } else {
        real t = exp(-a);
        binomial_logpmf_grad_p_results call2 = binomial_logpmf_grad_p_msm_evaluate(set.binomial_1, set.k - row.x, t);
        either = call2.value;
        d_a_either = -(t * call2.d_p);
    }
    return make_wallenius_noncentral_hypergeometric_log_drawn_grad_a_results(either, d_a_either);
}

// wallenius_noncentral_hypergeometric_log_drawn_grad_a: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    binomial_logpmf_grad_p_msm_set binomial_0;
    binomial_logpmf_grad_p_msm_set binomial_1;
    real k;
} wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_set;

DEVICE wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_set wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_prepare_set(real k)
{
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_set set;
    set.binomial_0 = binomial_logpmf_grad_p_msm_prepare_set(k);
    set.binomial_1 = binomial_logpmf_grad_p_msm_prepare_set(k);
    set.k = k;
    return set;
}

// wallenius_noncentral_hypergeometric_log_drawn_grad_a: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_log_drawn_grad_a_results wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_evaluate(wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_set set, real x, real a)
{
    real either;
    real d_a_either;
    if (a < LOG_2) {
        real d_a_p = exp(-a);
        binomial_logpmf_grad_p_results call = binomial_logpmf_grad_p_msm_evaluate(set.binomial_0, x, -expm1(-a));
        either = call.value;
        d_a_either = call.d_p * d_a_p;
    } else {
        real t = exp(-a);
        binomial_logpmf_grad_p_results call2 = binomial_logpmf_grad_p_msm_evaluate(set.binomial_1, set.k - x, t);
        either = call2.value;
        d_a_either = -(t * call2.d_p);
    }
    return make_wallenius_noncentral_hypergeometric_log_drawn_grad_a_results(either, d_a_either);
}

// wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real omega;
} wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_set;

DEVICE wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_set wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_prepare_set(real omega)
{
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_set set;
    set.omega = omega;
    return set;
}

// wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_row;

DEVICE wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_row wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_row row;
    row.c0 = x == 0;
    row.x = x;
    return row;
}

// wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_evaluate(wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_set set, wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_row row, real v, real y, real rate)
{
    real t = exp(v);
    real u = t;
    real t2 = -set.omega * u < -50 ? -exp(-set.omega * u) : -(1 / expm1(-(-set.omega * u)));
    return make_wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results((row.c0 ? 0 : row.x * special_log1mexp(-set.omega * u)) + (y == 0 ? 0 : y * special_log1mexp(-u)) + v - rate * u, (row.c0 ? 0 : -(set.omega * t * t2 * row.x)) + (y == 0 ? 0 : -(t * (-u < -50 ? -exp(-u) : -(1 / expm1(u))) * y)) + 1 - rate * t, -u, row.c0 ? 0 : -(u * t2 * row.x));
}

// wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_set wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_0;
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_set wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_1;
} wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_set;

DEVICE wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_set wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_prepare_set(real omega)
{
    wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_set set;
    set.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_0 = wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_prepare_set(omega);
    set.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_1 = wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_prepare_set(omega);
    return set;
}

// wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega: what depends on the observation alone, computed once for each.
typedef struct {
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_row wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_0;
    real x;
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_row wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_1;
} wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_row;

DEVICE wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_row wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_row row;
    row.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_0 = wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_prepare_row(x);
    row.x = x;
    row.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_1 = wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_prepare_row(x);
    return row;
}

// wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_evaluate(wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_set set, wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_row row, real v, real y, real rate)
{
    wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results call = wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_evaluate(set.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_0, row.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_0, v, y, rate);
    real d_v_top = call.d_v;
    real d_rate_top = call.d_rate;
    real d_omega_top = call.d_omega;
    real top = call.value;
    real d_v_sum = 0;
    real d_rate_sum = 0;
    real d_omega_sum = 0;
    real sum = 1;
    real step = 0.5 / sqrt(row.x + y + 7);
    for (int side = -1; side < 2; side += 2) {
        real d_v_term = 0;
        real d_rate_term = 0;
        real d_omega_term = 0;
        real term = 1;
        for (int i = 1; i < 3000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_results call2 = wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_mrmms_evaluate(set.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_1, row.wallenius_noncentral_hypergeometric_exponent_grad_v_rate_omega_1, v + int_product(side, i) * step, y, rate);
            real t = exp(call2.value - top);
            d_v_term = t * (call2.d_v - d_v_top);
            d_rate_term = t * (call2.d_rate - d_rate_top);
            d_omega_term = t * (call2.d_omega - d_omega_top);
            term = t;
            d_v_sum += d_v_term;
            d_rate_sum += d_rate_term;
            d_omega_sum += d_omega_term;
            sum += term;
        }
    }
    real t2 = special_log_slope(sum);
    return make_wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results(log(step) + log(sum), t2 * d_v_sum, t2 * d_rate_sum, t2 * d_omega_sum);
}

// wallenius_noncentral_hypergeometric_logpmf_grad_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real k;
    real n;
    real c1;
    real omega;
    int c2;
    wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_set wallenius_noncentral_hypergeometric_peak_grad_rate_omega_0;
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_set wallenius_noncentral_hypergeometric_0;
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_set wallenius_noncentral_hypergeometric_1;
    wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_set wallenius_noncentral_hypergeometric_2;
} wallenius_noncentral_hypergeometric_logpmf_grad_omega_set;

DEVICE wallenius_noncentral_hypergeometric_logpmf_grad_omega_set wallenius_noncentral_hypergeometric_logpmf_grad_omega_prepare_set(real N, real k, real n, real omega)
{
    wallenius_noncentral_hypergeometric_logpmf_grad_omega_set set;
    set.c0 = k > N || n > N || isinf(omega);
    set.k = k;
    set.n = n;
    set.c1 = N - k;
    set.omega = omega;
    set.c2 = n == 0;
    set.wallenius_noncentral_hypergeometric_peak_grad_rate_omega_0 = wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_prepare_set(omega);
    set.wallenius_noncentral_hypergeometric_0 = wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_prepare_set(k);
    set.wallenius_noncentral_hypergeometric_1 = wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_prepare_set(N - k);
    set.wallenius_noncentral_hypergeometric_2 = wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_prepare_set(omega);
    return set;
}

// wallenius_noncentral_hypergeometric_logpmf_grad_omega: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_row wallenius_noncentral_hypergeometric_peak_grad_rate_omega_0;
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_row wallenius_noncentral_hypergeometric_0;
    wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_row wallenius_noncentral_hypergeometric_1;
} wallenius_noncentral_hypergeometric_logpmf_grad_omega_row;

DEVICE wallenius_noncentral_hypergeometric_logpmf_grad_omega_row wallenius_noncentral_hypergeometric_logpmf_grad_omega_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_logpmf_grad_omega_row row;
    row.x = x;
    row.wallenius_noncentral_hypergeometric_peak_grad_rate_omega_0 = wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_prepare_row(x);
    row.wallenius_noncentral_hypergeometric_0 = wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_prepare_row(x);
    row.wallenius_noncentral_hypergeometric_1 = wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_prepare_row(x);
    return row;
}

// wallenius_noncentral_hypergeometric_logpmf_grad_omega: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_logpmf_grad_omega_results wallenius_noncentral_hypergeometric_logpmf_grad_omega_evaluate(wallenius_noncentral_hypergeometric_logpmf_grad_omega_set set, wallenius_noncentral_hypergeometric_logpmf_grad_omega_row row)
{
    if (set.c0) {
        return make_wallenius_noncentral_hypergeometric_logpmf_grad_omega_results(NAN, NAN);
    }
    if (row.x > set.k || row.x > set.n || set.n - row.x > set.c1) {
        return make_wallenius_noncentral_hypergeometric_logpmf_grad_omega_results(-INFINITY, 0);
    }
    real y = set.n - row.x;
    real d_omega_rate = set.k - row.x;
    real rate = set.omega * (set.k - row.x) + (set.c1 - y);
    if (rate == 0 || set.c2) {
        return make_wallenius_noncentral_hypergeometric_logpmf_grad_omega_results(0, 0);
    }
    wallenius_noncentral_hypergeometric_peak_grad_rate_omega_results call = wallenius_noncentral_hypergeometric_peak_grad_rate_omega_rmms_evaluate(set.wallenius_noncentral_hypergeometric_peak_grad_rate_omega_0, row.wallenius_noncentral_hypergeometric_peak_grad_rate_omega_0, y, rate);
    real d_omega_v = call.d_rate * d_omega_rate + call.d_omega;
    real v = call.value;
    real t = exp(v);
    real d_omega_u = t * d_omega_v;
    real u = t;
    real d_omega_a = u + set.omega * d_omega_u;
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_results call2 = wallenius_noncentral_hypergeometric_log_drawn_grad_a_rsm_evaluate(set.wallenius_noncentral_hypergeometric_0, row.wallenius_noncentral_hypergeometric_0, set.omega * u);
    wallenius_noncentral_hypergeometric_log_drawn_grad_a_results call3 = wallenius_noncentral_hypergeometric_log_drawn_grad_a_msm_evaluate(set.wallenius_noncentral_hypergeometric_1, y, u);
    wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_results call4 = wallenius_noncentral_hypergeometric_log_integral_grad_v_rate_omega_mrmms_evaluate(set.wallenius_noncentral_hypergeometric_2, row.wallenius_noncentral_hypergeometric_1, v, y, rate);
    return make_wallenius_noncentral_hypergeometric_logpmf_grad_omega_results(call2.value + call3.value + log(rate) + v + call4.value, call2.d_a * d_omega_a + call3.d_a * d_omega_u + special_log_slope(rate) * d_omega_rate + d_omega_v + (call4.d_v * d_omega_v + call4.d_rate * d_omega_rate + call4.d_omega));
}

// wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    wallenius_noncentral_hypergeometric_logpmf_grad_omega_set wallenius_noncentral_hypergeometric_0;
    real t;
} wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_set;

DEVICE wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_set wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_set(real N, real k, real n, real omega)
{
    wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_set set;
    real bad_N = N >= 0 && N == floor(N) && fabs(N) < INFINITY ? 0 : NAN;
    real bad_k = k >= 0 && k == floor(k) && fabs(k) < INFINITY ? 0 : NAN;
    real bad_n = n >= 0 && n == floor(n) && fabs(n) < INFINITY ? 0 : NAN;
    real bad_omega = omega > 0 ? 0 : NAN;
    real t = bad_N + bad_k + bad_n + bad_omega;
    set.wallenius_noncentral_hypergeometric_0 = wallenius_noncentral_hypergeometric_logpmf_grad_omega_prepare_set(N, k, n, omega);
    set.t = t;
    return set;
}

// wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega: what depends on the observation alone, computed once for each.
typedef struct {
    wallenius_noncentral_hypergeometric_logpmf_grad_omega_row wallenius_noncentral_hypergeometric_0;
    int inside;
    real outside;
    real d_omega_outside;
} wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row;

DEVICE wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(real x)
{
    wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row row;
    real d_omega_outside = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.wallenius_noncentral_hypergeometric_0 = wallenius_noncentral_hypergeometric_logpmf_grad_omega_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.d_omega_outside = d_omega_outside;
    return row;
}

// wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega: what depends on both, from what was computed ahead.
DEVICE wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_set set, wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row row)
{
    wallenius_noncentral_hypergeometric_logpmf_grad_omega_results call = wallenius_noncentral_hypergeometric_logpmf_grad_omega_evaluate(set.wallenius_noncentral_hypergeometric_0, row.wallenius_noncentral_hypergeometric_0);
    real d_omega_value = call.d_omega;
    real value = call.value;
    return make_wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results((row.inside || value != value ? value : row.outside) + set.t, (row.inside || value != value ? d_omega_value : row.d_omega_outside) + set.t);
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
    for (int first = 0; first < sets_here * 2; first += 16) {
        const int sums_here = (int)MIN(sets_here * 2 - first, 16);
        for (int s = 0; s < 16; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 2 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 2 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
// Here f has several results: value, d_omega are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT N_per_set, index_t N_offset, index_t N_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT n_per_set, index_t n_offset, index_t n_stride, GLOBAL const real *RESTRICT omega_per_set, index_t omega_offset, index_t omega_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    N_per_set += N_offset;
    k_per_set += k_offset;
    n_per_set += n_offset;
    omega_per_set += omega_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_set(N_per_set[(first_set + MIN(k, sets_here - 1)) * N_stride], k_per_set[(first_set + MIN(k, sets_here - 1)) * k_stride], n_per_set[(first_set + MIN(k, sets_here - 1)) * n_stride], omega_per_set[(first_set + MIN(k, sets_here - 1)) * omega_stride]);
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
                    const wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row row = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results result = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_omega;
                    }
                }
                {
                    const wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row row = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results result = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_omega;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_row row = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_results result = wallenius_noncentral_hypergeometric_logpmf_checked_grad_omega_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_omega;
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 2 : partial + first_set * 2 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 16; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 2 - 0, 16); s += 128)
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










