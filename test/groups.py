"""Groups of tests, and the paths that a group is known not to read: a change of these alone
leaves the group out. All else, a path that no list has among it, runs it; so does a change
without paths."""

import fnmatch

# Parts of which exported models and kernels for GPUs read nothing; `*` has folders, too.
APART = [
    "CHANGELOG.md",
    "benchmarks/compile/*",
    "benchmarks/eager/*",
    "docs/Eager*.md",
    "docs/TorchCompile*.md",
    "python-bindings/fad/torch/compile/*",
    "python-bindings/fad/torch/eager/*",
    "test/Docs/Eager*.test",
    "test/Docs/TorchCompile*.test",
    "test/python/compile/*",
    "test/python/eager/*",
    "utils/site/*",
]
# By name: the group's tests, below the folder of tests, and the paths that it does not read.
GROUPS = {
    "exports": (
        [
            "python/gradients/*",
            "python/iree*.test",
            "python/kinks.test",
            "python/models/*",
            "python/torch-*.test",
        ],
        APART,
    ),
    "GPUs": (
        [
            "Codegen/fad-approximate-gpu-math-run.test",
            "GPUKit/kernels.test",
            "GPUKit/pack*.test",
            "GPUKit/run.test",
            "GPUKit/streams.test",
            "Pipelines/to-nvvm-ptxas.test",
            "Utils/kernel-*.test",
            "fad-runner/cuda*.test",
            "python/accuracy-gpu.test",
        ],
        [
            *APART,
            "python-bindings/fad/torch/_export/*",
            "test/python/gradients/*",
            "test/python/models/*",
        ],
    ),
}


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def find_left_out(changed):
    """The patterns of the tests that a change of paths leaves out."""
    return [
        pattern
        for tests, apart in GROUPS.values()
        for pattern in tests
        if changed and all(matches(path, apart) for path in changed)
    ]
