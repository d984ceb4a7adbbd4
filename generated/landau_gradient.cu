// The gradient kernel of landau, made by `gpustats generate`. Do not edit.
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
    real d_t;
} landau_log_v_grad_t_results;

DEVICE landau_log_v_grad_t_results make_landau_log_v_grad_t_results(real value, real d_t)
{
    landau_log_v_grad_t_results results;
    results.value = value;
    results.d_t = d_t;
    return results;
}


typedef struct {
    real value;
    real d_z;
} landau_along_path_grad_z_results;

DEVICE landau_along_path_grad_z_results make_landau_along_path_grad_z_results(real value, real d_z)
{
    landau_along_path_grad_z_results results;
    results.value = value;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_z;
    real d_log_z;
} landau_at_cut_grad_z_log_z_results;

DEVICE landau_at_cut_grad_z_log_z_results make_landau_at_cut_grad_z_log_z_results(real value, real d_z, real d_log_z)
{
    landau_at_cut_grad_z_log_z_results results;
    results.value = value;
    results.d_z = d_z;
    results.d_log_z = d_log_z;
    return results;
}


typedef struct {
    real value;
    real d_z;
} landau_along_cut_grad_z_results;

DEVICE landau_along_cut_grad_z_results make_landau_along_cut_grad_z_results(real value, real d_z)
{
    landau_along_cut_grad_z_results results;
    results.value = value;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
} landau_logpdf_grad_mu_sigma_results;

DEVICE landau_logpdf_grad_mu_sigma_results make_landau_logpdf_grad_mu_sigma_results(real value, real d_mu, real d_sigma)
{
    landau_logpdf_grad_mu_sigma_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_mu;
    real d_sigma;
} landau_logpdf_checked_grad_mu_sigma_results;

DEVICE landau_logpdf_checked_grad_mu_sigma_results make_landau_logpdf_checked_grad_mu_sigma_results(real value, real d_mu, real d_sigma)
{
    landau_logpdf_checked_grad_mu_sigma_results results;
    results.value = value;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

// landau_log_v_grad_t: what depends on both, from what was computed ahead.
DEVICE landau_log_v_grad_t_results landau_log_v_grad_t_m_evaluate(real t)
{
    real t2 = atan(t) / t;
    real d_t_ratio = t == 0 ? 0 : ((isinf(t) ? 0 : 1 / (1 + t * t)) - t2) * (1 / t);
    real ratio = t == 0 ? 1 : t2;
    real t3 = ratio * (1 + t * t);
    return make_landau_log_v_grad_t_results(log(t3) + 1 - ratio * (1 - t * t), special_log_slope(t3) * ((1 + t * t) * d_t_ratio + ratio * (2 * t)) - ((1 - t * t) * d_t_ratio - 2 * t * ratio));
}

// landau_along_path_grad_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int tail;
    int c0;
} landau_along_path_grad_z_ms_set;

DEVICE landau_along_path_grad_z_ms_set landau_along_path_grad_z_ms_prepare_set(int tail)
{
    landau_along_path_grad_z_ms_set set;
    set.tail = tail;
    set.c0 = tail ? 0 : 1;
    return set;
}

