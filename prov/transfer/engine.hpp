// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "base/gate.hpp"
#include "base/pool.hpp"
#include "base/statistics_page.hpp"
#include "base/watchdog.hpp"
#include "ondemand/wireup.hpp"
#include "srq/memory_budget.hpp"
#include "transfer/arguments.hpp"
#include "transfer/auto_progress.hpp"
#include "transfer/engine_settings.hpp"
#include "transfer/inbox.hpp"
#include "transfer/limits.hpp"
#include "transfer/multicast_parcel.hpp"
#include "transfer/region_tallies.hpp"
#include "transfer/remote_copy.hpp"
#include "transfer/room.hpp"
#include "transfer/shared_words.hpp"
#include "transfer/status.hpp"
#include "transfer/watch.hpp"

#include <sys/types.h>

namespace odrc::transfer {

using ondemand::Job;
using ondemand::Lane;

class Multicast;
class PartSink;

// All transfers of one endpoint: what goes out, what comes in, and the memory and connections
// that this takes. Calls are made inside the endpoint's gate, unless said otherwise.
//
// Calls of the application give 0 or a negative fi_errno; -FI_EAGAIN means: later, after
// progress. Where buffers lie and who may touch them is told in prov/README.md.
class Engine final : public Watchdog::Client {
public:
    using Settings = EngineSettings;

    // Throws Error. Made and ended outside the gate.
    Engine(verbs::Adapter& adapter, const ondemand::Stations::Others& others,
           const ondemand::AddressTable& addresses, Watchdog& watchdog, Gate& gate,
           const Settings& settings);
    ~Engine();

    const ondemand::Address& address() const noexcept { return wireup_.address(); }
    ondemand::NativeAddress native_address() const noexcept { return wireup_.native_address(); }
    // The application has named a peer.
    void introduce(const ondemand::NativeAddress& peer,
                   const ondemand::RangeList* list = nullptr) noexcept {
        wireup_.introduce(peer, list);
    }
    // What it publishes besides its address. Throws std::bad_alloc.
    ondemand::RangeList range_list() const { return wireup_.range_list(); }
    void published(size_t bytes) noexcept { counters_.published_bytes = bytes; }
    const Counters& counters() const noexcept { return counters_; }
    const Traffic& traffic() const noexcept { return traffic_; }
    uint64_t rnr_naks() const noexcept { return stations_.rnr_naks(); }

    // Operations that end from now on are counted there.
    void count_in(const Tallies& tallies) noexcept { settings_.tallies = tallies; }
    // One of another kind than those below, which counts as sent.
    void count_sent(int error) noexcept { count(settings_.tallies.sent, error); }
    // Somebody may sleep until something happens.
    bool wakes_program() const noexcept { return settings_.waitable; }

    // ---- sends (send.cpp) ----
    ssize_t send(const SendArguments& a) noexcept {
        if (patience_ < 0) patience_ = kPatience; // they may answer
        return end_call(begin(a), a.flags);
    }

    // ---- receives (receive.cpp) ----
    ssize_t receive(const ReceiveArguments& arguments) noexcept;

    // ---- reads and writes of the peers' memory (rma.cpp) ----
    ssize_t rma(const RmaArguments& a) noexcept { return end_call(begin(a), a.flags); }

    // ---- changes of the peers' memory that meet there with others' (atomic.cpp) ----
    ssize_t atomic(const AtomicArguments& a) noexcept { return end_call(begin(a), a.flags); }

    // ---- messages of ours, of which the program does not hear (parts.cpp) ----
    // Who hears of them from now on: for as long as the engine stands.
    void tell_of_parts(PartSink& sink) noexcept { part_sink_ = &sink; }
    // 0, or a positive fi_errno and nobody will hear of it.
    int send_part(const PartArguments& arguments) noexcept;
    int receive_part(const PartArguments& arguments) noexcept;
    // Takes the receive of that context back, if it has no message yet. False if there is none.
    bool withdraw_part(const void* context) noexcept;
    // Throws away what has come in of that tag.
    void discard_parts(uint64_t tag, uint64_t ignore) noexcept;

