// The elements of the tensors of a dump that are chosen by name.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "dump/names/file_kind.h"
#include "info/info_run.h"
#include "info/info_text.h"
#include "info/shown_array.h"
#include "shared/rows.h"
#include "tensor/shape.h"

namespace msdump::cli {
namespace {

Result<ShownTensor> read_tensor(const InfoTask& task, const DumpIndex& index, const TensorRecord& record) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(index, record, {}));
  return show_tensor(tensor, task.request.values.slice, task.for_people());
}

// "Default/MatMul-op20 output:0 (rank 0, step 0)"
std::string label_of(const DumpIndex& index, const TensorRecord& record) {
  const Identity identity = identity_of(index, record);
  std::string place;
  const auto add = [&](std::string_view word, const std::optional<int64_t>& number) {
    if (number) place += fmt::format("{}{} {}", place.empty() ? " (" : ", ", word, *number);
  };
  add("rank", identity.rank);
  add("graph", identity.graph);
  add("step", identity.step);
  return fmt::format("{} {}:{}{}{}", record.name.op_name, name_of(record.name.io), record.name.slot, place,
                     place.empty() ? "" : ")");
}

}  // namespace

Status print_values(InfoTask& task, const Catalogue& catalogue, const std::function<bool(InfoRow)>& print) {
  for (const TensorRecord& record : catalogue.list.tensors()) {
    MSDUMP_CHECK_OK(task.session.context.cancel.check());
    const IndexedFile& file = catalogue.index.files()[record.file];
    const auto shown = read_tensor(task, catalogue.index, record);
    if (!shown) task.fail(shown.error(), &catalogue.index);
    if (!shown && task.for_people()) continue;
    InfoRow row{catalogue.index.path_of(file), std::string(name_of(file.kind)), {}, {}};
    if (task.for_people()) {
      row.text = shown_text(label_of(catalogue.index, record), task.request.values.slice, *shown) + "\n";
    } else {
      row.detail = identity_object(catalogue.index, record);
      row.detail.add("values", shown ? array_value(shown->array) : report::Value());
    }
    if (!print(std::move(row))) break;
  }
  return {};
}

}  // namespace msdump::cli
