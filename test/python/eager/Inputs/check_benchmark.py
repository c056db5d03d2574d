"""Runs benchmarks/eager/eager_models.py on tiny models twice, in one process.

usage: check_benchmark.py BENCHMARKS JSON"""

import contextlib
import io
import json
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
import eager_models

file = pathlib.Path(sys.argv[2])


def run(*arguments):
    sys.argv = ["eager_models.py", "--quick", "--json", str(file), *arguments]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        eager_models.main()
    return text.getvalue()


run("--models", "mlp", "--methods", "composed", "nest-auto", "--repetitions", "2")
before = json.loads(file.read_text())["models"]["mlp"]["activations"]["gelu_new"]["steps"]
assert list(before) == ["composed", "nest-auto"], before
models = "--models", "mlp", "resnet-50", "--activations", "gelu_new", "gelu"
methods = "--methods", "composed", "checkpoint", "nest-auto"
run(*models, *methods, "--repetitions", "3")
# Batches by themselves, of kernels.
run(*models, "--methods", "defer-auto", "--figures", "batches", "--without-times")
print(run(*models, *methods, "defer-auto", "--repetitions", "3"), end="")
after = json.loads(file.read_text())["models"]["mlp"]["activations"]["gelu_new"]["steps"]
# Measurements stay as they were.
assert {name: after[name] for name in before} == before and "checkpoint" in after, after
