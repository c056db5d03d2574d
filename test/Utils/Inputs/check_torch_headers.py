"""Checks utils/torch-headers.py without downloads.

Usage: check_torch_headers.py SCRIPT FOLDER"""

import importlib.util
import pathlib
import sys
import zipfile

import torch

script, folder = map(pathlib.Path, sys.argv[1:])
spec = importlib.util.spec_from_file_location("torch_headers", script)
headers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(headers)
downloads = []


def download(release, to):
    downloads.append(release)
    with zipfile.ZipFile(to / f"torch-{release}-cp312-none-any.whl", "w") as wheel:
        for name in ("include/c10/a.h", "version.py", "lib/libtorch.so", "nn/__init__.py"):
            wheel.writestr(f"torch/{name}", name)


headers.download = download
installed = pathlib.Path(torch.__file__).parent
assert headers.find_headers(torch.__version__.partition("+")[0], folder) == installed
assert not downloads and not list(folder.iterdir())

# Headers and version.py are unpacked, once, and nothing else stays.
for _ in range(2):
    found = headers.find_headers("1.2.3", folder)
    names = {path.relative_to(found).as_posix() for path in found.rglob("*") if path.is_file()}
    assert names == {"include/c10/a.h", "version.py"}, names
assert downloads == ["1.2.3"]
assert [path.name for path in folder.iterdir()] == ["1.2.3"]
print("all checks passed")
