// The gradient kernel of polya_gamma, made by `gpustats generate`. Do not edit.
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
    real d_h;
} polya_gamma_log_series_grad_h_results;

DEVICE polya_gamma_log_series_grad_h_results make_polya_gamma_log_series_grad_h_results(real value, real d_h)
{
    polya_gamma_log_series_grad_h_results results;
    results.value = value;
    results.d_h = d_h;
    return results;
}


typedef struct {
    real value;
    real d_h;
    real d_z;
} polya_gamma_by_path_grad_h_z_results;

DEVICE polya_gamma_by_path_grad_h_z_results make_polya_gamma_by_path_grad_h_z_results(real value, real d_h, real d_z)
{
    polya_gamma_by_path_grad_h_z_results results;
    results.value = value;
    results.d_h = d_h;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_h;
    real d_z;
} polya_gamma_logpdf_grad_h_z_results;

DEVICE polya_gamma_logpdf_grad_h_z_results make_polya_gamma_logpdf_grad_h_z_results(real value, real d_h, real d_z)
{
    polya_gamma_logpdf_grad_h_z_results results;
    results.value = value;
    results.d_h = d_h;
    results.d_z = d_z;
    return results;
}


typedef struct {
    real value;
    real d_h;
    real d_z;
} polya_gamma_logpdf_checked_grad_h_z_results;

DEVICE polya_gamma_logpdf_checked_grad_h_z_results make_polya_gamma_logpdf_checked_grad_h_z_results(real value, real d_h, real d_z)
{
    polya_gamma_logpdf_checked_grad_h_z_results results;
    results.value = value;
    results.d_h = d_h;
    results.d_z = d_z;
    return results;
}


DEVICE real polya_gamma_log_cosh(real w)
{
    real s = sinh(0.5 * fmin(fabs(w), (real)1));
    return fabs(w) < 1 ? log1p(2 * s * s) : fabs(w) + log1p(exp(-2 * fabs(w))) - LOG_2;
}

DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

// polya_gamma_log_series_grad_h: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real h;
    real c0;
} polya_gamma_log_series_grad_h_set;

DEVICE polya_gamma_log_series_grad_h_set polya_gamma_log_series_grad_h_prepare_set(real h)
{
    polya_gamma_log_series_grad_h_set set;
    set.h = h;
    set.c0 = 1 / h;
    return set;
}

// polya_gamma_log_series_grad_h: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
    real c1;
} polya_gamma_log_series_grad_h_row;

DEVICE polya_gamma_log_series_grad_h_row polya_gamma_log_series_grad_h_prepare_row(real x)
{
    polya_gamma_log_series_grad_h_row row;
    row.c0 = 2 * x;
    row.c1 = 1 / (2 * x);
    return row;
}

// polya_gamma_log_series_grad_h: what depends on both, from what was computed ahead.
DEVICE polya_gamma_log_series_grad_h_results polya_gamma_log_series_grad_h_evaluate(polya_gamma_log_series_grad_h_set set, polya_gamma_log_series_grad_h_row row)
{
    real d_h_sum = 0;
    real sum = 0;
    real d_h_factor = 0;
    real factor = 1;
    real d_h_term = 0;
    real term = 1;
    for (int n = 1; n < 100 && fabs(term) > 0.1 * EPSILON && THREAD < 65536; n++) {
        real t = -(set.h + n - 1) / n;
        d_h_factor = t * d_h_factor - 1.0 / n * factor;
        factor *= t;
        real t2 = (int_product(2, n) + set.h) / set.h;
        real t3 = exp(int_difference(0, n) * (n + set.h) / row.c0);
        real t4 = factor * t2;
        d_h_term = t2 * t3 * d_h_factor + factor * t3 * ((1 - t2) * set.c0) - n * row.c1 * t3 * t4;
        term = t4 * t3;
        d_h_sum += d_h_term;
        sum += term;
    }
    return make_polya_gamma_log_series_grad_h_results(log1p(sum), 1 / (1 + sum) * d_h_sum);
}

