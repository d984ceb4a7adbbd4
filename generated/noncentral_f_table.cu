// The table kernel of noncentral_f, made by `gpustats generate`. Do not edit.
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

DEVICE real special_within_range(real y)
{
    real e = 1 / EPSILON;
    real e3 = e * e * e;
    real most = EPSILON < 1e-10 ? e3 * e3 * e3 : e3;
    return fmin(fmax(y, 1 / most), most);
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

DEVICE real special_legendre_weight(int k)
{
    int i = k / 2;
    return i == 0 ? 0.36268378337836198297 : i == 1 ? 0.31370664587788728734 : i == 2 ? 0.22238103445337447054 : 0.10122853629037625915;
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

DEVICE real special_legendre_node(int k)
{
    int i = k / 2;
    real node = i == 0 ? 0.18343464249564980494 : i == 1 ? 0.52553240991632898582 : i == 2 ? 0.79666647741362673959 : 0.96028985649753623168;
    return k == int_product(2, i) ? node : -node;
}

DEVICE real special_log_gamma_1p(real x)
{
    return x <= 1 ? special_log_gamma_near_two(x) - log1p(x) : special_log_gamma(1 + x);
}

DEVICE real special_log_rising(real x, real n)
{
    if (n > 0.5 * (1 + x)) {
        return special_log_gamma(x + n) - special_log_gamma(x);
    }
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += special_legendre_weight(k) * special_digamma(1 + x + 0.5 * n * (1 + special_legendre_node(k)));
    }
    return 0.5 * n * sum - log1p(n / x);
}

DEVICE real special_beta_gap(real a, real b, real x, real y)
{
    real n = a + b;
    real rest = fmin(a, b) - (n - fmax(a, b));
    return x < y ? fma(-x, n, a) - x * rest : fma(y, n, -b) + y * rest;
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

DEVICE real special_stirling_error(real x)
{
    if (x >= 3) {
        return special_stirling_series(x);
    }
    real shift = x < 1.5 ? 1 : 0;
    return special_log_gamma_near_two(x - 2 + shift) - (x - 0.5 + shift) * log(x) + (x - HALF_LOG_2PI);
}

DEVICE int special_beta_needs_series(real a, real b)
{
    real smaller = fmin(a, b);
    return smaller < 0.5 || smaller < 1.5 && fmax(a, b) > 5;
}

DEVICE int special_beta_from_below(real a, real b, real x, real y)
{
    int series = special_beta_needs_series(a, b);
    int below = series && x <= 0.5 && b * x < 1.5;
    int above = series && y <= 0.5 && a * y < 1.5;
    return below || !above && b * x <= a * y;
}

DEVICE real special_beta_series(real a, real b, real x)
{
    real power = 1;
    real sum = 0;
    real rate = -log(x);
    real shape = fmin(b, (real)3);
    int turns = to_int(EPSILON < 1e-10 ? 8 + 6 * shape + 40 / rate : 6 + 3 * shape + 18 / rate);
    for (int k = 1; k < (turns < 100 ? turns : 100); k = int_sum(k, 1)) {  // until the condition fails
        power *= (k - b) * x * ((real)1 / k);
        sum += power / (a + k);
    }
    return a * sum;
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
}

DEVICE real special_beta_integral(real a, real b, real x, real y)
{
    real slope = special_beta_gap(a, b, x, y) / (x * y);
    real width = special_panel_width(slope, sqrt(x * y / (a + b)));
    real sum = 0;
    real last = 1;
    for (int panel = 0; panel < 16 && last > 0.01 * EPSILON && THREAD < 65536; panel++) {
        for (int k = 0; k < 8; k++) {
            real d = width * (panel + 0.5 * (1 + special_legendre_node(k)));
            real density = exp(a * special_log_excess(0, -d / x) + b * special_log_excess(0, d / y) - slope * d) / ((x - d) * (y + d));
            sum += special_legendre_weight(k) * density;
            last = density * (x * y);
        }
    }
    return 0.5 * width * sum;
}

DEVICE real special_beta_fraction(real a, real b, real x, real y, int turns)
{
    real gap = special_beta_gap(a, b, x, y);
    real scale = 1 / (1 + gap + turns);
    real inverse = 1 / (a + 1);
    real above_before = 0;
    real above = 1;
    real below_before = 1;
    real below = a * (gap + 1) * inverse * scale;
    for (int k = 1; k < (turns < 180 ? turns : 180); k = int_sum(k, 1)) {  // until the condition fails
        real share = k * (b - k) * x * inverse;
        real weight = (a + k - 1) * inverse * ((a + b + k - 1) * x * share) * (scale * scale);
        inverse = 1 / (a + int_product(2, k) + 1);
        real factor = (k + share + (a + k) * (gap + 1 + k * (1 + y)) * inverse) * scale;
        real next_above = factor * above + weight * above_before;
        real next_below = factor * below + weight * below_before;
        above_before = above;
        below_before = below;
        above = next_above;
        below = next_below;
    }
    return scale * (above / below);
}

DEVICE int special_beta_fraction_turns(real a, real b)
{
    real smaller = fmin(a, b);
    real x = fmax(a, b) / (a + b);
    real root = 1 + sqrt(smaller / (a + b));
    real rate = 2 * log(root * root / x);
    real size = sqrt(fmin(smaller, (real)1000));
    real most = 10 + fmin((real)65, 90 / smaller) + (EPSILON < 1e-10 ? 3.1 : 1.8) * size;
    return to_int(fmin(EPSILON < 1e-10 ? 3 + 38 / rate + 1.6 * size : 3 + 18 / rate + 1.2 * size, most));
}

DEVICE real special_within_beta(real a, real b, real x, real y, real value, real at_zero, real at_one)
{
    return !(a >= 0 && b >= 0 && x >= 0 && y >= 0) ? NAN : y == 0 || a == 0 || isinf(b) ? at_one : x == 0 || b == 0 || isinf(a) ? at_zero : value;
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
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

DEVICE real special_within_gamma(real a, real x, real value, real at_zero, real at_infinity)
{
    return !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value;
}

DEVICE real special_log_gamma_p(real a, real x)
{
    real tail = special_log_gamma_tail(a, x);
    return special_within_gamma(a, x, x < special_gamma_middle(a) ? tail : special_log1mexp(tail), -INFINITY, 0);
}

DEVICE real special_log_gamma_q(real a, real x)
{
    real tail = special_log_gamma_tail(a, x);
    return special_within_gamma(a, x, x < special_gamma_middle(a) ? special_log1mexp(tail) : tail, 0, -INFINITY);
}

DEVICE real special_log_poisson(real j, real m)
{
    return j == 0 ? -m : special_log_gamma_power(j, m);
}

DEVICE int special_large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

DEVICE real special_lbeta(real a, real b)
{
    real p = fmin(a, b);
    real q = fmax(a, b);
    return special_stirling_error(p) + (special_stirling_error(q) - special_stirling_error(p + q)) + HALF_LOG_2PI - 0.5 * log(q) - (p - 0.5) * log1p(q / p) - q * log1p(p / q);
}

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

DEVICE real special_log_mixture_density(real m, real a, real y, real s, real first)
{
    real sum = 1;
    real term = 1;
    for (int i = 0; i < 30000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
        real j = first + i;
        term *= m / (j + 1) * ((y + s * j) / (a + j));
        sum += term;
    }
    term = 1;
    for (int i_2 = 0; i_2 < 30000 && i_2 < first && term > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
        real j_2 = first - i_2;
        term *= j_2 / m * ((a + j_2 - 1) / (y + s * (j_2 - 1)));
        sum += term;
    }
    return log(sum);
}

DEVICE int special_mixture_has_stride(real m)
{
    return m > 2000;
}

DEVICE int special_mixture_is_vague(real m)
{
    return sqrt(m) * EPSILON > 0.01;
}

// special_mixture_peak: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real m;
    real a;
    real c1;
} special_mixture_peak_ssmm_set;

DEVICE special_mixture_peak_ssmm_set special_mixture_peak_ssmm_prepare_set(real m, real a)
{
    special_mixture_peak_ssmm_set set;
    set.c0 = a + 1;
    set.m = m;
    set.a = a;
    set.c1 = sqrt(m);
    return set;
}

// special_mixture_peak: what depends on both, from what was computed ahead.
DEVICE real special_mixture_peak_ssmm_evaluate(special_mixture_peak_ssmm_set set, real y, real s)
{
    real b = set.c0 - set.m * s;
    real c = set.m * y - set.a;
    real root = sqrt(fmax(b * b + 4 * c, (real)0));
    if (y > special_within_range(y)) {
        real h = 0.5 * b;
        real g = set.c1 * sqrt(y);
        return floor(g * (g / (h + hypot(h, g))));
    }
    return floor(fmax(b > 0 ? 2 * c / (b + root) : 0.5 * (root - b), (real)0));
}

// special_log_quotient: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real s;
    real c0;
} special_log_quotient_set;

DEVICE special_log_quotient_set special_log_quotient_prepare_set(real s)
{
    special_log_quotient_set set;
    set.s = s;
    set.c0 = log(s);
    return set;
}

// special_log_quotient: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
} special_log_quotient_row;

