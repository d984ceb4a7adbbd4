// The table kernel of kolmogorov_smirnov, made by `gpustats generate`. Do not edit.
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
// Too large to be inlined: compiling would take too long.
#define LARGE static __device__ __noinline__

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

DEVICE real kolmogorov_smirnov_one_sided_few()
{
    return EPSILON < 1e-10 ? 5 : 2;
}

DEVICE real special_minus_sine(real x)
{
    real s = x * x;
    real series = 1;
    if (!(x < 2)) {
        return x - sin(x);
    }
    for (int k = 14; k > 1; k--) {
        series = 1 - s / int_product(int_product(2, k), int_sum(int_product(2, k), 1)) * series;
    }
    return x * s / 6 * series;
}

DEVICE real kolmogorov_smirnov_few()
{
    return 5.5;
}

// kolmogorov_smirnov_one_sided: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real n;
} kolmogorov_smirnov_one_sided_set;

DEVICE kolmogorov_smirnov_one_sided_set kolmogorov_smirnov_one_sided_prepare_set(real n)
{
    kolmogorov_smirnov_one_sided_set set;
    set.c0 = n > 1;
    set.n = n;
    return set;
}

// kolmogorov_smirnov_one_sided: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
} kolmogorov_smirnov_one_sided_row;

DEVICE kolmogorov_smirnov_one_sided_row kolmogorov_smirnov_one_sided_prepare_row(real x)
{
    kolmogorov_smirnov_one_sided_row row;
    row.c0 = x >= 0.5;
    row.x = x;
    return row;
}

// kolmogorov_smirnov_one_sided: what depends on both, from what was computed ahead.
DEVICE int kolmogorov_smirnov_one_sided_evaluate(kolmogorov_smirnov_one_sided_set set, kolmogorov_smirnov_one_sided_row row)
{
    return row.c0 && set.c0 || set.n * row.x * row.x > 4.6;
}

// kolmogorov_smirnov_one_sided_is_alone: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
} kolmogorov_smirnov_one_sided_is_alone_set;

DEVICE kolmogorov_smirnov_one_sided_is_alone_set kolmogorov_smirnov_one_sided_is_alone_prepare_set(real n)
{
    kolmogorov_smirnov_one_sided_is_alone_set set;
    set.n = n;
    return set;
}

// kolmogorov_smirnov_one_sided_is_alone: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
} kolmogorov_smirnov_one_sided_is_alone_row;

DEVICE kolmogorov_smirnov_one_sided_is_alone_row kolmogorov_smirnov_one_sided_is_alone_prepare_row(real x)
{
    kolmogorov_smirnov_one_sided_is_alone_row row;
    row.c0 = 1 - x;
    return row;
}

// kolmogorov_smirnov_one_sided_is_alone: what depends on both, from what was computed ahead.
DEVICE int kolmogorov_smirnov_one_sided_is_alone_evaluate(kolmogorov_smirnov_one_sided_is_alone_set set, kolmogorov_smirnov_one_sided_is_alone_row row)
{
    return set.n * row.c0 <= 1;
}

// kolmogorov_smirnov_one_sided_sum_below: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    int slope;
} kolmogorov_smirnov_one_sided_sum_below_sms_set;

DEVICE kolmogorov_smirnov_one_sided_sum_below_sms_set kolmogorov_smirnov_one_sided_sum_below_sms_prepare_set(real n, int slope)
{
    kolmogorov_smirnov_one_sided_sum_below_sms_set set;
    set.n = n;
    set.slope = slope;
    return set;
}

