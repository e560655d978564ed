//! Configurations that cannot work, each with everything that is wrong with it.

use super::Desk;

fn check(kind: &str, config: &str, operation: &str) -> String {
    Desk::new(kind, config, operation).check()
}

#[test]
fn unknown_keys_are_told_with_the_nearest() {
    insta::assert_snapshot!(
        check("http", r#"{"ulr": "https://x.example", "timeout_s": "soon"}"#, r#"{"recrods": "a", "method": "PTO"}"#),
        @"E067 `config` has no `url`; `config.timeout_s` is not a number above 0; `config` has no key `ulr`; `operation_config.method` cannot be `PTO`; `operation_config` has no key `recrods` (write the address of the service, such as `https://host/api`; write one such as `5`; did you mean `url`?; did you mean `POST`?; did you mean `records`?)"
    );
    assert!(check("htp", "{}", "{}").starts_with("E067 there is no connector `htp` (did you mean `http`?)"));
}

#[test]
fn what_cannot_work_is_refused() {
    for (kind, config, operation, expected) in [
        ("http", r#"{"url": "ftp://x"}"#, "{}", "E067 `ftp` is not a way"),
        ("http", r#"{"url": "nonsense"}"#, "{}", "E067 `nonsense` is not an address"),
        ("http", r#"{"url": "https://u:p@x.example"}"#, "{}", "E057 "),
        ("http", r#"{"url": "https://x.example", "token": "abc"}"#, "{}", "E057 `config` has `token`"),
        ("http", r#"{"url": "https://x.example", "headers": {"Authorization": "Bearer x"}}"#, "{}", "E057 "),
        (
            "http",
            r#"{"url": "https://x.example"}"#,
            r#"{"pagination": {"kind": "cursor"}}"#,
            "E067 `pagination` by cursor has no `cursor`",
        ),
        (
            "http",
            r#"{"url": "https://x.example"}"#,
            r#"{"pagination": {"kind": "pages"}}"#,
            "E067 `operation_config.pagination.kind` cannot be `pages`",
        ),
        ("http", r#"{"url": "https://x.example"}"#, r#"{"body": {}}"#, "E067 a request with a `body` is not a `GET`"),
        (
            "http",
            r#"{"url": "https://x.example"}"#,
            r#"{"path": "https://y.example"}"#,
            "E067 `operation_config.path` is an address",
        ),
        ("http", r#"{"url": "https://x.example", "allow": ["127.1"]}"#, "{}", "E067 `config.allow` has `127.1`"),
        ("jira", r#"{"url": "https://x.example"}"#, r#"{"jqll": "a"}"#, "E067 `operation_config` has no key `jqll`"),
        ("sql", r#"{"url": "oracle://x/y"}"#, r#"{"query": "select 1"}"#, "E067 `oracle` is no kind of database"),
        ("sql", r#"{"url": "postgres://u:p@x/y"}"#, r#"{"query": "select 1"}"#, "E057 `config` has a password"),
        ("sql", r#"{"url": "sqlite:x.db"}"#, "{}", "E067 `operation_config` has no `query`"),
        (
            "sql",
            r#"{"url": "sqlite:x.db"}"#,
            r#"{"query": "delete from t"}"#,
            "E066 the statement is not sent: it starts with `delete`",
        ),
        (
            "sql",
            r#"{"url": "sqlite:x.db"}"#,
            r#"{"query": "select 1; select 2"}"#,
            "E066 the statement is not sent: there is more than one",
        ),
        ("bucket", r#"{"url": "ftp://x/y"}"#, "{}", "E067 `ftp` is no kind of bucket"),
        (
            "bucket",
            r#"{"url": "s3://x/y", "endpoint": "http://127.0.0.1"}"#,
            "{}",
            "E067 `config.endpoint` is not protected",
        ),
        ("bucket", r#"{"url": "s3://x/y", "secret_access_key": "z"}"#, "{}", "E057 "),
        ("git", r#"{"url": "--upload-pack=x"}"#, "{}", "E067 `--upload-pack=x` cannot be a repository"),
        ("git", r#"{"url": "ext::sh -c x"}"#, "{}", "E067 `ext::sh -c x` cannot be a repository"),
        ("git", r#"{"url": "git://x/y"}"#, "{}", "E067 a repository is not reached by `git`"),
        ("git", r#"{"url": "."}"#, r#"{"revision": "--all"}"#, "E067 `--all` cannot be a revision"),
        ("git", "{}", "{}", "E067 `config` has no `url`"),
        ("huggingface", "{}", "{}", "E067 `config` has no `repo`"),
        ("huggingface", r#"{"repo": "../x/y"}"#, "{}", "E067 `../x/y` is no name of a dataset"),
        ("file", "{}", "{}", "E067 `config` has no `path`"),
        ("file", r#"{"path": "x"}"#, r#"{"dialect": "leta"}"#, "E067 `operation_config.dialect` cannot be `leta`"),
    ] {
        let found = check(kind, config, operation);
        assert!(found.starts_with(expected), "{kind} {config} {operation}: {found}");
    }
}
