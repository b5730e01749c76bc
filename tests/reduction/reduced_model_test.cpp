#include "pliant/reduction/reduced_model.h"

#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/fem/loads.h"
#include "reduction/force_samples.h"
#include "reduction/model_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::bar_model;
using test::bar_parts;
using test::BarOptions;
using test::input_error;

Material soft() { return isotropic(1e5, 0.3, 1000); }
Material stiff() { return isotropic(4e5, 0.4, 1500); }

MatrixXd stiffness_at(const ReducedForce& force, const VectorXd& q) {
    const auto ws = force.make_workspace();
    VectorXd R(force.size());
    MatrixXd K(force.size(), force.size());
    force.force_and_stiffness(q, R, K, *ws);
    return K;
}

VectorXd force_at(const ReducedForce& force, const VectorXd& q) {
    const auto ws = force.make_workspace();
    VectorXd R(force.size());
    force.force(q, R, *ws);
    return R;
}

/// Relative difference.
double distance(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); }

void expect_equal(const ReducedModel& a, const ReducedModel& b) {
    EXPECT_EQ(a.rank(), b.rank());
    EXPECT_EQ(a.eigenvalues(), b.eigenvalues());
    EXPECT_EQ(a.singular_values(), b.singular_values());
    EXPECT_EQ(a.fixed_vertices(), b.fixed_vertices());
    EXPECT_EQ(a.is_free(), b.is_free());
    EXPECT_EQ(a.expected_reach(), b.expected_reach());
    EXPECT_EQ(MatrixXd(a.basis()), MatrixXd(b.basis()));
    EXPECT_EQ(a.mass(), b.mass());
    const Eigen::Vector3d g(1, 2, 3);
    EXPECT_EQ(a.gravity_load(g), b.gravity_load(g));
    EXPECT_EQ(a.mesh().elements, b.mesh().elements);
    EXPECT_EQ(a.mesh().regions, b.mesh().regions);
    EXPECT_EQ(a.surface().vertices, b.surface().vertices);
    EXPECT_EQ(a.surface().triangles, b.surface().triangles);
    EXPECT_EQ(a.embedding().weights(), b.embedding().weights());
    const VectorXd q = test::random_vector(a.rank(), 7, 0.05);
    EXPECT_EQ(stiffness_at(*a.make_force(), q), stiffness_at(*b.make_force(), q));
    for (int v = 0; v < a.shapes().num_vertices(); ++v)
        EXPECT_EQ(a.shapes().position(v, q), b.shapes().position(v, q));
}

TEST(ReducedModel, SavedModelsComeBackBitForBit) {
    const test::TemporaryDirectory folder;
    const std::vector<BarOptions> all{{},
                                      {.materials = {soft(), stiff()}},
                                      {.is_free = true},
                                      {.materials = {material_preset("wood"), stiff()}},
                                      {.storage = ShapeStorage::Int16},
                                      {.materials = {isotropic(1e5, 0.3, 1000, Law::NeoHookean)}}};
    for (const BarOptions& options : all) {
        const ReducedModel model = bar_model(options);
        model.save(folder / "bar.pliant", {{"input", "bar"}});
        const ReducedModel loaded = ReducedModel::load(folder / "bar.pliant");
        expect_equal(loaded, model);
        EXPECT_EQ(loaded.provenance().at("input"), "bar");
        EXPECT_EQ(loaded.materials().size(), options.materials.size());
        if (!options.is_free) continue;
        const InertiaBlocks a = loaded.inertia(), b = model.inertia();
        EXPECT_EQ(a.mass, b.mass);
        EXPECT_EQ(a.centre, b.centre);
        EXPECT_EQ(a.second_moment, b.second_moment);
        EXPECT_EQ(a.b, b.b);
        EXPECT_EQ(a.B, b.B);
    }
}

