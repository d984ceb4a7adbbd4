"""Functions without outputs by step: what is left is what their author would have written for the value alone."""

import pytest

import gpustats as gs
from gpustats.language.library import library
from gpustats.language.outputs import writing


def parsed(source):
    definition, function = library.row_function(source)
    return definition, function


PAIRS = {
    "a store, and what it stores": ("""
real f(const real *y, int n, real a, real *seen, real *twice)
{
    real sum = 0, shown = 0;
    for (int t = 0; t < n; t++) {
        shown = 2 * y[t];
        seen[t] = sum;
        twice[t] = shown + seen[t];
        sum += a * y[t];
    }
    return sum;
}""", """
real f(const real *y, int n, real a)
{
    real sum = 0;
    for (int t = 0; t < n; t++) {
        sum += a * y[t];
    }
    return sum;
}"""),
    "a loop that goes back": ("""
real f(const real *y, int n, real a, real *back)
{
    real sum = 0, behind = 0;
    for (int t = 0; t < n; t++)
        sum += a * y[t];
    for (int t = n - 1; t >= 0; t--) {
        if (y[t] > 0) behind = a * behind; else behind = y[t];
        back[t] = behind;
    }
    return sum;
}""", """
real f(const real *y, int n, real a)
{
    real sum = 0;
    for (int t = 0; t < n; t++)
        sum += a * y[t];
    return sum;
}"""),
    "a variable that is used again for outputs": ("""
real f(const real *y, int n, real a, real *o)
{
    real x = a, sum = 0;
    for (int t = 0; t < n; t++) {
        x = x * y[t];
        sum += x;
        o[t] = x;
    }
    x = sum;
    for (int t = n - 1; t >= 0; t--) {
        x += o[t];
        o[t] = x;
    }
    return sum;
}""", """
real f(const real *y, int n, real a)
{
    real x = a, sum = 0;
    for (int t = 0; t < n; t++) {
        x = x * y[t];
        sum += x;
    }
    return sum;
}"""),
    "a value that only an output needs, of a variable that the value needs later": ("""
real f(const real *y, int n, real a, real *o)
{
    real x = exp(a);
    o[0] = x;
    x = y[0];
    return x;
}""", """
real f(const real *y, int n, real a)
{
    real x;
    x = y[0];
    return x;
}"""),
    "branches, a while loop and a return": ("""
real f(const real *y, int n, real a, real *o)
{
    real x = a, z = 1;
    int i = 0, k = 0;
    if (a < 0) {
        o[0] = 1;
    } else {
        x += 1;
    }
    while (i < n) {
        if (y[i] > 2) return NAN;
        z *= 2;
        o[i] = z;
        i++;
    }
    while (k < n) {
        o[k] = z;
        k++;
    }
    return x;
}""", """
real f(const real *y, int n, real a)
{
    real x = a;
    int i = 0;
    if (a < 0) {
    } else {
        x += 1;
    }
    while (i < n) {
        if (y[i] > 2) return NAN;
        i++;
    }
    return x;
}"""),
    "a loop whose first number counts": ("""
real f(const real *y, int n, real a, real *o)
{
    int i = 2;
    for (i = 1; i < n;) {
        o[0] = a;
        if (y[0] > 0) o[1] = a;
    }
    return a + i;
}""", """
real f(const real *y, int n, real a)
{
    int i;
    i = 1;
    return a + i;
}"""),
    "an array of the function's own": ("""
real f(const real *y, int n, real a, real *o)
{
    real v[2] = {0, a}, w[2] = {1, 2};
    for (int t = 0; t < n; t++) {
        for (int k = 0; k < 2; k++) {
            v[k] += y[t];
            w[k] += v[k];
        }
        o[t] = w[0] + w[1];
    }
    return v[0] + v[1];
}""", """
real f(const real *y, int n, real a)
{
    real v[2] = {0, a};
    for (int t = 0; t < n; t++) {
        for (int k = 0; k < 2; k++) {
            v[k] += y[t];
        }
    }
    return v[0] + v[1];
}"""),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_left(name):
    whole, alone = (parsed(source) for source in PAIRS[name])
    assert whole[1].body == alone[1].body
    assert [p.name for p in whole[1].parameters] == [p.name for p in alone[1].parameters]
    written = [a.name for a in whole[0].outputs]
    assert whole[0].arguments == alone[0].arguments and written and not alone[0].outputs
    everything = writing(whole[0].with_outputs[whole[1].name], written)
    assert writing(everything, written) == everything and writing(everything, ()) == whole[1]


def test_outputs_that_others_read_are_written_too():
    definition, function = parsed(PAIRS["a store, and what it stores"][0])
    whole = definition.with_outputs[function.name]
    assert [p.name for p in writing(whole, ["seen"]).parameters] == ["y", "dim", "a", "seen"]
    assert writing(whole, ["twice"]) == writing(whole, ["seen", "twice"])


def test_callers_get_functions_without_outputs():
    source = PAIRS["a store, and what it stores"][0].replace("real f(", "real inner(")
    source += "real f(const real *y, int n, real a, real *o) { o[0] = 1; return 2 * inner(y, n, a); }"
    assert gs.Rows(source, y=gs.sequences([[1.0, 2.0]]))(3.0) == 18


@pytest.mark.parametrize("source, message", [
    ("real f(const real *y, int n, real a, real *o) { o[0] = a; return o[0] + y[0]; }",
     r"line 1, column \d+: the value is made of o, which is written by step: keep what it needs in variables"),
    ("real f(const real *y, real *z, int n, real a) { return y[0] + a * exp(z[0]); }",
     r"line 1, column \d+: nothing is written to z: declare it `const real \*z`"),
    ("real f(real y, real a, real *o) { return y + a; }", "a function of vectors needs their length"),
    ("real f(const real *y, int n, real a, real *o) { o[0.5] = a; return y[0]; }", "an index must be an `int`"),
    ("real f(const real *y, int n, real a, real *o) { o[0] = 1; o = a; return y[0]; }", "o is a pointer"),
    ("real f(const real *y, int n, real a, real *o) { y[0] = a; return o[0]; }", "y is not to be written"),
    ("// o: positive, level\nreal f(const real *y, int n, real a, real *o) { o[0] = a; return y[0]; }",
     r"the comment calls o 'positive', but the signature has it as real \*"),
])  # fmt: skip
def test_mistakes(source, message):
    with pytest.raises(gs.DeviceFunctionError, match=message):
        library.row_function(source)
