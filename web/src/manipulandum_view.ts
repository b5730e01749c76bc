import * as THREE from "three";
import type { Asset } from "./assets";
import { toQuaternion } from "./placement";
import type { Haptics, Placement } from "./protocol";
import { simplify } from "./simplify";
import type { Stage } from "./stage";

const kColour = 0x3d7bd9;
const kMaxTriangles = 700;
const kFlatAngle = 1; // degrees: edges within a face are left out
const kVisibleGap = 0.003; // of the distance to the camera, about two pixels

/// A body of the tool and where it is in the axes of the first one.
export interface ToolPiece {
    asset: Asset;
    offset: Placement;
}

/// A wire copy of the tool where the hand holds it; what is behind other surfaces shows faintly.
/// Not drawn while it cannot be told from the tool itself.
export class ManipulandumView {
    isWanted = true; // false where something else shows the hand
    private readonly group = new THREE.Group();
    private readonly geometries: THREE.BufferGeometry[] = [];
    private readonly materials: THREE.LineBasicMaterial[];
    private readonly reach: number; // how far a point of the tool is from its origin

    constructor(
        private readonly stage: Stage,
        pieces: ToolPiece[],
    ) {
        this.materials = [true, false].map(
            (isHidden) =>
                new THREE.LineBasicMaterial({
                    color: kColour,
                    transparent: true,
                    opacity: isHidden ? 0.5 : 1,
                    depthTest: !isHidden,
                    depthWrite: false,
                }),
        );
        const share = Math.ceil(kMaxTriangles / pieces.length);
        for (const { asset, offset } of pieces) {
            const geometry = wires(asset, share);
            this.geometries.push(geometry);
            for (const material of this.materials) {
                const lines = new THREE.LineSegments(geometry, material);
                lines.position.set(...offset.position);
                lines.quaternion.copy(toQuaternion(offset.rotation));
                lines.frustumCulled = false;
                lines.renderOrder = 1;
                this.group.add(lines);
            }
        }
        this.reach = Math.max(
            ...pieces.map(({ asset, offset }) => asset.radius + Math.hypot(...offset.position)),
        );
        this.group.visible = false;
        stage.scene.add(this.group);
    }

    get isShown(): boolean {
        return this.group.visible;
    }

    update({ manipulandum, tool }: Haptics): void {
        this.group.position.set(...manipulandum.position);
        this.group.quaternion.copy(toQuaternion(manipulandum.rotation));
        const angle = this.group.quaternion.angleTo(toQuaternion(tool.rotation));
        const shift = this.group.position.distanceTo(new THREE.Vector3(...tool.position));
        const distance = this.stage.orbit.camera.position.distanceTo(this.group.position);
        this.group.visible = this.isWanted && shift + angle * this.reach > kVisibleGap * distance;
    }

    dispose(): void {
        this.stage.scene.remove(this.group);
        for (const geometry of this.geometries) geometry.dispose();
        for (const material of this.materials) material.dispose();
    }
}

function wires({ positions, indices, size }: Asset, maxTriangles: number): THREE.BufferGeometry {
    const surface = new THREE.BufferGeometry();
    surface.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    const triangles = simplify(positions, indices, size, maxTriangles);
    surface.setIndex(new THREE.BufferAttribute(triangles, 1));
    const edges = new THREE.EdgesGeometry(surface, kFlatAngle);
    surface.dispose();
    return edges;
}