DEVICE special_log_quotient_row special_log_quotient_prepare_row(real x)
{
    special_log_quotient_row row;
    row.x = x;
    row.c0 = log(x);
    return row;
}

// special_log_quotient: what depends on both, from what was computed ahead.
DEVICE real special_log_quotient_evaluate(special_log_quotient_set set, special_log_quotient_row row)
{
    real value = log(row.x / set.s);
    return fabs(value) < (EPSILON < 1e-10 ? 600 : 60) ? value : row.c0 - set.c0;
}

// noncentral_f_log_beyond: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    special_log_quotient_set special_0;
} noncentral_f_log_beyond_set;

DEVICE noncentral_f_log_beyond_set noncentral_f_log_beyond_prepare_set(real d1, real d2)
{
    noncentral_f_log_beyond_set set;
    set.c0 = d2 / d1;
    set.special_0 = special_log_quotient_prepare_set(d2 / d1);
    return set;
}

// noncentral_f_log_beyond: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    special_log_quotient_row special_0;
} noncentral_f_log_beyond_row;

DEVICE noncentral_f_log_beyond_row noncentral_f_log_beyond_prepare_row(real x)
{
    noncentral_f_log_beyond_row row;
    row.x = x;
    row.special_0 = special_log_quotient_prepare_row(x);
    return row;
}

