"""Distributions: functions beside a density, and distributions of certain parameters."""
