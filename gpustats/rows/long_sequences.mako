## Sums over few long sequences: the spans into which they are cut are gone through side by side.
<%!
from gpustats.rewriting.differentiate import VALUE, derivative_name

def slope_of(by, result=VALUE):
    """Name of the derivative of a result of a function, or of the result where `by` is empty."""
    return derivative_name(by, result) if by else result
%>\
<%
threads, k = layout.threads, len(state)
last, finish, whole, *others = codes
start, turn = others if others else (None, None)
r = len(real) if wrt else 0  # states in whose directions the sums are differentiated
inner, columns = r, r + 1 + len(slopes)
rows = r + len(sums)
at = {s: i for i, s in enumerate(state)}
place_of = {by: f"out[{1 + summed.index(by)}]" for by in summed}
place_of |= {by: f"own[{i}]" for i, by in enumerate([by for by in wrt if by not in summed])}
%>\
#define TOLERANCE ${"1.5e-8" if dtype == "float64" else "3.5e-4"}  // root of the rounding error: a step of Newton's method squares it
% if state:
// The states with which spans begin are first guessed to be those with which their sequences do.
KERNEL(${threads}) ${name}_begin(
    GLOBAL double *RESTRICT state, GLOBAL int *moved, index_t n_spans, index_t n_sequences, ${spans()}${given()})
{
${begun()}\
${of_set(n_spans=["state"], n_sequences=["moved"])}\
    for (index_t i = c; i < ${rounds + 1} * n_sequences; i += BLOCKS_X * ${threads})
        moved[i] = i < n_sequences;  // in the round before the first one, all have
    if (c >= n_spans)
        return;
    const index_t n = of[c];
${leaves()}\
${evaluated(start, "first", 4)}\
% for i, s in enumerate(state):
    state[c * ${k} + ${i}] = first.${s};
% endfor
}

// Each span from the state that it is thought to begin with: its end, and how that moves with the beginning. A map takes a
// change of the state in which a span begins to that of the next one: a matrix, and what the next state lacks. A whole number that
// a span leaves as it is would be left so, too, if it were another one.
KERNEL(${threads}) ${name}_turn(
    GLOBAL double *RESTRICT maps, GLOBAL double *RESTRICT ends, GLOBAL const double *RESTRICT state,
    GLOBAL int *moved, index_t round, index_t n_spans, index_t n_sequences, ${spans()}${given()})
{
${begun()}\
${of_set(n_spans=["maps", "ends", "state"], n_sequences=["moved"])}\
    if (c >= n_spans)
        return;
    const index_t n = of[c];
    if (!moved[round * n_sequences + n])
        return;
${leaves()}\
${bounds()}\
${evaluated(turn, "result", 4)}\
% for i, s in enumerate(state):
    ends[c * ${k} + ${i}] = result.${s};
% endfor
    GLOBAL double *map = maps + c * ${k * (k + 1)};
    int usable = 1;
    double slope;
% for i, s in enumerate(state):
% for j, by in enumerate(state):
% if s in real and by in real:
    slope = result.${slope_of(by, s)};
    usable &= isfinite(slope) != 0;
    map[${i * (k + 1) + j}] = isfinite(slope) ? slope : 0;
% else:
    map[${i * (k + 1) + j}] = ${f"result.{s} == {s}_now" if i == j else 0};
% endif
% endfor
    slope = c + 1 < firsts[n + 1] ? result.${s} - state[(c + 1) * ${k} + ${i}] : 0;
    map[${i * (k + 1) + k}] = isfinite(slope) ? slope : 0;
% endfor
    if (!usable && c > firsts[n])
        moved[(round + 1) * n_sequences + n] = 1;  // a step with other slopes is none of Newton's
}

${compose("compose", k, k, k + 1, guarded=True)}
// The changes of the states in which the members of each group begin, from that of the group.
KERNEL(${threads}) ${name}_descend(
    GLOBAL double *RESTRICT changes, GLOBAL const double *RESTRICT of_groups, GLOBAL const double *RESTRICT maps,
    GLOBAL const int *RESTRICT moved, index_t round, index_t n_sequences, index_t n_groups, index_t n_items, int are_whole,
    ${groups()})
{
${group()}\
${of_set(n_items=["maps", "changes"], n_groups=["of_groups"], n_sequences=["moved"])}\
    if (!moved[round * n_sequences + n])
        return;
${change()}\
    for (index_t item = starts[g]; item < starts[g + 1]; item++) {
        for (int i = 0; i < ${k}; i++)
            changes[item * ${k} + i] = change[i];
${advance()}\
    }
}

