#pragma once

#include "pliant/greens/surface_zone.h"
#include "pliant/greens/zones.h"
#include "pliant/particles/particle_body.h"
#include "scene/greens_store.h"
#include "scene/model_store.h"
#include "scene/tool_maker.h"

namespace pliant {

/// Makes the bodies of a world, each kind from what the scene says of it.
class BodyMaker {
public:
    /// `tools` knows which body is in a hand. Models are built or found in the cache of `options`.
    BodyMaker(WorldInMaking& world, ToolMaker& tools, const WorldOptions& options)
        : world_(world),
          tools_(tools),
          models_(options.cache, options.say, world.progress),
          greens_(options.cache, options.say, world.progress) {}

    /// All bodies, in an order in which those that others meet come first. Throws InputError,
    /// naming the body, and Cancelled.
    void make_all();

private:
    enum SourceKind : std::size_t {
        kReduced,
        kFem,
        kRigid,
        kGreens,
        kCompliantHand,
        kZones,
        kParticles
    };  // as in BodyDescription::source
    /// Where a copy begins.
    struct Start {
        Pose pose;
        Twist velocity;
    };

    void make_bodies(std::size_t description);
    /// On a grid around the pose of the description, x fastest.
    [[nodiscard]] std::vector<Start> starts(std::size_t description) const;
    void make(std::size_t d, const ReducedSource& source);
    void make(std::size_t d, const RigidSource& source);
    void make(std::size_t d, const FemSource& source);
    void make(std::size_t d, const ParticleSource& source);
    void make(std::size_t d, const GreensSource& source);
    void make(std::size_t d, const ZonesSource& source);
    /// A reduced part, bonded to parts with Green's functions.
    [[nodiscard]] std::shared_ptr<SurfaceZone> make_part(const std::string& body,
                                                         const ZonesSource::Part& part,
                                                         std::span<const Zone> greens);
    /// One body of zones with the bones as they are at the start.
    void make_bonded(std::size_t d, const ZonesSource& source);
    /// Its links, which the contact moves.
    void make(std::size_t d, const HandSource& source);
    /// Of a body; an empty note is none.
    void warn(std::size_t d, const std::string& note);
    void warn_of_refilling(std::size_t d, const GreensSource& source);
    void warn_of_sunken(std::size_t d, const ParticleBody& body);
    [[nodiscard]] int most_loads(std::size_t d, const GreensModel& model) const;
    [[nodiscard]] SurfaceMesh surface_of(const ParticleSource& source) const;

    WorldInMaking& world_;
    ToolMaker& tools_;
    ModelStore models_;
    GreensStore greens_;
};

}  // namespace pliant
