#pragma once

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "pliant/body/shape_gauge.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

// Scenes as anybody would write them, seen as a person sees them: by their drawn surfaces.

namespace pliant::test {

inline const std::string kFloor = R"({"name": "floor", "rigid": {"ground": {}}})";

/// How one body looks now.
struct SeenBody {
    Eigen::AlignedBox3d box;  ///< of the drawn surface in the world [m]
    BodyShape shape;          ///< volume and extent over those at rest
    double speed = 0;         ///< of the fastest vertex over the last tick [m/s]
    [[nodiscard]] double lowest() const { return box.min().z(); }
    [[nodiscard]] double highest() const { return box.max().z(); }
};

/// File of the surface of a box about the origin, its faces in n × n squares of two triangles.
inline std::string box_file(const Eigen::Vector3d& sizes, int n = 8) {
    const std::string file = testing::TempDir() + "everyday-box-" + std::to_string(sizes.x()) +
                             "-" + std::to_string(sizes.y()) + "-" + std::to_string(sizes.z()) +
                             "-" + std::to_string(n) + ".obj";
    std::ofstream out(file);
    int first = 1;
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1}) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            for (int j = 0; j <= n; ++j)
                for (int i = 0; i <= n; ++i) {
                    Eigen::Vector3d x;
                    x[axis] = 0.5 * side;
                    x[u] = static_cast<double>(i) / n - 0.5;
                    x[v] = static_cast<double>(j) / n - 0.5;
                    out << "v " << x.cwiseProduct(sizes).transpose() << '\n';
                }
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i) {
                    const int a = first + j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
                    if (side > 0)
                        out << "f " << a << ' ' << b << ' ' << d << "\nf " << a << ' ' << d << ' '
                            << c << '\n';
                    else
                        out << "f " << a << ' ' << d << ' ' << b << "\nf " << a << ' ' << c << ' '
                            << d << '\n';
                }
            first += (n + 1) * (n + 1);
        }
    return file;
}

/// A scene from its text, run in virtual time.
class EverydayScene {
public:
    explicit EverydayScene(const std::string& text)
        : world_(std::make_unique<World>(parse_scene(text, "scene.json"),
                                         WorldOptions{.cache = {}})) {}

    [[nodiscard]] World& world() { return *world_; }
    [[nodiscard]] double time() const { return world_->loop(0).time(); }

    /// Advances all loops.
    void run(double seconds) {
        const double end = time() + seconds - 0.5 * world_->loop(0).dt();
        while (time() < end) world_->advance();
    }
    /// Advances all loops and calls `look()` after each tick of the first one.
    template <class Look>
    void run(double seconds, const Look& look) {
        const double end = time() + seconds - 0.5 * world_->loop(0).dt();
        while (time() < end)
            if (world_->advance() == 0) look();
    }

    [[nodiscard]] Body& body(const std::string& name) {
        for (const WorldBody& one : world_->bodies())
            if (one.name == name) return world_->loop(one.loop).body(one.place);
        throw InputError("", "the scene has no body " + name);
    }

    [[nodiscard]] SeenBody see(const std::string& name) {
        Body& one = body(name);
        SeenBody seen;
        for (int v = 0; v < one.surface().num_vertices(); ++v) {
            const SurfacePoint point = SurfacePoint::at_vertex(v);
            seen.box.extend(one.position(point));
            seen.speed = std::max(seen.speed, one.velocity(point).norm());
        }
        std::vector<float> state(static_cast<std::size_t>(one.display()->state_size())), scratch;
        one.write_display(state);
        seen.shape = ShapeGauge(one).measure(state, scratch);
        return seen;
    }

    /// Steps of a body that were not ok.
    [[nodiscard]] std::uint64_t num_troubled_steps(const std::string& name) {
        std::uint64_t sum = 0;
        for (std::size_t s = 1; s < body(name).report().counts.size(); ++s)
            sum += body(name).report().counts[s];
        return sum;
    }

private:
    std::unique_ptr<World> world_;
};

}  // namespace pliant::test
