"""The paper's experiment where a GPU has little memory: a substitute tells its size, and one method
is out of memory, which leaves out that method alone.

usage: check_paper.py BENCHMARKS JSON"""

import sys
from unittest import mock

import torch

sys.path[:0] = [f"{sys.argv[1]}/{part}" for part in ("eager", "common")]
import eager_methods
import paper

small = mock.Mock(total_memory=8 << 30)
with mock.patch.object(torch.cuda, "get_device_properties", return_value=small):
    paper.check_memory(8, "cuda")
    paper.check_memory(11, "cpu")
    try:
        paper.check_memory(11, "cuda")
    except SystemExit as end:
        print(end.code, file=sys.stderr)

compile_form = eager_methods.compile


def compile_little(form):
    if fails.pop():
        raise torch.OutOfMemoryError("out of memory, as a test has it")
    compile_form(form)


fails = [False, True]
sys.argv[1:] = [
    "--quick", "--device", "cpu", "--repetitions", "2", "--models", "bert-base",
    "--activations", "gelu", "--memory", "0.004", "--json", sys.argv[2],
    "--methods", "composed", "checkpoint",
]  # fmt: skip
with mock.patch.object(eager_methods, "compile", compile_little):
    paper.main()
