// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// Libreach for Go, through cgo: what stands above main is to be copied. It needs pkg-config and a C compiler to build:
//
//	go run .
package main

/*
#cgo pkg-config: libreach
#include <reach.h>
#include <stdint.h>
#include <stdlib.h>

// What is exported to C below. A closure is known to C by the number of its handle, which never becomes a Go pointer.
void reachChanged(reach_flags flags, uintptr_t handle);
void reachReleased(uintptr_t handle);

static inline void changed(reach_target *target, reach_flags flags, void *info)
{
	reachChanged(flags, (uintptr_t)info);
}

static inline void released(void *info)
{
	reachReleased((uintptr_t)info);
}

static inline bool set_handle(reach_target *target, uintptr_t handle)
{
	return reach_set_callback(target, changed, (void *)handle, released);
}
*/
import "C"

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/cgo"
	"sync"
	"syscall"
	"unsafe"
)

// Flags is a set of REACH_FLAG_ bits.
type Flags uint32

// Online tells whether flags mean reachable, with no connection required first.
func (flags Flags) Online() bool {
	return bool(C.reach_flags_is_online(C.reach_flags(flags)))
}

func (flags Flags) String() string {
	var text [256]C.char
	C.reach_flags_describe(C.reach_flags(flags), &text[0], C.size_t(len(text)))
	return C.GoString(&text[0])
}

// Online tells whether there is a path to the internet at large.
func Online() (bool, error) {
	online, err := C.reach_is_online()
	if bool(online) {
		return true, nil // errno says something of failures only
	}
	return false, wrap("reach_is_online", err)
}

// Target is a host name or an address in text; "0.0.0.0" is the internet at large.
type Target struct {
	pointer *C.reach_target
}

// NewTarget makes a target, which is freed when it is collected.
func NewTarget(name string) (*Target, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	pointer, err := C.reach_create_with_name(text)
	if pointer == nil {
		return nil, wrap(fmt.Sprintf("target %q", name), err)
	}
	target := &Target{pointer}
	runtime.SetFinalizer(target, func(target *Target) { C.reach_release(target.pointer) })
	return target, nil
}

// Flags is the answer now. It never waits, never sends a packet, never looks a name up.
func (target *Target) Flags() (Flags, error) {
	defer runtime.KeepAlive(target)
	var flags C.reach_flags
	if succeeded, err := C.reach_get_flags(target.pointer, &flags); !succeeded {
		return 0, wrap("reach_get_flags", err)
	}
	return Flags(flags), nil
}

// Watch calls a function for every change of a target, until it is closed.
type Watch struct {
	*Target
	queue *C.reach_queue
	once  sync.Once
}

// NewWatch begins to call changed for every change, one call at a time, on a thread of the library's.
func NewWatch(name string, changed func(Flags)) (*Watch, error) {
	target, err := NewTarget(name)
	if err != nil {
		return nil, err
	}
	queue, err := C.reach_queue_create(nil)
	if queue == nil {
		return nil, wrap("reach_queue_create", err)
	}
	watch := &Watch{Target: target, queue: queue}
	// The handle keeps changed from being collected, until reachReleased deletes it; also when this fails.
	if succeeded, err := C.set_handle(target.pointer, C.uintptr_t(cgo.NewHandle(changed))); !succeeded {
		watch.Close()
		return nil, wrap("reach_set_callback", err)
	}
	if succeeded, err := C.reach_set_queue(target.pointer, queue); !succeeded {
		watch.Close()
		return nil, wrap("reach_set_queue", err)
	}
	return watch, nil
}

// Close ends the watch: no call is running or comes after it returned, unless it was called from inside one.
func (watch *Watch) Close() error {
	watch.once.Do(func() {
		C.reach_set_queue(watch.pointer, nil)
		C.reach_queue_flush(watch.queue)
		C.reach_set_callback(watch.pointer, nil, nil, nil)
		C.reach_queue_release(watch.queue)
		runtime.KeepAlive(watch.Target)
	})
	return nil
}

//export reachChanged
func reachChanged(flags C.reach_flags, handle C.uintptr_t) {
	cgo.Handle(handle).Value().(func(Flags))(Flags(flags))
}

//export reachReleased
func reachReleased(handle C.uintptr_t) {
	cgo.Handle(handle).Delete()
}

// wrap names what failed. The error stays comparable: errors.Is(err, syscall.EINVAL).
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	online, err := Online()
	if err != nil {
		return err
	}
	fmt.Printf("online: %s\n", map[bool]string{true: "yes", false: "no"}[online])

	localhost, err := NewTarget("localhost")
	if err != nil {
		return err
	}
	flags, err := localhost.Flags()
	if err != nil {
		return err
	}
	fmt.Printf("localhost: %v\n", flags)

	if _, err = NewTarget(""); !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("an empty name gave %v", err)
	}
	fmt.Printf("error: %v\n", err)

	watch, err := NewWatch("0.0.0.0", func(flags Flags) { fmt.Printf("change: %v\n", flags) })
	if err != nil {
		return err
	}
	defer watch.Close()
	runtime.GC() // nothing of Go's refers to the function now, and it lives
	fmt.Println("ready")

	input := bufio.NewScanner(os.Stdin)
	input.Scan()
	watch.Close()
	runtime.GC() // and now it is gone, and nobody calls it
	fmt.Println("closed")

	for input.Scan() {
	}
	fmt.Println("bye")
	return nil
}