// The states in which spans begin, after a step of Newton's method. Where that finds none, it is the end of the span before.
KERNEL(${threads}) ${name}_move(
    GLOBAL double *state, GLOBAL const double *RESTRICT of_groups, GLOBAL const double *RESTRICT maps,
    GLOBAL const double *RESTRICT ends, GLOBAL int *moved, index_t round, index_t n_sequences, index_t n_groups, index_t n_items,
    int are_whole, ${groups()})
{
${group()}\
${of_set(n_items=["maps", "ends", "state"], n_groups=["of_groups"], n_sequences=["moved"])}\
    if (!moved[round * n_sequences + n])
        return;
${change()}\
    const index_t known = g > 0 && of[g - 1] == n ? -1 : starts[g];  // the first span of a sequence begins with what is known
    int moves = 0;
    for (index_t item = starts[g]; item < starts[g + 1]; item++) {
        if (item != known) {
% for i, s in enumerate(state):
            {
                const double before = state[item * ${k} + ${i}], end = ends[(item - 1) * ${k} + ${i}];
                double now = before + change[${i}];
                const int found = isfinite(now) && isfinite(end);
                if (!found)
                    now = end;
% if s in real:
                const double size = fmax(fabs(now), fabs(ends[item * ${k} + ${i}]));
                moves |= now != before && !(found && fabs(now - before) <= TOLERANCE * size);
% else:
                moves |= now != before;
% endif
                state[item * ${k} + ${i}] = now;
            }
% endfor
        }
${advance()}\
    }
    if (moves)
        moved[(round + 1) * n_sequences + n] = 1;
}

% endif
// Each span once more: the sums${", and the derivatives of these and of its end" if slopes else ""}. The maps are as before, and the sums' rows stand last.
KERNEL(${threads}) ${name}_last(
    GLOBAL double *RESTRICT maps, GLOBAL double *RESTRICT ends, GLOBAL const double *RESTRICT state, index_t n_spans,
    index_t n_sequences, ${spans()}${given()})
{
${begun()}\
${of_set(n_spans=["ends", "state"])}\
    maps += k * n_spans * ${rows * columns};
    if (c >= n_spans)
        return;
    const index_t n = of[c];
${leaves()}\
${bounds()}\
${evaluated(last, "result", 4)}\
% for i, s in enumerate(state):
    ends[c * ${k} + ${i}] = result.${s};
% endfor
    GLOBAL double *map = maps + c * ${rows * columns};
% for i, s in enumerate([*real[:r], *sums]):
% for j, by in enumerate(real[:r]):
    map[${i * columns + j}] = ${f"result.{slope_of(by, s)}"};
% endfor
    map[${i * columns + r}] = ${f"c + 1 < firsts[n + 1] ? result.{s} - state[(c + 1) * {k} + {at[s]}] : 0" if s in at else f"result.{s}"};
% for j, by in enumerate(slopes):
    map[${i * columns + r + 1 + j}] = result.${slope_of(by, s)};
% endfor
% endfor
}

