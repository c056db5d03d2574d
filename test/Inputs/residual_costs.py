"""Residuals of policies, as the pass test-fad-residuals tells them, and the
errors of these."""

import bisect
import json
import re
import subprocess

LEVELS = ["nothing", "elementwise", "reductions", "all"]

# Where `auto` is held against what others keep: at each level, those that compute no
# more again than it may.
RIVALS = {
    "nothing": ["bp", "fad"],
    "elementwise": ["bp", "recompute", "fad"],
    "reductions": ["bp", "recompute", "fad"],
    "all": ["bp", "recompute", "fad"],
}

# Inlining without simplification, as fad-nest has it.
_BEFORE = "fad-make-public,inline{default-pipeline=},func.func(fad-simplify-slices,fad-normalize)"
_SIMPLIFY = "canonicalize{region-simplify=disabled max-iterations=1 top-down=true},cse"
_REGIONS = (
    f"{_BEFORE},fad-raise,{_SIMPLIFY},func.func(fad-partition),fad-raise,{_SIMPLIFY},"
    "func.func(fad-simplify-slices)"
)
# As a tape sees the program: without activations found in chains of operations.
_WRITTEN = f"{_BEFORE},fad-raise{{within-operations=true}}"

# Passes of fad-nest before it selects residuals.
JOINT = f"{_REGIONS},fad-differentiate"

# Passes that end with what is measured. `plain` is what a partitioner without
# derivatives among its candidates reaches on the joint function of plain reverse
# mode: no regions, one adjoint for each operation, a minimum cut between values.
_MEASURES = {
    "auto": f"{JOINT}{{derivatives-from=both}},test-fad-residuals",
    "plain": f"{_WRITTEN},{_SIMPLIFY},fad-differentiate{{derivatives-from=results}},"
    "test-fad-residuals{plain=true}",
}
# The choices in the end: by `auto` at each level, and by the other policies.
_NESTED = {level: f"policy=auto recompute={level}" for level in LEVELS}
_NESTED |= {policy: f"policy={policy}" for policy in ["bp", "recompute", "fad"]}
_MEASURES |= {
    name: f"fad-nest{{{options}}},test-fad-residuals{{pairs=true}}"
    for name, options in _NESTED.items()
}


class Failure(Exception):
    """A program that fad-opt does not take."""


def _measure(command, text):
    """The lines of the functions of `text`, their names, and what is measured of each."""
    process = subprocess.run(command, input=text, capture_output=True, text=True)
    if process.returncode:
        raise Failure(f"{' '.join(command)}\n{process.stderr}")
    remarks = re.findall(r":(\d+):\d+: remark: (\{.*\})$", process.stderr, re.MULTILINE)
    for line, remark in remarks:
        found = json.loads(remark)
        yield int(line), found.pop("function").removesuffix("_joint"), found


def measure(fad_opt, text, before="", nested=False):
    """The values of `_MEASURES` for each function of a module, after the passes
    `before`; with `nested`, of each module in it."""
    measures = {}
    for name, passes in _MEASURES.items():
        if "fad.cotangent" in text and name not in _NESTED:
            # Somebody else has differentiated it.
            passes = _SIMPLIFY + passes[passes.index(",test-fad-residuals") :]
        pipeline = f"builtin.module({before}{passes})"
        if nested:
            pipeline = f"builtin.module({pipeline})"
        command = [fad_opt, f"--pass-pipeline={pipeline}", "-o", "/dev/null"]
        for _, function, found in _measure(command, text):
            measures.setdefault(function, {})[name] = found
    return measures


def measure_each(fad_opt, texts, before=""):
    """`measure` for each of `texts`, all of which a process takes at once."""
    begins, text = [], ""
    for each in texts:
        text += "// -----\n" * bool(text)
        begins.append(text.count("\n") + 1)
        text += f"{each}\n"
    results = [{} for _ in texts]
    for name, passes in _MEASURES.items():
        command = [fad_opt, f"--pass-pipeline=builtin.module({before}{passes})"]
        for line, function, found in _measure(
            [*command, "--split-input-file", "-o", "/dev/null"], text
        ):
            of_text = results[bisect.bisect_right(begins, line) - 1]
            of_text.setdefault(function, {})[name] = found
    return results


def find_waste(measures):
    """Where `auto` keeps more of a function than it should, or has changed what it
    computes: descriptions."""
    faults = []
    before = None
    for level in LEVELS:
        found = measures["auto"][level]
        size = found["bytes"]
        if not found["equal"]:
            faults.append(f"{level}: results are not computed as they were")
        if size > found["chosen"][0]:
            faults.append(f"{level}: keeps {size} bytes, not {found['chosen'][0]}")
        if "least" in found and size > found["least"][0]:
            faults.append(f"{level}: keeps {size} bytes, not {found['least'][0]}")
        if "cut" in found and found["chosen"] != found["cut"]:
            faults.append(f"{level}: costs {found['chosen']}, not {found['cut']}")
        # In the end it may be another joint function's.
        rivals = {rival: measures[rival]["bytes"] for rival in RIVALS[level]}
        rivals |= {"the cut": size, "plain": measures["plain"][level]}
        if before is not None:
            rivals["less recomputation"] = before
        before = measures[level]["bytes"]
        faults += [
            f"{level}: keeps {before} bytes, {rival} {bytes}"
            for rival, bytes in rivals.items()
            if before > bytes
        ]
    return faults
