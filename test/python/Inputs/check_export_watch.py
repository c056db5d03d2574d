"""Classes of PyTorch that an export changes: in its own thread, and until it ends or fails."""

import linecache
import sys
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


def watch_is_whole():
    """Whether an export sees what it has to, and leaves all as it was."""
    found = describe()
    with GradientWatch():
        try:
            Double.apply(torch.ones(2))
            return False
        except NotExported:
            pass
        with torch.inference_mode():
            if torch.is_inference_mode_enabled():
                return False
    return describe() == found


# Another library has set the function before: it stays, and there is no export.
BASE.apply = classmethod(lambda cls, x: "other")
try:
    with GradientWatch():
        raise AssertionError("entered")
except NotExported as error:
    assert "another library of this process has replaced the apply" in str(error), error
assert Double.apply(torch.ones(2)) == "other" and describe()[1:] == before[1:]
del BASE.apply
assert watch_is_whole() and describe() == before

# Another library's function of inference_mode, from before, is called outside of the export alone.
calls = []


def count(function, name):
    def counted(*arguments):
        calls.append(name)
        return function(*arguments)

    return counted


INFERENCE.__enter__ = count(before[1], "before")
assert watch_is_whole() and calls == []
assert use_all() == ([2, 2], True) and calls == ["before"]
INFERENCE.__enter__ = before[1]

# Others set functions meanwhile, in front of the export's: these stay, and call PyTorch's.
with GradientWatch():
    own = vars(BASE)["apply"]
    BASE.apply = classmethod(lambda cls, *arguments: own.__func__(cls, *arguments))
    INFERENCE.__enter__ = count(INFERENCE.__enter__, "enter")
    INFERENCE.__exit__ = count(INFERENCE.__exit__, "exit")
    meanwhile = describe()
assert describe() == meanwhile
calls.clear()
assert use_all() == ([2, 2], True) and calls == ["enter", "exit"]
del BASE.apply
assert watch_is_whole() and describe()[1:] == meanwhile[1:]
calls.clear()
assert use_all() == ([2, 2], True) and calls == ["enter", "exit"]
INFERENCE.__enter__, INFERENCE.__exit__ = before[1:]

# An interrupt at each line of the export's beginning.
WATCH = GradientWatch.__enter__.__code__.co_filename


def enter_until(line):
    """Whether the beginning has more than `line` lines, at the last of which it is interrupted."""
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        if frame.f_code.co_filename != WATCH or frame.f_code.co_name not in BEGINNING:
            return None
        # Python leaves a block of `with` before it looks for an interrupt.
        line_text = linecache.getline(WATCH, frame.f_lineno).lstrip()
        if event == "line" and not line_text.startswith("with "):
            seen += 1
            if seen > line:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    watch = GradientWatch()
    sys.settrace(trace)
    try:
        watch.__enter__()
        sys.settrace(None)
        watch.__exit__(None, None, None)
        return False
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)


BEGINNING = ("__enter__", "watch", "_replace", "_set")
lines = 0
while enter_until(lines):
    assert describe() == before, lines
    lines += 1
assert lines > 10 and watch_is_whole() and use_all() == ([2, 2], True)
