#!/usr/bin/env luajit
-- SPDX-FileCopyrightText: The libreach authors
-- SPDX-License-Identifier: MIT
--
-- libreach for LuaJIT: one module to copy, over the ffi library.
--
--     local reach = require "reach"
--
--     if reach.online() then ... end
--     print(reach.target("localhost"):flags())
--     local watch = reach.watch("0.0.0.0")             -- the internet at large
--     -- When watch:fd() is readable, in whatever loop there is:
--     for flags in watch:changes() do print(flags.online, flags) end
--     watch:close()
--
-- Failures are thrown as tables with code, the errno, and message. Changes are read as data: a callback into Lua must
-- come on Lua's own thread, must not come from compiled code, and takes one of few slots. Reading knows none of that.
--
-- Run as a program, it shows this until it is told to end: luajit reach.lua

local ffi = require "ffi"
local bit = require "bit"

ffi.cdef [[
typedef struct reach_target reach_target;
typedef struct reach_queue reach_queue;
reach_target *reach_create_with_name(const char *name);
void reach_release(reach_target *target);
bool reach_get_flags(reach_target *target, uint32_t *flags);
bool reach_is_online(void);
bool reach_flags_is_online(uint32_t flags);
size_t reach_flags_describe(uint32_t flags, char *buffer, size_t size);
bool reach_set_queue(reach_target *target, reach_queue *queue);
reach_queue *reach_queue_create_manual(void);
int reach_queue_fd(reach_queue *queue);
int reach_queue_next(reach_queue *queue, int timeout_ms, reach_target **target, uint32_t *flags);
void reach_queue_release(reach_queue *queue);
char *strerror(int number);
]]

local library = ffi.load "libreach.so.1"
local reach = {}

local Error = {}
Error.__index = Error
function Error:__tostring() return self.message end

-- Throws what errno stands for. LuaJIT keeps errno of the last call, whatever the interpreter has done since.
local function fail(what)
    local code = ffi.errno()
    error(setmetatable({code = code, message = what .. ": " .. ffi.string(ffi.C.strerror(code))}, Error), 0)
end

local Flags = {}
function Flags:__index(key)
    if key == "online" then return library.reach_flags_is_online(self.bits) end
end
function Flags:__tostring()
    local size = 256
    local buffer = ffi.new("char[?]", size)
    library.reach_flags_describe(self.bits, buffer, size)
    return ffi.string(buffer)
end
function Flags.__eq(a, b) return a.bits == b.bits end

--- A set of flags: .bits, .online, and tostring for the words.
local function flags_of(bits) return setmetatable({bits = bits}, Flags) end

--- Is there a path to the internet at large?
function reach.online()
    if library.reach_is_online() then return true end
    if ffi.errno() ~= 0 then fail "reach_is_online" end
    return false
end

local Target = {}
Target.__index = Target

--- A target for a host name or an address in text. It is freed when it is collected.
function reach.target(name)
    local pointer = library.reach_create_with_name(name)
    if pointer == nil then fail("reach_create_with_name") end
    return setmetatable({pointer = ffi.gc(pointer, library.reach_release)}, Target)
end

--- The answer now. Never waits, never sends a packet, never looks a name up.
function Target:flags()
    local flags = ffi.new "uint32_t[1]"
    if not library.reach_get_flags(self.pointer, flags) then fail "reach_get_flags" end
    return flags_of(flags[0])
end

local Watch = {}
Watch.__index = Watch

-- A scheduled target keeps itself and its queue: a watch that was lost is unscheduled before its target is released.
local function unschedule(pointer)
    library.reach_set_queue(pointer, nil)
    library.reach_release(pointer)
end

--- A watch of a host name or an address in text, until it is closed or collected.
function reach.watch(name)
    local target = reach.target(name)
    local queue = library.reach_queue_create_manual()
    if queue == nil then fail "reach_queue_create_manual" end
    ffi.gc(queue, library.reach_queue_release)
    if not library.reach_set_queue(target.pointer, queue) then fail "reach_set_queue" end
    ffi.gc(target.pointer, unschedule)
    return setmetatable({target = target, queue = queue}, Watch)
end

--- The descriptor that becomes readable when there may be changes.
function Watch:fd() return library.reach_queue_fd(self.queue) end

--- The next change within so many milliseconds (0 if not given, -1 for no limit), or nil. A closed watch has none.
function Watch:next(milliseconds)
    if not self.queue then return nil end
    local target, flags = ffi.new "reach_target *[1]", ffi.new "uint32_t[1]"
    local found = library.reach_queue_next(self.queue, milliseconds or 0, target, flags)
    if found < 0 then fail "reach_queue_next" end
    if found == 1 then return flags_of(flags[0]) end
end

--- Iterates over the changes that are there.
function Watch:changes() return function() return self:next() end end

--- Ends the watch. It may be called more than once.
function Watch:close()
    if not self.queue then return end
    unschedule(ffi.gc(self.target.pointer, nil))
    library.reach_queue_release(ffi.gc(self.queue, nil))
    self.queue, self.target = nil, nil
end

if ... then return reach end

-- The program. A loop is needed, and poll is one that every system has.

ffi.cdef [[
struct pollfd { int fd; short events; short revents; };
int poll(struct pollfd *descriptors, unsigned long count, int timeout_ms);
]]
local POLLIN = 1

io.stdout:setvbuf "line"
print("online: " .. (reach.online() and "yes" or "no"))
print("localhost: " .. tostring(reach.target("localhost"):flags()))
local succeeded, failure = pcall(reach.target, "")
print("error: " .. tostring(failure) .. " (" .. tostring(failure.code) .. ")")
assert(not succeeded)

local watch = reach.watch("0.0.0.0")
collectgarbage()
print "ready"

local descriptors = ffi.new("struct pollfd[2]", {{0, POLLIN, 0}, {watch:fd(), POLLIN, 0}})
while descriptors[0].revents == 0 do
    if ffi.C.poll(descriptors, 2, -1) < 0 then fail "poll" end
    for flags in watch:changes() do print("change: " .. tostring(flags)) end
end

io.read "*l"
watch:close()
assert(watch:next() == nil)
watch = nil
collectgarbage()
collectgarbage()
print "closed"

io.read "*a"
print "bye"
