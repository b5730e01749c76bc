import * as THREE from "three";
import type { Asset } from "./assets";
import type { ColourUniforms } from "./colours";
import { CpuSurface } from "./cpu_surface";
import { GpuSurface } from "./gpu_surface";
import type { BodyInfo, Frame } from "./protocol";
import { RigidFit } from "./rigid_fit";
import type { Stage } from "./stage";

const kSamples = 200; // vertices that stand for all of a body
const pose = new THREE.Matrix4();
const corner = new THREE.Vector3();
const turn = new THREE.Quaternion();
const one = new THREE.Vector3(1, 1, 1);

/// A way of drawing the bodies of a group.
export interface SurfaceDrawing {
    readonly mesh: THREE.Mesh;
    update(frame: Frame): void;
    dispose(): void;
}

/// Bodies that share an asset, and how they are drawn: on the GPU, or evaluated on the CPU where
/// there is none.
export class SurfaceGroup {
    /// Where a body sent as positions would be without deformation.
    readonly fit: RigidFit | null = null;
    private drawing: SurfaceDrawing | null = null;
    private readonly restBox: THREE.Box3;

    /// `members` are places in the hello's bodies; a single one for bodies sent as positions.
    constructor(
        private readonly stage: Stage,
        readonly asset: Asset,
        readonly members: number[],
        private readonly bodies: BodyInfo[],
        private readonly colours: ColourUniforms,
    ) {
        this.restBox = new THREE.Box3().setFromArray(asset.positions);
        const stride = Math.max(1, Math.floor(asset.vertices / kSamples));
        if (bodies[members[0]!]!.encoding === "positions")
            this.fit = new RigidFit(asset.positions, stride);
    }

    update(frame: Frame): void {
        this.fit?.update(frame.bodies[this.members[0]!]!);
        this.drawing ??= this.makeDrawing();
        this.drawing.update(frame);
    }

    /// Drawn in another way from the next frame on.
    dispose(): void {
        if (!this.drawing) return;
        this.stage.scene.remove(this.drawing.mesh);
        this.drawing.dispose();
        this.drawing = null;
    }

    /// Box around a body in the world, near enough for a soft shadow: the rest box turned, or the
    /// box of every n-th position.
    boundsOf(numbers: Float32Array): THREE.Box3 {
        const box = new THREE.Box3();
        if (this.fit) {
            const stride = 3 * Math.max(1, Math.floor(this.asset.vertices / kSamples));
            for (let i = 0; i < numbers.length; i += stride)
                box.expandByPoint(corner.fromArray(numbers, i));
            return box;
        }
        const [x, y, z, w, i, j, k] = numbers as unknown as number[];
        pose.compose(corner.set(x!, y!, z!), turn.set(i!, j!, k!, w!), one);
        return box.copy(this.restBox).applyMatrix4(pose);
    }

    private makeDrawing(): SurfaceDrawing {
        const { members, bodies, fit, colours, stage } = this;
        const asset = this.asset.drawn ?? this.asset;
        const drawing = stage.isFine
            ? new GpuSurface(asset, members, bodies, fit, colours, stage.maxTextureSize)
            : new CpuSurface(asset, members, bodies, fit, colours);
        stage.scene.add(drawing.mesh);
        return drawing;
    }
}
