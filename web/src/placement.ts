import * as THREE from "three";
import type { Placement, Turn, Vec3 } from "./protocol";

export function toQuaternion([w, x, y, z]: Turn): THREE.Quaternion {
    return new THREE.Quaternion(x, y, z, w);
}

export function toTurn({ w, x, y, z }: THREE.Quaternion): Turn {
    return [w, x, y, z];
}

/// A point of a body in the world.
export function pointOf({ position, rotation }: Placement, local: Vec3): THREE.Vector3 {
    return new THREE.Vector3(...local)
        .applyQuaternion(toQuaternion(rotation))
        .add(new THREE.Vector3(...position));
}
