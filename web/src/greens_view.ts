import * as THREE from "three";
import { type Asset, fetchBytes } from "./assets";
import { rampColour } from "./colours";
import { makeDiscs } from "./contact_view";
import type { Pick } from "./picking";
import type { Frame, Hello } from "./protocol";
import { quantity } from "./quantity";
import type { Stage } from "./stage";
import { currentTheme } from "./theme";

/// What the colours of bodies with Green's functions say.
export const GreensMode = { Off: 0, Area: 1, Vertex: 2, Masked: 3, Unit: 4 } as const;
export type GreensMode = (typeof GreensMode)[keyof typeof GreensMode];
export const kGreensModes = ["Off", "Node area", "Vertex stiffness", "Stiffness", "Unit force"];

/// For the legend.
export interface GreensScale {
    title: string;
    largest: string;
}
const kScales: Record<GreensMode, { title: string; unit: string }> = {
    0: { title: "", unit: "" },
    1: { title: "Area of a node", unit: "m²" },
    2: { title: "Stiffness of a vertex alone", unit: "N/m" },
    3: { title: "Stiffness under the mask", unit: "N/m" },
    4: { title: "Displacement for 1 N", unit: "m" },
};

const kFieldFloats = 4; // of each vertex: fixed, area, stiffness alone, stiffness under the mask
const kDotSize = 7; // CSS pixels across

interface Shown {
    body: number;
    asset: Asset;
    assetIndex: number;
    fields: Float32Array | null; // as they arrived
    unit: Float32Array | null; // size of the displacement of each vertex
    dots: THREE.Points | null;
    fixed: number[];
    overlay: THREE.Mesh | null;
    largest: number;
}

/// Bodies with Green's functions: what holds them as dots, and on request a second skin with the
/// areas and stiffnesses of their vertices or the response to a force at a picked vertex.
export class GreensView {
    private readonly shown: Shown[] = [];
    private readonly dotMaterial = makeDiscs(kDotSize, 0);
    private readonly skinMaterial = new THREE.MeshBasicMaterial({
        vertexColors: true,
        side: THREE.DoubleSide,
        polygonOffset: true,
        polygonOffsetFactor: -1,
        polygonOffsetUnits: -1,
    });
    private mode: GreensMode = GreensMode.Off;
    private frame: Frame | null = null;

    constructor(
        private readonly stage: Stage,
        hello: Hello,
        assets: Asset[],
        private readonly failed: (error: Error) => void,
    ) {
        hello.bodies.forEach(({ asset: assetIndex }, body) => {
            if (!hello.assets[assetIndex]!.has_greens) return;
            const asset = assets[assetIndex]!;
            const parts = { fields: null, unit: null, dots: null, overlay: null };
            this.shown.push({ body, asset, assetIndex, ...parts, fixed: [], largest: 0 });
        });
        for (const shown of this.shown) void this.fetchFields(shown);
    }

    get hasSome(): boolean {
        return this.shown.length > 0;
    }

    /// Vertices that are drawn as dots.
    get numDots(): number {
        return this.shown.reduce((sum, { fixed, dots }) => sum + (dots ? fixed.length : 0), 0);
    }

    /// Skins that are drawn.
    get numSkins(): number {
        return this.shown.filter(({ overlay }) => overlay?.visible).length;
    }

    /// Null: nothing is coloured.
    get scale(): GreensScale | null {
        if (this.mode === GreensMode.Off || this.numSkins === 0) return null;
        const largest = Math.max(...this.shown.map((shown) => shown.largest));
        const { title, unit } = kScales[this.mode];
        // prefixes of squares are squared
        const isArea = this.mode === GreensMode.Area;
        const text = isArea ? `${(1e6 * largest).toPrecision(3)} mm²` : quantity(largest, unit);
        return { title, largest: text };
    }

    setMode(mode: GreensMode): void {
        this.mode = mode;
        for (const shown of this.shown) this.paint(shown);
        if (this.frame) this.update(this.frame);
        this.stage.invalidate();
    }

