## Rounding of candidates' numbers: alike in both kernels of the search for designs, so that they find the same designs.
<%def name="types(wide, whose)">\
% if wide:
// Of ${whose} of the Cholesky factor the first numbers, which are the large ones, are in double precision. The others are rounded to
// floats, which are half the bytes, and so are coordinates; all is computed in double precision.
typedef float row_t;
% else:
typedef real row_t;
% endif
#define WIDE ${wide}
// A variance below this is rounding: what it stands for is determined by the design already.
#define FLOOR 1e-13
</%def>\
<%def name="origin(wide, nearest)">\
% if wide:
        // Floats have digits for what lies together, wherever that is: coordinates count from the nearest point on. Covariances with
        // the location are those of the rounded points, too, as if these were the data.
        GLOBAL const real *const origin = X + X_offset + (${nearest} < 0 ? 0 : ${nearest}) * (index_t)DIM;
% else:
        GLOBAL const real *const origin = location;  // no digits are lost far from 0
% endif
</%def>\
## Coordinate e of row `row` of X, as it is kept, and its part of the squared distance r2 of the location.
<%def name="coordinate(wide, row, length)">\
                const real unit = sqrt(${length});
                const row_t kept = ${row} < 0 ? NAN : (X[X_offset + ${row} * (index_t)DIM + e] - origin[e]) / unit;
                const real u = kept${" - (location[e] - origin[e]) / unit" if wide else ""};
                r2 = fma(u, u, r2);
</%def>\
