"""Kernels that read and write as much as those of fad and compute nothing: a bound for
them. They are written in PTX, in several configurations, of which the best counts."""

from typing import NamedTuple

THREADS, ACCESSES = (128, 256, 512), (1, 2, 4)
# How many tensors are read and written.
MIXES = (1, 1), (1, 2), (2, 1)
# Cache hints of loads and stores.
HINTS = {"plain": ("", ""), "streaming": (".L1::no_allocate", ".cs")}
VECTOR = 16


class Stream(NamedTuple):
    reads: int
    writes: int
    threads: int
    accesses: int
    hint: str

    @property
    def name(self):
        return f"stream_{self.reads}r{self.writes}w_{self.threads}x{self.accesses}_{self.hint}"

    @property
    def tile(self):
        """Vectors of one block."""
        return self.threads * self.accesses


def find_streams(mix):
    return [
        Stream(*mix, threads, accesses, hint)
        for threads in THREADS
        for accesses in ACCESSES
        for hint in HINTS
    ]


def write_lanes(name):
    return ", ".join(f"%{name}_{lane}" for lane in range(VECTOR // 4))


def write_access(stream, access, guard=""):
    """Loads of one vector of each tensor read, and its stores: what is stored is what
    is read, or, of two, their exclusive or, so that both are needed."""
    load, store = HINTS[stream.hint]
    offset = access * stream.threads * VECTOR
    loads = [
        f"{guard}ld.global.nc{load}.v4.b32 {{{write_lanes(f'v{read}_{access}')}}},"
        f" [%in{read}+{offset}];"
        for read in range(stream.reads)
    ]
    stores = [
        f"xor.b32 %v0_{access}_{lane}, %v0_{access}_{lane}, %v{read}_{access}_{lane};"
        for read in range(1, stream.reads)
        for lane in range(VECTOR // 4)
    ]
    stores += [
        f"{guard}st.global{store}.v4.b32 [%out{write}+{offset}], {{{write_lanes(f'v0_{access}')}}};"
        for write in range(stream.writes)
    ]
    return loads, stores


def write_body(stream):
    """Returns the instructions: whole tiles take a path without conditions."""
    buffers = [f"in{i}" for i in range(stream.reads)] + [f"out{i}" for i in range(stream.writes)]
    lines = [f"ld.param.b64 %{each}, [{stream.name}_{each}];" for each in buffers]
    lines += [f"cvta.to.global.u64 %{each}, %{each};" for each in buffers]
    lines += [
        f"ld.param.b32 %count, [{stream.name}_count];",
        "mov.u32 %block, %ctaid.x;",
        "mov.u32 %thread, %tid.x;",
        f"mad.lo.u32 %first, %block, {stream.tile}, %thread;",
        f"mul.wide.u32 %offset, %first, {VECTOR};",
        *(f"add.u64 %{each}, %{each}, %offset;" for each in buffers),
        f"mad.lo.u32 %end, %block, {stream.tile}, {stream.tile};",
        "setp.gt.u32 %partial, %end, %count;",
        "@%partial bra $partial;",
    ]
    accesses = [write_access(stream, access) for access in range(stream.accesses)]
    # All loads are under way before the first store.
    for part in 0, 1:
        lines += [line for access in accesses for line in access[part]]
    lines += ["ret;", "$partial:"]
    for access in range(stream.accesses):
        loads, stores = write_access(stream, access, "@%inside ")
        lines += [
            f"add.u32 %end, %first, {access * stream.threads};",
            "setp.lt.u32 %inside, %end, %count;",
            *loads,
            *stores,
        ]
    return buffers, [*lines, "ret;"]


def write_kernel(stream):
    buffers, lines = write_body(stream)
    parameters = [f".param .b64 {stream.name}_{each}" for each in buffers]
    parameters.append(f".param .b32 {stream.name}_count")
    vectors = [
        write_lanes(f"v{read}_{access}")
        for read in range(stream.reads)
        for access in range(stream.accesses)
    ]
    return "\n".join(
        [
            f".visible .entry {stream.name}({', '.join(parameters)})",
            f".maxntid {stream.threads}, 1, 1",
            "{",
            ".reg .pred %partial, %inside;",
            ".reg .b32 %count, %block, %thread, %first, %end;",
            f".reg .b32 {', '.join(vectors)};",
            f".reg .b64 %offset, {', '.join('%' + each for each in buffers)};",
            *lines,
            "}",
        ]
    )


def write_ptx(chip):
    kernels = [write_kernel(stream) for mix in MIXES for stream in find_streams(mix)]
    header = f".version 7.8\n.target {chip}\n.address_size 64"
    return "\n\n".join([header, *kernels]) + "\n"
