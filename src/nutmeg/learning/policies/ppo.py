r"""Proximal policy optimisation (Schulman and others, 2017) on numpy, or on torch where there is a GPU.

    learner = Learner((71, 8, 20), PpoSettings(), seed=1)   # observations, what only the critic sees, actions
    step = learner.act(observation, truth)          # (N, ...) to actions, their log-probabilities and values
    learner.update(rollout)                         # one iteration

An action is drawn from a normal distribution with the mean mu(o) and a standard deviation s of its own for each of its
numbers. With r the ratio of its probabilities after and before, A its advantage and R the return that was seen,

    L = -E[min(r A, clip(r, 1 - c, 1 + c) A)] + E[(V(o, p) - R)^2] / 2 - h sum(log s)

The critic V also sees what no robot senses, p (its true velocity, say); it is not needed later. Advantages are the
generalised ones of Schulman and others (2016). A robot with two equal sides learns from every experience and from its
mirror image. The step size follows the measured divergence between the policies before and after.

Networks this small need no framework: the gradient of a perceptron is a dozen lines, the same source runs on both
processors, and a laptop learns without two gigabytes of libraries.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from nutmeg.base.settings import Bounds, above, check_bounds
from nutmeg.motion.policy import OBSERVATION_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Floats32, Indices
    from nutmeg.motion.policy import Network

Array = Any
"""An array of numpy, or a tensor of torch on its device."""
FASTEST_RATE, SLOWEST_RATE = 3e-3, 1e-5
"""Bounds of the step size."""
FAR = 3.0
"""An update ends when the divergence is this many times the wanted one."""
LOWEST_SPREAD = -3.0
"""The least logarithm of a standard deviation of actions."""
CRITIC_UPDATES, GENTLE_RATE = 30, 1e-4
"""A policy that comes without a critic stays as it is for so many updates, while a critic learns to judge it: that of a
nao-spark explains 0.42 of the variance of returns in the first 25, and 0.69 in the next. Its first step size then."""
LEAST_VARIANCE = 1e-4
"""Added to the variances of observations, so that one that hardly changes is not blown up."""
KNOWN_COUNT = 1e12
"""So many observations count for the normalisation that such a policy brings, so that it stays as it is: the policy
changes with it, and the divergence does not show that. With 1e7, a nao-spark that ran at 1.24 m/s ran at 1.01 after
400 updates of 12,288 observations without any learning (docs/explanation/policies.md)."""


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """How the networks learn."""

    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers, of policy and critic alike."""
    cycles: Annotated[int, Bounds(2, 1000)] = 24
    """Cycles of each robot between two updates."""
    epochs: Annotated[int, Bounds(1, 100)] = 4
    """How often an update goes through its experience."""
    batches: Annotated[int, Bounds(1, 1000)] = 4
    """Into how many parts the experience is cut."""
    discount: Annotated[float, Bounds(0.0, 1.0)] = 0.99
    """What a reward counts a cycle later."""
    trace: Annotated[float, Bounds(0.0, 1.0)] = 0.95
    """Lambda of the generalised advantages."""
    clip: Annotated[float, above(0.0)] = 0.2
    """How far a probability may change in an update."""
    entropy: Annotated[float, Bounds(0.0, 1.0)] = 0.003
    """What spread of the actions is worth."""
    rate: Annotated[float, above(0.0)] = 1e-3
    """The first step size."""
    divergence: Annotated[float, above(0.0)] = 0.012
    """The divergence between two policies that the step size aims at."""
    spread: Annotated[float, above(0.0)] = 0.8
    """The first standard deviation of actions."""
    steepest: Annotated[float, above(0.0)] = 1.0
    """Gradients longer than this are shortened."""

    def __post_init__(self) -> None:
        check_bounds(self)


Mirror = tuple["Indices", "Floats32"]
"""The mirror image of a row x is x[partner] * sign."""


class Mirrors(NamedTuple):
    """How observations, what only the critic sees, and actions look in a mirror."""

    observation: Mirror
    truth: Mirror
    action: Mirror


class Rollout(NamedTuple):
    """What N robots did in T cycles, where the networks are."""

    observation: Array
    """(T, N, observations)."""
    truth: Array
    """(T, N, truths)."""
    action: Array
    """(T, N, actions)."""
    probability: Array
    """Logarithms, (T, N)."""
    value: Array
    """By the critic, (T + 1, N)."""
    reward: Array
    """(T, N); an episode that was cut off has the value of what would have come added."""
    ended: Array
    """Whether an episode ended with the cycle, (T, N)."""


