#pragma once

#include "object.h"
#include "pliant/body/body.h"
#include "pliant/reduction/reduced_model.h"

#include <optional>

namespace pliant::compare {

/// An object made ready by one method.
struct MadeBody {
    std::unique_ptr<Body> body;
    double build_seconds = 0;  ///< from the surface to the first tick
    double bytes = 0;          ///< of the heap that stay in use
};

/// Makes the object by one method after the other. All are damped alike, so that they come to rest
/// soon, docs/compare.md.
class BodyMaker {
public:
    explicit BodyMaker(const Object& object) : object_(object) {}
    [[nodiscard]] MadeBody make(Method method, Progress& progress);

private:
    [[nodiscard]] std::unique_ptr<Body> make_reduced(bool is_linear, Progress& progress);
    [[nodiscard]] std::unique_ptr<Body> make_greens(Progress& progress) const;
    [[nodiscard]] std::unique_ptr<Body> make_particles() const;

    const Object& object_;
    std::optional<ReducedModel> reduced_;  ///< linear modal and reduced share one
    double reduced_seconds_ = 0, reduced_bytes_ = 0;
};

/// Forces [N] on vertices of the surface in the next step. Bodies with Green's functions get them
/// as tractions of nodes, as contact gives them: what hands pull with is spread and delayed there.
void add_forces(Body& body, const std::vector<int>& vertices,
                const std::vector<Eigen::Vector3d>& forces);

}  // namespace pliant::compare
