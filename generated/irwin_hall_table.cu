// The table kernel of irwin_hall, made by `gpustats generate`. Do not edit.
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

DEVICE real special_xlogy(real x, real y)
{
    return x == 0 ? 0 : x * log(y);
}

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_log_factorial(real x)
{
    if (x < 3) {
        return x == 2 ? LOG_2 : 0;
    }
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE real special_log1mexp(real x)
{
    return x > -LOG_2 ? log(-expm1(x)) : log1p(-exp(x));
}

DEVICE real irwin_hall_few()
{
    return EPSILON < 1e-10 ? 12 : 6;
}

// irwin_hall_log_pieces: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real power;
    real c0;
    real n;
} irwin_hall_log_pieces_mss_set;

DEVICE irwin_hall_log_pieces_mss_set irwin_hall_log_pieces_mss_prepare_set(real n, real power)
{
    irwin_hall_log_pieces_mss_set set;
    set.power = power;
    set.c0 = special_log_factorial(power);
    set.n = n;
    return set;
}

// irwin_hall_log_pieces: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_log_pieces_mss_evaluate(irwin_hall_log_pieces_mss_set set, real x)
{
    real sum = 0;
    real binomial = 1;
    if (x <= 1) {
        return special_xlogy(set.power, x) - set.c0;
    }
    for (int k = 0; k < 7 && k < x && THREAD < 65536; k++) {
        sum += binomial * pow(x - k, set.power);
        binomial *= -(set.n - k) / int_sum(k, 1);
    }
    return log(sum) - set.c0;
}

// irwin_hall_tilted_variance: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_tilted_variance_m_evaluate(real s)
{
    real half_ = sinh(0.5 * s);
    return s < 0.05 ? 1.0 / 12 : 1 / (s * s) - 0.25 / (half_ * half_);
}

// irwin_hall_saddle: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
} irwin_hall_saddle_ms_set;

DEVICE irwin_hall_saddle_ms_set irwin_hall_saddle_ms_prepare_set(real n)
{
    irwin_hall_saddle_ms_set set;
    set.n = n;
    return set;
}

// irwin_hall_saddle: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_saddle_ms_evaluate(irwin_hall_saddle_ms_set set, real x)
{
    real rest = 2 * x / set.n;
    real r = 1 - rest;
    real s = 2 * r * (3 - r * r) / (rest * (1 + r));
    for (int i = 0; i < 3; i++) {
        real mean = s < 0.05 ? 0.5 - s / 12 : 1 / s - 1 / expm1(s);
        s = fmax(s + (mean - x / set.n) / irwin_hall_tilted_variance_m_evaluate(s), 0.5 * s);
    }
    return s;
}

// irwin_hall_along_line: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    irwin_hall_saddle_ms_set irwin_hall_saddle_0;
    real n;
    real c0;
    int tail;
    real c1;
    int c2;
} irwin_hall_along_line_mss_set;

DEVICE irwin_hall_along_line_mss_set irwin_hall_along_line_mss_prepare_set(real n, int what)
{
    irwin_hall_along_line_mss_set set;
    int tail = what == 1;
    set.irwin_hall_saddle_0 = irwin_hall_saddle_ms_prepare_set(n);
    set.n = n;
    set.c0 = 0.5 * n;
    set.tail = tail;
    set.c1 = 3 * sqrt(n);
    set.c2 = what == 2;
    return set;
}

// irwin_hall_along_line: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_along_line_mss_evaluate(irwin_hall_along_line_mss_set set, real x)
{
    real s = irwin_hall_saddle_ms_evaluate(set.irwin_hall_saddle_0, x);
    real spread = sqrt(set.n * irwin_hall_tilted_variance_m_evaluate(s));
    real least = 1 / spread;
    real d = set.c0 - x;
    s = set.tail ? 0.5 * s + sqrt(0.25 * s * s + least * least) : fmax(s, 0.1 * least);
    real length = fmin(set.n, 11 * spread + 30 * spread * (spread / x));
    real within = x + length > set.c0;
    if (set.tail && within > 0) {
        length = fmin(set.n, fmax(length, d + set.c1));
    }
    real half_ = sinh(0.5 * s);
    real coth = 1 / tanh(0.5 * s);
    real slope = 2 * PI / length;
    real sum = 0;
    real moment = 0;
    real size = INFINITY;
    for (int i = 0; i < 4000 && size > 0.01 * EPSILON * fabs(sum) && THREAD < 65536; i++) {
        real y = i * slope;
        real ratio = y / s;
        real sine = sin(0.5 * y);
        real rise = sine / half_;
        real height = set.c0 * (log1p(rise * rise) - log1p(ratio * ratio));
        real angle = atan2(coth * sine, cos(0.5 * y));
        real phase = set.n * (angle + 2 * PI * rint((0.5 * y - angle) / (2 * PI)) - atan(ratio)) - y * d;
        real weight = i == 0 ? 0.5 : 1;
        real a = weight * exp(height) * cos(phase);
        real b = weight * exp(height) * sin(phase);
        sum += set.tail ? (a + ratio * b) / (1 + ratio * ratio) : a;
        moment += y * b;
        size = i == 0 ? INFINITY : exp(set.n * log(fmin(coth * s / hypot(s, y), (real)1)));
    }
    if (set.c2) {
        return s - moment / sum;
    }
    real scale = set.n * (0.5 * s - log(s) + special_log1mexp(-s)) - s * d;
    if (s < 1) {
        scale = set.n * log(half_ / (0.5 * s)) - s * d;
    }
    if (!set.tail) {
        return scale + log(2 * sum / length);
    }
    real once_ = within > 0 ? exp(-s * length - scale) / -expm1(-s * length) : 0;
    return scale + log(2 * sum / (s * length) - once_);
}

