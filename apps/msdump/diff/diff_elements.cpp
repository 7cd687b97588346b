#include "diff/diff_elements.h"

namespace msdump::cli {

report::Object element_object(const WorstElement& element) {
  report::Object object;
  object.add("index", report::list_of(element.index)).add("a", element.a).add("b", element.b);
  return object;
}

report::List elements_value(const std::vector<WorstElement>& elements) {
  report::List list;
  for (const WorstElement& element : elements) list.emplace_back(element_object(element));
  return list;
}

report::List axes_value(const ErrorAxes& axes) {
  report::List list;
  for (const AxisError& axis : axes.axes) {
    report::List ranges;
    for (const AxisRange& range : axis.ranges) {
      report::Object object;
      object.add("first", range.first).add("last", range.last).add("share", range.share);
      object.add("max_abs", range.max_abs).add("mismatches", range.mismatches);
      ranges.emplace_back(std::move(object));
    }
    report::Object object;
    object.add("axis", axis.axis).add("extent", axis.extent).add("carried", axis.carried);
    object.add("ranges", std::move(ranges));
    list.emplace_back(std::move(object));
  }
  return list;
}

}  // namespace msdump::cli
