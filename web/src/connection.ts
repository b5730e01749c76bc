import type { PageMessage, ServerMessage } from "./protocol";

export type ConnectionState = "connecting" | "open" | "lost" | "refused";

export interface ConnectionHandlers {
    state(state: ConnectionState): void;
    text(message: ServerMessage): void;
    binary(message: ArrayBuffer): void;
}

const kFirstRetry = 100; // ms
const kLastRetry = 2000;

// The token is in the address of the page. It is sent along although there is a cookie, because
// two servers on one host share their cookies.
const token = new URLSearchParams(location.search).get("t");
const query = token ? `?t=${encodeURIComponent(token)}` : "";

export function apiAddress(path: string): string {
    return `/api/${path}${query}`;
}

/// The WebSocket to the server; comes back by itself when it is lost.
export class Connection {
    private socket: WebSocket | null = null;
    private retry = kFirstRetry;

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
            this.handlers.state("open");
        };
        socket.onmessage = (event) => {
            if (typeof event.data === "string") this.handlers.text(JSON.parse(event.data));
            else this.handlers.binary(event.data);
        };
        socket.onclose = () => {
            this.handlers.state("lost");
            this.comeBack();
        };
    }

    /// Asks with a plain request first: a refused socket does not say why.
    private comeBack(): void {
        setTimeout(async () => {
            this.retry = Math.min(2 * this.retry, kLastRetry);
            const reply = await fetch(apiAddress("scene")).catch(() => null);
            if (reply?.ok) return this.open();
            if (reply?.status === 403) this.handlers.state("refused");
            this.comeBack();
        }, this.retry);
    }
}
