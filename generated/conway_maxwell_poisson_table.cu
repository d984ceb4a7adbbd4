// The table kernel of conway_maxwell_poisson, made by `gpustats generate`. Do not edit.
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

DEVICE int special_large_shape(real shape)
{
    return shape > (EPSILON < 1e-10 ? 100 : 10);
}

DEVICE real special_stirling_series(real x)
{
    real v = 1 / x;
    real s = v * v;
    return v * (0.08333333333333314114 + s * (-0.002777777777430500254 + s * (0.0007936506884915048197 + s * (-0.0005952255253448391347 + s * (0.0008409701331661107948 + s * (-0.001888716724424404014 + s * (0.005726056083836847512 + s * (-0.01843123144258370909 + s * (0.04649879924372260093 + s * -0.06067253307630472635)))))))));
}

DEVICE real special_factorial_remainder(real x)
{
    if (x < 3) {
        return x == 2 ? 2 - LOG_2 : x;
    }
    return 0.5 * log(x) + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE real special_log_factorial(real x)
{
    if (x < 3) {
        return x == 2 ? LOG_2 : 0;
    }
    return (x + 0.5) * log(x) - x + (HALF_LOG_2PI + special_stirling_series(x));
}

DEVICE real conway_maxwell_poisson_height(real x, real mu, real log_mu, real nu)
{
    if (special_large_shape(mu)) {
        return x == 0 ? -nu * mu : nu * (x * special_log_excess(log_mu - log(x), (mu - x) / x) - special_factorial_remainder(x));
    }
    return nu * ((x == 0 ? 0 : x * log_mu) - special_log_factorial(x));
}

DEVICE real conway_maxwell_poisson_highest(real a, real b, real mu)
{
    return fmin(fmax(floor(mu), a), b);
}

DEVICE real conway_maxwell_poisson_weight(real x, real top, int power, real center, real mu, real log_mu, real nu)
{
    real value = exp(conway_maxwell_poisson_height(x, mu, log_mu, nu) - top);
    real d = x - center;
    for (int i = 0; i < 4; i++) {
        value *= i < power ? d : 1;
    }
    return value;
}

DEVICE real special_midpoint_correction(real f_3, real f_2, real f_1, real f0, real f1, real f2)
{
    real first = f0 - f_1;
    real third = f1 - f_2 - 3 * first;
    real fifth = f2 - f_3 - 5 * (f1 - f_2) + 10 * first;
    return 0.041666666666666667 * first - 0.0029513888888888889 * third + 0.00037925760582010582 * fifth;
}

DEVICE real conway_maxwell_poisson_correction(real a, real top, int power, real center, real mu, real log_mu, real nu)
{
    real f_3 = 0;
    real f_2 = 0;
    real f_1 = 0;
    real f0 = 0;
    real f1 = 0;
    real f2 = 0;
    for (int i = -3; i < 3; i++) {
        f_3 = f_2;
        f_2 = f_1;
        f_1 = f0;
        f0 = f1;
        f1 = f2;
        f2 = conway_maxwell_poisson_weight(a + i, top, power, center, mu, log_mu, nu);
    }
    return special_midpoint_correction(f_3, f_2, f_1, f0, f1, f2);
}

DEVICE real special_panel_width(real slope, real spread)
{
    return fmin(3 / fabs(slope), 1.1 * spread);
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

DEVICE real conway_maxwell_poisson_sum_between(real a, real b, int power, real center, real mu, real log_mu, real nu)
{
    real mode = conway_maxwell_poisson_highest(a, b, mu);
    real top = conway_maxwell_poisson_height(mode, mu, log_mu, nu);
    real sum = 0;
    real mass = 0;
    real last = 1;
    real at = a;
    real small = (power == 0 ? 0.01 : 1e-9) * EPSILON;
    int done = 0;
    for (int i = 0; i < 1000 && !done && at <= b && THREAD < 65536; i++) {
        real term = conway_maxwell_poisson_weight(at, top, 0, 0, mu, log_mu, nu);
        mass += term;
        sum += conway_maxwell_poisson_weight(at, top, power, center, mu, log_mu, nu);
        done = at > mode && term * term < small * (last - term) * mass;
        last = term;
        at++;
    }
    if (!done && at <= b) {
        sum += conway_maxwell_poisson_correction(at, top, power, center, mu, log_mu, nu);
        if (b < INFINITY) {
            sum -= conway_maxwell_poisson_correction(b + 1, top, power, center, mu, log_mu, nu);
        }
        at -= 0.5;
        last = 1;
        for (int panel = 0; panel < 500 && at < b && (at <= mode || last > small * mass) && THREAD < 65536; panel++) {
            real slope = conway_maxwell_poisson_height(at + 0.5, mu, log_mu, nu) - conway_maxwell_poisson_height(at - 0.5, mu, log_mu, nu);
            real width = fmin(fmin(special_panel_width(slope, sqrt(at / nu)), 0.4 * at), b + 0.5 - at);
            last = 0;
            for (int k = 0; k < 8; k++) {
                real x = at + 0.5 * width * (1 + special_legendre_node(k));
                real share = 0.5 * width * special_legendre_weight(k);
                last += share * conway_maxwell_poisson_weight(x, top, 0, 0, mu, log_mu, nu);
                sum += share * conway_maxwell_poisson_weight(x, top, power, center, mu, log_mu, nu);
            }
            mass += last;
            at += width;
        }
    }
    return sum;
}

DEVICE real conway_maxwell_poisson_log_between(real a, real b, real mu, real log_mu, real nu)
{
    return conway_maxwell_poisson_height(conway_maxwell_poisson_highest(a, b, mu), mu, log_mu, nu) + log(conway_maxwell_poisson_sum_between(a, b, 0, 0, mu, log_mu, nu));
}

DEVICE real conway_maxwell_poisson_lowest(real x, real nu)
{
    return fmax(floor(x - 9.7 * sqrt(x / nu)), (real)0);
}

DEVICE real conway_maxwell_poisson_log_whole(real mu, real log_mu, real nu)
{
    return conway_maxwell_poisson_log_between(conway_maxwell_poisson_lowest(floor(mu), nu), INFINITY, mu, log_mu, nu);
}

// conway_maxwell_poisson_height: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c0;
    real nu;
    real log_mu;
    real mu;
    int c1;
} conway_maxwell_poisson_height_set;

DEVICE conway_maxwell_poisson_height_set conway_maxwell_poisson_height_prepare_set(real mu, real log_mu, real nu)
{
    conway_maxwell_poisson_height_set set;
    set.c0 = -nu * mu;
    set.nu = nu;
    set.log_mu = log_mu;
    set.mu = mu;
    set.c1 = special_large_shape(mu);
    return set;
}

// conway_maxwell_poisson_height: what depends on the observation alone, computed once for each.
typedef struct {
    int c0;
    real x;
    real c1;
    real c2;
    real c3;
} conway_maxwell_poisson_height_row;

DEVICE conway_maxwell_poisson_height_row conway_maxwell_poisson_height_prepare_row(real x)
{
    conway_maxwell_poisson_height_row row;
    row.c0 = x == 0;
    row.x = x;
    row.c1 = log(x);
    row.c2 = special_factorial_remainder(x);
    row.c3 = special_log_factorial(x);
    return row;
}

// conway_maxwell_poisson_height: what depends on both, from what was computed ahead.
DEVICE real conway_maxwell_poisson_height_evaluate(conway_maxwell_poisson_height_set set, conway_maxwell_poisson_height_row row)
{
    if (set.c1) {
        return row.c0 ? set.c0 : set.nu * (row.x * special_log_excess(set.log_mu - row.c1, (set.mu - row.x) / row.x) - row.c2);
    }
    return set.nu * ((row.c0 ? 0 : row.x * set.log_mu) - row.c3);
}

// conway_maxwell_poisson_logpmf: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    conway_maxwell_poisson_height_set conway_maxwell_poisson_height_0;
    real c1;
} conway_maxwell_poisson_logpmf_set;

