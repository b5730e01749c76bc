#include "pliant/field/distance_field.h"

namespace pliant {

float DistanceField::distance(const Eigen::Vector3d& x) const noexcept {
    const Eigen::Vector3f p = x.cast<float>();
    float distance = 0;
    distances({&p.x(), &p.y(), &p.z(), 1}, &distance);
    return distance;
}

DistanceSample DistanceField::sample(const Eigen::Vector3d& x) const noexcept {
    const Eigen::Vector3f p = x.cast<float>();
    float distance = 0;
    Eigen::Vector3f gradient;
    samples({&p.x(), &p.y(), &p.z(), 1}, {&distance, &gradient.x(), &gradient.y(), &gradient.z()});
    return {distance, gradient.cast<double>()};
}

}  // namespace pliant
