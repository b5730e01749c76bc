import type { ColourLegend } from "./colour_legend";
import { ColourMode } from "./colours";
import { byId, element } from "./dom";
import { type SliceAxis, kSliceAxes } from "./field_slices";
import { GreensMode, kGreensModes } from "./greens_view";
import { kIsoLevels } from "./iso_surfaces";
import type { Hello } from "./protocol";
import type { QualityChoice } from "./quality";
import { quantity } from "./quantity";
import type { Stage } from "./stage";
import type { WorldView } from "./world_view";

const kQualities: QualityChoice[] = ["auto", "low", "medium", "high"];

export interface ViewSettingsContext {
    view: () => WorldView | null; // of the scene that is shown
    redraw: () => void; // the present frame
    showSparsity: () => void;
}

/// The part of the panel that says what is drawn: colours, fields, Green's functions, quality. It
/// stays as it is from scene to scene.
export class ViewSettings {
    private colourMode: ColourMode = ColourMode.Body;
    private sliceAxis: SliceAxis = "";
    private greensMode: GreensMode = GreensMode.Off;
    private isoLevel = 0; // of the body's size
    private showsIso = false;

    constructor(
        panel: HTMLElement,
        private readonly stage: Stage,
        private readonly legend: ColourLegend,
        private readonly context: ViewSettingsContext,
    ) {
        panel.append(
            element(
                "details",
                { open: true },
                element("summary", {}, "View"),
                choices("colour-choice", "Colour", ["Body", "Displacement", "Strain"], (value) =>
                    this.setColour(value as ColourMode),
                ),
                choices(
                    "slice-choice",
                    "Field slice",
                    ["Off", "Across x", "Across y", "Across z"],
                    (value) => this.showSlice(kSliceAxes[value]!),
                ),
                choices("greens-choice", "Green's functions", kGreensModes, (value) =>
                    this.showGreens(value as GreensMode),
                ),
                element(
                    "button",
                    {
                        id: "sparsity-button",
                        hidden: true,
                        title: "Which wavelet coefficients of the Green's functions are kept",
                        "aria-haspopup": "dialog",
                        onclick: () => context.showSparsity(),
                    },
                    "Sparsity pattern",
                ),
                choices("iso-choice", "Iso-surface", ["Off", "On"], (value) =>
                    this.showIso(value === 1),
                ),
                this.isoSlider(),
                choices("quality-choice", "Quality", ["Automatic", "Low", "Medium", "High"], (value) =>
                    stage.chooseQuality(kQualities[value]!),
                ),
            ),
        );
        const asked = new URLSearchParams(location.search).get("quality") ?? "auto";
        const wanted = kQualities.indexOf(asked as QualityChoice);
        if (wanted <= 0) return;
        byId<HTMLSelectElement>("quality-choice").value = String(wanted);
        stage.chooseQuality(kQualities[wanted]!);
    }

    /// To the view of a scene that begins.
    apply(hello: Hello): void {
        this.context.view()?.setColourMode(this.colourMode);
        this.showSlice(this.sliceAxis);
        this.showIso(this.showsIso);
        this.showGreens(this.greensMode);
        byId("sparsity-button").hidden = !hello.assets.some(({ has_wavelets }) => has_wavelets);
    }

    nextColour(): void {
        this.setColour(((this.colourMode + 1) % 3) as ColourMode);
    }

    toggleIso(): void {
        if (this.context.view()?.isoSurfaces.hasSome) this.showIso(!this.showsIso);
    }

    showLegend(view: WorldView): void {
        const { scale } = view.greens;
        if (scale) this.legend.showGreens(scale);
        else this.legend.show(this.colourMode, view.colours.colourScale.value);
    }

    private setColour(mode: ColourMode): void {
        this.colourMode = mode;
        this.context.view()?.setColourMode(mode);
        this.context.redraw();
        byId<HTMLSelectElement>("colour-choice").value = String(mode);
        if (mode === ColourMode.Body) this.legend.show(mode, 1);
        this.stage.invalidate();
    }

    private showSlice(axis: SliceAxis): void {
        this.sliceAxis = axis;
        const view = this.context.view();
        byId("slice-choice").closest("label")!.hidden = view?.slices.hasSome !== true;
        view?.slices.show(axis);
    }

    private showGreens(mode: GreensMode): void {
        this.greensMode = mode;
        const view = this.context.view();
        const choice = byId<HTMLSelectElement>("greens-choice");
        choice.value = String(mode);
        choice.closest("label")!.hidden = view?.greens.hasSome !== true;
        view?.greens.setMode(mode);
        if (view) this.showLegend(view);
    }

    private showIso(isShown: boolean): void {
        this.showsIso = isShown;
        const hasSome = this.context.view()?.isoSurfaces.hasSome === true;
        const choice = byId<HTMLSelectElement>("iso-choice");
        choice.value = isShown ? "1" : "0";
        choice.closest("label")!.hidden = !hasSome;
        byId("iso-level").parentElement!.hidden = !hasSome || !isShown;
        this.setIsoLevel(this.isoLevel);
    }

    private setIsoLevel(level: number): void {
        this.isoLevel = level;
        const surfaces = this.context.view()?.isoSurfaces;
        surfaces?.show(this.showsIso ? level : null);
        const size = surfaces?.size ?? null;
        const part = `${level > 0 ? "+" : ""}${(100 * level).toFixed(1)} %`;
        const text =
            level === 0
                ? "surface"
                : size === null
                  ? `${part} of size`
                  : `${level > 0 ? "+" : ""}${quantity(level * size, "m")}`;
        byId("iso-level-value").textContent = text.replace("-", "−");
        const slider = byId<HTMLInputElement>("iso-level");
        const { low, high } = kIsoLevels;
        slider.style.setProperty("--share", `${(100 * (level - low)) / (high - low)}%`);
        slider.setAttribute("aria-valuetext", text);
    }

    private isoSlider(): HTMLElement {
        return element(
            "div",
            { class: "parameter", hidden: true },
            element("span", { class: "name" }, "Iso-surface level"),
            element("output", { id: "iso-level-value", for: "iso-level" }),
            element("input", {
                id: "iso-level",
                type: "range",
                "aria-label": "Iso-surface level",
                min: String(kIsoLevels.low),
                max: String(kIsoLevels.high),
                step: String(kIsoLevels.step),
                value: "0",
                title: "Below 0 inside the body, 0 its surface, above 0 around it",
                oninput: (event) =>
                    this.setIsoLevel(Number((event.target as HTMLInputElement).value)),
            }),
        );
    }
}

function choices(
    id: string,
    label: string,
    options: string[],
    chosen: (value: number) => void,
): HTMLElement {
    return element(
        "label",
        { class: "choice" },
        element("span", {}, label),
        element(
            "select",
            {
                id,
                onchange: (event) => chosen(Number((event.target as HTMLSelectElement).value)),
            },
            ...options.map((text, value) => element("option", { value: String(value) }, text)),
        ),
    );
}
