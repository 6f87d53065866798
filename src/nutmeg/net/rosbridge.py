"""Robots on ROS topics without ROS: the rosbridge protocol (JSON over a WebSocket), spoken by roslibpy and roslibjs.

    port = RosPort({"nao-v6-1": ""}, address=("127.0.0.1", 9090))
    with RobotHost(HostSettings(robots=(Placement(robot="nao-v6", name="nao-v6-1"),)), [port]) as host:
        host.run()

| topic | type | |
|---|---|---|
| `/clock` | rosgraph_msgs/msg/Clock | simulated time |
| `/joint_states` | sensor_msgs/msg/JointState | encoders, true speeds |
| `/imu` | sensor_msgs/msg/Imu | no orientation: its covariance begins with -1 |
| `/ground_truth/pose` | geometry_msgs/msg/PoseStamped | true place of the torso |
| `/CAMERA/image_raw` | sensor_msgs/msg/Image | rgb8; drawn only while there is a subscriber |
| `/CAMERA/image_raw/compressed` | sensor_msgs/msg/CompressedImage | png |
| to `/joint_commands` | sensor_msgs/msg/JointState | `name` and `position`; a motor keeps its last target |
| to `/position_controller/commands` | std_msgs/msg/Float64MultiArray | a position for each motor, in order |

One robot has these topics at the root; several have a namespace each, such as `/nao_v6_1/joint_states`. Types may be
written in ROS 1's way, too (`sensor_msgs/JointState`). Understood are the operations subscribe (with `throttle_rate` in
milliseconds of simulated time), unsubscribe, advertise, unadvertise, publish and call_service for `/rosapi/topics`,
`topic_type`, `services` and `get_time`; anything else is answered by a status of level error. A client that does not
read misses whole messages, never parts of one. Source: rosbridge_suite, ROSBRIDGE_PROTOCOL.md, version 2.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from nutmeg.base.errors import UsageError
from nutmeg.net.connection import Clients, Connection, Limits, no_report
from nutmeg.net.loop import Listener, tcp_listener

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence

    from nutmeg.net.connection import Reporter
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot import HostedRobot
    from nutmeg.net.host.robot_host import RobotHost

_PERIOD = 0.02  # between two messages of a topic, and between two looks at commands [s]
_MAX_MESSAGE = 1 << 20  # the longest message that a client may send [bytes]
_MAX_CLIENTS = 16  # connections at once
_MAX_TOPICS = 64  # topics that a client may subscribe to
_LIMITS = Limits(
    piece=16384,
    cycle_share=131072,
    message_cost=64,
    messages_at_once=512,
    sustained=131072,
    burst=4 << 20,
    socket_buffer=1 << 20,  # a picture as text has about 400 kB
)
"""Limits of one client."""
_UNKNOWN_ORIENTATION = [-1.0, *[0.0] * 8]
"""The covariance of an orientation that is not measured, as sensor_msgs/Imu says it."""


class _WebSocketReader:
    """Cuts a stream into texts of a WebSocket; bytes among the messages are to be sent back as they are."""

    def __init__(self) -> None:
        self.problem: str | None = None
        self.protocol = ServerProtocol(max_size=_MAX_MESSAGE)
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> list[str | bytes]:
        """Texts that are complete, and what the protocol answers by itself (handshake, pong, close)."""
        found: list[str | bytes] = []
        try:
            self.protocol.receive_data(data)
            for event in self.protocol.events_received():
                if isinstance(event, Request):
                    self.protocol.send_response(self.protocol.accept(event))
                elif isinstance(event, Frame) and (text := self._text(event)) is not None:
                    found.append(text)
        except (WebSocketException, ValueError, EOFError) as error:
            self.problem = f"spoke no WebSocket ({error})"
        if self.problem is None and self.protocol.state not in (State.OPEN, State.CONNECTING):
            self.problem = "closed the WebSocket"
        if self.protocol.handshake_exc is not None:
            self.problem = f"asked for no WebSocket ({self.protocol.handshake_exc})"
        # The protocol's own answers come first: nothing may be sent before that to the handshake.
        return [*(answer for answer in self.protocol.data_to_send() if answer), *found]

    def _text(self, frame: Frame) -> str | None:
        """The text that a frame completes; fragments are put together within the longest length."""
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return None
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return None
        whole, self._parts = b"".join(self._parts), []
        return whole.decode("utf-8", "replace")

    def framed(self, text: str) -> bytes:
        """A text as bytes for the socket; empty before the handshake or after the end."""
        if self.protocol.state is not State.OPEN:
            return b""
        self.protocol.send_text(text.encode())
        return b"".join(self.protocol.data_to_send())


@dataclass
class _Subscription:
    """A client's subscription to a topic."""

    interval: float = 0.0
    """Time between two messages at least [s]."""
    next_time: float = -math.inf
    ids: set[str] = field(default_factory=set)


