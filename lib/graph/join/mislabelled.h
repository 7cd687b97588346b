// Tensors whose files have another dtype than their bytes: MindSpore's CPU backend stores the first half of a float32
// buffer as float16 where the network says float16 and the kernel computes float32.
// Source: reference/verified-on-real-mindspore.md.
#pragma once

#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

// By tensor: those that the graph says are float16 for the network and float32 on the device. A file that says float16
// has half of the buffer. All false without a graph.
[[nodiscard]] std::vector<bool> float32_on_device(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

}  // namespace msdump