// polya_gamma_square_of: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_square_of_m_evaluate(real room)
{
    return room - 0.25 * PI * PI;
}

// polya_gamma_tangent: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_tangent_mm_evaluate(real w, real gap)
{
    return w < gap ? tan(w) : cos(gap) / sin(gap);
}

// polya_gamma_gap: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_gap_m_evaluate(real room)
{
    return room / (0.5 * PI + sqrt(fabs(polya_gamma_square_of_m_evaluate(room))));
}

// polya_gamma_mean_of: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_mean_of_m_evaluate(real room)
{
    real square = polya_gamma_square_of_m_evaluate(room);
    real w = sqrt(fabs(square));
    return square == 0 ? 1 : (square > 0 ? tanh(w) : polya_gamma_tangent_mm_evaluate(w, polya_gamma_gap_m_evaluate(room))) / w;
}

// polya_gamma_curvature: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_curvature_m_evaluate(real room)
{
    real square = polya_gamma_square_of_m_evaluate(room);
    real t = tanh(sqrt(fabs(square)));
    real s = sin(polya_gamma_gap_m_evaluate(room));
    real second = square > 0 ? (1 - t) * (1 + t) : 1 / (s * s);
    real series = 2.0 / 3 + square * (-8.0 / 15 + square * (34.0 / 105 + square * (-496.0 / 2835 + square * (2764.0 / 31185 + square * (-87376.0 / 2027025)))));
    return (fabs(square) < 0.01 ? series : (polya_gamma_mean_of_m_evaluate(room) - second) / square) / 16;
}

// polya_gamma_room_of_mean: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
    real k;
} polya_gamma_room_of_mean_m_row;

DEVICE polya_gamma_room_of_mean_m_row polya_gamma_room_of_mean_m_prepare_row()
{
    polya_gamma_room_of_mean_m_row row;
    real k = PI * PI / 12;
    row.c0 = 3 * k;
    row.k = k;
    return row;
}

// polya_gamma_room_of_mean: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_room_of_mean_m_evaluate(polya_gamma_room_of_mean_m_row row, real ratio)
{
    real room = row.c0 * (row.k / (ratio - 1 + row.k));
    if (ratio < 1) {
        room = row.c0 + (1 - ratio) / ratio * (2 + 1 / ratio);
    }
    for (int i = 0; i < 5; i++) {
        real mean = polya_gamma_mean_of_m_evaluate(room);
        room -= (1 / mean - 1 / ratio) * mean * mean / (8 * polya_gamma_curvature_m_evaluate(room));
    }
    return room;
}

// polya_gamma_log_cosh: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_log_cosh_m_evaluate(real w)
{
    real s = sinh(0.5 * fmin(fabs(w), (real)1));
    return fabs(w) < 1 ? log1p(2 * s * s) : fabs(w) + log1p(exp(-2 * fabs(w))) - LOG_2;
}

// polya_gamma_log_cosine: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_log_cosine_mm_evaluate(real w, real gap)
{
    return w < gap ? log1p(-2 * sin(0.5 * w) * sin(0.5 * w)) : log(sin(gap));
}

// polya_gamma_along_path: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real h;
    real tilt;
    real c0;
    int c1;
    int c2;
    real c3;
    real c4;
    real c5;
    real c6;
    real c7;
    int c8;
    int c9;
    int c10;
} polya_gamma_along_path_set;

DEVICE polya_gamma_along_path_set polya_gamma_along_path_prepare_set(real h, real z, int tail, int what)
{
    polya_gamma_along_path_set set;
    real tilt = 0.5 * fabs(z);
    real digits = 1.4 * (4 - log(EPSILON));
    set.h = h;
    set.tilt = tilt;
    set.c0 = 2 * tilt * tilt;
    set.c1 = tail > 0;
    set.c2 = tail != 0;
    set.c3 = polya_gamma_log_cosh(tilt);
    set.c4 = tanh(tilt);
    set.c5 = log1p(exp(-2 * tilt));
    set.c6 = 2 * digits;
    set.c7 = digits + 2;
    set.c8 = what == 1;
    set.c9 = what == 2;
    set.c10 = what > 0;
    return set;
}