// irwin_hall_log_density: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    irwin_hall_along_line_mss_set irwin_hall_along_line_0;
} irwin_hall_log_density_ms_set;

DEVICE irwin_hall_log_density_ms_set irwin_hall_log_density_ms_prepare_set(real n)
{
    irwin_hall_log_density_ms_set set;
    set.irwin_hall_along_line_0 = irwin_hall_along_line_mss_prepare_set(n, 0);
    return set;
}

// irwin_hall_log_density: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_log_density_ms_evaluate(irwin_hall_log_density_ms_set set, real x)
{
    return irwin_hall_along_line_mss_evaluate(set.irwin_hall_along_line_0, x);
}

// irwin_hall_logpdf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real n;
    real c0;
    int c1;
    irwin_hall_log_pieces_mss_set irwin_hall_0;
    irwin_hall_log_density_ms_set irwin_hall_1;
} irwin_hall_logpdf_set;

DEVICE irwin_hall_logpdf_set irwin_hall_logpdf_prepare_set(real n)
{
    irwin_hall_logpdf_set set;
    set.n = n;
    set.c0 = n == 1 ? 0 : -INFINITY;
    set.c1 = n <= irwin_hall_few();
    set.irwin_hall_0 = irwin_hall_log_pieces_mss_prepare_set(n, n - 1);
    set.irwin_hall_1 = irwin_hall_log_density_ms_prepare_set(n);
    return set;
}

// irwin_hall_logpdf: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
    int c0;
} irwin_hall_logpdf_row;

DEVICE irwin_hall_logpdf_row irwin_hall_logpdf_prepare_row(real x)
{
    irwin_hall_logpdf_row row;
    row.x = x;
    row.c0 = isinf(x);
    return row;
}

// irwin_hall_logpdf: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_logpdf_evaluate(irwin_hall_logpdf_set set, irwin_hall_logpdf_row row)
{
    real near = fmin(row.x, set.n - row.x);
    if (row.x > set.n || row.c0) {
        return -INFINITY;
    }
    if (near == 0) {
        return set.c0;
    }
    return set.c1 || near <= 1 ? irwin_hall_log_pieces_mss_evaluate(set.irwin_hall_0, near) : irwin_hall_log_density_ms_evaluate(set.irwin_hall_1, near);
}

// irwin_hall_logpdf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    irwin_hall_logpdf_set irwin_hall_0;
    real bad_n;
} irwin_hall_logpdf_checked_set;

DEVICE irwin_hall_logpdf_checked_set irwin_hall_logpdf_checked_prepare_set(real n)
{
    irwin_hall_logpdf_checked_set set;
    real bad_n = n > 0 && n == floor(n) && fabs(n) < INFINITY ? 0 : NAN;
    set.irwin_hall_0 = irwin_hall_logpdf_prepare_set(n);
    set.bad_n = bad_n;
    return set;
}

// irwin_hall_logpdf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    irwin_hall_logpdf_row irwin_hall_0;
    int inside;
    real outside;
} irwin_hall_logpdf_checked_row;

DEVICE irwin_hall_logpdf_checked_row irwin_hall_logpdf_checked_prepare_row(real x)
{
    irwin_hall_logpdf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.irwin_hall_0 = irwin_hall_logpdf_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// irwin_hall_logpdf_checked: what depends on both, from what was computed ahead.
DEVICE real irwin_hall_logpdf_checked_evaluate(irwin_hall_logpdf_checked_set set, irwin_hall_logpdf_checked_row row)
{
    real value = irwin_hall_logpdf_evaluate(set.irwin_hall_0, row.irwin_hall_0);
    return (row.inside ? value : row.outside) + set.bad_n;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) irwin_hall_logpdf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT n_per_set, index_t n_offset, index_t n_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    n_per_set += n_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(irwin_hall_logpdf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = irwin_hall_logpdf_checked_prepare_set(n_per_set[(first_set + k) * n_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    irwin_hall_logpdf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(irwin_hall_logpdf_checked_row, rows, 512);

    for (index_t first = BLOCK_Y * 512; first < n_rows; first += BLOCKS_Y * 512) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)512);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = irwin_hall_logpdf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].irwin_hall_0.irwin_hall_1.irwin_hall_along_line_0.c2)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const irwin_hall_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, irwin_hall_logpdf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const irwin_hall_logpdf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, irwin_hall_logpdf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


