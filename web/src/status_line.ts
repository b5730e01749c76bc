import type { ConnectionState } from "./connection";
import { byId } from "./dom";
import type { ContactState, GreensStats, Hello, Proxy, Stats } from "./protocol";
import { percent, quantity } from "./quantity";
import { compressionText } from "./sparsity";

const kConnectionTexts: Record<ConnectionState, string> = {
    connecting: "Connecting",
    open: "Connected",
    lost: "Connection lost, trying again",
    refused: "The program does not know this address: open the address it printed",
    ended: "The program has ended",
};
const kGood = "ok";

/// The line at the bottom: connection, rate, tick times, viewers, contacts, warnings.
export class StatusLine {
    private readonly connection = byId("connection");
    private readonly statistics = byId("statistics");
    private readonly contacts = byId("contact-counts");
    private readonly warnings = byId("warnings");
    private readonly about = byId("about");
    private hasContacts = false;
    private levels = 0; // of the deepest tree of points
    private ticks: { tick: number; time: number }[] = []; // of the last two seconds

    showState(state: ConnectionState): void {
        this.connection.dataset.state = state;
        this.connection.textContent = kConnectionTexts[state];
    }

    showHello(hello: Hello): void {
        this.about.textContent = `${hello.scheduling} · Pliant ${hello.version}`;
        this.ticks = [];
        this.hasContacts = hello.contacts.length > 0;
        this.contacts.hidden = !this.hasContacts;
        this.levels = Math.max(0, ...hello.contacts.map(({ levels }) => levels));
    }

    /// Of bodies with Green's functions: what holds them and how the capacitance matrix was
    /// inverted; for the body that was picked last, or one that is touched, what its columns are.
    showGreens(all: GreensStats[], picked: string): void {
        if (all.length === 0) return;
        this.contacts.hidden = false;
        const isBeyond = all.some(({ linear }) => linear.use > 1);
        const shown =
            all.find(({ name }) => name.startsWith(`${picked}/`)) ??
            all.find(({ points, nodes }) => points + nodes > 0) ??
            all[0]!;
        const parts = [
            `touching: ${touchText(all)}`,
            isBeyond ? "beyond linear theory" : "",
            shown.compression ? compressionText(shown.compression) : "",
        ];
        this.contacts.textContent = parts.filter((part) => part).join(" · ");
        this.contacts.title = all.map(detailText).join("\n");
    }

    /// Of a tool that is a proxy, or sums of one that is many, in the newest frame; contacts of other kinds come first.
    showProxy(proxy: Proxy | null): void {
        if (!proxy || this.hasContacts) return;
        this.contacts.hidden = false;
        const { spheres } = proxy;
        const planes = proxy.planes.length;
        const touching = spheres.filter(({ isTouching }) => isTouching).length;
        const parts = [
            spheres.length > 0
                ? `spheres: ${touching} of ${spheres.length} touching`
                : `proxy: ${planes === 1 ? "1 plane" : `${planes} planes`}`,
            `${proxy.tested} triangles tested`,
            proxy.pops > 0 ? `popped out × ${proxy.pops}` : "",
            proxy.isSqueezed ? "squeezed: no room for it" : "",
            proxy.isIgnored ? "hand ignored" : "",
            proxy.isOnItsWay ? "on its way" : "",
            proxy.isStale ? "no news of the bodies" : "",
            proxy.isSliding ? "sliding" : "",
        ];
        this.contacts.textContent = parts.filter((part) => part).join(" · ");
        this.contacts.title = `since the last reset: popped out × ${proxy.allPops} · taken along in ${proxy.carried} ticks · squeezed in ${proxy.squeezed}`;
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

/// What touches, on which level, and the capacitance matrix; of several contacts their sum and the
/// largest matrix.
function touchText(all: GreensStats[]): string {
    const busy = all.filter(({ points, nodes }) => points + nodes > 0);
    const sum = (count: (one: GreensStats) => number) =>
        all.reduce((total, one) => total + count(one), 0);
    const [points, nodes] = [sum((one) => one.points), sum((one) => one.nodes)];
    const counted = (count: number, name: string) => `${count} ${count === 1 ? name : `${name}s`}`;
    const texts = [];
    if (points > 0) texts.push(counted(points, "point"));
    if (nodes > 0) texts.push(counted(nodes, "node"));
    if (texts.length === 0) return "nothing";
    const places = new Set(busy.map(({ level, levels }) => `${level} of ${levels}`));
    const hasLevels = busy.some(({ levels }) => levels > 0);
    const on = hasLevels && places.size === 1 ? ` on level ${[...places][0]}` : "";
    const among = all.length > 1 ? `, ${busy.length} of ${all.length} contacts` : "";
    const largest = busy.reduce((most, one) => (one.size > most.size ? one : most));
    if (largest.size === 0) return texts.join(", ") + on + among;
    const { size, status } = largest;
    const changes = `+${sum(({ added }) => added)} −${sum(({ removed }) => removed)}`;
    return `${texts.join(", ")}${on}${among} · C ${size} × ${size} · ${status} (${changes})`;
}

/// Of one contact, as a line of the tip.
function detailText({ name, condition, counts, linear, compression }: GreensStats): string {
    const done = Object.entries(counts).filter(([, count]) => count > 0);
    const parts = done.map(([what, count]) => `${what} × ${count}`);
    const degrees = ((180 / Math.PI) * linear.rotation).toPrecision(2);
    const strain = `strain ${percent(linear.strain)}, turned ${degrees}°, moved ${percent(linear.displacement)} of its size`;
    const columns = compression
        ? [`tolerance ${compression.tolerance.toPrecision(2)}, largest error ${percent(compression.max)}`]
        : [];
    return [name, ...parts, `condition ${condition.toPrecision(2)}`, strain, ...columns].join(" · ");
}
