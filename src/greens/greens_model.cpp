#include "pliant/greens/greens_model.h"

#include "core/numbers.h"

#include <algorithm>

namespace pliant {

std::string_view to_string(GreensMethod method) noexcept {
    switch (method) {
        case GreensMethod::BoundaryElements: return "boundary elements";
        case GreensMethod::FiniteElements: return "finite elements";
        case GreensMethod::Measured: return "measurement";
    }
    return "";
}

int GreensModel::num_columns() const noexcept {
    int count = 0;
    for (int node = 0; node < num_nodes(); ++node) count += reference.functions->has_column(node);
    return count;
}

int GreensModel::num_free_columns() const noexcept {
    int count = 0;
    for (int node = 0; node < num_nodes(); ++node)
        count +=
            reference.functions->has_column(node) && reference.kinds[at(node)] == NodeKind::Free;
    return count;
}

int GreensModel::num_fixed() const noexcept {
    return static_cast<int>(
        std::count(reference.kinds.begin(), reference.kinds.end(), NodeKind::Fixed));
}

std::array<double, 3> GreensModel::gravity_parameters(const Eigen::Vector3d& g) const noexcept {
    const double unit = density * reference.length / reference.modulus;
    return {unit * g.x(), unit * g.y(), unit * g.z()};
}

}  // namespace pliant
