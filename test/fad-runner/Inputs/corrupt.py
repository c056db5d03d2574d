"""Changes a byte of each file of a folder, and notes what was there; with --check,
compares the files with that."""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
notes = folder.parent / "notes.json"
files = {path.name: path.read_bytes() for path in sorted(folder.glob("llvmcache-*"))}
if "--check" in sys.argv:
    assert {name: data.hex() for name, data in files.items()} == json.loads(notes.read_text())
else:
    notes.write_text(json.dumps({name: data.hex() for name, data in files.items()}))
    for name, data in files.items():
        middle = len(data) // 2
        changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        (folder / name).write_bytes(changed)
