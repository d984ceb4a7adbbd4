"""What tests of runtimes share."""

import pytest
from runtimes import IDS

from gpustats.runtime import get


@pytest.fixture(params=[pytest.param(id, marks=[pytest.mark.cuda] if id.startswith("cuda") else []) for id in IDS])
def runtime(request):
    return get(request.param)
