"""A kernel's Python text as a procedure: parts of the translation, which translate.py joins."""
