// The glm kernel of categorical_logit, made by `gpustats generate`. Do not edit.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef long index_t;
#ifndef __has_attribute
#define __has_attribute(name) 0
#endif
#if __has_attribute(intel_vec_len_hint)  // keeps Intel's compiler from wide vectors, whose blocks it would run one thread at a time
#define VECTORS_OF(n) , intel_vec_len_hint(n)
#else
#define VECTORS_OF(n)
#endif
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1) VECTORS_OF(MIN(threads, 8)))) void
#define DEVICE static inline __attribute__((always_inline))  // Intel's compiler vectorises no calls
#define GLOBAL __global
#define SHARED __local
#define RESTRICT restrict
#define SHARED_ARRAY(type, name, count) __local type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) __local type name[count] __attribute__((aligned(16)))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4  // compilers for CPUs know better
#define STORE_STREAMING(to, value) (*(to) = (value))
#define THREAD ((index_t)get_local_id(0))  // as wide as an address: vectorisers of CPUs then see consecutive accesses
#define BLOCK_X ((index_t)get_group_id(0))
#define BLOCK_Y ((index_t)get_group_id(1))
#define BLOCKS_Y ((index_t)get_num_groups(1))
#define BLOCKS_X ((index_t)get_num_groups(0))
#define STORE_2(v, to) vstore2((double2)(v##0, v##1), 0, to)
#define STORE_4(v, to) vstore4((double4)(v##0, v##1, v##2, v##3), 0, to)
#define STORE_8(v, to) vstore8((double8)(v##0, v##1, v##2, v##3, v##4, v##5, v##6, v##7), 0, to)
#ifdef NVIDIA  // the compute capability of a GPU of NVIDIA's, by an option of the compiler
#define __double2hiint(number) as_int2(number).y
#define __double2loint(number) as_int2(number).x
#define __hiloint2double(upper, lower) as_double((int2)(lower, upper))
#define __double_as_longlong(number) as_long(number)
typedef unsigned long bits_t;

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
#endif
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
    return x == x ? convert_int_sat(x) : 0;
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
    real d_eta;
} categorical_logit_logpmf_grad_eta__results;

DEVICE categorical_logit_logpmf_grad_eta__results make_categorical_logit_logpmf_grad_eta__results(real value, real d_eta)
{
    categorical_logit_logpmf_grad_eta__results results;
    results.value = value;
    results.d_eta = d_eta;
    return results;
}


typedef struct {
    real value;
    real d_eta;
} categorical_logit_logpmf_checked_grad_eta_results;

DEVICE categorical_logit_logpmf_checked_grad_eta_results make_categorical_logit_logpmf_checked_grad_eta_results(real value, real d_eta)
{
    categorical_logit_logpmf_checked_grad_eta_results results;
    results.value = value;
    results.d_eta = d_eta;
    return results;
}


DEVICE real categorical_logit_logpmf(real x,  const real *eta, int dim)
{
    real largest = -INFINITY;
    real sum = 0;
    for (int i = 0; i < dim; i++) {
        largest = fmax(largest, eta[i]);
    }
    for (int i_2 = 0; i_2 < dim; i_2++) {
        sum += exp(eta[i_2] - largest);
    }
    real log_sum = log(sum);
    if (x >= dim) {
        return -INFINITY;
    }
    return eta[min(max(to_int(x), 0), dim - 1)] - largest - log_sum;
}

// categorical_logit_logpmf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
} categorical_logit_logpmf_checked_rr_row;

DEVICE categorical_logit_logpmf_checked_rr_row categorical_logit_logpmf_checked_rr_prepare_row(real x,  const real *eta, int dim)
{
    categorical_logit_logpmf_checked_rr_row row;
    real bad_eta = 0;
    for (int i = 0; i < dim; i++) {
        if (!(eta[i] == eta[i])) {
            bad_eta = NAN;
        }
    }
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.c0 = (inside ? categorical_logit_logpmf(x, eta, dim) : outside) + bad_eta;
    return row;
}

// categorical_logit_logpmf_checked: what depends on both, from what was computed ahead.
DEVICE real categorical_logit_logpmf_checked_rr_evaluate(categorical_logit_logpmf_checked_rr_row row)
{
    return row.c0;
}


// categorical_logit_logpmf_grad_eta: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
    real largest;
    real scale;
} categorical_logit_logpmf_grad_eta_rrm_row;

