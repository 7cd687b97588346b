#include "config/write/dump_request.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump.h"
#include "config/lint.h"
#include "config/write/config_objects.h"
#include "report/json.h"

namespace msdump {
namespace {

using report::List;
using report::Object;
using report::Value;

// Numbers stay on a line; names have a line each. The depth is that of the objects made here.
void append_indented(std::string& into, const Value& value, const std::string& indent) {
  const std::string inner = indent + "  ";
  const auto* const object = value.get<Object>();
  const auto* const list = value.get<List>();
  if (object != nullptr) {
    into += '{';
    for (const report::Member& member : object->members()) {
      into += (&member == &object->members().front() ? "\n" : ",\n") + inner;
      report::append_json_string(into, member.key);
      into += ": ";
      append_indented(into, member.value, inner);
    }
    into += "\n" + indent + "}";
  } else if (list != nullptr && !list->empty() && !list->front().is_number()) {
    into += '[';
    for (const Value& item : *list) {
      into += (&item == &list->front() ? "\n" : ",\n") + inner;
      append_indented(into, item, inner);
    }
    into += "\n" + indent + "]";
  } else {
    report::append_json(into, value);
  }
}

Result<Object> object_of(const DumpRequest& request) {
  switch (request.kind) {
    case ConfigKind::kDataDump: return data_dump_object(request);
    case ConfigKind::kMsprobe: return msprobe_object(request);
    case ConfigKind::kAcl: return acl_object(request);
    case ConfigKind::kUnknown: break;
  }
  return fail(ErrorCode::kUsage, "no configuration of this kind can be written");
}

Result<void> check_names(const DumpRequest& request) {
  for (const auto* const names : {&request.list, &request.scope, &request.watched}) {
    for (const std::string& name : *names) {
      if (name.empty() || !is_utf8(name))
        return fail(ErrorCode::kUsage, "'{}' cannot be named in a configuration", excerpt(name));
    }
  }
  if (!is_utf8(request.path)) return fail(ErrorCode::kUsage, "the path '{}' is not UTF-8", excerpt(request.path));
  return {};
}

}  // namespace

std::vector<std::string> range_texts(std::span<const int64_t> numbers) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < numbers.size();) {
    const int64_t first = numbers[i];
    int64_t last = first;
    for (++i; i < numbers.size() && numbers[i] - last <= 1; ++i) last = numbers[i];
    texts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  }
  return texts;
}

Result<std::string> steps_text(std::span<const int64_t> steps, size_t most) {
  if (!steps.empty() && steps.front() < 0) return fail(ErrorCode::kUsage, "steps are not negative");
  const std::vector<std::string> texts = range_texts(steps);
  if (texts.size() > most)
    return fail(ErrorCode::kUsage, "the steps are {} ranges: {} at most can be asked for", texts.size(), most);
  return fmt::format("{}", fmt::join(texts, "|"));
}

std::string accepted_path(ConfigKind kind, std::string path) {
  if (kind == ConfigKind::kDataDump) std::replace_if(path.begin(), path.end(), std::not_fn(is_path_char), '_');
  return path;
}

Result<std::string> write_config(const DumpRequest& asked) {
  DumpRequest request = asked;
  if (!request.target.version) request.target.version = known_releases().back();
  if (!request.target.device) request.target.device = Device::kAscend;
  MSDUMP_CHECK_OK(check_names(request));
  MSDUMP_TRY(Object object, object_of(request));
  std::string text;
  append_indented(text, object, "");
  text += '\n';
  if (text.size() > kMostConfigBytes)
    return fail(ErrorCode::kUsage, "the configuration would have {}: name fewer operators", human_bytes(text.size()));
  const LintReport report = lint_config(text, request.target);
  if (!report.findings.empty()) return fail(ErrorCode::kUsage, "{}", report.findings.front().message);
  return text;
}

}  // namespace msdump
