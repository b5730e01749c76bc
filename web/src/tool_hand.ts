import * as THREE from "three";
import { pointOf, toQuaternion, toTurn } from "./placement";
import type { Frame, HapticInfo, PageMessage, Vec3 } from "./protocol";
import type { Stage } from "./stage";

export interface ToolHandContext {
    send(message: PageMessage): void;
    frame(): Frame | null;
    /// Null: no tool is in a hand.
    haptics(): HapticInfo | null;
    steers(): boolean;
}

const kSendInterval = 5; // ms
const kTurnPerView = Math.PI; // rad for a motion across half the height of the view
const kLeash = 0.05; // m of handle travel, more than any hand needs for the largest force
const kTurnLeash = 0.8; // rad

/// Where the hand wants the tool that it holds: shifted and turned by pointer, keys and gamepad.
/// Begins where the tool is held now, and stays there when nobody moves it.
export class ToolHand {
    private readonly position = new THREE.Vector3();
    private readonly rotation = new THREE.Quaternion();
    private padButtons = 0;
    private heldButtons = 0; // by keys and the page
    private buttons = 0; // as they were sent
    private isOurs = false; // the target is what this page sent last
    private isPending = false;
    private lastSent = 0;
    private lastTime = 0;

    constructor(
        private readonly stage: Stage,
        private readonly context: ToolHandContext,
    ) {}

    /// There is one, and it may be moved.
    get isPresent(): boolean {
        return (
            this.context.haptics() !== null &&
            this.context.frame()?.haptics != null &&
            this.context.steers()
        );
    }

    /// Whether a body is part of it.
    has(body: number): boolean {
        const tool = this.context.haptics();
        return tool?.body === body || tool?.parts.some((part) => part.body === body) === true;
    }

    /// Takes over from the scene's own motion, if this page has not yet. False: there is none.
    take(): boolean {
        const held = this.context.frame()?.haptics;
        if (!this.isPresent || !held) return false;
        if (!this.isOurs) {
            this.position.set(...held.manipulandum.position);
            this.rotation.copy(toQuaternion(held.manipulandum.rotation));
        }
        this.isOurs = true;
        return true;
    }

    /// Another scene, connection or steering viewer: the target is not known any more.
    forget(): void {
        this.isOurs = this.isPending = false;
        this.buttons = this.padButtons = this.heldButtons = 0;
    }

    /// A frame came: time going back is a reset, after which the scene moves the tool again.
    see({ time }: Frame): void {
        if (time < this.lastTime || !this.context.steers()) this.forget();
        this.lastTime = time;
    }

    /// Where the hand grasps its target.
    get grasp(): THREE.Vector3 {
        const local = this.context.haptics()?.grasp ?? [0, 0, 0];
        const position = this.position.toArray() as Vec3;
        return pointOf({ position, rotation: toTurn(this.rotation) }, local);
    }

    shift(by: THREE.Vector3): void {
        this.position.add(by);
        this.isPending = true;
    }

    /// About the grasp point.
    turn(axis: THREE.Vector3, angle: number): void {
        const grasp = this.grasp;
        const turn = new THREE.Quaternion().setFromAxisAngle(axis, angle);
        this.position.sub(grasp).applyQuaternion(turn).add(grasp);
        this.rotation.premultiply(turn).normalize();
        this.isPending = true;
    }

    /// Along the screen's axes and into it, in fractions of how far away it is.
    shiftInView(right: number, up: number, into: number): void {
        const { camera, forward } = this.stage.orbit;
        const reach = Math.max(this.grasp.sub(camera.position).dot(forward), camera.near);
        this.shift(this.viewVector(right, up, -into).multiplyScalar(reach));
    }

    /// The side towards the viewer goes right and up, in half heights of the view; `roll` turns
    /// clockwise [rad].
    turnInView(right: number, up: number, roll = 0): void {
        const axis = this.viewVector(-up * kTurnPerView, right * kTurnPerView, -roll);
        const angle = axis.length();
        if (angle > 0) this.turn(axis.divideScalar(angle), angle);
    }

    /// Rate control: a target that has run ahead of the hand comes no further.
    keepOnLeash(): void {
        const held = this.context.frame()?.haptics?.manipulandum;
        const info = this.context.haptics();
        if (!held || !info) return;
        const turn = toQuaternion(held.rotation);
        const grasp = this.grasp;
        const angle = turn.angleTo(this.rotation);
        if (angle > kTurnLeash) this.rotation.copy(turn.slerp(this.rotation, kTurnLeash / angle));
        const from = pointOf(held, info.grasp);
        const offset = grasp.sub(from).clampLength(0, kLeash * info.scale);
        // the grasp point again after turning
        this.position.add(from.add(offset).sub(this.grasp));
    }

    /// Of a gamepad.
    setButtons(buttons: number): void {
        this.padButtons = buttons;
        this.updateButtons();
    }

    /// Of the clutch or the dead man, from keys and the page; false: the device has no such button.
    hold(which: "clutch" | "deadman", isDown: boolean): boolean {
        const button = this.context.haptics()?.[which] ?? -1;
        if (button < 0) return false;
        const bit = 1 << button;
        this.heldButtons = isDown ? this.heldButtons | bit : this.heldButtons & ~bit;
        this.updateButtons();
        return true;
    }

    isDown(which: "clutch" | "deadman"): boolean {
        const button = this.context.haptics()?.[which] ?? -1;
        return button >= 0 && (this.buttons & (1 << button)) !== 0;
    }

    private updateButtons(): void {
        const buttons = (this.padButtons | this.heldButtons) >>> 0;
        if (buttons === this.buttons || !this.take()) return;
        this.buttons = buttons;
        this.isPending = true;
    }

    /// What waits to be sent, not more often than every few milliseconds.
    flush(isUrgent = false): void {
        if (!this.isPending || !this.isOurs) return;
        if (!isUrgent && performance.now() - this.lastSent < kSendInterval) return;
        this.context.send({
            type: "tool",
            target: this.position.toArray() as Vec3,
            rotation: toTurn(this.rotation),
            buttons: this.buttons,
        });
        this.isPending = false;
        this.lastSent = performance.now();
    }

    /// From the axes of the view to the world.
    private viewVector(x: number, y: number, z: number): THREE.Vector3 {
        const { matrixWorld } = this.stage.orbit.camera;
        return new THREE.Vector3(x, y, z)
            .transformDirection(matrixWorld)
            .multiplyScalar(Math.hypot(x, y, z));
    }
}