DEVICE categorical_logit_logpmf_grad_eta_rrm_row categorical_logit_logpmf_grad_eta_rrm_prepare_row(real x,  const real *eta, int dim)
{
    categorical_logit_logpmf_grad_eta_rrm_row row;
    real largest = -INFINITY;
    real sum = 0;
    for (int i = 0; i < dim; i++) {
        largest = fmax(largest, eta[i]);
    }
    for (int i_2 = 0; i_2 < dim; i_2++) {
        sum += exp(eta[i_2] - largest);
    }
    real scale = 1 / sum;
    row.c0 = x >= dim;
    row.x = x;
    row.largest = largest;
    row.scale = scale;
    return row;
}

// categorical_logit_logpmf_grad_eta: what depends on both, from what was computed ahead.
DEVICE real categorical_logit_logpmf_grad_eta_rrm_evaluate(categorical_logit_logpmf_grad_eta_rrm_row row,  const real *eta, int dim, int component)
{
    if (row.c0) {
        return 0;
    }
    return (row.x == component) - exp(eta[min(max(component, 0), max(dim - 1, 0))] - row.largest) * row.scale;
}

// categorical_logit_logpmf_grad_eta_: what depends on the observation alone, computed once for each.
typedef struct {
    real c0;
    categorical_logit_logpmf_grad_eta_rrm_row categorical_0;
} categorical_logit_logpmf_grad_eta__rrm_row;

DEVICE categorical_logit_logpmf_grad_eta__rrm_row categorical_logit_logpmf_grad_eta__rrm_prepare_row(real x,  const real *eta, int dim)
{
    categorical_logit_logpmf_grad_eta__rrm_row row;
    row.c0 = categorical_logit_logpmf(x, eta, dim);
    row.categorical_0 = categorical_logit_logpmf_grad_eta_rrm_prepare_row(x, eta, dim);
    return row;
}

// categorical_logit_logpmf_grad_eta_: what depends on both, from what was computed ahead.
DEVICE categorical_logit_logpmf_grad_eta__results categorical_logit_logpmf_grad_eta__rrm_evaluate(categorical_logit_logpmf_grad_eta__rrm_row row,  const real *eta, int dim, int component)
{
    return make_categorical_logit_logpmf_grad_eta__results(row.c0, categorical_logit_logpmf_grad_eta_rrm_evaluate(row.categorical_0, eta, dim, component));
}

// categorical_logit_logpmf_checked_grad_eta: what depends on the observation alone, computed once for each.
typedef struct {
    categorical_logit_logpmf_grad_eta__rrm_row categorical_0;
    real outside;
    real d_eta_outside;
    int inside;
    real bad_eta;
} categorical_logit_logpmf_checked_grad_eta_rrm_row;

DEVICE categorical_logit_logpmf_checked_grad_eta_rrm_row categorical_logit_logpmf_checked_grad_eta_rrm_prepare_row(real x,  const real *eta, int dim)
{
    categorical_logit_logpmf_checked_grad_eta_rrm_row row;
    real bad_eta = 0;
    for (int i = 0; i < dim; i++) {
        if (!(eta[i] == eta[i])) {
            bad_eta = NAN;
        }
    }
    real d_eta_outside = x == x ? 0 : NAN;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.categorical_0 = categorical_logit_logpmf_grad_eta__rrm_prepare_row(x, eta, dim);
    row.outside = outside;
    row.d_eta_outside = d_eta_outside;
    row.inside = inside;
    row.bad_eta = bad_eta;
    return row;
}

// categorical_logit_logpmf_checked_grad_eta: what depends on both, from what was computed ahead.
DEVICE categorical_logit_logpmf_checked_grad_eta_results categorical_logit_logpmf_checked_grad_eta_rrm_evaluate(categorical_logit_logpmf_checked_grad_eta_rrm_row row,  const real *eta, int dim, int component)
{
    real either;
    real d_eta_either;
    if (row.inside) {
        categorical_logit_logpmf_grad_eta__results call = categorical_logit_logpmf_grad_eta__rrm_evaluate(row.categorical_0, eta, dim, component);
        either = call.value;
        d_eta_either = call.d_eta;
    } else {
        either = row.outside;
        d_eta_either = row.d_eta_outside;
    }
    return make_categorical_logit_logpmf_checked_grad_eta_results(either + row.bad_eta, d_eta_either + row.bad_eta);
}

// categorical_logit_logpmf_checked_d_eta: what depends on the observation alone, computed once for each.
typedef struct {
    categorical_logit_logpmf_checked_grad_eta_rrm_row categorical_0;
} categorical_logit_logpmf_checked_d_eta_rrm_row;

