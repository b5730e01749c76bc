#include "geometry/byte_reader.h"
#include "geometry/io_volume.h"
#include "geometry/text_scanner.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <limits>
#include <utility>

// Reader of Gmsh files, versions 2.2 and 4.1, ASCII and binary. Gmsh numbers the nodes of 4-node
// tetrahedra and 8-node hexahedra as VTK does, so elements are taken as they are.

namespace pliant {
namespace {

constexpr std::int64_t kMaxTag = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

struct ElementType {
    int type, dimension, num_nodes;
    std::string_view name;
};
constexpr int kTet4 = 4, kHex8 = 5;
constexpr ElementType kElementTypes[] = {
    {15, 0, 1, "point"},
    {1, 1, 2, "line"},
    {8, 1, 3, "3-node line"},
    {26, 1, 4, "4-node line"},
    {27, 1, 5, "5-node line"},
    {28, 1, 6, "6-node line"},
    {2, 2, 3, "triangle"},
    {9, 2, 6, "6-node triangle"},
    {20, 2, 9, "9-node triangle"},
    {21, 2, 10, "10-node triangle"},
    {22, 2, 12, "12-node triangle"},
    {23, 2, 15, "15-node triangle"},
    {24, 2, 15, "15-node triangle"},
    {25, 2, 21, "21-node triangle"},
    {3, 2, 4, "quadrangle"},
    {10, 2, 9, "9-node quadrangle"},
    {16, 2, 8, "8-node quadrangle"},
    {kTet4, 3, 4, "tetrahedron"},
    {11, 3, 10, "10-node second-order tetrahedron"},
    {29, 3, 20, "20-node third-order tetrahedron"},
    {30, 3, 35, "35-node fourth-order tetrahedron"},
    {31, 3, 56, "56-node fifth-order tetrahedron"},
    {kHex8, 3, 8, "hexahedron"},
    {12, 3, 27, "27-node second-order hexahedron"},
    {17, 3, 20, "20-node second-order hexahedron"},
    {92, 3, 64, "64-node third-order hexahedron"},
    {93, 3, 125, "125-node fourth-order hexahedron"},
    {6, 3, 6, "prism"},
    {13, 3, 18, "18-node second-order prism"},
    {18, 3, 15, "15-node second-order prism"},
    {7, 3, 5, "pyramid"},
    {14, 3, 14, "14-node second-order pyramid"},
    {19, 3, 13, "13-node second-order pyramid"},
};

// The numbers of an ASCII section; Gmsh does not care about its line breaks.
class TextNumbers {
public:
    explicit TextNumbers(TextScanner& scanner) : scanner_(scanner) {}

    std::int64_t integer(std::string_view what, std::int64_t lo, std::int64_t hi) {
        return scanner_.integer(what, lo, hi);
    }
    std::int64_t tag(std::string_view what) { return scanner_.integer(what, 0, kMaxTag); }
    int count(std::string_view what, std::size_t text_bytes_each, std::size_t) {
        return scanner_.count(what, text_bytes_each);
    }
    double real(std::string_view what) { return scanner_.real(what); }
    // Coordinates that are not used may be anything but the end of the section.
    void skip_real(std::string_view what) {
        const std::string_view token = scanner_.token(what);
        if (token.starts_with('$')) scanner_.fail(what, token, "a number");
    }
    void begin_item(std::string_view, std::int64_t) {}
    [[noreturn]] void fail(std::string_view field, std::string_view value,
                           std::string_view expected) {
        scanner_.fail(field, value, expected);
    }

private:
    TextScanner& scanner_;
};

// The same numbers in binary: int has 4 bytes, size_t `size_bytes` and double 8.
class BinaryNumbers {
public:
    BinaryNumbers(ByteReader& reader, int size_bytes) : reader_(reader), size_bytes_(size_bytes) {}

