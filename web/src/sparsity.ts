import { fetchBytes } from "./assets";
import { byId } from "./dom";
import type { Compression, Hello } from "./protocol";
import { grouped, percent } from "./quantity";

const kSide = 512; // pixels of the picture

/// Which blocks of the compressed Green's functions of a body are there: nodes from coarse to fine
/// downwards, columns to the right.
export async function showSparsity(
    hello: Hello,
    asset: number,
    compression: Compression | null,
): Promise<void> {
    const bytes = await fetchBytes(`asset/${asset}/sparsity`);
    const [width, height] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
    const kept = new Float32Array(bytes, 8);
    const picture = new ImageData(width, height);
    kept.forEach((share, at) => {
        // few blocks in a pixel must still be seen
        const grey = Math.round(255 * (1 - Math.sqrt(share)));
        picture.data.set([grey, grey, grey, 255], 4 * at);
    });
    const small = new OffscreenCanvas(width, height);
    small.getContext("2d")!.putImageData(picture, 0, 0);
    const canvas = byId<HTMLCanvasElement>("sparsity-picture");
    canvas.width = canvas.height = kSide;
    const context = canvas.getContext("2d")!;
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, kSide, kSide);
    const name = hello.bodies.find((body) => body.asset === asset)!.name;
    byId("sparsity-text").textContent =
        `${name}: rows are vertices from coarse to fine, columns what may be touched.` +
        (compression ? ` ${compressionText(compression)}.` : "");
    byId<HTMLDialogElement>("sparsity-dialog").showModal();
}

export function compressionText({ blocks, factor, rms }: Compression): string {
    return `${grouped(blocks)} coefficients, 1 of ${factor.toPrecision(2)}, error ${percent(rms)}`;
}