    update(frame: Frame): void {
        this.frame = frame;
        this.dotMaterial.uniforms.colour!.value.set(currentTheme().mesh);
        for (const { body, dots, fixed, overlay } of this.shown) {
            const x = frame.bodies[body]!;
            if (dots) {
                const places = dots.geometry.getAttribute("position") as THREE.BufferAttribute;
                fixed.forEach((v, i) => places.setXYZ(i, x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!));
                places.needsUpdate = true;
            }
            if (overlay?.visible) {
                const places = overlay.geometry.getAttribute("position") as THREE.BufferAttribute;
                places.array.set(x);
                places.needsUpdate = true;
            }
        }
    }

    /// In the mode for it, the response to a force at the vertex nearest to what was picked.
    async pick({ body, triangle, barycentric }: Pick): Promise<void> {
        const shown = this.shown.find((each) => each.body === body);
        if (!shown || this.mode !== GreensMode.Unit) return;
        const corner = barycentric.indexOf(Math.max(...barycentric));
        const vertex = shown.asset.indices[3 * triangle + corner]!;
        try {
            const bytes = await fetchBytes(`asset/${shown.assetIndex}/unit/${vertex}`);
            const u = new Float32Array(bytes, 8);
            shown.unit = Float32Array.from({ length: u.length / 3 }, (_, v) =>
                Math.hypot(u[3 * v]!, u[3 * v + 1]!, u[3 * v + 2]!),
            );
        } catch (error) {
            return this.failed(error as Error);
        }
        this.setMode(this.mode);
    }

    dispose(): void {
        for (const { dots, overlay } of this.shown)
            for (const part of [dots, overlay]) {
                if (!part) continue;
                this.stage.scene.remove(part);
                part.geometry.dispose();
            }
        this.shown.length = 0;
        this.dotMaterial.dispose();
        this.skinMaterial.dispose();
    }

    private async fetchFields(shown: Shown): Promise<void> {
        try {
            const bytes = await fetchBytes(`asset/${shown.assetIndex}/greens`);
            shown.fields = new Float32Array(bytes, 8);
        } catch (error) {
            return this.failed(error as Error);
        }
        if (!this.shown.includes(shown)) return; // another scene came meanwhile
        const { fields } = shown;
        for (let v = 0; v < shown.asset.vertices; ++v)
            if (fields[kFieldFloats * v] !== 0) shown.fixed.push(v);
        shown.dots = new THREE.Points(
            emptyGeometry(shown.fixed.length, "position"),
            this.dotMaterial,
        );
        shown.dots.frustumCulled = false;
        shown.dots.onBeforeRender = (renderer) => {
            this.dotMaterial.uniforms.pixelRatio!.value = renderer.getPixelRatio();
        };
        this.stage.scene.add(shown.dots);
        this.setMode(this.mode);
    }

    /// Colours of the skin for the present mode.
    private paint(shown: Shown): void {
        const values = this.valuesOf(shown);
        if (!values) {
            if (shown.overlay) shown.overlay.visible = false;
            return;
        }
        if (!shown.overlay) {
            const geometry = emptyGeometry(shown.asset.vertices, "position", "color");
            geometry.setIndex(new THREE.BufferAttribute(shown.asset.indices, 1));
            shown.overlay = new THREE.Mesh(geometry, this.skinMaterial);
            shown.overlay.frustumCulled = false;
            this.stage.scene.add(shown.overlay);
        }
        shown.overlay.visible = true;
        // supports are rigid: they would be all that one sees
        shown.largest = values.reduce(
            (most, value, v) =>
                shown.fields![kFieldFloats * v] === 0 ? Math.max(most, value) : most,
            0,
        );
        const colours = shown.overlay.geometry.getAttribute("color") as THREE.BufferAttribute;
        values.forEach((value, v) =>
            colours.setXYZ(v, ...rampColour(value / (shown.largest || 1))),
        );
        colours.needsUpdate = true;
    }

    private valuesOf({ fields, unit, asset }: Shown): Float32Array | null {
        if (this.mode === GreensMode.Off || !fields) return null;
        if (this.mode === GreensMode.Unit) return unit;
        return Float32Array.from(
            { length: asset.vertices },
            (_, v) => fields[kFieldFloats * v + this.mode]!,
        );
    }
}

function emptyGeometry(vertices: number, ...names: string[]): THREE.BufferGeometry {
    const geometry = new THREE.BufferGeometry();
    for (const name of names) {
        const attribute = new THREE.BufferAttribute(new Float32Array(3 * vertices), 3);
        geometry.setAttribute(name, attribute.setUsage(THREE.DynamicDrawUsage));
    }
    return geometry;
}
