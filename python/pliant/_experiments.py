"""Small experiments in one call."""

import dataclasses
import math

import numpy as np

from pliant import _core
from pliant._errors import wrong


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
    # what is not finite, or goes nowhere, would never end
    depth = _number("depth", depth, "m", is_zero_allowed=True)
    hold = _number("hold", hold, "s", is_zero_allowed=True)
    speed, rate = _number("speed", speed, "m/s"), _number("rate", rate, "Hz")
    radius = body.size / 20 if tool is None else _radius_of(tool)
    start = np.array(body.position(at))
    outwards = np.array(body.normal(at)) if direction is None else -_vector("direction", direction)
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


def _number(name, value, unit, is_zero_allowed=False):
    """Finite and above 0, or at least not below."""
    try:
        number = float(1.0 * value)  # of a text it is none
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (number == 0 and not is_zero_allowed):
        raise wrong(name, value, f"finite, 0 {unit} or more" if is_zero_allowed else f"finite, above 0 {unit}")
    return number


def _vector(name, value):
    """Finite and not 0."""
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        vector = np.zeros(3)
    if vector.shape != (3,) or not 0 < np.linalg.norm(vector) < math.inf:
        raise wrong(name, value, "a vector (3,) of length above 0")
    return vector


def _radius_of(tool):
    """Of a Sphere, whose gap alone grows alike in all directions."""
    expected = "None or a Sphere, as Sphere(0.005)"
    if not isinstance(tool, _core.Solid):
        raise wrong("tool", tool, expected)
    radius = -float(tool.gap([(0, 0, 0)])[0])
    around = np.array([(0, 0, 2), (2, 0, 0), (0, 2, 0), (0, 0, -2), (1.2, 1.6, 0), (0, -1.2, 1.6)]) * radius
    if not radius > 0 or np.abs(tool.gap(around) - radius).max() > 1e-9 * radius:
        raise wrong("tool", "a solid of another kind", expected)
    return radius


def _safe_stiffness(body, at, outwards, dt):
    """Ten times as stiff as the body, while a spring that is evaluated once per step stays stable."""
    mobility = body.mobility(at)
    limit = 0.2 / (mobility * dt * dt) if mobility > 0 else 1e4
    compliance = body.compliance(at)
    if compliance is None:
        return min(limit, 1e3)
    return float(min(limit, 10.0 / max(outwards @ compliance @ outwards, 1e-9)))