    // ---- packets of groups (multicast_frames.cpp) ----
    // Who takes in those that come from now on: for as long as the engine stands.
    void tell_of_multicasts(Multicast& multicast) noexcept { multicast_ = &multicast; }
    Peer* peer_at(fi_addr_t number) noexcept { return peers_.find(number); }
    // Of one that is being taken in, and of one that begins here. Null when memory is out.
    Parcel* hold(const wire::Multicast& what, std::span<const std::byte> payload) noexcept;
    Parcel* lend(const wire::Multicast& what, std::span<const std::byte> payload) noexcept;
    void release(Parcel& parcel) noexcept; // by one of its users
    // 0, and Multicast::sent hears of the end; or a positive fi_errno.
    int send(Parcel& parcel, fi_addr_t to, uint32_t group) noexcept;
    void send_word(fi_addr_t to, uint32_t group, const wire::Multicast& word) noexcept;
    void send_word(Peer& peer, uint32_t group, const wire::Multicast& word) noexcept;
    // What is kept of them until the program asks for it.
    void keep_early(size_t bytes) noexcept;
    void forget_early(size_t bytes) noexcept;
    size_t room_for_multicasts() const noexcept { return budget_.unexpected() / 2; }
    // So many more, or fewer, are waited for.
    void await(int more) noexcept;
    void let_come_what_is_looked_for() noexcept {
        if (room_.is(Room::State::none)) [[unlikely]]
            let_each_send_one();
    }
    // Somebody waits for a member of a group.
    void look_after_members() noexcept { look_after_peers(); }
    void count_one(uint64_t Counters::*what) noexcept { ++(counters_.*what); }

    // Ends the operation of that context, if it has not begun, with FI_ECANCELED.
    ssize_t cancel(void* context) noexcept;

    // What earlier calls held back, for more was to follow (FI_MORE), goes with a call that does
    // not say so, and with one that fails (fi_msg(3)). What was injected the program need not look
    // after.
    ssize_t end_call(ssize_t result, uint64_t flags) noexcept {
        if (result != 0 || !(flags & FI_MORE)) post_held();
        if (result == 0 && flags & FI_INJECT) look_after_peers();
        return result;
    }

    // ---- progress (engine.cpp) ----
    void progress() noexcept {
        const bool found = advance();
        if (auto_progress_) auto_progress_->program_polled(found);
    }
    // The same, for whoever comes in the program's stead. False when no completion was found.
    bool advance() noexcept {
        const bool found = poll();
        if (!found) serve_wireup();
        if (wireup_.any_changed()) [[unlikely]]
            take_changes();
        post_held();
        return found;
    }
    // Somebody makes its progress while the program does not: it is to be so, or peers come by
    // datagrams, which wait for nobody.
    bool progresses_by_itself() noexcept { return settings_.automatic || stations_.datagrams(); }

    // Rings, which wake nobody, only while the program looks. False: some are not back yet.
    void give_rings() noexcept { stations_.rings().set_gives(true); }
    bool take_rings_back() noexcept;

    // For sleepers: fd() becomes readable when there may be progress to make after arm().
    int fd() const noexcept { return stations_.fd(); }
    void arm() noexcept;
    // The same, for the program's.
    void arm_for_program() noexcept {
        if (auto_progress_) auto_progress_->program_sleeps();
        arm();
    }

    // The application took an address back.
    void forget(fi_addr_t number) noexcept { peers_.forget(number); }

    // Sees everything out that was accepted, and tells the peers that we leave. Outside the gate.
    void close() noexcept;

    Time serve() noexcept override;

private:
    // engine.cpp
    bool poll() noexcept { return (!stations_.rings().empty() && poll_rings()) || poll_stations(); }
    bool poll_stations() noexcept;
    bool poll(ondemand::Station& station) noexcept;
    void dispatch(ondemand::Station& station, const ibv_wc& wc) noexcept;
    void conclude(Lane& lane, verbs::WorkId id, ibv_wc_status status) noexcept;
    ibv_wc_status on_failure(Lane& lane, const ibv_wc& wc) noexcept;
    static ibv_wc_status cause_of(Lane& lane, ibv_wc_status status) noexcept;
    void serve_wireup() noexcept;
    void take_changes() noexcept;
    void connect(Peer& peer) noexcept;
    bool busy() const noexcept;
    void drain() noexcept;

    bool may_post(const Peer& peer) const noexcept {
        return peer.listens() && peer.nothing_waits() && peer.lane->has_room() &&
               peer.window_is_open();
    }

