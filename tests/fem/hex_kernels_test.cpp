#include "fem/hex_kernels.h"

#include "fem/accurate_hex.h"
#include "fem/hex_dilation.h"
#include "fem/fem_model_data.h"
#include "fem/fem_samples.h"
#include "fem/hex_batches.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A mesh with its blocks and batches.
struct Hexes {
    Hexes(VolumeMesh m, std::vector<Material> ms, int elements_per_block = kMaxHexesPerBlock,
          ElementFormulation formulation = ElementFormulation::Accurate)
        : mesh(std::move(m)),
          materials(std::move(ms)),
          elements(formulation),
          blocks(element_blocks(mesh, elements_per_block)),
          cut(elements == ElementFormulation::Accurate
                  ? find_cut_hexes(mesh, blocks, quadrature_points(mesh, blocks.elements),
                                   [&](int place) {
                                       return has_hex_kernel(material(blocks.elements[place]));
                                   })
                  : CutHexes()),
          batches(make_hex_batches(mesh, blocks, materials, elements, &cut)) {}

    /// The same as plain elements.
    [[nodiscard]] Hexes plain() const {
        const int count =
            blocks.block_offsets.size() > 2 ? blocks.block_offsets[1] : mesh.num_elements();
        return {mesh, materials, std::min(count, kMaxHexesPerBlock), ElementFormulation::Plain};
    }

    [[nodiscard]] const Material& material(int element) const {
        return materials[mesh.regions.empty() ? 0 : mesh.regions[element]];
    }

    VolumeMesh mesh;
    std::vector<Material> materials;
    ElementFormulation elements;
    ElementBlocks blocks;
    CutHexes cut;
    HexBatches batches;
};

template <class T>
VectorXd simd_force(const Hexes& hexes, const VectorXd& u) {
    VectorXd R = VectorXd::Zero(u.size());
    for (int block = 0; block < hexes.blocks.num_blocks(); ++block)
        add_hex_forces<T>(hexes.batches, block, u.data(), R.data());
    return R;
}

/// What one element at a time gives, with Eigen; only elements that have a kernel.
struct Reference {
    VectorXd R;
    VectorXd size;  ///< Σ weight (|λ| + 2μ) |∇u| (1 + |∇u|)² |g_a|: what rounding is relative to
    double energy = 0;
    HexDetF smallest{std::numeric_limits<double>::infinity(), std::numeric_limits<int>::max()};
};
Reference reference(const Hexes& hexes, const VectorXd& u) {
    Reference out{VectorXd::Zero(u.size()), VectorXd::Zero(u.size())};
    std::vector<int> all(static_cast<std::size_t>(hexes.mesh.num_elements()));
    std::iota(all.begin(), all.end(), 0);
    const auto points = quadrature_points(hexes.mesh, all);
    const FemModel model(hexes.mesh, hexes.materials, {hexes.elements});
    std::vector<int> place_of(all.size());
    for (const int place : all) place_of[model.data().blocks.elements[place]] = place;
    for (const int e : all) {
        const Material& material = hexes.material(e);
        if (!has_hex_kernel(material)) continue;
        const int* const nodes = hexes.mesh.element(e).data();
        const NodeColumns<8> ue = gather<8>(u.data(), nodes);
        NodeColumns<8> fe = NodeColumns<8>::Zero(), size = NodeColumns<8>::Zero();
        const bool is_at_points = !is_accurate_hex(model.data(), place_of[e]);
        for (int k = 0; k < 8; ++k) {
            const auto& gradients = ReferenceElement<8>::get().gradients[k];
            const QuadraturePoint& point = points[8 * static_cast<std::size_t>(e) + k];
            const Matrix3d F = deformation_gradient<8>(ue, gradients, point);
            if (is_at_points) {
                add_stress_force<8>(stress(material, F), gradients, point, fe);
                out.energy += point.weight * energy_density(material, F);
            }
            const double H = (F - Matrix3d::Identity()).norm();
            const NodeColumns<8> g = point.inverse_jacobian.transpose() * gradients;
            size.rowwise() += point.weight * (std::abs(material.lambda) + 2 * material.mu) * H *
                              (1 + H) * (1 + H) * g.colwise().norm();
            const HexDetF here{F.determinant(), e};
            if (here.value < out.smallest.value) out.smallest = here;
        }
        if (!is_at_points) {
            const AccurateHex hex(model.data(), place_of[e], ue);
            fe = hex.force();
            out.energy += hex.energy();
        } else if (has_mean_dilation(model.data(), place_of[e])) {
            const HexDilation dilation(model.data(), place_of[e], ue);
            fe += dilation.force();
            out.energy += dilation.energy();
        }
        scatter_add<8>(fe, nodes, out.R.data());
        scatter_add<8>(size, nodes, out.size.data());
    }
    return out;
}

