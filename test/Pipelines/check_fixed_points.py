"""Checks that canonicalization and CSE find nothing to do in what pipelines make of
the examples, the blocks of networks, and the programs of the benchmarks.

Usage: check_fixed_points.py FAD_OPT ROOT"""

import difflib
import pathlib
import re
import subprocess
import sys

SEPARATOR = "\n// -----\n"
POLICIES = ["auto", "fad", "recompute", "bp"]
SIZES = {
    "network": 56,
    "perceptron": 40,
    "blocks": 40,
    "chain": 20,
    "activations": 20,
    "wide": 20,
    "arguments": 10,
    "concatenation": 10,
}
CONSTANT = re.compile(r"\s*(%\w+) = (?:arith\.constant|llvm\.mlir\.constant)(.*)")


def read_programs(root):
    """The programs, with their names."""
    sys.path.insert(0, str(root / "benchmarks" / "programs"))
    import shapes

    paths = sorted(
        [
            *(root / "examples").rglob("*.mlir"),
            *(root / "test/Integration/blocks").glob("*.mlir"),
        ]
    )
    # Operations of tosa are lowered before fad-nest.
    texts = {path.stem: path.read_text() for path in paths if path.parent.name != "tosa"}
    return texts | {name: getattr(shapes, name)(size) for name, size in SIZES.items()}


def normalize(text):
    """The lines of `text` with constants in place of their names, which depend on
    their order; the constants of a function come before it, sorted."""
    values, lines, constants = {}, [], []
    for line in text.splitlines():
        if constant := CONSTANT.match(line):
            values[constant[1]] = f"<{constant[2]}>"
            constants.append(constant[2])
            continue
        if re.search(r"\bfunc @", line):
            values = {}
            lines += sorted(constants)
            constants = []
        lines.append(re.sub(r"%\w+", lambda name: values.get(name[0], name[0]), line))
    return lines + sorted(constants)


def main():
    fad_opt, root = sys.argv[1], pathlib.Path(sys.argv[2])
    programs = read_programs(root)
    # Code for processors is long, and the other policies leave operations of the same kinds.
    sample = dict(list(programs.items())[::4])
    failed = False

    def run(source, *passes):
        command = [fad_opt, "--split-input-file", *passes]
        result = subprocess.run(command, input=source, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"{command} failed:\n{result.stderr}")
        return result.stdout

    def check(stage, programs, output):
        nonlocal failed
        again = run(output, "--canonicalize", "--cse")
        pairs = zip(programs, output.split(SEPARATOR), again.split(SEPARATOR), strict=True)
        for name, before, after in pairs:
            change = list(
                difflib.unified_diff(normalize(before), normalize(after), lineterm="", n=1)
            )
            if change:
                failed = True
                print(f"{stage} of {name} leaves work:", *change[2:40], sep="\n")
        print(f"{stage}: {len(programs)} programs")

    source = SEPARATOR.join(programs.values())
    for policy in POLICIES:
        some = programs if policy in ("auto", "fad") else sample
        result = run(SEPARATOR.join(some.values()), f"--fad-nest=policy={policy}")
        check(f"fad-nest, {policy}", some, result)
    nested = run(source, "--fad-nest")
    check("fad-to-iree", programs, run(nested, "--fad-to-iree"))
    nested = SEPARATOR.join(nested.split(SEPARATOR)[::4])
    for pipeline in ["fad-to-cpu", "fad-to-cuda"]:
        check(pipeline, sample, run(nested, f"--{pipeline}"))
    sys.exit(failed)


if __name__ == "__main__":
    main()
