#pragma once

#include "field_handle.h"
#include "pliant/contact/contact_pair.h"

namespace pliant::python {

/// A contact pair with the bodies that it needs.
struct PairHandle {
    BodyPointer shell, solid;
    std::unique_ptr<ContactPair> pair;
};

}  // namespace pliant::python
