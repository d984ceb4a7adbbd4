// categorical: one of dim categories, numbered from 0
// x: nonnegative integer    p: simplex, probabilities of the categories
// source: Murphy (2012), Machine Learning: A Probabilistic Perspective, ch. 2
__device__ real categorical_logpmf(real x, const real *p, int dim)
{
    if (x >= dim) return -INFINITY;
    return log(p[(int)x]);
}
