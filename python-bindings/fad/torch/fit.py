"""Runs `python -m fad.torch.fit`: whether a model of transformers fits in a memory.

`fad.torch.fit` is a function. Who imports the module of this name gets the function, too."""

import sys

from ._fit import fit

if __name__ == "__main__":
    from ._fit.command import main

    sys.exit(main())

sys.modules[__name__] = fit  # type: ignore[assignment]
