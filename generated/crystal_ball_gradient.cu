// The gradient kernel of crystal_ball, made by `gpustats generate`. Do not edit.
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
    real d_beta;
    real d_m;
} crystal_ball_log_power_part_grad_beta_m_results;

DEVICE crystal_ball_log_power_part_grad_beta_m_results make_crystal_ball_log_power_part_grad_beta_m_results(real value, real d_beta, real d_m)
{
    crystal_ball_log_power_part_grad_beta_m_results results;
    results.value = value;
    results.d_beta = d_beta;
    results.d_m = d_m;
    return results;
}


typedef struct {
    real value;
    real d_beta;
    real d_m;
} crystal_ball_log_whole_grad_beta_m_results;

DEVICE crystal_ball_log_whole_grad_beta_m_results make_crystal_ball_log_whole_grad_beta_m_results(real value, real d_beta, real d_m)
{
    crystal_ball_log_whole_grad_beta_m_results results;
    results.value = value;
    results.d_beta = d_beta;
    results.d_m = d_m;
    return results;
}


typedef struct {
    real value;
    real d_beta;
    real d_m;
    real d_mu;
    real d_sigma;
} crystal_ball_log_fall_grad_beta_m_mu_sigma_results;

DEVICE crystal_ball_log_fall_grad_beta_m_mu_sigma_results make_crystal_ball_log_fall_grad_beta_m_mu_sigma_results(real value, real d_beta, real d_m, real d_mu, real d_sigma)
{
    crystal_ball_log_fall_grad_beta_m_mu_sigma_results results;
    results.value = value;
    results.d_beta = d_beta;
    results.d_m = d_m;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_beta;
    real d_m;
    real d_mu;
    real d_sigma;
} crystal_ball_logpdf_grad_beta_m_mu_sigma_results;

DEVICE crystal_ball_logpdf_grad_beta_m_mu_sigma_results make_crystal_ball_logpdf_grad_beta_m_mu_sigma_results(real value, real d_beta, real d_m, real d_mu, real d_sigma)
{
    crystal_ball_logpdf_grad_beta_m_mu_sigma_results results;
    results.value = value;
    results.d_beta = d_beta;
    results.d_m = d_m;
    results.d_mu = d_mu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_beta;
    real d_m;
    real d_mu;
    real d_sigma;
} crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results;

DEVICE crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results make_crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results(real value, real d_beta, real d_m, real d_mu, real d_sigma)
{
    crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results results;
    results.value = value;
    results.d_beta = d_beta;
    results.d_m = d_m;
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

DEVICE crystal_ball_log_power_part_grad_beta_m_results crystal_ball_log_power_part_grad_beta_m(real beta, real m)
{
    real t = m / (beta * (m - 1));
    real t2 = 1 / (beta * (m - 1));
    real t3 = special_log_slope(t);
    return make_crystal_ball_log_power_part_grad_beta_m_results(log(t) - 0.5 * beta * beta, -(t * (m - 1) * t2 * t3) - beta, t3 * ((1 - t * beta) * t2));
}

DEVICE real special_scaled_erfc(real x)
{
    real t = 1 - 7.5 / (x + 3.75);
    real series = 1.237512630837827582 + t * (-0.1402405985855452088 + t * (0.003585415485466306909 + t * (0.08227673848999158997 + t * (-0.108803930141939147 + t * (0.09230432116435615983 + t * (-0.05869339858449184774 + t * (0.02836227737137004573 + t * (-0.009746579620815090139 + t * (0.001755626169227672094 + t * (0.0002937140877722768239 + t * (-0.0002901553656394712841 + t * (5.164737123871837686e-5 + t * (2.238759272534768919e-5 + t * (-1.143961526007594973e-5 + t * (-9.792975290998229177e-7 + t * (1.743857741135918114e-6 + t * (-5.081691181169818825e-8 + t * (-2.499653803740524239e-7 + t * (1.87785011564687965e-8 + t * (3.256499083798512925e-8 + t * (-1.952790162974836892e-9 + t * -2.729394133253385506e-9)))))))))))))))))))));
    return series / (1 + 2 * x);
}

DEVICE real special_log_ndtr(real x)
{
    real tail = 0.5 * special_scaled_erfc(fabs(x) / SQRT_2);
    real square = 0.5 * x * x;
    return x < 0 ? log(tail) - square : log1p(-tail * exp(-square));
}

DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(x < 0 ? e : 1, 1 + e);
}

