import type { Ray } from "three";
import { type Asset, fetchAssets } from "./assets";
import { bendTool } from "./bending_tool";
import { ColourLegend } from "./colour_legend";
import { Connection, type ConnectionState } from "./connection";
import { ContactSound } from "./contact_sound";
import { ContactMode } from "./contact_view";
import { type Actions, Controls } from "./controls";
import { askForRank, showRecordings, showScenes } from "./dialogs";
import { byId, download } from "./dom";
import { ForceRate } from "./force_rate";
import { ForceView } from "./force_view";
import { GamepadInput } from "./gamepad_input";
import { Hand, type HandMode } from "./hand";
import { HapticPanel } from "./haptic_panel";
import { KeyboardInput } from "./keyboard_input";
import { LatencyMeter } from "./latency";
import { Notices } from "./notices";
import { ParameterPanel } from "./parameter_panel";
import { type Pick, pick } from "./picking";
import { Plots } from "./plots";
import { PointerInput } from "./pointer_input";
import {
    type Frame,
    type HapticInfo,
    type Hello,
    type PageMessage,
    type ParameterInfo,
    type Samples,
    type ServerMessage,
    type Stats,
    type Vec3,
    parseContactMarks,
    parseFrame,
    parseMeshNodes,
    parseProxyTriangles,
    parseSamples,
} from "./protocol";
import { ProxyView } from "./proxy_view";
import { showSparsity } from "./sparsity";
import { SphereToolView } from "./sphere_tool_view";
import { Stage } from "./stage";
import { StatusLine } from "./status_line";
import { worldPositions } from "./surface_evaluation";
import { ToolGizmo } from "./tool_gizmo";
import { ToolHand } from "./tool_hand";
import { ViewSettings } from "./view_settings";
import { WorldView } from "./world_view";

const kShownWarnings = 3; // of a scene; what is beyond stands in the terminal
const kSmallFrame = 1 << 16; // bytes: not worth waiting until the one before is drawn

/// The page: connects what arrives with what is drawn, and what people do with what is sent.
export class App {
    readonly latency = new LatencyMeter();
    framesDrawn = 0;
    frame: Frame | null = null; // newest
    hello: Hello | null = null;
    private assets: Asset[] = [];
    private view: WorldView | null = null;
    private stats: Stats | null = null;
    private drawn: Frame | null = null;
    private acknowledged: Frame | null = null;
    private showsMesh = false;
    private contactMode: ContactMode = ContactMode.Off;
    private loop = 0; // plotted
    private picked = ""; // name of the body

    private readonly stage = new Stage(byId<HTMLCanvasElement>("view"));
    private readonly forces = new ForceView(this.stage, byId("labels"));
    private readonly plots = new Plots(byId("plots"));
    private readonly notices = new Notices(byId("notices"));
    private readonly status = new StatusLine();
    private readonly legend = new ColourLegend(byId("legend"));
    private readonly sound = new ContactSound();
    private readonly forceRate = new ForceRate();
    private readonly gizmo = new ToolGizmo(this.stage);
    private readonly tool: ToolHand;
    private readonly gamepad: GamepadInput;
    private readonly haptics: HapticPanel;
    private readonly hand: Hand;
    private readonly controls: Controls;
    private readonly panel: ParameterPanel;
    private readonly settings: ViewSettings;
    private readonly connection: Connection;

