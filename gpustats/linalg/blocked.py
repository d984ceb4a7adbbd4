"""Algorithms for large matrices, made of a provider's operations: recursive, so that nearly all work is in large products.

Triangles that a product meets are cut in halves down to blocks of `Provider.dense` rows; the other half is skipped.
"""

from __future__ import annotations

from .matrix import Matrix
from .provider import Provider

FULL, LOWER, UPPER = "full", "lower", "upper"


def _half(n: int, leaf: int) -> int:
    """Rows of about half of n, in whole leaves."""
    return -(-n // leaf) // 2 * leaf


def _is_zero(kind: str, i: int, j: int) -> bool:
    """True if the triangle leaves block (i, j) of the halves empty."""
    return (kind == LOWER and i < j) or (kind == UPPER and i > j)


def triangle(provider: Provider, m: Matrix, kind: str) -> Matrix:
    """Copy of a triangle with zeros in the other half; the matrix itself if it is full."""
    if kind == FULL:
        return m
    copy = provider.empty(m.rows, m.rows, m.dtype, m.batch)
    provider.lower(m if kind == LOWER else m.T, copy)
    return copy if kind == LOWER else copy.T


def multiply(
    provider: Provider, alpha: float, a: Matrix, a_kind: str, b: Matrix, b_kind: str, beta: float, c: Matrix
) -> None:
    """Product c = alpha a b + beta c, where a, b or both are square triangles whose other half is neither read nor multiplied.

    If both are lower (upper) triangles, only the lower (upper) triangle of c is right.
    """
    if a_kind == b_kind == FULL:
        provider.gemm(alpha, a, b, beta, c)
        return
    if a.columns <= provider.dense:
        provider.gemm(alpha, triangle(provider, a, a_kind), triangle(provider, b, b_kind), beta, c)
        return
    halves = slice(0, _half(a.columns, provider.leaf)), slice(_half(a.columns, provider.leaf), None)
    for i, rows in enumerate(halves if a_kind != FULL else [slice(None)]):
        for j, columns in enumerate(halves if b_kind != FULL else [slice(None)]):
            so_far = beta
            for q, inner in enumerate(halves):
                if (a_kind != FULL and _is_zero(a_kind, i, q)) or (b_kind != FULL and _is_zero(b_kind, q, j)):
                    continue
                kinds = a_kind if i == q else FULL, b_kind if q == j else FULL
                part = c[rows, columns]
                multiply(provider, alpha, a[rows, inner], kinds[0], b[inner, columns], kinds[1], so_far, part)
                so_far = 1.0


def lower_product(provider: Provider, alpha: float, a: Matrix, b: Matrix, beta: float, c: Matrix) -> None:
    """Lower triangle of c = alpha a b + beta c, with some of the numbers above it."""
    if c.rows <= 4 * provider.leaf:
        provider.gemm(alpha, a, b, beta, c)
        return
    half = _half(c.rows, provider.leaf)
    lower_product(provider, alpha, a[:half, :], b[:, :half], beta, c[:half, :half])
    provider.gemm(alpha, a[half:, :], b[:, :half], beta, c[half:, :half])
    lower_product(provider, alpha, a[half:, :], b[:, half:], beta, c[half:, half:])


def invert(provider: Provider, l: Matrix, leaf: int) -> None:  # noqa: E741
    """Inverse l = l⁻¹ of a lower triangle: blocks of `leaf` rows, then [[a, 0], [c, b]]⁻¹ = [[a⁻¹, 0], [-b⁻¹ c a⁻¹, b⁻¹]]."""
    for blocks in _diagonal(l, leaf):
        provider.trtri(blocks)
    _combine(provider, l, leaf)


def _combine(provider: Provider, l: Matrix, leaf: int) -> None:  # noqa: E741
    if l.rows <= leaf:
        return
    half = _half(l.rows, leaf)
    a, b, c = l[:half, :half], l[half:, half:], l[half:, :half]
    _combine(provider, a, leaf)
    _combine(provider, b, leaf)
    product = provider.empty(c.rows, c.columns, c.dtype, c.batch)
    multiply(provider, 1.0, b, LOWER, c, FULL, 0.0, product)
    multiply(provider, -1.0, product, FULL, a, LOWER, 0.0, c)


def gram(provider: Provider, l: Matrix) -> None:  # noqa: E741
    """Lower triangle l = l' l: [[a, 0], [c, b]] becomes [[a' a + c' c, ·], [b' c, b' b]]. Not of a batch.

    Numbers above the diagonal of l may be overwritten, and have to be finite.
    """
    if l.rows <= 2 * provider.dense:
        copy = triangle(provider, l, LOWER)
        provider.syrk(1.0, copy.T, 0.0, l)
        return
    half = _half(l.rows, provider.leaf)
    a, b, c = l[:half, :half], l[half:, half:], l[half:, :half]
    gram(provider, a)
    provider.syrk(1.0, c.T, 1.0, a)
    _multiply_in_place(provider, b.T, c)
    gram(provider, b)


def _multiply_in_place(provider: Provider, a: Matrix, b: Matrix) -> None:
    """Product b = a b in place, where a is an upper triangle."""
    copy = provider.empty(b.rows, b.columns, b.dtype)
    provider.copy(b, copy)
    multiply(provider, 1.0, a, UPPER, copy, FULL, 0.0, b)


def _diagonal(l: Matrix, leaf: int) -> list[Matrix]:  # noqa: E741
    """Leaves on the diagonal, in as few batches as there can be."""
    n = l.rows
    if l.batch == 1 and n > leaf:
        rest = n // leaf * leaf
        return [l.diagonal_blocks(leaf)] + ([l[rest:, rest:]] if rest < n else [])
    return [l[i : i + leaf, i : i + leaf] for i in range(0, n, leaf)]


class CholeskyReverse:
    """Reverse mode of the Cholesky factorisation a = l l'.

    Of one block, with P = l' l̄ and M its lower triangle mirrored above, ā = ½ l⁻ᵀ M l⁻¹. Larger ones are cut in halves,
    l = [[l₁₁, 0], [l₂₁, l₂₂]] (Murray 2016, "Differentiation of the Cholesky decomposition", in its blocked form):

        ā₂₂ = reverse(l₂₂, l̄₂₂)
        l̄₂₁ -= 2 ā₂₂ l₂₁
        ā₂₁ = ½ l̄₂₁ l₁₁⁻¹
        l̄₁₁ -= 2 ā₂₁' l₂₁
        ā₁₁ = reverse(l₁₁, l̄₁₁)

    so that ⟨ā, da⟩ = ⟨l̄, dl⟩ for symmetric da. Of inverses there are only those of the diagonal blocks.

    Parameters
    ----------
    l : Matrix
        The lower factor, not `transposed`.
    l_bar : Matrix
        Lower, with zeros above; it is used up.
    a_bar : Matrix
        Matrix for the result.
    """

    def __init__(self, provider: Provider, l: Matrix, l_bar: Matrix, a_bar: Matrix) -> None:  # noqa: E741
        self.provider, self.l, self.l_bar, self.a_bar = provider, l, l_bar, a_bar
        self.leaves: list[tuple[Matrix, Matrix]] = []  # the diagonal blocks with zeros above, and their inverses
        for blocks in _diagonal(l, provider.leaf):
            copies = [provider.empty(blocks.rows, blocks.rows, l.dtype, blocks.batch) for _ in range(2)]
            for copy in copies:
                provider.lower(blocks, copy)
            provider.trtri(copies[1])
            if l.batch == 1:
                self.leaves += [(copies[0].batches(i, i + 1), copies[1].batches(i, i + 1)) for i in range(blocks.batch)]
            else:
                self.leaves.append((copies[0], copies[1]))

    def run(self) -> None:
        self._reverse(0, len(self.leaves))

    def _rows(self, first: int, end: int) -> slice:
        leaf = self.provider.leaf
        return slice(first * leaf, min(end * leaf, self.l.rows))

    def _reverse(self, first: int, end: int) -> None:
        if end - first == 1:
            self._reverse_leaf(first)
            return
        provider, middle = self.provider, (first + end) // 2
        above, below = self._rows(first, middle), self._rows(middle, end)
        l, l_bar, a_bar = (m[below, above] for m in (self.l, self.l_bar, self.a_bar))  # noqa: E741
        self._reverse(middle, end)
        provider.gemm(-2.0, self.a_bar[below, below], l, 1.0, l_bar)
        self._solve(0.5, l_bar, first, middle, a_bar)
        lower_product(provider, -2.0, a_bar.T, l, 1.0, self.l_bar[above, above])
        provider.copy(a_bar.T, self.a_bar[above, below])
        self._reverse(first, middle)

    def _reverse_leaf(self, block: int) -> None:
        provider, rows = self.provider, self._rows(block, block + 1)
        l, _ = self.leaves[block]  # noqa: E741
        product, half = (provider.empty(l.rows, l.rows, l.dtype, l.batch) for _ in range(2))
        a_bar = self.a_bar[rows, rows]
        provider.gemm(1.0, l.T, self.l_bar[rows, rows], 0.0, product)
        provider.lower(product, product, "mirror")
        self._solve_leaf(1.0, product, block, half)
        provider.copy(half.T, product)  # l⁻ᵀ x = (x' l⁻¹)'
        self._solve_leaf(0.5, product, block, a_bar)
        # A mirror image of one triangle would do as well by itself. But its errors, however small, are not of the form
        # l⁻ᵀ e l⁻¹, which the next steps multiply by l from the right, and they would grow by the condition of a each time.
        provider.symmetrise(a_bar)

    def _solve(self, alpha: float, b: Matrix, first: int, end: int, x: Matrix) -> None:
        """Solution x = alpha b l⁻¹ with the diagonal blocks `first` to `end` of l; b is used up."""
        if end - first == 1:
            self._solve_leaf(alpha, b, first, x)
            return
        middle = (first + end) // 2
        left, right = (
            slice(0, (middle - first) * self.provider.leaf),
            slice((middle - first) * self.provider.leaf, None),
        )
        self._solve(alpha, b[:, right], middle, end, x[:, right])
        coupling = self.l[self._rows(middle, end), self._rows(first, middle)]
        self.provider.gemm(-1 / alpha, x[:, right], coupling, 1.0, b[:, left])
        self._solve(alpha, b[:, left], first, middle, x[:, left])

    def _solve_leaf(self, alpha: float, b: Matrix, block: int, x: Matrix) -> None:
        """Solution x = alpha b l⁻¹ with one diagonal block of l; b is used up.

        A product with the inverse alone would lose digits where the block is ill-conditioned: what is left of b is solved
        for again, which makes it as accurate as substitution.
        """
        provider, (l, inverse) = self.provider, self.leaves[block]  # noqa: E741
        provider.gemm(alpha, b, inverse, 0.0, x)
        provider.gemm(-1 / alpha, x, l, 1.0, b)
        provider.gemm(alpha, b, inverse, 1.0, x)
