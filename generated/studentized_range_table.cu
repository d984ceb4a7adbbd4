// The table kernel of studentized_range, made by `gpustats generate`. Do not edit.
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

DEVICE real studentized_range_central_slope(real r)
{
    return r > 0 ? r * exp(-0.125 * r * r) / (SQRT_2 * SQRT_PI * erf(r / (2 * SQRT_2))) : 1;
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
}

DEVICE real studentized_range_rate_of_largest(real k)
{
    return fmax((real)2.9, 4.3 * (sqrt(2 * log(k)) - 1.1));
}

DEVICE real special_scaled_erfc(real x)
{
    real t = 1 - 7.5 / (x + 3.75);
    real series = 1.237512630837827582 + t * (-0.1402405985855452088 + t * (0.003585415485466306909 + t * (0.08227673848999158997 + t * (-0.108803930141939147 + t * (0.09230432116435615983 + t * (-0.05869339858449184774 + t * (0.02836227737137004573 + t * (-0.009746579620815090139 + t * (0.001755626169227672094 + t * (0.0002937140877722768239 + t * (-0.0002901553656394712841 + t * (5.164737123871837686e-5 + t * (2.238759272534768919e-5 + t * (-1.143961526007594973e-5 + t * (-9.792975290998229177e-7 + t * (1.743857741135918114e-6 + t * (-5.081691181169818825e-8 + t * (-2.499653803740524239e-7 + t * (1.87785011564687965e-8 + t * (3.256499083798512925e-8 + t * (-1.952790162974836892e-9 + t * -2.729394133253385506e-9)))))))))))))))))))));
    return series / (1 + 2 * x);
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

DEVICE real special_normal_integral(real a, real b, real width)
{
    if (a <= 0 && b >= 0) {
        return SQRT_PI / SQRT_2 * ((b < INFINITY ? erf(b / SQRT_2) : 1) - (a > -INFINITY ? erf(a / SQRT_2) : -1));
    }
    real near = a > 0 ? a : -b;
    real far = a > 0 ? b : -a;
    if (width * (1 + far) > 2) {
        return SQRT_PI / SQRT_2 * (special_scaled_erfc(near / SQRT_2) - (far < INFINITY ? exp(-0.5 * width * (near + far)) * special_scaled_erfc(far / SQRT_2) : 0));
    }
    real sum = 0;
    for (int k = 0; k < 8; k++) {
        real step = 0.5 * width * (1 + special_legendre_node(k));
        sum += special_legendre_weight(k) * exp(-step * (near + 0.5 * step));
    }
    return 0.5 * width * sum;
}

DEVICE real studentized_range_log_between(real u, real r)
{
    real half_ = 0.5 * r;
    real beyond = 0.5 * (erfc((half_ - u) / SQRT_2) + erfc((half_ + u) / SQRT_2));
    real near = fmax(u - half_, (real)0);
    return beyond < 0.5 ? log1p(-beyond) : log(special_normal_integral(u - half_, u + half_, r)) - (0.5 * near * near + HALF_LOG_2PI);
}

DEVICE int studentized_range_is_low(real r, real k)
{
    real variance = 1 + (k - 1) * studentized_range_central_slope(r) - 0.25 * r * r;
    return variance > 0 && log(k) + (k - 1) * studentized_range_log_between(0, r) - 0.125 * r * r - 0.5 * log(variance) < -LOG_2;
}

DEVICE real special_log_ndtr(real x)
{
    real tail = 0.5 * special_scaled_erfc(fabs(x) / SQRT_2);
    real square = 0.5 * x * x;
    return x < 0 ? log(tail) - square : log1p(-tail * exp(-square));
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE real studentized_range_log_above(real u, real r, real k)
{
    real below = special_log_ndtr(0.5 * r - u);
    real log_share = fmin(special_log_ndtr(-0.5 * r - u) - below, (real)0);
    real d = u - 0.5 * r;
    real value;
    if (log_share + log(k) < 2 * log(EPSILON)) {
        value = log_share + log(k - 1);
    } else {
        value = special_log1mexp((k - 1) * (log_share < -LOG_2 ? log1p(-exp(log_share)) : studentized_range_log_between(fabs(u), r) - below));
    }
    return (k - 1) * below + value - 0.5 * d * d;
}

DEVICE real studentized_range_log_range(int what, real r, real k)
{
    if (r < ldexp((real)1, EPSILON < 1e-10 ? -1015 : -120)) {
        return what == 2 ? 0 : -INFINITY;
    }
    real spread = (EPSILON < 1e-10 ? 0.6 : 0.8) / sqrt(2 + fabs(k - 2) * studentized_range_central_slope(r));
    real step = special_panel_width(3 * fmax(1 / spread, (EPSILON < 1e-10 ? 1 : 0.75) * studentized_range_rate_of_largest(k)), 1);
    real sum = 1;
    if (what == 0) {
        real center = studentized_range_log_between(0, r);
        real term = 1;
        for (int i = 1; i < 100 && term > 0.01 * EPSILON * sum && THREAD < 65536; i++) {
            real u = i * step;
            term = 2 * exp((k - 2) * (studentized_range_log_between(u, r) - center) - u * u);
            sum += term;
        }
        return log(k) + log(k - 1) - LOG_2PI + (k - 2) * center - 0.25 * r * r + log(step * sum);
    }
    real center_2;
    real term_2;
    if (studentized_range_is_low(r, k)) {
        center_2 = (k - 1) * studentized_range_log_between(0, r) - 0.125 * r * r;
        term_2 = 1;
        for (int i_3 = 1; i_3 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_3++) {
            real u_2 = i_3 * step;
            real d = u_2 - 0.5 * r;
            term_2 = (1 + exp(-u_2 * r)) * exp((k - 1) * studentized_range_log_between(u_2, r) - 0.5 * d * d - center_2);
            sum += term_2;
        }
    } else {
        center_2 = studentized_range_log_above(0, r, k);
        for (int side = -1; side < 2; side += 2) {
            term_2 = 1;
            for (int i_2 = 1; i_2 < 100 && term_2 > 0.01 * EPSILON * sum && THREAD < 65536; i_2++) {
                term_2 = exp(studentized_range_log_above(int_product(side, i_2) * step, r, k) - center_2);
                sum += term_2;
            }
        }
    }
    real value = log(k) - HALF_LOG_2PI + center_2 + log(step * sum);
    return studentized_range_is_low(r, k) == (what == 1) ? value : special_log1mexp(value);
}

DEVICE real special_log1p_square(real y)
{
    int large = fabs(y) > 1 / EPSILON;
    return (large ? 2 : 1) * log1p(large ? fabs(y) : y * y);
}

DEVICE real studentized_range_peak(int what, real q, real k, real nu)
{
    real low = -0.5 * special_log1p_square(q / sqrt(2 * nu));
    real high = 0.5 * log1p(k / nu);
    if (what == 1) {
        low = fmin((real)0, 0.5 * log(2 * fmin(k - 1, (real)1)) - log(q));
    }
    if (what == 2) {
        high = fmax((real)0, 0.5 * log(2 * k) - log(q));
    }
    for (int i = 0; i < 30; i++) {
        real v = 0.5 * (low + high);
        real r = q * exp(v);
        real slope = -nu * expm1(2 * v);
        slope = what == 1 ? fmin(slope, (real)0) : what == 2 ? fmax(slope, (real)0) : slope;
        int rises = slope + 1 + (k - 2) * studentized_range_central_slope(r) - 0.5 * r * r > 0;
        low = rises ? v : low;
        high = rises ? high : v;
    }
    return 0.5 * (low + high);
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

DEVICE real special_expm1_excess(real x)
{
    return fabs(x) < 0.5 ? -special_log1pmx(expm1(-x)) : x + expm1(-x);
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

DEVICE real special_gamma_eta(real u)
{
    real r = u / (2 + u);
    return r * sqrt(2 * (2 + u - 2 * r * special_atanh_remainder(r * r)));
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

DEVICE real special_within_gamma(real a, real x, real value, real at_zero, real at_infinity)
{
    return !(a >= 0 && x >= 0) ? NAN : a == 0 || isinf(x) ? at_infinity : x == 0 || isinf(a) ? at_zero : value;
}

DEVICE real special_log_gamma_q(real a, real x)
{
    real tail = special_log_gamma_tail(a, x);
    return special_within_gamma(a, x, x < special_gamma_middle(a) ? special_log1mexp(tail) : tail, 0, -INFINITY);
}

DEVICE real special_log_gamma_p(real a, real x)
{
    real tail = special_log_gamma_tail(a, x);
    return special_within_gamma(a, x, x < special_gamma_middle(a) ? tail : special_log1mexp(tail), -INFINITY, 0);
}

DEVICE real special_log_gamma_p_of_power(real a, real y, real log_y)
{
    return y < EPSILON && THREAD < 65536 ? a * log_y - special_log_gamma_1p(a) : special_log_gamma_p(a, y);
}

LARGE real studentized_range_log_term(int what, real v, real q, real k, real nu)
{
    real a = 0.5 * nu;
    real value = studentized_range_log_range(0, q * exp(v), k) + v;
    if (what == 0) {
        return value - a * special_expm1_excess(-2 * v);
    }
    return value + (what == 1 && THREAD < 65536 ? special_log_gamma_q(a, a * exp(2 * v)) : special_log_gamma_p_of_power(a, a * exp(2 * v), log(a) + 2 * v));
}

DEVICE real studentized_range_step_of(real curvature, real k)
{
    real rate = fmax(2 * sqrt(curvature + 24), sqrt(2 * log(k)) * studentized_range_rate_of_largest(k));
    return special_panel_width(3 * (EPSILON < 1e-10 ? 1 : 0.75) * rate, 1);
}

DEVICE real studentized_range_log_sum(int what, real q, real k, real nu)
{
    real at = studentized_range_peak(what, q, k, nu);
    real r = q * exp(at);
    real square = exp(2 * at);
    real center = studentized_range_log_term(what, at, q, k, nu);
    real sum = 0;
    real wide = 0.1 / (1 + 2 * r);
    real step = studentized_range_step_of(2 * nu * (what == 2 ? fmin(square, (real)1) : square) + r * r + fabs(k - 2) * studentized_range_central_slope(r) * (1 + 0.25 * r * r), k);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 0; i < 2000 && (term > 0.01 * EPSILON * sum || i < 2) && THREAD < 65536; i++) {
            real y = (side < 0 ? int_difference(0, i) : int_sum(i, 1)) * step;
            term = (1 + wide * exp(-y)) * exp(studentized_range_log_term(what, at + (y - wide * expm1(-y)), q, k, nu) - center);
            sum += term;
        }
    }
    return center + log(step * sum);
}

DEVICE real studentized_range_log_scale(real nu)
{
    return LOG_2 - HALF_LOG_2PI + 0.5 * log(0.5 * nu) - special_stirling_error(0.5 * nu);
}

LARGE real studentized_range_log_mean(real what, real q, real k, real nu)
{
    int what_2 = to_int(what);
    real at = -0.5 * special_log1p_square(q / sqrt(2 * nu));
    real sum = 0;
    if (what_2 == 1) {
        real low = 0;
        real high = 0.5 * log1p(k / nu);
        for (int i = 0; i < 30; i++) {
            at = 0.5 * (low + high);
            int rises = (k - 1) * studentized_range_central_slope(q * exp(at)) > nu * expm1(2 * at);
            low = rises ? at : low;
            high = rises ? high : at;
        }
    }
    real r = q * exp(at);
    real center = studentized_range_log_range(what_2, r, k) - 0.5 * nu * special_expm1_excess(-2 * at);
    real step = studentized_range_step_of(2 * nu * exp(2 * at) + (what_2 == 1 ? (k - 1) * studentized_range_central_slope(r) * (1 + 0.25 * r * r) : r * r), k);
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i_2 = 0; i_2 < 2000 && (term > 0.01 * EPSILON * sum || i_2 < 2) && THREAD < 65536; i_2++) {
            real v = at + (side < 0 ? int_difference(0, i_2) : int_sum(i_2, 1)) * step;
            term = exp(studentized_range_log_range(what_2, q * exp(v), k) - 0.5 * nu * special_expm1_excess(-2 * v) - center);
            sum += term;
        }
    }
    return center + log(step * sum);
}

DEVICE real studentized_range_studentized_at(int what, real q, real k, real nu)
{
    if (nu > 1 / (EPSILON * EPSILON)) {
        return studentized_range_log_range(what, q, k);
    }
    if (what == 0 && THREAD < 65536) {
        return studentized_range_log_sum(0, q, k, nu) + studentized_range_log_scale(nu);
    }
    return nu > 100 && THREAD < 65536 ? studentized_range_log_mean(what, q, k, nu) + studentized_range_log_scale(nu) : studentized_range_log_sum(what, q, k, nu) + log(q);
}

DEVICE real studentized_range_studentized(int what, real q, real k, real nu)
{
    if (!(k > 1) || isinf(k)) {
        return NAN;
    }
    if (q == 0) {
        return what == 2 ? 0 : -INFINITY;
    }
    real edge = ldexp((real)1, EPSILON < 1e-10 ? -400 : -50);
    real value = studentized_range_studentized_at(what, fmax(q, edge), k, nu);
    if (q >= edge) {
        return value;
    }
    real power = (what == 2 ? special_log1mexp(value) : value) + (k - (what == 0 ? 2 : 1)) * (log(q) - log(edge));
    return what == 2 ? special_log1mexp(power) : power;
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

DEVICE real special_log_power_at_zero(real power, real value)
{
    return power < 0 ? INFINITY : power > 0 ? -INFINITY : value;
}

// studentized_range_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    int c2;
    real k;
    real nu;
} studentized_range_logpdf_set;

DEVICE studentized_range_logpdf_set studentized_range_logpdf_prepare_set(real k, real nu)
{
    studentized_range_logpdf_set set;
    real at_zero = (isinf(nu) ? 0 : special_log_rising(0.5 * nu, (real)0.5) - 0.5 * log(0.5 * nu)) - 0.5 * LOG_PI;
    set.c0 = k > 1;
    set.c1 = special_log_power_at_zero(k - 2, at_zero);
    set.c2 = k < INFINITY;
    set.k = k;
    set.nu = nu;
    return set;
}

// studentized_range_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    int c1;
    real x;
} studentized_range_logpdf_row;

