// A shared library that answers as HD of OpenHaptics would, for tests: one device that can be
// unplugged, moved and read through fake_hd_set and fake_hd_get, and a scheduler with one task.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace {

struct FakeHd {
    std::atomic<double> present{1}, major{3}, warm{0};
    std::atomic<double> x{0}, y{0}, z{0}, angle{0}, speed{0}, buttons{0};
    std::atomic<double> force_x{0}, force_y{0}, force_z{0};
    std::atomic<double> opened{0}, disabled{0}, ticks{0}, enabled{0};
    // what is said of its calibration, 0x5000 or more; styles, bits; the style of the last update
    std::atomic<double> calibration{0x5000}, styles{2}, updated{0}, updates{0};
    std::atomic<double> model{0}, dof{3}, torque_mNm{515}, has_torque{1};
    std::atomic<double> torque_x{0}, torque_y{0}, torque_z{0};
    std::atomic<unsigned> error{0};
};
FakeHd fake;
using Task = unsigned (*)(void*);
std::atomic<Task> task{nullptr};
std::atomic<void*> task_data{nullptr};
std::atomic<bool> is_running{false};
std::thread servo;

std::atomic<double>* fake_number(const char* name) {
    struct Entry {
        const char* name;
        std::atomic<double>* number;
    };
    const std::array<Entry, 27> entries = {{{"present", &fake.present},
                                            {"major", &fake.major},
                                            {"warm", &fake.warm},
                                            {"x", &fake.x},
                                            {"y", &fake.y},
                                            {"z", &fake.z},
                                            {"angle", &fake.angle},
                                            {"speed", &fake.speed},
                                            {"buttons", &fake.buttons},
                                            {"force x", &fake.force_x},
                                            {"force y", &fake.force_y},
                                            {"force z", &fake.force_z},
                                            {"opened", &fake.opened},
                                            {"disabled", &fake.disabled},
                                            {"ticks", &fake.ticks},
                                            {"enabled", &fake.enabled},
                                            {"calibration", &fake.calibration},
                                            {"styles", &fake.styles},
                                            {"updated", &fake.updated},
                                            {"updates", &fake.updates},
                                            {"model", &fake.model},
                                            {"dof", &fake.dof},
                                            {"torque mNm", &fake.torque_mNm},
                                            {"has torque", &fake.has_torque},
                                            {"torque x", &fake.torque_x},
                                            {"torque y", &fake.torque_y},
                                            {"torque z", &fake.torque_z}}};
    for (const Entry& entry : entries)
        if (std::strcmp(entry.name, name) == 0) return entry.number;
    return nullptr;
}

void run_servo() {
    while (is_running) {
        const Task current = task;
        if (current && current(task_data) == 0) task = nullptr;
        fake.ticks = fake.ticks + 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

extern "C" {

struct FakeHdError {
    unsigned code;
    int internal;
    unsigned device;
};

void fake_hd_set(const char* name, double value) {
    if (auto* number = fake_number(name)) *number = value;
}
double fake_hd_get(const char* name) {
    const auto* number = fake_number(name);
    return number ? number->load() : std::numeric_limits<double>::quiet_NaN();
}

unsigned hdInitDevice(const char* name) {
    const bool is_known = !name || std::strcmp(name, "left") == 0;
    if (!(fake.present > 0) || !is_known) {
        fake.error = 0x0302;
        return 0xffffffffu;
    }
    fake.opened = fake.opened + 1;
    return 7;
}
void hdDisableDevice(unsigned) { fake.disabled = fake.disabled + 1; }
void hdMakeCurrentDevice(unsigned) {}
void hdBeginFrame(unsigned) {
    if (!(fake.present > 0)) fake.error = 0x0302;
    if (fake.warm > 0) fake.error = 0x0200;
}
void hdEndFrame(unsigned) {}
FakeHdError hdGetError() { return {fake.error.exchange(0), 0, 7}; }
const char* hdGetErrorString(unsigned code) {
    return code == 0x0302 ? "communication error" : "other error";
}
void hdEnable(unsigned what) { fake.enabled = what; }
const char* hdGetString(unsigned what) {
    if (what == 0x2501) return fake.model > 0 ? "PHANTOM Premium 1.5 6DOF" : "Touch";
    return fake.major == 3 ? "3.4.0" : "2.0.1";
}
void hdGetDoublev(unsigned what, double* values) {
    const double c = std::cos(fake.angle), s = std::sin(fake.angle);
    switch (what) {
        case 0x2051:
            values[0] = fake.speed;
            values[1] = values[2] = 0;
            break;
        case 0x2052: {
            // about y, by columns
            const double frame[16] = {c, 0, -s, 0, 0,      1,      0,      0,
                                      s, 0, c,  0, fake.x, fake.y, fake.z, 1};
            std::memcpy(values, frame, sizeof frame);
            break;
        }
        case 0x2053: values[0] = values[1] = values[2] = 0; break;
        case 0x2551: {
            const double box[6] = {-160, -70, -60, 160, 110, 60};
            std::memcpy(values, box, sizeof box);
            break;
        }
        case 0x2602: values[0] = 0.5; break;
        case 0x2603: values[0] = 3.3; break;
        case 0x2604: values[0] = 0.9; break;
        case 0x2622: values[0] = fake.torque_mNm; break;
        default: break;
    }
}
void hdGetIntegerv(unsigned what, int* values) {
    if (what == 0x2000) *values = static_cast<int>(fake.buttons);
    if (what == 0x2554) *values = static_cast<int>(fake.dof);
    if (what == 0x2555) *values = static_cast<int>(fake.styles);
}
void hdSetDoublev(unsigned what, const double* values) {
    if (what == 0x2701 && fake.has_torque > 0) {
        fake.torque_x = values[0];
        fake.torque_y = values[1];
        fake.torque_z = values[2];
    } else if (what != 0x2700) {
        fake.error = 0x0100;
    }
    if (what != 0x2700) return;
    fake.force_x = values[0];
    fake.force_y = values[1];
    fake.force_z = values[2];
}
unsigned hdCheckCalibration() { return static_cast<unsigned>(fake.calibration); }
void hdUpdateCalibration(unsigned style) {
    fake.updated = style;
    fake.updates = fake.updates + 1;
    if (fake.calibration == 0x5001) fake.calibration = 0x5000;
}
void hdStartScheduler() {
    if (is_running.exchange(true)) return;
    servo = std::thread(run_servo);
}
void hdStopScheduler() {
    if (!is_running.exchange(false)) return;
    servo.join();
}
unsigned long hdScheduleAsynchronous(Task callback, void* data, unsigned short) {
    task_data = data;
    task = callback;
    return 1;
}
void hdUnschedule(unsigned long) { task = nullptr; }

}  // extern "C"
