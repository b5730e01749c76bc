#include "everyday/random_scene.h"

#include <array>
#include <cmath>
#include <random>
#include <sstream>

namespace pliant::test {
namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    double uniform(double low, double high) {
        // the distributions of the library differ between its makers
        return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
    }
    double logarithmic(double low, double high) {
        return std::exp(uniform(std::log(low), std::log(high)));
    }
    int below(int n) { return static_cast<int>(uniform(0, n)); }
    bool chance(double p) { return uniform(0, 1) < p; }
    template <class T, std::size_t n>
    const T& one_of(const std::array<T, n>& all) {
        return all[static_cast<std::size_t>(below(static_cast<int>(n)))];
    }

private:
    std::mt19937_64 engine_;
};

/// Stiffness and density as the presets have them, near enough to choose sizes by.
struct Preset {
    const char* name;
    double youngs_modulus;  // [Pa]
    double density;         // [kg/m³]
};
constexpr std::array<Preset, 10> kSoft{{{"brain", 2e3, 1050},
                                        {"fat", 3e3, 950},
                                        {"liver", 5e3, 1060},
                                        {"tissue", 1e4, 1000},
                                        {"gelatin", 2e4, 1000},
                                        {"muscle", 4e4, 1060},
                                        {"foam", 1e5, 60},
                                        {"sponge", 5e4, 50},
                                        {"silicone", 5e5, 1100},
                                        {"rubber", 1e6, 1100}}};
constexpr double kNoLimit = 1e9;
constexpr std::array<const char*, 8> kShapes{"kidney", "heart",   "creature", "nodule",
                                             "fish",   "bracket", "spoon",    "chair"};

/// A thing as large as it may be without being squashed by its own weight: a fifth in height.
double sensible_size(double size, const Preset& preset) {
    return std::min(size, 0.2 * preset.youngs_modulus / (9.81 * preset.density));
}

class Writer {
public:
    explicit Writer(std::uint64_t seed) : dice_(seed) {}

    RandomScene write() {
        const double scale = dice_.logarithmic(0.02, 1.2);
        const int count = 1 + dice_.below(6);
        while (static_cast<int>(scene_.bodies.size()) < count) column(scale, count);
        std::ostringstream text;
        text << "{\"pliant\": 1, \"bodies\": [\n"
             << R"(  {"name": "floor", "rigid": {"ground": {"size": 100}}})" << bodies_.str() << "],\n";
        text << "  \"contacts\": [{\"among\": [\"floor\"" << among_.str() << "]}]";
        if (dice_.chance(0.3)) {
            const RandomBody& pushed = scene_.bodies[static_cast<std::size_t>(
                dice_.below(static_cast<int>(scene_.bodies.size())))];
            text << ",\n  \"script\": [{\"time\": 1, \"poke\": {\"body\": \"" << pushed.name
                 << "\", \"at\": [" << x_of_.at(static_cast<std::size_t>(&pushed - scene_.bodies.data()))
                 << ", 0, " << top_of_.at(static_cast<std::size_t>(&pushed - scene_.bodies.data()))
                 << "]}}, {\"time\": 1.5, \"release\": {}}]";
        }
        text << "}\n";
        if (num_among_ == 0) {
            // nothing but the floor would be left of "among"
            std::string all = text.str();
            const std::string entry = "  \"contacts\": [{\"among\": [\"floor\"]}]";
            const std::size_t at = all.find(entry);
            all.replace(at, entry.size(), "  \"contacts\": []");
            scene_.text = all;
        } else {
            scene_.text = text.str();
        }
        return std::move(scene_);
    }

private:
    /// Things above each other that may meet.
    void column(double scale, int count) {
        double top = 0;
        bearable_ = kNoLimit;
        widest_ = kNoLimit;
        const int kind = dice_.below(5);
        const int high = 1 + dice_.below(3);
        for (int k = 0; k < high && static_cast<int>(scene_.bodies.size()) < count; ++k) {
            const double gap = dice_.logarithmic(0.01, 1.0) * scale;
            const double size = scale * dice_.uniform(0.5, 1.0);
            // full FEM meets rigid bodies, particles the ground only
            if (kind == 0 || (kind == 1 && k > 0)) top = rigid(size, top + gap);
            else if (kind == 1) top = fem(size, top + gap);
            else if (kind == 2) top = k == 0 ? reduced_free(size, top + gap) : rigid(size, top + gap);
            else if (kind == 3 && k == 0) top = reduced_held(size);
            else if (kind == 4 && k == 0) top = particles(size, gap);
        }
        x_ += 4 * scale;
    }

