// The dump of another device that ran operators with the same inputs, for levels of a standard (recompute/standard.h).
#pragma once

#include <vector>

#include "check/checked_dump.h"
#include "dump/index/catalogue.h"
#include "recompute/tensor_reader.h"

namespace msdump::check {

// Its tensors are paired as diff pairs those of two dumps.
class ReferenceDump {
 public:
  // `dump` must outlive it. Must not move.
  ReferenceDump(Catalogue catalogue, const CheckedDump& dump);
  ReferenceDump(const ReferenceDump&) = delete;
  ReferenceDump& operator=(const ReferenceDump&) = delete;

  // The reference of an output of the dump. None if its operator read other inputs there. Thread-safe.
  [[nodiscard]] recompute::Maybe<recompute::Tensor> output(TensorId tensor) const;

 private:
  const Catalogue catalogue_;
  const CheckedDump& dump_;
  const DumpWithGraph files_;
  const recompute::TensorReader own_, other_;
  std::vector<TensorId> partner_;  // by tensor of the dump
};

}  // namespace msdump::check
