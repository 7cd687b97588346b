#include "compare/match/parameters/parameter_links.h"

namespace msdump {

void ParameterLinks::add(ParameterLink link) {
  if (link.a != kNoItem) a_.take(link.a);
  if (link.b != kNoItem) b_.take(link.b);
  links_.push_back(std::move(link));
}

void ParameterLinks::tell(const std::string& kind, const std::string& text, uint64_t count) {
  const auto [place, added] = places_.try_emplace({kind, text}, told_.size());
  if (added) told_.push_back({kind, text, 0});
  told_[place->second].count += count;
}

std::vector<FoundRelation> ParameterLinks::told() const { return told_; }

}  // namespace msdump
