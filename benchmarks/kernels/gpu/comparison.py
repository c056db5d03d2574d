"""Rows of the comparison: how long an activation takes of a type and size, by all who
compute it."""

import statistics

from gpu import checks, peers, streams
from kernel_figures import BYTES, MOVED

ROUNDS = 3
# Repetitions by which a configuration is chosen, of streams and of Triton's kernels.
TRIALS = 5
# Elements of Triton's results that are held against the reference.
CHECKED = 1 << 20
# Tensors that are there at once, at most: those of the kernels, copies, and what
# PyTorch keeps of the composed activations.
TENSORS = 32
# How many tensors are read and written.
MIXES = {
    "stream": {"forward": (1, 2), "backward": (2, 1)},
    "stream, recompute": {"forward": (1, 1), "backward": (2, 1)},
}


def count_moved(stream, direction):
    """Returns the tensors that a pass reads and writes."""
    mixes = MIXES[stream]
    return sum(sum(mixes[each]) for each in mixes if direction in (each, "both"))


def find_stream(pair):
    """Returns the stream that reads and writes as much as a pair of kernels."""
    mixes = {each: (k.entry["reads"], k.entry["writes"]) for each, k in pair.items()}
    return next((stream for stream in MIXES if MIXES[stream] == mixes), None)


def run_both(passes):
    forward, backward = passes["forward"], passes["backward"]

    def both():
        forward()
        backward()

    return {**passes, "both": both}


