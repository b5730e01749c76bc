import { element } from "./dom";
import { icon } from "./icons";
import type { ParameterInfo } from "./protocol";
import { digits } from "./quantity";

const kSliderSteps = 1000;

/// Slider, field and reset of one parameter.
class ParameterRow {
    readonly root: HTMLElement;
    private readonly slider: HTMLInputElement;
    private readonly field: HTMLInputElement;
    private readonly resetButton: HTMLButtonElement;
    private readonly steps: number;
    private value: number;

    constructor(
        private readonly info: ParameterInfo,
        private readonly changed: (value: number) => void,
    ) {
        this.value = info.now;
        this.steps = info.integer ? info.high - info.low : kSliderSteps;
        const name = info.unit ? `${info.label} in ${info.unit}` : info.label;
        this.slider = element("input", {
            type: "range",
            min: "0",
            max: String(this.steps),
            "aria-label": name,
            title: info.help,
            oninput: () => this.choose(this.fromSlider(Number(this.slider.value))),
        });
        this.field = element("input", {
            type: "text",
            inputmode: "decimal",
            "aria-label": `${name}, value`,
            onchange: () => this.takeField(),
        });
        this.resetButton = element(
            "button",
            {
                title: `Back to ${digits(info.value)} ${info.unit}`.trim(),
                "aria-label": `Reset ${info.label}`,
                onclick: () => this.choose(info.value),
            },
            icon("reset"),
        );
        this.root = element(
            "div",
            { class: "parameter", title: info.help },
            element("span", { class: "name" }, info.label),
            this.resetButton,
            element("span", { class: "value" }, this.field, element("span", {}, info.unit)),
            this.slider,
        );
        this.show(info.now);
    }

    show(value: number): void {
        this.value = value;
        if (document.activeElement !== this.slider || !this.slider.matches(":active"))
            this.slider.value = String(this.toSlider(value));
        this.slider.setAttribute("aria-valuetext", `${digits(value)} ${this.info.unit}`);
        const share = (100 * this.toSlider(value)) / this.steps;
        this.slider.style.setProperty("--share", `${share}%`);
        if (document.activeElement !== this.field) this.field.value = digits(value);
        const size = Math.max(Math.abs(this.info.value), 1e-12);
        this.resetButton.disabled = Math.abs(value - this.info.value) < 1e-6 * size;
    }

    private choose(value: number): void {
        this.show(value);
        this.changed(value);
    }

    private takeField(): void {
        const typed = Number(this.field.value.replace(",", "."));
        const { low, high } = this.info;
        if (this.field.value.trim() !== "" && Number.isFinite(typed))
            this.choose(this.whole(Math.min(Math.max(typed, low), high)));
        this.field.value = digits(this.value);
    }

    private toSlider(value: number): number {
        const { low, high, logarithmic } = this.info;
        const share = logarithmic
            ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
            : (value - low) / (high - low);
        return Math.round(this.steps * Math.min(Math.max(share, 0), 1));
    }

    private fromSlider(place: number): number {
        const { low, high, logarithmic } = this.info;
        const share = place / this.steps;
        const value = logarithmic ? low * (high / low) ** share : low + (high - low) * share;
        return this.whole(Number(value.toPrecision(4)));
    }

    private whole(value: number): number {
        return this.info.integer ? Math.round(value) : value;
    }
}

/// Sliders for everything that may change while the scene runs, grouped by body.
export class ParameterPanel {
    private readonly rows = new Map<string, ParameterRow>();
    private readonly groups = element("div");
    private readonly pending = new Map<string, number>();

    constructor(
        panel: HTMLElement,
        private readonly set: (parameter: string, value: number) => void,
    ) {
        panel.append(this.groups);
    }

    setParameters(parameters: ParameterInfo[]): void {
        this.rows.clear();
        this.pending.clear();
        const groups = new Map<string, HTMLElement>();
        for (const info of parameters) {
            const dot = info.name.lastIndexOf(".");
            const owner = dot < 0 ? "World" : info.name.slice(0, dot);
            let group = groups.get(owner);
            if (!group) {
                group = element("details", { open: true }, element("summary", {}, owner));
                groups.set(owner, group);
            }
            const row = new ParameterRow(info, (value) => this.pending.set(info.name, value));
            this.rows.set(info.name, row);
            group.append(row.root);
        }
        this.groups.replaceChildren(...groups.values());
    }

    /// Somebody changed it.
    show(name: string, value: number): void {
        if (!this.pending.has(name)) this.rows.get(name)?.show(value);
    }

    /// Once per animation frame.
    flush(): void {
        for (const [name, value] of this.pending) this.set(name, value);
        this.pending.clear();
    }

    setEnabled(isEnabled: boolean): void {
        for (const control of this.groups.querySelectorAll<HTMLInputElement>("input"))
            control.disabled = !isEnabled;
    }
}