// polya_gamma_along_path: what depends on the observation alone, computed once for each.
typedef struct {
    polya_gamma_room_of_mean_m_row polya_gamma_room_of_mean_0;
    real c0;
    real x;
} polya_gamma_along_path_row;

DEVICE polya_gamma_along_path_row polya_gamma_along_path_prepare_row(real x)
{
    polya_gamma_along_path_row row;
    row.polya_gamma_room_of_mean_0 = polya_gamma_room_of_mean_m_prepare_row();
    row.c0 = 4 * x;
    row.x = x;
    return row;
}

// polya_gamma_along_path: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_along_path_evaluate(polya_gamma_along_path_set set, polya_gamma_along_path_row row)
{
    real room = polya_gamma_room_of_mean_m_evaluate(row.polya_gamma_room_of_mean_0, row.c0 / set.h);
    real square = polya_gamma_square_of_m_evaluate(room);
    real half_ = sqrt(fabs(square));
    real above = square > 0 ? 2 * (half_ - set.tilt) * (half_ + set.tilt) : 2 * square - set.c0;
    real bend = set.h * polya_gamma_curvature_m_evaluate(room);
    real away = INFINITY;
    if (set.c2) {
        real root = hypot(0.5 * above, 1 / sqrt(bend));
        real shift = set.c1 ? root - 0.5 * above : -fmin(root + 0.5 * above, room);
        above += shift;
        room += 0.5 * shift;
        square += 0.5 * shift;
        half_ = sqrt(fabs(square));
        away = 0.5 * above;
    }
    real start = 2 * square;
    real focus = sqrt(room);
    real d_tilt = 0.5 * above / (half_ + set.tilt);
    real q = sinh(0.5 * d_tilt);
    real at_start = start > 0 ? polya_gamma_log_cosh_m_evaluate(half_) : polya_gamma_log_cosine_mm_evaluate(half_, polya_gamma_gap_m_evaluate(room));
    real by_tilt = start <= 0 ? at_start - set.c3 : fabs(d_tilt) < 1 ? log1p(2 * q * q + set.c4 * sinh(d_tilt)) : d_tilt + log1p(exp(-2 * half_)) - set.c5;
    real nearest = set.c2 ? fmin(focus, fabs(away) / (focus + sqrt(focus * focus - away))) : focus;
    real reach = 0.5 * sqrt(set.c6 / bend);
    real right = reach / (focus + sqrt(focus * focus + reach));
    real step = 2 * PI / (set.c6 / right + set.c7 / nearest);
    real slope = start > 0 ? tanh(half_) : polya_gamma_tangent_mm_evaluate(half_, polya_gamma_gap_m_evaluate(room));
    real sum = 0;
    real moment = 0;
    real size = INFINITY;
    for (int i = 0; i < 5000 && size > 0.01 * EPSILON * fabs(sum) && THREAD < 65536; i++) {
        real y = i * step;
        real t = start - 2 * y * y;
        real ti = 4 * focus * y;
        real r = 0.5 * hypot(t, ti);
        real big = sqrt(0.5 * (r + 0.5 * fabs(t)));
        real small = big > 0 ? 0.25 * ti / big : 0;
        real w = t > 0 ? big : small;
        real wi = t > 0 ? small : big;
        real e = exp(-2 * w);
        real c = cos(wi);
        real v = start > 0 ? w + half_ : w;
        real vi = start > 0 ? wi : wi + half_;
        real over = 0.5 / (v * v + vi * vi);
        real d = i == 0 ? 0 : (ti * vi - 2 * y * y * v) * over;
        real di = i == 0 ? 0 : (ti * v + 2 * y * y * vi) * over;
        real s = sinh(0.5 * d);
        real si = sin(0.5 * di);
        real sh = sinh(d) * cos(di);
        real shi = cosh(d) * sin(di);
        real g = 2 * s * s * cos(di) - 2 * si * si + (start > 0 ? slope * sh : -slope * shi);
        real gi = sinh(d) * sin(di) + (start > 0 ? slope * shi : slope * sh);
        real l = 0.5 * log1p(2 * g + (g * g + gi * gi));
        real li = atan2(gi, 1 + g);
        li += 2 * PI * rint((wi + atan2(-2 * e * sin(wi) * c, -expm1(-2 * w) + 2 * e * c * c) - li) / (2 * PI));
        real height = exp(-2 * y * y * row.x - set.h * l);
        real angle = ti * row.x - set.h * li;
        real p = focus;
        real pi = y;
        real u = above - 2 * y * y;
        real norm = u * u + ti * ti;
        if (set.c2) {
            p = (focus * u + y * ti) / norm;
            pi = (y * u - focus * ti) / norm;
        }
        size = height * hypot(p, pi);
        real weight = i == 0 ? 0.5 : 1;
        real a = weight * height * (p * cos(angle) - pi * sin(angle));
        real b = weight * height * (p * sin(angle) + pi * cos(angle));
        sum += a;
        moment += set.c8 ? (by_tilt + l) * a - li * b : set.c9 ? u * a - ti * b : (u * a + ti * b) / norm;
    }
    return set.c10 ? moment / sum : log(4 / PI * step * fabs(sum)) + above * row.x - set.h * by_tilt;
}

