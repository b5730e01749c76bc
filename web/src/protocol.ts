// What server and page say to each other, docs/server.md.

export type Vec3 = [number, number, number];
/// w x y z.
export type Turn = [number, number, number, number];

export interface BodyInfo {
    name: string;
    kind: string;
    asset: number;
    colour: Vec3;
    encoding: "pose" | "reduced" | "positions";
    rank: number;
    loop: number;
    skin?: ToolSkin; // of a tool that bends: the page makes positions of a pose and spheres
}

/// Makes the surface of a tool that bends of its spheres.
export interface ToolSkin {
    /// Of all vertices in the world; `pose` is that of the tool as one piece.
    positions(pose: Float32Array, haptics: Haptics | null): Float32Array;
}

export interface AssetInfo {
    vertices: number;
    triangles: number;
    has_mesh: boolean;
    has_greens: boolean;
    has_wavelets: boolean; // compressed Green's functions
    levels: number; // rounds of subdivision of a body with Green's functions
    size: number;
}

export interface ParameterInfo {
    name: string;
    label: string;
    unit: string;
    help: string;
    value: number;
    now: number;
    low: number;
    high: number;
    logarithmic: boolean;
    integer: boolean; // whole numbers alone
}

/// Bodies that touch: points of one against the distance field of another, a body with itself, or
/// many.
export interface ContactInfo {
    name: string;
    shell: number; // −1: several
    field: number;
    levels: number; // of the tree of points
}

/// A gain of the virtual coupling and why it is what it is.
export interface GainNote {
    name: string;
    unit: string;
    meaning: string;
    reason: string;
    value: number;
    least: number;
    largest: number; // end of the safe range
    limit: number; // nothing beyond is accepted
}

/// A further body of the tool in a hand, in the axes of its first one.
export interface HeldPart extends Placement {
    body: number;
}

/// A sphere of a tool of many, in the axes of the body.
export interface RestSphere {
    position: Vec3;
    radius: number;
}

/// The tool in a hand.
export interface HapticInfo {
    body: number;
    loop: number; // of the device
    device: string;
    kind: string;
    max_force: number; // of the device [N]
    max_torque: number; // [N m]
    scale: number; // metres in the scene per metre of handle travel
    grasp: Vec3; // in the axes of the body
    clutch: number; // button that lets the handle move alone; -1: none
    deadman: number; // button that must be down for any force; -1: none
    proxy_radius: number; // of a tool that is a virtual proxy [m]; 0: it is none
    parts: HeldPart[]; // that move with the body
    bends: boolean; // a tool of many spheres, which move one by one
    spheres: RestSphere[]; // of such a tool
    gains: GainNote[];
    warning: string;
}

export interface Hello {
    type: "hello";
    protocol: number;
    version: string;
    steers: boolean;
    scene: {
        name: string;
        description: string;
        rate: number;
        has_ground: boolean;
        ground_height: number;
        camera: { eye: Vec3; target: Vec3 };
    };
    scenes: { name: string; description: string }[];
    bodies: BodyInfo[];
    assets: AssetInfo[];
    contacts: ContactInfo[];
    parameters: ParameterInfo[];
    loops: { name: string; rate: number }[];
    haptics: null | HapticInfo;
    has_tool: boolean;
    tool_radius: number;
    scheduling: string;
    warnings: string[]; // found while the scene was loaded
    replay: null | { duration: number };
    sketch: null | { body: string; rank: number }; // what can be sketched
}

export interface Percentiles {
    p50: number;
    p99: number;
    p999: number;
    max: number;
}

export interface LoopStats {
    name: string;
    tick: number;
    time: number;
    work: Percentiles;
    late: Percentiles;
    skipped: number;
    statuses: Record<string, number>;
}

/// What is left of compressed Green's functions, as they are shown.
export interface Compression {
    tolerance: number;
    blocks: number; // coefficients of three by three numbers
    factor: number; // all blocks over those that are left
    rms: number; // of what is left out; an estimate
    max: number;
}

