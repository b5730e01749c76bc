// Drawn on 24 × 24 with round strokes.
const kPaths: Record<string, string> = {
    logo: "M3 17c4 0 5-11 9-11s5 11 9 11",
    down: "M7 10l5 5 5-5",
    pause: "M9 6v12M15 6v12",
    play: "M8 5.5v13l10-6.5z",
    step: "M7 6v12l8-6zM18 6v12",
    reset: "M5 12a7 7 0 1 0 2.5-5.4M5 4v4h4",
    slow: "M12 13l4-4M4 17a8.5 8.5 0 1 1 16 0",
    pull: "M5 19l11-11M10 7h7v7M4 13.5v-1M6.5 9.5h-1",
    poke: "M12 3v11M8 10.5l4 4 4-4M5 19c3-2.5 11-2.5 14 0",
    tool: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM8.5 9.5c.6-1.4 1.6-2.2 3-2.5",
    colour: "M12 4c3 4 5.5 6.3 5.5 9.5a5.5 5.5 0 0 1-11 0C6.5 10.3 9 8 12 4zM9.3 14c.2 1.5 1.2 2.4 2.7 2.6",
    mesh: "M4 7l8-3.5L20 7v10l-8 3.5L4 17zM4 7l8 3.5L20 7M12 10.5v10M4 12l8 3.5 8-3.5",
    contacts:
        "M3 19.5c3-4.5 6-6 9-6s6 1.5 9 6M5.5 9a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z" +
        "M12 5.5a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM18.5 9a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z",
    sound: "M4 10v4h3l4 3.5v-11L7 10zM14.5 9.5a3.5 3.5 0 0 1 0 5M17 7a7 7 0 0 1 0 10",
    frame: "M4 9V5h4M16 5h4v4M20 15v4h-4M8 19H4v-4M9.5 12h5M12 9.5v5",
    camera: "M4 8h4l1.5-2.5h5L16 8h4v11H4zM12 10.5a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z",
    record: "M12 6.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z",
    sketch: "M4 19c6 1.5 2-6 7-6M11 13l8-8 2 2-8 8-2.6.6z",
    list: "M9 7h11M9 12h11M9 17h11M4.5 7h.01M4.5 12h.01M4.5 17h.01",
    plot: "M4 5v14h16M7 15l3.5-5 3 3L19 7",
    sliders: "M4 8h9M17 8h3M15 5.8v4.4M4 16h3M11 16h9M9 13.8v4.4",
    help: "M9 9.2a3 3 0 1 1 4.4 2.7c-.9.5-1.4 1-1.4 2.1M12 17.5h.01",
    close: "M6 6l12 12M18 6L6 18",
};

export function icon(name: string): SVGElement {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", kPaths[name]!);
    svg.append(path);
    return svg;
}

/// Puts icons into all elements that ask for one.
export function addIcons(): void {
    for (const place of document.querySelectorAll<HTMLElement>("[data-icon]"))
        place.prepend(icon(place.dataset.icon!));
}

export function setIcon(place: HTMLElement, name: string): void {
    if (place.dataset.icon === name) return;
    place.dataset.icon = name;
    place.querySelector("svg")?.replaceWith(icon(name));
}
