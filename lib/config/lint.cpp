#include "config/lint.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump.h"
#include "config/json_faults.h"
#include "config/keys.h"
#include "config/tools.h"

namespace msdump {
namespace {

// Points for the top-level keys that a tool knows: two each, and one for a misspelt key.
size_t familiarity(const JsonValue& root, ConfigKind kind) {
  const std::vector<std::string> names = names_of(kind, "");
  size_t points = 0;
  for (const JsonMember& member : root.members) {
    if (find_key(kind, "", member.key) != nullptr) {
      points += 2;
    } else if (!did_you_mean(member.key, names).empty()) {
      ++points;
    }
  }
  return points;
}

struct SlipText {
  std::string_view rule, message, hint;
};

SlipText text_of(JsonSlipKind kind) {
  switch (kind) {
    case JsonSlipKind::kByteOrderMark:
      return {"json-bom", "a byte order mark before the text", "save the file as UTF-8 without it"};
    case JsonSlipKind::kComment: return {"json-comment", "a comment: JSON has none", "remove it"};
    case JsonSlipKind::kTrailingComma: return {"json-trailing-comma", "a comma after the last item", "remove it"};
    case JsonSlipKind::kSingleQuotes:
      return {"json-single-quotes", "a text in single quotes", "JSON has double quotes only"};
    case JsonSlipKind::kPythonWord: return {"json-python-word", "a Python word", "JSON writes true, false and null"};
  }
  return {};
}

void report_slips(Findings& findings, ConfigKind kind, const std::vector<JsonSlip>& slips) {
  for (const JsonSlip& slip : slips) {
    const SlipText text = text_of(slip.kind);
    const Complaint complaint{text.rule, std::string(text.message), std::string(text.hint)};
    if (slip.kind == JsonSlipKind::kByteOrderMark && kind != ConfigKind::kMsprobe) {
      // The readers of MindSpore and AscendCL skip it; Python's does not.
      findings.warning({"", slip.offset}, complaint);
    } else {
      findings.error({"", slip.offset}, complaint);
    }
  }
}

// NaN and Infinity: Python reads them, nlohmann's reader does not.
void report_nan(Findings& findings, ConfigKind kind, const JsonValue& value) {
  const bool spelt = value.text == "NaN" || value.text == "Infinity" || value.text == "-Infinity";
  const bool word = value.is(JsonKind::kNumber) && value.text.find_first_of("nN") != std::string::npos;
  if (word && !(spelt && kind == ConfigKind::kMsprobe)) {
    findings.error({"", value.offset},
                   {"json-nan", fmt::format("'{}' is not JSON", excerpt(value.text)), "write a number"});
  }
  for (const JsonValue& item : value.items) report_nan(findings, kind, item);
  for (const JsonMember& member : value.members) report_nan(findings, kind, member.value);
}

size_t first_bad_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return text.size();
}

void lint_tool(Findings& findings, ConfigKind kind, const JsonValue& root, const LintTarget& target) {
  switch (kind) {
    case ConfigKind::kDataDump: return lint_data_dump(findings, root, target);
    case ConfigKind::kMsprobe: return lint_msprobe(findings, root, target);
    case ConfigKind::kAcl: return lint_acl(findings, root);
    case ConfigKind::kUnknown:
      findings.error({"", root.offset},
                     {"not-a-config",
                      root.is(JsonKind::kObject) ? "no key of a dump configuration" : "the text is not a JSON object",
                      "MindSpore's has common_dump_settings, msprobe's task and dump_path, AscendCL's dump"});
  }
}

// Reports a text that is not JSON even after the repair.
void report_fault(Findings& findings, std::string_view text, const JsonFault& fault) {
  if (fault.beyond_limits) return findings.error({"", fault.offset}, {"json-depth", fault.reason});
  std::string why = explain_fault(text, fault);
  if (why.empty()) why = fault.reason;
  if (why.ends_with('.'))
    why = to_lower(why.substr(0, 1)) + why.substr(1, why.size() - 2);  // RapidJSON's text is a sentence
  findings.error({"", fault.offset}, {"json-syntax", "not JSON: " + why});
}

tl::expected<JsonValue, JsonFault> read_repaired(std::string_view text, std::string_view repaired) {
  if (is_utf16(text)) return tl::unexpected<JsonFault>(JsonFault{0, "UTF-16; save it as UTF-8"});
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos) return tl::unexpected<JsonFault>(JsonFault{zero, "a zero byte"});
  return parse_json_or_fault(repaired);
}

}  // namespace

ConfigKind kind_of_config(const JsonValue& root) {
  ConfigKind best = ConfigKind::kUnknown;
  size_t most = 0;
  for (const ConfigKind kind : {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    const size_t points = familiarity(root, kind) + (kind == ConfigKind::kMsprobe ? task_blocks_in(root) : 0);
    if (points > most) {
      best = kind;
      most = points;
    }
  }
  return best;
}

LintReport lint_config(std::string_view text, const LintTarget& target) {
  const RepairedJson repaired = repair_json(text);
  const auto root = read_repaired(text, repaired.text);
  LintReport report;
  if (root) report.kind = kind_of_config(*root);
  const bool old = root && report.kind == ConfigKind::kDataDump && read_data_dump(*root).before_1_3();
  Findings findings(text, setups_for(report.kind, target, old));
  report.version = versions_text(report.kind, findings.setups());
  if (report.kind == ConfigKind::kMsprobe && target.msprobe)
    report.version += fmt::format(" under msprobe {}", short_text(*target.msprobe));
  report_slips(findings, report.kind, repaired.slips);
  const size_t bad_utf8 = first_bad_utf8(text);
  // A text with a zero byte is reported as such, not as badly encoded.
  if (bad_utf8 < text.size() && !is_utf16(text) && text.find('\0') == std::string_view::npos)
    findings.error({"", bad_utf8}, {"json-utf8", "a byte that is not UTF-8", "save the file as UTF-8"});
  if (root) {
    report_nan(findings, report.kind, *root);
    lint_tool(findings, report.kind, *root, target);
  } else {
    report_fault(findings, repaired.text, root.error());
  }
  report.findings = findings.take();
  const SeverityCounts counts = count_severities(report.findings);
  report.errors = counts.errors;
  report.warnings = counts.warnings;
  return report;
}

}  // namespace msdump
