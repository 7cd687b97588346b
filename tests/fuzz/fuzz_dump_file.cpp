// Any bytes as an Ascend dump file: no tensor reaches past the end, no two lie over each other, every error is fit to print.
#include <algorithm>
#include <utility>
#include <vector>

#include "ascend/dump_file.h"
#include "ascend/opdebug.h"
#include "base/text.h"
#include "dump/layouts/family.h"
#include "format/plan.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

using Range = std::pair<uint64_t, uint64_t>;

void check_tensors(const ascend::DumpFile& dump, const File& file) {
  std::vector<Range> places;
  int next_slot[4] = {0, 0, 0, 0};
  int last_section = 0;
  for (const ascend::DumpTensor& tensor : dump.tensors) {
    const auto section = static_cast<int>(tensor.section);
    require(section >= last_section, "tensors come section by section");
    last_section = section;
    require(tensor.slot == next_slot[section]++, "slots count from 0 without gaps");
    if (tensor.problem) {
      fuzz::require_good_error(*tensor.problem);
      require(tensor.problem->tensor == tensor.label(), "a tensor's problem names the tensor");
      continue;
    }
    if (tensor.size == 0) continue;
    require(tensor.size <= file.size() && tensor.offset <= file.size() - tensor.size, "a tensor ends inside the file");
    places.emplace_back(tensor.offset, tensor.offset + tensor.size);
    std::byte last{};
    require(file.read_at(tensor.offset + tensor.size - 1, {&last, 1}).has_value(), "a tensor's last byte can be read");
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) require(places[i - 1].second <= places[i].first, "tensors do not overlap");
}

// The same bytes the way the catalogue opens them, up to the plan.
void check_family(const fuzz::FuzzFile& input, const char* name) {
  const Sidecars nothing_beside("/nonexistent");
  const auto opened = ascend_family().open(input.open(), {name, NameFacts{}, nothing_beside});
  if (!opened) return fuzz::require_good_error(opened.error());
  for (const StoredTensor& tensor : opened->tensors) {
    if (tensor.problem) continue;
    PlanRequest request = tensor.request;
    for (const auto& target : {std::optional<Format>(), std::optional<Format>(Format::kNCHW)}) {
      request.target = target;
      const auto plan = make_plan(request);
      if (!plan) {
        require(!plan.error().message.empty(), "an error says something");
        continue;
      }
      require(plan->src_elements >= 0 && plan->dst_elements >= 0, "a plan's sizes are sizes");
      const auto needed = is_raw(plan->dtype) ? std::optional<uint64_t>(static_cast<uint64_t>(plan->src_elements))
                                              : bytes_of(plan->dtype, plan->src_elements);
      require(needed && *needed <= tensor.bytes, "a plan reads no more than the tensor has");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  const auto dump = ascend::read_dump_file(file);
  if (dump) {
    check_tensors(*dump, file);
  } else {
    fuzz::require_good_error(dump.error());
  }
  (void)ascend::looks_like_dump_file(file.head(), file.size());
  check_family(input, "Add.x.1.2.1700000000000000");
  check_family(input, "Add.x.1.2.1700000000000000.4.1.0.0");  // thread 0 of an FFTS+ operator
  const auto record = ascend::read_opdebug(std::as_bytes(std::span(data, size)), 0);
  if (record) require(is_utf8(ascend::opdebug_json(*record)), "an overflow record is printed as text");
  return 0;
}
