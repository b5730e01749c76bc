import * as THREE from "three";
import type { Pick } from "./picking";
import type { Frame, PageMessage, Vec3 } from "./protocol";
import type { Stage } from "./stage";

export type HandMode = "pull" | "poke" | "tool";

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
    private readonly plane = new THREE.Plane();
    private readonly target = new THREE.Vector3();
    private readonly offset = new THREE.Vector3(); // from the pointer to the tool
    private pending: number | null = null; // time of the event to be sent
    private lastSent = 0;

    constructor(
        private readonly stage: Stage,
        private readonly context: HandContext,
    ) {}

    get isHolding(): boolean {
        return this.holding !== null;
    }

    /// Tries to hold what is under the pointer; positions are in −1 … 1. False: nothing there.
    press(x: number, y: number, mode: HandMode = this.mode): boolean {
        if (!this.context.steers()) return false;
        this.release();
        const ray = this.ray(x, y);
        return mode === "tool" ? this.holdTool(ray) : this.holdSurface(ray, mode);
    }

    move(x: number, y: number, time: number): void {
        if (!this.holding || this.holding === "poke") return;
        const hit = this.ray(x, y).intersectPlane(this.plane, new THREE.Vector3());
        if (!hit) return;
        this.target.copy(hit).add(this.offset);
        this.pending = time;
        if (performance.now() - this.lastSent >= kSendInterval) this.flush();
    }

    /// Moves the target by fractions of the view along the screen's axes and into it.
    nudge(right: number, up: number, into: number): void {
        if (!this.holding || this.holding === "poke") return;
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

    release(): void {
        this.flush();
        if (this.holding === "pull" || this.holding === "poke")
            this.context.send({ type: "release", slot: kSlot });
        this.holding = null;
    }

    /// The server forgot what was held.
    forget(): void {
        this.holding = null;
        this.pending = null;
    }

    /// What waits to be sent; also once per animation frame.
    flush(): void {
        if (this.pending === null || !this.holding) return;
        const target = this.target.toArray() as Vec3;
        if (this.holding === "tool") this.context.send({ type: "tool", target });
        else this.context.send({ type: "drag", slot: kSlot, target });
        this.context.sent(target, this.pending);
        this.pending = null;
        this.lastSent = performance.now();
    }

    private holdSurface(ray: THREE.Ray, mode: "pull" | "poke"): boolean {
        const hit = this.context.pick(ray);
        if (!hit) return false;
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