    void post_held() noexcept {
        if (!posting_.empty()) [[unlikely]]
            flush();
    }

    // watch.cpp
    void look_after_peers() noexcept {
        if (!std::exchange(watch_.probing, true)) watchdog_.wake();
    }
    void look_at_receives(Time now) noexcept;
    bool anybody_awaited() noexcept;
    void ask_who_is_there() noexcept;
    void ask_whether_there(Peer& peer) noexcept;

    // jobs.cpp
    void flush() noexcept;
    int submit(Peer& peer, Job& job) noexcept;
    int post(Lane& lane, Job& job) noexcept;
    void fail(Job& job, int error) noexcept;
    void await_answer(Peer& peer, Job& job) noexcept;
    void answered(Job& job) noexcept;
    void take_off(Job& job) noexcept;
    void fail_operations(Peer& peer) noexcept;
    void fail_outdated(Peer& peer) noexcept;
    void work_off(Peer& peer) noexcept;
    void block(Peer& peer) noexcept;
    bool wait_for_end_of_batch(Peer& peer) noexcept;
    void unblock() noexcept;

    // windows.cpp
    static bool may_send(const Peer& peer, const Job& job) noexcept {
        return peer.window_is_open() || is_beside_window(peer, job);
    }
    static bool is_beside_window(const Peer& peer, const Job& job) noexcept;
    // Tells the peer up to which frame it may send, and whether there is much room for what it
    // does.
    void stamp(const Lane& lane, wire::FrameHeader& header) const noexcept {
        Peer& peer = lane.peer();
        const uint32_t size =
            room_.is(Room::State::much) ? lane.station().shares().each() : least_window();
        header.limit = static_cast<uint16_t>(peer.window_in.widen(peer.received_in_window(), size));
        header.flags = static_cast<uint8_t>((header.flags & ~wire::kCrowded) |
                                            (room_.is(Room::State::much) ? 0 : wire::kCrowded));
    }
    bool tell_what_is_due(Peer& peer) noexcept;
    bool owes_window(const Peer& peer) const noexcept {
        if (!peer.ready()) return false;
        return (peer.window_in.is_due(peer.received_in_window()) &&
                (room_.is(Room::State::much) || least_window() > 0)) ||
               (peer.lane->ring() && peer.lane->ring()->is_due());
    }
    bool grant(Peer& peer) noexcept;
    void stop(Peer& peer) noexcept;
    void look_at_stopped(Time now) noexcept;

    // rings.cpp
    void think_about_ring(Lane& lane) noexcept;
    void ask_back(Lane& lane) noexcept;
    void give_ring(Lane& lane) noexcept;
    bool tell_of_ring(Lane& lane, wire::RingWord word,
                      std::span<const std::byte> payload = {}) noexcept;
    static void open_ring(Lane& lane, const wire::RingOffer& offer) noexcept;
    void on_ring_word(Lane& lane, const wire::Frame& frame) noexcept;
    bool leave_ring(Lane& lane) noexcept;

    // room.cpp
    void weigh() noexcept {
        if (!room_.is(room_.with(kept_bytes()))) [[unlikely]]
            change_room();
    }
    // Multicasts have a bound of their own, and alone leave much room.
    size_t kept_bytes() const noexcept {
        return inbox_.kept_bytes() + std::min(early_bytes_, budget_.unexpected() / 4);
    }
    void change_room() noexcept;
    void tell_ring_peers() noexcept;
    void grant_all_that_is_due() noexcept;
    void let_each_send_one() noexcept;
    // A receive waits that was not posted before.
    void let_come_what_is_wanted() noexcept {
        if (room_.is(Room::State::none)) [[unlikely]]
            grant_all_that_is_due();
    }
    // Of each peer, where there is little room or none.
    uint32_t least_window() const noexcept {
        return room_.is(Room::State::little) || wanted_ || inbox_.posted() > 0 || awaited_ > 0;
    }

    // repeats.cpp
    static Ending ending_of(const Lane& lane, ibv_wc_status status) noexcept;
    static void save(Peer& peer, Job& job) noexcept;
    void save(Lane& lane, srq::Buffer& copy, Ending end) noexcept;
    bool revive_send(Peer& peer, srq::Buffer& copy, const Kept& kept) noexcept;
    bool revive_write(Peer& peer, srq::Buffer& copy, const Kept& kept) noexcept;
    void fill_gap(Peer& peer, uint32_t sequence) noexcept;
    void pass_over_taken(Peer& peer) noexcept;
    void arrived(Peer& peer, Job& job) noexcept;
    bool repeat(Peer& peer) noexcept;

