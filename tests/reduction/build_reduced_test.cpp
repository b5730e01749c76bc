#include "pliant/reduction/build_reduced.h"

#include "core/dense_algebra.h"
#include "core/temporary_directory.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/selection.h"
#include "pliant/reduction/modal_derivatives.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::input_error;

/// 0.9 × 0.1 × 0.1 m along x.
SurfaceMesh beam(double length = 0.9) {
    return test::box_surface(Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(length, 0.1, 0.1));
}

ReducedBuildOptions small_build() {
    return {.fixed = "x < 5 %",
            .mesh = {.kind = "voxel", .resolution = 20},
            .num_modes = 5,
            .rank = 12};
}

bool is_cached(const ReducedBuildReport& report, const std::string& name) {
    for (const StageReport& stage : report.stages)
        if (stage.name == name) return stage.is_cached;
    ADD_FAILURE() << "no stage " << name;
    return false;
}

/// Names of the stages that were computed, in their order.
std::string computed(const ReducedBuildReport& report) {
    std::string names;
    for (const StageReport& stage : report.stages)
        if (!stage.is_cached) names += (names.empty() ? "" : " ") + stage.name;
    return names;
}

std::filesystem::path file_of(const std::filesystem::path& cache, const std::string& stage) {
    for (const auto& entry : std::filesystem::directory_iterator(cache))
        if (entry.path().filename().string().starts_with("stage-" + stage)) return entry.path();
    return {};
}

MatrixXd stiffness_at_rest(const ReducedModel& model) {
    const auto force = model.make_force();
    const auto ws = force->make_workspace();
    VectorXd R(model.rank());
    MatrixXd K(model.rank(), model.rank());
    force->force_and_stiffness(VectorXd::Zero(model.rank()), R, K, *ws);
    return K;
}

void expect_same_build(const ReducedModel& a, const ReducedModel& b) {
    EXPECT_EQ(MatrixXd(a.basis()), MatrixXd(b.basis()));
    EXPECT_EQ(a.eigenvalues(), b.eigenvalues());
    EXPECT_EQ(a.expected_reach(), b.expected_reach());
    EXPECT_EQ(stiffness_at_rest(a), stiffness_at_rest(b));
    EXPECT_EQ(a.embedding().weights(), b.embedding().weights());
}

/// Cancels a build as soon as its progress names a stage.
class CancelAt {
public:
    explicit CancelAt(std::string stage) : stage_("\"stage\":\"" + std::move(stage) + "\"") {
        const cookie_io_functions_t functions{nullptr, write, nullptr, nullptr};
        stream_ = fopencookie(this, "w", functions);
        std::setvbuf(stream_, nullptr, _IOLBF, 4096);
        progress_ = std::make_unique<Progress>(ProgressStyle::Json, stream_);
    }
    ~CancelAt() {
        progress_.reset();
        std::fclose(stream_);
    }
    CancelAt(const CancelAt&) = delete;
    CancelAt& operator=(const CancelAt&) = delete;
    Progress& progress() { return *progress_; }

private:
    static ssize_t write(void* self, const char* text, std::size_t size) {
        auto& me = *static_cast<CancelAt*>(self);
        if (std::string(text, size).find(me.stage_) != std::string::npos && me.progress_)
            me.progress_->cancel();
        return static_cast<ssize_t>(size);
    }
    std::string stage_;
    std::FILE* stream_ = nullptr;
    std::unique_ptr<Progress> progress_;
};

TEST(BuildReduced, ReducedStiffnessHasTheFrequenciesOfTheModes) {
    ReducedBuildReport report;
    const ReducedModel model =
        build_reduced_model(beam(), small_build(), Progress::none(), &report);
    EXPECT_EQ(model.rank(), 12);
    EXPECT_EQ(model.num_modes(), 5);
    const VectorXd eigenvalues = symmetric_eigenvalues(stiffness_at_rest(model));
    for (int mode = 0; mode < 3; ++mode)  // those are in the span of the basis
        EXPECT_NEAR(eigenvalues[mode] / model.eigenvalues()[mode], 1, 1e-6);
    EXPECT_EQ(computed(report), "surface mesh embedding modes derivatives basis polynomials");
    EXPECT_TRUE(report.surface.is_closed());
    for (const StageReport& stage : report.stages) EXPECT_GT(stage.peak_bytes, 1 << 20);
    EXPECT_GE(report.seconds(), report.stages[3].seconds);
}

