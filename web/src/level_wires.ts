import * as THREE from "three";
import { fetchBytes } from "./assets";
import type { Frame, GreensStats, Hello, ParameterInfo } from "./protocol";
import type { Stage } from "./stage";
import { currentTheme } from "./theme";

/// Of the distance: lines lie on the surface they belong to, and are drawn in front of it.
const kNearer = 0.003;

interface Wires {
    body: number;
    asset: number;
    shown: number; // level that is drawn
    touched: number; // level on which it is touched; −1: not known
    lines: Map<number, THREE.LineSegments>; // by level
}

/// Levels of detail of bodies with Green's functions, as lines on their surfaces: of the level that
/// is drawn, and of the one on which they are touched.
export class LevelWires {
    private readonly wires: Wires[] = [];
    private readonly shownMaterial = makeMaterial(0.35);
    private readonly touchedMaterial = makeMaterial(0.9);
    private isShown = false;
    private frame: Frame | null = null;

    constructor(
        private readonly stage: Stage,
        private readonly hello: Hello,
        private readonly failed: (error: Error) => void,
    ) {
        hello.bodies.forEach(({ asset }, body) => {
            const { levels } = hello.assets[asset]!;
            if (levels > 0)
                this.wires.push({ body, asset, shown: levels, touched: -1, lines: new Map() });
        });
        hello.parameters.forEach(({ name, now }) => this.setParameter(name, now));
    }

    get hasSome(): boolean {
        return this.wires.length > 0;
    }

    /// Lines that are drawn, of each level.
    get counts(): Record<number, number> {
        const counts: Record<number, number> = {};
        for (const { lines } of this.wires)
            for (const [level, { visible, geometry }] of lines)
                if (visible) counts[level] = (counts[level] ?? 0) + geometry.index!.count / 2;
        return counts;
    }

    setShown(isShown: boolean): void {
        this.isShown = isShown;
        this.choose();
    }

    setParameter(name: ParameterInfo["name"], value: number): void {
        for (const wires of this.wires)
            if (name === `${this.hello.bodies[wires.body]!.name}.display_level`)
                wires.shown = Math.round(value);
        this.choose();
    }

    /// Levels on which bodies are touched.
    showStats(all: GreensStats[]): void {
        for (const wires of this.wires) {
            const { name } = this.hello.bodies[wires.body]!;
            const touched = all.find((one) => one.name.startsWith(`${name}/`))?.level ?? -1;
            if (touched === wires.touched) continue;
            wires.touched = touched;
            this.choose();
        }
    }

    update(frame: Frame): void {
        this.frame = frame;
        if (!this.isShown) return;
        this.shownMaterial.color.set(currentTheme().mesh);
        this.touchedMaterial.color.set(currentTheme().touching);
        for (const { body, lines } of this.wires)
            for (const { visible, geometry } of lines.values()) {
                if (!visible) continue;
                const places = geometry.getAttribute("position") as THREE.BufferAttribute;
                places.array.set(frame.bodies[body]!);
                places.needsUpdate = true;
            }
    }

    dispose(): void {
        for (const { lines } of this.wires)
            for (const one of lines.values()) {
                this.stage.scene.remove(one);
                one.geometry.dispose();
            }
        this.wires.length = 0;
        this.shownMaterial.dispose();
        this.touchedMaterial.dispose();
    }

    private choose(): void {
        for (const wires of this.wires) {
            for (const [level, lines] of wires.lines)
                lines.visible =
                    this.isShown && (level === wires.shown || level === wires.touched);
            if (!this.isShown) continue;
            for (const level of new Set([wires.shown, wires.touched]))
                if (level >= 0) void this.draw(wires, level);
        }
        if (this.frame) this.update(this.frame);
        this.stage.invalidate();
    }

    private async draw(wires: Wires, level: number): Promise<void> {
        if (!wires.lines.has(level)) {
            const geometry = new THREE.BufferGeometry();
            const lines = new THREE.LineSegments(geometry, this.shownMaterial);
            lines.frustumCulled = false;
            lines.visible = false;
            wires.lines.set(level, lines); // asked for once
            try {
                const bytes = await fetchBytes(`asset/${wires.asset}/edges/${level}`);
                const [vertices, edges] = new Uint32Array(bytes, 0, 2);
                const places = new THREE.BufferAttribute(new Float32Array(3 * vertices!), 3);
                geometry.setAttribute("position", places.setUsage(THREE.DynamicDrawUsage));
                geometry.setIndex(
                    new THREE.BufferAttribute(new Uint32Array(bytes, 8, 2 * edges!), 1),
                );
            } catch (error) {
                return this.failed(error as Error);
            }
            if (!this.wires.includes(wires)) return geometry.dispose(); // another scene came
            this.stage.scene.add(lines);
            return this.choose();
        }
        const lines = wires.lines.get(level)!;
        const isTouched = level === wires.touched;
        lines.visible &&= lines.geometry.index !== null;
        lines.material = isTouched ? this.touchedMaterial : this.shownMaterial;
        lines.renderOrder = isTouched ? 1 : 0;
    }
}

function makeMaterial(opacity: number): THREE.LineBasicMaterial {
    const material = new THREE.LineBasicMaterial({ transparent: true, opacity, depthWrite: false });
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader.replace(
            "#include <project_vertex>",
            `#include <project_vertex>
    gl_Position = projectionMatrix * vec4(${1 - kNearer} * mvPosition.xyz, 1.0);`,
        );
    };
    return material;
}
