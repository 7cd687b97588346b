// Judges an output in a file against what a kernel computed: right within the rounding of the arithmetic, or wrong.
//
// For an element y of the file and its exact value e, with S the sum of the absolute values of its terms:
//
//   E     = u |e| + t + v (2 + g) S       what rounding can do
//   units = largest |y - e| / E           wrong beyond the limit of the kernel
//
// u is the roundoff of the format of y and t its smallest step. v and g say how the terms were computed:
//
//   kFloat32   v = 2^-24, g = sqrt(length of the sums)      always tried first
//   kLow       v = the roundoff of the coarsest operand     the output has 16 bits, or an operand of a dump that mostly has
//   kTensor    v = 2^-11 in products, 2^-13 elsewhere       the products of the whole dump are beyond kFloat32 (HF32, TF32)
//
// The format of a tensor is that of its values: a float32 file whose values all fit bfloat16 is of a bfloat16 device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recompute/kernel.h"

namespace msdump::recompute {

enum class Precision : uint8_t { kFloat32, kLow, kTensor };
[[nodiscard]] constexpr Precision last_of(Precision) { return Precision::kTensor; }
[[nodiscard]] std::string_view name_of(Precision precision);
inline constexpr size_t kPrecisions = static_cast<size_t>(last_of(Precision())) + 1;

// Constants that decide. Beside each: what it was measured on (docs/recompute.md has the tables).
struct Limits {
  // Largest of 99 840 right outputs of 93 MindSpore CPU dumps: 1.1; of simulated fp16, bf16 and HF32 devices: 1.2.
  static constexpr double kUnits = 4;
  // A relative change of all elements, in units of u: largest of 2 720 right outputs of 16 bits: 0.53.
  static constexpr double kSlope = 2;
  static constexpr int64_t kSlopeElements = 64;  // fewer say nothing about a common factor
  // sigmoid in 16 bits: exp overflows.
  static constexpr double kSigmoidStep = 0x1p-16;
  // Values that must use more than three bits of mantissa before 16 zero bits in each mean bfloat16.
  static constexpr int kFormatValues = 4;
  // Edges of damage that are multiples of less say nothing about blocks; the Cube Unit's have 16.
  static constexpr int64_t kLeastBlock = 16;
  // Values beyond this are not judged: kernels clamp near overflow.
  static constexpr double kLargest = 0x1p126;
};

// A box of elements: from <= index <= to.
struct Box {
  std::vector<int64_t> from, to;
  // If every element of it is wrong: the largest power of two that divides its edges inside the array, as of a block of a kernel.
  // 0: there is none of at least Limits::kLeastBlock.
  int64_t multiple_of = 0;
};

struct Judgement {
  enum class Verdict : uint8_t { kRight, kWrong, kNotJudged };
  Verdict verdict = Verdict::kNotJudged;
  Unjudged why;  // of kNotJudged
  Precision precision = Precision::kFloat32;
  double units = 0, limit = 0;
  double relative_error = 0;    // |y - e| / |e| over all elements that were compared
  std::optional<double> slope;  // of y against e; with enough elements
  int64_t elements = 0, wrong = 0;
  std::vector<int64_t> worst;  // index of the largest error
  double worst_value = 0, worst_expected = 0;
  // Only some rows were computed, and a projection of the others: the smallest error of one element that is surely found,
  // relative to the root of the mean square of the output.
  std::optional<double> sampled;
  std::optional<Box> place;          // around the wrong elements
  Shape shape;                       // of the output
  std::string variant;               // of the answer that fits best
  size_t answer = 0;                 // its place in Output::answers; not kept in parts
  DType format = DType::kUndefined;  // effective, of the output
  bool coarser = false;              // its format has fewer bits than those of all its operands
  bool fits_bfloat16 = false;        // of float16: bfloat16 may be its format as well
  bool follows_copy = false;         // see Output
  // Of each precision; infinite if it cannot apply. Products decide whether kTensor may.
  std::array<double, kPrecisions> units_of{};
  // E over e, likewise: root mean squares, that of E with the squares of e as weights. 0: it cannot apply, nothing is rounded, or the
  // output has few different values, whose errors do not average out.
  std::array<double, kPrecisions> rounding_of{};

  [[nodiscard]] bool is_right() const { return verdict == Verdict::kRight; }
  [[nodiscard]] bool is_wrong() const { return verdict == Verdict::kWrong; }
};

// "rows 3840-4095, columns 0-511; edges are multiples of 256"; empty if the wrong elements are all over the output, or nowhere.
[[nodiscard]] std::string describe_place(const Judgement& judgement);

// How the device of the dump computes, as its outputs show together.
struct DeviceTraits {
  bool tensor_cores = false;        // kTensor is allowed
  DType usual = DType::kUndefined;  // the 16-bit format of most outputs; that of tensors with too few values to tell
  [[nodiscard]] bool is_plain() const { return !tensor_cores && usual == DType::kUndefined; }
};

// True for a float of less than 32 bits.
[[nodiscard]] bool is_low(DType dtype);

// What is known of the operands of the output.
struct OperandFormats {
  DType coarsest = DType::kUndefined;  // effective format of the coarsest float operand
  DType stored = DType::kUndefined;    // the widest dtype among the float operands
  bool subnormal = false;              // of one of them
  void add(const OperandFormats& other);
};
// Sets the narrowest float format that holds every value: the dtype itself if it is no float32.
void find_effective_format(Array& array);
[[nodiscard]] OperandFormats formats_of(const Call& call);

// Where a copy of fewer bits stands for the value before an update (Call::copied), that value may be off by half a unit of the copy:
// moves each element of the answers by up to that towards what the file has, `found`.
void allow_rounding_of_copy(const Call& call, std::span<const double> found, Output& output);

[[nodiscard]] Judgement judge(const Array& y, const Kernel& kernel, const Output& output, const OperandFormats& formats,
                              const DeviceTraits& device);

// Judges an output in parts.
class OutputJudge {
 public:
  // Uses the shape, dtype and effective format of `y`, not its elements.
  OutputJudge(const Array& y, const Kernel& kernel, const OperandFormats& formats, const DeviceTraits& device);
  ~OutputJudge();

  // Elements first, first + step, .. of the output: as the file has them, and as each answer of the kernel has them.
  void add(std::span<const double> found, const Output& expected, int64_t first, int64_t step = 1);
  [[nodiscard]] Judgement finish() const;

 private:
  class OfAnswer;

  Array y_;
  const Kernel& kernel_;
  const OperandFormats formats_;
  const DeviceTraits device_;
  std::vector<OfAnswer> answers_;  // by place in Output::answers
  bool follows_copy_ = false;
};

// The terms of E (above) for the elements of an output, by precision.
struct Bound {
  double u = 0, t = 0;
  std::array<double, kPrecisions> v{};  // infinite: cannot apply
};
[[nodiscard]] Bound bound_of(const Kernel& kernel, DType format, const OperandFormats& formats,
                             const DeviceTraits& device);

// Judges some rows of a large output, and compares all with a projection.
[[nodiscard]] Maybe<Judgement> judge_sample(const Array& y, const Kernel& kernel, const SampledOutput& expected,
                                            const OperandFormats& formats, const DeviceTraits& device);

}  // namespace msdump::recompute
