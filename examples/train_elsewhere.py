"""Another library teaches a T1 to walk: Stable-Baselines3 learns on the robots of `nutmeg train` and writes a walk.

pip install stable-baselines3
python examples/train_elsewhere.py 200000       # cycles of all robots; millions are needed to walk
nutmeg walk drive t1 --params runs/t1-elsewhere
"""

import sys
from pathlib import Path

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from nutmeg.learning.policies.adapters import stable_baselines_env
from nutmeg.learning.policies.walk_task import WalkTask, walk_scene
from nutmeg.motion.policy import Network, PolicySettings, write_network
from nutmeg.motion.walk.files import WalkParameters, write_walk

ROBOT, ROBOTS = "t1", 64
CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else "runs/t1-elsewhere")

task = WalkTask(walk_scene(ROBOT), ROBOTS, threads=2, seed=1)
envs = VecNormalize(stable_baselines_env(task), norm_reward=False)
layers = {"net_arch": [128, 128], "log_std_init": -0.7}
learner = PPO("MlpPolicy", envs, n_steps=24, batch_size=ROBOTS * 6, n_epochs=4, policy_kwargs=layers, seed=1, verbose=1)
learner.learn(CYCLES)

# Weights of torch are (out, in), and the deviation of an observation is normalised a little.
policy = learner.policy
parts = [*policy.mlp_extractor.policy_net, policy.action_net]
linear = [part for part in parts if hasattr(part, "weight")]
arrays = [(part.weight.detach().cpu().numpy().T, part.bias.detach().cpu().numpy()) for part in linear]
sizes = np.array([len(arrays[0][0]), *(weights.shape[1] for weights, _ in arrays)])
flat = np.concatenate([one.ravel() for layer in arrays for one in layer]).astype(np.float32)
mean, scale = envs.obs_rms.mean, 1 / np.sqrt(envs.obs_rms.var + envs.epsilon)
FOLDER.mkdir(parents=True, exist_ok=True)
write_network(FOLDER / "weights.npz", Network(mean.astype(np.float32), scale.astype(np.float32), flat, sizes))
settings = PolicySettings(
    weights={"plain": "weights.npz"}, fastest=(0.4, 0.2, 0.5), back=0.3, gait=task.gait, symmetric=False
)
write_walk(FOLDER / "params.toml", WalkParameters(robot=ROBOT, name=FOLDER.name, facing="hold", policy=settings))
print(f"wrote {FOLDER}: nutmeg walk drive {ROBOT} --params {FOLDER}")
task.close()
