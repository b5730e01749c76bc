#!/usr/bin/env python3
"""A driver for a scene with "device": {"kind": "network"}, with the standard library alone.

It stands for a real device: a handle of 100 g whose hand is a spring that follows a sine. Use it
as a template: replace FakeHandle by calls of your hardware, and CAPABILITIES by what it can do.
The messages are described in docs/haptics.md, section "Network".

    pliant run scene.json &                     (a scene with that device)
    python3 network_device.py                   (UDP, 1000 readings a second)
    python3 network_device.py --websocket --seconds 5
"""
import argparse
import base64
import math
import os
import select
import socket
import struct
import sys
import time

MAGIC, VERSION = b"PLHD", 1
HELLO, STATE, COMMAND, ANSWER, BYE = 1, 2, 3, 4, 5
HEADER = struct.Struct("<4sBBHII")  # magic, version, kind, size, session, sequence
CAPABILITIES_BODY = struct.Struct("<32s13dII")
STATE_BODY = struct.Struct("<15dII")
COMMAND_BODY = struct.Struct("<8dII")
ANSWER_BODY = struct.Struct("<II")
ACCEPTED, BUSY, WRONG_VERSION, BAD_CAPABILITIES, NOT_ATTACHED = range(5)
REFUSALS = {
    BUSY: "another driver is attached",
    WRONG_VERSION: f"Pliant does not speak version {VERSION} of the protocol",
    BAD_CAPABILITIES: "Pliant refuses these capabilities",
}

CAPABILITIES = dict(
    name=b"fake spring",
    workspace=(0.08, 0.08, 0.06),  # half sides [m]
    max_force=8.5, max_torque=0.17, continuous_force=3.0,  # [N], [N m], [N]
    max_stiffness=600.0, max_angular_stiffness=1.0,  # [N/m], [N m/rad]
    damping=0.1, angular_damping=1e-3,  # [N s/m], [N m s/rad]; 0: unknown
    delay=1.0,  # samples between a command and its force
    position_step=2e-5, angle_step=2e-4,  # of the encoders [m], [rad]
    sensed=0b111111, actuated=0b111111,  # bit i: axis i, three shifts and three turns
)


