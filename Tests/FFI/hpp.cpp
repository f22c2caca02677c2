// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// What reach.hpp promises beyond what its example shows: every class, moved and destroyed in each way there is. The
// network is turned over whenever "toggle" is said.
#include <reach.hpp>
#include <reach.hpp> // which can be included twice

#include <arpa/inet.h>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;

static void require(bool condition, const char *text, int line)
{
    if (!condition) {
        std::cerr << "hpp.cpp:" << line << ": " << text << std::endl;
        std::exit(EXIT_FAILURE);
    }
}
#define REQUIRE(condition) require(static_cast<bool>(condition), #condition, __LINE__)

static void toggle()
{
    std::cout << "toggle" << std::endl;
}

// What a closure saw on one thread, and another waits for.
template <class Value> class mailbox {
public:
    void put(Value value)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        values_.push_back(std::move(value));
        arrived_.notify_all();
    }
    Value take()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        REQUIRE(arrived_.wait_for(hold, 60s, [this] { return taken_ < values_.size(); }));
        return values_[taken_++];
    }
    bool empty()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return taken_ == values_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<Value> values_;
    std::size_t taken_ = 0;
};

// Whether a call fails with this error.
template <class Call> static bool fails_with(std::errc error, Call call)
{
    try {
        call();
    } catch (const std::system_error &thrown) {
        return thrown.code() == error;
    }
    return false;
}

static void flags_and_targets(bool online)
{
    reach::flags none;
    REQUIRE(none == 0 && !none.online() && none.text() == "Not Reachable");
    reach::flags some(REACH_FLAG_REACHABLE | REACH_FLAG_IS_WWAN);
    REQUIRE(some.online() && some.status() == REACH_STATUS_VIA_WWAN && (some & REACH_FLAG_IS_WWAN) != 0);

    reach::target internet = reach::target::internet();
    REQUIRE(internet.flags().online() == online && reach::online() == online);
    REQUIRE(internet.path().reason == (online ? REACH_REASON_REACHABLE : REACH_REASON_NO_ROUTE));
    REQUIRE(internet.wait(0ms) == online && internet.wait(std::chrono::hours::min()) == online);

    sockaddr_in address = {};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    REQUIRE(reach::target(generic, sizeof address).flags() & REACH_FLAG_IS_LOCAL_ADDRESS);
    REQUIRE(reach::target(generic, sizeof address, nullptr, 0).flags().online());
    REQUIRE(fails_with(std::errc::invalid_argument, [&] { reach::target(generic, 3); }));
    address.sin_family = AF_UNIX;
    REQUIRE(fails_with(std::errc::address_family_not_supported, [&] { reach::target(generic, sizeof address); }));

    reach::target copy = internet, moved = std::move(internet), empty;
    REQUIRE(copy == moved && copy != empty && !internet && !empty);
    REQUIRE(fails_with(std::errc::invalid_argument, [&] { empty.flags(); }));
    copy = *&copy;
    copy = reach::target(std::string("localhost"));
    REQUIRE(copy.flags().online() && moved.flags().online() == online);
    static_assert(!std::is_copy_constructible_v<reach::watch> && std::is_nothrow_move_constructible_v<reach::watch>);
    static_assert(!std::is_convertible_v<const char *, reach::target>);
}

// Turns the network over once.
static void manual_queue(bool online)
{
    reach::queue queue = reach::queue::manual();
    REQUIRE(queue.fd() >= 0);
    REQUIRE(queue.dispatch(0ms) == 0);
    REQUIRE(fails_with(std::errc::invalid_argument, [] { reach::queue("thread").fd(); }));

    std::vector<reach::flags> heard;
    auto life = std::make_shared<int>();
    std::weak_ptr<int> alive = life;
    {
        auto changed = [&heard, life = std::move(life)](reach::flags now) { heard.push_back(now); };
        reach::watch first(reach::target::internet(), queue, changed), second(std::move(first));
        first = std::move(second);
        toggle();
        while (heard.empty())
            REQUIRE(queue.dispatch(60s) >= 0);
        REQUIRE(heard.size() == 1 && heard[0].online() != online);
        REQUIRE(first.watched().flags().online() != online);
        REQUIRE(!alive.expired());
        REQUIRE(fails_with(std::errc::device_or_resource_busy,
                           [&] { reach::watch again(first.watched(), queue, [](reach::flags) {}); }));
    }
    REQUIRE(alive.expired());
}

