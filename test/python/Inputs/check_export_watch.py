"""Classes of PyTorch that an export changes: in its own thread, and until it ends or fails."""

import threading

import torch
from fad.torch._export.watch import GradientWatch, NotExported
from torch.overrides import TorchFunctionMode

BASE, INFERENCE = torch.autograd.function._SingleLevelFunction, torch.inference_mode


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return 2 * x

    @staticmethod
    def backward(context, gradient):
        return 2 * gradient


def describe():
    return vars(BASE).get("apply"), INFERENCE.__enter__, INFERENCE.__exit__


def run_in_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def use_all():
    x = torch.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    with torch.inference_mode():
        return x.grad.tolist(), torch.is_inference_mode_enabled()


before = describe()
with GradientWatch():
    assert run_in_thread(use_all) == ([2, 2], True)
    # Two at once, of which the first ends first.
    ended, other = threading.Event(), threading.Event()

    def watch():
        with GradientWatch():
            other.set()
            ended.wait()
            return describe() != before

    thread_result = []
    thread = threading.Thread(target=lambda: thread_result.append(watch()))
    thread.start()
    other.wait()
    try:
        Double.apply(torch.ones(2))
    except NotExported as error:
        assert "backward of Double" in str(error), error
    else:
        raise AssertionError("the function was exported")
    with torch.inference_mode():
        assert not torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
ended.set()
thread.join()
assert thread_result == [True]
assert describe() == before

# One that fails before it begins.
enter = TorchFunctionMode.__enter__
TorchFunctionMode.__enter__ = lambda self: 1 / 0
try:
    with GradientWatch():
        raise AssertionError("entered")
except ZeroDivisionError:
    pass
finally:
    TorchFunctionMode.__enter__ = enter
assert describe() == before
assert use_all() == ([2, 2], True)