/// Tip deflection of a beam under its own weight, full and reduced.
TEST(BuildReduced, ReducedStaticsFollowTheFullModelFarBeyondTheLinearOne) {
    ReducedBuildOptions options = small_build();
    options.rank = 20;
    options.material = isotropic(1e5, 0.3, 1000);
    const ReducedModel model = build_reduced_model(beam(), options);
    const FemModel full(model.mesh(), model.materials());
    Constraints constraints(full.num_nodes());
    constraints.fix(model.fixed_vertices());
    const VectorXd f = gravity_load(full, {0, 0, -0.22});
    const StaticResult exact = solve_static(full, constraints, f);
    ASSERT_TRUE(exact.has_converged());

    const auto force = model.make_force();
    const auto ws = force->make_workspace();
    const VectorXd f_r = model.gravity_load({0, 0, -0.22});
    VectorXd q = VectorXd::Zero(20), R(20);
    MatrixXd K(20, 20);
    for (int step = 1; step <= 20; ++step)  // the load in 20 steps
        for (int k = 0; k < 10; ++k) {
            force->force_and_stiffness(q, R, K, *ws);
            q += solve_dense(K, step / 20.0 * f_r - R);
        }
    const VectorXd u = model.basis() * q;
    const double largest = exact.u.cwiseAbs().maxCoeff();
    EXPECT_GT(largest, 0.25);  // a bend of some 25 degrees
    EXPECT_LT((u - exact.u).cwiseAbs().maxCoeff() / largest, 0.02);
    const VectorXd linear = model.basis() * solve_dense(stiffness_at_rest(model), f_r);
    EXPECT_GT((linear - exact.u).cwiseAbs().maxCoeff() / largest, 0.1);
}

TEST(BuildReduced, CantileversReachAboutTheirLength) {
    const ReducedModel model = build_reduced_model(beam(), small_build());
    EXPECT_GT(model.expected_reach(), 0.8);
    EXPECT_LT(model.expected_reach(), 1.2);
}

TEST(BuildReduced, ReachIsWhereTheQuadraticPartIsHalfTheLinearOne) {
    ReducedBuildOptions options = small_build();
    options.fixed.clear();
    options.is_free = true;
    const ReducedModel model = build_reduced_model(beam(), options);
    const FemModel fem(model.mesh(), model.materials());
    const Constraints none(fem.num_nodes());
    const LinearModes modes = compute_modes(fem, none, {.num_modes = 5});
    const VectorXd phi = modal_derivatives(fem, none, modes).col(0);
    const auto M = mass_matrix(fem);
    const auto norm = [&](const VectorXd& u) { return std::sqrt(u.dot(VectorXd(M * u))); };
    // the amplitude by bisection
    double low = 0, high = 1e3;
    for (int k = 0; k < 100; ++k) {
        const double p = (low + high) / 2;
        (norm(0.5 * p * p * phi) < 0.5 * norm(p * modes.shapes.col(0)) ? low : high) = p;
    }
    const VectorXd u = low * modes.shapes.col(0) + 0.5 * low * low * phi;
    double largest = 0;
    for (int node = 0; node < fem.num_nodes(); ++node)
        largest = std::max(largest, u.segment<3>(3 * node).norm());
    EXPECT_LT(largest, 0.9);                             // not cut to the size of the body
    EXPECT_NEAR(model.expected_reach(), largest, 1e-3);  // the other sign may go farther
}

TEST(BuildReduced, SizeScalesTheSurface) {
    ReducedBuildOptions options = small_build();
    options.size = 0.3;
    const ReducedModel model = build_reduced_model(beam(), options);
    EXPECT_NEAR(bounding_box(model.surface().vertices).sizes().maxCoeff(), 0.3, 1e-12);
    EXPECT_EQ(input_error([&] { model.require_surface(beam()); }), "");
    EXPECT_NE(input_error([&] { model.require_surface(beam(0.8)); }), "");
}