    // send.cpp
    ssize_t begin(const SendArguments& a) noexcept;
    Send* make_send(Peer& peer, const SendArguments& a, size_t length) noexcept;
    bool answer(Peer& peer, wire::FrameKind kind, uint64_t handle, int error,
                const Results& results = {}) noexcept;
    void on_sent(Send& send, Ending end) noexcept;
    void not_sent(Send& send, Ending end) noexcept;
    static void count(Tally* tally, int error) noexcept {
        if (tally) tally->count(error);
    }
    Tally* tally_of(const Send& send) const noexcept;
    void complete(Send& send, int error) noexcept;
    void release(Send& send) noexcept;

    // send_memory.cpp
    bool keep_keys(Send& send, std::span<void* const> keys) noexcept;
    int expose(const Lane& lane, Send& send) noexcept;
    void withdraw(Send& send) noexcept;
    void withdraw_unsent(Send& send) noexcept;
    bool is_gathered(const Lane& lane, Send& send) noexcept;

    // short_frame.cpp
    int post_short(Lane& lane, std::byte* frame, size_t size, Send& send) noexcept;
    int post_short(Lane& lane, std::byte* frame, size_t size, unsigned flags, verbs::WorkKind kind,
                   const void* object, uint32_t sequence, bool& by_ring) noexcept;
    int post_joined(Lane& lane, Send& send) noexcept;
    bool deliver(Lane& lane, const SendArguments& a, size_t length) noexcept;
    ssize_t inject_at_once(Lane& lane, const SendArguments& a, size_t length) noexcept;
    ssize_t send_at_once(Lane& lane, const SendArguments& a, size_t length) noexcept;

    // frame.cpp
    int post(Lane& lane, Send& send) noexcept;
    int post_message(Lane& lane, Send& send) noexcept;
    int post_gathered(Lane& lane, Send& send) noexcept;
    int post_copied(Lane& lane, Send& send, size_t size) noexcept;
    // A frame that is repeated has its number already.
    void number(const Lane& lane, Send& send) const noexcept {
        if (!send.numbered) send.header.sequence = send.peer->sent;
        stamp(lane, send.header);
    }
    const Crossovers& crossovers(const Lane& lane) const noexcept {
        return settings_.crossovers[lane.station().beside()];
    }
    bool is_announced(const Lane& lane, const Send& send) const noexcept;
    // So many copies are under way that more wait until some are back.
    bool has_many_frames() const noexcept {
        return frames_.taken() >= most_frames_ && stations_.under_way() > 0;
    }
    int post_built(Lane& lane, Send& send, std::span<const std::byte> payload) noexcept;
    int post_frame(Lane& lane, const Segments& segments, unsigned flags, Send& send) noexcept;
    static void went_out(Send& send) noexcept;
    static int not_posted(const Lane& lane, int error) noexcept;
    bool post_uncounted(Lane& lane, wire::FrameKind kind, uint64_t tag,
                        std::span<const std::byte> payload = {}) noexcept;
    int post_frame(Lane& lane, const Segments& segments, unsigned flags, verbs::WorkKind kind,
                   const void* object, bool more, uint32_t sequence) noexcept;
    void count_sent(BySize& way, size_t length) noexcept {
        way.count(length);
        ++counters_.messages_sent;
        counters_.bytes_sent += length;
    }

    // incoming.cpp
    void take_window(Lane& lane, const wire::Frame& frame) noexcept;
    void on_limit(const Lane& lane, const wire::Frame& frame) noexcept;
    void on_uncounted(Lane& lane, const wire::Frame& frame) noexcept;
    ondemand::Turn take_frame(Lane& lane, const wire::Frame& frame, bool by_ring) noexcept;
    bool on_received(Lane& lane, srq::Buffer& buffer, uint32_t length) noexcept;
    void take_early(Peer& peer) noexcept;
    void refuse(Lane& lane, std::span<const std::byte> bytes) noexcept;
    bool poll_rings() noexcept;
    size_t more_looks() noexcept;
    bool linger() noexcept;
    bool take_from_ring(Lane& lane, const uint64_t* found) noexcept;
    bool found_in_rings() noexcept;
    void empty_ring(Lane& lane) noexcept;

