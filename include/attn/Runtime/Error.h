//===- Error.h - Errors of the runtime ------------------------------------===//
//
// The runtime throws nothing: every operation that can fail returns an
// Expected, whose error names the offending value, the limit and the way out.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ERROR_H
#define ATTN_RUNTIME_ERROR_H

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace attn::rt {

/// What kind of failure happened; tools map BadInput to exit code 1 and the
/// kinds that are not the user's fault to exit code 2.
enum class ErrorCode {
  BadInput,    ///< The caller's values are outside the documented limits.
  Internal,    ///< A fault of ours: an invariant broke.
  Unavailable, ///< Something of the machine is missing: driver, device, memory, directory.
  NotFound,    ///< The thing asked for does not exist (a cache entry).
  Stale,       ///< Written by another version of the format.
  Corrupt,     ///< Bytes that fail their checks.
  Busy,        ///< Held by somebody else for longer than the bounded wait.
};

/// A failure: its kind and a message for people.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
};

/// A T or an Error. Some releases of tl::expected cannot assign to an Expected
/// whose T moves but does not copy; construct those in place.
template <class T> using Expected = tl::expected<T, Error>;

/// Success or an Error.
using Status = Expected<void>;

/// Makes the failing side of an Expected: `return fail(ErrorCode::BadInput, "...")`.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Hands an error on: `return fail(result.error())`.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

} // namespace attn::rt

#endif // ATTN_RUNTIME_ERROR_H
