#include "pliant/greens/hierarchical_basis.h"

#include <array>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/greens/hierarchical_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

std::vector<int> random_domains(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<int> domains;
    for (int i = 0; i < count; ++i) domains.push_back(static_cast<int>(random() % 4) - 1);
    return domains;
}

/// φ of a level at all vertices, one column for each vertex of the level, from the rules alone.
MatrixXd functions_by_the_rules(const SemiRegularMesh& mesh, const std::vector<int>& domains,
                                int level) {
    const int count = mesh.num_vertices[at(level)], n = mesh.mesh.num_vertices();
    MatrixXd phi = MatrixXd::Zero(n, count);
    for (int k = 0; k < count; ++k) phi(k, k) = domains[at(k)] >= 0 ? 1 : 0;
    for (int j = level; j < mesh.num_levels(); ++j)
        for (int m = mesh.num_vertices[at(j)]; m < mesh.num_vertices[at(j) + 1]; ++m) {
            if (domains[at(m)] < 0) continue;
            const auto& around = mesh.neighbourhood[at(m - mesh.num_vertices[0])];
            std::vector<int> parents;
            for (int p = 0; p < 2; ++p)
                if (domains[at(around[at(p)])] == domains[at(m)]) parents.push_back(around[at(p)]);
            if (parents.empty()) {
                double least = kInfinity;
                for (int k = 0; k < mesh.num_vertices[at(j)]; ++k) {
                    const double d = (mesh.mesh.vertices[at(k)] - mesh.mesh.vertices[at(m)]).norm();
                    if (domains[at(k)] == domains[at(m)] && d < least) {
                        least = d;
                        parents.assign(1, k);
                    }
                }
            }
            for (const int p : parents)
                phi.row(m) += phi.row(p) / static_cast<double>(parents.size());
        }
    return phi;
}

TEST(HierarchicalBasis, FollowsTheRulesOfDomains) {
    const SemiRegularMesh mesh = test::blob(3);
    const int n = mesh.mesh.num_vertices();
    std::vector<int> halves, patch(at(n), 0);
    for (const Vector3d& x : mesh.mesh.vertices) halves.push_back(x.z() < -0.22 ? 1 : 0);
    // a small patch without any vertex of the base
    for (int i = 12; i < n; ++i)
        if ((mesh.mesh.vertices[at(i)] - mesh.mesh.vertices[50]).norm() < 0.12) patch[at(i)] = 1;
    int num_single = 0, num_copied = 0, num_empty = 0;
    for (const auto& domains : {halves, patch, random_domains(n, 1), random_domains(n, 2)}) {
        const HierarchicalBasis basis(mesh, domains);
        for (int level = 0; level <= 3; ++level) {
            const MatrixXd phi = functions_by_the_rules(mesh, domains, level);
            for (int k = 0; k < basis.num_vertices(level); ++k) {
                const int id = basis.id(level, k);
                ASSERT_EQ(basis.has(id), domains[at(k)] >= 0);
                if (!basis.has(id)) continue;
                MatrixXd own = MatrixXd::Zero(n, 1);
                const WeightedVertices values = basis.values(id);
                for (std::size_t q = 0; q < values.vertices.size(); ++q)
                    own(values.vertices[q], 0) = values.weights[q];
                ASSERT_EQ(own, phi.col(k)) << level << " " << k;
                ASSERT_EQ(basis.value(id, 7), phi(7, k));
            }
            for (int i = 0; i < n; ++i) {
                const WeightedVertices over = basis.covering(level, i);
                double sum = 0;
                for (std::size_t q = 0; q < over.vertices.size(); ++q) {
                    EXPECT_EQ(over.weights[q], phi(i, over.vertices[q]));
                    EXPECT_EQ(domains[at(over.vertices[q])], domains[at(i)]);
                    sum += over.weights[q];
                }
                // constants are functions, but where the level has no vertex of the domain
                EXPECT_EQ(sum, over.vertices.empty() ? 0 : 1);
            }
        }
        for (int m = basis.num_vertices(0); m < n; ++m) {
            const auto& around = mesh.neighbourhood[at(m - 12)];
            const int inside = (domains[at(around[0])] == domains[at(m)]) +
                               (domains[at(around[1])] == domains[at(m)]);
            if (domains[at(m)] < 0) continue;
            num_single += inside == 1;
            num_copied += inside == 0 && !basis.stencil(m).vertices.empty();
            num_empty += inside == 0 && basis.stencil(m).vertices.empty();
        }
    }
    // all rules were needed
    EXPECT_GT(num_single, 50);
    EXPECT_GT(num_copied, 50);
    EXPECT_GT(num_empty, 0);
}

