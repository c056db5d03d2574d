"""Prints a module with one elementwise function for each primitive of the
dialect and each operation of arith and math that has a derivative, for the
element type given on the command line."""

import sys

PRIMITIVES = """elu gelu hardsigmoid hardswish leaky_relu mish relu sigmoid silu
softplus""".split()
UNARY = """absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp
exp2 expm1 floor log log10 log1p log2 round roundeven rsqrt sin sinh sqrt tan
tanh trunc""".split()
BINARY = """arith.addf arith.divf arith.maximumf arith.maxnumf arith.minimumf
arith.minnumf arith.mulf arith.remf arith.subf math.atan2 math.copysign
math.powf""".split()


def bodies(type):
    """Pairs of a name and a body that computes %r from %a and %b."""
    for name in PRIMITIVES:
        yield name, f"%r = fad.{name} %a : {type}"
    yield "gelu_tanh", f"%r = fad.gelu %a approximate <tanh> : {type}"
    for name in UNARY:
        yield name, f"%r = math.{name} %a : {type}"
    for name in BINARY:
        yield name.split(".")[1], f"%r = {name} %a, %b : {type}"
    yield "negf", f"%r = arith.negf %a : {type}"
    yield "fma", f"%r = math.fma %a, %b, %a : {type}"
    yield "clampf", f"%r = math.clampf %a to [%b, %a] : {type}"
    yield "sincos", f"%s, %c = math.sincos %a : {type}\n    %r = arith.addf %s, %c : {type}"
    yield "fpowi", f"%n = arith.fptosi %b : {type} to i32\n    %r = math.fpowi %a, %n : {type}, i32"
    yield (
        "select",
        f"%c = arith.cmpf olt, %a, %b : {type}\n    %r = arith.select %c, %a, %b : {type}",
    )
    if type != "f64":
        yield (
            "wide",
            f"%w = arith.extf %a : {type} to f64\n    %r = arith.truncf %w : f64 to {type}",
        )


def main():
    type = sys.argv[1]
    tensor = f"tensor<?x{type}>"
    for name, body in bodies(type):
        print(f"""func.func @{name}(%x: {tensor}, %y: {tensor}) -> {tensor} {{
  %0 = fad.elementwise ins(%x, %y : {tensor}, {tensor}) -> {tensor} {{
  ^bb0(%a: {type}, %b: {type}):
    {body}
    fad.yield %r : {type}
  }}
  return %0 : {tensor}
}}""")


main()
