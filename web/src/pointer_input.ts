import type { Hand, ToolMotion } from "./hand";
import type { Stage } from "./stage";

const kRadiansPerPixel = 0.006;

/// Mouse, pen and touch on the canvas: the hand where there is something to hold, else the camera.
/// Mouse: left holds or orbits, right orbits, middle or shift+right pans, the wheel zooms or moves
/// what is held in depth. A tool in a hand goes along the view with shift, and turns with ctrl or
/// alt. Touch: one finger holds or orbits, two zoom and pan.
export class PointerInput {
    private readonly pointers = new Map<number, { x: number; y: number }>();
    private use: "none" | "hand" | "orbit" | "pan" = "none";

    constructor(
        private readonly stage: Stage,
        private readonly hand: Hand,
    ) {
        const { canvas } = stage;
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.moved(event));
        // where there are raw updates they come at once; pointermove waits for the next picture
        const moveEvent = "onpointerrawupdate" in canvas ? "pointerrawupdate" : "pointermove";
        canvas.addEventListener(moveEvent, (event) => this.moveHand(event as PointerEvent));
        canvas.addEventListener("pointerup", (event) => this.up(event));
        canvas.addEventListener("pointercancel", (event) => this.up(event));
        // the ring of keyboard focus is for those who come by keyboard
        canvas.addEventListener("mousedown", (event) => {
            event.preventDefault();
            (document.activeElement as HTMLElement | null)?.blur();
        });
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    }

    private down(event: PointerEvent): void {
        this.stage.canvas.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
        if (this.pointers.size > 1) {
            this.hand.release();
            this.use = "none";
        } else if (event.button === 0) {
            const mode = event.shiftKey ? "poke" : this.hand.mode;
            this.use = this.hand.press(...this.unitPosition(event), mode) ? "hand" : "orbit";
        } else this.use = event.button === 1 || event.shiftKey ? "pan" : "orbit";
        this.stage.canvas.classList.toggle("holding", this.use === "hand");
    }

    private moved(event: PointerEvent): void {
        const last = this.pointers.get(event.pointerId);
        if (!last) return this.hand.hover(...this.unitPosition(event));
        const now = { x: event.clientX, y: event.clientY };
        const { orbit, canvas } = this.stage;
        if (this.pointers.size === 2) {
            const other = [...this.pointers].find(([id]) => id !== event.pointerId)![1];
            const before = Math.hypot(last.x - other.x, last.y - other.y);
            const after = Math.hypot(now.x - other.x, now.y - other.y);
            if (before > 0 && after > 0) orbit.zoom(before / after);
            // each finger moves the middle by half its way
            const height = 2 * canvas.clientHeight;
            orbit.pan((last.x - now.x) / height, (now.y - last.y) / height);
        } else if (this.use === "orbit") {
            const right = (now.x - last.x) * kRadiansPerPixel;
            orbit.orbit(right, (now.y - last.y) * kRadiansPerPixel);
        } else if (this.use === "pan") {
            const height = canvas.clientHeight;
            orbit.pan((last.x - now.x) / height, (now.y - last.y) / height);
        }
        this.pointers.set(event.pointerId, now);
        // a hand draws nothing: the scene answers
        if (this.use !== "hand") this.stage.invalidate();
    }

    private moveHand(event: PointerEvent): void {
        if (this.use === "hand" && this.pointers.has(event.pointerId))
            this.hand.move(...this.unitPosition(event), event.timeStamp, motionOf(event));
    }

    private up(event: PointerEvent): void {
        if (!this.pointers.delete(event.pointerId)) return;
        if (this.use === "hand") this.hand.release();
        this.use = "none";
        this.stage.canvas.classList.remove("holding");
    }

    private wheel(event: WheelEvent): void {
        event.preventDefault();
        // lines and pages as pixels
        const pixels = event.deltaY * [1, 30, 300][event.deltaMode]!;
        if (this.hand.isHolding) this.hand.nudge(0, 0, -pixels * 2e-4);
        else this.stage.orbit.zoom(Math.exp(pixels * 1e-3));
        this.stage.invalidate();
    }

    /// In −1 … 1 on the canvas.
    private unitPosition(event: PointerEvent): [number, number] {
        const box = this.stage.canvas.getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width;
        const y = (event.clientY - box.top) / box.height;
        return [2 * x - 1, 1 - 2 * y];
    }
}

function motionOf(event: PointerEvent): ToolMotion {
    if (event.ctrlKey || event.altKey || event.metaKey) return "turn";
    return event.shiftKey ? "into" : "across";
}
