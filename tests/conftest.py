"""What holds for all tests."""

from __future__ import annotations

import signal
import threading

# A shell that runs something in the background lets it ignore SIGINT, and everything started from there does, too:
# tests that press Ctrl-C would wait for ever.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
