/// Rows of numbers over time, the first of each is the time; the last `capacity` rows are kept.
export class PlotSeries {
    private readonly rows: Float64Array;
    private written = 0; // rows ever

    constructor(
        private readonly width: number,
        private readonly capacity: number,
    ) {
        this.rows = new Float64Array(width * capacity);
    }

    clear(): void {
        this.written = 0;
    }

    get isEmpty(): boolean {
        return this.written === 0;
    }

    /// Time going back is a reset or a seek: begins anew.
    add(row: ArrayLike<number>): void {
        if (!this.isEmpty && row[0]! < this.end) this.clear();
        this.rows.set(row, this.width * (this.written++ % this.capacity));
    }

    /// Of the newest row; 0 without one.
    last(column: number): number {
        return this.isEmpty ? 0 : this.value(this.written - 1, column);
    }

    get end(): number {
        return this.last(0);
    }

    /// Rows for each second of those that are kept.
    get rate(): number {
        const first = Math.max(0, this.written - this.capacity);
        const rows = this.written - 1 - first;
        return rows > 0 ? rows / (this.end - this.value(first, 0)) : 0;
    }

    /// Smallest and largest value in each of `width` pixel columns that show the last `span` s.
    extremes(column: number, span: number, width: number) {
        const lows = new Float64Array(width).fill(Infinity);
        const highs = new Float64Array(width).fill(-Infinity);
        const { end } = this;
        const pixelsPerSecond = (width - 1) / span;
        for (let row = this.firstRow(end - span); row < this.written; ++row) {
            const time = this.value(row, 0);
            const x = Math.max(0, Math.round(width - 1 - (end - time) * pixelsPerSecond));
            const value = this.value(row, column);
            if (value < lows[x]!) lows[x] = value;
            if (value > highs[x]!) highs[x] = value;
        }
        return { lows, highs };
    }

    private value(row: number, column: number): number {
        return this.rows[this.width * (row % this.capacity) + column]!;
    }

    /// Oldest row kept that is not before `time`.
    private firstRow(time: number): number {
        let low = Math.max(0, this.written - this.capacity);
        let high = this.written;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.value(middle, 0) < time) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}