// noncentral_f_log_beyond: what depends on both, from what was computed ahead.
DEVICE real noncentral_f_log_beyond_evaluate(noncentral_f_log_beyond_set set, noncentral_f_log_beyond_row row)
{
    real z = row.x / set.c0;
    real within = special_within_range(z);
    return z == within ? 0 : special_log_quotient_evaluate(set.special_0, row.special_0) - log(within);
}

// special_log_rising: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real x;
    real c0;
    real c1;
    real c2;
} special_log_rising_sm_set;

DEVICE special_log_rising_sm_set special_log_rising_sm_prepare_set(real x)
{
    special_log_rising_sm_set set;
    set.x = x;
    set.c0 = special_log_gamma(x);
    set.c1 = 0.5 * (1 + x);
    set.c2 = 1 + x;
    return set;
}

// special_log_rising: what depends on both, from what was computed ahead.
DEVICE real special_log_rising_sm_evaluate(special_log_rising_sm_set set, real n)
{
    if (n > set.c1) {
        return special_log_gamma(set.x + n) - set.c0;
    }
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += special_legendre_weight(k) * special_digamma(set.c2 + 0.5 * n * (1 + special_legendre_node(k)));
    }
    return 0.5 * n * sum - log1p(n / set.x);
}

// special_log_beta_scale: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_rising_sm_set special_0;
} special_log_beta_scale_ms_set;

DEVICE special_log_beta_scale_ms_set special_log_beta_scale_ms_prepare_set(real b)
{
    special_log_beta_scale_ms_set set;
    set.special_0 = special_log_rising_sm_prepare_set(b);
    return set;
}

// special_log_beta_scale: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_scale_ms_evaluate(special_log_beta_scale_ms_set set, real a)
{
    return special_log_gamma_1p(a) - special_log_rising_sm_evaluate(set.special_0, a);
}

// special_log_beta_scale: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real a;
} special_log_beta_scale_sm_set;

DEVICE special_log_beta_scale_sm_set special_log_beta_scale_sm_prepare_set(real a)
{
    special_log_beta_scale_sm_set set;
    set.c0 = special_log_gamma_1p(a);
    set.a = a;
    return set;
}

