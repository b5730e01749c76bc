import * as THREE from "three";
import type { Asset } from "./assets";
import type { Frame, Hello, Vec3 } from "./protocol";
import { reachOf, worldPositions } from "./surface_evaluation";
import { edgesOf } from "./triangle_edges";

export interface Pick {
    body: number;
    triangle: number;
    barycentric: Vec3;
    point: THREE.Vector3;
    distance: number;
}

/// The nearest surface point of all bodies along a ray, as they are in `frame`.
export function pick(ray: THREE.Ray, hello: Hello, assets: Asset[], frame: Frame): Pick | null {
    let best: Pick | null = null;
    hello.bodies.forEach((body, index) => {
        const asset = assets[body.asset]!;
        const numbers = frame.bodies[index]!;
        if (body.encoding !== "positions") {
            const centre = new THREE.Vector3(numbers[0], numbers[1], numbers[2]);
            if (ray.distanceToPoint(centre) > reachOf(body, asset, numbers)) return;
        }
        const x = worldPositions(body, asset, numbers);
        const hit = nearestTriangle(ray, x, asset.indices, best?.distance ?? Infinity);
        if (hit) best = { body: index, ...hit };
    });
    return best;
}

function nearestTriangle(
    ray: THREE.Ray,
    x: Float32Array,
    indices: Uint32Array,
    limit: number,
): Omit<Pick, "body"> | null {
    const { origin: o, direction: d } = ray;
    let triangle = -1;
    let distance = limit;
    let weightB = 0;
    let weightC = 0;
    for (let t = 0; t < indices.length; t += 3) {
        const a = 3 * indices[t]!;
        const b = 3 * indices[t + 1]!;
        const c = 3 * indices[t + 2]!;
        const { ux, uy, uz, vx, vy, vz } = edgesOf(x, a, b, c);
        // o + s d = a + β u + γ v by Cramer's rule
        const px = d.y * vz - d.z * vy;
        const py = d.z * vx - d.x * vz;
        const pz = d.x * vy - d.y * vx;
        const determinant = ux * px + uy * py + uz * pz;
        if (determinant === 0) continue;
        const sx = o.x - x[a]!;
        const sy = o.y - x[a + 1]!;
        const sz = o.z - x[a + 2]!;
        const beta = (sx * px + sy * py + sz * pz) / determinant;
        if (beta < 0 || beta > 1) continue;
        const qx = sy * uz - sz * uy;
        const qy = sz * ux - sx * uz;
        const qz = sx * uy - sy * ux;
        const gamma = (d.x * qx + d.y * qy + d.z * qz) / determinant;
        if (gamma < 0 || beta + gamma > 1) continue;
        const s = (vx * qx + vy * qy + vz * qz) / determinant;
        if (s <= 0 || s >= distance) continue;
        distance = s;
        triangle = t / 3;
        weightB = beta;
        weightC = gamma;
    }
    if (triangle < 0) return null;
    return {
        triangle,
        barycentric: [1 - weightB - weightC, weightB, weightC],
        point: ray.at(distance, new THREE.Vector3()),
        distance,
    };
}
