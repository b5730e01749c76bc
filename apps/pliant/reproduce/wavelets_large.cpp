#include "wavelets_large.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "apps/pliant/output.h"
#include "benchmarks/large_bodies.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "core/resource_use.h"
#include "greens/dense_lu.h"
#include "greens/gmres.h"

namespace pliant::reproduce {
namespace {

using bench::LargeBody;
using Eigen::MatrixXd;

constexpr int kProductWidth = 96;  // right-hand sides at once

MatrixXd random_columns(const LargeBody& body, int count) {
    std::srand(1);
    return MatrixXd::Random(3 * body.model.num_nodes(), count);
}

MatrixXd product(const BoundaryOperator& A, const MatrixXd& X) {
    MatrixXd Y(X.rows(), X.cols());
    A.apply(X, Y);
    return Y;
}

/// Right-hand sides of all free nodes, and what the exact matrix makes of them.
struct ExactColumns {
    explicit ExactColumns(const LargeBody& body) {
        const int n = body.model.num_nodes();
        MatrixXd G(3 * n, 3 * n), H(3 * n, 3 * n);
        body.model.assemble(0, n, G, H);
        const auto num_free = std::ranges::count(body.kinds, NodeKind::Free);
        loads.resize(3 * n, 3 * num_free);
        Eigen::Index column = 0;
        for (int j = 0; j < n; ++j) {
            if (body.kinds[at(j)] == NodeKind::Free) {
                loads.middleCols<3>(column) = G.middleCols<3>(3 * j);
                column += 3;
            } else {
                H.middleCols<3>(3 * j) = -G.middleCols<3>(3 * j);
            }
        }
        columns = loads;
        DenseLu(std::move(H), Progress::none()).solve_in_place(columns);
    }
    /// RMS over the rows of free nodes of the columns of another matrix.
    [[nodiscard]] double error_of(const BoundaryOperator& A, const LargeBody& body) const {
        MatrixXd solved = loads;
        const int n = A.num_unknowns();
        DenseLu(product(A, MatrixXd::Identity(n, n)), Progress::none()).solve_in_place(solved);
        double error = 0, size = 0;
        for (int i = 0; i < body.model.num_nodes(); ++i) {
            if (body.kinds[at(i)] == NodeKind::Fixed) continue;
            error += (solved - columns).middleRows<3>(3 * i).squaredNorm();
            size += columns.middleRows<3>(3 * i).squaredNorm();
        }
        return std::sqrt(error / size);
    }

