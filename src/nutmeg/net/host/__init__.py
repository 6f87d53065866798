"""A world of robots that other programs move: the schedule, the robots, their cameras and the clock."""
