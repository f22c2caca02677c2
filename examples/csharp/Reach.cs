// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// libreach for C#, over P/Invoke: the namespace Reach is to be copied. It needs nothing but mscorlib and libreach.so.1.
//
//     if (Internet.Online) ...
//     using (var localhost = new Target("localhost")) Console.WriteLine(localhost.Flags.Describe());
//     using (var watch = new Watch("0.0.0.0", flags => ...)) ...                            // the internet at large
//
// What EINVAL stands for is an ArgumentException, every other failure an IOException with errno as its HResult.
//
// Run as a program, it shows this until it is told to end: mcs Reach.cs && mono Reach.exe

using System;
using System.IO;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Microsoft.Win32.SafeHandles;
using Reach;

namespace Reach
{
    /// <summary>The flags of an answer, as REACH_FLAG_ in reach.h.</summary>
    [Flags]
    public enum ReachFlags : uint
    {
        None = 0,
        TransientConnection = 1 << 0,
        Reachable = 1 << 1,
        ConnectionRequired = 1 << 2,
        ConnectionOnTraffic = 1 << 3,
        InterventionRequired = 1 << 4,
        ConnectionOnDemand = 1 << 5,
        IsLocalAddress = 1 << 16,
        IsDirect = 1 << 17,
        IsWwan = 1 << 18,
    }

    public static class ReachFlagsExtensions
    {
        /// <summary>Reachable, and no connection required first.</summary>
        public static bool IsOnline(this ReachFlags flags)
        {
            return Native.reach_flags_is_online(flags);
        }

        /// <summary>The flags in words.</summary>
        public static string Describe(this ReachFlags flags)
        {
            var text = new byte[256];
            var length = (int)Native.reach_flags_describe(flags, text, (UIntPtr)text.Length);
            return Encoding.ASCII.GetString(text, 0, Math.Min(length, text.Length - 1));
        }
    }

    public static class Internet
    {
        /// <summary>Is there a path to the internet at large?</summary>
        public static bool Online
        {
            get
            {
                if (Native.reach_is_online())
                    return true;
                if (Marshal.GetLastWin32Error() != 0)
                    throw Native.Failure("reach_is_online", null);
                return false;
            }
        }
    }

    /// <summary>A host name or an address in text; "0.0.0.0" is the internet at large.</summary>
    public sealed class Target : IDisposable
    {
        readonly TargetHandle handle;

        public Target(string name)
        {
            handle = TargetHandle.Create(name);
        }

        /// <summary>The answer now. Never waits, never sends a packet, never looks a name up.</summary>
        public ReachFlags Flags
        {
            get
            {
                ReachFlags flags;
                if (!Native.reach_get_flags(handle, out flags))
                    throw Native.Failure("reach_get_flags", null);
                return flags;
            }
        }

        public void Dispose()
        {
            handle.Dispose();
        }
    }

    /// <summary>
    /// Calls a function for every change, one call at a time, on a thread of its own, until it is disposed of. A
    /// function that throws ends the program, as on any thread.
    /// </summary>
    /// <remarks>
    /// The thread is C#'s and drives a manual queue. The library's own threads block every signal, and Mono stops the
    /// threads that have run C# by a signal whenever it collects: it would wait for such a thread for ever.
    /// </remarks>
    public sealed class Watch : IDisposable
    {
        readonly TargetHandle target;
        readonly QueueHandle queue;
        readonly Action<ReachFlags> changed;
        readonly Thread thread;
        ExceptionDispatchInfo thrown;
        volatile bool ended;

        public Watch(string name, Action<ReachFlags> changed)
        {
            if (changed == null)
                throw new ArgumentNullException("changed");
            this.changed = changed;
            target = TargetHandle.Create(name);
            queue = Native.reach_queue_create_manual();
            if (queue.IsInvalid)
                throw Native.Failure("reach_queue_create_manual", null);
            // The handle keeps this from being collected, until Released frees it; also when the call fails.
            var info = GCHandle.ToIntPtr(GCHandle.Alloc(this));
            if (!Native.reach_set_callback(target, Native.OnChanged, info, Native.OnReleased))
                throw Native.Failure("reach_set_callback", null);
            if (!Native.reach_set_queue(target, queue))
                throw Native.Failure("reach_set_queue", null);
            thread = new Thread(Run) { IsBackground = true, Name = "reach" };
            thread.Start();
        }

        void Run()
        {
            const int EINTR = 4;
            while (!ended)
            {
                if (Native.reach_queue_dispatch(queue, -1) < 0 && Marshal.GetLastWin32Error() != EINTR)
                    throw Native.Failure("reach_queue_dispatch", null);
                if (thrown != null)
                    thrown.Throw();
            }
        }

        /// <summary>Called by the library, through which nothing may be thrown: Run does that.</summary>
        internal void Deliver(ReachFlags flags)
        {
            try
            {
                if (!ended)
                    changed(flags);
            }
            catch (Exception exception)
            {
                thrown = ExceptionDispatchInfo.Capture(exception);
            }
        }

        /// <summary>
        /// Ends the watch: no call is running or comes after this, unless it was called from inside one, which is then
        /// the last. It may be called more than once.
        /// </summary>
        public void Dispose()
        {
            if (ended)
                return;
            ended = true;
            Native.reach_set_queue(target, QueueHandle.None);
            if (Thread.CurrentThread != thread)
            {
                // An answer that is asked for without a time is given at once, on the thread, which thereby wakes up.
                if (Native.reach_confirm(target, 0, queue, Native.OnAnswered, IntPtr.Zero, null) == 0)
                    throw Native.Failure("reach_confirm", null);
                thread.Join();
            }
            target.Dispose();
            queue.Dispose();
        }
    }

