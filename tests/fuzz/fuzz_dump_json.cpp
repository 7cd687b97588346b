// Any bytes as a dump.json, against the reader of whole trees, and as the name of a file in dump_tensor_data.
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "io/json.h"
#include "msprobe/dump_json.h"

namespace {

using namespace msdump;
using fuzz::require;

// What parse_json says of the same text: the entries of "data", or nothing if there are none.
std::optional<int64_t> entries_in_tree(std::string_view text) {
  const auto tree = parse_json(text);
  if (!tree || !tree->is(JsonKind::kObject)) return std::nullopt;
  const JsonValue* data = tree->find("data");
  if (data == nullptr || !data->is(JsonKind::kObject)) return std::nullopt;
  return static_cast<int64_t>(data->members.size());
}

void check_tensor(const MsprobeTensor& tensor, const DumpJson& json, std::string_view text) {
  require(tensor.order >= 0 && tensor.order < json.entries, "a tensor belongs to an entry");
  require(tensor.offset < text.size() && text[tensor.offset] == '{', "the offset is that of the leaf");
  require(!tensor.shape || tensor.shape->size() <= kMaxRank, "the rank is limited");
  require(!tensor.slot.empty() || tensor.io == MsprobeIo::kDebug, "only saved variables have no slot");
  for (const auto* number : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm}) {
    if (*number && (*number)->size() < 300) (void)statistic_value(**number);
  }
  if (!tensor.data_name) return;
  require(!tensor.data_name->empty() && tensor.data_name->find('/') == std::string::npos && tensor.data_name != "..",
          "a data_name stays in its folder");
}

void check_file(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  const auto json = read_dump_json(file);
  // RapidJSON takes a zero byte for the end of the text.
  const bool comparable = text.find('\0') == std::string_view::npos;
  if (!json) {
    fuzz::require_good_error(json.error());
    require(json.error().offset && *json.error().offset <= size, "an error says where");
    require(!comparable || !entries_in_tree(text), "what is refused is no dump.json for the reader of trees either");
    return;
  }
  for (const MsprobeTensor& tensor : json->tensors) check_tensor(tensor, *json, text);
  bool too_deep = false;
  for (const Error& problem : json->problems) {
    fuzz::require_good_error(problem);
    require(problem.offset && *problem.offset < size, "a problem says where");
    too_deep = too_deep || problem.message.ends_with("nested deeper than 90");
  }
  require(static_cast<int64_t>(json->problems.count()) <= json->entries, "an entry is one problem at most");
  if (comparable && !too_deep) require(entries_in_tree(text) == json->entries, "both readers see the same entries");
}

void check_name(std::string_view file_name) {
  const auto name = parse_msprobe_file_name(file_name);
  if (!name) return;
  std::string text(name->op_name);
  const auto entry = parse_msprobe_entry(name->op_name);
  const bool argument = !entry || entry->kind == MsprobeEntryKind::kCall || entry->kind == MsprobeEntryKind::kModule;
  require(entry || !name->unfinished.empty(), "the op name of a file is the name of an entry");
  require(!entry || entry->op_type == name->op_type, "both give the same op type");
  if (argument) {
    text.append(".").append(name->io == MsprobeIo::kParameter ? "parameters" : name_of(name->io));
  }
  if (!name->slot.empty()) text.append(".").append(name->slot);
  if (!name->unfinished.empty()) text.append("_").append(name->unfinished);
  require(file_name == text + ".npy" || file_name == text + ".pt", "a name taken apart is put together again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_file(data, size);
  check_name({reinterpret_cast<const char*>(data), size});
  return 0;
}
