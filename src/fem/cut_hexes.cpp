#include "fem/cut_hexes.h"

#include "geometry/trilinear.h"
#include "pliant/core/parallel.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Share of the filled part that stays spread over the whole cell; all of it where nearly nothing
/// is inside, for explicit steps.
double spread_share(double filled) {
    constexpr double kLeast = 0.05, kNothing = 0.04;
    return std::clamp(1 - filled / kNothing, kLeast, 1.0);
}
/// Lines across a cell, along each axis, on which its filled part is integrated.
constexpr int kLines = 12;
/// Gradients of the filled fraction below this, over a cell, say nothing about the surface.
constexpr double kFlatGradient = 1e-3;
/// Least variance of a function over the filled part, relative to the whole cell.
constexpr double kLeastVariance = 1e-3;

/// Mean over the cell of ξ^i η^j ζ^k inside, at i + 3 j + 9 k.
using Moments = std::array<double, 27>;

Moments whole_cell() {
    Moments m{};
    const double power[3] = {1, 0, 1.0 / 3};
    for (int i = 0; i < 27; ++i) m[i] = power[i % 3] * power[i / 3 % 3] * power[i / 9];
    return m;
}

/// The part of the cell [−1, 1]³ where n · ξ < d.
class PlaneCut {
public:
    explicit PlaneCut(const Vector3d& normal) : n_(normal) { n_.cwiseAbs().maxCoeff(&along_); }

    [[nodiscard]] Moments moments(double d) const {
        Moments m{};
        for_each_line(d, [&](double y, double z, double low, double high) {
            double power[3][3];
            const int b = (along_ + 1) % 3, c = (along_ + 2) % 3;
            for (int k = 0; k < 3; ++k) {
                power[along_][k] = (std::pow(high, k + 1) - std::pow(low, k + 1)) / (k + 1);
                power[b][k] = std::pow(y, k);
                power[c][k] = std::pow(z, k);
            }
            for (int i = 0; i < 27; ++i)
                m[i] += power[0][i % 3] * power[1][i / 3 % 3] * power[2][i / 9];
        });
        for (double& value : m) value /= 2 * kLines * kLines;
        return m;
    }
    /// d for a filled fraction, by halving.
    [[nodiscard]] double place(double fraction) const {
        double low = -n_.cwiseAbs().sum(), high = -low;
        for (int k = 0; k < 40; ++k) {
            const double middle = 0.5 * (low + high);
            double length = 0;
            for_each_line(middle, [&](double, double, double a, double b) { length += b - a; });
            (length < fraction * 2 * kLines * kLines ? low : high) = middle;
        }
        return 0.5 * (low + high);
    }

private:
    /// Calls `body(y, z, low, high)` for lines along the axis nearest to the normal.
    template <class Body>
    void for_each_line(double d, const Body& body) const {
        const double across_y = n_[(along_ + 1) % 3], across_z = n_[(along_ + 2) % 3];
        for (int j = 0; j < kLines; ++j)
            for (int k = 0; k < kLines; ++k) {
                const double y = (2 * j + 1.0) / kLines - 1, z = (2 * k + 1.0) / kLines - 1;
                const double x =
                    std::clamp((d - across_y * y - across_z * z) / n_[along_], -1.0, 1.0);
                if (n_[along_] > 0)
                    body(y, z, -1.0, x);
                else
                    body(y, z, x, 1.0);
            }
    }
    Vector3d n_;
    int along_ = 0;
};

/// Integral of a product of two trilinear monomials, given by bits.
double product(const Moments& m, int a, int b) {
    int index = 0;
    for (int k = 0, step = 1; k < 3; ++k, step *= 3) index += step * ((a >> k & 1) + (b >> k & 1));
    return m[index];
}

using Trilinear = Eigen::Matrix<double, 8, 1>;  ///< factors of the monomials, by bits

/// The combinations of three functions that are orthonormal and nearest to them, from their
/// products; directions in which they vary too little are damped.
Matrix3d orthonormal(const Matrix3d& products, double least) {
    const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(products);
    const Vector3d scale = solver.eigenvalues().cwiseMax(least).cwiseSqrt().cwiseInverse();
    return solver.eigenvectors() * scale.asDiagonal() * solver.eigenvectors().transpose();
}