DEVICE real special_logaddexp(real a, real b)
{
    return a == b ? a + LOG_2 : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

DEVICE real special_inverse_mills(real x)
{
    real tail = special_scaled_erfc(fabs(x) / SQRT_2);
    return SQRT_2_OVER_PI * (x < 0 ? 1 / tail : 1 / (2 * exp(0.5 * x * x) - tail));
}

DEVICE crystal_ball_log_whole_grad_beta_m_results crystal_ball_log_whole_grad_beta_m(real beta, real m)
{
    crystal_ball_log_power_part_grad_beta_m_results call = crystal_ball_log_power_part_grad_beta_m(beta, m);
    real t = HALF_LOG_2PI + special_log_ndtr(beta);
    real t2 = special_expit(call.value - t);
    return make_crystal_ball_log_whole_grad_beta_m_results(special_logaddexp(call.value, t), (call.value == -INFINITY ? 0 : t2 * call.d_beta) + (t == -INFINITY ? 0 : special_expit(t - call.value) * (beta == INFINITY ? 0 : special_inverse_mills(beta))), call.value == -INFINITY ? 0 : t2 * call.d_m);
}

// special_log_quotient: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real s;
    real c0;
} special_log_quotient_ms_set;

DEVICE special_log_quotient_ms_set special_log_quotient_ms_prepare_set(real s)
{
    special_log_quotient_ms_set set;
    set.s = s;
    set.c0 = log(s);
    return set;
}

// special_log_quotient: what depends on both, from what was computed ahead.
DEVICE real special_log_quotient_ms_evaluate(special_log_quotient_ms_set set, real x)
{
    real value = log(x / set.s);
    return fabs(value) < (EPSILON < 1e-10 ? 600 : 60) ? value : log(x) - set.c0;
}

// crystal_ball_log_fall_grad_beta_m_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real mu;
    real t;
    real beta;
    real t2;
    special_log_quotient_ms_set special_0;
    real c1;
    real c2;
    real t5;
    real c3;
    real t7;
    real c4;
    real c5;
} crystal_ball_log_fall_grad_beta_m_mu_sigma_set;

DEVICE crystal_ball_log_fall_grad_beta_m_mu_sigma_set crystal_ball_log_fall_grad_beta_m_mu_sigma_prepare_set(real beta, real m, real mu, real sigma)
{
    crystal_ball_log_fall_grad_beta_m_mu_sigma_set set;
    real t = 1 / sigma;
    real t2 = beta / m;
    real t4 = special_log_slope(t2);
    real t5 = 1 / m;
    real t7 = t2 * t5;
    set.c0 = t * t;
    set.mu = mu;
    set.t = t;
    set.beta = beta;
    set.t2 = t2;
    set.special_0 = special_log_quotient_ms_prepare_set(sigma);
    set.c1 = log(t2);
    set.c2 = t4 * t5;
    set.t5 = t5;
    set.c3 = -(t7 * t4);
    set.t7 = t7;
    set.c4 = t2 * t;
    set.c5 = -special_log_slope(sigma);
    return set;
}

// crystal_ball_log_fall_grad_beta_m_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} crystal_ball_log_fall_grad_beta_m_mu_sigma_row;

DEVICE crystal_ball_log_fall_grad_beta_m_mu_sigma_row crystal_ball_log_fall_grad_beta_m_mu_sigma_prepare_row(real x)
{
    crystal_ball_log_fall_grad_beta_m_mu_sigma_row row;
    row.x = x;
    return row;
}