/// Touching a body with Green's functions, in the last tick.
export interface GreensStats {
    name: string;
    points: number; // that touch
    nodes: number; // that tools hold
    size: number; // of the capacitance matrix: scalar conditions
    level: number; // of subdivision, on which it is touched
    levels: number; // the finest one; 0: it has none
    compression: Compression | null;
    added: number; // nodes, in that tick
    removed: number;
    status: string; // how the inverse was found: hit, updated, refactored, or why not
    condition: number;
    counts: Record<string, number>; // of each status
    // how far linear theory is used; `use` is the largest measure over its limit
    linear: { strain: number; rotation: number; displacement: number; use: number };
}

export interface Stats {
    type: "stats";
    loops: LoopStats[];
    haptics: null | { notice: string; device: string };
    greens: GreensStats[];
    energy: { kinetic: number; elastic: number };
    viewers: number;
    steers: boolean;
    asked: boolean; // another viewer asks to steer
    paused: boolean;
    speed: number;
    recording: null | { name: string; bytes: number; lost: number; problem: string };
    sketch: null | { loads: number; building: boolean };
    malformed: number;
    replay_time: number | null;
}

export type ServerMessage =
    | Hello
    | Stats
    | { type: "parameter"; name: string; value: number }
    | { type: "progress"; stage: string; fraction: number; remaining: number | null }
    | { type: "notice"; level: "info" | "warning" | "error"; text: string }
    | { type: "pong"; id: number };

/// Types without members.
type Plain = "reset" | "pause" | "run" | "steer";

export type PageMessage =
    | { type: Plain }
    | { type: "ack"; frame: number }
    | {
          type: "grab";
          slot: number;
          body: number;
          triangle: number;
          barycentric: Vec3;
          target: Vec3;
      }
    | {
          type: "poke";
          slot: number;
          body: number;
          triangle: number;
          barycentric: Vec3;
          force: number;
      }
    | { type: "drag"; slot: number; target: Vec3 }
    | { type: "release"; slot: number }
    | { type: "tool"; target: Vec3; rotation?: Turn; buttons?: number }
    | { type: "set"; parameter: string; value: number }
    | { type: "step"; ticks: number }
    | { type: "speed"; value: number }
    | { type: "open"; scene: string }
    | { type: "record"; on: boolean }
    | { type: "seek"; time: number }
    | { type: "mesh"; on: boolean }
    | { type: "contacts"; on: boolean }
    | { type: "sketch"; on: boolean }
    | { type: "sketch_build"; rank: number };

export const kSlots = 4;
export const kPoseFloats = 7;
const kHeldFloats = 11;
const kToolFloats = 10;
const kHapticFloats = 74; // the last one: spheres that follow
const kSphereFloats = 11;
const kProxyPlanes = 3;
const kContactFloats = 10;
const kFrameHeaderBytes = 32;

export interface HeldPoint {
    body: number;
    isPoke: boolean;
    point: Vec3;
    target: Vec3;
    force: Vec3;
}

export interface Tool {
    position: Vec3;
    target: Vec3;
    force: Vec3;
}

export interface Placement {
    position: Vec3;
    rotation: Turn;
}

export interface Load {
    force: Vec3; // [N]
    torque: Vec3; // [N m]
}

/// What the tool in a hand did in the last tick.
export interface Haptics {
    body: number;
    manipulandum: Placement; // where the hand holds the body
    tool: Placement; // where contact lets it be
    coupling: Load; // on the hand
    contact: Load; // on the tool
    device: Load; // as it was sent, in the axes of the device
    depth: number; // [m]
    maxDepth: number;
    worstDepth: number;
    violations: number; // ticks deeper than allowed
    contacts: number;
    portEnergy: number; // [J]
    storedEnergy: number;
    oscillation: number; // [N]
    gainScale: number; // what back-off left of them
    stepScale: number;
    status: DeviceStatus;
    buttons: number;
    proxy: Proxy | null;
}

/// A plane that holds a proxy, and where it touches.
export interface ProxyPlane {
    point: Vec3;
    normal: Vec3;
}

/// One of a tool of many.
export interface ToolSphere extends Placement {
    isTouching: boolean;
    normal: Vec3; // of the plane that holds it most; 0: none
}

