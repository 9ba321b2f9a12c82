"""The version, in one place: the package, its build and every file it writes name this one."""

__version__ = "0.1.0"
