#pragma once

#include "pliant/scene/world.h"

namespace pliant {

/// A loop before it runs.
struct LoopInMaking {
    LoopSettings settings;
    std::vector<std::unique_ptr<Body>> bodies;
    std::vector<int> body_of_world;
    std::vector<RigidBody*> obstacles;
    std::unique_ptr<RigidBody> tool;
    std::vector<LoopContact> contacts;
    std::optional<HeldTool> held;
    std::optional<BodiesEndDescription> proxies;
};

/// Loops and bodies of a scene while they are made, found by the names that the scene gives them.
struct WorldInMaking {
    /// Empty loops, and the list of all bodies, which are to be made. Throws InputError for loops
    /// that are not there and too many copies.
    WorldInMaking(const SceneDescription& scene, const WorldOptions& options, Progress& progress);

    const SceneDescription& scene;
    const DeviceDescription device;
    const std::function<void(const std::string&)> say;  ///< may be empty
    Progress& progress;
    std::vector<LoopInMaking> loops;    ///< the haptic one first
    std::vector<WorldBody> bodies;      ///< in the order of the scene
    std::vector<std::string> warnings;  ///< as World::warnings()

    /// Keeps a warning, and says it.
    void warn(const std::string& warning);

    // Names of the scene. `path` is that of the key with the name, for messages.
    [[nodiscard]] int find_loop(const std::string& name, const std::string& path) const;
    [[nodiscard]] const WorldBody& find_body(const std::string& name,
                                             const std::string& path) const;
    /// All bodies of a description.
    [[nodiscard]] std::vector<const WorldBody*> find_copies(const std::string& name,
                                                            const std::string& path) const;

    [[nodiscard]] int number_of(const WorldBody& body) const {
        return static_cast<int>(&body - bodies.data());
    }
    [[nodiscard]] LoopInMaking& loop_of(std::size_t description) {
        return loops[static_cast<std::size_t>(find_loop(scene.bodies[description].loop, ""))];
    }
    [[nodiscard]] static std::string path_of(std::size_t description) {
        return "bodies[" + std::to_string(description) + "]";
    }
    /// The next copy of a description.
    void add(std::size_t description, std::unique_ptr<Body> body);

private:
    void list_loops();
    void list_bodies();
    [[nodiscard]] int num_copies(std::size_t description) const;

    std::vector<int> next_body_;  ///< of each description
};

}  // namespace pliant
