#include "msprobe/stack_json.h"

#include <algorithm>

#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"
#include "msprobe/stack_collector.h"

namespace msdump {
namespace {

// The first item that is not a string; null if all are.
const JsonValue* not_a_text(const JsonValue& list) {
  const auto found = std::find_if(list.items.begin(), list.items.end(),
                                  [](const JsonValue& item) { return !item.is(JsonKind::kString); });
  return found == list.items.end() ? nullptr : &*found;
}

class StackJsonReader {
 public:
  StackJsonReader(std::string_view text, const StackJsonLimits& limits)
      : text_(text), limits_(limits), stacks_(limits), problems_(text) {}

  Result<StackJson> read(const std::string& path) {
    MSDUMP_CHECK_OK(read_json_entries(
        text_, limits_.entry, problems_, stacks_.result().entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); }));
    stacks_.result().problems = problems_.take(path);
    return std::move(stacks_.result());
  }

 private:
  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    const bool shared = value.items.size() == 2 && value.items[0].is(JsonKind::kArray);
    const JsonValue& frames = shared ? value.items[1] : value;
    if (!frames.is(JsonKind::kArray)) return problems_.add(member, frames, "expected a list of frames");
    if (const JsonValue* bad = not_a_text(frames)) return problems_.add(member, *bad, "a frame that is not a string");
    if (!shared) {
      stacks_.add_op(member.key, member.begin, add_stack(frames));
      return stacks_.check_kept();
    }
    stacks_.result().is_shared = true;
    const JsonValue& names = value.items[0];
    if (const JsonValue* bad = not_a_text(names))
      return problems_.add(member, *bad, "the name of an operator is not a string");
    const StackJson::Op stack = add_stack(frames);
    for (const JsonValue& name : names.items) stacks_.add_op(name.text, member.begin + name.offset, stack);
    return stacks_.check_kept();
  }

  StackJson::Op add_stack(const JsonValue& list) {
    texts_.assign(list.items.size(), {});
    std::transform(list.items.begin(), list.items.end(), texts_.begin(),
                   [](const JsonValue& item) { return std::string_view(item.text); });
    return stacks_.add_stack(texts_);
  }

  std::string_view text_;
  const StackJsonLimits& limits_;
  StackCollector stacks_;
  JsonProblems problems_;
  std::vector<std::string_view> texts_;  // the frames of a stack
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
