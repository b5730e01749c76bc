import * as THREE from "three";
import { fetchBytes } from "./assets";
import type { Frame, Hello } from "./protocol";
import { ShapeWatch, kShapeInterval } from "./shape_watch";
import type { Stage } from "./stage";

export const kSliceAxes = ["", "x", "y", "z"] as const;
/// Which way the cut faces; "": none.
export type SliceAxis = (typeof kSliceAxes)[number];

interface Cut {
    contact: number;
    body: number;
    watch: ShapeWatch;
    group: THREE.Group | null; // null: not there yet
    isBusy: boolean;
}

/// Plane cuts through the distance fields that others touch: blue inside, lines of equal distance,
/// the surface drawn strongly. They move with their body, and shine through what is before them;
/// those of bodies that deform are made anew from the present shape twice a second.
export class FieldSlices {
    private readonly cuts: Cut[] = []; // of the first contact of each body with a field
    private frame: Frame | null = null;
    private axis: SliceAxis = "";

    constructor(
        private readonly stage: Stage,
        hello: Hello,
        private readonly failed: (error: Error) => void,
    ) {
        hello.contacts.forEach(({ field }, contact) => {
            const encoding = hello.bodies[field]?.encoding;
            if (encoding === undefined || encoding === "positions") return;
            if (this.cuts.some(({ body }) => body === field)) return;
            const watch = new ShapeWatch(field, encoding === "reduced");
            this.cuts.push({ contact, body: field, watch, group: null, isBusy: false });
        });
    }

    get hasSome(): boolean {
        return this.cuts.length > 0;
    }

    /// Cuts that are drawn.
    get count(): number {
        return this.cuts.filter(({ group }) => group !== null).length;
    }

    show(axis: SliceAxis): void {
        if (this.axis === axis) return;
        this.dispose();
        this.axis = axis;
        for (const cut of this.cuts) void this.follow(cut);
    }

    update(frame: Frame): void {
        this.frame = frame;
        if (this.axis === "") return;
        for (const cut of this.cuts) {
            this.place(cut);
            if (cut.watch.deforms) void this.follow(cut);
        }
    }

    dispose(): void {
        this.axis = "";
        for (const cut of this.cuts) this.remove(cut);
        this.stage.invalidate();
    }

    /// Fetches until what is drawn is what should be.
    private async follow(cut: Cut): Promise<void> {
        if (cut.isBusy) return;
        cut.isBusy = true;
        while (this.axis !== "" && (cut.group === null || cut.watch.hasChanged(this.frame))) {
            const { axis } = this;
            const shape = cut.watch.shapeIn(this.frame);
            try {
                const bytes = await fetchBytes(`contact/${cut.contact}/slice/${axis}`);
                if (this.axis !== axis) continue; // another one was chosen meanwhile
                this.remove(cut);
                cut.group = makeCut(bytes);
                cut.watch.made(shape);
                this.stage.scene.add(cut.group);
                this.place(cut);
                this.stage.invalidate();
            } catch (error) {
                if (this.axis !== axis) continue;
                this.dispose();
                this.failed(error as Error);
            }
            if (cut.watch.deforms) await new Promise((done) => setTimeout(done, kShapeInterval));
        }
        cut.isBusy = false;
    }

    private place({ body, group }: Cut): void {
        if (!this.frame || !group) return;
        const [x, y, z, w, i, j, k] = this.frame.bodies[body] as unknown as number[];
        group.position.set(x!, y!, z!);
        group.quaternion.set(i!, j!, k!, w!);
    }

    private remove(cut: Cut): void {
        if (!cut.group) return;
        this.stage.scene.remove(cut.group);
        for (const child of cut.group.children as ReturnType<typeof makePlane>[]) {
            child.geometry.dispose();
            child.material.uniforms.distances!.value.dispose();
            child.material.dispose();
        }
        cut.group = null;
    }
}

/// What is in front hides the first plane; the second one is faint and always seen.
function makeCut(bytes: ArrayBuffer): THREE.Group {
    const [width, height] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
    const numbers = new Float32Array(bytes, 8);
    const vector = (at: number) => new THREE.Vector3().fromArray(numbers, at);
    const [origin, across, up] = [vector(0), vector(3), vector(6)];
    // rows come from the top
    const corner = (s: number, t: number) =>
        origin.clone().addScaledVector(across, s).addScaledVector(up, t).toArray();
    const geometry = new THREE.BufferGeometry();
    const corners = [corner(0, 1), corner(1, 1), corner(0, 0), corner(1, 0)];
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners.flat(), 3));
    geometry.setAttribute("uv", new THREE.Float32BufferAttribute([0, 0, 1, 0, 0, 1, 1, 1], 2));
    geometry.setIndex([0, 2, 1, 1, 2, 3]);
    const halves = Uint16Array.from(numbers.subarray(9), (x) =>
        THREE.DataUtils.toHalfFloat(Math.min(Math.max(x, -6e4), 6e4)),
    );
    const distances = new THREE.DataTexture(
        halves,
        width,
        height,
        THREE.RedFormat,
        THREE.HalfFloatType,
    );
    distances.minFilter = distances.magFilter = THREE.LinearFilter;
    distances.needsUpdate = true;
    const spacing = roundLength(Math.max(across.length(), up.length()) / 30);
    const group = new THREE.Group();
    group.add(makePlane(geometry, distances, spacing, true));
    group.add(makePlane(geometry, distances, spacing, false));
    return group;
}

/// 1, 2 or 5 times a power of ten.
export function roundLength(length: number): number {
    const power = 10 ** Math.floor(Math.log10(length));
    return ([1, 2, 5].find((digit) => digit * power >= length) ?? 10) * power;
}

function makePlane(
    geometry: THREE.BufferGeometry,
    distances: THREE.Texture,
    spacing: number,
    isHidden: boolean,
): THREE.Mesh<THREE.BufferGeometry, THREE.ShaderMaterial> {
    const material = new THREE.ShaderMaterial({
        transparent: true,
        depthWrite: false,
        depthTest: isHidden,
        side: THREE.DoubleSide,
        uniforms: {
            distances: { value: distances },
            spacing: { value: spacing },
            opacity: { value: isHidden ? 0.55 : 0.3 },
        },
        vertexShader: /* glsl */ `
            varying vec2 place;
            void main() {
                place = uv;
                gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
            }
        `,
        fragmentShader: /* glsl */ `
            uniform sampler2D distances;
            uniform float spacing, opacity;
            varying vec2 place;
            void main() {
                float d = texture2D(distances, place).r;
                float pixel = max(fwidth(d), 1e-9);
                float off = spacing * abs(fract(d / spacing - 0.5) - 0.5);
                float line = 1.0 - smoothstep(0.4, 1.2, off / pixel);
                float edge = 1.0 - smoothstep(1.0, 2.0, abs(d) / pixel);
                vec3 inside = vec3(0.03, 0.2, 0.65), outside = vec3(0.95, 0.8, 0.5);
                float away = clamp(d / (8.0 * spacing), 0.0, 1.0);
                vec3 colour = d < 0.0 ? inside : mix(outside, vec3(1.0), away);
                colour = mix(colour, vec3(0.1), max(0.35 * line, edge));
                float seen = mix(opacity, 1.0, max(0.3 * line, edge) * opacity);
                gl_FragColor = vec4(colour, seen * (1.0 - 0.5 * away));
                #include <colorspace_fragment>
            }
        `,
    });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    return mesh;
}