/// Sums over 8 points of products of some 10 factors: a hundred roundings at the very most.
double tolerance(double epsilon) { return 30 * epsilon; }
constexpr double kDouble = std::numeric_limits<double>::epsilon();
/// Displacements relative to the block are rounded too: they differ by up to |∇u| times its
/// extent, some five elements, which counts as much as the sums.
constexpr double kSingle = std::numeric_limits<float>::epsilon();

void expect_close(const VectorXd& R, const Reference& expected, double epsilon) {
    const double error =
        ((R - expected.R).array().abs() / (expected.size.array() + 1e-300)).maxCoeff();
    ASSERT_TRUE(R.allFinite());
    EXPECT_LE(error, tolerance(epsilon));
}

template <class Body>
void on_every_target(const Body& body) {
    for (const std::string& name : simd_targets()) {
        SCOPED_TRACE(name);
        const ScopedSimdTarget scope(name);
        body();
    }
}

Material stvk(double E = 1e5, double nu = 0.3) { return isotropic(E, nu, 1000); }

/// Boxes with unequal sides.
VolumeMesh box_mesh(int nx, int ny, int nz) {
    return hex_box(nx, ny, nz, Box(Vector3d(0.3, -2, 1), Vector3d(1.1, -1.5, 2)));
}

/// Boxes at low x, distorted hexes at high x, five regions and filled fractions everywhere.
VolumeMesh mixed_mesh() {
    VolumeMesh mesh = hex_box(7, 6, 5, test::unit_box());
    std::mt19937 generator(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (Vector3d& x : mesh.vertices)
        if (x.x() > 0.5)
            x += 0.02 * Vector3d(uniform(generator), uniform(generator), uniform(generator));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        mesh.regions.push_back(static_cast<int>(generator() % 5));
        mesh.filled.push_back(0.55 + 0.45 * uniform(generator));
    }
    return mesh;
}
std::vector<Material> mixed_materials() {
    return {stvk(), stvk(3e6, 0.47), isotropic(2e5, -0.2, 1000, Law::SmallStrain),
            isotropic(1e5, 0.3, 1000, Law::NeoHookean),
            isotropic(1e5, 0.3, 1000, Law::Corotational)};
}

/// Large rotation and stretch, and each node somewhere else.
VectorXd large_displacements(const VolumeMesh& mesh, double noise) {
    const Matrix3d Q = Eigen::AngleAxisd(1.2, Vector3d(1, -2, 0.5).normalized()).matrix();
    Matrix3d stretch;
    stretch << 1.2, 0.1, 0, 0, 0.9, -0.1, 0.05, 0, 1.1;
    return test::affine_displacements(mesh, Q * stretch - Matrix3d::Identity(), {0.1, 2, -3}) +
           test::random_displacements(3 * mesh.num_vertices(), noise, 11);
}

