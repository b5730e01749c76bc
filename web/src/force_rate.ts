import { type Samples, kSampleNumbers } from "./protocol";

const kWindow = 0.004; // s: a step of an encoder is no contact
const kQuiet = 3; // of the largest force a second: not heard
const kLoud = 200; // as loud as it gets
const kForce = 8; // place of the force in a sample

/// How fast the force in the hand changes, as something to hear or to shake with.
export class ForceRate {
    private last: { time: number; force: number[] } | null = null;

    /// 0 … 1 for the fastest change within new ticks, on a logarithmic scale: what one feels from
    /// a stroke to a hard knock. `maxForce` is the device's [N].
    levelOf({ numbers, count }: Samples, maxForce: number): number {
        let fastest = 0;
        for (let i = 0; i < count; ++i) {
            const sample = numbers.subarray(kSampleNumbers * i, kSampleNumbers * (i + 1));
            const time = sample[1]!;
            const elapsed = time - (this.last?.time ?? Infinity);
            if (elapsed >= 0 && elapsed < 0.999 * kWindow) continue;
            const force = [...sample.subarray(kForce, kForce + 3)];
            // after a pause, a reset or lost samples there is nothing to compare with
            if (this.last && elapsed > 0 && elapsed < 4 * kWindow) {
                const change = Math.hypot(...force.map((f, d) => f - this.last!.force[d]!));
                fastest = Math.max(fastest, change / elapsed);
            }
            this.last = { time, force };
        }
        const level = Math.log(fastest / (kQuiet * maxForce)) / Math.log(kLoud / kQuiet);
        return Math.min(Math.max(level, 0), 1);
    }
}
