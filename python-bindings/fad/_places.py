"""Where things of this machine are."""

import os
import pathlib
import shutil


def cache_folder() -> pathlib.Path:
    """Returns where what is built at its first use is kept: the folder FAD_CACHE_DIR, or `fad` in
    the user's cache."""
    if folder := os.environ.get("FAD_CACHE_DIR"):
        return pathlib.Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "fad"


def name_compilers() -> list[str]:
    """Returns the C++ compilers that are tried: that of the environment variable CXX, or else the
    usual names."""
    return [os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]


def find_compiler() -> str | None:
    """Returns the path of a C++ compiler."""
    return next(filter(None, map(shutil.which, name_compilers())), None)
