#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/LU>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Published milliseconds for nodes added (rows) and deleted (columns); −1: not published.
struct PublishedUpdates {
    int size;
    double lu_ms, inverse_ms;
    std::vector<int> added, removed;
    std::vector<std::vector<double>> ms;
};

const std::vector<PublishedUpdates>& published_updates() {
    static const std::vector<PublishedUpdates> all = {{20,
                                                       2.7,
                                                       11,
                                                       {0, 1, 2, 5, 10},
                                                       {0, 1, 2, 5, 10},
                                                       {{-1, 1.1, 2.7, 9.9, 27},
                                                        {0.9, 2.2, 4.2, 11, 29},
                                                        {1.9, 3.5, 5.5, 13, 32},
                                                        {4.7, 6.5, 8.7, 16, 36},
                                                        {7.8, 9.9, 12, 21, 43}}},
                                                      {40,
                                                       19,
                                                       76,
                                                       {0, 1, 2, 5, 10, 20},
                                                       {0, 1, 2, 5, 10},
                                                       {{-1, 6.1, 12, 32, 77},
                                                        {5.5, 11, 17, 38, 84},
                                                        {11, 16, 22, 43, 90},
                                                        {23, 29, 35, 57, 107},
                                                        {40, 47, 54, 78, 129},
                                                        {63, 70, 78, 106, 166}}},
                                                      {100,
                                                       310,
                                                       1240,
                                                       {0, 1, 2, 5, 10, 20},
                                                       {0, 1, 2, 5, 10, 20},
                                                       {{-1, 37, 70, 174, 374, 865},
                                                        {36, 68, 101, 206, 410, 908},
                                                        {67, 98, 131, 243, 440, 941},
                                                        {154, 186, 220, 329, 536, 1045},
                                                        {286, 322, 358, 469, 684, 1212},
                                                        {520, 555, 595, 712, 940, 1410}}}};
    return all;
}

constexpr int kPasses = 3;

/// The cells of a table beside the published ones.
struct UpdatesBeside {
    double least_gain = kInfinity, most_gain = 0;  ///< published time over ours
    int cells = 0, under_inverse = 0, published_under_inverse = 0, under_lu = 0,
        published_under_lu = 0;

    /// Ours in µs.
    void add(const PublishedUpdates& published, double published_ms, double time, double lu,
             double inverse) {
        const double gain = 1e3 * published_ms / time;
        least_gain = std::min(least_gain, gain);
        most_gain = std::max(most_gain, gain);
        cells += 1;
        under_inverse += time <= inverse;
        published_under_inverse += published_ms <= published.inverse_ms;
        under_lu += time <= lu;
        published_under_lu += published_ms <= published.lu_ms;
    }
};

/// Inverses over the nodes of a kidney, nearest to its top first.
struct UpdatedInverse {
    explicit UpdatedInverse(const GreensModel& model, int max_nodes)
        : nodes(free_nodes_near(model, point_on_top(model))),
          base(model.reference.functions, 3 * max_nodes),
          work(model.reference.functions, 3 * max_nodes) {}

    /// Prepares to reach the `size` nodes [removed, removed + size) by an update.
    void prepare(int size, int added, int removed) {
        (void)base.reset(captured_nodes(nodes, 0, removed + size - added));
        out = captured_nodes(nodes, 0, removed);
        in = captured_nodes(nodes, removed + size - added, removed + size);
        whole = captured_nodes(nodes, removed, removed + size);
    }
    void update() {
        work.copy_from(base);
        if (!out.empty()) (void)work.remove(out);
        if (!in.empty()) (void)work.add(in);
    }
    void exchange() {
        work.copy_from(base);
        (void)work.exchange(in, out);
    }
    void invert() { (void)work.reset(whole); }

