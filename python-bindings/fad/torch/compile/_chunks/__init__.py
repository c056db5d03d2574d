"""Losses and wide layers of a joint graph, in chunks of their rows."""

from .choose import Chunks, check_chunks, chunk_joint
from .write import copy_chunks, expand_regions, has_chunks, is_chunk

__all__ = [
    "Chunks",
    "check_chunks",
    "chunk_joint",
    "copy_chunks",
    "expand_regions",
    "has_chunks",
    "is_chunk",
]
