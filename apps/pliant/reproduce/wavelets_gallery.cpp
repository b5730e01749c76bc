#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "apps/pliant/output.h"
#include "contact_samples.h"
#include "core/numbers.h"
#include "mesh_picture.h"
#include "pliant/greens/hierarchical_greens.h"
#include "samples.h"
#include "wavelets_experiments.h"
#include "wavelets_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// Of one response over ε. That of whole blocks is about 1.25; the largest displacement under one
/// load is somewhat less than the norm of its block.
constexpr double kMostResponseError = 1.3;

/// A level 2 vertex, free, that looks most along a direction and is not low.
int gallery_vertex(const GreensModel& model, const Vector3d& direction) {
    const Box box = bounding_box(model.surface.mesh.vertices);
    int best = -1;
    double most = -kInfinity;
    for (int v = 0; v < model.surface.num_vertices[2]; ++v) {
        const Vector3d& x = model.surface.mesh.vertices[at(v)];
        const double height = (x.z() - box.min().z()) / box.sizes().z();
        if (model.reference.kinds[at(v)] != NodeKind::Free || height < 0.3 || height > 0.6)
            continue;
        const double score = model.normals[at(v)].dot(direction);
        if (score > most) most = score, best = v;
    }
    return best;
}

/// Displacements under a load on one function; functions are those of the model or like them.
std::vector<float> gallery_field(const GreensModel& model, const GreensFunctions& functions, int id,
                                 const Vector3d& load) {
    const Eigen::Vector3f weights = load.cast<float>();
    std::vector<float> out(3 * at(functions.num_nodes()), 0.0f);
    functions.add_columns(std::span(&id, 1), {weights.data(), 3}, out);
    // rows of fixed nodes are tractions
    for (std::size_t v = 0; v < model.reference.kinds.size(); ++v)
        if (model.reference.kinds[v] == NodeKind::Fixed)
            std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(3 * v), 3, 0.0f);
    return out;
}

double largest_vector(const std::vector<float>& field) {
    double largest = 0;
    for (std::size_t v = 0; v < field.size(); v += 3)
        largest = std::max(largest, double{std::hypot(field[v], field[v + 1], field[v + 2])});
    return largest;
}

}  // namespace

void run_wavelet_gallery(Context& context) {
    Section& page = context.section;
    const int finest = context.sized(4, 3);
    const auto model = wavelet_model("rabbit", finest);
    context.done(0.8);
    page.text(format(
        "Response of rabbit %d to a traction along its normal over one hat function of a "
        "constraint level, exact and from compressed columns (lifted linear). Red: displacement "
        "over the largest one, which is drawn as 12 %% of the body.",
        finest));
    const AllCores all;
    const auto basis =
        std::make_shared<const HierarchicalBasis>(model->surface, model->reference.kinds);
    RefinedColumnSource source(
        std::dynamic_pointer_cast<const DenseGreensFunctions>(model->reference.functions), basis);
    const Vector3d towards = Vector3d(std::cos(-60 * kDegree), std::sin(-60 * kDegree), 0.2);
    const int vertex = gallery_vertex(*model, towards);
    std::vector<int> ids;
    for (const int level : {4, 3, 2})
        if (level <= finest) ids.push_back(basis->id(level, vertex));
    const auto exact = dense_columns(source, ids, Progress::none());
    constexpr double kTolerances[] = {0.01, 0.05, 0.2};
    std::vector<std::shared_ptr<const GreensFunctions>> shown = {exact};
    for (const double tolerance : kTolerances)
        shown.push_back(compress_greens(*exact, model->surface, model->reference.kinds,
                                        model->reference.areas, {.tolerance = tolerance}));

    Table table{"responses",
                "Largest error of the responses shown, over their largest displacement and over ε",
                {{"level", "constraint level"},
                 {"tolerance", "ε"},
                 {"blocks", "blocks"},
                 {"error_over_tolerance", "error / ε"}}};
    for (const int id : ids) {
        const int level = basis->level_of(id);
        const Vector3d load = -model->normals[at(vertex)];
        const std::vector<float> truth = gallery_field(*model, *exact, id, load);
        const double size = largest_vector(truth), scale = 0.12 * model->reference.length / size;
        std::vector<std::string> pictures;
        for (std::size_t k = 0; k < shown.size(); ++k) {
            const std::vector<float> field = gallery_field(*model, *shown[k], id, load);
            SurfaceMesh mesh = model->surface.mesh;
            std::vector<double> colours(mesh.vertices.size());
            for (std::size_t v = 0; v < colours.size(); ++v) {
                const Vector3d u(field[3 * v], field[3 * v + 1], field[3 * v + 2]);
                mesh.vertices[v] += scale * u;
                colours[v] = u.norm() / size;
            }
            pictures.push_back(
                surface_picture(mesh, colours, {.azimuth = -60, .elevation = 15, .width = 215},
                                k == 0 ? format("level %d, exact", level)
                                       : format("level %d, ε = %.2f", level, kTolerances[k - 1])));
            if (k == 0) continue;
            double error = 0;
            for (std::size_t v = 0; v < colours.size(); ++v)
                if (model->reference.kinds[v] == NodeKind::Free)
                    error =
                        std::max(error, double{std::hypot(field[3 * v] - truth[3 * v],
                                                          field[3 * v + 1] - truth[3 * v + 1],
                                                          field[3 * v + 2] - truth[3 * v + 2])});
            const auto& wavelets = dynamic_cast<const WaveletGreensFunctions&>(*shown[k]);
            table.add(
                {Cell::count(level), Cell::number(kTolerances[k - 1]),
                 Cell::count(static_cast<std::int64_t>(wavelets.column(id).nodes.size())),
                 page.at_most(format("level %d, ε = %.2f: error over ε", level, kTolerances[k - 1]),
                              error / size / kTolerances[k - 1], kMostResponseError, "%.2f")});
        }
        page.figure(pictures, format("Constraint level %d", level));
    }
    page.table(table);
}

}  // namespace pliant::reproduce
