// The glm_products kernel of bernoulli_logit, made by `gpustats generate`. Do not edit.
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
#define PADDED 20  // numbers of a row in shared memory
#define STAGE 1296  // of a tile, with what the products of the last columns read behind its last row
#define DOWN 68  // numbers of a set's linear predictors there
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

// c += a b of 16 x 8, 8 x 8 and 16 x 8 numbers. Of a and c, lane l of a warp has those in rows l / 4 + {0, 8}; the columns of a are
// l % 4 + {0, 4}, those of c 2 (l % 4) + {0, 1}. Of b it has rows l % 4 + {0, 4} of column l / 4.
DEVICE void multiply(double *c, double a0, double a1, double a2, double a3, double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
#define MULTIPLY(i, a, b) asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
    : "+d"(c[i]), "+d"(c[i + 1]) : "d"(a), "d"(b))
    MULTIPLY(0, a0, b0);
    MULTIPLY(2, a1, b0);
    MULTIPLY(0, a2, b1);
    MULTIPLY(2, a3, b1);
#endif
}

// What columns 8 begin .. 8 end - 1 add to the linear predictors of 16 rows and 2 times eight sets.
DEVICE void add_predictors(double *sum, SHARED const real *rows, SHARED const double *coefficients, int begin, int end, int lane)
{
    rows += lane / 4 * PADDED + lane % 4;
    coefficients += lane / 4 * 20 + lane % 4;
    UNROLL for (int e = 0; e < 2; e++) {
        const int c = (begin + e) * 8;
        if (true) {
            const real a0 = rows[c], a1 = rows[8 * PADDED + c], a2 = rows[c + 4], a3 = rows[8 * PADDED + c + 4];
            UNROLL for (int m = 0; m < 2; m++) {
                SHARED const double *const b = coefficients + m * 160 + c;
                multiply(sum + m * 4, a0, a1, a2, a3, b[0], b[4]);
            }
        }
    }
}

// What the rows of a tile add to the derivatives in 1 times 16 columns for 1 times eight sets.
DEVICE void add_gradient(double *sum, SHARED const real *rows, SHARED const double *slopes, int first_column, int lane)
{
    rows += lane % 4 * PADDED + first_column + lane / 4 * 2;
    slopes += lane / 4 * DOWN + lane % 4;
    UNROLL for (int r = 0; r < 64; r += 8) {
        double b[2];
        UNROLL for (int m = 0; m < 1; m++) {
            b[2 * m] = slopes[m * 8 * DOWN + r];
            b[2 * m + 1] = slopes[m * 8 * DOWN + r + 4];
        }
        UNROLL for (int j = 0; j < 1; j++)
            if (true) {
                const double2 u = *(SHARED const double2 *)(rows + r * PADDED + j * 16);
                const double2 v = *(SHARED const double2 *)(rows + (r + 4) * PADDED + j * 16);
                UNROLL for (int m = 0; m < 1; m++)
                    multiply(sum + (j * 1 + m) * 4, u.x, u.y, v.x, v.y, b[2 * m], b[2 * m + 1]);
            }
    }
}

// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *X, index_t first, index_t n_rows)
{
    const int row = (int)THREAD / 8, column = (int)THREAD % 8 * 2;
    X += (first + row) * COLUMNS + column;
    tile += row * PADDED + column;
    if (first + 64 <= n_rows) {
        UNROLL for (int r = 0; r < 64; r += 16) UNROLL for (int c = 0; c < COLUMNS; c += 16) if (true) {
            COPY_TO_SHARED(double2, tile + r * PADDED + c, X + r * COLUMNS + c);
        }
    } else {
        UNROLL for (int r = 0; r < 64; r += 16) UNROLL for (int c = 0; c < COLUMNS; c += 16) if (true) {
            if (first + row + r < n_rows)
                COPY_TO_SHARED(double2, tile + r * PADDED + c, X + r * COLUMNS + c);
            else
                UNROLL for (int i = 0; i < 2; i++)
                    tile[r * PADDED + c + i] = 0;
        }
    }
}

