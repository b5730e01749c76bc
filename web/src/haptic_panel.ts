import { byId, element } from "./dom";
import { DeviceStatus, type GainNote, type Haptics, type Hello, type Stats } from "./protocol";
import { digits, quantity } from "./quantity";

const kBound = 0.8; // of the bar: where the bound is
const kNear = 0.8; // of the bound
const kStatusTexts: Record<DeviceStatus, string> = {
    [DeviceStatus.Ok]: "",
    [DeviceStatus.Disabled]: "motors off",
    [DeviceStatus.Stale]: "", // between two samples
    [DeviceStatus.Disconnected]: "disconnected",
    [DeviceStatus.Uncalibrated]: "not calibrated",
    [DeviceStatus.NoRotation]: "rotation unknown",
};

/// Buttons with a meaning of their own.
export type DeviceButton = "clutch" | "deadman";
const kButtons: DeviceButton[] = ["clutch", "deadman"];

/// The tool in a hand in words and as a bar: how deep it is of what is allowed, what the hand feels,
/// what keeps it safe now, and why gains are what they are.
export class HapticPanel {
    private readonly root = byId("haptics");
    private readonly bar = byId("depth");
    private readonly gains = element("details", { id: "gains", hidden: true });
    private maxForce = 0;

    /// `press`: the button of the device goes down, or up again.
    constructor(panel: HTMLElement, press: (which: DeviceButton) => void) {
        panel.append(this.gains);
        for (const which of kButtons) byId(which).addEventListener("click", () => press(which));
    }

    showButtons(isDown: (which: DeviceButton) => boolean): void {
        for (const which of kButtons) byId(which).setAttribute("aria-pressed", `${isDown(which)}`);
    }

    showHello({ haptics, bodies, replay }: Hello): void {
        this.root.hidden = haptics === null;
        this.gains.hidden = !haptics?.gains.length;
        if (!haptics) return;
        this.maxForce = haptics.max_force;
        const isOurs = haptics.kind === "simulated" && !replay;
        for (const which of kButtons) byId(which).hidden = haptics[which] < 0 || !isOurs;
        byId("haptics-body").textContent = bodies[haptics.body]?.name ?? "";
        byId("haptics-device").textContent = haptics.device;
        byId("haptics-notice").textContent = "";
        this.gains.replaceChildren(
            element(
                "summary",
                { title: "In units of the scene, as they follow from device, rate and tool" },
                "Coupling at the start",
            ),
            element("dl", { class: "gains" }, ...haptics.gains.flatMap(gainRow)),
        );
    }

    showStats({ haptics }: Stats): void {
        const notice = byId("haptics-notice");
        const text = haptics?.notice ?? "";
        // the same again would be read aloud again
        if (notice.textContent !== text) notice.textContent = text;
    }

    showFrame(haptics: Haptics): void {
        const { depth, maxDepth, worstDepth, violations } = haptics;
        const share = (d: number) => `${100 * Math.min((kBound * d) / (maxDepth || 1), 1)}%`;
        this.bar.style.setProperty("--depth", share(depth));
        this.bar.style.setProperty("--worst", share(worstDepth));
        this.bar.classList.toggle("untouched", worstDepth === 0);
        // tools among many bodies have no bound
        const bound = maxDepth || Infinity;
        this.bar.hidden = maxDepth === 0;
        this.bar.dataset.level =
            depth > bound ? "beyond" : depth > kNear * bound ? "near" : "fine";
        this.bar.setAttribute("aria-valuemax", String(maxDepth));
        this.bar.setAttribute("aria-valuenow", String(depth));
        const of = maxDepth > 0 ? ` of ${quantity(maxDepth, "m")}` : "";
        const deep = `${quantity(depth, "m")}${of}`;
        this.bar.setAttribute("aria-valuetext", deep);
        byId("depth-text").textContent = `${deep} deep · worst ${quantity(worstDepth, "m")}`;
        const beyond = byId("violations");
        beyond.hidden = violations === 0;
        beyond.textContent = violations === 1 ? "1 tick beyond" : `${violations} ticks beyond`;
        const { force, torque } = haptics.device;
        byId("felt-text").textContent = [
            `${quantity(Math.hypot(...force), "N")} of ${quantity(this.maxForce, "N")}`,
            quantity(Math.hypot(...torque), "N m"),
            kStatusTexts[haptics.status],
            backOffText(haptics),
        ]
            .filter((part) => part)
            .join(" · ");
    }
}

function backOffText({ gainScale, stepScale }: Haptics): string {
    const percent = (scale: number) => `${Math.round(100 * scale)} %`;
    const parts = [
        gainScale < 0.995 ? `gains ${percent(gainScale)}` : "",
        stepScale < 0.995 ? `steps ${percent(stepScale)}` : "",
    ];
    return parts.filter((part) => part).join(", ");
}

function gainRow({ name, unit, meaning, reason, value, least, largest }: GainNote): HTMLElement[] {
    const withUnit = (number: number) => `${digits(number)} ${unit === "1" ? "" : unit}`.trim();
    const range = `Safe from ${digits(least)} to ${withUnit(largest)}`;
    const title = `${capitalised(meaning)}. ${range}. Default: ${reason}.`;
    return [
        element("dt", { title }, capitalised(name.replaceAll("_", " "))),
        element("dd", { title }, withUnit(value)),
    ];
}

function capitalised(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1);
}
