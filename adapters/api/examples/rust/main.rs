//! Plans a host from its files, and binds this process.
//!
//!     plan_and_bind FOLDER OWN CPU
//!
//! FOLDER is any host; OWN is a folder with one NPU on this machine; CPU is the CPU that this
//! process is bound to. The examples of the other languages print the same lines.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, CStr, CString};
use std::{env, fs, process, ptr, slice};

include!(concat!(env!("OUT_DIR"), "/cpubind_api.rs"));

type Failed = *mut cpb_error;

/// The CPUs of the calling thread, as the kernel prints them.
fn own_cpus() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let cpus = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:\t"));
    cpus.unwrap_or("unknown").to_string()
}

fn joined(cpus: &[i32]) -> String {
    if cpus.is_empty() {
        return "none".to_string();
    }
    cpus.iter()
        .map(|cpu| cpu.to_string())
        .collect::<Vec<_>>()
        .join(",")
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

unsafe fn text<'a>(text: *const c_char) -> &'a str {
    CStr::from_ptr(text).to_str().unwrap()
}

/// The handle that a call made, or its error.
unsafe fn made<T>(call: impl FnOnce(*mut Failed) -> *mut T) -> Result<*mut T, Failed> {
    let mut error = ptr::null_mut();
    let handle = call(&mut error);
    if handle.is_null() {
        Err(error)
    } else {
        Ok(handle)
    }
}

/// Hands options to a call: texts, and NULL behind them.
fn with<T>(options: &[&str], call: impl FnOnce(*const *const c_char) -> T) -> T {
    let texts: Vec<CString> = options.iter().map(|option| c(option)).collect();
    let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
    pointers.push(ptr::null());
    call(pointers.as_ptr())
}

unsafe fn plan_of(host: *mut cpb_host, options: &[&str]) -> Result<*mut cpb_plan, Failed> {
    made(|error| with(options, |options| cpb_plan_make(host, options, error)))
}

unsafe fn number(error: Failed, name: &str) -> i32 {
    cpb_error_number(error, c(name).as_ptr())
}

unsafe fn print_device(plan: *const cpb_plan, device: i32) {
    let (mut cpus, mut mask) = (ptr::null(), [0u8; 8192]);
    let n_cpu = cpb_plan_cpus(plan, device, c("main").as_ptr(), &mut cpus);
    let main = if n_cpu > 0 {
        slice::from_raw_parts(cpus, n_cpu as usize)
    } else {
        &[]
    };
    let bits = mask.as_mut_ptr().cast();
    let n_byte = cpb_plan_mask(plan, device, c("irq").as_ptr(), bits, mask.len() as _).max(0);
    let irq: String = mask[..n_byte as usize]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    println!(
        "device {device}: main {}; irq mask {irq}; memory node {}; near {} %",
        joined(main),
        cpb_plan_memory_node(plan, device),
        cpb_plan_quality(plan, device, c("near_percent").as_ptr())
    );
}

unsafe fn print_plan(folder: &str) -> Result<(), Failed> {
    let host = made(|error| cpb_host_folder(c(folder).as_ptr(), error))?;
    let plan = plan_of(host, &["rules=near"])?;
    let mut devices = ptr::null();
    for rank in 0..cpb_plan_devices(plan, &mut devices) {
        print_device(plan, *devices.add(rank as usize));
    }
    let map = made(|error| cpb_plan_format(plan, c("map").as_ptr(), error))?;
    println!("{}\n{}", text(cpb_plan_json(plan)), text(map));
    let slices = [
        "allowed=0",
        "scope=own",
        "rules=reference",
        "strategy=global_slice",
    ];
    if let Err(e) = plan_of(host, &slices) {
        let (code, says) = (text(cpb_error_code(e)), text(cpb_error_text(e)));
        println!(
            "error {code}, need {}, have {}: {says}",
            number(e, "need"),
            number(e, "have")
        );
        cpb_error_free(e);
    }
    cpb_text_free(map);
    cpb_plan_free(plan);
    cpb_host_close(host);
    Ok(())
}

unsafe fn bind_this_process(own: &str, cpu: &str) -> Result<(), Failed> {
    let before = own_cpus();
    let host = made(|error| cpb_host_folder(c(own).as_ptr(), error))?;
    let allowed = format!("allowed={cpu}");
    let options = [
        "npu=0",
        "scope=own",
        "rules=reference",
        "strategy=global_slice",
        &allowed,
        "memory=none",
        "any-arch=yes",
    ];
    let bound = made(|error| with(&options, |options| cpb_bind(host, 0, options, error)))?;
    println!("bound to {}", own_cpus());
    let mut error = ptr::null_mut();
    println!("not in place: {}", cpb_binding_verify(bound, &mut error));
    if !error.is_null() || cpb_binding_restore(bound, &mut error) < 0 {
        return Err(error);
    }
    println!(
        "restored: {}",
        if own_cpus() == before { "yes" } else { "no" }
    );
    cpb_binding_close(bound);
    cpb_host_close(host);
    Ok(())
}

fn main() {
    let argument: Vec<String> = env::args().collect();
    if argument.len() != 4 {
        eprintln!("usage: plan_and_bind FOLDER OWN CPU");
        process::exit(2);
    }
    let (folder, own, cpu) = (&argument[1], &argument[2], &argument[3]);
    unsafe {
        if let Err(e) = print_plan(folder).and_then(|()| bind_this_process(own, cpu)) {
            eprintln!("{}", text(cpb_error_text(e)));
            process::exit(number(e, "exit").max(1));
        }
    }
}
