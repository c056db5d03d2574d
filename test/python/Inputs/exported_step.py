"""A training step of a model as an exported module, compiled and run."""

import copy
import inspect
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import fad
import fad.torch
import numpy as np
import torch
import torch.utils._pytree as pytree
from fad._fad import ASSUMED_SIZE
from fad.torch._export.eager_step import Step
from step_check import check_step

_LOSS, _TENSOR = object(), object()


class _FadEngine:
    """Runs forward and backward through fad's own lowering to the CPU."""

    def __init__(self, nested):
        self._nested = nested
        self._executable = fad.compile(nested)

    def forward(self, arguments):
        values = self._executable.call(self._nested.forward, *arguments)
        count = len(self._nested.results)
        return values[:count], values[count:]

    def backward(self, residuals):
        cotangents = [np.ones((), each.dtype) for each in self._nested.cotangents]
        return self._executable.call(self._nested.backward, *residuals, *cotangents)


class _IREEEngine:
    """Runs forward and backward through IREE; residuals stay on its device."""

    def __init__(self, nested):
        import fad.iree

        self._executable = fad.iree.compile(nested)

    def forward(self, arguments):
        # The parameters change only after backward.
        return self._executable.forward(*arguments, copy=False)

    def backward(self, residuals):
        return self._executable.backward(residuals)


class ExportedStep:
    """A call with inputs and targets returns the loss and the gradients by the names of the
    parameters, then, if they are asked for, what the model returns, and updates the
    buffers of the model. After it, `residual_bytes` is what was kept in between."""

    def __init__(self, model, exported, policy: str, options, engine, output=None):
        self.exported = exported
        self._output = output
        self._request = {
            "entry": exported.entry,
            "wrt": exported.wrt,
            "results": exported.differentiated,
            **options,
        }
        nested = fad.nest(exported.module, policy=policy, **self._request)
        self._policy = policy
        self._engine = {"fad": _FadEngine, "iree": _IREEEngine}[engine](nested)
        self.residual_bytes = None
        self._model = model

    def __call__(self, *args, **kwargs) -> Tuple[Any, ...]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = self.exported.pattern.names
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        step, values = self._run(signature.bind(*args, **kwargs).args)
        with torch.no_grad():
            for name, value in step.buffers.items():
                self._model.get_buffer(name).copy_(value)
        if self._output is None:
            return step.loss, step.gradients
        return step.loss, step.gradients, self._restore(step.loss, iter(values))

    def check(self, inputs: Sequence[torch.Tensor]) -> None:
        """Raises fad.Error where the step for `inputs` is not PyTorch's. Nothing is
        compared of a model that draws random numbers."""
        text = str(self.exported.module)
        if "ml_program.global" in text:
            return
        types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
        found = (type_ for name, type_ in types.items() if name in text)
        dtype = next(found, torch.float64)
        step, _ = self._run(inputs)
        check_step(step, self._model, self.exported.pattern, inputs, dtype, True)

    def _restore(self, loss: torch.Tensor, tensors: Iterator[torch.Tensor]):
        """The result of the model, made of its loss, the other tensors in it, and constants."""
        parts, spec = self._output
        leaves = [
            loss if part is _LOSS else next(tensors) if part is _TENSOR else part for part in parts
        ]
        return pytree.tree_unflatten(leaves, spec)

    def _run(self, inputs: Sequence[torch.Tensor]) -> Tuple[Step, List[torch.Tensor]]:
        exported = self.exported
        results, residuals = self._engine.forward(self._gather(inputs))
        gradients = map(_to_torch, self._engine.backward(residuals))
        values = list(map(_to_torch, results))
        kinds = {"buffer": {}, "output": []}
        for result, value in zip(exported.results, values):
            if result.kind == "buffer":
                kinds["buffer"][result.name] = value
            elif result.kind == "output":
                kinds["output"].append(value)
        names = (exported.arguments[index].name for index in exported.wrt)
        step = Step(values[0], dict(zip(names, gradients)), kinds["buffer"])
        return step, kinds["output"]

    def _gather(self, inputs: Sequence[torch.Tensor]) -> List[np.ndarray]:
        """All arguments in order: the state of the model, then the inputs."""
        state: Dict[str, torch.Tensor] = {
            **dict(self._model.named_parameters(remove_duplicate=False)),
            **dict(self._model.named_buffers(remove_duplicate=False)),
        }
        remaining = iter(inputs)
        batch = 0
        arrays = []
        for argument in self.exported.arguments:
            is_input = argument.kind == "input"
            tensor = next(remaining) if is_input else state[argument.name]
            for expected, size in zip(argument.shape, tensor.shape):
                batch = size if expected is None else batch
            arrays.append(_to_numpy(tensor))
        report = fad.memory_report(
            self.exported.module, policies=(self._policy,), sizes=batch, **self._request
        )
        self.residual_bytes = report[self._policy].bytes
        return arrays


def export_step(
    model, inputs, loss=None, *, targets=(), policy="auto", engine="fad", dynamic_batch=False,
    outputs=False, check=True, exported=None, **options,
) -> ExportedStep:  # fmt: skip
    """Exports, differentiates and compiles a training step of `model`. With `check`, the
    step is run once on the example, and compared with PyTorch's. `exported` is what a step
    of an equal model has exported, with the same arguments."""
    if policy == "auto":
        # The choice for another batch is the same.
        options.setdefault("assumed_size", ASSUMED_SIZE)
    exported = exported or fad.torch.export(
        model, inputs, loss, targets=targets, dynamic_batch=dynamic_batch, outputs=outputs
    )
    output = _describe_output(model, exported.pattern) if outputs else None
    step = ExportedStep(model, exported, policy, options, engine, output)
    if check:
        step.check(exported.pattern.tensors)
    return step


def _describe_output(model, pattern):
    """The leaves of the model's result, with marks for tensors, and how they are nested."""
    loss, output = pattern.compute_loss_and_output(copy.deepcopy(model), pattern.tensors)
    leaves, spec = pytree.tree_flatten(output)
    marks = [_TENSOR if isinstance(each, torch.Tensor) else each for each in leaves]
    return [_LOSS if leaf is loss else mark for leaf, mark in zip(leaves, marks)], spec


def _to_numpy(tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.detach().to("cpu").contiguous()
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _to_torch(array: np.ndarray) -> torch.Tensor:
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array if array.flags["WRITEABLE"] else array.copy())
