// What is found of the parameters of two checkpoints: which belong together, and how.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/match/pairing.h"
#include "compare/match/parameters/parameter_side.h"
#include "compare/match/parameters/parameter_views.h"

namespace msdump {

struct ParameterLink {
  uint32_t a = kNoItem, b = kNoItem;  // items; one may be missing where the note says why
  PairedBy how = PairedBy::kName;
  std::string note = {};                               // "transposed", "part 1 of 3: qkv = concat(q, k, v; axis 0)"
  std::optional<TensorView> view_a = {}, view_b = {};  // what is compared; nothing: all
  uint32_t part = 0;                                   // of the tensor on the side with a view
};

// Both sides, and the links so far.
class ParameterLinks {
 public:
  ParameterLinks(ParameterSide& a, ParameterSide& b) : a_(a), b_(b) {}

  [[nodiscard]] ParameterSide& a() { return a_; }
  [[nodiscard]] ParameterSide& b() { return b_; }
  [[nodiscard]] std::vector<ParameterLink>& all() { return links_; }

  // Takes both items.
  void add(ParameterLink link);
  // Counts what was found of a class of names: "renamed", "w = concat(q, k; axis 0)".
  void tell(const std::string& kind, const std::string& text, uint64_t count);
  [[nodiscard]] std::vector<FoundRelation> told() const;

  ReachedLimits limits;

 private:
  ParameterSide &a_, &b_;
  std::vector<ParameterLink> links_;
  std::vector<FoundRelation> told_;
  std::map<std::pair<std::string, std::string>, size_t> places_;  // in told_
};

}  // namespace msdump
