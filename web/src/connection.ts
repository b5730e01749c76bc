import type { PageMessage, ServerMessage } from "./protocol";

/// Refused and ended are final: the page asks no more.
export type ConnectionState = "connecting" | "open" | "lost" | "refused" | "ended";

export interface ConnectionHandlers {
    state(state: ConnectionState): void;
    text(message: ServerMessage): void;
    binary(message: ArrayBuffer): void;
}

const kFirstRetry = 100; // ms
const kLastRetry = 2000;
/// How long a lost program is asked whether it is back [ms]. Each time the token goes to whoever
/// has its port by then.
const kPatience = 60_000;

// The token is in the address of the page, and nowhere else: browsers show cookies to all ports of
// a computer.
const token = new URLSearchParams(location.search).get("t");
let query = token ? `?t=${encodeURIComponent(token)}` : "";

export function apiAddress(path: string): string {
    return `/api/${path}${query}`;
}

/// The WebSocket to the server; comes back by itself when it is lost, for a minute.
export class Connection {
    private socket: WebSocket | null = null;
    private retry = kFirstRetry;
    private lostAt: number | null = null; // performance.now()

    constructor(private readonly handlers: ConnectionHandlers) {
        this.open();
    }

    /// Dropped while there is no connection.
    send(message: PageMessage): void {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    }

    private open(): void {
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const socket = new WebSocket(`${scheme}//${location.host}/ws${query}`);
        socket.binaryType = "arraybuffer";
        this.socket = socket;
        socket.onopen = () => {
            this.retry = kFirstRetry;
            this.lostAt = null;
            this.handlers.state("open");
        };
        socket.onmessage = (event) => {
            if (typeof event.data === "string") this.handlers.text(JSON.parse(event.data));
            else this.handlers.binary(event.data);
        };
        socket.onclose = () => {
            this.handlers.state("lost");
            this.lostAt ??= performance.now();
            this.comeBack();
        };
    }

    /// For good: no request of this page has the token any more.
    private giveUp(state: "refused" | "ended"): void {
        query = "";
        this.handlers.state(state);
    }

    /// Asks with a plain request first: a refused socket does not say why.
    private comeBack(): void {
        setTimeout(async () => {
            this.retry = Math.min(2 * this.retry, kLastRetry);
            const reply = await fetch(apiAddress("scene")).catch(() => null);
            if (reply?.ok) return this.open();
            if (reply?.status === 403) return this.giveUp("refused");
            // any other answer but "too many pages" is of another program
            const isOther = reply !== null && reply.status !== 503;
            const isLate = performance.now() - this.lostAt! > kPatience;
            if (isOther || isLate) return this.giveUp("ended");
            this.comeBack();
        }, this.retry);
    }
}
