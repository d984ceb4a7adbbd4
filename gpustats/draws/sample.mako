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
% endif
% if layout.threads > together:
            const index_t place = first + (step + THREAD) / ${together} * ${together * lanes} + THREAD % ${together};
% else:
            const index_t place = first + step + THREAD;
% endif
            if (whole) {
% for j in range(lanes):
                {
                    const index_t i = place + ${j * together};
                    const real draw = draw${j};
${assign()}\
                }
% endfor
            } else {
% for j in range(lanes):
                {
                    const index_t i = place + ${j * together};
                    const real draw = draw${j};
                    if (i >= 0 && i < n_draws) {
${assign()}\
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
        for (int step = 0; step < draws_here; step += ${layout.threads}) {
            const int place = step + (int)THREAD, mine = place < draws_here;
            const index_t i = mine ? begin + place : begin;  // no thread is idle: vectorisers like that
            rng_t rng = rng_of(key, stream, first_draw + i);
            const int once = 1;
${evaluate()}\
            if (mine)
                out[i] = ${"whole_number(value)" if whole else "value"};
% if serial:
            rejected[place] = mine && value != value;
% elif dialect == "cuda":
            if (mine && value != value)
                waiting[atomicAdd(&n_waiting[0], 1)] = place;
% else:
            if (mine && value != value)
                waiting[atomic_inc(&n_waiting[0])] = place;
% endif
        }
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
            const index_t i = begin + waiting[MIN(first + (int)THREAD, waiting_here - 1)];
            rng_t rng = rng_of(key, stream, first_draw + i);
            const int once = 0;
${evaluate()}\
            if (first + (int)THREAD < waiting_here)
                out[i] = ${"whole_number(value)" if whole else "value"};
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
${assign()}\
        }
% endif
}
<%def name="assign()">\
${evaluate()}\
% if not vectors:
                    out[i] = ${"whole_number(value)" if whole else "value"};
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
