import type { Asset } from "./assets";
import { type BodyInfo, kPoseFloats } from "./protocol";

// The same places as in the vertex shader, on the CPU: for picking, colour scales, tests, and for
// drawing without a GPU.

/// x y z += Σ q_k Ū_k of every `stride`-th vertex, packed; docs/web.md eq. (1).
export function addDisplacements(
    asset: Asset,
    numbers: Float32Array,
    x: Float32Array,
    stride = 1,
): void {
    const { rank, factors, texels } = asset.shapes!;
    for (let k = 0; k < rank; ++k) {
        const q = numbers[kPoseFloats + k]! * factors[k]!;
        if (q === 0) continue;
        for (let i = 0, at = 4 * k * asset.vertices; i < x.length; i += 3, at += 4 * stride) {
            x[i]! += q * texels[at]!;
            x[i + 1]! += q * texels[at + 1]!;
            x[i + 2]! += q * texels[at + 2]!;
        }
    }
}

/// Body axes to the world: numbers begin with position and orientation w x y z.
export function placePoints(numbers: Float32Array, x: Float32Array): void {
    const [px, py, pz, w, i, j, k] = numbers as unknown as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
    ];
    for (let at = 0; at < x.length; at += 3) {
        const vx = x[at]!;
        const vy = x[at + 1]!;
        const vz = x[at + 2]!;
        const tx = 2 * (j * vz - k * vy);
        const ty = 2 * (k * vx - i * vz);
        const tz = 2 * (i * vy - j * vx);
        x[at] = px + vx + w * tx + j * tz - k * ty;
        x[at + 1] = py + vy + w * ty + k * tx - i * tz;
        x[at + 2] = pz + vz + w * tz + i * ty - j * tx;
    }
}

/// x y z of all surface vertices in the world.
export function worldPositions(
    body: BodyInfo,
    asset: Asset,
    numbers: Float32Array,
    x: Float32Array = new Float32Array(3 * asset.vertices),
): Float32Array {
    if (body.encoding === "positions") {
        x.set(numbers);
        return x;
    }
    x.set(asset.positions);
    if (body.encoding === "reduced") addDisplacements(asset, numbers, x);
    placePoints(numbers, x);
    return x;
}

/// Radius around the body's position that holds its deformed surface.
export function reachOf(body: BodyInfo, asset: Asset, numbers: Float32Array): number {
    let reach = asset.radius;
    if (body.encoding === "reduced")
        asset.shapes!.factors.forEach((factor, k) => {
            // a column's texels are at most 32767 along each axis
            reach += Math.abs(numbers[kPoseFloats + k]! * factor) * 32767 * Math.sqrt(3);
        });
    return reach;
}
