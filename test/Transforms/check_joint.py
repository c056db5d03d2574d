"""Checks that a joint function, split under each policy, gives the gradients that it
gives as a whole. With --extremes, arguments have infinities, NaN, zeros and tiny
numbers among them; an element that is NaN as a whole may then be anything."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

POLICIES = ("bp", "recompute", "fad", "auto")
# Of the files; numpy has no bf16.
DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "float32"}
# Errors relative to the greatest element of a tensor, or to each element.
BOUNDS = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-2, "bf16": 8e-2}
EXTREMES = (numpy.inf, -numpy.inf, numpy.nan, 0.0, -0.0, 1e-30, -3.0, 3.0)


def call(tool, *arguments):
    done = subprocess.run(
        [tool, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{tool} {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def get_element(text):
    """The element type of a tensor type."""
    return text[len("tensor<") : -1].split("x")[-1]


def make_arguments(types, folder, size, extremes):
    random = numpy.random.default_rng(0)
    paths = []
    for number, text in enumerate(types):
        shape = text[len("tensor<") : -1].split("x")[:-1]
        values = random.normal(size=[size if s == "?" else int(s) for s in shape])
        if extremes:
            chosen = random.random(values.shape) < 0.5
            values = numpy.where(
                chosen, random.choice(EXTREMES, values.shape), values
            )
        element = get_element(text)
        values = values > 0 if element == "i1" else values.astype(DTYPES[element])
        paths.append(folder / f"arg{number}.npy")
        numpy.save(paths[-1], values)
    return paths


def run(tools, file, entry, paths, folder):
    """The results of `entry`, as files."""
    folder.mkdir()
    listed = [f"--arg={path}" for path in paths]
    call(f"{tools}/fad-runner", file, f"--entry={entry}", f"--out={folder}", *listed)
    count = len(list(folder.glob("out*.npy")))
    return [folder / f"out{number}.npy" for number in range(count)]


def compare(what, got, expected, element, extremes):
    got, expected = numpy.load(got), numpy.load(expected)
    finite = numpy.isfinite(expected)
    wrong = ~finite & ~numpy.isnan(expected) & (got != expected)
    # One element of several magnitudes says nothing about the others.
    scale = numpy.abs(expected, where=finite, out=numpy.zeros(expected.shape))
    scale = numpy.maximum(scale, 1e-30) if extremes else scale.max(initial=0)
    with numpy.errstate(invalid="ignore"):
        wrong |= finite & ~(numpy.abs(got - expected) <= BOUNDS[element] * scale)
    if wrong.any():
        sys.exit(
            f"{what}: {got[wrong][:5]} instead of {expected[wrong][:5]} at "
            f"{numpy.argwhere(wrong)[:5].tolist()}"
        )


def check(options, entry, folder):
    marked = folder / "marked.mlir"
    opt = f"{options.tools}/fad-opt"
    mark = f"entry={entry} {options.mark}"
    call(opt, options.file, f"--fad-mark-joint={mark}", "-o", marked)
    header = re.search(rf"func.func @{entry}\((.*)", marked.read_text())[1]
    arguments, results = header.split(") -> (")
    pattern = r"(tensor<[^>]*>)( \{fad)?"
    arguments, results = re.findall(pattern, arguments), re.findall(pattern, results)
    types = [type for type, _ in arguments]
    paths = make_arguments(types, folder, options.size, options.extremes)
    whole = run(options.tools, marked, entry, paths, folder / "whole")
    primal = [path for path, (_, mark) in zip(paths, arguments) if not mark]
    cotangents = [path for path, (_, mark) in zip(paths, arguments) if mark]
    expected = [(p, get_element(t)) for p, (t, mark) in zip(whole, results) if not mark]
    gradients = [(p, get_element(t)) for p, (t, mark) in zip(whole, results) if mark]
    for policy in POLICIES:
        nested = folder / f"{policy}.mlir"
        nest = f"entry={entry} policy={policy} {options.mark}"
        call(opt, options.file, f"--fad-nest={nest}", "-o", nested)
        tools = options.tools
        forward = run(tools, nested, f"{entry}_forward", primal, folder / f"{policy}_f")
        inputs = forward[len(expected) :] + cotangents
        backward = run(
            tools, nested, f"{entry}_backward", inputs, folder / f"{policy}_b"
        )
        pairs = [*zip(forward, expected), *zip(backward, gradients, strict=True)]
        for number, (got, (path, element)) in enumerate(pairs):
            what = f"{entry}, policy {policy}, result {number}"
            compare(what, got, path, element, options.extremes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("entries", nargs="+")
    parser.add_argument("--tools", required=True)
    parser.add_argument("--mark", default="", help="options of fad-mark-joint")
    parser.add_argument("--size", type=int, default=7)
    parser.add_argument("--extremes", action="store_true")
    options = parser.parse_args()
    for entry in options.entries:
        with tempfile.TemporaryDirectory() as folder:
            check(options, entry, pathlib.Path(folder))
        print(f"{entry}: equal")


if __name__ == "__main__":
    main()