    double add(RandomBody body, const std::string& members, double size, double base, double lift) {
        body.name = body.kind + std::to_string(scene_.bodies.size());
        body.size = size;
        bodies_ << ",\n  {\"name\": \"" << body.name << "\", " << members
                << ", \"pose\": {\"position\": [" << x_ << ", 0, " << base + lift << "]";
        if (body.kind == "rigid" && dice_.chance(0.3))
            bodies_ << ", \"rotation\": {\"axis\": [1, 1, 0], \"degrees\": " << dice_.below(90) << "}";
        bodies_ << "}}";
        x_of_.push_back(x_);
        top_of_.push_back(base + 2 * lift);
        scene_.bodies.push_back(std::move(body));
        return base + 2 * lift;
    }
    /// What lies on a soft thing: no wider, and not so heavy that it is pressed by a twentieth.
    void carries(double size, const Preset& preset) {
        widest_ = size;
        bearable_ = 0.05 * preset.youngs_modulus * size * size / 4;
    }
    void meets_among(const std::string& name) {
        among_ << ", \"" << name << "\"";
        ++num_among_;
    }

    double rigid(double wish, double base) {
        // nobody puts an anvil on a jelly
        const double size = std::min(wish, widest_);
        const double density =
            std::min(dice_.logarithmic(20, 8000), bearable_ / (9.81 * size * size * size));
        std::ostringstream source;
        double lift = 0.87 * size;  // half the diagonal of the cube
        switch (dice_.below(3)) {
            case 0:
                source << R"("rigid": {"sphere": {"radius": )" << size / 2 << "}";
                lift = size / 2;
                break;
            case 1:
                source << R"("rigid": {"box": {"sizes": [)" << size << ", " << size << ", " << size
                       << "]}";
                break;
            default:
                source << R"("rigid": {"capsule": {"radius": )" << size / 4 << ", \"length\": "
                       << size / 2 << "}";
                lift = size / 2;
        }
        source << ", \"density\": " << density << R"(}, "contact": {"pointshell": {"points": 400, "levels": 2, "resolution": 32}})";
        const double top = add({.kind = "rigid"}, source.str(), 2 * lift, base, lift);
        meets_among(scene_.bodies.back().name);
        return top;
    }
    double fem(double wish, double base) {
        const Preset& preset = dice_.one_of(kSoft);
        const double size = sensible_size(wish, preset);
        std::ostringstream source;
        carries(size, preset);
        // boxes stand on their origin; of other shapes it is somewhere inside
        const bool is_box = dice_.chance(0.5);
        if (is_box)
            source << R"("fem": {"box": {"sizes": [)" << size << ", " << size << ", " << size / 2
                   << "], \"cells\": [6, 6, 3]}";
        else
            source << R"("fem": {"shape": ")" << dice_.one_of(kShapes) << "\", \"size\": " << size
                   << R"(, "mesh": {"resolution": 10})";
        source << R"(, "material": ")" << preset.name << "\"}";
        return add({.kind = "fem"}, source.str(), size, base, is_box ? 0 : size) +
               (is_box ? size : 0);
    }
    double reduced_free(double wish, double base) {
        const Preset& preset = dice_.one_of(kSoft);
        const double size = sensible_size(wish, preset);
        carries(size, preset);
        std::ostringstream source;
        source << R"("reduced": {"shape": ")" << dice_.one_of(kShapes) << "\", \"size\": " << size
               << R"(, "free": true, "mesh": {"resolution": 16}, "modes": 6, "rank": 12, "material": ")"
               << preset.name << R"("}, "contact": {"pointshell": {"points": 1000, "levels": 2, "resolution": 128}})";
        const double top = add({.kind = "reduced"}, source.str(), size, base, size);
        meets_among(scene_.bodies.back().name);
        return top;
    }
    double reduced_held(double wish) {
        const Preset& preset = dice_.one_of(kSoft);
        const double size = sensible_size(wish, preset);
        std::ostringstream source;
        source << R"("reduced": {"shape": ")" << dice_.one_of(kShapes) << "\", \"size\": " << size
               << R"(, "fixed": "z < 5 %", "mesh": {"resolution": 16}, "modes": 6, "rank": 12, "material": ")"
               << preset.name << "\"}";
        return add({.kind = "reduced", .is_held = true}, source.str(), size, 0, size);
    }
    double particles(double size, double base) {
        std::ostringstream source;
        source << R"("particles": {"shape": ")" << dice_.one_of(kShapes) << "\", \"size\": " << size
               << R"(, "planes": [{"normal": [0, 0, 1], "offset": 0}]})";
        return add({.kind = "particles"}, source.str(), size, base, size);
    }

    Dice dice_;
    RandomScene scene_;
    std::vector<double> x_of_, top_of_;  ///< where the bodies begin [m]
    std::ostringstream bodies_, among_;
    double x_ = 0;
    double bearable_ = kNoLimit;  ///< weight of the next thing of the column [N]
    double widest_ = kNoLimit;    ///< its size [m]
    int num_among_ = 0;
};

}  // namespace

RandomScene random_scene(std::uint64_t seed) { return Writer(seed).write(); }

}  // namespace pliant::test
