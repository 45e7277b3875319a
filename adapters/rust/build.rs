//! Finds libcpubind: in the folder of CPUBIND_LIB_DIR, else where pkg-config says, else on the
//! usual path of the linker.

use std::env;
use std::process::Command;

fn folders_of_pkg_config() -> Option<Vec<String>> {
    let command = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    let output = Command::new(command).args(["--libs-only-L", "cpubind"]).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    Some(
        text.split_whitespace()
            .filter_map(|word| word.strip_prefix("-L"))
            .map(String::from)
            .collect(),
    )
}

fn main() {
    println!("cargo:rerun-if-env-changed=CPUBIND_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");
    let folders = match env::var("CPUBIND_LIB_DIR") {
        Ok(folder) => vec![folder],
        Err(_) => folders_of_pkg_config().unwrap_or_default(),
    };
    for folder in folders {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:lib_dir={folder}");
    }
    println!("cargo:rustc-link-lib=dylib=cpubind");
}