    constructor() {
        const actions = this.makeActions();
        this.controls = new Controls(actions);
        this.panel = new ParameterPanel(byId("panel"), (parameter, value) =>
            this.connection.send({ type: "set", parameter, value }),
        );
        this.haptics = new HapticPanel(byId("panel"), (which) =>
            this.tool.hold(which, !this.tool.isDown(which)),
        );
        this.settings = new ViewSettings(byId("panel"), this.stage, this.legend, {
            view: () => this.view,
            redraw: () => (this.drawn = null),
            showSparsity: () => this.showSparsity(),
        });
        const context = {
            send: (message: PageMessage) => this.connection.send(message),
            frame: () => this.frame,
            steers: () => this.stats?.steers ?? this.hello?.steers ?? false,
        };
        this.tool = new ToolHand(this.stage, {
            ...context,
            haptics: () => this.movable(),
        });
        this.gamepad = new GamepadInput(this.tool);
        window.addEventListener("gamepadconnected", ({ gamepad }) => this.greet(gamepad));
        const handContext = {
            ...context,
            pick: (ray: Ray) => this.pick(ray),
            hasTool: () => this.hello?.has_tool ?? false,
            sent: (target: Vec3, time: number) => this.latency.sent(target, time),
        };
        this.hand = new Hand(this.stage, handContext, this.tool, this.gizmo);
        new PointerInput(this.stage, this.hand);
        new KeyboardInput(
            this.stage,
            this.hand,
            {
                " ": actions.togglePause,
                s: actions.step,
                r: actions.reset,
                p: () => actions.setMode(this.hand.mode === "poke" ? "pull" : "poke"),
                t: () => actions.setMode(this.hand.mode === "tool" ? "pull" : "tool"),
                c: actions.nextColour,
                m: actions.toggleMesh,
                k: actions.nextContacts,
                i: actions.toggleIso,
                b: actions.toggleSketch,
                f: actions.frameView,
                "?": actions.showHelp,
            },
            {
                x: (isDown) => this.tool.hold("clutch", isDown),
                d: (isDown) => this.tool.hold("deadman", isDown),
            },
        );
        this.stage.onQuality = () => {
            this.view?.redraw();
            this.drawn = null;
        };
        new ResizeObserver(() => this.stage.resized()).observe(this.stage.canvas);
        this.connection = new Connection({
            state: (state) => this.connectionChanged(state),
            text: (message) => this.receive(message),
            binary: (message) => this.receiveBinary(message),
        });
        const draw = (now: number) => {
            this.draw(now);
            requestAnimationFrame(draw);
        };
        requestAnimationFrame(draw);
    }

    get isHolding(): boolean {
        return this.hand.isHolding;
    }

    /// Points of contacts that are drawn.
    get contactPoints(): number {
        return this.view?.contacts.count ?? 0;
    }

    /// Cuts through fields that are drawn.
    get slices(): number {
        return this.view?.slices.count ?? 0;
    }

    /// Triangles of iso-surfaces that are drawn.
    get isoTriangles(): number {
        return this.view?.isoSurfaces.count ?? 0;
    }

    /// Fixed vertices of bodies with Green's functions that are drawn as dots, and coloured skins.
    get greensShown(): { dots: number; skins: number } {
        const { numDots = 0, numSkins = 0 } = this.view?.greens ?? {};
        return { dots: numDots, skins: numSkins };
    }

    /// Lines of levels of detail that are drawn, by level.
    get wireCounts(): Record<number, number> {
        return this.view?.wires.counts ?? {};
    }

    /// The wire copy of the tool in a hand is drawn.
    get feltRate(): number {
        return this.plots.feltRate;
    }
    get showsManipulandum(): boolean {
        const proxy = this.view?.proxy;
        return this.view?.manipulandum?.isShown ?? (proxy instanceof ProxyView && proxy.isHandShown);
    }

    /// Lines of simulation meshes that are drawn, of particles their ellipses and links.
    get meshLines(): number {
        return this.view?.meshLineCount ?? 0;
    }

    /// How far a tool that bends is drawn from where it would be as one piece, at most [m].
    get toolBend(): number {
        const { hello, frame } = this;
        const held = frame?.haptics;
        const body = held && hello?.bodies[held.body];
        if (!held || !body?.skin) return 0;
        const { position, rotation } = held.tool;
        const bent = frame.bodies[held.body]!;
        const rigid = body.skin.positions(new Float32Array([...position, ...rotation]), null);
        return bent.reduce((most, x, i) => Math.max(most, Math.abs(x - rigid[i]!)), 0);
    }

    /// Where rings (0 to 2) and arrows (3 to 5) of the gizmo are in the view.
    get gizmoPlaces(): ([number, number] | null)[] {
        return [0, 1, 2, 3, 4, 5].map((handle) => this.gizmo.placeInView(handle));
    }

