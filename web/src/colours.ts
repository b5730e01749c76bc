/// How surfaces are coloured.
export const ColourMode = { Body: 0, Displacement: 1, Strain: 2 } as const;
export type ColourMode = (typeof ColourMode)[keyof typeof ColourMode];

/// Shared by all materials of a view.
export interface ColourUniforms {
    colourMode: { value: number };
    colourScale: { value: number }; // displacement [m] or strain at the end of the ramp
}

const kRampStops = [
    [0.1, 0.16, 0.42],
    [0.05, 0.45, 0.62],
    [0.28, 0.72, 0.5],
    [0.97, 0.8, 0.3],
    [0.84, 0.2, 0.16],
] as const;

/// The ramp below without shading, in linear light.
export function rampColour(share: number): [number, number, number] {
    const t = 4 * Math.min(Math.max(share, 0), 1);
    const first = Math.min(Math.floor(t), 3);
    const [from, to] = [kRampStops[first]!, kRampStops[first + 1]!];
    const mixed = [0, 1, 2].map((k) => from[k]! + (t - first) * (to[k]! - from[k]!));
    return mixed.map((part) => part * part) as [number, number, number];
}

/// Dark blue, teal, green, yellow, red for 0 … 1; the same ramp is in style.css.
export const kColourRamp = /* glsl */ `
vec3 colourOf(float t) {
    t = clamp(t, 0.0, 1.0) * 4.0;
    vec3 a = vec3(0.10, 0.16, 0.42), b = vec3(0.05, 0.45, 0.62), c = vec3(0.28, 0.72, 0.50);
    vec3 d = vec3(0.97, 0.80, 0.30), e = vec3(0.84, 0.20, 0.16);
    vec3 colour = t < 1.0 ? mix(a, b, t) : t < 2.0 ? mix(b, c, t - 1.0)
                : t < 3.0 ? mix(c, d, t - 2.0) : mix(d, e, t - 3.0);
    return 1.35 * colour * colour; // linear light, nearly; a little of it is lost in shading
}
`;
