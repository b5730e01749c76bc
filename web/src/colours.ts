/// How surfaces are coloured.
export const ColourMode = { Body: 0, Displacement: 1, Strain: 2 } as const;
export type ColourMode = (typeof ColourMode)[keyof typeof ColourMode];

/// Shared by all materials of a view.
export interface ColourUniforms {
    colourMode: { value: number };
    colourScale: { value: number }; // displacement [m] or strain at the end of the ramp
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
