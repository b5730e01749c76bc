import type { Asset } from "./assets";
import type { Frame, Haptics, Hello, RestSphere, ToolSkin } from "./protocol";
import { rotated } from "./rigid_fit";
import { placePoints } from "./surface_evaluation";

const kSpheresOfVertex = 4;

/// The surface of a tool that bends, carried along by the spheres nearest to each vertex,
/// docs/particles.md eq. (8).
class SphereSkin implements ToolSkin {
    private readonly spheres: Uint16Array; // of each vertex
    private readonly weights: Float32Array;
    private readonly each: number;

    constructor(
        private readonly asset: Asset,
        private readonly rest: RestSphere[],
    ) {
        this.each = Math.min(kSpheresOfVertex, rest.length);
        this.spheres = new Uint16Array(this.each * asset.vertices);
        this.weights = new Float32Array(this.spheres.length);
        for (let v = 0; v < asset.vertices; ++v) {
            const [x, y, z] = asset.positions.subarray(3 * v, 3 * v + 3);
            const near = rest
                .map(({ position: p }, i) => {
                    const square = (x! - p[0]) ** 2 + (y! - p[1]) ** 2 + (z! - p[2]) ** 2;
                    return { i, share: 1 / Math.max(square, 1e-20) };
                })
                .sort((a, b) => b.share - a.share);
            // nothing jumps where another sphere takes the last place
            const least = near[this.each]?.share ?? 0;
            const shares = near.slice(0, this.each).map(({ share }) => share - 0.999 * least);
            const sum = shares.reduce((a, b) => a + b);
            shares.forEach((share, k) => {
                this.spheres[this.each * v + k] = near[k]!.i;
                this.weights[this.each * v + k] = share / sum;
            });
        }
    }

    positions(pose: Float32Array, haptics: Haptics | null): Float32Array {
        const x = new Float32Array(this.asset.positions);
        const spheres = haptics?.proxy?.spheres ?? [];
        // what nothing touches is as it was made
        if (spheres.length < this.rest.length || !spheres.some(({ isTouching }) => isTouching)) {
            placePoints(pose, x);
            return x;
        }
        const turns = spheres.map(({ rotation: [w, i, j, k] }) => [i, j, k, w]);
        for (let v = 0; v < this.asset.vertices; ++v) {
            const at = 3 * v;
            const [rx, ry, rz] = [x[at]!, x[at + 1]!, x[at + 2]!];
            x[at] = x[at + 1] = x[at + 2] = 0;
            for (let k = this.each * v; k < this.each * (v + 1); ++k) {
                const s = this.spheres[k]!;
                const o = this.rest[s]!.position;
                const arm = rotated(turns[s]!, [rx - o[0], ry - o[1], rz - o[2]]);
                const p = spheres[s]!.position;
                for (let d = 0; d < 3; ++d) x[at + d]! += this.weights[k]! * (p[d]! + arm[d]!);
            }
        }
        return x;
    }
}

/// From now on the tool that bends, if there is one, is a body of positions, in `frame` too.
export function bendTool(hello: Hello, assets: Asset[], frame: Frame | null): void {
    const { haptics } = hello;
    const body = haptics?.bends ? hello.bodies[haptics.body] : undefined;
    if (!haptics || !body || haptics.spheres.length === 0) return;
    body.skin = new SphereSkin(assets[body.asset]!, haptics.spheres);
    body.encoding = "positions";
    if (!frame) return;
    frame.bodies[haptics.body] = body.skin.positions(frame.bodies[haptics.body]!, frame.haptics);
}
