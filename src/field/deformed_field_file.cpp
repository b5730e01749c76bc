#include "field/deformed_field_data.h"
#include "pliant/core/error.h"
#include "pliant/core/version.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr const char* kDeformedFieldKind = "deformed-field";

std::string chunk(std::size_t domain, const char* part) {
    return "domain/" + std::to_string(domain) + "/" + part;
}

/// Numbers of a chunk that has so many.
template <class T>
std::span<const T> numbers(const Archive& archive, const std::string& name,
                           const std::string& field, std::size_t count) {
    const std::span<const T> values = archive.get<T>(field);
    if (values.size() != count)
        throw InputError(name, field + ", length", std::to_string(values.size()),
                         std::to_string(count));
    return values;
}

}  // namespace

void DeformedFieldModel::save(const std::filesystem::path& path,
                              const Provenance& provenance) const {
    const Data& data = *data_;
    ArchiveWriter writer(kDeformedFieldKind);
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.set_provenance("version", kVersion);

    // what follows must live until the file is written
    const std::array<std::uint64_t, 1> hash{data.surface_hash};
    const std::array<int, 6> sizes{data.rank,
                                   num_domains(),
                                   data.options.num_proxies,
                                   data.options.num_neighbours,
                                   data.options.num_domains,
                                   data.options.pushes_forward ? 1 : 0};
    writer.add<std::uint64_t>("model/surface_hash", hash);
    writer.add<int>("model/sizes", sizes);
    std::vector<double> rest, motion, served;
    for (std::size_t i = 0; i < data.rest.size(); ++i) {
        rest.insert(rest.end(), data.rest[i].data(), data.rest[i].data() + 3);
        motion.insert(motion.end(), data.motion[i].data(),
                      data.motion[i].data() + data.motion[i].size());
        served.insert(served.end(), data.served[i].min().data(), data.served[i].min().data() + 3);
        served.insert(served.end(), data.served[i].max().data(), data.served[i].max().data() + 3);
    }
    const auto m = static_cast<std::uint64_t>(data.num_proxies());
    const auto r = static_cast<std::uint64_t>(data.rank);
    writer.add<double>("proxies/rest", rest, {m, 3});
    writer.add<double>("proxies/motion", motion, {m, r, 12});
    writer.add<double>("proxies/served", served, {m, 6});
    writer.add<double>("model/travel", {data.travel.data(), static_cast<std::size_t>(r)});

    std::vector<std::array<int, 5>> counts(data.domains.size());
    std::vector<std::array<double, 4>> frames(data.domains.size());
    std::vector<std::array<float, 4>> margins(data.domains.size());
    for (std::size_t d = 0; d < data.domains.size(); ++d) {
        const GridArrays& grid = data.domains[d].rest.arrays();
        const GridFrame& frame = grid.frame;
        counts[d] = {data.domains[d].num_proxies, grid.storage == GridStorage::Sparse ? 1 : 0,
                     frame.cells[0], frame.cells[1], frame.cells[2]};
        frames[d] = {frame.low.x(), frame.low.y(), frame.low.z(), frame.cell};
        margins[d] = {grid.boundary, grid.margin.near, grid.margin.far, grid.margin.band};
        writer.add<int>(chunk(d, "sizes"), counts[d]);
        writer.add<double>(chunk(d, "frame"), frames[d]);
        writer.add<float>(chunk(d, "margin"), margins[d]);
        writer.add<float>(chunk(d, "coarse"), grid.coarse);
        writer.add<int>(chunk(d, "brick_of_block"), grid.brick_of_block);
        writer.add<float>(chunk(d, "bricks"), grid.bricks);
    }
    writer.save(path);
}

DeformedFieldModel DeformedFieldModel::load(const std::filesystem::path& path,
                                            const ReducedModel& model) {
    const Archive archive = Archive::verified(path);
    const std::string name = path.string();
    archive.require_kind(kDeformedFieldKind);
    const auto data = std::make_shared<Data>();
    data->surface_hash = numbers<std::uint64_t>(archive, name, "model/surface_hash", 1)[0];
    if (data->surface_hash != content_hash(model.surface()))
        throw InputError(name,
                         "the field belongs to another surface than the reduced model; build it "
                         "again for this model");
    const auto sizes = numbers<int>(archive, name, "model/sizes", 6);
    data->rank = sizes[0];
    if (data->rank != model.rank())
        throw InputError(name, "rank", std::to_string(data->rank),
                         std::to_string(model.rank()) + ", that of the reduced model");
    data->options = {sizes[2], sizes[3], sizes[4], sizes[5] != 0};
    data->check_options(name);
    if (sizes[1] < 1 || sizes[1] > 64)
        throw InputError(name, "domains", std::to_string(sizes[1]), "1 … 64");

    const auto num_domains = static_cast<std::size_t>(sizes[1]);
    std::size_t m = 0;
    for (std::size_t d = 0; d < num_domains; ++d) {
        const auto counts = numbers<int>(archive, name, chunk(d, "sizes"), 5);
        const auto frame = numbers<double>(archive, name, chunk(d, "frame"), 4);
        const auto margin = numbers<float>(archive, name, chunk(d, "margin"), 4);
        if (counts[0] < 1 || counts[0] > 1000000)
            throw InputError(name, chunk(d, "sizes"), std::to_string(counts[0]),
                             "1 … 1000000 proxies");
        GridArrays grid;
        grid.frame.low = Vector3d(frame[0], frame[1], frame[2]);
        grid.frame.cell = frame[3];
        grid.frame.cells = {counts[2], counts[3], counts[4]};
        grid.storage = counts[1] != 0 ? GridStorage::Sparse : GridStorage::Dense;
        grid.boundary = margin[0];
        grid.margin = {margin[1], margin[2], margin[3]};
        grid.coarse = archive.get<float>(chunk(d, "coarse"));
        grid.brick_of_block = archive.get<int>(chunk(d, "brick_of_block"));
        grid.bricks = archive.get<float>(chunk(d, "bricks"));
        try {
            data->domains.push_back({DistanceGrid(grid, std::make_shared<const Archive>(archive)),
                                     static_cast<int>(m), counts[0]});
        } catch (const InputError& error) {
            throw InputError(name, error.what());
        }
        m += static_cast<std::size_t>(counts[0]);
    }

    const auto r = static_cast<std::size_t>(data->rank);
    const auto rest = numbers<double>(archive, name, "proxies/rest", 3 * m);
    const auto motion = numbers<double>(archive, name, "proxies/motion", 12 * r * m);
    const auto served = numbers<double>(archive, name, "proxies/served", 6 * m);
    const auto travel = numbers<double>(archive, name, "model/travel", r);
    for (std::size_t i = 0; i < m; ++i) {
        data->rest.emplace_back(Eigen::Map<const Vector3d>(rest.data() + 3 * i));
        data->motion.emplace_back(
            Eigen::Map<const Data::Motion>(motion.data() + 12 * r * i, 12, data->rank));
        data->served.emplace_back(Eigen::Map<const Vector3d>(served.data() + 6 * i),
                                  Eigen::Map<const Vector3d>(served.data() + 6 * i + 3));
    }
    data->travel = Eigen::Map<const Eigen::VectorXd>(travel.data(), data->rank);
    const bool is_finite =
        data->travel.allFinite() &&
        std::all_of(served.begin(), served.end(), [](double x) { return std::isfinite(x); });
    if (!is_finite)
        throw InputError(name, "proxies/served or model/travel", "not finite", "finite lengths");
    data->check(name);
    data->complete();
    DeformedFieldModel loaded;
    loaded.data_ = data;
    return loaded;
}

}  // namespace pliant
