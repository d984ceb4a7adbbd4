## What both dialects share.
#define REAL(literal) ${"literal" if dtype == "float64" else "literal##f"}
#define EPSILON REAL(${"2.220446049250313e-16" if dtype == "float64" else "1.1920929e-07"})
% for name, value in constants.items():
#define ${name} REAL(${value})
% endfor
#define stop_gradient(x) (x)
#ifndef quotient
#define quotient(a, b) ((a) / (b))
#endif
#ifndef LOOP  // what a compiler has to be told in other words
#define LOOP(start, condition, step) for (start; condition; step)
#define CHOICE(condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define EITHER CHOICE
#define EITHER_INT CHOICE
#define VARYING(value) (value)
#define VARYING_INT VARYING
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
