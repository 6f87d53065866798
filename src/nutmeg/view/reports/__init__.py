"""Reports as single HTML files: one model (`report`), one template, and a builder for each kind.

Importing this package loads nothing else: a builder loads what it reports on (`match`, `series` the match chapter).
"""
