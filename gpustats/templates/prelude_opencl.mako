## The dialect of the kernels, in OpenCL C 1.2.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef ${"double" if dtype == "float64" else "float"} real;
typedef long index_t;
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
#define DEVICE static
#define GLOBAL __global
#define SHARED __local
#define RESTRICT restrict
#define SHARED_ARRAY(type, name, count) __local type name[count]
#define DYNAMIC_SHARED_ARRAY(type, name, count) __local type name[count] __attribute__((aligned(16)))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define UNROLL _Pragma("unroll")
#define THREAD ((int)get_local_id(0))
#define BLOCK_X ((index_t)get_group_id(0))
#define BLOCK_Y ((index_t)get_group_id(1))
#define BLOCKS_Y ((index_t)get_num_groups(1))
#define BLOCKS_X ((index_t)get_num_groups(0))
