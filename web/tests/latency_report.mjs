// From mouse event to drawn frame while somebody pulls the bridge, in 400 × 300 pixels:
//   node tests/latency_report.mjs PROGRAM [SECONDS]
import { ask, launchBrowser, openPage, placeOnBridge } from "./browser.mjs";
import { Program } from "./program.mjs";

// The thin deck may have moved on between the picture and the press.
async function hold(page) {
    for (let attempt = 0; attempt < 10; ++attempt) {
        const place = await placeOnBridge(page);
        await page.mouse.move(place.x, place.y);
        await page.mouse.down();
        if (await page.locator("#view.holding").count()) return place;
        await page.mouse.up();
    }
    throw new Error("the bridge was missed ten times");
}

const [name, duration = "60"] = process.argv.slice(2);
const program = await Program.start(name, ["demo", "bridge", "--port", "0"]);
const browser = await launchBrowser();
try {
    // the view alone is 400 × 300
    const page = await openPage(browser, program.url, { viewport: { width: 400, height: 407 } });
    const place = await hold(page);
    const percentile = (sorted, p) => sorted[Math.floor(p * (sorted.length - 1))].toFixed(1);
    const begin = Date.now();
    let shown = 0;
    for (let next = 10; next <= Number(duration); next += 10) {
        const frames = await ask(page, "frames");
        while (Date.now() - begin < 1000 * next) {
            const angle = (Date.now() - begin) / 300;
            await page.mouse.move(place.x + 25 * Math.cos(angle), place.y + 25 * Math.sin(angle));
            await page.waitForTimeout(16);
        }
        const all = await ask(page, "latencies");
        const sorted = all.slice(shown).sort((a, b) => a - b);
        shown = all.length;
        const rate = ((await ask(page, "frames")) - frames) / 10;
        console.log(
            `${next - 10} … ${next} s: ${rate.toFixed(0)} frames/s, ${sorted.length} samples, ` +
                `p50 ${percentile(sorted, 0.5)} ms, p90 ${percentile(sorted, 0.9)} ms`,
        );
    }
    const sorted = (await ask(page, "latencies")).sort((a, b) => a - b);
    console.log(`all: p50 ${percentile(sorted, 0.5)} ms, p90 ${percentile(sorted, 0.9)} ms`);
} finally {
    await browser.close();
    await program.stop();
}
