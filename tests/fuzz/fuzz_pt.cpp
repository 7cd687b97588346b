// Any bytes as a .pt file, as the pickle of one, as a zip archive, as an .npz, and as model and partitions of a checkpoint of
// DeepSpeed's ZeRO.
#include <fstream>
#include <string>
#include <string_view>

#include "dump/layouts/family.h"
#include "dump/layouts/zero_checkpoint.h"
#include "fuzz_file.h"
#include "io/json.h"
#include "io/zip.h"
#include "torch/dcp_metadata.h"
#include "torch/dtensor.h"
#include "torch/pickle.h"
#include "torch/pt_file.h"

namespace {

using namespace msdump;
using fuzz::require;

constexpr uint64_t kLimit = 1 << 20;

void check_archive(const File& file) {
  const auto zip = ZipFile::open(file);
  if (!zip) return fuzz::require_good_error(zip.error());
  for (size_t i = 0; i < zip->entries().size(); ++i) {
    const ZipEntry& entry = zip->entries()[i];
    require(zip->find(entry.name) == i, "an entry is found by its name");
    const auto content = zip->read(i, kLimit);
    if (content) require(content->size() == entry.size, "an entry is read whole");
    if (!content) fuzz::require_good_error(content.error());
    const auto offset = zip->data_offset(i);
    if (!offset) {
      fuzz::require_good_error(offset.error());
      continue;
    }
    require(*offset <= file.size() && entry.size <= file.size() - *offset, "a stored entry ends inside the file");
    if (!content) continue;
    std::string stored(content->size(), '\0');
    require(file.read_at(*offset, std::as_writable_bytes(std::span(stored.data(), stored.size()))).has_value() &&
                stored == *content,
            "a stored entry lies where it is said to");
  }
}

void check_tensor(const torch::PtTensor& tensor, uint64_t file_size) {
  require(tensor.shape.size() <= kMaxRank, "the rank is limited");
  require(tensor.distribution == nullptr || parse_json(*tensor.distribution), "a distribution is JSON");
  if (tensor.problem) return fuzz::require_good_error(*tensor.problem);
  const auto count = element_count(tensor.shape);
  require(count && bytes_of(tensor.dtype, *count) == tensor.bytes, "shape and dtype give the size");
  require(tensor.contiguous && tensor.strides.size() == tensor.shape.size(), "a good tensor is contiguous");
  require(tensor.offset <= file_size && tensor.bytes <= file_size - tensor.offset, "the elements end inside the file");
}

torch::ZeroShapes check_pt(const File& file) {
  torch::ZeroShapes shapes;
  const auto found = torch::read_pt(file, [&](const torch::Pickle& pickle) {
    shapes = torch::zero_shapes_of(pickle);
    const auto rank = torch::rank_of_meshes(pickle);
    require(!rank || *rank >= 0, "a rank is no negative number");
  });
  if (!found) {
    fuzz::require_good_error(found.error());
    return {};
  }
  for (const torch::PtTensor& tensor : found->tensors) check_tensor(tensor, file.size());
  return shapes;
}

// The only rank has the input as both files.
void check_zero(std::string_view bytes, const torch::ZeroShapes& shapes) {
  if (shapes.groups.empty()) return;
  const std::filesystem::path model = fuzz::memory_folder() / "zero_pp_rank_0_mp_rank_00_model_states.pt",
                              optim = fuzz::memory_folder() / "zero_pp_rank_0_mp_rank_00_optim_states.pt";
  for (const auto& path : {model, optim}) std::ofstream(path, std::ios::binary) << bytes;
  for (const std::optional<int64_t> rank : {std::optional<int64_t>(0), std::optional<int64_t>()}) {
    const ZeroParameters parameters = zero_parameters(model, {"00", rank}, shapes);
    for (const auto& [name, tensor] : parameters.by_name) {
      if (tensor.problem) {
        fuzz::require_good_error(*tensor.problem);
        continue;
      }
      if (!tensor.ranges) continue;
      int64_t next = 0;
      for (const StoredShard& range : tensor.ranges()) {
        require(range.begin.size() == 1 && range.begin[0] == next && range.shape[0] > 0, "ranges follow each other");
        require(range.offset <= bytes.size() && range.bytes <= bytes.size() - range.offset, "a range lies in its file");
        next += range.shape[0];
      }
      require(next == element_count(*tensor.request.shape), "ranges fill the tensor");
    }
  }
}

// As a catalogue reads it: what a member says is inside the archive, and reading it whole is right or an error.
void check_npz(File file) {
  const Sidecars none("", false);
  const uint64_t size = file.size();
  auto opened = npz_family().open(std::move(file), {"a.npz", {}, none});
  if (!opened) return fuzz::require_good_error(opened.error());
  for (const StoredTensor& tensor : opened->tensors) {
    if (tensor.problem) {
      require(!tensor.problem->message.empty(), "an error says something");
      continue;
    }
    require(
        tensor.zip != nullptr && tensor.zip->offset <= size && tensor.zip->compressed_size <= size - tensor.zip->offset,
        "a member lies in the archive");
    require(tensor.zip->begin + tensor.bytes <= tensor.zip->size, "the elements end in their member");
    if (tensor.bytes > kLimit) continue;
    std::string bytes(static_cast<size_t>(tensor.bytes), '\0');
    ZipDataReader reader(tensor.zip);
    const auto read = reader.read(opened->file, 0, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
    if (!read) fuzz::require_good_error(read.error());
  }
}

void check_pickle(std::span<const std::byte> bytes) {
  const auto pickle = torch::parse_pickle(bytes, 0);
  if (!pickle) return require(!pickle.error().message.empty(), "an error says something");
  require(pickle->root < pickle->values.size(), "the root is a value");
  for (const torch::PickleValue& value : pickle->values) {
    for (const torch::PickleRef item : value.items) require(item < pickle->values.size(), "an item is a value");
    require(value.kind != torch::PickleKind::kGlobal || value.global < pickle->globals.size(), "a name is known");
  }
}

}  // namespace

namespace {

void check_metadata(const File& file) {
  const auto found = torch::read_dcp_metadata(file);
  if (!found) return fuzz::require_good_error(found.error());
  for (const torch::DcpTensor& tensor : found->tensors) {
    require(tensor.shape.size() <= kMaxRank, "the rank is limited");
    for (const torch::DcpChunk& chunk : tensor.chunks) {
      require(chunk.begin.size() == tensor.shape.size() && chunk.shape.size() == tensor.shape.size(),
              "a chunk has the axes");
      for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
        require(chunk.begin[axis] + chunk.shape[axis] <= tensor.shape[axis], "a chunk lies in its tensor");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  check_archive(file);
  check_zero({reinterpret_cast<const char*>(data), size}, check_pt(file));
  check_metadata(file);
  check_npz(input.open());
  check_pickle(std::as_bytes(std::span(data, size)));
  return 0;
}
