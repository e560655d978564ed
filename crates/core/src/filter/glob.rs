//! Globs over ids: `*` for any text, `?` for one character, everything else for itself.
//!
//! *Invariant:* no recursion; only the last `*` is ever tried again, so a hostile pattern costs at most pattern × text.

/// Whether the whole text is of that pattern.
pub fn glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last star does not fit: after the star, one character later.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                retry = Some((p, t));
            }
            Some(&symbol) if symbol == '?' || symbol == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = retry else { return false };
                (p, t) = (after, from + 1);
                retry = Some((p, t));
            }
        }
    }
    pattern[p..].iter().all(|symbol| *symbol == '*')
}
