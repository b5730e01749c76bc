// What a person does with the viewer, in a real browser against the real program:
//   PLIANT_PROGRAM=build/release/pliant node --test tests/viewer.test.mjs
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, test } from "node:test";
import {
    ask,
    bridgeMask,
    launchBrowser,
    openPage,
    pixels,
    placeOnBridge,
    useLocalPage,
    waitFor,
} from "./browser.mjs";
import { Program } from "./program.mjs";

const kProgram = process.env.PLIANT_PROGRAM;
if (!kProgram) throw new Error("PLIANT_PROGRAM must name the program to test");
const kOptions = { timeout: 180_000 };

const startScene = (name, port = "0") =>
    Program.start(kProgram, [
        "run",
        fileURLToPath(new URL(`${name}.json`, import.meta.url)),
        "--port",
        port,
    ]);

let browser;
let program; // of the bridge: what a person sees first, but slow to draw without a GPU
let beam; // of a small red beam, for everything that is the same with every body
before(async () => {
    [program, beam, browser] = await Promise.all([
        Program.start(kProgram, ["demo", "bridge", "--port", "0"]),
        startScene("beam"),
        launchBrowser(),
    ]);
}, kOptions);
after(async () => {
    await browser?.close();
    await Promise.all([program?.stop(), beam?.stop()]);
});
afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
});

/// Running from the start, so that tests do not depend on each other.
async function openFresh(options, shown = beam) {
    const page = await openPage(browser, shown.url, options);
    await page.waitForFunction(() =>
        /steering/.test(document.getElementById("statistics").textContent),
    );
    if ((await page.locator("#pause").getAttribute("aria-label")) === "Run")
        await page.locator("#pause").click();
    await page.locator("#reset").click();
    return page;
}

async function pull(page, dx, dy) {
    // the bridge swings: by the time the button is down it may be elsewhere
    let place;
    for (let attempt = 0; attempt < 8; ++attempt) {
        place = await placeOnBridge(page);
        await page.mouse.move(place.x, place.y);
        await page.mouse.down();
        if (await ask(page, "isHolding")) break;
        await page.mouse.up();
    }
    for (let i = 1; i <= 8; ++i) {
        await page.mouse.move(place.x + (dx * i) / 8, place.y + (dy * i) / 8);
        await page.waitForTimeout(30);
    }
}

test("the page shows the scene and has nothing to complain about", kOptions, async () => {
    const page = await openFresh({}, program);
    assert.equal(await page.locator("#scene-name").textContent(), "bridge");
    const mask = bridgeMask(await pixels(page));
    const share = mask.filter((isBridge) => isBridge).length / mask.length;
    assert.ok(share > 0.01, `the bridge covers ${100 * share} % of the view`);
    await page.waitForFunction(() => /Hz/.test(document.getElementById("statistics").textContent));
    assert.deepEqual(page.problems, []);
});

test("dragging with the mouse moves the body and shows a force", kOptions, async () => {
    const page = await openFresh({}, program);
    await pull(page, 10, -50);
    const force = await waitFor(page, "force", (f) => f > 0);
    assert.ok(Number.isFinite(force));
    const label = page.locator(".force-label:visible").first();
    assert.match(await label.textContent(), /^[\d.]+ [µmkM]?N$/);
    const before = await ask(page, "checksum");
    await page.mouse.wheel(0, 400); // nearer
    await waitFor(page, "checksum", (sum) => sum !== before);
    await page.mouse.up();
    await waitFor(page, "force", (f) => f === 0);
    assert.deepEqual(page.problems, []);
});

test("pause, step, run and reset do what they say", kOptions, async () => {
    const page = await openFresh();
    await page.keyboard.press(" ");
    await page.waitForFunction(() => document.getElementById("pause").ariaLabel === "Run");
    await page.waitForTimeout(200);
    const paused = await ask(page, "time");
    await page.waitForTimeout(400);
    assert.equal(await ask(page, "time"), paused);
    await page.keyboard.press("s");
    const stepped = await waitFor(page, "time", (time) => time > paused);
    assert.ok(stepped - paused < 0.0105, `one tick is ${stepped - paused} s`);
    await page.keyboard.press(" ");
    const running = await waitFor(page, "time", (time) => time > stepped + 0.3);
    await page.keyboard.press("r");
    await waitFor(page, "time", (time) => time < running);
});

