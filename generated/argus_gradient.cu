// The gradient kernel of argus, made by `gpustats generate`. Do not edit.
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
} special_log_gamma_tail_grad_x__results;

DEVICE special_log_gamma_tail_grad_x__results make_special_log_gamma_tail_grad_x__results(real value, real d_x)
{
    special_log_gamma_tail_grad_x__results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_x;
    real d_value;
} special_within_gamma_grad_x_value_results;

DEVICE special_within_gamma_grad_x_value_results make_special_within_gamma_grad_x_value_results(real value, real d_x, real d_value)
{
    special_within_gamma_grad_x_value_results results;
    results.value = value;
    results.d_x = d_x;
    results.d_value = d_value;
    return results;
}


typedef struct {
    real value;
    real d_x;
} special_log_gamma_p_grad_x_results;

DEVICE special_log_gamma_p_grad_x_results make_special_log_gamma_p_grad_x_results(real value, real d_x)
{
    special_log_gamma_p_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_y;
    real d_log_y;
} special_log_gamma_p_of_power_grad_y_log_y_results;

DEVICE special_log_gamma_p_of_power_grad_y_log_y_results make_special_log_gamma_p_of_power_grad_y_log_y_results(real value, real d_y, real d_log_y)
{
    special_log_gamma_p_of_power_grad_y_log_y_results results;
    results.value = value;
    results.d_y = d_y;
    results.d_log_y = d_log_y;
    return results;
}


typedef struct {
    real value;
    real d_x;
} maxwell_logcdf_grad_x_results;

DEVICE maxwell_logcdf_grad_x_results make_maxwell_logcdf_grad_x_results(real value, real d_x)
{
    maxwell_logcdf_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_chi;
} argus_log_norm_grad_chi_results;

DEVICE argus_log_norm_grad_chi_results make_argus_log_norm_grad_chi_results(real value, real d_chi)
{
    argus_log_norm_grad_chi_results results;
    results.value = value;
    results.d_chi = d_chi;
    return results;
}


typedef struct {
    real value;
    real d_chi;
} argus_logpdf_grad_chi_results;

DEVICE argus_logpdf_grad_chi_results make_argus_logpdf_grad_chi_results(real value, real d_chi)
{
    argus_logpdf_grad_chi_results results;
    results.value = value;
    results.d_chi = d_chi;
    return results;
}


typedef struct {
    real value;
    real d_chi;
} argus_logpdf_checked_grad_chi_results;

DEVICE argus_logpdf_checked_grad_chi_results make_argus_logpdf_checked_grad_chi_results(real value, real d_chi)
{
    argus_logpdf_checked_grad_chi_results results;
    results.value = value;
    results.d_chi = d_chi;
    return results;
}


DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
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

DEVICE real special_log_gamma_1p(real x)
{
    return x <= 1 ? special_log_gamma_near_two(x) - log1p(x) : special_log_gamma(1 + x);
}

DEVICE real special_log_gamma_p_near_zero(real a, real x)
{
    real power = -x;
    real sum = 0;
    int turns = EPSILON < 1e-10 ? 24 : 14;
    for (int k = 1; k < (turns < 24 ? turns : 24); k = int_sum(k, 1)) {  // until the condition fails
        sum += power / (a + k);
        power *= -x / int_sum(k, 1);
    }
    return a * log(x) - special_log_gamma_1p(a) + log1p(a * sum);
}

DEVICE real special_atanh_remainder(real s)
{
    return 0.3333333333333332928 + s * (0.2000000000000729134 + s * (0.1428571428355437858 + s * (0.1111111135871393149 + s * (0.09090894718066429085 + s * (0.07692785032479311552 + s * (0.06657072104827468075 + s * (0.06000536404795356268 + s * (0.04400369243072336941 + s * 0.0808202280597176611))))))));
}

DEVICE real special_gamma_eta(real u)
{
    real r = u / (2 + u);
    return r * sqrt(2 * (2 + u - 2 * r * special_atanh_remainder(r * r)));
}

DEVICE real special_scaled_erfc(real x)
{
    real t = 1 - 7.5 / (x + 3.75);
    real series = 1.237512630837827582 + t * (-0.1402405985855452088 + t * (0.003585415485466306909 + t * (0.08227673848999158997 + t * (-0.108803930141939147 + t * (0.09230432116435615983 + t * (-0.05869339858449184774 + t * (0.02836227737137004573 + t * (-0.009746579620815090139 + t * (0.001755626169227672094 + t * (0.0002937140877722768239 + t * (-0.0002901553656394712841 + t * (5.164737123871837686e-5 + t * (2.238759272534768919e-5 + t * (-1.143961526007594973e-5 + t * (-9.792975290998229177e-7 + t * (1.743857741135918114e-6 + t * (-5.081691181169818825e-8 + t * (-2.499653803740524239e-7 + t * (1.87785011564687965e-8 + t * (3.256499083798512925e-8 + t * (-1.952790162974836892e-9 + t * -2.729394133253385506e-9)))))))))))))))))))));
    return series / (1 + 2 * x);
}

