// Headless Chromium with software rendering, and pages that remember what went wrong in them.
import { chromium } from "playwright-core";

const kFlags = [
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

export function launchBrowser() {
    const executablePath = process.env.PLIANT_BROWSER ?? "/usr/bin/chromium";
    return chromium.launch({ executablePath, headless: true, args: kFlags });
}

/// With PLIANT_PAGE=folder the bundle in that folder takes the place of the program's own.
export async function useLocalPage(page) {
    const folder = process.env.PLIANT_PAGE;
    if (!folder) return;
    for (const name of ["app.js", "style.css"])
        await page.route(`**/${name}`, (route) => route.fulfill({ path: `${folder}/${name}` }));
}

/// A page of its own context, in which `script` runs first; `problems` collects errors and warnings
/// of its console.
export async function openPage(browser, url, options = {}, script = undefined) {
    const context = await browser.newContext({
        viewport: { width: 480, height: 360 },
        reducedMotion: "reduce",
        ...options,
    });
    const page = await context.newPage();
    if (script) await page.addInitScript(script);
    await useLocalPage(page);
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(error.message));
    page.on("console", (message) => {
        // the browser's own remark about reading back what software rendered
        if (/GPU stall due to ReadPixels/.test(message.text())) return;
        if (["error", "warning"].includes(message.type())) page.problems.push(message.text());
    });
    await page.goto(url);
    await page.waitForFunction(() => window.pliantTest?.frames() > 0, null, { timeout: 60_000 });
    return page;
}

/// Numbers of window.pliantTest.
export function ask(page, what) {
    return page.evaluate((name) => window.pliantTest[name](), what);
}

export async function waitFor(page, what, condition, timeout = 20_000) {
    const end = Date.now() + timeout;
    for (;;) {
        const value = await ask(page, what);
        if (condition(value)) return value;
        if (Date.now() > end) throw new Error(`${what} stays at ${value}`);
        await page.waitForTimeout(50);
    }
}

/// Pixels of the view, decoded by the browser: { width, height, data }.
export async function pixels(page) {
    const png = (await page.locator("#view").screenshot()).toString("base64");
    const { width, height, address } = await page.evaluate(async (base64) => {
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d");
        context.drawImage(bitmap, 0, 0);
        const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
        // as text: a million numbers take seconds on their way here
        const address = await new Promise((done) => {
            const reader = new FileReader();
            reader.onload = () => done(reader.result);
            reader.readAsDataURL(new Blob([data]));
        });
        return { width: bitmap.width, height: bitmap.height, address };
    }, png);
    return { width, height, data: Buffer.from(address.slice(address.indexOf(",") + 1), "base64") };
}

/// Places of the view where the reddish bridge is, as a mask.
export function bridgeMask({ width, height, data }) {
    const mask = [];
    for (let i = 0; i < width * height; ++i) mask.push(data[4 * i] > data[4 * i + 1] + 35);
    return mask;
}

/// A place on the page that shows the bridge, near the middle of the view.
export async function placeOnBridge(page) {
    const picture = await pixels(page);
    const mask = bridgeMask(picture);
    const box = await page.locator("#view").boundingBox();
    let best = null;
    for (let y = 2; y < picture.height - 2; ++y)
        for (let x = 2; x < picture.width - 2; ++x) {
            // solid around it, so that a moving cable is not missed
            const at = y * picture.width + x;
            const isSolid = [-2, -1, 0, 1, 2].every(
                (d) => mask[at + d] && mask[at + d * picture.width],
            );
            if (!isSolid) continue;
            const distance = Math.hypot(x - picture.width / 2, y - picture.height / 2);
            if (!best || distance < best.distance) best = { x: box.x + x, y: box.y + y, distance };
        }
    if (!best) throw new Error("the bridge is not in the picture");
    return best;
}

/// Pauses the scene, or runs it again, and waits until the page says so.
export async function toggle(page, label) {
    await page.keyboard.press(" ");
    await page.waitForFunction((text) => document.getElementById("pause").ariaLabel === text, label);
}

/// Pauses the scene and waits for its last frame: some are still on their way.
export async function pause(page) {
    await toggle(page, "Run");
    let shown;
    for (let last = NaN; shown !== last; ) {
        last = shown;
        await page.waitForTimeout(200);
        shown = await ask(page, "time");
    }
}

/// Takes hold of the body and pulls by so many pixels.
export async function pull(page, dx, dy) {
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
