import type { Hand } from "./hand";
import type { Stage } from "./stage";

/// What keys outside the canvas do.
export interface Shortcuts {
    [key: string]: () => void;
}

/// What keys do while they are down; false: nothing now.
export interface HeldKeys {
    [key: string]: (isDown: boolean) => boolean;
}

const kTurn = 0.06; // rad
const kNudge = 0.008; // of the distance to the camera
const kToolTurn = 0.02; // half heights of the view
const kRoll = 0.06; // rad

/// Keys: shortcuts everywhere but in fields; on the canvas Enter holds what is in the middle of the
/// view, arrows move it (with nothing held: the camera), with shift they turn a tool in a hand.
export class KeyboardInput {
    constructor(
        private readonly stage: Stage,
        private readonly hand: Hand,
        shortcuts: Shortcuts,
        heldKeys: HeldKeys,
    ) {
        const down = new Set<string>();
        const letGo = (key: string) => {
            if (down.delete(key)) heldKeys[key]!(false);
        };
        window.addEventListener("keyup", (event) => letGo(event.key.toLowerCase()));
        window.addEventListener("blur", () => [...down].forEach(letGo));
        window.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (document.querySelector("dialog[open]")) return;
            const target = event.target as HTMLElement;
            const isField = target.closest("input, select, textarea") !== null;
            if (event.key === "Escape") {
                this.hand.release();
                target.blur();
                return;
            }
            if (isField) return;
            const isButton = target.closest("button, summary, a") !== null;
            if (isButton && (event.key === " " || event.key === "Enter")) return;
            if (this.steers(event.key, event.shiftKey)) return event.preventDefault();
            const key = event.key.toLowerCase();
            if (!event.repeat && heldKeys[key]?.(true)) {
                down.add(key);
                return event.preventDefault();
            }
            const action = shortcuts[key];
            if (!action || event.repeat) return;
            event.preventDefault();
            action();
        });
    }

    /// Keys for hand and camera; false: not one of them.
    private steers(key: string, isShifted: boolean): boolean {
        const { orbit } = this.stage;
        const directions: Record<string, [number, number, number]> = {
            ArrowLeft: [-1, 0, 0],
            ArrowRight: [1, 0, 0],
            ArrowUp: [0, 1, 0],
            ArrowDown: [0, -1, 0],
            PageUp: [0, 0, 1],
            PageDown: [0, 0, -1],
        };
        const direction = directions[key];
        if (direction) {
            const [right, up, into] = direction;
            const hasTurned =
                isShifted && this.hand.nudgeTurn(right * kToolTurn, up * kToolTurn, into * kRoll);
            if (hasTurned) return true;
            if (this.hand.isHolding) this.hand.nudge(right * kNudge, up * kNudge, into * kNudge);
            else if (into) orbit.zoom(1 - 0.08 * into);
            else orbit.orbit(right * kTurn, up * kTurn);
        } else if (key === "+" || key === "=") orbit.zoom(1 / 1.08);
        else if (key === "-") orbit.zoom(1.08);
        else if (key === "Enter") {
            if (this.hand.isHolding) this.hand.release();
            else this.hand.press(0, 0);
        } else return false;
        this.stage.invalidate();
        return true;
    }
}