    /// The inverse as a matrix in the order of the sorted list.
    [[nodiscard]] MatrixXd matrix() const {
        const auto list = work.list();
        const auto m = static_cast<Eigen::Index>(list.size());
        MatrixXd X(m, m);
        for (Eigen::Index a = 0; a < m; ++a)
            for (Eigen::Index b = 0; b < m; ++b)
                X(a, b) = double{work.inverse_element(list[static_cast<std::size_t>(a)].slot,
                                                      list[static_cast<std::size_t>(b)].slot)};
        return X;
    }

    std::vector<int> nodes;
    CapacitanceInverse base, work;
    std::vector<ChangedDof> out, in, whole;
};

/// C of the first nodes in double, for a factorisation as published.
MatrixXd capacitance_of(const GreensModel& model, const std::vector<int>& nodes, int size) {
    MatrixXd C(3 * size, 3 * size);
    float block[9];
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
            model.reference.functions->element(nodes[at(i)], nodes[at(j)], block);
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) C(3 * i + r, 3 * j + c) = -double{block[3 * r + c]};
        }
    return C;
}

double lu_time_us(const MatrixXd& C, double budget_us) {
    Eigen::PartialPivLU<MatrixXd> lu(C.rows());
    return best_time_us([&] { lu.compute(C); }, budget_us);
}

}  // namespace

void run_suboperations(Context& context) {
    Section& page = context.section;
    page.text(
        "The parts of a solve with s changed nodes: factorisation of the capacitance matrix and "
        "one solution with the factors (Eigen, double precision, as published), the explicit "
        "inverse that Pliant keeps instead, one product with it, and the sum of s columns of "
        "Green's functions for 100 nodes. Published times: Java on a Pentium III of 450 MHz.");
    const auto model = greens_sample_model("kidney");
    const double budget = context.sized(3e4, 3e3);
    UpdatedInverse inverse(*model, 140);
    Table table{"suboperations",
                "Thread CPU time, µs; published in ms",
                {{"s", "s"},
                 {"lu_us", "LU, µs"},
                 {"lu_published_ms", "published, ms"},
                 {"solve_us", "solve, µs"},
                 {"solve_published_ms", "published, ms"},
                 {"sum_us", "sum of s columns, n = 100, µs"},
                 {"sum_published_ms", "published, ms"},
                 {"inverse_us", "inverse from scratch, µs"},
                 {"product_us", "product with it, µs"},
                 {"faster", "LU, solve and sum faster by"},
                 {"error", "solution by LU and by the inverse, relative"}}};
    struct PublishedParts {
        int s;
        double lu, solve, sum;
    };
    for (const PublishedParts& p : {PublishedParts{10, 0.54, 0.03, 0.38},
                                    {20, 2.7, 0.15, 0.74},
                                    {40, 19, 0.58, 1.7},
                                    {100, 310, 5.7, 5.7}}) {
        const MatrixXd C = capacitance_of(*model, inverse.nodes, p.s);
        const Eigen::PartialPivLU<MatrixXd> lu(C);
        VectorXd right(3 * p.s), x(3 * p.s);
        for (int k = 0; k < 3 * p.s; ++k) right[k] = std::sin(1.0 + k);
        const double lu_us = lu_time_us(C, budget),
                     solve_us = best_time_us([&] { x.noalias() = lu.solve(right); }, budget);
        std::vector<int> nodes(inverse.nodes.begin(), inverse.nodes.begin() + p.s);
        std::vector<float> weights(3 * at(p.s), 0.5f), out(300);
        const double sum_us = best_time_us(
            [&] { model->reference.functions->add_columns(nodes, weights, out); }, budget);
        inverse.prepare(p.s, 0, 0);
        const double inverse_us = best_time_us([&] { inverse.invert(); }, budget);
        std::vector<float> e(3 * at(p.s)), g(3 * at(p.s));
        for (int k = 0; k < 3 * p.s; ++k) {
            // slots to places: the list of nodes as they were given
            const ChangedDof& dof = inverse.work.dof(k);
            const auto place = std::find(nodes.begin(), nodes.end(), dof.node) - nodes.begin();
            int axis = 0;
            (void)dof.direction.maxCoeff(&axis);
            e[at(k)] = static_cast<float>(right[3 * place + axis]);
        }
        const double product_us = best_time_us([&] { inverse.work.apply(e, g); }, budget);
        double difference = 0;
        for (int k = 0; k < 3 * p.s; ++k) {
            const ChangedDof& dof = inverse.work.dof(k);
            const auto place = std::find(nodes.begin(), nodes.end(), dof.node) - nodes.begin();
            int axis = 0;
            (void)dof.direction.maxCoeff(&axis);
            difference += std::pow(double{g[at(k)]} - x[3 * place + axis], 2);
        }
        table.add(
            {Cell::count(p.s), Cell::number(lu_us), Cell::number(p.lu), Cell::number(solve_us),
             Cell::number(p.solve), Cell::number(sum_us), Cell::number(p.sum),
             Cell::number(inverse_us), Cell::number(product_us),
             Cell::number(1e3 * (p.lu + p.solve + p.sum) / (lu_us + solve_us + sum_us), "%.0f×"),
             page.at_most(format("s = %d: solutions by LU and by the inverse", p.s),
                          std::sqrt(difference) / x.norm(), 2e-4, "%.1e")});
    }
    page.table(table);
}

