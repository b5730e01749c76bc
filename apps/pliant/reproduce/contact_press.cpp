#include "contact_press.h"

#include <cmath>
#include <numbers>

namespace pliant::reproduce {
namespace {

using Eigen::Vector3d;

Press make_press(bool is_quick) {
    Solid solid =
        make_solid(centred_shape("serpent", 0.5, is_quick ? 30 : 0), is_quick ? 128 : 256, 1.1);
    const Pointshell shell =
        make_shell(solid, is_quick ? 21000 : 85000, is_quick ? 4 : 5, is_quick ? 4 : 30);
    PointTree tree(shell);
    PointTree soft_tree = make_tree(
        shell, make_soft(solid.mesh, {.fixed = "z < 10 %", .resolution = is_quick ? 20 : 40}));
    const std::shared_ptr<const DistanceField> field =
        make_solid(centred_shape("figure", 0.6, is_quick ? 45 : 0), is_quick ? 128 : 256).field;
    const Pose above{Vector3d(0.02, 0, 0.9), Quaternion::Identity()};
    const double touch = depth_of_contacts(tree, field, above, -Vector3d::UnitZ(), 1.2, 1);
    Press press{std::move(solid), std::move(tree), std::move(soft_tree), field, {}};
    const int num_ticks = is_quick ? 500 : 2000;
    for (int k = 0; k < num_ticks; ++k) {
        const double t = static_cast<double>(k) / num_ticks;
        // 4 cm of way down, 12 mm of them inside, with a slow slide and turn
        const double down = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * t);
        Pose pose = above;
        pose.position += Vector3d(0.01 * std::sin(4 * t), 0.015 * t, 0.03 - touch - 0.042 * down);
        pose.rotation = rotation_from_vector(Vector3d(0.1 * t, 0, 0.3 * t));
        press.poses.push_back(pose);
    }
    return press;
}

}  // namespace

const Press& press_sample(bool is_quick) {
    static const Press press = make_press(is_quick);  // a page has one size
    return press;
}

}  // namespace pliant::reproduce