// landau_along_path_grad_z: what depends on both, from what was computed ahead.
DEVICE landau_along_path_grad_z_results landau_along_path_grad_z_ms_evaluate(landau_along_path_grad_z_ms_set set, real z)
{
    real t2 = exp(-1 - z);
    real s = t2;
    real t3 = sqrt(s + 3.5);
    real t4 = 0.22 / t3;
    real d_z_step = t2 * (0.5 / t3) * t4 * (1 / t3);
    real step = t4;
    real d_z_sum = 0;
    real sum = 0;
    real d_z_term = 0;
    real term = INFINITY;
    if (isinf(s)) {
        return make_landau_along_path_grad_z_results(-INFINITY, 0);
    }
    for (int i = 0; i < 1000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
        real d_z_t = i * d_z_step;
        real t = i * step;
        landau_log_v_grad_t_results call = landau_log_v_grad_t_m_evaluate(t);
        real d_z_v = call.d_t * d_z_t;
        real v = call.value;
        real t5 = expm1(v);
        real t6 = exp((set.tail ? 0 : v) - s * t5);
        real t7 = t6 * ((set.tail ? 0 : d_z_v) - (s * (exp(v) * d_z_v) - t2 * t5));
        real t8 = (i == 0 ? 1 : 2) * t6 / (1 + t * t);
        d_z_term = ((i == 0 ? t7 : 2 * t7) - t8 * (2 * t * d_z_t)) * (1 / (1 + t * t));
        term = t8;
        d_z_sum += d_z_term;
        sum += term;
    }
    real t9 = step / PI;
    real t10 = sum * t9;
    return make_landau_along_path_grad_z_results(log(t10) - s - (set.tail ? 0 : 1 + z), special_log_slope(t10) * (t9 * d_z_sum + sum * (d_z_step * (1 / PI))) + t2 - set.c0);
}

// landau_at_cut_grad_z_log_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real u;
    real c0;
    real w;
} landau_at_cut_grad_z_log_z_smms_set;

DEVICE landau_at_cut_grad_z_log_z_smms_set landau_at_cut_grad_z_log_z_smms_prepare_set(real w, int tail)
{
    landau_at_cut_grad_z_log_z_smms_set set;
    real u = exp(w);
    set.u = u;
    set.c0 = (tail ? 1 : 2) * w - u;
    set.w = w;
    return set;
}

// landau_at_cut_grad_z_log_z: what depends on both, from what was computed ahead.
DEVICE landau_at_cut_grad_z_log_z_results landau_at_cut_grad_z_log_z_smms_evaluate(landau_at_cut_grad_z_log_z_smms_set set, real z, real log_z)
{
    real t2 = set.u / z;
    real d_z_t = -(t2 * (1 / z));
    real t = t2;
    real t3 = sin(PI * t) / (PI * t);
    real d_z_sinc = t == 0 ? 0 : (cos(PI * t) * (PI * d_z_t) - t3 * (PI * d_z_t)) * (1 / (PI * t));
    real sinc = t == 0 ? 1 : t3;
    real t4 = exp(set.c0 - t * (set.w - log_z));
    return make_landau_at_cut_grad_z_log_z_results(t4 * sinc, t4 * d_z_sinc - (set.w - log_z) * d_z_t * t4 * sinc, sinc * (t4 * t));
}

// landau_at_cut_grad_z_log_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
} landau_at_cut_grad_z_log_z_mmms_set;

DEVICE landau_at_cut_grad_z_log_z_mmms_set landau_at_cut_grad_z_log_z_mmms_prepare_set(int tail)
{
    landau_at_cut_grad_z_log_z_mmms_set set;
    set.c0 = tail ? 1 : 2;
    return set;
}

// landau_at_cut_grad_z_log_z: what depends on both, from what was computed ahead.
DEVICE landau_at_cut_grad_z_log_z_results landau_at_cut_grad_z_log_z_mmms_evaluate(landau_at_cut_grad_z_log_z_mmms_set set, real w, real z, real log_z)
{
    real u = exp(w);
    real t2 = u / z;
    real d_z_t = -(t2 * (1 / z));
    real t = t2;
    real t3 = sin(PI * t) / (PI * t);
    real d_z_sinc = t == 0 ? 0 : (cos(PI * t) * (PI * d_z_t) - t3 * (PI * d_z_t)) * (1 / (PI * t));
    real sinc = t == 0 ? 1 : t3;
    real t4 = exp(set.c0 * w - u - t * (w - log_z));
    return make_landau_at_cut_grad_z_log_z_results(t4 * sinc, t4 * d_z_sinc - (w - log_z) * d_z_t * t4 * sinc, sinc * (t4 * t));
}

