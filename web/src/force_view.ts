import * as THREE from "three";
import { pointOf } from "./placement";
import { type Frame, type Hello, type Vec3, kSlots } from "./protocol";
import { quantity } from "./quantity";
import type { Stage } from "./stage";
import { TorqueArc } from "./torque_arc";

const kPullColour = 0xff7a1a;
const kToolColour = 0x3d7bd9;
const kHoldColour = 0x2a6fdb;
const kTorqueColour = 0x8a5be0;
const kMaxContactArrows = 16;
const kFelt = 0.01; // of what a device can do: less is not drawn

/// What one hand does: an elastic line from the surface point to the hand, the force as an arrow,
/// and its size in newtons.
class ForceArrow {
    readonly group = new THREE.Group();
    private readonly line: THREE.Mesh;
    private readonly shaft: THREE.Mesh;
    private readonly head: THREE.Mesh;
    private readonly hand: THREE.Mesh;

    /// `isInFront`: of everything, where it begins inside bodies.
    constructor(
        readonly label: HTMLElement,
        isInFront = false,
    ) {
        const arrow = new THREE.MeshLambertMaterial({
            color: kPullColour,
            emissive: 0x5a2600,
            depthTest: !isInFront,
        });
        const elastic = new THREE.MeshBasicMaterial({
            color: kHoldColour,
            transparent: true,
            opacity: 0.75,
        });
        const cylinder = new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
        this.line = new THREE.Mesh(cylinder, elastic);
        this.shaft = new THREE.Mesh(cylinder, arrow);
        this.head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 20).translate(0, 0.5, 0), arrow);
        this.hand = new THREE.Mesh(new THREE.SphereGeometry(1, 20, 14), elastic);
        this.group.add(this.line, this.shaft, this.head, this.hand);
        for (const part of this.group.children) {
            part.frustumCulled = false;
            part.renderOrder = isInFront ? 1 : 0;
        }
    }

    /// `unit`: a length that looks the same at every distance [m]; `scale`: arrow [m] per newton.
    update(point: Vec3, target: Vec3 | null, force: Vec3, unit: number, scale: number): void {
        const from = new THREE.Vector3(...point);
        const direction = new THREE.Vector3(...force);
        const size = direction.length();
        const length = size * scale;
        const headLength = Math.min(3.4 * unit, 0.6 * length);
        along(this.shaft, from, direction, length - headLength, 0.42 * unit);
        along(
            this.head,
            from.clone().addScaledVector(direction, (length - headLength) / (size || 1)),
            direction,
            headLength,
            0.33 * headLength + 0.1 * unit,
        );
        this.shaft.visible = this.head.visible = length > 0.2 * unit;
        this.line.visible = this.hand.visible = target !== null;
        if (target) {
            const to = new THREE.Vector3(...target);
            along(this.line, from, to.clone().sub(from), to.distanceTo(from), 0.16 * unit);
            this.hand.position.copy(to);
            this.hand.scale.setScalar(0.85 * unit);
        }
    }
}

function along(
    mesh: THREE.Mesh,
    from: THREE.Vector3,
    direction: THREE.Vector3,
    length: number,
    radius: number,
): void {
    const y = new THREE.Vector3(0, 1, 0);
    mesh.position.copy(from);
    mesh.quaternion.setFromUnitVectors(y, direction.clone().normalize());
    mesh.scale.set(radius, Math.max(length, 1e-9), radius);
}

/// Hands, tool and contacts of the newest frame.
export class ForceView {
    private readonly arrows: ForceArrow[];
    private readonly toolArrow: ForceArrow;
    private readonly couplingArrow: ForceArrow;
    private readonly torqueArc: TorqueArc;
    private readonly contactArrows: ForceArrow[] = []; // as many as were needed so far
    private readonly makeArrow: (isInFront?: boolean) => ForceArrow;
    private readonly tool: THREE.Mesh;
    private readonly toolTarget: THREE.Mesh;
    private largestForce = 0;
    private largestTorque = 0;

    constructor(
        private readonly stage: Stage,
        labels: HTMLElement,
    ) {
        const makeLabel = () => {
            const label = document.createElement("output");
            label.className = "force-label";
            label.hidden = true;
            labels.append(label);
            return label;
        };
        this.makeArrow = (isInFront = false) => {
            const arrow = new ForceArrow(makeLabel(), isInFront);
            arrow.group.visible = false;
            stage.scene.add(arrow.group);
            return arrow;
        };
        this.arrows = Array.from({ length: kSlots }, () => this.makeArrow());
        this.toolArrow = this.makeArrow();
        this.couplingArrow = this.makeArrow(true);
        this.torqueArc = new TorqueArc(kTorqueColour, makeLabel());
        this.torqueArc.label.classList.add("torque");
        stage.scene.add(this.torqueArc.group);
        const sphere = new THREE.SphereGeometry(1, 40, 28);
        this.tool = new THREE.Mesh(
            sphere,
            new THREE.MeshStandardMaterial({ color: kToolColour, roughness: 0.3 }),
        );
        this.tool.castShadow = true;
        this.toolTarget = new THREE.Mesh(
            sphere,
            new THREE.MeshBasicMaterial({ color: kToolColour, transparent: true, opacity: 0.18 }),
        );
        for (const mesh of [this.tool, this.toolTarget]) {
            mesh.visible = false;
            stage.scene.add(mesh);
        }
    }

