// The sample shape: out[i] = draw number first_draw + i, for the parameters of place i.
//
// A draw depends on the stream and on its number only, not on the thread that makes it.\
% if lanes:
 The sampler is a function of one number, and
// ${lanes} draws share a block of words: those that lie ${together} apart, so that neighbouring threads write neighbouring places.
% else:
 The sampler takes words of its own for each.
% endif
% if whole:

// A whole number; nan becomes the smallest one.
DEVICE index_t whole_number(real value)
{
    const index_t most = 0x7FFFFFFFFFFFFFFF;
    return value < REAL(9223372036854775807.0) ? (value > REAL(-9223372036854775808.0) ? (index_t)value : -most - 1)
         : value == value ? most : -most - 1;
}
% endif
% if rejects and not serial:

% if dialect == "cuda":
#define TAKE(counter, count) atomicAdd(counter, count)
#define BITS_SET(word) __popc(word)
#define LEADING_ZEROS(word) __clz(word)
% else:
#define TAKE(counter, count) atomic_add(counter, count)
#define BITS_SET(word) (int)popcount(word)
#define LEADING_ZEROS(word) (int)clz(word)
% endif
% endif

KERNEL(${layout.threads}) ${name}(
    GLOBAL ${out_type} *RESTRICT out, index_t out_offset, index_t n_draws, index_t n_rows, index_t n_sets,
    index_t key, index_t stream, index_t first_draw${", " if code.parameters else ""}${code.parameters})
{
% if code.operands:
    const index_t first_set = 0;
    ${code.apply_offsets()}
% endif
    out += out_offset;
% if order == "row" and code.set_type:
    // Whatever depends on the parameters alone. Each thread makes it, so that compilers see: branches on it do not diverge.
    const ${code.set_type} set = ${code.prepare_set("0")};
% endif
% if lanes:
    // A tile of ${together} blocks of words makes ${together * lanes} draws.
    const index_t first_tile = first_draw / ${together * lanes}, tiles = (first_draw + n_draws - 1) / ${together * lanes} + 1 - first_tile;
    for (index_t begin = BLOCK_Y * ${layout.tile}; begin < tiles * ${together}; begin += BLOCKS_Y * ${layout.tile}) {
        const index_t first_block = first_tile * ${together} + begin, first = first_block * ${lanes} - first_draw;
        const int whole = first >= 0 && first + ${layout.tile * lanes} <= n_draws;
        GLOBAL ${out_type} *const out_here = out + first;
        ${"UNROLL " if layout.unroll > 1 else ""}for (int step = 0; step < ${layout.tile}; step += ${layout.threads}) {
            const words_t words = words_of(key, stream, first_block + step + THREAD, SHARED_BLOCK);
% if lanes == 2:
            real draw0 = uniform_of(words.a, words.b), draw1 = uniform_of(words.c, words.d);
% else:
            real draw0 = uniform_of(words.a), draw1 = uniform_of(words.b), draw2 = uniform_of(words.c), draw3 = uniform_of(words.d);
% endif
% if kind == "normal":
% for j in range(0, lanes, 2):
            normals_of(draw${j}, draw${j + 1}, &draw${j}, &draw${j + 1});
% endfor
% elif kind == "exponential":
% for j in range(lanes):
            draw${j} = exponential_of(draw${j});
% endfor
% endif
% if layout.threads > together:
            const index_t place = (step + THREAD) / ${together} * ${together * lanes} + THREAD % ${together};
% else:
            const index_t place = step + THREAD;
% endif
            if (whole) {
% for j in range(lanes):
                {
                    const index_t i = first + place + ${j * together};
                    const real draw = draw${j};
${assign(f'out_here[place + {j * together}]')}\
                }
% endfor
            } else {
% for j in range(lanes):
                {
                    const index_t i = first + place + ${j * together};
                    const real draw = draw${j};
                    if (i >= 0 && i < n_draws) {
${assign(f'out_here[place + {j * together}]')}\
                    }
                }
% endfor
            }
        }
    }
% elif rejects:
    // First attempts at all draws of a tile, then those draws whose first attempt was rejected, in any order.
    SHARED_ARRAY(int, waiting, ${layout.tile});
    SHARED_ARRAY(int, n_waiting, 1);
% if serial:
    SHARED_ARRAY(int, rejected, ${layout.tile});
% endif
    for (index_t begin = BLOCK_Y * ${layout.tile}; begin < n_draws; begin += BLOCKS_Y * ${layout.tile}) {
        if (THREAD == 0)
            n_waiting[0] = 0;
        BARRIER();
        const int draws_here = (int)MIN(n_draws - begin, (index_t)${layout.tile});
% if not serial:
        word_t mine_wait = 0;  // which of this thread's draws, a bit each
% endif
        GLOBAL ${out_type} *const out_here = out + begin;
% if serial:
        for (int step = 0; step < draws_here; step += ${layout.threads}) {
            const int place = step + (int)THREAD, mine = place < draws_here;
            const index_t i = begin + (mine ? place : 0);  // no thread is idle: vectorisers like that
            rng_t rng = rng_of(key, stream, first_draw + i);
            const int once = 1;
${evaluate()}\
            if (mine)
                out_here[place] = ${"whole_number(value)" if whole else "value"};
            rejected[place] = mine && value != value;
        }
% else:
        for (int turn = 0; turn < ${layout.tile // layout.threads}; turn += ${layout.unroll}) {
            words_t words[${layout.unroll}];  // their making is independent work
            UNROLL for (int t = 0; t < ${layout.unroll}; t++)
                words[t] = words_of(key, stream, first_draw + begin + ((turn + t) * ${layout.threads} + (int)THREAD), 0);
            UNROLL for (int t = 0; t < ${layout.unroll}; t++) {
                const int place = (turn + t) * ${layout.threads} + (int)THREAD, mine = place < draws_here;
                const index_t i = begin + ${"(mine ? place : 0)" if code.row_operands or order != "row" else "place"};
                rng_t rng = rng_with(key, stream, first_draw + begin + place, words[t]);
                const int once = 1;
${evaluate()}\
                if (mine)
                    out_here[place] = ${"whole_number(value)" if whole else "value"};
                mine_wait |= (word_t)(mine && value != value) << (turn + t);
            }
        }
% endif
% if not serial:
        if (mine_wait)
            for (int slot = TAKE(n_waiting, BITS_SET(mine_wait)); mine_wait; mine_wait &= mine_wait - 1)
                waiting[slot++] = (31 - LEADING_ZEROS(mine_wait & -mine_wait)) * ${layout.threads} + (int)THREAD;
% endif
        BARRIER_GLOBAL();  // other threads write again what was rejected
% if serial:
        if (THREAD == 0)  // vectors of threads would go through a branch one by one
            for (int place = 0, count = 0; place < draws_here; place++) {
                waiting[count] = place;
                count += rejected[place];
                n_waiting[0] = count;
            }
        BARRIER();
% endif
        const int waiting_here = n_waiting[0];
        for (int first = 0; first < waiting_here; first += ${layout.threads}) {
            const int place = waiting[MIN(first + (int)THREAD, waiting_here - 1)];
            const index_t i = begin + place;
            rng_t rng = rng_of(key, stream, first_draw + i);
            const int once = 0;
${evaluate()}\
            if (first + (int)THREAD < waiting_here)
                out_here[place] = ${"whole_number(value)" if whole else "value"};
        }
        BARRIER();
    }
% else:
    for (index_t begin = BLOCK_Y * ${layout.tile}; begin < n_draws; begin += BLOCKS_Y * ${layout.tile})
        for (int step = 0; step < ${layout.tile}; step += ${layout.threads}) {
            const index_t i = begin + step + THREAD;
            if (i >= n_draws)
                continue;
            rng_t rng = rng_of(key, stream, first_draw + i);
% if vectors:
            GLOBAL real *vector = out + i * dim;
% endif
${assign('out[i]')}\
        }
% endif
}
<%def name="assign(to)">\
${evaluate()}\
% if not vectors:
                    ${to} = ${"whole_number(value)" if whole else "value"};
% endif
</%def>
<%def name="evaluate()">\
% if order == "row_inside":
                    const index_t n = i % n_rows, k = i / n_rows;
% elif order == "set_inside":
                    const index_t n = i / n_sets, k = i % n_sets;
% elif code.row_operands:
                    const index_t n = i;
% endif
% if order != "row" and code.set_type:
                    const ${code.set_type} set = ${code.prepare_set("k")};
% endif
% if code.row_type:
                    const ${code.row_type} row = ${code.prepare_row("n")};
% endif
                    ${"" if vectors else "const real value = "}${code.evaluate("row", "set", "n", "0" if order == "row" else "k")};
</%def>
