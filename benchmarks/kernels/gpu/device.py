"""The device: its facts, and how long it takes for something."""

import gc
import subprocess
import time

QUERY = (
    "name,driver_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,"
    "power.limit,temperature.gpu,ecc.mode.current,compute_mode"
)
# So many more bytes than the cache has are read to empty it.
FLUSH = 4
# Cycles that the device waits for each second in which the host prepares work: more
# than any has.
CYCLES = 2.2e9


class NoDevice(Exception):
    pass


def ask_nvidia_smi():
    """Clocks and the like, as the driver's tool says; nothing where it is not."""
    command = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    values = [value.strip() for value in done.stdout.strip().split(",")]
    names = QUERY.split(",")
    return dict(zip(names, values)) if len(values) == len(names) else {}


class Device:
    """An NVIDIA GPU, through PyTorch."""

    name = "cuda"

    def __init__(self):
        try:
            import torch
        except ImportError as error:
            raise NoDevice(f"{error}; the benchmark takes PyTorch") from None
        self.torch = torch
        if not torch.cuda.is_available():
            raise NoDevice("PyTorch finds no NVIDIA GPU")
        self.properties = torch.cuda.get_device_properties(0)
        self.capability = torch.cuda.get_device_capability(0)
        self.cache = self.properties.L2_cache_size
        self.flushed = torch.zeros(FLUSH * self.cache // 4, device="cuda")

    def describe(self):
        facts = {
            "gpu": self.properties.name,
            "multiprocessors": self.properties.multi_processor_count,
            "memory, MiB": self.properties.total_memory >> 20,
            "L2, MiB": self.cache >> 20,
            "torch": self.torch.__version__,
            "cuda": self.torch.version.cuda,
        }
        try:
            import triton

            facts["triton"] = triton.__version__
        except ImportError:
            pass
        smi = ask_nvidia_smi()
        return {**facts, **{f"nvidia-smi {key}": value for key, value in smi.items()}}

    def get_stream(self):
        return self.torch.cuda.current_stream().cuda_stream

    def get_free_memory(self):
        """Bytes, those that PyTorch keeps for later included."""
        cuda = self.torch.cuda
        kept = cuda.memory_reserved() - cuda.memory_allocated()
        return cuda.mem_get_info()[0] + kept

    def synchronize(self):
        self.torch.cuda.synchronize()

    def release_memory(self):
        # Functions that refer to each other hold tensors.
        gc.collect()
        self.torch.cuda.empty_cache()

    def time(self, function, repetitions, moved):
        """Seconds of each repetition of something that moves so many bytes. Before
        each, what is in the cache is replaced, by reads, so that nothing is left to
        be written back. What is far larger than the cache leaves as much unwritten in
        it as it found: the one before was the same.

        The device is kept waiting until the host has prepared a repetition, so that
        no time of the host's counts."""
        function()
        self.synchronize()
        start = time.perf_counter()
        function()
        prepared = time.perf_counter() - start
        self.synchronize()
        cycles = int((2 * prepared + 5e-5) * CYCLES)
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        pairs = [(event(), event()) for _ in range(repetitions)]
        large = moved > 16 * self.cache
        if large:
            function()
        for begin, end in pairs:
            if not large:
                self.flushed.sum()
            self.torch.cuda._sleep(cycles)
            begin.record()
            function()
            end.record()
        self.synchronize()
        return [begin.elapsed_time(end) / 1e3 for begin, end in pairs]