// polya_gamma_by_path: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    polya_gamma_along_path_set polya_gamma_along_path_0;
} polya_gamma_by_path_set;

DEVICE polya_gamma_by_path_set polya_gamma_by_path_prepare_set(real h, real z)
{
    polya_gamma_by_path_set set;
    set.polya_gamma_along_path_0 = polya_gamma_along_path_prepare_set(h, z, 0, 0);
    return set;
}

// polya_gamma_by_path: what depends on the observation alone, computed once for each.
typedef struct {
    polya_gamma_along_path_row polya_gamma_along_path_0;
} polya_gamma_by_path_row;

DEVICE polya_gamma_by_path_row polya_gamma_by_path_prepare_row(real x)
{
    polya_gamma_by_path_row row;
    row.polya_gamma_along_path_0 = polya_gamma_along_path_prepare_row(x);
    return row;
}

// polya_gamma_by_path: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_by_path_evaluate(polya_gamma_by_path_set set, polya_gamma_by_path_row row)
{
    return polya_gamma_along_path_evaluate(set.polya_gamma_along_path_0, row.polya_gamma_along_path_0);
}

// polya_gamma_by_path_grad_h: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    polya_gamma_along_path_set polya_gamma_along_path_0;
} polya_gamma_by_path_grad_h_set;

DEVICE polya_gamma_by_path_grad_h_set polya_gamma_by_path_grad_h_prepare_set(real h, real z)
{
    polya_gamma_by_path_grad_h_set set;
    set.polya_gamma_along_path_0 = polya_gamma_along_path_prepare_set(h, z, 0, 1);
    return set;
}

// polya_gamma_by_path_grad_h: what depends on the observation alone, computed once for each.
typedef struct {
    polya_gamma_along_path_row polya_gamma_along_path_0;
} polya_gamma_by_path_grad_h_row;

DEVICE polya_gamma_by_path_grad_h_row polya_gamma_by_path_grad_h_prepare_row(real x)
{
    polya_gamma_by_path_grad_h_row row;
    row.polya_gamma_along_path_0 = polya_gamma_along_path_prepare_row(x);
    return row;
}

