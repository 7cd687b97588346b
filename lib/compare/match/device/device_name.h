// DeviceName: the operators of a network that the name of an operator in a dump stands for.
//
//   Default/conv1-Conv2d/Conv2D-op12                       one
//   Default/a/MatMul-op3Default/a/BiasAdd-op4              fused: names concatenated, in order
//   Default/a/BatchNorm-op3_UpdateDefault/a/ReLU-op4      fused, the first a part of one
//   FusedX_0_Default/a/MatMul-op3_Default/a/BiasAdd-op4_1  the same, by CANN's passes since 2025
//   Default/a/FusionOp_MatMul_BiasAdd-op7                  fused: types; the scope is that of all
//   Default/a/BatchNorm-op4_Reduce, .../BNTrainingReduce   a part of one
//   trans_TransData_5, Default/a/ReLU-op3_MemSet           none: inserted
//
// '/' may be '_', as file names have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

struct OriginalName {
  std::string scope;     // normalised (graph/op_name.h): "Default_a"
  std::string type;      // as MindSpore spells it
  uint64_t number = 0;   // of its "-op12": the same in all parts of one operator, another one in another dump
  bool is_part = false;  // in a name of several: text follows the number
  bool operator==(const OriginalName&) const = default;
};

struct DeviceName {
  std::vector<OriginalName> originals;  // in order; the outputs are those of the last
  bool is_part = false;                 // text follows the last number
};

[[nodiscard]] DeviceName parse_device_name(std::string_view name);
// True if it stands for several operators. Cheap if it does not.
[[nodiscard]] bool names_several(std::string_view name);

// DeviceSigns: how certain it is that a compiler for the device named the operators of a dump. Types alone are a weak sign,
// because a network may have some of them itself.

enum class DeviceSigns : uint8_t { kNone, kTypes, kCertain };
[[nodiscard]] DeviceSigns device_signs(const std::vector<SequencedOp>& operators);

}  // namespace msdump
