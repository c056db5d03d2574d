"""The packages that fad.iree needs beside fad's own."""


def import_compiler():
    """Returns the module `iree.compiler.tools`."""
    try:
        from iree.compiler import tools
    except ImportError as error:
        raise ImportError(
            "compiling with IREE needs its compiler; install it with: "
            "pip install iree-base-compiler"
        ) from error
    return tools


def import_runtime():
    """Returns the module `iree.runtime`."""
    try:
        from iree import runtime
    except ImportError as error:
        raise ImportError(
            "running with IREE needs its runtime; install it with: pip install iree-base-runtime"
        ) from error
    return runtime
