#include "samples.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "pliant/core/tick_histogram.h"
#include "pliant/geometry/structured_mesh.h"

namespace pliant::reproduce {

using Eigen::Vector3d;

VolumeMesh reference_bar() {
    return hex_box(8, 2, 2, Box(Vector3d::Zero(), Vector3d(0.8, 0.2, 0.2)));
}

VolumeMesh soft_cube(int n, double side) {
    return hex_box(n, n, n, Box(Vector3d::Zero(), Vector3d::Constant(side)));
}

std::vector<int> vertices_where(const VolumeMesh& mesh,
                                const std::function<bool(const Vector3d&)>& is_chosen) {
    std::vector<int> chosen;
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (is_chosen(mesh.vertices[static_cast<std::size_t>(i)])) chosen.push_back(i);
    return chosen;
}

int vertex_at(const VolumeMesh& mesh, const Vector3d& x) {
    const auto found =
        vertices_where(mesh, [&](const Vector3d& y) { return (x - y).norm() < 1e-9; });
    assert(!found.empty());
    return found.front();
}

VolumeMesh cut_open(const VolumeMesh& mesh, double y) {
    VolumeMesh part = mesh;
    part.elements.clear();
    part.hanging.clear();
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const std::span<const int> nodes = mesh.element(e);
        double sum = 0;
        for (const int v : nodes) sum += mesh.vertices[static_cast<std::size_t>(v)].y();
        if (sum > y * static_cast<double>(nodes.size()))
            part.elements.insert(part.elements.end(), nodes.begin(), nodes.end());
    }
    return part;
}

VolumeMesh deformed(VolumeMesh mesh, const Eigen::VectorXd& u) {
    for (int i = 0; i < mesh.num_vertices(); ++i)
        mesh.vertices[static_cast<std::size_t>(i)] += u.segment<3>(3 * i);
    return mesh;
}

double growth_power(double n, double value, double other_n, double other_value) {
    return std::log(other_value / value) / std::log(other_n / n);
}

double best_time_us(const std::function<void()>& call, double budget_us) {
    double best = std::numeric_limits<double>::infinity(), spent = 0;
    for (int k = 0; k < 3 || spent < budget_us; ++k) {
        const double start = thread_cpu_time_us();
        call();
        const double time = thread_cpu_time_us() - start;
        best = std::min(best, time);
        spent += time;
    }
    return best;
}

}  // namespace pliant::reproduce
