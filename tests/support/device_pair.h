// A dump as a compiler for the device names it, and one of the same network from a host, both written from a few lines and
// paired:
//
//   const DevicePair pair({{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}}}, {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}}});
//   CHECK(pair.tensors() == Texts{"Relu.i0=ReLU.i0", "Relu.o0=ReLU.o0"});
//
// Tensors of one text hold the same values, on the device with its rounding: a correct pair has the same text twice. An
// operator of the host reads, in its IR, the one that has an output of that text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/compare_run.h"
#include "support/made_net.h"
#include "support/scratch_dir.h"

namespace msdump {

struct PairTensor {
  PairTensor(const char* of) : text(of) {}  // NOLINT: "x" is a tensor

  [[nodiscard]] PairTensor sized(int64_t elements) const;
  [[nodiscard]] PairTensor ints(int64_t elements) const;  // int64: an axis, a shape
  [[nodiscard]] PairTensor all(float value) const;
  [[nodiscard]] PairTensor times(float factor) const;
  // What the file says of an output: it was output `output` of this operator.
  [[nodiscard]] PairTensor once(std::string op, uint32_t output = 0) const;
  [[nodiscard]] PairTensor slot(int number) const;

  std::string text;
  int64_t elements = 48;
  bool integer = false;
  std::optional<float> constant;
  float factor = 1;
  std::string original_op;
  uint32_t original_output = 0;
  std::optional<int> number;  // default: its place
};

struct PairOp {
  std::string type, name;
  std::vector<PairTensor> inputs, outputs;
  int rank = 0, step = 0;
};

struct DevicePairOptions {
  bool ir = false;              // of the host
  bool device_is_a = true;      // the candidate
  bool with_trans_data = true;  // an inserted operator in the device's dump, by which it is known as one
  bool statistics = false;      // of the device, no elements
};

class DevicePair {
 public:
  DevicePair(const std::vector<PairOp>& device, const std::vector<PairOp>& host, const DevicePairOptions& options = {});

  // "Relu.i0=ReLU.i0", "Cast.i0=", "=Reshape.o0", by operator; without the operator that is inserted by default.
  [[nodiscard]] Texts tensors() const;
  // "=Reshape.o0: no kernel in the candidate: ...", of those without a partner; "?" in front of an unmatched one.
  [[nodiscard]] Texts alone() const;
  // "Default/a/ReLU-op7=Default/a/ReLU-op1", as files spell them; operators without a partner are left out.
  [[nodiscard]] Texts operators() const;
  [[nodiscard]] const Pairing& pairing() const { return compared_->pairing(); }

 private:
  [[nodiscard]] std::string text_of(const TensorPair& pair) const;
  [[nodiscard]] bool is_default(const TensorPair& pair) const;

  const DevicePairOptions options_;
  const test::ScratchDir scratch_;
  std::unique_ptr<test::ComparedDumps> compared_;
};

}  // namespace msdump
