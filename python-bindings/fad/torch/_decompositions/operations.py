"""Operations that neither PyTorch's core nor torch-mlir has.

Each is an operation of PyTorch while a model is traced. torch-mlir refuses what it
does not know: while it works, each is a call to a function that has no body, and
`define` gives it one of upstream's dialects and of fad."""

from typing import Callable, Dict, List, NamedTuple, Sequence

from .._requirements import torch

Tensor = torch.Tensor


@torch.library.custom_op("fad::detach", mutates_args=())
def _detach_floats(x: Tensor) -> Tensor:
    return x.clone()


def detach(x: Tensor) -> Tensor:
    """Returns a value through which no gradient flows."""
    return _detach_floats(x) if x.is_floating_point() else x


@torch.library.custom_op("fad::erfc", mutates_args=())
def erfc(x: Tensor) -> Tensor:
    """Returns the complement of the error function."""
    return torch.erfc(x)


@torch.library.custom_op("fad::fmod", mutates_args=())
def fmod(x: Tensor, y: Tensor) -> Tensor:
    """Returns the remainder of `x` by `y`, with the sign of `x`; of one shape and type."""
    return torch.fmod(x, y)


@_detach_floats.register_fake
@erfc.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@fmod.register_fake
def _(x, y):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("fad::order", mutates_args=())
def order(x: Tensor, dim: int, descending: bool, count: int) -> Tensor:
    """Returns the indices of the first `count` elements along `dim`, sorted; equal ones keep their
    order, and NaN is greater than numbers. A negative `count` is all."""
    places = torch.argsort(x, dim=dim, descending=descending, stable=True)
    return places if count < 0 else places.narrow(dim, 0, count).contiguous()


@order.register_fake
def _(x, dim, descending, count):
    shape = list(x.shape)
    if count >= 0:
        shape[dim] = count
    return x.new_empty(shape, dtype=torch.int64)


@torch.library.custom_op("fad::scatter", mutates_args=())
def scatter(
    x: Tensor, places: Tensor, updates: Tensor, dims: List[int], accumulate: bool
) -> Tensor:
    """`x`, with each slice of `updates` put, or added, where a row of `places` says:
    one index, not negative, for each of `dims`, which increase."""
    order = [*dims, *(each for each in range(x.dim()) if each not in dims)]
    moved = x.permute(order).clone()
    moved = moved.index_put(places.unbind(1), updates, accumulate)
    return moved.permute([order.index(each) for each in range(x.dim())]).contiguous()


@scatter.register_fake
def _(x, places, updates, dims, accumulate):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


#
# As functions of MLIR
#


class _Shaped(NamedTuple):
    """A type of tensors, of the shape `sizes`, with None where it is dynamic."""

    sizes: Sequence
    element: str

    def __str__(self) -> str:
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.sizes)
        return f"tensor<{sizes}{self.element}>"

    def is_float(self) -> bool:
        return "f" in self.element

    def with_sizes(self, sizes, element=None) -> "_Shaped":
        return _Shaped(tuple(sizes), element or self.element)


def _shape(type_) -> _Shaped:
    from torch_mlir import ir

    shaped = ir.RankedTensorType(type_)
    sizes = tuple(
        None if shaped.is_dynamic_dim(each) else shaped.get_dim_size(each)
        for each in range(shaped.rank)
    )
    return _Shaped(sizes, str(shaped.element_type))


def _make_detach(types, constants) -> str:
    return f'%r = "fad.detach"(%a0) : ({types[0]}) -> {types[0]}'


def _make_erfc(types, constants) -> str:
    return f"%r = math.erfc %a0 : {types[0]}"


def _make_fmod(types, constants) -> str:
    kind = "f" if types[0].is_float() else "si"
    return f"%r = arith.rem{kind} %a0, %a1 : {types[0]}"


def _map(rank: int, results: Sequence[int]) -> str:
    names = [f"d{each}" for each in range(rank)]
    picked = ", ".join(names[each] for each in results)
    return f"affine_map<({', '.join(names)}) -> ({picked})>"


def _empty(name: str, type_: _Shaped, like: str, like_type: _Shaped) -> str:
    """Zeros of `type_`, whose dynamic sizes are those of `like`."""
    lines, sizes = [], []
    for dim, size in enumerate(type_.sizes):
        if size is None:
            lines += [
                f"%{name}c{dim} = arith.constant {dim} : index",
                f"%{name}n{dim} = tensor.dim {like}, %{name}c{dim} : {like_type}",
            ]
            sizes.append(f"%{name}n{dim}")
    lines += [
        f"%{name}e = tensor.empty({', '.join(sizes)}) : {type_}",
        f"%{name}0 = arith.constant 0 : {type_.element}",
        f"%{name} = linalg.fill ins(%{name}0 : {type_.element}) "
        f"outs(%{name}e : {type_}) -> {type_}",
    ]
    return "\n".join(lines)


