"""How lit runs the GoogleTest executables: each is one test."""

import os

import lit.formats

config.name = "FAD-Unit"
# lit's own format for them leaves out of the results what did not run.
config.test_format = lit.formats.ExecutableTest()
config.suffixes = ["Tests"]
config.test_exec_root = os.path.join(config.fad_obj_root, "test", "Unit")
config.test_source_root = config.test_exec_root
