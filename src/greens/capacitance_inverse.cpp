#include "pliant/greens/capacitance_inverse.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "greens/column_kernels.h"
#include "greens/gauss_jordan.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

/// Conditions added or removed in one go; longer lists go through in parts.
constexpr int kBorderWidth = 48;

/// d_aᵀ Ξ_ab d_b for pairs of conditions, rows by node and columns by id. Consecutive ones of one
/// node share a look-up, and so do calls in a row with conditions of one node and the same list:
/// elements of compressed functions are dear.
class CompliancePairs {
public:
    /// `elements` has room for nine numbers for each condition of the lists.
    CompliancePairs(const GreensFunctions& functions, float* elements)
        : functions_(functions), block_(functions.block()), elements_(elements) {}

    /// Of all `rows` with the column of `b`.
    template <class Sink>
    void column(std::span<const ChangedDof> rows, const ChangedDof& b, Sink&& sink) {
        visit(
            rows, b, sink,
            [&](int row, float* values) {
                functions_.element(functions_.row_of(row), b.node, values);
            },
            [&](const float* values, int r, int c) { return values[r * block_ + c]; });
    }
    /// Of the row of `a` with all `columns`.
    template <class Sink>
    void row(const ChangedDof& a, std::span<const ChangedDof> columns, Sink&& sink) {
        const int node = functions_.row_of(a.node);
        visit(
            columns, a, sink, [&](int id, float* values) { functions_.element(node, id, values); },
            [&](const float* values, int r, int c) { return values[c * block_ + r]; });
    }

private:
    template <class Sink, class LookUp, class Element>
    void visit(std::span<const ChangedDof> list, const ChangedDof& one, Sink&& sink,
               const LookUp& look_up, const Element& element) {
        const bool is_known = one.node == node_ && list.data() == list_;
        int node = -1;
        double response[3] = {};
        for (std::size_t k = 0; k < list.size(); ++k) {
            if (list[k].node != node) {
                node = list[k].node;
                float* const values = elements_ + 9 * k;
                if (!is_known) look_up(node, values);
                for (int r = 0; r < block_; ++r) {
                    response[r] = 0;
                    for (int c = 0; c < block_; ++c)
                        response[r] += double{element(values, r, c)} * one.direction[c];
                }
            }
            sink(k, dot(list[k], response));
        }
        node_ = one.node;
        list_ = list.data();
    }
    [[nodiscard]] double dot(const ChangedDof& dof, const double* response) const noexcept {
        double sum = 0;
        for (int k = 0; k < block_; ++k) sum += dof.direction[k] * response[k];
        return sum;
    }
    const GreensFunctions& functions_;
    int block_;
    float* elements_;
    int node_ = -1;                     // whose elements are there
    const ChangedDof* list_ = nullptr;  // with this list
};

template <class T>
double one_norm(const T* values, std::size_t stride, int size) noexcept {
    double largest = 0;
    for (int j = 0; j < size; ++j) {
        const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> column(values + at(j) * stride,
                                                                          size);
        const double sum = static_cast<double>(column.abs().sum());
        // the comparison keeps what is not a number
        if (!(sum <= largest)) largest = sum;
    }
    return largest;
}

bool has_repeats(std::span<const ChangedDof> dofs) noexcept {
    // the usual list is sorted
    if (std::is_sorted(dofs.begin(), dofs.end()))
        return std::adjacent_find(dofs.begin(), dofs.end()) != dofs.end();
    for (std::size_t a = 0; a < dofs.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (dofs[a] == dofs[b]) return true;
    return false;
}

}  // namespace

template <class Scalar>
BasicCapacitanceInverse<Scalar>::BasicCapacitanceInverse(
    std::shared_ptr<const GreensFunctions> functions, int max_dofs, double max_condition)
    : functions_(std::move(functions)), max_size_(max_dofs), max_condition_(max_condition) {
    if (max_dofs < 1)
        throw InputError("", "capacitance.max_dofs", std::to_string(max_dofs), "value >= 1");
    if (!(max_condition > 1))
        throw InputError("", "capacitance.max_condition", std::to_string(max_condition),
                         "value > 1");
    stride_ = at(padded_rows(max_dofs));
    // columns whose distance is a power of two would share the places of the cache
    if (stride_ % 256 == 0) stride_ += kColumnPad;
    const auto num_lines = [&](int columns) {
        return (stride_ * at(columns) * sizeof(Scalar) + 63) / 64;
    };
    const int width = std::min(max_dofs, kBorderWidth) * 2;
    list_.reserve(at(max_dofs));
    dofs_.resize(at(max_dofs));
    C_.resize(num_lines(max_dofs));
    X_.resize(num_lines(max_dofs));
    for (Lines* lines : {&border_columns_, &border_rows_, &P_, &Q_})
        lines->resize(num_lines(width));
    D_.resize(num_lines(padded_rows(width)));
    work_.resize(stride_ * at(max_dofs) * sizeof(double) / 64);
    factors_.resize(4 * at(std::max(max_dofs, width)));
    pivots_.resize(at(std::max(max_dofs, width)));
    small_.resize(at(padded_rows(width)) * at(width));
    small_factors_.resize(small_.size());
    elements_.resize(3 * 9 * at(max_dofs));
}

