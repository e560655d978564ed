//! `heldset principal`.

use crate::store;

#[test]
fn principals_keep_their_id_and_get_teams() {
    let kept = store();
    assert_eq!(kept.fine(&["principal", "ls", "--json"]), "[]\n");
    let set = ["principal", "set", "ada", "--team", "b", "--team", "a", "--team", "b", "--organization", "example"];
    let first = kept.fine(&[&set[..], &["--json"]].concat());
    assert!(first.contains("\"teams\":[\"a\",\"b\"],\"organization\":\"example\""), "{first}");
    let id = first.split('"').nth(3).unwrap().to_owned();
    assert_eq!(id.len(), 36);
    let second = kept.fine(&["principal", "set", "ada", "--no-teams", "--organization", "", "--json"]);
    assert_eq!(second, format!("{{\"id\":\"{id}\",\"name\":\"ada\",\"teams\":[],\"organization\":null}}\n"));
    kept.run_as("bob", &["dataset", "create", "--name", "Some set", "--slug", "some-set"]);
    let listed = kept.fine(&["principal", "ls"]);
    assert!(listed.lines().count() == 2 && listed.contains("bob"), "{listed}");
    for (args, code, exit) in [
        (&["principal", "set", ""][..], "E105", 2),
        (&["principal", "set", "ada", "--team", ""], "E105", 2),
        (&["principal", "set", "ada", "--as", "operator"], "E120", 5),
        (&["principal", "ls", "--as", "agent"], "E120", 5),
    ] {
        let ran = kept.run(args);
        assert!(ran.code == exit && ran.err.contains(code), "{args:?}: {} {}", ran.code, ran.err);
    }
}
