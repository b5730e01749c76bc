#include "haptics_samples.h"

#include <algorithm>

namespace pliant::reproduce {

Series tick_curve(const std::string& label, const std::vector<double>& values, int color,
                  Stroke stroke, int most) {
    Series series{label, {}, color, stroke};
    const std::size_t stride =
        std::max<std::size_t>(1, values.size() / static_cast<std::size_t>(most));
    for (std::size_t k = 0; k < values.size(); k += stride)
        series.points.emplace_back(kHapticStep * static_cast<double>(k), values[k]);
    return series;
}

double smooth_step(double s) {
    s = std::clamp(s, 0.0, 1.0);
    return s * s * (3 - 2 * s);
}

Command hand_to(const Pose& pose) {
    const Quaternion& q = pose.rotation;
    return {.kind = Command::Kind::MoveTool,
            .target = {pose.position.x(), pose.position.y(), pose.position.z()},
            .rotation = {q.w(), q.x(), q.y(), q.z()}};
}

}  // namespace pliant::reproduce