// kolmogorov_smirnov_one_sided_sum_below: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_one_sided_sum_below_sms_evaluate(kolmogorov_smirnov_one_sided_sum_below_sms_set set, real d)
{
    real sum = 0;
    real binomial = 1;
    for (int k = 0; k < 5 && k < d && k < set.n && THREAD < 65536; k++) {
        real power = k == 0 ? 1 : pow((d - k) / set.n, (real)k - 1);
        real rest = 1 + (d - k) / set.n;
        real factor = binomial * power * exp((set.n - k - 2) * log1p((d - k) / set.n));
        real gap = k == 0 ? 1 : (d - k) / set.n;
        real x = d / set.n;
        sum += set.slope ? factor * (gap * rest + x * gap * (set.n - k - 1) + x * rest * k) : factor * gap * rest * x;
        binomial *= -(set.n - k) / int_sum(k, 1);
    }
    return sum;
}

// kolmogorov_smirnov_one_sided_log_binomial: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real c0;
} kolmogorov_smirnov_one_sided_log_binomial_smm_set;

DEVICE kolmogorov_smirnov_one_sided_log_binomial_smm_set kolmogorov_smirnov_one_sided_log_binomial_smm_prepare_set(real n)
{
    kolmogorov_smirnov_one_sided_log_binomial_smm_set set;
    set.n = n;
    set.c0 = special_stirling_error(n);
    return set;
}

// kolmogorov_smirnov_one_sided_log_binomial: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_one_sided_log_binomial_smm_evaluate(kolmogorov_smirnov_one_sided_log_binomial_smm_set set, real j, real d)
{
    real k = set.n - j;
    if (j == 0) {
        return set.n * log1p(-d / set.n);
    }
    real errors = set.c0 - special_stirling_error(j) - special_stirling_error(k);
    return errors + 0.5 * log(set.n / (j * k)) - HALF_LOG_2PI + j * special_log1pmx(d / j) + k * special_log1pmx(-d / k);
}

// kolmogorov_smirnov_one_sided_log_above: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    kolmogorov_smirnov_one_sided_log_binomial_smm_set kolmogorov_smirnov_one_sided_0;
    int slope;
    real n;
} kolmogorov_smirnov_one_sided_log_above_sms_set;

DEVICE kolmogorov_smirnov_one_sided_log_above_sms_set kolmogorov_smirnov_one_sided_log_above_sms_prepare_set(real n, int slope)
{
    kolmogorov_smirnov_one_sided_log_above_sms_set set;
    set.kolmogorov_smirnov_one_sided_0 = kolmogorov_smirnov_one_sided_log_binomial_smm_prepare_set(n);
    set.slope = slope;
    set.n = n;
    return set;
}

// kolmogorov_smirnov_one_sided_log_above: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_one_sided_log_above_sms_evaluate(kolmogorov_smirnov_one_sided_log_above_sms_set set, real d)
{
    real sum = 0;
    real largest = -INFINITY;
    for (int j = 0; j < set.n - d; j = int_sum(j, 1)) {  // until the condition fails
        real log_term = kolmogorov_smirnov_one_sided_log_binomial_smm_evaluate(set.kolmogorov_smirnov_one_sided_0, j, d);
        real before = largest;
        real weight = d / (d + j);
        largest = fmax(before, log_term);
        sum = sum * exp(before - largest) + weight * (set.slope ? set.n * (d / (set.n - j - d) + (1 + d) / (j + d) - 1 / d) : 1) * exp(log_term - largest);
    }
    return largest + log(sum);
}

// kolmogorov_smirnov_one_sided_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    int c0;
    real c1;
    real c2;
    kolmogorov_smirnov_one_sided_is_alone_set kolmogorov_smirnov_one_sided_is_alone_0;
    kolmogorov_smirnov_one_sided_sum_below_sms_set kolmogorov_smirnov_one_sided_sum_below_0;
    kolmogorov_smirnov_one_sided_log_above_sms_set kolmogorov_smirnov_one_sided_0;
} kolmogorov_smirnov_one_sided_logpdf_set;

