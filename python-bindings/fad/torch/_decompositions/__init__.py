"""Operators of PyTorch as programs of operators that fad differentiates as PyTorch does."""
