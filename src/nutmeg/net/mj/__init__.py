"""The protocol of rcssservermj, the MuJoCo server of the RoboCup 3D simulation league, spoken by T1 and K1 agents.

    effectors           what agents send
    percepts            what they are sent
    agents              agents from their first message to their leaving
    monitors            what monitors are sent (RSMP 1.0), and what trainers command

Framing, sockets, S-expressions and the server's loop are those of SimSpark (`net.simspark`).
"""
