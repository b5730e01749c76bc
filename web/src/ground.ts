import * as THREE from "three";
import type { Theme } from "./theme";

const kLines = 40; // to each side of the centre

/// A soft shadow under a body: centre and half sizes in x and y, and how dark.
export interface ContactShadow {
    x: number;
    y: number;
    rx: number;
    ry: number;
    strength: number;
}

/// A floor with a grid that fades out and soft contact shadows. Where there is a GPU it is a
/// shaded plane that also receives the shadow map, else lines alone: large transparent areas are
/// what software renderers are slowest at.
export class Ground {
    readonly group = new THREE.Group();
    private readonly floor: THREE.Mesh;
    private readonly shadow: THREE.Mesh<THREE.PlaneGeometry, THREE.ShadowMaterial>;
    private readonly lines: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
    private readonly spots: THREE.Mesh[] = [];
    private readonly spotMaterial: THREE.ShaderMaterial;
    private readonly uniforms = {
        centre: { value: new THREE.Vector2() },
        reach: { value: 1 },
        cell: { value: 1 },
        ground: { value: new THREE.Color() },
        grid: { value: new THREE.Color() },
    };

    constructor() {
        const plane = new THREE.PlaneGeometry(1, 1);
        this.floor = new THREE.Mesh(plane, makeFloorMaterial(this.uniforms));
        this.floor.renderOrder = -4;
        this.lines = new THREE.LineSegments(
            new THREE.BufferGeometry(),
            new THREE.LineBasicMaterial({
                vertexColors: true,
                transparent: true,
                depthWrite: false,
            }),
        );
        this.lines.frustumCulled = false;
        this.lines.renderOrder = -3;
        this.shadow = new THREE.Mesh(plane, new THREE.ShadowMaterial({ opacity: 0.28 }));
        this.shadow.material.depthWrite = false;
        this.shadow.receiveShadow = true;
        this.shadow.renderOrder = -1;
        this.spotMaterial = makeSpotMaterial();
        this.group.add(this.floor, this.lines, this.shadow);
    }

    /// `extent`: length in the scene that fills the view [m].
    place(isShown: boolean, height: number, centre: THREE.Vector3, extent: number): void {
        this.group.visible = isShown;
        this.group.position.set(0, 0, height);
        this.uniforms.centre.value.set(centre.x, centre.y);
        this.uniforms.reach.value = 5 * extent;
        const cell = 10 ** Math.floor(Math.log10(extent / 3));
        this.uniforms.cell.value = cell;
        for (const mesh of [this.floor, this.shadow]) {
            mesh.position.set(centre.x, centre.y, 0);
            mesh.scale.set(10 * extent, 10 * extent, 1);
        }
        this.placeLines(centre, cell, Math.min(5 * extent, kLines * cell));
        this.setShadows([]);
    }

    setShadows(shadows: ContactShadow[]): void {
        while (this.spots.length < shadows.length) {
            const spot = new THREE.Mesh(this.floor.geometry, this.spotMaterial.clone());
            spot.renderOrder = -2;
            this.spots.push(spot);
            this.group.add(spot);
        }
        this.spots.forEach((spot, i) => {
            const shadow = shadows[i];
            spot.visible = shadow !== undefined;
            if (!shadow) return;
            spot.position.set(shadow.x, shadow.y, 0);
            spot.scale.set(4 * shadow.rx, 4 * shadow.ry, 1);
            (spot.material as THREE.ShaderMaterial).uniforms.strength!.value = shadow.strength;
        });
    }

    setTheme(theme: Theme): void {
        this.uniforms.ground.value.set(theme.ground);
        this.uniforms.grid.value.set(theme.grid);
        this.lines.material.color.set(theme.grid);
    }

    setFine(isFine: boolean): void {
        this.floor.visible = this.shadow.visible = isFine;
        this.lines.visible = !isFine;
    }

    private placeLines(centre: THREE.Vector3, cell: number, reach: number): void {
        const positions: number[] = [];
        const colours: number[] = [];
        const count = Math.round(reach / cell);
        const add = (x: number, y: number) => {
            const fade = 1 - Math.hypot(x - centre.x, y - centre.y) / reach;
            positions.push(x, y, 0);
            colours.push(1, 1, 1, 0.5 * Math.max(0, fade) ** 1.5);
        };
        const cx = Math.round(centre.x / cell);
        const cy = Math.round(centre.y / cell);
        // in pieces, so that colours fade along the lines
        for (let i = -count; i <= count; ++i)
            for (let j = -count; j < count; j += 4) {
                add((cx + i) * cell, (cy + j) * cell);
                add((cx + i) * cell, (cy + j + 4) * cell);
                add((cx + j) * cell, (cy + i) * cell);
                add((cx + j + 4) * cell, (cy + i) * cell);
            }
        const { geometry } = this.lines;
        geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
        geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 4));
    }
}

function makeFloorMaterial(uniforms: Record<string, THREE.IUniform>): THREE.ShaderMaterial {
    return new THREE.ShaderMaterial({
        uniforms,
        transparent: true,
        depthWrite: false,
        vertexShader: `varying vec2 place;
            void main() {
                vec4 world = modelMatrix * vec4(position, 1.0);
                place = world.xy;
                gl_Position = projectionMatrix * viewMatrix * world;
            }`,
        fragmentShader: `
            uniform vec2 centre; uniform float reach, cell; uniform vec3 ground, grid;
            varying vec2 place;
            float lines(float spacing) {
                vec2 at = place / spacing;
                vec2 width = fwidth(at);
                vec2 distance = abs(fract(at - 0.5) - 0.5);
                vec2 line = 1.0 - smoothstep(width * 0.5, width * 1.5, distance);
                line *= clamp(0.5 / width - 0.5, 0.0, 1.0); // no moiré far away
                return max(line.x, line.y);
            }
            void main() {
                float fade = 1.0 - smoothstep(0.25, 1.0, length(place - centre) / reach);
                float line = max(0.16 * lines(cell), 0.34 * lines(10.0 * cell));
                gl_FragColor = vec4(mix(ground, grid, line), fade);
                #include <colorspace_fragment>
            }`,
    });
}

function makeSpotMaterial(): THREE.ShaderMaterial {
    return new THREE.ShaderMaterial({
        uniforms: { strength: { value: 1 } },
        transparent: true,
        depthWrite: false,
        vertexShader: `varying vec2 place;
            void main() {
                place = 4.0 * (uv - 0.5);
                gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
            }`,
        fragmentShader: `uniform float strength; varying vec2 place;
            void main() {
                float fall = max(0.0, 1.0 - 0.25 * dot(place, place));
                gl_FragColor = vec4(0.05, 0.07, 0.1, 0.42 * strength * fall * fall * fall * fall);
            }`,
    });
}
