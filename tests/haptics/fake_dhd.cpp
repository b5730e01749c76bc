// A shared library that answers as Force Dimension's would, for tests: one device that can be
// unplugged, moved and read through fake_dhd_set and fake_dhd_get.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include <sched.h>

namespace {

struct FakeDhd {
    std::atomic<double> present{1}, major{3}, type{104}, motors{1}, wrist{1};
    std::atomic<double> x{0}, y{0}, z{0}, angle{0}, speed{0}, gap{0}, buttons{0};
    std::atomic<double> force_x{0}, force_y{0}, force_z{0}, torque_x{0}, torque_y{0}, torque_z{0};
    std::atomic<double> grip{0}, opened{0}, closed{0}, serial{0}, enabled{0};
    std::atomic<double> reset{0}, bent{0}, priority{0};
    // 1: without calibration it says no place; so often its motors do not come on; how often they
    // were switched; 1: it is calibrated right after the next place, and takes its time for another
    std::atomic<double> placeless{0}, refusals{0}, enables{0}, ends_reset{0};
    std::atomic<bool> is_slow{false};
};
FakeDhd fake;

std::atomic<double>* fake_number(const char* name) {
    struct Entry {
        const char* name;
        std::atomic<double>* number;
    };
    const std::array<Entry, 30> entries = {{{"present", &fake.present},
                                            {"major", &fake.major},
                                            {"type", &fake.type},
                                            {"motors", &fake.motors},
                                            {"wrist", &fake.wrist},
                                            {"x", &fake.x},
                                            {"y", &fake.y},
                                            {"z", &fake.z},
                                            {"angle", &fake.angle},
                                            {"speed", &fake.speed},
                                            {"gap", &fake.gap},
                                            {"buttons", &fake.buttons},
                                            {"force x", &fake.force_x},
                                            {"force y", &fake.force_y},
                                            {"force z", &fake.force_z},
                                            {"torque x", &fake.torque_x},
                                            {"torque y", &fake.torque_y},
                                            {"torque z", &fake.torque_z},
                                            {"grip", &fake.grip},
                                            {"opened", &fake.opened},
                                            {"closed", &fake.closed},
                                            {"serial", &fake.serial},
                                            {"enabled", &fake.enabled},
                                            {"reset", &fake.reset},
                                            {"bent", &fake.bent},
                                            {"priority", &fake.priority},
                                            {"placeless", &fake.placeless},
                                            {"refusals", &fake.refusals},
                                            {"enables", &fake.enables},
                                            {"ends reset", &fake.ends_reset}}};
    for (const Entry& entry : entries)
        if (std::strcmp(entry.name, name) == 0) return entry.number;
    return nullptr;
}

int present() { return fake.present > 0 ? 0 : -1; }

}  // namespace

extern "C" {

void fake_dhd_set(const char* name, double value) {
    if (auto* number = fake_number(name)) *number = value;
}
double fake_dhd_get(const char* name) {
    const auto* number = fake_number(name);
    return number ? number->load() : std::numeric_limits<double>::quiet_NaN();
}

void dhdGetSDKVersion(int* major, int* minor, int* release, int* revision) {
    *major = static_cast<int>(fake.major);
    *minor = 7;
    *release = 1;
    *revision = 99;
}
int dhdGetDeviceCount() { return fake.present > 0 ? 1 : 0; }
int dhdOpen() {
    if (present() < 0) return -1;
    fake.opened = fake.opened + 1;
    return 0;
}
int dhdOpenSerial(int serial) {
    if (serial != 1234) return -1;
    fake.serial = serial;
    return dhdOpen();
}
int dhdClose(char) {
    fake.closed = fake.closed + 1;
    return present();
}
const char* dhdErrorGetLastStr() { return "no device found"; }
int dhdGetSystemType(char) { return static_cast<int>(fake.type); }
const char* dhdGetSystemName(char) { return "sigma.7"; }
bool dhdHasWrist(char) { return fake.wrist > 0; }
bool dhdHasActiveWrist(char) { return fake.wrist > 0; }
bool dhdHasGripper(char) { return true; }
int dhdEnableForce(unsigned char on, char) {
    fake.enables = fake.enables + 1;
    if (on && fake.refusals > 0) {
        fake.refusals = fake.refusals - 1;
        return -1;
    }
    fake.enabled = on;
    return present();
}
int dhdGetStatus(int* status, char) {
    // powered, connected, started; in its reset mode it waits for its calibration
    for (int i = 0; i < 17; ++i) status[i] = i < 3 ? 1 : 0;
    status[3] = fake.reset > 0 ? 1 : 0;
    status[5] = fake.motors > 0 && fake.enabled > 0 ? 1 : 0;
    return present();
}
int dhdGetPositionAndOrientationFrame(double* x, double* y, double* z, double frame[3][3], char) {
    if (present() < 0) return -1;
    if (fake.reset > 0 && fake.placeless > 0) return -1;
    if (fake.is_slow.exchange(false)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sched_param own{};
    if (sched_getparam(0, &own) == 0) fake.priority = own.sched_priority;
    *x = fake.x;
    *y = fake.y;
    *z = fake.z;
    const double c = std::cos(fake.angle), s = std::sin(fake.angle);
    // bent: by that, no rotation any more
    const double turn[3][3] = {{1, fake.bent, 0}, {0, c, -s}, {0, s, c}};
    std::memcpy(frame, turn, sizeof turn);
    if (fake.ends_reset > 0) {
        fake.ends_reset = fake.reset = 0;
        fake.x = 0;
        fake.is_slow = true;
    }
    return 0;
}
int dhdGetLinearVelocity(double* x, double* y, double* z, char) {
    *x = fake.speed;
    *y = *z = 0;
    return present();
}
int dhdGetAngularVelocityRad(double* x, double* y, double* z, char) {
    *x = *y = *z = 0;
    return present();
}
int dhdGetGripperGap(double* gap, char) {
    *gap = fake.gap;
    return present();
}
unsigned dhdGetButtonMask(char) { return static_cast<unsigned>(fake.buttons); }
int dhdSetForceAndTorqueAndGripperForce(double fx, double fy, double fz, double tx, double ty,
                                        double tz, double grip, char) {
    fake.force_x = fx;
    fake.force_y = fy;
    fake.force_z = fz;
    fake.torque_x = tx;
    fake.torque_y = ty;
    fake.torque_z = tz;
    fake.grip = grip;
    return present();
}

}  // extern "C"
