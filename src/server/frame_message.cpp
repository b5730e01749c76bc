#include "server/frame_message.h"

#include <algorithm>
#include <cassert>

#include "server/binary_writer.h"

namespace pliant {
namespace {

constexpr std::uint32_t kFrame = 1, kSamples = 2, kMeshNodes = 3, kContactMarks = 4,
                        kProxyTriangles = 5;
constexpr std::uint32_t kPausedFlag = 1;

bool is_same(const HeldPoint& a, const HeldPoint& b) noexcept {
    return a.body == b.body && a.is_poke == b.is_poke && a.point == b.point &&
           a.target == b.target && a.force == b.force;
}

void put_vector(BinaryWriter& out, const std::array<double, 3>& v) {
    for (const double x : v) out.f32(static_cast<float>(x));
}

std::span<const float> state_of(const BodyStream& stream, const FrameContent& content) {
    return std::span(content.display)
        .subspan(stream.offset, static_cast<std::size_t>(stream.display->state_size()));
}

std::size_t floats_in_frame(const BodyStream& stream) {
    switch (stream.encoding) {
        case StreamEncoding::Pose: return kPoseFloats;
        case StreamEncoding::Reduced: return static_cast<std::size_t>(kPoseFloats + stream.rank);
        case StreamEncoding::Positions: return 3 * static_cast<std::size_t>(stream.num_vertices);
    }
    return 0;
}

void add_contact(const ShownContact& contact, std::vector<float>& numbers) {
    const TraversalStatistics& counts = contact.statistics;
    // counts of nodes are below 2²⁴: exact
    for (const int count : {counts.visited, counts.skipped, counts.contacts, counts.level})
        numbers.push_back(static_cast<float>(count));
    numbers.push_back(counts.is_truncated ? 1.0f : 0.0f);
    for (const double x : contact.force) numbers.push_back(static_cast<float>(x));
    numbers.push_back(static_cast<float>(contact.deepest));
    numbers.push_back(static_cast<float>(contact.num_pairs));
}

/// Writes numbers one after the other into an array of the right size.
class HapticNumbers {
public:
    explicit HapticNumbers(std::array<float, kHapticFloats>& numbers) : numbers_(numbers) {}
    void put(double x) { numbers_[size_++] = static_cast<float>(x); }
    void put(const Eigen::Vector3d& v) {
        for (const double x : v) put(x);
    }
    void put(const Pose& pose) {
        put(pose.position);
        put(pose.rotation.w());
        put(Eigen::Vector3d(pose.rotation.vec()));
    }
    void put(const Wrench& wrench) {
        put(wrench.force);
        put(wrench.torque);
    }
    [[nodiscard]] bool is_full() const { return size_ == numbers_.size(); }

private:
    std::array<float, kHapticFloats>& numbers_;
    std::size_t size_ = 0;
};

std::uint32_t proxy_flags(const ShownProxy& proxy) {
    const bool flags[] = {proxy.is_squeezed, proxy.is_sliding, proxy.is_ignored, !proxy.has_arrived,
                          proxy.is_stale};
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < std::size(flags); ++i) bits |= flags[i] ? 1u << i : 0u;
    return bits;
}

/// Without one all are zero.
void write_proxy(const ShownProxy& proxy, HapticNumbers& out) {
    out.put(proxy.radius);
    out.put(proxy.num_planes);
    for (std::size_t k = 0; k < proxy.planes.size(); ++k) {
        const bool is_there = static_cast<int>(k) < proxy.num_planes;
        out.put(is_there ? proxy.planes[k].point : Eigen::Vector3d(Eigen::Vector3d::Zero()));
        out.put(is_there ? proxy.planes[k].normal : Eigen::Vector3d(Eigen::Vector3d::Zero()));
    }
    for (const int count : {proxy.pops, proxy.passes, proxy.triangles_tested}) out.put(count);
    out.put(proxy.is_there() ? proxy_flags(proxy) : 0);
    for (const std::uint64_t count : {proxy.all_pops, proxy.carried, proxy.squeezed})
        out.put(static_cast<double>(count));
    out.put(proxy.num_spheres);
}

void add_spheres(const ShownProxy& proxy, std::vector<float>& numbers) {
    for (int i = 0; i < proxy.num_spheres; ++i) {
        const ShownProxy::Sphere& sphere = proxy.spheres[static_cast<std::size_t>(i)];
        numbers.push_back(sphere.is_touching ? 1.0f : 0.0f);
        numbers.insert(numbers.end(), sphere.position.begin(), sphere.position.end());
        numbers.insert(numbers.end(), sphere.turn.begin(), sphere.turn.end());
        numbers.insert(numbers.end(), sphere.normal.begin(), sphere.normal.end());
    }
}

void write_haptics(const ShownHaptics& shown, std::array<float, kHapticFloats>& numbers) {
    constexpr std::uint32_t kExactButtons = 0xffffff;  // of a float
    const HapticTick& tick = shown.tick;
    HapticNumbers out(numbers);
    out.put(1);
    out.put(shown.body);
    out.put(tick.manipulandum);
    out.put(tick.tool);
    out.put(tick.coupling);
    out.put(tick.contact);
    out.put(tick.command.force);
    out.put(tick.command.torque);
    for (const double x : {tick.depth, tick.max_depth, tick.worst_depth}) out.put(x);
    out.put(static_cast<double>(tick.violations));
    out.put(tick.num_contacts);
    for (const double x :
         {tick.port_energy, tick.stored_energy, tick.oscillation, tick.gain_scale, tick.step_scale})
        out.put(x);
    out.put(static_cast<double>(tick.device.status));
    out.put(tick.device.buttons & kExactButtons);
    write_proxy(shown.proxy, out);
    assert(out.is_full());
}

}  // namespace

