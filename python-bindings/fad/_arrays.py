"""Between numpy arrays and the arguments and results of functions."""

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _fad
from ._types import ValueType

Array = npt.NDArray[Any]
DType = np.dtype[Any]


def _resolve_dtype(name: str) -> DType:
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "numpy has no bfloat16; install one with: pip install ml_dtypes"
        ) from None
    return np.dtype(ml_dtypes.bfloat16)


def _get_limits(dtype: DType) -> tuple[int, int]:
    """Returns the least and the greatest value of a type of booleans or integers."""
    if dtype.kind == "b":
        return 0, 1
    information = np.iinfo(dtype)
    return information.min, information.max


def _from_number(number: int | float, dtype: DType, place: str) -> Array:
    """`number` as an array of rank 0; a float is rounded to `dtype`."""
    if dtype.kind in "biu":
        least, greatest = _get_limits(dtype)
        if isinstance(number, float):
            raise TypeError(f"{place} is of {dtype}, and {number!r} is a float")
        if not least <= number <= greatest:
            raise ValueError(f"{place} is of {dtype}, which does not hold {number}")
    try:
        return np.array(number, dtype)
    except OverflowError:
        message = f"{place} is of {dtype}, which does not hold {number}"
        raise ValueError(message) from None


def _agree(given: DType, expected: DType) -> bool:
    # Most integers of MLIR have no sign.
    are_integers = given.kind in "iu" and expected.kind in "iu"
    return given == expected or (are_integers and given.itemsize == expected.itemsize)


def _check(array: Array, dtype: DType, type_: ValueType, place: str) -> None:
    shape = type_.shape or ()
    is_of_type = _agree(array.dtype.newbyteorder("="), dtype)
    if is_of_type and len(shape) == array.ndim:
        if all(size in (None, given) for size, given in zip(shape, array.shape)):
            return
    mismatch = (
        f"{place} has the type {type_}, and the array given is of "
        f"{array.dtype.name} with shape {array.shape}"
    )
    if not is_of_type:
        raise TypeError(f"{mismatch}; convert it with .astype({dtype.name!r})")
    raise ValueError(mismatch)


def _normalize_bools(array: Array) -> Array:
    """Compiled code reads the lowest bit of a boolean, numpy all of them."""
    bits = array.view(np.uint8)
    return array if bits.size == 0 or bits.max() <= 1 else bits != 0


# The device of DLPack that is the memory of the host.
_HOST = 1


def _import_array(value: Any) -> Array:
    """Returns an array on the memory of `value`, which has `__dlpack__`."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        # Of before DLPack 1.0.
        capsule = value.__dlpack__()
    array, is_bfloat16 = _fad.import_array(capsule)
    return array.view(_resolve_dtype("bfloat16")) if is_bfloat16 else array


def _fill_memory(value: Any) -> Any:
    """`value`, or a copy of it where it is a tensor of PyTorch whose memory lacks its
    elements: DLPack tells neither of negated views nor of zeros without memory."""
    if hasattr(value, "resolve_neg") and value.is_neg():
        return value.resolve_neg()
    if hasattr(value, "_is_zerotensor") and value._is_zerotensor():
        return value.clone()
    return value


def _read_array(value: Any) -> Array:
    """`value`, which is no array of numpy, as one: by DLPack, which does not copy, and
    else by `__array__`."""
    value = _fill_memory(value)
    if hasattr(value, "__dlpack__") and value.__dlpack_device__()[0] == _HOST:
        return _import_array(value)
    if not hasattr(value, "__array__"):
        raise BufferError("it is not in the memory of the host; copy it there")
    return np.asarray(value)


def read_array(value: object, place: str, type_: ValueType | None = None) -> Array:
    """`value` as an array of whatever type it has; `place` is what errors call it, and
    `type_` the type that they say it should have."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{place} has a mask, which would be lost; pass .filled(...)")
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    wanted = "" if type_ is None else f" has the type {type_}"
    if not (hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
        given = f"{wanted}, and what is given is" if wanted else " is"
        raise TypeError(f"{place}{given} a {type(value).__name__}; pass a numpy array")
    try:
        return _read_array(value)
    # It runs code of whoever made `value`: of a tensor on a GPU, PyTorch says what to do.
    except Exception as error:
        raise TypeError(f"{place}{wanted}: {error}") from error


def to_dlpack(array: Array) -> Any:
    """`array`, which `fad.run` has returned, for another package: an object with
    `__dlpack__`, as `torch.from_dlpack` takes it. The elements are not copied. Raises
    TypeError for elements that are no numbers of this machine.

    Arrays of numpy have `__dlpack__` themselves, but not for bfloat16, and not for arrays
    that are read-only, as results that share their elements are."""
    array = read_array(array, "the array")
    if array.dtype.name != "bfloat16" and (
        array.dtype.kind not in "?biufc" or not array.dtype.isnative
    ):
        raise TypeError(f"the array has elements of {array.dtype}, which DLPack has not")
    if array.dtype.name == "bfloat16":
        return _fad.export_array(array.view(np.uint16), True, array.flags.writeable)
    return _fad.export_array(array, False, array.flags.writeable)


def to_argument(value: object, type_: ValueType, place: str) -> Array:
    """`value` as an array that compiled code can read, which is `value` itself
    where its elements lie as they should. bfloat16 becomes the bits of it."""
    if type_.dtype is None or type_.shape is None:
        raise TypeError(f"{place} has the type {type_}, which numpy has no arrays of")
    dtype = _resolve_dtype(type_.dtype)
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        array = _from_number(value, dtype, place)
    else:
        array = read_array(value, place, type_)
    _check(array, dtype, type_, place)
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
    if dtype.kind == "b":
        return _normalize_bools(array)
    return array.view(np.uint16) if type_.dtype == "bfloat16" else array


# numpy itself says so of arguments.
_MAX_RANK = 64 if int(np.__version__.split(".")[0]) >= 2 else 32


def check_result(type_: ValueType, place: str) -> None:
    """Raises ValueError where there can be no array of type `type_`."""
    if type_.shape is not None and len(type_.shape) > _MAX_RANK:
        raise ValueError(
            f"{place} has rank {len(type_.shape)}, and arrays of numpy have at most "
            f"{_MAX_RANK} dimensions"
        )


def to_result(array: Array, type_: ValueType) -> Array:
    """Returns the result of type `type_` that comes from C++ as `array`."""
    if type_.dtype == "bfloat16":
        return array.view(_resolve_dtype(type_.dtype))
    return array