test("sliders change behaviour, and are reset one by one", kOptions, async () => {
    const page = await openFresh({ viewport: { width: 1000, height: 600 } });
    const row = (name) => page.locator("#panel .parameter", { hasText: name }).first();
    // strong damping ends what the scene does by itself
    const damping = row("Mass damping");
    await damping.locator("input[type=range]").focus();
    await page.keyboard.press("End");
    let resting = 0;
    let drift = Infinity;
    for (let i = 0; i < 60 && drift > 1e-6 * Math.abs(resting); ++i) {
        await page.waitForTimeout(500);
        const sum = await ask(page, "checksum");
        drift = Math.abs(sum - resting);
        resting = sum;
    }
    assert.ok(drift <= 1e-6 * Math.abs(resting), `still moving by ${drift} of ${resting}`);
    await damping.locator("button").click();

    const gravity = row("Gravity");
    const slider = gravity.locator("input[type=range]");
    const field = gravity.locator("input[type=text]");
    const start = await field.inputValue();
    await slider.focus();
    await page.keyboard.press("End");
    await waitFor(page, "checksum", (sum) => Math.abs(sum - resting) > 1e-4 * Math.abs(resting));
    assert.notEqual(await field.inputValue(), start);
    await gravity.locator("button").click();
    assert.equal(await field.inputValue(), start);
    // the field takes numbers and keeps them in range
    await field.fill("1e9");
    await page.keyboard.press("Enter");
    assert.ok(Number(await field.inputValue()) < 1e9);
    await gravity.locator("button").click();
});

test("all of it works by keyboard", kOptions, async () => {
    const page = await openFresh({ viewport: { width: 1000, height: 700 } });
    const controls = await page.evaluate(() => {
        const all = document.querySelectorAll("button, input, select, summary, canvas[tabindex]");
        const usable = [...all].filter((c) => c.checkVisibility() && !c.disabled);
        return { count: usable.length, nameless: usable.filter((c) => !name(c)).map((c) => c.id) };
        function name(control) {
            return control.ariaLabel || control.textContent.trim() || control.labels?.length;
        }
    });
    assert.deepEqual(controls.nameless, []);
    const reached = new Set();
    for (let i = 0; i < controls.count + 5; ++i) {
        await page.keyboard.press("Tab");
        reached.add(
            await page.evaluate(() => {
                const all = [...document.querySelectorAll("*")];
                return all.indexOf(document.activeElement);
            }),
        );
    }
    assert.ok(reached.size >= controls.count, `${reached.size} of ${controls.count} by Tab`);

    // hold what is in the middle, after looking at the deck
    await page.locator("#view").focus();
    for (let i = 0; i < 12 && (await ask(page, "force")) === 0; ++i) {
        await page.keyboard.press("Enter");
        for (let k = 0; k < 6; ++k) await page.keyboard.press("ArrowUp");
        await page.waitForTimeout(300);
    }
    assert.ok((await ask(page, "force")) > 0);
    await page.keyboard.press("Escape");
    await waitFor(page, "force", (f) => f === 0);
    await page.keyboard.press("?");
    await page.locator("#help-dialog[open]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#help-dialog[open]").waitFor({ state: "detached" });
});

test("one viewer steers, the other watches until it is gone", kOptions, async () => {
    const first = await openFresh();
    const second = await openPage(browser, beam.url);
    await second.locator("#banner", { hasText: "Watching" }).waitFor();
    assert.ok(await second.locator("#pause").isDisabled());
    await first.waitForFunction(() =>
        document.getElementById("statistics").textContent.includes("2 viewers"),
    );
    await second.locator("#banner button").click();
    await first.locator("#banner", { hasText: "asks to steer" }).waitFor();
    await first.locator("#banner button").click();
    await first.locator("#banner", { hasText: "Watching" }).waitFor();
    await second.locator("#banner").waitFor({ state: "hidden" });
    await second.close();
    await first.locator("#banner").waitFor({ state: "hidden" });
    assert.deepEqual(first.problems, []);
});

