"""Transforms: a device function in, another device function out.

They compose, with one another and with every kernel shape, and take a user's functions as well as built-in ones. `Exp` and
`Grad` change what is computed of a density; the others make a new `Density`, which is written in the users' own language, as
its ``source`` shows.
"""

from .densities import *  # noqa: F403  what these modules list is what there is
from .pointwise import *  # noqa: F403
