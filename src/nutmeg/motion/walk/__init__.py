"""The omnidirectional pendulum walk: parameters, files, kernels, and the walker that commands the motors."""