std::vector<Hexes> samples() {
    std::vector<Hexes> list;
    list.emplace_back(box_mesh(5, 4, 3), std::vector{stvk()});
    list.emplace_back(test::distorted_hexes(5), std::vector{stvk()});
    list.emplace_back(test::distorted_hexes(4),
                      std::vector{isotropic(1e5, 0.3, 1e3, Law::SmallStrain)});
    list.emplace_back(box_mesh(4, 5, 4), std::vector{isotropic(1e5, 0.3, 1e3, Law::SmallStrain)});
    // boxes of several sizes
    list.emplace_back(graded_box(8), std::vector{stvk()});
    list.emplace_back(box_mesh(4, 5, 3), std::vector{isotropic(1e5, 0.4, 1e3, Law::NeoHookean)});
    list.emplace_back(test::distorted_hexes(4),
                      std::vector{isotropic(1e5, 0.4, 1e3, Law::NeoHookean)});
    // boxes that are cut
    VolumeMesh cut = box_mesh(4, 4, 4);
    for (int e = 0; e < cut.num_elements(); ++e) cut.filled.push_back(1.0 / (1 + e % 5));
    list.emplace_back(cut, std::vector{stvk(1e5, 0.45)});
    list.emplace_back(cut, std::vector{isotropic(1e5, 0.3, 1e3, Law::SmallStrain)});
    // batches of every fill, and elements without kernel among them
    for (const int elements_per_block : {64, 37, 5, 1})
        list.emplace_back(mixed_mesh(), mixed_materials(), elements_per_block);
    for (std::size_t k = 0, count = list.size(); k < count; ++k) list.push_back(list[k].plain());
    return list;
}

TEST(HexKernels, ForceMatchesElementsOneByOne) {
    for (const Hexes& hexes : samples()) {
        const VectorXd u = large_displacements(hexes.mesh, 0.01);
        const Reference expected = reference(hexes, u);
        on_every_target([&] {
            expect_close(simd_force<double>(hexes, u), expected, kDouble);
            expect_close(simd_force<float>(hexes, u), expected, kSingle);
        });
    }
}

TEST(HexKernels, SmallDisplacementsKeepTheirDigits) {
    // strains of 1e-5: FᵀF − I would leave two digits of them in single precision
    for (const Hexes& hexes : samples()) {
        const VectorXd u = test::random_displacements(3 * hexes.mesh.num_vertices(), 1e-6, 4);
        const Reference expected = reference(hexes, u);
        on_every_target([&] {
            // the reference itself rounds F = I + ∇u
            const double error = (simd_force<double>(hexes, u) - expected.R).norm();
            EXPECT_LE(error, 1e-10 * expected.R.norm());
            expect_close(simd_force<float>(hexes, u), expected, kSingle);
        });
    }
}

TEST(HexKernels, ForceIsTheGradientOfEnergy) {
    for (const Hexes& hexes :
         {Hexes(box_mesh(3, 2, 2), {stvk()}), Hexes(test::distorted_hexes(2), {stvk()}),
          Hexes(mixed_mesh(), mixed_materials())}) {
        const VectorXd u = large_displacements(hexes.mesh, 0.02);
        const VectorXd p = test::random_displacements(static_cast<int>(u.size()), 1.0, 8);
        const double slope = simd_force<double>(hexes, u).dot(p);
        const auto error = [&](double step) {
            const double high = reference(hexes, u + step * p).energy;
            const double low = reference(hexes, u - step * p).energy;
            return std::abs((high - low) / (2 * step) - slope);
        };
        EXPECT_NEAR(error(2e-3) / error(1e-3), 4.0, 0.05);
        EXPECT_LE(error(1e-5), 1e-7 * std::abs(slope));
    }
}

TEST(HexKernels, RestAndTranslationGiveExactlyNoForce) {
    for (const Hexes& hexes : samples()) {
        VectorXd u = VectorXd::Zero(3 * hexes.mesh.num_vertices());
        on_every_target([&] {
            EXPECT_EQ(simd_force<double>(hexes, u).cwiseAbs().maxCoeff(), 0.0);
            const VectorXd far =
                test::affine_displacements(hexes.mesh, Matrix3d::Zero(), {1e3, 2, -7});
            EXPECT_EQ(simd_force<double>(hexes, far).cwiseAbs().maxCoeff(), 0.0);
            EXPECT_EQ(simd_force<float>(hexes, far).cwiseAbs().maxCoeff(), 0.0);
        });
    }
}

TEST(HexKernels, RotationGivesNoForce) {
    const Matrix3d Q = Eigen::AngleAxisd(2.0, Vector3d(3, 1, 2).normalized()).matrix();
    for (const Hexes& hexes :
         {Hexes(box_mesh(4, 3, 5), {stvk()}), Hexes(test::distorted_hexes(5), {stvk()})}) {
        const VectorXd u =
            test::affine_displacements(hexes.mesh, Q - Matrix3d::Identity(), {5, 6, 7});
        const Reference expected = reference(hexes, u);
        on_every_target([&] {
            const auto relative = [&](const VectorXd& R) {
                return (R.array().abs() / expected.size.array()).maxCoeff();
            };
            // u itself is rounded: 10 m against elements of 0.2 m
            EXPECT_LE(relative(simd_force<double>(hexes, u)), 50 * tolerance(kDouble));
            EXPECT_LE(relative(simd_force<float>(hexes, u)), tolerance(kSingle));
        });
    }
}