DEVICE real special_log_gamma_tail_near(real a, real u)
{
    real eta = special_gamma_eta(u);
    real s = eta * eta;
    real v = 1 / a;
    real odd = -1.392388722418162066e-13;
    real even = 3.371763262400985379e-13;
    real sum_odd = odd;
    real sum_even = even;
    odd = 1.100439203195613477e-13 + 21 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = -5.027669280114175589e-12 + 20 * v * even;
    sum_even = even + s * sum_even;
    odd = 2.436194802066741624e-11 + 19 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = -5.830772132550425067e-11 + 18 * v * even;
    sum_even = even + s * sum_even;
    odd = -2.551419399494624977e-11 + 17 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = 9.147699582236790234e-10 + 16 * v * even;
    sum_even = even + s * sum_even;
    odd = -4.382036018453353187e-9 + 15 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = 1.026180978424030804e-8 + 14 * v * even;
    sum_even = even + s * sum_even;
    odd = 6.70785354340149858e-9 + 13 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = -1.76659527368260793e-7 + 12 * v * even;
    sum_even = even + s * sum_even;
    odd = 8.296711340953086005e-7 + 11 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = -0.000001854062210715159961 + 10 * v * even;
    sum_even = even + s * sum_even;
    odd = -0.000002185448510679992161 + 9 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = 0.00003919263178522437782 + 8 * v * even;
    sum_even = even + s * sum_even;
    odd = -0.0001787551440329218107 + 7 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = 0.0003527336860670194004 + 6 * v * even;
    sum_even = even + s * sum_even;
    odd = 0.001157407407407407407 + 5 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = -0.01481481481481481481 + 4 * v * even;
    sum_even = even + s * sum_even;
    odd = 0.08333333333333333333 + 3 * v * odd;
    sum_odd = odd + s * sum_odd;
    even = -0.3333333333333333333 + 2 * v * even;
    sum_even = even + s * sum_even;
    real series = (sum_even + eta * sum_odd) / ((1 + v * odd) * sqrt(2 * PI * a));
    real sign = u < 0 ? -1 : 1;
    return log(0.5 * special_scaled_erfc(sign * eta * sqrt(0.5 * a)) + sign * series) - 0.5 * a * s;
}