// special_log_beta_scale: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_scale_sm_evaluate(special_log_beta_scale_sm_set set, real b)
{
    return set.c0 - special_log_rising(b, set.a);
}

// special_log_beta_power: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    real c0;
} special_log_beta_power_msmm_set;

DEVICE special_log_beta_power_msmm_set special_log_beta_power_msmm_prepare_set(real b)
{
    special_log_beta_power_msmm_set set;
    set.b = b;
    set.c0 = special_stirling_error(b);
    return set;
}

// special_log_beta_power: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_power_msmm_evaluate(special_log_beta_power_msmm_set set, real a, real x, real y)
{
    real n = a + set.b;
    real gap = special_beta_gap(a, set.b, x, y);
    return a * special_log_ratio_excess(x * (n / a), -gap / a) + set.b * special_log_ratio_excess(y * (n / set.b), gap / set.b) + (0.5 * (log(a) + log(set.b / n)) - HALF_LOG_2PI - (special_stirling_error(a) + (set.c0 - special_stirling_error(n))));
}

// special_log_beta_tail: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real b;
    special_log_beta_scale_ms_set special_0;
    special_log_beta_scale_sm_set special_1;
    int c0;
    special_log_beta_power_msmm_set special_2;
} special_log_beta_tail_msmm_set;

DEVICE special_log_beta_tail_msmm_set special_log_beta_tail_msmm_prepare_set(real b)
{
    special_log_beta_tail_msmm_set set;
    set.b = b;
    set.special_0 = special_log_beta_scale_ms_prepare_set(b);
    set.special_1 = special_log_beta_scale_sm_prepare_set(b);
    set.c0 = b > 1000;
    set.special_2 = special_log_beta_power_msmm_prepare_set(b);
    return set;
}

// special_log_beta_tail: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_tail_msmm_evaluate(special_log_beta_tail_msmm_set set, real a, real x, real y)
{
    int below = special_beta_from_below(a, set.b, x, y);
    real s = below ? a : set.b;
    real t = below ? set.b : a;
    real u = below ? x : y;
    real v = below ? y : x;
    if (special_beta_needs_series(a, set.b) && THREAD < 65536) {
        if (u <= 0.5 && t * u < 1.5 && THREAD < 65536) {
            return s * log(u) - (below ? special_log_beta_scale_ms_evaluate(set.special_0, a) : special_log_beta_scale_sm_evaluate(set.special_1, a)) + log1p(special_beta_series(s, t, u));
        }
    }
    int central = a > 1000 && set.c0 && special_beta_gap(s, t, u, v) < 3 * sqrt(x * y * (a + set.b));
    return special_log_beta_power_msmm_evaluate(set.special_2, a, x, y) + log(central && THREAD < 65536 ? special_beta_integral(s, t, u, v) : special_beta_fraction(s, t, u, v, special_beta_fraction_turns(a, set.b)));
}

// special_log_beta_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_beta_tail_msmm_set special_0;
    real b;
} special_log_beta_p_msmm_set;

DEVICE special_log_beta_p_msmm_set special_log_beta_p_msmm_prepare_set(real b)
{
    special_log_beta_p_msmm_set set;
    set.special_0 = special_log_beta_tail_msmm_prepare_set(b);
    set.b = b;
    return set;
}

// special_log_beta_p: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_p_msmm_evaluate(special_log_beta_p_msmm_set set, real a, real x, real y)
{
    real tail = special_log_beta_tail_msmm_evaluate(set.special_0, a, x, y);
    return special_within_beta(a, set.b, x, y, special_beta_from_below(a, set.b, x, y) ? tail : special_log1mexp(tail), -INFINITY, 0);
}

// special_log_beta_power: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    real c0;
    real c1;
} special_log_beta_power_smmm_set;

DEVICE special_log_beta_power_smmm_set special_log_beta_power_smmm_prepare_set(real a)
{
    special_log_beta_power_smmm_set set;
    set.a = a;
    set.c0 = log(a);
    set.c1 = special_stirling_error(a);
    return set;
}

