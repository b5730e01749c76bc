#include "geometry/io_volume.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>

namespace pliant {
namespace {

// Gmsh output in either form; binary numbers in the byte order of this machine.
class MshFile {
public:
    MshFile(const std::filesystem::path& path, bool binary) : file_(path), is_binary_(binary) {}

    void text(std::string_view text) { file_.write(text); }
    void begin(std::string_view section) { text("$" + std::string(section) + "\n"); }
    void end(std::string_view section) {
        text((is_binary_ ? "\n$End" : "$End") + std::string(section) + "\n");
    }
    // One line in text.
    template <class... Values>
    void row(Values... values) {
        (value(values), ...);
        end_row();
    }
    template <class Value>
    void value(Value value) {
        if (is_binary_) {
            file_.write(&value, sizeof value);
        } else {
            if (!is_row_start_) text(" ");
            text(number_text(value));
            is_row_start_ = false;
        }
    }
    void end_row() {
        if (!is_binary_) text("\n");
        is_row_start_ = true;
    }
    void commit() { file_.commit(); }

private:
    AtomicFile file_;
    bool is_binary_, is_row_start_ = true;
};

using Size = std::uint64_t;  // size_t in the file

int element_type(const VolumeMesh& mesh) { return mesh.kind == ElementKind::Tet4 ? 4 : 5; }

void write_header(MshFile& file, const VolumeMesh& mesh, MshVersion version, bool binary) {
    file.begin("MeshFormat");
    file.text(version == MshVersion::V22 ? "2.2 " : "4.1 ");
    file.text(binary ? "1 8\n" : "0 8\n");
    if (binary) file.value(1);
    file.end("MeshFormat");

    if (mesh.region_names.empty()) return;
    file.text("$PhysicalNames\n" + std::to_string(mesh.region_names.size()) + "\n");
    for (std::size_t r = 0; r < mesh.region_names.size(); ++r) {
        // the format has no escape for quotes and line ends
        std::string name = mesh.region_names[r];
        std::replace(name.begin(), name.end(), '"', '\'');
        std::replace_if(
            name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
        file.text("3 " + std::to_string(region_label(static_cast<int>(r))) + " \"" + name + "\"\n");
    }
    file.text("$EndPhysicalNames\n");
}

void write_v22(MshFile& file, const VolumeMesh& mesh, bool binary) {
    file.text("$Nodes\n" + std::to_string(mesh.num_vertices()) + "\n");
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        const Eigen::Vector3d& x = mesh.vertices[static_cast<std::size_t>(v)];
        file.row(v + 1, x[0], x[1], x[2]);
    }
    file.end("Nodes");

    file.text("$Elements\n" + std::to_string(mesh.num_elements()) + "\n");
    // binary elements of one type share a header: type, their number, number of tags
    if (binary) file.row(element_type(mesh), mesh.num_elements(), 2);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const int label = region_label(region_of(mesh, e));
        file.value(e + 1);
        if (!binary) {
            file.value(element_type(mesh));
            file.value(2);
        }
        file.value(label);
        file.value(label);
        for (const int vertex : mesh.element(e)) file.value(vertex + 1);
        file.end_row();
    }
    file.end("Elements");
}

// One volume for each region, in a physical group of the same number.
void write_entities(MshFile& file, const VolumeMesh& mesh) {
    std::vector<Box> boxes(static_cast<std::size_t>(num_regions(mesh)));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        for (const int vertex : mesh.element(e)) {
            boxes[static_cast<std::size_t>(region_of(mesh, e))].extend(
                mesh.vertices[static_cast<std::size_t>(vertex)]);
        }
    }
    file.begin("Entities");
    file.row(Size{0}, Size{0}, Size{0}, static_cast<Size>(boxes.size()));
    for (std::size_t r = 0; r < boxes.size(); ++r) {
        if (boxes[r].isEmpty()) boxes[r] = Box(Eigen::Vector3d::Zero());
        const int label = region_label(static_cast<int>(r));
        file.value(label);
        for (const double x : boxes[r].min()) file.value(x);
        for (const double x : boxes[r].max()) file.value(x);
        file.row(Size{1}, label, Size{0});
    }
    file.end("Entities");
}

// First elements of the runs of one region, and the end: runs keep the order of the elements.
std::vector<int> region_runs(const VolumeMesh& mesh) {
    std::vector<int> starts{0};
    for (int e = 1; e < mesh.num_elements(); ++e) {
        if (region_of(mesh, e) != region_of(mesh, e - 1)) starts.push_back(e);
    }
    starts.push_back(mesh.num_elements());
    return starts;
}

void write_v41(MshFile& file, const VolumeMesh& mesh) {
    write_entities(file, mesh);

    file.begin("Nodes");
    const auto num_nodes = static_cast<Size>(mesh.vertices.size());
    file.row(Size{1}, num_nodes, Size{1}, num_nodes);
    file.row(3, region_label(region_of(mesh, 0)), 0, num_nodes);
    for (Size v = 0; v < num_nodes; ++v) file.row(v + 1);
    for (const Eigen::Vector3d& x : mesh.vertices) file.row(x[0], x[1], x[2]);
    file.end("Nodes");

    file.begin("Elements");
    const std::vector<int> runs = region_runs(mesh);
    const auto num_elements = static_cast<Size>(mesh.num_elements());
    file.row(static_cast<Size>(runs.size() - 1), num_elements, Size{1}, num_elements);
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        file.row(3, region_label(region_of(mesh, runs[i])), element_type(mesh),
                 static_cast<Size>(runs[i + 1] - runs[i]));
        for (int e = runs[i]; e < runs[i + 1]; ++e) {
            file.value(static_cast<Size>(e) + 1);
            for (const int vertex : mesh.element(e)) file.value(static_cast<Size>(vertex) + 1);
            file.end_row();
        }
    }
    file.end("Elements");
}

}  // namespace

void save_msh(const VolumeMesh& mesh, const std::filesystem::path& path, MshVersion version,
              bool is_binary) {
    check_writable(mesh, path);
    MshFile file(path, is_binary);
    write_header(file, mesh, version, is_binary);
    if (version == MshVersion::V22) {
        write_v22(file, mesh, is_binary);
    } else {
        write_v41(file, mesh);
    }
    file.commit();
}

}  // namespace pliant
