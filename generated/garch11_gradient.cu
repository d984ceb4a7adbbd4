// The gradient kernel of garch11, made by `gpustats generate`. Do not edit.
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
    real d_omega;
    real d_alpha_1;
    real d_beta_1;
    real d_initial_vol;
} garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results;

DEVICE garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results make_garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results(real value, real d_omega, real d_alpha_1, real d_beta_1, real d_initial_vol)
{
    garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results results;
    results.value = value;
    results.d_omega = d_omega;
    results.d_alpha_1 = d_alpha_1;
    results.d_beta_1 = d_beta_1;
    results.d_initial_vol = d_initial_vol;
    return results;
}


typedef struct {
    real value;
    real d_omega;
    real d_alpha_1;
    real d_beta_1;
    real d_initial_vol;
} garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results;

DEVICE garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results make_garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results(real value, real d_omega, real d_alpha_1, real d_beta_1, real d_initial_vol)
{
    garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results results;
    results.value = value;
    results.d_omega = d_omega;
    results.d_alpha_1 = d_alpha_1;
    results.d_beta_1 = d_beta_1;
    results.d_initial_vol = d_initial_vol;
    return results;
}


DEVICE real special_log_slope(real y)
{
    real e = EPSILON;
    real e5 = e * e * e * e * e;
    real e10 = e5 * e5;
    return 1 / (y > 0 ? fmax(y, EPSILON < 1e-10 ? e10 * e5 * e * e * e * e / 17179869184.0 : e5 / 2048) : y);
}

// garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real c1;
    real beta_1;
    real omega;
    real alpha_1;
} garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_set;

DEVICE garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_set garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_prepare_set(real omega, real alpha_1, real beta_1, real initial_vol)
{
    garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_set set;
    set.c0 = 2 * initial_vol;
    set.c1 = initial_vol * initial_vol;
    set.beta_1 = beta_1;
    set.omega = omega;
    set.alpha_1 = alpha_1;
    return set;
}

// garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol: what depends on both, from what was computed ahead.
DEVICE garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_evaluate(garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_set set, SHARED const real *x, int dim)
{
    real d_omega_variance = 0;
    real d_alpha_1_variance = 0;
    real d_beta_1_variance = 0;
    real d_initial_vol_variance = set.c0;
    real variance = set.c1;
    real d_omega_sum = 0;
    real d_alpha_1_sum = 0;
    real d_beta_1_sum = 0;
    real d_initial_vol_sum = 0;
    real sum = 0;
    for (int i = 0; i < dim; i++) {
        if (i > 0) {
            real t = x[min(max(int_difference(i, 1), 0), dim - 1)];
            real t2 = t * t;
            d_omega_variance = 1 + set.beta_1 * d_omega_variance;
            d_alpha_1_variance = t2 + set.beta_1 * d_alpha_1_variance;
            d_beta_1_variance = variance + set.beta_1 * d_beta_1_variance;
            d_initial_vol_variance = set.beta_1 * d_initial_vol_variance;
            variance = set.omega + set.alpha_1 * t2 + set.beta_1 * variance;
        }
        real t3 = special_log_slope(variance);
        real t4 = 0.5 * (x[i] * x[i]) / variance;
        real t5 = 1 / variance;
        d_omega_sum += 0.5 * (t3 * d_omega_variance) - t4 * d_omega_variance * t5;
        d_alpha_1_sum += 0.5 * (t3 * d_alpha_1_variance) - t4 * d_alpha_1_variance * t5;
        d_beta_1_sum += 0.5 * (t3 * d_beta_1_variance) - t4 * d_beta_1_variance * t5;
        d_initial_vol_sum += 0.5 * (t3 * d_initial_vol_variance) - t4 * d_initial_vol_variance * t5;
        sum += 0.5 * log(variance) + t4 + HALF_LOG_2PI;
    }
    return make_garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results(-sum, -d_omega_sum, -d_alpha_1_sum, -d_beta_1_sum, -d_initial_vol_sum);
}

// garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_set garch11_0;
    real t2;
} garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_set;

DEVICE garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_set garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_prepare_set(real omega, real alpha_1, real beta_1, real initial_vol)
{
    garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_set set;
    real bad_omega = omega >= 0 ? 0 : NAN;
    real bad_alpha_1 = alpha_1 >= 0 ? 0 : NAN;
    real bad_beta_1 = beta_1 >= 0 ? 0 : NAN;
    real bad_initial_vol = initial_vol > 0 ? 0 : NAN;
    real t2 = bad_omega + bad_alpha_1 + bad_beta_1 + bad_initial_vol;
    set.garch11_0 = garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_prepare_set(omega, alpha_1, beta_1, initial_vol);
    set.t2 = t2;
    return set;
}

// garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol: what depends on the observation alone, computed once for each.
typedef struct {
    real outside;
    real t;
    int inside;
} garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_row;

