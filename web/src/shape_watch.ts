import { type Frame, kPoseFloats } from "./protocol";

const kChange = 1e-3; // of the largest coordinate so far, which is worth something new

/// ms between two things that are made from the shape of a body that deforms.
export const kShapeInterval = 500;

/// Whether a body has deformed since something was made from its shape.
export class ShapeWatch {
    private shape: Float32Array = new Float32Array();
    private largest = 0; // coordinate so far

    constructor(
        private readonly body: number,
        readonly deforms: boolean,
    ) {}

    shapeIn(frame: Frame | null): Float32Array {
        const numbers = this.deforms ? frame?.bodies[this.body] : undefined;
        return new Float32Array(numbers?.subarray(kPoseFloats) ?? []);
    }

    hasChanged(frame: Frame | null): boolean {
        const shape = this.shapeIn(frame);
        for (const q of shape) this.largest = Math.max(this.largest, Math.abs(q));
        if (shape.length !== this.shape.length) return true;
        const least = kChange * this.largest;
        return shape.some((q, k) => Math.abs(q - this.shape[k]!) > least);
    }

    /// Something was made from this shape.
    made(shape: Float32Array): void {
        this.shape = shape;
    }
}
