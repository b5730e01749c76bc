import type { ToolHand } from "./tool_hand";

const kDeadZone = 0.12;
const kSpeed = 0.3; // of the distance to the camera, a second
const kTurnSpeed = 0.6; // half heights of the view, a second
const kRollSpeed = 1.6; // rad/s
const kLongestStep = 0.1; // s: a page that stood still does not jump
const kRumble = 60; // ms
const kDeviceButtons = 4; // those of the right thumb

/// Places in the standard layout of gamepads.
const Place = { LeftBumper: 4, RightBumper: 5, LeftTrigger: 6, RightTrigger: 7 } as const;

/// A gamepad moves the tool in a hand, by rate: the left stick across the view, the triggers near
/// and away, the right stick turns it, the bumpers roll it. It shakes as the force changes.
export class GamepadInput {
    private last = 0;
    private lastRumble = 0;
    private isActive = false; // has moved the tool, and may have buttons down

    constructor(private readonly tool: ToolHand) {}

    /// Once per animation frame.
    poll(now: number): void {
        const seconds = Math.min((now - this.last) / 1000, kLongestStep);
        this.last = now;
        const pad = gamepad();
        if (!pad || !this.tool.isPresent) return;
        const value = (button: number) => pad.buttons[button]?.value ?? 0;
        const [right, down] = stick(pad.axes[0], pad.axes[1]);
        const [yaw, pitch] = stick(pad.axes[2], pad.axes[3]);
        const into = value(Place.RightTrigger) - value(Place.LeftTrigger);
        const roll = value(Place.RightBumper) - value(Place.LeftBumper);
        if ([right, down, yaw, pitch, into, roll].some((rate) => rate !== 0) && this.tool.take()) {
            const step = kSpeed * seconds;
            this.tool.shiftInView(right * step, -down * step, into * step);
            const turn = kTurnSpeed * seconds;
            this.tool.turnInView(yaw * turn, -pitch * turn, roll * kRollSpeed * seconds);
            this.tool.keepOnLeash();
            this.isActive = true;
        }
        let buttons = 0;
        for (let i = 0; i < kDeviceButtons; ++i) if (pad.buttons[i]?.pressed) buttons |= 1 << i;
        this.isActive ||= buttons !== 0;
        if (this.isActive) this.tool.setButtons(buttons);
    }

    /// `level` of the force rate, 0 … 1.
    rumble(level: number): void {
        const now = performance.now();
        if (level <= 0 || !this.isActive || now - this.lastRumble < kRumble / 2) return;
        const actuator = gamepad()?.vibrationActuator;
        if (!actuator) return;
        this.lastRumble = now;
        const effect = { duration: kRumble, strongMagnitude: level * level, weakMagnitude: level };
        // those that cannot say so by an error
        actuator.playEffect("dual-rumble", effect).catch(() => {});
    }
}

function gamepad(): Gamepad | null {
    return navigator.getGamepads().find((pad) => pad?.connected) ?? null;
}

/// Nothing in the middle, finer than linear around it.
function stick(x = 0, y = 0): [number, number] {
    const size = Math.hypot(x, y);
    if (size <= kDeadZone) return [0, 0];
    const reach = (Math.min(size, 1) - kDeadZone) / (1 - kDeadZone);
    return [(x / size) * reach * reach, (y / size) * reach * reach];
}
