## A product of small matrices by a warp of NVIDIA's, in hardware.

// c += a b of 16 x 8, 8 x 8 and 16 x 8 numbers. Of a and c, lane l of a warp has those in rows l / 4 + {0, 8}; the columns of a are
// l % 4 + {0, 4}, those of c 2 (l % 4) + {0, 1}. Of b it has rows l % 4 + {0, 4} of column l / 4.
DEVICE void multiply(double *c, double a0, double a1, double a2, double a3, double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
#define MULTIPLY(i, a, b) asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" ${"\\"}
    : "+d"(c[i]), "+d"(c[i + 1]) : "d"(a), "d"(b))
    MULTIPLY(0, a0, b0);
    MULTIPLY(2, a1, b0);
    MULTIPLY(0, a2, b1);
    MULTIPLY(2, a3, b1);
#endif
}