TEST(HexKernels, SinglePrecisionDoesNotDependOnWhereTheBodyIs) {
    const Hexes hexes(test::distorted_hexes(6), {stvk()});
    const VectorXd u = test::random_displacements(3 * hexes.mesh.num_vertices(), 0.01, 2);
    const VectorXd far =
        u + test::affine_displacements(hexes.mesh, Matrix3d::Zero(), {1e4, -1e4, 3e3});
    const Reference expected = reference(hexes, far);
    on_every_target([&] { expect_close(simd_force<float>(hexes, far), expected, kSingle); });
}

TEST(HexKernels, SmallestDetFAndItsElement) {
    for (const Hexes& hexes : samples()) {
        VectorXd u = large_displacements(hexes.mesh, 0.02);
        // one element is nearly flat
        const auto nodes = hexes.mesh.element(hexes.mesh.num_elements() / 2);
        u.segment<3>(3 * nodes[6]) +=
            0.7 * (hexes.mesh.vertices[nodes[0]] - hexes.mesh.vertices[nodes[6]]);
        const Reference expected = reference(hexes, u);
        on_every_target([&] {
            const auto check = [&](auto zero, double epsilon) {
                using T = decltype(zero);
                HexDetF smallest{std::numeric_limits<double>::infinity(), -1};
                VectorXd R = VectorXd::Zero(u.size());
                for (int block = 0; block < hexes.blocks.num_blocks(); ++block) {
                    const HexDetF here =
                        add_hex_forces_and_det_F<T>(hexes.batches, block, u.data(), R.data());
                    if (here.value < smallest.value) smallest = here;
                }
                expect_close(R, expected, epsilon);
                EXPECT_NEAR(smallest.value, expected.smallest.value, 100 * epsilon);
                EXPECT_EQ(smallest.element, expected.smallest.element);
            };
            check(double{}, kDouble);
            check(float{}, kSingle);
        });
    }
}

TEST(HexKernels, DetFIgnoresEmptyLanesAndBreaksTiesByNumber) {
    // 11 elements, all of them twice as long: an empty lane would have det F = 1
    const Hexes hexes(hex_box(11, 1, 1, test::unit_box()), {stvk()});
    const VectorXd u = test::affine_displacements(hexes.mesh, Matrix3d::Identity());
    VectorXd R = VectorXd::Zero(u.size());
    on_every_target([&] {
        const HexDetF stretched =
            add_hex_forces_and_det_F<double>(hexes.batches, 0, u.data(), R.data());
        EXPECT_NEAR(stretched.value, 8, 1e-12);
        const VectorXd rest = VectorXd::Zero(u.size());
        for (const bool single : {false, true}) {
            const HexDetF at_rest =
                single ? add_hex_forces_and_det_F<float>(hexes.batches, 0, rest.data(), R.data())
                       : add_hex_forces_and_det_F<double>(hexes.batches, 0, rest.data(), R.data());
            EXPECT_EQ(at_rest.value, 1.0);
            EXPECT_EQ(at_rest.element, 0);
        }
    });
}

TEST(HexKernels, BlockWithoutKernelsGivesNothing) {
    const Hexes hexes(hex_box(2, 2, 2, test::unit_box()),
                      {isotropic(1e5, 0.3, 1e3, Law::Corotational)});
    EXPECT_EQ(hexes.batches.others.size(), 8u);
    EXPECT_TRUE(hexes.batches.batches.empty());
    VectorXd u = VectorXd::Ones(81), R = VectorXd::Zero(81);
    const HexDetF none = add_hex_forces_and_det_F<double>(hexes.batches, 0, u.data(), R.data());
    EXPECT_EQ(none.value, std::numeric_limits<double>::infinity());
    EXPECT_EQ(none.element, std::numeric_limits<int>::max());
    EXPECT_EQ(R.norm(), 0.0);
}

