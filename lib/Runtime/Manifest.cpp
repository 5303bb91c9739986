//===- Manifest.cpp - The launch manifest as JSON -------------------------===//

#include "attn/Runtime/Artifact.h"

#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

namespace attn::rt {

using Json = nlohmann::json;

static constexpr std::string_view kPayloadNames[] = {"ptx", "cubin", "host"};

std::string_view toString(PayloadKind kind) { return kPayloadNames[static_cast<size_t>(kind)]; }

static constexpr std::string_view kKindNames[] = {"memref", "f32", "f64", "i64", "index", "i32"};

std::string_view toString(ArgumentKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<PayloadKind> parsePayloadKind(std::string_view name) {
  for (size_t i = 0; i < std::size(kPayloadNames); ++i)
    if (kPayloadNames[i] == name)
      return static_cast<PayloadKind>(i);
  return std::nullopt;
}

static std::optional<ArgumentKind> parseArgumentKind(std::string_view name) {
  for (size_t i = 0; i < std::size(kKindNames); ++i)
    if (kKindNames[i] == name)
      return static_cast<ArgumentKind>(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Json write(const SizeExpr &size) {
  Json factors = Json::array();
  for (const SizeFactor &factor : size.factors) {
    if (factor.isConstant())
      factors.push_back(factor.value);
    else
      factors.push_back({{"arg", factor.argument}, {"dim", factor.dim}, {"div", factor.value}});
  }
  return factors;
}

static Json write(const ArgumentSpec &argument) {
  Json object = {{"name", argument.name}, {"kind", toString(argument.kind)}};
  if (argument.kind == ArgumentKind::MemRef) {
    object["type"] = toString(argument.elementType);
    object["shape"] = argument.shape;
    object["align"] = argument.alignment;
  }
  return object;
}

static Json write(const WorkspaceSpec &workspace) {
  Json shape = Json::array();
  for (const SizeExpr &size : workspace.shape)
    shape.push_back(write(size));
  return {{"type", toString(workspace.elementType)}, {"shape", std::move(shape)}};
}

static Json write(const TensorMapSpec &map) {
  return {{"arg", map.argument}, {"rows", map.rows}, {"cols", map.cols}};
}

template <class T> static Json writeAll(const std::vector<T> &items) {
  Json array = Json::array();
  for (const T &item : items)
    array.push_back(write(item));
  return array;
}

static Json write(const KernelEntry &kernel) {
  return {{"name", kernel.name},
          {"grid", write(kernel.grid)},
          {"persistent", kernel.persistent},
          {"threads", kernel.threads},
          {"static_shared", kernel.staticSharedBytes},
          {"dynamic_shared", kernel.dynamicSharedBytes},
          {"registers", kernel.registers},
          {"arguments", kernel.arguments},
          {"tile_counter", kernel.tileCounter},
          {"tensor_maps", writeAll(kernel.tensorMaps)}};
}

static Json write(const std::vector<DimRef> &group) {
  Json refs = Json::array();
  for (const DimRef &ref : group)
    refs.push_back({{"arg", ref.argument}, {"dim", ref.dim}});
  return refs;
}

std::string toJson(const Manifest &manifest) {
  Json object = {{"schema", manifest.schema},
                 {"chip", manifest.chip},
                 {"payload", toString(manifest.payloadKind)},
                 {"compiler", manifest.compiler},
                 {"problem", manifest.problem},
                 {"min_driver", manifest.minDriverVersion},
                 {"arguments", writeAll(manifest.arguments)},
                 {"equal_sizes", writeAll(manifest.equalSizes)},
                 {"workspaces", writeAll(manifest.workspaces)},
                 {"kernels", writeAll(manifest.kernels)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads fields and remembers the first thing that is wrong. After that every
/// read leaves its target alone, so that callers check once, at the end.
class Reader {
public:
  bool failed() const { return !problem.empty(); }
  const std::string &message() const { return problem; }

  void complain(const std::string &field, const std::string &expected) {
    if (!failed())
      problem = "manifest field '" + field + "': expected " + expected;
  }

  const Json &field(const Json &object, const char *name) {
    static const Json null;
    if (object.is_object())
      if (auto it = object.find(name); it != object.end())
        return *it;
    complain(name, "to be present");
    return null;
  }

  void read(const Json &object, const char *name, std::string &to) {
    const Json &value = field(object, name);
    if (value.is_string())
      to = value.get_ref<const std::string &>();
    else
      complain(name, "a string");
  }

  void read(const Json &object, const char *name, bool &to) {
    const Json &value = field(object, name);
    if (value.is_boolean())
      to = value.get<bool>();
    else
      complain(name, "true or false");
  }

  template <class T> void integer(const Json &value, const char *name, T &to) {
    if (value.is_number_unsigned()) {
      uint64_t number = value.get<uint64_t>();
      if (number <= static_cast<uint64_t>(std::numeric_limits<T>::max()))
        to = static_cast<T>(number);
      else
        complain(name, "an integer in range, got " + std::to_string(number));
    } else if (value.is_number_integer()) {
      int64_t number = value.get<int64_t>();
      if (std::in_range<T>(number))
        to = static_cast<T>(number);
      else
        complain(name, "an integer in range, got " + std::to_string(number));
    } else {
      complain(name, "an integer");
    }
  }

  template <class T>
    requires std::is_integral_v<T>
  void read(const Json &object, const char *name, T &to) {
    integer(field(object, name), name, to);
  }

  template <class T>
    requires std::is_integral_v<T>
  void read(const Json &object, const char *name, std::vector<T> &to) {
    forEach(object, name, [&](const Json &item) { integer(item, name, to.emplace_back()); });
  }

  template <class T, class Parse>
  void choice(const Json &object, const char *name, Parse parse, T &to) {
    std::string text;
    read(object, name, text);
    if (std::optional<T> value = parse(text))
      to = *value;
    else
      complain(name, "a known name, got '" + text + "'");
  }

  template <class Body> void forEach(const Json &object, const char *name, Body body) {
    const Json &array = field(object, name);
    if (!array.is_array())
      return complain(name, "a list");
    for (const Json &item : array)
      body(item);
  }

  SizeExpr size(const Json &factors) {
    SizeExpr result;
    if (!factors.is_array())
      complain("size", "a list of factors");
    else
      for (const Json &item : factors) {
        SizeFactor factor;
        if (item.is_object()) {
          read(item, "arg", factor.argument);
          read(item, "dim", factor.dim);
          read(item, "div", factor.value);
          // A constant in disguise would be written back in another form.
          if (factor.argument < 0)
            complain("arg", "a position, got " + std::to_string(factor.argument));
        } else {
          integer(item, "factor", factor.value);
        }
        result.times(factor);
      }
    return result;
  }

  ArgumentSpec argument(const Json &object) {
    ArgumentSpec result;
    read(object, "name", result.name);
    choice(object, "kind", parseArgumentKind, result.kind);
    if (result.kind == ArgumentKind::MemRef) {
      choice(object, "type", parseElementType, result.elementType);
      read(object, "shape", result.shape);
      read(object, "align", result.alignment);
    }
    return result;
  }

  WorkspaceSpec workspace(const Json &object) {
    WorkspaceSpec result;
    choice(object, "type", parseElementType, result.elementType);
    forEach(object, "shape", [&](const Json &item) { result.shape.push_back(size(item)); });
    return result;
  }

  KernelEntry kernel(const Json &object) {
    KernelEntry result;
    read(object, "name", result.name);
    result.grid = size(field(object, "grid"));
    read(object, "persistent", result.persistent);
    read(object, "threads", result.threads);
    read(object, "static_shared", result.staticSharedBytes);
    read(object, "dynamic_shared", result.dynamicSharedBytes);
    read(object, "registers", result.registers);
    read(object, "arguments", result.arguments);
    read(object, "tile_counter", result.tileCounter);
    forEach(object, "tensor_maps", [&](const Json &item) {
      TensorMapSpec &map = result.tensorMaps.emplace_back();
      read(item, "arg", map.argument);
      read(item, "rows", map.rows);
      read(item, "cols", map.cols);
    });
    return result;
  }

  std::vector<DimRef> group(const Json &refs) {
    std::vector<DimRef> result;
    if (!refs.is_array())
      complain("equal_sizes", "a list of lists");
    else
      for (const Json &item : refs) {
        DimRef ref;
        read(item, "arg", ref.argument);
        read(item, "dim", ref.dim);
        result.push_back(ref);
      }
    return result;
  }

private:
  std::string problem;
};
} // namespace

Expected<Manifest> parseManifest(std::string_view text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return fail(ErrorCode::Corrupt, "the manifest is not a JSON object");
  Reader reader;
  Manifest manifest;
  reader.read(object, "schema", manifest.schema);
  if (!reader.failed() && manifest.schema != kArtifactSchema)
    return fail(ErrorCode::Stale, "the manifest has schema " + std::to_string(manifest.schema) +
                                      ", this library reads " + std::to_string(kArtifactSchema));
  reader.read(object, "chip", manifest.chip);
  reader.choice(object, "payload", parsePayloadKind, manifest.payloadKind);
  reader.read(object, "compiler", manifest.compiler);
  reader.read(object, "problem", manifest.problem);
  reader.read(object, "min_driver", manifest.minDriverVersion);
  reader.forEach(object, "arguments",
                 [&](const Json &item) { manifest.arguments.push_back(reader.argument(item)); });
  reader.forEach(object, "equal_sizes",
                 [&](const Json &item) { manifest.equalSizes.push_back(reader.group(item)); });
  reader.forEach(object, "workspaces",
                 [&](const Json &item) { manifest.workspaces.push_back(reader.workspace(item)); });
  reader.forEach(object, "kernels",
                 [&](const Json &item) { manifest.kernels.push_back(reader.kernel(item)); });
  if (reader.failed())
    return fail(ErrorCode::Corrupt, reader.message());
  if (Status valid = validate(manifest); !valid)
    return fail(ErrorCode::Corrupt, valid.error().message);
  return manifest;
}

} // namespace attn::rt
