"""The language of device functions: a text becomes functions."""
