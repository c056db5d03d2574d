"""Training steps of PyTorch models through fad."""

import time
import warnings
from typing import Any, Callable, Dict, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np
import torch.utils._pytree as pytree

from .. import compile as compile_for_cpu
from .. import memory_report, nest
from .._choices import Policy, Recompute, check_choice
from .._fad import ASSUMED_SIZE
from .._policy import check_assumed_size, check_automatic
from ._export.check import Step, check_step
from ._export.export import Exported, export
from ._export.program import Inputs
from ._requirements import torch

ENGINES = ("fad", "iree")


class _FadEngine:
    """Runs forward and backward through fad's own lowering to the CPU."""

    def __init__(self, nested):
        self._nested = nested
        self._executable = compile_for_cpu(nested)

    def forward(self, arguments):
        values = self._executable.call(self._nested.forward, *arguments)
        count = len(self._nested.results)
        return values[:count], values[count:]

    def backward(self, residuals):
        cotangents = [np.ones((), each.dtype) for each in self._nested.cotangents]
        return self._executable.call(self._nested.backward, *residuals, *cotangents)


class _IREEEngine:
    """Runs forward and backward through IREE; residuals stay on its device."""

    def __init__(self, nested, flags: Sequence[str]):
        from .. import iree

        self.executable = iree.compile(nested, flags=flags)

    def forward(self, arguments):
        # The parameters change only after backward.
        return self.executable.forward(*arguments, copy=False)

    def backward(self, residuals):
        return self.executable.backward(residuals)