TEST(HierarchicalBasis, IdsSayLevelAndVertex) {
    const HierarchicalBasis basis(test::blob(2), std::vector<int>(162, 0));
    EXPECT_EQ(basis.num_ids(), 3 * 162);
    EXPECT_EQ(basis.id(2, 100), 100);
    EXPECT_EQ(basis.id(1, 41), 162 + 41);
    EXPECT_EQ(basis.level_of(162 + 41), 1);
    EXPECT_EQ(basis.vertex_of(2 * 162 + 5), 5);
    EXPECT_TRUE(basis.has(2 * 162 + 11));
    EXPECT_FALSE(basis.has(2 * 162 + 12));
    EXPECT_FALSE(basis.has(-1));
    EXPECT_FALSE(basis.has(3 * 162));
    EXPECT_EQ(basis.vertex_level(11), 0);
    EXPECT_EQ(basis.vertex_level(12), 1);
    EXPECT_EQ(basis.vertex_level(42), 2);
}

TEST(HierarchicalBasis, AreasAreIntegralsOfTheFunctions) {
    const SemiRegularMesh mesh = test::blob(3);
    const auto vertex_areas = test::lumped_areas(mesh.mesh);
    const HierarchicalBasis basis(mesh, test::standing_kinds(mesh.mesh));
    const auto areas = basis.areas(vertex_areas);
    const auto centres = basis.centres(vertex_areas, mesh.mesh.vertices);
    for (int level = 0; level <= 3; ++level) {
        std::array<double, 2> sums{}, whole{};
        for (int k = 0; k < basis.num_vertices(level); ++k) {
            const int id = basis.id(level, k);
            const WeightedVertices values = basis.values(id);
            double integral = 0;
            Vector3d moment = Vector3d::Zero();
            for (std::size_t q = 0; q < values.vertices.size(); ++q) {
                const double share = values.weights[q] * vertex_areas[at(values.vertices[q])];
                integral += share;
                moment += share * mesh.mesh.vertices[at(values.vertices[q])];
            }
            EXPECT_NEAR(areas[at(id)], integral, 1e-15 * integral * 8);
            EXPECT_LT((centres[at(id)] - moment / integral).norm(), 1e-15);
            sums[at(basis.domain(k))] += areas[at(id)];
        }
        for (int i = 0; i < mesh.mesh.num_vertices(); ++i)
            whole[at(basis.domain(i))] += vertex_areas[at(i)];
        for (int d = 0; d < 2; ++d) EXPECT_NEAR(sums[at(d)], whole[at(d)], 1e-14 * whole[at(d)]);
    }
}

/// Coordinates in the parent triangle, from those in its child.
std::pair<int, Vector3d> in_parent(int triangle, const Vector3d& c) {
    const int child = triangle % 4;
    if (child == 3) {
        // corner k of the middle lies across from corner k
        return {triangle / 4, {(c[1] + c[2]) / 2, (c[0] + c[2]) / 2, (c[0] + c[1]) / 2}};
    }
    Vector3d b = c / 2;
    b[child] += 0.5;
    return {triangle / 4, b};
}

TEST(HierarchicalBasis, IsBarycentricInTheTrianglesOfItsLevel) {
    const SemiRegularMesh mesh = test::blob(3);
    const HierarchicalBasis basis(mesh, std::vector<int>(mesh.mesh.vertices.size(), 0));
    for (int t = 0; t < mesh.mesh.num_triangles(); t += 7) {
        const Vector3d fine = Vector3d(0.2 + t % 5, 1.0 + t % 3, 0.5 + t % 7).normalized();
        const Vector3d barycentric = fine / fine.sum();
        std::pair<int, Vector3d> place{t, barycentric};
        for (int level = 2; level >= 0; --level) {
            place = in_parent(place.first, place.second);
            for (int corner = 0; corner < 3; ++corner) {
                const int k = mesh.triangles[at(level)][at(place.first)][at(corner)];
                double phi = 0;
                for (int c = 0; c < 3; ++c)
                    phi += barycentric[c] *
                           basis.value(basis.id(level, k), mesh.mesh.triangles[at(t)][at(c)]);
                EXPECT_NEAR(phi, place.second[corner], 1e-15);
            }
        }
    }
}

TEST(HierarchicalBasis, RefusesWhatHasNoLevels) {
    EXPECT_EQ(test::input_error([] { HierarchicalBasis(test::blob(0), std::vector<int>(12, 0)); }),
              "hierarchical constraints need a surface with subdivision connectivity, and this one "
              "has a single level; build it with --levels, or take what pliant mesh --kind "
              "semiregular makes of it");
    EXPECT_EQ(test::input_error([] { HierarchicalBasis(test::blob(1), std::vector<int>(80, 0)); }),
              "hierarchical constraints: nodes = 80 (expected one for each of 42 vertices; "
              "constant elements and doubled nodes have no levels)");
}

}  // namespace
}  // namespace pliant
