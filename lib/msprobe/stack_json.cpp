#include "msprobe/stack_json.h"

#include <algorithm>

#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

constexpr std::string_view kNoStack = "The call stack retrieval failed.";

// The first item that is not a string; null if all are.
const JsonValue* not_a_text(const JsonValue& list) {
  const auto found = std::find_if(list.items.begin(), list.items.end(),
                                  [](const JsonValue& item) { return !item.is(JsonKind::kString); });
  return found == list.items.end() ? nullptr : &*found;
}

class StackJsonReader {
 public:
  StackJsonReader(std::string_view text, const StackJsonLimits& limits)
      : text_(text), limits_(limits), problems_(text) {}

  Result<StackJson> read(const std::string& path) {
    MSDUMP_CHECK_OK(read_json_entries(
        text_, limits_.entry, problems_, result_.entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); }));
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    const bool shared = value.items.size() == 2 && value.items[0].is(JsonKind::kArray);
    const JsonValue& frames = shared ? value.items[1] : value;
    if (!frames.is(JsonKind::kArray)) return problems_.add(member, frames, "expected a list of frames");
    if (const JsonValue* bad = not_a_text(frames)) return problems_.add(member, *bad, "a frame that is not a string");
    if (!shared) {
      add_op(member.key, member.begin, add_stack(frames));
      return check_kept();
    }
    result_.is_shared = true;
    const JsonValue& names = value.items[0];
    if (const JsonValue* bad = not_a_text(names))
      return problems_.add(member, *bad, "the name of an operator is not a string");
    const StackJson::Op stack = add_stack(frames);
    for (const JsonValue& name : names.items) add_op(name.text, member.begin + name.offset, stack);
    return check_kept();
  }

  // An operator without a name that has this stack.
  StackJson::Op add_stack(const JsonValue& list) {
    StackJson::Op op;
    op.begin = result_.frame_ids.size();
    op.is_retrieved = list.items.size() != 1 || list.items[0].text != kNoStack;
    if (!op.is_retrieved) return op;
    for (const JsonValue& item : list.items) result_.frame_ids.push_back(frame_id(item.text));
    op.count = list.items.size();
    kept_ += op.count * sizeof(uint32_t);
    return op;
  }

  uint32_t frame_id(std::string_view text) {
    if (const auto known = frame_ids_.find(text); known != frame_ids_.end()) return known->second;
    const auto id = static_cast<uint32_t>(result_.frames.size());
    const std::string_view kept = keep(text);
    result_.frames.push_back(parse_msprobe_frame(kept));
    result_.frames.back().text = kept;
    kept_ += sizeof(MsprobeFrame) + kPerKey;
    frame_ids_.emplace(kept, id);
    return id;
  }

  void add_op(std::string_view name, size_t offset, StackJson::Op op) {
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

  std::string_view keep(std::string_view text) {
    kept_ += text.size();
    return result_.texts.keep(text);
  }

  // Checked between entries only, which have a limit of their own. The limit also keeps ids within 32 bits.
  Status check_kept() const {
    if (kept_ <= limits_.kept) return {};
    return fail(ErrorCode::kTooLarge, "more than {} operators with {} frames: they do not fit into {} bytes of memory",
                result_.ops.size(), result_.frames.size(), limits_.kept);
  }

  static constexpr uint64_t kPerKey = 64;  // the memory of one key in a hash table

  std::string_view text_;
  const StackJsonLimits& limits_;
  StackJson result_;
  JsonProblems problems_;
  std::unordered_map<std::string_view, uint32_t> frame_ids_;
  uint64_t kept_ = 0;
};

}  // namespace

const StackJson::Op* StackJson::find(std::string_view op_name) const {
  const auto found = by_name.find(op_name);
  return found == by_name.end() ? nullptr : &ops[found->second];
}

std::vector<std::string_view> StackJson::texts_of(const Op& op) const {
  if (!op.is_retrieved) return {kNoStack};
  std::vector<std::string_view> lines;
  for (const uint32_t frame : stack_of(op)) lines.push_back(frames[frame].text);
  return lines;
}

MsprobeFrame parse_msprobe_frame(std::string_view text) {
  const MsprobeFrame as_it_is{{}, 0, {}, trimmed(text)};
  constexpr std::string_view kFile = "File ", kLine = ", line ", kIn = ", in ";
  if (!text.starts_with(kFile)) return as_it_is;
  // The place ends at the line feed. The name of a function has no comma, but a path may have one.
  const size_t line_end = std::min(text.find('\n'), text.size());
  std::string_view place = trimmed(text.substr(kFile.size(), line_end - kFile.size()));
  if (place.ends_with(',')) place.remove_suffix(1);
  const size_t in = place.rfind(kIn);
  const size_t line = in == std::string_view::npos ? in : place.rfind(kLine, in);
  if (line == std::string_view::npos || line == 0) return as_it_is;
  const size_t digits = line + kLine.size();
  const auto number = digits <= in ? parse_u64(place.substr(digits, in - digits)) : std::nullopt;
  if (!number || *number > uint64_t{INT32_MAX}) return as_it_is;
  return {place.substr(0, line), static_cast<int64_t>(*number), place.substr(in + kIn.size()),
          trimmed(text.substr(line_end))};
}

Result<StackJson> read_stack_json(const File& file, const StackJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a stack.json"));
  return in_file(StackJsonReader(text.view(), limits).read(file.path()), file.path());
}

}  // namespace msdump