/// A tool that is a virtual proxy, or many, in the last tick.
export interface Proxy {
    radius: number; // [m]; 0: there are many
    spheres: ToolSphere[]; // of many
    planes: ProxyPlane[];
    pops: number;
    passes: number;
    tested: number; // triangles
    isSqueezed: boolean; // no room for its radius
    isSliding: boolean;
    isIgnored: boolean; // where the hand is makes no sense
    isOnItsWay: boolean; // passes ran out
    isStale: boolean; // no news of the bodies
    allPops: number; // since the last reset
    carried: number; // ticks in which a surface took it along
    squeezed: number; // ticks
}
export const DeviceStatus = {
    Ok: 0,
    Disabled: 1,
    Stale: 2,
    Disconnected: 3,
    Uncalibrated: 4,
    NoRotation: 5,
} as const;
export type DeviceStatus = (typeof DeviceStatus)[keyof typeof DeviceStatus];

/// What a contact did in the last tick.
export interface ContactState {
    visited: number; // points asked
    skipped: number; // left out because nothing can have changed
    touching: number;
    level: number; // deepest one completed, from 0; −1: none
    isTruncated: boolean; // the budget ended before the last level
    force: Vec3; // on the body with the field
    deepest: number; // [m]
    pairs: number; // of bodies near each other
}

export interface Frame {
    number: number;
    isPaused: boolean;
    time: number;
    held: HeldPoint[];
    tool: Tool | null;
    haptics: Haptics | null;
    contacts: ContactState[];
    /// Numbers of each body, views into the message.
    bodies: Float32Array[];
}

/// Numbers that a frame carries for a body.
export function floatsOfBody(body: BodyInfo, asset: AssetInfo): number {
    if (body.skin) return kPoseFloats;
    if (body.encoding === "positions") return 3 * asset.vertices;
    return kPoseFloats + (body.encoding === "reduced" ? body.rank : 0);
}

function vec3(numbers: Float32Array, at: number): Vec3 {
    return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
}

function readContact(numbers: Float32Array, at: number): ContactState {
    return {
        visited: numbers[at]!,
        skipped: numbers[at + 1]!,
        touching: numbers[at + 2]!,
        level: numbers[at + 3]!,
        isTruncated: numbers[at + 4] !== 0,
        force: vec3(numbers, at + 5),
        deepest: numbers[at + 8]!,
        pairs: numbers[at + 9]!,
    };
}

function readHaptics(numbers: Float32Array, start: number): Haptics | null {
    let at = start;
    const number = () => numbers[at++]!;
    const vector = (): Vec3 => [number(), number(), number()];
    const placement = (): Placement => ({
        position: vector(),
        rotation: [number(), number(), number(), number()],
    });
    const load = (): Load => ({ force: vector(), torque: vector() });
    if (number() === 0) return null;
    return {
        body: number(),
        manipulandum: placement(),
        tool: placement(),
        coupling: load(),
        contact: load(),
        device: load(),
        depth: number(),
        maxDepth: number(),
        worstDepth: number(),
        violations: number(),
        contacts: number(),
        portEnergy: number(),
        storedEnergy: number(),
        oscillation: number(),
        gainScale: number(),
        stepScale: number(),
        status: number() as DeviceStatus,
        buttons: number(),
        proxy: readProxy(number, vector),
    };
}

function readProxy(number: () => number, vector: () => Vec3): Proxy | null {
    const radius = number();
    const count = number();
    const all = Array.from({ length: kProxyPlanes }, () => ({ point: vector(), normal: vector() }));
    const [pops, passes, tested, flags] = [number(), number(), number(), number()];
    const proxy = {
        radius,
        spheres: [] as ToolSphere[],
        planes: all.slice(0, count),
        pops,
        passes,
        tested,
        isSqueezed: (flags & 1) !== 0,
        isSliding: (flags & 2) !== 0,
        isIgnored: (flags & 4) !== 0,
        isOnItsWay: (flags & 8) !== 0,
        isStale: (flags & 16) !== 0,
        allPops: number(),
        carried: number(),
        squeezed: number(),
    };
    const spheres = number();
    for (let i = 0; i < spheres; ++i)
        proxy.spheres.push({
            isTouching: number() !== 0,
            position: vector(),
            rotation: [number(), number(), number(), number()],
            normal: vector(),
        });
    return radius > 0 || spheres > 0 ? proxy : null;
}

