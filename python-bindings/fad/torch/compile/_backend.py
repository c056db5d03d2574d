"""The backend `fad` of `torch.compile`."""

import functools
import inspect
import re
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeVar

import torch

from ..._choices import check_choice, suggest
from .._releases import name_decompositions
from ._log import has_budgets, warn_of_budgets
from ._partitioner import Partitioner
from ._pytorch import (
    aot_autograd,
    bounds_memory,
    box,
    inductor_config,
    is_compiled,
    is_transformed,
    list_mode_options,
    tree_leaves,
    warn_of_inductor,
)
from ._scalars import decompose_gradients, find_decompositions
from ._sizes import find_sizes, forget_sizes


_ENGINES = ("inductor", "eager")

_Made = TypeVar("_Made", bound=Partitioner)


def backend(
    graph: torch.fx.GraphModule,
    inputs: list[torch.Tensor],
    *,
    options: dict[str, Any] | None = None,
    mode: str | None = None,
) -> Callable:
    """Compiles `graph` with fad's residuals, for `torch.compile(backend="fad")`.

    Options that begin with `fad.` are those of `Partitioner`; `fad.engine` is
    "inductor" (the default), which takes all other options and `mode` too, or "eager",
    which runs the operations of PyTorch as they are."""
    partitioner, engine, others = read_options(options or {}, mode, Partitioner)
    partitioner.sizes = find_sizes(graph, repr((options, mode)))
    partitioner.warns_at_once = False
    if engine == "eager":
        compiled = compile_eager(graph, inputs, partitioner)
    else:
        compiled = compile_inductor(graph, inputs, partitioner, others)
    return refuse_double_backward(compiled)


# `torch._dynamo.reset` calls it for the backends in use.
backend.reset = forget_sizes  # type: ignore[attr-defined]


def compile_inductor(
    graph: torch.fx.GraphModule,
    inputs: list[torch.Tensor],
    partitioner: Partitioner,
    options: dict[str, Any],
    **arguments: Any,
) -> Callable:
    """Compiles `graph` by Inductor with `options`; `arguments` are for its `compile_fx`."""
    from ._pytorch import compile_fx

    partitioner.has_decompositions = True
    partitioner.given = tuple(sorted(options))
    inner = make_inner(partitioner, options)
    options = {**options, "custom_partitioner_fn": partitioner}
    # The table depends on options.
    with inductor_config.patch(options):
        table = find_decompositions()
    return compile_fx(
        graph,
        inputs,
        config_patches=options,
        decompositions=table,
        **{"inner_compile": inner, **arguments},
    )


def make_inner(partitioner: Partitioner, options: Mapping[str, Any]) -> Callable:
    """Returns a compiler of the parts of a graph that `partitioner` splits, with the `options` that
    a user has set."""
    has_budget = partitioner.has_budget
    try:
        from ._inductor import compile_inner
    except (ImportError, AttributeError) as error:
        return functools.partial(_compile_as_inductor, has_budget=has_budget, cause=error)
    return functools.partial(compile_inner, has_budget=has_budget, options=options)


def _compile_as_inductor(
    graph: torch.fx.GraphModule,
    inputs: Sequence[Any],
    *,
    has_budget: bool,
    cause: Exception,
    **arguments: Any,
) -> Any:
    """Inductor's own compilation of forward or backward, since for `cause` fad's is not there."""
    from ._pytorch import compile_fx_inner

    arguments = name_decompositions(arguments, find_decompositions)
    # Of other graphs, fad would not change it.
    if bounds_memory(graph, has_budget):
        warn_of_inductor(cause)
    return compile_fx_inner(graph, inputs, **arguments)


def read_options(
    options: Mapping[str, Any], mode: str | None, make: Callable[..., _Made]
) -> tuple[_Made, str, dict[str, Any]]:
    """Returns the partitioner that `make` makes by those `options` that are fad's, the engine, and
    the options of Inductor, with those of `mode`."""
    own = {k[4:]: v for k, v in options.items() if k.startswith("fad.")}
    others = {k: v for k, v in options.items() if not k.startswith("fad.")}
    engine = own.pop("engine", "inductor")
    known = inspect.signature(Partitioner).parameters
    for name in own:
        if name not in known:
            names = [f"fad.{each}" for each in (*known, "engine")]
            raise ValueError(
                f"the backend fad has no option 'fad.{name}'; its own are {', '.join(names)}"
                f"{suggest(f'fad.{name}', names)}"
            )
    for name in sorted(others.keys() & {*known, "engine"}):
        raise ValueError(f"the option {name!r} is none of Inductor's; did you mean 'fad.{name}'?")
    check_choice("options of the backend fad: fad.engine is", engine, _ENGINES)
    try:
        partitioner = make(**own)
    except (TypeError, ValueError) as error:
        # A message begins with the names of the partitioner's arguments.
        name = f"(?:{'|'.join(known)})"
        message = re.sub(
            rf"^({name})( and )?(?(2)({name}))(?= (?:is|are)\b)",
            lambda found: f"fad.{found[1]}" + (f" and fad.{found[3]}" if found[2] else ""),
            str(error),
        )
        raise ValueError(f"options of the backend fad: {message}") from None
    if "custom_partitioner_fn" in others:
        raise ValueError(
            "the backend fad is a partitioner itself, and does not take custom_partitioner_fn; "
            'the backend "inductor" does'
        )
    if engine == "eager":
        if others or mode:
            names = ", ".join([*others, *(["mode"] if mode else [])])
            raise ValueError(
                f"options and mode of Inductor need fad.engine 'inductor', but {names} is set; "
                "options of fad begin with 'fad.'"
            )
        partitioner.is_fused = False
    if mode and mode != "default":
        others = {**list_mode_options(mode), **others}
    return partitioner, engine, others