${compose("fold", rows, inner, columns, guarded=False)}
// The value of each sequence${" and its derivatives" if wrt else ""}, from the map of all its spans. Derivatives in what a sequence has of its own go to `own`.
KERNEL(${threads}) ${name}_finish(
    GLOBAL double *RESTRICT out, GLOBAL double *RESTRICT own, index_t own_at, GLOBAL const double *RESTRICT maps,
    GLOBAL const double *RESTRICT ends, GLOBAL const int *RESTRICT moved, index_t n_spans, index_t n_sequences,
    ${spans()}${given()})
{
${begun()}\
${of_set(n_spans=["ends"], n_sequences=["moved"])}\
    maps += k * n_sequences * ${rows * columns};
    if (c >= n_sequences)
        return;
    const index_t n = c;
${leaves()}\
    out += (n * BLOCKS_Y + k) * ${3 + len(summed)};
    own += own_at + (k * n_sequences + n) * ${len(wrt) - len(summed)};
% if state:
    int round = 0;  // how many it took
    while (round <= ${rounds} && moved[round * n_sequences + n])
        round++;
    out[${1 + len(summed)}] = MIN(round, ${rounds});
    out[${2 + len(summed)}] = round > ${rounds};
    if (round > ${rounds}) {  // the states were not found: step by step, then
${evaluated(whole, "result", 8)}\
        out[0] = result.${slope_of("")};
% for by in wrt:
        ${place_of[by]} = result.${slope_of(by)};
% endfor
        return;
    }
% else:
    out[${1 + len(summed)}] = out[${2 + len(summed)}] = 0;
% endif
    GLOBAL const double *map = maps + n * ${rows * columns};
% for i, s in enumerate(state):
    const real ${s}_now = ends[(firsts[n + 1] - 1) * ${k} + ${i}]${f" + map[{real.index(s) * columns + r}]" if s in real[:r] else ""};
% endfor
% for i, s in enumerate(sums):
    const real ${s}_now = map[${(r + i) * columns + r}];
% endfor
% if begins:
${evaluated(start, "first", 4)}\
% endif
${evaluated(finish, "result", 4)}\
    out[0] = result.${slope_of("")};
% if wrt:
    double slope;
% endif
% for by in wrt:
    slope = result.${slope_of(by)};
% for i, s in enumerate([*real[:r], *sums]):
<%
terms = [f"map[{i * columns + j}] * first.{slope_of(by, of)}" for j, of in enumerate(real[:r]) if (of, by) in begins]
terms += [f"map[{i * columns + r + 1 + slopes.index(by)}]"] if by in slopes else []
%>\
% if s in read and terms:
    slope += result.${slope_of(s)} * (${" + ".join(terms)});
% endif
% endfor
    ${place_of[by]} = slope;
% endfor
}
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
</%def>
<%def name="of_set(**arrays)">\
## Statements that move arrays to the part of set k of the parameters, by how many there are of what they have numbers for.
% for count, names in arrays.items():
% for array in names:
<% per = {"maps": k * (k + 1), "moved": rounds + 1}.get(array, k) %>\
    ${array} += k * ${count} * ${per};
% endfor
% endfor
</%def>
<%def name="begun()">\
    const index_t k = BLOCK_Y, c = BLOCK_X * ${threads} + THREAD;
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
<%def name="bounds()">\
    const index_t span = c - firsts[n], n_own = firsts[n + 1] - firsts[n], rest = dim_here - ${first + left_out},
        steps = rest > 0 ? rest : 0;
    const int begin = (int)(${first} + steps * span / n_own), end = (int)(${first} + steps * (span + 1) / n_own);
% for i, s in enumerate(state):
    const real ${s}_now = state[c * ${k} + ${i}];
% endfor
</%def>
<%def name="groups()">\
GLOBAL const int *RESTRICT of, index_t of_offset, GLOBAL const int *RESTRICT starts, index_t starts_offset\
</%def>
<%def name="group()">\
    const index_t k = BLOCK_Y, g = BLOCK_X * ${threads} + THREAD;
    if (g >= n_groups)
        return;
    of += of_offset;
    starts += starts_offset;
    const index_t n = of[g];
</%def>
<%def name="change()">\
    double change[${k}];
    for (int i = 0; i < ${k}; i++)
        change[i] = are_whole ? 0 : of_groups[g * ${k} + i];
</%def>
<%def name="advance()">\
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
KERNEL(${threads}) ${name}_${kind}(
    GLOBAL double *RESTRICT out, GLOBAL const double *RESTRICT maps, index_t n_groups, index_t n_items,
% if guarded:
    GLOBAL const int *RESTRICT moved, index_t round, index_t n_sequences,
% endif
    ${groups()})
{
    const index_t g = (BLOCK_X * ${threads} + THREAD) / ${columns};
    const int column = (int)((BLOCK_X * ${threads} + THREAD) % ${columns});
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
