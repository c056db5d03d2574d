"""Effects of a model in Python that the program exported from it would not have."""

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch.nn.functional as functional
from torch.overrides import TorchFunctionMode

from .._decompositions.surrogates import gaussian_nll_loss
from .._pytorch import (
    SingleLevelFunction,
    has_hooks_on_all_gradients,
    has_hooks_on_gradients,
    tree_leaves,
)
from .._requirements import torch

_Inference = torch.inference_mode


class NotExported(Exception):
    """A model does what its exported program would leave out."""


class CaptureWatch(TorchFunctionMode):
    """Refuses tensors that require a gradient and do not belong to the model:
    they would be constants. While a model is traced, its own are no plain
    tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        is_watched = torch.is_grad_enabled()
        # Dynamo traces the branches of torch.cond with tensors of its own.
        is_watched = is_watched and not torch.compiler.is_dynamo_compiling()
        for each in tree_leaves((args, kwargs)) if is_watched else ():
            if type(each) in (torch.Tensor, torch.nn.Parameter) and each.requires_grad:
                raise NotExported(
                    f"a tensor of shape {tuple(each.shape)} that requires a gradient "
                    "is neither an input nor reached as a parameter of the model; "
                    "use it as an attribute of the model or of one of its modules, "
                    "or detach it to make it a constant"
                )
        return function(*args, **kwargs)


_HOOKS = (
    torch.Tensor.register_hook,
    torch.Tensor.register_post_accumulate_grad_hook,
)


class GradientWatch(CaptureWatch):
    """Refuses gradients that are not those of the values, too, and shows the tracer
    what PyTorch does not: `.data`, and `torch.inference_mode()`."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _HOOKS:
            raise NotExported(
                "a hook on a gradient is not exported; change the gradients after the step instead"
            )
        if function == torch.Tensor.data.__get__:
            return args[0].detach()
        if function == torch.Tensor.data.__set__:
            raise NotExported(
                "what is assigned to .data is not exported; change buffers in place, "
                "under torch.no_grad()"
            )
        if function is functional.gaussian_nll_loss:
            function = gaussian_nll_loss
        return super().__torch_function__(function, types, args, kwargs)

    def __enter__(self):
        try:
            _classes.watch(self)
            return super().__enter__()
        except BaseException:
            _classes.unwatch(self)
            raise

    def __exit__(self, *error):
        try:
            return super().__exit__(*error)
        finally:
            _classes.unwatch(self)


class _Classes:
    """Calls of `autograd.Function.apply` and `torch.inference_mode`, which no mode of PyTorch's
    sees: a torch function mode that did would replace this. The classes have other functions
    while any thread watches, also those that a model has kept; other threads' calls go on to
    those before. What another library sets meanwhile stays."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers: set[GradientWatch] = set()
        self._thread = threading.local()
        # The classes, names and functions that are replaced, and what is there instead.
        self._replaced: list[tuple[type, str, Any, Any]] = []

    def _find_own(self) -> set[GradientWatch]:
        """Returns the watchers of this thread."""
        return vars(self._thread).setdefault("watchers", set())

    def is_watched(self) -> bool:
        """Tells whether this thread watches."""
        return bool(self._find_own())

    def watch(self, watcher: GradientWatch) -> None:
        """Watches for `watcher`. `unwatch` follows, after an error or an interrupt as well."""
        with self._lock:
            is_first = not self._watchers
            self._watchers.add(watcher)
            self._find_own().add(watcher)
            if is_first:
                self._replace()

    def unwatch(self, watcher: GradientWatch) -> None:
        with self._lock:
            self._find_own().discard(watcher)
            self._watchers.discard(watcher)
            if not self._watchers:
                self._restore()

    def _replace(self) -> None:
        if "apply" in vars(SingleLevelFunction):
            raise NotExported(
                "another library of this process has replaced the apply of all "
                "torch.autograd.Function, which an export has to see; export in another process"
            )
        enter, exit = _Inference.__enter__, _Inference.__exit__
        self._set(SingleLevelFunction, "apply", None, classmethod(_apply))
        self._set(_Inference, "__enter__", enter, _make_enter(enter))
        self._set(_Inference, "__exit__", exit, _make_exit(exit))

    def _set(self, owner: type, name: str, before: Any, function: Any) -> None:
        self._replaced.append((owner, name, before, function))
        setattr(owner, name, function)

    def _restore(self) -> None:
        while self._replaced:
            owner, name, before, function = self._replaced[-1]
            if vars(owner).get(name) is function:
                if before:
                    setattr(owner, name, before)
                else:
                    delattr(owner, name)
            self._replaced.pop()


_classes = _Classes()


def _apply(cls, *args, **kwargs):
    if _classes.is_watched() and not cls.__module__.startswith("torch."):
        raise NotExported(
            f"the backward of {cls.__name__}, a torch.autograd.Function, is "
            "not exported; write it with differentiable operations and detach()"
        )
    return super(SingleLevelFunction, cls).apply(*args, **kwargs)


def _make_enter(enter: Callable[..., None]) -> Callable[..., None]:
    """Enters `torch.inference_mode` as a mode that is traced, or as `enter` does."""

    @functools.wraps(enter)
    def enter_traced(self) -> None:
        if not _classes.is_watched():
            return enter(self)
        self._fad_mode = torch.set_grad_enabled(not self.mode)
        self._fad_mode.__enter__()

    return enter_traced


def _make_exit(exit: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(exit)
    def exit_traced(self, *error) -> None:
        mode = vars(self).pop("_fad_mode", None)
        if mode is None:
            return exit(self, *error)
        mode.__exit__(*error)

    return exit_traced


def check_hooks(model) -> None:
    """Raises NotExported where modules or parameters of `model` have hooks on
    gradients."""
    if has_hooks_on_all_gradients():
        raise NotExported(
            "a hook on the gradients of all modules is not exported; remove it and "
            "change the gradients after the step instead"
        )
    parts = [*model.named_modules(), *model.named_parameters()]
    for name, part in parts:
        if has_hooks_on_gradients(part):
            raise NotExported(
                f"{name or 'the model'!r} has a hook on its gradient, which is not "
                "exported; remove it and change the gradients after the step instead"
            )
