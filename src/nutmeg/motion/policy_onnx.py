"""Networks of policies as ONNX files, for other programs and from them (extra `onnx`).

    write_onnx(Path("walk.onnx"), network, image)       # for a robot's computer or another simulator
    network = read_onnx(Path("trained-elsewhere.onnx")) # `read_network` does so for files that end in .onnx

A file has one input, `observation` (N, inputs), and one output, `action` (N, motors); `motion.policy_kernels` defines
both. The network is written with the normalisation of its input and, where the robot has a mirror image, with that:
g(x) = (f(x) + M f(M x)) / 2. A network of another program must be a perceptron: layers of Gemm, or of MatMul and Add,
with Tanh between them, after Sub and Mul (or Div) by constants if it normalises its input. Its input must be laid out
as ours.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import FileError, MissingExtraError
from nutmeg.base.journal import write_file
from nutmeg.motion.policy import OBSERVATION_LIMIT, MirrorImage, Network

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OPSET = 13
"""Version of ONNX's operators in written files; programs since 2020 support it."""
NAMES = ("mean", "scale")
"""Constants of files that Nutmeg wrote, before `weights0`, `biases0` and so on."""


def _onnx() -> Any:  # noqa: ANN401 (a module)
    try:
        import onnx  # type: ignore[import-not-found,unused-ignore]
        import onnx.helper  # type: ignore[import-not-found,unused-ignore]
        import onnx.numpy_helper  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise MissingExtraError("a network as an ONNX file", "onnx", "onnx") from None
    return onnx


def write_onnx(path: Path, network: Network, image: MirrorImage) -> None:
    """Writes a network, symmetric where the mirror image exists."""
    onnx = _onnx()
    node = onnx.helper.make_node
    constants: dict[str, Any] = {"mean": network.mean, "scale": network.scale}
    constants |= {"lowest": np.float32(-OBSERVATION_LIMIT), "highest": np.float32(OBSERVATION_LIMIT)}
    for number, (weights, biases) in enumerate(_layers(network)):
        constants |= {f"weights{number}": weights, f"biases{number}": biases}
    layers = len(network.sizes) - 1

    def perceptron(seen: str, out: str) -> Iterator[Any]:
        yield node("Sub", [seen, "mean"], [f"{out}_centred"])
        yield node("Mul", [f"{out}_centred", "scale"], [f"{out}_scaled"])
        yield node("Clip", [f"{out}_scaled", "lowest", "highest"], [f"{out}_0"])
        for i in range(layers):
            last = i == layers - 1
            given = [f"{out}_{i}", f"weights{i}", f"biases{i}"]
            yield node("Gemm", given, [out if last else f"{out}_sum{i}"])
            if not last:
                yield node("Tanh", [f"{out}_sum{i}"], [f"{out}_{i + 1}"])

    nodes = [*perceptron("observation", "straight" if image.exists else "action")]
    if image.exists:
        constants |= {"seen_partner": image.observation, "seen_sign": image.observation_sign}
        constants |= {"partner": image.action, "sign": image.action_sign, "half": np.float32(0.5)}
        nodes += [
            node("Gather", ["observation", "seen_partner"], ["swapped"], axis=1),
            node("Mul", ["swapped", "seen_sign"], ["turned"]),
            *perceptron("turned", "other"),
            node("Gather", ["other", "partner"], ["back"], axis=1),
            node("Mul", ["back", "sign"], ["mirrored"]),
            node("Add", ["straight", "mirrored"], ["both"]),
            node("Mul", ["both", "half"], ["action"]),
        ]
    shapes = {"observation": int(network.sizes[0]), "action": int(network.sizes[-1])}
    ends = {
        name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", width])
        for name, width in shapes.items()
    }
    kept = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = onnx.helper.make_graph(nodes, "policy", [ends["observation"]], [ends["action"]], kept)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=8, producer_name="nutmeg"
    )
    onnx.checker.check_model(model)
    write_file(path, model.SerializeToString())


def _layers(network: Network) -> Iterator[tuple[Any, Any]]:
    """Weights (in, out) and biases (out,) of each layer."""
    place = 0
    for wide, out in itertools.pairwise(int(size) for size in network.sizes):
        end = place + wide * out
        yield network.layers[place:end].reshape(wide, out), network.layers[end : end + out]
        place = end + out


def read_onnx(path: Path) -> Network:
    """The perceptron of a file; of one that Nutmeg wrote, the network without its mirror image."""
    onnx = _onnx()
    # Protocol buffers come with onnx.
    from google.protobuf.message import DecodeError  # type: ignore[import-not-found,import-untyped,unused-ignore]

    try:
        graph = onnx.load_model_from_string(path.read_bytes()).graph
    except DecodeError as error:
        raise FileError(path, f"is no ONNX file: {error}.") from None
    constants = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    if {*NAMES, "weights0", "biases0"} <= constants.keys():
        count = sum(name.startswith("weights") for name in constants)
        layers = [(constants[f"weights{i}"], constants[f"biases{i}"]) for i in range(count)]
        return _network(constants["mean"], constants["scale"], layers)
    return _foreign(path, graph, constants)


def _foreign(path: Path, graph: Any, constants: dict[str, Any]) -> Network:  # noqa: ANN401 (a message of protobuf)
    """The perceptron of another program's file, node by node."""
    layers: list[tuple[Any, Any]] = []
    mean, scale, tanh = np.zeros(1, np.float32), np.ones(1, np.float32), 0
    for node in graph.node:
        given = [constants[name] for name in node.input if name in constants]
        turned = any(flag.name == "transB" and flag.i for flag in node.attribute)
        if node.op_type == "Gemm" and len(given) == 2:
            layers.append((given[0].T if turned else given[0], given[1]))
        elif node.op_type == "MatMul" and len(given) == 1:
            layers.append((given[0], np.zeros(given[0].shape[1], np.float32)))
        elif node.op_type == "Add" and layers and len(given) == 1:
            layers[-1] = layers[-1][0], layers[-1][1] + given[0].ravel()
        elif node.op_type == "Sub" and not layers and len(given) == 1:
            mean = given[0].ravel()
        elif node.op_type in ("Mul", "Div") and not layers and len(given) == 1:
            scale = given[0].ravel() if node.op_type == "Mul" else 1 / given[0].ravel()
        elif node.op_type == "Tanh":
            tanh += 1
        elif node.op_type not in ("Identity", "Constant", "Clip", "Flatten"):
            raise FileError(path, f"has a node {node.op_type!r}; needed are Gemm or MatMul and Add, with Tanh between.")
    if not layers or tanh != len(layers) - 1:
        raise FileError(path, f"has {len(layers)} layers and {tanh} times Tanh; needed is one Tanh between two layers.")
    width = layers[0][0].shape[0]
    return _network(np.broadcast_to(mean, width), np.broadcast_to(scale, width), layers)


def _network(mean: Any, scale: Any, layers: list[tuple[Any, Any]]) -> Network:  # noqa: ANN401 (arrays)
    sizes = [layers[0][0].shape[0], *(weights.shape[1] for weights, _ in layers)]
    flat = np.concatenate([part.astype(np.float32).ravel() for layer in layers for part in layer])
    return Network(mean.astype(np.float32), scale.astype(np.float32), flat, np.array(sizes))
