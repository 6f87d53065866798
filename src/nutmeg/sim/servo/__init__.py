"""One servo: on a simulated rig, and beside recordings of a real one."""
