#include "fem/element_quadrature.h"

#include "geometry/trilinear.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <Eigen/LU>
#include <algorithm>
#include <numbers>
#include <sstream>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Smallest Jacobian, relative to the cube of the element's extent, that is not rounding.
constexpr double kFlat = 1e-13;

Vector3d gauss_point(int k) {
    const auto& s = kHexSigns[k];
    return Vector3d(s[0], s[1], s[2]) / std::numbers::sqrt3;
}

double extent(const VolumeMesh& mesh, int element) {
    const auto nodes = mesh.element(element);
    Vector3d low = mesh.vertices[nodes[0]], high = low;
    for (const int node : nodes) {
        low = low.cwiseMin(mesh.vertices[node]);
        high = high.cwiseMax(mesh.vertices[node]);
    }
    return (high - low).maxCoeff();
}

void check_jacobian(const VolumeMesh& mesh, int element, double jacobian,
                    const std::string& place) {
    const double h = extent(mesh, element);
    if (jacobian > kFlat * h * h * h) return;
    std::ostringstream text;
    text << "element " << element << " is " << (jacobian < 0 ? "inverted" : "degenerate")
         << ": its Jacobian is " << jacobian << " m³" << place
         << " (expected > 0); repair the mesh or leave the element out";
    throw InputError("", text.str());
}

void append_hex(const VolumeMesh& mesh, int element, double filled, QuadraturePoint* out) {
    const auto corners = corner_jacobians(mesh, element);
    for (int a = 0; a < 8; ++a)
        check_jacobian(mesh, element, corners[a], " at corner " + std::to_string(a));
    const TrilinearMap map(mesh, element);
    for (int k = 0; k < 8; ++k) {
        const Matrix3d J = map.jacobian(gauss_point(k));
        const double det = J.determinant();
        check_jacobian(mesh, element, det, " at Gauss point " + std::to_string(k));
        out[k] = {J.inverse(), filled * det};
    }
}

void append_tet(const VolumeMesh& mesh, int element, double filled, QuadraturePoint* out) {
    const auto nodes = mesh.element(element);
    Matrix3d J;
    for (int k = 0; k < 3; ++k) J.col(k) = mesh.vertices[nodes[k + 1]] - mesh.vertices[nodes[0]];
    const double det = J.determinant();
    check_jacobian(mesh, element, det, "");
    *out = {J.inverse(), filled * det * ReferenceElement<4>::kPointWeight};
}

}  // namespace

template <>
const ReferenceElement<4>& ReferenceElement<4>::get() {
    static const ReferenceElement reference = [] {
        ReferenceElement r;
        r.gradients[0].col(0).setConstant(-1);
        r.gradients[0].rightCols<3>().setIdentity();
        r.values[0].setConstant(0.25);
        return r;
    }();
    return reference;
}

template <>
const ReferenceElement<8>& ReferenceElement<8>::get() {
    static const ReferenceElement reference = [] {
        ReferenceElement r;
        for (int k = 0; k < kPoints; ++k) {
            r.gradients[k] = hex_shape_gradient(gauss_point(k)).transpose();
            r.values[k] = hex_shape(gauss_point(k));
        }
        return r;
    }();
    return reference;
}

std::array<double, 8> corner_jacobians(const VolumeMesh& mesh, int element) {
    const TrilinearMap map(mesh, element);
    std::array<double, 8> jacobians{};
    for (int a = 0; a < 8; ++a) {
        const auto& s = kHexSigns[a];
        jacobians[a] = map.jacobian(Vector3d(s[0], s[1], s[2])).determinant();
    }
    return jacobians;
}

std::vector<QuadraturePoint> quadrature_points(const VolumeMesh& mesh,
                                               const std::vector<int>& elements) {
    const auto per_element = static_cast<std::size_t>(points_per_element(mesh.kind));
    std::vector<QuadraturePoint> points(elements.size() * per_element);
    parallel_for(elements.size(), 256, [&](std::size_t i) {
        const int e = elements[i];
        const double filled = mesh.filled.empty() ? 1.0 : mesh.filled[e];
        if (mesh.kind == ElementKind::Tet4)
            append_tet(mesh, e, filled, &points[i]);
        else
            append_hex(mesh, e, filled, &points[i * per_element]);
    });
    return points;
}

}  // namespace pliant
