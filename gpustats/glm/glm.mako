## The glm shape: sums over rows n of f(y_n, eta_n, parameters) with eta_n = x_n beta + alpha + offset_n, and their derivatives,
## from one reading of X. A GPU keeps a tile of rows in shared memory between eta and the gradient; see glm_lanes for CPUs.
<%namespace name="parts" file="/glm/glm_parts.mako"/>
<%
    threads, tile, lanes, sets = layout.threads, layout.tile, layout.lanes, layout.sets
    columns, outcomes = glm.columns, glm.outcomes
    width, each = sets * outcomes, max(lanes * tile // threads, 1)
    wide, load = layout.vector, layout.load
    chunks = -(-columns // wide)  # what a thread takes of a row at a time
    row_parts = max(threads // chunks, 1)  # threads that share the rows of a chunk in the gradient
    own = -(-chunks // threads)
    here = threads // tile  # sets whose rows are evaluated at once
    turns = -(-sets // here)
    vector = lambda n: ("double" if dtype == "float64" else "float") + (str(n) if n > 1 else "")
    parts_of = lambda n: [""] if n == 1 else ["." + c for c in "xyzw"[:n]]
    staged = layout.stages > 0
    by_fours = lambda n: n + -n % 4  # what is read by fours begins at a multiple of four
    rows_end = by_fours(layout.stages * tile * columns)
    pair = next(n for n in ((4, 2, 1) if dtype == "float32" else (2, 1)) if width % n == 0)  # slopes that are read at once
%>\
#define COLUMNS ${columns}
% if staged:
<%include file="/kernels/copies.mako" args="dialect=dialect"/>\

// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *X, index_t first, index_t n_rows)
{
    X += first * COLUMNS;
    if (first + ${tile} <= n_rows)
        for (int e = (int)THREAD * ${load}; e < ${tile * columns}; e += ${threads * load})
            COPY_TO_SHARED(${vector(load)}, tile + e, X + e);
    else
        for (int e = (int)THREAD; e < ${tile * columns}; e += ${threads})
            tile[e] = e < (n_rows - first) * COLUMNS ? X[e] : 0;
}
% endif

KERNEL(${threads}) ${name}(${parts.parameters(codes[0])})
{
    ${parts.start(codes[0])}
    DYNAMIC_SHARED_ARRAY(real, shared, ${shared});
    // ${"The coefficients of all sets; w" if layout.near else "W"}hat the threads of a row add up to; the derivatives in eta.
% if layout.near:
    SHARED real *const coefficients = shared + ${rows_end};
    SHARED real *const dots = coefficients + ${by_fours(width * columns)};
    for (int e = (int)THREAD; e < ${width} * COLUMNS; e += ${threads})
        coefficients[e] = e < sets_here * ${outcomes} * COLUMNS ? beta[e] : 0;
% else:
    SHARED real *const dots = shared + ${rows_end};
% endif
    SHARED real *const slopes = dots + ${by_fours(tile * width * lanes)};
    ${parts.prepare_sets(codes)}
    double total[${max(turns * glm.n_sums, 1)}];
    UNROLL for (int s = 0; s < ${turns * glm.n_sums}; s++)
        total[s] = 0;
% if glm.gradient:
    double gradient[${own * wide * width}];
    UNROLL for (int s = 0; s < ${own * wide * width}; s++)
        gradient[s] = 0;
% endif
    const int lane = (int)THREAD % ${lanes}, top = (int)THREAD / ${lanes};
    const int row_here = (int)THREAD % ${tile}, chunk = (int)THREAD % ${chunks}, row_part = (int)THREAD / ${chunks};
% if staged:
    int stage = 0;
% for s in range(layout.stages - 1):
    if ((BLOCK_Y + ${s} * BLOCKS_Y) * ${tile} < n_rows)
        start_tile(shared + ${s * tile * columns}, X, (BLOCK_Y + ${s} * BLOCKS_Y) * ${tile}, n_rows);
    COPIES_STARTED();
% endfor
% endif
    BARRIER();
    for (index_t first = BLOCK_Y * ${tile}; first < n_rows; first += BLOCKS_Y * ${tile}) {
        const index_t n = first + row_here;
        const int inside = n < n_rows;
        ${parts.load_row(codes[0], "inside ? n : 0")}
% if staged:
        {
            const int next = stage == 0 ? ${layout.stages - 1} : stage - 1;
            const index_t ahead = first + ${layout.stages - 1} * BLOCKS_Y * ${tile};
            if (ahead < n_rows)
                start_tile(shared + next * ${tile * columns}, X, ahead, n_rows);
            COPIES_STARTED();
        }
        WAIT_FOR_COPIES(${layout.stages - 1});
        BARRIER();
        SHARED const real *const rows = shared + stage * ${tile * columns};
        stage = stage == ${layout.stages - 1} ? 0 : stage + 1;
% else:
        GLOBAL const real *const rows = X + first * COLUMNS;
% endif
<% space = "SHARED" if staged else "GLOBAL" %>\

        {   // eta: ${lanes} threads share a row
            real sum[${each * width}];
            UNROLL for (int s = 0; s < ${each * width}; s++)
                sum[s] = 0;
            ${"UNROLL " if chunks // lanes <= 16 else ""}for (int c = lane * ${wide}; c < COLUMNS; c += ${lanes * wide}) {
                ${vector(wide)} b[${width}];
                UNROLL for (int m = 0; m < ${width}; m++) {
% if layout.near:
                    b[m] = *(SHARED const ${vector(wide)} *)(coefficients + m * COLUMNS + c);
% else:
% for i, p in enumerate(parts_of(wide)):
                    b[m]${p} = beta[MIN(m, sets_here * ${outcomes} - 1) * COLUMNS + c + ${i}];
% endfor
% endif
                }
                UNROLL for (int u = 0; u < ${each}; u++) {
% if staged:
                    const ${vector(wide)} v = *(SHARED const ${vector(wide)} *)(rows + (top + u * ${threads // lanes}) * COLUMNS + c);
% else:
                    const index_t r = MIN(top + u * ${threads // lanes}, n_rows - 1 - first);
                    const ${vector(wide)} v = *(GLOBAL const ${vector(wide)} *)(rows + r * COLUMNS + c);
% endif
                    UNROLL for (int m = 0; m < ${width}; m++) {
% for p in parts_of(wide):
                        sum[u * ${width} + m] += v${p} * b[m]${p};
% endfor
                    }
                }
            }
            UNROLL for (int u = 0; u < ${each}; u++)
                UNROLL for (int m = 0; m < ${width}; m++)
                    dots[((top + u * ${threads // lanes}) * ${width} + m) * ${lanes} + lane] = sum[u * ${width} + m];
        }
        BARRIER();
% if lanes > 16:
        for (int span = ${lanes // 2}; span >= 8; span /= 2) {
            for (int e = (int)THREAD; e < ${tile * width} * span; e += ${threads})
                dots[e / span * ${lanes} + e % span] += dots[e / span * ${lanes} + e % span + span];
            BARRIER();
        }
% endif
        UNROLL for (int turn = 0; turn < ${turns}; turn++) {
            const int s = (int)THREAD / ${tile} + turn * ${here};
            if (s < sets_here) {
                real eta[${outcomes}];
                UNROLL for (int c = 0; c < ${outcomes}; c++) {
                    eta[c] = 0;
                    UNROLL for (int l = 0; l < ${min(lanes, 8) if lanes > 16 else lanes}; l++)
                        eta[c] += dots[((row_here * ${width}) + s * ${outcomes} + c) * ${lanes} + l];
                }
${parts.evaluate(codes, "total + turn * %d" % glm.n_sums, "slopes[row_here * %d + s * %d + c]" % (width, outcomes))}\
            }
        }
        BARRIER();
% if glm.gradient:
        if (row_part < ${row_parts}) {  // the gradient: a thread has ${own * wide} columns of every ${row_parts}th row
            UNROLL for (int j = 0; j < ${own}; j++) {
                const int c = (chunk + j * ${threads}) * ${wide};
% if chunks % threads and own > 1:
                if (c < COLUMNS)
% endif
                {
% if dtype == "float32":
                    real sum[${wide * width}];
                    UNROLL for (int s = 0; s < ${wide * width}; s++)
                        sum[s] = 0;
% else:
                    double *const sum = gradient + j * ${wide * width};
% endif
% if staged:
                    UNROLL_BY_4 for (int r = row_part; r < ${tile}; r += ${row_parts}) {
                        const ${vector(wide)} v = *(SHARED const ${vector(wide)} *)(rows + r * COLUMNS + c);
% else:
                    const int rows_here = (int)MIN(n_rows - first, (index_t)${tile});
                    for (int r = row_part; r < rows_here; r += ${row_parts}) {
                        const ${vector(wide)} v = *(GLOBAL const ${vector(wide)} *)(rows + r * COLUMNS + c);
% endif
                        UNROLL for (int m = 0; m < ${width}; m += ${pair}) {
                            const ${vector(pair)} slope = *(SHARED const ${vector(pair)} *)(slopes + r * ${width} + m);
% for j, q in enumerate(parts_of(pair)):
% for i, p in enumerate(parts_of(wide)):
                            sum[(m + ${j}) * ${wide} + ${i}] += v${p} * slope${q};
% endfor
% endfor
                        }
                    }
% if dtype == "float32":
                    UNROLL for (int s = 0; s < ${wide * width}; s++)
                        gradient[j * ${wide * width} + s] += sum[s];
% endif
                }
            }
        }
        BARRIER();
% endif
    }

    // What the threads of the block have, in their order; another kernel adds the blocks' sums.
    SHARED double *const sums = (SHARED double *)shared;
    partial += BLOCK_Y * n_sets * ${glm.slots} + first_set * ${glm.slots};
% if glm.n_sums:
    UNROLL for (int turn = 0; turn < ${turns}; turn++)
        UNROLL for (int q = 0; q < ${glm.n_sums}; q++) {
            BARRIER();
            sums[THREAD] = total[turn * ${glm.n_sums} + q];
            for (int span = ${tile // 2}; span > 0; span /= 2) {
                BARRIER();
                if (row_here < span)
                    sums[THREAD] += sums[THREAD + span];
            }
            const int s = (int)THREAD / ${tile} + turn * ${here};
            if (row_here == 0 && s < sets_here)
                partial[s * ${glm.slots} + q] = sums[THREAD];
        }
% endif
% if glm.gradient:
    UNROLL for (int j = 0; j < ${own}; j++)
        UNROLL for (int m = 0; m < ${width}; m++)
            UNROLL for (int i = 0; i < ${wide}; i++) {
                BARRIER();
                sums[THREAD] = gradient[j * ${wide * width} + m * ${wide} + i];
                BARRIER();
                const int c = (chunk + j * ${threads}) * ${wide} + i;
                if (row_part == 0 && c < COLUMNS && m < sets_here * ${outcomes}) {
                    double sum = 0;
                    for (int p = 0; p < ${row_parts}; p++)
                        sum += sums[p * ${chunks} + chunk];
                    partial[m / ${outcomes} * ${glm.slots} + ${glm.n_sums} + m % ${outcomes} * COLUMNS + c] = sum;
                }
            }
% endif
}
