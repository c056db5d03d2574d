# RUN: %fad_python %s
"""Compiling leaves the handlers of signals as they were."""

import os
import signal
import tempfile

os.environ["FAD_CACHE_DIR"] = tempfile.mkdtemp()
received = []
signal.signal(signal.SIGUSR1, lambda *_: received.append(True))

import fad  # noqa: E402

fad.compile(
    fad.parse("""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.addf %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }""")
)
assert os.listdir(os.path.join(os.environ["FAD_CACHE_DIR"], "code")), "nothing was kept"
os.kill(os.getpid(), signal.SIGUSR1)
assert received, "the handler of SIGUSR1 was not called"
