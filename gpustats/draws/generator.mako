## Random streams in registers, for every shape that draws. `functions` prints them; a kernel takes the three numbers
## `key, stream, first_draw` of a `Generator`, the last being the number of its first draw.
<%def name="functions(dtype, dialect)">\
// ---- random streams: Philox4x32-10 of Salmon, Moraes, Dror & Shaw (2011), Parallel random numbers: as easy as 1, 2, 3

typedef unsigned ${"long long" if dialect == "cuda" else "long"} product_t;
typedef unsigned int word_t;
typedef struct {
    word_t a, b, c, d;
} words_t;

// Both words of a product.
DEVICE product_t product(word_t a, word_t b)
{
    return ${"(product_t)__umulhi(a, b) << 32 | a * b" if dialect == "cuda" else "(product_t)a * b"};
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

% if dtype == "float64":
// A uniform number in the open interval (0, 1): the middle of one of 2^52 parts of it.
DEVICE double uniform_of(word_t high, word_t low)
{
% if dialect == "cuda":
    const double number = __hiloint2double((int)(0x3FF00000u | high >> 12), (int)(high << 20 | low >> 12));
% else:
    const double number = as_double((ulong)0x3FF0000000000000 | (ulong)high << 20 | low >> 12);
% endif
    return number - (1 - 0.5 * EPSILON);
}
% else:
// A uniform number in the open interval (0, 1): the middle of one of 2^32 parts of it, rounded.
DEVICE float uniform_of(word_t word)
{
    return fmin((float)word * 2.3283064365386963e-10f + 1.1641532182693481e-10f, 1 - 0.5f * EPSILON);
}
% endif

// A standard exponential number from a uniform one.
DEVICE real exponential_of(real u)
{
% if dialect == "opencl":
    return -log(u);
% elif dtype == "float64":
    // -log(2^k m), m = (1 + s) / (1 - s) between sqrt(1/2) and sqrt(2): see branchless_log, whose care for other numbers is not needed
    const int high = __double2hiint(u), k = (high - 0x3fe6a09e) >> 20;
    const double m = __hiloint2double(high - (k << 20), __double2loint(u)), sum = m + 1;
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(sum));
    const double e = fma(-sum, r, 1.0), s = (1 - m) * fma(r, fma(e, e, e), r), z = s * s;
    return fma((double)k, -0.69314718055994530942, s * (2 + z * (0.66666666666666696969 + z * (0.39999999999899197894 + z * (
               0.28571428626114518292 + z * (0.22222211112104947364 + z * (0.18182890778026130313 + z * (
               0.15331666676597174341 + z * 0.14617128399807299883))))))));
% else:
    // -log(2^k (1 + f)), f between -1/3 and 1/3
    const int high = (__float_as_int(u) - 0x3f2aaaab) & 0xff800000;
    const float f = __int_as_float(__float_as_int(u) - high) - 1;
    const float P = 0.5f + f * (-0.333332717f + f * (0.249999449f + f * (-0.200072333f + f * (0.166733161f + f * (-0.140558124f + f * (0.122887217f + f * (-0.13748309f + f * 0.124222003f)))))));
    return fma((float)high, -8.2629582e-08f, f * (f * P) - f);
% endif
}

// Distance of a point with two standard normal coordinates from the origin.
DEVICE real radius_of(real u)
{
    const real square = 2 * exponential_of(u);  // positive, since u < 1
% if dialect == "opencl":
    return sqrt(square);
% elif dtype == "float64":
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(square));
    const double root = square * r, e = fma(-root, r, 1.0);
    return fma(root, e * fma(e, 0.375, 0.5), root);
% else:
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(square));
    return square * r;
% endif
}

// sin(2 pi f), f between -1/4 and 1/4.
DEVICE real sine_of_turns(real f)
{
    const real s = f * f;
% if dtype == "float64":
    return f * (6.2831853071795864756 + s * (-41.341702240399756862 + s * (81.605249276073615183 + s * (
                -76.705859752824919209 + s * (42.05869392542868225 + s * (-15.094641676117900093 + s * (
                3.8199280942271642021 + s * (-0.71773379214134533133 + s * 0.10089695501646811163))))))));
% else:
    return f * (6.2831852802f + s * (-41.341680613f + s * (81.602476369f + s * (-76.581172644f + s * 39.759827085f))));
% endif
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
% if dtype == "float64":
    word_t spare;  // 12 bits that the last normal number left
% endif
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
% if dtype == "float64":
    rng.spare = 0;
% endif
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
% if dtype == "float64":
    const int last = rng->left == 1;  // behind a normal number: so both come from one block, and this one has 44 bits
    const word_t high = rng_word(rng);
    return uniform_of(high, last ? rng->spare << 20 : rng_word(rng));
% else:
    return uniform_of(rng_word(rng));
% endif
}

DEVICE real rng_normal(rng_t *rng)
{
% if dtype == "float64":
    if (rng->left < 3)
        rng->left = 0;
    const word_t high = rng_word(rng);
    const word_t low = rng_word(rng);
    rng->spare = low & 0xFFF;
    return normal_of(uniform_of(high, low), uniform_of(rng_word(rng), 0x80000000));  // one of 2^32 directions
% else:
    const real u = rng_uniform(rng);
    return normal_of(u, rng_uniform(rng));
% endif
}

DEVICE real rng_exponential(rng_t *rng)
{
    return exponential_of(rng_uniform(rng));
}

</%def>
