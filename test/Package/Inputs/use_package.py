"""Uses the package `fad` that is installed in a folder."""

import importlib.metadata
import pathlib
import sys

import numpy as np

import fad

site = pathlib.Path(sys.argv[1]).resolve()
assert site in pathlib.Path(fad.__file__).resolve().parents, fad.__file__
assert importlib.metadata.version("fad-mlir") == fad.__version__

module = fad.parse("""func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {
      %y = math.tanh %x : tensor<?xf64>
      return %y : tensor<?xf64>
    }""")
nested = fad.nest(module)
x = np.linspace(-2, 2, 5)
y, *residuals = fad.run(nested, nested.forward, x)
(gradient,) = fad.run(nested, nested.backward, *residuals, np.ones(5))
np.testing.assert_allclose(gradient, 1 - np.tanh(x) ** 2, rtol=1e-14)

# The processor may lack what rounds f64 to 16 bits.
rounded = fad.parse("""func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {
      %y = arith.truncf %x : tensor<?xf64> to tensor<?xf16>
      %z = arith.extf %y : tensor<?xf16> to tensor<?xf32>
      %b = arith.truncf %x : tensor<?xf64> to tensor<?xbf16>
      %c = arith.extf %b : tensor<?xbf16> to tensor<?xf32>
      %s = arith.subf %z, %c : tensor<?xf32>
      %r = arith.extf %s : tensor<?xf32> to tensor<?xf64>
      return %r : tensor<?xf64>
    }""")
(difference,) = fad.run(rounded, "f", np.array([1 + 2**-9, 1 + 2**-7, 1 + 2**-8 + 2**-30]))
np.testing.assert_array_equal(difference, [2**-9, 0, 2**-8 - 2**-7])
