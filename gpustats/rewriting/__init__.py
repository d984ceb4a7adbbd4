"""Rewriting of device functions into other ones."""
