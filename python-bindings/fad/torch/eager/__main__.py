"""Builds the extension of fad.torch.nest, for the installed PyTorch, or for the one of a wheel:

python -m fad.torch.eager [FOLDER]

FOLDER is the folder `torch` of the wheel, of which the headers and version.py are enough."""

import pathlib
import sys

from . import build

if len(sys.argv) > 2 or (sys.argv[1:] and sys.argv[1].startswith("-")):
    print(__doc__)
    sys.exit(2)
print(build(*map(pathlib.Path, sys.argv[1:])))