// special_log_beta_power: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_power_smmm_evaluate(special_log_beta_power_smmm_set set, real b, real x, real y)
{
    real n = set.a + b;
    real gap = special_beta_gap(set.a, b, x, y);
    return set.a * special_log_ratio_excess(x * (n / set.a), -gap / set.a) + b * special_log_ratio_excess(y * (n / b), gap / b) + (0.5 * (set.c0 + log(b / n)) - HALF_LOG_2PI - (set.c1 + (special_stirling_error(b) - special_stirling_error(n))));
}

// special_log_beta_tail: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real a;
    special_log_beta_scale_sm_set special_0;
    special_log_beta_scale_ms_set special_1;
    int c0;
    special_log_beta_power_smmm_set special_2;
} special_log_beta_tail_smmm_set;

DEVICE special_log_beta_tail_smmm_set special_log_beta_tail_smmm_prepare_set(real a)
{
    special_log_beta_tail_smmm_set set;
    set.a = a;
    set.special_0 = special_log_beta_scale_sm_prepare_set(a);
    set.special_1 = special_log_beta_scale_ms_prepare_set(a);
    set.c0 = a > 1000;
    set.special_2 = special_log_beta_power_smmm_prepare_set(a);
    return set;
}

// special_log_beta_tail: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_tail_smmm_evaluate(special_log_beta_tail_smmm_set set, real b, real x, real y)
{
    int below = special_beta_from_below(set.a, b, x, y);
    real s = below ? set.a : b;
    real t = below ? b : set.a;
    real u = below ? x : y;
    real v = below ? y : x;
    if (special_beta_needs_series(set.a, b) && THREAD < 65536) {
        if (u <= 0.5 && t * u < 1.5 && THREAD < 65536) {
            return s * log(u) - (below ? special_log_beta_scale_sm_evaluate(set.special_0, b) : special_log_beta_scale_ms_evaluate(set.special_1, b)) + log1p(special_beta_series(s, t, u));
        }
    }
    int central = set.c0 && b > 1000 && special_beta_gap(s, t, u, v) < 3 * sqrt(x * y * (set.a + b));
    return special_log_beta_power_smmm_evaluate(set.special_2, b, x, y) + log(central && THREAD < 65536 ? special_beta_integral(s, t, u, v) : special_beta_fraction(s, t, u, v, special_beta_fraction_turns(set.a, b)));
}

// special_log_beta_p: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    special_log_beta_tail_smmm_set special_0;
    real a;
} special_log_beta_p_smmm_set;

DEVICE special_log_beta_p_smmm_set special_log_beta_p_smmm_prepare_set(real a)
{
    special_log_beta_p_smmm_set set;
    set.special_0 = special_log_beta_tail_smmm_prepare_set(a);
    set.a = a;
    return set;
}

// special_log_beta_p: what depends on both, from what was computed ahead.
DEVICE real special_log_beta_p_smmm_evaluate(special_log_beta_p_smmm_set set, real b, real x, real y)
{
    real tail = special_log_beta_tail_smmm_evaluate(set.special_0, b, x, y);
    return special_within_beta(set.a, b, x, y, special_beta_from_below(set.a, b, x, y) ? tail : special_log1mexp(tail), -INFINITY, 0);
}

// special_mixture_component: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    int c1;
    int c2;
    special_log_beta_p_msmm_set special_0;
    special_log_beta_p_smmm_set special_1;
    special_log_beta_power_msmm_set special_2;
} special_mixture_component_smsmm_set;

DEVICE special_mixture_component_smsmm_set special_mixture_component_smsmm_prepare_set(int what, real b)
{
    special_mixture_component_smsmm_set set;
    set.c0 = what < 0;
    set.c1 = what > 0;
    set.c2 = isinf(b);
    set.special_0 = special_log_beta_p_msmm_prepare_set(b);
    set.special_1 = special_log_beta_p_smmm_prepare_set(b);
    set.special_2 = special_log_beta_power_msmm_prepare_set(b);
    return set;
}

