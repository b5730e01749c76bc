#include "server/field_slices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "pliant/field/iso_surface.h"
#include "server/binary_writer.h"

namespace pliant {
namespace {

constexpr int kPixels = 192;     // along the longer side
constexpr double kAround = 0.2;  // of the body's longest side, shown around it

void put_vector(BinaryWriter& out, const Eigen::Vector3d& v) {
    for (int i = 0; i < 3; ++i) out.f32(static_cast<float>(v[i]));
}

}  // namespace

SharedBytes FieldSlices::find(std::string_view path) {
    std::size_t contact = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), contact);
    if (error != std::errc{}) return nullptr;
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    constexpr std::string_view kAxes = "xyz", kSlice = "/slice/";
    if (!path.starts_with(kSlice) || path.size() != kSlice.size() + 1) return nullptr;
    const std::size_t axis = kAxes.find(path.back());
    if (axis == std::string_view::npos) return nullptr;

    const std::pair key(contact, static_cast<int>(axis));
    const auto known = made_.find(key);
    if (known != made_.end()) return known->second;
    SharedBytes bytes = encode(key.first, key.second);
    if (bytes != nullptr) made_.emplace(key, bytes);
    return bytes;
}

SharedBytes FieldSlices::encode(std::size_t contact, int axis) const {
    int l = 0;
    for (; l < world_.num_loops(); ++l) {
        const auto here = static_cast<std::size_t>(world_.loop(l).num_contacts());
        if (contact < here) break;
        contact -= here;
    }
    if (l == world_.num_loops()) return nullptr;
    const SimulationLoop& loop = world_.loop(l);
    const LoopContact& found = loop.contact(static_cast<int>(contact));
    const Body& body = loop.body(found.field);
    if (body.kind() != "rigid" || body.surface().num_vertices() == 0) return nullptr;

    // through the middle of the body
    const Box box = bounding_box(body.surface().vertices);
    const double margin = kAround * box.sizes().maxCoeff();
    const int right = axis == 0 ? 1 : 0, top = axis == 2 ? 1 : 2;
    const double width = box.sizes()[right] + 2 * margin, height = box.sizes()[top] + 2 * margin;
    Eigen::Vector3d origin = box.center();
    origin[right] -= 0.5 * width;
    origin[top] -= 0.5 * height;
    const Eigen::Vector3d across = width * Eigen::Vector3d::Unit(right);
    const Eigen::Vector3d up = height * Eigen::Vector3d::Unit(top);
    const double pixel = std::max(width, height) / kPixels;
    const FieldSlice slice = slice_field(found.pair.traversal().field(), origin, across, up,
                                         static_cast<int>(std::ceil(width / pixel)),
                                         static_cast<int>(std::ceil(height / pixel)));

    BinaryWriter out(2 * sizeof(std::uint32_t) + (9 + slice.values.size()) * sizeof(float));
    out.u32(static_cast<std::uint32_t>(slice.width));
    out.u32(static_cast<std::uint32_t>(slice.height));
    for (const Eigen::Vector3d& v : {origin, across, up}) put_vector(out, v);
    out.floats(slice.values);
    return out.take();
}

}  // namespace pliant
