/// The rigid motion x ≈ p + R x₀ that fits a deformed set of points best; warm-started, so that a
/// few iterations per frame follow a turning body. Quaternion x y z w.
export class RigidFit {
    readonly shift = [0, 0, 0];
    readonly turn = [0, 0, 0, 1];
    private readonly restCentre: number[];

    constructor(
        private readonly rest: Float32Array,
        private readonly stride: number,
    ) {
        this.restCentre = centre(rest, stride);
    }

    update(x: Float32Array): void {
        const now = centre(x, this.stride);
        // covariance of present and rest positions: columns a, b, c
        const A = new Float64Array(9);
        for (let i = 0; i < x.length; i += 3 * this.stride)
            for (let column = 0; column < 3; ++column) {
                const r = this.rest[i + column]! - this.restCentre[column]!;
                for (let row = 0; row < 3; ++row)
                    A[3 * column + row]! += (x[i + row]! - now[row]!) * r;
            }
        // turn until the torque Σ r_i × a_i vanishes
        for (let iteration = 0; iteration < 12; ++iteration) {
            const torque = [0, 0, 0];
            let alignment = 0;
            for (let column = 0; column < 3; ++column) {
                const axis = [0, 0, 0];
                axis[column] = 1;
                const r = rotated(this.turn, axis);
                const a = [A[3 * column]!, A[3 * column + 1]!, A[3 * column + 2]!];
                torque[0]! += r[1]! * a[2]! - r[2]! * a[1]!;
                torque[1]! += r[2]! * a[0]! - r[0]! * a[2]!;
                torque[2]! += r[0]! * a[1]! - r[1]! * a[0]!;
                alignment += r[0]! * a[0]! + r[1]! * a[1]! + r[2]! * a[2]!;
            }
            const scale = 1 / (Math.abs(alignment) + 1e-30);
            const step = torque.map((t) => t * scale);
            const angle = Math.hypot(...step);
            if (angle < 1e-7) break;
            this.apply(step, angle);
        }
        const turnedCentre = rotated(this.turn, this.restCentre);
        for (let d = 0; d < 3; ++d) this.shift[d] = now[d]! - turnedCentre[d]!;
    }

    private apply(step: number[], angle: number): void {
        const s = Math.sin(angle / 2) / angle;
        const [ax, ay, az] = step.map((t) => t * s) as [number, number, number];
        const aw = Math.cos(angle / 2);
        const [x, y, z, w] = this.turn as [number, number, number, number];
        const q = [
            aw * x + ax * w + ay * z - az * y,
            aw * y - ax * z + ay * w + az * x,
            aw * z + ax * y - ay * x + az * w,
            aw * w - ax * x - ay * y - az * z,
        ];
        const length = Math.hypot(...q);
        for (let i = 0; i < 4; ++i) this.turn[i] = q[i]! / length;
    }
}

function centre(x: Float32Array, stride: number): number[] {
    const sum = [0, 0, 0];
    let count = 0;
    for (let i = 0; i < x.length; i += 3 * stride, ++count)
        for (let d = 0; d < 3; ++d) sum[d]! += x[i + d]!;
    return sum.map((s) => s / Math.max(count, 1));
}

export function rotated(turn: readonly number[], v: readonly number[]): number[] {
    const [x, y, z, w] = turn as [number, number, number, number];
    const [a, b, c] = v as [number, number, number];
    const tx = 2 * (y * c - z * b);
    const ty = 2 * (z * a - x * c);
    const tz = 2 * (x * b - y * a);
    return [
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    ];
}
