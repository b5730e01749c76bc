#include <stdlib.h>

#include <array>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "benchmarks/bench.h"
#include "pliant/core/archive.h"
#include "pliant/core/parallel.h"
#include "pliant/core/simd.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/core/triple_buffer.h"

namespace pliant::bench {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

template <class T>
Workload simd_sum_workload() {
    const auto values = std::make_shared<std::vector<T>>(64 * kMegabyte / sizeof(T));
    for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] = static_cast<T>(i % 17);
    Workload workload;
    workload.run = [values] { return simd_sum(values->data(), values->size()); };
    workload.run_reference = [values] {
        T sum = 0;
        for (const T value : *values) sum += value;
        return sum;
    };
    return workload;
}

/// An archive of eight chunks in a directory of its own, removed with the last copy.
struct ArchiveOnDisk {
    std::filesystem::path directory, file;

    explicit ArchiveOnDisk(std::size_t num_bytes) {
        std::string name = (std::filesystem::temp_directory_path() / "pliant-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
        directory = name;
        file = directory / "bench.pliant";
        std::vector<double> values(num_bytes / 8 / sizeof(double));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
        ArchiveWriter writer("benchmark");
        for (int i = 0; i < 8; ++i) writer.add<double>("values/" + std::to_string(i), values);
        writer.set_provenance("command", "pliant bench core");
        writer.save(file);
    }
    ~ArchiveOnDisk() {
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }
    ArchiveOnDisk(const ArchiveOnDisk&) = delete;
    ArchiveOnDisk& operator=(const ArchiveOnDisk&) = delete;
};

Workload archive_open_workload() {
    const auto disk = std::make_shared<ArchiveOnDisk>(8 * kMegabyte);
    Workload workload;
    workload.operations = 20;
    workload.run = [disk] {
        double sum = 0;
        for (int i = 0; i < 20; ++i) sum += Archive(disk->file).get<double>("values/7")[i];
        return sum;
    };
    return workload;
}

Workload archive_verify_workload() {
    const auto disk = std::make_shared<ArchiveOnDisk>(8 * kMegabyte);
    const auto archive = std::make_shared<Archive>(disk->file);
    Workload workload;
    workload.run = [disk, archive] {
        archive->verify();
        return static_cast<double>(archive->file_size());
    };
    // FNV-1a, the usual checksum of one byte at a time
    workload.run_reference = [archive] {
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (int i = 0; i < 8; ++i) {
            const auto values = archive->get<double>("values/" + std::to_string(i));
            const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
            for (std::size_t k = 0; k < values.size_bytes(); ++k)
                hash = (hash ^ bytes[k]) * 0x100000001b3u;
        }
        return static_cast<double>(hash);
    };
    return workload;
}

Workload tick_histogram_workload() {
    auto durations = std::vector<double>(10000);
    std::mt19937 random(1);
    std::lognormal_distribution<double> distribution(5.0, 1.0);
    for (double& duration : durations) duration = distribution(random);
    const auto histogram = std::make_shared<TickHistogram>(1000.0);
    Workload workload;
    workload.operations = static_cast<double>(durations.size());
    workload.run = [durations, histogram] {
        histogram->reset();
        for (const double duration : durations) histogram->record(duration);
        return histogram->percentile_us(0.99);
    };
    return workload;
}

Workload triple_buffer_workload() {
    using Poses = std::array<double, 64>;
    const auto buffer = std::make_shared<TripleBuffer<Poses>>();
    Workload workload;
    workload.operations = 10000;
    workload.run = [buffer] {
        double sum = 0;
        for (int i = 0; i < 10000; ++i) {
            buffer->write_slot()[static_cast<std::size_t>(i) % 64] = i;
            buffer->publish();
            buffer->update();
            sum += buffer->read_slot()[7];
        }
        return sum;
    };
    return workload;
}

/// Time per task of a loop whose tasks do next to nothing.
Workload parallel_for_workload() {
    const auto marks = std::make_shared<std::vector<int>>(1000);
    Workload workload;
    workload.operations = static_cast<double>(marks->size());
    workload.run = [marks] {
        parallel_for(marks->size(), 1, [&](std::size_t i) { (*marks)[i] = static_cast<int>(i); });
        return static_cast<double>(marks->back());
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> core_benchmarks() {
    return {
        {.module = "core",
         .name = "simd_sum/f32/64MB",
         .setup = simd_sum_workload<float>,
         .reference = "plain loop",
         .min_ratio = 2,
         .samples = 20},
        {.module = "core",
         .name = "simd_sum/f64/64MB",
         .setup = simd_sum_workload<double>,
         .reference = "plain loop",
         .samples = 20},
        {.module = "core",
         .name = "archive_open/8_chunks",
         .setup = archive_open_workload,
         .max_us = 100},
        {.module = "core",
         .name = "archive_verify/8MB",
         .setup = archive_verify_workload,
         .reference = "FNV-1a byte by byte",
         .min_ratio = 5,
         .samples = 40},
        {.module = "core",
         .name = "tick_histogram_record",
         .setup = tick_histogram_workload,
         .max_us = 0.02},
        {.module = "core",
         .name = "triple_buffer_publish/512B",
         .setup = triple_buffer_workload,
         .max_us = 0.1},
        {.module = "core",
         .name = "parallel_for/1000_tasks",
         .setup = parallel_for_workload,
         .max_us = 0.1,
         .wall_time = true},
    };
}

}  // namespace pliant::bench
