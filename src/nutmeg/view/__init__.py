"""Seeing: recordings in the browser, as a page that plays offline, as a video, as pictures, and reports."""
