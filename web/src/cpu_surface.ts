import * as THREE from "three";
import type { Asset } from "./assets";
import { ColourMode, type ColourUniforms, kColourRamp } from "./colours";
import type { BodyInfo, Frame } from "./protocol";
import { type RigidFit, rotated } from "./rigid_fit";
import type { SurfaceDrawing } from "./surface_group";
import { worldPositions } from "./surface_evaluation";
import { areaNormal } from "./triangle_edges";

const kSmoothShare = 1.25; // vertices split at creases: beyond this a surface is drawn in facets

/// Bodies of one asset deformed on the CPU, in one draw call: where there is no GPU, sums over a
/// basis are faster here than in a vertex shader.
export class CpuSurface implements SurfaceDrawing {
    readonly mesh: THREE.Mesh;
    private readonly positions: THREE.BufferAttribute;
    private readonly amounts: THREE.BufferAttribute; // displacement or strain
    private readonly normals: THREE.BufferAttribute | null = null;
    private readonly material: THREE.MeshLambertMaterial;

    constructor(
        private readonly asset: Asset,
        private readonly members: number[],
        private readonly bodies: BodyInfo[],
        private readonly fit: RigidFit | null,
        private readonly colours: ColourUniforms,
    ) {
        const count = members.length * asset.vertices;
        const geometry = new THREE.BufferGeometry();
        this.positions = new THREE.BufferAttribute(new Float32Array(3 * count), 3);
        this.amounts = new THREE.BufferAttribute(new Float32Array(count), 1);
        geometry.setAttribute("position", this.positions);
        geometry.setAttribute("amount", this.amounts);
        const isSmooth = asset.surface.ids.length / 3 < kSmoothShare * asset.vertices;
        if (isSmooth) {
            this.normals = new THREE.BufferAttribute(new Float32Array(3 * count), 3);
            geometry.setAttribute("normal", this.normals);
        }
        for (const attribute of Object.values(geometry.attributes))
            (attribute as THREE.BufferAttribute).setUsage(THREE.DynamicDrawUsage);

        const indices = new Uint32Array(members.length * asset.indices.length);
        const paint = new Uint8Array(3 * count);
        members.forEach((member, m) => {
            asset.indices.forEach((v, i) => {
                indices[m * asset.indices.length + i] = m * asset.vertices + v;
            });
            const { colour } = bodies[member]!;
            const { r, g, b } = new THREE.Color().setRGB(...colour, THREE.SRGBColorSpace);
            const linear = [255 * r, 255 * g, 255 * b];
            for (let v = 0; v < asset.vertices; ++v)
                paint.set(linear, 3 * (m * asset.vertices + v));
        });
        geometry.setIndex(new THREE.BufferAttribute(indices, 1));
        geometry.setAttribute("color", new THREE.BufferAttribute(paint, 3, true));

        this.material = new THREE.MeshLambertMaterial({
            vertexColors: true,
            flatShading: !isSmooth,
            side: THREE.DoubleSide,
            polygonOffset: true,
            polygonOffsetFactor: 1,
            polygonOffsetUnits: 1,
        });
        this.material.onBeforeCompile = (shader) => {
            Object.assign(shader.uniforms, colours);
            shader.vertexShader = shader.vertexShader
                .replace(
                    "void main() {",
                    `attribute float amount; uniform int colourMode; uniform float colourScale;
                    ${kColourRamp} void main() {`,
                )
                .replace(
                    "#include <color_vertex>",
                    `#include <color_vertex>
                    if (colourMode != ${ColourMode.Body}) vColor.rgb = colourOf(amount / colourScale);`,
                );
        };
        this.mesh = new THREE.Mesh(geometry, this.material);
        this.mesh.frustumCulled = false;
        this.mesh.matrixAutoUpdate = false;
    }

