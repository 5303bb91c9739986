//===- ScheduleFileText.cpp - Schedule files as JSON ----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/ScheduleFileText.h"

#include "SpecValues.h"
#include "attn/Compiler/InputFile.h"
#include "attn/Runtime/Hash.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/GlobPattern.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace attn;
using llvm::ArrayRef;
using llvm::StringRef;
namespace json = llvm::json;

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

static std::string text(const json::Value &value) { return llvm::formatv("{0}", value).str(); }

/// The members of a set, with the bits that they stand for.
using SetNames = ArrayRef<std::pair<StringRef, unsigned>>;
static constexpr std::pair<StringRef, unsigned> kElements[] = {
    {"f32", elements::F32}, {"f16", elements::F16}, {"bf16", elements::BF16}};
static constexpr std::pair<StringRef, unsigned> kMasks[] = {{"full", masks::Full},
                                                            {"causal", masks::Causal},
                                                            {"window", masks::Window},
                                                            {"other", masks::Other}};
static constexpr std::pair<StringRef, unsigned> kPhases[] = {{"prefill", phases::Prefill},
                                                             {"decode", phases::Decode}};

constexpr int64_t kMaxHeadDim = 512;
constexpr int64_t kMaxAlignment = 256;
constexpr size_t kMaxRows = 10000;
constexpr uint64_t kMaxBytes = uint64_t(64) << 20;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads the keys of one object; the first fault stays.
class ObjectReader {
public:
  ObjectReader(const json::Object &object) : object(object) {}

  void fail(const llvm::Twine &message) {
    if (status)
      status = bad(message);
  }

  /// The value of a key, or null where it is left out.
  const json::Value *find(StringRef key) {
    known.push_back(key);
    return object.get(key);
  }

  void read(StringRef key, std::string &field, size_t maxLength = 1024) {
    const json::Value *value = find(key);
    if (!value)
      return;
    std::optional<StringRef> string = value->getAsString();
    if (!string || string->size() > maxLength)
      return fail(key + ": expected a string of at most " + llvm::Twine(maxLength) +
                  " characters, got " + text(*value).substr(0, 80));
    field = string->str();
  }

  void read(StringRef key, int64_t &field, int64_t min, int64_t max) {
    const json::Value *value = find(key);
    std::optional<int64_t> integer = value ? value->getAsInteger() : std::nullopt;
    if (value && (!integer || *integer < min || *integer > max))
      return fail(llvm::formatv("{0}: expected an integer in [{1}, {2}], got {3}", key, min, max,
                                text(*value)));
    field = integer.value_or(field);
  }

  void read(StringRef key, double &field) {
    const json::Value *value = find(key);
    std::optional<double> number = value ? value->getAsNumber() : std::nullopt;
    if (value && (!number || *number < 0))
      return fail(key + ": expected a number of at least 0, got " + text(*value));
    field = number.value_or(field);
  }

  void read(StringRef key, DimRange &range) {
    const json::Value *value = find(key);
    if (!value)
      return;
    const json::Array *bounds = value->getAsArray();
    std::optional<int64_t> min, max;
    if (bounds && bounds->size() == 2) {
      min = (*bounds)[0].getAsInteger();
      max = (*bounds)[1].getAsInteger();
    }
    if (!min || !max || *min < 1 || *max > kMaxHeadDim || *min > *max)
      return fail(llvm::formatv("{0}: expected [MIN, MAX] with 1 <= MIN <= MAX <= {1}, got {2}",
                                key, kMaxHeadDim, text(*value)));
    range = {*min, *max};
  }

  void read(StringRef key, SetNames names, unsigned &set) {
    const json::Value *value = find(key);
    if (!value)
      return;
    llvm::SmallVector<StringRef> choices;
    for (const auto &name : names)
      choices.push_back(name.first);
    std::string expected = "expected a list of " + llvm::join(choices, ", ") + ", got ";
    const json::Array *members = value->getAsArray();
    if (!members || members->empty())
      return fail(key + ": " + expected + text(*value));
    set = 0;
    for (const json::Value &member : *members) {
      std::optional<StringRef> word = member.getAsString();
      auto found = word ? llvm::find(choices, *word) : choices.end();
      if (found == choices.end())
        return fail(key + ": " + expected + text(member) +
                    (word ? didYouMean(*word, choices) : ""));
      set |= names[found - choices.begin()].second;
    }
  }

