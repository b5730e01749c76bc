#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

#include <Eigen/LU>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "pliant/core/tick_histogram.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Nodes held in each frame, ascending; all of them are pressed down by 1 mm.
struct ContactFrames {
    std::string name;
    std::vector<std::vector<int>> frames;
    int first_repeated = 0;  ///< from here on every list has been there before
};
constexpr double kSequenceDepth = -1e-3;

/// The nodes nearest to a place; their number changes a little from frame to frame.
std::vector<int> held_nodes(const GreensModel& model, const Vector3d& place, int count) {
    std::vector<int> nodes = free_nodes_near(model, place);
    nodes.resize(std::min(nodes.size(), at(count)));
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

std::vector<ContactFrames> contact_sequences(const GreensModel& model, int num_frames) {
    const auto frame_at = [&](double s) {
        const Vector3d offset(0.1 + 0.2 * std::sin(6.28 * s), 0.1 * std::cos(9.4 * s), 0);
        return held_nodes(model, point_on_top(model, offset),
                          40 + static_cast<int>(3 * std::sin(25 * s)));
    };
    ContactFrames slide{"slides, and back the same way", {}, num_frames};
    for (int k = 0; k < num_frames; ++k)
        slide.frames.push_back(frame_at(static_cast<double>(k) / num_frames));
    for (int k = num_frames - 1; k >= 0; --k) slide.frames.push_back(slide.frames[at(k)]);
    ContactFrames jump{"jumps among eight places", {}, 8};
    for (int k = 0; k < num_frames; ++k) jump.frames.push_back(frame_at((k * 5 % 8) / 8.0));
    return {slide, jump};
}

/// One way to the forces of all frames.
struct SequenceRun {
    double us = std::numeric_limits<double>::infinity();  ///< a frame, the best of several runs
    std::vector<Vector3d> forces;
    int hits = 0, updates = 0, refactored = 0, hits_when_repeated = 0;
    std::vector<std::pair<double, double>> times;  ///< frame, µs
};

/// Runs all frames `repeats` times, from the beginning each time.
template <class Start, class Frame>
void run_frames(const ContactFrames& sequence, int repeats, SequenceRun& run, Start&& start,
                Frame&& frame) {
    for (int r = 0; r < repeats; ++r) {
        start();
        std::vector<std::pair<double, double>> times;
        double total = 0;
        run.forces.clear();
        for (std::size_t k = 0; k < sequence.frames.size(); ++k) {
            const double begun = thread_cpu_time_us();
            run.forces.push_back(frame(sequence.frames[k], static_cast<int>(k)));
            const double us = thread_cpu_time_us() - begun;
            times.emplace_back(static_cast<double>(k), us);
            total += us;
        }
        total /= static_cast<double>(sequence.frames.size());
        if (total >= run.us) continue;
        run.us = total;
        run.times = std::move(times);
    }
}

/// Σ a p from tractions over the modulus, three for each node.
template <class Tractions>
Vector3d summed_force(const GreensModel& model, const std::vector<int>& nodes,
                      const Tractions& tractions) {
    Vector3d force = Vector3d::Zero();
    for (std::size_t k = 0; k < nodes.size(); ++k)
        for (int axis = 0; axis < 3; ++axis)
            force[axis] += model.reference.modulus * model.reference.areas[at(nodes[k])] *
                           double{tractions[static_cast<Eigen::Index>(3 * k) + axis]};
    return force;
}

SequenceRun by_factorisation(const GreensModel& model, const ContactFrames& sequence, int repeats) {
    SequenceRun run;
    run_frames(
        sequence, repeats, run, [] {},
        [&](const std::vector<int>& nodes, int) {
            const auto m = 3 * static_cast<Eigen::Index>(nodes.size());
            MatrixXd C(m, m);
            float block[9];
            for (std::size_t i = 0; i < nodes.size(); ++i)
                for (std::size_t j = 0; j < nodes.size(); ++j) {
                    model.reference.functions->element(nodes[i], nodes[j], block);
                    for (int r = 0; r < 3; ++r)
                        for (int c = 0; c < 3; ++c)
                            C(3 * static_cast<Eigen::Index>(i) + r,
                              3 * static_cast<Eigen::Index>(j) + c) = -double{block[3 * r + c]};
                }
            VectorXd right = VectorXd::Zero(m);
            for (Eigen::Index k = 2; k < m; k += 3)
                right[k] = -kSequenceDepth / model.reference.length;
            return summed_force(model, nodes, VectorXd(C.partialPivLu().solve(right)));
        });
    run.refactored = static_cast<int>(sequence.frames.size());
    return run;
}

/// The inverse of the frame before, with what has changed; or anew each time.
SequenceRun by_inverse(const GreensModel& model, const ContactFrames& sequence, int repeats,
                       bool is_updated) {
    SequenceRun run;
    CapacitanceInverse inverse(model.reference.functions, 300);
    std::vector<float> right(300), solution(300);
    run_frames(
        sequence, repeats, run, [&] { (void)inverse.reset({}); },
        [&](const std::vector<int>& nodes, int k) {
            const int count = static_cast<int>(nodes.size());
            if (k == 0 || !is_updated) {
                (void)inverse.reset(captured_nodes(nodes, 0, count));
            } else {
                const std::vector<int>& before = sequence.frames[at(k - 1)];
                std::vector<int> in, out;
                std::set_difference(nodes.begin(), nodes.end(), before.begin(), before.end(),
                                    std::back_inserter(in));
                std::set_difference(before.begin(), before.end(), nodes.begin(), nodes.end(),
                                    std::back_inserter(out));
                (void)inverse.remove(captured_nodes(out, 0, static_cast<int>(out.size())));
                (void)inverse.add(captured_nodes(in, 0, static_cast<int>(in.size())));
            }
            for (int slot = 0; slot < 3 * count; ++slot)
                right[at(slot)] = static_cast<float>(-kSequenceDepth / model.reference.length *
                                                     inverse.dof(slot).direction.z());
            inverse.apply(std::span(right).first(3 * at(count)),
                          std::span(solution).first(3 * at(count)));
            Vector3d force = Vector3d::Zero();
            for (int slot = 0; slot < 3 * count; ++slot)
                force += model.reference.modulus *
                         model.reference.areas[at(inverse.dof(slot).node)] *
                         double{solution[at(slot)]} * inverse.dof(slot).direction;
            return force;
        });
    (is_updated ? run.updates : run.refactored) = static_cast<int>(sequence.frames.size());
    return run;
}

SequenceRun by_solver(const GreensModel& model, const ContactFrames& sequence, int repeats) {
    SequenceRun run;
    CapacitanceOptions options;
    options.max_dofs = 150;
    std::unique_ptr<CapacitanceSolver> solver;
    run_frames(
        sequence, repeats, run,
        [&] {
            // costs that do not depend on the machine: the same choices everywhere
            solver = std::make_unique<CapacitanceSolver>(model.reference, UpdateCosts(), options);
            run.hits = run.updates = run.refactored = run.hits_when_repeated = 0;
        },
        [&](const std::vector<int>& nodes, int k) {
            const std::vector<ChangedDof> changes =
                captured_nodes(nodes, 0, static_cast<int>(nodes.size()));
            std::vector<double> values(changes.size(), 0.0);
            for (std::size_t i = 2; i < values.size(); i += 3) values[i] = kSequenceDepth;
            const CapacitanceStatus status = solver->solve(changes, values);
            run.hits += status == CapacitanceStatus::Hit;
            run.updates += status == CapacitanceStatus::Updated;
            run.refactored += status == CapacitanceStatus::Refactored;
            run.hits_when_repeated +=
                k >= sequence.first_repeated && status == CapacitanceStatus::Hit;
            return solver->force(nodes);
        });
    return run;
}

double largest_difference(const SequenceRun& run, const SequenceRun& expected) {
    double largest = 0;
    for (std::size_t k = 0; k < run.forces.size(); ++k)
        largest = std::max(largest,
                           (run.forces[k] - expected.forces[k]).norm() / expected.forces[k].norm());
    return largest;
}

}  // namespace