TEST(HexKernels, NaNStaysInItsElements) {
    for (const Hexes& hexes :
         {Hexes(box_mesh(4, 4, 4), {stvk()}), Hexes(test::distorted_hexes(4), {stvk()}),
          Hexes(mixed_mesh(), mixed_materials(), 37)}) {
        const VectorXd u = test::random_displacements(3 * hexes.mesh.num_vertices(), 0.01, 1);
        // the first node of a block is the origin of its displacements in single precision
        for (const int bad : {hexes.batches.nodes[0], hexes.mesh.num_vertices() / 2}) {
            std::set<int> touched;
            for (int e = 0; e < hexes.mesh.num_elements(); ++e)
                if (const auto nodes = hexes.mesh.element(e);
                    has_hex_kernel(hexes.material(e)) &&
                    std::ranges::find(nodes, bad) != nodes.end())
                    touched.insert(nodes.begin(), nodes.end());
            for (const double poison : {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(), 1e300}) {
                VectorXd poisoned = u;
                poisoned.segment<3>(3 * bad).setConstant(poison);
                on_every_target([&] {
                    const VectorXd whole = simd_force<double>(hexes, u);
                    const VectorXd R = simd_force<double>(hexes, poisoned);
                    const VectorXd R_single = simd_force<float>(hexes, poisoned);
                    for (int i = 0; i < hexes.mesh.num_vertices(); ++i) {
                        if (touched.contains(i)) {
                            // a huge number may stay finite where the law is linear
                            EXPECT_TRUE(std::isfinite(poison) || !R.segment<3>(3 * i).allFinite());
                        } else {
                            EXPECT_EQ(R.segment<3>(3 * i), whole.segment<3>(3 * i));
                            EXPECT_TRUE(R_single.segment<3>(3 * i).allFinite());
                        }
                    }
                });
            }
        }
    }
}

TEST(HexKernels, AddsToWhatIsThereAndWritesNothingElse) {
    const Hexes hexes(test::distorted_hexes(3), {stvk()});
    const auto n = 3 * hexes.mesh.num_vertices();
    const VectorXd u = test::random_displacements(n, 0.01, 1);
    on_every_target([&] {
        VectorXd R = VectorXd::Constant(n + 2, 7.0);
        add_hex_forces<double>(hexes.batches, 0, u.data(), R.data() + 1);
        EXPECT_EQ(R[0], 7.0);
        EXPECT_EQ(R[n + 1], 7.0);
        const VectorXd added = R.segment(1, n).array() - 7.0;
        EXPECT_LE((added - simd_force<double>(hexes, u)).cwiseAbs().maxCoeff(), 1e-11);
    });
}

TEST(HexKernels, SameBitsForEveryNumberOfThreadsAndNoAllocation) {
    const Hexes hexes(test::distorted_hexes(10), {stvk()});
    const VectorXd u = test::random_displacements(3 * hexes.mesh.num_vertices(), 0.01, 1);
    const auto force = [&](int threads) {
        set_num_threads(threads);
        VectorXd R = VectorXd::Zero(u.size());
        const AllocationGuard guard;
        for_each_block(hexes.blocks, [&](int block, int, int) {
            add_hex_forces<double>(hexes.batches, block, u.data(), R.data());
            add_hex_forces_and_det_F<float>(hexes.batches, block, u.data(), R.data());
        });
        const auto allocations = guard.count();
        EXPECT_TRUE(threads > 1 || allocations == 0u);
        return R;
    };
    const VectorXd one = force(1), four = force(4);
    set_num_threads(0);
    EXPECT_EQ(one, four);
}