  /// A field of #attn.schedule.
  template <class T> void operator()(const SpecKey &key, std::optional<T> &field) {
    const json::Value *value = find(key.name);
    if (!value || !status)
      return;
    bool hasType = std::is_same_v<T, int64_t> ? value->getAsInteger().has_value()
                   : std::is_same_v<T, bool>  ? value->getAsBoolean().has_value()
                                              : value->getAsString().has_value();
    std::string word = hasType && value->getAsString() ? value->getAsString()->str() : text(*value);
    // A string never reads as a number or a boolean, so its quotes stay there.
    status = spec::parseValue(key, word, field);
  }

  /// The first fault, or a key that nothing asked for.
  rt::Status finish() {
    for (const auto &[key, value] : object)
      if (!llvm::is_contained(known, StringRef(key))) {
        std::string hint = didYouMean(key, known);
        fail("unknown key '" + StringRef(key) + "'" +
             (hint.empty() ? "; known keys are " + llvm::join(known, ", ") : hint));
      }
    return status;
  }

private:
  const json::Object &object;
  llvm::SmallVector<StringRef> known;
  rt::Status status;
};

} // namespace

rt::Expected<SchedulePins> attn::parseSchedule(const json::Object &object) {
  SchedulePins pins;
  ObjectReader reader(object);
  visitPins(pins, reader);
  if (rt::Status status = reader.finish(); !status)
    return rt::fail(status.error());
  return pins;
}

static rt::Expected<RowProvenance> parseProvenance(const json::Object &object) {
  RowProvenance provenance;
  ObjectReader reader(object);
  reader.read("device", provenance.device);
  reader.read("driver", provenance.driver);
  reader.read("attn", provenance.attn);
  reader.read("problem", provenance.problem);
  reader.read("shape", provenance.shape);
  reader.read("date", provenance.date);
  reader.read("median_us", provenance.medianUs);
  reader.read("second_best_us", provenance.secondBestUs);
  reader.read("default_us", provenance.defaultUs);
  if (rt::Status status = reader.finish(); !status)
    return rt::fail(status.error());
  return provenance;
}

/// What stands under a key must be an object that `parse` takes.
template <class T, class Parse>
static void readObject(ObjectReader &reader, StringRef key, T &field, Parse parse) {
  const json::Value *value = reader.find(key);
  if (!value)
    return;
  const json::Object *object = value->getAsObject();
  if (!object)
    return reader.fail(key + ": expected an object, got " + text(*value).substr(0, 80));
  rt::Expected<T> parsed = parse(*object);
  if (!parsed)
    return reader.fail(key + ": " + parsed.error().message);
  field = std::move(*parsed);
}