// special_mixture_component: what depends on both, from what was computed ahead.
LARGE real special_mixture_component_smsmm_evaluate(special_mixture_component_smsmm_set set, real a, real p, real q)
{
    if (set.c2 && THREAD < 65536) {
        return set.c0 && THREAD < 65536 ? special_log_gamma_p(a, p) : set.c1 && THREAD < 65536 ? special_log_gamma_q(a, p) : special_log_gamma_power(a, p) + log(a);
    }
    return set.c0 && THREAD < 65536 ? special_log_beta_p_msmm_evaluate(set.special_0, a, p, q) : set.c1 && THREAD < 65536 ? special_log_beta_p_smmm_evaluate(set.special_1, a, q, p) : special_log_beta_power_msmm_evaluate(set.special_2, a, p, q);
}

// special_log_mixture: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    special_mixture_peak_ssmm_set special_mixture_peak_0;
    int c2;
    real m;
    int c3;
    real a;
    special_mixture_component_smsmm_set special_mixture_component_0;
    special_mixture_component_smsmm_set special_mixture_component_1;
} special_log_mixture_ssssmm_set;

DEVICE special_log_mixture_ssssmm_set special_log_mixture_ssssmm_prepare_set(int what, real m, real a, real b)
{
    special_log_mixture_ssssmm_set set;
    set.c0 = isinf(b);
    set.c1 = a + b;
    set.special_mixture_peak_0 = special_mixture_peak_ssmm_prepare_set(m, a);
    set.c2 = what < 0;
    set.m = m;
    set.c3 = what > 0;
    set.a = a;
    set.special_mixture_component_0 = special_mixture_component_smsmm_prepare_set(what, b);
    set.special_mixture_component_1 = special_mixture_component_smsmm_prepare_set(what, b);
    return set;
}

// special_log_mixture: what depends on both, from what was computed ahead.
DEVICE real special_log_mixture_ssssmm_evaluate(special_log_mixture_ssssmm_set set, real p, real q)
{
    real y = set.c0 ? p : p * set.c1;
    real s = set.c0 ? 0 : p;
    real peak = special_mixture_peak_ssmm_evaluate(set.special_mixture_peak_0, y, s);
    real sum = 1;
    real first = set.c2 ? fmin(peak, set.m) : set.c3 ? fmax(peak, set.m) : peak;
    real stride = 1;
    real spread = 1 / sqrt(1 / first + (y - s * set.a) / ((y + s * first) * (set.a + first)));
    if (first > 200) {
        stride = exp2(floor(log2(0.6 * spread)));
    }
    first = stride * floor(first / stride);
    real at_first = special_log_poisson(first, set.m) + special_mixture_component_smsmm_evaluate(set.special_mixture_component_0, set.a + first, p, q);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 1000 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real j = first + int_product(side, i) * stride;
            term = j < 0 && THREAD < 65536 ? 0 : exp(special_log_poisson(j, set.m) + special_mixture_component_smsmm_evaluate(set.special_mixture_component_1, set.a + j, p, q) - at_first);
            sum += term;
        }
    }
    return at_first + log(stride) + log(sum);
}

// special_log_product_excess: what depends on the observation alone, computed once for each.
typedef struct {
    real scale;
    real c0;
} special_log_product_excess_mmm_row;

DEVICE special_log_product_excess_mmm_row special_log_product_excess_mmm_prepare_row()
{
    special_log_product_excess_mmm_row row;
    real scale = 1 / (EPSILON * EPSILON * (EPSILON * EPSILON));
    row.scale = scale;
    row.c0 = log(scale);
    return row;
}

// special_log_product_excess: what depends on both, from what was computed ahead.
DEVICE real special_log_product_excess_mmm_evaluate(special_log_product_excess_mmm_row row, real x, real y, real u)
{
    int tiny = u < -0.9 && x < EPSILON * EPSILON;
    return special_log_ratio_excess(x * (tiny ? row.scale : 1) * y, u) - (tiny ? row.c0 : 0);
}

// beta_prime_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real sigma;
    real beta;
    real c0;
    real c1;
    real c2;
    special_log_quotient_set special_0;
    real c3;
    real c4;
} beta_prime_logpdf_rmss_set;

DEVICE beta_prime_logpdf_rmss_set beta_prime_logpdf_rmss_prepare_set(real beta, real sigma)
{
    beta_prime_logpdf_rmss_set set;
    set.sigma = sigma;
    set.beta = beta;
    set.c0 = special_stirling_error(beta);
    set.c1 = log(sigma);
    set.c2 = -beta - 1;
    set.special_0 = special_log_quotient_prepare_set(sigma);
    set.c3 = log(beta / sigma);
    set.c4 = beta + 1;
    return set;
}

