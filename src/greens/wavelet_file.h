#pragma once

#include "pliant/core/archive.h"
#include "pliant/greens/greens_model.h"
#include "pliant/greens/wavelet_greens.h"

#include <string>
#include <vector>

namespace pliant {

/// Chunks of compressed Green's functions, docs/greens-wavelets.md section "Files". Must live until
/// the writer has saved.
class WaveletChunks {
public:
    explicit WaveletChunks(const WaveletGreensFunctions& functions);
    void add_to(ArchiveWriter& writer) const;

private:
    WaveletColumns columns_;
    int bits_;
    std::vector<double> numbers_;
    std::vector<int> options_;
    std::vector<std::int64_t> counts_;
    std::vector<std::uint8_t> nodes_;
    std::vector<std::uint16_t> integers_;
};

[[nodiscard]] bool has_wavelet_chunks(const Archive& archive);
/// For a model whose surface and nodes have been read. Throws InputError for contents that make no
/// sense.
[[nodiscard]] std::shared_ptr<const WaveletGreensFunctions> read_wavelet_chunks(
    const Archive& archive, const GreensModel& model, GreensLayout layout);

}  // namespace pliant
