import * as THREE from "three";
import type { Vec3 } from "./protocol";

const kSteepest = 1.55; // rad above and below the horizon

/// A camera that looks at a target, z up.
export class OrbitCamera {
    readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
    readonly target = new THREE.Vector3();
    private azimuth = 0;
    private elevation = 0;
    private distance = 1;
    private home = { eye: [1, -2, 1] as Vec3, target: [0, 0, 0] as Vec3 };

    constructor() {
        this.camera.up.set(0, 0, 1);
    }

    setHome(eye: Vec3, target: Vec3): void {
        this.home = { eye, target };
        this.goHome();
    }

    /// The scene's own view, further away where the window is narrow.
    goHome(): void {
        const offset = new THREE.Vector3(...this.home.eye).sub(
            new THREE.Vector3(...this.home.target),
        );
        this.target.set(...this.home.target);
        this.distance = Math.max(offset.length(), 1e-6);
        this.elevation = Math.asin(THREE.MathUtils.clamp(offset.z / this.distance, -1, 1));
        this.azimuth = Math.atan2(offset.y, offset.x);
        this.distance *= Math.max(1, 1.35 / this.camera.aspect);
        this.update();
    }

    /// Length in the scene that fills the view [m], in its own view.
    get homeDistance(): number {
        return new THREE.Vector3(...this.home.eye).distanceTo(
            new THREE.Vector3(...this.home.target),
        );
    }

    resize(width: number, height: number): void {
        this.camera.aspect = width / height;
        this.camera.updateProjectionMatrix();
    }

    orbit(right: number, up: number): void {
        this.azimuth -= right;
        this.elevation = THREE.MathUtils.clamp(this.elevation + up, -kSteepest, kSteepest);
        this.update();
    }

    zoom(factor: number): void {
        const nearest = 0.02 * this.homeDistance;
        this.distance = THREE.MathUtils.clamp(this.distance * factor, nearest, 1000 * nearest);
        this.update();
    }

    /// Moves the target by fractions of the view's height.
    pan(right: number, up: number): void {
        const height = 2 * this.distance * Math.tan(THREE.MathUtils.degToRad(this.camera.fov) / 2);
        const axes = this.camera.matrixWorld.elements;
        for (let d = 0; d < 3; ++d) {
            const shift = height * (right * axes[d]! + up * axes[4 + d]!);
            this.target.setComponent(d, this.target.getComponent(d) + shift);
        }
        this.update();
    }

    /// Unit vector into the picture.
    get forward(): THREE.Vector3 {
        return this.camera.getWorldDirection(new THREE.Vector3());
    }

    private update(): void {
        const horizontal = this.distance * Math.cos(this.elevation);
        this.camera.position.set(
            this.target.x + horizontal * Math.cos(this.azimuth),
            this.target.y + horizontal * Math.sin(this.azimuth),
            this.target.z + this.distance * Math.sin(this.elevation),
        );
        this.camera.near = this.distance / 200;
        this.camera.far = this.distance * 60;
        this.camera.updateProjectionMatrix();
        this.camera.lookAt(this.target);
        this.camera.updateMatrixWorld();
    }
}
