"""Sums over rows: the likelihood of any model whose terms are functions of a row, in one kernel with all its derivatives."""
