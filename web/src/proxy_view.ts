import * as THREE from "three";
import type { Haptics } from "./protocol";
import type { Stage } from "./stage";
import { TestedTriangles } from "./tested_triangles";
import { currentTheme } from "./theme";

const kHandColour = 0x3d7bd9;
const kDiscRadii = 3; // of a plane, in radii of the proxy
const kVisibleGap = 0.0015; // of the distance to the camera: the hand is where the proxy is

/// Where the hand of a proxy is, as a ball of its size with a line to it; a disc for each plane that
/// holds the proxy; on request the triangles that it looked at. The proxy itself is a body.
export class ProxyView {
    private readonly hand: THREE.Mesh;
    private readonly line: THREE.Line;
    private readonly discs: THREE.Mesh[];
    private readonly triangles = new TestedTriangles();

    constructor(
        private readonly stage: Stage,
        radius: number,
    ) {
        const through = { transparent: true, depthTest: false, depthWrite: false } as const;
        this.hand = new THREE.Mesh(
            new THREE.SphereGeometry(radius, 24, 16),
            new THREE.MeshBasicMaterial({ ...through, color: kHandColour, opacity: 0.45 }),
        );
        const ends = new THREE.BufferAttribute(new Float32Array(6), 3);
        this.line = new THREE.Line(
            new THREE.BufferGeometry().setAttribute("position", ends),
            new THREE.LineBasicMaterial({ ...through, color: kHandColour }),
        );
        const disc = new THREE.CircleGeometry(kDiscRadii * radius, 40);
        const plane = new THREE.MeshBasicMaterial({
            color: currentTheme().touching,
            side: THREE.DoubleSide,
            transparent: true,
            opacity: 0.35,
            depthWrite: false,
        });
        this.discs = [0, 1, 2].map(() => new THREE.Mesh(disc, plane));
        for (const part of this.parts) {
            part.visible = false;
            part.frustumCulled = false;
            part.renderOrder = 1;
            stage.scene.add(part);
        }
    }

    /// Planes that are drawn.
    get count(): number {
        return this.discs.filter(({ visible }) => visible).length;
    }
    get isHandShown(): boolean {
        return this.hand.visible;
    }
    get triangleCount(): number {
        return this.triangles.count;
    }

    update({ manipulandum, tool, proxy }: Haptics): void {
        this.hand.position.set(...manipulandum.position);
        const gap = this.hand.position.distanceTo(new THREE.Vector3(...tool.position));
        const distance = this.stage.orbit.camera.position.distanceTo(this.hand.position);
        this.hand.visible = this.line.visible = gap > kVisibleGap * distance;
        const ends = this.line.geometry.getAttribute("position") as THREE.BufferAttribute;
        ends.setXYZ(0, ...tool.position);
        ends.setXYZ(1, ...manipulandum.position);
        ends.needsUpdate = true;
        this.discs.forEach((disc, k) => {
            const plane = proxy?.planes[k];
            disc.visible = plane !== undefined;
            if (!plane) return;
            const normal = new THREE.Vector3(...plane.normal);
            disc.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
            // a little in front of what it touches
            disc.position.set(...plane.point).addScaledVector(normal, 1e-3 * distance);
        });
    }

    setTrianglesShown(isShown: boolean): void {
        this.triangles.setShown(isShown);
    }

    updateTriangles(corners: Float32Array): void {
        this.triangles.update(corners);
    }

    dispose(): void {
        this.stage.discard(this.parts);
    }

    private get parts(): (THREE.Mesh | THREE.Line)[] {
        return [this.hand, this.line, ...this.discs, this.triangles.mesh];
    }
}
