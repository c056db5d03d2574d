# RUN: fad-opt --help-fad > %t && %fad_python %s %t
"""A wrong value of any option of any pass and pipeline of fad: the exception has the reason,
and nothing is printed."""

import os
import re
import sys
import tempfile

import fad

NAME = re.compile(r"^  (?:  )?--(fad-[\w-]+) ")
OPTION = re.compile(r"^ {4,}--([\w-]+)(=<\w+>)?(?:\s|$)")
REASON = {
    "no integer": r"is no integer(?: from 0 on)?",
    "bool": r"is neither true nor false",
    "name": r"is none of its values: [\w-]+(?:, [\w-]+)+",
    "bytes": r"which is no number of bytes; the units are .*",
}


def read_options(path):
    """The name of each pass or pipeline with each of its options that takes no text."""
    name = None
    for line in open(path):
        if found := NAME.match(line):
            name = found[1]
        elif name and (found := OPTION.match(line)) and found[2] != "=<string>":
            yield name, found[1]


def run(module, pipeline):
    """The message of the error, and what is printed."""
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            module.run(pipeline)
            message = "no error"
        except fad.Error as error:
            message = error.diagnostics[0].message
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        file.seek(0)
        return message, file.read()


def main():
    module = fad.parse(
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    )
    options = list(read_options(sys.argv[1]))
    assert len({name for name, _ in options}) > 10 and len(options) > 50, options
    for wanted in (
        ("fad-nest", "wrt"),
        ("fad-to-cpu", "vector-bits"),
        ("fad-check-calls", "limit"),
    ):
        assert wanted in options, wanted
    reason = "|".join(REASON.values())
    for name, option in options:
        message, printed = run(module, f"{name}{{{option}=?}}")
        assert not printed, (name, option, printed)
        assert re.search(rf": {option}: (?:the value is )?'\?',? (?:{reason})$", message), message
    print(f"{len(options)} options")


main()
