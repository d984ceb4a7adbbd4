## Parts of few long sequences: the kernels that find the states with which they begin, and what kernels of parts have in common.
## `at` are the states of one loop: see `parts.States`.
<%!
from gpustats.rows.parts import slope_of
%>\
<%def name="states(at)">\
<% k, whole = len(at.state), [s for s in at.state if s not in at.real] %>\
% if at.start:
// What stands before the loop, and the state with which it begins.
KERNEL(${layout.threads}) ${at.name}_start(
    GLOBAL double *RESTRICT first, GLOBAL const double *RESTRICT before, index_t n_spans, index_t n_sequences,
    ${spans()}${given()})
{
${begun()}\
${of_set(at, n_sequences=["first"], n_spans=["before"])}\
    if (c >= n_sequences)
        return;
    const index_t n = c;
${leaves()}\
% for i, s in enumerate(at.before):
    const real ${s}_now = before[(firsts[n + 1] - 1) * ${len(at.before)} + ${i}];
% endfor
${drawn(at.drawn_before)}\
${evaluated(at.start, "begun", 4)}\
% for i, s in enumerate(at.state):
    first[n * ${k} + ${i}] = begun.${s};
% endfor
}

% endif
% if at.state:
// The states with which spans begin are first guessed to be those with which their sequences do.
KERNEL(${layout.threads}) ${at.name}_begin(
    GLOBAL double *RESTRICT state, GLOBAL int *moved, GLOBAL const double *RESTRICT first, index_t n_spans, index_t n_sequences,
    ${spans()})
{
    const index_t k = BLOCK_Y, c = BLOCK_X * ${layout.threads} + THREAD;
    of += of_offset;
${of_set(at, n_spans=["state"], n_sequences=["moved", "first"])}\
    for (index_t i = c; i < ${rounds + 1} * n_sequences; i += BLOCKS_X * ${layout.threads})
        moved[i] = i < n_sequences;  // in the round before the first one, all have
    if (c < n_spans)
        for (int i = 0; i < ${k}; i++)
            state[c * ${k} + i] = first[of[c] * ${k} + i];
}

// Each span from the state that it is thought to begin with: its end, and how that moves with the beginning. A map takes a
// change of the state in which a span begins to that of the next one: a matrix, and what the next state lacks. A whole number that
// a span leaves as it is would be left so, too, if it were another one; what is known of it when it has been another one counts.
KERNEL(${layout.threads}) ${at.name}_turn(
    GLOBAL double *RESTRICT maps, GLOBAL double *RESTRICT ends, GLOBAL const double *RESTRICT state, GLOBAL double *RESTRICT earlier,
    GLOBAL int *moved, index_t round, index_t n_spans, index_t n_sequences, ${spans()}${given()})
{
${begun()}\
${of_set(at, n_spans=["maps", "ends", "state", "earlier"], n_sequences=["moved"])}\
    if (c >= n_spans)
        return;
    const index_t n = of[c];
    if (!moved[round * n_sequences + n])
        return;
${leaves()}\
${bounds(at)}\
${drawn(at.drawn_before_turn)}\
${evaluated(at.turn, "result", 4)}\
    GLOBAL double *map = maps + c * ${k * (k + 1)};
    int usable = 1;
    double slope;
% for i, s in enumerate(at.state):
% for j, by in enumerate(at.state):
% if s in at.real and by in at.real:
    slope = result.${slope_of(by, s)};
    usable &= isfinite(slope) != 0;
    map[${i * (k + 1) + j}] = isfinite(slope) ? slope : 0;
% elif i != j:
    map[${i * (k + 1) + j}] = 0;
% else:
    if (round == 0)
        map[${i * (k + 1) + j}] = result.${s} == ${s}_now;
    else if (${s}_now != earlier[c * ${k} + ${i}])
        map[${i * (k + 1) + j}] = result.${s} - ends[c * ${k} + ${i}] == ${s}_now - earlier[c * ${k} + ${i}];
    earlier[c * ${k} + ${i}] = ${s}_now;
% if dtype == "float32":
    if (fabs(result.${s}) > 16777216)
        moved[(round + 1) * n_sequences + n] = 1;  // a float does not tell it from its neighbours: never found, and so step by step
% endif
% endif
% endfor
    slope = c + 1 < firsts[n + 1] ? result.${s} - state[(c + 1) * ${k} + ${i}] : 0;
    map[${i * (k + 1) + k}] = isfinite(slope) ? slope : 0;
% endfor
% for i, s in enumerate(at.state):
    ends[c * ${k} + ${i}] = result.${s};
% endfor
    if (!usable && c > firsts[n])
        moved[(round + 1) * n_sequences + n] = 1;  // a step with other slopes is none of Newton's
}