class Perceptron:
    """A network with hidden layers of tanh; its numbers are one vector, so that an optimiser moves them all at once."""

    def __init__(self, sizes: Sequence[int], arrays: Arrays, rng: np.random.Generator, last: float) -> None:
        self.sizes = tuple(sizes)
        parts = []
        for number, (wide, out) in enumerate(itertools.pairwise(sizes)):
            size = last if number == len(sizes) - 2 else 1.0
            parts += [rng.standard_normal(wide * out) * size / math.sqrt(wide), np.zeros(out)]
        self.numbers: Array = arrays.put(np.concatenate(parts).astype(np.float32))
        self.gradient: Array = arrays.put(np.zeros(len(self.numbers), np.float32))
        self._layers, self._slopes = self._cut(self.numbers), self._cut(self.gradient)
        self._xp = arrays.module

    def _cut(self, flat: Array) -> list[tuple[Array, Array]]:
        """Views of the weights (in, out) and biases (out,) of each layer."""
        views, place = [], 0
        for wide, out in zip(self.sizes, self.sizes[1:], strict=False):
            end = place + wide * out
            views.append((flat[place:end].reshape(wide, out), flat[end : end + out]))
            place = end + out
        return views

    def forward(self, values: Array) -> tuple[Array, list[Array]]:
        """The output, (N, out), and the values of all layers before it."""
        kept = [values]
        for weights, biases in self._layers[:-1]:
            kept.append(self._xp.tanh(kept[-1] @ weights + biases))
        weights, biases = self._layers[-1]
        return kept[-1] @ weights + biases, kept

    def backward(self, slope: Array, kept: list[Array]) -> None:
        """Fills the gradient from the slopes of the output, (N, out)."""
        for number in range(len(self._layers) - 1, -1, -1):
            before, (weights, _) = kept[number], self._layers[number]
            self._slopes[number][0][:] = before.T @ slope
            self._slopes[number][1][:] = slope.sum(0)
            if number:
                slope = (slope @ weights.T) * (1.0 - before * before)


class Symmetric:
    """A network f made equal on both sides of a mirror: g(x) = (f(x) + M f(M x)) / 2, so that g(M x) = M g(x)."""

    def __init__(self, network: Perceptron, inward: Mirror, outward: Mirror, arrays: Arrays) -> None:
        self._network, self._xp = network, arrays.module
        self._inward, self._outward = ([arrays.put(one) for one in mirror] for mirror in (inward, outward))

    def forward(self, values: Array) -> tuple[Array, list[Array]]:
        """The output, (N, out), and the values of all layers before it for the values and their mirror images."""
        both, kept = self._network.forward(self._xp.concatenate([values, _image(values, self._inward)]))
        return (both[: len(values)] + _image(both[len(values) :], self._outward)) / 2, kept

    def backward(self, slope: Array, kept: list[Array]) -> None:
        """Fills the gradient from the slopes of the output, (N, out)."""
        self._network.backward(self._xp.concatenate([slope, _image(slope, self._outward)]) / 2, kept)


def _image(values: Array, mirror: Sequence[Array]) -> Array:
    """The mirror image of rows."""
    partner, sign = mirror
    return values[:, partner] * sign


class _Adam:
    """Adam (Kingma and Ba, 2015) for vectors that are changed in place."""

    def __init__(self, vectors: Sequence[Array]) -> None:
        self._vectors = list(vectors)
        self.first: list[Array] = [vector * 0.0 for vector in vectors]
        self.second: list[Array] = [vector * 0.0 for vector in vectors]
        self.steps = np.zeros(len(vectors), int)

    def step(self, gradients: Sequence[Array | None], rate: float) -> None:
        """One step against the gradients; a vector without one stays as it is."""
        for i, gradient in enumerate(gradients):
            if gradient is None:
                continue
            # Each vector has its own count: one that begins later than the others would make too long steps by theirs.
            self.steps[i] += 1
            size = rate * math.sqrt(1 - 0.999 ** self.steps[i]) / (1 - 0.9 ** self.steps[i])
            self.first[i] += 0.1 * (gradient - self.first[i])
            self.second[i] += 0.001 * (gradient * gradient - self.second[i])
            self._vectors[i] -= size * self.first[i] / (self.second[i] ** 0.5 + 1e-8)


def _variance(values: Array) -> Array:
    """The variance of all numbers of an array."""
    apart = values - values.mean()
    return (apart * apart).mean()


def _joined(first: Mirror, second: Mirror) -> Mirror:
    """The mirror of rows that have one part after the other."""
    return np.concatenate([first[0], len(first[0]) + second[0]]), np.concatenate([first[1], second[1]])


