"""The protocol of rcssservermj, the MuJoCo server of the RoboCup 3D simulation league, spoken by T1 and K1 agents.

    effectors           what agents send
    percepts            what they are sent
    monitors            what monitors are sent (RSMP 1.0), and what trainers command
    server              agents from their first message to their leaving, and the protocol as a server takes it

Framing, sockets, S-expressions and the server's loop are those of SimSpark (`net.simspark`).
"""
