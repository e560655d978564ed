//! Whether a text is one statement that only reads.
//!
//! *Invariant:* pure, and only the first of two locks: the session is read-only too. What is not surely a single query
//! is refused before anything is sent.

/// Words that start a query.
const READS: &[&str] = &["select", "with", "values", "table"];
/// Words that may not stand where a statement starts: at the front, after a bracket, after the queries of a `with`.
const WRITES: &[&str] = &[
    "insert",
    "update",
    "delete",
    "merge",
    "replace",
    "upsert",
    "create",
    "drop",
    "alter",
    "truncate",
    "grant",
    "revoke",
    "copy",
    "call",
    "do",
    "execute",
    "exec",
    "prepare",
    "vacuum",
    "reindex",
    "analyze",
    "attach",
    "detach",
    "pragma",
    "set",
    "reset",
    "lock",
    "load",
    "begin",
    "commit",
    "rollback",
    "start",
    "savepoint",
    "release",
    "handler",
    "rename",
    "explain",
    "refresh",
    "cluster",
    "listen",
    "notify",
    "discard",
    "import",
    "install",
    "optimize",
    "repair",
    "flush",
    "kill",
    "use",
    "declare",
    "fetch",
    "move",
    "close",
    "comment",
    "security",
    "reassign",
    "show",
    "describe",
];

/// Why a text is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused(pub(super) String);

/// How the texts of a database are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Postgres,
    MySql,
    Sqlite,
}

/// The statement without the `;` at its end, if it is one that only reads.
pub(super) fn one_query(text: &str, flavour: Flavour) -> Result<&str, Refused> {
    let tokens = tokens(text, flavour)?;
    let Some(first) = tokens.first() else { return Err(Refused("there is no statement in it".to_owned())) };
    let mut end = text.len();
    for (number, token) in tokens.iter().enumerate() {
        if token.is(";") {
            if number + 1 < tokens.len() {
                return Err(Refused("there is more than one statement in it".to_owned()));
            }
            end = token.start;
        }
    }
    brackets(&tokens)?;
    let start = tokens.iter().find(|token| !token.is("(")).unwrap_or(first);
    if !READS.iter().any(|word| start.is(word)) {
        return Err(Refused(format!("it starts with `{}`, which is no query", start.text)));
    }
    for (number, token) in tokens.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| &tokens[before]);
        let starts = before.is_none_or(|before| before.is("(") || before.is(")"));
        let calls = tokens.get(number + 1).is_some_and(|next| next.is("("));
        if starts && !calls && WRITES.iter().any(|word| token.is(word)) {
            return Err(Refused(format!("`{}` in it is no query", token.text)));
        }
        if token.is("into") {
            return Err(Refused("`into` in it writes".to_owned()));
        }
        let locks = ["update", "share", "no", "key"].iter().any(|word| token.is(word));
        if locks && before.is_some_and(|before| before.is("for")) {
            return Err(Refused(format!("`for {}` in it locks rows", token.text)));
        }
    }
    Ok(text[..end].trim_end())
}

/// A word, a number, a mark; texts in quotes are one.
#[derive(Debug)]
struct Token<'t> {
    text: &'t str,
    start: usize,
}

impl Token<'_> {
    fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// A bracket that closes more than was opened would end what the statement is put into.
fn brackets(tokens: &[Token<'_>]) -> Result<(), Refused> {
    let mut depth = 0_i64;
    for token in tokens {
        depth += i64::from(token.is("(")) - i64::from(token.is(")"));
        if depth < 0 {
            break;
        }
    }
    if depth == 0 { Ok(()) } else { Err(Refused("its brackets do not match".to_owned())) }
}

fn tokens(text: &str, flavour: Flavour) -> Result<Vec<Token<'_>>, Refused> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let length = match bytes[at] {
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            0 => return Err(Refused("there is a zero byte in it".to_owned())),
            b'-' if is_line_comment(rest, flavour) => {
                at += line(rest);
                continue;
            }
            b'#' if flavour == Flavour::MySql => {
                at += line(rest);
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                if flavour == Flavour::MySql && (rest.starts_with("/*!") || rest.starts_with("/*M!")) {
                    return Err(Refused("a comment in it is executed".to_owned()));
                }
                at += comment(rest, flavour == Flavour::Postgres)?;
                continue;
            }
            b'\'' => {
                let escapes = flavour == Flavour::MySql || is_escape_text(text, at, flavour);
                quoted(rest, b'\'', escapes)?
            }
            b'"' => quoted(rest, b'"', flavour == Flavour::MySql)?,
            b'`' if flavour != Flavour::Postgres => quoted(rest, b'`', false)?,
            b'[' if flavour == Flavour::Sqlite => rest.find(']').map(|end| end + 1).ok_or_else(open)?,
            b'$' if flavour == Flavour::Postgres => dollar(text, at)?,
            _ => word(rest),
        };
        tokens.push(Token { text: &text[at..at + length], start: at });
        at += length;
    }
    Ok(tokens)
}

