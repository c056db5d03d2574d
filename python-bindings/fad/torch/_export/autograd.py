"""Effects of PyTorch's autograd on a traced model that its values do not show."""

import copy

from ..._diagnostics import Diagnostic
from .errors import ExportError, find_node_location
from .._requirements import torch

_NO_GRAD = torch.ops.higher_order.wrap_with_set_grad_enabled


class _Probe(torch.fx.Interpreter):
    """Runs a graph on tensors without data, with autograd, and collects the nodes
    whose values have no gradient though what they are computed from has one:
    those under `torch.no_grad()`, and the results of operations that PyTorch does
    not differentiate."""

    def __init__(self, module, graph=None):
        super().__init__(module, garbage_collect_values=False, graph=graph)
        self.extra_traceback = False
        self.cuts = []
        self._mixed = set()

    def run_node(self, node):
        value = super().run_node(node)
        inputs = node.all_input_nodes
        is_reached = any(
            each in self._mixed or _has_gradient(self.env.get(each)) for each in inputs
        )
        if node.op != "call_function" or not is_reached:
            return value
        if isinstance(value, (tuple, list)):
            self._mixed.add(node)
        elif _is_float(value) and not value.requires_grad and not _is_shape_only(node):
            self.cuts.append(node)
        return value

    def call_function(self, target, args, kwargs):
        if target is not _NO_GRAD:
            return super().call_function(target, args, kwargs)
        enabled, module, *inputs = args
        inner = _Probe(module)
        with torch.set_grad_enabled(enabled):
            value = inner.run(*inputs)
        _insert_detach(inner)
        return value


def _is_float(value) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _has_gradient(value) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _is_shape_only(node) -> bool:
    """Tells whether the operation reads the shape and type of its operand only."""
    name = getattr(node.target, "__name__", "")
    return "_like" in name or name.startswith("new_")


def _insert_detach(probe: _Probe) -> None:
    for node in probe.cuts:
        graph = node.graph
        with graph.inserting_after(node):
            cut = graph.call_function(torch.ops.aten.detach.default, (node,))
        cut.meta = copy.copy(node.meta)
        node.replace_all_uses_with(cut, delete_user_cb=lambda user: user is not cut)
    probe.module.recompile()


def mark_gradients(exported, is_trained) -> None:
    """Detaches, in the program `exported`, what has no gradient in PyTorch.
    `is_trained` says of the names of parameters which are trained. Raises
    ExportError where PyTorch has no derivative of an operation on the way to the
    loss."""
    graph = exported.graph
    names = {spec.arg.name: spec.target for spec in exported.graph_signature.input_specs}
    inputs, mode = [], None
    for node in graph.find_nodes(op="placeholder"):
        value = node.meta["val"]
        if isinstance(value, torch.Tensor):
            mode = value.fake_mode
            value = value.detach().requires_grad_(
                value.is_floating_point() and is_trained(names.get(node.name))
            )
        inputs.append(value)
    if mode is None:
        return
    probe = _Probe(exported.graph_module)
    with mode, torch.enable_grad():
        probe.run(*inputs)
    _check_derivatives(probe, graph)
    _insert_detach(probe)


def _check_derivatives(probe: _Probe, graph) -> None:
    errors, seen = [], set()
    stack = list(graph.output_node().all_input_nodes)
    while stack:
        node = stack.pop()
        value = probe.env.get(node)
        if node in seen or isinstance(value, torch.Tensor) and not value.requires_grad:
            continue
        seen.add(node)
        stack.extend(node.all_input_nodes)
        function = getattr(value, "grad_fn", None)
        if function is not None and function.name().endswith("::NotImplemented"):
            message = f"PyTorch has no derivative of {node.target}; detach its operands"
            errors.append(Diagnostic("error", message, find_node_location(node)))
    if errors:
        raise ExportError(*errors)


def find_reached(graph) -> set:
    """Returns the nodes of `graph` that the loss, its first result, depends on other than by what
    is detached."""
    found, stack = set(), [graph.output_node().args[0][0]]
    while stack:
        node = stack.pop()
        if node not in found and node.target is not torch.ops.fad.detach.default:
            found.add(node)
            stack.extend(node.all_input_nodes)
    return found
