// SharedShapes keeps each shape once, at a stable address. A dump of a million tensors has a few hundred shapes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "dump/layouts/family.h"
#include "dump/layouts/layout.h"
#include "dump/names/identity.h"
#include "io/run_context.h"
#include "tensor/shape.h"

namespace msdump {

class SharedShapes {
 public:
  static constexpr uint32_t kNone = HashSlots::kNone;

  // The number of a shape; they count from 0.
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

// TensorView: some of the elements of a tensor, in an order of their own: a part of its rows, or all of it transposed. Or
// a tensor that is put together of several others (tensor_pieces.h).

struct TensorPieces;

// Not empty. Of a tensor whose elements lie in C order, a byte or more each.
struct TensorView {
  struct Axis {
    int64_t extent = 1, stride = 1;
  };

  Shape shape;             // with as many elements as the axes
  std::vector<Axis> axes;  // the outermost first; (i, j, ..) is element first + i * stride + j * stride ..
  int64_t first = 0;
  const TensorPieces* pieces = nullptr;  // then the others say nothing

  [[nodiscard]] int64_t count() const;
  [[nodiscard]] int64_t last() const;  // the last element of the tensor that it has
  [[nodiscard]] bool is_run() const;   // elements that follow each other
  // Which element of the tensor its element `index` is.
  [[nodiscard]] int64_t element(int64_t index) const;
};

// All elements of a tensor, an axis a dimension.
[[nodiscard]] TensorView view_of(const Shape& shape);

// TensorList: every tensor of a dump, one record each, in the order of reports. Made from a DumpIndex: each file lists
// its tensors (its header is read, never its data), and each table (statistic.csv, dump.json) its rows. A row about a
// tensor in a file is joined to that file's record; the others are tensors without elements.
//
// A record costs about 180 bytes; texts and shapes are shared.

inline constexpr uint32_t kNoTable = UINT32_MAX;
inline constexpr uint32_t kNoOrder = UINT32_MAX;
inline constexpr int64_t kStepOfFolder = -1;

// What an output of a device was before the compiler fused or cut its operator.
struct OriginalOutput {
  std::string_view op;  // full name
  uint32_t output = 0;
};

struct TensorRecord {
  NameFacts name;                // with the dtype of the framework's tensor, whatever the file stores
  const Shape* shape = nullptr;  // null: not known
  std::optional<uint64_t> bytes;
  const OriginalOutput* original = nullptr;        // null: not said
  const TensorView* view = nullptr;                // the elements that it stands for; null: all, as they lie
  const std::string_view* distribution = nullptr;  // of which larger tensor it is a part, as JSON; null: not said
  int64_t step = kStepOfFolder;                    // of the row, in a table of several steps
  uint64_t row_offset = 0;                         // of the row in `table`
  uint32_t file = 0;          // DumpIndex::files(): where the elements are; without elements the table
  uint32_t item = 0;          // which of the tensors that file holds
  uint32_t table = kNoTable;  // DumpIndex::files(): the table with a row about it
  uint32_t order = kNoOrder;  // place of the operator in msprobe's record of the run
  uint32_t occurrence = 0;
  bool has_elements = true;
  bool lost_file = false;      // the table names a file of its elements, but that file is missing
  bool broken = false;         // its elements cannot be read; `failures` says why
  bool claimed_twice = false;  // an earlier record has the same identity, including the time stamp

  // Where it lies in several others; null: in `file`.
  [[nodiscard]] const TensorPieces* pieces() const { return view == nullptr ? nullptr : view->pieces; }
};

// The files of which headers are read.
enum class Headers : uint8_t {
  kAll,
  kWhereNeeded,  // those that may hold several tensors or none; for others dtype and shape stay as the name says them
  kNone,         // an Ascend dump file, which may hold several tensors, is one record without slot
};

struct ListOptions {
  Headers headers = Headers::kAll;
};

class TensorList {
 public:
  // An error only when interrupted; everything else is in `failures`.
  static Result<TensorList> read(const DumpIndex& index, const Selection& selection, const ListOptions& options,
                                 const RunContext& context);

  // By rank, graph, step, msprobe's order, the first time stamp of the operator's run, op name; then io and slot.
  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return tensors_; }
  // Of all calls, whatever is selected; those of one call follow each other.
  [[nodiscard]] const std::vector<CallArgument>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<CallOverflow>& overflows() const { return overflows_; }  // likewise
  // Files and single tensors that cannot be used, in the order of the index; the index's own problems come first.
  [[nodiscard]] const std::vector<Error>& failures() const { return failures_; }
  // Files that hold tensors and were looked at; among them, `foreign` turned out to hold none.
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

// Rank, graph and step of a record; the layout is that of its folder. A tensor that lies in several has no rank.
[[nodiscard]] FolderIdentity place_of(const DumpIndex& index, const TensorRecord& tensor);

// The identity of a record, with rank, graph and step.
[[nodiscard]] Identity identity_of(const DumpIndex& index, const TensorRecord& tensor);

}  // namespace msdump
