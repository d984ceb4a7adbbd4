"""A density's own arguments may have the names of what gpustats makes of others."""

import numpy as np

import gpustats as gs


def test_an_argument_with_the_name_of_a_derivative(layout):
    density = gs.register("""
    // named: a derivative of x, rows of it, and where they begin
    real named_logpdf(real x, real d_x, real d_x_rows, real d_x_first, real d_x_offset, real d_d_x)
    {
        return x * d_x + 2 * d_x_rows + 3 * d_x_first + 5 * d_x_offset + 7 * d_d_x;
    }
    """)
    x = np.arange(1.0, 4)
    for names in (["x", "d_x"], list(density.domains)):
        _, gradient = density.loglik_and_grad(x, x, x, x, x, x, wrt=names)
        want = {"x": x, "d_x": x, "d_x_rows": [2] * 3, "d_x_first": [3] * 3, "d_x_offset": [5] * 3, "d_d_x": [7] * 3}
        for name in names:
            np.testing.assert_array_equal(gradient[name], want[name], err_msg=name)


def test_an_argument_with_the_name_of_the_number_of_an_element(layout):
    density = gs.register("""
    real named_logpdf(real x, real component, const real *v, int dim) { return x * component * v[0] + v[dim - 1] * v[1]; }
    """)
    x, v = np.arange(1.0, 4), np.array([2.0, 3.0, 5.0])
    _, gradient = density.loglik_and_grad(x, 4.0, v)
    np.testing.assert_array_equal(gradient["v"], [24, 15, 9])
    assert gradient["component"] == 12
    of_elements = gs.transforms.Grad(density, "v")
    np.testing.assert_array_equal(of_elements(x, 4.0, v, component2=0), 4 * x)


def test_arguments_with_the_names_of_what_a_mixture_writes(layout):
    density = gs.register("""
    // x: real    rows: positive    labels: real    mixture: real    log_weight: real
    real named_logpdf(real x, real rows, real labels, real mixture, real log_weight)
    {
        return x * rows - 2 * labels + 3 * mixture + 4 * log_weight;
    }
    """)
    mixture = gs.Mixture(density, np.array([1.0, 2.0]))
    given, weights = (
        dict(rows=[1.0, 2.0], labels=[3.0, 4.0], mixture=[5.0, 6.0], log_weight=[0.0, -1.0]),
        np.log([0.5, 0.5]),
    )
    want = np.log(0.5) + np.logaddexp([10, 11], [8, 10])
    np.testing.assert_allclose(mixture.logpdf(weights, **given), want, rtol=1e-14)
    assert set(mixture.assign(weights, rng=1, **given)) <= {0, 1}
    _, gradient = mixture.value_and_grad(weights, **given)
    np.testing.assert_allclose(gradient["mixture"], 3 * gradient["log_weights"], rtol=1e-13)
