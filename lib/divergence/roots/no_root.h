// NoRoot: the reason why a comparison with differences has no root: they were not judged, or rounding or random numbers explain
// them.
#pragma once

#include <string>

#include "divergence/dump_diff.h"

namespace msdump {

struct NoRoot {
  std::string text;
  bool any_unjudged = false;
};

// "no operator stands out; 38 differences could not be judged (30: written by an optimizer ..; 8: ..)"
[[nodiscard]] NoRoot describe_no_root(const DiffResult& run);

}  // namespace msdump
