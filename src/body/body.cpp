#include "pliant/body/body.h"

namespace pliant {

SurfacePoint SurfacePoint::at_vertex(int vertex) {
    SurfacePoint point;
    point.vertex = vertex;
    return point;
}

SurfacePoint SurfacePoint::on_triangle(int triangle, const Eigen::Vector3d& barycentric) {
    SurfacePoint point;
    point.triangle = triangle;
    point.barycentric = barycentric;
    return point;
}

BodySurface::BodySurface(SurfaceMesh mesh) {
    auto data = std::make_shared<Data>();
    data->mesh = std::move(mesh);
    const Box box = bounding_box(data->mesh.vertices);
    if (!box.isEmpty()) data->size = box.sizes().maxCoeff();
    data->first_triangle.assign(data->mesh.vertices.size(), -1);
    for (int t = data->mesh.num_triangles() - 1; t >= 0; --t)
        for (const int v : data->mesh.triangles[static_cast<std::size_t>(t)])
            data->first_triangle[static_cast<std::size_t>(v)] = t;
    data_ = std::move(data);
}

bool BodySurface::has(const SurfacePoint& point) const noexcept {
    if (point.triangle >= 0)
        return point.triangle < mesh().num_triangles() && point.barycentric.allFinite();
    return point.triangle == -1 && point.vertex >= 0 && point.vertex < mesh().num_vertices();
}

int BodySurface::triangle_of(const SurfacePoint& point) const noexcept {
    if (point.triangle >= 0) return point.triangle;
    return data_->first_triangle[static_cast<std::size_t>(point.vertex)];
}

StepStatus Body::step(double dt) noexcept {
    const double start_us = thread_cpu_time_us();
    const StepStatus status = do_step(dt);
    report_.steps.record(thread_cpu_time_us() - start_us);
    report_.last = status;
    ++report_.counts[static_cast<std::size_t>(status)];
    return status;
}

void Body::reset() noexcept {
    do_reset();
    report_.last = StepStatus::Ok;
    report_.counts.fill(0);
    report_.steps.reset();
}

bool Body::prescribe(const SurfacePoint&, const Eigen::Vector3d&) noexcept { return false; }

Eigen::Vector3d Body::holding_force(int) const noexcept { return Eigen::Vector3d::Zero(); }

bool Body::compliance(const SurfacePoint&, Eigen::Matrix3d&) const noexcept { return false; }

void Body::set_parameter(int, double) noexcept {}

}  // namespace pliant
