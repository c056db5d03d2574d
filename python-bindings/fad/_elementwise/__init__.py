"""Activations as Python functions, on arrays of numpy and tensors of PyTorch."""
