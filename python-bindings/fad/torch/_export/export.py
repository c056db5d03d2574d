"""From a model to a fad.Module."""

import re
import warnings
from dataclasses import dataclass, field
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ... import Module, parse
from ..._diagnostics import Diagnostic
from .autograd import find_reached
from .errors import ExportError, find_mlir_location, find_node_location, locate_in_model
from .trace import is_trained, trace
from .._decompositions.kinks import share_ties
from .._decompositions.operations import declare, define
from .program import CallPattern, Inputs, Program
from .._requirements import import_torch_mlir, torch
from .unsupported import check_graph, check_lowered, find_left


class Argument(NamedTuple):
    """An argument of an exported function.

    `kind` is "parameter", "buffer" or "input"; `name` is that of the model's
    parameter or buffer, or of the input; `shape` has None for the size of a
    dynamic batch."""

    kind: str
    name: str
    shape: Tuple[Optional[int], ...]
    dtype: "torch.dtype"


class Result(NamedTuple):
    """A result of an exported function.

    `kind` is "loss", "output" (a tensor that the model returns; `name` is its
    number), "buffer" (the new value of the buffer `name`) or "gradient" (of the
    parameter `name`)."""

    kind: str
    name: str


@dataclass(frozen=True)
class Exported:
    """A model and its loss as a function of MLIR.

    `module` has the function `entry`, which takes `arguments` and returns
    `results`. `wrt` is which arguments training needs the gradients of: the
    floating-point parameters that require one and that the loss depends on.
    `differentiated` is which results have a gradient: the loss."""

    module: Module
    entry: str
    arguments: Tuple[Argument, ...]
    results: Tuple[Result, ...]
    wrt: Tuple[int, ...]
    differentiated: Tuple[int, ...] = (0,)
    pattern: Optional[CallPattern] = field(default=None, repr=False)


def export(
    model: "torch.nn.Module",
    inputs: Inputs,
    loss: Optional[Callable] = None,
    *,
    targets=(),
    dynamic_batch: bool = False,
    func_name: str = "main",
    outputs: bool = False,
) -> Exported:
    """Exports `model`, in the mode it is in, and its loss.

    `inputs` are examples of the model's arguments: a tensor, a
    sequence, or a mapping of keywords; what is no tensor is a constant.
    `loss(output, *targets)` is a function of the model's result; without
    one, the model itself returns its loss, alone, first in a tuple, or as
    "loss" (Hugging Face). With `dynamic_batch`, the first dimension of every
    input and target that has the same size there as the first input is left
    open. With `outputs`, the tensors that the model returns are results after the
    loss, without gradients.

    Raises ExportError where PyTorch or torch-mlir cannot do it."""
    fx = import_torch_mlir()
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{type(model).__name__} is no torch.nn.Module")
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError("a TorchScript module cannot be exported; pass the module it was made of")
    pattern = CallPattern(model, inputs, loss, targets)
    program = Program(model, pattern, outputs)
    exported = trace(program, pattern.tensors, dynamic_batch)
    locate_in_model(exported.graph, loss)
    check_graph(exported.graph)
    tie_parameters(exported, program)
    results = put_loss_first(exported, pattern.names)
    arguments, wrt = take_arguments(exported, program, pattern.names)
    # An empty table: the decompositions have been run.
    lowered = lower(
        lambda importer: fx.export_and_import(
            exported,
            fx_importer=importer,
            func_name=func_name,
            decomposition_table={},
        )
    )
    return Exported(
        module=parse(lowered, filename=func_name),
        entry=func_name,
        arguments=arguments,
        results=results,
        wrt=wrt,
        pattern=pattern,
    )


# Messages of torch-mlir about an operation that it knows, and of one that it does not.
_OPERATION = re.compile(r"'torch\.(aten[\w.]+)'|name = \"torch\.([\w.]+)\"")


def lower(import_: Callable, finish: Optional[Callable] = None) -> str:
    """Returns the text of the module that `import_` returns, called with torch-mlir's importer, in
    upstream's dialects and fad's. `finish` is called with it."""
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras.fx_importer import FxImporter

    context, module = ir.Context(), None
    torch_dialect.register_dialect(context)
    said: List[Diagnostic] = []

    def say(message: str, location=None) -> None:
        operation = _OPERATION.search(message)
        if operation:
            name = operation[1] or operation[2]
            message = f"{name}; write it in terms of other operations"
        else:
            message = f"the model: {message}"
        message = f"torch-mlir cannot lower {message}"
        said.append(Diagnostic("error", message, find_mlir_location(location)))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = import_(FxImporter(context=context))
        functions = declare(module)
        _run_passes(module)
        define(module, functions)
        if finish:
            finish(module)
        check_lowered(module.operation)
        share_ties(module.operation)
        # Diagnostics of fad name the line of the model.
        return module.operation.get_asm(enable_debug_info=True)
    except ExportError:
        raise
    # torch-mlir raises whatever its importer runs into.
    except Exception as error:
        for each in getattr(error, "error_diagnostics", ()):
            # It names the operand of an operation that stays.
            left = find_left(module.operation) if "'torch.constant." in each.message else []
            for operation in left:
                say(f"'{operation.name}'", operation.location)
            if not left:
                say(each.message, each.location)
        if not said:
            say(str(error) or type(error).__name__)
        raise ExportError(*said) from error