DEVICE kolmogorov_smirnov_one_sided_logpdf_set kolmogorov_smirnov_one_sided_logpdf_prepare_set(real n)
{
    kolmogorov_smirnov_one_sided_logpdf_set set;
    set.n = n;
    set.c0 = n == 1;
    set.c1 = log(n);
    set.c2 = n - 1;
    set.kolmogorov_smirnov_one_sided_is_alone_0 = kolmogorov_smirnov_one_sided_is_alone_prepare_set(n);
    set.kolmogorov_smirnov_one_sided_sum_below_0 = kolmogorov_smirnov_one_sided_sum_below_sms_prepare_set(n, 1);
    set.kolmogorov_smirnov_one_sided_0 = kolmogorov_smirnov_one_sided_log_above_sms_prepare_set(n, 1);
    return set;
}

// kolmogorov_smirnov_one_sided_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    int c0;
    real c1;
    kolmogorov_smirnov_one_sided_is_alone_row kolmogorov_smirnov_one_sided_is_alone_0;
    int c2;
} kolmogorov_smirnov_one_sided_logpdf_row;

DEVICE kolmogorov_smirnov_one_sided_logpdf_row kolmogorov_smirnov_one_sided_logpdf_prepare_row(real x)
{
    kolmogorov_smirnov_one_sided_logpdf_row row;
    row.x = x;
    row.c0 = x == 0;
    row.c1 = log1p(-x);
    row.kolmogorov_smirnov_one_sided_is_alone_0 = kolmogorov_smirnov_one_sided_is_alone_prepare_row(x);
    row.c2 = x < 0.5;
    return row;
}

// kolmogorov_smirnov_one_sided_logpdf: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_one_sided_logpdf_evaluate(kolmogorov_smirnov_one_sided_logpdf_set set, kolmogorov_smirnov_one_sided_logpdf_row row)
{
    real d = set.n * row.x;
    if (set.c0 || row.c0) {
        return 0;
    }
    if (kolmogorov_smirnov_one_sided_is_alone_evaluate(set.kolmogorov_smirnov_one_sided_is_alone_0, row.kolmogorov_smirnov_one_sided_is_alone_0)) {
        return set.c1 + set.c2 * row.c1;
    }
    return d < kolmogorov_smirnov_one_sided_few() && row.c2 && THREAD < 65536 ? log(kolmogorov_smirnov_one_sided_sum_below_sms_evaluate(set.kolmogorov_smirnov_one_sided_sum_below_0, d)) : kolmogorov_smirnov_one_sided_log_above_sms_evaluate(set.kolmogorov_smirnov_one_sided_0, d);
}

// kolmogorov_smirnov_log_of_two: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    real c2;
    int slope;
    real c3;
} kolmogorov_smirnov_log_of_two_smms_set;

DEVICE kolmogorov_smirnov_log_of_two_smms_set kolmogorov_smirnov_log_of_two_smms_prepare_set(int slope, real n)
{
    kolmogorov_smirnov_log_of_two_smms_set set;
    set.c0 = n > 2;
    set.c1 = n - 2;
    set.c2 = n - 1;
    set.slope = slope;
    set.c3 = 0.5 * log(n) + HALF_LOG_2PI + special_stirling_error(n) - n;
    return set;
}

// kolmogorov_smirnov_log_of_two: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_log_of_two_smms_evaluate(kolmogorov_smirnov_log_of_two_smms_set set, real rest, real d)
{
    real g = fmax(rest - 1, (real)0);
    real e = fmax(d - 1, (real)0);
    real whole = sqrt(rest * rest - 2 * g * g);
    real r = 0.5 * (rest + whole);
    real s = 0.5 * g * g / r;
    real power = set.c0 ? pow(s / r, set.c1) / r : 0;
    real size = (r - e) * (r - e) - power * s * (s - e) * (s - e);
    real gap = r - s;
    real value = size / gap;
    if (set.slope) {
        real dr = 1 + (rest - 2 * g) / whole;
        real ds = (2 * g - s * dr) / r;
        real de = d > 1 ? 1 : 0;
        real change = (r - e) * (set.c2 * dr * (r - e) / r + 2 * (dr - de)) - power * (s - e) * (set.c2 * ds * (s - e) + 2 * s * (ds - de));
        value = (change - value * (dr - ds)) / gap;
    }
    return set.c3 + set.c2 * log(r) + log(value);
}

