#include "pliant/core/error.h"
#include "pliant/greens/zoned_body.h"
#include "scene/body_maker.h"
#include "scene/contact_store.h"
#include "scene/meeting.h"
#include "scene/step_cost.h"

#include <functional>
#include <string>

namespace pliant {
namespace {

/// Bodies, then what is between them, then the hand that holds one of them.
class WorldBuilder {
public:
    WorldBuilder(const SceneDescription& scene, const WorldOptions& options, Progress& progress)
        : world_(scene, options, progress),
          tools_(world_),
          bodies_(world_, tools_, options),
          contacts_(options.cache, options.say, progress),
          say_(options.say) {}

    WorldParts run() {
        tools_.make_sphere();
        bodies_.make_all();
        for (std::size_t c = 0; c < world_.scene.contacts.size(); ++c) make_contact(c);
        tools_.make_held();
        for (const std::string& warning : unmet_bodies(world_)) world_.warn(warning);
        for (const std::string& warning : slow_loops(world_)) world_.warn(warning);

        WorldParts parts;
        for (LoopInMaking& one : world_.loops)
            parts.loops.push_back(std::make_unique<SimulationLoop>(
                one.settings, std::move(one.bodies), std::move(one.body_of_world),
                std::move(one.tool), std::move(one.contacts), std::move(one.held),
                std::move(one.proxies)));
        parts.bodies = std::move(world_.bodies);
        parts.warnings = std::move(world_.warnings);
        return parts;
    }

private:
    void make_contact(std::size_t c) {
        const std::string path = "contacts[" + std::to_string(c) + "]";
        std::visit([&](const auto& contact) { make_contact(contact, path); },
                   world_.scene.contacts[c]);
    }

    void make_contact(const PairContactDescription& pair, const std::string& path) {
        const WorldBody& shell = world_.find_body(pair.shell, path + ".shell");
        const WorldBody& field = world_.find_body(pair.field, path + ".field");
        if (shell.loop != field.loop)
            throw InputError("", path + ".field", "\"" + pair.field + "\"",
                             "a body of the same loop as \"" + pair.shell + "\"");
        add_contact(shell.loop, path,
                    [&] { return contacts_.make(pair, side_of(shell), side_of(field)); });
    }

    void make_contact(const AmongContactDescription& among, const std::string& path) {
        std::vector<const WorldBody*> bodies;
        for (std::size_t i = 0; i < among.bodies.size(); ++i) {
            const std::string place = path + ".among[" + std::to_string(i) + "]";
            for (const WorldBody* body : world_.find_copies(among.bodies[i], place)) {
                if (!bodies.empty() && body->loop != bodies[0]->loop)
                    throw InputError("", place, "\"" + among.bodies[i] + "\"",
                                     "a body of the same loop as \"" + among.bodies[0] + "\"");
                bodies.push_back(body);
            }
        }
        add_contact(bodies[0]->loop, path, [&] { return contacts_.make(among, sides_of(bodies)); });
    }

    void make_contact(const SelfContactDescription& self, const std::string& path) {
        const std::vector<const WorldBody*> bodies = world_.find_copies(self.body, path + ".self");
        add_contact(bodies[0]->loop, path, [&] { return contacts_.make(self, sides_of(bodies)); });
    }

    void make_contact(const GreensContactDescription& contact, const std::string& path) {
        const WorldBody& found = world_.find_body(contact.body, path + ".greens");
        const LoopInMaking& loop = world_.loops[static_cast<std::size_t>(found.loop)];
        const auto body_at = [&](int place) {
            return loop.bodies[static_cast<std::size_t>(place)].get();
        };
        std::vector<int> places{found.place};
        std::vector<RigidBody*> by;
        std::optional<GreensHand> hand;
        for (const std::string& name : contact.by)
            for (const WorldBody* body : bodies_named(name, path, hand)) {
                places.push_back(body->place);
                by.push_back(dynamic_cast<RigidBody*>(body_at(body->place)));
            }
        if (auto* const zoned = dynamic_cast<ZonedBody*>(body_at(found.place))) {
            // each zone is solved by itself
            for (int z = 0; z < zoned->num_zones(); ++z) {
                const std::string part =
                    contact.body + "." + zoned->model().zones[static_cast<std::size_t>(z)].name;
                if (!zoned->has_greens(z)) {
                    if (say_)
                        say_(part +
                             ": \"tools\" pass through it, a part without Green's functions");
                    continue;
                }
                add_contact(found.loop, path, [&] {
                    LoopContact made = make_greens_contact(contact, zoned->zone(z), by, places,
                                                           loop.settings.rate);
                    made.name = part + "/" + contact.by.front();
                    made.greens()->set_display_offset(
                        static_cast<std::size_t>(zoned->display_offset(z)));
                    return made;
                });
            }
            return;
        }
        add_contact(found.loop, path, [&] {
            return make_greens_contact(contact, dynamic_cast<GreensBody&>(*body_at(found.place)),
                                       by, places, loop.settings.rate, std::move(hand));
        });
    }

    /// A body, or the links of a hand, which it makes.
    [[nodiscard]] std::vector<const WorldBody*> bodies_named(
        const std::string& name, const std::string& path, std::optional<GreensHand>& hand) const {
        for (const BodyDescription& description : world_.scene.bodies)
            if (const auto* source = std::get_if<HandSource>(&description.source);
                source && description.name == name) {
                hand = make_greens_hand(*source, description.pose);
                return world_.find_copies(name, path);
            }
        return {&world_.find_body(name, path)};
    }

    /// Errors of `make` get the path.
    template <class Make>
    void add_contact(int loop, const std::string& path, const Make& make) {
        try {
            world_.loops[static_cast<std::size_t>(loop)].contacts.push_back(make());
        } catch (const InputError& error) {
            throw InputError("", path + ": " + error.what());
        }
    }

    [[nodiscard]] ContactSide side_of(const WorldBody& body) const {
        const LoopInMaking& loop = world_.loops[static_cast<std::size_t>(body.loop)];
        const BodyDescription& description =
            world_.scene.bodies[static_cast<std::size_t>(body.description)];
        const auto& tool = world_.scene.held_tool;
        return {description, *loop.bodies[static_cast<std::size_t>(body.place)], body.place,
                tool && tool->body == description.name};
    }
    [[nodiscard]] std::vector<ContactSide> sides_of(
        const std::vector<const WorldBody*>& bodies) const {
        std::vector<ContactSide> sides;
        for (const WorldBody* body : bodies) sides.push_back(side_of(*body));
        return sides;
    }

    WorldInMaking world_;
    ToolMaker tools_;
    BodyMaker bodies_;
    ContactStore contacts_;
    std::function<void(const std::string&)> say_;
};

}  // namespace

World::World(SceneDescription scene, const WorldOptions& options, Progress& progress)
    : World(scene, WorldBuilder(scene, options, progress).run()) {}

}  // namespace pliant
