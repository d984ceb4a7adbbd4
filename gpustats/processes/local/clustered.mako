## The local_design shape on devices whose blocks form clusters, in CUDA only: a cluster has a location, each of its blocks a part of
## the candidates, a thread one of them from the first choice to the last. All that is known of a candidate lies in registers and,
## as far as it is read one number after another, in shared memory: nothing is read twice from global memory.
<%namespace name="candidates" file="/processes/local/candidates.mako"/>\
<%
    threads, parts, wide, chunk, chunks = layout.threads, layout.parts, layout.wide, layout.chunk, layout.chunks
    warps = threads // 32
    length = "d[d_offset + m * DIM + e]" if separable else "d[d_offset + m]"
%>\
${correlation}
<%include file="/kernels/clusters.mako"/>\
#define DIM ${dim}
#define PARTS ${parts}
${candidates.types(wide, "a candidate's row")}\
typedef struct __align__(16) { row_t of[${chunk}]; } chunk_t;  // the others are read so many at a time
typedef struct __align__(16) { real of[2]; } pair_t;
#define CHUNK ${chunk}
// Chunk i of a thread's candidate. Eight threads read theirs at a time, and find them in different banks.
#define CHUNK_OF(thread, i) rows[(thread) * ${chunks} + ${"(i)" if chunks % 2 else "((i) ^ (thread) / 4 % 2)"}]

// What a block tells all others of the best of its candidates: by how much it reduces the variance at the location, its row of X,
// one over the root of its variance, its covariance with the location times that; its coordinates, and its row of the factor.
#define COORDINATES 4
#define FACTOR ${layout.before}
#define TOLD ${layout.told}
#define NOBODY 0xFFFFFFFFu

// The best of a warp's lanes: of the largest value, which is not negative, so that its bits are in the order of such numbers, and of
// these of the lowest row of X. NOBODY where no lane has one.
DEVICE unsigned best_of_warp(real *value, unsigned row)
{
    const unsigned high = (unsigned)__double2hiint(*value), low = (unsigned)__double2loint(*value);
    const unsigned best_high = __reduce_max_sync(~0u, row == NOBODY ? 0 : high);
    const unsigned best_low = __reduce_max_sync(~0u, row == NOBODY || high < best_high ? 0 : low);
    *value = __hiloint2double(best_high, best_low);
    return __reduce_min_sync(~0u, high == best_high && low == best_low ? row : NOBODY);
}

