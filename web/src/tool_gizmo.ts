import * as THREE from "three";
import { pointOf, toQuaternion } from "./placement";
import type { Frame, Hello } from "./protocol";
import type { Stage } from "./stage";

const kRadius = 0.085; // of the distance to the camera
const kColours = [0xe0554f, 0x3fa35f, 0x4a86e8]; // x, y, z
const kFaint = 0.45;
const kThickest = 0.11; // of the radius: what counts as a hit
const kArrow = [1.15, 1.6] as const; // from where to where, in radii: rings cross the axes at 1
const kSteps = 72; // around a ring

/// A part of the gizmo: rings 0 to 2 and arrows 3 to 5, about and along x, y and z of the tool.
export interface GizmoHandle {
    handle: number;
    axis: THREE.Vector3;
    arm: THREE.Vector3; // from the centre to where it is held
}

/// Three rings around the grasp point that turn the tool about its axes, and three arrows that shift
/// it along them.
export class ToolGizmo {
    private readonly group = new THREE.Group();
    private readonly handles: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>[];
    private isWanted = false;

    constructor(private readonly stage: Stage) {
        const ring = new THREE.TorusGeometry(1, 0.018, 8, kSteps);
        const arrow = new THREE.ConeGeometry(0.07, kArrow[1] - kArrow[0], 16);
        arrow.translate(0, 0.5 * (kArrow[0] + kArrow[1]), 0);
        this.handles = [ring, arrow].flatMap((shape) =>
            kColours.map((color) => {
                const material = new THREE.MeshBasicMaterial({
                    color,
                    transparent: true,
                    opacity: kFaint,
                    depthTest: false,
                });
                return new THREE.Mesh(shape, material);
            }),
        );
        // a torus is around z, a cone points along y
        this.handles[0]!.rotation.set(0, Math.PI / 2, 0);
        this.handles[1]!.rotation.set(Math.PI / 2, 0, 0);
        this.handles[3]!.rotation.set(0, 0, -Math.PI / 2);
        this.handles[5]!.rotation.set(Math.PI / 2, 0, 0);
        this.group.add(...this.handles);
        for (const each of this.handles) each.renderOrder = 2;
        this.group.visible = false;
        stage.scene.add(this.group);
    }

    setWanted(isWanted: boolean): void {
        this.isWanted = isWanted;
        this.stage.invalidate();
    }

    /// Around the tool as it is held.
    update({ haptics }: Frame, { haptics: info }: Hello): void {
        this.group.visible = this.isWanted && haptics !== null && info !== null;
        if (!haptics || !info) return;
        const { camera } = this.stage.orbit;
        this.group.position.copy(pointOf(haptics.manipulandum, info.grasp));
        this.group.quaternion.copy(toQuaternion(haptics.manipulandum.rotation));
        this.group.scale.setScalar(kRadius * camera.position.distanceTo(this.group.position));
        this.group.updateMatrixWorld();
    }

    /// What a ray comes near to.
    hit(ray: THREE.Ray): GizmoHandle | null {
        if (!this.group.visible) return null;
        let best: GizmoHandle | null = null;
        let nearest = kThickest * this.group.scale.x;
        for (let handle = 0; handle < 6; ++handle)
            for (const place of this.places(handle)) {
                const distance = Math.sqrt(ray.distanceSqToPoint(place));
                if (distance >= nearest) continue;
                nearest = distance;
                const arm = place.sub(this.group.position);
                best = { handle, axis: this.axis(handle % 3), arm };
            }
        return best;
    }

    /// Where a handle is seen farthest from all others, −1 … 1 across the view; null: it is not. For
    /// tests.
    placeInView(handle: number): [number, number] | null {
        if (!this.group.visible) return null;
        const seen = (which: number) =>
            this.places(which).map((place) => place.project(this.stage.orbit.camera).setZ(0));
        const others = [0, 1, 2, 3, 4, 5].filter((which) => which !== handle).flatMap(seen);
        const room = (place: THREE.Vector3) =>
            Math.min(...others.map((other) => other.distanceTo(place)));
        const { x, y } = seen(handle).reduce((best, place) =>
            room(place) > room(best) ? place : best,
        );
        return [x, y];
    }

    /// −1: none.
    highlight(handle: number): void {
        this.handles.forEach(({ material }, i) => {
            const opacity = i === handle ? 1 : kFaint;
            if (material.opacity === opacity) return;
            material.opacity = opacity;
            this.stage.invalidate();
        });
    }

    /// Points of a handle in the world, close together.
    private places(handle: number): THREE.Vector3[] {
        const count = handle < 3 ? kSteps : 8;
        return Array.from({ length: count }, (_, i) => {
            const angle = (2 * Math.PI * i) / count;
            const place =
                handle < 3
                    ? new THREE.Vector3(Math.cos(angle), Math.sin(angle), 0)
                    : new THREE.Vector3(0, kArrow[0] + ((kArrow[1] - kArrow[0]) * i) / count, 0);
            return this.handles[handle]!.localToWorld(place);
        });
    }

    private axis(which: number): THREE.Vector3 {
        return new THREE.Vector3().setComponent(which, 1).applyQuaternion(this.group.quaternion);
    }
}