template <class Scalar>
void BasicCapacitanceInverse<Scalar>::clear() noexcept {
    size_ = 0;
    num_updates_ = 0;
    condition_ = 1;
    list_.clear();
}

template <class Scalar>
int BasicCapacitanceInverse<Scalar>::find(const ChangedDof& dof) const noexcept {
    const auto place =
        std::lower_bound(list_.begin(), list_.end(), dof,
                         [](const ListedDof& a, const ChangedDof& b) { return a.dof < b; });
    return place != list_.end() && place->dof == dof ? place->slot : -1;
}

template <class Scalar>
bool BasicCapacitanceInverse<Scalar>::are_new(std::span<const ChangedDof> dofs) const noexcept {
    return !has_repeats(dofs) && std::all_of(dofs.begin(), dofs.end(),
                                             [&](const ChangedDof& dof) { return find(dof) < 0; });
}

template <class Scalar>
bool BasicCapacitanceInverse<Scalar>::are_there(std::span<const ChangedDof> dofs) const noexcept {
    return !has_repeats(dofs) && std::all_of(dofs.begin(), dofs.end(),
                                             [&](const ChangedDof& dof) { return find(dof) >= 0; });
}

template <class Scalar>
void BasicCapacitanceInverse<Scalar>::append(const ChangedDof& dof) noexcept {
    const auto place =
        std::lower_bound(list_.begin(), list_.end(), dof,
                         [](const ListedDof& a, const ChangedDof& b) { return a.dof < b; });
    list_.insert(place, {dof, size_});
    dofs_[at(size_++)] = dof;
}

/// Takes slots out of list and matrices: the last slot moves into each gap.
template <class Scalar>
void BasicCapacitanceInverse<Scalar>::drop(std::span<int> slots) noexcept {
    std::sort(slots.begin(), slots.end(), std::greater<>());
    for (const int slot : slots) {
        const int last = size_ - 1;
        const auto entry = [&](const ChangedDof& dof) {
            return std::lower_bound(
                list_.begin(), list_.end(), dof,
                [](const ListedDof& a, const ChangedDof& b) { return a.dof < b; });
        };
        list_.erase(entry(dofs_[at(slot)]));
        if (slot != last) {
            dofs_[at(slot)] = dofs_[at(last)];
            entry(dofs_[at(slot)])->slot = slot;
        }
        for (Lines* matrix : {&C_, &X_}) {
            if (slot != last) std::copy_n(column(*matrix, last), size_, column(*matrix, slot));
            // rows behind the last slot stay zero: kernels run over them
            for (int j = 0; j < size_; ++j) {
                Scalar* const values = column(*matrix, j);
                values[slot] = values[last];
                values[last] = 0;
            }
        }
        size_ = last;
    }
}

template <class Scalar>
void BasicCapacitanceInverse<Scalar>::measure_condition() noexcept {
    condition_ = size_ == 0 ? 1
                            : one_norm(C_.data()->values, stride_, size_) *
                                  one_norm(X_.data()->values, stride_, size_);
}

/// Inverts C as it lies, in double, into work_.
template <class Scalar>
bool BasicCapacitanceInverse<Scalar>::invert_work() noexcept {
    const double norm = one_norm(work_.data()->values, stride_, size_);
    if (!invert_in_place(work_.data()->values, stride_, size_, {factors_.data(), pivots_.data()}))
        return false;
    condition_ = norm * one_norm(work_.data()->values, stride_, size_);
    return condition_ <= max_condition_;
}

