// Any kernel with any operands: it refuses what does not fit, and what it computes has as many values as its shape says.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "recompute/instead.h"

namespace {

using namespace msdump;
using namespace msdump::recompute;

void require(bool holds, std::string_view kernel, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s of %.*s\n", what, static_cast<int>(kernel.size()), kernel.data());
  std::abort();
}

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t next() { return at_ < size_ ? data_[at_++] : 0; }
  int64_t below(int64_t limit) { return next() % limit; }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

Shape shape_from(Bytes& bytes) {
  Shape shape(static_cast<size_t>(bytes.below(5)));
  for (int64_t& extent : shape) extent = bytes.below(5);
  return shape;
}

Value value_from(Bytes& bytes) {
  static constexpr std::array<const char*, 6> kTexts = {"same", "valid", "mean", "sum", "none", "()"};
  Value value;
  switch (bytes.below(4)) {
    case 0: value.text = kTexts[static_cast<size_t>(bytes.below(kTexts.size()))]; break;
    case 1:
      for (int64_t i = bytes.below(7); i > 0; --i)
        value.numbers.push_back(static_cast<double>(static_cast<int8_t>(bytes.next())));
      break;
    default: {
      Array array = make_array(shape_from(bytes));
      for (double& element : array.values) element = static_cast<double>(static_cast<int8_t>(bytes.next())) / 4;
      array.dtype = bytes.below(2) == 0 ? DType::kFloat32 : DType::kInt32;
      find_effective_format(array);
      value.tensor = share(std::move(array));
    }
  }
  return value;
}

const std::vector<KernelRow>& rows() {
  static const auto kRows = [] {
    std::vector<KernelRow> all;
    for_each_row([&](const KernelRow& row) {
      if (row.kernel != nullptr) all.push_back(row);
    });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.kernel->name < b.kernel->name; });
    return all;
  }();
  return kRows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  const size_t chosen = (size_t{bytes.next()} << 8 | bytes.next()) % rows().size();
  const KernelRow& row = rows()[chosen];
  Call call;
  call.type = row.type;
  for (const KernelRow::Input& input : row.inputs) {
    const int64_t count = input.is_list ? bytes.below(4) : bytes.below(8) == 0 ? 0 : 1;
    for (int64_t i = 0; i < count; ++i) call.append(std::string(input.name), value_from(bytes));
  }
  for (const char* const extra : {"y", "dy", "epsilon"}) {
    if (bytes.below(3) > 0) call.append(extra, value_from(bytes));
  }
  Array stored = make_array(shape_from(bytes));
  stored.dtype = stored.effective = DType::kFloat32;
  call.set_output("y", stored.shape, DType::kFloat32);
  const Maybe<Outputs> outputs = row.kernel->compute(call);
  if (!outputs) return 0;
  for (const Output& output : *outputs) {
    for (const Answer& answer : output.answers) {
      require(answer.y.size() == size_of(answer.y.shape), row.kernel->name, "the number of values");
      require(answer.terms.empty() || answer.terms.size() == answer.y.values.size(), row.kernel->name,
              "the number of terms");
    }
    const OperandFormats formats = formats_of(call);
    const DeviceTraits device{.tensor_cores = true, .usual = DType::kFloat16};
    const Judgement judgement = judge(stored, *row.kernel, output, formats, device);
    if (!judgement.is_wrong()) continue;
    for (const Instead& instead : find_instead({stored, *row.kernel, call, output, formats, device, judgement}))
      require(!describe(instead).empty(), row.kernel->name, "a mistake has words");
  }
  return 0;
}
