import * as THREE from "three";
import { type ContactMarks, kMarkFloats } from "./protocol";
import type { Stage } from "./stage";
import { currentTheme } from "./theme";

export const ContactMode = { Off: 0, Points: 1, Spheres: 2 } as const;
export type ContactMode = (typeof ContactMode)[keyof typeof ContactMode];

const kVisitedSize = 5; // CSS pixels across
const kTouchingSize = 9;
const kTouchingRim = 1.2;
const kLongestForce = 0.05; // of the distance to what is looked at

/// Points of shells that the search for contacts came to in the newest frame: blue where it ended
/// outside, red where bodies touch. Those are inside the other body: nothing hides them. Circles
/// around points are the spheres that hold all that is below them in the tree. Lines are the forces
/// on points that touch: the largest is as long as a fixed part of the view.
export class ContactView {
    private readonly clouds = new Map<number, THREE.Points>();
    private readonly lines = new Map<number, THREE.LineSegments>();
    private readonly lineMaterial = new THREE.LineBasicMaterial({ depthTest: false });
    private largestForce = 0;
    private readonly visited = makeDiscs(kVisitedSize, 0);
    private readonly touching = makeDiscs(kTouchingSize, kTouchingRim);
    private readonly spheres = makeCircles();
    private mode: ContactMode = ContactMode.Off;

    constructor(private readonly stage: Stage) {
        this.touching.depthTest = false;
    }

    /// Points that are drawn.
    get count(): number {
        const shown = [...this.clouds.values()].filter((cloud) => cloud.visible);
        return shown.reduce((sum, { geometry }) => sum + geometry.drawRange.count, 0);
    }

    setMode(mode: ContactMode): void {
        this.mode = mode;
        for (const cloud of this.clouds.values()) cloud.visible = false;
        for (const lines of this.lines.values()) lines.visible = false;
    }

    /// Of one contact, for the next drawn frame.
    update({ contact, numbers, touching, forces }: ContactMarks): void {
        if (this.mode === ContactMode.Off) return;
        this.updateLines(contact, numbers, forces);
        const cloud = this.cloudFor(contact, numbers.length);
        const count = numbers.length / kMarkFloats;
        const { geometry } = cloud;
        const { data } = geometry.getAttribute("position") as THREE.InterleavedBufferAttribute;
        data.array.set(numbers);
        data.needsUpdate = true;
        geometry.clearGroups();
        if (this.mode === ContactMode.Spheres) geometry.addGroup(0, count, 0);
        geometry.addGroup(touching, count - touching, 1);
        geometry.addGroup(0, touching, 2);
        geometry.setDrawRange(0, count);
        cloud.visible = count > 0;
        const theme = currentTheme();
        this.visited.uniforms.colour!.value.set(theme.visited);
        this.spheres.uniforms.colour!.value.set(theme.visited);
        this.touching.uniforms.colour!.value.set(theme.touching);
        this.lineMaterial.color.set(theme.touching);
    }

    private updateLines(contact: number, points: Float32Array, forces: Float32Array): void {
        const lines = this.linesFor(contact, 2 * forces.length);
        const ends = lines.geometry.getAttribute("position") as THREE.BufferAttribute;
        let largest = 0;
        for (let i = 0; i < forces.length; i += 3)
            largest = Math.max(largest, Math.hypot(forces[i]!, forces[i + 1]!, forces[i + 2]!));
        // follows slowly down
        this.largestForce = Math.max(0.99 * this.largestForce, largest, 1e-9);
        const { camera, target } = this.stage.orbit;
        const scale = (kLongestForce * camera.position.distanceTo(target)) / this.largestForce;
        for (let i = 0; 3 * i < forces.length; ++i)
            for (let axis = 0; axis < 3; ++axis) {
                const from = points[kMarkFloats * i + axis]!;
                ends.array[6 * i + axis] = from;
                ends.array[6 * i + 3 + axis] = from + scale * forces[3 * i + axis]!;
            }
        ends.needsUpdate = true;
        lines.geometry.setDrawRange(0, (2 * forces.length) / 3);
        lines.visible = forces.length > 0;
    }

