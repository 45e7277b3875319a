//! Which CPUs belong to which NPU, and binding a process to them: a safe wrapper of
//! `libcpubind.so.1`.
//!
//! ```no_run
//! # fn main() -> Result<(), cpubind::Error> {
//! let host = cpubind::Host::live(0)?;
//! let plan = host.plan(&["rules=near"])?;
//! for &device in plan.devices() {
//!     println!("{}: {:?}", device, plan.cpus(device, "main"));
//! }
//! let mut binding = cpubind::Binding::bind(&host, 0, &["npu=3"])?;
//! assert_eq!(binding.verify()?, 0);
//! # Ok(())
//! # }
//! ```
//!
//! Options are texts `key=value`: the long options of the command `cpubind` without their
//! dashes. A switch takes `yes` or `no`. The contract of each call and the codes of its errors
//! are in `cpubind_api.h`; this crate frees handles, checks nothing again and decides nothing.
//!
//! The build finds the library by `CPUBIND_LIB_DIR`, else by `pkg-config`.
#![warn(missing_docs)]

mod ffi;

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::ptr::{self, NonNull};
use std::slice;

/// Why a call failed.
pub struct Error {
    kind: Kind,
}

enum Kind {
    Library(NonNull<ffi::Error>),
    /// An argument has a NUL byte, which no text of the library can have.
    HasNul,
    NoMemory,
}

// An error of the library never changes.
unsafe impl Send for Error {}
unsafe impl Sync for Error {}

impl Error {
    /// The word by which programs decide: `"usage"`, `"too_few_cpus"`, `"gone"`.
    pub fn code(&self) -> &str {
        match &self.kind {
            Kind::Library(error) => unsafe { text(ffi::cpb_error_code(error.as_ptr())) },
            Kind::HasNul => "usage",
            Kind::NoMemory => "no_memory",
        }
    }

    /// The sentence that the command prints: what, where, why, and what to do.
    pub fn text(&self) -> &str {
        match &self.kind {
            Kind::Library(error) => unsafe { text(ffi::cpb_error_text(error.as_ptr())) },
            Kind::HasNul => "a text has a NUL byte",
            Kind::NoMemory => "there is not enough memory",
        }
    }

    /// A number of the error, such as `"need"`, `"have"`, `"npu"` or `"exit"`.
    pub fn number(&self, name: &str) -> Option<i32> {
        match &self.kind {
            Kind::Library(error) => {
                let name = CString::new(name).ok()?;
                known(unsafe { ffi::cpb_error_number(error.as_ptr(), name.as_ptr()) })
            }
            _ => None,
        }
    }

    /// The object that the command prints with `--json`.
    pub fn json(&self) -> &str {
        match &self.kind {
            Kind::Library(error) => unsafe { text(ffi::cpb_error_json(error.as_ptr())) },
            _ => "",
        }
    }
}

impl Drop for Error {
    fn drop(&mut self) {
        if let Kind::Library(error) = self.kind {
            unsafe { ffi::cpb_error_free(error.as_ptr()) }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("code", &self.code()).field("text", &self.text()).finish()
    }
}

impl std::error::Error for Error {}

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// `CPB_ABI` of the library that is loaded.
pub fn abi() -> i32 {
    unsafe { ffi::cpb_abi() }
}

/// The version of the library that is loaded, such as `"0.2.0"`.
pub fn version() -> &'static str {
    unsafe { text(ffi::cpb_version()) }
}

/// A machine: this one, a folder with its files, or bytes in memory. Any number of threads may
/// plan from one host.
pub struct Host {
    handle: NonNull<ffi::Host>,
}

// A host locks itself.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

impl Host {
    /// This host as process `pid` sees it; 0: as this process does.
    pub fn live(pid: i32) -> Result<Host> {
        made(|error| unsafe { ffi::cpb_host_live(pid, error) }).map(|handle| Host { handle })
    }

    /// A folder, or a file `NAME.host`, as `cpubind capture -o` writes it.
    pub fn folder(path: &str) -> Result<Host> {
        let path = c_text(path)?;
        made(|error| unsafe { ffi::cpb_host_folder(path.as_ptr(), error) })
            .map(|handle| Host { handle })
    }