TEST(ReducedModel, LivesOnAfterItsFileIsGone) {
    const test::TemporaryDirectory folder;
    const ReducedModel model = bar_model();
    model.save(folder / "bar.pliant");
    const ReducedModel loaded = ReducedModel::load(folder / "bar.pliant");
    const ReducedModel copy = loaded.truncated(loaded.rank());
    const SurfaceShapes shapes = ReducedModel::load(folder / "bar.pliant").shapes();
    std::filesystem::remove(folder / "bar.pliant");
    expect_equal(copy, model);
    const VectorXd q = test::random_vector(10, 3);
    EXPECT_EQ(shapes.position(5, q), model.shapes().position(5, q));
}

TEST(ReducedModel, MassIsTheIdentityAndWeightThatOfTheFullModel) {
    for (const std::vector<Material>& materials : {std::vector{soft()}, {soft(), stiff()}}) {
        const ReducedModel model = bar_model({.materials = materials});
        // orthonormal to rounding; differences of masses lose no more than that
        EXPECT_LT((model.mass() - MatrixXd::Identity(10, 10)).norm(), 1e-11);
        const Eigen::Vector3d g(0.3, -0.2, -9.81);
        const VectorXd full = gravity_load(FemModel(model.mesh(), materials), g);
        EXPECT_LT(distance(model.gravity_load(g), model.basis().transpose() * full), 1e-12);
    }
}

TEST(ReducedModel, EditedMaterialsEqualANewPrecomputation) {
    const ReducedModel model = bar_model({.materials = {soft(), stiff()}});
    const std::vector<Material> edited{isotropic(3e5, 0.1, 700), isotropic(2e4, 0.45, 1234)};
    const ReducedModel other = model.with_materials(edited);
    const FemModel fem(model.mesh(), edited);
    const MatrixXd U = model.basis();
    const VectorXd q = test::random_vector(10, 4, 0.05);
    const auto built_anew = make_polynomial_force(combine(build_coefficients(fem, U), edited));
    const auto direct = make_direct_force(fem, U);
    EXPECT_LT(distance(stiffness_at(*other.make_force(), q), stiffness_at(*built_anew, q)), 1e-12);
    EXPECT_LT(distance(force_at(*other.make_force(), q), force_at(*direct, q)), 1e-10);
    EXPECT_LT(distance(other.mass(), U.transpose() * (mass_matrix(fem) * U)), 1e-12);
    const Eigen::Vector3d g(1, 2, 3);
    EXPECT_LT(distance(other.gravity_load(g), U.transpose() * gravity_load(fem, g)), 1e-12);
    // the first one has not changed
    EXPECT_LT((model.mass() - MatrixXd::Identity(10, 10)).norm(), 1e-11);
}

TEST(ReducedModel, DensityOfAFreeBodyScalesItsInertia) {
    const ReducedModel model = bar_model({.is_free = true});
    const std::vector<Material> edited{isotropic(1e5, 0.3, 250)};
    const InertiaBlocks a = model.with_materials(edited).truncated(6).inertia();
    const InertiaBlocks b =
        inertia_blocks(FemModel(model.mesh(), edited), model.basis().leftCols(6));
    EXPECT_NEAR(a.mass / b.mass, 1, 1e-12);
    EXPECT_LT((a.centre - b.centre).norm(), 1e-12);
    EXPECT_LT(distance(a.second_moment, b.second_moment), 1e-12);
    for (std::size_t k = 0; k < 9; ++k) {
        // parts that vanish by symmetry are rounding
        EXPECT_LT((a.b[k] - b.b[k]).norm(), 1e-10);
        EXPECT_LT((a.B[k] - b.B[k]).norm(), 1e-10);
    }
}

TEST(ReducedModel, EditedModelsCanBeSaved) {
    const test::TemporaryDirectory folder;
    const ReducedModel edited =
        bar_model({.is_free = true}).with_materials({isotropic(2e5, 0.2, 500)}).truncated(6);
    edited.save(folder / "edited.pliant");
    const ReducedModel loaded = ReducedModel::load(folder / "edited.pliant");
    expect_equal(loaded, edited);
    EXPECT_EQ(loaded.inertia().mass, edited.inertia().mass);
    EXPECT_EQ(loaded.inertia().B[4], edited.inertia().B[4]);
}