DEVICE studentized_range_logpdf_row studentized_range_logpdf_prepare_row(real x)
{
    studentized_range_logpdf_row row;
    row.c0 = isinf(x);
    row.c1 = x == 0;
    row.x = x;
    return row;
}

// studentized_range_logpdf: what depends on both, from what was computed ahead.
DEVICE real studentized_range_logpdf_evaluate(studentized_range_logpdf_set set, studentized_range_logpdf_row row)
{
    if (row.c0 && set.c0) {
        return -INFINITY;
    }
    if (row.c1 && set.c0 && set.c2) {
        return set.c1;
    }
    return studentized_range_studentized(0, row.x, set.k, set.nu);
}

// studentized_range_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    studentized_range_logpdf_set studentized_range_0;
    real c1;
} studentized_range_logpdf_checked_set;

DEVICE studentized_range_logpdf_checked_set studentized_range_logpdf_checked_prepare_set(real k, real nu)
{
    studentized_range_logpdf_checked_set set;
    real bad_k = k > 0 ? 0 : NAN;
    real bad_nu = nu > 0 ? 0 : NAN;
    set.c0 = !(bad_k == 0 && bad_nu == 0);
    set.studentized_range_0 = studentized_range_logpdf_prepare_set(k, nu);
    set.c1 = bad_k + bad_nu;
    return set;
}