${compose(at.name + "_compose", k, k, k + 1, guarded=True)}
// The changes of the states in which the members of each group begin, from that of the group.
KERNEL(${layout.threads}) ${at.name}_descend(
    GLOBAL double *RESTRICT changes, GLOBAL const double *RESTRICT of_groups, GLOBAL const double *RESTRICT maps,
    GLOBAL const int *RESTRICT moved, index_t round, index_t n_sequences, index_t n_groups, index_t n_items, int are_whole,
    ${groups()})
{
${group()}\
${of_set(at, n_items=["maps", "changes"], n_groups=["of_groups"], n_sequences=["moved"])}\
    if (!moved[round * n_sequences + n])
        return;
${change(k)}\
    for (index_t item = starts[g]; item < starts[g + 1]; item++) {
        for (int i = 0; i < ${k}; i++)
            changes[item * ${k} + i] = change[i];
${advance(k)}\
    }
}

// The states in which spans begin, after a step of Newton's method. Where that finds none, it is the end of the span before.
KERNEL(${layout.threads}) ${at.name}_move(
    GLOBAL double *state, GLOBAL const double *RESTRICT of_groups, GLOBAL const double *RESTRICT maps,
    GLOBAL const double *RESTRICT ends, GLOBAL int *moved, index_t round, index_t n_sequences, index_t n_groups, index_t n_items,
    int are_whole, ${groups()})
{
${group()}\
${of_set(at, n_items=["maps", "ends", "state"], n_groups=["of_groups"], n_sequences=["moved"])}\
    if (!moved[round * n_sequences + n])
        return;
${change(k)}\
    const index_t known = g > 0 && of[g - 1] == n ? -1 : starts[g];  // the first span of a sequence begins with what is known
    int moves = 0;
    for (index_t item = starts[g]; item < starts[g + 1]; item++) {
        if (item != known) {
% for i, s in enumerate(at.state):
            {
                const double before = state[item * ${k} + ${i}], end = ends[(item - 1) * ${k} + ${i}];
                double now = before + change[${i}];
                const int found = isfinite(now) && isfinite(end);
                if (!found)
                    now = end;
% if s in at.real:
                // Up to the root of the rounding error, which a step of Newton's method squares
                const double size = fmax(fabs(now), fabs(ends[item * ${k} + ${i}]));
                moves |= now != before && !(found && fabs(now - before) <= ${"1.5e-8" if dtype == "float64" else "3.5e-4"} * size);
% else:
                moves |= now != before;
% endif
                state[item * ${k} + ${i}] = now;
            }
% endfor
        }
${advance(k)}\
    }
    if (moves)
        moved[(round + 1) * n_sequences + n] = 1;
}

% endif
</%def>
<%def name="spans()">\
GLOBAL const int *RESTRICT of, index_t of_offset,
    GLOBAL const int *RESTRICT firsts, index_t firsts_offset\
</%def>
<%def name="given()">\
% if by_value is None:
, GLOBAL const real *RESTRICT numbers, index_t numbers_offset, index_t numbers_stride\
% else:
% for i in range(by_value):
, real number${i}\
% endfor
% endif
% for parameter in declared:
,
    ${parameter}\
% endfor
% if tapes:
,
    GLOBAL real *tapes, index_t tape_size\
% endif
% if stream:
,
    index_t key, index_t stream, index_t first_draw\
% endif
</%def>
<%def name="of_set(at, **arrays)">\
## Statements that move arrays to the part of set k of the parameters, by how many there are of what they have numbers for.
% for count, names in arrays.items():
% for array in names:
<% k = len(at.state); per = {"maps": k * (k + 1), "moved": rounds + 1, "before": len(at.before)}.get(array, k) %>\
    ${array} += k * ${count} * ${per};
% endfor
% endfor
</%def>
<%def name="begun()">\
    const index_t k = BLOCK_Y, c = BLOCK_X * ${layout.threads} + THREAD;
    of += of_offset;
    firsts += firsts_offset;
% if by_value is None:
    numbers += numbers_offset + k * numbers_stride;
% endif
% for statement in begins_with:
    ${statement}
% endfor
</%def>
<%def name="leaves()">\
% for leaf in shown:
    const ${leaf.c_type} ${leaf.here} = ${leaf.value("n")};
