#include "small_dump.h"

#include "support/dump_builder.h"

namespace msdump::check {

std::string floats(const std::vector<float>& elements) { return npy_of("<f4", elements); }
std::string halves(const std::vector<uint16_t>& codes) { return npy_of("<f2", codes); }

std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step, int64_t rank) {
  const size_t slash = op.rfind('/');
  const std::string_view leaf = slash == std::string_view::npos ? op : op.substr(slash + 1);
  const std::string_view type = leaf.substr(0, leaf.find("-op"));
  std::string name(op);
  for (char& c : name) c = c == '/' ? '_' : c;
  return fmt::format("rank_{}/Net/0/{}/{}.{}.0.0.{}.{}.DefaultFormat.npy", rank, step, type, name,
                     1700000000000000 + time, io_slot);
}

std::string matrix(const std::vector<float>& elements, int64_t columns) {
  return test::npy_of("<f4", Shape{static_cast<int64_t>(elements.size()) / columns, columns},
                      {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float)});
}

std::string device_file(DType dtype, const std::string& bytes) {
  const uint64_t count = bytes.size() / bytes_of(dtype, 1).value();
  test::TensorSpec tensor = test::output_of(dtype, Format::kND, {count});
  tensor.data = bytes;
  return test::build_dump({.op_name = "", .tensors = {tensor}});
}

std::string statistic_table(std::string_view columns, const std::vector<StatisticRow>& rows) {
  std::string table =
      fmt::format("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,{}\n", columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    const StatisticRow& row = rows[i];
    table += fmt::format("{},Default_{},0,0,{},output,0,16,{},\"(4)\",{}\n", row.op.substr(0, row.op.find('-')), row.op,
                         1700000000000000 + static_cast<int64_t>(i), row.dtype, row.numbers);
  }
  return table;
}

RuleSet only(std::string_view rule) {
  RuleSet rules = RuleSet::none();
  REQUIRE(rules.apply(rule));
  return rules;
}

Lines reported_of(std::string_view op, const std::string& input, const std::string& output, const RuleSet& rules) {
  const test::ScratchDir scratch;
  scratch.write(tensor_path(op, 1, "input.0"), input);
  scratch.write(tensor_path(op, 1, "output.0"), output);
  return Checked(scratch.path(), rules).reported();
}

}  // namespace msdump::check
