import type { Frame, Vec3 } from "./protocol";

const kKept = 4000;

/// From a pointer event to the drawn frame that shows its target.
export class LatencyMeter {
    readonly samples: number[] = []; // ms
    private waiting: { target: Float32Array; time: number }[] = [];

    sent(target: Vec3, eventTime: number): void {
        this.waiting.push({ target: new Float32Array(target), time: eventTime });
        if (this.waiting.length > 200) this.waiting.shift();
    }

    drawn(frame: Frame): void {
        const targets = frame.held.filter((h) => h.body >= 0).map((h) => h.target);
        if (frame.tool) targets.push(frame.tool.target);
        const isShown = (sent: Float32Array) =>
            targets.some((target) => target.every((t, d) => Math.abs(t - sent[d]!) < 1e-6));
        const at = this.waiting.map(({ target }) => isShown(target)).lastIndexOf(true);
        if (at < 0) return;
        this.samples.push(performance.now() - this.waiting[at]!.time);
        if (this.samples.length > kKept) this.samples.shift();
        // earlier targets were overtaken
        this.waiting.splice(0, at + 1);
    }
}