bool operator==(const FrameContent& a, const FrameContent& b) noexcept {
    return a.time == b.time && a.is_paused == b.is_paused && a.has_tool == b.has_tool &&
           a.tool_position == b.tool_position && a.tool_target == b.tool_target &&
           a.tool_force == b.tool_force && a.haptics == b.haptics && a.spheres == b.spheres &&
           std::equal(a.held.begin(), a.held.end(), b.held.begin(), is_same) &&
           a.contacts == b.contacts && a.display == b.display;
}

void gather_frame(std::span<const BodyStream> streams, std::span<const LoopFrame* const> loops,
                  bool is_paused, FrameContent& content) {
    content.time = loops.empty() ? 0 : loops.front()->time;
    content.is_paused = is_paused;
    content.held = {};
    content.has_tool = false;
    content.tool_position = content.tool_target = content.tool_force = {};
    content.haptics = {};
    content.spheres.clear();
    content.contacts.clear();
    for (const LoopFrame* loop : loops) {
        for (const ShownContact& contact : loop->contacts) add_contact(contact, content.contacts);
        // a slot holds something in one loop at most
        for (std::size_t s = 0; s < content.held.size(); ++s)
            if (loop->held[s].body >= 0) content.held[s] = loop->held[s];
        if (loop->haptics.body >= 0) {
            write_haptics(loop->haptics, content.haptics);
            content.spheres.clear();
            add_spheres(loop->haptics.proxy, content.spheres);
        }
        if (!loop->has_tool) continue;
        content.has_tool = true;
        content.tool_position = loop->tool_position;
        content.tool_target = loop->tool_target;
        content.tool_force = loop->tool_force;
    }

    std::size_t size = 0;
    for (const BodyStream& stream : streams)
        size = stream.offset + static_cast<std::size_t>(stream.display->state_size());
    content.display.resize(size);
    for (const BodyStream& stream : streams) {
        const LoopFrame& loop = *loops[static_cast<std::size_t>(stream.loop)];
        std::copy_n(loop.display.begin() + static_cast<std::ptrdiff_t>(stream.loop_offset),
                    stream.display->state_size(),
                    content.display.begin() + static_cast<std::ptrdiff_t>(stream.offset));
    }
}

SharedBytes encode_frame(std::span<const BodyStream> streams, const FrameContent& content,
                         std::uint32_t number, double clock) {
    std::size_t num_floats = content.spheres.size() + content.contacts.size();
    for (const BodyStream& stream : streams) num_floats += floats_in_frame(stream);
    BinaryWriter out(512 + sizeof(float) * num_floats);
    out.u32(kFrame);
    out.u32(number);
    out.u32(content.is_paused ? kPausedFlag : 0);
    out.u32(static_cast<std::uint32_t>(streams.size()));
    out.f64(content.time);
    out.f64(clock);

    for (const HeldPoint& held : content.held) {
        out.f32(static_cast<float>(held.body));
        out.f32(held.is_poke ? 1.0f : 0.0f);
        put_vector(out, held.point);
        put_vector(out, held.target);
        put_vector(out, held.force);
    }
    out.f32(content.has_tool ? 1.0f : 0.0f);
    put_vector(out, content.tool_position);
    put_vector(out, content.tool_target);
    put_vector(out, content.tool_force);
    out.floats(content.haptics);
    out.floats(content.spheres);
    out.floats(content.contacts);

    std::vector<float> positions;
    for (const BodyStream& stream : streams) {
        const std::span<const float> state = state_of(stream, content);
        if (stream.encoding == StreamEncoding::Positions) {
            positions.resize(floats_in_frame(stream));
            stream.display->positions(state, positions);
            out.floats(positions);
        } else {
            out.floats(state.first(floats_in_frame(stream)));
        }
    }
    return out.take();
}

