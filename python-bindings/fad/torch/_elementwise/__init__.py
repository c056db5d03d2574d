"""Elementwise functions written in Python, compiled with their derivative by fad."""