    /// Planes and triangles of a proxy that are drawn, and spheres of a tool of many.
    get proxyShown(): { planes: number; triangles: number; spheres: number } {
        const proxy = this.view?.proxy;
        return {
            planes: proxy?.count ?? 0,
            triangles: proxy?.triangleCount ?? 0,
            spheres: proxy instanceof SphereToolView ? proxy.sphereCount : 0,
        };
    }

    /// Sum of all drawn positions: differs when anything moved.
    checksum(): number {
        const { hello, frame } = this;
        if (!hello || !frame || !this.view) return 0;
        return hello.bodies.reduce(
            (sum, body, i) =>
                worldPositions(body, this.assets[body.asset]!, frame.bodies[i]!).reduce(
                    (a, x, at) => a + x * (1 + (at % 7)),
                    sum,
                ),
            0,
        );
    }

    private draw(now: number): void {
        this.gamepad.poll(now);
        this.hand.flush();
        this.panel.flush();
        this.plots.draw(now);
        const { frame, view } = this;
        const isNew = view !== null && frame !== null && frame !== this.drawn;
        if (isNew) {
            view.update(frame);
            this.settings.showLegend(view);
            this.stage.invalidate();
        }
        if (this.hello && frame && view && this.stage.isStale) {
            this.forces.update(frame, this.hello, (body, to) => view.edgeOf(body, to, frame));
            this.gizmo.update(frame, this.hello);
        }
        this.stage.draw();
        if (!isNew) return;
        this.drawn = frame;
        ++this.framesDrawn;
        this.acknowledge(frame);
        this.latency.drawn(frame);
    }

    private acknowledge(frame: Frame): void {
        if (frame === this.acknowledged) return;
        this.acknowledged = frame;
        this.connection.send({ type: "ack", frame: frame.number });
    }

    private receive(message: ServerMessage): void {
        switch (message.type) {
            case "hello":
                void this.open(message);
                break;
            case "stats":
                this.stats = message;
                this.controls.showStats(message);
                this.status.showStats(message, this.loop);
                this.status.showContacts(this.frame?.contacts ?? []);
                this.status.showGreens(message.greens, this.picked);
                this.status.showProxy(this.frame?.haptics?.proxy ?? null);
                this.view?.wires.showStats(message.greens);
                this.plots.showStats(message);
                this.haptics.showStats(message);
                if (this.frame?.haptics) this.haptics.showFrame(this.frame.haptics);
                this.haptics.showButtons((which) => this.tool.isDown(which));
                this.panel.setEnabled(message.steers);
                break;
            case "parameter":
                this.panel.show(message.name, message.value);
                this.view?.wires.setParameter(message.name, message.value);
                break;
            case "progress":
                this.showProgress(message.stage, message.fraction, message.remaining);
                break;
            case "notice":
                byId("progress").hidden ||= message.level !== "info";
                this.notices.show(message.level, message.text);
                break;
            case "pong":
                break;
        }
    }

    private receiveBinary(message: ArrayBuffer): void {
        const kind = new Uint32Array(message, 0, 1)[0];
        if (!this.hello) return;
        if (kind === 1) {
            const frame = parseFrame(message, this.hello);
            if (!frame) return;
            this.frame = frame;
            this.tool.see(frame);
            // a newer one may come before this one is drawn
            if (message.byteLength <= kSmallFrame) this.acknowledge(frame);
        }
        if (kind === 2) this.receiveSamples(parseSamples(message));
        if (kind === 3) void this.view?.updateMesh(parseMeshNodes(message));
        if (kind === 4) this.view?.contacts.update(parseContactMarks(message));
        if (kind === 5) this.view?.proxy?.updateTriangles(parseProxyTriangles(message));
    }

    private receiveSamples(samples: Samples): void {
        this.plots.add(samples);
        const held = this.hello?.haptics;
        if (!held || samples.loop !== held.loop) return;
        const level = this.forceRate.levelOf(samples, held.max_force);
        this.sound.play(level);
        this.gamepad.rumble(level);
    }

