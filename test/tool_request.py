"""Requests for programs that are loaded already, as ToolServer/Request.h lays them out on Linux."""

import struct

NUM_LIMITS = 16
# The standard streams and the working directory.
NUM_DESCRIPTORS = 4
# The bytes of the strings that follow, the numbers of arguments and of variables among them, the
# mask of new files, and the limits of resources.
REQUEST = struct.Struct(f"NiiI{2 * NUM_LIMITS}q")
STATUS = struct.Struct("i")
