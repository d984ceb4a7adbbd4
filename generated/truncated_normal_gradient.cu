// The gradient kernel of truncated_normal, made by `gpustats generate`. Do not edit.
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
    real d_length;
    real d_sigma;
} truncated_normal_standardized_grad_length_sigma_results;

DEVICE truncated_normal_standardized_grad_length_sigma_results make_truncated_normal_standardized_grad_length_sigma_results(real value, real d_length, real d_sigma)
{
    truncated_normal_standardized_grad_length_sigma_results results;
    results.value = value;
    results.d_length = d_length;
    results.d_sigma = d_sigma;
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
    real d_a;
    real d_b;
    real d_mu;
    real d_sigma;
} truncated_normal_mass_between_grad_a_b_mu_sigma_results;

DEVICE truncated_normal_mass_between_grad_a_b_mu_sigma_results make_truncated_normal_mass_between_grad_a_b_mu_sigma_results(real value, real d_a, real d_b, real d_mu, real d_sigma)
{
    truncated_normal_mass_between_grad_a_b_mu_sigma_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
    real d_lower;
    real d_upper;
} truncated_normal_logpdf_grad_mu_sigma_lower_upper_results;

DEVICE truncated_normal_logpdf_grad_mu_sigma_lower_upper_results make_truncated_normal_logpdf_grad_mu_sigma_lower_upper_results(real value, real d_mu, real d_sigma, real d_lower, real d_upper)
{
    truncated_normal_logpdf_grad_mu_sigma_lower_upper_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    results.d_lower = d_lower;
    results.d_upper = d_upper;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
    real d_lower;
    real d_upper;
} truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results;

DEVICE truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results make_truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results(real value, real d_mu, real d_sigma, real d_lower, real d_upper)
{
    truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    results.d_lower = d_lower;
    results.d_upper = d_upper;
    return results;
}


DEVICE truncated_normal_standardized_grad_length_sigma_results truncated_normal_standardized_grad_length_sigma(real length, real sigma)
{
    real t = length / sigma;
    real t2 = 1 / sigma;
    return make_truncated_normal_standardized_grad_length_sigma_results(isinf(length) ? length : t, isinf(length) ? 1 : t2, isinf(length) ? 0 : -(t * t2));
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

DEVICE truncated_normal_mass_between_grad_a_b_mu_sigma_results truncated_normal_mass_between_grad_a_b_mu_sigma(real a, real b, real mu, real sigma)
{
    truncated_normal_standardized_grad_length_sigma_results call2 = truncated_normal_standardized_grad_length_sigma(a - mu, sigma);
    truncated_normal_standardized_grad_length_sigma_results call3 = truncated_normal_standardized_grad_length_sigma(b - mu, sigma);
    truncated_normal_standardized_grad_length_sigma_results call4 = truncated_normal_standardized_grad_length_sigma(b - a, sigma);
    real d_a_a = call2.d_length;
    real d_mu_a = -call2.d_length;
    real d_sigma_a = call2.d_sigma;
    real d_b_b = call3.d_length;
    real d_mu_b = -call3.d_length;
    real d_sigma_b = call3.d_sigma;
    real d_a_width = -call4.d_length;
    real d_b_width = call4.d_length;
    real d_sigma_width = call4.d_sigma;
    special_normal_integral_grad_a_b_width_results call = special_normal_integral_grad_a_b_width(call2.value, call3.value, call4.value);
    return make_truncated_normal_mass_between_grad_a_b_mu_sigma_results(call.value, call.d_a * d_a_a + call.d_width * d_a_width, call.d_b * d_b_b + call.d_width * d_b_width, call.d_a * d_mu_a + call.d_b * d_mu_b, call.d_a * d_sigma_a + call.d_b * d_sigma_b + call.d_width * d_sigma_width);
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

// truncated_normal_logpdf_grad_mu_sigma_lower_upper: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real lower;
    real upper;
    real c1;
    real mode;
    real t2;
    real t3;
    real c2;
    real c3;
    real d_mu_z;
    real c4;
    real c5;
    real c6;
    real c7;
    real d_lower_z;
    real c8;
    real c9;
    real d_upper_z;
    real c10;
} truncated_normal_logpdf_grad_mu_sigma_lower_upper_set;

DEVICE truncated_normal_logpdf_grad_mu_sigma_lower_upper_set truncated_normal_logpdf_grad_mu_sigma_lower_upper_prepare_set(real mu, real sigma, real lower, real upper)
{
    truncated_normal_logpdf_grad_mu_sigma_lower_upper_set set;
    real t = fmax(mu, lower);
    real d_mu_mode = t <= upper || upper != upper ? (mu > lower || lower != lower ? 1 : 0) : 0;
    real d_lower_mode = t <= upper || upper != upper ? (mu > lower || lower != lower ? 0 : 1) : 0;
    real d_upper_mode = t <= upper || upper != upper ? 0 : 1;
    real mode = fmin(t, upper);
    real t2 = 1 / sigma;
    real d_mu_z = -(d_mu_mode * t2);
    real d_lower_z = -(d_lower_mode * t2);
    real d_upper_z = -(d_upper_mode * t2);
    truncated_normal_mass_between_grad_a_b_mu_sigma_results call = truncated_normal_mass_between_grad_a_b_mu_sigma(lower, upper, mu, sigma);
    real t3 = (mode - mu) / sigma;
    real t5 = special_log_slope(call.value);
    real t6 = 1 / sigma;
    set.c0 = !(lower < upper);
    set.lower = lower;
    set.upper = upper;
    set.c1 = t2 * t2;
    set.mode = mode;
    set.t2 = t2;
    set.t3 = t3;
    set.c2 = -(log(sigma) + log(call.value));
    set.c3 = -(t5 * call.d_mu);
    set.d_mu_z = d_mu_z;
    set.c4 = 0.5 * d_mu_z + (d_mu_mode - 1) * t6;
    set.c5 = -(special_log_slope(sigma) + t5 * call.d_sigma);
    set.c6 = t3 * t6;
    set.c7 = -(t5 * call.d_a);
    set.d_lower_z = d_lower_z;
    set.c8 = 0.5 * d_lower_z + d_lower_mode * t6;
    set.c9 = -(t5 * call.d_b);
    set.d_upper_z = d_upper_z;
    set.c10 = 0.5 * d_upper_z + d_upper_mode * t6;
    return set;
}

// truncated_normal_logpdf_grad_mu_sigma_lower_upper: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} truncated_normal_logpdf_grad_mu_sigma_lower_upper_row;

DEVICE truncated_normal_logpdf_grad_mu_sigma_lower_upper_row truncated_normal_logpdf_grad_mu_sigma_lower_upper_prepare_row(real x)
{
    truncated_normal_logpdf_grad_mu_sigma_lower_upper_row row;
    row.x = x;
    return row;
}

// truncated_normal_logpdf_grad_mu_sigma_lower_upper: what depends on both, from what was computed ahead.
DEVICE truncated_normal_logpdf_grad_mu_sigma_lower_upper_results truncated_normal_logpdf_grad_mu_sigma_lower_upper_evaluate(truncated_normal_logpdf_grad_mu_sigma_lower_upper_set set, truncated_normal_logpdf_grad_mu_sigma_lower_upper_row row)
{
    if (set.c0) {
        return make_truncated_normal_logpdf_grad_mu_sigma_lower_upper_results(NAN, NAN, NAN, NAN, NAN);
    }
    if (row.x < set.lower || row.x > set.upper) {
        return make_truncated_normal_logpdf_grad_mu_sigma_lower_upper_results(-INFINITY, 0, 0, 0, 0);
    }
    real d_sigma_z = -(set.c1 * (row.x - set.mode));
    real z = (row.x - set.mode) * set.t2;
    real t4 = 0.5 * z + set.t3;
    return make_truncated_normal_logpdf_grad_mu_sigma_lower_upper_results(set.c2 - z * t4, set.c3 - (t4 * set.d_mu_z + z * set.c4), set.c5 - (t4 * d_sigma_z + z * (0.5 * d_sigma_z - set.c6)), set.c7 - (t4 * set.d_lower_z + z * set.c8), set.c9 - (t4 * set.d_upper_z + z * set.c10));
}

// truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    truncated_normal_logpdf_grad_mu_sigma_lower_upper_set truncated_normal_0;
    real t2;
} truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_set;

