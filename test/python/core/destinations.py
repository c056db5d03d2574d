# RUN: %fad_python %s %mlir_lib_dir/../include/mlir/Dialect %fad_obj_root/include/fad/IR \
# RUN:   %if nightly %{ --every %}
"""Sizes of destinations are checked before a function runs.

Every operation that writes into a tensor is here: the names come from the headers of
the installed LLVM and of the dialect, and one that is missing is an error. Compiled
for dynamic sizes, it gets destinations that are too small and too large by one, along
each dimension. Upstream's verifier, given the same sizes as types, says which of
them fit. By day, one in three of the named operations of linalg is compiled, which share
their conditions, and in check-fad-nightly each.
"""

import itertools
import os
import re
import sys
import unittest
from dataclasses import replace

import numpy as np

import fad

sys.path[:0] = [
    os.path.join(os.path.dirname(__file__), folder) for folder in ("Inputs", "../../Transforms")
]
import named_ops  # noqa: E402
from destination_programs import MESSAGE, NESTED, PROGRAMS  # noqa: E402

HEADERS = [
    "Bufferization/IR/BufferizationOps.h.inc",
    "Linalg/IR/LinalgOps.h.inc",
    "Linalg/IR/LinalgRelayoutOps.h.inc",
    "Linalg/IR/LinalgStructuredOps.h.inc",
    "SCF/IR/SCFOps.h.inc",
    "Tensor/IR/TensorOps.h.inc",
    "Vector/IR/VectorOps.h.inc",
]
# Of vectors or buffers alone, or with a `dest` that is the result.
WITHOUT_DESTINATION = {
    "bufferization.dealloc_tensor",
    "tensor.bitcast",
    "tensor.cast",
    "vector.compressstore",
    "vector.from_elements",
    "vector.insert",
    "vector.insert_strided_slice",
    "vector.maskedstore",
    "vector.multi_reduction",
    "vector.reduction",
    "vector.scalable.insert",
    "vector.scan",
    "vector.store",
}
# Compiled for static sizes, which upstream verifies, or not at all.
REFUSED = {
    "linalg.winograd_filter_transform": "expect filter height either equals to r or 1",
    "linalg.winograd_input_transform": "was not bufferized",
    "linalg.winograd_output_transform": "was not bufferized",
}


def find_names(dialects, own):
    """The operations that have a destination, or write by their name."""
    names = set()
    paths = [os.path.join(dialects, header) for header in HEADERS]
    for path in [*paths, os.path.join(own, "FadOps.h.inc")]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for found in re.finditer(r"\nclass \w+ : public ::mlir::Op<(.*?)\n\};", text, re.S):
            name = re.search(r'StringLiteral\("([a-z0-9_.]+)"\)', found[1])[1]
            traits = found[1].split("{")[0]
            if (
                "DestinationStyleOpInterface" in traits
                or re.search(r"\bgetDest\(\)", found[1])
                or re.search("insert|scatter|store|write", name)
            ):
                names.add(name)
    return names - WITHOUT_DESTINATION


def get_case(name):
    """The first case of a named operation of linalg, with elements of a type that
    it takes."""
    case = named_ops.CASES.get(name) or named_ops.convolution(name)
    return case[0] if case else named_ops.UNSUPPORTED[name][0]


class Sized:
    """A named operation for the sizes of `case`."""

    def __init__(self, name):
        self.case = get_case(name)
        self.type = "i32" if name.endswith("unsigned") else "f64"

    def parse(self, case, dynamic):
        text = named_ops.build_function([case], dynamic)
        return fad.parse(text.replace("f64", self.type))

    def get_arrays(self, case):
        # No integer divides by zero.
        return [
            array if self.type == "f64" else np.ones(array.shape, np.int32)
            for array in case.arrays()
        ]

    def fits(self, case):
        """Returns the message of upstream's verifier about static sizes."""
        try:
            self.parse(case, False)
        except fad.Error:
            return False
        return True

    def get_others(self):
        """The case with each size of the destination less or greater by one."""
        shapes = self.case.shapes
        for dim, step in itertools.product(range(len(shapes[-1])), (-1, 1)):
            sizes = list(shapes[-1])
            sizes[dim] += step
            yield replace(self.case, shapes=[*shapes[:-1], sizes])


class Destinations(unittest.TestCase):
    dialects = own = None
    every = False

    def call(self, executable, name, arguments):
        """Returns the message about the arguments, or nothing."""
        try:
            executable.call(name, *arguments)
        except fad.Error as error:
            return str(error)
        return None

    def get_named(self):
        return [
            name
            for name in sorted(find_names(self.dialects, self.own))
            if name not in PROGRAMS and name not in REFUSED
        ]

    def check_sized(self, sized, executable, function, message):
        self.assertIsNone(
            self.call(executable, function, sized.get_arrays(sized.case)), sized.case.text
        )
        for case in sized.get_others():
            said = self.call(executable, function, sized.get_arrays(case))
            with self.subTest(operation=case.text, shapes=case.shapes):
                if sized.fits(case):
                    self.assertIsNone(said)
                else:
                    self.assertIn(message, said or "")

    def test_list(self):
        names = find_names(self.dialects, self.own)
        self.assertGreater(len(names), 100)
        # Each operation of the lists is still there.
        self.assertEqual((set(PROGRAMS) | set(REFUSED)) - names - {"linalg.generic"}, set())
        for name in self.get_named():
            self.assertTrue(name.startswith("linalg."), f"{name} has no program here")

    def test_named(self):
        for name in self.get_named()[:: 1 if self.every else 3]:
            sized = Sized(name.removeprefix("linalg."))
            executable = fad.compile(sized.parse(sized.case, True))
            self.check_sized(sized, executable, "f", MESSAGE)

    def test_programs(self):
        for name, programs in PROGRAMS.items():
            for program in programs:
                executable = fad.compile(fad.parse(program.text))
                self.assertIsNone(self.call(executable, "f", program.good), name)
                for number, arguments in enumerate(program.wrong):
                    with self.subTest(name, number=number):
                        self.assertIn(program.message, self.call(executable, "f", arguments) or "")

    def test_nested(self):
        """Forward has the same conditions, but for the destination of an elementwise
        operation, which it does not have; a sample of all, if not every one is asked for."""
        operations = [Sized(name.removeprefix("linalg.")) for name in self.get_named()]
        operations = [
            sized
            for sized in operations
            if sized.type == "f64" and sized.case.shapes[-1] != sized.case.shapes[0]
        ]
        for sized in operations if self.every else operations[::16]:
            nested = fad.nest(sized.parse(sized.case, True), policy="fad")
            executable = fad.compile(nested.module)
            self.check_sized(sized, executable, "f_forward", MESSAGE)

    def test_nested_programs(self):
        for name in sorted(NESTED):
            for program in PROGRAMS[name]:
                nested = fad.nest(fad.parse(program.text), policy="fad")
                executable = fad.compile(nested.module)
                self.assertIsNone(self.call(executable, "f_forward", program.good), name)
                for number, arguments in enumerate(program.wrong):
                    with self.subTest(name, number=number):
                        self.assertIsNotNone(self.call(executable, "f_forward", arguments))

    def test_refused(self):
        for name, message in REFUSED.items():
            case = get_case(name.removeprefix("linalg."))
            with self.assertRaisesRegex(fad.Error, f"'{name}' op {message}"):
                fad.compile(fad.parse(named_ops.build_function([case], True)))


if __name__ == "__main__":
    Destinations.dialects, Destinations.own, *options = sys.argv[1:]
    Destinations.every = options == ["--every"]
    unittest.main(argv=sys.argv[:1])
