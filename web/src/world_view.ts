import * as THREE from "three";
import { type Asset, fetchEdges } from "./assets";
import { ColourMode, type ColourUniforms } from "./colours";
import { ContactView } from "./contact_view";
import { FieldSlices } from "./field_slices";
import { GreensView } from "./greens_view";
import type { ContactShadow } from "./ground";
import { IsoSurfaces } from "./iso_surfaces";
import { LevelWires } from "./level_wires";
import { ManipulandumView, type ToolPiece } from "./manipulandum_view";
import type { Frame, Hello, HeldPart, MeshNodes, Vec3 } from "./protocol";
import { ProxyView } from "./proxy_view";
import { rotated } from "./rigid_fit";
import { SphereToolView } from "./sphere_tool_view";
import type { Stage } from "./stage";
import { addDisplacements } from "./surface_evaluation";
import { SurfaceGroup } from "./surface_group";
import { currentTheme } from "./theme";

const kScalePoints = 4000; // displacements looked at for the colour scale
const kStrainScale = 0.2;
const kMaxShadows = 16;

/// Everything simulated that is drawn: surfaces, lines of simulation meshes and of levels, points and fields of
/// contacts, the tool in a hand.
export class WorldView {
    readonly colours: ColourUniforms = { colourMode: { value: 0 }, colourScale: { value: 1 } };
    readonly contacts: ContactView;
    readonly slices: FieldSlices;
    readonly isoSurfaces: IsoSurfaces;
    readonly greens: GreensView;
    readonly wires: LevelWires;
    readonly manipulandum: ManipulandumView | null;
    readonly proxy: ProxyView | SphereToolView | null;
    private readonly groups: SurfaceGroup[] = [];
    private readonly meshLines = new Map<number, THREE.LineSegments>();
    private readonly lineMaterial = new THREE.LineBasicMaterial({
        transparent: true,
        opacity: 0.5,
    });
    private showsMesh = false;
    private largestDisplacement = 0;

    constructor(
        private readonly stage: Stage,
        readonly hello: Hello,
        readonly assets: Asset[],
        failed: (error: Error) => void,
    ) {
        this.contacts = new ContactView(stage);
        this.slices = new FieldSlices(stage, hello, failed);
        this.isoSurfaces = new IsoSurfaces(stage, hello, failed);
        this.greens = new GreensView(stage, hello, assets, failed);
        this.wires = new LevelWires(stage, hello, failed);
        const radius = hello.haptics?.proxy_radius ?? 0;
        const spheres = hello.haptics?.spheres ?? [];
        this.proxy =
            radius > 0
                ? new ProxyView(stage, radius)
                : spheres.length > 0
                  ? new SphereToolView(stage, spheres)
                  : null;
        const pieces = radius > 0 ? [] : toolPieces(hello, assets);
        this.manipulandum = pieces.length ? new ManipulandumView(stage, pieces) : null;
        const members = new Map<string, number[]>();
        hello.bodies.forEach((body, index) => {
            const key = body.encoding === "positions" ? `body ${index}` : `asset ${body.asset}`;
            members.set(key, [...(members.get(key) ?? []), index]);
        });
        for (const indices of members.values()) {
            const asset = assets[hello.bodies[indices[0]!]!.asset]!;
            this.groups.push(new SurfaceGroup(stage, asset, indices, hello.bodies, this.colours));
        }
    }

    update(frame: Frame): void {
        for (const group of this.groups) group.update(frame);
        this.slices.update(frame);
        this.isoSurfaces.update(frame);
        this.greens.update(frame);
        this.wires.update(frame);
        if (frame.haptics) this.manipulandum?.update(frame.haptics);
        if (frame.haptics) this.proxy?.update(frame.haptics);
        if (this.colours.colourMode.value === ColourMode.Displacement) this.updateScale(frame);
        this.stage.ground.setShadows(this.contactShadows(frame));
    }

    setColourMode(mode: ColourMode): void {
        this.colours.colourMode.value = mode;
        this.largestDisplacement = 0;
        if (mode === ColourMode.Strain) this.colours.colourScale.value = kStrainScale;
    }

    /// Drawn anew with the next frame.
    redraw(): void {
        for (const group of this.groups) group.dispose();
    }

    setMeshShown(isShown: boolean): void {
        this.showsMesh = isShown;
        for (const lines of this.meshLines.values()) lines.visible = false;
        this.wires.setShown(isShown);
    }

    /// What a proxy looked at; spheres of a tool of many are where the hand is too.
    setProxyShown(isShown: boolean): void {
        this.proxy?.setTrianglesShown(isShown);
        if (this.manipulandum && this.proxy) this.manipulandum.isWanted = !isShown;
    }

    /// Nodes of one body's simulation mesh for the next drawn frame.
    async updateMesh({ body, positions }: MeshNodes): Promise<void> {
        const info = this.hello.bodies[body];
        const asset = info && this.assets[info.asset];
        if (!asset) return;
        asset.edges ??= await fetchEdges(info.asset);
        if (!this.showsMesh) return;
        let lines = this.meshLines.get(body);
        if (!lines) {
            lines = makeLines(asset.edges, positions.length, this.lineMaterial);
            this.meshLines.set(body, lines);
            this.stage.scene.add(lines);
        }
        lines.visible = true;
        this.lineMaterial.color.set(currentTheme().mesh);
        const attribute = lines.geometry.getAttribute("position") as THREE.BufferAttribute;
        attribute.array.set(positions);
        attribute.needsUpdate = true;
    }