// kolmogorov_smirnov_real_gap: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_real_gap_m_evaluate(real b)
{
    real s = b * b;
    real fraction = 25;
    if (b > 1.5) {
        return 1 - b * cos(b) / sin(b);
    }
    for (int k = 23; k > 1; k -= 2) {
        fraction = k - s / fraction;
    }
    return s / fraction;
}

// kolmogorov_smirnov_log_root: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_log_root_m_evaluate(real b)
{
    return kolmogorov_smirnov_real_gap_m_evaluate(b) - log1p(-special_minus_sine(b) / b);
}

// kolmogorov_smirnov_pair: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real size;
    int c0;
    int c1;
    int c2;
    int c3;
} kolmogorov_smirnov_pair_smmms_set;

DEVICE kolmogorov_smirnov_pair_smmms_set kolmogorov_smirnov_pair_smmms_prepare_set(int what, real log_size)
{
    kolmogorov_smirnov_pair_smmms_set set;
    real size = 2 * exp(log_size);
    set.size = size;
    set.c0 = what == 0;
    set.c1 = what == 3;
    set.c2 = what == 1;
    set.c3 = what == 2;
    return set;
}

// kolmogorov_smirnov_pair: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_pair_smmms_evaluate(kolmogorov_smirnov_pair_smmms_set set, real x, real gap, real b)
{
    real square = gap * gap + b * b;
    real s = gap / square;
    real t = b / square;
    real angle = b * x;
    real u = cos(angle);
    real v = -sin(angle);
    real re = s * u - t * v;
    real im = s * v + t * u;
    if (set.c0) {
        return set.size * re;
    }
    real a = 1 - gap;
    real p = s - 1;
    real q = t;
    if (set.c1) {
        return -set.size * (a * re - b * im);
    }
    real y = s - x;
    real c = p * y - q * t;
    real d = p * t + q * y;
    if (set.c2) {
        return set.size * (c * re - d * im);
    }
    if (set.c3) {
        real g = s + 2 * (p * s - q * t) - x * p;
        real h = t + 2 * (p * t + q * s) - x * q;
        real ss = s * s - t * t;
        real st = 2 * s * t;
        real k = y * g - t * h + p * ss - q * st;
        real l = y * h + t * g + p * st + q * ss;
        real m = p * k - q * l;
        real o = p * l + q * k;
        return set.size * (m * re - o * im);
    }
    real e = p + a * c - b * d;
    real f = q + a * d + b * c;
    return -set.size * (e * re - f * im);
}

// kolmogorov_smirnov_pair: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    int c1;
    int c2;
    int c3;
} kolmogorov_smirnov_pair_smmmm_set;

DEVICE kolmogorov_smirnov_pair_smmmm_set kolmogorov_smirnov_pair_smmmm_prepare_set(int what)
{
    kolmogorov_smirnov_pair_smmmm_set set;
    set.c0 = what == 0;
    set.c1 = what == 3;
    set.c2 = what == 1;
    set.c3 = what == 2;
    return set;
}

