#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <sstream>

#include "calibrate_data.h"
#include "calibrate_report.h"
#include "commands.h"
#include "lab.h"
#include "mesh_options.h"
#include "output.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "settle.h"

namespace pliant::cli {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

Vector3d vector_option(const Arguments& arguments, const char* option) {
    const std::string text = arguments.text(option);
    std::istringstream stream(text);
    Vector3d x = Vector3d::Zero();
    for (int k = 0; k < 3; ++k) {
        // commas may stand between them
        if (k > 0 && stream.peek() == ',') stream.get();
        stream >> x[k];
    }
    std::string rest;
    if (!stream || !x.allFinite() || stream >> rest)
        throw InputError("", option, text, "three numbers, as in \"0 0 -1\"");
    return x;
}

/// The one of --data, --frequencies and --simulate that was given.
std::string calibration_source(const Arguments& arguments) {
    std::string source;
    int count = 0;
    for (const char* option : {"--data", "--frequencies", "--simulate"})
        if (arguments.has(option)) source = option, ++count;
    if (count != 1)
        throw InputError("",
                         "pliant calibrate needs one of --data FILE.csv (a measured press), "
                         "--frequencies HZ,HZ,... or --simulate FILE.csv");
    return source;
}

std::string calibration_kind(const Arguments& arguments) {
    std::string kind = arguments.text("--kind", "fem");
    if (kind != "fem" && kind != "reduced" && kind != "greens" && kind != "particles")
        throw InputError("", "--kind", kind, "fem, reduced, greens or particles");
    return kind;
}

/// What reads an option; empty: all do. The options not named here are for all.
struct OptionUse {
    const char *option, *sources, *kinds;
};
constexpr std::array kCalibrationUses = {
    OptionUse{"--ratios", "--frequencies", ""},
    OptionUse{"--fit", "--data or --frequencies", ""},
    OptionUse{"--at", "--data or --simulate", ""},
    OptionUse{"--direction", "--data or --simulate", ""},
    OptionUse{"--radius", "--data or --simulate", "fem or reduced"},
    OptionUse{"--young", "", "fem, reduced or greens"},
    OptionUse{"--poisson", "", "fem, reduced or greens"},
    OptionUse{"--damping", "--data or --frequencies", "fem or reduced"},
    OptionUse{"--stiffness", "", "particles"},
    OptionUse{"--mask-radius", "", "greens"},
    OptionUse{"--law", "", "fem or reduced"},
    OptionUse{"--mesh", "", "fem or reduced"},
    OptionUse{"--resolution", "", "fem or reduced"},
    OptionUse{"--modes", "--data or --simulate", "reduced"},
    OptionUse{"--rank", "--data or --simulate", "reduced"},
    OptionUse{"--particles", "", "particles"},
    OptionUse{"--depth", "--simulate", "fem, reduced or greens"},
    OptionUse{"--force", "--simulate", "particles"},
    OptionUse{"--noise", "--simulate", ""},
    OptionUse{"-o", "--data or --frequencies", ""}};

void refuse_unread(const Arguments& arguments, const std::string& source, const std::string& kind) {
    const auto is_read_by = [](const std::string& readers, const std::string& name) {
        return readers.empty() || readers.find(name) != std::string::npos;
    };
    for (const OptionUse& use : kCalibrationUses) {
        if (!arguments.has(use.option)) continue;
        const std::string option = use.option;
        if (!is_read_by(use.sources, source))
            throw InputError(
                "", option + " is for " + use.sources + ", not for " + source + "; drop it");
        if (!is_read_by(use.kinds, kind))
            throw InputError("", option + " is for --kind " + use.kinds + ", not for --kind " +
                                     kind + "; drop it");
    }
}

Law calibration_law(const Arguments& arguments) {
    const std::string name = arguments.text("--law", "st-venant-kirchhoff");
    for (const Law law :
         {Law::StVenantKirchhoff, Law::SmallStrain, Law::NeoHookean, Law::Corotational})
        if (name == to_string(law)) return law;
    throw InputError("", "--law", name,
                     "st-venant-kirchhoff, small-strain, neo-hookean or corotational");
}

CalibrationSetup read_setup(const Arguments& arguments, Progress& progress) {
    CalibrationSetup setup;
    setup.kind = calibration_kind(arguments);
    if (!arguments.has("--fix"))
        throw InputError("",
                         "pliant calibrate needs --fix \"z < 5 %\": what held the body while it "
                         "was measured");
    setup.fixed = arguments.text("--fix");
    setup.law = setup.kind == "greens" ? Law::SmallStrain : calibration_law(arguments);
    setup.density = arguments.real("--density", setup.density, 1e-3, 1e6);
    with_option_names({{"kind", "--mesh"}, {"resolution", "--resolution"}},
                      [&] { take_mesh_options_without_levels(arguments, "--mesh", setup.mesh); });
    setup.num_modes = arguments.integer("--modes", setup.num_modes, 1, 200);
    setup.rank = arguments.integer("--rank", setup.rank, 1, 200);
    setup.num_particles = arguments.integer("--particles", setup.num_particles, 4, 5000);

    const std::string& name = arguments.operands()[0];
    setup.surface =
        std::filesystem::exists(name) ? load_surface(name) : make_shape(name, 0, progress);
    (void)repair_surface(setup.surface);
    setup.size = arguments.real("--size", 0, 1e-6, 1e6);
    if (setup.size > 0) scale_to_size(setup.surface, setup.size);
    // by default the middle of what is topmost is pressed downwards
    if (arguments.has("--direction")) setup.direction = vector_option(arguments, "--direction");
    if (!(setup.direction.norm() > 0))
        throw InputError("", "--direction", arguments.text("--direction"), "a direction, not zero");
    setup.direction.normalize();
    const auto& vertices = setup.surface.vertices;
    Vector3d low = vertices.front(), high = vertices.front();
    for (const Vector3d& x : vertices) low = low.cwiseMin(x), high = high.cwiseMax(x);
    const double longest = (high - low).maxCoeff();
    if (arguments.has("--at")) {
        setup.at = vector_option(arguments, "--at");
    } else {
        double top = INFINITY;
        for (const Vector3d& x : vertices) top = std::min(top, x.dot(setup.direction));
        Vector3d sum = Vector3d::Zero();
        int count = 0;
        for (const Vector3d& x : vertices)
            if (x.dot(setup.direction) < top + 1e-3 * longest) sum += x, ++count;
        setup.at = sum / count;
    }
    setup.at = SurfaceQuery(setup.surface).closest(setup.at).point;
    setup.radius = arguments.real("--radius", 0.1 * longest, 1e-6, 1e3);
    return setup;
}

/// A fitted number: where it stands among the values, and its range.
struct Fittable {
    const char* name;
    double CalibrationValues::*value;
    double low, high;
    const char* kinds;
};
constexpr std::array kFittable = {
    Fittable{"modulus", &CalibrationValues::modulus, 1, 1e13, "fem, reduced or greens"},
    Fittable{"poisson", &CalibrationValues::poisson, 0.01, 0.48, "fem, reduced or greens"},
    Fittable{"damping", &CalibrationValues::damping, 1e-9, 100, "fem or reduced"},
    Fittable{"stiffness", &CalibrationValues::stiffness, 0.001, 1, "particles"},
    Fittable{"mask-radius", &CalibrationValues::mask_radius, 1e-6, 10, "greens"}};

const Fittable* find_fittable(const std::string& name) {
    return std::find_if(kFittable.begin(), kFittable.end(),
                        [&](const Fittable& f) { return name == f.name; });
}

std::vector<Fittable> read_fit(const Arguments& arguments, const CalibrationSetup& setup) {
    std::vector<Fittable> chosen;
    std::istringstream stream(
        arguments.text("--fit", setup.kind == "particles" ? "stiffness" : "modulus"));
    for (std::string name; std::getline(stream, name, ',');) {
        const Fittable* const found = find_fittable(name);
        if (found == kFittable.end())
            throw InputError("", "--fit", name,
                             "modulus, poisson, damping, stiffness or mask-radius, with commas "
                             "between");
        if (std::string(found->kinds).find(setup.kind) == std::string::npos)
            throw InputError("", "--fit " + name + " is for --kind " + found->kinds +
                                     ", not for --kind " + setup.kind + "; drop it");
        chosen.push_back(*found);
    }
    return chosen;
}

bool has_parameter(const std::vector<Fittable>& chosen, const char* name) {
    return std::any_of(chosen.begin(), chosen.end(),
                       [&](const Fittable& f) { return std::string(f.name) == name; });
}

CalibrationValues read_values(const Arguments& arguments, const CalibrationSetup& setup) {
    CalibrationValues values;
    values.modulus = arguments.real("--young", values.modulus, 1, 1e13);
    values.poisson = arguments.real("--poisson", values.poisson, 0.01, 0.48);
    values.damping = arguments.real("--damping", values.damping, 1e-9, 100);
    values.stiffness = arguments.real("--stiffness", values.stiffness, 0.001, 1);
    values.mask_radius =
        arguments.real("--mask-radius", default_mask_radius(setup.surface), 1e-6, 10);
    return values;
}

/// With the values of a trial in place.
CalibrationValues with(const CalibrationValues& start, const std::vector<Fittable>& chosen,
                       const VectorXd& found) {
    CalibrationValues values = start;
    for (std::size_t j = 0; j < chosen.size(); ++j)
        values.*chosen[j].value = found[static_cast<Eigen::Index>(j)];
    return values;
}

FitResult fit(const FitResiduals& residuals, const CalibrationValues& start,
              const std::vector<Fittable>& chosen, bool is_rough) {
    std::vector<FitParameter> parameters;
    parameters.reserve(chosen.size());
    for (const Fittable& f : chosen) parameters.push_back({f.name, start.*f.value, f.low, f.high});
    // shape matching answers in small steps
    return fit_parameters(residuals, parameters, {.difference = is_rough ? 0.02 : 1e-3});
}

std::string micrometres(double metres) { return format("%.3g µm", 1e6 * metres); }

/// Particles that hardly move answer with rounding: throws InputError where even the softest ones
/// would.
void check_particle_travel(const PressModel& model, const CalibrationSetup& setup, double strongest,
                           const std::string& source) {
    CalibrationValues softest;
    softest.stiffness = find_fittable("stiffness")->low;
    const double least = least_particle_travel(setup.surface);
    const double travel = model(softest).depth.back();
    if (travel < least)
        throw InputError(
            source,
            format("the strongest force, %.3g N, moves even the softest particles by ", strongest) +
                micrometres(travel) + ", too little to tell their stiffness (at least " +
                micrometres(least) + "); measure with larger forces, or check --density");
}

void check_particle_data(const PressData& data, const CalibrationSetup& setup,
                         const std::string& source) {
    const double least = least_particle_travel(setup.surface);
    const double deepest = *std::max_element(data.depth.begin(), data.depth.end());
    if (deepest < least)
        throw InputError(source,
                         "the deepest press, " + micrometres(deepest) +
                             ", is too small to tell the stiffness of particles (at least " +
                             micrometres(least) + "); press deeper");
}

void fit_press(const PressData& data, const std::vector<Fittable>& chosen,
               const CalibrationValues& start, Calibration& result, Progress& progress) {
    const double deepest = *std::max_element(data.depth.begin(), data.depth.end());
    const double strongest = *std::max_element(data.force.begin(), data.force.end());
    const bool has_damping = has_parameter(chosen, "damping");
    if (has_damping && data.velocity.empty())
        throw InputError(result.source,
                         "has no time, from which --fit damping takes velocities; "
                         "add a column: time [s]");
    if (!(strongest > 0))
        throw InputError(result.source,
                         "no force is positive: depth and force count into the body");
    const bool is_particles = result.setup.kind == "particles";
    if (is_particles) check_particle_data(data, result.setup, result.source);
    const PressModel model = make_press_model(result.setup, start, deepest, strongest, progress);
    if (is_particles) check_particle_travel(model, result.setup, strongest, result.source);
    progress.stage("fitting");
    const auto predicted = [&](const CalibrationValues& values) {
        const PressCurve curve = model(values);
        VectorXd forces(static_cast<Eigen::Index>(data.depth.size()));
        for (std::size_t i = 0; i < data.depth.size(); ++i) {
            // docs/calibrate.md eq. (7): late by β
            const double late = has_damping ? values.damping * data.velocity[i] : 0;
            forces[static_cast<Eigen::Index>(i)] =
                curve.force_at(data.depth[i]) +
                (data.depth[i] > 0 ? late * curve.force_at(deepest) / deepest : 0);
        }
        return forces;
    };
    const VectorXd measured =
        Eigen::Map<const VectorXd>(data.force.data(), static_cast<Eigen::Index>(data.force.size()));
    result.fit = fit(
        [&](const VectorXd& found) {
            return VectorXd(predicted(with(start, chosen, found)) - measured);
        },
        start, chosen, is_particles);
    const VectorXd forces = result.fit.residuals + measured;
    result.x = data.depth;
    result.data = data.force;
    result.model.assign(forces.begin(), forces.end());
}

CalibrationValues found_values(const CalibrationValues& start, const std::vector<Fittable>& chosen,
                               const FitResult& fit) {
    VectorXd found(static_cast<Eigen::Index>(chosen.size()));
    for (std::size_t j = 0; j < chosen.size(); ++j)
        found[static_cast<Eigen::Index>(j)] = fit.parameters[j].value;
    return with(start, chosen, found);
}

/// The shapes of a reduced body are those of the Poisson ratio that it starts with: fits again with
/// the shapes of the one found until it stays.
void fit_press_in_own_shapes(const PressData& data, const std::vector<Fittable>& chosen,
                             const CalibrationValues& start, Calibration& result,
                             Progress& progress) {
    if (result.setup.kind != "reduced" || !has_parameter(chosen, "poisson"))
        return fit_press(data, chosen, start, result, progress);
    constexpr int kMaxRounds = 11;  // once, and again up to ten times
    constexpr double kSamePoisson = 1e-4;
    CalibrationValues shapes = start;
    const auto fitted_poisson = [&](double /*of the shapes*/) {
        fit_press(data, chosen, shapes, result, progress);
        shapes = found_values(start, chosen, result.fit);
        return shapes.poisson;
    };
    if (!settles(start.poisson, fitted_poisson, kSamePoisson, kMaxRounds))
        result.fit.has_converged = false;
}

void fit_frequencies(const std::vector<double>& targets, const std::vector<double>& ratios,
                     const std::vector<Fittable>& chosen, const CalibrationValues& start,
                     Calibration& result, Progress& progress) {
    const int count = static_cast<int>(targets.size());
    const FrequencyModel model = make_frequency_model(result.setup, count, progress);
    progress.stage("fitting");
    result.fit = fit(
        [&](const VectorXd& found) {
            const CalibrationValues values = with(start, chosen, found);
            const std::vector<double> f = model(values);
            VectorXd r(static_cast<Eigen::Index>(targets.size() + ratios.size()));
            for (std::size_t i = 0; i < targets.size(); ++i)
                r[static_cast<Eigen::Index>(i)] = f[i] / targets[i] - 1;
            // docs/calibrate.md eq. (6): ζ = β ω / 2
            for (std::size_t i = 0; i < ratios.size(); ++i)
                r[static_cast<Eigen::Index>(targets.size() + i)] =
                    values.damping * M_PI * f[i] / ratios[i] - 1;
            return r;
        },
        start, chosen, false);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        result.x.push_back(static_cast<double>(i + 1));
        result.data.push_back(targets[i]);
        result.model.push_back(targets[i] *
                               (1 + result.fit.residuals[static_cast<Eigen::Index>(i)]));
    }
}

