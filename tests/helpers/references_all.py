"""The references of all built-in densities but the elliptical ones."""

import references_continuous
import references_discrete
import references_vector
from references_families import FAMILIES

#: Those of numbers whose parameters are numbers, too.
NUMBERS = references_continuous.REFERENCES | references_discrete.REFERENCES | FAMILIES
REFERENCES = NUMBERS | references_vector.REFERENCES