def compile_eager(
    graph: torch.fx.GraphModule, inputs: list[torch.Tensor], partitioner: Callable
) -> Callable:
    """Compiles `graph` so that PyTorch's operations run one by one."""

    def run(graph, _):
        # Strides are not always those that PyTorch has foreseen for a view.
        view, reshape = torch.ops.aten.view.default, torch.ops.aten.reshape.default
        for node in graph.graph.find_nodes(op="call_function", target=view):
            node.target = reshape
        return box(graph)

    # A derivative in place of PyTorch's own gradient rounds otherwise, which only the
    # policy that is about derivatives may.
    table = decompose_gradients() if getattr(partitioner, "policy", "") == "fad" else {}
    # Changes of inputs are part of the graphs: PyTorch knows no other form of those that
    # backward makes.
    compiler = aot_autograd(
        fw_compiler=run,
        bw_compiler=run,
        partition_fn=partitioner,
        decompositions=table,
        keep_inference_input_mutations=True,
    )
    return compiler(graph, inputs)


# Second derivatives through compiled functions, which are refused.

_MESSAGE = (
    "a function compiled with the backend fad does not support double backward: its gradients "
    "come from derivatives that forward has computed, whose own derivatives are unknown; call "
    "the function without torch.compile where its gradients are differentiated"
)


class _Anchor(torch.autograd.Function):
    """A tensor without elements that depends on the inputs of a function."""

    @staticmethod
    def forward(_, *inputs: torch.Tensor) -> torch.Tensor:
        return torch.empty(0)

    @staticmethod
    def backward(_, gradient: torch.Tensor) -> Any:
        raise RuntimeError(_MESSAGE)


class _Depend(torch.autograd.Function):
    """Gradients as they are, which depend on `anchor`, too."""

    @staticmethod
    def forward(_, anchor: torch.Tensor, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(each.detach() for each in gradients)

    @staticmethod
    def backward(_, *gradients: torch.Tensor) -> Any:
        raise RuntimeError(_MESSAGE)


def _depend_on(anchor: torch.Tensor, gradients: tuple[Any, ...], _: Any) -> Any:
    """Returns the `gradients` of a function, for its node of autograd. Where they are to be
    differentiated, they depend on the inputs of the function, by `anchor`."""
    tensors = [each for each in gradients if isinstance(each, torch.Tensor)]
    if not torch.is_grad_enabled() or not tensors:
        return None
    dependent = iter(_Depend.apply(anchor, *tensors))
    return tuple(next(dependent) if isinstance(each, torch.Tensor) else each for each in gradients)


def _find_nodes(outputs: Any, before: set[Any]) -> Iterator[Any]:
    """Yields the nodes of autograd that `outputs` of a compiled function come from: the function's
    own, below those of views of its results. Results that are views of inputs come from the nodes
    `before` the function, which are not its own."""
    seen = set(before)
    worklist = [each.grad_fn for each in tree_leaves(outputs) if isinstance(each, torch.Tensor)]
    while worklist:
        node = worklist.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if is_compiled(node):
            yield node
        else:
            worklist += [each for each, _ in node.next_functions]


def _warn_before_backward(_: Any) -> None:
    warn_of_budgets()


def refuse_double_backward(compiled: Callable) -> Callable:
    """`compiled`, a function of AOTAutograd, whose second derivatives raise RuntimeError. Its
    backward pass warns first of budgets that are exceeded.

    PyTorch raises it only where backward has read a tensor that depends on what the
    gradients are differentiated by. Derivatives that forward has computed do not, as
    autograd sees it: the gradients were constants, without a word."""

    @functools.wraps(compiled)
    def call(*arguments: Any) -> Any:
        inputs = [
            each for each in arguments if isinstance(each, torch.Tensor) and each.requires_grad
        ]
        # Transforms of torch.func have no nodes of autograd.
        if not inputs or not torch.is_grad_enabled() or is_transformed():
            return compiled(*arguments)
        # Before the call, which may change inputs in place.
        anchor = _Anchor.apply(*inputs)
        before = {each.grad_fn for each in inputs if each.grad_fn is not None}
        try:
            outputs = compiled(*arguments)
        except Exception:
            # No backward pass will warn.
            warn_of_budgets()
            raise
        is_planned = has_budgets()
        for node in _find_nodes(outputs, before):
            node.register_hook(functools.partial(_depend_on, anchor))
            if is_planned:
                node.register_prehook(_warn_before_backward)
        return outputs

    return call
