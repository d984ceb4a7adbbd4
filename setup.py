"""Where the packages lie; everything else stands in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["gpustats", "gpustats.*"]), "gpustats.device_functions", "gpustats.bench"],
    package_dir={"gpustats.device_functions": "device_functions", "gpustats.bench": "bench"},
    package_data={
        "gpustats": ["py.typed", "*.pyi", "*/*.mako", "*/*/*.mako"], "gpustats.device_functions": ["*.cu", "special/*.cu"],
    },
    include_package_data=False,
)
