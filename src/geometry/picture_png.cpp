#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/geometry/picture.h"

#include <zlib.h>

#include <cassert>
#include <cstdlib>

namespace pliant {
namespace {

void put_big_endian(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(value >> shift & 255));
}

void put_chunk(std::string& out, const std::string& type, const std::string& data) {
    put_big_endian(out, static_cast<std::uint32_t>(data.size()));
    const std::string body = type + data;
    out += body;
    put_big_endian(out,
                   static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                    static_cast<uInt>(body.size()))));
}

/// Prediction of the PNG filters: 1 left, 2 above, 3 their mean, 4 Paeth.
int predict(int filter, int left, int above, int corner) {
    switch (filter) {
        case 1: return left;
        case 2: return above;
        case 3: return (left + above) / 2;
        case 4: {
            const int p = left + above - corner;
            const int to_left = std::abs(p - left), to_above = std::abs(p - above),
                      to_corner = std::abs(p - corner);
            if (to_left <= to_above && to_left <= to_corner) return left;
            return to_above <= to_corner ? above : corner;
        }
        default: return 0;
    }
}

/// Each row with the filter that leaves the smallest residuals.
std::string filtered_rows(const Picture& picture) {
    const int stride = 3 * picture.width;
    std::string rows, best, trial;
    for (int y = 0; y < picture.height; ++y) {
        const auto at = [&](int row, int i) -> int {
            return row < 0 || i < 0 ? 0 : picture.rgb[static_cast<std::size_t>(row) * stride + i];
        };
        long best_cost = -1;
        for (int filter = 0; filter <= 4; ++filter) {
            trial.assign(1, static_cast<char>(filter));
            long cost = 0;
            for (int i = 0; i < stride; ++i) {
                const auto residual =
                    static_cast<std::int8_t>(at(y, i) - predict(filter, at(y, i - 3), at(y - 1, i),
                                                                i < 3 ? 0 : at(y - 1, i - 3)));
                trial.push_back(static_cast<char>(residual));
                cost += std::abs(static_cast<int>(residual));
            }
            if (best_cost < 0 || cost < best_cost) {
                best_cost = cost;
                best.swap(trial);
            }
        }
        rows += best;
    }
    return rows;
}

}  // namespace

void save_png(const Picture& picture, const std::filesystem::path& path) {
    assert(picture.rgb.size() == static_cast<std::size_t>(3) * picture.width * picture.height);
    std::string header;
    put_big_endian(header, static_cast<std::uint32_t>(picture.width));
    put_big_endian(header, static_cast<std::uint32_t>(picture.height));
    header +=
        std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB, deflate, filtered, not interlaced

    const std::string rows = filtered_rows(picture);
    uLongf size = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(size, '\0');
    const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                                 reinterpret_cast<const Bytef*>(rows.data()),
                                 static_cast<uLong>(rows.size()), Z_BEST_COMPRESSION);
    if (status != Z_OK) throw InputError(path.string(), "the picture could not be compressed");
    packed.resize(size);

    std::string out("\x89PNG\r\n\x1a\n", 8);
    put_chunk(out, "IHDR", header);
    put_chunk(out, "IDAT", packed);
    put_chunk(out, "IEND", "");
    AtomicFile file(path);
    file.write(out);
    file.commit();
}

}  // namespace pliant
