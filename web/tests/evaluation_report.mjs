// Deforming in the vertex shader against deforming on the CPU, frames drawn in a second each:
//   node tests/evaluation_report.mjs PROGRAM [DEMO …]
import { ask, launchBrowser, openPage } from "./browser.mjs";
import { Program } from "./program.mjs";

const kSeconds = 6;
const kWays = { CPU: "1", GPU: "2" }; // low quality evaluates on the CPU, medium on the GPU

const [name, ...chosen] = process.argv.slice(2);
const browser = await launchBrowser();
for (const demo of chosen.length > 0 ? chosen : ["bridge", "heart"]) {
    const program = await Program.start(name, ["demo", demo, "--port", "0"]);
    try {
        const page = await openPage(browser, program.url, { viewport: { width: 480, height: 360 } });
        for (const [way, quality] of Object.entries(kWays)) {
            await page.locator("#quality-choice").evaluate((choice, value) => {
                choice.value = value;
                choice.dispatchEvent(new Event("change"));
            }, quality);
            await page.keyboard.press("r");
            await page.waitForTimeout(1500);
            const before = await ask(page, "frames");
            await page.waitForTimeout(1000 * kSeconds);
            const rate = ((await ask(page, "frames")) - before) / kSeconds;
            console.log(`${demo.padEnd(8)} ${way}  ${rate.toFixed(1)} frames/s`);
        }
        await page.context().close();
    } finally {
        await program.stop();
    }
}
await browser.close();
