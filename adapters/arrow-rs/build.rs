//! The version of the library, from the lock file.

fn main() {
    let lock = std::fs::read_to_string("Cargo.lock").expect("Cargo.lock is beside this file");
    let after = lock.split("name = \"arrow-ipc\"\nversion = \"").nth(1).expect("arrow-ipc is locked");
    println!("cargo:rustc-env=LIBRARY_VERSION={}", after.split('"').next().unwrap_or_default());
    println!("cargo:rerun-if-changed=Cargo.lock");
}
