#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/scene/recording.h"
#include "scene/recorded_bodies.h"

namespace pliant {
namespace {

constexpr double kMaxFrames = 1e6;  // more files are a mistake

template <class Number>
void append_number(std::string& line, Number number) {
    char digits[40];
    if (!line.empty()) line += ',';
    line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_vector(std::string& line, const Eigen::Vector3d& v) {
    for (int i = 0; i < 3; ++i) append_number(line, v[i]);
}
void append_pose(std::string& line, const Pose& pose) {
    append_vector(line, pose.position);
    append_number(line, pose.rotation.w());
    append_vector(line, pose.rotation.vec());
}
void append_load(std::string& line, const Eigen::Vector3d& force, const Eigen::Vector3d& torque) {
    append_vector(line, force);
    append_vector(line, torque);
}

/// Of append_haptics, each after a comma.
std::string haptic_columns() {
    std::string names;
    const auto vector = [&](const std::string& name, const std::string& unit) {
        for (const char* axis : {"x", "y", "z"}) names += "," + name + "_" + axis + unit;
    };
    const auto pose = [&](const std::string& name) {
        vector(name, "_m");
        names += "," + name + "_qw";
        vector(name + "_q", "");
    };
    const auto load = [&](const std::string& name) {
        vector(name + "_force", "_N");
        vector(name + "_torque", "_Nm");
    };
    pose("handle");
    load("device");
    pose("manipulandum");
    pose("tool");
    load("contact");
    load("coupling");
    return names +
           ",depth_m,max_depth_m,worst_depth_m,violations,contacts,port_energy_J,stored_energy_J,"
           "oscillation_N,gain_scale,step_scale,buttons,device_status,status";
}

void append_haptics(std::string& line, const HapticTick& t) {
    append_pose(line, t.device.pose);
    append_load(line, t.command.force, t.command.torque);
    append_pose(line, t.manipulandum);
    append_pose(line, t.tool);
    append_load(line, t.contact.force, t.contact.torque);
    append_load(line, t.coupling.force, t.coupling.torque);
    append_number(line, t.depth);
    append_number(line, t.max_depth);
    append_number(line, t.worst_depth);
    append_number(line, t.violations);
    append_number(line, t.num_contacts);
    for (const double x :
         {t.port_energy, t.stored_energy, t.oscillation, t.gain_scale, t.step_scale})
        append_number(line, x);
    append_number(line, t.device.buttons);
    line += std::string(",") + name(t.device.status) + "," + std::string(to_string(t.status));
}

/// Place of the state nearest to a time; there is at least one.
int nearest_state(const Recording& recording, int body, double time) {
    const RecordingHeader& header = recording.header();
    const int loop = header.bodies[static_cast<std::size_t>(body)].loop;
    const double rate = header.loops[static_cast<std::size_t>(loop)].rate;
    const auto distance = [&](int k) {
        return std::abs(static_cast<double>(recording.state_tick(body, k)) / rate - time);
    };
    int low = 0, high = recording.num_states(body) - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (static_cast<double>(recording.state_tick(body, middle)) / rate <= time ? low : high) =
            middle;
    }
    return distance(high) < distance(low) ? high : low;
}

/// A file name from the scene's: letters, digits and what is harmless.
std::string file_name(const std::string& scene) {
    std::string name;
    for (const char c : scene)
        name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '_';
    return name.empty() ? "frame" : name;
}

}  // namespace

void save_csv(const Recording& recording, int loop, const std::filesystem::path& path) {
    AtomicFile file(path);
    // of every tick or, where some were lost, of none
    const HapticTicks& haptics = recording.haptics(loop);
    HapticTicks::Reader reader(haptics);
    const bool has_haptics = !haptics.empty() && haptics.size() == recording.samples(loop).size();
    file.write(
        "tick,time_s,hand_x_m,hand_y_m,hand_z_m,point_x_m,point_y_m,point_z_m,"
        "force_x_N,force_y_N,force_z_N,energy_J,work_us,late_us" +
        (has_haptics ? haptic_columns() : std::string()) + "\n");
    std::size_t row = 0;
    std::string line;
    for (const TickSample& sample : recording.samples(loop)) {
        line.clear();
        append_number(line, sample.tick);
        append_number(line, sample.time);
        // floats in the file: their shortest text
        for (const std::array<double, 3>* vector : {&sample.hand, &sample.point, &sample.force})
            for (const double number : *vector) append_number(line, static_cast<float>(number));
        append_number(line, static_cast<float>(sample.energy));
        append_number(line, sample.work_us);
        append_number(line, sample.late_us);
        if (has_haptics) append_haptics(line, reader[row++]);
        file.write(line + "\n");
    }
    file.commit();
}

int save_frames(const Recording& recording, World& world, const std::filesystem::path& folder,
                const std::string& extension, double frames_per_second, Progress& progress) {
    if (extension != "obj" && extension != "vtu")
        throw InputError("", "frames", extension, "obj or vtu");
    const std::vector<Body*> bodies = recorded_bodies(recording, world);
    bool has_states = false;
    for (int i = 0; i < static_cast<int>(bodies.size()); ++i)
        has_states = has_states || recording.num_states(i) > 0;
    if (!has_states)
        throw InputError("", "the recording holds no states of bodies: there is nothing to draw");
    const double frames = std::floor(recording.duration() * frames_per_second + 1e-6) + 1;
    if (!(frames <= kMaxFrames))
        throw InputError("", "more than a million frames; choose fewer frames per second");
    const auto num_frames = static_cast<int>(frames);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError(folder.string(), "cannot be created: " + failure.message());

    // all surfaces in one mesh; vertices follow below
    SurfaceMesh mesh;
    DataArray owner{.name = "body", .components = 1, .values = {}};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        append(mesh, bodies[i]->surface());
        owner.values.resize(mesh.triangles.size(), static_cast<double>(i));
    }
    std::vector<float> display, x;
    progress.stage("frames", static_cast<std::size_t>(num_frames));
    for (int frame = 0; frame < num_frames; ++frame) {
        std::size_t first = 0;
        for (int i = 0; i < static_cast<int>(bodies.size()); ++i) {
            Body& body = *bodies[static_cast<std::size_t>(i)];
            if (recording.num_states(i) > 0)
                body.restore_state(
                    recording.state(i, nearest_state(recording, i, frame / frames_per_second)));
            const std::shared_ptr<const BodyDisplay> surface = body.display();
            display.resize(static_cast<std::size_t>(surface->state_size()));
            x.resize(3 * body.surface().vertices.size());
            body.write_display(display);
            surface->positions(display, x);
            for (std::size_t v = 0; v < body.surface().vertices.size(); ++v)
                mesh.vertices[first + v] = Eigen::Vector3d(x[3 * v], x[3 * v + 1], x[3 * v + 2]);
            if (!std::all_of(x.begin(), x.end(), [](float one) { return std::isfinite(one); }))
                throw InputError(
                    "", "the state of '" +
                            recording.header().bodies[static_cast<std::size_t>(i)].name + "' at " +
                            std::to_string(frame / frames_per_second) +
                            " s has no finite shape; frames up to there were "
                            "written");
            first += body.surface().vertices.size();
        }
        char number[16];
        std::snprintf(number, sizeof number, "_%04d.", frame);
        const std::filesystem::path file =
            folder / (file_name(world.scene().name) + number + extension);
        if (extension == "vtu")
            save_vtu(mesh, file, {}, {owner});
        else
            save_surface(mesh, file);
        progress.advance();
    }
    progress.finish();
    return num_frames;
}

}  // namespace pliant
