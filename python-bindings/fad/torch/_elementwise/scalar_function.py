"""An elementwise function of Python as a function of MLIR.

Each operation of PyTorch in its trace becomes operations of one scalar body. Numbers of
16 bits are computed in f32 and rounded once, at the end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import fx

from ... import _fad
from ..._module import Module
from ..._operators.formulas import Formula
from ..._operators.table import OPERATORS, Operator
from ..._operators.writer import Body, Scalar, Unsupported, Value, add_tensor, make_module
from .._decompositions.kinks import get_kinks
from .._decompositions.special import get_special
from .._pytorch import get_decompositions
from .._releases import find_formula
from .._requirements import torch
from .._types import FLOATS, MLIR_TYPES, float_type
from ..compile._scalars import RULES, Operand, apply_to_floats, divide, find_packet

aten = torch.ops.aten
_NARROW = (torch.float16, torch.bfloat16)


class NotElementwise(TypeError):
    """A function that has no kernel here; the message says why, and what to do."""


def get_name(function: Callable[..., Any]) -> str:
    """Returns the name of `function` in messages."""
    return getattr(function, "__qualname__", None) or type(function).__qualname__


@dataclass(frozen=True)
class ScalarFunction:
    """A function of elements of `dtypes` with a result of the type `result`."""

    scalar: Scalar
    dtypes: tuple[torch.dtype, ...]
    result: torch.dtype

    def make_module(self, hides_arguments: bool = False) -> Module:
        """Returns a module whose function `f` maps tensors of one dimension to one.

        Arguments cost nothing to keep, so fad never keeps few bits instead. With
        `hides_arguments`, they have a dimension of size 1 more, which is summed: then
        what comes from them has to be kept."""
        return make_module(self.scalar, read=_sum if hides_arguments else add_tensor)


def _sum(builder: _fad.Builder, element: str) -> _fad.Value:
    """Returns an argument, summed along its dimension of size 1."""
    value = builder.argument(((None, 1), element))
    (place,) = builder.create("arith.constant", [], ["index"], {"value": 0})
    (zero,) = builder.create("arith.constant", [], [element], {"value": 0})
    (size,) = builder.create("tensor.dim", [value, place], ["index"])
    result = ((None,), element)
    (empty,) = builder.create("tensor.empty", [size], [result])
    keep, add = Body(), Body()
    given, _ = (keep.add_argument(element) for _ in range(2))
    (zeros,) = builder.create("linalg.fill", [zero, empty], [result], body=keep.finish(given))
    given, sum = (add.add_argument(element) for _ in range(2))
    sum = add.apply("arith.addf", sum, given)
    (total,) = builder.create(
        "linalg.reduce", [value, zeros], [result], {"dimensions": (1,)}, add.finish(sum)
    )
    return total


def _test(op: str) -> Callable[..., Value]:
    def rule(body: Body, _: Any, x: Operand) -> Value:
        float_type(x.dtype)
        return body.add(op, (x.read(body, x.dtype),), "i1")

    return rule


def _make_formula(operator: Operator) -> Formula:
    formula = find_formula(operator)
    if formula:
        return formula
    return lambda write, *operands: write.apply(operator.mlir, *operands)


# Those of graphs that PyTorch has differentiated are values alone; here are the formulas that
# fad differentiates.
_RULES: dict[Any, Callable[..., Value]] = {
    **RULES,
    **{
        find_packet(row): apply_to_floats(_make_formula(row))
        for row in OPERATORS
        if row.kind not in ("condition", "logic", "select")
    },
    **{
        find_packet(row): _test(row.mlir)
        for row in OPERATORS
        if row.kind == "condition" and row.operands == 1
    },
    aten.div: divide,
    torch.ops.fad.erfc: RULES[aten.erfc],
}
_FILLED = (
    aten.full,
    aten.full_like,
    aten.ones_like,
    aten.scalar_tensor,
    aten.zeros_like,
)
_KEPT = (aten._to_copy, aten.alias, aten.detach, aten.lift_fresh_copy)
_BY_RESULT = (aten.relu, *(find_packet(row) for row in OPERATORS if row.slope))
_BOUNDED = (aten.clamp.Tensor, aten.clamp_min.Tensor, aten.clamp_max.Tensor)
_FILL = {aten.ones_like: 1, aten.zeros_like: 0}


def _log_sigmoid(x):
    value = torch.minimum(x, torch.zeros_like(x)) - torch.log1p(torch.exp(-x.abs()))
    return value, x.new_zeros(0)


def _sign(x):
    return torch.where(x > 0, 1.0, torch.where(x < 0, -1.0, 0.0)).to(x.dtype)


def make_decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's, but for operations that have a body, and those of fad, whose derivatives
    are PyTorch's at kinks, too."""
    # Bounds that are tensors have gradients, too.
    kinks = {
        target: function
        for target, function in get_kinks().items()
        if target.overloadpacket not in _RULES or target in _BOUNDED
    }
    table = {
        target: function
        for target, function in get_decompositions().items()
        if getattr(target, "overloadpacket", None) not in (*_RULES, *_FILLED, *_KEPT)
    }
    special = {
        target: function
        for target, function in get_special().items()
        if target.overloadpacket not in _RULES
    }
    return {
        **table,
        **special,
        **kinks,
        aten.log_sigmoid_forward.default: _log_sigmoid,
        aten.sign.default: _sign,
        aten.sgn.default: _sign,
    }


