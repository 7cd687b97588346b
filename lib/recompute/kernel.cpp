#include "recompute/kernel.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/containers.h"
#include "base/text.h"
#include "ge/operators/operator_table.h"
#include "recompute/kernels/kernels.h"
#include "recompute/tables.h"

namespace msdump::recompute {

std::string_view name_of(Reason reason) {
  static constexpr auto kNames = enum_table<Reason, std::string_view>(
      "no_kernel", "no_input", "old_value", "unknown_argument", "random", "statistics_only", "too_large", "format",
      "shape", "unreadable", "region", "forward_wrong", "noise", "slice");
  return kNames[reason];
}

Maybe<const double*> elements_of(const Array& x, int64_t first, int64_t count, std::vector<double>& buffer) {
  if (!x.source) {
    if (first + count > x.size()) return unjudged(Reason::kUnreadable);
    return x.values.data() + first;
  }
  buffer.resize(static_cast<size_t>(count));
  if (const Status read = x.source->read(first, count, buffer.data()); !read)
    return unjudged(Reason::kUnreadable, read.error().message);
  return buffer.data();
}

std::string_view name_of(Value::From from) {
  switch (from) {
    case Value::From::kFile: return "file";
    case Value::From::kGraph: return "ir";
    case Value::From::kAttribute: return "attribute";
    case Value::From::kCall: return "call";
    case Value::From::kDefault: return "default";
    case Value::From::kFitted: return "fitted";
  }
  return "";
}

void Call::erase(std::string_view name) {
  const auto found = values_.find(name);
  if (found != values_.end()) values_.erase(found);
}

const Value* Call::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty() || found->second.front().is_none) return nullptr;
  return &found->second.front();
}

tl::unexpected<Unjudged> Call::missing(std::string_view name) const {
  const auto reason = unknown_.find(name);
  if (reason != unknown_.end()) return tl::unexpected<Unjudged>(reason->second);
  return unjudged(Reason::kUnknownArgument, name);
}

namespace {

Tensor tensor_of(const Value& value) {
  if (value.tensor) return value.tensor;
  if (value.numbers.empty()) return nullptr;
  if (value.numbers.size() == 1) return share(scalar(value.numbers.front()));
  Array array{{static_cast<int64_t>(value.numbers.size())}, value.numbers};
  return share(std::move(array));
}

std::optional<double> number_of(const Value& value) {
  if (value.tensor)
    return value.tensor->values.size() == 1 ? std::optional(value.tensor->values.front()) : std::nullopt;
  return value.numbers.size() == 1 ? std::optional(value.numbers.front()) : std::nullopt;
}

std::optional<std::vector<int64_t>> integers_of(const Value& value) {
  const std::vector<double>& numbers = value.tensor ? value.tensor->values : value.numbers;
  if (numbers.empty() && !value.tensor && value.text != "()" && value.text != "[]") return std::nullopt;
  if (numbers.size() > kMaxRank * 2) return std::nullopt;
  std::vector<int64_t> integers;
  for (const double number : numbers) {
    if (number != std::floor(number) || std::fabs(number) > 0x1p53) return std::nullopt;
    integers.push_back(static_cast<int64_t>(number));
  }
  return integers;
}

}  // namespace

Maybe<Tensor> Call::tensor(std::string_view name) const {
  const Value* const value = find(name);
  Tensor tensor = value == nullptr ? nullptr : tensor_of(*value);
  if (!tensor) return missing(name);
  return tensor;
}

Maybe<Tensor> Call::tensor_if(std::string_view name) const {
  if (unknown_.count(name) > 0) return missing(name);
  const Value* const value = find(name);
  return value == nullptr ? Tensor() : tensor_of(*value);
}

Maybe<std::vector<Tensor>> Call::tensors(std::string_view name) const {
  if (unknown_.count(name) > 0) return missing(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return missing(name);
  std::vector<Tensor> all;
  for (const Value& value : found->second) {
    all.push_back(tensor_of(value));
    if (!all.back()) return missing(name);
  }
  return all;
}

Maybe<double> Call::number(std::string_view name) const {
  const Value* const value = find(name);
  const auto number = value == nullptr ? std::nullopt : number_of(*value);
  if (!number) return missing(name);
  return *number;
}

double Call::number_or(std::string_view name, double otherwise) const {
  const Value* const value = find(name);
  return value == nullptr ? otherwise : number_of(*value).value_or(otherwise);
}

Maybe<std::vector<int64_t>> Call::integers(std::string_view name) const {
  auto integers = integers_if(name);
  if (!integers) return missing(name);
  return std::move(*integers);
}

std::optional<std::vector<int64_t>> Call::integers_if(std::string_view name) const {
  const Value* const value = find(name);
  return value == nullptr ? std::nullopt : integers_of(*value);
}

Maybe<int64_t> Call::integer(std::string_view name) const {
  const auto integers = integers_if(name);
  if (!integers || integers->size() != 1) return missing(name);
  return integers->front();
}

int64_t Call::integer_or(std::string_view name, int64_t otherwise) const {
  const auto integers = integers_if(name);
  return integers && integers->size() == 1 ? integers->front() : otherwise;
}

Maybe<bool> Call::flag(std::string_view name) const {
  MSDUMP_TRY(const double value, number(name));
  return value != 0;
}

bool Call::flag_or(std::string_view name, bool otherwise) const { return number_or(name, otherwise ? 1 : 0) != 0; }

std::string Call::text(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr) return {};
  std::string_view text = trimmed(value->text);
  // I64(1), Str("same"): the type of the literal.
  if (const size_t open = text.find('('); open != std::string_view::npos && open > 0 && text.ends_with(')'))
    text = text.substr(open + 1, text.size() - open - 2);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'')) text = text.substr(1, text.size() - 2);
  return to_lower(text);
}

