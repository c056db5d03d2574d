"""Between numpy arrays and the arguments and results of functions."""

import numpy as np

from ._types import ValueType


def _resolve_dtype(name: str) -> np.dtype:
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "numpy has no bfloat16; install it with: pip install ml_dtypes"
        ) from None
    return np.dtype(ml_dtypes.bfloat16)


def _describe(array: np.ndarray) -> str:
    return f"an array of {array.dtype} of shape {array.shape}"


def _from_number(number, dtype: np.dtype, place: str) -> np.ndarray:
    """`number`, a Python scalar, as an array of `dtype`."""
    is_exact = dtype.kind in "iub"
    if is_exact and isinstance(number, float):
        raise TypeError(f"{place} is a float, but {dtype} is expected")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            raise ValueError(f"{place} is {number}, which is no {dtype}")
    if dtype.kind == "b" and number not in (0, 1):
        raise ValueError(f"{place} is {number}, which is no {dtype}")
    return np.array(number, dtype)


def _check_dtype(array: np.ndarray, dtype: np.dtype, place: str, kind: ValueType):
    given = array.dtype.newbyteorder("=")
    # Integers of MLIR mostly have no sign.
    same_width = given.kind in "iu" and dtype.kind in "iu"
    if given != dtype and not (same_width and given.itemsize == dtype.itemsize):
        raise TypeError(
            f"{place} has the type {kind}, but {_describe(array)} is given; "
            f"convert it with .astype({dtype.name!r})"
        )


def to_argument(value, kind: ValueType, place: str) -> np.ndarray:
    """`value` as an array that compiled code can read, without a copy where
    its elements lie as they should."""
    if kind.dtype is None:
        raise TypeError(f"{place} has the type {kind}, which numpy has no array for")
    dtype = _resolve_dtype(kind.dtype)
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        array = _from_number(value, dtype, place)
    elif isinstance(value, np.generic) or hasattr(value, "__array__"):
        array = np.asarray(value)
        _check_dtype(array, dtype, place, kind)
    else:
        raise TypeError(
            f"{place} is a {type(value).__name__}; pass a numpy array or a number"
        )
    fits = len(kind.shape) == array.ndim and all(
        expected in (None, size) for expected, size in zip(kind.shape, array.shape)
    )
    if not fits:
        raise ValueError(
            f"{place} has the type {kind}, but {_describe(array)} is given"
        )
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
    if dtype.kind == "b":
        return _normalize_bools(array)
    return array.view(np.uint16) if kind.dtype == "bfloat16" else array


def _normalize_bools(array: np.ndarray) -> np.ndarray:
    """Compiled code reads the lowest bit, numpy all of them."""
    bits = array.view(np.uint8)
    return array if array.size == 0 or bits.max() <= 1 else bits != 0


def to_result(array: np.ndarray, kind: ValueType) -> np.ndarray:
    """The result of type `kind` that C++ returns as `array`."""
    if kind.dtype == "bfloat16":
        return array.view(_resolve_dtype(kind.dtype))
    return array