// kolmogorov_smirnov_pair: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_pair_smmmm_evaluate(kolmogorov_smirnov_pair_smmmm_set set, real x, real gap, real b, real log_size)
{
    real square = gap * gap + b * b;
    real s = gap / square;
    real t = b / square;
    real size = 2 * exp(log_size);
    real angle = b * x;
    real u = cos(angle);
    real v = -sin(angle);
    real re = s * u - t * v;
    real im = s * v + t * u;
    if (set.c0) {
        return size * re;
    }
    real a = 1 - gap;
    real p = s - 1;
    real q = t;
    if (set.c1) {
        return -size * (a * re - b * im);
    }
    real y = s - x;
    real c = p * y - q * t;
    real d = p * t + q * y;
    if (set.c2) {
        return size * (c * re - d * im);
    }
    if (set.c3) {
        real g = s + 2 * (p * s - q * t) - x * p;
        real h = t + 2 * (p * t + q * s) - x * q;
        real ss = s * s - t * t;
        real st = 2 * s * t;
        real k = y * g - t * h + p * ss - q * st;
        real l = y * h + t * g + p * st + q * ss;
        real m = p * k - q * l;
        real o = p * l + q * k;
        return size * (m * re - o * im);
    }
    real e = p + a * c - b * d;
    real f = q + a * d + b * c;
    return -size * (e * re - f * im);
}

// kolmogorov_smirnov_sum_of: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    int c1;
    int c2;
    int c3;
    kolmogorov_smirnov_pair_smmms_set kolmogorov_smirnov_pair_0;
    kolmogorov_smirnov_pair_smmmm_set kolmogorov_smirnov_pair_1;
} kolmogorov_smirnov_sum_of_smm_set;

DEVICE kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_smm_prepare_set(int what)
{
    kolmogorov_smirnov_sum_of_smm_set set;
    set.c0 = what == 0;
    set.c1 = what == 1;
    set.c2 = what == 2;
    set.c3 = what == 3;
    set.kolmogorov_smirnov_pair_0 = kolmogorov_smirnov_pair_smmms_prepare_set(what, 0);
    set.kolmogorov_smirnov_pair_1 = kolmogorov_smirnov_pair_smmmm_prepare_set(what);
    return set;
}

// kolmogorov_smirnov_sum_of: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_sum_of_smm_evaluate(kolmogorov_smirnov_sum_of_smm_set set, real x, real b)
{
    real gap = kolmogorov_smirnov_real_gap_m_evaluate(b);
    real log_w = kolmogorov_smirnov_log_root_m_evaluate(b) - 1;
    if (x < kolmogorov_smirnov_few()) {
        real sum = 0;
        for (int j = 0; j < 6 && j < x && THREAD < 65536; j++) {
            real term = 1;
            for (int i = 1; i < 6 && i <= j && THREAD < 65536; i++) {
                term *= -exp(log_w) * (x - j) / i;
            }
            sum += set.c0 ? term : set.c1 ? j * term : set.c2 ? int_product(j, j) * term : (set.c3 ? j : int_product(j, j)) / (x - j) * term;
        }
        return exp((1 - gap) * x) * sum;
    }
    real sum_2 = kolmogorov_smirnov_pair_smmms_evaluate(set.kolmogorov_smirnov_pair_0, x, gap, b);
    real size = 1;
    for (int k = 1; k < 300 && size > 0.01 * EPSILON && THREAD < 65536; k++) {
        real re = log(2 * PI * k) - log_w;
        real im = 2 * PI * k + 0.5 * PI;
        for (int i_2 = 0; i_2 < 5; i_2++) {
            real f = re - 0.5 * log(re * re + im * im) + log_w;
            real g = im - atan2(im, re) - 2 * PI * k;
            real square = (re - 1) * (re - 1) + im * im;
            real p = 1 + (re - 1) / square;
            real q = -im / square;
            re -= f * p - g * q;
            im -= f * q + g * p;
        }
        real log_size = (1 - gap - re) * x;
        size = exp(log_size);
        sum_2 += kolmogorov_smirnov_pair_smmmm_evaluate(set.kolmogorov_smirnov_pair_1, x, 1 - re, im, log_size);
    }
    return sum_2;
}

// kolmogorov_smirnov_root: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_0;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_1;
} kolmogorov_smirnov_root_mm_set;

