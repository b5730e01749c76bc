import { element } from "./dom";
import { PlotSeries } from "./plot_series";
import { type Samples, type Stats, kSampleDetails, kSampleNumbers } from "./protocol";
import { quantity } from "./quantity";

const kSpan = 10; // s
const kRedraw = 1000 / 15; // ms
const kMaxRows = 20000;
const kFlat = 1e-9; // in the unit: below that everything is a constant

/// Numbers kept of a tick: time, |force|, hand xyz, point xyz, energy, work.
const kRow = 10;
const Row = { Force: 1, Hand: 2, Point: 5, Energy: 8, Work: 9 } as const;
/// Of a tick with a tool in a hand: time, |force| at the device, energies of its port.
const kHapticRow = 4;
const HapticRow = { Force: 1, Port: 2, Stored: 3 } as const;

interface Curve {
    row: number;
    colour: string; // a variable of style.css
    isThin?: boolean;
}

interface Plot {
    title: string;
    unit: string;
    factor: number; // to the unit
    curves: Curve[];
    isFromZero: boolean;
    isHaptic?: boolean; // of ticks with a tool in a hand
}

const kPlots: Plot[] = [
    {
        title: "Force",
        unit: "N",
        factor: 1,
        curves: [{ row: Row.Force, colour: "--curve-force" }],
        isFromZero: true,
    },
    {
        title: "Position",
        unit: "m",
        factor: 1,
        curves: [0, 1, 2].flatMap((d) => [
            { row: Row.Hand + d, colour: `--curve-${"xyz"[d]}`, isThin: true },
            { row: Row.Point + d, colour: `--curve-${"xyz"[d]}` },
        ]),
        isFromZero: false,
    },
    {
        title: "Energy",
        unit: "J",
        factor: 1,
        curves: [{ row: Row.Energy, colour: "--curve-energy" }],
        isFromZero: true,
    },
    {
        title: "Tick",
        unit: "s",
        factor: 1e-6,
        curves: [{ row: Row.Work, colour: "--curve-work" }],
        isFromZero: true,
    },
    {
        title: "Device force",
        unit: "N",
        factor: 1,
        curves: [{ row: HapticRow.Force, colour: "--curve-force" }],
        isFromZero: true,
        isHaptic: true,
    },
    {
        title: "Port energy",
        unit: "J",
        factor: 1,
        curves: [
            { row: HapticRow.Stored, colour: "--curve-energy", isThin: true },
            { row: HapticRow.Port, colour: "--curve-energy" },
        ],
        isFromZero: false,
        isHaptic: true,
    },
];

const kPortHelp =
    "Energy that went through the device's port into the scene; faint: held by the springs of the " +
    "coupling. The port is passive while the first does not fall below the second. No account is " +
    "kept while safety changes the force: after a start, with warm motors, with feedback off.";

/// The last ten seconds of one loop, and of the tool in a hand.
export class Plots {
    private readonly ticks = new PlotSeries(kRow, kMaxRows);
    private readonly felt = new PlotSeries(kHapticRow, kMaxRows);
    private readonly figures: HTMLElement[];
    private readonly canvases: HTMLCanvasElement[];
    private readonly captions: HTMLElement[];
    private readonly row = new Float64Array(kRow);
    private loop = 0;
    private percentiles = "";
    private lastDraw = 0;

    constructor(private readonly strip: HTMLElement) {
        this.captions = kPlots.map(() => element("output", { "aria-live": "off" }));
        this.canvases = kPlots.map((plot) =>
            element("canvas", { role: "img", "aria-label": `${plot.title} of the last 10 s` }),
        );
        this.figures = kPlots.map((plot, i) => {
            const caption = element("figcaption", {}, element("b", {}, plot.title));
            if (plot.title === "Position") caption.append(legend());
            if (plot.title === "Port energy") caption.title = kPortHelp;
            caption.append(this.captions[i]!);
            return element("figure", {}, caption, this.canvases[i]!);
        });
        strip.append(...this.figures);
        this.showHaptics(false);
    }

    /// Plots of a tool in a hand, where there is one.
    showHaptics(isShown: boolean): void {
        this.strip.classList.toggle("haptic", isShown);
        kPlots.forEach(
            ({ isHaptic }, i) => (this.figures[i]!.hidden = isHaptic === true && !isShown),
        );
        this.felt.clear();
    }

    /// Begins anew with samples of this loop.
    setLoop(loop: number): void {
        this.loop = loop;
        this.ticks.clear();
    }

    /// Ticks of the tool in a hand that are shown, for each second of them.
    get feltRate(): number {
        return this.felt.rate;
    }

    add(samples: Samples): void {
        for (let i = 0; i < samples.count; ++i) {
            const s = samples.numbers.subarray(kSampleNumbers * i, kSampleNumbers * (i + 1));
            const details = samples.details.subarray(kSampleDetails * i, kSampleDetails * (i + 1));
            this.addFelt(s[1]!, details);
            if (samples.loop !== this.loop) continue;
            this.row[0] = s[1]!;
            this.row[Row.Force] = Math.hypot(s[8]!, s[9]!, s[10]!);
            this.row.set(s.subarray(2, 8), Row.Hand);
            this.row[Row.Energy] = s[11]!;
            this.row[Row.Work] = details[0]!;
            this.ticks.add(this.row);
        }
    }

