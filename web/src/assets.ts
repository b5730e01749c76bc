import { apiAddress } from "./connection";
import type { Hello } from "./protocol";
import { type RenderSurface, makeRenderSurface } from "./render_surface";

/// Columns of a basis as they arrive: 16-bit texels x y z 0 of column 0, then of column 1 …
export interface Shapes {
    rank: number;
    factors: Float32Array; // displacement [m] = factor × value
    texels: Int16Array;
}

/// What bodies with the same model share.
export interface Asset {
    vertices: number;
    triangles: number;
    size: number; // longest side at rest [m]
    positions: Float32Array; // at rest, body axes
    indices: Uint32Array;
    radius: number; // of the rest surface around the body's origin
    surface: RenderSurface;
    shapes: Shapes | null;
    edges: Uint32Array | null; // of the simulation mesh, fetched when it is shown
}

const kTexelMaximum = 32767;

async function fetchBytes(path: string): Promise<ArrayBuffer> {
    const reply = await fetch(apiAddress(path));
    if (!reply.ok) throw new Error(`${path}: the server answers ${reply.status}`);
    return reply.arrayBuffer();
}

async function fetchShapes(index: number): Promise<Shapes> {
    const bytes = await fetchBytes(`asset/${index}/shapes`);
    const [vertices, rank] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
    const factors = new Float32Array(bytes, 8, rank).map((factor) => factor / kTexelMaximum);
    return { rank, factors, texels: new Int16Array(bytes, 8 + 4 * rank, 4 * rank * vertices) };
}

async function fetchAsset(index: number, size: number, isReduced: boolean): Promise<Asset> {
    const [bytes, shapes] = await Promise.all([
        fetchBytes(`asset/${index}/surface`),
        isReduced ? fetchShapes(index) : null,
    ]);
    const [vertices, triangles] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
    const positions = new Float32Array(bytes, 8, 3 * vertices);
    const indices = new Uint32Array(bytes, 8 + 12 * vertices, 3 * triangles);
    let radius = 0;
    for (let v = 0; v < 3 * vertices; v += 3)
        radius = Math.max(radius, Math.hypot(positions[v]!, positions[v + 1]!, positions[v + 2]!));
    return {
        vertices,
        triangles,
        size,
        positions,
        indices,
        radius,
        surface: makeRenderSurface(positions, indices),
        shapes,
        edges: null,
    };
}

export function fetchAssets(hello: Hello): Promise<Asset[]> {
    return Promise.all(
        hello.assets.map((info, index) =>
            fetchAsset(
                index,
                info.size,
                hello.bodies.some((body) => body.asset === index && body.encoding === "reduced"),
            ),
        ),
    );
}

/// Pairs of nodes of the simulation mesh.
export async function fetchEdges(index: number): Promise<Uint32Array> {
    const bytes = await fetchBytes(`asset/${index}/mesh`);
    return new Uint32Array(bytes, 8, 2 * new Uint32Array(bytes, 4, 1)[0]!);
}