DEVICE categorical_logit_logpmf_checked_d_eta_rrm_row categorical_logit_logpmf_checked_d_eta_rrm_prepare_row(real x,  const real *eta, int dim)
{
    categorical_logit_logpmf_checked_d_eta_rrm_row row;
    row.categorical_0 = categorical_logit_logpmf_checked_grad_eta_rrm_prepare_row(x, eta, dim);
    return row;
}

// categorical_logit_logpmf_checked_d_eta: what depends on both, from what was computed ahead.
DEVICE real categorical_logit_logpmf_checked_d_eta_rrm_evaluate(categorical_logit_logpmf_checked_d_eta_rrm_row row,  const real *eta, int dim, int component)
{
    categorical_logit_logpmf_checked_grad_eta_results results = categorical_logit_logpmf_checked_grad_eta_rrm_evaluate(row.categorical_0, eta, dim, component);
    return results.d_eta;
}


#define COLUMNS 16
#if NVIDIA >= 80  // the compute capability, by an option of the compiler
#define SHARED_ADDRESS(p) ((unsigned)(size_t)(p))
#define COPY_TO_SHARED(type, to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" \
    :: "r"(SHARED_ADDRESS(to)), "l"(from), "n"(sizeof(type)))
#define COPIES_STARTED() asm volatile("cp.async.commit_group;")
#define WAIT_FOR_COPIES(later) asm volatile("cp.async.wait_group %0;" :: "n"(later))
#endif
#ifndef COPY_TO_SHARED  // no copies in the background: they are done at once
#define COPY_TO_SHARED(type, to, from) (*(SHARED type *)(to) = *(GLOBAL const type *)(from))
#define COPIES_STARTED()
#define WAIT_FOR_COPIES(later)
#endif

// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *X, index_t first, index_t n_rows)
{
    X += first * COLUMNS;
    if (first + 64 <= n_rows)
        for (int e = (int)THREAD * 2; e < 1024; e += 128)
            COPY_TO_SHARED(double2, tile + e, X + e);
    else
        for (int e = (int)THREAD; e < 1024; e += 64)
            tile[e] = e < (n_rows - first) * COLUMNS ? X[e] : 0;
}