TEST(BuildReduced, AnotherRankReusesModesAndDerivatives) {
    const test::TemporaryDirectory folder;
    ReducedBuildOptions options = small_build();
    const ReducedModel plain = build_reduced_model(beam(), options);
    options.cache = folder / "cache";
    ReducedBuildReport report;
    const ReducedModel first = build_reduced_model(beam(), options, Progress::none(), &report);
    EXPECT_EQ(report.cache_problem, "");
    expect_same_build(first, plain);

    options.rank = 8;
    const ReducedModel second = build_reduced_model(beam(), options, Progress::none(), &report);
    EXPECT_EQ(computed(report), "surface basis polynomials");
    EXPECT_EQ(second.rank(), 8);
    // from the cache as without it
    options.cache.clear();
    expect_same_build(second, build_reduced_model(beam(), options));

    // nothing changed at all
    options = small_build();
    options.cache = folder / "cache";
    const ReducedModel third = build_reduced_model(beam(), options, Progress::none(), &report);
    EXPECT_EQ(computed(report), "surface");
    expect_same_build(third, plain);

    // another storage of the surface: the basis is known
    options.storage = ShapeStorage::Int16;
    (void)build_reduced_model(beam(), options, Progress::none(), &report);
    EXPECT_EQ(computed(report), "surface polynomials");
}

TEST(BuildReduced, StagesAreComputedAgainWhenWhatTheyDependOnChanges) {
    const test::TemporaryDirectory folder;
    ReducedBuildOptions options = small_build();
    options.cache = folder / "cache";
    (void)build_reduced_model(beam(), options);
    const auto computed_with = [&](const auto& change, const SurfaceMesh& surface = beam()) {
        ReducedBuildOptions changed = options;
        change(changed);
        ReducedBuildReport report;
        (void)build_reduced_model(surface, changed, Progress::none(), &report);
        return computed(report);
    };
    const std::string all = "surface mesh embedding modes derivatives basis polynomials";
    const std::string solved = "surface modes derivatives basis polynomials";
    using Options = ReducedBuildOptions;
    EXPECT_EQ(computed_with([](Options&) {}), "surface");
    EXPECT_EQ(computed_with([](Options& o) { o.num_modes = 6; }), solved);
    EXPECT_EQ(computed_with([](Options& o) { o.material.density *= 2; }), solved);
    EXPECT_EQ(computed_with([](Options& o) { o.material.lambda *= 2; }), solved);
    EXPECT_EQ(computed_with([](Options& o) { o.fixed = "x > 95 %"; }), solved);
    EXPECT_EQ(computed_with([](Options& o) { o.fixed = "", o.is_free = true; }), solved);
    EXPECT_EQ(computed_with([](Options& o) { o.mesh.resolution = 19; }), all);
    EXPECT_EQ(computed_with([](Options& o) { o.size = 2; }), all);
    EXPECT_EQ(computed_with([](Options&) {}, beam(0.85)), all);
}

TEST(BuildReduced, InterruptedBuildsGoOnWhereTheyStopped) {
    const test::TemporaryDirectory folder;
    ReducedBuildOptions options = small_build();
    options.cache = folder / "cache";
    {
        CancelAt cancel("modal derivatives");
        EXPECT_THROW((void)build_reduced_model(beam(), options, cancel.progress()), Cancelled);
    }
    EXPECT_NE(file_of(options.cache, "modes"), "");
    EXPECT_EQ(file_of(options.cache, "derivatives"), "");
    ReducedBuildReport report;
    const ReducedModel resumed = build_reduced_model(beam(), options, Progress::none(), &report);
    EXPECT_EQ(computed(report), "surface derivatives basis polynomials");
    expect_same_build(resumed, build_reduced_model(beam(), small_build()));
}

TEST(BuildReduced, DamagedCacheFilesAreIgnoredAndWrittenAnew) {
    const test::TemporaryDirectory folder;
    ReducedBuildOptions options = small_build();
    options.cache = folder / "cache";
    const ReducedModel model = build_reduced_model(beam(), options);
    for (const std::string stage : {"mesh", "embedding", "modes", "derivatives", "basis"}) {
        // a byte in the middle, and files that need it gone
        const std::filesystem::path damaged = file_of(options.cache, stage);
        std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(damaged) / 2));
        file.put('\x5a').put('\xa5').put('\x5a');
        file.close();
        std::filesystem::remove(file_of(options.cache, "polynomials"));
        if (stage == "modes" || stage == "derivatives")
            std::filesystem::remove(file_of(options.cache, "basis"));
        ReducedBuildReport report;
        expect_same_build(build_reduced_model(beam(), options, Progress::none(), &report), model);
        EXPECT_FALSE(is_cached(report, stage)) << stage;
        EXPECT_NO_THROW(Archive(damaged).verify()) << stage;
        (void)build_reduced_model(beam(), options, Progress::none(), &report);
        EXPECT_EQ(computed(report), "surface");
    }
    // truncated, and not an archive at all
    std::filesystem::resize_file(file_of(options.cache, "polynomials"), 100);
    std::ofstream(file_of(options.cache, "basis")) << "text";
    ReducedBuildReport report;
    expect_same_build(build_reduced_model(beam(), options, Progress::none(), &report), model);
    EXPECT_EQ(computed(report), "surface basis polynomials");
}

