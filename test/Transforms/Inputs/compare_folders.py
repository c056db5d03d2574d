"""Compares the results of a joint function, run as a whole and split.

usage: compare_folders.py (WHOLE SPLIT)...

Folders are written by `fad-runner --out`. The results of the whole are those of the
split function, followed by its gradients."""

import pathlib
import sys

import numpy


def load(folder):
    files = sorted(pathlib.Path(folder).glob("out*.npy"))
    files += sorted(pathlib.Path(folder).glob("grad*.npy"))
    return [numpy.load(file) for file in files]


def main():
    for whole, split in zip(sys.argv[1::2], sys.argv[2::2]):
        expected, got = load(whole), load(split)
        assert len(expected) == len(got) > 0, (whole, len(expected), len(got))
        for a, b in zip(got, expected):
            # Gradients of zeros everywhere would agree with anything broken.
            assert numpy.abs(b).max() > 0
            numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        print(f"{pathlib.Path(split).name}: {len(got)} arrays agree")


if __name__ == "__main__":
    main()
