## The dialect of the kernels, in OpenCL C 1.2.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef ${"double" if dtype == "float64" else "float"} real;
typedef long index_t;
#ifndef __has_attribute
#define __has_attribute(name) 0
#endif
#if __has_attribute(intel_vec_len_hint)  // keeps Intel's compiler from wide vectors, whose blocks it would run one thread at a time
#define VECTORS_OF(n) , intel_vec_len_hint(n)
#else
#define VECTORS_OF(n)
#endif
#if __has_attribute(intel_vec_len_hint) && defined(__OPTIMIZE__)  // otherwise it computes wrong numbers: see language/printer.py
#define LOOP(start, condition, step) for (start; sub_group_non_uniform_any(condition); step) if (condition)
// Of a branch that may differ within a vector it computes both sides, even where no thread of it takes one. So this one asks.
#define CHOICE(condition, then, otherwise) \
    ({ const int _chosen = condition; real _value = 0; \
       if (sub_group_non_uniform_any(!_chosen)) _value = otherwise; \
       if (sub_group_non_uniform_any(_chosen)) { const real _then = then; _value = _chosen ? _then : _value; } _value; })
#define EITHER(condition, then, otherwise) select((real)(otherwise), (real)(then), (${"long" if dtype == "float64" else "int"})-((condition) != 0))
#define EITHER_INT(condition, then, otherwise) select((int)(otherwise), (int)(then), -((condition) != 0))
#define VARYING(value) ({ const real _same = value; select(_same, _same, (${"long" if dtype == "float64" else "int"})get_local_id(0)); })
#define VARYING_INT(value) ({ const int _same = value; select(_same, _same, (int)get_local_id(0)); })
#endif
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1) VECTORS_OF(MIN(threads, ${8 if dtype == 'float64' else 16})))) void
#define DEVICE static inline __attribute__((always_inline))  // Intel's compiler vectorises no calls
#define GLOBAL __global
#define SHARED __local
#define RESTRICT restrict
#define SHARED_ARRAY(type, name, count) __local type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) __local type name[count] __attribute__((aligned(16)))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4  // compilers for CPUs know better
#define STORE_STREAMING(to, value) (*(to) = (value))
#define THREAD ((index_t)get_local_id(0))  // as wide as an address: vectorisers of CPUs then see consecutive accesses
#define BLOCK_X ((index_t)get_group_id(0))
#define BLOCK_Y ((index_t)get_group_id(1))
#define BLOCKS_Y ((index_t)get_num_groups(1))
#define BLOCKS_X ((index_t)get_num_groups(0))
<% vector = "double" if dtype == "float64" else "float" %>\
% for n in (2, 4, 8):
#define STORE_${n}(v, to) vstore${n}((${vector}${n})(${", ".join(f"v##{i}" for i in range(n))}), 0, to)
% endfor
% if dtype == "float64":
#ifdef NVIDIA  // the compute capability of a GPU of NVIDIA's, by an option of the compiler
<%include file="branchless.mako"/>\
#endif
% endif
