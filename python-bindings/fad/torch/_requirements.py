"""The packages that fad.torch needs beside fad's own."""

try:
    import torch
except ImportError as error:
    raise ImportError("fad.torch needs PyTorch; install it with: pip install torch") from error


def import_torch_mlir():
    """Returns the module `torch_mlir.fx`."""
    try:
        from torch_mlir import fx
    except ImportError as error:
        raise ImportError(
            "exporting needs torch-mlir; install it with: pip install torch-mlir"
        ) from error
    return fx


__all__ = ["import_torch_mlir", "torch"]