test("the page comes back by itself after the connection was lost", kOptions, async () => {
    const context = await browser.newContext({ viewport: { width: 480, height: 360 } });
    const page = await context.newPage();
    await useLocalPage(page);
    let current;
    await page.routeWebSocket(/\/ws/, (socket) => {
        socket.connectToServer();
        current = socket;
    });
    await page.goto(beam.url);
    const drawn = await waitFor(page, "frames", (frames) => frames > 2);
    const lost = page.locator("#connection", { hasText: "lost" }).waitFor();
    await current.close();
    await lost;
    await page.locator("#connection", { hasText: "Connected" }).waitFor();
    await waitFor(page, "frames", (frames) => frames > drawn + 5);
});

test("the page comes back by itself after a restart of the program", kOptions, async () => {
    const first = await startScene("beam");
    const page = await openPage(browser, first.url);
    await first.stop();
    await page.locator("#connection", { hasText: "lost" }).waitFor();
    const second = await startScene("beam", first.port);
    try {
        await page.locator("#connection", { hasText: "Connected" }).waitFor();
        const drawn = await ask(page, "frames");
        await waitFor(page, "frames", (frames) => frames > drawn + 2);
    } finally {
        await second.stop();
    }
});

test("a wrong token is refused, and the page says where to go", kOptions, async () => {
    const page = await (await browser.newContext()).newPage();
    const url = new URL(beam.url);
    url.searchParams.set("t", "0123456789abcdef0123456789abcdef");
    const reply = await page.goto(url.href);
    assert.equal(reply.status(), 403);
    assert.match(await page.locator("body").textContent(), /terminal/);
});

test("phones get drawers, and nothing sticks out", kOptions, async () => {
    const page = await openFresh({ viewport: { width: 390, height: 844 }, hasTouch: true });
    const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(await isWide(), false);
    assert.ok(!(await page.locator("#panel").isVisible()));
    await page.locator("#panel-button").click();
    assert.ok(await page.locator("#panel input").first().isVisible());
    await page.locator("#plots-button").click();
    assert.ok(await page.locator("#plots canvas").first().isVisible());
    assert.ok(!(await page.locator("#panel").isVisible()));
    assert.equal(await isWide(), false);
});

test("GPU and CPU put the surface at the same places", kOptions, async () => {
    const page = await openFresh({ viewport: { width: 520, height: 420 } });
    const resting = bridgeMask(await pixels(page));
    await pull(page, 0, -60);
    await waitFor(page, "force", (force) => force > 0);
    await page.keyboard.press(" ");
    await page.waitForFunction(() => document.getElementById("pause").ariaLabel === "Run");
    const masks = {};
    for (const quality of ["1", "2"]) {
        const frames = await ask(page, "frames");
        await page.evaluate((value) => {
            const choice = document.getElementById("quality-choice");
            choice.value = value;
            choice.dispatchEvent(new Event("change"));
        }, quality);
        await waitFor(page, "frames", (now) => now > frames, 60_000); // paused: the same frame again
        masks[quality] = bridgeMask(await pixels(page));
    }
    await page.mouse.up();
    await page.keyboard.press(" ");
    const both = masks[1].filter((isBridge, i) => isBridge && masks[2][i]).length;
    const either = masks[1].filter((isBridge, i) => isBridge || masks[2][i]).length;
    // edges are antialiased and shaded differently
    assert.ok(both > 0.75 * either, `${both} of ${either} pixels agree`);
    const moved = masks[2].filter((isBridge, i) => isBridge !== resting[i]).length;
    assert.ok(moved > either - both, `${moved} pixels show that it is bent`);
});

