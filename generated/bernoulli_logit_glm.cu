// The glm kernel of bernoulli_logit, made by `gpustats generate`. Do not edit.
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
    const double f = fma(c, __hiloint2double((0x3ff - min(k, 0x3ff)) << 20, 0), m - 1), g = f + 2;  // c is 0 there
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
#define stop_gradient(x) (x)
#ifndef quotient
#define quotient(a, b) ((a) / (b))
#endif
#ifndef LOOP  // what a compiler has to be told in other words
#define LOOP(start, condition, step) for (start; condition; step)
#define CHOICE(condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define EITHER CHOICE
#define EITHER_INT CHOICE
#define VARYING(value) (value)
#define VARYING_INT VARYING
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct {
    real value;
    real d_eta;
} bernoulli_logit_logpmf_grad_eta_results;

DEVICE bernoulli_logit_logpmf_grad_eta_results make_bernoulli_logit_logpmf_grad_eta_results(real value, real d_eta)
{
    bernoulli_logit_logpmf_grad_eta_results results;
    results.value = value;
    results.d_eta = d_eta;
    return results;
}


typedef struct {
    real value;
    real d_eta;
} bernoulli_logit_logpmf_checked_grad_eta_results;

DEVICE bernoulli_logit_logpmf_checked_grad_eta_results make_bernoulli_logit_logpmf_checked_grad_eta_results(real value, real d_eta)
{
    bernoulli_logit_logpmf_checked_grad_eta_results results;
    results.value = value;
    results.d_eta = d_eta;
    return results;
}


DEVICE real special_expit(real x)
{
    real e = exp(-fabs(x));
    return quotient(EITHER(x < 0, e, 1), 1 + e);
}

DEVICE real special_log1p_unit(real e)
{
    real s = quotient(e, 2 + e);
    real z = s * s;
    real series = 0.6666666666666666 + z * (0.40000000000014585 + z * (0.2857142856710876 + z * (0.22222222717427864 + z * (0.18181789436132859 + z * (0.15385570064958623 + z * (0.13314144209654935 + z * (0.12001072809590713 + z * (0.08800738486144674 + z * 0.1616404561194353))))))));
    return e - s * (e - z * series);
}

DEVICE real special_log_expit(real x)
{
    return fmin(x, (real)0) - special_log1p_unit(exp(-fabs(x)));
}

// bernoulli_logit_logpmf_grad_eta: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    int c1;
    int c2;
} bernoulli_logit_logpmf_grad_eta_rm_row;

DEVICE bernoulli_logit_logpmf_grad_eta_rm_row bernoulli_logit_logpmf_grad_eta_rm_prepare_row(real x)
{
    bernoulli_logit_logpmf_grad_eta_rm_row row;
    row.c0 = x == 0;
    row.c1 = EITHER_INT(x == 0, -1, 1);
    row.c2 = x > 1;
    return row;
}

// bernoulli_logit_logpmf_grad_eta: what depends on both, from what was computed ahead.
DEVICE bernoulli_logit_logpmf_grad_eta_results bernoulli_logit_logpmf_grad_eta_rm_evaluate(bernoulli_logit_logpmf_grad_eta_rm_row row, real eta)
{
    real t = EITHER(row.c0, -eta, eta);
    real d_eta_value = t == INFINITY ? 0 : special_expit(-t) * row.c1;
    real value = special_log_expit(t);
    return make_bernoulli_logit_logpmf_grad_eta_results(EITHER(row.c2, -INFINITY, value), EITHER(row.c2, 0, d_eta_value));
}

// bernoulli_logit_logpmf_checked_grad_eta: what depends on the observation alone, computed once for each.
typedef struct {
    bernoulli_logit_logpmf_grad_eta_rm_row bernoulli_0;
    int inside;
    real outside;
    real d_eta_outside;
} bernoulli_logit_logpmf_checked_grad_eta_rm_row;

