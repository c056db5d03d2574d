"""Python's collections of garbage, within which no tensor gets a further owner."""

import ctypes
import gc
import os
import time
from typing import Any

#: What the extension has the address of.
_kept: list[Any] = []


def watch(library: ctypes.PyDLL) -> None:
    """Tells the extension when a thread collects, and gives it a function that makes a
    strong reference of a weak one (csrc/sequence/Weak.h)."""

    def note(phase: str, _: object) -> None:
        library.fad_eager_note_collection(phase == "start")

    def lock(lookup: int) -> None:
        while not library.fad_eager_try_lock(lookup):
            time.sleep(1e-4)

    library.fad_eager_try_lock.argtypes = [ctypes.c_void_p]
    library.fad_eager_set_locker.argtypes = [ctypes.c_void_p]
    locker = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lock)
    library.fad_eager_set_locker(locker)
    _kept.append(locker)
    gc.callbacks.append(note)
    # The thread that collected is not there.
    os.register_at_fork(after_in_child=lambda: note("stop", None))
