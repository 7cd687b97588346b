#include "msprobe/dump_json.h"

#include <map>
#include <memory>
#include <string>

#include "base/text.h"
#include "io/json.h"
#include "io/read_text.h"
#include "msprobe/dump_entry.h"
#include "msprobe/json_members.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

uint64_t kept_by(const MsprobeTensor& tensor) {
  uint64_t bytes = sizeof(MsprobeTensor) + tensor.op_name.size() + tensor.op_type.size() + tensor.slot.size() +
                   tensor.type.size() + tensor.dtype_text.size();
  if (tensor.shape) bytes += tensor.shape->size() * sizeof(int64_t);
  for (const auto* text : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm, &tensor.md5, &tensor.data_name}) {
    if (*text) bytes += (*text)->size();
  }
  return bytes;
}

uint64_t kept_by(const MsprobeCall& call) {
  uint64_t bytes = sizeof(MsprobeCall) + call.op_name.size() + call.arguments.size() * sizeof(MsprobeArgument);
  for (const MsprobeArgument& argument : call.arguments) bytes += argument.slot.size() + argument.text.size();
  return bytes;
}

class DumpJsonReader {
 public:
  DumpJsonReader(std::string_view text, const DumpJsonLimits& limits) : text_(text), limits_(limits), problems_(text) {}

  Result<DumpJson> read(const std::string& path) {
    JsonMemberReader members(text_, 0);
    std::optional<size_t> data_at;
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) break;
      if (member->key == "data") data_at = member->begin;
      MSDUMP_CHECK_OK(top_level(*member));
    }
    MSDUMP_CHECK_OK(members.check_end());
    if (!data_at) return bad_json(text_, 0, "no \"data\": this is not a dump.json of msprobe");
    if (text_[*data_at] != '{') return bad_json(text_, *data_at, "\"data\" is not an object");
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  Status top_level(const JsonMemberPlace& member) {
    if (member.key == "data" && text_[member.begin] == '{') return data(member.begin);
    if (member.end - member.begin > limits_.entry) {
      return fail(make_error(ErrorCode::kTooLarge, "the value of \"{}\" takes {} bytes", excerpt(member.key),
                             member.end - member.begin)
                      .with_offset(member.begin));
    }
    MSDUMP_TRY(auto value, parse_json_at(text_, member.begin, member.end));
    for (const auto& [key, into] : {std::pair("task", &DumpJson::task), std::pair("level", &DumpJson::level),
                                    std::pair("framework", &DumpJson::framework)}) {
      if (member.key == key && value.is(JsonKind::kString)) result_.*into = std::move(value.text);
    }
    return {};
  }

  // When a key appears twice, the later one counts, as in Python.
  Status data(size_t begin) {
    result_.tensors.clear();
    result_.calls.clear();
    result_.overflows.clear();
    problems_.clear();
    result_.entries = result_.others = 0;
    kept_ = kept_calls_ = 0;
    return read_json_entries_at(
        text_, begin, limits_.entry, problems_, result_.entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); });
  }

  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    DumpEntry read = read_dump_entry(member.key, value);
    result_.others += read.others;
    if (read.problem) problems_.add(std::move(*read.problem), member.begin);
    for (MsprobeTensor& tensor : read.tensors) {
      share_distribution(tensor);
      kept_ += kept_by(tensor);
      if (kept_ > limits_.kept) {
        return fail(ErrorCode::kTooLarge, "more than {} tensors: they do not fit into {} bytes of memory",
                    result_.tensors.size(), limits_.kept);
      }
      tensor.order = result_.entries;
      tensor.offset += member.begin;
      result_.tensors.push_back(std::move(tensor));
    }
    if (read.has_overflow) {
      kept_ += sizeof(MsprobeOverflow) + member.key.size();
      result_.overflows.push_back({member.key, read.overflow, result_.entries});
    }
    if (!read.arguments.empty()) add_call({member.key, std::move(read.arguments)});
    return {};
  }

  void share_distribution(MsprobeTensor& tensor) {
    if (tensor.distribution == nullptr) return;
    const auto [known, is_new] = distributions_.try_emplace(*tensor.distribution, tensor.distribution);
    if (is_new) kept_ += 2 * known->first.size();
    tensor.distribution = known->second;
  }

  void add_call(MsprobeCall&& call) {
    kept_calls_ += kept_by(call);
    if (kept_calls_ <= limits_.arguments) result_.calls.push_back(std::move(call));
  }

  std::string_view text_;
  const DumpJsonLimits& limits_;
  DumpJson result_;
  JsonProblems problems_;
  std::map<std::string, std::shared_ptr<const std::string>> distributions_;
  uint64_t kept_ = 0, kept_calls_ = 0;
};

}  // namespace

std::optional<double> statistic_value(std::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  JsonValue number;
  number.kind = JsonKind::kNumber;
  number.text = text;
  return number.as_double();
}

Result<DumpJson> read_dump_json(const File& file, const DumpJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.json"));
  return in_file(DumpJsonReader(text.view(), limits).read(file.path()), file.path());
}

}  // namespace msdump
