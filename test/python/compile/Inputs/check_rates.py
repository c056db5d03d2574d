"""Rates of devices: of data sheets by name, measured once and then kept, and for whichever device
there is."""

import contextlib
import json
import os
import pathlib
import tempfile
import time
import unittest
from dataclasses import asdict, replace
from unittest import mock

import torch

import fake_cuda
from fad.torch.compile import Partitioner, _rates

GPU = torch.device("cuda", 0)


class Event:
    """An event of CUDA, by the clock of the machine."""

    def __init__(self, enable_timing):
        self.time = None

    def record(self):
        self.time = time.perf_counter()

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1e3 * (end.time - self.time)


class Rates(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        environment = {"FAD_CACHE_DIR": place.name, "FAD_RATES": ""}
        self.enterContext(mock.patch.dict(os.environ, environment))
        _rates._find.cache_clear()
        self.addCleanup(_rates._find.cache_clear)

    def find(self, measure):
        """The rates of an H100 that `measure` measures, in a process that knows none."""
        _rates._find.cache_clear()
        with fake_cuda.pretend(), mock.patch.object(_rates, "_measure", measure):
            return _rates.find_rates(GPU)

    def test_data_sheets(self):
        names = {
            "NVIDIA H100 80GB HBM3": 3350e9,
            "NVIDIA H100 PCIe": 2000e9,
            "NVIDIA A100-SXM4-80GB": 2039e9,
            "NVIDIA A100-SXM4-40GB": 1555e9,
            "NVIDIA L40S": 864e9,
            "NVIDIA L4": 300e9,
            "NVIDIA A10G": 600e9,
            "NVIDIA GH200 480GB": 4000e9,
            "NVIDIA GH200 144G HBM3e": 4900e9,
            "NVIDIA H200": 4800e9,
            "NVIDIA H20": 4000e9,
            "NVIDIA H800": 3350e9,
            "NVIDIA H800 PCIe": 2000e9,
            "NVIDIA GB200": 8000e9,
            "NVIDIA B300 SXM6 AC": 8000e9,
            "NVIDIA RTX 6000 Ada Generation": 960e9,
            "NVIDIA RTX A6000": 768e9,
            "NVIDIA A40": 696e9,
            "NVIDIA GeForce RTX 4090": 1008e9,
        }
        for name, bandwidth in names.items():
            rates = _rates.look_up(name)
            self.assertEqual((rates.bandwidth, rates.source), (bandwidth, "data sheet"), name)
        for name in (
            "GeForce",
            "NVIDIA RTX A1000",
            "NVIDIA RTX 6000",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
        ):
            unknown = _rates.look_up(name)
            self.assertEqual((unknown.bandwidth, unknown.source), (1555e9, "assumed"))

        self.assertEqual(_rates.look_up("NVIDIA H20").products["bfloat16"], 148e12)
        self.assertEqual(_rates.look_up("NVIDIA B300 SXM6 AC").products["bfloat16"], 2250e12)

    def test_units(self):
        rates = _rates.look_up("A100")
        self.assertAlmostEqual(rates.count_units(torch.bfloat16), 8 * 1555 / 312e3)
        self.assertAlmostEqual(rates.count_units(torch.float32), 8 * 1555 / 19.5e3)
        self.assertEqual(rates.count_units(torch.float8_e4m3fn), rates.count_units(torch.bfloat16))
        self.assertEqual(rates.count_units(torch.complex64), rates.count_units(torch.float32))
        self.assertEqual(rates.launch_units, round(8 * 1555e9 * 2e-6))
        cpu = _rates.find_rates(torch.device("cpu"))
        self.assertEqual((cpu.count_units(torch.float32), cpu.launch_units), (4, 0))

    def test_is_measured_once(self):
        measured = replace(_rates.look_up("H100"), name="H100", bandwidth=3e12, source="measured")
        measure = mock.Mock(return_value=measured)
        self.assertEqual(self.find(measure), measured)
        self.assertEqual(self.find(measure), measured)
        measure.assert_called_once()
        (file,) = self.folder.rglob("*.json")
        self.assertEqual(json.loads(file.read_text())["bandwidth"], 3e12)
        # A file that is cut off is written again.
        file.write_text(file.read_text()[:20])
        self.assertEqual(self.find(measure), measured)
        self.assertEqual(measure.call_count, 2)
        self.assertEqual(json.loads(file.read_text())["bandwidth"], 3e12)

    def test_table_is_asked_for(self):
        os.environ["FAD_RATES"] = "table"
        measure = mock.Mock()
        self.assertEqual(self.find(measure), _rates.look_up("H100"))
        measure.assert_not_called()

    def test_unknown_mode(self):
        os.environ["FAD_RATES"] = "tabel"
        message = "^FAD_RATES is 'tabel'; choose one of 'table'; did you mean 'table'\\?$"
        with self.assertRaisesRegex(ValueError, message):
            self.find(mock.Mock())
        # A partitioner refuses it, and leaves no graph to PyTorch's.
        with self.assertRaisesRegex(ValueError, "^FAD_RATES is"):
            Partitioner()
        model = torch.compile(torch.sin, backend="fad")
        with self.assertRaisesRegex(Exception, "FAD_RATES is 'tabel'"):
            model(torch.ones(2, requires_grad=True))

    def test_precision_is_part_of_the_key(self):
        settings = torch.backends.cuda.matmul
        before = settings.fp32_precision
        self.addCleanup(setattr, settings, "fp32_precision", before)
        keys = set()
        for precision in ("ieee", "tf32"):
            settings.fp32_precision = precision
            keys.add(_rates._find_path("H100", _rates._read_precision()).name)
        self.assertEqual(len(keys), 2)

    def test_ranks_have_the_same(self):
        group = {"is_initialized": lambda: True, "get_world_size": lambda: 2}
        self.enterContext(mock.patch.multiple(torch.distributed, **group))
        measure = mock.Mock()
        self.assertEqual(self.find(measure), _rates.look_up("H100"))
        measure.assert_not_called()

    def test_nothing_can_be_measured(self):
        measure = mock.Mock(side_effect=RuntimeError("too little memory is free"))
        self.assertEqual(self.find(measure), _rates.look_up("H100"))
        self.assertEqual(list(self.folder.rglob("*.json")), [])
        # Nor is there a device here, which the measurement itself finds out.
        self.assertEqual(self.find(_rates._measure), _rates.look_up("H100"))

    def test_measurement(self):
        # On the CPU, with a clock in the place of a device's events.
        answers = {
            "device": lambda _: contextlib.nullcontext(),
            "is_current_stream_capturing": lambda: False,
            "mem_get_info": lambda _: (2**40, 2**40),
            "synchronize": lambda: None,
            "Event": Event,
        }
        for name, answer in answers.items():
            self.enterContext(mock.patch.object(torch.cuda, name, answer))
        small = mock.patch.multiple(_rates, _BYTES=2**20, _ROWS=64, _SECONDS=0.001)
        with small, torch._subclasses.FakeTensorMode():
            rates = _rates._measure(torch.device("cpu"), "a CPU")
        numbers = [rates.bandwidth, *rates.products.values(), rates.launch]
        self.assertTrue(all(number > 0 for number in numbers), numbers)
        self.assertEqual([float(f"{number:.1e}") for number in numbers], numbers)
        self.assertEqual(list(rates.products), ["float16", "bfloat16", "float32", "float64"])
        self.assertEqual(_rates.Rates(**json.loads(json.dumps(asdict(rates)))), rates)
        torch.cuda.mem_get_info = lambda _: (2**20, 2**40)
        with small, self.assertRaisesRegex(RuntimeError, "too little memory"):
            _rates._measure(torch.device("cpu"), "a CPU")

    def test_no_device(self):
        self.assertEqual(_rates.find_rates(GPU).source, "assumed")


if __name__ == "__main__":
    unittest.main()
