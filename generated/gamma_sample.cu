// The sample kernel of gamma, made by `gpustats generate`. Do not edit.
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
// ---- random streams: Philox4x32-10 of Salmon, Moraes, Dror & Shaw (2011), Parallel random numbers: as easy as 1, 2, 3

typedef unsigned long long product_t;
typedef unsigned int word_t;
typedef struct {
    word_t a, b, c, d;
} words_t;

// Both words of a product.
DEVICE product_t product(word_t a, word_t b)
{
    return (product_t)__umulhi(a, b) << 32 | a * b;
}

DEVICE words_t philox(words_t counter, word_t key0, word_t key1)
{
    UNROLL for (int round = 0; round < 10; round++) {
        const product_t a = product(0xD2511F53u, counter.a), c = product(0xCD9E8D57u, counter.c);
        counter.a = (word_t)(c >> 32) ^ counter.b ^ key0;
        counter.c = (word_t)(a >> 32) ^ counter.d ^ key1;
        counter.b = (word_t)c;
        counter.d = (word_t)a;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// A block of four words: it depends on the stream, on the number of a draw, and on the number of the block within the draw.
DEVICE words_t words_of(index_t key, index_t stream, index_t draw, word_t block)
{
    words_t counter;
    counter.a = (word_t)draw;
    counter.b = (word_t)(draw >> 32);
    counter.c = block;
    counter.d = (word_t)stream;
    return philox(counter, (word_t)key, (word_t)(key >> 32));
}

// Numbers of blocks that are not a draw's own: of those that neighbouring draws share, of the elements of a vector.
#define SHARED_BLOCK 0xFFFFFFFFu
#define ELEMENT_BLOCKS 0x80000000u

// A uniform number in the open interval (0, 1): the middle of one of 2^52 parts of it.
DEVICE double uniform_of(word_t high, word_t low)
{
    const double number = __hiloint2double((int)(0x3FF00000u | high >> 12), (int)(high << 20 | low >> 12));
    return number - (1 - 0.5 * EPSILON);
}

// A standard exponential number from a uniform one.
DEVICE real exponential_of(real u)
{
    // -log(2^k m), m = (1 + s) / (1 - s) between sqrt(1/2) and sqrt(2): see branchless_log, whose care for other numbers is not needed
    const int high = __double2hiint(u), k = (high - 0x3fe6a09e) >> 20;
    const double m = __hiloint2double(high - (k << 20), __double2loint(u)), sum = m + 1;
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(sum));
    const double e = fma(-sum, r, 1.0), s = (1 - m) * fma(r, fma(e, e, e), r), z = s * s;
    return fma((double)k, -0.69314718055994530942, s * (2 + z * (0.66666666666666696969 + z * (0.39999999999899197894 + z * (
               0.28571428626114518292 + z * (0.22222211112104947364 + z * (0.18182890778026130313 + z * (
               0.15331666676597174341 + z * 0.14617128399807299883))))))));
}

// Distance of a point with two standard normal coordinates from the origin.
DEVICE real radius_of(real u)
{
    const real square = 2 * exponential_of(u);  // positive, since u < 1
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(square));
    const double root = square * r, e = fma(-root, r, 1.0);
    return fma(root, e * fma(e, 0.375, 0.5), root);
}

// sin(2 pi f), f between -1/4 and 1/4.
DEVICE real sine_of_turns(real f)
{
    const real s = f * f;
    return f * (6.2831853071795864756 + s * (-41.341702240399756862 + s * (81.605249276073615183 + s * (
                -76.705859752824919209 + s * (42.05869392542868225 + s * (-15.094641676117900093 + s * (
                3.8199280942271642021 + s * (-0.71773379214134533133 + s * 0.10089695501646811163))))))));
}

// A standard normal number from two uniform ones, the second of which gives the direction.
// Source: Box & Muller (1958), A note on the generation of random normal deviates.
DEVICE real normal_of(real u, real v)
{
    return radius_of(u) * sine_of_turns(fabs(v - REAL(0.5)) - REAL(0.25));  // cos(2 pi v)
}

// Two independent standard normal numbers from two uniform ones.
DEVICE void normals_of(real u, real v, real *first, real *second)
{
    const real radius = radius_of(u), w = REAL(0.5) - v, f = fabs(w) - REAL(0.25);
    *first = radius * sine_of_turns(f);  // cos(2 pi v)
    *second = copysign(radius * sine_of_turns(REAL(0.25) - fabs(f)), w);  // sin(2 pi v) = sin(2 pi w)
}