void run_inverse_updates(Context& context) {
    Section& page = context.section;
    page.text(
        "Time to reach the inverse of s nodes by adding s₊ and deleting s₋ nodes (a copy of the "
        "old inverse, direct deletion, then addition), on the kidney. In brackets ( ): slower "
        "than an LU factorisation; in [ ]: slower than the inverse from scratch. Published times "
        "in ms, with the brackets of that machine, to the right. Every result is compared with "
        "the inverse from scratch.");
    const auto model = greens_sample_model("kidney");
    const double budget = context.sized(1e4, 300.0);
    std::vector<std::string> plots;
    double worst = 0, done = 0;
    Table all{"all_cells",
              "All cells of the tables: published time over ours, and cells where an update is "
              "faster than the inverse from scratch and than an LU factorisation",
              {{"s", "s"},
               {"cells", "cells"},
               {"least_gain", "published over ours, least"},
               {"most_gain", "most"},
               {"under_inverse", "faster than the inverse"},
               {"published_under_inverse", "published"},
               {"under_lu", "faster than LU"},
               {"published_under_lu", "published"}}};
    for (const PublishedUpdates& p : published_updates()) {
        UpdatedInverse inverse(*model, p.size + 2 * p.removed.back() + 1);
        inverse.prepare(p.size, 0, 0);
        const double scratch = best_time_us([&] { inverse.invert(); }, 3 * budget),
                     lu = lu_time_us(capacitance_of(*model, inverse.nodes, p.size), 3 * budget);
        Table table{format("updates_%d", p.size),
                    format("s = %d: LU %.4g µs, inverse %.4g µs (published %g and %g ms); rows s₊, "
                           "columns s₋; µs, then published ms",
                           p.size, lu, scratch, p.lu_ms, p.inverse_ms),
                    {{"added", "s₊ \\ s₋"}}};
        for (const int removed : p.removed)
            table.columns.push_back({format("removed_%d", removed), std::to_string(removed)});
        for (const int removed : p.removed)
            table.columns.push_back({format("published_%d", removed), format("%d, ms", removed)});
        const auto marked = [](double time, double factor_time, double inverse_time) {
            Cell cell = Cell::number(time);
            if (time > inverse_time)
                cell.text = "[" + cell.text + "]";
            else if (time > factor_time)
                cell.text = "(" + cell.text + ")";
            return cell;
        };
        // the best of passes over all cells: whatever disturbs one moment is gone in the next pass
        std::map<std::pair<int, int>, double> times;
        for (int pass = 0; pass < kPasses; ++pass)
            for (const int added : p.added)
                for (const int removed : p.removed) {
                    inverse.prepare(p.size, added, removed);
                    inverse.invert();
                    const MatrixXd expected = inverse.matrix();
                    double& best = times.try_emplace({added, removed}, kInfinity).first->second;
                    best = std::min(best, best_time_us([&] { inverse.update(); }, budget));
                    worst = std::max(worst, (inverse.matrix() - expected).norm() / expected.norm());
                    context.done(0.9 * ++done / kPasses / 81);
                }
        std::map<int, Series> curves;
        UpdatesBeside beside;
        for (std::size_t i = 0; i < p.added.size(); ++i) {
            std::vector<Cell> row{Cell::count(p.added[i])};
            for (std::size_t j = 0; j < p.removed.size(); ++j) {
                const int added = p.added[i], removed = p.removed[j];
                const double time = times[{added, removed}];
                row.push_back(added + removed == 0 ? Cell("–") : marked(time, lu, scratch));
                if (p.ms[i][j] >= 0) beside.add(p, p.ms[i][j], time, lu, scratch);
                Series& curve = curves[removed];
                curve.label = format("%d deleted", removed);
                curve.color = static_cast<int>(j);
                curve.stroke = Stroke::LineAndDots;
                curve.points.emplace_back(added, time / scratch);
            }
            for (std::size_t j = 0; j < p.removed.size(); ++j)
                row.push_back(p.ms[i][j] < 0 ? Cell("–")
                                             : marked(p.ms[i][j], p.lu_ms, p.inverse_ms));
            table.add(std::move(row));
        }
        page.table(table);
        all.add({Cell::count(p.size), Cell::count(beside.cells),
                 Cell::number(beside.least_gain, "%.0f"), Cell::number(beside.most_gain, "%.0f"),
                 Cell::count(beside.under_inverse), Cell::count(beside.published_under_inverse),
                 Cell::count(beside.under_lu), Cell::count(beside.published_under_lu)});
        Plot plot{.title = format("s = %d", p.size),
                  .x_label = "nodes added",
                  .y_label = "time over that of the inverse from scratch",
                  .guides = {{1, "inverse from scratch"}, {lu / scratch, "LU"}},
                  .log_y = true};
        for (auto& [removed, curve] : curves) plot.series.push_back(std::move(curve));
        plots.push_back(drawn(plot));
        if (p.size == 100) {
            const double add_one = times[{1, 0}], remove_one = times[{0, 1}];
            Table one{"one_node",
                      "s = 100, one node",
                      {{"what", ""},
                       {"us", "µs"},
                       {"over_inverse", "over the inverse from scratch"},
                       {"published", "published"}}};
            // times of one machine in one run: far from the limits, whatever else it does
            one.add({"added", Cell::number(add_one),
                     page.at_most("s = 100: adding a node over inverting", add_one / scratch, 0.2,
                                  "%.3f"),
                     Cell::number(36.0 / 1240, "%.3f")});
            one.add({"deleted", Cell::number(remove_one),
                     page.at_most("s = 100: deleting a node over inverting", remove_one / scratch,
                                  0.2, "%.3f"),
                     Cell::number(37.0 / 1240, "%.3f")});
            inverse.prepare(100, 0, 1);
            const double redundant = best_time_us([&] { inverse.exchange(); }, 3 * budget);
            one.add({"deleted by redundant nodes, as published", Cell::number(redundant),
                     Cell::number(redundant / scratch, "%.3f"), Cell::number(37.0 / 1240, "%.3f")});
            page.table(one);
        }
    }
    page.table(all);
    Table checks{"update_errors",
                 "All updates of the tables",
                 {{"error", "largest error, relative (at most 1e-3)"}}};
    checks.add({page.at_most("updated inverses against those from scratch, relative", worst, 1e-3,
                             "%.1e")});
    page.table(checks);
    page.figure(plots,
                "Points below a line are cheaper than what it stands for: where they cross is the "
                "break-even.");
}

}  // namespace pliant::reproduce