class _RosClient(Connection["str | bytes"]):
    """The connection to one client."""

    def __init__(self, sock: socket.socket, name: str, port: RosPort) -> None:
        self.stream = _WebSocketReader()
        super().__init__(sock, name, port.host.loop, reader=self.stream, owner=port, limits=_LIMITS, report=port.report)
        self.wanted: dict[str, _Subscription] = {}
        """Subscriptions by topic."""
        self.commands = False
        """Whether it advertises or publishes commands."""

    def tell(self, text: str) -> None:
        """Sends a message as a whole, or leaves it out where the client has no room for it."""
        data = self.stream.framed(text)
        if data:
            self.offer(data)


class RosPort:
    """Serves robots as ROS topics.

    Args:
        robots: namespaces of the robots by their names; empty for topics at the root.
        address: where to listen.
        report: called with what happens to clients.
    """

    name = "ros"
    period = _PERIOD

    def __init__(self, robots: Mapping[str, str], *, address: tuple[str, int], report: Reporter = no_report) -> None:
        self._namespaces, self._address, self.report = dict(robots), address, report
        self._clients: Clients[_RosClient] = Clients(_MAX_CLIENTS, report)
        self._came = 0
        self._topics: dict[str, tuple[str, Callable[[], dict[str, Any]] | None]] = {
            "/clock": ("rosgraph_msgs/msg/Clock", self._clock)
        }
        """Types of the topics that clients can subscribe to, and what makes their messages each turn."""
        self._orders: dict[str, tuple[str, Callable[[Any], str]]] = {}
        """Types of the topics that clients can publish on, and what takes their messages; it returns a problem."""
        self._cameras: dict[str, str] = {}
        """Topics of pictures by `<robot>/<camera>`, without their last part."""
        self._time = 0.0

    # ---- the side of the host

    def open(self, host: RobotHost) -> None:
        """Takes the robots and listens."""
        self.host = host
        for name, namespace in self._namespaces.items():
            self._offer(host.take(name, period=_PERIOD), f"/{namespace}" if namespace else "")
        self._listener = Listener(host.loop, tcp_listener(*self._address), self._admit)

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, number = self._listener.address[:2]
        return str(host), int(number)

    def _offer(self, robot: HostedRobot, root: str) -> None:
        """Makes the topics of a robot."""
        types = {sensor.type: sensor.name for sensor in reversed(robot.table.sensors)}
        joints, frame = list(robot.table.joints), f"{root.lstrip('/')}/base_link".lstrip("/")

        def joint_states() -> dict[str, Any]:
            angles = robot.read(types["encoder"]) if "encoder" in types else robot.angles
            place = {"name": joints, "position": angles.tolist(), "velocity": robot.rates.tolist(), "effort": []}
            return {"header": self._header(frame), **place}

        def imu() -> dict[str, Any]:
            numbers = robot.read(types["imu"]).tolist()
            return {
                "header": self._header(frame),
                "orientation": _vector((0.0, 0.0, 0.0, 1.0)),
                "orientation_covariance": _UNKNOWN_ORIENTATION,
                "angular_velocity": _vector(numbers[:3]),
                "angular_velocity_covariance": [0.0] * 9,
                "linear_acceleration": _vector(numbers[3:6]),
                "linear_acceleration_covariance": [0.0] * 9,
            }

        def pose() -> dict[str, Any]:
            x, y, z, *turn = robot.pose.tolist()
            attitude = _vector((*turn[1:], turn[0]))
            return {"header": self._header("map"), "pose": {"position": _vector((x, y, z)), "orientation": attitude}}

        self._topics[f"{root}/joint_states"] = "sensor_msgs/msg/JointState", joint_states
        if "imu" in types and robot.read(types["imu"]).size >= 6:
            self._topics[f"{root}/imu"] = "sensor_msgs/msg/Imu", imu
        if robot.table.root >= 0:
            self._topics[f"{root}/ground_truth/pose"] = "geometry_msgs/msg/PoseStamped", pose
        for sensor in robot.table.sensors:
            if sensor.type == "camera":
                base = self._cameras[f"{robot.name}/{sensor.name}"] = f"{root}/{ros_name(sensor.name)}/image_raw"
                self._topics[base] = "sensor_msgs/msg/Image", None
                self._topics[f"{base}/compressed"] = "sensor_msgs/msg/CompressedImage", None
        states, numbers = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
        self._orders[f"{root}/joint_commands"] = states, lambda message: _move_named(robot, message)
        self._orders[f"{root}/position_controller/commands"] = numbers, lambda message: _move_all(robot, message)

    def _header(self, frame: str) -> dict[str, Any]:
        return {"stamp": _stamp(self._time), "frame_id": frame}

    def turn(self, time: float) -> None:
        """Publishes what robots sense now; commands are carried out as they come."""
        self._time = time
        texts: dict[str, str] = {}
        for client in list(self._clients):
            client.unanswered = client.commands
            for topic in list(client.wanted):
                make = self._topics[topic][1]
                if make is not None and self._is_due(client, topic):
                    if topic not in texts:
                        texts[topic] = _published(topic, make())
                    client.tell(texts[topic])
            client.new_cycle()

    def _clock(self) -> dict[str, Any]:
        return {"clock": _stamp(self._time)}

    def _is_due(self, client: _RosClient, topic: str) -> bool:
        """Whether a client's next message of a topic is due; notes that it is sent."""
        wanted = client.wanted[topic]
        if self._time < wanted.next_time - 1e-9:
            return False
        wanted.next_time = self._time + wanted.interval
        return True

    def picture(self, picture: Picture) -> None:
        """Publishes a picture to the subscribers of its camera."""
        base = self._cameras.get(picture.camera)
        if base is None:
            return
        made: dict[str, str] = {}
        for client in list(self._clients):
            for topic in (base, f"{base}/compressed"):
                if topic in client.wanted and self._is_due(client, topic):
                    if topic not in made:
                        make = _image if topic == base else _compressed_image
                        header = {"stamp": _stamp(picture.time), "frame_id": picture.camera.replace("/", "_")}
                        made[topic] = _published(topic, {"header": header, **make(picture)})
                    client.tell(made[topic])

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return len(self._clients)

    def waiting(self) -> Sequence[str]:
        """Names of the clients that command and have not done so since the last turn."""
        return self._clients.waiting()

    def give_up(self, names: Sequence[str]) -> None:
        """Disconnects clients that were silent for too long."""
        self._clients.give_up(names, f"it has not commanded for {self.host.settings.patience:g} s")

    def counts(self) -> dict[str, int]:
        """Counts of messages, answers, missed messages and problems, of all clients."""
        return dict(self._clients.counts())

    def close(self) -> None:
        """Disconnects all clients; closing twice is fine."""
        self._clients.close()
        if hasattr(self, "_listener"):
            self._listener.close()

    # ---- the side of the clients

    def _admit(self, sock: socket.socket, peer: str) -> None:
        self._came += 1
        name = f"ros client {self._came}"
        self._clients.admit(sock, name, peer, lambda: _RosClient(sock, name, self))

    def dismiss(self, connection: _RosClient) -> None:
        """A client has gone."""
        self._clients.leave(connection)
        self._want_cameras()

    def handle(self, connection: _RosClient, message: str | bytes) -> None:
        """Does what a client asks for; what makes no sense is answered by a status."""
        if isinstance(message, bytes):
            connection.send(message)
            return
        problem, asked = "", None
        try:
            asked = json.loads(message)
            if not isinstance(asked, dict):
                raise UsageError("a message is a JSON object with `op`")
            problem = self._operate(connection, asked)
        except UsageError as error:
            problem = str(error)
        except (ValueError, RecursionError) as error:
            problem = f"the message is no JSON ({error})"
            connection.count_broken()
        if problem:
            connection.note_problem(problem)
            name = asked.get("id") if isinstance(asked, dict) else None
            status = {"op": "status", "level": "error", "msg": problem}
            connection.tell(json.dumps(status if name is None else {**status, "id": name}))

    def _operate(self, client: _RosClient, asked: dict[str, Any]) -> str:
        """One operation of rosbridge; returns a problem, or nothing."""
        operation = asked.get("op")
        if operation == "call_service":
            self._serve(client, asked)
        elif operation in ("subscribe", "unsubscribe"):
            self._subscribe(client, asked, wanted=operation == "subscribe")
        elif operation in ("advertise", "unadvertise", "publish"):
            topic = _text(asked, "topic")
            kind, take = self._orders.get(topic, ("", None))
            if take is None:
                return f"topic {topic!r} takes no messages; there are {', '.join(sorted(self._orders))}"
            _check_type(topic, kind, asked.get("type"))
            client.commands = operation != "unadvertise"
            if operation == "publish":
                client.unanswered = False
                return take(asked.get("msg"))
        else:
            known = "subscribe, unsubscribe, advertise, unadvertise, publish and call_service"
            return f"op {operation!r} is not known; there are {known}"
        return ""

    def _subscribe(self, client: _RosClient, asked: dict[str, Any], *, wanted: bool) -> None:
        topic = _text(asked, "topic")
        if topic not in self._topics:
            raise UsageError(f"topic {topic!r} is not published; there are {', '.join(sorted(self._topics))}")
        name = str(asked.get("id", ""))
        if not wanted:
            subscription = client.wanted.get(topic)
            if subscription is not None:
                subscription.ids.discard(name)
            if subscription is not None and (not name or not subscription.ids):
                del client.wanted[topic]
        else:
            _check_type(topic, self._topics[topic][0], asked.get("type"))
            if asked.get("compression", "none") not in ("none", ""):
                raise UsageError(f"compression {asked['compression']!r} is not known; ask for none")
            rate = asked.get("throttle_rate", 0)
            if not isinstance(rate, int | float) or not 0 <= rate <= 1e9:
                raise UsageError(f"throttle_rate is {rate!r}; it is a time in milliseconds")
            if len(client.wanted) >= _MAX_TOPICS:
                raise UsageError(f"there are {_MAX_TOPICS} subscriptions already")
            subscription = client.wanted.setdefault(topic, _Subscription())
            subscription.interval = rate / 1000
            subscription.ids.add(name)
        self._want_cameras()

    def _want_cameras(self) -> None:
        """Has those cameras drawn that are subscribed to."""
        topics = {topic for client in self._clients for topic in client.wanted}
        seen = [name for name, base in self._cameras.items() if topics & {base, f"{base}/compressed"}]
        self.host.want_cameras(self.name, seen)

    def _serve(self, client: _RosClient, asked: dict[str, Any]) -> None:
        """Answers a call of a service."""
        service, arguments = _text(asked, "service"), asked.get("args") or {}
        types = {**{t: kind for t, (kind, _) in self._topics.items()}, **{t: k for t, (k, _) in self._orders.items()}}
        topic = arguments.get("topic", "") if isinstance(arguments, dict) else ""
        services: dict[str, dict[str, Any]] = {
            "/rosapi/topics": {"topics": list(types), "types": list(types.values())},
            "/rosapi/topic_type": {"type": types.get(topic, "")},
            "/rosapi/get_time": {"time": _stamp(self._time)},
        }
        services["/rosapi/services"] = {"services": [*services, "/rosapi/services"]}
        values: Any = services.get(service, f"service {service!r} is not known; there are {', '.join(services)}")
        answer = {"op": "service_response", "service": service, "values": values, "result": service in services}
        client.tell(json.dumps(answer if "id" not in asked else {**answer, "id": asked["id"]}))


