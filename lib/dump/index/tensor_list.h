// TensorList: every tensor of a dump, one record each, in the order of reports.
//
// The list is made from a DumpIndex. A file lists its tensors (only its header is read), and a table (statistic.csv,
// dump.json) its rows. A row about a tensor in a file is joined to the record of that tensor; the others are tensors without
// elements. A record costs 168 bytes; texts and shapes are shared.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "base/index.h"
#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "dump/layouts/family.h"
#include "dump/layouts/layout.h"
#include "dump/names/identity.h"
#include "io/run_context.h"
#include "tensor/shape.h"

namespace msdump {

// Shapes, each kept once at a stable address. A dump of a million tensors has a few hundred shapes.
class SharedShapes {
 public:
  static constexpr uint32_t kNone = HashSlots::kNone;

  // The number of a shape; numbers count from 0.
  uint32_t number_of(const Shape& shape) {
    uint64_t hash = shape.size();
    for (const int64_t dim : shape) hash = mix_hash(hash, static_cast<uint64_t>(dim));
    const auto same = [&](uint32_t other) { return shapes_[other] == shape; };
    const uint32_t number = numbers_.find_or_add(mix_hash(hash, 0), static_cast<uint32_t>(shapes_.size()), same);
    if (number == shapes_.size()) shapes_.push_back(shape);
    return number;
  }
  // Valid as long as this object, even if it is moved.
  [[nodiscard]] const Shape* shape(uint32_t number) const { return &shapes_[number]; }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(shapes_.size()); }

 private:
  std::deque<Shape> shapes_;
  HashSlots numbers_;
};

struct TensorPieces;

// A view of a tensor: some of its elements, or all in another order (some rows, a transposed matrix). With `pieces`, the
// tensor is a global one that is assembled from local ones (elements/host_tensor.h). A view is never empty. The elements of
// the tensor lie in C order and have a byte or more each.
struct TensorView {
  struct Axis {
    int64_t extent = 1, stride = 1;
  };

  Shape shape;             // with as many elements as the axes
  std::vector<Axis> axes;  // the outermost first; (i, j, ..) is element first + i * stride + j * stride ..
  int64_t first = 0;
  const TensorPieces* pieces = nullptr;  // the view of them without axes is all of their global tensor

  [[nodiscard]] int64_t count() const;
  [[nodiscard]] int64_t last() const;                  // the last element of the tensor that is in the view
  [[nodiscard]] bool is_run() const;                   // true if its elements follow each other in the tensor
  [[nodiscard]] int64_t element(int64_t index) const;  // the place in the tensor of the view's element `index`
};

// The view of all elements, with one axis for each dimension.
[[nodiscard]] TensorView view_of(const Shape& shape);

inline constexpr uint32_t kNoOrder = UINT32_MAX;
inline constexpr int64_t kStepOfFolder = -1;

// The output of the framework's operator that an output of the device is, before the compiler fused or split operators.
struct OriginalOutput {
  std::string_view op;  // full name
  uint32_t output = 0;
};

struct TensorRecord {
  NameFacts name;                // with the dtype of the framework's tensor, whatever the file stores
  const Shape* shape = nullptr;  // null: unknown
  CompactOptional<uint64_t> bytes;
  const OriginalOutput* original = nullptr;        // null: unknown
  const TensorView* view = nullptr;                // the elements that the record has; null: all, in their order
  const std::string_view* distribution = nullptr;  // its place in a global tensor, as JSON; null: unknown
  int64_t step = kStepOfFolder;                    // of the row, in a table of several steps
  uint64_t row_offset = 0;                         // of the row in `table`
  FileId file;                                     // of the elements, or the table if there are none
  uint32_t item = 0;                               // number of the tensor in that file
  FileId table;                                    // with a row about it
  uint32_t order = kNoOrder;                       // place of the operator in msprobe's record of the run
  uint32_t occurrence = 0;
  bool has_elements = true;
  bool lost_file = false;      // the table names a file of its elements, but that file is missing
  bool broken = false;         // its elements cannot be read; `failures` says why
  bool claimed_twice = false;  // an earlier record has the same identity, including the time stamp

  // The local tensors that it is assembled from; null if it lies in `file`.
  [[nodiscard]] const TensorPieces* pieces() const { return view == nullptr ? nullptr : view->pieces; }
};

using RecordId = Index<TensorRecord>;  // in TensorList::tensors()

// The files whose headers are read.
enum class Headers : uint8_t {
  kAll,
  kWhereNeeded,  // those that may hold several tensors or none; of others, dtype and shape are those of the name
  kNone,         // an Ascend dump file, which may hold several tensors, is one record without slot
};

struct ListOptions {
  Headers headers = Headers::kAll;
};

class TensorList {
 public:
  // Returns an error only if it is interrupted; all others are in `failures`.
  static Result<TensorList> read(const DumpIndex& index, const Selection& selection, const ListOptions& options,
                                 const RunContext& context);

  // Sorted by rank, graph, step, msprobe's order, first time stamp of the operator's execution, op name, io and slot.
  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return tensors_; }
  // Arguments of all calls, also of those that are not selected. Those of one call follow each other.
  [[nodiscard]] const std::vector<CallArgument>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<CallOverflow>& overflows() const { return overflows_; }  // likewise
  // Files and single tensors that cannot be used, in the order of the index; the index's own problems come first.
  [[nodiscard]] const std::vector<Error>& failures() const { return failures_; }
  // Number of files that were opened; `foreign` of these hold no tensors.
  [[nodiscard]] int64_t files() const { return files_; }
  [[nodiscard]] int64_t foreign() const { return foreign_; }

 private:
  friend class TensorListBuilder;
  std::vector<TensorRecord> tensors_;
  std::vector<CallArgument> arguments_;
  std::vector<CallOverflow> overflows_;
  std::vector<Error> failures_;
  std::vector<TextArena> texts_;
  std::vector<std::deque<OriginalOutput>> originals_;
  std::vector<std::deque<std::string_view>> distributions_;
  SharedShapes shapes_;
  int64_t files_ = 0, foreign_ = 0;
};

// Rank, graph and step of a record, and the layout of its folder. A tensor that is assembled from several has no rank.
[[nodiscard]] FolderIdentity place_of(const DumpIndex& index, const TensorRecord& tensor);

[[nodiscard]] Identity identity_of(const DumpIndex& index, const TensorRecord& tensor);

}  // namespace msdump
