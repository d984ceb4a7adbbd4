## Batches of small matrices, one thread a matrix: in registers while it fits (then all loops unroll), else in shared memory, the
## same number of each matrix side by side. And one block a matrix for the reverse mode of the Cholesky factorisation.
<%
    threads = layout.threads
    unroll = "UNROLL " if layout.registers else ""
    operands = {
        "cholesky": ", GLOBAL int *RESTRICT info", "trtri": "",
        "cholesky_grad": ", GLOBAL const real *RESTRICT l, index_t l_offset, index_t l_batch, index_t l_stride",
    }
%>\
## Reads the lower triangle of each thread's matrix into `into`. Through shared memory where that makes the accesses neighbours.
<%def name="read(source, into)">\
% if layout.staged:
    for (int place = me; place < here * N * N; place += ${layout.threads}) {
        const int matrix = place / (N * N), i = place % (N * N) / N, j = place % N;
        if (j <= i)
            staged[matrix * STAGED + i * N + j] = ${source}[matrix * ${source}_batch + i * ${source}_stride + j];
    }
    BARRIER();
% endif
    ${"UNROLL " if layout.registers else ""}for (int i = 0; i < N; i++)
        ${"UNROLL " if layout.registers else ""}for (int j = 0; j <= i; j++)
            OWN(${into}, i, j) = ${"staged[me * STAGED + i * N + j]" if layout.staged else f"{source}[me * {source}_batch + i * {source}_stride + j]"};
% if layout.staged:
    BARRIER();
% endif
</%def>\
## Writes each thread's matrix: the lower triangle, and its mirror image above the diagonal if `whole`.
<%def name="write(target, own, whole)">\
    ${"UNROLL " if layout.registers else ""}for (int i = 0; i < N; i++)
        ${"UNROLL " if layout.registers else ""}for (int j = 0; j <= i; j++) {
% if layout.staged:
            staged[me * STAGED + i * N + j] = OWN(${own}, i, j);
% if whole:
            staged[me * STAGED + j * N + i] = OWN(${own}, i, j);
% endif
% else:
            ${target}[me * ${target}_batch + i * ${target}_stride + j] = OWN(${own}, i, j);
% if whole:
            ${target}[me * ${target}_batch + j * ${target}_stride + i] = OWN(${own}, i, j);
% endif
% endif
        }
% if layout.staged:
    BARRIER();
    for (int place = me; place < here * N * N; place += ${layout.threads}) {
        const int matrix = place / (N * N), i = place % (N * N) / N, j = place % N;
        ${"" if whole else "if (j <= i)"}
            ${target}[matrix * ${target}_batch + i * ${target}_stride + j] = staged[matrix * STAGED + i * N + j];
    }
% endif
</%def>\
<%def name="own(name)">\
${f"real {name}[N][N]" if layout.registers else f"SHARED_ARRAY(real, {name}, SIZE * (SIZE + 1) / 2 * {layout.threads})"};\
</%def>\
% if layout.registers:
#define N ${layout.size}
% else:
#define N n
#define SIZE ${layout.size}  // that there is room for
% endif
#define OWN(m, i, j) ${"m[i][j]" if layout.registers else f"m[((i) * ((i) + 1) / 2 + (j)) * {threads} + me]"}
% if layout.staged:
#define STAGED (N * N + 1 - N * N % 2)  // odd: then threads access different banks
% endif
% if kind in operands:

