#include "compare/dumps/pair_picture.h"

#include <utility>

#include "dump/elements/host_tensor.h"

namespace msdump {

Result<std::optional<PairPicture>> picture_pair(const PictureSide& a, const PictureSide& b, const TensorDiff& diff,
                                                double scale, const CancelToken& cancel) {
  const bool differs =
      diff.verdict == Verdict::kClose || diff.verdict == Verdict::kDiffer || diff.verdict == Verdict::kNan;
  if (!differs || diff.by_statistics) return std::optional<PairPicture>();
  MSDUMP_TRY(HostPair opened, open_pair(a.index, a.tensor, b.index, b.tensor));
  HostTensor &left = opened.left, &right = opened.right;
  PairPicture picture;
  MSDUMP_TRY(picture.error, picture_error(left, right, scale, cancel));
  MSDUMP_TRY(picture.look, look_again(left, right, diff, {kPictureWorst, true, scale}, cancel));
  return std::optional(std::move(picture));
}

}  // namespace msdump
