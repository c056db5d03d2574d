"""How lit runs the GoogleTest executables."""

import os

import lit.formats

config.name = "FAD-Unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_exec_root = os.path.join(config.fad_obj_root, "test", "Unit")
config.test_source_root = config.test_exec_root