KERNEL(64) categorical_logit_glm(
    GLOBAL double *RESTRICT partial, index_t n_rows, index_t n_sets,
    GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT beta, index_t beta_start,
    GLOBAL const real *RESTRICT alpha, index_t alpha_start, index_t alpha_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, int dim)
{
    const index_t first_set = BLOCK_X * 1;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)1);
    X += X_start;
    beta += beta_start + first_set * 48;
    alpha += alpha_start + first_set * alpha_stride;
    x_per_row += x_offset + first_set * x_stride;

    DYNAMIC_SHARED_ARRAY(real, shared, 2672);
    // The coefficients of all sets; what the threads of a row add up to; the derivatives in eta.
    SHARED real *const coefficients = shared + 2048;
    SHARED real *const dots = coefficients + 48;
    for (int e = (int)THREAD; e < 3 * COLUMNS; e += 64)
        coefficients[e] = e < sets_here * 3 * COLUMNS ? beta[e] : 0;
    SHARED real *const slopes = dots + 384;
    
    double total[4];
    UNROLL for (int s = 0; s < 4; s++)
        total[s] = 0;
    double gradient[6];
    UNROLL for (int s = 0; s < 6; s++)
        gradient[s] = 0;
    const int lane = (int)THREAD % 2, top = (int)THREAD / 2;
    const int row_here = (int)THREAD % 64, chunk = (int)THREAD % 8, row_part = (int)THREAD / 8;
    int stage = 0;
    if ((BLOCK_Y + 0 * BLOCKS_Y) * 64 < n_rows)
        start_tile(shared + 0, X, (BLOCK_Y + 0 * BLOCKS_Y) * 64, n_rows);
    COPIES_STARTED();
    BARRIER();
    for (index_t first = BLOCK_Y * 64; first < n_rows; first += BLOCKS_Y * 64) {
        const index_t n = first + row_here;
        const int inside = n < n_rows;
        const index_t own = inside ? n : 0;
        const real x_here = x_per_row[own];

        {
            const int next = stage == 0 ? 1 : stage - 1;
            const index_t ahead = first + 1 * BLOCKS_Y * 64;
            if (ahead < n_rows)
                start_tile(shared + next * 1024, X, ahead, n_rows);
            COPIES_STARTED();
        }
        WAIT_FOR_COPIES(1);
        BARRIER();
        SHARED const real *const rows = shared + stage * 1024;
        stage = stage == 1 ? 0 : stage + 1;

        {   // eta: 2 threads share a row
            real sum[6];
            UNROLL for (int s = 0; s < 6; s++)
                sum[s] = 0;
            UNROLL for (int c = lane * 2; c < COLUMNS; c += 4) {
                double2 b[3];
                UNROLL for (int m = 0; m < 3; m++) {
                    b[m] = *(SHARED const double2 *)(coefficients + m * COLUMNS + c);
                }
                UNROLL for (int u = 0; u < 2; u++) {
                    const double2 v = *(SHARED const double2 *)(rows + (top + u * 32) * COLUMNS + c);
                    UNROLL for (int m = 0; m < 3; m++) {
                        sum[u * 3 + m] += v.x * b[m].x;
                        sum[u * 3 + m] += v.y * b[m].y;
                    }
                }
            }
            UNROLL for (int u = 0; u < 2; u++)
                UNROLL for (int m = 0; m < 3; m++)
                    dots[((top + u * 32) * 3 + m) * 2 + lane] = sum[u * 3 + m];
        }
        BARRIER();
        UNROLL for (int turn = 0; turn < 1; turn++) {
            const int s = (int)THREAD / 64 + turn * 1;
            if (s < sets_here) {
                real eta[3];
                UNROLL for (int c = 0; c < 3; c++) {
                    eta[c] = 0;
                    UNROLL for (int l = 0; l < 2; l++)
                        eta[c] += dots[((row_here * 3) + s * 3 + c) * 2 + l];
                }
                for (int c = 0; c < 3; c++) {
                    eta[c] += alpha[s * alpha_stride + c];
                }
                const categorical_logit_logpmf_checked_rr_row row = categorical_logit_logpmf_checked_rr_prepare_row(x_here, eta, 3);
                const real result = categorical_logit_logpmf_checked_rr_evaluate(row);
                (total + turn * 4)[0] += inside ? result : 0;
                const categorical_logit_logpmf_checked_d_eta_rrm_row component_row = categorical_logit_logpmf_checked_d_eta_rrm_prepare_row(x_here, eta, 3);
                for (int c = 0; c < 3; c++) {
                    const real derivative = categorical_logit_logpmf_checked_d_eta_rrm_evaluate(component_row, eta, 3, c);
                    slopes[row_here * 3 + s * 3 + c] = inside ? derivative : 0;
                    (total + turn * 4)[1 + c] += inside ? derivative : 0;
                }
            }
        }
        BARRIER();
        if (row_part < 8) {  // the gradient: a thread has 2 columns of every 8th row
            UNROLL for (int j = 0; j < 1; j++) {
                const int c = (chunk + j * 64) * 2;
                {
                    double *const sum = gradient + j * 6;
                    UNROLL_BY_4 for (int r = row_part; r < 64; r += 8) {
                        const double2 v = *(SHARED const double2 *)(rows + r * COLUMNS + c);
                        UNROLL for (int m = 0; m < 3; m += 1) {
                            const double slope = *(SHARED const double *)(slopes + r * 3 + m);
                            sum[(m + 0) * 2 + 0] += v.x * slope;
                            sum[(m + 0) * 2 + 1] += v.y * slope;
                        }
                    }
                }
            }
        }
        BARRIER();
    }

    // What the threads of the block have, in their order; another kernel adds the blocks' sums.
    SHARED double *const sums = (SHARED double *)shared;
    partial += BLOCK_Y * n_sets * 52 + first_set * 52;
    UNROLL for (int turn = 0; turn < 1; turn++)
        UNROLL for (int q = 0; q < 4; q++) {
            BARRIER();
            sums[THREAD] = total[turn * 4 + q];
            for (int span = 32; span > 0; span /= 2) {
                BARRIER();
                if (row_here < span)
                    sums[THREAD] += sums[THREAD + span];
            }
            const int s = (int)THREAD / 64 + turn * 1;
            if (row_here == 0 && s < sets_here)
                partial[s * 52 + q] = sums[THREAD];
        }
    UNROLL for (int j = 0; j < 1; j++)
        UNROLL for (int m = 0; m < 3; m++)
            UNROLL for (int i = 0; i < 2; i++) {
                BARRIER();
                sums[THREAD] = gradient[j * 6 + m * 2 + i];
                BARRIER();
                const int c = (chunk + j * 64) * 2 + i;
                if (row_part == 0 && c < COLUMNS && m < sets_here * 3) {
                    double sum = 0;
                    for (int p = 0; p < 8; p++)
                        sum += sums[p * 8 + chunk];
                    partial[m / 3 * 52 + 4 + m % 3 * COLUMNS + c] = sum;
                }
            }
}