    /// A host without any input; [`Host::put`] adds them.
    pub fn empty() -> Result<Host> {
        made(|error| unsafe { ffi::cpb_host_empty(error) }).map(|handle| Host { handle })
    }

    /// Adds or replaces an input of an empty host, such as `proc/self/status` or
    /// `cmd/npu-smi-info-m.txt`. `exit_code` is that of a command, else 0.
    pub fn put(&mut self, name: &str, bytes: &[u8], exit_code: i32) -> Result<()> {
        let name = c_text(name)?;
        counted(|error| unsafe {
            ffi::cpb_host_put(
                self.handle.as_ptr(),
                name.as_ptr(),
                bytes.as_ptr() as *const c_void,
                bytes.len(),
                exit_code,
                error,
            )
        })
        .map(|_| ())
    }

    /// The accelerators of any vendor: the JSON of `cpubind topo --json`.
    pub fn topo<T: AsRef<str>>(&self, options: &[T]) -> Result<String> {
        let options = Options::new(options)?;
        made(|error| unsafe {
            ffi::cpb_host_topo(self.handle.as_ptr(), options.as_ptr(), error)
        })
        .map(taken)
    }

    /// The plan of this host. The plan keeps nothing of the host.
    pub fn plan<T: AsRef<str>>(&self, options: &[T]) -> Result<Plan> {
        let options = Options::new(options)?;
        made(|error| unsafe {
            ffi::cpb_plan_make(self.handle.as_ptr(), options.as_ptr(), error)
        })
        .map(|handle| Plan { handle })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        unsafe { ffi::cpb_host_close(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host")
    }
}

/// Which CPUs belong to which device. A plan never changes; any number of threads may read it.
pub struct Plan {
    handle: NonNull<ffi::Plan>,
}

// A plan never changes.
unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

impl Plan {
    /// The devices that have a pool, ascending.
    pub fn devices(&self) -> &[i32] {
        let mut devices = ptr::null();
        let n = unsafe { ffi::cpb_plan_devices(self.handle.as_ptr(), &mut devices) };
        unsafe { numbers(devices, n) }
    }

    /// The device of the rank that the options name.
    pub fn rank_device(&self) -> Option<i32> {
        known(unsafe { ffi::cpb_plan_rank_device(self.handle.as_ptr()) })
    }

    /// The CPUs of a device, ascending. The role is `"pool"`, `"irq"`, `"main"`, `"acl"` or
    /// `"release"`. `None`: the plan has no such device, or there is no such role.
    pub fn cpus(&self, device: i32, role: &str) -> Option<&[i32]> {
        let role = CString::new(role).ok()?;
        let mut cpus = ptr::null();
        let n = unsafe {
            ffi::cpb_plan_cpus(self.handle.as_ptr(), device, role.as_ptr(), &mut cpus)
        };
        known(n).map(|n| unsafe { numbers(cpus, n) })
    }

    /// The CPUs of all devices for one role, in the order of [`Plan::devices`]. `None`: there
    /// is no such role.
    pub fn table(&self, role: &str) -> Option<Table<'_>> {
        let role = CString::new(role).ok()?;
        let (mut row, mut cpus) = (ptr::null(), ptr::null());
        let n = unsafe {
            ffi::cpb_plan_table(self.handle.as_ptr(), role.as_ptr(), &mut row, &mut cpus)
        };
        let n = known(n)?;
        if n == 0 {
            return Some(Table { row: &[], cpus: &[] });
        }
        let row = unsafe { numbers(row, n + 1) };
        let cpus = unsafe { numbers(cpus, row[row.len() - 1]) };
        Some(Table { row, cpus })
    }

    /// The CPUs as sched_setaffinity(2) takes them, the bytes of an array of `unsigned long`: on
    /// a little-endian machine bit i % 8 of byte i / 8 is CPU i. `None` as for [`Plan::cpus`].
    pub fn mask(&self, device: i32, role: &str) -> Option<Vec<u8>> {
        let role = CString::new(role).ok()?;
        let plan = self.handle.as_ptr();
        let n = known(unsafe {
            ffi::cpb_plan_mask(plan, device, role.as_ptr(), ptr::null_mut(), 0)
        })?;
        let mut bits = vec![0u8; n as usize];
        unsafe {
            ffi::cpb_plan_mask(
                plan,
                device,
                role.as_ptr(),
                bits.as_mut_ptr() as *mut c_void,
                bits.len(),
            )
        };
        Some(bits)
    }

    /// The node for the memory of a device.
    pub fn memory_node(&self, device: i32) -> Option<i32> {
        known(unsafe { ffi::cpb_plan_memory_node(self.handle.as_ptr(), device) })
    }

    /// A figure such as `"near_percent"`, of a device or of the whole plan.
    pub fn quality(&self, device: Option<i32>, figure: &str) -> Option<i32> {
        let figure = CString::new(figure).ok()?;
        let device = device.unwrap_or(-1);
        known(unsafe { ffi::cpb_plan_quality(self.handle.as_ptr(), device, figure.as_ptr()) })
    }

    /// The JSON of `cpubind plan --json`.
    pub fn json(&self) -> &str {
        unsafe { text(ffi::cpb_plan_json(self.handle.as_ptr())) }
    }

    /// The plan in a format of `cpubind plan --format`, such as `"log"` or `"map"`.
    pub fn format(&self, format: &str) -> Result<String> {
        let format = c_text(format)?;
        made(|error| unsafe {
            ffi::cpb_plan_format(self.handle.as_ptr(), format.as_ptr(), error)
        })
        .map(taken)
    }

    /// The sentences of `cpubind plan --explain TARGET`, such as `"cpu5"` or `"npu3"`.
    pub fn explain(&self, target: &str) -> Result<String> {
        let target = c_text(target)?;
        made(|error| unsafe {
            ffi::cpb_plan_explain(self.handle.as_ptr(), target.as_ptr(), error)
        })
        .map(taken)
    }

    /// Binds the calling thread alone to the CPUs of a role, without a record.
    pub fn bind_thread(&self, device: i32, role: &str) -> Result<()> {
        let role = c_text(role)?;
        counted(|error| unsafe {
            ffi::cpb_bind_thread(self.handle.as_ptr(), device, role.as_ptr(), error)
        })
        .map(|_| ())
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        unsafe { ffi::cpb_plan_free(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("devices", &self.devices()).finish()
    }
}

/// The CPUs of all devices of a plan for one role.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    row: &'a [i32],
    cpus: &'a [i32],
}

impl<'a> Table<'a> {
    /// The number of devices.
    pub fn len(&self) -> usize {
        self.row.len().saturating_sub(1)
    }

    /// Whether the plan has no device.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The CPUs of the device with this index.
    pub fn get(&self, index: usize) -> Option<&'a [i32]> {
        let (first, end) = (*self.row.get(index)?, *self.row.get(index + 1)?);
        self.cpus.get(first as usize..end as usize)
    }

    /// The CPUs of each device.
    pub fn iter(&self) -> impl Iterator<Item = &'a [i32]> {
        let table = *self;
        (0..table.len()).filter_map(move |index| table.get(index))
    }
}