bool Call::has(std::string_view name) const { return find(name) != nullptr; }

const Shape* Call::output_shape(std::string_view name) const {
  const auto found = outputs_.find(name);
  return found == outputs_.end() ? nullptr : &found->second.first;
}

DType Call::output_dtype(std::string_view name) const {
  const auto found = outputs_.find(name);
  return found == outputs_.end() ? DType::kUndefined : found->second.second;
}

const Kernel* find_kernel(std::string_view name) {
  static const auto kAll = [] {
    std::unordered_map<std::string_view, const Kernel*> all;
    for (const auto kernels :
         {elementwise_kernels(), move_kernels(), index_kernels(), reduction_kernels(), product_kernels(),
          normalisation_kernels(), softmax_kernels(), pooling_kernels(), optimizer_kernels(), gradient_kernels()}) {
      for (const Kernel& kernel : kernels) all.emplace(kernel.name, &kernel);
    }
    return all;
  }();
  const auto found = kAll.find(name);
  return found == kAll.end() ? nullptr : found->second;
}

Outputs::const_iterator find_output(const Outputs& outputs, Outputs::const_iterator next, const OutputKey& key) {
  if (!key.name.empty())
    return std::find_if(outputs.begin(), outputs.end(), [&](const Output& output) { return output.name == key.name; });
  const int64_t size = size_of(key.shape);
  const auto has_size = [&](const Output& output) {
    return std::any_of(output.answers.begin(), output.answers.end(),
                       [&](const Answer& answer) { return answer.y.size() == size; });
  };
  const auto has_shape = [&](const Output& output) {
    return std::any_of(output.answers.begin(), output.answers.end(),
                       [&](const Answer& answer) { return answer.y.shape == key.shape; });
  };
  if (key.slot < outputs.size()) {
    const auto own = outputs.begin() + static_cast<std::ptrdiff_t>(key.slot);
    if (own >= next && has_size(*own)) return own;
  }
  const auto found = std::find_if(next, outputs.end(), has_shape);
  return found != outputs.end() ? found : std::find_if(next, outputs.end(), has_size);
}

bool KernelRow::updates(std::string_view input) const {
  return std::find(outputs.begin(), outputs.end(), input) != outputs.end();
}

namespace {

struct Table {
  std::unordered_map<std::string_view, KernelRow> rows[4];     // by framework, by type
  std::unordered_map<std::string, std::string_view> families;  // of MindSpore's types: the type of the row
};

KernelRow::Input read_input(std::string_view word) {
  KernelRow::Input input;
  const size_t equals = word.find('=');
  if (equals != std::string_view::npos) {
    input.has_default = true;
    input.fallback = word.substr(equals + 1);
    word = word.substr(0, equals);
  }
  const size_t slash = word.find('/');
  input.name = word.substr(0, slash);
  if (slash != std::string_view::npos) input.spelled = word.substr(slash + 1);
  if (input.name.ends_with('*')) {
    input.is_list = true;
    input.name.remove_suffix(1);
  }
  return input;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

Table read_table() {
  Table table;
  for (const std::string_view line : split(kKernelsCsv, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> cells = split(line, ',');
    KernelRow row;
    if (cells[2].starts_with('!'))
      row.reason = Reason::kRandom;
    else
      row.kernel = find_kernel(cells[2]);
    const size_t semicolon = cells[3].find(';');
    for (const std::string_view word : words_of(cells[3].substr(0, semicolon))) row.inputs.push_back(read_input(word));
    row.positions = row.inputs.size();
    if (semicolon != std::string_view::npos) {
      for (const std::string_view word : words_of(cells[3].substr(semicolon + 1)))
        row.inputs.push_back(read_input(word));
    }
    row.outputs = words_of(cells[4]);
    if (row.outputs.empty()) row.outputs = {"y"};
    const size_t framework = cells[0] == "ms" ? 0 : cells[0] == "torch" ? 1 : cells[0] == "back" ? 2 : 3;
    for (const std::string_view type : words_of(cells[1])) {
      row.type = type;
      table.rows[framework].emplace(type, row);
      if (framework == 0) table.families.emplace(ge::OperatorTable::get().family(type), type);
    }
  }
  return table;
}

const Table& table() {
  static const Table kTable = read_table();
  return kTable;
}

}  // namespace

const KernelRow* find_row(Framework framework, std::string_view type) {
  const auto& rows = table().rows[static_cast<size_t>(framework)];
  if (const auto found = rows.find(type); found != rows.end()) return &found->second;
  if (framework != Framework::kMindSpore) return nullptr;
  const auto family = table().families.find(ge::OperatorTable::get().family(type));
  return family == table().families.end() ? nullptr : &rows.at(family->second);
}

void for_each_row(const std::function<void(const KernelRow& row)>& visit) {
  for (const auto& rows : table().rows) {
    for (const auto& [type, row] : rows) visit(row);
  }
}

}  // namespace msdump::recompute