// crystal_ball_log_fall_grad_beta_m_mu_sigma: what depends on both, from what was computed ahead.
DEVICE crystal_ball_log_fall_grad_beta_m_mu_sigma_results crystal_ball_log_fall_grad_beta_m_mu_sigma_evaluate(crystal_ball_log_fall_grad_beta_m_mu_sigma_set set, crystal_ball_log_fall_grad_beta_m_mu_sigma_row row)
{
    real d_sigma_z = -(set.c0 * (row.x - set.mu));
    real z = (row.x - set.mu) * set.t;
    real t3 = -(z + set.beta) * set.t2;
    real t6 = 1 / (1 + t3);
    return make_crystal_ball_log_fall_grad_beta_m_mu_sigma_results(isinf(z) ? special_log_quotient_ms_evaluate(set.special_0, set.mu - row.x) + set.c1 : log1p(t3), isinf(z) ? set.c2 : t6 * (-set.t2 - (z + set.beta) * set.t5), isinf(z) ? set.c3 : t6 * (set.t7 * (z + set.beta)), isinf(z) ? special_log_slope(set.mu - row.x) : t6 * set.c4, isinf(z) ? set.c5 : -(d_sigma_z * set.t2 * t6));
}

// crystal_ball_logpdf_grad_beta_m_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    real mu;
    real t;
    crystal_ball_log_fall_grad_beta_m_mu_sigma_set crystal_ball_0;
    real c2;
    real m;
    real c3;
    real beta;
    real c4;
    real c5;
    real c6;
    real c7;
} crystal_ball_logpdf_grad_beta_m_mu_sigma_set;

DEVICE crystal_ball_logpdf_grad_beta_m_mu_sigma_set crystal_ball_logpdf_grad_beta_m_mu_sigma_prepare_set(real beta, real m, real mu, real sigma)
{
    crystal_ball_logpdf_grad_beta_m_mu_sigma_set set;
    real t = 1 / sigma;
    crystal_ball_log_whole_grad_beta_m_results call2 = crystal_ball_log_whole_grad_beta_m(beta, m);
    set.c0 = !(m > 1);
    set.c1 = t * t;
    set.mu = mu;
    set.t = t;
    set.crystal_ball_0 = crystal_ball_log_fall_grad_beta_m_mu_sigma_prepare_set(beta, m, mu, sigma);
    set.c2 = -0.5 * beta * beta;
    set.m = m;
    set.c3 = -(0.5 * 2 * beta);
    set.beta = beta;
    set.c4 = call2.value + log(sigma);
    set.c5 = call2.d_beta;
    set.c6 = call2.d_m;
    set.c7 = special_log_slope(sigma);
    return set;
}

// crystal_ball_logpdf_grad_beta_m_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    crystal_ball_log_fall_grad_beta_m_mu_sigma_row crystal_ball_0;
} crystal_ball_logpdf_grad_beta_m_mu_sigma_row;

DEVICE crystal_ball_logpdf_grad_beta_m_mu_sigma_row crystal_ball_logpdf_grad_beta_m_mu_sigma_prepare_row(real x)
{
    crystal_ball_logpdf_grad_beta_m_mu_sigma_row row;
    row.x = x;
    row.crystal_ball_0 = crystal_ball_log_fall_grad_beta_m_mu_sigma_prepare_row(x);
    return row;
}

// crystal_ball_logpdf_grad_beta_m_mu_sigma: what depends on both, from what was computed ahead.
DEVICE crystal_ball_logpdf_grad_beta_m_mu_sigma_results crystal_ball_logpdf_grad_beta_m_mu_sigma_evaluate(crystal_ball_logpdf_grad_beta_m_mu_sigma_set set, crystal_ball_logpdf_grad_beta_m_mu_sigma_row row)
{
    if (set.c0) {
        return make_crystal_ball_logpdf_grad_beta_m_mu_sigma_results(NAN, NAN, NAN, NAN, NAN);
    }
    real d_sigma_z = -(set.c1 * (row.x - set.mu));
    real z = (row.x - set.mu) * set.t;
    real either;
    real d_beta_either;
    real d_m_either;
    real d_mu_either;
    real d_sigma_either;
    if (z > -set.beta) {
        either = -0.5 * z * z;
        d_beta_either = 0;
        d_m_either = 0;
        d_mu_either = set.t * (0.5 * 2 * z);
        d_sigma_either = -(0.5 * 2 * z * d_sigma_z);
    } else {
        crystal_ball_log_fall_grad_beta_m_mu_sigma_results call = crystal_ball_log_fall_grad_beta_m_mu_sigma_evaluate(set.crystal_ball_0, row.crystal_ball_0);
        either = set.c2 - set.m * call.value;
        d_beta_either = set.c3 - set.m * call.d_beta;
        d_m_either = -(call.value + set.m * call.d_m);
        d_mu_either = -(set.m * call.d_mu);
        d_sigma_either = -(set.m * call.d_sigma);
    }
    real d_beta_value = d_beta_either;
    real d_m_value = d_m_either;
    real d_mu_value = d_mu_either;
    real d_sigma_value = d_sigma_either;
    real value = either;
    return make_crystal_ball_logpdf_grad_beta_m_mu_sigma_results(value - set.c4, d_beta_value - set.c5, d_m_value - set.c6, d_mu_value, d_sigma_value - set.c7);
}