    MatrixXd loads, columns;
};

/// Wall time of one call [s], the best of three.
template <class Call>
double best_seconds(const Call& call) {
    double best = kInfinity;
    for (int k = 0; k < 3; ++k) {
        const auto start = std::chrono::steady_clock::now();
        call();
        best = std::min(
            best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

Cell bytes_cell(double bytes) {
    Cell cell = Cell::number(bytes);
    cell.text = cli::byte_size(bytes);
    return cell;
}

void add_wavelet_errors(Context& context) {
    struct Specified {
        double tolerance;
        double errors[4][2];  // unlifted plain, corrected, lifted plain, corrected; 162, 642
    };
    const Specified specified[] = {
        {0.0025, {{0.058, 0.097}, {0.006, 0.014}, {0.027, 0.031}, {0.004, 0.009}}},
        {0.01, {{0.084, 0.21}, {0.018, 0.028}, {0.041, 0.045}, {0.011, 0.014}}},
        {0.04, {{0.15, 0.13}, {0.048, 0.057}, {0.052, 0.060}, {0.032, 0.032}}},
        {0.1, {{0.24, 0.36}, {0.10, 0.091}, {0.14, 0.32}, {0.071, 0.071}}}};
    Table table{"wavelet_columns",
                "RMS error of displacements of the free surface with wavelet columns, of a "
                "converged solution; in brackets the specification's. Plain ones are neither small "
                "nor monotone: theirs depend on every detail.",
                {{"vertices", "vertices"},
                 {"tolerance", "ε_A"},
                 {"compression", "compression, unlifted"},
                 {"plain", "unlifted, plain"},
                 {"corrected", "unlifted, corrected"},
                 {"lifted_plain", "lifted, plain"},
                 {"lifted_corrected", "lifted, corrected"},
                 {"adaptive", "lifted, corrected, adaptive"},
                 {"integrated", "blocks integrated"}}};
    const std::vector<int> levels = context.is_quick ? std::vector{2} : std::vector{2, 3};
    for (const int level : levels) {
        const LargeBody body = bench::capped_sphere(level);
        const ExactColumns exact(body);
        const double n = body.model.num_nodes();
        for (const Specified& row : specified) {
            std::vector<Cell> cells{Cell::count(body.model.num_nodes()),
                                    Cell::number(row.tolerance)};
            std::vector<Cell> errors;
            double compression = 0, integrated = 0;
            for (int k = 0; k < 5; ++k) {
                WaveletOperatorReport report;
                const auto A = make_wavelet_operator(body.model, body.surface, body.kinds,
                                                     {.tolerance = row.tolerance,
                                                      .is_lifted = k >= 2,
                                                      .has_rigid_correction = k % 2 == 1 || k == 4,
                                                      .is_adaptive = k == 4},
                                                     Progress::none(), &report);
                if (k == 0) compression = report.compression;
                integrated = static_cast<double>(report.num_integrated) / (n * n);
                const double error = exact.error_of(*A, body);
                const double reference = row.errors[std::min(k, 3)][level - 2];
                Cell cell = k == 1 || k == 3 ? context.section.at_most(
                                                   "ε_A = " + cli::format("%g", row.tolerance) +
                                                       (k == 1 ? ", unlifted" : ", lifted"),
                                                   error, 1.5 * reference, "%.3f")
                                             : Cell::number(error, "%.3f");
                if (k < 4) cell.text += cli::format(" (%g)", reference);
                errors.push_back(cell);
            }
            cells.push_back(Cell::number(compression, "%.1f"));
            cells.insert(cells.end(), errors.begin(), errors.end());
            cells.push_back(Cell::number(100 * integrated, "%.0f %%"));
            table.add(cells);
            context.done(0.5 * static_cast<double>(&row - specified + 1) / 4);
        }
    }
    context.section.table(table);
}

void add_hierarchical_errors(Context& context) {
    Table table{"hierarchical_errors",
                "Hierarchical matrix against the dense one: products with random vectors, and the "
                "same error of displacements. A mean rank of 0: no block of low rank pays, all are "
                "dense.",
                {{"vertices", "vertices"},
                 {"tolerance", "tolerance"},
                 {"product", "product"},
                 {"columns", "displacements"},
                 {"rank", "mean rank"},
                 {"bytes", "memory"},
                 {"dense_bytes", "dense, double"}}};
    const std::vector<int> levels = context.is_quick ? std::vector{2} : std::vector{2, 3, 4};
    for (const int level : levels) {
        const LargeBody body = bench::capped_sphere(level);
        const auto dense = make_dense_operator(body.model, body.kinds);
        const MatrixXd X = random_columns(body, 16), exact = product(*dense, X);
        // factoring the largest takes too long
        const auto columns = level < 4 ? std::make_unique<ExactColumns>(body) : nullptr;
        for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
            HierarchicalReport report;
            const auto A = make_hierarchical_operator(
                body.model, body.kinds, {.tolerance = tolerance, .leaf_nodes = level < 4 ? 16 : 64},
                Progress::none(), &report);
            const double error = (product(*A, X) - exact).norm() / exact.norm();
            table.add({Cell::count(body.model.num_nodes()), Cell::number(tolerance),
                       context.section.at_most("product", error, tolerance, "%.1e"),
                       columns ? Cell::number(columns->error_of(*A, body), "%.1e") : Cell("–"),
                       Cell::number(report.mean_rank, "%.1f"),
                       bytes_cell(static_cast<double>(A->num_bytes())),
                       bytes_cell(static_cast<double>(dense->num_bytes()))});
        }
    }
    context.section.table(table);
}

/// Tubes of `rings` and `levels`, bench::closed_tube.
struct TubeSize {
    int rings, levels;
};

/// Both matrices of the iterative solver on the same bodies, by the clock.
void add_operator_times(Context& context, const std::vector<TubeSize>& sizes) {
    Table table{"operator_times",
                "Hierarchical matrix and wavelet columns: time to build, of one of 96 right-hand "
                "sides, and memory. Errors are those of products with random vectors, against the "
                "hierarchical matrix of 1e-6.",
                {{"vertices", "vertices"},
                 {"matrix", "matrix"},
                 {"tolerance", "tolerance"},
                 {"build_s", "matrix, s"},
                 {"product_ms", "product, ms"},
                 {"bytes", "memory"},
                 {"error", "error of products"}}};
    for (const TubeSize& size : sizes) {
        const LargeBody body = bench::closed_tube(size.rings, size.levels);
        const MatrixXd X = random_columns(body, kProductWidth);
        const MatrixXd exact =
            product(*make_hierarchical_operator(body.model, body.kinds, {.tolerance = 1e-6}), X);
        struct Times {
            double build = 0, product = 0;
        };
        const auto add = [&](const char* name, double tolerance, const auto& make) {
            Times times;
            std::unique_ptr<BoundaryOperator> A;
            {
                const SecondsOfScope scope(times.build);
                A = make();
            }
            MatrixXd Y(X.rows(), X.cols());
            times.product = best_seconds([&] { A->apply(X, Y); }) / kProductWidth;
            table.add({Cell::count(body.model.num_nodes()), Cell(name), Cell::number(tolerance),
                       Cell::number(times.build, "%.1f"), Cell::number(1e3 * times.product, "%.2f"),
                       bytes_cell(static_cast<double>(A->num_bytes())),
                       Cell::number((Y - exact).norm() / exact.norm(), "%.1e")});
            return times;
        };
        const auto hierarchical = [&](double tolerance) {
            return add("hierarchical", tolerance, [&] {
                return make_hierarchical_operator(body.model, body.kinds, {.tolerance = tolerance});
            });
        };
        // the one that builds take, and one nearer to the errors of the columns
        const Times taken = hierarchical(HierarchicalOptions{}.tolerance);
        (void)hierarchical(0.01);
        const WaveletOperatorOptions options;
        const Times wavelet = add("wavelet columns", options.tolerance, [&] {
            return make_wavelet_operator(body.model, body.surface, body.kinds, options);
        });
        const auto faster = [](double a, double b) {
            if (std::max(a, b) < 1.05 * std::min(a, b)) return std::string("both are as fast");
            return a <= b ? cli::format("the hierarchical matrix is faster, %.1f times", b / a)
                          : cli::format("wavelet columns are faster, %.1f times", a / b);
        };
        context.section.text(
            cli::format("%s vertices, with the tolerances of builds (%g and %g): to build, ",
                        cli::grouped(body.model.num_nodes()).c_str(),
                        HierarchicalOptions{}.tolerance, options.tolerance) +
            faster(taken.build, wavelet.build) + "; in products, " +
            faster(taken.product, wavelet.product) + ".");
    }
    context.section.table(table);
}

}  // namespace

void run_operator_errors(Context& context) {
    const AllCores all;
    context.section.text(
        "A sphere held at a small cap, ν = 0.3. Columns of the matrix are compressed over their "
        "rows by wavelets, or the whole matrix by low-rank blocks; the correction makes products "
        "with rigid motions exact.");
    add_wavelet_errors(context);
    add_hierarchical_errors(context);
    context.done(1);
}

void run_solver_products(Context& context) {
    const AllCores all;
    context.section.text(
        "Products for a relative residual of 1e-3, the largest of twelve right-hand sides: without "
        "preconditioner, with inverses of clusters, and with a coarse problem of their rigid "
        "motions as well. The specification has 48 and 56 without and 12 to 17 with an octree; "
        "judged are at most 24 with clusters and 12 with both.");
    Table table{"products",
                "Products of GMRES without restarts",
                {{"vertices", "vertices"},
                 {"plain", "none"},
                 {"blocks", "clusters"},
                 {"coarse", "clusters and coarse"}}};
    const std::vector<int> levels = context.is_quick ? std::vector{2} : std::vector{2, 3, 4};
    for (const int level : levels) {
        const LargeBody body = bench::capped_sphere(level);
        const auto A = make_hierarchical_operator(body.model, body.kinds);
        const int n = body.model.num_nodes();
        MatrixXd B(3 * n, 12), X(3 * n, 12);
        UnknownBlocks blocks(body.model, body.kinds);
        UnknownBlocks::Workspace workspace(blocks);
        std::vector<int> rows(at(n)), nodes;
        for (int i = 0; i < n; ++i) rows[at(i)] = i;
        for (int k = 0; k < 4; ++k) nodes.push_back(k * n / 5);
        blocks.set_nodes(nodes, workspace);
        blocks.knowns(rows, workspace, B);
        std::vector<Cell> cells{Cell::count(n)};
        for (int k = 0; k < 3; ++k) {
            std::unique_ptr<const BlockPreconditioner> M;
            if (k > 0)
                M = std::make_unique<BlockPreconditioner>(
                    body.model, body.kinds, *A,
                    PreconditionerOptions{.leaf_nodes = std::min(128, n / 8),
                                          .has_coarse = k == 2});
            const GmresReport report = gmres(*A, M.get(), B, X, {.tolerance = 1e-3});
            const int most = *std::ranges::max_element(report.iterations);
            cells.push_back(
                k == 0 ? Cell::count(most)
                       : context.section.at_most("products", most, k == 1 ? 24 : 12, "%.0f"));
        }
        table.add(cells);
        context.done(static_cast<double>(level - 1) / 3);
    }
    context.section.table(table);
    context.done(1);
}

void run_operator_scaling(Context& context) {
    const AllCores all;
    context.section.text(
        "A closed tube, hierarchical matrix with a tolerance of 1e-4. Time of one of 96 right-hand "
        "sides on all cores, and the same over n log₂ n, relative to the first.");
    Table table{"product_scaling",
                "Products against the number of nodes",
                {{"vertices", "vertices"},
                 {"build_s", "matrix, s"},
                 {"bytes", "memory"},
                 {"dense_bytes", "dense, double"},
                 {"product_ms", "product, ms"},
                 {"relative", "over n log n"},
                 {"bytes_relative", "memory over n log n"}}};
    const std::vector<TubeSize> sizes =
        context.is_quick ? std::vector<TubeSize>{{8, 2}, {16, 2}}
                         : std::vector<TubeSize>{{8, 3}, {16, 3}, {8, 4}, {16, 4}};
    double first_time = 0, first_bytes = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        const LargeBody body = bench::closed_tube(sizes[k].rings, sizes[k].levels);
        HierarchicalReport report;
        const auto A =
            make_hierarchical_operator(body.model, body.kinds, {}, Progress::none(), &report);
        const MatrixXd X = random_columns(body, kProductWidth);
        MatrixXd Y(X.rows(), X.cols());
        const double seconds = best_seconds([&] { A->apply(X, Y); }) / kProductWidth;
        const double n = body.model.num_nodes(), work = n * std::log2(n);
        const auto bytes = static_cast<double>(A->num_bytes());
        if (k == 0) first_time = seconds / work, first_bytes = bytes / work;
        const double relative = seconds / work / first_time;
        table.add({Cell::count(body.model.num_nodes()), Cell::number(report.seconds, "%.1f"),
                   bytes_cell(bytes), bytes_cell(72 * n * n), Cell::number(1e3 * seconds, "%.2f"),
                   context.is_quick
                       ? Cell::number(relative, "%.2f")
                       : context.section.at_most(
                             cli::format("%.0f vertices: product over n log n, relative", n),
                             relative, 1.5, "%.2f"),
                   Cell::number(bytes / work / first_bytes, "%.2f")});
        context.done(0.8 * static_cast<double>(k + 1) / static_cast<double>(sizes.size()));
    }
    context.section.table(table);
    // wavelet columns have exact row sums, which take n² blocks: not of the largest body
    add_operator_times(context, {sizes.begin(), sizes.end() - 1});
    context.done(1);
}

void run_large_bodies(Context& context) {
    const AllCores all;
    context.section.text(
        "All columns of level 0 of closed tubes, by the iterative solver with a residual of 1e-4; "
        "published for 9,920 vertices: 369 right-hand sides with 470 products each, 23 days of "
        "processor time.");
    Table table{"large_bodies",
                "Columns of level 0",
                {{"vertices", "vertices"},
                 {"unknowns", "unknowns"},
                 {"right_sides", "right-hand sides"},
                 {"direct_bytes", "direct matrix"},
                 {"matrix_bytes", "matrix"},
                 {"preconditioner_bytes", "preconditioner"},
                 {"matrix_s", "matrix, s"},
                 {"preconditioner_s", "preconditioner, s"},
                 {"columns_s", "columns, s"},
                 {"total_s", "all, s"},
                 {"products", "products, mean"},
                 {"max_products", "most"},
                 {"residual", "largest residual"},
                 {"peak_bytes", "peak of the process"}}};
    const std::vector<TubeSize> sizes =
        context.is_quick ? std::vector<TubeSize>{{31, 1}} : std::vector<TubeSize>{{31, 3}, {16, 4}};
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        const LargeBody body = bench::closed_tube(sizes[k].rings, sizes[k].levels);
        const bench::LargeSolution solved = bench::solve_level_0(body, {});
        const double n = body.model.num_nodes(), peak = static_cast<double>(peak_memory());
        Cell peak_cell = bytes_cell(peak);
        peak_cell.deviates = context.section.at_most("peak", peak, 20e9).deviates;
        table.add({Cell::count(body.model.num_nodes()), Cell::count(3 * body.model.num_nodes()),
                   Cell::count(solved.num_right_sides), bytes_cell(72 * n * n),
                   bytes_cell(static_cast<double>(solved.report.matrix_bytes)),
                   bytes_cell(static_cast<double>(solved.report.preconditioner_bytes)),
                   Cell::number(solved.matrix_seconds, "%.1f"),
                   Cell::number(solved.preconditioner_seconds, "%.1f"),
                   Cell::number(solved.column_seconds, "%.1f"),
                   context.section.at_most("seconds", solved.seconds(), 360, "%.1f"),
                   Cell::number(solved.report.mean_iterations, "%.1f"),
                   Cell::count(solved.report.max_iterations),
                   context.section.at_most("residual", solved.report.max_residual, 1e-4, "%.1e"),
                   peak_cell});
        context.done(static_cast<double>(k + 1) / static_cast<double>(sizes.size()));
    }
    context.section.table(table);
}

}  // namespace pliant::reproduce