TEST(ReducedModel, TruncatedModelsAreTheFirstVectorsOfTheBasis) {
    const test::TemporaryDirectory folder;
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16}) {
        const ReducedModel model = bar_model({.storage = storage});
        const ReducedModel first = model.truncated(4);
        VectorXd q = VectorXd::Zero(10);
        q.head(4) = test::random_vector(4, 9, 0.05);
        const MatrixXd K = stiffness_at(*model.make_force(), q).topLeftCorner(4, 4);
        EXPECT_LT(distance(stiffness_at(*first.make_force(), q.head(4)), K), 1e-13);
        EXPECT_EQ(MatrixXd(first.basis()), MatrixXd(model.basis().leftCols(4)));
        EXPECT_EQ(first.mass(), MatrixXd(model.mass().topLeftCorner(4, 4)));
        EXPECT_EQ(first.shapes().size(), 4);
        EXPECT_LT((first.shapes().position(7, q.head(4)) - model.shapes().position(7, q)).norm(),
                  1e-12);
        EXPECT_LT(first.captured(), model.captured());
        first.save(folder / "first.pliant");
        expect_equal(ReducedModel::load(folder / "first.pliant"), first);
    }
}

TEST(ReducedModel, LawsWithoutPolynomialsGoThroughTheElements) {
    const std::vector<Material> materials{isotropic(1e5, 0.3, 1000, Law::NeoHookean)};
    const ReducedModel model = bar_model({.materials = materials});
    EXPECT_FALSE(model.has_polynomials());
    EXPECT_TRUE(model.polynomials().empty());
    const VectorXd q = test::random_vector(10, 5, 0.05);
    const auto direct = make_direct_force(FemModel(model.mesh(), materials), model.basis());
    EXPECT_EQ(force_at(*model.make_force(), q), force_at(*direct, q));
}

TEST(ReducedModel, StepSuitsTheFirstFrequency) {
    const auto step_at = [](double hertz) {
        ReducedModelParts parts = bar_parts();
        const double omega = 2 * std::numbers::pi * hertz;
        parts.eigenvalues = VectorXd::Constant(1, omega * omega);
        return ReducedModel(std::move(parts)).suggested_step();
    };
    EXPECT_DOUBLE_EQ(step_at(2), 1e-3);    // a haptic tick
    EXPECT_DOUBLE_EQ(step_at(500), 1e-4);  // twenty steps per period
    EXPECT_DOUBLE_EQ(step_at(70), 5e-4);   // 0.714 ms, rounded down
    EXPECT_DOUBLE_EQ(step_at(12345), 2e-6);
}

TEST(ReducedModel, EditsThatTheFileCannotHoldAreRefused) {
    const ReducedModel model = bar_model({.materials = {soft(), stiff()}});
    EXPECT_EQ(input_error([&] { (void)model.with_materials({soft()}); }),
              "materials = 1 (expected 2, those of the model)");
    EXPECT_NE(input_error([&] {
                  (void)model.with_materials({soft(), isotropic(1e5, 0.3, 1000, Law::SmallStrain)});
              }).find("materials[1].law = small-strain (expected st-venant-kirchhoff"),
              std::string::npos);
    Material broken = soft();
    broken.density = -1;
    EXPECT_NE(input_error([&] {
                  (void)model.with_materials({soft(), broken});
              }).find("density = -1"),
              std::string::npos);

    const ReducedModel wooden = bar_model({.materials = {material_preset("wood")}});
    EXPECT_NE(input_error([&] {
                  (void)wooden.with_materials({stiff()});
              }).find("other anisotropic constants than the model"),
              std::string::npos);
    Material lighter = wooden.materials()[0];
    lighter.density /= 2;
    EXPECT_NEAR(wooden.with_materials({lighter}).mass()(0, 0), 0.5, 1e-12);

    const ReducedModel free = bar_model({.is_free = true, .materials = {soft(), stiff()}});
    Material heavy = stiff();
    heavy.density *= 2;
    EXPECT_NE(input_error([&] {
                  (void)free.with_materials({soft(), heavy});
              }).find("densities of a free body change by one factor"),
              std::string::npos);
    Material heavy_too = soft();
    heavy_too.density *= 2;
    EXPECT_NEAR(free.with_materials({heavy_too, heavy}).inertia().mass, 2 * free.inertia().mass,
                1e-9);
}

