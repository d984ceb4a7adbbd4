## Sums over few long sequences: the spans into which they are cut are gone through side by side.
<%namespace name="parts" file="/rows/parts.mako"/>
<%!
from gpustats.rows.parts import slope_of
%>\
<%
last, finish, whole = codes[:3]
state, k = at.state, len(at.state)
real = at.real if wrt else ()  # states in whose directions the sums are differentiated
r = inner = len(real)
columns, rows = r + 1 + len(slopes), r + len(sums)
place_of = {by: f"out[{1 + summed.index(by)}]" for by in summed}
place_of |= {by: f"own[{i}]" for i, by in enumerate([by for by in wrt if by not in summed])}
%>\
${parts.states(at)}\
// Each span once more: the sums${", and the derivatives of these and of its end" if slopes else ""}. The maps are as before, and the sums' rows stand last.
KERNEL(${layout.threads}) ${name}_last(
    GLOBAL double *RESTRICT maps, GLOBAL double *RESTRICT ends, GLOBAL const double *RESTRICT state, index_t n_spans,
    index_t n_sequences, ${parts.spans()}${parts.given()})
{
${parts.begun()}\
${parts.of_set(at, n_spans=["ends", "state"])}\
    maps += k * n_spans * ${rows * columns};
    if (c >= n_spans)
        return;
    const index_t n = of[c];
${parts.leaves()}\
${parts.bounds(at)}\
${parts.evaluated(last, "result", 4)}\
% for i, s in enumerate(state):
    ends[c * ${k} + ${i}] = result.${s};
% endfor
    GLOBAL double *map = maps + c * ${rows * columns};
% for i, s in enumerate([*real, *sums]):
% for j, by in enumerate(real):
    map[${i * columns + j}] = ${f"result.{slope_of(by, s)}"};
% endfor
    map[${i * columns + r}] = ${f"c + 1 < firsts[n + 1] ? result.{s} - state[(c + 1) * {k} + {state.index(s)}] : 0" if s in state else f"result.{s}"};
% for j, by in enumerate(slopes):
    map[${i * columns + r + 1 + j}] = result.${slope_of(by, s)};
% endfor
% endfor
}

${parts.compose(name + "_fold", rows, inner, columns, guarded=False)}
// The value of each sequence${" and its derivatives" if wrt else ""}, from the map of all its spans. Derivatives in what a sequence has of its own go to `own`.
KERNEL(${layout.threads}) ${name}_finish(
    GLOBAL double *RESTRICT out, GLOBAL double *RESTRICT own, index_t own_at, GLOBAL const double *RESTRICT maps,
    GLOBAL const double *RESTRICT ends, GLOBAL const int *RESTRICT moved, index_t n_spans, index_t n_sequences,
    ${parts.spans()}${parts.given()})
{
${parts.begun()}\
${parts.of_set(at, n_spans=["ends"], n_sequences=["moved"])}\
    maps += k * n_sequences * ${rows * columns};
    if (c >= n_sequences)
        return;
    const index_t n = c;
${parts.leaves()}\
    out += (n * BLOCKS_Y + k) * ${3 + len(summed)};
    own += own_at + (k * n_sequences + n) * ${len(wrt) - len(summed)};
% if state:
    int round = 0;  // how many it took
    while (round <= ${rounds} && moved[round * n_sequences + n])
        round++;
    out[${1 + len(summed)}] = MIN(round, ${rounds});
    out[${2 + len(summed)}] = round > ${rounds};
    if (round > ${rounds}) {  // the states were not found: step by step, then
${parts.evaluated(whole, "result", 8)}\
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
    const real ${s}_now = ends[(firsts[n + 1] - 1) * ${k} + ${i}]${f" + map[{real.index(s) * columns + r}]" if s in real else ""};
% endfor
% for i, s in enumerate(sums):
    const real ${s}_now = map[${(r + i) * columns + r}];
% endfor
% if begins:
${parts.evaluated(at.start, "first", 4)}\
% endif
${parts.evaluated(finish, "result", 4)}\
    out[0] = result.${slope_of("")};
% if wrt:
    double slope;
% endif
% for by in wrt:
    slope = result.${slope_of(by)};
% for i, s in enumerate([*real, *sums]):
<%
terms = [f"map[{i * columns + j}] * first.{slope_of(by, of)}" for j, of in enumerate(real) if (of, by) in begins]
terms += [f"map[{i * columns + r + 1 + slopes.index(by)}]"] if by in slopes else []
%>\
% if s in read and terms:
    slope += result.${slope_of(s)} * (${" + ".join(terms)});
% endif
% endfor
    ${place_of[by]} = slope;
% endfor
}