class _Importer:
    """The scalar body of a traced graph."""

    def __init__(
        self,
        function: Callable[..., Any],
        dtypes: Mapping[torch.dtype, torch.dtype],
        is_f16: bool,
    ) -> None:
        """Types of the graph that `dtypes` has are others here."""
        self.name = get_name(function)
        self.dtypes = dtypes
        self.body = Body(is_f16)
        self.values: dict[fx.Node, Operand] = {}

    def run(self, graph: fx.GraphModule, operands: Sequence[Operand]) -> Operand:
        placeholders = graph.graph.find_nodes(op="placeholder")
        self.values.update(zip(placeholders, operands))
        for node in graph.graph.nodes:
            if node.op == "get_attr":
                self.values[node] = self.read_constant(graph, node)
            elif node.op == "call_function":
                self.values[node] = self.convert(node)
        (result,) = graph.graph.output_node().args
        if isinstance(result, (list, tuple)):
            (result,) = result
        return self.values[result]

    def read_constant(self, graph: fx.GraphModule, node: fx.Node) -> Operand:
        """Returns a tensor that is not an argument. One of rank 0 that the function makes itself is
        a number."""
        value = getattr(graph, str(node.target))
        copies = (aten.alias.default, aten.lift_fresh_copy.default)
        made = all(user.target in copies for user in node.users)
        if made and value.numel() == 1:
            return Operand(value.item(), None)
        raise NotElementwise(
            f"{self.name} reads a tensor that is no argument; make the tensor an argument"
        )

    def convert(self, node: fx.Node) -> Operand:
        packet = getattr(node.target, "overloadpacket", None)
        value = node.meta.get("val")
        if packet in _FILLED:
            number = _FILL.get(packet, node.args[-1])
            if isinstance(number, (bool, int, float)):
                return Operand(number, None)
        if packet in (aten.lift_fresh_copy, aten.alias) or _is_same_view(node):
            return self.values[node.args[0]]
        rule = _RULES.get(packet)
        dtype = value.dtype if isinstance(value, torch.Tensor) else None
        dtype = self.dtypes.get(dtype, dtype)
        if packet is aten._to_copy and set(node.kwargs) <= {"dtype", "memory_format"}:
            rule, options = RULES[aten.clone], {}
        else:
            options = {k: v for k, v in node.kwargs.items() if k != "memory_format"}
        if rule is None or dtype is None:
            raise self.refuse(node)
        operands = [self.values.get(each, each) for each in node.args]
        operands = [
            Operand(each, None) if isinstance(each, (bool, int, float)) else each
            for each in operands
            if not isinstance(each, torch.dtype)
        ]
        if any(each is not None and not isinstance(each, Operand) for each in operands):
            raise self.refuse(node)
        try:
            if all(each is None or each.dtype is None for each in operands):
                # A number of numbers alone.
                operands = [self.fix(each, dtype) for each in operands]
            name = rule(self.body, dtype, *operands, **options)
        except (Unsupported, TypeError):
            raise self.refuse(node) from None
        return Operand(name, dtype)

    def fix(self, operand: Operand | None, dtype: torch.dtype) -> Operand | None:
        if operand is None:
            return None
        return Operand(operand.read(self.body, dtype), dtype)

    def refuse(self, node: fx.Node) -> NotElementwise:
        return NotElementwise(
            f"{self.name} uses {node.target}, of which fad has no kernel for single elements; "
            "call the function as it is, or compile the model with "
            'torch.compile(model, backend="fad")'
        )


def _is_same_view(node: fx.Node) -> bool:
    """Tells whether `node` is its operand in another shape of as many elements. Elements keep their
    order."""
    packet = getattr(node.target, "overloadpacket", None)
    if packet not in (aten.view, aten.expand, aten.unsqueeze, aten.squeeze, aten.reshape):
        return False
    before, after = node.args[0].meta["val"], node.meta["val"]
    return before.shape == after.shape


def import_graph(
    graph: fx.GraphModule,
    function: Callable[..., Any],
    dtypes: tuple[torch.dtype, ...],
    result: torch.dtype,
) -> ScalarFunction:
    """Returns the `function` whose trace is `graph`, of tensors of `dtypes`, with a result of the
    type `result`."""
    operations = [node for node in graph.graph.nodes if node.op == "call_function"]
    # One operation rounds once in any case, and these have their derivative by the result.
    packets = [getattr(node.target, "overloadpacket", None) for node in operations]
    is_single = len(packets) == 1 and packets[0] in _BY_RESULT and {*dtypes} == {result}
    if is_single:
        types = dict.fromkeys(FLOATS, result)
    else:
        types = {dtype: torch.float32 for dtype in dtypes if dtype in _NARROW}
    importer = _Importer(function, types, result is torch.float16)
    body, operands = importer.body, []
    for value, dtype in [(body.add_argument(MLIR_TYPES[each]), each) for each in dtypes]:
        wide = types.get(dtype, dtype)
        operands.append(Operand(Operand(value, dtype).read(body, wide), wide))
    value = importer.run(graph, operands).read(body, result)
    return ScalarFunction(body.finish(value), dtypes, result)
