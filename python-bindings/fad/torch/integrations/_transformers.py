"""A callback of transformers' Trainer, and of those that are built on it, such as TRL's."""

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ._step import StepCallback

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(
        "fad.torch.FadCallback needs transformers; install it with: pip install "
        '"transformers[torch]"'
    ) from error


class FadCallback(StepCallback, TrainerCallback):
    """Compiles the model of a Trainer by the backend `fad`, in place, while it trains.

    `budget` bounds the peak of a step, as the option `fad.budget` does: bytes, text such as
    "20GB", or a fraction. `options` are those of `torch.compile`. After the second step,
    `log` gets a line with the bytes that are kept for backward and the measured peak,
    which `report` has as numbers. The model is compiled from the first step to the end of
    the training, and as before afterwards.

    With `loss_alone`, the model returns nothing but its loss in training mode, where it has one. Its
    graph then has wide logits in chunks, which it cannot where it returns them. That is for trainers
    that read the loss alone, as `Trainer` does without label smoothing and a loss of your own."""

    def __init__(
        self,
        budget: int | float | str | None = None,
        *,
        loss_alone: bool = False,
        options: Mapping[str, Any] | None = None,
        log: Callable[[str], Any] = print,
    ) -> None:
        super().__init__(budget, options=options, log=log)
        self._loss_alone = loss_alone
        # Gives the model its own forward pass back, where it has another one.
        self._restore: Callable[[], None] | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, *, model: torch.nn.Module, **kwargs: Any
    ) -> None:
        if args.torch_compile:
            raise ValueError(
                f"torch_compile compiles the model by the backend {args.torch_compile_backend!r}, "
                "and FadCallback by the backend 'fad'; leave torch_compile out"
            )
        if _is_checkpointing(model) and state.is_world_process_zero:
            self._log(
                "gradient checkpointing is on, so that backward repeats each layer, and fad chooses "
                "the rest alone; with gradient_checkpointing=False and a budget, backward repeats "
                "no more than the budget demands"
            )
        called = _find_called(model)
        # Trainer begins again without an end where it looks for a batch that fits.
        self._restore_forward()
        if self._loss_alone:
            if args.label_smoothing_factor:
                raise ValueError(
                    "label_smoothing_factor reads logits, which loss_alone leaves out; leave out one "
                    "of them"
                )
            self._restore = _return_loss_alone(called)
        self._compiler.start()
        self._compiler.compile_in_place(called)

    def on_step_begin(
        self, args: Any, state: Any, control: Any, *, model: torch.nn.Module, **kwargs: Any
    ) -> None:
        self._compiler.begin_step(model.parameters())

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_step(state.is_world_process_zero)

    def on_train_end(
        self, args: Any, state: Any, control: Any, *, model: torch.nn.Module, **kwargs: Any
    ) -> None:
        self._compiler.end_step()
        _find_called(model).compile(disable=True)
        self._restore_forward()

    def _restore_forward(self) -> None:
        if self._restore is not None:
            self._restore()
        self._restore = None


def _return_loss_alone(model: torch.nn.Module) -> Callable[[], None]:
    """Lets `model` return nothing but its loss in training mode, where it has one, until the
    function that this returns is called. Dynamo runs hooks of a compiled module outside of its
    graph, so that one of these would not do."""
    own = vars(model).get("forward")
    if isinstance(own, types.MethodType) and own.__self__ is model:
        forward = own.__func__
    elif own is None:
        forward = type(model).forward
    else:
        forward = _take_no_model(own)

    @functools.wraps(forward)
    def call(self: torch.nn.Module, *arguments: Any, **keywords: Any) -> Any:
        result = forward(self, *arguments, **keywords)
        loss = result.get("loss") if isinstance(result, Mapping) and self.training else None
        return result if loss is None else type(result)(loss=loss)

    def restore() -> None:
        if own is None:
            del model.forward
        else:
            model.forward = own

    # A copy of the model has the method of its own.
    model.forward = types.MethodType(call, model)
    return restore


def _take_no_model(function: Callable) -> Callable:
    @functools.wraps(function)
    def call(_: torch.nn.Module, *arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    return call


def _is_checkpointing(model: torch.nn.Module) -> bool:
    """Tells whether a model of transformers, or one around it, repeats its layers in backward."""
    # The names of transformers 5 and 4; the older one warns in the newer release.
    for name in ("is_activation_checkpointing", "is_gradient_checkpointing"):
        if hasattr(model, name):
            return bool(getattr(model, name))
    return False


def _find_called(model: torch.nn.Module) -> torch.nn.Module:
    """Returns the module to compile: that of transformers inside of peft's, whose hooks Dynamo
    cannot trace."""
    find = getattr(model, "get_base_model", None)
    return find() if find is not None else model