/// The same while the scene stands, so that nothing moves away under the pointer.
async function pullStanding(page, dx, dy) {
    const isPaused = (label) =>
        page.waitForFunction((text) => document.getElementById("pause").ariaLabel === text, label);
    await page.keyboard.press(" ");
    await isPaused("Run");
    await page.waitForTimeout(500); // for the last frame
    await pull(page, dx, dy);
    await page.keyboard.press(" ");
    await isPaused("Pause");
}

test("a sketch is drawn, built in the background and takes the body's place", kOptions, async (t) => {
    const drawing = await startScene("beam");
    t.after(() => drawing.stop());
    const page = await openPage(browser, drawing.url, { viewport: { width: 1000, height: 500 } });
    await page.locator("#sketch").click();
    await page.locator("#sketch[aria-pressed=true]").waitFor();
    await pullStanding(page, 4, -20);
    await page.waitForFunction(
        () => Number(document.getElementById("sketch-loads").textContent) >= 3,
    );
    await page.mouse.up();
    await page.keyboard.press("b");
    await page.locator("#sketch-dialog[open]").waitFor();
    await page.locator("#sketch-rank").fill("8");
    await page.locator("#sketch-build").click();
    // the scene goes on meanwhile
    await page.locator("#progress:not([hidden])").waitFor();
    const drawn = await ask(page, "frames");
    await waitFor(page, "frames", (frames) => frames > drawn);
    await page.locator("#notices", { hasText: "rank 8 holds" }).waitFor({ timeout: 120_000 });
    await page.locator("#sketch[aria-pressed=false]").waitFor();
    assert.ok(await page.locator("#progress").isHidden());
    const shown = await ask(page, "frames");
    await waitFor(page, "frames", (frames) => frames > shown + 2);
    await pullStanding(page, 10, -50);
    await waitFor(page, "force", (f) => f > 0);
    await page.mouse.up();

    // cancelled: nothing changes
    await page.locator("#sketch").click();
    await page.locator("#sketch[aria-pressed=true]").waitFor();
    await page.locator("#sketch-cancel").click();
    await page.locator("#sketch[aria-pressed=false]").waitFor();
    assert.deepEqual(page.problems, []);
});

