import { element } from "./dom";
import { icon } from "./icons";

const kShown = 8000; // ms; errors stay until closed

/// Messages that a person should read, in a corner of the view.
export class Notices {
    constructor(private readonly root: HTMLElement) {}

    show(level: "info" | "warning" | "error", text: string): void {
        // the same message again replaces the one that is there
        for (const old of [...this.root.children])
            if (old.firstChild?.textContent === text) old.remove();
        const notice: HTMLElement = element(
            "div",
            { class: "notice", "data-level": level },
            element("span", {}, text),
            element(
                "button",
                { "aria-label": "Close", onclick: () => notice.remove() },
                icon("close"),
            ),
        );
        this.root.append(notice);
        while (this.root.children.length > 4) this.root.firstElementChild!.remove();
        if (level !== "error") setTimeout(() => notice.remove(), kShown);
    }
}