// beta_prime_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    real c0;
    special_log_product_excess_mmm_row special_0;
    special_log_quotient_row special_1;
    int c1;
    int c2;
} beta_prime_logpdf_rmss_row;

DEVICE beta_prime_logpdf_rmss_row beta_prime_logpdf_rmss_prepare_row(real x)
{
    beta_prime_logpdf_rmss_row row;
    row.x = x;
    row.c0 = log(x);
    row.special_0 = special_log_product_excess_mmm_prepare_row();
    row.special_1 = special_log_quotient_prepare_row(x);
    row.c1 = x == 0;
    row.c2 = isinf(x);
    return row;
}

// beta_prime_logpdf: what depends on both, from what was computed ahead.
DEVICE real beta_prime_logpdf_rmss_evaluate(beta_prime_logpdf_rmss_set set, beta_prime_logpdf_rmss_row row, real alpha)
{
    real z = row.x / set.sigma;
    real n = alpha + set.beta;
    real value;
    if (special_large_shape(n)) {
        real y = 1 / (1 + z);
        real gap = fma(-set.beta, z, alpha) * y;
        value = 0.5 * (log(alpha) + log(set.beta / n)) - HALF_LOG_2PI - (special_stirling_error(alpha) + (set.c0 - special_stirling_error(n))) - row.c0 + alpha * special_log_product_excess_mmm_evaluate(row.special_0, z, y * (n / alpha), -gap / alpha) + set.beta * special_log_ratio_excess(y * (n / set.beta), gap / set.beta);
    } else {
        value = (alpha - 1) * log(z) - n * log1p(z) - (special_lbeta(alpha, set.beta) + set.c1);
    }
    if (z != special_within_range(z)) {
        value = (z < 1 ? alpha - 1 : set.c2) * special_log_quotient_evaluate(set.special_0, row.special_1) - (special_lbeta(alpha, set.beta) + set.c1);
    }
    real at_zero = special_log_power_at_zero(alpha - 1, set.c3 - set.c4 * z);
    return row.c1 ? at_zero : row.c2 ? -INFINITY : value;
}

// noncentral_f_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    special_mixture_peak_ssmm_set special_mixture_peak_0;
    noncentral_f_log_beyond_set noncentral_f_0;
    special_log_mixture_ssssmm_set special_0;
    real a;
    real b;
    real m;
    beta_prime_logpdf_rmss_set beta_prime_0;
    int c2;
    real c3;
    real c4;
    real d1;
    real d2;
    int c5;
} noncentral_f_logpdf_set;

DEVICE noncentral_f_logpdf_set noncentral_f_logpdf_prepare_set(real d1, real d2, real lam)
{
    noncentral_f_logpdf_set set;
    real a = 0.5 * d1;
    real b = 0.5 * d2;
    real m = 0.5 * lam;
    set.c0 = d2 / d1;
    set.c1 = a + b;
    set.special_mixture_peak_0 = special_mixture_peak_ssmm_prepare_set(m, a);
    set.noncentral_f_0 = noncentral_f_log_beyond_prepare_set(d1, d2);
    set.special_0 = special_log_mixture_ssssmm_prepare_set(0, m, a, b);
    set.a = a;
    set.b = b;
    set.m = m;
    set.beta_prime_0 = beta_prime_logpdf_rmss_prepare_set(b, d2 / d1);
    set.c2 = special_mixture_has_stride(m);
    set.c3 = d1 - 2;
    set.c4 = (b + 1) * m - b - 1;
    set.d1 = d1;
    set.d2 = d2;
    set.c5 = special_mixture_is_vague(m) || isinf(d1 + d2);
    return set;
}

// noncentral_f_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    noncentral_f_log_beyond_row noncentral_f_0;
    real c0;
    beta_prime_logpdf_rmss_row beta_prime_0;
    int c1;
    int c2;
} noncentral_f_logpdf_row;

