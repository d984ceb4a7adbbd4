## The density of a mixture at a row, of which a kernel sees one component after the other; for every shape that mixes.
## `outputs`: what is written beside the sum over the rows, of "rows" (the log-density at each), "labels" (a
## component that is drawn) and "likeliest" (that of the largest term, the first of several).
<%!
def labelled(outputs):
    """Whether a component is written for each row."""
    return "labels" in outputs or "likeliest" in outputs


def of_component(outputs):
    """Arguments of a component beside its term, with their parameters."""
    drawn = [(", &words[r]", ", words_t *words")] if "labels" in outputs else []
    return [(", k", ", index_t component"), *drawn] if labelled(outputs) else []
%>\
<%def name="functions(outputs)">\
// log sum exp of terms that come one by one.
typedef struct {
    real high;  // the largest of them
    real sum;  // of exp(term - high)
% if labelled(outputs):
    index_t label;  // a component of those that came so far
% endif
} mixture_t;

DEVICE mixture_t mixture_of_none()
{
    mixture_t mixture;
    mixture.high = -INFINITY;
    mixture.sum = 0;
% if labelled(outputs):
    mixture.label = -1;
% endif
    return mixture;
}

// Of infinite terms, those of the same sign are equal: their difference is 0 here, not nan.
DEVICE void mixture_add(mixture_t *mixture, real term${"".join(p for _, p in of_component(outputs))})
{
    const real apart = exp(term == mixture->high ? 0 : -fabs(term - mixture->high));
    const int larger = term > mixture->high;
    mixture->sum = larger ? mixture->sum * apart + 1 : mixture->sum + apart;
% if "likeliest" in outputs:
    mixture->label = larger ? component : mixture->label;
% endif
    mixture->high = larger ? term : mixture->high;
% if "labels" in outputs:
    // It takes the place of those before it with the probability that is its share of the sum so far.
    const real uniform = MIN(((real)words->a + REAL(0.5)) * REAL(2.3283064365386963e-10), 1 - REAL(0.5) * EPSILON);
    if (uniform * mixture->sum < (larger ? 1 : apart))
        mixture->label = component;
    words->a = words->b;
    words->b = words->c;
    words->c = words->d;
% endif
}

DEVICE real mixture_value(mixture_t mixture)
{
    return mixture.high + log(mixture.sum);
}
</%def>
<%def name="parameters(outputs)">\
GLOBAL double *RESTRICT out, index_t out_offset, GLOBAL double *partial, GLOBAL int *counters,
    index_t n_rows, index_t n_sums, index_t n_sets,  // there is one sum
% if "rows" in outputs:
    GLOBAL real *RESTRICT rows, index_t rows_offset,
% endif
% if labelled(outputs):
    GLOBAL int *RESTRICT labels, index_t labels_offset,
% endif
% if "labels" in outputs:
    index_t key, index_t stream, index_t first_draw,
% endif
</%def>
## The mixtures of the rows that a thread has in flight, before the first component.
<%def name="start(layout, outputs)">\
mixture_t mixture[${layout.unroll}];
% if "labels" in outputs:
        words_t words[${layout.unroll}];  // four random words for four components
% endif
        UNROLL for (int r = 0; r < ${layout.unroll}; r++)
            mixture[r] = mixture_of_none();
</%def>
<%def name="draw_words(layout, outputs)">\
% if "labels" in outputs:
            if (k % 4 == 0)
                UNROLL for (int r = 0; r < ${layout.unroll}; r++)
                    words[r] = words_of(key, stream, first_draw + first + r * ${layout.threads} + THREAD, (word_t)(k / 4));
% endif
</%def>
<%def name="add(value, outputs)">\
mixture_add(&mixture[r], ${value}${"".join(v for v, _ in of_component(outputs))});
</%def>
<%def name="finish(layout, outputs)">\
UNROLL for (int r = 0; r < ${layout.unroll}; r++) {
            const index_t n = first + r * ${layout.threads} + THREAD;
            if (n < n_rows) {
                const real value = mixture_value(mixture[r]);
                total[0] += value;
% if "rows" in outputs:
                rows[rows_offset + n] = value;
% endif
% if labelled(outputs):
                labels[labels_offset + n] = value > -INFINITY ? (int)mixture[r].label : -1;
% endif
            }
        }
</%def>
