## The rows shape: sums over rows n of f(arguments of row n), and of f's derivatives, where an argument is a column of data, a
## number, an element of a table, a dot product, or a number of the row's own.
<%namespace name="reduce" file="/kernels/reduce.mako"/>
<%
    threads, lanes = layout.threads, layout.lanes
    teams, step = threads // lanes, lanes * layout.unroll
    together = min(max(code.n_sums, 1), 16)
    at_segment = [leaf for leaf in sheet.leaves if leaf.by_segment]
    dots = [leaf for leaf in sheet.leaves if leaf.columns]
    matrices = {leaf.matrix: leaf.columns for leaf in dots}
    barrier = "__syncwarp();" if dialect == "cuda" and lanes <= 32 else "BARRIER();"  # of the threads that share a segment
    places = [(i, column, width) for i, width in enumerate(columns) for column in range(width)]  # of the results in `tables`
    chunks = [range(first, min(first + 8, len(tables))) for first in range(0, len(tables), 8)]  # in shared memory together
    in_row = [leaf for leaf in sheet.leaves if not leaf.by_segment and not leaf.columns]

    def of_row(leaf):
        """C code for a leaf in row n. What threads side by side have side by side, or in common, is written so: compilers for
        CPUs then see vectors, and loops that end together."""
        if leaf.is_pointer and sheet.side_by_side:
            return f"{leaf.value('next')} + lane"
        return leaf.value("next" if leaf.name == "dim" and sheet.even else "n")
%>\
${reduce.functions(layout, dialect, code.n_sums, together) if code.n_sums else ""}
// A block takes ${"segments of rows that have the same group" if grouped else "rows one after another, in segments"}; ${f"{lanes} threads share one" if lanes > 1 else "each thread has its own"}. Of f's results
// ${", ".join([*code.sums, *(f"{result} times the columns of {leaf.name}" for leaf, result, _ in slopes)]) or "none"} are summed over all rows: out[set, result];
% if tables:
// ${", ".join(result + factor for result, factor in tables)} over the rows of each segment: segment_sums[set, segment, result];
% endif
% if code.rows:
// ${", ".join(code.rows)} written for each row.
% endif
% if sheet.tapes or sheet.checkpoints:
// Loops go back through the sequences, whose variables are stored ${"at some turns, the checkpoints" if sheet.checkpoints else "at each turn"}.
% endif
// The order of all sums is fixed, so their bits are the same each time.
KERNEL(${threads}${f', {least}' if least > 1 else ''}) ${name}(
    GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sets,
% if grouped:
    GLOBAL const int *RESTRICT starts, index_t starts_offset,
% for i in range(len(columns)):
    GLOBAL double *RESTRICT segment_sums${i}, index_t segment_sums${i}_offset,
% endfor
% endif
    index_t n_segments\
% if by_value is None:
, GLOBAL const real *RESTRICT numbers, index_t numbers_offset, index_t numbers_stride\
% else:
% for i in range(by_value):
, real number${i}\
% endfor
% endif
% for parameter in sheet.declared:
,
    ${parameter}\
% endfor
% if sheet.tapes:
,
    GLOBAL real *tapes, index_t tape_size\
% endif
% if sheet.stream:
,
    index_t key, index_t stream, index_t first_draw\
% endif
% if sheet.checkpoints:
,
    GLOBAL real *checkpoints, index_t checkpoint_size, GLOBAL const int *RESTRICT checkpoint_starts, index_t checkpoint_starts_offset\
% endif
% for result in code.rows:
,
    GLOBAL real *RESTRICT ${result}_rows, index_t ${result}_first\
% endfor
)
{
    const index_t k = BLOCK_X, first_set = k;
    const int sets_here = 1;
% if by_value is None:
    numbers += numbers_offset + k * numbers_stride;
% endif
% if grouped:
    starts += starts_offset;
% endif
% for statement in sheet.begun:
    ${statement}
% endfor
% if code.set_type:
    // Whatever depends on numbers alone: once per block.
    SHARED_ARRAY(${code.set_type}, sets, 1);
    if (THREAD == 0)
        sets[0] = ${code.prepare_set("0")};
    BARRIER();
    const ${code.set_type} set = sets[0];
% endif
% if code.n_sums:
    SHARED_ARRAY(double, sums, ${together * threads});
    double total[${code.n_sums}];
    UNROLL for (int s = 0; s < ${code.n_sums}; s++)
        total[s] = 0;
% endif
% if tables and lanes > 1:
    SHARED_ARRAY(double, of_team, ${threads * len(chunks[0])});
% endif
    for (index_t first = BLOCK_Y * ${teams}; first < n_segments; first += BLOCKS_Y * ${teams}) {
% if teams > 1:
        const index_t segment = first + ${f"THREAD / {lanes}, lane = THREAD % {lanes}" if lanes > 1 else "THREAD, lane = 0"};
% else:
        const index_t segment = first, lane = THREAD;
% endif
% if grouped and teams > 1:
        const index_t begin = segment < n_segments ? starts[segment] : 0, end = segment < n_segments ? starts[segment + 1] : 0;
% elif grouped:
        const index_t begin = starts[segment], end = starts[segment + 1];
% else:
        const index_t begin = MIN(segment * ${layout.segment}, n_rows), end = MIN(begin + ${layout.segment}, n_rows);
% endif
% if tables:
        double group[${len(tables)}];
        UNROLL for (int s = 0; s < ${len(tables)}; s++)
            group[s] = 0;
% endif
% for leaf in at_segment:
        const real ${leaf.here} = ${leaf.value("begin")};
% endfor
        index_t next = begin;
        for (; next + ${step} <= end; next += ${step}) {${"  // all loads first, and no thread idle" if step > 1 else ""}
% if layout.unroll > 1:
% for leaf in in_row:
            ${leaf.c_type} ${leaf.name}_ahead[${layout.unroll}];
% endfor
            UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
                const index_t n = next + u * ${lanes} + lane;
% for leaf in in_row:
                ${leaf.name}_ahead[u] = ${leaf.value("n")};
% endfor
            }
% for _, result, _ in slopes if layout.later else ():
            real ${result}_slopes[${layout.unroll}];
% endfor
            UNROLL for (int u = 0; u < ${layout.unroll}; u++) {
                const index_t n = next + u * ${lanes} + lane;
% for leaf in in_row:
                const ${leaf.c_type} ${leaf.here} = ${leaf.name}_ahead[u];
% endfor
${add(layout.later)}\
            }
% for leaf, result, place in slopes if layout.later else ():
            UNROLL for (int c = 0; c < ${leaf.columns}; c++) {  // X is in the cache still
                GLOBAL const real *column = ${leaf.matrix} + c * n_rows + next + lane;
                total[${place} + c] += ${" + ".join(f"{result}_slopes[{u}] * column[{u * lanes}]" for u in range(layout.unroll))};
            }
% endfor
% else:
                const index_t n = next + lane;
${read_and_add()}\
% endif
        }
% if step > 1:
        for (; next < end; next += ${lanes}) {
            const index_t n = next + lane;
            if (n < end) {
${read_and_add()}\
            }
        }
% endif
% if tables and lanes > 1:
% for some in chunks:
        UNROLL for (int s = 0; s < ${len(some)}; s++)
            of_team[s * ${threads} + THREAD] = group[${f"{some[0]} + " if some[0] else ""}s];
        for (int span = ${lanes // 2}; span > 0; span /= 2) {
            ${barrier}
            if (lane < span)
                UNROLL for (int s = 0; s < ${len(some)}; s++)
                    of_team[s * ${threads} + THREAD] += of_team[s * ${threads} + THREAD + span];
        }
        if (lane == 0${" && segment < n_segments" if teams > 1 else ""}) {
% for s in some:
${store(s, f"of_team[{(s - some[0]) * threads} + THREAD]")}\
% endfor
        }
        ${barrier}
% endfor
% elif tables:
        if (segment < n_segments) {
% for s in range(len(tables)):
${store(s, f"group[{s}]")}\
% endfor
        }
% endif
    }
% if code.n_sums:
    ${reduce.finish(layout, dialect, code.n_sums, together, "total")}
% endif
}
<%def name="store(s, value)">\
<% i, column, width = places[s] %>\
            segment_sums${i}[segment_sums${i}_offset + (k * n_segments + segment) * ${width} + ${column}] = ${value};
