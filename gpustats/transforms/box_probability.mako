<%namespace name="confined" file="/transforms/confined.mako"/>\
// Probabilities of boxes of multivariate normal and t distributions: for each box and each shift of the lattice, sums of the weights of
// ${each} points. One element after another is drawn from a normal distribution, shifted and confined to what the elements before it leave
// of the box; the logarithm of a weight is how much likelier the point is than it is drawn, and at most the largest that its box has.
//
// Points of the cube are moved so that the ends of each side meet: in few dimensions smoothly, each point standing for as much of the cube
// as it has moved apart from others, else by folding.
//
// A thread has a sum, and the standardised elements of a point stay with it; its neighbours have further points of the same box.
#define DIM ${dim}
#define NUMBERS (DIM * DIM + 3 * DIM + 1)
${confined.function(codes)}
KERNEL(${layout.threads}) ${name}(
    GLOBAL real *RESTRICT out, index_t out_offset, index_t n_sums, index_t n_points,
    GLOBAL const real *RESTRICT lattice, index_t lattice_offset, GLOBAL const real *RESTRICT numbers, index_t numbers_offset\
% if radial:
, GLOBAL const real *RESTRICT radii, index_t radii_offset\
% endif
)
{
    GLOBAL const real *const steps = lattice + lattice_offset;
    const index_t chunks = (n_points + ${each - 1}) / ${each};
    out += out_offset;
    for (index_t i = BLOCK_Y * ${layout.threads} + THREAD; i < n_sums; i += BLOCKS_Y * ${layout.threads}) {
        const index_t begin = i % chunks * ${each}, end = begin + ${each} < n_points ? begin + ${each} : n_points;
        const index_t turn = i / chunks % ${shifts}, box = i / chunks / ${shifts};
        GLOBAL const real *const shift = steps + (turn + 1) * DIM;
        GLOBAL const real *const factor = numbers + numbers_offset + box * NUMBERS, *const low = factor + DIM * DIM;
        GLOBAL const real *const high = low + DIM, *const tilt = high + DIM;
        real sum = 0;
        for (index_t p = begin; p < end; p++) {
            const real point = (real)p;
% if radial:
            GLOBAL const real *const radius_and_density = radii + radii_offset + 2 * (turn * n_points + p);
            const real radius = radius_and_density[0];
% endif
            real z[DIM], weight = 0, density = ${'radius_and_density[1]' if radial else '1'};
            for (int k = 0; k < DIM; k++) {
                real before = 0;
                for (int j = 0; j < k; j++)
                    before += factor[k * DIM + j] * z[j];
% if radial:
                const real a = low[k] * radius - before, b = high[k] * radius - before;
% else:
                const real a = low[k] - before - tilt[k], b = high[k] - before - tilt[k];
% endif
                if (k + 1 == DIM) {  // nothing depends on the last element, which is not shifted
                    const real low = a, high = b;
                    weight += ${codes[1].evaluate("", "", "", "")};
                    break;
                }
                const real turned = point * steps[k] + shift[k], fraction = turned - floor(turned);
% if smooth:
                const real angle = (2 * PI) * fraction;
                const real part = fraction - sin(angle) / (2 * PI);
                density *= 1 - cos(angle);
% else:
                const real part = fabs(2 * fraction - 1);
% endif
                const real u = fmin(fmax(part, EPSILON), 1 - EPSILON);
                real log_mass;
% if radial:
                z[k] = confined(u, a, b, &log_mass);
                weight += log_mass;
% else:
                z[k] = tilt[k] + confined(u, a, b, &log_mass);
                weight += log_mass + tilt[k] * (REAL(0.5) * tilt[k] - z[k]);
% endif
            }
            sum += density * exp(fmin(weight - tilt[DIM], (real)1));  // rounding alone makes it positive
        }
        out[i] = sum;
    }
}
