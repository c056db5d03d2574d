"""Damages the only entry of a cache: damage.py FOLDER HOW."""

import os
import pathlib
import sys

folder, how = sys.argv[1:]
(entry,) = pathlib.Path(folder).iterdir()
content = b"" if entry.is_dir() else bytearray(entry.read_bytes())
if how == "cut":
    entry.write_bytes(content[:-1])
elif how == "flip":
    content[-1] ^= 1
    entry.write_bytes(content)
elif how == "empty":
    entry.write_bytes(b"")
else:
    entry.rmdir() if entry.is_dir() else entry.unlink()
    os.mkdir(entry) if how == "folder" else os.mkfifo(entry)