</%def>
<%def name="read_and_add()">\
% for leaf in in_row:
                const ${leaf.c_type} ${leaf.here} = ${of_row(leaf)};
% endfor
${add()}\
</%def>
<%def name="add(later=False)">\
% for matrix, columns in matrices.items():
                real ${matrix}_here[${columns}];
                UNROLL for (int c = 0; c < ${columns}; c++)
                    ${matrix}_here[c] = ${matrix}[c * n_rows + n];
% endfor
% for leaf in dots:
                real ${leaf.here} = 0;
                UNROLL for (int c = 0; c < ${leaf.columns}; c++)
                    ${leaf.here} += ${leaf.matrix}_here[c] * ${leaf.value("c")};
% endfor
% for i, tape in enumerate(sheet.tapes):
                GLOBAL real *${tape}_here = tapes + (k * ${len(sheet.tapes)} + ${i}) * tape_size + ${f"{sheet.starts}[next] + lane" if sheet.side_by_side else f"{sheet.starts}[n]"};
% if sheet.filled:
                for (int t = 0; t < dim_here; t++)
                    ${tape}_here[${sheet.filled} * (index_t)t] = NAN;
% endif
% endfor
% for i, tape in enumerate(sheet.checkpoints):
                GLOBAL real *${tape}_here = checkpoints + (k * ${len(sheet.checkpoints)} + ${i}) * checkpoint_size + checkpoint_starts[checkpoint_starts_offset + n];
% endfor
% if sheet.stream:
                rng_t rng = rng_of(key, stream, first_draw + k * n_rows + ${sheet.stream});
% endif
% if code.row_type:
                const ${code.row_type} row = ${code.prepare_row("n")};
% endif
                const ${code.function.type} result = ${code.evaluate("row", "set", "n", "0")};
% for i, s in enumerate(code.sums):
                total[${i}] += result.${s};
% endfor
% for leaf, result, place in slopes:
% if later:
                ${result}_slopes[u] = result.${result};
% else:
                UNROLL for (int c = 0; c < ${leaf.columns}; c++)
                    total[${place} + c] += result.${result} * ${leaf.matrix}_here[c];
% endif
% endfor
% for i, (s, factor) in enumerate(tables):
                group[${i}] += result.${s}${factor};
% endfor
% for s in code.rows:
                ${s}_rows[${s}_first + k * n_rows + ${sheet.own_row}] = result.${s};
% endfor
</%def>
