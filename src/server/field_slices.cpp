#include "server/field_slices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "pliant/field/deformed_field.h"
#include "pliant/field/iso_surface.h"
#include "server/binary_writer.h"
#include "server/page_reply.h"
#include "server/scene_assets.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr int kPixels = 192;     // of a slice, along the longer side
constexpr double kAround = 0.2;  // of the body's longest side, shown around it

// cells of an iso-surface along its longest side: values of deformed fields cost ten times as much
constexpr int kFinest = 128, kFinestDeformed = 64;
constexpr int kEnough = 64;  // of a field by formula, which has no cells of its own
constexpr int kFewest = 16;
constexpr int kCoarse = 24;  // of the look for the solid before

void put_vector(BinaryWriter& out, const Vector3d& v) {
    for (int i = 0; i < 3; ++i) out.f32(static_cast<float>(v[i]));
}

HttpReply data_reply(SharedBytes bytes) {
    if (bytes == nullptr) return not_found();
    return {.status = 200, .content_type = "application/octet-stream", .body = std::move(bytes)};
}

/// A field that one contact asks, and the body that it moves with.
struct ContactField {
    const DistanceField* field = nullptr;
    const Body* body = nullptr;
    int body_of_world = -1;

    /// Null: it does not deform.
    [[nodiscard]] const DeformedField* deformed() const noexcept {
        return dynamic_cast<const DeformedField*>(field);
    }
};

/// `use` with the field in the shape given. The loop's own may be changing at this moment.
template <class Use>
auto with_field(const ContactField& from, const Eigen::VectorXd& shape, Use&& use) {
    if (from.deformed() == nullptr) return use(*from.field);
    DeformedField own(from.deformed()->model());
    own.update(shape);
    return use(static_cast<const DistanceField&>(own));
}

/// Of a contact of the hello message.
std::optional<ContactField> find_field(const World& world, std::size_t contact) {
    for (int l = 0; l < world.num_loops(); ++l) {
        const SimulationLoop& loop = world.loop(l);
        const auto here = static_cast<std::size_t>(loop.num_contacts());
        if (contact >= here) {
            contact -= here;
            continue;
        }
        const LoopContact& found = loop.contact(static_cast<int>(contact));
        if (!found.pair()) return {};  // none alone
        const Body& body = loop.body(found.field());
        if (body.surface().num_vertices() == 0) return {};
        return ContactField{&found.pair()->traversal().field(), &body,
                            loop.body_of_world()[static_cast<std::size_t>(found.field())]};
    }
    return {};
}

/// Through the middle of the body.
SharedBytes encode_slice(const DistanceField& field, const Body& body, int axis) {
    const Box box = bounding_box(body.surface().vertices);
    const double margin = kAround * box.sizes().maxCoeff();
    const int right = axis == 0 ? 1 : 0, top = axis == 2 ? 1 : 2;
    const double width = box.sizes()[right] + 2 * margin, height = box.sizes()[top] + 2 * margin;
    Vector3d origin = box.center();
    origin[right] -= 0.5 * width;
    origin[top] -= 0.5 * height;
    const Vector3d across = width * Vector3d::Unit(right), up = height * Vector3d::Unit(top);
    const double pixel = std::max(width, height) / kPixels;
    const FieldSlice slice =
        slice_field(field, origin, across, up, static_cast<int>(std::ceil(width / pixel)),
                    static_cast<int>(std::ceil(height / pixel)));

    BinaryWriter out(2 * sizeof(std::uint32_t) + (9 + slice.values.size()) * sizeof(float));
    out.u32(static_cast<std::uint32_t>(slice.width));
    out.u32(static_cast<std::uint32_t>(slice.height));
    for (const Vector3d& v : {origin, across, up}) put_vector(out, v);
    out.floats(slice.values);
    return out.take();
}

Box grown(const Box& box, double by) {
    return Box(box.min() - Vector3d::Constant(by), box.max() + Vector3d::Constant(by));
}

/// The part of a box with values below the level, rather too large; empty: none.
Box box_below(const DistanceField& field, const Box& box, double level) {
    const Vector3d step = box.sizes() / kCoarse;
    // values grow by little more than the way; the half diagonal of a cell is at most on it
    const auto limit = static_cast<float>(level + 0.75 * step.norm());
    std::vector<float> x, y(kCoarse + 1), z(kCoarse + 1), values(kCoarse + 1);
    for (int i = 0; i <= kCoarse; ++i) x.push_back(static_cast<float>(box.min()[0] + i * step[0]));
    Box found;
    for (int k = 0; k <= kCoarse; ++k)
        for (int j = 0; j <= kCoarse; ++j) {
            std::fill(y.begin(), y.end(), static_cast<float>(box.min()[1] + j * step[1]));
            std::fill(z.begin(), z.end(), static_cast<float>(box.min()[2] + k * step[2]));
            field.distances({x.data(), y.data(), z.data(), kCoarse + 1}, values.data());
            for (int i = 0; i <= kCoarse; ++i)
                if (values[static_cast<std::size_t>(i)] < limit)
                    found.extend(box.min() + Vector3d(i, j, k).cwiseProduct(step));
        }
    if (found.isEmpty()) return found;
    return Box(found.min() - step, found.max() + step).intersection(box);
}

