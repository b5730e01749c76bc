import * as THREE from "three";
import { fetchBytes } from "./assets";
import { roundLength } from "./field_slices";
import type { Frame, Hello } from "./protocol";
import { ShapeWatch, kShapeInterval } from "./shape_watch";
import type { Stage } from "./stage";

/// Levels, in parts of the body's size: below 0 inside, 0 is the surface that others touch.
export const kIsoLevels = { low: -0.05, high: 0.1, step: 0.005 } as const;

const kMaxSurfaces = 8;
const kLines = 0.04; // of its size from one line to the next
const kInside = new THREE.Color(0x2a6cff);
const kOutside = new THREE.Color(0xe08a00);

interface IsoSurface {
    contact: number;
    body: number;
    size: number; // of the body [m]
    level: number | null; // that it was fetched for, null: not yet
    watch: ShapeWatch; // the same
    isBusy: boolean;
    group: THREE.Group;
    geometry: THREE.BufferGeometry;
}

/// Where the distance fields of contacts have a chosen value, as thin shells around or in their
/// bodies. They move with them; those of bodies that deform are made anew from the present shape
/// twice a second, and stay behind meanwhile.
export class IsoSurfaces {
    private readonly surfaces: IsoSurface[] = [];
    private readonly materials = makeMaterials();
    private frame: Frame | null = null;
    private level: number | null = null; // null: not shown
    private isDisposed = false;

    constructor(
        private readonly stage: Stage,
        hello: Hello,
        private readonly failed: (error: Error) => void,
    ) {
        hello.contacts.forEach(({ field }, contact) => {
            const info = hello.bodies[field];
            const isKnown = this.surfaces.some(({ body }) => body === field);
            if (!info || info.encoding === "positions" || isKnown) return;
            if (this.surfaces.length === kMaxSurfaces) return;
            const geometry = new THREE.BufferGeometry();
            const group = new THREE.Group();
            group.visible = false;
            this.materials.forEach((material, order) => {
                const mesh = new THREE.Mesh(geometry, material);
                mesh.frustumCulled = false;
                mesh.renderOrder = 2 + order; // over points of contacts
                group.add(mesh);
            });
            stage.scene.add(group);
            this.surfaces.push({
                contact,
                body: field,
                size: hello.assets[info.asset]!.size,
                level: null,
                watch: new ShapeWatch(field, info.encoding === "reduced"),
                isBusy: false,
                group,
                geometry,
            });
        });
    }

    get hasSome(): boolean {
        return this.surfaces.length > 0;
    }

    /// Of the body with the field, if there is one alone [m].
    get size(): number | null {
        return this.surfaces.length === 1 ? this.surfaces[0]!.size : null;
    }

    /// Triangles that are drawn.
    get count(): number {
        const shown = this.surfaces.filter(({ group }) => group.visible);
        return shown.reduce((sum, { geometry }) => sum + geometry.drawRange.count / 3, 0);
    }

    /// Level as part of the body's size; null: none.
    show(level: number | null): void {
        this.level = level;
        for (const surface of this.surfaces) {
            surface.group.visible = level !== null && surface.level !== null;
            void this.follow(surface);
        }
        const isInside = level !== null && level < 0;
        const largest = Math.max(...this.surfaces.map(({ size }) => size));
        for (const { uniforms } of this.materials) {
            uniforms.colour!.value.copy(isInside ? kInside : kOutside);
            uniforms.spacing!.value = roundLength(kLines * largest);
        }
        this.materials[0]!.uniforms.strength!.value = isInside ? 2.4 : 0.3;
        this.stage.invalidate();
    }

    update(frame: Frame): void {
        this.frame = frame;
        if (this.level === null) return;
        for (const surface of this.surfaces) {
            this.place(surface);
            if (surface.watch.deforms) void this.follow(surface);
        }
    }

    dispose(): void {
        this.isDisposed = true;
        this.level = null;
        for (const { group, geometry } of this.surfaces) {
            this.stage.scene.remove(group);
            geometry.dispose();
        }
        for (const material of this.materials) material.dispose();
    }

    private place({ body, group }: IsoSurface): void {
        if (!this.frame) return;
        const [x, y, z, w, i, j, k] = this.frame.bodies[body] as unknown as number[];
        group.position.set(x!, y!, z!);
        group.quaternion.set(i!, j!, k!, w!);
    }