KERNEL(128, 4) bernoulli_logit_glm(
    GLOBAL double *RESTRICT partial, index_t n_rows, index_t n_sets,
    GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT beta, index_t beta_start,
    GLOBAL const real *RESTRICT alpha, index_t alpha_start, index_t alpha_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride)
{
    const index_t first_set = BLOCK_X * 16;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)16);
    X += X_start;
    beta += beta_start + first_set * 16;
    alpha += alpha_start + first_set * alpha_stride;
    x_per_row += x_offset + first_set * x_stride;

    // Tiles of rows; the coefficients of all sets; their linear predictors, which the derivatives in them replace.
    DYNAMIC_SHARED_ARRAY(double, shared, 4000);
    SHARED real *const tiles = (SHARED real *)shared;
    SHARED double *const coefficients = shared + 2592, *const dots = shared + 2912;
    for (int e = (int)THREAD; e < 320; e += 128) {
        const int s = e / 20, c = e % 20;
        coefficients[e] = s < sets_here && c < 16 ? beta[s * COLUMNS + c] : 0;
    }
    for (int e = (int)THREAD; e < 2 * STAGE; e += 128) {
        const int c = e % STAGE % PADDED;
        if (!(c < 16))
            tiles[e] = 0;
    }
    SHARED_ARRAY(real, intercepts, 16);
    for (int s = (int)THREAD; s < sets_here; s += 128)
        intercepts[s] = alpha[s * alpha_stride];
    
    double total[16];
    UNROLL for (int s = 0; s < 16; s++)
        total[s] = 0;
    const int warp = (int)THREAD / 32, lane = (int)THREAD % 32, row_here = (int)THREAD % 64;
    const int first_column = warp % 1 * 16, first_eight = warp / 1 * 1;
    double gradient[4];
    UNROLL for (int i = 0; i < 4; i++)
        gradient[i] = 0;
    int stage = 0;
    if ((BLOCK_Y + 0 * BLOCKS_Y) * 64 < n_rows)
        start_tile(tiles + 0 * STAGE, X, (BLOCK_Y + 0 * BLOCKS_Y) * 64, n_rows);
    COPIES_STARTED();
    for (index_t first = BLOCK_Y * 64; first < n_rows; first += BLOCKS_Y * 64) {
        const index_t n = first + row_here;
        const int inside = n < n_rows;
        const index_t own = inside ? n : 0;
        const real x_here = x_per_row[own];
        const bernoulli_logit_logpmf_checked_grad_eta_rm_row row = bernoulli_logit_logpmf_checked_grad_eta_rm_prepare_row(x_here);

        WAIT_FOR_COPIES(0);
        BARRIER();
        {
            const int next = stage == 0 ? 1 : stage - 1;
            const index_t ahead = first + 1 * BLOCKS_Y * 64;
            if (ahead < n_rows)
                start_tile(tiles + next * STAGE, X, ahead, n_rows);
            COPIES_STARTED();
        }
        SHARED const real *const rows = tiles + stage * STAGE;
        stage = stage == 1 ? 0 : stage + 1;

        for (int unit = warp; unit < 4; unit += 4) {
            const int r = unit % 4 * 16, part = unit / 4 % 1, s = unit / 4 * 16;
            double sum[8];
            UNROLL for (int i = 0; i < 8; i++)
                sum[i] = 0;
            add_predictors(sum, rows + r * PADDED, coefficients + s * 20,
                part * 2, MIN((part + 1) * 2, 2), lane);
            SHARED double *const to = dots + (part * 16 + s) * DOWN + r + lane / 4;
            UNROLL for (int i = 0; i < 8; i++)
                to[(i / 4 * 8 + lane % 4 * 2 + i % 2) * DOWN + i % 4 / 2 * 8] = sum[i];
        }
        BARRIER();
        UNROLL for (int turns = 0; turns < 8; turns += 2) {
            if ((int)THREAD / 64 + turns * 2 < sets_here)
                UNROLL for (int turn = turns; turn < turns + 2; turn++) {
                    // Behind the last set stand others without coefficients, whose sums nobody reads.
                    const int place = (int)THREAD / 64 + turn * 2, s = MIN(place, sets_here - 1);
                    double dot = dots[place * DOWN + row_here];
                    real eta[1] = {(real)dot};
                for (int c = 0; c < 1; c++) {
                    eta[c] += intercepts[s];
                }
                const bernoulli_logit_logpmf_checked_grad_eta_results result = bernoulli_logit_logpmf_checked_grad_eta_rm_evaluate(row, eta[0]);
                (total + turn * 2)[0] += inside ? result.value : 0;
                for (int c = 0; c < 1; c++) {
                    const real derivative = result.d_eta;
                    dots[place * DOWN + row_here] = inside ? derivative : 0;
                    (total + turn * 2)[1 + c] += inside ? derivative : 0;
                }
                }
        }
        BARRIER();
                if (warp < 2)
            add_gradient(gradient, rows, dots + first_eight * 8 * DOWN,
                first_column, lane);
    }

    // What the threads of the block have, in their order; another kernel adds the blocks' sums.
    partial += BLOCK_Y * n_sets * 18 + first_set * 18;
    BARRIER();
    UNROLL for (int q = 0; q < 16; q++)
        shared[q * 128 + THREAD] = total[q];
    for (int span = 32; span > 0; span /= 2) {
        BARRIER();
        if (row_here < span)
            UNROLL for (int q = 0; q < 16; q++)
                shared[q * 128 + THREAD] += shared[q * 128 + THREAD + span];
    }
    if (row_here == 0)
        UNROLL for (int q = 0; q < 16; q++) {
            const int s = (int)THREAD / 64 + q / 2 * 2;
            if (s < sets_here)
                partial[s * 18 + q % 2] = shared[q * 128 + THREAD];
        }
    if (warp < 2)
        UNROLL for (int i = 0; i < 4; i++) {
            const int c = first_column + i / 4 * 16 + lane / 4 * 2 + i % 4 / 2;
            const int s = (first_eight + i / 4 % 1) * 8 + lane % 4 * 2 + i % 2;
            if (c < 16 && s < sets_here)
                partial[s * 18 + 2 + c] = gradient[i];
        }

}
