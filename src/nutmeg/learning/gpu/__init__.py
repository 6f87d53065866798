"""Walks on a course on a GPU: thousands of worlds at once, without a word between them and the processor."""
