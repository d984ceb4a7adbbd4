import subprocess
import sys
import textwrap


def test_evaluation_needs_no_pytensor():
    """The worker of a forked process evaluates with what these modules import."""
    code = """
    import sys
    from gpustats.compiler.evaluation import density, forked, glm, gp, linalg, mixture
    print({"pymc", "pytensor", "numba"} & set(sys.modules))
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"