/// The pattern of K and the tangent by elements one by one.
struct TangentSample {
    explicit TangentSample(Hexes h) : hexes(std::move(h)), model(hexes.mesh, hexes.materials, {hexes.elements}) {
        const FemModelData& d = model.data();
        EXPECT_EQ(d.blocks.elements, hexes.blocks.elements);
        pattern = {d.column_offsets.data(), d.slots.data()};
    }
    [[nodiscard]] FemModel::Matrix simd_tangent(const VectorXd& u, VectorXd* R = nullptr) const {
        FemModel::Matrix K = model.make_matrix();
        if (R != nullptr) R->setZero(u.size());
        for (int block = 0; block < hexes.blocks.num_blocks(); ++block)
            add_hex_tangents(hexes.batches, block, pattern, u.data(),
                             R != nullptr ? R->data() : nullptr, K.valuePtr());
        return K;
    }
    [[nodiscard]] FemModel::Matrix reference_tangent(const VectorXd& u) const {
        const FemModelData& d = model.data();
        FemModel::Matrix K = model.make_matrix();
        for (int place = 0; place < static_cast<int>(d.blocks.elements.size()); ++place) {
            const Material& material = d.materials[d.regions[place]];
            if (!has_hex_kernel(material)) continue;
            const int* const nodes = d.nodes.data() + 8 * static_cast<std::size_t>(place);
            const NodeColumns<8> ue = gather<8>(u.data(), nodes);
            const bool is_accurate = is_accurate_hex(d, place);
            ElementMatrix<8> Ke = ElementMatrix<8>::Zero();
            if (is_accurate) Ke = AccurateHex(d, place, ue).tangent();
            for (int k = 0; k < 8 && !is_accurate; ++k) {
                const auto& gradients = ReferenceElement<8>::get().gradients[k];
                const QuadraturePoint& point = d.points[8 * static_cast<std::size_t>(place) + k];
                add_tangent<8>(
                    stress_gradient(material, deformation_gradient<8>(ue, gradients, point)),
                    gradients, point, Ke);
            }
            if (has_mean_dilation(d, place)) Ke += HexDilation(d, place, ue).tangent();
            for (int b = 0; b < 8; ++b)
                for (int a = 0; a < 8; ++a)
                    for (int j = 0; j < 3; ++j)
                        for (int i = 0; i < 3; ++i)
                            K.coeffRef(3 * nodes[a] + i, 3 * nodes[b] + j) +=
                                a <= b ? Ke(3 * a + i, 3 * b + j) : Ke(3 * b + j, 3 * a + i);
        }
        return K;
    }

    Hexes hexes;
    FemModel model;
    HexPattern pattern{};
};

std::vector<TangentSample> tangent_samples() {
    std::vector<TangentSample> list;
    list.emplace_back(Hexes(box_mesh(5, 4, 3), {stvk()}));
    list.emplace_back(Hexes(test::distorted_hexes(4), {stvk()}));
    list.emplace_back(
        Hexes(test::distorted_hexes(3), {isotropic(1e5, 0.3, 1e3, Law::SmallStrain)}));
    list.emplace_back(Hexes(graded_box(6), {stvk()}));
    VolumeMesh cut = box_mesh(3, 4, 3);
    for (int e = 0; e < cut.num_elements(); ++e) cut.filled.push_back(1.0 / (1 + e % 5));
    list.emplace_back(Hexes(cut, {stvk(1e5, 0.45)}));
    list.emplace_back(Hexes(mixed_mesh(), mixed_materials()));
    list.emplace_back(
        Hexes(test::distorted_hexes(3), {isotropic(1e5, 0.45, 1e3, Law::NeoHookean)}));
    for (std::size_t k = 0, count = list.size(); k < count; ++k)
        list.emplace_back(list[k].hexes.plain());
    return list;
}

double largest(const FemModel::Matrix& K) {
    return Eigen::Map<const VectorXd>(K.valuePtr(), K.nonZeros()).cwiseAbs().maxCoeff();
}

TEST(HexTangents, TangentAndForceMatchElementsOneByOne) {
    for (const TangentSample& sample : tangent_samples()) {
        const VectorXd u = large_displacements(sample.hexes.mesh, 0.02);
        const Reference expected = reference(sample.hexes, u);
        const FemModel::Matrix K_expected = sample.reference_tangent(u);
        on_every_target([&] {
            VectorXd R;
            const FemModel::Matrix K = sample.simd_tangent(u, &R);
            expect_close(R, expected, kDouble);
            EXPECT_LE(largest(K - K_expected), tolerance(kDouble) * largest(K_expected));
            EXPECT_EQ(largest(K - sample.simd_tangent(u)), 0.0);
            const FemModel::Matrix transposed = K.transpose();
            EXPECT_EQ(largest(K - transposed), 0.0);
        });
    }
}