// Turns the network over once.
static void ended_from_inside(bool online)
{
    mailbox<bool> heard;
    mailbox<int> ended;
    std::unique_ptr<reach::watch> watch;
    auto life = std::shared_ptr<void>(nullptr, [&ended](void *) { ended.put(0); });
    auto changed = [&, life = std::move(life)](reach::flags now) {
        watch.reset(); // the closure outlives this, its last call
        heard.put(now.online());
    };
    watch = std::make_unique<reach::watch>(reach::target::internet(), reach::queue("inside"), std::move(changed));
    toggle();
    REQUIRE(heard.take() != online);
    ended.take();
}

// Turns the network over once, from offline.
static void confirmations()
{
    reach::target internet = reach::target::internet();
    reach::queue queue("confirm");
    mailbox<bool> answers, never;
    auto answered = [&answers](bool online, reach::flags now) {
        REQUIRE(online == now.online());
        answers.put(online);
    };
    reach::confirmation soon(internet, 0ms, queue, answered);
    REQUIRE(!answers.take());
    reach::confirmation at_last(internet, queue, answered), moved(std::move(at_last));
    {
        reach::confirmation dropped(internet, 24h, queue, [&never](bool, reach::flags) { never.put(true); });
        reach::confirmation cancelled(internet, queue, [&never](bool, reach::flags) { never.put(true); });
        REQUIRE(cancelled.cancel() && !cancelled.cancel());
    }
    toggle();
    REQUIRE(answers.take());
    REQUIRE(!moved.cancel() && !at_last.cancel());
    queue.flush();
    REQUIRE(never.empty() && answers.empty());
    REQUIRE(internet.wait() && internet.wait(1h));
    REQUIRE(fails_with(std::errc::invalid_argument, [&] { reach::confirmation(reach::target(), queue, answered); }));
}

// Turns the network over twice, from online.
static void monitors()
{
    struct change {
        reach_status status, previous;
        std::string host;
    };
    reach::queue queue("observer");
    mailbox<change> all, one;
    auto into = [](mailbox<change> &box) {
        return [&box](reach_status status, reach_status previous, const std::string &host) {
            box.put({status, previous, host});
        };
    };
    reach::observer of_all(reach::monitor(), queue, into(all));
    reach::monitor monitor("198.51.100.1");
    REQUIRE(monitor.host() == "198.51.100.1" && monitor.reachable());
    change first = all.take();
    REQUIRE(first.status == REACH_STATUS_VIA_WIFI && first.previous == REACH_STATUS_UNKNOWN);
    REQUIRE(first.host == "198.51.100.1" && monitor.status() == REACH_STATUS_VIA_WIFI);
    {
        reach::observer of_one(monitor, queue, into(one)), moved(std::move(of_one));
        toggle();
        REQUIRE(one.take().status == REACH_STATUS_NOT_REACHABLE && !monitor.reachable());
    }
    REQUIRE(all.take().status == REACH_STATUS_NOT_REACHABLE);
    toggle();
    REQUIRE(all.take().previous == REACH_STATUS_NOT_REACHABLE);
    REQUIRE(one.empty());

    monitor.set_host("localhost");
    REQUIRE(monitor.host() == "localhost" && all.take().host == "localhost");
    REQUIRE(fails_with(std::errc::invalid_argument, [&] { monitor.set_host(""); }));
    REQUIRE(fails_with(std::errc::invalid_argument, [] { reach::monitor{std::string()}; }));

    // An empty monitor stands for the shared one, as NULL does in reach.h.
    reach::monitor shared = reach::monitor::shared();
    shared.set_host("localhost");
    REQUIRE(shared == reach::monitor::shared() && reach::monitor().host() == "localhost");
}

int main()
{
    bool online = reach::online();
    flags_and_targets(online);
    manual_queue(online);
    ended_from_inside(!online);
    if (online)
        manual_queue(online); // turned over twice by now: what follows starts from offline
    confirmations();
    monitors();
    std::cout << "bye" << std::endl;
}
