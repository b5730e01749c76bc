// Bundles the page: node build.mjs OUT writes index.html, app.js and style.css into OUT.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const out = process.argv[2];
if (!out) {
    console.error("usage: node build.mjs OUT");
    process.exit(2);
}
mkdirSync(out, { recursive: true });
await build({
    entryPoints: { app: join(source, "main.ts"), style: join(source, "style.css") },
    outdir: out,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "inline",
    logLevel: "warning",
});
copyFileSync(join(source, "index.html"), join(out, "index.html"));