DEVICE noncentral_f_logpdf_row noncentral_f_logpdf_prepare_row(real x)
{
    noncentral_f_logpdf_row row;
    row.x = x;
    row.noncentral_f_0 = noncentral_f_log_beyond_prepare_row(x);
    row.c0 = log(x);
    row.beta_prime_0 = beta_prime_logpdf_rmss_prepare_row(x);
    row.c1 = x == 0;
    row.c2 = isinf(x);
    return row;
}

// noncentral_f_logpdf: what depends on both, from what was computed ahead.
DEVICE real noncentral_f_logpdf_evaluate(noncentral_f_logpdf_set set, noncentral_f_logpdf_row row)
{
    real z = special_within_range(row.x / set.c0);
    real p = z / (1 + z);
    real y = p * set.c1;
    real first = special_mixture_peak_ssmm_evaluate(set.special_mixture_peak_0, y, p);
    real beyond = noncentral_f_log_beyond_evaluate(set.noncentral_f_0, row.noncentral_f_0);
    real value;
    if (set.c2 && THREAD < 65536) {
        value = special_log_mixture_ssssmm_evaluate(set.special_0, p, 1 / (1 + z)) - row.c0 + (beyond < 0 ? set.a : -set.b) * beyond;
    } else {
        value = special_log_poisson(first, set.m) + beta_prime_logpdf_rmss_evaluate(set.beta_prime_0, row.beta_prime_0, set.a + first) + special_log_mixture_density(set.m, set.a, y, p, first);
    }
    real at_zero = special_log_power_at_zero(set.c3, -set.m + set.c4 * (row.x * set.d1 / set.d2));
    return set.c5 ? NAN : row.c1 ? at_zero : row.c2 ? -INFINITY : value;
}

// noncentral_f_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    noncentral_f_logpdf_set noncentral_f_0;
    real c1;
} noncentral_f_logpdf_checked_set;

DEVICE noncentral_f_logpdf_checked_set noncentral_f_logpdf_checked_prepare_set(real d1, real d2, real lam)
{
    noncentral_f_logpdf_checked_set set;
    real bad_d1 = d1 > 0 ? 0 : NAN;
    real bad_d2 = d2 > 0 ? 0 : NAN;
    real bad_lam = lam >= 0 ? 0 : NAN;
    set.c0 = !(bad_d1 == 0 && bad_d2 == 0 && bad_lam == 0);
    set.noncentral_f_0 = noncentral_f_logpdf_prepare_set(d1, d2, lam);
    set.c1 = bad_d1 + bad_d2 + bad_lam;
    return set;
}

// noncentral_f_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    noncentral_f_logpdf_row noncentral_f_0;
    int inside;
    real outside;
} noncentral_f_logpdf_checked_row;

DEVICE noncentral_f_logpdf_checked_row noncentral_f_logpdf_checked_prepare_row(real x)
{
    noncentral_f_logpdf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.noncentral_f_0 = noncentral_f_logpdf_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// noncentral_f_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real noncentral_f_logpdf_checked_evaluate(noncentral_f_logpdf_checked_set set, noncentral_f_logpdf_checked_row row)
{
    if (set.c0) {
        return NAN;
    }
    real value = noncentral_f_logpdf_evaluate(set.noncentral_f_0, row.noncentral_f_0);
    return (row.inside || value != value ? value : row.outside) + set.c1;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) noncentral_f_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT d1_per_set, index_t d1_offset, index_t d1_stride, GLOBAL const real *RESTRICT d2_per_set, index_t d2_offset, index_t d2_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    d1_per_set += d1_offset;
    d2_per_set += d2_offset;
    lam_per_set += lam_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(noncentral_f_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = noncentral_f_logpdf_checked_prepare_set(d1_per_set[(first_set + k) * d1_stride], d2_per_set[(first_set + k) * d2_stride], lam_per_set[(first_set + k) * lam_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    noncentral_f_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(noncentral_f_logpdf_checked_row, rows, 128);

    for (index_t first = BLOCK_Y * 128; first < n_rows; first += BLOCKS_Y * 128) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)128);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = noncentral_f_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].c0 || set[0].noncentral_f_0.c2 || set[0].noncentral_f_0.special_0.special_mixture_component_0.c2 || set[0].noncentral_f_0.special_0.special_mixture_component_1.c2)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const noncentral_f_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, noncentral_f_logpdf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const noncentral_f_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, noncentral_f_logpdf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