TEST(BuildReduced, CacheThatCannotBeWrittenIsToldAndDoesNoHarm) {
    const test::TemporaryDirectory folder;
    test::write_text(folder / "file", "not a folder");
    ReducedBuildOptions options = small_build();
    options.cache = folder / "file" / "cache";
    ReducedBuildReport report;
    const ReducedModel model = build_reduced_model(beam(), options, Progress::none(), &report);
    EXPECT_EQ(model.rank(), 12);
    EXPECT_NE(report.cache_problem, "");
}

TEST(BuildReduced, OldestCacheFilesGoWhenThereAreTooMany) {
    const test::TemporaryDirectory folder;
    ReducedBuildOptions options = small_build();
    options.cache = folder / "cache";
    options.cache_bytes = 1;
    (void)build_reduced_model(beam(), options);
    EXPECT_NE(file_of(options.cache, "polynomials"), "");
    EXPECT_EQ(file_of(options.cache, "modes"), "");
    // only files of builds are removed
    test::write_text(options.cache / "mine.pliant", "keep");
    EXPECT_EQ(clear_cache(options.cache), 1);
    EXPECT_TRUE(std::filesystem::exists(options.cache / "mine.pliant"));
    EXPECT_EQ(clear_cache(folder / "none"), 0);
}

TEST(BuildReduced, FreeBodiesHaveInertiaAndNoRigidMotionInTheirBasis) {
    ReducedBuildOptions options = small_build();
    options.fixed.clear();
    options.is_free = true;
    const ReducedModel model = build_reduced_model(beam(), options);
    EXPECT_TRUE(model.is_free());
    EXPECT_TRUE(model.fixed_vertices().empty());
    const double mass = total_volume(model.mesh(), true) * options.material.density;
    EXPECT_NEAR(model.inertia().mass / mass, 1, 1e-12);
    // weight moves the frame, not the shape
    EXPECT_LT(model.gravity_load({0, 0, -9.81}).norm(), 1e-8);
}

TEST(BuildReduced, EveryKindOfMeshAndMaterialWorks) {
    for (const std::string kind : {"voxel", "graded", "tet", "graded-tet"})
        for (const std::string material : {"wood", "tissue"}) {
            ReducedBuildOptions options = small_build();
            options.mesh.kind = kind;
            options.mesh.resolution = kind == "voxel" ? 16 : 32;
            options.mesh.levels = 2;
            options.material = material_preset(material);
            options.regions = {{"x > 60 %", material_preset("steel")}};
            options.fixed = "x < 40 %";
            const ReducedModel model = build_reduced_model(beam(), options);
            EXPECT_EQ(model.materials().size(), 2u);
            EXPECT_LT((model.mass() - MatrixXd::Identity(12, 12)).norm(), 1e-9) << kind;
        }
}

TEST(BuildReduced, HangingNodesInASelectionFollowTheirMasters) {
    ReducedBuildOptions options = small_build();
    options.mesh = {.kind = "graded", .resolution = 16, .growth = 2, .levels = 2};
    options.fixed = "z < 45 %";
    const ReducedModel model = build_reduced_model(test::box_surface(), options);
    const VolumeMesh mesh = model.mesh();
    const std::vector<int> selected = select(parse_selection(options.fixed), mesh.vertices);
    ASSERT_LT(model.fixed_vertices().size(), selected.size());  // some of them hang
    for (const HangingNode& node : mesh.hanging)
        for (int column = 0; column < model.rank(); ++column) {
            Eigen::Vector3d mean = Eigen::Vector3d::Zero();
            for (int k = 0; k < node.num_masters; ++k)
                mean += node.weight * model.basis().col(column).segment<3>(3 * node.masters[k]);
            ASSERT_LT((model.basis().col(column).segment<3>(3 * node.vertex) - mean).norm(), 1e-9);
        }
}

TEST(BuildReduced, HollowMeshesAreMadeOfTheCellsThatMeetTheSurface) {
    ReducedBuildOptions options = small_build();
    options.mesh.resolution = 40;
    const int solid = build_reduced_model(beam(), options).num_elements();
    options.mesh.is_hollow = true;
    EXPECT_LT(build_reduced_model(beam(), options).num_elements(), solid);
}