    update(frame: Frame): void {
        const { asset } = this;
        const x = this.positions.array as Float32Array;
        this.members.forEach((member, m) => {
            const mine = x.subarray(3 * m * asset.vertices, 3 * (m + 1) * asset.vertices);
            const numbers = frame.bodies[member]!;
            worldPositions(this.bodies[member]!, asset, numbers, mine);
            if (this.normals) addNormals(mine, asset, this.normals.array as Float32Array, m);
            if (this.colours.colourMode.value !== ColourMode.Body) this.measure(mine, numbers, m);
        });
        this.positions.needsUpdate = this.amounts.needsUpdate = true;
        if (this.normals) this.normals.needsUpdate = true;
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        this.material.dispose();
    }

    /// Displacements or strains of one body, docs/web.md eq. (3).
    private measure(x: Float32Array, numbers: Float32Array, m: number): void {
        const { asset } = this;
        const amounts = this.amounts.array.subarray(m * asset.vertices) as Float32Array;
        if (this.colours.colourMode.value === ColourMode.Strain) {
            const { ids, edges1, edges2 } = asset.surface;
            for (let i = 0; i < ids.length; i += 3)
                amounts[ids[i]!] = strainOf(x, ids, edges1, edges2, i);
            return;
        }
        const shift = this.fit?.shift ?? [numbers[0]!, numbers[1]!, numbers[2]!];
        const turn = this.fit?.turn ?? [numbers[4]!, numbers[5]!, numbers[6]!, numbers[3]!];
        const axes = [rotated(turn, [1, 0, 0]), rotated(turn, [0, 1, 0]), rotated(turn, [0, 0, 1])];
        const rest = asset.positions;
        for (let v = 0, i = 0; v < asset.vertices; ++v, i += 3) {
            let sum = 0;
            for (let d = 0; d < 3; ++d) {
                const u =
                    x[i + d]! -
                    shift[d]! -
                    rest[i]! * axes[0]![d]! -
                    rest[i + 1]! * axes[1]![d]! -
                    rest[i + 2]! * axes[2]![d]!;
                sum += u * u;
            }
            amounts[v] = Math.sqrt(sum);
        }
    }
}

/// Area-weighted normals of the m-th body, not normalised (the shader does).
function addNormals(x: Float32Array, asset: Asset, all: Float32Array, m: number): void {
    const n = all.subarray(3 * m * asset.vertices, 3 * (m + 1) * asset.vertices).fill(0);
    const { indices } = asset;
    for (let t = 0; t < indices.length; t += 3) {
        const a = 3 * indices[t]!;
        const b = 3 * indices[t + 1]!;
        const c = 3 * indices[t + 2]!;
        const { nx, ny, nz } = areaNormal(x, a, b, c);
        for (const corner of [a, b, c]) {
            n[corner]! += nx;
            n[corner + 1]! += ny;
            n[corner + 2]! += nz;
        }
    }
}

/// Largest principal strain of the surface at a vertex, from its edges to two neighbours.
function strainOf(
    x: Float32Array,
    ids: Int32Array,
    edges1: Float32Array,
    edges2: Float32Array,
    i: number,
): number {
    let [a, b, c, A, B, C] = [0, 0, 0, 0, 0, 0];
    for (let d = 0; d < 3; ++d) {
        const e1 = edges1[i + d]!;
        const e2 = edges2[i + d]!;
        const d1 = x[3 * ids[i + 1]! + d]! - x[3 * ids[i]! + d]!;
        const d2 = x[3 * ids[i + 2]! + d]! - x[3 * ids[i]! + d]!;
        a += e1 * e1;
        b += e1 * e2;
        c += e2 * e2;
        A += d1 * d1;
        B += d1 * d2;
        C += d2 * d2;
    }
    // squared stretches are the eigenvalues of the present metric relative to the one at rest
    const area = Math.max(a * c - b * b, 1e-30);
    const mean = (0.5 * (c * A - 2 * b * B + a * C)) / area;
    const spread = Math.sqrt(Math.max(mean * mean - (A * C - B * B) / area, 0));
    const stretches = [mean + spread, mean - spread].map((s) => Math.sqrt(Math.max(s, 0)));
    return Math.max(...stretches.map((stretch) => Math.abs(stretch - 1)));
}