// studentized_range_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    studentized_range_logpdf_row studentized_range_0;
    int inside;
    real outside;
} studentized_range_logpdf_checked_row;

DEVICE studentized_range_logpdf_checked_row studentized_range_logpdf_checked_prepare_row(real x)
{
    studentized_range_logpdf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.studentized_range_0 = studentized_range_logpdf_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// studentized_range_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real studentized_range_logpdf_checked_evaluate(studentized_range_logpdf_checked_set set, studentized_range_logpdf_checked_row row)
{
    if (set.c0) {
        return NAN;
    }
    real value = studentized_range_logpdf_evaluate(set.studentized_range_0, row.studentized_range_0);
    return (row.inside || value != value ? value : row.outside) + set.c1;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) studentized_range_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT k_per_set, index_t k_offset, index_t k_stride, GLOBAL const real *RESTRICT nu_per_set, index_t nu_offset, index_t nu_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    k_per_set += k_offset;
    nu_per_set += nu_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(studentized_range_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = studentized_range_logpdf_checked_prepare_set(k_per_set[(first_set + k) * k_stride], nu_per_set[(first_set + k) * nu_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    studentized_range_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(studentized_range_logpdf_checked_row, rows, 512);

    for (index_t first = BLOCK_Y * 512; first < n_rows; first += BLOCKS_Y * 512) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)512);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = studentized_range_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].c0)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const studentized_range_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, studentized_range_logpdf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const studentized_range_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, studentized_range_logpdf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