    // arrival.cpp
    static Message message_in(Lane& lane, const wire::Frame& frame) noexcept;
    void on_frame(Lane& lane, const wire::Frame& frame) noexcept;
    bool on_other(Lane& lane, const wire::Frame& frame) noexcept;
    void on_message(const Message& message) noexcept;
    void deliver(Receive& receive, const Message& message) noexcept;
    void lose(const Message& message) noexcept;
    void discard(Arrived& arrived) noexcept;
    void complete(Receive& receive, const Message& message, size_t bytes, int error) noexcept;
    void take_in(Receive& receive, const Message& message) noexcept;
    void end(Receive& receive, const Message& message, size_t bytes, int error) noexcept;
    fi_addr_t source_of(Peer* peer) noexcept {
        return settings_.sources && peer ? peers_.id_of(*peer) : FI_ADDR_NOTAVAIL;
    }

    // receive.cpp
    ssize_t peek(const ReceiveArguments& a, const Peer* source) noexcept;
    ssize_t receive_claimed(const ReceiveArguments& a) noexcept;
    Receive* make_receive(const ReceiveArguments& a, Peer* source) noexcept;
    void complete_canceled(Receive& receive) noexcept;
    void complete_badly(const Receive& receive, const Message& message, uint64_t flags,
                        size_t bytes, int error) noexcept;

    // multi_receive.cpp
    ssize_t receive_many(const ReceiveArguments& a, Peer* source) noexcept;
    void part_done(Receive& whole) noexcept;

    // slices.cpp
    bool goes_in_slices(const Peer& peer, const Send& send) noexcept;
    bool deliver_in_slices(Lane& lane, Send& send) noexcept;
    Assembly* assembly_from(const Lane& lane) noexcept;
    void begin_assembly(Lane& lane, const Message& message) noexcept;
    void on_slice(Lane& lane, std::span<const std::byte> bytes) noexcept;
    void end_assembly(Assembly& assembly) noexcept;
    bool replace_assembly(Lane& lane, const Message& announced) noexcept;
    void lose_assemblies(const Peer& peer, int error) noexcept;
    void give_up(Assembly& assembly) noexcept;
    void destroy(Assembly& assembly) noexcept;

    // rendezvous.cpp
    int announce(Lane& lane, Send& send) noexcept;
    void fetch(Receive& receive, const Message& message) noexcept;
    // By which the lanes of this session go.
    verbs::Adapter& adapter_to(const Peer& peer) noexcept {
        return peer.way == ondemand::Way::soft ? stations_.soft()->adapter() : adapter_;
    }
    int post(Lane& lane, Fetch& fetch) noexcept;
    void on_fetched(Fetch& fetch, Ending end) noexcept;
    void end(Fetch& fetch, int error) noexcept;
    void send_finish(const Message& message, int error) noexcept;
    void on_finish(Peer& peer, const wire::Frame& frame) noexcept;

    // rma.cpp
    ssize_t begin(const RmaArguments& a) noexcept;
    ssize_t write_at_once(Lane& lane, const RmaArguments& a, size_t length) noexcept;
    Rma* make_rma(Peer& peer, const RmaArguments& a, size_t length) noexcept;
    int post(Lane& lane, Rma& rma) noexcept;
    int prepare(const Lane& lane, Rma& rma) noexcept;
    static void rewind(Rma& rma) noexcept;
    int post_part(Lane& lane, Rma& rma) noexcept;
    void on_moved(Rma& rma, Ending end) noexcept;
    void end(Rma& rma, int error) noexcept;
    void complete(Rma& rma) noexcept;
    void release(Rma& rma) noexcept;
    int register_list(verbs::Adapter& adapter, std::span<const iovec> pieces, size_t bytes,
                      int access, Moment handed_over, std::span<verbs::Registration> keys) noexcept;
    void give_back(std::span<verbs::Registration> keys) noexcept;

    // note.cpp
    int post_note(Lane& lane, Rma& rma) noexcept;
    void on_placed(Peer& peer, uint64_t handle) noexcept;
    void on_note(Lane& lane, const wire::Frame& frame) noexcept;
    void count_event(RegionTallies::Access access, std::span<const uint32_t> keys) noexcept;