    sealed class TargetHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        TargetHandle() : base(true)
        {
        }

        public static TargetHandle Create(string name)
        {
            if (name == null)
                throw new ArgumentNullException("name");
            var handle = Native.reach_create_with_name(Encoding.UTF8.GetBytes(name + "\0"));
            if (handle.IsInvalid)
                throw Native.Failure("reach_create_with_name", "name");
            return handle;
        }

        protected override bool ReleaseHandle()
        {
            Native.reach_release(handle);
            return true;
        }
    }

    sealed class QueueHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        public static readonly QueueHandle None = new QueueHandle();

        QueueHandle() : base(true)
        {
        }

        protected override bool ReleaseHandle()
        {
            Native.reach_queue_release(handle);
            return true;
        }
    }

    /// <summary>The functions of the library. SetLastError keeps errno for Marshal.GetLastWin32Error.</summary>
    static class Native
    {
        const string Library = "libreach.so.1";

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        public delegate void Callback(IntPtr target, ReachFlags flags, IntPtr info);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        public delegate void Release(IntPtr info);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        public delegate void Answer(IntPtr target, [MarshalAs(UnmanagedType.U1)] bool online, ReachFlags flags,
                                    IntPtr info);

        // What C can call must not be collected while C can call it: these live as long as the program.
        public static readonly Callback OnChanged = Changed;
        public static readonly Answer OnAnswered = Answered;
        public static readonly Release OnReleased = Released;

        static void Changed(IntPtr target, ReachFlags flags, IntPtr info)
        {
            ((Watch)GCHandle.FromIntPtr(info).Target).Deliver(flags);
        }

        static void Answered(IntPtr target, bool online, ReachFlags flags, IntPtr info)
        {
        }

        static void Released(IntPtr info)
        {
            GCHandle.FromIntPtr(info).Free();
        }

        /// <summary>The exception that errno stands for.</summary>
        public static Exception Failure(string what, string parameter)
        {
            const int EINVAL = 22;
            var number = Marshal.GetLastWin32Error();
            var message = what + ": " + Marshal.PtrToStringAnsi(strerror(number));
            if (number == EINVAL)
                return new ArgumentException(message, parameter);
            return new IOException(message, number);
        }

        [DllImport("libc")]
        static extern IntPtr strerror(int number);

        [DllImport(Library, SetLastError = true)]
        public static extern TargetHandle reach_create_with_name(byte[] name);

        [DllImport(Library)]
        public static extern void reach_release(IntPtr target);

        [DllImport(Library, SetLastError = true)]
        [return: MarshalAs(UnmanagedType.U1)]
        public static extern bool reach_get_flags(TargetHandle target, out ReachFlags flags);

        [DllImport(Library, SetLastError = true)]
        [return: MarshalAs(UnmanagedType.U1)]
        public static extern bool reach_is_online();

        [DllImport(Library)]
        [return: MarshalAs(UnmanagedType.U1)]
        public static extern bool reach_flags_is_online(ReachFlags flags);

        [DllImport(Library)]
        public static extern UIntPtr reach_flags_describe(ReachFlags flags, byte[] buffer, UIntPtr size);

        [DllImport(Library, SetLastError = true)]
        public static extern QueueHandle reach_queue_create_manual();

        [DllImport(Library, SetLastError = true)]
        public static extern int reach_queue_dispatch(QueueHandle queue, int timeout);

        [DllImport(Library)]
        public static extern void reach_queue_release(IntPtr queue);

        [DllImport(Library, SetLastError = true)]
        [return: MarshalAs(UnmanagedType.U1)]
        public static extern bool reach_set_callback(TargetHandle target, Callback callback, IntPtr info,
                                                     Release release);

        [DllImport(Library, SetLastError = true)]
        [return: MarshalAs(UnmanagedType.U1)]
        public static extern bool reach_set_queue(TargetHandle target, QueueHandle queue);

        [DllImport(Library, SetLastError = true)]
        public static extern ulong reach_confirm(TargetHandle target, int timeout, QueueHandle queue, Answer callback,
                                                 IntPtr info, Release release);
    }
}

static class Program
{
    static void Main()
    {
        Console.WriteLine("online: " + (Internet.Online ? "yes" : "no"));
        using (var localhost = new Target("localhost"))
            Console.WriteLine("localhost: " + localhost.Flags.Describe());
        try
        {
            new Target("").Dispose();
        }
        catch (ArgumentException exception)
        {
            Console.WriteLine("error: " + exception.GetType() + ": " + exception.Message.Replace('\n', ' '));
        }

        using (new Watch("0.0.0.0", flags => Console.WriteLine("change: " + flags.Describe())))
        {
            Collect(); // nothing of the program's refers to the function now, and it lives
            Console.WriteLine("ready");
            Console.ReadLine();
        }
        Collect(); // and now it is gone, and nobody calls it
        Console.WriteLine("closed");

        while (Console.ReadLine() != null)
        {
            // Whatever is typed is of no interest.
        }
        Console.WriteLine("bye");
    }

    static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }
}
