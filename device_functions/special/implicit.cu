// Zeros with derivatives, for numbers that equations define: one step of Newton's method from the solution, whose value is 0,
// has the solution's derivatives.

// 0, with the derivatives of x, which is about 0 itself. Error 0.
// derivative: dx
// reference: tests/rewriting/test_derivative_rules.py
__device__ real zero_with_slope(real x)
{
    return 0;
}

// 0, with the second derivatives of x, where x and its first derivatives are about 0 themselves. Error 0.
// derivative: zero_with_slope(dx)
// reference: tests/rewriting/test_derivative_rules.py
__device__ real zero_with_curvature(real x)
{
    return 0;
}
