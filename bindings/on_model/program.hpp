// A program as the ranks of one process: each has the program's variables to itself.
#pragma once

#include <string>
#include <vector>

namespace tca::on_model {

class Program {
 public:
  // Reads a program that was compiled as a shared object. Throws Error{invalid_argument}.
  explicit Program(std::string path);

  // Whether it calls a function of this name, or has another use of it.
  bool names(const std::string& function) const;

  // Runs its `main` on this thread, in a copy of the program of its own, with these arguments behind its name. Returns
  // what `main` returns, or what the program ends with by `exit`.
  int run(const std::vector<std::string>& arguments) const;

 private:
  std::string path_;
  std::string content_;
};

}  // namespace tca::on_model