test("contact points are shown and counted, with the force of contact", kOptions, async (t) => {
    const pressed = await startScene("pressed");
    t.after(() => pressed.stop());
    const page = await openPage(browser, pressed.url, { viewport: { width: 1000, height: 500 } });
    await waitFor(page, "contactForce", (force) => force > 0);
    const counts = page.locator("#contact-counts");
    await page.waitForFunction(() =>
        /^contact: \d+ visited · [1-9]\d* touching · level 3 of 3/.test(
            document.getElementById("contact-counts").textContent,
        ),
    );
    const label = page.locator(".force-label:visible").first();
    assert.match(await label.textContent(), /^[\d.]+ [µmkM]?N$/);

    // pure red and blue are nowhere in the picture but in the points
    const painted = async () => {
        const { data } = await pixels(page);
        let [red, blue] = [0, 0];
        for (let i = 0; i < data.length; i += 4) {
            const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
            if (r > 190 && g < 60 && b < 60) ++red;
            if (b > 180 && r < 80 && g < 140) ++blue;
        }
        return { red, blue };
    };
    assert.equal(await ask(page, "contactPoints"), 0);
    assert.equal((await painted()).red, 0);
    await page.keyboard.press("k");
    await page.locator("#contacts[aria-pressed=true]").waitFor();
    await waitFor(page, "contactPoints", (count) => count > 20);
    const { red, blue } = await painted();
    assert.ok(red > 20 && blue > 20, `${red} red and ${blue} blue pixels`);

    // softer: the ball sinks in and touches more points
    const hard = Number(/(\d+) touching/.exec(await counts.textContent())[1]);
    const stiffness = page.locator("#panel .parameter", { hasText: "Contact stiffness" });
    await stiffness.locator("input[type=range]").focus();
    await page.keyboard.press("Home");
    await page.waitForFunction(
        (least) =>
            Number(/(\d+) touching/.exec(document.getElementById("contact-counts").textContent)[1]) >
            least,
        2 * hard,
    );
    await stiffness.locator("button").click();
    // with their spheres, then off
    await page.locator("#contacts").click();
    await waitFor(page, "contactPoints", (count) => count > 20);
    await page.locator("#contacts").click();
    await page.locator("#contacts[aria-pressed=false]").waitFor();
    await waitFor(page, "contactPoints", (count) => count === 0);

    // a cut through the field of the ball
    const slice = page.waitForResponse((reply) => reply.url().includes("/api/contact/0/slice/y"));
    await page.locator("#slice-choice").selectOption("2");
    assert.equal((await slice).status(), 200);
    await waitFor(page, "slices", (count) => count === 1);
    await page.locator("#slice-choice").selectOption("0");
    await waitFor(page, "slices", (count) => count === 0);

    // its iso-surface, by key and slider; the drawn ball is a little smaller than 16 cm
    await page.locator("#view").focus();
    await page.keyboard.press("i");
    await waitFor(page, "isoTriangles", (count) => count > 1000);
    const level = page.getByLabel("Iso-surface level");
    const farthest = page.waitForResponse((reply) => /iso.0\.01[56]/.test(reply.url()));
    await level.focus();
    await page.keyboard.press("End");
    assert.equal((await farthest).status(), 200);
    assert.match(await page.locator("#iso-level-value").textContent(), /^\+1[56]\.\d mm$/);
    await page.locator("#iso-choice").selectOption("0");
    await waitFor(page, "isoTriangles", (count) => count === 0);
    assert.ok(await level.isHidden());

    // while something is held, its arrow is the only one
    await page.locator("#view").focus();
    await pull(page, 0, 40);
    await waitFor(page, "force", (force) => force > 0);
    assert.equal(await page.locator(".force-label:visible").count(), 1);
    await page.mouse.up();
    assert.deepEqual(page.problems, []);
});

/// In the page: a gamepad that the test moves, and an ear for sounds.
function addSenses() {
    const buttons = Array.from({ length: 17 }, () => ({ value: 0, pressed: false }));
    window.pad = { connected: true, id: "pad", axes: [0, 0, 0, 0], buttons, shaken: 0 };
    window.pad.vibrationActuator = {
        playEffect: (kind, { strongMagnitude }) => {
            if (kind === "dual-rumble" && strongMagnitude > 0) ++window.pad.shaken;
            return Promise.resolve("complete");
        },
    };
    navigator.getGamepads = () => [null, window.pad];
    window.loudest = 0;
    const set = AudioParam.prototype.setTargetAtTime;
    AudioParam.prototype.setTargetAtTime = function (value, ...times) {
        if (value < 1) window.loudest = Math.max(window.loudest, value); // more is a frequency
        return set.call(this, value, ...times);
    };
}

test("Green's functions show supports, stiffness and responses", kOptions, async (t) => {
    const touched = await startScene("greens");
    t.after(() => touched.stop());
    const page = await openPage(browser, touched.url, { viewport: { width: 1000, height: 500 } });
    await waitFor(page, "greensShown", ({ dots, skins }) => dots > 4 && skins === 0);
    await page.waitForFunction(() =>
        /^touching: [1-9]\d* nodes · C [1-9]\d* × \d+ · (hit|updated|refactored)/.test(
            document.getElementById("contact-counts").textContent,
        ),
    );
    // a skin in the colours of the stiffness, and what they mean
    const choice = page.locator("#greens-choice");
    await choice.selectOption("3");
    await waitFor(page, "greensShown", ({ skins }) => skins === 1);
    await page.waitForFunction(() =>
        /Stiffness under the mask.*N\/m/s.test(document.getElementById("legend").textContent),
    );
    // the response to a force at a vertex comes when one is picked
    await choice.selectOption("4");
    await waitFor(page, "greensShown", ({ skins }) => skins === 0);
    const { x, y, width, height } = await page.locator("#view").boundingBox();
    const unit = page.waitForResponse((reply) => /unit/.test(reply.url()));
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await unit;
    await waitFor(page, "greensShown", ({ skins }) => skins === 1);
    await page.mouse.up();
    await choice.selectOption("0");
    await waitFor(page, "greensShown", ({ skins }) => skins === 0);
});

