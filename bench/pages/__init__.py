"""The tables of docs/ that bench/tables.py makes, a module for each kind of page."""