DEVICE conway_maxwell_poisson_logpmf_set conway_maxwell_poisson_logpmf_prepare_set(real lam, real nu)
{
    conway_maxwell_poisson_logpmf_set set;
    real log_mu = log(lam) / nu;
    real mu = exp(log_mu);
    set.c0 = isinf(nu) || isinf(mu);
    set.conway_maxwell_poisson_height_0 = conway_maxwell_poisson_height_prepare_set(mu, log_mu, nu);
    set.c1 = conway_maxwell_poisson_log_whole(mu, log_mu, nu);
    return set;
}

// conway_maxwell_poisson_logpmf: what depends on the observation alone, computed once for each.
typedef struct {
    conway_maxwell_poisson_height_row conway_maxwell_poisson_height_0;
} conway_maxwell_poisson_logpmf_row;

DEVICE conway_maxwell_poisson_logpmf_row conway_maxwell_poisson_logpmf_prepare_row(real x)
{
    conway_maxwell_poisson_logpmf_row row;
    row.conway_maxwell_poisson_height_0 = conway_maxwell_poisson_height_prepare_row(x);
    return row;
}

// conway_maxwell_poisson_logpmf: what depends on both, from what was computed ahead.
DEVICE real conway_maxwell_poisson_logpmf_evaluate(conway_maxwell_poisson_logpmf_set set, conway_maxwell_poisson_logpmf_row row)
{
    if (set.c0) {
        return NAN;
    }
    return conway_maxwell_poisson_height_evaluate(set.conway_maxwell_poisson_height_0, row.conway_maxwell_poisson_height_0) - set.c1;
}

// conway_maxwell_poisson_logpmf_checked: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    conway_maxwell_poisson_logpmf_set conway_maxwell_poisson_0;
    real c0;
} conway_maxwell_poisson_logpmf_checked_set;

