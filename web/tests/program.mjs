// Starts the program under test and reads the address it prints.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const kBuildTime = 240_000; // ms: models are built on first use

export class Program {
    static async start(program, words) {
        const folder = mkdtempSync(join(tmpdir(), "pliant-viewer-")); // of recordings
        const child = spawn(resolve(program), [...words, "--no-browser", "--json"], {
            cwd: folder,
            stdio: ["ignore", "pipe", "pipe"],
        });
        let output = "";
        let problem = "";
        child.stderr.on("data", (text) => (problem += text));
        const url = await new Promise((found, failed) => {
            const timer = setTimeout(
                () => failed(new Error(`no address in: ${output}`)),
                kBuildTime,
            );
            child.stdout.on("data", (text) => {
                output += text;
                const address = /"url":\s*"([^"]+)"/.exec(output)?.[1];
                if (!address) return;
                clearTimeout(timer);
                found(address);
            });
            child.on("exit", () => failed(new Error(`${program} ${words.join(" ")}: ${problem}`)));
        });
        return new Program(child, url, folder);
    }

    constructor(child, url, folder) {
        this.folder = folder;
        this.child = child;
        this.url = url;
    }

    get port() {
        return new URL(this.url).port;
    }

    async stop() {
        if (this.child.exitCode === null) {
            const gone = new Promise((done) => this.child.on("exit", done));
            this.child.kill("SIGINT");
            await gone;
        }
        rmSync(this.folder, { recursive: true, force: true });
    }
}

const kProgram = process.env.PLIANT_PROGRAM;
export const kOptions = { timeout: 180_000 };

const start = (...words) => {
    if (!kProgram) throw new Error("PLIANT_PROGRAM must name the program to test");
    return Program.start(kProgram, words);
};
/// A scene beside the tests.
export const startScene = (name, port = "0", ...more) =>
    start("run", fileURLToPath(new URL(`${name}.json`, import.meta.url)), "--port", port, ...more);
export const startDemo = (name) => start("demo", name, "--port", "0");
