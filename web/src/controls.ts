import type { ConnectionState } from "./connection";
import { byId, element } from "./dom";
import { setIcon } from "./icons";
import { seconds } from "./quantity";
import type { Hello, Stats } from "./protocol";
import type { HandMode } from "./hand";

/// What the buttons do; also reached by keys.
export interface Actions {
    togglePause(): void;
    step(): void;
    reset(): void;
    setSpeed(speed: number): void;
    setMode(mode: HandMode): void;
    nextColour(): void;
    toggleMesh(): void;
    nextContacts(): void;
    toggleIso(): void;
    toggleSound(): void;
    frameView(): void;
    screenshot(): void;
    toggleRecording(): void;
    toggleSketch(): void;
    cancelSketch(): void;
    seek(time: number): void;
    steer(): void;
    showScenes(): void;
    showRecordings(): void;
    showHelp(): void;
}

const kModes: HandMode[] = ["pull", "poke", "tool"];

/// Buttons and sliders of the bar, the replay controls and the drawers.
export class Controls {
    private readonly speed = byId<HTMLInputElement>("speed");
    private readonly seek = byId<HTMLInputElement>("seek");
    private isSeeking = false;

    constructor(private readonly actions: Actions) {
        const clicks: Record<string, () => void> = {
            pause: actions.togglePause,
            step: actions.step,
            reset: actions.reset,
            colour: actions.nextColour,
            mesh: actions.toggleMesh,
            contacts: actions.nextContacts,
            sound: actions.toggleSound,
            "frame-view": actions.frameView,
            screenshot: actions.screenshot,
            record: actions.toggleRecording,
            sketch: actions.toggleSketch,
            "sketch-finish": actions.toggleSketch,
            "sketch-cancel": actions.cancelSketch,
            "replay-play": actions.togglePause,
            "scenes-button": actions.showScenes,
            "recordings-button": actions.showRecordings,
            "help-button": actions.showHelp,
        };
        for (const [id, action] of Object.entries(clicks))
            byId(id).addEventListener("click", action);
        for (const mode of kModes)
            byId(`mode-${mode}`).addEventListener("click", () => actions.setMode(mode));
        this.speed.addEventListener("input", () => {
            const speed = Number((10 ** Number(this.speed.value)).toPrecision(2));
            this.showSpeed(speed);
            actions.setSpeed(speed);
        });
        this.seek.addEventListener("input", () => {
            this.isSeeking = true;
            actions.seek(Number(this.seek.value));
        });
        this.seek.addEventListener("change", () => (this.isSeeking = false));
        // a button that was clicked gives the keys back, so that space pauses
        document.addEventListener("click", (event) => {
            if (event.detail > 0) (event.target as Element).closest("button")?.blur();
        });
        this.addDrawer("panel");
        this.addDrawer("plots");
    }

    showHello(hello: Hello): void {
        byId("scene-name").textContent = hello.scene.name;
        document.title = `${hello.scene.name} · Pliant`;
        byId("mode-tool").hidden = !hello.has_tool && hello.haptics?.kind !== "simulated";
        byId("sound").hidden = hello.haptics === null;
        byId("replay").hidden = hello.replay === null;
        byId("record").hidden = hello.replay !== null;
        byId("sketch").hidden = hello.sketch === null;
        const isProxy = hello.haptics?.proxy_radius || hello.haptics?.spheres.length;
        byId("contacts").hidden = hello.contacts.length === 0 && !isProxy;
        byId<HTMLButtonElement>("mesh").disabled = !hello.assets.some(
            ({ has_mesh, levels }) => has_mesh || levels > 0,
        );
        byId<HTMLButtonElement>("scenes-button").disabled = hello.scenes.length === 0;
        if (hello.replay) this.seek.max = String(hello.replay.duration);
    }

