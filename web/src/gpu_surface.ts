import * as THREE from "three";
import type { Asset } from "./assets";
import type { ColourUniforms } from "./colours";
import { kInstanceTexels, makeGpuMaterials } from "./gpu_material";
import { type BodyInfo, type Frame, kPoseFloats } from "./protocol";
import type { RigidFit } from "./rigid_fit";
import type { SurfaceDrawing } from "./surface_group";

const kPlacesWidth = 1024;

/// Bodies of one asset deformed by the GPU, in one draw call: each is a row of a float texture.
export class GpuSurface implements SurfaceDrawing {
    readonly mesh: THREE.Mesh;
    private readonly materials: { lit: THREE.Material; depth: THREE.Material };
    private readonly rows: Float32Array;
    private readonly texelsPerRow: number;
    private readonly instances: THREE.DataTexture;
    private readonly textures: THREE.DataTexture[] = [];
    private readonly places: THREE.DataTexture | null = null; // of a body sent as positions
    private readonly uniforms: Record<string, THREE.IUniform>;

    constructor(
        private readonly asset: Asset,
        private readonly members: number[],
        bodies: BodyInfo[],
        private readonly fit: RigidFit | null,
        colours: ColourUniforms,
        maxTextureSize: number,
    ) {
        const { encoding } = bodies[members[0]!]!;
        const rank = encoding === "reduced" ? asset.shapes!.rank : 0;
        this.texelsPerRow = kInstanceTexels + Math.ceil(rank / 4);
        this.rows = new Float32Array(4 * this.texelsPerRow * members.length);
        this.instances = floatTexture(this.rows, this.texelsPerRow, members.length);
        this.textures.push(this.instances);
        this.uniforms = {
            instances: { value: this.instances },
            vertexCount: { value: asset.vertices },
            restShift: { value: new THREE.Vector3() },
            restTurn: { value: new THREE.Vector4(0, 0, 0, 1) },
            ...colours,
        };
        if (encoding === "reduced") this.addShapes(maxTextureSize);
        if (encoding === "positions") {
            const height = Math.ceil(asset.vertices / kPlacesWidth);
            const numbers = new Float32Array(4 * kPlacesWidth * height);
            this.places = floatTexture(numbers, kPlacesWidth, height);
            this.textures.push(this.places);
            this.uniforms.places = { value: this.places };
        }
        members.forEach((member, row) => {
            // colours of scenes are as seen on a screen
            const { colour } = bodies[member]!;
            const { r, g, b } = new THREE.Color().setRGB(...colour, THREE.SRGBColorSpace);
            const at = 4 * this.texelsPerRow * row;
            this.rows[at + 7] = 1;
            this.rows.set([r, g, b, 0], at + 8);
        });

        this.materials = makeGpuMaterials(encoding, rank, this.uniforms);
        this.mesh = new THREE.Mesh(makeGeometry(asset, members.length), this.materials.lit);
        this.mesh.customDepthMaterial = this.materials.depth;
        this.mesh.castShadow = this.mesh.receiveShadow = true;
        this.mesh.frustumCulled = false; // its place is known to the shader alone
        this.mesh.matrixAutoUpdate = false;
    }

    update(frame: Frame): void {
        this.members.forEach((member, row) => {
            const numbers = frame.bodies[member]!;
            if (this.places) return this.updatePlaces(numbers);
            const at = 4 * this.texelsPerRow * row;
            this.rows.set(numbers.subarray(0, 3), at);
            this.rows.set(numbers.subarray(4, 7), at + 4); // x y z of w x y z
            this.rows[at + 7] = numbers[3]!;
            const factors = this.asset.shapes?.factors;
            for (let k = 0; k < numbers.length - kPoseFloats; ++k)
                this.rows[at + 4 * kInstanceTexels + k] = numbers[kPoseFloats + k]! * factors![k]!;
        });
        if (!this.places) this.instances.needsUpdate = true;
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        for (const material of Object.values(this.materials)) material.dispose();
        for (const texture of this.textures) texture.dispose();
    }

    private updatePlaces(x: Float32Array): void {
        const texels = this.places!.image.data as Float32Array;
        for (let i = 0, at = 0; i < x.length; i += 3, at += 4) {
            texels[at] = x[i]!;
            texels[at + 1] = x[i + 1]!;
            texels[at + 2] = x[i + 2]!;
        }
        this.places!.needsUpdate = true;
        this.uniforms.restShift!.value.fromArray(this.fit!.shift);
        this.uniforms.restTurn!.value.fromArray(this.fit!.turn);
    }

    /// Texels go up as they arrived, in rows of a power of two.
    private addShapes(maxTextureSize: number): void {
        const { shapes } = this.asset;
        const { texels } = shapes!;
        const count = Math.max(texels.length / 4, 1);
        let shift = 11;
        while (Math.ceil(count / 2 ** shift) > maxTextureSize) ++shift;
        const height = Math.ceil(count / 2 ** shift);
        const padded = new Int16Array(4 * 2 ** shift * height);
        padded.set(texels);
        shapes!.texels = padded.subarray(0, texels.length); // one copy is enough
        const texture = new THREE.DataTexture(
            padded,
            2 ** shift,
            height,
            THREE.RGBAIntegerFormat,
            THREE.ShortType,
        );
        texture.internalFormat = "RGBA16I";
        texture.needsUpdate = true;
        this.textures.push(texture);
        this.uniforms.shapes = { value: texture };
        this.uniforms.shapesShift = { value: shift };
    }
}

function floatTexture(numbers: Float32Array, width: number, height: number): THREE.DataTexture {
    const texture = new THREE.DataTexture(
        numbers as Float32Array<ArrayBuffer>,
        width,
        height,
        THREE.RGBAFormat,
        THREE.FloatType,
    );
    texture.needsUpdate = true;
    return texture;
}

function makeGeometry(asset: Asset, instances: number): THREE.InstancedBufferGeometry {
    const { surface } = asset;
    const count = surface.ids.length / 3;
    const rest = new Float32Array(3 * count);
    for (let i = 0; i < count; ++i)
        rest.set(
            asset.positions.subarray(3 * surface.ids[3 * i]!, 3 * surface.ids[3 * i]! + 3),
            3 * i,
        );
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.instanceCount = instances;
    geometry.setIndex(new THREE.BufferAttribute(surface.indices, 1));
    geometry.setAttribute("position", new THREE.BufferAttribute(rest, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(surface.normals, 3));
    geometry.setAttribute("edge1", new THREE.BufferAttribute(surface.edges1, 3));
    geometry.setAttribute("edge2", new THREE.BufferAttribute(surface.edges2, 3));
    geometry.setAttribute("ids", new THREE.BufferAttribute(surface.ids, 3));
    return geometry;
}