class Arrays:
    """Where the networks and what they learn from are: numpy on the processor, or torch on any of its devices.

    Args:
        device: `cpu` for numpy, or a device of torch: `cuda`, or `cpu:0` for the processor.
    """

    def __init__(self, device: str = "cpu") -> None:
        self._torch: Any = None
        self.module: Any = np
        if device != "cpu":
            import torch  # type: ignore[import-not-found,unused-ignore]

            self._torch, self.module = torch, torch
            torch.backends.cuda.matmul.allow_tf32 = True
            self._generator = torch.Generator(device)
        self._device, self._rng = device, np.random.default_rng()

    def reseed(self, rng: np.random.Generator) -> None:
        """Draws random numbers from another generator from now on."""
        self._rng = rng
        if self._torch is not None:
            self._generator.manual_seed(int(rng.integers(2**62)))

    def put(self, values: Any) -> Array:  # noqa: ANN401
        """An array of numpy on the device; what is there already stays where it is."""
        return values if self._torch is None else self._torch.as_tensor(values, device=self._device)

    def get(self, values: Array) -> Any:  # noqa: ANN401
        """An array of the device as one of numpy."""
        return values if self._torch is None else values.cpu().numpy()

    def empty(self, *shape: int, flags: bool = False) -> Array:
        """An array of numbers of 32 bit, or of flags, that is not filled yet."""
        if self._torch is None:
            return np.empty(shape, bool if flags else np.float32)
        kind = self._torch.bool if flags else self._torch.float32
        return self._torch.empty(shape, dtype=kind, device=self._device)

    def normal(self, *shape: int) -> Array:
        """Standard normal numbers."""
        if self._torch is None:
            return self._rng.standard_normal(shape, np.float32)
        return self._torch.randn(shape, generator=self._generator, device=self._device)

    def shuffled(self, count: int, parts: int) -> Sequence[Array]:
        """The numbers 0..count - 1 in random order, cut into parts."""
        if self._torch is None:
            return np.array_split(self._rng.permutation(count), parts)
        order = self._torch.randperm(count, generator=self._generator, device=self._device)
        found: Sequence[Array] = self._torch.tensor_split(order, parts)
        return found

    def moments(self, values: Array) -> tuple[Floats, Floats]:
        """Means and variances of columns, in 64 bit and in this computer's memory."""
        if self._torch is None:
            return values.mean(axis=0, dtype=float), values.var(axis=0, dtype=float)
        wide = values.double()
        return self.get(wide.mean(0)), self.get(wide.var(0, correction=0))


class Statistics:
    """Mean and variance of all observations so far."""

    def __init__(self, width: int) -> None:
        self.count = 1e-4
        self.mean = np.zeros(width)
        self.variance = np.ones(width)

    def add(self, count: int, mean: Floats, variance: Floats) -> None:
        """Takes in N further observations by their means and variances, (width,)."""
        total, apart = self.count + count, mean - self.mean
        spread = self.variance * self.count + variance * count + apart**2 * self.count * count / total
        self.mean, self.variance, self.count = self.mean + apart * count / total, spread / total, total

    @property
    def scale(self) -> Floats32:
        """One over the standard deviation, (width,)."""
        return np.asarray(1.0 / np.sqrt(self.variance + LEAST_VARIANCE), np.float32)


