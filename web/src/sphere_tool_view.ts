import * as THREE from "three";
import { pointOf } from "./placement";
import type { Haptics, RestSphere, ToolSphere } from "./protocol";
import type { Stage } from "./stage";
import { TestedTriangles } from "./tested_triangles";
import { currentTheme } from "./theme";

const kHandColour = 0x3d7bd9;
const kDiscRadii = 1.5; // of a plane, in radii of its sphere

/// Of a tool of many spheres: a disc for each sphere that something holds; on request the spheres
/// themselves, those where the hand wants them as wire, and the triangles they touch. The surface
/// is drawn as a body.
export class SphereToolView {
    private readonly spheres: THREE.InstancedMesh;
    private readonly hand: THREE.InstancedMesh;
    private readonly discs: THREE.InstancedMesh;
    private readonly triangles = new TestedTriangles();
    private showsSpheres = false;

    constructor(
        private readonly stage: Stage,
        private readonly rest: RestSphere[],
    ) {
        const through = { transparent: true, depthTest: false, depthWrite: false } as const;
        const make = (geometry: THREE.BufferGeometry, material: THREE.Material) =>
            new THREE.InstancedMesh(geometry, material, rest.length);
        this.spheres = make(
            new THREE.SphereGeometry(1, 20, 14),
            new THREE.MeshBasicMaterial({ ...through, opacity: 0.3 }),
        );
        this.hand = make(
            new THREE.IcosahedronGeometry(1, 0),
            new THREE.MeshBasicMaterial({
                ...through,
                color: kHandColour,
                opacity: 0.5,
                wireframe: true,
            }),
        );
        this.discs = make(
            new THREE.CircleGeometry(kDiscRadii, 32),
            new THREE.MeshBasicMaterial({
                color: currentTheme().touching,
                side: THREE.DoubleSide,
                transparent: true,
                opacity: 0.35,
                depthWrite: false,
            }),
        );
        for (const part of this.parts) {
            part.visible = part === this.discs;
            part.frustumCulled = false;
            part.renderOrder = 1;
            stage.scene.add(part);
        }
        this.discs.count = 0;
    }

    /// Planes that are drawn.
    get count(): number {
        return this.discs.count;
    }
    get triangleCount(): number {
        return this.triangles.count;
    }
    get sphereCount(): number {
        return this.spheres.visible ? this.spheres.count : 0;
    }

    update({ manipulandum, proxy }: Haptics): void {
        const spheres = proxy?.spheres ?? [];
        this.updateDiscs(spheres);
        this.hand.visible = this.showsSpheres;
        this.spheres.visible = this.showsSpheres && spheres.length > 0;
        if (!this.showsSpheres) return;
        const place = new THREE.Matrix4();
        const { touching, visited } = currentTheme();
        this.rest.forEach(({ position, radius }, i) => {
            place.makeScale(radius, radius, radius);
            place.setPosition(pointOf(manipulandum, position));
            this.hand.setMatrixAt(i, place);
            const sphere = spheres[i];
            if (!sphere) return;
            place.setPosition(...sphere.position);
            this.spheres.setMatrixAt(i, place);
            this.spheres.setColorAt(i, new THREE.Color(sphere.isTouching ? touching : visited));
        });
        this.spheres.count = Math.min(spheres.length, this.rest.length);
        this.hand.instanceMatrix.needsUpdate = this.spheres.instanceMatrix.needsUpdate = true;
        if (this.spheres.instanceColor) this.spheres.instanceColor.needsUpdate = true;
    }

    setTrianglesShown(isShown: boolean): void {
        this.showsSpheres = isShown;
        this.spheres.visible = this.hand.visible = false;
        this.triangles.setShown(isShown);
    }

    updateTriangles(corners: Float32Array): void {
        this.triangles.update(corners);
    }

    dispose(): void {
        this.stage.discard(this.parts);
    }

    private get parts(): THREE.Mesh[] {
        return [this.spheres, this.hand, this.discs, this.triangles.mesh];
    }

    private updateDiscs(spheres: ToolSphere[]): void {
        const ahead = new THREE.Vector3(0, 0, 1);
        let count = 0;
        spheres.forEach(({ position, normal }, i) => {
            const radius = this.rest[i]?.radius;
            const away = new THREE.Vector3(...normal);
            if (radius === undefined || away.lengthSq() === 0) return;
            // a little in front of what it touches
            const place = new THREE.Vector3(...position).addScaledVector(away, -0.98 * radius);
            const turn = new THREE.Quaternion().setFromUnitVectors(ahead, away.normalize());
            const scale = new THREE.Vector3(radius, radius, radius);
            this.discs.setMatrixAt(count++, new THREE.Matrix4().compose(place, turn, scale));
        });
        this.discs.count = count;
        this.discs.instanceMatrix.needsUpdate = true;
    }
}
