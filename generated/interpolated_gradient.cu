// The gradient kernel of interpolated, made by `gpustats generate`. Do not edit.
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
    real d_x_points;
} interpolated_area_grad_x_points_results;

DEVICE interpolated_area_grad_x_points_results make_interpolated_area_grad_x_points_results(real value, real d_x_points)
{
    interpolated_area_grad_x_points_results results;
    results.value = value;
    results.d_x_points = d_x_points;
    return results;
}


typedef struct {
    real value;
    real d_x_points;
} interpolated_logpdf_grad_x_points_results;

DEVICE interpolated_logpdf_grad_x_points_results make_interpolated_logpdf_grad_x_points_results(real value, real d_x_points)
{
    interpolated_logpdf_grad_x_points_results results;
    results.value = value;
    results.d_x_points = d_x_points;
    return results;
}


typedef struct {
    real value;
    real d_x_points;
} interpolated_logpdf_checked_grad_x_points_results;

DEVICE interpolated_logpdf_checked_grad_x_points_results make_interpolated_logpdf_checked_grad_x_points_results(real value, real d_x_points)
{
    interpolated_logpdf_checked_grad_x_points_results results;
    results.value = value;
    results.d_x_points = d_x_points;
    return results;
}


DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

DEVICE interpolated_area_grad_x_points_results interpolated_area_grad_x_points(GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim, int component)
{
    real d_x_points_sum = 0;
    real sum = 0;
    for (int i = 1; i < dim; i++) {
        real t = 0.5 * (pdf_points[min(max(int_difference(i, 1), 0), max(dim - 1, 0))] + pdf_points[i]);
        d_x_points_sum += t * ((i == component ? 1 : 0) - (min(max(int_difference(i, 1), 0), max(dim - 1, 0)) == component ? 1 : 0));
        sum += t * (x_points[i] - x_points[min(max(int_difference(i, 1), 0), max(dim - 1, 0))]);
    }
    return make_interpolated_area_grad_x_points_results(sum > 0 && sum < INFINITY ? sum : NAN, sum > 0 && sum < INFINITY ? d_x_points_sum : NAN);
}

// interpolated_interval: what depends on the observation alone, computed once for each.
typedef struct {
    real x;
} interpolated_interval_row;

DEVICE interpolated_interval_row interpolated_interval_prepare_row(real x)
{
    interpolated_interval_row row;
    row.x = x;
    return row;
}

