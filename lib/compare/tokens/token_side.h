// TokenSide: one side of a comparison with a row for each common token, like one pass over all of them. The tensors of all passes
// (run_passes.h) are joined along the token axis, and their rows gathered into the common order (token_match.h), without pads.
//
//   token axis   [rows, ..], [1, rows, ..], [.., rows, ..]; two axes for a padded batch: [batch, width, ..], [width, batch, ..],
//                [batch, heads, width, ..], and both as one. It fits the rows of every pass, while all other extents stay the
//                same. If several do, that which most other tensors have
//   last rows    [sequences of the pass, ..]: of the last token of each, as engines compute logits
//   fused        a projection whose output is those of several of the other side is split into these
//   neither      weights, caches and scores stay as in the first pass; they are compared if all passes have the same values
// A joined tensor is a TensorPieces: elements are read from the files of the passes, when they are compared.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/sides.h"
#include "compare/tokens/run_passes.h"
#include "compare/tokens/token_match.h"
#include "compare/tokens/token_rows.h"
#include "dump/elements/host_tensor.h"

namespace msdump {

// Rows [first, first + count) of the common order.
struct CommonRows {
  int64_t first = 0, count = 0;
  bool operator==(const CommonRows&) const = default;
};

// The common rows of both: ascending lists without overlaps.
[[nodiscard]] std::vector<CommonRows> intersection(const std::vector<CommonRows>& a, const std::vector<CommonRows>& b);
// Adds rows behind those of the list.
void append(CommonRows more, std::vector<CommonRows>& rows);
[[nodiscard]] int64_t count_of(const std::vector<CommonRows>& rows);

// Must not move, because `side()` refers to it.
class TokenSide {
 public:
  // `dump` is copied, but what it points to must outlive this. `own` is which side of `match` this is.
  TokenSide(const CompareSide& dump, RunPasses passes, TokenRows rows, const TokenMatch& match, Side own);
  TokenSide(const TokenSide&) = delete;
  TokenSide& operator=(const TokenSide&) = delete;

  [[nodiscard]] CompareSide side() const;
  // Splits fused projections. Call before side().
  struct Fused {
    size_t op = 0;                   // in passes().operators
    std::vector<std::string> names;  // of the parts
    std::vector<int64_t> extents;    // of their outputs
  };
  void split(const std::vector<Fused>& fused);
  [[nodiscard]] const std::vector<SequencedOp>& operators() const { return operators_; }
  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return tensors_; }
  [[nodiscard]] const TokenRows& rows() const { return rows_; }
  [[nodiscard]] const RunPasses& passes() const { return passes_; }

  // True if the tensor has a row for each of some tokens.
  [[nodiscard]] bool has_rows(RecordId tensor) const { return gathered_[tensor].cover != nullptr; }
  // The common rows of a tensor that has rows.
  [[nodiscard]] const std::vector<CommonRows>& rows_of(RecordId tensor) const { return gathered_[tensor].cover->rows; }
  // Those of them that are compared.
  [[nodiscard]] const std::vector<CommonRows>& compared_rows(RecordId tensor) const { return gathered_[tensor].rows; }
  // Leaves out all other rows. `rows` are some of the tensor's, at least one.
  void restrict_to(RecordId tensor, const std::vector<CommonRows>& rows);
  // Gives it the shape {rows, elements of a row}.
  void flatten(RecordId tensor);
  // Takes the tensor as it is in the first pass.
  void undo(RecordId tensor);
  // The shape in the first pass.
  [[nodiscard]] const Shape* first_shape(RecordId tensor) const { return in_first_pass(tensor).shape; }
  // The extents of one row; none for a tensor with one number a token.
  [[nodiscard]] std::span<const int64_t> extents_of_row(RecordId tensor) const {
    return std::span(*tensors_[tensor].shape).subspan(1);
  }
  // True if it has the same values in the first and the last pass that have it.
  [[nodiscard]] Result<bool> is_constant_over_passes(RecordId tensor, const CancelToken& cancel) const;

  // Where a row of the common order was computed.
  struct Place {
    uint32_t pass = 0, sequence = 0;
    int64_t row = 0, position = 0, id = 0;
  };
  [[nodiscard]] std::optional<Place> place_of_row(int64_t common) const;
  [[nodiscard]] std::optional<int64_t> step_of_pass(uint32_t pass) const { return passes_.steps[pass]; }
  // None if all ranks run the pass.
  [[nodiscard]] std::optional<int64_t> rank_of_pass(uint32_t pass) const {
    return passes_.groups > 1 ? passes_.ranks[pass] : std::nullopt;
  }

 private:
  // The axes that count rows. `batch`: that of the sequences of a padded batch, or none.
  struct Form {
    uint32_t axis = 0;
    std::optional<uint32_t> batch;
    bool of_last = false;
    bool width_first = false;  // rows of a padded batch, those of one place in all sequences one after the other
    auto operator<=>(const Form&) const = default;
  };
  // Rows [row, row + count) of a pass, which are `common` and the following.
  struct Span {
    int64_t common = 0, count = 0, row = 0;
    uint32_t part = 0;  // of a tensor in these passes
  };
  struct Cover {
    std::vector<Span> spans;  // by `common`
    std::vector<CommonRows> rows;
  };
  struct Gathered {
    std::shared_ptr<const Cover> cover;  // null: it has no rows
    Form form;
    size_t source = 0;             // in RunPasses::tensors
    int64_t from = 0, extent = 0;  // of the last axis; 0: all
    std::vector<CommonRows> rows = {};
  };
  using CoverKey = std::pair<bool, std::vector<uint32_t>>;

  [[nodiscard]] std::vector<Form> forms_in_pass(const Shape& shape, uint32_t pass) const;
  [[nodiscard]] std::vector<Form> forms_of(const RunPasses::Parts& parts) const;
  [[nodiscard]] static Shape other_extents(const Shape& shape, const Form& form);
  void place_rows(const TokenMatch& match, Side own);
  void make_records();
  void number_operators();
  TensorRecord& take_view(size_t tensor, TensorView view);
  [[nodiscard]] const TensorRecord& in_first_pass(RecordId tensor) const;
  std::shared_ptr<const Cover> cover_of(const RunPasses::Parts& parts, bool of_last);
  void gather(size_t tensor, const std::vector<CommonRows>& rows);
  RecordId add_part(RecordId of, const std::string& op_name, int64_t from, int64_t extent);

  const CompareSide dump_;
  const RunPasses passes_;
  TokenRows rows_;
  std::vector<SequencedOp> operators_;
  std::deque<std::string> names_;  // of parts of fused operators
  // By pass, by row; of `last`, `row` counts the spans of the pass.
  std::vector<std::vector<Span>> of_pass_, last_of_pass_;
  static constexpr uint32_t kNoPass = UINT32_MAX;
  std::vector<uint32_t> first_pass_;  // by common row
  std::vector<TensorRecord> tensors_;
  std::vector<Gathered> gathered_;
  std::map<CoverKey, std::shared_ptr<const Cover>> covers_;
  std::deque<TensorPieces> pieces_;
  std::deque<TensorView> views_;
};

}  // namespace msdump
