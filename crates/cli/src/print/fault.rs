//! A fault with its place, its line and a caret, for people.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use heldset_core::fault::Fault;

use super::{Severity, clean};

/// The fault as text of several lines.
pub(crate) fn text(file: &str, fault: &Fault, severity: Severity, styled: bool) -> String {
    let fault = &cleaned(fault);
    let file = clean::line(fault.file.as_deref().unwrap_or(file));
    let file = file.as_str();
    let level = match severity {
        Severity::Hint => Level::INFO.with_name("hint"),
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let title = match &fault.excerpt {
        Some(_) => fault.code.title().to_owned(),
        None => whole_title(fault),
    };
    let title = level.primary_title(title).id(fault.code.name());
    let mut group = match &fault.excerpt {
        Some(excerpt) => {
            let snippet =
                Snippet::source(excerpt.text.as_str()).line_start(fault.place.map_or(1, |place| fit(place.line)));
            let marked = AnnotationKind::Primary.span(excerpt.start..excerpt.end.max(excerpt.start));
            title.element(snippet.path(file).annotation(marked.label(fault.message.as_str())))
        }
        None if file.is_empty() => Group::with_title(title),
        None => title.element(origin(file, fault)),
    };
    if let Some(help) = &fault.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    true_column(renderer.render(&[group]), fault)
}

/// The fault with every text in it fit for a terminal.
fn cleaned(fault: &Fault) -> Fault {
    Fault {
        message: clean::line(&fault.message),
        field: fault.field.as_deref().map(clean::line),
        help: fault.help.as_deref().map(clean::line),
        excerpt: fault.excerpt.as_ref().map(clean::excerpt),
        ..fault.clone()
    }
}

/// Title, field and message in one line, without saying anything twice.
fn whole_title(fault: &Fault) -> String {
    let (title, message) = (fault.code.title(), &fault.message);
    let message = match &fault.field {
        Some(field) if !message.contains(field.as_str()) => format!("`{field}`: {message}"),
        _ => message.clone(),
    };
    if message.contains(title) { message } else { format!("{title}: {message}") }
}

/// The renderer counts columns in the window it was given; the fault knows the column in the line.
fn true_column(text: String, fault: &Fault) -> String {
    let (Some(place), Some(excerpt)) = (fault.place, &fault.excerpt) else { return text };
    let shown = excerpt.text[..excerpt.start].chars().count() + 1;
    text.replacen(&format!(":{}:{shown}", place.line), &format!(":{}:{}", place.line, place.column), 1)
}

fn origin<'o>(file: &'o str, fault: &Fault) -> Origin<'o> {
    let origin = Origin::path(file);
    match fault.place {
        None => origin,
        Some(place) => origin.line(fit(place.line)).char_column(fit(place.column)),
    }
}

fn fit(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
