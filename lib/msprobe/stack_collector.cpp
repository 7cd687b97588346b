#include "msprobe/stack_collector.h"

namespace msdump {

StackJson::Op StackCollector::add_stack(std::span<const std::string_view> frames) {
  StackJson::Op op;
  op.begin = result_.frame_ids.size();
  op.is_retrieved = frames.size() != 1 || frames[0] != kNoStack;
  if (!op.is_retrieved) return op;
  for (const std::string_view frame : frames) result_.frame_ids.push_back(frame_id(frame));
  op.count = frames.size();
  kept_ += op.count * sizeof(uint32_t);
  return op;
}

uint32_t StackCollector::frame_id(std::string_view text) {
  if (const auto known = frame_ids_.find(text); known != frame_ids_.end()) return known->second;
  const auto id = static_cast<uint32_t>(result_.frames.size());
  const std::string_view kept = keep(text);
  result_.frames.push_back(parse_msprobe_frame(kept));
  result_.frames.back().text = kept;
  kept_ += sizeof(MsprobeFrame) + kPerKey;
  frame_ids_.emplace(kept, id);
  return id;
}

void StackCollector::add_op(std::string_view name, size_t offset, StackJson::Op op) {
  op.offset = offset;
  if (const auto known = result_.by_name.find(name); known != result_.by_name.end()) {
    op.name = known->first;
    result_.ops[known->second] = op;
    return;
  }
  op.name = keep(name);
  result_.by_name.emplace(op.name, result_.ops.size());
  result_.ops.push_back(op);
  kept_ += sizeof(StackJson::Op) + kPerKey;
}

std::string_view StackCollector::keep(std::string_view text) {
  kept_ += text.size();
  return result_.texts.keep(text);
}

Status StackCollector::check_kept() const {
  if (kept_ <= limits_.kept) return {};
  return fail(ErrorCode::kTooLarge, "more than {} operators with {} frames: they do not fit into {} bytes of memory",
              result_.ops.size(), result_.frames.size(), limits_.kept);
}

}  // namespace msdump
