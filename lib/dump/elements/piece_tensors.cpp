#include "dump/elements/piece_tensors.h"

namespace msdump {

Result<HostTensor*> PieceTensors::add(const TensorRecord& record) {
  last_.reset();
  MSDUMP_TRY(HostTensor opened, HostTensor::open(*index_, record, {}));
  Piece& piece = pieces_.emplace_back(Piece{&record, opened.stamp()});
  piece.permission = KeepOpen::take();
  std::optional<HostTensor>& place = piece.permission ? piece.kept : last_;
  last_piece_ = pieces_.size() - 1;
  return &place.emplace(std::move(opened));
}

Result<HostTensor*> PieceTensors::open(size_t number) {
  Piece& piece = pieces_[number];
  if (piece.kept) return &*piece.kept;
  if (last_ && last_piece_ == number) return &*last_;
  last_.reset();
  MSDUMP_TRY(HostTensor opened, HostTensor::open(*index_, *piece.record, {}));
  if (opened.stamp() != piece.stamp) {
    return fail(make_error(ErrorCode::kChangedWhileReading, "was written to while being read ({} bytes before, {} now)",
                           piece.stamp.first, opened.stamp().first)
                    .with_path(opened.path()));
  }
  last_piece_ = number;
  return &last_.emplace(std::move(opened));
}

Status PieceTensors::check_unchanged() {
  for (size_t piece = 0; piece < pieces_.size(); ++piece) {
    MSDUMP_TRY(const HostTensor* const opened, open(piece));
    MSDUMP_CHECK_OK(opened->check_unchanged());
  }
  return {};
}

}  // namespace msdump
