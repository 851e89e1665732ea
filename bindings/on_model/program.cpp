#include "on_model/program.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "tca/error.hpp"

namespace tca::on_model {
namespace {

// Where a rank that calls `exit` goes on.
struct Return {
  std::jmp_buf place;
  int status = 0;
};
thread_local Return* to_leave = nullptr;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(Errc::invalid_argument, sentence); }

// A copy of the program that the loader takes for another one, because it is another file. It stays open: the loader knows
// files by their names too.
class Copy {
 public:
  Copy(const std::string& path, const std::string& content) : file_(memfd_create("program", MFD_CLOEXEC)) {
    for (std::size_t done = 0; file_ >= 0 && done < content.size();) {
      const ssize_t written = write(file_, content.data() + done, content.size() - done);
      if (written < 0)
        refuse(fmt::format("{}: a copy of it could not be written: {}", path, std::strerror(errno)));
      done += static_cast<std::size_t>(written);
    }
    if (file_ >= 0) loaded_ = dlopen(fmt::format("/proc/self/fd/{}", file_).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded_ != nullptr) return;
    const char* const why = file_ < 0 ? std::strerror(errno) : dlerror();
    refuse(fmt::format("{}: {}. Is it a program compiled with -shared -fPIC?", path, why));
  }
  Copy(const Copy&) = delete;
  ~Copy() {
    dlclose(loaded_);
    close(file_);
  }

  void* find(const char* symbol) const { return dlsym(loaded_, symbol); }

 private:
  int file_;
  void* loaded_ = nullptr;
};

using Main = int (*)(int, char**, char**);

int call(Main main, int count, char** arguments) {
  Return back;
  to_leave = &back;
  if (setjmp(back.place) == 0) back.status = main(count, arguments, environ);
  to_leave = nullptr;
  return back.status;
}

}  // namespace

Program::Program(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::binary);
  content_.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) refuse(fmt::format("{}: {}", path_, std::strerror(errno)));
}

// Among the names of its symbols, each of which ends with a zero.
bool Program::names(const std::string& function) const {
  return content_.find('\0' + function + '\0') != std::string::npos;
}

int Program::run(const std::vector<std::string>& arguments) const {
  const Copy copy(path_, content_);
  const auto main = reinterpret_cast<Main>(copy.find("main"));
  if (main == nullptr) refuse(fmt::format("{}: it has no main", path_));
  std::vector<std::string> all{path_};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return call(main, static_cast<int>(all.size()), pointers.data());
}

}  // namespace tca::on_model

// Programs find this one before that of C: a rank that ends is not the end of the others.
extern "C" __attribute__((visibility("default"))) void exit(int status) noexcept {
  using tca::on_model::to_leave;
  if (to_leave != nullptr) {
    to_leave->status = status;
    std::longjmp(to_leave->place, 1);
  }
  reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(status);
  __builtin_unreachable();
}
