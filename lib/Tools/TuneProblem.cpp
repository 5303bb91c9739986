//===- TuneProblem.cpp - What a search is asked for -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneProblem.h"

using namespace attn;
using llvm::StringRef;

/// Adds the pinned value of one field to its list.
static rt::Status addChoice(StringRef word, StringRef key, const SchedulePins &pins,
                            CandidateSpace &space) {
  rt::Status status;
  visitSchedule(
      [&](StringRef name, const auto &pin, auto &choices) {
        if (name != key)
          return;
        if (llvm::is_contained(choices, *pin))
          status = rt::fail(rt::ErrorCode::BadInput,
                            (word + ": '" + fieldText(*pin) + "' is given twice; keep one").str());
        choices.push_back(*pin);
      },
      pins, space);
  return status;
}

rt::Expected<TuneProblem> attn::parseTuneProblem(llvm::ArrayRef<std::string> words) {
  SchedulePins none;
  llvm::SmallVector<StringRef> fields;
  visitSchedule([&](StringRef name, const auto &) { fields.push_back(name); }, none);
  auto isField = [&](StringRef word) {
    return llvm::is_contained(fields, word.split('=').first) && word.contains('=');
  };

  if (words.size() == 1 && StringRef(words[0]).ends_with(".mlir"))
    return rt::fail(rt::ErrorCode::BadInput,
                    words[0] + ": expected key=value words or a .json file; only compile and "
                               "explain take MLIR");
  std::vector<std::string> rest;
  llvm::copy_if(words, std::back_inserter(rest), [&](StringRef word) { return !isField(word); });
  rt::Expected<ParsedSpec> parsed = parseSpec(rest, ShapeWords::Allowed);
  if (!parsed)
    return rt::fail(parsed.error());
  TuneProblem problem{parsed->spec, parsed->shape, {}};
  problem.spec.pins = {};
  rt::Expected<RunShape> shape = canonicalize(problem.shape, problem.spec);
  if (!shape)
    return rt::fail(shape.error());
  problem.shape = *shape;
  if (*shape->batch == 0 || *shape->seqQ == 0 || *shape->seqKV == 0)
    return rt::fail(rt::ErrorCode::BadInput,
                    toText(*shape) +
                        ": expected a call with work to time; use sizes of at least 1");

  // Pins of a .json file.
  visitSchedule(
      [](StringRef, const auto &pin, auto &choices) {
        if (pin)
          choices.push_back(*pin);
      },
      parsed->spec.pins, problem.given);
  llvm::SmallVector<StringRef> seen;
  for (StringRef word : words) {
    if (!isField(word))
      continue;
    auto [key, list] = word.split('=');
    if (llvm::is_contained(seen, key))
      return rt::fail(rt::ErrorCode::BadInput,
                      (word + ": '" + key + "' is given twice; make one list of both").str());
    seen.push_back(key);
    llvm::SmallVector<StringRef> values;
    list.split(values, ',');
    for (StringRef value : values) {
      // Each value by the rules of a spec, which know its range.
      std::vector<std::string> one = rest;
      one.push_back((key + "=" + value).str());
      rt::Expected<ParsedSpec> pinned = parseSpec(one, ShapeWords::Allowed);
      rt::Status status = pinned ? addChoice(word, key, pinned->spec.pins, problem.given)
                                 : rt::Status(rt::fail(pinned.error()));
      if (!status)
        return rt::fail(status.error());
    }
  }
  return problem;
}