// crystal_ball_logpdf_checked_grad_beta_m_mu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    crystal_ball_logpdf_grad_beta_m_mu_sigma_set crystal_ball_0;
    real t2;
} crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_set;

DEVICE crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_set crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_prepare_set(real beta, real m, real mu, real sigma)
{
    crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_set set;
    real bad_beta = beta > 0 ? 0 : NAN;
    real bad_m = m == m ? 0 : NAN;
    real bad_mu = mu == mu ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    real t2 = bad_beta + bad_m + bad_mu + bad_sigma;
    set.crystal_ball_0 = crystal_ball_logpdf_grad_beta_m_mu_sigma_prepare_set(beta, m, mu, sigma);
    set.t2 = t2;
    return set;
}

// crystal_ball_logpdf_checked_grad_beta_m_mu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    crystal_ball_logpdf_grad_beta_m_mu_sigma_row crystal_ball_0;
    int inside;
    real outside;
    real t;
} crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row;

DEVICE crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_prepare_row(real x)
{
    crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.crystal_ball_0 = crystal_ball_logpdf_grad_beta_m_mu_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// crystal_ball_logpdf_checked_grad_beta_m_mu_sigma: what depends on both, from what was computed ahead.
DEVICE crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_evaluate(crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_set set, crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row row)
{
    crystal_ball_logpdf_grad_beta_m_mu_sigma_results call = crystal_ball_logpdf_grad_beta_m_mu_sigma_evaluate(set.crystal_ball_0, row.crystal_ball_0);
    real d_beta_value = call.d_beta;
    real d_m_value = call.d_m;
    real d_mu_value = call.d_mu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results((row.inside ? value : row.outside) + set.t2, (row.inside ? d_beta_value : row.t) + set.t2, (row.inside ? d_m_value : row.t) + set.t2, (row.inside ? d_mu_value : row.t) + set.t2, (row.inside ? d_sigma_value : row.t) + set.t2);
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
// Here f has several results: value, d_beta, d_m, d_mu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT beta_per_set, index_t beta_offset, index_t beta_stride, GLOBAL const real *RESTRICT m_per_set, index_t m_offset, index_t m_stride, GLOBAL const real *RESTRICT mu_per_set, index_t mu_offset, index_t mu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    beta_per_set += beta_offset;
    m_per_set += m_offset;
    mu_per_set += mu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_prepare_set(beta_per_set[(first_set + MIN(k, sets_here - 1)) * beta_stride], m_per_set[(first_set + MIN(k, sets_here - 1)) * m_stride], mu_per_set[(first_set + MIN(k, sets_here - 1)) * mu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row row = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results result = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_beta;
                        total[k * 5 + 2] += result.d_m;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
                {
                    const crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row row = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results result = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_beta;
                        total[k * 5 + 2] += result.d_m;
                        total[k * 5 + 3] += result.d_mu;
                        total[k * 5 + 4] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_row row = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_results result = crystal_ball_logpdf_checked_grad_beta_m_mu_sigma_evaluate(sets[k], row);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_beta;
                        total[k * 5 + 2] += result.d_m;
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










