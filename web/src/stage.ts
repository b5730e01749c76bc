import * as THREE from "three";
import { Backdrop } from "./backdrop";
import { Ground } from "./ground";
import { OrbitCamera } from "./orbit_camera";
import type { Hello } from "./protocol";
import { type QualityChoice, QualityControl, hasGpu, isSoftwareRenderer } from "./quality";
import { currentTheme, onThemeChange } from "./theme";

/// Renderer, camera, lights, ground and background.
export class Stage {
    readonly scene = new THREE.Scene();
    readonly orbit = new OrbitCamera();
    readonly ground = new Ground();
    readonly renderer: THREE.WebGLRenderer;
    readonly quality: QualityControl;
    /// Called when bodies have to be drawn in another way.
    onQuality: () => void = () => {};
    private readonly backdrop = new Backdrop();
    private readonly hemisphere = new THREE.HemisphereLight();
    private readonly sun = new THREE.DirectionalLight(0xfffaf2, 2.1);
    private readonly fill = new THREE.DirectionalLight(0xdbe7ff, 0.5);
    private needsDraw = true;
    private hasNewSize = true;

    constructor(readonly canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({
            canvas,
            antialias: hasGpu() || new URLSearchParams(location.search).has("quality"),
            powerPreference: "high-performance",
        });
        const gl = this.renderer.getContext() as WebGL2RenderingContext;
        this.quality = new QualityControl(isSoftwareRenderer(gl));
        this.renderer.autoClear = true;
        this.sun.shadow.bias = -0.0004;
        this.sun.shadow.radius = 4;
        this.scene.add(this.backdrop.mesh, this.ground.group, this.hemisphere);
        this.scene.add(this.sun, this.sun.target, this.fill);
        onThemeChange(() => this.applyTheme());
        this.applyTheme();
        this.applyQuality();
    }

    get maxTextureSize(): number {
        return this.renderer.capabilities.maxTextureSize;
    }

    invalidate(): void {
        this.needsDraw = true;
    }

    /// Takes parts of the scene away for good, with all that is theirs alone.
    discard(parts: (THREE.Mesh | THREE.Line)[]): void {
        for (const part of parts) {
            this.scene.remove(part);
            part.geometry.dispose();
            (part.material as THREE.Material).dispose();
        }
    }

    setScene(hello: Hello): void {
        const { scene } = hello;
        this.orbit.setHome(scene.camera.eye, scene.camera.target);
        const extent = 0.7 * this.orbit.homeDistance;
        const target = this.orbit.target;
        this.ground.place(scene.has_ground, scene.ground_height, target, extent);
        // light from the upper left behind the viewer
        const toEye = new THREE.Vector3(...scene.camera.eye).sub(target);
        const azimuth = Math.atan2(toEye.y, toEye.x) - 0.7;
        const offset = new THREE.Vector3(Math.cos(azimuth), Math.sin(azimuth), 1.5);
        this.sun.position.copy(target).addScaledVector(offset, 2 * extent);
        this.sun.target.position.copy(target);
        this.fill.position.set(-offset.x, -offset.y, 0.4);
        const box = this.sun.shadow.camera;
        box.left = box.bottom = -1.1 * extent;
        box.right = box.top = 1.1 * extent;
        box.near = 0.1 * extent;
        box.far = 8 * extent;
        box.updateProjectionMatrix();
        this.sun.shadow.normalBias = 0.004 * extent;
        this.invalidate();
    }

    chooseQuality(choice: QualityChoice): void {
        this.quality.choice = choice;
        this.applyQuality();
    }

    /// Whether the GPU deforms bodies and lights them physically.
    get isFine(): boolean {
        return this.quality.level !== "low";
    }

    /// The canvas has another size: taken over with the next picture, since it clears the canvas.
    resized(): void {
        this.hasNewSize = true;
        this.invalidate();
    }

    /// Something changed since the last picture.
    get isStale(): boolean {
        return this.needsDraw;
    }

    draw(): void {
        if (!this.needsDraw) return;
        this.needsDraw = false;
        if (this.hasNewSize) this.resize();
        this.renderer.render(this.scene, this.orbit.camera);
        if (this.quality.drawn(performance.now())) this.applyQuality();
    }

    /// The picture as a PNG file.
    async picture(): Promise<Blob | null> {
        this.renderer.render(this.scene, this.orbit.camera);
        return new Promise((done) => this.canvas.toBlob(done, "image/png"));
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.canvas;
        if (clientWidth === 0 || clientHeight === 0) return;
        this.hasNewSize = false;
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.quality.pixelRatio));
        this.renderer.setSize(clientWidth, clientHeight, false);
        this.orbit.resize(clientWidth, clientHeight);
    }

    private applyQuality(): void {
        const { level } = this.quality;
        const hasShadows = level !== "low";
        this.renderer.shadowMap.enabled = hasShadows;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.sun.castShadow = hasShadows;
        const size = level === "high" ? 2048 : 1024;
        this.sun.shadow.map?.dispose();
        this.sun.shadow.map = null;
        this.sun.shadow.mapSize.set(size, size);
        this.ground.setFine(hasShadows);
        this.onQuality();
        this.resized();
    }

    private applyTheme(): void {
        const theme = currentTheme();
        this.backdrop.setTheme(theme);
        this.ground.setTheme(theme);
        this.hemisphere.color.set(theme.skyLight);
        this.hemisphere.groundColor.set(theme.groundLight);
        this.hemisphere.intensity = 1.35;
        this.invalidate();
    }
}
