#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/wavelet_rabbit.h"
#include "benchmarks/wavelets_bench.h"
#include "core/numbers.h"
#include "pliant/greens/wavelet_greens.h"

namespace pliant::bench {
namespace {

/// Nodes of sums, drawn anew for each one or always the same.
struct DrawnColumns {
    DrawnColumns(const std::vector<NodeKind>& kinds, int num_lists)
        : weights(300, 0.5f), lists(at(num_lists)) {
        std::vector<int> nodes;
        for (std::size_t v = 0; v < kinds.size(); ++v)
            if (kinds[v] == NodeKind::Free) nodes.push_back(static_cast<int>(v));
        std::mt19937 random(1);
        for (auto& list : lists)
            for (int k = 0; k < 100; ++k) list.push_back(nodes[random() % nodes.size()]);
    }
    const std::vector<int>& next(std::size_t& turn) const { return lists[turn++ % lists.size()]; }
    std::vector<float> weights;
    std::vector<std::vector<int>> lists;
};

/// Dense columns of the free vertices without rows of the support: what wavelets sum.
const DenseGreensFunctions& dense_free_rows() {
    static const std::unique_ptr<const DenseGreensFunctions> made = [] {
        const ReferenceProblem& rabbit = wavelet_rabbit().dense.reference;
        std::vector<int> nodes;
        for (std::size_t v = 0; v < rabbit.kinds.size(); ++v)
            if (rabbit.kinds[v] == NodeKind::Free) nodes.push_back(static_cast<int>(v));
        DenseGreensLayout layout;
        layout.num_nodes = static_cast<int>(nodes.size());
        for (int k = 0; k < layout.num_nodes; ++k) layout.columns.push_back(k);
        auto rows = std::make_unique<DenseGreensFunctions>(layout);
        Eigen::MatrixXd values(3 * layout.num_nodes, 3);
        Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
        for (int k = 0; k < layout.num_nodes; ++k) {
            for (int i = 0; i < layout.num_nodes; ++i) {
                rabbit.functions->element(nodes[at(i)], nodes[at(k)], block.data());
                values.middleRows<3>(3 * i) = block.cast<double>();
            }
            rows->set_column(k, values);
        }
        return rows;
    }();
    return *made;
}

/// Displacements of 100 loads: a sum of columns and the inverse transform, against dense columns:
/// all their rows, as they are stored, or the free ones alone.
Workload fast_summation(bool is_cold, int bits, bool is_of_free_rows = false) {
    const WaveletRabbit& rabbit = wavelet_rabbit();
    const GreensFunctions& dense =
        is_of_free_rows ? dense_free_rows() : *rabbit.dense.reference.functions;
    const GreensFunctions& wavelets = *rabbit.compressed(bits).functions;
    const int n = wavelets.num_nodes();
    struct Buffers {
        std::vector<float> sum, out;
        std::size_t turn = 0, dense_turn = 0;
    };
    auto drawn =
        std::make_shared<const DrawnColumns>(rabbit.dense.reference.kinds, is_cold ? 64 : 1);
    auto buffers = std::make_shared<Buffers>();
    buffers->sum.resize(wavelets.sum_size(n));
    buffers->out.resize(3 * at(dense.num_nodes()));
    // the same columns by their numbers there
    auto dense_drawn =
        is_of_free_rows
            ? std::make_shared<const DrawnColumns>(
                  std::vector<NodeKind>(at(dense.num_nodes()), NodeKind::Free), is_cold ? 64 : 1)
            : drawn;
    Workload load;
    load.run = [=, &wavelets] {
        std::fill(buffers->sum.begin(), buffers->sum.end(), 0.0f);
        wavelets.accumulate(drawn->next(buffers->turn), drawn->weights, {}, n, buffers->sum,
                            SummedRows::Displacements);
        const auto field = wavelets.field(buffers->sum, n, buffers->sum);
        return double{field.front()} + double{field.back()};
    };
    load.run_reference = [=, &dense] {
        std::fill(buffers->out.begin(), buffers->out.end(), 0.0f);
        dense.add_columns(dense_drawn->next(buffers->dense_turn), dense_drawn->weights,
                          buffers->out);
        return double{buffers->out.front()} + double{buffers->out.back()};
    };
    return load;
}

/// Over the free and the fixed vertices of the rabbit.
Workload transform_values(WaveletKind kind, int width, bool is_forward) {
    const GreensModel& rabbit = wavelet_rabbit().dense;
    auto transform = std::make_shared<const SurfaceTransform>(
        rabbit.surface, kind, rabbit.reference.areas, domain_labels(rabbit.reference.kinds));
    const std::size_t count = at(width) * rabbit.reference.areas.size();
    auto start = std::make_shared<std::vector<float>>();
    std::mt19937 random(2);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::size_t k = 0; k < count; ++k) start->push_back(uniform(random));
    auto values = std::make_shared<std::vector<float>>(*start);
    Workload load;
    load.run = [=] {
        std::copy(start->begin(), start->end(), values->begin());
        if (is_forward)
            transform->forward(values->data(), width);
        else
            transform->inverse(values->data(), width);
        return double{values->front()} + double{values->back()};
    };
    return load;
}

Workload extract_blocks(int bits) {
    const WaveletRabbit& rabbit = wavelet_rabbit();
    const GreensFunctions& wavelets = *rabbit.compressed(bits).functions;
    auto drawn = std::make_shared<const DrawnColumns>(rabbit.dense.reference.kinds, 2);
    Workload load;
    load.run = [=, &wavelets] {
        float block[9];
        double sum = 0;
        for (const int i : drawn->lists[0])
            for (std::size_t k = 0; k < 10; ++k) {
                wavelets.element(i, drawn->lists[1][k], block);
                sum += double{block[0]} + double{block[8]};
            }
        return sum;
    };
    load.operations = 1000;
    return load;
}

}  // namespace

