#!/usr/bin/env perl
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# libreach for Perl, over FFI::Platypus: the packages above the program are to be copied.
#
#     print "online\n" if Reach::online();
#     print Reach::Target->new('localhost')->flags;
#     my $watch = Reach::Watch->new('0.0.0.0');             # the internet at large
#     # When descriptor $watch->fd is readable, in select or any loop:
#     while (defined(my $flags = $watch->next_change)) { print $flags->online, " $flags\n" }
#
# Failures die with what errno says; $! is set, so that $!{EINVAL} tells which it was. Changes are read as data, because
# Perl can be called back on its own thread alone. Everything is freed when it goes out of scope, or by close.
#
# Run as a program, it shows this until it is told to end: perl reach.pl

use strict;
use warnings;

package Reach;

use Carp qw(croak);
use Errno ();
use FFI::Platypus 2.00;

my $ffi = FFI::Platypus->new(api => 2, lib => ['libreach.so.1']);
$ffi->attach(reach_create_with_name    => ['string'] => 'opaque');
$ffi->attach(reach_release             => ['opaque'] => 'void');
$ffi->attach(reach_get_flags           => ['opaque', 'uint32*'] => 'bool');
$ffi->attach(reach_is_online           => [] => 'bool');
$ffi->attach(reach_flags_is_online     => ['uint32'] => 'bool');
$ffi->attach(reach_flags_describe      => ['uint32', 'opaque', 'size_t'] => 'size_t');
$ffi->attach(reach_set_queue           => ['opaque', 'opaque'] => 'bool');
$ffi->attach(reach_queue_create_manual => [] => 'opaque');
$ffi->attach(reach_queue_fd            => ['opaque'] => 'int');
$ffi->attach(reach_queue_next          => ['opaque', 'int', 'opaque*', 'uint32*'] => 'int');
$ffi->attach(reach_queue_release       => ['opaque'] => 'void');

# Is there a path to the internet at large?
sub online {
    return 1 if reach_is_online();
    croak "reach_is_online: $!" if $! != 0;
    return 0;
}

# A set of flags, as the library gave it: bits, online, and words when used as a string.
package Reach::Flags;

use FFI::Platypus::Buffer qw(scalar_to_pointer);
use overload '""' => \&words, 'bool' => sub { 1 }, fallback => 1;

sub new { my ($class, $bits) = @_; return bless \$bits, $class }
sub bits { my ($self) = @_; return ${$self} }

# Reachable, and no connection required first.
sub online { my ($self) = @_; return Reach::reach_flags_is_online(${$self}) }

sub words {
    my ($self) = @_;
    my $buffer = "\0" x 256;
    my $length = Reach::reach_flags_describe(${$self}, scalar_to_pointer($buffer), length $buffer);
    return substr $buffer, 0, $length;
}

# A host name or an address in text; '0.0.0.0' is the internet at large.
package Reach::Target;

use Carp qw(croak);

sub new {
    my ($class, $name) = @_;
    my $pointer = Reach::reach_create_with_name($name) // croak "reach target '$name': $!";
    return bless {target => $pointer}, $class;
}

# The answer now. Never waits, never sends a packet, never looks a name up.
sub flags {
    my ($self) = @_;
    my $bits = 0;
    Reach::reach_get_flags($self->{target}, \$bits) or croak "reach_get_flags: $!";
    return Reach::Flags->new($bits);
}

# Frees the target, and may be called more than once.
sub close {
    my ($self) = @_;
    Reach::reach_release(delete $self->{target});
    return;
}

sub DESTROY {
    my ($self) = @_;
    local ($@, $!, $?);
    $self->close if ${^GLOBAL_PHASE} ne 'DESTRUCT';
    return;
}

# The changes of a target, from now on until it is closed or goes out of scope.
package Reach::Watch;

use parent -norequire, 'Reach::Target';
use Carp qw(croak);

sub new {
    my ($class, $name) = @_;
    my $self = $class->SUPER::new($name);
    my $queue = Reach::reach_queue_create_manual() // croak "reach_queue_create_manual: $!";
    if (!Reach::reach_set_queue($self->{target}, $queue)) {
        my $why = "$!";
        Reach::reach_queue_release($queue);
        croak "reach_set_queue: $why";
    }
    $self->{queue} = $queue;
    return $self;
}

# The descriptor that is readable when there may be changes. It stays the queue's: no handle is to be made of it that
# would close it.
sub fd { my ($self) = @_; return Reach::reach_queue_fd($self->{queue}) }

# The next change that is there, or nothing; it never waits. A closed watch has none.
sub next_change {
    my ($self) = @_;
    return if !defined $self->{queue};
    my ($target, $bits) = (undef, 0);
    my $found = Reach::reach_queue_next($self->{queue}, 0, \$target, \$bits);
    croak "reach_queue_next: $!" if $found < 0;
    return $found ? Reach::Flags->new($bits) : ();
}

sub close {
    my ($self) = @_;
    if (defined(my $queue = delete $self->{queue})) {
        Reach::reach_set_queue($self->{target}, undef);
        Reach::reach_queue_release($queue);
    }
    return $self->SUPER::close;
}

package main;

sub main {
    $| = 1;
    print 'online: ', (Reach::online() ? 'yes' : 'no'), "\n";
    print 'localhost: ', Reach::Target->new('localhost')->flags, "\n";
    eval { Reach::Target->new('') } or print 'error: ', ($!{EINVAL} ? 'EINVAL, ' : ''), $@;

    my $watch = Reach::Watch->new('0.0.0.0');
    print "ready\n";
    while (1) {
        vec(my $readable = '', fileno(STDIN), 1) = 1;
        vec($readable, $watch->fd, 1) = 1;
        select($readable, undef, undef, undef) >= 0 or die "select: $!";
        while (defined(my $flags = $watch->next_change)) {
            print "change: $flags\n";
        }
        last if vec($readable, fileno(STDIN), 1);
    }

    readline STDIN;
    $watch->close;
    die 'a closed watch has changes' if defined $watch->next_change;
    undef $watch;
    print "closed\n";

    1 while readline STDIN;
    print "bye\n";
    return;
}

main() unless caller;
1;
