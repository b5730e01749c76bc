import { ColourMode } from "./colours";
import { element } from "./dom";
import type { GreensScale } from "./greens_view";
import { quantity } from "./quantity";

/// Names the colours of surfaces.
export class ColourLegend {
    private readonly title = element("b");
    private readonly high = element("span");

    constructor(private readonly root: HTMLElement) {
        const scale = element("div", { class: "scale" }, element("span", {}, "0"), this.high);
        root.append(this.title, element("div", { class: "ramp" }), scale);
    }

    /// Of bodies with Green's functions.
    showGreens({ title, largest }: GreensScale): void {
        this.root.hidden = false;
        this.title.textContent = title;
        this.high.textContent = largest;
    }

    show(mode: ColourMode, scale: number): void {
        this.root.hidden = mode === ColourMode.Body;
        const isStrain = mode === ColourMode.Strain;
        this.title.textContent = isStrain ? "Surface strain" : "Displacement";
        this.high.textContent = isStrain ? `${Math.round(100 * scale)} %` : quantity(scale, "m");
    }
}
