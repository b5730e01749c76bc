#include "geometry/file_extension.h"
#include "geometry/io_volume.h"
#include "geometry/text_scanner.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

#include <utility>

// TetGen writes one mesh as two files: NAME.node with the points, NAME.ele with the tetrahedra.

namespace pliant {
namespace {

void begin_file(TextScanner& scanner, std::string_view what) {
    if (!scanner.next_line()) {
        scanner.fail("the file is empty, without the number of " + std::string(what));
    }
}

// points, dimension, attributes, markers; then number, x, y, z and columns of no use here
int read_points(TextScanner& scanner, VolumeMesh& mesh) {
    begin_file(scanner, "points");
    const int count =
        scanner.to_count(take_column(scanner, "number of points"), "number of points", 8);
    if (count == 0) scanner.fail("number of points", "0", "1 or more");
    const std::string_view dimension = take_column(scanner, "dimension");
    static_cast<void>(scanner.to_integer(dimension, "dimension", 3, 3));

    int first = 0;
    mesh.vertices.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        begin_numbered_row(scanner, "point", i, first);
        Eigen::Vector3d x;
        for (double& coordinate : x) {
            coordinate = scanner.to_real(take_column(scanner, "coordinate"), "coordinate");
        }
        mesh.vertices.push_back(x);
    }
    return first;
}

// tetrahedra, nodes of each, attributes; then number, nodes, and the region as first attribute
void read_tetrahedra(TextScanner& scanner, int first_point, VolumeMesh& mesh) {
    begin_file(scanner, "tetrahedra");
    const std::string_view what = "number of tetrahedra";
    const int count = scanner.to_count(take_column(scanner, what), what, 10, kMaxElements);
    if (count == 0) scanner.fail(what, "0", "1 or more");
    const std::string_view num_nodes = take_column(scanner, "nodes per tetrahedron");
    if (num_nodes != "4") {
        scanner.fail("nodes per tetrahedron", num_nodes,
                     "4: run TetGen without -o2 for first-order tetrahedra");
    }
    const std::string_view attributes = scanner.token_on_line();
    const bool has_regions =
        !attributes.empty() &&
        scanner.to_integer(attributes, "number of attributes", 0, kMaxMeshItems) > 0;

    int first = 0;
    const std::int64_t last_point = std::int64_t{first_point} + mesh.num_vertices() - 1;
    std::vector<double> labels;
    mesh.elements.reserve(4 * static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        begin_numbered_row(scanner, "tetrahedron", i, first);
        for (int k = 0; k < 4; ++k) {
            const std::int64_t point = scanner.to_integer(take_column(scanner, "point index"),
                                                          "point index", first_point, last_point);
            mesh.elements.push_back(static_cast<int>(point - first_point));
        }
        const std::string_view region =
            has_regions ? take_column(scanner, "region attribute") : "0";
        labels.push_back(scanner.to_real(region, "region attribute"));
    }
    set_regions(mesh, labels);
}

}  // namespace

VolumeMesh parse_tetgen(std::string_view node_text, const std::string& node_name,
                        std::string_view ele_text, const std::string& ele_name) {
    VolumeMesh mesh;
    TextScanner nodes(node_text, node_name);
    const int first_point = read_points(nodes, mesh);
    TextScanner tetrahedra(ele_text, ele_name);
    read_tetrahedra(tetrahedra, first_point, mesh);
    return mesh;
}

void save_tetgen(const VolumeMesh& mesh, const std::filesystem::path& path) {
    if (mesh.kind != ElementKind::Tet4) {
        throw InputError(path.string(),
                         "TetGen files hold tetrahedra only: save hexahedra as .msh, .veg, .mesh, "
                         ".vtu or .pliant");
    }
    const bool is_node = lower_extension(path) == ".node";
    const std::filesystem::path other = tetgen_partner(path);
    AtomicFile nodes(is_node ? path : other), tetrahedra(is_node ? other : path);

    nodes.write(number_text(mesh.num_vertices()) + " 3 0 0\n");
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        nodes.write(number_text(v));
        write_numbers(nodes, mesh.vertices[static_cast<std::size_t>(v)]);
        nodes.write("\n");
    }

    const bool has_regions = num_regions(mesh) > 1;
    tetrahedra.write(number_text(mesh.num_elements()) + (has_regions ? " 4 1\n" : " 4 0\n"));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        tetrahedra.write(number_text(e));
        write_numbers(tetrahedra, mesh.element(e), 0);
        if (has_regions) tetrahedra.write(" " + number_text(region_label(region_of(mesh, e))));
        tetrahedra.write("\n");
    }

    // who waits for the .ele file finds both
    nodes.commit();
    tetrahedra.commit();
}

}  // namespace pliant