    /// `edgeOf`: where an arrow from the middle of a body leaves it.
    update(frame: Frame, hello: Hello, edgeOf: (body: number, direction: Vec3) => Vec3): void {
        const forces = frame.held.filter((h) => h.body >= 0).map((h) => Math.hypot(...h.force));
        if (frame.tool) forces.push(Math.hypot(...frame.tool.force));
        if (frame.haptics) forces.push(Math.hypot(...frame.haptics.coupling.force));
        const contacts = contactForces(frame, hello);
        forces.push(...contacts.map(([, force]) => Math.hypot(...force)));
        // the longest arrow is a fixed part of the view; its scale follows slowly down
        this.largestForce = Math.max(
            0.998 * this.largestForce,
            ...forces,
            0.1 * (hello.haptics?.max_force ?? 0),
            1e-9,
        );
        const { camera, target: centre } = this.stage.orbit;
        const reach = camera.position.distanceTo(centre) * Math.min(camera.aspect, 1);
        const scale = (0.16 * reach) / this.largestForce;
        frame.held.forEach((held, slot) => {
            const target = held.isPoke ? null : held.target;
            this.show(this.arrows[slot]!, held.body >= 0, held.point, target, held.force, scale);
        });
        this.tool.visible = this.toolTarget.visible = frame.tool !== null;
        if (frame.tool) {
            const { position, target, force } = frame.tool;
            this.tool.position.set(...position);
            this.tool.scale.setScalar(hello.tool_radius);
            this.toolTarget.position.set(...target);
            this.toolTarget.scale.setScalar(hello.tool_radius);
            const gap = this.tool.position.distanceTo(this.toolTarget.position);
            this.toolTarget.visible = gap > 0.02 * hello.tool_radius;
            const isFelt = Math.hypot(...force) > 1e-9;
            this.show(this.toolArrow, isFelt, position, null, force, scale);
        } else this.show(this.toolArrow, false, [0, 0, 0], null, [0, 0, 0], scale);
        this.showCoupling(frame, hello, scale);
        while (this.contactArrows.length < contacts.length)
            this.contactArrows.push(this.makeArrow());
        this.contactArrows.forEach((arrow, i) => {
            const [body, force] = contacts[i] ?? [-1, [0, 0, 0]];
            const from = body < 0 ? force : edgeOf(body, force);
            this.show(arrow, body >= 0, from, null, force, scale);
        });
    }

    /// What the hand feels of the tool it holds.
    private showCoupling({ haptics }: Frame, { haptics: info }: Hello, scale: number): void {
        const { couplingArrow, torqueArc } = this;
        torqueArc.group.visible = false;
        torqueArc.label.hidden = true;
        if (!haptics || !info)
            return this.show(couplingArrow, false, [0, 0, 0], null, [0, 0, 0], 0);
        const { force, torque } = haptics.coupling;
        const grasp = pointOf(haptics.manipulandum, info.grasp);
        const isFelt = Math.hypot(...force) > kFelt * info.max_force;
        this.show(couplingArrow, isFelt, grasp.toArray(), null, force, scale);

        const size = Math.hypot(...torque);
        // a device without torques: as if its handle were 2 cm thick
        const strongest = (info.max_torque || 0.02 * info.max_force) * info.scale;
        this.largestTorque = Math.max(0.998 * this.largestTorque, size, 0.2 * strongest, 1e-12);
        if (size < kFelt * strongest) return;
        const { camera } = this.stage.orbit;
        const unit = 0.0075 * camera.position.distanceTo(grasp);
        const share = size / this.largestTorque;
        torqueArc.update(grasp, torque, share, unit, camera.position);
        torqueArc.group.visible = true;
        this.showLabel(torqueArc.label, torqueArc.tip, quantity(size, "N m"));
    }

    private show(
        arrow: ForceArrow,
        isShown: boolean,
        point: Vec3,
        target: Vec3 | null,
        force: Vec3,
        scale: number,
    ): void {
        arrow.group.visible = isShown;
        arrow.label.hidden = !isShown;
        if (!isShown) return;
        const { camera } = this.stage.orbit;
        const at = new THREE.Vector3(...point);
        const unit = 0.0075 * camera.position.distanceTo(at);
        arrow.update(point, target, force, unit, scale);
        const tip = at.addScaledVector(new THREE.Vector3(...force), scale);
        this.showLabel(arrow.label, tip, quantity(Math.hypot(...force), "N"));
    }

    /// At the tip of an arrow.
    private showLabel(label: HTMLElement, tip: THREE.Vector3, text: string): void {
        const seen = tip.project(this.stage.orbit.camera);
        const { clientWidth, clientHeight } = this.stage.canvas;
        const x = Math.min(Math.max((0.5 + 0.5 * seen.x) * clientWidth, 8), clientWidth - 80);
        const y = Math.min(Math.max((0.5 - 0.5 * seen.y) * clientHeight, 20), clientHeight - 20);
        label.hidden = false;
        label.textContent = text;
        label.style.transform = `translate(${x + 12}px, ${y - 12}px)`;
    }
}

/// Forces of contact on bodies with fields, while nothing is held: arrows of both would be in each
/// other's way. Where many bodies touch, or one itself, points show them (contact_view.ts); where a
/// tool in a hand does, the arrows in the hand.
function contactForces(frame: Frame, hello: Hello): [number, Vec3][] {
    if (frame.held.some(({ body }) => body >= 0)) return [];
    const sums = new Map<number, Vec3>();
    frame.contacts.forEach(({ force, touching }, c) => {
        if (touching === 0) return;
        const { shell, field } = hello.contacts[c]!;
        const held = hello.haptics?.body;
        if (field < 0 || field === shell || field === held || shell === held) return;
        const [x, y, z] = sums.get(field) ?? [0, 0, 0];
        sums.set(field, [x + force[0], y + force[1], z + force[2]]);
    });
    return [...sums].slice(0, kMaxContactArrows);
}
