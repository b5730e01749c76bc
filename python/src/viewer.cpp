#include "long_call.h"
#include "scene_handle.h"

#include "pliant/core/error.h"
#include "pliant/scene/scene_file.h"
#include "pliant/server/viewer_server.h"
#include "server/leading_page.h"
#include "server/page_files.h"

namespace pliant::python {
namespace {

/// A page that is served until it is closed.
class ViewerHandle {
public:
    explicit ViewerHandle(std::unique_ptr<ViewerServer> server) : server_(std::move(server)) {}
    [[nodiscard]] const ViewerServer& server() const {
        if (!server_) throw InputError("", "this viewer is closed");
        return *server_;
    }
    [[nodiscard]] bool is_open() const noexcept { return server_ != nullptr; }
    [[nodiscard]] std::string leading_page() {
        if (!page_) page_ = std::make_unique<LeadingPage>(server().url());
        return page_->path();
    }
    void close() {
        if (!server_) return;
        // no longer this handle's before others may run: some of them ask for its status
        const std::unique_ptr<LeadingPage> page = std::move(page_);
        std::unique_ptr<ViewerServer> server = std::move(server_);
        std::string losses;
        {
            const py::gil_scoped_release release;
            server->finish_recording();
            for (const std::string& loss : server->losses())
                losses += (losses.empty() ? "" : "\n") + loss;
            server.reset();
        }
        if (!losses.empty()) throw InputError("", losses);
    }

private:
    std::unique_ptr<ViewerServer> server_;
    std::unique_ptr<LeadingPage> page_;
};

ViewerOptions viewer_options(int port, const std::string& address, double speed,
                             const std::filesystem::path& recordings) {
    if (page_files().empty())
        throw InputError("", "the viewer is not in this build; install npm and build again");
    ViewerOptions options;
    options.web.port = port;
    options.web.address = address;
    options.web.token = random_token();
    options.speed = speed;
    options.recordings = recordings;
    for (const DemoInfo& info : demo_list())
        options.scenes.push_back({info.name, info.description});
    options.open_scene = [](const std::string& name, Progress& progress) {
        return std::make_unique<World>(demo_scene(name), WorldOptions{}, progress);
    };
    return options;
}

ViewerHandle serve(std::unique_ptr<World> world, const ViewerOptions& options) {
    const py::gil_scoped_release release;
    return ViewerHandle(std::make_unique<ViewerServer>(std::move(world), options));
}

ViewerHandle view_scene(const SceneHandle& scene, int port, const std::string& address,
                        double speed, const std::filesystem::path& recordings,
                        const ProgressArgument& progress) {
    scene.refuse_loads("the viewer runs a world of its own, without forces in arrays");
    ViewerOptions options = viewer_options(port, address, speed, recordings);
    const SceneDescription& shown_scene = scene.description();
    options.scenes.insert(options.scenes.begin(), {shown_scene.name, shown_scene.description});
    options.open_scene = [shown_scene](const std::string& name, Progress& shown) {
        return std::make_unique<World>(name == shown_scene.name ? shown_scene : demo_scene(name),
                                       WorldOptions{}, shown);
    };
    auto world = run_long(progress, [&](Progress& shown) {
        shown.stage("scene");
        return std::make_unique<World>(shown_scene, WorldOptions{}, shown);
    });
    return serve(std::move(world), options);
}

/// Copies of bodies in a loop of their own, seen from a good place.
std::unique_ptr<World> world_of_bodies(const std::vector<BodyPointer>& bodies, double rate,
                                       const ArrayArgument& gravity) {
    if (bodies.empty()) throw InputError("", "bodies", "none", "one at least");
    check_all(bodies, "bodies", "a Body");
    WorldParts parts;
    std::vector<std::unique_ptr<Body>> copies;
    std::vector<int> places;
    Box box;
    for (const BodyPointer& body : bodies) {
        copies.push_back(body->copy());
        const int i = static_cast<int>(places.size());
        places.push_back(i);
        parts.bodies.push_back({.name = std::string(copies.back()->kind()) +
                                        (bodies.size() > 1 ? "[" + std::to_string(i) + "]" : ""),
                                .description = i,
                                .place = i,
                                .colour = {0.62f, 0.69f, 0.78f}});
        const std::vector<float>& x = *body->positions();
        for (std::size_t k = 0; k + 2 < x.size(); k += 3)
            box.extend(Eigen::Vector3f(x[k], x[k + 1], x[k + 2]).cast<double>());
    }
    LoopSettings settings;
    settings.rate = rate;
    settings.gravity = vector_of(gravity, "gravity");
    parts.loops.push_back(
        std::make_unique<SimulationLoop>(settings, std::move(copies), std::move(places)));
    SceneDescription scene;
    scene.name = "Python";
    scene.rate = rate;
    const double size = box.sizes().norm();
    scene.camera.eye = box.center() + size * Eigen::Vector3d(0.7, -1.1, 0.5);
    scene.camera.target = box.center();
    scene.ground_height = box.min().z() - 0.02 * size;
    return std::make_unique<World>(std::move(scene), std::move(parts));
}

}  // namespace

void bind_viewer(py::module_& m) {
    py::class_<ViewerHandle>(m, "Viewer", "A page in the browser, until it is closed.")
        .def_property_readonly(
            "url", [](const ViewerHandle& v) { return v.server().url(); },
            "Of the page, for a browser on this machine.")
        .def_property_readonly(
            "network_urls", [](const ViewerHandle& v) { return v.server().network_urls(); },
            "Of the page, for other machines: where address is not that of this machine alone.")
        .def_property_readonly(
            "leading_page", &ViewerHandle::leading_page,
            "A file that leads a browser to the page: everybody on the machine can read what a "
            "browser was started with, and only this user the file. Empty: there was no place for "
            "it.")
        .def_property_readonly(
            "status", [](const ViewerHandle& v) { return v.server().status_line(); },
            "One line: ticks, percentiles, viewers.")
        .def_property_readonly("is_open", &ViewerHandle::is_open, "Until close().")
        .def("close", &ViewerHandle::close,
             "Ends the page and its loops. Raises InputError where a recording was lost.")
        .def("__enter__", [](const py::object& self) { return self; })
        .def("__exit__", [](ViewerHandle& v, const py::args& /*why*/) { v.close(); });
    m.def(
        "view_scene", &view_scene, py::arg("scene"), py::arg("port") = 0,
        py::arg("address") = "127.0.0.1", py::arg("speed") = 1.0, py::arg("recordings") = ".",
        py::arg("progress") = py::none(),
        "The scene from its start in real time, on a page; port 0: any free one; speed: simulated "
        "seconds per second, 0.01 to 1; recordings: folder of those made on the page.");
    m.def(
        "view_bodies",
        [](const std::vector<BodyPointer>& bodies, double rate, const ArrayArgument& gravity,
           int port, const std::string& address, double speed,
           const std::filesystem::path& recordings) {
            auto world = world_of_bodies(bodies, rate, gravity);
            return serve(std::move(world), viewer_options(port, address, speed, recordings));
        },
        py::arg("bodies"), py::arg("rate") = 1000.0, py::arg("gravity") = py::make_tuple(0, 0, 0),
        py::arg("port") = 0, py::arg("address") = "127.0.0.1", py::arg("speed") = 1.0,
        py::arg("recordings") = ".",
        "Copies of bodies as they are now, running on a page. rate of steps [Hz]; gravity [m/s²]; "
        "port 0: any free one; speed: simulated seconds per second, 0.01 to 1; recordings: folder "
        "of those made on the page.");
    m.def(
        "view_recording",
        [](const Recording& recording, int port, const std::string& address,
           const ProgressArgument& progress) {
            const ViewerOptions options = viewer_options(port, address, 1, ".");
            auto world = run_long(progress, [&](Progress& shown) {
                shown.stage("scene");
                return std::make_unique<World>(
                    replay_world(recording, "scene of the recording", {}, shown));
            });
            const py::gil_scoped_release release;
            return ViewerHandle(
                std::make_unique<ViewerServer>(recording, std::move(world), options));
        },
        py::arg("recording"), py::arg("port") = 0, py::arg("address") = "127.0.0.1",
        py::arg("progress") = py::none(),
        "A recording, played and searched on a page; port 0: any free one.");
}

}  // namespace pliant::python
