"""Effects of a model in Python that the program exported from it would not have."""

import threading

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
        _classes.watch()
        try:
            return super().__enter__()
        except BaseException:
            _classes.unwatch()
            raise

    def __exit__(self, *error):
        try:
            return super().__exit__(*error)
        finally:
            _classes.unwatch()


class _Classes:
    """Calls of `autograd.Function.apply` and `torch.inference_mode`, which no mode of PyTorch's
    sees: a torch function mode that did would replace this. The classes have other functions
    while any thread watches, also those that a model has kept; other threads' calls go on to
    PyTorch's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers = 0
        self._thread = threading.local()
        self.enter, self.exit = _Inference.__enter__, _Inference.__exit__

    def is_watched(self) -> bool:
        """Whether this thread watches."""
        return getattr(self._thread, "depth", 0) > 0

    def watch(self) -> None:
        with self._lock:
            if not self._watchers:
                self.enter, self.exit = _Inference.__enter__, _Inference.__exit__
                SingleLevelFunction.apply = classmethod(_apply)
                _Inference.__enter__, _Inference.__exit__ = _enter, _exit
            self._watchers += 1
        self._thread.depth = getattr(self._thread, "depth", 0) + 1

    def unwatch(self) -> None:
        self._thread.depth -= 1
        with self._lock:
            self._watchers -= 1
            if not self._watchers:
                del SingleLevelFunction.apply
                _Inference.__enter__, _Inference.__exit__ = self.enter, self.exit


_classes = _Classes()


def _apply(cls, *args, **kwargs):
    if _classes.is_watched() and not cls.__module__.startswith("torch."):
        raise NotExported(
            f"the backward of {cls.__name__}, a torch.autograd.Function, is "
            "not exported; write it with differentiable operations and detach()"
        )
    return super(SingleLevelFunction, cls).apply(*args, **kwargs)


def _enter(self) -> None:
    """Enters `torch.inference_mode` as a mode that is traced."""
    if not _classes.is_watched():
        return _classes.enter(self)
    self._fad_mode = torch.set_grad_enabled(not self.mode)
    self._fad_mode.__enter__()


def _exit(self, *error) -> None:
    mode = vars(self).pop("_fad_mode", None)
    if mode is None:
        return _classes.exit(self, *error)
    mode.__exit__(*error)


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