static rt::Expected<FileRow> parseRow(const json::Object &object) {
  FileRow row;
  ObjectReader reader(object);
  reader.read("name", row.name, 128);
  bool isWord = llvm::all_of(row.name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (row.name.empty() || !isWord)
    reader.fail("name: expected 1 to 128 letters, digits and underscores, got '" + row.name + "'");
  reader.read("target", row.target);
  if (!findTarget(row.target))
    reader.fail("target: " + unknownTargetMessage(row.target));
  reader.read("device", row.device);
  if (auto pattern = llvm::GlobPattern::create(row.device); !pattern)
    reader.fail("device: expected a pattern with * and ?, got '" + row.device +
                "': " + llvm::toString(pattern.takeError()));
  reader.read("elements", kElements, row.takes.elements);
  reader.read("head_dim", row.takes.headDimQK);
  reader.read("head_dim_v", row.takes.headDimV);
  reader.read("masks", kMasks, row.takes.masks);
  reader.read("phases", kPhases, row.takes.phases);
  reader.read("min_alignment", row.takes.minAlignment, 1, kMaxAlignment);
  if (!object.get("schedule"))
    reader.fail("missing schedule: add \"schedule\": {...}");
  readObject(reader, "schedule", row.schedule, parseSchedule);
  readObject(reader, "provenance", row.provenance, parseProvenance);
  if (rt::Status status = reader.finish(); !status)
    return rt::fail(status.error());
  return row;
}

static rt::Expected<std::vector<FileRow>> parseRows(const json::Array &array) {
  if (array.size() > kMaxRows)
    return bad(llvm::formatv("rows: expected at most {0}, got {1}", kMaxRows, array.size()));
  std::vector<FileRow> rows;
  llvm::StringSet<> names;
  for (auto [i, value] : llvm::enumerate(array)) {
    std::string place = llvm::formatv("rows[{0}]", i);
    const json::Object *object = value.getAsObject();
    if (!object)
      return bad(place + ": expected an object, got " + text(value).substr(0, 80));
    if (std::optional<StringRef> name = object->getString("name"))
      place += " '" + name->take_front(128).str() + "'";
    rt::Expected<FileRow> row = parseRow(*object);
    if (!row)
      return bad(place + ": " + row.error().message);
    if (!names.insert(row->name).second)
      return bad(place + ": a row above has this name; give each its own");
    rows.push_back(std::move(*row));
  }
  return rows;
}

rt::Expected<ScheduleFile> attn::parseScheduleFile(StringRef contents, StringRef name) {
  llvm::Expected<json::Value> value = parseJson(contents);
  if (!value)
    return bad(name + ": not JSON: " + llvm::toString(value.takeError()));
  if (std::optional<std::string> key = repeatedKey(contents))
    return bad(name + ": '" + *key + "' is given twice in one object; keep one");
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("attn_schedules") : std::nullopt;
  if (!version)
    return bad(name + ": expected a schedule file, {\"attn_schedules\": " +
               llvm::Twine(kScheduleFileVersion) + ", \"rows\": [...]}");
  if (*version != kScheduleFileVersion)
    return bad(llvm::formatv("{0}: attn_schedules: expected version {1}, got {2}; tune again, or "
                             "use the attnc that wrote it",
                             name, kScheduleFileVersion, *version));
  ObjectReader reader(*object);
  reader.find("attn_schedules");
  const json::Value *rows = reader.find("rows");
  if (!rows || !rows->getAsArray())
    reader.fail("rows: expected a list, got " + (rows ? text(*rows).substr(0, 80) : "nothing"));
  if (rt::Status status = reader.finish(); !status)
    return bad(name + ": " + status.error().message);
  rt::Expected<std::vector<FileRow>> parsed = parseRows(*rows->getAsArray());
  if (!parsed)
    return bad(name + ": " + parsed.error().message);
  return ScheduleFile{name.str(), rt::toHex(rt::sha256({contents})), std::move(*parsed)};
}

rt::Expected<ScheduleFile> attn::readScheduleFile(const std::string &path) {
  InputFile buffer = readInputFile(path);
  if (!buffer)
    return rt::fail(buffer.error());
  if ((*buffer)->getBufferSize() > kMaxBytes)
    return bad(llvm::formatv("{0}: expected at most {1} bytes", path, kMaxBytes));
  return parseScheduleFile((*buffer)->getBuffer(), path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

json::Object attn::toJson(const SchedulePins &schedule) {
  json::Object object;
  visitSchedule(
      [&](StringRef name, const auto &field) {
        if (!field)
          return;
        if constexpr (std::is_enum_v<std::decay_t<decltype(*field)>>)
          object[name] = fieldText(*field);
        else
          object[name] = *field;
      },
      schedule);
  return object;
}

static json::Array setJson(SetNames names, unsigned set) {
  json::Array members;
  for (const auto &[name, bit] : names)
    if (set & bit)
      members.push_back(name);
  return members;
}

std::string attn::maskNames(unsigned masks) {
  std::string names;
  for (const auto &[name, bit] : kMasks)
    if (masks & bit)
      names += (names.empty() ? "" : "_") + name.str();
  return names;
}

static json::Object toJson(const RowProvenance &provenance) {
  json::Object object{{"device", provenance.device},       {"attn", provenance.attn},
                      {"problem", provenance.problem},     {"shape", provenance.shape},
                      {"date", provenance.date},           {"median_us", provenance.medianUs},
                      {"default_us", provenance.defaultUs}};
  if (!provenance.driver.empty())
    object["driver"] = provenance.driver;
  if (provenance.secondBestUs > 0)
    object["second_best_us"] = provenance.secondBestUs;
  return object;
}

static json::Object toJson(const FileRow &row) {
  auto range = [](DimRange dims) { return json::Array{dims.min, dims.max}; };
  json::Object object{{"name", row.name},
                      {"target", row.target},
                      {"elements", setJson(kElements, row.takes.elements)},
                      {"head_dim", range(row.takes.headDimQK)},
                      {"head_dim_v", range(row.takes.headDimV)},
                      {"masks", setJson(kMasks, row.takes.masks)},
                      {"phases", setJson(kPhases, row.takes.phases)},
                      {"min_alignment", row.takes.minAlignment},
                      {"schedule", toJson(row.schedule)}};
  if (!row.device.empty())
    object["device"] = row.device;
  if (!row.provenance.date.empty())
    object["provenance"] = ::toJson(row.provenance);
  return object;
}

std::string attn::toText(ArrayRef<FileRow> rows) {
  json::Array array;
  for (const FileRow &row : rows)
    array.push_back(::toJson(row));
  json::Object file{{"attn_schedules", kScheduleFileVersion}, {"rows", std::move(array)}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(file)));
}
