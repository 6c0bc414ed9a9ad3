//! What is put before every Node and Python program of a system, by its environment alone and behind the user's own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Has Node load this file first, after what the user has it load.
pub fn node(env: &mut BTreeMap<String, String>, file: &Path) {
    // Quoted as Node unquotes it.
    let path = file.display().to_string().replace('\\', r"\\").replace('"', "\\\"");
    let ours = format!("--require \"{path}\"");
    let options = own(env, "NODE_OPTIONS").map_or(ours.clone(), |own| format!("{own} {ours}"));
    env.insert("NODE_OPTIONS".to_owned(), options);
}

/// Has Python find the `sitecustomize` of this folder first; it has to look for the user's own.
pub fn python(env: &mut BTreeMap<String, String>, folder: &Path) {
    let ours = folder.display().to_string();
    let path = own(env, "PYTHONPATH").map_or(ours.clone(), |own| format!("{ours}:{own}"));
    env.insert("PYTHONPATH".to_owned(), path);
}

/// A variable as the system would have it: given, or else inherited; nothing when it is empty.
#[expect(clippy::disallowed_methods, reason = "what the user has exported must go on working in the system")]
pub fn own(env: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let inherited = || std::env::var_os(name).map(OsString::into_string)?.ok();
    env.get(name).cloned().or_else(inherited).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_options_stay_and_stand_first() {
        let mut env = BTreeMap::from([
            ("NODE_OPTIONS".to_owned(), "--enable-source-maps".to_owned()),
            ("PYTHONPATH".to_owned(), "/mine".to_owned()),
        ]);
        node(&mut env, Path::new("/a \"b\"/c/node.cjs"));
        python(&mut env, Path::new("/a \"b\"/c/python"));
        assert_eq!(env["NODE_OPTIONS"], r#"--enable-source-maps --require "/a \"b\"/c/node.cjs""#);
        assert_eq!(env["PYTHONPATH"], "/a \"b\"/c/python:/mine");
    }
}
