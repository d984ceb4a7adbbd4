## Outputs by step of few long sequences: the spans into which they are cut are gone through side by side, in one loop of the
## function after another.
<%namespace name="parts" file="/rows/parts.mako"/>
// What no step writes is nan.
KERNEL(${layout.threads}) ${name}_fill(GLOBAL real *RESTRICT tapes, index_t size)
{
    const index_t i = BLOCK_X * ${layout.threads} + THREAD;
    if (i < size)
        tapes[BLOCK_Y * size + i] = NAN;
}

% for number, at in enumerate(stages):
<% k = len(at.state) %>\
${parts.states(at)}\
// Each span once more, to write what belongs to its steps. Where the states were not found, the first span's thread goes through all.
KERNEL(${layout.threads}) ${at.name}_write(
    GLOBAL double *RESTRICT ends, GLOBAL const double *RESTRICT state, GLOBAL const int *RESTRICT moved,
    GLOBAL double *RESTRICT counts, index_t n_spans, index_t n_sequences, ${parts.spans()}${parts.given()})
{
${parts.begun()}\
${parts.of_set(at, n_spans=["ends", "state"], n_sequences=["moved"])}\
    if (c >= n_spans)
        return;
    const index_t n = of[c];
% if k:
    const int lost = moved[${rounds} * n_sequences + n];
    if (lost && c > firsts[n])
        return;
% endif
${parts.leaves()}\
${parts.bounds(at)}\
% if k:
    if (lost)
        end = dim_here;
    if (c == firsts[n]) {
        int round = 0;  // how many it took
        while (round < ${rounds} && moved[round * n_sequences + n])
            round++;
        counts[(n * BLOCKS_Y + k) * ${2 * len(stages)} + ${2 * number}] = round;
        counts[(n * BLOCKS_Y + k) * ${2 * len(stages)} + ${2 * number + 1}] = lost;
    }
% else:
    if (c == firsts[n])
        counts[(n * BLOCKS_Y + k) * ${2 * len(stages)} + ${2 * number}] = counts[(n * BLOCKS_Y + k) * ${2 * len(stages)} + ${2 * number + 1}] = 0;
% endif
${parts.drawn(at.drawn_before_turn)}\
${parts.evaluated(codes[first_writer + number], "result", 4)}\
% for i, s in enumerate(at.state):
    ends[(lost ? firsts[n + 1] - 1 : c) * ${k} + ${i}] = result.${s};
% endfor
}

% endfor