std::string message_with(const std::function<void(ReducedBuildOptions&)>& change,
                         const SurfaceMesh& surface = beam()) {
    ReducedBuildOptions options = small_build();
    change(options);
    return input_error([&] { (void)build_reduced_model(surface, options); });
}

TEST(BuildReduced, OptionsThatCannotWorkAreRefusedWithTheRemedy) {
    using Options = ReducedBuildOptions;
    const auto expect = [](const std::string& message, const std::string& part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    expect(message_with([](Options& o) { o.fixed.clear(); }),
           "fixed names no vertex, but a body that is not free must be held somewhere: name its "
           "vertices, as in \"z < 5 %\", or let it fly freely (--free)");
    const std::string none = message_with([](Options& o) { o.fixed = "z < -3"; });
    expect(none, "fixed \"z < -3\" selects no vertex; z runs from");
    expect(none, "Or let the body fly freely (--free)");
    expect(message_with([](Options& o) { o.is_free = true; }), "drop one of the two");
    expect(message_with([](Options& o) { o.fixed = "z less 3"; }), "z less 3");
    // one vertex holds no rotation
    expect(message_with([](Options& o) { o.fixed = "list 0"; }), "rotation about");
    expect(message_with([](Options& o) { o.rank = 21; }),
           "rank = 21 (expected 1 to 20, what 5 modes and their derivatives span at most; more "
           "modes allow more)");
    expect(message_with([](Options& o) { o.rank = -1; }), "rank = -1");
    expect(message_with([](Options& o) { o.num_modes = 500; }),
           "a tenth of the unknowns: higher modes are artefacts of the mesh");
    expect(message_with([](Options& o) { o.num_modes = 2000; }), "num_modes = 2000 (expected 1 to");
    expect(message_with([](Options& o) { o.size = -1; }), "size = -1");
    expect(message_with([](Options& o) { o.material.mu = -1; }), "mu = -1");
    expect(message_with([](Options& o) { o.material.density = 0; }), "density = 0");
    expect(message_with([](Options& o) { o.mesh.kind = "prism"; }),
           "kind = prism (expected voxel, graded, tet or graded-tet)");
    expect(message_with([](Options& o) { o.mesh.resolution = 1; }), "resolution = 1");
    expect(message_with([](Options& o) { o.mesh.kind = "tet", o.mesh.is_hollow = true; }),
           "hollow works with voxel meshes only");
    expect(message_with([](Options& o) {
               o.regions = {{"x > 200 %", material_preset("steel")}};
           }),
           "200");
    expect(message_with([](Options& o) {
               o.regions = {{"x > 50 %", material_preset("steel")},
                            {"x > 0 %", material_preset("tissue")}};
           }),
           "has no element left: later ones cover all of it");
}

TEST(BuildReduced, MeshesInSeveralPiecesAreRefusedUnlessTheLargestIsWanted) {
    SurfaceMesh two = beam();
    append(two, test::box_surface(Eigen::Vector3d(1.2, 0, 0), Eigen::Vector3d(1.3, 0.1, 0.1)));
    const std::string message = message_with([](ReducedBuildOptions&) {}, two);
    EXPECT_NE(message.find("the simulation mesh falls into 2 parts that share no face, the largest "
                           "with "),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("--keep-largest"), std::string::npos);
    EXPECT_EQ(message_with([](ReducedBuildOptions& o) { o.keeps_largest = true; }, two), "");
}

TEST(BuildReduced, SurfacesWithoutTrianglesAreRefused) {
    SurfaceMesh flat = beam();
    flat.triangles = {{0, 0, 1}};
    EXPECT_NE(message_with([](ReducedBuildOptions&) {}, flat).find("no triangles with area"),
              std::string::npos);
    EXPECT_NE(message_with([](ReducedBuildOptions&) {}, SurfaceMesh{}).find("no triangles"),
              std::string::npos);
}

TEST(BuildReduced, CacheFolderFollowsTheEnvironment) {
    setenv("XDG_CACHE_HOME", "/somewhere/cache", 1);
    EXPECT_EQ(default_cache_folder(), "/somewhere/cache/pliant");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/me", 1);
    EXPECT_EQ(default_cache_folder(), "/home/me/.cache/pliant");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    EXPECT_EQ(default_cache_folder(), "");
}

}  // namespace
}  // namespace pliant
