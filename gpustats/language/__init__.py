"""Language of device functions: from a text to functions."""