    std::int64_t integer(std::string_view what, std::int64_t lo, std::int64_t hi) {
        const auto value = reader_.read<std::int32_t>();
        if (value < lo || value > hi) {
            fail(what, std::to_string(value), std::to_string(lo) + " … " + std::to_string(hi));
        }
        return value;
    }
    std::int64_t tag(std::string_view what) {
        const std::uint64_t value = size();
        if (value > static_cast<std::uint64_t>(kMaxTag)) {
            fail(what, std::to_string(value), "0 … " + std::to_string(kMaxTag));
        }
        return static_cast<std::int64_t>(value);
    }
    int count(std::string_view what, std::size_t, std::size_t binary_bytes_each) {
        const std::uint64_t value = size();
        reader_.require_items(what, value, binary_bytes_each);
        return static_cast<int>(value);
    }
    double real(std::string_view what) { return reader_.real<double>(what); }
    void skip_real(std::string_view) { reader_.skip(sizeof(double)); }
    void begin_item(std::string_view item, std::int64_t index) { reader_.begin_item(item, index); }
    [[noreturn]] void fail(std::string_view field, std::string_view value,
                           std::string_view expected) {
        reader_.fail(field, value, expected);
    }

private:
    std::uint64_t size() {
        return size_bytes_ == 8 ? reader_.read<std::uint64_t>() : reader_.read<std::uint32_t>();
    }
    ByteReader& reader_;
    int size_bytes_;
};

// Tags of the nodes: any distinct numbers in any order.
class NodeTags {
public:
    void reserve(int count) { nodes_.reserve(static_cast<std::size_t>(count)); }
    void add(std::int64_t tag) { nodes_.emplace_back(tag, static_cast<int>(nodes_.size())); }

    void finish(const std::string& name) {
        std::sort(nodes_.begin(), nodes_.end());
        const auto repeated =
            std::adjacent_find(nodes_.begin(), nodes_.end(),
                               [](const Node& a, const Node& b) { return a.first == b.first; });
        if (repeated != nodes_.end()) {
            throw InputError(name, "the tag " + std::to_string(repeated->first) +
                                       " belongs to two nodes, number " +
                                       std::to_string(repeated->second + 1) + " and " +
                                       std::to_string((repeated + 1)->second + 1) + " in $Nodes");
        }
        if (nodes_.empty()) throw InputError(name, "$Nodes holds no nodes");
        is_dense_ = nodes_.back().first - nodes_.front().first ==
                    static_cast<std::int64_t>(nodes_.size()) - 1;
    }

    // The vertex with that tag, or -1.
    [[nodiscard]] int find(std::int64_t tag) const {
        if (tag < nodes_.front().first || tag > nodes_.back().first) return -1;
        if (is_dense_) return nodes_[static_cast<std::size_t>(tag - nodes_.front().first)].second;
        const auto node = std::lower_bound(nodes_.begin(), nodes_.end(), Node{tag, -1});
        return node->first == tag ? node->second : -1;
    }
    [[nodiscard]] std::string range() const {
        return std::to_string(nodes_.front().first) + " … " + std::to_string(nodes_.back().first);
    }

private:
    using Node = std::pair<std::int64_t, int>;
    std::vector<Node> nodes_;  // sorted by tag
    bool is_dense_ = false;
};

class MshReader {
public:
    MshReader(std::string_view bytes, const std::string& name)
        : bytes_(bytes), scanner_(bytes, name, TextScanner::kNoComment) {}

    VolumeMesh read() {
        read_format();
        std::string_view section;
        while (scanner_.next_token(section)) {
            if (!section.starts_with('$')) {
                scanner_.fail("text between sections", section, "a section such as $Nodes");
            }
            read_section(std::string(section.substr(1)));
        }
        return finish();
    }

private:
    void read_format() {
        std::string_view token;
        if (!scanner_.next_token(token) || token != "$MeshFormat") {
            scanner_.fail("first word", token, "$MeshFormat, as in Gmsh files of 2.2 and 4.1");
        }
        const std::string_view version = scanner_.token("the format version");
        if (version != "2.2" && version != "4.1") {
            scanner_.fail("format version", version, "2.2 or 4.1: save the mesh again from Gmsh");
        }
        is_v41_ = version == "4.1";
        is_binary_ = scanner_.integer("file type", 0, 1) == 1;
        size_bytes_ = static_cast<int>(scanner_.integer("data size", 4, 8));
        if (is_binary_) {
            const bool is_known = size_bytes_ == 8 || (is_v41_ && size_bytes_ == 4);
            if (!is_known) scanner_.fail("data size", std::to_string(size_bytes_), "8");
            // the number 1 as it looks in the byte order of the file
            ByteReader reader(bytes_, scanner_.name(), std::endian::little, scanner_.offset());
            reader.begin_item("the byte order mark");
            const auto mark = reader.read<std::uint32_t>();
            if (mark != 1 && mark != 0x01000000) {
                reader.fail("mark", std::to_string(mark), "the integer 1 in either byte order");
            }
            order_ = mark == 1 ? std::endian::little : std::endian::big;
            scanner_.seek(reader.offset());
        }
        expect_end("MeshFormat");
    }

