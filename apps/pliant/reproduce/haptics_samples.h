#pragma once

#include "haptics/tool_in_hand.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/simulation_loop.h"
#include "plot.h"

#include <string>
#include <vector>

namespace pliant::reproduce {

// What experiments of haptics share; tools in simulated hands are those of the tests.
using test::kHapticStep;
using test::ToolInHand;
using test::ToolInHandOptions;

/// One value per tick as a curve of about `most` points.
[[nodiscard]] Series tick_curve(const std::string& label, const std::vector<double>& values,
                                int color, Stroke stroke = Stroke::Line, int most = 500);

/// From 0 at 0 to 1 at 1 with slopes of zero.
[[nodiscard]] double smooth_step(double s);

/// Tells a world that the hand wants the tool elsewhere.
[[nodiscard]] Command hand_to(const Pose& pose);

}  // namespace pliant::reproduce
