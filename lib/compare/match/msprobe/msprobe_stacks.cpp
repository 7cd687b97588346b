#include "compare/match/msprobe/msprobe_stacks.h"

#include "compare/match/msprobe/msprobe_python.h"
#include "io/read_text.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

constexpr uint64_t kMaxText = uint64_t{4} << 30;
constexpr uint64_t kMaxEntry = uint64_t{16} << 20;

bool is_shared(const JsonValue& value) {
  return value.is(JsonKind::kArray) && value.items.size() == 2 && value.items[0].is(JsonKind::kArray);
}

std::vector<std::string> texts_of(const JsonValue& frames) {
  std::vector<std::string> texts;
  for (const JsonValue& frame : frames.items) texts.push_back(str_of(frame));
  return texts;
}

}  // namespace

const std::string* MsprobeStacks::find(const std::string& entry) const {
  const auto found = by_name.find(entry);
  return found == by_name.end() ? nullptr : &texts[found->second];
}

Result<MsprobeStacks> read_msprobe_stacks(const File& file) {
  MSDUMP_TRY(const auto text, read_large_text(file, kMaxText, "a stack.json"));
  MsprobeStacks stacks;
  stacks.older_form = true;
  JsonProblems problems(text.view());
  int64_t entries = 0;
  const auto entry = [&](const JsonMemberPlace& member, const JsonValue& value) -> Status {
    if (is_shared(value)) {
      stacks.older_form = false;
      for (const JsonValue& name : value.items[0].items) stacks.by_name[str_of(name)] = stacks.texts.size();
      stacks.texts.push_back(str_of(value.items[1]));
    } else if (!value.is(JsonKind::kNull)) {
      stacks.by_name[member.key] = stacks.texts.size();
      stacks.texts.push_back(str_of(value));
      stacks.frames.resize(stacks.texts.size());
      stacks.frames.back() = texts_of(value);
    }
    return {};
  };
  MSDUMP_CHECK_OK(in_file(read_json_entries(text.view(), kMaxEntry, problems, entries, entry), file.path()));
  if (!stacks.older_form) stacks.frames.clear();
  return stacks;
}

}  // namespace msdump