def _run_passes(module) -> None:
    """Lowers `module` from torch-mlir's dialect to linalg on tensors."""
    from torch_mlir.passmanager import PassManager

    for passes in (
        "func.func(torch-match-quantized-custom-ops),"
        "torchdynamo-export-to-torch-backend-pipeline{extra-library=}",
        "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true}",
    ):
        with module.context:
            pipeline = str(PassManager.parse(f"builtin.module({passes})"))
            # It refuses calls; `check_lowered` does what is left of it.
            pipeline = pipeline.replace(",torch-verify-linalg-on-tensors-backend-contract", "")
            PassManager.parse(pipeline).run(module.operation)


def tie_parameters(exported, program: Program) -> None:
    """Gives parameters and buffers with several names one argument."""
    tensors = dict(program.named_parameters(remove_duplicate=False))
    tensors.update(program.named_buffers(remove_duplicate=False))
    nodes = {node.name: node for node in exported.graph.nodes}
    first: Dict[int, object] = {}
    kept = []
    for spec in exported.graph_signature.input_specs:
        tensor = tensors.get(spec.target)
        node = nodes[spec.arg.name]
        if tensor is not None and first.setdefault(id(tensor), node) is not node:
            node.replace_all_uses_with(first[id(tensor)])
            exported.graph.erase_node(node)
        else:
            kept.append(spec)
    exported.graph_signature.input_specs[:] = kept


def take_arguments(exported, program: Program, input_names: List[str]):
    """Makes parameters and buffers arguments like any other; returns the
    arguments and which of them are to be trained."""
    Kind = torch.export.graph_signature.InputKind
    kinds = {Kind.PARAMETER: "parameter", Kind.BUFFER: "buffer"}
    parameters = dict(program.named_parameters(remove_duplicate=False))
    nodes = {node.name: node for node in exported.graph.nodes}
    reached = find_reached(exported.graph)
    names = iter(input_names)
    arguments: List[Argument] = []
    wrt: List[int] = []
    for spec in exported.graph_signature.input_specs:
        node = nodes[spec.arg.name]
        if spec.kind is Kind.CONSTANT_TENSOR:
            continue
        if spec.kind in kinds:
            kind, name = kinds[spec.kind], Program.strip(spec.target)
            spec.kind = Kind.USER_INPUT
        elif spec.kind is Kind.USER_INPUT:
            kind, name = "input", next(names)
        else:
            message = f"{spec.target or spec.arg.name} is no tensor; compute it "
            message += "outside of the model, or make it tensors"
            lines = filter(None, map(find_node_location, node.users))
            raise ExportError(Diagnostic("error", message, next(lines, None)))
        needs_gradient = kind == "parameter" and is_trained(parameters[spec.target])
        if needs_gradient and node in reached:
            wrt.append(len(arguments))
        arguments.append(make_argument(kind, name, node))
    return tuple(arguments), tuple(wrt)


def make_argument(kind: str, name: str, node) -> Argument:
    """Returns the argument for the placeholder `node`."""
    value = node.meta["val"]
    shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return Argument(kind, name, shape, value.dtype)


def _check_mutations(exported, pairs, input_names: List[str]) -> None:
    """Raises ExportError with all of the results `pairs`, of specifications and nodes,
    that are new values of anything but a buffer."""
    Kind = torch.export.graph_signature.OutputKind
    inputs = dict(zip(exported.graph_signature.user_inputs, input_names))
    errors = [
        Diagnostic(
            "error",
            f"the model changes {inputs.get(spec.target) or Program.strip(spec.target)} "
            "in place; only buffers may be changed: work on a copy",
            find_node_location(node),
        )
        for spec, node in pairs
        if spec.kind not in (Kind.USER_OUTPUT, Kind.BUFFER_MUTATION)
    ]
    if errors:
        raise ExportError(*errors)


def put_loss_first(exported, input_names: List[str]) -> Tuple[Result, ...]:
    """Makes the results the loss, then what the model returns, and then the updated
    buffers."""
    Kind = torch.export.graph_signature.OutputKind
    output = exported.graph.output_node()
    specs = exported.graph_signature.output_specs
    pairs = list(zip(specs, output.args[0]))
    _check_mutations(exported, pairs, input_names)
    pairs.sort(key=lambda pair: pair[0].kind is not Kind.USER_OUTPUT)
    specs[:] = [spec for spec, _ in pairs]
    output.args = (tuple(node for _, node in pairs),)
    # The output is all that the importer returns.
    results = []
    for spec in specs:
        if spec.kind is Kind.USER_OUTPUT:
            number = len(results) - 1
            results.append(Result("output", str(number)) if results else Result("loss", "loss"))
        else:
            results.append(Result("buffer", Program.strip(spec.target)))
            spec.kind = Kind.USER_OUTPUT
    return tuple(results)
