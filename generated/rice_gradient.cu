// The gradient kernel of rice, made by `gpustats generate`. Do not edit.
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
    real d_x;
} special_log_i0e_grad_x_results;

DEVICE special_log_i0e_grad_x_results make_special_log_i0e_grad_x_results(real value, real d_x)
{
    special_log_i0e_grad_x_results results;
    results.value = value;
    results.d_x = d_x;
    return results;
}


typedef struct {
    real value;
    real d_nu;
    real d_sigma;
} rice_logpdf_grad_nu_sigma_results;

DEVICE rice_logpdf_grad_nu_sigma_results make_rice_logpdf_grad_nu_sigma_results(real value, real d_nu, real d_sigma)
{
    rice_logpdf_grad_nu_sigma_results results;
    results.value = value;
    results.d_nu = d_nu;
    results.d_sigma = d_sigma;
    return results;
}


typedef struct {
    real value;
    real d_nu;
    real d_sigma;
} rice_logpdf_checked_grad_nu_sigma_results;

DEVICE rice_logpdf_checked_grad_nu_sigma_results make_rice_logpdf_checked_grad_nu_sigma_results(real value, real d_nu, real d_sigma)
{
    rice_logpdf_checked_grad_nu_sigma_results results;
    results.value = value;
    results.d_nu = d_nu;
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

DEVICE special_log_i0e_grad_x_results special_log_i0e_grad_x(real x)
{
    real d_x_s = 0.5 * x;
    real s = 0.25 * x * x;
    real t = 1 / x;
    real d_x_v = -(t * t);
    real v = t;
    real t2 = 2.439972912314401543e-27 + s * (5.532599962083509477e-30 + s * 4.530538579538888947e-32);
    real t3 = 5.77993308677819623e-25 + s * t2;
    real t4 = 1.317890783571837945e-22 + s * t3;
    real t5 = 2.57844626834708432e-20 + s * t4;
    real t6 = 4.358472637504152774e-18 + s * t5;
    real t7 = 6.276070591825722735e-16 + s * t6;
    real t8 = 7.59405948516373036e-14 + s * t7;
    real t9 = 7.594058350023633202e-12 + s * t8;
    real t10 = 6.151187331057918216e-10 + s * t9;
    real t11 = 3.936759888971503086e-8 + s * t10;
    real t12 = 1.929012345683695075e-6 + s * t11;
    real t13 = 6.944444444443587785e-5 + s * t12;
    real t14 = 0.001736111111111120641 + s * t13;
    real t15 = 0.02777777777777777219 + s * t14;
    real t16 = 0.2500000000000000013 + s * t15;
    real t17 = 0.9999999999999999999 + s * t16;
    real d_x_small = t17 * d_x_s + s * (t16 * d_x_s + s * (t15 * d_x_s + s * (t14 * d_x_s + s * (t13 * d_x_s + s * (t12 * d_x_s + s * (t11 * d_x_s + s * (t10 * d_x_s + s * (t9 * d_x_s + s * (t8 * d_x_s + s * (t7 * d_x_s + s * (t6 * d_x_s + s * (t5 * d_x_s + s * (t4 * d_x_s + s * (t3 * d_x_s + s * (t2 * d_x_s + s * ((5.532599962083509477e-30 + s * 4.530538579538888947e-32) * d_x_s + s * (4.530538579538889e-32 * d_x_s)))))))))))))))));
    real small = 1 + s * t17;
    real t18 = -5.133554994284065768e10 + v * (1.329111122925200917e11 + v * -1.541869293960297045e11);
    real t19 = 1.176507970160360616e10 + v * t18;
    real t20 = -1.788145754096638148e9 + v * t19;
    real t21 = 1.908826967787999843e8 + v * t20;
    real t22 = -1.477550287186147686e7 + v * t21;
    real t23 = 843568.7638892325177 + v * t22;
    real t24 = -35726.96193320773503 + v * t23;
    real t25 = 1122.979062439468337 + v * t24;
    real t26 = -25.02144341286389067 + v * t25;
    real t27 = 0.6510036453190089292 + v * t26;
    real t28 = 0.08579281840086861734 + v * t27;
    real t29 = 0.04477818598600680342 + v * t28;
    real t30 = 0.0292192426797380241 + v * t29;
    real t31 = 0.02805062947624493959 + v * t30;
    real t32 = 0.04986778504981878746 + v * t31;
    real d_x_large = t32 * d_x_v + v * (t31 * d_x_v + v * (t30 * d_x_v + v * (t29 * d_x_v + v * (t28 * d_x_v + v * (t27 * d_x_v + v * (t26 * d_x_v + v * (t25 * d_x_v + v * (t24 * d_x_v + v * (t23 * d_x_v + v * (t22 * d_x_v + v * (t21 * d_x_v + v * (t20 * d_x_v + v * (t19 * d_x_v + v * (t18 * d_x_v + v * ((1.329111122925200917e11 + v * -1.541869293960297045e11) * d_x_v - 1.541869293960297045e11 * d_x_v * v)))))))))))))));
    real large = 0.3989422804014327336 + v * t32;
    real t33 = sqrt(v);
    real t34 = x < 10 ? small : large * t33;
    return make_special_log_i0e_grad_x_results(log(t34) - (x < 10 ? x : 0), special_log_slope(t34) * (x < 10 ? d_x_small : t33 * d_x_large + large * (0.5 / t33 * d_x_v)) - (x < 10 ? 1 : 0));
}

// rice_logpdf_grad_nu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real nu;
    real t;
    real c1;
    real c2;
    real t3;
    real c3;
    real c4;
} rice_logpdf_grad_nu_sigma_set;

