#include "pliant/fem/free_system.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

/// Hanging node of each vertex, or −1.
std::vector<int> hanging_of_vertices(const VolumeMesh& mesh) {
    std::vector<int> hanging(mesh.vertices.size(), -1);
    for (int h = 0; h < static_cast<int>(mesh.hanging.size()); ++h)
        hanging[mesh.hanging[h].vertex] = h;
    return hanging;
}

void check_hanging(const VolumeMesh& mesh, const Constraints& constraints) {
    for (const HangingNode& h : mesh.hanging)
        for (int axis = 0; axis < 3; ++axis) {
            if (!constraints.is_prescribed(h.vertex, axis)) continue;
            for (int m = 0; m < h.num_masters; ++m)
                if (!constraints.is_prescribed(h.masters[m], axis))
                    throw InputError(
                        "", "vertex " + std::to_string(h.vertex) +
                                " lies in the middle of a coarser element's edge or face and "
                                "follows its corners; prescribe vertex " +
                                std::to_string(h.masters[m]) + " as well, or not vertex " +
                                std::to_string(h.vertex));
        }
}

}  // namespace

FreeSystem::FreeSystem(FemModel model, Constraints constraints)
    : model_(std::move(model)), constraints_(std::move(constraints)) {
    const VolumeMesh& mesh = model_.mesh();
    assert(constraints_.num_nodes() == mesh.num_vertices());
    check_hanging(mesh, constraints_);
    const std::vector<int> hanging = hanging_of_vertices(mesh);

    // number the free components in the order of the nodes
    std::vector<int> number(static_cast<std::size_t>(model_.num_unknowns()), -1);
    int num_free = 0;
    for (int node = 0; node < mesh.num_vertices(); ++node)
        for (int axis = 0; axis < 3; ++axis)
            if (hanging[node] < 0 && !constraints_.is_prescribed(node, axis))
                number[3 * node + axis] = num_free++;

    prescribed_ = constraints_.displacements();
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(static_cast<std::size_t>(num_free));
    for (int i = 0; i < model_.num_unknowns(); ++i) {
        if (number[i] >= 0) entries.emplace_back(i, number[i], 1.0);
        if (hanging[i / 3] < 0) continue;
        const HangingNode& h = mesh.hanging[hanging[i / 3]];
        prescribed_[i] = 0;
        for (int m = 0; m < h.num_masters; ++m) {
            assert(hanging[h.masters[m]] < 0);
            const int master = 3 * h.masters[m] + i % 3;
            if (number[master] >= 0) entries.emplace_back(i, number[master], h.weight);
            prescribed_[i] += h.weight * constraints_.displacements()[master];
        }
    }
    T_.resize(model_.num_unknowns(), num_free);
    T_.setFromTriplets(entries.begin(), entries.end());
    T_by_rows_ = T_;
}

void FreeSystem::expand(const ConstRef& q, double s, Ref u) const {
    assert(q.size() == num_unknowns() && u.size() == T_.rows());
    u = s * prescribed_;
    u.noalias() += T_ * q;
}

void FreeSystem::fold(const ConstRef& f, Ref f_free) const {
    assert(f.size() == T_.rows() && f_free.size() == num_unknowns());
    f_free.noalias() = T_.transpose() * f;
}

void FreeSystem::fold(const Matrix& K, Matrix& K_free, Workspace& ws) const {
    assert(K.rows() == T_.rows() && K_free.rows() == num_unknowns());
    if (!has_hanging()) {
        for (std::size_t k = 0; k < ws.selected.size(); ++k)
            K_free.valuePtr()[k] = K.valuePtr()[ws.selected[k]];
        return;
    }
    // column by column through a dense one
    for (int J = 0; J < num_unknowns(); ++J) {
        const int begin = K_free.outerIndexPtr()[J], end = K_free.outerIndexPtr()[J + 1];
        for (int k = begin; k < end; ++k) ws.column[K_free.innerIndexPtr()[k]] = 0;
        for (Matrix::InnerIterator child(T_, J); child; ++child)
            for (Matrix::InnerIterator entry(K, child.index()); entry; ++entry) {
                const double value = child.value() * entry.value();
                for (decltype(T_by_rows_)::InnerIterator master(T_by_rows_, entry.index()); master;
                     ++master)
                    ws.column[master.index()] += master.value() * value;
            }
        for (int k = begin; k < end; ++k)
            K_free.valuePtr()[k] = ws.column[K_free.innerIndexPtr()[k]];
    }
}

FreeSystem::Matrix FreeSystem::make_matrix() const {
    const Matrix K = model_.make_matrix();
    std::vector<int> last_column(static_cast<std::size_t>(num_unknowns()), -1);
    std::vector<int> offsets{0}, rows;
    for (int J = 0; J < num_unknowns(); ++J) {
        for (Matrix::InnerIterator child(T_, J); child; ++child)
            for (Matrix::InnerIterator entry(K, child.index()); entry; ++entry)
                for (decltype(T_by_rows_)::InnerIterator master(T_by_rows_, entry.index()); master;
                     ++master)
                    if (last_column[master.index()] != J) {
                        last_column[master.index()] = J;
                        rows.push_back(static_cast<int>(master.index()));
                    }
        std::sort(rows.begin() + offsets.back(), rows.end());
        offsets.push_back(static_cast<int>(rows.size()));
    }
    Matrix K_free(num_unknowns(), num_unknowns());
    K_free.resizeNonZeros(std::ssize(rows));
    std::ranges::copy(offsets, K_free.outerIndexPtr());
    std::ranges::copy(rows, K_free.innerIndexPtr());
    std::fill_n(K_free.valuePtr(), K_free.nonZeros(), 0.0);
    return K_free;
}

FreeSystem::Workspace FreeSystem::make_workspace() const {
    Workspace ws{Eigen::VectorXd::Zero(num_unknowns()), {}};
    if (has_hanging()) return ws;
    // rows and columns of K with an unknown of their own, in order: T has one entry in each column
    const Matrix K = model_.make_matrix();
    for (int J = 0; J < num_unknowns(); ++J) {
        const int j = Matrix::InnerIterator(T_, J).index();
        for (int k = K.outerIndexPtr()[j]; k < K.outerIndexPtr()[j + 1]; ++k)
            if (decltype(T_by_rows_)::InnerIterator(T_by_rows_, K.innerIndexPtr()[k]))
                ws.selected.push_back(k);
    }
    return ws;
}

}  // namespace pliant