std::vector<Benchmark> wavelets_transform_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](std::string name, auto setup, double max_us = 0, double min_ratio = 0) {
        Benchmark benchmark;
        benchmark.module = "wavelets";
        benchmark.name = std::move(name);
        benchmark.setup = setup;
        benchmark.max_us = max_us;
        benchmark.min_ratio = min_ratio;
        if (min_ratio > 0) benchmark.reference = "dense";
        all.push_back(benchmark);
    };
    for (const int bits : {16, 32}) {
        const std::string name = "/rabbit/n=2562/s=100/bits=" + std::to_string(bits);
        add(
            "sum_columns/cold" + name, [bits] { return fast_summation(true, bits); }, 0, 8);
        add(
            "sum_columns/warm" + name, [bits] { return fast_summation(false, bits); }, 0, 3);
        for (const bool is_cold : {true, false}) {
            add(std::string("sum_columns/") + (is_cold ? "cold" : "warm") + name + "/free_rows",
                [=] { return fast_summation(is_cold, bits, true); });
            all.back().reference = "dense";
        }
    }
    for (const WaveletKind kind : {WaveletKind::LiftedLinear, WaveletKind::LiftedButterfly}) {
        const std::string name(to_string(kind));
        const bool is_linear = kind == WaveletKind::LiftedLinear;
        // three values of each vertex in places of four, as sums of columns have them
        add(
            "inverse/" + name + "/n=2562/padded",
            [kind] { return transform_values(kind, 4, false); }, is_linear ? 10 : 0);
        add("inverse/" + name + "/n=2562/packed",
            [kind] { return transform_values(kind, 3, false); });
        add("forward/" + name + "/n=2562/blocks",
            [kind] { return transform_values(kind, 9, true); });
    }
    for (const int bits : {16, 32})
        add(
            "block/rabbit/levels=4/bits=" + std::to_string(bits),
            [bits] { return extract_blocks(bits); }, 0.4);
    return all;
}

}  // namespace pliant::bench
