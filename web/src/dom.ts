/// An element with attributes (those that start with "on" are listeners) and children.
export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Record<string, string | boolean | ((event: Event) => void)> = {},
    ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") made.addEventListener(name.slice(2), value);
        else if (typeof value === "string") made.setAttribute(name, value);
        else made.toggleAttribute(name, value);
    }
    made.append(...children);
    return made;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
    return document.getElementById(id) as T;
}

/// Offers bytes as a file.
export function download(content: Blob, name: string): void {
    const address = URL.createObjectURL(content);
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}
