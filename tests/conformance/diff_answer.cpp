#include "conformance/diff_answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/op_name.h"
#include "support/catch.h"
#include "support/program/run_program.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? std::string() : value->text;
}

std::optional<int64_t> number_of(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_int();
}

}  // namespace

NamedRoot root_of(const JsonValue& value) {
  NamedRoot root;
  root.op_name = text_of(value, "op_name");
  root.kind = text_of(value, "kind");
  root.rank = number_of(value, "rank");
  root.step = number_of(value, "step");
  if (const JsonValue* const source = value.find("source"); source != nullptr && !source->is(JsonKind::kNull)) {
    root.file = fs::path(text_of(*source, "file")).filename().string();
    root.line = number_of(*source, "line");
  }
  return root;
}

std::string NamedRoot::place() const { return line ? fmt::format("{}:{}", file, *line) : std::string(); }

std::vector<NamedRoot> DiffAnswer::roots() const {
  std::vector<NamedRoot> roots;
  for (const JsonValue& value : document.find("first_divergence")->items) roots.push_back(root_of(value));
  return roots;
}

std::string DiffAnswer::verdict() const { return text_of(*document.find("summary"), "verdict"); }

int64_t DiffAnswer::count(std::string_view key) const { return number_of(*document.find("summary"), key).value(); }

bool DiffAnswer::only_candidate_has(std::string_view op_name) const {
  bool any = false;
  for (const JsonValue& row : document.find("rows")->items) {
    if (text_of(row, "op_name") != op_name) continue;
    if (!row.find("b")->is(JsonKind::kNull)) return false;
    any = true;
  }
  return any;
}

std::optional<DiffAnswer> try_diff(const fs::path& candidate, const fs::path& reference) {
  cli::Outcome outcome = cli::run_program({"diff", "--json", candidate.string(), reference.string()});
  auto document = parse_json(outcome.out);
  REQUIRE(document);
  const JsonValue* const rows = document->find("rows");
  REQUIRE(rows != nullptr);
  if (rows->items.empty()) return std::nullopt;
  return DiffAnswer{static_cast<int>(outcome.code), std::move(*document), std::move(outcome.err)};
}

DiffAnswer ask_diff(const fs::path& candidate, const fs::path& reference) {
  auto answer = try_diff(candidate, reference);
  REQUIRE(answer);
  return std::move(*answer);
}

bool same_op_name(const std::string& left, const std::string& right) {
  return normalised_op_name(left) == normalised_op_name(right);
}

}  // namespace msdump::test