fn is_line_comment(rest: &str, flavour: Flavour) -> bool {
    // MySQL wants a space after it; without one it is twice a minus.
    let after = rest.as_bytes().get(2);
    rest.starts_with("--") && (flavour != Flavour::MySql || after.is_none_or(|b| b.is_ascii_whitespace() || *b < 32))
}

/// Whether the quote at a place opens a text of PostgreSQL with backslashes: `e'…'`.
fn is_escape_text(text: &str, at: usize, flavour: Flavour) -> bool {
    let bytes = text.as_bytes();
    let marked = at > 0 && matches!(bytes[at - 1], b'e' | b'E');
    let alone = at < 2 || !(bytes[at - 2].is_ascii_alphanumeric() || bytes[at - 2] == b'_');
    flavour == Flavour::Postgres && marked && alone
}

fn line(rest: &str) -> usize {
    rest.find(['\n', '\r']).map_or(rest.len(), |end| end + 1)
}

fn comment(rest: &str, nests: bool) -> Result<usize, Refused> {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') if depth == 0 || nests => (depth, at) = (depth + 1, at + 2),
            (b'*', b'/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Ok(at);
        }
    }
    Err(open())
}

fn quoted(rest: &str, quote: u8, escapes: bool) -> Result<usize, Refused> {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Ok(at + 1),
            _ => at += 1,
        }
    }
    Err(open())
}

/// A text of PostgreSQL in dollars, or a parameter such as `$1`.
fn dollar(text: &str, at: usize) -> Result<usize, Refused> {
    let rest = &text[at..];
    let tag = rest[1..].find('$').map(|end| &rest[..end + 2]);
    let is_tag = |tag: &str| {
        let inner = &tag[1..tag.len() - 1];
        !inner.starts_with(|c: char| c.is_ascii_digit()) && inner.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match tag.filter(|tag| is_tag(tag)) {
        Some(tag) => rest[tag.len()..].find(tag).map(|end| end + 2 * tag.len()).ok_or_else(open),
        None => Ok(word(rest)),
    }
}

fn word(rest: &str) -> usize {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    match rest.find(|letter| !part(letter)) {
        Some(0) => rest.chars().next().map_or(1, char::len_utf8),
        Some(end) => end,
        None => rest.len(),
    }
}

fn open() -> Refused {
    Refused("a quote or a comment in it does not end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_query_is_let_through_and_all_else_is_not() {
        let corpus = include_str!("../../../tests/data/statements.txt");
        let mut count = 0;
        for line in corpus.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (verdict, rest) = line.split_once(' ').expect("a verdict first");
            let (databases, text) = rest.trim_start().split_once(' ').expect("databases next");
            let text = text.trim_start().replace("\\n", "\n");
            for flavour in [Flavour::Postgres, Flavour::MySql, Flavour::Sqlite] {
                let letter = match flavour {
                    Flavour::Postgres => 'p',
                    Flavour::MySql => 'm',
                    Flavour::Sqlite => 's',
                };
                if databases.contains(letter) {
                    let found = one_query(&text, flavour);
                    assert_eq!(found.is_ok(), verdict == "ok", "{flavour:?} {text}: {found:?}");
                    count += 1;
                }
            }
        }
        assert!(count > 100, "the corpus has {count} cases");
    }
}
