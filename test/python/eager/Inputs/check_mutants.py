"""Builds the extension of fad.torch.nest with errors, one each time, which random programs
have to find."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fad

# The subject of an error, its file, and the text there, without the error and with it.
MUTANTS = {
    "the derivative of an operator of numbers": (
        "interactive/Interactive.cpp",
        "return {held.factor, {}};",
        "return {2 * held.factor, {}};",
    ),
    "the derivative of a product": (
        "interactive/Interactive.cpp",
        "return at::addcmul_out(*place, term, a, b, number);",
        "return at::addcmul_out(*place, term, a, b, -number);",
    ),
    "constants that are modified": (
        "sequence/Steps.cpp",
        "return static_cast<uint32_t>(constant.tensor._version()) != constant.version;",
        "return constant.tensor._version() != constant.tensor._version();",
    ),
    "copies of overwritten memory": (
        "interception/Copies.cpp",
        "&& mayCopy(input, written))",
        "&& false && mayCopy(input, written))",
    ),
    "values with a hook": (
        "sequence/Value.cpp",
        "return hasHooks(*value->node) ? nullptr : value;",
        "return value;",
    ),
    "sequences of two sources": (
        "machine/StateMachine.cpp",
        "if (policy != Policy::Auto)\n    return false;",
        "if (policy != Policy::Auto)\n    return true;",
    ),
}


def main():
    check = pathlib.Path(__file__).with_name("check_random.py")
    package = pathlib.Path(fad.__file__).parent
    missed = 0
    for what, (name, text, error) in MUTANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "fad")
            shutil.copytree(package, copy, symlinks=False)
            source = copy / "torch/eager/csrc" / name
            original = source.read_text()
            if original.count(text) != 1:
                sys.exit(f"{name} has not one line {text!r}")
            source.write_text(original.replace(text, error))
            path = os.pathsep.join([folder, os.environ["PYTHONPATH"]])
            environment = {**os.environ, "PYTHONPATH": path, "FAD_CACHE_DIR": f"{folder}/cache"}
            command = [sys.executable, str(check), "--count", "500", "--failures", "1"]
            found = subprocess.run(command, env=environment, capture_output=True, text=True)
        counts = [line for line in found.stdout.splitlines() if " programs, " in line]
        if found.returncode < 0:
            counts.append(f"ended by signal {-found.returncode}")
        elif not counts:
            # An extension that cannot be built is no error of nest.
            sys.exit(f"{what}: {found.stderr}")
        is_found = found.returncode < 0 or any(", 0 wrong" not in line for line in counts)
        missed += not is_found
        print(f"{what}: {'; '.join(counts)}", flush=True)
    print(f"{len(MUTANTS)} errors, {missed} not found")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
