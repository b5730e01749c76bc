// Touching with tools, points and hands, in a real browser against the real program.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { ask, launchBrowser, openPage, pixels, placeOnBridge, pull, waitFor } from "./browser.mjs";
import { kOptions, startScene } from "./program.mjs";

let browser;
before(async () => {
    browser = await launchBrowser();
}, kOptions);
after(() => browser?.close());
afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
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
        /^touching: [1-9]\d* nodes? on level 1 of 2 · C [1-9]\d* × \d+ · (hit|updated|refactored)/.test(
            document.getElementById("contact-counts").textContent,
        ),
    );
    // a larger tolerance leaves fewer coefficients, with a larger error
    const columns = async () => {
        const text = await page.locator("#contact-counts").textContent();
        const [, count, error] = /([\d,]+) coefficients, 1 of [\d.]+, error ([\d.]+) %$/.exec(text);
        return { count: Number(count.replaceAll(",", "")), error: Number(error) };
    };
    const built = await columns();
    const slider = (name) =>
        page.locator("#panel .parameter", { hasText: name }).locator("input[type=range]");
    await slider("Tolerance").focus();
    await page.keyboard.press("End");
    await page.waitForFunction((count) => {
        const seen = /([\d,]+) coefficients/.exec(
            document.getElementById("contact-counts").textContent,
        );
        return seen !== null && Number(seen[1].replaceAll(",", "")) !== count;
    }, built.count);
    const coarse = await columns();
    assert.ok(coarse.count < built.count / 2 && coarse.error > 2 * built.error);

    // edges of the level that is shown and of the one that is touched
    await page.locator("#mesh").click();
    await waitFor(page, "wireCounts", (counts) => counts[1] > 0 && counts[2] === 2 * counts[1]);
    await slider("Display level").focus();
    await page.keyboard.press("Home");
    await waitFor(page, "wireCounts", (counts) => counts[0] > 0 && counts[1] > 0 && !counts[2]);
    await page.locator("#mesh").click();
    await waitFor(page, "wireCounts", (counts) => Object.keys(counts).length === 0);

    // which coefficients the build kept: some, not all
    await page.locator("#sparsity-button").click();
    await page.locator("#sparsity-dialog[open]").waitFor();
    assert.match(await page.locator("#sparsity-text").textContent(), /^nodule: .* coefficients/);
    const dark = await page.locator("#sparsity-picture").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, at) => at % 4 === 0 && value < 128).length / (data.length / 4);
    });
    assert.ok(dark > 0.05 && dark < 0.95, `${dark} of the pattern is dark`);
    await page.keyboard.press("Escape");
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

    // an arrow shifts it along its axis alone, a ring turns it about its own
    const dragHandle = async (handle, dx, dy) => {
        // where it is drawn when the tool stands
        const drawn = () => waitFor(page, "gizmoPlaces", (places) => places[handle] !== null);
        let seen = await drawn();
        for (let i = 0; i < 50; ++i) {
            await page.waitForTimeout(100);
            const before = seen[handle];
            seen = await drawn();
            if (before.every((value, k) => Math.abs(value - seen[handle][k]) < 1e-4)) break;
        }
        const box = await page.locator("#view").boundingBox();
        const x = box.x + (box.width * (1 + seen[handle][0])) / 2;
        const y = box.y + (box.height * (1 - seen[handle][1])) / 2;
        await page.mouse.move(x, y);
        await page.mouse.down();
        for (let i = 1; i <= 4; ++i) await page.mouse.move(x + (dx * i) / 4, y + (dy * i) / 4);
        await page.mouse.up();
    };
    const unmoved = (await place()).position;
    await dragHandle(5, 30, -40);
    const lifted = await waitFor(
        page,
        "toolPlace",
        ({ position }) => position[2] > unmoved[2] + 0.02,
    );
    assert.ok(Math.abs(lifted.position[0] - unmoved[0]) < 5e-3, "along z alone");
    assert.ok(turn(lifted) < 0.05);
    await page.waitForTimeout(300); // until it stands
    await dragHandle(2, 40, 0);
    const turned = await waitFor(page, "toolPlace", (now) => turn(now) > 0.1);
    assert.ok(Math.hypot(turned.rotation[1], turned.rotation[2]) < 0.02, `about z alone: ${turned.rotation}`);
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
    const notice = page.locator("#haptics-notice");
    await notice.filter({ hasText: "The dead man's button is up: the force is zero." }).waitFor();
    const buttons = (expected) => waitFor(page, "toolButtons", (now) => now === expected);
    await page.keyboard.down("d");
    await buttons(2);
    await page.keyboard.up("d");
    await buttons(0);
    await page.locator("#deadman").click();
    await page.locator("#deadman[aria-pressed=true]").waitFor();
    await buttons(2);
    await notice.filter({ hasNotText: "dead man" }).waitFor({ state: "attached" });

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

test("a proxy shows its hand, planes and the triangles it looks at", kOptions, async (t) => {
    const scene = await startScene("proxy");
    t.after(() => scene.stop());
    const page = await openPage(browser, scene.url, { viewport: { width: 700, height: 400 } });
    await waitFor(page, "toolForce", (force) => force > 0.05);
    await waitFor(page, "showsManipulandum", (isShown) => isShown);
    await waitFor(page, "proxyShown", ({ planes, triangles }) => planes > 0 && triangles === 0);
    await page.waitForFunction(() =>
        /^proxy: \d planes? · [1-9]\d* triangles tested/.test(
            document.getElementById("contact-counts").textContent,
        ),
    );
    await page.keyboard.press("k");
    await waitFor(page, "proxyShown", ({ triangles }) => triangles > 0);
    assert.match(
        await page.locator("#contact-counts").getAttribute("title"),
        /^since the last reset: popped out × \d+ · taken along in \d+ ticks/,
    );
    assert.equal(await ask(page, "meshLines"), 0);
    await page.keyboard.press("m"); // ellipsoids and links
    await page.locator("#mesh[aria-pressed=true]").waitFor();
    await waitFor(page, "meshLines", (lines) => lines > 40 * 3);
    assert.deepEqual(page.problems, []);
});

test("a tool of many spheres shows them, their planes and sums, and bends", kOptions, async (t) => {
    const scene = await startScene("spheres");
    t.after(() => scene.stop());
    const page = await openPage(browser, scene.url, { viewport: { width: 900, height: 440 } });
    const counts = () => page.locator("#contact-counts").textContent();
    await waitFor(page, "proxyShown", ({ planes, spheres }) => planes > 2 && spheres === 0);
    await page.waitForFunction(() =>
        /^spheres: [1-9]\d* of 20 touching · [1-9]\d* triangles tested/.test(
            document.getElementById("contact-counts").textContent,
        ),
    );
    await waitFor(page, "showsManipulandum", (isShown) => isShown);
    // over the border it is turned: the arc has its torque, and work went into the port
    await page.locator(".force-label:visible", { hasText: /N m$/ }).waitFor();
    await page.waitForFunction(() =>
        [...document.querySelectorAll("#plots figcaption")].some(({ textContent }) =>
            /^Port energy.*[1-9].*J/.test(textContent),
        ),
    );
    // what is drawn is no rigid copy: bent by more than a millimetre
    await waitFor(page, "toolBend", (bend) => bend > 1e-3);
    await page.keyboard.press("k");
    await waitFor(
        page,
        "proxyShown",
        ({ spheres, triangles }) => spheres === 20 && triangles > 0,
    );
    await waitFor(page, "showsManipulandum", (isShown) => !isShown);
    assert.match(await counts(), /^spheres: /);
    assert.deepEqual(page.problems, []);
});