    // atomic.cpp
    ssize_t begin(const AtomicArguments& a) noexcept;
    Send* make_atomic(Peer& peer, const AtomicArguments& a,
                      const AtomicOperation& operation) noexcept;
    bool take_places(Send& send, std::span<const fi_ioc> results, size_t element) noexcept;
    int post_atomic(Lane& lane, Send& send) noexcept;
    static void take_results(Send& send, const wire::Frame& frame) noexcept;

    // device_atomic.cpp
    bool device_can(const AtomicArguments& a) const noexcept;
    int change_at_once(Lane& lane, const AtomicArguments& a) noexcept;
    int post_device_atomic(Lane& lane, Send& send) noexcept;
    void on_changed(Send& send, Ending end) noexcept;

    // atomic_target.cpp
    void on_atomic(Lane& lane, const wire::Frame& frame) noexcept;
    bool take_room(Results& results, size_t bytes) noexcept;

    // parts.cpp
    Send* make_part(Peer& peer, uint64_t tag, int failure) noexcept;
    void part_sent(Send& send, int error) noexcept;
    void send_once_more(const Send& lost) noexcept;
    void on_part(const Message& message) noexcept;
    void part_received(Receive& receive, const Message& message, int error) noexcept;
    void lose_parts(const Peer& peer, int error) noexcept;

    // multicast_frames.cpp
    Parcel* copy(const wire::Multicast& what, std::span<const std::byte> payload) noexcept;
    Send* make_packet(Peer& peer, Parcel& parcel, uint32_t group) noexcept;
    void say(Peer& peer, uint32_t group, const wire::Multicast& word, bool again) noexcept;
    int post_packet(Lane& lane, Send& send) noexcept;
    void packet_sent(Send& send, int error) noexcept;

    verbs::Adapter& adapter_;
    Watchdog& watchdog_;
    Gate& gate_;
    Settings settings_;            // of which the tallies may become more
    const uint32_t segments_;      // of a work request, and pieces of an operation
    const uint32_t read_segments_; // of one that reads
    const OwnStatistics statistics_;
    Counters& counters_{statistics_->counters};
    Traffic& traffic_{statistics_->traffic};

    const srq::MemoryBudget budget_;
    const size_t most_frames_{budget_.sends(wire::kFrameBytes)}; // copied on their way out
    ondemand::Stations stations_;
    SharedWords words_;
    verbs::PostList posting_{counters_.posts};
    srq::BufferPool frames_;  // for frames that are copied on their way out
    srq::BufferPool injects_; // for injected messages that have to wait, and copies of others
    srq::BufferPool packets_; // for long packets of groups that have to be copied

    LongLists longs_;
    Pool<Send> sends_;
    Pool<Registrations> registered_; // of sends
    Pool<Fetch> fetches_;
    Pool<Rma> rmas_;
    Pool<Parcel> parcels_;
    size_t transmitting_{0}; // the application's sends, reads and writes
    Inbox inbox_{longs_, counters_};
    Room room_{budget_.unexpected()};
    bool wanted_{false}; // what is looked for has not come
    PartSink* part_sink_{nullptr};
    Multicast* multicast_{nullptr};
    size_t early_bytes_{0}; // of packets of groups that are kept
    size_t awaited_{0};     // broadcasts that wait for theirs
    // The receive buffer that is being looked at, until somebody keeps it; null: it has to go back.
    srq::Buffer* in_hand_{nullptr};
    ondemand::Station* in_hand_at_{nullptr};

    ondemand::PeerTable peers_;
    List<Peer, ondemand::Blocked> blocked_;
    ondemand::Wireup wireup_; // after all that lanes lean on
    std::optional<AutoProgress> auto_progress_;

    size_t unanswered_{0}; // jobs that await their peer
    bool closing_{false};
    Watch watch_;
    uint32_t idle_polls_{0};
    uint32_t ring_polls_{0}; // in a row that found something
    // So many looks in vain may still be long ones, since a peer was answered. Below zero: one of
    // the peers has had the last word, and the last look found it (kHearing) or was in vain since.
    static constexpr int kPatience = 8, kHeard = -1, kHearing = -2;
    int patience_{0};

    // What is not looked at by each poll.
    const size_t most_at_once_; // bytes that one read or write moves
    Pool<Assembly> assembling_;
    List<Assembly> assemblies_;
};

} // namespace odrc::transfer