template <class Scalar>
InverseStatus BasicCapacitanceInverse<Scalar>::reset(std::span<const ChangedDof> dofs) noexcept {
    if (has_repeats(dofs)) return InverseStatus::BadList;
    if (dofs.size() > at(max_size_)) return InverseStatus::CapacityExceeded;
    const int new_size = static_cast<int>(dofs.size());
    double* const work = work_.data()->values;
    const std::size_t padded = at(padded_rows(new_size));
    CompliancePairs pairs(*functions_, elements_.data());
    for (int j = 0; j < new_size; ++j) {
        double* const to = work + at(j) * stride_;
        std::fill(to + new_size, to + padded, 0.0);
        pairs.column(dofs, dofs[at(j)], [&](std::size_t a, double value) { to[a] = -value; });
    }
    // the old list stays until the new inverse is known to be good
    const int old_size = std::exchange(size_, new_size);
    const double old_condition = condition_;
    if (new_size > 0 && !invert_work()) {
        size_ = old_size;
        condition_ = old_condition;
        return InverseStatus::IllConditioned;
    }
    clear();
    for (const ChangedDof& dof : dofs) append(dof);
    for (int j = 0; j < size_; ++j) {
        const double* const from = work + at(j) * stride_;
        std::transform(from, from + padded, column(X_, j),
                       [](double x) { return static_cast<Scalar>(x); });
        Scalar* const c = column(C_, j);
        std::fill(c + size_, c + padded, Scalar(0));
        pairs.column(dofs, dofs[at(j)],
                     [&](std::size_t a, double value) { c[a] = static_cast<Scalar>(-value); });
    }
    measure_condition();
    return InverseStatus::Ok;
}

template <class Scalar>
InverseStatus BasicCapacitanceInverse<Scalar>::refresh() noexcept {
    if (size_ == 0) return InverseStatus::Ok;
    const std::size_t padded = at(padded_rows(size_));
    for (int j = 0; j < size_; ++j)
        std::copy_n(column(C_, j), padded,
                    reinterpret_cast<double*>(work_.data()) + at(j) * stride_);
    const double old_condition = condition_;
    if (!invert_work()) {
        condition_ = old_condition;
        return InverseStatus::IllConditioned;
    }
    for (int j = 0; j < size_; ++j) {
        const double* const from = reinterpret_cast<double*>(work_.data()) + at(j) * stride_;
        std::transform(from, from + padded, column(X_, j),
                       [](double x) { return static_cast<Scalar>(x); });
    }
    num_updates_ = 0;
    return InverseStatus::Ok;
}

/// D = ±Z Q for the inverse Z in small_, in columns of padded_rows(k).
template <class Scalar>
void BasicCapacitanceInverse<Scalar>::multiply_small(int k, int sign) noexcept {
    const std::size_t small_stride = at(padded_rows(k));
    Scalar* const D = D_.data()->values;
    for (std::size_t place = 0; place < small_stride * at(k); ++place)
        small_factors_[place] = static_cast<Scalar>(sign * small_[place]);
    std::fill_n(D, small_stride * at(size_), Scalar(0));
    add_low_rank({D, small_stride, padded_rows(k), size_}, small_factors_.data(), small_stride,
                 Q_.data()->values, at(k), k);
}