// landau_along_cut_grad_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    landau_at_cut_grad_z_log_z_smms_set landau_at_cut_grad_z_0;
    landau_at_cut_grad_z_log_z_mmms_set landau_at_cut_grad_z_1;
    real step;
    int c0;
    int tail;
} landau_along_cut_grad_z_ms_set;

DEVICE landau_along_cut_grad_z_ms_set landau_along_cut_grad_z_ms_prepare_set(int tail)
{
    landau_along_cut_grad_z_ms_set set;
    real step = 0.25;
    set.landau_at_cut_grad_z_0 = landau_at_cut_grad_z_log_z_smms_prepare_set(0, tail);
    set.landau_at_cut_grad_z_1 = landau_at_cut_grad_z_log_z_mmms_prepare_set(tail);
    set.step = step;
    set.c0 = tail ? 1 : 2;
    set.tail = tail;
    return set;
}

// landau_along_cut_grad_z: what depends on both, from what was computed ahead.
DEVICE landau_along_cut_grad_z_results landau_along_cut_grad_z_ms_evaluate(landau_along_cut_grad_z_ms_set set, real z)
{
    real d_z_log_z = special_log_slope(z);
    real log_z = log(z);
    landau_at_cut_grad_z_log_z_results call = landau_at_cut_grad_z_log_z_smms_evaluate(set.landau_at_cut_grad_z_0, z, log_z);
    real d_z_sum = call.d_z + call.d_log_z * d_z_log_z;
    real sum = call.value;
    for (int side = -1; side < 2; side += 2) {
        real d_z_term = 0;
        real term = INFINITY;
        for (int i = 1; i < 1000 && fabs(term) > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            landau_at_cut_grad_z_log_z_results call2 = landau_at_cut_grad_z_log_z_mmms_evaluate(set.landau_at_cut_grad_z_1, int_product(side, i) * set.step, z, log_z);
            d_z_term = call2.d_z + call2.d_log_z * d_z_log_z;
            term = call2.value;
            d_z_sum += d_z_term;
            sum += term;
        }
    }
    return make_landau_along_cut_grad_z_results(log(set.step * sum) - set.c0 * log_z, special_log_slope(set.step * sum) * (set.step * d_z_sum) - (set.tail ? d_z_log_z : 2 * d_z_log_z));
}

// landau_logpdf_grad_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real mu;
    real sigma;
    real t;
    landau_along_path_grad_z_ms_set landau_along_path_grad_z_0;
    landau_along_cut_grad_z_ms_set landau_along_cut_grad_z_0;
    real c0;
    real c1;
} landau_logpdf_grad_mu_sigma_set;

DEVICE landau_logpdf_grad_mu_sigma_set landau_logpdf_grad_mu_sigma_prepare_set(real mu, real sigma)
{
    landau_logpdf_grad_mu_sigma_set set;
    real t = 1 / sigma;
    set.mu = mu;
    set.sigma = sigma;
    set.t = t;
    set.landau_along_path_grad_z_0 = landau_along_path_grad_z_ms_prepare_set(0);
    set.landau_along_cut_grad_z_0 = landau_along_cut_grad_z_ms_prepare_set(0);
    set.c0 = log(sigma);
    set.c1 = special_log_slope(sigma);
    return set;
}

// landau_logpdf_grad_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} landau_logpdf_grad_mu_sigma_row;

DEVICE landau_logpdf_grad_mu_sigma_row landau_logpdf_grad_mu_sigma_prepare_row(real x)
{
    landau_logpdf_grad_mu_sigma_row row;
    row.x = x;
    return row;
}

