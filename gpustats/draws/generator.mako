## Random streams in registers, for every shape that draws. `functions` prints them; a kernel takes the three numbers
## `key, stream, first_draw` of a `Generator`, the last being the number of its first draw.
<%def name="functions(dtype, dialect)">\
// ---- random streams: Philox4x32-10 of Salmon, Moraes, Dror & Shaw (2011), Parallel random numbers: as easy as 1, 2, 3

typedef unsigned ${"long long" if dialect == "cuda" else "long"} product_t;
typedef unsigned int word_t;
typedef struct {
    word_t a, b, c, d;
} words_t;

DEVICE words_t philox(words_t counter, word_t key0, word_t key1)
{
    UNROLL for (int round = 0; round < 10; round++) {
        const product_t a = (product_t)0xD2511F53u * counter.a, c = (product_t)0xCD9E8D57u * counter.c;
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

// Distance of a point with two standard normal coordinates from the origin.
DEVICE real radius_of(real u)
{
    const real square = -2 * log(u);  // positive, since u < 1
    return ${"square * rsqrt(square)" if dialect == "cuda" else "sqrt(square)"};
}

// A standard normal number from two uniform ones, the second of which gives the direction.
// Source: Box & Muller (1958), A note on the generation of random normal deviates.
DEVICE real normal_of(real u, real v)
{
    const real f = fabs(v - REAL(0.5)) - REAL(0.25), s = f * f;  // exact; cos(2 pi v) = sin(2 pi f), f in [-1/4, 1/4]
% if dtype == "float64":
    return radius_of(u) * (f * (6.2831853071795864756 + s * (-41.341702240399756862 + s * (81.605249276073615183 + s * (
                                -76.705859752824919209 + s * (42.05869392542868225 + s * (-15.094641676117900093 + s * (
                                3.8199280942271642021 + s * (-0.71773379214134533133 + s * 0.10089695501646811163)))))))));
% else:
    return radius_of(u) * (f * (6.2831852802f + s * (-41.341680613f + s * (81.602476369f + s * (
                                -76.581172644f + s * 39.759827085f)))));
% endif
}

// Two independent standard normal numbers from two uniform ones.
DEVICE void normals_of(real u, real v, real *first, real *second)
{
    const real radius = radius_of(u);
    const int quarter = (int)(4 * v + REAL(0.5));
    const real f = v - REAL(0.25) * quarter, s = f * f;  // exact; the sine and the cosine of 2 pi f, f in [-1/8, 1/8]
% if dtype == "float64":
    const real sine = f * (6.2831853071795864572 + s * (-41.341702240399636207 + s * (81.605249275948035209 + s * (
                           -76.705859704274550647 + s * (42.058685020160894047 + s * (-15.093804209987113512 + s * (
                           3.7808689593022955184)))))));
    const real cosine = 1 + s * (-19.739208802178716989 + s * (64.939394022667957529 + s * (
                            -85.456817206522712487 + s * (60.24464132886729332 + s * (-26.426250908622135959 + s * (
                            7.9030916877516976361 + s * (-1.6968494702918826806)))))));
% else:
    const real sine = f * (6.283185288f + s * (-41.34166257f + s * (81.59254287f + s * (-75.4016127f))));
    const real cosine = 1 + s * (-19.73920865f + s * (64.93931614f + s * (-85.44284467f + s * 59.22016896f)));
% endif
    *first = ((quarter + 1) & 2 ? -radius : radius) * (quarter & 1 ? sine : cosine);
    *second = (quarter & 2 ? -radius : radius) * (quarter & 1 ? cosine : sine);
}

// The stream of one draw, for samplers that need several numbers.
typedef struct {
    index_t key, stream, draw;
    words_t words;
    word_t block;  // number of the next block
    int left;  // words that have not been used
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
% if dtype == "float64":
    rng.spare = 0;
% endif
    return rng;
}

DEVICE word_t rng_word(rng_t *rng)
{
    if (rng->left == 0) {
        rng->words = words_of(rng->key, rng->stream, rng->draw, rng->block++);
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
    return -log(rng_uniform(rng));
}

</%def>
