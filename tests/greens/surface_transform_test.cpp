#include "pliant/greens/surface_transform.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/numbers.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"
#include "tests/greens/wavelet_domains.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

constexpr WaveletKind kAllWavelets[] = {WaveletKind::Linear, WaveletKind::LiftedLinear,
                                        WaveletKind::Butterfly, WaveletKind::LiftedButterfly};

template <class T>
std::vector<T> random_numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(uniform(random));
    return values;
}

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    return largest;
}

/// Specification, one scalar at a time: analysis from the finest level down.
std::vector<double> slow_forward(const SurfaceTransform& transform, std::vector<double> values) {
    for (int j = transform.num_levels() - 1; j >= 0; --j) {
        const int first = transform.level_sizes()[at(j)], end = transform.level_sizes()[at(j + 1)];
        for (int m = first; m < end; ++m) {
            const auto filter = transform.interpolation(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                values[at(m)] -= filter.weights[k] * values[at(filter.vertices[k])];
        }
        for (int m = first; m < end; ++m) {
            const auto filter = transform.lifting(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                values[at(filter.vertices[k])] += filter.weights[k] * values[at(m)];
        }
    }
    return values;
}

/// And synthesis, from the base up.
std::vector<double> slow_inverse(const SurfaceTransform& transform, std::vector<double> values) {
    for (int j = 0; j < transform.num_levels(); ++j) {
        const int first = transform.level_sizes()[at(j)], end = transform.level_sizes()[at(j + 1)];
        for (int m = first; m < end; ++m) {
            const auto filter = transform.lifting(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                values[at(filter.vertices[k])] -= filter.weights[k] * values[at(m)];
        }
        for (int m = first; m < end; ++m) {
            const auto filter = transform.interpolation(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                values[at(m)] += filter.weights[k] * values[at(filter.vertices[k])];
        }
    }
    return values;
}

class Transforms : public testing::Test {
protected:
    /// Every transform on every domain.
    template <class Body>
    void each(Body&& body) const {
        for (const WaveletKind kind : kAllWavelets)
            for (const test::NamedDomains& domains : test::some_domains(mesh_)) {
                SCOPED_TRACE(std::string(to_string(kind)) + " on " + domains.name);
                body(SurfaceTransform(mesh_, kind, areas_, domains.labels), domains);
            }
    }
    const SemiRegularMesh mesh_ = test::eared_blob(3);
    const std::vector<double> areas_ = test::hat_areas(mesh_.mesh);
};

TEST_F(Transforms, ReconstructToRoundOff) {
    each([&](const SurfaceTransform& transform, const test::NamedDomains&) {
        for (const int width : {1, 3, 4, 7, 9, 12}) {
            const std::size_t count = at(transform.num_vertices() * width);
            const auto single = random_numbers<float>(count, 1);
            const auto whole = random_numbers<double>(count, 2);
            auto a = single;
            auto b = whole;
            transform.forward(a.data(), width);
            transform.forward(b.data(), width);
            EXPECT_GT(largest_difference(b, whole), 0.1);
            transform.inverse(a.data(), width);
            transform.inverse(b.data(), width);
            EXPECT_LT(largest_difference(a, single), 1e-5) << width;
            EXPECT_LT(largest_difference(b, whole), 1e-14) << width;
        }
    });
}

TEST_F(Transforms, AreTheirEquationsOnEveryTarget) {
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        each([&](const SurfaceTransform& transform, const test::NamedDomains&) {
            for (const int width : {1, 3, 4, 9, 14}) {
                const std::size_t n = at(transform.num_vertices());
                auto values = random_numbers<double>(n * at(width), 3);
                const int component = width - 1;
                std::vector<double> one(n);
                for (std::size_t v = 0; v < n; ++v) one[v] = values[v * at(width) + at(component)];
                const std::vector<double> expected = slow_forward(transform, one);
                transform.forward(values.data(), width);
                for (std::size_t v = 0; v < n; ++v)
                    ASSERT_NEAR(values[v * at(width) + at(component)], expected[v], 1e-13)
                        << target << " " << width;
            }
        });
    }
}

TEST_F(Transforms, InvertByTheirEquationsOnEveryTarget) {
    for (const std::string& target : simd_targets()) {
        const ScopedSimdTarget scope(target);
        each([&](const SurfaceTransform& transform, const test::NamedDomains&) {
            for (const int width : {1, 3, 4, 9, 14}) {
                const std::size_t n = at(transform.num_vertices());
                auto values = random_numbers<double>(n * at(width), 9);
                std::vector<float> single(values.begin(), values.end());
                std::vector<std::vector<double>> expected;
                const int first = 0, last = width - 1;
                for (const int component : {first, last}) {
                    std::vector<double> one(n);
                    for (std::size_t v = 0; v < n; ++v)
                        one[v] = values[v * at(width) + at(component)];
                    expected.push_back(slow_inverse(transform, one));
                }
                transform.inverse(values.data(), width);
                transform.inverse(single.data(), width);
                for (std::size_t v = 0; v < n; ++v)
                    for (std::size_t c = 0; c < 2; ++c) {
                        const std::size_t place = v * at(width) + at(c == 0 ? first : last);
                        ASSERT_NEAR(values[place], expected[c][v], 1e-13) << target << " " << width;
                        ASSERT_NEAR(single[place], expected[c][v], 1e-5) << target << " " << width;
                    }
            }
        });
    }
}

/// The published weights, where nothing is a border.
TEST_F(Transforms, FiltersOfTheInteriorAreTheirNumbers) {
    for (const WaveletKind kind : kAllWavelets) {
        const SurfaceTransform transform(mesh_, kind, areas_);
        const bool is_linear = kind == WaveletKind::Linear || kind == WaveletKind::LiftedLinear;
        const bool is_lifted =
            kind == WaveletKind::LiftedLinear || kind == WaveletKind::LiftedButterfly;
        const int odd = transform.level_sizes()[0];
        for (int m = odd; m < transform.num_vertices(); ++m) {
            // ends of the edge, opposite to it, wings
            const auto& around = mesh_.neighbourhood[at(m - odd)];
            constexpr double kWeights[] = {0.5,      0.5,      0.125,    0.125,
                                           -1. / 16, -1. / 16, -1. / 16, -1. / 16};
            std::map<int, double> expected, got;
            for (std::size_t k = 0; k < (is_linear ? 2u : 8u); ++k)
                expected[around[k]] += kWeights[k];
            const auto filter = transform.interpolation(m);
            for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                got[filter.vertices[k]] += filter.weights[k];
            ASSERT_EQ(got, expected) << to_string(kind) << " " << m;

            const auto lifting = transform.lifting(m);
            ASSERT_EQ(lifting.vertices.size(), is_lifted ? 2u : 0u);
            const int level = transform.level(m);
            for (std::size_t k = 0; k < lifting.vertices.size(); ++k) {
                ASSERT_EQ(lifting.vertices[k], around[k]);
                ASSERT_DOUBLE_EQ(lifting.weights[k],
                                 transform.integrals(level)[at(m)] /
                                     (2 * transform.integrals(level - 1)[at(around[k])]));
            }
        }
    }
}

/// On a flat face of the base, whose vertices are a regular grid.
TEST_F(Transforms, ButterfliesHaveNoDetailOfCubicsOnARegularPatch) {
    const SemiRegularMesh flat = midpoint_subdivide(test::icosahedron(), 4);
    const auto& x = flat.mesh.vertices;
    const SurfaceMesh base = test::icosahedron();
    const Eigen::Vector3d origin = base.vertices[at(base.triangles[0][0])],
                          a = base.vertices[at(base.triangles[0][1])] - origin,
                          b = base.vertices[at(base.triangles[0][2])] - origin,
                          normal = a.cross(b).normalized();
    std::vector<double> cubic(x.size());
    for (std::size_t v = 0; v < x.size(); ++v) {
        const double s = a.dot(x[v] - origin), t = b.dot(x[v] - origin);
        cubic[v] = 1 + s - 2 * t + s * t - t * t + s * s * s - 3 * s * s * t + 2 * t * t * t;
    }
    const std::vector<double> areas(x.size(), 1.0);
    const SurfaceTransform butterfly(flat, WaveletKind::Butterfly, areas),
        linear(flat, WaveletKind::Linear, areas);
    const auto detail = [&](const SurfaceTransform& transform, int m) {
        double value = cubic[at(m)];
        const auto filter = transform.interpolation(m);
        for (std::size_t k = 0; k < filter.vertices.size(); ++k)
            value -= filter.weights[k] * cubic[at(filter.vertices[k])];
        return std::abs(value);
    };
    int num_regular = 0;
    double largest_linear = 0;
    for (int m = butterfly.level_sizes()[0]; m < butterfly.num_vertices(); ++m) {
        const auto stencil = butterfly.interpolation(m).vertices;
        if (!std::all_of(stencil.begin(), stencil.end(),
                         [&](int v) { return std::abs(normal.dot(x[at(v)] - origin)) < 1e-12; }))
            continue;
        ++num_regular;
        EXPECT_LT(detail(butterfly, m), 1e-14) << m;
        largest_linear = std::max(largest_linear, detail(linear, m));
    }
    EXPECT_GT(num_regular, 20);
    EXPECT_GT(largest_linear, 1e-3);
}

TEST_F(Transforms, LeaveOtherDomainsAndVerticesAlone) {
    each([&](const SurfaceTransform& transform, const test::NamedDomains& domains) {
        const std::size_t n = domains.labels.size();
        std::vector<double> values = random_numbers<double>(n, 4), others = values;
        for (std::size_t v = 0; v < n; ++v)
            if (domains.labels[v] != 0) others[v] = domains.labels[v] < 0 ? kNan : 1e9;
        transform.forward(values.data(), 1);
        transform.forward(others.data(), 1);
        for (std::size_t v = 0; v < n; ++v) {
            if (domains.labels[v] == 0) {
                ASSERT_EQ(values[v], others[v]) << v;
            } else if (domains.labels[v] < 0) {
                ASSERT_TRUE(std::isnan(others[v])) << v;
            }
        }
    });
}

TEST_F(Transforms, LiftingConservesIntegralsOnEveryLevel) {
    each([&](const SurfaceTransform& transform, const test::NamedDomains& domains) {
        const bool is_lifted = transform.kind() == WaveletKind::LiftedLinear ||
                               transform.kind() == WaveletKind::LiftedButterfly;
        // what levels without coarser vertices hold is added as it comes
        std::vector<double> values = random_numbers<double>(domains.labels.size(), 5);
        for (int j = transform.num_levels(); j >= 0; --j) {
            double sum = 0, size = 0;
            for (int k = 0; k < transform.level_sizes()[at(j)]; ++k) {
                if (transform.domain(k) != 0) continue;
                sum += transform.integrals(j)[at(k)] * values[at(k)];
                size += transform.integrals(j)[at(k)];
            }
            if (j == 0) break;
            // one step, by a mesh that has only two levels left
            const int first = transform.level_sizes()[at(j - 1)],
                      end = transform.level_sizes()[at(j)];
            double empty = 0, coarse = 0;
            for (int m = first; m < end; ++m) {
                const auto filter = transform.interpolation(m);
                for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                    values[at(m)] -= filter.weights[k] * values[at(filter.vertices[k])];
                if (filter.vertices.empty() && transform.domain(m) == 0)
                    empty += transform.integrals(j)[at(m)] * values[at(m)];
            }
            for (int m = first; m < end; ++m) {
                const auto filter = transform.lifting(m);
                for (std::size_t k = 0; k < filter.vertices.size(); ++k)
                    values[at(filter.vertices[k])] += filter.weights[k] * values[at(m)];
            }
            for (int k = 0; k < first; ++k)
                if (transform.domain(k) == 0)
                    coarse += transform.integrals(j - 1)[at(k)] * values[at(k)];
            if (is_lifted) {
                EXPECT_NEAR(coarse + empty, sum, 1e-14 * size) << "level " << j;
            } else if (domains.name == "full") {
                EXPECT_GT(std::abs(coarse - sum), 1e-3 * size) << "level " << j;
            }
        }
    });
}

TEST_F(Transforms, BordersHaveAllTheirCases) {
    const auto domains = test::some_domains(mesh_);
    const SurfaceTransform full(mesh_, WaveletKind::LiftedButterfly, areas_);
    const int odd = full.level_sizes()[0];
    EXPECT_EQ(full.interpolation(odd).vertices.size(), 8u);
    EXPECT_EQ(full.lifting(odd).vertices.size(), 2u);
    EXPECT_TRUE(full.is_base(odd - 1));

    const SurfaceTransform random(mesh_, WaveletKind::LiftedLinear, areas_, domains[4].labels);
    int num_single = 0, num_copies = 0;
    for (int m = odd; m < full.num_vertices(); ++m) {
        if (domains[4].labels[at(m)] < 0) continue;
        const auto filter = random.interpolation(m), lifting = random.lifting(m);
        const auto& around = mesh_.neighbourhood[at(m - odd)];
        const int aunts = (domains[4].labels[at(around[0])] == 0 ? 1 : 0) +
                          (domains[4].labels[at(around[1])] == 0 ? 1 : 0);
        ASSERT_EQ(filter.vertices.size(), aunts == 2 ? 2u : 1u);
        ASSERT_EQ(lifting.vertices.size(), filter.vertices.size());
        if (aunts == 2) continue;
        (aunts == 1 ? num_single : num_copies)++;
        EXPECT_EQ(filter.weights[0], 1.0);
        EXPECT_EQ(lifting.vertices[0], filter.vertices[0]);
        EXPECT_DOUBLE_EQ(lifting.weights[0],
                         random.integrals(random.level(m))[at(m)] /
                             random.integrals(random.level(m) - 1)[at(filter.vertices[0])]);
        if (aunts == 0)
            for (int k = 0; k < random.level_sizes()[at(random.level(m) - 1)]; ++k)
                if (domains[4].labels[at(k)] == 0) {
                    const auto& x = mesh_.mesh.vertices;
                    ASSERT_LE((x[at(filter.vertices[0])] - x[at(m)]).norm(),
                              (x[at(k)] - x[at(m)]).norm());
                }
    }
    EXPECT_GT(num_single, 100);
    EXPECT_GT(num_copies, 50);

    // a patch between the vertices of the base starts on a finer level
    const SurfaceTransform patch(mesh_, WaveletKind::LiftedLinear, areas_, domains[3].labels);
    int num_late = 0;
    for (int m = odd; m < full.num_vertices(); ++m)
        num_late += domains[3].labels[at(m)] == 0 && patch.is_base(m);
    EXPECT_GT(num_late, 0);
}

TEST_F(Transforms, SelectedValuesAreThoseOfTheFullInverse) {
    each([&](const SurfaceTransform& transform, const test::NamedDomains& domains) {
        const int n = transform.num_vertices();
        const auto coefficients = random_numbers<double>(3 * at(n), 6);
        auto expected = coefficients;
        transform.inverse(expected.data(), 3);
        SelectiveInverse<double> selective(transform, 3);
        selective.start(coefficients.data());
        for (int v = 0; v < n; v += 3) {
            if (domains.labels[at(v)] < 0) continue;
            const double* const value = selective.value(v);
            const SurfaceTransform::Row row = transform.row_weights(v);
            ASSERT_TRUE(std::is_sorted(row.vertices.begin(), row.vertices.end()));
            for (std::size_t c = 0; c < 3; ++c) {
                ASSERT_NEAR(value[c], expected[3 * at(v) + c], 1e-13);
                double sum = 0;
                for (std::size_t k = 0; k < row.vertices.size(); ++k)
                    sum += row.weights[k] * coefficients[3 * at(row.vertices[k]) + c];
                ASSERT_NEAR(sum, expected[3 * at(v) + c], 1e-13);
            }
        }
    });
}

TEST_F(Transforms, RememberWhatNeighboursShare) {
    const SemiRegularMesh mesh = test::eared_blob(4);
    const SurfaceTransform transform(mesh, WaveletKind::LiftedLinear, test::hat_areas(mesh.mesh));
    const auto coefficients = random_numbers<float>(at(transform.num_vertices()), 7);
    SelectiveInverse<float> selective(transform, 1);
    // a cluster of 20 vertices
    std::vector<int> near(at(transform.num_vertices()));
    for (int v = 0; v < transform.num_vertices(); ++v) near[at(v)] = v;
    const Eigen::Vector3d x = mesh.mesh.vertices.back();
    std::sort(near.begin(), near.end(), [&](int a, int b) {
        return (mesh.mesh.vertices[at(a)] - x).norm() < (mesh.mesh.vertices[at(b)] - x).norm();
    });
    AllocationGuard guard;
    selective.start(coefficients.data());
    (void)selective.value(near[0]);
    const auto visits_of_one = selective.num_visits();
    for (std::size_t k = 1; k < 20; ++k) (void)selective.value(near[k]);
    const auto allocations = guard.count();
    EXPECT_LE(visits_of_one, 17);
    EXPECT_LE(selective.num_visits(), 20 * 4);
    EXPECT_EQ(allocations, 0u);
}

TEST_F(Transforms, CoarseLevelsOfTheInverseLeaveTheRestAlone) {
    each([&](const SurfaceTransform& transform, const test::NamedDomains&) {
        const auto coefficients = random_numbers<float>(4 * at(transform.num_vertices()), 8);
        // finer coefficients of zero: the same as the full inverse seen before the last steps
        for (int level = 0; level <= transform.num_levels(); ++level) {
            const std::size_t count = 4 * at(transform.level_sizes()[at(level)]);
            auto values = coefficients, padded = coefficients;
            std::fill(padded.begin() + static_cast<std::ptrdiff_t>(count), padded.end(), 0.0f);
            transform.inverse(values.data(), 4, level);
            transform.inverse(padded.data(), 4);
            EXPECT_TRUE(std::equal(values.begin(), values.begin() + static_cast<int>(count),
                                   padded.begin()));
            EXPECT_TRUE(std::equal(values.begin() + static_cast<int>(count), values.end(),
                                   coefficients.begin() + static_cast<int>(count)));
        }
    });
}

TEST_F(Transforms, ConstantsHaveNoDetail) {
    each([&](const SurfaceTransform& transform, const test::NamedDomains& domains) {
        std::vector<double> values(domains.labels.size(), 2.5);
        transform.forward(values.data(), 1);
        for (int v = 0; v < transform.num_vertices(); ++v)
            if (domains.labels[at(v)] >= 0) {
                ASSERT_NEAR(values[at(v)], transform.is_base(v) ? 2.5 : 0, 1e-13);
            }
    });
}

TEST_F(Transforms, BadSizesAndNamesAreTold) {
    EXPECT_EQ(test::input_error([&] {
                  SurfaceTransform(mesh_, WaveletKind::Linear, std::vector<double>(3, 1.0));
              }),
              "transform.areas = 3 (expected one for each of 642 vertices)");
    EXPECT_EQ(test::input_error([&] {
                  SurfaceTransform(mesh_, WaveletKind::Linear, areas_, std::vector<int>(2, 0));
              }),
              "transform.domains = 2 (expected one for each of 642 vertices)");
    EXPECT_EQ(test::input_error([] { (void)wavelet_kind("haar"); }),
              "wavelet = haar (expected linear, lifted-linear, butterfly or lifted-butterfly)");
    for (const WaveletKind kind : kAllWavelets) EXPECT_EQ(wavelet_kind(to_string(kind)), kind);
}

}  // namespace
}  // namespace pliant