SharedBytes encode_samples(int loop, std::span<const TickSample> samples) {
    constexpr std::size_t kBytesEach = 12 * sizeof(double) + 5 * sizeof(float);
    BinaryWriter out(4 * sizeof(std::uint32_t) + kBytesEach * samples.size());
    out.u32(kSamples);
    out.u32(static_cast<std::uint32_t>(loop));
    out.u32(static_cast<std::uint32_t>(samples.size()));
    out.u32(0);
    for (const TickSample& sample : samples) {
        out.f64(static_cast<double>(sample.tick));
        out.f64(sample.time);
        for (const double x : sample.hand) out.f64(x);
        for (const double x : sample.point) out.f64(x);
        for (const double x : sample.force) out.f64(x);
        out.f64(sample.energy);
    }
    for (const TickSample& sample : samples) {
        out.f32(sample.work_us);
        out.f32(sample.late_us);
        out.f32(sample.device_force);
        out.f32(sample.port_energy);
        out.f32(sample.stored_energy);
    }
    return out.take();
}

std::vector<SharedBytes> encode_mesh_nodes(std::span<const BodyStream> streams,
                                           const FrameContent& content) {
    std::vector<SharedBytes> messages;
    std::vector<float> nodes;
    std::size_t room = kMaxMeshBytes;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const BodyStream& stream = streams[i];
        const int num_nodes = stream.display->num_mesh_nodes();
        if (num_nodes == 0) continue;
        nodes.resize(3 * static_cast<std::size_t>(num_nodes));
        const std::size_t size = 4 * sizeof(std::uint32_t) + nodes.size() * sizeof(float);
        if (size > room) break;
        room -= size;
        stream.display->mesh_positions(state_of(stream, content), nodes);
        BinaryWriter out(size);
        out.u32(kMeshNodes);
        out.u32(static_cast<std::uint32_t>(i));
        out.u32(static_cast<std::uint32_t>(num_nodes));
        out.u32(0);
        out.floats(nodes);
        messages.push_back(out.take());
    }
    return messages;
}

std::vector<SharedBytes> encode_contact_marks(const World& world,
                                              std::span<const LoopFrame* const> loops) {
    std::vector<SharedBytes> messages;
    std::vector<ContactMark> marks;
    std::size_t room = kMaxMarkBytes;
    std::uint32_t number = 0;
    for (std::size_t l = 0; l < loops.size(); ++l)
        for (std::size_t c = 0; c < loops[l]->contacts.size(); ++c, ++number) {
            const ShownContact& contact = loops[l]->contacts[c];
            const auto num_nodes = static_cast<std::size_t>(contact.num_nodes);
            const auto num_contacting = static_cast<std::size_t>(contact.num_contacting);
            const std::size_t size =
                4 * sizeof(std::uint32_t) + sizeof(float) * (4 * num_nodes + 3 * num_contacting);
            if (size > room) return messages;
            room -= size;
            world.loop(static_cast<int>(l)).contact_marks(*loops[l], static_cast<int>(c), marks);
            BinaryWriter out(size);
            out.u32(kContactMarks);
            out.u32(number);
            out.u32(static_cast<std::uint32_t>(num_nodes));
            out.u32(static_cast<std::uint32_t>(num_contacting));
            for (const ContactMark& mark : marks) {
                out.floats(mark.position);
                out.f32(mark.radius);
            }
            for (std::size_t i = 0; i < num_contacting; ++i) out.floats(marks[i].force);
            messages.push_back(out.take());
        }
    return messages;
}

SharedBytes encode_proxy_triangles(const World& world, std::span<const BodyStream> streams,
                                   const FrameContent& content,
                                   std::span<const LoopFrame* const> loops) {
    const ShownProxy* proxy = nullptr;
    for (const LoopFrame* loop : loops)
        if (loop->haptics.body >= 0 && loop->haptics.proxy.is_there()) proxy = &loop->haptics.proxy;
    if (!proxy) return nullptr;
    const std::span triangles(proxy->triangles.data(),
                              static_cast<std::size_t>(proxy->num_triangles));
    BinaryWriter out(4 * sizeof(std::uint32_t) + 9 * sizeof(float) * triangles.size());
    out.u32(kProxyTriangles);
    out.u32(static_cast<std::uint32_t>(triangles.size()));
    out.u32(0);
    out.u32(0);
    int body = -1;  // whose positions these are
    std::vector<float> x;
    for (const ShownProxy::Triangle& one : triangles) {
        const BodyStream& stream = streams[static_cast<std::size_t>(one.body)];
        if (one.body != body) {
            x.resize(3 * static_cast<std::size_t>(stream.num_vertices));
            stream.display->positions(state_of(stream, content), x);
            body = one.body;
        }
        const SurfaceMesh& surface = world.body(one.body).surface();
        for (const int v : surface.triangles[static_cast<std::size_t>(one.triangle)])
            out.floats(std::span(x).subspan(3 * static_cast<std::size_t>(v), 3));
    }
    return out.take();
}

}  // namespace pliant
