"""The taxonomy of clinical tasks as data, and what a set of benchmarks covers of it."""

from medjury.suites._taxonomy._coverage import (
    Category,
    Coverage,
    Fact,
    Subcategory,
    Task,
    Taxonomy,
    coverage,
    read_taxonomy,
)

__all__ = ["Category", "Coverage", "Fact", "Subcategory", "Task", "Taxonomy", "coverage", "read_taxonomy"]
