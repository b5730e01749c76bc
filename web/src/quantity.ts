const kPrefixes: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
    [1e-9, "n"],
];

/// Three digits, as short as they can be written: 0.001234 → "0.00123".
export function digits(value: number): string {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace("e+", "e");
    return String(Number(value.toPrecision(3)));
}

/// With a unit and its prefix: 0.0123 N → "12.3 mN".
export function quantity(value: number, unit: string): string {
    const size = Math.abs(value);
    if (size < 1e-12) return `0 ${unit}`;
    const [factor, prefix] = kPrefixes.find(([f]) => size >= 0.9995 * f) ?? kPrefixes.at(-1)!;
    return `${(value / factor).toPrecision(3)} ${prefix}${unit}`;
}

/// "12,345".
export function grouped(count: number): string {
    return count.toLocaleString("en-US");
}

export function percent(part: number): string {
    return `${(100 * part).toPrecision(2)} %`;
}

export function bytes(count: number): string {
    if (count < 1e6) return `${(count / 1e3).toFixed(0)} kB`;
    return `${(count / 1e6).toFixed(1)} MB`;
}

export function seconds(time: number): string {
    const minutes = Math.floor(time / 60);
    return `${minutes}:${(time - 60 * minutes).toFixed(1).padStart(4, "0")}`;
}
