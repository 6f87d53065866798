"""The protocol of SimSpark and rcssserver3d, the simulator of the RoboCup 3D simulation league.

    game_port           what a game must offer to be served
    percepts, effectors the messages of agents; percept_reader and agent are the agent's side of them
    scene_text, monitor_text, trainer_text  the messages of monitors and trainers
    limits, connection  what one client may do, and a socket that keeps to it
    agents, monitors    clients by kind
    server              all of it together
    crowd               trivial agents, to measure a server

Facts about the format come from conversations recorded with rcssserver3d 0.7.3; no code of it was used.
"""
