#include "greens/greens_sliders.h"

#include "pliant/greens/hierarchical_basis.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr double kLeastTolerance = 1e-3, kLargestShownTolerance = 0.5;

/// Coarsest and finest level with columns; the finest of the surface is that of the nodes.
struct ColumnLevels {
    int coarsest = 0, finest = -1;
};
ColumnLevels column_levels(const GreensModel& model) {
    ColumnLevels levels;
    const HierarchicalBasis* const basis = model.reference.hierarchy.get();
    if (!basis) return levels;
    for (int level = basis->num_levels(); level >= 0; --level)
        for (int k = 0; k < basis->num_vertices(level); ++k)
            if (model.reference.functions->has_column(basis->id(level, k))) {
                levels.coarsest = level;
                levels.finest = std::max(levels.finest, level);
                break;
            }
    return levels;
}

LiveParameter level_parameter(const ColumnLevels& levels, int level) {
    return {.name = "constraint_level",
            .label = "Constraint level",
            .unit = "",
            .help =
                "Level of subdivision on which it is touched: coarser ones are felt over more "
                "of the surface and take less time. On the finest, forces of points are "
                "spread over the mask radius.",
            .value = static_cast<double>(level < 0 ? levels.finest : level),
            .low = static_cast<double>(levels.coarsest),
            .high = static_cast<double>(levels.finest),
            .is_integer = true};
}

LiveParameter display_level_parameter(int finest) {
    return {.name = "display_level",
            .label = "Display level",
            .unit = "",
            .help =
                "Level of subdivision that is drawn: on coarser ones the picture takes less "
                "time. What is felt does not change.",
            .value = static_cast<double>(finest),
            .low = 0,
            .high = static_cast<double>(finest),
            .is_integer = true};
}

LiveParameter tolerance_parameter(double built) {
    const double low = std::max(built, kLeastTolerance);
    return {.name = "tolerance",
            .label = "Tolerance",
            .unit = "",
            .help =
                "Of the wavelet coefficients that pictures are summed from, as the model was "
                "built or larger. What is felt does not change.",
            .value = low,
            .low = low,
            .high = std::max(kLargestShownTolerance, low),
            .is_logarithmic = true};
}

std::vector<LiveParameter> greens_parameters(double radius, double size) {
    return {{.name = "stiffness",
             .label = "Stiffness",
             .unit = "",
             .help = "Factor on the modulus of the material. Safe over the whole range: what a "
                     "device cannot show is felt softer.",
             .value = 1,
             .low = 0.1,
             .high = 10,
             .is_logarithmic = true},
            {.name = "mask_radius",
             .label = "Mask radius",
             .unit = "m",
             .help = "Over which the force of a point is spread: that of a fingertip. Smaller than "
                     "an edge of the mesh, stiffness follows the mesh.",
             .value = radius,
             .low = 0.2 * radius,
             .high = std::max(0.25 * size, 2 * radius),
             .is_logarithmic = true}};
}

}  // namespace

int level_in_use(const GreensModel& model, double level) noexcept {
    const int rounded = static_cast<int>(std::lround(level));
    return rounded >= model.surface.num_levels() ? -1 : rounded;
}

GreensSliders greens_sliders(const GreensModel& model, const GreensDisplay& display, double radius,
                             int level) {
    GreensSliders sliders{greens_parameters(radius, model.reference.length),
                          {GreensSlider::Modulus, GreensSlider::MaskRadius}};
    const auto add = [&](GreensSlider kind, LiveParameter parameter) {
        sliders.kinds.push_back(kind);
        sliders.parameters.push_back(std::move(parameter));
    };
    if (const ColumnLevels levels = column_levels(model); levels.finest > levels.coarsest)
        add(GreensSlider::ConstraintLevel, level_parameter(levels, level));
    if (display.num_levels() > 0)
        add(GreensSlider::DisplayLevel, display_level_parameter(display.num_levels()));
    if (const auto compression = display.compression(0))
        add(GreensSlider::Tolerance, tolerance_parameter(compression->options.tolerance));
    return sliders;
}

}  // namespace pliant
