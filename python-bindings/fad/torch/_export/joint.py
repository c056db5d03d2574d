"""The joint graph of PyTorch's AOTAutograd as a fad.Module."""

import warnings
from typing import Callable, List, Optional, Tuple

from ... import parse
from .._decompositions.registry import get_decompositions
from .errors import locate_in_model, make_error
from .export import Argument, Exported, Result, lower, make_argument
from .numbers import widen_numbers
from .program import CallPattern, Inputs, Program
from .._pytorch import trace_joint
from .._requirements import import_torch_mlir, torch
from .unsupported import check_graph
from .watch import CaptureWatch, NotExported


class _Weighted(Program):
    """Returns the loss times a cotangent, whose gradients are those that the
    joint graph is to have, and the loss."""

    # PyTorch differentiates it, hooks and all.
    watch = CaptureWatch

    def forward(self, *tensors):
        *inputs, cotangent = tensors
        loss = super().forward(*inputs)
        # The cotangent is f32; one of the loss's type would need a run to know.
        return loss * cotangent.to(loss.dtype), loss.detach()


def export_joint(
    model: "torch.nn.Module",
    inputs: Inputs,
    loss: Optional[Callable] = None,
    *,
    targets=(),
    func_name: str = "main",
) -> Exported:
    """Exports the joint graph of `model`: forward and backward in one function,
    differentiated by PyTorch's AOTAutograd instead of fad.

    Arguments are parameters, buffers, inputs and the cotangent of the loss
    (1 for training); results are the loss, updated buffers and the gradient of
    each parameter. They are marked as `fad-differentiate` marks them, so that
    `fad-select-residuals` and `fad-split` make a forward and a backward
    function of it. The arguments of this function are those of `export`.

    Raises ExportError where PyTorch or torch-mlir cannot do it."""
    fx = import_torch_mlir()
    pattern = CallPattern(model, inputs, loss, targets)
    program = _Weighted(model, pattern)
    graph, signature = _trace(program, pattern.tensors)
    _share_arguments(graph, signature, program)
    locate_in_model(graph.graph, loss)
    check_graph(graph.graph)
    widen_numbers(graph.graph)
    arguments = _name_arguments(graph, signature, pattern)
    results = _take_results(graph, signature, program)

    def import_(importer):
        return fx.stateless_fx_import(graph, fx_importer=importer, model_name=func_name)

    def finish(module):
        _mark(module, func_name, arguments, results)

    trained = {result.name for result in results if result.kind == "gradient"}
    return Exported(
        module=parse(lower(import_, finish), filename=func_name),
        entry=func_name,
        arguments=arguments,
        results=results,
        wrt=tuple(
            index
            for index, argument in enumerate(arguments)
            if argument.kind == "parameter" and argument.name in trained
        ),
        pattern=pattern,
    )


def _trace(program: Program, tensors):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = (*tensors, torch.ones(()))
            return trace_joint(program, inputs, get_decompositions(is_joint=True))
    except (TypeError, ValueError):
        raise
    except NotExported as error:
        raise make_error(error) from None
    except Exception as error:
        raise make_error(error, "AOTAutograd cannot trace the model: ") from error


def _share_arguments(graph, signature, program) -> None:
    """Makes parameters that share a tensor one argument, that of the first."""
    parameters = dict(program.named_parameters(remove_duplicate=False))
    first = {}
    for node in graph.graph.find_nodes(op="placeholder"):
        name = signature.inputs_to_parameters.get(node.name)
        if name is None:
            continue
        other = first.setdefault(id(parameters[name]), node)
        if other is not node:
            node.replace_all_uses_with(other)
            graph.graph.erase_node(node)


def _sum_gradients(graph, gradients):
    """Returns the sum of the nodes `gradients`, of one parameter."""
    total, *others = gradients
    with graph.graph.inserting_before(graph.graph.output_node()):
        for node in others:
            term = total
            total = graph.graph.call_function(torch.ops.aten.add.Tensor, (term, node))
            total.meta = dict(term.meta)
    return total


def _name_arguments(graph, signature, pattern) -> Tuple[Argument, ...]:
    names = iter([*pattern.names, "cotangent"])
    arguments: List[Argument] = []
    for node in graph.graph.nodes:
        if node.op != "placeholder":
            continue
        if node.name in signature.inputs_to_parameters:
            kind = "parameter"
            name = Program.strip(signature.inputs_to_parameters[node.name])
        elif node.name in signature.inputs_to_buffers:
            kind, name = "buffer", Program.strip(signature.inputs_to_buffers[node.name])
        else:
            kind, name = "input", next(names)
        arguments.append(make_argument(kind, name, node))
    arguments[-1] = arguments[-1]._replace(kind="cotangent")
    return tuple(arguments)


def _take_results(graph, signature, program) -> Tuple[Result, ...]:
    """Makes the results the loss, the updated buffers and the gradients, in
    this order. They come as buffers, weighted loss, loss and gradients."""
    output = graph.graph.output_node()
    nodes = list(output.args[0])
    buffers = list(signature.buffers_to_mutate.values())
    count = len(buffers)
    gradients = nodes[count + 2 :]
    # PyTorch differentiates with respect to each name of a parameter.
    named = program.named_parameters(remove_duplicate=False)
    trained = [parameter for _, parameter in named if parameter.requires_grad]
    terms = {}
    for parameter, node in zip(trained, gradients, strict=True):
        # One that the loss does not depend on has none.
        if node is not None:
            terms.setdefault(id(parameter), []).append(node)
    pairs = [(Result("loss", "loss"), nodes[count + 1])]
    for name, node in zip(buffers, nodes):
        pairs.append((Result("buffer", Program.strip(name)), node))
    for name, parameter in program.named_parameters():
        if id(parameter) in terms:
            node = _sum_gradients(graph, terms[id(parameter)])
            pairs.append((Result("gradient", Program.strip(name)), node))
    output.args = (tuple(node for _, node in pairs),)
    graph.graph.eliminate_dead_code()
    return tuple(result for result, _ in pairs)


def _mark(module, func_name: str, arguments, results) -> None:
    """Says which argument of the function is the cotangent, and which results
    are gradients."""
    from torch_mlir import ir

    numbers = {argument.name: index for index, argument in enumerate(arguments)}
    module.context.allow_unregistered_dialects = True
    with module.context:
        integer = ir.IntegerType.get_signless(64)

        def mark(name, number):
            return ir.DictAttr.get({name: ir.IntegerAttr.get(integer, number)})

        none = ir.DictAttr.get({})
        for operation in module.body.operations:
            if operation.attributes["sym_name"].value != func_name:
                continue
            operation.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [
                    mark("fad.cotangent", 0) if each.kind == "cotangent" else none
                    for each in arguments
                ]
            )
            operation.attributes["res_attrs"] = ir.ArrayAttr.get(
                [
                    (mark("fad.gradient", numbers[each.name]) if each.kind == "gradient" else none)
                    for each in results
                ]
            )