test("a tool in a hand is dragged, turned and felt", kOptions, async (t) => {
    const held = await startScene("held");
    t.after(() => held.stop());
    const viewport = { width: 900, height: 440 };
    const page = await openPage(browser, held.url, { viewport }, addSenses);
    await page.waitForFunction(() =>
        /steering/.test(document.getElementById("statistics").textContent),
    );
    assert.match(await page.locator("#haptics-body").textContent(), /peg/);
    assert.equal(await page.locator("#plots figure:visible").count(), 6);
    const stiffness = page.locator("#panel .parameter", { hasText: "Tool stiffness" });
    assert.match(await stiffness.getAttribute("title"), /Safe up to/);
    const place = () => ask(page, "toolPlace");
    const start = await place();
    const risen = (from, to) =>
        waitFor(page, "toolPlace", ({ position }) => {
            const by = position[2] - start.position[2];
            return by > from && by < to;
        });

    // down into the block: the hand goes in, the peg stays outside
    const drag = async (dx, dy, key) => {
        const from = await placeOnBridge(page);
        await page.mouse.move(from.x, from.y);
        if (key) await page.keyboard.down(key);
        await page.mouse.down();
        for (let i = 1; i <= 4; ++i)
            await page.mouse.move(from.x + (dx * i) / 4, from.y + (dy * i) / 4);
        await page.mouse.up();
        if (key) await page.keyboard.up(key);
    };
    assert.equal(await page.evaluate(() => window.loudest), 0);
    await page.locator("#sound").click();
    await drag(0, 70);
    await risen(-1, -0.045);
    await waitFor(page, "toolForce", (force) => force > 0.5);
    // plots of the device have every tick, not every frame
    await waitFor(page, "feltRate", (rate) => rate > 500);
    await waitFor(page, "showsManipulandum", (isShown) => isShown);
    assert.match(await page.locator(".force-label:visible").first().textContent(), /^[\d.]+ N$/);
    await page.waitForFunction(() =>
        /^[\d.]+ .?m of [\d.]+ .?m deep · worst/.test(
            document.getElementById("depth-text").textContent,
        ),
    );
    await page.waitForFunction(
        () => parseFloat(document.getElementById("felt-text").textContent) > 0.5,
    );
    assert.ok((await page.evaluate(() => window.loudest)) > 0, "contact is heard");
    // up, and turned
    await drag(0, -140);
    await risen(0.02, 1);
    await waitFor(page, "toolForce", (force) => force < 0.2);
    const turn = ({ rotation: [w] }) => 2 * Math.acos(Math.min(Math.abs(w), 1));
    await drag(40, 0, "Control");
    await waitFor(page, "toolPlace", (now) => turn(now) > 0.15);

    // wheel and keys
    const before = (await place()).position;
    const far = await placeOnBridge(page);
    await page.mouse.move(far.x, far.y);
    await page.mouse.down();
    await page.mouse.wheel(0, -300);
    await waitFor(page, "toolPlace", ({ position }) => position[1] > before[1] + 0.02);
    await page.mouse.up();
    await page.keyboard.press("t");
    await page.locator("#view").focus();
    await page.keyboard.press("Enter");
    const [left] = (await place()).position;
    for (let i = 0; i < 6; ++i) await page.keyboard.press("ArrowRight");
    await waitFor(page, "toolPlace", ({ position }) => position[0] > left + 0.02);
    const tilted = turn(await place());
    for (let i = 0; i < 6; ++i) await page.keyboard.press("Shift+ArrowRight");
    await waitFor(page, "toolPlace", (now) => turn(now) > tilted + 0.1);

    // a reset takes it back; then the gamepad pushes it into the block
    await page.keyboard.press("r");
    await waitFor(page, "toolPlace", (now) => turn(now) < 0.01);
    await page.evaluate(() => (window.pad.axes[1] = 1));
    await waitFor(page, "toolForce", (force) => force > 1);
    await page.evaluate(() => {
        window.pad.axes[1] = 0;
        window.pad.buttons[2].pressed = true;
    });
    await waitFor(page, "toolButtons", (buttons) => buttons === 4);
    await page.waitForFunction(() => window.pad.shaken > 0);
    assert.deepEqual(page.problems, []);
});

