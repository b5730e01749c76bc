#pragma once

#include "pliant/field/distance_field.h"
#include "pliant/net/web_server.h"
#include "pliant/scene/world.h"

#include <functional>
#include <map>
#include <string_view>

namespace pliant {

/// Plane cuts through the distance fields of contacts and their iso-surfaces, for pages that show
/// them. All on the thread of the server: fields that are updated belong to their loops, so those
/// are made again here from the shape that was published.
class FieldSlices {
public:
    static constexpr int kMaxTriangles = 200'000;  ///< of an iso-surface; coarser where it has more
    /// Levels of iso-surfaces reach from half a tenth of the body's size inside to a tenth outside.
    static constexpr double kLowestLevel = -0.05, kHighestLevel = 0.1;
    /// Reduced coordinates of a body of the world in the newest frame.
    using ShapeOf = std::function<Eigen::VectorXd(int body)>;

    /// The world must outlive it.
    explicit FieldSlices(const World& world) : world_(world) {}

    /// Of "{c}/slice/x", "y" or "z", or "{c}/iso/{level}", docs/server.md section "Data over HTTP".
    [[nodiscard]] HttpReply get(std::string_view path, const ShapeOf& shape_of);

private:
    /// The newest cut of a contact and axis.
    struct Slice {
        Eigen::VectorXd shape;  ///< of a field that deforms
        SharedBytes bytes;
    };
    /// The newest iso-surface of a contact.
    struct IsoSurface {
        double level = 0;
        Eigen::VectorXd shape;  ///< of a field that deforms
        SharedBytes bytes;
    };
    [[nodiscard]] HttpReply get_slice(std::size_t contact, int axis, const ShapeOf& shape_of);
    [[nodiscard]] HttpReply get_iso(std::size_t contact, std::string_view level,
                                    const ShapeOf& shape_of);

    const World& world_;
    std::map<std::pair<std::size_t, int>, Slice> slices_;  ///< by contact and axis
    std::map<std::size_t, IsoSurface> surfaces_;
};

}  // namespace pliant
