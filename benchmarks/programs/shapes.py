"""Programs of any size for benchmarks and tests of how the work grows.

Each function of SHAPES takes a number of operations and returns the text of a
module with about as many in it; the function to differentiate is @f."""

TENSOR = "tensor<64x64xf32>"
ROW = "tensor<64xf32>"
MAPS = """#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>"""


def generic(result, inputs, body, out=("%e", TENSOR, "#matrix"), reduction=False):
    """Returns a linalg.generic: `inputs` are triples of value, type and map, and `body` is its
    block, whose arguments are %a, %b, ... and %out."""
    names = [f"%{'abcd'[i]}: f32" for i in range(len(inputs))] + ["%out: f32"]
    values = ", ".join(value for value, _, _ in inputs)
    types = ", ".join(type for _, type, _ in inputs)
    maps = ", ".join(map for _, _, map in [*inputs, out])
    second = "reduction" if reduction else "parallel"
    return (
        f"{result} = linalg.generic {{indexing_maps = [{maps}], "
        f'iterator_types = ["parallel", "{second}"]}} ins({values} : {types}) '
        f"outs({out[0]} : {out[1]}) {{ ^bb0({', '.join(names)}): {body} }} "
        f"-> {out[1]}"
    )


def layer(i, x):
    """One layer of a network, 14 operations: a normalization, a matmul with a
    bias, an activation that is spelled out, and a residual connection."""
    matrix = "#matrix"
    return [
        generic(
            f"%sum{i}",
            [(x, TENSOR, matrix)],
            "%s = arith.addf %a, %out : f32 linalg.yield %s : f32",
            ("%zr", ROW, "#row"),
            reduction=True,
        ),
        f"%mean{i} = arith.mulf %sum{i}, %share : {ROW}",
        generic(
            f"%d{i}",
            [(x, TENSOR, matrix), (f"%mean{i}", ROW, "#row")],
            "%s = arith.subf %a, %b : f32 linalg.yield %s : f32",
        ),
        generic(
            f"%var{i}",
            [(f"%d{i}", TENSOR, matrix)],
            "%q = arith.mulf %a, %a : f32 %s = arith.addf %q, %out : f32 linalg.yield %s : f32",
            ("%zr", ROW, "#row"),
            reduction=True,
        ),
        f"%root{i} = math.rsqrt %var{i} : {ROW}",
        f"%wide{i} = linalg.broadcast ins(%root{i} : {ROW}) outs(%e : {TENSOR}) dimensions = [1]",
        f"%n{i} = arith.mulf %d{i}, %wide{i} : {TENSOR}",
        f"%m{i} = linalg.matmul ins(%n{i}, %w : {TENSOR}, {TENSOR}) "
        f"outs(%z : {TENSOR}) -> {TENSOR}",
        generic(
            f"%h{i}",
            [(f"%m{i}", TENSOR, matrix), ("%bias", ROW, "#column")],
            "%s = arith.addf %a, %b : f32 linalg.yield %s : f32",
        ),
        f"%t{i} = math.exp %h{i} : {TENSOR}",
        f"%l{i} = math.log1p %t{i} : {TENSOR}",
        f"%c{i} = math.tanh %l{i} : {TENSOR}",
        f"%y{i} = arith.mulf %h{i}, %c{i} : {TENSOR}",
        f"%x{i} = arith.addf %y{i}, {x} : {TENSOR}",
    ]


