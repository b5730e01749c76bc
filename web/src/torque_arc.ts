import * as THREE from "three";
import type { Vec3 } from "./protocol";

const kSegments = 60; // around
const kSides = 8; // of the tube
const kLongest = (5 / 6) * 2 * Math.PI; // rad
const kHead = 0.45; // rad
const kRadius = 9.5; // in units of the caller's length

/// A tube around z, drawn up to any of its segments.
function makeTube(thickness: number): THREE.BufferGeometry {
    const positions: number[] = [];
    const normals: number[] = [];
    const indices: number[] = [];
    for (let i = 0; i <= kSegments; ++i)
        for (let j = 0; j < kSides; ++j) {
            const around = (kLongest * i) / kSegments;
            const across = (2 * Math.PI * j) / kSides;
            const [c, s] = [Math.cos(around), Math.sin(around)];
            const out = Math.cos(across);
            const up = Math.sin(across);
            normals.push(out * c, out * s, up);
            positions.push((1 + thickness * out) * c, (1 + thickness * out) * s, thickness * up);
            if (i === kSegments) continue;
            const here = kSides * i + j;
            const beside = kSides * i + ((j + 1) % kSides);
            indices.push(here, here + kSides, beside);
            indices.push(beside, here + kSides, beside + kSides);
        }
    return new THREE.BufferGeometry()
        .setAttribute("position", new THREE.Float32BufferAttribute(positions, 3))
        .setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3))
        .setIndex(indices);
}

/// A torque: an arc about its axis with a head, the longer the larger it is.
export class TorqueArc {
    readonly group = new THREE.Group();
    private readonly tube: THREE.Mesh;
    private readonly head: THREE.Mesh;

    constructor(
        colour: number,
        readonly label: HTMLElement,
    ) {
        const material = new THREE.MeshLambertMaterial({
            color: colour,
            emissive: 0x2a1050,
            depthTest: false, // it is around the tool: half of it would be hidden
        });
        this.tube = new THREE.Mesh(makeTube(0.055), material);
        const cone = new THREE.ConeGeometry(0.17, 1, 20).translate(0, 0.5, 0);
        this.head = new THREE.Mesh(cone, material);
        this.group.add(this.tube, this.head);
        this.group.visible = false;
        for (const part of this.group.children) {
            part.frustumCulled = false;
            part.renderOrder = 1;
        }
    }

    /// `share` of the longest arc; `unit`: a length that looks the same at every distance [m]. Its
    /// middle is towards the `eye`.
    update(
        centre: THREE.Vector3,
        torque: Vec3,
        share: number,
        unit: number,
        eye: THREE.Vector3,
    ): void {
        const axis = new THREE.Vector3(...torque).normalize();
        const angle = Math.min(Math.max(share, 0), 1) * kLongest;
        const across = new THREE.Vector3().crossVectors(axis, eye.clone().sub(centre)).normalize();
        const front = new THREE.Vector3().crossVectors(across, axis);
        this.group.position.copy(centre);
        this.group.quaternion.setFromRotationMatrix(
            new THREE.Matrix4().makeBasis(front, across, axis),
        );
        this.group.rotateZ(-angle / 2);
        this.group.scale.setScalar(kRadius * unit);
        const head = Math.min(kHead, 0.6 * angle);
        const segments = Math.round(((angle - head) / kLongest) * kSegments);
        this.tube.geometry.setDrawRange(0, 6 * kSides * segments);
        // the head goes on where the tube ends
        const from = (segments / kSegments) * kLongest;
        this.head.position.set(Math.cos(from), Math.sin(from), 0);
        this.head.rotation.set(0, 0, from + 0.35 * head);
        this.head.scale.set(1, head, 1);
    }

    /// Where the head points to, in the world.
    get tip(): THREE.Vector3 {
        this.group.updateMatrixWorld();
        return this.head.localToWorld(new THREE.Vector3(0, 1, 0));
    }
}