    private linesFor(contact: number, floats: number): THREE.LineSegments {
        const known = this.lines.get(contact);
        const kept = known?.geometry.getAttribute("position") as THREE.BufferAttribute;
        if (known && kept.array.length >= floats) return known;
        if (known) this.remove(known);
        const ends = new THREE.BufferAttribute(new Float32Array(2 * floats), 3);
        ends.setUsage(THREE.DynamicDrawUsage);
        const geometry = new THREE.BufferGeometry().setAttribute("position", ends);
        const lines = new THREE.LineSegments(geometry, this.lineMaterial);
        lines.frustumCulled = false;
        lines.renderOrder = 1;
        this.lines.set(contact, lines);
        this.stage.scene.add(lines);
        return lines;
    }

    dispose(): void {
        for (const part of [...this.clouds.values(), ...this.lines.values()]) this.remove(part);
        this.clouds.clear();
        this.lines.clear();
        for (const material of [...this.materials, this.lineMaterial]) material.dispose();
    }

    private get materials(): THREE.ShaderMaterial[] {
        return [this.spheres, this.visited, this.touching];
    }

    private cloudFor(contact: number, floats: number): THREE.Points {
        const known = this.clouds.get(contact);
        const kept = known?.geometry.getAttribute("position") as THREE.InterleavedBufferAttribute;
        if (known && kept.data.array.length >= floats) return known;
        if (known) this.remove(known);
        const data = new THREE.InterleavedBuffer(new Float32Array(2 * floats), kMarkFloats);
        data.setUsage(THREE.DynamicDrawUsage);
        const geometry = new THREE.BufferGeometry()
            .setAttribute("position", new THREE.InterleavedBufferAttribute(data, 3, 0))
            .setAttribute("radius", new THREE.InterleavedBufferAttribute(data, 1, 3));
        const cloud = new THREE.Points(geometry, this.materials);
        cloud.frustumCulled = false;
        cloud.renderOrder = 1;
        cloud.onBeforeRender = (renderer) => {
            const height = renderer.getDrawingBufferSize(new THREE.Vector2()).y;
            for (const { uniforms } of this.materials) {
                uniforms.pixelRatio!.value = renderer.getPixelRatio();
                uniforms.height!.value = height;
            }
        };
        this.clouds.set(contact, cloud);
        this.stage.scene.add(cloud);
        return cloud;
    }

    private remove(part: THREE.Points | THREE.LineSegments): void {
        this.stage.scene.remove(part);
        part.geometry.dispose();
    }
}

// points are drawn a little towards the eye, out of the surface that they are on
const kVertex = /* glsl */ `
attribute float radius;
uniform float size, pixelRatio, height;
varying float across; // device pixels
void main() {
    vec3 seen = 0.994 * (modelViewMatrix * vec4(position, 1.0)).xyz;
    gl_Position = projectionMatrix * vec4(seen, 1.0);
    across = size > 0.0 ? size * pixelRatio : height * projectionMatrix[1][1] * radius / -seen.z;
    gl_PointSize = across;
}
`;

function makeSprites(size: number, rim: number, painted: string): THREE.ShaderMaterial {
    return new THREE.ShaderMaterial({
        transparent: true,
        depthWrite: false,
        uniforms: {
            size: { value: size },
            rim: { value: rim },
            pixelRatio: { value: 1 },
            height: { value: 1 },
            colour: { value: new THREE.Color() },
        },
        vertexShader: kVertex,
        fragmentShader: /* glsl */ `
            uniform vec3 colour;
            uniform float rim, pixelRatio;
            varying float across;
            void main() {
                // inwards from the edge, in pixels
                float depth = 0.5 * across * (1.0 - length(2.0 * gl_PointCoord - 1.0));
                if (depth <= 0.0) discard;
                ${painted}
                #include <colorspace_fragment>
            }
        `,
    });
}

/// Round sprites, `size` CSS pixels across at every distance, with a light rim that wide.
export function makeDiscs(size: number, rim: number): THREE.ShaderMaterial {
    return makeSprites(
        size,
        rim,
        /* glsl */ `
                float inner = clamp(depth - rim * pixelRatio + 0.5, 0.0, 1.0);
                gl_FragColor = vec4(mix(vec3(1.0), colour, inner), min(depth, 1.0));`,
    );
}

/// Faint discs as large as the sphere around each point.
function makeCircles(): THREE.ShaderMaterial {
    return makeSprites(
        0,
        0,
        /* glsl */ `
                float line = clamp(1.5 * pixelRatio - depth, 0.0, 1.0);
                gl_FragColor = vec4(colour, min(depth, 1.0) * mix(0.04, 0.5, line));`,
    );
}
