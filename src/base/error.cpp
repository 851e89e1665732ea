#include "base/error.hpp"

#include <fmt/format.h>

#include "base/text/ranks.hpp"

namespace tca {

namespace base {

void write(Writer& writer, const Error& error) {
  const ErrorFields& fields = error.fields();
  writer.put(error.code()).put_string(error.what());
  writer.put(fields.rank).put(fields.step).put_string(fields.chain);
  writer.put(fields.missing.size());
  for (const int rank : fields.missing) writer.put(rank);
  writer.put_string(fields.file).put(fields.line).put(fields.column);
}

// The message already contains the place in a file.
Error read_error(Reader& reader) {
  const auto code = reader.get<Errc>();
  const std::string message = reader.get_string();
  ErrorFields fields;
  fields.rank = reader.get<std::optional<int>>();
  fields.step = reader.get<std::optional<std::uint32_t>>();
  fields.chain = reader.get_string();
  for (auto n = reader.get<std::size_t>(); n > 0; --n) fields.missing.push_back(reader.get<int>());
  fields.file = reader.get_string();
  fields.line = reader.get<int>();
  fields.column = reader.get<int>();
  return Error(code, message).with(fields);
}

}  // namespace base

std::string Error::place_of(const ErrorFields& fields) {
  if (fields.file.empty()) return fields.line > 0 ? fmt::format("line {}: ", fields.line) : std::string();
  std::string place = fields.file;
  for (const int number : {fields.line, fields.column})
    if (number > 0) place += fmt::format(":{}", number);
  return place + ": ";
}

std::string Error::describe() const {
  std::string text = to_string(code_);
  text += rank() ? fmt::format(": rank {}", *rank()) : ": no rank";
  if (!chain().empty()) text += fmt::format(", chain '{}'", chain());
  if (step()) text += fmt::format(", step {}", *step());
  if (!missing().empty()) text += fmt::format(", missing {}", base::list_ranks(missing()));
  if (!file().empty()) text += fmt::format(", {}", file());
  if (line() > 0) text += fmt::format(", line {}", line());
  return text;
}

Error Error::with(const ErrorFields& more) const {
  ErrorFields all = *fields_;
  if (!all.rank) all.rank = more.rank;
  if (all.chain.empty()) all.chain = more.chain;
  if (!all.step) all.step = more.step;
  if (all.missing.empty()) all.missing = more.missing;
  if (all.file.empty()) all.file = more.file;
  if (all.line == 0) all.line = more.line;
  if (all.column == 0) all.column = more.column;
  Error error = *this;
  error.fields_ = std::make_shared<const ErrorFields>(std::move(all));
  return error;
}

const char* to_string(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::refused:
      return "refused";
    case Errc::timed_out:
      return "timed_out";
    case Errc::rank_lost:
      return "rank_lost";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::incompatible:
      return "incompatible";
    case Errc::device_failed:
      return "device_failed";
    case Errc::path_lost:
      return "path_lost";
  }
  return "unknown";
}

}  // namespace tca