class UdpLink:
    """One datagram is one message."""

    def __init__(self, host, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((host, port))
        self.socket.setblocking(False)

    def send(self, message):
        try:
            self.socket.send(message)
        except OSError:
            pass  # nobody listens yet

    def receive(self, wait):
        """The next message, or None after `wait` seconds."""
        if not select.select([self.socket], [], [], wait)[0]:
            return None
        try:
            return self.socket.recv(2048)
        except OSError:
            return None


class WebSocketLink:
    """One binary WebSocket message is one message."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            part = self.socket.recv(1024)
            if not part:
                raise ConnectionError("the port closed the connection")
            head += part
        head, self.received = head.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.split(b"\r\n")[0].decode())

    def send(self, message, opcode=2):
        length = len(message)
        size = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack(">H", length)
        mask = os.urandom(4)
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(message))
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + body)

    def receive(self, wait):
        deadline = time.monotonic() + wait
        while True:
            frame = self.take_frame()
            if frame is None:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                    return None
                part = self.socket.recv(4096)
                if not part:
                    raise ConnectionError("the port closed the connection")
                self.received += part
                continue
            opcode, data = frame
            if opcode == 2:
                return data
            if opcode == 8:
                raise ConnectionError("the port closed the connection")
            if opcode == 9:
                self.send(data, 10)

    def take_frame(self):
        """Opcode and data, or None when it is not complete. Servers send no masks."""
        if len(self.received) < 2:
            return None
        length, start = self.received[1] & 127, 2
        if length == 126:
            if len(self.received) < 4:
                return None
            length, start = struct.unpack_from(">H", self.received, 2)[0], 4
        if len(self.received) < start + length:
            return None
        opcode, data = self.received[0] & 15, self.received[start:start + length]
        self.received = self.received[start + length:]
        return opcode, data


class FakeHandle:
    """A mass on the spring and damper of a hand whose place is a sine along z."""

    def __init__(self, amplitude, frequency):
        self.amplitude, self.frequency = amplitude, frequency
        self.z, self.speed = 0.0, 0.0

    def read(self):
        """Position [m], rotation (w, x, y, z), velocity [m/s], angular velocity [rad/s]."""
        return (0.0, 0.0, self.z), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, self.speed), (0.0, 0.0, 0.0)

    def show(self, force, torque, gripper, now, step):
        wanted = self.amplitude * math.sin(2 * math.pi * self.frequency * now)
        mass, stiffness, damping = 0.15, 300.0, 8.0
        total = force[2] + stiffness * (wanted - self.z) - damping * self.speed
        self.speed += step * total / mass
        self.z += step * self.speed


class Driver:
    def __init__(self, link):
        self.link = link
        self.session = int.from_bytes(os.urandom(4), "little")
        self.sequence = 0
        self.attached = False

    def message(self, kind, body=b""):
        self.sequence = (self.sequence + 1) & 0xffffffff
        return HEADER.pack(MAGIC, VERSION, kind, HEADER.size + len(body), self.session,
                           self.sequence) + body

    def hello(self):
        c = CAPABILITIES
        body = CAPABILITIES_BODY.pack(
            c["name"], *c["workspace"], c["max_force"], c["max_torque"], c["continuous_force"],
            c["max_stiffness"], c["max_angular_stiffness"], c["damping"], c["angular_damping"],
            c["delay"], c["position_step"], c["angle_step"], c["sensed"], c["actuated"])
        self.link.send(self.message(HELLO, body))

    def reading(self, position, rotation, velocity, angular_velocity, gripper=0.0, buttons=0,
                motors_off=False):
        self.link.send(self.message(STATE, STATE_BODY.pack(
            time.monotonic(), *position, *rotation, *velocity, *angular_velocity, gripper,
            buttons, 1 if motors_off else 0)))

    def command(self, wait):
        """Force [N], torque [N m] and gripper force [N], or None: then show no force."""
        message = self.link.receive(wait)
        if message is None or len(message) < HEADER.size:
            return None
        magic, version, kind, size, session, _ = HEADER.unpack_from(message)
        if magic != MAGIC or size != len(message):
            return None
        if kind == ANSWER and size == HEADER.size + ANSWER_BODY.size:
            code = ANSWER_BODY.unpack_from(message, HEADER.size)[0]
            self.attached = code == ACCEPTED
            if code in REFUSALS:
                print(f"refused: {REFUSALS[code]}", file=sys.stderr, flush=True)
                if code != BUSY:
                    sys.exit(1)
            return None
        if kind != COMMAND or session != self.session or version != VERSION:
            return None
        values = COMMAND_BODY.unpack_from(message, HEADER.size)
        return values[1:4], values[4:7], values[7]


def main():
    parser = argparse.ArgumentParser(description="A fake haptic device for Pliant.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7717)
    parser.add_argument("--websocket", action="store_true", help="instead of UDP")
    parser.add_argument("--rate", type=float, default=1000, help="readings a second")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--amplitude", type=float, default=0.03, help="of the hand [m]")
    parser.add_argument("--frequency", type=float, default=0.5, help="of the hand [Hz]")
    arguments = parser.parse_args()

    link = (WebSocketLink if arguments.websocket else UdpLink)(arguments.host, arguments.port)
    driver = Driver(link)
    handle = FakeHandle(arguments.amplitude, arguments.frequency)
    step = 1 / arguments.rate
    start = next_tick = time.monotonic()
    next_hello = next_print = start
    last_command, force, torque, gripper = start, (0.0,) * 3, (0.0,) * 3, 0.0
    while time.monotonic() - start < arguments.seconds:
        now = time.monotonic()
        if driver.attached:
            driver.reading(*handle.read())
        elif now >= next_hello:
            driver.hello()
            next_hello = now + 0.2
        command = driver.command(step)
        if command:
            force, torque, gripper = command
            last_command = now
        elif now - last_command > 0.05:
            # a device needs its own watchdog: no word from Pliant, no force
            force, torque, gripper = (0.0,) * 3, (0.0,) * 3, 0.0
        handle.show(force, torque, gripper, now - start, step)
        if now >= next_print:
            print(f"{'attached' if driver.attached else 'waiting '}  z {handle.z:+.4f} m  force "
                  f"{force[0]:+.2f} {force[1]:+.2f} {force[2]:+.2f} N", flush=True)
            next_print = now + 0.1
        next_tick = max(next_tick + step, now)
        time.sleep(max(0.0, next_tick - time.monotonic()))
    link.send(driver.message(BYE))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
    except OSError as error:
        sys.exit(f"cannot reach Pliant: {error}")
