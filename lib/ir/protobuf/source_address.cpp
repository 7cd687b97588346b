#include "ir/protobuf/source_address.h"

#include "ir/model/scan.h"

namespace msdump {
namespace {

constexpr std::string_view kForward = "Corresponding forward node candidate:";
constexpr std::string_view kCandidate = "Corresponding code candidate:";

}  // namespace

size_t add_source_address(IrGraphBuilder& builder, std::string_view text, std::vector<uint32_t>& frames) {
  FrameKind kind = FrameKind::kOwn;
  bool begins_chain = true;
  size_t without_place = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with('#')) continue;
    line = trim_front(line.substr(1));
    if (line == kForward || line == kCandidate) {
      kind = line == kForward ? FrameKind::kForward : FrameKind::kCandidate;
      begins_chain = true;
      continue;
    }
    if (line.starts_with("- ")) {
      line = trim_front(line.substr(2));
      begins_chain = true;
    }
    if (!is_source_frame(line)) continue;
    if (const auto frame = builder.frame(line, kind, begins_chain)) {
      frames.push_back(*frame);
      begins_chain = false;
    } else {
      ++without_place;
    }
  }
  return without_place;
}

}  // namespace msdump
