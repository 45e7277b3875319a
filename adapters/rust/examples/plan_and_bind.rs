//! Plans a host from its files, and binds this process.
//!
//!     plan_and_bind FOLDER OWN CPU
//!
//! FOLDER is any host; OWN is a folder with one NPU on this machine; CPU is the CPU that this
//! process is bound to. The examples of the other languages
//! print the same lines.

use std::{env, fs, process};

/// The CPUs of the calling thread, as the kernel prints them.
fn own_cpus() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t"));
    cpus.unwrap_or("unknown").to_string()
}

fn joined(cpus: &[i32]) -> String {
    if cpus.is_empty() {
        return "none".to_string();
    }
    cpus.iter().map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",")
}

fn print_plan(folder: &str) -> cpubind::Result<()> {
    let host = cpubind::Host::folder(folder)?;
    let plan = host.plan(&["rules=near"])?;
    for &device in plan.devices() {
        let mask = plan.mask(device, "irq").unwrap_or_default();
        println!(
            "device {}: main {}; irq mask {}; memory node {}; near {} %",
            device,
            joined(plan.cpus(device, "main").unwrap_or_default()),
            mask.iter().map(|bits| format!("{:02x}", bits)).collect::<String>(),
            plan.memory_node(device).unwrap_or(-1),
            plan.quality(Some(device), "near_percent").unwrap_or(-1)
        );
    }
    println!("{}\n{}", plan.json(), plan.format("map")?);
    let slices = ["allowed=0", "scope=own", "rules=reference", "strategy=global_slice"];
    if let Err(e) = host.plan(&slices) {
        println!(
            "error {}, need {}, have {}: {}",
            e.code(),
            e.number("need").unwrap_or(-1),
            e.number("have").unwrap_or(-1),
            e
        );
    }
    Ok(())
}

fn bind_this_process(own: &str, cpu: &str) -> cpubind::Result<()> {
    let before = own_cpus();
    let host = cpubind::Host::folder(own)?;
    let allowed = format!("allowed={cpu}");
    let mut bound = cpubind::Binding::bind(
        &host,
        0,
        &[
            "npu=0",
            "scope=own",
            "rules=reference",
            "strategy=global_slice",
            &allowed,
            "memory=none",
            "any-arch=yes",
        ],
    )?;
    println!("bound to {}", own_cpus());
    println!("not in place: {}", bound.verify()?);
    bound.restore()?;
    println!("restored: {}", if own_cpus() == before { "yes" } else { "no" });
    Ok(())
}

fn main() {
    let argument: Vec<String> = env::args().collect();
    if argument.len() != 4 {
        eprintln!("usage: plan_and_bind FOLDER OWN CPU");
        process::exit(2);
    }
    let result = print_plan(&argument[1])
        .and_then(|()| bind_this_process(&argument[2], &argument[3]));
    if let Err(e) = result {
        eprintln!("{e}");
        process::exit(e.number("exit").unwrap_or(1));
    }
}