DEVICE kolmogorov_smirnov_root_mm_set kolmogorov_smirnov_root_mm_prepare_set()
{
    kolmogorov_smirnov_root_mm_set set;
    set.kolmogorov_smirnov_sum_of_0 = kolmogorov_smirnov_sum_of_smm_prepare_set(0);
    set.kolmogorov_smirnov_sum_of_1 = kolmogorov_smirnov_sum_of_smm_prepare_set(1);
    return set;
}

// kolmogorov_smirnov_root: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_root_mm_evaluate(kolmogorov_smirnov_root_mm_set set, int m, real x)
{
    real b = m * PI / (x + 0.33333333333333333);
    real low = b - PI / (x + 0.33333333333333333);
    real step = 0;
    for (int i = 0; i < 8; i++) {
        real gap = kolmogorov_smirnov_real_gap_m_evaluate(b);
        step = kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_0, x, b) / kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_1, x, b) * b / (gap * gap + b * b);
        b -= step;
    }
    return b > low && b < PI && fabs(step) < 1e-4 ? b : NAN;
}

// kolmogorov_smirnov_log_of_roots: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    kolmogorov_smirnov_root_mm_set kolmogorov_smirnov_root_0;
    real n;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_0;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_1;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_2;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_3;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_4;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_5;
    kolmogorov_smirnov_sum_of_smm_set kolmogorov_smirnov_sum_of_6;
    int slope;
    real c0;
} kolmogorov_smirnov_log_of_roots_sms_set;

DEVICE kolmogorov_smirnov_log_of_roots_sms_set kolmogorov_smirnov_log_of_roots_sms_prepare_set(int slope, real n)
{
    kolmogorov_smirnov_log_of_roots_sms_set set;
    set.kolmogorov_smirnov_root_0 = kolmogorov_smirnov_root_mm_prepare_set();
    set.n = n;
    set.kolmogorov_smirnov_sum_of_0 = kolmogorov_smirnov_sum_of_smm_prepare_set(0);
    set.kolmogorov_smirnov_sum_of_1 = kolmogorov_smirnov_sum_of_smm_prepare_set(1);
    set.kolmogorov_smirnov_sum_of_2 = kolmogorov_smirnov_sum_of_smm_prepare_set(3);
    set.kolmogorov_smirnov_sum_of_3 = kolmogorov_smirnov_sum_of_smm_prepare_set(3);
    set.kolmogorov_smirnov_sum_of_4 = kolmogorov_smirnov_sum_of_smm_prepare_set(1);
    set.kolmogorov_smirnov_sum_of_5 = kolmogorov_smirnov_sum_of_smm_prepare_set(4);
    set.kolmogorov_smirnov_sum_of_6 = kolmogorov_smirnov_sum_of_smm_prepare_set(2);
    set.slope = slope;
    set.c0 = 0.5 * log(n) + HALF_LOG_2PI + special_stirling_error(n);
    return set;
}

// kolmogorov_smirnov_log_of_roots: what depends on both, from what was computed ahead.
LARGE real kolmogorov_smirnov_log_of_roots_sms_evaluate(kolmogorov_smirnov_log_of_roots_sms_set set, real d)
{
    real first = 0;
    real sum = 0;
    real share = 1;
    for (int m = 1; m < 16 && m < 2 * d && share > 0.01 * EPSILON && THREAD < 65536; m++) {
        real b = kolmogorov_smirnov_root_mm_evaluate(set.kolmogorov_smirnov_root_0, m, 2 * d);
        real level = kolmogorov_smirnov_log_root_m_evaluate(b);
        first = m == 1 ? level : first;
        share = isnan(b) ? 0 : exp(-set.n * (level - first));
        real below = kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_0, d, b);
        real change = kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_1, 2 * d, b);
        real term = -share * below * below / change;
        if (set.slope) {
            real moved = -2 * kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_2, 2 * d, b) / change;
            term *= 2 * (kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_3, d, b) + moved * kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_4, d, b)) / below - (2 * kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_5, 2 * d, b) + moved * kolmogorov_smirnov_sum_of_smm_evaluate(set.kolmogorov_smirnov_sum_of_6, 2 * d, b)) / change - set.n * moved;
        }
        sum += share > 0 ? term : 0;
    }
    return set.c0 - set.n * first + log(sum);
}

