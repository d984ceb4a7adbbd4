## The glm shape for many sets of coefficients, where a device multiplies small matrices of float64 at once.
<%namespace name="parts" file="/glm/glm_parts.mako"/>
<%namespace name="products" file="/kernels/products.mako"/>
<%! from gpustats.kernels.layout import power_of_two %>\
<%
    threads, tile, sets, columns, load = layout.threads, layout.tile, layout.sets, glm.columns, layout.load
    together = 1 if glm.rows else min(layout.unroll, layout.turns)  # what is written for each row is written once
    wide_load = ("double" if dtype == "float64" else "float") + (str(load) if load > 1 else "")
    across = min(power_of_two(-(-columns // load)), threads)  # threads that copy a row
    copied = threads // across  # rows that are copied at once
%>\
<%def name="each_copy()">\
UNROLL for (int r = 0; r < ${tile}; r += ${copied}) UNROLL for (int c = 0; c < COLUMNS; c += ${across * load}) if (${
    " && ".join(["column + c < COLUMNS"] * bool(columns % (across * load)) + [f"row + r < {tile}"] * (copied > tile)) or "true"}) {\
</%def>\
#define COLUMNS ${columns}
${products.functions(layout, dtype, dialect)}
// Starts to copy the rows of a tile; zeros stand for those behind the last one.
DEVICE void start_tile(SHARED real *tile, GLOBAL const real *X, index_t first, index_t n_rows)
{
    const int row = (int)THREAD / ${across}, column = (int)THREAD % ${across} * ${load};
    X += (first + row) * COLUMNS + column;
    tile += row * PADDED + column;
    if (first + ${tile} <= n_rows) {
        ${each_copy()}
            COPY_TO_SHARED(${wide_load}, tile + r * PADDED + c, X + r * COLUMNS + c);
        }
    } else {
        ${each_copy()}
            if (first + row + r < n_rows)
                COPY_TO_SHARED(${wide_load}, tile + r * PADDED + c, X + r * COLUMNS + c);
            else
                UNROLL for (int i = 0; i < ${load}; i++)
                    tile[r * PADDED + c + i] = 0;
        }
    }
}

KERNEL(${threads}${f", {layout.resident // threads}" if dialect == "cuda" else ""}) ${name}(${parts.parameters(codes[0])})
{
    ${parts.start(codes[0])}
    <%products:body layout="${layout}" matrices="X" slots="${glm.slots}" places="${[glm.n_sums]}" together="${together}">
<%def name="coefficient(i)">beta[s * COLUMNS + c]</%def>
<%def name="prepare()">\
% if glm.alpha.value == "set":
SHARED_ARRAY(real, intercepts, ${sets});
    for (int s = (int)THREAD; s < sets_here; s += ${threads})
        intercepts[s] = alpha[s * alpha_stride];
% endif
    ${parts.prepare_sets(codes)}\
</%def>
<%def name="load_row()">${parts.load_row(codes[0], "inside ? n : 0")}</%def>
<%def name="evaluate()">\
real eta[1] = {(real)dot};
${parts.evaluate(codes, "total + turn * %d" % glm.n_sums, "dots[place * DOWN + row_here]", "intercepts")}\
</%def>
<%def name="after_tile()"></%def>
    </%products:body>
}
