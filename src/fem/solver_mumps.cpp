#ifdef PLIANT_WITH_MUMPS

#include <dmumps_c.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "fem/solver_backend.h"

namespace pliant {
namespace {

using Matrix = LinearSolver::Matrix;
static_assert(sizeof(MUMPS_INT) == sizeof(int));

enum Job { kInitialise = -1, kFinish = -2, kAnalyse = 1, kFactor = 2, kSolve = 3 };

/// Counts that do not fit into an int come as minus their millions.
std::int64_t wide_count(MUMPS_INT value) {
    return value >= 0 ? value : -std::int64_t{1'000'000} * value;
}

class MumpsBackend final : public SolverBackend {
public:
    explicit MumpsBackend(const SolverOptions& options) : num_threads_(options.num_threads) {
        mumps_.sym = options.definiteness == Definiteness::Positive ? 1 : 2;
        mumps_.par = 1;
        mumps_.comm_fortran = -987654;  // by the manual: the world of MPI
        call(kInitialise);
        // silent
        for (const int k : {1, 2, 3}) icntl(k) = -1;
        icntl(4) = 0;
        // our order of elimination, and nothing that depends on the values
        icntl(6) = 0;
        icntl(7) = 1;
        icntl(12) = 1;
    }
    ~MumpsBackend() override {
        mumps_.job = kFinish;
        const std::lock_guard lock(mutex());
        dmumps_c(&mumps_);
    }
    MumpsBackend(const MumpsBackend&) = delete;
    MumpsBackend& operator=(const MumpsBackend&) = delete;

    void analyse(const Matrix& A, std::span<const int> order,
                 SolverStatistics& statistics) override {
        rows_.clear();
        columns_.clear();
        for (int j = 0; j < A.outerSize(); ++j)
            for (Matrix::InnerIterator it(A, j); it; ++it)
                if (it.row() >= j) {
                    rows_.push_back(static_cast<MUMPS_INT>(it.row()) + 1);
                    columns_.push_back(j + 1);
                }
        values_.resize(rows_.size());
        position_.resize(order.size());
        for (int k = 0; k < std::ssize(order); ++k) position_[order[k]] = k + 1;

        mumps_.n = static_cast<MUMPS_INT>(A.rows());
        mumps_.nnz = static_cast<MUMPS_INT8>(rows_.size());
        mumps_.irn = rows_.data();
        mumps_.jcn = columns_.data();
        mumps_.a = values_.data();
        mumps_.perm_in = position_.data();
        call(kAnalyse);
        throw_if_failed();
        statistics.factor_nonzeros = wide_count(mumps_.infog[19]);
        statistics.flops = mumps_.rinfog[0];
        statistics.bytes = wide_count(mumps_.infog[16]) * 1'000'000;
        slack_ = icntl(14);
    }

    FactorResult factor(const Matrix& A, SolverStatistics& statistics) override {
        std::size_t k = 0;
        for (int j = 0; j < A.outerSize(); ++j)
            for (Matrix::InnerIterator it(A, j); it; ++it)
                if (it.row() >= j) values_[k++] = it.value();
        // pivoting may need more space than the analysis foresaw: more slack, in percent
        icntl(14) = slack_;
        call(kFactor);
        while (workspace_was_too_small() && icntl(14) < 2000) {
            icntl(14) = std::max(2 * icntl(14), 50);
            call(kFactor);
        }
        if (workspace_was_too_small()) throw std::bad_alloc();
        constexpr int kNumericallySingular = -10, kStructurallySingular = -6;
        if (error() == kNumericallySingular || error() == kStructurallySingular)
            return {FactorStatus::Singular};
        throw_if_failed();
        statistics.factor_nonzeros = wide_count(mumps_.infog[28]);
        statistics.flops = mumps_.rinfog[2];
        statistics.bytes = wide_count(mumps_.infog[21]) * 1'000'000;
        statistics.negative_pivots = mumps_.infog[11];
        return {};
    }

    void solve(Eigen::Ref<Eigen::MatrixXd> b) override {
        mumps_.rhs = b.data();
        mumps_.nrhs = static_cast<MUMPS_INT>(b.cols());
        mumps_.lrhs = static_cast<MUMPS_INT>(b.cols() > 1 ? b.outerStride() : b.rows());
        call(kSolve);
        throw_if_failed();
    }

private:
    /// The manual's numbering.
    MUMPS_INT& icntl(int k) { return mumps_.icntl[k - 1]; }
    [[nodiscard]] int error() const { return std::min(mumps_.infog[0], 0); }
    [[nodiscard]] bool workspace_was_too_small() const {
        return error() == -8 || error() == -9 || error() == -17 || error() == -20;
    }

    /// MUMPS keeps variables of its own between its routines: one call at a time.
    static std::mutex& mutex() {
        static std::mutex instance;
        return instance;
    }
    void call(Job job) {
        mumps_.job = job;
        const std::lock_guard lock(mutex());
        const ScopedBlasThreads threads(num_threads_);
        dmumps_c(&mumps_);
    }

    /// What is left is a lack of memory or our own mistake.
    void throw_if_failed() const {
        if (error() == 0) return;
        for (const int memory : {-5, -7, -11, -13, -14, -15, -18, -19, -22, -51, -52})
            if (error() == memory) throw std::bad_alloc();
        throw std::logic_error("MUMPS stopped with INFOG(1) = " + std::to_string(error()) +
                               ", INFOG(2) = " + std::to_string(mumps_.infog[1]));
    }

    DMUMPS_STRUC_C mumps_ = {};
    int num_threads_, slack_ = 0;
    std::vector<MUMPS_INT> rows_, columns_, position_;
    std::vector<double> values_;
};

}  // namespace

std::unique_ptr<SolverBackend> make_mumps_backend(const SolverOptions& options) {
    return std::make_unique<MumpsBackend>(options);
}

}  // namespace pliant

#endif