/// From the moments of the filled part of a cell of some volume.
HexWeights weights_of(const Moments& m, double volume) {
    Eigen::Matrix<double, 8, 8> G;
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b) G(a, b) = volume * product(m, a, b);
    const double filled = G(0, 0);
    // 1, then what varies along one axis, then what varies along two, freed of those before
    Eigen::Matrix<double, 8, 7> psi = Eigen::Matrix<double, 8, 7>::Zero();
    psi(0, 0) = 1;
    Eigen::Matrix<double, 8, 3> functions = Eigen::Matrix<double, 8, 3>::Zero();
    for (int k = 0; k < 3; ++k) {
        functions(1 << k, k) = 1;
        functions(0, k) = -G(0, 1 << k) / filled;
    }
    psi.middleCols<3>(1) = functions * orthonormal(functions.transpose() * G * functions,
                                                   kLeastVariance * filled / 3);
    functions.setZero();
    for (int k = 0; k < 3; ++k) functions(7 - (1 << k), k) = 1;
    functions.row(0) -= (G.row(0) * functions) / filled;
    // the functions along one axis may be damped: take them out by least squares
    const Eigen::Matrix<double, 8, 3> linear = psi.middleCols<3>(1);
    const Matrix3d inner = linear.transpose() * G * linear;
    functions -= linear * (inner + 1e-12 * Matrix3d::Identity()).inverse() *
                 (linear.transpose() * G * functions);
    psi.rightCols<3>() = functions * orthonormal(functions.transpose() * G * functions,
                                                 kLeastVariance * filled / 9);

    // values at the Gauss points are the trilinear function through them
    HexWeights weights;
    for (int q = 0; q < 8; ++q) {
        Trilinear through = Trilinear::Constant(0.125);
        for (int a = 0; a < 8; ++a)
            for (int k = 0; k < 3; ++k)
                if (a >> k & 1) through[a] *= std::numbers::sqrt3 * kHexSigns[q][k];
        weights.row(q) = through.transpose() * G * psi;
    }
    return weights;
}

bool is_box(const QuadraturePoint* points) {
    const Matrix3d& J = points[0].inverse_jacobian;
    const double scale = 1e-9 * J.cwiseAbs().maxCoeff();
    for (int k = 0; k < 8; ++k) {
        Matrix3d rest = points[k].inverse_jacobian;
        rest.diagonal() -= J.diagonal();
        if (rest.cwiseAbs().maxCoeff() > scale) return false;
    }
    return true;
}

/// Filled fraction of the eight cells around each node; those that are missing are empty.
std::vector<double> fractions_at_nodes(const VolumeMesh& mesh) {
    std::vector<double> fractions(mesh.vertices.size(), 0.0);
    for (int e = 0; e < mesh.num_elements(); ++e)
        for (const int node : mesh.element(e)) fractions[node] += mesh.filled[e] / 8;
    // around hanging nodes are larger cells that do not have them as corners
    for (const HangingNode& hanging : mesh.hanging) {
        fractions[hanging.vertex] = 0;
        for (int k = 0; k < hanging.num_masters; ++k)
            fractions[hanging.vertex] += hanging.weight * fractions[hanging.masters[k]];
    }
    return fractions;
}

}  // namespace

CutHexes find_cut_hexes(const VolumeMesh& mesh, const ElementBlocks& blocks,
                        const std::vector<QuadraturePoint>& points,
                        const std::function<bool(int)>& is_wanted) {
    CutHexes cut;
    if (mesh.kind != ElementKind::Hex8 || mesh.filled.empty()) return cut;
    const std::vector<double> fractions = fractions_at_nodes(mesh);
    std::vector<int> places;
    std::vector<Vector3d> normals;
    cut.index_of_place.assign(blocks.elements.size(), -1);
    for (int place = 0; place < static_cast<int>(blocks.elements.size()); ++place) {
        const int e = blocks.elements[place];
        if (mesh.filled[e] >= 1 || !is_box(&points[static_cast<std::size_t>(place) * 8]) ||
            !is_wanted(place))
            continue;
        // outwards, in natural coordinates
        Vector3d normal = Vector3d::Zero();
        const auto nodes = mesh.element(e);
        for (int a = 0; a < 8; ++a)
            for (int k = 0; k < 3; ++k) normal[k] -= fractions[nodes[a]] * kHexSigns[a][k] / 4.0;
        if (normal.norm() < kFlatGradient) continue;
        cut.index_of_place[place] = static_cast<int>(places.size());
        places.push_back(place);
        normals.push_back(normal.normalized());
    }
    if (places.empty()) {
        cut.index_of_place.clear();
        return cut;
    }
    cut.weights.resize(places.size());
    const Moments whole = whole_cell();
    parallel_for(places.size(), 64, [&](std::size_t i) {
        const double filled = mesh.filled[blocks.elements[places[i]]];
        const PlaneCut plane(normals[i]);
        Moments m = plane.moments(plane.place(filled));
        const double spread = spread_share(filled), part = (1 - spread) * filled / m[0];
        for (std::size_t k = 0; k < m.size(); ++k) m[k] = part * m[k] + spread * filled * whole[k];
        double volume = 0;
        for (int q = 0; q < 8; ++q)
            volume += points[static_cast<std::size_t>(places[i]) * 8 + q].weight;
        cut.weights[i] = weights_of(m, volume / filled);
    });
    return cut;
}

}  // namespace pliant