KERNEL(${threads}) CLUSTER_OF(PARTS) local_design(
    GLOBAL int *RESTRICT out, index_t out_offset, GLOBAL const real *RESTRICT X, index_t X_offset,
    GLOBAL const real *RESTRICT locations, index_t locations_offset, GLOBAL const int *RESTRICT all_candidates,
    index_t candidates_offset, GLOBAL const real *RESTRICT d, index_t d_offset, GLOBAL const real *RESTRICT g, index_t g_offset,
    int n_candidates, int start, int end)
{
    DYNAMIC_SHARED_ARRAY(real, shared, ${layout.shared});  // what is told, twice: while one is read, the next is written; then rows
    SHARED_ARRAY(real, best_values, ${warps});
    SHARED_ARRAY(unsigned, best_rows, ${warps});
    SHARED chunk_t *const rows = (SHARED chunk_t *)(shared + 2 * PARTS * TOLD);
    const index_t m = BLOCK_X / PARTS;
    const int part = (int)(BLOCK_X % PARTS), lane = THREAD % 32, warp = THREAD / 32;
    GLOBAL const int *const candidates = all_candidates + candidates_offset + m * n_candidates;
    GLOBAL const real *const location = locations + locations_offset + m * DIM;
    GLOBAL int *const design = out + out_offset + m * end;
    const int candidate = part * ${threads} + THREAD, found = candidate < n_candidates ? candidates[candidate] : -1;
${candidates.origin(wide, "candidates[0]")}\
% if wide:
    real wide[WIDE];
% endif
    row_t coordinates[DIM];
    real r2 = 0;
    UNROLL for (int e = 0; e < DIM; e++) {
${candidates.coordinate(wide, "found", length)}\
        coordinates[e] = kept;
    }
    real variance = 1 + g[g_offset + m], covariance = r2 == r2 ? correlation(r2) : NAN;
    unsigned row = found < 0 ? NOBODY : (unsigned)found;
    BARRIER_CLUSTER();  // all blocks are there to be told
    int j = 0;
    for (; j < end; j++) {
        // The best of the warp, then of the block.
        const real scale = variance <= FLOOR ? 0 : rsqrt(variance), scaled = covariance * scale;
        const real value = j < start ? 0 : scaled * scaled;
        const unsigned eligible = scaled == scaled && (j >= start || candidate == j) ? row : NOBODY;
        real best = value;
        const unsigned row_of_warp = best_of_warp(&best, eligible);
        if (lane == 0) {
            best_values[warp] = best;
            best_rows[warp] = row_of_warp;
        }
        BARRIER();
        best = best_values[MIN(lane, ${warps - 1})];
        const unsigned row_of_block = best_of_warp(&best, best_rows[MIN(lane, ${warps - 1})]);
        SHARED real *const told = shared + j % 2 * PARTS * TOLD, *const tell = told + part * TOLD;
        if (row_of_block == NOBODY) {
            if (THREAD < PARTS)
                in_block(tell, THREAD)[1] = -1;
        } else if (row_of_warp == row_of_block) {
            const int teller = __ffs(__ballot_sync(~0u, eligible == row_of_block)) - 1;
            if (lane == teller) {
                tell[0] = value;
                tell[1] = row;
                tell[2] = scale;
                tell[3] = scaled;
                UNROLL for (int e = 0; e < DIM; e++)
                    tell[COORDINATES + e] = coordinates[e];
% if wide:
                UNROLL for (int i = 0; i < WIDE; i++)
                    tell[FACTOR + i] = i < j ? wide[i] : 0;
% endif
            }
            __syncwarp();
            const int n_chunks = j > WIDE ? (j - WIDE + CHUNK - 1) / CHUNK : 0;  // with zeros behind the last number
            for (int i = lane; i < FACTOR + WIDE + n_chunks * CHUNK; i += 32) {
                const int beyond = i - FACTOR - WIDE;
                const real number = beyond < 0 ? tell[i] : CHUNK_OF(THREAD - lane + teller, beyond / CHUNK).of[beyond % CHUNK];
                UNROLL for (int r = 0; r < PARTS; r++)
                    in_block(tell, r)[i] = number;
            }
        }
        BARRIER_CLUSTER();
        // The best of all.
        const int of = MIN(lane, PARTS - 1), told_row = (int)told[of * TOLD + 1];
        best = told[of * TOLD];
        const unsigned chosen = best_of_warp(&best, told_row < 0 ? NOBODY : (unsigned)told_row);
        if (chosen == NOBODY)
            break;
        if (part == 0 && THREAD == 0)
            design[j] = (int)chosen;
        if (j + 1 == end)
            continue;
        if (row == chosen)
            row = NOBODY;  // what is chosen leaves
        // It goes into the conditional covariances of all that are left.
        SHARED const real *const its = told + (__ffs(__ballot_sync(~0u, told_row == (int)chosen)) - 1) * TOLD;
        real acc = 0;
        UNROLL for (int e = 0; e < DIM; e++) {
            const real from = coordinates[e] - its[COORDINATES + e];
            acc = fma(from, from, acc);
        }
        acc = correlation(acc);
% if wide:
        UNROLL for (int i = 0; i < WIDE; i++)
            if (i < j)
                acc = fma(-its[FACTOR + i], wide[i], acc);
% endif
        UNROLL_BY_4 for (int i = 0; i < j - WIDE; i += CHUNK) {
            const chunk_t of = CHUNK_OF(THREAD, i / CHUNK);
            UNROLL for (int q = 0; q < CHUNK; q += 2) {
                const pair_t l = *(SHARED const pair_t *)(its + FACTOR + WIDE + i + q);
                acc = fma(-l.of[0], (real)of.of[q], acc);
                acc = fma(-l.of[1], (real)of.of[q + 1], acc);
            }
        }
        const real w = acc * its[2];
        variance = fma(-w, w, variance);
        covariance = fma(-w, its[3], covariance);
% if wide:
        UNROLL for (int i = 0; i < WIDE; i++)
            if (i == j)
                wide[i] = w;
        if (j < WIDE)
            continue;
% endif
        SHARED chunk_t *const last = &CHUNK_OF(THREAD, (j - WIDE) / CHUNK);
        if ((j - WIDE) % CHUNK == 0) {
            chunk_t beginning;
            UNROLL for (int q = 0; q < CHUNK; q++)
                beginning.of[q] = q == 0 ? w : 0;
            *last = beginning;
        } else
            last->of[(j - WIDE) % CHUNK] = w;
    }
    if (j < end && part == 0)  // nan, or nothing left to choose from
        for (int i = THREAD; i < end; i += ${threads})
            design[i] = -1;
}