/// One border of at most kBorderWidth conditions each, docs/greens.md eqs. (10) and (12). A removed
/// condition is added a second time with the sign of its column changed, and both are dropped.
template <class Scalar>
bool BasicCapacitanceInverse<Scalar>::border(std::span<const ChangedDof> added,
                                             std::span<const ChangedDof> removed) noexcept {
    const int m = size_, num_added = static_cast<int>(added.size()),
              num_removed = static_cast<int>(removed.size()), k = num_added + num_removed;
    const int padded = padded_rows(m);
    const std::span<const ChangedDof> old(dofs_.data(), at(m));
    const std::size_t small_stride = at(padded_rows(k));
    std::array<int, kBorderWidth> slots{};
    for (int d = 0; d < num_removed; ++d) slots[at(d)] = find(removed[at(d)]);

    // B_1Δ, B_Δ1 and I − B_ΔΔ
    const std::size_t room = elements_.size() / 3;
    CompliancePairs columns(*functions_, elements_.data()),
        rows(*functions_, elements_.data() + room), own(*functions_, elements_.data() + 2 * room);
    const auto small = [&](int i, int j) -> double& {
        return small_[at(j) * small_stride + at(i)];
    };
    std::fill_n(small_.begin(), small_stride * at(k), 0.0);
    for (int c = 0; c < num_added; ++c) {
        Scalar* const to = column(border_columns_, c);
        Scalar* const across = column(border_rows_, c);
        std::fill(to + m, to + padded, Scalar(0));
        std::fill(across + m, across + padded, Scalar(0));
        columns.column(old, added[at(c)],
                       [&](std::size_t a, double value) { to[a] = static_cast<Scalar>(value); });
        rows.row(added[at(c)], old,
                 [&](std::size_t b, double value) { across[b] = static_cast<Scalar>(value); });
        own.column(added, added[at(c)],
                   [&](std::size_t a, double value) { small(static_cast<int>(a), c) = -value; });
    }
    for (int d = 0; d < num_removed; ++d) {
        const int slot = slots[at(d)], c = num_added + d;
        Scalar* const to = column(border_columns_, c);
        Scalar* const across = column(border_rows_, c);
        for (int a = 0; a < padded; ++a) to[a] = a < m ? column(C_, slot)[a] : Scalar(0);
        for (int b = 0; b < padded; ++b) across[b] = b < m ? -column(C_, b)[slot] : Scalar(0);
        to[slot] -= 1;
        across[slot] += 1;
        for (int i = 0; i < num_added; ++i) {
            small(i, c) = static_cast<double>(column(border_rows_, i)[slot]);
            small(c, i) = -static_cast<double>(column(border_columns_, i)[slot]);
        }
    }
    for (int d = 0; d < num_removed; ++d)
        for (int e = 0; e < num_removed; ++e) {
            // I − B_ΔΔ with the sign of the column changed: I + I + Ξ
            const double identity = d == e ? 2 : 0;
            small(num_added + d, num_added + e) =
                identity - static_cast<double>(column(C_, slots[at(e)])[slots[at(d)]]);
        }

    // C_Δ and its inverse Z
    Scalar* const Q = Q_.data()->values;
    Scalar* const D = D_.data()->values;
    multiply_both_sides({X_.data()->values, stride_, padded, m}, border_columns_.data()->values,
                        border_rows_.data()->values, stride_, k, P_.data()->values, Q);
    // the small differences behind C_Δ are taken in double
    using Column = Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>;
    for (int j = 0; j < k; ++j) {
        const Column p(column(P_, j), m);
        for (int i = 0; i < k; ++i)
            small(i, j) -= Column(column(border_rows_, i), m)
                               .template cast<double>()
                               .dot(p.template cast<double>());
    }
    if (!invert_in_place(small_.data(), small_stride, k, {factors_.data(), pivots_.data()}))
        return false;

    // D = Z Q, then the inverse of the longer list
    multiply_small(k, 1);
    add_low_rank({X_.data()->values, stride_, padded, m}, P_.data()->values, stride_, D,
                 small_stride, k);

    const int new_size = m + num_added, new_padded = padded_rows(new_size);
    for (Lines* matrix : {&X_, &C_})
        for (int j = 0; j < new_size; ++j) {
            Scalar* const to = column(*matrix, j);
            std::fill(to + (j < m ? m : 0), to + new_padded, Scalar(0));
        }
    for (int c = 0; c < num_added; ++c) {
        for (int j = 0; j < m; ++j) {
            column(X_, j)[m + c] = D[at(j) * small_stride + at(c)];
            column(C_, j)[m + c] = -column(border_rows_, c)[j];
            column(C_, m + c)[j] = -column(border_columns_, c)[j];
        }
        ColumnSum<Scalar> sum(column(X_, m + c), at(m));
        for (int i = 0; i < k; ++i) sum.add(column(P_, i), static_cast<Scalar>(small(i, c)));
        sum.finish();
        for (int i = 0; i < num_added; ++i)
            column(X_, m + c)[m + i] = static_cast<Scalar>(small(i, c));
        own.column(added, added[at(c)], [&](std::size_t a, double value) {
            column(C_, m + c)[at(m) + a] = static_cast<Scalar>(-value);
        });
    }
    for (const ChangedDof& dof : added) append(dof);
    drop({slots.data(), at(num_removed)});
    return true;
}

/// One direct deletion of at most kBorderWidth conditions, docs/greens.md eq. (11).
template <class Scalar>
bool BasicCapacitanceInverse<Scalar>::cut(std::span<const ChangedDof> removed) noexcept {
    const int m = size_, k = static_cast<int>(removed.size()), padded = padded_rows(m);
    const std::size_t small_stride = at(padded_rows(k));
    std::array<int, kBorderWidth> slots{};
    for (int d = 0; d < k; ++d) slots[at(d)] = find(removed[at(d)]);
    std::fill_n(small_.begin(), small_stride * at(k), 0.0);
    for (int d = 0; d < k; ++d) {
        std::copy_n(column(X_, slots[at(d)]), padded, column(P_, d));
        for (int e = 0; e < k; ++e)
            small_[at(e) * small_stride + at(d)] =
                static_cast<double>(column(X_, slots[at(e)])[slots[at(d)]]);
    }
    if (!invert_in_place(small_.data(), small_stride, k, {factors_.data(), pivots_.data()}))
        return false;
    for (int j = 0; j < m; ++j)
        for (int d = 0; d < k; ++d) column(Q_, 0)[j * k + d] = column(X_, j)[slots[at(d)]];
    multiply_small(k, -1);
    add_low_rank({X_.data()->values, stride_, padded, m}, P_.data()->values, stride_,
                 D_.data()->values, small_stride, k);
    drop({slots.data(), at(k)});
    return true;
}

