//! The functions of adapters/api/cpubind_api.h, by hand. Nothing here decides anything: the
//! contract of each function is in that header.

use std::os::raw::{c_char, c_void};

#[repr(C)]
pub struct Host {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct Plan {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct Binding {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct Error {
    opaque: [u8; 0],
}

extern "C" {
    pub fn cpb_abi() -> i32;
    pub fn cpb_version() -> *const c_char;
    pub fn cpb_text_free(text: *mut c_char);

    pub fn cpb_error_code(error: *const Error) -> *const c_char;
    pub fn cpb_error_text(error: *const Error) -> *const c_char;
    pub fn cpb_error_number(error: *const Error, name: *const c_char) -> i32;
    pub fn cpb_error_json(error: *const Error) -> *const c_char;
    pub fn cpb_error_free(error: *mut Error);

    pub fn cpb_host_live(pid: i32, error: *mut *mut Error) -> *mut Host;
    pub fn cpb_host_folder(path: *const c_char, error: *mut *mut Error) -> *mut Host;
    pub fn cpb_host_empty(error: *mut *mut Error) -> *mut Host;
    pub fn cpb_host_put(
        host: *mut Host,
        name: *const c_char,
        bytes: *const c_void,
        len: usize,
        exit_code: i32,
        error: *mut *mut Error,
    ) -> i32;
    pub fn cpb_host_topo(
        host: *mut Host,
        options: *const *const c_char,
        error: *mut *mut Error,
    ) -> *mut c_char;
    pub fn cpb_host_close(host: *mut Host);

    pub fn cpb_plan_make(
        host: *mut Host,
        options: *const *const c_char,
        error: *mut *mut Error,
    ) -> *mut Plan;
    pub fn cpb_plan_free(plan: *mut Plan);
    pub fn cpb_plan_devices(plan: *const Plan, devices: *mut *const i32) -> i32;
    pub fn cpb_plan_rank_device(plan: *const Plan) -> i32;
    pub fn cpb_plan_cpus(
        plan: *const Plan,
        device: i32,
        role: *const c_char,
        cpus: *mut *const i32,
    ) -> i32;
    pub fn cpb_plan_table(
        plan: *const Plan,
        role: *const c_char,
        row: *mut *const i32,
        cpus: *mut *const i32,
    ) -> i32;
    pub fn cpb_plan_mask(
        plan: *const Plan,
        device: i32,
        role: *const c_char,
        bits: *mut c_void,
        size: usize,
    ) -> i32;
    pub fn cpb_plan_memory_node(plan: *const Plan, device: i32) -> i32;
    pub fn cpb_plan_quality(plan: *const Plan, device: i32, figure: *const c_char) -> i32;
    pub fn cpb_plan_json(plan: *const Plan) -> *const c_char;
    pub fn cpb_plan_format(
        plan: *const Plan,
        format: *const c_char,
        error: *mut *mut Error,
    ) -> *mut c_char;
    pub fn cpb_plan_explain(
        plan: *const Plan,
        target: *const c_char,
        error: *mut *mut Error,
    ) -> *mut c_char;

    pub fn cpb_bind(
        host: *mut Host,
        pid: i32,
        options: *const *const c_char,
        error: *mut *mut Error,
    ) -> *mut Binding;
    pub fn cpb_binding_open(
        pid: i32,
        options: *const *const c_char,
        error: *mut *mut Error,
    ) -> *mut Binding;
    pub fn cpb_binding_verify(binding: *mut Binding, error: *mut *mut Error) -> i32;
    pub fn cpb_binding_again(binding: *mut Binding, error: *mut *mut Error) -> i32;
    pub fn cpb_binding_restore(binding: *mut Binding, error: *mut *mut Error) -> i32;
    pub fn cpb_binding_json(binding: *const Binding) -> *const c_char;
    pub fn cpb_binding_close(binding: *mut Binding);
    pub fn cpb_bind_thread(
        plan: *const Plan,
        device: i32,
        role: *const c_char,
        error: *mut *mut Error,
    ) -> i32;

    pub fn cpb_cpu_budget(
        device_load: i32,
        n_device: i32,
        n_cpu_worker: i32,
        ratio: i32,
    ) -> i32;
    pub fn cpb_next_pool(
        device_load: i32,
        cpu_load: i32,
        n_device: i32,
        n_cpu_worker: i32,
        ratio: i32,
    ) -> *const c_char;
}