/// Null: not a frame of this hello (one of the scene before).
export function parseFrame(message: ArrayBuffer, hello: Hello): Frame | null {
    const header = new Uint32Array(message, 0, 4);
    const sizes = hello.bodies.map((body) => floatsOfBody(body, hello.assets[body.asset]!));
    const contactFloats = kContactFloats * hello.contacts.length;
    const fixed = kSlots * kHeldFloats + kToolFloats + kHapticFloats;
    const numbers = new Float32Array(message, kFrameHeaderBytes);
    const sphereFloats = kSphereFloats * (numbers[fixed - 1] ?? 0);
    const floats = sizes.reduce((a, b) => a + b, fixed + sphereFloats + contactFloats);
    if (header[3] !== sizes.length || message.byteLength !== kFrameHeaderBytes + 4 * floats)
        return null;
    const times = new Float64Array(message, 16, 2);
    const held: HeldPoint[] = [];
    for (let slot = 0; slot < kSlots; ++slot) {
        const at = slot * kHeldFloats;
        held.push({
            body: numbers[at]!,
            isPoke: numbers[at + 1] !== 0,
            point: vec3(numbers, at + 2),
            target: vec3(numbers, at + 5),
            force: vec3(numbers, at + 8),
        });
    }
    let at = kSlots * kHeldFloats;
    const tool =
        numbers[at] === 0
            ? null
            : {
                  position: vec3(numbers, at + 1),
                  target: vec3(numbers, at + 4),
                  force: vec3(numbers, at + 7),
              };
    at += kToolFloats;
    const haptics = readHaptics(numbers, at);
    at += kHapticFloats + sphereFloats;
    const contacts = hello.contacts.map((_, c) => readContact(numbers, at + c * kContactFloats));
    at += contactFloats;
    const bodies = sizes.map((size, i) => {
        const view = numbers.subarray(at, at + size);
        at += size;
        return hello.bodies[i]!.skin?.positions(view, haptics) ?? view;
    });
    return {
        number: header[1]!,
        isPaused: (header[2]! & 1) !== 0,
        time: times[0]!,
        held,
        tool,
        haptics,
        contacts,
        bodies,
    };
}

/// Ticks of one loop: 12 numbers each (tick, time, hand, point, force on the hand, energy), and
/// five more: work and lateness [µs], force at the device of a tool in a hand [N] (-1: none), and
/// energies of its port and its springs [J].
export interface Samples {
    loop: number;
    count: number;
    numbers: Float64Array;
    details: Float32Array;
}
export const kSampleNumbers = 12;
export const kSampleDetails = 5;

export function parseSamples(message: ArrayBuffer): Samples {
    const header = new Uint32Array(message, 0, 4);
    const count = header[2]!;
    return {
        loop: header[1]!,
        count,
        numbers: new Float64Array(message, 16, kSampleNumbers * count),
        details: new Float32Array(message, 16 + 8 * kSampleNumbers * count, kSampleDetails * count),
    };
}

export interface MeshNodes {
    body: number;
    positions: Float32Array;
}

export function parseMeshNodes(message: ArrayBuffer): MeshNodes {
    const header = new Uint32Array(message, 0, 4);
    return { body: header[1]!, positions: new Float32Array(message, 16, 3 * header[2]!) };
}

/// Points of one contact in the world, x y z and the radius of the sphere around what is below
/// them in the tree; those that touch come first. Forces are x y z on each of those [N].
export interface ContactMarks {
    contact: number;
    touching: number;
    numbers: Float32Array;
    forces: Float32Array;
}
export const kMarkFloats = 4;

export function parseContactMarks(message: ArrayBuffer): ContactMarks {
    const header = new Uint32Array(message, 0, 4);
    const floats = kMarkFloats * header[2]!;
    return {
        contact: header[1]!,
        touching: header[3]!,
        numbers: new Float32Array(message, 16, floats),
        forces: new Float32Array(message, 16 + 4 * floats, 3 * header[3]!),
    };
}

/// Corners of the triangles that a proxy looked at last, nine numbers each, in the world.
export function parseProxyTriangles(message: ArrayBuffer): Float32Array {
    const header = new Uint32Array(message, 0, 4);
    return new Float32Array(message, 16, 9 * header[1]!);
}