// polya_gamma_by_path_grad_h: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_by_path_grad_h_evaluate(polya_gamma_by_path_grad_h_set set, polya_gamma_by_path_grad_h_row row)
{
    return -polya_gamma_along_path_evaluate(set.polya_gamma_along_path_0, row.polya_gamma_along_path_0);
}

// polya_gamma_by_path_grad_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real z;
} polya_gamma_by_path_grad_z_set;

DEVICE polya_gamma_by_path_grad_z_set polya_gamma_by_path_grad_z_prepare_set(real h, real z)
{
    polya_gamma_by_path_grad_z_set set;
    set.c0 = 0.5 * h * tanh(0.5 * z);
    set.z = z;
    return set;
}

// polya_gamma_by_path_grad_z: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} polya_gamma_by_path_grad_z_row;

DEVICE polya_gamma_by_path_grad_z_row polya_gamma_by_path_grad_z_prepare_row(real x)
{
    polya_gamma_by_path_grad_z_row row;
    row.x = x;
    return row;
}

// polya_gamma_by_path_grad_z: what depends on both, from what was computed ahead.
DEVICE real polya_gamma_by_path_grad_z_evaluate(polya_gamma_by_path_grad_z_set set, polya_gamma_by_path_grad_z_row row)
{
    return set.c0 - set.z * row.x;
}

// polya_gamma_by_path_grad_h_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    polya_gamma_by_path_set polya_gamma_by_path_0;
    polya_gamma_by_path_grad_h_set polya_gamma_by_path_grad_h_0;
    polya_gamma_by_path_grad_z_set polya_gamma_by_path_grad_z_0;
} polya_gamma_by_path_grad_h_z_set;

DEVICE polya_gamma_by_path_grad_h_z_set polya_gamma_by_path_grad_h_z_prepare_set(real h, real z)
{
    polya_gamma_by_path_grad_h_z_set set;
    set.polya_gamma_by_path_0 = polya_gamma_by_path_prepare_set(h, z);
    set.polya_gamma_by_path_grad_h_0 = polya_gamma_by_path_grad_h_prepare_set(h, z);
    set.polya_gamma_by_path_grad_z_0 = polya_gamma_by_path_grad_z_prepare_set(h, z);
    return set;
}

// polya_gamma_by_path_grad_h_z: what depends on the observation alone, computed once for each.
typedef struct {
    polya_gamma_by_path_row polya_gamma_by_path_0;
    polya_gamma_by_path_grad_h_row polya_gamma_by_path_grad_h_0;
    polya_gamma_by_path_grad_z_row polya_gamma_by_path_grad_z_0;
} polya_gamma_by_path_grad_h_z_row;

DEVICE polya_gamma_by_path_grad_h_z_row polya_gamma_by_path_grad_h_z_prepare_row(real x)
{
    polya_gamma_by_path_grad_h_z_row row;
    row.polya_gamma_by_path_0 = polya_gamma_by_path_prepare_row(x);
    row.polya_gamma_by_path_grad_h_0 = polya_gamma_by_path_grad_h_prepare_row(x);
    row.polya_gamma_by_path_grad_z_0 = polya_gamma_by_path_grad_z_prepare_row(x);
    return row;
}

// polya_gamma_by_path_grad_h_z: what depends on both, from what was computed ahead.
DEVICE polya_gamma_by_path_grad_h_z_results polya_gamma_by_path_grad_h_z_evaluate(polya_gamma_by_path_grad_h_z_set set, polya_gamma_by_path_grad_h_z_row row)
{
    return make_polya_gamma_by_path_grad_h_z_results(polya_gamma_by_path_evaluate(set.polya_gamma_by_path_0, row.polya_gamma_by_path_0), polya_gamma_by_path_grad_h_evaluate(set.polya_gamma_by_path_grad_h_0, row.polya_gamma_by_path_grad_h_0), polya_gamma_by_path_grad_z_evaluate(set.polya_gamma_by_path_grad_z_0, row.polya_gamma_by_path_grad_z_0));
}