DEVICE rice_logpdf_grad_nu_sigma_set rice_logpdf_grad_nu_sigma_prepare_set(real nu, real sigma)
{
    rice_logpdf_grad_nu_sigma_set set;
    real t = 1 / sigma;
    real t2 = nu / sigma;
    real t3 = t2 / sigma;
    real t4 = 1 / sigma;
    set.c0 = t * t;
    set.nu = nu;
    set.t = t;
    set.c1 = t4 * t4;
    set.c2 = (-(t2 * t4) - t3) * t4;
    set.t3 = t3;
    set.c3 = 2 * log(sigma);
    set.c4 = -(2 * special_log_slope(sigma));
    return set;
}

// rice_logpdf_grad_nu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
    real c1;
} rice_logpdf_grad_nu_sigma_row;

DEVICE rice_logpdf_grad_nu_sigma_row rice_logpdf_grad_nu_sigma_prepare_row(real x)
{
    rice_logpdf_grad_nu_sigma_row row;
    row.c0 = isinf(x);
    row.x = x;
    row.c1 = log(x);
    return row;
}

// rice_logpdf_grad_nu_sigma: what depends on both, from what was computed ahead.
DEVICE rice_logpdf_grad_nu_sigma_results rice_logpdf_grad_nu_sigma_evaluate(rice_logpdf_grad_nu_sigma_set set, rice_logpdf_grad_nu_sigma_row row)
{
    if (row.c0) {
        return make_rice_logpdf_grad_nu_sigma_results(-INFINITY, 0, 0);
    }
    real d_sigma_z = -(set.c0 * (row.x - set.nu));
    real z = (row.x - set.nu) * set.t;
    real d_nu_x = row.x * set.c1;
    real d_sigma_x = row.x * set.c2;
    special_log_i0e_grad_x_results call = special_log_i0e_grad_x(row.x * set.t3);
    return make_rice_logpdf_grad_nu_sigma_results(row.c1 - set.c3 - 0.5 * z * z + call.value, set.t * z + call.d_x * d_nu_x, set.c4 - z * d_sigma_z + call.d_x * d_sigma_x);
}

// rice_logpdf_checked_grad_nu_sigma: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    rice_logpdf_grad_nu_sigma_set rice_0;
    real c0;
} rice_logpdf_checked_grad_nu_sigma_set;

DEVICE rice_logpdf_checked_grad_nu_sigma_set rice_logpdf_checked_grad_nu_sigma_prepare_set(real nu, real sigma)
{
    rice_logpdf_checked_grad_nu_sigma_set set;
    real bad_nu = nu >= 0 ? 0 : NAN;
    real bad_sigma = sigma > 0 ? 0 : NAN;
    set.rice_0 = rice_logpdf_grad_nu_sigma_prepare_set(nu, sigma);
    set.c0 = bad_nu + bad_sigma;
    return set;
}

