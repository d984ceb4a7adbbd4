"""New names for what gpustats adds to a function, so that they hide nothing of the user's."""

from __future__ import annotations

from collections.abc import Container


def fresh_name(name: str, used: Container[str]) -> str:
    """`name`, with as many underscores behind it as it takes to differ from all that are used."""
    while name in used:
        name += "_"
    return name


def numbered_name(name: str, used: Container[str], separator: str = "") -> str:
    """`name`, or where it is used the first that is not of ``name2``, ``name3``, …"""
    found, number = name, 2
    while found in used:
        found, number = f"{name}{separator}{number}", number + 1
    return found