def _sum(result, reads, init, init_type, dim, body) -> str:
    """Returns a sum of integers over one loop more than the result has dimensions, which stands for
    `dim` in those of `reads` that say so."""
    rank = len(init_type.sizes)
    maps, names, types = [], [], []
    for name, type_, is_along in reads:
        dims = [rank if is_along and each == dim else each for each in range(rank)]
        maps.append(_map(rank + 1, dims))
        names.append(name)
        types.append(str(type_))
    maps.append(_map(rank + 1, range(rank)))
    iterators = ", ".join(['"parallel"'] * rank + ['"reduction"'])
    arguments = [f"%in{each}: {read[1].element}" for each, read in enumerate(reads)]
    return f"""{result} = linalg.generic {{indexing_maps = [{", ".join(maps)}],
      iterator_types = [{iterators}]}} ins({", ".join(names)} : {", ".join(types)})
      outs({init} : {init_type}) {{
  ^bb0({", ".join(arguments)}, %sum: {init_type.element}):
    %here = linalg.index {dim} : index
    %other = linalg.index {rank} : index
    {body}
    %next = arith.addi %sum, %term : {init_type.element}
    linalg.yield %next : {init_type.element}
  }} -> {init_type}"""


def _goes_first(element: str, descending: bool) -> str:
    """Tells whether %in1, at %other, goes before %in0, at %here, as %term."""
    earlier = "%earlier = arith.cmpi ult, %other, %here : index"
    if "f" not in element:
        less = "sgt" if descending else "slt"
        return f"""{earlier}
    %less = arith.cmpi {less}, %in1, %in0 : {element}
    %same = arith.cmpi eq, %in1, %in0 : {element}
    %tie = arith.andi %same, %earlier : i1
    %first = arith.ori %less, %tie : i1
    %term = arith.extui %first : i1 to i64"""
    less = "ogt" if descending else "olt"
    nan, number = ("%in1", "%in0") if descending else ("%in0", "%in1")
    return f"""{earlier}
    %less = arith.cmpf {less}, %in1, %in0 : {element}
    %equal = arith.cmpf oeq, %in1, %in0 : {element}
    %nan = arith.cmpf uno, {nan}, {nan} : {element}
    %number = arith.cmpf ord, {number}, {number} : {element}
    %nans = arith.andi %nan, %number : i1
    %nan0 = arith.cmpf uno, %in0, %in0 : {element}
    %nan1 = arith.cmpf uno, %in1, %in1 : {element}
    %both = arith.andi %nan0, %nan1 : i1
    %same = arith.ori %equal, %both : i1
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %nans : i1
    %first = arith.ori %before, %tie : i1
    %term = arith.extui %first : i1 to i64"""


def _make_order(types, constants) -> str:
    """Returns how many elements go before each is its place; then which element has each place."""
    (x,) = types
    dim, descending, count = constants
    ranks = x.with_sizes(x.sizes, "i64")
    sizes = list(x.sizes)
    if count >= 0:
        sizes[dim] = count
    result = x.with_sizes(sizes, "i64")
    found = """%place = arith.index_cast %here : index to i64
    %element = arith.index_cast %other : index to i64
    %is = arith.cmpi eq, %in0, %place : i64
    %zero = arith.constant 0 : i64
    %term = arith.select %is, %element, %zero : i64"""
    reads = [("%a0", x, False), ("%a0", x, True)]
    first = _goes_first(x.element, descending)
    return "\n".join(
        [
            _empty("n", ranks, "%a0", x),
            _sum("%ranks", reads, "%n", ranks, dim, first),
            _empty("z", result, "%a0", x),
            _sum("%r", [("%ranks", ranks, True)], "%z", result, dim, found),
        ]
    )


def _check_places(x: _Shaped, places: _Shaped, dims: Sequence[int]) -> str:
    """%places: %a1, with an assertion that each index is within %a0."""
    lines, size = [], "%size0"
    for column, dim in enumerate(dims):
        lines.append(f"%dim{column} = arith.constant {dim} : index")
        lines.append(f"%size{column} = tensor.dim %a0, %dim{column} : {x}")
    chosen = []
    for column in range(1, len(dims)):
        chosen += [
            f"%c{column} = arith.constant {column} : index",
            f"%is{column} = arith.cmpi eq, %column, %c{column} : index",
            f"%chosen{column} = arith.select %is{column}, %size{column}, {size} : index",
        ]
        size = f"%chosen{column}"
    body = "\n    ".join(
        [
            "%column = linalg.index 1 : index",
            *chosen,
            "%place = arith.index_cast %in : i64 to index",
            f"%is = arith.cmpi ult, %place, {size} : index",
            'cf.assert %is, "an index is out of range"',
        ]
    )
    lines.append(_empty("p", places, "%a1", places))
    same = _map(2, [0, 1])
    lines.append(
        f"""%places = linalg.generic {{indexing_maps = [{same}, {same}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%a1 : {places}) outs(%p : {places}) {{
  ^bb0(%in: i64, %out: i64):
    {body}
    linalg.yield %in : i64
  }} -> {places}"""
    )
    return "\n".join(lines)


