import type { ConnectionState } from "./connection";
import { byId } from "./dom";
import type { ContactState, GreensStats, Hello, Stats } from "./protocol";
import { quantity } from "./quantity";

const kConnectionTexts: Record<ConnectionState, string> = {
    connecting: "Connecting",
    open: "Connected",
    lost: "Connection lost, trying again",
    refused: "The program was started anew: open the address it printed",
};
const kGood = "ok";

/// The line at the bottom: connection, rate, tick times, viewers, contacts, warnings.
export class StatusLine {
    private readonly connection = byId("connection");
    private readonly statistics = byId("statistics");
    private readonly contacts = byId("contact-counts");
    private readonly warnings = byId("warnings");
    private readonly about = byId("about");
    private levels = 0; // of the deepest tree of points
    private ticks: { tick: number; time: number }[] = []; // of the last two seconds

    showState(state: ConnectionState): void {
        this.connection.dataset.state = state;
        this.connection.textContent = kConnectionTexts[state];
    }

    showHello(hello: Hello): void {
        this.about.textContent = `${hello.scheduling} · Pliant ${hello.version}`;
        this.ticks = [];
        this.contacts.hidden = hello.contacts.length === 0;
        this.levels = Math.max(0, ...hello.contacts.map(({ levels }) => levels));
    }

    /// Of bodies with Green's functions: what holds them and how the capacitance matrix was
    /// inverted.
    showGreens(all: GreensStats[]): void {
        if (all.length === 0) return;
        this.contacts.hidden = false;
        const texts = all.map(({ points, nodes, size, status, added, removed }) =>
            size === 0
                ? `${points} ${points === 1 ? "point" : "points"}`
                : `${nodes} nodes · C ${size} × ${size} · ${status} (+${added} −${removed})`,
        );
        const isBeyond = all.some(({ linear }) => linear.use > 1);
        this.contacts.textContent =
            `touching: ${texts.join(", ")}` + (isBeyond ? " · beyond linear theory" : "");
        this.contacts.title = all
            .map(({ name, condition, counts, linear }) => {
                const done = Object.entries(counts).filter(([, count]) => count > 0);
                const parts = done.map(([what, count]) => `${what} × ${count}`);
                const percent = (part: number) => `${(100 * part).toPrecision(2)} %`;
                const degrees = ((180 / Math.PI) * linear.rotation).toPrecision(2);
                const strain = `strain ${percent(linear.strain)}, turned ${degrees}°, moved ${percent(linear.displacement)} of its size`;
                return [name, ...parts, `condition ${condition.toPrecision(2)}`, strain].join(
                    " · ",
                );
            })
            .join("\n");
    }

    /// Of all contacts in the newest frame.
    showContacts(contacts: ContactState[]): void {
        if (contacts.length === 0) return;
        const sum = (count: (contact: ContactState) => number) =>
            contacts.reduce((total, contact) => total + count(contact), 0);
        // people count from 1
        const levels = contacts.map(({ level }) => level + 1).filter((level) => level > 0);
        const [low, high] = [Math.min(...levels), Math.max(...levels)];
        const parts = [
            `contact: ${sum(({ visited }) => visited)} visited`,
            `${sum(({ touching }) => touching)} touching`,
            levels.length === 0
                ? ""
                : `level ${low === high ? low : `${low}–${high}`} of ${this.levels}`,
            contacts.some(({ isTruncated }) => isTruncated) ? "budget used up" : "",
        ];
        this.contacts.textContent = parts.filter((part) => part).join(" · ");
        const deepest = Math.max(...contacts.map((contact) => contact.deepest));
        const skipped = sum((contact) => contact.skipped);
        const pairs = sum((contact) => contact.pairs);
        this.contacts.title = `${pairs} pairs · ${skipped} skipped · ${quantity(deepest, "m")} deep`;
    }

    /// Of the loop that is plotted too.
    showStats(stats: Stats, shown: number): void {
        const loop = stats.loops[shown];
        if (!loop) return;
        const rate = this.rateOf(loop.tick);
        const { work } = loop;
        const parts = [
            stats.paused ? "paused" : rate,
            `tick ${quantity(1e-6 * work.p50, "s")} p50 · ${quantity(1e-6 * work.p999, "s")} p99.9`,
            `${loop.skipped} skipped`,
            stats.viewers === 1 ? "1 viewer" : `${stats.viewers} viewers`,
            stats.steers ? "steering" : "watching",
        ];
        this.statistics.textContent = parts.filter((part) => part).join(" · ");
        this.warnings.textContent = stats.loops
            .flatMap((each) => Object.entries(each.statuses))
            .filter(([name, count]) => name !== kGood && count > 0)
            .map(([name, count]) => `${name} × ${count}`)
            .join(" · ");
    }

    private rateOf(tick: number): string {
        const time = performance.now() / 1000;
        const last = this.ticks.at(-1);
        if (last && tick < last.tick) this.ticks = []; // a reset
        this.ticks.push({ tick, time });
        while (time - this.ticks[0]!.time > 2) this.ticks.shift();
        const first = this.ticks[0]!;
        if (time - first.time < 0.8) return "";
        return `${Math.round((tick - first.tick) / (time - first.time) / 10) * 10} Hz`;
    }
}
