#include "field/domain_cutting.h"
#include "pliant/core/error.h"
#include "pliant/field/deformed_field.h"
#include "pliant/geometry/surface_query.h"

#include <cmath>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// In [−1, 1), the same with every standard library.
double next_number(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11) * 0x1p-52 - 1;
}

}  // namespace

DeformedFieldAccuracy compare_with_exact(DeformedField& field, const ReducedModel& model,
                                         const Eigen::VectorXd& q, double reach, int num_samples,
                                         unsigned seed) {
    if (!(reach > 0 && std::isfinite(reach)))
        throw InputError("", "reach", std::to_string(reach), "a positive length");
    if (num_samples < 1)
        throw InputError("", "num_samples", std::to_string(num_samples), "1 or more");
    if (q.size() != field.rank() || !field.update(q))
        throw InputError("", "q", std::to_string(q.size()) + " coordinates",
                         std::to_string(field.rank()) + " finite coordinates");

    SurfaceMesh surface = model.surface();
    const SurfaceShapes shapes = model.shapes();
    for (int v = 0; v < surface.num_vertices(); ++v)
        surface.vertices[static_cast<std::size_t>(v)] = shapes.position(v, q);
    const std::vector<Vector3d> on_surface = area_samples(surface, num_samples);
    const SurfaceQuery exact(std::move(surface));

    DeformedFieldAccuracy result;
    const double cell = field.resolution();
    double sum = 0, squares = 0, wrong = 0, large = 0;
    int num_clear = 0;
    std::mt19937_64 random(seed);
    for (const Vector3d& base : on_surface) {
        const double x = next_number(random), y = next_number(random), z = next_number(random);
        const Vector3d at = base + reach / std::sqrt(3.0) * Vector3d(x, y, z);
        const double value = double{field.distance(at)}, truth = exact.signed_distance(at);
        const double error = std::abs(value - truth);
        sum += error;
        squares += error * error;
        result.largest_error = std::max(result.largest_error, error);
        if (std::abs(truth) > cell) {
            ++num_clear;
            wrong += (value < 0) != (truth < 0);
        }
        large += value > truth + cell;
    }
    const auto count = static_cast<double>(on_surface.size());
    result.num_samples = static_cast<int>(on_surface.size());
    result.mean_error = sum / count;
    result.rms_error = std::sqrt(squares / count);
    result.wrong_signs = num_clear > 0 ? wrong / num_clear : 0;
    result.too_large = large / count;
    return result;
}

}  // namespace pliant