test("a hand of two bodies has a clutch and a dead man's button", kOptions, async (t) => {
    const soft = await startScene("soft");
    t.after(() => soft.stop());
    const page = await openPage(browser, soft.url, { viewport: { width: 900, height: 440 } });
    await page.waitForFunction(() =>
        /steering/.test(document.getElementById("statistics").textContent),
    );
    const buttons = (expected) => waitFor(page, "toolButtons", (now) => now === expected);
    await page.keyboard.down("d");
    await buttons(2);
    await page.keyboard.up("d");
    await buttons(0);
    await page.locator("#deadman").click();
    await page.locator("#deadman[aria-pressed=true]").waitFor();
    await buttons(2);

    // down into the block, by the palm
    const from = await placeOnBridge(page);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    for (let i = 1; i <= 4; ++i) await page.mouse.move(from.x, from.y + 15 * i);
    await page.mouse.up();
    await waitFor(page, "toolForce", (force) => force > 0.3);
    await waitFor(page, "showsManipulandum", (isShown) => isShown);

    // the clutch holds the tool where it is, wherever the hand wants it
    await page.keyboard.down("x");
    await buttons(10);
    const held = await ask(page, "toolPlace");
    await page.locator("#view").focus();
    await page.keyboard.press("t");
    await page.keyboard.press("Enter");
    for (let i = 0; i < 6; ++i) await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(300);
    const later = await ask(page, "toolPlace");
    assert.ok(Math.hypot(...later.position.map((x, i) => x - held.position[i])) < 1e-4);
    await page.keyboard.up("x");
    await buttons(2);
    await waitFor(page, "toolPlace", ({ position }) => position[0] > held.position[0] + 0.01);
    assert.deepEqual(page.problems, []);
});

test("colours, mesh, screenshot, recording and another scene", kOptions, async () => {
    const options = { viewport: { width: 1000, height: 500 }, acceptDownloads: true };
    const page = await openFresh(options, program);
    await page.keyboard.press("c");
    await page.locator("#legend", { hasText: "Displacement" }).waitFor();
    await page.keyboard.press("c");
    await page.locator("#legend", { hasText: "strain" }).waitFor();
    await page.keyboard.press("c");
    await page.locator("#legend").waitFor({ state: "hidden" });
    await page.keyboard.press("m");
    assert.equal(await page.locator("#mesh").getAttribute("aria-pressed"), "true");
    const drawn = await ask(page, "frames");
    await waitFor(page, "frames", (frames) => frames > drawn + 3);
    await page.keyboard.press("m");

    const downloading = page.waitForEvent("download");
    await page.locator("#screenshot").click();
    assert.equal((await downloading).suggestedFilename(), "bridge.png");

    await page.locator("#record").click();
    await page.locator("#record[aria-pressed=true]").waitFor();
    await page.locator("#record").click();
    await page.locator("#record[aria-pressed=false]").waitFor();
    await page.locator("#recordings-button").click();
    await page
        .locator(".recording", { hasText: /\d (kB|MB)/ })
        .first()
        .waitFor();
    await page.keyboard.press("Escape");

    await page.locator("#scenes-button").click();
    await page.locator("#scene-list button", { hasText: "wedge" }).click();
    await page.locator("#scene-name", { hasText: "wedge" }).waitFor({ timeout: 120_000 });
    await waitFor(page, "frames", (frames) => frames > drawn + 20);
    assert.deepEqual(page.problems, []);
});
