//! Makes the binding of the installed header with bindgen, and links the installed library.

use std::path::Path;
use std::process::Command;
use std::{env, str};

fn said(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    str::from_utf8(&output.stdout).unwrap().trim().to_string()
}

fn main() {
    let folder = |name| {
        said(
            Command::new("pkg-config")
                .arg(format!("--variable={name}"))
                .arg("cpubind"),
        )
    };
    let header = Path::new(&folder("includedir")).join("cpubind_api.h");
    let binding = Path::new(&env::var("OUT_DIR").unwrap()).join("cpubind_api.rs");
    said(
        Command::new("bindgen")
            .args(["--allowlist-function", "cpb_.*", "--no-layout-tests", "-o"])
            .args([&binding, &header]),
    );
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed={}", header.display());
    println!("cargo:rustc-link-search=native={}", folder("libdir"));
    println!("cargo:rustc-link-lib=dylib=cpubind");
}
