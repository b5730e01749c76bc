#include "greens/boundary_cases.h"

#include <cmath>

#include <gtest/gtest.h>

namespace pliant {
namespace {

BoundaryOptions case_options(double poisson_ratio,
                             BoundaryElements elements = BoundaryElements::Linear) {
    BoundaryOptions options;
    options.poisson_ratio = poisson_ratio;
    options.elements = elements;
    return options;
}

TEST(BoundaryCases, SphereUnderPressureConverges) {
    for (const double nu : {0.45, 0.5}) {
        const auto coarse = sphere_under_pressure(1, case_options(nu)),
                   fine = sphere_under_pressure(2, case_options(nu));
        EXPECT_EQ(fine.num_nodes, 162);
        EXPECT_LT(fine.displacement, 0.001) << nu;
        EXPECT_GT(convergence_order(coarse.displacement, coarse.element_size, fine.displacement,
                                    fine.element_size),
                  2)
            << nu;
    }
    // smaller ratios: errors of shape and of values cancel in part, at different sizes
    EXPECT_LT(sphere_under_pressure(2, case_options(0)).displacement, 0.003);
    EXPECT_LT(sphere_under_pressure(2, case_options(0.3)).displacement, 0.001);
}

TEST(BoundaryCases, CavityUnderPressureConvergesForEveryPoissonRatio) {
    for (const double nu : {0.0, 0.3, 0.49, 0.5}) {
        const auto coarse = cavity_under_pressure(1, case_options(nu)),
                   fine = cavity_under_pressure(2, case_options(nu));
        EXPECT_LT(fine.displacement, 0.02) << nu;
        EXPECT_LT(fine.displacement, coarse.displacement) << nu;
    }
    const auto coarse = cavity_under_pressure(1, case_options(0.5)),
               fine = cavity_under_pressure(2, case_options(0.5));
    EXPECT_GT(convergence_order(coarse.displacement, coarse.element_size, fine.displacement,
                                fine.element_size),
              1.7);
}

TEST(BoundaryCases, TorsionNeedsDoubledNodesAtTheRims) {
    for (const double nu : {0.3, 0.5}) {
        BoundaryOptions options = case_options(nu);
        options.crease_angle = 0.8;
        const TorsionErrors coarse = cylinder_in_torsion(2, options),
                            fine = cylinder_in_torsion(3, options);
        EXPECT_LT(fine.fields.displacement, 0.004);
        EXPECT_LT(std::abs(fine.stiffness), 0.004);
        EXPECT_LT(std::abs(fine.reaction), 0.001);
        EXPECT_GT(convergence_order(coarse.fields.displacement, coarse.fields.element_size,
                                    fine.fields.displacement, fine.fields.element_size),
                  1.7);
        options.crease_angle = 0;
        EXPECT_GT(std::abs(cylinder_in_torsion(2, options).stiffness), 0.5);
    }
}

TEST(BoundaryCases, LaplaceInASphereConverges) {
    const auto coarse = laplace_in_sphere(2, case_options(0)),
               fine = laplace_in_sphere(3, case_options(0));
    EXPECT_LT(fine.displacement, 0.01);
    EXPECT_LT(fine.traction, 0.02);
    EXPECT_GT(convergence_order(coarse.displacement, coarse.element_size, fine.displacement,
                                fine.element_size),
              1.5);
}

TEST(BoundaryCases, ConstantElementsConvergeMoreSlowly) {
    for (const double nu : {0.3, 0.5}) {
        const BoundaryOptions options = case_options(nu, BoundaryElements::Constant);
        const auto coarse = cavity_under_pressure(1, options),
                   fine = cavity_under_pressure(2, options);
        EXPECT_EQ(fine.num_nodes, 320);
        EXPECT_LT(fine.displacement, 0.02) << nu;
        EXPECT_GT(convergence_order(coarse.displacement, coarse.element_size, fine.displacement,
                                    fine.element_size),
                  1)
            << nu;
    }
    const BoundaryOptions options = case_options(0.3, BoundaryElements::Constant);
    const auto sphere = sphere_under_pressure(2, options);
    EXPECT_LT(sphere.displacement, 0.02);
    const auto coarse = laplace_in_sphere(1, options), fine = laplace_in_sphere(2, options);
    EXPECT_LT(fine.displacement, 0.05);
    EXPECT_GT(convergence_order(coarse.displacement, coarse.element_size, fine.displacement,
                                fine.element_size),
              1.3);
}

TEST(BoundaryCases, ReciprocityImprovesWithRefinement) {
    const double coarse = blob_asymmetry(2, 0.3, 100), fine = blob_asymmetry(3, 0.3, 100);
    EXPECT_LT(coarse, 0.05);
    EXPECT_LT(fine, 0.03);
    EXPECT_LT(fine, 0.7 * coarse);
    EXPECT_LT(blob_asymmetry(2, 0.5, 100), 0.05);
}

}  // namespace
}  // namespace pliant
