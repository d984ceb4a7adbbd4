## Copies from global to shared memory in the background, where a device has them; elsewhere they are done at once.
% if dialect == "cuda":
#if __CUDA_ARCH__ >= 800
#define SHARED_ADDRESS(p) ((unsigned)__cvta_generic_to_shared(p))
% else:
#if NVIDIA >= 80  // the compute capability, by an option of the compiler
#define SHARED_ADDRESS(p) ((unsigned)(size_t)(p))
% endif
#define COPY_TO_SHARED(type, to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ${"\\"}
    :: "r"(SHARED_ADDRESS(to)), "l"(from), "n"(sizeof(type)))
#define COPIES_STARTED() asm volatile("cp.async.commit_group;")
#define WAIT_FOR_COPIES(later) asm volatile("cp.async.wait_group %0;" :: "n"(later))
#endif
#ifndef COPY_TO_SHARED  // no copies in the background: they are done at once
#define COPY_TO_SHARED(type, to, from) (*(SHARED type *)(to) = *(GLOBAL const type *)(from))
#define COPIES_STARTED()
#define WAIT_FOR_COPIES(later)
#endif