    /// A scene begins.
    private async open(hello: Hello): Promise<void> {
        const isNewProgram = this.hello !== null && this.hello.version !== hello.version;
        if (isNewProgram) return location.reload();
        const isSameScene = this.hello?.scene.name === hello.scene.name;
        this.hello = hello;
        this.frame = this.drawn = null;
        this.hand.forget();
        this.view?.dispose();
        this.view = null;
        this.showLoop(hello.haptics?.loop ?? hello.bodies[0]?.loop ?? 0);
        byId("progress").hidden = true;
        this.controls.showHello(hello);
        this.status.showHello(hello);
        this.haptics.showHello(hello);
        this.plots.showHaptics(hello.haptics !== null);
        if (hello.haptics?.warning) this.notices.show("warning", hello.haptics.warning);
        for (const warning of hello.warnings.slice(0, kShownWarnings))
            this.notices.show("warning", warning);
        this.panel.setParameters(inOrder(hello.parameters));
        this.setMode(this.hand.mode === "tool" && !this.hasTool ? "pull" : this.hand.mode);
        if (!isSameScene) this.stage.setScene(hello);
        try {
            const assets = await fetchAssets(hello);
            if (this.hello !== hello) return; // another one came meanwhile
            this.assets = assets;
            bendTool(hello, assets, this.frame);
            this.view = new WorldView(this.stage, hello, assets, (error) =>
                this.showFieldError(error),
            );
            this.showMesh(this.showsMesh);
            this.showContacts(this.contactMode);
            this.settings.apply(hello);
        } catch (error) {
            this.notices.show(
                "error",
                `The scene could not be loaded: ${(error as Error).message}`,
            );
        }
    }

    private pick(ray: Ray): Pick | null {
        if (!this.hello || !this.frame || !this.view) return null;
        const hit = pick(ray, this.hello, this.assets, this.frame);
        if (hit) this.showLoop(this.hello.bodies[hit.body]!.loop);
        if (hit) this.picked = this.hello.bodies[hit.body]!.name;
        if (hit) void this.view.greens.pick(hit);
        return hit;
    }

    /// Plots and status line follow the loop of what was touched last.
    private showLoop(loop: number): void {
        if (loop === this.loop && this.frame) return;
        this.loop = loop;
        this.plots.setLoop(loop);
    }

    private connectionChanged(state: ConnectionState): void {
        this.status.showState(state);
        this.controls.showState(state);
        if (state !== "open") this.hand.forget();
    }

    private showProgress(stage: string, fraction: number, remaining: number | null): void {
        byId("progress").hidden = false;
        const rest = remaining === null ? "" : `, ${Math.ceil(remaining)} s left`;
        byId("progress-text").textContent = `${stage}: ${Math.floor(100 * fraction)} %${rest}`;
        byId<HTMLProgressElement>("progress-bar").value = fraction;
    }

    private showMesh(isShown: boolean): void {
        this.showsMesh = isShown;
        this.controls.showPressed("mesh", isShown);
        this.view?.setMeshShown(isShown);
        this.connection.send({ type: "mesh", on: isShown });
        this.stage.invalidate();
    }

    private showContacts(mode: ContactMode): void {
        this.contactMode = mode;
        const isShown = mode !== ContactMode.Off;
        this.controls.showPressed("contacts", isShown);
        this.view?.contacts.setMode(mode);
        this.view?.setProxyShown(isShown);
        this.connection.send({ type: "contacts", on: isShown });
        this.stage.invalidate();
    }

    /// A proxy has no spheres of nodes to show.
    private get contactModes(): number {
        return this.hello?.contacts.length ? 3 : 2;
    }

    private showFieldError(error: Error): void {
        this.notices.show("error", `The field could not be loaded: ${error.message}`);
    }

