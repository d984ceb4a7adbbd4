// Too large to be inlined: compiling would take too long.
#define LARGE static ${"__device__ __noinline__" if dialect == "cuda" else "__attribute__((noinline))"}
