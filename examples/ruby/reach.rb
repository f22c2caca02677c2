#!/usr/bin/env ruby
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
# frozen_string_literal: true

require 'fiddle'
require 'fiddle/import'
require 'io/wait'

# libreach for Ruby: one module to copy, over Fiddle, which comes with Ruby.
#
#     require_relative 'reach'
#
#     puts Reach::Flags.of('localhost') if Reach.online?
#     Reach::Watch.open('0.0.0.0') do |watch|          # the internet at large
#       watch.each { |flags| p flags.online?, flags.to_s }
#     end
#
# Failures are the SystemCallError that errno stands for: Errno::EINVAL and so on. Changes are read as data, because a
# callback from another thread than Ruby's is not possible; watch.to_io goes into IO.select or any loop.
#
# Run as a program, it shows this until it is told to end: ruby reach.rb
module Reach
  # The functions of the library. Fiddle keeps errno of the last call for each thread, which Fiddle.last_error reads. A
  # bool of C is one byte, and Fiddle has no name for it: a char that is not 0.
  module C
    extend Fiddle::Importer
    dlload 'libreach.so.1'
    extern 'void *reach_create_with_name(const char *)'
    extern 'void reach_release(void *)'
    extern 'char reach_get_flags(void *, void *)'
    extern 'char reach_is_online()'
    extern 'char reach_flags_is_online(unsigned int)'
    extern 'size_t reach_flags_describe(unsigned int, void *, size_t)'
    extern 'char reach_set_queue(void *, void *)'
    extern 'void *reach_queue_create_manual()'
    extern 'int reach_queue_fd(void *)'
    extern 'int reach_queue_next(void *, int, void *, void *)'
    extern 'void reach_queue_release(void *)'
  end
  private_constant :C

  # Raises the Errno:: that the last call left.
  def self.raise_errno(what)
    raise SystemCallError.new(what, Fiddle.last_error)
  end

  # Is there a path to the internet at large?
  def self.online?
    return true unless C.reach_is_online.zero?

    raise_errno('reach_is_online') unless Fiddle.last_error.zero?
    false
  end

  # A set of flags, as the library gave it.
  Flags = Struct.new(:bits) do
    # The answer for a host name or an address in text, now. Never waits, never sends a packet, never looks a name up.
    def self.of(name)
      target = Target.new(name)
      target.flags
    ensure
      target&.close
    end

    # Reachable, and no connection required first.
    def online?
      !C.reach_flags_is_online(bits).zero?
    end

    def to_s
      buffer = Fiddle::Pointer.malloc(256, Fiddle::RUBY_FREE)
      C.reach_flags_describe(bits, buffer, buffer.size)
      buffer.to_s
    end
  end

  # A host name or an address in text; '0.0.0.0' is the internet at large.
  class Target
    def initialize(name)
      @pointer = C.reach_create_with_name(String(name))
      Reach.raise_errno("reach_create_with_name(#{name.inspect})") if @pointer.null?
      ObjectSpace.define_finalizer(self, self.class.finalizer(@owned = [@pointer]))
    end

    # The answer now.
    def flags
      raise IOError, 'closed target' if closed?

      bits = Fiddle::Pointer.malloc(Fiddle::SIZEOF_INT, Fiddle::RUBY_FREE)
      Reach.raise_errno('reach_get_flags') if C.reach_get_flags(@pointer, bits).zero?
      Flags.new(bits[0, Fiddle::SIZEOF_INT].unpack1('L'))
    end

    # Frees the target, and may be called more than once.
    def close
      self.class.free(@owned)
    end

    def closed?
      @owned.empty?
    end

    # What a finalizer may refer to: the pointers, but not the object.
    def self.finalizer(owned)
      proc { free(owned) }
    end

    # Frees what is owned: the target, and of a watch the queue.
    def self.free(owned)
      target, queue = owned.slice!(0..)
      C.reach_set_queue(target, nil) if queue
      C.reach_release(target) if target
      C.reach_queue_release(queue) if queue
    end
  end

  # The changes of a target, from now on until it is closed.
  class Watch < Target
    include Enumerable

    # As File.open: with a block, the watch is closed at its end.
    def self.open(name)
      watch = new(name)
      return watch unless block_given?

      begin
        yield watch
      ensure
        watch.close
      end
    end

    def initialize(name)
      super
      queue = C.reach_queue_create_manual
      Reach.raise_errno('reach_queue_create_manual') if queue.null?
      @owned << queue
      Reach.raise_errno('reach_set_queue') if C.reach_set_queue(@pointer, queue).zero?
      # The descriptor stays the queue's: it is not to be closed with this object.
      @io = IO.for_fd(C.reach_queue_fd(queue), autoclose: false)
      @changed = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
      @bits = Fiddle::Pointer.malloc(Fiddle::SIZEOF_INT, Fiddle::RUBY_FREE)
    end

    # For IO.select: readable when there may be a change.
    def to_io
      @io
    end

    # The next change that is there, or nil; it never waits.
    def next_change
      return if closed?

      found = C.reach_queue_next(@owned.last, 0, @changed, @bits)
      Reach.raise_errno('reach_queue_next') if found.negative?
      Flags.new(@bits[0, Fiddle::SIZEOF_INT].unpack1('L')) if found == 1
    end

    # Every change, as it comes, until the watch is closed.
    def each
      return to_enum unless block_given?

      until closed?
        flags = next_change
        flags ? yield(flags) : @io.wait_readable
      end
    end
  end
end

if __FILE__ == $PROGRAM_NAME
  $stdout.sync = true
  puts "online: #{Reach.online? ? 'yes' : 'no'}"
  puts "localhost: #{Reach::Flags.of('localhost')}"
  begin
    Reach::Target.new('')
  rescue Errno::EINVAL => e
    puts "error: #{e.message} (#{e.class})"
  end

  Reach::Watch.open('0.0.0.0') do |watch|
    GC.start
    puts 'ready'
    until IO.select([$stdin, watch]).first.include?($stdin)
      while (flags = watch.next_change)
        puts "change: #{flags}"
      end
    end
    $stdin.gets
  end
  GC.start
  puts 'closed'

  $stdin.read
  puts 'bye'
end