DEVICE conway_maxwell_poisson_logpmf_checked_set conway_maxwell_poisson_logpmf_checked_prepare_set(real lam, real nu)
{
    conway_maxwell_poisson_logpmf_checked_set set;
    real bad_lam = lam > 0 ? 0 : NAN;
    real bad_nu = nu > 0 ? 0 : NAN;
    set.conway_maxwell_poisson_0 = conway_maxwell_poisson_logpmf_prepare_set(lam, nu);
    set.c0 = bad_lam + bad_nu;
    return set;
}

// conway_maxwell_poisson_logpmf_checked: what depends on the observation alone, computed once for each.
typedef struct {
    conway_maxwell_poisson_logpmf_row conway_maxwell_poisson_0;
    int inside;
    real outside;
} conway_maxwell_poisson_logpmf_checked_row;

DEVICE conway_maxwell_poisson_logpmf_checked_row conway_maxwell_poisson_logpmf_checked_prepare_row(real x)
{
    conway_maxwell_poisson_logpmf_checked_row row;
    real outside = x == x ? -INFINITY : NAN;
    int inside = x >= 0 && x == floor(x) && fabs(x) < INFINITY;
    row.conway_maxwell_poisson_0 = conway_maxwell_poisson_logpmf_prepare_row(inside ? x : 1);
    row.inside = inside;
    row.outside = outside;
    return row;
}

// conway_maxwell_poisson_logpmf_checked: what depends on both, from what was computed ahead.
DEVICE real conway_maxwell_poisson_logpmf_checked_evaluate(conway_maxwell_poisson_logpmf_checked_set set, conway_maxwell_poisson_logpmf_checked_row row)
{
    real value = conway_maxwell_poisson_logpmf_evaluate(set.conway_maxwell_poisson_0, row.conway_maxwell_poisson_0);
    return (row.inside || value != value ? value : row.outside) + set.c0;
}

// The table shape: out[row, set] = f(observation, parameter set), every entry written once.
//
// by_rows: neighbouring threads take neighbouring rows, and go through the sets of their block together. That suits tables
// whose sets lie far apart in `out`, or that have one set only, and CPUs, where threads are the lanes of vector registers
// and branches on parameters stay branches. Otherwise neighbouring threads take neighbouring sets of the same row and hold
// them in registers, and whatever depends on the row alone is prepared once in shared memory: so a warp writes consecutive
// addresses.
KERNEL(128) conway_maxwell_poisson_logpmf_checked_table(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_rows, index_t n_sets, index_t row_stride, index_t set_stride,
    GLOBAL const real *RESTRICT x_per_row, index_t x_offset, index_t x_stride, GLOBAL const real *RESTRICT lam_per_set, index_t lam_offset, index_t lam_stride, GLOBAL const real *RESTRICT nu_per_set, index_t nu_offset, index_t nu_stride)
{
    const index_t first_set = BLOCK_X * 8;
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)8);
    x_per_row += x_offset + first_set * x_stride;
    lam_per_set += lam_offset;
    nu_per_set += nu_offset;
    out += out_offset + first_set * set_stride;

    // Whatever depends on the parameters alone: once per block.
    SHARED_ARRAY(conway_maxwell_poisson_logpmf_checked_set, sets, 8);
    for (index_t k = THREAD; k < sets_here; k += 128)
        sets[k] = conway_maxwell_poisson_logpmf_checked_prepare_set(lam_per_set[(first_set + k) * lam_stride], nu_per_set[(first_set + k) * nu_stride]);
    BARRIER();

    const int columns = (sets_here + 0) / 1, rows_at_once = 128 / columns;
    const int column = THREAD % columns * 1, my_row = THREAD / columns;
    conway_maxwell_poisson_logpmf_checked_set set[1];
    UNROLL for (int v = 0; v < 1; v++)
        set[v] = sets[MIN(column + v, sets_here - 1)];
    SHARED_ARRAY(conway_maxwell_poisson_logpmf_checked_row, rows, 512);

    for (index_t first = BLOCK_Y * 512; first < n_rows; first += BLOCKS_Y * 512) {
        const int rows_here = (int)MIN(n_rows - first, (index_t)512);
        // Whatever depends on the observation alone: once per row.
        for (index_t r = THREAD; r < rows_here; r += 128)
            rows[r] = conway_maxwell_poisson_logpmf_checked_prepare_row(x_per_row[first + r]);
        BARRIER();
        if (!(set[0].conway_maxwell_poisson_0.c0 || set[0].conway_maxwell_poisson_0.conway_maxwell_poisson_height_0.c1)) {  // apart, so that no row waits for a decision
        UNROLL_BY_4 for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const conway_maxwell_poisson_logpmf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, conway_maxwell_poisson_logpmf_checked_evaluate(set[0], row));
        }
        } else {
        for (int r = my_row < rows_at_once ? my_row : rows_here; r < rows_here; r += rows_at_once) {
            const conway_maxwell_poisson_logpmf_checked_row row = rows[r];
            GLOBAL real *cell = out + (first + r) * row_stride + column;  // set_stride is 1 here
            STORE_STREAMING(cell, conway_maxwell_poisson_logpmf_checked_evaluate(sets[MIN(column + 0, sets_here - 1)], row));
        }
        }
        BARRIER();
    }
}