/// Leaves open where the solid goes on beyond the box, instead of closed along it.
void drop_border(SurfaceMesh& mesh, const Box& box) {
    std::erase_if(mesh.triangles, [&](const Triangle& triangle) {
        return std::any_of(triangle.begin(), triangle.end(), [&](int vertex) {
            return !box.contains(mesh.vertices[static_cast<std::size_t>(vertex)]);
        });
    });
}

/// In the axes of the body, at most kMaxTriangles.
SurfaceMesh extract(const DistanceField& field, const Body& body, int finest, double level) {
    const bool is_bounded = field.bounds().sizes().allFinite();
    const Box around = is_bounded
                           ? field.bounds()
                           : grown(bounding_box(body.surface().vertices), kAround * body.size());
    Box box = box_below(field, grown(around, std::max(level, 0.0) + 0.02 * body.size()), level);
    if (box.isEmpty()) return {};
    const double longest = box.sizes().maxCoeff();
    // cubic cells fill the box exactly
    const double known = field.resolution() > 0 ? field.resolution() : longest / kEnough;
    int cells = static_cast<int>(std::ceil(std::min(longest / known, 1.0 * finest)));
    cells = std::max(cells, kFewest);
    for (;; cells = cells * 3 / 4) {
        const double cell = longest / cells;
        const Vector3d count = (box.sizes() / cell - Vector3d::Constant(1e-3)).array().ceil();
        const Box sampled(box.min(), box.min() + cell * count);
        SurfaceMesh mesh = iso_surface(field, sampled, cells, {.level = level});
        if (!is_bounded) drop_border(mesh, sampled);
        if (mesh.num_triangles() <= FieldSlices::kMaxTriangles || cells <= kFewest) return mesh;
    }
}

/// The whole text as a number; NaN: it is none.
double number_of(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nan("");
    return number;
}

HttpReply bad_level(double lowest, double highest) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "The level of an iso-surface of this field is a number of metres from %.4g to "
                  "%.4g.\n",
                  lowest, highest);
    return {.status = 400, .body = shared_text(text)};
}

}  // namespace

HttpReply FieldSlices::get(std::string_view path, const ShapeOf& shape_of) {
    std::size_t contact = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), contact);
    if (error != std::errc{}) return not_found();
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    constexpr std::string_view kAxes = "xyz", kSlice = "/slice/", kIso = "/iso/";
    if (path.starts_with(kIso)) return get_iso(contact, path.substr(kIso.size()), shape_of);
    if (!path.starts_with(kSlice) || path.size() != kSlice.size() + 1) return not_found();
    const std::size_t axis = kAxes.find(path.back());
    if (axis == std::string_view::npos) return not_found();

    return get_slice(contact, static_cast<int>(axis), shape_of);
}

HttpReply FieldSlices::get_slice(std::size_t contact, int axis, const ShapeOf& shape_of) {
    const std::optional<ContactField> from = find_field(world_, contact);
    if (!from) return not_found();
    Eigen::VectorXd shape;
    if (from->deformed() != nullptr) shape = shape_of(from->body_of_world);
    Slice& made = slices_[{contact, axis}];
    if (made.bytes == nullptr || made.shape != shape) {
        made.bytes = with_field(*from, shape, [&](const DistanceField& field) {
            return encode_slice(field, *from->body, axis);
        });
        made.shape = std::move(shape);
    }
    return data_reply(made.bytes);
}

HttpReply FieldSlices::get_iso(std::size_t contact, std::string_view level_text,
                               const ShapeOf& shape_of) {
    const std::optional<ContactField> from = find_field(world_, contact);
    if (!from) return not_found();
    const double level = number_of(level_text), size = from->body->size();
    const double slack = 1e-6 * size;  // numbers are written with few digits
    if (!(level >= kLowestLevel * size - slack && level <= kHighestLevel * size + slack))
        return bad_level(kLowestLevel * size, kHighestLevel * size);

    Eigen::VectorXd shape;
    if (from->deformed() != nullptr) shape = shape_of(from->body_of_world);
    IsoSurface& made = surfaces_[contact];
    if (made.bytes == nullptr || made.level != level || made.shape != shape) {
        const int finest = from->deformed() != nullptr ? kFinestDeformed : kFinest;
        const SurfaceMesh mesh = with_field(*from, shape, [&](const DistanceField& field) {
            return extract(field, *from->body, finest, level);
        });
        made = {level, std::move(shape), encode_surface(mesh)};
    }
    return data_reply(made.bytes);
}

}  // namespace pliant
