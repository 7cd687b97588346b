#include "check/tree/dump_settings.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "tables/csv_records.h"

namespace msdump::check {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;

std::optional<int64_t> number(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_int();
}

// Up to 1.2 iteration is a number, and 0 is all.
std::string iteration_of(const JsonValue& common) {
  const JsonValue* const value = common.find("iteration");
  if (value == nullptr || !(value->is(JsonKind::kString) || value->is(JsonKind::kNumber))) return {};
  return value->is(JsonKind::kNumber) && value->text == "0" ? "all" : value->text;
}

}  // namespace

DumpSettings settings_of(const DumpIndex& index, std::vector<Error>& failures) {
  DumpSettings settings;
  for (const IndexedFile& file : index.files()) {
    if (file.kind != FileKind::kConfig) continue;
    auto json = read_json(index.path_of(file), kMostBytes);
    if (!json) {
      if (file.name == "data_dump.json") failures.push_back(std::move(json).error().with_path(index.path_of(file)));
      continue;
    }
    const JsonValue* const target = json->find("device_target");
    if (target != nullptr && settings.device_target.empty()) settings.device_target = target->text;
    const JsonValue* const common = json->find("common_dump_settings");
    if (common == nullptr || !settings.path.empty()) continue;
    settings.path = index.relative_path_of(file);
    settings.dump_mode = number(*common, "dump_mode");
    settings.input_output = number(*common, "input_output");
    settings.op_debug_mode = number(*common, "op_debug_mode");
    settings.iteration = iteration_of(*common);
  }
  return settings;
}

namespace {

// Lines after these are not read: no run has as many.
constexpr size_t kMostOperators = 4'000'000;
constexpr size_t kMostSteps = 1'000'000;

constexpr std::string_view kOperatorsOf = "ms_execution_order_graph_";
constexpr std::string_view kStepsOf = "ms_global_execution_order_graph_";

// Calls take(line) until it returns false.
Status each_line(const std::string& path, const std::function<bool(const Line&)>& take) {
  MSDUMP_TRY(const File file, File::open(path));
  const std::span<const std::byte> head = file.head();
  if (std::any_of(head.begin(), head.end(), [](std::byte byte) { return byte < std::byte{0x09}; }))
    return fail(ErrorCode::kBadCsv, "binary, not the text that its name promises");
  LineReader lines(file);
  for (;;) {
    MSDUMP_TRY(const std::optional<Line> line, lines.next());
    if (!line || !take(*line)) return {};
  }
}

Result<OperatorOrder> read_operators(const DumpIndex& index, const IndexedFile& file) {
  OperatorOrder order;
  const std::string_view rest = file.name.substr(kOperatorsOf.size());
  order.rank = index.identity_of(file).rank;
  order.graph = parse_i64(rest.substr(0, rest.find('.')));
  order.path = index.path_of(file);
  MSDUMP_CHECK_OK(each_line(order.path, [&](const Line& line) {
    if (line.number > 1 && !line.text.empty()) order.names.emplace_back(line.text);
    return order.names.size() < kMostOperators;
  }));
  return order;
}

Result<std::set<int64_t>> read_steps(const DumpIndex& index, const IndexedFile& file) {
  std::set<int64_t> steps;
  MSDUMP_CHECK_OK(each_line(index.path_of(file), [&](const Line& line) {
    if (const auto step = parse_i64(line.text)) steps.insert(*step);
    return steps.size() < kMostSteps;
  }));
  return steps;
}

}  // namespace

ExecutionOrders read_execution_orders(const DumpIndex& index, std::vector<Error>& failures) {
  ExecutionOrders orders;
  const auto keep_failure = [&](const IndexedFile& file, Error error) {
    if (error.path.empty()) error.path = index.path_of(file);
    failures.push_back(std::move(error));
  };
  for (const IndexedFile& file : index.files()) {
    if (file.kind != FileKind::kExecutionOrder) continue;
    if (file.name.starts_with(kOperatorsOf)) {
      auto order = read_operators(index, file);
      if (!order) {
        keep_failure(file, std::move(order).error());
      } else if (!order->names.empty()) {
        orders.operators.push_back(std::move(*order));
      }
    } else if (file.name.starts_with(kStepsOf)) {
      auto steps = read_steps(index, file);
      if (!steps) {
        keep_failure(file, std::move(steps).error());
      } else {
        orders.steps[index.identity_of(file).rank].merge(*steps);
      }
    }
  }
  return orders;
}

}  // namespace msdump::check
