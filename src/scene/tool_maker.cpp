#include "scene/tool_maker.h"

#include "pliant/core/error.h"
#include "scene/contact_store.h"
#include "scene/held_proxy_tool.h"
#include "scene/primitive_surfaces.h"

#include <algorithm>

namespace pliant {
namespace {

/// Over which what a body touches as a point is pressed in; 0: it is none.
double cell_of_points(const LoopInMaking& loop, const Body& body) {
    for (const LoopContact& contact : loop.contacts)
        if (const GreensTouch* touch = contact.greens())
            if (std::ranges::find(touch->by(), &body) != touch->by().end())
                return touch->body().stiffness().radius();
    return 0;
}

/// Null: the contact is of another kind or of other bodies.
const ContactPair* pair_with(const LoopContact& contact, const Body& body) {
    const ContactPair* pair = contact.pair();
    return pair && (&pair->shell_body() == &body || &pair->field_body() == &body) ? pair : nullptr;
}

}  // namespace

void ToolMaker::make_sphere() {
    if (!world_.scene.tool) return;
    const ToolDescription& tool = *world_.scene.tool;
    LoopInMaking& loop =
        world_.loops[static_cast<std::size_t>(world_.find_loop(tool.loop, "tool.loop"))];
    RigidBodyOptions options;
    options.pose.position = tool.start;
    loop.tool = std::make_unique<RigidBody>(RigidShape::sphere(tool.radius),
                                            sphere_surface(tool.radius), options);
    loop.settings.tool_speed_limit = tool.speed_limit;
    loop.settings.tool_script = tool.script;
    loop.obstacles.push_back(loop.tool.get());
}

RigidMass ToolMaker::make_among(std::size_t d, const RigidSource& source,
                                const SurfaceMesh& surface) {
    AmongToolEnds made = make_among_tool(
        *world_.scene.held_tool, world_.device,
        {.surface = surface,
         .start = source.motion ? source.motion->at(0).pose : world_.scene.bodies[d].pose,
         .motion = source.motion,
         .rate = world_.loops[0].settings.rate,
         .step = 1 / world_.loop_of(d).settings.rate,
         .use = world_.scene.device_use});
    among_ = std::move(made.ends);
    return made.mass;
}

void ToolMaker::make_held() {
    if (!world_.scene.held_tool) return;
    try {
        hold(*world_.scene.held_tool);
    } catch (const InputError& error) {
        throw InputError("", std::string("tool: ") + error.what());
    }
}

void ToolMaker::hold(const HeldToolDescription& tool) {
    const WorldBody& found = world_.find_body(tool.body, "tool.body");
    const BodyDescription& description =
        world_.scene.bodies[static_cast<std::size_t>(found.description)];
    const auto* source = std::get_if<RigidSource>(&description.source);
    if (source == nullptr || source->density > 0)
        throw InputError("", "\"" + tool.body + "\" is " +
                                 (source ? "moved by forces: leave out its density" : "not rigid") +
                                 "; a hand holds a rigid body without mass");
    if (tool.fem) return hold_among_fem(tool, found, *source);
    if (tool.among) return hold_in_among(found);
    if (tool.proxy || tool.spheres) return hold_proxy(tool, found, *source);
    LoopInMaking& loop = world_.loops[static_cast<std::size_t>(found.loop)];
    const Body& body = *loop.bodies[static_cast<std::size_t>(found.place)];

    // what it meets
    double cell = cell_of_points(loop, body);
    for (const LoopContact& contact : loop.contacts)
        if (const ContactPair* pair = pair_with(contact, body))
            cell = cell > 0 ? std::min(cell, contact_cell(*pair)) : contact_cell(*pair);
    if (!(cell > 0))
        throw InputError("", "\"" + tool.body +
                                 "\" is in no contact of two bodies, so that there is nothing "
                                 "to feel: add one to \"contacts\"");
    double stiffness = 0;
    for (const ContactDescription& one : world_.scene.contacts)
        if (const auto* pair = std::get_if<PairContactDescription>(&one))
            if (pair->shell == tool.body || pair->field == tool.body)
                stiffness = std::max(stiffness, pair->stiffness);

    const auto* rigid = dynamic_cast<const RigidBody*>(&body);
    // a point is the origin of its body
    HeldToolDescription held_tool = tool;
    if (cell_of_points(loop, body) > 0) held_tool.grasp = Eigen::Vector3d::Zero();
    loop.held = make_held_tool(held_tool, world_.device,
                               {.surface = body.surface(),
                                .start = rigid->motion().pose,
                                .motion = source->motion,
                                .cell = cell,
                                .contact_stiffness = stiffness,
                                .rate = loop.settings.rate,
                                .use = world_.scene.device_use});
    loop.held->place = found.place;
    // sliders begin where the tool will put them
    for (LoopContact& contact : loop.contacts)
        if (pair_with(contact, body))
            std::get<ContactPair>(contact.kind).set_stiffness(loop.held->gains.contact_stiffness);
    say_warning(*loop.held);
}

/// The device in the loop of the tool, its proxy, or many, in that of the bodies.
void ToolMaker::hold_proxy(const HeldToolDescription& tool, const WorldBody& found,
                           const RigidSource& source) {
    LoopInMaking& loop = world_.loops[static_cast<std::size_t>(found.loop)];
    std::vector<TouchedBody> bodies;
    int bodies_loop = found.loop;
    const auto& pop_out_of = tool.proxy ? tool.proxy->pop_out_of : tool.spheres->pop_out_of;
    for (const std::string& name : tool.proxy ? tool.proxy->bodies : tool.spheres->bodies) {
        const WorldBody& one =
            world_.find_body(name, tool.proxy ? "tool.proxy.bodies" : "tool.spheres.bodies");
        bodies_loop = one.loop;
        bodies.push_back({world_.loops[static_cast<std::size_t>(one.loop)]
                              .bodies[static_cast<std::size_t>(one.place)]
                              .get(),
                          world_.number_of(one), one.name, std::nullopt});
        for (const BodyPopOut& other : pop_out_of)
            if (other.body == name) bodies.back().pop_out = other.mode;
    }
    LoopInMaking& other = world_.loops[static_cast<std::size_t>(bodies_loop)];
    const ProxySurroundings around{
        .body = dynamic_cast<const RigidBody&>(*loop.bodies[static_cast<std::size_t>(found.place)]),
        .motion = source.motion,
        .bodies = std::move(bodies),
        .rate = loop.settings.rate,
        .bodies_rate = other.settings.rate,
        .is_one_loop = bodies_loop == found.loop,
        .use = world_.scene.device_use};
    ProxyToolEnds ends = tool.proxy ? make_proxy_tool(tool, world_.device, around)
                                    : make_spheres_tool(tool, world_.device, around);
    say_warning(ends.held);
    ends.held.place = found.place;
    loop.held = std::move(ends.held);
    if (ends.bodies) other.proxies = std::move(ends.bodies);
}

/// The device in the haptic loop, the proxies in that of the bodies.
void ToolMaker::hold_among_fem(const HeldToolDescription& tool, const WorldBody& first,
                               const RigidSource& source) {
    LoopInMaking& loop = world_.loops[static_cast<std::size_t>(first.loop)];
    std::vector<FemProxyBody> proxies;
    const auto add_proxy = [&](const WorldBody& one) {
        const auto* rigid = one.loop == first.loop
                                ? dynamic_cast<const RigidBody*>(
                                      loop.bodies[static_cast<std::size_t>(one.place)].get())
                                : nullptr;
        if (rigid == nullptr)
            throw InputError("", "\"" + one.name + "\" is no rigid body of the loop of \"" +
                                     first.name + "\"; a hand holds these only");
        proxies.push_back({rigid, one.place, world_.number_of(one)});
    };
    add_proxy(first);
    for (const std::string& part : tool.fem->parts) add_proxy(world_.find_body(part, "tool.parts"));
    FemToolEnds ends = make_fem_tool(tool, world_.device, proxies,
                                     {.bodies = loop.bodies,
                                      .motion = source.motion,
                                      .rate = world_.loops[0].settings.rate,
                                      .step = 1 / loop.settings.rate,
                                      .use = world_.scene.device_use});
    say_warning(ends.held);
    world_.loops[0].held = std::move(ends.held);
    loop.proxies = std::move(ends.proxies);
}

/// The device in the haptic loop, the body in that of the solver.
void ToolMaker::hold_in_among(const WorldBody& body) {
    FemToolEnds ends = *std::move(among_);
    ends.held.fem->body = world_.number_of(body);
    ends.proxies.places = {body.place};
    say_warning(ends.held);
    world_.loops[0].held = std::move(ends.held);
    world_.loops[static_cast<std::size_t>(body.loop)].proxies = std::move(ends.proxies);
}

void ToolMaker::say_warning(const HeldTool& held) const {
    if (world_.say && !held.warning.empty()) world_.say("tool: " + held.warning);
}

}  // namespace pliant