DEVICE garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_row garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_prepare_row(SHARED const real *x, int dim)
{
    garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_row row;
    real bad_x = 0;
    for (int i = 0; i < dim; i++) {
        if (!(x[i] == x[i])) {
            bad_x = -INFINITY;
        }
    }
    int nan_x = 0;
    for (int i_2 = 0; i_2 < dim; i_2++) {
        if (x[i_2] != x[i_2]) {
            nan_x = 1;
        }
    }
    real t = nan_x ? NAN : 0;
    real outside = nan_x ? NAN : bad_x;
    int inside = bad_x == 0;
    row.outside = outside;
    row.t = t;
    row.inside = inside;
    return row;
}

// garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol: what depends on both, from what was computed ahead.
DEVICE garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_evaluate(garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_set set, garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_row row, SHARED const real *x, int dim)
{
    real either;
    real d_omega_either;
    real d_alpha_1_either;
    real d_beta_1_either;
    real d_initial_vol_either;
    if (row.inside) {
        garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_results call = garch11_logpdf_grad_omega_alpha_1_beta_1_initial_vol_evaluate(set.garch11_0, x, dim);
        either = call.value;
        d_omega_either = call.d_omega;
        d_alpha_1_either = call.d_alpha_1;
        d_beta_1_either = call.d_beta_1;
        d_initial_vol_either = call.d_initial_vol;
    } else {
        either = row.outside;
        d_omega_either = row.t;
        d_alpha_1_either = row.t;
        d_beta_1_either = row.t;
        d_initial_vol_either = row.t;
    }
    return make_garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results(either + set.t2, d_omega_either + set.t2, d_alpha_1_either + set.t2, d_beta_1_either + set.t2, d_initial_vol_either + set.t2);
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
// Here f has several results: value, d_omega, d_alpha_1, d_beta_1, d_initial_vol are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT omega_per_set, index_t omega_offset, index_t omega_stride, GLOBAL const real *RESTRICT alpha_1_per_set, index_t alpha_1_offset, index_t alpha_1_stride, GLOBAL const real *RESTRICT beta_1_per_set, index_t beta_1_offset, index_t beta_1_stride, GLOBAL const real *RESTRICT initial_vol_per_set, index_t initial_vol_offset, index_t initial_vol_stride, int dim)
{
    const index_t first_set = BLOCK_X * 4;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)4);
    x_per_row += x_offset + first_set * x_stride;
    omega_per_set += omega_offset;
    alpha_1_per_set += alpha_1_offset;
    beta_1_per_set += beta_1_offset;
    initial_vol_per_set += initial_vol_offset;
    SHARED_ARRAY(double, sums, 1280);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_set, sets, 4);
    for (index_t k = THREAD; k < 4; k += 128)
        sets[k] = garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_prepare_set(omega_per_set[(first_set + MIN(k, sets_here - 1)) * omega_stride], alpha_1_per_set[(first_set + MIN(k, sets_here - 1)) * alpha_1_stride], beta_1_per_set[(first_set + MIN(k, sets_here - 1)) * beta_1_stride], initial_vol_per_set[(first_set + MIN(k, sets_here - 1)) * initial_vol_stride]);
    BARRIER();

    SHARED_ARRAY(real, vectors, 640);  // rows of x, padded to an odd length against bank conflicts
    const int padded = dim | 1;
    double total[20];
    UNROLL for (int s = 0; s < 20; s++)
        total[s] = 0;
    for (index_t first = BLOCK_Y * 128; first < n_rows; first += BLOCKS_Y * 128) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)128);
        for (index_t e = THREAD; e < rows_here * dim; e += 128)
            vectors[e / dim * padded + e % dim] = x_per_row[first * dim + e];
        BARRIER();
        if (first + 128 <= n_rows) {  // a whole tile: all its loads first, and no thread idle
            UNROLL for (int u = 0; u < 1; u++) {
                const index_t r = u * 128 + THREAD, n = first + r;
                    const garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_row row = garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_prepare_row(vectors + (r) * padded, dim);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results result = garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_evaluate(sets[k], row, vectors + (r) * padded, dim);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_omega;
                        total[k * 5 + 2] += result.d_alpha_1;
                        total[k * 5 + 3] += result.d_beta_1;
                        total[k * 5 + 4] += result.d_initial_vol;
                    }
            }
        } else
            for (int u = 0; u < 1; u++) {
                const index_t r = u * 128 + THREAD, n = first + r;
                if (n < n_rows) {
                    const garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_row row = garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_prepare_row(vectors + (r) * padded, dim);
                    UNROLL for (int k = 0; k < 4; k++) {
                        const garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_results result = garch11_logpdf_checked_grad_omega_alpha_1_beta_1_initial_vol_evaluate(sets[k], row, vectors + (r) * padded, dim);
                        total[k * 5 + 0] += result.value;
                        total[k * 5 + 1] += result.d_omega;
                        total[k * 5 + 2] += result.d_alpha_1;
                        total[k * 5 + 3] += result.d_beta_1;
                        total[k * 5 + 4] += result.d_initial_vol;
                    }
                }
            }
        BARRIER();
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










