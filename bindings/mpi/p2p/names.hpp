// The calls that can meet messages of the engine or their requests, by name, without MPI_ and without the ending of large counts.
#pragma once

#include <array>
#include <string_view>

namespace tca::interposer {

inline constexpr std::array<std::string_view, 26> message_calls = {"Send",
                                                                   "Bsend",
                                                                   "Ssend",
                                                                   "Rsend",
                                                                   "Isend",
                                                                   "Ibsend",
                                                                   "Issend",
                                                                   "Irsend",
                                                                   "Send_init",
                                                                   "Bsend_init",
                                                                   "Ssend_init",
                                                                   "Rsend_init",
                                                                   "Recv",
                                                                   "Irecv",
                                                                   "Recv_init",
                                                                   "Sendrecv",
                                                                   "Sendrecv_replace",
                                                                   "Isendrecv",
                                                                   "Isendrecv_replace",
                                                                   "Probe",
                                                                   "Iprobe",
                                                                   "Mprobe",
                                                                   "Improbe",
                                                                   "Mrecv",
                                                                   "Imrecv",
                                                                   "Cancel"};

inline constexpr std::array<std::string_view, 15> request_calls = {"Start",
                                                                   "Startall",
                                                                   "Wait",
                                                                   "Waitall",
                                                                   "Waitany",
                                                                   "Waitsome",
                                                                   "Test",
                                                                   "Testall",
                                                                   "Testany",
                                                                   "Testsome",
                                                                   "Request_get_status",
                                                                   "Request_get_status_all",
                                                                   "Request_get_status_any",
                                                                   "Request_get_status_some",
                                                                   "Request_free"};

}  // namespace tca::interposer