    /// Of the compressed body that was picked last, or the first.
    private showSparsity(): void {
        const { hello } = this;
        const compressed = hello?.bodies.filter(({ asset }) => hello.assets[asset]!.has_wavelets);
        const body = compressed?.find(({ name }) => name === this.picked) ?? compressed?.[0];
        if (!hello || !body) return;
        const stats = this.stats?.greens.find(({ name }) => name.startsWith(`${body.name}/`));
        showSparsity(hello, body.asset, stats?.compression ?? null).catch((error: Error) =>
            this.showFieldError(error),
        );
    }

    private setMode(mode: HandMode): void {
        if (mode === "tool" && !this.hasTool) return;
        this.hand.release();
        this.hand.mode = mode;
        this.controls.showMode(mode);
        this.gizmo.setWanted(mode === "tool" && this.movable() !== null);
    }

    /// The tool in a hand, where the hand is this page's: a device of flesh decides for itself.
    private movable(): HapticInfo | null {
        const { haptics, replay } = this.hello ?? {};
        return haptics?.kind === "simulated" && !replay ? haptics : null;
    }

    private get hasTool(): boolean {
        return this.hello?.has_tool === true || this.movable() !== null;
    }

    private greet({ id }: Gamepad): void {
        if (!this.movable()) return;
        this.notices.show(
            "info",
            `${id}: sticks move and turn the tool, triggers move it near and away.`,
        );
    }

    private setSound(isOn: boolean): void {
        this.sound.setOn(isOn);
        this.controls.showPressed("sound", isOn);
    }

    private makeActions(): Actions {
        const send: Connection["send"] = (message) => this.connection.send(message);
        return {
            togglePause: () => send({ type: this.stats?.paused ? "run" : "pause" }),
            step: () => send({ type: "step", ticks: 1 }),
            reset: () => {
                this.tool.forget(); // or a target on its way would undo it
                send({ type: "reset" });
            },
            setSpeed: (value) => send({ type: "speed", value }),
            setMode: (mode) => this.setMode(mode),
            nextColour: () => this.settings.nextColour(),
            toggleMesh: () => this.showMesh(!this.showsMesh),
            nextContacts: () =>
                (this.hello?.contacts.length || this.view?.proxy) &&
                this.showContacts(((this.contactMode + 1) % this.contactModes) as ContactMode),
            toggleSound: () => this.setSound(!this.sound.isOn),
            toggleIso: () => this.settings.toggleIso(),
            frameView: () => {
                this.stage.orbit.goHome();
                this.stage.invalidate();
            },
            screenshot: () => void this.saveScreenshot(),
            toggleRecording: () => send({ type: "record", on: !this.stats?.recording }),
            toggleSketch: () => this.toggleSketch(),
            cancelSketch: () => send({ type: "sketch", on: false }),
            seek: (time) => send({ type: "seek", time }),
            steer: () => send({ type: "steer" }),
            showScenes: () =>
                this.hello && showScenes(this.hello, (scene) => send({ type: "open", scene })),
            showRecordings: () => void showRecordings(),
            showHelp: () => byId<HTMLDialogElement>("help-dialog").showModal(),
        };
    }

    /// Begins a sketch, or finishes it with a rank of the user's choice.
    private toggleSketch(): void {
        const subject = this.hello?.sketch;
        if (!subject || !this.stats?.steers || this.stats.sketch?.building) return;
        if (!this.stats.sketch) return this.connection.send({ type: "sketch", on: true });
        this.hand.release();
        askForRank(subject, this.stats.sketch.loads, (rank) =>
            this.connection.send({ type: "sketch_build", rank }),
        );
    }

    private async saveScreenshot(): Promise<void> {
        const picture = await this.stage.picture();
        if (picture) download(picture, `${this.hello?.scene.name ?? "pliant"}.png`);
    }

}

/// Those of a tool in a hand come first: they are what one tries there.
function inOrder(parameters: ParameterInfo[]): ParameterInfo[] {
    const isHeld = ({ name }: ParameterInfo) => /^(tool|proxy|hand|device)\./.test(name);
    return [...parameters.filter(isHeld), ...parameters.filter((each) => !isHeld(each))];
}