    showStats(stats: Stats): void {
        for (const id of ["pause", "replay-play"]) {
            const button = byId(id);
            setIcon(button, stats.paused ? "play" : "pause");
            button.setAttribute("aria-label", stats.paused ? "Run" : "Pause");
        }
        byId<HTMLButtonElement>("step").disabled = !stats.paused || !stats.steers;
        for (const id of ["pause", "reset", "record", "replay-play"])
            byId<HTMLButtonElement>(id).disabled = !stats.steers;
        this.speed.disabled = this.seek.disabled = !stats.steers;
        if (!this.speed.matches(":active, :focus")) {
            this.speed.value = String(Math.log10(stats.speed));
            this.showSpeed(stats.speed);
        }
        const record = byId("record");
        record.setAttribute("aria-pressed", String(stats.recording !== null));
        record.setAttribute("aria-label", stats.recording ? "Stop recording" : "Record");
        this.showSketch(stats);
        if (stats.replay_time !== null && !this.isSeeking) {
            this.seek.value = String(stats.replay_time);
            const duration = Number(this.seek.max);
            const text = `${seconds(stats.replay_time)} / ${seconds(duration)}`;
            byId("replay-time").textContent = text;
            this.seek.setAttribute("aria-valuetext", text);
            this.seek.style.setProperty("--share", `${(100 * stats.replay_time) / duration}%`);
        }
        this.showSteering(stats);
    }

    /// Red dot and number of loads while a sketch is drawn or built.
    private showSketch({ sketch, steers }: Stats): void {
        const button = byId<HTMLButtonElement>("sketch");
        button.disabled = !steers || sketch?.building === true;
        button.setAttribute("aria-pressed", String(sketch !== null));
        button.setAttribute("aria-label", sketch ? "Finish the sketch" : "Sketch");
        byId("sketch-bar").hidden = sketch === null;
        if (sketch) byId("sketch-loads").textContent = String(sketch.loads);
        byId<HTMLButtonElement>("sketch-finish").disabled = button.disabled;
        byId<HTMLButtonElement>("sketch-cancel").disabled = !steers;
    }

    showMode(mode: HandMode): void {
        for (const each of kModes)
            byId(`mode-${each}`).setAttribute("aria-pressed", String(each === mode));
    }

    showPressed(id: string, isPressed: boolean): void {
        byId(id).setAttribute("aria-pressed", String(isPressed));
    }

    private showSpeed(speed: number): void {
        byId("speed-value").textContent = `${Number(speed.toPrecision(2))}×`;
        const share = (100 * (Math.log10(speed) + 2)) / 2;
        this.speed.style.setProperty("--share", `${share}%`);
        this.speed.setAttribute("aria-valuetext", `${speed} times real time`);
    }

    /// What a person has to do when this page asks no more.
    showState(state: ConnectionState): void {
        if (state === "ended")
            this.showBanner(
                state,
                "The program has ended. Reload when it runs again. ",
                element("button", { onclick: () => location.reload() }, "Reload"),
            );
        if (state === "refused")
            this.showBanner(
                state,
                "The program does not know this address: open the one that it printed. ",
            );
    }

    /// Who steers, where that is not simply this page.
    private showSteering({ steers, asked }: Stats): void {
        if (steers && !asked) return this.showBanner("none");
        const button = (text: string) =>
            element("button", { onclick: () => this.actions.steer() }, text);
        if (!steers)
            this.showBanner("watch", "Watching: another page steers. ", button("Ask to steer"));
        else this.showBanner("asked", "Another page asks to steer. ", button("Hand over"));
    }

    /// Not made anew while it is of the same kind: a button may be under the pointer.
    private showBanner(kind: string, ...content: (Node | string)[]): void {
        const banner = byId("banner");
        if (banner.dataset.kind === kind) return;
        banner.dataset.kind = kind;
        banner.hidden = content.length === 0;
        banner.replaceChildren(...content);
    }

    /// Panel and plots can be put away; on narrow windows they start so and are open one at a time.
    private addDrawer(id: string): void {
        const button = byId(`${id}-button`);
        const isNarrow = matchMedia("(max-width: 760px)");
        const show = (isShown: boolean) => {
            document.body.classList.toggle(`no-${id}`, !isShown);
            button.setAttribute("aria-pressed", String(isShown));
            if (isShown && isNarrow.matches) {
                const other = id === "panel" ? "plots" : "panel";
                document.body.classList.add(`no-${other}`);
                byId(`${other}-button`).setAttribute("aria-pressed", "false");
            }
        };
        button.addEventListener("click", () =>
            show(button.getAttribute("aria-pressed") !== "true"),
        );
        isNarrow.addEventListener("change", () => show(!isNarrow.matches));
        show(!isNarrow.matches);
    }
}
