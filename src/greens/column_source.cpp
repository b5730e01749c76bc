#include "pliant/greens/column_source.h"

#include <cassert>

namespace pliant {

void GreensColumnSource::spread_columns(std::span<const SpreadKnown> spreads,
                                        Eigen::Ref<Eigen::MatrixXd> values) {
    Eigen::MatrixXd single;
    for (std::size_t k = 0; k < spreads.size(); ++k) {
        const auto& [nodes, weights] = spreads[k];
        assert(nodes.size() == weights.size());
        single.resize(num_rows(), block() * static_cast<Eigen::Index>(nodes.size()));
        columns(nodes, single);
        auto sum = values.middleCols(block() * static_cast<Eigen::Index>(k), block());
        sum.setZero();
        for (std::size_t i = 0; i < nodes.size(); ++i)
            sum += weights[i] * single.middleCols(block() * static_cast<Eigen::Index>(i), block());
    }
}

}  // namespace pliant
