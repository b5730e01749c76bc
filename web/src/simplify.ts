/// Triangles of a coarser surface on the same vertices: those in one cell of a grid become one of
/// them, and what has no area left is dropped. The grid gets coarser until at most `limit` are left.
export function simplify(
    positions: Float32Array,
    indices: Uint32Array,
    size: number,
    limit: number,
): Uint32Array {
    let result = indices;
    for (let cells = 96; result.length > 3 * limit && cells >= 4; cells *= 0.8)
        result = cluster(positions, indices, size / cells);
    return result;
}

function cluster(positions: Float32Array, indices: Uint32Array, cell: number): Uint32Array {
    const first = new Map<string, number>(); // vertex of each cell
    const kept = new Uint32Array(positions.length / 3);
    for (let v = 0; v < kept.length; ++v) {
        const place = [0, 1, 2].map((axis) => Math.floor(positions[3 * v + axis]! / cell));
        const key = place.join();
        const vertex = first.get(key) ?? v;
        if (vertex === v) first.set(key, v);
        kept[v] = vertex;
    }
    const seen = new Set<string>();
    const triangles: number[] = [];
    for (let t = 0; t < indices.length; t += 3) {
        const corners = [kept[indices[t]!]!, kept[indices[t + 1]!]!, kept[indices[t + 2]!]!];
        const [a, b, c] = corners as [number, number, number];
        if (a === b || b === c || c === a) continue;
        const key = [...corners].sort((i, j) => i - j).join();
        if (seen.has(key)) continue;
        seen.add(key);
        triangles.push(a, b, c);
    }
    return Uint32Array.from(triangles);
}