// rice_logpdf_checked_grad_nu_sigma: what depends on the observation alone, computed once for each.
typedef struct {
    rice_logpdf_grad_nu_sigma_row rice_0;
    int inside;
    real outside;
    real t;
} rice_logpdf_checked_grad_nu_sigma_row;

DEVICE rice_logpdf_checked_grad_nu_sigma_row rice_logpdf_checked_grad_nu_sigma_prepare_row(real x)
{
    rice_logpdf_checked_grad_nu_sigma_row row;
    real t = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0;
    row.rice_0 = rice_logpdf_grad_nu_sigma_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.t = t;
    return row;
}

// rice_logpdf_checked_grad_nu_sigma: what depends on both, from what was computed ahead.
DEVICE rice_logpdf_checked_grad_nu_sigma_results rice_logpdf_checked_grad_nu_sigma_evaluate(rice_logpdf_checked_grad_nu_sigma_set set, rice_logpdf_checked_grad_nu_sigma_row row)
{
    rice_logpdf_grad_nu_sigma_results call = rice_logpdf_grad_nu_sigma_evaluate(set.rice_0, row.rice_0);
    real d_nu_value = call.d_nu;
    real d_sigma_value = call.d_sigma;
    real value = call.value;
    return make_rice_logpdf_checked_grad_nu_sigma_results((row.inside ? value : row.outside) + set.c0, (row.inside ? d_nu_value : row.t) + set.c0, (row.inside ? d_sigma_value : row.t) + set.c0);
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
// Here f has several results: value, d_nu, d_sigma are summed, out[set, result].
//
// A thread walks over rows and keeps float64 sums for each set of its block. The sums of a block are added as a tree, those
// of the blocks in their order by the last block to finish: the order never changes, so neither do the bits.
KERNEL(128) rice_logpdf_checked_grad_nu_sigma_loglik(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets, GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT nu_per_set, index_t nu_offset, index_t nu_stride, GLOBAL const real *RESTRICT sigma_per_set, index_t sigma_offset, index_t sigma_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    nu_per_set += nu_offset;
    sigma_per_set += sigma_offset;
    SHARED_ARRAY(double, sums, 1536);

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(rice_logpdf_checked_grad_nu_sigma_set, sets, 8);
    for (index_t k = THREAD; k < 8; k += 128)
        sets[k] = rice_logpdf_checked_grad_nu_sigma_prepare_set(nu_per_set[(first_set + MIN(k, sets_here - 1)) * nu_stride], sigma_per_set[(first_set + MIN(k, sets_here - 1)) * sigma_stride]);
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
                    const rice_logpdf_checked_grad_nu_sigma_row row = rice_logpdf_checked_grad_nu_sigma_prepare_row(x_wide.x);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const rice_logpdf_checked_grad_nu_sigma_results result = rice_logpdf_checked_grad_nu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_nu;
                        total[k * 3 + 2] += result.d_sigma;
                    }
                }
                {
                    const rice_logpdf_checked_grad_nu_sigma_row row = rice_logpdf_checked_grad_nu_sigma_prepare_row(x_wide.y);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const rice_logpdf_checked_grad_nu_sigma_results result = rice_logpdf_checked_grad_nu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_nu;
                        total[k * 3 + 2] += result.d_sigma;
                    }
                }
            }
        } else
            for (int u = 0; u < 2; u++) {
                const index_t r = (u / 2 * 128 + THREAD) * 2 + u % 2, n = first + r;
                if (n < n_rows) {
                    const rice_logpdf_checked_grad_nu_sigma_row row = rice_logpdf_checked_grad_nu_sigma_prepare_row(x_per_row[n]);
                    UNROLL for (int k = 0; k < 8; k++) {
                        const rice_logpdf_checked_grad_nu_sigma_results result = rice_logpdf_checked_grad_nu_sigma_evaluate(sets[k], row);
                        total[k * 3 + 0] += result.value;
                        total[k * 3 + 1] += result.d_nu;
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










