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
            "numpy has no bfloat16; install one with: pip install ml_dtypes"
        ) from None
    return np.dtype(ml_dtypes.bfloat16)


def _from_number(number: bool | int | float, dtype: np.dtype, place: str) -> np.ndarray:
    """`number` as an array of rank 0; a float is rounded to `dtype`."""
    if dtype.kind in "biu":
        limits = (0, 1) if dtype.kind == "b" else np.iinfo(dtype)
        least, greatest = (limits.min, limits.max) if dtype.kind in "iu" else limits
        if isinstance(number, float):
            raise TypeError(f"{place} is of {dtype}, and {number!r} is a float")
        if not least <= number <= greatest:
            raise ValueError(f"{place} is of {dtype}, which does not hold {number}")
    return np.array(number, dtype)


def _agree(given: np.dtype, expected: np.dtype) -> bool:
    # Most integers of MLIR have no sign.
    are_integers = given.kind in "iu" and expected.kind in "iu"
    return given == expected or (are_integers and given.itemsize == expected.itemsize)


def _check(array: np.ndarray, dtype: np.dtype, type_: ValueType, place: str) -> None:
    mismatch = (
        f"{place} has the type {type_}, and the array given is of "
        f"{array.dtype.name} with shape {array.shape}"
    )
    if not _agree(array.dtype.newbyteorder("="), dtype):
        raise TypeError(f"{mismatch}; convert it with .astype({dtype.name!r})")
    shape = type_.shape or ()
    if len(shape) != array.ndim or any(
        size not in (None, given) for size, given in zip(shape, array.shape)
    ):
        raise ValueError(mismatch)


def _normalize_bools(array: np.ndarray) -> np.ndarray:
    """Compiled code reads the lowest bit of a boolean, numpy all of them."""
    bits = array.view(np.uint8)
    return bits != 0 if bits.size and bits.max() > 1 else array


def to_argument(value, type_: ValueType, place: str) -> np.ndarray:
    """`value` as an array that compiled code can read, which is `value` itself
    where its elements lie as they should. bfloat16 becomes the bits of it."""
    if type_.dtype is None or type_.shape is None:
        raise TypeError(f"{place} has the type {type_}, which numpy has no arrays of")
    dtype = _resolve_dtype(type_.dtype)
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        array = _from_number(value, dtype, place)
    elif hasattr(value, "__array__"):
        array = np.asarray(value)
    else:
        raise TypeError(
            f"{place} has the type {type_}, and what is given is a "
            f"{type(value).__name__}; pass a numpy array"
        )
    _check(array, dtype, type_, place)
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
    if dtype.kind == "b":
        return _normalize_bools(array)
    return array.view(np.uint16) if type_.dtype == "bfloat16" else array


def to_result(array: np.ndarray, type_: ValueType) -> np.ndarray:
    """The result of type `type_` that comes from C++ as `array`."""
    if type_.dtype == "bfloat16":
        return array.view(_resolve_dtype(type_.dtype))
    return array
