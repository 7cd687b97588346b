#include "ir/text/stacks.h"

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {

List Stacks::stack(std::span<const FrameLine> frames) {
  frames_.clear();
  for (size_t begin = 0; begin < frames.size();) {
    size_t end = begin + 1;
    while (end < frames.size() && !frames[end].begins_chain) ++end;
    add_chain(frames.subspan(begin, end - begin));
    begin = end;
  }
  return builder_->stack(frames_);
}

// A frame is interned with its place in the chain, so the order must be known first. It is assumed to be that of the
// previous chain, and corrected when the frames say otherwise.
void Stacks::add_chain(std::span<const FrameLine> chain) {
  const bool outermost_first = intern_chain(chain, outermost_first_);
  if (outermost_first != outermost_first_) {
    outermost_first_ = outermost_first;
    intern_chain(chain, outermost_first);
  }
  frames_.insert(frames_.end(), chain_.begin(), chain_.end());
}

// Fills chain_, innermost first if the frames are in the given order; returns the order they are in.
bool Stacks::intern_chain(std::span<const FrameLine> chain, bool outermost_first) {
  chain_.clear();
  for (size_t i = 0; i < chain.size(); ++i) {
    const FrameLine& line = outermost_first ? chain[chain.size() - 1 - i] : chain[i];
    const auto frame = builder_->frame(line.text, line.kind, chain_.empty());
    if (!frame) {
      builder_->add_problem(line.line, fmt::format("no line number in: {}", excerpt(line.text)));
      continue;
    }
    chain_.push_back(*frame);
  }
  return is_outermost_first(chain);
}

bool Stacks::is_outermost_first(std::span<const FrameLine> chain) {
  bool plain = false;
  for (const uint32_t frame : chain_) {
    if (builder_->style_of(frame) == PlaceStyle::kRange) return true;
    plain = plain || builder_->style_of(frame) == PlaceStyle::kLine;
  }
  if (plain && chain_.size() > 1 && spelling_->order() == Spelling::Order::kUnknown && !order_missed_) {
    order_missed_ = true;
    builder_->add_problem(chain.front().line, "the order of source lines is unknown; innermost first is assumed");
  }
  return plain && spelling_->order() == Spelling::Order::kOutermostFirst;
}

}  // namespace msdump
