#include "server/frame_stream.h"

#include <utility>

namespace pliant {

void FrameStream::update(std::span<const BodyStream> streams, ViewedWorld& viewed) {
    loops_.clear();
    for (int l = 0; l < viewed.world().num_loops(); ++l) loops_.push_back(&viewed.frame(l));
    gather_frame(streams, loops_, viewed.is_paused(), newer_);
    if (is_valid_ && newer_ == content_) return;
    std::swap(content_, newer_);
    is_valid_ = true;
    ++number_;
    frame_.reset();
    has_mesh_nodes_ = has_contact_marks_ = false;
}

const SharedBytes& FrameStream::frame(std::span<const BodyStream> streams, double clock) {
    if (frame_ == nullptr) frame_ = encode_frame(streams, content_, number_, clock);
    return frame_;
}

std::span<const SharedBytes> FrameStream::mesh_nodes(std::span<const BodyStream> streams) {
    if (!has_mesh_nodes_) mesh_nodes_ = encode_mesh_nodes(streams, content_);
    has_mesh_nodes_ = true;
    return mesh_nodes_;
}

std::span<const SharedBytes> FrameStream::contact_marks(const World& world,
                                                        std::span<const BodyStream> streams) {
    if (!has_contact_marks_) {
        contact_marks_ = encode_contact_marks(world, loops_);
        if (SharedBytes proxy = encode_proxy_triangles(world, streams, content_, loops_))
            contact_marks_.push_back(std::move(proxy));
    }
    has_contact_marks_ = true;
    return contact_marks_;
}

}  // namespace pliant
