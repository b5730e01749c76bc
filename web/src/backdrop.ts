import * as THREE from "three";
import type { Theme } from "./theme";

/// A gradient behind everything, in colours of the screen.
export class Backdrop {
    readonly mesh: THREE.Mesh;
    private readonly uniforms = {
        top: { value: new THREE.Vector3() },
        bottom: { value: new THREE.Vector3() },
    };

    constructor() {
        const material = new THREE.ShaderMaterial({
            uniforms: this.uniforms,
            depthTest: false,
            depthWrite: false,
            vertexShader: `uniform vec3 top, bottom; varying vec3 colour;
                void main() {
                    colour = mix(bottom, top, uv.y);
                    gl_Position = vec4(position.xy, 1.0, 1.0);
                }`,
            fragmentShader: `varying vec3 colour;
                void main() { gl_FragColor = vec4(colour, 1.0); }`,
        });
        this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material);
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = -5;
    }

    setTheme(theme: Theme): void {
        setScreenColour(this.uniforms.top.value, theme.skyTop);
        setScreenColour(this.uniforms.bottom.value, theme.skyBottom);
    }
}

function setScreenColour(to: THREE.Vector3, hex: number): void {
    to.set((hex >> 16) / 255, ((hex >> 8) & 255) / 255, (hex & 255) / 255);
}