// interpolated_interval: what depends on both, from what was computed ahead.
DEVICE int interpolated_interval_evaluate(interpolated_interval_row row, GLOBAL const real *x_points, int dim)
{
    int low = 0;
    int high = dim - 1;
    for (int step = 0; step < 32 && int_difference(high, low) > 1 && THREAD < 65536; step++) {
        int middle = int_sum(low, int_difference(high, low) / 2);
        if (x_points[min(max(middle, 0), max(dim - 1, 0))] <= row.x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// interpolated_logpdf_grad_x_points: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int component;
    real c0;
    real c1;
    int c2;
    real c3;
    real c4;
} interpolated_logpdf_grad_x_points_set;

DEVICE interpolated_logpdf_grad_x_points_set interpolated_logpdf_grad_x_points_prepare_set(GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim, int component)
{
    interpolated_logpdf_grad_x_points_set set;
    interpolated_area_grad_x_points_results call = interpolated_area_grad_x_points(x_points, pdf_points, dim, component);
    real d_x_points_total = call.d_x_points;
    real total = call.value;
    set.component = component;
    set.c0 = special_log_slope(total) * d_x_points_total;
    set.c1 = log(total);
    set.c2 = isnan(total);
    set.c3 = x_points[0];
    set.c4 = x_points[dim - 1];
    return set;
}

// interpolated_logpdf_grad_x_points: what depends on the observation alone, computed once for each.
typedef struct {
    interpolated_interval_row interpolated_interval_0;
    real x;
} interpolated_logpdf_grad_x_points_row;

DEVICE interpolated_logpdf_grad_x_points_row interpolated_logpdf_grad_x_points_prepare_row(real x)
{
    interpolated_logpdf_grad_x_points_row row;
    row.interpolated_interval_0 = interpolated_interval_prepare_row(x);
    row.x = x;
    return row;
}

// interpolated_logpdf_grad_x_points: what depends on both, from what was computed ahead.
DEVICE interpolated_logpdf_grad_x_points_results interpolated_logpdf_grad_x_points_evaluate(interpolated_logpdf_grad_x_points_set set, interpolated_logpdf_grad_x_points_row row, GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim)
{
    int i = interpolated_interval_evaluate(row.interpolated_interval_0, x_points, dim);
    real t = x_points[min(max(i, 0), dim - 1)];
    real t2 = x_points[min(max(int_sum(i, 1), 0), dim - 1)] - t;
    real t3 = (row.x - t) / t2;
    real d_x_points_share = (int_difference(0, min(max(i, 0), dim - 1) == set.component ? 1 : 0) - t3 * ((min(max(int_sum(i, 1), 0), dim - 1) == set.component ? 1 : 0) - (min(max(i, 0), dim - 1) == set.component ? 1 : 0))) * (1 / t2);
    real share = t3;
    real t4 = pdf_points[min(max(i, 0), dim - 1)];
    real t5 = pdf_points[min(max(int_sum(i, 1), 0), dim - 1)];
    real t6 = t4 * (1 - share) + t5 * share;
    real d_x_points_value = special_log_slope(t6) * (t5 * d_x_points_share - d_x_points_share * t4) - set.c0;
    real value = log(t6) - set.c1;
    return make_interpolated_logpdf_grad_x_points_results(set.c2 ? NAN : row.x < set.c3 || row.x > set.c4 ? -INFINITY : value, set.c2 ? NAN : row.x < set.c3 || row.x > set.c4 ? 0 : d_x_points_value);
}

// interpolated_logpdf_checked_grad_x_points: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    interpolated_logpdf_grad_x_points_set interpolated_0;
    real c0;
} interpolated_logpdf_checked_grad_x_points_set;

DEVICE interpolated_logpdf_checked_grad_x_points_set interpolated_logpdf_checked_grad_x_points_prepare_set(GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim, int component)
{
    interpolated_logpdf_checked_grad_x_points_set set;
    real bad_x_points = 0;
    for (int i = 1; i < dim; i++) {
        if (!(x_points[min(max(int_difference(i, 1), 0), max(dim - 1, 0))] < x_points[i])) {
            bad_x_points = NAN;
        }
    }
    for (int i_2 = 0; i_2 < dim; i_2++) {
        if (!(x_points[i_2] == x_points[i_2])) {
            bad_x_points = NAN;
        }
    }
    real bad_pdf_points = 0;
    for (int i_3 = 0; i_3 < dim; i_3++) {
        if (!(pdf_points[i_3] >= 0)) {
            bad_pdf_points = NAN;
        }
    }
    set.interpolated_0 = interpolated_logpdf_grad_x_points_prepare_set(x_points, pdf_points, dim, component);
    set.c0 = bad_x_points + bad_pdf_points;
    return set;
}

// interpolated_logpdf_checked_grad_x_points: what depends on the observation alone, computed once for each.
typedef struct {
    interpolated_logpdf_grad_x_points_row interpolated_0;
    real outside;
    real d_x_points_outside;
    int inside;
} interpolated_logpdf_checked_grad_x_points_row;

DEVICE interpolated_logpdf_checked_grad_x_points_row interpolated_logpdf_checked_grad_x_points_prepare_row(real x)
{
    interpolated_logpdf_checked_grad_x_points_row row;
    real d_x_points_outside = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x == x;
    row.interpolated_0 = interpolated_logpdf_grad_x_points_prepare_row(x);
    row.outside = outside;
    row.d_x_points_outside = d_x_points_outside;
    row.inside = inside;
    return row;
}

// interpolated_logpdf_checked_grad_x_points: what depends on both, from what was computed ahead.
DEVICE interpolated_logpdf_checked_grad_x_points_results interpolated_logpdf_checked_grad_x_points_evaluate(interpolated_logpdf_checked_grad_x_points_set set, interpolated_logpdf_checked_grad_x_points_row row, GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim)
{
    real either;
    real d_x_points_either;
    if (row.inside) {
        interpolated_logpdf_grad_x_points_results call = interpolated_logpdf_grad_x_points_evaluate(set.interpolated_0, row.interpolated_0, x_points, pdf_points, dim);
        either = call.value;
        d_x_points_either = call.d_x_points;
    } else {
        either = row.outside;
        d_x_points_either = row.d_x_points_outside;
    }
    return make_interpolated_logpdf_checked_grad_x_points_results(either + set.c0, d_x_points_either + set.c0);
}

// interpolated_logpdf_checked_d_x_points: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    interpolated_logpdf_checked_grad_x_points_set interpolated_0;
} interpolated_logpdf_checked_d_x_points_set;

DEVICE interpolated_logpdf_checked_d_x_points_set interpolated_logpdf_checked_d_x_points_prepare_set(GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim, int component)
{
    interpolated_logpdf_checked_d_x_points_set set;
    set.interpolated_0 = interpolated_logpdf_checked_grad_x_points_prepare_set(x_points, pdf_points, dim, component);
    return set;
}

// interpolated_logpdf_checked_d_x_points: what depends on the observation alone, computed once for each.
typedef struct {
    interpolated_logpdf_checked_grad_x_points_row interpolated_0;
} interpolated_logpdf_checked_d_x_points_row;

DEVICE interpolated_logpdf_checked_d_x_points_row interpolated_logpdf_checked_d_x_points_prepare_row(real x)
{
    interpolated_logpdf_checked_d_x_points_row row;
    row.interpolated_0 = interpolated_logpdf_checked_grad_x_points_prepare_row(x);
    return row;
}

