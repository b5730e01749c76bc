#include "apps/pliant/output.h"
#include "proxy_experiments.h"
#include "tests/contact/rough_sheets.h"
#include "tests/haptics/proxy_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;

void judge_trials(Context& context, int trials) {
    Section& page = context.section;
    page.text(format(
        "Sphere of radius 5 mm, %s trials of 40 steps for each surface; steps of the surface 0.02 "
        "to 10 mm, log-uniform; inflation, translation, rotation, bending, shear and travelling "
        "waves in random directions; starting apart or in contact; hand at rest, wandering or "
        "pushing inside. Reduced: 13 shapes and a pose follow the same motions, and all of "
        "bending, shear, waves and rotation at once. Lost: the centre is inside (winding number), "
        "or on the other side of a sheet or plate. Passes ran out: the sphere stops on its way "
        "to the goal until the next step. Reference: 0 of 2,000 on balls and plates, 0 of 4,500 on "
        "rough ones.",
        cli::grouped(trials).c_str()));
    Table table{"trials",
                "Trials that lost the proxy",
                {{"surface", "surface"},
                 {"triangles", "triangles"},
                 {"trials", "trials"},
                 {"lost", "lost"},
                 {"carried", "steps in which the surface crossed the centre"},
                 {"squeezed", "steps without room"},
                 {"cut_short", "steps whose passes ran out"},
                 {"without", "lost without detection, of 100"}}};
    struct Kind {
        const char* name;
        SurfaceMesh mesh;
        bool is_sheet;
        test::TrialSurface surface = test::TrialSurface::Vertices;
    };
    constexpr auto kReduced = test::TrialSurface::Reduced;
    const std::vector<Kind> kinds = {
        {"ball", test::bumpy_ball(0.06, 0, 40, 1), false},
        {"bumpy ball", test::bumpy_ball(0.06, 0.1, 40, 2), false},
        {"rough ball, pockets narrower than the sphere", test::bumpy_ball(0.06, 0.3, 40, 3), false},
        {"plate of 2 mm", test::thin_plate(0.24, 0.002, 40), true},
        {"sheet with two faces", double_faced(test::flat_sheet(0.24, 30)), true},
        {"rough ball, reduced", test::bumpy_ball(0.06, 0.3, 40, 3), false, kReduced},
        {"plate of 2 mm, reduced", test::thin_plate(0.24, 0.002, 40), true, kReduced},
        {"sheet with two faces, reduced", double_faced(test::flat_sheet(0.24, 30)), true,
         kReduced}};
    double done = 0;
    for (const Kind& kind : kinds) {
        test::ProxyTrials proxies(kind.mesh, kind.is_sheet, {}, kind.surface);
        test::TrialTotals totals;
        constexpr int kBatch = 20;
        for (int first = 0; first < trials; first += kBatch) {
            proxies.run(std::min(kBatch, trials - first), 100'000 + static_cast<unsigned>(first),
                        totals);
            context.done((done + static_cast<double>(first) / trials) / kinds.size());
        }
        done += 1;
        ProxyOptions blind;
        blind.has_ccd = false;
        test::ProxyTrials without(kind.mesh, kind.is_sheet, blind, kind.surface);
        test::TrialTotals lost;
        without.run(context.sized(100, 10), 5000, lost, 40, 4e-3, 1e-2);
        table.add(
            {kind.name, Cell::count(kind.mesh.num_triangles()),
             page.at_least(format("trials run, %s", kind.name), totals.trials, trials, "%.0f"),
             page.at_most(format("trials lost, %s", kind.name), totals.losses, 0, "%.0f"),
             Cell::count(totals.carried), Cell::count(totals.squeezed),
             Cell::count(totals.cut_short), Cell::count(lost.losses)});
    }
    page.table(table);
}

}  // namespace

void run_sides(Context& context) {
    Section& page = context.section;
    const int cases = context.sized(20'000, 1000);
    page.text(format(
        "Rough sheets with two faces (8 × 8 squares of 5 cm, up to ±4 cm rough) go 0.1 to 0.6 m in "
        "one step across a sphere of radius 3 cm; %s cases for each variant. Reference: the same "
        "with another program and other seeds; rates have to be within a factor of two where a "
        "hundred cases or more make them.",
        cli::grouped(cases).c_str()));
    struct Variant {
        const char* name;
        bool has_ccd, has_facing, has_pop_out;
        PopOutMode mode;
        double wrong, intersecting;  // reference, %
    };
    Table table{"sides",
                "Where the sphere ends, % of cases",
                {{"variant", "variant"},
                 {"wrong", "wrong side"},
                 {"wrong_reference", "reference"},
                 {"intersecting", "still intersecting"},
                 {"intersecting_reference", "reference"}}};
    test::RoughSheets sheets;
    int done = 0;
    for (const Variant& v :
         {Variant{"no detection", false, true, false, PopOutMode::Plain, 84.1, 10.5},
          Variant{"without facing test", true, false, false, PopOutMode::Plain, 42.5, 30.3},
          Variant{"with facing test", true, true, false, PopOutMode::Plain, 0.115, 29.9},
          Variant{"and plain pop-out", true, true, true, PopOutMode::Plain, 0.125, 0},
          Variant{"and half-space pop-out", true, true, true, PopOutMode::HalfSpace, 0.135, 0},
          Variant{"guarded", true, true, true, PopOutMode::Guarded, 0.005, 0}}) {
        SphereCarryOptions options;
        options.pop_out = v.mode;
        options.has_facing_test = v.has_facing;
        const test::RoughSheetCounts counts =
            sheets.run(cases, 11, options, v.has_ccd, v.has_pop_out);
        const double wrong = 100.0 * counts.wrong_side / cases,
                     intersecting = 100.0 * counts.intersecting / cases;
        const auto cell = [&](const char* what, double measured, double reference) {
            const std::string name = format("%s, %s [%%]", v.name, what);
            if (reference > 1)
                return page.compared(name, measured, 1.25 * reference, 0.75 * reference, "%.1f");
            // few cases: one more or less is no difference
            return page.at_most(name, measured, 2 * reference + 100.0 / cases, "%.3f");
        };
        table.add({v.name, cell("wrong side", wrong, v.wrong),
                   Cell::number(v.wrong, v.wrong > 1 ? "%.1f" : "%.3f"),
                   cell("intersecting", intersecting, v.intersecting),
                   Cell::number(v.intersecting, "%.1f")});
        context.done(++done / 6.0);
    }
    page.table(table);
}

void run_trials(Context& context) { judge_trials(context, context.sized(300, 20)); }
void run_all_trials(Context& context) { judge_trials(context, context.sized(5000, 40)); }

}  // namespace pliant::reproduce