/// A process that is bound. It stays bound when this value is dropped: [`Binding::restore`]
/// undoes the binding.
pub struct Binding {
    handle: NonNull<ffi::Binding>,
}

// A binding belongs to one thread at a time, which may be another one than before.
unsafe impl Send for Binding {}

impl Binding {
    /// Binds a process to the CPUs of one device, as `cpubind apply` does; 0: this process.
    pub fn bind<T: AsRef<str>>(host: &Host, pid: i32, options: &[T]) -> Result<Binding> {
        let options = Options::new(options)?;
        made(|error| unsafe {
            ffi::cpb_bind(host.handle.as_ptr(), pid, options.as_ptr(), error)
        })
        .map(|handle| Binding { handle })
    }

    /// Opens a process that is bound, by its record, to verify or to restore it.
    pub fn open<T: AsRef<str>>(pid: i32, options: &[T]) -> Result<Binding> {
        let options = Options::new(options)?;
        made(|error| unsafe { ffi::cpb_binding_open(pid, options.as_ptr(), error) })
            .map(|handle| Binding { handle })
    }

    /// The number of threads and interrupts that are not where they belong.
    pub fn verify(&mut self) -> Result<i32> {
        counted(|error| unsafe { ffi::cpb_binding_verify(self.handle.as_ptr(), error) })
    }

