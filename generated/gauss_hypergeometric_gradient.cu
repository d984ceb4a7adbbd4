// The gradient kernel of gauss_hypergeometric, made by `gpustats generate`. Do not edit.
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
    real d_b;
    real d_c;
    real d_log_z;
} gauss_hypergeometric_peak_grad_a_b_c_log_z_results;

DEVICE gauss_hypergeometric_peak_grad_a_b_c_log_z_results make_gauss_hypergeometric_peak_grad_a_b_c_log_z_results(real value, real d_a, real d_b, real d_c, real d_log_z)
{
    gauss_hypergeometric_peak_grad_a_b_c_log_z_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_log_z = d_log_z;
    return results;
}


typedef struct {
    real value;
    real d_center;
    real d_a;
    real d_b;
    real d_c;
    real d_log_z;
} gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results;

DEVICE gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results make_gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results(real value, real d_center, real d_a, real d_b, real d_c, real d_log_z)
{
    gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results results;
    results.value = value;
    results.d_center = d_center;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_log_z = d_log_z;
    return results;
}


typedef struct {
    real value;
    real d_v;
    real d_a;
    real d_b;
    real d_c;
    real d_log_z;
} gauss_hypergeometric_height_grad_v_a_b_c_log_z_results;

DEVICE gauss_hypergeometric_height_grad_v_a_b_c_log_z_results make_gauss_hypergeometric_height_grad_v_a_b_c_log_z_results(real value, real d_v, real d_a, real d_b, real d_c, real d_log_z)
{
    gauss_hypergeometric_height_grad_v_a_b_c_log_z_results results;
    results.value = value;
    results.d_v = d_v;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_log_z = d_log_z;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_c;
    real d_z;
} gauss_hypergeometric_mean_of_grad_a_b_c_z_results;

DEVICE gauss_hypergeometric_mean_of_grad_a_b_c_z_results make_gauss_hypergeometric_mean_of_grad_a_b_c_z_results(real value, real d_a, real d_b, real d_c, real d_z)
{
    gauss_hypergeometric_mean_of_grad_a_b_c_z_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_c;
    real d_z;
} gauss_hypergeometric_log_integral_grad_a_b_c_z_results;

DEVICE gauss_hypergeometric_log_integral_grad_a_b_c_z_results make_gauss_hypergeometric_log_integral_grad_a_b_c_z_results(real value, real d_a, real d_b, real d_c, real d_z)
{
    gauss_hypergeometric_log_integral_grad_a_b_c_z_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_c;
    real d_z;
} gauss_hypergeometric_logpdf_grad_a_b_c_z_results;

DEVICE gauss_hypergeometric_logpdf_grad_a_b_c_z_results make_gauss_hypergeometric_logpdf_grad_a_b_c_z_results(real value, real d_a, real d_b, real d_c, real d_z)
{
    gauss_hypergeometric_logpdf_grad_a_b_c_z_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_a;
    real d_b;
    real d_c;
    real d_z;
} gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results;

DEVICE gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results make_gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results(real value, real d_a, real d_b, real d_c, real d_z)
{
    gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results results;
    results.value = value;
    results.d_a = d_a;
    results.d_b = d_b;
    results.d_c = d_c;
    results.d_z = d_z;
    return results;
}


