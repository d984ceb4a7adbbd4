## The dialect of the kernels, in CUDA C++.
typedef ${"double" if dtype == "float64" else "float"} real;
typedef long long index_t;
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define SHARED
#define RESTRICT __restrict__
#define SHARED_ARRAY(type, name, count) __shared__ type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) extern __shared__ __align__(16) type name[]
#define BARRIER() __syncthreads()
#define BARRIER_GLOBAL() __syncthreads()
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4 _Pragma("unroll 4")
#define STORE_STREAMING(to, value) __stcs(to, value)  // not to be read again soon
#define THREAD ((int)threadIdx.x)
#define BLOCK_X ((index_t)blockIdx.x)
#define BLOCK_Y ((index_t)blockIdx.y)
#define BLOCKS_Y ((index_t)gridDim.y)
#define BLOCKS_X ((index_t)gridDim.x)
#undef INFINITY
#undef NAN
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
% if dtype == "float64":

// log(w + c), c being what rounding has taken from w. CUDA's own log and log1p branch, which keeps the compiler from working
// on several numbers at once. log(2^k (1 + f)) = k log(2) + f - (h - s (h + R)), s = f / (2 + f), h = f^2 / 2; the polynomial R
// interpolates 2 atanh(s) / s - 2 in Chebyshev points, with an error below 1e-17. Error of the whole below 1 ulp.
static __device__ __forceinline__ double log_of_sum(double w, double c)
{
    const bool tiny = __double2hiint(w) < 0x00100000;  // subnormal, or not positive
    const double scaled = tiny ? w * 18014398509481984.0 : w;
    const int high = __double2hiint(scaled), k = (high - 0x3fe6a09e) >> 20;
    const double m = __hiloint2double(high - (k << 20), __double2loint(scaled));  // between sqrt(1/2) and sqrt(2)
    const double f = fma(c, __hiloint2double((0x3ff - k) << 20, 0), m - 1), g = f + 2;
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(g));
    const double e = fma(-g, r, 1.0);
    const double s = f * fma(r, fma(e, e, e), r), z = s * s, h = 0.5 * f * f;
    const double R = z * (0.66666666666666696969 + z * (0.39999999999899197894 + z * (0.28571428626114518292 + z * (
                          0.22222211112104947364 + z * (0.18182890778026130313 + z * (0.15331666676597174341 + z * (
                          0.14617128399807299883)))))));
    const double n = k - (tiny ? 54 : 0);
    const double value = fma(n, 0.69314718036912381649, f - (h - fma(s, h + R, n * 1.9082149292705877e-10)));
    const long long bits = __double_as_longlong(w);
    const double special = (unsigned long long)bits << 1 == 0 ? -INFINITY : bits == 0x7ff0000000000000LL ? w : NAN;
    return (unsigned long long)(bits - 1) < 0x7fefffffffffffffULL ? value : special;  // is w positive and finite?
}

static __device__ __forceinline__ double branchless_log(double x)
{
    return log_of_sum(x, 0);
}

static __device__ __forceinline__ double branchless_log1p(double x)
{
    const double w = 1 + x;
    return log_of_sum(w, x - (w - 1));
}
#define log branchless_log
#define log1p branchless_log1p
% endif
