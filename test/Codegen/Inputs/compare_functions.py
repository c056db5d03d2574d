"""Runs functions of two files on the same arguments and compares the results.

usage: compare_functions.py FAD_RUNNER FILE FILE FOLDER FUNCTION...

Each function has one result. Dynamic sizes are 1 in both. Exits with 1 where a
result differs by more than rounding of f32.
"""

import os
import subprocess
import sys

import numpy as np


def run(runner, path, function, folder):
    os.makedirs(folder, exist_ok=True)
    command = [runner, path, f"--entry={function}", "--size=1", f"--out={folder}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.load(os.path.join(folder, "out0.npy"))


def main():
    runner, first, second, folder, *functions = sys.argv[1:]
    failed = False
    for function in functions:
        results = [
            run(runner, path, function, os.path.join(folder, f"{function}{index}"))
            for index, path in enumerate([first, second])
        ]
        if results[0].shape != results[1].shape or not np.allclose(*results, rtol=1e-5, atol=1e-5):
            print(f"{function}: {results[0]} became {results[1]}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