    private isStale(surface: IsoSurface): boolean {
        return surface.watch.hasChanged(this.frame) || surface.level !== this.level;
    }

    /// Fetches until what is drawn is what should be.
    private async follow(surface: IsoSurface): Promise<void> {
        if (surface.isBusy) return;
        surface.isBusy = true;
        while (this.level !== null && this.isStale(surface)) {
            const { level } = this;
            const shape = surface.watch.shapeIn(this.frame);
            try {
                const metres = (level * surface.size).toPrecision(6);
                const bytes = await fetchBytes(`contact/${surface.contact}/iso/${metres}`);
                if (this.isDisposed) return;
                setSurface(surface.geometry, bytes);
            } catch (error) {
                if (!this.isDisposed) this.failed(error as Error);
                setSurface(surface.geometry, new ArrayBuffer(8));
            }
            surface.level = level;
            surface.watch.made(shape);
            surface.group.visible = this.level !== null;
            this.place(surface);
            this.stage.invalidate();
            if (surface.watch.deforms)
                await new Promise((done) => setTimeout(done, kShapeInterval));
        }
        surface.isBusy = false;
    }
}

function setSurface(geometry: THREE.BufferGeometry, bytes: ArrayBuffer): void {
    const [vertices, triangles] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
    const positions = new Float32Array(bytes, 8, 3 * vertices);
    const indices = new Uint32Array(bytes, 8 + 12 * vertices, 3 * triangles);
    geometry.dispose(); // buffers of another length
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.deleteAttribute("normal");
    geometry.setIndex(new THREE.BufferAttribute(indices, 1));
    geometry.computeVertexNormals();
    geometry.setDrawRange(0, indices.length);
}

/// First what is behind bodies: faintly, but all there is to see of what is inside them. Then the
/// depth of the nearest layer, so that only that one is seen; then its colour. A little towards the
/// eye: at level 0 it lies on the body. Lines of equal x, y and z of the body show the form.
function makeMaterials(): THREE.ShaderMaterial[] {
    const make = (options: THREE.ShaderMaterialParameters) =>
        new THREE.ShaderMaterial({
            uniforms: {
                colour: { value: kOutside.clone() },
                spacing: { value: 1 },
                strength: { value: 1 },
            },
            vertexShader: /* glsl */ `
                varying vec3 towardsEye, facing, place, across;
                void main() {
                    vec3 seen = 0.997 * (modelViewMatrix * vec4(position, 1.0)).xyz;
                    towardsEye = -seen;
                    facing = normalMatrix * normal;
                    place = position;
                    across = normal;
                    gl_Position = projectionMatrix * vec4(seen, 1.0);
                }
            `,
            fragmentShader: /* glsl */ `
                uniform vec3 colour;
                uniform float spacing, strength;
                varying vec3 towardsEye, facing, place, across;
                void main() {
                    vec3 n = normalize(facing), steep = 1.0 - abs(normalize(across));
                    float turned = abs(dot(n, normalize(towardsEye)));
                    float rim = pow(1.0 - turned, 2.0);
                    vec3 pixel = max(fwidth(place), 1e-9);
                    vec3 off = spacing * abs(fract(place / spacing - 0.5) - 0.5);
                    // neither where the surface is flat to them nor where they are too close
                    vec3 fine = smoothstep(0.1, 0.3, steep) * smoothstep(3.0, 6.0, spacing / pixel);
                    vec3 lines = (1.0 - smoothstep(0.5, 1.3, off / pixel)) * fine;
                    float line = max(lines.x, max(lines.y, lines.z));
                    float light = 0.75 + 0.35 * dot(n, vec3(-0.4, 0.8, 0.45));
                    float alpha = max(mix(0.25, 0.95, rim), 0.6 * line);
                    gl_FragColor = vec4(colour * mix(light, 0.45, line), strength * alpha);
                    #include <colorspace_fragment>
                }
            `,
            transparent: true,
            depthWrite: false,
            side: THREE.DoubleSide,
            ...options,
        });
    return [
        make({ depthFunc: THREE.GreaterDepth, side: THREE.FrontSide }),
        make({ depthWrite: true, colorWrite: false }),
        make({ depthFunc: THREE.LessEqualDepth }),
    ];
}