// polya_gamma_logpdf_grad_h_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    real c1;
    real h;
    polya_gamma_log_series_grad_h_set polya_gamma_0;
    real c2;
    real c3;
    real c4;
    real c5;
    real c6;
    polya_gamma_by_path_grad_h_z_set polya_gamma_by_path_grad_h_z_0;
} polya_gamma_logpdf_grad_h_z_set;

DEVICE polya_gamma_logpdf_grad_h_z_set polya_gamma_logpdf_grad_h_z_prepare_set(real h, real z)
{
    polya_gamma_logpdf_grad_h_z_set set;
    set.c0 = z > 0 ? 1 : z < 0 ? -1 : 0;
    set.c1 = fabs(z);
    set.h = h;
    set.polya_gamma_0 = polya_gamma_log_series_grad_h_prepare_set(h);
    real t = exp(-fabs(z));
    real t2 = log1p(t);
    set.c2 = h * t2 + log(h) - LOG_2 - HALF_LOG_2PI;
    set.c3 = t2 + special_log_slope(h);
    set.c4 = -((z > 0 ? 1 : z < 0 ? -1 : 0) * t * (1 / (1 + t)) * h);
    set.c5 = 2 + h;
    set.c6 = -(1 + h);
    set.polya_gamma_by_path_grad_h_z_0 = polya_gamma_by_path_grad_h_z_prepare_set(h, z);
    return set;
}

// polya_gamma_logpdf_grad_h_z: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real c1;
    polya_gamma_log_series_grad_h_row polya_gamma_0;
    real x;
    real c2;
    real t5;
    real c3;
    polya_gamma_by_path_grad_h_z_row polya_gamma_by_path_grad_h_z_0;
} polya_gamma_logpdf_grad_h_z_row;

DEVICE polya_gamma_logpdf_grad_h_z_row polya_gamma_logpdf_grad_h_z_prepare_row(real x)
{
    polya_gamma_logpdf_grad_h_z_row row;
    row.c0 = x == 0 || isinf(x);
    row.c1 = -2 * x;
    row.polya_gamma_0 = polya_gamma_log_series_grad_h_prepare_row(x);
    row.x = x;
    real t5 = 1 / x;
    row.c2 = 1.5 * log(x);
    row.t5 = t5;
    row.c3 = 2 * x;
    row.polya_gamma_by_path_grad_h_z_0 = polya_gamma_by_path_grad_h_z_prepare_row(x);
    return row;
}

// polya_gamma_logpdf_grad_h_z: what depends on both, from what was computed ahead.
DEVICE polya_gamma_logpdf_grad_h_z_results polya_gamma_logpdf_grad_h_z_evaluate(polya_gamma_logpdf_grad_h_z_set set, polya_gamma_logpdf_grad_h_z_row row)
{
    if (row.c0) {
        return make_polya_gamma_logpdf_grad_h_z_results(-INFINITY, 0, 0);
    }
    if (set.c5 * exp(set.c6 / row.c3) < 0.1) {
        real d_z_d = row.c1 * set.c0;
        real d = fma(row.c1, set.c1, set.h);
        polya_gamma_log_series_grad_h_results call = polya_gamma_log_series_grad_h_evaluate(set.polya_gamma_0, row.polya_gamma_0);
        real t3 = d / row.x;
        real t4 = 0.125 * t3;
        return make_polya_gamma_logpdf_grad_h_z_results(set.c2 - row.c2 - 0.125 * d * t3 + call.value, set.c3 - (t4 + 0.125 * d * row.t5) + call.d_h, set.c4 - (t4 * d_z_d + 0.125 * d * (d_z_d * row.t5)));
    }
    polya_gamma_by_path_grad_h_z_results call2 = polya_gamma_by_path_grad_h_z_evaluate(set.polya_gamma_by_path_grad_h_z_0, row.polya_gamma_by_path_grad_h_z_0);
    return make_polya_gamma_logpdf_grad_h_z_results(call2.value, call2.d_h, call2.d_z);
}

