#pragma once

#include "pliant/contact/point_tree.h"
#include "pliant/field/deformed_field.h"
#include "reduction/aligned_array.h"

#include <memory>
#include <vector>

namespace pliant {

/// Coordinates y = VᵀM q of a reduced model in which its mass is the identity and the stiffness of
/// the rest shape diagonal.
struct ContactModes {
    explicit ContactModes(const ReducedModel& model);
    Eigen::MatrixXd V;         ///< M-orthonormal, q = V y
    Eigen::MatrixXd to_modes;  ///< VᵀM
    Eigen::VectorXd lambda;    ///< ≥ 0 [1/s²]
};

/// U_s V of many points: rows x, y, z of each, of padded_row(r) numbers. Only velocities and
/// answers to impulses are made of them.
using ModalTable = AlignedArray<float>;

/// Modes and tables that copies of one body share.
class ModesLibrary {
public:
    [[nodiscard]] std::shared_ptr<const ContactModes> modes_of(const ReducedModel& model);
    /// By point of the shell.
    [[nodiscard]] std::shared_ptr<const ModalTable> table_of(const PointTree& tree,
                                                             const ContactModes& modes);
    /// By proxy.
    [[nodiscard]] std::shared_ptr<const ModalTable> table_of(const DeformedField& field,
                                                             int num_proxies,
                                                             const ContactModes& modes);

private:
    template <class Value>
    struct Entry {
        const void* key;  ///< data that copies have in common
        std::shared_ptr<const Value> value;
    };
    std::vector<Entry<ContactModes>> modes_;
    std::vector<Entry<ModalTable>> tables_;
};

}  // namespace pliant