TEST(ReducedModel, MoreVectorsThanTheBasisHasAreRefused) {
    const ReducedModel model = bar_model();
    EXPECT_EQ(input_error([&] { (void)model.truncated(11); }),
              "rank = 11 (expected 1 to 10, the vectors of the model's basis)");
    EXPECT_NE(input_error([&] { (void)model.truncated(0); }), "");
    EXPECT_NE(input_error([&] { (void)model.truncated(5).truncated(6); }), "");
}

TEST(ReducedModel, AnotherSurfaceIsRefused) {
    const test::TemporaryDirectory folder;
    ReducedModelParts parts = bar_parts();
    const SurfaceMesh given = test::torus_surface(8, 5);
    parts.input_hash = content_hash(given);
    ReducedModel(std::move(parts)).save(folder / "bar.pliant");
    const ReducedModel model = ReducedModel::load(folder / "bar.pliant");
    EXPECT_EQ(input_error([&] { model.require_surface(given); }), "");
    EXPECT_EQ(input_error([&] { model.require_surface(model.surface()); }), "");
    SurfaceMesh other = given;
    other.vertices[3].x() += 1e-12;
    const std::string message = input_error([&] { model.require_surface(other); });
    EXPECT_NE(message.find("bar.pliant: the model was built from another surface"),
              std::string::npos)
        << message;
}

TEST(ReducedModel, PartsThatDoNotFitAreRefused) {
    const auto message_of = [](const auto& change, const BarOptions& options = {}) {
        ReducedModelParts parts = bar_parts(options);
        change(parts);
        return input_error([&] { (void)ReducedModel(std::move(parts)); });
    };
    using Parts = ReducedModelParts;
    EXPECT_EQ(message_of([](Parts&) {}), "");
    EXPECT_EQ(message_of([](Parts& p) { p.materials.clear(); }),
              "materials = none (expected one for each region of the mesh)");
    EXPECT_NE(message_of([](Parts& p) {
                  p.basis.U.conservativeResize(30, 10);
              }).find("basis, rows = 30 (expected 243, three for each vertex of the mesh)"),
              std::string::npos);
    EXPECT_NE(message_of([](Parts& p) { p.eigenvalues[0] = -1; }).find("positive and ascending"),
              std::string::npos);
    EXPECT_NE(message_of([](Parts& p) { p.unit_masses.pop_back(); }).find("reduced masses = 0"),
              std::string::npos);
    EXPECT_NE(message_of([](Parts& p) { p.unit_masses[0](1, 1) = NAN; }).find("reduced mass 0"),
              std::string::npos);
    EXPECT_NE(message_of([](Parts& p) {
                  p.polynomials[0].of_mu = p.polynomials[0].of_mu.truncated(3);
              }).find("polynomials, rank"),
              std::string::npos);
    EXPECT_NE(
        message_of([](Parts& p) { p.fixed_vertices.push_back(100000); }).find("fixed vertices"),
        std::string::npos);
    EXPECT_NE(message_of([](Parts& p) {
                  p.fixed_vertices.clear();
              }).find("inertia = none (expected for free bodies"),
              std::string::npos);
    EXPECT_NE(message_of([](Parts& p) { p.inertia->mass = 0; }, {.is_free = true})
                  .find("inertia = mass 0"),
              std::string::npos);
    EXPECT_NE(message_of([](Parts& p) {
                  p.embedding.emplace(p.mesh, std::vector<Eigen::Vector3d>(3, {0.1, 0.1, 0.1}));
              }).find("embedding, points = 3 (expected 8"),
              std::string::npos);
}