void run_contact_sequences(Context& context) {
    Section& page = context.section;
    page.text(
        "About 40 nodes of the kidney are held and pressed down by 1 mm; from frame to frame some "
        "of them change. Four ways to the same forces: LU of the capacitance matrix in every "
        "frame, its inverse in every frame, the inverse of the frame before with what has changed, "
        "and the solver of Pliant, which keeps earlier inverses in a cache and by counted "
        "operations "
        "takes one of them as it is, updates the nearest or begins anew. Its time includes the "
        "search "
        "and the keeping; it has to be good at both contacts, not the best at each.");
    const auto model = greens_sample_model("kidney");
    const int repeats = context.sized(5, 1);
    Table table{"sequences",
                "Thread CPU time per frame; the best of several runs from an empty cache",
                {{"sequence", "contact"},
                 {"frames", "frames"},
                 {"changed", "nodes changed, mean"},
                 {"way", "way"},
                 {"us", "µs"},
                 {"over_lu", "LU over this"},
                 {"hits", "hits"},
                 {"updates", "updates"},
                 {"scratch", "from scratch"},
                 {"repeated", "hits among repeated frames"},
                 {"difference", "force against LU"}}};
    std::vector<std::string> plots;
    for (const ContactFrames& sequence : contact_sequences(*model, context.sized(200, 40))) {
        double changed = 0;
        for (std::size_t k = 1; k < sequence.frames.size(); ++k) {
            std::vector<int> difference;
            std::set_symmetric_difference(sequence.frames[k].begin(), sequence.frames[k].end(),
                                          sequence.frames[k - 1].begin(),
                                          sequence.frames[k - 1].end(),
                                          std::back_inserter(difference));
            changed += static_cast<double>(difference.size());
        }
        changed /= static_cast<double>(sequence.frames.size() - 1);
        const SequenceRun lu = by_factorisation(*model, sequence, repeats);
        struct Way {
            const char* name;
            SequenceRun run;
        };
        const Way ways[] = {{"LU", lu},
                            {"inverse", by_inverse(*model, sequence, repeats, false)},
                            {"update", by_inverse(*model, sequence, repeats, true)},
                            {"solver with cache", by_solver(*model, sequence, repeats)}};
        const int num_repeated = static_cast<int>(sequence.frames.size()) - sequence.first_repeated;
        Plot plot{.title = sequence.name, .x_label = "frame", .y_label = "time, µs", .log_y = true};
        for (int w = 0; w < 4; ++w) {
            const Way& way = ways[w];
            const std::string what = sequence.name + ", " + way.name;
            table.add(
                {sequence.name, Cell::count(static_cast<std::int64_t>(sequence.frames.size())),
                 Cell::number(changed, "%.1f"), way.name, Cell::number(way.run.us),
                 Cell::number(lu.us / way.run.us, "%.1f×"), Cell::count(way.run.hits),
                 Cell::count(way.run.updates), Cell::count(way.run.refactored),
                 w < 3 ? Cell("–")
                       : page.compared(
                             what + ": share of hits among repeated frames",
                             static_cast<double>(way.run.hits_when_repeated) / num_repeated, 1, 0),
                 w == 0 ? Cell("–")
                        : page.at_most(what + ": force against LU", largest_difference(way.run, lu),
                                       1e-3, "%.1e")});
            plot.series.push_back({way.name, way.run.times, w});
        }
        plots.push_back(drawn(plot));
    }
    page.table(table);
    page.figure(plots, "Time of each frame, including the solution and its force.");
}

}  // namespace pliant::reproduce
