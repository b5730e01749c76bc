"""Finds the damping at which a plucked body rings down as wanted: measured decay against β of K, and its inverse."""

# %%
import numpy as np

import pliant as pl
from example import BLUE, GREY, ORANGE, options, plt, save

chosen = options(__doc__)
model = pl.build_reduced(pl.Box((0.3, 0.03, 0.02)).surface, material="rubber", fixed="x < 2 %",
                         resolution=12 if chosen.quick else 24, num_modes=4, rank=8, cache=None)
omega = 2 * np.pi * model.frequencies[0]
tip = int(np.argmax(model.surface.vertices[:, 0]))
dt = 2 * np.pi / omega / 200


def ring_down(beta, periods=6):
    """Pulled aside a little and let go: height of the end above rest."""
    body = model.body(stiffness_damping=beta)
    rest = body.position(tip)[2]
    softness = body.compliance(tip)[2, 2]
    load = body.forces_at([tip])
    load[0, 2] = -0.005 / softness
    body.run(int(20 * 2 * np.pi / omega / dt), dt)
    load[:] = 0
    return body.run(int(periods * 2 * np.pi / omega / dt), dt, record=[tip])[:, 0, 2] - rest


def damping_ratio(swing):
    """From the logarithmic decrement of the maxima."""
    peaks = [i for i in range(1, len(swing) - 1) if swing[i - 1] < swing[i] >= swing[i + 1] and swing[i] > 1e-5]
    if len(peaks) < 2:
        return 1.0
    decrement = np.log(swing[peaks[0]] / swing[peaks[-1]]) / (len(peaks) - 1)
    return decrement / np.hypot(2 * np.pi, decrement)


# %% ζ = β ω / 2 for the first mode; the integrator should agree
wanted = np.linspace(0.02, 0.2, 4 if chosen.quick else 10)
measured = [damping_ratio(ring_down(2 * zeta / omega)) for zeta in wanted]
goal = 0.1
beta = float(np.interp(goal, measured, 2 * wanted / omega))
print(f"β = {1e3 * beta:.3f} ms rings with a ratio of {damping_ratio(ring_down(beta)):.4f}; wanted {goal}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.plot(wanted, wanted, "--", color=GREY, label="β ω / 2")
left.plot(wanted, measured, "o", color=BLUE, label="measured")
left.set(xlabel="expected damping ratio", ylabel="measured damping ratio", xticks=[0, 0.05, 0.1, 0.15, 0.2],
         yticks=[0, 0.05, 0.1, 0.15, 0.2])
left.legend()
for ratio, color in [(0.03, GREY), (goal, ORANGE)]:
    heights = ring_down(2 * ratio / omega)
    right.plot(dt * np.arange(len(heights)), 1e3 * heights, color=color, label=f"ratio {ratio}")
right.set(xlabel="time [s]", ylabel="height of the end [mm]")
right.legend()
save(figure, chosen, "tune_damping.png")
