// Five hundred scenes that nobody chose. PLIANT_RANDOM_SCENES=500 runs them all, from seed
// PLIANT_RANDOM_FIRST on; the suite runs the first few.
#include <gtest/gtest.h>

#include <cstdlib>

#include "everyday/everyday_scene.h"
#include "everyday/random_scene.h"
#include "pliant/scene/body_watch.h"

namespace pliant {
namespace {

using test::EverydayScene, test::RandomBody, test::RandomScene, test::SeenBody;

constexpr double kDuration = 3;  // [s]

int from_environment(const char* name, int otherwise) {
    const char* value = std::getenv(name);
    return value ? std::atoi(value) : otherwise;
}

/// How one body began and went on.
struct Course {
    SeenBody start;
    double highest = -1e300;    ///< of all looks [m]
    double least_volume = 1;    ///< over that at rest
    double largest_volume = 1;
    bool is_finite = true;
};

/// What a person would not have expected; empty when all is well.
std::vector<std::string> surprises(const RandomScene& random) {
    std::vector<std::string> found;
    EverydayScene scene(random.text);
    std::vector<Course> courses;
    for (const RandomBody& body : random.bodies) courses.push_back({.start = scene.see(body.name)});
    const double dt = scene.world().loop(0).dt();
    const int every = std::max(1, static_cast<int>(0.02 / dt));
    int tick = 0;
    scene.run(kDuration, [&] {
        if (++tick % every != 0) return;
        for (std::size_t k = 0; k < courses.size(); ++k) {
            const SeenBody now = scene.see(random.bodies[k].name);
            Course& course = courses[k];
            course.highest = std::max(course.highest, now.highest());
            if (std::isfinite(now.shape.volume)) {
                course.least_volume = std::min(course.least_volume, now.shape.volume);
                course.largest_volume = std::max(course.largest_volume, now.shape.volume);
            }
            course.is_finite = course.is_finite && now.shape.is_finite();
        }
    });
    for (std::size_t k = 0; k < courses.size(); ++k) {
        const RandomBody& body = random.bodies[k];
        const Course& course = courses[k];
        const SeenBody now = scene.see(body.name);
        const double height = course.start.highest();
        const double size = course.start.box.sizes().maxCoeff();
        const auto say = [&, &name = body.name](const std::string& what, double value) {
            found.push_back(name + ": " + what + " " + std::to_string(value));
        };
        if (!course.is_finite) say("is not finite", 0);
        if (course.highest > height + 0.1 * std::max(size, height))
            say("flies higher than it began, by a factor of", course.highest / height);
        if (course.least_volume < 0.9) say("is squashed to a volume of", course.least_volume);
        if (course.largest_volume > 1.1) say("swells to a volume of", course.largest_volume);
        if (!body.is_held && now.lowest() < -0.01 * size)
            say("is in the ground, by sizes", -now.lowest() / size);
        if (now.speed > std::sqrt(2 * 9.81 * std::max(size, height)))
            say("is faster than it can be now [m/s]", now.speed);
    }
    return found;
}

TEST(EverydayRandom, ScenesThatNobodyChoseDoWhatAPersonExpects) {
    const int first = from_environment("PLIANT_RANDOM_FIRST", 1);
    const int count = from_environment("PLIANT_RANDOM_SCENES", 4);
    int failures = 0;
    for (int seed = first; seed < first + count; ++seed) {
        const RandomScene random = test::random_scene(static_cast<std::uint64_t>(seed));
        std::vector<std::string> found;
        try {
            found = surprises(random);
        } catch (const std::exception& e) {
            found = {std::string("refused: ") + e.what()};
        }
        if (found.empty()) continue;
        ++failures;
        std::string text = "scene of seed " + std::to_string(seed) + "\n" + random.text;
        for (const std::string& one : found) text += one + "\n";
        ADD_FAILURE() << text;
    }
    std::printf("%d scenes, %d of them with a surprise\n", count, failures);
}

}  // namespace
}  // namespace pliant
