"""gpustats: likelihoods on a GPU, or all cores of a CPU, from densities written as a few lines of C."""