// kolmogorov_smirnov_log_inside: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    kolmogorov_smirnov_log_of_two_smms_set kolmogorov_smirnov_0;
    kolmogorov_smirnov_log_of_roots_sms_set kolmogorov_smirnov_1;
} kolmogorov_smirnov_log_inside_srs_set;

DEVICE kolmogorov_smirnov_log_inside_srs_set kolmogorov_smirnov_log_inside_srs_prepare_set(int slope, real n)
{
    kolmogorov_smirnov_log_inside_srs_set set;
    set.n = n;
    set.kolmogorov_smirnov_0 = kolmogorov_smirnov_log_of_two_smms_prepare_set(slope, n);
    set.kolmogorov_smirnov_1 = kolmogorov_smirnov_log_of_roots_sms_prepare_set(slope, n);
    return set;
}

// kolmogorov_smirnov_log_inside: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} kolmogorov_smirnov_log_inside_srs_row;

DEVICE kolmogorov_smirnov_log_inside_srs_row kolmogorov_smirnov_log_inside_srs_prepare_row(real x)
{
    kolmogorov_smirnov_log_inside_srs_row row;
    row.x = x;
    return row;
}

// kolmogorov_smirnov_log_inside: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_log_inside_srs_evaluate(kolmogorov_smirnov_log_inside_srs_set set, kolmogorov_smirnov_log_inside_srs_row row)
{
    real d = set.n * row.x;
    real rest = 2 * fma(set.n, row.x, (real)-0.5);
    return rest <= 0 ? -INFINITY : d <= 1.5 ? kolmogorov_smirnov_log_of_two_smms_evaluate(set.kolmogorov_smirnov_0, rest, d) : kolmogorov_smirnov_log_of_roots_sms_evaluate(set.kolmogorov_smirnov_1, d);
}

// kolmogorov_smirnov_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    kolmogorov_smirnov_one_sided_set kolmogorov_smirnov_one_sided_0;
    kolmogorov_smirnov_one_sided_logpdf_set kolmogorov_smirnov_one_sided_1;
    real c0;
    kolmogorov_smirnov_log_inside_srs_set kolmogorov_smirnov_0;
} kolmogorov_smirnov_logpdf_set;

DEVICE kolmogorov_smirnov_logpdf_set kolmogorov_smirnov_logpdf_prepare_set(real n)
{
    kolmogorov_smirnov_logpdf_set set;
    set.kolmogorov_smirnov_one_sided_0 = kolmogorov_smirnov_one_sided_prepare_set(n);
    set.kolmogorov_smirnov_one_sided_1 = kolmogorov_smirnov_one_sided_logpdf_prepare_set(n);
    set.c0 = log(n);
    set.kolmogorov_smirnov_0 = kolmogorov_smirnov_log_inside_srs_prepare_set(1, n);
    return set;
}

// kolmogorov_smirnov_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    kolmogorov_smirnov_one_sided_row kolmogorov_smirnov_one_sided_0;
    kolmogorov_smirnov_one_sided_logpdf_row kolmogorov_smirnov_one_sided_1;
    kolmogorov_smirnov_log_inside_srs_row kolmogorov_smirnov_0;
} kolmogorov_smirnov_logpdf_row;

DEVICE kolmogorov_smirnov_logpdf_row kolmogorov_smirnov_logpdf_prepare_row(real x)
{
    kolmogorov_smirnov_logpdf_row row;
    row.kolmogorov_smirnov_one_sided_0 = kolmogorov_smirnov_one_sided_prepare_row(x);
    row.kolmogorov_smirnov_one_sided_1 = kolmogorov_smirnov_one_sided_logpdf_prepare_row(x);
    row.kolmogorov_smirnov_0 = kolmogorov_smirnov_log_inside_srs_prepare_row(x);
    return row;
}

