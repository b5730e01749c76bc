#include "contact/contact_modes.h"

#include "contact/row_kernels.h"
#include "core/dense_algebra.h"

#include <algorithm>

namespace pliant {

using Eigen::VectorXd;

namespace {

/// Writes U V, U by columns that are `stride` numbers apart; what is beyond r is zero already.
template <class Number>
void put_row(const Number* U, int stride, const ContactModes& modes, float* out) {
    const auto r = static_cast<int>(modes.V.rows());
    Eigen::Matrix<double, 3, Eigen::Dynamic> columns(3, r);
    for (int j = 0; j < r; ++j)
        for (int k = 0; k < 3; ++k) columns(k, j) = U[j * stride + k];
    const Eigen::Matrix<float, 3, Eigen::Dynamic> turned = (columns * modes.V).cast<float>();
    for (int k = 0; k < 3; ++k, out += padded_row(r))
        for (int j = 0; j < r; ++j) out[j] = turned(k, j);
}

}  // namespace

ContactModes::ContactModes(const ReducedModel& model) {
    const int r = model.rank();
    const auto force = model.make_force();
    const auto ws = force->make_workspace();
    VectorXd R = VectorXd::Zero(r);
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(r, r);
    force->force_and_stiffness(VectorXd::Zero(r), R, K, *ws);
    const Eigen::MatrixXd M = model.mass();
    SymmetricEigen eigen = symmetric_eigen(K, M);
    V = std::move(eigen.vectors);
    to_modes = V.transpose() * M;
    lambda = eigen.values.cwiseMax(0.0);
}

std::shared_ptr<const ContactModes> ModesLibrary::modes_of(const ReducedModel& model) {
    // bodies of one model share it
    const auto known = std::ranges::find(modes_, &model, &Entry<ContactModes>::key);
    if (known != modes_.end()) return known->value;
    modes_.push_back({&model, std::make_shared<ContactModes>(model)});
    return modes_.back().value;
}

std::shared_ptr<const ModalTable> ModesLibrary::table_of(const PointTree& tree,
                                                         const ContactModes& modes) {
    const auto known = std::ranges::find(tables_, tree.row(0), &Entry<ModalTable>::key);
    if (known != tables_.end()) return known->value;
    const auto width = static_cast<std::size_t>(3 * padded_row(tree.rank()));
    auto table = std::make_shared<ModalTable>(width * static_cast<std::size_t>(tree.num_points()));
    // the last level has all points
    for (int node = tree.level_start(tree.num_levels() - 1); node < tree.num_nodes(); ++node) {
        const auto point =
            static_cast<std::size_t>(tree.nodes()[static_cast<std::size_t>(node)].point);
        put_row(tree.row(node), 4, modes, table->data() + width * point);
    }
    tables_.push_back({tree.row(0), std::move(table)});
    return tables_.back().value;
}

std::shared_ptr<const ModalTable> ModesLibrary::table_of(const DeformedField& field,
                                                         int num_proxies,
                                                         const ContactModes& modes) {
    const auto known = std::ranges::find(tables_, field.proxy_modes(0), &Entry<ModalTable>::key);
    if (known != tables_.end()) return known->value;
    const auto width = static_cast<std::size_t>(3 * padded_row(field.rank()));
    auto table = std::make_shared<ModalTable>(width * static_cast<std::size_t>(num_proxies));
    for (int i = 0; i < num_proxies; ++i)
        put_row(field.proxy_modes(i), 3, modes,
                table->data() + width * static_cast<std::size_t>(i));
    tables_.push_back({field.proxy_modes(0), std::move(table)});
    return tables_.back().value;
}

}  // namespace pliant
