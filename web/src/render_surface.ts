import { areaNormal } from "./triangle_edges";

/// A surface as it is drawn: vertices are split where faces meet at a crease, and each knows two
/// neighbours whose motion turns its normal (docs/web.md eq. (2)).
export interface RenderSurface {
    indices: Uint32Array; // of triangles, into the arrays below
    ids: Int32Array; // surface vertex itself and its two neighbours
    normals: Float32Array; // at rest
    edges1: Float32Array; // at rest, to the first neighbour
    edges2: Float32Array;
}

/// Corners of one vertex that are shaded as one.
interface Group {
    normal: number[];
    best: number; // corner that its neighbours come from
    quality: number;
    place: number;
}

const kCreaseCosine = Math.cos((40 * Math.PI) / 180);

/// Area-weighted normals of the triangles (twice the area long).
function faceNormals(x: Float32Array, indices: Uint32Array): Float32Array {
    const normals = new Float32Array(indices.length);
    for (let t = 0; t < indices.length; t += 3) {
        const a = 3 * indices[t]!;
        const b = 3 * indices[t + 1]!;
        const c = 3 * indices[t + 2]!;
        const { nx, ny, nz } = areaNormal(x, a, b, c);
        normals[t] = nx;
        normals[t + 1] = ny;
        normals[t + 2] = nz;
    }
    return normals;
}

function distance(x: Float32Array, a: number, b: number): number {
    return Math.hypot(
        x[3 * a]! - x[3 * b]!,
        x[3 * a + 1]! - x[3 * b + 1]!,
        x[3 * a + 2]! - x[3 * b + 2]!,
    );
}

/// For each vertex the corners (places in `indices`) that use it: corners[start[v] … start[v+1]].
function cornersOfVertices(vertices: number, indices: Uint32Array) {
    const start = new Uint32Array(vertices + 1);
    for (const v of indices) ++start[v + 1]!;
    for (let v = 0; v < vertices; ++v) start[v + 1]! += start[v]!;
    const next = start.slice();
    const corners = new Uint32Array(indices.length);
    indices.forEach((v, corner) => (corners[next[v]!++] = corner));
    return { start, corners };
}

export function makeRenderSurface(x: Float32Array, indices: Uint32Array): RenderSurface {
    const vertices = x.length / 3;
    const faces = faceNormals(x, indices);
    const lengths = new Float32Array(indices.length / 3);
    for (let t = 0; t < lengths.length; ++t)
        lengths[t] = Math.hypot(faces[3 * t]!, faces[3 * t + 1]!, faces[3 * t + 2]!);
    const { start, corners } = cornersOfVertices(vertices, indices);

    const drawn = new Uint32Array(indices.length);
    const ids: number[] = [];
    const normals: number[] = [];
    const edges1: number[] = [];
    const edges2: number[] = [];

    for (let v = 0; v < vertices; ++v) {
        // corners whose faces lie within the crease angle of a group join it
        const groups: Group[] = [];
        for (let i = start[v]!; i < start[v + 1]!; ++i) {
            const corner = corners[i]!;
            const t = Math.floor(corner / 3);
            const n = [faces[3 * t]!, faces[3 * t + 1]!, faces[3 * t + 2]!];
            let group = groups.find(({ normal }) => {
                const dot = normal[0]! * n[0]! + normal[1]! * n[1]! + normal[2]! * n[2]!;
                return dot >= kCreaseCosine * lengths[t]! * Math.hypot(...normal);
            });
            if (!group) {
                const place = ids.length / 3 + groups.length;
                group = { normal: [0, 0, 0], best: corner, quality: -1, place };
                groups.push(group);
            }
            for (let d = 0; d < 3; ++d) group.normal[d]! += n[d]!;
            // its neighbours come from the corner that is nearest to a right angle
            const a = indices[3 * t + ((corner + 1) % 3)]!;
            const b = indices[3 * t + ((corner + 2) % 3)]!;
            const sides = distance(x, v, a) * distance(x, v, b);
            const quality = sides > 0 ? lengths[t]! / sides : 0;
            if (quality > group.quality) {
                group.quality = quality;
                group.best = corner;
            }
            drawn[corner] = group.place;
        }
        for (const { normal, best } of groups) {
            const first = best - (best % 3);
            const a = indices[first + ((best + 1) % 3)]!;
            const b = indices[first + ((best + 2) % 3)]!;
            const length = Math.hypot(...normal) || 1;
            ids.push(v, a, b);
            for (let d = 0; d < 3; ++d) {
                normals.push(normal[d]! / length);
                edges1.push(x[3 * a + d]! - x[3 * v + d]!);
                edges2.push(x[3 * b + d]! - x[3 * v + d]!);
            }
        }
    }
    return {
        indices: drawn,
        ids: Int32Array.from(ids),
        normals: Float32Array.from(normals),
        edges1: Float32Array.from(edges1),
        edges2: Float32Array.from(edges2),
    };
}
