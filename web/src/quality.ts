// How much work a drawn frame may be: begun by what draws, lowered when frames take too long.

export type Quality = "low" | "medium" | "high";
export type QualityChoice = Quality | "auto";

/// Levels and pixels per CSS pixel, best first; the last ones are for software renderers.
const kSteps: { level: Quality; ratio: number }[] = [
    { level: "high", ratio: 2 },
    { level: "medium", ratio: 1.25 },
    { level: "low", ratio: 1 },
    { level: "low", ratio: 0.8 },
    { level: "low", ratio: 0.6 },
];
const kSlowFrame = { high: 34, medium: 34, low: 60 }; // ms between drawn frames
const kPatience = 40; // slow frames before the next step down

/// SwiftShader, llvmpipe and other renderers without a GPU.
export function isSoftwareRenderer(gl: WebGL2RenderingContext): boolean {
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const name = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/// Whether the canvas is to be made with antialiasing: asked before there is a canvas.
export function hasGpu(): boolean {
    const gl = document.createElement("canvas").getContext("webgl2");
    if (!gl) return false;
    const answer = !isSoftwareRenderer(gl);
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return answer;
}

export class QualityControl {
    choice: QualityChoice = "auto";
    private step: number;
    private slowFrames = 0;
    private lastDraw = 0;

    constructor(isSoftware: boolean) {
        this.step = isSoftware ? 2 : 0;
    }

    get level(): Quality {
        return this.chosen.level;
    }

    get pixelRatio(): number {
        return this.chosen.ratio;
    }

    /// After each drawn frame; true: the level is lower from now on.
    drawn(now: number): boolean {
        const gap = now - this.lastDraw;
        this.lastDraw = now;
        // long gaps are pauses of what is shown, not of the renderer
        if (this.choice !== "auto" || this.step === kSteps.length - 1 || gap > 500) return false;
        this.slowFrames = Math.max(0, this.slowFrames + (gap > kSlowFrame[this.level] ? 1 : -1));
        if (this.slowFrames < kPatience) return false;
        this.slowFrames = 0;
        ++this.step;
        return true;
    }

    private get chosen() {
        return kSteps.find(({ level }) => level === this.choice) ?? kSteps[this.step]!;
    }
}
