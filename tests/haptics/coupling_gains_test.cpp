#include "pliant/haptics/coupling_gains.h"
#include "core/numbers.h"

#include <gtest/gtest.h>

#include <numbers>

#include "input_error.h"
#include "pliant/haptics/static_coupling.h"

namespace pliant {
namespace {

DeviceCapabilities device_with(double damping, double delay, double angular_damping) {
    DeviceCapabilities device;
    device.name = "test device";
    device.damping = damping;
    device.delay = delay;
    device.angular_damping = angular_damping;
    return device;
}
CouplingScene scene_of(double scale = 1, double cell = 1e-3, double gyration = 0.02) {
    CouplingScene scene;
    scene.scale = scale;
    scene.cell = cell;
    scene.gyration = gyration;
    scene.bounding = 1.7 * gyration;
    return scene;
}

const GainNote& note(const std::vector<GainNote>& notes, const std::string& name) {
    for (const GainNote& n : notes)
        if (n.name == name) return n;
    ADD_FAILURE() << name;
    return notes.front();
}

TEST(CouplingGains, StiffnessIsTheLeastOfDeviceAndSampledLoop) {
    struct Row {
        double damping, delay, rate, scale, stiffness, injection;
        const char* reason;
    };
    // s (b + b_inj) / ((1/2 + n_d) h), s = 0.7; the device holds 600 N/m
    const Row rows[] = {
        {1.8, 1, 1000, 1, 600, 0, "limit of the device"},
        {1.8, 1, 1000, 3, 1800, 0, "times the workspace scale 3"},
        {0.3, 1, 1000, 1, 600, 2, "0.3 N s/m of damping with 2 N s/m injected"},
        {0, 1, 1000, 1, 600, 2, "0.3 N s/m of damping (assumed: the device does not say)"},
        {0.3, 1, 1000, 1, 600, 2, "carry 1073 N/m at 1000 Hz with 1 sample of delay;"},
        {0.3, 3, 1000, 1, 460, 2, "limit of the sampled loop"},
        {0.3, 1, 250, 0.5, 0.5 * 0.7 * 2.3 * 250 / 1.5, 2, "limit of the sampled loop"},
        {0.3, 0, 10000, 1, 600, 0, "carry 4200 N/m at 10000 Hz with 0 samples of delay"},
    };
    for (const Row& row : rows) {
        const DeviceCapabilities device = device_with(row.damping, row.delay, 2e-3);
        CouplingScene scene = scene_of(row.scale);
        scene.rate = row.rate;
        const CouplingGains gains = derive_gains(device, scene);
        EXPECT_NEAR(gains.stiffness, row.stiffness, 1e-9 * row.stiffness);
        EXPECT_EQ(gains.injection, row.injection);
        const GainNote k = note(explain(gains, device, scene), "stiffness");
        EXPECT_NE(k.reason.find(row.reason), std::string::npos) << k.reason;
        EXPECT_NEAR(k.largest, row.stiffness, 1e-9 * row.stiffness);
        EXPECT_NEAR(k.limit, 600 * row.scale, 1e-9);
    }
}

TEST(CouplingGains, BodiesThatAnswerLateTakeSofterSprings) {
    const DeviceCapabilities device = device_with(1.8, 1, 2e-3);
    CouplingScene scene = scene_of(0.5);
    const auto stiffness = [&](double answer_time, const char* reason) {
        scene.answer_time = answer_time;
        const CouplingGains gains = derive_gains(device, scene);
        const GainNote k = note(explain(gains, device, scene), "stiffness");
        EXPECT_NE(k.reason.find(reason), std::string::npos) << k.reason;
        return gains.stiffness;
    };
    // 0.08 kg / (3 h_b)^2 at the handle
    EXPECT_NEAR(stiffness(1 / 120.0, "bodies answer 8.33 ms late"), 0.5 * 128, 1e-9);
    EXPECT_NEAR(stiffness(0.1, "a third of a radian on 0.8889 N/m"), 0.5 * 8 / 9, 1e-9);
    EXPECT_NEAR(stiffness(3e-3, "limit of the device"), 0.5 * 600, 1e-9);
    scene.answer_time = -1;
    EXPECT_EQ(test::input_error([&] { static_cast<void>(derive_gains(device, scene)); }),
              "coupling.answer_time = -1 (expected 0 to 1 s)");
}

TEST(CouplingGains, RotationsFollowSizeDampingAndWhatTheDeviceHolds) {
    struct Row {
        double gyration, angular_damping, scale, stiffness;
        const char* reason;
    };
    // k_VC ρ²; 0.7 b_rot / (1.5 h a); 1 N m/rad over a
    const Row rows[] = {
        {0.01, 2e-3, 1, 0.06, "k_VC rho^2 = 0.06"},
        {0.1, 2e-3, 1, 0.7 * 2e-3 / 1.5e-3, "0.002 N m s/rad of damping carry"},
        {0.1, 2e-3, 2, 0.7 * 2e-3 / 3e-3, "0.002 N m s/rad of damping carry"},
        {0.1, 0, 1, 0.7 * 5e-4 / 1.5e-3, "(assumed)"},
        {0.1, 1, 4, 0.25, "what the device holds, 0.25"},
    };
    for (const Row& row : rows) {
        const DeviceCapabilities device = device_with(1.8, 1, row.angular_damping);
        const CouplingScene scene = scene_of(row.scale, 1e-3, row.gyration);
        const CouplingGains gains = derive_gains(device, scene);
        EXPECT_NEAR(gains.angular_stiffness, row.stiffness, 1e-9);
        const GainNote k = note(explain(gains, device, scene), "angular_stiffness");
        EXPECT_NE(k.reason.find(row.reason), std::string::npos) << k.reason;
    }
    // nothing is shown: no loop to keep stable
    DeviceCapabilities three = device_with(1.8, 1, 0);
    three.max_torque = 0;
    const CouplingGains gains = derive_gains(three, scene_of(1, 1e-3, 0.1));
    EXPECT_NEAR(gains.angular_stiffness, 600 * 0.01, 1e-9);
    EXPECT_EQ(gains.rendered_torque, 0);
    EXPECT_NE(note(explain(gains, three, scene_of(1, 1e-3, 0.1)), "angular_stiffness")
                  .reason.find("the device shows no torque"),
              std::string::npos);
    three.max_torque = 0.2;
    three.is_actuated = {true, true, true, false, false, false};
    EXPECT_NEAR(derive_gains(three, scene_of(1, 1e-3, 0.1)).angular_stiffness, 6, 1e-9);
}

TEST(CouplingGains, FollowTheTableOfRules) {
    for (const double half : {0.005, 0.02, 0.08})
        for (const double a : {0.5, 1.0, 3.0}) {
            const double cell = 2 * half / 43;
            const CouplingScene scene = scene_of(a, cell, half);
            const DeviceCapabilities device = device_with(1.8, 1, 2e-3);
            const CouplingGains g = derive_gains(device, scene);
            EXPECT_DOUBLE_EQ(g.max_depth, 0.5 * cell);
            EXPECT_DOUBLE_EQ(g.max_force, 8.5);
            EXPECT_DOUBLE_EQ(g.contact_stiffness, 8.5 / (0.5 * cell));
            EXPECT_DOUBLE_EQ(g.largest_lever, 0.5 * half);
            EXPECT_DOUBLE_EQ(g.least_lever, cell);
            EXPECT_DOUBLE_EQ(g.max_torque, 8.5 * 0.5 * half);
            EXPECT_DOUBLE_EQ(g.length, half);
            EXPECT_DOUBLE_EQ(g.reach, 1.7 * half);
            EXPECT_DOUBLE_EQ(g.threshold, 1e-3);
            EXPECT_DOUBLE_EQ(g.static_damping, 0.5);
            EXPECT_DOUBLE_EQ(g.max_shift, 0.6e-3 / a);
            EXPECT_DOUBLE_EQ(g.max_turn, 0.36 * std::numbers::pi / 180);
            EXPECT_DOUBLE_EQ(g.rendered_force, 8.5);
            EXPECT_DOUBLE_EQ(g.rendered_torque, 0.17 / a);
            // the stiffness that the handle feels
            EXPECT_LE(g.stiffness / a, device.max_stiffness);
            EXPECT_LE(g.angular_stiffness * a, device.max_angular_stiffness);
            // a coupling takes them
            EXPECT_NO_THROW(StaticCoupling coupling(g));
        }
    // a small tool in a coarse field
    EXPECT_DOUBLE_EQ(derive_gains({}, scene_of(1, 0.1, 0.02)).least_lever, 0.01);
}

TEST(CouplingGains, EveryGainIsExplainedAndWithinItsRange) {
    for (const double a : {0.1, 1.0, 10.0})
        for (const double cell : {1e-5, 1e-3, 0.1}) {
            const DeviceCapabilities device = device_with(0, 1, 0);
            const CouplingScene scene = scene_of(a, cell);
            CouplingGains gains = derive_gains(device, scene);
            const std::vector<GainNote> notes = explain(gains, device, scene);
            EXPECT_EQ(notes.size(), sizeof(CouplingGains) / sizeof(double));
            for (std::size_t i = 0; i < notes.size(); ++i) {
                const GainNote& n = notes[i];
                EXPECT_FALSE(n.name.empty() || n.unit.empty() || n.meaning.empty() ||
                             n.reason.empty());
                EXPECT_LE(n.least, n.value) << n.name;
                EXPECT_LE(n.value, n.largest * (1 + 1e-12)) << n.name;
                EXPECT_LE(n.largest, n.limit * (1 + 1e-12)) << n.name;
                // in the order of the struct
                EXPECT_EQ(n.value, reinterpret_cast<const double*>(&gains)[i]) << n.name;
            }
            EXPECT_EQ(clamp_to_device(gains, device, scene), "");
        }
}

TEST(CouplingGains, ClampSaysInOneSentenceWhatItChanged) {
    const DeviceCapabilities device = device_with(1.8, 1, 2e-3);
    const CouplingScene scene = scene_of();
    const CouplingGains derived = derive_gains(device, scene);
    CouplingGains gains = derived;
    gains.stiffness = 5000;
    EXPECT_EQ(clamp_to_device(gains, device, scene),
              "gains were brought into the range of test device: stiffness from 5000 to 600 N/m");
    EXPECT_EQ(gains.stiffness, 600);

    gains.angular_stiffness = 1e-9;
    gains.static_damping = 2;
    gains.rendered_force = 100;
    const std::string sentence = clamp_to_device(gains, device, scene);
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
    for (const char* part : {"angular_stiffness from 1e-09 to", "static_damping from 2 to 0.95",
                             "rendered_force from 100 to 8.5 N"})
        EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
    EXPECT_NO_THROW(StaticCoupling coupling(gains));
    EXPECT_EQ(clamp_to_device(gains, device, scene), "");

    // a softer point would let the plateau press deeper than max_depth
    gains = derived;
    gains.contact_stiffness = 100;
    EXPECT_NE(clamp_to_device(gains, device, scene).find("contact_stiffness from 100 to"),
              std::string::npos);
    EXPECT_DOUBLE_EQ(gains.contact_stiffness, gains.max_force / gains.max_depth);
}

TEST(CouplingGains, ClampMakesAllPositiveNumbersWork) {
    const DeviceCapabilities device = device_with(0, 1, 0);
    const CouplingScene scene = scene_of();
    for (const double value : {1e-300, 1e-9, 1.0, 1e9, 1e300}) {
        CouplingGains gains = derive_gains(device, scene);
        for (std::size_t i = 0; i < sizeof(CouplingGains) / sizeof(double); ++i)
            reinterpret_cast<double*>(&gains)[i] = value;
        EXPECT_NE(clamp_to_device(gains, device, scene), "");
        EXPECT_NO_THROW(StaticCoupling coupling(gains)) << value;
        EXPECT_EQ(clamp_to_device(gains, device, scene), "") << value;
    }
}

TEST(CouplingGains, NumbersThatAreNoGainsAreRefusedByName) {
    const DeviceCapabilities device = device_with(1.8, 1, 2e-3);
    const CouplingScene scene = scene_of();
    const CouplingGains derived = derive_gains(device, scene);
    const auto message = [&](double CouplingGains::*gain, double value) {
        CouplingGains gains = derived;
        gains.*gain = value;
        return test::input_error([&] { static_cast<void>(clamp_to_device(gains, device, scene)); });
    };
    EXPECT_EQ(message(&CouplingGains::stiffness, 0),
              "coupling.stiffness = 0 (expected more than 0 N/m, by rule 600)");
    EXPECT_EQ(message(&CouplingGains::stiffness, -3),
              "coupling.stiffness = -3 (expected more than 0 N/m, by rule 600)");
    EXPECT_EQ(message(&CouplingGains::max_depth, kNan),
              "coupling.max_depth = nan (expected more than 0 m, by rule 0.0005)");
    EXPECT_EQ(message(&CouplingGains::injection, -1),
              "coupling.injection = -1 (expected 0 or more N s/m, by rule 0)");
    EXPECT_EQ(message(&CouplingGains::static_damping, std::numeric_limits<double>::infinity()),
              "coupling.static_damping = inf (expected 0 or more, by rule 0.5)");
    EXPECT_EQ(message(&CouplingGains::injection, 0), "");
    // nor does anything begin with them
    for (const double value : {0.0, -600.0, kNan}) {
        CouplingGains gains = derived;
        gains.stiffness = value;
        EXPECT_NE(test::input_error([&] {
                      StaticCoupling coupling(gains);
                  }).find("coupling.stiffness = "),
                  std::string::npos);
    }
}

TEST(CouplingGains, RefuseScenesAndDevicesOutOfRange) {
    const auto message = [](auto change) {
        CouplingScene scene = scene_of();
        DeviceCapabilities device;
        change(scene, device);
        try {
            static_cast<void>(derive_gains(device, scene));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    using S = CouplingScene&;
    using D = DeviceCapabilities&;
    EXPECT_NE(message([](S s, D) { s.rate = 0; }).find("coupling.rate = 0"), std::string::npos);
    EXPECT_NE(message([](S s, D) { s.scale = -1; }).find("coupling.scale = -1"), std::string::npos);
    EXPECT_NE(message([](S s, D) { s.cell = kNan; }).find("coupling.cell"), std::string::npos);
    EXPECT_NE(message([](S s, D) { s.gyration = 0; }).find("coupling.gyration = 0"),
              std::string::npos);
    EXPECT_NE(message([](S s, D) { s.bounding = 0.001; }).find("at least the radius of gyration"),
              std::string::npos);
    EXPECT_NE(message([](S, D d) { d.max_force = -1; }).find("max_force"), std::string::npos);
    EXPECT_EQ(message([](S, D) {}), "");
}

}  // namespace
}  // namespace pliant
