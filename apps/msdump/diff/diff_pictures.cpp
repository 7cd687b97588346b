#include "diff/diff_pictures.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compare/dumps/pair_picture.h"
#include "diff/diff_elements.h"
#include "report/page/page_table.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostPictures = 12, kOutputsOfRoot = 3, kMostLooks = 200;

report::Object histogram_object(const ErrorPicture& picture) {
  report::List bins;
  for (const auto& [bin, count] : picture.bins) bins.emplace_back(report::List{bin, count});
  report::Object object;
  object.add("per_decade", kBinsPerDecade).add("bins", std::move(bins));
  object.add("equal", picture.equal).add("mismatches", picture.mismatches);
  return object;
}

report::Object map_object(const ErrorPicture& picture) {
  report::List cells;
  for (const double cell : picture.cells) cells.emplace_back(static_cast<float>(cell));
  report::Object object;
  object.add("rows", picture.rows).add("columns", picture.columns);
  object.add("cell_height", picture.cell_height).add("cell_width", picture.cell_width);
  object.add("down", picture.cells_down).add("across", picture.cells_across).add("cells", std::move(cells));
  return object;
}

// An element of the candidate after the division by a scale.
report::Value divided(const report::Value& value, double scale) {
  if (const auto* const number = value.get<double>(); number != nullptr) return *number / scale;
  if (const auto* const number = value.get<float>(); number != nullptr) return static_cast<float>(*number / scale);
  return value;
}

report::Object picture_object(size_t row, const SecondLook& look, const ErrorPicture* picture, double scale = 1) {
  std::vector<WorstElement> worst = look.worst;
  if (scale != 1) {
    for (WorstElement& one : worst) one.a = divided(one.a, scale);
  }
  report::Object object;
  object.add("row", row);
  object.add("worst", elements_value({worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(
                                                                         std::min(worst.size(), kPictureWorst))}));
  object.add("axes", axes_value(look.axes));
  object.add("histogram", picture == nullptr ? report::Value() : report::Value(histogram_object(*picture)));
  object.add("map", picture == nullptr ? report::Value() : report::Value(map_object(*picture)));
  return object;
}

// The outputs of the roots, each once; of two files their only pair.
std::vector<uint32_t> pictured(const DiffResult& run, const std::vector<const Divergence*>& roots) {
  std::vector<uint32_t> tensors;
  if (run.single_pair) tensors = run.rows;
  for (const Divergence* const root : roots) {
    const std::vector<uint32_t>& shown = enters(*root) || root->outputs.empty() ? root->inputs : root->outputs;
    for (size_t i = 0; i < std::min(shown.size(), kOutputsOfRoot) && tensors.size() < kMostPictures; ++i) {
      if (std::find(tensors.begin(), tensors.end(), shown[i]) == tensors.end()) tensors.push_back(shown[i]);
    }
  }
  return tensors;
}

}  // namespace

Result<report::List> pictures_value(Session& session, const DiffResult& run,
                                    const std::vector<const Divergence*>& roots, const DiffPageRows& rows) {
  report::List list;
  const std::vector<uint32_t> tensors = pictured(run, roots);
  for (const uint32_t tensor : tensors) {
    const TensorPair& pair = run.pairing.tensors[tensor];
    const auto row = rows.row_of(tensor);
    if (!row || pair.a == kNoTensor || pair.b == kNoTensor) continue;
    const auto picture = picture_pair({run.a->catalogue().index, (*run.a->side.tensors)[pair.a]},
                                      {run.b->catalogue().index, (*run.b->side.tensors)[pair.b]}, run.diffs[tensor],
                                      loss_scale_of(run, tensor), session.context.cancel);
    if (!picture && picture.error().code == ErrorCode::kCancelled) return fail(picture.error());
    if (picture && *picture)
      list.emplace_back(picture_object(*row, (*picture)->look, &(*picture)->error, loss_scale_of(run, tensor)));
  }
  size_t looks = 0;
  for (size_t row = 0; row < rows.rows().size() && looks < kMostLooks; ++row) {
    const DiffRow& place = rows.rows()[row];
    if (place.is_argument || std::find(tensors.begin(), tensors.end(), place.index) != tensors.end()) continue;
    const SecondLook& look = run.details[place.index].look;
    if (look.worst.empty() && look.axes.axes.empty()) continue;
    list.emplace_back(picture_object(row, look, nullptr));
    ++looks;
  }
  return list;
}

}  // namespace msdump::cli
