"""Reads, in the output of fad-opt after --fad-nest and --fad-to-nvvm, which kernel
computes which pass of a program, and what its parameters are."""

import re

FUNCTION = r"func\.func @{}\((.*?)\) ->.*?\n(.*?)(?=\n  func\.func |\n  gpu\.binary |\Z)"
KERNEL = re.compile(
    r"(%\S+?)(?::\d+)? = fad\.elementwise ins\((.*?) : (.*?)\) attributes \{(.*?)\} -> (.*?) \{"
)
RETURN = re.compile(r"\n    return (.*?) : ")
ATTRIBUTE = r"{} = ([^,}}]+)"
SUFFIXES = {"aligned": "", "inplace": "_inplace", "unaligned": "_unaligned"}
COUNTS = {"u32": "i32", "b32": "i32", "u64": "i64", "b64": "i64"}


class PackError(Exception):
    pass


def read_attribute(attributes, name):
    return re.search(ATTRIBUTE.format(re.escape(name)), attributes)[1]


def read_pass(text, program, direction, kind):
    """Returns the function's arguments, the match of its only kernel, and what it returns."""
    function = re.search(FUNCTION.format(f"{program}_{direction}"), text, re.DOTALL)
    if not function:
        raise PackError(f"fad-opt made no {program}_{direction}")
    arguments, body = function.groups()
    kernels = KERNEL.findall(body)
    parts = [part for _, _, operands, _, results in kernels for part in (operands, results)]
    types = {each for part in parts for each in part.split(", ")}
    if len(kernels) != 1 or types != {f"tensor<?x{kind}>"}:
        raise PackError(
            f"{program}_{direction} is not one kernel of {kind} alone; the kit takes "
            "activations that are"
        )
    names = re.findall(r"(%\w+): ", arguments)
    return names, kernels[0], RETURN.search("\n" + body)[1].split(", ")


def describe(direction, kernel, roles, results, entries):
    """Returns the entry of the manifest. `roles` are of operands, `results` of results."""
    _, operands, _, attributes, _ = kernel
    name = read_attribute(attributes, "fad.kernel").split("::@")[1]
    parameters = [{"role": roles[each], "type": "pointer"} for each in operands.split(", ")]
    parameters += [{"role": role, "type": "pointer"} for role in results]
    variants = {}
    for variant, suffix in SUFFIXES.items():
        types = entries.get(name + suffix)
        if types is None or len(types) != len(parameters) + 1 or types[-1] not in COUNTS:
            raise PackError(
                f"the PTX has no kernel {name + suffix} with {len(parameters) + 1} parameters"
            )
        variants[variant] = name + suffix
    parameters.append({"role": "count", "type": COUNTS[types[-1]]})
    return {
        "name": name,
        "pass": direction,
        "reads": len(operands.split(", ")),
        "writes": len(results),
        "parameters": parameters,
        "block_size": int(read_attribute(attributes, "fad.block_size").split()[0]),
        "tile_size": int(read_attribute(attributes, "fad.tile_size").split()[0]),
        "variants": variants,
    }


def name_results(kernel, returned):
    """Roles of the kernel's results: y is returned first, others are kept."""
    count = len(kernel[4].split(", "))
    values = [kernel[0]] if count == 1 else [f"{kernel[0]}#{i}" for i in range(count)]
    kept = [value for value in values if value != returned[0]]
    roles = {value: "d" if index == 0 else f"d{index + 1}" for index, value in enumerate(kept)}
    roles[returned[0]] = "y"
    return [roles[value] for value in values], roles


def read_program(text, program, kind, entries):
    """Entries of the manifest for the two passes. `entries` are of the PTX."""
    arguments, kernel, returned = read_pass(text, program, "forward", kind)
    results, roles = name_results(kernel, returned)
    roles[arguments[0]] = "x"
    forward = describe("forward", kernel, roles, results, entries)

    arguments, kernel, _ = read_pass(text, program, "backward", kind)
    # The residuals in the order in which forward returns them, then the cotangent.
    known = [roles[value] for value in returned[1:]] + ["g"]
    backward = describe("backward", kernel, dict(zip(arguments, known)), ["dx"], entries)
    return forward, backward
