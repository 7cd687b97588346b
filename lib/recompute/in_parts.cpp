#include "recompute/in_parts.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace msdump::recompute {
namespace {

// An operand that every block needs may have so many elements.
constexpr int64_t kMostShared = int64_t{1} << 20;
// Elements of a block: a few tensors of it lie in the cache of a core.
constexpr int64_t kPartElements = int64_t{1} << 13;
// Elements of a vector that may be an argument.
constexpr int64_t kMostListed = 64;
// Rows that belong together.
constexpr int64_t kMostRow = int64_t{1} << 22;

bool has_elements(const Value& value) { return value.tensor && size_of(value.tensor->shape) > 1; }

// Right-aligned to `rank` axes, as numpy broadcasts.
std::optional<Shape> padded(const Shape& shape, size_t rank) {
  if (shape.size() > rank) return std::nullopt;
  Shape result(rank - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

size_t common_axes(const Shape& shape, const Shape& other) {
  const size_t most = std::min(shape.size(), other.size());
  return static_cast<size_t>(
      std::mismatch(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(most), other.begin()).first -
      shape.begin());
}

size_t leading_ones(const Shape& shape) {
  return static_cast<size_t>(std::find_if(shape.begin(), shape.end(), [](int64_t extent) { return extent != 1; }) -
                             shape.begin());
}

int64_t elements_from(const Shape& shape, size_t axis) {
  return size_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis, shape.size())), shape.end()));
}

int64_t elements_before(const Shape& shape, size_t axis) {
  return size_of(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)));
}

// How an operator is cut: its largest tensor is `outer` rows, indices of the axes in front.
class Blocks {
 public:
  static std::optional<Blocks> make(const Kernel& kernel, const Call& call, const std::vector<WrittenOutput>& outputs) {
    Shapes written, operands;
    for (const WrittenOutput& output : outputs) {
      if (output.y) written.push_back(&output.y->shape);
    }
    for (const auto& [name, values] : call.values()) {
      for (const Value& value : values) {
        if (has_elements(value)) operands.push_back(&value.tensor->shape);
      }
    }
    Blocks blocks;
    blocks.broadcasts_ = kernel.own_axes != nullptr;
    const auto asked = blocks.broadcasts_ ? kernel.own_axes : kernel.common_axes;
    if (asked == nullptr) return std::nullopt;
    const Maybe<size_t> axes = asked(call);
    if (!axes || !(blocks.broadcasts_ ? blocks.cut_output(*axes, written, operands)
                                      : blocks.cut_in_front(*axes, written, operands)))
      return std::nullopt;
    blocks.outer_ = elements_before(blocks.shape_, blocks.axes_);
    const int64_t row = elements_from(blocks.shape_, blocks.axes_);
    if (size_of(blocks.shape_) <= kBlockElements || blocks.axes_ == 0 || row == 0 || row > kMostRow)
      return std::nullopt;
    blocks.rows_ = std::max<int64_t>(1, kPartElements / row);
    if (std::any_of(operands.begin(), operands.end(),
                    [&](const Shape* shape) { return !blocks.is_cut(*shape) && size_of(*shape) > kMostShared; }))
      return std::nullopt;
    return blocks;
  }

  [[nodiscard]] int64_t outer() const { return outer_; }
  [[nodiscard]] int64_t rows() const { return rows_; }  // of a block

  [[nodiscard]] bool is_cut(const Shape& shape) const {
    const auto own = aligned(shape);
    return own && (broadcasts_ || shape.size() > 1) && common_axes(*own, shape_) >= axes_;
  }
  // Elements of a row of a tensor that is cut.
  [[nodiscard]] int64_t row_of(const Shape& shape) const { return elements_from(*aligned(shape), axes_); }
  // The shape of so many rows of it.
  [[nodiscard]] Shape shape_of(const Shape& shape, int64_t rows) const {
    Shape block = *aligned(shape);
    std::fill_n(block.begin(), axes_, 1);
    block[axes_ - 1] = rows;
    return block;
  }

 private:
  using Shapes = std::vector<const Shape*>;

  void choose_largest(const Shapes& shapes) {
    for (const Shape* const shape : shapes) {
      if (size_of(*shape) > size_of(shape_)) shape_ = *shape;
    }
  }

  // Along the axes before the last `own` ones of the largest output, to which operands are broadcast.
  bool cut_output(size_t own, const Shapes& written, const Shapes& operands) {
    choose_largest(written);
    if (shape_.size() <= own) return false;
    axes_ = shape_.size() - own;
    for (const Shape* const shape : written) {
      if (own == 0 && *shape != shape_) return false;
      axes_ = std::min(axes_, common_axes(*shape, shape_));
    }
    for (const Shape* const shape : operands) {
      const auto own_shape = padded(*shape, shape_.size());
      if (!own_shape) return false;
      if (broadcast_shape(*own_shape, shape_) != shape_) {
        // A vector along an axis of the row, as a bias of channels.
        if (own > 0 && shape->size() <= own) continue;
        return false;
      }
      axes_ = std::min(axes_, std::max(common_axes(*own_shape, shape_), leading_ones(*own_shape)));
    }
    return true;
  }

  // Along the first `axes` axes of all tensors. Vectors are lists of sizes or axes, and are not cut.
  bool cut_in_front(size_t axes, const Shapes& written, const Shapes& operands) {
    choose_largest(written);
    choose_largest(operands);
    axes_ = axes;
    const auto fits = [&](const Shape* shape) { return common_axes(*shape, shape_) >= axes_; };
    return std::all_of(written.begin(), written.end(), fits) &&
           std::all_of(operands.begin(), operands.end(), [&](const Shape* shape) {
             return shape->size() <= 1 ? size_of(*shape) <= kMostListed : fits(shape);
           });
  }

