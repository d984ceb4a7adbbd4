<% blocks = -(-dim // lanes) %>\
// Draws of an elliptical distribution: mean + s L z, where L L' is the covariance matrix, z has standard normal elements, and s,
// one number for each draw, is what the sampler gives.
//
% if in_registers:
// A thread has a draw, its z in registers; what a block draws goes through shared memory, so that neighbouring threads write
// neighbouring elements.
% else:
// A block keeps the z of a tile of draws in shared memory; neighbouring threads write neighbouring elements.
% endif
#define DIM ${dim}
#define PADDED ${padded}
KERNEL(${layout.threads}) ${name}(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_draws, index_t n_rows, index_t n_sets,
    index_t key, index_t stream, index_t first_draw,
    GLOBAL const real *RESTRICT factors, index_t factors_offset, GLOBAL const real *RESTRICT means, index_t means_offset${", " if code.parameters else ""}${code.parameters})
{
% if code.operands:
    const index_t first_set = 0;
    ${code.apply_offsets()}
% endif
    out += out_offset;
    factors += factors_offset;
    means += means_offset;
    DYNAMIC_SHARED_ARRAY(real, shared, ${shared});
% if in_registers:
    SHARED real *const factor = shared, *const center = factor + DIM * ${pitch}, *const drawn = center + ${pitch};
    for (int e = (int)THREAD; e < DIM * ${pitch}; e += ${layout.threads})
        factor[e] = e % ${pitch} < DIM ? factors[e / ${pitch} * DIM + e % ${pitch}] : 0;
    for (int e = (int)THREAD; e < DIM; e += ${layout.threads})
        center[e] = means[e];

    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_draws; first += BLOCKS_Y * ${layout.tile}) {
        const int rows_here = (int)MIN(n_draws - first, (index_t)${layout.tile});
        const index_t draw = first_draw + first + THREAD;
        real z[${blocks * lanes}];
        UNROLL for (int block = 0; block < ${blocks}; block++) {
            const words_t words = words_of(key, stream, draw, ELEMENT_BLOCKS | (word_t)block);
${normals("z + block * %d" % lanes)}\
        }
        rng_t rng = rng_of(key, stream, draw);
% if code.set_type:
        const ${code.set_type} set = ${code.prepare_set("0")};
% endif
        const real scale = ${code.evaluate("row", "set", "0", "0")};
        BARRIER();  // the last tile has been written, and the factor is there
        UNROLL for (int i = 0; i < DIM; i++) {
            real sum = 0;
            UNROLL for (int j = 0; j <= i; j++)
                sum += factor[i * ${pitch} + j] * z[j];
            drawn[THREAD * PADDED + i] = center[i] + scale * sum;
        }
        BARRIER();
        for (int e = (int)THREAD; e < rows_here * DIM; e += ${layout.threads})
            out[first * DIM + e] = drawn[e / DIM * PADDED + e % DIM];
    }
% else:
    SHARED real *const normals = shared, *const scales = shared + ${layout.tile} * PADDED;
% if staged:
    SHARED real *const shared_factor = scales + ${layout.tile};  // there is but one
    for (int e = (int)THREAD; e < DIM * DIM; e += ${layout.threads})
        shared_factor[e / DIM * PADDED + e % DIM] = factors[e];
% endif

    for (index_t first = BLOCK_Y * ${layout.tile}; first < n_draws; first += BLOCKS_Y * ${layout.tile}) {
        const int rows_here = (int)MIN(n_draws - first, (index_t)${layout.tile});
        BARRIER();  // the last tile has been used
        for (int r = (int)THREAD; r < rows_here; r += ${layout.threads}) {
            rng_t rng = rng_of(key, stream, first_draw + first + r);
% if code.set_type:
            const ${code.set_type} set = ${code.prepare_set(set_of.format("(first + r)"))};
% endif
            scales[r] = ${code.evaluate("row", "set", "0", set_of.format("(first + r)"))};
        }
        for (int e = (int)THREAD; e < rows_here * ${blocks}; e += ${layout.threads}) {
            const int r = e / ${blocks}, block = e % ${blocks};
            const words_t words = words_of(key, stream, first_draw + first + r, ELEMENT_BLOCKS | (word_t)block);
            SHARED real *const mine = normals + r * PADDED + block * ${lanes};
            real z[${lanes}];
${normals("z")}\
            UNROLL for (int j = 0; j < ${lanes}; j++)
                if (block * ${lanes} + j < DIM)
                    mine[j] = z[j];
        }
        BARRIER();
        for (int e = (int)THREAD; e < rows_here * DIM; e += ${layout.threads}) {
            const int r = e / DIM, i = e % DIM;
            const index_t k = ${set_of.format("(first + r)")};
% if staged:
            SHARED const real *const factor = shared_factor + i * PADDED;
% else:
            GLOBAL const real *const factor = factors + (k * DIM + i) * DIM;
% endif
            real sum = 0;
            for (int j = 0; j <= i; j++)
                sum += factor[j] * normals[r * PADDED + j];
            out[first * DIM + e] = means[k * DIM + i] + scales[r] * sum;
        }
    }
% endif
}
<%def name="normals(to)">\
% if lanes == 2:
            normals_of(uniform_of(words.a, words.b), uniform_of(words.c, words.d), ${to}, ${to} + 1);
% else:
            normals_of(uniform_of(words.a), uniform_of(words.b), ${to}, ${to} + 1);
            normals_of(uniform_of(words.c), uniform_of(words.d), ${to} + 2, ${to} + 3);
% endif
</%def>
