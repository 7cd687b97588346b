// The files of a small dump that is then Checked: arrays of few elements, and where MindSpore puts them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/check_run.h"
#include "support/graph_run.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump::check {

[[nodiscard]] std::string floats(const std::vector<float>& elements);
// By their codes: 0x3C00 is 1, 0x7BFF 65504.
[[nodiscard]] std::string halves(const std::vector<uint16_t>& codes);
// Of any dtype that .npy has.
template <class T>
[[nodiscard]] std::string npy_of(std::string_view descr, const std::vector<T>& elements) {
  return test::npy_of(descr, Shape{static_cast<int64_t>(elements.size())},
                      {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)});
}

// "rank_0/Net/0/STEP/TYPE.NAME.0.0.TIME.output.0.DefaultFormat.npy"
[[nodiscard]] std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step = 0,
                                      int64_t rank = 0);

using test::Checked;

}  // namespace msdump::check
