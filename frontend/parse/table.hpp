// One function for each directive of XcalableMP: it parses what stands behind the name.
#pragma once

#include "parse/parts.hpp"

namespace tca::xacc {

DirectiveBody parse_nodes(Cursor& at);
DirectiveBody parse_template(Cursor& at);
DirectiveBody parse_template_fix(Cursor& at);
DirectiveBody parse_distribute(Cursor& at);
DirectiveBody parse_align(Cursor& at);
DirectiveBody parse_shadow(Cursor& at);
DirectiveBody parse_coarray(Cursor& at);
DirectiveBody parse_image(Cursor& at);
DirectiveBody parse_static_desc(Cursor& at);
DirectiveBody parse_loop(Cursor& at);
DirectiveBody parse_array(Cursor& at);
DirectiveBody parse_task(Cursor& at);
DirectiveBody parse_tasks(Cursor& at);
DirectiveBody parse_reflect(Cursor& at);
DirectiveBody parse_reflect_init(Cursor& at);
DirectiveBody parse_reflect_do(Cursor& at);
DirectiveBody parse_reduce_shadow(Cursor& at);
DirectiveBody parse_gmove(Cursor& at);
DirectiveBody parse_barrier(Cursor& at);
DirectiveBody parse_reduction_directive(Cursor& at);
DirectiveBody parse_bcast(Cursor& at);
DirectiveBody parse_wait_async(Cursor& at);
DirectiveBody parse_post(Cursor& at);
DirectiveBody parse_wait(Cursor& at);
DirectiveBody parse_lock(Cursor& at);
DirectiveBody parse_unlock(Cursor& at);

DirectiveBody parse_devices(Cursor& at);
void parse_layout(Cursor& at, AccClause& clause);
void parse_device_shadow(Cursor& at, AccClause& clause);

// What stands behind `acc`, with its name, which may be of two words.
AccDirective parse_acc(Cursor& at);

// "did you mean `reflect`?", or what there is where nothing is near.
std::string nearest(const std::string& word, const std::vector<std::string_view>& known);

}  // namespace tca::xacc
