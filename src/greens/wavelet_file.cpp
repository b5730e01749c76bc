#include "greens/wavelet_file.h"

#include "core/numbers.h"
#include "pliant/core/error.h"

#include <string>
#include <utility>

namespace pliant {
namespace {

constexpr const char* kWaveletNumbers = "wavelet/numbers";  // tolerance, compression, errors
constexpr const char* kWaveletOptions = "wavelet/options";  // kind, base, bits
constexpr const char* kWaveletCounts = "wavelet/counts";    // blocks, of free rows and columns
constexpr const char* kWaveletLevels = "wavelet/level_ends";
constexpr const char* kWaveletNodes = "wavelet/nodes";        // steps, seven bits in each byte
constexpr const char* kWaveletBlocks = "wavelet/blocks";      // 32 bits
constexpr const char* kWaveletIntegers = "wavelet/integers";  // 16 bits, two's complement
constexpr const char* kWaveletUnits = "wavelet/units";
constexpr const char* kWaveletReadouts = "wavelet/readouts";

[[noreturn]] void fail_chunk(const std::string& field, const std::string& value,
                             const std::string& expected) {
    throw InputError("", field, value, expected);
}

/// Steps between nodes, less one: small numbers, mostly of one byte.
std::vector<std::uint8_t> coded_steps(const WaveletColumns& columns, std::size_t levels) {
    std::vector<std::uint8_t> bytes;
    std::size_t k = 0;
    for (std::size_t end = levels - 1; end < columns.level_ends.size(); end += levels) {
        int previous = -1;
        for (const std::size_t last = k + columns.level_ends[end]; k < last; ++k) {
            auto step = static_cast<unsigned>(columns.nodes[k] - previous - 1);
            for (; step >= 128; step /= 128)
                bytes.push_back(static_cast<std::uint8_t>(128 | (step % 128)));
            bytes.push_back(static_cast<std::uint8_t>(step));
            previous = columns.nodes[k];
        }
    }
    return bytes;
}

std::vector<int> decoded_steps(std::span<const std::uint8_t> bytes,
                               std::span<const std::uint32_t> level_ends, std::size_t levels,
                               int num_nodes) {
    std::vector<int> nodes;
    std::size_t place = 0;
    for (std::size_t end = levels - 1; end < level_ends.size(); end += levels) {
        std::int64_t node = -1;
        for (std::uint32_t k = 0; k < level_ends[end]; ++k) {
            std::int64_t step = 0;
            // four bytes hold every step between nodes
            for (int shift = 0;; shift += 7) {
                if (place == bytes.size() || shift > 28)
                    fail_chunk(std::string(kWaveletNodes) + ", length",
                               std::to_string(bytes.size()), "as many numbers as there are blocks");
                const std::uint8_t byte = bytes[place++];
                step |= std::int64_t{byte & 127} << shift;
                if (byte < 128) break;
            }
            node += step + 1;
            if (node >= num_nodes)
                fail_chunk(kWaveletNodes, std::to_string(node),
                           "0 to " + std::to_string(num_nodes - 1));
            nodes.push_back(static_cast<int>(node));
        }
    }
    if (place != bytes.size())
        fail_chunk(std::string(kWaveletNodes) + ", length", std::to_string(bytes.size()),
                   std::to_string(place));
    return nodes;
}

template <class T>
std::span<const T> of_length(const Archive& archive, const char* chunk, std::size_t count) {
    const std::span<const T> values = archive.get<T>(chunk);
    if (values.size() != count)
        fail_chunk(std::string(chunk) + ", length", std::to_string(values.size()),
                   std::to_string(count));
    return values;
}

CompressionReport read_report(const Archive& archive) {
    CompressionReport report;
    const auto numbers = of_length<double>(archive, kWaveletNumbers, 5);
    for (const double value : numbers)
        if (!(value >= 0 && value < 1e30))
            fail_chunk(kWaveletNumbers, std::to_string(value), "numbers that are not negative");
    const auto options = of_length<int>(archive, kWaveletOptions, 3);
    if (options[0] < 0 || options[0] > 3)
        fail_chunk(std::string(kWaveletOptions) + "[0]", std::to_string(options[0]), "0 to 3");
    report.options = {static_cast<WaveletKind>(options[0]), numbers[0], options[1] != 0,
                      options[2]};
    check_options(report.options);
    report.compression = numbers[1];
    report.rms = numbers[2];
    report.max = numbers[3];
    report.quantisation = numbers[4];
    const auto counts = of_length<std::int64_t>(archive, kWaveletCounts, 2);
    if (counts[0] < 0 || counts[1] < 0 || counts[1] > counts[0])
        fail_chunk(kWaveletCounts, std::to_string(counts[0]) + ", " + std::to_string(counts[1]),
                   "all blocks, then those of free rows and columns");
    report.num_blocks = counts[0];
    report.num_free_blocks = counts[1];
    return report;
}

}  // namespace

WaveletChunks::WaveletChunks(const WaveletGreensFunctions& functions)
    : columns_(functions.columns()), bits_(functions.report().options.bits) {
    const CompressionReport& report = functions.report();
    const std::size_t levels = at(functions.transform().num_levels() + 1);
    numbers_ = {report.options.tolerance, report.compression, report.rms, report.max,
                report.quantisation};
    options_ = {static_cast<int>(report.options.kind), report.options.thresholds_base ? 1 : 0,
                report.options.bits};
    counts_ = {report.num_blocks, report.num_free_blocks};
    nodes_ = coded_steps(columns_, levels);
    integers_.resize(columns_.integers.size());
    for (std::size_t k = 0; k < integers_.size(); ++k)
        integers_[k] = static_cast<std::uint16_t>(columns_.integers[k]);
}

void WaveletChunks::add_to(ArchiveWriter& writer) const {
    writer.add<double>(kWaveletNumbers, numbers_);
    writer.add<int>(kWaveletOptions, options_);
    writer.add<std::int64_t>(kWaveletCounts, counts_);
    writer.add<std::uint32_t>(kWaveletLevels, columns_.level_ends);
    writer.add<std::uint8_t>(kWaveletNodes, nodes_);
    if (bits_ == 32) {
        writer.add<float>(kWaveletBlocks, columns_.blocks);
    } else {
        writer.add<std::uint16_t>(kWaveletIntegers, integers_);
        writer.add<float>(kWaveletUnits, columns_.units);
    }
    writer.add<float>(kWaveletReadouts, columns_.readouts);
}

bool has_wavelet_chunks(const Archive& archive) { return archive.has(kWaveletOptions); }

std::shared_ptr<const WaveletGreensFunctions> read_wavelet_chunks(const Archive& archive,
                                                                  const GreensModel& model,
                                                                  GreensLayout layout) {
    const CompressionReport report = read_report(archive);
    if (model.surface.mesh.num_vertices() != layout.num_nodes)
        fail_chunk("number of nodes", std::to_string(layout.num_nodes),
                   std::to_string(model.surface.mesh.num_vertices()) +
                       ", the vertices of the surface, for wavelets");
    const std::size_t levels = at(model.surface.num_levels() + 1), block = at(layout.block),
                      size = block * block,
                      groups =
                          layout.columns.size() + (at(layout.num_body_columns) + block - 1) / block;
    WaveletColumns columns;
    const auto ends = of_length<std::uint32_t>(archive, kWaveletLevels, groups * levels);
    for (std::size_t k = 0; k < ends.size(); ++k)
        if (ends[k] > at(layout.num_nodes) || (k % levels != 0 && ends[k] < ends[k - 1]))
            fail_chunk(std::string(kWaveletLevels) + "[" + std::to_string(k) + "]",
                       std::to_string(ends[k]), "ascending, no more than there are nodes");
    columns.level_ends.assign(ends.begin(), ends.end());
    columns.nodes =
        decoded_steps(archive.get<std::uint8_t>(kWaveletNodes), ends, levels, layout.num_nodes);
    const std::size_t count = columns.nodes.size() * size;
    if (report.options.bits == 16) {
        const auto integers = of_length<std::uint16_t>(archive, kWaveletIntegers, count);
        const auto units = of_length<float>(archive, kWaveletUnits, 2 * groups * levels);
        for (const float unit : units)
            if (!(unit >= 0 && unit < 1e30f))
                fail_chunk(kWaveletUnits, std::to_string(unit), "numbers that are not negative");
        columns.units.assign(units.begin(), units.end());
        for (const std::uint16_t value : integers)
            columns.integers.push_back(static_cast<std::int16_t>(value));
    } else {
        const auto blocks = of_length<float>(archive, kWaveletBlocks, count);
        columns.blocks.assign(blocks.begin(), blocks.end());
    }
    const auto readouts = archive.get<float>(kWaveletReadouts);
    columns.readouts.assign(readouts.begin(), readouts.end());
    return std::make_shared<const WaveletGreensFunctions>(model.surface, model.reference.kinds,
                                                          model.reference.areas, std::move(layout),
                                                          std::move(columns), report);
}

}  // namespace pliant