// interpolated_logpdf_checked_d_x_points: what depends on both, from what was computed ahead.
DEVICE real interpolated_logpdf_checked_d_x_points_evaluate(interpolated_logpdf_checked_d_x_points_set set, interpolated_logpdf_checked_d_x_points_row row, GLOBAL const real *x_points, GLOBAL const real *pdf_points, int dim)
{
    interpolated_logpdf_checked_grad_x_points_results results = interpolated_logpdf_checked_grad_x_points_evaluate(set.interpolated_0, row.interpolated_0, x_points, pdf_points, dim);
    return results.d_x_points;
}


// Adds sums[s * threads + 0 .. threads - 1] into its first place, for every s, as a tree.
DEVICE void add_threads(SHARED double *sums)
{
    for (int width = 64; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width)
            UNROLL for (int s = 0; s < 8; s++)
                sums[s * 128 + THREAD] += sums[s * 128 + THREAD + width];
    }
    BARRIER();
}

// Adds the blocks' sums of this block's sets, in the order of the blocks, into `out`.
DEVICE void add_blocks(GLOBAL double *out, GLOBAL const double *partial, index_t first_set, int sets_here, index_t blocks,
                       SHARED double *sums)
{
    for (int first = 0; first < sets_here * 1; first += 8) {
        const int sums_here = (int)MIN(sets_here * 1 - first, 8);
        for (int s = 0; s < 8; s++) {
            double total = 0;
            if (s < sums_here)
                for (index_t b = THREAD; b < blocks; b += 128)
                    total += partial[(first_set * 1 + first + s) * blocks + b];
            sums[s * 128 + THREAD] = total;
        }
        add_threads(sums);
        for (index_t s = THREAD; s < sums_here; s += 128)
            out[first_set * 1 + first + s] = sums[s * 128];
        BARRIER();
    }
}


// The loglik shape: out[set] = sum over rows of f(observation, parameter set); the terms are never written.
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) interpolated_logpdf_checked_d_x_points_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT x_points_per_set, index_t x_points_offset, index_t x_points_stride, GLOBAL const real *RESTRICT pdf_points_per_set, index_t pdf_points_offset, index_t pdf_points_stride, GLOBAL const real *RESTRICT component_per_set, index_t component_offset, index_t component_stride, int dim)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    x_points_per_set += x_points_offset;
    pdf_points_per_set += pdf_points_offset;
    component_per_set += component_offset;
    SHARED_ARRAY(double, sums, 1024);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(interpolated_logpdf_checked_d_x_points_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = interpolated_logpdf_checked_d_x_points_prepare_set(x_points_per_set + (first_set + MIN(k, sets_here - 1)) * x_points_stride, pdf_points_per_set + (first_set + MIN(k, sets_here - 1)) * pdf_points_stride, dim, component_per_set[(first_set + MIN(k, sets_here - 1)) * component_stride]);
    BARRIER();

    double total[8];
    UNROLL for (int s = 0; s < 8; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 256; first < n_rows; first += BLOCKS_Y * 256) {
        if (first + 256 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            double2 x_tile[1];
            UNROLL for (int u = 0; u < 1; u++)
                x_tile[u] = *(GLOBAL const double2 *)(x_per_row + first + (u * 128 + THREAD) * 2);
            UNROLL for (int u = 0; u < 1; u++) {
                const double2 x_wide = x_tile[u];
                {
                    const interpolated_logpdf_checked_d_x_points_row row = interpolated_logpdf_checked_d_x_points_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        total[k] += interpolated_logpdf_checked_d_x_points_evaluate(sets[k], row, x_points_per_set + (first_set + MIN(k, sets_here - 1)) * x_points_stride, pdf_points_per_set + (first_set + MIN(k, sets_here - 1)) * pdf_points_stride, dim);
                    }
                }
                {
                    const interpolated_logpdf_checked_d_x_points_row row = interpolated_logpdf_checked_d_x_points_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        total[k] += interpolated_logpdf_checked_d_x_points_evaluate(sets[k], row, x_points_per_set + (first_set + MIN(k, sets_here - 1)) * x_points_stride, pdf_points_per_set + (first_set + MIN(k, sets_here - 1)) * pdf_points_stride, dim);
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const interpolated_logpdf_checked_d_x_points_row row = interpolated_logpdf_checked_d_x_points_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        total[k] += interpolated_logpdf_checked_d_x_points_evaluate(sets[k], row, x_points_per_set + (first_set + MIN(k, sets_here - 1)) * x_points_stride, pdf_points_per_set + (first_set + MIN(k, sets_here - 1)) * pdf_points_stride, dim);
                    }
                }
            }
    }
    GLOBAL double *const block_sums = BLOCKS_Y == 1
        ? out + out_offset + first_set * 1 : partial + first_set * 1 * BLOCKS_Y + BLOCK_Y;
    UNROLL for (int s = 0; s < 8; s++)
        sums[s * 128 + THREAD] = total[s];
    add_threads(sums);
    for (index_t s = THREAD; s < MIN(sets_here * 1 - 0, 8); s += 128)
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










