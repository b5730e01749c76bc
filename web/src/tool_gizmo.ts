import * as THREE from "three";
import { pointOf, toQuaternion } from "./placement";
import type { Frame, Hello } from "./protocol";
import type { Stage } from "./stage";

const kRadius = 0.085; // of the distance to the camera
const kColours = [0xe0554f, 0x3fa35f, 0x4a86e8]; // x, y, z
const kFaint = 0.45;
const kThickest = 0.11; // of the radius: what counts as a hit

/// Three rings around the grasp point that turn the tool about its axes.
export class ToolGizmo {
    private readonly group = new THREE.Group();
    private readonly rings: THREE.Mesh<THREE.TorusGeometry, THREE.MeshBasicMaterial>[];
    private isWanted = false;

    constructor(private readonly stage: Stage) {
        const ring = new THREE.TorusGeometry(1, 0.018, 8, 72);
        this.rings = kColours.map((color) => {
            const material = new THREE.MeshBasicMaterial({
                color,
                transparent: true,
                opacity: kFaint,
                depthTest: false,
            });
            return new THREE.Mesh(ring, material);
        });
        // a torus is around z
        this.rings[0]!.rotation.set(0, Math.PI / 2, 0);
        this.rings[1]!.rotation.set(Math.PI / 2, 0, 0);
        this.group.add(...this.rings);
        for (const each of this.rings) each.renderOrder = 2;
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

    /// The ring that a ray comes near to: where it is met, seen from the centre, and its axis.
    hit(ray: THREE.Ray): { ring: number; arm: THREE.Vector3; axis: THREE.Vector3 } | null {
        if (!this.group.visible) return null;
        const radius = this.group.scale.x;
        let best = null;
        let nearest = kThickest * radius;
        const [place, near] = [new THREE.Vector3(), new THREE.Vector3()];
        for (let ring = 0; ring < 3; ++ring) {
            const axis = this.axis(ring);
            for (let i = 0; i < 72; ++i) {
                const angle = (2 * Math.PI * i) / 72;
                place.set(Math.cos(angle), Math.sin(angle), 0);
                this.rings[ring]!.localToWorld(place);
                const distance = Math.sqrt(ray.distanceSqToPoint(place));
                if (distance >= nearest) continue;
                nearest = distance;
                best = { ring, axis, arm: near.copy(place).sub(this.group.position).clone() };
            }
        }
        return best;
    }

    /// −1: none.
    highlight(ring: number): void {
        this.rings.forEach(({ material }, i) => {
            const opacity = i === ring ? 1 : kFaint;
            if (material.opacity === opacity) return;
            material.opacity = opacity;
            this.stage.invalidate();
        });
    }

    private axis(ring: number): THREE.Vector3 {
        return new THREE.Vector3().setComponent(ring, 1).applyQuaternion(this.group.quaternion);
    }
}