    void read_section(const std::string& section) {
        if (section == "Nodes") {
            if (!mesh_.vertices.empty()) scanner_.fail("there is a second section $Nodes");
            if (is_v41_) {
                in_either_form([this](auto& in) { read_nodes_41(in); });
            } else {
                read_nodes_22();
            }
            tags_.finish(scanner_.name());
        } else if (section == "Elements") {
            if (mesh_.vertices.empty()) scanner_.fail("$Elements comes before $Nodes");
            if (has_elements_) scanner_.fail("there is a second section $Elements");
            has_elements_ = true;
            if (is_v41_) {
                in_either_form([this](auto& in) { read_elements_41(in); });
            } else {
                read_elements_22();
            }
        } else if (section == "PhysicalNames") {
            read_physical_names();
        } else if (section == "Entities" && is_v41_) {
            in_either_form([this](auto& in) { read_entities(in); });
        } else if (section == "PartitionedEntities") {
            scanner_.fail("the mesh is partitioned: save it from Gmsh without partitions");
        } else {
            return skip_section(section);
        }
        expect_end(section);
    }

    // Calls `read` with the numbers that follow, from the next line on when they are binary.
    template <class Read>
    void in_either_form(Read read) {
        if (is_binary_) {
            ByteReader reader(bytes_, scanner_.name(), order_, scanner_.offset());
            BinaryNumbers in(reader, size_bytes_);
            read(in);
            scanner_.seek(reader.offset());
        } else {
            TextNumbers in(scanner_);
            read(in);
        }
    }

    void expect_end(const std::string& section) {
        const std::string expected = "$End" + section;
        const std::string_view token = scanner_.token(expected);
        if (token != expected) scanner_.fail("end of $" + section, token, expected);
    }

    void skip_section(const std::string& section) {
        const std::string end = "$End" + section;
        if (is_binary_) {
            const std::size_t found = bytes_.find(end, scanner_.offset());
            if (found == std::string_view::npos) scanner_.fail("the file ends before " + end);
            scanner_.seek(found + end.size());
            return;
        }
        while (scanner_.next_line()) {
            if (scanner_.token_on_line() == end) return;
        }
        scanner_.fail("the file ends before " + end);
    }

    // dimension tag "name"; text even in binary files
    void read_physical_names() {
        const int count = scanner_.count("number of physical names", 7);
        for (int i = 0; i < count; ++i) {
            const auto dimension = scanner_.integer("dimension of a physical name", 0, 3);
            const auto tag = scanner_.integer("tag of a physical name", kMinInt, kMaxInt);
            std::string_view name = scanner_.rest_of_line();
            if (name.size() < 2 || name.front() != '"' || name.back() != '"') {
                scanner_.fail("physical name", name, "a name in double quotes");
            }
            name = name.substr(1, name.size() - 2);
            if (dimension == 3) names_[static_cast<double>(std::abs(tag))] = name;
        }
    }

    template <class Numbers>
    void read_entities(Numbers& in) {
        int counts[4];
        for (int& count : counts) count = in.count("number of entities", 10, 32);
        for (int dimension = 0; dimension < 4; ++dimension) {
            for (int i = 0; i < counts[dimension]; ++i) {
                in.begin_item("entity", i);
                const auto tag = in.integer("entity tag", kMinInt, kMaxInt);
                // position of a point, or bounding box
                const int num_reals = dimension == 0 ? 3 : 6;
                for (int k = 0; k < num_reals; ++k) in.skip_real("bounding box");
                const int num_physical = in.count("number of physical tags", 2, 4);
                for (int k = 0; k < num_physical; ++k) {
                    const auto physical = in.integer("physical tag", kMinInt, kMaxInt);
                    // the first group counts; its sign is an orientation
                    if (dimension == 3) physical_of_volume_.emplace(tag, std::abs(physical));
                }
                if (dimension == 0) continue;
                const int num_bounding = in.count("number of bounding entities", 2, 4);
                for (int k = 0; k < num_bounding; ++k) in.integer("entity tag", kMinInt, kMaxInt);
            }
        }
    }

