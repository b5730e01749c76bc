import * as THREE from "three";
import { currentTheme } from "./theme";

const kMaxTriangles = 96;

/// Lines of the triangles that a proxy looked at, on request.
export class TestedTriangles {
    readonly mesh: THREE.Mesh;
    private isShown = false;

    constructor() {
        const corners = new THREE.BufferAttribute(new Float32Array(9 * kMaxTriangles), 3);
        corners.setUsage(THREE.DynamicDrawUsage);
        this.mesh = new THREE.Mesh(
            new THREE.BufferGeometry().setAttribute("position", corners),
            new THREE.MeshBasicMaterial({
                transparent: true,
                depthTest: false,
                depthWrite: false,
                color: currentTheme().visited,
                opacity: 0.4,
                side: THREE.DoubleSide,
                wireframe: true,
            }),
        );
        this.mesh.visible = false;
    }

    get count(): number {
        return this.mesh.visible ? this.mesh.geometry.drawRange.count / 3 : 0;
    }

    setShown(isShown: boolean): void {
        this.isShown = isShown;
        this.mesh.visible = false;
    }

    update(corners: Float32Array): void {
        if (!this.isShown) return;
        const { geometry } = this.mesh;
        const attribute = geometry.getAttribute("position") as THREE.BufferAttribute;
        const floats = Math.min(corners.length, attribute.array.length);
        attribute.array.set(corners.subarray(0, floats));
        attribute.needsUpdate = true;
        geometry.setDrawRange(0, floats / 3);
        this.mesh.visible = floats > 0;
    }
}
