#pragma once

#include "pliant/geometry/volume_mesh.h"

namespace pliant {

/// Signs of the natural coordinates at the eight corners, VTK order.
inline constexpr std::array<std::array<int, 3>, 8> kHexSigns{{{-1, -1, -1},
                                                              {1, -1, -1},
                                                              {1, 1, -1},
                                                              {-1, 1, -1},
                                                              {-1, -1, 1},
                                                              {1, -1, 1},
                                                              {1, 1, 1},
                                                              {-1, 1, 1}}};

using Weights8 = Eigen::Matrix<double, 8, 1>;

/// φ_a(ξ) = (1 + s₁ξ)(1 + s₂η)(1 + s₃ζ) / 8 on [−1, 1]³.
inline Weights8 hex_shape(const Eigen::Vector3d& xi) {
    Weights8 phi;
    for (int a = 0; a < 8; ++a) {
        const auto& s = kHexSigns[a];
        phi[a] = (1 + s[0] * xi[0]) * (1 + s[1] * xi[1]) * (1 + s[2] * xi[2]) / 8;
    }
    return phi;
}

/// dφ_a/dξ in row a.
inline Eigen::Matrix<double, 8, 3> hex_shape_gradient(const Eigen::Vector3d& xi) {
    Eigen::Matrix<double, 8, 3> gradient;
    for (int a = 0; a < 8; ++a) {
        const auto& s = kHexSigns[a];
        const double f = 1 + s[0] * xi[0], g = 1 + s[1] * xi[1], h = 1 + s[2] * xi[2];
        gradient.row(a) << s[0] * g * h / 8, f * s[1] * h / 8, f * g * s[2] / 8;
    }
    return gradient;
}

/// The map x(ξ) = Σ φ_a(ξ) x_a of one hexahedron, as a polynomial:
///     x = c₀ + c₁ξ + c₂η + c₃ζ + c₄ηζ + c₅ζξ + c₆ξη + c₇ξηζ
class TrilinearMap {
public:
    TrilinearMap(const VolumeMesh& mesh, int element) {
        c_.setZero();
        const auto nodes = mesh.element(element);
        for (int a = 0; a < 8; ++a) {
            const int p = kHexSigns[a][0], q = kHexSigns[a][1], r = kHexSigns[a][2];
            const Eigen::Vector3d x = mesh.vertices[nodes[a]] / 8;
            const std::array<int, 8> signs{1, p, q, r, q * r, r * p, p * q, p * q * r};
            for (int k = 0; k < 8; ++k) c_.col(k) += signs[k] * x;
        }
    }

    [[nodiscard]] Eigen::Vector3d point(const Eigen::Vector3d& xi) const {
        return c_.col(0) + xi[0] * c_.col(1) + xi[1] * c_.col(2) + xi[2] * c_.col(3) +
               xi[1] * xi[2] * c_.col(4) + xi[2] * xi[0] * c_.col(5) + xi[0] * xi[1] * c_.col(6) +
               xi[0] * xi[1] * xi[2] * c_.col(7);
    }
    /// dx/dξ
    [[nodiscard]] Eigen::Matrix3d jacobian(const Eigen::Vector3d& xi) const {
        Eigen::Matrix3d J;
        J.col(0) = c_.col(1) + xi[2] * c_.col(5) + xi[1] * (c_.col(6) + xi[2] * c_.col(7));
        J.col(1) = c_.col(2) + xi[0] * c_.col(6) + xi[2] * (c_.col(4) + xi[0] * c_.col(7));
        J.col(2) = c_.col(3) + xi[1] * c_.col(4) + xi[0] * (c_.col(5) + xi[1] * c_.col(7));
        return J;
    }

private:
    Eigen::Matrix<double, 3, 8> c_;
};

}  // namespace pliant
