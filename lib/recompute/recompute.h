// Recomputes the operators of one dump from their own dumped inputs, in double precision, and judges what they wrote.
//
// An operator whose output is not what its inputs lead to is wrong, whatever a reference says; one that is right is acquitted:
// a difference of its output came with its inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/flow/run_graph.h"
#include "graph/join/dump_operators.h"
#include "io/run_context.h"
#include "recompute/instead.h"
#include "recompute/judge.h"
#include "recompute/question.h"
#include "recompute/region.h"
#include "recompute/tensor_reader.h"

namespace msdump::recompute {

// An argument that the kernel was asked with, for people.
struct AskedArgument {
  std::string name, value;
  Value::From from = Value::From::kFile;
};

struct OutputJudgement {
  TensorId tensor;
  std::string name;
  Judgement judgement;
  std::vector<Instead> instead;  // what it is, if it is wrong and that is known
};

// "relative error 0.52, 40 of 40 elements, 5e+05 units (limit 4); columns 0-7; as if b were transposed".
[[nodiscard]] std::string describe_wrong(const OutputJudgement& output);

struct OperatorJudgement {
  ExecutionId run;      // of the question
  ExecutionId forward;  // of a backward call: the execution of its forward call
  std::string_view type;
  const KernelRow* row = nullptr;  // null: not asked
  Kernel kernel;                   // that it was judged by: its own, or that of a region
  Unjudged why;                    // if no output was judged
  std::vector<OutputJudgement> outputs;
  std::vector<AskedArgument> asked;  // of an operator that is wrong
  bool assumes_state = false;        // an operand is a state that was assumed (Assumed::kState)

  [[nodiscard]] bool is_wrong() const;
  [[nodiscard]] bool is_right() const;  // every output that was dumped is right
};

// What a recomputation covers.
struct RecomputeCounts {
  struct OfKernel {
    std::string_view kernel;
    uint64_t outputs = 0;      // that were judged
    double largest_right = 0;  // units
    double limit = 0;
  };
  uint64_t operators = 0, right = 0, wrong = 0, unjudged = 0;
  uint64_t sampled = 0;  // of `right` and `wrong`
  struct OfReason {
    Reason reason = Reason::kNoKernel;
    std::string_view type;  // of the operators
    std::string what;
    uint64_t operators = 0;
  };
  std::vector<OfReason> not_judged;  // by reason and type
  std::vector<OfKernel> kernels;     // by name
};
[[nodiscard]] RecomputeCounts count(const std::vector<OperatorJudgement>& judgements);

// An output as a kernel computed it in full, not rounded.
struct ComputedOutput {
  TensorId tensor;
  const Kernel& kernel;
  const Array& written;   // in the dump
  const Array& expected;  // the answer that it was judged by
  bool incomplete;        // elements of it or of what the operator read are unknown
};

struct RecomputeOptions {
  int64_t most_elements = kMostElements;  // that are held of an operator; larger ones are computed in parts
  // Products of more multiplications are sampled.
  double most_multiplications = kSampled;
  static constexpr double kSampled = 0x1p24, kInFull = 0x1p31;
  // Wrong operators whose mistake is looked for, in their order: it takes up to a second each, and the first ones tell.
  size_t most_explained = 32;
  // How the device computes, if that is known from more than is judged.
  std::optional<DeviceTraits> device = {};
  Assumed assumed = Assumed::kNothing;
  // Takes each output that was judged and computed in full, once. Called by several threads. Then what can be is computed in full, one
  // operator of more than `large_elements` at a time.
  std::function<void(const ComputedOutput& output)> golden = {};
  int64_t large_elements = int64_t{1} << 22;
  // Judgements of questions that are no regions are taken from it if it has them, else kept there (kept_judgement.h). May be null.
  FactStore* facts = nullptr;
  ScanTaker* statistics = nullptr;  // may be null, or takes those of tensors that are read as a whole
};

// Opens the tensor of an operand or output; its elements may have a source.
using OpenTensor = std::function<Maybe<Array>(TensorId tensor, const Shape* shape)>;
// The operands of a question and the outputs in the dump. Tensors of more than kBlockElements may have a source in the place of
// values, except of a member of a region.
struct ReadQuestion {
  Call call;
  std::vector<InnerOperand> inner;  // of a member of a region
  std::vector<Tensor> outputs;      // by Question::outputs; null: not in a file, or it cannot be read
  std::optional<Unjudged> why;      // of an output that cannot be read
  bool incomplete = false;          // elements of operands are unknown
  int64_t elements = 0;             // of all

  // Reads what has a source, if no more than `most_elements` are held then.
  [[nodiscard]] Maybe<void> load(int64_t most_elements);
};
// Of a question that is no region, with all elements. Operands that cannot be read are unknown.
[[nodiscard]] Maybe<ReadQuestion> read_question(const Question& question, const OpenTensor& open);

// The outputs that a question, or the last member of a region, leads to, not rounded; nothing is judged. Of up to `most_elements` that
// are read.
[[nodiscard]] Maybe<Outputs> compute_question(const Question& question, const OpenTensor& open, int64_t most_elements);

// Tensor cores and 16-bit storage show in most outputs of a dump, or in none.
[[nodiscard]] DeviceTraits traits_of(const std::vector<OperatorJudgement>& judgements);

using AskQuestion = std::function<Question(size_t i)>;

// Judges `count` questions, several at a time; results are in their order and do not depend on the number of workers. An
// error only if it is interrupted. `ask` and `open` are called by several threads.
[[nodiscard]] Result<std::vector<OperatorJudgement>> judge_questions(size_t count, const AskQuestion& ask,
                                                                     const OpenTensor& open,
                                                                     const RecomputeOptions& options,
                                                                     const RunContext& context);

// How much of a dump is computed again.
enum class Extent : uint8_t {
  kNever,
  kIfCheap,  // as kSampled, if the tensors have at most kCheapBytes
  kSampled,
  kAll,  // products of up to RecomputeOptions::kInFull multiplications in full
};
inline constexpr uint64_t kCheapBytes = uint64_t{256} << 20;
[[nodiscard]] RecomputeOptions options_of(Extent extent);
// The bytes of the inputs and outputs of these executions.
[[nodiscard]] uint64_t bytes_of(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<ExecutionId>& runs);

// Judges executions of a dump by its own graph or calls. The objects must outlive the call.
[[nodiscard]] Result<std::vector<OperatorJudgement>> recompute(const DumpWithGraph& dump, const RunGraph& flow,
                                                               const std::vector<SequencedOp>& operators,
                                                               const std::vector<ExecutionId>& runs,
                                                               const RunContext& context,
                                                               const RecomputeOptions& options = {});

}  // namespace msdump::recompute
