import * as THREE from "three";
import { ColourMode, kColourRamp } from "./colours";

// One vertex shader for all bodies (docs/web.md): a body's numbers are a row of a float texture,
//   texel 0: position, 1: orientation x y z w, 2: colour and emphasis, then q, four to a texel,
// and the place of a surface vertex is one of
//   rest:      its rest position,
//   reduced:   rest + Σ q_k Ū_k with Ū in 16-bit texels, eq. (1),
//   positions: a texel of the body's positions.
// Normals and strains follow from where two neighbours went, eq. (2) and (3).

export type Encoding = "pose" | "reduced" | "positions";
export const kInstanceTexels = 3;

const kDeclarations = /* glsl */ `
precision highp isampler2D;
attribute ivec3 ids;
attribute vec3 edge1;
attribute vec3 edge2;
uniform highp sampler2D instances;
uniform highp isampler2D shapes;
uniform highp sampler2D places;
uniform int shapesShift;
uniform int vertexCount;
uniform int colourMode;
uniform float colourScale;
uniform vec3 restShift;
uniform vec4 restTurn;
varying vec3 bodyColour;

vec3 turned(vec4 turn, vec3 v) {
    vec3 twice = 2.0 * cross(turn.xyz, v);
    return v + turn.w * twice + cross(turn.xyz, twice);
}

#ifdef REDUCED
void addShape(inout vec3 u[3], int column, float q) {
    int mask = (1 << shapesShift) - 1;
    for (int i = 0; i < PLACED; ++i) {
        int texel = column * vertexCount + ids[i];
        ivec2 at = ivec2(texel & mask, texel >> shapesShift);
        u[i] += q * vec3(texelFetch(shapes, at, 0).xyz);
    }
}
#endif

${kColourRamp}
float largestStrain(vec3 d1, vec3 d2) {
    float a = dot(edge1, edge1), b = dot(edge1, edge2), c = dot(edge2, edge2);
    float A = dot(d1, d1), B = dot(d1, d2), C = dot(d2, d2);
    float area = max(a * c - b * b, 1e-30);
    float mean = 0.5 * (c * A - 2.0 * b * B + a * C) / area;
    float product = (A * C - B * B) / area;
    float spread = sqrt(max(mean * mean - product, 0.0));
    return max(abs(sqrt(max(mean + spread, 0.0)) - 1.0), abs(sqrt(max(mean - spread, 0.0)) - 1.0));
}
`;

const kPlaceVertex = /* glsl */ `
vec4 shift = texelFetch(instances, ivec2(0, gl_InstanceID), 0);
vec4 turn = texelFetch(instances, ivec2(1, gl_InstanceID), 0);
vec4 paint = texelFetch(instances, ivec2(2, gl_InstanceID), 0);
vec3 u[3];
u[0] = u[1] = u[2] = vec3(0.0);
#ifdef REDUCED
for (int block = 0; block < RANK; block += 4) {
    vec4 q = texelFetch(instances, ivec2(${kInstanceTexels} + block / 4, gl_InstanceID), 0);
    addShape(u, block, q.x);
    if (block + 1 < RANK) addShape(u, block + 1, q.y);
    if (block + 2 < RANK) addShape(u, block + 2, q.z);
    if (block + 3 < RANK) addShape(u, block + 3, q.w);
}
#endif
#ifdef POSITIONS
ivec2 size = textureSize(places, 0);
vec3 placed[3];
placed[1] = placed[2] = vec3(0.0);
for (int i = 0; i < PLACED; ++i)
    placed[i] = texelFetch(places, ivec2(ids[i] % size.x, ids[i] / size.x), 0).xyz;
vec3 d1 = placed[1] - placed[0];
vec3 d2 = placed[2] - placed[0];
vec3 place = placed[0];
float displacement = length(place - restShift - turned(restTurn, position));
#else
vec3 d1 = turned(turn, edge1 + u[1] - u[0]);
vec3 d2 = turned(turn, edge2 + u[2] - u[0]);
vec3 place = shift.xyz + turned(turn, position + u[0]);
float displacement = length(u[0]);
#endif
// the rest normal carried along: cofactor of the map from rest edges to present ones
vec3 faceNow = cross(d1, d2);
vec3 face = cross(edge1, edge2);
vec3 unitNow = faceNow / max(length(faceNow), 1e-30);
vec3 unitRest = face / max(length(face), 1e-30);
vec3 objectNormal = dot(edge1, normal) * cross(d2, unitNow) + dot(edge2, normal) * cross(unitNow, d1)
                  + dot(unitRest, normal) * faceNow;
if (dot(objectNormal, objectNormal) == 0.0) objectNormal = turned(turn, normal);
bodyColour = paint.rgb;
if (colourMode == ${ColourMode.Displacement}) bodyColour = colourOf(displacement / colourScale);
if (colourMode == ${ColourMode.Strain}) bodyColour = colourOf(largestStrain(d1, d2) / colourScale);
`;

function patch(
    material: THREE.Material,
    uniforms: Record<string, THREE.IUniform>,
    encoding: Encoding,
    rank: number,
): void {
    const isDepth = material instanceof THREE.MeshDepthMaterial;
    const defines = [
        `#define PLACED ${isDepth ? 1 : 3}`, // the vertex alone, or with its neighbours
        encoding === "reduced" ? `#define REDUCED\n#define RANK ${rank}` : "",
        encoding === "positions" ? "#define POSITIONS" : "",
    ].join("\n");
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, uniforms);
        const start = "#include <begin_vertex>";
        const placed = "vec3 transformed = place;";
        shader.vertexShader =
            `${defines}\n${kDeclarations}` +
            (isDepth
                ? shader.vertexShader.replace(start, kPlaceVertex + placed)
                : shader.vertexShader
                      .replace("#include <beginnormal_vertex>", kPlaceVertex)
                      .replace(start, placed));
        shader.fragmentShader = shader.fragmentShader
            .replace("void main() {", "varying vec3 bodyColour;\nvoid main() {")
            .replace("#include <color_fragment>", "diffuseColor.rgb *= bodyColour;");
    };
    material.customProgramCacheKey = () => `${encoding}/${rank}`;
}

/// For the picture and for the shadow map.
export function makeGpuMaterials(
    encoding: Encoding,
    rank: number,
    uniforms: Record<string, THREE.IUniform>,
): { lit: THREE.Material; depth: THREE.Material } {
    const lit = new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.02 });
    const depth = new THREE.MeshDepthMaterial();
    lit.side = depth.side = THREE.DoubleSide;
    // surfaces step back behind the lines of simulation meshes
    lit.polygonOffset = true;
    lit.polygonOffsetFactor = lit.polygonOffsetUnits = 1;
    for (const material of [lit, depth]) patch(material, uniforms, encoding, rank);
    return { lit, depth };
}