TEST(HexTangents, TangentIsTheDerivativeOfForce) {
    for (const TangentSample& sample : tangent_samples()) {
        const VectorXd u = large_displacements(sample.hexes.mesh, 0.02);
        const VectorXd p = test::random_displacements(static_cast<int>(u.size()), 1.0, 8);
        const VectorXd Kp = sample.simd_tangent(u) * p;
        const auto error = [&](double step) {
            const VectorXd difference = simd_force<double>(sample.hexes, u + step * p) -
                                        simd_force<double>(sample.hexes, u - step * p);
            return (difference / (2 * step) - Kp).norm() / Kp.norm();
        };
        EXPECT_LE(error(1e-6), 1e-8);
        // of second order; small-strain forces are linear
        if (error(2e-3) > 1e-9) {
            EXPECT_NEAR(error(2e-3) / error(1e-3), 4.0, 0.05);
        }
    }
}

TEST(HexTangents, ProductEqualsMatrixTimesVector) {
    for (const TangentSample& sample : tangent_samples()) {
        const VectorXd u = large_displacements(sample.hexes.mesh, 0.02);
        const VectorXd p = test::random_displacements(static_cast<int>(u.size()), 1.0, 8);
        const VectorXd expected = sample.reference_tangent(u) * p;
        on_every_target([&] {
            VectorXd Kp = VectorXd::Zero(u.size());
            for (int block = 0; block < sample.hexes.blocks.num_blocks(); ++block)
                add_hex_tangent_products(sample.hexes.batches, block, u.data(), p.data(),
                                         Kp.data());
            EXPECT_LE((Kp - expected).cwiseAbs().maxCoeff(),
                      tolerance(kDouble) * expected.cwiseAbs().maxCoeff());
        });
    }
}

TEST(HexTangents, SameBitsForEveryNumberOfThreadsAndNoAllocation) {
    const TangentSample sample(Hexes(test::distorted_hexes(9), {stvk()}));
    const VectorXd u = test::random_displacements(3 * sample.hexes.mesh.num_vertices(), 0.01, 1);
    const auto run = [&](int threads) {
        set_num_threads(threads);
        FemModel::Matrix K = sample.model.make_matrix();
        VectorXd R = VectorXd::Zero(u.size()), Kp = VectorXd::Zero(u.size());
        const AllocationGuard guard;
        for_each_block(sample.hexes.blocks, [&](int block, int, int) {
            add_hex_tangents(sample.hexes.batches, block, sample.pattern, u.data(), R.data(),
                             K.valuePtr());
            add_hex_tangent_products(sample.hexes.batches, block, u.data(), u.data(), Kp.data());
        });
        const auto allocations = guard.count();
        EXPECT_TRUE(threads > 1 || allocations == 0u);
        VectorXd all(R.size() + Kp.size() + K.nonZeros());
        all << R, Kp, Eigen::Map<const VectorXd>(K.valuePtr(), K.nonZeros());
        return all;
    };
    const VectorXd one = run(1), four = run(4);
    set_num_threads(0);
    EXPECT_EQ(one, four);
}

TEST(HexTangents, NaNStaysInItsElements) {
    const TangentSample sample(Hexes(test::distorted_hexes(4), {stvk()}));
    const int bad = sample.hexes.mesh.element(10)[0];
    std::set<std::pair<int, int>> touched;
    for (int e = 0; e < sample.hexes.mesh.num_elements(); ++e)
        if (const auto nodes = sample.hexes.mesh.element(e);
            std::ranges::find(nodes, bad) != nodes.end())
            for (const int a : nodes)
                for (const int b : nodes) touched.insert({a, b});
    VectorXd u = VectorXd::Zero(3 * sample.hexes.mesh.num_vertices());
    u[3 * bad] = std::numeric_limits<double>::quiet_NaN();
    on_every_target([&] {
        const FemModel::Matrix K = sample.simd_tangent(u);
        for (int column = 0; column < K.outerSize(); ++column)
            for (FemModel::Matrix::InnerIterator it(K, column); it; ++it)
                ASSERT_TRUE(std::isfinite(it.value()) ||
                            touched.contains({static_cast<int>(it.row()) / 3, column / 3}));
    });
}