/// What a body with the values of the options would measure, for trying things out.
int simulate(const Arguments& arguments, const CalibrationSetup& setup, Progress& progress) {
    const std::string out = arguments.text("--simulate");
    check_output(out, {".csv"});
    const CalibrationValues values = read_values(arguments, setup);
    const double deepest = arguments.real("--depth", 0.002, 1e-6, 1);
    const double noise = arguments.real("--noise", 0, 0, 100) / 100;
    const double strongest = arguments.real("--force", 1, 1e-6, 1e6);
    const PressModel model = make_press_model(setup, values, deepest, strongest, progress);
    if (setup.kind == "particles") check_particle_travel(model, setup, strongest, "");
    const PressCurve curve = model(values);
    const double last = setup.kind == "particles" ? curve.depth.back() : deepest;
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, 1);
    PressData data;
    for (int i = 1; i <= 20; ++i) {
        data.depth.push_back(last * i / 20);
        data.force.push_back(curve.force_at(data.depth.back()) +
                             noise * curve.force_at(last) * normal(random));
    }
    progress.finish();
    write_file(out, press_csv(data));
    std::fprintf(stderr, "wrote %s\n", out.c_str());
    return 0;
}

int run_calibrate(const Arguments& arguments) {
    const std::string source = calibration_source(arguments);
    refuse_unread(arguments, source, calibration_kind(arguments));
    const std::string page = wanted_page(arguments, "calibrate.html");
    PressData data;
    if (arguments.has("--data"))
        data = parse_press(read_file(arguments.text("--data")), arguments.text("--data"));
    Progress progress(progress_style(arguments));
    Calibration result;
    result.setup = read_setup(arguments, progress);
    if (arguments.has("--simulate")) return simulate(arguments, result.setup, progress);
    result.body = arguments.operands()[0];
    const CalibrationValues start = read_values(arguments, result.setup);
    const std::vector<Fittable> chosen = read_fit(arguments, result.setup);
    if (arguments.has("--damping") && !has_parameter(chosen, "damping"))
        throw InputError("", "--damping is where --fit damping begins; add that or drop it");
    result.is_frequencies = arguments.has("--frequencies");
    if (result.is_frequencies) {
        if (result.setup.kind != "fem" && result.setup.kind != "reduced")
            throw InputError("", "--frequencies are for --kind fem or reduced; " +
                                     result.setup.kind + " has none");
        result.source = "frequencies";
        const auto targets = parse_list(arguments.text("--frequencies"), "--frequencies", true);
        const auto ratios = parse_list(arguments.text("--ratios"), "--ratios", false);
        if (has_parameter(chosen, "damping") != !ratios.empty() || ratios.size() > targets.size())
            throw InputError("",
                             "--fit damping and --ratios go together, a damping ratio for each "
                             "of the first frequencies, as in --ratios 0.02,0.03");
        fit_frequencies(targets, ratios, chosen, start, result, progress);
    } else {
        result.source = arguments.text("--data");
        fit_press_in_own_shapes(data, chosen, start, result, progress);
    }
    result.values = found_values(start, chosen, result.fit);
    progress.finish();
    if (arguments.json())
        std::printf("%s\n", json_line(result).c_str());
    else
        print(result);
    if (!page.empty()) write_page(arguments, page, calibration_page(result));
    return 0;
}

}  // namespace