% endfor
% for i, tape in enumerate(tapes):
    GLOBAL real *${tape}_here = tapes + (k * ${len(tapes)} + ${i}) * tape_size + ${starts}[n];
% endfor
% if stream:
    rng_t rng = rng_of(key, stream, first_draw + k * n_sequences + ${stream});
% endif
</%def>
<%def name="drawn(blocks)">\
% if stream:
    rng.block = (word_t)(${blocks});
% endif
</%def>
<%def name="evaluated(code, result, indent)">\
<% before = " " * indent %>\
% if code.set_type:
${before}const ${code.set_type} ${result}_set = ${code.prepare_set("0")};
% endif
% if code.row_type:
${before}const ${code.row_type} ${result}_row = ${code.prepare_row("n")};
% endif
${before}const ${code.function.type} ${result} = ${code.evaluate(f"{result}_row", f"{result}_set", "n", "0")};
</%def>
<%def name="bounds(at)">\
    const index_t span = c - firsts[n], n_own = firsts[n + 1] - firsts[n], steps = dim_here;
    int begin = (int)(steps * span / n_own), end = (int)(steps * (span + 1) / n_own);
% for i, s in enumerate(at.state):
    const real ${s}_now = state[c * ${len(at.state)} + ${i}];
% endfor
</%def>
<%def name="groups()">\
GLOBAL const int *RESTRICT of, index_t of_offset, GLOBAL const int *RESTRICT starts, index_t starts_offset\
</%def>
<%def name="group()">\
    const index_t k = BLOCK_Y, g = BLOCK_X * ${layout.threads} + THREAD;
    if (g >= n_groups)
        return;
    of += of_offset;
    starts += starts_offset;
    const index_t n = of[g];
</%def>
<%def name="change(k)">\
    double change[${k}];
    for (int i = 0; i < ${k}; i++)
        change[i] = are_whole ? 0 : of_groups[g * ${k} + i];
</%def>
<%def name="advance(k)">\
        GLOBAL const double *map = maps + item * ${k * (k + 1)};
        double next[${k}];
        UNROLL for (int i = 0; i < ${k}; i++) {
            next[i] = map[i * ${k + 1} + ${k}];
            UNROLL for (int j = 0; j < ${k}; j++)
                next[i] += map[i * ${k + 1} + j] * change[j];
        }
        UNROLL for (int i = 0; i < ${k}; i++)
            change[i] = next[i];
</%def>
<%def name="compose(kind, rows, inner, columns, guarded)">\
% if rows:
// The map of each group of neighbours, one after another; a thread has one of its columns.
KERNEL(${layout.threads}) ${kind}(
    GLOBAL double *RESTRICT out, GLOBAL const double *RESTRICT maps, index_t n_groups, index_t n_items,
% if guarded:
    GLOBAL const int *RESTRICT moved, index_t round, index_t n_sequences,
% endif
    ${groups()})
{
    const index_t g = (BLOCK_X * ${layout.threads} + THREAD) / ${columns};
    const int column = (int)((BLOCK_X * ${layout.threads} + THREAD) % ${columns});
    if (g >= n_groups)
        return;
    starts += starts_offset;
    out += BLOCK_Y * n_groups * ${rows * columns};
    maps += BLOCK_Y * n_items * ${rows * columns};
% if guarded:
    of += of_offset;
    moved += BLOCK_Y * n_sequences * ${rounds + 1};
    if (!moved[round * n_sequences + of[g]])
        return;
% endif
    double now[${rows}], next[${rows}];
    UNROLL for (int i = 0; i < ${rows}; i++)
        now[i] = i < ${inner} && i == column;
    for (index_t item = starts[g]; item < starts[g + 1]; item++) {
        GLOBAL const double *map = maps + item * ${rows * columns};
        UNROLL for (int i = 0; i < ${rows}; i++) {
            next[i] = (column < ${inner} ? 0 : map[i * ${columns} + column]) + (i < ${inner} ? 0 : now[i]);
            UNROLL for (int j = 0; j < ${inner}; j++)
                next[i] += now[j] == 0 ? 0 : map[i * ${columns} + j] * now[j];  // also where a slope is infinite
        }
        UNROLL for (int i = 0; i < ${rows}; i++)
            now[i] = next[i];
    }
    UNROLL for (int i = 0; i < ${rows}; i++)
        out[(g * ${rows} + i) * ${columns} + column] = now[i];
}

% endif
</%def>