DEVICE bernoulli_logit_logpmf_checked_grad_eta_rm_row bernoulli_logit_logpmf_checked_grad_eta_rm_prepare_row(real x)
{
    bernoulli_logit_logpmf_checked_grad_eta_rm_row row;
    real d_eta_outside = EITHER(x == x, 0, NAN);
    real outside = EITHER(x == x, -INFINITY, NAN);
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.bernoulli_0 = bernoulli_logit_logpmf_grad_eta_rm_prepare_row(x);
    row.inside = inside;
    row.outside = outside;
    row.d_eta_outside = d_eta_outside;
    return row;
}

// bernoulli_logit_logpmf_checked_grad_eta: what depends on both, from what was computed ahead.
DEVICE bernoulli_logit_logpmf_checked_grad_eta_results bernoulli_logit_logpmf_checked_grad_eta_rm_evaluate(bernoulli_logit_logpmf_checked_grad_eta_rm_row row, real eta)
{
    real bad_eta = EITHER(eta == eta, 0, NAN);
    bernoulli_logit_logpmf_grad_eta_results call = bernoulli_logit_logpmf_grad_eta_rm_evaluate(row.bernoulli_0, eta);
    real d_eta_value = call.d_eta;
    real value = call.value;
    return make_bernoulli_logit_logpmf_checked_grad_eta_results((row.inside ? value : row.outside) + bad_eta, (row.inside ? d_eta_value : row.d_eta_outside) + bad_eta);
}


#define COLUMNS 16
#if __CUDA_ARCH__ >= 800
#define SHARED_ADDRESS(p) ((unsigned)__cvta_generic_to_shared(p))
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
    if (first + 128 <= n_rows)
        for (int e = (int)THREAD * 2; e < 2048; e += 256)
            COPY_TO_SHARED(double2, tile + e, X + e);
    else
        for (int e = (int)THREAD; e < 2048; e += 128)
            tile[e] = e < (n_rows - first) * COLUMNS ? X[e] : 0;
}