    private addFelt(time: number, [, , force, port, stored]: ArrayLike<number> & Iterable<number>) {
        if (force! < 0) return; // not in this loop
        // no account is kept while safety changes the force
        const account = port === 0 && stored! > 0 ? NaN : port!;
        this.felt.add([time, force!, account, stored!]);
    }

    showStats(stats: Stats): void {
        const work = stats.loops[this.loop]?.work;
        if (!work) return;
        const [p50, p999] = [work.p50, work.p999].map((t) => quantity(1e-6 * t, "s"));
        this.percentiles = `p50 ${p50} · p99.9 ${p999}`;
    }

    draw(now: number): void {
        if (this.strip.clientHeight === 0 || now - this.lastDraw < kRedraw) return;
        this.lastDraw = now;
        kPlots.forEach((plot, i) => {
            if (this.figures[i]!.hidden) return;
            this.drawPlot(plot, this.canvases[i]!);
            const last = plot.curves.find((curve) => !curve.isThin)!;
            const value = this.seriesOf(plot).last(last.row);
            const text = Number.isNaN(value) ? "—" : quantity(value * plot.factor, plot.unit);
            if (plot.title === "Tick") this.captions[i]!.textContent = this.percentiles;
            else if (plot.title !== "Position") this.captions[i]!.textContent = text;
        });
    }

    private seriesOf(plot: Plot): PlotSeries {
        return plot.isHaptic ? this.felt : this.ticks;
    }

    private drawPlot(plot: Plot, canvas: HTMLCanvasElement): void {
        const ratio = Math.min(devicePixelRatio, 2);
        const width = Math.round(canvas.clientWidth * ratio);
        const height = Math.round(canvas.clientHeight * ratio);
        if (width === 0 || height === 0) return;
        if (canvas.width !== width || canvas.height !== height) {
            canvas.width = width;
            canvas.height = height;
        }
        const context = canvas.getContext("2d")!;
        context.clearRect(0, 0, width, height);
        const style = getComputedStyle(canvas);
        const series = this.seriesOf(plot);
        const columns = plot.curves.map((curve) => series.extremes(curve.row, kSpan, width));
        let low = plot.isFromZero ? 0 : Infinity;
        let high = -Infinity;
        for (const { lows, highs } of columns)
            for (let x = 0; x < width; ++x) {
                low = Math.min(low, lows[x]!);
                high = Math.max(high, highs[x]!);
            }
        if (!(high - low > kFlat / plot.factor)) {
            // nothing, or a constant
            low = Number.isFinite(low) ? low : 0;
            high = low + 1;
        }
        const margin = 0.08 * (high - low);
        if (!plot.isFromZero) low -= margin;
        high += margin;
        const y = (value: number) => height - 1 - ((value - low) / (high - low)) * (height - 2);

        const step = niceStep((high - low) / 3);
        const marks: number[] = [];
        for (let value = Math.ceil(low / step) * step; value <= high; value += step)
            marks.push(Math.abs(value) < step / 2 ? 0 : value);
        context.strokeStyle = style.getPropertyValue("--line");
        context.lineWidth = 1;
        for (const mark of marks) drawLine(context, Math.round(y(mark)) + 0.5);
        plot.curves.forEach((curve, i) => {
            context.strokeStyle = style.getPropertyValue(curve.colour);
            context.globalAlpha = curve.isThin ? 0.4 : 1;
            context.lineWidth = (curve.isThin ? 1 : 1.4) * ratio;
            context.beginPath();
            let isOpen = false;
            for (let x = 0; x < width; ++x) {
                const { lows, highs } = columns[i]!;
                if (lows[x]! > highs[x]!) continue;
                if (isOpen) context.lineTo(x, y(highs[x]!));
                else context.moveTo(x, y(highs[x]!));
                if (lows[x]! < highs[x]!) context.lineTo(x, y(lows[x]!));
                isOpen = true;
            }
            context.stroke();
        });
        context.globalAlpha = 1;
        // labels over the curves, each with a halo
        context.font = `${10 * ratio}px ${style.fontFamily}`;
        context.fillStyle = style.getPropertyValue("--text-faint");
        context.strokeStyle = style.getPropertyValue("--surface");
        context.lineWidth = 3 * ratio;
        for (const mark of marks) {
            const text = quantity(mark * plot.factor, plot.unit);
            const at: [number, number] = [3 * ratio, Math.round(y(mark)) - 3 * ratio];
            if (at[1] < 9 * ratio) continue;
            context.strokeText(text, ...at);
            context.fillText(text, ...at);
        }
    }
}

function drawLine(context: CanvasRenderingContext2D, y: number): void {
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(context.canvas.width, y);
    context.stroke();
}

/// 1, 2 or 5 times a power of ten, not below `size`.
function niceStep(size: number): number {
    const power = 10 ** Math.floor(Math.log10(size));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= size)!;
}

function legend(): HTMLElement {
    const axes = ["x", "y", "z"].map((axis) =>
        element("i", { style: `color: var(--curve-${axis})` }, axis),
    );
    return element(
        "span",
        { class: "legend" },
        ...axes,
        " point · ",
        element("small", {}, "faint: hand"),
    );
}
