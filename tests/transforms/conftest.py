"""What tests of transforms share."""

import pytest
from transformed import FRECHET

import gpustats as gs


@pytest.fixture
def frechet():
    return gs.register(FRECHET)