class TrainStep:
    """A compiled training step of a model: `step(*inputs)` returns the loss and
    the gradients by the names of the parameters, then, if they are asked for, what
    the model returns, and updates the buffers of the model. Parameters are read from
    the model at every step.

    `exported` is the model in MLIR and `nested` its forward and backward
    functions. After a step, `seconds` is how long its forward and backward
    took, and `residual_bytes` what was kept between them."""

    def __init__(self, model, exported: Exported, policy: str, options, engine):
        self.exported = exported
        self._request = {
            "entry": exported.entry,
            "wrt": exported.wrt,
            "results": exported.differentiated,
            **options,
        }
        self.nested = nest(exported.module, policy=policy, **self._request)
        self.policy = policy
        self.engine = engine(self.nested)
        self.seconds: Optional[float] = None
        self.residual_bytes: Optional[int] = None
        self._batches: Dict[int, int] = {}
        self._model = model
        self._mode = _get_mode(model)
        self._parameters = _describe_parameters(_get_parameters(model))
        self._trained = [exported.arguments[index].name for index in exported.wrt]

    def __call__(self, *args, **kwargs) -> Tuple[Any, ...]:
        """The loss, the gradient of each trained parameter by its name, and with
        `outputs` what the model returns."""
        step = self._run(self.exported.pattern.bind(args, kwargs))
        with torch.no_grad():
            for name, value in step.buffers.items():
                self._model.get_buffer(name).copy_(value)
        if self.exported.pattern.output is None:
            return step.loss, step.gradients
        return step.loss, step.gradients, step.output

    def check(self, inputs: Sequence["torch.Tensor"]) -> None:
        """Raises fad.Error where the step for `inputs` is not PyTorch's. Nothing is
        compared of a model that draws random numbers."""
        if self.exported.is_random:
            return
        is_exact = not {"derivative_bits", "derivative_from_output"} & {
            name for name, value in self._request.items() if value
        }
        check_step(
            self._run(inputs),
            self._model,
            self.exported.pattern,
            inputs,
            self.exported.dtype,
            with_gradients=is_exact,
        )
        self.seconds = self.residual_bytes = None

    def _run(self, inputs: Sequence["torch.Tensor"]) -> Step:
        arguments = self._gather(inputs)
        start = time.perf_counter()
        results, residuals = self.engine.forward(arguments)
        gradients = self.engine.backward(residuals)
        self.seconds = time.perf_counter() - start
        values = list(map(_to_torch, results))
        return Step(
            values[0],
            dict(zip(self._trained, map(_to_torch, gradients))),
            {
                result.name: value
                for result, value in zip(self.exported.results, values)
                if result.kind == "buffer"
            },
            self._restore_output(values),
        )

    def _restore_output(self, values: Sequence["torch.Tensor"]) -> Any:
        """What the model returns, where that is asked for."""
        if self.exported.pattern.output is None:
            return None
        outputs = [
            value for result, value in zip(self.exported.results, values) if result.kind == "output"
        ]
        return self.exported.pattern.output.restore(values[0], outputs)

    def backward_into_grads(self, *args, **kwargs) -> Any:
        """Does a step, adds the gradients to `.grad` of the parameters, as
        `loss.backward()` does, and returns the loss; with `outputs`, the loss and what
        the model returns."""
        loss, gradients, *outputs = self(*args, **kwargs)
        for name, gradient in gradients.items():
            parameter = self._model.get_parameter(name)
            if parameter.grad is None:
                parameter.grad = gradient.to(parameter.device)
            else:
                parameter.grad += gradient.to(parameter.device)
        return (loss, *outputs) if outputs else loss

    def _gather(self, inputs: Sequence["torch.Tensor"]) -> List[np.ndarray]:
        """All arguments in order: the state of the model, then the inputs."""
        if _get_mode(self._model) != self._mode:
            raise RuntimeError(
                "the model has changed between training and evaluation mode since "
                "this step was made; make another step"
            )
        # Searches of the model by name take milliseconds where it has hundreds of them.
        parameters = _get_parameters(self._model)
        buffers = dict(self._model.named_buffers(remove_duplicate=False))
        if _describe_parameters(parameters) != self._parameters:
            raise RuntimeError(
                "which parameters the model has, which of them require a gradient, "
                "or which share a tensor has changed since this step was made; make "
                "another step"
            )
        remaining = iter(inputs)
        batch = 0
        arrays = []
        for argument in self.exported.arguments:
            if argument.kind == "parameter":
                tensor = parameters[argument.name]
            elif argument.kind == "buffer":
                tensor = buffers.get(argument.name)
            else:
                tensor = next(remaining)
            sizes = _check(argument, tensor)
            batch = sizes.pop() if sizes else batch
            arrays.append(_to_numpy(tensor))
        self.residual_bytes = self._count_residual_bytes(batch)
        return arrays

    def _count_residual_bytes(self, batch: int) -> int:
        if batch not in self._batches:
            report = memory_report(
                self.exported.module,
                policies=(self.policy,),
                sizes=batch,
                **self._request,
            )
            self._batches[batch] = report[self.policy].bytes
        return self._batches[batch]


