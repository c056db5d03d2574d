"""The deferred engine of a process."""

import threading

_lock = threading.Lock()
_is_prepared = False


def prepare() -> None:
    """Does what the deferred engine needs once in a process. What may fail comes first, so
    that an error leaves PyTorch as it was."""
    global _is_prepared
    if _is_prepared:
        return
    with _lock:
        if not _is_prepared:
            from . import _exports, _kernels

            _kernels.start()
            _exports.watch()
            _is_prepared = True