class Learner:
    """A policy and its critic.

    Args:
        widths: of observations, of what only the critic sees, and of actions.
        settings: how they learn.
        seed: of the first numbers, of the actions drawn and of the order of experience.
        mirrors: the mirror image of experience; None for a robot that has none.
        device: `cpu`, or a device of torch.
    """

    def __init__(
        self,
        widths: tuple[int, int, int],
        settings: PpoSettings,
        *,
        seed: int = 0,
        mirrors: Mirrors | None = None,
        device: str = "cpu",
    ) -> None:
        self.settings, self.arrays, rng = settings, Arrays(device), np.random.default_rng(seed)
        observations, truths, self.actions = widths
        self.seen, self.known = Statistics(observations), Statistics(observations + truths)
        self.policy = Perceptron((observations, *settings.hidden, self.actions), self.arrays, rng, 0.01)
        self.critic = Perceptron((observations + truths, *settings.hidden, 1), self.arrays, rng, 1.0)
        self.spread: Array = self.arrays.put(np.full(self.actions, math.log(settings.spread), np.float32))
        self._spread_slope: Array = self.spread * 0.0
        self._optimiser = _Adam([self.policy.numbers, self.critic.numbers, self.spread])
        self.rate = settings.rate
        self.held = 0
        """For how many updates only the critic learns."""
        self._mirrors: list[list[Array]] = []
        self._act: Perceptron | Symmetric = self.policy
        self._judge: Perceptron | Symmetric = self.critic
        if mirrors is not None:
            known = _joined(mirrors.observation, mirrors.truth)
            self._mirrors = [[self.arrays.put(one) for one in mirror] for mirror in (mirrors.observation, known)]
            same = (np.array([0]), np.ones(1, np.float32))
            self._act = Symmetric(self.policy, mirrors.observation, mirrors.action, self.arrays)
            self._judge = Symmetric(self.critic, known, same, self.arrays)
        self.arrays.reseed(rng)
        self._normalise()

    def reseed(self, rng: np.random.Generator) -> None:
        """Draws actions and the order of experience from another generator."""
        self.arrays.reseed(rng)

    def _normalise(self) -> None:
        """Brings means and scales of what the networks see to where they are."""
        self._of_seen, self._of_known = (
            (self.arrays.put(one.mean.astype(np.float32)), self.arrays.put(one.scale))
            for one in (self.seen, self.known)
        )

    # ---- acting

    def act(self, observation: Array, truth: Array) -> tuple[Array, Array, Array]:
        """Actions drawn for N robots (N, actions), the logarithms of their probabilities (N,), and values (N,)."""
        noise = self.arrays.normal(len(observation), self.actions)
        drawn = self.best(observation) + self.arrays.module.exp(self.spread) * noise
        return drawn, -0.5 * (noise * noise).sum(1) - self.spread.sum(), self.value(observation, truth)

    def value(self, observation: Array, truth: Array) -> Array:
        """What the critic expects from here on, (N,)."""
        both = self.arrays.module.concatenate([observation, truth], axis=1)
        return self._judge.forward(self._normal(both, self._of_known))[0][:, 0]

    def best(self, observation: Array) -> Array:
        """The likeliest actions, (N, actions)."""
        return self._act.forward(self._normal(observation, self._of_seen))[0]

    def _normal(self, values: Array, of: tuple[Array, Array]) -> Array:
        return self.arrays.module.clip((values - of[0]) * of[1], -OBSERVATION_LIMIT, OBSERVATION_LIMIT)

    # ---- learning

    def update(self, rollout: Rollout) -> dict[str, float]:
        """One iteration; what is worth printing about it."""
        s = self.settings
        advantage = self._advantages(rollout)
        target = advantage + rollout.value[:-1]
        flat = [one.reshape(-1, one.shape[-1]) for one in (rollout.observation, rollout.truth, rollout.action)]
        normal = (advantage - advantage.mean()) / (_variance(advantage) ** 0.5 + 1e-8)
        experience = [*flat, *(one.reshape(-1) for one in (rollout.probability, normal, target))]
        for _ in range(s.epochs):
            parts = self.arrays.shuffled(len(flat[0]), s.batches)
            divergence = float(sum(self._step([one[rows] for one in experience]) for rows in parts)) / s.batches
            if divergence > FAR * s.divergence:
                break
        # Adapted once an update: a step size that grew between batches would overshoot before it is measured.
        if self.held:
            self.held -= 1
            self.rate = self.rate if self.held else GENTLE_RATE
        elif divergence > 1.5 * s.divergence:
            self.rate = max(self.rate / 1.3, SLOWEST_RATE)
        elif divergence < s.divergence / 1.5:
            self.rate = min(self.rate * 1.3, FASTEST_RATE)
        self._take_in(flat[0], self.arrays.module.concatenate(flat[:2], axis=1))
        explained = 1 - float(_variance(target - rollout.value[:-1])) / max(float(_variance(target)), 1e-12)
        return {
            "divergence": divergence,
            "rate": self.rate,
            "spread": float(self.arrays.module.exp(self.spread).mean()),
            "explained": explained,
        }

    def _take_in(self, observation: Array, known: Array) -> None:
        """Adds to the statistics, which are the same on both sides of a mirror."""
        for number, (of, values) in enumerate(((self.seen, observation), (self.known, known))):
            of.add(len(values), *self.arrays.moments(values))
            if self._mirrors:
                of.add(len(values), *self.arrays.moments(_image(values, self._mirrors[number])))
        self._normalise()

    def _advantages(self, rollout: Rollout) -> Array:
        """Generalised advantages, (T, N)."""
        s, found = self.settings, self.arrays.empty(*rollout.reward.shape)
        following = 0.0 * rollout.reward[0]
        for t in range(len(found) - 1, -1, -1):
            goes_on = ~rollout.ended[t]
            error = rollout.reward[t] + s.discount * rollout.value[t + 1] * goes_on - rollout.value[t]
            following = error + s.discount * s.trace * following * goes_on
            found[t] = following
        return found

    def _step(self, batch: list[Array]) -> Array:
        """One step of the optimiser on part of the experience; returns the divergence from the policy before."""
        s, xp = self.settings, self.arrays.module
        observation, truth, action, before, advantage, target = batch
        count = len(observation)
        mean, kept = self._act.forward(self._normal(observation, self._of_seen))
        spread = xp.exp(self.spread)
        off = (action - mean) / spread
        change = -0.5 * (off * off).sum(1) - self.spread.sum() - before
        ratio = xp.exp(xp.clip(change, -10.0, 10.0))
        # The gradient of the clipped objective is zero where a probability has already changed enough.
        free = ((advantage >= 0) & (ratio < 1 + s.clip)) | ((advantage < 0) & (ratio > 1 - s.clip))
        slope = -(ratio * advantage * free / count)[:, None]
        self._act.backward(slope * off / spread, kept)
        self._spread_slope[:] = (slope * (off * off - 1.0)).sum(0) - s.entropy
        value, kept = self._judge.forward(self._normal(xp.concatenate([observation, truth], axis=1), self._of_known))
        self._judge.backward(((value[:, 0] - target) / count)[:, None], kept)
        self._descend()
        return (ratio - 1.0 - change).mean()

    def _descend(self) -> None:
        """Moves the numbers of both networks, each by a gradient of bounded length."""
        gradients: list[Array | None] = []
        for group in ((self.policy.gradient, self._spread_slope), (self.critic.gradient,)):
            length = sum((one * one).sum() for one in group) ** 0.5
            shorter = self.arrays.module.clip(self.settings.steepest / (length + 1e-12), None, 1.0)
            gradients += [one * shorter for one in group]
        if self.held:
            gradients[:2] = None, None
        self._optimiser.step([gradients[0], gradients[2], gradients[1]], self.rate)
        self.spread[:] = self.arrays.module.clip(self.spread, LOWEST_SPREAD, 1.0)

    # ---- keeping

    def save(self) -> dict[str, Any]:
        """Everything that learning goes on from, as arrays of numpy."""
        get, adam = self.arrays.get, self._optimiser
        kept = {"policy": self.policy.numbers, "critic": self.critic.numbers, "spread": self.spread}
        for name, vectors in (("first", adam.first), ("second", adam.second)):
            kept.update({f"{name}{i}": vector for i, vector in enumerate(vectors)})
        found: dict[str, Any] = {name: np.array(get(value)) for name, value in kept.items()}
        for name, seen in (("seen", self.seen), ("known", self.known)):
            found.update({f"{name}_mean": seen.mean, f"{name}_variance": seen.variance, f"{name}_count": seen.count})
        return {**found, "rate": self.rate, "steps": adam.steps.copy(), "held": self.held}

    def load(self, kept: dict[str, Any]) -> None:
        """Goes on from what `save` gave."""
        put, adam = self.arrays.put, self._optimiser
        self.policy.numbers[:], self.critic.numbers[:] = put(kept["policy"]), put(kept["critic"])
        self.spread[:] = put(kept["spread"])
        for name, vectors in (("first", adam.first), ("second", adam.second)):
            for i, vector in enumerate(vectors):
                vector[:] = put(kept[f"{name}{i}"])
        for name, seen in (("seen", self.seen), ("known", self.known)):
            seen.mean, seen.variance = np.array(kept[f"{name}_mean"]), np.array(kept[f"{name}_variance"])
            seen.count = float(kept[f"{name}_count"])
        self.rate, self.held, adam.steps[:] = float(kept["rate"]), int(kept.get("held", 0)), kept["steps"]
        self._normalise()

    def load_policy(self, network: Network) -> None:
        """Goes on from a policy without its critic, which learns alone for the first `CRITIC_UPDATES` updates."""
        self.policy.numbers[:] = self.arrays.put(network.layers)
        width = len(network.mean)
        self.seen.mean = network.mean.astype(float)
        self.seen.variance = 1.0 / network.scale.astype(float) ** 2 - LEAST_VARIANCE
        self.seen.count = KNOWN_COUNT
        self.known.mean[:width], self.known.variance[:width] = self.seen.mean, self.seen.variance
        self.held = CRITIC_UPDATES
        self._normalise()
