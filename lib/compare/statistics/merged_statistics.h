// The statistics of a tensor that lies in pieces (tensor_pieces.h), from those of the pieces: as far as they follow.
//
//   pieces beside each other   max, min, mean, norm and the counts follow
//   terms of a sum             the mean follows; of max, min and norm only the range in which they lie, so that their
//                              slack may be large
//   maxima of parts            the max follows; of min, mean and norm only the range
//
// Checksums and, where pieces are multiplied or reduced, counts do not follow.
#pragma once

#include <span>

#include "compare/statistics/statistic_values.h"
#include "dump/elements/tensor_pieces.h"

namespace msdump {

// `of_pieces`: by TensorPieces::records.
[[nodiscard]] StatisticValues merged_statistics(const TensorPieces& pieces, std::span<const StatisticValues> of_pieces);

}  // namespace msdump