    template <class Numbers>
    void read_nodes_41(Numbers& in) {
        in.begin_item("$Nodes", -1);
        const int num_blocks = in.count("number of node blocks", 8, 16);
        const int num_nodes = in.count("number of nodes", 8, 28);
        in.tag("smallest node tag");
        in.tag("largest node tag");
        tags_.reserve(num_nodes);
        mesh_.vertices.reserve(static_cast<std::size_t>(num_nodes));
        for (int block = 0; block < num_blocks; ++block) {
            in.begin_item("node block", block);
            const auto dimension = in.integer("entity dimension", 0, 3);
            in.integer("entity tag", kMinInt, kMaxInt);
            const bool is_parametric = in.integer("parametric", 0, 1) == 1;
            const int count = in.count("number of nodes in a block", 8, 28);
            if (count > num_nodes - mesh_.num_vertices()) {
                in.fail("number of nodes in a block", std::to_string(count),
                        "at most " + std::to_string(num_nodes - mesh_.num_vertices()) +
                            " more of the announced nodes");
            }
            for (int i = 0; i < count; ++i) tags_.add(in.tag("node tag"));
            for (int i = 0; i < count; ++i) {
                in.begin_item("node", mesh_.num_vertices());
                read_vertex(in);
                for (int k = 0; is_parametric && k < dimension; ++k) in.skip_real("parameter");
            }
        }
        if (mesh_.num_vertices() != num_nodes) {
            in.fail("number of nodes in all blocks", std::to_string(mesh_.num_vertices()),
                    std::to_string(num_nodes) + " as announced");
        }
    }

    void read_nodes_22() {
        const int num_nodes = scanner_.count("number of nodes", is_binary_ ? 28 : 8);
        tags_.reserve(num_nodes);
        mesh_.vertices.reserve(static_cast<std::size_t>(num_nodes));
        in_either_form([&](auto& in) {
            for (int i = 0; i < num_nodes; ++i) {
                in.begin_item("node", i);
                tags_.add(in.integer("node tag", 0, kMaxInt));
                read_vertex(in);
            }
        });
    }

    template <class Numbers>
    void read_vertex(Numbers& in) {
        Eigen::Vector3d x;
        for (double& coordinate : x) coordinate = in.real("node coordinate");
        mesh_.vertices.push_back(x);
    }

    template <class Numbers>
    void read_elements_41(Numbers& in) {
        in.begin_item("$Elements", -1);
        const int num_blocks = in.count("number of element blocks", 8, 16);
        const int num_elements = in.count("number of elements", 4, 8);
        in.tag("smallest element tag");
        in.tag("largest element tag");
        std::int64_t num_read = 0;
        for (int block = 0; block < num_blocks; ++block) {
            in.begin_item("element block", block);
            in.integer("entity dimension", 0, 3);
            const auto entity = in.integer("entity tag", kMinInt, kMaxInt);
            const ElementType& type = read_type(in);
            const auto num_values = static_cast<std::size_t>(1 + type.num_nodes);
            const int count =
                in.count("number of elements in a block", 2 * num_values, 4 * num_values);
            const auto physical = physical_of_volume_.find(entity);
            for (int i = 0; i < count; ++i) {
                in.begin_item("element", num_read++);
                in.tag("element tag");
                read_element(in, type, [&in] { return in.tag("node tag"); });
                if (type.dimension < 3) continue;
                physical_.push_back(static_cast<double>(
                    physical == physical_of_volume_.end() ? 0 : physical->second));
                entity_.push_back(static_cast<double>(entity));
            }
        }
        if (num_read != num_elements) {
            in.fail("number of elements in all blocks", std::to_string(num_read),
                    std::to_string(num_elements) + " as announced");
        }
    }

