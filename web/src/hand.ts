import * as THREE from "three";
import type { Pick } from "./picking";
import type { Frame, PageMessage, Vec3 } from "./protocol";
import type { Stage } from "./stage";
import type { GizmoHandle, ToolGizmo } from "./tool_gizmo";
import type { ToolHand } from "./tool_hand";

export type HandMode = "pull" | "poke" | "tool";

/// What a motion of the pointer does to a tool in a hand.
export type ToolMotion = "across" | "into" | "turn";

/// What the hand needs from the rest of the page.
export interface HandContext {
    send(message: PageMessage): void;
    pick(ray: THREE.Ray): Pick | null;
    frame(): Frame | null;
    hasTool(): boolean;
    steers(): boolean;
    /// A target was sent now for an event of that time: for latency measurements.
    sent(target: Vec3, eventTime: number): void;
}

const kSlot = 0;

const kSendInterval = 5; // ms

/// Turns pointer positions into what is held: pulls, pokes and the tool. Targets are sent at once,
/// not with the next picture: a slow renderer would delay them by a frame.
export class Hand {
    mode: HandMode = "pull";
    private holding: HandMode | null = null;
    private holdsBody = false; // as the tool
    private readonly plane = new THREE.Plane();
    private readonly target = new THREE.Vector3();
    private readonly offset = new THREE.Vector3(); // from the pointer to the tool
    private pending: number | null = null; // time of the event to be sent
    private lastSent = 0;
    private readonly last = new THREE.Vector2(); // position of the pointer
    private handle: GizmoHandle | null = null; // that is held

    constructor(
        private readonly stage: Stage,
        private readonly context: HandContext,
        private readonly tool: ToolHand,
        private readonly gizmo: ToolGizmo,
    ) {}

    get isHolding(): boolean {
        return this.holding !== null;
    }

    /// Tries to hold what is under the pointer; positions are in −1 … 1. False: nothing there.
    press(x: number, y: number, mode: HandMode = this.mode): boolean {
        if (!this.context.steers()) return false;
        this.release();
        const ray = this.ray(x, y);
        if (this.tool.isPresent && this.mode === "tool") return this.holdBody(x, y);
        return mode === "tool" ? this.holdTool(ray) : this.holdSurface(ray, mode, x, y);
    }

    /// The pointer is there and holds nothing.
    hover(x: number, y: number): void {
        this.gizmo.highlight(this.gizmo.hit(this.ray(x, y))?.handle ?? -1);
    }

    move(x: number, y: number, time: number, motion: ToolMotion = "across"): void {
        if (!this.holding || this.holding === "poke") return;
        if (this.holdsBody) return this.moveBody(x, y, motion);
        const hit = this.ray(x, y).intersectPlane(this.plane, new THREE.Vector3());
        if (!hit) return;
        this.target.copy(hit).add(this.offset);
        this.pending = time;
        if (performance.now() - this.lastSent >= kSendInterval) this.flush();
    }

    /// Moves the target by fractions of the view along the screen's axes and into it.
    nudge(right: number, up: number, into: number): void {
        if (!this.holding || this.holding === "poke") return;
        if (this.holdsBody) return this.tool.shiftInView(right, up, into);
        const { camera } = this.stage.orbit;
        const reach = camera.position.distanceTo(this.target);
        const axes = new THREE.Matrix4().extractRotation(camera.matrixWorld).elements;
        const shift = new THREE.Vector3(
            right * axes[0]! + up * axes[4]! - into * axes[8]!,
            right * axes[1]! + up * axes[5]! - into * axes[9]!,
            right * axes[2]! + up * axes[6]! - into * axes[10]!,
        ).multiplyScalar(reach);
        this.target.add(shift);
        this.plane.setFromNormalAndCoplanarPoint(this.stage.orbit.forward, this.target);
        this.pending = performance.now();
    }

    /// Turns a tool in a hand: the side towards the viewer goes right and up, in half heights of the
    /// view; `roll` turns clockwise [rad]. False: it is not held.
    nudgeTurn(right: number, up: number, roll: number): boolean {
        if (!this.holding || !this.holdsBody) return false;
        this.tool.turnInView(right, up, roll);
        return true;
    }

    release(): void {
        this.flush();
        if (this.holding && this.holdsBody) this.gizmo.highlight(-1);
        this.holdsBody = false;
        if (this.holding === "pull" || this.holding === "poke")
            this.context.send({ type: "release", slot: kSlot });
        this.holding = null;
    }

