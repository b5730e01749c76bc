#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "core/numbers.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/greens/measured_greens.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr std::string_view kMeasurementHead = "pliant measurement";
constexpr int kMeasurementVersion = 1;
constexpr std::size_t kLargestMeasurement = std::size_t{4} << 30;  // [bytes]
constexpr int kMostMeasuredVertices = 10'000'000;

std::string_view trimmed_field(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    return text;
}

/// One line after the other.
class MeasurementReader {
public:
    MeasurementReader(const std::string& text, const std::string& name)
        : rest_(text), name_(name) {}

    GreensMeasurement read() {
        if (!next() || fields_[0] != kMeasurementHead ||
            integer(1, 1, kMeasurementVersion, "version") != kMeasurementVersion)
            fail("a measurement begins with the line \"pliant measurement,1\"");
        GreensMeasurement measurement;
        std::vector<int> last_probe;  // in which a vertex was seen
        while (next()) {
            if (fields_[0] == "vertices") {
                expect(2, "vertices,COUNT");
                measurement.num_vertices = integer(1, 1, kMostMeasuredVertices, "vertices");
                last_probe.assign(at(measurement.num_vertices), -1);
            } else if (fields_[0] == "noise") {
                expect(2, "noise,METRES");
                measurement.noise = number(1);
                if (!(measurement.noise >= 0)) fail("noise must not be negative");
            } else if (measurement.num_vertices == 0) {
                fail("the line vertices,COUNT comes before probes");
            } else if (fields_[0] == "probe") {
                expect(5, "probe,VERTEX,FX,FY,FZ");
                GreensProbe& probe = measurement.probes.emplace_back();
                probe.vertex = vertex(1, measurement.num_vertices);
                probe.force = {number(2), number(3), number(4)};
            } else {
                expect(4, "VERTEX,UX,UY,UZ");
                if (measurement.probes.empty()) fail("displacements come after their probe");
                GreensProbe& probe = measurement.probes.back();
                const int v = vertex(0, measurement.num_vertices);
                const auto number_of_probe = static_cast<int>(measurement.probes.size());
                if (last_probe[at(v)] == number_of_probe)
                    fail("vertex " + std::to_string(v) + " is twice in one probe");
                last_probe[at(v)] = number_of_probe;
                probe.seen.push_back(v);
                probe.displacements.emplace_back(number(1), number(2), number(3));
            }
        }
        return measurement;
    }

private:
    [[noreturn]] void fail(const std::string& sentence) const {
        throw InputError(name_, "line " + std::to_string(line_) + ": " + sentence);
    }
    /// The next line that is neither empty nor a remark.
    bool next() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            std::string_view line = trimmed_field(rest_.substr(0, end));
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            ++line_;
            if (line.empty() || line.front() == '#') continue;
            fields_.clear();
            for (;;) {
                const std::size_t comma = line.find(',');
                fields_.push_back(trimmed_field(line.substr(0, comma)));
                if (comma == std::string_view::npos) return true;
                line.remove_prefix(comma + 1);
            }
        }
        return false;
    }
    void expect(std::size_t count, const char* form) const {
        if (fields_.size() != count)
            fail("has " + std::to_string(fields_.size()) + " fields (expected " + form + ")");
    }
    [[nodiscard]] int integer(std::size_t i, int least, int most, const char* what) const {
        int value = 0;
        if (i >= fields_.size()) fail(std::string(what) + " is missing");
        const char* const end = fields_[i].data() + fields_[i].size();
        const auto [stop, error] = std::from_chars(fields_[i].data(), end, value);
        if (error != std::errc() || stop != end || value < least || value > most)
            fail(std::string(what) + " = " + std::string(fields_[i].substr(0, 40)) + " (expected " +
                 std::to_string(least) + " to " + std::to_string(most) + ")");
        return value;
    }
    [[nodiscard]] int vertex(std::size_t i, int count) const {
        return integer(i, 0, count - 1, "vertex");
    }
    [[nodiscard]] double number(std::size_t i) const {
        double value = 0;
        const char* const end = fields_[i].data() + fields_[i].size();
        const auto [stop, error] = std::from_chars(fields_[i].data(), end, value);
        if (error != std::errc() || stop != end || !std::isfinite(value))
            fail(std::string(fields_[i].substr(0, 40)) + " is not a finite number");
        return value;
    }

    std::string_view rest_;
    std::string name_;
    int line_ = 0;
    std::vector<std::string_view> fields_;
};

}  // namespace

GreensMeasurement parse_measurement(const std::string& text, const std::string& name) {
    return MeasurementReader(text, name).read();
}

GreensMeasurement load_measurement(const std::filesystem::path& path) {
    return parse_measurement(read_file(path, kLargestMeasurement), path.string());
}

void save_measurement(const GreensMeasurement& measurement, const std::filesystem::path& path) {
    AtomicFile file(path);
    char line[160];
    const auto write = [&](const char* format, const auto&... values) {
        const int size = std::snprintf(line, sizeof line, format, values...);
        file.write(std::string_view(line, at(size)));
    };
    write("pliant measurement,%d\nvertices,%d\nnoise,%.17g\n", kMeasurementVersion,
          measurement.num_vertices, measurement.noise);
    for (const GreensProbe& probe : measurement.probes) {
        write("probe,%d,%.17g,%.17g,%.17g\n", probe.vertex, probe.force.x(), probe.force.y(),
              probe.force.z());
        for (std::size_t i = 0; i < probe.seen.size(); ++i) {
            const Vector3d& u = probe.displacements[i];
            write("%d,%.17g,%.17g,%.17g\n", probe.seen[i], u.x(), u.y(), u.z());
        }
    }
    file.commit();
}

}  // namespace pliant
