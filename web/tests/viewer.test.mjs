// What a person does with the viewer, in a real browser against the real program:
//   PLIANT_PROGRAM=build/release/pliant node --test tests/viewer.test.mjs
import assert from "node:assert/strict";
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import {
    ask,
    bridgeMask,
    launchBrowser,
    openPage,
    pause,
    pixels,
    pull,
    toggle,
    useLocalPage,
    waitFor,
} from "./browser.mjs";
import { kOptions, startDemo, startScene } from "./program.mjs";

let browser;
let program; // of the bridge: what a person sees first, but slow to draw without a GPU
let beam; // of a small red beam, for everything that is the same with every body
before(async () => {
    [program, beam, browser] = await Promise.all([
        startDemo("bridge"),
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
    // a page that was closed at once may not have sent its last change; they go out with a drawn frame
    await page.evaluate(async () => {
        document.querySelectorAll("#panel .parameter button:enabled").forEach((each) => each.click());
        for (let i = 0; i < 2; ++i) await new Promise(requestAnimationFrame);
    });
    await page.locator("#reset").click();
    return page;
}

test("the page shows the scene and has nothing to complain about", kOptions, async () => {
    const page = await openFresh({}, program);
    assert.equal(await page.locator("#scene-name").textContent(), "bridge");
    const mask = bridgeMask(await pixels(page));
    const share = mask.filter((isBridge) => isBridge).length / mask.length;
    assert.ok(share > 0.01, `the bridge covers ${100 * share} % of the view`);
    await page.waitForFunction(() => /Hz/.test(document.getElementById("statistics").textContent));
    assert.deepEqual(page.problems, []);
    // which every other port of this computer would be shown
    assert.deepEqual(await page.context().cookies(), []);
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
    await pause(page);
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
    for (let i = 0; i < 150 && drift > 4e-7 * Math.abs(resting); ++i) {
        await page.waitForTimeout(200);
        const sum = await ask(page, "checksum");
        drift = Math.abs(sum - resting);
        resting = sum;
    }
    assert.ok(drift <= 4e-7 * Math.abs(resting), `still moving by ${drift} of ${resting}`);
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

test("a page that is busy for some seconds keeps its connection", kOptions, async () => {
    const page = await openFresh();
    await page.evaluate(() => {
        window.connectionStates = [];
        const place = document.getElementById("connection");
        new MutationObserver(() => window.connectionStates.push(place.dataset.state)).observe(
            place,
            { attributes: true },
        );
        const end = performance.now() + 6000;
        while (performance.now() < end);
    });
    const drawn = await ask(page, "frames");
    await waitFor(page, "frames", (frames) => frames > drawn + 2);
    assert.deepEqual(await page.evaluate(() => window.connectionStates), []);
});

test("the page comes back by itself after a restart with the kept token", kOptions, async () => {
    const first = await startScene("beam", "0", "--keep-token");
    const page = await openPage(browser, first.url);
    await first.stop();
    await page.locator("#connection", { hasText: "lost" }).waitFor();
    const second = await startScene("beam", first.port, "--keep-token");
    try {
        await page.locator("#connection", { hasText: "Connected" }).waitFor();
        const drawn = await ask(page, "frames");
        await waitFor(page, "frames", (frames) => frames > drawn + 2);
    } finally {
        await second.stop();
    }
});

test("a restart has another token, and the page says where to go", kOptions, async () => {
    const first = await startScene("beam");
    const page = await openPage(browser, first.url);
    await first.stop();
    const second = await startScene("beam", first.port);
    try {
        await page.locator("#connection", { hasText: "open the address it printed" }).waitFor();
    } finally {
        await second.stop();
    }
});

/// Requests to the program that a page makes from now on.
function requestsOf(page) {
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("websocket", (socket) => asked.push(socket.url()));
    return asked;
}

test("without the right token the page says where to go, and asks no more", kOptions, async () => {
    for (const token of [null, "0123456789abcdef0123456789abcdef"]) {
        const page = await (await browser.newContext()).newPage();
        await useLocalPage(page);
        const url = new URL(beam.url);
        if (token) url.searchParams.set("t", token);
        else url.searchParams.delete("t");
        const reply = await page.goto(url.href);
        assert.equal(reply.status(), 200);
        await page.locator("#banner", { hasText: "open the one that it printed" }).waitFor();
        await page.locator("#connection", { hasText: "open the address it printed" }).waitFor();
        const asked = requestsOf(page);
        await page.waitForTimeout(3000);
        assert.deepEqual(asked, []);
        assert.equal(await page.locator("#scene-name").textContent(), "…");
        await page.close();
    }
});

test("a page whose program has ended stops asking, until it is reloaded", kOptions, async () => {
    const first = await startScene("beam", "0", "--keep-token");
    // a clock that the test sets forward
    const options = { viewport: { width: 1000, height: 340 } }; // wide enough for all buttons
    const page = await openPage(browser, first.url, options, () => {
        const now = performance.now.bind(performance);
        window.ahead = 0;
        performance.now = () => now() + window.ahead;
    });
    await first.stop();
    await page.locator("#connection", { hasText: "lost" }).waitFor();
    await page.evaluate(() => (window.ahead = 61_000));
    await page.locator("#banner", { hasText: "The program has ended" }).waitFor();
    const asked = requestsOf(page);
    await page.waitForTimeout(5000); // of tries there is one every two seconds
    assert.deepEqual(asked, []);
    // what a person asks for does not have the token either
    await page.locator("#recordings-button").click();
    await page.locator("#recording-list", { hasText: "does not answer" }).waitFor();
    assert.equal(asked.length, 1);
    assert.ok(!asked[0].includes("t="), asked[0]);
    await page.keyboard.press("Escape");

    const second = await startScene("beam", first.port, "--keep-token");
    try {
        await page.waitForTimeout(3000);
        assert.equal(asked.length, 1);
        await page.locator("#banner button", { hasText: "Reload" }).click();
        await page.locator("#connection", { hasText: "Connected" }).waitFor();
        await waitFor(page, "frames", (frames) => frames > 2);
    } finally {
        await second.stop();
    }
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
    await pause(page);
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
    await pause(page);
    await pull(page, dx, dy);
    await toggle(page, "Pause");
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
    // the scene goes on meanwhile; a slow page may see only the end of the build
    await page
        .locator("#progress:not([hidden]), #notices:has-text('rank 8 holds')")
        .first()
        .waitFor();
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

test("colours, mesh, screenshot, recording and another scene", kOptions, async () => {
    // wide enough for all buttons, and few pixels to draw
    const options = { viewport: { width: 1000, height: 340 }, acceptDownloads: true };
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
    const recording = page.locator(".recording", { hasText: /\d (kB|MB)/ }).first();
    await recording.waitFor();
    const fetching = page.waitForEvent("download");
    await recording.click();
    const fetched = await fetching;
    assert.match(fetched.suggestedFilename(), /^bridge-.*\.pliantrec$/);
    assert.equal(await fetched.failure(), null);
    assert.ok(statSync(await fetched.path()).size > 1000);
    await page.keyboard.press("Escape");

    await page.locator("#scenes-button").click();
    await page.locator("#scene-list button", { hasText: "wedge" }).click();
    await page.locator("#scene-name", { hasText: "wedge" }).waitFor({ timeout: 120_000 });
    await waitFor(page, "frames", (frames) => frames > drawn + 20);
    assert.deepEqual(page.problems, []);
});

test("what a recording loses is said on every page until it is closed there", kOptions, async () => {
    const own = await startScene("beam");
    try {
        const page = await openFresh({}, own);
        await page.locator("#record").click();
        await page.locator("#record[aria-pressed=true]").waitFor();
        for (const name of readdirSync(own.folder))
            if (name.endsWith(".pliantrec")) rmSync(join(own.folder, name));
        const isLoss = [`.notice[data-level="error"]`, { hasText: "the file was removed" }];
        await page.locator(...isLoss).waitFor({ timeout: 5000 });
        await page.locator("#record[aria-pressed=false]").waitFor();
        const later = await openPage(browser, own.url);
        await later.locator(...isLoss).waitFor();
        await page.locator(...isLoss).locator("button").click();
        await page.locator(...isLoss).waitFor({ state: "detached" });
        assert.equal(await later.locator(...isLoss).count(), 1);
    } finally {
        await own.stop();
    }
});