    /// The server forgot what was held.
    forget(): void {
        this.tool.forget();
        this.holding = null;
        this.holdsBody = false;
        this.pending = null;
    }

    /// What waits to be sent; also once per animation frame.
    flush(): void {
        this.tool.flush(true);
        if (this.pending === null || !this.holding) return;
        const target = this.target.toArray() as Vec3;
        if (this.holding === "tool") this.context.send({ type: "tool", target });
        else this.context.send({ type: "drag", slot: kSlot, target });
        this.context.sent(target, this.pending);
        this.pending = null;
        this.lastSent = performance.now();
    }

    private holdSurface(ray: THREE.Ray, mode: "pull" | "poke", x: number, y: number): boolean {
        const hit = this.context.pick(ray);
        if (!hit) return false;
        if (this.tool.has(hit.body) && this.tool.isPresent) return this.holdBody(x, y);
        const { body, triangle, barycentric } = hit;
        const place = { slot: kSlot, body, triangle, barycentric };
        if (mode === "poke") this.context.send({ type: "poke", ...place, force: 0 });
        else {
            const target = hit.point.toArray() as Vec3;
            this.context.send({ type: "grab", ...place, target });
        }
        this.begin(mode, hit.point, hit.point);
        return true;
    }

    private holdTool(ray: THREE.Ray): boolean {
        const tool = this.context.frame()?.tool;
        if (!tool || !this.context.hasTool()) return false;
        const at = new THREE.Vector3(...tool.target);
        this.plane.setFromNormalAndCoplanarPoint(this.stage.orbit.forward, at);
        this.begin("tool", at, ray.intersectPlane(this.plane, new THREE.Vector3()) ?? at);
        return true;
    }

    /// The tool in a hand: by a ring or an arrow of its gizmo, or wherever the pointer is.
    private holdBody(x: number, y: number): boolean {
        if (!this.tool.take()) return false;
        this.holding = "tool";
        this.holdsBody = true;
        this.last.set(x, y);
        this.handle = this.gizmo.hit(this.ray(x, y));
        this.gizmo.highlight(this.handle?.handle ?? -1);
        return true;
    }

    private moveBody(x: number, y: number, motion: ToolMotion): void {
        const { camera } = this.stage.orbit;
        const [right, up] = [(x - this.last.x) * camera.aspect, y - this.last.y];
        this.last.set(x, y);
        const half = Math.tan(THREE.MathUtils.degToRad(camera.fov) / 2); // height at distance 1
        if (this.handle) this.moveHandle(this.handle, right, up);
        else if (motion === "turn") this.tool.turnInView(right, up);
        else if (motion === "into") this.tool.shiftInView(0, 0, 2 * half * up);
        else this.tool.shiftInView(half * right, half * up, 0);
        this.tool.flush();
    }

    /// So far that what is held of a ring or an arrow follows the pointer, in half heights of the
    /// view.
    private moveHandle({ handle, arm, axis }: GizmoHandle, right: number, up: number): void {
        const { camera } = this.stage.orbit;
        const turns = handle < 3;
        const centre = this.tool.grasp;
        const tangent = turns ? axis.clone().cross(arm) : axis.clone().setLength(arm.length());
        const held = centre.clone().add(arm);
        const to = held.clone().add(tangent).project(camera);
        const from = held.project(camera);
        // per radian, or per length of the arm
        const along = [(to.x - from.x) * camera.aspect, to.y - from.y] as const;
        // where it is seen from its end, no faster than by a third of it face on
        const half = Math.tan(THREE.MathUtils.degToRad(camera.fov) / 2);
        const least = arm.length() / (3 * half * camera.position.distanceTo(centre));
        const speed = Math.max(along[0] ** 2 + along[1] ** 2, least ** 2);
        const amount = (right * along[0] + up * along[1]) / speed;
        if (!turns) return this.tool.shift(tangent.multiplyScalar(amount));
        arm.applyAxisAngle(axis, amount);
        this.tool.turn(axis, amount);
    }

    private begin(mode: HandMode, target: THREE.Vector3, under: THREE.Vector3): void {
        this.holding = mode;
        this.target.copy(target);
        this.offset.copy(target).sub(under);
        this.plane.setFromNormalAndCoplanarPoint(this.stage.orbit.forward, target);
    }

    private ray(x: number, y: number): THREE.Ray {
        const caster = new THREE.Raycaster();
        caster.setFromCamera(new THREE.Vector2(x, y), this.stage.orbit.camera);
        return caster.ray;
    }
}
