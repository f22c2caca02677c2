// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// reach.hpp - reach.h for C++17: handles that count their references, closures for callbacks, exceptions for errno.
//
//     #include <reach.hpp>
//
//     if (reach::online()) ...
//     std::cout << reach::target("localhost").flags().text();
//     reach::watch watch(reach::target::internet(), reach::queue("net"), [](reach::flags now) { ... });
//
// What the functions do is told in reach.h; this header adds nothing to the library and needs no library of its own.
//
//   - A failure is a std::system_error, whose code() compares with std::errc. Where reach.h has a "no" that is not a
//     failure (not online, time is over, answered already), it is returned.
//   - target, queue and monitor are references to an object of the library: copying is cheap, the last copy frees it.
//     One that was made by default or moved from is empty, and is to the functions what NULL is in reach.h.
//   - watch, observer and confirmation own a closure that is called on a queue. Their destructor ends that: no call is
//     running or comes after it, unless it runs inside such a call, which then is the last.
//   - A closure that throws ends the program (std::terminate): there is nobody above it to catch.
#ifndef REACH_HPP
#define REACH_HPP

#if __cplusplus < 201703L
#error "reach.hpp needs C++17 or later; reach.h can be used from every C++"
#endif

#include <reach.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

namespace reach {

namespace detail {

[[noreturn]] inline void fail(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

inline void check(bool succeeded, const char *what)
{
    if (!succeeded)
        fail(what);
}

// The library's milliseconds: rounded up, so that no wait is shorter than it was asked for.
template <class Rep, class Period> int milliseconds(std::chrono::duration<Rep, Period> time)
{
    constexpr int most = std::numeric_limits<int>::max();
    const double exact = std::chrono::duration<double, std::milli>(time).count();
    return exact >= most ? most : exact <= 0 ? 0 : static_cast<int>(std::ceil(exact));
}

// One counted reference to an object of the library.
template <class Object, Object *(*Retain)(Object *), void (*Release)(Object *)> class handle {
public:
    handle() noexcept = default;
    explicit handle(Object *owned) noexcept : object_(owned) {}
    handle(const handle &other) : object_(other.object_ == nullptr ? nullptr : Retain(other.object_)) {}
    handle(handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    handle &operator=(handle other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~handle() { Release(object_); }

    /// The object for the functions of reach.h; null when empty. The reference stays with this handle.
    Object *get() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    friend bool operator==(const handle &a, const handle &b) noexcept { return a.object_ == b.object_; }
    friend bool operator!=(const handle &a, const handle &b) noexcept { return a.object_ != b.object_; }

private:
    Object *object_ = nullptr;
};

// What a release function is given back as.
template <class Closure> void destroy(void *info) noexcept
{
    delete static_cast<Closure *>(info);
}

} // namespace detail

/// A set of REACH_FLAG_ bits.
class flags {
public:
    constexpr flags(reach_flags bits = 0) noexcept : bits_(bits) {}
    constexpr operator reach_flags() const noexcept { return bits_; }

    /// Reachable, and no connection required first.
    bool online() const noexcept { return reach_flags_is_online(bits_); }
    reach_status status() const noexcept { return reach_flags_status(bits_); }

    /// The flags in words.
    std::string text() const
    {
        std::string words(reach_flags_describe(bits_, nullptr, 0), '\0');
        reach_flags_describe(bits_, words.data(), words.size() + 1);
        return words;
    }

private:
    reach_flags bits_;
};

/// Is there a path to the internet at large?
inline bool online()
{
    if (reach_is_online())
        return true;
    if (errno != 0)
        detail::fail("reach_is_online");
    return false;
}

/// Where callbacks run.
class queue : public detail::handle<reach_queue, reach_queue_retain, reach_queue_release> {
public:
    using handle::handle;

    /// A queue with a thread of its own, named by label.
    explicit queue(const char *label) : handle(reach_queue_create(label))
    {
        detail::check(get() != nullptr, "reach_queue_create");
    }

    /// A queue that the caller drives.
    static queue manual()
    {
        queue made(reach_queue_create_manual());
        detail::check(made.get() != nullptr, "reach_queue_create_manual");
        return made;
    }

    /// The descriptor of a manual queue, to be watched for reading.
    int fd() const
    {
        int descriptor = reach_queue_fd(get());
        detail::check(descriptor >= 0, "reach_queue_fd");
        return descriptor;
    }

    /// Runs what is due on a manual queue; without a time it waits until there is something.
    int dispatch() const { return dispatch_for(-1); }
    template <class Rep, class Period> int dispatch(std::chrono::duration<Rep, Period> time) const
    {
        return dispatch_for(detail::milliseconds(time));
    }

    /// Waits until the callout that is running has ended.
    void flush() const { detail::check(reach_queue_flush(get()), "reach_queue_flush"); }

private:
    int dispatch_for(int milliseconds) const
    {
        int made = reach_queue_dispatch(get(), milliseconds);
        detail::check(made >= 0, "reach_queue_dispatch");
        return made;
    }
};

/// What is asked about.
class target : public detail::handle<reach_target, reach_retain, reach_release> {
public:
    using handle::handle;

    /// A host name, or an address in text.
    explicit target(const char *name) : handle(reach_create_with_name(name))
    {
        detail::check(get() != nullptr, "reach_create_with_name");
    }
    explicit target(const std::string &name) : target(name.c_str()) {}

    target(const struct sockaddr *address, socklen_t length) : handle(reach_create_with_address(address, length))
    {
        detail::check(get() != nullptr, "reach_create_with_address");
    }

    target(const struct sockaddr *local, socklen_t local_length, const struct sockaddr *remote, socklen_t remote_length)
        : handle(reach_create_with_address_pair(local, local_length, remote, remote_length))
    {
        detail::check(get() != nullptr, "reach_create_with_address_pair");
    }

    /// The internet at large.
    static target internet() { return target("0.0.0.0"); }

    /// The answer now. Never waits, never sends a packet, never looks a name up.
    reach::flags flags() const
    {
        reach_flags now = 0;
        detail::check(reach_get_flags(get(), &now), "reach_get_flags");
        return now;
    }

    /// The answer now, with its path and its reason.
    reach_path path() const
    {
        reach_path now = {};
        detail::check(reach_get_path(get(), &now, sizeof now), "reach_get_path");
        return now;
    }

    /// Waits until the target is online, or the time is over: whether it is online.
    template <class Rep, class Period> bool wait(std::chrono::duration<Rep, Period> time) const
    {
        return wait_for(detail::milliseconds(time));
    }
    bool wait() const { return wait_for(-1); }

private:
    bool wait_for(int milliseconds) const
    {
        if (reach_wait(get(), milliseconds, nullptr))
            return true;
        if (errno != ETIMEDOUT)
            detail::fail("reach_wait");
        return false;
    }
};

/// Calls a closure on a queue for every change of a target. A target has room for one closure: give each watch its own.
class watch {
public:
    using closure = std::function<void(reach::flags)>;

    watch(target what, queue where, closure changed)
        : target_(std::move(what)), queue_(std::move(where))
    {
        auto *info = new closure(std::move(changed)); // the library's from here on, also when the next call fails
        detail::check(reach_set_callback(target_.get(), call, info, detail::destroy<closure>), "reach_set_callback");
        if (!reach_set_queue(target_.get(), queue_.get())) {
            int error = errno;
            reach_set_callback(target_.get(), nullptr, nullptr, nullptr);
            errno = error;
            detail::fail("reach_set_queue");
        }
    }
    watch(watch &&) noexcept = default;
    watch &operator=(watch &&other) noexcept
    {
        end();
        target_ = std::move(other.target_);
        queue_ = std::move(other.queue_);
        return *this;
    }
    ~watch() { end(); }

    const target &watched() const noexcept { return target_; }

private:
    static void call(reach_target *, reach_flags now, void *info) noexcept { (*static_cast<closure *>(info))(now); }

    void end() noexcept
    {
        if (!target_)
            return;
        reach_set_queue(target_.get(), nullptr);
        reach_queue_flush(queue_.get()); // fails inside the closure, which then is the last call
        reach_set_callback(target_.get(), nullptr, nullptr, nullptr);
        target_ = target();
        queue_ = queue();
    }

    target target_;
    queue queue_;
};

/// One confirmed answer: a closure that is called on a queue once, unless the confirmation is destroyed before.
class confirmation {
public:
    using closure = std::function<void(bool online, reach::flags)>;

    /// Answers online as soon as it is so, or offline when the time is over.
    template <class Rep, class Period>
    confirmation(const target &what, std::chrono::duration<Rep, Period> time, queue where, closure answered)
        : confirmation(what, detail::milliseconds(time), std::move(where), std::move(answered))
    {
    }

    /// Answers online as soon as it is so, however long that takes.
    confirmation(const target &what, queue where, closure answered)
        : confirmation(what, -1, std::move(where), std::move(answered))
    {
    }

    confirmation(confirmation &&other) noexcept : queue_(std::move(other.queue_)), id_(std::exchange(other.id_, 0)) {}
    confirmation &operator=(confirmation &&other) noexcept
    {
        cancel();
        queue_ = std::move(other.queue_);
        id_ = std::exchange(other.id_, 0);
        return *this;
    }
    ~confirmation() { cancel(); }

    /// Whether it was pending: then no answer comes. An answer that is being given elsewhere is waited for.
    bool cancel() noexcept
    {
        std::uint64_t id = std::exchange(id_, 0);
        if (id == 0)
            return false;
        bool pending = reach_confirm_cancel(id);
        if (!pending)
            reach_queue_flush(queue_.get());
        return pending;
    }

private:
    confirmation(const target &what, int milliseconds, queue where, closure answered)
        : queue_(std::move(where)),
          id_(reach_confirm(what.get(), milliseconds, queue_.get(), call, new closure(std::move(answered)),
                            detail::destroy<closure>))
    {
        detail::check(id_ != 0, "reach_confirm");
    }

    static void call(reach_target *, bool online, reach_flags now, void *info) noexcept
    {
        (*static_cast<closure *>(info))(online, now);
    }

    queue queue_;
    std::uint64_t id_;
};

/// The status of a host, kept up to date. A monitor of a name looks it up, which is traffic.
class monitor : public detail::handle<reach_monitor, reach_monitor_retain, reach_monitor_release> {
public:
    using handle::handle;

    explicit monitor(const char *host) : handle(reach_monitor_create(host))
    {
        detail::check(get() != nullptr, "reach_monitor_create");
    }
    explicit monitor(const std::string &host) : monitor(host.c_str()) {}

    /// The one that everybody in the process can use.
    static monitor shared()
    {
        reach_monitor *found = reach_monitor_shared();
        detail::check(found != nullptr, "reach_monitor_shared");
        return monitor(reach_monitor_retain(found));
    }

    reach_status status() const noexcept { return reach_monitor_get_status(get()); }
    bool reachable() const noexcept { return reach_monitor_is_reachable(get()); }

    std::string host() const
    {
        // The host may be changed meanwhile, to a longer one.
        for (std::string name;;) {
            std::size_t length = reach_monitor_get_host(get(), name.data(), name.size() + 1);
            bool whole = length <= name.size();
            name.resize(length);
            if (whole)
                return name;
        }
    }
    void set_host(const std::string &name) const
    {
        detail::check(reach_monitor_set_host(get(), name.c_str()), "reach_monitor_set_host");
    }
};

/// Calls a closure on a queue whenever the status of a monitor changes.
class observer {
public:
    /// Called with the status, the one before, and the host.
    using closure = std::function<void(reach_status status, reach_status previous, const std::string &host)>;

    /// Observes one monitor; all of them, those made later included, when what is empty.
    observer(const monitor &what, queue where, closure changed)
        : queue_(std::move(where)),
          id_(reach_monitor_add_observer(what.get(), queue_.get(), call, new closure(std::move(changed)),
                                         detail::destroy<closure>))
    {
        detail::check(id_ != 0, "reach_monitor_add_observer");
    }

    observer(observer &&other) noexcept : queue_(std::move(other.queue_)), id_(std::exchange(other.id_, 0)) {}
    observer &operator=(observer &&other) noexcept
    {
        end();
        queue_ = std::move(other.queue_);
        id_ = std::exchange(other.id_, 0);
        return *this;
    }
    ~observer() { end(); }

private:
    static void call(reach_monitor *, reach_status status, reach_status previous, const char *host, void *info) noexcept
    {
        (*static_cast<closure *>(info))(status, previous, host);
    }

    void end() noexcept
    {
        if (std::uint64_t id = std::exchange(id_, 0)) {
            reach_monitor_remove_observer(id);
            reach_queue_flush(queue_.get());
        }
    }

    queue queue_;
    std::uint64_t id_;
};

} // namespace reach

#endif // REACH_HPP
