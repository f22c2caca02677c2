#!/usr/bin/env php
<?php
// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

declare(strict_types=1);

namespace Reach;

use FFI;

/*
 * libreach for PHP 8, over its FFI extension: one file to copy.
 *
 *     if (Reach\online()) ...
 *     echo (new Reach\Target('localhost'))->flags();
 *     $watch = new Reach\Watch('0.0.0.0');                       // the internet at large
 *     // When $watch->stream() is readable, in stream_select or any loop that takes streams:
 *     foreach ($watch->changes() as $flags) echo $flags->online() ? 'on' : 'off';
 *
 * Failures are thrown as Reach\Error, with errno as the code. Changes are read as data, because PHP can be called back
 * on its own thread alone. Everything is freed when it goes out of scope, or by close.
 *
 * Run as a program, it shows this until it is told to end: php reach.php
 */

/** What errno says, with its number as the code: 22 is EINVAL. */
final class Error extends \RuntimeException
{
    public static function last(string $what): self
    {
        $code = Library::$libc->__errno_location()[0];
        return new self("$what: " . FFI::string(Library::$libc->strerror($code)), $code);
    }
}

/** The functions of the library, and of the C library what leads to errno. */
final class Library
{
    public static FFI $reach;
    public static FFI $libc;

    public static function load(): void
    {
        self::$libc = FFI::cdef('int *__errno_location(void); char *strerror(int number);');
        self::$reach = FFI::cdef(<<<'C'
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
            C, 'libreach.so.1');
    }
}

Library::load();

/** A set of flags, as the library gave it. */
final class Flags
{
    public function __construct(public readonly int $bits)
    {
    }

    /** Reachable, and no connection required first. */
    public function online(): bool
    {
        return Library::$reach->reach_flags_is_online($this->bits);
    }

    public function __toString(): string
    {
        $buffer = Library::$reach->new('char[256]');
        Library::$reach->reach_flags_describe($this->bits, $buffer, 256);
        return FFI::string($buffer);
    }
}

/** Is there a path to the internet at large? */
function online(): bool
{
    $online = Library::$reach->reach_is_online();
    if (!$online && Library::$libc->__errno_location()[0] !== 0) {
        throw Error::last('reach_is_online');
    }
    return $online;
}

/** A host name or an address in text; '0.0.0.0' is the internet at large. */
class Target
{
    protected ?FFI\CData $pointer;

    public function __construct(string $name)
    {
        $this->pointer = Library::$reach->reach_create_with_name($name) ?? throw Error::last("reach target '$name'");
    }

    public function __destruct()
    {
        $this->close();
    }

    /** The answer now. Never waits, never sends a packet, never looks a name up. */
    public function flags(): Flags
    {
        $bits = Library::$reach->new('uint32_t');
        if (!Library::$reach->reach_get_flags($this->pointer, FFI::addr($bits))) {
            throw Error::last('reach_get_flags');
        }
        return new Flags($bits->cdata);
    }

    /** Frees the target, and may be called more than once. */
    public function close(): void
    {
        Library::$reach->reach_release($this->pointer ?? null);
        $this->pointer = null;
    }
}

/** The changes of a target, from now on until it is closed or goes out of scope. */
final class Watch extends Target
{
    private ?FFI\CData $queue = null;
    /** @var resource */
    private $stream;

    public function __construct(string $name)
    {
        parent::__construct($name);
        $this->queue = Library::$reach->reach_queue_create_manual() ?? throw Error::last('reach_queue_create_manual');
        if (!Library::$reach->reach_set_queue($this->pointer, $this->queue)) {
            throw Error::last('reach_set_queue');
        }
        // A duplicate of the descriptor: closing the stream leaves the queue its own.
        $this->stream = fopen('php://fd/' . Library::$reach->reach_queue_fd($this->queue), 'r');
    }

    /**
     * For stream_select: readable when there may be changes.
     *
     * @return resource
     */
    public function stream()
    {
        return $this->stream;
    }

    /**
     * The changes that are there; it never waits. A closed watch has none.
     *
     * @return \Generator<Flags>
     */
    public function changes(): \Generator
    {
        $target = Library::$reach->new('reach_target *');
        $bits = Library::$reach->new('uint32_t');
        while ($this->queue !== null) {
            $found = Library::$reach->reach_queue_next($this->queue, 0, FFI::addr($target), FFI::addr($bits));
            if ($found < 0) {
                throw Error::last('reach_queue_next');
            }
            if ($found === 0) {
                return;
            }
            yield new Flags($bits->cdata);
        }
    }

    public function close(): void
    {
        if ($this->queue !== null) {
            Library::$reach->reach_set_queue($this->pointer, null);
            Library::$reach->reach_queue_release($this->queue);
            $this->queue = null;
        }
        parent::close();
    }
}

if (realpath($_SERVER['SCRIPT_FILENAME']) !== __FILE__) {
    return;
}

echo 'online: ', online() ? 'yes' : 'no', "\n";
echo 'localhost: ', (new Target('localhost'))->flags(), "\n";
try {
    new Target('');
} catch (Error $error) {
    echo 'error: ', $error->getMessage(), ' (', $error->getCode(), ")\n";
}

$watch = new Watch('0.0.0.0');
gc_collect_cycles();
echo "ready\n";
do {
    $readable = [STDIN, $watch->stream()];
    $none = null;
    stream_select($readable, $none, $none, null);
    foreach ($watch->changes() as $flags) {
        echo "change: $flags\n";
    }
} while (!in_array(STDIN, $readable, true));

fgets(STDIN);
$watch->close();
if (iterator_count($watch->changes()) !== 0) {
    exit(1);
}
unset($watch);
gc_collect_cycles();
echo "closed\n";

stream_get_contents(STDIN);
echo "bye\n";
