// Any bytes as a configuration, judged for a target that the first byte chooses.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/data_dump.h"
#include "config/json_faults.h"
#include "config/kernels.h"
#include "config/lint.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

LintTarget target_of(uint8_t byte) {
  LintTarget target;
  const auto releases = known_releases();
  if ((byte & 1) != 0) target.version = releases[(byte >> 1) % releases.size()];
  if ((byte & 32) != 0) target.device = static_cast<Device>((byte >> 6) % 3);
  if ((byte & 64) != 0) target.framework = (byte & 128) != 0 ? Framework::kPyTorch : Framework::kMindSpore;
  if ((byte & 4) != 0) target.diagnostic_path = "/diagnostics";
  return target;
}

void check_findings(const LintReport& report, std::string_view text) {
  size_t errors = 0, offset = 0;
  std::map<std::string, size_t> of_rule;
  for (const Finding& finding : report.findings) {
    require(finding.offset <= text.size() && finding.offset >= offset, "findings are in the order of the file");
    offset = finding.offset;
    const TextPosition at = position_in(text, finding.offset);
    require(at.line == finding.line && at.column == finding.column, "line and column are those of the offset");
    require(!finding.message.empty() && !finding.rule.empty(), "a finding says something");
    require(finding.message.find('\n') == std::string::npos && finding.hint.find('\n') == std::string::npos,
            "a finding is one line");
    require(++of_rule[finding.rule] <= Findings::kMostOfARule + 1, "findings of a rule are limited");
    errors += finding.severity == Severity::kError ? 1U : 0U;
  }
  require(errors == report.errors && report.errors + report.warnings == report.findings.size(), "findings are counted");
}

void check_slips(std::string_view text) {
  const RepairedJson mended = repair_json(text);
  require(mended.text.size() == text.size(), "mending moves nothing");
  for (const JsonSlip& slip : mended.slips) require(slip.offset < text.size(), "a slip is in the text");
  require(mended.text == text || !mended.slips.empty(), "what is mended is reported");
  // RapidJSON takes a zero byte for the end of the text.
  if (text.find('\0') == std::string_view::npos && parse_json(text)) {
    for (const JsonSlip& slip : mended.slips)
      require(slip.kind != JsonSlipKind::kTrailingComma && slip.kind != JsonSlipKind::kComment, "JSON has no slips");
  }
}

void check_filter(const std::vector<KernelItem>& items) {
  constexpr std::string_view kName = "Default/a-B/Conv2D-op3";
  const KernelFilter filter(items, known_releases().back());
  std::vector<bool> chose(items.size());
  filter.mark_choosing(kName, chose);
  const auto first = std::find(chose.begin(), chose.end(), true) - chose.begin();
  const int match = filter.match(kName);
  // An item of its own, after the others, stands for "everything".
  require(match == (first < static_cast<std::ptrdiff_t>(items.size()) ? first
                    : match < 0                                       ? -1
                                                                      : first),
          "the first item that chooses is the one that matches");
}

// What is an error for everyone is one for each.
void check_severity(std::string_view text, const LintReport& anywhere) {
  if (anywhere.errors == 0 || anywhere.kind == ConfigKind::kUnknown) return;
  for (const Device device : {Device::kCpu, Device::kAscend}) {
    const LintReport there = lint_config(text, {known_releases().back(), device, Framework::kPyTorch, ""});
    require(there.errors > 0, "an error without a target is an error for every target");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > (1U << 16)) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_slips(text);
  check_findings(lint_config(text, target_of(data[0])), text);
  check_severity(text, lint_config(text, {}));
  const Iteration iteration = parse_iteration(text);
  require(!iteration.selects_any() || iteration.count() != 0U, "what selects is counted");
  (void)regex_fault(text);
  if (const auto root = parse_json(repair_json(text).text)) {
    const DataDump dump = read_data_dump(*root);
    if (dump.kernels != nullptr && dump.kernels->items.size() < 20) check_filter(parse_kernels(*dump.kernels));
  }
  return 0;
}