// landau_logpdf_grad_mu_sigma: what depends on both, from what was computed ahead.
DEVICE landau_logpdf_grad_mu_sigma_results landau_logpdf_grad_mu_sigma_evaluate(landau_logpdf_grad_mu_sigma_set set, landau_logpdf_grad_mu_sigma_row row)
{
    real t2 = (row.x - set.mu) / set.sigma;
    real d_sigma_z = -(t2 * set.t);
    real z = t2;
    if (isinf(z)) {
        return make_landau_logpdf_grad_mu_sigma_results(-INFINITY, 0, 0);
    }
    real either;
    real d_mu_either;
    real d_sigma_either;
    if (z < 15) {
        landau_along_path_grad_z_results call = landau_along_path_grad_z_ms_evaluate(set.landau_along_path_grad_z_0, z);
        either = call.value;
        d_mu_either = -(set.t * call.d_z);
        d_sigma_either = call.d_z * d_sigma_z;
    } else {
        landau_along_cut_grad_z_results call2 = landau_along_cut_grad_z_ms_evaluate(set.landau_along_cut_grad_z_0, z);
        either = call2.value;
        d_mu_either = -(set.t * call2.d_z);
        d_sigma_either = call2.d_z * d_sigma_z;
    }
    return make_landau_logpdf_grad_mu_sigma_results(either - set.c0, d_mu_either, d_sigma_either - set.c1);
}

// landau_logpdf_checked_grad_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    landau_logpdf_grad_mu_sigma_set landau_0;
    real c0;
} landau_logpdf_checked_grad_mu_sigma_set;

DEVICE landau_logpdf_checked_grad_mu_sigma_set landau_logpdf_checked_grad_mu_sigma_prepare_set(real mu, real sigma)
{
    landau_logpdf_checked_grad_mu_sigma_set set;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.landau_0 = landau_logpdf_grad_mu_sigma_prepare_set(mu, sigma);
    set.c0 = bad_mu + bad_sigma;
    return set;
}

// landau_logpdf_checked_grad_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    landau_logpdf_grad_mu_sigma_row landau_0;
    int inside;
    real outside;
    real t;
} landau_logpdf_checked_grad_mu_sigma_row;

DEVICE landau_logpdf_checked_grad_mu_sigma_row landau_logpdf_checked_grad_mu_sigma_prepare_row(real x)
{
    landau_logpdf_checked_grad_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.landau_0 = landau_logpdf_grad_mu_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// landau_logpdf_checked_grad_mu_sigma: what depends on both, from what was computed ahead.
DEVICE landau_logpdf_checked_grad_mu_sigma_results landau_logpdf_checked_grad_mu_sigma_evaluate(landau_logpdf_checked_grad_mu_sigma_set set, landau_logpdf_checked_grad_mu_sigma_row row)
{
    landau_logpdf_grad_mu_sigma_results call = landau_logpdf_grad_mu_sigma_evaluate(set.landau_0, row.landau_0);
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_landau_logpdf_checked_grad_mu_sigma_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_mu_value : row.t) + set.c0, (row.inside ? d_sigma_value : row.t) + set.c0);
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
// Here f has several results: value, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) landau_logpdf_checked_grad_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(landau_logpdf_checked_grad_mu_sigma_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = landau_logpdf_checked_grad_mu_sigma_prepare_set(mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const landau_logpdf_checked_grad_mu_sigma_row row = landau_logpdf_checked_grad_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const landau_logpdf_checked_grad_mu_sigma_results result = landau_logpdf_checked_grad_mu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu;
                        total[k * 3 + 2] += result.d_sigma;
                    }
                }
                {
                    const landau_logpdf_checked_grad_mu_sigma_row row = landau_logpdf_checked_grad_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const landau_logpdf_checked_grad_mu_sigma_results result = landau_logpdf_checked_grad_mu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu;
                        total[k * 3 + 2] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const landau_logpdf_checked_grad_mu_sigma_row row = landau_logpdf_checked_grad_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const landau_logpdf_checked_grad_mu_sigma_results result = landau_logpdf_checked_grad_mu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_mu;
                        total[k * 3 + 2] += result.d_sigma;
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










