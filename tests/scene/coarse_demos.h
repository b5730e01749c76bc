#pragma once

#include <cmath>
#include <random>

#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

// The demos with coarse models, points and fields, so that they are built in moments; paths,
// contacts, device and hand are those of the demo. And somebody who touches whatever is there.

namespace pliant::test {

struct CoarseBody {
    static void coarsen(SurfaceSource& surface) {
        if (!surface.shape.empty()) surface.shape_resolution = 24;
    }
    void operator()(ReducedSource& body) const {
        auto& recipe = std::get<ReducedRecipe>(body.model);
        coarsen(recipe.surface);
        recipe.build.mesh.resolution = 24;
        recipe.build.keeps_largest = true;
        recipe.build.num_modes = 5;
        recipe.build.rank = body.is_linear ? 5 : 8;
    }
    void operator()(FemSource& body) const {
        auto& box = std::get<FemBox>(body.shape);
        box.cells = {5, 5, 5};
        box.graded_layers = 0;
    }
    void operator()(RigidSource& body) const {
        if (auto* surface = std::get_if<SurfaceSource>(&body.shape)) coarsen(*surface);
    }
    void operator()(GreensSource& body) const {
        // most are small as they are
        auto& recipe = std::get<GreensRecipe>(body.model);
        if (recipe.levels > 2) {
            recipe.levels = 2;
            if (recipe.build.finest_level > recipe.levels) recipe.build.finest_level = -1;
            if (body.constraint_level > 1) body.constraint_level = recipe.build.coarsest_level = 1;
        }
    }
    void operator()(HandSource&) const {}
    void operator()(ZonesSource&) const {}
    void operator()(ParticleSource& body) const {
        if (auto* surface = std::get_if<SurfaceSource>(&body.shape)) coarsen(*surface);
        if (auto* sheet = std::get_if<SheetShape>(&body.shape)) sheet->cells = {12, 12};
        // selections of what is held must find some
        if (body.body.held.empty()) body.placement.count = 60;
    }
};

/// Signed fields must not lose thin parts.
inline int cells_for(const FieldBuildOptions& field) {
    return field.surface == FieldSurface::Offset ? 32 : 128;
}

inline SceneDescription coarse_demo(const std::string& name) {
    SceneDescription scene = demo_scene(name);
    for (BodyDescription& body : scene.bodies) {
        std::visit(CoarseBody{}, body.source);
        if (body.copies) body.copies->counts = {2, 2, 1};
        if (auto& shell = body.contact.pointshell) {
            shell->field.resolution = cells_for(shell->field);
            shell->points.num_points = 600;
            shell->points.num_levels = 2;
        }
        if (auto& field = body.contact.field) field->build.resolution = cells_for(field->build);
    }
    return scene;
}

/// Of gtest parameters that are names of demos.
inline std::string letters_of(std::string name) {
    std::erase(name, '-');
    return name;
}

/// Takes, pulls, pokes and lets go of any body, and leads the tool to any of them. Does the same
/// with the same seed in worlds that do the same.
class RestlessHand {
public:
    explicit RestlessHand(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] Command next(const World& world) {
        const int choice = below(10);
        Command command;
        command.slot = below(Command::kMaxSlots);
        command.duration = 0.05 * below(3);
        command.body = below(static_cast<int>(world.bodies().size()));
        const Body& body = world.body(command.body);
        command.triangle = below(body.surface().num_triangles());
        command.barycentric = {0.5, 0.25, 0.25};
        const SurfacePoint point =
            SurfacePoint::on_triangle(command.triangle, Eigen::Vector3d(0.5, 0.25, 0.25));
        const double size = std::min(body.size(), 1.0);
        Eigen::Vector3d target = body.position(point);
        const Eigen::Vector3d shift(number(), number(), number());
        if (choice < 4) {
            command.kind = Command::Kind::MoveTool;
            target += 0.03 * size * shift;
            const Quaternion turn = rotation_from_vector({number(), number(), number()});
            command.rotation = {turn.w(), turn.x(), turn.y(), turn.z()};
            command.buttons = static_cast<std::uint32_t>(below(4));
        } else {
            command.kind = choice < 7   ? Command::Kind::Grab
                           : choice < 8 ? Command::Kind::Poke
                           : choice < 9 ? Command::Kind::Drag
                                        : Command::Kind::Release;
            target += 0.2 * size * shift;
        }
        command.target = {target.x(), target.y(), target.z()};
        return command;
    }
    /// A parameter anywhere in its range.
    [[nodiscard]] Command slider(const World& world) {
        Command command{.kind = Command::Kind::SetParameter};
        command.parameter = below(static_cast<int>(world.parameters().size()));
        const LiveParameter& one =
            world.parameters()[static_cast<std::size_t>(command.parameter)].parameter;
        command.value = one.low + 0.5 * (1 + number()) * (one.high - one.low);
        return command;
    }
    [[nodiscard]] int below(int count) {
        return static_cast<int>(random_() % static_cast<std::uint64_t>(count));
    }
    /// From −1 to 1.
    [[nodiscard]] double number() {
        return std::ldexp(static_cast<double>(random_() >> 11), -52) - 1;
    }

private:
    std::mt19937_64 random_;
};

}  // namespace pliant::test
