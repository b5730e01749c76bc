/// Edges u = b − a and v = c − a of a triangle whose corners begin at places a, b, c of x.
export function edgesOf(x: Float32Array, a: number, b: number, c: number) {
    return {
        ux: x[b]! - x[a]!,
        uy: x[b + 1]! - x[a + 1]!,
        uz: x[b + 2]! - x[a + 2]!,
        vx: x[c]! - x[a]!,
        vy: x[c + 1]! - x[a + 1]!,
        vz: x[c + 2]! - x[a + 2]!,
    };
}

/// Its normal u × v, twice the area long.
export function areaNormal(x: Float32Array, a: number, b: number, c: number) {
    const { ux, uy, uz, vx, vy, vz } = edgesOf(x, a, b, c);
    return { nx: uy * vz - uz * vy, ny: uz * vx - ux * vz, nz: ux * vy - uy * vx };
}
