"""Checks that the gradients of the feed-forward blocks stay finite when the
activations see infinities and values far out.

  check_extremes.py RUNNER EXAMPLES FOLDER [--every]

Without --every, of three blocks one is checked.
"""

import pathlib
import subprocess
import sys

import numpy

FAR_OUT = [88.0, -88.0, 1e4, -1e4, 1e19, -1e19]
# Where the derivative itself has a finite limit, which it has not for x * x
# (overflow) and sin(x) (none at infinity).
BEYOND = {
    "squared_relu": [],
    "unnamed": [3e38, -3e38],
}
EVERYTHING = [3e38, -3e38, numpy.inf, -numpy.inf]


def gradients(runner, file, values, out):
    """Gradients of x, b1 and b2 where hidden unit `j` sees `values[j]`."""
    out.mkdir(parents=True, exist_ok=True)
    inner = 3072
    b1 = numpy.resize(numpy.array(values, numpy.float32), inner)
    numpy.save(out / "b1.npy", b1)
    arguments = ["0", "random:1", f"{out}/b1.npy", "random:2", "0"]
    subprocess.run(
        [
            runner,
            file,
            "--policy=fad",
            "--size=1",
            *(f"--arg={argument}" for argument in arguments),
            f"--out={out}",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return {i: numpy.load(out / f"grad{i}.npy") for i in (0, 2, 4)}


def main(runner, folder, out, *every):
    for file in sorted(pathlib.Path(folder).glob("*.mlir"))[:: 1 if every else 3]:
        values = FAR_OUT + BEYOND.get(file.stem, EVERYTHING)
        found = gradients(runner, file, values, pathlib.Path(out) / file.stem)
        finite = all(numpy.isfinite(gradient).all() for gradient in found.values())
        print(f"{file.stem}: {'finite' if finite else 'not finite'}", flush=True)
        if not finite:
            for i, gradient in found.items():
                where = numpy.argwhere(~numpy.isfinite(gradient))
                print(f"  gradient {i}: {len(where)} elements, first at {where[:1]}")


main(*sys.argv[1:])