  [[nodiscard]] std::optional<Shape> aligned(const Shape& shape) const {
    return broadcasts_ ? padded(shape, shape_.size()) : shape;
  }

  bool broadcasts_ = true;
  Shape shape_;  // of the largest tensor
  size_t axes_ = 0;
  int64_t outer_ = 0, rows_ = 0;
};

// Reads so many rows of a tensor that is cut, else all of it.
Maybe<void> read_block(const Blocks& blocks, const Array& x, int64_t first, int64_t rows, Array& block) {
  const bool cut = blocks.is_cut(x.shape);
  const int64_t row = cut ? blocks.row_of(x.shape) : 0, count = cut ? rows * row : size_of(x.shape);
  block.dtype = x.dtype;
  block.effective = x.effective;
  block.undecided = x.undecided;
  block.shape = cut ? blocks.shape_of(x.shape, rows) : x.shape;
  MSDUMP_TRY(const double* const elements, elements_of(x, first * row, count, block.values));
  if (elements != block.values.data()) block.values.assign(elements, elements + count);
  return {};
}

std::vector<Judgement> without_judgement(size_t count, const Unjudged& why) {
  std::vector<Judgement> judgements(count);
  for (Judgement& judgement : judgements) judgement.why = why;
  return judgements;
}

std::vector<Judgement> judge_blocks(const Blocks& blocks, const Kernel& kernel, const Call& call,
                                    const std::vector<WrittenOutput>& outputs, const DeviceTraits& device) {
  const OperandFormats formats = formats_of(call);
  std::vector<std::optional<OutputJudge>> judges(outputs.size());
  std::vector<double> buffer;
  const auto give_up = [&](const Unjudged& why) { return without_judgement(outputs.size(), why); };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].y) judges[i].emplace(*outputs[i].y, kernel, formats, device);
  }
  Call block = call;
  std::vector<std::shared_ptr<Array>> parts;  // of its operands, whose memory each block takes over
  for (int64_t first = 0; first < blocks.outer(); first += blocks.rows()) {
    const int64_t rows = std::min(blocks.rows(), blocks.outer() - first);
    size_t part = 0;
    for (auto& [name, values] : block.values()) {
      const auto& whole = call.values().find(name)->second;
      for (size_t i = 0; i < values.size(); ++i) {
        if (!has_elements(whole[i])) continue;
        if (first == 0) values[i].tensor = parts.emplace_back(std::make_shared<Array>());
        Array& own = *parts[part++];
        if (first > 0 && !blocks.is_cut(whole[i].tensor->shape)) continue;
        const Maybe<void> read = read_block(blocks, *whole[i].tensor, first, rows, own);
        if (!read) return give_up(read.error());
      }
    }
    for (const WrittenOutput& output : outputs) {
      if (output.y) block.set_output(std::string(output.name), blocks.shape_of(output.y->shape, rows), output.y->dtype);
    }
    Maybe<Outputs> computed = kernel.compute(block);
    if (!computed) return give_up(computed.error());
    Outputs::const_iterator next = computed->begin();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!judges[i]) continue;
      const int64_t count = rows * blocks.row_of(outputs[i].y->shape);
      const auto found =
          find_output(*computed, next, {outputs[i].name, outputs[i].slot, blocks.shape_of(outputs[i].y->shape, rows)});
      if (found == computed->end()) {
        judges[i].reset();
        continue;
      }
      if (outputs[i].name.empty()) next = found + 1;
      const int64_t place = first * blocks.row_of(outputs[i].y->shape);
      const Maybe<const double*> written = elements_of(*outputs[i].y, place, count, buffer);
      if (!written) return give_up(written.error());
      const std::span elements(*written, static_cast<size_t>(count));
      allow_rounding_of_copy(block, elements, (*computed)[static_cast<size_t>(found - computed->cbegin())]);
      judges[i]->add(elements, *found, place);
    }
  }
  std::vector<Judgement> judgements = without_judgement(outputs.size(), {Reason::kShape, {}});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (judges[i]) judgements[i] = judges[i]->finish();
  }
  return judgements;
}

}  // namespace

std::optional<std::vector<Judgement>> judge_in_parts(const Kernel& kernel, const Call& call,
                                                     const std::vector<WrittenOutput>& outputs,
                                                     const DeviceTraits& device, double most_multiplications) {
  if (const auto blocks = Blocks::make(kernel, call, outputs))
    return judge_blocks(*blocks, kernel, call, outputs, device);
  if (kernel.sample == nullptr) return std::nullopt;
  const Maybe<std::vector<SampledOutput>> samples = kernel.sample(call);
  if (!samples) return std::nullopt;
  if (std::none_of(samples->begin(), samples->end(),
                   [&](const SampledOutput& sample) { return sample.multiplications > most_multiplications; }))
    return std::nullopt;
  std::vector<Judgement> judgements = without_judgement(outputs.size(), {Reason::kTooLarge, {}});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto found = std::find_if(samples->begin(), samples->end(), [&](const SampledOutput& sample) {
      return sample.name == outputs[i].name || (outputs[i].name.empty() && samples->size() == 1);
    });
    if (!outputs[i].y || found == samples->end()) continue;
    const Maybe<Judgement> judgement = judge_sample(*outputs[i].y, kernel, *found, formats_of(call), device);
    if (judgement)
      judgements[i] = *judgement;
    else
      judgements[i].why = judgement.error();
  }
  return judgements;
}

}  // namespace msdump::recompute
