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
#define MIN(a, b) ((a) < (b) ? (a) : (b))
