## Common parts of both kernels of the glm shape.
<%def name="parameters(code)">\

    GLOBAL double *RESTRICT partial, index_t n_rows, index_t n_sets,
    GLOBAL const real *RESTRICT X, index_t X_start, GLOBAL const real *RESTRICT beta, index_t beta_start\
% if glm.alpha.value == "value":
,
    real alpha\
% elif glm.alpha.value != "absent":
,
    GLOBAL const real *RESTRICT alpha, index_t alpha_start, index_t alpha_stride\
% endif
% if glm.alpha.value == "group":
,
    GLOBAL const int *RESTRICT groups, index_t groups_start\
% endif
% if glm.offset:
,
    GLOBAL const real *RESTRICT offset, index_t offset_start\
% endif
% for name in glm.rows:
,
    GLOBAL real *RESTRICT ${name}_out, index_t ${name}_out_start\
% endfor
${"," if code.parameters else ""}
    ${code.parameters}\
</%def>
<%def name="start(code)">\
const index_t first_set = BLOCK_X * ${layout.sets};
    const int sets_here = (int)MIN(n_sets - first_set, (index_t)${layout.sets});
    X += X_start;
    beta += beta_start + first_set * ${glm.outcomes * glm.columns};
% if glm.alpha.value not in ("absent", "value"):
    alpha += alpha_start + first_set * alpha_stride;
% endif
% if glm.alpha.value == "group":
    groups += groups_start;
% endif
% if glm.offset:
    offset += offset_start;
% endif
% for name in glm.rows:
    ${name}_out += ${name}_out_start + first_set * n_rows * ${glm.outcomes if name in ("slope", "eta") else 1};
% endfor
    ${code.apply_offsets()}
</%def>
<%def name="prepare_sets(codes)">\
% for i, code in enumerate(codes):
% if code.set_type:
    SHARED_ARRAY(${code.set_type}, sets${i}, ${layout.sets});
    for (index_t k = THREAD; k < ${layout.sets}; k += ${layout.threads})
        sets${i}[k] = ${code.prepare_set("first_set + MIN(k, sets_here - 1)")};
    BARRIER();
% endif
% endfor
</%def>
<%!
    def shared_rows(code, glm):
        """Whether the sets share all that the rows have of their own: then it is prepared once for each row."""
        return code.row_type and not glm.vector and not glm.own_rows and not any(o.rank for o in code.row_operands)
%>\
## Numbers of a row beside X, read before anything waits, and terms that depend on these alone.
<%def name="load_row(code, row)">\
const index_t own = ${row};
% for operand in code.row_operands:
% if not operand.rank and operand.name not in glm.own_rows:
        const real ${operand.name}_here = ${operand.name}_per_row[own];
% endif
% endfor
% if glm.alpha.value == "group":
        const index_t group = groups[own];
% endif
% if glm.offset:
        const real offset_here = offset[own];
% endif
% if shared_rows(code, glm):
        const ${code.row_type} row = ${code.prepare_row("own")};
% endif
</%def>
## The row's terms and derivatives, from eta[0 .. outcomes - 1] as X gives it; `intercepts`: where those of the sets are at hand.
<%def name="evaluate(codes, total, slope, intercepts=None)">\
<%
    terms, component = codes[0], codes[-1]
    outcomes, n_terms = glm.outcomes, len(glm.sums)
    place = {"row": f"own * {outcomes} + ", "group": f"group * {outcomes} + "}.get(glm.alpha.value, "")
    added = [] if glm.alpha.value == "absent" else ["alpha" if glm.alpha.value == "value" else f"alpha[s * alpha_stride + {place}c]"]
    if glm.alpha.value == "set" and intercepts:
        added = [f"{intercepts}[s]"]
    added += ["offset_here"] * glm.offset
    of = lambda name: f"result.{name}" if terms.function.results else "result"
%>\
                for (int c = 0; c < ${outcomes}; c++) {
% if added:
                    eta[c] += ${" + ".join(added)};
% endif
% if "eta" in glm.rows:
                    if (inside)
                        eta_out[(s * n_rows + n) * ${outcomes} + c] = eta[c];
% endif
                }
% if terms.row_type and not shared_rows(terms, glm):
                const ${terms.row_type} row = ${terms.prepare_row("own")};
% endif
                const ${terms.function.type} result = ${terms.evaluate("row", "sets0[s]", "own", "first_set + s")};
% for i, name in enumerate(glm.sums):
                (${total})[${i}] += inside ? ${of(name)} : 0;
% endfor
% for name in glm.rows:
% if name not in ("eta", "slope"):
                if (inside)
                    ${name}_out[s * n_rows + n] = ${of(name)};
% endif
% endfor
% if glm.slopes:
% if glm.vector and component.row_type:
                const ${component.row_type} component_row = ${component.prepare_row("own")};
% endif
                for (int c = 0; c < ${outcomes}; c++) {
                    const real derivative = ${component.evaluate("component_row", "sets1[s]", "own", "first_set + s") if glm.vector else of(glm.slope)};
                    ${slope} = inside ? derivative : 0;
% if glm.slope_sums:
                    (${total})[${n_terms} + c] += inside ? derivative : 0;
% endif
% if "slope" in glm.rows:
                    if (inside)
                        slope_out[(s * n_rows + n) * ${outcomes} + c] = derivative;
% endif
                }
% endif
</%def>
