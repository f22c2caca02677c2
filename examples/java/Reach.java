// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ref.Cleaner;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * libreach for Java, over JNI, which every JDK has: this file and reach_jni.c are to be copied.
 *
 * <pre>
 * if (Reach.online()) ...
 * try (Reach.Target localhost = new Reach.Target("localhost")) { System.out.println(localhost.flags()); }
 * try (Reach.Watch watch = new Reach.Watch("0.0.0.0", flags -&gt; ...)) { ... }         // the internet at large
 * </pre>
 *
 * What EINVAL stands for is an IllegalArgumentException, every other failure an IOException.
 *
 * Run as a program, it shows this until it is told to end: java -Djava.library.path=. Reach
 */
public final class Reach {
    static {
        System.loadLibrary("reach_jni");
    }

    private static final Cleaner CLEANER = Cleaner.create();

    private Reach() {
    }

    /** Is there a path to the internet at large? */
    public static native boolean online() throws IOException;

    private static native boolean isOnline(int flags);

    private static native String describe(int flags);

    private static native long createTarget(String name);

    private static native int getFlags(long target) throws IOException;

    private static native void releaseTarget(long target);

    private static native long startWatch(long target, Consumer<Flags> listener) throws IOException;

    private static native void endWatch(long target, long queue);

    /** Called by the library's thread, through reach_jni.c. Nothing is thrown into it. */
    private static void deliver(Consumer<Flags> listener, int bits) {
        try {
            listener.accept(new Flags(bits));
        } catch (Throwable thrown) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
        }
    }

    /** A set of flags, as the library gave it. */
    public record Flags(int bits) {
        /** Reachable, and no connection required first. */
        public boolean online() {
            return isOnline(bits);
        }

        @Override
        public String toString() {
            return describe(bits);
        }
    }

    /** A host name or an address in text; "0.0.0.0" is the internet at large. */
    public static final class Target implements AutoCloseable {
        private final Cleaner.Cleanable cleanable;
        private long pointer;

        public Target(String name) {
            long created = createTarget(Objects.requireNonNull(name));
            pointer = created;
            cleanable = CLEANER.register(this, () -> releaseTarget(created));
        }

        /** The answer now. Never waits, never sends a packet, never looks a name up. */
        public synchronized Flags flags() throws IOException {
            return new Flags(getFlags(pointer));
        }

        /** Frees the target. It may be called more than once. */
        @Override
        public synchronized void close() {
            pointer = 0;
            cleanable.clean();
        }
    }

    /** Calls a listener on a thread of the library's for every change, one call at a time, until it is closed. */
    public static final class Watch implements AutoCloseable {
        private final Cleaner.Cleanable cleanable;

        public Watch(String name, Consumer<Flags> listener) throws IOException {
            Objects.requireNonNull(listener);
            long target = createTarget(Objects.requireNonNull(name));
            long queue;
            try {
                queue = startWatch(target, listener);
            } catch (IOException | RuntimeException failure) {
                releaseTarget(target);
                throw failure;
            }
            cleanable = CLEANER.register(this, () -> endWatch(target, queue));
        }

        /**
         * Ends the watch. No call is running or comes after this returned, unless it was called by the listener, which
         * then is the last. It may be called more than once.
         */
        @Override
        public void close() {
            cleanable.clean();
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.out.println("online: " + (online() ? "yes" : "no"));
        try (Target localhost = new Target("localhost")) {
            System.out.println("localhost: " + localhost.flags());
        }
        try (Target nothing = new Target("")) {
            throw new AssertionError(nothing);
        } catch (IllegalArgumentException exception) {
            System.out.println("error: " + exception);
        }

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        try (Watch watch = new Watch("0.0.0.0", flags -> System.out.println("change: " + flags))) {
            System.gc(); // nothing of Java's refers to the listener now, and it lives
            System.out.println("ready");
            input.readLine();
        }
        System.gc(); // and now it is gone, and nobody calls it
        System.out.println("closed");

        while (input.readLine() != null) {
            // Whatever is typed is of no interest.
        }
        System.out.println("bye");
    }
}