def ros_name(name: str) -> str:
    """A name as ROS allows it: letters, digits and underscores, no digit first."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() else f"r_{plain}"


def _text(asked: dict[str, Any], key: str) -> str:
    if not isinstance(value := asked.get(key), str):
        raise UsageError(f"{key} is {value!r}; it is a text")
    return value


def _check_type(topic: str, kind: str, asked: object) -> None:
    """Refuses another type than the topic's; ROS 1 leaves `msg` out."""
    if asked and asked not in (kind, kind.replace("/msg/", "/")):
        raise UsageError(f"topic {topic!r} has the type {kind}, not {asked!r}")


def _stamp(time: float) -> dict[str, int]:
    nanoseconds = round(time * 1e9)
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}


def _vector(numbers: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyzw", numbers, strict=False))


def _published(topic: str, message: dict[str, Any]) -> str:
    return json.dumps({"op": "publish", "topic": topic, "msg": message})


def _image(picture: Picture) -> dict[str, Any]:
    height, width, _ = picture.pixels.shape
    data = base64.b64encode(np.ascontiguousarray(picture.pixels).tobytes()).decode()
    return {"height": height, "width": width, "encoding": "rgb8", "is_bigendian": 0, "step": 3 * width, "data": data}


def _compressed_image(picture: Picture) -> dict[str, Any]:
    from PIL import Image  # here: it is needed for pictures only

    out = io.BytesIO()
    Image.fromarray(picture.pixels).save(out, "png", compress_level=1)
    return {"format": "rgb8; png compressed", "data": base64.b64encode(out.getvalue()).decode()}


def _numbers(message: object, key: str) -> list[float]:
    """A list of numbers of a message."""
    values = message.get(key) if isinstance(message, dict) else None
    if not isinstance(values, list) or not all(isinstance(v, int | float) or v is None for v in values):
        raise UsageError(f"a command needs {key}, a list of numbers")
    return [math.nan if value is None else float(value) for value in values]


def _move_named(robot: HostedRobot, message: object) -> str:
    """Gives motors targets by their names [rad]; returns a problem, or nothing."""
    positions = _numbers(message, "position")
    names = message.get("name") if isinstance(message, dict) else None
    if not isinstance(names, list) or len(names) != len(positions):
        return f"a command needs as many names as positions ({len(positions)})"
    motors = {name: place for place, name in enumerate(robot.table.motors)}
    unknown = [str(name) for name in names if name not in motors]
    if unknown:
        return f"{robot.name} has no motors {', '.join(unknown[:5])}; there are {', '.join(motors)}"
    return _aim(robot, [motors[name] for name in names], positions)


def _move_all(robot: HostedRobot, message: object) -> str:
    """Gives all motors targets, in their order [rad]; returns a problem, or nothing."""
    positions, count = _numbers(message, "data"), len(robot.table.motors)
    if len(positions) != count:
        return f"{robot.name} has {count} motors, but data has {len(positions)} numbers"
    return _aim(robot, list(range(count)), positions)


def _aim(robot: HostedRobot, motors: list[int], positions: list[float]) -> str:
    wrong = robot.set_targets(np.array(motors, np.intp), np.array(positions))
    return f"{wrong} of the positions are no numbers; their motors keep their targets" if wrong else ""
