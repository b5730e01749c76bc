import { App } from "./app";
import { byId } from "./dom";
import { addIcons } from "./icons";

addIcons();
if (document.createElement("canvas").getContext("webgl2")) {
    const app = new App();
    /// For the browser tests.
    Object.assign(window, {
        pliantTest: {
            frames: () => app.framesDrawn,
            force: () => Math.max(0, ...(app.frame?.held ?? []).map((h) => Math.hypot(...h.force))),
            isHolding: () => app.isHolding,
            contactPoints: () => app.contactPoints,
            slices: () => app.slices,
            isoTriangles: () => app.isoTriangles,
            greensShown: () => app.greensShown,
            wireCounts: () => app.wireCounts,
            contactForce: () =>
                Math.max(0, ...(app.frame?.contacts ?? []).map((c) => Math.hypot(...c.force))),
            toolForce: () => Math.hypot(...(app.frame?.haptics?.coupling.force ?? [0])),
            feltRate: () => app.feltRate,
            toolPlace: () => app.frame?.haptics?.manipulandum ?? null,
            toolButtons: () => app.frame?.haptics?.buttons ?? 0,
            showsManipulandum: () => app.showsManipulandum,
            proxyShown: () => app.proxyShown,
            toolBend: () => app.toolBend,
            meshLines: () => app.meshLines,
            gizmoPlaces: () => app.gizmoPlaces,
            time: () => app.frame?.time ?? 0,
            checksum: () => app.checksum(),
            latencies: () => app.latency.samples,
        },
    });
} else byId("notices").append("This page needs a browser with WebGL 2.");
