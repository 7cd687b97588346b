// PieceTensors: the tensors of many ranks, opened to be read in turn. They are kept open as far as the descriptors of the
// process allow (KeepOpen); the others are opened for each read. A file that is another one when it is opened again is an
// error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/file.h"

namespace msdump {

class PieceTensors {
 public:
  // `index` lists the tensors, and outlives this.
  explicit PieceTensors(const DumpIndex& index) : index_(&index) {}

  // Opens the tensor of a record, which outlives this, as the next piece.
  Result<HostTensor*> add(const TensorRecord& record);
  // The pointer is valid until the next call.
  Result<HostTensor*> open(size_t piece);
  [[nodiscard]] size_t size() const { return pieces_.size(); }
  Status check_unchanged();

 private:
  struct Piece {
    const TensorRecord* record;
    std::pair<uint64_t, int64_t> stamp;
    std::optional<HostTensor> kept = {};
    std::optional<KeepOpen> permission = {};
  };

  const DumpIndex* index_;
  std::vector<Piece> pieces_;
  std::optional<HostTensor> last_;  // the one that was opened last, if it is not kept
  size_t last_piece_ = 0;
};

}  // namespace msdump
