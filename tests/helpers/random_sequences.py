"""Random functions of a sequence."""

import random


class Writer:
    """Writes functions of a sequence y and of a and b at random: reals, an int and an array before the loop, and the loop."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def real(self, names, depth=2):
        choose = self.random.choice
        if depth == 0 or self.random.random() < 0.2:
            return choose([*names, "0.5", "1.25"])
        left, right = self.real(names, depth - 1), self.real(names, depth - 1)
        return choose([f"({left} + {right})", f"({left} - {right})", f"tanh({left} * {right})", f"0.5 * {left}",
                       f"({left} > {right} ? {left} : {right})", f"exp(-fabs({left}))"])  # fmt: skip

    def statements(self, own, names, depth=2):
        """Lines that assign to `own`."""
        lines = []
        for i in range(self.random.randint(2, 4)):
            kind, name = self.random.randrange(8), self.random.choice(own)
            if kind < 3:
                lines.append(f"{name} = {self.real(names)};")
            elif kind == 3:
                lines.append(f"k = {self.real(names)} > 0.25 ? 1 + k / 2 : 0;")
            elif kind == 4:
                lines.append(f"total {self.random.choice(['+=', '-='])} {self.real(names)};")
            elif kind == 5:
                lines.append(f"real own{depth}{i} = {self.real(names)}; {name} = own{depth}{i} * 0.7;")
            elif depth:
                inner = " ".join(self.statements(own, names, depth - 1))
                other = " ".join(self.statements(own, names, depth - 1)) if self.random.random() < 0.5 else "count += 1;"
                head = f"if ({self.real(names)} > 0.3)" if kind == 6 else f"for (int s{depth} = 0; s{depth} < 2; s{depth}++)"
                lines.append(f"{head} {{ {inner} }}" + (f" else {{ {other} }}" if kind == 6 else ""))
        return lines

    def source(self):
        own = ["p", "q", "r", "m[0]", "m[1]"]
        names = [*own, "a", "b", "k"]
        first, less = self.random.choice([(0, ""), (0, ""), (1, ""), (0, " - 1")])
        read = ["y[t]", f"y[t {'- 1' if first else '+ 1' if less else '+ 0'}]", "y[0]", "t"]
        early = f"if ({self.real(['a', 'b'])} > 1.2) return {self.real(['a'])};" if self.random.random() < 0.4 else ""
        before, turn = self.statements(own, names), self.statements(own, [*names, *read])
        return "\n".join([
            "__device__ real of_sequence(const real *y, int n, real a, real b)", "{",
            "real p = a, q = 0.3, r, total = 0.1, count = 0, m[2] = {b}; int k = 0; r = b;", early, *before,
            f"for (int t = {first}; t < n{less}; t++) {{", *turn, f"total += {self.real([*own, 'k'])};", "}",
            f"return total + count * {self.real(own)} + {self.real([*own, 'a', 'k'])};", "}",
        ])  # fmt: skip
