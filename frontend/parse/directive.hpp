// The directives of XcalableMP and OpenACC as they are written.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "parse/terms.hpp"

namespace tca::xacc {

struct NodesDirective {
  Name name;
  Form form = Form::square;
  std::vector<Bound> extents;
  std::optional<Ref> of = {};
};
struct TemplateDirective {
  Name name;
  Form form = Form::square;
  std::vector<Bound> bounds;
};
struct TemplateFixDirective {
  Name name;
  Form form = Form::square;
  std::vector<Format> formats;
  std::vector<Bound> bounds;
};
struct DistributeDirective {
  Name name;
  std::vector<Format> formats;
  Name onto;
};
// What stands for a dimension in an align: `i`, `i+1`, `*` or `:`.
struct AlignSubscript {
  enum class Kind { index, star, colon } kind = Kind::index;
  Name index = {};
  Expr offset = {};  // with its sign
};
struct AlignDirective {
  std::vector<Name> arrays;
  std::vector<AlignSubscript> source;
  Name with;
  std::vector<AlignSubscript> target;
};
struct ShadowDirective {
  std::vector<Name> arrays;
  std::vector<Width> widths;
};
struct LoopDirective {
  std::vector<Name> indices;  // empty: those of `on`
  Ref on;
  std::vector<Width> expand = {};
  std::vector<Width> margin = {};
  std::vector<ReductionClause> reductions = {};
  bool acc = false;
};
struct ArrayDirective {
  Ref on;
};
struct TaskDirective {
  Ref on;
  bool nocomm = false;
};
struct TasksDirective {
  bool nocomm = false;
};
struct ReflectDirective {
  enum class Kind { reflect, init, start, reduce } kind = Kind::reflect;
  std::vector<Name> arrays;
  std::vector<Width> widths = {};  // empty: the whole shadow
  bool orthogonal = false;
  bool acc = false;
  Expr async = {};
};
struct GmoveDirective {
  enum class Kind { collective, in, out } kind = Kind::collective;
  bool acc = false;
  std::vector<Name> on_device = {};
  Expr async = {};
};
struct BarrierDirective {
  std::optional<Ref> on = {};
  bool acc = false;
};
struct ReductionDirective {
  ReductionClause what;
  std::optional<Ref> on = {};
  bool acc = false;
  Expr async = {};
};
struct BcastDirective {
  std::vector<Ref> variables;
  std::optional<Ref> from = {};
  std::optional<Ref> from_device = {};
  std::optional<Ref> on = {};
  bool acc = false;
  Expr async = {};
};
struct WaitAsyncDirective {
  std::vector<Expr> ids;
  std::optional<Ref> on = {};
};
struct PostDirective {
  Ref to;
  Expr tag;
};
struct WaitDirective {
  std::optional<Ref> from = {};
  Expr tag = {};
};
struct LockDirective {
  bool lock = true;
  Expr object;
};
struct CoarrayDirective {
  std::vector<Name> variables;
  std::vector<Expr> codimensions;
};
// Descriptors that live as long as the program, which they may do anyway.
struct StaticDescDirective {
  std::vector<Name> arrays;
};
struct ImageDirective {
  Name nodes;
};

// Directives of OpenACC, told apart by their names; a construct with a loop has both words.
struct AccClause {
  Name name;
  std::string operation = {};       // of a reduction, or the word before a colon
  std::vector<Ref> variables = {};  // of data clauses, reductions and the like
  std::vector<Expr> arguments = {};
  std::size_t dims = 0;  // of a layout or its shadow
};
// Devices of every node.
struct DevicesDirective {
  Name name;
  Form form = Form::square;
  Expr count = {};  // empty: all
  std::optional<Ref> of = {};
};
struct AccDirective {
  std::string name;  // "data", "enter data", "parallel loop", ...
  std::vector<AccClause> clauses = {};
  std::vector<Expr> arguments = {};  // of wait and cache

  const AccClause* find(std::string_view clause) const {
    for (const AccClause& c : clauses)
      if (c.name.text == clause) return &c;
    return nullptr;
  }
};

using DirectiveBody =
    std::variant<NodesDirective, TemplateDirective, TemplateFixDirective, DistributeDirective, AlignDirective,
                 ShadowDirective, LoopDirective, ArrayDirective, TaskDirective, TasksDirective,
                 ReflectDirective, GmoveDirective, BarrierDirective, ReductionDirective, BcastDirective,
                 WaitAsyncDirective, PostDirective, WaitDirective, LockDirective, CoarrayDirective,
                 ImageDirective, StaticDescDirective, DevicesDirective, AccDirective>;

struct Directive {
  std::string name;  // "reflect", "acc data": for messages
  Place place;
  DirectiveBody body;

  // Whether it says something about the statement behind it.
  bool is_construct() const;
};

// Parses a pragma's line without `#pragma`, in which macros are expanded. Returns nothing where it is neither
// of XcalableMP nor of OpenACC. Throws Fault.
std::optional<Directive> parse_directive(const std::string& text, Place line, Files& files);

}  // namespace tca::xacc
