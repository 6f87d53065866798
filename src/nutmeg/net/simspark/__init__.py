"""The protocol of SimSpark and rcssserver3d, the simulator of the RoboCup 3D simulation league.

    game_port           what a game must offer to be served
    sexpr               S-expressions, and messages in a stream of bytes
    percepts, effectors the messages of agents; agent is the agent's side of them
    monitors, trainer   what monitors are sent, and what trainers may command
    agents              clients that play
    server              all of it together

Facts about the format come from conversations recorded with rcssserver3d 0.7.3; no code of it was used.
"""
