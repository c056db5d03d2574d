"""Executes the PTX of the streams, all threads of a block at once, and checks what they
write, and that it is all they write.

usage: check_streams.py BENCHMARKS"""

import re
import sys

import numpy

sys.path.insert(0, sys.argv[1])
from gpu import streams

INSTRUCTION = re.compile(r"(?:@(%\w+) )?([\w.:]+)\s*(.*);")
# Where buffers begin, so far apart that none reaches the next.
SPACE = 1 << 24


class Block:
    """The threads of a block. Registers are arrays with an element for each."""

    def __init__(self, memory, parameters, number, threads):
        self.memory = memory
        everyone = numpy.ones(threads, dtype=bool)
        self.registers = {
            "%ctaid.x": numpy.full(threads, number, numpy.uint64),
            "%tid.x": numpy.arange(threads, dtype=numpy.uint64),
        }
        self.parameters, self.everyone = parameters, everyone

    def read(self, operand):
        if operand.startswith("%"):
            return self.registers[operand]
        return numpy.full(len(self.everyone), int(operand), numpy.uint64)

    def move(self, guard, address, lanes, store):
        base, offset = address.strip("[]").split("+")
        where = self.read(base) + numpy.uint64(int(offset))
        assert not (where % 16).any(), "not aligned"
        for lane, register in enumerate(lanes):
            places = (where // 4).astype(int) + lane
            if store:
                self.memory[places[guard]] = self.read(register)[guard]
                continue
            value = self.registers.setdefault(register, numpy.zeros(len(guard), numpy.uint64))
            # A load from beyond the buffers fails here.
            value[guard] = self.memory[places[guard]]

    def compute(self, operation, operands):
        target, *sources = operands
        a, *others = [self.read(each) for each in sources]
        results = {
            "cvta.to.global.u64": lambda: a,
            "mov.u32": lambda: a,
            "mad.lo.u32": lambda: (a * others[0] + others[1]) % 2**32,
            "mul.wide.u32": lambda: a * others[0],
            "add.u64": lambda: a + others[0],
            "add.u32": lambda: (a + others[0]) % 2**32,
            "setp.gt.u32": lambda: a > others[0],
            "setp.lt.u32": lambda: a < others[0],
            "xor.b32": lambda: a ^ others[0],
        }
        self.registers[target] = results[operation]()

    def run(self, lines):
        at = 0
        while True:
            line, at = lines[at], at + 1
            if line.endswith(":") or line.startswith("."):
                continue
            predicate, operation, rest = INSTRUCTION.fullmatch(line).groups()
            guard = self.registers[predicate] if predicate else self.everyone
            vector = re.search(r"\{(.*)\}", rest)
            if operation == "ret":
                return
            if operation == "bra":
                assert guard.all() or not guard.any(), "threads part"
                at = lines.index(rest + ":") if guard.all() else at
            elif vector:
                address = re.search(r"\[.*\]", rest)[0]
                self.move(guard, address, vector[1].split(", "), operation.startswith("st."))
            elif operation.startswith("ld.param"):
                target, name = rest.split(", ")
                value = self.parameters[name.strip("[]")]
                self.registers[target] = numpy.full(len(guard), value, numpy.uint64)
            else:
                self.compute(operation, rest.split(", "))


def check(stream, lines, random):
    buffers = [f"in{i}" for i in range(stream.reads)] + [f"out{i}" for i in range(stream.writes)]
    for vectors in 1, stream.tile, 2 * stream.tile + 5:
        memory = random.integers(0, 2**32, len(buffers) * SPACE // 64, dtype=numpy.uint64)
        size = len(memory) // len(buffers)
        expected = memory.copy()
        begins = {name: i * size for i, name in enumerate(buffers)}
        parts = {name: expected[at : at + 4 * vectors] for name, at in begins.items()}
        result = numpy.bitwise_xor.reduce([parts[f"in{i}"] for i in range(stream.reads)])
        for i in range(stream.writes):
            parts[f"out{i}"][:] = result
        parameters = {f"{stream.name}_{name}": 4 * at for name, at in begins.items()}
        parameters[f"{stream.name}_count"] = vectors
        for number in range(-(-vectors // stream.tile)):
            Block(memory, parameters, number, stream.threads).run(lines)
        assert (memory == expected).all(), (stream.name, vectors)


random = numpy.random.default_rng()
ptx = streams.write_ptx("sm_80")
bodies = {
    name: body.strip().split("\n")
    for name, body in re.findall(r"\.entry (\w+)\(.*?\n\{\n(.*?)\n\}", ptx, re.DOTALL)
}
count = 0
for mix in streams.MIXES:
    for stream in streams.find_streams(mix):
        check(stream, bodies[stream.name], random)
        count += 1
assert count == len(bodies)
print(f"{count} streams")
