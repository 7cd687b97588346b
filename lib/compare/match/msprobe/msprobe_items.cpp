#include "compare/match/msprobe/msprobe_items.h"

#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "compare/match/msprobe/msprobe_leaf.h"
#include "io/read_text.h"
#include "msprobe/json_members.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

// "Functional.linear.2.backward" is operator "Functional.linear", call "2.backward".
struct EntryName {
  std::string_view op, call;
  bool backward = false;
};

EntryName parts_of(std::string_view name, bool debug_json) {
  if (debug_json) return {name, name};
  const size_t last_dot = name.rfind('.');
  if (last_dot == std::string_view::npos) return {};
  const size_t second_dot = last_dot == 0 ? std::string_view::npos : name.rfind('.', last_dot - 1);
  const std::string_view last = name.substr(last_dot + 1);
  const size_t second_begin = second_dot == std::string_view::npos ? 0 : second_dot + 1;
  const std::string_view second = name.substr(second_begin, last_dot - second_begin);
  if (last == "parameters_grad" || second == "parameters_grad") return {name.substr(0, last_dot), "parameters_grad"};
  const bool forward = last == "forward" || second == "forward";
  const bool backward = last == "backward" || second == "backward";
  if ((!forward && !backward) || second_dot == std::string_view::npos) return {};
  return {name.substr(0, second_dot), name.substr(second_begin), !forward && backward};
}

std::string without(std::string text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos && !part.empty(); at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return text;
}

// "2.backward" with another number; nothing if it has none.
std::optional<std::string> renumbered(std::string_view call, uint64_t number) {
  const size_t dot = call.find('.');
  const std::string_view head = call.substr(0, dot), tail = dot == std::string_view::npos ? "" : call.substr(dot + 1);
  if (!is_digits(head) && !is_digits(tail)) return std::nullopt;
  const std::string text = std::to_string(number);
  return (is_digits(head) ? text : std::string(head)) + "." + (is_digits(tail) ? text : std::string(tail));
}

uint64_t kept_by(const std::vector<MsprobeItem>& items) {
  uint64_t bytes = 0;
  for (const MsprobeItem& item : items) {
    bytes += sizeof(MsprobeItem) + 2 * item.name.size() + item.data_name.size();
    for (const PythonValue& value : item.statistics) bytes += value.text.size();
    for (const auto* text : {&item.dtype, &item.shape, &item.checksum}) bytes += *text ? (*text)->size() : 0;
  }
  return bytes;
}

class ItemReader {
 public:
  ItemReader(std::string_view text, const MsprobeItemForm& form, const MsprobeItemLimits& limits)
      : text_(text), form_(form), limits_(limits), problems_(text) {}

  Result<MsprobeItems> read(const std::string& path) {
    JsonMemberReader members(text_, 0);
    bool has_data = false;
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) break;
      has_data = has_data || member->key == "data";
      MSDUMP_CHECK_OK(top_level(*member));
    }
    if (skip_json_space(text_, members.end()) != text_.size()) {
      return bad_json(text_, members.end(), "more text after the object");
    }
    if (!has_data) return bad_json(text_, 0, "no \"data\": this is not a dump.json of msprobe");
    assemble(!form_.fuzzy && !form_.debug_json);
    result_.problems = problems_.take(path).first();
    return std::move(result_);
  }

 private:
  Status top_level(const JsonMemberPlace& member) {
    if (member.key == "data") return data(member);
    if (member.key != "task" && member.key != "framework") return {};
    if (member.end - member.begin > limits_.entry) return bad_json(text_, member.begin, "a text of this length");
    MSDUMP_TRY(auto value, parse_json_at(text_, member.begin, member.end));
    if (value.is(JsonKind::kString)) (member.key == "task" ? result_.task : result_.framework) = std::move(value.text);
    return {};
  }

  Status data(const JsonMemberPlace& place) {
    entries_.clear();
    by_name_.clear();
    problems_.clear();
    kept_ = 0;
    result_ = MsprobeItems{std::move(result_.task), std::move(result_.framework), false, {}, {}, {}};
    if (text_[place.begin] != '{') return bad_json(text_, place.begin, "\"data\" is not an object");
    int64_t entries = 0;
    return read_json_entries_at(
        text_, place.begin, limits_.entry, problems_, entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); });
  }

  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    auto leaves = read_msprobe_leaves(member.key, value);
    if (!leaves) {
      problems_.add(std::move(leaves.error()), member.begin);
      return {};
    }
    result_.has_checksums = result_.has_checksums || has_msprobe_checksum(value, form_.debug_json);
    kept_ += sizeof(MsprobeItem) + member.key.size() + kept_by(*leaves);
    if (kept_ > limits_.kept) {
      return fail(ErrorCode::kTooLarge, "more than {} entries: they do not fit into {} bytes of memory",
                  entries_.size(), limits_.kept);
    }
    // For two entries with one name Python keeps the later value at the place of the earlier.
    const auto [known, is_new] = by_name_.emplace(member.key, entries_.size());
    if (is_new) {
      result_.entries.push_back(member.key);
      entries_.push_back(std::move(*leaves));
    } else {
      entries_[known->second] = std::move(*leaves);
    }
    return {};
  }

  void assemble(bool renumber) {
    if (result_.framework.empty()) result_.framework = "pytorch";
    std::unordered_map<std::string_view, uint64_t> backward_calls;
    for (uint32_t index = 0; index < entries_.size(); ++index) {
      const std::string& name = result_.entries[index];
      const EntryName parts = parts_of(name, form_.debug_json);
      if (parts.op.empty()) continue;
      std::optional<std::string> call;
      if (renumber && parts.backward) call = renumbered(parts.call, backward_calls[parts.op]++);
      bool first = true;
      for (MsprobeItem& item : entries_[index]) {
        item.key = item.name;
        if (call) item.key = std::string(parts.op) + "." + *call + without(item.name, name);
        item.entry = index;
        item.first_of_entry = std::exchange(first, false);
        result_.items.push_back(std::move(item));
      }
      std::vector<MsprobeItem>().swap(entries_[index]);
    }
  }

  std::string_view text_;
  const MsprobeItemForm& form_;
  const MsprobeItemLimits& limits_;
  JsonProblems problems_;
  MsprobeItems result_;
  std::vector<std::vector<MsprobeItem>> entries_;
  std::unordered_map<std::string, size_t> by_name_;
  uint64_t kept_ = 0;
};

}  // namespace

Result<MsprobeItems> read_msprobe_items(const File& file, const MsprobeItemForm& form,
                                        const MsprobeItemLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.json"));
  return in_file(ItemReader(text.view(), form, limits).read(file.path()), file.path());
}

}  // namespace msdump