DEVICE real special_weighted(real weight, real log_density)
{
    return weight == 0 && isinf(log_density) ? 0 : weight * log_density;
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

DEVICE real gauss_hypergeometric_slope_at(real v, real a, real b, real c, real log_z)
{
    return a - (a + b - c) * special_expit(v) - c * special_expit(v + log_z);
}

DEVICE gauss_hypergeometric_peak_grad_a_b_c_log_z_results gauss_hypergeometric_peak_grad_a_b_c_log_z(real a, real b, real c, real log_z)
{
    real d_c_whole = int_product(2, c > 0 ? 1 : c < 0 ? -1 : 0);
    real whole = a + b + 2 * fabs(c);
    real t = whole / a;
    real t2 = special_log_slope(t);
    real t3 = 1 / a;
    real d_a_low = -(t2 * ((1 - t) * t3));
    real d_b_low = -(t2 * t3);
    real d_c_low = -(t2 * (d_c_whole * t3));
    real d_log_z_low = -log_z <= (real)0 || (real)0 != (real)0 ? -1 : 0;
    real low = fmin(-log_z, (real)0) - log(t) - 1;
    real t4 = whole / b;
    real t5 = special_log_slope(t4);
    real t6 = 1 / b;
    real d_a_high = t5 * t6;
    real d_b_high = t5 * ((1 - t4) * t6);
    real d_c_high = t5 * (d_c_whole * t6);
    real d_log_z_high = -log_z > (real)0 || (real)0 != (real)0 ? -1 : 0;
    real high = fmax(-log_z, (real)0) + log(t4) + 1;
    for (int i = 0; i < 30; i++) {
        real d_a_middle = 0.5 * (d_a_low + d_a_high);
        real d_b_middle = 0.5 * (d_b_low + d_b_high);
        real d_c_middle = 0.5 * (d_c_low + d_c_high);
        real d_log_z_middle = 0.5 * (d_log_z_low + d_log_z_high);
        real middle = 0.5 * (low + high);
        int rises = gauss_hypergeometric_slope_at(middle, a, b, c, log_z) > 0;
        d_a_low = rises ? d_a_middle : d_a_low;
        d_b_low = rises ? d_b_middle : d_b_low;
        d_c_low = rises ? d_c_middle : d_c_low;
        d_log_z_low = rises ? d_log_z_middle : d_log_z_low;
        low = rises ? middle : low;
        d_a_high = rises ? d_a_high : d_a_middle;
        d_b_high = rises ? d_b_high : d_b_middle;
        d_c_high = rises ? d_c_high : d_c_middle;
        d_log_z_high = rises ? d_log_z_high : d_log_z_middle;
        high = rises ? high : middle;
    }
    return make_gauss_hypergeometric_peak_grad_a_b_c_log_z_results(0.5 * (low + high), 0.5 * (d_a_low + d_a_high), 0.5 * (d_b_low + d_b_high), 0.5 * (d_c_low + d_c_high), 0.5 * (d_log_z_low + d_log_z_high));
}

DEVICE gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results gauss_hypergeometric_step_at_grad_center_a_b_c_log_z(real center, real a, real b, real c, real log_z)
{
    real t = special_expit(-center);
    real t2 = special_expit(center);
    real t3 = t2 * t;
    real t4 = (a + b - c) * t2;
    real t5 = special_expit(-center - log_z);
    real t6 = special_expit(center + log_z);
    real t7 = c * t6;
    real t8 = c * t5 * (isinf(center + log_z) ? 0 : t6 * special_expit(-(center + log_z))) + t7 * (isinf(-center - log_z) ? 0 : -(t5 * special_expit(log_z - -center)));
    real d_center_bend = (a + b - c) * t * (isinf(center) ? 0 : t3) + t4 * (isinf(-center) ? 0 : -(t * t2)) + t8;
    real d_c_bend = t6 * t5 - t3;
    real bend = t4 * t + t7 * t5;
    real t9 = sqrt(fabs(bend) + 7);
    real t10 = 0.6 / t9;
    real t11 = 0.5 / t9;
    real t12 = 1 / t9;
    real t13 = -(t10 * (t11 * (bend > 0 ? t3 : bend < 0 ? -t3 : 0)) * t12);
    return make_gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results(t10, -(t10 * (t11 * (bend > 0 ? d_center_bend : bend < 0 ? -d_center_bend : 0)) * t12), t13, t13, -(t10 * (t11 * (bend > 0 ? d_c_bend : bend < 0 ? -d_c_bend : 0)) * t12), -(t10 * (t11 * (bend > 0 ? t8 : bend < 0 ? -t8 : 0)) * t12));
}

DEVICE real special_log1p_unit(real e)
{
    real s = quotient(e, 2 + e);
    real z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

DEVICE real special_log1pexp(real x)
{
    return fmax(x, (real)0) + special_log1p_unit(exp(-fabs(x)));
}

DEVICE gauss_hypergeometric_height_grad_v_a_b_c_log_z_results gauss_hypergeometric_height_grad_v_a_b_c_log_z(real v, real a, real b, real c, real log_z)
{
    real t = special_log1pexp(v);
    real t2 = special_log1pexp(v + log_z);
    real t3 = c * (v + log_z == -INFINITY ? 0 : special_expit(v + log_z));
    return make_gauss_hypergeometric_height_grad_v_a_b_c_log_z_results(a * v - (a + b - c) * t - c * t2, a - (a + b - c) * (v == -INFINITY ? 0 : special_expit(v)) - t3, v - t, -t, t - t2, -t3);
}

DEVICE gauss_hypergeometric_mean_of_grad_a_b_c_z_results gauss_hypergeometric_mean_of_grad_a_b_c_z(int order, real about, real a, real b, real c, real z)
{
    real d_z_log_z = 1 / (1 + z);
    real log_z = log1p(z);
    gauss_hypergeometric_peak_grad_a_b_c_log_z_results call = gauss_hypergeometric_peak_grad_a_b_c_log_z(a, b, c, log_z);
    real d_a_center = call.d_a;
    real d_b_center = call.d_b;
    real d_c_center = call.d_c;
    real d_z_center = call.d_log_z * d_z_log_z;
    real center = call.value;
    gauss_hypergeometric_step_at_grad_center_a_b_c_log_z_results call2 = gauss_hypergeometric_step_at_grad_center_a_b_c_log_z(center, a, b, c, log_z);
    real d_a_step = call2.d_center * d_a_center + call2.d_a;
    real d_b_step = call2.d_center * d_b_center + call2.d_b;
    real d_c_step = call2.d_center * d_c_center + call2.d_c;
    real d_z_step = call2.d_center * d_z_center + call2.d_log_z * d_z_log_z;
    real step = call2.value;
    gauss_hypergeometric_height_grad_v_a_b_c_log_z_results call3 = gauss_hypergeometric_height_grad_v_a_b_c_log_z(center, a, b, c, log_z);
    real d_a_at_center = call3.d_v * d_a_center + call3.d_a;
    real d_b_at_center = call3.d_v * d_b_center + call3.d_b;
    real d_c_at_center = call3.d_v * d_c_center + call3.d_c;
    real d_z_at_center = call3.d_v * d_z_center + call3.d_log_z * d_z_log_z;
    real at_center = call3.value;
    real d_a_mass = 0;
    real d_b_mass = 0;
    real d_c_mass = 0;
    real d_z_mass = 0;
    real mass = 1;
    real t = special_expit(center);
    real t2 = t - about;
    real t3 = (real)order == 0 ? 0 : (real)order * pow(t2, (real)order - 1);
    real t4 = t * special_expit(-center);
    real d_a_sum = order == 0 ? 0 : t3 * (isinf(center) ? 0 : t4 * d_a_center);
    real d_b_sum = order == 0 ? 0 : t3 * (isinf(center) ? 0 : t4 * d_b_center);
    real d_c_sum = order == 0 ? 0 : t3 * (isinf(center) ? 0 : t4 * d_c_center);
    real d_z_sum = order == 0 ? 0 : t3 * (isinf(center) ? 0 : t4 * d_z_center);
    real sum = order == 0 ? 0 : pow(t2, (real)order);
    for (int side = -1; side < 2; side += 2) {
        real d_a_term = 0;
        real d_b_term = 0;
        real d_c_term = 0;
        real d_z_term = 0;
        real term = 1;
        real d_a_part = 0;
        real d_b_part = 0;
        real d_c_part = 0;
        real d_z_part = 0;
        real part = 1;
        for (int i = 1; i < 20000 && (term > 0.01 * EPSILON * mass || fabs(part) > 0.01 * EPSILON * fabs(sum)) && THREAD < 65536; i++) {
            real d_a_v = d_a_center + int_product(side, i) * d_a_step;
            real d_b_v = d_b_center + int_product(side, i) * d_b_step;
            real d_c_v = d_c_center + int_product(side, i) * d_c_step;
            real d_z_v = d_z_center + int_product(side, i) * d_z_step;
            real v = center + int_product(side, i) * step;
            gauss_hypergeometric_height_grad_v_a_b_c_log_z_results call4 = gauss_hypergeometric_height_grad_v_a_b_c_log_z(v, a, b, c, log_z);
            real t5 = exp(call4.value - at_center);
            d_a_term = t5 * (call4.d_v * d_a_v + call4.d_a - d_a_at_center);
            d_b_term = t5 * (call4.d_v * d_b_v + call4.d_b - d_b_at_center);
            d_c_term = t5 * (call4.d_v * d_c_v + call4.d_c - d_c_at_center);
            d_z_term = t5 * (call4.d_v * d_z_v + call4.d_log_z * d_z_log_z - d_z_at_center);
            term = t5;
            real t6 = special_expit(v);
            real t7 = t6 - about;
            real t8 = pow(t7, (real)order);
            real t9 = (real)order == 0 ? 0 : (real)order * pow(t7, (real)order - 1);
            real t10 = t6 * special_expit(-v);
            d_a_part = order == 0 ? 0 : t8 * d_a_term + term * (t9 * (isinf(v) ? 0 : t10 * d_a_v));
            d_b_part = order == 0 ? 0 : t8 * d_b_term + term * (t9 * (isinf(v) ? 0 : t10 * d_b_v));
            d_c_part = order == 0 ? 0 : t8 * d_c_term + term * (t9 * (isinf(v) ? 0 : t10 * d_c_v));
            d_z_part = order == 0 ? 0 : t8 * d_z_term + term * (t9 * (isinf(v) ? 0 : t10 * d_z_v));
            part = order == 0 ? 0 : term * t8;
            d_a_mass += d_a_term;
            d_b_mass += d_b_term;
            d_c_mass += d_c_term;
            d_z_mass += d_z_term;
            mass += term;
            d_a_sum += d_a_part;
            d_b_sum += d_b_part;
            d_c_sum += d_c_part;
            d_z_sum += d_z_part;
            sum += part;
        }
    }
    real t11 = sum / mass;
    real t12 = special_log_slope(step);
    real t13 = special_log_slope(mass);
    real t14 = 1 / mass;
    return make_gauss_hypergeometric_mean_of_grad_a_b_c_z_results(order == 0 ? at_center + log(step) + log(mass) : t11, order == 0 ? d_a_at_center + t12 * d_a_step + t13 * d_a_mass : (d_a_sum - t11 * d_a_mass) * t14, order == 0 ? d_b_at_center + t12 * d_b_step + t13 * d_b_mass : (d_b_sum - t11 * d_b_mass) * t14, order == 0 ? d_c_at_center + t12 * d_c_step + t13 * d_c_mass : (d_c_sum - t11 * d_c_mass) * t14, order == 0 ? d_z_at_center + t12 * d_z_step + t13 * d_z_mass : (d_z_sum - t11 * d_z_mass) * t14);
}

DEVICE gauss_hypergeometric_log_integral_grad_a_b_c_z_results gauss_hypergeometric_log_integral_grad_a_b_c_z(real a, real b, real c, real z)
{
    gauss_hypergeometric_mean_of_grad_a_b_c_z_results call = gauss_hypergeometric_mean_of_grad_a_b_c_z(0, 0, a, b, c, z);
    return make_gauss_hypergeometric_log_integral_grad_a_b_c_z_results(call.value, call.d_a, call.d_b, call.d_c, call.d_z);
}

// gauss_hypergeometric_logpdf_grad_a_b_c_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real z;
    real c1;
    real c2;
    real c;
    real c3;
    int c4;
    real c5;
    int c6;
    real c7;
    real c8;
    real c9;
} gauss_hypergeometric_logpdf_grad_a_b_c_z_set;

DEVICE gauss_hypergeometric_logpdf_grad_a_b_c_z_set gauss_hypergeometric_logpdf_grad_a_b_c_z_prepare_set(real a, real b, real c, real z)
{
    gauss_hypergeometric_logpdf_grad_a_b_c_z_set set;
    gauss_hypergeometric_log_integral_grad_a_b_c_z_results call = gauss_hypergeometric_log_integral_grad_a_b_c_z(a, b, c, z);
    set.c0 = !(z > -1 && z < INFINITY) || isinf(a) || isinf(b) || isinf(c);
    set.z = z;
    set.c1 = a - 1;
    set.c2 = b - 1;
    set.c = c;
    set.c3 = call.value;
    set.c4 = a - 1 == 0;
    set.c5 = call.d_a;
    set.c6 = b - 1 == 0;
    set.c7 = call.d_b;
    set.c8 = call.d_c;
    set.c9 = call.d_z;
    return set;
}

// gauss_hypergeometric_logpdf_grad_a_b_c_z: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real t;
    real t2;
    int c0;
    int c1;
} gauss_hypergeometric_logpdf_grad_a_b_c_z_row;

