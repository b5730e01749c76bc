"""Which virtual walls a device can show: held by nobody and firmly, and how the sampling rate moves the border."""

# %%
import numpy as np

import pliant as pl
from example import options, plt, save

chosen = options(__doc__)
stiffnesses = np.geomspace(100, 8000, 5 if chosen.quick else 14)
dampings = np.linspace(0, 12, 5 if chosen.quick else 13)
cases = [("nobody, 1 kHz", pl.HandModel.absent(), 1000), ("firm hand, 1 kHz", pl.HandModel.firm(), 1000),
         ("nobody, 4 kHz", pl.HandModel.absent(), 4000)]

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True)
for axis, (title, hand, rate) in zip(axes, cases):
    device = pl.DeviceModel()
    device.rate = rate
    device.damping = 0.5
    found = pl.zwidth_map(device, hand, stiffnesses, dampings, duration=0.6 if chosen.quick else 2.0)
    axis.grid(False)
    axis.pcolormesh(stiffnesses, dampings, found["is_stable"].T.astype(float), cmap="RdYlGn", vmin=-0.4, vmax=1.4,
                    shading="nearest")
    axis.set(xscale="log", xlabel="stiffness [N/m]", title=title)
    stiffest = stiffnesses[found["is_stable"].any(axis=1)]
    print(f"{title}: stable up to {stiffest.max() if len(stiffest) else 0:.0f} N/m")
axes[0].set_ylabel("damping of the wall [N s/m]")
colors = plt.cm.RdYlGn(np.array([1.4, 0.4]) / 1.8)
axes[-1].legend([plt.Rectangle((0, 0), 1, 1, color=color) for color in colors], ["stable", "oscillates"],
                loc="upper left", bbox_to_anchor=(1.02, 1))
save(figure, chosen, "zwidth_map.png")