KERNEL(${threads}) linalg_small_${kind}(
    GLOBAL real *RESTRICT a, index_t a_offset, index_t a_batch, index_t a_stride${operands[kind]}, index_t batch, int n)
{
    const index_t first = BLOCK_X * ${threads}, me = THREAD, here = MIN(batch - first, (index_t)${threads});
% if layout.staged:
    SHARED_ARRAY(real, staged, ${threads} * STAGED);
% else:
    if (me >= here)
        return;
% endif
    a += a_offset + first * a_batch;
    ${own("m")}
% if kind == "cholesky_grad":
    ${own("s")}
    l += l_offset + first * l_batch;
${read("l", "m")}\
${read("a", "s")}\
    // Smith's algorithm. Behind column k, s is the derivative in a_ij = a_ji, twice that in a_ii; half of it is the answer.
    ${unroll}for (int k = N - 1; k >= 0; k--) {
        real diagonal = OWN(s, k, k);
        ${unroll}for (int i = N - 1; i > k; i--) {
            real sum = OWN(s, i, k);
            ${unroll}for (int j = k + 1; j <= i; j++)
                sum -= OWN(s, i, j) * OWN(m, j, k);
            ${unroll}for (int j = i + 1; j < N; j++)
                sum -= OWN(s, j, i) * OWN(m, j, k);
            sum /= OWN(m, k, k);
            diagonal -= sum * OWN(m, i, k);
            OWN(s, i, k) = sum;
        }
        OWN(s, k, k) = diagonal / OWN(m, k, k);
    }
    ${unroll}for (int i = 0; i < N; i++)
        ${unroll}for (int j = 0; j <= i; j++)
            OWN(s, i, j) /= 2;
${write("a", "s", True)}\
% else:
${read("a", "m")}\
% if kind == "trtri":
    ${unroll}for (int j = 0; j < N; j++) {
        OWN(m, j, j) = 1 / OWN(m, j, j);
        ${unroll}for (int i = j + 1; i < N; i++) {
            real sum = 0;
            ${unroll}for (int k = j; k < i; k++)
                sum -= OWN(m, i, k) * OWN(m, k, j);
            OWN(m, i, j) = sum / OWN(m, i, i);
        }
    }
% else:
    int minor = 0;
    ${unroll}for (int j = 0; j < N; j++) {
        real scale = 1;
        ${unroll}for (int i = j; i < N; i++) {
            real sum = OWN(m, i, j);
            ${unroll}for (int k = 0; k < j; k++)
                sum -= OWN(m, i, k) * OWN(m, j, k);
            if (i == j) {
                if (minor == 0 && !(sum > 0))
                    minor = j + 1;
                sum = sqrt(sum);
                scale = 1 / sum;
                OWN(m, j, j) = sum;
            } else {
                OWN(m, i, j) = sum * scale;
            }
        }
    }
    if (me < here)
        info[first + me] = minor;
% endif
${write("a", "m", False)}\
% endif
}
% elif kind == "solve":

// b = l^-1 b for lower triangles l; one thread a column of b.
KERNEL(${threads}) linalg_small_solve(
    GLOBAL real *RESTRICT b, index_t b_offset, index_t b_batch, index_t b_row, index_t b_column,
    GLOBAL const real *RESTRICT l, index_t l_offset, index_t l_batch, index_t l_row, index_t l_column, index_t n_columns, index_t count, int n)
{
    const index_t number = BLOCK_X * ${threads} + THREAD;
    if (number >= count)
        return;
    b += b_offset + number / n_columns * b_batch + number % n_columns * b_column;
    l += l_offset + number / n_columns * l_batch;
% if layout.registers:
    real x[N];
% else:
    SHARED_ARRAY(real, shared, SIZE * ${threads});
    SHARED real *const x = shared + THREAD;
% endif
    ${unroll}for (int i = 0; i < N; i++) {
        real sum = b[i * b_row];
        ${unroll}for (int j = 0; j < i; j++)
            sum -= l[i * l_row + j * l_column] * x[${"j" if layout.registers else f"j * {threads}"}];
        x[${"i" if layout.registers else f"i * {threads}"}] = sum / l[i * (l_row + l_column)];
    }
    ${unroll}for (int i = 0; i < N; i++)
        b[i * b_row] = x[${"i" if layout.registers else f"i * {threads}"}];
}
% else:
#define PADDED ${layout.padded}

// The same reverse mode, one block a matrix; thread i has the rows i, i + ${threads}, ... of s, which is kept whole.
KERNEL(${threads}) linalg_small_block_grad(
    GLOBAL real *RESTRICT a, index_t a_offset, index_t a_batch, index_t a_stride,
    GLOBAL const real *RESTRICT l, index_t l_offset, index_t l_batch, index_t l_stride, int n)
{
    const int me = (int)THREAD;
    a += a_offset + BLOCK_X * a_batch;
    l += l_offset + BLOCK_X * l_batch;
    DYNAMIC_SHARED_ARRAY(real, s, SIZE * PADDED);
    for (int place = me; place < n * n; place += ${threads}) {
        const int i = place / n, j = place % n;
        if (j <= i)
            s[i * PADDED + j] = s[j * PADDED + i] = a[i * a_stride + j];
    }
    BARRIER();
    for (int k = n - 1; k >= 0; k--) {
        const real pivot = l[k * (l_stride + 1)];
        for (int i = me; i < n; i += ${threads})
            if (i > k) {
                real sum = s[k * PADDED + i];
                for (int j = k + 1; j < n; j++)
                    sum -= s[j * PADDED + i] * l[j * l_stride + k];
                s[k * PADDED + i] = s[i * PADDED + k] = sum / pivot;
            }
        BARRIER();
        if (me == k % ${threads}) {  // which is the only one that needs it until the end
            real sum = s[k * (PADDED + 1)];
            for (int j = k + 1; j < n; j++)
                sum -= s[k * PADDED + j] * l[j * l_stride + k];
            s[k * (PADDED + 1)] = sum / pivot;
        }
    }
    BARRIER();
    for (int place = me; place < n * n; place += ${threads})
        a[place / n * a_stride + place % n] = s[place / n * PADDED + place % n] / 2;
}
% endif
