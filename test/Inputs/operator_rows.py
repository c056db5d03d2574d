"""Lists of functions in tests, compared with fad's table of operators."""

from fad._operators.table import OPERATORS

# Those of the table that are no activations.
FUNCTIONS = set(
    "abs acos acosh asin asinh atan atan2 atanh clamp clamp_max clamp_min copysign cos cosh erf "
    "erfc exp exp2 expm1 fma fmax fmin fmod log log10 log1p log2 maximum minimum pow reciprocal "
    "rsqrt sin sinh sqrt tan".split()
)


def check_rows(names, exceptions, column="name"):
    """Checks that each differentiable row of the table, of those that have `column`, is among
    `names` or `exceptions`."""
    rows = {
        row.name
        for row in OPERATORS
        if row.kind in ("smooth", "piecewise") and getattr(row, column)
    }
    missing = rows - set(names) - set(exceptions)
    assert rows and not missing, f"in the table of operators, and not in the test: {missing}"
    unknown = set(exceptions) - {row.name for row in OPERATORS}
    assert not unknown, f"not in the table of operators: {unknown}"
