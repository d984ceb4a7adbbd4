"""Data frames: their columns, the labels of categories and groups, and designs that formulas make of them."""
