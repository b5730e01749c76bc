import { apiAddress } from "./connection";
import { byId, element } from "./dom";
import type { Hello } from "./protocol";
import { bytes } from "./quantity";

export function showScenes(hello: Hello, open: (name: string) => void): void {
    const dialog = byId<HTMLDialogElement>("scenes-dialog");
    const entries = hello.scenes.map(({ name, description }) =>
        element(
            "button",
            {
                class: "scene",
                "aria-current": String(name === hello.scene.name),
                onclick: () => {
                    dialog.close();
                    open(name);
                },
            },
            element("b", {}, name),
            element("span", {}, description),
        ),
    );
    byId("scene-list").replaceChildren(...entries);
    dialog.showModal();
}

/// Of a sketch that is finished; `build` is called with the choice, or not at all.
export function askForRank(
    subject: { body: string; rank: number },
    loads: number,
    build: (rank: number) => void,
): void {
    const dialog = byId<HTMLDialogElement>("sketch-dialog");
    const rank = byId<HTMLInputElement>("sketch-rank");
    byId("sketch-text").textContent =
        `${loads} loads on ${subject.body}. At most 8 that differ are solved, ` +
        "which takes up to a minute; the scene goes on meanwhile.";
    rank.value = String(subject.rank);
    byId("sketch-form").onsubmit = (event) => {
        const choice = (event as SubmitEvent).submitter as HTMLButtonElement | null;
        if (choice?.value === "build") build(Number(rank.value));
    };
    dialog.showModal();
}

export async function showRecordings(): Promise<void> {
    const dialog = byId<HTMLDialogElement>("recordings-dialog");
    const list = byId("recording-list");
    dialog.showModal();
    const reply = await fetch(apiAddress("recordings")).catch(() => null);
    if (!reply?.ok) return list.replaceChildren("The server does not answer.");
    const recordings = (await reply.json()) as { name: string; bytes: number }[];
    if (recordings.length === 0)
        return list.replaceChildren("None yet: the round button in the bar records the scene.");
    const entries = recordings.map((recording) =>
        element(
            "a",
            {
                class: "recording",
                href: apiAddress(`recording/${encodeURIComponent(recording.name)}`),
                download: recording.name,
            },
            element("b", {}, recording.name),
            element("span", {}, bytes(recording.bytes)),
        ),
    );
    list.replaceChildren(...entries);
}
