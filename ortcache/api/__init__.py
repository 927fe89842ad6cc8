"""Pythonic objects over the C API: a module a noun."""
