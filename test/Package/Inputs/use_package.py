"""Uses the package `fad` that is installed in a folder."""

import importlib.metadata
import pathlib
import sys

import numpy as np

import fad

site = pathlib.Path(sys.argv[1]).resolve()
assert site in pathlib.Path(fad.__file__).resolve().parents, fad.__file__
assert importlib.metadata.version("fad") == fad.__version__

module = fad.parse("""func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {
      %y = math.tanh %x : tensor<?xf64>
      return %y : tensor<?xf64>
    }""")
nested = fad.nest(module)
x = np.linspace(-2, 2, 5)
y, *residuals = fad.run(nested, nested.forward, x)
(gradient,) = fad.run(nested, nested.backward, *residuals, np.ones(5))
np.testing.assert_allclose(gradient, 1 - np.tanh(x) ** 2, rtol=1e-14)