DEVICE truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_set truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_prepare_set(real mu, real sigma, real lower, real upper)
{
    truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_set set;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    real bad_lower = lower == lower ? 0 : NAN;
    real bad_upper = upper == upper ? 0 : NAN;
    real t2 = bad_mu + bad_sigma + bad_lower + bad_upper;
    set.truncated_normal_0 = truncated_normal_logpdf_grad_mu_sigma_lower_upper_prepare_set(mu, sigma, lower, upper);
    set.t2 = t2;
    return set;
}

// truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper: what depends on the observation alone, computed once for each.
typedef struct {
    truncated_normal_logpdf_grad_mu_sigma_lower_upper_row truncated_normal_0;
    int inside;
    real outside;
    real t;
} truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row;

DEVICE truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_prepare_row(real x)
{
    truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.truncated_normal_0 = truncated_normal_logpdf_grad_mu_sigma_lower_upper_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper: what depends on both, from what was computed ahead.
DEVICE truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_evaluate(truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_set set, truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row row)
{
    truncated_normal_logpdf_grad_mu_sigma_lower_upper_results call = truncated_normal_logpdf_grad_mu_sigma_lower_upper_evaluate(set.truncated_normal_0, row.truncated_normal_0);
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real d_lower_value = call.d_lower;
    real d_upper_value = call.d_upper;
    real value = call.value;
    return make_truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_mu_value : row.t) + set.t2, (row.inside ? d_sigma_value : row.t) + set.t2, (row.inside ? d_lower_value : row.t) + set.t2, (row.inside ? d_upper_value : row.t) + set.t2);
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
// Here f has several results: value, d_mu, d_sigma, d_lower, d_upper are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride, GLOBAL const real *RESTRICT lower_per_set, index_t lower_offset, index_t lower_stride, GLOBAL const real *RESTRICT upper_per_set, index_t upper_offset, index_t upper_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    lower_per_set += lower_offset;
    upper_per_set += upper_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_prepare_set(mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride], lower_per_set[(first_set + MIN(k, sets_here - 1)) * lower_stride], upper_per_set[(first_set + MIN(k, sets_here - 1)) * upper_stride]);
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
                    const truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row row = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results result = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_mu;
                        total[k * 5 + 2] += result.d_sigma;
                        total[k * 5 + 3] += result.d_lower;
                        total[k * 5 + 4] += result.d_upper;
                    }
                }
                {
                    const truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row row = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results result = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_mu;
                        total[k * 5 + 2] += result.d_sigma;
                        total[k * 5 + 3] += result.d_lower;
                        total[k * 5 + 4] += result.d_upper;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_row row = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_results result = truncated_normal_logpdf_checked_grad_mu_sigma_lower_upper_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_mu;
                        total[k * 5 + 2] += result.d_sigma;
                        total[k * 5 + 3] += result.d_lower;
                        total[k * 5 + 4] += result.d_upper;
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










