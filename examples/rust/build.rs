// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// Asks pkg-config where libreach is. Without a crate, because it is only this much.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let pkg_config = std::env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    let output = Command::new(&pkg_config).args(["--libs", "libreach"]).output();
    let output = output.unwrap_or_else(|error| panic!("{pkg_config} cannot be run: {error}"));
    if !output.status.success() {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    }
    for word in String::from_utf8(output.stdout).expect("pkg-config writes text").split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        } else {
            println!("cargo:rustc-link-arg={word}");
        }
    }
}