def _make_scatter(types, constants) -> str:
    x, places, updates = types
    dims, accumulate = constants
    checked = _check_places(x, places, dims)
    if not accumulate:
        return (
            f"{checked}\n%r = tensor.scatter %a2 into %a0[%places] "
            f"scatter_dims({dims}) unique : ({updates}, {x}, {places}) -> {x}"
        )
    lines, names = [checked], []
    count = places.sizes[0]
    if count is None:
        lines.append("%c0 = arith.constant 0 : index")
        lines.append(f"%n = tensor.dim %places, %c0 : {places}")
        count = "%n"
    column = places.with_sizes(places.sizes[:1])
    for each in range(len(dims)):
        lines.append(
            f"%i{each} = tensor.extract_slice %places[0, {each}] [{count}, 1] [1, 1] : "
            f"{places} to {column}"
        )
        names.append(f"%i{each}")
    source = [str(updates), str(x), *[str(column)] * len(dims)]
    lines.append(
        f'%r = "fad.scatter_add"(%a2, %a0, {", ".join(names)}) '
        f"<{{dims = array<i64: {', '.join(map(str, dims))}>}}> : "
        f"({', '.join(source)}) -> {x}"
    )
    return "\n".join(lines)


_BODIES: Dict[str, Callable] = {
    "torch.fad.detach": _make_detach,
    "torch.fad.erfc": _make_erfc,
    "torch.fad.fmod": _make_fmod,
    "torch.fad.order": _make_order,
    "torch.fad.scatter": _make_scatter,
}


class _Function(NamedTuple):
    """The function that is called in place of an operation."""

    name: str
    make_body: Callable
    constants: list


def _read_constant(value):
    """Returns the number, or list of numbers, that `value` is."""
    owner = value.owner
    if owner.name == "torch.prim.ListConstruct":
        return [_read_constant(each) for each in owner.operands]
    return owner.attributes["value"].value


def declare(module) -> List[_Function]:
    """Makes the operations of this file in `module`, which torch-mlir has imported,
    calls."""
    from torch_mlir import ir

    found = []

    def visit(each):
        if each.name == "torch.operator":
            if ir.StringAttr(each.attributes["name"]).value in _BODIES:
                found.append(each)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    functions = []
    for number, each in enumerate(found):
        kind = ir.StringAttr(each.attributes["name"]).value
        tensors = [v for v in each.operands if "vtensor" in str(v.type)]
        others = [v for v in each.operands if "vtensor" not in str(v.type)]
        name = f"{kind[len('torch.') :]}.{number}"
        constants = list(map(_read_constant, others))
        functions.append(_Function(name, _BODIES[kind], constants))
        results = [result.type for result in each.results]
        call = ir.Operation.create(
            "func.call",
            results=results,
            operands=tensors,
            attributes={"callee": ir.FlatSymbolRefAttr.get(name, module.context)},
            loc=each.location,
            ip=ir.InsertionPoint(each),
        )
        each.results[0].replace_all_uses_with(call.results[0])
        each.erase()
        with module.context, ir.Location.unknown():
            function = ir.FunctionType.get([each.type for each in tensors], results)
            ir.Operation.create(
                "func.func",
                regions=1,
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "function_type": ir.TypeAttr.get(function),
                    "sym_visibility": ir.StringAttr.get("private"),
                },
                ip=ir.InsertionPoint(module.body),
            )
    return functions


def define(module, functions: Sequence[_Function]) -> None:
    """Gives what `declare` has called its bodies, now that `module` has types of
    upstream's."""
    from torch_mlir import ir

    declared = {
        ir.StringAttr(each.attributes["sym_name"]).value: each
        for each in module.body.operations
        if "sym_name" in each.attributes
    }
    module.context.allow_unregistered_dialects = True
    for function in functions:
        operation = declared[function.name]
        type_ = ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value)
        types = list(map(_shape, type_.inputs))
        arguments = ", ".join(f"%a{n}: {each}" for n, each in enumerate(types))
        text = f"""func.func private @{function.name}({arguments}) -> {type_.results[0]} {{
          {function.make_body(types, function.constants)}
          return %r : {type_.results[0]}
        }}"""
        with module.context:
            parsed = ir.Module.parse(text)
        operation.operation.erase()
        module.body.append(parsed.body.operations[0])
