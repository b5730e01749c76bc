import { element } from "./dom";
import { icon } from "./icons";

const kShown = { info: 8000, warning: 20000 }; // ms; errors stay until closed
const kMost = 4; // at once, but for errors

/// Messages that a person should read, in a corner of the view.
export class Notices {
    constructor(private readonly root: HTMLElement) {}

    show(level: "info" | "warning" | "error", text: string): void {
        // the same message again replaces the one that is there
        for (const old of [...this.root.children])
            if (old.firstChild?.textContent === text) old.remove();
        const notice: HTMLElement = element(
            "div",
            {
                class: "notice",
                "data-level": level,
                role: level === "error" ? "alert" : "status",
            },
            element("span", {}, text),
            element(
                "button",
                { "aria-label": "Close", onclick: () => notice.remove() },
                icon("close"),
            ),
        );
        this.root.append(notice);
        // errors stay, however much is said after them
        for (const old of [...this.root.querySelectorAll('[data-level]:not([data-level="error"])')])
            if (this.root.children.length > kMost) old.remove();
        if (level !== "error") setTimeout(() => notice.remove(), kShown[level]);
    }
}
