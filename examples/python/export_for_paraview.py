"""A soft cube dropped on a ball, written as a series of .vtu files with displacement and speed for ParaView."""

# %%
import numpy as np

import pliant as pl
from example import options, plt, save

chosen = options(__doc__)
cells = 4 if chosen.quick else 10
ball = pl.Sphere(0.06).body(pose=(0, 0, 0))
cube = pl.build_fem(pl.hex_box((cells,) * 3, (-0.05, -0.03, 0.065), (0.05, 0.07, 0.165)),
                    material=pl.Material(3e4, 0.4, 1000))
body = cube.body(obstacles=[ball], mass_damping=1.0, stiffness_damping=1e-4, friction=0.5)
body.set_gravity((0, 0, -9.81))

# %% some steps of 1 ms a frame; ParaView opens cube_*.vtu as one series
step, steps = 1e-3, 11 if chosen.quick else 16
folder = chosen.output / "paraview"
folder.mkdir(parents=True, exist_ok=True)
frames, last, surfaces = (8 if chosen.quick else 24), np.zeros((cube.num_nodes, 3)), []
for frame in range(frames):
    u = body.u
    cube.mesh.save(folder / f"cube_{frame:03d}.vtu",
                   point_data={"displacement": u, "speed": np.linalg.norm(u - last, axis=1) / (steps * step)})
    surfaces.append(pl.SurfaceMesh(body.positions, body.surface.triangles))
    last = u
    for _ in range(steps):
        ball.step(step)
        body.step(step)
ball.surface.save(folder / "ball.vtu")
print(f"wrote {frames} files to {folder}; at the end {body.num_contacts} contacts")

# %%
figure, axes = plt.subplots(1, 4, figsize=(11, 3))
for axis, k in zip(axes, np.linspace(0, frames - 1, 4).astype(int)):
    both = surfaces[k].joined(ball.surface)
    colors = np.full((both.num_vertices, 3), (0.55, 0.6, 0.68))
    colors[: surfaces[k].num_vertices] = (0.85, 0.55, 0.3)
    axis.imshow(pl.render(both, 320, 320, azimuth=30, elevation=12, colors=colors))
    axis.set_title(f"frame {k}")
    axis.axis("off")
save(figure, chosen, "export_for_paraview.png")
