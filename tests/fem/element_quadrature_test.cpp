#include "fem/element_quadrature.h"

#include "fem/fem_samples.h"
#include "input_error.h"

#include <gtest/gtest.h>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::input_error;

std::vector<QuadraturePoint> all_points(const VolumeMesh& mesh) {
    std::vector<int> elements(static_cast<std::size_t>(mesh.num_elements()));
    std::iota(elements.begin(), elements.end(), 0);
    return quadrature_points(mesh, elements);
}

template <int N>
void expect_linear_fields_are_exact(const VolumeMesh& mesh) {
    Matrix3d A;
    A << 1, 2, 3, -4, 5, 6, 7, 8, -9;
    const auto points = all_points(mesh);
    const auto& reference = ReferenceElement<N>::get();
    for (int e = 0; e < mesh.num_elements(); ++e)
        for (int k = 0; k < reference.kPoints; ++k) {
            Matrix3d gradient = Matrix3d::Zero();
            for (int a = 0; a < N; ++a) {
                const Vector3d g = points[e * reference.kPoints + k].inverse_jacobian.transpose() *
                                   reference.gradients[k].col(a);
                gradient += A * mesh.vertices[mesh.element(e)[a]] * g.transpose();
            }
            EXPECT_LT((gradient - A).norm(), 1e-12);
            EXPECT_NEAR(reference.values[k].sum(), 1, 1e-15);
        }
}

TEST(ElementQuadrature, GradientsOfLinearFieldsAreExact) {
    expect_linear_fields_are_exact<8>(test::distorted_hexes(2));
    expect_linear_fields_are_exact<4>(test::distorted_tets(2));
}

TEST(ElementQuadrature, WeightsSumToTheFilledVolume) {
    for (VolumeMesh mesh : {test::distorted_hexes(3), test::distorted_tets(2)}) {
        mesh.filled.resize(static_cast<std::size_t>(mesh.num_elements()));
        for (int e = 0; e < mesh.num_elements(); ++e) mesh.filled[e] = 0.1 + 0.9 / (1 + e);
        double sum = 0;
        for (const QuadraturePoint& point : all_points(mesh)) sum += point.weight;
        EXPECT_NEAR(sum, total_volume(mesh, true), 1e-14);
    }
}

TEST(ElementQuadrature, InvertedAndFlatElementsAreRefusedByIndexAndJacobian) {
    VolumeMesh hexes = hex_box(2, 1, 1, test::unit_box());
    for (int a = 0; a < 4; ++a) std::swap(hexes.elements[8 + a], hexes.elements[12 + a]);
    EXPECT_EQ(
        input_error([&] { (void)all_points(hexes); }),
        "element 1 is inverted: its Jacobian is -0.0625 m³ at corner 0 (expected > 0); repair "
        "the mesh or leave the element out");

    // one corner pushed through the opposite faces: the Gauss points would not notice
    hexes = hex_box(1, 1, 1, test::unit_box());
    hexes.vertices[7] = {0.3, 0.3, 0.3};
    EXPECT_NE(input_error([&] { (void)all_points(hexes); }).find("element 0 is inverted"),
              std::string::npos);

    VolumeMesh tets = tet_box(1, 1, 1, test::unit_box());
    tets.elements[4 * 3] = tets.elements[4 * 3 + 1];
    EXPECT_EQ(input_error([&] { (void)all_points(tets); }),
              "element 3 is degenerate: its Jacobian is 0 m³ (expected > 0); repair the mesh or "
              "leave the element out");
}

}  // namespace
}  // namespace pliant