KERNEL(128) bernoulli_logit_glm(
    GLOBAL double *RESTRICT partial, index_t n_rows, index_t n_sets,
    GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT beta, index_t beta_start,
    GLOBAL const real *RESTRICT alpha, index_t alpha_start, index_t alpha_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride)
{
    const index_t first_set = BLOCK_X * 1;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)1);
    X += X_start;
    beta += beta_start + first_set * 16;
    alpha += alpha_start + first_set * alpha_stride;
    x_per_row += x_offset + first_set * x_stride;

    DYNAMIC_SHARED_ARRAY(real, shared, 4496);
    // The coefficients of all sets; what the threads of a row add up to; the derivatives in eta.
    SHARED real *const coefficients = shared + 4096;
    SHARED real *const dots = coefficients + 16;
    for (int e = (int)THREAD; e < 1 * COLUMNS; e += 128)
        coefficients[e] = e < sets_here * 1 * COLUMNS ? beta[e] : 0;
    SHARED real *const slopes = dots + 256;
    
    double total[2];
    UNROLL for (int s = 0; s < 2; s++)
        total[s] = 0;
    double gradient[2];
    UNROLL for (int s = 0; s < 2; s++)
        gradient[s] = 0;
    const int lane = (int)THREAD % 2, top = (int)THREAD / 2;
    const int row_here = (int)THREAD % 128, chunk = (int)THREAD % 8, row_part = (int)THREAD / 8;
    int stage = 0;
    if ((BLOCK_Y + 0 * BLOCKS_Y) * 128 < n_rows)
        start_tile(shared + 0, X, (BLOCK_Y + 0 * BLOCKS_Y) * 128, n_rows);
    COPIES_STARTED();
    BARRIER();
    for (index_t first = BLOCK_Y * 128; first < n_rows; first += BLOCKS_Y * 128) {
        const index_t n = first + row_here;
        const int inside = n < n_rows;
        const index_t own = inside ? n : 0;
        const real x_here = x_per_row[own];
        const bernoulli_logit_logpmf_checked_grad_eta_rm_row row = bernoulli_logit_logpmf_checked_grad_eta_rm_prepare_row(x_here);

        {
            const int next = stage == 0 ? 1 : stage - 1;
            const index_t ahead = first + 1 * BLOCKS_Y * 128;
            if (ahead < n_rows)
                start_tile(shared + next * 2048, X, ahead, n_rows);
            COPIES_STARTED();
        }
        WAIT_FOR_COPIES(1);
        BARRIER();
        SHARED const real *const rows = shared + stage * 2048;
        stage = stage == 1 ? 0 : stage + 1;

        {   // eta: 2 threads share a row
            real sum[2];
            UNROLL for (int s = 0; s < 2; s++)
                sum[s] = 0;
            UNROLL for (int c = lane * 2; c < COLUMNS; c += 4) {
                double2 b[1];
                UNROLL for (int m = 0; m < 1; m++) {
                    b[m] = *(SHARED const double2 *)(coefficients + m * COLUMNS + c);
                }
                UNROLL for (int u = 0; u < 2; u++) {
                    const double2 v = *(SHARED const double2 *)(rows + (top + u * 64) * COLUMNS + c);
                    UNROLL for (int m = 0; m < 1; m++) {
                        sum[u * 1 + m] += v.x * b[m].x;
                        sum[u * 1 + m] += v.y * b[m].y;
                    }
                }
            }
            UNROLL for (int u = 0; u < 2; u++)
                UNROLL for (int m = 0; m < 1; m++)
                    dots[((top + u * 64) * 1 + m) * 2 + lane] = sum[u * 1 + m];
        }
        BARRIER();
        UNROLL for (int turn = 0; turn < 1; turn++) {
            const int s = (int)THREAD / 128 + turn * 1;
            if (s < sets_here) {
                real eta[1];
                UNROLL for (int c = 0; c < 1; c++) {
                    eta[c] = 0;
                    UNROLL for (int l = 0; l < 2; l++)
                        eta[c] += dots[((row_here * 1) + s * 1 + c) * 2 + l];
                }
                for (int c = 0; c < 1; c++) {
                    eta[c] += alpha[s * alpha_stride + c];
                }
                const bernoulli_logit_logpmf_checked_grad_eta_results result = bernoulli_logit_logpmf_checked_grad_eta_rm_evaluate(row, eta[0]);
                (total + turn * 2)[0] += inside ? result.value : 0;
                for (int c = 0; c < 1; c++) {
                    const real derivative = result.d_eta;
                    slopes[row_here * 1 + s * 1 + c] = inside ? derivative : 0;
                    (total + turn * 2)[1 + c] += inside ? derivative : 0;
                }
            }
        }
        BARRIER();
        if (row_part < 16) {  // the gradient: a thread has 2 columns of every 16th row
            UNROLL for (int j = 0; j < 1; j++) {
                const int c = (chunk + j * 128) * 2;
                {
                    double *const sum = gradient + j * 2;
                    UNROLL_BY_4 for (int r = row_part; r < 128; r += 16) {
                        const double2 v = *(SHARED const double2 *)(rows + r * COLUMNS + c);
                        UNROLL for (int m = 0; m < 1; m += 1) {
                            const double slope = *(SHARED const double *)(slopes + r * 1 + m);
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
    partial += BLOCK_Y * n_sets * 18 + first_set * 18;
    UNROLL for (int turn = 0; turn < 1; turn++)
        UNROLL for (int q = 0; q < 2; q++) {
            BARRIER();
            sums[THREAD] = total[turn * 2 + q];
            for (int span = 64; span > 0; span /= 2) {
                BARRIER();
                if (row_here < span)
                    sums[THREAD] += sums[THREAD + span];
            }
            const int s = (int)THREAD / 128 + turn * 1;
            if (row_here == 0 && s < sets_here)
                partial[s * 18 + q] = sums[THREAD];
        }
    UNROLL for (int j = 0; j < 1; j++)
        UNROLL for (int m = 0; m < 1; m++)
            UNROLL for (int i = 0; i < 2; i++) {
                BARRIER();
                sums[THREAD] = gradient[j * 2 + m * 2 + i];
                BARRIER();
                const int c = (chunk + j * 128) * 2 + i;
                if (row_part == 0 && c < COLUMNS && m < sets_here * 1) {
                    double sum = 0;
                    for (int p = 0; p < 16; p++)
                        sum += sums[p * 8 + chunk];
                    partial[m / 1 * 18 + 2 + m % 1 * COLUMNS + c] = sum;
                }
            }
}
