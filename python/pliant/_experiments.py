"""Small experiments in one call."""

import dataclasses

import numpy as np

from pliant import _core


@dataclasses.dataclass
class Press:
    """What a press was like, an entry for each tick."""

    time: np.ndarray  #: [s]
    depth: np.ndarray  #: of the tool below the place where it touched first [m]
    force: np.ndarray  #: of the body against the tool [N]
    force_vector: np.ndarray  #: on the tool (n, 3) [N]
    position: np.ndarray  #: of the tool's centre (n, 3) [m]


def press(body, at, depth, *, tool=None, speed=0.02, direction=None, hold=0.0, rate=1000.0, friction=0.3,
          stiffness=None):
    """Presses a sphere into a body and says how hard it presses back.

    `at`: vertex or (triangle, weights); pressed with `speed` [m/s] along `direction` (default: against the normal
    there) until the tool has sunk by `depth` [m], then held for `hold` seconds; `tool`: Sphere of a radius (default: a
    twentieth of the body's size). The tool is a proxy on a spring of `stiffness` [N/m]: by default ten times that of
    the body where it presses, but no stiffer than the rate allows. It ends short of the depth where the hand had to go
    ten times as deep.
    """
    radius = body.size / 20 if tool is None else _radius_of(tool)
    start = np.array(body.position(at))
    outwards = np.array(body.normal(at)) if direction is None else -np.asarray(direction, dtype=float)
    outwards = outwards / np.linalg.norm(outwards)
    dt = 1.0 / rate
    if stiffness is None:
        stiffness = _safe_stiffness(body, at, outwards, dt)
    proxy = _core.VirtualProxy([body], radius=radius, stiffness=stiffness, static_friction=friction,
                               dynamic_friction=friction)
    # bodies in balance follow a force that stays at its place
    stays = body.kind in ("greens", "zones")
    above = 1.2 * radius  # it comes from a little above
    proxy.reset(start + above * outwards)
    forces, positions = [], []
    travel, left = 0.0, int(round(hold * rate))
    is_there = False
    while not is_there or left > 0:
        if is_there:
            left -= 1
        else:
            travel += speed * dt
        state = proxy.tick(start + (above - travel) * outwards)
        if stays:
            body.add_force(at, -np.array(state.force))
        else:
            proxy.apply_forces()
        body.step(dt)
        forces.append(state.force)
        positions.append(state.position)
        sunk = (start - state.position) @ outwards + radius
        is_there = is_there or sunk >= depth or travel > above + 10 * depth
    force, position = np.array(forces), np.array(positions)
    return Press(time=dt * np.arange(1, len(force) + 1), depth=(start - position) @ outwards + radius,
                 force=force @ outwards, force_vector=force, position=position)


def _radius_of(tool):
    """Of a Sphere, from what it is made of."""
    low, high = tool.surface.bounds
    return float(max(high - low)) / 2


def _safe_stiffness(body, at, outwards, dt):
    """Ten times as stiff as the body, while a spring that is evaluated once per step stays stable."""
    mobility = body.mobility(at)
    limit = 0.2 / (mobility * dt * dt) if mobility > 0 else 1e4
    compliance = body.compliance(at)
    if compliance is None:
        return min(limit, 1e3)
    return float(min(limit, 10.0 / max(outwards @ compliance @ outwards, 1e-9)))
