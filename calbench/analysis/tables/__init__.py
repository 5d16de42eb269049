"""The published tables of a run, one function each, by subject.

Importing this package registers the tables of all its modules.
"""

from importlib import import_module
from pkgutil import iter_modules

from calbench.analysis.registry import TABLES, Table, table_bytes, table_file, tables_of

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["TABLES", "Table", "table_bytes", "table_file", "tables_of"]
