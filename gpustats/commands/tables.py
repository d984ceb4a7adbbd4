"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence


def show(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: int | None = None) -> None:
    """Print a table; columns from number `numbers` on are right-aligned."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for i, column in enumerate(columns):
        right = numbers is not None and i >= numbers
        table.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right or i == 0)
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = 160
    console.print(table, markup=False)
