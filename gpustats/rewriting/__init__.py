"""Rewriting: a device function becomes another one."""
