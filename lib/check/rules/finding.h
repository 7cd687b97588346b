// What msdump check finds: about a tensor, an operator, a file, a step or a rank, with how bad it is and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/value.h"

namespace msdump::check {

// In this order: a note says something worth knowing about a healthy dump.
enum class Severity : uint8_t { kNote, kWarning, kError };
[[nodiscard]] std::string_view name_of(Severity severity);  // "note", ...

inline constexpr uint32_t kNone = UINT32_MAX;

struct Finding {
  std::string_view kind;  // the name of its rule (check/rules/rules.h)
  Severity severity = Severity::kWarning;
  uint32_t tensor = kNone;  // of the list; then rank, graph, step and path are those of the tensor
  uint32_t op = kNone;      // CheckedDump::operators()
  std::optional<int64_t> rank, graph, step;
  uint32_t file = kNone;  // DumpIndex::files(), of a finding about one: then all that its name says is known
  std::string path;       // relative to the dump; empty: that of the tensor or file, or no single file
  // Of a finding over ranks, ascending: those that it is about, and all that were to agree or that took part.
  std::vector<int64_t> ranks = {}, group = {};
  // As a tool's result names its operator and tensor, which the dump may not have; else empty.
  std::string op_name = {}, op_type = {}, io = {}, slot = {};
  report::Value value = {};  // RuleInfo::value says what of
  std::string message, hint;
  std::string excuse = {};  // why it is only a note: the end of the message; ignored for the first nonfinite tensor
};

}  // namespace msdump::check