DEVICE gauss_hypergeometric_logpdf_grad_a_b_c_z_row gauss_hypergeometric_logpdf_grad_a_b_c_z_prepare_row(real x)
{
    gauss_hypergeometric_logpdf_grad_a_b_c_z_row row;
    real t = log(x);
    real t2 = log1p(-x);
    row.x = x;
    row.t = t;
    row.t2 = t2;
    row.c0 = isinf(t);
    row.c1 = isinf(t2);
    return row;
}

// gauss_hypergeometric_logpdf_grad_a_b_c_z: what depends on both, from what was computed ahead.
DEVICE gauss_hypergeometric_logpdf_grad_a_b_c_z_results gauss_hypergeometric_logpdf_grad_a_b_c_z_evaluate(gauss_hypergeometric_logpdf_grad_a_b_c_z_set set, gauss_hypergeometric_logpdf_grad_a_b_c_z_row row)
{
    if (set.c0) {
        return make_gauss_hypergeometric_logpdf_grad_a_b_c_z_results(NAN, NAN, NAN, NAN, NAN);
    }
    real t3 = log1p(set.z * row.x);
    return make_gauss_hypergeometric_logpdf_grad_a_b_c_z_results(special_weighted(set.c1, row.t) + special_weighted(set.c2, row.t2) - set.c * t3 - set.c3, (set.c4 && row.c0 ? 0 : row.t) - set.c5, (set.c6 && row.c1 ? 0 : row.t2) - set.c7, -t3 - set.c8, -(set.c * (1 / (1 + set.z * row.x) * row.x)) - set.c9);
}

