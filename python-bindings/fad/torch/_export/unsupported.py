"""Operations that torch-mlir has no linalg for, or never comes back from."""

from typing import List

from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from ..._diagnostics import Diagnostic
from .errors import ExportError, find_mlir_location, find_node_location
from .._pytorch import get_schema
from .._requirements import torch

# Results of torch-mlir for operations that linalg has none for, and what a model
# can do instead.
_INSTEAD = {
    "tm_tensor.scan": (
        "a scan over a dynamic dimension",
        "write it as a sum with a mask",
    ),
}
_OTHERWISE = ("an operation", "write it in terms of others")
_DIALECTS = ("tm_tensor", "torch", "torch_c")


def check_graph(graph) -> None:
    """Raises ExportError with all operations of `graph` that have an effect, or
    results whose size depends on values, on which torch-mlir may run forever, and with
    those that read memory which the exported program does not have."""
    errors: List[Diagnostic] = []
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is torch.ops.higher_order.with_effects:
            message = (
                f"{node.args[1]} may fail, depending on values, which torch-mlir has "
                "no operation for; compute it outside of the model"
            )
        elif node.target is torch.ops.higher_order.cond:
            message = (
                "torch.cond has no form in torch-mlir; compute both branches and "
                "choose with torch.where"
            )
        elif _makes_size(node):
            message = (
                f"{node.target} has a result whose size depends on values; keep the "
                "size and use a mask, as torch.where does"
            )
        elif node.target is torch.ops.aten.as_strided.default and _is_detached(node.args[0]):
            message = (
                "as_strided reads the memory of a detached tensor, which is another one in "
                "the exported program; detach the result of as_strided instead"
            )
        else:
            continue
        errors.append(Diagnostic("error", message, find_node_location(node)))
    if errors:
        raise ExportError(*errors)


def _is_detached(node) -> bool:
    """Tells whether `node` is a view of a detached tensor."""
    while (schema := get_schema(node)) is not None:
        if node.target is torch.ops.aten.detach.default:
            return True
        if not schema.returns or schema.returns[0].alias_info is None:
            return False
        node = node.args[0]
    return False


def _makes_size(node) -> bool:
    """Tells whether a size of the result of `node` becomes known when it runs."""
    return _has_own_size(node) and not any(map(_has_own_size, node.all_input_nodes))


def _has_own_size(node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and bool(free_unbacked_symbols(value))


def find_left(operation) -> list:
    """Returns the operations of PyTorch under `operation`, other than constants and lists."""
    from torch_mlir import ir

    found = []

    def visit(each):
        if each.name.startswith("torch.aten."):
            found.append(each)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    return found


def check_lowered(operation) -> None:
    """Raises ExportError with all operations under `operation` of dialects that
    only torch-mlir has."""
    from torch_mlir import ir

    errors: List[Diagnostic] = []

    def visit(each):
        dialect = each.name.partition(".")[0]
        if dialect in _DIALECTS and each.name != "tm_tensor.yield":
            what, instead = _INSTEAD.get(each.name, _OTHERWISE)
            errors.append(
                Diagnostic(
                    "error",
                    f"{what} becomes '{each.name}', which is not supported; {instead}",
                    find_mlir_location(each.location),
                )
            )
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    if errors:
        raise ExportError(*errors)
