#include "geometry/io_surface.h"
#include "geometry/io_volume.h"
#include "geometry/text_scanner.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

namespace pliant {
namespace {

// A face that names a vertex not yet defined at its line.
struct ForwardReference {
    std::int64_t index;  // counted from 1, as in the file
    std::int64_t line;
};

class ObjReader {
public:
    ObjReader(std::string_view text, const std::string& name) : scanner_(text, name) {}

    SurfaceMesh read() {
        while (scanner_.next_line()) {
            const std::string_view keyword = next_field();
            if (keyword == "v") {
                read_vertex();
            } else if (keyword == "f") {
                read_face();
            } else {
                while (!next_field().empty()) {
                }
            }
        }
        check_forward_references();
        require_triangles(mesh_, scanner_.name());
        return std::move(mesh_);
    }

private:
    // The next token of a statement, which a backslash continues on the next line.
    std::string_view next_field() {
        for (;;) {
            const std::string_view field = scanner_.token_on_line();
            if (!field.ends_with('\\') || !scanner_.at_line_end()) return field;
            const bool has_more = scanner_.advance_line();
            if (field.size() > 1 || !has_more) return field.substr(0, field.size() - 1);
        }
    }

    void read_vertex() {
        if (mesh_.vertices.size() >= static_cast<std::size_t>(kMaxMeshItems)) {
            scanner_.fail("the surface has more than 2147483647 vertices");
        }
        Eigen::Vector3d x;
        for (double& coordinate : x) {
            const std::string_view field = next_field();
            if (field.empty()) scanner_.fail("vertex", "", "three coordinates after v");
            coordinate = scanner_.to_real(field, "vertex coordinate");
        }
        mesh_.vertices.push_back(x);
        // weight or colour
        while (!next_field().empty()) {
        }
    }

    void read_face() {
        corners_.clear();
        for (std::string_view field = next_field(); !field.empty(); field = next_field()) {
            // v, v/t, v//n or v/t/n: only the position counts
            corners_.push_back(resolve(field.substr(0, field.find('/'))));
        }
        if (corners_.size() < 3) {
            scanner_.fail("corners of the face", std::to_string(corners_.size()), "3 or more");
        }
        add_polygon(mesh_, corners_, scanner_.name());
    }

    int resolve(std::string_view text) {
        const auto num_defined = static_cast<std::int64_t>(mesh_.vertices.size());
        const std::int64_t index =
            scanner_.to_integer(text, "vertex index", -kMaxMeshItems, kMaxMeshItems);
        if (index == 0) {
            scanner_.fail("vertex index", "0", "1 or more, or -1 for the last vertex so far");
        }
        if (index < -num_defined) {
            scanner_.fail("vertex index", text,
                          "at least -" + std::to_string(num_defined) + ": the vertices so far");
        }
        if (index < 0) return static_cast<int>(num_defined + index);

        // Growing indices suffice: the first one beyond the final vertex count is larger than all
        // before it.
        if (index > num_defined && (forward_.empty() || index > forward_.back().index)) {
            forward_.push_back({index, scanner_.line()});
        }
        return static_cast<int>(index - 1);
    }

    void check_forward_references() const {
        const auto num_vertices = static_cast<std::int64_t>(mesh_.vertices.size());
        for (const ForwardReference& reference : forward_) {
            if (reference.index > num_vertices) {
                throw InputError(scanner_.name() + ":" + std::to_string(reference.line),
                                 "vertex index", std::to_string(reference.index),
                                 num_vertices == 0 ? "vertices in the file, there are none"
                                                   : "1 … " + std::to_string(num_vertices));
            }
        }
    }

    TextScanner scanner_;
    SurfaceMesh mesh_;
    std::vector<int> corners_;
    std::vector<ForwardReference> forward_;
};

}  // namespace

SurfaceMesh parse_obj(std::string_view text, const std::string& name) {
    return ObjReader(text, name).read();
}

void write_obj(const SurfaceMesh& mesh, AtomicFile& file) {
    for (const Eigen::Vector3d& x : mesh.vertices) {
        file.write("v");
        write_numbers(file, x);
        file.write("\n");
    }
    for (const Triangle& triangle : mesh.triangles) {
        file.write("f");
        write_numbers(file, triangle, 1);
        file.write("\n");
    }
}

}  // namespace pliant
