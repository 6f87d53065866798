"""The 3-D scene: meshes of a model, camera positions, and the positions of a recording over time."""