/// The archive with one chunk replaced, or left out when it is empty.
template <class T>
void save_with(const Archive& archive, const std::string& name, std::span<const T> values,
               const std::vector<std::uint64_t>& shape, const std::filesystem::path& path) {
    ArchiveWriter writer(archive.kind());
    for (const ChunkInfo& chunk : archive.chunks()) {
        if (chunk.name == name || chunk.name == "provenance") continue;
        switch (chunk.type) {
            case ChunkType::F64:
                writer.add(chunk.name, archive.get<double>(chunk.name), chunk.shape);
                break;
            case ChunkType::F32:
                writer.add(chunk.name, archive.get<float>(chunk.name), chunk.shape);
                break;
            case ChunkType::U64:
                writer.add(chunk.name, archive.get<std::uint64_t>(chunk.name), chunk.shape);
                break;
            default: writer.add(chunk.name, archive.get<int>(chunk.name), chunk.shape);
        }
    }
    if (!values.empty()) writer.add(name, values, shape);
    writer.save(path);
}

TEST(ReducedModel, FilesThatDoNotFitAreRefusedByName) {
    const test::TemporaryDirectory folder;
    bar_model({.is_free = true}).save(folder / "bar.pliant");
    const Archive archive(folder / "bar.pliant");
    const auto message_of = [&]<class T>(const std::string& name, const std::vector<T>& values,
                                         const std::vector<std::uint64_t>& shape) {
        save_with<T>(archive, name, values, shape, folder / "odd.pliant");
        return input_error([&] { (void)ReducedModel::load(folder / "odd.pliant"); });
    };
    const auto expect = [](const std::string& message, const std::string& part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
        EXPECT_NE(message.find("odd.pliant"), std::string::npos) << message;
    };
    const std::vector<double> none;
    expect(message_of("basis/U", none, {}), "basis/U");
    expect(message_of("basis/U", std::vector<double>(20), {2, 10}),
           "basis/U, shape = [2, 10] (expected [2, 243])");
    expect(message_of("basis/U", std::vector<double>(2 * 243), {2, 243}), "(expected [1, 2, 2])");
    expect(message_of("polynomials/0/mu", std::vector<double>(5), {5}),
           "polynomials/0/mu, shape = [5] (expected [1001])");
    expect(message_of("materials/laws", std::vector<int>{9, 0}, {1, 2}), "a law from 0 to 3");
    expect(message_of("materials/constants", std::vector<double>{1}, {1, 1}),
           "four for each material");
    expect(message_of("materials/constants", std::vector<double>{-5, 1, 1, 0}, {1, 4}),
           "density = -5");
    expect(message_of("modes/eigenvalues", std::vector<double>{2, 1}, {2}), "ascending");
    expect(message_of("fixed_vertices", std::vector<int>{-4}, {1}), "fixed vertices");
    expect(message_of("fixed_vertices", std::vector<int>{1, 2}, {2}), "inertia = given");
    expect(message_of("shapes/rows", std::vector<float>(9), {1, 3, 3}), "shapes/rows, shape");
    expect(message_of("surface/triangles", std::vector<int>{0, 1, 99}, {1, 3}), "99");
    expect(message_of("model/expected_reach", std::vector<double>{NAN}, {1}), "expected reach");
}

TEST(ReducedModel, FilesOfAnotherKindAreRefused) {
    const test::TemporaryDirectory folder;
    ArchiveWriter writer("volume-mesh");
    writer.save(folder / "mesh.pliant");
    const std::string message =
        input_error([&] { (void)ReducedModel::load(folder / "mesh.pliant"); });
    EXPECT_NE(message.find("volume-mesh"), std::string::npos) << message;
    EXPECT_NE(message.find("reduced-model"), std::string::npos) << message;
}

}  // namespace
}  // namespace pliant
