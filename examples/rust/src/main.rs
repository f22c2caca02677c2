// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// libreach for Rust, without a crate: the module reach is to be copied, with build.rs. Below it a program that shows it:
//
//     cargo run

/// Am I online, can I reach this host, and tell me when that changes.
mod reach {
    use std::ffi::{c_void, CString};
    use std::fmt;
    use std::io;
    use std::os::raw::c_char;
    use std::ptr::{null_mut, NonNull};

    /// What is exported by the library, as <reach.h> has it.
    mod c {
        use super::*;

        #[repr(C)]
        pub struct Target {
            _opaque: [u8; 0],
        }
        #[repr(C)]
        pub struct Queue {
            _opaque: [u8; 0],
        }
        pub type Callback = extern "C" fn(*mut Target, u32, *mut c_void);
        pub type Release = extern "C" fn(*mut c_void);

        extern "C" {
            pub fn reach_create_with_name(name: *const c_char) -> *mut Target;
            pub fn reach_release(target: *mut Target);
            pub fn reach_get_flags(target: *mut Target, flags: *mut u32) -> bool;
            pub fn reach_is_online() -> bool;
            pub fn reach_flags_is_online(flags: u32) -> bool;
            pub fn reach_flags_describe(flags: u32, buffer: *mut c_char, size: usize) -> usize;
            pub fn reach_queue_create(label: *const c_char) -> *mut Queue;
            pub fn reach_queue_flush(queue: *mut Queue) -> bool;
            pub fn reach_queue_release(queue: *mut Queue);
            pub fn reach_set_callback(
                target: *mut Target,
                callback: Option<Callback>,
                info: *mut c_void,
                release: Option<Release>,
            ) -> bool;
            pub fn reach_set_queue(target: *mut Target, queue: *mut Queue) -> bool;
        }
    }

    /// A set of flags, as libreach gave it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Flags(pub u32);

    impl Flags {
        /// Reachable, and no connection is required first.
        pub fn is_online(self) -> bool {
            unsafe { c::reach_flags_is_online(self.0) }
        }
    }

    impl fmt::Display for Flags {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            let mut text = [0u8; 256];
            let length = unsafe { c::reach_flags_describe(self.0, text.as_mut_ptr().cast(), text.len()) };
            formatter.write_str(&String::from_utf8_lossy(&text[..length.min(text.len() - 1)]))
        }
    }

    /// Is there a path to the internet at large?
    pub fn is_online() -> io::Result<bool> {
        let online = unsafe { c::reach_is_online() };
        let error = io::Error::last_os_error();
        // A "no" of the kernel's is not an error: errno is 0 then.
        if online || error.raw_os_error() == Some(0) {
            Ok(online)
        } else {
            Err(error)
        }
    }

    /// Success, or the error that errno stands for. To be called right after the library.
    fn check(succeeded: bool) -> io::Result<()> {
        if succeeded {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// A host name or an address in text; "0.0.0.0" is the internet at large.
    pub struct Target(NonNull<c::Target>);

    // Every function of the library may be called from any thread.
    unsafe impl Send for Target {}
    unsafe impl Sync for Target {}

    impl Target {
        pub fn new(name: &str) -> io::Result<Target> {
            let name = CString::new(name)?;
            let target = unsafe { c::reach_create_with_name(name.as_ptr()) };
            NonNull::new(target).map(Target).ok_or_else(io::Error::last_os_error)
        }

        /// The answer now. Never waits, never sends a packet, never looks a name up.
        pub fn flags(&self) -> io::Result<Flags> {
            let mut flags = 0;
            check(unsafe { c::reach_get_flags(self.0.as_ptr(), &mut flags) })?;
            Ok(Flags(flags))
        }

        /// Calls a function on a thread of the library's for every change, until the watch is dropped.
        pub fn watch<F: FnMut(Flags) + Send + 'static>(self, changed: F) -> io::Result<Watch> {
            let queue = unsafe { c::reach_queue_create(null_mut()) };
            let queue = NonNull::new(queue).ok_or_else(io::Error::last_os_error)?;
            let watch = Watch { target: self, queue };
            // The box belongs to the library from here on, also when the call fails: released gets it back once.
            let info = Box::into_raw(Box::new(changed)).cast();
            let target = watch.target.0.as_ptr();
            check(unsafe { c::reach_set_callback(target, Some(call::<F>), info, Some(released::<F>)) })?;
            check(unsafe { c::reach_set_queue(target, queue.as_ptr()) })?;
            Ok(watch)
        }
    }

    impl Drop for Target {
        fn drop(&mut self) {
            unsafe { c::reach_release(self.0.as_ptr()) }
        }
    }

    extern "C" fn call<F: FnMut(Flags)>(_target: *mut c::Target, flags: u32, info: *mut c_void) {
        // Calls of one queue never overlap, so this is the only reference. A panic must not go on into C.
        let changed = unsafe { &mut *info.cast::<F>() };
        let call = std::panic::AssertUnwindSafe(|| changed(Flags(flags)));
        if std::panic::catch_unwind(call).is_err() {
            std::process::abort();
        }
    }

    extern "C" fn released<F>(info: *mut c_void) {
        drop(unsafe { Box::from_raw(info.cast::<F>()) });
    }

    /// A function that is called for every change. Dropping the watch ends it: no call is running or comes after that.
    pub struct Watch {
        target: Target,
        queue: NonNull<c::Queue>,
    }

    unsafe impl Send for Watch {}
    unsafe impl Sync for Watch {}

    impl Watch {
        pub fn target(&self) -> &Target {
            &self.target
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            unsafe {
                c::reach_set_queue(self.target.0.as_ptr(), null_mut());
                c::reach_queue_flush(self.queue.as_ptr());
                c::reach_queue_release(self.queue.as_ptr());
            }
        }
    }
}

fn main() -> std::io::Result<()> {
    println!("online: {}", if reach::is_online()? { "yes" } else { "no" });
    println!("localhost: {}", reach::Target::new("localhost")?.flags()?);
    match reach::Target::new("") {
        Ok(_) => println!("error: none"),
        Err(error) => println!("error: {error} ({:?})", error.kind()),
    }

    let (sender, receiver) = std::sync::mpsc::channel();
    let watch = reach::Target::new("0.0.0.0")?.watch(move |flags| {
        println!("change: {flags}");
        let _ = sender.send(flags.is_online());
    })?;
    println!("ready");

    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let now = watch.target().flags()?;
    drop(watch);
    // The closure is freed with its watch, and the channel ends with the closure: this loop would wait for ever if not.
    let last = receiver.iter().last();
    assert!(last.is_none() || last == Some(now.is_online()));
    println!("closed");

    std::io::stdin().read_line(&mut line)?;
    println!("bye");
    Ok(())
}