// gauss_hypergeometric_logpdf_checked_grad_a_b_c_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    gauss_hypergeometric_logpdf_grad_a_b_c_z_set gauss_hypergeometric_0;
    real t2;
} gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_set;

DEVICE gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_set gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_prepare_set(real a, real b, real c, real z)
{
    gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_set set;
    real bad_a = a > 0 ? 0 : NAN;
    real bad_b = b > 0 ? 0 : NAN;
    real bad_c = c == c ? 0 : NAN;
    real bad_z = z == z ? 0 : NAN;
    real t2 = bad_a + bad_b + bad_c + bad_z;
    set.gauss_hypergeometric_0 = gauss_hypergeometric_logpdf_grad_a_b_c_z_prepare_set(a, b, c, z);
    set.t2 = t2;
    return set;
}

// gauss_hypergeometric_logpdf_checked_grad_a_b_c_z: what depends on the observation alone, computed once for each.
typedef struct {
    gauss_hypergeometric_logpdf_grad_a_b_c_z_row gauss_hypergeometric_0;
    int inside;
    real outside;
    real t;
} gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row;

DEVICE gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_prepare_row(real x)
{
    gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x <= 1;
    row.gauss_hypergeometric_0 = gauss_hypergeometric_logpdf_grad_a_b_c_z_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// gauss_hypergeometric_logpdf_checked_grad_a_b_c_z: what depends on both, from what was computed ahead.
DEVICE gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_evaluate(gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_set set, gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row row)
{
    gauss_hypergeometric_logpdf_grad_a_b_c_z_results call = gauss_hypergeometric_logpdf_grad_a_b_c_z_evaluate(set.gauss_hypergeometric_0, row.gauss_hypergeometric_0);
    real d_a_value = call.d_a;
    real d_b_value = call.d_b;
    real d_c_value = call.d_c;
    real d_z_value = call.d_z;
    real value = call.value;
    return make_gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results((row.inside || value != value ? value : row.outside) + set.t2, (row.inside || value != value ? d_a_value : row.t) + set.t2, (row.inside || value != value ? d_b_value : row.t) + set.t2, (row.inside || value != value ? d_c_value : row.t) + set.t2, (row.inside || value != value ? d_z_value : row.t) + set.t2);
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
// Here f has several results: value, d_a, d_b, d_c, d_z are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT a_per_set, index_t a_offset, index_t a_stride, GLOBAL const real *RESTRICT b_per_set, index_t b_offset, index_t b_stride, GLOBAL const real *RESTRICT c_per_set, index_t c_offset, index_t c_stride, GLOBAL const real *RESTRICT z_per_set, index_t z_offset, index_t z_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    a_per_set += a_offset;
    b_per_set += b_offset;
    c_per_set += c_offset;
    z_per_set += z_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_prepare_set(a_per_set[(first_set + MIN(k, sets_here - 1)) * a_stride], b_per_set[(first_set + MIN(k, sets_here - 1)) * b_stride], c_per_set[(first_set + MIN(k, sets_here - 1)) * c_stride], z_per_set[(first_set + MIN(k, sets_here - 1)) * z_stride]);
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
                    const gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row row = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results result = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_a;
                        total[k * 5 + 2] += result.d_b;
                        total[k * 5 + 3] += result.d_c;
                        total[k * 5 + 4] += result.d_z;
                    }
                }
                {
                    const gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row row = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results result = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_a;
                        total[k * 5 + 2] += result.d_b;
                        total[k * 5 + 3] += result.d_c;
                        total[k * 5 + 4] += result.d_z;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_row row = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_results result = gauss_hypergeometric_logpdf_checked_grad_a_b_c_z_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_a;
                        total[k * 5 + 2] += result.d_b;
                        total[k * 5 + 3] += result.d_c;
                        total[k * 5 + 4] += result.d_z;
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