    get meshLineCount(): number {
        let count = 0;
        for (const { visible, geometry } of this.meshLines.values())
            if (visible) count += geometry.index!.count / 2;
        return count;
    }

    /// Where one leaves a body that goes from its middle in a direction, if it fills its box
    /// roundly.
    edgeOf(body: number, direction: Vec3, frame: Frame): Vec3 {
        const group = this.groups.find(({ members }) => members.includes(body))!;
        const box = group.boundsOf(frame.bodies[body]!);
        const sizes = box.getSize(new THREE.Vector3()).addScalar(1e-9);
        const ahead = new THREE.Vector3(...direction);
        const length = 0.5 / (ahead.clone().divide(sizes).length() || 1);
        return box.getCenter(sizes).addScaledVector(ahead, length).toArray();
    }

    dispose(): void {
        this.redraw();
        this.contacts.dispose();
        this.slices.dispose();
        this.isoSurfaces.dispose();
        this.greens.dispose();
        this.wires.dispose();
        this.manipulandum?.dispose();
        this.proxy?.dispose();
        for (const lines of this.meshLines.values()) {
            this.stage.scene.remove(lines);
            lines.geometry.dispose();
        }
    }

    /// The colour scale follows the largest displacement up at once and down slowly.
    private updateScale(frame: Frame): void {
        let largest = 0;
        const points = kScalePoints / this.hello.bodies.length;
        for (const group of this.groups)
            for (const member of group.members) {
                const stride = Math.max(1, Math.floor(group.asset.vertices / points));
                largest = Math.max(
                    largest,
                    this.displacement(group, frame.bodies[member]!, stride),
                );
            }
        const smallest = 1e-3 * Math.max(...this.assets.map((asset) => asset.size));
        this.largestDisplacement = Math.max(largest, 0.995 * this.largestDisplacement, smallest);
        this.colours.colourScale.value = this.largestDisplacement;
    }

    private displacement(group: SurfaceGroup, numbers: Float32Array, stride: number): number {
        const { asset, fit } = group;
        let largest = 0;
        if (fit) {
            for (let i = 0; i < numbers.length; i += 3 * stride) {
                const rest = rotated(fit.turn, [...asset.positions.subarray(i, i + 3)]);
                const u = rest.map((r, d) => numbers[i + d]! - fit.shift[d]! - r);
                largest = Math.max(largest, Math.hypot(...u));
            }
        } else if (asset.shapes) {
            const u = new Float32Array(3 * Math.ceil(asset.vertices / stride));
            addDisplacements(asset, numbers, u, stride);
            for (let i = 0; i < u.length; i += 3)
                largest = Math.max(largest, Math.hypot(u[i]!, u[i + 1]!, u[i + 2]!));
        }
        return largest;
    }

    /// A soft dark spot under each body, fainter the higher it is.
    private contactShadows(frame: Frame): ContactShadow[] {
        const { ground_height: height, has_ground: hasGround } = this.hello.scene;
        if (!hasGround) return [];
        const shadows: ContactShadow[] = [];
        for (const group of this.groups) {
            if (group.members.length > kMaxShadows) continue;
            for (const member of group.members) {
                const box = group.boundsOf(frame.bodies[member]!);
                const size = Math.max(group.asset.size, 1e-6);
                const gap = Math.max(0, box.min.z - height) / size;
                const rx = 0.55 * (box.max.x - box.min.x) + 0.3 * gap * size + 0.03 * size;
                const ry = 0.55 * (box.max.y - box.min.y) + 0.3 * gap * size + 0.03 * size;
                const strength = 0.9 / (1 + 12 * gap);
                const x = 0.5 * (box.min.x + box.max.x);
                const y = 0.5 * (box.min.y + box.max.y);
                shadows.push({ x, y, rx, ry, strength });
            }
        }
        return shadows;
    }
}

function makeLines(edges: Uint32Array, floats: number, material: THREE.Material) {
    const geometry = new THREE.BufferGeometry();
    const positions = new THREE.BufferAttribute(new Float32Array(floats), 3);
    positions.setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", positions);
    geometry.setIndex(new THREE.BufferAttribute(edges, 1));
    const lines = new THREE.LineSegments(geometry, material);
    lines.frustumCulled = false;
    return lines;
}

/// The bodies of the tool in a hand, its first one first; none: there is no such tool.
function toolPieces({ haptics, bodies }: Hello, assets: Asset[]): ToolPiece[] {
    if (!haptics) return [];
    const first = { body: haptics.body, position: [0, 0, 0], rotation: [1, 0, 0, 0] } as HeldPart;
    return [first, ...haptics.parts].map((part) => ({
        asset: assets[bodies[part.body]!.asset]!,
        offset: part,
    }));
}