// The stream of one draw, for samplers that need several numbers.
typedef struct {
    index_t key, stream, draw;
    words_t words;
    word_t block;  // number of the next block
    int left;  // words that have not been used
    int ahead;  // whether the first block was made before it was needed
    words_t first;
    word_t spare;  // 12 bits that the last normal number left
} rng_t;

DEVICE rng_t rng_of(index_t key, index_t stream, index_t draw)
{
    rng_t rng;
    rng.key = key;
    rng.stream = stream;
    rng.draw = draw;
    rng.block = 0;
    rng.left = 0;
    rng.ahead = 0;
    rng.spare = 0;
    return rng;
}

// The same with the words of its first block, which the caller has made.
DEVICE rng_t rng_with(index_t key, index_t stream, index_t draw, words_t words)
{
    rng_t rng = rng_of(key, stream, draw);
    rng.ahead = 1;
    rng.first = words;
    return rng;
}

DEVICE word_t rng_word(rng_t *rng)
{
    if (rng->left == 0) {
        rng->words = rng->ahead && rng->block == 0 ? rng->first : words_of(rng->key, rng->stream, rng->draw, rng->block);
        rng->block++;
        rng->left = 4;
    }
    const word_t word = rng->words.a;
    rng->words.a = rng->words.b;
    rng->words.b = rng->words.c;
    rng->words.c = rng->words.d;
    rng->left--;
    return word;
}

DEVICE real rng_uniform(rng_t *rng)
{
    const int last = rng->left == 1;  // behind a normal number: so both come from one block, and this one has 44 bits
    const word_t high = rng_word(rng);
    return uniform_of(high, last ? rng->spare << 20 : rng_word(rng));
}

DEVICE real rng_normal(rng_t *rng)
{
    if (rng->left < 3)
        rng->left = 0;
    const word_t high = rng_word(rng);
    const word_t low = rng_word(rng);
    rng->spare = low & 0xFFF;
    return normal_of(uniform_of(high, low), uniform_of(rng_word(rng), 0x80000000));  // one of 2^32 directions
}

DEVICE real rng_exponential(rng_t *rng)
{
    return exponential_of(rng_uniform(rng));
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

// gamma_standard_turns: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    real c;
    real d;
} gamma_standard_turns_msm_set;

DEVICE gamma_standard_turns_msm_set gamma_standard_turns_msm_prepare_set(real alpha)
{
    gamma_standard_turns_msm_set set;
    real d = alpha - 1.0 / 3;
    real c = 1 / sqrt(9 * d);
    set.c = c;
    set.d = d;
    return set;
}

// gamma_standard_turns: what depends on both, from what was computed ahead.
DEVICE real gamma_standard_turns_msm_evaluate(gamma_standard_turns_msm_set set, rng_t *rng, int once)
{
    real value = NAN;
    int i = 0;
    int turn_61_5 = 0;
    for (; (!once || !turn_61_5) && (i < 1000 && isnan(value)); turn_61_5 = 1) {
        rng->left = 0;
        real z = rng_normal(rng);
        real u = rng_uniform(rng);
        real t = set.c * z;
        real root = 1 + t;
        int accepted = root > 0 && u < 1 - 0.0331 * (z * z) * (z * z);
        if (once && (!accepted && root > 0)) {
            return NAN;
        }
        if (!accepted && root > 0) {
            accepted = log(u) < 0.5 * z * z + set.d * special_log1pmx(t * (3 + t * (3 + t)));
        }
        if (accepted) {
            value = set.d * (root * root * root);
        }
        i = int_sum(i, 1);
    }
    rng->left = 0;
    if (once && (i < 1000 && isnan(value))) {
        return NAN;
    }
    return value;
}

// gamma_sample_turns: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    gamma_standard_turns_msm_set gamma_standard_turns_0;
    real c0;
    int c1;
    real alpha;
} gamma_sample_turns_mssm_set;

DEVICE gamma_sample_turns_mssm_set gamma_sample_turns_mssm_prepare_set(real alpha, real beta)
{
    gamma_sample_turns_mssm_set set;
    set.gamma_standard_turns_0 = gamma_standard_turns_msm_prepare_set(alpha < 1 ? alpha + 1 : alpha);
    set.c0 = 1 / beta;
    set.c1 = alpha < 1;
    set.alpha = alpha;
    return set;
}

// gamma_sample_turns: what depends on both, from what was computed ahead.
DEVICE real gamma_sample_turns_mssm_evaluate(gamma_sample_turns_mssm_set set, rng_t *rng, int once)
{
    real x = gamma_standard_turns_msm_evaluate(set.gamma_standard_turns_0, rng, once) * set.c0;
    return set.c1 ? exp(log(x) - rng_exponential(rng) / set.alpha) : x;
}

