# RUN: env FAD_FAKE_CUDA=%fad_fake_cuda %torch_python %s
"""`python -m fad doctor`: what is there, missing and broken."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import fad
from fad import _doctor
from fad.__main__ import main

PACKAGES = [name for name, _, _ in _doctor._PACKAGES]


def run(*arguments, without=(), **environment):
    """The exit status and the output of the command, where packages are missing."""
    output = io.StringIO()
    hidden = {name: None for name in without}
    with (
        mock.patch.dict(sys.modules, hidden),
        mock.patch.dict(os.environ, environment),
        contextlib.redirect_stdout(output),
    ):
        status = main(["doctor", *arguments])
    return status, output.getvalue()


def examine(**options):
    """The checks by name, and the exit status. Packages are not imported."""
    status, output = run("--json", without=[*PACKAGES, "torch"], **options)
    data = json.loads(output)
    return {check["name"]: check for check in data["checks"]}, data["ok"], status


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_present(self):
        (self.folder / "kept").write_bytes(bytes(2**20))
        checks, is_ok, status = examine(FAD_CACHE_DIR=str(self.folder), FAD_CACHE_SIZE="0")
        self.assertEqual((is_ok, status), (True, 0))
        for name in ("fad", "LLVM", "processor", "compiled code", "Python", "numpy", "cache"):
            self.assertEqual(checks[name]["state"], "ok", checks[name])
        self.assertTrue(checks["fad"]["value"].startswith(f"{fad.__version__} in "))
        self.assertRegex(checks["LLVM"]["value"], r"^22\.1")
        self.assertEqual(checks["cache"]["value"], f"{self.folder}: 1 files, 1.0 MiB")

    def test_missing(self):
        checks, is_ok, _ = examine(
            PATH="/none",
            CXX="",
            FAD_CUDA_DRIVER="/none.so",
            FAD_ONEDNN_LIBRARY="",
            FAD_OPENBLAS_LIBRARY="/none.so",
        )
        self.assertTrue(is_ok)
        expected = {
            "oneDNN or OpenBLAS": "large products of matrices take longer: apt-get install "
            "libdnnl2, or libopenblas0-openmp",
            "ml_dtypes": "arrays of bfloat16 cannot be passed: pip install ml_dtypes",
            "PyTorch": "torch.compile(backend='fad') and fad.torch are not there: pip install "
            "torch",
            "C++ compiler": "none of c++, g++, clang++ is there, so the extension of "
            "fad.torch.nest cannot be built: apt-get install g++, or set CXX",
            "CUDA driver": "kernels cannot be launched here: install NVIDIA's driver where "
            "there is a GPU",
        }
        for name, advice in expected.items():
            self.assertEqual((checks[name]["state"], checks[name]["advice"]), ("missing", advice))

    def test_broken(self):
        file = self.folder / "file"
        file.write_text("")
        with mock.patch.object(_doctor, "run", side_effect=OSError("no memory")):
            checks, is_ok, status = examine(FAD_CACHE_DIR=str(file / "cache"))
        self.assertEqual((is_ok, status), (False, 1))
        self.assertEqual(checks["cache"]["state"], "broken")
        self.assertEqual(
            checks["cache"]["advice"],
            "what is built is not kept: set FAD_CACHE_DIR to a folder that can be written",
        )
        self.assertEqual(checks["compiled code"]["state"], "broken")
        self.assertEqual(checks["compiled code"]["value"], "OSError: no memory")

    def test_missing_dependency(self):
        # The packages are there, and what they import is not.
        (self.folder / "torch_mlir.py").write_text("import no_such_module")
        (self.folder / "torch.py").write_text("import no_such_module.inner")
        path = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-m", "fad", "doctor", "--json"],
            env={**os.environ, "PYTHONPATH": path},
            text=True,
            capture_output=True,
        )
        self.assertEqual(done.returncode, 1)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        for name, cost in (
            ("torch-mlir", "PyTorch models cannot be exported (fad.torch.export)"),
            ("PyTorch", "torch.compile(backend='fad') and fad.torch are not there"),
        ):
            package = name if name != "PyTorch" else "torch"
            self.assertEqual(checks[name]["state"], "broken")
            self.assertEqual(checks[name]["value"], "No module named 'no_such_module'")
            advice = f"{cost}: pip install --force-reinstall {package}"
            self.assertEqual(checks[name]["advice"], advice)

    def test_libraries(self):
        checks, _, _ = examine()
        found = checks["oneDNN or OpenBLAS"]
        # The remark of this process's compiler about a product of matrices.
        module = fad.parse(
            "func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2x2xf32>) -> "
            "tensor<2x2xf32> { %r = linalg.matmul ins(%a, %b : tensor<2x2xf32>, "
            "tensor<2x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32> "
            "return %r : tensor<2x2xf32> }"
        )
        if found["state"] == "ok":
            self.assertRegex(found["value"], r"^(oneDNN \d+\.\d+\.\d+|OpenBLAS \d+\.\d+)")
            fad.compile(module, contractions="library")
        else:
            with self.assertRaisesRegex(fad.Error, "neither oneDNN .* nor OpenBLAS"):
                fad.compile(module, contractions="library")

    def test_cache_where_nobody_writes(self):
        checks, is_ok, _ = examine(FAD_CACHE_DIR="/proc/none")
        self.assertEqual(checks["cache"]["state"], "broken")
        self.assertEqual(checks["cache"]["value"], "/proc/none cannot be written")
        self.assertFalse(is_ok)

    def test_library_that_is_no_driver(self):
        checks, is_ok, _ = examine(FAD_CUDA_DRIVER="libm.so.6")
        self.assertEqual(
            checks["CUDA driver"],
            {
                "name": "CUDA driver",
                "state": "broken",
                "value": "libm.so.6 has no function cuInit",
                "advice": "this is no CUDA driver: unset FAD_CUDA_DRIVER, or set it to "
                "libcuda.so.1",
            },
        )
        self.assertIn("CUDA toolkit", checks)
        self.assertFalse(is_ok)

    def test_driver(self):
        checks, _, _ = examine(FAD_CUDA_DRIVER=os.environ["FAD_FAKE_CUDA"])
        self.assertEqual(checks["CUDA driver"]["state"], "ok")
        self.assertRegex(checks["CUDA driver"]["value"], r"^CUDA \d+\.\d, devices: 1$")

    def test_text(self):
        # As it is, with all packages that there are.
        command = [sys.executable, "-m", "fad", "doctor"]
        output = subprocess.run(command, text=True, capture_output=True, check=True).stdout
        self.assertRegex(output, r"(?m)^ok +compiled code +runs$")
        for name, package, _ in _doctor._PACKAGES:
            self.assertRegex(output, rf"(?m)^(ok|missing) +{package}( |$)")

    def test_version(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), self.assertRaises(SystemExit):
            main(["--version"])
        self.assertEqual(output.getvalue(), f"fad {fad.__version__}\n")


if __name__ == "__main__":
    unittest.main()