class Comparison:
    def __init__(self, torch, device, kit, options):
        self.torch, self.device, self.kit, self.options = torch, device, kit, options
        self.best_streams, self.not_measured = {}, []

    def make_tensors(self, kind, size):
        dtype = checks.get_dtype(self.torch, kind)
        make = lambda: self.torch.randn(size, dtype=dtype, device=self.device.name)
        return {role: make() for role in ("x", "g", "y", "d", "dx")}

    def find_median(self, function, moved):
        return statistics.median(self.device.time(function, TRIALS, moved))

    def prepare_stream(self, kernel, tensors):
        places = {"in0": "x", "in1": "g", "out0": "y", "out1": "d"}
        return kernel.prepare({role: tensors[place] for role, place in places.items()})

    def choose_stream(self, mix, tensors):
        """Returns the best configuration for tensors of such a size."""
        kernels = self.kit.load("streams")
        moved = sum(mix) * tensors["x"].nbytes
        key = (mix, tensors["x"].nbytes)
        if key not in self.best_streams:
            taken = {
                stream.name: self.find_median(
                    self.prepare_stream(kernels[stream.name], tensors), moved
                )
                for stream in streams.find_streams(mix)
            }
            self.best_streams[key] = min(taken, key=taken.get)
        return self.prepare_stream(kernels[self.best_streams[key]], tensors)

    def make_streams(self, who, tensors):
        mixes = MIXES[who]
        return run_both({each: self.choose_stream(mixes[each], tensors) for each in mixes})

    def make_copy(self, tensors):
        """Returns a copy that moves as much as a pass of the stream."""
        size = MOVED["forward"] * tensors["x"].nbytes // 2
        make = lambda: self.torch.ones(size, dtype=self.torch.uint8, device=self.device.name)
        source, target = make(), make()
        copy = lambda: target.copy_(source)
        return run_both({"forward": copy, "backward": copy})

    def make_fad(self, activation, kind, policy, tensors):
        pair = self.kit.find_pair(activation, kind, policy)
        return run_both({each: kernel.prepare(tensors) for each, kernel in pair.items()})

    def make_triton(self, activation, tensors):
        """Triton's kernels, each in the best of its configurations."""
        from gpu import triton_kernels

        configurations = triton_kernels.list_configurations()
        moved = MOVED["forward"] * tensors["x"].nbytes
        chosen = {}
        for direction in "forward", "backward":
            taken = {
                each: self.find_median(
                    triton_kernels.make(activation, tensors, (each, each))[direction], moved
                )
                for each in configurations
            }
            chosen[direction] = min(taken, key=taken.get)
        best = chosen["forward"], chosen["backward"]
        passes = triton_kernels.make(activation, tensors, best)
        passes["both"]()
        first = {role: tensor[:CHECKED] for role, tensor in tensors.items()}
        checks.check_results(self.torch, "Triton", activation, first)
        return passes

    def find_streams(self, activation, kind):
        """Of those who move tensors of known sizes, the streams that move as much."""
        policies = {
            f"fad, {policy}": find_stream(self.kit.find_pair(activation, kind, policy))
            for policy in self.options.policies
        }
        return {**policies, "Triton": "stream"}

    def list_makers(self, activation, kind, tensors):
        """By who computes: a function that makes those of the passes."""
        makers = {who: lambda who=who: self.make_streams(who, tensors) for who in MIXES}
        makers["copy"] = lambda: self.make_copy(tensors)
        for policy in self.options.policies:
            makers[f"fad, {policy}"] = lambda policy=policy: self.make_fad(
                activation, kind, policy, tensors
            )
        if self.options.peers:
            makers.update(peers.make_eager(self.torch, activation, tensors))
            makers["Triton"] = lambda: self.make_triton(activation, tensors)
        return makers

    def skip(self, row, who, why):
        lines = str(why).strip().splitlines() or [type(why).__name__]
        self.not_measured.append({**row, "who": who, "why": lines[0]})

    def skip_if_peer(self, row, who, error):
        """To be called where `error` is handled, which is one for streams and fad."""
        if who in MIXES or who.startswith("fad"):
            raise
        self.skip(row, who, error)

    def make_contestants(self, row, makers):
        """Returns the comparisons that can be made."""
        contestants = {}
        for who, make in makers.items():
            try:
                contestants[who] = make()
            except Exception as error:
                self.skip_if_peer(row, who, error)
        return contestants

    def measure(self, row, contestants):
        """Adds the median and the least time of the passes to the row. All take
        turns, so that a change of the clocks meets each."""
        repetitions = -(-self.options.repetitions // ROUNDS)
        nbytes = row["size"] * BYTES[row["type"]]
        samples = {who: {each: [] for each in passes} for who, passes in contestants.items()}
        for _ in range(ROUNDS):
            for who, passes in list(contestants.items()):
                for each, function in passes.items():
                    try:
                        taken = self.device.time(function, repetitions, MOVED[each] * nbytes)
                    except Exception as error:
                        self.skip_if_peer(row, who, error)
                        del contestants[who], samples[who]
                        break
                    samples[who][each] += taken
        for title, count in ("seconds", statistics.median), ("least", min):
            figures = row.setdefault(title, {})
            for who, passes in samples.items():
                figures[who] = {each: count(taken) for each, taken in passes.items()}

    def measure_row(self, activation, kind, size, compiled):
        """Returns a row, or None for what does not fit. The compiled one alone, if asked for,
        because compiling takes longer than all the rest."""
        row = {"activation": activation, "type": kind, "size": size}
        needed = TENSORS * size * BYTES[kind]
        if needed > self.device.get_free_memory():
            self.skip(row, "all", f"it may take {needed >> 20} MiB of memory")
            return None
        tensors = self.make_tensors(kind, size)
        if compiled:
            makers = peers.make_compiled(self.torch, activation, tensors)
        else:
            makers = self.list_makers(activation, kind, tensors)
        contestants = self.make_contestants(dict(row), makers)
        self.measure(row, contestants)
        if not compiled:
            row["stream_of"] = self.find_streams(activation, kind)
            row["streams"] = {
                f"{reads}r{writes}w": name
                for ((reads, writes), nbytes), name in self.best_streams.items()
                if nbytes == tensors["x"].nbytes
            }
        del tensors, makers, contestants
        self.device.release_memory()
        return row


def print_fractions(rows):
    """Prints how near to a stream of as many reads and writes, and to a copy that moves as
    much, those come who move tensors of known sizes."""
    streams_of = {who: None for row in rows for who in row["stream_of"] if who in row["seconds"]}
    print(f"\n{'':34}" + "".join(f"{who:>30}" for who in streams_of))
    columns = f"{'GB/s':>10}{'of stream':>10}{'of copy':>10}"
    print(f"{'activation type elements  pass':<34}" + columns * len(streams_of))
    for row in rows:
        seconds = row["seconds"]
        for direction in MOVED:
            line = f"{row['activation']:<10} {row['type']:<5}{row['size']:<9} {direction:<8}"
            nbytes = row["size"] * BYTES[row["type"]]
            for who in streams_of:
                taken, stream = seconds.get(who, {}).get(direction), row["stream_of"].get(who)
                if not taken or not stream or "copy" not in seconds:
                    line += " " * 30
                    continue
                rate = count_moved(stream, direction) * nbytes / taken
                copied = MOVED[direction] * nbytes / seconds["copy"][direction]
                of_stream = seconds[stream][direction] / taken
                line += f"{rate / 1e9:>10.1f}{of_stream:>10.1%}{rate / copied:>10.1%}"
            print(line.rstrip())