DEVICE real special_log_gamma_tail_uniform(real a, real x)
{
    return special_log_gamma_tail_near(a, (x - a) / a);
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

DEVICE real special_stirling_error(real x)
{
    if (x >= 3) {
        return special_stirling_series(x);
    }
    real shift = x < 1.5 ? 1 : 0;
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

DEVICE real special_log_gamma_power(real a, real x)
{
    return a * special_log_ratio_excess(x / a, (x - a) / a) - (0.5 * log(a) + HALF_LOG_2PI + special_stirling_error(a));
}

DEVICE real special_gamma_middle(real a)
{
    return a < 1 ? 1.5 : a > 20 ? a : a + sqrt(a);
}

DEVICE real special_gamma_series(real a, real x)
{
    real v = 1 / (a + 1);
    real share = x * v;
    real power = 1;
    real sum = 1;
    real scale = 1;
    int turns = to_int(EPSILON < 1e-10 ? 15 + 10 * sqrt(a) : 9 + 6.6 * sqrt(a));
    for (int k = 0; k < (turns < 60 ? turns : 60); k = int_sum(k, 1)) {  // until the condition fails
        real growth = 1 + k * v;
        power *= share;
        sum = sum * growth + power;
        scale *= growth;
    }
    return sum / scale;
}

DEVICE real special_gamma_fraction(real a, real x)
{
    real v = 1 / x;
    real b = (x - a + 1) * v;
    real above_before = 0;
    real above = 1;
    real below_before = 1;
    real below = b;
    real shape = fmin(a, (real)20);
    real inverse = 1 / (a < 1 ? 1.5 : a + sqrt(a));
    int turns = to_int(EPSILON < 1e-10 ? 5 + 105 * inverse + 0.6 * shape : 4 + 28 * inverse + 0.4 * shape);
    for (int k = 1; k < (turns < 80 ? turns : 80); k = int_sum(k, 1)) {  // until the condition fails
        real weight = k * (a - k) * (v * v);
        real factor = b + int_product(2, k) * v;
        real next_above = factor * above + weight * above_before;
        real next_below = factor * below + weight * below_before;
        above_before = above;
        below_before = below;
        above = next_above;
        below = next_below;
    }
    return a * v * (above / below);
}

DEVICE real special_log_gamma_tail(real a, real x)
{
    if ((a < 1 || a > 20) && THREAD < 65536) {
        if (a < 1 && x < 1.5 && THREAD < 65536) {
            return special_log_gamma_p_near_zero(a, x);
        }
        if (a > 20 && fabs(x - a) < 0.33 * (x + a)) {
            return special_log_gamma_tail_uniform(a, x);
        }
    }
    return special_log_gamma_power(a, x) + log(x < special_gamma_middle(a) && THREAD < 65536 ? special_gamma_series(a, x) : special_gamma_fraction(a, x));
}

DEVICE real special_log_gamma_tail_grad_x(real a, real x, real value)
{
    real slope = a / x * exp(special_log_gamma_power(a, x) - value);
    return x < special_gamma_middle(a) ? slope : -slope;
}

DEVICE special_log_gamma_tail_grad_x__results special_log_gamma_tail_grad_x_(real a, real x)
{
    real found = special_log_gamma_tail(a, x);
    return make_special_log_gamma_tail_grad_x__results(found, special_log_gamma_tail_grad_x(a, x, found));
}

DEVICE special_within_gamma_grad_x_value_results special_within_gamma_grad_x_value(real a, real x, real value, real at_zero, real at_infinity)
{
    return make_special_within_gamma_grad_x_value_results(!(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value, !(a >= 0 && x >= 0) ? NAN : 0, !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? 0 : x == 0 || isinf(a) ? 0 : 1);
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE special_log_gamma_p_grad_x_results special_log_gamma_p_grad_x(real a, real x)
{
    special_log_gamma_tail_grad_x__results call = special_log_gamma_tail_grad_x_(a, x);
    real d_x_tail = call.d_x;
    real tail = call.value;
    real d_x_value = x < special_gamma_middle(a) ? d_x_tail : (tail < -50 ? -exp(tail) : -(1 / expm1(-tail))) * d_x_tail;
    special_within_gamma_grad_x_value_results call2 = special_within_gamma_grad_x_value(a, x, x < special_gamma_middle(a) ? tail : special_log1mexp(tail), -INFINITY, 0);
    return make_special_log_gamma_p_grad_x_results(call2.value, call2.d_x + call2.d_value * d_x_value);
}

DEVICE special_log_gamma_p_of_power_grad_y_log_y_results special_log_gamma_p_of_power_grad_y_log_y(real a, real y, real log_y)
{
    real either;
    real d_y_either;
    real d_log_y_either;
    if (y < EPSILON && THREAD < 65536) {
        either = a * log_y - special_log_gamma_1p(a);
        d_y_either = 0;
        d_log_y_either = a;
    } else {
        special_log_gamma_p_grad_x_results call = special_log_gamma_p_grad_x(a, y);
        either = call.value;
        d_y_either = call.d_x;
        d_log_y_either = 0;
    }
    return make_special_log_gamma_p_of_power_grad_y_log_y_results(either, d_y_either, d_log_y_either);
}

DEVICE maxwell_logcdf_grad_x_results maxwell_logcdf_grad_x(real x, real sigma)
{
    real t = 1 / sigma;
    real z = x * t;
    real d_x_y = z * t;
    real d_x_log_y = 2 * (special_log_slope(z) * t);
    special_log_gamma_p_of_power_grad_y_log_y_results call = special_log_gamma_p_of_power_grad_y_log_y(1.5, 0.5 * z * z, 2 * log(z) - LOG_2);
    return make_maxwell_logcdf_grad_x_results(call.value, isinf(x) ? 0 : call.d_y * d_x_y + call.d_log_y * d_x_log_y);
}

DEVICE argus_log_norm_grad_chi_results argus_log_norm_grad_chi(real chi)
{
    real c = 0.5 * chi * chi;
    real d_chi_term = 0;
    real term = 1;
    real d_chi_sum = 0;
    real sum = 1 / 1.5;
    if (c > 1.5 && THREAD < 65536) {
        maxwell_logcdf_grad_x_results call = maxwell_logcdf_grad_x(chi, 1);
        return make_argus_log_norm_grad_chi_results(call.value - 3 * log(chi), call.d_x - 3 * special_log_slope(chi));
    }
    for (int k = 1; k < 25; k++) {
        real t = -c / k;
        d_chi_term = t * d_chi_term - chi * (1.0 / k) * term;
        term *= t;
        d_chi_sum += d_chi_term * (1 / (k + 1.5));
        sum += term / (k + 1.5);
    }
    return make_argus_log_norm_grad_chi_results(log(sum) - HALF_LOG_2PI, special_log_slope(sum) * d_chi_sum);
}

// argus_logpdf_grad_chi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real c2;
    real chi;
} argus_logpdf_grad_chi_set;

DEVICE argus_logpdf_grad_chi_set argus_logpdf_grad_chi_prepare_set(real chi)
{
    argus_logpdf_grad_chi_set set;
    argus_log_norm_grad_chi_results call = argus_log_norm_grad_chi(chi);
    set.c0 = LOG_2 - HALF_LOG_2PI - call.value;
    set.c1 = 0.5 * chi * chi;
    set.c2 = -call.d_chi;
    set.chi = chi;
    return set;
}

// argus_logpdf_grad_chi: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
    real c1;
    real s;
} argus_logpdf_grad_chi_row;

DEVICE argus_logpdf_grad_chi_row argus_logpdf_grad_chi_prepare_row(real x)
{
    argus_logpdf_grad_chi_row row;
    real s = (1 - x) * (1 + x);
    row.c0 = log(x);
    row.c1 = 0.5 * log(s);
    row.s = s;
    return row;
}

// argus_logpdf_grad_chi: what depends on both, from what was computed ahead.
DEVICE argus_logpdf_grad_chi_results argus_logpdf_grad_chi_evaluate(argus_logpdf_grad_chi_set set, argus_logpdf_grad_chi_row row)
{
    return make_argus_logpdf_grad_chi_results(set.c0 + row.c0 + row.c1 - set.c1 * row.s, set.c2 - set.chi * row.s);
}

// argus_logpdf_checked_grad_chi: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    argus_logpdf_grad_chi_set argus_0;
    real bad_chi;
} argus_logpdf_checked_grad_chi_set;

DEVICE argus_logpdf_checked_grad_chi_set argus_logpdf_checked_grad_chi_prepare_set(real chi)
{
    argus_logpdf_checked_grad_chi_set set;
    real bad_chi = chi > 0 ? 0 : NAN;
    set.argus_0 = argus_logpdf_grad_chi_prepare_set(chi);
    set.bad_chi = bad_chi;
    return set;
}

// argus_logpdf_checked_grad_chi: what depends on the observation alone, computed once for each.
typedef struct {
    argus_logpdf_grad_chi_row argus_0;
    int inside;
    real outside;
    real d_chi_outside;
} argus_logpdf_checked_grad_chi_row;

DEVICE argus_logpdf_checked_grad_chi_row argus_logpdf_checked_grad_chi_prepare_row(real x)
{
    argus_logpdf_checked_grad_chi_row row;
    real d_chi_outside = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x <= 1;
    row.argus_0 = argus_logpdf_grad_chi_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.d_chi_outside = d_chi_outside;
    return row;
}

// argus_logpdf_checked_grad_chi: what depends on both, from what was computed ahead.
DEVICE argus_logpdf_checked_grad_chi_results argus_logpdf_checked_grad_chi_evaluate(argus_logpdf_checked_grad_chi_set set, argus_logpdf_checked_grad_chi_row row)
{
    argus_logpdf_grad_chi_results call = argus_logpdf_grad_chi_evaluate(set.argus_0, row.argus_0);
    real d_chi_value = call.d_chi;
    real value = call.value;
    return make_argus_logpdf_checked_grad_chi_results((row.inside ? value : row.outside) + set.bad_chi, (row.inside ? d_chi_value : row.d_chi_outside) + set.bad_chi);
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
// Here f has several results: value, d_chi are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) argus_logpdf_checked_grad_chi_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT chi_per_set, index_t chi_offset, index_t chi_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    chi_per_set += chi_offset;
    SHARED_ARRAY(double, sums, 2048);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(argus_logpdf_checked_grad_chi_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = argus_logpdf_checked_grad_chi_prepare_set(chi_per_set[(first_set + MIN(k, sets_here - 1)) * chi_stride]);
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
                    const argus_logpdf_checked_grad_chi_row row = argus_logpdf_checked_grad_chi_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const argus_logpdf_checked_grad_chi_results result = argus_logpdf_checked_grad_chi_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_chi;
                    }
                }
                {
                    const argus_logpdf_checked_grad_chi_row row = argus_logpdf_checked_grad_chi_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const argus_logpdf_checked_grad_chi_results result = argus_logpdf_checked_grad_chi_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_chi;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const argus_logpdf_checked_grad_chi_row row = argus_logpdf_checked_grad_chi_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const argus_logpdf_checked_grad_chi_results result = argus_logpdf_checked_grad_chi_evaluate(sets[k], row);
                        total[k * 2 + 0] += result.value;
                        total[k * 2 + 1] += result.d_chi;
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