// gamma_sample_checked_turns: what depends on the parameters alone, computed once for each set of them.
typedef struct {
    int c0;
    gamma_sample_turns_mssm_set gamma_sample_turns_0;
} gamma_sample_checked_turns_mssm_set;

DEVICE gamma_sample_checked_turns_mssm_set gamma_sample_checked_turns_mssm_prepare_set(real alpha, real beta)
{
    gamma_sample_checked_turns_mssm_set set;
    real bad_alpha = EITHER(alpha > 0, 0, NAN);
    real bad_beta = EITHER(beta > 0, 0, NAN);
    set.c0 = !(bad_alpha == 0 && bad_beta == 0);
    set.gamma_sample_turns_0 = gamma_sample_turns_mssm_prepare_set(alpha, beta);
    return set;
}

// gamma_sample_checked_turns: what depends on both, from what was computed ahead.
DEVICE real gamma_sample_checked_turns_mssm_evaluate(gamma_sample_checked_turns_mssm_set set, rng_t *rng, int once)
{
    if (set.c0) {
        return NAN;
    }
    return gamma_sample_turns_mssm_evaluate(set.gamma_sample_turns_0, rng, once);
}

// The sample shape: out[i] = draw number first_draw + i, for the parameters of place i.
//
// A draw depends on the stream and on its number only, not on the thread that makes it. The sampler takes words of its own for each.

#define TAKE(counter, count) atomicAdd(counter, count)
#define BITS_SET(word) __popc(word)
#define LEADING_ZEROS(word) __clz(word)

KERNEL(128) gamma_sample_checked_turns_sample(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_draws, index_t n_rows, index_t n_sets,
    index_t key, index_t stream, index_t first_draw, real alpha_value, real beta_value)
{
    const index_t first_set = 0;
    
    out += out_offset;
    // Whatever depends on the parameters alone. Each thread makes it, so that compilers see: branches on it do not diverge.
    const gamma_sample_checked_turns_mssm_set set = gamma_sample_checked_turns_mssm_prepare_set(alpha_value, beta_value);
    // First attempts at all draws of a tile, then those draws whose first attempt was rejected, in any order.
    SHARED_ARRAY(int, waiting, 2048);
    SHARED_ARRAY(int, n_waiting, 1);
    for (index_t begin = BLOCK_Y * 2048; begin < n_draws; begin += BLOCKS_Y * 2048) {
        if (THREAD == 0)
            n_waiting[0] = 0;
        BARRIER();
        const int draws_here = (int)MIN(n_draws - begin, (index_t)2048);
        word_t mine_wait = 0;  // which of this thread's draws, a bit each
        GLOBAL real *const out_here = out + begin;
        for (int turn = 0; turn < 16; turn += 4) {
            words_t words[4];  // their making is independent work
            UNROLL for (int t = 0; t < 4; t++)
                words[t] = words_of(key, stream, first_draw + begin + ((turn + t) * 128 + (int)THREAD), 0);
            UNROLL for (int t = 0; t < 4; t++) {
                const int place = (turn + t) * 128 + (int)THREAD, mine = place < draws_here;
                const index_t i = begin + place;
                rng_t rng = rng_with(key, stream, first_draw + begin + place, words[t]);
                const int once = 1;
                    const real value = gamma_sample_checked_turns_mssm_evaluate(set, &rng, once);
                if (mine)
                    out_here[place] = value;
                mine_wait |= (word_t)(mine && value != value) << (turn + t);
            }
        }
        if (mine_wait)
            for (int slot = TAKE(n_waiting, BITS_SET(mine_wait)); mine_wait; mine_wait &= mine_wait - 1)
                waiting[slot++] = (31 - LEADING_ZEROS(mine_wait & -mine_wait)) * 128 + (int)THREAD;
        BARRIER_GLOBAL();  // other threads write again what was rejected
        const int waiting_here = n_waiting[0];
        for (int first = 0; first < waiting_here; first += 128) {
            const int place = waiting[MIN(first + (int)THREAD, waiting_here - 1)];
            const index_t i = begin + place;
            rng_t rng = rng_of(key, stream, first_draw + i);
            const int once = 0;
                    const real value = gamma_sample_checked_turns_mssm_evaluate(set, &rng, once);
            if (first + (int)THREAD < waiting_here)
                out_here[place] = value;
        }
        BARRIER();
    }
}


