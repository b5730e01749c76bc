// Pictures of the demos with everything switched on, 1440 × 900:
//   node tests/screenshots.mjs PROGRAM FOLDER [DEMO …]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ask, launchBrowser, openPage } from "./browser.mjs";
import { Program } from "./program.mjs";

const kDemos = ["bridge", "spoon", "tower", "heart", "twist", "wedge", "poke", "baskets"];
const kSettled = 1.1; // s of simulated time: in the middle of what the scenes do by themselves

const [name, folder, ...chosen] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
for (const demo of chosen.length > 0 ? chosen : kDemos) {
    const program = await Program.start(name, ["demo", demo, "--port", "0"]);
    try {
        // 512 bodies are too much for software rendering at high quality
        const quality = demo === "baskets" ? "low" : "high";
        const page = await openPage(browser, `${program.url}&quality=${quality}`, {
            viewport: { width: 1440, height: 900 },
        });
        // software rendering is slow at this quality: stop the scene at the same time everywhere
        await page.keyboard.press("r");
        while ((await ask(page, "time")) > kSettled / 2) await page.waitForTimeout(5);
        while ((await ask(page, "time")) < kSettled) await page.waitForTimeout(20);
        await page.keyboard.press(" ");
        await page.waitForTimeout(4000);
        await page.screenshot({ path: join(folder, `demo-${demo}.png`) });
        await page.context().close();
    } finally {
        await program.stop();
    }
}
await browser.close();