Command calibrate_command() {
    return {
        .name = "calibrate",
        .summary = kCalibrateSummary,
        .operands = "MESH|SHAPE --data FILE.csv | --frequencies HZ,HZ,...",
        .example = "pliant calibrate beam --fix \"x < 5 %\" --frequencies 6,6,25,32",
        .min_operands = 1,
        .max_operands = 1,
        .options = {{"--data", "FILE.csv", "measured press; header: depth [mm], force [N]"},
                    {"--frequencies", "HZ,...", "of the lowest modes, measured"},
                    {"--ratios", "Z,...", "damping ratios of the first of them, 1: critical"},
                    {"--fit", "NAMES",
                     "modulus, poisson, damping, stiffness (particles), mask-radius (greens), with "
                     "commas (default modulus; particles: stiffness)"},
                    {"--kind", "NAME", "fem, reduced, greens or particles (default fem)"},
                    {"--fix", "WHERE", "what is held, as in \"z < 5 %\""},
                    {"--at", "\"X Y Z\"", "place of the press in m (default: the topmost)"},
                    {"--direction", "\"X Y Z\"", "of the press (default \"0 0 -1\")"},
                    {"--radius", "M", "of the pad that presses (default: a tenth of the body)"},
                    {"--size", "M", "longest side of the body (default: as it is)"},
                    {"--young", "PA", "start, or held (default 1e6)"},
                    {"--poisson", "NU", "start, or held (default 0.3)"},
                    {"--density", "KG/M3", "held (default 1000)"},
                    {"--damping", "S", "start of damping (default 1e-3)"},
                    {"--stiffness", "S", "particles: start (default 0.6)"},
                    {"--mask-radius", "M", "greens: start, or held (default: 1.5 mean edges)"},
                    {"--law", "NAME",
                     "st-venant-kirchhoff, small-strain, neo-hookean or corotational (default "
                     "st-venant-kirchhoff)"},
                    {"--mesh", "KIND", "voxel, graded, tet or graded-tet (default voxel)"},
                    {"--resolution", "N", "cells along the longest side (default 12)"},
                    {"--modes", "N", "reduced: modes (default 20)"},
                    {"--rank", "N", "reduced: size of the subspace (default 30)"},
                    {"--particles", "N", "particles: how many (default 60)"},
                    {"--simulate", "FILE.csv", "writes the press of the start values, to try"},
                    {"--depth", "M", "simulate: deepest (default 0.002)"},
                    {"--force", "N", "simulate: strongest, particles (default 1)"},
                    {"--noise", "PERCENT", "simulate: of the largest force (default 0)"},
                    {"-o", "PATH", kPageHelp}},
        .run = run_calibrate};
}

}  // namespace pliant::cli
