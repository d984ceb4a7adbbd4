"""Benchmarks that fields know by name, at the sizes that were published: ``python -m bench.field.NAME``."""
