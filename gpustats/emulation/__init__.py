"""Uses of Gaussian processes: emulators of computer models, their calibration, minimisation under constraints."""