    /// Moves back what is not where it belongs, and binds new threads; returns how many it
    /// moved.
    pub fn again(&mut self) -> Result<i32> {
        counted(|error| unsafe { ffi::cpb_binding_again(self.handle.as_ptr(), error) })
    }

    /// Puts all back as it was before the process was bound; returns how many it moved.
    pub fn restore(&mut self) -> Result<i32> {
        counted(|error| unsafe { ffi::cpb_binding_restore(self.handle.as_ptr(), error) })
    }

    /// What the last call did, as JSON.
    pub fn json(&self) -> Cow<'_, str> {
        let json = unsafe { ffi::cpb_binding_json(self.handle.as_ptr()) };
        if json.is_null() {
            return Cow::Borrowed("");
        }
        unsafe { CStr::from_ptr(json) }.to_string_lossy()
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        unsafe { ffi::cpb_binding_close(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binding")
    }
}

/// The requests that all CPU workers together may have in flight; a ratio of 0 is 8.
pub fn cpu_budget(device_load: i32, n_device: i32, n_cpu_worker: i32, ratio: i32) -> i32 {
    unsafe { ffi::cpb_cpu_budget(device_load, n_device, n_cpu_worker, ratio) }
}

/// Who serves the next request: `"device"`, `"cpu"` or `"nobody"`.
pub fn next_pool(
    device_load: i32,
    cpu_load: i32,
    n_device: i32,
    n_cpu_worker: i32,
    ratio: i32,
) -> &'static str {
    unsafe { text(ffi::cpb_next_pool(device_load, cpu_load, n_device, n_cpu_worker, ratio)) }
}

/// Options as the library takes them: pointers, and NULL at the end.
struct Options {
    // Owns the texts of `pointers`.
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Options {
    fn new<T: AsRef<str>>(options: &[T]) -> Result<Options> {
        let texts =
            options.iter().map(|option| c_text(option.as_ref())).collect::<Result<Vec<_>>>()?;
        let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        pointers.push(ptr::null());
        Ok(Options { _texts: texts, pointers })
    }

    fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error { kind: Kind::HasNul })
}

fn known(number: i32) -> Option<i32> {
    if number < 0 {
        None
    } else {
        Some(number)
    }
}

/// The error of a call that failed. A call that fails without one had no memory for it.
fn failed(error: *mut ffi::Error) -> Error {
    Error { kind: NonNull::new(error).map_or(Kind::NoMemory, Kind::Library) }
}

/// The object that a call makes.
fn made<T>(call: impl FnOnce(*mut *mut ffi::Error) -> *mut T) -> Result<NonNull<T>> {
    let mut error = ptr::null_mut();
    NonNull::new(call(&mut error)).ok_or_else(|| failed(error))
}

/// The number that a call returns, which is negative when it fails.
fn counted(call: impl FnOnce(*mut *mut ffi::Error) -> i32) -> Result<i32> {
    let mut error = ptr::null_mut();
    known(call(&mut error)).ok_or_else(|| failed(error))
}

/// A text of the library, which is UTF-8; "" for NULL.
unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    CStr::from_ptr(text).to_str().unwrap_or("")
}

/// A text that the caller owns.
fn taken(text: NonNull<c_char>) -> String {
    let copy = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
    unsafe { ffi::cpb_text_free(text.as_ptr()) };
    copy
}

/// Numbers that the library owns.
unsafe fn numbers<'a>(first: *const i32, n: i32) -> &'a [i32] {
    if first.is_null() || n <= 0 {
        return &[];
    }
    slice::from_raw_parts(first, n as usize)
}