def train_step(
    model: "torch.nn.Module",
    inputs: Inputs,
    loss: Optional[Callable] = None,
    *,
    targets=(),
    policy: Policy = "auto",
    engine: Literal["fad", "iree"] = "fad",
    dynamic_batch: bool = False,
    flags: Sequence[str] = (),
    recompute: Optional[Recompute] = None,
    assumed_size: Optional[int] = None,
    derivative_bits: Optional[int] = None,
    derivative_from_output: bool = False,
    residual_budget: Union[int, str, None] = None,
    check: bool = True,
    outputs: bool = False,
) -> TrainStep:
    """Compiles a training step of `model`, in the mode it is in.

    `inputs`, `loss`, `targets` and `dynamic_batch` are those of
    `fad.torch.export`. The step is called with inputs and targets, in that
    order, or by their names.

    `policy` is what forward keeps for backward: "bp" what a tape keeps,
    "recompute" the sources of elementwise regions, "fad" their derivatives,
    "auto", the default, whatever takes the fewest bytes; `recompute`,
    `assumed_size`, the size of a dynamic batch to decide for, `derivative_bits`,
    `derivative_from_output` and `residual_budget` are its options, as for `fad.nest`.
    `engine` is "fad" (its own lowering, for any program) or "iree", which `flags` are
    further flags of.

    With `outputs`, the step returns what the model returns, too, without gradients.

    The step runs on the CPU. Where the model or an input is on another device, a
    UserWarning says so: `torch.compile(model, backend="fad")` trains it there.

    With `check`, the step is run once on the example, and its loss, gradients and
    new values of buffers are compared with those of PyTorch, unless the model draws
    random numbers.

    Raises ExportError, fad.Error or fad.iree.CompileError where a part of the
    model is not supported there; the message names it."""
    check_choice("there is no engine", engine, ENGINES)
    if flags and engine != "iree":
        raise ValueError("flags are those of IREE; choose engine='iree'")
    options = {
        "recompute": recompute,
        "assumed_size": check_assumed_size(assumed_size),
        "derivative_bits": derivative_bits,
        "derivative_from_output": derivative_from_output,
        "residual_budget": residual_budget,
    }
    check_automatic([policy], **options)
    if policy != "auto":
        options = {}
    elif assumed_size is None:
        # What is counted for another batch is to be the same choice.
        options["assumed_size"] = ASSUMED_SIZE
    _warn_of_device(model, (inputs, targets))
    exported = export(
        model, inputs, loss, targets=targets, dynamic_batch=dynamic_batch, outputs=outputs
    )
    if not exported.wrt:
        raise ValueError(
            "the loss depends on no parameter of the model that requires a gradient, "
            "so there is nothing to train"
        )

    def make_engine(nested):
        return _IREEEngine(nested, flags) if engine == "iree" else _FadEngine(nested)

    step = TrainStep(model, exported, policy, options, make_engine)
    if check:
        step.check(exported.pattern.tensors)
    return step


def _warn_of_device(model, inputs) -> None:
    """Warns where a step would leave the device that the model or an input is on."""
    values = pytree.tree_leaves(inputs)
    if isinstance(model, torch.nn.Module):
        values += [*model.parameters(), *model.buffers()]
    devices = {each.device for each in values if isinstance(each, torch.Tensor)}
    devices = {each for each in devices if each.type not in ("cpu", "meta")}
    if devices:
        warnings.warn(
            f"the model is on {', '.join(sorted(map(str, devices)))}, but this step runs on "
            "the CPU, to which all tensors are copied at each step; to train it where it "
            'is, compile it with torch.compile(model, backend="fad")',
            stacklevel=3,
        )


def _get_mode(model) -> Tuple[bool, ...]:
    return tuple(module.training for module in model.modules())


def _get_parameters(model) -> Dict[str, "torch.nn.Parameter"]:
    """The parameters by all their names."""
    return dict(model.named_parameters(remove_duplicate=False))


def _describe_parameters(parameters) -> List[Tuple[str, bool, str]]:
    """The names of the parameters, whether each requires a gradient, and the
    first name of the same tensor."""
    first: Dict[int, str] = {}
    return [
        (name, parameter.requires_grad, first.setdefault(id(parameter), name))
        for name, parameter in parameters.items()
    ]


def _check(argument, tensor) -> List[int]:
    """The sizes of the dynamic dimensions of `tensor`."""
    place = f"{argument.kind} {argument.name!r}"
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{place} is a {type(tensor).__name__}; pass a tensor")
    if tensor.layout is not torch.strided or tensor.is_meta:
        raise ValueError(f"{place} is sparse or has no data; pass a dense tensor")
    fits = tensor.dim() == len(argument.shape) and all(
        expected in (None, size) for expected, size in zip(argument.shape, tensor.shape)
    )
    if not fits or tensor.dtype != argument.dtype:
        expected = "x".join("?" if s is None else str(s) for s in argument.shape)
        raise ValueError(
            f"{place} is to have the shape ({expected}) and type {argument.dtype}, "
            f"but has {tuple(tensor.shape)} and {tensor.dtype}"
        )
    return [s for e, s in zip(argument.shape, tensor.shape) if e is None]


def _to_numpy(tensor: "torch.Tensor") -> np.ndarray:
    tensor = tensor.detach().to("cpu").contiguous()
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _to_torch(array: np.ndarray) -> "torch.Tensor":
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array if array.flags["WRITEABLE"] else array.copy())