template <class Scalar>
InverseStatus BasicCapacitanceInverse<Scalar>::finish_update() noexcept {
    measure_condition();
    if (!(condition_ <= max_condition_)) {
        clear();
        return InverseStatus::IllConditioned;
    }
    ++num_updates_;
    return InverseStatus::Ok;
}

template <class Scalar>
InverseStatus BasicCapacitanceInverse<Scalar>::add(std::span<const ChangedDof> dofs) noexcept {
    return exchange(dofs, {});
}

template <class Scalar>
InverseStatus BasicCapacitanceInverse<Scalar>::remove(std::span<const ChangedDof> dofs) noexcept {
    if (!are_there(dofs)) return InverseStatus::BadList;
    for (std::size_t first = 0; first < dofs.size(); first += at(kBorderWidth))
        if (!cut(dofs.subspan(first, std::min(at(kBorderWidth), dofs.size() - first)))) {
            clear();
            return InverseStatus::IllConditioned;
        }
    return finish_update();
}

template <class Scalar>
InverseStatus BasicCapacitanceInverse<Scalar>::exchange(
    std::span<const ChangedDof> added, std::span<const ChangedDof> removed) noexcept {
    if (!are_new(added) || !are_there(removed)) return InverseStatus::BadList;
    if (added.size() + at(size_) > at(max_size_)) return InverseStatus::CapacityExceeded;
    while (!added.empty() || !removed.empty()) {
        const std::size_t num_added = std::min(at(kBorderWidth), added.size()),
                          num_removed = std::min(at(kBorderWidth), removed.size());
        if (!border(added.first(num_added), removed.first(num_removed))) {
            clear();
            return InverseStatus::IllConditioned;
        }
        added = added.subspan(num_added);
        removed = removed.subspan(num_removed);
    }
    return finish_update();
}

template <class Scalar>
double BasicCapacitanceInverse<Scalar>::probe(std::uint64_t seed) noexcept {
    if (size_ == 0) return 0;
    Scalar* const signs = column(P_, 0);
    Scalar* const g = column(P_, 1);
    Scalar* const product = column(border_columns_, 0);
    std::uint64_t bits = seed | 1;
    for (int a = 0; a < size_; ++a) {
        // xorshift: any signs do
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        signs[a] = bits >> 63 ? Scalar(1) : Scalar(-1);
    }
    apply({signs, at(size_)}, {g, at(size_)});
    std::fill_n(product, size_, Scalar(0));
    ColumnSum<Scalar> sum(product, at(size_));
    for (int j = 0; j < size_; ++j) sum.add(column(C_, j), g[j]);
    sum.finish();
    double squares = 0;
    for (int a = 0; a < size_; ++a) {
        const double difference = static_cast<double>(product[a]) - static_cast<double>(signs[a]);
        squares += difference * difference;
    }
    return std::sqrt(squares / size_);
}

template <class Scalar>
void BasicCapacitanceInverse<Scalar>::apply(std::span<const Scalar> r,
                                            std::span<Scalar> g) const noexcept {
    assert(r.size() == at(size_) && g.size() == at(size_));
    std::fill(g.begin(), g.end(), Scalar(0));
    ColumnSum<Scalar> sum(g.data(), g.size());
    for (int j = 0; j < size_; ++j) sum.add(column(X_, j), r[at(j)]);
    sum.finish();
}

template <class Scalar>
void BasicCapacitanceInverse<Scalar>::copy_from(const BasicCapacitanceInverse& other) noexcept {
    assert(other.size_ <= max_size_);
    size_ = other.size_;
    num_updates_ = other.num_updates_;
    condition_ = other.condition_;
    list_.assign(other.list_.begin(), other.list_.end());
    std::copy_n(other.dofs_.begin(), size_, dofs_.begin());
    const std::size_t padded = at(padded_rows(size_));
    for (int j = 0; j < size_; ++j) {
        std::copy_n(other.column(other.X_, j), padded, column(X_, j));
        std::copy_n(other.column(other.C_, j), padded, column(C_, j));
    }
}

template class BasicCapacitanceInverse<float>;
template class BasicCapacitanceInverse<double>;

}  // namespace pliant