TEST(HexBatches, BoxesAreFoundWhereverTheyAre) {
    const auto num_boxes = [](const Hexes& hexes) {
        int count = 0;
        for (const HexBatch& batch : hexes.batches.batches)
            if (batch.is_box) count += batch.num_elements;
        return count;
    };
    EXPECT_EQ(num_boxes(Hexes(box_mesh(5, 4, 3), {stvk()})), 60);
    EXPECT_EQ(num_boxes(Hexes(test::distorted_hexes(3), {stvk()})), 0);
    const Hexes graded(graded_box(8), {stvk()});
    EXPECT_EQ(num_boxes(graded), graded.mesh.num_elements());
    // millimetres, a kilometre away
    const Vector3d far(1e3, -1e3, 5e2);
    EXPECT_EQ(num_boxes(Hexes(hex_box(4, 4, 4, Box(far, far + 0.01 * Vector3d::Ones())), {stvk()})),
              64);
    // vertices that come from computations
    VolumeMesh rounded = box_mesh(5, 4, 3);
    test::jitter(rounded, 1e-12, 3);
    EXPECT_EQ(num_boxes(Hexes(rounded, {stvk()})), 60);
    // a slight shear, and a box that is turned
    VolumeMesh sheared = hex_box(2, 2, 2, test::unit_box());
    for (Vector3d& x : sheared.vertices) x.x() += 1e-7 * x.z();
    EXPECT_EQ(num_boxes(Hexes(sheared, {stvk()})), 0);
    VolumeMesh turned = hex_box(2, 2, 2, test::unit_box());
    for (Vector3d& x : turned.vertices) x = Vector3d(-x.y(), x.x(), x.z());
    EXPECT_EQ(num_boxes(Hexes(turned, {stvk()})), 0);
}

TEST(HexBatches, EveryElementIsInOneBatchOrAmongTheOthers) {
    const Hexes hexes(mixed_mesh(), mixed_materials(), 37);
    std::vector<int> times(static_cast<std::size_t>(hexes.mesh.num_elements()), 0);
    for (int block = 0; block < hexes.blocks.num_blocks(); ++block) {
        const auto is_in_block = [&](int place) {
            return place >= hexes.blocks.block_offsets[block] &&
                   place < hexes.blocks.block_offsets[block + 1];
        };
        for (int b = hexes.batches.batch_offsets[block]; b < hexes.batches.batch_offsets[block + 1];
             ++b) {
            const HexBatch& batch = hexes.batches.batches[b];
            for (int lane = 0; lane < batch.num_elements; ++lane) {
                const int e = batch.elements[lane];
                ++times[e];
                EXPECT_TRUE(is_in_block(batch.places[lane]));
                EXPECT_EQ(hexes.blocks.elements[batch.places[lane]], e);
                EXPECT_EQ(batch.is_small_strain, hexes.material(e).law == Law::SmallStrain);
                EXPECT_EQ(batch.is_neo_hookean, hexes.material(e).law == Law::NeoHookean);
            }
        }
        for (int k = hexes.batches.other_offsets[block]; k < hexes.batches.other_offsets[block + 1];
             ++k) {
            const int place = hexes.batches.others[k];
            ++times[hexes.blocks.elements[place]];
            EXPECT_TRUE(is_in_block(place));
            EXPECT_FALSE(has_hex_kernel(hexes.material(hexes.blocks.elements[place])));
        }
    }
    EXPECT_EQ(std::ranges::count(times, 1), hexes.mesh.num_elements());
}

TEST(HexBatches, KernelsExistForIsotropicLawsButTheCorotational) {
    EXPECT_TRUE(has_hex_kernel(stvk()));
    EXPECT_TRUE(has_hex_kernel(isotropic(1e5, 0.3, 1e3, Law::SmallStrain)));
    EXPECT_TRUE(has_hex_kernel(isotropic(1e5, 0.3, 1e3, Law::NeoHookean)));
    EXPECT_FALSE(has_hex_kernel(isotropic(1e5, 0.3, 1e3, Law::Corotational)));
    EXPECT_FALSE(has_hex_kernel(anisotropic(isotropic_stiffness(1e5, 1e5), 1e3)));
}

}  // namespace
}  // namespace pliant
