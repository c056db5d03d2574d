"""A model and its loss as a graph of PyTorch's core operations."""

import warnings
from typing import Dict

from .autograd import mark_gradients
from .eager_step import run_eagerly
from .._decompositions.registry import get_decompositions, put_first
from .errors import ExportError, locate_in_model, make_error
from .numbers import widen_numbers
from .program import Program
from .._pytorch import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    get_schema,
    name_arguments,
    tree_leaves,
)
from .._requirements import torch
from .unsupported import check_graph
from .watch import NotExported, check_hooks


def is_trained(parameter) -> bool:
    """Tells whether training needs the gradient of `parameter`."""
    return parameter.requires_grad and parameter.is_floating_point()


def trace(program: Program, tensors, dynamic_batch: bool):
    """`program` as a graph of PyTorch's core operations."""
    shapes = _dynamic_shapes(tensors) if dynamic_batch else None
    parameters = dict(program.named_parameters(remove_duplicate=False))

    def is_trained_by_name(name) -> bool:
        return name in parameters and is_trained(parameters[name])

    try:
        check_hooks(program.model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exported = torch.export.export(
                program, tuple(tensors), dynamic_shapes=shapes, strict=False
            )
            locate_in_model(exported.graph, program.pattern.loss)
            check_graph(exported.graph)
            _free_strides(exported.graph_module)
            mark_gradients(exported, is_trained_by_name)
            put_first(exported.graph)
            decomposed = exported.run_decompositions(get_decompositions())
            widen_numbers(decomposed.graph)
            return decomposed
    except ExportError:
        raise
    except (TypeError, ValueError) as error:
        # Of the model, the loss, or how these are called.
        if _fails(program, tensors, type(error)):
            raise
        raise make_error(error, "torch.export cannot trace the model: ") from error
    except NotExported as error:
        raise make_error(error) from None
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        message = (
            f"{error.func} looks at the values of tensors, which are not known when the "
            "model is traced; compute it outside of the model, or write it in terms of "
            "other operations"
        )
        raise make_error(NotExported(message).with_traceback(error.__traceback__)) from error
    except Exception as error:
        raise make_error(error, "torch.export cannot trace the model: ") from error


def _free_strides(module) -> None:
    """Makes views of `module` reshapes: torch.export leaves out the copies that the
    strides of a kernel, such as that of attention, make needless, and what the kernel
    is decomposed into may have others. A view of a tensor that is changed in place stays one:
    a reshape may be a copy, which the change does not reach."""
    aten = torch.ops.aten
    changed = _find_changed(module)
    for each in module.modules():
        for node in each.graph.find_nodes(op="call_function", target=aten.view.default):
            if node not in changed:
                node.target = aten.reshape.default


def _find_changed(module) -> set:
    """Returns the nodes under `module` whose value may share memory with what an operation changes
    in place."""
    aliases: Dict[object, set] = {}
    changed = []

    def join(node, other) -> None:
        merged = aliases.get(node, {node}) | aliases.get(other, {other})
        aliases.update(dict.fromkeys(merged, merged))

    nodes = [node for each in module.modules() for node in each.graph.nodes]
    for node in nodes:
        for operand, is_written in _find_shared(node):
            join(node, operand)
            if is_written:
                changed.append(node)
    return set().union(*(aliases[node] for node in changed))


def _find_shared(node):
    """Yields the nodes whose values `node` may share memory with, each with whether it changes
    that."""
    schema = get_schema(node)
    if node.op != "call_function":
        return
    if schema is None:
        # An element of a tuple, or a graph, which shares what it is called with.
        for each in node.all_input_nodes:
            yield each, False
            inner = each.op == "get_attr" and getattr(node.graph.owning_module, each.target)
            if isinstance(inner, torch.fx.GraphModule):
                for placeholder in inner.graph.find_nodes(op="placeholder"):
                    yield placeholder, False
        return
    given = name_arguments(node)
    for each in schema.arguments:
        if each.alias_info is not None:
            for operand in tree_leaves(given.get(each.name)):
                if isinstance(operand, torch.fx.Node):
                    yield operand, each.alias_info.is_write


def _fails(program: Program, tensors, kind: type) -> bool:
    """Tells whether the model itself raises an error of `kind`, without being traced."""
    try:
        run_eagerly(program.model, program.pattern, tensors)
    except kind:
        return True
    except Exception:
        pass
    return False


def _dynamic_shapes(tensors):
    size = next((each.shape[0] for each in tensors if each.dim()), None)
    if size is None or size < 2:
        raise ValueError(
            "dynamic_batch needs example inputs with a batch of 2 or more: PyTorch "
            "takes a size of 1 for a constant"
        )
    batch = torch.export.Dim("batch")
    return (
        tuple({0: batch} if each.dim() and each.shape[0] == size else None for each in tensors),
    )