    void read_elements_22() {
        const int num_elements = scanner_.count("number of elements", 8);
        in_either_form([&](auto& in) {
            int num_read = 0;
            while (num_read < num_elements) {
                in.begin_item("element", num_read);
                // ASCII: each element has its own type; binary: a run of them shares it
                if (!is_binary_) in.integer("element tag", 0, kMaxInt);
                const ElementType& type = read_type(in);
                const int most = num_elements - num_read;
                const auto run = is_binary_ ? in.integer("elements of one type", 1, most) : 1;
                const auto num_tags = in.integer("number of tags", 0, kMaxInt);
                for (int i = 0; i < run; ++i) {
                    in.begin_item("element", num_read++);
                    if (is_binary_) in.integer("element tag", 0, kMaxInt);
                    // physical group, elementary entity, partitions
                    std::int64_t tags[2] = {0, 0};
                    for (std::int64_t k = 0; k < num_tags; ++k) {
                        const auto tag = in.integer("tag", kMinInt, kMaxInt);
                        if (k < 2) tags[k] = tag;
                    }
                    read_element(in, type,
                                 [&in] { return in.integer("node tag", kMinInt, kMaxInt); });
                    if (type.dimension < 3) continue;
                    physical_.push_back(static_cast<double>(std::abs(tags[0])));
                    entity_.push_back(static_cast<double>(tags[1]));
                }
            }
        });
    }

    template <class Numbers>
    const ElementType& read_type(Numbers& in) {
        const auto number = in.integer("element type", kMinInt, kMaxInt);
        const auto* type = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                        [&](const ElementType& t) { return t.type == number; });
        const bool is_known = type != std::end(kElementTypes);
        if (is_known && (type->dimension < 3 || number == kTet4 || number == kHex8)) return *type;
        std::string value = std::to_string(number);
        if (is_known) value += ", a " + std::string(type->name);
        in.fail("element type", value,
                "4, a 4-node tetrahedron, or 5, an 8-node hexahedron: mesh the volume again with "
                "first-order elements of one kind");
    }

    template <class Numbers, class NextTag>
    void read_element(Numbers& in, const ElementType& type, NextTag next_tag) {
        if (type.dimension == 3) {
            const auto kind = type.type == kTet4 ? ElementKind::Tet4 : ElementKind::Hex8;
            if (mesh_.elements.empty()) mesh_.kind = kind;
            if (mesh_.kind != kind) in.fail(kMixedElements, "", "");
            if (mesh_.num_elements() >= kMaxElements) {
                in.fail("number of volume elements", "more",
                        "at most " + std::to_string(kMaxElements));
            }
        }
        for (int k = 0; k < type.num_nodes; ++k) {
            const std::int64_t tag = next_tag();
            if (type.dimension < 3) continue;
            const int vertex = tags_.find(tag);
            if (vertex < 0) {
                in.fail("node tag", std::to_string(tag),
                        "a tag listed in $Nodes, within " + tags_.range());
            }
            mesh_.elements.push_back(vertex);
        }
    }

    VolumeMesh finish() {
        if (mesh_.vertices.empty()) scanner_.fail("the file has no section $Nodes");
        if (!has_elements_) scanner_.fail("the file has no section $Elements");
        if (mesh_.elements.empty()) {
            scanner_.fail(
                "the file has no tetrahedra or hexahedra: mesh the volume in 3D, and put "
                "it in a physical group if other groups exist");
        }
        const bool has_physical =
            std::any_of(physical_.begin(), physical_.end(), [](double tag) { return tag != 0; });
        if (has_physical) {
            set_regions(mesh_, physical_, names_);
        } else {
            set_regions(mesh_, entity_);
        }
        return std::move(mesh_);
    }

    std::string_view bytes_;
    TextScanner scanner_;
    bool is_v41_ = false, is_binary_ = false, has_elements_ = false;
    int size_bytes_ = 8;
    std::endian order_ = std::endian::native;
    NodeTags tags_;
    VolumeMesh mesh_;
    std::map<double, std::string> names_;                      // of 3D physical groups
    std::map<std::int64_t, std::int64_t> physical_of_volume_;  // by entity tag
    std::vector<double> physical_, entity_;                    // tags of each volume element
};

}  // namespace

VolumeMesh parse_msh(std::string_view bytes, const std::string& name) {
    return MshReader(bytes, name).read();
}

}  // namespace pliant
