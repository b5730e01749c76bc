import { apiAddress } from "./connection";
import type { Hello } from "./protocol";
import { type RenderSurface, makeRenderSurface } from "./render_surface";
import { simplify } from "./simplify";

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
    drawn: Asset | null; // what is drawn in its place when there are many bodies
    shapes: Shapes | null;
    edges: Uint32Array | null; // of the simulation mesh, fetched when it is shown
}

/// The same with fewer vertices: those that `indices` use.
function withTriangles(asset: Asset, indices: Uint32Array): Asset {
    const used = Uint32Array.from(new Set(indices)).sort();
    const placeOf = new Map([...used].map((vertex, place) => [vertex, place]));
    const positions = new Float32Array(3 * used.length);
    used.forEach((v, i) => positions.set(asset.positions.subarray(3 * v, 3 * v + 3), 3 * i));
    let { shapes } = asset;
    if (shapes) {
        const texels = new Int16Array(4 * shapes.rank * used.length);
        for (let k = 0; k < shapes.rank; ++k)
            used.forEach((v, i) => {
                const from = 4 * (k * asset.vertices + v);
                texels.set(shapes!.texels.subarray(from, from + 4), 4 * (k * used.length + i));
            });
        shapes = { ...shapes, texels };
    }
    const renumbered = indices.map((vertex) => placeOf.get(vertex)!);
    return {
        ...asset,
        vertices: used.length,
        triangles: indices.length / 3,
        positions,
        indices: renumbered,
        surface: makeRenderSurface(positions, renumbered),
        shapes,
    };
}

const kTexelMaximum = 32767;
const kDrawnTriangles = 1_500_000; // of all bodies of an asset that share it

export async function fetchBytes(path: string): Promise<ArrayBuffer> {
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

async function fetchAsset(
    index: number,
    size: number,
    copies: number,
    isReduced: boolean,
): Promise<Asset> {
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
    const asset: Asset = {
        vertices,
        triangles,
        size,
        positions,
        indices,
        radius,
        surface: makeRenderSurface(positions, indices),
        drawn: null,
        shapes,
        edges: null,
    };
    const fewer = simplify(positions, indices, size, kDrawnTriangles / copies);
    if (fewer.length < indices.length) asset.drawn = withTriangles(asset, fewer);
    return asset;
}

export function fetchAssets(hello: Hello): Promise<Asset[]> {
    return Promise.all(
        hello.assets.map((info, index) =>
            fetchAsset(
                index,
                info.size,
                hello.bodies.filter((body) => body.asset === index).length,
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