// polya_gamma_logpdf_checked_grad_h_z: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    polya_gamma_logpdf_grad_h_z_set polya_gamma_0;
    real c0;
} polya_gamma_logpdf_checked_grad_h_z_set;

DEVICE polya_gamma_logpdf_checked_grad_h_z_set polya_gamma_logpdf_checked_grad_h_z_prepare_set(real h, real z)
{
    polya_gamma_logpdf_checked_grad_h_z_set set;
    real bad_h = h > 0 ? 0 : NAN;
    real bad_z = z == z ? 0 : NAN;
    set.polya_gamma_0 = polya_gamma_logpdf_grad_h_z_prepare_set(h, z);
    set.c0 = bad_h + bad_z;
    return set;
}

// polya_gamma_logpdf_checked_grad_h_z: what depends on the observation alone, computed once for each.
typedef struct {
    polya_gamma_logpdf_grad_h_z_row polya_gamma_0;
    int inside;
    real outside;
    real t;
} polya_gamma_logpdf_checked_grad_h_z_row;

DEVICE polya_gamma_logpdf_checked_grad_h_z_row polya_gamma_logpdf_checked_grad_h_z_prepare_row(real x)
{
    polya_gamma_logpdf_checked_grad_h_z_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.polya_gamma_0 = polya_gamma_logpdf_grad_h_z_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// polya_gamma_logpdf_checked_grad_h_z: what depends on both, from what was computed ahead.
DEVICE polya_gamma_logpdf_checked_grad_h_z_results polya_gamma_logpdf_checked_grad_h_z_evaluate(polya_gamma_logpdf_checked_grad_h_z_set set, polya_gamma_logpdf_checked_grad_h_z_row row)
{
    polya_gamma_logpdf_grad_h_z_results call = polya_gamma_logpdf_grad_h_z_evaluate(set.polya_gamma_0, row.polya_gamma_0);
    real d_h_value = call.d_h;
    real d_z_value = call.d_z;
    real value = call.value;
    return make_polya_gamma_logpdf_checked_grad_h_z_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_h_value : row.t) + set.c0, (row.inside ? d_z_value : row.t) + set.c0);
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
// Here f has several results: value, d_h, d_z are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) polya_gamma_logpdf_checked_grad_h_z_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT h_per_set, index_t h_offset, index_t h_stride, GLOBAL const real *RESTRICT z_per_set, index_t z_offset, index_t z_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    h_per_set += h_offset;
    z_per_set += z_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(polya_gamma_logpdf_checked_grad_h_z_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = polya_gamma_logpdf_checked_grad_h_z_prepare_set(h_per_set[(first_set + MIN(k, sets_here - 1)) * h_stride], z_per_set[(first_set + MIN(k, sets_here - 1)) * z_stride]);
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
                    const polya_gamma_logpdf_checked_grad_h_z_row row = polya_gamma_logpdf_checked_grad_h_z_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const polya_gamma_logpdf_checked_grad_h_z_results result = polya_gamma_logpdf_checked_grad_h_z_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_h;
                        total[k * 3 + 2] += result.d_z;
                    }
                }
                {
                    const polya_gamma_logpdf_checked_grad_h_z_row row = polya_gamma_logpdf_checked_grad_h_z_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const polya_gamma_logpdf_checked_grad_h_z_results result = polya_gamma_logpdf_checked_grad_h_z_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_h;
                        total[k * 3 + 2] += result.d_z;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const polya_gamma_logpdf_checked_grad_h_z_row row = polya_gamma_logpdf_checked_grad_h_z_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const polya_gamma_logpdf_checked_grad_h_z_results result = polya_gamma_logpdf_checked_grad_h_z_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_h;
                        total[k * 3 + 2] += result.d_z;
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