def network(operations):
    """Layers of a network, one after the other."""
    lines = [
        MAPS,
        f"func.func @f(%x: {TENSOR}, %w: {TENSOR}, %bias: {ROW}) -> {TENSOR} {{",
        "%zero = arith.constant 0.0 : f32",
        f"%share = arith.constant dense<0.015625> : {ROW}",
        f"%e = tensor.empty() : {TENSOR}",
        f"%er = tensor.empty() : {ROW}",
        f"%z = linalg.fill ins(%zero : f32) outs(%e : {TENSOR}) -> {TENSOR}",
        f"%zr = linalg.fill ins(%zero : f32) outs(%er : {ROW}) -> {ROW}",
    ]
    x = "%x"
    for i in range(max(1, operations // 14)):
        lines += layer(i, x)
        x = f"%x{i}"
    return "\n".join([*lines, f"return {x} : {TENSOR}", "}"])


def perceptron(operations, element="bf16"):
    """Matrix products with activations between them."""
    tensor = f"tensor<64x64x{element}>"
    lines = [
        f"func.func @f(%x: {tensor}, %w: {tensor}) -> {tensor} {{",
        f"%zero = arith.constant 0.0 : {element}",
        f"%e = tensor.empty() : {tensor}",
        f"%z = linalg.fill ins(%zero : {element}) outs(%e : {tensor}) -> {tensor}",
    ]
    x = "%x"
    for i in range(max(1, operations // 2)):
        lines += [
            f"%m{i} = linalg.matmul ins({x}, %w : {tensor}, {tensor}) "
            f"outs(%z : {tensor}) -> {tensor}",
            f"%y{i} = fad.gelu %m{i} : {tensor}",
        ]
        x = f"%y{i}"
    return "\n".join([*lines, f"return {x} : {tensor}", "}"])


def blocks(operations):
    """Residual blocks, x + m * tanh(exp(m)) with m = x * W."""
    lines = [
        f"func.func @f(%x: {TENSOR}, %w: {TENSOR}) -> {TENSOR} {{",
        "%zero = arith.constant 0.0 : f32",
        f"%e = tensor.empty() : {TENSOR}",
        f"%f = linalg.fill ins(%zero : f32) outs(%e : {TENSOR}) -> {TENSOR}",
    ]
    x = "%x"
    for i in range(max(1, operations // 5)):
        lines += [
            f"%m{i} = linalg.matmul ins({x}, %w : {TENSOR}, {TENSOR}) "
            f"outs(%f : {TENSOR}) -> {TENSOR}",
            f"%s{i} = math.exp %m{i} : {TENSOR}",
            f"%t{i} = math.tanh %s{i} : {TENSOR}",
            f"%u{i} = arith.mulf %m{i}, %t{i} : {TENSOR}",
            f"%v{i} = arith.addf %u{i}, {x} : {TENSOR}",
        ]
        x = f"%v{i}"
    return "\n".join([*lines, f"return {x} : {TENSOR}", "}"])


def chain(operations):
    """One chain of operations that all read the same second tensor."""
    lines = [f"func.func @f(%x: {TENSOR}, %u: {TENSOR}) -> {TENSOR} {{"]
    x = "%x"
    for i in range(operations):
        operation = "arith.addf" if i % 2 else "arith.mulf"
        lines.append(f"%v{i} = {operation} {x}, %u : {TENSOR}")
        x = f"%v{i}"
    return "\n".join([*lines, f"return {x} : {TENSOR}", "}"])


def activations(operations):
    """One chain of activations, each with a derivative of its own."""
    lines = [f"func.func @f(%v0: {TENSOR}) -> {TENSOR} {{"]
    names = ["math.sin", "math.tanh", "fad.gelu", "math.exp"]
    lines += [f"%v{i + 1} = {names[i % len(names)]} %v{i} : {TENSOR}" for i in range(operations)]
    return "\n".join([*lines, f"return %v{operations} : {TENSOR}", "}"])


def bodies(operations):
    """One chain of activations whose derivatives have long bodies."""
    lines = [f"func.func @f(%v0: {TENSOR}) -> {TENSOR} {{"]
    lines += [f"%v{i + 1} = fad.gelu %v{i} : {TENSOR}" for i in range(operations)]
    return "\n".join([*lines, f"return %v{operations} : {TENSOR}", "}"])


def loops(operations):
    """Short loops, one after the other."""
    lines = [f"func.func @f(%x: {TENSOR}, %u: {TENSOR}) -> {TENSOR} {{"]
    lines += [f"%c{i} = arith.constant {i} : index" for i in (0, 1, 4)]
    x = "%x"
    for i in range(max(1, operations // 3)):
        lines += [
            f"%v{i} = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = {x}) -> ({TENSOR}) {{",
            f"%t = math.tanh %a : {TENSOR}",
            f"%y = arith.mulf %t, %u : {TENSOR}",
            f"scf.yield %y : {TENSOR}",
            "}",
        ]
        x = f"%v{i}"
    return "\n".join([*lines, f"return {x} : {TENSOR}", "}"])


def wide(operations):
    """One value that half of the operations read; the others add them up."""
    lines = [f"func.func @f(%x: {TENSOR}) -> {TENSOR} {{", f"%v0 = math.exp %x : {TENSOR}"]
    for i in range(1, max(2, operations // 2)):
        lines += [
            f"%m{i} = linalg.matmul ins(%x, %v{i - 1} : {TENSOR}, {TENSOR}) "
            f"outs(%x : {TENSOR}) -> {TENSOR}",
            f"%v{i} = arith.addf %m{i}, %x : {TENSOR}",
        ]
    last = max(2, operations // 2) - 1
    return "\n".join([*lines, f"return %v{last} : {TENSOR}", "}"])


def arguments(operations):
    """As many arguments as operations."""
    names = [f"%x{i}" for i in range(operations + 1)]
    signature = ", ".join(f"{name}: {TENSOR}" for name in names)
    lines = [f"func.func @f({signature}) -> {TENSOR} {{"]
    x = names[0]
    for i, name in enumerate(names[1:]):
        lines.append(
            f"%v{i} = linalg.matmul ins({x}, {name} : {TENSOR}, {TENSOR}) "
            f"outs({name} : {TENSOR}) -> {TENSOR}"
        )
        x = f"%v{i}"
    return "\n".join([*lines, f"return {x} : {TENSOR}", "}"])


def functions(operations):
    """One small function to differentiate, and many others."""
    lines = [
        f"func.func @f(%x: {TENSOR}) -> {TENSOR} {{",
        f"%y = math.exp %x : {TENSOR}",
        f"return %y : {TENSOR}",
        "}",
    ]
    for i in range(operations // 2):
        lines += [
            f"func.func @g{i}(%x: {TENSOR}) -> {TENSOR} {{",
            f"%y = math.exp %x : {TENSOR}",
            f"%z = math.tanh %y : {TENSOR}",
            f"return %z : {TENSOR}",
            "}",
        ]
    return "\n".join(lines)


def concatenation(operations):
    """Half of the operations give a tensor each, all of which one concatenates."""
    rows = "tensor<?x64xf32>"
    numbers = range(max(1, operations // 2))
    signature = ", ".join(f"%x{i}: {rows}" for i in numbers)
    lines = [f"func.func @f({signature}) -> {rows} {{"]
    lines += [f"%v{i} = math.exp %x{i} : {rows}" for i in numbers]
    return "\n".join(
        [
            *lines,
            f"%r = tensor.concat dim(0) {', '.join(f'%v{i}' for i in numbers)} : "
            f"({', '.join(rows for _ in numbers)}) -> {rows}",
            f"return %r : {rows}",
            "}",
        ]
    )


SHAPES = {
    shape.__name__: shape
    for shape in [
        network,
        blocks,
        chain,
        activations,
        bodies,
        loops,
        wide,
        arguments,
        functions,
        concatenation,
    ]
}
