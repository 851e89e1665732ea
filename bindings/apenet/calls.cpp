#include "apenet/calls.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include "shared/program_rank.hpp"
#include "tca/error.hpp"

namespace tca::apenet {
namespace {

// For as long as a processor looks once: on a modelled machine, where nothing moves while a program runs, its look takes time.
constexpr std::int64_t look_ns = 200;

int result_of(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
    case Errc::incompatible:
      return APELINK_INVALID;
    case Errc::refused:
      return APELINK_NOTSUPPORTED;
    case Errc::out_of_memory:
      return APELINK_NOMEMORY;
    case Errc::timed_out:
    case Errc::rank_lost:
    case Errc::device_failed:
    case Errc::path_lost:
      break;
  }
  return APELINK_COMMUNICATION;
}

int said(const char* call, int result, const char* sentence) {
  fmt::print(stderr, "apelink: {}: {}\n", call, sentence);
  return result;
}

struct Link {
  explicit Link(World& world) : link{Card(world)} {}
  apelink link;
};

}  // namespace

int say_exception(const char* call) noexcept {
  try {
    throw;
  } catch (const Misuse& misuse) {
    return said(call, misuse.result(), misuse.what());
  } catch (const Error& error) {
    return said(call, result_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return said(call, APELINK_NOMEMORY, "this process gets no more memory");
  } catch (const std::exception& other) {
    return said(call, APELINK_COMMUNICATION, other.what());
  } catch (...) {
    return said(call, APELINK_COMMUNICATION, "an error of unknown type");
  }
}

}  // namespace tca::apenet

using namespace tca::apenet;

apelink_t ape_open(int card, am_portid_t* port) {
  apelink_t link = nullptr;
  guarded("ape_open", [&] {
    if (card != 0) misused("there is no card {}; a rank has one, 0", card);
    present(port, "the place for the port") = 0;
    link = &tca::bindings::ProgramRank::mine().keep<Link>().link;
  });
  return link;
}

int ape_close(apelink_t link) {
  return guarded("ape_close", [&] {
    card(link);
    tca::bindings::ProgramRank::mine().drop<Link>();
  });
}

int ape_get_topology(apelink_t link, unsigned* x, unsigned* y, unsigned* z) {
  return guarded("ape_get_topology",
                 [&] { card(link).topology(present(x, "x"), present(y, "y"), present(z, "z")); });
}

ape_net_address_t ape_get_self_address(apelink_t link) {
  ape_net_address_t address{};
  guarded("ape_get_self_address", [&] { address = card(link).address_of(card(link).rank()); });
  return address;
}

int am_register_buf(apelink_t link, am_vaddr_t* vaddr, void* memory, size_t bytes, am_context_t context,
                    int kind) {
  return guarded("am_register_buf", [&] {
    present(vaddr, "the place for the address") = card(link).add_buffer(memory, bytes, context, kind);
  });
}

int am_unregister_buf(apelink_t link, am_vaddr_t vaddr, void*, size_t, int) {
  return guarded("am_unregister_buf", [&] { card(link).drop_buffer(vaddr); });
}

int am_put(apelink_t link, ape_net_address_t address, am_portid_t port, uint32_t data, int blocking,
           am_context_t context, const void* from, size_t bytes, am_vaddr_t to) {
  return guarded("am_put", [&] {
    Card& own = card(link);
    const bool put =
        own.put(own.rank_at(address, port), {to, bytes, data, 0}, from, blocking != AM_NONBLOCKING, context);
    return put ? APELINK_SUCCESS : APELINK_WOULDBLOCK;
  });
}

int am_wait_event(apelink_t link, am_event_t* event, int timeout) {
  return guarded("am_wait_event", [&] {
    const std::int64_t within = timeout == 0 ? look_ns : std::int64_t{timeout} * 1'000'000;
    return card(link).take_event(present(event, "the event"), within) ? APELINK_SUCCESS : APELINK_WOULDBLOCK;
  });
}
