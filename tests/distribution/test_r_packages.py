"""Densities that SciPy does not have, against numbers that packages of R give, to the digits that these have."""

import numpy as np

import gpustats as gs


def columns(*rows):
    return np.array(rows).T


def test_tweedie():
    """mgcv 1.8-41, ldTweedie: the log-density and its derivatives in phi and p"""
    x, mu, phi, p, *want = columns(
        (0.3, 1, 1, 1.5, -0.66399610437184386, -0.41460596760946578, 1.037860728034492),
        (2.5, 1.2, 0.4, 1.2, -2.2532538894981542, 1.7682815015208746, 0.052438155205749126),
        (10, 3, 2, 1.8, -4.2167278432871846, 0.065310224874351341, -0.2260018697546613),
        (0.01, 0.5, 1.5, 1.6, 0.59553767687838022, -0.32680924702324343, 7.2559169594759352),
        (40, 30, 0.2, 1.35, -4.8209241374800627, 8.56662498816263, 5.89658775033854),
        (0, 2, 1, 1.5, -2.8284271247461903, 2.8284271247461903, -3.6963379625552859),
    )
    gradient = gs.transforms.Grad(gs.tweedie.log_density, "phi"), gs.transforms.Grad(gs.tweedie.log_density, "p")
    for function, numbers in zip((gs.tweedie.logpdf, *gradient), want):
        np.testing.assert_allclose(function(x, mu, phi, p), numbers, rtol=1e-10)


def test_wiener():
    """RWiener, dwiener and pwiener; the first five are Stan's tests, too"""
    x, alpha, tau, beta, delta, want = columns(
        (1.1, 2.1, 0.3, 0.55, 0.4, -0.892976431870503),
        (2.1, 4.1, 0.6, 0.05, 0.1, -5.28933922584833),
        (1.2, 10.1, 0.35, 0.95, 0.5, -1.36212169454714),
        (50.1, 4.3, 1.05, 0.65, 0.15, -15.3049368722015),
        (1.51, 1.1, 0.9, 0.2, 10.5, -26.4531852275477),
        (-1.1, 2.1, 0.3, 0.55, 0.4, -1.8185264560864689),
    )
    np.testing.assert_allclose(gs.wiener.logpdf(x, alpha, tau, beta, delta), want, rtol=1e-14)
    for parameters, time, upper, lower in (
        ((2.1, 0.3, 0.55, 0.4), 1.1, 0.40944255853538419, 0.11873651150712816),
        ((4.1, 0.6, 0.05, 0.1), 2.1, 0.0015133752599759132, 0.84868768819783369),
    ):
        below, none, above = gs.wiener.cdf([-time, 0, time], *parameters)
        np.testing.assert_allclose([above - none, none - below], [upper, lower], rtol=1e-9)


def test_angles():
    """circular, dwrappednormal, pwrappednormal and dcardioid"""
    sigma, density, below = columns(
        (0.5, 0.22184166935891109, 0.94520070830069824),
        (2, 0.18916494236327416, 0.65827998968529),
        (3, 0.16161856991263751, 0.62986060214771655),
    )
    np.testing.assert_allclose(gs.wrapped_normal.pdf(1.2, 0.4, sigma), density, rtol=1e-9)
    np.testing.assert_allclose(gs.wrapped_normal.cdf(1.2, 0.4, sigma), below, rtol=1e-9)
    np.testing.assert_allclose(gs.cardioid.pdf(1.2, 0.4, 0.3), 0.22568553309862921, rtol=1e-14)
