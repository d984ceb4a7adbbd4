## Clusters of blocks, of devices that have them; in CUDA only. The blocks of a cluster run together, and each reads and writes the
## shared memory of all.
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#define BARRIER_CLUSTER() asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory")

// Where block number `rank` of the cluster has what lies at `here` in this block's shared memory.
template <class T> DEVICE T *in_block(T *here, int rank)
{
    T *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(here), "r"(rank));
    return there;
}
