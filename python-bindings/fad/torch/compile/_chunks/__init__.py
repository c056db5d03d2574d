"""Losses and wide layers of a joint graph, in chunks of their rows."""

from .choose import Alternatives, Chunks, Counts, check_chunks
from .expand import copy_chunks, expand_regions, has_chunks, is_chunk

__all__ = [
    "Alternatives",
    "Chunks",
    "Counts",
    "check_chunks",
    "copy_chunks",
    "expand_regions",
    "has_chunks",
    "is_chunk",
]