// kolmogorov_smirnov_logpdf: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_logpdf_evaluate(kolmogorov_smirnov_logpdf_set set, kolmogorov_smirnov_logpdf_row row)
{
    return kolmogorov_smirnov_one_sided_evaluate(set.kolmogorov_smirnov_one_sided_0, row.kolmogorov_smirnov_one_sided_0) && THREAD < 65536 ? LOG_2 + kolmogorov_smirnov_one_sided_logpdf_evaluate(set.kolmogorov_smirnov_one_sided_1, row.kolmogorov_smirnov_one_sided_1) : set.c0 + kolmogorov_smirnov_log_inside_srs_evaluate(set.kolmogorov_smirnov_0, row.kolmogorov_smirnov_0);
}

// kolmogorov_smirnov_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    kolmogorov_smirnov_logpdf_set kolmogorov_smirnov_0;
    real bad_n;
} kolmogorov_smirnov_logpdf_checked_set;

DEVICE kolmogorov_smirnov_logpdf_checked_set kolmogorov_smirnov_logpdf_checked_prepare_set(real n)
{
    kolmogorov_smirnov_logpdf_checked_set set;
    real bad_n = n > 0 && n == floor(n) && fabs(n) < INFINITY ? 0 : NAN;
    set.c0 = !(bad_n == 0);
    set.kolmogorov_smirnov_0 = kolmogorov_smirnov_logpdf_prepare_set(n);
    set.bad_n = bad_n;
    return set;
}

// kolmogorov_smirnov_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    kolmogorov_smirnov_logpdf_row kolmogorov_smirnov_0;
    int inside;
    real outside;
} kolmogorov_smirnov_logpdf_checked_row;

DEVICE kolmogorov_smirnov_logpdf_checked_row kolmogorov_smirnov_logpdf_checked_prepare_row(real x)
{
    kolmogorov_smirnov_logpdf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x <= 1;
    row.kolmogorov_smirnov_0 = kolmogorov_smirnov_logpdf_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// kolmogorov_smirnov_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real kolmogorov_smirnov_logpdf_checked_evaluate(kolmogorov_smirnov_logpdf_checked_set set, kolmogorov_smirnov_logpdf_checked_row row)
{
    if (set.c0) {
        return NAN;
    }
    real value = kolmogorov_smirnov_logpdf_evaluate(set.kolmogorov_smirnov_0, row.kolmogorov_smirnov_0);
    return (row.inside || value != value ? value : row.outside) + set.bad_n;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) kolmogorov_smirnov_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT n_per_set, index_t n_offset, index_t n_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    n_per_set += n_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(kolmogorov_smirnov_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = kolmogorov_smirnov_logpdf_checked_prepare_set(n_per_set[(first_set + k) * n_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    kolmogorov_smirnov_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(kolmogorov_smirnov_logpdf_checked_row, rows, 128);

    for (index_t first = BLOCK_Y * 128; first < n_rows; first += BLOCKS_Y * 128) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)128);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = kolmogorov_smirnov_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_0.slope || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.slope || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_root_0.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_0.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_1.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_2.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_3.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_4.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_5.kolmogorov_smirnov_pair_1.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_0.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_0.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_0.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_0.c3 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_1.c0 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_1.c1 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_1.c2 || set[0].kolmogorov_smirnov_0.kolmogorov_smirnov_0.kolmogorov_smirnov_1.kolmogorov_smirnov_sum_of_6.kolmogorov_smirnov_pair_1.c3)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const kolmogorov_smirnov_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, kolmogorov_smirnov_logpdf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const kolmogorov_smirnov_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, kolmogorov_smirnov_logpdf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


